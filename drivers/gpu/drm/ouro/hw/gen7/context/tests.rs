// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Sizes of context images.

use super::*;
use crate::mock::Mock;

#[test]
fn two_parts_count() {
    for (value, size) in [
        (0, Some(0)),
        (1, Some(4096)),
        // 64 lines of 64 bytes are a page.
        (0x3f, Some(4096)),
        ((1 << 9) | 0x3f, Some(4096)),
        ((2 << 9) | 0x3f, Some(8192)),
        ((0x7f << 9) | 0x3f, Some(12288)),
        // The power, ring, render and GT1 parts are not included.
        (0xffff_01c0, Some(0)),
        (u32::MAX, None),
    ] {
        let mock = Mock::default();
        mock.set(0x21a8, value);
        assert_eq!(SIZE.detect(&mock.hw()), size, "{value:#x}");
    }
}
