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
    /// Whether all of its image is restored.
    restore: bool,
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

/// What the engine made of its loads, by its events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Times that it restored a context: another one than ran, or the same as a whole.
    pub switches: u64,
    /// Times that the context that ran went on in a new list, and nothing was saved or restored.
    pub lite_restores: u64,
    /// Times that a context was left for another one of a new list, and was not at its end.
    pub preemptions: u64,
}

/// The port.
#[derive(Debug)]
pub struct ListPort {
    depth: usize,
    events: usize,
    /// What the engine has taken; the first one runs.
    loaded: List,
    /// The load that is on its way.
    loading: Option<List>,
    counts: Counts,
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
            counts: Counts::default(),
        }
    }

    /// What the engine has done so far; a reset changes nothing of that.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Contexts that the next load may have; none as long as one is on its way.
    ///
    /// Each context of a list makes at most one event, when the engine is done with it, and each load makes
    /// one. Before events are read again there may be those of what is loaded now and of the next load. They
    /// must leave one entry free: a ring that is written all around looks as if nothing had been.
    pub fn room(&self) -> usize {
        if self.loading.is_some() {
            return 0;
        }
        // The load's own event, and the entry that stays free.
        let spoken_for = self.loaded.len().saturating_add(2);
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

    /// Whether the engine has a context up to another tail than this. It may save the image, and that tail with
    /// it, when this one was written there: then it begins with what is behind the context at the old one.
    pub fn may_keep(&self, key: ContextKey, tail: RingOffset) -> bool {
        let lists = [Some(&self.loaded), self.loading.as_ref()];
        let mut held = lists.into_iter().flatten().flat_map(List::iter);
        held.any(|h| h.key == key && h.tail != tail)
    }

    /// Whether the engine may be at work on a context, or saving it, so that its image is not whole if the
    /// engine is reset. What it has besides it has not begun, or has saved.
    pub fn may_write(&self, key: ContextKey) -> bool {
        let mut before = true;
        self.loaded.iter().any(|held| {
            let may = before && held.key == key;
            // Of what is known to be done only the numbers were seen.
            before &= held.done;
            may
        })
    }

    /// Whether the engine has nothing, and nothing is on its way.
    pub fn is_idle(&self) -> bool {
        self.loading.is_none() && self.loaded.len() == 0
    }

    /// The context that runs, if it is not known to have run up to its tail.
    pub fn running(&self) -> Option<ContextKey> {
        self.working().next().map(|h| h.key)
    }

    /// The number of that context.
    pub fn running_id(&self) -> Option<u32> {
        self.working().next().map(|h| h.id)
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
    /// do; if it has only that one, or behind it less urgent ones than there are; if it has one that must go,
    /// or some besides those that are the `only` ones. Other changes can wait until it is done with one: each
    /// load disturbs what runs.
    fn must_load(&self, wanted: &[Wanted], only: bool) -> bool {
        let working = self.working().count();
        if self.working().any(|h| h.unwanted) || (only && working > wanted.len()) {
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
        working < ENOUGH.min(wanted.len())
    }

    /// What to load now so that `wanted` runs, most urgent first; `None` if that need not or cannot be.
    /// [`room`](Self::room) of them are looked at. No context is in it twice. What the engine has besides may
    /// run behind them.
    pub fn load(&mut self, wanted: &[Wanted]) -> Option<Load> {
        let wanted = wanted.get(..self.room()).unwrap_or(wanted);
        self.list(wanted, self.must_load(wanted, false))
    }

    /// As [`load`](Self::load), but nothing else may run behind them.
    pub fn load_only(&mut self, wanted: &[Wanted]) -> Option<Load> {
        let wanted = wanted.get(..self.room()).unwrap_or(wanted);
        self.list(wanted, self.must_load(wanted, true))
    }

    /// As [`load`](Self::load), but also if the engine has just that: for the answer it has to let go of what
    /// runs.
    pub fn load_anew(&mut self, wanted: &[Wanted]) -> Option<Load> {
        let wanted = wanted.get(..self.room()).unwrap_or(wanted);
        self.list(wanted, !wanted.is_empty())
    }

    fn list(&mut self, wanted: &[Wanted], must: bool) -> Option<Load> {
        if self.loading.is_some() || !must {
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
            let restore = want.fresh || same;
            *entry = ListEntry {
                descriptor: want.descriptor,
                tail: want.tail,
                restore,
            };
            *held = Some(Held {
                key: want.key,
                id: want.id,
                priority: want.priority,
                tail: want.tail,
                done: false,
                unwanted: false,
                restore,
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
            let ran = first.filter(|h| event.from.is_none() && event.to == Some(h.id));
            match list.iter().next().filter(|_| ran.is_some()) {
                Some(again) if !again.restore => {
                    self.counts.lite_restores = self.counts.lite_restores.wrapping_add(1);
                }
                _ => self.count_switch(event, true),
            }
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
        self.count_switch(event, false);
        self.loaded.pop();
        // It may be in the load that is on its way.
        if !self.holds(held.key) {
            outcome.release(&held);
        }
        Ok(outcome)
    }

    /// Counts an event that is not a lite restore.
    fn count_switch(&mut self, event: &PortEvent, new_list: bool) {
        let counts = &mut self.counts;
        if event.to.is_some() {
            counts.switches = counts.switches.wrapping_add(1);
        }
        if new_list && event.from.is_some() && !event.finished {
            counts.preemptions = counts.preemptions.wrapping_add(1);
        }
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
mod tests;
