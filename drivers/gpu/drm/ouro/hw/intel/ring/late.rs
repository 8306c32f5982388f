// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Answers that come late: of forcewake, the threads' status, the FIFO, the video engine.
//!
//! The digest's times for them are upstream's (G-15 to G-17, G-37); the document has none, and a
//! device may take longer and still work. So a timeout is logged and the driver goes on, as
//! upstream does (`fw_domain_wait_ack_set`, `__gen6_gt_wait_for_thread_c0`,
//! `__gen6_gt_wait_for_fifo`, `gen6_bsd_submit_request`). Only a device that is gone is an error.

use crate::{generation::DeviceError, gt::Gt, io::Hw};

/// An answer that did not come in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Late {
    /// The acknowledgement of a request that was released did not clear.
    Release,
    /// A request was not acknowledged.
    Acknowledge,
    /// Threads were not in C0.
    Threads,
    /// The FIFO had no room.
    Fifo,
    /// The video engine did not wake up before its tail was written.
    Video,
}

impl Late {
    const fn text(self) -> &'static str {
        match self {
            Self::Release => {
                "forcewake: the acknowledge of the previous request was not cleared in time"
            }
            Self::Acknowledge => {
                "forcewake: not acknowledged in time, register accesses may be lost"
            }
            Self::Threads => "forcewake: GT threads not in C0 in time, register writes may be lost",
            Self::Fifo => "GT FIFO: no room in time, register writes may be lost",
            Self::Video => "vcs0: not awake in time before a tail write (PSMI_CTL)",
        }
    }

    /// Logs it.
    pub(crate) fn log(self, hw: &Hw<'_>) {
        hw.platform.warn(self.text());
    }

    /// Logs it, unless it was logged earlier: every submission may meet it.
    pub(crate) fn log_once(self, hw: &Hw<'_>, gt: &mut Gt) {
        let bit = 1 << self as u8;
        if gt.warned & bit == 0 {
            gt.warned |= bit;
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
        let all = [
            Late::Release,
            Late::Acknowledge,
            Late::Threads,
            Late::Fifo,
            Late::Video,
        ];
        for late in all.into_iter().chain(all) {
            late.log_once(&mock.hw(), &mut gt);
        }
        assert_eq!(*mock.warned.borrow(), all.map(Late::text));
        Late::Fifo.log(&mock.hw());
        assert_eq!(mock.warned.borrow().len(), all.len() + 1);
    }

    #[test]
    fn a_device_that_is_gone_is_an_error() {
        assert_eq!(in_time(Ok(0)), Ok(true));
        assert_eq!(in_time(Err(DeviceError::Timeout("REG"))), Ok(false));
        assert_eq!(in_time(Err(DeviceError::Gone)), Err(DeviceError::Gone));
    }
}
