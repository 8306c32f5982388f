// SPDX-License-Identifier: GPL-2.0
//! Interrupts, through every mask (SNB PRM V1P2 §5.6, G-11 to G-14).
//!
//! ```text
//! engine ─ IMR of the engine ─ GTIMR ─ GTIIR ─ GTIER ─ DEIER bit 31 ─ CPU
//!          open while started  armed           fixed    gate
//! ```
//!
//! A request's interrupt is wanted only while somebody waits. It is stopped at `GTIMR`, which is
//! not in the power well: arming never wakes the device and takes no room of its write FIFO.
//! Errors are always let through.
//!
//! The message is sent when the line behind the gate rises. The gate is shut while the identity
//! bits are cleared and then opened, so that what came in between raises the line again.

use super::{
    engine::{RingEngine, RINGS},
    gt_regs as gt_reg,
};
use crate::{generation::Events, gt::Gt, io::Hw};

/// The word of [`Gt::irq`] that holds the armed bits of [`gt_reg::GTIMR`].
const ARMED: usize = 0;

const fn user(engine: &RingEngine) -> u32 {
    engine.user
}

const fn error(engine: &RingEngine) -> u32 {
    engine.error
}

/// One bit of each engine.
fn all(bit: fn(&RingEngine) -> u32) -> u32 {
    RINGS.iter().fold(0, |bits, e| bits | bit(e))
}

fn armed(gt: &Gt) -> u32 {
    gt.irq.get(ARMED).copied().unwrap_or(0)
}

/// Masks and disables all, and clears what is pending. An identity register keeps a second event
/// behind the one that shows, so it is cleared twice (G6-126).
pub(super) fn off(hw: &Hw<'_>) {
    hw.regs.write32_flush(gt_reg::DEIER, 0);
    for (mask, enable, identity) in [
        (gt_reg::GTIMR, Some(gt_reg::GTIER), gt_reg::GTIIR),
        (gt_reg::PMIMR, Some(gt_reg::PMIER), gt_reg::PMIIR),
        (gt_reg::DEIMR, None, gt_reg::DEIIR),
    ] {
        hw.regs.write32_flush(mask, u32::MAX);
        if let Some(enable) = enable {
            hw.regs.write32(enable, 0);
        }
        for _ in 0..2 {
            hw.regs.write32_flush(identity, u32::MAX);
        }
    }
}

/// Lets errors through, and what is armed.
pub(super) fn on(hw: &Hw<'_>, gt: &mut Gt) {
    off(hw);
    hw.regs.write32(gt_reg::GTIMR, !(all(error) | armed(gt)));
    hw.regs.write32(gt_reg::GTIER, all(error) | all(user));
    hw.regs.write32_flush(gt_reg::DEIER, gt_reg::DEIER_MASTER);
}

/// Arms or disarms an engine's completion interrupt.
pub(super) fn arm(hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool) {
    let Some(bit) = RINGS.get(engine).map(|e| user(e)) else {
        return;
    };
    let old = armed(gt);
    let new = if on { old | bit } else { old & !bit };
    if new == old {
        return;
    }
    if let Some(word) = gt.irq.get_mut(ARMED) {
        *word = new;
    }
    let mask = !(all(error) | new);
    if on {
        gt.counts.irq_arms = gt.counts.irq_arms.wrapping_add(1);
        // Read back: a completion after the caller's next look must find it open.
        hw.regs.write32_flush(gt_reg::GTIMR, mask);
    } else {
        hw.regs.write32(gt_reg::GTIMR, mask);
    }
}

/// Engines, by number, that have one of their bits in `identity`.
fn engines(identity: u32, bit: fn(&RingEngine) -> u32) -> u32 {
    RINGS
        .iter()
        .enumerate()
        .filter(|(_, e)| identity & bit(e) != 0)
        .fold(0, |set, (n, _)| set | 1u32.wrapping_shl(n as u32))
}

