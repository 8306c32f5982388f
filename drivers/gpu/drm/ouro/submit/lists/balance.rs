// SPDX-License-Identifier: GPL-2.0

//! Load balancing of virtual engines ([`super::balanced`]): transfers of a context's work from one
//! engine to another.
//!
//! While no engine holds the image of such a context, its image, ring and status page are complete
//! in memory: all of its requests can then move to another engine at once, however far they have
//! run. There are two occasions:
//!
//! * A request is ready, and the context has no other work. It goes to the engine with the fewest
//!   contexts.
//! * The context has to wait, and another engine would run it at once. The scheduler lists such
//!   contexts in the first place only (`ouro_core::sched`), so no engine holds a waiting one.
//!
//! After each look at an engine, the driver publishes whether it has movable waiting contexts, and
//! its load ([`Load`]). Whichever of the two is written second sees the first, so no transfer is
//! missed; the [`Exchange`] makes it.
//!
//! The exchange is one lock per device, taken outside of the engines' locks; no two engines' locks
//! are held together. During a transfer the requests are in no queue, but they know their
//! destination engine, which counts them as arriving and does not become quiet until they are
//! there.

use kernel::{
    list::{List, ListArc},
    new_spinlock_irq,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, SpinLockIrq,
    },
};
use ouro_core::{
    balance::{self, Level},
    burst::Budget,
    roster::Set,
};
use ouro_hw::{
    ring::Ring,
    types::{RingOffset, Seqno},
};
use ouro_kernel::time;

use super::{
    super::{
        engine::Queue,
        follow::FollowerQueue,
        request::{Request, Tracker},
        Engine,
    },
    balanced::Siblings,
    cancel::Cancelled,
    ListedContext, Lists,
};

/// Most rounds of transfers in one call. The rest is seen after the next look at an engine.
const MAX_ROUNDS: u32 = 16;

/// Most contexts that are looked at with an engine's lock held.
const MAX_LOOKS: usize = 64;

/// The load of an engine.
pub(in crate::submit) struct Load {
    level: Atomic<i64>,
    /// Number of contexts with work.
    contexts: Atomic<u32>,
    /// Number of virtual engines that the engine is part of.
    parts: Atomic<u32>,
}

impl Load {
    pub(in crate::submit) fn new() -> Self {
        Self {
            level: Atomic::new(Level::Free.into_bits()),
            contexts: Atomic::new(0),
            parts: Atomic::new(0),
        }
    }

    /// Returns whether the engine is part of any virtual engine.
    pub(in crate::submit) fn is_shared(&self) -> bool {
        self.parts.load(ordering::Acquire) != 0
    }

    fn level(&self) -> Level {
        Level::from_bits(self.level.load(ordering::Acquire))
    }

    fn set(&self, level: Level, contexts: usize) {
        let contexts = u32::try_from(contexts).unwrap_or(u32::MAX);
        self.contexts.store(contexts, ordering::Relaxed);
        // Ordered before the read of the waiting mask.
        self.level.xchg(level.into_bits(), ordering::Full);
    }
}

/// A context's work on its way from one engine to another.
struct Work {
    ring: Ring,
    last: Seqno,
    /// The tail of its ring, and the tail up to which it has run.
    tails: (RingOffset, RingOffset),
    flight: List<Request>,
    ready: List<Request>,
    /// Number of requests.
    count: u64,
    /// Number of requests with waiters.
    wanted: u32,
}

/// A blocked request of a virtual engine that becomes ready.
enum Released {
    /// It goes to another engine; whether it has waiters.
    Moves(ListArc<Request>, bool),
    /// It is not blocked here, this is its engine, which has queued it, or the engine is stopped,
    /// and it fails; whether anything was emitted.
    Stays(bool),
}

/// The device's exchange of work between engines.
#[pin_data]
pub(crate) struct Exchange {
    /// Whether there ever was a virtual engine.
    used: Atomic<bool>,
    /// Engines with movable waiting contexts, a bit each.
    waiting: Atomic<u32>,
    /// All engines, while the device is present.
    #[pin]
    engines: SpinLockIrq<KVec<Arc<Engine>>>,
}

