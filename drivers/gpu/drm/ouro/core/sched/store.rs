// SPDX-License-Identifier: GPL-2.0
//! Entities and clients, and the orders that they stand in.
//!
//! A client that has an entity which could run stands among the clients, by its most urgent entity and then
//! by its time; its entities stand among themselves, by priority and then by who was first. Clients that
//! wait stand in a row besides, the one that waits longest at its head.

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

/// A context on this engine: what is queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entity {
    link: Link,
    /// How often the place was used before.
    generation: u32,
}

impl Entity {
    /// What the port knows it by.
    pub const fn key(self) -> ContextKey {
        ContextKey((self.generation as u64) << 32 | self.link as u64)
    }
}

/// Where entities and clients live: a growable array.
pub trait Arena {
    /// The places.
    fn items(&self) -> &[Item];
    /// The same, to be changed.
    fn items_mut(&mut self) -> &mut [Item];
}

/// What a place of the arena has.
#[derive(Clone, Debug, Default)]
enum Kind {
    /// Nothing; the next such place.
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
    /// The next place without anything in it.
    next_free: Link,
    kind: Kind,
}

/// Priority, time, and who was first.
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
    /// Time for which its entities ran.
    time: u64,
    /// The heap of its entities that could run.
    entities: Link,
    /// How many entities it has.
    count: u32,
    /// Whether it is in the heap of clients.
    queued: bool,
    /// Since when it waits, if it is in the row of those that do.
    waits: Option<u64>,
    /// In that row, the ones before and behind it.
    row: (Link, Link),
}

/// An entity.
#[derive(Clone, Debug)]
pub(super) struct State {
    client: Link,
    id: u32,
    descriptor: u64,
    /// Whether other engines could run it as well.
    pub(super) roams: bool,
    /// How urgent it is now.
    pub(super) priority: i32,
    /// How urgent it is by itself.
    pub(super) own: i32,
    /// How urgent what waits for it is.
    pub(super) lifted: Option<i32>,
    /// Whether there is more to do than up to its tail.
    pub(super) full: bool,
    /// Whether there was since it was last listed with all of it.
    pub(super) refilled: bool,
    pub(super) tail: RingOffset,
    pub(super) done: RingOffset,
    pub(super) cancelled: bool,
    pub(super) fresh: bool,
    /// Whether it is in the heap of its client.
    queued: bool,
    /// Who was first.
    turn: u64,
    /// Whether it is let run since its client waited long.
    patient: bool,
}

