// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Interrupts, through every level (digest §5.8).
//!
//! ```text
//! engine ─ IMR of the engine ─ its enable ─ its mask ─ word ─ master ─ tile ─ CPU
//!          errors, armed       fixed        open       GT_INTERRUPT   bit 31: gate
//! ```
//!
//! A completion interrupt is needed only while there is a waiter, and a context switch interrupt
//! only while the driver has a list to load at the next switch. Both are masked at the engine, as
//! upstream does: what is masked there is not latched, so arming does not bring old events. The
//! register needs forcewake, which the core holds for each request. Errors are always unmasked.
//!
//! Sources that are no engines (display, power controller, GuC) are masked at their own registers:
//! firmware or another driver may have left them enabled, and this driver does not handle them, so
//! they would raise interrupts endlessly. If one is pending all the same, the handler returns "not
//! ours", so that the kernel detects a spurious interrupt.
//!
//! An identity register latches an engine's interrupts, one engine at a time, after its bit was
//! written to a selector.

use super::{
    engine::ListEngine,
    fuses,
    gt_regs::{self as gt_reg, Identity},
    regs::{self, VECTOR_ERROR, VECTOR_SWITCH, VECTOR_USER},
};
use crate::{
    generation::Events,
    gt::Gt,
    io::Hw,
    types::{EngineClass, EngineId},
};

/// The interrupts that are armed and disarmed. Bit n of the word of [`Gt::irq`] with the same index
/// is set while that of engine n is armed.
const SOURCES: [u16; 2] = [VECTOR_USER, VECTOR_SWITCH];
/// The interrupts that this driver handles.
const ALL: u16 = VECTOR_USER | VECTOR_ERROR | VECTOR_SWITCH;
/// Most reads until an identity is valid: 100 µs by the digest, and a read takes at least a tenth
/// of one.
const LOOKS: u32 = 1_000;
/// Rounds of one interrupt; later events raise the next one.
const ROUNDS: u32 = 64;

/// Returns the same bits in both halves.
const fn both(vector: u16) -> u32 {
    (vector as u32) << 16 | vector as u32
}

/// A mask register, and whether both of its halves are engines', or only bits 31:16.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Mask {
    offset: u32,
    shared: bool,
}

/// Returns the mask register of an engine.
const fn mask_of(id: EngineId) -> Mask {
    let (offset, shared) = match (id.class, id.instance) {
        (EngineClass::Render, _) => (0x19_0090, false),
        (EngineClass::Copy, _) => (0x19_00a0, false),
        (EngineClass::Video, 0 | 1) => (0x19_00a8, true),
        (EngineClass::Video, _) => (0x19_00ac, true),
        (EngineClass::VideoEnhance, _) => (0x19_00d0, true),
        (EngineClass::Compute, 0 | 1) => (0x19_0100, true),
        (EngineClass::Compute, _) => (0x19_0104, true),
    };
    Mask { offset, shared }
}

/// The mask registers of all possible engines.
const MASKS: [u32; 7] = [
    0x19_0090, 0x19_00a0, 0x19_00a8, 0x19_00ac, 0x19_00d0, 0x19_0100, 0x19_0104,
];

/// Returns the value of a mask register that lets all of its engines' interrupts through.
const fn open(mask: Mask) -> u32 {
    match mask.shared {
        true => !both(ALL),
        false => !((ALL as u32) << 16),
    }
}

/// Masks and clears all sources that are no engines.
fn mask_others(hw: &Hw<'_>) {
    for (enable, mask) in gt_reg::UNITS_INTERRUPT {
        hw.regs.write32(enable, 0);
        hw.regs.write32(mask, u32::MAX);
    }
    hw.regs.write32(gt_reg::DISPLAY_INTERRUPT, 0);
    for (mask, enable, pending) in gt_reg::OTHERS_INTERRUPT {
        hw.regs.write32(mask, u32::MAX);
        hw.regs.write32(enable, 0);
        // Twice: a second event may be queued behind the first one.
        hw.regs.write32(pending, u32::MAX);
        hw.regs.write32_flush(pending, u32::MAX);
    }
}

