// SPDX-License-Identifier: GPL-2.0
//! Registers that all engines share, and those of the device around them.
//!
//! Offsets and bits: rows G-nn of the digest, as each says. Registers below 0x4_0000 can be reached
//! only while the device is awake, except where said otherwise (G-15).

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

// --- Waking it (G-15 to G-17) ---

/// Bit 0: stay awake; masked. Reached whether or not it is awake.
pub(super) const FORCEWAKE: u32 = 0xa18c;
/// Bit 0 of [`FORCEWAKE`].
pub(super) const FORCEWAKE_ON: u16 = 1 << 0;
/// Bit 0: it is awake.
pub(super) const FORCEWAKE_ACK: u32 = 0x13_0090;
/// Bits 2:0: threads are not in C0 yet; zero when they are.
pub(super) const GT_THREAD_STATUS: u32 = 0x13_805c;
/// Bits 2:0 of [`GT_THREAD_STATUS`].
pub(super) const GT_THREAD_NOT_C0: u32 = 7;
/// Bits 6:0: free entries of the FIFO through which writes reach the engines.
pub(super) const GTFIFOCTL: u32 = 0x12_0008;
/// Bits 6:0 of [`GTFIFOCTL`].
pub(super) const GTFIFO_FREE: u32 = 0x7f;
/// Accesses that were lost in the FIFO; cleared by ones.
pub(super) const GTFIFODBG: u32 = 0x12_0000;

// --- Interrupts (G-11 to G-14, §5.6) ---

/// Display interrupt mask, identity, enable. The last one is the gate of the whole device as well.
pub(super) const DEIMR: u32 = 0x4_4004;
/// Display interrupt identity; cleared by ones.
pub(super) const DEIIR: u32 = 0x4_4008;
/// Display interrupt enable.
pub(super) const DEIER: u32 = 0x4_400c;
/// Bit 31 of [`DEIER`]: interrupts get out of the device at all.
pub(super) const DEIER_MASTER: u32 = 1 << 31;
/// Engine interrupt mask: ones do not get into [`GTIIR`].
pub(super) const GTIMR: u32 = 0x4_4014;
/// Engine interrupt identity; cleared by ones.
pub(super) const GTIIR: u32 = 0x4_4018;
/// Engine interrupt enable: ones get on to the gate.
pub(super) const GTIER: u32 = 0x4_401c;
/// Power management interrupt mask.
pub(super) const PMIMR: u32 = 0x4_4024;
/// Power management interrupt identity; cleared by ones.
pub(super) const PMIIR: u32 = 0x4_4028;
/// Power management interrupt enable.
pub(super) const PMIER: u32 = 0x4_402c;

/// `MI_USER_INTERRUPT` on the render engine, in [`GTIIR`] and its companions.
pub(super) const GT_RENDER_USER: u32 = 1 << 0;
/// The render engine has an error in its identity register.
pub(super) const GT_RENDER_ERROR: u32 = 1 << 3;
/// `MI_USER_INTERRUPT` on the video engine.
pub(super) const GT_VIDEO_USER: u32 = 1 << 12;
/// The video engine has an error in its identity register.
pub(super) const GT_VIDEO_ERROR: u32 = 1 << 15;
/// `MI_USER_INTERRUPT` on the blitter.
pub(super) const GT_BLITTER_USER: u32 = 1 << 22;
/// The blitter has an error in its identity register.
pub(super) const GT_BLITTER_ERROR: u32 = 1 << 25;

// --- Reset (G-24) ---

/// What to reset; a bit clears itself when that is done. Reached whether or not it is awake.
pub(super) const GDRST: u32 = 0x941c;
/// Bit 0: everything.
pub(super) const GDRST_FULL: u32 = 1 << 0;

// --- Translation (G-18, G-19, G-21) ---

