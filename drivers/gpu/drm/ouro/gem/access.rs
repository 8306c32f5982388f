// SPDX-License-Identifier: GPL-2.0

//! The CPU's access to an object's bytes by copying, for user space and for relocations.

use kernel::prelude::*;

use super::{backing::Memory, Bo};

/// Checks that `len` bytes from `offset` lie in the object.
pub(crate) fn range(object: &Bo, offset: u64, len: u64) -> Result {
    match offset.checked_add(len) {
        Some(end) if end <= object.bytes() => Ok(()),
        _ => Err(EINVAL),
    }
}

/// Copies from the object to user space. No lock is held meanwhile.
///
/// Errors: `EINVAL` outside of the object, `EFAULT` for bad memory.
pub(crate) fn read(object: &Bo, offset: u64, len: u64, to: u64) -> Result {
    range(object, offset, len)?;
    match object.backing()?.memory() {
        Memory::Pages(map) => map.pages().copy_to_user(offset as usize, to, len as usize),
        Memory::Kernel(_) => Err(EINVAL),
    }
}

/// Copies from user space to the object. As [`read`].
pub(crate) fn write(object: &Bo, offset: u64, len: u64, from: u64) -> Result {
    range(object, offset, len)?;
    match object.backing()?.memory() {
        Memory::Pages(map) => map
            .pages()
            .copy_from_user(offset as usize, from, len as usize),
        Memory::Kernel(_) => Err(EINVAL),
    }
}

/// Writes bytes of the kernel's own.
pub(crate) fn poke(object: &Bo, offset: u64, bytes: &[u8]) -> Result {
    range(object, offset, bytes.len() as u64)?;
    match object.backing()?.memory() {
        Memory::Pages(map) => map.pages().write(offset as usize, bytes),
        Memory::Kernel(_) => Err(EINVAL),
    }
}
