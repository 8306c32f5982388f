// SPDX-License-Identifier: GPL-2.0
//! Memory-interface commands of Gen12.5: client 0, opcode in 28:23 (DG2 PRM Vol 8 "Memory Interface
//! Commands for RCP"; layouts from the digest §2.1). Addresses have two dwords, the lower one first.

use crate::command::{
    address, bits, choice, flag, hex, number, Command, Field, Flow, Length, Show, Tail,
};

/// Bits 31:23: client and opcode.
const MASK: u32 = 0xff80_0000;

const fn mi(name: &'static str, opcode: u32, length: Length, fields: &'static [Field]) -> Command {
    Command::new(name, MASK, opcode << 23, length).with(fields)
}

const GLOBAL: Field = flag(0, 22, "GGTT");
/// Registers are told by their place in the block of the engine that runs the command.
const OWN: Field = flag(0, 19, "of this engine");
const REMAP: Field = flag(0, 17, "remapped");
const REGISTER: Field = bits(1, 22, 2, "register", Show::Register);

/// The upper dword of an address.
pub const fn above(dword: usize) -> Field {
    bits(dword, 31, 0, "address above", Show::Some)
}

const fn low(dword: usize) -> Field {
    address(dword, 31, 2, "address")
}

/// What is stored after a flush.
pub const POST_SYNC: &[(u32, &str)] = &[
    (0, "nothing"),
    (1, "store immediate"),
    (2, "store depth count"),
    (3, "store time stamp"),
];

/// What a semaphore waits for: memory, and the data in the command.
const RELATIONS: &[(u32, &str)] = &[
    (0, "greater"),
    (1, "greater or equal"),
    (2, "less"),
    (3, "less or equal"),
    (4, "equal"),
    (5, "not equal"),
];

/// Operations of MI_ATOMIC on dwords; on quadwords they are 20h above.
const ATOMICS: &[(u32, &str)] = &[
    (0x01, "and"),
    (0x02, "or"),
    (0x03, "xor"),
    (0x04, "move"),
    (0x05, "increment"),
    (0x06, "decrement"),
    (0x07, "add"),
    (0x08, "subtract"),
    (0x09, "reverse subtract"),
    (0x0a, "maximum"),
    (0x0b, "minimum"),
    (0x0c, "unsigned maximum"),
    (0x0d, "unsigned minimum"),
    (0x0e, "compare and write"),
    (0x0f, "predecrement"),
];

const ALU: Field = choice(
    1,
    31,
    20,
    "alu",
    &[
        (0x000, "NOOP"),
        (0x001, "FENCE_RD"),
        (0x002, "FENCE_WR"),
        (0x080, "LOAD"),
        (0x081, "LOAD0"),
        (0x082, "LOADIND"),
        (0x100, "ADD"),
        (0x101, "SUB"),
        (0x102, "AND"),
        (0x103, "OR"),
        (0x104, "XOR"),
        (0x105, "SHL"),
        (0x106, "SHR"),
        (0x107, "SAR"),
        (0x180, "STORE"),
        (0x181, "STOREIND"),
        (0x480, "LOADINV"),
        (0x481, "LOAD1"),
        (0x580, "STOREINV"),
    ],
);

const OPERANDS: &[(u32, &str)] = &[
    (0x00, "R0"),
    (0x01, "R1"),
    (0x02, "R2"),
    (0x03, "R3"),
    (0x04, "R4"),
    (0x05, "R5"),
    (0x06, "R6"),
    (0x07, "R7"),
    (0x08, "R8"),
    (0x09, "R9"),
    (0x0a, "R10"),
    (0x0b, "R11"),
    (0x0c, "R12"),
    (0x0d, "R13"),
    (0x0e, "R14"),
    (0x0f, "R15"),
    (0x20, "SRCA"),
    (0x21, "SRCB"),
    (0x31, "ACCU"),
    (0x32, "ZF"),
    (0x33, "CF"),
];

const TO: Field = choice(1, 19, 10, "to", OPERANDS);
const FROM: Field = choice(1, 9, 0, "from", OPERANDS);

/// Instructions of the ALU: those that load and store have operands.
fn alu(all: &[u32], n: usize) -> &'static [Field] {
    match all.get(n).map_or(0, |dword| dword >> 20) {
        0x080 | 0x082 | 0x480 | 0x180 | 0x181 | 0x580 => &[ALU, TO, FROM],
        0x081 | 0x481 => &[ALU, TO],
        _ => &[ALU],
    }
}

