// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers that only this generation has, or has at another place, beside those of
//! [`crate::intel::ring::regs`] and [`crate::intel::processor::gt_regs`].
//!
//! Rows of the digest are cited; without a citation, offset and bits are the upstream driver's.

pub(super) use crate::intel::{processor::gt_regs::*, ring::regs::*};

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

// --- Of each engine, relative to its base ---

/// Bit 11 of [`GFX_MODE`]: replay. Render only (V-06).
pub(super) const GFX_MODE_REPLAY: u16 = 1 << 11;

// --- HWSP addresses (VCS §1.1.2.2.1, V-09): not among the engines' registers ---

/// GGTT address of the render engine's HWSP, bits 31:12.
pub(super) const HWS_PGA_RENDER: u32 = 0x4080;
/// GGTT address of the video engine's HWSP (VCS-011).
pub(super) const HWS_PGA_VIDEO: u32 = 0x4180;
/// GGTT address of the blitter's HWSP.
pub(super) const HWS_PGA_BLITTER: u32 = 0x4280;

// --- Forcewake (V-04) ---

/// Multi-threaded forcewake request: bit 0 keeps the device awake; masked. Each user has a bit.
pub(super) const FORCEWAKE_MT: u32 = 0xa188;
/// Acknowledgement: bit 0, the device is awake.
pub(super) const FORCEWAKE_MT_ACK: u32 = 0x13_0040;
/// The register that tells whether multi-threaded forcewake is enabled.
pub(super) const ECOBUS: u32 = 0xa180;
/// Bit 5 of [`ECOBUS`]: multi-threaded forcewake is enabled.
pub(super) const ECOBUS_MT: u32 = 1 << 5;

// --- Reset (V-15) ---

/// Bit 2 of [`GDRST`]: the video engine.
pub(super) const GDRST_VIDEO: u32 = 1 << 2;
/// Bit 3 of [`GDRST`]: the blitter.
pub(super) const GDRST_BLITTER: u32 = 1 << 3;

// --- The video engine's watchdog (VCS §1.1.5, §1.1.6) ---

/// Counts while the engine works. Zero starts it; all ones stop it, and it then reads so (VCS
/// §1.1.5.1).
pub(super) const VCS_CNTR: u32 = 0x1_2178;
/// The threshold: when the count exceeds it, the counter restarts and interrupts (VCS §1.1.5.2).
/// Reset 150000h.
pub(super) const VCS_THRSH: u32 = 0x1_217c;
/// Bit 18 of the interrupt registers: "Timeout Counter Expired" (VCS §1.1.6).
pub(super) const GT_VIDEO_WATCHDOG: u32 = 1 << 18;

// --- Diagnostics of the video engine (VCS §1.1.3.1, §1.1.7.2) ---

/// Address of the current command in the second-level batch, bits 31:2 (VCS §1.1.3.1).
pub(super) const VCS_SECOND_BATCH: u32 = 0x1_2144;
/// How the engine fetches batches (VCS §1.1.7.2). Read only.
pub(super) const VCS_BB_STATE: u32 = 0x1_2110;

/// The fields of [`VCS_BB_STATE`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct BatchState {
    #[bits(5)]
    __: u8,
    /// Bit 5: the first level is fetched through the PPGTT (0: the GGTT).
    pub(super) first_process: bool,
    /// Bit 6: the second level is fetched through the PPGTT (0: the GGTT).
    pub(super) second_process: bool,
    #[bits(25)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<BatchState>(), 4);

// --- Its address translations: TLBs (VCS §1.1.9.3), and pending ones (VCS §1.1.9.4) ---

/// The number of entries of each array.
pub(super) const TLB_ENTRIES: u8 = 64;
/// Valid bits of the entries, two registers of 32 bits for each TLB (VCS §1.1.9.3.5 to §1.1.9.3.12:
/// the text has the first half twice).
pub(super) const TLB_VALID: u32 = 0x1_4780;
/// Bytes between the valid bits of two TLBs.
pub(super) const TLB_VALID_STEP: u32 = 8;
/// Addresses of the entries, bits 31:12, a register each (VCS §1.1.9.3.1 to §1.1.9.3.4).
pub(super) const TLB_ADDRESS: u32 = 0x1_4800;
/// Bytes between the addresses of two TLBs.
pub(super) const TLB_ADDRESS_STEP: u32 = 0x100;
/// Arbitration of the media units; bits 5:0 are the number of the first TLB's entries for the GGTT
/// (VCS §1.1.9.2.2).
pub(super) const GAC_ARB_CTL: u32 = 0x1_4050;
/// Bits 5:0 of [`GAC_ARB_CTL`].
pub(super) const GAC_GLOBAL_ENTRIES: u32 = 0x3f;
/// Valid bits of the pending translations: two registers of 32 bits (VCS §1.1.9.4.1, §1.1.9.4.2).
pub(super) const PENDING_VALID: u32 = 0x1_4700;
/// Ready bits of the pending translations: two registers of 32 bits (VCS §1.1.9.4.3, §1.1.9.4.4).
pub(super) const PENDING_READY: u32 = 0x1_4708;
/// [`PendingPage`] of each pending translation (VCS §1.1.9.4.5).
pub(super) const PENDING_PAGE: u32 = 0x1_4400;
/// [`PendingAccess`] of each pending translation (VCS §1.1.9.4.6).
pub(super) const PENDING_ACCESS: u32 = 0x1_4500;
/// [`PendingOffset`] of each pending translation (VCS §1.1.9.4.7).
pub(super) const PENDING_OFFSET: u32 = 0x1_4600;

