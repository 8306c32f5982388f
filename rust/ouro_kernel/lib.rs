// SPDX-License-Identifier: GPL-2.0

//! Safe abstractions that the kernel crate lacks. `Documentation/gpu/ouro/kernel-crate.rst`
//! describes them.
//!
//! All `unsafe` of the module is here. A driver on top of this crate can say
//! `#![deny(unsafe_code)]`. The style is that of the kernel crate: a C object is a transparent type
//! behind [`ARef`](kernel::sync::aref::ARef), the requirements of C functions are types or
//! lifetimes, and operations that allocate return `Result` and are done beforehand.
//!
//! | part | contents |
//! | --- | --- |
//! | [`drm`] | device, registration, open files, ioctl table |
//! | [`gem`] | buffer objects: handles, mappings by fault, prime |
//! | [`pages`] | memory: shmem pages, pages for the device, DMA addresses |
//! | [`fence`] | `dma_fence`: ours, anyone's, callbacks, containers |
//! | [`resv`] | `dma_resv` and locking many of them |
//! | [`syncobj`], [`sync_file`] | fences that user space holds |
//! | [`bond`] | the time that a device is bound |
//! | [`pci`], [`mmio`], [`irq`] | the device: configuration, registers, interrupts |
//! | [`bridge`] | the host bridge: configuration, the page that flushes it |
//! | [`work`], [`wait`] | work queues and cancelling; waiting |
//! | [`shrinker`] | giving memory back |
//! | [`list`] | a list whose members leave it in any order |
//! | [`lazy`] | a vector that is mostly empty |
//! | [`spare`] | one value that the next caller can use, in place of allocating one |
//! | [`release`] | releases that end before the module is unloaded |
//! | [`pm`] | suspend, resume and shutdown of a PCI driver |
//! | [`userptr`] | memory of a process |
//! | [`param`] | parameters that are text |
//! | [`coredump`] | reports |
//! | [`task`], [`time`], [`uaccess`] | the calling task, time, user memory |

pub mod bond;
pub mod bridge;
pub mod coredump;
pub mod drm;
pub mod fence;
pub mod gem;
pub mod irq;
pub mod lazy;
pub mod list;
pub mod mmio;
pub mod pages;
pub mod param;
pub mod pci;
pub mod pm;
mod raw;
pub mod release;
pub mod resv;
pub mod shrinker;
pub mod spare;
pub mod sync_file;
pub mod syncobj;
pub mod task;
pub mod time;
pub mod uaccess;
pub mod userptr;
pub mod wait;
pub mod work;

/// The prefix of the kernel crate's printing macros.
const __LOG_PREFIX: &[u8] = b"ouro\0";

/// The CPU's caching of a mapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Caching {
    /// Write-back: ordinary cached memory.
    WriteBack = 0,
    /// Write-combining: reads are slow, writes are gathered.
    WriteCombining = 1,
    /// Uncached, in order: registers.
    Uncached = 2,
}

impl Caching {
    /// Returns the number for the C side.
    pub(crate) fn raw(self) -> u32 {
        match self {
            Caching::WriteBack => 0,
            Caching::WriteCombining => 1,
            Caching::Uncached => 2,
        }
    }
}
