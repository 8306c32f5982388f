// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Page table entries of 32 bits, and the address of the page directory (SNB PRM V1P2 §2.2.2.1,
//! §2.3).
//!
//! An entry maps a page of 4 KiB; the GGTT and the PPGTT have the same format:
//!
//! ```text
//! 31            12 11            4  3    2:1     0
//! | address 31:12 | address 39:32 | GFDT | cache | valid |
//! ```
//!
//! The values of the cache field differ between chips. The document contradicts itself about the
//! upper address bits of a directory entry; bits 11:4 are used (digest §6.2).

use crate::{
    page_table::PageTable,
    types::{CacheLevel, DmaAddr, GgttAddr, Page, PAGE_SIZE},
};

/// Entries of the page directory: 2 GiB (§4.6; the figure in §2.3 has more, which do not work).
pub(crate) const DIRECTORY_ENTRIES: u32 = 512;
/// Entries of a page table: one page of them (§2.3).
pub(crate) const TABLE_ENTRIES: u32 = PAGE_SIZE / 4;
/// Alignment of the page directory, in GGTT entries: 64 bytes (§2.3.1).
pub(crate) const DIRECTORY_ALIGN: u32 = 16;

/// Bit 0: the entry is valid.
const VALID: u32 = 1 << 0;
/// Returns bits 31:12 and 39:32 of an address at their places in an entry.
const fn address(addr: DmaAddr) -> u32 {
    let low = (addr.0 as u32) & 0xffff_f000;
    let high = ((addr.0 >> 28) as u32) & 0xff0;
    low | high
}

/// Returns the value of `PP_DIR_BASE` for a page directory in the GGTT entries from `slot` on: bits
/// 31:16 are its offset in the GGTT in units of 64 bytes (§2.3).
pub(crate) const fn directory_base(slot: GgttAddr) -> u32 {
    let bytes = slot.page().wrapping_mul(4);
    (bytes / 64) << 16
}

/// The format of a chip's page table entries.
pub(crate) struct Entries {
    /// The cache bits for uncached memory.
    pub(crate) uncached: u32,
    /// The cache bits for memory in the last-level cache.
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
        // Bit 1 would select pages of 32 KiB.
        Some(u64::from(address(table) | VALID))
    }
}
