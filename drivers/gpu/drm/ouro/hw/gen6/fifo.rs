// SPDX-License-Identifier: GPL-2.0
//! Room in the FIFO through which writes reach the engines (G-16).
//!
//! A write into a full FIFO is lost. The FIFO says how many entries are free, but reading that
//! for each write would cost more than the write; so the entries are counted down and the number is
//! read again only when they have run out. Some entries are kept for whoever writes without counting.

use super::{gt_regs as gt_reg, poll};
use crate::{
    generation::BringUpError,
    gt::Gt,
    io::{AtomicWait, Hw, SleepWait},
};
use core::cell::Cell;

const GTFIFOCTL: poll::Named = poll::Named {
    offset: gt_reg::GTFIFOCTL,
    name: "GTFIFOCTL",
};

/// Entries that are never counted as free (G-16).
const RESERVED: u32 = 20;

/// Microseconds in which the FIFO makes room. It drains in far less.
const DRAIN_MICROS: u32 = 5_000;

/// Free entries, less the reserve, in what the register says.
const fn free(value: u32) -> u32 {
    (value & gt_reg::GTFIFO_FREE).saturating_sub(RESERVED)
}

/// Takes `n` entries off the counted ones; reads the room when there are not enough.
pub(super) fn take(
    hw: &Hw<'_>,
    gt: &mut Gt,
    n: u32,
    wait: &dyn AtomicWait,
) -> Result<(), BringUpError> {
    if gt.fifo < n {
        let reads = Cell::new(0u64);
        let value = poll::spinning(hw.regs, wait, GTFIFOCTL, DRAIN_MICROS, &|v| {
            reads.set(reads.get().wrapping_add(1));
            free(v) >= n
        });
        gt.counts.fifo_reads = gt.counts.fifo_reads.wrapping_add(reads.get());
        gt.fifo = free(value?);
    }
    gt.fifo = gt.fifo.saturating_sub(n);
    Ok(())
}

/// Reads the room, as there is now.
pub(super) fn refill(hw: &Hw<'_>, gt: &mut Gt) -> Result<(), BringUpError> {
    let value = hw.regs.read32(GTFIFOCTL.offset);
    if value == u32::MAX {
        return Err(BringUpError::Gone);
    }
    gt.counts.fifo_reads = gt.counts.fifo_reads.wrapping_add(1);
    gt.fifo = free(value);
    Ok(())
}

/// Waits for room for `n` writes that are not counted, at most 40.
pub(super) fn room(hw: &Hw<'_>, n: u32, wait: &dyn SleepWait) -> Result<(), BringUpError> {
    poll::sleeping(hw.regs, wait, GTFIFOCTL, DRAIN_MICROS, &|v| free(v) >= n)?;
    Ok(())
}

/// Whether there is room for `n` writes that are not counted, where it is not worth waiting.
pub(super) fn has_room(hw: &Hw<'_>, n: u32) -> bool {
    let value = hw.regs.read32(GTFIFOCTL.offset);
    value != u32::MAX && free(value) >= n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    #[test]
    fn entries_are_counted_down_and_read_again_when_they_run_out() {
        let mock = Mock::default();
        // 64 free, of which 20 are kept.
        mock.set(0x12_0008, 0x40);
        let mut gt = Gt::default();
        for _ in 0..44 {
            take(&mock.hw(), &mut gt, 1, &mock).unwrap();
        }
        assert_eq!(mock.take(), [Access::R(0x12_0008)]);
        assert_eq!((gt.fifo, gt.counts.fifo_reads), (0, 1));
        take(&mock.hw(), &mut gt, 1, &mock).unwrap();
        assert_eq!(mock.take(), [Access::R(0x12_0008)]);
        assert_eq!((gt.fifo, gt.counts.fifo_reads), (43, 2));
    }

    #[test]
    fn the_reserve_is_not_free() {
        let mock = Mock::default();
        mock.script(0x12_0008, &[20, 20, 21]);
        let mut gt = Gt::default();
        take(&mock.hw(), &mut gt, 1, &mock).unwrap();
        assert_eq!(mock.take(), [Access::R(0x12_0008); 3]);
        assert_eq!((gt.fifo, gt.counts.fifo_reads), (0, 3));
    }

    #[test]
    fn only_bits_6_0_count() {
        let mock = Mock::default();
        mock.set(0x12_0008, 0x3f00_0f80 | 20);
        let mut gt = Gt::default();
        let late = Err(BringUpError::Timeout("GTFIFOCTL"));
        assert_eq!(take(&mock.hw(), &mut gt, 1, &mock), late);
        assert_eq!(room(&mock.hw(), 1, &mock), late);
        assert!(!has_room(&mock.hw(), 1));
        mock.set(0x12_0008, 21);
        assert!(has_room(&mock.hw(), 1));
    }

    #[test]
    fn a_card_that_is_gone_has_no_room() {
        let mock = Mock::default();
        mock.gone.set(true);
        let mut gt = Gt::default();
        assert_eq!(take(&mock.hw(), &mut gt, 1, &mock), Err(BringUpError::Gone));
        assert_eq!(room(&mock.hw(), 1, &mock), Err(BringUpError::Gone));
        assert!(!has_room(&mock.hw(), 1));
    }
}
