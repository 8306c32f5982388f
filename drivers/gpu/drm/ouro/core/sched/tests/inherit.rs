// SPDX-License-Identifier: GPL-2.0
//! Tests of priority inheritance.

use super::*;

/// The dependency of a request that is not published yet.
#[derive(Clone, Copy, PartialEq, Debug)]
enum On {
    /// That a context has run up to a tail.
    Tail(usize, u32),
    /// That another waiting request, by its number, has completed.
    Blocked(u64),
}

/// A request that waits for another one.
pub(super) struct Blocked {
    number: u64,
    entity: usize,
    pub(super) left: u64,
    gap: u64,
    on: On,
}

impl Core {
    /// Adds a request that waits for one of context `on`: for the last of its waiting requests, or
    /// else for the last one in its ring.
    pub(super) fn publish_behind(&mut self, n: usize, on: usize, left: u64, gap: u64) {
        let last = |this: &Self, n: usize| {
            let waits = this.blocked.iter().rev().find(|b| b.entity == n);
            waits.map_or(On::Tail(n, this.all[n].tail), |b| On::Blocked(b.number))
        };
        // Requests of one context are in order.
        let on = match last(self, n) {
            On::Tail(..) => last(self, on),
            own => own,
        };
        let number = self.blocked.last().map_or(0, |b| b.number + 1);
        self.blocked.push(Blocked {
            number,
            entity: n,
            left,
            gap,
            on,
        });
        self.schedule();
    }

    /// Publishes the requests whose dependencies are met, before the engine is given anything else.
    pub(super) fn unblock(&mut self) {
        let is_done = |all: &[One], on: On| match on {
            On::Tail(n, tail) => all[n].seen >= tail || all[n].cancelled,
            On::Blocked(_) => false,
        };
        while let Some(at) =
            (0..self.blocked.len()).find(|at| is_done(&self.all, self.blocked[*at].on))
        {
            let ready = self.blocked.remove(at);
            self.push(ready.entity, ready.left, ready.gap);
            let on = On::Tail(ready.entity, self.all[ready.entity].tail);
            for b in &mut self.blocked {
                if b.on == On::Blocked(ready.number) {
                    b.on = on;
                }
            }
        }
        self.inherit();
    }

    /// Returns the priority of a waiting request: its context's, or that of its waiters.
    fn urgency(&self, blocked: &Blocked) -> i32 {
        let on = On::Blocked(blocked.number);
        let others = self.blocked.iter().filter(|b| b.on == on);
        let others = others.map(|b| self.urgency(b)).max();
        others
            .map_or(i32::MIN, |u| u)
            .max(self.all[blocked.entity].priority)
    }

    /// Reports the priority of each context's waiters to the scheduler.
    pub(super) fn inherit(&mut self) {
        for n in 0..self.all.len() {
            let waits =
                |b: &&Blocked| matches!(b.on, On::Tail(m, t) if m == n && t > self.all[n].seen);
            let lifted = self.blocked.iter().filter(waits);
            let lifted = lifted.map(|b| self.urgency(b)).max();
            let one = &mut self.all[n];
            if one.lifted != lifted {
                one.lifted = lifted;
                one.since = self.now;
                self.sched.inherit(one.entity, lifted, self.now);
            }
        }
    }

    /// Returns the priority of a context, including its waiters.
    pub(super) fn rank(&self, n: usize) -> i32 {
        let one = &self.all[n];
        one.priority.max(one.lifted.unwrap_or(i32::MIN))
    }
}

/// Creates clients with a context each, of these priorities, of whom none is ever relieved.
fn entities<const N: usize>(core: &mut Core, priorities: [i32; N]) -> [usize; N] {
    core.sched.policy.patience = 1 << 40;
    priorities.map(|priority| {
        let client = core.client();
        core.entity(client, priority)
    })
}

fn ticks(core: &mut Core, n: u64) {
    let random = &mut Random(n);
    for _ in 0..n {
        core.tick(random);
    }
}

#[test]
fn what_is_waited_for_is_as_urgent_until_it_is_done() {
    let mut core = Core::new();
    let [low, middle, high] = entities(&mut core, [-5, 0, 5]);
    core.publish(low, 20, GAP);
    core.publish(middle, ENDLESS, GAP);
    ticks(&mut core, URGENT);
    assert_eq!(core.device.running, Some(middle as u32 + 1));
    core.publish_behind(high, low, 10, GAP);
    ticks(&mut core, URGENT + 20 + DELAY);
    assert_eq!(
        core.device.ran[low], 20,
        "it has the engine until it is done"
    );
    // More work of it, for which there is no waiter.
    core.publish(low, 20, GAP);
    ticks(&mut core, URGENT + 10 + DELAY);
    assert_eq!(core.device.ran[high], 10, "who waited is next");
    ticks(&mut core, 200);
    assert_eq!(core.device.ran[low], 20, "it is as urgent as before again");
    assert_eq!(core.device.running, Some(middle as u32 + 1));
}

#[test]
fn what_waits_itself_hands_it_on() {
    let mut core = Core::new();
    let [between, low, first, second, high] = entities(&mut core, [0, -5, -4, -3, 5]);
    core.publish(between, ENDLESS, GAP);
    core.publish(low, 10, GAP);
    core.publish_behind(first, low, 10, GAP);
    core.publish_behind(second, first, 10, GAP);
    ticks(&mut core, URGENT);
    assert_eq!(core.device.ran[low], 0);
    core.publish_behind(high, second, 10, GAP);
    ticks(&mut core, 4 * (URGENT + 10 + DELAY));
    for n in [low, first, second, high] {
        assert_eq!(core.device.ran[n], 10, "entity {n}");
    }
}