/// Commands of every engine.
pub const COMMANDS: &[Command] = &[
    mi(
        "MI_NOOP",
        0x00,
        Length::One,
        &[flag(0, 22, "write id"), bits(0, 21, 0, "id", Show::Some)],
    ),
    mi(
        "MI_SET_PREDICATE",
        0x01,
        Length::One,
        &[choice(
            0,
            3,
            0,
            "skips",
            &[
                (0, "never"),
                (1, "if RESULT_2 is clear"),
                (2, "if RESULT_2 is set"),
                (3, "if RESULT is clear"),
                (4, "if RESULT is set"),
                (15, "always"),
            ],
        )],
    ),
    mi("MI_USER_INTERRUPT", 0x02, Length::One, &[]),
    mi(
        "MI_ARB_CHECK",
        0x05,
        Length::One,
        &[flag(0, 8, "sets the pre-parser"), flag(0, 0, "off")],
    ),
    mi("MI_REPORT_HEAD", 0x07, Length::One, &[]),
    mi(
        "MI_ARB_ON_OFF",
        0x08,
        Length::One,
        &[choice(0, 0, 0, "arbitration", &[(0, "off"), (1, "on")])],
    ),
    mi(
        "MI_BATCH_BUFFER_END",
        0x0a,
        Length::One,
        &[flag(0, 15, "predicate"), flag(0, 0, "end of the image")],
    )
    .flow(Flow::End),
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
    mi(
        "MI_MATH",
        0x1a,
        Length::Upto(7),
        &[flag(0, 15, "predicate")],
    )
    .tail(Tail::Layout(alu)),
    mi(
        "MI_SEMAPHORE_SIGNAL",
        0x1b,
        Length::Upto(7),
        &[
            flag(0, 21, "after a flush"),
            number(0, 17, 15, "engine"),
            hex(1, 31, 0, "context"),
        ],
    ),
    mi(
        "MI_SEMAPHORE_WAIT",
        0x1c,
        Length::Upto(7),
        &[
            GLOBAL,
            flag(0, 16, "for a register"),
            flag(0, 15, "polls"),
            choice(0, 14, 12, "until memory is", RELATIONS),
            hex(1, 31, 0, "data"),
            low(2),
            above(3),
            hex(4, 31, 0, "token"),
        ],
    ),
    mi(
        "MI_STORE_DATA_IMM",
        0x20,
        Length::Upto(9),
        &[
            GLOBAL,
            flag(0, 21, "quadwords"),
            flag(0, 10, "waits for it"),
            low(1),
            above(2),
        ],
    )
    .tail(Tail::Data(3, "data")),
    mi(
        "MI_STORE_DATA_INDEX",
        0x21,
        Length::Upto(7),
        &[
            flag(0, 21, "in the context's page"),
            bits(1, 11, 2, "byte offset in the status page", Show::Address),
        ],
    )
    .tail(Tail::Data(2, "data")),
    mi(
        "MI_LOAD_REGISTER_IMM",
        0x22,
        Length::Upto(7),
        &[
            OWN,
            REMAP,
            flag(0, 12, "posted"),
            bits(0, 11, 8, "bytes not written", Show::Some),
        ],
    )
    .tail(Tail::Registers),
    mi(
        "MI_UPDATE_GTT",
        0x23,
        Length::Upto(9),
        &[address(1, 31, 12, "first page")],
    )
    .tail(Tail::Data(2, "table entry")),
    mi(
        "MI_STORE_REGISTER_MEM",
        0x24,
        Length::Upto(7),
        &[
            GLOBAL,
            flag(0, 21, "predicate"),
            OWN,
            REGISTER,
            low(2),
            above(3),
        ],
    ),
    mi(
        "MI_LOAD_REGISTER_MEM",
        0x29,
        Length::Upto(7),
        &[
            GLOBAL,
            flag(0, 21, "asynchronous"),
            OWN,
            REGISTER,
            low(2),
            above(3),
        ],
    ),
    mi(
        "MI_LOAD_REGISTER_REG",
        0x2a,
        Length::Upto(7),
        &[
            flag(0, 19, "to this engine's"),
            flag(0, 18, "from this engine's"),
            bits(1, 22, 2, "from", Show::Register),
            bits(2, 22, 2, "to", Show::Register),
        ],
    ),
    mi(
        "MI_COPY_MEM_MEM",
        0x2e,
        Length::Upto(7),
        &[
            flag(0, 22, "from the GGTT"),
            flag(0, 21, "to the GGTT"),
            address(1, 31, 2, "to"),
            above(2),
            address(3, 31, 2, "from"),
            above(4),
        ],
    ),
    mi(
        "MI_ATOMIC",
        0x2f,
        Length::Upto(7),
        &[
            GLOBAL,
            flag(0, 21, "after a flush"),
            choice(
                0,
                20,
                19,
                "size",
                &[(0, "dword"), (1, "quadword"), (2, "two quadwords")],
            ),
            flag(0, 18, "data here"),
            flag(0, 17, "stall command streamer"),
            flag(0, 16, "returns data"),
            // Bits 5 and 6 say the size again.
            choice(0, 12, 8, "operation", ATOMICS),
            low(1),
            above(2),
        ],
    )
    .tail(Tail::Data(3, "operand")),
    mi(
        "MI_BATCH_BUFFER_START",
        0x31,
        Length::Upto(7),
        &[
            choice(
                0,
                8,
                8,
                "in",
                &[(0, "the GGTT"), (1, "the context's space")],
            ),
            flag(0, 22, "returns here"),
            flag(0, 16, "plus BB_OFFSET"),
            flag(0, 15, "predicate"),
            address(1, 31, 2, "batch"),
            above(2),
        ],
    )
    .flow(Flow::Wide),
    mi(
        "MI_CONDITIONAL_BATCH_BUFFER_END",
        0x36,
        Length::Upto(7),
        &[
            GLOBAL,
            flag(0, 21, "compare"),
            hex(1, 31, 0, "data"),
            address(2, 31, 3, "address"),
            above(3),
        ],
    ),
    mi("MI_PRT_BATCH_BUFFER_START", 0x39, Length::Upto(7), &[]),
];

