// SPDX-License-Identifier: GPL-2.0

//! Mappings of objects into user space.
//!
//! Each object can have an offset in the device's file for each kind of mapping. `mmap()` with
//! that offset makes an empty mapping; pages come by fault, some page frames at a time, from the
//! driver, and are all taken away by [`Object::unmap_user()`].
//!
//! Permission: a file may map an object while it has a handle of it. The DRM core keeps that with
//! the node of the object itself, which has no offset; the nodes with offsets are ours.

use core::{marker::PhantomData, ops::Range, ptr::NonNull};
use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    bindings,
    error::to_result,
    page::PAGE_SHIFT,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
    },
};

use super::{DriverObject, Object};
use crate::{
    drm::Device,
    pages::{Frame, Pages},
    raw,
};

/// Number of kinds of mappings that an object can have, from 0 to `KINDS - 1`. The driver defines
/// their meaning.
pub const KINDS: usize = 4;

/// Page frames that are mapped in one walk of the page tables.
const RUN: usize = 64;

/// An offset of an object.
///
/// # Invariants
///
/// `node` is in the device's space of offsets, and its `driver_private` is the object.
pub(crate) struct Node {
    node: bindings::drm_vma_offset_node,
}

/// Why a page cannot be mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultError {
    /// There is no such page: `SIGBUS`.
    Bus,
    /// No memory.
    NoMemory,
    /// Let user space touch it again: something was busy, or a signal is pending.
    Retry,
}

impl From<Error> for FaultError {
    /// Converts an error of a fault handler into its effect on the faulting thread.
    fn from(e: Error) -> Self {
        if e == ENOMEM {
            FaultError::NoMemory
        } else if e == ERESTARTSYS || e == EAGAIN || e == EINTR || e == EBUSY || e == EDEADLK {
            FaultError::Retry
        } else {
            FaultError::Bus
        }
    }
}

/// A page fault in a mapping of an object.
///
/// # Invariants
///
/// `vma` is a locked mapping of page frames.
pub struct Fault<'a> {
    vma: NonNull<bindings::vm_area_struct>,
    address: usize,
    page: usize,
    pages: usize,
    kind: u8,
    _life: PhantomData<&'a mut ()>,
}

