// SPDX-License-Identifier: GPL-2.0
//! The port of a ring: the bookkeeping between the request queue and the hardware.
//!
//! Free of registers. The queue asks the port for room, gets a seqno and a slot in the ring, and
//! reports completions. A ring runs requests in order.

use ouro_hw::{
    ring::{Ring, Slot},
    types::{RingOffset, Seqno},
};

/// Identifies a context to a port. Not reused while a request of the context is in flight. On
/// engines without hardware contexts it identifies the client of the last batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContextKey(pub u64);

impl ContextKey {
    /// The key of the kernel's own batches.
    pub const KERNEL: Self = Self(0);
}

/// A version of a page directory: its place and its PDEs at one time. No two versions have the same
/// number. An engine that has loaded one version does not see the PDEs of a later one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edition(pub u64);

impl Edition {
    /// The global space's directory, which never changes.
    pub const GLOBAL: Self = Self(0);
}

/// The port of an engine with one ring.
#[derive(Debug)]
pub struct RingPort {
    ring: Ring,
    last: Seqno,
    loaded: Option<ContextKey>,
    directory: Option<Edition>,
}

/// The place of a request in a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placed {
    /// The slot for its commands.
    pub slot: Slot,
    /// The seqno that its last command stores.
    pub seqno: Seqno,
}

impl RingPort {
    /// Creates an empty ring of `bytes`, with no context loaded.
    pub const fn new(bytes: u32) -> Self {
        Self {
            ring: Ring::new(bytes),
            last: Seqno(0),
            loaded: None,
            directory: None,
        }
    }

    /// Returns whether a request of up to `dwords` is certain to fit, wrap included.
    pub fn has_room(&self, dwords: usize) -> bool {
        // The padding before a wrap is shorter than the commands that cause it.
        u32::try_from(dwords)
            .ok()
            .and_then(|d| d.checked_mul(8))
            .is_some_and(|bytes| bytes <= self.ring.space())
    }

    /// Returns the seqno of the next request.
    pub fn next_seqno(&self) -> Seqno {
        self.last.next()
    }

    /// Returns the seqno of the last request placed.
    pub fn last_seqno(&self) -> Seqno {
        self.last
    }

    /// Returns whether a request of this context needs a context switch. `None`: any context will
    /// do.
    pub fn needs_switch(&self, context: Option<ContextKey>) -> bool {
        context.is_some() && context != self.loaded
    }

    /// Returns whether a request must load this directory. `None`: any directory will do.
    pub fn needs_load(&self, directory: Option<Edition>) -> bool {
        directory.is_some() && directory != self.directory
    }

    /// A placed request loads this directory.
    pub fn loads(&mut self, directory: Edition) {
        self.directory = Some(directory);
    }

    /// Reserves a slot for a request. `None`, without any change, if there is no room.
    pub fn place(&mut self, dwords: usize, context: Option<ContextKey>) -> Option<Placed> {
        let slot = self.ring.reserve(dwords)?;
        self.last = self.last.next();
        if context.is_some() {
            self.loaded = context;
        }
        Some(Placed {
            slot,
            seqno: self.last,
        })
    }

    /// The request that ended at `tail` has completed.
    pub fn completed(&mut self, tail: RingOffset) {
        self.ring.retire(tail);
    }

    /// The ring was stopped and emptied. Seqnos continue.
    pub fn clear(&mut self) {
        self.ring.clear();
        self.loaded = None;
        self.directory = None;
    }

    /// Returns the context that will be loaded when all placed requests have run.
    pub fn loaded(&self) -> Option<ContextKey> {
        self.loaded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Option<ContextKey> = Some(ContextKey(1));
    const B: Option<ContextKey> = Some(ContextKey(2));

    #[test]
    fn a_ring_switches_only_between_contexts() {
        let mut p = RingPort::new(4096);
        assert!(p.needs_switch(A));
        p.place(10, A).unwrap();
        assert!(!p.needs_switch(A));
        assert!(!p.needs_switch(None));
        assert!(p.needs_switch(B));
        p.place(10, None).unwrap();
        assert_eq!(p.loaded(), A);
        p.clear();
        assert!(p.needs_switch(A), "after a reset nothing is loaded");
    }

    #[test]
    fn a_directory_is_loaded_when_it_is_another_or_has_changed() {
        let mut p = RingPort::new(4096);
        let (first, second) = (Some(Edition(7)), Some(Edition(8)));
        assert!(p.needs_load(first), "at first it is unknown what is loaded");
        assert!(!p.needs_load(None));
        p.loads(Edition(7));
        assert!(!p.needs_load(first), "the space stays");
        p.place(10, A).unwrap();
        p.place(10, B).unwrap();
        assert!(
            !p.needs_load(first),
            "a switch of contexts does not change it"
        );
        assert!(p.needs_load(second), "it has got an entry");
        p.loads(Edition(8));
        assert!(p.needs_load(Some(Edition::GLOBAL)));
    }

    #[test]
    fn after_a_reset_the_directory_is_unknown() {
        let mut p = RingPort::new(4096);
        for loaded in [Edition(8), Edition::GLOBAL] {
            p.loads(loaded);
            p.clear();
            assert!(p.needs_load(Some(loaded)));
            assert!(p.needs_load(Some(Edition::GLOBAL)));
        }
    }

    #[test]
    fn numbers_go_up_by_one_and_on_after_a_reset() {
        let mut p = RingPort::new(4096);
        assert_eq!(p.place(2, None).unwrap().seqno, Seqno(1));
        assert_eq!(p.next_seqno(), Seqno(2));
        p.clear();
        assert_eq!(p.place(2, None).unwrap().seqno, Seqno(2));
    }

    #[test]
    fn what_has_room_can_be_placed_wherever_the_tail_is() {
        for tail in (0..4096 / 8).map(|q| q * 8) {
            let mut p = RingPort::new(4096);
            if tail > 0 && tail < 4096 - 64 {
                let placed = p.place(tail as usize / 4, None).unwrap();
                p.completed(placed.slot.tail);
            }
            assert!(p.has_room(200));
            assert!(p.place(200, None).is_some(), "tail {tail}");
        }
    }

    #[test]
    fn a_full_ring_changes_nothing() {
        let mut p = RingPort::new(4096);
        let first = p.place(1000, A).unwrap();
        assert!(!p.has_room(8));
        assert_eq!(p.place(20, B), None);
        assert_eq!((p.last_seqno(), p.loaded()), (Seqno(1), A));
        p.completed(first.slot.tail);
        assert!(p.has_room(200));
    }
}
