// SPDX-License-Identifier: GPL-2.0

//! Memory that the GPU sees.
//!
//! - [`Shmem`] is memory that may be swapped out, for buffer objects; [`Pages`] holds all of its
//!   pages where they are; [`DmaMap`] lets the device reach them.
//! - [`DmaPages`] is memory of the driver: rings, status pages, contexts, tables. It is zeroed,
//!   mapped for the CPU and for the device, and stays.
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

use crate::raw;

/// The size of a page, in bytes.
pub const PAGE_SIZE: usize = kernel::page::PAGE_SIZE;

/// Writes the cache lines of `len` bytes back to memory, and drops them.
pub(crate) fn clflush(addr: *mut u8, len: usize) {
    // SAFETY: The callers give mapped memory of that length.
    unsafe { raw::drm_clflush_virt_range(addr.cast(), len) }
}
