// SPDX-License-Identifier: GPL-2.0
//! The port of an engine that takes lists of contexts: what it was given, and what it has of that.
//!
//! One load at a time is on its way, until an event says that the engine has taken it: loads in between
//! would not all be reported. A context is held from the load that has it until an event says that the
//! engine has let go of it; its image is not touched in between, nor its ring moved.
//!
//! The engine reports into a ring of so many entries, and does not wait for their reader. A list has only so
//! many contexts that what can be reported before its reader looks again always fits.
//!
//! A new tail is written to the image of a context that may be running. If the engine saves the image before
//! it takes the load, the tail that it had is written over the new one: then it runs the context up to the
//! old tail and says that it has finished. So only the numbers that requests write say how far a context has
//! run. One that was let go of too early is listed again; its image is not touched by then.

use crate::port::ContextKey;
use ouro_hw::{
    engine::{ListEntry, PortEvent},
    types::RingOffset,
};

/// Entries that a list has at most.
pub const MAX_LIST: usize = 8;

/// A context that is to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Which one.
    pub key: ContextKey,
    /// Its id in events.
    pub id: u32,
    /// How urgent it is: more is more.
    pub priority: i32,
    /// Its descriptor.
    pub descriptor: u64,
    /// The tail of its ring.
    pub tail: RingOffset,
    /// Whether its image was changed by other than the engine since it was last in a list.
    pub fresh: bool,
}

/// A context that the engine has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Held {
    key: ContextKey,
    id: u32,
    priority: i32,
    tail: RingOffset,
    /// Whether it has run up to its tail, as far as is known.
    done: bool,
    /// Whether it must go.
    unwanted: bool,
}

/// A list, in order.
#[derive(Clone, Copy, Debug, Default)]
struct List {
    entries: [Option<Held>; MAX_LIST],
}

impl List {
    fn iter(&self) -> impl Iterator<Item = &Held> {
        self.entries.iter().flatten()
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Held> {
        self.entries.iter_mut().flatten()
    }

    fn len(&self) -> usize {
        self.iter().count()
    }

    fn has(&self, key: ContextKey) -> bool {
        self.iter().any(|h| h.key == key)
    }

    fn pop(&mut self) {
        self.entries.rotate_left(1);
        if let Some(last) = self.entries.last_mut() {
            *last = None;
        }
    }
}

/// What to write to the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Load {
    entries: [ListEntry; MAX_LIST],
    ids: [u32; MAX_LIST],
    len: usize,
}

impl Load {
    /// The id of each entry's context.
    pub fn ids(&self) -> &[u32] {
        self.ids.get(..self.len).unwrap_or(&[])
    }

    /// The entries. With none, the engine becomes idle.
    pub fn entries(&self) -> &[ListEntry] {
        self.entries.get(..self.len).unwrap_or(&[])
    }
}

/// A context that the engine has let go of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Released {
    /// Which one.
    pub key: ContextKey,
    /// The tail up to which it has run for sure, if there is one.
    pub done: Option<RingOffset>,
}

/// What an event meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    released: [Option<Released>; MAX_LIST],
    /// Whether the engine has taken the load.
    pub acknowledged: bool,
}

impl Outcome {
    /// The contexts that the engine has let go of.
    pub fn released(&self) -> impl Iterator<Item = &Released> {
        self.released.iter().flatten()
    }

    fn release(&mut self, held: &Held) {
        if let Some(free) = self.released.iter_mut().find(|r| r.is_none()) {
            *free = Some(Released {
                key: held.key,
                done: held.done.then_some(held.tail),
            });
        }
    }
}

/// An event that cannot be: the engine does not do what it was told. Only a reset helps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unexpected;

/// The port.
#[derive(Debug)]
pub struct ListPort {
    depth: usize,
    events: usize,
    /// What the engine has taken; the first one runs.
    loaded: List,
    /// The load that is on its way.
    loading: Option<List>,
}

