// SPDX-License-Identifier: GPL-2.0
//! Reset of the blocks (§4.8, digest §5.2 "engine reset").
//!
//! The units first, and the command processor; the memory controller only when that was not enough: it may
//! forget where memory is, and what the CPU reads and writes there meanwhile goes nowhere. Whoever resets
//! starts the card again, which tells all blocks anew and looks whether the table is still there.
//!
//! The card is not master of the bus meanwhile, nor until it is started again: others have seen the whole
//! machine stop when the command processor was reset (digest §5.2).

use super::{
    idle,
    memory::{self, Controller},
    regs::{self, RbCntl},
};
use crate::{
    generation::DeviceError,
    io::{Hw, SleepWait},
    poll,
};

/// Blocks that are reset one after the other, and what of [`regs::RBBM_STATUS`] says that they are busy.
const UNITS: [(u32, u32); 2] = [
    (
        regs::RESET_VAP | regs::RESET_GA,
        regs::VAP_BUSY | regs::GA_BUSY,
    ),
    (regs::RESET_CP, regs::CP_STREAM_BUSY),
];
/// Microseconds for which a block is held at least, and then left alone.
const SETTLE_MICROS: u32 = 10_000;
/// Microseconds for which one is held that stays busy; the document gives none, and the others hold each
/// for so long (digest §5.2).
const HOLD_MICROS: u32 = 500_000;
/// Microseconds until what is on its way to memory is there, when the bus is gone.
const BUS_MICROS: u32 = 1_000;

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

/// Stops it, and takes the bus from it.
fn cut_off(hw: &Hw<'_>, wait: &dyn SleepWait) {
    halt(hw);
    hw.platform.set_master(false);
    wait.pause(BUS_MICROS);
}

/// Holds blocks as long as they are busy, but not for ever, and lets them go.
fn pulse(hw: &Hw<'_>, wait: &dyn SleepWait, blocks: u32, busy: u32) -> Result<(), DeviceError> {
    hw.regs.write32_flush(regs::RBBM_SOFT_RESET, blocks);
    wait.pause(SETTLE_MICROS);
    let held = poll::sleeping(hw.regs, wait, idle::STATUS, HOLD_MICROS, &|v| v & busy == 0);
    hw.regs.write32_flush(regs::RBBM_SOFT_RESET, 0);
    wait.pause(SETTLE_MICROS);
    match held {
        Err(DeviceError::Gone) => Err(DeviceError::Gone),
        // What counts is whether it works in the end.
        _ => Ok(()),
    }
}

/// Resets, whatever it was doing. It is no master of the bus any more.
pub(super) fn reset(
    controller: &Controller,
    hw: &Hw<'_>,
    wait: &dyn SleepWait,
) -> Result<(), DeviceError> {
    if hw.regs.read32(regs::RBBM_STATUS) == u32::MAX {
        return Err(DeviceError::Gone);
    }
    cut_off(hw, wait);
    for (blocks, busy) in UNITS {
        pulse(hw, wait, blocks, busy)?;
    }
    let status = hw.regs.read32(regs::RBBM_STATUS);
    if status & regs::GUI_ACTIVE == 0 && memory::is_idle(controller, hw) {
        return Ok(());
    }
    // Nothing says when this one is done.
    hw.regs.write32_flush(regs::RBBM_SOFT_RESET, regs::RESET_MC);
    wait.pause(HOLD_MICROS);
    hw.regs.write32_flush(regs::RBBM_SOFT_RESET, 0);
    wait.pause(SETTLE_MICROS);
    // Others look at the first two alone; but who was reset does not fetch.
    let idle = |v| v & (regs::GA_BUSY | regs::VAP_BUSY | regs::CP_STREAM_BUSY) == 0;
    poll::sleeping(hw.regs, wait, idle::STATUS, HOLD_MICROS, &idle).map(|_| ())
}

