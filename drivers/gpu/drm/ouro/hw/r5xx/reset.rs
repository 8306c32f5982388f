// SPDX-License-Identifier: GPL-2.0
//! Reset of the blocks (§4.8, digest §5.2 "engine reset").
//!
//! Table, surfaces and the card's memory survive it. The state of the 3D engine does not have to: each
//! batch begins with a known one.

use super::regs::{self, RbCntl};
use crate::{
    generation::BringUpError,
    io::{Hw, SleepWait},
    poll,
};

const STATUS: poll::Named = poll::Named {
    offset: regs::RBBM_STATUS,
    name: "RBBM_STATUS",
};
/// Blocks that are reset one after the other.
const STEPS: [u32; 3] = [
    regs::RESET_VAP | regs::RESET_GA,
    regs::RESET_CP,
    regs::RESET_MC,
];
/// Microseconds for which a block is held, and then left alone. The document gives none.
const SETTLE_MICROS: u32 = 10_000;
/// Microseconds until the units say that they are idle.
const IDLE_MICROS: u32 = 100_000;

/// Stops the command processor: both streams off (§4.8), the pointers equal, so that it fetches nothing
/// when they are on again.
pub(super) fn halt(hw: &Hw<'_>) {
    let r = hw.regs;
    r.write32(regs::CP_CSQ_CNTL, 0);
    r.write32(regs::CP_CSQ_MODE, 0);
    let control = RbCntl::from_bits(r.read32(regs::CP_RB_CNTL)).with_set_rptr(false);
    r.write32(regs::CP_RB_CNTL, control.with_set_rptr(true).into_bits());
    r.write32(regs::CP_RB_RPTR_WR, 0);
    r.write32(regs::CP_RB_WPTR, 0);
    r.write32(regs::CP_RB_CNTL, control.into_bits());
}

/// Resets, whatever it was doing.
pub(super) fn reset(hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), BringUpError> {
    if hw.regs.read32(regs::RBBM_STATUS) == u32::MAX {
        return Err(BringUpError::Gone);
    }
    halt(hw);
    for blocks in STEPS {
        hw.regs.write32_flush(regs::RBBM_SOFT_RESET, blocks);
        wait.pause(SETTLE_MICROS);
        hw.regs.write32_flush(regs::RBBM_SOFT_RESET, 0);
        wait.pause(SETTLE_MICROS);
    }
    let idle = |v| v & (regs::GA_BUSY | regs::VAP_BUSY) == 0;
    poll::sleeping(hw.regs, wait, STATUS, IDLE_MICROS, &idle).map(|_| ())
}

/// The same where anything is busy, at bring-up; else stops what may be running.
pub(super) fn if_busy(hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), BringUpError> {
    match hw.regs.read32(regs::RBBM_STATUS) {
        u32::MAX => Err(BringUpError::Gone),
        status if status & regs::GUI_ACTIVE != 0 => reset(hw, wait),
        _ => {
            halt(hw);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    #[test]
    fn blocks_are_reset_in_the_order_of_digest_5_2() {
        let mock = Mock::default();
        mock.script(0xe40, &[0x8410_0000, 0x8410_0000, 0x8000_0040]);
        mock.set(0x704, 0x0004_090f);
        reset(&mock.hw(), &mock).unwrap();
        let (r, w) = (Access::R, Access::W);
        let pause = Access::Pause(10_000);
        assert_eq!(
            mock.take(),
            [
                r(0xe40),
                // §4.8: streams off; pointers by the write enable, then off again.
                w(0x740, 0),
                w(0x744, 0),
                r(0x704),
                w(0x704, 0x8004_090f),
                w(0x71c, 0),
                w(0x714, 0),
                w(0x704, 0x0004_090f),
                // VAP and GA, CP, MC.
                w(0xf0, 0x2004),
                r(0xf0),
                pause,
                w(0xf0, 0),
                r(0xf0),
                pause,
                w(0xf0, 0x1),
                r(0xf0),
                pause,
                w(0xf0, 0),
                r(0xf0),
                pause,
                w(0xf0, 0x100),
                r(0xf0),
                pause,
                w(0xf0, 0),
                r(0xf0),
                pause,
                // Bits 26 and 20 count, bit 31 does not.
                r(0xe40),
                r(0xe40),
            ]
        );
    }

    #[test]
    fn a_reset_that_does_not_help_is_named() {
        for bit in [26, 20] {
            let mock = Mock::default();
            mock.fix(0xe40, 1 << bit);
            let r = reset(&mock.hw(), &mock);
            assert_eq!(r, Err(BringUpError::Timeout("RBBM_STATUS")));
        }
        let mock = Mock::default();
        mock.gone.set(true);
        assert_eq!(reset(&mock.hw(), &mock), Err(BringUpError::Gone));
        assert_eq!(if_busy(&mock.hw(), &mock), Err(BringUpError::Gone));
        assert!(!mock.take().iter().any(|a| matches!(a, Access::W(..))));
    }

    #[test]
    fn an_idle_card_is_only_stopped() {
        let mock = Mock::default();
        mock.set(0xe40, 0x40);
        if_busy(&mock.hw(), &mock).unwrap();
        assert_eq!(mock.written(0xf0), []);
        assert_eq!(mock.written(0x740), [0]);
        mock.script(0xe40, &[0x8000_0040]);
        if_busy(&mock.hw(), &mock).unwrap();
        assert_eq!(mock.written(0xf0), [0x2004, 0, 1, 0, 0x100, 0]);
    }
}
