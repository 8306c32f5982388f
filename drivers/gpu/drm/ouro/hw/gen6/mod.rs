// SPDX-License-Identifier: GPL-2.0
//! Sandy Bridge: three rings, one global table, and a directory behind it that says the same.
//!
//! Sources: SNB PRM Volume 1 Part 2 (May 2011), cited by its section (`§5.3.8`); what it leaves out
//! (most offsets and all command bits) by the row (`G-nn`) or section of the project's digest of it,
//! which says where each value is from. What is the same for the video engine of the next generation is
//! cited as `VCS §n`, that engine's document.
//!
//! What machines with a ring per engine have in common is in `intel::ring`; `chip` says what this one is
//! among them, `engine` what its three engines are, `emit` what their requests are made of. What it shares with the
//! next generation is in `intel::processor`. Its own, one file for each concept: `workarounds` and `translation`
//! bring it up; `fences`, `context` and `golden` are formats in memory and registers (`names`: of their
//! bits); `display` is where the firmware's planes are.

mod chip;
mod context;
mod display;
mod emit;
pub(crate) mod engine;
mod fences;
mod golden;
mod gt_regs;
pub(crate) mod names;
mod regs;
mod translation;
mod workarounds;

use crate::intel::processor::{pte, topology::Parts, Processor};

pub(crate) use chip::CHIP;
#[cfg(test)]
pub(crate) use display::PIPES;

/// The generation.
pub static GEN6: Processor = Processor {
    name: "gen6",
    chip: &CHIP,
    parts: Parts {
        engines: &engine::ENGINES,
        pages: &pte::ENTRIES,
        fences: &fences::FENCES,
        // A batch without privilege is confined by the chip (§5.3.7.6, G-44).
        context: context::SIZE,
        directory_behind_iommu: false,
        own_directories: false,
        way: |_| 0,
    },
    display: &display::PIPES,
    device: workarounds::DEVICE,
    render: workarounds::RENDER,
    swizzle: gt_regs::ARB_MODE_SWIZZLE,
    translation: translation::SETTINGS,
    // Nobody is known to clear any on this chip.
    leftovers: false,
    mode: translation::mode,
};
