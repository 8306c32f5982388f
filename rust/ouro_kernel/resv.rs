// SPDX-License-Identifier: GPL-2.0

//! `dma_resv`: the fences that an object waits for, and the lock around them.
//!
//! Many objects are locked by [`lock_many()`]: it calls a closure that names them in any order, and
//! starts over if another task with an older ticket wants one of them. The caller needs no lock
//! order, and deadlock is impossible.
//!
//! C header: `include/linux/dma-resv.h`

mod many;

pub use self::many::{lock_many, Acquired, HasResv, LockError, LockedSet, Slate};

use core::marker::PhantomData;
use kernel::{
    bindings,
    error::to_result,
    prelude::*,
    sync::aref::ARef,
    time::Jiffies,
    types::{NotThreadSafe, Opaque},
};

use crate::{
    fence::Fence,
    raw,
    wait::{self, Interruptible, Waited},
};

/// The meaning of a fence for waiters. Each includes the ones above it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Usage {
    /// Memory management: all must wait.
    Kernel,
    /// A write: readers and writers wait.
    Write,
    /// A read: writers wait.
    Read,
    /// No implicit waiting: the memory is in use.
    Bookkeep,
}

impl Usage {
    /// Returns what a reader (`false`) or a writer (`true`) has to wait for.
    pub fn for_access(write: bool) -> Self {
        if write {
            Usage::Read
        } else {
            Usage::Write
        }
    }

    fn raw(self) -> u32 {
        match self {
            Usage::Kernel => bindings::dma_resv_usage_DMA_RESV_USAGE_KERNEL,
            Usage::Write => bindings::dma_resv_usage_DMA_RESV_USAGE_WRITE,
            Usage::Read => bindings::dma_resv_usage_DMA_RESV_USAGE_READ,
            Usage::Bookkeep => bindings::dma_resv_usage_DMA_RESV_USAGE_BOOKKEEP,
        }
    }
}

/// A `struct dma_resv`.
///
/// # Invariants
///
/// It is initialised.
#[repr(transparent)]
pub struct Resv(Opaque<bindings::dma_resv>);

// SAFETY: A reservation is a lock and an RCU protected list.
unsafe impl Send for Resv {}
// SAFETY: As above.
unsafe impl Sync for Resv {}

impl Resv {
    /// The reservation behind a pointer.
    ///
    /// # Safety
    ///
    /// It is initialised, and lives as long as `'a`.
    pub(crate) unsafe fn from_raw<'a>(ptr: *mut bindings::dma_resv) -> &'a Self {
        // SAFETY: By the requirement of this function; the type is transparent.
        unsafe { &*ptr.cast() }
    }

    fn as_raw(&self) -> *mut bindings::dma_resv {
        self.0.get()
    }

    /// Returns whether all fences up to `usage` are signaled. No lock needed.
    pub fn test_signaled(&self, usage: Usage) -> bool {
        // SAFETY: By the invariant.
        unsafe { raw::dma_resv_test_signaled(self.as_raw(), usage.raw()) }
    }

    /// Waits for the fences up to `usage`, for at most `jiffies`. No lock needed. Sleeps.
    ///
    /// Errors: `ERESTARTSYS` if a signal came first.
    pub fn wait(
        &self,
        usage: Usage,
        interruptible: Interruptible,
        jiffies: Jiffies,
    ) -> Result<Waited> {
        if jiffies == 0 {
            return Ok(if self.test_signaled(usage) {
                Waited::Done(1)
            } else {
                Waited::TimedOut
            });
        }
        // SAFETY: By the invariant.
        wait::waited(unsafe {
            raw::dma_resv_wait_timeout(
                self.as_raw(),
                usage.raw(),
                interruptible == Interruptible::Yes,
                jiffies.min(wait::FOREVER),
            )
        })
    }

    /// Calls `call` for each unsignaled fence up to `usage`; repeatedly for some, if the fences
    /// change meanwhile. No lock needed, allocates nothing.
    pub fn each<F: FnMut(&Fence)>(&self, usage: Usage, mut call: F) {
        // SAFETY: By the invariant; `part` is called during this call alone, with `call`.
        unsafe {
            raw::ouro_resv_each(
                self.as_raw(),
                usage.raw(),
                Some(part::<F>),
                (&raw mut call).cast(),
            )
        }
    }

    /// Adds the unsignaled fences up to `usage` to `out`. No lock needed. Allocates.
    ///
    /// Errors: `ENOMEM`.
    pub fn collect(&self, usage: Usage, out: &mut KVVec<ARef<Fence>>) -> Result {
        let mut n = 0;
        let mut list = core::ptr::null_mut();
        // SAFETY: By the invariant; both are written.
        to_result(unsafe {
            raw::ouro_resv_collect(self.as_raw(), usage.raw(), &mut n, &mut list)
        })?;
        if list.is_null() {
            return Ok(());
        }
        let n = n as usize;
        // SAFETY: The call returns an array from kmalloc, of `n` fences with a reference each. An
        // `ARef` is looked at only as the pointer that it is made of, below.
        let list = unsafe { KVec::from_raw_parts(list, n, n) };
        let room = out.reserve(n, GFP_KERNEL);
        for &fence in &list {
            // SAFETY: A reference each, taken over once.
            if let Some(fence) = unsafe { Fence::take(fence) } {
                if room.is_ok() {
                    // There is capacity.
                    let _ = out.push_within_capacity(fence);
                }
            }
        }
        Ok(room?)
    }

