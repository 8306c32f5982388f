// SPDX-License-Identifier: GPL-2.0
//! The contexts of an execlist engine by their state, so that an event costs what has changed, not
//! what is there.
//!
//! A context is in any number of [`Set`]s; each is a list in the order of arrival, which a context
//! joins and leaves in constant time. Besides, the contexts with requests in flight that the engine
//! cannot have worked on are in a heap by their oldest request.
//!
//! Contexts are numbered. Their places are in an [`Arena`] of the caller's, which grows where
//! allocation is allowed.

use crate::heap::{self, Link, Links, Node};
use core::cell::Cell;

/// A set of contexts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Set {
    /// Those with requests.
    Active,
    /// Those with ready requests for which their ring may have room.
    Ready,
    /// Those with ready requests for which their ring had no room.
    Full,
    /// Those that were in a load since their completed requests were last retired. No other context
    /// can have completed requests, except for those that are done.
    Listed,
    /// Those that have left the engine, and all of whose requests in flight are complete, but not
    /// retired yet.
    Done,
    /// Those with requests that other engines can run, too.
    Roaming,
    /// Those that are being cancelled.
    Cancelled,
    /// Those that may have requests whose waiters cannot be woken up.
    Pressed,
}

/// Number of sets.
const SETS: usize = 8;

impl Set {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Neighbours in the list of a set.
#[derive(Clone, Copy, Debug, Default)]
struct Neighbours {
    before: Link,
    behind: Link,
}

/// The place of a context.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    /// The sets that it is in, a bit each.
    sets: u8,
    neighbours: [Neighbours; SETS],
    /// The number of its oldest request, if it is in the heap.
    oldest: Option<u64>,
    links: Links,
}

impl Node for Slot {
    type Key = Option<u64>;
    fn key(&self) -> Option<u64> {
        self.oldest
    }
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }
}

/// The memory of the places: a growable array.
pub trait Arena {
    /// Returns the places.
    fn slots(&self) -> &[Slot];
    /// Returns the places for writing.
    fn slots_mut(&mut self) -> &mut [Slot];
}

/// The list of a set.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    first: Link,
    last: Link,
    len: usize,
}

/// The contexts of an engine.
#[derive(Debug)]
pub struct Roster<A> {
    arena: A,
    rows: [Row; SETS],
    /// The heap by oldest request.
    oldest: Link,
    visits: Cell<u64>,
}

/// Returns the number of a link.
fn number(link: Link) -> Option<u32> {
    link.checked_sub(1)
}

impl<A: Arena> Roster<A> {
    /// Creates the roster of an engine without contexts.
    pub fn new(arena: A) -> Self {
        Self {
            arena,
            rows: [Row::default(); SETS],
            oldest: 0,
            visits: Cell::new(0),
        }
    }

    /// Returns the arena, so that it can grow.
    pub fn arena_mut(&mut self) -> &mut A {
        &mut self.arena
    }

    /// Returns how many contexts [`first`](Self::first) and [`after`](Self::after) have returned so
    /// far: the work of all events.
    pub fn visits(&self) -> u64 {
        self.visits.get()
    }

    fn slot(&self, at: u32) -> Option<&Slot> {
        self.arena.slots().get(at as usize)
    }

    fn row(&self, set: Set) -> Row {
        self.rows.get(set as usize).copied().unwrap_or_default()
    }

    fn row_mut(&mut self, set: Set) -> Option<&mut Row> {
        self.rows.get_mut(set as usize)
    }

    /// Returns a context's neighbours, for changes.
    fn neighbours(&mut self, set: Set, link: Link) -> Option<&mut Neighbours> {
        let slot = self.arena.slots_mut().get_mut(number(link)? as usize)?;
        slot.neighbours.get_mut(set as usize)
    }

    /// Returns whether a context is in a set.
    pub fn has(&self, set: Set, at: u32) -> bool {
        self.slot(at).is_some_and(|s| s.sets & set.bit() != 0)
    }

    /// Returns the number of contexts in a set.
    pub fn len(&self, set: Set) -> usize {
        self.row(set).len
    }

    /// Returns whether a set is empty.
    pub fn is_empty(&self, set: Set) -> bool {
        self.len(set) == 0
    }

