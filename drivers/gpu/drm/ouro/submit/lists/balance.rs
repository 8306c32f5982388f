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
use ouro_core::balance::{self, Level};
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
    pub(crate) fn settle(&self) {
        drop(self.engines.lock());
    }

    /// A request of a virtual engine has no more dependencies to wait for. Any context; no engine's
    /// lock is held.
    pub(in crate::submit) fn unblock(&self, siblings: &Siblings, tracker: &Tracker) {
        let _exchange = self.engines.lock();
        calm(siblings);
        let number = siblings.now();
        if let Some((request, wanted)) = tracker.engine().release_to(tracker, siblings, number) {
            siblings.at(number).take_in(request, wanted);
        }
    }

    /// Makes the transfers that are possible now. Any context; no engine's lock is held.
    pub(in crate::submit) fn run(&self, followers: &FollowerQueue) {
        for _ in 0..MAX_ROUNDS {
            if self.waiting.load(ordering::Acquire) == 0 || !self.round() {
                return;
            }
            followers.run();
        }
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
        self.retirer.pass_on();
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
        let entity = lists.context(at).filter(|p| !p.active).map(|p| p.entity);
        open && entity.is_some_and(|entity| !lists.sched.is_held(entity))
    }

    /// Returns the most urgent waiting context that another engine would run at once, and the
    /// number of that engine.
    fn find_taker(&self) -> Option<(Arc<Siblings>, u32)> {
        let mut queue = self.queue.lock();
        if !queue.is_open() {
            return None;
        }
        let lists = queue.lists()?;
        let mut best: Option<(i32, Arc<Siblings>, u32)> = None;
        for n in 0..lists.active.len() {
            let Some((siblings, priority)) = lists.waits(n) else {
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
            self.retirer.wind();
        }
        self.pump(&mut queue);
    }

    /// Takes a blocked request that is to go to another engine of its virtual engine; returns
    /// whether it has waiters, too. `None` if it is not blocked here, if this is its engine (which
    /// queues it), or if the engine is stopped (and it fails).
    fn release_to(
        &self,
        tracker: &Tracker,
        siblings: &Siblings,
        to: u32,
    ) -> Option<(ListArc<Request>, bool)> {
        let mut queue = self.queue.lock();
        // It is gone if the device is.
        let request = queue.blocked.remove(tracker)?.take_request()?;
        if tracker.number() == to || queue.stopped.is_some() {
            self.is_ready(&mut queue, request);
            return None;
        }
        let wanted = tracker.is_wanted();
        tracker.go_to(siblings, to);
        queue.wanted = queue.wanted.saturating_sub(wanted.into());
        self.submitted.fetch_sub(1, ordering::Relaxed);
        Some((request, wanted))
    }

    /// Queues a request that came from another engine of its virtual engine.
    fn take_in(&self, request: ListArc<Request>, wanted: bool) {
        let mut queue = self.queue.lock();
        self.submitted.fetch_add(1, ordering::Relaxed);
        if wanted {
            queue.wanted += 1;
            self.arm(&mut queue.arming);
        }
        self.is_ready(&mut queue, request);
    }
}

impl Lists {
    /// Returns the n-th active context and its priority if it is a virtual engine's and waits. A
    /// context that is alone on the engine will run soon, and one whose completion was not retired
    /// yet may have no more work: these do not count as waiting.
    fn waits(&mut self, n: usize) -> Option<(&Arc<Siblings>, i32)> {
        let at = *self.active.get(n)? as usize;
        let listed = self.contexts.get(at)?.as_ref()?;
        let siblings = listed.siblings.as_ref().filter(|_| self.active.len() > 1)?;
        let waits = self.sched.waits(listed.entity) && listed.may_leave();
        waits.then_some((siblings, listed.priority()))
    }

    /// Publishes the engine's load, and whether a waiting context could run elsewhere.
    pub(in crate::submit) fn show(&mut self, engine: &Engine) {
        let exchange = engine.exchange();
        if !exchange.used.load(ordering::Acquire) {
            return;
        }
        let contexts = self.active.iter();
        let contexts = contexts.filter_map(|at| self.contexts.get(*at as usize)?.as_ref());
        let level = match contexts.map(ListedContext::priority).max() {
            _ if self.broken => Level::Closed,
            Some(priority) => Level::Busy(priority),
            None => Level::Free,
        };
        engine.load.set(level, self.active.len());
        let waits = (0..self.active.len()).any(|n| self.waits(n).is_some());
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
        listed.full = false;
        if listed.lifted.take().is_some() {
            self.sched.inherit(listed.entity, None, now);
        }
        if core::mem::take(&mut listed.active) {
            if let Some(n) = self.active.iter().position(|other| *other == at) {
                self.pass_over(n);
            }
        }
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
        for request in work.flight.iter() {
            self.last = self.last.next();
            request.emitted.set_number(self.last);
        }
        listed.flight.push_all_back(&mut work.flight);
        listed.ready.push_all_back(&mut work.ready);
        listed.full = !listed.ready.is_empty();
        let (entity, full) = (listed.entity, listed.full);
        self.sched.give_work(entity, work.tails, now);
        self.sched.set_full(entity, full);
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
