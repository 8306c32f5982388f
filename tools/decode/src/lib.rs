// SPDX-License-Identifier: GPL-2.0
//! Error states, batches and rings in words.
//!
//! [`state`] reads the text that `Documentation/gpu/ouro/error-state.rst` describes, [`report`] prints
//! it. [`posts`] reads what people post of a hang: error states of i915, core dumps of xe, logs. [`stream`] cuts dwords
//! into commands and [`mod@print`] writes them, a line for each dword; [`words`] has them in a line. What the
//! commands of a chip are is in a table of each generation: [`gen4`], [`gen6`], [`gen7`], [`gen12`], [`r5xx`], and
//! for draws in [`draws`]; [`names`] has the names and lengths of the others. The
//! tables are this program's own, written from the documents: they share nothing with the driver or the models.
//!
//! Everything here takes whatever bytes it is given: they may come from a GPU that wrote nonsense.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod command;
pub mod digits;
pub mod draws;
pub mod gen12;
pub mod gen4;
pub mod gen6;
pub mod gen7;
pub mod kin;
pub mod names;
pub mod posts;
pub mod print;
pub mod r5xx;
pub mod report;
pub mod state;
pub mod stream;
pub mod trace;
pub mod words;

use command::{Engine, Generation};

/// All generations; a new one is a file and a line here.
pub const GENERATIONS: &[&Generation] = &[
    &kin::GEN965,
    &gen4::GENERATION,
    &kin::GEN5,
    &gen6::GENERATION,
    &gen7::GENERATION,
    &kin::GEN75,
    &kin::GEN8,
    &kin::GEN9,
    &kin::GEN11,
    &kin::GEN12,
    &gen12::GENERATION,
    &r5xx::GENERATION,
];

/// The generation with a name, as an error state gives it.
pub fn generation(name: &str) -> Option<&'static Generation> {
    GENERATIONS.iter().copied().find(|g| g.name == name)
}

/// The kind of an engine by its name in an error state, for example `rcs0`.
pub fn engine(name: &str) -> Option<Engine> {
    let class = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match class {
        "rcs" => Some(Engine::Render),
        "vcs" => Some(Engine::Video),
        "vecs" => Some(Engine::Enhance),
        "bcs" => Some(Engine::Blitter),
        "ccs" => Some(Engine::Compute),
        _ => None,
    }
}
