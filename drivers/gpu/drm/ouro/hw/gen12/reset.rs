// SPDX-License-Identifier: GPL-2.0
//! Reset (digest §5.6).
//!
//! Each engine is stopped and asked to be ready, then the bits of what to reset are set twice. Tables and
//! images are memory, and survive; what a register holds does not (R4): [`Generation::start`] and
//! [`Engine::start`] set it again.
//!
//! [`Generation::start`]: crate::Generation::start
//! [`Engine::start`]: crate::Engine::start

use super::{
    engine::ListEngine,
    forcewake, fuses, gt_regs as gt_reg, poll,
    regs::{self, masked},
};
use crate::{
    generation::{BringUpError, ResetScope},
    io::{Hw, SleepWait},
    types::EngineClass,
};

const GDRST: poll::Named = poll::Named {
    offset: gt_reg::GDRST,
    name: "GDRST",
};
/// Microseconds that one takes: ten times what the digest has.
const RESET_MICROS: u32 = 20_000;
/// Microseconds until an engine is ready: ten times what the digest has.
const READY_MICROS: u32 = 7_000;
/// Microseconds until an engine's last message about sleep is through.
const IDLE_MICROS: u32 = 5_000;
/// Bits 13:9 of such a register, where its upper half says that they count.
const IDLE_PENDING: u32 = 0x3e00;

/// Whether an engine has such a message on its way.
const fn is_pending(value: u32) -> bool {
    value & (value >> 16) & IDLE_PENDING != 0
}

/// What a timeout does not change: it is reset all the same.
fn at_best(result: Result<u32, BringUpError>) -> Result<(), BringUpError> {
    match result {
        Ok(_) | Err(BringUpError::Timeout(_)) => Ok(()),
        Err(other) => Err(other),
    }
}

/// Stops an engine, and has it be ready.
fn prepare(engine: &ListEngine, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), BringUpError> {
    engine.halt_hung(hw, wait)?;
    let idle = poll::Named {
        offset: engine.idle,
        name: "MSG_IDLE",
    };
    let through = |v| !is_pending(v);
    at_best(poll::sleeping(hw.regs, wait, idle, IDLE_MICROS, &through))?;
    let ctl = engine.named(regs::RESET_CTL, "RESET_CTL");
    let now = engine.read(hw, regs::RESET_CTL);
    if now == u32::MAX {
        return Err(BringUpError::Gone);
    }
    let catastrophe = u32::from(regs::RESET_CATASTROPHE);
    if now & catastrophe != 0 {
        engine.write(hw, regs::RESET_CTL, masked(regs::RESET_CATASTROPHE, 0));
        let over = |v| v & catastrophe == 0;
        return at_best(poll::sleeping(hw.regs, wait, ctl, READY_MICROS, &over));
    }
    if now & regs::RESET_READY != 0 {
        return Ok(());
    }
    engine.write(hw, regs::RESET_CTL, masked(regs::RESET_REQUEST, 0));
    let ready = |v| v & regs::RESET_READY != 0;
    at_best(poll::sleeping(hw.regs, wait, ctl, READY_MICROS, &ready))
}

