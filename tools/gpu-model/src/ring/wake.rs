// SPDX-License-Identifier: GPL-2.0 OR MIT
//! How slowly the GT of a Sandy or Ivy Bridge wakes, and its write FIFO drains ([`Real::late_ack`],
//! [`Real::late_threads`], [`Real::full_fifo`]). Each comes the first time since power-on and at random from then on, and
//! ends by itself. The upstream driver waits 50 ms for an acknowledge, 5 ms for threads and 10 ms for room; when
//! threads or the FIFO take longer it goes on, and warns. So nothing is lost meanwhile: once the acknowledge is up,
//! registers answer whatever the thread status says, and the FIFO takes writes that it shows no room for.
//!
//! [`Real::late_ack`]: super::real::Real::late_ack
//! [`Real::late_threads`]: super::real::Real::late_threads
//! [`Real::full_fifo`]: super::real::Real::full_fifo

use super::core::Core;

/// The first acknowledge, and one at random, in microseconds.
const ACK_US: (u64, u64) = (20_000, 500);
/// Threads, longer than upstream waits for them.
const THREADS_US: (u64, u64) = (6_000, 6_000);
/// The FIFO, longer than upstream waits for it.
const FIFO_US: (u64, u64) = (12_000, 300);
/// Once in how many times it comes at random: wakes for the first two, reads of the FIFO's room for the last.
const WAKES: u64 = 256;
const READS: u64 = 1024;

/// A habit's course.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    /// It has come since power-on.
    came: bool,
    /// It ends at this time, in nanoseconds of the device's clock.
    until: u64,
}

/// What is slow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slow {
    ack: Course,
    threads: Course,
    fifo: Course,
}

impl Core {
    /// Returns for how many microseconds a habit comes now, if it does.
    fn comes(&mut self, course: Course, us: (u64, u64), one_in: u64) -> Option<u64> {
        if !course.came {
            return Some(us.0);
        }
        self.random().is_multiple_of(one_in).then_some(us.1)
    }

    /// Forcewake was asked for: microseconds until it is acknowledged.
    pub fn ack_delay(&mut self) -> Option<u64> {
        if !self.cfg.real.late_ack {
            return None;
        }
        let us = self.comes(self.gt.slow.ack, ACK_US, WAKES);
        self.gt.slow.ack.came = true;
        us
    }

    /// Forcewake is acknowledged now.
    pub fn well_wakes(&mut self) {
        self.gt.awake = true;
        if self.cfg.real.late_threads {
            if let Some(us) = self.comes(self.gt.slow.threads, THREADS_US, WAKES) {
                self.gt.slow.threads.until = self.in_us(us);
            }
            self.gt.slow.threads.came = true;
        }
    }

    /// True while threads have not woken, though forcewake is acknowledged.
    pub fn threads_busy(&self) -> bool {
        self.notes.clock.now() < self.gt.slow.threads.until
    }

    /// The FIFO's room is read: true if it shows none, whatever there is.
    pub fn fifo_shows_none(&mut self) -> bool {
        if !self.cfg.real.full_fifo {
            return false;
        }
        let now = self.notes.clock.now();
        if now >= self.gt.slow.fifo.until {
            if let Some(us) = self.comes(self.gt.slow.fifo, FIFO_US, READS) {
                self.gt.slow.fifo.until = self.in_us(us);
            }
            self.gt.slow.fifo.came = true;
        }
        now < self.gt.slow.fifo.until
    }
}
