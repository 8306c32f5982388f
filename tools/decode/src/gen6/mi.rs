// SPDX-License-Identifier: GPL-2.0
//! Memory-interface commands of Gen6: client 0, opcode in 28:23 (G45 PRM 1.2–1.25 for the layouts;
//! SNB PRM V1P2 §5.3 for what they do; IVB PRM V1P3 1.2 for MI_FLUSH_DW). Those that Gen7 has as well,
//! unchanged or with more to say, are constants of their own.

use crate::command::{
    address, bits, choice, flag, hex, number, Command, Field, Flow, Length, Show, Tail,
};

/// Bits 31:23: client and opcode.
const MASK: u32 = 0xff80_0000;

/// A command of this client.
pub const fn mi(
    name: &'static str,
    opcode: u32,
    length: Length,
    fields: &'static [Field],
) -> Command {
    Command::new(name, MASK, opcode << 23, length).with(fields)
}

/// The operand is in the GGTT.
pub const GLOBAL: Field = flag(0, 22, "GGTT");

const POST_SYNC: &[(u32, &str)] = &[(0, "none"), (1, "store immediate"), (3, "store time stamp")];

/// A wait for an event of the display or for a condition.
pub const WAIT_FOR_EVENT: Command = mi(
    "MI_WAIT_FOR_EVENT",
    0x03,
    Length::One,
    &[
        flag(0, 0, "pipe A scan line"),
        flag(0, 1, "plane A flip"),
        flag(0, 2, "sprite A flip"),
        flag(0, 3, "pipe A vertical blank"),
        flag(0, 5, "pipe A horizontal blank"),
        flag(0, 8, "pipe B scan line"),
        flag(0, 9, "plane B flip"),
        flag(0, 10, "sprite B flip"),
        flag(0, 11, "pipe B vertical blank"),
        flag(0, 13, "pipe B horizontal blank"),
        number(0, 19, 16, "condition code"),
    ],
);

/// A signal, or a wait for one.
pub const SEMAPHORE_MBOX: Command = mi(
    "MI_SEMAPHORE_MBOX",
    0x16,
    Length::Upto(7),
    &[
        GLOBAL,
        flag(0, 21, "update"),
        flag(0, 20, "compare"),
        flag(0, 18, "with a register"),
        number(0, 17, 16, "register select"),
        hex(1, 31, 0, "data"),
        address(2, 31, 2, "address"),
    ],
);

/// A store of one or two dwords.
pub const STORE_DATA_IMM: Command = mi(
    "MI_STORE_DATA_IMM",
    0x20,
    Length::Upto(5),
    &[GLOBAL, address(2, 31, 2, "address")],
)
.tail(Tail::Data(3, "data"));

/// A store into the status page.
pub const STORE_DATA_INDEX: Command = mi(
    "MI_STORE_DATA_INDEX",
    0x21,
    Length::Upto(7),
    &[bits(
        1,
        11,
        2,
        "byte offset in the status page",
        Show::Address,
    )],
)
.tail(Tail::Data(2, "data"));

/// Values for registers.
pub const LOAD_REGISTER_IMM: Command = mi(
    "MI_LOAD_REGISTER_IMM",
    0x22,
    Length::Upto(7),
    &[bits(0, 11, 8, "bytes not written", Show::Some)],
)
.tail(Tail::Registers);

/// Entries of the GGTT.
pub const UPDATE_GTT: Command = mi(
    "MI_UPDATE_GTT",
    0x23,
    Length::Upto(5),
    &[GLOBAL, address(1, 31, 12, "first page")],
)
.tail(Tail::Data(2, "table entry"));

/// A store of a register.
pub const STORE_REGISTER_MEM: Command = mi(
    "MI_STORE_REGISTER_MEM",
    0x24,
    Length::Upto(7),
    &[
        GLOBAL,
        bits(1, 22, 2, "register", Show::Register),
        address(2, 31, 2, "address"),
    ],
);

/// A batch.
pub const BATCH_BUFFER_START: Command = mi(
    "MI_BATCH_BUFFER_START",
    0x31,
    Length::Upto(7),
    &[
        choice(
            0,
            8,
            8,
            "as",
            &[(0, "secure, GGTT"), (1, "non-secure, PPGTT")],
        ),
        flag(0, 11, "clear command buffer enable"),
        address(1, 31, 2, "batch"),
    ],
)
.flow(Flow::Batch);

/// The end of a batch, unless a value in memory exceeds another.
pub const CONDITIONAL_BATCH_BUFFER_END: Command = mi(
    "MI_CONDITIONAL_BATCH_BUFFER_END",
    0x36,
    Length::Upto(7),
    &[
        GLOBAL,
        flag(0, 21, "compare"),
        hex(1, 31, 0, "data"),
        address(2, 31, 3, "address"),
    ],
);