/// Resets what `scope` says, and keeps the device awake.
pub(super) fn reset(
    hw: &Hw<'_>,
    scope: ResetScope,
    wait: &dyn SleepWait,
) -> Result<(), BringUpError> {
    let bit = match scope {
        ResetScope::All => gt_reg::GDRST_FULL,
        ResetScope::Engine(n) => match fuses::numbered(hw).nth(n) {
            Some((_, e)) if e.class() == EngineClass::Copy => gt_reg::GDRST_BLITTER,
            Some(_) => return Err(BringUpError::Unsupported("engines that share a reset")),
            None => return Err(BringUpError::Unsupported("no such engine")),
        },
    };
    let these = || {
        fuses::numbered(hw).filter(move |(n, _)| match scope {
            ResetScope::All => true,
            ResetScope::Engine(one) => one == *n,
        })
    };
    for (_, engine) in these() {
        prepare(engine, hw, wait)?;
    }
    // Twice: units may come out of the first one before others that they talk to.
    for _ in 0..2 {
        hw.regs.write32(gt_reg::GDRST, bit);
        poll::sleeping(hw.regs, wait, GDRST, RESET_MICROS, &|v| v & bit == 0)?;
    }
    for (_, engine) in these() {
        engine.write(hw, regs::RESET_CTL, masked(0, regs::RESET_REQUEST));
    }
    forcewake::hold(hw, wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    fn device() -> Mock {
        let mock = Mock::default();
        for answer in [0x13_0044, 0x0d84] {
            mock.fix(answer, 1);
        }
        mock.fix(0x941c, 0);
        for base in [0x2000, 0x2_2000] {
            mock.fix(base + 0x9c, 0x200);
            mock.fix(base + 0xd0, 2);
            mock.script(base + 0xd0, &[0]);
        }
        mock
    }

    fn probed(mock: &Mock) -> Hw<'_> {
        Hw {
            card: 0b11,
            ..mock.hw()
        }
    }

    #[test]
    fn the_blitter_is_reset_in_the_order_of_5_6() {
        let mock = device();
        mock.script(0x941c, &[4, 0]);
        reset(&probed(&mock), ResetScope::Engine(1), &mock).unwrap();
        let (r, w) = (Access::R, Access::W);
        assert_eq!(
            mock.take(),
            [
                // Stop; messages through; request, ready.
                w(0x2_209c, 0x0100_0100),
                r(0x2_209c),
                r(0x800c),
                r(0x2_20d0),
                w(0x2_20d0, 0x0001_0001),
                r(0x2_20d0),
                // Twice; the bit clears itself.
                w(0x941c, 4),
                r(0x941c),
                r(0x941c),
                w(0x941c, 4),
                r(0x941c),
                w(0x2_20d0, 0x0001_0000),
                w(0xa188, 0x0001_0001),
                r(0x13_0044),
                w(0xa278, 0x0001_0001),
                r(0x0d84),
            ]
        );
    }

    #[test]
    fn a_full_reset_prepares_all_engines() {
        let mock = device();
        reset(&probed(&mock), ResetScope::All, &mock).unwrap();
        assert_eq!(mock.written(0x941c), [1, 1]);
        for base in [0x2000, 0x2_2000] {
            assert_eq!(mock.written(base + 0xd0), [0x0001_0001, 0x0001_0000]);
        }
    }

    #[test]
    fn a_catastrophe_is_taken_off_first() {
        let mock = device();
        mock.script(0x2_20d0, &[4, 4, 0]);
        reset(&probed(&mock), ResetScope::Engine(1), &mock).unwrap();
        assert_eq!(mock.written(0x2_20d0), [0x0004_0004, 0x0001_0000]);
    }

    #[test]
    fn messages_about_sleep_are_waited_for() {
        let mock = device();
        // Bits 13:9, where their masks are set.
        mock.script(0x800c, &[0x0200_0200, 0x0000_0200]);
        reset(&probed(&mock), ResetScope::Engine(1), &mock).unwrap();
        let looks = mock
            .take()
            .iter()
            .filter(|a| **a == Access::R(0x800c))
            .count();
        assert_eq!(looks, 2);
    }

    #[test]
    fn hung_engines_do_not_keep_it_from_resetting() {
        let mock = device();
        mock.fix(0x2_209c, 0);
        mock.fix(0x2_20d0, 0);
        mock.fix(0x800c, 0x0200_0200);
        reset(&probed(&mock), ResetScope::All, &mock).unwrap();
        assert_eq!(mock.written(0x941c), [1, 1]);
    }

    #[test]
    fn what_cannot_be_reset_is_named() {
        let mock = device();
        let engine = |n| reset(&probed(&mock), ResetScope::Engine(n), &mock);
        let shared = BringUpError::Unsupported("engines that share a reset");
        assert_eq!(engine(0), Err(shared));
        assert_eq!(engine(2), Err(BringUpError::Unsupported("no such engine")));
        mock.fix(0x941c, 1);
        let r = reset(&probed(&mock), ResetScope::All, &mock);
        assert_eq!(r, Err(BringUpError::Timeout("GDRST")));
        mock.gone.set(true);
        let r = reset(&probed(&mock), ResetScope::All, &mock);
        assert_eq!(r, Err(BringUpError::Gone));
    }
}
