// SPDX-License-Identifier: GPL-2.0

//! Swappable memory, and its pages.

use core::ptr::NonNull;
use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    bindings,
    error::{from_err_ptr, to_result},
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
};

use super::{copy, DmaMap, Frame, View, PAGE_SIZE};
use crate::{pci::DmaDevice, raw, Caching};

/// Zeroed memory for an object, which the kernel may swap out while its [`Pages`] are not held.
///
/// # Invariants
///
/// The pointer is a shmem file of which this owns a reference.
pub struct Shmem {
    pub(super) file: NonNull<bindings::file>,
    pages: usize,
}

// SAFETY: Files are reference counted, and have their own locks.
unsafe impl Send for Shmem {}
// SAFETY: As above.
unsafe impl Sync for Shmem {}

/// A full file system means that memory is short here.
pub(super) fn no_memory(e: Error) -> Error {
    if e == ENOSPC {
        ENOMEM
    } else {
        e
    }
}

impl Shmem {
    /// Creates memory of `size` bytes, rounded up to pages. It allocates no pages yet.
    ///
    /// Errors: `ENOMEM`, `EINVAL` for an invalid size.
    pub fn new(size: usize, dma: &DmaDevice) -> Result<Self> {
        let pages = size.div_ceil(PAGE_SIZE);
        let bytes = i64::try_from(size).map_err(|_| EINVAL)?;
        // SAFETY: The name is a C string. The flag is that of `VM_NORESERVE`: memory is accounted
        // when it is used.
        let file =
            from_err_ptr(unsafe { raw::ouro_shmem_file(c"ouro object".as_char_ptr(), bytes) })
                .map_err(no_memory)?;
        let file = NonNull::new(file).ok_or(ENOMEM)?;
        // SAFETY: No other code knows the file.
        unsafe { raw::ouro_shmem_limit(file.as_ptr(), dma.needs_low_memory()) };
        Ok(Self { file, pages })
    }

    /// Returns the number of pages.
    pub fn len(&self) -> usize {
        self.pages
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.pages == 0
    }

    /// Allocates all pages, reads them from swap if necessary, and holds them. Sleeps; may enter
    /// reclaim.
    ///
    /// Reclaim skips pages of a marked file; the mark is no count: if two [`Pages`] of the file
    /// exist for a while, reclaim looks at the pages again when the first is dropped, and finds
    /// them in use.
    ///
    /// Errors: `ENOMEM`, `EIO` from swap, `EINTR` when killed.
    pub fn get_pages(&self) -> Result<Pages> {
        // There may be more of them than one allocation can count.
        let mut list = KVVec::with_capacity(self.pages, GFP_KERNEL_ACCOUNT | __GFP_NOWARN)?;
        let file = self.clone();
        // SAFETY: By the invariant.
        unsafe { raw::ouro_shmem_pin(self.file.as_ptr()) };
        let mut pages = Pages {
            list: KVVec::new(),
            owner: Owner::Shmem(file),
            clean: Atomic::new(false),
        };
        for index in 0..self.pages {
            // SAFETY: By the invariant; the page comes with a reference.
            let page = from_err_ptr(unsafe { raw::ouro_shmem_page(self.file.as_ptr(), index) });
            match page {
                // There is capacity.
                Ok(page) => drop(list.push_within_capacity(page)),
                Err(e) => {
                    // The pages allocated so far are freed with `pages`.
                    pages.list = list;
                    return Err(no_memory(e));
                }
            }
        }
        pages.list = list;
        Ok(pages)
    }

    /// Runs `f` for each part of a range that is in one page, as [`pieces`]. One page at a time is
    /// allocated or read from swap, and held during the call only.
    fn each(
        &self,
        offset: usize,
        len: usize,
        write: bool,
        f: impl FnMut(*mut u8, core::ops::Range<usize>) -> Result,
    ) -> Result {
        let page = |index| {
            // SAFETY: By the invariant; the function returns a reference to the page.
            let page = from_err_ptr(unsafe { raw::ouro_shmem_page(self.file.as_ptr(), index) });
            // INVARIANT: The result takes over the reference.
            page.map(|page| Held { page, write }).map_err(no_memory)
        };
        pieces(self.pages, offset, len, page, |held| held.page, f)
    }

