// SPDX-License-Identifier: GPL-2.0
//! Ivy Bridge: the successor of Sandy Bridge, with a video engine that is documented.
//!
//! Sources: IHD-OS-V1 Pt 5 – 05 12, the document of the video engine's command streamer, cited by its section
//! (`VCS §1.1.6`) or by the row of the project's digest of it (`VCS-061`; what it leaves out: `V-10`). It gives the
//! ring registers of the other engines too. What concerns the render engine and the device around is the upstream
//! driver's, and what the command formats say the public XML of this generation's commands.
//!
//! It shares most with `gen6`: what is the same is in `intel::processor` and `intel::ring`. What is here: `chip` says
//! what it is among machines with a ring per engine, `engine` what its three engines are, `emit` what their requests
//! are made of; `check` decides which batches run with privilege; `workarounds` and `translation` bring it up;
//! `context`, `fences`, `golden` and `names` are formats; `details` is what a report says of the video engine alone.
//! `regs` are registers.

pub mod check;
mod chip;
mod context;
mod details;
mod display;
mod emit;
mod engine;
mod fences;
mod golden;
mod names;
mod regs;
mod translation;
mod workarounds;

use crate::intel::{
    processor::{pte, topology::Parts, Processor},
    ring::fixes::Fixes,
};
use chip::CHIP;

/// A chip of the generation, which differs from others in its render engine's workarounds and those of the device.
const fn processor(device: Fixes, render: Fixes) -> Processor {
    Processor {
        name: "gen7",
        chip: &CHIP,
        parts: Parts {
            engines: &engine::ENGINES,
            pages: &pte::ENTRIES,
            fences: &fences::FENCES,
            context: context::SIZE,
            // The upstream driver uses it there on this generation.
            directory_behind_iommu: true,
            own_directories: true,
            way: chip::way,
        },
        display: &display::PIPES,
        device,
        render,
        swizzle: regs::ARB_MODE_SWIZZLE,
        translation: translation::SETTINGS,
        // CVE-2019-14615. The upstream driver clears them by a program on the execution units, which no document
        // describes here.
        leftovers: true,
        // Each engine has a mode of its own, which is set when the directory is loaded.
        mode: |_, _| (),
    }
}

/// The smaller chip: GT1.
pub static GT1: Processor = processor(workarounds::DEVICE_GT1, workarounds::RENDER_GT1);
/// The larger chip: GT2.
pub static GT2: Processor = processor(workarounds::DEVICE_GT2, workarounds::RENDER_GT2);
