// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Interrupts (digest §3.2, §5.2): the ring's own interrupt is one bit, behind one mask.
//!
//! ```text
//! GEN_INT_STATUS bit 26, written by the ring ─ bit 25 ─ GEN_INT_CNTL bit 25 ─ CPU
//!                                              latched  armed
//! ```
//!
//! The bit is latched also while it is masked, so arming clears it first. Interrupts of the display
//! stay masked.
//!
//! The line may be shared: a bit that is latched but not armed did not raise the interrupt, so the
//! interrupt is another device's. Other bits are not touched; some are cleared elsewhere.

use super::regs;
use crate::{generation::Events, gt::Gt, io::Hw};

/// The word of [`Gt::irq`] that holds the armed bits.
const ARMED: usize = 0;
/// Bits of [`regs::GEN_INT_STATUS`] that clearing all leaves alone: the faults, which a report
/// reads, and the bit that would raise the interrupt.
const KEEP: u32 = regs::SW_INT_FIRE | FAULTS;
/// Faults that [`regs::GEN_INT_STATUS`] latches.
pub(super) const FAULTS: u32 = regs::MC_PROBE_FAULT | regs::MC_PROTECTION_FAULT;

fn armed(gt: &Gt) -> u32 {
    gt.irq.get(ARMED).copied().unwrap_or(0)
}

/// Masks all interrupts, and clears the pending ones.
pub(super) fn off(hw: &Hw<'_>) {
    hw.regs.write32(regs::DXMODE_INT_MASK, 0);
    hw.regs.write32_flush(regs::GEN_INT_CNTL, 0);
    hw.regs.write32_flush(regs::GEN_INT_STATUS, !KEEP);
}

/// Unmasks the armed interrupts, and allows the first MSI.
pub(super) fn on(hw: &Hw<'_>, gt: &mut Gt) {
    off(hw);
    hw.regs.write32(regs::MSI_REARM_EN, 1);
    hw.regs.write32_flush(regs::GEN_INT_CNTL, armed(gt));
}

/// Arms or disarms the completion interrupt.
pub(super) fn arm(hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool) {
    let Some(word) = gt.irq.get_mut(ARMED).filter(|_| engine == 0) else {
        return;
    };
    let new = if on { regs::SW_INT } else { 0 };
    if core::mem::replace(word, new) == new {
        return;
    }
    if on {
        gt.counts.irq_arms = gt.counts.irq_arms.wrapping_add(1);
        // The caller reads the seqno after this, and sees requests that completed before: a request
        // writes its seqno before it raises the interrupt.
        hw.regs.write32(regs::GEN_INT_STATUS, regs::SW_INT);
        // An MSI that is already on its way finds no latched bit to acknowledge.
        hw.regs.write32(regs::MSI_REARM_EN, 1);
        hw.regs.write32_flush(regs::GEN_INT_CNTL, new);
    } else {
        hw.regs.write32(regs::GEN_INT_CNTL, new);
    }
}

/// Takes the events off the device: two reads, and two writes if the interrupt was the device's
/// own. The second write rearms the MSI (digest §5.2); it has no effect on the line.
pub(super) fn ack(hw: &Hw<'_>) -> Events {
    let status = hw.regs.read32(regs::GEN_INT_STATUS);
    if status == u32::MAX || status & regs::SW_INT == 0 {
        return Events::default();
    }
    if hw.regs.read32(regs::GEN_INT_CNTL) & regs::SW_INT == 0 {
        return Events::default();
    }
    hw.regs.write32(regs::GEN_INT_STATUS, regs::SW_INT);
    hw.regs.write32(regs::MSI_REARM_EN, 1);
    Events {
        ours: true,
        completed: 1,
        errors: u32::from(status & FAULTS != 0),
        overdue: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    #[test]
    fn arming_clears_what_is_old_and_is_read_back() {
        let mock = Mock::default();
        let mut gt = Gt::default();
        let (r, w) = (Access::R, Access::W);
        arm(&mock.hw(), &mut gt, 0, true);
        let bit = 1 << 25;
        assert_eq!(
            mock.take(),
            [w(0x44, bit), w(0x160, 1), w(0x40, bit), r(0x40)]
        );
        arm(&mock.hw(), &mut gt, 0, true);
        assert_eq!(mock.take(), []);
        arm(&mock.hw(), &mut gt, 0, false);
        assert_eq!(mock.take(), [w(0x40, 0)]);
        arm(&mock.hw(), &mut gt, 1, true);
        assert_eq!(mock.take(), []);
        assert_eq!(gt.counts.irq_arms, 1);
    }

    #[test]
    fn what_is_armed_stays_armed_across_off_and_on() {
        let mock = Mock::default();
        let mut gt = Gt::default();
        arm(&mock.hw(), &mut gt, 0, true);
        mock.take();
        off(&mock.hw());
        on(&mock.hw(), &mut gt);
        assert_eq!(mock.written(0x40), [0, 0, 1 << 25]);
        assert_eq!(mock.written(0x160), [1]);
        assert_eq!(mock.written(0x6540), [0, 0]);
    }

    #[test]
    fn an_interrupt_is_cleared_and_the_next_message_let_through() {
        let mock = Mock::default();
        // Row "IRQ": bit 25 is the ring's interrupt; 26 would raise it; 16 is a fault that stays.
        mock.set(0x44, 1 << 25 | 1 << 26 | 1 << 16 | 1);
        mock.set(0x40, 1 << 25);
        let events = ack(&mock.hw());
        assert_eq!(
            mock.take(),
            [
                Access::R(0x44),
                Access::R(0x40),
                // Bit 0 belongs to the display and is not cleared.
                Access::W(0x44, 1 << 25),
                Access::W(0x160, 1)
            ]
        );
        assert_eq!(
            events,
            Events {
                ours: true,
                completed: 1,
                errors: 1,
                overdue: 0,
            }
        );
    }

    #[test]
    fn others_interrupts_and_gone_cards_are_left_alone() {
        // Bits 0 and 19: display, and an engine that became idle.
        for status in [0, 1 << 26, 1 << 16, 1, 1 << 19, 0xffff_ffff] {
            let mock = Mock::default();
            mock.set(0x44, status);
            mock.set(0x40, 1 << 25);
            assert_eq!(ack(&mock.hw()), Events::default());
            assert_eq!(mock.take(), [Access::R(0x44)]);
        }
        // The bit is latched whenever a request completes, also while it is masked.
        let mock = Mock::default();
        mock.set(0x44, 1 << 25);
        assert_eq!(ack(&mock.hw()), Events::default());
        assert_eq!(mock.take(), [Access::R(0x44), Access::R(0x40)]);
    }
}
