// SPDX-License-Identifier: GPL-2.0
//! Packets of the 2D engine: GUI_CONTROL, the settings that it says are there, then the body (§5.2.2,
//! §5.2.3; digest §2.3 to §2.5).

use super::packets::three;
use crate::command::{bits, choice, flag, hex, number, Command, Field, Show, Tail};

/// GUI_CONTROL, and DP_GUI_MASTER_CNTL.
pub const CONTROL: &[Field] = &[
    flag(0, 0, "source given"),
    flag(0, 1, "destination given"),
    flag(0, 2, "source clip"),
    flag(0, 3, "destination clip"),
    choice(
        0,
        7,
        4,
        "brush",
        &[
            (0, "8x8 bits"),
            (1, "8x8 bits, transparent"),
            (6, "32 bits"),
            (7, "32 bits, transparent"),
            (10, "8x8 colours"),
            (13, "solid"),
            (14, "solid"),
            (15, "none"),
        ],
    ),
    choice(
        0,
        11,
        8,
        "depth",
        &[
            (2, "8"),
            (3, "1555"),
            (4, "565"),
            (6, "8888"),
            (7, "332"),
            (15, "4444"),
        ],
    ),
    choice(
        0,
        13,
        12,
        "source",
        &[(0, "bits"), (1, "bits, transparent"), (3, "like it")],
    ),
    flag(0, 14, "lowest bit first"),
    hex(0, 23, 16, "rop"),
    choice(
        0,
        26,
        24,
        "from",
        &[(2, "memory"), (3, "the host"), (4, "the host, by bytes")],
    ),
    flag(0, 28, "no comparison"),
    flag(0, 30, "no write mask"),
    flag(0, 31, "brush begins elsewhere"),
];

/// SRC_PITCH_OFFSET.
pub const SOURCE: &[Field] = &[
    number(0, 29, 22, "source pitch 64 x"),
    number(0, 21, 0, "offset 1 KiB x"),
    flag(0, 30, "tiled"),
    flag(0, 31, "micro-tiled"),
];

/// DST_PITCH_OFFSET.
pub const DESTINATION: &[Field] = &[
    number(0, 29, 22, "destination pitch 64 x"),
    number(0, 21, 0, "offset 1 KiB x"),
    flag(0, 30, "tiled"),
    flag(0, 31, "micro-tiled"),
];

const SOURCE_CLIP: &[Field] = &[
    number(0, 29, 16, "source clip bottom"),
    number(0, 13, 0, "right"),
];
const CLIP_BEGIN: &[Field] = &[number(0, 29, 16, "clip top"), number(0, 13, 0, "left")];
const CLIP_END: &[Field] = &[number(0, 29, 16, "clip bottom"), number(0, 13, 0, "right")];
const BACKGROUND: &[Field] = &[hex(0, 31, 0, "background")];
const FOREGROUND: &[Field] = &[hex(0, 31, 0, "foreground")];
const PATTERN: &[Field] = &[hex(0, 31, 0, "pattern")];
const BRUSH_AT: &[Field] = &[
    number(0, 4, 0, "brush x"),
    number(0, 12, 8, "y"),
    number(0, 20, 16, "line"),
];

