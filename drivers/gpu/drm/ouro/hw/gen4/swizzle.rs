// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Bit-6 swizzle: how the memory controller distributes addresses over two channels (G-26). The
//! engines follow it without any setting. The document does not cover it (TIL-18).

use super::regs::{Dcc, C0DRB, C1DRB, DCC, DCC2, DCC2_NOT_ENHANCED};
use crate::{generation::Swizzle, io::Hw};

/// Returns the swizzle of a desktop chip: channels of equal size are interleaved completely. With
/// other sizes only some pages are, and which ones is not known.
pub(super) fn desktop(hw: &Hw<'_>) -> Swizzle {
    let end = |at| hw.regs.read32(at) >> 16;
    if end(C0DRB) == end(C1DRB) {
        Swizzle::Bit9_10
    } else {
        Swizzle::Unknown
    }
}

/// Returns the swizzle of a mobile chip, from a register.
pub(super) fn mobile(hw: &Hw<'_>) -> Swizzle {
    let raw = hw.regs.read32(DCC);
    let dcc = Dcc::from_bits(raw);
    if raw == u32::MAX || hw.regs.read32(DCC2) & DCC2_NOT_ENHANCED == 0 {
        return Swizzle::Unknown;
    }
    match (dcc.mode(), dcc.plain(), dcc.by_bit_17()) {
        (0 | 1, _, _) => Swizzle::None,
        (Dcc::INTERLEAVED, true, _) => Swizzle::Bit9_10,
        (Dcc::INTERLEAVED, false, false) => Swizzle::Bit9_10_11,
        (Dcc::INTERLEAVED, false, true) => Swizzle::Bit9_10_17,
        _ => Swizzle::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

    #[test]
    fn desktops_compare_their_channels() {
        // 10206h and 10606h, 16 bits.
        for (c0, c1, swizzle) in [
            (0x0010_0000, 0x0010_ffff, Swizzle::Bit9_10),
            (0x0010_0000, 0x0000_0000, Swizzle::Unknown),
            (0x0010_0000, 0x0020_0000, Swizzle::Unknown),
        ] {
            let mock = Mock::default();
            mock.set(0x1_0204, c0);
            mock.set(0x1_0604, c1);
            assert_eq!(desktop(&mock.hw()), swizzle);
        }
    }

    #[test]
    fn mobiles_say_it() {
        const ON: u32 = 1 << 20;
        for (dcc, dcc2, swizzle) in [
            (0, ON, Swizzle::None),
            (1, ON, Swizzle::None),
            (0x602, ON, Swizzle::Bit9_10),
            (0x402, ON, Swizzle::Bit9_10),
            (0x002, ON, Swizzle::Bit9_10_11),
            (0x202, ON, Swizzle::Bit9_10_17),
            (0x003, ON, Swizzle::Unknown),
            (0x402, 0, Swizzle::Unknown),
            (0, !ON, Swizzle::Unknown),
            (u32::MAX, ON, Swizzle::Unknown),
        ] {
            let mock = Mock::default();
            mock.set(0x1_0200, dcc);
            mock.set(0x1_0204, dcc2);
            assert_eq!(mobile(&mock.hw()), swizzle, "{dcc:#x} {dcc2:#x}");
        }
    }
}
