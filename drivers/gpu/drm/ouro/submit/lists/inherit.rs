// SPDX-License-Identifier: GPL-2.0

//! What an urgent request waits for becomes as urgent.
//!
//! Where engines take lists of contexts, one of a priority in between would else starve both: the request
//! that runs before all others waits for one that runs after them.
//!
//! When a client's request is published, whatever it waits for is *lifted* to its priority, directly or
//! through others that wait themselves, on whatever engine. A request that is ready lifts its context there
//! until it is done, since what is before it in the same ring has to run, too. One that still waits takes
//! along what it is lifted to.
//!
//! Nor does anything less urgent come between the two: behind a context that was lifted the scheduler lists
//! nothing of that, and when such a request is done, it is signalled before the engine is given more.
//!
//! What somebody waits for who cannot be woken up is lifted above everybody, and has to end ([`press`]).
//!
//! All this comes behind the publication, in process context and with no lock held: at worst it is late by a
//! moment. No request is visited twice for the same priority: its [`Urgency`] only grows.

use kernel::{
    list::{List, ListArc},
    sync::{
        atomic::{ordering, Atomic},
        barrier, Arc, ArcBorrow,
    },
};
use ouro_kernel::{
    fence::{self, Fence},
    time,
};

use super::{
    super::{
        in_use::InUse,
        request::{Request, Tracker},
        Engine,
    },
    ListedContext, Lists,
};

/// None at all.
const NONE: i32 = i32::MIN;
/// Of what is pressed: more than any client may have.
const PRESSED: i32 = i32::MAX;

/// How urgent a request is, and what waits for it.
pub(in crate::submit) struct Urgency {
    /// Number of its context on the engine, where contexts are listed; else zero.
    seat: Atomic<u32>,
    /// How urgent its context was when it was submitted.
    own: Atomic<i32>,
    /// What it waits for is as urgent as this since its publication.
    spread: Atomic<i32>,
    /// What waits for it is as urgent as this.
    lifted: Atomic<i32>,
}

impl Urgency {
    pub(in crate::submit) fn new() -> Self {
        Self {
            seat: Atomic::new(0),
            own: Atomic::new(NONE),
            spread: Atomic::new(NONE),
            lifted: Atomic::new(NONE),
        }
    }

    /// That of a request in a context. Nobody waits for it yet.
    pub(in crate::submit) fn begin(&self, context: Option<&InUse>, engine: &Engine) {
        let seat = context.and_then(|c| c.seat(engine));
        self.sit(seat.map_or(0, |seat| seat.id()));
        // The kernel's own work is more urgent than clients' may be. What it waits for is not, for that.
        let own = context.map_or(NONE, |c| c.context().priority());
        let is_client = context.is_some_and(|c| c.holder().is_some());
        self.own.store(own, ordering::Relaxed);
        let spread = if is_client { own } else { NONE };
        self.spread.store(spread, ordering::Relaxed);
    }

    /// The number of its context on the engine, where contexts are listed; else zero.
    pub(in crate::submit) fn sit(&self, seat: u32) {
        self.seat.store(seat, ordering::Relaxed);
    }

    /// Where its context is in [`Lists::contexts`].
    fn index(&self) -> Option<u32> {
        self.seat.load(ordering::Relaxed).checked_sub(1)
    }

    /// How urgent it is by itself.
    fn own(&self) -> i32 {
        self.own.load(ordering::Relaxed)
    }

    /// How urgent it is, and what waits for it.
    pub(in crate::submit) fn rank(&self) -> Rank {
        Rank {
            own: self.own(),
            lifted: self.lifted(),
        }
    }

    /// What it was lifted to.
    pub(in crate::submit) fn lifted(&self) -> Option<i32> {
        Some(self.lifted.load(ordering::Relaxed)).filter(|l| *l != NONE)
    }

    /// Something of this priority waits for it. Returns whether that is news.
    fn raise(&self, priority: i32) -> bool {
        if self.own() >= priority && self.spread.load(ordering::Relaxed) >= priority {
            return false;
        }
        let mut lifted = self.lifted.load(ordering::Relaxed);
        while lifted < priority {
            match self.lifted.cmpxchg(lifted, priority, ordering::Full) {
                Ok(_) => return true,
                Err(now) => lifted = now,
            }
        }
        false
    }

    /// What it waits for is to be as urgent as this.
    fn to_spread(&self) -> i32 {
        let lifted = self.lifted.load(ordering::Relaxed);
        lifted.max(self.spread.load(ordering::Relaxed))
    }
}

/// How urgent a request is by itself, and what waits for it, if anything does that matters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::submit) struct Rank {
    pub(in crate::submit) own: i32,
    pub(in crate::submit) lifted: Option<i32>,
}

/// Requests that may have been lifted.
pub(in crate::submit) type Visits = List<Tracker, 1>;

fn visit(list: &mut Visits, tracker: Arc<Tracker>) {
    // Else somebody is about to visit it, and will see what it is lifted to.
    if let Ok(tracker) = ListArc::try_from_arc(tracker) {
        list.push_back(tracker);
    }
}

/// What the request of this fence waits for becomes as urgent as that. Process context, no locks.
pub(in crate::submit) fn inherit(fence: &Fence) {
    let Some(tracker) = fence::timeline::<Tracker>(fence) else {
        return;
    };
    if !tracker.engine().retirer.has_ranks() || !tracker.is_waiting() {
        return;
    }
    let mut list = List::new();
    visit(&mut list, tracker);
    spread(list);
}

