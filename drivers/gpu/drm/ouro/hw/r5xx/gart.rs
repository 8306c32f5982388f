// SPDX-License-Identifier: GPL-2.0
//! The table through which the card reaches the system's memory: switching it on, and making changes
//! seen (digest §5.2; the document does not speak of it).
//!
//! Entries are in the card's memory, written through the CPU's window on it, and repeated in a cache of
//! the card that is dropped by a bit. The index of that register stays selected when nothing else is done,
//! but is written each time: others share it.
//!
//! It is on only while its entries are good: off before they are written for the first time, and while the
//! card is started. To drop the cache does not switch it on.

use super::{
    indirect::{read_pcie, select_pcie, write_pcie},
    memory, regs,
};
use crate::{
    io::{Hw, Registers},
    types::PAGE_SIZE,
};

/// On and off; what becomes of addresses that are not mapped.
const CNTL: u32 = 0x10;
/// Where reads of those go, low half and high.
const DISCARD_RD_ADDR: [u32; 2] = [0x11, 0x12];
/// Where the table is, an address of the card.
const BASE: u32 = 0x13;
/// First address that it maps.
const START: [u32; 2] = [0x14, 0x15];
/// Last page that it maps.
const END: [u32; 2] = [0x16, 0x17];
/// The first access that failed; its layout is not told. Zero clears it.
const ERROR: u32 = 0x18;

/// [`CNTL`]: on.
const ENABLE: u32 = 1 << 0;
/// [`CNTL`]: accesses that are not mapped are discarded.
const DISCARD: u32 = 3 << 1;
/// [`CNTL`]: the bits of an entry that let it be read and written count (`CHK_RW_VALID`). Others leave this off, and
/// have those bits in their entries all the same; here it keeps the ring and checked copies from being written.
const CHECK: u32 = 1 << 5;
/// [`CNTL`] in use.
const ON: u32 = DISCARD | CHECK | ENABLE;
/// [`CNTL`]: drops the cache.
const INVALIDATE: u32 = 1 << 8;

/// Switches it off: what was left on would read entries that are about to be written over.
pub(super) fn disable(hw: &Hw<'_>) {
    write_pcie(hw.regs, CNTL, DISCARD);
}

/// Switches it on. The entries are written.
pub(super) fn enable(hw: &Hw<'_>) {
    let r = hw.regs;
    let last = memory::TABLE_ENTRIES
        .wrapping_sub(1)
        .wrapping_mul(PAGE_SIZE);
    write_pcie(r, CNTL, DISCARD);
    for (reg, value) in [
        (START[0], 0),
        (END[0], last),
        (START[1], 0),
        (END[1], 0),
        (BASE, memory::local(0).0),
        (DISCARD_RD_ADDR[0], memory::local(memory::TABLE_BYTES).0),
        (DISCARD_RD_ADDR[1], 0),
        (ERROR, 0),
    ] {
        write_pcie(r, reg, value);
    }
    write_pcie(r, CNTL, ON);
    drop_cache(r);
}

/// Drops the card's cache of entries, if it is on.
pub(super) fn flush(hw: &Hw<'_>) {
    let r = hw.regs;
    select_pcie(r, CNTL);
    let control = r.read32(regs::PCIE_DATA);
    if control & ENABLE != 0 && control != u32::MAX {
        drop_cache(r);
    }
}

/// Drops the cache; its register is selected. Twice, since once was not enough for others (digest §5.2);
/// each time it is read, so that the bit has been set before it is cleared.
fn drop_cache(r: &dyn Registers) {
    for _ in 0..2 {
        r.write32_flush(regs::PCIE_DATA, ON | INVALIDATE);
        r.write32(regs::PCIE_DATA, ON);
    }
}

/// What was recorded of accesses that failed; forgotten by that.
pub(super) fn take_error(r: &dyn Registers) -> u32 {
    let error = read_pcie(r, ERROR);
    if error != 0 && error != u32::MAX {
        r.write32(regs::PCIE_DATA, 0);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};
    use std::vec::Vec;

    /// Digest §5.2: 0 on, 2:1 discard, 5 the bits of entries are checked.
    #[test]
    fn it_is_enabled_in_the_order_of_digest_5_2() {
        let mock = Mock::default();
        enable(&mock.hw());
        let (at, data) = (mock.written(0x30), mock.written(0x34));
        let pairs: Vec<_> = at.into_iter().zip(data).take(10).collect();
        assert_eq!(
            pairs,
            [
                (0x10, 0x6),
                (0x14, 0),
                (0x16, 0x1fff_f000),
                (0x15, 0),
                (0x17, 0),
                (0x13, 0x8000_0000),
                (0x11, 0x8008_0000),
                (0x12, 0),
                (0x18, 0),
                (0x10, 0x27),
            ]
        );
    }

    #[test]
    fn a_table_that_is_off_stays_off() {
        let mock = Mock::default();
        mock.set(0x34, 0x27);
        disable(&mock.hw());
        let (r, w) = (Access::R, Access::W);
        assert_eq!(mock.take(), [w(0x30, 0x10), w(0x34, 0x6)]);
        flush(&mock.hw());
        assert_eq!(mock.take(), [w(0x30, 0x10), r(0x34)]);
        mock.gone.set(true);
        flush(&mock.hw());
        assert_eq!(mock.take(), [w(0x30, 0x10), r(0x34)]);
    }

    #[test]
    fn a_flush_is_done_twice_and_seen_each_time() {
        let mock = Mock::default();
        mock.set(0x34, 0x27);
        flush(&mock.hw());
        let (r, w) = (Access::R, Access::W);
        assert_eq!(
            mock.take(),
            [
                w(0x30, 0x10),
                r(0x34),
                w(0x34, 0x127),
                r(0x34),
                w(0x34, 0x27),
                w(0x34, 0x127),
                r(0x34),
                w(0x34, 0x27),
            ]
        );
    }

    #[test]
    fn an_error_is_cleared_by_zero() {
        let mock = Mock::default();
        mock.set(0x34, 0x1234_5001);
        assert_eq!(take_error(&mock), 0x1234_5001);
        let (r, w) = (Access::R, Access::W);
        assert_eq!(mock.take(), [w(0x30, 0x18), r(0x34), w(0x34, 0)]);
        assert_eq!(take_error(&mock), 0);
        assert_eq!(mock.take(), [w(0x30, 0x18), r(0x34)]);
    }
}
