// SPDX-License-Identifier: GPL-2.0

//! Userptr: memory of a process for the GPU.
//!
//! A [`UserRange`] watches a range of addresses of the calling process, and pins its pages. When
//! the process changes the mapping (unmap, fork, move), the pages are not the range's any more:
//! [`Invalidate::invalidate()`] then waits until the GPU has finished with them.
//!
//! The process may also do that between pinning and publication. Therefore: call
//! [`UserRange::begin()`], then [`UserRange::pin()`], and at the point of no return, with the
//! [`NotifierLock`] held, check [`UserRange::is_valid()`]; if it is, publish before releasing the
//! lock.
//!
//! C header: `include/linux/mmu_notifier.h`

use core::ptr::NonNull;
use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    bindings,
    error::to_result,
    new_spinlock,
    prelude::*,
    sync::{lock::spinlock::SpinLockBackend, lock::Guard, Arc, SpinLock},
    types::Opaque,
};

use crate::{
    pages::{Pages, PAGE_SIZE},
    raw, release, work,
};

/// The user of a range's pages.
pub trait Invalidate: Send + Sync + 'static {
    /// The memory of the range is about to change. New users are refused by
    /// [`UserRange::is_valid()`]; existing ones must be waited for here.
    ///
    /// Locks of the memory management are held: take no reservation, allocate nothing, do not
    /// unpin. Waiting for fences is allowed, if `may_wait`.
    ///
    /// Returns whether the pages are not in use any more; `false` only if it may not wait.
    fn invalidate(&self, may_wait: bool) -> bool;
}

/// Held while requests that use user memory are published, and while a range becomes invalid. One
/// for each device.
#[pin_data]
pub struct NotifierLock {
    #[pin]
    lock: SpinLock<()>,
}

/// A [`NotifierLock`] that is held: no range becomes invalid.
pub struct Held<'a>(
    &'a NotifierLock,
    #[allow(dead_code)] Guard<'a, (), SpinLockBackend>,
);

impl NotifierLock {
    /// Creates the lock.
    ///
    /// Errors: `ENOMEM`.
    pub fn new() -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                lock <- new_spinlock!(()),
            }),
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// Takes the lock. A spinlock: nothing may sleep until the result is dropped.
    pub fn lock(&self) -> Held<'_> {
        Held(self, self.lock.lock())
    }
}

/// Checks whether all of a range of the calling process can be pinned now, without pinning it.
///
/// Errors: `EFAULT` if a part is not mapped, or has no pages, or if a kernel thread calls; `EINTR`
/// when killed.
pub fn probe(address: u64, size: usize) -> Result {
    crate::uaccess::check(address, size)?;
    // SAFETY: Any addresses will do; a thread of the kernel, which has no memory, gets an error.
    to_result(unsafe { raw::ouro_user_probe(address as usize, size) })
}

/// The MMU notifier sequence of a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sequence(c_ulong);

/// The allocation that embeds the C notifier.
struct Inner<T: Invalidate> {
    notifier: Opaque<bindings::mmu_interval_notifier>,
    /// The work that removes the notifier, and frees this.
    late: Opaque<bindings::work_struct>,
    lock: Arc<NotifierLock>,
    user: Arc<T>,
}

/// A range of addresses of a process. It must be dropped, and not forgotten, before the module is
/// unloaded, because the memory management calls code of the module for it. A part of an open file,
/// or of an object, is dropped in time. The `user` may be called until a worker has dropped it.
///
/// # Invariants
///
/// `inner` is a box whose notifier is inserted; its `mm` is that of the process that made this.
pub struct UserRange<T: Invalidate> {
    inner: NonNull<Inner<T>>,
    address: usize,
    pages: usize,
}

// SAFETY: A notifier may be used by any thread.
unsafe impl<T: Invalidate> Send for UserRange<T> {}
// SAFETY: As above.
unsafe impl<T: Invalidate> Sync for UserRange<T> {}

impl<T: Invalidate> UserRange<T> {
    const OPS: bindings::mmu_interval_notifier_ops = bindings::mmu_interval_notifier_ops {
        invalidate: Some(Self::invalidate_callback),
        ..pin_init::zeroed()
    };

    /// Watches a range of the calling process. It holds `user` until it is dropped.
    ///
    /// Errors: `EINVAL` if address or size are not whole pages, or zero; `EFAULT` if it cannot be
    /// user memory, or a kernel thread calls; `ENOMEM`.
    pub fn new(address: u64, size: usize, lock: Arc<NotifierLock>, user: Arc<T>) -> Result<Self> {
        let address = usize::try_from(address)?;
        if size == 0 || address % PAGE_SIZE != 0 || size % PAGE_SIZE != 0 {
            return Err(EINVAL);
        }
        crate::uaccess::check(address as u64, size)?;
        let inner = KBox::into_raw(KBox::new(
            Inner {
                notifier: Opaque::zeroed(),
                late: Opaque::zeroed(),
                lock,
                user,
            },
            GFP_KERNEL_ACCOUNT,
        )?);
        // SAFETY: The notifier is at its place until it was removed. A thread of the kernel gets an
        // error.
        let ret = to_result(unsafe {
            raw::ouro_notifier_insert((*inner).notifier.get(), address, size, const { &Self::OPS })
        });
        if let Err(e) = ret {
            // SAFETY: Not inserted.
            drop(unsafe { KBox::from_raw(inner) });
            return Err(e);
        }
        // INVARIANT: Inserted.
        Ok(Self {
            // SAFETY: From a box.
            inner: unsafe { NonNull::new_unchecked(inner) },
            address,
            pages: size / PAGE_SIZE,
        })
    }

