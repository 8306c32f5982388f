// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The power controller's processor (pcode), which must have initialized the device (digest §5.9).

use super::{gt_regs as gt_reg, poll};
use crate::{
    generation::DeviceError,
    io::{Hw, SleepWait},
};

const MAILBOX: poll::Named = poll::Named {
    offset: gt_reg::PCODE_MAILBOX,
    name: "PCODE_MAILBOX",
};
/// The command that reads the initialization status: parameter 0, and bit 31 to run it.
const STATUS: u32 = 0x7e;
/// Bit 0 of the answer: done.
const DONE: u32 = 1 << 0;
/// Microseconds of one command.
const COMMAND_MICROS: u32 = 50_000;
/// Microseconds for the initialization after power-on: the shorter one of the digest's two limits.
/// The other one, of minutes, is for a probe that can be deferred.
const DONE_MICROS: u32 = 10_000_000;
/// Microseconds between two questions.
const PAUSE_MICROS: u32 = 100_000;

/// Reads the status once.
fn is_done(hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<bool, DeviceError> {
    let free = |v: u32| v & gt_reg::PCODE_BUSY == 0;
    poll::sleeping(hw.regs, wait, MAILBOX, COMMAND_MICROS, &free)?;
    hw.regs.write32(gt_reg::PCODE_DATA, 0);
    hw.regs.write32(gt_reg::PCODE_DATA1, 0);
    hw.regs
        .write32(gt_reg::PCODE_MAILBOX, gt_reg::PCODE_BUSY | STATUS);
    poll::sleeping(hw.regs, wait, MAILBOX, COMMAND_MICROS, &free)?;
    Ok(hw.regs.read32(gt_reg::PCODE_DATA) & DONE != 0)
}

/// Waits until the device is initialized.
pub(super) fn ready(hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
    for _ in 0..DONE_MICROS / PAUSE_MICROS {
        if is_done(hw, wait)? {
            return Ok(());
        }
        wait.pause(PAUSE_MICROS);
    }
    Err(DeviceError::Timeout("PCODE_DATA"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    #[test]
    fn it_is_asked_by_the_mailbox() {
        let mock = Mock::default();
        mock.fix(0x13_8124, 0);
        mock.fix(0x13_8128, 1);
        ready(&mock.hw(), &mock).unwrap();
        assert_eq!(
            mock.take(),
            [
                Access::R(0x13_8124),
                Access::W(0x13_8128, 0),
                Access::W(0x13_812c, 0),
                Access::W(0x13_8124, 0x8000_007e),
                Access::R(0x13_8124),
                Access::R(0x13_8128),
            ]
        );
    }

    #[test]
    fn it_is_asked_again() {
        let mock = Mock::default();
        mock.fix(0x13_8124, 0);
        mock.script(0x13_8128, &[0, 0, 1]);
        ready(&mock.hw(), &mock).unwrap();
        let asked = mock.written(0x13_8124).len();
        assert_eq!(asked, 3);
    }

    #[test]
    fn one_that_never_is_and_one_that_is_silent_are_named() {
        let mock = Mock::default();
        mock.fix(0x13_8124, 0);
        mock.fix(0x13_8128, 0);
        let r = ready(&mock.hw(), &mock);
        assert_eq!(r, Err(DeviceError::Timeout("PCODE_DATA")));
        mock.fix(0x13_8124, 0x8000_0000);
        let r = ready(&mock.hw(), &mock);
        assert_eq!(r, Err(DeviceError::Timeout("PCODE_MAILBOX")));
        mock.gone.set(true);
        assert_eq!(ready(&mock.hw(), &mock), Err(DeviceError::Gone));
    }
}
