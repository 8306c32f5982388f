// SPDX-License-Identifier: GPL-2.0

//! Memory of the device's own that tables are in, where they cannot be elsewhere.
//!
//! It is a part of that memory that the CPU sees, and nobody else's: so a table never has to wait until
//! somebody leaves. Each page of it is one table.
//!
//! A device that sleeps forgets them. They are kept meanwhile, and so is what is written to them.

use core::mem;
use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        rcu, Arc, Mutex,
    },
};
use ouro_core::range::Want;
use ouro_hw::types::{CacheLevel, DmaAddr, MemoryKind, Page, PAGE_SIZE};
use ouro_kernel::mmio::{self, Bar};

use super::population::Population;

/// Bytes of an entry.
const ENTRY: usize = 8;

/// Entries of a table.
const ENTRIES: usize = PAGE_SIZE as usize / ENTRY;
/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// What the tables hold while the device sleeps.
#[derive(Default)]
struct Kept {
    /// Their pages, in order.
    pages: KVVec<usize>,
    /// Their entries.
    entries: KVVec<u64>,
}

impl Kept {
    /// The entries of a page.
    fn table(&mut self, page: usize) -> Option<&mut [u64]> {
        let n = self.pages.binary_search(&page).ok()?;
        self.entries.chunks_exact_mut(ENTRIES).nth(n)
    }
}

/// What the lock protects.
struct Inner {
    population: Population<()>,
    /// By page, a bit that says whether it is taken.
    taken: KVVec<u64>,
    kept: Kept,
}

impl Inner {
    /// Pages that are taken.
    fn pages(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.taken.iter().enumerate();
        words.flat_map(|(n, word)| {
            let bits = (0..BITS).filter(move |bit| word >> bit & 1 != 0);
            bits.map(move |bit| n * BITS + bit)
        })
    }

    /// Notes that a page is taken, or free.
    fn mark(&mut self, page: u64, taken: bool) {
        let (word, bit) = (page as usize / BITS, page as usize % BITS);
        if let Some(word) = self.taken.get_mut(word) {
            *word = *word & !(1 << bit) | u64::from(taken) << bit;
        }
    }
}

/// The memory.
#[pin_data]
pub(crate) struct TableStore {
    window: Bar,
    /// The device's address of the window's first byte.
    at: u64,
    /// Whether the tables are kept elsewhere. Changed under the lock, and read in a section of RCU as well.
    asleep: Atomic<bool>,
    #[pin]
    inner: Mutex<Inner>,
}

