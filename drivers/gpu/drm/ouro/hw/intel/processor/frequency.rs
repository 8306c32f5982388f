// SPDX-License-Identifier: GPL-2.0
//! The clock of the engines: fast while the device is awake, slow while it may sleep.
//!
//! Firmware leaves the lowest one, a half or a third of what the chip can. The highest is what the chip may
//! have for a while: its power unit gives less where heat or power ask for it. One posted write on each
//! way, none for a submission. Offsets and bits are the upstream driver's.
//!
//! Upstream has the chip say by interrupts when it was busy, and asks for more or less. Nobody listens here:
//! the interrupts stay masked. The unit that counts is set up all the same, since the request is one of its
//! registers, and since bad intervals are known to freeze a machine.

use super::{card::Card, gt_regs as gt_reg};
use crate::{
    generation::DeviceError,
    intel::ring::{fifo, RingChip},
    io::{Hw, SleepWait},
};
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// A request for a clock. Bits 24:0 stay 0: no offset, and turbo as eager as it gets.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct Request {
    #[bits(25)]
    __: u32,
    /// Bits 30:25: in units of 50 MHz.
    #[bits(6)]
    frequency: u8,
    /// Bit 31: no turbo.
    fixed: bool,
}
const_assert_eq!(core::mem::size_of::<Request>(), 4);

/// The largest number that fits a request.
const LARGEST: u8 = 63;

/// The unit's registers with what upstream writes for a busy device. Intervals are in 1280 ns: 10 and 32 ms, and
/// 95 % and 85 % of them, each rounded up to a multiple of 25, as upstream found: with others machines were
/// sluggish or froze around hangs.
const SETTINGS: [(u32, u32); 8] = [
    (gt_reg::RP_DOWN_TIMEOUT, 50_000),
    (gt_reg::RP_IDLE_HYSTERESIS, 10),
    (gt_reg::RP_UP_INTERVAL, 7_825),
    (gt_reg::RP_UP_THRESHOLD, 7_425),
    (gt_reg::RP_DOWN_INTERVAL, 25_000),
    (gt_reg::RP_DOWN_THRESHOLD, 21_250),
    // Bits 11 and 10:9 = 2: media with the rest; 8: as graphics; 7: on; 5:3 = 2 and 2:0 = 2: averages.
    (gt_reg::RP_CONTROL, 0xd92),
    // None is sent. Bit 2, an interval is over, is not masked: with it masked the chip may hang the whole
    // machine when a batch loops.
    (gt_reg::PM_INTERRUPT_MASK, !(1 << 2)),
];

/// The clocks of this chip, or none if there is nothing to choose.
pub(super) fn detect(hw: &Hw<'_>) -> Card {
    let found = Card::from_bits(hw.regs.read32(gt_reg::RP_STATE_CAP));
    if found.lowest() < found.highest() && found.highest() <= LARGEST {
        Card::new()
            .with_highest(found.highest())
            .with_lowest(found.lowest())
    } else {
        Card::new()
    }
}

fn request(hw: &Hw<'_>, frequency: u8) {
    let request = Request::new().with_frequency(frequency & LARGEST);
    hw.regs.write32(gt_reg::RPNSWREQ, request.into_bits());
}

/// Asks for the highest clock. Posted; the FIFO keeps room for it.
pub(super) fn fast(hw: &Hw<'_>) {
    let card = Card::from_bits(hw.card);
    if card.has_choice() {
        request(hw, card.highest());
    }
}

/// Asks for the lowest clock. Posted; the FIFO keeps room for it.
pub(super) fn slow(hw: &Hw<'_>) {
    let card = Card::from_bits(hw.card);
    if card.has_choice() {
        request(hw, card.lowest());
    }
}

/// Sets the unit up, and asks for the highest clock. Where there is nothing to choose, the unit stays as it
/// is, but for its interrupts.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen6::CHIP,
        mock::{Access, Mock},
    };

    /// A device whose clocks go from 650 to 1300 MHz.
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
            (0x000d_111a, 0x000d_001a),
            // bits 31:24 mean nothing
            (0xff0d_111a, 0x000d_001a),
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
