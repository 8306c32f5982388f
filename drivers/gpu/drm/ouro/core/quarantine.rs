// SPDX-License-Identifier: GPL-2.0
//! Freed memory that the device may still reach: through its TLBs, or by writes on their way.
//!
//! It is unmapped before it comes here. Then three things happen, in this order, to a set of memory
//! at a time, and what is freed meanwhile gathers in the next set:
//!
//! 1. TLBs that may survive the invalidations in requests are invalidated, so that no new access
//!    reaches the memory.
//! 2. Each engine flushes the writes that it began before that.
//! 3. The memory is free.
//!
//! The state has a lock around it, which its users hold for a moment only: not while they wait for
//! the device, nor while they free memory.

/// A list of memory.
pub trait Pile: Default {
    /// Returns whether the list has no element.
    fn is_empty(&self) -> bool;

    /// Moves all elements of `other` to the end of this list.
    fn append(&mut self, other: &mut Self);
}

/// The stage of the closed set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Stage {
    /// TLBs may lead to it. Or it is empty.
    #[default]
    Reached,
    /// A caller invalidates TLBs.
    Invalidating,
    /// It waits for the engines.
    Flushing,
    /// A caller has taken it, and frees it.
    Taken,
}

/// Freed memory, in two sets: open and closed.
#[derive(Default)]
pub struct Quarantine<P> {
    open: P,
    closed: P,
    stage: Stage,
}

impl<P: Pile> Quarantine<P> {
    /// Returns the set that freed memory is added to.
    pub fn open(&mut self) -> &mut P {
        &mut self.open
    }

    /// Closes the open set, if no other one is closed. Returns whether the caller is to invalidate
    /// TLBs; [`invalidated`](Self::invalidated) must follow.
    pub fn begin(&mut self) -> bool {
        if self.stage != Stage::Reached {
            return false;
        }
        if self.closed.is_empty() {
            self.closed.append(&mut self.open);
        }
        let begins = !self.closed.is_empty();
        if begins {
            self.stage = Stage::Invalidating;
        }
        begins
    }

    /// Ends a [`begin`](Self::begin). If TLBs were invalidated, the closed set must wait for what
    /// the engines have begun until now. Otherwise the next call of `begin` tries again.
    pub fn invalidated(&mut self, done: bool) {
        self.stage = match done {
            true => Stage::Flushing,
            false => Stage::Reached,
        };
    }

    /// Returns whether a set is closed, and no caller works on it.
    pub fn is_closed(&self) -> bool {
        self.is_flushing() || self.stage == Stage::Reached && !self.closed.is_empty()
    }

    /// Returns whether the closed set waits for the engines.
    pub fn is_flushing(&self) -> bool {
        self.stage == Stage::Flushing
    }

    /// Takes the closed set, which has waited for the engines. `None` if there is none.
    /// [`end`](Self::end) must follow.
    pub fn take(&mut self) -> Option<P> {
        if !self.is_flushing() {
            return None;
        }
        self.stage = Stage::Taken;
        Some(core::mem::take(&mut self.closed))
    }

    /// Ends a [`take`](Self::take): the memory is free.
    pub fn end(&mut self) {
        self.stage = Stage::Reached;
    }

    /// Returns whether all memory is free.
    pub fn is_empty(&self) -> bool {
        self.stage == Stage::Reached && self.open.is_empty() && self.closed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{vec, vec::Vec};

    impl Pile for Vec<u32> {
        fn is_empty(&self) -> bool {
            Vec::is_empty(self)
        }

        fn append(&mut self, other: &mut Self) {
            Vec::append(self, other);
        }
    }

    fn with(open: &[u32]) -> Quarantine<Vec<u32>> {
        let mut all = Quarantine::<Vec<u32>>::default();
        all.open().extend_from_slice(open);
        all
    }

    #[test]
    fn memory_is_open_closed_taken_and_free() {
        let mut all = with(&[1, 2]);
        assert!(!all.is_empty() && !all.is_closed());
        assert_eq!(all.take(), None);
        assert!(all.begin());
        assert!(!all.is_empty() && !all.is_closed());
        assert_eq!(all.take(), None, "TLBs lead to it");
        all.invalidated(true);
        assert!(!all.is_empty() && all.is_closed() && all.is_flushing());
        assert_eq!(all.take(), Some(vec![1, 2]));
        // Not free before the caller says so.
        assert!(!all.is_empty() && !all.is_closed());
        all.end();
        assert!(all.is_empty());
        assert!(!all.begin());
        assert!(all.is_empty());
    }

    #[test]
    fn memory_that_comes_later_waits_longer() {
        let mut all = with(&[1]);
        assert!(all.begin());
        all.open().push(2);
        all.invalidated(true);
        // It may have been unmapped after the invalidation.
        assert!(!all.begin(), "it would be free with what came before");
        assert_eq!(all.take(), Some(vec![1]));
        assert!(!all.begin());
        all.end();
        assert!(all.begin());
        all.invalidated(true);
        assert_eq!(all.take(), Some(vec![2]));
    }

    #[test]
    fn one_caller_at_a_time_waits_for_the_device() {
        let mut all = with(&[1]);
        assert!(all.begin());
        all.open().push(2);
        assert!(!all.begin());
        assert_eq!(all.take(), None);
        all.invalidated(true);
        assert_eq!(all.take(), Some(vec![1]));
        assert_eq!(all.take(), None);
        assert!(!all.is_empty());
    }

    #[test]
    fn what_may_still_be_reached_is_kept() {
        let mut all = with(&[1, 2]);
        assert!(all.begin());
        all.open().push(3);
        all.invalidated(false);
        assert!(all.is_closed() && !all.is_flushing());
        assert_eq!(all.take(), None);
        // The same set: what came later was not there to be closed.
        assert!(all.begin());
        all.invalidated(true);
        assert_eq!(all.take(), Some(vec![1, 2]));
        all.end();
        assert!(all.begin());
        all.invalidated(true);
        assert_eq!(all.take(), Some(vec![3]));
    }
}
