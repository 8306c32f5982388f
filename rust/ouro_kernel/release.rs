// SPDX-License-Identifier: GPL-2.0

//! Deferred releases that must end before the module is unloaded.
//!
//! Some things are freed late: the data of a fence after an RCU grace period, an object by a worker
//! if its last reference is dropped in atomic context, a work queue by another worker than its own.
//! All of that runs on work queues of the module, and [`Guard`], which the module owns, waits for
//! it. Work that waits for a grace period has a queue of its own, so that waiting for objects to be
//! freed ([`flush()`]) does not wait for that. So has work that waits for a process
//! ([`queue_patient()`]): a client chooses how long that takes, so other releases and other clients
//! never wait for it.

use core::ptr::NonNull;
use kernel::{
    bindings,
    prelude::*,
    sync::atomic::{ordering, Atomic},
    time::{delay::fsleep, Delta},
};

use crate::{raw, time};

/// The state while a [`Guard`] lives.
struct State {
    /// The queue of work that does not wait for a grace period.
    wq: NonNull<bindings::workqueue_struct>,
    /// The queue of `work`.
    rcu_wq: NonNull<bindings::workqueue_struct>,
    /// The queue of work that waits for a process.
    patient_wq: NonNull<bindings::workqueue_struct>,
    /// Entries to drop after a grace period.
    after_rcu: bindings::llist_head,
    /// The work that drops them.
    work: bindings::work_struct,
    /// Number of releases that were deferred and have not ended, and of [`Hold`]s.
    pending: Atomic<usize>,
    /// Number of releases that were passed to [`queue()`], and of those that have ended.
    queued: Atomic<usize>,
    ended: Atomic<usize>,
}

/// The state of the living guard, or null.
static STATE: Atomic<*mut State> = Atomic::new(core::ptr::null_mut());

/// An entry of the list of things to drop after a grace period.
///
/// # Invariants
///
/// `drop` may be called once with the address of the entry, after which the entry may be gone.
#[repr(C)]
pub(crate) struct AfterRcu {
    node: bindings::llist_node,
    drop: unsafe fn(*mut AfterRcu),
}

impl AfterRcu {
    /// Creates an entry. `drop` is called with the address of the entry, in process context.
    pub(crate) fn new(drop: unsafe fn(*mut AfterRcu)) -> Self {
        Self {
            node: bindings::llist_node {
                next: core::ptr::null_mut(),
            },
            drop,
        }
    }
}

/// Owns the module's release queues. Must be the field of the module that is dropped last.
///
/// Dropping it waits for all deferred releases, and for RCU callbacks, so that no code of the
/// module runs any more.
pub struct Guard(NonNull<State>);

// SAFETY: It is only an address that `new()` made and `drop()` takes back.
unsafe impl Send for Guard {}
// SAFETY: As above; nothing can be done with a shared reference.
unsafe impl Sync for Guard {}

impl Guard {
    /// Creates the queues.
    ///
    /// Errors: `EBUSY` if they exist, `ENOMEM`.
    pub fn new(name: &'static CStr) -> Result<Self> {
        let state = KBox::new_uninit(GFP_KERNEL)?;
        let wq = RawQueue::new(name, ACTIVE)?;
        let rcu_wq = RawQueue::new(name, ACTIVE)?;
        let patient_wq = RawQueue::new(name, ACTIVE_PATIENT)?;
        let state = KBox::into_raw(state.write(State {
            wq: wq.keep(),
            rcu_wq: rcu_wq.keep(),
            patient_wq: patient_wq.keep(),
            after_rcu: pin_init::zeroed(),
            work: pin_init::zeroed(),
            pending: Atomic::new(0),
            queued: Atomic::new(0),
            ended: Atomic::new(0),
        }));
        // SAFETY: The state is at its final place, and `run_after_rcu` fits its work.
        unsafe {
            crate::work::init_raw(
                &raw mut (*state).work,
                run_after_rcu,
                kernel::static_lock_class!(),
            )
        };
        // SAFETY: From a box.
        let this = Self(unsafe { NonNull::new_unchecked(state) });
        if STATE
            .cmpxchg(core::ptr::null_mut(), state, ordering::Full)
            .is_err()
        {
            // SAFETY: No other code has seen the queues and the state.
            unsafe { destroy(state) };
            core::mem::forget(this);
            return Err(EBUSY);
        }
        Ok(this)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let state = self.0.as_ptr();
        // A release may defer more: a queue that is destroyed first runs its work. (Not
        // `drain_workqueue()`, which refuses work that is queued from elsewhere.) The module is
        // being unloaded, so it has no file or exported buffer, but a worker or an MMU notifier may
        // still hold an object of a device that is gone: devices count, too ([`Hold`]).
        // SAFETY: `new()` made the state and the queues.
        unsafe {
            loop {
                bindings::rcu_barrier();
                raw::ouro_flush_workqueue((*state).rcu_wq.as_ptr());
                raw::ouro_flush_workqueue((*state).patient_wq.as_ptr());
                raw::ouro_flush_workqueue((*state).wq.as_ptr());
                if (*state).pending.load(ordering::Acquire) == 0 {
                    break;
                }
                fsleep(Delta::from_millis(1));
            }
            STATE.store(core::ptr::null_mut(), ordering::Relaxed);
            bindings::synchronize_rcu();
            bindings::rcu_barrier();
            // Waits for the last instructions of the last work.
            destroy(state);
        }
    }
}

