// SPDX-License-Identifier: GPL-2.0

//! The page directory of an address space, with its tables: two levels, of which the upper one is
//! in slots of the GGTT.
//!
//! The PDEs are kept here, and written to GGTT slots while the space
//! [has some](Space::bind_directory). Tables are in system memory. Every entry is filled at all
//! times: unmapped pages lead to a scratch page of the space's own, through one table that all
//! unused PDEs share.
//!
//! Engines cache the PDEs that they have loaded. Therefore a table, once made, stays until the
//! space ends, and each change of a PDE makes a new [`Edition`] of the directory, which requests
//! have to load.

use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
};
use ouro_core::port::Edition;
use ouro_hw::{
    page_table::PageTable,
    types::{DmaAddr, GgttAddr, PAGE_SIZE},
};
use ouro_kernel::{mmio, pages::DmaPages, pci::DmaDevice, Caching};

use super::{
    allocator::RangeOwner,
    global::system,
    space::{Ppgtt, Space},
};

/// Size of an entry in bytes.
const ENTRY: usize = 4;
/// PTEs of a table, which is one page.
const PER_TABLE: u64 = PAGE_SIZE as u64 / ENTRY as u64;

/// The next edition number, for all devices: no number is reused.
static NEXT_EDITION: Atomic<u64> = Atomic::new(Edition::GLOBAL.0 + 1);

/// The directory and its tables.
pub(super) struct Directory {
    format: &'static dyn PageTable,
    dma: Arc<DmaDevice>,
    /// The scratch page, and a table that maps only that.
    scratch: DmaPages,
    /// The PTE of an unmapped page.
    hole: u32,
    /// The tables by PDE, up to the last one that exists.
    tables: KVVec<Option<KBox<DmaPages>>>,
    /// Number of PDEs.
    all: usize,
}

impl Directory {
    /// Creates a directory with nothing mapped. Errors: `ENOMEM`, `EINVAL` if the format does not
    /// fit.
    pub(super) fn new(
        dma: &Arc<DmaDevice>,
        format: &'static dyn PageTable,
        entries: u32,
    ) -> Result<Self> {
        let per_table: u64 = format.entries_per_table().into();
        if format.entry_bytes() as usize != ENTRY || per_table != PER_TABLE {
            return Err(EINVAL);
        }
        let scratch = DmaPages::new(dma, 2, Caching::WriteBack)?;
        let hole = format.entry(system(scratch.address(0).ok_or(EINVAL)?)) as u32;
        let table = PAGE_SIZE as usize;
        for at in (table..2 * table).step_by(ENTRY) {
            scratch.write32(at, hole);
        }
        Ok(Self {
            format,
            dma: dma.clone(),
            scratch,
            hole,
            tables: KVVec::new(),
            all: entries as usize,
        })
    }

    /// Returns the PDE of a table; without a table, the PDE of unmapped pages.
    fn entry(&self, table: Option<&DmaPages>) -> u64 {
        let address = match table {
            Some(table) => table.address(0),
            None => self.scratch.address(1),
        };
        let entry = address.and_then(|at| self.format.directory_entry(DmaAddr(at)));
        // Each of them has an address.
        entry.unwrap_or(self.format.invalid())
    }

    /// Returns all PDEs.
    pub(super) fn entries(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.all).map(|index| self.entry(self.table(index)))
    }

    /// Returns the table of a PDE.
    fn table(&self, index: usize) -> Option<&DmaPages> {
        self.tables.get(index)?.as_deref()
    }

    /// Writes the PTE of an unmapped page. If that needs a new table, returns its PDE's index and
    /// value. Errors: `ENOMEM`.
    pub(super) fn put(&mut self, page: u64, entry: u64) -> Result<Option<(u32, u64)>> {
        let (index, at) = self.place(page);
        let mut made = None;
        if self.table(index).is_none() {
            if index >= self.all {
                return Err(EINVAL);
            }
            while self.tables.len() <= index {
                self.tables.push(None, GFP_KERNEL_ACCOUNT)?;
            }
            let table = DmaPages::new(&self.dma, 1, Caching::WriteBack)?;
            for at in (0..PAGE_SIZE as usize).step_by(ENTRY) {
                table.write32(at, self.hole);
            }
            made = Some((index as u32, self.entry(Some(&table))));
            let table = KBox::new(table, GFP_KERNEL_ACCOUNT)?;
            if let Some(place) = self.tables.get_mut(index) {
                *place = Some(table);
            }
        }
        if let Some(table) = self.table(index) {
            table.write32(at, entry as u32);
        }
        Ok(made)
    }

    /// Unmaps `count` pages. The tables stay.
    pub(super) fn clear(&self, first: u64, count: u32) {
        for page in first..first.saturating_add(count.into()) {
            let (index, at) = self.place(page);
            if let Some(table) = self.table(index) {
                table.write32(at, self.hole);
            }
        }
    }

    /// Returns the index of a page's table, and the byte offset of its PTE.
    fn place(&self, page: u64) -> (usize, usize) {
        let index = page / PER_TABLE;
        let at = page % PER_TABLE;
        (index as usize, at as usize * ENTRY)
    }
}

impl<T: RangeOwner> Space<T> {
    /// Writes the directory to the slots of `global` from `slot` on, which the caller has
    /// allocated, until [`unbind_directory`](Self::unbind_directory). Errors: `EINVAL` if the space
    /// has no directory of its own.
    pub(crate) fn bind_directory(&self, global: &Arc<Space<T>>, slot: GgttAddr) -> Result {
        let mut inner = self.inner.lock();
        let Some(Ppgtt::Directory(directory, at)) = &mut inner.ppgtt else {
            return Err(EINVAL);
        };
        mmio::wmb();
        global.write_slots(slot.page(), directory.entries());
        *at = Some((global.clone(), slot));
        self.renew();
        Ok(())
    }

    /// Gives up the slots: no engine has the directory loaded, and none loads it until it is
    /// bound again.
    pub(crate) fn unbind_directory(&self) {
        let mut inner = self.inner.lock();
        let Some(Ppgtt::Directory(_, at)) = &mut inner.ppgtt else {
            return;
        };
        let was = at.take();
        drop(inner);
        drop(was);
    }

    /// Returns the edition of the directory that an engine must have loaded to reach all mapped
    /// pages. Any context.
    pub(crate) fn edition(&self) -> Edition {
        Edition(self.edition.load(ordering::Acquire))
    }

    /// Writes a PTE to its own directory's tables. The lock is held.
    pub(super) fn put(
        &self,
        directory: &mut Directory,
        at: &Option<(Arc<Space<T>>, GgttAddr)>,
        page: u64,
        entry: u64,
    ) -> Result {
        let Some((index, entry)) = directory.put(page, entry)? else {
            return Ok(());
        };
        if let Some((global, slot)) = at {
            // The table must be written before its PDE.
            mmio::wmb();
            global.write_slots(slot.page().wrapping_add(index), core::iter::once(entry));
            self.renew();
        }
        Ok(())
    }

    /// Makes a new edition. The slots must be written before the number changes: another engine's
    /// request may be emitted at any time.
    fn renew(&self) {
        self.hardware.gtt_written();
        self.hardware.flush_gtt();
        let next = NEXT_EDITION.fetch_add(1, ordering::Relaxed);
        self.edition.store(next, ordering::Release);
    }
}
