// SPDX-License-Identifier: GPL-2.0

//! Some pages of swappable memory, held for user space before the others are allocated.

use kernel::{alloc::flags::GFP_KERNEL_ACCOUNT, bindings, error::from_err_ptr, prelude::*};

use super::{shmem::no_memory, Frame, Pages, Shmem};
use crate::raw;

/// Some pages of a [`Shmem`], held where they are: those that user space has touched. On drop they
/// count as written.
///
/// # Invariants
///
/// Each pointer of `list` comes with a reference of a page of the file, at its index.
pub struct FewPages {
    file: Shmem,
    list: KVec<*mut bindings::page>,
    indexes: KVec<usize>,
    /// Whether the file's mark, by which reclaim skips its pages, ends with this.
    marked: bool,
}

// SAFETY: Pages are reference counted.
unsafe impl Send for FewPages {}
// SAFETY: They are only passed on, as frames.
unsafe impl Sync for FewPages {}

impl FewPages {
    /// Creates an empty set of pages of `file`, of at most `most` pages. Errors: `ENOMEM`.
    pub fn new(file: &Shmem, most: usize) -> Result<Self> {
        // INVARIANT: There are none.
        Ok(Self {
            list: KVec::with_capacity(most, GFP_KERNEL_ACCOUNT)?,
            indexes: KVec::with_capacity(most, GFP_KERNEL_ACCOUNT)?,
            file: file.clone(),
            marked: false,
        })
    }

    /// Returns their number.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Allocates a page that is not among them, or reads it from swap, and holds it. Sleeps; may
    /// enter reclaim.
    ///
    /// Errors: `ENOSPC` if there are as many as there may be; as [`Shmem::get_pages()`].
    pub fn add(&mut self, index: usize) -> Result {
        if self.list.len() == self.list.capacity() || index >= self.file.len() {
            return Err(ENOSPC);
        }
        if !self.marked {
            // SAFETY: It is a shmem file.
            unsafe { raw::ouro_shmem_pin(self.file.file.as_ptr()) };
            self.marked = true;
        }
        // SAFETY: As above; the page comes with a reference.
        let page = from_err_ptr(unsafe { raw::ouro_shmem_page(self.file.file.as_ptr(), index) });
        let page = page.map_err(no_memory)?;
        // INVARIANT: The page and its index. There is capacity for both.
        let _ = self.list.push_within_capacity(page);
        let _ = self.indexes.push_within_capacity(index);
        Ok(())
    }

    /// Returns the frame of a page, for mappings of user space; `None` if it is not among them.
    pub fn frame(&self, index: usize) -> Option<Frame<'_>> {
        let at = self.indexes.iter().position(|i| *i == index)?;
        // SAFETY: By the invariant, as long as `self`.
        self.list
            .get(at)
            .map(|&p| unsafe { Frame::new(raw::ouro_page_to_pfn(p)) })
    }

    /// Drops them while `all` holds all pages of the file. Returns whether it does: then the frames
    /// of these stay those of the object.
    pub fn join(mut self, all: &Pages) -> bool {
        let same = all.shmem().is_some_and(|file| file.file == self.file.file);
        // The mark is that of `all` from now on.
        self.marked &= !same;
        same
    }
}

impl Drop for FewPages {
    fn drop(&mut self) {
        if self.marked {
            let n = self.list.len();
            // SAFETY: By the invariant.
            unsafe {
                raw::ouro_shmem_unpin(self.file.file.as_ptr(), self.list.as_mut_ptr(), n, true);
            }
            return;
        }
        for &page in &self.list {
            // SAFETY: By the invariant.
            unsafe { raw::ouro_shmem_put_page(page, true) };
        }
    }
}
