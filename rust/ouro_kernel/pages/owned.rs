// SPDX-License-Identifier: GPL-2.0

//! Memory of the driver that the device accesses, too.

use core::{marker::PhantomData, ptr::NonNull};
use kernel::{bindings, prelude::*, sync::Arc};

use super::{
    clflush, copy,
    device::{DmaDevice, Mapped, Memory, Room},
    Frame, PAGE_SIZE,
};
use crate::{raw, Caching};

/// Bytes that others may change at any time: each access is one volatile access of its size, and is
/// checked. Outside, reads return zero and writes have no effect.
///
/// # Invariants
///
/// `len` bytes from `addr` on are mapped memory for as long as `'a`.
#[derive(Clone, Copy)]
pub struct View<'a> {
    addr: NonNull<u8>,
    len: usize,
    _life: PhantomData<&'a ()>,
}

impl View<'_> {
    /// # Safety
    ///
    /// `len` bytes from `addr` on, aligned to 8, are mapped memory as long as the result lives.
    pub(crate) unsafe fn new(addr: NonNull<u8>, len: usize) -> Self {
        Self {
            addr,
            len,
            _life: PhantomData,
        }
    }

    /// Returns an empty view.
    pub(crate) fn empty() -> Self {
        // INVARIANT: There are none.
        Self {
            addr: NonNull::dangling(),
            len: 0,
            _life: PhantomData,
        }
    }

    /// Returns the address of `size` bytes at `offset`, if they are inside and aligned.
    #[inline]
    fn at(&self, offset: usize, size: usize) -> Option<*mut u8> {
        let end = offset.checked_add(size)?;
        (end <= self.len && offset & (size - 1) == 0)
            .then(|| self.addr.as_ptr().wrapping_add(offset))
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads 32 bits at a multiple of 4.
    #[inline]
    pub fn read32(&self, offset: usize) -> u32 {
        // SAFETY: By the invariant.
        self.at(offset, 4)
            .map_or(0, |p| unsafe { p.cast::<u32>().read_volatile() })
    }

    /// Reads 64 bits at a multiple of 8.
    #[inline]
    pub fn read64(&self, offset: usize) -> u64 {
        // SAFETY: By the invariant.
        self.at(offset, 8)
            .map_or(0, |p| unsafe { p.cast::<u64>().read_volatile() })
    }

    /// Writes 32 bits at a multiple of 4.
    #[inline]
    pub fn write32(&self, offset: usize, value: u32) {
        if let Some(p) = self.at(offset, 4) {
            // SAFETY: By the invariant.
            unsafe { p.cast::<u32>().write_volatile(value) }
        }
    }

    /// Writes 64 bits at a multiple of 8.
    #[inline]
    pub fn write64(&self, offset: usize, value: u64) {
        if let Some(p) = self.at(offset, 8) {
            // SAFETY: By the invariant.
            unsafe { p.cast::<u64>().write_volatile(value) }
        }
    }

    /// Copies out.
    ///
    /// Errors: `EINVAL` if the range is not inside.
    pub fn read(&self, offset: usize, out: &mut [u8]) -> Result {
        let from = self.range(offset, out.len())?;
        // SAFETY: By the invariant; the ranges are apart.
        unsafe { copy(out.as_mut_ptr(), from, out.len()) };
        Ok(())
    }

    /// Copies in.
    ///
    /// Errors: `EINVAL` if the range is not inside.
    pub fn write(&self, offset: usize, data: &[u8]) -> Result {
        let to = self.range(offset, data.len())?;
        // SAFETY: As in `read()`.
        unsafe { copy(to, data.as_ptr(), data.len()) };
        Ok(())
    }

    /// Writes consecutive 32-bit words, from a multiple of 4 on: a part of a ring.
    ///
    /// Errors: `EINVAL` if the range is not inside, with nothing written.
    pub fn write_words(&self, offset: usize, words: &[u32]) -> Result {
        if offset % 4 != 0 {
            return Err(EINVAL);
        }
        let to = self.range(offset, size_of_val(words))?;
        // SAFETY: As in `read()`.
        unsafe { copy(to, words.as_ptr().cast(), size_of_val(words)) };
        Ok(())
    }

    /// Sets a range to one byte.
    ///
    /// Errors: `EINVAL` if the range is not inside.
    pub fn fill(&self, offset: usize, len: usize, byte: u8) -> Result {
        let to = self.range(offset, len)?;
        // SAFETY: By the invariant.
        unsafe { raw::ouro_fill(to.cast(), byte, len) };
        Ok(())
    }

    /// Writes the CPU's cache lines of a range back to memory, and invalidates them.
    ///
    /// Errors: `EINVAL` if the range is not inside.
    pub fn clflush(&self, offset: usize, len: usize) -> Result {
        // SAFETY: By the invariant.
        unsafe { clflush(self.range(offset, len)?, len) };
        Ok(())
    }

    fn range(&self, offset: usize, len: usize) -> Result<*mut u8> {
        let end = offset.checked_add(len).ok_or(EINVAL)?;
        if end > self.len {
            return Err(EINVAL);
        }
        Ok(self.addr.as_ptr().wrapping_add(offset))
    }
}

/// Allocated pages.
///
/// # Invariants
///
/// Each entry is an allocated page that this owns. With `caching` other than write-back, the
/// kernel's linear map of all of them is write-combining.
struct Owned {
    list: KVVec<*mut bindings::page>,
    caching: Caching,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: By the invariants.
        unsafe {
            if self.caching != Caching::WriteBack {
                raw::set_pages_array_wb(self.list.as_mut_ptr(), self.list.len() as c_int);
            }
            for &page in &self.list {
                bindings::__free_pages(page, 0);
            }
        }
    }
}

