// SPDX-License-Identifier: GPL-2.0
//! Packets (§5.1), and the opcodes of type 3 (§5.2, digest §2.2 and §2.6). Those of the 2D engine are
//! in [`super::two_d`].

use super::two_d;
use crate::command::{
    address, bits, choice, flag, hex, number, Command, Field, Flow, Length, Show, Tail,
};

/// A packet of type 3: opcode in 15:8.
pub const fn three(name: &'static str, opcode: u32, tail: Tail) -> Command {
    Command::new(name, 0xc000_ff00, 3 << 30 | opcode << 8, Length::Body).tail(tail)
}

/// A packet of another type: its bits 31:30.
const fn other(name: &'static str, kind: u32, length: Length) -> Command {
    Command::new(name, 0xc000_0000, kind << 30, length)
}

/// Registers follow each other, or bit 15 is set and they are one (§5.1.1).
fn consecutive(header: u32, n: usize) -> u32 {
    let first = (header & 0x1fff) << 2;
    match header >> 15 & 1 {
        0 => first.wrapping_add(4 * (n as u32).wrapping_sub(1)),
        _ => first,
    }
}

/// Two registers by their numbers (§5.1.2).
fn pair(header: u32, n: usize) -> u32 {
    match n {
        1 => (header & 0x7ff) << 2,
        _ => (header >> 11 & 0x7ff) << 2,
    }
}

const BASIC: &[Command] = &[
    // A write of the buffer's address and of its size, which starts it (§4.10).
    Command::new("indirect buffer", u32::MAX, 0x0001_01ce, Length::Body)
        .with(&[address(1, 31, 2, "address"), number(2, 22, 0, "dwords")])
        .flow(Flow::Call),
    other("type 0", 0, Length::Body)
        .with(&[
            bits(0, 12, 0, "from", Show::RegisterIndex),
            flag(0, 15, "each to the same"),
        ])
        .tail(Tail::Values(consecutive)),
    other("type 1", 1, Length::Three)
        .with(&[
            bits(0, 10, 0, "first", Show::RegisterIndex),
            bits(0, 21, 11, "second", Show::RegisterIndex),
        ])
        .tail(Tail::Values(pair)),
    other("filler", 2, Length::One),
];

const PRIMITIVES: &[(u32, &str)] = &[
    (0, "nothing"),
    (1, "points"),
    (2, "lines"),
    (3, "a line strip"),
    (4, "triangles"),
    (5, "a triangle fan"),
    (6, "a triangle strip"),
    (12, "a line loop"),
    (13, "quads"),
    (14, "a quad strip"),
    (15, "a polygon"),
];

const WALKS: &[(u32, &str)] = &[
    (0, "state"),
    (1, "indices"),
    (2, "arrays"),
    (3, "what follows"),
];

/// VAP_VF_CNTL (digest §2.6), in a dword.
macro_rules! draw {
    ($dword:expr) => {
        &[
            choice($dword, 3, 0, "of", PRIMITIVES),
            choice($dword, 5, 4, "by", WALKS),
            flag($dword, 11, "indices of 32 bits"),
            flag($dword, 14, "another number of vertices"),
            number($dword, 31, 16, "vertices"),
        ]
    };
}

/// The register, written by type 0.
pub const VF_CNTL: &[Field] = draw!(0);

const DATA: Tail = Tail::Data(2, "data");
const DATA_BEHIND_FORMAT: Tail = Tail::Data(3, "data");
const CLEAR: &[Field] = &[
    hex(1, 31, 0, "start"),
    number(2, 13, 0, "count"),
    hex(3, 31, 0, "value"),
];

const ARRAYS: &[Field] = &[number(0, 4, 0, "arrays")];
const STRIDES: &[Field] = &[
    number(0, 6, 0, "first: dwords"),
    number(0, 14, 8, "stride"),
    number(0, 22, 16, "second: dwords"),
    number(0, 30, 24, "stride"),
];
const FIRST: &[Field] = &[address(0, 31, 0, "first array")];
const SECOND: &[Field] = &[address(0, 31, 0, "second array")];

/// A record of three dwords is two arrays (digest §2.6).
fn arrays(_: &[u32], n: usize) -> &'static [Field] {
    match (n, n % 3) {
        (1, _) => ARRAYS,
        (_, 2) => STRIDES,
        (_, 0) => FIRST,
        _ => SECOND,
    }
}

const THREE: &[Command] = &[
    three("NOP", 0x10, Tail::Data(1, "data")),
    three("PRED_EXEC", 0x20, Tail::Nothing)
        .with(&[number(1, 31, 24, "device"), number(1, 22, 0, "dwords")]),
    three("COND_EXEC", 0x21, Tail::Data(1, "data")),
    three("WAIT_SEMAPHORE", 0x22, Tail::Nothing)
        .with(&[hex(1, 31, 0, "slot"), hex(2, 31, 0, "then")]),
    three("WAIT_MEM", 0x23, Tail::Nothing)
        .with(&[address(1, 31, 2, "address"), number(2, 31, 0, "dwords")]),
    three("3D_DRAW_VBUF", 0x28, DATA_BEHIND_FORMAT).with(draw!(2)),
    three("3D_DRAW_IMMD", 0x29, DATA_BEHIND_FORMAT).with(draw!(2)),
    three("3D_DRAW_INDX", 0x2a, DATA_BEHIND_FORMAT).with(draw!(2)),
    three("3D_LOAD_VBPNTR", 0x2f, Tail::Layout(arrays)),
    three("3D_CLEAR_ZMASK", 0x32, Tail::Nothing).with(CLEAR),
    three("INDX_BUFFER", 0x33, Tail::Nothing).with(&[
        bits(1, 12, 0, "to", Show::RegisterIndex),
        flag(1, 31, "each to the same"),
        bits(1, 18, 16, "skip", Show::Some),
        address(2, 31, 2, "address"),
        number(3, 22, 0, "dwords"),
    ]),
    three("3D_DRAW_VBUF_2", 0x34, DATA).with(draw!(1)),
    three("3D_DRAW_IMMD_2", 0x35, DATA).with(draw!(1)),
    three("3D_DRAW_INDX_2", 0x36, DATA).with(draw!(1)),
    three("3D_CLEAR_HIZ", 0x37, Tail::Nothing).with(CLEAR),
    three("3D_CLEAR_CMASK", 0x38, Tail::Nothing).with(CLEAR),
    three("3D_DRAW_128", 0x39, DATA).with(draw!(1)),
    three("MPEG_INDEX", 0x3a, Tail::Data(1, "data")),
];

/// All of them.
pub const COMMANDS: &[&[Command]] = &[BASIC, THREE, two_d::COMMANDS];
