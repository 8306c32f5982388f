// SPDX-License-Identifier: GPL-2.0
//! Tests of timeslices, priorities, preemption probes and cancellation.

use super::*;

#[test]
fn endless_contexts_share_the_engine() {
    let random = &mut Random(1);
    let mut core = Core::new();
    let (a, b) = (core.client(), core.client());
    let (a, b) = (core.entity(a, 0), core.entity(b, 0));
    core.publish(a, ENDLESS, 1);
    core.publish(b, ENDLESS, 1);
    for _ in 0..2_000 {
        core.tick(random);
    }
    let (a, b) = (core.device.ran[a], core.device.ran[b]);
    // They are less apart than two slices and the time to preempt; and the engine was never idle.
    assert!(a.abs_diff(b) <= 2 * POLICY.slice + URGENT, "{a} and {b}");
    assert!(a + b >= 1_990, "{a} and {b}");
    // A slice is a turn: that many loads and no more.
    assert!((100..=200).contains(&core.loads), "{} loads", core.loads);
}

#[test]
fn without_slices_who_is_first_goes_on_to_its_end() {
    let random = &mut Random(6);
    let mut core = Core::new();
    let (a, b, c) = (core.client(), core.client(), core.client());
    let (a, b, c) = (core.entity(a, 0), core.entity(b, 0), core.entity(c, 1));
    core.sched.set_slice(0);
    core.publish(a, ENDLESS, 1);
    core.publish(b, ENDLESS, 1);
    for _ in 0..5 * POLICY.patience {
        core.tick(random);
    }
    assert_eq!(core.device.ran[b], 0);
    // More urgent work does not wait for the end of a slice.
    core.publish(c, 1, 0);
    for _ in 0..URGENT {
        core.tick(random);
    }
    assert_eq!(core.device.ran[c], 1);
    assert_eq!(core.sched.next(core.now), None);
    // With slices again, they share the engine.
    core.sched.set_slice(POLICY.slice);
    core.schedule();
    let before = [core.device.ran[a], core.device.ran[b]];
    for _ in 0..10 * (POLICY.slice + URGENT) {
        core.tick(random);
    }
    assert!(core.device.ran[a] > before[0] && core.device.ran[b] > before[1]);
}

#[test]
fn a_slice_that_is_too_long_is_no_turn() {
    let mut core = Core::new();
    for (slice, limit, turns) in [
        (0, 3000, false),
        (1, 3000, true),
        (3000, 3000, true),
        (3001, 3000, false),
    ] {
        core.sched.set_slice(slice);
        assert_eq!(core.sched.takes_turns(limit), turns, "{slice}");
    }
}

#[test]
fn a_probed_context_goes_on_when_the_engine_has_answered() {
    let random = &mut Random(3);
    let mut core = Core::new();
    let client = core.client();
    let n = core.entity(client, 0);
    core.publish(n, ENDLESS, 1);
    for k in 0..10 {
        for _ in 0..100 {
            core.tick(random);
        }
        core.listen();
        assert_eq!(core.sched.owed(), None);
        let loads = core.loads;
        core.sched.request_probe();
        core.schedule();
        assert_eq!(core.sched.owed(), Some(core.now));
        for _ in 0..URGENT {
            core.tick(random);
        }
        core.listen();
        assert_eq!((core.loads - loads, core.sched.owed()), (1, None), "{k}");
        assert_eq!(core.device.running, Some(1));
    }
    assert!(core.device.ran[n] >= 1000 - 10 * URGENT);
}

#[test]
fn who_is_cancelled_leaves_and_may_come_back() {
    let random = &mut Random(5);
    let mut core = Core::new();
    let client = core.client();
    let (n, other) = (core.entity(client, 0), core.entity(client, 0));
    core.publish(n, ENDLESS, 1);
    core.publish(other, ENDLESS, 1);
    for k in 0..10 {
        for _ in 0..50 {
            core.tick(random);
        }
        core.cancel(n);
        for _ in 0..URGENT {
            core.tick(random);
        }
        let entity = core.all[n].entity;
        assert!(!core.sched.is_held(entity), "{k}");
        let ran = core.device.ran[n];
        for _ in 0..100 {
            core.tick(random);
        }
        assert_eq!((core.device.running, core.device.ran[n]), (Some(2), ran));
        core.all[n].cancelled = false;
        core.sched.resume(entity, core.now);
        core.schedule();
        for _ in 0..100 {
            core.tick(random);
        }
        assert!(core.device.ran[n] > ran, "{k}");
    }
}

