// SPDX-License-Identifier: GPL-2.0
//! Registers that all engines share, and those of the device around them, as on both generations.
//!
//! Offsets and bits: rows G-nn of the digest of Sandy Bridge, as each says; of Ivy Bridge rows V-nn and VCS-nnn
//! of that of its video engine, where those speak of them. Registers below 0x4_0000 can be reached only while the
//! device is awake, except where said otherwise (G-15).

pub(crate) use crate::intel::gt_regs::*;

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

// --- Waking it (G-15 to G-17) ---

/// Bit 0: stay awake; masked. Reached whether or not it is awake.
pub(crate) const FORCEWAKE: u32 = 0xa18c;
/// Bit 0 of [`FORCEWAKE`].
pub(crate) const FORCEWAKE_ON: u16 = 1 << 0;
/// Bit 0: it is awake.
pub(crate) const FORCEWAKE_ACK: u32 = 0x13_0090;
/// Bits 2:0: threads are not in C0 yet; zero when they are.
pub(crate) const GT_THREAD_STATUS: u32 = 0x13_805c;
/// Bits 2:0 of [`GT_THREAD_STATUS`].
pub(crate) const GT_THREAD_NOT_C0: u32 = 7;
/// Bits 6:0: free entries of the FIFO through which writes reach the engines.
pub(crate) const GTFIFOCTL: u32 = 0x12_0008;
/// Bits 6:0 of [`GTFIFOCTL`].
pub(crate) const GTFIFO_FREE: u32 = 0x7f;
/// Accesses that were lost in the FIFO; cleared by ones.
pub(crate) const GTFIFODBG: u32 = 0x12_0000;

// --- Interrupts (G-11 to G-14, §5.6) ---

/// Display interrupt mask, identity, enable. The last one is the gate of the whole device as well.
pub(crate) const DEIMR: u32 = 0x4_4004;
/// Display interrupt identity; cleared by ones.
pub(crate) const DEIIR: u32 = 0x4_4008;
/// Display interrupt enable.
pub(crate) const DEIER: u32 = 0x4_400c;
/// Bit 31 of [`DEIER`]: interrupts get out of the device at all.
pub(crate) const DEIER_MASTER: u32 = 1 << 31;
/// Engine interrupt mask: ones do not get into [`GTIIR`].
pub(crate) const GTIMR: u32 = 0x4_4014;
/// Engine interrupt identity; cleared by ones.
pub(crate) const GTIIR: u32 = 0x4_4018;
/// Engine interrupt enable: ones get on to the gate.
pub(crate) const GTIER: u32 = 0x4_401c;
/// Power management interrupt mask.
pub(crate) const PMIMR: u32 = 0x4_4024;
/// Power management interrupt identity; cleared by ones.
pub(crate) const PMIIR: u32 = 0x4_4028;
/// Power management interrupt enable.
pub(crate) const PMIER: u32 = 0x4_402c;

/// `MI_USER_INTERRUPT` on the render engine, in [`GTIIR`] and its companions.
pub(crate) const GT_RENDER_USER: u32 = 1 << 0;
/// The render engine has an error in its identity register.
pub(crate) const GT_RENDER_ERROR: u32 = 1 << 3;
/// `MI_USER_INTERRUPT` on the video engine.
pub(crate) const GT_VIDEO_USER: u32 = 1 << 12;
/// The video engine has an error in its identity register.
pub(crate) const GT_VIDEO_ERROR: u32 = 1 << 15;
/// `MI_USER_INTERRUPT` on the blitter.
pub(crate) const GT_BLITTER_USER: u32 = 1 << 22;
/// The blitter has an error in its identity register.
pub(crate) const GT_BLITTER_ERROR: u32 = 1 << 25;

// --- Translation (G-18, G-19, G-21) ---

/// Bit 0: drop the translations of the CPU's and the command streamers' accesses.
pub(crate) const GFX_FLSH_CNTL: u32 = 0x10_1008;
/// Checks and caching of translations.
pub(crate) const GAM_ECOCHK: u32 = 0x4090;
/// The same for the video engine's accesses.
pub(crate) const GAC_ECO_BITS: u32 = 0x1_4090;
// --- Errors (§5.7.2.1, G-23) ---

