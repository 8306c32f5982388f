// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The clock of the engines: high while the device is kept awake, low while it may sleep. User
//! space may change both limits ([`ClockControl`]).
//!
//! The firmware leaves the lowest clock, a half or a third of the highest. The highest clock is
//! available for a limited time: the chip's power unit reduces it for heat or power. Each change is
//! one posted write, and a submission needs none. Offsets and bits are those of the upstream
//! driver.
//!
//! Upstream lets the chip report busy and idle intervals by interrupts and changes the clock
//! accordingly. This driver keeps these interrupts masked. It configures the unit that measures the
//! intervals all the same, since the requested clock is one of the unit's registers, and since bad
//! intervals are known to freeze a machine.

use super::{card::Card, gt_regs as gt_reg, Processor};
use crate::{
    clocks::{ClockControl, Clocks},
    generation::DeviceError,
    gt::Gt,
    intel::ring::{fifo, RingChip},
    io::{AtomicWait, Hw, SleepWait},
};
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// A clock request. Bits 24:0 stay 0: no offset, the most aggressive turbo.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct Request {
    #[bits(25)]
    __: u32,
    /// Bits 30:25: the clock in units of 50 MHz.
    #[bits(6)]
    frequency: u8,
    /// Bit 31: disable turbo.
    fixed: bool,
}
const_assert_eq!(core::mem::size_of::<Request>(), 4);

/// `RPSTAT1`: the clock that is in force.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct Status {
    __: u8,
    /// Bits 14:8: the clock in units of 50 MHz.
    #[bits(7)]
    frequency: u8,
    #[bits(17)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<Status>(), 4);

/// MHz of a unit.
const UNIT: u32 = 50;
/// The largest clock that a request can hold.
const LARGEST: u8 = 63;

/// The unit's registers with upstream's values for a busy device. Intervals are in units of 1280
/// ns: 10 and 32 ms, and 95 % and 85 % of them, each rounded up to a multiple of 25. Upstream found
/// that machines were sluggish or froze around hangs with other values.
const SETTINGS: [(u32, u32); 8] = [
    (gt_reg::RP_DOWN_TIMEOUT, 50_000),
    (gt_reg::RP_IDLE_HYSTERESIS, 10),
    (gt_reg::RP_UP_INTERVAL, 7_825),
    (gt_reg::RP_UP_THRESHOLD, 7_425),
    (gt_reg::RP_DOWN_INTERVAL, 25_000),
    (gt_reg::RP_DOWN_THRESHOLD, 21_250),
    // Bits 11 and 10:9 = 2: media with the rest; 8: as graphics; 7: enabled; 5:3 = 2 and 2:0 = 2:
    // averages.
    (gt_reg::RP_CONTROL, 0xd92),
    // No interrupt is sent. Bit 2 (an interval is over) stays unmasked: with it masked the chip may
    // hang the whole machine while a batch loops.
    (gt_reg::PM_INTERRUPT_MASK, !(1 << 2)),
];

/// Reads the chip's clocks; all zero if the clock cannot be changed.
pub(super) fn detect(hw: &Hw<'_>) -> Card {
    let found = Card::from_bits(hw.regs.read32(gt_reg::RP_STATE_CAP));
    if found.lowest() < found.highest() && found.highest() <= LARGEST {
        let steady = found.steady().clamp(found.lowest(), found.highest());
        Card::new()
            .with_highest(found.highest())
            .with_steady(steady)
            .with_lowest(found.lowest())
    } else {
        Card::new()
    }
}

fn request(hw: &Hw<'_>, frequency: u8) {
    let request = Request::new().with_frequency(frequency & LARGEST);
    hw.regs.write32(gt_reg::RPNSWREQ, request.into_bits());
}

/// Requests the highest clock. Posted; the reserve of the FIFO has room for it.
pub(super) fn fast(hw: &Hw<'_>) {
    let card = Card::from_bits(hw.card);
    if card.has_choice() {
        request(hw, card.highest());
    }
}

/// Requests the lowest clock. Posted; the reserve of the FIFO has room for it.
pub(super) fn slow(hw: &Hw<'_>) {
    let card = Card::from_bits(hw.card);
    if card.has_choice() {
        request(hw, card.lowest());
    }
}

/// Configures the unit, and requests the highest clock. If the clock cannot be changed, only the
/// unit's interrupts are masked.
pub(super) fn start(chip: &RingChip, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
    fifo::room(chip, hw, 9, wait)?;
    let settings = match Card::from_bits(hw.card).has_choice() {
        false => SETTINGS.split_at(SETTINGS.len() - 1).1,
        true => &SETTINGS,
    };
    for (offset, value) in settings {
        hw.regs.write32(*offset, *value);
    }
    fast(hw);
    Ok(())
}

impl ClockControl for Processor {
    fn clocks(&self, card: u32) -> Option<Clocks> {
        let card = Card::from_bits(card);
        card.has_choice().then(|| Clocks {
            lowest: u32::from(card.lowest()).wrapping_mul(UNIT),
            steady: u32::from(card.steady()).wrapping_mul(UNIT),
            highest: u32::from(card.highest()).wrapping_mul(UNIT),
        })
    }

    fn with_limits(&self, card: u32, lowest: u32, highest: u32) -> u32 {
        let units = |mhz: u32| (mhz.saturating_add(UNIT / 2) / UNIT).min(LARGEST.into()) as u8;
        let card = Card::from_bits(card).with_lowest(units(lowest));
        card.with_highest(units(highest)).into_bits()
    }

