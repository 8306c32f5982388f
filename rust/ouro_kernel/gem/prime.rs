// SPDX-License-Identifier: GPL-2.0

//! Objects as dma-bufs.
//!
//! If a dma-buf that the same device exported is imported, that yields the object itself. The
//! driver decides about others in [`DriverObject::import()`]. [`DriverObject::SHARES`] tells
//! whether others can attach to the driver's objects; while they are attached, the object is
//! pinned.
//!
//! C headers: `include/drm/drm_prime.h`, `include/linux/dma-buf.h`

use core::marker::PhantomData;
use kernel::{bindings, page::PAGE_SHIFT, prelude::*, sync::aref::ARef};

use super::{DmaBuf, DriverObject, Object};
use crate::{
    drm::{Device, Driver},
    raw,
    resv::{HasResv, Locked},
    Caching,
};

/// The operations of the dma-bufs of the driver's objects.
struct Ops<T>(PhantomData<T>);

impl<T: DriverObject> Ops<T> {
    /// The operations of the DRM core, and those that it has no hook for.
    const OPS: bindings::dma_buf_ops = bindings::dma_buf_ops {
        attach: Some(raw::drm_gem_map_attach),
        detach: Some(raw::drm_gem_map_detach),
        map_dma_buf: Some(raw::drm_gem_map_dma_buf),
        unmap_dma_buf: Some(raw::drm_gem_unmap_dma_buf),
        release: Some(raw::drm_gem_dmabuf_release),
        mmap: Some(raw::drm_gem_dmabuf_mmap),
        vmap: Some(raw::drm_gem_dmabuf_vmap),
        vunmap: Some(raw::drm_gem_dmabuf_vunmap),
        begin_cpu_access: Some(begin_cpu_access_callback::<T>),
        end_cpu_access: Some(end_cpu_access_callback::<T>),
        ..pin_init::zeroed()
    };

    /// Returns their address; a constant may have several addresses, hence not inlined.
    #[inline(never)]
    fn get() -> *const bindings::dma_buf_ops {
        const { &Self::OPS }
    }
}

/// The object of a dma-buf that it has exported.
///
/// # Safety
///
/// The buffer has a reference for as long as `'a`, and is one of ours.
unsafe fn object_of<'a, T: DriverObject>(buf: *mut bindings::dma_buf) -> &'a Object<T> {
    // SAFETY: By the requirement of this function: `priv` of such a buffer is an object.
    unsafe { Object::from_raw((*buf).priv_.cast()) }
}

/// # Safety
///
/// Called by the DRM core for an object of this type.
pub(super) unsafe extern "C" fn export_callback<T: DriverObject>(
    obj: *mut bindings::drm_gem_object,
    flags: c_int,
) -> *mut bindings::dma_buf {
    // SAFETY: By the requirement of this function.
    let this = unsafe { Object::<T>::from_raw(obj) };
    if let Err(e) = T::export(this) {
        return e.to_ptr();
    }
    let owner = kernel::module::this_module::<<T::Driver as Driver>::Module>().as_ptr();
    let mut info = bindings::dma_buf_export_info {
        exp_name: c"ouro".as_char_ptr(),
        owner,
        ops: Ops::<T>::get(),
        size: this.size(),
        flags,
        // SAFETY: By the requirement of this function.
        resv: unsafe { (*obj).resv },
        priv_: obj.cast(),
    };
    // SAFETY: All of it is valid; takes references of the object and of the device.
    unsafe { raw::drm_gem_dmabuf_export(this.device().as_raw(), &mut info) }
}

/// # Safety
///
/// Called by the DRM core for a device of `T::Driver`.
pub(crate) unsafe extern "C" fn import_callback<T: DriverObject>(
    dev: *mut bindings::drm_device,
    buf: *mut bindings::dma_buf,
) -> *mut bindings::drm_gem_object {
    // SAFETY: By the requirement of this function.
    unsafe {
        if core::ptr::eq((*buf).ops, Ops::<T>::get()) {
            let obj: *mut bindings::drm_gem_object = (*buf).priv_.cast();
            if core::ptr::eq((*obj).dev, dev) {
                // The object itself, with a reference for the caller.
                bindings::drm_gem_object_get(obj);
                return obj;
            }
        }
    }
    // SAFETY: By the requirement of this function.
    let (dev, buf) = unsafe { (Device::<T::Driver>::from_raw(dev), DmaBuf::from_raw(buf)) };
    match T::import(dev, buf) {
        Ok(obj) => ARef::into_raw(obj).cast().as_ptr(),
        Err(e) => e.to_ptr(),
    }
}

/// # Safety
///
/// This thread has the reservation of the object locked.
unsafe fn pin_locked<T: DriverObject>(obj: &Object<T>) -> Result {
    // SAFETY: By the requirement of this function.
    T::pin(obj, &unsafe { Locked::assume(obj.resv()) })
}

