// SPDX-License-Identifier: GPL-2.0
//! Formats of translation tables.

use crate::types::{DmaAddr, MemoryKind, Page};

/// How much an entry maps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaf {
    /// A page of 4 KiB.
    Page,
    /// The same, as one of 16 entries that together map 64 KiB.
    Run,
    /// What a table of the lowest level maps: an entry in place of the one for the table.
    Table,
}

impl Leaf {
    /// Bytes to which memory and addresses are aligned where it is used.
    pub const fn bytes(self) -> u64 {
        match self {
            Leaf::Page => 4 << 10,
            Leaf::Run => 64 << 10,
            Leaf::Table => 2 << 20,
        }
    }
}

/// A format. Pure.
pub trait PageTable: Sync {
    /// Bytes of an entry: 4 or 8.
    fn entry_bytes(&self) -> u32;
    /// The entry of a page, for reading and writing.
    fn entry(&self, page: Page) -> u64;
    /// An entry of [`entry`](Self::entry), for reading alone, where the format and the chip can tell: for what the
    /// kernel has the device read and nobody write. Else the entry as it is.
    fn read_only(&self, entry: u64) -> u64 {
        entry
    }
    /// The entry for more than a page, of which `page` is the first. `None` where the format has none, or the
    /// memory is not aligned to it. (A [`Leaf::Run`] has 16 entries, each with its own page's address: this
    /// is the first, and the others are a page further each.)
    fn leaf(&self, page: Page, leaf: Leaf) -> Option<u64> {
        (leaf == Leaf::Page).then(|| self.entry(page))
    }
    /// An entry that faults.
    fn invalid(&self) -> u64;
    /// Entries in one page of a lower-level table.
    fn entries_per_table(&self) -> u32;
    /// The directory entry of a lower-level table in system memory, where the format has more than one
    /// level.
    fn directory_entry(&self, table: DmaAddr) -> Option<u64>;
    /// The same for a table that may be in the device's own memory: `None` where it may not.
    fn directory_entry_of(&self, table: Page) -> Option<u64> {
        match table.memory {
            MemoryKind::System => self.directory_entry(table.addr),
            MemoryKind::Local => None,
        }
    }
}
