// SPDX-License-Identifier: GPL-2.0

//! Objects as dma-bufs.
//!
//! Export is that of the DRM core. An import of what the same device has exported is the object
//! itself; anything else is for [`DriverObject::import()`] to decide.
//!
//! C header: `include/drm/drm_prime.h`

use kernel::{bindings, prelude::*, sync::aref::ARef, types::Opaque};

use super::{DriverObject, Object};
use crate::drm::Device;

/// A `struct dma_buf`, lent for the time of a call.
#[repr(transparent)]
pub struct DmaBuf(Opaque<bindings::dma_buf>);

impl DmaBuf {
    /// The size in bytes.
    pub fn size(&self) -> usize {
        // SAFETY: The buffer lives while it is lent.
        unsafe { (*self.0.get()).size }
    }
}

/// # Safety
///
/// Called by the DRM core for an object of this type.
pub(super) unsafe extern "C" fn export_callback<T: DriverObject>(
    obj: *mut bindings::drm_gem_object,
    flags: c_int,
) -> *mut bindings::dma_buf {
    // SAFETY: By the requirement of this function.
    if let Err(e) = T::export(unsafe { Object::<T>::from_raw(obj) }) {
        return e.to_ptr();
    }
    // SAFETY: As above.
    unsafe { bindings::drm_gem_prime_export(obj, flags) }
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
        if bindings::drm_gem_is_prime_exported_dma_buf(dev, buf) {
            // The object itself, with a reference for the caller.
            let obj: *mut bindings::drm_gem_object = (*buf).priv_.cast();
            bindings::drm_gem_object_get(obj);
            return obj;
        }
    }
    // SAFETY: By the requirement of this function; the type is transparent.
    let (dev, buf) = unsafe { (Device::<T::Driver>::from_raw(dev), &*buf.cast::<DmaBuf>()) };
    match T::import(dev, buf) {
        Ok(obj) => ARef::into_raw(obj).cast().as_ptr(),
        Err(e) => e.to_ptr(),
    }
}
