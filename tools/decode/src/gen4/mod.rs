// SPDX-License-Identifier: GPL-2.0
//! Gen4, 965G to GM45: its commands by engine, and the names of registers.
//!
//! Commands of the memory interface are those of G45 PRM Vol 1b chapters 1 and 2, the blitter's those of chapter 8;
//! they ride the render ring. The 3D volume is not at hand: names, places and lengths of its commands are from a real
//! GM45's batch and the user-space driver. Where 965 and its successors have a command at different places, both are
//! named.

mod mi;
pub(crate) mod registers;
mod render;

use crate::command::{Engine, Generation};
use crate::draws;
use crate::names::Era;
use crate::{command::Command, gen6};
use std::borrow::Cow;

/// Gen4.
pub static GENERATION: Generation = Generation {
    name: "gen4",
    commands,
    unknown: gen6::unknown,
    register: |offset| registers::name(offset).map(Cow::Borrowed),
    fields: |_| &[],
    padding: |header| (header == 0).then_some("MI_NOOP"),
    tells_header: true,
    era: Some(Era::G4x),
};

pub(crate) fn commands(engine: Engine) -> &'static [&'static [Command]] {
    match engine {
        Engine::Render => &[
            gen6::mi::ALWAYS,
            mi::COMMON,
            mi::RENDER,
            gen6::blt::COMMANDS,
            draws::GEN4,
            render::COMMANDS,
        ],
        Engine::Video => &[
            gen6::mi::ALWAYS,
            mi::COMMON,
            mi::VIDEO,
            gen6::video::COMMANDS,
        ],
        // There are none of these.
        Engine::Blitter | Engine::Enhance | Engine::Compute => &[gen6::mi::ALWAYS, mi::COMMON],
    }
}

#[cfg(test)]
mod tests;
