// SPDX-License-Identifier: GPL-2.0

//! What addresses the device has for pages.

use kernel::{bindings, error::to_result, prelude::*, sync::Arc};

use super::{
    device::{DmaDevice, Mapped, Memory, Room, Table},
    Pages, PAGE_SIZE,
};
use crate::raw;

/// The pages of an object, mapped for the device; it holds both.
///
/// The unbind of the device unmaps it, if it is still there.
///
/// # Invariants
///
/// `mapped` is a table of all of `pages`, on the list of `dma` or unmapped.
pub struct DmaMap {
    mapped: Arc<Mapped>,
    pages: Arc<Pages>,
    dma: Arc<DmaDevice>,
}

/// Pages that have successive addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// The first of them, as its index in the object.
    pub page: usize,
    /// The address of the first.
    pub address: u64,
    /// How many.
    pub pages: usize,
}

impl DmaMap {
    pub(super) fn new(pages: Arc<Pages>, dma: Arc<DmaDevice>) -> Result<Self> {
        dma.check_bound()?;
        let n = u32::try_from(pages.len())?;
        let room = Room::new()?;
        // SAFETY: The pages are held by `pages`, which goes after the table.
        let table = unsafe { Table::new(pages.raw().as_ptr(), n, &dma)? };
        // SAFETY: The table was just made. If the device is being unbound, it is still there, and
        // `add()` unmaps it again.
        to_result(unsafe { raw::ouro_dma_map_sgtable(dma.raw(), table.get()) })?;
        // SAFETY: Just mapped.
        let mapped = unsafe { dma.add(room, Memory::Table(table))? };
        // INVARIANT: Made, mapped and on the list.
        Ok(Self { mapped, pages, dma })
    }

    /// The pages.
    pub fn pages(&self) -> &Arc<Pages> {
        &self.pages
    }

    /// The runs of successive addresses, in the order of the pages.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        runs(&self.mapped)
    }

    /// Each page with its address: (index, address), from the page `first` on.
    pub fn addresses(&self, first: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        addresses(self.runs(), first)
    }
}

/// The runs of a table.
pub(super) fn runs(mapped: &Mapped) -> impl Iterator<Item = Run> + '_ {
    let table = match mapped.memory() {
        Memory::Table(table) => table.get(),
        Memory::Imported { table, .. } => *table,
        Memory::Pages(_) => core::ptr::null_mut(),
    };
    // SAFETY: Null, or a table that lives as long as `mapped`, and is not changed while that is
    // shared.
    let (mut sg, mut left) =
        unsafe { table.as_ref() }.map_or((core::ptr::null_mut(), 0), |t| (t.sgl, t.nents));
    let mut page = 0;
    core::iter::from_fn(move || {
        if left == 0 || sg.is_null() {
            return None;
        }
        // SAFETY: The list of a mapped table has `nents` entries.
        let (address, len) = unsafe { (bindings::sg_dma_address(sg), bindings::sg_dma_len(sg)) };
        let run = Run {
            page,
            address,
            pages: len as usize / PAGE_SIZE,
        };
        page += run.pages;
        left -= 1;
        // SAFETY: As above.
        sg = unsafe { bindings::sg_next(sg) };
        Some(run)
    })
}

/// The pages of runs, from `first` on.
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
