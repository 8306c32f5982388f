// SPDX-License-Identifier: GPL-2.0
//! Commands of the blitter of Gen6: client 2, opcode in 28:22 (G45 PRM 8.8, 8.9, the register images
//! in 8.10; the opcodes are the same on Gen6).

use crate::command::{
    address, bits, choice, flag, hex, number, Command, Field, Length, Show, Tail,
};

/// Bits 31:22: client and opcode.
const MASK: u32 = 0xffc0_0000;

const fn blt(
    name: &'static str,
    opcode: u32,
    high: u8,
    fields: [&'static [Field]; 3],
    tail: Tail,
) -> Command {
    Command::new(name, MASK, 2 << 29 | opcode << 22, Length::Upto(high))
        .groups(fields)
        .tail(tail)
}

/// An immediate pattern or source from this dword on.
const fn immediate(dword: usize) -> Tail {
    Tail::Data(dword, "immediate")
}

const DEPTHS: &[(u32, &str)] = &[(0, "8"), (1, "16 (565)"), (2, "16 (1555)"), (3, "32")];

const ALPHA: Field = flag(0, 21, "write alpha");
const RGB: Field = flag(0, 20, "write RGB");
const SRC_TILED: Field = flag(0, 15, "source tiled");
const DST_TILED: Field = flag(0, 11, "destination tiled");
const SEED_X: Field = number(0, 14, 12, "pattern column");
const SEED_Y: Field = number(0, 10, 8, "pattern row");
const BYTE_PACKED: Field = flag(0, 16, "byte packed");
const BIT: Field = number(0, 19, 17, "first source bit");
const KEY_MODE: Field = number(0, 19, 17, "key mode");
const SOLID: Field = flag(1, 31, "solid pattern");
const CLIP: Field = flag(1, 30, "clip");
const BACKWARDS: Field = flag(1, 30, "right to left");
const MONO_SRC: Field = flag(1, 29, "source transparent");
const MONO_PAT: Field = flag(1, 28, "pattern transparent");
const DEPTH: Field = choice(1, 25, 24, "depth", DEPTHS);
const ROP: Field = hex(1, 23, 16, "rop");
const PITCH: Field = bits(1, 15, 0, "pitch", Show::Signed);

const fn left(dword: usize) -> Field {
    bits(dword, 15, 0, "left", Show::Signed)
}

const fn top(dword: usize) -> Field {
    bits(dword, 31, 16, "top", Show::Signed)
}

const fn right(dword: usize) -> Field {
    bits(dword, 15, 0, "right", Show::Signed)
}

const fn bottom(dword: usize) -> Field {
    bits(dword, 31, 16, "bottom", Show::Signed)
}

const fn destination(dword: usize) -> Field {
    address(dword, 31, 0, "destination")
}

const fn source(dword: usize) -> Field {
    address(dword, 31, 0, "source")
}

const fn source_left(dword: usize) -> Field {
    bits(dword, 15, 0, "source left", Show::Signed)
}

const fn source_top(dword: usize) -> Field {
    bits(dword, 31, 16, "source top", Show::Signed)
}

const fn source_pitch(dword: usize) -> Field {
    bits(dword, 15, 0, "source pitch", Show::Signed)
}

const fn pattern(dword: usize) -> Field {
    address(dword, 28, 6, "pattern")
}

const fn value(dword: usize, name: &'static str) -> Field {
    hex(dword, 31, 0, name)
}

/// Where most commands draw, and how.
const RECTANGLE: &[Field] = &[
    DEPTH,
    ROP,
    PITCH,
    left(2),
    top(2),
    right(3),
    bottom(3),
    destination(4),
];

/// All of them.
pub const COMMANDS: &[Command] = &[
    blt(
        "COLOR_BLT",
        0x40,
        4,
        [
            &[],
            &[],
            &[
                ALPHA,
                RGB,
                DEPTH,
                ROP,
                PITCH,
                number(2, 31, 16, "lines"),
                number(2, 15, 0, "bytes"),
                destination(3),
                value(4, "colour"),
            ],
        ],
        Tail::Nothing,
    ),
    blt(
        "SRC_COPY_BLT",
        0x43,
        4,
        [
            &[],
            &[],
            &[
                ALPHA,
                RGB,
                BACKWARDS,
                DEPTH,
                ROP,
                PITCH,
                number(2, 31, 16, "lines"),
                number(2, 15, 0, "bytes"),
                destination(3),
                source_pitch(4),
                source(5),
            ],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_SETUP_BLT",
        0x01,
        7,
        [
            &[ALPHA, RGB, DST_TILED, CLIP, MONO_SRC],
            RECTANGLE,
            &[value(5, "background"), value(6, "foreground"), pattern(7)],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_SETUP_CLIP_BLT",
        0x03,
        7,
        [&[], &[], &[DST_TILED, left(1), top(1), right(2), bottom(2)]],
        Tail::Nothing,
    ),
    blt(
        "XY_SETUP_MONO_PATTERN_SL_BLT",
        0x11,
        7,
        [
            &[ALPHA, RGB, DST_TILED, SOLID, CLIP, MONO_PAT],
            RECTANGLE,
            &[
                value(5, "background"),
                value(6, "foreground"),
                value(7, "pattern low"),
                value(8, "pattern high"),
            ],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_PIXEL_BLT",
        0x24,
        7,
        [&[], &[], &[DST_TILED, left(1), top(1)]],
        Tail::Nothing,
    ),
    blt(
        "XY_SCANLINES_BLT",
        0x25,
        7,
        [
            &[],
            &[],
            &[
                SEED_X,
                DST_TILED,
                SEED_Y,
                left(1),
                top(1),
                right(2),
                bottom(2),
            ],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_TEXT_BLT",
        0x26,
        7,
        [
            &[],
            &[],
            &[
                BYTE_PACKED,
                DST_TILED,
                left(1),
                top(1),
                right(2),
                bottom(2),
                source(3),
            ],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_TEXT_IMMEDIATE_BLT",
        0x31,
        7,
        [
            &[],
            &[],
            &[BYTE_PACKED, DST_TILED, left(1), top(1), right(2), bottom(2)],
        ],
        immediate(3),
    ),
    blt(
        "XY_COLOR_BLT",
        0x50,
        7,
        [
            &[ALPHA, RGB, DST_TILED, CLIP],
            RECTANGLE,
            &[value(5, "colour")],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_PAT_BLT",
        0x51,
        7,
        [
            &[ALPHA, RGB, SEED_X, DST_TILED, SEED_Y, CLIP],
            RECTANGLE,
            &[pattern(5)],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_MONO_PAT_BLT",
        0x52,
        7,
        [
            &[ALPHA, RGB, SEED_X, DST_TILED, SEED_Y, CLIP, MONO_PAT],
            RECTANGLE,
            &[
                value(5, "background"),
                value(6, "foreground"),
                value(7, "pattern low"),
                value(8, "pattern high"),
            ],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_SRC_COPY_BLT",
        0x53,
        7,
        [
            &[ALPHA, RGB, SRC_TILED, DST_TILED, CLIP],
            RECTANGLE,
            &[source_left(5), source_top(5), source_pitch(6), source(7)],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_MONO_SRC_COPY_BLT",
        0x54,
        7,
        [
            &[ALPHA, RGB, BIT, DST_TILED, CLIP, MONO_SRC],
            RECTANGLE,
            &[source(5), value(6, "background"), value(7, "foreground")],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_FULL_BLT",
        0x55,
        7,
        [
            &[ALPHA, RGB, SRC_TILED, SEED_X, DST_TILED, SEED_Y, CLIP],
            RECTANGLE,
            &[
                source_pitch(5),
                source_left(6),
                source_top(6),
                source(7),
                pattern(8),
            ],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_FULL_MONO_SRC_BLT",
        0x56,
        7,
        [
            &[ALPHA, RGB, BIT, SEED_X, DST_TILED, SEED_Y, CLIP, MONO_SRC],
            RECTANGLE,
            &[
                source(5),
                value(6, "background"),
                value(7, "foreground"),
                pattern(8),
            ],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_FULL_MONO_PATTERN_BLT",
        0x57,
        7,
        [
            &[
                ALPHA, RGB, SRC_TILED, SEED_X, DST_TILED, SEED_Y, SOLID, CLIP, MONO_PAT,
            ],
            RECTANGLE,
            &[
                source_pitch(5),
                source_left(6),
                source_top(6),
                source(7),
                value(8, "background"),
                value(9, "foreground"),
                value(10, "pattern low"),
                value(11, "pattern high"),
            ],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_FULL_MONO_PATTERN_MONO_SRC_BLT",
        0x58,
        7,
        [
            &[
                ALPHA, RGB, BIT, SEED_X, DST_TILED, SEED_Y, SOLID, CLIP, MONO_SRC, MONO_PAT,
            ],
            RECTANGLE,
            &[
                source(5),
                value(6, "source background"),
                value(7, "source foreground"),
                value(8, "pattern background"),
                value(9, "pattern foreground"),
                value(10, "pattern low"),
                value(11, "pattern high"),
            ],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_MONO_PAT_FIXED_BLT",
        0x59,
        7,
        [
            &[
                ALPHA,
                RGB,
                number(0, 18, 15, "fixed pattern"),
                SEED_X,
                DST_TILED,
                SEED_Y,
                CLIP,
                MONO_PAT,
            ],
            RECTANGLE,
            &[value(5, "background"), value(6, "foreground")],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_MONO_SRC_COPY_IMMEDIATE_BLT",
        0x71,
        7,
        [
            &[ALPHA, RGB, BIT, DST_TILED, CLIP, MONO_SRC],
            RECTANGLE,
            &[value(5, "background"), value(6, "foreground")],
        ],
        immediate(7),
    ),
    blt(
        "XY_PAT_BLT_IMMEDIATE",
        0x72,
        7,
        [
            &[ALPHA, RGB, SEED_X, DST_TILED, SEED_Y, CLIP],
            RECTANGLE,
            &[],
        ],
        immediate(5),
    ),
    blt(
        "XY_SRC_COPY_CHROMA_BLT",
        0x73,
        7,
        [
            &[ALPHA, RGB, KEY_MODE, SRC_TILED, DST_TILED, CLIP],
            RECTANGLE,
            &[
                source_left(5),
                source_top(5),
                source_pitch(6),
                source(7),
                value(8, "key low"),
                value(9, "key high"),
            ],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_FULL_IMMEDIATE_PATTERN_BLT",
        0x74,
        7,
        [
            &[ALPHA, RGB, SRC_TILED, SEED_X, DST_TILED, SEED_Y, CLIP],
            RECTANGLE,
            &[source_pitch(5), source_left(6), source_top(6), source(7)],
        ],
        immediate(8),
    ),
    blt(
        "XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT",
        0x75,
        7,
        [
            &[ALPHA, RGB, BIT, SEED_X, DST_TILED, SEED_Y, CLIP, MONO_SRC],
            RECTANGLE,
            &[source(5), value(6, "background"), value(7, "foreground")],
        ],
        immediate(8),
    ),
    blt(
        "XY_PAT_CHROMA_BLT",
        0x76,
        7,
        [
            &[ALPHA, RGB, KEY_MODE, SEED_X, DST_TILED, SEED_Y, CLIP],
            RECTANGLE,
            &[pattern(5), value(6, "key low"), value(7, "key high")],
        ],
        Tail::Nothing,
    ),
    blt(
        "XY_PAT_CHROMA_BLT_IMMEDIATE",
        0x77,
        7,
        [
            &[ALPHA, RGB, KEY_MODE, SEED_X, DST_TILED, SEED_Y, CLIP],
            RECTANGLE,
            &[value(5, "key low"), value(6, "key high")],
        ],
        immediate(7),
    ),
];
