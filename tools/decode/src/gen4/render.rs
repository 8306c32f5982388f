// SPDX-License-Identifier: GPL-2.0
//! 3D and media commands of Gen4. Of most only name and length are told.

use crate::command::{address, choice, flag, Command, Length, Tail};
use crate::gen6::render::{command, media, state, COUNTS, DRAWING_RECTANGLE, PIPELINE, THEN};

/// Its flags are in the header (the upstream driver's headers).
const PIPE_CONTROL: Command = command(
    "PIPE_CONTROL",
    0x7a00,
    Length::Upto(7),
    &[
        choice(0, 15, 14, "then", THEN),
        flag(0, 13, "stall for depth"),
        flag(0, 12, "flush render cache"),
        flag(0, 11, "invalidate instruction and state cache"),
        flag(0, 10, "invalidate texture cache"),
        flag(0, 9, "indirect state pointers off"),
        flag(0, 8, "notify"),
        address(1, 31, 3, "address"),
        flag(1, 2, "GGTT"),
    ],
)
.tail(Tail::Data(2, "data"));

/// All of them. PIPELINE_SELECT and 3DSTATE_VF_STATISTICS are at 6104h and 780Bh on 965G and GM965.
pub const COMMANDS: &[Command] = &[
    state("URB_FENCE", 0x6000),
    state("CS_URB_STATE", 0x6001),
    state("CONSTANT_BUFFER", 0x6002),
    state("STATE_BASE_ADDRESS", 0x6101),
    state("STATE_SIP", 0x6102),
    command("PIPELINE_SELECT", 0x6104, Length::One, PIPELINE),
    command("PIPELINE_SELECT", 0x6904, Length::One, PIPELINE),
    command("3DSTATE_VF_STATISTICS", 0x680b, Length::One, COUNTS),
    command("3DSTATE_VF_STATISTICS", 0x780b, Length::One, COUNTS),
    media("MEDIA_STATE_POINTERS", 0x7000),
    media("MEDIA_OBJECT", 0x7100),
    media("MEDIA_OBJECT_EX", 0x7101),
    state("3DSTATE_PIPELINED_POINTERS", 0x7800),
    state("3DSTATE_BINDING_TABLE_POINTERS", 0x7801),
    state("3DSTATE_VERTEX_BUFFERS", 0x7808),
    state("3DSTATE_VERTEX_ELEMENTS", 0x7809),
    state("3DSTATE_INDEX_BUFFER", 0x780a),
    DRAWING_RECTANGLE,
    state("3DSTATE_CONSTANT_COLOR", 0x7901),
    state("3DSTATE_SAMPLER_PALETTE_LOAD0", 0x7902),
    state("3DSTATE_CHROMA_KEY", 0x7904),
    state("3DSTATE_DEPTH_BUFFER", 0x7905),
    state("3DSTATE_POLY_STIPPLE_OFFSET", 0x7906),
    state("3DSTATE_POLY_STIPPLE_PATTERN", 0x7907),
    state("3DSTATE_LINE_STIPPLE", 0x7908),
    state("3DSTATE_GLOBAL_DEPTH_OFFSET_CLAMP", 0x7909),
    state("3DSTATE_AA_LINE_PARAMETERS", 0x790a),
    state("3DSTATE_GS_SVB_INDEX", 0x790b),
    PIPE_CONTROL,
    state("3DPRIMITIVE", 0x7b00),
];
