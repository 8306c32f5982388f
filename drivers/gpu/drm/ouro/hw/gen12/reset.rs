// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Reset (digest §5.6).
//!
//! Each engine is stopped and asked to get ready, then the reset bits are set twice. Tables and
//! images are in memory, and survive; register contents do not (R4): [`Generation::start`] and
//! [`Engine::start`] set them again.
//!
//! [`Generation::start`]: crate::Generation::start
//! [`Engine::start`]: crate::Engine::start

use super::{
    engine::ListEngine,
    forcewake, fuses, gt_regs as gt_reg, poll,
    regs::{self, masked},
};
use crate::{
    generation::{DeviceError, ResetScope},
    io::{Hw, SleepWait},
    types::{EngineClass, EngineId},
};

const GDRST: poll::Named = poll::Named {
    offset: gt_reg::GDRST,
    name: "GDRST",
};
const WELLS: poll::Named = poll::Named {
    offset: gt_reg::WELL_STATUS,
    name: "PWRGT_DOMAIN_STATUS",
};
/// Microseconds of a reset: ten times the digest's value.
const RESET_MICROS: u32 = 20_000;
/// Microseconds after a reset during which registers still change: upstream's
/// (`gen6_hw_domain_reset`).
const SETTLE_MICROS: u32 = 50;
/// Microseconds until an engine is ready: ten times the digest's value.
const READY_MICROS: u32 = 7_000;
/// Microseconds until domains requested by an engine's commands are awake: ten times upstream's
/// value.
const WELL_MICROS: u32 = 50_000;

/// Returns the forcewake domains that an engine's commands have requested and that are not
/// acknowledged yet, by their bits in [`gt_reg::WELL_STATUS`]: bits 13:9 of its register, if the
/// upper half has their masks set.
const fn asked(value: u32) -> u32 {
    (value & (value >> 16)) >> 9 & 0x1f
}

/// A timeout is ignored: the engine is reset anyway.
fn at_best(result: Result<u32, DeviceError>) -> Result<(), DeviceError> {
    match result {
        Ok(_) | Err(DeviceError::Timeout(_)) => Ok(()),
        Err(other) => Err(other),
    }
}

