// SPDX-License-Identifier: GPL-2.0

//! `sync_file`: a file descriptor around a fence.
//!
//! C header: `include/linux/sync_file.h`

use core::ptr::NonNull;
use kernel::{
    bindings,
    fs::file::{File, FileDescriptorReservation},
    prelude::*,
    sync::aref::ARef,
};

use crate::{fence::Fence, raw};

/// A file that is not installed yet. Dropping it closes it.
pub struct SyncFile {
    file: ARef<File>,
    fd: FileDescriptorReservation,
}

impl SyncFile {
    /// Creates a file of a fence, and reserves a descriptor for it. Neither is visible before
    /// [`SyncFile::install()`]; the fence may be unpublished.
    ///
    /// Errors: `ENOMEM`, `EMFILE`.
    pub fn new(fence: &Fence) -> Result<Self> {
        let fd = FileDescriptorReservation::get_unused_fd_flags(bindings::O_CLOEXEC)?;
        // SAFETY: The fence is valid; the file takes a reference of its own.
        let file = unsafe { raw::ouro_sync_file_create(fence.as_raw()) };
        let file = NonNull::new(file).ok_or(ENOMEM)?;
        // SAFETY: It comes with its first reference, its position is not used yet;
        // `File` is transparent.
        let file = unsafe { ARef::from_raw(file.cast()) };
        Ok(Self { file, fd })
    }

    /// Returns the descriptor.
    pub fn fd(&self) -> i32 {
        self.fd.reserved_fd() as i32
    }

    /// Installs the descriptor. Cannot fail.
    pub fn install(self) {
        self.fd.fd_install(self.file);
    }
}

/// Returns the fence of a descriptor of the calling task.
///
/// Errors: `EINVAL` if it is not a sync file.
pub fn fence_of_fd(fd: i32) -> Result<ARef<Fence>> {
    // SAFETY: Any number will do; the fence comes with a reference.
    unsafe { Fence::take(raw::sync_file_get_fence(fd)) }.ok_or(EINVAL)
}
