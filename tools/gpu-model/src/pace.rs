// SPDX-License-Identifier: GPL-2.0
//! The pace of a batch that loops. A card that runs in circles takes nothing from the CPU; a model that
//! does takes a processor of the host, and the guest wants it.

use crate::clock::Clock;

/// Jumps for which nobody waits: chains of batches are shorter.
const FREE: u32 = 1000;
/// Jumps between two rests.
const BURST: u32 = 20;
/// Length of a rest, in nanoseconds: as often as the model looks at what a semaphore waits for.
const REST: u64 = 1_000_000;

/// How often the batch that runs has jumped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace(u32);

impl Pace {
    /// A batch begins.
    pub fn begin(&mut self) {
        self.0 = 0;
    }

    /// Whether it runs in circles.
    pub fn circles(&self) -> bool {
        self.0 >= FREE
    }

    /// It jumps: when the engine goes on, if that is not now. A clock that is moved by hand knows no rest.
    pub fn jump(&mut self, clock: &Clock) -> Option<u64> {
        self.0 += 1;
        if self.0 < FREE + BURST || clock.is_manual() {
            return None;
        }
        self.0 = FREE;
        Some(clock.now().saturating_add(REST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jumps until the first rest.
    fn until_rest(pace: &mut Pace, clock: &Clock) -> usize {
        (0..).find(|_| pace.jump(clock).is_some()).unwrap()
    }

    #[test]
    fn a_chain_is_free_and_a_loop_rests_again_and_again() {
        let (mut pace, clock) = (Pace::default(), Clock::real());
        assert!(until_rest(&mut pace, &clock) >= 1000);
        assert!(until_rest(&mut pace, &clock) < 100);
        pace.begin();
        assert!(until_rest(&mut pace, &clock) >= 1000);
    }

    #[test]
    fn a_clock_moved_by_hand_knows_no_rest() {
        let (mut pace, clock) = (Pace::default(), Clock::manual());
        assert!((0..10_000).all(|_| pace.jump(&clock).is_none()));
    }
}