/// Bit 0: drop the translations of the CPU's and the command streamers' accesses.
pub(super) const GFX_FLSH_CNTL: u32 = 0x10_1008;
/// Mode of all engines; masked.
pub(super) const GFX_MODE: u32 = 0x2520;
/// Bit 9 of [`GFX_MODE`]: batches are translated by the directory.
pub(super) const GFX_MODE_PPGTT: u16 = 1 << 9;
/// Bit 13 of [`GFX_MODE`]: translations are dropped only by commands that say so.
pub(super) const GFX_MODE_EXPLICIT_TLB: u16 = 1 << 13;
/// Checks and caching of translations.
pub(super) const GAM_ECOCHK: u32 = 0x4090;
/// Bit 10 of [`GAM_ECOCHK`]: snooping as this chip needs it; bits 4:3: fetch 64 bytes of a table.
pub(super) const GAM_ECOCHK_SET: u32 = (1 << 10) | (3 << 3);
/// The same for the video engine's accesses.
pub(super) const GAC_ECO_BITS: u32 = 0x1_4090;
/// Bit 13 of [`GAC_ECO_BITS`]: snooping; bits 9:8: fetch 64 bytes of a table.
pub(super) const GAC_ECO_BITS_SET: u32 = (1 << 13) | (3 << 8);
/// The blitter's accesses.
pub(super) const GAB_CTL: u32 = 0x2_4000;
/// Bit 8 of [`GAB_CTL`]: goes on after a page fault.
pub(super) const GAB_CTL_CONTINUE: u32 = 1 << 8;

// --- Errors (§5.7.2.1, G-23) ---

/// First page fault of the render engine (§5.7.2.1).
pub(super) const FAULT_RENDER: u32 = 0x4094;
/// First page fault of the video engine (§5.7.2.1).
pub(super) const FAULT_VIDEO: u32 = 0x4194;
/// First page fault of the blitter (§5.7.2.1).
pub(super) const FAULT_BLITTER: u32 = 0x4294;

/// Errors of translation, device wide.
pub(super) const ERROR_GEN6: u32 = 0x40a0;
/// Page table errors of the render engine's block (G-23).
pub(super) const PGTBL_ER: u32 = 0x2024;

// --- Contexts (G-27) ---

/// Bytes of the parts of a context image.
pub(super) const CXT_SIZE: u32 = 0x21a0;

/// [`CXT_SIZE`], in lines of 64 bytes.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct ContextSize {
    /// Bits 5:0.
    #[bits(6)]
    pub(super) pipelined: u8,
    /// Bits 11:6.
    #[bits(6)]
    pub(super) extended: u8,
    /// Bits 17:12.
    #[bits(6)]
    pub(super) render: u8,
    /// Bits 23:18.
    #[bits(6)]
    pub(super) ring: u8,
    /// Bits 29:24.
    #[bits(6)]
    pub(super) power: u8,
    #[bits(2)]
    __: u8,
}
const_assert_eq!(core::mem::size_of::<ContextSize>(), 4);

// --- Workarounds and power (G-38, G-39) ---

/// 3D chicken bits; masked.
pub(super) const CHICKEN_3D: u32 = 0x2084;
/// More 3D chicken bits; masked.
pub(super) const CHICKEN3_3D: u32 = 0x2090;
/// How pixels are spread over the slices; masked.
pub(super) const GT_MODE: u32 = 0x20d0;
/// Cache mode; masked, saved with a context (§5.8).
pub(super) const CACHE_MODE_0: u32 = 0x2120;
/// Bit 0 of [`CACHE_MODE_0`]: operational flush of the render cache.
pub(super) const CACHE_MODE_0_OPERATIONAL_FLUSH: u16 = 1 << 0;
/// Bit 5 of [`CACHE_MODE_0`]: policy of eviction from the stencil cache.
pub(super) const CACHE_MODE_0_STC_EVICT: u16 = 1 << 5;
/// Clock gating that is off.
pub(super) const UCGCTL1: u32 = 0x9400;
/// More clock gating that is off.
pub(super) const UCGCTL2: u32 = 0x9404;
/// Render standby control.
pub(super) const RC_CONTROL: u32 = 0xa090;
/// Render standby state.
pub(super) const RC_STATE: u32 = 0xa094;

