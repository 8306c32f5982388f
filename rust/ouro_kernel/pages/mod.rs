// SPDX-License-Identifier: GPL-2.0

//! Memory that the GPU sees.
//!
//! - [`Shmem`] is memory that may be swapped out, for buffer objects; [`Pages`] holds all of its
//!   pages where they are; [`DmaMap`] lets the device reach them.
//! - [`DmaPages`] is memory of the driver: rings, status pages, contexts, tables. It is zeroed,
//!   mapped for the CPU and for the device, and stays.
//! - [`Frame`] is what user space's mappings show of either, or of a BAR.
//!
//! All DMA is coherent (`DMA_ATTR_REQUIRE_COHERENT`): a platform that would put a bounce buffer in
//! between makes the mapping fail instead.

mod device;
mod dma;
mod imported;
mod owned;
mod shmem;

pub use self::device::DmaDevice;
pub use self::dma::{DmaMap, Run};
pub(crate) use self::imported::Imported;
pub use self::owned::{DmaPages, View};
pub use self::shmem::{Pages, Shmem, Vmap};

use core::marker::PhantomData;

use crate::raw;

/// The size of a page, in bytes.
pub const PAGE_SIZE: usize = kernel::page::PAGE_SIZE;

/// The frame of a page that user space's mappings may show. It can be had only from what owns the page,
/// and as long as that is there.
///
/// Of what becomes of an entry that was made of it, the frame knows nothing: who gives up the page, or
/// lets it become another object's, takes it out of all mappings first
/// ([`Object::unmap_user()`](crate::gem::Object::unmap_user)).
#[derive(Clone, Copy)]
pub struct Frame<'a>(usize, PhantomData<&'a ()>);

impl Frame<'_> {
    /// # Safety
    ///
    /// `pfn` is the frame of a page that belongs to an object of ours, or of a BAR of ours, for as long
    /// as the result lives.
    pub(crate) unsafe fn new(pfn: usize) -> Self {
        Self(pfn, PhantomData)
    }

    /// Its number.
    pub(crate) fn pfn(self) -> usize {
        self.0
    }
}

/// Writes the cache lines of `len` bytes back to memory, and drops them.
///
/// # Safety
///
/// It is mapped memory of that length.
unsafe fn clflush(addr: *mut u8, len: usize) {
    // SAFETY: By the requirement of this function.
    unsafe { raw::drm_clflush_virt_range(addr.cast(), len) }
}

/// Writes all that the CPUs' caches hold back to memory, and drops it. Slow: milliseconds. Process context.
pub fn flush_all_caches() {
    // SAFETY: No requirement.
    unsafe { raw::ouro_flush_all_caches() }
}

/// Copies bytes of which others may write some meanwhile: the GPU, user space. Which of these come along
/// is open. It is done in C, whose memory model in the kernel knows of them; Rust's would call it a race.
///
/// # Safety
///
/// Both are mapped memory of `len` bytes, and apart.
unsafe fn copy(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: By the requirement of this function.
    unsafe { raw::ouro_copy(to.cast(), from.cast(), len) }
}