/// Somebody waits for this fence who cannot be woken up, and so it has to be signalled: what its requests wait
/// for is not only lifted, but its engines are not asked to let go of it either. Each has its time, and is reset
/// then. Any context; the worker does it soon.
pub(crate) fn press(fence: &Fence) {
    fence.each(|fence| {
        let Some(tracker) = fence::timeline::<Tracker>(fence) else {
            return;
        };
        if tracker.urgency.raise(PRESSED) {
            if let Ok(tracker) = ListArc::try_from_arc(tracker) {
                let retirer = tracker.engine().retirer.clone();
                retirer.press(tracker);
            }
        }
    });
}

/// What these requests wait for becomes as urgent as they are. Process context, no locks.
pub(in crate::submit) fn spread(mut list: Visits) {
    while let Some(tracker) = list.pop_front() {
        let tracker = tracker.into_arc();
        // Who lifts it from now on finds it in no list; what it was lifted to before is seen here.
        barrier::smp_mb(ordering::Full);
        let request = loop {
            // Else it has gone to another engine meanwhile.
            if let Some(request) = tracker.engine().lift(&tracker) {
                break request;
            }
        };
        let Some(request) = request else { continue };
        let priority = tracker.urgency.to_spread();
        for fence in request.awaited() {
            fence.each(|fence| {
                if let Some(tracker) = fence::timeline::<Tracker>(fence) {
                    if tracker.urgency.raise(priority) {
                        visit(&mut list, tracker);
                    }
                }
            });
        }
    }
}

impl Engine {
    /// Whether these are signalled before the engine is given anything else: what waits for one that was
    /// lifted becomes ready by that, and is more urgent than what was behind it.
    pub(in crate::submit) fn comes_first(&self, done: &List<Request>) -> bool {
        let lifted = |request: ArcBorrow<'_, Request>| request.tracker.urgency.lifted().is_some();
        self.has_lists() && done.iter().any(lifted)
    }

    /// A request may have been lifted. If it is ready, its context is told; if it is blocked, it comes back.
    /// `None`: it is another engine's.
    fn lift(&self, tracker: &Tracker) -> Option<Option<Arc<Request>>> {
        let mut queue = self.queue.lock();
        if !tracker.is_on(self) {
            return None;
        }
        let held = tracker.held();
        if held.is_some() {
            return Some(held);
        }
        let lifted = tracker.urgency.lifted();
        let at = lifted.and_then(|_| tracker.urgency.index());
        let ranked = match (at, queue.lists()) {
            (Some(at), Some(lists)) => lists.rank(at, time::monotonic_ns()),
            _ => return Some(None),
        };
        if ranked {
            self.pump(&mut queue);
        }
        drop(queue);
        self.retirer.pass_on();
        Some(None)
    }
}

impl Lists {
    /// Whether the context that runs has a request that is pressed.
    pub(in crate::submit) fn is_pressed(&self) -> bool {
        let running = self.running();
        running.is_some_and(|listed| listed.lifted == Some(PRESSED))
    }

    /// A request of such a rank is about to be one of a context's.
    pub(in crate::submit) fn raise(&mut self, at: u32, Rank { own, lifted }: Rank) {
        let listed = self.contexts.get_mut(at as usize).and_then(|p| p.as_mut());
        let Some(listed) = listed else { return };
        // What made it more urgent may be done.
        if own > listed.own || (own < listed.own && !listed.has_own(listed.own)) {
            listed.own = listed.most_own().map_or(own, |o| o.max(own));
            let (own, now) = (listed.own, time::monotonic_ns());
            self.sched.set_priority(listed.entity, own, now);
        }
        // None is less than any.
        if lifted > listed.lifted {
            listed.lifted = lifted;
            let now = time::monotonic_ns();
            self.sched.inherit(listed.entity, lifted, now);
        }
    }

    /// A context is as urgent as any of its requests, since they run in their order, and as what waits for any.
    /// Returns whether that is another priority than before.
    pub(in crate::submit) fn rank(&mut self, at: u32, now: u64) -> bool {
        let listed = self.contexts.get_mut(at as usize).and_then(|p| p.as_mut());
        let Some(listed) = listed else {
            return false;
        };
        // Without any it stays as it was.
        let (own, lifted) = (listed.most_own().unwrap_or(listed.own), listed.lifts());
        let changed = (own, lifted) != (listed.own, listed.lifted);
        if changed {
            (listed.own, listed.lifted) = (own, lifted);
            self.sched.set_priority(listed.entity, own, now);
            self.sched.inherit(listed.entity, lifted, now);
        }
        changed
    }
}

impl ListedContext {
    /// Its requests that are not done.
    fn requests(&self) -> impl Iterator<Item = ArcBorrow<'_, Request>> {
        let progress = self.logical_ring.line().progress();
        let is_done =
            move |r: &ArcBorrow<'_, Request>| r.tracker.seqno().is_some_and(|s| progress.passed(s));
        self.flight.iter().skip_while(is_done).chain(&self.ready)
    }

    /// What its requests were lifted to, at most.
    fn lifts(&self) -> Option<i32> {
        let lifted = self.requests().map(|r| r.tracker.urgency.lifted());
        lifted.max().flatten()
    }

    /// Whether one of its requests is as urgent as that by itself.
    fn has_own(&self, own: i32) -> bool {
        self.requests().any(|r| r.tracker.urgency.own() == own)
    }

    /// How urgent its requests are by themselves, at most.
    fn most_own(&self) -> Option<i32> {
        self.requests().map(|r| r.tracker.urgency.own()).max()
    }

    /// How urgent the first of its requests is by itself.
    pub(in crate::submit) fn first_own(&self) -> Option<i32> {
        Some(self.requests().next()?.tracker.urgency.own())
    }
}
