// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Reset of the blocks (§4.8, digest §5.2 "engine reset").
//!
//! The vertex and setup units and the command processor are reset first, and if an engine is busy
//! after that, as it may be with a pixel shader that does not end, the other units of both engines.
//! The memory controller is reset only if that was not enough: the reset may lose the memory map,
//! and accesses of the CPU to VRAM are lost meanwhile. After a reset the caller starts the card
//! again, which sets up all blocks and checks the GART's entries.
//!
//! Bus mastering is off during a reset and until the card is started again: with it on, a reset of
//! the command processor has stopped the whole machine (digest §5.2).

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

/// Blocks that are reset one after the other, and their busy bits in [`regs::RBBM_STATUS`].
const UNITS: [(u32, u32); 2] = [
    (
        regs::RESET_VAP | regs::RESET_GA,
        regs::VAP_BUSY | regs::GA_BUSY,
    ),
    (regs::RESET_CP, regs::CP_STREAM_BUSY),
];
/// Units that are reset if an engine is busy after those.
const PIXELS: (u32, u32) = (regs::RESET_PIXELS, regs::PIXELS_BUSY);
/// Units of which radeon and radeonhd say that a reset has failed if they are busy; and the command
/// processor, which must be idle after its reset, too.
const RESET_ALWAYS: u32 = regs::GA_BUSY | regs::VAP_BUSY | regs::CP_STREAM_BUSY;
/// Microseconds for which a block is held in reset at least, and is then left alone.
const SETTLE_MICROS: u32 = 10_000;
/// Most microseconds for which a block that stays busy is held in reset. The document has no value;
/// radeon and radeonhd hold each block so long (digest §5.2).
const HOLD_MICROS: u32 = 500_000;
/// Microseconds after which posted writes have reached memory, when bus mastering is off.
const BUS_MICROS: u32 = 1_000;

/// Stops the command processor: disables both streams (§4.8), and sets the pointers equal, so that
/// it fetches nothing when the streams are enabled again.
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

/// Stops the command processor, and turns bus mastering off.
fn cut_off(hw: &Hw<'_>, wait: &dyn SleepWait) {
    halt(hw);
    hw.platform.set_master(false);
    wait.pause(BUS_MICROS);
}

/// Holds blocks in reset while they are busy, up to a limit, and then takes them out of reset.
fn pulse(hw: &Hw<'_>, wait: &dyn SleepWait, blocks: u32, busy: u32) -> Result<(), DeviceError> {
    hw.regs.write32_flush(regs::RBBM_SOFT_RESET, blocks);
    wait.pause(SETTLE_MICROS);
    let held = poll::sleeping(hw.regs, wait, idle::STATUS, HOLD_MICROS, &|v| v & busy == 0);
    hw.regs.write32_flush(regs::RBBM_SOFT_RESET, 0);
    wait.pause(SETTLE_MICROS);
    match held {
        Err(DeviceError::Gone) => Err(DeviceError::Gone),
        // Only the state after the last step decides.
        _ => Ok(()),
    }
}

/// Resets the card from any state. Leaves bus mastering off. Fails if an engine stays busy: the
/// next request would wait for it, and its client would be taken for the cause.
pub(super) fn reset(
    controller: &Controller,
    hw: &Hw<'_>,
    wait: &dyn SleepWait,
) -> Result<(), DeviceError> {
    reset_until(controller, hw, wait, RESET_ALWAYS | regs::GUI_ACTIVE)
}

/// Resets the card; fails if one of these bits of [`regs::RBBM_STATUS`] stays set.
fn reset_until(
    controller: &Controller,
    hw: &Hw<'_>,
    wait: &dyn SleepWait,
    busy: u32,
) -> Result<(), DeviceError> {
    if hw.regs.read32(regs::RBBM_STATUS) == u32::MAX {
        return Err(DeviceError::Gone);
    }
    cut_off(hw, wait);
    for (blocks, busy) in UNITS {
        pulse(hw, wait, blocks, busy)?;
    }
    let engines_are_idle = || hw.regs.read32(regs::RBBM_STATUS) & regs::GUI_ACTIVE == 0;
    let mut are_idle = engines_are_idle();
    if !are_idle {
        pulse(hw, wait, PIXELS.0, PIXELS.1)?;
        are_idle = engines_are_idle();
    }
    if are_idle && memory::is_idle(controller, hw) {
        return Ok(());
    }
    // The chip does not report when this reset is done.
    hw.regs.write32_flush(regs::RBBM_SOFT_RESET, regs::RESET_MC);
    wait.pause(HOLD_MICROS);
    hw.regs.write32_flush(regs::RBBM_SOFT_RESET, 0);
    wait.pause(SETTLE_MICROS);
    let idle = |v| v & busy == 0;
    poll::sleeping(hw.regs, wait, idle::STATUS, HOLD_MICROS, &idle).map(|_| ())
}

