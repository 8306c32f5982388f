// SPDX-License-Identifier: GPL-2.0
//! Memory-interface commands of Gen4 (G45 PRM Vol 1b chapter 1; of the video engine chapter 2).

use crate::command::{
    address, bits, choice, flag, number, warning, Command, Field, Flow, Length, Show, Tail, Warning,
};
use crate::gen6::mi::{mi, ARB_ON_OFF};

/// Commands that both engines have, beside those of all generations.
pub const COMMON: &[Command] = &[
    // 1.17.
    mi(
        "MI_STORE_DATA_INDEX",
        0x21,
        Length::Upto(5),
        &[bits(
            1,
            11,
            2,
            "byte offset in the status page",
            Show::Address,
        )],
    )
    .tail(Tail::Data(2, "data"))
    .warn(&[warning(1, "reserved: the first 16 dwords", |d| {
        d[1] & 0xfff < 64
    })]),
    // 1.8.
    mi(
        "MI_LOAD_REGISTER_IMM",
        0x22,
        Length::Upto(5),
        &[bits(0, 11, 8, "bytes not written", Show::Some)],
    )
    .tail(Tail::Registers),
];

const SPACE: Field = choice(0, 22, 22, "in", &[(0, "memory"), (1, "graphics memory")]);

/// 1.5: the address is of 64 bytes; arbitration of 2 is reserved.
const START_RULES: &[Warning] = &[
    warning(1, "not aligned to 64 bytes", |d| {
        d[1] & 0x30 != 0 || d[0] & 1 << 7 != 0 && d[1] & 0xf != 0
    }),
    warning(0, "reserved arbitration", |d| d[0] >> 9 & 3 == 2),
];

/// 1.15.
const CONTEXT_RULES: &[Warning] = &[warning(1, "both force restore and do not restore", |d| {
    d[1] & 3 == 3
})];

const SCAN_LINES: &[Field] = &[
    choice(0, 21, 20, "pipe", &[(0, "A"), (1, "B")]),
    number(1, 31, 16, "first line"),
    number(1, 15, 0, "last line"),
];