#[test]
fn a_context_that_is_not_preempted_owes_an_answer() {
    let random = &mut Random(4);
    let mut core = Core::new();
    let client = core.client();
    let (n, urgent) = (core.entity(client, 0), core.entity(client, 1));
    core.publish(n, ENDLESS, ENDLESS);
    for _ in 0..10 {
        core.tick(random);
    }
    core.listen();
    assert_eq!(core.sched.owed(), None);
    let since = core.now;
    core.publish(urgent, 1, 0);
    for _ in 0..100 {
        core.tick(random);
        assert_eq!(core.sched.owed(), Some(since));
    }
    core.sched.reset(core.now);
    assert_eq!(core.sched.owed(), None);
}

#[test]
fn clients_share_and_not_contexts() {
    let random = &mut Random(2);
    let mut core = Core::new();
    let (few, many) = (core.client(), core.client());
    let one = core.entity(few, 0);
    core.publish(one, ENDLESS, 1);
    for _ in 0..7 {
        let n = core.entity(many, 0);
        core.publish(n, ENDLESS, 1);
    }
    for _ in 0..4_000 {
        core.tick(random);
    }
    let few = core.device.ran[0];
    let many: u64 = core.device.ran[1..].iter().sum();
    assert!(
        few.abs_diff(many) <= 2 * POLICY.slice + URGENT,
        "{few} and {many}"
    );
    // And the contexts of one client share its time.
    let (least, most) = core.device.ran[1..]
        .iter()
        .fold((u64::MAX, 0), |(l, m), r| (l.min(*r), m.max(*r)));
    assert!(most - least <= 3 * POLICY.slice, "{least} to {most}");
}

#[test]
fn who_was_away_gets_no_credit() {
    let random = &mut Random(3);
    let mut core = Core::new();
    let (a, b) = (core.client(), core.client());
    let (a, b) = (core.entity(a, 0), core.entity(b, 0));
    core.publish(a, ENDLESS, 0);
    for _ in 0..1_000 {
        core.tick(random);
    }
    core.publish(b, ENDLESS, 0);
    let before = core.device.ran[a];
    for _ in 0..400 {
        core.tick(random);
    }
    let (a, b) = (core.device.ran[a] - before, core.device.ran[b]);
    let bound = POLICY.credit + 2 * POLICY.slice + URGENT;
    assert!(a.abs_diff(b) <= bound, "{a} and {b}");
}

#[test]
fn urgent_work_takes_the_engine_away_and_gives_it_back() {
    let random = &mut Random(4);
    let mut core = Core::new();
    let (a, b) = (core.client(), core.client());
    let (low, high) = (core.entity(a, 0), core.entity(b, 5));
    core.publish(low, ENDLESS, GAP);
    for _ in 0..20 {
        core.tick(random);
    }
    core.publish(high, 50, GAP);
    for _ in 0..URGENT + 50 + URGENT {
        core.tick(random);
    }
    assert_eq!(core.device.ran[high], 50);
    assert_eq!(core.device.running, Some(low as u32 + 1));
    // With a higher priority than the other one, it is not preempted any more.
    core.set_priority(low, 6);
    core.publish(high, 50, GAP);
    for _ in 0..POLICY.patience {
        core.tick(random);
    }
    assert_eq!(core.device.ran[high], 50);
}