/// Section 0 of a pending access (VCS §1.1.9.4.5).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct PendingPage {
    /// Bits 27:0: the page, before the translation in 19:0, or the result.
    #[bits(28)]
    pub(super) page: u32,
    /// Bits 30:28: bits of the page table entry.
    #[bits(3)]
    pub(super) entry: u8,
    /// Bit 31: with the ready bit, the state of the translation.
    pub(super) status: bool,
}
const_assert_eq!(core::mem::size_of::<PendingPage>(), 4);

/// Section 1 of a pending access (VCS §1.1.9.4.6).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct PendingAccess {
    /// Bits 3:0: the lower four of five bits of the unit's number.
    #[bits(4)]
    pub(super) unit: u8,
    #[bits(24)]
    __: u32,
    /// Bits 31:28: bits 9:6 of the address.
    #[bits(4)]
    pub(super) offset: u8,
}
const_assert_eq!(core::mem::size_of::<PendingAccess>(), 4);

/// Section 2 of a pending access (VCS §1.1.9.4.7). It repeats bit 9 of the address; the bit of
/// section 1 is used.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct PendingOffset {
    #[bits(9)]
    __: u16,
    /// Bits 10:9: bits 11:10 of the address.
    #[bits(2)]
    pub(super) offset: u8,
    #[bits(21)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<PendingOffset>(), 4);

// --- Address translation (V-24) ---

/// Bits 9:8 of [`GAC_ECO_BITS`]: fetch 64 bytes of a page table.
pub(super) const GAC_ECO_BITS_64_BYTES: u32 = 3 << 8;
/// Bit 3 of [`GAM_ECOCHK`]: page tables are in the last-level cache.
pub(super) const GAM_ECOCHK_LLC: u32 = 1 << 3;
/// Bit 4 of [`GAM_ECOCHK`]: page tables are graphics data, not visible to other agents.
pub(super) const GAM_ECOCHK_GFDT: u32 = 1 << 4;

// --- The render engine ---

/// Idle units of the slices: the second INSTDONE word (M70: `SC_INSTDONE`).
pub(super) const SC_INSTDONE: u32 = 0x7100;
/// The write offset of the first of four stream output buffers; a dword each (M70).
pub(super) const SO_WRITE_OFFSET: u32 = 0x5280;
/// Sizes of the parts of a context image.
pub(super) const CXT_SIZE: u32 = 0x21a8;

/// The fields of [`CXT_SIZE`], in lines of 64 bytes.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct ContextSize {
    /// Bits 5:0: vertex fetch state.
    #[bits(6)]
    pub(super) vertex: u8,
    #[bits(3)]
    __: u8,
    /// Bits 15:9: the extended part.
    #[bits(7)]
    pub(super) extended: u8,
    #[bits(16)]
    __: u16,
}
const_assert_eq!(core::mem::size_of::<ContextSize>(), 4);

// --- Workarounds and settings: see [`super::workarounds`] ---

/// Dispatch of threads of the fixed functions.
pub(super) const FF_THREAD_MODE: u32 = 0x20a0;
/// Cache mode; masked, saved with a context. Gen6 has it at another offset.
pub(super) const CACHE_MODE_0: u32 = 0x7000;
/// Second cache mode register; masked, saved with a context.
pub(super) const CACHE_MODE_1: u32 = 0x7004;
/// The distribution of pixels over the slices; masked.
pub(super) const GT_MODE: u32 = 0x7008;
/// Chicken bits of the units that slices share; masked.
pub(super) const COMMON_SLICE_CHICKEN1: u32 = 0x7010;
/// Shared part of the last-level cache.
pub(super) const MBCUNIT_SNPCR: u32 = 0x900c;
/// Chicken bits of the memory interface.
pub(super) const SQ_CHICKEN_MBCUNIT: u32 = 0x9030;
/// Control of the L3 cache.
pub(super) const L3CNTLREG1: u32 = 0xb01c;
/// Chicken bits of the L3 cache.
pub(super) const L3_CHICKEN_MODE: u32 = 0xb030;
/// Queue control of the L3 cache.
pub(super) const L3SQCREG4: u32 = 0xb034;
/// Chicken bits of a half slice; masked. On GT1.
pub(super) const HALF_SLICE_CHICKEN1: u32 = 0xe100;
/// Chicken bits of a row of units; masked.
pub(super) const ROW_CHICKEN2: u32 = 0xe4f4;
/// Chicken bits of the second row, which only GT2 has; masked.
pub(super) const ROW_CHICKEN2_GT2: u32 = 0xf4f4;

/// Bit 5 of [`ARB_MODE`]: swizzle.
pub(super) const ARB_MODE_SWIZZLE: u16 = 1 << 5;
