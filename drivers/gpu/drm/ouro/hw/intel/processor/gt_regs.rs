// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers outside the engines that are the same on both generations.
//!
//! Citations: rows G-nn of the digest of Sandy Bridge; rows V-nn and VCS-nnn of the digest of Ivy
//! Bridge's video engine, where those cover a register. Registers below 0x4_0000 can be accessed
//! only while the device is awake, except as noted (G-15).

pub(crate) use crate::intel::gt_regs::*;

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

// --- Forcewake (G-15 to G-17) ---

/// Forcewake request: bit 0 keeps the device awake; masked. Accessible while the device is asleep.
pub(crate) const FORCEWAKE: u32 = 0xa18c;
/// Bit 0 of [`FORCEWAKE`]: stay awake.
pub(crate) const FORCEWAKE_ON: u16 = 1 << 0;
/// Forcewake acknowledgement: bit 0, the device is awake.
pub(crate) const FORCEWAKE_ACK: u32 = 0x13_0090;
/// Thread status: bits 2:0 are nonzero until all threads are in C0.
pub(crate) const GT_THREAD_STATUS: u32 = 0x13_805c;
/// Bits 2:0 of [`GT_THREAD_STATUS`].
pub(crate) const GT_THREAD_NOT_C0: u32 = 7;
/// The write FIFO of the engines: bits 6:0 are the free entries.
pub(crate) const GTFIFOCTL: u32 = 0x12_0008;
/// Bits 6:0 of [`GTFIFOCTL`].
pub(crate) const GTFIFO_FREE: u32 = 0x7f;
/// Accesses that the FIFO has lost; a one clears a bit.
pub(crate) const GTFIFODBG: u32 = 0x12_0000;

// --- Interrupts (G-11 to G-14, §5.6) ---

/// Display interrupt mask.
pub(crate) const DEIMR: u32 = 0x4_4004;
/// Display interrupt identity; a one clears a bit.
pub(crate) const DEIIR: u32 = 0x4_4008;
/// Display interrupt enable, with the device's master interrupt enable.
pub(crate) const DEIER: u32 = 0x4_400c;
/// Bit 31 of [`DEIER`]: master interrupt enable.
pub(crate) const DEIER_MASTER: u32 = 1 << 31;
/// Engine interrupt mask: a one keeps the source out of [`GTIIR`].
pub(crate) const GTIMR: u32 = 0x4_4014;
/// Engine interrupt identity; a one clears a bit.
pub(crate) const GTIIR: u32 = 0x4_4018;
/// Engine interrupt enable: a one passes the source on to the master enable.
pub(crate) const GTIER: u32 = 0x4_401c;
/// Power management interrupt mask.
pub(crate) const PMIMR: u32 = 0x4_4024;
/// Power management interrupt identity; a one clears a bit.
pub(crate) const PMIIR: u32 = 0x4_4028;
/// Power management interrupt enable.
pub(crate) const PMIER: u32 = 0x4_402c;

/// `MI_USER_INTERRUPT` on the render engine, in [`GTIIR`] and its companions.
pub(crate) const GT_RENDER_USER: u32 = 1 << 0;
/// Error interrupt of the render engine: [`EIR`](crate::intel::ring_regs::EIR) is not zero.
pub(crate) const GT_RENDER_ERROR: u32 = 1 << 3;
/// `MI_USER_INTERRUPT` on the video engine.
pub(crate) const GT_VIDEO_USER: u32 = 1 << 12;
/// Error interrupt of the video engine.
pub(crate) const GT_VIDEO_ERROR: u32 = 1 << 15;
/// `MI_USER_INTERRUPT` on the blitter.
pub(crate) const GT_BLITTER_USER: u32 = 1 << 22;
/// Error interrupt of the blitter.
pub(crate) const GT_BLITTER_ERROR: u32 = 1 << 25;

// --- Address translation (G-18, G-19, G-21) ---

/// Bit 0: invalidate the TLBs of the CPU's and the command streamers' accesses.
pub(crate) const GFX_FLSH_CNTL: u32 = 0x10_1008;
/// Checks and caching of address translations.
pub(crate) const GAM_ECOCHK: u32 = 0x4090;
/// [`GAM_ECOCHK`] of the video engine's accesses.
pub(crate) const GAC_ECO_BITS: u32 = 0x1_4090;
// --- Errors (§5.7.2.1, G-23) ---