/// Takes the events off the device. One read, and three writes if it was ours.
pub(super) fn ack(hw: &Hw<'_>) -> Events {
    let identity = hw.regs.read32(gt_reg::GTIIR);
    if identity == 0 || identity == u32::MAX {
        return Events::default();
    }
    hw.regs.write32(gt_reg::DEIER, 0);
    hw.regs.write32(gt_reg::GTIIR, identity);
    hw.regs.write32(gt_reg::DEIER, gt_reg::DEIER_MASTER);
    Events {
        ours: true,
        completed: engines(identity, user),
        errors: engines(identity, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    #[test]
    fn all_is_masked_and_cleared_twice() {
        let mock = Mock::default();
        off(&mock.hw());
        let (r, w) = (Access::R, Access::W);
        let all = 0xffff_ffff;
        assert_eq!(
            mock.take(),
            [
                w(0x4_400c, 0),
                r(0x4_400c),
                w(0x4_4014, all),
                r(0x4_4014),
                w(0x4_401c, 0),
                w(0x4_4018, all),
                r(0x4_4018),
                w(0x4_4018, all),
                r(0x4_4018),
                w(0x4_4024, all),
                r(0x4_4024),
                w(0x4_402c, 0),
                w(0x4_4028, all),
                r(0x4_4028),
                w(0x4_4028, all),
                r(0x4_4028),
                w(0x4_4004, all),
                r(0x4_4004),
                w(0x4_4008, all),
                r(0x4_4008),
                w(0x4_4008, all),
                r(0x4_4008),
            ]
        );
    }

    #[test]
    fn on_lets_errors_through_and_opens_the_gate_last() {
        let mock = Mock::default();
        on(&mock.hw(), &mut Gt::default());
        let log = mock.take();
        assert_eq!(
            log[log.len() - 4..],
            [
                // G-12: errors are bits 3, 15 and 25.
                Access::W(0x4_4014, !0x0200_8008),
                // And completions 0, 12 and 22.
                Access::W(0x4_401c, 0x0240_9009),
                Access::W(0x4_400c, 0x8000_0000),
                Access::R(0x4_400c),
            ]
        );
    }

    #[test]
    fn arming_opens_one_bit_and_is_read_back() {
        let mock = Mock::default();
        let mut gt = Gt::default();
        for (engine, open) in [(0, 0x0200_8009u32), (1, 0x0240_8009), (2, 0x0240_9009)] {
            arm(&mock.hw(), &mut gt, engine, true);
            assert_eq!(
                mock.take(),
                [Access::W(0x4_4014, !open), Access::R(0x4_4014)]
            );
        }
        assert_eq!(gt.counts.irq_arms, 3);
        // Armed already.
        arm(&mock.hw(), &mut gt, 1, true);
        assert_eq!(mock.take(), []);
        // Disarming need not be seen at once.
        arm(&mock.hw(), &mut gt, 0, false);
        assert_eq!(mock.take(), [Access::W(0x4_4014, !0x0240_9008)]);
        arm(&mock.hw(), &mut gt, 0, false);
        assert_eq!(mock.take(), []);
        assert_eq!(gt.counts.irq_arms, 3);
    }

    #[test]
    fn an_engine_that_is_not_there_arms_nothing() {
        let mock = Mock::default();
        let mut gt = Gt::default();
        arm(&mock.hw(), &mut gt, 3, true);
        assert_eq!((mock.take().len(), gt), (0, Gt::default()));
    }

    #[test]
    fn what_is_armed_stays_armed_across_off_and_on() {
        let mock = Mock::default();
        let mut gt = Gt::default();
        arm(&mock.hw(), &mut gt, 2, true);
        off(&mock.hw());
        mock.take();
        on(&mock.hw(), &mut gt);
        assert_eq!(mock.written(0x4_4014), [0xffff_ffff, !0x0200_9008]);
    }

    #[test]
    fn the_gate_is_shut_while_events_are_taken() {
        let mock = Mock::default();
        // Completions of blitter and render, error of video.
        mock.set(0x4_4018, 0x0040_8001);
        let events = ack(&mock.hw());
        assert_eq!(
            events,
            Events {
                ours: true,
                completed: 0b011,
                errors: 0b100
            }
        );
        assert_eq!(
            mock.take(),
            [
                Access::R(0x4_4018),
                Access::W(0x4_400c, 0),
                Access::W(0x4_4018, 0x0040_8001),
                Access::W(0x4_400c, 0x8000_0000),
            ]
        );
    }

    #[test]
    fn each_bit_is_one_engines() {
        for (identity, completed, errors) in [
            (1, 1, 0),
            (1 << 22, 2, 0),
            (1 << 12, 4, 0),
            (1 << 3, 0, 1),
            (1 << 25, 0, 2),
            (1 << 15, 0, 4),
        ] {
            let mock = Mock::default();
            mock.set(0x4_4018, identity);
            let events = ack(&mock.hw());
            assert_eq!((events.completed, events.errors), (completed, errors));
        }
    }

    #[test]
    fn others_interrupts_and_gone_cards_are_left_alone() {
        for identity in [0, 0xffff_ffff] {
            let mock = Mock::default();
            mock.set(0x4_4018, identity);
            assert_eq!(ack(&mock.hw()), Events::default());
            assert_eq!(mock.take(), [Access::R(0x4_4018)]);
        }
    }
}
