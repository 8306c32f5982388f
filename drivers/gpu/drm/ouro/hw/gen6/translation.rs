// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Enabling the PPGTT (SNB PRM V1P2 §2.3, G-19, G-21). One mode register serves all engines.

use super::{
    gt_regs as gt_reg,
    regs::{masked, GFX_MODE_EXPLICIT_TLB, GFX_MODE_PPGTT},
};
use crate::{
    intel::ring::fixes::{Fix, Fixes},
    io::Hw,
};

/// Settings of caching and faults, for all engines (G-21).
pub(super) const SETTINGS: Fixes = &[&[
    Fix::bits(gt_reg::GAC_ECO_BITS, gt_reg::GAC_ECO_BITS_SET, 0),
    Fix::bits(gt_reg::GAB_CTL, gt_reg::GAB_CTL_CONTINUE, 0),
    Fix::bits(gt_reg::GAM_ECOCHK, gt_reg::GAM_ECOCHK_SET, 0),
]];

/// Enables or disables the PPGTT; and lets only explicit commands invalidate TLBs (G-19).
pub(super) fn mode(hw: &Hw<'_>, directory: bool) {
    let value = if directory {
        masked(GFX_MODE_EXPLICIT_TLB | GFX_MODE_PPGTT, 0)
    } else {
        masked(GFX_MODE_EXPLICIT_TLB, GFX_MODE_PPGTT)
    };
    hw.regs.write32(gt_reg::GFX_MODE, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen6::CHIP,
        intel::ring::fixes,
        mock::{Access, Mock},
    };

    #[test]
    fn translation_is_set_up_as_in_g_21_and_g_19() {
        let mock = Mock::default();
        mock.set(0x12_0008, 0x40);
        mock.set(0x1_4090, 0x1);
        mock.set(0x2_4000, 0x2);
        mock.set(0x4090, 0x4);
        fixes::apply(&CHIP, &mock.hw(), SETTINGS, &mock).unwrap();
        mode(&mock.hw(), true);
        let (r, w) = (Access::R, Access::W);
        assert_eq!(
            mock.take(),
            [
                r(0x12_0008),
                r(0x1_4090),
                w(0x1_4090, 0x2301),
                r(0x2_4000),
                w(0x2_4000, 0x102),
                r(0x4090),
                w(0x4090, 0x41c),
                w(0x2520, 0x2200_2200),
            ]
        );
    }

    #[test]
    fn without_a_directory_the_mode_bit_is_cleared() {
        let mock = Mock::default();
        mode(&mock.hw(), false);
        assert_eq!(mock.take(), [Access::W(0x2520, 0x2200_2000)]);
    }
}
