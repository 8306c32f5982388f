// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Loading page directories and invalidating TLBs (SNB PRM V1P2 §2.2 to §2.3, G-18 to G-20).
//!
//! The driver loads the aliasing PPGTT's directory when it starts an engine. The aliasing PPGTT
//! maps each address as the GGTT does, since the engines' TLBs cannot distinguish the two (§2.3.4).
//! On Sandy Bridge all contexts use it, so no request loads a directory; on Ivy Bridge contexts
//! have directories of their own.

use super::gt_regs as gt_reg;
use crate::{
    intel::{
        pte,
        ring::regs::{self, Base},
    },
    io::Hw,
    types::GgttAddr,
};

/// Loads all groups of directory entries (§2.3, G-20).
pub(crate) const ALL_GROUPS: u32 = u32::MAX;

/// Loads an engine's page directory (G-20). The ring must be stopped: the entries are cached
/// (§2.3.1).
pub(crate) fn load_directory(hw: &Hw<'_>, engine: Base, slot: GgttAddr) {
    // The groups come first: the write of the base loads them (VCS §1.1.2.1).
    hw.regs.write32(engine.at(regs::PP_DIR_DCLV), ALL_GROUPS);
    hw.regs
        .write32(engine.at(regs::PP_DIR_BASE), pte::directory_base(slot));
}

/// Invalidates the TLBs of the CPU's and the command streamers' accesses (G-18). The write is
/// posted: it reaches the device after the writes of entries and before the next write of a tail.
pub(super) fn flush(hw: &Hw<'_>) {
    hw.regs.write32(gt_reg::GFX_FLSH_CNTL, 1);
}

/// Invalidates the TLBs like [`flush`], and waits until the device has done it (G-18, UW24). The
/// aperture is decoded separately from the registers: the CPU's accesses through it do not wait for
/// a posted write.
pub(super) fn settle(hw: &Hw<'_>) {
    hw.regs.write32_flush(gt_reg::GFX_FLSH_CNTL, 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

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
