// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The size of a context image (§5.8.1, G-16).

use super::regs::CXT_SIZE;
use crate::{intel::processor::context::LINE, io::Hw, types::PAGE_SIZE};

/// The largest size that the driver accepts. The document has 2 KiB, upstream less than a page.
const MOST: u32 = 16 * PAGE_SIZE;

/// Reads the size of an image in bytes, in whole pages; `None` if the device is gone or the size is
/// too large.
pub(super) fn detect(hw: &Hw<'_>) -> Option<u32> {
    let lines = hw.regs.read32(CXT_SIZE).checked_add(1)?;
    let bytes = lines.checked_mul(LINE)?;
    (bytes <= MOST).then(|| bytes.next_multiple_of(PAGE_SIZE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

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
