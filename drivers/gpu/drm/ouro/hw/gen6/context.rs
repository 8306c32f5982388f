// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The size of a context image (SNB PRM V1P2 §5.8).

use super::gt_regs::{ContextSize, CXT_SIZE};
use crate::intel::processor::context::Size;

/// The sum of the ring, extended and pipelined parts (G-27). The document's limit of 2 KiB is that
/// of an earlier generation (digest trap 5).
pub(super) const SIZE: Size = Size {
    register: CXT_SIZE,
    lines: |sizes| {
        let size = ContextSize::from_bits(sizes);
        u32::from(size.ring()) + u32::from(size.extended()) + u32::from(size.pipelined())
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

    #[test]
    fn sizes_are_whole_pages_of_three_parts() {
        for (value, size) in [
            (0, 0),
            (1, 4096),
            // 64 lines of 64 bytes are a page.
            (0x3f, 4096),
            ((1 << 18) | 0x3f, 4096),
            ((1 << 18) | (1 << 6) | 0x3f, 8192),
            // The power and render parts are not included.
            ((0x3f << 24) | (0x3f << 12) | 1, 4096),
            // The value of the peers' trace (digest A.3): ring 4, extended 0x1f, pipelined 0x2d.
            (0x0a10_d7ed, 8192),
            (0x3fff_ffff, 12288),
        ] {
            let mock = Mock::default();
            mock.set(0x21a0, value);
            assert_eq!(SIZE.detect(&mock.hw()), Some(size), "{value:x}");
        }
    }
}
