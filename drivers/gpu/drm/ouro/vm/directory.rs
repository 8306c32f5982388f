// SPDX-License-Identifier: GPL-2.0

//! A directory of one address space, and the tables behind it: two levels, where the upper one has its place in the
//! global table.
//!
//! What is in the directory is kept here, and written to slots of the global table while the space
//! [has some](Space::settle). Tables are in system memory. Every entry is filled at all times: where nothing is mapped
//! it leads to a scratch page of the space's own, through one table for all of the directory's holes.
//!
//! Engines keep the directory's entries that they have loaded. So a table, once made, stays until the space ends, and
//! each change of the directory makes it another [`Edition`], which requests have to load.

use kernel::{
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
    global::system,
    population::Tenant,
    space::{Own, Space},
};

/// Bytes of an entry.
const ENTRY: usize = 4;
/// Entries of a table, which is one page.
const PER_TABLE: u64 = PAGE_SIZE as u64 / ENTRY as u64;

/// Numbers of editions, of all devices: none is used twice.
static NEXT_EDITION: Atomic<u64> = Atomic::new(Edition::GLOBAL.0 + 1);

/// The directory and its tables.
pub(super) struct Directory {
    format: &'static dyn PageTable,
    dma: Arc<DmaDevice>,
    /// The scratch page, and a table that leads nowhere else.
    scratch: DmaPages,
    /// The entry of a page that is not mapped.
    hole: u32,
    /// By entry of the directory, up to the last one that has a table.
    tables: KVVec<Option<KBox<DmaPages>>>,
    /// Entries of the directory.
    all: usize,
}

impl Directory {
    /// One of so many entries, with nothing mapped. Errors: `ENOMEM`, `EINVAL` for a format of other tables.
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

    /// The directory's entry for a table; for none, the one of holes.
    fn entry(&self, table: Option<&DmaPages>) -> u64 {
        let address = match table {
            Some(table) => table.address(0),
            None => self.scratch.address(1),
        };
        let entry = address.and_then(|at| self.format.directory_entry(DmaAddr(at)));
        // Each of them has an address.
        entry.unwrap_or(self.format.invalid())
    }

    /// All entries of the directory.
    pub(super) fn entries(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.all).map(|index| self.entry(self.table(index)))
    }

    /// The table of an entry of the directory.
    fn table(&self, index: usize) -> Option<&DmaPages> {
        self.tables.get(index)?.as_deref()
    }

    /// Puts an entry where a hole is. Returns the directory's entry that is new by that, and its number, if one is.
    /// Errors: `ENOMEM`.
    pub(super) fn put(&mut self, page: u64, entry: u64) -> Result<Option<(u32, u64)>> {
        let (index, at) = self.place(page);
        let mut made = None;
        if self.table(index).is_none() {
            if index >= self.all {
                return Err(EINVAL);
            }
            while self.tables.len() <= index {
                self.tables.push(None, GFP_KERNEL)?;
            }
            let table = DmaPages::new(&self.dma, 1, Caching::WriteBack)?;
            for at in (0..PAGE_SIZE as usize).step_by(ENTRY) {
                table.write32(at, self.hole);
            }
            made = Some((index as u32, self.entry(Some(&table))));
            let table = KBox::new(table, GFP_KERNEL)?;
            if let Some(place) = self.tables.get_mut(index) {
                *place = Some(table);
            }
        }
        if let Some(table) = self.table(index) {
            table.write32(at, entry as u32);
        }
        Ok(made)
    }

    /// Puts holes in place of `count` pages. The tables stay.
    pub(super) fn clear(&self, first: u64, count: u32) {
        for page in first..first.saturating_add(count.into()) {
            let (index, at) = self.place(page);
            if let Some(table) = self.table(index) {
                table.write32(at, self.hole);
            }
        }
    }

    /// Which table the entry of a page is in, and at which byte.
    fn place(&self, page: u64) -> (usize, usize) {
        let index = page / PER_TABLE;
        let at = page % PER_TABLE;
        (index as usize, at as usize * ENTRY)
    }
}

impl<T: Tenant> Space<T> {
    /// Has the directory in the slots of `global` from `slot` on, for which somebody has taken these, until
    /// [`unsettle`](Self::unsettle). Errors: `EINVAL` for a space without a directory of its own.
    pub(crate) fn settle(&self, global: &Arc<Space<T>>, slot: GgttAddr) -> Result {
        let mut inner = self.inner.lock();
        let Some(Own::Directory(directory, at)) = &mut inner.own else {
            return Err(EINVAL);
        };
        mmio::wmb();
        global.write_slots(slot.page(), directory.entries());
        *at = Some((global.clone(), slot));
        self.renew();
        Ok(())
    }

    /// The directory is nowhere: no engine has it, and none will load it before it is settled again.
    pub(crate) fn unsettle(&self) {
        let mut inner = self.inner.lock();
        let Some(Own::Directory(_, at)) = &mut inner.own else {
            return;
        };
        let was = at.take();
        drop(inner);
        drop(was);
    }

    /// Which directory an engine has to have loaded to see all that is mapped here. Any context.
    pub(crate) fn edition(&self) -> Edition {
        Edition(self.edition.load(ordering::Acquire))
    }

    /// Puts an entry into its own directory's tables. The lock is held.
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
            // The table before what leads to it.
            mmio::wmb();
            global.write_slots(slot.page().wrapping_add(index), core::iter::once(entry));
            self.renew();
        }
        Ok(())
    }

    /// What engines have loaded is not all that there is any more. It is in the device's table when the number says
    /// so: another engine's request may be emitted at any time.
    fn renew(&self) {
        self.hardware.gtt_written();
        self.hardware.flush_gtt();
        let next = NEXT_EDITION.fetch_add(1, ordering::Relaxed);
        self.edition.store(next, ordering::Release);
    }
}
