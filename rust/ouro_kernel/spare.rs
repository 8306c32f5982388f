// SPDX-License-Identifier: GPL-2.0

//! A place for one value that the next caller can use, in place of allocating one.

use core::ptr;
use kernel::{
    prelude::*,
    sync::atomic::{ordering, Atomic},
};

/// A place for one value, which threads take and put without waiting for each other.
///
/// # Invariants
///
/// The pointer is null or a box, which this owns.
pub struct Spare<T: Send>(Atomic<*mut T>);

impl<T: Send> Spare<T> {
    /// Creates an empty place.
    pub const fn new() -> Self {
        Self(Atomic::new(ptr::null_mut()))
    }

    /// Takes the value; `None` if there is none, or if another thread has it.
    pub fn take(&self) -> Option<KBox<T>> {
        let value = self.0.xchg(ptr::null_mut(), ordering::Full);
        match value.is_null() {
            true => None,
            // SAFETY: By the invariant; no other thread has got it.
            false => Some(unsafe { KBox::from_raw(value) }),
        }
    }

    /// Leaves a value for the next caller, and drops the one that is there.
    pub fn put(&self, value: KBox<T>) {
        // INVARIANT: It is a box, given away.
        let other = self.0.xchg(KBox::into_raw(value), ordering::Full);
        if !other.is_null() {
            // SAFETY: By the invariant; no other thread has got it.
            drop(unsafe { KBox::from_raw(other) });
        }
    }
}

impl<T: Send> Default for Spare<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send> Drop for Spare<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

// SAFETY: Only the thread that takes the value can access it, and values are `Send`.
unsafe impl<T: Send> Sync for Spare<T> {}
// SAFETY: As above.
unsafe impl<T: Send> Send for Spare<T> {}
