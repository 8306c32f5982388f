// SPDX-License-Identifier: GPL-2.0

//! What the CPU does with memory that the GPU reaches: it copies to and from it, clears it, and writes
//! back what its caches hold.

use kernel::prelude::*;
use ouro_hw::types::PAGE_SIZE;
use ouro_kernel::{pages::View, uaccess};

use super::{backing::Memory, Backing};

impl Backing {
    /// Copies to user space. Errors: `EFAULT`, `EINVAL` outside.
    pub(crate) fn copy_to_user(&self, offset: usize, to: u64, len: usize) -> Result {
        match self.memory() {
            Memory::Pages(map) => map.pages().copy_to_user(offset, to, len),
            Memory::Kernel(_) | Memory::Foreign(_) => Err(EINVAL),
            Memory::Blocks(blocks) => blocks.each(offset, len, |sight, at, range| {
                pieces(range, |piece, done, buffer| {
                    sight.read(at + done, buffer)?;
                    uaccess::write(to.wrapping_add(piece as u64), buffer)
                })
            }),
        }
    }

    /// Copies from user space, which is not waited for. Errors: `EFAULT` where it is not there, with part of it
    /// copied, and for memory that the CPU sees through a window; `EINVAL` outside.
    pub(crate) fn copy_from_user_present(&self, offset: usize, from: u64, len: usize) -> Result {
        match self.memory() {
            Memory::Pages(map) => map.pages().copy_from_user_present(offset, from, len),
            Memory::Kernel(_) | Memory::Foreign(_) => Err(EINVAL),
            Memory::Blocks(_) => Err(EFAULT),
        }
    }

    /// Copies out. Errors: `EINVAL` outside.
    pub(crate) fn read(&self, offset: usize, out: &mut [u8]) -> Result {
        match self.memory() {
            Memory::Pages(map) => map.pages().read(offset, out),
            Memory::Kernel(pages) => pages.view().read(offset, out),
            Memory::Foreign(_) => Err(EINVAL),
            Memory::Blocks(blocks) => blocks.each(offset, out.len(), |sight, at, range| {
                sight.read(at, out.get_mut(range).ok_or(EINVAL)?)
            }),
        }
    }

    /// Copies in. Errors: as [`read`](Self::read).
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) -> Result {
        match self.memory() {
            Memory::Pages(map) => map.pages().write(offset, bytes),
            Memory::Kernel(pages) => pages.view().write(offset, bytes),
            Memory::Foreign(_) => Err(EINVAL),
            Memory::Blocks(blocks) => blocks.each(offset, bytes.len(), |sight, at, range| {
                sight.write(at, bytes.get(range).ok_or(EINVAL)?)
            }),
        }
    }

    /// Writes words of 32 bits into memory of the kernel's own. Errors: as [`read`](Self::read).
    pub(crate) fn write_words(&self, offset: usize, words: &[u32]) -> Result {
        match self.memory() {
            Memory::Kernel(pages) => pages.view().write_words(offset, words),
            Memory::Pages(_) | Memory::Foreign(_) | Memory::Blocks(_) => Err(EINVAL),
        }
    }

    /// Makes it equal to another one of the same size, with the CPU. Slow.
    pub(crate) fn copy_from(&self, other: &Self) -> Result {
        let end = self.len().min(other.len()) as usize * PAGE_SIZE as usize;
        pieces(0..end, |at, _, buffer| {
            other.read(at, buffer)?;
            self.write(at, buffer)
        })
    }

    /// Sets it to zero, with the CPU. Slow. Errors: `EINVAL` if the CPU does not see all of it.
    pub(crate) fn clear(&self) -> Result {
        match self.memory() {
            Memory::Blocks(blocks) => blocks.clear(),
            Memory::Pages(_) | Memory::Kernel(_) | Memory::Foreign(_) => Err(EINVAL),
        }
    }

    /// Writes back what the CPU's caches hold of a range, and drops it. Errors: `EINVAL` outside.
    pub(super) fn flush(&self, range: core::ops::Range<u64>) -> Result {
        let (at, len) = (range.start as usize, range.end.saturating_sub(range.start));
        let len = len as usize;
        match self.memory() {
            Memory::Pages(map) => map.pages().clflush(at, len),
            Memory::Kernel(pages) => pages.view().clflush(at, len),
            // Its exporter sees to that.
            Memory::Foreign(_) => Ok(()),
            Memory::Blocks(blocks) => {
                blocks.each(at, len, |sight, at, range| sight.clflush(at, range.len()))
            }
        }
    }
}

/// Copies a range of a buffer in the kernel's address space to user space. Errors: `EFAULT`, `EINVAL`.
pub(super) fn view_to_user(view: View<'_>, offset: usize, to: u64, len: usize) -> Result {
    pieces(0..len, |at, _, buffer| {
        view.read(offset + at, buffer)?;
        uaccess::write(to.wrapping_add(at as u64), buffer)
    })
}

/// Copies from user space, as [`view_to_user`].
pub(super) fn view_from_user(view: View<'_>, offset: usize, from: u64, len: usize) -> Result {
    pieces(0..len, |at, _, buffer| {
        uaccess::read_into(from.wrapping_add(at as u64), buffer)?;
        view.write(offset + at, buffer)
    })
}

/// Cuts a range into pieces, each small enough for a buffer on the stack. `f` gets where a piece starts,
/// how far that is from the start of the range, and as many bytes.
fn pieces(
    range: core::ops::Range<usize>,
    mut f: impl FnMut(usize, usize, &mut [u8]) -> Result,
) -> Result {
    let mut buffer = [0; 256];
    let mut at = range.start;
    while at < range.end {
        let len = buffer.len().min(range.end - at);
        f(at, at - range.start, buffer.get_mut(..len).ok_or(EINVAL)?)?;
        at += len;
    }
    Ok(())
}
