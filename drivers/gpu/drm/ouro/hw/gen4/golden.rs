// SPDX-License-Identifier: GPL-2.0
//! The golden state: commands that give state that a context holds a legal value.
//!
//! All of it must have one before it is saved for the first time (§5.8.1.3.1). What the blitter keeps from command to
//! command is saved with a context (§8.4): here it draws nothing, since its clip rectangle is empty. Of the 3D pipeline
//! there is all that needs no memory: pointers to the state of units (`3DSTATE_PIPELINED_POINTERS`,
//! `3DSTATE_BINDING_TABLE_POINTERS`) are followed, and the URB is divided for these units, so both are left to user
//! space, which sends them in each batch before it draws. The upstream driver has no such commands for this generation.
//! Layout of 3D commands: the public XML of this generation's commands (`gen4`, `gen45`).

use super::regs::{
    masked, ARB_NO_TRICKLE, CACHE_MODE_0, CACHE_NO_PIPELINED_FLUSH, CACHE_OPERATIONAL_FLUSH,
    MI_ARB_STATE,
};
use crate::{
    intel::{
        blt,
        mi::{LoadRegisters, NOOP},
        ring::golden::{self, state, State, CHANGE},
    },
    ring::{Commands, Overflow},
};

/// Registers that contexts save and that are not as after a reset, of 965 (G-18, G-33).
const REGISTERS_965: LoadRegisters<2> = LoadRegisters([
    // WaDisable_RenderCache_OperationalFlush.
    (CACHE_MODE_0, masked(0, CACHE_OPERATIONAL_FLUSH)),
    (MI_ARB_STATE, masked(ARB_NO_TRICKLE, 0)),
]);
/// Of G4X.
const REGISTERS_G4X: LoadRegisters<1> = LoadRegisters([(
    CACHE_MODE_0,
    // WaDisableRenderCachePipelinedFlush too.
    masked(CACHE_NO_PIPELINED_FLUSH, CACHE_OPERATIONAL_FLUSH),
)]);

/// The second dword of the commands that set the blitter up: clipped (30), 32 bits (25:24), the destination as it is
/// (23:16), 4096 bytes from line to line (15:0).
const BLITTER: u32 = 1 << 30 | blt::COPY_32 | 0xaa << 16 | 4096;
/// All bytes of a pixel (21:20).
const ALL_BYTES: u32 = 3 << 20;

/// `XY_SETUP_BLT` (§8.9.1) and `XY_SETUP_MONO_PATTERN_SL_BLT` (§8.9.2): an empty rectangle, addresses and colours 0.
const SETUP: [u32; 8] = [blt::header(0x01, 8) | ALL_BYTES, BLITTER, 0, 0, 0, 0, 0, 0];
const SETUP_PATTERN: [u32; 9] = [
    blt::header(0x11, 9) | ALL_BYTES,
    BLITTER,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
];

/// `STATE_BASE_ADDRESS`: all bases and bounds changed to 0, which for a bound means none.
const BASES: &[(u32, u32)] = &[
    (1, CHANGE),
    (2, CHANGE),
    (3, CHANGE),
    (4, CHANGE),
    (5, CHANGE),
];
/// `3DSTATE_DEPTH_BUFFER`: none (31:29 are 7), tiled in Y (27:26), of 32 bit floats (20:18 are 1).
const NO_DEPTH: &[(u32, u32)] = &[(1, 7 << 29 | 3 << 26 | 1 << 18)];

/// What is the same in both families.
const STATES: &[State] = &[
    state(0x6101_0000, 6, BASES),
    // STATE_SIP: no system routine.
    state(0x6102_0000, 2, &[]),
    // CS_URB_STATE: no entries; CONSTANT_BUFFER: not valid.
    state(0x6001_0000, 2, &[]),
    state(0x6002_0000, 2, &[]),
    // 3DSTATE_VERTEX_ELEMENTS: one element (valid), all four components stored as 0.
    state(0x7809_0000, 3, &[(1, 1 << 26), (2, 0x2222_0000)]),
    // 3DSTATE_INDEX_BUFFER: empty.
    state(0x780a_0000, 3, &[]),
    // 3DSTATE_DRAWING_RECTANGLE: one pixel.
    state(0x7900_0000, 4, &[]),
    // 3DSTATE_CONSTANT_COLOR.
    state(0x7901_0000, 5, &[]),
    // 3DSTATE_CHROMA_KEY: the four tables (31:30).
    state(0x7904_0000, 4, &[]),
    state(0x7904_0000, 4, &[(1, 1 << 30)]),
    state(0x7904_0000, 4, &[(1, 2 << 30)]),
    state(0x7904_0000, 4, &[(1, 3 << 30)]),
    // 3DSTATE_POLY_STIPPLE_OFFSET, _LINE_STIPPLE, _GLOBAL_DEPTH_OFFSET_CLAMP.
    state(0x7906_0000, 2, &[]),
    state(0x7908_0000, 3, &[]),
    state(0x7909_0000, 2, &[]),
];
/// What 965 has of its own: PIPELINE_SELECT, 3D; 3DSTATE_VF_STATISTICS, not counted.
const STATES_965: &[State] = &[
    state(0x6104_0000, 1, &[]),
    state(0x780b_0000, 1, &[]),
    state(0x7905_0000, 5, NO_DEPTH),
];
/// What G4X has, with other headers; and 3DSTATE_AA_LINE_PARAMETERS.
const STATES_G4X: &[State] = &[
    state(0x6904_0000, 1, &[]),
    state(0x680b_0000, 1, &[]),
    state(0x7905_0000, 6, NO_DEPTH),
    state(0x790a_0000, 3, &[]),
];

