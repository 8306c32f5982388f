// SPDX-License-Identifier: GPL-2.0
//! Tests of the scheduler with a simulated engine: some schedules by hand, and thousands at random.

mod balance;
mod inherit;
mod turns;

use super::*;
use inherit::Blocked;
use ouro_hw::engine::ListEntry;
use std::{collections::VecDeque, vec, vec::Vec};

impl Arena for Vec<Item> {
    fn items(&self) -> &[Item] {
        self
    }
    fn items_mut(&mut self) -> &mut [Item] {
        self
    }
}

const DEPTH: u8 = 8;
const EVENTS: usize = 12;
const POLICY: Policy = Policy {
    slice: 10,
    patience: 100,
    pause: 40,
    credit: 20,
};
/// Most ticks until a request can be preempted.
const GAP: u64 = 4;
/// Most ticks until events are read.
const DELAY: u64 = 3;
/// Most ticks until an urgent context has the engine: the pending load is taken and its event read,
/// then the same for the next load; and one tick each until the next call.
const URGENT: u64 = 2 * (GAP + DELAY + 2);
/// Most ticks until the running context answers a preemption probe, for a load-balanced context.
const ANSWER: u64 = GAP + DELAY + 2;

/// A request: its tail, its length in ticks, and the ticks in which it cannot be preempted.
#[derive(Clone, Copy, Debug)]
struct Work {
    tail: u32,
    left: u64,
    gap: u64,
}

/// Contexts by their id less one: the requests in their rings, and the tails in their images. The
/// engine reads a tail with the image, or when the running context is first in the list that it
/// takes, and saves the tail with the image.
#[derive(Default)]
struct Device {
    rings: Vec<VecDeque<Work>>,
    tails: Vec<u32>,
    tail: u32,
    queue: VecDeque<u32>,
    pending: Option<VecDeque<u32>>,
    running: Option<u32>,
    /// Since when.
    since: u64,
    /// Ticks until the running context can be preempted.
    stuck: u64,
    events: VecDeque<PortEvent>,
    /// Ticks for which each context ran.
    ran: Vec<u64>,
}

impl Device {
    fn load(&mut self, entries: &[ListEntry]) {
        assert!(self.pending.is_none(), "one load at a time");
        let id = |e: &ListEntry| e.descriptor as u32;
        for e in entries {
            self.tails[id(e) as usize - 1] = e.tail.0;
        }
        self.pending = Some(entries.iter().map(id).collect());
        let work = self.running.and_then(|n| self.work(n));
        self.stuck = work.map_or(0, |w| w.gap);
    }

    /// Returns the next request of a context, up to the tail that was loaded.
    fn work(&mut self, id: u32) -> Option<&mut Work> {
        let tail = self.tail;
        self.rings[id as usize - 1]
            .front_mut()
            .filter(|w| w.tail <= tail)
    }

    /// Switches to the next context of the list.
    fn switch(&mut self) {
        let from = self.running;
        self.running = self.queue.pop_front();
        if let Some(id) = from.filter(|_| from != self.running) {
            self.tails[id as usize - 1] = self.tail;
        }
        if let Some(id) = self.running {
            self.tail = self.tails[id as usize - 1];
        }
    }

    fn report(&mut self, from: Option<u32>, finished: bool, new_list: bool) {
        let to = self.running;
        self.events.push_back(PortEvent {
            from: from.filter(|_| from != to),
            finished: finished && from.is_some(),
            to,
            new_list,
        });
        // An event ring that is written all around looks empty.
        assert!(self.events.len() < EVENTS, "events are lost");
    }

    /// One tick.
    fn tick(&mut self, now: u64) {
        let before = self.running;
        self.step();
        if self.running != before {
            self.since = now;
        }
    }

