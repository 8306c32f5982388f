// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Reset (G-24, G-25) of all engines, or of one engine if the chip can.
//!
//! The register has a bit for each engine. No driver is known to use them on Gen6: the upstream
//! driver resets single engines from Gen7 on (UW46), and on Gen6 the render engine's registers
//! include the PPGTT mode of all engines. Fences, GGTT and PPGTT survive a reset, and so do the
//! TLBs: starting an engine invalidates those (SNB PRM V1P2 §5.9, VCS digest trap 3).

use super::{engine::RingEngine, forcewake, RingChip};
use crate::{
    generation::DeviceError,
    io::{Hw, SleepWait},
    poll,
};

/// A register that resets engines.
pub(crate) struct Reset {
    /// The register.
    pub(crate) register: poll::Named,
    /// The bits that reset all engines.
    pub(crate) all: u32,
}

/// Timeout in microseconds of a reset (G-24).
const RESET_MICROS: u32 = 2_000;
/// Delay in microseconds after a reset (G-24).
const SETTLE_MICROS: u32 = 50;

/// Returns the reset register, if the chip has one.
fn register(chip: &RingChip) -> Result<&Reset, DeviceError> {
    let none = DeviceError::Unsupported("GPU reset");
    chip.reset.as_ref().ok_or(none)
}

/// Resets the domains in `bits`, whose engines are halted, and keeps the device awake.
fn domains(
    chip: &RingChip,
    hw: &Hw<'_>,
    register: poll::Named,
    bits: u32,
    wait: &dyn SleepWait,
) -> Result<(), DeviceError> {
    let done = |v| v & bits == 0;
    // The reset is repeated: the first one may be lost on the way into power saving (G-24), or end
    // too early (UW15).
    for _ in 0..2 {
        hw.regs.write32(register.offset, bits);
        poll::sleeping(hw.regs, wait, register, RESET_MICROS, &done)?;
    }
    wait.pause(SETTLE_MICROS);
    forcewake::hold(chip, hw, wait)
}

/// Resets all engines, and keeps the device awake.
pub(crate) fn reset(chip: &RingChip, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
    let reset = register(chip)?;
    for engine in chip.engines {
        engine.halt_hung(hw, wait)?;
    }
    domains(chip, hw, reset.register, reset.all, wait)
}

/// Resets one engine while others work, and keeps the device awake.
///
/// Errors: [`DeviceError::Unsupported`] if the chip cannot reset this engine alone.
pub(crate) fn alone(
    engine: &RingEngine,
    hw: &Hw<'_>,
    wait: &dyn SleepWait,
) -> Result<(), DeviceError> {
    let bit = engine
        .reset
        .ok_or(DeviceError::Unsupported("reset of a single engine"))?;
    let reset = register(engine.chip)?;
    engine.halt_hung(hw, wait)?;
    domains(engine.chip, hw, reset.register, bit, wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen6::CHIP,
        mock::{Access, Mock},
    };

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
        reset(&CHIP, &mock.hw(), &mock).unwrap();
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
    fn hung_engines_do_not_keep_it_from_resetting() {
        let mock = device();
        mock.fix(0x2_209c, 0);
        reset(&CHIP, &mock.hw(), &mock).unwrap();
        assert_eq!(mock.written(0x941c), [1, 1]);
    }

    #[test]
    fn a_reset_that_does_not_end_is_named() {
        let mock = device();
        mock.fix(0x941c, 1);
        let r = reset(&CHIP, &mock.hw(), &mock);
        assert_eq!(r, Err(DeviceError::Timeout("GDRST")));
        mock.gone.set(true);
        let r = reset(&CHIP, &mock.hw(), &mock);
        assert_eq!(r, Err(DeviceError::Gone));
    }
}