impl TableStore {
    /// All that is in `window`, whose first byte has address `at` of the device's memory. Errors: `ENOMEM`.
    pub(crate) fn new(window: Bar, at: u64) -> Result<Arc<Self>> {
        let pages = window.len() / PAGE_SIZE as usize;
        let inner = Inner {
            population: Population::new(0..pages as u64)?,
            taken: KVVec::from_elem(0, pages.div_ceil(BITS), GFP_KERNEL)?,
            kept: Kept::default(),
        };
        Arc::pin_init(
            try_pin_init!(Self {
                window,
                at,
                asleep: Atomic::new(false),
                inner <- new_mutex!(inner, "ouro_table_store"),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// The driver goes: nothing is written any more.
    pub(crate) fn close(&self) {
        self.window.revoke();
    }

    /// Makes sure that [`save`](Self::save) has room for all tables that there are. Errors: `ENOMEM`.
    pub(crate) fn prepare(&self) -> Result {
        let count = self.inner.lock().pages().count();
        let kept = Kept {
            pages: KVVec::with_capacity(count, GFP_KERNEL)?,
            entries: KVVec::with_capacity(count * ENTRIES, GFP_KERNEL)?,
        };
        let old = mem::replace(&mut self.inner.lock().kept, kept);
        drop(old);
        Ok(())
    }

    /// Keeps what is in the tables: the device is about to forget it.
    ///
    /// Errors: `ENOMEM` if there are many more than there were when that was prepared, `ENODEV`; then it goes
    /// on as it was.
    pub(crate) fn save(&self) -> Result {
        let mut inner = self.inner.lock();
        let Kept {
            mut pages,
            mut entries,
        } = mem::take(&mut inner.kept);
        pages.clear();
        entries.clear();
        for page in inner.pages() {
            pages.push(page, GFP_KERNEL)?;
        }
        entries.resize(pages.len() * ENTRIES, 0, GFP_KERNEL)?;
        self.asleep.store(true, ordering::Relaxed);
        // Who saw that it was not has written by then.
        rcu::synchronize_rcu();
        let mut tables = entries.chunks_exact_mut(ENTRIES);
        for page in pages.iter() {
            let Some(table) = tables.next() else { break };
            for (n, entry) in table.iter_mut().enumerate() {
                *entry = self.window.read64(place(*page as u64, n));
            }
        }
        inner.kept = Kept { pages, entries };
        Ok(())
    }

    /// Writes the tables as they are to be.
    pub(crate) fn restore(&self) {
        let mut inner = self.inner.lock();
        if !self.asleep.load(ordering::Relaxed) {
            return;
        }
        let kept = mem::take(&mut inner.kept);
        let mut tables = kept.entries.chunks_exact(ENTRIES);
        for page in kept.pages.iter() {
            let Some(table) = tables.next() else { break };
            let at = place(*page as u64, 0);
            self.window.write64s(at, table.iter().copied());
        }
        mmio::wmb();
        self.asleep.store(false, ordering::Relaxed);
        drop(inner);
    }

    /// Writes an entry to so many places that follow each other. Posted.
    fn put(&self, page: u64, first: usize, count: usize, entry: u64) {
        let write = || {
            let values = (0..count).map(|_| entry);
            self.window.write64s(place(page, first), values);
        };
        {
            let _section = rcu::read_lock();
            if !self.asleep.load(ordering::Relaxed) {
                write();
                return;
            }
        }
        let mut inner = self.inner.lock();
        if !self.asleep.load(ordering::Relaxed) {
            write();
        } else if let Some(table) = inner.kept.table(page as usize) {
            table
                .iter_mut()
                .skip(first)
                .take(count)
                .for_each(|e| *e = entry);
        }
    }

    /// A table, whatever is in it. Errors: `ENOSPC` if there is none left, `EBUSY` while the device sleeps,
    /// `ENOMEM`.
    pub(super) fn take(self: &Arc<Self>) -> Result<Table> {
        let want = Want {
            size: 1,
            align: 1,
            within: (0, u64::MAX),
        };
        let mut inner = self.inner.lock();
        if self.asleep.load(ordering::Relaxed) {
            return Err(EBUSY);
        }
        let page = inner.population.take(&[want])?;
        inner.mark(page, true);
        Ok(Table {
            store: self.clone(),
            page,
        })
    }
}

/// A table. Dropped: its page is free. Nothing of the device refers to it then.
pub(super) struct Table {
    store: Arc<TableStore>,
    page: u64,
}

impl Table {
    /// Its page, for the entry of the table above.
    pub(super) fn page(&self) -> Page {
        Page {
            addr: DmaAddr(self.store.at + self.page * u64::from(PAGE_SIZE)),
            memory: MemoryKind::Local,
            cache: CacheLevel::None,
        }
    }

    /// Writes the same entry to all of its places, of which there are so many.
    pub(super) fn fill(&self, places: usize, entry: u64) {
        self.store.put(self.page, 0, places, entry);
    }

    /// Writes an entry. Posted.
    pub(super) fn write(&self, index: usize, entry: u64) {
        self.store.put(self.page, index, 1, entry);
    }
}

/// The byte in the window where an entry of a page is.
fn place(page: u64, index: usize) -> usize {
    page as usize * PAGE_SIZE as usize + index * ENTRY
}

impl Drop for Table {
    fn drop(&mut self) {
        let mut inner = self.store.inner.lock();
        inner.mark(self.page, false);
        let departed = inner.population.give(self.page, 1);
        drop(inner);
        drop(departed);
    }
}
