// SPDX-License-Identifier: GPL-2.0
//! What is counted: submissions as the driver's core makes them, beside any number of other things.

use crate::count;
use clap::ValueEnum;
use ouro_core::{
    list::Load,
    port::{ContextKey, RingPort},
    range::{self, Ranges, Want},
    relocation,
    sched::{self, Entity, Item, Policy, Scheduler, What},
};
use ouro_hw::{
    checker::{Checker, Placed, Verdict},
    engine::PortEvent,
    gen7::check::RENDER,
    types::RingOffset,
};
use std::collections::VecDeque;
use std::hint::black_box;
use std::io;
use std::path::Path;
use std::process::Command;

/// Submissions of a region, as many as a list has contexts: what is paid for later is counted too.
pub const ROUNDS: u64 = 8;
/// Submissions before.
const WARM: u64 = 64;

/// What there is much of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Case {
    /// Objects that have addresses, side by side. (A ring.)
    Objects,
    /// As many holes between them, the worst that there is. (A ring.)
    Holes,
    /// Contexts of one client that have nothing to do. (Lists of contexts.)
    Contexts,
    /// Clients with a context each that has nothing to do. (Lists of contexts.)
    Clients,
    /// Contexts of one client that all wait for the engine. (Lists of contexts.)
    Waiting,
    /// Clients that all wait for the engine. (Lists of contexts.)
    WaitingClients,
    /// KiB of a batch that is copied, and checked before it runs with privilege. (A ring of Gen7.)
    Checked,
}

/// KiB of a batch whose check is counted.
pub const BATCH_KIB: u32 = 16;

impl Case {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Objects => "objects, side by side",
            Self::Holes => "objects, a hole behind each",
            Self::Contexts => "contexts",
            Self::Clients => "clients",
            Self::Waiting => "contexts that wait",
            Self::WaitingClients => "clients that wait",
            Self::Checked => "KiB of a batch, checked",
        }
    }

    /// Those of which a submission must not cost more, however much there is.
    pub fn alive() -> impl Iterator<Item = Self> {
        let all = Self::value_variants().iter().copied();
        all.filter(|case| *case != Self::Checked)
    }

    /// Instructions of a submission with `n` of them, as `program` (this crate's) runs it; an error as of
    /// [`count::instructions`].
    pub fn instructions(self, program: &Path, n: u32) -> io::Result<u64> {
        let case = self.to_possible_value().expect("none is left out");
        let mut command = Command::new(program);
        command.arg(case.get_name()).arg(n.to_string());
        let regions = count::instructions(&mut command, 2)?;
        Ok(regions[1].saturating_sub(regions[0]) / ROUNDS)
    }

    /// Runs it with `n` of them. `mark` is called three times: before and after nothing, and then after
    /// [`ROUNDS`] submissions.
    pub fn run(self, n: u32, mark: impl Fn()) {
        match self {
            Self::Objects => measured(&mut OnRing::new(n, false), mark),
            Self::Holes => measured(&mut OnRing::new(n, true), mark),
            Self::Contexts => measured(&mut OnLists::new(1, n, false), mark),
            Self::Clients => measured(&mut OnLists::new(n, 1, false), mark),
            Self::Waiting => measured(&mut OnLists::new(1, n, true), mark),
            Self::WaitingClients => measured(&mut OnLists::new(n, 1, true), mark),
            Self::Checked => measured(&mut OnChecked::new(n), mark),
        }
    }
}

fn measured(machine: &mut impl Submit, mark: impl Fn()) {
    for n in 0..WARM {
        machine.submit(n);
    }
    mark();
    mark();
    for n in WARM..WARM + ROUNDS {
        machine.submit(n);
    }
    mark();
}

/// Somewhere to submit to.
trait Submit {
    /// The n-th submission, from its addresses to its end.
    fn submit(&mut self, n: u64);
}

/// What an arena has, in a vector.
struct Items<T>(Vec<T>);

