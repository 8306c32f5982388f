// SPDX-License-Identifier: GPL-2.0
//! Entities and clients, and their order.
//!
//! A client with a runnable entity is in the heap of clients, ordered by its most urgent entity and
//! then by its clock; its entities are in a heap of their own, ordered by priority and then first
//! come, first served. Waiting clients are also in a queue, the one that has waited longest at its
//! head.

mod row;

use super::What;
use crate::{
    heap::{self, Link, Links, Node},
    list::Wanted,
    port::ContextKey,
};
use core::cmp::Reverse;
use ouro_hw::types::RingOffset;

/// A client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Client(Link);

/// A context on this engine: the unit of scheduling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entity {
    link: Link,
    /// How often the place was reused.
    generation: u32,
}

impl Entity {
    /// Returns the key by which the port knows the entity.
    pub const fn key(self) -> ContextKey {
        ContextKey((self.generation as u64) << 32 | self.link as u64)
    }
}

/// The memory of entities and clients: a growable array.
pub trait Arena {
    /// Returns the places.
    fn items(&self) -> &[Item];
    /// Returns the places for writing.
    fn items_mut(&mut self) -> &mut [Item];
}

/// The contents of a place.
#[derive(Clone, Debug, Default)]
enum Kind {
    /// A free place.
    #[default]
    Free,
    Client(Owner),
    Entity(State),
}

/// A place of the arena.
#[derive(Clone, Debug, Default)]
pub struct Item {
    links: Links,
    key: Key,
    generation: u32,
    /// The next free place.
    next_free: Link,
    kind: Kind,
}

/// Priority, clock, turn.
type Key = (Reverse<i32>, u64, u64);

impl Node for Item {
    type Key = Key;
    fn key(&self) -> Key {
        self.key
    }
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }
}

/// A client.
#[derive(Clone, Debug, Default)]
struct Owner {
    /// The clock: time for which its entities ran.
    time: u64,
    /// The heap of its runnable entities.
    entities: Link,
    /// Number of its entities.
    count: u32,
    /// Whether it is in the heap of clients.
    queued: bool,
    /// Since when it waits, if it is in the queue of waiting clients.
    waits: Option<u64>,
    /// Its neighbours in that queue: before and behind it.
    row: (Link, Link),
}

/// An entity.
#[derive(Clone, Debug)]
pub(super) struct State {
    client: Link,
    id: u32,
    descriptor: u64,
    /// Whether other engines can run it, too.
    pub(super) roams: bool,
    /// Its effective priority.
    pub(super) priority: i32,
    /// Its own priority.
    pub(super) own: i32,
    /// The priority inherited from its waiters.
    pub(super) lifted: Option<i32>,
    /// Whether it has work beyond its tail.
    pub(super) full: bool,
    /// Whether that was so at any time since it was last listed with all of its work.
    pub(super) refilled: bool,
    pub(super) tail: RingOffset,
    pub(super) done: RingOffset,
    pub(super) cancelled: bool,
    pub(super) fresh: bool,
    /// Whether it is in the heap of its client.
    queued: bool,
    /// Orders entities of the same priority: lower is first.
    turn: u64,
    /// Whether it was listed because its client waited long.
    patient: bool,
}

/// The entities and clients of a scheduler.
#[derive(Debug)]
pub(super) struct Store<A> {
    arena: A,
    free: Link,
    /// Number of places that were ever used.
    known: usize,
    /// The heap of clients.
    clients: Link,
    /// The queue of waiting clients: first and last.
    row: (Link, Link),
    /// The highest clock of a client when it began to run.
    clock: u64,
    /// The last turn given.
    turns: u64,
    /// The client whose entity has the engine.
    runs: Link,
    /// Number of entities in the heaps.
    queued: usize,
}

#[inline]
fn at(items: &mut [Item], link: Link) -> Option<&mut Item> {
    items.get_mut((link as usize).checked_sub(1)?)
}

impl<A: Arena> Store<A> {
    pub(super) fn new(arena: A) -> Self {
        Self {
            arena,
            free: 0,
            known: 0,
            clients: 0,
            row: (0, 0),
            clock: 0,
            turns: 0,
            runs: 0,
            queued: 0,
        }
    }

    /// Returns the number of entities that have work and are not cancelled, if none is
    /// [taken](Self::take).
    pub(super) fn runnable(&self) -> usize {
        self.queued
    }

    pub(super) fn arena_mut(&mut self) -> &mut A {
        &mut self.arena
    }

    fn item(&mut self, link: Link) -> Option<&mut Item> {
        at(self.arena.items_mut(), link)
    }

    fn owner(&mut self, link: Link) -> Option<&mut Owner> {
        match &mut self.item(link)?.kind {
            Kind::Client(owner) => Some(owner),
            _ => None,
        }
    }