    fn step(&mut self) {
        loop {
            let idle = self.running.is_none_or(|n| self.work(n).is_none());
            if (idle || self.stuck == 0) && self.pending.is_some() {
                let from = self.running;
                self.queue = self.pending.take().unwrap_or_default();
                self.switch();
                self.report(from, idle, true);
                continue;
            }
            let Some(id) = self.running else { return };
            if !idle {
                break self.run(id);
            }
            self.switch();
            self.report(Some(id), true, false);
        }
    }

    fn run(&mut self, id: u32) {
        self.stuck = self.stuck.saturating_sub(1);
        self.ran[id as usize - 1] += 1;
        let Some(work) = self.work(id) else { return };
        work.left = work.left.saturating_sub(1);
        if work.left == 0 {
            self.rings[id as usize - 1].pop_front();
        }
    }
}

/// Returns a pseudo-random number.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % end
    }
}

struct One {
    entity: Entity,
    client: usize,
    /// Its own priority, and the inherited one that the scheduler was told.
    priority: i32,
    lifted: Option<i32>,
    roams: bool,
    tail: u32,
    /// The tail of the last request seen to be complete.
    seen: u32,
    /// Since when it has had work and its priority.
    since: u64,
    cancelled: bool,
}

struct Core {
    blocked: Vec<Blocked>,
    sched: Scheduler<Vec<Item>>,
    device: Device,
    clients: Vec<Client>,
    all: Vec<One>,
    now: u64,
    /// Whether events interrupt, and whether they always do.
    armed: bool,
    always_armed: bool,
    /// Whether seqnos are also read between events, as for waiters of completions.
    polls: bool,
    /// When the interrupt comes that an event raised.
    interrupt: Option<u64>,
    /// Number of interrupts.
    interrupts: u64,
    loads: u64,
    acknowledged: u64,
    /// When each client last ran, or began to wait.
    served: Vec<u64>,
    relieved: u64,
}

impl Core {
    fn new() -> Self {
        Self {
            blocked: Vec::new(),
            sched: Scheduler::new(vec![Item::default(); 64], DEPTH, EVENTS as u8, POLICY),
            device: Device::default(),
            clients: Vec::new(),
            all: Vec::new(),
            now: 0,
            armed: false,
            always_armed: false,
            polls: true,
            interrupt: None,
            interrupts: 0,
            loads: 0,
            acknowledged: 0,
            served: Vec::new(),
            relieved: 0,
        }
    }

    fn client(&mut self) -> usize {
        self.clients.push(self.sched.add_client().unwrap());
        self.served.push(0);
        self.clients.len() - 1
    }

    fn entity(&mut self, client: usize, priority: i32) -> usize {
        self.add(client, priority, false)
    }

    fn add(&mut self, client: usize, priority: i32, roams: bool) -> usize {
        let id = self.all.len() as u32 + 1;
        let what = What {
            id,
            descriptor: id.into(),
            priority,
            roams,
        };
        let entity = self.sched.add_entity(self.clients[client], &what).unwrap();
        self.all.push(One {
            entity,
            client,
            priority,
            lifted: None,
            roams,
            tail: 0,
            seen: 0,
            since: 0,
            cancelled: false,
        });
        self.device.rings.push(VecDeque::new());
        self.device.tails.push(0);
        self.device.ran.push(0);
        self.all.len() - 1
    }

    fn has_work(&self, n: usize) -> bool {
        !self.device.rings[n].is_empty() && !self.all[n].cancelled
    }

    fn client_has_work(&self, client: usize) -> bool {
        (0..self.all.len()).any(|n| self.all[n].client == client && self.has_work(n))
    }

    fn publish(&mut self, n: usize, left: u64, gap: u64) {
        self.push(n, left, gap);
        self.schedule();
    }

    fn push(&mut self, n: usize, left: u64, gap: u64) {
        let (now, client) = (self.now, self.all[n].client);
        if !self.client_has_work(client) {
            self.served[client] = now;
        }
        if !self.has_work(n) {
            self.all[n].since = now;
        }
        let one = &mut self.all[n];
        one.tail += 8;
        let tail = one.tail;
        let work = Work { tail, left, gap };
        self.device.rings[n].push_back(work);
        self.sched.publish(one.entity, RingOffset(tail), now);
    }

