// SPDX-License-Identifier: GPL-2.0
//! Formats of translation tables.

use crate::types::{DmaAddr, GgttAddr, MemoryKind, Page};

/// A format. Pure.
pub trait PageTable: Sync {
    /// Bytes of an entry: 4 or 8.
    fn entry_bytes(&self) -> u32;
    /// The entry of a page, for reading and writing.
    fn entry(&self, page: Page) -> u64;
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
    /// What the base register holds for a directory in the slots of the global table from `slot` on.
    fn directory_base(&self, slot: GgttAddr) -> Option<u32>;
}
