// SPDX-License-Identifier: GPL-2.0
//! Registers that each engine of this generation has, beside those that all of Intel's have
//! ([`crate::intel::ring_regs`]), at offsets from the engine's base.
//!
//! What they do: SNB PRM V1P2 §5.3 to §5.9, which gives no offsets. Offsets and bits: G-06 to G-12,
//! G-20, G-37 and G-42 of the digest; video's are the same at another base (VCS §1.1.1).

pub(super) use crate::intel::ring_regs::*;

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// Power state messages; masked (G-37, V-14). Used on the video engine only.
pub(super) const PSMI_CTL: u32 = 0x50;
/// Bit 0 of [`PSMI_CTL`]: the engine sends no message that it goes to sleep.
pub(super) const PSMI_NO_SLEEP: u16 = 1 << 0;
/// Bit 3 of [`PSMI_CTL`]: the engine is asleep. Read only.
pub(super) const PSMI_ASLEEP: u32 = 1 << 3;

/// More units that are done; on the render engine only (G-42).
pub(super) const INSTDONE_2: u32 = 0x7c;

/// Bit 6 of [`MI_MODE`]: the timer that dispatches vertex shaders (G-38). Render only.
pub(super) const MI_MODE_VS_TIMER: u16 = 1 << 6;
/// Bit 14 of [`MI_MODE`]: no tuning for asynchronous flips (G-38). Render only.
pub(super) const MI_MODE_ASYNC_FLIP: u16 = 1 << 14;

/// Bit 4 of the error registers: an error of the translation tables, which only a reset clears
/// (§5.7.2).
pub(super) const ERROR_PAGE_TABLE: u32 = 1 << 4;

/// Parser mode; masked, saved with a context on the render engine (§5.8, G-10).
pub(super) const INSTPM: u32 = 0xc0;
/// Bit 5 of [`INSTPM`]: flush now. Clears itself (§5.3.11.2).
pub(super) const INSTPM_SYNC_FLUSH: u16 = 1 << 5;
/// Bit 7 of [`INSTPM`]: keeps the order of memory accesses (G-38). Render only.
pub(super) const INSTPM_FORCE_ORDERING: u16 = 1 << 7;
/// Bit 9 of [`INSTPM`]: that flush drops translations too (G-10).
pub(super) const INSTPM_TLB_INVALIDATE: u16 = 1 << 9;

/// [`BB_ADDR`] (VCS §1.1.7).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct BatchAddr {
    /// Bit 0: a batch is executed.
    pub(super) valid: bool,
    #[bits(1)]
    __: u8,
    /// Bits 31:2: the dword.
    #[bits(30)]
    pub(super) dword: u32,
}
const_assert_eq!(core::mem::size_of::<BatchAddr>(), 4);

/// Two words that wake the video engine when they are written (G-37).
pub(super) const RNCID: u32 = 0x198;
/// Which groups of sixteen directory entries are loaded: bit n for entries 16n to 16n + 15
/// (G-20, VCS §1.1.2.1). Reset 0: none.
pub(super) const PP_DIR_DCLV: u32 = 0x220;
/// Where the directory is in the global table's array (§2.3, G-20); see [`super::pte`]. Writing it loads it.
pub(super) const PP_DIR_BASE: u32 = 0x228;
/// Address of the status page in the global table, bits 31:12 (§5.5, G-08). After reset 0x1fff_f000,
/// which is nowhere (§5.9). Only this generation has it here.
pub(super) const HWS_PGA: u32 = 0x2080;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_where_g_06_says() {
        assert_eq!(Base::RENDER.at(RING_TAIL), 0x2030);
        assert_eq!(Base::VIDEO.at(RING_TAIL), 0x1_2030);
        assert_eq!(Base::BLITTER.at(RING_TAIL), 0x2_2030);
        // G-08
        assert_eq!(Base::RENDER.at(HWS_PGA), 0x4080);
        assert_eq!(Base::VIDEO.at(HWS_PGA), 0x1_4080);
        assert_eq!(Base::BLITTER.at(HWS_PGA), 0x2_4080);
    }
}