/// Contexts that the engine should have: one that runs, and one that it goes on with by itself.
const ENOUGH: usize = 2;

impl ListPort {
    /// An idle port of `depth` entries (at most [`MAX_LIST`]), which reports into a ring of `events`.
    pub fn new(depth: u8, events: u8) -> Self {
        Self {
            depth: usize::from(depth).min(MAX_LIST),
            events: events.into(),
            loaded: List::default(),
            loading: None,
        }
    }

    /// Contexts that the next load may have; none as long as one is on its way.
    ///
    /// Each context of a list makes at most one event, when the engine is done with it, and each load makes
    /// one. Before events are read again there may be those of what is loaded now and of the next load.
    pub fn room(&self) -> usize {
        if self.loading.is_some() {
            return 0;
        }
        let spoken_for = self.loaded.len().saturating_add(1);
        self.depth.min(self.events.saturating_sub(spoken_for))
    }

    /// Whether a load is on its way.
    pub fn is_loading(&self) -> bool {
        self.loading.is_some()
    }

    /// Whether the engine has, or is being given, a context.
    pub fn holds(&self, key: ContextKey) -> bool {
        self.loaded.has(key) || self.loading.is_some_and(|l| l.has(key))
    }

    /// Whether the engine has nothing, and nothing is on its way.
    pub fn is_idle(&self) -> bool {
        self.loading.is_none() && self.loaded.len() == 0
    }

    /// The context that runs, if it is not known to have run up to its tail.
    pub fn running(&self) -> Option<ContextKey> {
        self.working().next().map(|h| h.key)
    }

    /// A context has run up to `tail`.
    pub fn completed(&mut self, key: ContextKey, tail: RingOffset) {
        let lists = [Some(&mut self.loaded), self.loading.as_mut()];
        for held in lists.into_iter().flatten().flat_map(List::iter_mut) {
            if held.key == key && held.tail == tail {
                held.done = true;
            }
        }
    }

    /// A context has another priority.
    pub fn set_priority(&mut self, key: ContextKey, priority: i32) {
        let lists = [Some(&mut self.loaded), self.loading.as_mut()];
        for held in lists.into_iter().flatten().flat_map(List::iter_mut) {
            if held.key == key {
                held.priority = priority;
            }
        }
    }

    /// A context is not to run any more: the next load goes without it.
    pub fn cancel(&mut self, key: ContextKey) {
        let lists = [Some(&mut self.loaded), self.loading.as_mut()];
        for held in lists.into_iter().flatten().flat_map(List::iter_mut) {
            if held.key == key {
                held.unwanted = true;
            }
        }
    }

    /// What the engine still works on.
    fn working(&self) -> impl Iterator<Item = &Held> {
        self.loaded.iter().filter(|h| !h.done)
    }

    /// Whether the engine must be told of `wanted`. It must if what runs is not what should, or has more to
    /// do; if it has only that one, or behind it less urgent ones than there are; if it has one that must go.
    /// Other changes can wait until it is done with one: each load disturbs what runs.
    fn must_load(&self, wanted: &[Wanted]) -> bool {
        if self.working().any(|h| h.unwanted) {
            return true;
        }
        let (Some(now), Some(want)) = (self.working().next(), wanted.first()) else {
            return !wanted.is_empty();
        };
        if now.key != want.key || now.tail != want.tail {
            return true;
        }
        let mut pairs = self.working().zip(wanted);
        if pairs.any(|(now, want)| want.priority > now.priority) {
            return true;
        }
        self.working().count() < ENOUGH.min(wanted.len())
    }

