// SPDX-License-Identifier: GPL-2.0

//! Work queues of the driver, and cancelling.
//!
//! Work items are those of the kernel crate (`kernel::new_work!`, `impl_has_work!`, `WorkItem`),
//! which lacks a [`Queue`] of the driver's own, and [`cancel_sync()`] and [`cancel_delayed_sync()`]
//! for work on an `Arc<T>`.

use core::ptr::NonNull;
use kernel::{
    bindings,
    prelude::*,
    static_lock_class,
    sync::{Arc, LockClassKey},
    time::Jiffies,
    workqueue::{self, HasDelayedWork, HasWork, RawWorkItem, Work, WorkItem},
};

use crate::{raw, release};

/// The flags of a queue.
#[derive(Clone, Copy)]
pub struct Flags(u32);

impl Flags {
    /// Not bound to a CPU.
    pub const UNBOUND: Flags = Flags(bindings::wq_flags_WQ_UNBOUND);
    /// Makes progress when memory is short: for work that fences or evictions wait for.
    pub const MEM_RECLAIM: Flags = Flags(bindings::wq_flags_WQ_MEM_RECLAIM);
    /// One item at a time, in order. Implies `UNBOUND`.
    pub const ORDERED: Flags =
        Flags(bindings::wq_flags_WQ_UNBOUND | bindings::wq_flags___WQ_ORDERED);
}

impl core::ops::BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// A work queue of the driver.
///
/// Dropping it does not wait: a worker of [`release`] destroys the queue after its work has run,
/// because the last owner may be a work item of the queue itself. Use [`Queue::flush()`] to wait.
/// That worker makes progress when memory is short: a queue that is dropped while it has work must
/// be [`Flags::MEM_RECLAIM`], or the kernel warns.
///
/// A delayed item is not on the queue before its time, and nothing waits for it:
/// [`enqueue_delayed()`] requires one that holds the queue. Hence this does not deref to
/// [`workqueue::Queue`], which takes any item.
///
/// # Invariants
///
/// `wq` is a work queue that only the reaper destroys.
pub struct Queue {
    wq: NonNull<bindings::workqueue_struct>,
    reaper: Option<KBox<Reaper>>,
}

/// Destroys a queue, later.
struct Reaper {
    work: bindings::work_struct,
    wq: NonNull<bindings::workqueue_struct>,
}

// SAFETY: A work queue can be used from any thread.
unsafe impl Send for Queue {}
// SAFETY: As above.
unsafe impl Sync for Queue {}

impl Queue {
    /// Creates a queue. At most `max_active` items run at a time; 0 is the kernel's default.
    ///
    /// Errors: `ENOMEM`.
    pub fn new(name: &CStr, flags: Flags, max_active: u16) -> Result<Self> {
        let reaper = KBox::new_uninit(GFP_KERNEL)?;
        let max = if flags.0 & bindings::wq_flags___WQ_ORDERED != 0 {
            1
        } else {
            max_active
        };
        // SAFETY: `name` is a C string, which is copied.
        let wq = unsafe { raw::ouro_alloc_workqueue(name.as_char_ptr(), flags.0, max.into()) };
        let wq = NonNull::new(wq).ok_or(ENOMEM)?;
        let reaper = reaper.write(Reaper {
            work: pin_init::zeroed(),
            wq,
        });
        Ok(Self {
            wq,
            reaper: Some(reaper),
        })
    }

    /// Returns the queue as the kernel crate's type. Delayed items on it must hold the queue.
    fn inner(&self) -> &workqueue::Queue {
        // SAFETY: By the invariant it lives as long as `self`.
        unsafe { workqueue::Queue::from_raw(self.wq.as_ptr()) }
    }

    /// Queues an item. Any context.
    ///
    /// The result tells whether it was on a queue already.
    pub fn enqueue<W, const ID: u64>(&self, item: W) -> W::EnqueueOutput
    where
        W: RawWorkItem<ID> + Send + 'static,
    {
        self.inner().enqueue(item)
    }

    /// Waits for all items that are on the queue now. Must not be called from one of them.
    pub fn flush(&self) {
        // SAFETY: By the invariant.
        unsafe { raw::ouro_flush_workqueue(self.wq.as_ptr()) }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let Some(reaper) = self.reaper.take() else {
            return;
        };
        let reaper = KBox::into_raw(reaper);
        // SAFETY: The reaper stays where it is until `reap` has run; it is used once.
        unsafe {
            init_raw(&raw mut (*reaper).work, reap, static_lock_class!());
            if !release::queue(&raw mut (*reaper).work) {
                // Without a guard there is no worker to do it.
                destroy(reaper);
            }
        }
    }
}

