// SPDX-License-Identifier: GPL-2.0
//! The port of an execlist engine: the contexts it was given, and what its events tell of them.
//!
//! One load (ELSP write) at a time is pending, until an event acknowledges it: the engine would not
//! report all of several loads. The engine holds a context from the load that contains it until an
//! event says that the context was switched out; meanwhile the CPU must not touch the context's
//! image or move its ring.
//!
//! The engine writes events to a ring of limited size, and does not wait for the reader. A list is
//! limited to so many contexts that the events that may come before the next read always fit.
//!
//! The driver writes a new tail into the image of a context that may be running. If the engine
//! saves the image before it takes the load, it overwrites the new tail with the old one, runs the
//! context up to the old tail, and reports it finished. Therefore only seqnos tell how far a
//! context has run. A context that was switched out too early is listed again; its image is not in
//! use by then.

use crate::port::ContextKey;
use ouro_hw::{
    engine::{ListEntry, PortEvent},
    types::RingOffset,
};

/// Most contexts in a list.
pub const MAX_LIST: usize = 8;

/// A context that should run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// The context.
    pub key: ContextKey,
    /// Its id in events.
    pub id: u32,
    /// Its priority: higher is more urgent.
    pub priority: i32,
    /// Its descriptor.
    pub descriptor: u64,
    /// The tail of its ring.
    pub tail: RingOffset,
    /// Whether the driver changed its image since it was last in a list.
    pub fresh: bool,
}

/// A context that the engine holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Held {
    key: ContextKey,
    id: u32,
    priority: i32,
    tail: RingOffset,
    /// Whether it has run up to its tail, as far as seqnos tell.
    done: bool,
    /// Whether it was cancelled, and must be taken off the engine.
    unwanted: bool,
    /// Whether its whole image is restored.
    restore: bool,
    /// Whether the engine may have saved an older tail over this one, and so may end it too early.
    doubtful: bool,
}

impl Held {
    /// The value of unused places.
    const NONE: Self = Self {
        key: ContextKey(0),
        id: 0,
        priority: 0,
        tail: RingOffset(0),
        done: false,
        unwanted: false,
        restore: false,
        doubtful: false,
    };

    /// Returns what it is once the engine does not hold it any more.
    fn released(&self) -> Released {
        let held = self;
        Released {
            key: held.key,
            done: held.done.then_some(held.tail),
        }
    }
}

/// A list, in the order of execution.
#[derive(Clone, Copy, Debug)]
struct List {
    entries: [Held; MAX_LIST],
    len: usize,
}

impl List {
    const EMPTY: Self = Self {
        entries: [Held::NONE; MAX_LIST],
        len: 0,
    };

    #[inline]
    fn all(&self) -> &[Held] {
        self.entries.get(..self.len).unwrap_or(&[])
    }

    #[inline]
    fn iter(&self) -> impl Iterator<Item = &Held> {
        self.all().iter()
    }

    #[inline]
    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Held> {
        self.entries.iter_mut().take(self.len)
    }

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn first(&self) -> Option<&Held> {
        self.all().first()
    }

    #[inline]
    fn has(&self, key: ContextKey) -> bool {
        self.iter().any(|h| h.key == key)
    }

    /// Removes the first entry, and returns it.
    fn pop(&mut self) -> Option<Held> {
        let all = self.entries.get_mut(..self.len)?;
        let first = all.first().copied()?;
        all.copy_within(1.., 0);
        self.len = self.len.saturating_sub(1);
        Some(first)
    }

    /// Appends an entry; there is room.
    #[inline]
    fn push(&mut self, held: Held) {
        if let Some(place) = self.entries.get_mut(self.len) {
            *place = held;
            self.len = self.len.saturating_add(1);
        }
    }
}

/// A list to write to the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Load {
    entries: [ListEntry; MAX_LIST],
    ids: [u32; MAX_LIST],
    len: usize,
}

impl Load {
    /// Returns the id of each entry's context.
    #[inline]
    pub fn ids(&self) -> &[u32] {
        self.ids.get(..self.len).unwrap_or(&[])
    }

    /// Returns the entries. An empty list makes the engine idle.
    #[inline]
    pub fn entries(&self) -> &[ListEntry] {
        self.entries.get(..self.len).unwrap_or(&[])
    }
}

/// A context that the engine does not hold any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Released {
    /// The context.
    pub key: ContextKey,
    /// The tail up to which it has run for certain, if known.
    pub done: Option<RingOffset>,
}

/// The meaning of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// The context that was switched out, if the engine does not hold it any more.
    ended: Option<Released>,
    /// Whether the engine took the pending load.
    pub acknowledged: bool,
}

