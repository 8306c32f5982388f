// SPDX-License-Identifier: GPL-2.0
//! Commands of the render engine of Gen6: client 3, sub-type in 28:27, opcode in 26:24, sub-opcode
//! in 23:16. The documents at hand name them; only PIPE_CONTROL's bits are known in full (the
//! upstream driver's headers), so the others are shown with their dwords as numbers.

use crate::command::{address, choice, flag, number, Command, Field, Length, Tail};

/// Bits 31:16.
const MASK: u32 = 0xffff_0000;

/// A command of this client, by bits 31:16 of its header.
pub const fn command(
    name: &'static str,
    head: u32,
    length: Length,
    fields: &'static [Field],
) -> Command {
    Command::new(name, MASK, head << 16, length).with(fields)
}

/// A command that sets state: shown as numbers.
pub const fn state(name: &'static str, head: u32) -> Command {
    command(name, head, Length::Upto(7), &[])
}

/// A media command: shown as numbers.
pub const fn media(name: &'static str, head: u32) -> Command {
    command(name, head, Length::Upto(15), &[])
}

/// What PIPE_CONTROL does when all before it is done.
pub const THEN: &[(u32, &str)] = &[
    (0, "nothing"),
    (1, "store immediate"),
    (2, "store depth count"),
    (3, "store time stamp"),
];

/// Of PIPELINE_SELECT.
pub const PIPELINE: &[Field] = &[choice(0, 1, 0, "pipeline", &[(0, "3D"), (1, "media")])];
/// Of 3DSTATE_VF_STATISTICS.
pub const COUNTS: &[Field] = &[flag(0, 0, "count")];

/// What PIPE_CONTROL flushes, invalidates and waits for: dword 1, the same on Gen7.
pub const FLUSHES: &[Field] = &[
    flag(1, 0, "flush depth cache"),
    flag(1, 1, "stall at pixel scoreboard"),
    flag(1, 2, "invalidate state cache"),
    flag(1, 3, "invalidate constant cache"),
    flag(1, 4, "invalidate vertex cache"),
    flag(1, 5, "flush data cache"),
    flag(1, 8, "notify"),
    flag(1, 9, "indirect state pointers off"),
    flag(1, 10, "invalidate texture cache"),
    flag(1, 11, "invalidate instruction cache"),
    flag(1, 12, "flush render cache"),
    flag(1, 13, "stall for depth"),
    choice(1, 15, 14, "then", THEN),
    flag(1, 16, "clear generic media state"),
    flag(1, 17, "synchronize GFDT"),
    flag(1, 18, "invalidate TLB"),
    flag(1, 19, "reset statistics"),
    flag(1, 20, "stall command streamer"),
    flag(1, 21, "into the status page"),
];

const PLACE: &[Field] = &[address(2, 31, 3, "address")];

/// A flush of the 3D pipe; `space` says which table the address in dword 2 is in.
pub const fn pipe_control(space: &'static [Field]) -> Command {
    command("PIPE_CONTROL", 0x7a00, Length::Upto(7), &[])
        .groups([FLUSHES, PLACE, space])
        .tail(Tail::Data(3, "data"))
}

/// The rectangle that drawing is clipped to.
pub const DRAWING_RECTANGLE: Command = command(
    "3DSTATE_DRAWING_RECTANGLE",
    0x7900,
    Length::Upto(7),
    &[
        number(1, 15, 0, "left"),
        number(1, 31, 16, "top"),
        number(2, 15, 0, "right"),
        number(2, 31, 16, "bottom"),
    ],
);

/// Those that Gen7 has as well.
pub const COMMON: &[Command] = &[
    state("STATE_BASE_ADDRESS", 0x6101),
    state("STATE_SIP", 0x6102),
    command("PIPELINE_SELECT", 0x6904, Length::One, PIPELINE),
    command("3DSTATE_VF_STATISTICS", 0x680b, Length::One, COUNTS),
    command("3DSTATE_VF_STATISTICS", 0x690b, Length::One, COUNTS),
    media("MEDIA_VFE_STATE", 0x7000),
    media("MEDIA_CURBE_LOAD", 0x7001),
    media("MEDIA_INTERFACE_DESCRIPTOR_LOAD", 0x7002),
    media("MEDIA_GATEWAY_STATE", 0x7003),
    media("MEDIA_STATE_FLUSH", 0x7004),
    media("MEDIA_OBJECT", 0x7100),
    media("MEDIA_OBJECT_PRT", 0x7102),
    media("MEDIA_OBJECT_WALKER", 0x7103),
    state("3DSTATE_VERTEX_BUFFERS", 0x7808),
    state("3DSTATE_VERTEX_ELEMENTS", 0x7809),
    state("3DSTATE_INDEX_BUFFER", 0x780a),
    state("3DSTATE_CC_STATE_POINTERS", 0x780e),
    state("3DSTATE_SCISSOR_STATE_POINTERS", 0x780f),
    state("3DSTATE_VS", 0x7810),
    state("3DSTATE_GS", 0x7811),
    state("3DSTATE_CLIP", 0x7812),
    state("3DSTATE_SF", 0x7813),
    state("3DSTATE_WM", 0x7814),
    state("3DSTATE_CONSTANT_VS", 0x7815),
    state("3DSTATE_CONSTANT_GS", 0x7816),
    state("3DSTATE_CONSTANT_PS", 0x7817),
    state("3DSTATE_SAMPLE_MASK", 0x7818),
    DRAWING_RECTANGLE,
    state("3DSTATE_SAMPLER_PALETTE_LOAD0", 0x7902),
    state("3DSTATE_CHROMA_KEY", 0x7904),
    state("3DSTATE_POLY_STIPPLE_OFFSET", 0x7906),
    state("3DSTATE_POLY_STIPPLE_PATTERN", 0x7907),
    state("3DSTATE_LINE_STIPPLE", 0x7908),
    state("3DSTATE_AA_LINE_PARAMETERS", 0x790a),
    state("3DSTATE_SAMPLER_PALETTE_LOAD1", 0x790c),
    state("3DSTATE_MULTISAMPLE", 0x790d),
    state("3DSTATE_MONOFILTER_SIZE", 0x7911),
    state("3DPRIMITIVE", 0x7b00),
];

/// Those that it has not, or elsewhere.
pub const OWN: &[Command] = &[
    pipe_control(&[flag(2, 2, "GGTT")]),
    state("3DSTATE_BINDING_TABLE_POINTERS", 0x7801),
    state("3DSTATE_SAMPLER_STATE_POINTERS", 0x7802),
    state("3DSTATE_URB", 0x7805),
    state("3DSTATE_VIEWPORT_STATE_POINTERS", 0x780d),
    state("3DSTATE_DEPTH_BUFFER", 0x7905),
    state("3DSTATE_GS_SVB_INDEX", 0x790b),
    state("3DSTATE_STENCIL_BUFFER", 0x790e),
    state("3DSTATE_HIER_DEPTH_BUFFER", 0x790f),
    state("3DSTATE_CLEAR_PARAMS", 0x7910),
];
