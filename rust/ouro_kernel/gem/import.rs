// SPDX-License-Identifier: GPL-2.0

//! Buffers of other devices.
//!
//! [`DmaBuf`] is what [`DriverObject::import()`](super::DriverObject::import) gets; [`Attachment`]
//! connects it with our device, and is held by the object that the driver makes of it
//! ([`Object::import()`](super::Object::import)), which shares its reservation.
//! [`ImportMap`] are the addresses that our device has for it.
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

    /// The C buffer.
    pub(crate) fn as_raw(&self) -> *mut bindings::dma_buf {
        self.0.get()
    }

    /// The size in bytes.
    pub fn size(&self) -> usize {
        // SAFETY: By the invariant; it does not change.
        unsafe { (*self.as_raw()).size }
    }

    /// Connects it with our device.
    ///
    /// Errors: `ENODEV` after the unbind, `ENOMEM`, those of the exporter.
    pub fn attach(&self, dma: &Arc<DmaDevice>) -> Result<Arc<Attachment>> {
        drop(dma.enter()?);
        // SAFETY: Both live, and nothing is mapped; the buffer gets a reference below, as long as it is attached.
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

    /// Begins to access the memory with the CPU, through any of its mappings: waits for who
    /// writes it, and for whom a writer has to wait. Sleeps.
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

/// What an access is called.
fn direction(write: bool) -> bindings::dma_data_direction {
    if write {
        bindings::dma_data_direction::DMA_BIDIRECTIONAL
    } else {
        bindings::dma_data_direction::DMA_FROM_DEVICE
    }
}

/// A buffer of someone else's that our device is attached to.
///
/// # Invariants
///
/// `attach` is an attachment of `dma`, whose buffer has a reference from this.
pub struct Attachment {
    attach: NonNull<bindings::dma_buf_attachment>,
    dma: Arc<DmaDevice>,
}

// SAFETY: An attachment may be used by any thread.
unsafe impl Send for Attachment {}
// SAFETY: As above.
unsafe impl Sync for Attachment {}

impl Attachment {
    /// The C attachment.
    pub(crate) fn as_raw(&self) -> *mut bindings::dma_buf_attachment {
        self.attach.as_ptr()
    }

    /// The buffer.
    pub fn buf(&self) -> &DmaBuf {
        // SAFETY: By the invariant.
        unsafe { DmaBuf::from_raw((*self.as_raw()).dmabuf) }
    }

    /// Gets the addresses that our device has for the buffer. The exporter may have to move the
    /// memory first: that is waited for. Sleeps.
    ///
    /// `locked` is the reservation of the buffer, which is that of the object.
    ///
    /// Errors: `EBUSY` if the exporter is moving it already: wait for the fences up to
    /// [`Usage::Kernel`](crate::resv::Usage::Kernel), with nothing locked. `EINVAL` if it is another
    /// reservation, or if what the exporter gives is not whole pages for all of the buffer; `ENODEV`
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

    /// Lets `f` access the buffer through the kernel's address space. Who calls has waited for whom
    /// there is to wait for. Sleeps.
    ///
    /// `locked` is the reservation of the buffer, which is that of the object.
    ///
    /// Errors: `EINVAL` if it is another one; as for [`Attachment::vmap()`]; those of `f`.
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

    /// Maps the buffer into the kernel's address space. Sleeps; not under its reservation.
    ///
    /// Errors: `EOPNOTSUPP` if the exporter cannot, or if it is memory of a device; `ENOMEM`.
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

/// The addresses that our device has for a buffer of someone else's. The unbind of our device
/// unmaps it, if it is still there.
///
/// Dropping it locks the reservation: not for who has that locked.
pub struct ImportMap(Imported);

impl ImportMap {
    /// The runs of successive addresses, in the order of the pages.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.0.runs()
    }

    /// Each page with its address: (index, address), from the page `first` on.
    pub fn addresses(&self, first: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.0.addresses(first)
    }
}

/// A buffer of someone else's in the kernel's address space.
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
    /// The memory. To be used between [`DmaBuf::begin_cpu_access()`] and its end.
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
