// SPDX-License-Identifier: GPL-2.0

//! Memory that the GPU accesses.
//!
//! - [`Shmem`] is memory that may be swapped out, for buffer objects; [`Pages`] holds all of its
//!   pages where they are, [`FewPages`] some of them; [`DmaMap`] lets the device reach them.
//! - [`DmaPages`] is memory of the driver: rings, status pages, contexts, tables. It is zeroed,
//!   mapped for the CPU and for the device, and pinned.
//! - [`Frame`] is a page frame of either, or of a BAR, for mappings of user space.
//!
//! All DMA is coherent (`DMA_ATTR_REQUIRE_COHERENT`): a platform that would put a bounce buffer in
//! between makes the mapping fail instead.

mod device;
mod dma;
mod few;
mod imported;
mod owned;
mod shmem;
mod words;

pub use self::device::DmaDevice;
pub use self::dma::{DmaMap, Run};
pub use self::few::FewPages;
pub(crate) use self::imported::Imported;
pub use self::owned::{DmaPages, View};
pub use self::shmem::{Pages, Shmem, Vmap};
pub use self::words::Words;

use core::marker::PhantomData;

use crate::raw;

/// The size of a page, in bytes.
pub const PAGE_SIZE: usize = kernel::page::PAGE_SIZE;

/// The page frame for a PTE of user space. Only the owner of the page can create one, and its
/// lifetime is bounded by the owner.
///
/// The frame does not track PTEs made from it: before the owner frees the page, or it becomes
/// another object's, the page must be removed from all mappings
/// ([`Object::unmap_user()`](crate::gem::Object::unmap_user)).
#[derive(Clone, Copy)]
pub struct Frame<'a>(usize, PhantomData<&'a ()>);

impl Frame<'_> {
    /// # Safety
    ///
    /// `pfn` is the frame of a page that belongs to an object of ours, or of a BAR of ours, for as
    /// long as the result lives.
    pub(crate) unsafe fn new(pfn: usize) -> Self {
        Self(pfn, PhantomData)
    }

    /// Returns its number.
    pub(crate) fn pfn(self) -> usize {
        self.0
    }
}

/// Writes the cache lines of `len` bytes back to memory, and invalidates them.
///
/// # Safety
///
/// It is mapped memory of that length.
unsafe fn clflush(addr: *mut u8, len: usize) {
    // SAFETY: By the requirement of this function.
    unsafe { raw::drm_clflush_virt_range(addr.cast(), len) }
}

/// Writes all CPUs' caches back to memory, and invalidates them. Slow: milliseconds. Process
/// context.
pub fn flush_all_caches() {
    // SAFETY: No requirement.
    unsafe { raw::ouro_flush_all_caches() }
}

/// Copies bytes that the GPU or user space may be writing meanwhile; it is undefined which writes
/// are included. Done in C, because the kernel's memory model allows it, while Rust's calls it a
/// data race.
///
/// # Safety
///
/// Both must be mapped memory of `len` bytes, and must not overlap.
unsafe fn copy(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: By the requirement of this function.
    unsafe { raw::ouro_copy(to.cast(), from.cast(), len) }
}
