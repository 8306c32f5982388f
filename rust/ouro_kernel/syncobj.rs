// SPDX-License-Identifier: GPL-2.0

//! `drm_syncobj`: a container of user space for a fence, or a timeline of fences.
//!
//! C header: `include/drm/drm_syncobj.h`

use core::ptr::NonNull;
use kernel::{
    bindings,
    error::to_result,
    prelude::*,
    sync::aref::{ARef, AlwaysRefCounted},
    types::Opaque,
};

use crate::{
    drm,
    fence::{ChainNode, Fence},
    raw,
};

/// A `struct drm_syncobj`.
///
/// # Invariants
///
/// Its reference count is not zero while a reference exists.
#[repr(transparent)]
pub struct Syncobj(Opaque<raw::drm_syncobj>);

// SAFETY: A syncobj is reference counted, and has its own lock.
unsafe impl Send for Syncobj {}
// SAFETY: As above.
unsafe impl Sync for Syncobj {}

// SAFETY: Forwards to the reference count of `struct drm_syncobj`.
unsafe impl AlwaysRefCounted for Syncobj {
    fn inc_ref(&self) {
        // SAFETY: A shared reference means that the count is not zero.
        unsafe { raw::ouro_syncobj_get(self.0.get()) }
    }

    unsafe fn dec_ref(obj: NonNull<Self>) {
        // SAFETY: The caller gives up a reference.
        unsafe { raw::ouro_syncobj_put(obj.cast().as_ptr()) }
    }
}

impl Syncobj {
    /// Returns the syncobj of a handle of the file.
    ///
    /// Errors: `ENOENT`.
    pub fn find<D: drm::Driver>(file: &drm::File<D>, handle: u32) -> Result<ARef<Self>> {
        // SAFETY: The file is open.
        let ptr = unsafe { raw::drm_syncobj_find(file.as_raw(), handle) };
        let ptr = NonNull::new(ptr).ok_or(ENOENT)?;
        // SAFETY: It comes with a reference; the type is transparent.
        Ok(unsafe { ARef::from_raw(ptr.cast()) })
    }

    /// Returns its fence.
    pub fn fence(&self) -> Option<ARef<Fence>> {
        // SAFETY: By the invariant; the fence comes with a reference.
        unsafe { Fence::take(raw::ouro_syncobj_fence(self.0.get())) }
    }

    /// Returns the fence of a point of the timeline; point 0 is the syncobj's fence. `Ok(None)`:
    /// the point is signaled.
    ///
    /// Errors: `EINVAL` if it has no fence, or the point does not exist yet.
    pub fn fence_at(&self, point: u64) -> Result<Option<ARef<Fence>>> {
        let fence = self.fence().ok_or(EINVAL)?;
        if point == 0 {
            return Ok(Some(fence));
        }
        let mut ptr: *mut bindings::dma_fence = ARef::into_raw(fence).cast().as_ptr();
        // SAFETY: Takes over the reference, and gives back one of another fence, or null. When it
        // fails, the reference stays ours.
        let ret = unsafe { raw::dma_fence_chain_find_seqno(&mut ptr, point) };
        // SAFETY: A reference in both cases.
        let found = unsafe { Fence::take(ptr) };
        to_result(ret)?;
        Ok(found)
    }

    /// Replaces its fence, and drops the previous one. Allocates nothing.
    pub fn replace_fence(&self, fence: Option<&Fence>) {
        let ptr = fence.map_or(core::ptr::null_mut(), Fence::as_raw);
        // SAFETY: By the invariant; takes a reference of its own.
        unsafe { raw::drm_syncobj_replace_fence(self.0.get(), ptr) }
    }

    /// Adds a point to the timeline. Allocates nothing.
    ///
    /// Errors: `EINVAL`, with nothing added, if the fence is a container, because dropping nested
    /// chains would recurse. Never for a driver fence.
    pub fn add_point(&self, node: ChainNode, fence: &Fence, point: u64) -> Result {
        if fence.is_container() {
            return Err(EINVAL);
        }
        // SAFETY: By the invariant; the memory of the node is given away.
        unsafe { raw::drm_syncobj_add_point(self.0.get(), node.into_raw(), fence.as_raw(), point) };
        Ok(())
    }
}