impl range::Arena for Items<range::Node> {
    fn nodes(&self) -> &[range::Node] {
        &self.0
    }
    fn nodes_mut(&mut self) -> &mut [range::Node] {
        &mut self.0
    }
}

impl sched::Arena for Items<Item> {
    fn items(&self) -> &[Item] {
        &self.0
    }
    fn items_mut(&mut self) -> &mut [Item] {
        &mut self.0
    }
}

const PAGE: u64 = 4096;
/// Of a Gen6 address space.
const SPACE: u64 = 2 << 30;
/// What an object wants.
const A_PAGE: Want = Want {
    size: PAGE,
    align: PAGE,
    within: (0, SPACE),
};
/// Relocations of a batch.
const RELOCATIONS: u64 = 8;

/// Dwords that it becomes in the ring: about what a Gen6 render engine gets with a context switch.
const DWORDS: usize = 64;
const RING: u32 = 128 << 10;

/// An engine with a ring: a new object gets an address, is told to the commands that use it, has its place in
/// the ring, and loses its address in the end; the context is another one each time.
struct OnRing {
    ranges: Ranges<Items<range::Node>>,
    port: RingPort,
    batch: Vec<u32>,
}

impl OnRing {
    fn new(objects: u32, apart: bool) -> Self {
        let nodes = vec![range::Node::default(); 2 * objects as usize + 8];
        let mut ranges = Ranges::new(Items(nodes), 0..SPACE);
        let all = objects * (1 + u32::from(apart));
        let addresses: Vec<u64> = (0..all)
            .map(|_| ranges.take(&A_PAGE).expect("there is room"))
            .collect();
        if apart {
            for address in addresses.iter().step_by(2) {
                assert!(ranges.give(*address, PAGE));
            }
        }
        Self {
            ranges,
            port: RingPort::new(RING),
            batch: vec![0; PAGE as usize / 4],
        }
    }
}

impl Submit for OnRing {
    fn submit(&mut self, n: u64) {
        let address = self.ranges.take(&A_PAGE).expect("there is room");
        for i in 0..RELOCATIONS {
            let at = relocation::place(64 * i, PAGE).expect("it lies inside");
            self.batch[at as usize / 4] = relocation::value(address, 16);
        }
        let key = Some(ContextKey(n % 2 + 1));
        assert!(self.port.needs_switch(key) && self.port.has_room(DWORDS));
        let placed = self.port.place(DWORDS, key).expect("there is room");
        self.port.completed(placed.slot.tail);
        assert!(self.ranges.give(address, PAGE));
    }
}

/// An engine that takes lists, and its scheduler. The engine does at once what it is told, and has done a
/// context's work when the next submission is there.
struct OnLists {
    scheduler: Scheduler<Items<Item>>,
    entities: Vec<Entity>,
    /// What was submitted to each.
    tails: Vec<u32>,
    /// Contexts that the engine has, by their ids.
    queue: VecDeque<u32>,
    now: u64,
    busy: bool,
}

impl OnLists {
    /// With so many clients and contexts of each; busy: all of them have work.
    fn new(clients: u32, contexts: u32, busy: bool) -> Self {
        let places = clients as usize * (1 + contexts as usize);
        let policy = Policy {
            slice: 1000,
            patience: 1 << 40,
            pause: 1000,
            credit: 1000,
        };
        let arena = Items(vec![Item::default(); places]);
        let mut scheduler = Scheduler::new(arena, 8, 12, policy);
        let mut all = Vec::new();
        for _ in 0..clients {
            let client = scheduler.add_client().expect("there is a place");
            for _ in 0..contexts {
                let what = What {
                    id: all.len() as u32,
                    descriptor: all.len() as u64,
                    priority: 0,
                    roams: false,
                };
                let entity = scheduler.add_entity(client, &what);
                all.push(entity.expect("there is a place"));
            }
        }
        let mut this = Self {
            scheduler,
            tails: vec![0; all.len()],
            entities: all,
            queue: VecDeque::with_capacity(16),
            now: 0,
            busy,
        };
        if busy {
            for n in 0..this.entities.len() {
                this.publish(n);
            }
        }
        this
    }