    /// Adds a context to a set, as the last one, unless it is there.
    pub fn join(&mut self, set: Set, at: u32) {
        let last = self.row(set).last;
        let Some(slot) = self.arena.slots_mut().get_mut(at as usize) else {
            return;
        };
        if slot.sets & set.bit() != 0 {
            return;
        }
        slot.sets |= set.bit();
        let link = at.saturating_add(1);
        if let Some(own) = self.neighbours(set, link) {
            *own = Neighbours {
                before: last,
                behind: 0,
            };
        }
        if let Some(before) = self.neighbours(set, last) {
            before.behind = link;
        }
        if let Some(row) = self.row_mut(set) {
            if last == 0 {
                row.first = link;
            }
            row.last = link;
            row.len = row.len.saturating_add(1);
        }
    }

    /// Removes a context from a set. Returns whether it was there.
    pub fn leave(&mut self, set: Set, at: u32) -> bool {
        let Some(slot) = self.arena.slots_mut().get_mut(at as usize) else {
            return false;
        };
        if slot.sets & set.bit() == 0 {
            return false;
        }
        slot.sets &= !set.bit();
        let own = self.neighbours(set, at.saturating_add(1));
        let Neighbours { before, behind } = own.map_or_else(Neighbours::default, core::mem::take);
        if let Some(other) = self.neighbours(set, before) {
            other.behind = behind;
        }
        if let Some(other) = self.neighbours(set, behind) {
            other.before = before;
        }
        if let Some(row) = self.row_mut(set) {
            if before == 0 {
                row.first = behind;
            }
            if behind == 0 {
                row.last = before;
            }
            row.len = row.len.saturating_sub(1);
        }
        true
    }

    /// Removes a context from all sets, and from the heap.
    pub fn clear(&mut self, at: u32) {
        for set in [
            Set::Active,
            Set::Ready,
            Set::Full,
            Set::Listed,
            Set::Done,
            Set::Roaming,
            Set::Cancelled,
            Set::Pressed,
        ] {
            self.leave(set, at);
        }
        self.set_oldest(at, None);
    }

    /// Counts a visit.
    fn visit(&self, link: Link) -> Option<u32> {
        let at = number(link)?;
        self.visits.set(self.visits.get().saturating_add(1));
        Some(at)
    }

    /// Returns the context that has been in a set for longest.
    pub fn first(&self, set: Set) -> Option<u32> {
        self.visit(self.row(set).first)
    }

    /// Returns the context that has been in a set for longest, and makes it the last one: each
    /// context of the set has its turn before any has another one.
    pub fn next_in_turn(&mut self, set: Set) -> Option<u32> {
        let at = self.first(set)?;
        self.leave(set, at);
        self.join(set, at);
        Some(at)
    }

    /// Returns the next context behind one of a set.
    pub fn after(&self, set: Set, at: u32) -> Option<u32> {
        self.visit(self.slot(at)?.neighbours.get(set as usize)?.behind)
    }

