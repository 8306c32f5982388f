// SPDX-License-Identifier: GPL-2.0

//! Priority inheritance: the requests that an urgent request waits for become as urgent.
//!
//! On execlist engines, a request of a priority in between could otherwise starve both: the most
//! urgent request waits for the least urgent one.
//!
//! When a client's request is published, all requests that it waits for inherit its priority,
//! directly or through others that wait themselves, on any engine. A ready request passes the
//! priority to its context until it completes, because the requests before it in the ring have to
//! run, too. A request that still waits keeps the priority for when it is ready.
//!
//! Nothing less urgent may run between the two: the scheduler lists no such context behind one with
//! an inherited priority, and when such a request completes, its fence is signalled before the next
//! load.
//!
//! A request whose waiter cannot be woken up gets the most priority that any client may have, and
//! must end ([`press`]). So must a request of another context that keeps it from running, if no
//! timeslice ends that.
//!
//! All this happens after publication, in process context and without locks: at worst it comes a
//! moment late. No request is visited twice for the same priority: its [`Urgency`] only increases.

use kernel::{
    list::{List, ListArc},
    sync::{
        atomic::{ordering, Atomic},
        barrier, Arc, ArcBorrow,
    },
};
use ouro_core::roster::Set;
use ouro_kernel::{
    fence::{self, Fence},
    time,
};

use super::{
    super::{
        context_state::DEFAULT_PRIORITY,
        in_use::InUse,
        request::{Request, Tracker},
        Engine,
    },
    ListedContext, Lists, MS,
};

/// No priority.
const NONE: i32 = i32::MIN;
/// The least priority of pressed requests: no client may have more without a privilege. Anyone can
/// have requests pressed, with all that they wait for.
const PRESSED: i32 = DEFAULT_PRIORITY;

/// The longest timeslice, in nanoseconds, of a context that a pressed request of another context
/// waits for.
const LONGEST_TURN: u64 = 3000 * MS;

/// The priority of a request, and of its waiters.
pub(in crate::submit) struct Urgency {
    /// Id of its context on an execlist engine; zero on ring engines.
    seat: Atomic<u32>,
    /// Its context's priority when it was submitted.
    own: Atomic<i32>,
    /// The priority that its dependencies have inherited since its publication.
    spread: Atomic<i32>,
    /// The priority inherited from its waiters.
    lifted: Atomic<i32>,
    /// Whether it must end soon ([`press`]).
    pressed: Atomic<bool>,
}

impl Urgency {
    pub(in crate::submit) fn new() -> Self {
        Self {
            seat: Atomic::new(0),
            own: Atomic::new(NONE),
            spread: Atomic::new(NONE),
            lifted: Atomic::new(NONE),
            pressed: Atomic::new(false),
        }
    }

    /// Initializes the priority of a request in a context. It has no waiters yet.
    pub(in crate::submit) fn begin(&self, context: Option<&InUse>, engine: &Engine) {
        let seat = context.and_then(|c| c.seat(engine));
        self.sit(seat.map_or(0, |seat| seat.id()));
        // The kernel's own requests are more urgent than any client's. What they wait for does not
        // inherit that.
        let own = context.map_or(NONE, |c| c.context().priority());
        let is_client = context.is_some_and(|c| c.holder().is_some());
        self.own.store(own, ordering::Relaxed);
        let spread = if is_client { own } else { NONE };
        self.spread.store(spread, ordering::Relaxed);
    }

    /// Sets the id of its context on an execlist engine; zero on ring engines.
    pub(in crate::submit) fn sit(&self, seat: u32) {
        self.seat.store(seat, ordering::Relaxed);
    }

    /// Returns the index of its context in [`Lists::contexts`].
    fn index(&self) -> Option<u32> {
        self.seat.load(ordering::Relaxed).checked_sub(1)
    }

    /// Returns its own priority.
    fn own(&self) -> i32 {
        self.own.load(ordering::Relaxed)
    }

    /// Returns its own priority and the inherited one.
    pub(in crate::submit) fn rank(&self) -> Rank {
        Rank {
            own: self.own(),
            lifted: self.lifted(),
        }
    }

    /// Returns the priority inherited from its waiters.
    pub(in crate::submit) fn lifted(&self) -> Option<i32> {
        Some(self.lifted.load(ordering::Relaxed)).filter(|l| *l != NONE)
    }

