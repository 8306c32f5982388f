// SPDX-License-Identifier: GPL-2.0
//! The scheduler of an execlist engine. It queues [`Entity`]s: a context on this engine.
//!
//! * **Priority.** An entity of higher priority runs before others, and preempts them.
//! * **Timeslices.** If another entity of its priority waits, an entity runs for a slice and then
//!   goes behind it. Without slices it runs until it has no work or is preempted by a more urgent
//!   one.
//! * **Fairness.** Clients share the engine, not entities: each client has a clock that advances
//!   while one of its entities runs, and within a priority the client with the lowest clock is
//!   first. A client that was idle gets no credit for that; one that waited gets some, up to
//!   [`Policy::credit`].
//! * **No starvation.** A client that has waited for [`Policy::patience`] runs for a slice whatever
//!   its priority, unless another client did so within [`Policy::pause`]. So less urgent work
//!   delays urgent work by at most a slice in each pause, and the time to preempt it. Without
//!   slices there is no such relief.
//! * **Priority inheritance.** An entity that something more urgent waits for has that priority for
//!   as long as the caller says so, so that entities in between cannot starve both.
//! * **Order.** Behind an entity that inherited its priority, or whose ring has no room for all of
//!   its work, no less urgent entity is listed: the engine would start that before the driver sees
//!   the completion, and so before the waiter or the rest of the work is ready. The same holds once
//!   the rest is in the ring, as long as the engine may still have the context with an old tail.
//! * **Load balancing.** An entity that other engines could run, too, is listed first or not at
//!   all: behind others it would wait while another engine is free. [`Scheduler::waits`] says
//!   whether it waits. It is not listed either before the running context has answered a preemption
//!   probe.
//!
//! Free of registers and of time: the caller passes the time and the events, and writes the loads
//! to the device. Entities and clients are in an [`Arena`] of the caller's, which grows where
//! allocation is allowed. Each call costs at most the logarithm of the number of entities.
//!
//! Which context runs is known from events only ([`crate::list`]). `store` keeps the entities and
//! clients.

mod store;
#[cfg(test)]
mod tests;

use crate::{
    list::{ListPort, Load, Unexpected, Wanted, MAX_LIST},
    port::ContextKey,
};
use core::cell::Cell;
use ouro_hw::{engine::PortEvent, types::RingOffset};
pub use store::{Arena, Client, Entity, Item};
use store::{State, Store};

/// Scheduling parameters: times in the caller's unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// How long an entity runs while another one of its priority waits; zero disables timeslices.
    pub slice: u64,
    /// How long a client waits before it runs for a slice, whatever its priority.
    pub patience: u64,
    /// Least time between two such slices.
    pub pause: u64,
    /// Most time by which a waiting client's clock may lag behind.
    pub credit: u64,
}

/// The fixed properties of an entity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct What {
    /// Its id in events, unique on the engine.
    pub id: u32,
    /// Its descriptor in a list.
    pub descriptor: u64,
    /// Its priority: higher is more urgent.
    pub priority: i32,
    /// Whether other engines can run it, too.
    pub roams: bool,
}

/// The arena is full and must grow first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoPlace;

/// The entity that has the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Turn {
    entity: Entity,
    /// Start of its slice.
    since: u64,
    /// Time up to which it has been charged.
    counted: u64,
    /// Whether it runs because its client waited long, not for its priority.
    patient: bool,
}

/// The scheduler of one engine.
#[derive(Debug)]
pub struct Scheduler<A> {
    store: Store<A>,
    port: ListPort,
    policy: Policy,
    turn: Option<Turn>,
    /// When a client was last relieved for having waited long.
    relieved: Option<u64>,
    /// When the load was written that the engine has not acknowledged yet.
    owed: Option<u64>,
    /// Whether the next load is to be a preemption probe.
    probe_requested: bool,
    /// The probe before the running context is preempted for an entity that other engines can run.
    probe: Probe,
    /// The entities that should run, while a load is made.
    wanted: [Wanted; MAX_LIST],
}

/// The state of a preemption probe, which tells whether the running context can be preempted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Probe {
    /// There was no probe.
    None,
    /// The probe is pending.
    Pending,
    /// The probe was answered a moment ago.
    Answered,
}