    /// Returns all contexts of a set, first come, first served.
    pub fn iter(&self, set: Set) -> impl Iterator<Item = u32> + '_ {
        core::iter::successors(self.first(set), move |at| self.after(set, *at))
    }

    /// Sets the number of a context's oldest request in flight. `None` if it has none, or if the
    /// engine may have worked on it: it is not in the heap then.
    pub fn set_oldest(&mut self, at: u32, oldest: Option<u64>) {
        let link = at.saturating_add(1);
        let slots = self.arena.slots_mut();
        let Some(old) = slots.get(at as usize).map(|slot| slot.oldest) else {
            return;
        };
        if old == oldest {
            return;
        }
        if old.is_some() {
            self.oldest = heap::remove(slots, self.oldest, link);
        }
        if let Some(slot) = slots.get_mut(at as usize) {
            slot.oldest = oldest;
        }
        if oldest.is_some() {
            self.oldest = heap::push(slots, self.oldest, link);
        }
    }

    /// Returns the context with the oldest request in flight, of those that the engine cannot have
    /// worked on.
    pub fn oldest(&self) -> Option<u32> {
        number(self.oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::{collections::VecDeque, vec, vec::Vec};

    struct Slots(Vec<Slot>);

    impl Arena for Slots {
        fn slots(&self) -> &[Slot] {
            &self.0
        }
        fn slots_mut(&mut self) -> &mut [Slot] {
            &mut self.0
        }
    }

    fn roster(count: usize) -> Roster<Slots> {
        Roster::new(Slots(vec![Slot::default(); count]))
    }

    const ALL: [Set; SETS] = [
        Set::Active,
        Set::Ready,
        Set::Full,
        Set::Listed,
        Set::Done,
        Set::Roaming,
        Set::Cancelled,
        Set::Pressed,
    ];

    proptest! {
        #[test]
        fn a_set_is_in_the_order_of_arrival(calls in proptest::collection::vec(
            (0usize..SETS, 0u32..20, 0u8..8), 0..300,
        )) {
            let mut roster = roster(20);
            let mut sets = vec![VecDeque::new(); SETS];
            for (n, at, what) in calls {
                let set = ALL[n];
                match what {
                    0..=3 => {
                        roster.join(set, at);
                        if !sets[n].contains(&at) {
                            sets[n].push_back(at);
                        }
                    }
                    4..=6 => {
                        let was = sets[n].contains(&at);
                        prop_assert_eq!(roster.leave(set, at), was);
                        sets[n].retain(|other| *other != at);
                    }
                    _ => {
                        roster.clear(at);
                        sets.iter_mut().for_each(|set| set.retain(|other| *other != at));
                    }
                }
                for (set, expected) in ALL.into_iter().zip(&sets) {
                    let found: VecDeque<u32> = roster.iter(set).collect();
                    prop_assert_eq!(&found, expected);
                    prop_assert_eq!(roster.len(set), expected.len());
                    prop_assert_eq!(roster.has(set, at), expected.contains(&at));
                }
            }
        }

        #[test]
        fn the_oldest_request_is_found(calls in proptest::collection::vec(
            (0u32..20, proptest::option::of(0u64..1000)), 0..300,
        )) {
            let mut roster = roster(20);
            let mut all = vec![None; 20];
            for (at, oldest) in calls {
                roster.set_oldest(at, oldest);
                all[at as usize] = oldest;
                let least = all.iter().flatten().min();
                let found = roster.oldest().and_then(|at| all[at as usize]);
                prop_assert_eq!(found.as_ref(), least);
            }
        }
    }

    #[test]
    fn each_context_has_its_turn_whoever_comes_and_goes() {
        let mut roster = roster(300);
        (0..100).for_each(|at| roster.join(Set::Roaming, at));
        // Some come and go all the time, and 64 are looked at each time.
        let mut seen = vec![0; 300];
        for n in 0..4 {
            (0..100).for_each(|k| roster.join(Set::Roaming, 100 + (50 * n + k) % 200));
            for _ in 0..64 {
                let at = roster.next_in_turn(Set::Roaming);
                at.into_iter().for_each(|at| seen[at as usize] += 1);
            }
            (100..300).for_each(|at| {
                roster.leave(Set::Roaming, at);
            });
        }
        assert_eq!(roster.len(Set::Roaming), 100);
        assert!(
            seen.iter().take(100).all(|n| (1..=3).contains(n)),
            "{seen:?}"
        );
        assert_eq!(roster.next_in_turn(Set::Ready), None);
    }

    #[test]
    fn what_is_not_there_is_in_no_set() {
        let mut roster = roster(2);
        roster.join(Set::Ready, 2);
        roster.set_oldest(2, Some(1));
        assert!(!roster.has(Set::Ready, 2) && !roster.leave(Set::Ready, 2));
        assert_eq!((roster.first(Set::Ready), roster.oldest()), (None, None));
    }

    /// As the driver does it: so many contexts become ready one after the other, each with a look
    /// at the engine, which takes eight at a time and completes them in between.
    fn visits(count: u32) -> u64 {
        let mut roster = roster(count as usize);
        let mut number = 0;
        let look = |roster: &mut Roster<Slots>, number: &mut u64| {
            while let Some(at) = roster.first(Set::Ready) {
                roster.leave(Set::Ready, at);
                *number += 1;
                roster.set_oldest(at, Some(*number));
            }
            // Those that the engine had are complete.
            let mut next = roster.first(Set::Listed);
            while let Some(at) = next {
                next = roster.after(Set::Listed, at);
                roster.leave(Set::Listed, at);
                roster.leave(Set::Active, at);
            }
            for _ in 0..8 {
                let Some(at) = roster.oldest() else { break };
                roster.set_oldest(at, None);
                roster.join(Set::Listed, at);
            }
        };
        for at in 0..count {
            roster.join(Set::Active, at);
            roster.join(Set::Ready, at);
            look(&mut roster, &mut number);
        }
        while !roster.is_empty(Set::Active) {
            look(&mut roster, &mut number);
        }
        roster.visits()
    }

    #[test]
    fn each_event_visits_what_has_changed() {
        // Each context is visited twice: when it is ready, and when it is complete.
        assert_eq!(visits(100), 200);
        assert_eq!(visits(8192), 2 * 8192);
    }
}
