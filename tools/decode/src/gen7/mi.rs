// SPDX-License-Identifier: GPL-2.0
//! Memory-interface commands of Gen7 where they differ from Gen6's, or break rules that the chapter
//! of the video engine names (VCS PRM 1.2.2 to 1.2.18). What only the render engine has is from the
//! upstream driver's headers.

use crate::command::{
    address, bits, choice, flag, hex, number, warning, Command, Field, Flow, Length, Show, Warning,
};
use crate::gen6::mi::{self, mi, GLOBAL};

/// What MI_STORE_REGISTER_MEM gets undefined data of: 0x8800 to 0x88ff, all from 0x40000 on but for the
/// read behind a write in 0x40000 to 0xbffff, and with these the fences (VCS PRM 1.2.11).
fn unreadable(d: &[u32]) -> bool {
    let register = d[1] & 0x7f_fffc;
    (0x8800..0x8900).contains(&register) || register >= 0xc_0000
}

/// The bits of MI_FLUSH_DW that say what is stored at its end, 15:14.
fn post_sync(d: &[u32]) -> u32 {
    d[0] >> 14 & 3
}

/// Rules of MI_FLUSH_DW (VCS PRM 1.2.7).
const FLUSH_RULES: &[Warning] = &[
    warning(
        0,
        "the TLB stays: without a store bit 18 has no effect",
        |d| d[0] & 1 << 18 != 0 && !matches!(post_sync(d), 1 | 3),
    ),
    warning(0, "GFDT stays: bit 17 needs a store", |d| {
        d[0] & 1 << 17 != 0 && !matches!(post_sync(d), 1 | 3)
    }),
    warning(0, "reserved kind of store", |d| post_sync(d) == 2),
    warning(
        1,
        "the chip's erratum: no quadword to an address with bit 5",
        |d| d[1] & 1 << 5 != 0 && (post_sync(d) == 3 || post_sync(d) == 1 && d.len() > 3),
    ),
];

/// The register or the word in memory must exceed the data. The register is the engine's own, which
/// one of the others writes.
const fn semaphore(select: Field) -> [Field; 7] {
    [
        GLOBAL,
        flag(0, 21, "update"),
        flag(0, 20, "compare"),
        flag(0, 18, "with a register"),
        select,
        hex(1, 31, 0, "exceeds"),
        address(2, 31, 2, "address"),
    ]
}

/// VCS PRM 1.2.10.
const SEMAPHORE_RULES: &[Warning] = &[
    warning(0, "no update with a register", |d| {
        d[0] & (1 << 21 | 1 << 18) == 1 << 21 | 1 << 18
    }),
    warning(0, "neither compares nor updates", |d| {
        d[0] & (1 << 21 | 1 << 20) == 0
    }),
    warning(0, "register that is reserved", |d| {
        d[0] & 1 << 18 != 0 && matches!(d[0] >> 16 & 3, 1 | 3)
    }),
];

/// VCS PRM 1.2.8.
const LOAD_RULES: &[Warning] = &[warning(0, "undefined for bytes one by one", |d| {
    !matches!(d[0] >> 8 & 0xf, 0 | 0xf)
})];

/// A quadword is aligned (VCS PRM 1.2.12).
const STORE_RULES: &[Warning] = &[warning(2, "quadword that is not aligned", |d| {
    d.len() > 4 && d[2] & 4 != 0
})];

/// VCS PRM 1.2.13.
const INDEX_RULES: &[Warning] = &[
    warning(1, "reserved: the first 16 dwords", |d| d[1] & 0xfff < 64),
    warning(1, "quadword that is not aligned", |d| {
        d.len() > 3 && d[1] & 4 != 0
    }),
];

const REGISTER: Field = bits(1, 22, 2, "register", Show::Register);