/// The work of a reaper.
///
/// # Safety
///
/// `work` is the field of a [`Reaper`] from a box, which the caller gives away.
unsafe extern "C" fn reap(work: *mut bindings::work_struct) {
    // SAFETY: By the requirement of this function.
    unsafe { destroy(kernel::container_of!(work, Reaper, work)) };
    release::ended();
}

/// Destroys the queue of a reaper, and frees it.
///
/// # Safety
///
/// `reaper` is from a box, which the caller gives away.
unsafe fn destroy(reaper: *mut Reaper) {
    // SAFETY: By the requirement of this function. Waits for the items that are on the queue.
    unsafe {
        bindings::destroy_workqueue((*reaper).wq.as_ptr());
        drop(KBox::from_raw(reaper));
    }
}

/// Initialises a work item that has no type of its own, and `key` for lockdep.
///
/// # Safety
///
/// `work` is writable, and stays where it is while it is in use; `func` fits it.
pub(crate) unsafe fn init_raw(
    work: *mut bindings::work_struct,
    func: unsafe extern "C" fn(*mut bindings::work_struct),
    key: Pin<&'static LockClassKey>,
) {
    // SAFETY: By the requirement of this function.
    unsafe {
        bindings::init_work_with_key(
            work,
            Some(func),
            false,
            c"ouro_kernel".as_char_ptr(),
            key.as_ptr(),
        )
    }
}

/// Returns the `work_struct` of an item.
fn raw_work<T, const ID: u64>(item: &Arc<T>) -> *mut bindings::work_struct
where
    T: HasWork<T, ID>,
{
    // SAFETY: The pointer is that of a living `T`; only an address is computed.
    unsafe {
        let work = T::raw_get_work(Arc::as_ptr(item).cast_mut());
        Work::raw_get(work)
    }
}

/// Takes back the reference that a queue held for an item.
///
/// # Safety
///
/// The item was taken off its queue before it could run.
unsafe fn take_back<T>(item: &Arc<T>) {
    // SAFETY: `enqueue()` has turned one `Arc` of this item into a raw pointer; by the
    // requirement of this function no other code takes it back.
    drop(unsafe { Arc::from_raw(Arc::as_ptr(item)) });
}

/// Removes an item from its queue, or waits until it has run. It may be queued again at once; stop
/// callers that do so first. Sleeps. Must not be called from the item itself.
///
/// Returns whether it was removed before it ran.
pub fn cancel_sync<T, const ID: u64>(item: &Arc<T>) -> bool
where
    T: HasWork<T, ID> + WorkItem<ID, Pointer = Arc<T>> + Send + Sync,
{
    // SAFETY: The work was initialised with its owner, and lives as long as `item`.
    let pending = unsafe { bindings::cancel_work_sync(raw_work::<T, ID>(item)) };
    if pending {
        // SAFETY: It was pending.
        unsafe { take_back(item) };
    }
    pending
}

/// Returns the `delayed_work` of an item.
fn raw_delayed<T, const ID: u64>(item: &Arc<T>) -> *mut bindings::delayed_work
where
    T: HasDelayedWork<T, ID>,
{
    let work = raw_work::<T, ID>(item);
    // SAFETY: By the contract of `HasDelayedWork` it is the field of a `delayed_work`.
    unsafe { kernel::container_of!(work, bindings::delayed_work, work) }
}

/// Does what [`cancel_sync()`] does for a delayed item.
pub fn cancel_delayed_sync<T, const ID: u64>(item: &Arc<T>) -> bool
where
    T: HasDelayedWork<T, ID> + WorkItem<ID, Pointer = Arc<T>> + Send + Sync,
{
    // SAFETY: The work was initialised with its owner, and lives as long as `item`.
    let pending = unsafe { bindings::cancel_delayed_work_sync(raw_delayed::<T, ID>(item)) };
    if pending {
        // SAFETY: It was pending.
        unsafe { take_back(item) };
    }
    pending
}

/// Queues an item after `delay` jiffies, on a queue that it holds. Any context.
///
/// Errors: the item, if it is delayed, or on a queue, already.
pub fn enqueue_delayed<T, const ID: u64>(
    item: Arc<T>,
    queue: impl for<'a> FnOnce(&'a T) -> &'a Queue,
    delay: Jiffies,
) -> core::result::Result<(), Arc<T>>
where
    T: HasDelayedWork<T, ID> + WorkItem<ID, Pointer = Arc<T>> + Send + Sync + 'static,
{
    let wq = queue(&item).wq;
    // SAFETY: The queue lives as long as the item is shared, whatever part of the item holds it.
    // The item is shared as long as it waits; then it is on the queue, whose end waits for it.
    let queue = unsafe { workqueue::Queue::from_raw(wq.as_ptr()) };
    queue.enqueue_delayed::<_, ID>(item, delay)
}
