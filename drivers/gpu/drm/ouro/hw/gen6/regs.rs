// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers of each engine that only this generation has, beside those of
//! [`crate::intel::ring::regs`], as offsets from the engine's base.
//!
//! Offsets and bits: G-08 and G-38 of the digest.

pub(super) use crate::intel::ring::regs::*;

/// GGTT address of the HWSP, bits 31:12 (§5.5, G-08). After reset 0x1fff_f000, which is not mapped
/// (§5.9). Only this generation has it at this offset.
pub(super) const HWS_PGA_GEN6: u32 = 0x2080;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_where_g_06_says() {
        assert_eq!(Base::RENDER.at(RING_TAIL), 0x2030);
        assert_eq!(Base::VIDEO.at(RING_TAIL), 0x1_2030);
        assert_eq!(Base::BLITTER.at(RING_TAIL), 0x2_2030);
        // G-08
        assert_eq!(Base::RENDER.at(HWS_PGA_GEN6), 0x4080);
        assert_eq!(Base::VIDEO.at(HWS_PGA_GEN6), 0x1_4080);
        assert_eq!(Base::BLITTER.at(HWS_PGA_GEN6), 0x2_4080);
    }
}
