// SPDX-License-Identifier: GPL-2.0
//! Formats of translation tables.

use crate::types::{DmaAddr, GgttAddr, Page};

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
    /// The directory entry of a lower-level table, where the format has more than one level.
    fn directory_entry(&self, table: DmaAddr) -> Option<u64>;
    /// What the base register holds for a directory in the slots of the global table from `slot` on.
    fn directory_base(&self, slot: GgttAddr) -> Option<u32>;
}