/// Stops an engine, and makes it ready for the reset.
fn prepare(engine: &ListEngine, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
    engine.halt_hung(hw, wait)?;
    // Workaround 22011802037: a wake-up by a command must not be under way.
    let wells = asked(hw.regs.read32(engine.idle));
    if wells != 0 {
        wait.pause(1);
        let awake = |v| v & wells == wells;
        at_best(poll::sleeping(hw.regs, wait, WELLS, WELL_MICROS, &awake))?;
        wait.pause(1);
    }
    let ctl = engine.named(regs::RESET_CTL, "RESET_CTL");
    let now = engine.read(hw, regs::RESET_CTL);
    if now == u32::MAX {
        return Err(DeviceError::Gone);
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

/// Returns the reset bits of an engine. The media engines of a half of the card share a scaler.
/// Resetting one of them alone needs a handshake with the scaler, whose registers the digest lacks;
/// so all that use it are reset together (digest §5.6).
fn domain(engine: &ListEngine) -> u32 {
    let EngineId { class, instance } = engine.desc.id;
    let nth = |first: u32, n: u8| first.wrapping_shl(n.into());
    match class {
        EngineClass::Render | EngineClass::Compute => gt_reg::GDRST_RENDER,
        EngineClass::Copy => gt_reg::GDRST_BLITTER,
        EngineClass::Video => {
            nth(gt_reg::GDRST_VIDEO, instance) | nth(gt_reg::GDRST_SCALER, instance / 2)
        }
        EngineClass::VideoEnhance => {
            nth(gt_reg::GDRST_ENHANCE, instance) | nth(gt_reg::GDRST_SCALER, instance)
        }
    }
}

/// Sets reset bits, and waits until they have cleared themselves and the registers are settled.
fn set_bits(hw: &Hw<'_>, bits: u32, wait: &dyn SleepWait) -> Result<u32, DeviceError> {
    // Twice: some units may leave the first reset before others that they communicate with.
    let once = || {
        hw.regs.write32(GDRST.offset, bits);
        poll::sleeping(hw.regs, wait, GDRST, RESET_MICROS, &|v| v & bits == 0)
    };
    let done = once().and_then(|_| once());
    wait.pause(SETTLE_MICROS);
    done
}

/// Resets the engines of `scope`, and keeps forcewake.
pub(super) fn reset(
    hw: &Hw<'_>,
    scope: ResetScope,
    wait: &dyn SleepWait,
) -> Result<(), DeviceError> {
    let group = match scope {
        ResetScope::All => None,
        ResetScope::Engine(n) => match fuses::numbered(hw).nth(n) {
            Some((_, e)) => e.desc.reset_group,
            None => return Err(DeviceError::Unsupported("no such engine")),
        },
    };
    let these =
        || fuses::numbered(hw).filter(move |(_, e)| group.is_none() || e.desc.reset_group == group);
    let engines = these().fold(0, |bits, (_, e)| bits | domain(e));
    for (_, engine) in these() {
        prepare(engine, hw, wait)?;
    }
    match group {
        Some(_) => {
            set_bits(hw, engines, wait)?;
        }
        None => {
            // Workaround 22011100796: the engines first, as well as it goes.
            at_best(set_bits(hw, engines, wait))?;
            set_bits(hw, gt_reg::GDRST_FULL, wait)?;
        }
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
                // Stop, and fetch nothing; no unit asked for; request, ready.
                w(0x2_209c, 0x0100_0100),
                w(0x2_229c, 0x0400_0400),
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
                // Upstream's gen6_hw_domain_reset: 50 us until the registers are settled.
                Access::Pause(50),
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
        // Workaround 22011100796: render and blitter, then all.
        assert_eq!(mock.written(0x941c), [6, 6, 1, 1]);
        for base in [0x2000, 0x2_2000] {
            assert_eq!(mock.written(base + 0xd0), [0x0001_0001, 0x0001_0000]);
        }
        let log = mock.take();
        let settled = |bits| {
            let last = log.iter().rposition(|a| *a == Access::W(0x941c, bits));
            log[last.unwrap()..][1..3] == [Access::R(0x941c), Access::Pause(50)]
        };
        assert!(settled(6) && settled(1));
    }

    #[test]
    fn engines_go_with_those_that_share_something() {
        // Render 0, blitter 1, compute 2, video 3 and 4, enhancers 5 and 6: bits of GDRST by digest
        // §3.3 row 10.
        let media = |scaler: u32, video: u32, enhance: u32| 1 << scaler | 1 << video | 1 << enhance;
        for (n, bits, bases) in [
            (0, 2, [0x2000, 0x1_a000]),
            (2, 2, [0x2000, 0x1_a000]),
            (3, media(17, 5, 13), [0x1c_0000, 0x1c_8000]),
            (4, media(18, 7, 14), [0x1d_0000, 0x1d_8000]),
            (5, media(17, 5, 13), [0x1c_0000, 0x1c_8000]),
            (6, media(18, 7, 14), [0x1d_0000, 0x1d_8000]),
        ] {
            let mock = device();
            for base in bases {
                mock.fix(base + 0x9c, 0x200);
                mock.fix(base + 0xd0, 2);
                mock.script(base + 0xd0, &[0]);
            }
            for answer in [0x0d50, 0x0d58, 0x0d70, 0x0d74] {
                mock.fix(answer, 1);
            }
            let hw = Hw {
                card: 0b11_1100_0111,
                ..mock.hw()
            };
            reset(&hw, ResetScope::Engine(n), &mock).unwrap();
            assert_eq!(mock.written(0x941c), [bits, bits], "{n}");
            let asked: std::vec::Vec<_> =
                [0x2000, 0x2_2000, 0x1_a000, 0x1c_0000, 0x1d_0000, 0x1c_8000]
                    .into_iter()
                    .chain([0x1d_8000])
                    .filter(|base| !mock.written(base + 0xd0).is_empty())
                    .collect();
            assert_eq!(asked, bases, "{n}");
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
    fn units_that_commands_have_asked_for_are_waited_for() {
        let mock = device();
        // Bits 13:9, where their masks are set: 9 and 11; 10 does not count.
        mock.set(0x800c, 0x0a00_0e00);
        // As bits 0 and 2.
        mock.script(0xa2a0, &[0b010, 0b011, 0b101]);
        reset(&probed(&mock), ResetScope::Engine(1), &mock).unwrap();
        let (r, pause) = (Access::R, Access::Pause(1));
        let log = mock.take();
        let at = log.iter().position(|a| *a == r(0x800c)).unwrap();
        assert_eq!(
            log[at + 1..at + 6],
            [pause, r(0xa2a0), r(0xa2a0), r(0xa2a0), pause]
        );
    }

    #[test]
    fn hung_engines_do_not_keep_it_from_resetting() {
        let mock = device();
        mock.fix(0x2_209c, 0);
        mock.fix(0x2_20d0, 0);
        mock.fix(0x800c, 0x0200_0200);
        reset(&probed(&mock), ResetScope::All, &mock).unwrap();
        assert_eq!(mock.written(0x941c), [6, 6, 1, 1]);
        // Nor do engines that cannot be reset by their own bits.
        mock.fix(0x941c, 6);
        reset(&probed(&mock), ResetScope::All, &mock).unwrap();
        assert_eq!(mock.written(0x941c)[..1], [6]);
    }

    #[test]
    fn what_cannot_be_reset_is_named() {
        let mock = device();
        let engine = |n| reset(&probed(&mock), ResetScope::Engine(n), &mock);
        assert_eq!(engine(2), Err(DeviceError::Unsupported("no such engine")));
        mock.fix(0x941c, 1);
        let r = reset(&probed(&mock), ResetScope::All, &mock);
        assert_eq!(r, Err(DeviceError::Timeout("GDRST")));
        mock.gone.set(true);
        let r = reset(&probed(&mock), ResetScope::All, &mock);
        assert_eq!(r, Err(DeviceError::Gone));
    }
}
