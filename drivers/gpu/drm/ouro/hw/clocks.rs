// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The clock of the engines, on chips that let the driver choose it.

use crate::{
    generation::DeviceError,
    gt::Gt,
    io::{AtomicWait, Hw},
};

/// Clocks in MHz.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clocks {
    /// The lowest (RPn), for a device that sleeps.
    pub lowest: u32,
    /// The clock that the chip can always sustain (RP1).
    pub steady: u32,
    /// The highest (RP0), for a device that works.
    pub highest: u32,
}

/// Control of the clock.
///
/// Clocks are kept in a word: [`Topology::card`](crate::Topology::card) has those of the chip,
/// [`Hw::card`] those that are in use.
pub trait ClockControl {
    /// Returns the clocks in `card`; `None` if the driver cannot change the clock of this device.
    fn clocks(&self, card: u32) -> Option<Clocks>;

    /// Returns `card` with another lowest and highest clock in MHz, each rounded to the nearest
    /// step of the chip.
    fn with_limits(&self, card: u32, lowest: u32, highest: u32) -> u32;

    /// Requests the highest clock in [`Hw::card`]. Posted. The device must be awake.
    fn request(&self, hw: &Hw<'_>, gt: &mut Gt, wait: &dyn AtomicWait) -> Result<(), DeviceError>;

    /// Returns the clock in MHz at which the engines run. The device must be awake.
    fn running(&self, hw: &Hw<'_>) -> u32;
}
