// SPDX-License-Identifier: GPL-2.0

//! Imported dma-bufs.
//!
//! [`DriverObject::import()`](super::DriverObject::import) gets a [`DmaBuf`]; an [`Attachment`]
//! connects it with the driver's device, and is held by the object that the driver creates
//! ([`Object::import()`](super::Object::import)), which shares its reservation. [`ImportMap`] has
//! the DMA addresses of the buffer.
//!
//! The attachment is a static one: while it is mapped, the exporter keeps the memory in its place.
//!
//! C header: `include/linux/dma-buf.h`

use core::ptr::NonNull;
use kernel::{
    bindings,
    error::{from_err_ptr, to_result},
    prelude::*,
    sync::Arc,
    types::Opaque,
};

use crate::{
    pages::{DmaDevice, Imported, Run, View},
    raw,
    resv::{HasResv, Locked, Resv},
};

/// A `struct dma_buf`.
///
/// # Invariants
///
/// It has a reference for as long as a Rust reference exists.
#[repr(transparent)]
pub struct DmaBuf(Opaque<bindings::dma_buf>);

// SAFETY: A dma-buf is reference counted, and may be used by any thread.
unsafe impl Send for DmaBuf {}
// SAFETY: As above.
unsafe impl Sync for DmaBuf {}

// SAFETY: The reservation of a dma-buf is set when it is made.
unsafe impl HasResv for DmaBuf {
    fn resv(&self) -> &Resv {
        // SAFETY: By the invariant.
        unsafe { Resv::from_raw((*self.as_raw()).resv) }
    }
}

impl DmaBuf {
    /// The buffer behind a pointer.
    ///
    /// # Safety
    ///
    /// It has a reference for as long as `'a`.
    pub(crate) unsafe fn from_raw<'a>(ptr: *mut bindings::dma_buf) -> &'a Self {
        // SAFETY: By the requirement of this function; the type is transparent.
        unsafe { &*ptr.cast() }
    }

    /// Returns the C buffer.
    pub(crate) fn as_raw(&self) -> *mut bindings::dma_buf {
        self.0.get()
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> usize {
        // SAFETY: By the invariant; it does not change.
        unsafe { (*self.as_raw()).size }
    }

    /// Attaches the driver's device.
    ///
    /// Errors: `ENODEV` after the unbind, `ENOMEM`, those of the exporter.
    pub fn attach(&self, dma: &Arc<DmaDevice>) -> Result<Arc<Attachment>> {
        drop(dma.enter()?);
        // SAFETY: Both live, and nothing is mapped; the buffer gets a reference below, as long as
        // it is attached.
        let attach = from_err_ptr(unsafe { raw::dma_buf_attach(self.as_raw(), dma.raw()) })?;
        let attach = NonNull::new(attach).ok_or(ENOMEM)?;
        // SAFETY: By the invariant.
        unsafe { raw::ouro_dma_buf_get(self.as_raw()) };
        // INVARIANT: Attached, with a reference. If there is no memory for the `Arc`, the drop
        // detaches it.
        let this = Attachment {
            attach,
            dma: dma.clone(),
        };
        Ok(Arc::new(this, GFP_KERNEL)?)
    }

    /// Begins CPU access to the memory, through any of its mappings: waits for writers, and for
    /// readers if `write`. Sleeps.
    ///
    /// Errors: those of the exporter, `ERESTARTSYS`.
    pub fn begin_cpu_access(&self, write: bool) -> Result {
        // SAFETY: By the invariant.
        to_result(unsafe { raw::dma_buf_begin_cpu_access(self.as_raw(), direction(write)) })
    }

    /// Ends what [`DmaBuf::begin_cpu_access()`] began.
    ///
    /// Errors: those of the exporter.
    pub fn end_cpu_access(&self, write: bool) -> Result {
        // SAFETY: By the invariant.
        to_result(unsafe { raw::dma_buf_end_cpu_access(self.as_raw(), direction(write)) })
    }
}

/// Returns the direction of an access.
fn direction(write: bool) -> bindings::dma_data_direction {
    if write {
        bindings::dma_data_direction::DMA_BIDIRECTIONAL
    } else {
        bindings::dma_data_direction::DMA_FROM_DEVICE
    }
}

/// An attachment of the driver's device to an imported buffer.
///
/// # Invariants
///
/// `attach` is an attachment of `dma`, and holds a reference of its buffer.
pub struct Attachment {
    attach: NonNull<bindings::dma_buf_attachment>,
    dma: Arc<DmaDevice>,
}

// SAFETY: An attachment may be used by any thread.
unsafe impl Send for Attachment {}
// SAFETY: As above.
unsafe impl Sync for Attachment {}

impl Attachment {
    /// Returns the C attachment.
    pub(crate) fn as_raw(&self) -> *mut bindings::dma_buf_attachment {
        self.attach.as_ptr()
    }

    /// Returns the buffer.
    pub fn buf(&self) -> &DmaBuf {
        // SAFETY: By the invariant.
        unsafe { DmaBuf::from_raw((*self.as_raw()).dmabuf) }
    }

