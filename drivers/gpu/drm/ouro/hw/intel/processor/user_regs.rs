// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The register that user space may read: the render engine's timestamp (G-41).

use crate::{
    intel::ring_regs::{self, Base},
    io::Hw,
};

/// The render engine's timestamp, low dword; the high one follows (G-41).
const TIMESTAMP: u32 = Base::RENDER.at(ring_regs::TIMESTAMP);

/// Reads the 64-bit register at `offset`; `None` if user space must not read it.
pub(crate) fn read(hw: &Hw<'_>, offset: u32) -> Option<u64> {
    if offset != TIMESTAMP {
        return None;
    }
    let before = hw.regs.read32(TIMESTAMP + 4);
    let low = hw.regs.read32(TIMESTAMP);
    let high = hw.regs.read32(TIMESTAMP + 4);
    // A changed high dword means that the low dword wrapped between the reads, so a low dword of
    // zero is a value that the register had. Nothing is read again: on G4X the high dword may
    // change each microsecond (G-40).
    let low = if high == before { low } else { 0 };
    Some(u64::from(high) << 32 | u64::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

    #[test]
    fn the_timestamp_and_nothing_else() {
        let mock = Mock::default();
        mock.set(0x2358, 0x89ab_cdef);
        mock.set(0x235c, 0x7);
        assert_eq!(read(&mock.hw(), 0x2358), Some(0x7_89ab_cdef));
        // The low dword wraps after the first read.
        mock.script(0x235c, &[0x7, 0x8]);
        mock.set(0x2358, 0xffff_fff0);
        assert_eq!(read(&mock.hw(), 0x2358), Some(0x8_0000_0000));
        for offset in [
            0, 0x2030, 0x2350, 0x2357, 0x2359, 0x235c, 0x1_2358, 0x2_2358, !0,
        ] {
            assert_eq!(read(&mock.hw(), offset), None);
        }
    }
}
