// SPDX-License-Identifier: GPL-2.0

//! Waiting: completions with timeouts, and results of waits.

use kernel::{bindings, prelude::*, time::Jiffies, types::Opaque};

/// The result of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waited {
    /// The condition became true, with so many jiffies left, at least 1.
    Done(Jiffies),
    /// The wait timed out.
    TimedOut,
}

/// Whether a signal ends the wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interruptible {
    /// It does: `ERESTARTSYS`.
    Yes,
    /// It does not.
    No,
}

/// No timeout: the largest value that the kernel knows.
pub const FOREVER: Jiffies = isize::MAX as Jiffies;

/// Converts the return value of the kernel's waits.
pub(crate) fn waited(ret: c_long) -> Result<Waited> {
    if ret < 0 {
        Err(Error::from_errno(ret as c_int))
    } else if ret == 0 {
        Ok(Waited::TimedOut)
    } else {
        Ok(Waited::Done(ret as Jiffies))
    }
}

/// Converts a timeout to the signed type of the kernel's waits.
pub(crate) fn timeout(jiffies: Jiffies) -> c_long {
    jiffies.min(FOREVER) as c_long
}

/// A `struct completion`, with timeouts.
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
    /// Creates a completion that is not complete.
    pub fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            inner <- Opaque::ffi_init(|c| {
                // SAFETY: `c` is to be initialised, at the place where it stays.
                unsafe { bindings::init_completion(c) }
            }),
        })
    }

    /// Wakes one waiter. Any context.
    pub fn complete(&self) {
        // SAFETY: Initialised.
        unsafe { bindings::complete(self.inner.get()) }
    }

    /// Wakes all waiters, now and later. Any context.
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
