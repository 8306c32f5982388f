// SPDX-License-Identifier: GPL-2.0

//! VRAM for page tables, on chips whose tables must be there.
//!
//! It is a CPU-visible part of VRAM that nothing else uses, so that a table never has to wait for
//! an eviction. Each page is one table.
//!
//! A device that sleeps loses them. Their contents are kept in memory meanwhile, and writes go
//! there.

use core::mem;
use kernel::{
    alloc::{flags::GFP_KERNEL_ACCOUNT, Flags},
    new_mutex,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        rcu, Arc, Mutex,
    },
};
use ouro_core::{
    range::{Colour, Want},
    slots,
};
use ouro_hw::types::{CacheLevel, DmaAddr, MemoryKind, Page, PAGE_SIZE};
use ouro_kernel::mmio::{self, Bar};

use super::allocator::RangeAllocator;

/// Size of an entry in bytes.
const ENTRY: usize = 8;

/// Entries of a table.
const ENTRIES: usize = PAGE_SIZE as usize / ENTRY;
/// Equal entries that are written at a time; mostly it is one.
const RUN: usize = 8;
/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// The contents of the tables while the device sleeps.
#[derive(Default)]
struct Kept {
    /// The tables' pages, in order.
    pages: KVVec<usize>,
    /// The tables' entries.
    entries: KVVec<u64>,
}

impl Kept {
    /// Returns the entries of a page.
    fn table(&mut self, page: usize) -> Option<&mut [u64]> {
        let n = self.pages.binary_search(&page).ok()?;
        self.entries.chunks_exact_mut(ENTRIES).nth(n)
    }
}

/// Tables that are left to the kernel's own space: all that its 4 GB of addresses can take, 2048 of
/// the lowest level and a few above them. A move out of VRAM that found none would keep the machine
/// from sleeping.
const RESERVED: usize = 2064;

/// The tables of a client. The store leaves some to other clients: one may have at most
/// [`SHARE`](Self::SHARE) times the free ones, which alone is three quarters of all.
pub(crate) struct TableShare {
    /// Their number. Changed under the store's lock.
    tables: Atomic<usize>,
}

impl TableShare {
    const SHARE: usize = 3;

    /// Creates the share of a new client. Errors: `ENOMEM`.
    pub(crate) fn new() -> Result<Arc<Self>> {
        let tables = Atomic::new(0);
        Ok(Arc::new(Self { tables }, GFP_KERNEL_ACCOUNT)?)
    }

    /// Returns whether it may have one more of `free` tables.
    fn may_take(&self, free: usize) -> bool {
        let own = self.tables.load(ordering::Relaxed);
        free != 0 && slots::may_take(own / Self::SHARE, 1, free)
    }
}

/// The owner of the space that a table is for.
#[derive(Clone)]
pub(crate) enum Whose {
    /// The kernel.
    Kernel,
    /// A client.
    Client(Arc<TableShare>),
}

impl Whose {
    /// Returns how memory for the tables is allocated: the kernel's is charged to no client.
    pub(super) fn flags(&self) -> Flags {
        match self {
            Self::Kernel => GFP_KERNEL,
            Self::Client(_) => GFP_KERNEL_ACCOUNT,
        }
    }
}

/// The state under the lock.
struct Inner {
    ranges: RangeAllocator<()>,
    /// Number of free pages.
    free: usize,
    /// Number of pages that are left to the kernel's space, and of those that it has.
    reserved: usize,
    kernels: usize,
    /// Allocated pages, a bit each.
    taken: KVVec<u64>,
    kept: Kept,
}

impl Inner {
    /// Returns the allocated pages.
    fn pages(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.taken.iter().enumerate();
        words.flat_map(|(n, word)| {
            let bits = (0..BITS).filter(move |bit| word >> bit & 1 != 0);
            bits.map(move |bit| n * BITS + bit)
        })
    }

    /// Marks a page as allocated or free.
    fn mark(&mut self, page: u64, taken: bool) {
        let (word, bit) = (page as usize / BITS, page as usize % BITS);
        if let Some(word) = self.taken.get_mut(word) {
            *word = *word & !(1 << bit) | u64::from(taken) << bit;
        }
    }
}

/// The VRAM of page tables.
#[pin_data]
pub(crate) struct TableStore {
    window: Bar,
    /// VRAM address of the window's first byte.
    at: u64,
    /// Whether the tables are kept in memory. Changed under the lock, and also read in RCU read
    /// sections.
    asleep: Atomic<bool>,
    #[pin]
    inner: Mutex<Inner>,
}

