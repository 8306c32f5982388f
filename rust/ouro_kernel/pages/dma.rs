// SPDX-License-Identifier: GPL-2.0

//! DMA mappings of pages.

use core::marker::PhantomData;
use kernel::{bindings, error::to_result, prelude::*, sync::Arc};

use super::{
    device::{DmaDevice, Mapped, Memory, Room, Table},
    Pages, PAGE_SIZE,
};
use crate::raw;

/// The pages of an object, mapped for the device; it holds both.
///
/// The unbind of the device unmaps it, if it is still mapped.
///
/// # Invariants
///
/// `mapped` is a table of all of `pages`, on the list of `dma` or unmapped.
pub struct DmaMap {
    mapped: Arc<Mapped>,
    pages: Arc<Pages>,
    dma: Arc<DmaDevice>,
}

/// Pages that have contiguous addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// Index in the object of the first page.
    pub page: usize,
    /// DMA address of the first page.
    pub address: u64,
    /// Number of pages.
    pub pages: usize,
}

impl DmaMap {
    pub(super) fn new(pages: Arc<Pages>, dma: Arc<DmaDevice>) -> Result<Self> {
        let n = u32::try_from(pages.len())?;
        let room = Room::new()?;
        let bonded = dma.enter()?;
        // SAFETY: The pages are held by `pages`, which goes after the table.
        let table = unsafe { Table::new(pages.raw().as_ptr(), n, &bonded)? };
        // SAFETY: The table was just made, and the device is bound.
        to_result(unsafe { raw::ouro_dma_map_sgtable(bonded.raw(), table.get()) })?;
        // SAFETY: Just mapped.
        let mapped = unsafe { bonded.add(room, Memory::Table(table)) };
        drop(bonded);
        // INVARIANT: Made, mapped and on the list.
        Ok(Self { mapped, pages, dma })
    }

    /// Returns the pages.
    pub fn pages(&self) -> &Arc<Pages> {
        &self.pages
    }

    /// Returns the runs of contiguous addresses, in the order of the pages.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let table = match self.mapped.made() {
            Memory::Table(table) => table.get(),
            Memory::Pages(_) | Memory::Imported { .. } => core::ptr::null_mut(),
        };
        // SAFETY: Null, or the table that `mapped` owns, which is not changed while that is shared:
        // unmapping leaves the addresses in it.
        runs(unsafe { segments(table) })
    }

    /// Returns each page with its address, (index, address), from the page `first` on.
    pub fn addresses(&self, first: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        addresses(self.runs(), first)
    }
}

/// The entries of a table of addresses.
pub(super) struct Segments<'a> {
    next: *mut bindings::scatterlist,
    left: usize,
    _table: PhantomData<&'a ()>,
}

/// The addresses in a table with their lengths in bytes; none if it is null.
///
/// # Safety
///
/// `table` is null, or was mapped and is not freed or changed as long as `'a`.
pub(super) unsafe fn segments<'a>(table: *mut bindings::sg_table) -> Segments<'a> {
    // SAFETY: By the requirement of this function.
    let (next, left) =
        unsafe { table.as_ref() }.map_or((core::ptr::null_mut(), 0), |t| (t.sgl, t.nents));
    Segments {
        next,
        left: left as usize,
        _table: PhantomData,
    }
}

impl Iterator for Segments<'_> {
    type Item = (u64, usize);

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 || self.next.is_null() {
            return None;
        }
        let sg = self.next;
        self.left -= 1;
        // SAFETY: The list of a table that was mapped has `nents` entries, and this is one of them.
        unsafe {
            self.next = bindings::sg_next(sg);
            Some((
                bindings::sg_dma_address(sg),
                bindings::sg_dma_len(sg) as usize,
            ))
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Segments<'_> {}

/// Returns the runs of our own tables, whose entries are whole pages.
fn runs(segments: Segments<'_>) -> impl Iterator<Item = Run> + '_ {
    segments.scan(0, |page, (address, len)| {
        let run = Run {
            page: *page,
            address,
            pages: len / PAGE_SIZE,
        };
        *page += run.pages;
        Some(run)
    })
}

/// Returns the pages of runs, from `first` on.
pub(super) fn addresses(
    runs: impl Iterator<Item = Run>,
    first: usize,
) -> impl Iterator<Item = (usize, u64)> {
    runs.filter(move |run| run.page + run.pages > first)
        .flat_map(move |run| {
            let skip = first.saturating_sub(run.page);
            (skip..run.pages).map(move |i| (run.page + i, run.address + (i * PAGE_SIZE) as u64))
        })
}

impl Drop for DmaMap {
    fn drop(&mut self) {
        self.dma.remove(&self.mapped);
    }
}
