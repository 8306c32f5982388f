// SPDX-License-Identifier: GPL-2.0
//! The handle of a buffer object, whatever the interface calls the object.

use crate::uapi::*;
use crate::Node;

/// Number of DRM_IOCTL_GEM_CLOSE.
const GEM_CLOSE: u32 = 0x09;

/// A handle of an open device; closed when dropped.
pub struct Handle<'a> {
    /// The node.
    pub node: &'a Node,
    /// Its number.
    pub number: u32,
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        let mut close = drm_gem_close {
            handle: self.number,
            pad: 0,
        };
        // A handle that cannot be closed goes with the file; the program has no use for it any more.
        let _ = self.node.core("GEM_CLOSE", GEM_CLOSE, &mut close);
    }
}
