// SPDX-License-Identifier: GPL-2.0
//! Gen7, Ivy Bridge: what it adds to Gen6's commands, or has instead, and the names of registers.
//!
//! The source is the chapter of the video engine (IVB PRM Vol 1 Part 5, here VCS PRM). Of the
//! render engine and the blitter no chapter is at hand: what is not known to differ is as on Gen6.

pub(crate) mod mi;
pub(crate) mod registers;
mod render;
mod video;

use crate::command::{Command, Engine, Generation};
use crate::draws;
use crate::gen6;
use crate::names::Era;

/// Gen7.
pub static GENERATION: Generation = Generation {
    name: "gen7",
    commands,
    unknown: gen6::unknown,
    register: registers::name,
    fields: |_| &[],
    padding: |header| (header == 0).then_some("MI_NOOP"),
    tells_header: true,
    era: Some(Era::Gen7),
};

pub(crate) fn commands(engine: Engine) -> &'static [&'static [Command]] {
    match engine {
        Engine::Render => &[
            gen6::mi::ALWAYS,
            gen6::mi::COMMON,
            mi::COMMANDS,
            mi::WAITS,
            mi::RENDER,
            gen6::mi::RENDER,
            draws::GEN7,
            gen6::render::COMMON,
            render::COMMANDS,
        ],
        Engine::Video => &[
            gen6::mi::ALWAYS,
            gen6::mi::COMMON,
            mi::COMMANDS,
            mi::VIDEO,
            mi::FLUSHING,
            video::NAMED,
            video::OTHERS,
        ],
        Engine::Blitter => &[
            gen6::mi::ALWAYS,
            gen6::mi::COMMON,
            mi::COMMANDS,
            mi::WAITS,
            mi::FLUSHING,
            gen6::blt::COMMANDS,
        ],
        // There are none of these.
        Engine::Enhance | Engine::Compute => &[gen6::mi::ALWAYS, gen6::mi::COMMON, mi::COMMANDS],
    }
}

#[cfg(test)]
mod tests;