impl<A: Arena> Scheduler<A> {
    /// Creates the scheduler of an engine with `depth` list entries and a ring of `events` events.
    pub fn new(arena: A, depth: u8, events: u8, policy: Policy) -> Self {
        Self {
            store: Store::new(arena),
            port: ListPort::new(depth, events),
            policy,
            turn: None,
            relieved: None,
            owed: None,
            probe_requested: false,
            probe: Probe::None,
            wanted: [Wanted::NONE; MAX_LIST],
        }
    }

    /// Returns the arena, so that it can grow. A client takes one place, and so does an entity.
    pub fn arena_mut(&mut self) -> &mut A {
        self.store.arena_mut()
    }

    /// Returns the port.
    pub fn port(&self) -> &ListPort {
        &self.port
    }

    /// Returns [`Policy::slice`].
    pub fn slice(&self) -> u64 {
        self.policy.slice
    }

    /// Sets [`Policy::slice`], from the next decision on.
    pub fn set_slice(&mut self, slice: u64) {
        self.policy.slice = slice;
    }

    /// Returns whether each entity gets a slice while others of its priority have work, within a
    /// time `limit`.
    pub fn takes_turns(&self, limit: u64) -> bool {
        (1..=limit).contains(&self.policy.slice)
    }

    /// Adds a client.
    pub fn add_client(&mut self) -> Result<Client, NoPlace> {
        self.store.add_client().ok_or(NoPlace)
    }

    /// Adds an entity of a client, without work.
    pub fn add_entity(&mut self, client: Client, what: &What) -> Result<Entity, NoPlace> {
        self.store.add_entity(client, what).ok_or(NoPlace)
    }

    /// Removes an entity. Returns false, and changes nothing, while the engine may hold it: cancel
    /// it first.
    pub fn remove_entity(&mut self, entity: Entity) -> bool {
        if self.is_held(entity) {
            return false;
        }
        self.store.remove_entity(entity)
    }

    /// Removes a client. Returns false, and changes nothing, if it has entities.
    pub fn remove_client(&mut self, client: Client) -> bool {
        self.store.remove_client(client)
    }

    /// Returns whether the engine holds an entity, or is being given it: then its image and ring
    /// must not move.
    pub fn is_held(&self, entity: Entity) -> bool {
        self.port.holds(entity.key())
    }

    /// Returns whether the engine may be writing an entity's image, so that a reset leaves it
    /// incomplete or old.
    pub fn may_write(&self, entity: Entity) -> bool {
        self.port.may_write(entity.key())
    }

    /// Returns whether an entity has work and the engine does not hold it.
    pub fn waits(&mut self, entity: Entity) -> bool {
        !self.is_held(entity) && self.store.state(entity).is_some_and(|s| s.is_runnable())
    }

    /// Returns the priority of the most urgent entity that has work and is not cancelled.
    pub fn most_urgent(&mut self) -> Option<i32> {
        self.store.best().map(|best| best.1)
    }

    /// Takes away an entity's work, for another engine. Returns its tail, and the tail up to which
    /// it has run.
    pub fn take_work(&mut self, entity: Entity, now: u64) -> (RingOffset, RingOffset) {
        let mut work = (RingOffset(0), RingOffset(0));
        self.store.change(entity, now, |state| {
            work = (state.tail, state.done);
            state.done = state.tail;
            (state.full, state.refilled) = (false, false);
        });
        work
    }

    /// Gives an entity the work that [`take_work`](Self::take_work) returned on another engine,
    /// whose image this engine has not loaded yet.
    pub fn give_work(&mut self, entity: Entity, (tail, done): (RingOffset, RingOffset), now: u64) {
        self.store.change(entity, now, |state| {
            (state.tail, state.done) = (tail, done);
            state.fresh = true;
        });
    }

    /// Adds work: the commands up to `tail` are in memory.
    pub fn publish(&mut self, entity: Entity, tail: RingOffset, now: u64) {
        self.store.change(entity, now, |state| state.tail = tail);
    }