/// The store.
#[derive(Debug)]
pub(super) struct Store<A> {
    arena: A,
    free: Link,
    /// Places that were in use once.
    known: usize,
    /// The heap of clients.
    clients: Link,
    /// The row of those that wait: first and last.
    row: (Link, Link),
    /// The largest time of a client when it began to run.
    clock: u64,
    /// The next number for who was first.
    turns: u64,
    /// The client whose entity has the engine.
    runs: Link,
}

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
        }
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

    /// The entity that the port knows by `key`.
    pub(super) fn find(&mut self, key: ContextKey) -> Option<Entity> {
        let entity = Entity {
            link: key.0 as u32,
            generation: (key.0 >> 32) as u32,
        };
        self.state(entity).is_some().then_some(entity)
    }

    /// Puts something into a place.
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

    /// Takes an entity out of the heap of its client.
    fn leave(&mut self, entity: Entity) {
        let Some(state) = self.state(entity) else {
            return;
        };
        if !core::mem::take(&mut state.queued) {
            return;
        }
        let client = state.client;
        let root = self.owner(client).map_or(0, |o| o.entities);
        let root = heap::remove(self.arena.items_mut(), root, entity.link);
        if let Some(owner) = self.owner(client) {
            owner.entities = root;
        }
    }

    /// Puts an entity into the heap of its client, if it could run.
    fn enter(&mut self, entity: Entity) {
        let Some(state) = self.state(entity) else {
            return;
        };
        if state.queued || !state.is_runnable() {
            return;
        }
        state.queued = true;
        let (client, key) = (state.client, (Reverse(state.priority), 0, state.turn));
        if let Some(item) = self.item(entity.link) {
            item.key = key;
        }
        let root = self.owner(client).map_or(0, |o| o.entities);
        let root = heap::push(self.arena.items_mut(), root, entity.link);
        if let Some(owner) = self.owner(client) {
            owner.entities = root;
        }
    }

    /// Puts a client where it belongs among the clients, or nowhere.
    fn place(&mut self, client: Link) {
        let Some(owner) = self.owner(client) else {
            return;
        };
        let (first, time) = (owner.entities, owner.time);
        if core::mem::take(&mut owner.queued) {
            self.clients = heap::remove(self.arena.items_mut(), self.clients, client);
        }
        let Some((priority, _, turn)) = self.item(first).map(|i| i.key) else {
            return;
        };
        if let Some(item) = self.item(client) {
            item.key = (priority, time, turn);
        }
        self.clients = heap::push(self.arena.items_mut(), self.clients, client);
        if let Some(owner) = self.owner(client) {
            owner.queued = true;
        }
    }

    /// The next number for who was first.
    fn next_turn(&mut self) -> u64 {
        self.turns = self.turns.wrapping_add(1);
        self.turns
    }

    /// Changes an entity, and sees whether it could run then.
    pub(super) fn change(&mut self, entity: Entity, now: u64, change: impl FnOnce(&mut State)) {
        let turn = self.next_turn();
        let Some(state) = self.state(entity) else {
            return;
        };
        let (was, client) = (state.is_runnable(), state.client);
        change(state);
        if !was {
            state.turn = turn;
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
                // Who was away gets no credit for it.
                owner.time = owner.time.max(clock);
                self.join_row(client, now);
                self.place(client);
            }
            (false, Some(_)) => self.leave_row(client),
            _ => {}
        }
    }

    /// The entity that is first, and its priority.
    pub(super) fn best(&mut self) -> Option<(Entity, i32)> {
        let first = self.owner(self.clients)?.entities;
        let entity = self.entity_at(first)?;
        Some((entity, self.state(entity)?.priority))
    }

    /// Whether an entity of the same or a higher priority waits, of whomever.
    pub(super) fn is_contended(&mut self, entity: Entity) -> bool {
        let Some(mine) = self.state(entity).map(|s| s.priority) else {
            return false;
        };
        self.take(entity);
        let best = self.best().map(|b| b.1);
        self.put_back(entity);
        best.is_some_and(|b| b >= mine)
    }

    /// Takes an entity out of all orders.
    pub(super) fn take(&mut self, entity: Entity) {
        self.leave(entity);
        if let Some(client) = self.state(entity).map(|s| s.client) {
            self.place(client);
        }
    }

    /// Puts one back that was taken.
    pub(super) fn put_back(&mut self, entity: Entity) {
        self.enter(entity);
        if let Some(client) = self.state(entity).map(|s| s.client) {
            self.place(client);
        }
    }

    /// An entity that is behind those of its priority now.
    pub(super) fn goes_back(&mut self, entity: Entity) {
        let turn = self.next_turn();
        self.leave(entity);
        if let Some(state) = self.state(entity) {
            state.turn = turn;
        }
        self.put_back(entity);
    }

    /// What the port is told about an entity.
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

    /// The engine is given an entity: it has its image then.
    pub(super) fn loaded(&mut self, key: ContextKey) {
        if let Some(state) = self.find(key).and_then(|c| self.state(c)) {
            state.fresh = false;
            state.patient = false;
        }
    }

    /// An entity ran for a time.
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

    /// An entity is let run since its client waited long.
    pub(super) fn give_patience(&mut self, entity: Entity) {
        if let Some(state) = self.state(entity) {
            state.patient = true;
        }
    }

    /// Whether it is.
    pub(super) fn take_patience(&mut self, entity: Entity) -> bool {
        self.state(entity)
            .is_some_and(|s| core::mem::take(&mut s.patient))
    }
}
