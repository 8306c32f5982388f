// SPDX-License-Identifier: GPL-2.0

//! How long an engine may take to do what it has, when it has to become idle.

use ouro_hw::types::Seqno;

/// Nanoseconds that each request has.
pub const EACH_NS: u64 = 2_000_000_000;
/// Nanoseconds that all of them have together.
pub const ALL_NS: u64 = 10_000_000_000;

/// What an engine has been given, and how it gets on. Engines that have it at the same time do not wait
/// for each other. All times are in nanoseconds.
pub struct Patience {
    begin: u64,
    since: u64,
    last: Seqno,
}

impl Patience {
    /// Its time begins `now`; requests are done up to `progress`.
    pub const fn new(now: u64, progress: Seqno) -> Self {
        Self {
            begin: now,
            since: now,
            last: progress,
        }
    }

    /// Whether it is at an end, with requests done up to `progress`: one takes too long, or all together.
    pub fn is_over(&mut self, now: u64, progress: Seqno) -> bool {
        if progress != self.last {
            (self.last, self.since) = (progress, now);
        }
        now.saturating_sub(self.since) > EACH_NS || now.saturating_sub(self.begin) > ALL_NS
    }

    /// The engine was reset because of another one, and says `progress` now: it has done nothing for it.
    pub fn was_reset(&mut self, progress: Seqno) {
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
        // The first one is reset, and all with it: the numbers of the others are others then.
        assert!(all[0].0.is_over(3 * SECOND + 1, all[0].1));
        for (patience, _) in &mut all[1..] {
            patience.was_reset(Seqno(0));
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
        // but not for ever
        assert!(!patience.is_over(10 * SECOND, Seqno(6)));
        assert!(patience.is_over(10 * SECOND + 1, Seqno(7)));
    }

    #[test]
    fn a_reset_is_no_progress_and_no_delay() {
        let mut patience = Patience::new(0, Seqno(4));
        assert!(!patience.is_over(SECOND, Seqno(5)));
        patience.was_reset(Seqno(0));
        assert!(!patience.is_over(3 * SECOND, Seqno(0)));
        assert!(patience.is_over(3 * SECOND + 1, Seqno(0)));
    }
}