    fn publish(&mut self, n: usize) {
        self.now += 1;
        self.tails[n] += 64;
        let tail = RingOffset(self.tails[n]);
        self.scheduler.publish(self.entities[n], tail, self.now);
        self.schedule();
    }

    fn schedule(&mut self) {
        if let Some(load) = self.scheduler.schedule(self.now) {
            self.load(&load);
        }
    }

    fn load(&mut self, load: &Load) {
        let from = self.queue.front().copied();
        self.queue.clear();
        self.queue
            .extend(load.entries().iter().map(|e| e.descriptor as u32));
        let to = self.queue.front().copied();
        self.event(PortEvent {
            from: from.filter(|_| from != to),
            finished: false,
            to,
            new_list: true,
        });
    }

    /// What runs is done.
    fn finish(&mut self) -> Option<u32> {
        let from = self.queue.pop_front();
        self.now += 1;
        if let Some(n) = from {
            // Its number says how far it is; the event only that the engine has let go of it.
            let (entity, tail) = (self.entities[n as usize], self.tails[n as usize]);
            self.scheduler.completed(entity, RingOffset(tail), self.now);
        }
        self.event(PortEvent {
            from,
            finished: true,
            to: self.queue.front().copied(),
            new_list: false,
        });
        self.schedule();
        from
    }

    fn event(&mut self, event: PortEvent) {
        let told = self.scheduler.event(&event, self.now);
        told.expect("the engine does what it was told");
    }
}

impl Submit for OnLists {
    fn submit(&mut self, n: u64) {
        if self.busy {
            // As many wait as before.
            let done = self.finish().expect("it has work");
            self.publish(done as usize);
        } else {
            let n = n as usize % self.entities.len();
            self.publish(n);
            self.finish();
        }
    }
}

/// Commands of a 3D batch: a flush, registers of transform feedback, state, a draw. The state is of eight commands,
/// as long as these are on the average; formats of the public XML of this generation.
const DRAW: [&[u32]; 12] = [
    &[0x7a00_0003, 0x0010_1001, 0, 0, 0],
    &[0x1100_0003, 0x5280, 0, 0x5284, 0],
    &[0x7826_0000, 0x100],
    &[0x782a_0000, 0x200],
    &[0x7815_0005, 0, 0, 0x1000, 0, 0, 0],
    &[0x7817_0005, 0, 0, 0x2000, 0, 0, 0],
    &[0x7810_0004, 0x3000, 0, 0, 0, 0],
    &[0x7820_0006, 0x4000, 0, 0, 0, 0, 0, 0],
    &[0x7808_0003, 0, 0x5000, 0x6000, 0],
    &[0x7809_0003, 0, 0, 0, 0],
    &[0x7902_0000, 0],
    &[0x7b00_0005, 4, 3, 0, 1, 0, 0],
];

/// A batch of Gen7 that is copied and checked.
struct OnChecked {
    object: Vec<u32>,
    copy: Vec<u32>,
}

impl OnChecked {
    fn new(kib: u32) -> Self {
        let dwords = kib as usize * 256;
        let draw = DRAW.concat();
        let mut object: Vec<u32> = draw.iter().copied().cycle().take(dwords).collect();
        // What is left of the last draw is no whole one.
        let whole = (dwords - 1) / draw.len() * draw.len();
        object[whole..].fill(0);
        object[dwords - 1] = 0x0500_0000;
        Self {
            copy: vec![0; dwords],
            object,
        }
    }
}

impl Submit for OnChecked {
    fn submit(&mut self, _n: u64) {
        self.copy.copy_from_slice(black_box(&self.object));
        let copy = black_box(&self.copy);
        let verdict = RENDER.check(copy, &Placed { goes_on: false }, &mut []);
        assert_eq!(verdict, Verdict::unchanged(copy.len()));
    }
}