// --- The clock of the engines: see [`super::frequency`] ---

/// What clocks there are, through the alias of the memory controller.
pub(super) const RP_STATE_CAP: u32 = 0x14_5998;
/// The clock that is asked for.
pub(super) const RPNSWREQ: u32 = 0xa008;
/// Idle for so long.
pub(super) const RP_DOWN_TIMEOUT: u32 = 0xa010;
/// What the unit counts, and whether.
pub(super) const RP_CONTROL: u32 = 0xa024;
/// Busy for so much of an interval.
pub(super) const RP_UP_THRESHOLD: u32 = 0xa02c;
/// Busy for so little of an interval.
pub(super) const RP_DOWN_THRESHOLD: u32 = 0xa030;
/// The interval of the former.
pub(super) const RP_UP_INTERVAL: u32 = 0xa068;
/// The interval of the latter.
pub(super) const RP_DOWN_INTERVAL: u32 = 0xa06c;
/// Idle for so long that it counts.
pub(super) const RP_IDLE_HYSTERESIS: u32 = 0xa070;
/// Which of the unit's interrupts are not sent.
pub(super) const PM_INTERRUPT_MASK: u32 = 0xa168;

// --- Tiling (G-31, §4.5.4.1.1) ---

/// Tile control of the CPU's accesses.
pub(super) const TILECTL: u32 = 0x10_1000;
/// Bit 0 of [`TILECTL`]: swizzle.
pub(super) const TILECTL_SWIZZLE: u32 = 1 << 0;
/// Arbiter mode of the engines' accesses; masked.
pub(super) const ARB_MODE: u32 = 0x4030;
/// Bit 4 of [`ARB_MODE`]: swizzle.
pub(super) const ARB_MODE_SWIZZLE: u16 = 1 << 4;
/// Arbiter of the display's accesses.
pub(super) const DISP_ARB_CTL: u32 = 0x4_5000;
/// Bit 13 of [`DISP_ARB_CTL`]: swizzle.
pub(super) const DISP_ARB_SWIZZLE: u32 = 1 << 13;
/// Sizes of the memory modules of channel 0, through the alias of the memory controller (§3, G-31).
pub(super) const MAD_DIMM_C0: u32 = 0x14_5004;
/// Sizes of the memory modules of channel 1.
pub(super) const MAD_DIMM_C1: u32 = 0x14_5008;
/// Bits 15:0 of both: size of module B, size of module A.
pub(super) const MAD_DIMM_SIZES: u32 = 0xffff;

// --- PCI configuration space (G-03) ---

/// Dword with the revision in bits 7:0.
pub(super) const PCI_REVISION: u16 = 0x08;
/// Dword whose low word is the graphics control register.
pub(super) const PCI_GGC: u16 = 0x50;

/// Graphics control register.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct Ggc {
    #[bits(3)]
    __: u8,
    /// Bits 7:3: stolen memory, in 32 MiB.
    #[bits(5)]
    pub(super) stolen_32m: u8,
    /// Bits 9:8: the global table, in MiB.
    #[bits(2)]
    pub(super) table_1m: u8,
    #[bits(22)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<Ggc>(), 4);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_sizes_decode() {
        // G-27: 29:24, 23:18, 17:12, 11:6, 5:0.
        let s = ContextSize::from_bits((1 << 24) | (2 << 18) | (3 << 12) | (4 << 6) | 5);
        let all = (s.power(), s.ring(), s.render(), s.extended(), s.pipelined());
        assert_eq!(all, (1, 2, 3, 4, 5));
    }

    #[test]
    fn graphics_control_decodes() {
        // G-03: 9:8 MiB of entries, 7:3 in 32 MiB.
        let g = Ggc::from_bits(0x0211);
        assert_eq!((g.table_1m(), g.stolen_32m()), (2, 2));
    }
}
