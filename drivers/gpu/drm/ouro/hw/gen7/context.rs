// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The size of a context image. Video engine and blitter have no images (V-16).

use super::regs::{ContextSize, CXT_SIZE};
use crate::intel::processor::context::Size;

/// The sum of the extended and vertex fetch parts, as in the upstream driver.
pub(super) const SIZE: Size = Size {
    register: CXT_SIZE,
    lines: |sizes| {
        let size = ContextSize::from_bits(sizes);
        u32::from(size.extended()) + u32::from(size.vertex())
    },
};

#[cfg(test)]
mod tests {
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
}
