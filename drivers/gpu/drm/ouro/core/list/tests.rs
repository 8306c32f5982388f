// SPDX-License-Identifier: GPL-2.0
//! Tests of the execlist port: loads, and the meaning of events.

use super::*;
use std::vec::Vec;

fn want(n: u32, tail: u32) -> Wanted {
    Wanted {
        key: ContextKey(n.into()),
        id: n,
        priority: 0,
        descriptor: u64::from(n) << 39,
        tail: RingOffset(tail),
        fresh: false,
    }
}

const fn event(from: Option<u32>, finished: bool, to: Option<u32>, new: bool) -> PortEvent {
    PortEvent {
        from,
        finished,
        to,
        new_list: new,
    }
}

fn tails(load: Option<Load>) -> Vec<(u64, u32, bool)> {
    let load = load.expect("a load");
    let entry = |e: &ListEntry| (e.descriptor >> 39, e.tail.0, e.restore);
    load.entries().iter().map(entry).collect()
}

#[test]
fn a_hundred_requests_to_a_busy_engine() {
    let mut port = ListPort::new(8, 12);
    assert_eq!(tails(port.load(&[want(1, 8)])), [(1, 8, false)]);
    port.event(&event(None, false, Some(1), true)).unwrap();
    for n in 1..100u32 {
        assert_eq!(port.load(&[want(1, 8 + 8 * n)]), None, "it has work");
    }
    // All of them are in the load after the first one's end.
    port.completed(ContextKey(1), RingOffset(8));
    assert_eq!(tails(port.load(&[want(1, 800)])), [(1, 800, false)]);
    // Now another one waits: it is listed behind the new tail.
    port.event(&event(None, false, Some(1), true)).unwrap();
    let both = [want(1, 808), want(2, 8)];
    assert_eq!(tails(port.load(&both)), [(1, 808, false), (2, 8, false)]);
    port.event(&event(None, false, Some(1), true)).unwrap();
    // The other one would run before the new tail.
    let both = [want(1, 816), want(2, 8)];
    assert_eq!(tails(port.load(&both)), [(1, 816, false), (2, 8, true)]);
    port.event(&event(None, false, Some(1), true)).unwrap();
    assert_eq!(tails(port.load(&[want(1, 824)])), [(1, 824, false)]);
}

#[test]
fn a_tail_that_does_not_go_on_is_restored() {
    let mut port = ListPort::new(8, 12);
    assert_eq!(tails(port.load(&[want(1, 8)])), [(1, 8, false)]);
    port.event(&event(None, false, Some(1), true)).unwrap();
    assert_eq!(port.load(&[want(1, 8)]), None, "nothing new");
    // A second context behind it: the first one has no new tail.
    let both = [want(1, 8), want(2, 16)];
    assert_eq!(tails(port.load(&both)), [(1, 8, true), (2, 16, false)]);
    port.event(&event(None, false, Some(1), true)).unwrap();
    // A third one can wait until a context completes.
    let three = [want(1, 8), want(2, 16), want(3, 8)];
    assert_eq!(port.load(&three), None);
    port.event(&event(Some(1), true, Some(2), false)).unwrap();
    assert_eq!(
        tails(port.load(&three[1..])),
        [(2, 16, true), (3, 8, false)]
    );
    // A context whose image was changed is restored as a whole, too.
    let mut port = ListPort::new(8, 12);
    let fresh = Wanted {
        fresh: true,
        ..want(1, 8)
    };
    assert_eq!(tails(port.load(&[fresh])), [(1, 8, true)]);
}

#[test]
fn what_runs_is_loaded_anew() {
    let mut port = ListPort::new(8, 12);
    let both = [want(1, 8), want(2, 16)];
    port.load(&both).unwrap();
    assert_eq!(port.reload(&both), None, "one load at a time");
    port.event(&event(None, false, Some(1), true)).unwrap();
    assert_eq!(port.load(&both), None, "nothing new");
    let load = port.reload(&both);
    assert_eq!(tails(load), [(1, 8, true), (2, 16, true)]);
    port.event(&event(None, false, Some(1), true)).unwrap();
    assert_eq!(port.reload(&[]), None, "nothing");
}