    /// Records a waiter of this priority. Returns whether that raises the inherited priority.
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

    /// Returns whether it must end soon ([`press`]).
    pub(in crate::submit) fn is_pressed(&self) -> bool {
        self.pressed.load(ordering::Relaxed)
    }

    /// Records that it must end soon. Returns whether that is new, or raises its priority.
    fn press(&self) -> bool {
        let is_new = !self.pressed.xchg(true, ordering::Full);
        self.raise(PRESSED) || is_new
    }

    /// Returns the priority that its dependencies are to inherit.
    fn to_spread(&self) -> i32 {
        let lifted = self.lifted.load(ordering::Relaxed);
        lifted.max(self.spread.load(ordering::Relaxed))
    }
}

/// A request's own priority, and the one inherited from its waiters, if any.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::submit) struct Rank {
    pub(in crate::submit) own: i32,
    pub(in crate::submit) lifted: Option<i32>,
}

/// Requests whose inherited priority may have changed.
pub(in crate::submit) type Visits = List<Tracker, 1>;

fn visit(list: &mut Visits, tracker: Arc<Tracker>) {
    // If it is in a list, the visit to come will see the new priority.
    if let Ok(tracker) = ListArc::try_from_arc(tracker) {
        list.push_back(tracker);
    }
}

/// Passes the priority of a fence's request on to its dependencies. Process context, no locks.
pub(in crate::submit) fn inherit(fence: &Fence) {
    let waits = fence::with_timeline::<Tracker, _>(fence, |tracker, _| {
        tracker.engine().retirer.has_ranks() && tracker.is_waiting()
    });
    if waits != Some(true) {
        return;
    }
    let Some(tracker) = fence::timeline::<Tracker>(fence) else {
        return;
    };
    let mut list = List::new();
    visit(&mut list, tracker);
    spread(list);
}

/// Makes the requests of a fence end soon, because its waiter cannot be woken up: they and their
/// dependencies get the default priority at least, and a preemption probe earns them no further
/// time. Each request has the hang limit, after which its engine is reset. Any context; the worker
/// does it soon.
pub(crate) fn press(fence: &Fence) {
    fence.each(|fence| {
        let Some(tracker) = fence::timeline::<Tracker>(fence) else {
            return;
        };
        let retirer = tracker.engine().retirer.clone();
        if !tracker.urgency.press() {
            retirer.forget_tracker(tracker);
            return;
        }
        match ListArc::try_from_arc(tracker) {
            Ok(tracker) => retirer.press(tracker),
            Err(tracker) => retirer.forget_tracker(tracker),
        }
    });
}

/// Passes the priority of these requests on to their dependencies, and whether they must end soon.
/// Process context, no locks.
pub(in crate::submit) fn spread(mut list: Visits) {
    while let Some(tracker) = list.pop_front() {
        let tracker = tracker.into_arc();
        let retirer = tracker.engine().retirer.clone();
        // A later raise puts it into a list again; an earlier raise is seen
        // here.
        barrier::smp_mb(ordering::Full);
        let request = loop {
            // If `None`, the request has moved to another engine meanwhile.
            if let Some(request) = tracker.engine().lift(&tracker) {
                break request;
            }
        };
        let Some(request) = request else {
            retirer.forget_tracker(tracker);
            continue;
        };
        let priority = tracker.urgency.to_spread();
        let is_pressed = tracker.urgency.is_pressed();
        for fence in request.awaited() {
            fence.each(|fence| {
                if let Some(tracker) = fence::timeline::<Tracker>(fence) {
                    let urgency = &tracker.urgency;
                    if (is_pressed && urgency.press()) | urgency.raise(priority) {
                        visit(&mut list, tracker);
                    } else {
                        retirer.forget_tracker(tracker);
                    }
                }
            });
        }
        // In the tick, nothing may be freed that takes a lock.
        retirer.forget(request);
        retirer.forget_tracker(tracker);
    }
}

impl Engine {
    /// Returns whether the fences of these completed requests must be signalled before the next
    /// load: the waiter of a request that inherited a priority becomes ready then, and is more
    /// urgent than what is listed behind.
    pub(in crate::submit) fn comes_first(&self, done: &List<Request>) -> bool {
        let lifted = |request: ArcBorrow<'_, Request>| request.tracker.urgency.lifted().is_some();
        self.has_lists() && done.iter().any(lifted)
    }

