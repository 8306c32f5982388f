// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The trait of a page table format.

use crate::types::{DmaAddr, MemoryKind, Page};

/// The extent that a PTE maps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaf {
    /// A page of 4 KiB.
    Page,
    /// A page of 4 KiB, as one of 16 PTEs that together map 64 KiB.
    Run,
    /// A huge page of 2 MiB: a PTE in place of the PDE of a lowest-level table.
    Table,
}

impl Leaf {
    /// Returns the size in bytes, to which memory and addresses must be aligned.
    pub const fn bytes(self) -> u64 {
        match self {
            Leaf::Page => 4 << 10,
            Leaf::Run => 64 << 10,
            Leaf::Table => 2 << 20,
        }
    }
}

/// A page table format. Pure.
pub trait PageTable: Sync {
    /// Returns the size of an entry in bytes: 4 or 8.
    fn entry_bytes(&self) -> u32;
    /// Returns the read-write PTE of a page.
    fn entry(&self, page: Page) -> u64;
    /// Turns a PTE from [`entry`](Self::entry) into a read-only one if the format and the chip
    /// support that: for kernel memory that the device must not write. Otherwise returns it
    /// unchanged.
    fn read_only(&self, entry: u64) -> u64 {
        entry
    }
    /// Returns the PTE that maps a larger extent, whose first page is `page`. `None` if the format
    /// has no such PTE, or the memory is not aligned to it. (A [`Leaf::Run`] has 16 PTEs, each with
    /// the address of its own page: this is the first, and each further one is a page further.)
    fn leaf(&self, page: Page, leaf: Leaf) -> Option<u64> {
        (leaf == Leaf::Page).then(|| self.entry(page))
    }
    /// Returns a PTE that faults.
    fn invalid(&self) -> u64;
    /// Returns the number of entries in a lower-level table of one page.
    fn entries_per_table(&self) -> u32;
    /// Returns the PDE of a lower-level table in system memory; `None` if the format has one level
    /// only.
    fn directory_entry(&self, table: DmaAddr) -> Option<u64>;
    /// Returns the PDE of a lower-level table in either memory; `None` if the table cannot be
    /// there.
    fn directory_entry_of(&self, table: Page) -> Option<u64> {
        match table.memory {
            MemoryKind::System => self.directory_entry(table.addr),
            MemoryKind::Local => None,
        }
    }
}