/// # Safety
///
/// Called by the DRM core for an object of this type, whose reservation is locked.
pub(super) unsafe extern "C" fn pin_callback<T: DriverObject>(
    obj: *mut bindings::drm_gem_object,
) -> c_int {
    // SAFETY: By the requirement of this function.
    match unsafe { pin_locked(Object::<T>::from_raw(obj)) } {
        Ok(()) => 0,
        Err(e) => e.to_errno(),
    }
}

/// # Safety
///
/// As for [`pin_callback()`], once for each success of it.
pub(super) unsafe extern "C" fn unpin_callback<T: DriverObject>(
    obj: *mut bindings::drm_gem_object,
) {
    // SAFETY: By the requirement of this function.
    T::unpin(unsafe { Object::<T>::from_raw(obj) });
}

/// Returns the pages that importers may access: as many as the object has by its size. The driver
/// may keep others behind them, for its own use.
///
/// Errors: `EINVAL` if there are fewer.
fn shared<'a, T: DriverObject>(
    obj: &Object<T>,
    pages: &'a [*mut bindings::page],
) -> Result<&'a [*mut bindings::page]> {
    pages.get(..obj.size() >> PAGE_SHIFT).ok_or(EINVAL)
}

/// # Safety
///
/// Called by the DRM core for a pinned object of this type.
pub(super) unsafe extern "C" fn sg_table_callback<T: DriverObject>(
    obj: *mut bindings::drm_gem_object,
) -> *mut bindings::sg_table {
    // SAFETY: By the requirement of this function.
    let obj = unsafe { Object::<T>::from_raw(obj) };
    let table = T::pages(obj).and_then(|pages| {
        let pages = shared(obj, pages.raw())?;
        let n = u32::try_from(pages.len())?;
        // SAFETY: The array is only read. The object is pinned: the pages outlive the table.
        Ok(unsafe {
            raw::drm_prime_pages_to_sg(obj.device().as_raw(), pages.as_ptr().cast_mut(), n)
        })
    });
    table.unwrap_or_else(|e| e.to_ptr())
}

/// # Safety
///
/// Called by the DRM core for an object of this type, whose reservation is locked.
pub(super) unsafe extern "C" fn vmap_callback<T: DriverObject>(
    obj: *mut bindings::drm_gem_object,
    map: *mut bindings::iosys_map,
) -> c_int {
    // SAFETY: By the requirement of this function.
    let obj = unsafe { Object::<T>::from_raw(obj) };
    // SAFETY: By the requirement of this function.
    let mapped = unsafe { pin_locked(obj) }.and_then(|()| {
        let addr = T::pages(obj).and_then(|pages| {
            let pages = shared(obj, pages.raw())?;
            let n = u32::try_from(pages.len())?;
            let list = pages.as_ptr().cast_mut();
            // SAFETY: The array is only read. The object is pinned: the pages outlive the map.
            let addr = unsafe { raw::ouro_vmap(list, n, Caching::WriteBack.raw()) };
            if addr.is_null() {
                return Err(ENOMEM);
            }
            Ok(addr)
        });
        addr.inspect_err(|_| T::unpin(obj))
    });
    match mapped {
        Ok(addr) => {
            // SAFETY: By the requirement of this function.
            unsafe {
                (*map).__bindgen_anon_1.vaddr = addr;
                (*map).is_iomem = false;
            }
            0
        }
        Err(e) => e.to_errno(),
    }
}

/// # Safety
///
/// As for [`vmap_callback()`], with what that has mapped.
pub(super) unsafe extern "C" fn vunmap_callback<T: DriverObject>(
    obj: *mut bindings::drm_gem_object,
    map: *mut bindings::iosys_map,
) {
    // SAFETY: By the requirement of this function.
    unsafe {
        raw::vunmap((*map).__bindgen_anon_1.vaddr);
        T::unpin(Object::<T>::from_raw(obj));
    }
}

/// # Safety
///
/// Called for a dma-buf of an object of this type.
unsafe extern "C" fn begin_cpu_access_callback<T: DriverObject>(
    buf: *mut bindings::dma_buf,
    direction: bindings::dma_data_direction,
) -> c_int {
    let write = direction.0 != bindings::dma_data_direction::DMA_FROM_DEVICE.0;
    // SAFETY: By the requirement of this function.
    match T::begin_cpu_access(unsafe { object_of::<T>(buf) }, write) {
        Ok(()) => 0,
        Err(e) => e.to_errno(),
    }
}

/// # Safety
///
/// Called for a dma-buf of an object of this type.
unsafe extern "C" fn end_cpu_access_callback<T: DriverObject>(
    buf: *mut bindings::dma_buf,
    direction: bindings::dma_data_direction,
) -> c_int {
    let write = direction.0 != bindings::dma_data_direction::DMA_FROM_DEVICE.0;
    // SAFETY: By the requirement of this function.
    match T::end_cpu_access(unsafe { object_of::<T>(buf) }, write) {
        Ok(()) => 0,
        Err(e) => e.to_errno(),
    }
}
