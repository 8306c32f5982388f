// SPDX-License-Identifier: GPL-2.0

//! Callbacks of fences.
//!
//! The memory of a callback is allocated first ([`Callback`]), so that arming it cannot fail, and
//! is owned by the waiter ([`Armed`]), so that it is never freed in an interrupt.

use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT, bindings, prelude::*, sync::aref::ARef, sync::Arc,
    types::Opaque,
};

use super::Fence;
use crate::raw;

/// The receiver of a callback.
pub trait Waker: Send + Sync + 'static {
    /// A fence that was waited for is signaled.
    ///
    /// Called once, in any context, with interrupts off, under the fence's lock. May count down,
    /// add to a list, queue work or wake a task, but nothing else. Must not call functions of the
    /// fence except `context()` and `seqno()`, and must not drop an [`Armed`] or the last reference
    /// of anything.
    fn fence_signaled(&self, fence: &Fence);
}

/// The allocation that embeds the C callback. While the callback is on a fence, this must only be
/// shared: a call may access it at any time.
#[repr(C)]
struct Inner<W: Waker> {
    cb: Opaque<bindings::dma_fence_cb>,
    /// Set before arming.
    waker: Option<Arc<W>>,
}

/// The memory of a callback that is not armed.
pub struct Callback<W: Waker>(KBox<Inner<W>>);

/// An armed callback. Dropping it cancels the call, and waits for one that is running.
///
/// It holds a reference of the waker, which often owns it: clear it when it is not needed any more.
/// Must not be dropped in [`Waker::fence_signaled()`].
///
/// # Invariants
///
/// The callback was added to `fence`.
pub struct Armed<W: Waker> {
    inner: KBox<Inner<W>>,
    fence: ARef<Fence>,
}

// SAFETY: The callback has its place on the heap, under the lock of the fence.
unsafe impl<W: Waker> Send for Callback<W> {}
// SAFETY: Nothing can be done with a shared reference.
unsafe impl<W: Waker> Sync for Callback<W> {}
// SAFETY: As for `Callback`.
unsafe impl<W: Waker> Send for Armed<W> {}
// SAFETY: Only the fence, which is `Sync`, can be seen.
unsafe impl<W: Waker> Sync for Armed<W> {}

impl<W: Waker> Callback<W> {
    /// Allocates a callback, charged to the caller's memory cgroup.
    ///
    /// Errors: `ENOMEM`.
    pub fn new() -> Result<Self> {
        Ok(Self(KBox::new(
            Inner {
                cb: Opaque::zeroed(),
                waker: None,
            },
            GFP_KERNEL_ACCOUNT,
        )?))
    }

    /// Arms the callback. Any context except under the fence's lock.
    ///
    /// If the fence is signaled already, there is no call, and the callback is returned as the
    /// error.
    pub fn arm(
        mut self,
        fence: ARef<Fence>,
        waker: Arc<W>,
    ) -> core::result::Result<Armed<W>, Self> {
        self.0.waker = Some(waker);
        // SAFETY: The fence is valid; the callback stays in its box until it was removed, and is
        // on no list.
        let ret = unsafe {
            raw::dma_fence_add_callback(fence.as_raw(), self.0.cb.get(), Some(called::<W>))
        };
        if ret == 0 {
            // INVARIANT: Added.
            Ok(Armed {
                inner: self.0,
                fence,
            })
        } else {
            self.0.waker = None;
            Err(self)
        }
    }
}

/// # Safety
///
/// Called by the fence, with a callback that was added by [`Callback::arm()`].
unsafe extern "C" fn called<W: Waker>(
    fence: *mut bindings::dma_fence,
    cb: *mut bindings::dma_fence_cb,
) {
    let cb: *const Opaque<bindings::dma_fence_cb> = Opaque::cast_from(cb);
    // SAFETY: By the requirement of this function. Before it is freed or changed it is
    // removed, which waits for the lock that is held here; until then it is shared.
    let inner = unsafe { &*kernel::container_of!(cb, Inner<W>, cb) };
    if let Some(waker) = &inner.waker {
        // SAFETY: The caller holds a reference of the fence.
        waker.fence_signaled(unsafe { Fence::from_raw(fence) });
    }
}

impl<W: Waker> Armed<W> {
    /// Returns the fence that is waited for.
    pub fn fence(&self) -> &Fence {
        &self.fence
    }
}

impl<W: Waker> Drop for Armed<W> {
    fn drop(&mut self) {
        // SAFETY: By the invariant. The lock of the fence is taken, so that a running call is
        // over when this returns; until then nothing but a shared reference is made.
        unsafe { raw::dma_fence_remove_callback(self.fence.as_raw(), self.inner.cb.get()) };
    }
}
