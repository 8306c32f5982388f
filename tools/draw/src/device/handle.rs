// SPDX-License-Identifier: GPL-2.0
//! The handle of a buffer object, whatever the interface calls the object.

use super::uapi::*;
use super::Device;

/// Number of DRM_IOCTL_GEM_CLOSE.
const GEM_CLOSE: u32 = 0x09;

/// A handle of an open device; closed when dropped.
pub struct Handle<'a> {
    /// The device.
    pub device: &'a Device,
    /// Its number.
    pub number: u32,
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        let mut close = drm_gem_close {
            handle: self.number,
            pad: 0,
        };
        // A handle that cannot be closed goes with the file; there is nobody to tell.
        let _ = self.device.core("GEM_CLOSE", GEM_CLOSE, &mut close);
    }
}
