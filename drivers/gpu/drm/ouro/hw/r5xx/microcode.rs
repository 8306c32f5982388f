// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The microcode of the command processor, which defines the type-3 packets (§4.1, §4.12).
//!
//! It is loaded from a firmware file: at most 256 words of 40 bits, each as two big-endian dwords,
//! the upper 8 bits first (digest §4.6). Only the file's length can be checked.

use super::regs;
use crate::{generation::DeviceError, io::Hw};

/// Name of the firmware file; all families use the same (digest §5.2).
pub(super) const FILE: &str = "radeon/R520_cp.bin";
/// Words of the microcode's memory.
const WORDS: usize = 256;
/// Bytes of a word in the file.
const WORD_BYTES: usize = 8;

/// Loads the microcode. The command processor is stopped.
pub(super) fn load(hw: &Hw<'_>) -> Result<(), DeviceError> {
    let (words, rest) = hw.firmware.as_chunks::<WORD_BYTES>();
    if words.is_empty() || !rest.is_empty() || words.len() > WORDS {
        return Err(DeviceError::Unsupported(
            "CP microcode file is not 1 to 256 words of 8 bytes",
        ));
    }
    hw.regs.write32(regs::CP_ME_RAM_ADDR, 0);
    for [h3, h2, h1, h0, l3, l2, l1, l0] in words {
        // A write of the lower part increments the index (§4.12).
        let high = u32::from_be_bytes([*h3, *h2, *h1, *h0]);
        hw.regs.write32(regs::CP_ME_RAM_DATAH, high);
        let low = u32::from_be_bytes([*l3, *l2, *l1, *l0]);
        hw.regs.write32(regs::CP_ME_RAM_DATAL, low);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};
    use std::vec;

    #[test]
    fn words_go_upper_part_first() {
        let mut mock = Mock::default();
        mock.firmware = vec![
            0, 0, 0, 0x42, 0xe0, 0, 0, 1, 0, 0, 0, 0xff, 0x12, 0x34, 0x56, 0x78,
        ];
        load(&mock.hw()).unwrap();
        let w = Access::W;
        assert_eq!(
            mock.take(),
            [
                w(0x7d4, 0),
                w(0x7dc, 0x42),
                w(0x7e0, 0xe000_0001),
                w(0x7dc, 0xff),
                w(0x7e0, 0x1234_5678),
            ]
        );
    }

    #[test]
    fn a_file_of_another_length_is_refused() {
        for len in [0, 7, 8 * 256 + 8, 8 * 256 - 4] {
            let mut mock = Mock::default();
            mock.firmware = vec![0; len];
            let refused = Err(DeviceError::Unsupported(
                "CP microcode file is not 1 to 256 words of 8 bytes",
            ));
            assert_eq!(load(&mock.hw()), refused, "{len} bytes");
            assert_eq!(mock.take(), []);
        }
    }
}
