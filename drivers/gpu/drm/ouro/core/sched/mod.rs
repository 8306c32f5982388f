// SPDX-License-Identifier: GPL-2.0
//! Who runs next on an engine that takes lists of contexts. What it queues is an [`Entity`]: a context on this engine.
//!
//! * **Priority.** An entity of higher priority runs before others, and takes the engine away from them.
//! * **Slices.** An entity runs for a slice if another one of its priority waits, and is then behind them. Without
//!   slices it runs until it has nothing to do, or something more urgent comes.
//! * **Fairness.** Clients share the engine, not entities: each has a clock that goes on while one of its
//!   entities runs, and of one priority the client with the least time is first. Who was away gets no credit
//!   for that; who waited gets some, not more than [`Policy::credit`].
//! * **No starvation.** A client that has waited for [`Policy::patience`] runs for a slice whatever its
//!   priority, unless another one did so within [`Policy::pause`]. So what is urgent is held up by less
//!   urgent work for at most a slice in each pause, and the time that it takes to preempt it. Without slices
//!   nobody is helped so.
//! * **Lifting.** An entity that something more urgent waits for is as urgent as that, as long as the caller
//!   says so: nothing in between starves both.
//! * **Order.** Behind an entity that was lifted, or that has more to do than there is room for, nothing less
//!   urgent is listed: the engine would begin with that before it is known that the entity has run, and so
//!   before who waited is ready, or what there was no room for. Nor is it with the rest of that, as long as the
//!   engine may take the end of what it has for the end of all.
//! * **Roaming.** An entity that other engines could run as well is listed in the first place or not at all:
//!   behind others it would wait while another engine is free. [`Scheduler::waits`] says whether it does. Nor is
//!   it listed before what runs has shown that it lets go: the engine is asked first.
//!
//! Free of registers and of time: the caller says what time it is, hands over events, and writes what it is
//! given to the device. Entities and clients live in an [`Arena`] of the caller's, which grows where
//! allocating is allowed. Each call costs the logarithm of the number of entities at most.
//!
//! What runs is seen from events alone ([`crate::list`]). `store` keeps entities and clients.

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

/// Times, in the caller's unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// For which an entity runs while another one of its priority waits; zero: there are no slices.
    pub slice: u64,
    /// After which a client that waits runs for a slice, whatever its priority.
    pub patience: u64,
    /// Between two such slices, at least.
    pub pause: u64,
    /// That a client may be behind others and be preferred for it, at most.
    pub credit: u64,
}

/// What is fixed about an entity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct What {
    /// Its number in events. No other entity of the engine has it.
    pub id: u32,
    /// What stands for it in a list.
    pub descriptor: u64,
    /// How urgent it is: more is more.
    pub priority: i32,
    /// Whether other engines could run it as well.
    pub roams: bool,
}

/// There is no place in the arena: it must grow first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoPlace;

/// Who has the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Turn {
    entity: Entity,
    /// When its slice began.
    since: u64,
    /// Up to when its time has been counted.
    counted: u64,
    /// Whether it is there since it waited long, and not for its priority.
    patient: bool,
}

/// The scheduler of one engine.
#[derive(Debug)]
pub struct Scheduler<A> {
    store: Store<A>,
    port: ListPort,
    policy: Policy,
    turn: Option<Turn>,
    /// When a patient client was last given the engine.
    relieved: Option<u64>,
    /// When the load was given that the engine has not answered yet.
    owed: Option<u64>,
    /// It is to be asked whether it lets go of what it runs.
    asks: bool,
    /// Whether what runs lets go, for an entity that roams.
    lets_go: LetsGo,
}

/// Whether what runs lets go of the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LetsGo {
    /// Nobody has asked.
    Unknown,
    /// The engine owes the answer.
    Asked,
    /// It has, a moment ago.
    Yes,
}

impl<A: Arena> Scheduler<A> {
    /// One of an engine with a list of `depth`, which reports into a ring of `events`.
    pub fn new(arena: A, depth: u8, events: u8, policy: Policy) -> Self {
        Self {
            store: Store::new(arena),
            port: ListPort::new(depth, events),
            policy,
            turn: None,
            relieved: None,
            owed: None,
            asks: false,
            lets_go: LetsGo::Unknown,
        }
    }

    /// The arena, so that it can grow. A client takes one place, and so does an entity.
    pub fn arena_mut(&mut self) -> &mut A {
        self.store.arena_mut()
    }

    /// The port.
    pub fn port(&self) -> &ListPort {
        &self.port
    }

    /// [`Policy::slice`].
    pub fn slice(&self) -> u64 {
        self.policy.slice
    }

    /// Another [`Policy::slice`], from the next decision on.
    pub fn set_slice(&mut self, slice: u64) {
        self.policy.slice = slice;
    }

    /// A new client.
    pub fn add_client(&mut self) -> Result<Client, NoPlace> {
        self.store.add_client().ok_or(NoPlace)
    }

    /// A new entity of a client, with nothing to do.
    pub fn add_entity(&mut self, client: Client, what: &What) -> Result<Entity, NoPlace> {
        self.store.add_entity(client, what).ok_or(NoPlace)
    }

