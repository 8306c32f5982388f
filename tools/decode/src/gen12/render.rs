// SPDX-License-Identifier: GPL-2.0
//! Commands of the render and compute engines of Gen12.5: client 3, sub-type in 28:27, opcode in 26:24,
//! sub-opcode in 23:16 (digest §2.2). Only PIPE_CONTROL's bits are told; of the others the length.

use super::mi::{above, POST_SYNC};
use crate::command::{address, choice, flag, Command, Field, Length, Tail};

/// Bits 31:16.
const MASK: u32 = 0xffff_0000;

const fn command(
    name: &'static str,
    head: u32,
    length: Length,
    fields: &'static [Field],
) -> Command {
    Command::new(name, MASK, head << 16, length).with(fields)
}

const fn state(name: &'static str, head: u32) -> Command {
    command(name, head, Length::Upto(7), &[])
}

const PIPE_CONTROL: Command = command(
    "PIPE_CONTROL",
    0x7a00,
    Length::Upto(7),
    &[
        flag(0, 9, "flush HDC pipeline"),
        flag(0, 10, "invalidate L3 read-only"),
        flag(0, 11, "flush untyped data port"),
        flag(0, 12, "drain queue"),
        flag(1, 0, "flush depth cache"),
        flag(1, 1, "stall at pixel scoreboard"),
        flag(1, 2, "invalidate state cache"),
        flag(1, 3, "invalidate constant cache"),
        flag(1, 4, "invalidate vertex cache"),
        flag(1, 5, "flush data cache"),
        flag(1, 7, "flush"),
        flag(1, 8, "notify"),
        flag(1, 9, "indirect state pointers off"),
        flag(1, 10, "invalidate texture cache"),
        flag(1, 11, "invalidate instruction cache"),
        flag(1, 12, "flush render cache"),
        flag(1, 13, "stall for depth"),
        choice(1, 15, 14, "then", POST_SYNC),
        flag(1, 16, "clear media state"),
        flag(1, 17, "synchronize PSD"),
        flag(1, 18, "invalidate TLB"),
        flag(1, 19, "reset global snapshot"),
        flag(1, 20, "stall command streamer"),
        flag(1, 21, "into the status page"),
        flag(1, 23, "into a register"),
        flag(1, 24, "GGTT"),
        flag(1, 25, "flush AMFS"),
        flag(1, 27, "flush L3"),
        flag(1, 28, "flush tile cache"),
        flag(1, 29, "invalidate command cache"),
        address(2, 31, 2, "address"),
        above(3),
    ],
)
.tail(Tail::Data(4, "data"));

/// What Gen8 and later have in one shape.
pub const SHARED: &[Command] = &[
    PIPE_CONTROL,
    command("PIPELINE_SELECT", 0x6904, Length::One, &[]),
];

/// All that are named.
pub const COMMANDS: &[Command] = &[
    PIPE_CONTROL,
    state("STATE_BASE_ADDRESS", 0x6101),
    command("PIPELINE_SELECT", 0x6904, Length::One, &[]),
    command("CFE_STATE", 0x7200, Length::Upto(15), &[]),
    command(
        "COMPUTE_WALKER",
        0x7208,
        Length::Upto(7),
        &[flag(0, 8, "predicate")],
    ),
    state("3DSTATE_WM_HZ_OP", 0x7852),
    state("3DSTATE_MESH_CONTROL", 0x7877),
    state("3DPRIMITIVE", 0x7b00),
    state("EXECUTE_INDIRECT_DRAW", 0x7c00),
    state("EXECUTE_INDIRECT_DISPATCH", 0x7c01),
];
