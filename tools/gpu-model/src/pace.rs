// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Throttles endless batches, which would otherwise take a host CPU from the guest.

use crate::clock::Clock;

/// Jumps without a rest: chains of batches are shorter.
const FREE: u32 = 200;
/// Commands between two rests: a prime, so that a loop rests at many places. A driver that samples the head
/// now and then must see it move.
const BURST: u32 = 97;
/// Length of a rest, in nanoseconds: as often as the model looks at what a semaphore waits for.
const REST: u64 = 1_000_000;
/// Rests in a round of a loop, at most: a program that ends the loop waits for its beginning.
const RESTS: u32 = 16;
/// Commands without a jump that no program sends: it has run beyond its end, where all reads as zero.
const FAR: u32 = 250_000;
/// Commands between two rests of one that has.
const ASTRAY: u32 = 499;

/// How often the batch that runs has jumped, and what it has done since.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    jumps: u32,
    /// Commands since the last jump, and from the one before to that one.
    since: u32,
    round: u32,
    /// Commands since the last rest.
    done: u32,
}

impl Pace {
    /// A batch begins.
    pub fn begin(&mut self) {
        *self = Self::default();
    }

    /// Returns whether the batch runs in circles.
    pub fn circles(&self) -> bool {
        self.jumps >= FREE
    }

    /// It jumps.
    pub fn jump(&mut self) {
        self.jumps = self.jumps.saturating_add(1);
        self.round = std::mem::take(&mut self.since);
    }

    /// It has done a command: when the engine goes on, if that is not now. A clock that is moved by hand knows
    /// no rest.
    pub fn command(&mut self, clock: &Clock) -> Option<u64> {
        if clock.is_manual() {
            return None;
        }
        self.since = self.since.saturating_add(1);
        let burst = if self.circles() {
            BURST.max(self.round / RESTS)
        } else if self.since > FAR {
            ASTRAY
        } else {
            return None;
        };
        self.done += 1;
        if self.done < burst {
            return None;
        }
        self.done = 0;
        Some(clock.now().saturating_add(REST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop of so many commands begins: the places of its first rests.
    fn rests(length: u32, clock: &Clock) -> Vec<u32> {
        let mut pace = Pace::default();
        let mut places = Vec::new();
        for n in 0..10_000 * length {
            if n % length == length - 1 {
                pace.jump();
            }
            if pace.command(clock).is_some() {
                assert!(n >= 199 * length, "{length}: it rests after {n}");
                places.push(n % length);
                if places.len() == 20 {
                    break;
                }
            }
        }
        places
    }

    #[test]
    fn a_loop_rests_again_and_again_and_at_many_places() {
        for length in [16, 64, 255, 256, 4096] {
            let mut places = rests(length, &Clock::real());
            assert_eq!(places.len(), 20);
            places.sort_unstable();
            places.dedup();
            assert!(places.len() > 10, "{length}: {places:?}");
        }
    }

    #[test]
    fn a_long_loop_does_not_rest_all_the_time() {
        let mut pace = Pace::default();
        let clock = Clock::real();
        let mut round = || {
            let rests = (0..65536).filter(|_| pace.command(&clock).is_some());
            let rests = rests.count();
            pace.jump();
            rests
        };
        assert!((0..201).map(|_| round()).last() > Some(0));
        assert!(round() <= 17);
    }

    #[test]
    fn a_chain_is_free_and_so_is_the_next_batch() {
        let (mut pace, clock) = (Pace::default(), Clock::real());
        for _ in 0..2 {
            pace.begin();
            for _ in 0..199 {
                pace.jump();
                assert!((0..1000).all(|_| pace.command(&clock).is_none()));
            }
        }
    }

    #[test]
    fn a_batch_without_an_end_rests_in_the_end() {
        let (mut pace, clock) = (Pace::default(), Clock::real());
        assert!((0..250_000).all(|_| pace.command(&clock).is_none()));
        let rests = (0..10_000).filter(|_| pace.command(&clock).is_some());
        assert!((10..100).contains(&rests.count()));
    }

    #[test]
    fn a_clock_moved_by_hand_knows_no_rest() {
        assert!(rests(64, &Clock::manual()).is_empty());
    }
}