/// First page fault of the render engine (§5.7.2.1).
pub(crate) const FAULT_RENDER: u32 = 0x4094;
/// First page fault of the video engine (§5.7.2.1).
pub(crate) const FAULT_VIDEO: u32 = 0x4194;
/// First page fault of the blitter (§5.7.2.1).
pub(crate) const FAULT_BLITTER: u32 = 0x4294;

/// Errors of translation, device wide.
pub(crate) const ERROR_GEN6: u32 = 0x40a0;

// --- Workarounds and power (G-38, G-39) ---

/// More clock gating that is off.
pub(crate) const UCGCTL2: u32 = 0x9404;
/// Render standby control.
pub(crate) const RC_CONTROL: u32 = 0xa090;
/// Render standby state.
pub(crate) const RC_STATE: u32 = 0xa094;

// --- The clock of the engines: see [`super::frequency`] ---

/// What clocks there are, through the alias of the memory controller.
pub(crate) const RP_STATE_CAP: u32 = 0x14_5998;
/// The clock that is asked for.
pub(crate) const RPNSWREQ: u32 = 0xa008;
/// Idle for so long.
pub(crate) const RP_DOWN_TIMEOUT: u32 = 0xa010;
/// What the unit counts, and whether.
pub(crate) const RP_CONTROL: u32 = 0xa024;
/// Busy for so much of an interval.
pub(crate) const RP_UP_THRESHOLD: u32 = 0xa02c;
/// Busy for so little of an interval.
pub(crate) const RP_DOWN_THRESHOLD: u32 = 0xa030;
/// The interval of the former.
pub(crate) const RP_UP_INTERVAL: u32 = 0xa068;
/// The interval of the latter.
pub(crate) const RP_DOWN_INTERVAL: u32 = 0xa06c;
/// Idle for so long that it counts.
pub(crate) const RP_IDLE_HYSTERESIS: u32 = 0xa070;
/// Which of the unit's interrupts are not sent.
pub(crate) const PM_INTERRUPT_MASK: u32 = 0xa168;

// --- Workarounds (G-38) ---

/// More 3D chicken bits; masked.
pub(crate) const CHICKEN3_3D: u32 = 0x2090;

// --- Tiling (G-31, §4.5.4.1.1) ---

/// Tile control of the CPU's accesses.
pub(crate) const TILECTL: u32 = 0x10_1000;
/// Bit 0 of [`TILECTL`]: swizzle.
pub(crate) const TILECTL_SWIZZLE: u32 = 1 << 0;
/// Arbiter mode of the engines' accesses; masked.
pub(crate) const ARB_MODE: u32 = 0x4030;
/// Arbiter of the display's accesses.
pub(crate) const DISP_ARB_CTL: u32 = 0x4_5000;
/// Bit 13 of [`DISP_ARB_CTL`]: swizzle.
pub(crate) const DISP_ARB_SWIZZLE: u32 = 1 << 13;
/// Sizes of the memory modules of channel 0, through the alias of the memory controller (§3, G-31).
pub(crate) const MAD_DIMM_C0: u32 = 0x14_5004;
/// Sizes of the memory modules of channel 1.
pub(crate) const MAD_DIMM_C1: u32 = 0x14_5008;
/// Bits 15:0 of both: size of module B, size of module A.
pub(crate) const MAD_DIMM_SIZES: u32 = 0xffff;

// --- PCI configuration space (G-03) ---

/// Dword whose low word is the graphics control register.
pub(crate) const PCI_GGC: u16 = 0x50;

/// Graphics control register.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(crate) struct Ggc {
    #[bits(3)]
    __: u8,
    /// Bits 7:3: stolen memory, in 32 MiB.
    #[bits(5)]
    pub(crate) stolen_32m: u8,
    /// Bits 9:8: the global table, in MiB.
    #[bits(2)]
    pub(crate) table_1m: u8,
    #[bits(22)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<Ggc>(), 4);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphics_control_decodes() {
        // G-03: 9:8 MiB of entries, 7:3 in 32 MiB.
        let g = Ggc::from_bits(0x0211);
        assert_eq!((g.table_1m(), g.stolen_32m()), (2, 2));
    }
}
