// SPDX-License-Identifier: GPL-2.0
//! Entries of the translation tables, and where the directory is (SNB PRM V1P2 §2.2.2.1, §2.3).
//!
//! An entry is 32 bits for a page of 4 KiB, the same in the global table and behind the directory:
//!
//! ```text
//! 31            12 11            4  3    2:1     0
//! | address 31:12 | address 39:32 | GFDT | cache | valid |
//! ```
//!
//! The document describes the cache field in two ways that contradict each other; what is written
//! here is what works: 1 for uncached, 2 for the shared last-level cache (digest §6.2). It does so
//! for the directory entry's upper address bits too; 11:4 are used.

use crate::{
    page_table::PageTable,
    types::{CacheLevel, DmaAddr, GgttAddr, Page, PAGE_SIZE},
};

/// Entries of the directory: 2 GiB (§4.6; the figure in §2.3 has more, which do not work).
pub(super) const DIRECTORY_ENTRIES: u32 = 512;
/// Entries of a table behind a directory entry: one page of them (§2.3).
pub(super) const TABLE_ENTRIES: u32 = PAGE_SIZE / 4;
/// Slots of the global table in 64 bytes, to which the directory is aligned (§2.3.1).
pub(super) const DIRECTORY_ALIGN: u32 = 16;

/// Bit 0: the entry is used.
const VALID: u32 = 1 << 0;
/// Bits 2:1 are 1: past the last-level cache.
const UNCACHED: u32 = 1 << 1;
/// Bits 2:1 are 2: in the last-level cache, which the CPU shares.
const CACHED: u32 = 2 << 1;

/// Bits 31:12 and 39:32 of an address where an entry has them.
const fn address(addr: DmaAddr) -> u32 {
    let low = (addr.0 as u32) & 0xffff_f000;
    let high = ((addr.0 >> 28) as u32) & 0xff0;
    low | high
}

/// What [`super::regs::PP_DIR_BASE`] holds for a directory in the slots from `slot` on: bits 31:16 are
/// its place in the table's array in units of 64 bytes (§2.3).
pub(super) const fn directory_base(slot: GgttAddr) -> u32 {
    let bytes = slot.page().wrapping_mul(4);
    (bytes / 64) << 16
}

/// The format.
pub(super) struct Entries;

/// The format's one object.
pub(super) static ENTRIES: Entries = Entries;

impl PageTable for Entries {
    fn entry_bytes(&self) -> u32 {
        4
    }

    fn entry(&self, page: Page) -> u64 {
        let cache = match page.cache {
            CacheLevel::None => UNCACHED,
            CacheLevel::Coherent => CACHED,
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

    fn directory_base(&self, slot: GgttAddr) -> Option<u32> {
        Some(directory_base(slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::MemoryKind;
    use proptest::prelude::*;

    fn page(addr: u64, cache: CacheLevel) -> Page {
        Page {
            addr: DmaAddr(addr),
            memory: MemoryKind::System,
            cache,
        }
    }

    #[test]
    fn entries_are_those_of_2_2_2_1() {
        let cached = |a| ENTRIES.entry(page(a, CacheLevel::Coherent));
        let uncached = |a| ENTRIES.entry(page(a, CacheLevel::None));
        assert_eq!(cached(0x1234_5000), 0x1234_5005);
        assert_eq!(uncached(0x1234_5000), 0x1234_5003);
        assert_eq!(cached(0), 0x0000_0005);
        // Above 4 GiB: bits 39:32 go to 11:4.
        assert_eq!(cached(0x1_0000_0000), 0x0000_0015);
        assert_eq!(cached(0x12_3456_7000), 0x3456_7125);
        assert_eq!(uncached(0xff_ffff_f000), 0xffff_fff3);
    }

    #[test]
    fn an_invalid_entry_has_bit_0_clear() {
        assert_eq!(ENTRIES.invalid(), 0);
    }

    #[test]
    fn directory_entries_are_those_of_2_3_1() {
        let entry = |a| ENTRIES.directory_entry(DmaAddr(a));
        assert_eq!(entry(0x7654_3000), Some(0x7654_3001));
        assert_eq!(entry(0x3_2000_0000), Some(0x2000_0031));
        let local = Page {
            memory: MemoryKind::Local,
            ..page(0x7654_3000, CacheLevel::Coherent)
        };
        assert_eq!(ENTRIES.directory_entry_of(local), None);
    }

    #[test]
    fn the_directory_is_named_by_its_cache_line() {
        // §2.3, G-20: (page index * 4) << 10.
        assert_eq!(directory_base(GgttAddr(0)), 0);
        assert_eq!(directory_base(GgttAddr(16 * 4096)), 0x0001_0000);
        // The last 512 slots of a table of 1 MiB: byte 0xff800 of the array, line 0x3fe0.
        assert_eq!(directory_base(GgttAddr(0x3fe0_0000)), 0x3fe0_0000);
        // Of a table of 2 MiB.
        assert_eq!(directory_base(GgttAddr(0x7fe0_0000)), 0x7fe0_0000);
        assert_eq!(
            ENTRIES.directory_base(GgttAddr(0x0010_0000)),
            Some(0x0010_0000)
        );
    }

    proptest! {
        #[test]
        fn an_entry_says_its_address(frame in 0u64..(1 << 28), cached: bool) {
            let cache = if cached { CacheLevel::Coherent } else { CacheLevel::None };
            let e = ENTRIES.entry(page(frame << 12, cache));
            // §2.2.2.1: 31:12 are 31:12, 11:4 are 39:32.
            prop_assert_eq!((e & 0xffff_f000) | ((e & 0xff0) << 28), frame << 12);
            prop_assert_eq!(e >> 32, 0);
            prop_assert_eq!(e & 0xf, if cached { 5 } else { 3 });
        }
    }
}