impl Fault<'_> {
    /// Returns the kind of the mapping.
    pub fn kind(&self) -> u8 {
        self.kind
    }

    /// Returns the page of the object that was touched.
    pub fn page(&self) -> usize {
        self.page
    }

    /// Returns the pages of the object that this mapping covers.
    fn window(&self) -> Range<usize> {
        // SAFETY: By the invariant; the borders of a locked mapping stay.
        let (start, end) = unsafe {
            let area = &(*self.vma.as_ptr()).__bindgen_anon_1.__bindgen_anon_1;
            (area.vm_start, area.vm_end)
        };
        let first = self.page - ((self.address - start) >> PAGE_SHIFT);
        let last = first + ((end - start) >> PAGE_SHIFT);
        first..last.min(self.pages)
    }

    /// Maps the touched page to a page frame.
    ///
    /// Here and below, the caller holds the lock under which the frame stays the object's.
    pub fn insert(&mut self, frame: Frame<'_>) -> core::result::Result<(), FaultError> {
        self.insert_run(self.page, &[frame.pfn()])
    }

    /// Maps the touched page, and the others of `pages` in the same block of `block` pages, so that
    /// they need no faults of their own. `frame` returns the frame of a page of the object, if it
    /// has one.
    ///
    /// Errors: those of the touched page.
    pub fn insert_around<'f>(
        &mut self,
        block: usize,
        pages: Range<usize>,
        frame: impl Fn(usize) -> Option<Frame<'f>>,
    ) -> core::result::Result<(), FaultError> {
        let wanted = self.page;
        self.insert(frame(wanted).ok_or(FaultError::Bus)?)?;
        let window = self.window();
        let start = wanted - wanted.checked_rem(block).unwrap_or(0);
        let end = start.saturating_add(block).min(pages.end).min(window.end);
        let mut at = start.max(pages.start).max(window.start);
        while at < end {
            let mut run = [0; RUN];
            let count = RUN.min(end - at);
            for (page, pfn) in (at..).zip(run.iter_mut().take(count)) {
                // PFN 0 is no page's.
                *pfn = frame(page).map_or(0, |frame| frame.pfn());
            }
            // A neighbour that does not come now comes by a fault of its own.
            let run = run.get(..count).ok_or(FaultError::Bus)?;
            if self.insert_run(at, run).is_err() {
                break;
            }
            at += count;
        }
        Ok(())
    }

    /// Does what [`Fault::insert_around()`] does for an object of `count` pages, which are the
    /// first of `pages`.
    pub fn insert_pages(
        &mut self,
        block: usize,
        count: usize,
        pages: &Pages,
    ) -> core::result::Result<(), FaultError> {
        let (wanted, window) = (self.page, self.window());
        let start = wanted - wanted.checked_rem(block).unwrap_or(0);
        let end = start.saturating_add(block).min(count).min(window.end);
        let start = start.max(window.start);
        let run = pages.raw().get(start..end).ok_or(FaultError::Bus)?;
        if !(start..end).contains(&wanted) {
            return Err(FaultError::Bus);
        }
        let (vma, first, count) = (self.vma.as_ptr(), run.as_ptr(), run.len() as u32);
        let address = self.address - ((wanted - start) << PAGE_SHIFT);
        // SAFETY: By the invariant, and all of it is inside. The pages are to be shown.
        match unsafe { raw::ouro_insert_pages(vma, address, first.cast_mut(), count) } {
            bindings::vm_fault_reason_VM_FAULT_NOPAGE => Ok(()),
            // A page table for the neighbours may be missing.
            _ => self.insert(pages.frame(wanted).ok_or(FaultError::Bus)?),
        }
    }

    /// Maps the pages from `page` on, all of [`Fault::window()`], to page frames by their numbers,
    /// which are the object's; where that is 0, or there is an entry, nothing changes.
    fn insert_run(&mut self, page: usize, pfns: &[usize]) -> core::result::Result<(), FaultError> {
        let window = self.window();
        let last = page.checked_add(pfns.len()).ok_or(FaultError::Bus)?;
        if page < window.start || last > window.end {
            return Err(FaultError::Bus);
        }
        let address = if page >= self.page {
            self.address + ((page - self.page) << PAGE_SHIFT)
        } else {
            self.address - ((self.page - page) << PAGE_SHIFT)
        };
        let (vma, count) = (self.vma.as_ptr(), pfns.len() as u32);
        // SAFETY: By the invariant, and all of it is inside. The frames are to be shown.
        match unsafe { raw::ouro_insert_pfns(vma, address, pfns.as_ptr(), count) } {
            bindings::vm_fault_reason_VM_FAULT_NOPAGE => Ok(()),
            bindings::vm_fault_reason_VM_FAULT_OOM => Err(FaultError::NoMemory),
            _ => Err(FaultError::Bus),
        }
    }
}

