// SPDX-License-Identifier: GPL-2.0
//! Commands of the render engine that are Gen7's own. No document at hand describes them: names and
//! opcodes are the upstream driver's, and but for PIPE_CONTROL they are shown as numbers.

use crate::command::{Command, Length};
use crate::gen6::render::{media, pipe_control, state};
use crate::gen7::mi::{PIPE_CONTROL_RULES, PIPE_CONTROL_SPACE};

/// All of them.
pub const COMMANDS: &[Command] = &[
    pipe_control(PIPE_CONTROL_SPACE).warn(PIPE_CONTROL_RULES),
    state("SWTESS_BASE_ADDRESS", 0x6103),
    state("GPGPU_CSR_BASE_ADDRESS", 0x6104),
    media("GPGPU_OBJECT", 0x7104),
    media("GPGPU_WALKER", 0x7105),
    state("3DSTATE_CLEAR_PARAMS", 0x7804),
    state("3DSTATE_DEPTH_BUFFER", 0x7805),
    state("3DSTATE_STENCIL_BUFFER", 0x7806),
    state("3DSTATE_HIER_DEPTH_BUFFER", 0x7807),
    state("3DSTATE_CONSTANT_HS", 0x7819),
    state("3DSTATE_CONSTANT_DS", 0x781a),
    state("3DSTATE_HS", 0x781b),
    state("3DSTATE_TE", 0x781c),
    state("3DSTATE_DS", 0x781d),
    state("3DSTATE_STREAMOUT", 0x781e),
    state("3DSTATE_SBE", 0x781f),
    state("3DSTATE_PS", 0x7820),
    state("3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP", 0x7821),
    state("3DSTATE_VIEWPORT_STATE_POINTERS_CC", 0x7823),
    state("3DSTATE_BLEND_STATE_POINTERS", 0x7824),
    state("3DSTATE_DEPTH_STENCIL_STATE_POINTERS", 0x7825),
    state("3DSTATE_BINDING_TABLE_POINTERS_VS", 0x7826),
    state("3DSTATE_BINDING_TABLE_POINTERS_HS", 0x7827),
    state("3DSTATE_BINDING_TABLE_POINTERS_DS", 0x7828),
    state("3DSTATE_BINDING_TABLE_POINTERS_GS", 0x7829),
    state("3DSTATE_BINDING_TABLE_POINTERS_PS", 0x782a),
    state("3DSTATE_SAMPLER_STATE_POINTERS_VS", 0x782b),
    state("3DSTATE_SAMPLER_STATE_POINTERS_HS", 0x782c),
    state("3DSTATE_SAMPLER_STATE_POINTERS_DS", 0x782d),
    state("3DSTATE_SAMPLER_STATE_POINTERS_GS", 0x782e),
    state("3DSTATE_SAMPLER_STATE_POINTERS_PS", 0x782f),
    state("3DSTATE_URB_VS", 0x7830),
    state("3DSTATE_URB_HS", 0x7831),
    state("3DSTATE_URB_DS", 0x7832),
    state("3DSTATE_URB_GS", 0x7833),
    state("3DSTATE_PUSH_CONSTANT_ALLOC_VS", 0x7912),
    state("3DSTATE_PUSH_CONSTANT_ALLOC_HS", 0x7913),
    state("3DSTATE_PUSH_CONSTANT_ALLOC_DS", 0x7914),
    state("3DSTATE_PUSH_CONSTANT_ALLOC_GS", 0x7915),
    state("3DSTATE_PUSH_CONSTANT_ALLOC_PS", 0x7916),
    // Its length has nine bits.
    Command::new(
        "3DSTATE_SO_DECL_LIST",
        0xffff_0000,
        0x7917_0000,
        Length::Upto(8),
    ),
    state("3DSTATE_SO_BUFFER", 0x7918),
];