/// An event that contradicts what the engine was given. Only a reset helps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unexpected;

/// Statistics of the engine's context switches, from its events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Contexts restored: a switch to another context, or a full restore of the running one.
    pub switches: u64,
    /// Lite restores: the running context went on with a new list, without save and restore.
    pub lite_restores: u64,
    /// Preemptions: a context was switched out for another one of a new list before its end.
    pub preemptions: u64,
}

/// The port of an execlist engine.
#[derive(Debug)]
pub struct ListPort {
    depth: usize,
    events: usize,
    /// The contexts that the engine has, of which the first one runs, and those of the pending
    /// load, or of the load before: in this order, or the other way round.
    lists: (List, List),
    swapped: bool,
    /// Whether a load is pending.
    is_loading: bool,
    /// Number of loads, and the number of the last one before which the engine saved what it ran.
    loads: u64,
    saved: u64,
    counts: Counts,
}

/// Number of contexts the engine should have: one that runs, and one that it continues with by
/// itself.
const ENOUGH: usize = 2;

impl ListPort {
    /// Creates an idle port of `depth` entries (at most [`MAX_LIST`]) and a ring of `events`
    /// events.
    pub fn new(depth: u8, events: u8) -> Self {
        Self {
            depth: usize::from(depth).min(MAX_LIST),
            events: events.into(),
            lists: (List::EMPTY, List::EMPTY),
            swapped: false,
            is_loading: false,
            loads: 0,
            saved: 0,
            counts: Counts::default(),
        }
    }

    /// Returns the contexts that the engine has.
    #[inline]
    fn loaded(&self) -> &List {
        match self.swapped {
            false => &self.lists.0,
            true => &self.lists.1,
        }
    }

    /// Returns the list of the pending load; if there is none, that of the load before.
    #[inline]
    fn other(&self) -> &List {
        match self.swapped {
            false => &self.lists.1,
            true => &self.lists.0,
        }
    }

    /// Returns the pending load.
    #[inline]
    fn loading(&self) -> Option<&List> {
        self.is_loading.then_some(self.other())
    }

    /// Returns the contexts that the engine has and the other list, for changes.
    #[inline]
    fn both_mut(&mut self) -> (&mut List, &mut List) {
        match self.swapped {
            false => (&mut self.lists.0, &mut self.lists.1),
            true => (&mut self.lists.1, &mut self.lists.0),
        }
    }

    /// Changes the entries of a context in both lists.
    #[inline]
    fn change(&mut self, key: ContextKey, change: impl Fn(&mut Held)) {
        let is_loading = self.is_loading;
        let (loaded, other) = self.both_mut();
        for list in [Some(loaded), is_loading.then_some(other)]
            .into_iter()
            .flatten()
        {
            for held in list.iter_mut().filter(|h| h.key == key) {
                change(held);
            }
        }
    }

    /// Returns the statistics; a reset does not clear them.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the number of loads up to now; a reset does not change it.
    pub fn loads(&self) -> u64 {
        self.loads
    }

    /// Returns whether the engine has taken a load later than the first `loads`, and was idle or
    /// saved the context that it ran. Then it has flushed the writes of all that ran when these
    /// were counted. A lite restore saves nothing.
    pub fn has_saved_since(&self, loads: u64) -> bool {
        self.saved > loads
    }

    /// Returns the number of contexts that the next load may have; 0 while a load is pending.
    ///
    /// Each context of a list makes at most one event, when the engine is done with it, and each
    /// load makes one. Before the events are read again, there may be those of the loaded list and
    /// of the next load. They must leave one entry free: a ring that is written all around looks
    /// unwritten.
    #[inline]
    pub fn room(&self) -> usize {
        if self.is_loading {
            return 0;
        }
        // The load's own event, and the entry that must stay free.
        let spoken_for = self.loaded().len().saturating_add(2);
        self.depth.min(self.events.saturating_sub(spoken_for))
    }

    /// Returns whether a load is pending.
    #[inline]
    pub fn is_loading(&self) -> bool {
        self.is_loading
    }

    /// Returns whether the engine holds a context, or a pending load contains it.
    #[inline]
    pub fn holds(&self, key: ContextKey) -> bool {
        self.loaded().has(key) || self.loading().is_some_and(|l| l.has(key))
    }

    /// Returns whether the engine has a context with another tail than `tail`. It may then save
    /// that tail with the image, over the one written there, and later starts at the commands
    /// behind the old tail.
    pub fn may_keep(&self, key: ContextKey, tail: RingOffset) -> bool {
        let other = |list: &List| list.iter().any(|h| h.key == key && h.tail != tail);
        other(self.loaded()) || self.loading().is_some_and(other)
    }

