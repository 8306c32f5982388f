// SPDX-License-Identifier: GPL-2.0

//! Memory of the driver that the device sees too.

use core::{marker::PhantomData, ptr::NonNull};
use kernel::{bindings, prelude::*, sync::Arc};

use super::{clflush, PAGE_SIZE};
use crate::{pci::DmaDevice, raw, Caching};

/// Bytes that someone else may change at any time: each access is one volatile access of its
/// size, and is checked. Outside, reads are zero and writes go nowhere.
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
    pub(super) unsafe fn new(addr: NonNull<u8>, len: usize) -> Self {
        Self {
            addr,
            len,
            _life: PhantomData,
        }
    }

    /// The address of `size` bytes at `offset`, if they are inside and aligned.
    fn at(&self, offset: usize, size: usize) -> Option<*mut u8> {
        let end = offset.checked_add(size)?;
        (end <= self.len && offset & (size - 1) == 0)
            .then(|| self.addr.as_ptr().wrapping_add(offset))
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads 32 bits at a multiple of 4.
    pub fn read32(&self, offset: usize) -> u32 {
        // SAFETY: By the invariant.
        self.at(offset, 4)
            .map_or(0, |p| unsafe { p.cast::<u32>().read_volatile() })
    }

    /// Reads 64 bits at a multiple of 8.
    pub fn read64(&self, offset: usize) -> u64 {
        // SAFETY: By the invariant.
        self.at(offset, 8)
            .map_or(0, |p| unsafe { p.cast::<u64>().read_volatile() })
    }

    /// Writes 32 bits at a multiple of 4.
    pub fn write32(&self, offset: usize, value: u32) {
        if let Some(p) = self.at(offset, 4) {
            // SAFETY: By the invariant.
            unsafe { p.cast::<u32>().write_volatile(value) }
        }
    }

    /// Writes 64 bits at a multiple of 8.
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
        // SAFETY: By the invariant; the ranges are apart. What changes meanwhile, is copied as
        // it comes.
        unsafe { core::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len()) };
        Ok(())
    }

    /// Copies in.
    ///
    /// Errors: `EINVAL` if the range is not inside.
    pub fn write(&self, offset: usize, data: &[u8]) -> Result {
        let to = self.range(offset, data.len())?;
        // SAFETY: As in `read()`.
        unsafe { core::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
        Ok(())
    }

    /// Writes successive words of 32 bits, from a multiple of 4 on: a piece of a ring.
    ///
    /// Errors: `EINVAL` if the range is not inside, with nothing written.
    pub fn write_words(&self, offset: usize, words: &[u32]) -> Result {
        if offset % 4 != 0 {
            return Err(EINVAL);
        }
        self.range(offset, size_of_val(words))?;
        for (i, &word) in words.iter().enumerate() {
            self.write32(offset + 4 * i, word);
        }
        Ok(())
    }

    /// Sets a range to one byte.
    ///
    /// Errors: `EINVAL` if the range is not inside.
    pub fn fill(&self, offset: usize, len: usize, byte: u8) -> Result {
        let to = self.range(offset, len)?;
        // SAFETY: By the invariant.
        unsafe { core::ptr::write_bytes(to, byte, len) };
        Ok(())
    }

    /// Writes the CPU's cache lines of a range back to memory, and drops them.
    ///
    /// Errors: `EINVAL` if the range is not inside.
    pub fn clflush(&self, offset: usize, len: usize) -> Result {
        clflush(self.range(offset, len)?, len);
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

/// Zeroed pages that the CPU and the device see: rings, status pages, contexts, page tables.
///
/// They are successive for the CPU; each has an address of its own for the device.
///
/// # Invariants
///
/// Each entry of `pages` is an allocated page; the first `addresses.len()` of them are mapped for
/// `dma`. `view`, if it is there, maps all of them.
pub struct DmaPages {
    pages: KVVec<*mut bindings::page>,
    addresses: KVVec<u64>,
    view: Option<NonNull<u8>>,
    caching: Caching,
    dma: Arc<DmaDevice>,
}

// SAFETY: Only memory.
unsafe impl Send for DmaPages {}
// SAFETY: It is only accessed as volatile.
unsafe impl Sync for DmaPages {}

impl DmaPages {
    /// Makes `n` pages.
    ///
    /// Errors: `ENODEV` after the unbind, `ENOMEM`, `EIO` if the device cannot reach the memory,
    /// `EINVAL` for none.
    pub fn new(dma: &Arc<DmaDevice>, n: usize, caching: Caching) -> Result<Self> {
        let dev = dma.bound()?;
        if n == 0 {
            return Err(EINVAL);
        }
        let mut this = Self {
            pages: KVVec::with_capacity(n, GFP_KERNEL)?,
            addresses: KVVec::with_capacity(n, GFP_KERNEL)?,
            view: None,
            caching,
            dma: dma.clone(),
        };
        // From here on, what was made so far is freed with `this`.
        let low = dma.needs_low_memory();
        for _ in 0..n {
            // SAFETY: No requirement.
            let page = unsafe { raw::ouro_alloc_page(low) };
            if page.is_null() {
                return Err(ENOMEM);
            }
            this.pages.push(page, GFP_KERNEL)?;
        }
        let n = c_int::try_from(n)?;
        if caching != Caching::WriteBack {
            // SAFETY: Pages of our own, which nobody has mapped but the kernel's linear map,
            // which this changes.
            let ret = unsafe { raw::set_pages_array_wc(this.pages.as_mut_ptr(), n) };
            if ret != 0 {
                this.caching = Caching::WriteBack;
                return Err(Error::from_errno(ret));
            }
        }
        for &page in &this.pages {
            // SAFETY: The device is bound, the page is ours.
            let address = unsafe { raw::ouro_dma_map_page(dev, page) };
            // SAFETY: As above.
            if unsafe { raw::ouro_dma_mapping_error(dev, address) } {
                return Err(EIO);
            }
            this.addresses.push(address, GFP_KERNEL)?;
        }
        // SAFETY: The pages are ours; the array is only read.
        let view = unsafe { raw::ouro_vmap(this.pages.as_mut_ptr(), n as u32, caching.raw()) };
        this.view = Some(NonNull::new(view.cast()).ok_or(ENOMEM)?);
        Ok(this)
    }

    /// How many pages there are.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether there are none: never.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The address of a page for the device.
    pub fn address(&self, page: usize) -> Option<u64> {
        self.addresses.get(page).copied()
    }

    /// The addresses of all pages.
    pub fn addresses(&self) -> &[u64] {
        &self.addresses
    }

    /// The frame of a page, for mappings of user space.
    pub fn pfn(&self, page: usize) -> Option<usize> {
        // SAFETY: By the invariant.
        self.pages
            .get(page)
            .map(|&p| unsafe { raw::ouro_page_to_pfn(p) })
    }

    /// The memory.
    pub fn view(&self) -> View<'_> {
        let (addr, len) = match self.view {
            Some(addr) => (addr, self.pages.len() * PAGE_SIZE),
            None => (NonNull::dangling(), 0),
        };
        // SAFETY: By the invariant, or of no length.
        unsafe { View::new(addr, len) }
    }

    /// Reads 32 bits at a multiple of 4; zero outside.
    pub fn read32(&self, offset: usize) -> u32 {
        self.view().read32(offset)
    }

    /// Reads 64 bits at a multiple of 8; zero outside.
    pub fn read64(&self, offset: usize) -> u64 {
        self.view().read64(offset)
    }

    /// Writes 32 bits at a multiple of 4; nothing outside.
    pub fn write32(&self, offset: usize, value: u32) {
        self.view().write32(offset, value)
    }

    /// Writes 64 bits at a multiple of 8; nothing outside.
    pub fn write64(&self, offset: usize, value: u64) {
        self.view().write64(offset, value)
    }
}

impl Drop for DmaPages {
    fn drop(&mut self) {
        // SAFETY: By the invariants, in the reverse order of making.
        unsafe {
            if let Some(view) = self.view {
                raw::vunmap(view.as_ptr().cast());
            }
            for &address in &self.addresses {
                raw::ouro_dma_unmap_page(self.dma.raw(), address);
            }
            if self.caching != Caching::WriteBack {
                raw::set_pages_array_wb(self.pages.as_mut_ptr(), self.pages.len() as c_int);
            }
            for &page in &self.pages {
                bindings::__free_pages(page, 0);
            }
        }
    }
}
