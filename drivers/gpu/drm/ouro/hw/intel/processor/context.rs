// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Context images (SNB PRM V1P2 §5.8): their size and alignment.
//!
//! The contents of an image are not documented (§5.8.1.3.1), so the driver does not build images.
//! The device saves the first image after the golden commands ran; other contexts start as copies
//! of it.

use crate::{
    context::{ContextImages, FirstImage},
    io::Hw,
    types::PAGE_SIZE,
};

/// Bytes per cache line, the unit of the size of an image (G-27).
pub(crate) const LINE: u32 = 64;

/// The register with the size of context images.
pub(crate) struct Size {
    /// Offset of the register.
    pub(crate) register: u32,
    /// Converts the register's value to the lines of an image.
    pub(crate) lines: fn(u32) -> u32,
}

impl Size {
    /// Reads the size of an image in bytes, rounded up to whole pages; `None` if the device is
    /// gone.
    pub(crate) fn detect(&self, hw: &Hw<'_>) -> Option<u32> {
        let sizes = hw.regs.read32(self.register);
        let bytes = (self.lines)(sizes).wrapping_mul(LINE);
        (sizes != u32::MAX).then(|| bytes.next_multiple_of(PAGE_SIZE))
    }
}

/// The context images of the render engine.
pub(crate) struct Images;

/// The only instance of [`Images`].
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