    /// Copies from the file.
    ///
    /// Errors: `EINVAL` if the range is not inside; `ENOMEM`, `EIO` from swap, `EINTR` when killed.
    pub fn read(&self, offset: usize, out: &mut [u8]) -> Result {
        let to = out.as_mut_ptr();
        self.each(offset, out.len(), false, |from, range| {
            // SAFETY: Both ranges are valid and do not overlap.
            unsafe { copy(to.add(range.start), from, range.len()) };
            Ok(())
        })
    }

    /// Copies to the file.
    /// Errors: as [`Shmem::read()`], with a part copied.
    pub fn write(&self, offset: usize, data: &[u8]) -> Result {
        self.each(offset, data.len(), true, |to, range| {
            let from = data.get(range).ok_or(EINVAL)?;
            // SAFETY: As in `read()`.
            unsafe { copy(to, from.as_ptr(), from.len()) };
            Ok(())
        })
    }

    /// Copies from the file to user space. May fault: the caller holds no lock.
    ///
    /// Errors: as [`Shmem::read()`]; `EFAULT`, with a part copied.
    pub fn copy_to_user(&self, offset: usize, address: u64, len: usize) -> Result {
        self.each(offset, len, false, |from, range| {
            // SAFETY: Mapped memory of the page.
            unsafe { to_user(address, from, range) }
        })
    }

    /// Copies from user space without page faults, as [`Pages::copy_from_user_present()`].
    ///
    /// Errors: as [`Shmem::read()`]; `EFAULT`, with a part copied.
    pub fn copy_from_user_present(&self, offset: usize, address: u64, len: usize) -> Result {
        self.each(offset, len, true, |to, range| {
            // SAFETY: Mapped memory of the page.
            unsafe { from_user_present(to, address, range) }
        })
    }

    /// Frees all memory: its contents are lost, and the next page is zeroed. Pages whose contents
    /// matter must not be held.
    pub fn truncate(&self) {
        // SAFETY: By the invariant.
        unsafe { raw::ouro_shmem_discard(self.file.as_ptr()) }
    }
}

impl Clone for Shmem {
    fn clone(&self) -> Self {
        // SAFETY: By the invariant.
        unsafe { bindings::get_file(self.file.as_ptr()) };
        Self {
            file: self.file,
            pages: self.pages,
        }
    }
}

impl Drop for Shmem {
    fn drop(&mut self) {
        // SAFETY: By the invariant.
        unsafe { bindings::fput(self.file.as_ptr()) }
    }
}

/// A page of a file, held for one call.
///
/// # Invariants
///
/// It owns a reference to the page.
struct Held {
    page: *mut bindings::page,
    /// Whether it is written.
    write: bool,
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: By the invariant.
        unsafe { raw::ouro_shmem_put_page(self.page, self.write) }
    }
}

/// Runs `f` for each part of a range of `count` pages that is in one page, with its address and its
/// place in the range. `get` returns a page by its index, and `raw` the page itself, which is
/// mapped during the call.
///
/// Errors: `EINVAL` if the range is not inside; those of `get` and of `f`.
fn pieces<P>(
    count: usize,
    offset: usize,
    len: usize,
    get: impl Fn(usize) -> Result<P>,
    raw: impl Fn(&P) -> *mut bindings::page,
    mut f: impl FnMut(*mut u8, core::ops::Range<usize>) -> Result,
) -> Result {
    let end = offset.checked_add(len).ok_or(EINVAL)?;
    if end > count * PAGE_SIZE {
        return Err(EINVAL);
    }
    let mut at = offset;
    while at < end {
        let within = at % PAGE_SIZE;
        let n = (PAGE_SIZE - within).min(end - at);
        let page = get(at / PAGE_SIZE)?;
        // SAFETY: The page is held; mappings are undone below in reverse order.
        let base = unsafe { raw::ouro_kmap(raw(&page)) };
        let ret = f(
            base.cast::<u8>().wrapping_add(within),
            at - offset..at - offset + n,
        );
        // SAFETY: Mapped above.
        unsafe { raw::ouro_kunmap(base) };
        ret?;
        at += n;
    }
    Ok(())
}

