// SPDX-License-Identifier: GPL-2.0

//! Waiting: a queue of waiters that anyone may wake, and completions with a time.
//!
//! `kernel::sync::CondVar` wants a lock around its condition. [`WaitQueue`] wants none: the
//! condition is looked at between announcing oneself and going to sleep.

use kernel::{bindings, prelude::*, sync::LockClassKey, time::Jiffies, types::Opaque};

use crate::raw;

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waited {
    /// What was waited for has happened; so many jiffies were left, at least 1.
    Done(Jiffies),
    /// The time was over first.
    TimedOut,
}

/// Whether a signal ends the wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interruptible {
    /// It does, with `ERESTARTSYS`.
    Yes,
    /// It does not.
    No,
}

/// Without end: the greatest time that the kernel knows.
pub const FOREVER: Jiffies = isize::MAX as Jiffies;

/// Turns what the kernel's waits return into a result.
pub(crate) fn waited(ret: c_long) -> Result<Waited> {
    if ret < 0 {
        Err(Error::from_errno(ret as c_int))
    } else if ret == 0 {
        Ok(Waited::TimedOut)
    } else {
        Ok(Waited::Done(ret as Jiffies))
    }
}

/// The time as the kernel's waits take it, which is signed.
pub(crate) fn timeout(jiffies: Jiffies) -> c_long {
    jiffies.min(FOREVER) as c_long
}

/// A queue of waiters.
#[pin_data]
pub struct WaitQueue {
    #[pin]
    head: Opaque<bindings::wait_queue_head>,
}

// SAFETY: A wait queue has its own lock.
unsafe impl Send for WaitQueue {}
// SAFETY: As above.
unsafe impl Sync for WaitQueue {}

/// Initialises a [`WaitQueue`](crate::wait::WaitQueue), with a lock class of its own.
#[macro_export]
macro_rules! new_wait_queue {
    () => {
        $crate::wait::WaitQueue::new(::kernel::optional_name!(), ::kernel::static_lock_class!())
    };
}
pub use new_wait_queue;

impl WaitQueue {
    /// Makes one; use [`new_wait_queue!`].
    pub fn new(name: &'static CStr, key: Pin<&'static LockClassKey>) -> impl PinInit<Self> {
        pin_init!(Self {
            head <- Opaque::ffi_init(|head| {
                // SAFETY: `head` is to be initialised, at the place where it stays.
                unsafe { bindings::__init_waitqueue_head(head, name.as_char_ptr(), key.as_ptr()) }
            }),
        })
    }

    /// Sleeps until `condition` holds, for at most `jiffies`.
    ///
    /// The condition is evaluated by this thread, at the start and after each wake-up; it must
    /// not sleep. With a time of 0 it is evaluated once.
    ///
    /// Errors: `ERESTARTSYS` if a signal came first.
    pub fn wait<F: FnMut() -> bool>(
        &self,
        interruptible: Interruptible,
        jiffies: Jiffies,
        mut condition: F,
    ) -> Result<Waited> {
        /// # Safety
        ///
        /// `data` is an `F` that nobody else uses.
        unsafe extern "C" fn call<F: FnMut() -> bool>(data: *mut c_void) -> bool {
            // SAFETY: By the requirement of this function.
            let f = unsafe { &mut *data.cast::<F>() };
            f()
        }
        // SAFETY: The queue is initialised; `condition` outlives the call, which alone uses it.
        let ret = unsafe {
            raw::ouro_wait(
                self.head.get(),
                Some(call::<F>),
                (&raw mut condition).cast(),
                interruptible == Interruptible::Yes,
                timeout(jiffies),
            )
        };
        waited(ret)
    }

    /// Wakes all waiters. Any context.
    pub fn wake_all(&self) {
        // SAFETY: The queue is initialised. Mode 3 is `TASK_NORMAL`.
        unsafe {
            bindings::__wake_up(
                self.head.get(),
                bindings::TASK_INTERRUPTIBLE | bindings::TASK_UNINTERRUPTIBLE,
                0,
                core::ptr::null_mut(),
            )
        };
    }
}

/// A `struct completion`, with times.
#[pin_data]
pub struct Completion {
    #[pin]
    inner: Opaque<bindings::completion>,
}

// SAFETY: A completion has its own lock.
unsafe impl Send for Completion {}
// SAFETY: As above.
unsafe impl Sync for Completion {}

impl Completion {
    /// Makes one that is not complete.
    pub fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            inner <- Opaque::ffi_init(|c| {
                // SAFETY: `c` is to be initialised, at the place where it stays.
                unsafe { bindings::init_completion(c) }
            }),
        })
    }

    /// Lets one waiter go on. Any context.
    pub fn complete(&self) {
        // SAFETY: Initialised.
        unsafe { bindings::complete(self.inner.get()) }
    }

    /// Lets all waiters go on, now and later. Any context.
    pub fn complete_all(&self) {
        // SAFETY: Initialised.
        unsafe { bindings::complete_all(self.inner.get()) }
    }

    /// Waits for at most `jiffies`.
    ///
    /// Errors: `ERESTARTSYS` if a signal came first.
    pub fn wait(&self, interruptible: Interruptible, jiffies: Jiffies) -> Result<Waited> {
        let t = jiffies.min(FOREVER);
        if interruptible == Interruptible::Yes {
            // SAFETY: Initialised.
            return waited(unsafe {
                bindings::wait_for_completion_interruptible_timeout(self.inner.get(), t)
            });
        }
        // SAFETY: Initialised.
        match unsafe { bindings::wait_for_completion_timeout(self.inner.get(), t) } {
            0 => Ok(Waited::TimedOut),
            left => Ok(Waited::Done(left)),
        }
    }
}