    /// What to load now so that `wanted` runs, most urgent first; `None` if that need not or cannot be.
    /// [`room`](Self::room) of them are looked at. No context is in it twice.
    pub fn load(&mut self, wanted: &[Wanted]) -> Option<Load> {
        let wanted = wanted.get(..self.room()).unwrap_or(wanted);
        if self.loading.is_some() || !self.must_load(wanted) {
            return None;
        }
        let none = ListEntry {
            descriptor: 0,
            tail: RingOffset(0),
            restore: false,
        };
        let mut load = Load {
            entries: [none; MAX_LIST],
            ids: [0; MAX_LIST],
            len: 0,
        };
        let mut list = List::default();
        let places = load.entries.iter_mut().zip(load.ids.iter_mut());
        let places = places.zip(list.entries.iter_mut());
        for (want, ((entry, id), held)) in wanted.iter().zip(places) {
            *id = want.id;
            let mut listed = self.loaded.iter();
            let same = listed.any(|h| h.key == want.key && h.tail == want.tail);
            *entry = ListEntry {
                descriptor: want.descriptor,
                tail: want.tail,
                restore: want.fresh || same,
            };
            *held = Some(Held {
                key: want.key,
                id: want.id,
                priority: want.priority,
                tail: want.tail,
                done: false,
                unwanted: false,
            });
            load.len = load.len.saturating_add(1);
        }
        self.loading = Some(list);
        Some(load)
    }

    /// An event of the engine.
    ///
    /// That a context had nothing left to do is not relied on: it may have had an old tail, and when a load
    /// takes its place, chips say so of some that had.
    pub fn event(&mut self, event: &PortEvent) -> Result<Outcome, Unexpected> {
        let mut outcome = Outcome::default();
        let first = self.loaded.iter().next().copied();
        if event.from.is_some() && event.from != first.map(|h| h.id) {
            return Err(Unexpected);
        }
        if event.new_list {
            let list = self.loading.take().ok_or(Unexpected)?;
            if event.to != list.iter().next().map(|h| h.id) {
                self.loading = Some(list);
                return Err(Unexpected);
            }
            outcome.acknowledged = true;
            for held in self.loaded.iter().filter(|h| !list.has(h.key)) {
                outcome.release(held);
            }
            self.loaded = list;
            return Ok(outcome);
        }
        let held = first.ok_or(Unexpected)?;
        let next = self.loaded.iter().nth(1).map(|h| h.id);
        if event.from.is_none() || event.to != next {
            return Err(Unexpected);
        }
        self.loaded.pop();
        // It may be in the load that is on its way.
        if !self.holds(held.key) {
            outcome.release(&held);
        }
        Ok(outcome)
    }