/// Commands of every engine, the same from Gen4 to Gen7 (G45 PRM Vol 1b 1.11, 1.20, 1.2, 1.14, 1.4).
pub const ALWAYS: &[Command] = &[
    mi(
        "MI_NOOP",
        0x00,
        Length::One,
        &[flag(0, 22, "write id"), bits(0, 21, 0, "id", Show::Some)],
    ),
    mi("MI_USER_INTERRUPT", 0x02, Length::One, &[]),
    mi("MI_ARB_CHECK", 0x05, Length::One, &[]),
    mi("MI_REPORT_HEAD", 0x07, Length::One, &[]),
    mi("MI_BATCH_BUFFER_END", 0x0a, Length::One, &[]).flow(Flow::End),
];

/// Whether others may take the engine over (G45 PRM Vol 1b 1.3).
pub const ARB_ON_OFF: Command = mi(
    "MI_ARB_ON_OFF",
    0x08,
    Length::One,
    &[choice(0, 0, 0, "arbitration", &[(0, "off"), (1, "on")])],
);

/// More commands of every engine, the same on Gen7.
pub const COMMON: &[Command] = &[
    ARB_ON_OFF,
    mi(
        "MI_SUSPEND_FLUSH",
        0x0b,
        Length::One,
        &[choice(
            0,
            0,
            0,
            "flushes",
            &[(0, "resumed"), (1, "suspended")],
        )],
    ),
];

/// Commands of every engine that are Gen6's own, or that Gen7 says more about.
pub const OWN: &[Command] = &[
    WAIT_FOR_EVENT,
    SEMAPHORE_MBOX,
    STORE_DATA_IMM,
    STORE_DATA_INDEX,
    LOAD_REGISTER_IMM,
    UPDATE_GTT,
    STORE_REGISTER_MEM,
    BATCH_BUFFER_START,
    CONDITIONAL_BATCH_BUFFER_END,
];

/// Commands of the render engine alone.
pub const RENDER: &[Command] = &[
    mi(
        "MI_FLUSH",
        0x04,
        Length::One,
        &[
            flag(0, 1, "invalidate state and instructions"),
            flag(0, 2, "leave render cache"),
            flag(0, 3, "reset statistics"),
            flag(0, 4, "clear generic media state"),
            flag(0, 5, "indirect state pointers off"),
        ],
    ),
    mi(
        "MI_OVERLAY_FLIP",
        0x11,
        Length::Upto(5),
        &[number(0, 22, 21, "mode")],
    ),
    mi(
        "MI_LOAD_SCAN_LINES_INCL",
        0x12,
        Length::Upto(5),
        &[
            number(0, 21, 19, "plane"),
            number(1, 28, 16, "first line"),
            number(1, 12, 0, "last line"),
        ],
    ),
    mi(
        "MI_LOAD_SCAN_LINES_EXCL",
        0x13,
        Length::Upto(5),
        &[
            number(0, 21, 19, "plane"),
            number(1, 28, 16, "first line"),
            number(1, 12, 0, "last line"),
        ],
    ),
    mi(
        "MI_DISPLAY_FLIP",
        0x14,
        Length::Upto(5),
        &[
            flag(0, 22, "asynchronous"),
            number(0, 21, 20, "plane"),
            hex(1, 31, 0, "pitch"),
            address(2, 31, 12, "base"),
            flag(2, 0, "tiled"),
        ],
    ),
    mi(
        "MI_SET_CONTEXT",
        0x18,
        Length::Upto(7),
        &[
            address(1, 31, 12, "context"),
            flag(1, 8, "in the GGTT"),
            flag(1, 3, "save extended state"),
            flag(1, 2, "restore extended state"),
            flag(1, 1, "force restore"),
            flag(1, 0, "do not restore"),
        ],
    ),
    mi(
        "MI_URB_CLEAR",
        0x19,
        Length::Upto(7),
        &[number(1, 28, 16, "length"), hex(1, 13, 0, "offset")],
    ),
    mi(
        "MI_CLFLUSH",
        0x27,
        Length::Upto(9),
        &[
            GLOBAL,
            address(1, 31, 12, "page"),
            number(1, 11, 6, "first line"),
        ],
    )
    .tail(Tail::Data(2, "lines")),
    mi(
        "MI_REPORT_PERF_COUNT",
        0x28,
        Length::Upto(5),
        &[
            address(1, 31, 6, "address"),
            flag(1, 0, "GGTT"),
            hex(2, 31, 0, "id"),
        ],
    ),
];

/// The flush of the video engine and the blitter.
pub const FLUSH_DW: Command = mi(
    "MI_FLUSH_DW",
    0x26,
    Length::Upto(5),
    &[
        flag(0, 22, "protected"),
        flag(0, 21, "into the status page"),
        flag(0, 18, "invalidate TLB"),
        flag(0, 17, "synchronize GFDT"),
        choice(0, 15, 14, "then", POST_SYNC),
        flag(0, 8, "notify"),
        flag(0, 7, "invalidate video cache"),
        address(1, 31, 3, "address"),
        flag(1, 2, "GGTT"),
    ],
)
.tail(Tail::Data(2, "data"));