/// The first page fault of the render engine (§5.7.2.1).
pub(crate) const FAULT_RENDER: u32 = 0x4094;
/// The first page fault of the video engine (§5.7.2.1).
pub(crate) const FAULT_VIDEO: u32 = 0x4194;
/// The first page fault of the blitter (§5.7.2.1).
pub(crate) const FAULT_BLITTER: u32 = 0x4294;

/// Translation errors of the whole device.
pub(crate) const ERROR_GEN6: u32 = 0x40a0;

// --- Workarounds and power (G-38, G-39) ---

/// Clock gating disables.
pub(crate) const UCGCTL2: u32 = 0x9404;
/// Render standby control.
pub(crate) const RC_CONTROL: u32 = 0xa090;
/// Render standby state.
pub(crate) const RC_STATE: u32 = 0xa094;

// --- The clock of the engines: see [`super::frequency`] ---

/// The available clocks, through the alias of the memory controller.
pub(crate) const RP_STATE_CAP: u32 = 0x14_5998;
/// The requested clock.
pub(crate) const RPNSWREQ: u32 = 0xa008;
/// The clock that is in force.
pub(crate) const RPSTAT1: u32 = 0xa01c;
/// Idle time after which the clock may go down.
pub(crate) const RP_DOWN_TIMEOUT: u32 = 0xa010;
/// Control of the unit: what it measures, and its enable.
pub(crate) const RP_CONTROL: u32 = 0xa024;
/// Busy time in an interval above which the clock should go up.
pub(crate) const RP_UP_THRESHOLD: u32 = 0xa02c;
/// Busy time in an interval below which the clock should go down.
pub(crate) const RP_DOWN_THRESHOLD: u32 = 0xa030;
/// Length of the interval for [`RP_UP_THRESHOLD`].
pub(crate) const RP_UP_INTERVAL: u32 = 0xa068;
/// Length of the interval for [`RP_DOWN_THRESHOLD`].
pub(crate) const RP_DOWN_INTERVAL: u32 = 0xa06c;
/// Shortest idle time that the measurement counts.
pub(crate) const RP_IDLE_HYSTERESIS: u32 = 0xa070;
/// The masked interrupts of the unit.
pub(crate) const PM_INTERRUPT_MASK: u32 = 0xa168;

// --- Workarounds (G-38) ---

/// Chicken bits of the 3D pipeline; masked.
pub(crate) const CHICKEN3_3D: u32 = 0x2090;

// --- Tiling (G-31, §4.5.4.1.1) ---

/// Tiling control of the CPU's accesses.
pub(crate) const TILECTL: u32 = 0x10_1000;
/// Bit 0 of [`TILECTL`]: swizzle.
pub(crate) const TILECTL_SWIZZLE: u32 = 1 << 0;
/// Arbiter mode of the engines' accesses; masked.
pub(crate) const ARB_MODE: u32 = 0x4030;
/// Arbiter of the display's accesses.
pub(crate) const DISP_ARB_CTL: u32 = 0x4_5000;
/// Bit 13 of [`DISP_ARB_CTL`]: swizzle.
pub(crate) const DISP_ARB_SWIZZLE: u32 = 1 << 13;
/// Sizes of channel 0's memory modules, through the alias of the memory controller (§3, G-31).
pub(crate) const MAD_DIMM_C0: u32 = 0x14_5004;
/// Sizes of channel 1's memory modules.
pub(crate) const MAD_DIMM_C1: u32 = 0x14_5008;
/// Bits 15:0 of both registers: size of module B, size of module A.
pub(crate) const MAD_DIMM_SIZES: u32 = 0xffff;

// --- PCI configuration space (G-03) ---

/// The dword whose low word is the graphics control register.
pub(crate) const PCI_GGC: u16 = 0x50;

/// Graphics control register.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(crate) struct Ggc {
    #[bits(3)]
    __: u8,
    /// Bits 7:3: stolen memory, in units of 32 MiB.
    #[bits(5)]
    pub(crate) stolen_32m: u8,
    /// Bits 9:8: size of the GGTT, in MiB.
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
