// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The watchdog of the video engine, CNTR and THRSH (VCS PRM 1.1.5).
//!
//! A zero starts the counter and all ones stop it. Once it exceeds the threshold it is zero again, and an
//! interrupt may be sent; it goes on counting. How long a clock of it is, is nowhere said: here it is one of
//! the time stamp, so that the threshold after a reset is 110 ms.

use crate::ring::core::Core;
use crate::ring::engine::EngineId;
use crate::ring::irq::bit;
use crate::ring::regs::ring;

/// Nanoseconds of a clock: an assumption.
const CLOCK_NS: u64 = 80;

/// A counter, stopped at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watchdog {
    /// When it was zero, in nanoseconds; `None` while it does not count.
    since: Option<u64>,
}

impl Watchdog {
    /// Reads CNTR.
    pub fn count(&self, now: u64) -> Option<u32> {
        self.since.map(|t| ((now - t) / CLOCK_NS) as u32)
    }

    /// CNTR is written. What other values than zero and all ones do is not said: nothing, here.
    pub fn write(&mut self, value: u32, now: u64) {
        match value {
            0 => self.since = Some(now),
            u32::MAX => self.since = None,
            _ => {}
        }
    }

    /// When it will exceed a threshold.
    pub fn due(&self, threshold: u32) -> Option<u64> {
        self.since
            .map(|t| t + (u64::from(threshold) + 1) * CLOCK_NS)
    }

    /// True if it has exceeded the threshold; then it counts from zero again.
    pub fn bark(&mut self, threshold: u32, now: u64) -> bool {
        let barks = self.due(threshold).is_some_and(|at| at <= now);
        if barks {
            self.since = Some(now);
        }
        barks
    }
}

impl Core {
    /// CNTR as it reads.
    pub fn watchdog_read(&self, e: EngineId) -> u32 {
        let now = self.notes.clock.now();
        let count = self.engines[e as usize].watchdog.count(now);
        count.unwrap_or(self.ring(e, ring::CNTR))
    }

    /// CNTR is written.
    pub fn watchdog_written(&mut self, e: EngineId, value: u32) {
        let now = self.notes.clock.now();
        self.engine(e).watchdog.write(value, now);
    }

    /// When an engine's watchdog will interrupt.
    pub fn watchdog_due(&self, e: EngineId) -> Option<u64> {
        let threshold = self.ring(e, ring::THRSH);
        self.engines[e as usize].watchdog.due(threshold)
    }

    /// Watchdogs whose thresholds are exceeded interrupt.
    pub fn watchdogs_bark(&mut self, now: u64) {
        for row in self.cfg.chip.engines.iter().filter(|row| row.watchdog) {
            let threshold = self.ring(row.id, ring::THRSH);
            if self.engine(row.id).watchdog.bark(threshold, now) {
                self.blink(row.id, bit::TIMEOUT);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_with_zero_and_stops_with_ones() {
        // VCS PRM 1.1.5.1.
        let mut w = Watchdog::default();
        assert_eq!((w.count(1000), w.due(5)), (None, None));
        w.write(7, 1000);
        assert_eq!(w.count(2000), None);
        w.write(0, 1000);
        assert_eq!(w.count(1000 + 80 * 3), Some(3));
        assert!(!w.bark(3, 1000 + 80 * 3), "1.1.5.2: it is to be exceeded");
        assert_eq!(w.due(3), Some(1000 + 80 * 4));
        assert!(w.bark(3, 1000 + 80 * 4));
        assert_eq!(w.count(1000 + 80 * 4), Some(0));
        assert!(!w.bark(3, 1000 + 80 * 5));
        w.write(u32::MAX, 2000);
        assert!(!w.bark(0, 1 << 40));
    }
}
