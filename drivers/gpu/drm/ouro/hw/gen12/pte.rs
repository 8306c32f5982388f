// SPDX-License-Identifier: GPL-2.0 OR MIT
//! PTEs and PDEs (digest §4.5, §4.6).
//!
//! The GGTT is flat; a PPGTT has four levels. Page tables are always in VRAM: a four-level PDE has
//! no bit for the memory. VRAM pages have at least 64 KiB, which 4 KiB PTEs mark with a hint.
//! (Tables of 64 KiB PTEs are not used: a table of 4 KiB PTEs can have both kinds.)

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

use crate::{
    page_table::{Leaf, PageTable},
    types::{CacheLevel, DmaAddr, MemoryKind, Page, PAGE_SIZE},
};

/// Width of DMA addresses in bits.
pub(super) const DMA_BITS: u8 = 46;

/// An entry of the global table.
#[bitfield(u64)]
#[derive(PartialEq, Eq)]
struct Global {
    /// Bit 0: used.
    present: bool,
    /// Bit 1: in local memory.
    local: bool,
    #[bits(10)]
    __: u16,
    /// Bits 45:12: the page.
    #[bits(34)]
    frame: u64,
    #[bits(18)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<Global>(), 8);

/// The memory behind a GGTT entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Behind {
    /// None.
    Nothing,
    /// A page of the system's.
    System,
    /// A page of local memory, at this byte.
    Local(u64),
}

/// Returns the memory behind a GGTT entry that others have written.
pub(super) fn behind(raw: u64) -> Behind {
    let entry = Global::from_bits(raw);
    match (entry.present(), entry.local()) {
        (false, _) => Behind::Nothing,
        (true, false) => Behind::System,
        (true, true) => Behind::Local(entry.frame() << 12),
    }
}

/// A PTE or PDE of a PPGTT.
#[bitfield(u64)]
#[derive(PartialEq, Eq)]
struct Own {
    /// Bit 0: used.
    present: bool,
    /// Bit 1: may be written.
    writable: bool,
    #[bits(1)]
    __: u8,
    /// Bit 3: kind of caching, bit 0.
    kind0: bool,
    /// Bit 4: kind of caching, bit 1.
    kind1: bool,
    #[bits(1)]
    __: u8,
    /// Bit 6: the table below has 32 entries of 64 KiB.
    compact: bool,
    /// Bit 7: kind of caching, bit 2; above the lowest level: a page, not a table.
    large: bool,
    /// Bit 8: one of 16 entries of one page of 64 KiB.
    of_64k: bool,
    /// Bit 9: reads zero, writes are lost.
    null: bool,
    #[bits(1)]
    __: u8,
    /// Bit 11: in local memory.
    local: bool,
    /// Bits 45:12: the page or table.
    #[bits(34)]
    frame: u64,
    #[bits(18)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<Own>(), 8);

/// Bits 45:12 of an address.
const fn frame(addr: DmaAddr) -> u64 {
    (addr.0 >> 12) & 0x3_ffff_ffff
}

/// The format of the global table.
#[derive(Debug)]
pub(super) struct GlobalTable;
/// The format's object.
pub(super) static GLOBAL: GlobalTable = GlobalTable;

impl PageTable for GlobalTable {
    fn entry_bytes(&self) -> u32 {
        8
    }

    fn entry(&self, page: Page) -> u64 {
        Global::new()
            .with_present(true)
            .with_local(page.memory == MemoryKind::Local)
            .with_frame(frame(page.addr))
            .into_bits()
    }

    fn invalid(&self) -> u64 {
        0
    }

    fn entries_per_table(&self) -> u32 {
        PAGE_SIZE / 8
    }

    fn directory_entry(&self, _table: DmaAddr) -> Option<u64> {
        None
    }
}

/// The format of a context's tables.
#[derive(Debug)]
pub(super) struct OwnTables;
/// The format's object.
pub(super) static OWN: OwnTables = OwnTables;

impl OwnTables {
    /// Page kind 0 is written back, 3 uncached ([`super::mocs`]). Cached system memory is snooped.
    fn page(page: Page) -> Own {
        let uncached = page.cache == CacheLevel::None;
        Own::new()
            .with_present(true)
            .with_writable(true)
            .with_kind0(uncached)
            .with_kind1(uncached)
            .with_local(page.memory == MemoryKind::Local)
            .with_frame(frame(page.addr))
    }
}

impl PageTable for OwnTables {
    fn entry_bytes(&self) -> u32 {
        8
    }