/// Disables and masks all interrupts, and clears pending ones.
pub(super) fn off(hw: &Hw<'_>) {
    hw.regs.write32_flush(gt_reg::TILE_INTERRUPT, 0);
    for enable in [
        gt_reg::ENABLE_RENDER_COPY,
        gt_reg::ENABLE_VIDEO,
        gt_reg::ENABLE_COMPUTE,
    ] {
        hw.regs.write32(enable, 0);
    }
    for mask in MASKS {
        hw.regs.write32(mask, u32::MAX);
    }
    mask_others(hw);
    for (word, _) in words() {
        hw.regs.write32(word, u32::MAX);
    }
    hw.regs
        .write32_flush(gt_reg::MASTER_INTERRUPT, !gt_reg::INTERRUPT_ENABLE);
}

/// Enables the interrupts of all engines; their own masks stay as they are.
pub(super) fn on(hw: &Hw<'_>) {
    off(hw);
    hw.regs.write32(gt_reg::ENABLE_RENDER_COPY, both(ALL));
    hw.regs.write32(gt_reg::ENABLE_VIDEO, both(ALL));
    hw.regs
        .write32(gt_reg::ENABLE_COMPUTE, u32::from(ALL) << 16);
    for (_, engine) in fuses::numbered(hw) {
        let mask = mask_of(engine.desc.id);
        hw.regs.write32(mask.offset, open(mask));
    }
    let enable = gt_reg::INTERRUPT_ENABLE;
    hw.regs.write32_flush(gt_reg::TILE_INTERRUPT, enable);
}

/// Arms or disarms one of an engine's [`SOURCES`]. The engine's start disarms both. Asleep, nothing
/// is written.
pub(super) fn arm(hw: &Hw<'_>, gt: &mut Gt, engine: usize, source: u16, on: bool) {
    let Some((_, found)) = fuses::numbered(hw).nth(engine) else {
        return;
    };
    let mut open = VECTOR_ERROR;
    for (armed, one) in gt.irq.iter_mut().zip(SOURCES) {
        let bit = 1u32.wrapping_shl(engine as u32);
        if one == source {
            *armed = if on { *armed | bit } else { *armed & !bit };
        }
        if *armed & bit != 0 {
            open |= one;
        }
    }
    if !gt.awake {
        return;
    }
    let value = !u32::from(open);
    if on {
        if source == VECTOR_USER {
            gt.counts.irq_arms = gt.counts.irq_arms.wrapping_add(1);
        }
        // Read back: what the caller's next look does not see must find it armed.
        found.write_flush(hw, regs::IMR, value);
    } else {
        found.write(hw, regs::IMR, value);
    }
}

/// The third level: a word, and its selector and identity registers.
fn words() -> impl Iterator<Item = (u32, (u32, u32))> {
    let ask = gt_reg::IDENTITY_SELECTOR.into_iter().zip(gt_reg::IDENTITY);
    gt_reg::GT_INTERRUPT.into_iter().zip(ask)
}

/// Returns the hardware's number of a class.
const fn class_number(class: EngineClass) -> u8 {
    match class {
        EngineClass::Render => 0,
        EngineClass::Video => 1,
        EngineClass::VideoEnhance => 2,
        EngineClass::Copy => 3,
        EngineClass::Compute => 5,
    }
}

fn is_of(identity: Identity, engine: &ListEngine) -> bool {
    let id = engine.desc.id;
    class_number(id.class) == identity.class() && id.instance == identity.instance()
}

/// Latches the identity of one bit of a word. `None` if the device does not.
fn identify(hw: &Hw<'_>, selector: u32, identity: u32, bit: u32) -> Option<Identity> {
    hw.regs.write32(selector, bit);
    for _ in 0..LOOKS {
        let raw = hw.regs.read32(identity);
        if raw == u32::MAX {
            return None;
        }
        let told = Identity::from_bits(raw);
        if told.valid() {
            let taken = Identity::new().with_valid(true);
            hw.regs.write32(identity, taken.into_bits());
            return Some(told);
        }
    }
    None
}

/// Adds an identity's events to `events`.
fn add(hw: &Hw<'_>, events: &mut Events, told: Identity) {
    let Some((n, _)) = fuses::numbered(hw).find(|(_, e)| is_of(told, e)) else {
        return;
    };
    let bit = 1u32.wrapping_shl(n as u32);
    if told.vector() & (VECTOR_USER | VECTOR_SWITCH) != 0 {
        events.completed |= bit;
    }
    if told.vector() & VECTOR_ERROR != 0 {
        events.errors |= bit;
    }
}

/// Returns the bits of [`gt_reg::MASTER_INTERRUPT`] that are no engines'.
fn others(hw: &Hw<'_>) -> u32 {
    match hw.regs.read32(gt_reg::MASTER_INTERRUPT) {
        u32::MAX => 0,
        master => master & !(gt_reg::INTERRUPT_ENABLE | gt_reg::MASTER_WORDS),
    }
}

