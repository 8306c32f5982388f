// SPDX-License-Identifier: GPL-2.0
//! Generations that ouro does not drive, and people post error states of. They have no tables of their own: what is in
//! their commands is as in a neighbour's where both have the command, and [`crate::names`] has the rest.

use crate::command::{Command, Engine, Generation};
use crate::names::Era;
use crate::{draws, gen12, gen4, gen6, gen7};

/// 965G and GM965, whose PIPELINE_SELECT stands elsewhere.
pub static GEN965: Generation = Generation {
    name: "gen4-965",
    era: Some(Era::Gen4),
    ..gen4::GENERATION
};

/// Ironlake: the commands of G45, and some for depth.
pub static GEN5: Generation = Generation {
    name: "gen5",
    era: Some(Era::Gen5),
    ..gen4::GENERATION
};

/// Haswell.
pub static GEN75: Generation = Generation {
    name: "gen75",
    era: Some(Era::Gen75),
    ..gen7::GENERATION
};

/// Broadwell, the first whose addresses have two dwords.
pub static GEN8: Generation = wide("gen8", Era::Gen8);
/// Skylake and its kin.
pub static GEN9: Generation = wide("gen9", Era::Gen9);
/// Ice Lake.
pub static GEN11: Generation = wide("gen11", Era::Gen11);
/// Tiger Lake, before Gen12.5.
pub static GEN12: Generation = wide("gen12.0", Era::Gen12);

const fn wide(name: &'static str, era: Era) -> Generation {
    Generation {
        name,
        commands,
        unknown: gen6::unknown,
        register: gen12::registers::name,
        fields: |_| &[],
        padding: |header| (header == 0).then_some("MI_NOOP"),
        tells_header: true,
        era: Some(era),
    }
}

/// Of Gen12.5's commands those of the memory interface, PIPE_CONTROL and copies.
fn commands(engine: Engine) -> &'static [&'static [Command]] {
    match engine {
        Engine::Render | Engine::Compute => &[
            gen12::mi::COMMANDS,
            gen12::mi::EVENTS,
            gen12::mi::RENDER,
            gen12::render::SHARED,
            draws::GEN8,
        ],
        Engine::Blitter => &[
            gen12::mi::COMMANDS,
            gen12::mi::EVENTS,
            gen12::mi::FLUSHING,
            gen12::blt::COMMANDS,
        ],
        Engine::Video | Engine::Enhance => &[gen12::mi::COMMANDS, gen12::mi::FLUSHING],
    }
}