    /// An entity has run up to `tail`, according to its seqno. (What follows may still run.)
    pub fn completed(&mut self, entity: Entity, tail: RingOffset, now: u64) {
        self.port.completed(entity.key(), tail);
        self.store.change(entity, now, |state| state.done = tail);
    }

    /// Sets an entity's own priority, from the next decision on.
    pub fn set_priority(&mut self, entity: Entity, priority: i32, now: u64) {
        if let Some(state) = self.store.state(entity) {
            state.own = priority;
            self.rank(entity, now);
        }
    }

    /// Sets the priority that an entity inherits from its waiters, from the next decision on;
    /// `None` if there are none. The entity runs with the higher one of that and its own priority.
    pub fn inherit(&mut self, entity: Entity, lifted: Option<i32>, now: u64) {
        if let Some(state) = self.store.state(entity) {
            state.lifted = lifted;
            self.rank(entity, now);
        }
    }

    /// Sets whether an entity has work beyond its tail that the ring has no room for.
    pub fn set_full(&mut self, entity: Entity, full: bool) {
        if let Some(state) = self.store.state(entity) {
            state.full = full;
            state.refilled |= full;
        }
    }

    /// Updates an entity's place after a change of priority.
    fn rank(&mut self, entity: Entity, now: u64) {
        let Some(state) = self.store.state(entity) else {
            return;
        };
        let priority = state.lifted.map_or(state.own, |l| l.max(state.own));
        if priority == state.priority {
            return;
        }
        self.port.set_priority(entity.key(), priority);
        self.store
            .change(entity, now, |state| state.priority = priority);
    }

    /// Cancels an entity: it does not run any more, whatever its work.
    pub fn cancel(&mut self, entity: Entity, now: u64) {
        self.port.cancel(entity.key());
        self.store
            .change(entity, now, |state| state.cancelled = true);
    }

    /// Lets a cancelled entity run again, once the engine does not hold it.
    pub fn resume(&mut self, entity: Entity, now: u64) {
        self.store
            .change(entity, now, |state| state.cancelled = false);
    }

    /// The driver changed an entity's image: the next load restores all of it.
    pub fn touched(&mut self, entity: Entity, now: u64) {
        self.store.change(entity, now, |state| state.fresh = true);
    }

    /// Returns since when the engine owes the acknowledgement of a load, if it does.
    pub fn owed(&self) -> Option<u64> {
        self.owed
    }

    /// Requests a preemption probe: the next load may repeat what the engine has, to see whether it
    /// preempts the running context.
    pub fn request_probe(&mut self) {
        self.probe_requested = true;
    }

    /// Handles an event of the engine. On an error the engine must be reset.
    ///
    /// Events tell which contexts were switched out; only [`completed`](Self::completed) tells how
    /// far they have run. Call it between the events and the next [`schedule`](Self::schedule):
    /// contexts whose completion was not reported are listed again.
    pub fn event(&mut self, event: &PortEvent, now: u64) -> Result<(), Unexpected> {
        let outcome = self.port.event(event)?;
        if outcome.acknowledged {
            self.owed = None;
            if self.probe == Probe::Pending {
                self.probe = Probe::Answered;
            }
        }
        let Self { store, port, .. } = self;
        for released in port.released(&outcome) {
            let Some(done) = released.done else { continue };
            if let Some(entity) = store.find(released.key) {
                store.change(entity, now, |state| state.done = done);
            }
        }
        self.follow(now);
        Ok(())
    }

    /// The engine was reset and has no contexts. Unfinished contexts run again.
    pub fn reset(&mut self, now: u64) {
        (self.owed, self.probe_requested, self.probe) = (None, false, Probe::None);
        for released in self.port.reset() {
            let Some(entity) = self.store.find(released.key) else {
                continue;
            };
            self.store.change(entity, now, |state| {
                state.fresh = true;
                if let Some(done) = released.done {
                    state.done = done;
                }
            });
        }
        self.follow(now);
    }

