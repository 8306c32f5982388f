// SPDX-License-Identifier: GPL-2.0

//! Dwords written to pages one after the other, most of them to the same page.

use core::{marker::PhantomData, ptr};
use kernel::{prelude::*, types::NotThreadSafe};

use super::{Pages, PAGE_SIZE};
use crate::raw;

/// Writes dwords to pages. The page of the last dword stays mapped for the next one; the caller
/// maps no other page meanwhile.
///
/// # Invariants
///
/// `base` is null, or where page `index` of `pages` is mapped for this thread.
pub struct Words<'a> {
    pages: &'a Pages,
    index: usize,
    base: *mut u8,
    _thread: PhantomData<NotThreadSafe>,
}

impl Pages {
    /// Returns a writer of dwords.
    pub fn words(&self) -> Words<'_> {
        Words {
            pages: self,
            // No page's.
            index: usize::MAX,
            base: ptr::null_mut(),
            _thread: PhantomData,
        }
    }
}

impl Words<'_> {
    /// Writes a dword in one access; `offset` is in bytes, and a multiple of 4.
    ///
    /// Errors: `EINVAL` if it is not, or outside.
    #[inline]
    pub fn write32(&mut self, offset: usize, value: u32) -> Result {
        let (index, within) = (offset / PAGE_SIZE, offset % PAGE_SIZE);
        if within % 4 != 0 {
            return Err(EINVAL);
        }
        if index != self.index {
            self.turn_to(index)?;
        }
        // SAFETY: By the invariant; aligned, so it is inside of the page.
        unsafe { self.base.add(within).cast::<u32>().write_volatile(value) };
        Ok(())
    }

    /// Maps another page.
    #[inline(never)]
    fn turn_to(&mut self, index: usize) -> Result {
        let page = *self.pages.raw().get(index).ok_or(EINVAL)?;
        self.end();
        // SAFETY: The page is held while `pages` is borrowed; the mapping is undone in `end()`.
        self.base = unsafe { raw::ouro_kmap(page) }.cast();
        // INVARIANT: Just mapped.
        self.index = index;
        Ok(())
    }

    /// Undoes the mapping, if there is one.
    fn end(&mut self) {
        self.index = usize::MAX;
        let base = core::mem::replace(&mut self.base, ptr::null_mut());
        if !base.is_null() {
            // SAFETY: By the invariant.
            unsafe { raw::ouro_kunmap(base.cast()) }
        }
    }
}

impl Drop for Words<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