    /// The engine was reset: it has nothing. All that it had is released, with what is known to be done.
    pub fn reset(&mut self) -> impl Iterator<Item = Released> {
        let loaded = core::mem::take(&mut self.loaded);
        let loading = self.loading.take().unwrap_or_default();
        let only_loading = loading
            .entries
            .into_iter()
            .flatten()
            .filter(move |h| !loaded.has(h.key));
        let all = loaded.entries.into_iter().flatten().chain(only_loading);
        all.map(|h| Released {
            key: h.key,
            done: h.done.then_some(h.tail),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn want(n: u32, tail: u32) -> Wanted {
        Wanted {
            key: ContextKey(n.into()),
            id: n,
            priority: 0,
            descriptor: u64::from(n) << 39,
            tail: RingOffset(tail),
            fresh: false,
        }
    }

    const fn event(from: Option<u32>, finished: bool, to: Option<u32>, new: bool) -> PortEvent {
        PortEvent {
            from,
            finished,
            to,
            new_list: new,
        }
    }

    fn tails(load: Option<Load>) -> Vec<(u64, u32, bool)> {
        let load = load.expect("a load");
        let entry = |e: &ListEntry| (e.descriptor >> 39, e.tail.0, e.restore);
        load.entries().iter().map(entry).collect()
    }

    #[test]
    fn a_hundred_requests_to_a_busy_engine() {
        let mut port = ListPort::new(8, 12);
        let (mut loads, mut acknowledged) = (0, 0);
        for n in 0..100u32 {
            let free = !port.is_loading();
            let load = port.load(&[want(1, 8 + 8 * n)]);
            // None is delayed while the port is free, none is written while one is on its way.
            assert_eq!(load.is_some(), free);
            loads += u32::from(load.is_some());
            if n % 7 == 3 {
                let from_idle = event(None, false, Some(1), true);
                assert!(port.event(&from_idle).unwrap().acknowledged);
                acknowledged += 1;
            }
            assert!(loads <= acknowledged + 1);
        }
        assert_eq!((loads, acknowledged), (15, 14));
        // What came meanwhile is in the load after the last acknowledgement, as a whole.
        port.event(&event(None, false, Some(1), true)).unwrap();
        assert_eq!(tails(port.load(&[want(1, 800)])), [(1, 800, false)]);
    }

    #[test]
    fn a_tail_that_does_not_go_on_is_restored() {
        let mut port = ListPort::new(8, 12);
        assert_eq!(tails(port.load(&[want(1, 8)])), [(1, 8, false)]);
        port.event(&event(None, false, Some(1), true)).unwrap();
        assert_eq!(port.load(&[want(1, 8)]), None, "nothing new");
        // A second context behind it: the first one has no new tail.
        let both = [want(1, 8), want(2, 16)];
        assert_eq!(tails(port.load(&both)), [(1, 8, true), (2, 16, false)]);
        port.event(&event(None, false, Some(1), true)).unwrap();
        // A third one can wait until there is one less.
        let three = [want(1, 8), want(2, 16), want(3, 8)];
        assert_eq!(port.load(&three), None);
        port.event(&event(Some(1), true, Some(2), false)).unwrap();
        assert_eq!(
            tails(port.load(&three[1..])),
            [(2, 16, true), (3, 8, false)]
        );
        // One that was changed is restored, too.
        let mut port = ListPort::new(8, 12);
        let fresh = Wanted {
            fresh: true,
            ..want(1, 8)
        };
        assert_eq!(tails(port.load(&[fresh])), [(1, 8, true)]);
    }

    #[test]
    fn urgent_contexts_do_not_wait() {
        let mut port = ListPort::new(8, 12);
        port.load(&[want(1, 8), want(2, 8)]).unwrap();
        port.event(&event(None, false, Some(1), true)).unwrap();
        let urgent = Wanted {
            priority: 5,
            ..want(3, 8)
        };
        // One that is not urgent any more is not in the way.
        let other = [want(1, 8), want(4, 8)];
        assert_eq!(port.load(&other), None);
        port.set_priority(ContextKey(2), -1);
        assert!(port.load(&other).is_some());
        port.event(&event(None, false, Some(1), true)).unwrap();
        // Behind the first one, and then in its place.
        assert!(port.load(&[want(1, 8), urgent, want(2, 8)]).is_some());
        port.event(&event(None, false, Some(1), true)).unwrap();
        assert!(port.load(&[urgent, want(1, 8), want(2, 8)]).is_some());
        let outcome = port.event(&event(Some(1), false, Some(3), true)).unwrap();
        assert_eq!(outcome.released().count(), 0, "all are listed again");
        assert_eq!(port.running(), Some(ContextKey(3)));
    }

    #[test]
    fn contexts_are_held_until_events_release_them() {
        let mut port = ListPort::new(8, 12);
        port.load(&[want(1, 8), want(2, 8)]).unwrap();
        assert!(port.holds(ContextKey(2)));
        port.event(&event(None, false, Some(1), true)).unwrap();
        let released = |key, done| Released {
            key: ContextKey(key),
            done,
        };
        port.completed(ContextKey(1), RingOffset(8));
        let outcome = port.event(&event(Some(1), true, Some(2), false)).unwrap();
        let found: Vec<_> = outcome.released().copied().collect();
        assert_eq!(found, [released(1, Some(RingOffset(8)))]);
        assert!(!port.holds(ContextKey(1)) && port.holds(ContextKey(2)));
        // Preempted by a list without it. That it was finished is not believed.
        port.load(&[want(3, 8)]).unwrap();
        let outcome = port.event(&event(Some(2), true, Some(3), true)).unwrap();
        let found: Vec<_> = outcome.released().copied().collect();
        assert_eq!(found, [released(2, None)]);
        // Nor is it here: its tail may have been an old one.
        let outcome = port.event(&event(Some(3), true, None, false)).unwrap();
        let found: Vec<_> = outcome.released().copied().collect();
        assert_eq!(found, [released(3, None)]);
        assert!(port.is_idle());
    }

    #[test]
    fn one_that_finishes_while_it_is_listed_again_stays_held() {
        let mut port = ListPort::new(8, 12);
        port.load(&[want(1, 8)]).unwrap();
        port.event(&event(None, false, Some(1), true)).unwrap();
        port.load(&[want(1, 16)]).unwrap();
        let outcome = port.event(&event(Some(1), true, None, false)).unwrap();
        assert_eq!(outcome.released().count(), 0);
        assert!(port.holds(ContextKey(1)));
        port.event(&event(None, false, Some(1), true)).unwrap();
        let outcome = port.event(&event(Some(1), true, None, false)).unwrap();
        assert_eq!(outcome.released().count(), 1);
    }

    #[test]
    fn what_must_go_goes() {
        let mut port = ListPort::new(8, 12);
        port.load(&[want(1, 8)]).unwrap();
        port.event(&event(None, false, Some(1), true)).unwrap();
        assert_eq!(port.load(&[]), None);
        port.cancel(ContextKey(1));
        assert_eq!(tails(port.load(&[])), []);
        let outcome = port.event(&event(Some(1), false, None, true)).unwrap();
        assert_eq!(outcome.released().count(), 1);
        assert!(port.is_idle());
    }

    #[test]
    fn what_is_known_to_be_done_needs_no_load() {
        let mut port = ListPort::new(8, 12);
        port.load(&[want(1, 8), want(2, 8)]).unwrap();
        port.event(&event(None, false, Some(1), true)).unwrap();
        port.completed(ContextKey(1), RingOffset(8));
        assert_eq!(port.running(), Some(ContextKey(2)));
        assert_eq!(port.load(&[want(2, 8)]), None);
    }

    #[test]
    fn events_always_fit() {
        let mut port = ListPort::new(8, 12);
        let all: Vec<_> = (1..=8).map(|n| want(n, 8)).collect();
        let other: Vec<_> = (11..=18).map(|n| want(n, 8)).collect();
        assert_eq!(port.load(&all).unwrap().entries().len(), 8);
        port.event(&event(None, false, Some(1), true)).unwrap();
        // Eight may end, one is the load's, three are left.
        assert_eq!(port.load(&other).unwrap().entries().len(), 3);
        assert_eq!(port.room(), 0);
    }

    #[test]
    fn events_that_cannot_be_change_nothing() {
        let mut port = ListPort::new(8, 12);
        port.load(&[want(1, 8), want(2, 8)]).unwrap();
        for bad in [
            event(Some(1), true, Some(2), false),
            event(None, false, Some(2), true),
            event(None, false, None, true),
            event(Some(2), false, Some(1), true),
        ] {
            assert_eq!(port.event(&bad), Err(Unexpected));
        }
        port.event(&event(None, false, Some(1), true)).unwrap();
        for bad in [
            event(None, false, Some(1), true),
            event(Some(2), true, None, false),
            event(Some(1), true, None, false),
            event(None, false, Some(2), false),
        ] {
            assert_eq!(port.event(&bad), Err(Unexpected));
        }
        port.event(&event(Some(1), true, Some(2), false)).unwrap();
        port.load(&[want(2, 16), want(3, 8)]).unwrap();
        let all: Vec<_> = port.reset().map(|r| r.key.0).collect();
        assert_eq!(all, [2, 3]);
        assert!(port.is_idle());
    }
}