#[test]
fn a_probe_saves_what_runs_although_it_has_more_work() {
    let mut port = ListPort::new(8, 12);
    port.load(&[want(1, 8)]).unwrap();
    port.event(&event(None, false, Some(1), true)).unwrap();
    let loads = port.loads();
    for n in 2..6 {
        // Its client goes on submitting: each probe has a new tail.
        assert_eq!(port.load(&[want(1, 8 * n)]), None, "it waits");
        assert_eq!(tails(port.reload(&[want(1, 8 * n)])), [(1, 8 * n, true)]);
        assert_eq!(port.given().count(), 0, "the save may write the old tail");
        port.event(&event(Some(1), false, Some(1), true)).unwrap();
        assert!(port.has_saved_since(loads));
    }
    assert_eq!(port.counts().lite_restores, 0);
    // A context that the engine does not have needs no more than its first restore.
    assert_eq!(tails(port.reload(&[want(3, 8)])), [(3, 8, false)]);
}

#[test]
fn urgent_contexts_do_not_wait() {
    let mut port = ListPort::new(8, 12);
    port.load(&[want(1, 8), want(2, 8)]).unwrap();
    port.event(&event(None, false, Some(1), true)).unwrap();
    let urgent = Wanted {
        priority: 5,
        ..want(3, 8)
    };
    // A context that lost its urgency does not block others.
    let other = [want(1, 8), want(4, 8)];
    assert_eq!(port.load(&other), None);
    port.set_priority(ContextKey(2), -1);
    assert!(port.load(&other).is_some());
    port.event(&event(None, false, Some(1), true)).unwrap();
    // Behind the first one, and then in its place.
    assert!(port.load(&[want(1, 8), urgent, want(2, 8)]).is_some());
    port.event(&event(None, false, Some(1), true)).unwrap();
    assert!(port.load(&[urgent, want(1, 8), want(2, 8)]).is_some());
    let outcome = port.event(&event(Some(1), false, Some(3), true)).unwrap();
    assert_eq!(port.released(&outcome).count(), 0, "all are listed again");
    assert_eq!(port.running(), Some(ContextKey(3)));
}

#[test]
fn contexts_are_held_until_events_release_them() {
    let mut port = ListPort::new(8, 12);
    port.load(&[want(1, 8), want(2, 8)]).unwrap();
    assert!(port.holds(ContextKey(2)));
    port.event(&event(None, false, Some(1), true)).unwrap();
    let released = |key, done| Released {
        key: ContextKey(key),
        done,
    };
    port.completed(ContextKey(1), RingOffset(8));
    let outcome = port.event(&event(Some(1), true, Some(2), false)).unwrap();
    let found: Vec<_> = port.released(&outcome).collect();
    assert_eq!(found, [released(1, Some(RingOffset(8)))]);
    assert!(!port.holds(ContextKey(1)) && port.holds(ContextKey(2)));
    // Preempted by a list without it. The "finished" bit is not relied on.
    port.load(&[want(3, 8)]).unwrap();
    let outcome = port.event(&event(Some(2), true, Some(3), true)).unwrap();
    let found: Vec<_> = port.released(&outcome).collect();
    assert_eq!(found, [released(2, None)]);
    // Nor is it here: the tail may have been an old one.
    let outcome = port.event(&event(Some(3), true, None, false)).unwrap();
    let found: Vec<_> = port.released(&outcome).collect();
    assert_eq!(found, [released(3, None)]);
    assert!(port.is_idle());
}