/// Makes the [`Guard`] wait until this is dropped: for objects whose last reference may be dropped
/// by code that does not keep the module loaded.
pub(crate) struct Hold(());

impl Hold {
    /// Returns `None` if there is no guard.
    pub(crate) fn new() -> Option<Self> {
        let state = STATE.load(ordering::Acquire);
        if state.is_null() {
            return None;
        }
        // SAFETY: The guard lives as long as the module creates objects.
        unsafe { &(*state).pending }.fetch_add(1, ordering::Relaxed);
        Some(Self(()))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        end_pending();
    }
}

/// How many releases run at a time. They contend for the same locks, and for each one that sleeps
/// the kernel wakes another worker: a burst of them would get hundreds.
const ACTIVE: c_int = 4;
/// Same, of releases that wait for a process: one that waits long must not delay those for others.
const ACTIVE_PATIENT: c_int = 64;

/// Most milliseconds that [`flush()`] waits.
const FLUSH_MS: u64 = 100;

/// A queue that is destroyed when this is dropped.
struct RawQueue(NonNull<bindings::workqueue_struct>);

impl RawQueue {
    fn new(name: &'static CStr, active: c_int) -> Result<Self> {
        let flags = bindings::wq_flags_WQ_UNBOUND | bindings::wq_flags_WQ_MEM_RECLAIM;
        // SAFETY: `name` is a C string.
        let wq = unsafe { raw::ouro_alloc_workqueue(name.as_char_ptr(), flags, active) };
        Ok(Self(NonNull::new(wq).ok_or(ENOMEM)?))
    }

    /// Gives up ownership: the caller destroys it.
    fn keep(self) -> NonNull<bindings::workqueue_struct> {
        core::mem::ManuallyDrop::new(self).0
    }
}

impl Drop for RawQueue {
    fn drop(&mut self) {
        // SAFETY: Made by `new()`, and nothing is on it.
        unsafe { bindings::destroy_workqueue(self.0.as_ptr()) }
    }
}

/// Destroys the queues of a state, and frees it.
///
/// # Safety
///
/// It is from a box, which the caller gives away, and nothing is queued any more.
unsafe fn destroy(state: *mut State) {
    // SAFETY: By the requirement of this function.
    unsafe {
        bindings::destroy_workqueue((*state).patient_wq.as_ptr());
        bindings::destroy_workqueue((*state).rcu_wq.as_ptr());
        bindings::destroy_workqueue((*state).wq.as_ptr());
        drop(KBox::from_raw(state));
    }
}

/// A release that was passed to [`queue()`] has ended: its work calls this at its end.
pub(crate) fn ended() {
    let state = STATE.load(ordering::Acquire);
    if !state.is_null() {
        // SAFETY: The guard waits for deferred releases.
        unsafe {
            (*state).ended.fetch_add(1, ordering::Release);
            (*state).pending.fetch_sub(1, ordering::Release);
        }
    }
}

/// A release that was passed to [`queue_patient()`] has ended: its work calls this at its end.
pub(crate) fn patient_ended() {
    end_pending();
}

/// Undoes an increment of [`State::pending`].
fn end_pending() {
    let state = STATE.load(ordering::Acquire);
    if !state.is_null() {
        // SAFETY: The guard waits for deferred releases.
        unsafe { &(*state).pending }.fetch_sub(1, ordering::Release);
    }
}

/// Drops the entries of the list, after a grace period.
///
/// # Safety
///
/// `work` is the field of a [`State`].
unsafe extern "C" fn run_after_rcu(work: *mut bindings::work_struct) {
    // SAFETY: By the requirement of this function; the guard waits for us before it frees it.
    let state: *mut State = unsafe { kernel::container_of!(work, State, work) };
    // SAFETY: As above. The list is lock-free.
    let mut node = unsafe { raw::ouro_llist_take(&raw mut (*state).after_rcu) };
    if node.is_null() {
        return;
    }
    // SAFETY: We may sleep. One grace period for all of them.
    unsafe { bindings::synchronize_rcu() };
    while !node.is_null() {
        // SAFETY: Entries were put there by `after_rcu()`; each is the first field of its entry.
        unsafe {
            let next = (*node).next;
            let entry = node.cast::<AfterRcu>();
            ((*entry).drop)(entry);
            (*state).pending.fetch_sub(1, ordering::Release);
            node = next;
        }
    }
}