impl Exchange {
    pub(in crate::submit) fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            used: Atomic::new(false),
            waiting: Atomic::new(0),
            engines <- new_spinlock_irq!(KVec::new(), "ouro_exchange"),
        })
    }

    /// Sets the engines. Process context.
    pub(in crate::submit) fn set_engines(&self, mut engines: KVec<Arc<Engine>>) {
        core::mem::swap(&mut *self.engines.lock(), &mut engines);
    }

    /// Waits until transfers under way have arrived: engines that are closed get no more.
    pub(crate) fn wait_for_transfers(&self) {
        drop(self.engines.lock());
    }

    /// A request of a virtual engine has no more dependencies to wait for. Returns whether
    /// [`Retirer::run_deferred`](super::super::Retirer::run_deferred) is to follow. Any context; no
    /// engine's lock is held.
    pub(in crate::submit) fn unblock(&self, siblings: &Siblings, tracker: &Tracker) -> bool {
        let _exchange = self.engines.lock();
        calm(siblings);
        let number = siblings.now();
        match tracker.engine().release_to(tracker, siblings, number) {
            Released::Moves(request, wanted) => siblings.at(number).take_in(request, wanted),
            Released::Stays(looked) => looked,
        }
    }

    /// Makes the transfers that are possible now. Returns whether followers are left for the
    /// worker. Any context; no engine's lock is held.
    pub(in crate::submit) fn run(&self, followers: &FollowerQueue, budget: &mut Budget) -> bool {
        let mut left = false;
        for _ in 0..MAX_ROUNDS {
            if self.waiting.load(ordering::Acquire) == 0 || !self.round() {
                break;
            }
            left |= followers.run(budget);
        }
        left
    }

    fn round(&self) -> bool {
        let mut any = false;
        for engine in self.engines.lock().iter() {
            if self.waiting.load(ordering::Acquire) & bit(engine) != 0 {
                any |= engine.find_taker().is_some_and(|(s, to)| transfer(&s, to));
            }
        }
        any
    }

    fn set_waiting(&self, engine: &Engine, waits: bool) {
        let mut all = self.waiting.load(ordering::Relaxed);
        loop {
            let new = if waits {
                all | bit(engine)
            } else {
                all & !bit(engine)
            };
            // Even if nothing changes: the store must be ordered before other engines are looked
            // at.
            match self.waiting.cmpxchg(all, new, ordering::Full) {
                Ok(_) => return,
                Err(now) => all = now,
            }
        }
    }
}

fn bit(engine: &Engine) -> u32 {
    1u32.wrapping_shl(engine.index() as u32)
}

/// If a virtual engine has no requests in flight, moves it to the engine with the fewest contexts.
/// The caller holds the exchange.
fn calm(siblings: &Siblings) {
    let now = siblings.now();
    // The current engine first: of equals it is preferred.
    let order = siblings.all().filter(|(n, _)| *n == now);
    let order = Iterator::chain(order, siblings.all().filter(|(n, _)| *n != now));
    let best = balance::calmest(order.map(|(number, engine)| {
        let load = &engine.load;
        (number, load.level(), load.contexts.load(ordering::Relaxed))
    }));
    if let Some(best) = best.filter(|best| *best != now) {
        if siblings.at(now).is_rid_of(siblings.seat(now)) {
            transfer(siblings, best);
        }
    }
}

/// Moves all work of a virtual engine to one of its engines. Returns whether that was possible. The
/// caller holds the exchange.
fn transfer(siblings: &Siblings, to: u32) -> bool {
    let (from, seat) = (siblings.at(siblings.now()), siblings.seat(siblings.now()));
    let taker = siblings.at(to);
    if !taker.announce() {
        return false;
    }
    let work = from.give_up(seat, siblings, to);
    let done = work.is_some();
    if done {
        siblings.set_now(to);
    }
    taker.arrive(siblings.seat(to), work);
    done
}

impl Queue {
    /// Returns whether contexts may come from other engines, or go to them.
    fn is_open(&self) -> bool {
        self.stopped.is_none() && !self.paused && !self.resetting
    }
}

impl Engine {
    /// Returns the device's exchange.
    pub(crate) fn exchange(&self) -> &Exchange {
        self.retirer.exchange()
    }

    /// Makes the engine part of a virtual engine: it publishes its load from now on, and its events
    /// interrupt until [`leave_part`](Self::leave_part).
    pub(in crate::submit) fn take_part(&self) {
        self.load.parts.fetch_add(1, ordering::Full);
        self.exchange().used.store(true, ordering::Release);
        let mut queue = self.queue.lock();
        if let Some(lists) = queue.lists() {
            lists.show(self);
        }
        self.pump(&mut queue);
        drop(queue);
        self.retirer.run_deferred();
    }

    /// Undoes [`take_part`](Self::take_part).
    pub(in crate::submit) fn leave_part(&self) {
        self.load.parts.fetch_sub(1, ordering::Full);
    }

    /// Announces a context that will arrive here. Returns false if the engine is closed.
    fn announce(&self) -> bool {
        let mut queue = self.queue.lock();
        let open = queue.is_open();
        queue.arriving += u32::from(open);
        open
    }

