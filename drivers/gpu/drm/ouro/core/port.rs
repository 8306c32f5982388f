// SPDX-License-Identifier: GPL-2.0
//! What an engine's port takes next: the bookkeeping between a queue of requests and the hardware.
//!
//! Free of registers. The queue asks the port whether it has room, gets a number and a place, and
//! tells it what has completed. A ring takes requests in their order; a list takes the tails of
//! several contexts at a time.

use ouro_hw::{
    engine::ListEntry,
    ring::{Ring, Slot},
    types::{RingOffset, Seqno},
};

/// A context, as the port tells them apart. Never reused while a request of it is in flight. Where the
/// hardware has none, it is the client whose batch was last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContextKey(pub u64);

impl ContextKey {
    /// Nobody's: the kernel's own batches.
    pub const KERNEL: Self = Self(0);
}

/// The port of an engine with one ring.
#[derive(Debug)]
pub struct RingPort {
    ring: Ring,
    last: Seqno,
    loaded: Option<ContextKey>,
}

/// A request's place in a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Where its commands go.
    pub slot: Slot,
    /// The number that its last command writes. It is the one given to the emission.
    pub seqno: Seqno,
}

impl RingPort {
    /// An empty ring of `bytes`; nothing is loaded.
    pub const fn new(bytes: u32) -> Self {
        Self {
            ring: Ring::new(bytes),
            last: Seqno(0),
            loaded: None,
        }
    }

    /// Whether a request of up to `dwords` surely fits, wrap included.
    pub fn has_room(&self, dwords: usize) -> bool {
        // The padding before a wrap is shorter than what caused it.
        u32::try_from(dwords)
            .ok()
            .and_then(|d| d.checked_mul(8))
            .is_some_and(|bytes| bytes <= self.ring.space())
    }

    /// The number of the next request.
    pub fn next_seqno(&self) -> Seqno {
        self.last.next()
    }

    /// The number of the last request placed.
    pub fn last_seqno(&self) -> Seqno {
        self.last
    }

    /// Whether a request of this context needs a switch first. `None`: any context will do.
    pub fn needs_switch(&self, context: Option<ContextKey>) -> bool {
        context.is_some() && context != self.loaded
    }

    /// Places a request. `None`, and nothing changes, if there is no room.
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

    /// The ring was stopped and emptied; the numbers go on.
    pub fn clear(&mut self) {
        self.ring.clear();
        self.loaded = None;
    }

    /// The context that is loaded when all that was placed has run.
    pub fn loaded(&self) -> Option<ContextKey> {
        self.loaded
    }
}

/// Entries that a list has at most.
pub const MAX_LIST: usize = 8;

/// The port of an engine that takes a list of contexts.
///
/// One load at a time is on its way; what comes in meanwhile is merged into the next one, and a
/// context that is listed already only gets a new tail.
#[derive(Debug)]
pub struct ListPort {
    depth: usize,
    next: List,
    loading: bool,
    dirty: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct List {
    entries: [Option<(ContextKey, ListEntry)>; MAX_LIST],
    len: usize,
}

impl ListPort {
    /// An idle port of `depth` entries (at most [`MAX_LIST`]).
    pub fn new(depth: u8) -> Self {
        Self {
            depth: usize::from(depth).min(MAX_LIST),
            next: List::default(),
            loading: false,
            dirty: false,
        }
    }

    /// Adds a context, or moves the tail of one that is there. False: the list is full.
    pub fn add(&mut self, key: ContextKey, entry: ListEntry) -> bool {
        let len = self.next.len;
        for (k, e) in self.next.entries.iter_mut().take(len).flatten() {
            if *k == key {
                *e = entry;
                self.dirty = true;
                return true;
            }
        }
        if len >= self.depth {
            return false;
        }
        if let Some(place) = self.next.entries.get_mut(len) {
            *place = Some((key, entry));
            self.next.len += 1;
            self.dirty = true;
        }
        true
    }

    /// The device is done with a context.
    pub fn remove(&mut self, key: ContextKey) {
        let len = self.next.len;
        let mut kept = List::default();
        for e in self.next.entries.iter().take(len).flatten() {
            if e.0 != key {
                if let Some(place) = kept.entries.get_mut(kept.len) {
                    *place = Some(*e);
                    kept.len += 1;
                }
            }
        }
        self.next = kept;
    }

    /// What to load now, if anything: the entries go to `out`, and their number comes back.
    pub fn load(&mut self, out: &mut [ListEntry; MAX_LIST]) -> Option<usize> {
        if self.loading || !self.dirty || self.next.len == 0 {
            return None;
        }
        for (o, e) in out.iter_mut().zip(self.next.entries.iter().flatten()) {
            *o = e.1;
        }
        self.loading = true;
        self.dirty = false;
        Some(self.next.len)
    }

    /// The device has taken the load.
    pub fn acknowledged(&mut self) {
        self.loading = false;
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

    fn entry(n: u64) -> ListEntry {
        ListEntry {
            descriptor: n,
            tail: RingOffset(n as u32),
            restore: false,
        }
    }

    #[test]
    fn a_list_loads_once_until_acknowledged_and_merges_meanwhile() {
        let mut p = ListPort::new(8);
        let mut out = [entry(0); MAX_LIST];
        assert_eq!(p.load(&mut out), None, "nothing to do");
        assert!(p.add(ContextKey(1), entry(10)));
        assert_eq!(p.load(&mut out), Some(1));
        for n in 0..100 {
            assert!(p.add(ContextKey(1), entry(11 + n)));
            assert_eq!(p.load(&mut out), None, "one load at a time");
        }
        p.acknowledged();
        assert_eq!(p.load(&mut out), Some(1));
        assert_eq!(out[0], entry(110));
        p.acknowledged();
        assert_eq!(p.load(&mut out), None, "100 additions became one load");
    }

    #[test]
    fn a_list_is_full_at_its_depth() {
        let mut p = ListPort::new(2);
        assert!(p.add(ContextKey(1), entry(1)) && p.add(ContextKey(2), entry(2)));
        assert!(!p.add(ContextKey(3), entry(3)));
        p.remove(ContextKey(1));
        assert!(p.add(ContextKey(3), entry(3)));
        let mut out = [entry(0); MAX_LIST];
        assert_eq!(p.load(&mut out), Some(2));
        assert_eq!(out[..2], [entry(2), entry(3)]);
    }
}
