// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Entries of the GART (digest §4.4; the document does not describe them).
//!
//! ```text
//! 31            24 23           4     3       2     1      0
//! | address 39:32 | address 31:12 | read | write | 0 | not snooped |
//! ```
//!
//! There is one level. VRAM is reached without the GART. A bit of [`super::gart`], which is set,
//! makes bits 3 and 2 effective.

use crate::{
    page_table::PageTable,
    types::{CacheLevel, DmaAddr, MemoryKind, Page},
};
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// An entry.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct Entry {
    /// Bit 0: accesses do not snoop the CPU's caches.
    unsnooped: bool,
    __: bool,
    /// Bit 2: writable.
    write: bool,
    /// Bit 3: readable.
    read: bool,
    /// Bits 23:4: address 31:12.
    #[bits(20)]
    low: u32,
    /// Bits 31:24: address 39:32.
    high: u8,
}
const_assert_eq!(core::mem::size_of::<Entry>(), 4);

/// The format.
pub(super) struct Entries;

/// The format's one object.
pub(super) static ENTRIES: Entries = Entries;

impl PageTable for Entries {
    fn entry_bytes(&self) -> u32 {
        4
    }

    /// Returns [`invalid`](PageTable::invalid) for a page of VRAM.
    fn entry(&self, page: Page) -> u64 {
        match page.memory {
            MemoryKind::System => Entry::new()
                .with_unsnooped(page.cache == CacheLevel::None)
                .with_write(true)
                .with_read(true)
                .with_low((page.addr.0 >> 12) as u32 & 0xf_ffff)
                .with_high((page.addr.0 >> 32) as u8)
                .into_bits()
                .into(),
            MemoryKind::Local => self.invalid(),
        }
    }

    fn read_only(&self, entry: u64) -> u64 {
        Entry::from_bits(entry as u32)
            .with_write(false)
            .into_bits()
            .into()
    }

    /// Neither readable nor writable, as radeon and radeonhd leave unused entries (digest §4.4).
    fn invalid(&self) -> u64 {
        Entry::new().with_unsnooped(true).into_bits().into()
    }

    fn entries_per_table(&self) -> u32 {
        0
    }

    fn directory_entry(&self, _table: DmaAddr) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::page;
    use proptest::prelude::*;

    #[test]
    fn entries_are_those_of_digest_4_4() {
        let entry = |a, c| ENTRIES.entry(page(a, c));
        assert_eq!(entry(0x1234_5000, CacheLevel::Coherent), 0x0012_345c);
        assert_eq!(entry(0x1234_5000, CacheLevel::None), 0x0012_345d);
        assert_eq!(entry(0xff_ffff_f000, CacheLevel::Coherent), 0xffff_fffc);
        assert_eq!(entry(0xab_0000_0000, CacheLevel::Coherent), 0xab00_000c);
        assert_eq!(ENTRIES.invalid(), 1);
        // Bit 2 makes it writable.
        assert_eq!(ENTRIES.read_only(0x0012_345c), 0x0012_3458);
        assert_eq!(ENTRIES.read_only(0xffff_fffd), 0xffff_fff9);
        let local = Page {
            memory: MemoryKind::Local,
            ..page(0x1234_5000, CacheLevel::Coherent)
        };
        assert_eq!(ENTRIES.entry(local), 1);
        assert_eq!(ENTRIES.directory_entry_of(local), None);
    }

    proptest! {
        #[test]
        fn an_entry_says_its_address(frame in 0u64..(1 << 28), cached: bool) {
            let cache = if cached { CacheLevel::Coherent } else { CacheLevel::None };
            let e = ENTRIES.entry(page(frame << 12, cache));
            // 31:24 are 39:32, 23:4 are 31:12.
            prop_assert_eq!((e >> 24) << 32 | (e >> 4 & 0xf_ffff) << 12, frame << 12);
            prop_assert_eq!(e & 0xf, if cached { 0xc } else { 0xd });
        }
    }
}