#[test]
fn low_work_gets_a_slice_in_a_pause() {
    let random = &mut Random(5);
    let mut core = Core::new();
    let (a, b) = (core.client(), core.client());
    let (low, high) = (core.entity(a, -5), core.entity(b, 5));
    core.publish(high, ENDLESS, 0);
    core.publish(low, ENDLESS, 0);
    for _ in 0..10_000 {
        core.tick(random);
    }
    let low = core.device.ran[low];
    // A slice after each 100 ticks of waiting, and the time to preempt it.
    assert!(
        (10_000 / 130 * 10 - 20..=10_000 / 110 * (10 + URGENT)).contains(&low),
        "{low}"
    );
}

#[test]
fn a_lone_request_costs_a_load_and_no_interrupt() {
    let random = &mut Random(6);
    let mut core = Core::new();
    let client = core.client();
    let n = core.entity(client, 0);
    core.polls = false;
    for lone in 1..=20 {
        core.publish(n, 5, 0);
        assert_eq!(core.loads, lone);
        core.drain(random);
    }
    assert_eq!((core.loads, core.interrupts), (20, 0));
    assert_eq!(core.device.ran[n], 100);
}

#[test]
fn a_burst_costs_two_loads_and_an_interrupt() {
    let random = &mut Random(6);
    let mut core = Core::new();
    let client = core.client();
    let n = core.entity(client, 0);
    core.polls = false;
    core.publish(n, 60, 0);
    for _ in 1..50 {
        core.tick(random);
        core.publish(n, 5, 0);
    }
    core.drain(random);
    assert_eq!((core.loads, core.interrupts), (2, 1));
    assert_eq!(core.device.ran[n], 60 + 49 * 5);
}

#[test]
fn what_is_held_stays() {
    let random = &mut Random(7);
    let mut core = Core::new();
    let client = core.client();
    let n = core.entity(client, 0);
    core.publish(n, ENDLESS, 0);
    let entity = core.all[n].entity;
    assert!(core.sched.is_held(entity));
    assert!(!core.sched.remove_entity(entity));
    core.cancel(n);
    core.drain(random);
    assert!(!core.sched.remove_client(core.clients[client]));
    assert!(core.sched.remove_entity(entity));
    assert!(!core.sched.remove_entity(entity), "once");
    assert!(core.sched.remove_client(core.clients[client]));
    // A removed entity does nothing.
    core.sched.publish(entity, RingOffset(8), 0);
    assert_eq!(core.sched.schedule(0), None);
    // Its place is reused, with another generation.
    let client = core.sched.add_client().unwrap();
    let what = What {
        id: 1,
        descriptor: 1,
        priority: 0,
        roams: false,
    };
    let other = core.sched.add_entity(client, &what).unwrap();
    assert_ne!(other.key(), entity.key());
    assert!(!core.sched.is_held(other));
}

#[test]
fn a_full_arena_is_said_so() {
    let mut sched = Scheduler::new(Vec::new(), DEPTH, 12, POLICY);
    assert_eq!(sched.add_client(), Err(NoPlace));
    sched.arena_mut().resize(2, Item::default());
    let client = sched.add_client().unwrap();
    let what = What {
        id: 1,
        descriptor: 1,
        priority: 0,
        roams: false,
    };
    let entity = sched.add_entity(client, &what).unwrap();
    assert_eq!(sched.add_entity(client, &what), Err(NoPlace));
    assert!(sched.remove_entity(entity));
    assert!(sched.add_entity(client, &what).is_ok());
}

#[test]
fn after_a_reset_all_runs_again() {
    let random = &mut Random(8);
    let mut core = Core::new();
    let client = core.client();
    let (a, b) = (core.entity(client, 0), core.entity(client, 0));
    core.publish(a, 30, 0);
    core.publish(b, 30, 0);
    for _ in 0..5 {
        core.tick(random);
    }
    core.device.queue.clear();
    core.device.pending = None;
    core.device.running = None;
    core.device.events.clear();
    core.interrupt = None;
    core.sched.reset(core.now);
    core.acknowledged = core.loads;
    assert!(core.sched.port().is_idle());
    let load = core.sched.schedule(core.now).expect("all of it");
    assert!(load.entries().len() == 2 && load.entries().iter().all(|e| e.restore));
    core.loads += 1;
    core.device.load(load.entries());
    core.drain(random);
}
