// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Waits for an idle 2D and 3D engine between the steps of the set-up.
//!
//! Registers of a unit are not written while it is busy. Radeon and radeonhd wait at the same
//! places, one of them because of lockups without the wait (digest §5.2, "pipes"). After a timeout
//! they go on with a warning: a unit can report busy for a reason that the next step ends.

use super::regs;
use crate::{
    generation::DeviceError,
    io::{Hw, SleepWait},
    poll,
};

/// State of the units, for the message of a timeout.
pub(super) const STATUS: poll::Named = poll::Named {
    offset: regs::RBBM_STATUS,
    name: "RBBM_STATUS",
};
/// [`regs::RBBM_STATUS`] bits 6:0: free entries of the command queue; 64 if it is empty.
const FREE: u32 = 0x7f;
const ALL_FREE: u32 = 64;
/// Timeout in microseconds, after which a warning is logged (digest §5.2).
const IDLE_MICROS: u32 = 100_000;

/// Waits until both engines are idle and the command queue is empty. Fails only if the card is
/// gone.
pub(super) fn engines(hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
    let idle = |v: u32| v & FREE >= ALL_FREE && v & regs::GUI_ACTIVE == 0;
    match poll::sleeping(hw.regs, wait, STATUS, IDLE_MICROS, &idle) {
        Err(DeviceError::Timeout(_)) => {
            hw.platform
                .warn("2D and 3D engines not idle in time (RBBM_STATUS)");
            Ok(())
        }
        other => other.map(|_| ()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    #[test]
    fn it_waits_for_the_queue_and_for_the_engines() {
        // Digest §5.4: 40h when idle, 64 entries and bit 31 clear.
        let mock = Mock::default();
        mock.script(0xe40, &[0x3f, 0x8000_0040, 0x40]);
        engines(&mock.hw(), &mock).unwrap();
        assert_eq!(mock.take(), [Access::R(0xe40); 3]);
        assert!(mock.warned.borrow().is_empty());
    }

    #[test]
    fn engines_that_stay_busy_are_told_of_and_gone_ones_end_it() {
        for status in [0x8000_0040, 0x3f] {
            let mock = Mock::default();
            mock.fix(0xe40, status);
            assert_eq!(engines(&mock.hw(), &mock), Ok(()));
            assert_eq!(mock.warned.borrow().len(), 1);
        }
        let mock = Mock::default();
        mock.gone.set(true);
        assert_eq!(engines(&mock.hw(), &mock), Err(DeviceError::Gone));
    }
}