    /// Maps the buffer for the device. Waits if the exporter has to move the memory first. Sleeps.
    ///
    /// `locked` is the reservation of the buffer, which the object shares.
    ///
    /// Errors: `EBUSY` if the exporter is moving the buffer already: wait for the fences up to
    /// [`Usage::Kernel`](crate::resv::Usage::Kernel), without locks. `EINVAL` if it is another
    /// reservation, or if the exporter's table is not whole pages for all of the buffer; `ENODEV`
    /// after the unbind; `ENOMEM`; those of the exporter.
    pub fn map(self: &Arc<Self>, locked: &Locked<'_>) -> Result<ImportMap> {
        if !core::ptr::eq::<Resv>(&**locked, self.buf().resv()) {
            return Err(EINVAL);
        }
        // SAFETY: By the invariant; the reservation was compared.
        Ok(ImportMap(unsafe {
            Imported::new(self, &self.dma, locked)?
        }))
    }

    /// Calls `f` with a kernel mapping of the buffer. The caller has waited for all accesses that
    /// it must wait for. Sleeps.
    ///
    /// `locked` is the reservation of the buffer, which the object shares.
    ///
    /// Errors: `EINVAL` if it is another one; as [`Attachment::vmap()`]; those of `f`.
    pub fn with_view<R>(
        &self,
        locked: &Locked<'_>,
        f: impl FnOnce(View<'_>) -> Result<R>,
    ) -> Result<R> {
        if !core::ptr::eq::<Resv>(&**locked, self.buf().resv()) {
            return Err(EINVAL);
        }
        let mut map = pin_init::zeroed::<bindings::iosys_map>();
        // SAFETY: The buffer lives, and its reservation is locked; the map is written.
        to_result(unsafe { raw::dma_buf_vmap(self.buf().as_raw(), &mut map) })?;
        // SAFETY: `vaddr` is what the map has if it is not memory of a device.
        let addr = NonNull::new(unsafe { map.__bindgen_anon_1.vaddr });
        let done = match addr {
            // SAFETY: Mapped until below, all of it.
            Some(addr) if !map.is_iomem => f(unsafe { View::new(addr.cast(), self.buf().size()) }),
            _ => Err(EOPNOTSUPP),
        };
        // SAFETY: Mapped above, and still locked.
        unsafe { raw::dma_buf_vunmap(self.buf().as_raw(), &mut map) };
        done
    }

    /// Maps the buffer into the kernel's address space. Sleeps; must not be called under its
    /// reservation.
    ///
    /// Errors: `EOPNOTSUPP` if the exporter cannot map it, or if it is device memory; `ENOMEM`.
    pub fn vmap(self: &Arc<Self>) -> Result<ImportVmap> {
        let mut map = pin_init::zeroed::<bindings::iosys_map>();
        // SAFETY: The buffer lives; the map is written.
        to_result(unsafe { raw::dma_buf_vmap_unlocked(self.buf().as_raw(), &mut map) })?;
        // INVARIANT: Just mapped.
        let this = ImportVmap {
            map,
            attachment: self.clone(),
        };
        if map.is_iomem {
            return Err(EOPNOTSUPP);
        }
        Ok(this)
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        // SAFETY: By the invariant.
        unsafe {
            let buf = (*self.as_raw()).dmabuf;
            raw::dma_buf_detach(buf, self.as_raw());
            raw::dma_buf_put(buf);
        }
    }
}

/// The DMA addresses of an imported buffer. The unbind of the device unmaps it, if it is still
/// mapped.
///
/// Dropping it locks the reservation: the caller must not hold that.
pub struct ImportMap(Imported);

impl ImportMap {
    /// Returns the runs of contiguous addresses, in the order of the pages.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.0.runs()
    }

    /// Returns each page with its address, (index, address), from the page `first` on.
    pub fn addresses(&self, first: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.0.addresses(first)
    }
}

/// An imported buffer in the kernel's address space.
///
/// # Invariants
///
/// `map` is a mapping of the buffer.
pub struct ImportVmap {
    map: bindings::iosys_map,
    attachment: Arc<Attachment>,
}

// SAFETY: Only memory, which lives as long as this.
unsafe impl Send for ImportVmap {}
// SAFETY: It is only copied, and accessed as volatile.
unsafe impl Sync for ImportVmap {}

impl ImportVmap {
    /// Returns the memory. To be used between [`DmaBuf::begin_cpu_access()`] and its end.
    pub fn view(&self) -> View<'_> {
        // SAFETY: It is not memory of a device.
        let addr = unsafe { self.map.__bindgen_anon_1.vaddr };
        match NonNull::new(addr.cast()) {
            // SAFETY: By the invariant.
            Some(addr) => unsafe { View::new(addr, self.attachment.buf().size()) },
            None => View::empty(),
        }
    }
}

impl Drop for ImportVmap {
    fn drop(&mut self) {
        // SAFETY: By the invariant.
        unsafe { raw::dma_buf_vunmap_unlocked(self.attachment.buf().as_raw(), &mut self.map) }
    }
}
