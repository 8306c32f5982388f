// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Fences that Gen6 does not have.

use super::*;
use crate::{
    fence_regs::{BadRegion, FenceRegs, Tiling},
    mock::{region, Access, Mock},
};

#[test]
fn strides_go_to_256_kib() {
    // In units of 128 bytes, minus one, in bits 42:32.
    let encoded = |stride| FENCES.encode(&region(0x1000, 0x2000, stride, Tiling::Y));
    assert_eq!(encoded(131072), Ok(0x0000_23ff_0000_1003));
    assert_eq!(encoded(262144), Ok(0x0000_27ff_0000_1003));
    assert_eq!(encoded(262144 + 128), Err(BadRegion));
}

#[test]
fn the_last_one_is_number_31() {
    let mock = Mock::default();
    FENCES.set(&mock, 31, None).unwrap();
    assert_eq!(mock.take()[0], Access::W(0x10_00f8, 0));
    assert_eq!(FENCES.set(&mock, 32, None), Err(BadRegion));
    assert_eq!(FENCES.count(), 32);
}
