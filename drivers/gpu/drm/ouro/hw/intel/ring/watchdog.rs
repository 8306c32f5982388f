// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The watchdog of an engine: a counter that interrupts when a batch exceeds its limit.
//!
//! Commands in the ring start it before a batch and stop it after the batch (VCS §1.1.5). A flush
//! precedes the stop, since the parser continues while units still work on the batch (VCS §1.2.7).

use core::num::{NonZeroU32, NonZeroU64};

use crate::{
    engine::{EngineMemory, WatchdogLimits},
    intel::mi::{Flush, LoadRegisters},
    ring::{Commands, Overflow},
};

/// The value of the counter that starts it at zero (VCS §1.1.5.1).
const START: u32 = 0;
/// The value of the counter that stops it; a stopped counter reads so (VCS §1.1.5.1).
const STOP: u32 = u32::MAX;
/// The largest threshold: the count must exceed it before it reaches [`STOP`].
const MOST_TICKS: u32 = STOP - 2;
/// The smallest limit in microseconds. A batch over its limit interrupts again after each such
/// period until its engine is reset: so a malicious client causes at most a thousand interrupts per
/// second.
const LEAST_MICROS: u32 = 1_000;

/// The description of a watchdog.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Watchdog {
    /// Offset of the counter.
    pub(crate) counter: u32,
    /// Offset of the threshold, which the count must exceed.
    pub(crate) threshold: u32,
    /// The bit in the interrupt registers.
    pub(crate) interrupt: u32,
    /// Nominal length of a tick, in nanoseconds.
    pub(crate) tick_ns: NonZeroU32,
}

impl Watchdog {
    /// The number of dwords of [`start`](Self::start) and [`stop`](Self::stop).
    pub(crate) const DWORDS: usize = 5 + 4 + 3;

    /// Returns the limits that can be set.
    pub(crate) const fn limits(&self) -> WatchdogLimits {
        WatchdogLimits {
            least: LEAST_MICROS,
            most: (MOST_TICKS as u64 * self.tick_ns.get() as u64 / 1000) as u32,
        }
    }

    /// Returns the threshold for a limit in microseconds; `None` if the limit cannot be set.
    fn ticks(&self, micros: u32) -> Option<u32> {
        if !self.limits().allow(micros) {
            return None;
        }
        let tick = NonZeroU64::from(self.tick_ns);
        // The limit is rounded up.
        let ticks = (u64::from(micros) * 1000 + (tick.get() - 1)) / tick;
        u32::try_from(ticks).ok()
    }

    /// Writes commands that start the watchdog.
    pub(crate) fn start(&self, micros: u32, out: &mut Commands<'_>) -> Result<(), Overflow> {
        let ticks = self.ticks(micros).ok_or(Overflow)?;
        LoadRegisters(&[(self.threshold, ticks), (self.counter, START)]).put(out)
    }

    /// Writes commands that wait for the batch's work and stop the watchdog.
    pub(crate) fn stop(&self, mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
        out.put(&Flush::storing(mem.scratch, 0).encode())?;
        LoadRegisters(&[(self.counter, STOP)]).put(out)
    }

    /// Returns offset and value of the register write that stops the watchdog.
    pub(crate) const fn halted(&self) -> (u32, u32) {
        (self.counter, STOP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOG: Watchdog = Watchdog {
        counter: 0x1_2178,
        threshold: 0x1_217c,
        interrupt: 1 << 18,
        tick_ns: NonZeroU32::new(80).unwrap(),
    };
    const MEM: EngineMemory = crate::mock::MEMORY;

    fn start(micros: u32) -> Result<std::vec::Vec<u32>, Overflow> {
        let mut buf = [0; 8];
        let mut out = Commands::new(&mut buf);
        DOG.start(micros, &mut out)?;
        Ok(out.as_slice().to_vec())
    }

    #[test]
    fn it_starts_with_zero_and_stops_with_ones() {
        // VCS §1.1.5.1, §1.1.5.2. 200 ms are 2,500,000 ticks of 80 ns.
        assert_eq!(
            start(200_000),
            Ok([0x1100_0003, 0x1_217c, 0x0026_25a0, 0x1_2178, 0].to_vec())
        );
        let mut buf = [0; 8];
        let mut out = Commands::new(&mut buf);
        DOG.stop(&MEM, &mut out).unwrap();
        assert_eq!(
            out.as_slice(),
            [
                0x1300_4002,
                0x0003_0004,
                0,
                0,
                0x1100_0001,
                0x1_2178,
                0xffff_ffff
            ]
        );
        assert_eq!(Watchdog::DWORDS, 12);
    }

    #[test]
    fn no_count_means_something_else() {
        assert_eq!(start(999), Err(Overflow));
        // 1 ms are 12,500 ticks, and 1001 us 12,512.5: the threshold is rounded up.
        assert_eq!(start(1000).map(|c| c[2]), Ok(12_500));
        assert_eq!(start(1001).map(|c| c[2]), Ok(12_513));
        // All ones would stop the counter, and the count must exceed the threshold by one.
        assert_eq!(start(343_597_383).map(|c| c[2]), Ok(0xffff_fff8));
        assert_eq!(start(343_597_384), Err(Overflow));
        assert_eq!(start(u32::MAX), Err(Overflow));
    }
}
