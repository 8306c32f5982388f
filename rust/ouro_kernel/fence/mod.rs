// SPDX-License-Identifier: GPL-2.0

//! `dma_fence`: something that completes at some time, at most once, perhaps with an error.
//!
//! - [`Fence`] is any driver's fence, as its waiters see it.
//! - [`DriverFence`] is a fence of this driver, owned by the signaler.
//! - [`Callback`] is a call when a fence is signaled, with memory allocated beforehand.
//! - [`ChainNode`] chains fences.
//!
//! C header: `include/linux/dma-fence.h`

mod callback;
mod container;
mod driver;

pub use self::callback::{Armed, Callback, Waker};
pub use self::container::ChainNode;
pub use self::driver::{timeline, with_timeline, DriverFence, FenceOps, PreparedFence};

use core::{marker::PhantomData, ptr::NonNull};
use kernel::{
    bindings,
    prelude::*,
    sync::{
        aref::{ARef, AlwaysRefCounted},
        atomic::{ordering, Atomic},
    },
    time::Jiffies,
    types::Opaque,
};

use crate::{
    raw,
    wait::{self, Interruptible, Waited},
};

/// A `struct dma_fence`.
///
/// # Invariants
///
/// It is initialised, and its reference count is not zero while a reference exists.
#[repr(transparent)]
pub struct Fence(Opaque<bindings::dma_fence>);

// SAFETY: A fence is reference counted, and has its own lock.
unsafe impl Send for Fence {}
// SAFETY: As above.
unsafe impl Sync for Fence {}

// SAFETY: Forwards to the reference count of `struct dma_fence`.
unsafe impl AlwaysRefCounted for Fence {
    fn inc_ref(&self) {
        // SAFETY: A shared reference means that the count is not zero.
        unsafe { raw::ouro_fence_get(self.as_raw()) }
    }

    unsafe fn dec_ref(obj: NonNull<Self>) {
        // SAFETY: The caller gives up a reference.
        unsafe { raw::ouro_fence_put(obj.cast().as_ptr()) }
    }
}

/// A fence that is no container, so that a reservation can have it.
#[derive(Clone, Copy)]
pub struct Plain<'a>(pub(crate) &'a Fence);

/// Allocates fence contexts: one for each timeline.
///
/// Fences of one context are ordered by their seqnos.
pub fn alloc_contexts(n: u32) -> u64 {
    // SAFETY: No requirement.
    unsafe { bindings::dma_fence_context_alloc(n) }
}

impl Fence {
    /// The fence behind a pointer.
    ///
    /// # Safety
    ///
    /// The fence is initialised, and has a reference for as long as `'a`.
    pub(crate) unsafe fn from_raw<'a>(ptr: *mut bindings::dma_fence) -> &'a Self {
        // SAFETY: By the requirement of this function; the type is transparent.
        unsafe { &*ptr.cast() }
    }

    /// Takes over a reference, if there is a fence.
    ///
    /// # Safety
    ///
    /// `ptr` is null, or comes with a reference that the caller gives away.
    pub(crate) unsafe fn take(ptr: *mut bindings::dma_fence) -> Option<ARef<Self>> {
        // SAFETY: By the requirement of this function; the type is transparent.
        NonNull::new(ptr).map(|p| unsafe { ARef::from_raw(p.cast()) })
    }

    /// Returns the C fence.
    pub(crate) fn as_raw(&self) -> *mut bindings::dma_fence {
        self.0.get()
    }

    /// Returns whether it is signaled. May call the driver's operation, and signal it.
    pub fn is_signaled(&self) -> bool {
        // SAFETY: By the invariant.
        unsafe { raw::ouro_fence_is_signaled(self.as_raw()) }
    }

    /// Returns its result; `None` while it is not signaled.
    pub fn status(&self) -> Option<Result> {
        // SAFETY: By the invariant.
        match unsafe { raw::dma_fence_get_status(self.as_raw()) } {
            0 => None,
            e if e < 0 => Some(Err(Error::from_errno(e))),
            _ => Some(Ok(())),
        }
    }

    /// Returns its context.
    pub fn context(&self) -> u64 {
        // SAFETY: Set when it was initialised, never changed.
        unsafe { (*self.as_raw()).context }
    }

    /// Returns its seqno in its context; 0 for a fence of this driver that is not published.
    pub fn seqno(&self) -> u64 {
        // SAFETY: By the invariant. Ours is written so, once, and anyone else's not any more.
        let number = unsafe { Atomic::from_ptr(&raw mut (*self.as_raw()).seqno) };
        number.load(ordering::Relaxed)
    }

    /// Returns it as one that is no container; `None` if it is one.
    pub fn plain(&self) -> Option<Plain<'_>> {
        match self.is_container() {
            true => None,
            false => Some(Plain(self)),
        }
    }

    /// Returns whether it is a container (array, chain).
    pub fn is_container(&self) -> bool {
        // SAFETY: By the invariant.
        unsafe { raw::ouro_fence_is_container(self.as_raw()) }
    }

    /// Makes the driver signal it soon, as a wait does.
    pub fn enable_signaling(&self) {
        // SAFETY: By the invariant.
        unsafe { raw::dma_fence_enable_signaling(self.as_raw()) }
    }

    /// Waits until it is signaled, for at most `jiffies`. Sleeps.
    ///
    /// Errors: `ERESTARTSYS` if a signal came first. How the work went: [`Fence::status()`].
    pub fn wait(&self, interruptible: Interruptible, jiffies: Jiffies) -> Result<Waited> {
        if jiffies == 0 {
            return Ok(if self.is_signaled() {
                Waited::Done(1)
            } else {
                Waited::TimedOut
            });
        }
        // SAFETY: By the invariant.
        wait::waited(unsafe {
            raw::dma_fence_wait_timeout(
                self.as_raw(),
                interruptible == Interruptible::Yes,
                wait::timeout(jiffies),
            )
        })
    }
}

/// Marks code for lockdep on which the signal of a published fence depends: until the guard is
/// dropped, nothing may be done that could wait for that fence (allocating, taking a lock under
/// which others allocate, faulting).
#[must_use = "the section ends when the guard is dropped"]
pub struct Signalling(bool, PhantomData<*mut ()>);

/// Begins a critical section on which a signal depends.
pub fn signalling() -> Signalling {
    // SAFETY: No requirement; ended by the guard, by the same thread.
    Signalling(unsafe { raw::ouro_fence_begin_signalling() }, PhantomData)
}

impl Drop for Signalling {
    fn drop(&mut self) {
        // SAFETY: The cookie is that of our begin.
        unsafe { raw::ouro_fence_end_signalling(self.0) }
    }
}