/// Dwords of [`commands_965`].
pub(super) const DWORDS_965: usize = 80;
/// Dwords of [`commands_g4x`].
pub(super) const DWORDS_G4X: usize = 82;

/// Writes those that load registers. A no-op stands before (G-30).
fn registers<const N: usize>(
    out: &mut Commands<'_>,
    load: LoadRegisters<N>,
) -> Result<(), Overflow> {
    out.put(&[NOOP])?;
    golden::registers(out, load)
}

/// Those of 965.
pub(super) fn registers_965(out: &mut Commands<'_>) -> Result<(), Overflow> {
    registers(out, REGISTERS_965)
}

/// Those of G4X.
pub(super) fn registers_g4x(out: &mut Commands<'_>) -> Result<(), Overflow> {
    registers(out, REGISTERS_G4X)
}

fn rest(out: &mut Commands<'_>, own: &[State]) -> Result<(), Overflow> {
    out.put(&SETUP)?;
    out.put(&SETUP_PATTERN)?;
    golden::states(out, own)?;
    golden::states(out, STATES)
}

/// Writes the commands, for 965.
pub(super) fn commands_965(out: &mut Commands<'_>) -> Result<(), Overflow> {
    registers_965(out)?;
    rest(out, STATES_965)
}

/// Writes the commands, for G4X.
pub(super) fn commands_g4x(out: &mut Commands<'_>) -> Result<(), Overflow> {
    registers_g4x(out)?;
    rest(out, STATES_G4X)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intel::ring::engine::Write;
    use std::vec::Vec;

    fn written(commands: Write) -> Vec<u32> {
        let mut buf = [0; 256];
        let mut out = Commands::new(&mut buf);
        commands(&mut out).unwrap();
        out.as_slice().to_vec()
    }

    /// The headers of 3D commands, by the lengths that they say themselves.
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
        for (commands, dwords) in [
            (commands_965 as Write, DWORDS_965),
            (commands_g4x, DWORDS_G4X),
        ] {
            assert_eq!(written(commands).len(), dwords);
            let mut buf = [0; 128];
            let short = &mut buf[..dwords - 1];
            assert_eq!(commands(&mut Commands::new(short)), Err(Overflow));
        }
    }

    #[test]
    fn registers_of_the_context_come_first() {
        // CACHE_MODE_0 bit 0 clear, on G4X bit 8 set; MI_ARB_STATE bit 2, on 965 (G-18, a10).
        let r965 = [0, 0x1100_0003, 0x2120, 0x0001_0000, 0x20e4, 0x0004_0004];
        assert_eq!(written(commands_965)[..6], r965);
        assert_eq!(written(registers_965), r965);
        let g4x = [0, 0x1100_0001, 0x2120, 0x0101_0100];
        assert_eq!(written(commands_g4x)[..4], g4x);
        assert_eq!(written(registers_g4x), g4x);
    }

    #[test]
    fn the_blitter_is_set_up_to_draw_nothing() {
        // §8.9.1, §8.9.2: headers with both masks; clip (30), depth 3, ROP AA (the destination), pitch.
        let all = written(commands_g4x);
        assert_eq!(all[4..12], [0x4070_0006, 0x43aa_1000, 0, 0, 0, 0, 0, 0]);
        assert_eq!(all[12..21], [0x4470_0007, 0x43aa_1000, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn every_command_has_the_length_of_its_kind() {
        #[rustfmt::skip]
        let common = [
            0x6101_0004, 0x6102_0000, 0x6001_0000, 0x6002_0000, 0x7809_0001, 0x780a_0001, 0x7900_0002, 0x7901_0003,
            0x7904_0002, 0x7904_0002, 0x7904_0002, 0x7904_0002, 0x7906_0000, 0x7908_0001, 0x7909_0000,
        ];
        let own = [0x6104_0000, 0x780b_0000, 0x7905_0003];
        let all = written(commands_965);
        assert_eq!(headers(&all[23..]), [&own[..], &common].concat());
        let own = [0x6904_0000, 0x680b_0000, 0x7905_0004, 0x790a_0001];
        let all = written(commands_g4x);
        assert_eq!(headers(&all[21..]), [&own[..], &common].concat());
    }

    #[test]
    fn the_values_that_are_not_zero() {
        let all = written(commands_965);
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
