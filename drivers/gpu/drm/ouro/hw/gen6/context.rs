// SPDX-License-Identifier: GPL-2.0
//! How large a context image is (SNB PRM V1P2 §5.8).

use super::gt_regs::{ContextSize, CXT_SIZE};
use crate::{intel::processor::context::LINE, io::Hw, types::PAGE_SIZE};

/// Bytes of an image, in whole pages: the ring, extended and pipelined parts (G-27). The document
/// speaks of 2 KiB at most, which is a former generation's (digest trap 5).
pub(super) fn bytes(size: ContextSize) -> u32 {
    let lines = [size.ring(), size.extended(), size.pipelined()]
        .into_iter()
        .fold(0u32, |sum, part| sum.wrapping_add(part.into()));
    lines.wrapping_mul(LINE).next_multiple_of(PAGE_SIZE)
}

/// Bytes of an image, as the chip says it; `None` if it is gone.
pub(super) fn detect(hw: &Hw<'_>) -> Option<u32> {
    let sizes = hw.regs.read32(CXT_SIZE);
    (sizes != u32::MAX).then(|| bytes(ContextSize::from_bits(sizes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_pages_of_three_parts() {
        for (value, size) in [
            (0, 0),
            (1, 4096),
            // 64 lines of 64 bytes are a page.
            (0x3f, 4096),
            ((1 << 18) | 0x3f, 4096),
            ((1 << 18) | (1 << 6) | 0x3f, 8192),
            // Power and render parts do not count.
            ((0x3f << 24) | (0x3f << 12) | 1, 4096),
            // The value of the peers' trace (digest A.3): ring 4, extended 0x1f, pipelined 0x2d.
            (0x0a10_d7ed, 8192),
            (0x3fff_ffff, 12288),
        ] {
            assert_eq!(bytes(ContextSize::from_bits(value)), size, "{value:x}");
        }
    }
}
