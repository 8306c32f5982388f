// SPDX-License-Identifier: GPL-2.0
//! Context images (SNB PRM V1P2 §5.8): how large, and where.
//!
//! What is in an image is the device's secret (§5.8.1.3.1): nobody makes one. The first image is
//! what the device saves after the golden commands ran, and others start as copies of it.

use super::gt_regs::ContextSize;
use crate::{
    context::{Context, FirstImage},
    types::PAGE_SIZE,
};

/// Bytes of a line, in which the parts are counted (G-27).
const LINE: u32 = 64;

/// The images of the render engine.
pub(super) struct Images;

/// The images' one object.
pub(super) static IMAGES: Images = Images;

/// Bytes of an image, in whole pages: the ring, extended and pipelined parts (G-27). The document
/// speaks of 2 KiB at most, which is a former generation's (digest trap 5).
pub(super) fn bytes(size: ContextSize) -> u32 {
    let lines = [size.ring(), size.extended(), size.pipelined()]
        .into_iter()
        .fold(0u32, |sum, part| sum.wrapping_add(part.into()));
    lines.wrapping_mul(LINE).next_multiple_of(PAGE_SIZE)
}

impl Context for Images {
    fn alignment(&self) -> u32 {
        PAGE_SIZE
    }

    fn first_image(&self, _what: &FirstImage, _image: &mut [u32]) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::GgttAddr;

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

    #[test]
    fn nobody_makes_an_image() {
        let mut image = [7; 4];
        let what = FirstImage {
            image: GgttAddr(0x2000),
            card: 0,
            ring: GgttAddr(0x1000),
            ring_bytes: 4096,
            root: None,
        };
        assert!(!IMAGES.first_image(&what, &mut image));
        assert_eq!(IMAGES.descriptor(GgttAddr(0x1000), 1), None);
        assert_eq!(image, [7; 4]);
        assert_eq!(IMAGES.alignment(), 4096);
    }
}