/// Commands of every engine.
pub const COMMANDS: &[Command] = &[
    mi::STORE_DATA_IMM.warn(STORE_RULES),
    mi::STORE_DATA_INDEX.warn(INDEX_RULES),
    mi::LOAD_REGISTER_IMM.warn(LOAD_RULES),
    mi::UPDATE_GTT.warn(&[warning(0, "for the GGTT alone: bit 22", |d| {
        d[0] & 1 << 22 == 0
    })]),
    mi::STORE_REGISTER_MEM.warn(&[warning(1, "undefined data", unreadable)]),
    mi(
        "MI_LOAD_REGISTER_MEM",
        0x29,
        Length::Upto(7),
        &[
            GLOBAL,
            flag(0, 21, "without waiting"),
            REGISTER,
            address(2, 31, 2, "address"),
        ],
    ),
    mi(
        "MI_BATCH_BUFFER_START",
        0x31,
        Length::Upto(7),
        &[
            flag(0, 22, "second level"),
            choice(
                0,
                8,
                8,
                "as",
                &[(0, "secure, GGTT"), (1, "non-secure, PPGTT")],
            ),
            address(1, 31, 2, "batch"),
        ],
    )
    .flow(Flow::Nested),
    mi::CONDITIONAL_BATCH_BUFFER_END
        .warn(&[warning(0, "ends in any case", |d| d[0] & 1 << 21 == 0)]),
];

/// The waits of the video engine.
pub const VIDEO: &[Command] = &[
    mi(
        "MI_WAIT_FOR_EVENT",
        0x03,
        Length::One,
        &[choice(
            0,
            19,
            16,
            "while",
            &[
                (0, "nothing"),
                (1, "condition 0"),
                (2, "condition 1"),
                (3, "condition 2"),
                (4, "condition 3"),
                (5, "condition 4"),
            ],
        )],
    )
    .warn(&[
        warning(0, "condition that is reserved", |d| d[0] >> 16 & 0xf > 5),
        warning(0, "no events here", |d| d[0] & 0x70_ffff != 0),
    ]),
    mi(
        "MI_SEMAPHORE_MBOX",
        0x16,
        Length::Upto(7),
        &semaphore(choice(0, 17, 16, "from", &[(0, "VBSYNC"), (2, "VRSYNC")])),
    )
    .warn(SEMAPHORE_RULES),
];

/// The waits of the others, whose chapters are not at hand: the layouts are Gen6's.
pub const WAITS: &[Command] = &[
    mi::WAIT_FOR_EVENT,
    mi(
        "MI_SEMAPHORE_MBOX",
        0x16,
        Length::Upto(7),
        &semaphore(number(0, 17, 16, "register select")),
    )
    .warn(SEMAPHORE_RULES),
];

/// The flush of the video engine and the blitter.
pub const FLUSHING: &[Command] = &[mi::FLUSH_DW.warn(FLUSH_RULES)];

/// Commands of the render engine that are new.
pub const RENDER: &[Command] = &[
    mi(
        "MI_PREDICATE",
        0x0c,
        Length::One,
        &[
            number(0, 7, 6, "load"),
            number(0, 4, 3, "combine"),
            number(0, 1, 0, "compare"),
        ],
    ),
    mi(
        "MI_TOPOLOGY_FILTER",
        0x0d,
        Length::One,
        &[number(0, 5, 0, "topology")],
    ),
    mi("MI_SET_APPID", 0x0e, Length::One, &[hex(0, 6, 0, "id")]),
];

/// How Gen7 tells in PIPE_CONTROL which table the address is in.
pub const PIPE_CONTROL_SPACE: &[Field] = &[flag(1, 24, "GGTT")];

/// The rules of PIPE_CONTROL that it shares with MI_FLUSH_DW.
pub const PIPE_CONTROL_RULES: &[Warning] = &[warning(
    1,
    "the TLB stays: without a store bit 18 has no effect",
    |d| d[1] & 1 << 18 != 0 && d[1] >> 14 & 3 == 0,
)];
