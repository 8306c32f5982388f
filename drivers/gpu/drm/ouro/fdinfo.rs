// SPDX-License-Identifier: GPL-2.0

//! What `/proc/<pid>/fdinfo/<fd>` says of a client: the time that engines have worked for it, and
//! its memory (the kernel's `Documentation/gpu/drm-usage-stats.rst`).
//!
//! How time is measured is in [`busy`](crate::submit::busy).

use kernel::prelude::*;
use ouro_hw::EngineClass;
use ouro_kernel::drm::Printer;

use crate::{
    device::DrmFile,
    gem::region::{self, Region},
};

/// The classes, and what the file calls them.
const CLASSES: [(EngineClass, &str); 5] = [
    (EngineClass::Render, "render"),
    (EngineClass::Copy, "copy"),
    (EngineClass::Video, "video"),
    (EngineClass::VideoEnhance, "video-enhance"),
    (EngineClass::Compute, "compute"),
];

/// Prints it all. `name` is how the interface calls a region.
pub(crate) fn show(file: &DrmFile, printer: &mut Printer<'_>, name: fn(&Region) -> &'static CStr) {
    let holder = file.holder();
    for (class, name) in CLASSES {
        let mut engines = 0;
        let mut ns = 0;
        for engine in file.gpu().engines() {
            if engine.hw().desc().id.class == class {
                // What is done is seen to be done, and what runs counts as far as it has come.
                engine.advance();
                ns += engine.works_for(holder);
                engines += 1;
            }
        }
        if engines == 0 {
            continue;
        }
        ns += holder.busy().get(class);
        printer.print(fmt!("drm-engine-{}:\t{} ns\n", name, ns));
        if engines > 1 {
            printer.print(fmt!("drm-engine-capacity-{}:\t{}\n", name, engines));
        }
    }
    let mut names = [c""; region::MAX];
    let regions = file.gpu().regions();
    for (to, region) in names.iter_mut().zip(regions) {
        *to = name(region);
    }
    let (names, _) = names.split_at(regions.len().min(names.len()));
    file.show_memory(printer, names);
}
