// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The GART, through which the card reaches system memory: enables it, and flushes its TLB (digest
//! §5.2; the document does not describe it).
//! Entries are in the card's memory, written through the CPU's window on it, and repeated in a
//! Entries are in VRAM. The driver writes them through the CPU's aperture; the card caches them in
//! a TLB, which a bit of a register flushes. The index of that register would stay selected, but
//! other code uses the same index register, so it is written each time.
//!
//! The GART is enabled only while its entries are valid: it is off before they are first written,
//! and while the card is started. A flush of the TLB does not enable it.

use super::{
    indirect::{read_pcie, select_pcie, write_pcie},
    memory, regs,
};
use crate::{
    io::{Hw, Registers},
    types::PAGE_SIZE,
};

/// Control: enable, and the treatment of unmapped addresses.
const CNTL: u32 = 0x10;
/// Address that reads of unmapped addresses go to, low half and high.
const DISCARD_RD_ADDR: [u32; 2] = [0x11, 0x12];
/// Address of the entries, in the card's address space.
const BASE: u32 = 0x13;
/// First address that the GART maps.
const START: [u32; 2] = [0x14, 0x15];
/// Last page that the GART maps.
const END: [u32; 2] = [0x16, 0x17];
/// The first access that failed; its layout is not documented. A write of zero clears it.
const ERROR: u32 = 0x18;

/// [`CNTL`]: enables the GART.
const ENABLE: u32 = 1 << 0;
/// [`CNTL`]: discards accesses of unmapped addresses.
const DISCARD: u32 = 3 << 1;
/// [`CNTL`]: checks the read and write bits of the entries (`CHK_RW_VALID`). Radeon and radeonhd
/// set these bits in their entries, but leave the check off; here the check makes the ring and
/// checked copies read-only.
const CHECK: u32 = 1 << 5;
/// [`CNTL`] of an enabled GART.
const ON: u32 = DISCARD | CHECK | ENABLE;
/// [`CNTL`]: flushes the TLB.
const INVALIDATE: u32 = 1 << 8;

/// Disables the GART: if it was left enabled, it would read entries that are about to be
/// overwritten.
pub(super) fn disable(hw: &Hw<'_>) {
    write_pcie(hw.regs, CNTL, DISCARD);
}

/// Enables the GART. The entries have been written.
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

/// Flushes the TLB, if the GART is enabled.
pub(super) fn flush(hw: &Hw<'_>) {
    let r = hw.regs;
    select_pcie(r, CNTL);
    let control = r.read32(regs::PCIE_DATA);
    if control & ENABLE != 0 && control != u32::MAX {
        drop_cache(r);
    }
}

/// Flushes the TLB; the control register is selected. Twice, since once was not enough in radeon
/// and radeonhd (digest §5.2); each time the register is read, so that the bit is set before it is
/// cleared.
fn drop_cache(r: &dyn Registers) {
    for _ in 0..2 {
        r.write32_flush(regs::PCIE_DATA, ON | INVALIDATE);
        r.write32(regs::PCIE_DATA, ON);
    }
}

/// Returns the record of failed accesses, and clears it.
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

    /// Digest §5.2: bit 0 enable, 2:1 discard, 5 check of the entries' bits.
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