/// The same where anything is busy; else stops what may be running, and takes the bus from it.
pub(super) fn if_busy(
    controller: &Controller,
    hw: &Hw<'_>,
    wait: &dyn SleepWait,
) -> Result<(), DeviceError> {
    match hw.regs.read32(regs::RBBM_STATUS) {
        u32::MAX => Err(DeviceError::Gone),
        status if status & regs::GUI_ACTIVE != 0 => reset(controller, hw, wait),
        _ => {
            cut_off(hw, wait);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};
    use std::vec::Vec;

    /// Of the log, without what an index and its data need.
    fn log(mock: &Mock) -> Vec<Access> {
        let mc = |a: &Access| !matches!(a, Access::R(0x70 | 0x74) | Access::W(0x70 | 0x74, _));
        mock.take().into_iter().filter(mc).collect()
    }

    /// §4.8: streams off; pointers by the write enable, then off again. Then the bus.
    fn stopped() -> Vec<Access> {
        let (r, w) = (Access::R, Access::W);
        std::vec![
            w(0x740, 0),
            w(0x744, 0),
            r(0x704),
            w(0x704, 0x8004_090f),
            w(0x71c, 0),
            w(0x714, 0),
            w(0x704, 0x0004_090f),
            Access::Master(false),
            Access::Pause(1_000),
        ]
    }

    /// Blocks are held; then the reads of RBBM_STATUS until they are let go.
    fn held(blocks: u32, micros: u32, looks: usize) -> Vec<Access> {
        let (r, w) = (Access::R, Access::W);
        let mut log = std::vec![w(0xf0, blocks), r(0xf0), Access::Pause(micros)];
        log.extend(std::iter::repeat_n(r(0xe40), looks));
        log.extend([w(0xf0, 0), r(0xf0), Access::Pause(10_000)]);
        log
    }

    /// One with an idle memory controller: RV515, bit 4 of register 8.
    fn card() -> Mock {
        let mock = Mock::default();
        mock.set(0x704, 0x0004_090f);
        mock.fix(0x74, 0x10);
        mock
    }

    #[test]
    fn units_are_reset_before_the_command_processor_without_the_bus() {
        let mock = card();
        // Bits 26 and 20 are of the first step, 16 is of the second. Bit 31 is gone in the end.
        mock.script(
            0xe40,
            &[
                0x8411_0000,
                0x8411_0000,
                0x8001_0000,
                0x8001_0000,
                0x8000_0040,
                0x40,
            ],
        );
        reset(&memory::RV515, &mock.hw(), &mock).unwrap();
        let expected = [
            std::vec![Access::R(0xe40)],
            stopped(),
            // VAP and GA, CP.
            held(0x2004, 10_000, 2),
            held(0x1, 10_000, 2),
            std::vec![Access::R(0xe40)],
        ];
        assert_eq!(log(&mock), expected.concat());
    }

    #[test]
    fn the_memory_controller_is_reset_when_that_was_not_enough() {
        // An engine stays busy; or the controller does, and is left alone if it is idle.
        for (status, controller, resets) in [
            (0x8000_0040, 0x10, true),
            (0x40, 0, true),
            (0x40, 0x10, false),
        ] {
            let mock = card();
            mock.fix(0x74, controller);
            mock.fix(0xe40, status);
            reset(&memory::RV515, &mock.hw(), &mock).unwrap();
            let log = log(&mock);
            let last = held(0x100, 500_000, 0);
            let found = log.windows(last.len()).any(|w| w == last);
            assert_eq!(found, resets, "{status:x}");
        }
    }

    #[test]
    fn a_reset_that_does_not_help_is_named() {
        for bit in [26, 20, 16] {
            let mock = card();
            mock.fix(0xe40, 1 << bit | 1 << 31);
            let r = reset(&memory::RV515, &mock.hw(), &mock);
            assert_eq!(r, Err(DeviceError::Timeout("RBBM_STATUS")));
            // It does not get the bus back.
            assert!(!mock.take().contains(&Access::Master(true)));
        }
        let mock = Mock::default();
        mock.gone.set(true);
        let gone = Err(DeviceError::Gone);
        assert_eq!(reset(&memory::RV515, &mock.hw(), &mock), gone);
        assert_eq!(if_busy(&memory::RV515, &mock.hw(), &mock), gone);
        assert!(!mock.take().iter().any(|a| matches!(a, Access::W(..))));
        // It goes while it is held.
        let mock = card();
        mock.script(0xe40, &[0x8000_0040, u32::MAX]);
        assert_eq!(reset(&memory::RV515, &mock.hw(), &mock), gone);
    }

    #[test]
    fn an_idle_card_is_only_stopped() {
        let mock = card();
        mock.set(0xe40, 0x40);
        if_busy(&memory::RV515, &mock.hw(), &mock).unwrap();
        let expected = [std::vec![Access::R(0xe40)], stopped()];
        assert_eq!(log(&mock), expected.concat());
        mock.script(0xe40, &[0x8000_0040]);
        if_busy(&memory::RV515, &mock.hw(), &mock).unwrap();
        assert_eq!(mock.written(0xf0), [0x2004, 0, 1, 0]);
    }
}
