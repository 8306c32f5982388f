// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Sandy Bridge: three rings, a GGTT and an aliasing PPGTT.
//!
//! Sources: SNB PRM Volume 1 Part 2 (May 2011), cited by section (`§5.3.8`). The document omits
//! most offsets and all command bits; these are cited by row (`G-nn`) or section of the project's
//! digest, which has the source of each value. Facts that also hold for the video engine of Gen7
//! are cited from that engine's document (`VCS §n`).
//!
//! `intel::ring` drives all machines with a ring per engine; `chip` describes this one, `engine`
//! its three engines, `emit` the commands of their requests. `intel::processor` has the parts
//! shared with Gen7. The others are specific to this generation: `workarounds` and `translation`
//! bring the chip up; `fences`, `context` and `golden` are formats, `names` has the names of status
//! bits, `display` the display pipes.

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

use crate::intel::processor::{topology::Parts, Processor};

pub(crate) use chip::CHIP;
#[cfg(test)]
pub(crate) use display::PIPES;

/// The description of the generation.
pub static GEN6: Processor = Processor {
    name: "gen6",
    chip: &CHIP,
    parts: Parts {
        engines: &engine::ENGINES,
        fences: &fences::FENCES,
        // The chip confines an unprivileged batch (§5.3.7.6, G-44).
        context: context::SIZE,
        directory_behind_iommu: false,
        own_directories: false,
        method: |_| 0,
    },
    display: &display::PIPES,
    device: workarounds::DEVICE,
    render: workarounds::RENDER,
    swizzle: gt_regs::ARB_MODE_SWIZZLE,
    translation: translation::SETTINGS,
    // No driver is known to clear registers on this chip.
    leftovers: false,
    mode: translation::mode,
};
