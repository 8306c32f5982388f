// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The golden state: commands that give a context's state a legal value.
//!
//! All state must be legal before the first save (§5.8.1.3.1). A context saves the blitter's
//! persistent state (§8.4): the commands give it an empty clip rectangle, so that nothing is drawn.
//! Of the 3D pipeline they set all state that needs no memory. The hardware follows the pointers to
//! unit state (`3DSTATE_PIPELINED_POINTERS`, `3DSTATE_BINDING_TABLE_POINTERS`), and the URB is
//! divided for these units; both are left to user space, which sends them in each batch before it
//! draws. The upstream driver has no such commands for this generation. Layout of 3D commands: the
//! public XML of this generation's commands (`gen4`, `gen45`).

use super::regs::{
    masked, ARB_NO_TRICKLE, CACHE_MODE_0, CACHE_MODE_0_OPERATIONAL_FLUSH, CACHE_NO_PIPELINED_FLUSH,
    MI_ARB_STATE,
};
use crate::intel::{
    blt,
    mi::NOOP,
    ring::golden::{null, state, Golden, State, CHANGE, CHROMA_KEYS, ONE_PIXEL},
};

/// The golden state of 965. A no-op precedes the register loads (G-30).
pub(super) static GOLDEN_965: Golden = Golden {
    before: &[NOOP],
    // G-18, G-33.
    registers: &[
        // WaDisable_RenderCache_OperationalFlush.
        (CACHE_MODE_0, masked(0, CACHE_MODE_0_OPERATIONAL_FLUSH)),
        (MI_ARB_STATE, masked(ARB_NO_TRICKLE, 0)),
    ],
    states: &[
        BLITTER,
        STATES_965,
        BASES,
        ONE_PIXEL,
        COLOUR,
        CHROMA_KEYS,
        LINES,
    ],
};
/// The golden state of G4X.
pub(super) static GOLDEN_G4X: Golden = Golden {
    before: &[NOOP],
    registers: &[(
        CACHE_MODE_0,
        // Also WaDisableRenderCachePipelinedFlush.
        masked(CACHE_NO_PIPELINED_FLUSH, CACHE_MODE_0_OPERATIONAL_FLUSH),
    )],
    states: &[
        BLITTER,
        STATES_G4X,
        BASES,
        ONE_PIXEL,
        COLOUR,
        CHROMA_KEYS,
        LINES,
    ],
};

/// The second dword of the blitter's set-up commands: clipping enabled (30), 32 bits (25:24),
/// raster operation "destination" (23:16), a pitch of 4096 bytes (15:0).
const CLIPPED: u32 = 1 << 30 | blt::COPY_32 | 0xaa << 16 | 4096;

/// `XY_SETUP_BLT` (§8.9.1) and `XY_SETUP_MONO_PATTERN_SL_BLT` (§8.9.2): an empty rectangle,
/// addresses and colours 0.
const BLITTER: &[State] = &[
    state(blt::opcode(0x01) | blt::ALL_BYTES, 8, &[(1, CLIPPED)]),
    state(blt::opcode(0x11) | blt::ALL_BYTES, 9, &[(1, CLIPPED)]),
];

/// `3DSTATE_DEPTH_BUFFER`: null (31:29 are 7), Y tiled (27:26), 32-bit floats (20:18 are 1).
const NO_DEPTH: &[(u32, u32)] = &[(1, 7 << 29 | 3 << 26 | 1 << 18)];
/// Commands that only 965 has: PIPELINE_SELECT, 3D; 3DSTATE_VF_STATISTICS, disabled.
const STATES_965: &[State] = &[
    null(0x6104, 1),
    null(0x780b, 1),
    state(0x7905_0000, 5, NO_DEPTH),
];
/// The same commands with G4X's headers; and 3DSTATE_AA_LINE_PARAMETERS.
const STATES_G4X: &[State] = &[
    null(0x6904, 1),
    null(0x680b, 1),
    state(0x7905_0000, 6, NO_DEPTH),
    null(0x790a, 3),
];