impl TableStore {
    /// Creates a store in `window`, whose first byte has VRAM address `at`. Errors: `ENOMEM`.
    pub(crate) fn new(window: Bar, at: u64) -> Result<Arc<Self>> {
        let pages = window.len() / PAGE_SIZE as usize;
        let inner = Inner {
            ranges: RangeAllocator::new(0..pages as u64)?,
            free: pages,
            // A small store is shared.
            reserved: RESERVED.min(pages / 2),
            kernels: 0,
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

    /// Stops writes: the driver is being unbound.
    pub(crate) fn close(&self) {
        self.window.revoke();
    }

    /// Allocates memory for [`save`](Self::save). Errors: `ENOMEM`.
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

    /// Saves the tables, because the device is about to lose them.
    ///
    /// Errors: `ENOMEM` if there are more tables than at [`prepare`](Self::prepare): engines are
    /// paused, and reclaim could wait for them. The store is then unchanged.
    pub(crate) fn save(&self) -> Result {
        let mut inner = self.inner.lock();
        let Kept {
            mut pages,
            mut entries,
        } = mem::take(&mut inner.kept);
        pages.clear();
        entries.clear();
        for page in inner.pages() {
            pages.push(page, GFP_NOWAIT)?;
        }
        entries.resize(pages.len() * ENTRIES, 0, GFP_NOWAIT)?;
        self.asleep.store(true, ordering::Relaxed);
        // Writers that saw the flag unset have finished after this.
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

    /// Restores the tables.
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
            self.window.write64s(at, table);
        }
        mmio::wmb();
        self.asleep.store(false, ordering::Relaxed);
        drop(inner);
    }

    /// Writes an entry to `count` consecutive places. Posted.
    fn put(&self, page: u64, first: usize, count: usize, entry: u64) {
        let write = || {
            let run = [entry; RUN];
            for done in (0..count).step_by(RUN) {
                let run = run.get(..count - done).unwrap_or(&run);
                self.window.write64s(place(page, first + done), run);
            }
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

    /// Allocates a table; its contents are undefined. Errors: `ENOSPC` if the store is full, but
    /// for what is reserved for the kernel, or the client has its share; `EBUSY` while the device
    /// sleeps, `ENOMEM`.
    pub(super) fn take(self: &Arc<Self>, whose: &Whose) -> Result<Table> {
        let want = Want {
            size: 1,
            align: 1,
            within: (0, u64::MAX),
        };
        let mut inner = self.inner.lock();
        if self.asleep.load(ordering::Relaxed) {
            return Err(EBUSY);
        }
        if let Whose::Client(share) = whose {
            let kept = inner.reserved.saturating_sub(inner.kernels);
            if !share.may_take(inner.free.saturating_sub(kept)) {
                return Err(ENOSPC);
            }
        }
        let page = inner.ranges.take(&[want], Colour::Plain)?;
        inner.mark(page, true);
        inner.free = inner.free.saturating_sub(1);
        match whose {
            Whose::Kernel => inner.kernels += 1,
            Whose::Client(share) => drop(share.tables.fetch_add(1, ordering::Relaxed)),
        }
        Ok(Table {
            store: self.clone(),
            page,
            whose: whose.clone(),
        })
    }
}

/// A table, freed on drop. The device must not refer to it then.
pub(super) struct Table {
    store: Arc<TableStore>,
    page: u64,
    whose: Whose,
}

impl Table {
    /// Returns its page, for the PDE in the table above.
    pub(super) fn page(&self) -> Page {
        Page {
            addr: DmaAddr(self.store.at + self.page * u64::from(PAGE_SIZE)),
            memory: MemoryKind::Local,
            cache: CacheLevel::None,
        }
    }

    /// Writes the same entry to all its `places` places.
    pub(super) fn fill(&self, places: usize, entry: u64) {
        self.store.put(self.page, 0, places, entry);
    }

    /// Writes an entry. Posted.
    pub(super) fn write(&self, index: usize, entry: u64) {
        self.store.put(self.page, index, 1, entry);
    }
}

/// Returns the byte offset of an entry in the window.
fn place(page: u64, index: usize) -> usize {
    page as usize * PAGE_SIZE as usize + index * ENTRY
}

impl Drop for Table {
    fn drop(&mut self) {
        let mut inner = self.store.inner.lock();
        inner.mark(self.page, false);
        inner.free = inner.free.saturating_add(1);
        match &self.whose {
            Whose::Kernel => inner.kernels = inner.kernels.saturating_sub(1),
            Whose::Client(share) => drop(share.tables.fetch_sub(1, ordering::Relaxed)),
        }
        let removed = inner.ranges.release(self.page, 1, Colour::Plain);
        drop(inner);
        drop(removed);
    }
}