    /// Returns whether a context has no work here and the engine does not hold its image.
    fn is_rid_of(&self, seat: u32) -> bool {
        let mut queue = self.queue.lock();
        let open = queue.is_open();
        let Some((lists, at)) = queue.lists().zip(seat.checked_sub(1)) else {
            return false;
        };
        let active = lists.roster.has(Set::Active, at);
        let entity = lists.context(at).filter(|_| !active).map(|p| p.entity);
        open && entity.is_some_and(|entity| !lists.sched.is_held(entity))
    }

    /// Returns the most urgent waiting context that another engine would run at once, and the
    /// number of that engine. If there are many contexts, some of them are left to the next call.
    fn find_taker(&self) -> Option<(Arc<Siblings>, u32)> {
        let mut queue = self.queue.lock();
        if !queue.is_open() {
            return None;
        }
        let lists = queue.lists()?;
        let mut best: Option<(i32, Arc<Siblings>, u32)> = None;
        for _ in 0..lists.roster.len(Set::Roaming).min(MAX_LOOKS) {
            // The next call begins with those behind it: at the latest, the tick comes to each.
            let Some(at) = lists.roster.next_in_turn(Set::Roaming) else {
                break;
            };
            let Some((siblings, priority)) = lists.waits(at) else {
                continue;
            };
            let now = siblings.now();
            let others = siblings.all().filter(|(number, _)| *number != now);
            let taker = balance::taker(others.map(|(n, e)| (n, e.load.level())), priority);
            if let Some(to) = taker.filter(|_| best.as_ref().is_none_or(|(p, ..)| *p < priority)) {
                best = Some((priority, siblings.clone(), to));
            }
        }
        best.map(|(_, siblings, to)| (siblings, to))
    }

    /// Takes away all work of a context, for another engine. `None` if that is not possible.
    fn give_up(&self, seat: u32, siblings: &Siblings, to: u32) -> Option<Work> {
        let mut queue = self.queue.lock();
        if !queue.is_open() {
            return None;
        }
        let lists = queue.lists()?;
        let work = lists.give_up(seat.checked_sub(1)?, siblings, to)?;
        lists.show(self);
        queue.wanted = queue.wanted.saturating_sub(work.wanted);
        self.submitted.fetch_sub(work.count, ordering::Relaxed);
        Some(work)
    }

    /// Ends an announced transfer, with or without work. Any context.
    fn arrive(&self, seat: u32, work: Option<Work>) {
        let mut queue = self.queue.lock();
        queue.arriving -= 1;
        let Some(mut work) = work else {
            return;
        };
        self.submitted.fetch_add(work.count, ordering::Relaxed);
        queue.wanted += work.wanted;
        if work.wanted != 0 {
            self.arm(&mut queue.arming);
        }
        let open = queue.stopped.is_none();
        let lists = queue.lists().filter(|_| open);
        if !lists.is_some_and(|lists| lists.arrive(seat, &mut work)) {
            // The engine was stopped meanwhile. Do not signal the fences here.
            queue.failed.push_all_back(&mut work.flight);
            queue.failed.push_all_back(&mut work.ready);
            self.retirer.start_tick();
        }
        self.pump(&mut queue);
    }

    /// Takes a blocked request that is to go to another engine of its virtual engine.
    fn release_to(&self, tracker: &Tracker, siblings: &Siblings, to: u32) -> Released {
        let mut queue = self.queue.lock();
        // It is gone if the device is.
        let found = queue.blocked.remove(tracker);
        let Some(request) = found.and_then(|tracker| tracker.take_request()) else {
            return Released::Stays(false);
        };
        if tracker.number() == to || queue.stopped.is_some() {
            return Released::Stays(self.queue_unblocked(&mut queue, request));
        }
        let wanted = tracker.is_wanted();
        tracker.go_to(siblings, to);
        queue.wanted = queue.wanted.saturating_sub(wanted.into());
        self.submitted.fetch_sub(1, ordering::Relaxed);
        Released::Moves(request, wanted)
    }

    /// Queues a request that came from another engine of its virtual engine. Returns false if
    /// nothing was emitted.
    fn take_in(&self, request: ListArc<Request>, wanted: bool) -> bool {
        let mut queue = self.queue.lock();
        self.submitted.fetch_add(1, ordering::Relaxed);
        if wanted {
            queue.wanted += 1;
            self.arm(&mut queue.arming);
        }
        self.queue_unblocked(&mut queue, request)
    }
}