    pub(super) fn state(&mut self, entity: Entity) -> Option<&mut State> {
        let item = self.item(entity.link)?;
        match &mut item.kind {
            Kind::Entity(state) if item.generation == entity.generation => Some(state),
            _ => None,
        }
    }

    fn entity_at(&mut self, link: Link) -> Option<Entity> {
        let item = self.item(link)?;
        matches!(item.kind, Kind::Entity(_)).then_some(Entity {
            link,
            generation: item.generation,
        })
    }

    /// Returns the entity with a port key.
    pub(super) fn find(&mut self, key: ContextKey) -> Option<Entity> {
        let entity = Entity {
            link: key.0 as u32,
            generation: (key.0 >> 32) as u32,
        };
        self.state(entity).is_some().then_some(entity)
    }

    /// Puts a client or an entity into a place.
    fn add(&mut self, kind: Kind) -> Option<Link> {
        let link = match self.free {
            0 => {
                let link = Link::try_from(self.known.checked_add(1)?).ok()?;
                self.item(link)?;
                self.known = self.known.saturating_add(1);
                link
            }
            link => {
                self.free = self.item(link)?.next_free;
                link
            }
        };
        let item = self.item(link)?;
        item.links = Links::default();
        item.kind = kind;
        Some(link)
    }

    fn drop_item(&mut self, link: Link) {
        let free = self.free;
        if let Some(item) = self.item(link) {
            item.kind = Kind::Free;
            item.generation = item.generation.wrapping_add(1);
            item.next_free = free;
            self.free = link;
        }
    }

    pub(super) fn add_client(&mut self) -> Option<Client> {
        let owner = Owner {
            time: self.clock,
            ..Owner::default()
        };
        self.add(Kind::Client(owner)).map(Client)
    }

    pub(super) fn add_entity(&mut self, client: Client, what: &What) -> Option<Entity> {
        self.owner(client.0)?;
        let link = self.add(Kind::Entity(State {
            client: client.0,
            id: what.id,
            descriptor: what.descriptor,
            roams: what.roams,
            priority: what.priority,
            own: what.priority,
            lifted: None,
            full: false,
            refilled: false,
            tail: RingOffset(0),
            done: RingOffset(0),
            cancelled: false,
            fresh: true,
            queued: false,
            turn: 0,
            patient: false,
        }))?;
        let owner = self.owner(client.0)?;
        owner.count = owner.count.saturating_add(1);
        self.entity_at(link)
    }

    pub(super) fn remove_entity(&mut self, entity: Entity) -> bool {
        let Some(client) = self.state(entity).map(|s| s.client) else {
            return false;
        };
        self.leave(entity);
        self.drop_item(entity.link);
        if let Some(owner) = self.owner(client) {
            owner.count = owner.count.saturating_sub(1);
        }
        self.place(client);
        if self.owner(client).is_some_and(|o| !o.queued) {
            self.leave_row(client);
        }
        true
    }

    pub(super) fn remove_client(&mut self, client: Client) -> bool {
        if self.owner(client.0).is_none_or(|o| o.count != 0) {
            return false;
        }
        self.leave_row(client.0);
        if self.runs == client.0 {
            self.runs = 0;
        }
        self.drop_item(client.0);
        true
    }

    /// Removes an entity from its client's heap.
    fn leave(&mut self, entity: Entity) {
        let Some(state) = self.state(entity) else {
            return;
        };
        if !core::mem::take(&mut state.queued) {
            return;
        }
        let client = state.client;
        self.queued = self.queued.saturating_sub(1);
        let root = self.owner(client).map_or(0, |o| o.entities);
        let root = heap::remove(self.arena.items_mut(), root, entity.link);
        if let Some(owner) = self.owner(client) {
            owner.entities = root;
        }
    }

    /// Inserts an entity into its client's heap if it is runnable.
    fn enter(&mut self, entity: Entity) {
        let Some(state) = self.state(entity) else {
            return;
        };
        if state.queued || !state.is_runnable() {
            return;
        }
        state.queued = true;
        let (client, key) = (state.client, (Reverse(state.priority), 0, state.turn));
        self.queued = self.queued.saturating_add(1);
        if let Some(item) = self.item(entity.link) {
            item.key = key;
        }
        let root = self.owner(client).map_or(0, |o| o.entities);
        let root = heap::push(self.arena.items_mut(), root, entity.link);
        if let Some(owner) = self.owner(client) {
            owner.entities = root;
        }
    }

