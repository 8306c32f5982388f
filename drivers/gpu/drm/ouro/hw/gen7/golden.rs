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
    null(0x7912, 2), null(0x7913, 2), null(0x7914, 2), null(0x7915, 2),
    state(0x7916_0000, 2, &[(1, 8)]),
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
    null(0x7810, 6), null(0x781b, 7), null(0x781c, 4), null(0x781d, 6), null(0x7811, 7),
    null(0x781e, 3), null(0x7812, 4),
    // 3DSTATE_SF: culls nothing (30:29 of dword 2); 3DSTATE_SBE: reads one attribute (15:11 of
    // dword 1).
    state(0x7813_0000, 7, &[(2, 1 << 29)]),
    state(0x781f_0000, 14, &[(1, 1 << 11)]),
    // 3DSTATE_WM: no thread is dispatched (29 of dword 1). 3DSTATE_PS: the maximum number of
    // threads (31:24), which the smaller chip supports too, and one dispatch width (0) must be set
    // nevertheless.
    null(0x7814, 3), state(0x7820_0000, 8, &[(4, (40 << 24) | 1)]),
    // 3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP, _CC; _CC_STATE_, _BLEND_STATE_,
    // _DEPTH_STENCIL_STATE_, _SCISSOR_STATE_POINTERS.
    null(0x7821, 2), null(0x7823, 2), null(0x780e, 2), null(0x7824, 2), null(0x7825, 2),
    null(0x780f, 2),
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
mod tests;