    /// Returns whether the engine may save an older tail over `tail`, after that is written.
    fn may_lose(loaded: &List, key: ContextKey, tail: RingOffset) -> bool {
        let mut held = loaded.iter();
        held.any(|h| h.key == key && (h.tail != tail || h.doubtful))
    }

    /// Returns whether the engine may be running or saving a context, so that a reset leaves its
    /// image incomplete. Contexts behind the running one have not begun or are saved.
    pub fn may_write(&self, key: ContextKey) -> bool {
        let mut before = true;
        self.loaded().iter().any(|held| {
            let may = before && held.key == key;
            // Completion is known from seqnos only: the context may still be loaded.
            before &= held.done;
            may
        })
    }

    /// Returns whether the engine has no context and no load is pending.
    pub fn is_idle(&self) -> bool {
        !self.is_loading && self.loaded().len() == 0
    }

    /// Returns the running context, if it is not known to have run up to its tail.
    #[inline]
    pub fn running(&self) -> Option<ContextKey> {
        self.working().next().map(|h| h.key)
    }

    /// Returns the id of the running context, if it is not known to have run up to its tail.
    #[inline]
    pub fn running_id(&self) -> Option<u32> {
        self.working().next().map(|h| h.id)
    }

    /// A context has run up to `tail`.
    #[inline]
    pub fn completed(&mut self, key: ContextKey, tail: RingOffset) {
        self.change(key, |held| held.done |= held.tail == tail);
    }

    /// Sets a context's priority.
    pub fn set_priority(&mut self, key: ContextKey, priority: i32) {
        self.change(key, |held| held.priority = priority);
    }

    /// Cancels a context: the next load must not contain it.
    pub fn cancel(&mut self, key: ContextKey) {
        self.change(key, |held| held.unwanted = true);
    }

    /// Returns the contexts that the engine still works on.
    fn working(&self) -> impl Iterator<Item = &Held> {
        self.loaded().iter().filter(|h| !h.done)
    }

