// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Interrupts and their masks (SNB PRM V1P2 §5.6, G-11 to G-14).
//!
//! ```text
//! engine ─ IMR of the engine ─ GTIMR ─ GTIIR ─ GTIER ─ DEIER bit 31 ─ CPU
//!          open while started  armed           fixed    gate
//! ```
//!
//! The driver arms a request's interrupt only while a client waits for the request. It does so in
//! `GTIMR`, which is outside the power well: arming never wakes the device and takes no entry of
//! its write FIFO. Errors are always unmasked. A watchdog's interrupt is masked there, too, while
//! no batch is watched.
//!
//! The device sends an MSI when the line behind the gate (the master enable) rises. The driver
//! shuts the gate, clears the identity bits and opens the gate, so that events in between raise the
//! line again.

use super::{engine::RingEngine, RingChip};
use crate::{generation::Events, gt::Gt, io::Hw};

/// A mask, an identity and an enable register that belong together.
pub(crate) struct Bank {
    /// Mask: a one keeps the source out of the identity.
    pub(crate) mask: u32,
    /// Identity: the pending sources; a one clears a bit.
    pub(crate) identity: u32,
    /// Enable: a one passes the source on to the gate. `None` if the gate is this bank's enable
    /// register.
    pub(crate) enable: Option<u32>,
}

/// The gate: a register with the device's master interrupt enable.
pub(crate) struct Gate {
    /// Offset of the register.
    pub(crate) register: u32,
    /// The bit of the master enable.
    pub(crate) open: u32,
}

impl Gate {
    fn shut(&self, hw: &Hw<'_>) {
        hw.regs.write32(self.register, 0);
    }

    fn open(&self, hw: &Hw<'_>) {
        hw.regs.write32(self.register, self.open);
    }

    /// Waits until the device has received the writes.
    fn settle(&self, hw: &Hw<'_>) {
        let _ = hw.regs.read32(self.register);
    }
}

/// The interrupt registers of the engines.
pub(crate) struct Interrupts {
    /// The gate, on a chip that sends MSIs. A chip with an interrupt line needs none: the line is
    /// high as long as the identity is not zero.
    pub(crate) gate: Option<Gate>,
    /// The engines' mask: a one keeps the source out of the identity.
    pub(crate) mask: u32,
    /// The engines' identity; a one clears a bit.
    pub(crate) identity: u32,
    /// The engines' enable: a one passes the source on to the gate.
    pub(crate) enable: u32,
    /// Banks of other sources, which stay disabled.
    pub(crate) others: &'static [Bank],
}

/// The word of [`Gt::irq`] that holds the armed bits of [`Interrupts::mask`].
const ARMED: usize = 0;

const fn user(engine: &RingEngine) -> u32 {
    engine.user
}

const fn error(engine: &RingEngine) -> u32 {
    engine.error
}

fn overdue(engine: &RingEngine) -> u32 {
    engine.overdue()
}

/// Returns the union of one bit of each engine.
fn all(chip: &RingChip, bit: fn(&RingEngine) -> u32) -> u32 {
    chip.engines.iter().fold(0, |bits, e| bits | bit(e))
}

fn armed(gt: &Gt) -> u32 {
    gt.irq.get(ARMED).copied().unwrap_or(0)
}

/// Masks and disables all interrupts, and clears pending ones. An identity register queues a second
/// event behind the visible one, so it is cleared twice (G6-126).
pub(crate) fn off(chip: &RingChip, hw: &Hw<'_>) {
    let irq = &chip.interrupts;
    if let Some(gate) = &irq.gate {
        gate.shut(hw);
        gate.settle(hw);
    }
    let engines = Bank {
        mask: irq.mask,
        identity: irq.identity,
        enable: Some(irq.enable),
    };
    for bank in core::iter::once(&engines).chain(irq.others) {
        hw.regs.write32_flush(bank.mask, u32::MAX);
        if let Some(enable) = bank.enable {
            hw.regs.write32(enable, 0);
        }
        for _ in 0..2 {
            hw.regs.write32_flush(bank.identity, u32::MAX);
        }
    }
}

/// Unmasks errors and the armed interrupts.
pub(crate) fn on(chip: &RingChip, hw: &Hw<'_>, gt: &mut Gt) {
    let irq = &chip.interrupts;
    let errors = all(chip, error);
    let users = all(chip, user) | all(chip, overdue);
    off(chip, hw);
    hw.regs.write32(irq.mask, !(errors | armed(gt)));
    match &irq.gate {
        Some(gate) => {
            hw.regs.write32(irq.enable, errors | users);
            gate.open(hw);
            gate.settle(hw);
        }
        None => hw.regs.write32_flush(irq.enable, errors | users),
    }
}

/// Arms or disarms an engine's completion interrupt.
pub(crate) fn arm(chip: &RingChip, hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool) {
    let bit = chip.engines.get(engine).map_or(0, |e| user(e));
    if open(chip, hw, gt, bit, on) && on {
        gt.counts.irq_arms = gt.counts.irq_arms.wrapping_add(1);
    }
}

