// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The walk through the four levels of a per-process table (digest §4.5; DG2 PRM Vol 8 "Command
//! Stream Virtual Memory Control" names the registers of its root only).
//!
//! Tables are always in local memory: no entry above a leaf has a bit that says so.

use super::lint::Rule;
use super::lmem::Lmem;
use super::mem::Phys;
use super::tlb::Page;

/// Bits of entries.
mod bit {
    pub const PRESENT: u64 = 1 << 0;
    pub const WRITABLE: u64 = 1 << 1;
    /// In a directory entry: the table below has 32 entries of 64 KB.
    pub const COMPACT: u64 = 1 << 6;
    /// In a directory entry: a page of 2 MB; one level above, of 1 GB.
    pub const LARGE: u64 = 1 << 7;
    /// In a table entry: one of sixteen that make 64 KB.
    pub const RUN: u64 = 1 << 8;
    pub const NULL: u64 = 1 << 9;
    pub const LOCAL: u64 = 1 << 11;
}

/// Bits 45:12 of an entry.
const ADDRESS: u64 = 0x3fff_ffff_f000;

/// What a walk found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    Mapped(Page),
    /// No entry, at a level from 4 (the root's) to 1.
    Missing(u32),
}

/// Translates the page that `va` is in. Breaches of rules come with their detail.
pub(crate) fn walk(lmem: &Lmem, root: u64, va: u64, rules: &mut Vec<(Rule, u64)>) -> Walk {
    let mut table = root & ADDRESS;
    for level in (2..=4u32).rev() {
        if table + 4096 > lmem.ccs_base() {
            rules.push((Rule::TablePlace, table));
            return Walk::Missing(level);
        }
        let shift = 12 + 9 * (level - 1);
        let entry = lmem.qword(table + 8 * (va >> shift & 0x1ff));
        if entry & bit::PRESENT == 0 {
            return Walk::Missing(level);
        }
        if level < 4 && entry & bit::LARGE != 0 {
            let mask = (1u64 << shift) - 1;
            return leaf(entry, (entry & ADDRESS & !mask) | (va & mask));
        }
        table = entry & ADDRESS;
        if level == 2 && entry & bit::COMPACT != 0 {
            return compact(lmem, table, va, rules);
        }
    }
    if table + 4096 > lmem.ccs_base() {
        rules.push((Rule::TablePlace, table));
        return Walk::Missing(1);
    }
    let entry = lmem.qword(table + 8 * (va >> 12 & 0x1ff));
    if entry & bit::PRESENT == 0 && entry & bit::NULL == 0 {
        return Walk::Missing(1);
    }
    let place = entry & ADDRESS;
    if entry & bit::NULL == 0 {
        if entry & bit::RUN != 0 {
            // The chip takes the whole run from any of its entries.
            if place & 0xf000 != va & 0xf000 {
                rules.push((Rule::UnevenRun, va));
            }
        } else if entry & bit::LOCAL != 0 {
            rules.push((Rule::SmallLocalPage, va));
        }
    }
    leaf(entry, place | (va & 0xfff))
}

/// A table of 32 entries for 64 KB each.
fn compact(lmem: &Lmem, table: u64, va: u64, rules: &mut Vec<(Rule, u64)>) -> Walk {
    if table + 256 > lmem.ccs_base() {
        rules.push((Rule::TablePlace, table));
        return Walk::Missing(1);
    }
    let entry = lmem.qword(table + 8 * (va >> 16 & 0x1f));
    if entry & bit::PRESENT == 0 && entry & bit::NULL == 0 {
        return Walk::Missing(1);
    }
    leaf(entry, (entry & ADDRESS & !0xffff) | (va & 0xffff))
}

/// The 4 KB page that holds `place`.
fn leaf(entry: u64, place: u64) -> Walk {
    let page = place & !0xfff;
    let at = if entry & bit::NULL != 0 {
        Phys::Null
    } else if entry & bit::LOCAL != 0 {
        Phys::Local(page)
    } else {
        Phys::System(page)
    };
    let writable = entry & bit::WRITABLE != 0;
    Walk::Mapped(Page { at, writable })
}