    /// Forgets an entity. False, and nothing changes, as long as the engine may have it: cancel it first.
    pub fn remove_entity(&mut self, entity: Entity) -> bool {
        if self.is_held(entity) {
            return false;
        }
        self.store.remove_entity(entity)
    }

    /// Forgets a client. False, and nothing changes, if it has entities.
    pub fn remove_client(&mut self, client: Client) -> bool {
        self.store.remove_client(client)
    }

    /// Whether the engine has, or is being given, an entity: then its image and ring stay where they are.
    pub fn is_held(&self, entity: Entity) -> bool {
        self.port.holds(entity.key())
    }

    /// Whether the engine may be writing an entity's image: a reset leaves it half written, or old.
    pub fn may_write(&self, entity: Entity) -> bool {
        self.port.may_write(entity.key())
    }

    /// Whether an entity has something to do, and the engine has not got it.
    pub fn waits(&mut self, entity: Entity) -> bool {
        !self.is_held(entity) && self.store.state(entity).is_some_and(|s| s.is_runnable())
    }

    /// Takes away what an entity has to do: another engine does it. Returns its tail, and up to where it has run.
    pub fn take_work(&mut self, entity: Entity, now: u64) -> (RingOffset, RingOffset) {
        let mut work = (RingOffset(0), RingOffset(0));
        self.store.change(entity, now, |state| {
            work = (state.tail, state.done);
            state.done = state.tail;
            (state.full, state.refilled) = (false, false);
        });
        work
    }

    /// The opposite of [`take_work`](Self::take_work), on the other engine, whose image it has not had yet.
    pub fn give_work(&mut self, entity: Entity, (tail, done): (RingOffset, RingOffset), now: u64) {
        self.store.change(entity, now, |state| {
            (state.tail, state.done) = (tail, done);
            state.fresh = true;
        });
    }

    /// There is more to do: the commands up to `tail` are in memory.
    pub fn publish(&mut self, entity: Entity, tail: RingOffset, now: u64) {
        self.store.change(entity, now, |state| state.tail = tail);
    }

    /// An entity has run up to `tail`, as its numbers say. (What follows may still run.)
    pub fn completed(&mut self, entity: Entity, tail: RingOffset, now: u64) {
        self.port.completed(entity.key(), tail);
        self.store.change(entity, now, |state| state.done = tail);
    }

    /// Another priority of its own, from the next decision on.
    pub fn set_priority(&mut self, entity: Entity, priority: i32, now: u64) {
        if let Some(state) = self.store.state(entity) {
            state.own = priority;
            self.rank(entity, now);
        }
    }

    /// What waits for it is as urgent as this, or nothing that matters waits: from the next decision on it is
    /// as urgent as that, if that is more than its own priority.
    pub fn inherit(&mut self, entity: Entity, lifted: Option<i32>, now: u64) {
        if let Some(state) = self.store.state(entity) {
            state.lifted = lifted;
            self.rank(entity, now);
        }
    }

    /// Whether an entity has more to do than was published, for want of room.
    pub fn set_full(&mut self, entity: Entity, full: bool) {
        if let Some(state) = self.store.state(entity) {
            state.full = full;
            state.refilled |= full;
        }
    }

    /// Puts an entity where its priority belongs now.
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

    /// An entity that is not to run any more, whatever it has to do.
    pub fn cancel(&mut self, entity: Entity, now: u64) {
        self.port.cancel(entity.key());
        self.store
            .change(entity, now, |state| state.cancelled = true);
    }

    /// An entity that was cancelled, and that the engine has let go of, may run again.
    pub fn resume(&mut self, entity: Entity, now: u64) {
        self.store
            .change(entity, now, |state| state.cancelled = false);
    }

    /// Its image was changed by other than the engine: it is loaded as a whole the next time.
    pub fn touched(&mut self, entity: Entity, now: u64) {
        self.store.change(entity, now, |state| state.fresh = true);
    }

    /// Since when the engine has owed an answer to what it was given, if it does.
    pub fn owed(&self) -> Option<u64> {
        self.owed
    }

    /// Asks the engine whether it lets go of what it runs: it is told what to do anew, even if that is what it
    /// does.
    pub fn ask(&mut self) {
        self.asks = true;
    }

    /// An event of the engine. An error means that it does not do what it was told, and must be reset.
    ///
    /// Events say what the engine has let go of; how far that has run is told by [`completed`](Self::completed)
    /// alone, between the events and the next [`schedule`](Self::schedule). What it was not told of is listed
    /// again.
    pub fn event(&mut self, event: &PortEvent, now: u64) -> Result<(), Unexpected> {
        let outcome = self.port.event(event)?;
        if outcome.acknowledged {
            self.owed = None;
            if self.lets_go == LetsGo::Asked {
                self.lets_go = LetsGo::Yes;
            }
        }
        for released in outcome.released() {
            let Some(done) = released.done else { continue };
            if let Some(entity) = self.store.find(released.key) {
                self.store.change(entity, now, |state| state.done = done);
            }
        }
        self.follow(now);
        Ok(())
    }