/// Copies a part of a range to the same part of user space from `address` on.
///
/// Errors: `EFAULT`.
///
/// # Safety
///
/// `from` is mapped memory as long as the part. (It is no slice, since it may be written
/// meanwhile.)
unsafe fn to_user(address: u64, from: *const u8, piece: core::ops::Range<usize>) -> Result {
    let to = address.checked_add(piece.start as u64).ok_or(EFAULT)?;
    let to = core::ptr::without_provenance_mut(to as usize);
    // SAFETY: By the requirement of this function; the other address is checked.
    match unsafe { bindings::copy_to_user(to, from.cast(), piece.len()) } {
        0 => Ok(()),
        _ => Err(EFAULT),
    }
}

/// Copies a part of user space, from `address` on, to the same part of a range, without page
/// faults.
///
/// Errors: `EFAULT`.
///
/// # Safety
///
/// As [`to_user()`].
unsafe fn from_user_present(to: *mut u8, address: u64, piece: core::ops::Range<usize>) -> Result {
    let from = address.checked_add(piece.start as u64).ok_or(EFAULT)?;
    let from = core::ptr::without_provenance(from as usize);
    // SAFETY: By the requirement of this function; the other address is checked.
    to_result(unsafe { bindings::copy_from_user_nofault(to.cast(), from, piece.len()) as c_int })
}

/// The owner of pages.
enum Owner {
    /// A shmem file.
    Shmem(Shmem),
    /// A process: its `mm`, for accounting, and whether the pages may be written.
    User {
        mm: NonNull<bindings::mm_struct>,
        write: bool,
    },
}

/// All pages of a [`Shmem`], or of a range of user memory, held where they are.
///
/// On drop, the pages count as written, since the device may have written them, unless
/// [`Pages::set_clean()`] was called.
///
/// # Invariants
///
/// Each pointer of `list` comes with a reference of a page of the file, at its index, or with a pin
/// of a page of the process, whose `mm` has a reference and accounts for the pins.
pub struct Pages {
    list: KVVec<*mut bindings::page>,
    owner: Owner,
    clean: Atomic<bool>,
}

// SAFETY: Pages are reference counted.
unsafe impl Send for Pages {}
// SAFETY: The contents of pages are bytes that the device and user space may change at any time;
// they are only copied.
unsafe impl Sync for Pages {}

impl Pages {
    /// Pins user memory of the calling process; see [`UserRange`](crate::userptr::UserRange).
    pub(crate) fn pin_user(address: usize, n: usize, write: bool, limited: bool) -> Result<Self> {
        let mut list = KVVec::with_capacity(n, GFP_KERNEL_ACCOUNT | __GFP_NOWARN)?;
        // SAFETY: No requirement; comes with a reference, and counts `n` pages. A thread of the
        // kernel has no memory to pin, and gets nothing.
        let mm = unsafe { raw::ouro_pin_account(n, limited) };
        let mm = NonNull::new(mm).ok_or(ENOMEM)?;
        let mut done = 0;
        let ret = loop {
            if done == n {
                break Ok(());
            }
            let left = (n - done).min(4096) as c_int;
            // SAFETY: There is room for so many more; each comes with a pin.
            let got = unsafe {
                raw::ouro_pin_user(
                    address + done * PAGE_SIZE,
                    left,
                    write,
                    list.spare_capacity_mut().as_mut_ptr().cast(),
                )
            };
            match usize::try_from(got) {
                Err(_) => break Err(Error::from_errno(got)),
                Ok(0) => break Err(EFAULT),
                Ok(got) => {
                    done += got;
                    // SAFETY: So many were written.
                    unsafe { list.inc_len(got) };
                }
            }
        };
        let whole = Self {
            list,
            owner: Owner::User { mm, write },
            clean: Atomic::new(ret.is_err()),
        };
        if ret.is_err() {
            // Uncharge the pages that were not pinned; the drop uncharges the others.
            // SAFETY: `mm` has a reference.
            unsafe { raw::ouro_pin_uncount(mm.as_ptr(), n - done) };
        }
        ret.map(|()| whole)
    }

    /// Returns the number of pages.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the memory that they can be read from again, if there is any.
    pub fn shmem(&self) -> Option<&Shmem> {
        match &self.owner {
            Owner::Shmem(shmem) => Some(shmem),
            Owner::User { .. } => None,
        }
    }