    /// Updates a client's place in the heap of clients.
    fn place(&mut self, client: Link) {
        let Some(owner) = self.owner(client) else {
            return;
        };
        let (first, time, queued) = (owner.entities, owner.time, owner.queued);
        let first = self.item(first).map(|i| i.key);
        let key = first.map(|(priority, _, turn)| (priority, time, turn));
        if queued && key.is_some() && self.item(client).map(|i| i.key) == key {
            return;
        }
        if queued {
            if let Some(owner) = self.owner(client) {
                owner.queued = false;
            }
            self.clients = heap::remove(self.arena.items_mut(), self.clients, client);
        }
        let Some(key) = key else {
            return;
        };
        if let Some(item) = self.item(client) {
            item.key = key;
        }
        self.clients = heap::push(self.arena.items_mut(), self.clients, client);
        if let Some(owner) = self.owner(client) {
            owner.queued = true;
        }
    }

    /// Returns the next turn.
    fn next_turn(&mut self) -> u64 {
        self.turns = self.turns.wrapping_add(1);
        self.turns
    }

    /// Changes an entity, and updates its place and its client's.
    pub(super) fn change(&mut self, entity: Entity, now: u64, change: impl FnOnce(&mut State)) {
        let turn = self.next_turn();
        let Some(state) = self.state(entity) else {
            return;
        };
        let (was, client) = (state.is_runnable(), state.client);
        let priority = state.priority;
        change(state);
        if !was {
            state.turn = turn;
        }
        if was == state.is_runnable() && was == state.queued && priority == state.priority {
            return;
        }
        self.leave(entity);
        self.enter(entity);
        self.place(client);
        let clock = self.clock;
        let runs = self.runs == client;
        let Some(owner) = self.owner(client) else {
            return;
        };
        match (owner.queued, owner.waits) {
            (true, None) if !runs => {
                // A client that was idle gets no credit for that.
                owner.time = owner.time.max(clock);
                self.join_row(client, now);
                self.place(client);
            }
            (false, Some(_)) => self.leave_row(client),
            _ => {}
        }
    }

    /// Returns the first entity and its priority.
    pub(super) fn best(&mut self) -> Option<(Entity, i32)> {
        let first = self.owner(self.clients)?.entities;
        let entity = self.entity_at(first)?;
        Some((entity, self.state(entity)?.priority))
    }

    /// Returns whether any entity of the same or a higher priority waits.
    pub(super) fn is_contended(&mut self, entity: Entity) -> bool {
        let Some((mine, queued)) = self.state(entity).map(|s| (s.priority, s.queued)) else {
            return false;
        };
        // There is no other.
        if self.queued == usize::from(queued) {
            return false;
        }
        self.take(entity);
        let best = self.best().map(|b| b.1);
        self.put_back(entity);
        best.is_some_and(|b| b >= mine)
    }

    /// Removes an entity from the heaps.
    pub(super) fn take(&mut self, entity: Entity) {
        self.leave(entity);
        if let Some(client) = self.state(entity).map(|s| s.client) {
            self.place(client);
        }
    }

    /// Puts an entity back after [`take`](Self::take).
    pub(super) fn put_back(&mut self, entity: Entity) {
        self.enter(entity);
        if let Some(client) = self.state(entity).map(|s| s.client) {
            self.place(client);
        }
    }

    /// Puts an entity behind all others of its priority.
    pub(super) fn goes_back(&mut self, entity: Entity) {
        let turn = self.next_turn();
        self.leave(entity);
        if let Some(state) = self.state(entity) {
            state.turn = turn;
        }
        self.put_back(entity);
    }

    /// Returns what the port needs to know of an entity.
    pub(super) fn wanted(&mut self, entity: Entity) -> Option<Wanted> {
        let state = self.state(entity)?;
        Some(Wanted {
            key: entity.key(),
            id: state.id,
            priority: state.priority,
            descriptor: state.descriptor,
            tail: state.tail,
            fresh: state.fresh,
        })
    }

    /// The engine was given an entity and so will load its image.
    pub(super) fn loaded(&mut self, key: ContextKey) {
        if let Some(state) = self.find(key).and_then(|c| self.state(c)) {
            state.fresh = false;
            state.patient = false;
        }
    }

    /// Charges an entity's client for the time it ran.
    pub(super) fn charge(&mut self, entity: Entity, ran: u64, credit: u64) {
        let Some(client) = self.state(entity).map(|s| s.client) else {
            return;
        };
        let least = self.clock.saturating_sub(credit);
        let Some(owner) = self.owner(client) else {
            return;
        };
        let began = owner.time.max(least);
        owner.time = began.saturating_add(ran);
        self.clock = self.clock.max(began);
        self.place(client);
    }

    /// Marks an entity as listed because its client waited long.
    pub(super) fn give_patience(&mut self, entity: Entity) {
        if let Some(state) = self.state(entity) {
            state.patient = true;
        }
    }

    /// Clears that mark; returns whether it was set.
    pub(super) fn take_patience(&mut self, entity: Entity) -> bool {
        self.state(entity)
            .is_some_and(|s| core::mem::take(&mut s.patient))
    }
}
