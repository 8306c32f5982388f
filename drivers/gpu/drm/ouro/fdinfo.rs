// SPDX-License-Identifier: GPL-2.0

//! `/proc/<pid>/fdinfo/<fd>` of a client: engine times and memory (the kernel's
//! `Documentation/gpu/drm-usage-stats.rst`).
//!
//! Times are measured in [`busy`](crate::submit::busy).

use kernel::prelude::*;
use ouro_hw::EngineClass;
use ouro_kernel::drm::Printer;

use crate::{
    device::DrmFile,
    gem::region::{self, Region},
};

/// The engine classes, and their names in the file.
const CLASSES: [(EngineClass, &str); 5] = [
    (EngineClass::Render, "render"),
    (EngineClass::Copy, "copy"),
    (EngineClass::Video, "video"),
    (EngineClass::VideoEnhance, "video-enhance"),
    (EngineClass::Compute, "compute"),
];

/// Prints all keys. `name` returns the name of a region in the uAPI.
pub(crate) fn show(file: &DrmFile, printer: &mut Printer<'_>, name: fn(&Region) -> &'static CStr) {
    let holder = file.holder();
    for (class, name) in CLASSES {
        let mut engines = 0;
        let mut ns = 0;
        for engine in file.gpu().engines() {
            if engine.hw().desc().id.class == class {
                // Completed requests are counted, and running ones up to now.
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
