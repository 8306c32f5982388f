// SPDX-License-Identifier: GPL-2.0

//! Fences that this driver signals.
//!
//! A fence has no `release` and no `wait` operation, so it does not refer to this module after it
//! was signaled: its holders then hold memory only. Until then, its operations access the timeline
//! through `data`, under RCU; that reference is dropped a grace period after the signal, by
//! [`release`].

use core::{any::TypeId, mem::offset_of, ops::Deref, ptr::NonNull};
use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    bindings,
    error::Error,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        rcu, Arc, ArcBorrow,
    },
};

use super::Fence;
use crate::{
    raw,
    release::{self, AfterRcu},
};

/// The operations of a timeline's fences.
pub trait FenceOps: Send + Sync + 'static {
    /// Returns the driver's name.
    fn driver_name(&self) -> &CStr;

    /// Returns the timeline's name.
    fn timeline_name(&self) -> &CStr;

    /// Makes sure that the fence with this seqno will be signaled, because it has a waiter. Returns
    /// `false` if its work has completed already: the fence is then signaled at once.
    ///
    /// Called under the fence's lock, with interrupts off; must not signal the fence.
    fn enable_signaling(&self, seqno: u64) -> bool {
        let _ = seqno;
        true
    }

    /// Returns whether the work of this seqno is known to have completed, without waiting. Once
    /// true, it must stay true. Any context.
    fn signaled(&self, seqno: u64) -> bool {
        let _ = seqno;
        false
    }
}

/// A fence and its data.
///
/// The memory is freed by `dma_fence_free()`, whose argument has the same address.
#[repr(C)]
struct Inner<T: FenceOps> {
    fence: bindings::dma_fence,
    /// Drops `data` after the signal.
    after: AfterRcu,
    /// The type id of `T`: the compiler may merge the operations of two types.
    type_id: TypeId,
    /// From `Arc::into_raw()`.
    data: *const T,
}

/// A fence that is not published: it has memory, a context and a timeline, but no seqno.
///
/// If it is dropped without being published, it is signaled with `ECANCELED`.
pub struct PreparedFence<T: FenceOps>(DriverFence<T>);

/// The signaling side of a fence. Each fence has one.
///
/// If it is dropped without a signal, it signals `ECANCELED`: no fence stays unsignaled forever.
///
/// # Invariants
///
/// `ptr` is an initialised [`Inner`], of which this owns a reference, and the `Arc` in `data`.
pub struct DriverFence<T: FenceOps> {
    ptr: NonNull<Inner<T>>,
}

// SAFETY: The fence is `Send` and `Sync`, and so is the data.
unsafe impl<T: FenceOps> Send for DriverFence<T> {}
// SAFETY: As above.
unsafe impl<T: FenceOps> Sync for DriverFence<T> {}

impl<T: FenceOps> PreparedFence<T> {
    /// Creates a fence of a context.
    ///
    /// Errors: `ENOMEM`.
    pub fn new(data: Arc<T>, context: u64) -> Result<Self> {
        const { assert!(offset_of!(Inner<T>, fence) == 0) };
        let inner = KBox::into_raw(KBox::new(
            Inner::<T> {
                fence: pin_init::zeroed(),
                after: AfterRcu::new(drop_data::<T>),
                type_id: TypeId::of::<T>(),
                data: core::ptr::null(),
            },
            GFP_KERNEL_ACCOUNT,
        )?);
        // SAFETY: Ours alone. The box is memory of kmalloc that starts with the fence, as
        // `dma_fence_free()` wants it. Without a lock given, the fence uses its own.
        unsafe {
            (*inner).data = Arc::into_raw(data);
            raw::dma_fence_init64(
                &raw mut (*inner).fence,
                DriverFence::<T>::ops(),
                core::ptr::null_mut(),
                context,
                0,
            );
        }
        // SAFETY: From a box.
        let ptr = unsafe { NonNull::new_unchecked(inner) };
        // INVARIANT: The first reference, and the `Arc`, are ours.
        Ok(Self(DriverFence { ptr }))
    }

    /// Returns the fence, for a holder that needs it before publication (a file that is not
    /// installed yet). It must not be waited for.
    pub fn fence(&self) -> &Fence {
        &self.0
    }

    /// Assigns the fence's seqno. Cannot fail. The caller makes it visible to others afterwards.
    pub fn publish(self, seqno: u64) -> DriverFence<T> {
        // SAFETY: By the invariant; holders of the fence already read the number as this is
        // written, and C does not before it can be waited for.
        let number = unsafe { Atomic::from_ptr(&raw mut (*self.0.ptr.as_ptr()).fence.seqno) };
        number.store(seqno, ordering::Relaxed);
        self.0
    }
}

impl<T: FenceOps> DriverFence<T> {
    const OPS: bindings::dma_fence_ops = bindings::dma_fence_ops {
        get_driver_name: Some(Self::driver_name),
        get_timeline_name: Some(Self::timeline_name),
        enable_signaling: Some(Self::enable_signaling),
        signaled: Some(Self::signaled),
        wait: None,
        release: None,
        set_deadline: None,
    };

    /// Returns the address of the operations; a constant may have several addresses, hence not
    /// inlined.
    #[inline(never)]
    fn ops() -> *const bindings::dma_fence_ops {
        const { &Self::OPS }
    }

    /// Signals the fence with success. Any context except under its own lock. The caller marks its
    /// critical section with [`signalling()`](super::signalling).
    ///
    /// Returns whether this call signaled it.
    pub fn signal(&self) -> bool {
        // SAFETY: By the invariant.
        unsafe { raw::ouro_fence_signal(self.as_raw(), 0) }
    }

