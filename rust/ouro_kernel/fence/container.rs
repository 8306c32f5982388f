// SPDX-License-Identifier: GPL-2.0

//! Fences made of fences: arrays (all of them), which others make, and chains (the points of a timeline).
//!
//! C headers: `include/linux/dma-fence-array.h`, `include/linux/dma-fence-chain.h`

use core::ptr::NonNull;
use kernel::{bindings, prelude::*};

use super::Fence;
use crate::raw;

impl Fence {
    /// Calls `call` for each of the fences that it is made of, or for itself if it is of none. Those that
    /// are signaled may be left out. Process context.
    pub fn each<F: FnMut(&Fence)>(&self, mut call: F) {
        /// # Safety
        ///
        /// Called with a fence that has a reference, and an `F` that nobody else uses.
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

/// The memory of a point of a timeline syncobj, made before the point of no return.
pub struct ChainNode(NonNull<raw::dma_fence_chain>);

// SAFETY: Only memory.
unsafe impl Send for ChainNode {}

impl ChainNode {
    /// Allocates one.
    ///
    /// Errors: `ENOMEM`.
    pub fn new() -> Result<Self> {
        // SAFETY: No requirement.
        let ptr = unsafe { raw::ouro_fence_chain_alloc() };
        NonNull::new(ptr).map(Self).ok_or(ENOMEM)
    }

    /// Gives the memory away.
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
