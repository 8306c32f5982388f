// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The golden state. Layout of the commands: the public XML of this generation's commands (M60 in
//! the digest).
//!
//! It includes the registers with workarounds (G-38) that a context saves (§5.8). Other saved
//! registers stay as after a reset.

use super::{
    regs::{masked, Base, CACHE_MODE_0, INSTPM, INSTPM_FORCE_ORDERING},
    workarounds,
};
use crate::intel::ring::golden::{
    null, state, Golden, State, BEGINNING, CHANGE, CHROMA_KEYS, LINES, ONE_PIXEL, VERTEX_ELEMENTS,
};

/// The golden state.
pub(super) static GOLDEN: Golden = Golden {
    before: &[],
    registers: &[
        (Base::RENDER.at(INSTPM), masked(INSTPM_FORCE_ORDERING, 0)),
        (CACHE_MODE_0, workarounds::CACHE_MODE_0),
    ],
    states: &[
        BEGINNING,
        STAGES,
        ONE_PIXEL,
        SURFACES,
        LINES,
        PATTERN,
        CHROMA_KEYS,
        INDICES,
    ],
};

/// Multisampling, the stages of the pipeline, and pointers to their state.
#[rustfmt::skip]
const STAGES: &[State] = &[
    // 3DSTATE_MULTISAMPLE: one sample; 3DSTATE_SAMPLE_MASK: enables it.
    null(0x790d, 3), state(0x7818_0000, 2, &[(1, 1)]),
    // 3DSTATE_URB: the minimum for vertex shaders, 24 entries; none for geometry shaders.
    state(0x7805_0000, 3, &[(1, 24)]),
    VERTEX_ELEMENTS,
    // 3DSTATE_CONSTANT_VS, _GS, _PS: no buffers.
    null(0x7815, 5), null(0x7816, 5), null(0x7817, 5),
    // 3DSTATE_VS, _GS, _CLIP: disabled.
    null(0x7810, 6), null(0x7811, 7), null(0x7812, 4),
    // 3DSTATE_SF: reads one attribute (15:11 of dword 1), culls nothing (30:29 of dword 3).
    state(0x7813_0000, 20, &[(1, 1 << 11), (3, 1 << 29)]),
    // 3DSTATE_WM: no thread is dispatched (19). The maximum number of threads of the smaller chip,
    // minus one (31:25), and one dispatch width (0) must be set nevertheless.
    state(0x7814_0000, 9, &[(5, (39 << 25) | 1)]),
    // 3DSTATE_VIEWPORT_STATE_POINTERS (12:10 modify), _CC_STATE_POINTERS, _SCISSOR_STATE_POINTERS.
    state(0x780d_1c00, 4, &[]),
    state(0x780e_0000, 4, &[(1, CHANGE), (2, CHANGE), (3, CHANGE)]),
    null(0x780f, 2),
    // 3DSTATE_SAMPLER_STATE_POINTERS, _BINDING_TABLE_POINTERS: 12, 9 and 8 modify.
    state(0x7802_1300, 4, &[]), state(0x7801_1300, 4, &[]),
];
/// Render targets, depth and stencil buffers.
#[rustfmt::skip]
const SURFACES: &[State] = &[
    // 3DSTATE_DEPTH_BUFFER: none (31:29 are 7), of 32 bit floats (20:18 are 1).
    state(0x7905_0000, 7, &[(1, (7 << 29) | (1 << 18))]),
    // 3DSTATE_STENCIL_BUFFER, _HIER_DEPTH_BUFFER, _CLEAR_PARAMS: none.
    null(0x790e, 3), null(0x790f, 3), null(0x7910, 2),
];
/// `3DSTATE_POLY_STIPPLE_PATTERN`.
const PATTERN: &[State] = &[null(0x7907, 33)];
/// `3DSTATE_GS_SVB_INDEX`: the four indices (30:29), unlimited.
const INDICES: &[State] = &[
    state(0x790b_0000, 4, &[(3, u32::MAX)]),
    state(0x790b_0000, 4, &[(1, 1 << 29), (3, u32::MAX)]),
    state(0x790b_0000, 4, &[(1, 2 << 29), (3, u32::MAX)]),
    state(0x790b_0000, 4, &[(1, 3 << 29), (3, u32::MAX)]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        intel::ring::golden::{headers, written},
        ring::Commands,
    };
    use std::vec::Vec;

    #[test]
    fn the_promised_number_of_dwords() {
        assert_eq!(written(&GOLDEN).len(), 204);
    }

    #[test]
    fn registers_of_the_context_come_first() {
        // G-38: INSTPM bit 7 set, CACHE_MODE_0 bits 5 and 0 clear.
        assert_eq!(
            written(&GOLDEN)[..5],
            [0x1100_0003, 0x20c0, 0x0080_0080, 0x2120, 0x0021_0000]
        );
    }

    #[test]
    fn they_can_be_had_alone() {
        let engine: &dyn crate::engine::Engine = &crate::gen6::engine::RENDER;
        let mut buf = [0; 16];
        let mut out = Commands::new(&mut buf);
        engine.golden_registers(&mut out).unwrap();
        assert_eq!(
            out.as_slice(),
            [0x1100_0003, 0x20c0, 0x0080_0080, 0x2120, 0x0021_0000]
        );
    }

    #[test]
    fn their_bits_are_listed_for_debugging() {
        let engine: &dyn crate::engine::Engine = &crate::gen6::engine::RENDER;
        let mut listed = Vec::new();
        engine.context_workarounds(&mut |w| listed.push((w.offset, w.value, w.bits)));
        assert_eq!(listed, [(0x20c0, 0x80, 0x80), (0x2120, 0, 0x21)]);
        // The blitter has no contexts.
        let engine: &dyn crate::engine::Engine = &crate::gen6::engine::BLITTER;
        engine.context_workarounds(&mut |w| panic!("{w:?}"));
    }

    #[test]
    fn every_command_has_the_length_of_its_kind() {
        #[rustfmt::skip]
        let expected = [
            0x1100_0003,
            0x6904_0000, 0x6101_0008, 0x6102_0000, 0x680b_0000, 0x790d_0001,
            0x7818_0000, 0x7805_0001, 0x7809_0001, 0x7815_0003, 0x7816_0003, 0x7817_0003,
            0x7810_0004, 0x7811_0005, 0x7812_0002, 0x7813_0012, 0x7814_0007, 0x780d_1c02,
            0x780e_0002, 0x780f_0000, 0x7802_1302, 0x7801_1302, 0x780a_0001, 0x7900_0002,
            0x7905_0005, 0x790e_0001, 0x790f_0001, 0x7910_0000, 0x790a_0001, 0x7908_0001,
            0x7906_0000, 0x7907_001f, 0x7904_0002, 0x7904_0002, 0x7904_0002, 0x7904_0002,
            0x790b_0002, 0x790b_0002, 0x790b_0002, 0x790b_0002,
        ];
        assert_eq!(headers(&written(&GOLDEN)), expected);
    }

    #[test]
    fn the_values_that_are_not_zero() {
        let all = written(&GOLDEN);
        let after = |header: u32, n: usize| {
            let at = all.iter().position(|d| *d == header).unwrap();
            all[at + 1..=at + n].to_vec()
        };
        assert_eq!(after(0x6101_0008, 9), [1; 9]);
        assert_eq!(after(0x7818_0000, 1), [1]);
        assert_eq!(after(0x7805_0001, 2), [24, 0]);
        assert_eq!(after(0x7809_0001, 2), [0x0200_0000, 0x2222_0000]);
        assert_eq!(after(0x7813_0012, 4), [0x800, 0, 0x2000_0000, 0]);
        assert_eq!(after(0x7814_0007, 8), [0, 0, 0, 0, 0x4e00_0001, 0, 0, 0]);
        assert_eq!(after(0x780e_0002, 3), [1, 1, 1]);
        assert_eq!(after(0x7905_0005, 6), [0xe004_0000, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn nothing_is_drawn() {
        // 3DPRIMITIVE is 0x7b00.
        assert!(headers(&written(&GOLDEN)).iter().all(|h| h >> 16 != 0x7b00));
    }
}