impl Lists {
    /// Returns an active context's engines and priority if it is a virtual engine's and waits. A
    /// context that is alone on the engine will run soon, and one whose completion was not retired
    /// yet may have no more work: these do not count as waiting.
    fn waits(&mut self, at: u32) -> Option<(&Arc<Siblings>, i32)> {
        let alone = self.roster.len(Set::Active) <= 1;
        let listed = self.contexts.get(at as usize)?.as_ref()?;
        let siblings = listed.siblings.as_ref().filter(|_| !alone)?;
        let waits = self.sched.waits(listed.entity) && listed.may_leave();
        waits.then_some((siblings, listed.priority()))
    }

    /// Returns whether a context could run elsewhere; also if that is not known, because there are
    /// many.
    fn any_waits(&mut self) -> bool {
        if self.roster.len(Set::Roaming) > MAX_LOOKS {
            return true;
        }
        let mut next = self.roster.first(Set::Roaming);
        while let Some(at) = next {
            if self.waits(at).is_some() {
                return true;
            }
            next = self.roster.after(Set::Roaming, at);
        }
        false
    }

    /// Returns the engine's load. Contexts that have completed count until they are retired.
    fn level(&mut self) -> Level {
        let runnable = self.sched.most_urgent();
        let listed = self.roster.iter(Set::Listed);
        let active = listed.filter(|at| self.roster.has(Set::Active, *at));
        let active = active.filter_map(|at| self.contexts.get(at as usize)?.as_ref());
        match runnable.max(active.map(ListedContext::priority).max()) {
            _ if self.broken => Level::Closed,
            Some(priority) => Level::Busy(priority),
            None if self.is_idle() => Level::Free,
            // Nothing is emitted for now.
            None => Level::Busy(i32::MIN),
        }
    }

    /// Publishes the engine's load, and whether a waiting context could run elsewhere.
    pub(in crate::submit) fn show(&mut self, engine: &Engine) {
        let exchange = engine.exchange();
        if !exchange.used.load(ordering::Acquire) {
            return;
        }
        let level = self.level();
        engine.load.set(level, self.roster.len(Set::Active));
        let waits = self.any_waits();
        exchange.set_waiting(engine, waits);
    }

    /// Takes away all work of a context. `None` if the engine holds its image, or it is about to
    /// end here.
    fn give_up(&mut self, at: u32, siblings: &Siblings, to: u32) -> Option<Work> {
        let now = time::monotonic_ns();
        let listed = self.contexts.get_mut(at as usize)?.as_mut()?;
        if self.sched.is_held(listed.entity) || !listed.may_leave() {
            return None;
        }
        let mut work = Work {
            ring: listed.ring,
            last: listed.last,
            tails: self.sched.take_work(listed.entity, now),
            flight: List::new(),
            ready: List::new(),
            count: 0,
            wanted: 0,
        };
        work.flight.push_all_back(&mut listed.flight);
        work.ready.push_all_back(&mut listed.ready);
        for request in Iterator::chain(work.flight.iter(), work.ready.iter()) {
            work.count += 1;
            // From here on, waiters are counted on the other engine.
            work.wanted += u32::from(request.tracker.is_wanted());
            request.tracker.go_to(siblings, to);
        }
        if listed.lifted.take().is_some() {
            self.sched.inherit(listed.entity, None, now);
        }
        self.deactivate(at);
        self.sort(at);
        Some(work)
    }

    /// Gives a context its work on this engine. Returns false if it has no seat here.
    fn arrive(&mut self, seat: u32, work: &mut Work) -> bool {
        let now = time::monotonic_ns();
        let at = seat.wrapping_sub(1);
        let Some(listed) = self.contexts.get_mut(at as usize).and_then(|p| p.as_mut()) else {
            return false;
        };
        listed.ring = work.ring;
        listed.last = work.last;
        let entity = listed.entity;
        for request in work.flight.iter() {
            let number = self.take_number();
            request.emitted.set_number(number);
        }
        let Some(listed) = self.context(at) else {
            return false;
        };
        listed.flight.push_all_back(&mut work.flight);
        listed.ready.push_all_back(&mut work.ready);
        let full = !listed.ready.is_empty();
        let pressed = listed.is_pressed();
        if full {
            self.roster.join(Set::Ready, at);
        }
        if pressed {
            self.roster.join(Set::Pressed, at);
        }
        self.sort(at);
        self.sched.give_work(entity, work.tails, now);
        self.set_full(at, full);
        if work.count != 0 {
            self.activate(at);
            self.rank(at, now);
        }
        true
    }
}

impl ListedContext {
    /// Returns its effective priority.
    fn priority(&self) -> i32 {
        self.lifted.map_or(self.own, |lifted| lifted.max(self.own))
    }

    /// Returns whether it may move to another engine, if this one does not hold its image.
    fn may_leave(&self) -> bool {
        self.cancelled == Cancelled::No && !self.is_first_done()
    }
}