/// Commands that both families have next.
#[rustfmt::skip]
const BASES: &[State] = &[
    // STATE_BASE_ADDRESS: sets all bases and bounds to 0, which means no bound.
    state(0x6101_0000, 6, &[(1, CHANGE), (2, CHANGE), (3, CHANGE), (4, CHANGE), (5, CHANGE)]),
    // STATE_SIP: no system routine.
    null(0x6102, 2),
    // CS_URB_STATE: no entries; CONSTANT_BUFFER: invalid.
    null(0x6001, 2), null(0x6002, 2),
    // 3DSTATE_VERTEX_ELEMENTS: one valid element whose four components are stored as 0.
    state(0x7809_0000, 3, &[(1, 1 << 26), (2, 0x2222_0000)]),
];
/// `3DSTATE_CONSTANT_COLOR`.
const COLOUR: &[State] = &[null(0x7901, 5)];
/// `3DSTATE_POLY_STIPPLE_OFFSET`, `_LINE_STIPPLE`, `_GLOBAL_DEPTH_OFFSET_CLAMP`.
const LINES: &[State] = &[null(0x7906, 2), null(0x7908, 3), null(0x7909, 2)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{intel::ring::golden::written, ring::Commands};
    use std::vec::Vec;

    fn registers(golden: &Golden) -> Vec<u32> {
        let mut buf = [0; 256];
        let mut out = Commands::new(&mut buf);
        golden.registers(&mut out).unwrap();
        out.as_slice().to_vec()
    }

    /// Returns the headers of 3D commands, by the commands' length fields.
    fn headers(stream: &[u32]) -> Vec<u32> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < stream.len() {
            found.push(stream[at]);
            at += match stream[at] >> 16 {
                0x6104 | 0x6904 | 0x780b | 0x680b => 1,
                _ => (stream[at] & 0xff) as usize + 2,
            };
        }
        assert_eq!(at, stream.len());
        found
    }

    #[test]
    fn the_promised_number_of_dwords() {
        for (golden, dwords) in [(&GOLDEN_965, 80), (&GOLDEN_G4X, 82)] {
            assert_eq!(written(golden).len(), dwords);
        }
    }

    #[test]
    fn registers_of_the_context_come_first() {
        // CACHE_MODE_0 bit 0 clear, on G4X bit 8 set; MI_ARB_STATE bit 2, on 965 (G-18, a10).
        let r965 = [0, 0x1100_0003, 0x2120, 0x0001_0000, 0x20e4, 0x0004_0004];
        assert_eq!(written(&GOLDEN_965)[..6], r965);
        assert_eq!(registers(&GOLDEN_965), r965);
        let g4x = [0, 0x1100_0001, 0x2120, 0x0101_0100];
        assert_eq!(written(&GOLDEN_G4X)[..4], g4x);
        assert_eq!(registers(&GOLDEN_G4X), g4x);
    }

    #[test]
    fn the_blitter_is_set_up_to_draw_nothing() {
        // §8.9.1, §8.9.2: headers with both masks; clip (30), depth 3, ROP AA (the destination),
        // pitch.
        let all = written(&GOLDEN_G4X);
        assert_eq!(all[4..12], [0x4070_0006, 0x43aa_1000, 0, 0, 0, 0, 0, 0]);
        assert_eq!(all[12..21], [0x4470_0007, 0x43aa_1000, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn every_command_has_the_length_of_its_kind() {
        #[rustfmt::skip]
        let common = [
            0x6101_0004, 0x6102_0000, 0x6001_0000, 0x6002_0000, 0x7809_0001, 0x780a_0001,
            0x7900_0002, 0x7901_0003, 0x7904_0002, 0x7904_0002, 0x7904_0002, 0x7904_0002,
            0x7906_0000, 0x7908_0001, 0x7909_0000,
        ];
        let own = [0x6104_0000, 0x780b_0000, 0x7905_0003];
        let all = written(&GOLDEN_965);
        assert_eq!(headers(&all[23..]), [&own[..], &common].concat());
        let own = [0x6904_0000, 0x680b_0000, 0x7905_0004, 0x790a_0001];
        let all = written(&GOLDEN_G4X);
        assert_eq!(headers(&all[21..]), [&own[..], &common].concat());
    }

    #[test]
    fn the_values_that_are_not_zero() {
        let all = written(&GOLDEN_965);
        for (header, at, value) in [
            (0x6101_0004, 1, 1),
            (0x6101_0004, 5, 1),
            (0x7809_0001, 1, 0x0400_0000),
            (0x7809_0001, 2, 0x2222_0000),
            (0x7905_0003, 1, 0xec04_0000),
        ] {
            let start = all.iter().position(|d| *d == header).unwrap();
            assert_eq!(all[start + at], value, "{header:#x}");
        }
    }
}
