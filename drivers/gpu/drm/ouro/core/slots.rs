// SPDX-License-Identifier: GPL-2.0
//! A small number of slots of the same size, given out in runs: a bit for each. Where most runs are
//! short, and few are taken, this costs less than the trees of [`range`](crate::range).

/// Returns whether an owner may take `count` more slots of `free` ones, beside the `own` ones that
/// it has. What it has then may be no more than what is left to others: alone it gets half of all,
/// and beside other owners that take what they can get, as much as each of them; an owner that
/// comes later finds some, unless the first runs of many owners have taken it all. The first run of
/// an owner may take whatever is free. So where anyone can be many owners, runs that are kept for
/// an unlimited time must be below a limit ([`Slots::take`]), behind which the largest run fits.
pub const fn may_take(own: usize, count: usize, free: usize) -> bool {
    own == 0 || own.saturating_add(count) <= free.saturating_sub(count)
}

/// `64 * WORDS` slots.
#[derive(Clone, Debug)]
pub struct Slots<const WORDS: usize> {
    /// A bit is set where a slot is taken.
    taken: [u64; WORDS],
}

impl<const WORDS: usize> Default for Slots<WORDS> {
    fn default() -> Self {
        Self { taken: [0; WORDS] }
    }
}

impl<const WORDS: usize> Slots<WORDS> {
    const BITS: usize = u64::BITS as usize;

    /// Takes the first run of `count` slots below `limit` that are free. Returns the first of them;
    /// `None` if there is no such run, or `count` is 0.
    pub fn take(&mut self, count: usize, limit: usize) -> Option<usize> {
        let start = self.find(count, limit)?;
        self.mark(start, count, true);
        Some(start)
    }

    /// Returns whether [`take`](Self::take) finds a run of `count` slots below `limit`.
    pub fn has_room(&self, count: usize, limit: usize) -> bool {
        self.find(count, limit).is_some()
    }

    /// Returns the first slot of the first free run of `count` slots below `limit`.
    fn find(&self, count: usize, limit: usize) -> Option<usize> {
        if count == 0 {
            return None;
        }
        let mut start = self.first(0, false)?;
        loop {
            let end = self.first(start, true).unwrap_or(WORDS * Self::BITS);
            if end.min(limit).saturating_sub(start) >= count {
                return Some(start);
            }
            start = self.first(end, false).filter(|start| *start < limit)?;
        }
    }

    /// Gives back slots that are taken; those beyond the end are ignored.
    pub fn give(&mut self, start: usize, count: usize) {
        self.mark(start, count, false);
    }

    /// Returns the first slot from `at` on that is taken, or that is free.
    fn first(&self, at: usize, taken: bool) -> Option<usize> {
        let mut word = at / Self::BITS;
        let mut skip = at % Self::BITS;
        loop {
            let bits = *self.taken.get(word)?;
            let bits = if taken { bits } else { !bits };
            let bits = bits >> skip << skip;
            if bits != 0 {
                return Some(word * Self::BITS + bits.trailing_zeros() as usize);
            }
            word += 1;
            skip = 0;
        }
    }

    fn mark(&mut self, start: usize, count: usize, taken: bool) {
        let end = start.saturating_add(count).min(WORDS * Self::BITS);
        let mut at = start;
        while at < end {
            let within = at % Self::BITS;
            let some = (Self::BITS - within).min(end - at);
            let bits = u64::MAX >> (Self::BITS - some) << within;
            if let Some(word) = self.taken.get_mut(at / Self::BITS) {
                match taken {
                    true => *word |= bits,
                    false => *word &= !bits,
                }
            }
            at += some;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn an_owner_leaves_as_much_as_it_has() {
        // One owner takes runs of 64 of 512 slots: half of them.
        let mut own = 0;
        while may_take(own, 64, 512 - own) {
            own += 64;
        }
        assert_eq!(own, 256);
        // Three owners in turns leave some for a fourth one.
        let (mut owns, mut free, mut any) = ([0; 3], 512, true);
        while core::mem::take(&mut any) {
            for own in &mut owns {
                if may_take(*own, 16, free) {
                    (*own, free, any) = (*own + 16, free - 16, true);
                }
            }
        }
        assert_eq!((owns, free), ([128; 3], 128));
        // The first run is not limited, so that the largest one fits.
        assert!(may_take(0, 128, 128));
        assert!(!may_take(1, 128, 128));
    }

    #[test]
    fn the_first_run_that_is_long_enough_is_taken() {
        const ALL: usize = 128;
        let mut slots = Slots::<2>::default();
        assert_eq!(slots.take(0, ALL), None);
        assert_eq!(slots.take(129, ALL), None);
        assert_eq!(
            (slots.take(1, ALL), slots.take(62, ALL)),
            (Some(0), Some(1))
        );
        // Across two words, and up to the end.
        assert_eq!(
            (slots.take(2, ALL), slots.take(63, ALL)),
            (Some(63), Some(65))
        );
        assert_eq!(slots.take(1, ALL), None);
        slots.give(0, 1);
        slots.give(60, 4);
        assert_eq!(slots.take(3, ALL), Some(60));
        assert_eq!(
            (slots.take(1, ALL), slots.take(1, ALL)),
            (Some(0), Some(63))
        );
        slots.give(127, 9);
        assert_eq!((slots.take(2, ALL), slots.take(1, ALL)), (None, Some(127)));
        slots.give(0, 128);
        assert_eq!((slots.take(128, ALL), slots.take(1, ALL)), (Some(0), None));
    }

    #[test]
    fn runs_below_a_limit_leave_room_behind_it() {
        // Any number of owners take first runs below the limit.
        let mut slots = Slots::<8>::default();
        for count in [128, 100, 64, 128, 7, 1].into_iter().cycle().take(1000) {
            slots.take(count, 384);
        }
        assert!(!slots.has_room(1, 384));
        assert_eq!(slots.take(128, 512), Some(384));
        // A run that begins below it ends below it, too.
        let mut slots = Slots::<8>::default();
        assert_eq!(slots.take(300, 384), Some(0));
        assert_eq!(slots.take(85, 384), None);
        assert_eq!(slots.take(84, 384), Some(300));
    }

    proptest! {
        #[test]
        fn each_slot_has_one_owner(
            steps in prop::collection::vec((0usize..100, 0usize..9, 0usize..250), 0..200),
        ) {
            let mut slots = Slots::<3>::default();
            let mut owned = [false; 192];
            let mut runs: Vec<(usize, usize)> = Vec::new();
            for (count, gone, limit) in steps {
                let is_free = |at: usize| owned[at..at + count].iter().all(|taken| !taken);
                let end = limit.min(192);
                let free = (0..=192 - count)
                    .find(|at| count != 0 && at + count <= end && is_free(*at));
                prop_assert_eq!(slots.has_room(count, limit), free.is_some());
                prop_assert_eq!(slots.take(count, limit), free);
                if let Some(at) = free {
                    owned[at..at + count].fill(true);
                    runs.push((at, count));
                }
                if gone < runs.len() {
                    let (at, count) = runs.swap_remove(gone);
                    slots.give(at, count);
                    owned[at..at + count].fill(false);
                }
            }
        }
    }
}