    fn notifier(&self) -> *mut bindings::mmu_interval_notifier {
        // SAFETY: By the invariant.
        unsafe { self.inner.as_ref() }.notifier.get()
    }

    /// Returns the number of pages.
    pub fn len(&self) -> usize {
        self.pages
    }

    /// Returns whether it is empty: never.
    pub fn is_empty(&self) -> bool {
        self.pages == 0
    }

    /// Returns whether the memory is the calling process's.
    pub fn is_mine(&self) -> bool {
        // SAFETY: By the invariant.
        unsafe { raw::ouro_mm_is_current((*self.notifier()).mm) }
    }

    /// Waits until the range is not being changed, and returns the sequence. Sleeps; must not be
    /// called under a reservation.
    pub fn begin(&self) -> Sequence {
        // SAFETY: By the invariant.
        Sequence(unsafe { bindings::mmu_interval_read_begin(self.notifier()) })
    }

    /// Returns whether the range has not changed since `sequence`; if so, it does not change while
    /// the lock is held.
    ///
    /// `false` also if the lock is not that of this range.
    pub fn is_valid(&self, sequence: Sequence, held: &Held<'_>) -> bool {
        // SAFETY: By the invariant.
        let lock = unsafe { &self.inner.as_ref().lock };
        core::ptr::eq::<NotifierLock>(&**lock, held.0)
            // SAFETY: By the invariant, and under the lock that `invalidate` takes.
            && !unsafe { raw::ouro_notifier_retry(self.notifier(), sequence.0) }
    }

    /// Pins all pages. Faults them in; sleeps; the caller must not hold locks.
    ///
    /// Pinned pages count towards `RLIMIT_MEMLOCK`, which is enforced if `limited`.
    ///
    /// Errors: `EFAULT` if a part is not mapped, not writable, or not memory that may be pinned for
    /// long; also if the calling process is another one. `ENOMEM`; `EINTR` and `EAGAIN`: try again.
    pub fn pin(&self, write: bool, limited: bool) -> Result<Pages> {
        if !self.is_mine() {
            return Err(EFAULT);
        }
        Pages::pin_user(self.address, self.pages, write, limited)
    }

    /// # Safety
    ///
    /// Called by the memory management for the notifier of an [`Inner<T>`].
    unsafe extern "C" fn invalidate_callback(
        notifier: *mut bindings::mmu_interval_notifier,
        range: *const bindings::mmu_notifier_range,
        sequence: c_ulong,
    ) -> bool {
        let cell: *const Opaque<bindings::mmu_interval_notifier> = Opaque::cast_from(notifier);
        // SAFETY: By the requirement of this function. Freeing it removes the notifier first,
        // which waits for this function.
        let inner = unsafe { &*kernel::container_of!(cell, Inner<T>, notifier) };
        // SAFETY: By the requirement of this function.
        let may_wait = unsafe { raw::ouro_notifier_may_wait(range) };
        {
            let _held = inner.lock.lock();
            // SAFETY: Under the lock of the readers. From here on they must not use the pages.
            unsafe { raw::ouro_notifier_set(notifier, sequence) };
        }
        inner.user.invalidate(may_wait)
    }
}

impl<T: Invalidate> Inner<T> {
    /// Removes the notifier, and frees this. Waits until no invalidation is active in the process,
    /// also of other ranges.
    ///
    /// # Safety
    ///
    /// `this` is from a box that the caller gives away, and its notifier is inserted.
    unsafe fn remove(this: *mut Self) {
        // SAFETY: By the requirement of this function.
        unsafe {
            bindings::mmu_interval_notifier_remove((*this).notifier.get());
            drop(KBox::from_raw(this));
        }
    }

    /// The work of a dropped range.
    ///
    /// # Safety
    ///
    /// `work` is the field `late` of such a box, as [`Inner::remove()`] takes it.
    unsafe extern "C" fn run_late(work: *mut bindings::work_struct) {
        let cell: *mut Opaque<bindings::work_struct> = work.cast();
        // SAFETY: By the requirement of this function.
        unsafe { Self::remove(kernel::container_of!(cell, Inner<T>, late)) };
        release::patient_ended();
    }
}

impl<T: Invalidate> Drop for UserRange<T> {
    /// A worker of [`release`] waits for running invalidations, and then drops the user. That may
    /// take as long as the process's GPU work: removing the notifier waits for invalidations of all
    /// ranges of the process.
    fn drop(&mut self) {
        let inner = self.inner.as_ptr();
        // SAFETY: By the invariant. The work stays where it is until it has run; it is used once.
        unsafe {
            let late = (*inner).late.get();
            work::init_raw(late, Inner::<T>::run_late, kernel::static_lock_class!());
            if !release::queue_patient(late) {
                // There is no guard, hence no worker.
                Inner::remove(inner);
            }
        }
    }
}
