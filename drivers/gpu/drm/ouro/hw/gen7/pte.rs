// SPDX-License-Identifier: GPL-2.0
//! How entries of the translation tables say what is cached (digest §4.1): 1 is uncached, 2 the last-level cache,
//! 3 that and the L3 cache.
//!
//! Nothing gets into the L3 cache by its entry: what user space wants there it says in its commands, and an entry
//! of 3 would not be seen in what the CPU asks for.

use crate::intel::pte::Entries;

/// Bits 2:1 are 1: past the last-level cache.
const UNCACHED: u32 = 1 << 1;
/// Bits 2:1 are 2: in the last-level cache, which the CPU shares.
const CACHED: u32 = 2 << 1;

/// The format.
pub(super) static ENTRIES: Entries = Entries {
    uncached: UNCACHED,
    cached: CACHED,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        page_table::PageTable,
        types::{CacheLevel, DmaAddr, MemoryKind, Page},
    };

    #[test]
    fn entries_are_those_of_digest_4_1() {
        let entry = |addr, cache| {
            ENTRIES.entry(Page {
                addr: DmaAddr(addr),
                memory: MemoryKind::System,
                cache,
            })
        };
        assert_eq!(entry(0x1234_5000, CacheLevel::Coherent), 0x1234_5005);
        assert_eq!(entry(0x12_3456_7000, CacheLevel::None), 0x3456_7123);
        assert_eq!(
            ENTRIES.directory_entry(DmaAddr(0x3_2000_0000)),
            Some(0x2000_0031)
        );
        assert_eq!(ENTRIES.invalid(), 0);
    }
}