    /// Locks it. Sleeps. For a single reservation; for many, use [`lock_many()`].
    ///
    /// Errors: `ERESTARTSYS` if a signal came first.
    pub fn lock(&self, interruptible: Interruptible) -> Result<Guard<'_>> {
        let intr = interruptible == Interruptible::Yes;
        // SAFETY: By the invariant; without a ticket.
        let ret = unsafe { raw::ouro_resv_lock(self.as_raw(), core::ptr::null_mut(), intr) };
        if ret == -(bindings::EINTR as c_int) {
            return Err(ERESTARTSYS);
        }
        to_result(ret)?;
        Ok(Guard(Locked(self), PhantomData))
    }

    /// Locks it if it is not locked. Any process context, including the shrinker.
    pub fn try_lock(&self) -> Option<Guard<'_>> {
        // SAFETY: By the invariant.
        if unsafe { raw::ouro_resv_trylock(self.as_raw()) } {
            Some(Guard(Locked(self), PhantomData))
        } else {
            None
        }
    }
}

/// A reservation that the caller has locked.
///
/// # Invariants
///
/// It is locked while this exists, by this thread.
pub struct Locked<'a>(&'a Resv);

impl<'a> Locked<'a> {
    /// A reservation that the caller has locked by other means.
    ///
    /// # Safety
    ///
    /// This thread has it locked for as long as the result exists.
    pub(crate) unsafe fn assume(resv: &'a Resv) -> Self {
        // INVARIANT: By the requirement of this function.
        Self(resv)
    }

    /// Calls `call` with the fences up to `usage`, except those that are known to be signaled.
    #[inline]
    pub fn each_pending<F: FnMut(&Fence)>(&self, usage: Usage, mut call: F) {
        // SAFETY: By the invariant; `part` is called during this call alone, with `call`, and
        // fences stay while it is locked.
        unsafe {
            raw::ouro_resv_each_locked(
                self.0.as_raw(),
                usage.raw(),
                Some(part::<F>),
                (&raw mut call).cast(),
            )
        }
    }

    /// Reserves slots for `n` more fences, at least one. Allocates.
    ///
    /// Errors: `ENOMEM`, `EINVAL` for zero.
    pub fn reserve_fences(&self, n: u32) -> Result<Slots<'_>> {
        if n == 0 {
            return Err(EINVAL);
        }
        // SAFETY: By the invariant.
        to_result(unsafe { raw::dma_resv_reserve_fences(self.0.as_raw(), n) })?;
        // INVARIANT: Just made; and it is locked while `self` is borrowed.
        Ok(Slots {
            locked: Locked(self.0),
            left: n,
        })
    }
}

/// Calls an `F` with a fence.
///
/// # Safety
///
/// Called with a fence that stays meanwhile, and an `F` that no other code uses.
unsafe extern "C" fn part<F: FnMut(&Fence)>(fence: *mut bindings::dma_fence, data: *mut c_void) {
    // SAFETY: By the requirement of this function.
    let (call, fence) = unsafe { (&mut *data.cast::<F>(), Fence::from_raw(fence)) };
    call(fence);
}

/// Slots for fences in a locked reservation.
///
/// Slots do not add up: if there are several of one reservation, all fences added through them must
/// fit in the largest. Otherwise the kernel stops with a BUG.
///
/// # Invariants
///
/// There was room for `left` more fences when the last one was added, or since it was reserved;
/// hence the reservation has a list.
pub struct Slots<'a> {
    locked: Locked<'a>,
    left: u32,
}

impl Slots<'_> {
    /// Adds a fence. It replaces earlier fences of its context. Allocates nothing, and does not
    /// sleep.
    ///
    /// Errors: `EINVAL`, with nothing added, if it is a container, or if no slot is left. Never for
    /// a driver fence with a reserved slot.
    pub fn add_fence(&mut self, fence: &Fence, usage: Usage) -> Result {
        if fence.is_container() {
            return Err(EINVAL);
        }
        self.left = self.left.checked_sub(1).ok_or(EINVAL)?;
        // SAFETY: By the invariant of `locked` it is locked, and by that of `self` it has a list;
        // which takes a reference of its own.
        unsafe { raw::dma_resv_add_fence(self.locked.0.as_raw(), fence.as_raw(), usage.raw()) };
        Ok(())
    }
}

impl core::ops::Deref for Locked<'_> {
    type Target = Resv;

    fn deref(&self) -> &Resv {
        self.0
    }
}

/// One reservation, locked until this is dropped.
pub struct Guard<'a>(Locked<'a>, PhantomData<NotThreadSafe>);

impl<'a> core::ops::Deref for Guard<'a> {
    type Target = Locked<'a>;

    fn deref(&self) -> &Locked<'a> {
        &self.0
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // SAFETY: Locked by this guard.
        unsafe { raw::ouro_resv_unlock(self.0 .0.as_raw()) }
    }
}
