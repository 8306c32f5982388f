// SPDX-License-Identifier: GPL-2.0 OR MIT
//! GGTT entries (§4.6.1 describes their fields; their bits, G-08).
//!
//! ```text
//! 31            12 11   8 7             4  3    2:1     0
//! | address 31:12 |  0   | address 35:32 |  0 | snooped | valid |
//! ```
//!
//! A page is unsnooped main memory (0) or snooped (3). Commands, contexts and indirect state must
//! be unsnooped; stores, and memory that the drawing and copying units access, may be either
//! (§4.6.1). 965 snoops nothing (digest §5.1).

use crate::intel::pte::Entries;

/// Bits 2:1 are 0: unsnooped.
const UNSNOOPED: u32 = 0;
/// Bits 2:1 are 3: snooped.
const SNOOPED: u32 = 3 << 1;

/// The format of GGTT entries. Addresses have 36 bits, so bits 11:8 are zero.
pub(super) static ENTRIES: Entries = Entries {
    uncached: UNSNOOPED,
    cached: SNOOPED,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{mock::page, page_table::PageTable, types::CacheLevel};

    #[test]
    fn entries_are_those_of_g_08() {
        let entry = |addr, cache| ENTRIES.entry(page(addr, cache));
        assert_eq!(entry(0x1234_5000, CacheLevel::None), 0x1234_5001);
        assert_eq!(entry(0x1234_5000, CacheLevel::Coherent), 0x1234_5007);
        assert_eq!(entry(0xa_1234_5000, CacheLevel::None), 0x1234_50a1);
        assert_eq!(entry(0xf_ffff_f000, CacheLevel::Coherent), 0xffff_f0f7);
        assert_eq!((ENTRIES.invalid(), ENTRIES.entry_bytes()), (0, 4));
    }
}
