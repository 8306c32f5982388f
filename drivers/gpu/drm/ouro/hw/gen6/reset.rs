// SPDX-License-Identifier: GPL-2.0
//! Reset (G-24, G-25).
//!
//! Fences and the tables survive it, cached translations too: starting an engine drops those
//! (SNB PRM V1P2 §5.9, VCS digest trap 3).

use super::{engine::RINGS, forcewake, gt_regs as gt_reg, poll, submit::reset_bit, translation};
use crate::{
    generation::{BringUpError, ResetScope},
    io::{Hw, SleepWait},
};

const GDRST: poll::Named = poll::Named {
    offset: gt_reg::GDRST,
    name: "GDRST",
};
/// Microseconds that one takes (G-24).
const RESET_MICROS: u32 = 2_000;
/// Microseconds to leave it alone afterwards (G-24).
const SETTLE_MICROS: u32 = 50;

/// Resets what `scope` says, and keeps the device awake.
pub(super) fn reset(
    hw: &Hw<'_>,
    scope: ResetScope,
    wait: &dyn SleepWait,
) -> Result<(), BringUpError> {
    let bit = match scope {
        ResetScope::All => {
            for engine in RINGS {
                engine.halt_hung(hw, wait)?;
            }
            gt_reg::GDRST_FULL
        }
        ResetScope::Engine(n) => {
            let engine = RINGS
                .get(n)
                .ok_or(BringUpError::Unsupported("no such engine"))?;
            engine.halt_hung(hw, wait)?;
            reset_bit(engine.kind)
        }
    };
    // The mode of all engines' translation is lost with the render engine's block: the others must
    // not run without it until that is started again.
    let mode = hw.regs.read32(gt_reg::GFX_MODE);
    // Twice: the first one may be lost on the way into power saving (G-24).
    for _ in 0..2 {
        hw.regs.write32(gt_reg::GDRST, bit);
        poll::sleeping(hw.regs, wait, GDRST, RESET_MICROS, &|v| v & bit == 0)?;
    }
    if scope != ResetScope::All {
        translation::mode(hw, mode & u32::from(gt_reg::GFX_MODE_PPGTT) != 0);
    }
    wait.pause(SETTLE_MICROS);
    forcewake::hold(hw, wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    fn device() -> Mock {
        let mock = Mock::default();
        mock.set(0x12_0008, 0x40);
        mock.fix(0x13_0090, 1);
        mock.fix(0x941c, 0);
        for base in [0x2000, 0x1_2000, 0x2_2000] {
            mock.fix(base + 0x9c, 0x200);
        }
        mock
    }

    #[test]
    fn a_full_reset_stops_all_and_is_done_twice() {
        let mock = device();
        mock.script(0x941c, &[1, 0]);
        reset(&mock.hw(), ResetScope::All, &mock).unwrap();
        for base in [0x2000, 0x1_2000, 0x2_2000] {
            assert_eq!(mock.written(base + 0x9c), [0x0100_0100]);
            assert_eq!(mock.written(base + 0x3c), [0]);
        }
        let log = mock.take();
        assert_eq!(
            log[log.len() - 10..],
            [
                Access::W(0x941c, 1),
                Access::R(0x941c),
                Access::R(0x941c),
                Access::W(0x941c, 1),
                Access::R(0x941c),
                Access::Pause(50),
                Access::W(0xa18c, 0x0001_0001),
                Access::R(0x13_0090),
                Access::R(0x13_805c),
                Access::R(0x12_0000),
            ]
        );
    }

    #[test]
    fn one_engine_is_reset_by_its_bit() {
        // G-24: 1 render, 2 media, 3 blitter; the topology counts render, blitter, video.
        for (engine, bit, base) in [(0, 2, 0x2000), (1, 8, 0x2_2000), (2, 4, 0x1_2000)] {
            let mock = device();
            mock.set(0x2520, 0x2200);
            reset(&mock.hw(), ResetScope::Engine(engine), &mock).unwrap();
            assert_eq!(mock.written(0x941c), [bit, bit]);
            // G-19: the mode is what it was.
            assert_eq!(mock.written(0x2520), [0x2200_2200]);
            for other in [0x2000, 0x1_2000, 0x2_2000] {
                let stops = usize::from(other == base);
                assert_eq!(mock.written(other + 0x9c).len(), stops);
            }
        }
    }

    #[test]
    fn hung_engines_do_not_keep_it_from_resetting() {
        let mock = device();
        mock.fix(0x2_209c, 0);
        reset(&mock.hw(), ResetScope::All, &mock).unwrap();
        assert_eq!(mock.written(0x941c), [1, 1]);
    }

    #[test]
    fn a_reset_that_does_not_end_is_named() {
        let mock = device();
        mock.fix(0x941c, 1);
        let r = reset(&mock.hw(), ResetScope::All, &mock);
        assert_eq!(r, Err(BringUpError::Timeout("GDRST")));
        let r = reset(&mock.hw(), ResetScope::Engine(3), &mock);
        assert_eq!(r, Err(BringUpError::Unsupported("no such engine")));
        mock.gone.set(true);
        let r = reset(&mock.hw(), ResetScope::All, &mock);
        assert_eq!(r, Err(BringUpError::Gone));
    }
}
