// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Ivy Bridge: the successor of Sandy Bridge, with a documented video engine.
//!
//! Sources: IHD-OS-V1 Pt 5 – 05 12, the document of the video engine's command streamer, cited by
//! section (`VCS §1.1.6`) or by row of the project's digest of it (`VCS-061`; facts that it omits:
//! `V-10`). The document has the ring registers of the other engines, too. Facts about the render
//! engine and the device are the upstream driver's; command formats are those of the public XML of
//! this generation's commands.
//!
//! Most code is shared with `gen6`, in `intel::processor` and `intel::ring`. The files here are
//! specific to this generation: `chip` describes it as a machine with a ring per engine, `engine`
//! its three engines, `emit` the commands of their requests; `check` decides which batches run
//! privileged; `workarounds` and `translation` bring the chip up; `context`, `fences`, `golden` and
//! `names` are formats; `details` has the video engine's diagnostics; `regs` are registers.

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
    processor::{topology::Parts, Processor},
    ring::fixes::Fixes,
};
use chip::CHIP;

/// Creates a chip of the generation from the workarounds of the device and of the render engine.
const fn processor(device: Fixes, render: Fixes) -> Processor {
    Processor {
        name: "gen7",
        chip: &CHIP,
        parts: Parts {
            engines: &engine::ENGINES,
            fences: &fences::FENCES,
            context: context::SIZE,
            // The upstream driver uses it behind an IOMMU on this generation.
            directory_behind_iommu: true,
            own_directories: true,
            method: chip::method,
        },
        display: &display::PIPES,
        device,
        render,
        swizzle: regs::ARB_MODE_SWIZZLE,
        translation: translation::SETTINGS,
        // CVE-2019-14615. The upstream driver clears the registers by a program on the execution
        // units, which no available document describes.
        leftovers: true,
        // Each engine has its own mode register, which `load_directory` sets.
        mode: |_, _| (),
    }
}

/// GT1, the smaller chip.
pub static GT1: Processor = processor(workarounds::DEVICE_GT1, workarounds::RENDER_GT1);
/// GT2, the larger chip.
pub static GT2: Processor = processor(workarounds::DEVICE_GT2, workarounds::RENDER_GT2);