/// Commands of the render engine and the blitter.
pub const EVENTS: &[Command] = &[
    mi(
        "MI_WAIT_FOR_EVENT",
        0x03,
        Length::One,
        &[hex(0, 22, 0, "events")],
    ),
    mi(
        "MI_WAIT_FOR_EVENT_2",
        0x04,
        Length::One,
        &[hex(0, 22, 0, "events")],
    ),
    mi("MI_LOAD_SCAN_LINES_INCL", 0x12, Length::Upto(5), &[]),
    mi("MI_LOAD_SCAN_LINES_EXCL", 0x13, Length::Upto(5), &[]),
    mi("MI_DISPLAY_FLIP", 0x14, Length::Upto(7), &[]),
];

/// Commands of the render and compute engines.
pub const RENDER: &[Command] = &[
    mi(
        "MI_PREDICATE",
        0x0c,
        Length::One,
        &[
            choice(
                0,
                7,
                6,
                "load",
                &[(0, "keeps"), (2, "loads"), (3, "loads inverted")],
            ),
            choice(
                0,
                4,
                3,
                "combine",
                &[(0, "set"), (1, "and"), (2, "or"), (3, "xor")],
            ),
            choice(
                0,
                1,
                0,
                "compare",
                &[
                    (0, "true"),
                    (1, "false"),
                    (2, "sources equal"),
                    (3, "deltas equal"),
                ],
            ),
        ],
    ),
    mi("MI_TOPOLOGY_FILTER", 0x0d, Length::One, &[]),
    mi(
        "MI_SET_APPID",
        0x0e,
        Length::One,
        &[number(0, 6, 0, "session")],
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
    mi("MI_CLFLUSH", 0x27, Length::Upto(9), &[]),
    mi(
        "MI_REPORT_PERF_COUNT",
        0x28,
        Length::Upto(5),
        &[
            address(1, 31, 6, "address"),
            flag(1, 0, "GGTT"),
            above(2),
            hex(3, 31, 0, "id"),
        ],
    ),
];

/// Commands of all engines but that of render.
pub const FLUSHING: &[Command] = &[
    mi(
        "MI_FORCE_WAKEUP",
        0x1d,
        Length::Upto(7),
        &[
            hex(1, 31, 16, "mask"),
            flag(1, 0, "media"),
            flag(1, 1, "render"),
            bits(1, 9, 2, "media parts", Show::Some),
        ],
    ),
    mi(
        "MI_FLUSH_DW",
        0x26,
        Length::Upto(5),
        &[
            flag(0, 22, "protected"),
            flag(0, 21, "into the status page"),
            flag(0, 18, "invalidate TLB"),
            flag(0, 16, "flush compression"),
            choice(0, 15, 14, "then", POST_SYNC),
            flag(0, 9, "flush last-level cache"),
            flag(0, 8, "notify"),
            flag(0, 7, "invalidate video cache"),
            address(1, 31, 3, "address"),
            flag(1, 2, "GGTT"),
            above(2),
        ],
    )
    .tail(Tail::Data(3, "data")),
];