/// Masks the source of a bit that is no engine's and comes back after it was cleared. Logs once
/// whether that helped.
fn quieten(hw: &Hw<'_>) {
    if others(hw) == 0 {
        return;
    }
    mask_others(hw);
    hw.regs
        .write32(gt_reg::MASTER_INTERRUPT, !gt_reg::INTERRUPT_ENABLE);
    if others(hw) == 0 {
        hw.platform.warn(
            "an interrupt of another unit (display, GuC, PCH) stayed pending: it is masked now",
        );
    }
}

/// Acknowledges the pending events. Each word is cleared after the identities of its bits, so that
/// later events of an engine raise the next interrupt.
pub(super) fn ack(hw: &Hw<'_>) -> Events {
    let mut events = Events::default();
    hw.regs.write32(gt_reg::TILE_INTERRUPT, 0);
    let tile = hw.regs.read32(gt_reg::TILE_INTERRUPT);
    if tile == u32::MAX {
        return events;
    }
    if tile & !gt_reg::INTERRUPT_ENABLE != 0 {
        hw.regs
            .write32(gt_reg::TILE_INTERRUPT, tile & !gt_reg::INTERRUPT_ENABLE);
    }
    if tile & gt_reg::TILE0 != 0 {
        let master = hw.regs.read32(gt_reg::MASTER_INTERRUPT);
        hw.regs
            .write32(gt_reg::MASTER_INTERRUPT, master & !gt_reg::INTERRUPT_ENABLE);
        events.ours = master & gt_reg::MASTER_WORDS != 0;
        let mut rounds = ROUNDS;
        for (n, (word, (selector, identity))) in words().enumerate() {
            if master.wrapping_shr(n as u32) & 1 == 0 {
                continue;
            }
            let bits = hw.regs.read32(word);
            let mut left = bits;
            while left != 0 && rounds != 0 {
                rounds = rounds.wrapping_sub(1);
                let bit = left & left.wrapping_neg();
                left &= !bit;
                if let Some(told) = identify(hw, selector, identity, bit) {
                    add(hw, &mut events, told);
                }
            }
            hw.regs.write32(word, bits & !left);
        }
        if master & !(gt_reg::INTERRUPT_ENABLE | gt_reg::MASTER_WORDS) != 0 {
            quieten(hw);
        }
    }
    hw.regs
        .write32(gt_reg::TILE_INTERRUPT, gt_reg::INTERRUPT_ENABLE);
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    /// Render, blitter, first compute, both video, both enhancers.
    const CARD: u32 = 0b11_1100_0111;
    const R: fn(u32) -> Access = Access::R;
    const W: fn(u32, u32) -> Access = Access::W;

    fn probed(mock: &Mock) -> Hw<'_> {
        Hw {
            card: CARD,
            ..mock.hw()
        }
    }

    #[test]
    fn all_is_masked_and_cleared() {
        let mock = Mock::default();
        off(&probed(&mock));
        let log = mock.take();
        assert_eq!(log[..2], [W(0x19_0008, 0), R(0x19_0008)]);
        // Sources that are no engines: upstream's reset of GuC, power manager, cipher unit, system
        // controller.
        for (enable, mask) in [(0x38, 0xe8), (0x3c, 0xec), (0x40, 0xf0), (0x44, 0xf4)] {
            assert!(log.contains(&W(0x19_0000 + enable, 0)));
            assert!(log.contains(&W(0x19_0000 + mask, 0xffff_ffff)));
        }
        // The display's gate; miscellany at 444F0h, power controller at 444E0h: status, mask,
        // identity, enable.
        assert!(log.contains(&W(0x4_4200, 0)));
        for block in [0x4_44f0, 0x4_44e0] {
            assert!(log.contains(&W(block + 4, 0xffff_ffff)));
            assert!(log.contains(&W(block + 12, 0)));
            let cleared = W(block + 8, 0xffff_ffff);
            assert_eq!(log.iter().filter(|a| **a == cleared).count(), 2);
        }
        for enable in [0x19_0030, 0x19_0034, 0x19_0048] {
            assert!(log.contains(&W(enable, 0)));
        }
        for mask in [0x90, 0xa0, 0xa8, 0xac, 0xd0, 0x100, 0x104] {
            assert!(log.contains(&W(0x19_0000 + mask, 0xffff_ffff)));
        }
        assert_eq!(
            log[log.len() - 4..],
            [
                W(0x19_0018, 0xffff_ffff),
                W(0x19_001c, 0xffff_ffff),
                W(0x19_0010, 0x7fff_ffff),
                R(0x19_0010),
            ]
        );
    }

    #[test]
    fn on_opens_the_masks_of_all_engines_and_the_gate_last() {
        let mock = Mock::default();
        on(&probed(&mock));
        // Bits 0, 3 and 8; render in 31:16, blitter in 15:0, compute in 31:16.
        assert_eq!(mock.written(0x19_0030), [0, 0x0109_0109]);
        assert_eq!(mock.written(0x19_0034), [0, 0x0109_0109]);
        assert_eq!(mock.written(0x19_0048), [0, 0x0109_0000]);
        assert_eq!(mock.written(0x19_0090), [u32::MAX, !0x0109_0000]);
        assert_eq!(mock.written(0x19_00a0), [u32::MAX, !0x0109_0000]);
        assert_eq!(mock.written(0x19_00ac), [u32::MAX, !0x0109_0109]);
        assert_eq!(mock.written(0x19_0104), [u32::MAX], "no such engine");
        let log = mock.take();
        assert_eq!(
            log[log.len() - 2..],
            [W(0x19_0008, 0x8000_0000), R(0x19_0008)]
        );
    }

    #[test]
    fn arming_opens_the_engines_own_mask_and_is_read_back() {
        let mock = Mock::default();
        let mut gt = Gt {
            awake: true,
            ..Gt::default()
        };
        // In the topology: render, blitter, compute, video 0 and 2, enhancers.
        for (engine, base) in [
            (0, 0x2000),
            (1, 0x2_2000),
            (2, 0x1_a000),
            (3, 0x1c_0000),
            (4, 0x1d_0000),
            (5, 0x1c_8000),
            (6, 0x1d_8000),
        ] {
            // A8h; errors are open all the time, completions are bit 0.
            let at = base + 0xa8;
            arm(&probed(&mock), &mut gt, engine, VECTOR_USER, true);
            assert_eq!(mock.take(), [W(at, !9), R(at)]);
            arm(&probed(&mock), &mut gt, engine, VECTOR_USER, false);
            assert_eq!(mock.take(), [W(at, !8)]);
        }
        assert_eq!(gt.counts.irq_arms, 7);
        arm(&probed(&mock), &mut gt, 7, VECTOR_USER, true);
        assert_eq!(mock.take(), [], "no such engine");
    }

    #[test]
    fn completions_and_switches_are_armed_apart() {
        let mock = Mock::default();
        let mut gt = Gt {
            awake: true,
            ..Gt::default()
        };
        let at = 0x2_20a8;
        arm(&probed(&mock), &mut gt, 1, VECTOR_SWITCH, true);
        assert_eq!(mock.take(), [W(at, !0x108), R(at)]);
        assert_eq!(gt.counts.irq_arms, 0, "there is no waiter");
        arm(&probed(&mock), &mut gt, 1, VECTOR_USER, true);
        assert_eq!(mock.take(), [W(at, !0x109), R(at)]);
        arm(&probed(&mock), &mut gt, 1, VECTOR_SWITCH, false);
        assert_eq!(mock.take(), [W(at, !9)]);
        // Asleep, the register does not hold what is written.
        gt.awake = false;
        arm(&probed(&mock), &mut gt, 1, VECTOR_USER, false);
        assert_eq!(mock.take(), []);
        gt.awake = true;
        arm(&probed(&mock), &mut gt, 1, VECTOR_SWITCH, true);
        assert_eq!(mock.take(), [W(at, !0x108), R(at)]);
    }

    #[test]
    fn events_are_taken_in_the_order_of_5_8() {
        let mock = Mock::default();
        mock.script(0x19_0008, &[1]);
        mock.set(0x19_0010, 1);
        // Blitter, bit 15: class 3, its user interrupt and a report; valid at the second look.
        mock.set(0x19_0018, 1 << 15);
        mock.script(0x19_0060, &[0, 0x8003_0101]);
        let events = ack(&probed(&mock));
        assert_eq!(
            events,
            Events {
                ours: true,
                completed: 0b10,
                errors: 0,
                overdue: 0,
            }
        );
        assert_eq!(
            mock.take(),
            [
                W(0x19_0008, 0),
                R(0x19_0008),
                W(0x19_0008, 1),
                R(0x19_0010),
                W(0x19_0010, 1),
                R(0x19_0018),
                W(0x19_0070, 1 << 15),
                R(0x19_0060),
                R(0x19_0060),
                W(0x19_0060, 0x8000_0000),
                W(0x19_0018, 1 << 15),
                W(0x19_0008, 0x8000_0000),
            ]
        );
    }

    #[test]
    fn each_identity_is_one_engines() {
        for (word, identity, n) in [
            (0, 0x8000_0000u32, 0),
            (0, 0x8003_0000, 1),
            (0, 0x8005_0000, 2),
            (1, 0x8001_0000, 3),
            // Instance 2, at 25:20.
            (1, 0x8021_0000, 4),
            (1, 0x8002_0000, 5),
            (1, 0x8012_0000, 6),
        ] {
            for (vector, completed, errors) in [(1, 1, 0), (0x100, 1, 0), (8, 0, 1), (0x10, 0, 0)] {
                let mock = Mock::default();
                mock.script(0x19_0008, &[1]);
                mock.set(0x19_0010, 1 << word);
                mock.set(0x19_0018 + 4 * word, 1);
                mock.script(0x19_0060 + 4 * word, &[identity | vector]);
                let events = ack(&probed(&mock));
                assert_eq!(
                    (events.completed, events.errors),
                    (completed << n, errors << n)
                );
            }
        }
    }

    #[test]
    fn others_interrupts_and_gone_cards_are_left_alone() {
        let mock = Mock::default();
        mock.fix(0x19_0008, 0);
        assert_eq!(ack(&probed(&mock)), Events::default());
        assert_eq!(
            mock.take(),
            [W(0x19_0008, 0), R(0x19_0008), W(0x19_0008, 0x8000_0000)]
        );
        mock.gone.set(true);
        assert_eq!(ack(&probed(&mock)), Events::default());
        assert_eq!(mock.take(), [W(0x19_0008, 0), R(0x19_0008)]);
    }

    /// Bit 16 is the display's, 29 the miscellany's, 30 the power controller's (§5.8).
    #[test]
    fn what_is_no_engines_is_not_ours_and_is_masked() {
        for bit in [16, 29, 30] {
            let mock = Mock::default();
            mock.script(0x19_0008, &[1]);
            // It is there, comes back, and is gone when its source is masked.
            mock.script(0x19_0010, &[1 << bit, 1 << bit, 0]);
            assert_eq!(ack(&probed(&mock)), Events::default());
            assert_eq!(mock.written(0x19_0010), [1 << bit, 0x7fff_ffff]);
            for masked in [0x4_44f4, 0x4_44e4, 0x19_00e8] {
                assert_eq!(mock.written(masked), [0xffff_ffff]);
            }
            assert_eq!(mock.written(0x4_4200), [0]);
            assert_eq!(mock.warned.borrow().len(), 1);
            assert_eq!(mock.take().last(), Some(&W(0x19_0008, 0x8000_0000)));
        }
    }

    #[test]
    fn what_goes_by_itself_or_never_is_not_told_of() {
        let mock = Mock::default();
        // Beside an engine's, and gone at the second look.
        mock.script(0x19_0008, &[1]);
        mock.script(0x19_0010, &[1 << 16 | 1, 0]);
        assert!(ack(&probed(&mock)).ours);
        assert_eq!(mock.written(0x4_4200), []);
        // It stays whatever is written.
        mock.script(0x19_0008, &[1]);
        mock.fix(0x19_0010, 1 << 16);
        assert!(!ack(&probed(&mock)).ours);
        // A tile that this card does not have.
        mock.script(0x19_0008, &[2]);
        assert_eq!(ack(&probed(&mock)), Events::default());
        assert!(mock.warned.borrow().is_empty());
    }

    #[test]
    fn an_identity_that_never_comes_ends() {
        let mock = Mock::default();
        mock.script(0x19_0008, &[1]);
        mock.set(0x19_0010, 3);
        mock.set(0x19_0018, 0xffff_ffff);
        mock.set(0x19_001c, 0xffff_ffff);
        let events = ack(&probed(&mock));
        assert_eq!((events.ours, events.completed), (true, 0));
        // Neither does an identity of an unknown engine.
        mock.take();
        mock.script(0x19_0008, &[1]);
        mock.fix(0x19_0060, 0x8004_0101);
        assert_eq!(ack(&probed(&mock)).completed, 0);
    }
}
