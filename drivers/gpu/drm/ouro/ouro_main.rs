// SPDX-License-Identifier: GPL-2.0

//! ouro: a DRM driver for documented GPUs. The crate root of the module.
//!
//! | part | what |
//! | --- | --- |
//! | [`driver`] | PCI and DRM: probe, unbind, power |
//! | [`device`] | the types by which the DRM core knows the driver |
//! | [`look`] | what a device is and shows before it is changed |
//! | [`hardware`] | the device as its backend sees it |
//! | [`gpu`] | the device as the core sees it |
//! | [`power`] | how it sleeps, wakes and ends |
//! | [`vm`] | address spaces |
//! | [`gem`] | buffer objects |
//! | [`submit`] | contexts, requests, queues |
//! | [`reset`] | engines that hang |
//! | [`uapi`] | what user space says |
//! | [`report`] | errors of the device, in the log |
//! | [`sysfs`], [`debugfs`], [`fdinfo`] | files about a device or a client, for tools and tests |
//!
//! The backends are the crate `ouro_hw`, structures without kernel `ouro_core`, and what the kernel
//! crate lacks `ouro_kernel`, where all `unsafe` is.

#![deny(unsafe_code)]

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

/// The module. What is released late ends after the driver.
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
            description: "Hang timeout in milliseconds: when a request takes longer, its engine is probed or reset (0: no limit)",
        },
        iommu: u32 {
            default: 2,
            description: "Whether an IOMMU is between GPU and memory, as in a guest with a card passed through (0: no, 1: yes, 2: see)",
        },
        share: u32 {
            default: 0,
            description: "Whether several users may run batches at a time on a GPU in which these find what others' left in registers (0: no, 1: yes)",
        },
        test_region_mb: u32 {
            default: 0,
            description: "Megabytes of a simulated region of device memory, for tests",
        },
    },
}
