// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Cache bits of page table entries (SNB PRM V1P2 §2.2.2.1; digest of Ivy Bridge §4.1).
//!
//! The document contradicts itself about the cache field; the values here are those that work: 1
//! for uncached, 2 for the shared last-level cache (digest §6.2).
//!
//! On Ivy Bridge, 3 adds the L3 cache. The driver does not use it: user space selects the L3 cache
//! in its commands.

use crate::intel::pte::Entries;

/// Bits 2:1 are 1: uncached.
const UNCACHED: u32 = 1 << 1;
/// Bits 2:1 are 2: cached in the last-level cache, which the CPU shares.
const CACHED: u32 = 2 << 1;

/// The format of page table entries.
pub(crate) static ENTRIES: Entries = Entries {
    uncached: UNCACHED,
    cached: CACHED,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        intel::pte::directory_base,
        mock::page,
        page_table::PageTable,
        types::{CacheLevel, DmaAddr, GgttAddr, MemoryKind, Page},
    };
    use proptest::prelude::*;

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
        assert_eq!(directory_base(GgttAddr(0x0010_0000)), 0x0010_0000);
    }

    #[test]
    fn entries_are_those_of_digest_4_1() {
        let entry = |addr, cache| ENTRIES.entry(page(addr, cache));
        assert_eq!(entry(0x1234_5000, CacheLevel::Coherent), 0x1234_5005);
        assert_eq!(entry(0x12_3456_7000, CacheLevel::None), 0x3456_7123);
        assert_eq!(
            ENTRIES.directory_entry(DmaAddr(0x3_2000_0000)),
            Some(0x2000_0031)
        );
        assert_eq!(ENTRIES.invalid(), 0);
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