/// Arms or disarms the interrupt of an engine's watchdog.
pub(crate) fn watch(chip: &RingChip, hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool) {
    let bit = chip.engines.get(engine).map_or(0, |e| overdue(e));
    open(chip, hw, gt, bit, on);
}

/// Unmasks or masks a bit in the engines' mask. Returns whether that was a change.
fn open(chip: &RingChip, hw: &Hw<'_>, gt: &mut Gt, bit: u32, on: bool) -> bool {
    let old = armed(gt);
    let new = if on { old | bit } else { old & !bit };
    if new == old {
        return false;
    }
    if let Some(word) = gt.irq.get_mut(ARMED) {
        *word = new;
    }
    let at = chip.interrupts.mask;
    let mask = !(all(chip, error) | new);
    if on {
        // The read makes the write take effect: a completion after the caller's next look at the
        // seqno must interrupt.
        hw.regs.write32_flush(at, mask);
    } else {
        hw.regs.write32(at, mask);
    }
    true
}

/// Returns the engines that have their bit set in `identity`, as a mask of their indices.
fn engines(chip: &RingChip, identity: u32, bit: fn(&RingEngine) -> u32) -> u32 {
    chip.engines
        .iter()
        .enumerate()
        .filter(|(_, e)| identity & bit(e) != 0)
        .fold(0, |set, (n, _)| set | 1u32.wrapping_shl(n as u32))
}

/// Acknowledges the pending events. One read; with events three writes, or one on a chip without
/// gate.
pub(crate) fn ack(chip: &RingChip, hw: &Hw<'_>) -> Events {
    let irq = &chip.interrupts;
    let identity = hw.regs.read32(irq.identity);
    if identity == 0 || identity == u32::MAX {
        return Events::default();
    }
    if let Some(gate) = &irq.gate {
        gate.shut(hw);
    }
    hw.regs.write32(irq.identity, identity);
    if let Some(gate) = &irq.gate {
        gate.open(hw);
    }
    Events {
        ours: true,
        completed: engines(chip, identity, user),
        errors: engines(chip, identity, error),
        overdue: engines(chip, identity, overdue),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen6::CHIP,
        mock::{Access, Mock},
    };

    #[test]
    fn all_is_masked_and_cleared_twice() {
        let mock = Mock::default();
        off(&CHIP, &mock.hw());
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
        on(&CHIP, &mock.hw(), &mut Gt::default());
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
            arm(&CHIP, &mock.hw(), &mut gt, engine, true);
            assert_eq!(
                mock.take(),
                [Access::W(0x4_4014, !open), Access::R(0x4_4014)]
            );
        }
        assert_eq!(gt.counts.irq_arms, 3);
        // Armed already.
        arm(&CHIP, &mock.hw(), &mut gt, 1, true);
        assert_eq!(mock.take(), []);
        // Disarming may take effect later.
        arm(&CHIP, &mock.hw(), &mut gt, 0, false);
        assert_eq!(mock.take(), [Access::W(0x4_4014, !0x0240_9008)]);
        arm(&CHIP, &mock.hw(), &mut gt, 0, false);
        assert_eq!(mock.take(), []);
        assert_eq!(gt.counts.irq_arms, 3);
    }

    #[test]
    fn an_engine_that_is_not_there_arms_nothing() {
        let mock = Mock::default();
        let mut gt = Gt::default();
        arm(&CHIP, &mock.hw(), &mut gt, 3, true);
        assert_eq!((mock.take().len(), gt), (0, Gt::default()));
    }

    #[test]
    fn what_is_armed_stays_armed_across_off_and_on() {
        let mock = Mock::default();
        let mut gt = Gt::default();
        arm(&CHIP, &mock.hw(), &mut gt, 2, true);
        off(&CHIP, &mock.hw());
        mock.take();
        on(&CHIP, &mock.hw(), &mut gt);
        assert_eq!(mock.written(0x4_4014), [0xffff_ffff, !0x0200_9008]);
    }

    #[test]
    fn the_gate_is_shut_while_events_are_taken() {
        let mock = Mock::default();
        // Completions of blitter and render, error of video.
        mock.set(0x4_4018, 0x0040_8001);
        let events = ack(&CHIP, &mock.hw());
        assert_eq!(
            events,
            Events {
                ours: true,
                completed: 0b011,
                errors: 0b100,
                overdue: 0
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
            let events = ack(&CHIP, &mock.hw());
            assert_eq!((events.completed, events.errors), (completed, errors));
        }
    }

    #[test]
    fn others_interrupts_and_gone_cards_are_left_alone() {
        for identity in [0, 0xffff_ffff] {
            let mock = Mock::default();
            mock.set(0x4_4018, identity);
            assert_eq!(ack(&CHIP, &mock.hw()), Events::default());
            assert_eq!(mock.take(), [Access::R(0x4_4018)]);
        }
    }
}
