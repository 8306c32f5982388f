// SPDX-License-Identifier: GPL-2.0

//! The limits of the engines' clock, which user space may change.

use kernel::{prelude::*, sync::atomic::ordering};
use ouro_hw::{ClockControl, Clocks};

use super::{errno, Hardware, Waits};

impl Hardware {
    /// Returns the control of the clock, and the chip's clocks. Errors: `ENODEV` if the driver
    /// cannot change the clock.
    fn clock_control(&self) -> Result<(&'static dyn ClockControl, Clocks)> {
        let control = self.generation().clocks().ok_or(ENODEV)?;
        let chip = control.clocks(self.topology.card).ok_or(ENODEV)?;
        Ok((control, chip))
    }

    /// Returns the clocks of the chip. Errors: `ENODEV` if the driver cannot change the clock.
    pub(crate) fn clocks(&self) -> Result<Clocks> {
        self.clock_control().map(|(_, chip)| chip)
    }

    /// Returns the limits. Errors: as [`clocks`](Self::clocks).
    pub(crate) fn clock_limits(&self) -> Result<Clocks> {
        let (control, _) = self.clock_control()?;
        let card = self.card.load(ordering::Relaxed);
        control.clocks(card).ok_or(ENODEV)
    }

    /// Changes the limits by `change`, each rounded to the nearest step of the chip; a device that
    /// is awake gets the highest clock at once.
    ///
    /// Errors: `EINVAL` without any change if the chip has not got these clocks, or if the lowest
    /// is above the highest; `ENODEV`.
    pub(crate) fn limit_clocks(&self, change: impl FnOnce(&mut Clocks)) -> Result {
        let (control, chip) = self.clock_control()?;
        self.with_gt(|_, gt| {
            let card = self.card.load(ordering::Relaxed);
            let mut wanted = control.clocks(card).ok_or(ENODEV)?;
            change(&mut wanted);
            let card = control.with_limits(card, wanted.lowest, wanted.highest);
            let limits = control.clocks(card).ok_or(EINVAL)?;
            let exist = chip.lowest <= limits.lowest && limits.highest <= chip.highest;
            if !exist || limits.lowest > limits.highest {
                return Err(EINVAL);
            }
            self.card.store(card, ordering::Relaxed);
            if !gt.awake {
                return Ok(());
            }
            control.request(&self.hw(), gt, &Waits).map_err(errno)
        })
    }

    /// Returns the clock in MHz that user space wants while a client waits. Errors: as
    /// [`clocks`](Self::clocks).
    pub(crate) fn boost_clock(&self) -> Result<u32> {
        let chip = self.clocks()?;
        Ok(match self.boost.load(ordering::Relaxed) {
            0 => chip.highest,
            mhz => mhz,
        })
    }

    /// Keeps the clock that user space wants while a client waits, rounded to the nearest step of
    /// the chip. Errors: as [`limit_clocks`](Self::limit_clocks).
    pub(crate) fn set_boost_clock(&self, mhz: u32) -> Result {
        let (control, chip) = self.clock_control()?;
        let card = control.with_limits(self.topology.card, mhz, mhz);
        let mhz = control.clocks(card).ok_or(EINVAL)?.highest;
        if mhz < chip.lowest || mhz > chip.highest {
            return Err(EINVAL);
        }
        self.boost.store(mhz, ordering::Relaxed);
        Ok(())
    }

    /// Returns the clock in MHz that was requested last. Errors: as [`clocks`](Self::clocks).
    pub(crate) fn requested_clock(&self) -> Result<u32> {
        let limits = self.clock_limits()?;
        let awake = self.with_gt(|_, gt| gt.awake);
        Ok(if awake { limits.highest } else { limits.lowest })
    }

    /// Returns the clock in MHz at which the engines run, 0 if they sleep. Errors: as
    /// [`clocks`](Self::clocks).
    pub(crate) fn running_clock(&self) -> Result<u32> {
        let (control, _) = self.clock_control()?;
        Ok(self.with_gt(|hw, gt| if gt.awake { control.running(hw) } else { 0 }))
    }
}
