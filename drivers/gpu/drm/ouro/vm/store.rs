// SPDX-License-Identifier: GPL-2.0

//! Memory of the device's own that tables are in, where they cannot be elsewhere.
//!
//! It is a part of that memory that the CPU sees, and nobody else's: so a table never has to wait until
//! somebody leaves. Each page of it is one table.

use kernel::{
    new_mutex,
    prelude::*,
    sync::{Arc, Mutex},
};
use ouro_core::range::Want;
use ouro_hw::types::{CacheLevel, DmaAddr, MemoryKind, Page, PAGE_SIZE};
use ouro_kernel::mmio::Bar;

use super::population::Population;

/// Bytes of an entry.
const ENTRY: usize = 8;

/// The memory.
#[pin_data]
pub(crate) struct TableStore {
    window: Bar,
    /// The device's address of the window's first byte.
    at: u64,
    #[pin]
    population: Mutex<Population>,
}

impl TableStore {
    /// All that is in `window`, whose first byte has address `at` of the device's memory. Errors: `ENOMEM`.
    pub(crate) fn new(window: Bar, at: u64) -> Result<Arc<Self>> {
        let pages = window.len() as u64 / u64::from(PAGE_SIZE);
        Arc::pin_init(
            try_pin_init!(Self {
                window,
                at,
                population <- new_mutex!(Population::new(0..pages)?, "ouro_table_store"),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// The driver goes: nothing is written any more.
    pub(crate) fn close(&self) {
        self.window.revoke();
    }

    /// A table, whatever is in it. Errors: `ENOSPC` if there is none left, `ENOMEM`.
    pub(super) fn take(self: &Arc<Self>) -> Result<Table> {
        let want = Want {
            size: 1,
            align: 1,
            within: (0, u64::MAX),
        };
        let page = self.population.lock().take(&[want])?;
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
        let at = self.page as usize * PAGE_SIZE as usize;
        let window = &self.store.window;
        window.write64s(at, (0..places).map(|_| entry));
    }

    /// Writes an entry. Posted.
    pub(super) fn write(&self, index: usize, entry: u64) {
        let at = self.page as usize * PAGE_SIZE as usize;
        self.store.window.write64(at + index * ENTRY, entry);
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let departed = self.store.population.lock().give(self.page, 1);
        drop(departed);
    }
}
