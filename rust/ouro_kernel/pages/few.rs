// SPDX-License-Identifier: GPL-2.0

//! Some pages of swappable memory, held for user space before the others are allocated.

use kernel::{bindings, error::from_err_ptr, prelude::*};

use super::{shmem::no_memory, Frame, Pages, Shmem};
use crate::raw;

/// Some pages of a [`Shmem`], held where they are: those that user space has touched. On drop they
/// count as written.
///
/// # Invariants
///
/// Each pointer of `list` comes with a reference of a page of the file, at the index in `held`.
pub struct FewPages {
    file: Shmem,
    list: KVec<*mut bindings::page>,
    held: KVec<usize>,
    /// The indexes of all that were ever held.
    indexes: KVec<usize>,
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
            // Not accounted: at the limit of its memory, the process would be killed for it.
            list: KVec::with_capacity(most, GFP_KERNEL)?,
            held: KVec::with_capacity(most, GFP_KERNEL)?,
            indexes: KVec::with_capacity(most, GFP_KERNEL)?,
            file: file.clone(),
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

    /// Unpins them: reclaim may swap them out. Their contents are known to be in the file.
    pub fn park(&mut self) {
        self.release();
        self.list.clear();
        self.held.clear();
    }

    /// Allocates a page that is not held, or reads it from swap, and holds it. Sleeps; may
    /// enter reclaim.
    ///
    /// Errors: `ENOSPC` if there are as many as there may be; as [`Shmem::get_pages()`].
    pub fn add(&mut self, index: usize) -> Result {
        let known = self.indexes.contains(&index);
        let room = known || self.indexes.len() < self.indexes.capacity();
        if !room || index >= self.file.len() {
            return Err(ENOSPC);
        }
        // Reclaim keeps pages that are in use. The file is not marked for it, since the mark would
        // be for other pages, too.
        // SAFETY: It is a shmem file; the page comes with a reference.
        let page = from_err_ptr(unsafe { raw::ouro_shmem_page(self.file.file.as_ptr(), index) });
        let page = page.map_err(no_memory)?;
        // INVARIANT: The page and its index. There is capacity.
        let _ = self.list.push_within_capacity(page);
        let _ = self.held.push_within_capacity(index);
        if !known {
            let _ = self.indexes.push_within_capacity(index);
        }
        Ok(())
    }

    /// Returns the frame of a page, for mappings of user space; `None` if it is not among them.
    pub fn frame(&self, index: usize) -> Option<Frame<'_>> {
        let at = self.held.iter().position(|i| *i == index)?;
        // SAFETY: By the invariant, as long as `self`.
        self.list
            .get(at)
            .map(|&p| unsafe { Frame::new(raw::ouro_page_to_pfn(p)) })
    }

    /// Frees all pages of the file that were never held: their contents are lost.
    pub fn discard_others(&self) {
        let discard = |first, end| {
            // SAFETY: It is a shmem file.
            unsafe { raw::ouro_shmem_discard_pages(self.file.file.as_ptr(), first, end) }
        };
        let mut start = 0;
        loop {
            let rest = self.indexes.iter().copied().filter(|i| *i >= start);
            let Some(next) = rest.min() else { break };
            discard(start, next);
            start = next + 1;
        }
        discard(start, self.file.len());
    }

    /// Drops them while `all` holds all pages of the file. Returns whether it does: then the frames
    /// of these stay those of the object.
    pub fn join(self, all: &Pages) -> bool {
        all.shmem().is_some_and(|file| file.file == self.file.file)
    }

    /// Puts the pages. They must not be in the list afterwards.
    fn release(&mut self) {
        for &page in &self.list {
            // SAFETY: By the invariant.
            unsafe { raw::ouro_shmem_put_page(page, true) };
        }
    }
}

impl Drop for FewPages {
    fn drop(&mut self) {
        self.release();
    }
}