    /// Applies a request's inherited priority: updates its context if the request is ready, and
    /// returns the request if it is blocked. `None` if it has moved to another engine.
    fn lift(&self, tracker: &Tracker) -> Option<Option<Arc<Request>>> {
        let mut queue = self.queue.lock();
        if !tracker.is_on(self) {
            return None;
        }
        let held = tracker.held();
        if held.is_some() {
            return Some(held);
        }
        let (Some(at), Some(lists)) = (tracker.urgency.index(), queue.lists()) else {
            return Some(None);
        };
        lists.note_pressed(at, tracker);
        let lifted = tracker.urgency.lifted();
        if lifted.is_some_and(|_| lists.rank(at, time::monotonic_ns())) {
            self.pump(&mut queue);
        }
        drop(queue);
        self.retirer.run_deferred();
        Some(None)
    }
}

impl Lists {
    /// Returns whether the running context's first request must end: the context has a pressed
    /// request, or another one has and gets no timeslice.
    pub(in crate::submit) fn is_pressed(&mut self) -> bool {
        if self.running().is_some_and(ListedContext::is_pressed) {
            return true;
        }
        if self.sched.takes_turns(LONGEST_TURN) {
            return false;
        }
        while let Some(at) = self.roster.first(Set::Pressed) {
            if self.listed(at).is_some_and(ListedContext::is_pressed) {
                return true;
            }
            // They have completed, or have moved to another engine.
            self.roster.leave(Set::Pressed, at);
        }
        false
    }

    /// Notes the context of a request here that is pressed.
    pub(in crate::submit) fn note_pressed(&mut self, at: u32, tracker: &Tracker) {
        if tracker.urgency.is_pressed() {
            self.roster.join(Set::Pressed, at);
        }
    }

    /// Raises a context's priority for a request of such a rank that is about to be added to it.
    pub(in crate::submit) fn raise(&mut self, at: u32, Rank { own, lifted }: Rank) {
        let listed = self.contexts.get_mut(at as usize).and_then(|p| p.as_mut());
        let Some(listed) = listed else { return };
        // The request that gave the context its priority may have completed.
        if own > listed.own || (own < listed.own && !listed.has_own(listed.own)) {
            listed.own = listed.most_own().map_or(own, |o| o.max(own));
            let (own, now) = (listed.own, time::monotonic_ns());
            self.sched.set_priority(listed.entity, own, now);
        }
        // `None` is less than any priority.
        if lifted > listed.lifted {
            listed.lifted = lifted;
            let now = time::monotonic_ns();
            self.sched.inherit(listed.entity, lifted, now);
        }
    }

    /// Recomputes a context's priority: the highest of its requests, since they run in order, and
    /// of their waiters. Returns whether it has changed.
    pub(in crate::submit) fn rank(&mut self, at: u32, now: u64) -> bool {
        let listed = self.contexts.get_mut(at as usize).and_then(|p| p.as_mut());
        let Some(listed) = listed else {
            return false;
        };
        // Without requests it keeps its own priority.
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
    /// Returns its requests that have not completed.
    fn requests(&self) -> impl Iterator<Item = ArcBorrow<'_, Request>> {
        let progress = self.logical_ring.line().progress();
        let is_done =
            move |r: &ArcBorrow<'_, Request>| r.tracker.seqno().is_some_and(|s| progress.passed(s));
        self.flight.iter().skip_while(is_done).chain(&self.ready)
    }

    /// Returns whether one of its requests is pressed.
    pub(in crate::submit) fn is_pressed(&self) -> bool {
        self.requests().any(|r| r.tracker.urgency.is_pressed())
    }

    /// Returns the highest priority that its requests inherit.
    fn lifts(&self) -> Option<i32> {
        let lifted = self.requests().map(|r| r.tracker.urgency.lifted());
        lifted.max().flatten()
    }

    /// Returns whether one of its requests has this own priority.
    fn has_own(&self, own: i32) -> bool {
        self.requests().any(|r| r.tracker.urgency.own() == own)
    }

    /// Returns the highest own priority of its requests.
    fn most_own(&self) -> Option<i32> {
        self.requests().map(|r| r.tracker.urgency.own()).max()
    }

    /// Returns the own priority of its first request.
    pub(in crate::submit) fn first_own(&self) -> Option<i32> {
        Some(self.requests().next()?.tracker.urgency.own())
    }
}