/// An access to a mapping from outside: another process's, or by `/proc/self/mem`.
pub enum Access<'a> {
    /// Reads so many bytes.
    Read(&'a mut [u8]),
    /// Writes these bytes.
    Write(&'a [u8]),
}

impl<T: DriverObject> Object<T> {
    /// Returns the `mmap()` offset of a kind of mapping; creates it at the first call. Sleeps.
    ///
    /// Errors: `EINVAL` for a kind that is not below [`KINDS`]; `ENOMEM`, `ENOSPC`.
    pub fn mmap_offset(&self, kind: u8) -> Result<u64> {
        let slot = self.nodes.get(usize::from(kind)).ok_or(EINVAL)?;
        let node = self.node(slot)?;
        // SAFETY: By the invariants of `Object` and `Node`; does not change.
        Ok(unsafe { (*node).node.vm_node.start } << PAGE_SHIFT)
    }

    /// Returns the node of a slot; creates it if there is none.
    fn node(&self, slot: &Atomic<*mut Node>) -> Result<*mut Node> {
        let old = slot.load(ordering::Acquire);
        if !old.is_null() {
            return Ok(old);
        }
        let node = KBox::into_raw(KBox::new(
            Node {
                node: pin_init::zeroed(),
            },
            GFP_KERNEL_ACCOUNT,
        )?);
        // SAFETY: The node is at its place; the device has a space of offsets, since it has
        // objects. Lookups that find it take a reference of the object, which exists.
        let added = unsafe {
            raw::ouro_vma_node_reset(&raw mut (*node).node, self.as_raw());
            to_result(bindings::drm_vma_offset_add(
                (*self.device().as_raw()).vma_offset_manager,
                &raw mut (*node).node,
                self.size() >> PAGE_SHIFT,
            ))
        };
        let raced = match added {
            Ok(()) => slot
                .cmpxchg(core::ptr::null_mut(), node, ordering::Full)
                .err(),
            Err(e) => {
                // SAFETY: Not added, not seen by others.
                drop(unsafe { KBox::from_raw(node) });
                return Err(e);
            }
        };
        if let Some(winner) = raced {
            // SAFETY: No caller has its offset.
            unsafe { remove_node(self, node) };
            return Ok(winner);
        }
        Ok(node)
    }

    /// Returns the kind whose offsets contain this one, and its first page.
    fn kind_of(&self, pgoff: usize) -> Option<(u8, usize)> {
        for (kind, slot) in (0u8..).zip(&self.nodes) {
            let node = slot.load(ordering::Acquire);
            if node.is_null() {
                continue;
            }
            // SAFETY: By the invariants of `Object` and `Node`.
            let start = unsafe { (*node).node.vm_node.start } as usize;
            if pgoff
                .checked_sub(start)
                .is_some_and(|page| page < self.size() >> PAGE_SHIFT)
            {
                return Some((kind, start));
            }
        }
        None
    }

    /// Removes all pages of the object from all mappings of user space, of all kinds. The next
    /// touch is a fault. Sleeps; allocates nothing that matters.
    ///
    /// The caller holds the lock that its fault handler takes.
    pub fn unmap_user(&self) {
        for slot in &self.nodes {
            Self::unmap_slot(self, slot);
        }
    }

    /// Does what [`Object::unmap_user()`] does for one kind, and some pages. Pages beyond the end
    /// of the object are ignored.
    pub fn unmap_user_pages(&self, kind: u8, pages: Range<usize>) {
        let Some(slot) = self.nodes.get(usize::from(kind)) else {
            return;
        };
        let node = slot.load(ordering::Acquire);
        let end = pages.end.min(self.size() >> PAGE_SHIFT);
        let count = end.saturating_sub(pages.start);
        if !node.is_null() && count != 0 {
            // SAFETY: By the invariants of `Object` and `Node`; the pages are the node's.
            unsafe {
                raw::ouro_vma_node_unmap_pages(
                    &raw mut (*node).node,
                    self.device().as_raw(),
                    pages.start,
                    count,
                )
            }
        }
    }

    fn unmap_slot(&self, slot: &Atomic<*mut Node>) {
        let node = slot.load(ordering::Acquire);
        if !node.is_null() {
            // SAFETY: By the invariants of `Object` and `Node`.
            unsafe { raw::ouro_vma_node_unmap(&raw mut (*node).node, self.device().as_raw()) }
        }
    }
}

/// Takes a node out of the space of offsets, and frees it.
///
/// # Safety
///
/// It is a node of the object that only lookups use, which fail.
unsafe fn remove_node<T: DriverObject>(obj: &Object<T>, node: *mut Node) {
    // SAFETY: By the requirement of this function. Lookups hold the lock that removing takes.
    unsafe {
        bindings::drm_vma_offset_remove(
            (*obj.device().as_raw()).vma_offset_manager,
            &raw mut (*node).node,
        );
        drop(KBox::from_raw(node));
    }
}

/// Frees the offsets of an object.
///
/// # Safety
///
/// The object has no references.
pub(super) unsafe fn free_nodes<T: DriverObject>(dead: &Object<T>) {
    for slot in &dead.nodes {
        let node = slot.xchg(core::ptr::null_mut(), ordering::Full);
        if !node.is_null() {
            // SAFETY: By the requirement of this function there are no mappings, and lookups fail.
            unsafe { remove_node(dead, node) };
        }
    }
}

/// The operations of a mapping.
pub(super) const fn vm_ops<T: DriverObject>() -> *const bindings::vm_operations_struct {
    struct Ops<T>(PhantomData<T>);
    impl<T: DriverObject> Ops<T> {
        const OPS: bindings::vm_operations_struct = bindings::vm_operations_struct {
            // These two count references of the object, which is `vm_private_data`.
            open: Some(bindings::drm_gem_vm_open),
            close: Some(bindings::drm_gem_vm_close),
            fault: Some(fault_callback::<T>),
            access: Some(access_callback::<T>),
            ..pin_init::zeroed()
        };
    }
    const { &Ops::<T>::OPS }
}

/// The `mmap` of the device's file.
///
/// # Safety
///
/// Called by the memory management for a file of a device of `T::Driver`, with a new mapping.
pub(crate) unsafe extern "C" fn mmap_callback<T: DriverObject>(
    filp: *mut bindings::file,
    vma: *mut bindings::vm_area_struct,
) -> c_int {
    // SAFETY: By the requirement of this function.
    let (file, dev) = unsafe {
        let file = (*filp).private_data.cast::<bindings::drm_file>();
        (file, Device::<T::Driver>::from_raw((*(*file).minor).dev))
    };
    if dev.is_unplugged() {
        return ENODEV.to_errno();
    }
    // SAFETY: A new mapping is ours to look at and to fill in.
    let (pgoff, start, end) = unsafe {
        let area = &(*vma).__bindgen_anon_1.__bindgen_anon_1;
        ((*vma).vm_pgoff, area.vm_start, area.vm_end)
    };
    let pages = (end - start) >> PAGE_SHIFT;
    // SAFETY: The device has a space of offsets.
    let obj = unsafe { raw::ouro_gem_at_offset(dev.as_raw(), pgoff, pages) };
    // SAFETY: Nodes of such a device are of our objects; a reference comes along.
    let Some(obj) = (unsafe { Object::<T>::take(obj) }) else {
        return EINVAL.to_errno();
    };
    // SAFETY: Both live.
    let allowed =
        unsafe { bindings::drm_vma_node_is_allowed(&raw mut (*obj.as_raw()).vma_node, file) };
    if !allowed {
        return EACCES.to_errno();
    }
    if pages > obj.size() >> PAGE_SHIFT {
        return EINVAL.to_errno();
    }
    if let Some(import) = obj.attachment() {
        let Some((_, first)) = obj.kind_of(pgoff) else {
            return EINVAL.to_errno();
        };
        // The exporter maps it as its own: the mapping does not belong to this file any more.
        // SAFETY: The buffer lives; the mapping is ours to give away.
        return unsafe { raw::dma_buf_mmap(import.buf().as_raw(), vma, pgoff - first) };
    }
    // SAFETY: As above.
    let prepared = unsafe { prepare::<T>(&obj, vma) };
    // SAFETY: As above; both live.
    let prepared =
        prepared.and_then(|()| to_result(unsafe { raw::ouro_vma_leave_file(vma, dev.as_raw()) }));
    match prepared {
        Ok(()) => {
            // The mapping keeps the reference, until `drm_gem_vm_close()`.
            let ptr = ARef::into_raw(obj);
            // SAFETY: As above.
            unsafe {
                (*vma).vm_private_data = ptr.as_ptr().cast();
                (*vma).vm_ops = vm_ops::<T>();
            }
            0
        }
        Err(e) => e.to_errno(),
    }
}

/// The `mmap` of an object: of its dma-buf, since the file has its own.
///
/// The DRM core gives a reference to the mapping, and sets its operations and its object.
///
/// # Safety
///
/// Called by the DRM core for an object of this type, with a new mapping whose offset counts from
/// the start of the object.
pub(super) unsafe extern "C" fn object_mmap_callback<T: DriverObject>(
    obj: *mut bindings::drm_gem_object,
    vma: *mut bindings::vm_area_struct,
) -> c_int {
    // SAFETY: By the requirement of this function.
    let obj = unsafe { Object::<T>::from_raw(obj) };
    let offset = match obj.mmap_offset(T::EXPORT_KIND) {
        Ok(offset) => offset,
        Err(e) => return e.to_errno(),
    };
    // SAFETY: A new mapping is ours to fill in. The dma-buf has checked that it is inside.
    let ret = unsafe {
        (*vma).vm_pgoff += offset as usize >> PAGE_SHIFT;
        prepare::<T>(obj, vma)
    };
    match ret {
        Ok(()) => 0,
        Err(e) => e.to_errno(),
    }
}

/// Makes a new mapping one of page frames of the object.
///
/// # Safety
///
/// The mapping is new, and the caller's.
unsafe fn prepare<T: DriverObject>(obj: &Object<T>, vma: *mut bindings::vm_area_struct) -> Result {
    // SAFETY: By the requirement of this function.
    let (pgoff, flags) = unsafe { ((*vma).vm_pgoff, (*vma).__bindgen_anon_2.vm_flags) };
    let (kind, _) = obj.kind_of(pgoff).ok_or(EINVAL)?;
    let write = flags & bindings::VM_WRITE as bindings::vm_flags_t != 0;
    let caching = T::mmap(obj, kind, write)?;
    // SAFETY: By the requirement of this function.
    to_result(unsafe { raw::ouro_vma_prepare(vma, caching.raw()) })
}

/// # Safety
///
/// Called by the memory management, for a mapping that [`prepare()`] has made.
unsafe extern "C" fn fault_callback<T: DriverObject>(
    vmf: *mut bindings::vm_fault,
) -> bindings::vm_fault_t {
    // SAFETY: By the requirement of this function.
    let (vma, address, pgoff) = unsafe {
        let f = &(*vmf).__bindgen_anon_1;
        (f.vma, f.address, f.pgoff)
    };
    // SAFETY: The mapping has a reference of the object.
    let obj = unsafe { Object::<T>::from_raw((*vma).vm_private_data.cast()) };
    let Some((kind, first)) = obj.kind_of(pgoff) else {
        return bindings::vm_fault_reason_VM_FAULT_SIGBUS;
    };
    // INVARIANT: By the requirement of this function.
    let mut fault = Fault {
        // SAFETY: A fault has a mapping.
        vma: unsafe { NonNull::new_unchecked(vma) },
        address: address & !(kernel::page::PAGE_SIZE - 1),
        page: pgoff - first,
        pages: obj.size() >> PAGE_SHIFT,
        kind,
        _life: PhantomData,
    };
    match T::fault(obj, &mut fault) {
        Ok(()) | Err(FaultError::Retry) => bindings::vm_fault_reason_VM_FAULT_NOPAGE,
        Err(FaultError::NoMemory) => bindings::vm_fault_reason_VM_FAULT_OOM,
        Err(FaultError::Bus) => bindings::vm_fault_reason_VM_FAULT_SIGBUS,
    }
}

/// Copies for a debugger: the memory management has no pages for page frames, and asks for a copy.
/// Returns the number of bytes, or an error.
///
/// # Safety
///
/// Called by the memory management under `mmap_lock`, for a mapping that [`prepare()`] has made.
/// `address` is in it, and `buf` is `len` bytes of kernel memory.
unsafe extern "C" fn access_callback<T: DriverObject>(
    vma: *mut bindings::vm_area_struct,
    address: usize,
    buf: *mut c_void,
    len: c_int,
    write: c_int,
) -> c_int {
    // SAFETY: By the requirement of this function.
    let (start, end, first_pgoff, flags) = unsafe {
        let area = &(*vma).__bindgen_anon_1.__bindgen_anon_1;
        let flags = (*vma).__bindgen_anon_2.vm_flags;
        (area.vm_start, area.vm_end, (*vma).vm_pgoff, flags)
    };
    if write != 0 && flags & bindings::VM_WRITE as bindings::vm_flags_t == 0 {
        return EACCES.to_errno();
    }
    // SAFETY: The mapping has a reference of the object.
    let obj = unsafe { Object::<T>::from_raw((*vma).vm_private_data.cast()) };
    let Some((_, first)) = obj.kind_of(first_pgoff) else {
        return EFAULT.to_errno();
    };
    let Some(inside) = address.checked_sub(start) else {
        return EFAULT.to_errno();
    };
    let offset = ((first_pgoff - first) << PAGE_SHIFT) + inside;
    let len = usize::try_from(len).unwrap_or(0);
    // As with the upstream drivers, there are no partial accesses at the end of an object.
    if offset.checked_add(len).is_none_or(|end| end > obj.size()) {
        return EINVAL.to_errno();
    }
    // The memory management continues with the next mapping at the end of this one.
    let len = len.min(end.saturating_sub(address));
    let access = if write != 0 {
        // SAFETY: By the requirement of this function.
        Access::Write(unsafe { core::slice::from_raw_parts(buf.cast(), len) })
    } else {
        // SAFETY: As above. The page was not written before.
        Access::Read(unsafe {
            core::ptr::write_bytes(buf.cast::<u8>(), 0, len);
            core::slice::from_raw_parts_mut(buf.cast(), len)
        })
    };
    match T::access(obj, offset, access) {
        // It was an `int`.
        Ok(()) => len as c_int,
        Err(e) => e.to_errno(),
    }
}