#[cfg(test)]
mod tests {
    use super::*;

    const VA: u64 = 0x0000_8123_4567_8000;

    fn tables(entries: &[(u64, u64)]) -> Lmem {
        let lmem = Lmem::private(16 << 20).expect("memory");
        for (at, entry) in entries {
            lmem.write(*at, &entry.to_le_bytes());
        }
        lmem
    }

    /// The indexes of 47:39, 38:30, 29:21 and 20:12 of [`VA`]: 102h, 8dh, 2bh, 78h.
    const UPPER: [(u64, u64); 2] = [
        (0x10000 + 8 * 0x102, 0x2_0003),
        (0x20000 + 8 * 0x08d, 0x3_0003),
    ];

    fn look(lmem: &Lmem) -> (Walk, Vec<(Rule, u64)>) {
        let mut rules = Vec::new();
        (walk(lmem, 0x10000, VA, &mut rules), rules)
    }

    fn mapped(at: Phys) -> Walk {
        Walk::Mapped(Page { at, writable: true })
    }

    #[test]
    fn four_levels_to_a_system_page() {
        let mut t = UPPER.to_vec();
        t.push((0x30000 + 8 * 0x02b, 0x4_0003));
        t.push((0x40000 + 8 * 0x078, 0x0012_3456_7003));
        assert_eq!(
            look(&tables(&t)),
            (mapped(Phys::System(0x12_3456_7000)), vec![])
        );
        t.pop();
        assert_eq!(look(&tables(&t)).0, Walk::Missing(1));
        t.pop();
        assert_eq!(look(&tables(&t)).0, Walk::Missing(2));
        assert_eq!(look(&tables(&t[..1])).0, Walk::Missing(3));
        assert_eq!(look(&tables(&[])).0, Walk::Missing(4));
    }

    #[test]
    fn a_compact_table_has_entries_of_64_kb() {
        // Bits 20:16 of the address: 7. Bit 6 of the directory entry, bit 11 of the leaf (§4.5).
        let mut t = UPPER.to_vec();
        t.push((0x30000 + 8 * 0x02b, 0x4_0043));
        t.push((0x40000 + 8 * 0x07, 0x0055_0803));
        assert_eq!(look(&tables(&t)), (mapped(Phys::Local(0x55_8000)), vec![]));
    }

    #[test]
    fn large_pages() {
        let mut t = UPPER.to_vec();
        // 2 MB, local: bit 7 of the directory entry.
        t.push((0x30000 + 8 * 0x02b, 0x0060_0883));
        assert_eq!(look(&tables(&t)), (mapped(Phys::Local(0x67_8000)), vec![]));
        // 1 GB, system: bit 7 one level above.
        let t = [UPPER[0], (0x20000 + 8 * 0x08d, 0x4000_0083)];
        assert_eq!(
            look(&tables(&t)),
            (mapped(Phys::System(0x4567_8000)), vec![])
        );
    }

    #[test]
    fn null_pages_and_rules() {
        let mut t = UPPER.to_vec();
        t.push((0x30000 + 8 * 0x02b, 0x4_0003));
        t.push((0x40000 + 8 * 0x078, 0x202));
        assert_eq!(look(&tables(&t)), (mapped(Phys::Null), vec![]));
        // Local memory by 4 KB alone (rule), and in a run of 64 KB (none).
        t[3].1 = 0x0050_8803;
        assert_eq!(look(&tables(&t)).1, vec![(Rule::SmallLocalPage, VA)]);
        t[3].1 = 0x0050_8903;
        assert_eq!(look(&tables(&t)), (mapped(Phys::Local(0x50_8000)), vec![]));
        // A run whose eighth page is not the eighth.
        t[3].1 = 0x0050_7903;
        assert_eq!(look(&tables(&t)).1, vec![(Rule::UnevenRun, VA)]);
        // A table that is nowhere in local memory.
        t[2].1 = 0x7f00_0000_0003 & ADDRESS | 3;
        assert_eq!(look(&tables(&t)).0, Walk::Missing(1));
    }
}
