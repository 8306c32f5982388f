// SPDX-License-Identifier: GPL-2.0
//! Tests of contexts that two engines can run.

use super::*;
use crate::balance::{self, Level};
use core::array;

/// Most ticks for which an engine may be idle before it takes work that waits elsewhere: its last
/// events are read.
const SEEN: u64 = DELAY + 2;

/// Two engines that have the same contexts.
struct Pair {
    cores: [Core; 2],
    /// The engine that has the work of each context; `None` for contexts that are not balanced.
    at: Vec<Option<usize>>,
    /// For how long each engine has been idle.
    idle: [u64; 2],
    moved: u64,
}

impl Pair {
    fn new() -> Self {
        Self {
            cores: array::from_fn(|_| Core {
                // An engine that becomes free may take work from the other one.
                always_armed: true,
                ..Core::new()
            }),
            at: Vec::new(),
            idle: [0; 2],
            moved: 0,
        }
    }

    /// Creates a client with a context on each engine, and one on either.
    fn client(&mut self, priority: i32) -> [usize; 2] {
        let mut added = [0; 2];
        for core in &mut self.cores {
            let client = core.client();
            added = [false, true].map(|roams| core.add(client, priority, roams));
        }
        self.at.extend([None, Some(0)]);
        added
    }

    fn level(&self, core: usize) -> Level {
        let all = &self.cores[core];
        let most = (0..all.all.len()).filter(|n| all.has_work(*n));
        let most = most.map(|n| all.all[n].priority).max();
        most.map_or(Level::Free, Level::Busy)
    }

    fn waits(&mut self, n: usize) -> bool {
        let core = &mut self.cores[self.at[n].unwrap()];
        let others = (0..core.all.len()).any(|o| o != n && core.has_work(o));
        others && core.has_work(n) && core.sched.waits(core.all[n].entity)
    }

    /// Moves waiting work to the engine that would run it.
    fn settle(&mut self) {
        for n in 0..self.at.len() {
            let Some(from) = self.at[n] else { continue };
            if !self.waits(n) {
                continue;
            }
            let (to, priority) = (1 - from, self.cores[from].all[n].priority);
            if balance::taker([((), self.level(to))].into_iter(), priority).is_none() {
                continue;
            }
            self.transfer(n, to);
        }
    }

    fn transfer(&mut self, n: usize, to: usize) {
        let [a, b] = &mut self.cores;
        let (from, to_core) = if to == 1 { (a, b) } else { (b, a) };
        let now = from.now;
        assert!(!from.sched.is_held(from.all[n].entity));
        assert!(!to_core.sched.is_held(to_core.all[n].entity));
        from.number(n);
        let work = from.sched.take_work(from.all[n].entity, now);
        assert_eq!(
            work,
            (RingOffset(from.all[n].tail), RingOffset(from.all[n].seen))
        );
        let client = to_core.all[n].client;
        if !to_core.client_has_work(client) {
            to_core.served[client] = now;
        }
        to_core.device.rings[n] = core::mem::take(&mut from.device.rings[n]);
        (to_core.all[n].tail, to_core.all[n].seen) = (from.all[n].tail, from.all[n].seen);
        to_core.all[n].since = now;
        to_core.sched.give_work(to_core.all[n].entity, work, now);
        to_core.schedule();
        from.schedule();
        self.at[n] = Some(to);
        self.moved += 1;
    }

    fn publish(&mut self, n: usize, core: usize, left: u64, gap: u64) {
        let core = self.at[n].unwrap_or(core);
        self.cores[core].publish(n, left, gap);
        self.settle();
    }

    fn tick(&mut self, random: &mut Random) {
        for core in &mut self.cores {
            core.tick(random);
            core.check_urgency();
            core.check_patience();
        }
        self.settle();
        for (core, idle) in self.cores.iter().zip(&mut self.idle) {
            *idle = match core.device.running {
                Some(_) => 0,
                None => *idle + 1,
            };
        }
        for n in 0..self.at.len() {
            if self.at[n].is_some() && self.waits(n) {
                assert!(self.idle.iter().all(|i| *i <= SEEN), "one is idle");
            }
        }
    }