/// A setting, as often as it is there.
type Setting = (usize, &'static [Field]);

/// The settings that GUI_CONTROL says are there, in their order.
fn settings(control: u32) -> [Setting; 9] {
    let bit = |n: u32| (control >> n & 1) as usize;
    // How many dwords of each the brush has (digest §2.4).
    let (background, foreground, pattern) = match control >> 4 & 15 {
        0 => (1, 1, 2),
        1 => (0, 1, 2),
        6 => (1, 1, 1),
        7 => (0, 1, 1),
        10 => (0, 0, colours(control >> 8 & 15)),
        13 | 14 => (0, 1, 0),
        _ => (0, 0, 0),
    };
    [
        (bit(0), SOURCE),
        (bit(1), DESTINATION),
        (bit(2), SOURCE_CLIP),
        (bit(3), CLIP_BEGIN),
        (bit(3), CLIP_END),
        (background, BACKGROUND),
        (foreground, FOREGROUND),
        (pattern, PATTERN),
        (bit(31), BRUSH_AT),
    ]
}

/// Dwords of a brush of 64 colours, by the destination's type.
fn colours(kind: u32) -> usize {
    match kind {
        2 | 7 | 8 | 9 => 16,
        3 | 4 | 15 => 32,
        _ => 64,
    }
}

/// What is in dword `n` of a packet with settings, whose body begins with `once` and then repeats `unit`.
fn settled(
    all: &[u32],
    n: usize,
    once: &[&'static [Field]],
    unit: &[&'static [Field]],
) -> &'static [Field] {
    if n == 1 {
        return CONTROL;
    }
    let mut left = n.saturating_sub(2);
    for (count, fields) in settings(all.get(1).copied().unwrap_or(0)) {
        match left.checked_sub(count) {
            None => return fields,
            Some(rest) => left = rest,
        }
    }
    match left.checked_sub(once.len()) {
        None => once.get(left).copied().unwrap_or_default(),
        Some(rest) if !unit.is_empty() => unit[rest % unit.len()],
        Some(_) => &[],
    }
}

const XY: &[Field] = &[number(0, 31, 16, "x"), number(0, 15, 0, "y")];
const YX: &[Field] = &[number(0, 31, 16, "y"), number(0, 15, 0, "x")];
const SIZE: &[Field] = &[number(0, 31, 16, "width"), number(0, 15, 0, "height")];
const SOURCE_XY: &[Field] = &[number(0, 31, 16, "source x"), number(0, 15, 0, "y")];
const DESTINATION_XY: &[Field] = &[number(0, 31, 16, "destination x"), number(0, 15, 0, "y")];
const BLIT_SIZE: &[Field] = &[number(0, 29, 16, "width"), number(0, 13, 0, "height")];
const TOP_LEFT: &[Field] = &[number(0, 31, 16, "top"), number(0, 15, 0, "left")];
const BOTTOM_RIGHT: &[Field] = &[number(0, 31, 16, "bottom"), number(0, 15, 0, "right")];
const COMPARE: &[Field] = &[
    number(0, 2, 0, "compare source"),
    number(0, 10, 8, "destination"),
    number(0, 25, 24, "which"),
];
const REFERENCE: &[Field] = &[hex(0, 31, 0, "compare with")];
const DATA: &[Field] = &[bits(0, 31, 0, "data", Show::Hex)];
const SCANS: &[Field] = &[number(0, 31, 0, "scans")];

const BLIT: &[&[Field]] = &[SOURCE_XY, DESTINATION_XY, BLIT_SIZE];

/// All of them.
pub const COMMANDS: &[Command] = &[
    three(
        "PAINT",
        0x91,
        Tail::Layout(|all, n| settled(all, n, &[], &[TOP_LEFT, BOTTOM_RIGHT])),
    ),
    three(
        "BITBLT",
        0x92,
        Tail::Layout(|all, n| settled(all, n, &[], BLIT)),
    ),
    three(
        "HOSTDATA_BLT",
        0x94,
        Tail::Layout(|all, n| settled(all, n, &[FOREGROUND, BACKGROUND], &[DATA])),
    ),
    three(
        "POLYLINE",
        0x95,
        Tail::Layout(|all, n| settled(all, n, &[], &[YX])),
    ),
    three(
        "POLYSCANLINES",
        0x98,
        Tail::Layout(|all, n| settled(all, n, &[SCANS], &[DATA])),
    ),
    three(
        "PAINT_MULTI",
        0x9a,
        Tail::Layout(|all, n| settled(all, n, &[], &[XY, SIZE])),
    ),
    three(
        "BITBLT_MULTI",
        0x9b,
        Tail::Layout(|all, n| settled(all, n, &[], BLIT)),
    ),
    three(
        "TRANS_BITBLT",
        0x9c,
        Tail::Layout(|all, n| settled(all, n, &[COMPARE, REFERENCE, REFERENCE], BLIT)),
    ),
    three("NEXTCHAR", 0x19, Tail::Data(1, "data")),
    three("PLY_NEXTSCAN", 0x1d, Tail::Data(1, "data")),
    three(
        "SET_SCISSORS",
        0x1e,
        Tail::Layout(|_, n| match n {
            1 => CLIP_BEGIN,
            _ => CLIP_END,
        }),
    ),
    three("LOAD_PALETTE", 0x2c, Tail::Data(1, "data")),
];
