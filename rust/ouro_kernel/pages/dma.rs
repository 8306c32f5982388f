// SPDX-License-Identifier: GPL-2.0

//! What addresses the device has for pages.

use kernel::{bindings, error::to_result, prelude::*, sync::Arc};

use super::{Pages, PAGE_SIZE};
use crate::{pci::DmaDevice, raw};

/// The pages of an object, mapped for the device.
///
/// It holds both. The driver drops it before the device is unbound, for whatever is mapped then.
///
/// # Invariants
///
/// `table` is a table of all of `pages`, mapped for `dma`; it was allocated by us.
pub struct DmaMap {
    table: KBox<bindings::sg_table>,
    pages: Arc<Pages>,
    dma: Arc<DmaDevice>,
}

// SAFETY: The table is not changed.
unsafe impl Send for DmaMap {}
// SAFETY: As above.
unsafe impl Sync for DmaMap {}

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
        let dev = dma.bound()?;
        let n = u32::try_from(pages.len())?;
        let mut table = KBox::new(pin_init::zeroed::<bindings::sg_table>(), GFP_KERNEL)?;
        // SAFETY: The pages are held by `pages`; the array is only read.
        to_result(unsafe {
            raw::ouro_sg_from_pages(&mut *table, pages.raw().as_ptr().cast_mut(), n, dev)
        })?;
        // SAFETY: The device is bound; the table was just made.
        let mapped = to_result(unsafe { raw::ouro_dma_map_sgtable(dev, &mut *table) });
        if let Err(e) = mapped {
            // SAFETY: Made above.
            unsafe { bindings::sg_free_table(&mut *table) };
            return Err(e);
        }
        // INVARIANT: Made and mapped.
        Ok(Self { table, pages, dma })
    }

    /// The pages.
    pub fn pages(&self) -> &Arc<Pages> {
        &self.pages
    }

    /// The runs of successive addresses, in the order of the pages.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let mut sg = self.table.sgl;
        let mut left = self.table.nents;
        let mut page = 0;
        core::iter::from_fn(move || {
            if left == 0 || sg.is_null() {
                return None;
            }
            // SAFETY: By the invariant the list has `nents` entries.
            let (address, len) =
                unsafe { (bindings::sg_dma_address(sg), bindings::sg_dma_len(sg)) };
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

    /// Each page with its address: (index, address), from the page `first` on.
    pub fn addresses(&self, first: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.runs()
            .filter(move |run| run.page + run.pages > first)
            .flat_map(move |run| {
                let skip = first.saturating_sub(run.page);
                (skip..run.pages).map(move |i| (run.page + i, run.address + (i * PAGE_SIZE) as u64))
            })
    }
}

impl Drop for DmaMap {
    fn drop(&mut self) {
        // SAFETY: By the invariant; the device has a reference.
        unsafe {
            raw::ouro_dma_unmap_sgtable(self.dma.raw(), &mut *self.table);
            bindings::sg_free_table(&mut *self.table);
        }
    }
}