    fn is_done(&self) -> bool {
        let idle = |core: &Core| {
            (0..core.all.len()).all(|n| !core.has_work(n)) && core.sched.port().is_idle()
        };
        self.cores.iter().all(idle)
    }
}

#[test]
fn it_is_listed_alone_or_first() {
    let mut core = Core::new();
    let client = core.client();
    let here = core.entity(client, 0);
    let roams = core.add(client, 0, true);
    let other = core.entity(client, 0);
    let list = |core: &mut Core| {
        let load = core.sched.schedule(core.now).expect("there is work");
        load.ids().to_vec()
    };
    core.push(here, 5, 0);
    core.push(roams, 5, 0);
    core.push(other, 5, 0);
    // The entity behind it waits as well: it does not overtake.
    assert_eq!(list(&mut core), [here as u32 + 1]);
    let entity = core.all[roams].entity;
    assert!(core.sched.waits(entity));
    let taken = PortEvent {
        from: None,
        finished: false,
        to: Some(here as u32 + 1),
        new_list: true,
    };
    core.sched.event(&taken, 1).unwrap();
    let done = PortEvent {
        from: Some(here as u32 + 1),
        finished: true,
        to: None,
        new_list: false,
    };
    core.sched.event(&done, 2).unwrap();
    core.sched
        .completed(core.all[here].entity, RingOffset(8), 2);
    assert_eq!(list(&mut core), [roams as u32 + 1, other as u32 + 1]);
    assert!(!core.sched.waits(entity), "the engine has it");
}

#[test]
fn work_that_is_taken_away_is_not_listed() {
    let mut core = Core::new();
    let client = core.client();
    let n = core.add(client, 0, true);
    let entity = core.all[n].entity;
    core.push(n, 5, 0);
    core.push(n, 5, 0);
    core.sched.completed(entity, RingOffset(8), 0);
    let work = core.sched.take_work(entity, 0);
    assert_eq!(work, (RingOffset(16), RingOffset(8)));
    assert!(!core.sched.waits(entity));
    assert_eq!(core.sched.schedule(0), None);
    core.sched.give_work(entity, work, 0);
    let load = core.sched.schedule(0).expect("it is back");
    let entry = load.entries()[0];
    // Another engine has written the image meanwhile.
    assert!(entry.restore && entry.tail == RingOffset(16));
}

#[test]
fn an_engine_that_becomes_free_has_what_waits() {
    for free in [0, 1] {
        let random = &mut Random(3);
        let mut pair = Pair::new();
        let [first, _] = pair.client(0);
        let [_, roams] = pair.client(0);
        let busy = [
            if free == 0 { 20 } else { ENDLESS },
            if free == 1 { 20 } else { ENDLESS },
        ];
        for (core, left) in busy.into_iter().enumerate() {
            // No other engine takes the work.
            pair.publish(first, core, left, ENDLESS);
        }
        pair.publish(roams, 0, 10, 0);
        for _ in 0..100 {
            pair.cores.iter_mut().for_each(|c| c.tick(random));
            pair.settle();
        }
        assert!(!pair.cores[free].has_work(roams) && !pair.cores[1 - free].has_work(roams));
        assert_eq!(pair.at[roams], Some(free));
    }
}

#[test]
fn no_engine_is_idle_while_something_waits() {
    let mut moved = 0;
    for seed in 0..2_000 {
        let random = &mut Random(seed);
        let mut pair = Pair::new();
        for _ in 0..1 + random.below(4) {
            pair.client(random.below(3) as i32 - 1);
        }
        let entities = pair.at.len() as u64;
        let busy = 3 + random.below(20);
        for _ in 0..200 {
            if random.below(busy) == 0 {
                let n = random.below(entities) as usize;
                let core = random.below(2) as usize;
                pair.publish(n, core, 1 + random.below(30), random.below(GAP + 1));
            }
            pair.tick(random);
        }
        let mut ticks = 0;
        while !pair.is_done() {
            pair.tick(random);
            ticks += 1;
            assert!(ticks < 5_000, "it does not end");
        }
        moved += pair.moved;
    }
    assert!(moved > 1_000, "{moved} of 2,000");
}
