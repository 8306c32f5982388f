// SPDX-License-Identifier: GPL-2.0

//! Dumb buffers: pictures that the CPU draws. They are ordinary objects; the DRM core has ioctls of
//! its own for them.
//!
//! C header: `include/drm/drm_drv.h`

use kernel::{bindings, prelude::*};

use super::{Device, Driver, File};

/// The requested picture.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    /// Pixels of a row; not zero.
    pub width: u32,
    /// Rows; not zero.
    pub height: u32,
    /// Bits of a pixel; not zero. The size of the picture in bytes fits in 32 bits.
    pub bits: u32,
}

/// The created buffer.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// The file's handle of the object.
    pub handle: u32,
    /// Bytes from one row to the next.
    pub pitch: u32,
    /// Bytes of the object.
    pub size: u64,
}

/// # Safety
///
/// Called by the DRM core for an open file of a device of this driver, with arguments that it has
/// checked and that are ours to fill in.
pub(super) unsafe extern "C" fn create_callback<D: Driver>(
    file: *mut bindings::drm_file,
    dev: *mut bindings::drm_device,
    args: *mut bindings::drm_mode_create_dumb,
) -> c_int {
    // SAFETY: By the requirement of this function.
    let (file, dev, args) = unsafe {
        (
            File::<D>::from_raw(file),
            Device::<D>::from_raw(dev),
            &mut *args,
        )
    };
    let picture = Picture {
        width: args.width,
        height: args.height,
        bits: args.bpp,
    };
    match D::create_dumb(dev, file, picture) {
        Ok(buffer) => {
            args.handle = buffer.handle;
            args.pitch = buffer.pitch;
            args.size = buffer.size;
            0
        }
        Err(e) => e.to_errno(),
    }
}

/// # Safety
///
/// Called by the DRM core for an open file of a device of this driver, with room for the offset.
pub(super) unsafe extern "C" fn offset_callback<D: Driver>(
    file: *mut bindings::drm_file,
    _dev: *mut bindings::drm_device,
    handle: u32,
    offset: *mut u64,
) -> c_int {
    // SAFETY: By the requirement of this function.
    match D::dumb_offset(unsafe { File::<D>::from_raw(file) }, handle) {
        Ok(at) => {
            // SAFETY: As above.
            unsafe { *offset = at };
            0
        }
        Err(e) => e.to_errno(),
    }
}
