// SPDX-License-Identifier: GPL-2.0

//! Fence containers: arrays, which other drivers create, and chains (the points of a timeline).
//!
//! C headers: `include/linux/dma-fence-array.h`, `include/linux/dma-fence-chain.h`

use core::ptr::NonNull;
use kernel::{bindings, prelude::*};

use super::Fence;
use crate::raw;

impl Fence {
    /// Calls `call` for each fence in a container, or for the fence itself if it is none. Signaled
    /// fences may be left out. Process context.
    pub fn each<F: FnMut(&Fence)>(&self, mut call: F) {
        /// # Safety
        ///
        /// Called with a fence that has a reference, and an `F` that no other code uses.
        unsafe extern "C" fn part<F: FnMut(&Fence)>(
            fence: *mut bindings::dma_fence,
            data: *mut c_void,
        ) {
            // SAFETY: By the requirement of this function.
            let (call, fence) = unsafe { (&mut *data.cast::<F>(), Fence::from_raw(fence)) };
            call(fence);
        }

        if !self.is_container() {
            return call(self);
        }
        // SAFETY: The fence is valid; `part` is called during this call alone, with `call`.
        unsafe { raw::ouro_fence_each(self.as_raw(), Some(part::<F>), (&raw mut call).cast()) }
    }
}

/// The memory of a point of a timeline syncobj, allocated beforehand, so that adding the point
/// cannot fail.
pub struct ChainNode(NonNull<raw::dma_fence_chain>);

// SAFETY: Only memory.
unsafe impl Send for ChainNode {}

impl ChainNode {
    /// Allocates the memory.
    ///
    /// Errors: `ENOMEM`.
    pub fn new() -> Result<Self> {
        // SAFETY: No requirement.
        let ptr = unsafe { raw::ouro_fence_chain_alloc() };
        NonNull::new(ptr).map(Self).ok_or(ENOMEM)
    }

    /// Gives up ownership of the memory.
    pub(crate) fn into_raw(self) -> *mut raw::dma_fence_chain {
        let ptr = self.0.as_ptr();
        core::mem::forget(self);
        ptr
    }
}

impl Drop for ChainNode {
    fn drop(&mut self) {
        // SAFETY: Ours, and never initialised.
        unsafe { raw::ouro_fence_chain_free(self.0.as_ptr()) }
    }
}