    /// Charges the entity that has the engine, and updates which one that is.
    fn follow(&mut self, now: u64) {
        let runs = self.port.running().and_then(|key| self.store.find(key));
        // If no event was needed, this may be long after the end: the credit bounds what that
        // costs.
        if let Some(turn) = self.turn.as_mut() {
            let ran = now.saturating_sub(turn.counted);
            turn.counted = turn.counted.max(now);
            if ran != 0 {
                self.store.charge(turn.entity, ran, self.policy.credit);
            }
            if runs == Some(turn.entity) {
                return;
            }
            self.store.waits_again(now);
        }
        self.turn = runs.map(|entity| {
            self.store.runs(entity);
            Turn {
                entity,
                since: now,
                counted: now,
                patient: self.store.take_patience(entity),
            }
        });
    }

    /// Returns the end of the slice, if there are slices.
    fn end(&self, turn: &Turn) -> Option<u64> {
        (self.policy.slice != 0).then(|| turn.since.saturating_add(self.policy.slice))
    }

    /// Returns whether the entity that has the engine keeps it if it has work.
    fn goes_on(&mut self, turn: &Turn, now: u64) -> bool {
        let Some(state) = self.store.state(turn.entity) else {
            return false;
        };
        let (runnable, priority) = (state.is_runnable(), state.priority);
        if !runnable {
            return false;
        }
        let end = self.end(turn);
        let is_over = end.is_some_and(|end| now >= end);
        match self.store.best().map(|best| best.1) {
            _ if turn.patient && end.is_some_and(|end| now < end) => true,
            None => true,
            Some(best) if best > priority => false,
            Some(best) => best < priority || !is_over,
        }
    }

    /// Returns an entity of the client that has waited too long, if one may be relieved now.
    fn patient(&mut self, now: u64) -> Option<Entity> {
        let since_last = self.relieved.map(|t| now.saturating_sub(t));
        let allowed = self.policy.slice != 0 && since_last.is_none_or(|t| t >= self.policy.pause);
        let (since, entity) = self.store.longest()?;
        (allowed && now.saturating_sub(since) >= self.policy.patience).then_some(entity)
    }

    /// Returns the least priority that may be listed behind an entity.
    fn floor(&mut self, entity: Entity) -> Option<i32> {
        let state = self.store.state(entity)?;
        state.refilled &= state.full || self.port.may_keep(entity.key(), state.tail);
        (state.refilled || state.priority > state.own).then_some(state.priority)
    }

    /// Returns the load to write to the engine now, if any. The tails must be in the images first.
    ///
    /// Must be called after each of the calls above, and at the time that [`next`](Self::next)
    /// returns.
    pub fn schedule(&mut self, now: u64) -> Option<Load> {
        let room = self.port.room();
        if room == 0 {
            return None;
        }
        self.follow(now);
        // With one entity that has work, there is no order to find.
        let alone = self.store.runnable() == 1;
        // Entities below this priority wait.
        let floor = Cell::new(None);
        let len = Cell::new(0usize);
        let take = |this: &mut Self, entity: Entity| {
            if len.get() >= room {
                return false;
            }
            if !alone {
                this.store.take(entity);
            }
            let own = this.floor(entity);
            floor.set(floor.get().max(own));
            let want = this.store.wanted(entity);
            if let (Some(place), Some(want)) = (this.wanted.get_mut(len.get()), want) {
                *place = want;
                len.set(len.get().saturating_add(1));
            }
            true
        };
        let turn = self.turn;
        let relieved = match turn {
            // One relieved client at a time.
            Some(turn) if turn.patient && self.goes_on(&turn, now) => None,
            _ => self.patient(now),
        };
        if let Some(entity) = relieved {
            take(self, entity);
        }
        if let Some(turn) = turn {
            if relieved.is_none() && self.goes_on(&turn, now) {
                take(self, turn.entity);
            } else {
                self.store.goes_back(turn.entity);
            }
        }
        let mut only = false;
        while !(alone && len.get() != 0) {
            let Some((entity, priority)) = self.store.best() else {
                break;
            };
            only = Some(priority) < floor.get();
            let elsewhere = len.get() != 0 && self.store.state(entity).is_some_and(|s| s.roams);
            if only || elsewhere || !take(self, entity) {
                break;
            }
        }
        if !alone {
            for wanted in self.wanted.iter().take(len.get()) {
                if let Some(entity) = self.store.find(wanted.key) {
                    self.store.put_back(entity);
                }
            }
        }
        let end = self.turn.and_then(|turn| self.end(&turn));
        if let Some(turn) = self.turn.as_mut() {
            let first = self.wanted.iter().take(len.get()).next();
            let again = first.is_some_and(|w| w.key == turn.entity.key());
            if again && end.is_some_and(|end| now >= end) {
                // No other entity wants the engine: another slice.
                turn.since = now;
                turn.patient = false;
            }
        }
        if let Some(load) = self.probe_first(len.get()) {
            self.owed = Some(now);
            return Some(load);
        }
        let list = self.wanted.get(..len.get()).unwrap_or(&[]);
        let load = match (core::mem::take(&mut self.probe_requested), only) {
            (true, _) => self.port.reload(list)?,
            (false, true) => self.port.load_only(list)?,
            (false, false) => self.port.load(list)?,
        };
        self.owed = Some(now);
        for wanted in list.iter().take(load.entries().len()) {
            self.store.loaded(wanted.key);
        }
        if let Some(entity) = relieved {
            self.relieved = Some(now);
            self.store.give_patience(entity);
        }
        Some(load)
    }

