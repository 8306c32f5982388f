// SPDX-License-Identifier: GPL-2.0

//! ouro: a DRM driver for documented GPUs. The crate root of the module.
//!
//! | part | contents |
//! | --- | --- |
//! | [`driver`] | PCI and DRM: probe, unbind, power |
//! | [`device`] | the driver's types for the DRM core |
//! | [`file`] | an open file: its contexts, VMs and quota |
//! | [`bars`] | claiming and mapping BARs |
//! | [`look`] | probing a device before it is changed |
//! | [`platform`] | configuration space, the host bridge, the bus |
//! | [`hardware`] | the device's registers and state |
//! | [`gpu`] | the device's core |
//! | [`power`] | suspend, resume, shutdown |
//! | [`vm`] | address spaces |
//! | [`gem`] | buffer objects |
//! | [`submit`] | contexts, requests, queues |
//! | [`reset`] | hangs and resets |
//! | [`uapi`] | the ioctls |
//! | [`report`] | errors of the device, in the log |
//! | [`sysfs`], [`debugfs`], [`fdinfo`] | files for tools and tests |
//!
//! The backends are in crate `ouro_hw`, structures that do not need the kernel in `ouro_core`, and
//! additions to the kernel crate in `ouro_kernel`, where all `unsafe` of the module is.

#![deny(unsafe_code)]

mod bars;
mod debugfs;
mod device;
mod driver;
mod fdinfo;
mod file;
mod gem;
mod gpu;
mod hardware;
mod look;
mod platform;
mod power;
mod report;
mod reset;
mod submit;
mod sysfs;
mod tests;
mod uapi;
mod vm;

use kernel::{driver::Registration, prelude::*, InPlaceModule, ModuleMetadata, ThisModule};
use ouro_kernel::{pm::Adapter, release};

/// The module. Deferred releases end after the driver.
#[pin_data]
struct Module {
    #[pin]
    _driver: Registration<Adapter<device::Ouro>>,
    _guard: release::Guard,
}

impl InPlaceModule for Module {
    fn init(module: &'static ThisModule) -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            _guard: release::Guard::new(c"ouro-release")?,
            _driver <- Registration::new(<Self as ModuleMetadata>::NAME, module),
        }? Error)
    }
}

module! {
    type: Module,
    name: "ouro",
    authors: ["The ouro authors"],
    description: "DRM driver for documented GPUs",
    license: "GPL",
    firmware: ["radeon/R520_cp.bin"],
    params: {
        hang_ms: u32 {
            default: 3000,
            description: "Hang timeout in milliseconds: when a request takes longer, \
                its engine is probed or reset (0: no limit, hangcheck is off and \
                enable_hangcheck in debugfs cannot enable it)",
        },
        iommu: u32 {
            default: 2,
            description: "IOMMU between GPU and memory (0: none, 1: present, \
                2: as the kernel reports it, and present in a VM)",
        },
        ppgtt: u32 {
            default: 2,
            description: "Address spaces of Ivy Bridge (1: one aliasing PPGTT for all contexts, \
                as with upstream; 2: a PPGTT for each context)",
        },
        replay: u32 {
            default: 0,
            description: "Let root set the image of a context, to replay a hang; \
                the engine restores it with privilege (0: no, 1: yes)",
        },
        share: u32 {
            default: 0,
            description: "Ivy Bridge: let several users run batches at a time, \
                although registers keep values of other users' batches (0: no, 1: yes)",
        },
        test_region_mb: u32 {
            default: 0,
            description: "Megabytes of a simulated region of device memory, for tests",
        },
    },
}
