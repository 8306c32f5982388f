// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Bit-6 swizzle: if both memory channels have the same size, higher address bits are XORed into
//! bit 6 of tiled surfaces' addresses, to spread accesses over the channels (G-31). The document
//! does not cover it.

use super::gt_regs as gt_reg;
use crate::{generation::Swizzle, intel::ring::regs::masked, io::Hw};

/// Reads the swizzle that the memory configuration requires. The registers are those of the memory
/// controller, through its alias (§3).
pub(super) fn detect(hw: &Hw<'_>) -> Swizzle {
    let a = hw.regs.read32(gt_reg::MAD_DIMM_C0) & gt_reg::MAD_DIMM_SIZES;
    let b = hw.regs.read32(gt_reg::MAD_DIMM_C1) & gt_reg::MAD_DIMM_SIZES;
    if a == b {
        Swizzle::Bit9_10
    } else {
        Swizzle::None
    }
}

/// Makes CPU, engines and display swizzle, if required. `engines` is the bit of
/// [`gt_reg::ARB_MODE`] for the engines.
pub(super) fn apply(hw: &Hw<'_>, swizzle: Swizzle, engines: u16) {
    if swizzle == Swizzle::None {
        return;
    }
    let display = hw.regs.read32(gt_reg::DISP_ARB_CTL);
    hw.regs
        .write32(gt_reg::DISP_ARB_CTL, display | gt_reg::DISP_ARB_SWIZZLE);
    let tile = hw.regs.read32(gt_reg::TILECTL);
    hw.regs
        .write32(gt_reg::TILECTL, tile | gt_reg::TILECTL_SWIZZLE);
    hw.regs.write32(gt_reg::ARB_MODE, masked(engines, 0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    #[test]
    fn equal_channels_swizzle() {
        // G-31: 7:0 and 15:8 are sizes, other bits are not.
        for (c0, c1, swizzle) in [
            (0x0000_0010, 0x0000_0000, Swizzle::None),
            (0x0000_0010, 0x0000_0010, Swizzle::Bit9_10),
            (0x0001_1008, 0x0062_1008, Swizzle::Bit9_10),
            (0x0000_1008, 0x0000_0810, Swizzle::None),
            (0x0000_1008, 0x0000_0808, Swizzle::None),
            (0x0000_1008, 0x0000_1010, Swizzle::None),
        ] {
            let mock = Mock::default();
            mock.set(0x14_5004, c0);
            mock.set(0x14_5008, c1);
            assert_eq!(detect(&mock.hw()), swizzle);
        }
    }

    #[test]
    fn everybody_is_told() {
        let mock = Mock::default();
        mock.set(0x4_5000, 0x5);
        mock.set(0x10_1000, 0x6);
        apply(&mock.hw(), Swizzle::Bit9_10, 1 << 4);
        assert_eq!(
            mock.take(),
            [
                Access::R(0x4_5000),
                Access::W(0x4_5000, 0x2005),
                Access::R(0x10_1000),
                Access::W(0x10_1000, 0x7),
                Access::W(0x4030, 0x0010_0010),
            ]
        );
        apply(&mock.hw(), Swizzle::None, 1 << 4);
        assert_eq!(mock.take(), []);
    }
}
