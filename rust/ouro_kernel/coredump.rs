// SPDX-License-Identifier: GPL-2.0

//! Device coredumps, in `/sys/class/devcoredump`.
//!
//! C header: `include/linux/devcoredump.h`

use kernel::{device, prelude::*};

use crate::{pci::raw_device, raw};

/// Emits a coredump. It exists until user space deletes it, or for five minutes. There is one for
/// each device at a time; a later one is dropped. Allocates, does not sleep for long.
pub fn emit(dev: &device::Device, report: VVec<u8>) {
    let (ptr, len, _capacity) = report.into_raw_parts();
    if len == 0 {
        // SAFETY: Just taken apart.
        drop(unsafe { VVec::from_raw_parts(ptr, len, _capacity) });
        return;
    }
    // SAFETY: `ptr` is memory from vmalloc, which is given away.
    unsafe { raw::ouro_coredump(raw_device(dev), ptr.cast(), len) }
}
