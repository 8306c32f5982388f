// SPDX-License-Identifier: GPL-2.0

//! A vector that is mostly empty.

use core::{
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
};
use kernel::{
    alloc::{allocator::KVmalloc, Allocator, Vec},
    prelude::*,
};

/// A [`Vec`] whose drop costs nothing if it never had an element. The kernel crate's own calls
/// `krealloc()` and `kfree()` when it is dropped, even if it never had memory.
pub struct LazyVec<T, A: Allocator = KVmalloc>(ManuallyDrop<Vec<T, A>>);

impl<T, A: Allocator> LazyVec<T, A> {
    /// Returns an empty vector.
    pub const fn new() -> Self {
        Self(ManuallyDrop::new(Vec::new()))
    }

    /// Allocates capacity for `n` elements. Errors: `ENOMEM`.
    pub fn with_capacity(n: usize, flags: kernel::alloc::Flags) -> Result<Self> {
        match n {
            0 => Ok(Self::new()),
            n => Ok(Vec::with_capacity(n, flags)?.into()),
        }
    }
}

impl<T, A: Allocator> From<Vec<T, A>> for LazyVec<T, A> {
    fn from(vec: Vec<T, A>) -> Self {
        Self(ManuallyDrop::new(vec))
    }
}

impl<T, A: Allocator> Default for LazyVec<T, A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, A: Allocator> Deref for LazyVec<T, A> {
    type Target = Vec<T, A>;

    fn deref(&self) -> &Vec<T, A> {
        &self.0
    }
}

impl<T, A: Allocator> DerefMut for LazyVec<T, A> {
    fn deref_mut(&mut self) -> &mut Vec<T, A> {
        &mut self.0
    }
}

impl<T, A: Allocator> Drop for LazyVec<T, A> {
    fn drop(&mut self) {
        if self.0.capacity() != 0 {
            // SAFETY: It is dropped once, here, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.0) }
        }
    }
}
