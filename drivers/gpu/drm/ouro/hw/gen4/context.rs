// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Contexts: the size of an image (§5.8.1, G-16), and the context that a previous driver has left
//! loaded.
//!
//! A switch saves the loaded context at the address in `CCID` (§5.8.1.2). After a reset its value
//! is undefined (§5.8.1.1), and a 965 is not reset at bring-up: it may be an address of the
//! previous driver's, where this one has anything. So `CCID` is cleared while the ring is stopped;
//! and as no document says that the CPU can write it, the image's entries map the scratch page.

use super::regs::{Ccid, CCID, CXT_SIZE};
use crate::{intel::processor::context::LINE, io::Hw, types::PAGE_SIZE};
use core::ops::Range;

/// The largest size that the driver accepts. The document has 2 KiB, upstream less than a page.
const MOST: u32 = 16 * PAGE_SIZE;

/// Reads the size of an image in bytes, in whole pages; `None` if the device is gone or the size is
/// too large.
pub(super) fn detect(hw: &Hw<'_>) -> Option<u32> {
    let lines = hw.regs.read32(CXT_SIZE).checked_add(1)?;
    let bytes = lines.checked_mul(LINE)?;
    (bytes <= MOST).then(|| bytes.next_multiple_of(PAGE_SIZE))
}

/// Returns the GGTT entries of the image of the loaded context, if there is one, with images of
/// `bytes`. They may lie behind the end of the GGTT.
pub(super) fn loaded(hw: &Hw<'_>, bytes: u32) -> Option<Range<u32>> {
    let ccid = Ccid::from_bits(hw.regs.read32(CCID));
    let page = u64::from(PAGE_SIZE);
    let start = u64::from(ccid.image()) * Ccid::ALIGN;
    let end = (start + u64::from(bytes)).div_ceil(page);
    // These fit: the address has 32 bits.
    ccid.valid().then_some((start / page) as u32..end as u32)
}

/// Makes the next switch save nothing. The ring is stopped. Returns false if the device does not
/// forget its context.
pub(super) fn forget(hw: &Hw<'_>) -> bool {
    hw.regs.write32(CCID, 0);
    !Ccid::from_bits(hw.regs.read32(CCID)).valid()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

    #[test]
    fn an_image_has_its_pages() {
        // §1.15: 31:11 is the address; the flags in bits 8, 3 and 2 are no part of it.
        for (ccid, bytes, entries) in [
            (0, 4096, None),
            (0x0040_010c, 4096, None),
            (0x0040_0001, 4096, Some(0x400..0x401)),
            (0x0040_010d, 8192, Some(0x400..0x402)),
            // In the second half of a page.
            (0x0040_0801, 4096, Some(0x400..0x402)),
            (0xffff_f801, 4096, Some(0xf_ffff..0x10_0001)),
        ] {
            let mock = Mock::default();
            mock.set(0x2180, ccid);
            assert_eq!(loaded(&mock.hw(), bytes), entries, "{ccid:#x}");
        }
    }

    #[test]
    fn a_context_is_forgotten_or_not() {
        let mock = Mock::default();
        mock.set(0x2180, 0x0040_010d);
        assert!(forget(&mock.hw()));
        assert_eq!(mock.written(0x2180), [0]);
        mock.fix(0x2180, 0x0040_010d);
        assert!(!forget(&mock.hw()));
    }

    #[test]
    fn sizes_are_whole_pages() {
        // G-16: (value + 1) * 64.
        for (value, size) in [
            (0, Some(4096)),
            (31, Some(4096)),
            (63, Some(4096)),
            (64, Some(8192)),
            (1023, Some(65536)),
            (1024, None),
            (0x3ff_ffff, None),
            (u32::MAX, None),
        ] {
            let mock = Mock::default();
            mock.set(0x21a0, value);
            assert_eq!(detect(&mock.hw()), size, "{value:#x}");
        }
    }
}