/// Resets if any unit is busy; otherwise stops the command processor, and turns bus mastering off.
/// This is part of the bring-up, of which a later step may end what keeps a unit busy: see
/// [`idle`].
pub(super) fn if_busy(
    controller: &Controller,
    hw: &Hw<'_>,
    wait: &dyn SleepWait,
) -> Result<(), DeviceError> {
    match hw.regs.read32(regs::RBBM_STATUS) {
        u32::MAX => Err(DeviceError::Gone),
        status if status & regs::GUI_ACTIVE != 0 => reset_until(controller, hw, wait, RESET_ALWAYS),
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

    /// Returns the log without the accesses of an index and its data.
    fn log(mock: &Mock) -> Vec<Access> {
        let mc = |a: &Access| !matches!(a, Access::R(0x70 | 0x74) | Access::W(0x70 | 0x74, _));
        mock.take().into_iter().filter(mc).collect()
    }

    /// §4.8: streams off; pointers under the write enable, then the write enable off. Then bus
    /// mastering.
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

    /// Blocks are held in reset; then RBBM_STATUS is read until they leave reset.
    fn held(blocks: u32, micros: u32, looks: usize) -> Vec<Access> {
        let (r, w) = (Access::R, Access::W);
        let mut log = std::vec![w(0xf0, blocks), r(0xf0), Access::Pause(micros)];
        log.extend(std::iter::repeat_n(r(0xe40), looks));
        log.extend([w(0xf0, 0), r(0xf0), Access::Pause(10_000)]);
        log
    }

    /// A card with an idle memory controller: RV515, bit 4 of register 8.
    fn card() -> Mock {
        let mock = Mock::default();
        mock.set(0x704, 0x0004_090f);
        mock.fix(0x74, 0x10);
        mock
    }

    #[test]
    fn units_are_reset_before_the_command_processor_without_the_bus() {
        let mock = card();
        // Bits 26 and 20 belong to the first step, 16 to the second. Bit 31 is clear in the end.
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

    /// Bits 21 to 25 of RBBM_STATUS are RE, TAM, TDM, PB and TIM, 17 to 19 E2, RB2D and RB3D
    /// (digest §3.2); bits 3 to 6 of RBBM_SOFT_RESET are RE, PP, E2 and RB.
    #[test]
    fn other_units_are_reset_if_they_are_busy_after_that() {
        for bit in [17, 18, 19, 21, 22, 23, 24, 25] {
            let mock = card();
            let busy = 1 << 31 | 1 << bit | 0x40;
            // The first look, one for each of both steps, one behind them; held until it is idle.
            mock.script(0xe40, &[busy, busy, busy, busy, busy, busy, 0x40, 0x40]);
            reset(&memory::RV515, &mock.hw(), &mock).unwrap();
            let expected = [
                std::vec![Access::R(0xe40)],
                stopped(),
                held(0x2004, 10_000, 1),
                held(0x1, 10_000, 1),
                std::vec![Access::R(0xe40)],
                held(0x78, 10_000, 3),
                std::vec![Access::R(0xe40)],
            ];
            assert_eq!(log(&mock), expected.concat(), "{bit}");
        }
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
            let result = reset(&memory::RV515, &mock.hw(), &mock);
            // With an engine that stays busy the next request would hang as well.
            assert_eq!(result.is_err(), status != 0x40);
            let log = log(&mock);
            let last = held(0x100, 500_000, 0);
            let found = log.windows(last.len()).any(|w| w == last);
            assert_eq!(found, resets, "{status:x}");
        }
    }

    #[test]
    fn a_reset_that_does_not_help_is_named() {
        for bit in [26, 25, 20, 19, 17, 16] {
            let mock = card();
            mock.fix(0xe40, 1 << bit | 1 << 31);
            let r = reset(&memory::RV515, &mock.hw(), &mock);
            assert_eq!(r, Err(DeviceError::Timeout("RBBM_STATUS")));
            // The bring-up goes on with the other units.
            let r = if_busy(&memory::RV515, &mock.hw(), &mock);
            assert_eq!(r.is_err(), [26, 20, 16].contains(&bit), "{bit}");
            // Bus mastering stays off.
            assert!(!mock.take().contains(&Access::Master(true)));
        }
        let mock = Mock::default();
        mock.gone.set(true);
        let gone = Err(DeviceError::Gone);
        assert_eq!(reset(&memory::RV515, &mock.hw(), &mock), gone);
        assert_eq!(if_busy(&memory::RV515, &mock.hw(), &mock), gone);
        assert!(!mock.take().iter().any(|a| matches!(a, Access::W(..))));
        // The card goes away while a block is held.
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