    /// Signals the fence with an error, unless it is signaled already. Any context except under its
    /// own lock.
    ///
    /// Returns whether this call signaled it.
    pub fn fail(&self, error: Error) -> bool {
        // SAFETY: By the invariant.
        unsafe { raw::ouro_fence_signal(self.as_raw(), error.to_errno()) }
    }

    /// Sets the error with which the fence will be signaled. Any context. Only the signaler may
    /// call it.
    pub fn set_error(&self, error: Error) {
        // SAFETY: By the invariant.
        unsafe { raw::ouro_fence_set_error(self.as_raw(), error.to_errno()) }
    }

    /// Returns the timeline.
    pub fn timeline(&self) -> &T {
        // SAFETY: By the invariant.
        unsafe { &*(*self.ptr.as_ptr()).data }
    }

    /// The data of a fence, and its number.
    ///
    /// # Safety
    ///
    /// Only for an operation of a fence of this type: called under RCU, before the grace period
    /// that follows the signal.
    unsafe fn parts<'a>(fence: *mut bindings::dma_fence) -> (&'a T, u64) {
        // SAFETY: By the requirement of this function.
        unsafe {
            let inner = fence.cast::<Inner<T>>();
            (&*(*inner).data, (*inner).fence.seqno)
        }
    }

    /// # Safety
    ///
    /// Called by the fence, under RCU.
    unsafe extern "C" fn driver_name(fence: *mut bindings::dma_fence) -> *const c_char {
        // SAFETY: By the requirement of this function.
        unsafe { Self::parts(fence) }.0.driver_name().as_char_ptr()
    }

    /// # Safety
    ///
    /// Called by the fence, under RCU.
    unsafe extern "C" fn timeline_name(fence: *mut bindings::dma_fence) -> *const c_char {
        // SAFETY: By the requirement of this function.
        unsafe { Self::parts(fence) }
            .0
            .timeline_name()
            .as_char_ptr()
    }

    /// # Safety
    ///
    /// Called by the fence, under RCU.
    unsafe extern "C" fn enable_signaling(fence: *mut bindings::dma_fence) -> bool {
        // SAFETY: By the requirement of this function.
        let (data, seqno) = unsafe { Self::parts(fence) };
        data.enable_signaling(seqno)
    }

    /// # Safety
    ///
    /// Called by the fence, under RCU.
    unsafe extern "C" fn signaled(fence: *mut bindings::dma_fence) -> bool {
        // SAFETY: By the requirement of this function.
        let (data, seqno) = unsafe { Self::parts(fence) };
        data.signaled(seqno)
    }
}

/// Calls `f` with the timeline and the seqno of a fence, if it is one of this driver with a
/// timeline of this type, and not signaled yet. Any context. `f` must not sleep.
///
/// Returns `None` for fences of other drivers, for signaled ones, and for containers.
pub fn with_timeline<T: FenceOps, R>(fence: &Fence, f: impl FnOnce(&T, u64) -> R) -> Option<R> {
    with_data(fence, |data: ArcBorrow<'_, T>, seqno| f(&data, seqno))
}

/// Returns the timeline of a fence, if [`with_timeline()`] has one. Any context; the type decides
/// where it may be dropped.
pub fn timeline<T: FenceOps>(fence: &Fence) -> Option<Arc<T>> {
    with_data(fence, |data: ArcBorrow<'_, T>, _| data.into())
}

fn with_data<T: FenceOps, R>(
    fence: &Fence,
    f: impl FnOnce(ArcBorrow<'_, T>, u64) -> R,
) -> Option<R> {
    // The operations, and what they reach, stay for this long.
    let _rcu = rcu::read_lock();
    // SAFETY: By the invariant of `Fence`. The pointer becomes null at the signal: it is read
    // once.
    let ops = unsafe { (&raw const (*fence.as_raw()).ops).read_volatile() };
    if !core::ptr::eq(ops, DriverFence::<T>::ops()) {
        return None;
    }
    // SAFETY: Such operations are those of an `Inner`, of whatever type, which was not signaled
    // when this section began. The type stands before anything that depends on it.
    if unsafe { (*fence.as_raw().cast::<Inner<T>>()).type_id } != TypeId::of::<T>() {
        return None;
    }
    // SAFETY: As above, and the type is this one. The data is that of an `Arc`, which is not given
    // up before the end of this section.
    let (data, seqno) = unsafe {
        let (data, seqno) = DriverFence::<T>::parts(fence.as_raw());
        (ArcBorrow::from_raw(data), seqno)
    };
    Some(f(data, seqno))
}

impl<T: FenceOps> Deref for DriverFence<T> {
    type Target = Fence;

    fn deref(&self) -> &Fence {
        // SAFETY: By the invariant.
        unsafe { Fence::from_raw(self.ptr.as_ptr().cast()) }
    }
}

impl<T: FenceOps> Drop for DriverFence<T> {
    fn drop(&mut self) {
        self.fail(ECANCELED);
        // SAFETY: It is signaled; our reference and the data go together, once no thread can be in
        // an operation any more.
        unsafe { release::after_rcu(&raw mut (*self.ptr.as_ptr()).after) };
    }
}

/// Drops the data and the signaler's reference of a fence.
///
/// # Safety
///
/// `after` is the field of an [`Inner`] that was given away by the drop of its
/// [`DriverFence`], a grace period ago.
unsafe fn drop_data<T: FenceOps>(after: *mut AfterRcu) {
    // SAFETY: By the requirement of this function.
    unsafe {
        let inner = kernel::container_of!(after, Inner<T>, after);
        drop(Arc::from_raw((*inner).data));
        raw::ouro_fence_put(&raw mut (*inner).fence);
    }
}
