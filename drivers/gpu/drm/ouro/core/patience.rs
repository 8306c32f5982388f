// SPDX-License-Identifier: GPL-2.0

//! The time limit for an engine that has to become idle.

use ouro_hw::types::Seqno;

/// Time for each request, in nanoseconds.
pub const EACH_NS: u64 = 2_000_000_000;
/// Time for all requests together, in nanoseconds.
pub const ALL_NS: u64 = 10_000_000_000;

/// The time limit of one engine, and its progress. Engines that become idle at the same time run in
/// parallel and have a limit each. All times are in nanoseconds.
pub struct Patience {
    begin: u64,
    since: u64,
    last: Seqno,
}

impl Patience {
    /// Starts the time `now`; requests have completed up to `progress`.
    pub const fn new(now: u64, progress: Seqno) -> Self {
        Self {
            begin: now,
            since: now,
            last: progress,
        }
    }

    /// Returns whether a request or all of them have taken too long; requests have completed up to
    /// `progress`.
    pub fn is_over(&mut self, now: u64, progress: Seqno) -> bool {
        if progress != self.last {
            (self.last, self.since) = (progress, now);
        }
        now.saturating_sub(self.since) > EACH_NS || now.saturating_sub(self.begin) > ALL_NS
    }

    /// The engine was reset because of another one: a change of seqno to `progress` is no progress.
    pub fn ignore_reset(&mut self, progress: Seqno) {
        self.last = progress;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn engines_that_hang_have_their_two_seconds_at_the_same_time() {
        let mut all = [1, 7, 9].map(|done| (Patience::new(SECOND, Seqno(done)), Seqno(done)));
        for (patience, done) in &mut all {
            assert!(!patience.is_over(3 * SECOND, *done));
        }
        // The first engine is reset, and the others with it: their seqnos change.
        assert!(all[0].0.is_over(3 * SECOND + 1, all[0].1));
        for (patience, _) in &mut all[1..] {
            patience.ignore_reset(Seqno(0));
            assert!(patience.is_over(3 * SECOND + 2, Seqno(0)));
        }
    }

    #[test]
    fn who_gets_on_has_more() {
        let mut patience = Patience::new(0, Seqno(u32::MAX));
        for k in 1..=5 {
            // 1.9 s each
            assert!(!patience.is_over(k * 1_900_000_000, Seqno(k as u32)));
        }
        // but not forever
        assert!(!patience.is_over(10 * SECOND, Seqno(6)));
        assert!(patience.is_over(10 * SECOND + 1, Seqno(7)));
    }

    #[test]
    fn a_reset_is_no_progress_and_no_delay() {
        let mut patience = Patience::new(0, Seqno(4));
        assert!(!patience.is_over(SECOND, Seqno(5)));
        patience.ignore_reset(Seqno(0));
        assert!(!patience.is_over(3 * SECOND, Seqno(0)));
        assert!(patience.is_over(3 * SECOND + 1, Seqno(0)));
    }
}