#[test]
fn less_than_its_own_priority_lifts_nothing() {
    let mut core = Core::new();
    let [one, other] = entities(&mut core, [5, 0]);
    let entity = core.all[one].entity;
    core.publish(one, ENDLESS, GAP);
    core.sched.inherit(entity, Some(-5), core.now);
    core.publish(other, ENDLESS, GAP);
    ticks(&mut core, URGENT);
    assert_eq!(core.device.ran[other], 0);
    // Its own priority may change meanwhile, and counts again after it.
    core.sched.inherit(entity, Some(3), core.now);
    core.sched.set_priority(entity, -1, core.now);
    ticks(&mut core, URGENT);
    assert_eq!(core.device.ran[other], 0);
    core.sched.inherit(entity, None, core.now);
    core.schedule();
    ticks(&mut core, URGENT);
    assert_eq!(core.device.running, Some(other as u32 + 1));
}

#[test]
fn nobody_comes_between_it_and_who_waited() {
    let mut core = Core::new();
    let [low, middle, high] = entities(&mut core, [-5, 0, 5]);
    // It is ready before the others: it is listed behind them.
    core.publish(low, 20, GAP);
    core.publish_behind(high, low, 10, GAP);
    core.publish(middle, ENDLESS, GAP);
    let random = &mut Random(1);
    for _ in 0..2 * URGENT + 30 {
        core.tick(random);
        let ran = &core.device.ran;
        assert!(ran[high] == 10 || ran[middle] == 0, "at {}", core.now);
    }
    assert_eq!(core.device.running, Some(middle as u32 + 1));
}

#[test]
fn who_was_listed_behind_it_before_is_taken_back() {
    let mut core = Core::new();
    let [low, other, high] = entities(&mut core, [0, 0, 5]);
    core.publish(low, 60, GAP);
    core.publish(other, ENDLESS, GAP);
    ticks(&mut core, 3);
    assert!(core.sched.is_held(core.all[other].entity));
    let ran = core.device.ran[other];
    core.publish_behind(high, low, 10, GAP);
    ticks(&mut core, 2 * URGENT + 70);
    assert_eq!(core.device.ran[low], 60);
    assert_eq!(core.device.ran[high], 10);
    let held_up = core.device.ran[other] - ran;
    assert!(held_up <= 2 * URGENT, "{held_up}");
}

#[test]
fn nobody_comes_behind_a_tail_that_may_be_lost() {
    let items = vec![Item::default(); 8];
    let mut sched = Scheduler::new(items, DEPTH, EVENTS as u8, POLICY);
    let client = sched.add_client().unwrap();
    let [high, low, other] = [(1, 5), (2, 0), (3, 5)].map(|(id, priority)| {
        let what = What {
            id,
            descriptor: 0,
            priority,
            roams: false,
        };
        sched.add_entity(client, &what).unwrap()
    });
    let event = |from, finished, to, new_list| PortEvent {
        from,
        finished,
        to,
        new_list,
    };
    let list = |load: Option<Load>| {
        let load = load.expect("a load");
        let ids = load.ids().iter().copied();
        let tails = load.entries().iter().map(|e| e.tail.0);
        Iterator::zip(ids, tails).collect::<Vec<_>>()
    };
    sched.set_full(high, true);
    sched.publish(high, RingOffset(80), 0);
    sched.publish(low, RingOffset(8), 0);
    assert_eq!(list(sched.schedule(0)), [(1, 80)]);
    sched.event(&event(None, false, Some(1), true), 1).unwrap();
    // There is room for the rest of it.
    sched.set_full(high, false);
    sched.publish(high, RingOffset(160), 2);
    sched.publish(other, RingOffset(8), 2);
    assert_eq!(list(sched.schedule(2)), [(1, 160), (3, 8)]);
    // The image was saved with the old tail before the engine took the new list.
    sched
        .event(&event(Some(1), true, Some(1), true), 3)
        .unwrap();
    sched
        .event(&event(Some(1), true, Some(3), false), 3)
        .unwrap();
    sched.completed(high, RingOffset(80), 3);
    sched.completed(other, RingOffset(8), 3);
    assert_eq!(list(sched.schedule(3)), [(1, 160), (2, 8)]);
}

#[test]
fn nobody_comes_before_what_there_was_no_room_for() {
    let mut core = Core::new();
    let [low, high] = entities(&mut core, [0, 5]);
    core.publish(high, 10, GAP);
    for _ in 0..3 {
        core.publish_behind(high, high, 10, GAP);
    }
    core.sched.set_full(core.all[high].entity, true);
    core.publish(low, ENDLESS, GAP);
    let random = &mut Random(1);
    for _ in 0..4 * (10 + URGENT) {
        core.tick(random);
        let ran = &core.device.ran;
        assert!(ran[high] == 40 || ran[low] == 0, "at {}", core.now);
        // There is room for the last of it.
        if core.blocked.is_empty() {
            core.sched.set_full(core.all[high].entity, false);
        }
    }
    assert_eq!(core.device.running, Some(low as u32 + 1));
}
