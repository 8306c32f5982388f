// SPDX-License-Identifier: GPL-2.0

//! CPU access to memory that the GPU reaches: copies, clears, and cache flushes.

use kernel::prelude::*;
use ouro_hw::types::PAGE_SIZE;
use ouro_kernel::{pages::View, uaccess};

use super::{backing::Memory, Backing};

impl Backing {
    /// Copies to user space. Errors: `EFAULT`, `EINVAL` outside of the memory.
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

    /// Copies from user space without page faults. Errors: `EFAULT` if a page of user space is not
    /// present, with a part copied, and for memory that the CPU accesses through a window; `EINVAL`
    /// outside of the memory.
    pub(crate) fn copy_from_user_present(&self, offset: usize, from: u64, len: usize) -> Result {
        match self.memory() {
            Memory::Pages(map) => map.pages().copy_from_user_present(offset, from, len),
            Memory::Kernel(_) | Memory::Foreign(_) => Err(EINVAL),
            Memory::Blocks(_) => Err(EFAULT),
        }
    }

    /// Copies out. Errors: `EINVAL` outside of the memory.
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

    /// Writes 32-bit words to kernel memory. Errors: as [`read`](Self::read).
    pub(crate) fn write_words(&self, offset: usize, words: &[u32]) -> Result {
        match self.memory() {
            Memory::Kernel(pages) => pages.view().write_words(offset, words),
            Memory::Pages(_) | Memory::Foreign(_) | Memory::Blocks(_) => Err(EINVAL),
        }
    }

    /// Copies the contents of other memory, of the same size, with the CPU. Slow.
    pub(crate) fn copy_from(&self, other: &Self) -> Result {
        let end = self.len().min(other.len()) as usize * PAGE_SIZE as usize;
        pieces(0..end, |at, _, buffer| {
            other.read(at, buffer)?;
            self.write(at, buffer)
        })
    }

    /// Clears it with the CPU. Slow. Errors: `EINVAL` if the CPU does not see all of it.
    pub(crate) fn clear(&self) -> Result {
        match self.memory() {
            Memory::Blocks(blocks) => blocks.clear(),
            Memory::Pages(_) | Memory::Kernel(_) | Memory::Foreign(_) => Err(EINVAL),
        }
    }

    /// Writes the CPU's cached lines of a range back and invalidates them. Errors: `EINVAL`
    /// outside.
    pub(super) fn flush(&self, range: core::ops::Range<u64>) -> Result {
        let (at, len) = (range.start as usize, range.end.saturating_sub(range.start));
        let len = len as usize;
        match self.memory() {
            Memory::Pages(map) => map.pages().clflush(at, len),
            Memory::Kernel(pages) => pages.view().clflush(at, len),
            // The exporter flushes.
            Memory::Foreign(_) => Ok(()),
            Memory::Blocks(blocks) => {
                blocks.each(at, len, |sight, at, range| sight.clflush(at, range.len()))
            }
        }
    }
}

/// Copies a range of a kernel mapping to user space. Errors: `EFAULT`, `EINVAL`.
pub(super) fn view_to_user(view: View<'_>, offset: usize, to: u64, len: usize) -> Result {
    pieces(0..len, |at, _, buffer| {
        view.read(offset + at, buffer)?;
        uaccess::write(to.wrapping_add(at as u64), buffer)
    })
}

/// Copies from user space to a kernel mapping, as [`view_to_user`].
pub(super) fn view_from_user(view: View<'_>, offset: usize, from: u64, len: usize) -> Result {
    pieces(0..len, |at, _, buffer| {
        uaccess::read_into(from.wrapping_add(at as u64), buffer)?;
        view.write(offset + at, buffer)
    })
}

/// Divides a range into pieces that fit a buffer on the stack. Calls `f` with a piece's start, its
/// distance from the start of the range, and a buffer of its size.
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