    fn cancel(&mut self, n: usize) {
        self.all[n].cancelled = true;
        self.sched.cancel(self.all[n].entity, self.now);
        self.schedule();
    }

    fn set_priority(&mut self, n: usize, priority: i32) {
        self.all[n].priority = priority;
        self.all[n].since = self.now;
        self.sched
            .set_priority(self.all[n].entity, priority, self.now);
        self.inherit();
        self.schedule();
    }

    /// Schedules, as the driver does after each change. If events are needed and do not interrupt
    /// yet, they do from now on, and those before are read at once.
    fn schedule(&mut self) {
        self.load();
        while !self.armed && (self.always_armed || self.sched.needs_event()) {
            self.armed = true;
            self.listen();
            self.load();
        }
    }

    /// Reads all events, and then seqnos.
    fn listen(&mut self) {
        while let Some(event) = self.device.events.pop_front() {
            self.event(&event);
        }
        self.numbers();
    }

    fn event(&mut self, event: &PortEvent) {
        self.acknowledged += u64::from(event.new_list);
        self.sched
            .event(event, self.now)
            .expect("the device is good");
    }

    fn load(&mut self) {
        if !self.blocked.is_empty() {
            self.unblock();
        }
        let before = self.sched.relieved;
        if let Some(load) = self.sched.schedule(self.now) {
            self.loads += 1;
            assert!(self.loads <= self.acknowledged + 1, "one load at a time");
            self.device.load(load.entries());
        }
        self.relieved += u64::from(before != self.sched.relieved);
        // The scheduler must not ask to be called now if nothing can be done now.
        assert!(self.sched.next(self.now).is_none_or(|t| t > self.now));
    }

    /// Reports the progress of a context, if there is some.
    fn number(&mut self, n: usize) {
        let one = &mut self.all[n];
        let next = self.device.rings[n].front();
        let first = next.map_or(one.tail, |w| w.tail - 8);
        if first != one.seen {
            one.seen = first;
            self.sched
                .completed(one.entity, RingOffset(first), self.now);
        }
    }

    fn numbers(&mut self) {
        for n in 0..self.all.len() {
            self.number(n);
        }
    }

    /// Advances all by a tick: device, interrupt, timer.
    fn tick(&mut self, random: &mut Random) {
        self.now += 1;
        let before = self.device.events.len();
        self.device.tick(self.now);
        if self.armed && self.device.events.len() != before && self.interrupt.is_none() {
            self.interrupt = Some(self.now + random.below(DELAY + 1));
        }
        if self.interrupt.is_some_and(|t| t <= self.now) {
            self.interrupt = None;
            self.interrupts += 1;
            while let Some(event) = self.device.events.pop_front() {
                self.event(&event);
                if random.below(2) == 0 {
                    self.numbers();
                    self.schedule();
                }
            }
            self.numbers();
            self.schedule();
            self.armed = self.always_armed || self.sched.needs_event();
        } else if (self.polls || !self.blocked.is_empty()) && random.below(4) == 0 {
            // A seqno is visible before the event.
            let n = random.below(self.all.len() as u64) as usize;
            self.number(n);
            self.schedule();
        }
        if self.sched.next(self.now).is_some_and(|t| t <= self.now) {
            self.schedule();
        }
        if let Some(id) = self.device.running {
            self.served[self.all[id as usize - 1].client] = self.now;
        }
    }

