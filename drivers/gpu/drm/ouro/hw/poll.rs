// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Polling a register, with a lost device (reads all ones) told apart from a timeout.
//!
//! None of the registers polled here can read all ones while the device is present.

use crate::{
    generation::DeviceError,
    io::{AtomicWait, Registers, SleepWait},
};

/// A register and the name that a timeout reports.
#[derive(Clone, Copy)]
pub(crate) struct Named {
    /// Its offset.
    pub(crate) offset: u32,
    /// Its name.
    pub(crate) name: &'static str,
}

/// Reads the register once; `None` if the wait goes on.
fn look(
    regs: &dyn Registers,
    reg: Named,
    done: &dyn Fn(u32) -> bool,
) -> Option<Result<u32, DeviceError>> {
    match regs.read32(reg.offset) {
        u32::MAX => Some(Err(DeviceError::Gone)),
        value if done(value) => Some(Ok(value)),
        _ => None,
    }
}

/// Sleeps until `done` accepts what the register reads, for at most `micros` microseconds.
pub(crate) fn sleeping(
    regs: &dyn Registers,
    wait: &dyn SleepWait,
    reg: Named,
    micros: u32,
    done: &dyn Fn(u32) -> bool,
) -> Result<u32, DeviceError> {
    let mut result = Err(DeviceError::Timeout(reg.name));
    // The result of the wait is in `result`, too.
    let _ = wait.poll(micros, &mut || match look(regs, reg, done) {
        Some(r) => {
            result = r;
            true
        }
        None => false,
    });
    result
}

/// Spins until `done` accepts what the register reads, for at most `micros` microseconds.
pub(crate) fn spinning(
    regs: &dyn Registers,
    wait: &dyn AtomicWait,
    reg: Named,
    micros: u32,
    done: &dyn Fn(u32) -> bool,
) -> Result<u32, DeviceError> {
    let mut result = Err(DeviceError::Timeout(reg.name));
    let _ = wait.spin(micros, &mut || match look(regs, reg, done) {
        Some(r) => {
            result = r;
            true
        }
        None => false,
    });
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    const REG: Named = Named {
        offset: 0x40,
        name: "REG",
    };

    #[test]
    fn it_looks_until_the_value_is_right() {
        let mock = Mock::default();
        mock.script(0x40, &[0, 0, 7]);
        assert_eq!(sleeping(&mock, &mock, REG, 1, &|v| v == 7), Ok(7));
        assert_eq!(mock.take(), [Access::R(0x40); 3]);
        mock.script(0x40, &[0, 7]);
        assert_eq!(spinning(&mock, &mock, REG, 1, &|v| v == 7), Ok(7));
    }

    #[test]
    fn late_and_gone_differ() {
        let mock = Mock::default();
        let late = Err(DeviceError::Timeout("REG"));
        assert_eq!(sleeping(&mock, &mock, REG, 1, &|v| v == 7), late);
        assert_eq!(spinning(&mock, &mock, REG, 1, &|v| v == 7), late);
        mock.gone.set(true);
        mock.take();
        // Even if all ones would satisfy the condition, and without waiting.
        let gone = Err(DeviceError::Gone);
        assert_eq!(sleeping(&mock, &mock, REG, 1, &|_| true), gone);
        assert_eq!(spinning(&mock, &mock, REG, 1, &|_| true), gone);
        assert_eq!(mock.take(), [Access::R(0x40); 2]);
    }
}