/// Drops an entry after an RCU grace period, in a worker. Any context.
///
/// # Safety
///
/// The entry must be valid until its function is called, and must not be passed twice.
pub(crate) unsafe fn after_rcu(entry: *mut AfterRcu) {
    let state = STATE.load(ordering::Acquire);
    if state.is_null() {
        // Without a guard, the module does not use one, or is being unloaded. There is no safe time
        // to drop it.
        pr_warn!("no release guard: an object that waits for RCU is leaked\n");
        return;
    }
    // SAFETY: The guard lives as long as the module has things to release.
    unsafe {
        (*state).pending.fetch_add(1, ordering::Relaxed);
        if raw::ouro_llist_add(entry.cast(), &raw mut (*state).after_rcu) {
            bindings::queue_work_on(
                bindings::wq_misc_consts_WORK_CPU_UNBOUND as c_int,
                (*state).rcu_wq.as_ptr(),
                &raw mut (*state).work,
            );
        }
    }
}

/// Runs `work` in a worker of the module's queue. Any context.
///
/// Returns whether it was queued: not if it is queued already, or if there is no guard. If it was,
/// the work must call [`ended()`] at its end.
///
/// # Safety
///
/// The work must be initialised, and valid until it has run.
pub(crate) unsafe fn queue(work: *mut bindings::work_struct) -> bool {
    let state = STATE.load(ordering::Acquire);
    if state.is_null() {
        return false;
    }
    // SAFETY: The guard lives as long as the module has things to release; `work` by the
    // requirement of this function.
    unsafe {
        (*state).queued.fetch_add(1, ordering::Relaxed);
        let queued = enqueue(state, (*state).wq, work);
        if !queued {
            (*state).ended.fetch_add(1, ordering::Release);
        }
        queued
    }
}

/// Runs `work` in a worker of the module's queue of work that waits for a process. Any context.
///
/// Returns whether it was queued, as [`queue()`] does. If it was, the work must call
/// [`patient_ended()`] at its end.
///
/// # Safety
///
/// As [`queue()`].
pub(crate) unsafe fn queue_patient(work: *mut bindings::work_struct) -> bool {
    let state = STATE.load(ordering::Acquire);
    if state.is_null() {
        return false;
    }
    // SAFETY: As in `queue()`.
    unsafe { enqueue(state, (*state).patient_wq, work) }
}

/// Runs `work` in a worker of one of the queues. Returns whether it was queued.
///
/// # Safety
///
/// As [`queue()`]; the state lives, and the queue is its own.
unsafe fn enqueue(
    state: *mut State,
    wq: NonNull<bindings::workqueue_struct>,
    work: *mut bindings::work_struct,
) -> bool {
    // SAFETY: By the requirement of this function.
    unsafe {
        (*state).pending.fetch_add(1, ordering::Relaxed);
        let queued = bindings::queue_work_on(
            bindings::wq_misc_consts_WORK_CPU_UNBOUND as c_int,
            wq.as_ptr(),
            work,
        );
        if !queued {
            (*state).pending.fetch_sub(1, ordering::Release);
        }
        queued
    }
}

/// Waits until as many releases have ended as were deferred so far, except those that wait for a
/// grace period or a process: for deferred objects. For a tenth of a second at most, or until the
/// calling thread has a signal: the caller looks again. Sleeps.
pub fn flush() {
    let state = STATE.load(ordering::Acquire);
    if state.is_null() {
        return;
    }
    // SAFETY: As in `queue()`.
    let state = unsafe { &*state };
    let ended = state.ended.load(ordering::Acquire);
    let todo = state.queued.load(ordering::Relaxed).wrapping_sub(ended);
    let until = time::monotonic_ns().saturating_add(FLUSH_MS * 1_000_000);
    let mut micros = 10;
    while state.ended.load(ordering::Acquire).wrapping_sub(ended) < todo {
        if kernel::current!().signal_pending() || time::monotonic_ns() >= until {
            break;
        }
        fsleep(Delta::from_micros(micros));
        micros = (micros * 2).min(1000);
    }
}

/// Waits for all releases deferred so far, including the data of fences, and those deferred in
/// turn, except those that wait for a process. Sleeps.
///
/// For tests, and for an unbind that must see memory freed.
pub fn drain() {
    let state = STATE.load(ordering::Acquire);
    if !state.is_null() {
        // SAFETY: As in `queue()`.
        unsafe {
            raw::ouro_flush_workqueue((*state).rcu_wq.as_ptr());
            raw::ouro_flush_workqueue((*state).wq.as_ptr());
        }
    }
}