    fn entry(&self, page: Page) -> u64 {
        Self::page(page).into_bits()
    }

    fn leaf(&self, page: Page, leaf: Leaf) -> Option<u64> {
        if page.addr.0 & (leaf.bytes() - 1) != 0 {
            return None;
        }
        let entry = Self::page(page);
        Some(match leaf {
            Leaf::Page => entry.into_bits(),
            Leaf::Run => entry.with_of_64k(true).into_bits(),
            Leaf::Table => entry.with_large(true).into_bits(),
        })
    }

    fn invalid(&self) -> u64 {
        0
    }

    fn entries_per_table(&self) -> u32 {
        PAGE_SIZE / 8
    }

    fn directory_entry(&self, _table: DmaAddr) -> Option<u64> {
        // It would look like one in VRAM.
        None
    }

    fn directory_entry_of(&self, table: Page) -> Option<u64> {
        let entry = Own::new()
            .with_present(true)
            .with_writable(true)
            .with_frame(frame(table.addr))
            .into_bits();
        (table.memory == MemoryKind::Local).then_some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn page(addr: u64, memory: MemoryKind, cache: CacheLevel) -> Page {
        Page {
            addr: DmaAddr(addr),
            memory,
            cache,
        }
    }

    const SYSTEM: Page = page(0x12_3456_0000, MemoryKind::System, CacheLevel::Coherent);
    const LOCAL: Page = page(0x1_0020_0000, MemoryKind::Local, CacheLevel::None);

    #[test]
    fn entries_of_the_global_table_are_those_of_4_6() {
        // Bit 0 present, bit 1 local; caching is not in it.
        assert_eq!(GLOBAL.entry(SYSTEM), 0x12_3456_0001);
        assert_eq!(GLOBAL.entry(LOCAL), 0x1_0020_0003);
        let top = page(0x3fff_ffff_f000, MemoryKind::System, CacheLevel::None);
        assert_eq!(GLOBAL.entry(top), 0x3fff_ffff_f001);
        assert_eq!((GLOBAL.invalid(), OWN.invalid()), (0, 0));
    }

    #[test]
    fn entries_of_pages_are_those_of_4_5() {
        // Present, writable; kind 3 is bits 3 and 4; local is bit 11.
        assert_eq!(OWN.entry(SYSTEM), 0x12_3456_0003);
        assert_eq!(OWN.entry(LOCAL), 0x1_0020_081b);
        // 64 KiB: bit 8; 2 MiB: bit 7.
        assert_eq!(OWN.leaf(LOCAL, Leaf::Page), Some(0x1_0020_081b));
        assert_eq!(OWN.leaf(LOCAL, Leaf::Run), Some(0x1_0020_091b));
        assert_eq!(OWN.leaf(LOCAL, Leaf::Table), Some(0x1_0020_089b));
        assert_eq!(OWN.leaf(SYSTEM, Leaf::Run), Some(0x12_3456_0103));
        assert_eq!(OWN.leaf(SYSTEM, Leaf::Table), None, "not aligned");
    }

    #[test]
    fn entries_of_others_are_read() {
        assert_eq!(behind(0x1234_5002), Behind::Nothing);
        assert_eq!(behind(0x1234_5001), Behind::System);
        // Bits 45:12, whatever other bits are set.
        assert_eq!(behind(0xffff_c003_1234_5fff), Behind::Local(0x3_1234_5000));
    }

    #[test]
    fn tables_are_in_local_memory_and_do_not_say_so() {
        assert_eq!(OWN.directory_entry_of(LOCAL), Some(0x1_0020_0003));
        assert_eq!(OWN.directory_entry_of(SYSTEM), None);
        assert_eq!(OWN.directory_entry(DmaAddr(0x1000)), None);
        assert_eq!((OWN.entry_bytes(), OWN.entries_per_table()), (8, 512));
    }

    proptest! {
        #[test]
        fn an_entry_says_its_address(n in 0u64..(1 << 34), local: bool, cached: bool) {
            let memory = if local { MemoryKind::Local } else { MemoryKind::System };
            let cache = if cached { CacheLevel::Coherent } else { CacheLevel::None };
            let page = page(n << 12, memory, cache);
            for entry in [GLOBAL.entry(page), OWN.entry(page)] {
                prop_assert_eq!(entry & 0x3fff_ffff_f000, n << 12);
                prop_assert_eq!(entry >> 46, 0);
                prop_assert_eq!(entry & 1, 1);
            }
        }
    }
}