    /// Returns the preemption probe to write before the first `len` entities of `wanted` are
    /// loaded, if an entity that other engines can run is to preempt the running context, unless
    /// that one has answered a probe.
    fn probe_first(&mut self, len: usize) -> Option<Load> {
        let first = self.wanted.iter().take(len).next().map(|want| want.key);
        if self.probe == Probe::None && self.port.running() == first {
            return None;
        }
        let runs = self.port.running().and_then(|key| self.store.find(key));
        let first = first.and_then(|key| self.store.find(key));
        let (Some(runs), Some(first)) = (runs, first) else {
            self.probe = Probe::None;
            return None;
        };
        let roams = self.store.state(first).is_some_and(|s| s.roams);
        let stays = self.store.state(runs).is_some_and(|s| s.is_runnable());
        if !roams || !stays || first == runs {
            self.probe = Probe::None;
            return None;
        }
        if self.probe == Probe::Answered {
            return None;
        }
        let load = self.port.reload(&[self.store.wanted(runs)?])?;
        self.store.loaded(runs.key());
        self.probe = Probe::Pending;
        Some(load)
    }

    /// Returns whether [`schedule`](Self::schedule) must be called after the engine's next event:
    /// the engine does not run all work by itself, or contexts wait for their turns while a load is
    /// pending.
    pub fn needs_event(&mut self) -> bool {
        if self.port.has_cancelled() {
            return true;
        }
        let runnable = self.store.runnable();
        if self.port.is_loading() && runnable > 1 {
            return true;
        }
        let Self { store, port, .. } = self;
        let given = port.given().filter(|(key, tail)| {
            let entity = store.find(*key);
            let state = entity.and_then(|entity| store.state(entity));
            state.is_some_and(|s| s.is_runnable() && s.tail == *tail)
        });
        given.count() < runnable
    }

    /// Returns when to call [`schedule`](Self::schedule) again if nothing happens until then;
    /// `None` if that is not necessary.
    pub fn next(&mut self, now: u64) -> Option<u64> {
        if self.port.is_loading() {
            // An event comes first.
            return None;
        }
        let turn = self.turn?;
        let end = self.end(&turn)?.max(now);
        let slice = self.store.is_contended(turn.entity).then_some(end);
        let relief = self.store.longest().map(|(since, _)| {
            let patience = since.saturating_add(self.policy.patience);
            let last = self.relieved;
            let pause = last.map_or(0, |t| t.saturating_add(self.policy.pause));
            let other = if turn.patient { end } else { now };
            patience.max(pause).max(other)
        });
        match (slice, relief) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

impl Wanted {
    const NONE: Self = Self {
        key: ContextKey(0),
        id: 0,
        priority: 0,
        descriptor: 0,
        tail: RingOffset(0),
        fresh: false,
    };
}

impl State {
    /// Returns whether it has work and is not cancelled.
    fn is_runnable(&self) -> bool {
        self.tail != self.done && !self.cancelled
    }
}