    /// Checks that less urgent work runs only for a client that waited long, or for as long as it
    /// takes the driver to see it on the engine and to preempt it.
    fn check_urgency(&self) {
        let Some(id) = self.device.running else {
            return;
        };
        let runs = &self.all[id as usize - 1];
        let rank = self.rank(id as usize - 1);
        let patient = self.sched.turn.is_some_and(|t| t.patient);
        for (n, one) in self.all.iter().enumerate() {
            // Since it became runnable, or a client was relieved last.
            let recent = self.sched.relieved.map_or(0, |t| t + POLICY.slice);
            let since = one.since.max(runs.since).max(recent);
            let since = since.max(self.device.since);
            let bound = URGENT + if one.roams { ANSWER } else { 0 };
            if self.rank(n) > rank && self.has_work(n) && self.now > since + bound {
                assert!(patient, "{n} at {} waits for {id}", self.now);
            }
        }
    }

    /// Checks that no client waits forever. At most n clients are in the queue. The first is
    /// relieved when its patience is over, each one behind it a pause later, or when the slice
    /// before it is over; each of these takes as long as an urgent context may have to wait, and
    /// that may be a load-balanced one.
    fn check_patience(&self) {
        let n = self.clients.len() as u64;
        let each = POLICY.pause.max(POLICY.slice) + POLICY.slice + URGENT + ANSWER;
        let bound = POLICY.patience + n * each;
        for client in 0..self.clients.len() {
            if self.client_has_work(client) {
                let waited = self.now - self.served[client];
                assert!(waited <= bound, "client {client} has waited for {waited}");
            }
        }
    }

    /// Runs until all finite requests have completed.
    fn drain(&mut self, random: &mut Random) {
        let left: u64 = self.device.rings.iter().flatten().map(|w| w.left).sum();
        let later: u64 = self.blocked.iter().map(|b| b.left + 50).sum();
        let end = self.now + 4 * (left + later) + 200;
        while (0..self.all.len()).any(|n| self.has_work(n)) || !self.blocked.is_empty() {
            assert!(self.now < end, "it does not end");
            self.tick(random);
        }
        // Nothing waits for the last events any more.
        while !self.sched.port().is_idle() {
            assert!(self.now < end, "it does not end");
            self.tick(random);
            self.listen();
            self.schedule();
        }
        for one in &self.all {
            assert!(!self.sched.is_held(one.entity));
        }
    }
}

const ENDLESS: u64 = 1 << 40;

fn schedules(seeds: core::ops::Range<u64>, ticks: u64) {
    for seed in seeds {
        let random = &mut Random(seed);
        let mut core = Core::new();
        core.polls = random.below(2) == 0;
        for _ in 0..1 + random.below(4) {
            let client = core.client();
            for _ in 0..1 + random.below(3) {
                let priority = random.below(3) as i32 - 1;
                core.add(client, priority, random.below(4) == 0);
            }
        }
        let entities = core.all.len() as u64;
        let busy = 2 + random.below(20);
        for _ in 0..ticks {
            if random.below(busy) == 0 {
                let n = random.below(entities) as usize;
                match random.below(12) {
                    0 => core.set_priority(n, random.below(3) as i32 - 1),
                    1 if random.below(4) == 0 => core.cancel(n),
                    2 => core.publish(n, ENDLESS, random.below(GAP + 1)),
                    3 | 4 => {
                        let on = random.below(entities) as usize;
                        core.publish_behind(n, on, 1 + random.below(30), random.below(GAP + 1));
                    }
                    _ => {
                        let left = 1 + random.below(30);
                        let gap = random.below(GAP + 1);
                        core.publish(n, left, gap);
                    }
                }
            }
            core.tick(random);
            core.check_urgency();
            core.check_patience();
        }
        assert!(core.relieved <= core.now / POLICY.pause + 1);
        for n in 0..core.all.len() {
            if core.device.rings[n].iter().any(|w| w.left > 1_000) {
                core.cancel(n);
            }
        }
        core.drain(random);
    }
}

#[test]
fn ten_thousand_random_schedules() {
    schedules(0..10_000, 60);
}

#[test]
fn some_long_random_schedules() {
    schedules(10_000..10_200, 1_500);
}
