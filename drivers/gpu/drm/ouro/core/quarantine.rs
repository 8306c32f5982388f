// SPDX-License-Identifier: GPL-2.0
//! Freed memory that the device may still reach through its TLBs: what waits for requests, and what
//! one caller has taken to wait for the device.
//!
//! The state has a lock around it, which its users hold for a moment only. Memory is taken out
//! before a wait for the device and comes back behind it, so that the lock is not held meanwhile.

/// A list of memory.
pub trait Pile: Default {
    /// Returns whether the list has no element.
    fn is_empty(&self) -> bool;

    /// Moves all elements of `other` to the end of this list.
    fn append(&mut self, other: &mut Self);
}

/// Freed memory, in three sets: open, closed, and taken.
#[derive(Default)]
pub struct Quarantine<P> {
    /// Has no seqnos to wait for yet.
    open: P,
    /// Waits for seqnos.
    closed: P,
    /// A caller has the memory of the third set.
    is_taken: bool,
}

impl<P: Pile> Quarantine<P> {
    /// Returns the set that freed memory is added to.
    pub fn open(&mut self) -> &mut P {
        &mut self.open
    }

    /// Closes the open set, if the other sets are empty. Returns whether it did: the set must wait
    /// for what the engines have begun until now.
    pub fn close(&mut self) -> bool {
        let closes = !self.is_taken && self.closed.is_empty() && !self.open.is_empty();
        if closes {
            self.closed.append(&mut self.open);
        }
        closes
    }

    /// Returns whether memory waits for seqnos.
    pub fn is_closed(&self) -> bool {
        !self.closed.is_empty()
    }

    /// Takes the closed memory, whose seqnos have passed. `None` if there is none, or another
    /// caller has it. [`end`](Self::end) must follow.
    pub fn take(&mut self) -> Option<P> {
        // Nothing is closed while another caller has some.
        if self.closed.is_empty() {
            return None;
        }
        self.is_taken = true;
        Some(core::mem::take(&mut self.closed))
    }

    /// Ends a [`take`](Self::take). `kept` is the memory that may still be reached.
    pub fn end(&mut self, mut kept: P) {
        self.closed.append(&mut kept);
        self.is_taken = false;
    }

    /// Returns whether all sets are empty.
    pub fn is_empty(&self) -> bool {
        !self.is_taken && self.open.is_empty() && self.closed.is_empty()
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
        assert!(all.close());
        assert!(!all.is_empty() && all.is_closed());
        let taken = all.take();
        assert_eq!(taken, Some(vec![1, 2]));
        // Not free before the caller says so.
        assert!(!all.is_empty() && !all.is_closed());
        all.end(vec![]);
        assert!(all.is_empty());
        assert!(!all.close());
    }

    #[test]
    fn memory_that_comes_later_waits_for_later_seqnos() {
        let mut all = with(&[1]);
        assert!(all.close());
        all.open().push(2);
        assert!(!all.close(), "it would be free with what came before");
        assert_eq!(all.take(), Some(vec![1]));
        // Its requests may have begun before it was unmapped.
        assert!(!all.close());
        all.end(vec![]);
        assert!(all.close());
        assert_eq!(all.take(), Some(vec![2]));
    }

    #[test]
    fn one_caller_at_a_time_waits_for_the_device() {
        let mut all = with(&[1]);
        all.close();
        all.take();
        all.open().push(2);
        all.close();
        assert_eq!(all.take(), None);
        assert!(!all.is_empty());
    }

    #[test]
    fn what_may_still_be_reached_is_kept() {
        let mut all = with(&[1, 2]);
        all.close();
        let taken = all.take();
        all.open().push(3);
        all.end(taken.unwrap());
        assert!(all.is_closed() && !all.close());
        assert_eq!(all.take(), Some(vec![1, 2]));
        all.end(vec![]);
        assert!(all.close());
        assert_eq!(all.take(), Some(vec![3]));
    }
}
