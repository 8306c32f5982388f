// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The golden state. Layout of the commands: the public XML of this generation's commands (M70 in
//! the digest).
//!
//! It does not set the stipple pattern: the command is long, and each pattern is legal.

use super::regs::{masked, Base, CACHE_MODE_0, CACHE_MODE_1, INSTPM, INSTPM_FORCE_ORDERING};
use crate::intel::ring::golden::{
    null, state, Golden, State, BEGINNING, CHROMA_KEYS, LINES, ONE_PIXEL, VERTEX_ELEMENTS,
};

/// The golden state. Registers: workarounds of the upstream driver.
pub(super) static GOLDEN: Golden = Golden {
    before: &[],
    registers: &[
        (Base::RENDER.at(INSTPM), masked(INSTPM_FORCE_ORDERING, 0)),
        // Bit 0 clear: no operational flush of the render cache.
        (CACHE_MODE_0, masked(0, 1 << 0)),
        // Bit 6: disable pixel collection within subspans.
        (CACHE_MODE_1, masked(1 << 6, 0)),
    ],
    states: &[BEGINNING, STAGES, ONE_PIXEL, SURFACES, LINES, CHROMA_KEYS],
};

/// Multisampling, the stages of the pipeline, and pointers to their state.
#[rustfmt::skip]
const STAGES: &[State] = &[
    // 3DSTATE_MULTISAMPLE: one sample; 3DSTATE_SAMPLE_MASK: enables it.
    null(0x790d, 4), state(0x7818_0000, 2, &[(1, 1)]),
    // 3DSTATE_PUSH_CONSTANT_ALLOC_VS, _HS, _DS, _GS: none; _PS: the first 8 KiB.
    null(0x7912, 2), null(0x7913, 2), null(0x7914, 2), null(0x7915, 2), state(0x7916_0000, 2, &[(1, 8)]),
    // 3DSTATE_URB_VS: the minimum for vertex shaders, 32 entries, after those 8 KiB (29:25 is in
    // units of 8 KiB); _HS, _DS, _GS: none, after those of _VS.
    state(0x7830_0000, 2, &[(1, (1 << 25) | 32)]),
    state(0x7831_0000, 2, &[(1, 2 << 25)]),
    state(0x7832_0000, 2, &[(1, 2 << 25)]),
    state(0x7833_0000, 2, &[(1, 2 << 25)]),
    VERTEX_ELEMENTS,
    // 3DSTATE_CONSTANT_VS, _HS, _DS, _GS, _PS: no buffers.
    null(0x7815, 7), null(0x7819, 7), null(0x781a, 7), null(0x7816, 7), null(0x7817, 7),
    // 3DSTATE_VS, _HS, _TE, _DS, _GS, _STREAMOUT, _CLIP: disabled.
    null(0x7810, 6), null(0x781b, 7), null(0x781c, 4), null(0x781d, 6), null(0x7811, 7), null(0x781e, 3),
    null(0x7812, 4),
    // 3DSTATE_SF: culls nothing (30:29 of dword 2); 3DSTATE_SBE: reads one attribute (15:11 of dword 1).
    state(0x7813_0000, 7, &[(2, 1 << 29)]),
    state(0x781f_0000, 14, &[(1, 1 << 11)]),
    // 3DSTATE_WM: no thread is dispatched (29 of dword 1). 3DSTATE_PS: the maximum number of
    // threads (31:24), which the smaller chip supports too, and one dispatch width (0) must be set
    // nevertheless.
    null(0x7814, 3), state(0x7820_0000, 8, &[(4, (40 << 24) | 1)]),
    // 3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP, _CC; _CC_STATE_, _BLEND_STATE_, _DEPTH_STENCIL_STATE_,
    // _SCISSOR_STATE_POINTERS.
    null(0x7821, 2), null(0x7823, 2), null(0x780e, 2), null(0x7824, 2), null(0x7825, 2), null(0x780f, 2),
    // 3DSTATE_BINDING_TABLE_POINTERS_VS, _HS, _DS, _GS, _PS.
    null(0x7826, 2), null(0x7827, 2), null(0x7828, 2), null(0x7829, 2), null(0x782a, 2),
    // 3DSTATE_SAMPLER_STATE_POINTERS_VS, _HS, _DS, _GS, _PS.
    null(0x782b, 2), null(0x782c, 2), null(0x782d, 2), null(0x782e, 2), null(0x782f, 2),
];
/// Render targets, depth, stencil and stream output buffers.
#[rustfmt::skip]
const SURFACES: &[State] = &[
    // 3DSTATE_DEPTH_BUFFER: none (31:29 are 7), of 32 bit floats (20:18 are 1).
    state(0x7805_0000, 7, &[(1, (7 << 29) | (1 << 18))]),
    // 3DSTATE_STENCIL_BUFFER, _HIER_DEPTH_BUFFER, _CLEAR_PARAMS: none.
    null(0x7806, 3), null(0x7807, 3), null(0x7804, 3),
    // 3DSTATE_SO_BUFFER: the four buffers (30:29), null.
    null(0x7918, 4),
    state(0x7918_0000, 4, &[(1, 1 << 29)]),
    state(0x7918_0000, 4, &[(1, 2 << 29)]),
    state(0x7918_0000, 4, &[(1, 3 << 29)]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        intel::ring::golden::headers,
        ring::{Commands, Overflow},
    };
    use std::vec::Vec;

    fn golden() -> Vec<u32> {
        let mut buf = [0; 512];
        let mut out = Commands::new(&mut buf);
        GOLDEN.commands(&mut out).unwrap();
        out.as_slice().to_vec()
    }

    #[test]
    fn the_promised_number_of_dwords() {
        // 7 dwords of registers, and the lengths of M70 below.
        assert_eq!((golden().len(), GOLDEN.dwords()), (247, 247));
        let mut short = [0; 246];
        assert_eq!(
            GOLDEN.commands(&mut Commands::new(&mut short)),
            Err(Overflow)
        );
    }

    #[test]
    fn registers_of_the_context_come_first() {
        // INSTPM bit 7 set, CACHE_MODE_0 bit 0 clear, CACHE_MODE_1 bit 6 set.
        assert_eq!(
            golden()[..7],
            [
                0x1100_0005,
                0x20c0,
                0x0080_0080,
                0x7000,
                0x0001_0000,
                0x7004,
                0x0040_0040
            ]
        );
    }

    #[test]
    fn every_command_has_the_length_of_its_kind() {
        // M70: total lengths, less two.
        #[rustfmt::skip]
        let expected = [
            0x1100_0005,
            0x6904_0000, 0x6101_0008, 0x6102_0000, 0x680b_0000, 0x790d_0002, 0x7818_0000,
            0x7912_0000, 0x7913_0000, 0x7914_0000, 0x7915_0000, 0x7916_0000,
            0x7830_0000, 0x7831_0000, 0x7832_0000, 0x7833_0000, 0x7809_0001,
            0x7815_0005, 0x7819_0005, 0x781a_0005, 0x7816_0005, 0x7817_0005,
            0x7810_0004, 0x781b_0005, 0x781c_0002, 0x781d_0004, 0x7811_0005, 0x781e_0001, 0x7812_0002,
            0x7813_0005, 0x781f_000c, 0x7814_0001, 0x7820_0006,
            0x7821_0000, 0x7823_0000, 0x780e_0000, 0x7824_0000, 0x7825_0000, 0x780f_0000,
            0x7826_0000, 0x7827_0000, 0x7828_0000, 0x7829_0000, 0x782a_0000,
            0x782b_0000, 0x782c_0000, 0x782d_0000, 0x782e_0000, 0x782f_0000,
            0x780a_0001, 0x7900_0002, 0x7805_0005, 0x7806_0001, 0x7807_0001, 0x7804_0001,
            0x7918_0002, 0x7918_0002, 0x7918_0002, 0x7918_0002,
            0x790a_0001, 0x7908_0001, 0x7906_0000,
            0x7904_0002, 0x7904_0002, 0x7904_0002, 0x7904_0002,
        ];
        assert_eq!(headers(&golden()), expected);
    }

    #[test]
    fn the_values_that_are_not_zero() {
        let all = golden();
        for (header, at, value) in [
            (0x7818_0000, 1, 1),
            (0x7916_0000, 1, 8),
            (0x7830_0000, 1, 0x0200_0020),
            (0x7833_0000, 1, 0x0400_0000),
            (0x7809_0001, 2, 0x2222_0000),
            (0x7813_0005, 2, 0x2000_0000),
            (0x781f_000c, 1, 0x800),
            (0x7820_0006, 4, 0x2800_0001),
            (0x7805_0005, 1, 0xe004_0000),
        ] {
            let start = all.iter().position(|d| *d == header).unwrap();
            assert_eq!(all[start + at], value, "{header:#x}");
        }
    }
}
