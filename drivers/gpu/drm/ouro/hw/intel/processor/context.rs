// SPDX-License-Identifier: GPL-2.0
//! Context images (SNB PRM V1P2 §5.8): where they are.
//!
//! What is in an image is the device's secret (§5.8.1.3.1): nobody makes one. The first image is
//! what the device saves after the golden commands ran, and others start as copies of it.

use crate::{
    context::{ContextImages, FirstImage},
    io::Hw,
    types::PAGE_SIZE,
};

/// Bytes of a line, in which a chip counts the parts of an image (G-27).
pub(crate) const LINE: u32 = 64;

/// Where a chip says how large an image is.
pub(crate) struct Size {
    /// The register.
    pub(crate) register: u32,
    /// How many lines an image has, by that register.
    pub(crate) lines: fn(u32) -> u32,
}

impl Size {
    /// Bytes of an image, in whole pages, as the chip says it; `None` if it is gone.
    pub(crate) fn detect(&self, hw: &Hw<'_>) -> Option<u32> {
        let sizes = hw.regs.read32(self.register);
        let bytes = (self.lines)(sizes).wrapping_mul(LINE);
        (sizes != u32::MAX).then(|| bytes.next_multiple_of(PAGE_SIZE))
    }
}

/// The images of the render engine.
pub(crate) struct Images;

/// The images' one object.
pub(crate) static IMAGES: Images = Images;

impl ContextImages for Images {
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
