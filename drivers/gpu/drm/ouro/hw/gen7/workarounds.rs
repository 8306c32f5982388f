// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Workarounds: bits that must differ from their values after a reset; and the set-up of the L3
//! cache.
//!
//! No available document describes these registers: all values are the upstream driver's, and the
//! comments have its names of the workarounds. Bits of registers that a context saves are in the
//! golden state ([`super::golden`]). Chicken bits of display planes are left out: the driver does
//! not use the display.

use super::regs::{
    Base, CHICKEN3_3D, COMMON_SLICE_CHICKEN1, FF_THREAD_MODE, GFX_MODE, GFX_MODE_EXPLICIT_TLB,
    GFX_MODE_REPLAY, GT_MODE, HALF_SLICE_CHICKEN1, L3CNTLREG1, L3SQCREG4, L3_CHICKEN_MODE,
    MBCUNIT_SNPCR, MI_MODE, MI_MODE_ASYNC_FLIP, ROW_CHICKEN2, ROW_CHICKEN2_GT2, SQ_CHICKEN_MBCUNIT,
    UCGCTL2,
};
use crate::intel::{
    processor::STANDBY_OFF,
    ring::fixes::{Fix, Fixes},
};

/// Bit 0 of a row's chicken bits: do not gate the clocks of idle units with those of the row.
const ROW: Fix = Fix::masked(ROW_CHICKEN2, 1 << 0, 0);
/// [`ROW`] for the second row, on GT2.
const SECOND_ROW: Fix = Fix::masked(ROW_CHICKEN2_GT2, 1 << 0, 0);
/// Workarounds of the device that both chips have.
const DEVICE: &[Fix] = &[
    // Bit 13, WaDisableRCZUnitClockGating: the clock of the depth cache is not gated. Other bits
    // stay (UW47).
    Fix::bits(UCGCTL2, 1 << 13, 0),
    // Bit 11, WaCatErrorRejectionIssue.
    Fix::bits(SQ_CHICKEN_MBCUNIT, 1 << 11, 0),
    // Bits 22:21 are 1: the medium share of the last-level cache.
    Fix::bits(MBCUNIT_SNPCR, 1 << 21, 1 << 22),
    // Bit 10 clear, WaDisableRHWOOptimizationForRenderHang.
    Fix::masked(COMMON_SLICE_CHICKEN1, 0, 1 << 10),
    // WaApplyL3ControlAndL3ChickenMode; bit 27 clear, WaForceL3Serialization.
    Fix::write(L3CNTLREG1, 0x3c47_ff8c),
    Fix::write(L3_CHICKEN_MODE, 0x2000_0000),
    Fix::bits(L3SQCREG4, 0, 1 << 27),
];

/// Workarounds of the device on GT1.
pub(super) const DEVICE_GT1: Fixes = &[STANDBY_OFF, &[ROW], DEVICE];
/// Workarounds of the device on GT2, which has a second row.
pub(super) const DEVICE_GT2: Fixes = &[STANDBY_OFF, &[ROW, SECOND_ROW], DEVICE];

/// Workarounds of the render engine on both chips, first part.
const THREADS: &[Fix] = &[
    // Bit 10, WaDisableEarlyCull.
    Fix::masked(CHICKEN3_3D, 1 << 10, 0),
    // Bits 18:16, 14:12 and 6:4 are 0, WaVSThreadDispatchOverride: the hardware dispatches threads
    // of all kinds.
    Fix::bits(FF_THREAD_MODE, 0, 0x7_7070),
];
/// Bit 3, `WaDisablePSDDualDispatchEnable`, on GT1.
const DISPATCH: Fix = Fix::masked(HALF_SLICE_CHICKEN1, 1 << 3, 0);
/// Workarounds of the render engine on both chips, last part.
const MODES: &[Fix] = &[
    // Bits 13 and 11, WaBCSVCSTlbInvalidationMode.
    Fix::masked(
        Base::RENDER.at(GFX_MODE),
        GFX_MODE_EXPLICIT_TLB | GFX_MODE_REPLAY,
        0,
    ),
    // Bits 9 and 7 are 1 and 0: distribute pixels over the slices in blocks of 16 by 4.
    Fix::masked(GT_MODE, 1 << 9, 1 << 7),
    // Bit 14, WaDisableAsyncFlipPerfMode.
    Fix::masked(Base::RENDER.at(MI_MODE), MI_MODE_ASYNC_FLIP, 0),
];

/// Workarounds of the render engine on GT1, to apply after each of its resets.
pub(super) const RENDER_GT1: Fixes = &[THREADS, &[DISPATCH], MODES];
/// Workarounds of the render engine on GT2, to apply after each of its resets.
pub(super) const RENDER_GT2: Fixes = &[THREADS, MODES];

#[cfg(test)]
mod tests;