    /// Returns the contexts that the engine runs for certain without a further load, and up to
    /// which tails.
    pub fn given(&self) -> impl Iterator<Item = (ContextKey, RingOffset)> + '_ {
        let newest = self.loading().unwrap_or(self.loaded());
        let certain = newest.iter().filter(|h| !h.doubtful);
        certain.map(|h| (h.key, h.tail))
    }

    /// Returns whether the engine has a context that is cancelled.
    #[inline]
    pub fn has_cancelled(&self) -> bool {
        let any = |list: &List| list.iter().any(|h| h.unwanted);
        any(self.loaded()) || self.loading().is_some_and(any)
    }

    /// Returns whether `wanted` must be loaded now. It must if the running context is not the first
    /// wanted one; if the engine has no further context, or has less urgent ones behind it; if it
    /// has a cancelled one, or, with `only`, more than the wanted ones. Other changes can wait for
    /// the next event: each load disturbs the running context, and costs more than the requests
    /// that it adds. A new tail of the running context waits, too, if nothing else is listed or
    /// wanted: then the engine is not given other work in between.
    fn must_load(&self, wanted: &[Wanted], only: bool) -> bool {
        let working = self.working().count();
        if self.working().any(|h| h.unwanted) || (only && working > wanted.len()) {
            return true;
        }
        let (Some(now), Some(want)) = (self.working().next(), wanted.first()) else {
            return !wanted.is_empty();
        };
        // With a second one wanted, it is loaded below.
        let alone = working == 1;
        if now.key != want.key || (now.tail != want.tail && !alone) {
            return true;
        }
        let mut pairs = self.working().zip(wanted);
        if pairs.any(|(now, want)| want.priority > now.priority) {
            return true;
        }
        working < ENOUGH.min(wanted.len())
    }

    /// Returns the load that makes `wanted` run, most urgent first; `None` if none is needed or
    /// possible. The first [`room`](Self::room) of `wanted` are used. No context may be in it
    /// twice. The engine may run contexts that it has besides, behind them.
    pub fn load(&mut self, wanted: &[Wanted]) -> Option<Load> {
        let wanted = wanted.get(..self.room()).unwrap_or(wanted);
        self.list(wanted, self.must_load(wanted, false), None)
    }

    /// Does what [`load`](Self::load) does, and makes sure that nothing else runs behind `wanted`.
    pub fn load_only(&mut self, wanted: &[Wanted]) -> Option<Load> {
        let wanted = wanted.get(..self.room()).unwrap_or(wanted);
        self.list(wanted, self.must_load(wanted, true), None)
    }

    /// Does what [`load`](Self::load) does, and also loads a list that the engine has already: the
    /// preemption probe of the running context. The engine saves that context, also if its tail is
    /// new: a lite restore would save nothing.
    pub fn reload(&mut self, wanted: &[Wanted]) -> Option<Load> {
        let wanted = wanted.get(..self.room()).unwrap_or(wanted);
        let first = wanted.first().map(|w| w.key);
        let whole = first.filter(|key| self.loaded().has(*key));
        self.list(wanted, !wanted.is_empty(), whole)
    }

    /// Makes a load of `wanted`. The context `whole` is restored as a whole.
    fn list(&mut self, wanted: &[Wanted], must: bool, whole: Option<ContextKey>) -> Option<Load> {
        if self.is_loading || !must {
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
        let (loaded, list) = self.both_mut();
        list.len = 0;
        let places = load.entries.iter_mut().zip(load.ids.iter_mut());
        for (want, (entry, id)) in wanted.iter().zip(places) {
            *id = want.id;
            let mut listed = loaded.iter();
            let same = listed.any(|h| h.key == want.key && h.tail == want.tail);
            let restore = want.fresh || same || whole == Some(want.key);
            *entry = ListEntry {
                descriptor: want.descriptor,
                tail: want.tail,
                restore,
            };
            list.push(Held {
                key: want.key,
                id: want.id,
                priority: want.priority,
                tail: want.tail,
                done: false,
                unwanted: false,
                restore,
                doubtful: Self::may_lose(loaded, want.key, want.tail),
            });
            load.len = load.len.saturating_add(1);
        }
        self.is_loading = true;
        self.loads = self.loads.saturating_add(1);
        Some(load)
    }

    /// Handles an event.
    ///
    /// The event's "finished" bit is not relied on: the context may have had an old tail, and when
    /// a load replaces the context, some chips set the bit for contexts that had work.
    pub fn event(&mut self, event: &PortEvent) -> Result<Outcome, Unexpected> {
        let mut outcome = Outcome::default();
        let first = self.loaded().first().copied();
        if event.from.is_some() && event.from != first.map(|h| h.id) {
            return Err(Unexpected);
        }
        if event.new_list {
            let begins = self.loading().ok_or(Unexpected)?.first().copied();
            if event.to != begins.map(|h| h.id) {
                return Err(Unexpected);
            }
            outcome.acknowledged = true;
            let ran = first.filter(|h| event.from.is_none() && event.to == Some(h.id));
            match begins.filter(|_| ran.is_some()) {
                Some(again) if !again.restore => {
                    self.counts.lite_restores = self.counts.lite_restores.wrapping_add(1);
                }
                _ => {
                    self.saved = self.loads;
                    self.count_switch(event, true);
                }
            }
            self.swapped = !self.swapped;
            self.is_loading = false;
            return Ok(outcome);
        }
        let held = first.ok_or(Unexpected)?;
        let next = self.loaded().iter().nth(1).map(|h| h.id);
        if event.from.is_none() || event.to != next {
            return Err(Unexpected);
        }
        self.count_switch(event, false);
        self.both_mut().0.pop();
        // It may be in the pending load.
        if !self.holds(held.key) {
            outcome.ended = Some(held.released());
        }
        Ok(outcome)
    }

    /// Returns the contexts that the engine does not hold any more since an event, the last one.
    pub fn released(&self, outcome: &Outcome) -> impl Iterator<Item = Released> + '_ {
        let before = outcome.acknowledged.then_some(self.other());
        let before = before.into_iter().flat_map(List::iter);
        let replaced = before.filter(|h| !self.loaded().has(h.key));
        let ended = outcome.ended.into_iter();
        ended.chain(replaced.map(Held::released))
    }

    /// Counts a context switch that is not a lite restore.
    fn count_switch(&mut self, event: &PortEvent, new_list: bool) {
        let counts = &mut self.counts;
        if event.to.is_some() {
            counts.switches = counts.switches.wrapping_add(1);
        }
        if new_list && event.from.is_some() && !event.finished {
            counts.preemptions = counts.preemptions.wrapping_add(1);
        }
    }

    /// The engine was reset and has no contexts. Returns all that it had, with their known
    /// progress.
    pub fn reset(&mut self) -> impl Iterator<Item = Released> {
        let (loaded, pending) = (*self.loaded(), self.loading().copied());
        self.both_mut().0.len = 0;
        self.is_loading = false;
        let pending = pending.unwrap_or(List::EMPTY);
        let new = pending.entries.into_iter().take(pending.len);
        let new = new.filter(move |h| !loaded.has(h.key));
        let all = loaded.entries.into_iter().take(loaded.len).chain(new);
        all.map(|h| h.released())
    }
}

#[cfg(test)]
mod tests;