/// Commands of the render engine.
pub const RENDER: &[Command] = &[
    // 1.21.
    mi(
        "MI_WAIT_FOR_EVENT",
        0x03,
        Length::One,
        &[
            flag(0, 18, "pipe B start of vertical blank"),
            flag(0, 17, "pipe A start of vertical blank"),
            flag(0, 16, "overlay or sprite B flip"),
            flag(0, 14, "pipe B horizontal blank"),
            flag(0, 13, "pipe A horizontal blank"),
            bits(0, 12, 9, "condition code", Show::Some),
            flag(0, 8, "plane C flip"),
            flag(0, 7, "pipe B vertical blank"),
            flag(0, 6, "plane B flip"),
            flag(0, 5, "pipe B scan lines"),
            flag(0, 4, "compressor idle"),
            flag(0, 3, "pipe A vertical blank"),
            flag(0, 2, "plane A flip"),
            flag(0, 1, "pipe A scan lines"),
        ],
    )
    .warn(&[warning(0, "more than one event", |d| {
        (d[0] & 0x0007_61fe).count_ones() + u32::from(d[0] & 0x1e00 != 0) > 1
    })]),
    // 1.7; bit 5 and 0 are the upstream driver's.
    mi(
        "MI_FLUSH",
        0x04,
        Length::One,
        &[
            flag(0, 0, "invalidate map cache"),
            flag(0, 1, "invalidate state and instructions"),
            flag(0, 2, "leave render cache"),
            flag(0, 3, "reset statistics"),
            flag(0, 5, "indirect state pointers off"),
        ],
    ),
    // 1.13.2.
    mi("MI_UNPROBE", 0x06, Length::One, &[number(0, 9, 0, "slot")]),
    // 1.3.
    ARB_ON_OFF,
    // 1.12; the opcode is the upstream driver's.
    mi(
        "MI_OVERLAY_FLIP",
        0x11,
        Length::Upto(5),
        &[
            choice(0, 22, 21, "mode", &[(0, "continue"), (1, "on"), (2, "off")]),
            address(1, 31, 12, "registers"),
            flag(1, 0, "filter coefficients too"),
        ],
    ),
    // 1.10, 1.9.
    mi("MI_LOAD_SCAN_LINES_INCL", 0x12, Length::Upto(5), SCAN_LINES),
    mi("MI_LOAD_SCAN_LINES_EXCL", 0x13, Length::Upto(5), SCAN_LINES),
    // 1.6.
    mi(
        "MI_DISPLAY_FLIP",
        0x14,
        Length::Upto(5),
        &[
            flag(0, 22, "asynchronous"),
            choice(
                0,
                21,
                20,
                "plane",
                &[(0, "A"), (1, "B"), (2, "C"), (3, "sprite")],
            ),
            flag(1, 29, "queued"),
            bits(1, 14, 3, "pitch in bytes", Show::Address),
            address(2, 31, 12, "base"),
            flag(2, 0, "tiled"),
            bits(3, 27, 16, "width less one", Show::Some),
            bits(3, 11, 0, "height less one", Show::Some),
        ],
    ),
    // 1.15.
    mi(
        "MI_SET_CONTEXT",
        0x18,
        Length::Upto(5),
        &[
            address(1, 31, 11, "context"),
            choice(1, 8, 8, "in", &[(0, "memory"), (1, "graphics memory")]),
            bits(1, 7, 4, "address bits 35:32", Show::Some),
            flag(1, 3, "save extended state"),
            flag(1, 2, "restore extended state"),
            flag(1, 1, "force restore"),
            flag(1, 0, "do not restore"),
        ],
    )
    .warn(CONTEXT_RULES),
    // 1.16.
    mi(
        "MI_STORE_DATA_IMM",
        0x20,
        Length::Upto(5),
        &[
            SPACE,
            flag(0, 21, "GGTT"),
            bits(1, 3, 0, "address bits 35:32", Show::Some),
            address(2, 31, 2, "address"),
        ],
    )
    .tail(Tail::Data(3, "data"))
    .warn(&[warning(2, "quadword that is not aligned", |d| {
        d.len() > 4 && d[2] & 4 != 0
    })]),
    // 1.19.
    mi(
        "MI_UPDATE_GTT",
        0x23,
        Length::Upto(5),
        &[
            choice(0, 22, 22, "of the", &[(0, "GGTT"), (1, "PPGTT")]),
            address(1, 31, 12, "first page"),
        ],
    )
    .tail(Tail::Data(2, "table entry")),
    // 1.18.
    mi(
        "MI_STORE_REGISTER_MEM",
        0x24,
        Length::Upto(5),
        &[
            SPACE,
            bits(1, 31, 28, "address bits 35:32", Show::Some),
            bits(1, 18, 2, "register", Show::Register),
            address(2, 31, 2, "address"),
        ],
    )
    .warn(&[warning(
        1,
        "undefined: the table's register and fences",
        |d| {
            let register = d[1] & 0x7_fffc;
            register == 0x2020 || (0x3000..0x3080).contains(&register)
        },
    )]),
    // 1.13.1.
    mi("MI_PROBE", 0x25, Length::Upto(9), &[]).tail(Tail::Data(1, "page and slot")),
    // 1.5.
    mi(
        "MI_BATCH_BUFFER_START",
        0x31,
        Length::Upto(5),
        &[
            choice(0, 8, 8, "as", &[(0, "secure"), (1, "non-secure")]),
            choice(0, 7, 7, "in", &[(0, "memory"), (1, "graphics memory")]),
            bits(0, 10, 9, "arbitration", Show::Some),
            address(1, 31, 6, "batch"),
            bits(1, 3, 0, "address bits 35:32", Show::Some),
        ],
    )
    .flow(Flow::Batch)
    .warn(START_RULES),
];

/// Commands of the video engine that differ.
pub const VIDEO: &[Command] = &[
    // 2.12: all is reserved.
    mi("MI_WAIT_FOR_EVENT", 0x03, Length::One, &[]),
    // 2.5.
    mi("MI_FLUSH", 0x04, Length::One, &[]),
    // 2.9.
    mi(
        "MI_STORE_DATA_IMM",
        0x20,
        Length::Upto(5),
        &[flag(0, 22, "GGTT"), address(2, 31, 2, "address")],
    )
    .tail(Tail::Data(3, "data")),
    // 2.4.
    mi(
        "MI_BATCH_BUFFER_START",
        0x31,
        Length::Upto(5),
        &[
            choice(0, 8, 8, "as", &[(0, "secure"), (1, "non-secure")]),
            address(1, 31, 2, "batch"),
        ],
    )
    .flow(Flow::Batch),
];