    /// The engine was reset, and has nothing. What had not run up to its tail runs again.
    pub fn reset(&mut self, now: u64) {
        (self.owed, self.asks, self.lets_go) = (None, false, LetsGo::Unknown);
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

    /// Counts the time of who has the engine, and sees who that is now.
    fn follow(&mut self, now: u64) {
        let runs = self.port.running().and_then(|key| self.store.find(key));
        if let Some(turn) = self.turn.as_mut() {
            let ran = now.saturating_sub(turn.counted);
            turn.counted = turn.counted.max(now);
            self.store.charge(turn.entity, ran, self.policy.credit);
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

    /// When the slice of who has the engine ends, if there are slices.
    fn end(&self, turn: &Turn) -> Option<u64> {
        (self.policy.slice != 0).then(|| turn.since.saturating_add(self.policy.slice))
    }

    /// Whether who has the engine goes on, if it has something to do.
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

    /// The client that has waited too long, if one may be helped now.
    fn patient(&mut self, now: u64) -> Option<Entity> {
        let since_last = self.relieved.map(|t| now.saturating_sub(t));
        let allowed = self.policy.slice != 0 && since_last.is_none_or(|t| t >= self.policy.pause);
        let (since, entity) = self.store.longest()?;
        (allowed && now.saturating_sub(since) >= self.policy.patience).then_some(entity)
    }

    /// What comes behind an entity is as urgent as this, at least.
    fn floor(&mut self, entity: Entity) -> Option<i32> {
        let state = self.store.state(entity)?;
        state.refilled &= state.full || self.port.may_keep(entity.key(), state.tail);
        (state.refilled || state.priority > state.own).then_some(state.priority)
    }

    /// What to write to the engine now, if anything. The tails are to be in the images first.
    ///
    /// To be called after each of the calls above, and when [`next`](Self::next) says.
    pub fn schedule(&mut self, now: u64) -> Option<Load> {
        let room = self.port.room();
        if room == 0 {
            return None;
        }
        self.follow(now);
        let mut wanted = [None; MAX_LIST];
        let mut places = wanted.iter_mut().take(room);
        let mut out = [None; MAX_LIST];
        let mut taken = out.iter_mut();
        // What is less urgent than this waits.
        let floor = Cell::new(None);
        let any = Cell::new(false);
        let mut take = |this: &mut Self, entity: Entity| {
            if let (Some(place), Some(out)) = (places.next(), taken.next()) {
                this.store.take(entity);
                any.set(true);
                let own = this.floor(entity);
                floor.set(floor.get().max(own));
                *place = this.store.wanted(entity);
                *out = Some(entity);
                return true;
            }
            false
        };
        let turn = self.turn;
        let relieved = match turn {
            // One patient client at a time.
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
        while let Some((entity, priority)) = self.store.best() {
            only = Some(priority) < floor.get();
            let elsewhere = any.get() && self.store.state(entity).is_some_and(|s| s.roams);
            if only || elsewhere || !take(self, entity) {
                break;
            }
        }
        for entity in out.iter().flatten() {
            self.store.put_back(*entity);
        }
        let mut list = [Wanted::NONE; MAX_LIST];
        let mut len = 0usize;
        for (to, from) in list.iter_mut().zip(wanted.iter().flatten()) {
            *to = *from;
            len = len.saturating_add(1);
        }
        let end = self.turn.and_then(|turn| self.end(&turn));
        if let Some(turn) = self.turn.as_mut() {
            let again = list.first().is_some_and(|w| w.key == turn.entity.key());
            if again && end.is_some_and(|end| now >= end) {
                // Nobody else wants the engine: another slice.
                turn.since = now;
                turn.patient = false;
            }
        }
        let list = list.get(..len).unwrap_or(&[]);
        if let Some(load) = self.asks_first(list) {
            self.owed = Some(now);
            return Some(load);
        }
        let load = match (core::mem::take(&mut self.asks), only) {
            (true, _) => self.port.load_anew(list)?,
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

    /// If an entity that roams is to take the place of one that runs: what asks that one whether it lets go, unless
    /// it has said so.
    fn asks_first(&mut self, list: &[Wanted]) -> Option<Load> {
        let runs = self.port.running().and_then(|key| self.store.find(key));
        let first = list.first().and_then(|want| self.store.find(want.key));
        let (Some(runs), Some(first)) = (runs, first) else {
            self.lets_go = LetsGo::Unknown;
            return None;
        };
        let roams = self.store.state(first).is_some_and(|s| s.roams);
        let stays = self.store.state(runs).is_some_and(|s| s.is_runnable());
        if !roams || !stays || first == runs {
            self.lets_go = LetsGo::Unknown;
            return None;
        }
        if self.lets_go == LetsGo::Yes {
            return None;
        }
        let load = self.port.load_anew(&[self.store.wanted(runs)?])?;
        self.store.loaded(runs.key());
        self.lets_go = LetsGo::Asked;
        Some(load)
    }

    /// When to call [`schedule`](Self::schedule) again if nothing happens until then; `None` if it need not
    /// be.
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
    /// Whether it has something to do, and may.
    fn is_runnable(&self) -> bool {
        self.tail != self.done && !self.cancelled
    }
}
