// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers outside the engines that only this generation has, or has with other bits, beside
//! those of [`crate::intel::processor::gt_regs`].
//!
//! Offsets and bits: rows G-nn of the digest.

pub(super) use crate::intel::processor::gt_regs::*;

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

// --- Address translation (G-19, G-21) ---

/// Mode of all engines; masked. Bits: [`crate::intel::ring::regs::GFX_MODE_PPGTT`] and the next
/// constant.
pub(super) const GFX_MODE: u32 = 0x2520;
/// Bit 10 of [`GAM_ECOCHK`]: snooping, as this chip requires; bits 4:3: fetch 64 bytes of a page
/// table.
pub(super) const GAM_ECOCHK_SET: u32 = (1 << 10) | (3 << 3);
/// Bit 13 of [`GAC_ECO_BITS`]: snooping; bits 9:8: fetch 64 bytes of a page table.
pub(super) const GAC_ECO_BITS_SET: u32 = (1 << 13) | (3 << 8);
/// Control of the blitter's accesses.
pub(super) const GAB_CTL: u32 = 0x2_4000;
/// Bit 8 of [`GAB_CTL`]: continue after a page fault.
pub(super) const GAB_CTL_CONTINUE: u32 = 1 << 8;

// --- Contexts (G-27) ---

/// Sizes of the parts of a context image.
pub(super) const CXT_SIZE: u32 = 0x21a0;

/// The fields of [`CXT_SIZE`], in lines of 64 bytes.
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

// --- Workarounds (G-38) ---

/// 3D chicken bits; masked.
pub(super) const CHICKEN_3D: u32 = 0x2084;
/// The distribution of pixels over the slices; masked.
pub(super) const GT_MODE: u32 = 0x20d0;
/// Bit 5 of [`CACHE_MODE_0`](crate::intel::ring::regs::CACHE_MODE_0): eviction policy of the
/// stencil cache.
pub(super) const CACHE_MODE_0_STC_EVICT: u16 = 1 << 5;
/// Clock gating disables.
pub(super) const UCGCTL1: u32 = 0x9400;

// --- Tiling (G-31) ---

/// Bit 4 of [`ARB_MODE`]: swizzle.
pub(super) const ARB_MODE_SWIZZLE: u16 = 1 << 4;

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
}
