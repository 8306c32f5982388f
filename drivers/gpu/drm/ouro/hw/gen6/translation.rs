// SPDX-License-Identifier: GPL-2.0
//! Switching translation on, and making changes of tables seen (SNB PRM V1P2 §2.2 to §2.3, G-18 to G-21).
//!
//! The directory is aliasing: it maps every address to what the global table maps it to, since the
//! engines' caches of translations cannot tell the two apart (§2.3.4). One directory serves all
//! contexts, so no request changes it; it is loaded when an engine is started.

use super::{
    gt_regs::{self as gt_reg, GFX_MODE_EXPLICIT_TLB, GFX_MODE_PPGTT},
    regs::{self, masked, Base},
};
use crate::{
    intel::pte,
    io::{Hw, Registers},
    types::GgttAddr,
};

/// All groups of directory entries are loaded (§2.3, G-20).
const ALL_GROUPS: u32 = u32::MAX;

fn set_bits(regs: &dyn Registers, offset: u32, bits: u32) {
    let old = regs.read32(offset);
    regs.write32(offset, old | bits);
}

/// Sets up caching and faults of translations for all engines (G-21), and the mode.
pub(super) fn enable(hw: &Hw<'_>, directory: bool) {
    set_bits(hw.regs, gt_reg::GAC_ECO_BITS, gt_reg::GAC_ECO_BITS_SET);
    set_bits(hw.regs, gt_reg::GAB_CTL, gt_reg::GAB_CTL_CONTINUE);
    set_bits(hw.regs, gt_reg::GAM_ECOCHK, gt_reg::GAM_ECOCHK_SET);
    mode(hw, directory);
}

/// Whether batches are translated by the directory; and that only commands drop translations (G-19).
pub(super) fn mode(hw: &Hw<'_>, directory: bool) {
    let value = if directory {
        masked(GFX_MODE_EXPLICIT_TLB | GFX_MODE_PPGTT, 0)
    } else {
        masked(GFX_MODE_EXPLICIT_TLB, GFX_MODE_PPGTT)
    };
    hw.regs.write32(gt_reg::GFX_MODE, value);
}

/// Loads an engine's directory (G-20). Its ring is stopped: the entries are cached (§2.3.1).
pub(super) fn load_directory(hw: &Hw<'_>, engine: Base, slot: GgttAddr) {
    // The groups first: writing the base loads them (VCS §1.1.2.1).
    hw.regs.write32(engine.at(regs::PP_DIR_DCLV), ALL_GROUPS);
    hw.regs
        .write32(engine.at(regs::PP_DIR_BASE), pte::directory_base(slot));
}

/// Drops the translations of the CPU's and the command streamers' accesses (G-18). Posted: it
/// reaches the device after the entries and before the tail that is written next.
pub(super) fn flush(hw: &Hw<'_>) {
    hw.regs.write32(gt_reg::GFX_FLSH_CNTL, 1);
}

/// The same, and waits until the device has done it (G-18, UW24). The aperture is decoded apart from the
/// registers: what the CPU does there does not wait for a posted write.
pub(super) fn settle(hw: &Hw<'_>) {
    hw.regs.write32_flush(gt_reg::GFX_FLSH_CNTL, 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    #[test]
    fn translation_is_set_up_as_in_g_21_and_g_19() {
        let mock = Mock::default();
        mock.set(0x1_4090, 0x1);
        mock.set(0x2_4000, 0x2);
        mock.set(0x4090, 0x4);
        enable(&mock.hw(), true);
        let (r, w) = (Access::R, Access::W);
        assert_eq!(
            mock.take(),
            [
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

    #[test]
    fn a_directory_is_loaded_group_mask_first() {
        let mock = Mock::default();
        load_directory(&mock.hw(), Base::VIDEO, GgttAddr(0x0020_0000));
        assert_eq!(
            mock.take(),
            [
                Access::W(0x1_2220, 0xffff_ffff),
                Access::W(0x1_2228, 0x0020_0000)
            ]
        );
    }

    #[test]
    fn a_flush_is_one_posted_write() {
        let mock = Mock::default();
        flush(&mock.hw());
        assert_eq!(mock.take(), [Access::W(0x10_1008, 1)]);
    }

    #[test]
    fn a_flush_that_is_waited_for_is_read_back() {
        // G-18, UW24.
        let mock = Mock::default();
        crate::generation::Generation::gtt_settle(&crate::gen6::GEN6, &mock.hw());
        assert_eq!(mock.take(), [Access::W(0x10_1008, 1), Access::R(0x10_1008)]);
    }
}