    fn request(&self, hw: &Hw<'_>, gt: &mut Gt, wait: &dyn AtomicWait) -> Result<(), DeviceError> {
        fifo::take(self.chip, hw, gt, 1, wait)?;
        fast(hw);
        Ok(())
    }

    fn running(&self, hw: &Hw<'_>) -> u32 {
        match hw.regs.read32(gt_reg::RPSTAT1) {
            // The device is gone.
            u32::MAX => 0,
            status => u32::from(Status::from_bits(status).frequency()).wrapping_mul(UNIT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen6::{CHIP, GEN6},
        mock::{Access, Mock},
    };

    /// Returns a device whose clocks go from 650 to 1300 MHz.
    fn hw(mock: &Mock) -> Hw<'_> {
        mock.set(0x12_0008, 0x40);
        Hw {
            card: 0x000d_001a,
            ..mock.hw()
        }
    }

    #[test]
    fn clocks_are_read_where_there_is_a_choice() {
        for (found, card) in [
            // 1300, 850 and 650 MHz
            (0x000d_111a, 0x000d_111a),
            // bits 31:24 are ignored
            (0xff0d_111a, 0x000d_111a),
            // a clock to sustain that is none of the others
            (0x000d_001a, 0x000d_0d1a),
            (0x000d_ff1a, 0x000d_1a1a),
            (0x0011_1111, 0),
            (0x001a_110d, 0),
            (0x000d_1140, 0),
            (0, 0),
            (0xffff_ffff, 0),
        ] {
            let mock = Mock::default();
            mock.set(0x14_5998, found);
            assert_eq!(detect(&mock.hw()).into_bits(), card, "{found:#x}");
            assert_eq!(mock.take(), [Access::R(0x14_5998)]);
        }
    }

    #[test]
    fn each_way_is_one_posted_write() {
        let mock = Mock::default();
        fast(&hw(&mock));
        // 26 and 13 in bits 30:25
        assert_eq!(mock.take(), [Access::W(0xa008, 0x3400_0000)]);
        slow(&hw(&mock));
        assert_eq!(mock.take(), [Access::W(0xa008, 0x1a00_0000)]);
    }

    #[test]
    fn clocks_are_in_mhz() {
        let clocks = |card| GEN6.clocks(card).map(|c| [c.lowest, c.steady, c.highest]);
        assert_eq!(clocks(0x010d_111a), Some([650, 850, 1300]));
        assert_eq!(clocks(0x0100_0000), None);
        // The nearest unit of 50 MHz; bits 31:24 are not the clocks'.
        for (lowest, highest, card) in [
            (650, 1300, 0x010d_111a),
            (675, 1249, 0x010e_1119),
            (674, 1250, 0x010d_1119),
            (0, u32::MAX, 0x0100_113f),
        ] {
            let limited = GEN6.with_limits(0x010d_111a, lowest, highest);
            assert_eq!(limited, card, "{lowest} {highest}");
        }
    }

    #[test]
    fn the_clock_that_is_in_force_is_read() {
        let mock = Mock::default();
        // 1300 MHz in bits 14:8; the others are not the clock's
        mock.set(0xa01c, 0xffff_9aff);
        assert_eq!(GEN6.running(&hw(&mock)), 1300);
        assert_eq!(mock.take(), [Access::R(0xa01c)]);
        mock.set(0xa01c, u32::MAX);
        assert_eq!(GEN6.running(&hw(&mock)), 0);
    }

    #[test]
    fn a_request_of_user_space_takes_room_in_the_fifo() {
        let mock = Mock::default();
        let mut gt = Gt {
            fifo: 1,
            ..Gt::default()
        };
        let request = Access::W(0xa008, 0x3400_0000);
        GEN6.request(&hw(&mock), &mut gt, &mock).unwrap();
        assert_eq!(mock.take(), [request]);
        GEN6.request(&hw(&mock), &mut gt, &mock).unwrap();
        assert_eq!(mock.take(), [Access::R(0x12_0008), request]);
        // 64 entries, of which 20 are reserved
        assert_eq!(gt.fifo, 43);
    }

    #[test]
    fn the_unit_is_set_up_as_upstream_does() {
        let mock = Mock::default();
        start(&CHIP, &hw(&mock), &mock).unwrap();
        let w = Access::W;
        assert_eq!(
            mock.take(),
            [
                Access::R(0x12_0008),
                w(0xa010, 50_000),
                w(0xa070, 10),
                // multiples of 25
                w(0xa068, 7_825),
                w(0xa02c, 7_425),
                w(0xa06c, 25_000),
                w(0xa030, 21_250),
                w(0xa024, 0xd92),
                w(0xa168, 0xffff_fffb),
                w(0xa008, 0x3400_0000),
            ]
        );
    }

    #[test]
    fn without_a_choice_nothing_is_asked_for() {
        let mock = Mock::default();
        mock.set(0x12_0008, 0x40);
        fast(&mock.hw());
        slow(&mock.hw());
        assert_eq!(mock.take(), []);
        start(&CHIP, &mock.hw(), &mock).unwrap();
        assert_eq!(
            mock.take(),
            [Access::R(0x12_0008), Access::W(0xa168, 0xffff_fffb)]
        );
    }
}
