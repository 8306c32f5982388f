// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Room in the FIFO through which writes reach the engines (G-16).
//!
//! A write to a full FIFO is lost. A register has the number of free entries, but reading it before
//! each write would cost more than the write. So the driver counts the entries down, and reads the
//! register only when the count is used up. A reserve of entries is for writes that are not
//! counted, and for those after a wait that took too long ([`late::FIFO`]).

use super::{late, RingChip};
use crate::{
    generation::DeviceError,
    gt::Gt,
    intel::late::in_time,
    io::{AtomicWait, Hw, SleepWait},
    poll,
};
use core::cell::Cell;

/// The registers of the FIFO.
pub(crate) struct Fifo {
    /// The register with the number of free entries.
    pub(crate) control: poll::Named,
    /// The bits of that number.
    pub(crate) free: u32,
    /// The register of lost accesses; a one clears a bit.
    pub(crate) lost: u32,
}

impl Fifo {
    /// Returns the free entries without the reserve, from the register's value.
    const fn free(&self, value: u32) -> u32 {
        (value & self.free).saturating_sub(RESERVED)
    }
}

/// Returns the FIFO, if the machine has one.
fn of(chip: &RingChip) -> Option<&Fifo> {
    chip.wake.as_ref().map(|wake| &wake.fifo)
}

/// The reserve: entries that are never counted as free (G-16).
const RESERVED: u32 = 20;

/// Timeout in microseconds for the FIFO to make room; it drains in far less.
const DRAIN_MICROS: u32 = 5_000;

/// Takes `n` entries off the count; reads the register if the count is too low. If there is no room
/// in time, the caller writes nevertheless: work whose tail is not written is never done.
///
/// Errors: [`DeviceError::Gone`].
pub(crate) fn take(
    chip: &RingChip,
    hw: &Hw<'_>,
    gt: &mut Gt,
    n: u32,
    wait: &dyn AtomicWait,
) -> Result<(), DeviceError> {
    let Some(fifo) = of(chip) else {
        return Ok(());
    };
    if gt.fifo < n {
        let reads = Cell::new(0u64);
        let free = Cell::new(0);
        let drained = poll::spinning(hw.regs, wait, fifo.control, DRAIN_MICROS, &|v| {
            reads.set(reads.get().wrapping_add(1));
            free.set(fifo.free(v));
            free.get() >= n
        });
        gt.counts.fifo_reads = gt.counts.fifo_reads.wrapping_add(reads.get());
        if !in_time(drained)? {
            late::FIFO.log_once(hw, gt);
        }
        gt.fifo = free.get();
    }
    gt.fifo = gt.fifo.saturating_sub(n);
    Ok(())
}

/// Reads the number of free entries.
pub(crate) fn refill(chip: &RingChip, hw: &Hw<'_>, gt: &mut Gt) -> Result<(), DeviceError> {
    let Some(fifo) = of(chip) else {
        return Ok(());
    };
    let value = hw.regs.read32(fifo.control.offset);
    if value == u32::MAX {
        return Err(DeviceError::Gone);
    }
    gt.counts.fifo_reads = gt.counts.fifo_reads.wrapping_add(1);
    gt.fifo = fifo.free(value);
    Ok(())
}

/// Waits for room for `n` uncounted writes, at most 40. Errors: [`DeviceError::Gone`].
pub(crate) fn room(
    chip: &RingChip,
    hw: &Hw<'_>,
    n: u32,
    wait: &dyn SleepWait,
) -> Result<(), DeviceError> {
    if let Some(fifo) = of(chip) {
        let enough = |v| fifo.free(v) >= n;
        let waited = poll::sleeping(hw.regs, wait, fifo.control, DRAIN_MICROS, &enough);
        if !in_time(waited)? {
            late::FIFO.log(hw);
        }
    }
    Ok(())
}

/// Returns whether there is room for `n` uncounted writes now.
pub(crate) fn has_room(chip: &RingChip, hw: &Hw<'_>, n: u32) -> bool {
    of(chip).is_none_or(|fifo| {
        let value = hw.regs.read32(fifo.control.offset);
        value != u32::MAX && fifo.free(value) >= n
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen6::CHIP,
        mock::{Access, Mock},
    };

    #[test]
    fn entries_are_counted_down_and_read_again_when_they_run_out() {
        let mock = Mock::default();
        // 64 entries are free; the reserve has 20.
        mock.set(0x12_0008, 0x40);
        let mut gt = Gt::default();
        for _ in 0..44 {
            take(&CHIP, &mock.hw(), &mut gt, 1, &mock).unwrap();
        }
        assert_eq!(mock.take(), [Access::R(0x12_0008)]);
        assert_eq!((gt.fifo, gt.counts.fifo_reads), (0, 1));
        take(&CHIP, &mock.hw(), &mut gt, 1, &mock).unwrap();
        assert_eq!(mock.take(), [Access::R(0x12_0008)]);
        assert_eq!((gt.fifo, gt.counts.fifo_reads), (43, 2));
    }

    #[test]
    fn the_reserve_is_not_free() {
        let mock = Mock::default();
        mock.script(0x12_0008, &[20, 20, 21]);
        let mut gt = Gt::default();
        take(&CHIP, &mock.hw(), &mut gt, 1, &mock).unwrap();
        assert_eq!(mock.take(), [Access::R(0x12_0008); 3]);
        assert_eq!((gt.fifo, gt.counts.fifo_reads), (0, 3));
    }

    #[test]
    fn only_bits_6_0_count() {
        let mock = Mock::default();
        mock.set(0x12_0008, 0x3f00_0f80 | 20);
        let mut gt = Gt::default();
        take(&CHIP, &mock.hw(), &mut gt, 1, &mock).unwrap();
        assert_eq!(mock.warned.borrow().len(), 1);
        room(&CHIP, &mock.hw(), 1, &mock).unwrap();
        assert_eq!(mock.warned.borrow().len(), 2);
        assert!(!has_room(&CHIP, &mock.hw(), 1));
        mock.set(0x12_0008, 21);
        assert!(has_room(&CHIP, &mock.hw(), 1));
    }

    #[test]
    fn after_a_timeout_the_room_that_there_is_is_taken() {
        // 24 entries are free, 20 of them reserved; upstream's __gen6_gt_wait_for_fifo goes on.
        let mock = Mock::default();
        mock.set(0x12_0008, 24);
        let mut gt = Gt::default();
        take(&CHIP, &mock.hw(), &mut gt, 5, &mock).unwrap();
        assert_eq!(gt.fifo, 0);
        take(&CHIP, &mock.hw(), &mut gt, 1, &mock).unwrap();
        assert_eq!(gt.fifo, 3);
        take(&CHIP, &mock.hw(), &mut gt, 5, &mock).unwrap();
        // Logged once.
        assert_eq!(mock.warned.borrow().len(), 1);
    }

    #[test]
    fn a_card_that_is_gone_has_no_room() {
        let mock = Mock::default();
        mock.gone.set(true);
        let mut gt = Gt::default();
        assert_eq!(
            take(&CHIP, &mock.hw(), &mut gt, 1, &mock),
            Err(DeviceError::Gone)
        );
        assert_eq!(room(&CHIP, &mock.hw(), 1, &mock), Err(DeviceError::Gone));
        assert!(!has_room(&CHIP, &mock.hw(), 1));
    }
}
