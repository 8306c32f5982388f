// SPDX-License-Identifier: GPL-2.0
//! Bursts of events: the first few are handled at once, the rest together, a moment later.
//!
//! A fence that is signalled calls each of its waiters, with interrupts disabled. If thousands of
//! requests wait for it, an engine that was looked at for each of them would keep interrupts
//! disabled for long.

/// Least nanoseconds between two events of different bursts.
pub const APART: u64 = 100_000;
/// Most events of a burst that are handled at once: as many as an execlist has entries.
pub const AT_ONCE: u32 = 8;

/// Most steps of a call that may run with interrupts disabled: a few hundred microseconds.
const STEPS: u32 = 64;

/// The steps that are left of a call; the rest of the work is for the worker.
#[derive(Debug)]
pub struct Budget(u32);

impl Budget {
    /// Creates the budget of a call.
    pub const fn new() -> Self {
        Self(STEPS)
    }

    /// Takes a step. Returns false if none is left.
    pub fn take(&mut self) -> bool {
        let is_left = self.0 != 0;
        self.0 = self.0.saturating_sub(1);
        is_left
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

/// The current burst.
#[derive(Clone, Copy, Debug, Default)]
pub struct Burst {
    /// When its last event was handled, in nanoseconds.
    last: u64,
    /// Number of its events.
    count: u32,
}

impl Burst {
    /// Counts an event at `now`, in nanoseconds. Returns whether it is to be handled at once.
    pub fn count_event(&mut self, now: u64) -> bool {
        if now.saturating_sub(self.last) >= APART {
            self.count = 0;
        }
        self.last = now;
        self.count = self.count.saturating_add(1);
        self.count <= AT_ONCE
    }

    /// The last event was handled at `now`: what that took is no pause before the next one.
    pub fn handled(&mut self, now: u64) {
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_burst_are_handled_at_once() {
        let mut burst = Burst::default();
        let start = 7 * APART;
        let handled = (0..1000).filter(|n| burst.count_event(start + n)).count();
        assert_eq!(handled, AT_ONCE as usize);
        // It goes on as long as the next event comes soon.
        assert!(!burst.count_event(start + 999 + APART - 1));
        assert!(burst.count_event(start + 998 + 2 * APART));
    }

    #[test]
    fn what_handling_takes_is_no_pause() {
        let (mut burst, mut now, mut handled) = (Burst::default(), 7 * APART, 0);
        for _ in 0..1000 {
            if burst.count_event(now) {
                handled += 1;
                now += 3 * APART;
                burst.handled(now);
            }
        }
        assert_eq!(handled, AT_ONCE);
    }

    #[test]
    fn a_call_has_a_limited_number_of_steps() {
        let mut budget = Budget::new();
        let steps = (0..10_000).filter(|_| budget.take()).count();
        assert_eq!(steps, 64);
        assert!(!budget.take());
        assert!(Budget::default().take());
    }

    #[test]
    fn single_events_are_handled_at_once() {
        let mut burst = Burst::default();
        assert!((0..1000).all(|n| burst.count_event(n * APART)));
    }
}
