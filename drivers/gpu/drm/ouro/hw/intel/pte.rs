// SPDX-License-Identifier: GPL-2.0
//! Entries of 32 bits of the translation tables, and where the directory is (SNB PRM V1P2 §2.2.2.1, §2.3).
//!
//! An entry is for a page of 4 KiB, the same in the global table and behind the directory:
//!
//! ```text
//! 31            12 11            4  3    2:1     0
//! | address 31:12 | address 39:32 | GFDT | cache | valid |
//! ```
//!
//! What the cache field means is a chip's own. The document contradicts itself about a directory entry's upper
//! address bits; 11:4 are used (digest §6.2).

use crate::{
    page_table::PageTable,
    types::{CacheLevel, DmaAddr, GgttAddr, Page, PAGE_SIZE},
};

/// Entries of the directory: 2 GiB (§4.6; the figure in §2.3 has more, which do not work).
pub(crate) const DIRECTORY_ENTRIES: u32 = 512;
/// Entries of a table behind a directory entry: one page of them (§2.3).
pub(crate) const TABLE_ENTRIES: u32 = PAGE_SIZE / 4;
/// Slots of the global table in 64 bytes, to which the directory is aligned (§2.3.1).
pub(crate) const DIRECTORY_ALIGN: u32 = 16;

/// Bit 0: the entry is used.
const VALID: u32 = 1 << 0;
/// Bits 31:12 and 39:32 of an address where an entry has them.
const fn address(addr: DmaAddr) -> u32 {
    let low = (addr.0 as u32) & 0xffff_f000;
    let high = ((addr.0 >> 28) as u32) & 0xff0;
    low | high
}

/// What `PP_DIR_BASE` holds for a directory in the slots from `slot` on: bits 31:16 are
/// its place in the table's array in units of 64 bytes (§2.3).
pub(crate) const fn directory_base(slot: GgttAddr) -> u32 {
    let bytes = slot.page().wrapping_mul(4);
    (bytes / 64) << 16
}

/// The format of a chip's entries.
pub(crate) struct Entries {
    /// The bits of an entry past the last-level cache.
    pub(crate) uncached: u32,
    /// Those of one in it.
    pub(crate) cached: u32,
}

impl PageTable for Entries {
    fn entry_bytes(&self) -> u32 {
        4
    }

    fn entry(&self, page: Page) -> u64 {
        let cache = match page.cache {
            CacheLevel::None => self.uncached,
            CacheLevel::Coherent => self.cached,
        };
        u64::from(address(page.addr) | cache | VALID)
    }

    fn invalid(&self) -> u64 {
        0
    }

    fn entries_per_table(&self) -> u32 {
        TABLE_ENTRIES
    }

    fn directory_entry(&self, table: DmaAddr) -> Option<u64> {
        // Bit 1 would make its pages 32 KiB.
        Some(u64::from(address(table) | VALID))
    }
}
