// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers of the address translation.

use super::*;
use crate::{
    gen7::CHIP,
    intel::ring::fixes,
    mock::{Access, Mock},
};

#[test]
fn tables_are_fetched_as_v_24_says() {
    let mock = Mock::default();
    mock.set(0x12_0008, 0x40);
    mock.set(0x1_4090, 0x1);
    mock.set(0x4090, 0x14);
    fixes::apply(&CHIP, &mock.hw(), SETTINGS, &mock).unwrap();
    assert_eq!(mock.written(0x1_4090), [0x301]);
    assert_eq!(mock.written(0x4090), [0xc]);
}

#[test]
fn groups_base_and_mode_in_this_order() {
    // VCS-004, V-05: slot 0x200, 64 bytes each 16 slots; MFX_MODE bit 9.
    let mock = Mock::default();
    load_directory(&mock.hw(), Base::VIDEO, GgttAddr(0x0020_0000));
    assert_eq!(
        mock.take(),
        [
            Access::W(0x1_2220, 0xffff_ffff),
            Access::W(0x1_2228, 0x0020_0000),
            Access::W(0x1_229c, 0x0200_0200),
        ]
    );
}
