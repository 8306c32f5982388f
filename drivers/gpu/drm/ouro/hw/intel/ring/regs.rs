// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers of each engine of machines with a ring per engine, beside those that all of Intel's
//! engines have ([`crate::intel::ring_regs`]), as offsets from the engine's base.
//!
//! SNB PRM V1P2 §5.3 to §5.9 describes them without offsets. Offsets and bits: G-10, G-37 and G-42
//! of the digest.

pub(crate) use crate::intel::ring_regs::*;

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// Power state messages; masked (G-37, V-14). Used on the video engine only.
pub(crate) const PSMI_CTL: u32 = 0x50;
/// Bit 0 of [`PSMI_CTL`]: the engine sends no message before it goes to sleep.
pub(crate) const PSMI_NO_SLEEP: u16 = 1 << 0;
/// Bit 3 of [`PSMI_CTL`]: the engine is asleep. Read only.
pub(crate) const PSMI_ASLEEP: u32 = 1 << 3;

/// The second `INSTDONE` word; on the render engine only (G-42).
pub(crate) const INSTDONE_2: u32 = 0x7c;

/// Bit 14 of [`MI_MODE`]: disables an optimization for asynchronous flips (G-38). Render only.
pub(crate) const MI_MODE_ASYNC_FLIP: u16 = 1 << 14;

/// Bit 6 of [`MI_MODE`]: dispatch single vertices after a timeout (G-38). Render only, before Gen7.
pub(crate) const MI_MODE_VS_TIMER: u16 = 1 << 6;

/// Bit 9 of the mode register, which on Gen6 serves all engines: enables the PPGTT (G-19, VCS-007).
pub(crate) const GFX_MODE_PPGTT: u16 = 1 << 9;
/// Bit 13 of the mode register: TLBs are invalidated only by explicit commands (G-19). On Gen7
/// render only (V-06).
pub(crate) const GFX_MODE_EXPLICIT_TLB: u16 = 1 << 13;

/// The groups of sixteen directory entries to load: bit n for entries 16n to 16n + 15 (G-20, VCS
/// §1.1.2.1). Reset 0: none.
pub(crate) const PP_DIR_DCLV: u32 = 0x220;
/// Offset of the page directory in the GGTT (§2.3, G-20); see [`crate::intel::pte`]. A write loads
/// the directory.
pub(crate) const PP_DIR_BASE: u32 = 0x228;

/// Bit 4 of the error registers: a page table error, which only a reset clears (§5.7.2).
pub(crate) const ERROR_PAGE_TABLE: u32 = 1 << 4;

/// Page table errors, in the render engine's block; only a reset clears them (§5.7.2, G-23).
pub(crate) const PGTBL_ER: u32 = 0x2024;

/// Mode of the render cache; masked, saved with a context (§5.8). Before Gen7.
pub(crate) const CACHE_MODE_0: u32 = 0x2120;
/// Bit 0 of [`CACHE_MODE_0`]: operational flush of the render cache.
pub(crate) const CACHE_MODE_0_OPERATIONAL_FLUSH: u16 = 1 << 0;

/// Parser mode; masked, saved with a context on the render engine (§5.8, G-10).
pub(crate) const INSTPM: u32 = 0xc0;
/// Bit 5 of [`INSTPM`]: starts a synchronous flush, and clears itself after it (§5.3.11.2).
pub(crate) const INSTPM_SYNC_FLUSH: u16 = 1 << 5;

/// Bit 7 of [`INSTPM`]: preserves the order of memory accesses (G-38). Render only.
pub(crate) const INSTPM_FORCE_ORDERING: u16 = 1 << 7;
/// Bit 9 of [`INSTPM`]: the synchronous flush invalidates the TLBs, too (G-10).
pub(crate) const INSTPM_TLB_INVALIDATE: u16 = 1 << 9;

/// The fields of [`BB_ADDR`] (VCS §1.1.7).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(crate) struct BatchAddr {
    /// Bit 0: the engine executes a batch.
    pub(crate) valid: bool,
    #[bits(1)]
    __: u8,
    /// Bits 31:2: address of the dword being executed.
    #[bits(30)]
    pub(crate) dword: u32,
}
const_assert_eq!(core::mem::size_of::<BatchAddr>(), 4);

/// Two dwords; a write wakes the video engine (G-37).
pub(crate) const RNCID: u32 = 0x198;

/// The fault registers (§5.7.2.1).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(crate) struct Fault {
    /// Bit 0: the register holds a fault. A write of zero makes room for the next one.
    pub(crate) valid: bool,
    /// Bits 2:1: reserved, or the kind of fault (V-17).
    #[bits(2)]
    pub(crate) kind: u8,
    /// Bits 10:3: the unit that made the access.
    pub(crate) source: u8,
    /// Bit 11: the access used the GGTT (0: the PPGTT).
    pub(crate) global: bool,
    /// Bits 31:12: the page of the access.
    #[bits(20)]
    pub(crate) page: u32,
}
const_assert_eq!(core::mem::size_of::<Fault>(), 4);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_decodes() {
        // §5.7.2.1: 31:12 page, 11 global, 10:3 source, 0 valid.
        let f = Fault::from_bits(0x0123_4000 | 0x800 | (0x42 << 3) | 1);
        assert!(f.valid() && f.global());
        assert_eq!((f.page(), f.source(), f.kind()), (0x1234, 0x42, 0));
        let f = Fault::from_bits(0x0000_0006);
        assert_eq!((f.kind(), f.valid(), f.global()), (3, false, false));
    }
}
