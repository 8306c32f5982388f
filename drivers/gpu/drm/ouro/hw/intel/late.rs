// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Answers of the device that come late, such as the acknowledge of a forcewake request.
//!
//! The digests' times for them are upstream's; no document has any, and a device may take longer
//! and still work. So a timeout is logged and the driver goes on, as upstream does. Only a device
//! that is gone is an error.

use crate::{generation::DeviceError, gt::Gt, io::Hw};

/// An answer that did not come in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Late {
    /// Its bit in [`Gt::warned`].
    bit: u16,
    /// The log text.
    text: &'static str,
}

impl Late {
    /// Creates one. Those of a chip have different `n`, 0 to 15, their bits in [`Gt::warned`].
    pub(crate) const fn new(n: u32, text: &'static str) -> Self {
        let bit = 1u16.wrapping_shl(n);
        Self { bit, text }
    }

    /// Logs it.
    pub(crate) fn log(self, hw: &Hw<'_>) {
        hw.platform.warn(self.text);
    }

    /// Logs it, unless it was logged earlier: every submission may meet it.
    pub(crate) fn log_once(self, hw: &Hw<'_>, gt: &mut Gt) {
        if gt.warned & self.bit == 0 {
            gt.warned |= self.bit;
            self.log(hw);
        }
    }
}

/// Returns whether a wait ended in time.
///
/// Errors: those of the wait, but for a timeout.
pub(crate) fn in_time(waited: Result<u32, DeviceError>) -> Result<bool, DeviceError> {
    match waited {
        Ok(_) => Ok(true),
        Err(DeviceError::Timeout(_)) => Ok(false),
        Err(other) => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

    #[test]
    fn each_is_logged_once_for_a_device() {
        let mock = Mock::default();
        let mut gt = Gt::default();
        let all = [Late::new(0, "first"), Late::new(15, "last")];
        for late in all.into_iter().chain(all) {
            late.log_once(&mock.hw(), &mut gt);
        }
        assert_eq!(*mock.warned.borrow(), ["first", "last"]);
        all[0].log(&mock.hw());
        assert_eq!(mock.warned.borrow().len(), 3);
    }

    #[test]
    fn a_device_that_is_gone_is_an_error() {
        assert_eq!(in_time(Ok(0)), Ok(true));
        assert_eq!(in_time(Err(DeviceError::Timeout("REG"))), Ok(false));
        assert_eq!(in_time(Err(DeviceError::Gone)), Err(DeviceError::Gone));
    }
}