#[test]
fn one_that_finishes_while_it_is_listed_again_stays_held() {
    let mut port = ListPort::new(8, 12);
    port.load(&[want(1, 8)]).unwrap();
    port.event(&event(None, false, Some(1), true)).unwrap();
    port.load(&[want(1, 16), want(2, 8)]).unwrap();
    let outcome = port.event(&event(Some(1), true, None, false)).unwrap();
    assert_eq!(port.released(&outcome).count(), 0);
    assert!(port.holds(ContextKey(1)));
    port.event(&event(None, false, Some(1), true)).unwrap();
    let outcome = port.event(&event(Some(1), true, Some(2), false)).unwrap();
    assert_eq!(port.released(&outcome).count(), 1);
}

#[test]
fn what_must_go_goes() {
    let mut port = ListPort::new(8, 12);
    port.load(&[want(1, 8)]).unwrap();
    port.event(&event(None, false, Some(1), true)).unwrap();
    assert_eq!(port.load(&[]), None);
    port.cancel(ContextKey(1));
    assert_eq!(tails(port.load(&[])), []);
    let outcome = port.event(&event(Some(1), false, None, true)).unwrap();
    assert_eq!(port.released(&outcome).count(), 1);
    assert!(port.is_idle());
}

#[test]
fn what_is_known_to_be_done_needs_no_load() {
    let mut port = ListPort::new(8, 12);
    port.load(&[want(1, 8), want(2, 8)]).unwrap();
    port.event(&event(None, false, Some(1), true)).unwrap();
    port.completed(ContextKey(1), RingOffset(8));
    assert_eq!(port.running(), Some(ContextKey(2)));
    assert_eq!(port.load(&[want(2, 8)]), None);
}

#[test]
fn images_of_others_are_whole() {
    let mut port = ListPort::new(8, 12);
    let may = |port: &ListPort| {
        let keys = (1..=4).filter(|n| port.may_write(ContextKey(*n)));
        keys.collect::<Vec<_>>()
    };
    port.load(&[want(1, 8), want(2, 8), want(3, 8)]).unwrap();
    assert_eq!(may(&port), []);
    port.event(&event(None, false, Some(1), true)).unwrap();
    assert_eq!(may(&port), [1]);
    // It may be in a pending load.
    port.completed(ContextKey(1), RingOffset(8));
    assert_eq!(may(&port), [1, 2]);
    port.load(&[want(4, 8), want(2, 8)]).unwrap();
    assert_eq!(may(&port), [1, 2]);
    port.event(&event(Some(1), true, Some(2), false)).unwrap();
    assert_eq!(may(&port), [2]);
    port.event(&event(Some(2), false, Some(4), true)).unwrap();
    assert_eq!(may(&port), [4]);
    port.reset().count();
    assert_eq!(may(&port), []);
}

#[test]
fn events_always_fit() {
    let mut port = ListPort::new(8, 12);
    let all: Vec<_> = (1..=8).map(|n| want(n, 8)).collect();
    let other: Vec<_> = (11..=18).map(|n| want(n, 8)).collect();
    assert_eq!(port.load(&all).unwrap().entries().len(), 8);
    port.event(&event(None, false, Some(1), true)).unwrap();
    // Eight contexts may end, one event is the load's, one entry stays free, two are left.
    assert_eq!(port.load(&other).unwrap().entries().len(), 2);
    assert_eq!(port.room(), 0);
}

#[test]
fn events_that_cannot_be_change_nothing() {
    let mut port = ListPort::new(8, 12);
    port.load(&[want(1, 8), want(2, 8)]).unwrap();
    for bad in [
        event(Some(1), true, Some(2), false),
        event(None, false, Some(2), true),
        event(None, false, None, true),
        event(Some(2), false, Some(1), true),
    ] {
        assert_eq!(port.event(&bad), Err(Unexpected));
    }
    port.event(&event(None, false, Some(1), true)).unwrap();
    for bad in [
        event(None, false, Some(1), true),
        event(Some(2), true, None, false),
        event(Some(1), true, None, false),
        event(None, false, Some(2), false),
    ] {
        assert_eq!(port.event(&bad), Err(Unexpected));
    }
    port.event(&event(Some(1), true, Some(2), false)).unwrap();
    port.load(&[want(2, 16), want(3, 8)]).unwrap();
    let all: Vec<_> = port.reset().map(|r| r.key.0).collect();
    assert_eq!(all, [2, 3]);
    assert!(port.is_idle());
}