    /// Returns the frame of a page, for mappings of user space.
    pub fn frame(&self, index: usize) -> Option<Frame<'_>> {
        // SAFETY: By the invariant, as long as `self`.
        self.list
            .get(index)
            .map(|&p| unsafe { Frame::new(raw::ouro_page_to_pfn(p)) })
    }

    /// Maps all pages for the device. The mapping must be dropped before the pages.
    ///
    /// Errors: `ENODEV` after the unbind, `EIO` if the device cannot reach them, `ENOMEM`.
    pub fn map(self: &Arc<Self>, dma: Arc<DmaDevice>) -> Result<DmaMap> {
        DmaMap::new(self.clone(), dma)
    }

    /// Sets whether the pages were not written, or their contents are not needed: clean pages are
    /// not written to swap when they are released.
    pub fn set_clean(&self, clean: bool) {
        self.clean.store(clean, ordering::Relaxed);
    }

    pub(crate) fn raw(&self) -> &[*mut bindings::page] {
        &self.list
    }

    /// Runs `f` for each part of a range that is in one page, as [`pieces`].
    ///
    /// Errors: `EINVAL` if the range is not inside; those of `f`.
    fn each(
        &self,
        offset: usize,
        len: usize,
        f: impl FnMut(*mut u8, core::ops::Range<usize>) -> Result,
    ) -> Result {
        let page = |index: usize| self.list.get(index).copied().ok_or(EINVAL);
        pieces(self.list.len(), offset, len, page, |page| *page, f)
    }

    /// Copies from the pages.
    ///
    /// Errors: `EINVAL` if the range is not inside.
    pub fn read(&self, offset: usize, out: &mut [u8]) -> Result {
        let to = out.as_mut_ptr();
        self.each(offset, out.len(), |from, range| {
            // SAFETY: Both ranges are valid, and apart.
            unsafe { copy(to.add(range.start), from, range.len()) };
            Ok(())
        })
    }

    /// Copies to the pages.
    ///
    /// Errors: `EINVAL` if the range is not inside.
    pub fn write(&self, offset: usize, data: &[u8]) -> Result {
        let end = offset.checked_add(data.len()).ok_or(EINVAL)?;
        if end > self.list.len() * PAGE_SIZE {
            return Err(EINVAL);
        }
        let (mut at, mut rest) = (offset, data);
        while !rest.is_empty() {
            let within = at % PAGE_SIZE;
            let n = rest.len().min(PAGE_SIZE - within);
            let page = *self.list.get(at / PAGE_SIZE).ok_or(EINVAL)?;
            // SAFETY: The page is held, the range is inside it, and `rest` has so many bytes.
            unsafe { raw::ouro_copy_to_page(page, within, rest.as_ptr().cast(), n) };
            rest = rest.get(n..).ok_or(EINVAL)?;
            at += n;
        }
        Ok(())
    }

    /// Reads 32 bits; `offset` must be a multiple of 4.
    ///
    /// Errors: `EINVAL`.
    pub fn read32(&self, offset: usize) -> Result<u32> {
        let mut bytes = [0; 4];
        if offset % 4 != 0 {
            return Err(EINVAL);
        }
        self.read(offset, &mut bytes)?;
        Ok(u32::from_ne_bytes(bytes))
    }

    /// Writes 32 bits in one access; `offset` must be a multiple of 4.
    ///
    /// Errors: `EINVAL`.
    pub fn write32(&self, offset: usize, value: u32) -> Result {
        if offset % 4 != 0 {
            return Err(EINVAL);
        }
        self.each(offset, 4, |to, _| {
            // SAFETY: Mapped and aligned.
            unsafe { to.cast::<u32>().write_volatile(value) };
            Ok(())
        })
    }

    /// Writes 64 bits in one access; `offset` must be a multiple of 8.
    ///
    /// Errors: `EINVAL`.
    pub fn write64(&self, offset: usize, value: u64) -> Result {
        if offset % 8 != 0 {
            return Err(EINVAL);
        }
        self.each(offset, 8, |to, _| {
            // SAFETY: Mapped and aligned.
            unsafe { to.cast::<u64>().write_volatile(value) };
            Ok(())
        })
    }

    /// Returns the pages from that of `offset` on, and the offset in the first.
    ///
    /// Errors: `EINVAL` if `len` bytes from `offset` on are not inside.
    fn from(&self, offset: usize, len: usize) -> Result<(*mut *mut bindings::page, usize)> {
        let end = offset.checked_add(len).ok_or(EINVAL)?;
        if end > self.list.len() * PAGE_SIZE {
            return Err(EINVAL);
        }
        let first = self.list.get(offset / PAGE_SIZE..).ok_or(EINVAL)?;
        Ok((first.as_ptr().cast_mut(), offset % PAGE_SIZE))
    }

    /// Copies from the pages directly to user space. May fault: the caller must not hold locks.
    ///
    /// Errors: `EINVAL` if the range is not inside; `EFAULT`, with a part of it copied.
    pub fn copy_to_user(&self, offset: usize, address: u64, len: usize) -> Result {
        let (pages, within) = self.from(offset, len)?;
        // SAFETY: The pages have so many bytes; the other address is checked.
        match unsafe { raw::ouro_copy_to_user(address as usize, pages, within, len) } {
            true => Ok(()),
            false => Err(EFAULT),
        }
    }

    /// Copies from user space without page faults, so locks may be held. The copy ends where a page
    /// of user space is not present.
    ///
    /// Errors: `EINVAL` if the range is not inside; `EFAULT`, with a part copied.
    pub fn copy_from_user_present(&self, offset: usize, address: u64, len: usize) -> Result {
        let (pages, within) = self.from(offset, len)?;
        // SAFETY: As above.
        match unsafe { raw::ouro_copy_from_user(pages, within, address as usize, len) } {
            true => Ok(()),
            false => Err(EFAULT),
        }
    }

    /// Writes the CPU's cache lines of a range back to memory, and invalidates them.
    ///
    /// Errors: `EINVAL` if the range is not inside.
    pub fn clflush(&self, offset: usize, len: usize) -> Result {
        let (pages, within) = self.from(offset, len)?;
        // SAFETY: The pages have so many bytes.
        unsafe { raw::ouro_flush_pages(pages, within, len) };
        Ok(())
    }

    /// Maps all pages contiguously into the kernel's address space.
    ///
    /// Errors: `ENOMEM`.
    pub fn vmap(self: &Arc<Self>, caching: Caching) -> Result<Vmap> {
        let n = u32::try_from(self.list.len())?;
        // SAFETY: By the invariant; the array is only read.
        let addr = unsafe { raw::ouro_vmap(self.list.as_ptr().cast_mut(), n, caching.raw()) };
        Ok(Vmap {
            addr: NonNull::new(addr.cast()).ok_or(ENOMEM)?,
            pages: self.clone(),
        })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let dirty = !self.clean.load(ordering::Relaxed);
        match &self.owner {
            // SAFETY: By the invariants.
            Owner::Shmem(shmem) => unsafe {
                let n = self.list.len();
                raw::ouro_shmem_unpin(shmem.file.as_ptr(), self.list.as_mut_ptr(), n, dirty);
            },
            // SAFETY: By the invariants.
            Owner::User { mm, write } => unsafe {
                let n = self.list.len();
                raw::ouro_unpin_user(self.list.as_mut_ptr(), n, dirty && *write);
                raw::ouro_pin_uncount(mm.as_ptr(), n);
                bindings::mmdrop(mm.as_ptr());
            },
        }
    }
}

/// Pages in the kernel's address space.
///
/// # Invariants
///
/// `addr` is a mapping of all of `pages`.
pub struct Vmap {
    addr: NonNull<u8>,
    pages: Arc<Pages>,
}

// SAFETY: Only memory, which lives as long as this.
unsafe impl Send for Vmap {}
// SAFETY: It is only copied, and accessed as volatile.
unsafe impl Sync for Vmap {}

impl Vmap {
    /// Returns the memory, for volatile access.
    pub fn view(&self) -> View<'_> {
        // SAFETY: By the invariant.
        unsafe { View::new(self.addr, self.pages.len() * PAGE_SIZE) }
    }
}

impl Drop for Vmap {
    fn drop(&mut self) {
        // SAFETY: By the invariant.
        unsafe { raw::vunmap(self.addr.as_ptr().cast()) }
    }
}