/// The pages in the kernel's address space.
struct Vmap(NonNull<u8>);

impl Drop for Vmap {
    fn drop(&mut self) {
        // SAFETY: From `ouro_vmap()`.
        unsafe { raw::vunmap(self.0.as_ptr().cast()) }
    }
}

/// Zeroed pages for CPU and device: rings, status pages, contexts, page tables.
///
/// They are contiguous for the CPU; each has its own DMA address. The unbind of the device unmaps
/// them from it, if they are still mapped.
///
/// # Invariants
///
/// `view` maps all of `pages`; `mapped` are their addresses, on the list of `dma` or unmapped. The
/// fields are dropped in order, after `drop` has unmapped them.
pub struct DmaPages {
    view: Vmap,
    mapped: Arc<Mapped>,
    pages: Owned,
    dma: Arc<DmaDevice>,
}

// SAFETY: Only memory.
unsafe impl Send for DmaPages {}
// SAFETY: It is only accessed as volatile.
unsafe impl Sync for DmaPages {}

impl DmaPages {
    /// Allocates `n` pages.
    ///
    /// Errors: `ENODEV` after the unbind, `ENOMEM`, `EIO` if the device cannot reach the memory,
    /// `EINVAL` for zero pages.
    pub fn new(dma: &Arc<DmaDevice>, n: usize, caching: Caching) -> Result<Self> {
        if n == 0 {
            return Err(EINVAL);
        }
        let count = c_int::try_from(n)?;
        let room = Room::new()?;
        let mut pages = Owned {
            list: KVVec::with_capacity(n, GFP_KERNEL)?,
            caching: Caching::WriteBack,
        };
        let low = dma.needs_low_memory();
        for _ in 0..n {
            // SAFETY: No requirement.
            let page = unsafe { raw::ouro_alloc_page(low) };
            if page.is_null() {
                return Err(ENOMEM);
            }
            pages.list.push(page, GFP_KERNEL)?;
        }
        if caching != Caching::WriteBack {
            // SAFETY: Pages of our own, which only the kernel's linear map
            // maps; this changes that map, all or nothing.
            let ret = unsafe { raw::set_pages_array_wc(pages.list.as_mut_ptr(), count) };
            kernel::error::to_result(ret)?;
            pages.caching = caching;
        }
        // SAFETY: The pages are ours; the array is only read.
        let view = unsafe { raw::ouro_vmap(pages.list.as_mut_ptr(), count as u32, caching.raw()) };
        let view = Vmap(NonNull::new(view.cast()).ok_or(ENOMEM)?);

        let mut addresses = KVVec::with_capacity(n, GFP_KERNEL)?;
        let bonded = dma.enter()?;
        for &page in &pages.list {
            // SAFETY: The page is ours, and the device is bound.
            let address = unsafe { raw::ouro_dma_map_page(bonded.raw(), page) };
            // SAFETY: As above.
            if unsafe { raw::ouro_dma_mapping_error(bonded.raw(), address) } {
                // SAFETY: Its entries were mapped here, and the device is bound.
                unsafe { Memory::Pages(addresses).unmap(bonded.raw()) };
                return Err(EIO);
            }
            // There is capacity.
            let _ = addresses.push_within_capacity(address);
        }
        // SAFETY: Just mapped.
        let mapped = unsafe { bonded.add(room, Memory::Pages(addresses)) };
        drop(bonded);
        // INVARIANT: Made, mapped and on the list.
        Ok(Self {
            view,
            mapped,
            pages,
            dma: dma.clone(),
        })
    }

    /// Returns the number of pages.
    pub fn len(&self) -> usize {
        self.pages.list.len()
    }

    /// Returns whether it is empty: never.
    pub fn is_empty(&self) -> bool {
        self.pages.list.is_empty()
    }

    /// Returns the DMA address of a page.
    pub fn address(&self, page: usize) -> Option<u64> {
        self.addresses().get(page).copied()
    }

    /// Returns the DMA addresses of all pages.
    pub fn addresses(&self) -> &[u64] {
        match self.mapped.made() {
            Memory::Pages(addresses) => addresses,
            Memory::Table(_) | Memory::Imported { .. } => &[],
        }
    }

    /// Returns the frame of a page, for mappings of user space.
    pub fn frame(&self, page: usize) -> Option<Frame<'_>> {
        // SAFETY: By the invariant, as long as `self`.
        self.pages
            .list
            .get(page)
            .map(|&p| unsafe { Frame::new(raw::ouro_page_to_pfn(p)) })
    }

    /// Returns the memory.
    #[inline]
    pub fn view(&self) -> View<'_> {
        // SAFETY: By the invariant.
        unsafe { View::new(self.view.0, self.pages.list.len() * PAGE_SIZE) }
    }

    /// Reads 32 bits at a multiple of 4; zero outside.
    #[inline]
    pub fn read32(&self, offset: usize) -> u32 {
        self.view().read32(offset)
    }

    /// Reads 64 bits at a multiple of 8; zero outside.
    #[inline]
    pub fn read64(&self, offset: usize) -> u64 {
        self.view().read64(offset)
    }

    /// Writes 32 bits at a multiple of 4; nothing outside.
    #[inline]
    pub fn write32(&self, offset: usize, value: u32) {
        self.view().write32(offset, value)
    }

    /// Writes 64 bits at a multiple of 8; nothing outside.
    #[inline]
    pub fn write64(&self, offset: usize, value: u64) {
        self.view().write64(offset, value)
    }
}

impl Drop for DmaPages {
    fn drop(&mut self) {
        self.dma.remove(&self.mapped);
    }
}