#[test]
fn what_the_engine_does_is_counted() {
    let mut port = ListPort::new(8, 12);
    let urgent = Wanted {
        priority: 5,
        ..want(2, 8)
    };
    let mut counts = Counts::default();
    let mut after = |port: &ListPort, add: (u64, u64, u64), what: &str| {
        counts.switches += add.0;
        counts.lite_restores += add.1;
        counts.preemptions += add.2;
        assert_eq!(port.counts(), counts, "{what}");
    };
    port.load(&[want(1, 8)]).unwrap();
    after(&port, (0, 0, 0), "a load is not an event");
    port.event(&event(None, false, Some(1), true)).unwrap();
    after(&port, (1, 0, 0), "it begins");
    port.completed(ContextKey(1), RingOffset(8));
    port.load(&[want(1, 16)]).unwrap();
    port.event(&event(None, false, Some(1), true)).unwrap();
    after(&port, (0, 1, 0), "a new tail, before it was switched out");
    port.load(&[urgent, want(1, 16)]).unwrap();
    port.event(&event(Some(1), false, Some(2), true)).unwrap();
    after(&port, (1, 0, 1), "it is taken away");
    port.event(&event(Some(2), true, Some(1), false)).unwrap();
    after(&port, (1, 0, 0), "the next one of the list");
    // The tail is the same, so the whole image is restored.
    port.load(&[want(1, 16), want(3, 8)]).unwrap();
    port.event(&event(None, false, Some(1), true)).unwrap();
    after(&port, (1, 0, 0), "restored as a whole");
    port.load(&[urgent]).unwrap();
    port.event(&event(Some(1), true, Some(2), true)).unwrap();
    after(&port, (1, 0, 0), "it was at its end when the list came");
    port.event(&event(Some(2), true, None, false)).unwrap();
    after(&port, (0, 0, 0), "no context runs");
    let _ = port.reset();
    after(&port, (0, 0, 0), "a reset");
}

#[test]
fn a_load_that_saves_what_ran() {
    let mut port = ListPort::new(8, 12);
    assert!(!port.has_saved_since(0), "no load");
    port.load(&[want(1, 8)]).unwrap();
    let loads = port.loads();
    // This load was written before they were counted, and may have been taken then.
    port.event(&event(None, false, Some(1), true)).unwrap();
    assert!(!port.has_saved_since(loads));
    // The context goes on: nothing is saved.
    port.completed(ContextKey(1), RingOffset(8));
    port.load(&[want(1, 16)]).unwrap();
    port.event(&event(None, false, Some(1), true)).unwrap();
    assert!(!port.has_saved_since(loads), "a lite restore");
    port.reload(&[want(1, 16)]).unwrap();
    assert!(!port.has_saved_since(loads), "it is pending");
    port.event(&event(None, false, Some(1), true)).unwrap();
    assert!(port.has_saved_since(loads), "a restore as a whole");
    let loads = port.loads();
    assert!(!port.has_saved_since(loads));
    // What ends behind another one of its list is no load.
    port.load(&[want(1, 24), want(2, 8)]).unwrap();
    port.event(&event(None, false, Some(1), true)).unwrap();
    port.event(&event(Some(1), true, Some(2), false)).unwrap();
    assert!(!port.has_saved_since(loads));
    port.load(&[want(3, 8), want(2, 8)]).unwrap();
    port.event(&event(Some(2), false, Some(3), true)).unwrap();
    assert!(port.has_saved_since(loads), "another context");
    let _ = port.reset();
    assert!(port.has_saved_since(loads));
    assert!(!port.has_saved_since(port.loads()));
}
