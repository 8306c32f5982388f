// SPDX-License-Identifier: GPL-2.0

//! The port of an execlist engine.
//!
//! Each context that was used on the engine is kept here, with a ring of its own. Ready requests
//! are emitted into the ring of their context at once, as far as there is room; the scheduler
//! ([`ouro_core::sched`]) decides which contexts are loaded. The engine's context switch events are
//! read from its status page ([`reports`](super::reports)): in the interrupt, at each submission,
//! and by the tick.
//!
//! The lock of the queue keeps interrupts disabled, and a client may have thousands of contexts. So
//! each look visits only contexts with something new, which are in sets of their own
//! ([`ouro_core::roster`]).
//!
//! A context has one ring, status page and image for all engines that it is known to
//! ([`balanced`]). Therefore a request has two seqnos, both assigned at emission: one is stored in
//! the context's status page, follows that of the context's last request, and moves along to
//! another engine; the other gives its order among the requests of its engine.

pub(crate) mod balance;
pub(crate) mod balanced;
mod cancel;
mod emit;
mod fill;
pub(crate) mod inherit;
pub(crate) mod logical_ring;
mod reports;
mod seats;
mod slice;

use kernel::{
    list::{List, ListArc},
    prelude::*,
    sync::{atomic::ordering, Arc, ArcBorrow},
};
use ouro_core::{
    events::Events,
    roster::{self, Roster, Set, Slot},
    sched::{self, Client, Item, Policy, Scheduler},
};
use ouro_hw::{
    engine::{EventArea, Submission},
    ring::Ring,
    types::Seqno,
};
use ouro_kernel::mmio;

use self::{balanced::Siblings, cancel::Cancelled, logical_ring::LogicalRing};
use super::{
    engine::{Arming, MAX_EMIT},
    request::Request,
    Engine,
};
use crate::{hardware::Waits, report::Words};

/// Nanoseconds in a millisecond.
const MS: u64 = 1_000_000;
/// Timeslice in milliseconds, by default: how long a context runs while another one of its priority
/// waits.
pub(crate) const SLICE_MS: u32 = 5;
/// Scheduling parameters, in nanoseconds.
const POLICY: Policy = Policy {
    slice: SLICE_MS as u64 * MS,
    patience: 500 * MS,
    pause: 100 * MS,
    credit: 20 * MS,
};

/// Most nanoseconds that are charged at once to the context that has the engine: a few ticks. A
/// longer gap means that the engine was idle in between, or that another task had the processor.
const MAX_PASSED: u64 = 200 * MS;

/// The scheduler's arena.
pub(in crate::submit) struct Items(pub(in crate::submit) KVVec<Item>);

impl sched::Arena for Items {
    fn items(&self) -> &[Item] {
        &self.0
    }

    fn items_mut(&mut self) -> &mut [Item] {
        &mut self.0
    }
}

/// The roster's arena.
pub(in crate::submit) struct Slots(pub(in crate::submit) KVVec<Slot>);

impl roster::Arena for Slots {
    fn slots(&self) -> &[Slot] {
        &self.0
    }

    fn slots_mut(&mut self) -> &mut [Slot] {
        &mut self.0
    }
}

/// A context on an execlist engine, and its requests there.
pub(in crate::submit) struct ListedContext {
    pub(in crate::submit) logical_ring: Arc<LogicalRing>,
    pub(in crate::submit) entity: sched::Entity,
    /// Identifies the client that holds the context.
    pub(in crate::submit) holder: usize,
    /// The engines of the virtual engine that the context belongs to, while the context exists.
    pub(in crate::submit) siblings: Option<Arc<Siblings>>,
    pub(in crate::submit) ring: Ring,
    /// The seqno of the last request emitted, as the status page stores it.
    pub(in crate::submit) last: Seqno,
    /// Requests that are ready, but have no room in the ring.
    pub(in crate::submit) ready: List<Request>,
    /// Requests in the ring, in order.
    pub(in crate::submit) flight: List<Request>,
    /// The context's own priority, as last passed to the scheduler.
    pub(in crate::submit) own: i32,
    /// The priority that it inherits from waiters, as last passed to the scheduler.
    pub(in crate::submit) lifted: Option<i32>,
    /// Whether the image changed since the engine loaded it, because the engine was reset.
    pub(in crate::submit) stale: bool,
    /// Whether the context is being cancelled.
    pub(in crate::submit) cancelled: Cancelled,
}

impl ListedContext {
    /// Frees room of completed requests if needed. Returns whether one of `most` dwords fits.
    fn reclaim_room(&mut self, most: usize) -> bool {
        // The padding before a wrap is shorter than the commands that cause it.
        let bytes = most * 8;
        if self.ring.space() as usize >= bytes {
            return true;
        }
        let done = self.flight.iter().take_while(|r| r.tracker.is_done());
        if let Some(last) = done.last() {
            self.ring.retire(last.emitted.tail());
        }
        self.ring.space() as usize >= bytes
    }

    /// Returns whether its first request has completed and is not retired yet.
    pub(in crate::submit) fn is_first_done(&self) -> bool {
        let first = self.flight.iter().next().and_then(|r| r.tracker.seqno());
        first.is_some_and(|seqno| self.logical_ring.line().progress().passed(seqno))
    }
}

/// A client of the scheduler: all contexts of one file share its time.
#[derive(Clone, Copy)]
pub(in crate::submit) struct Party {
    pub(in crate::submit) holder: usize,
    pub(in crate::submit) client: Client,
    /// Number of its contexts on this engine.
    pub(in crate::submit) contexts: u32,
}

/// The port of an execlist engine.
pub(in crate::submit) struct Lists {
    pub(in crate::submit) sched: Scheduler<Items>,
    /// The contexts by their state.
    pub(in crate::submit) roster: Roster<Slots>,
    /// Contexts by id less one.
    pub(in crate::submit) contexts: KVVec<Option<ListedContext>>,
    // Each of these has capacity for all contexts.
    pub(in crate::submit) parties: KVVec<Party>,
    pub(in crate::submit) free: KVVec<u32>,
    /// Contexts that are destroyed, but that the engine still holds.
    pub(in crate::submit) leaving: KVVec<u32>,
    /// Logical rings of removed contexts, to be dropped in process context.
    pub(in crate::submit) gone: KVVec<Arc<LogicalRing>>,
    /// The reader of the context status buffer; `None` before its place is known.
    pub(in crate::submit) events: Option<Events>,
    /// The engine seqno of the last request emitted, continued beyond 32 bits.
    last: u64,
    /// The time, in nanoseconds, up to which the running context has been charged.
    counted: u64,
    /// The engine's events contradict what it was given; it needs a reset.
    pub(in crate::submit) broken: bool,
    /// The golden image, and a buffer of its size.
    pub(in crate::submit) golden: KVVec<u32>,
    pub(in crate::submit) buffer: KVVec<u32>,
    /// Where a request's commands are put together.
    commands: KBox<[u32; MAX_EMIT]>,
}

impl Lists {
    /// Creates a port for lists of `depth` entries. Errors: `ENOMEM`.
    pub(in crate::submit) fn new(depth: u8, area: EventArea) -> Result<Self> {
        let items = Items(KVVec::new());
        Ok(Self {
            sched: Scheduler::new(items, depth, area.entries, POLICY),
            roster: Roster::new(Slots(KVVec::new())),
            contexts: KVVec::new(),
            parties: KVVec::new(),
            free: KVVec::new(),
            leaving: KVVec::new(),
            gone: KVVec::new(),
            events: None,
            last: 0,
            counted: 0,
            broken: false,
            golden: KVVec::new(),
            buffer: KVVec::new(),
            commands: KBox::new([0; MAX_EMIT], GFP_KERNEL)?,
        })
    }

    pub(in crate::submit) fn context(&mut self, at: u32) -> Option<&mut ListedContext> {
        self.contexts.get_mut(at as usize)?.as_mut()
    }

    /// Returns the context of an index.
    fn listed(&self, at: u32) -> Option<&ListedContext> {
        self.contexts.get(at as usize)?.as_ref()
    }

    /// Returns the contexts that were in a load since their completed requests were last retired.
    fn loaded(&self) -> impl Iterator<Item = &ListedContext> {
        self.roster
            .iter(Set::Listed)
            .filter_map(|at| self.listed(at))
    }

    /// Returns the running context, or, if none is known to run, the one that waited first.
    pub(in crate::submit) fn running(&self) -> Option<&ListedContext> {
        let busy = |listed: &&ListedContext| !listed.flight.is_empty();
        let running = self.sched.port().running_id();
        running
            .and_then(|id| self.listed(id.checked_sub(1)?))
            .filter(busy)
            .or_else(|| self.loaded().find(busy))
            .or_else(|| self.listed(self.roster.oldest()?))
    }

    /// Charges the time since the last call to the context that has the engine. Must be called
    /// often, and before the running context changes.
    pub(in crate::submit) fn count(&mut self, now: u64) {
        let passed = now.saturating_sub(self.counted);
        self.counted = self.counted.max(now);
        if let Some(first) = self.first().filter(|_| passed != 0) {
            let ran = first.emitted.ran();
            first.emitted.set_ran(ran + passed.min(MAX_PASSED));
        }
    }

    /// Returns the oldest request of the running context.
    pub(in crate::submit) fn first(&self) -> Option<ArcBorrow<'_, Request>> {
        self.running()?.flight.iter().next()
    }

    /// Returns the oldest request of each context.
    pub(in crate::submit) fn firsts(&self) -> impl Iterator<Item = ArcBorrow<'_, Request>> {
        let contexts = self.roster.iter(Set::Active);
        let contexts = contexts.filter_map(|at| self.listed(at));
        contexts.filter_map(|listed| listed.flight.iter().next())
    }

    /// Returns whether no request is in flight: each one emitted is retired.
    pub(in crate::submit) fn is_quiet(&self) -> bool {
        let done = self.roster.is_empty(Set::Done);
        done && self.roster.oldest().is_none() && self.loaded().all(|p| p.flight.is_empty())
    }

    /// Returns whether there are no requests.
    pub(in crate::submit) fn is_idle(&self) -> bool {
        self.roster.is_empty(Set::Active)
    }

    /// Returns whether requests wait for room in a ring.
    pub(in crate::submit) fn wants_room(&self) -> bool {
        !self.roster.is_empty(Set::Full)
    }

    /// Returns the engine seqno of the last request emitted.
    pub(in crate::submit) fn last(&self) -> Seqno {
        Seqno(self.last as u32)
    }

    /// Returns the engine seqno up to which all requests have completed, or moved to another
    /// engine.
    pub(in crate::submit) fn progress(&self) -> Seqno {
        let mut least = self.last();
        let mut before = |request: ArcBorrow<'_, Request>| {
            let before = Seqno(request.number().0.wrapping_sub(1));
            if least.passed(before) {
                least = before;
            }
        };
        // No others can have completed requests.
        for listed in self.loaded() {
            let unfinished = listed.flight.iter().find(|r| !r.tracker.is_done());
            unfinished.into_iter().for_each(&mut before);
        }
        let oldest = self.roster.oldest().and_then(|at| self.listed(at));
        let oldest = oldest.and_then(|listed| listed.flight.iter().next());
        oldest.into_iter().for_each(&mut before);
        least
    }

    /// Queues a ready request. Gives it back if its context is not on this engine.
    pub(in crate::submit) fn push(
        &mut self,
        request: ListArc<Request>,
    ) -> Result<(), ListArc<Request>> {
        let at = request.seat().and_then(|id| id.checked_sub(1));
        let Some(at) = at.filter(|at| self.context(*at).is_some()) else {
            return Err(request);
        };
        self.raise(at, request.tracker.urgency.rank());
        self.note_pressed(at, &request.tracker);
        if let Some(listed) = self.context(at) {
            listed.ready.push_back(request);
        }
        self.roster.join(Set::Ready, at);
        self.activate(at);
        Ok(())
    }

    /// Retires completed requests: passes each to `each`.
    fn collect(&mut self, now: u64, mut each: impl FnMut(ListArc<Request>)) {
        while let Some(at) = self.roster.first(Set::Done) {
            self.roster.leave(Set::Done, at);
            self.roster.join(Set::Listed, at);
        }
        let mut next = self.roster.first(Set::Listed);
        while let Some(at) = next {
            next = self.roster.after(Set::Listed, at);
            let Some(listed) = self.contexts.get_mut(at as usize).and_then(|p| p.as_mut()) else {
                continue;
            };
            let entity = listed.entity;
            let progress = listed.logical_ring.line().progress();
            let mut tail = None;
            let mut falls = false;
            let mut own = None;
            while let Some(first) = listed.flight.iter().next() {
                if !first.tracker.seqno().is_some_and(|s| progress.passed(s)) {
                    break;
                }
                let Some(request) = listed.flight.pop_front() else {
                    break;
                };
                tail = Some(request.emitted.tail());
                let rank = request.tracker.urgency.rank();
                falls |= listed.lifted.is_some() && rank.lifted == listed.lifted;
                own = own.max(Some(rank.own));
                each(request);
            }
            if let Some(tail) = tail {
                listed.ring.retire(tail);
                self.sched.completed(entity, tail, now);
                if !listed.ready.is_empty() {
                    self.roster.join(Set::Ready, at);
                }
            }
            // If the next request has another priority, all have to be compared.
            falls |= own == Some(listed.own) && listed.first_own().is_some_and(|o| o != listed.own);
            if listed.flight.is_empty() && listed.ready.is_empty() {
                falls |= listed.lifted.is_some();
                self.deactivate(at);
            }
            // If the engine does not hold it, all that it has run was seen above.
            if !self.sched.is_held(entity) {
                self.roster.leave(Set::Listed, at);
                self.sort(at);
            }
            if falls {
                self.rank(at, now);
            }
        }
    }

    /// Reports the contexts' progress to the scheduler, which would otherwise list completed
    /// contexts again. Returns whether completed requests must be retired before the next load: one
    /// of them has a waiter of higher priority, which comes next; or the ring of a context ran
    /// empty while requests wait for room in it.
    fn tell(&mut self, engine: &Engine, now: u64) -> bool {
        let mut first = false;
        let mut done = 0;
        let mut next = self.roster.first(Set::Listed);
        while let Some(at) = next {
            next = self.roster.after(Set::Listed, at);
            let Some(listed) = self.contexts.get(at as usize).and_then(|p| p.as_ref()) else {
                continue;
            };
            let progress = listed.logical_ring.line().progress();
            let mut tail = None;
            let mut left = false;
            let mut waited = false;
            for request in listed.flight.iter() {
                if !request.tracker.seqno().is_some_and(|s| progress.passed(s)) {
                    left = true;
                    break;
                }
                done += 1;
                tail = Some(request.emitted.tail());
                waited |= request.tracker.urgency.lifted().is_some();
            }
            let Some(tail) = tail else { continue };
            self.sched.completed(listed.entity, tail, now);
            waited |= !left && self.roster.has(Set::Full, at);
            first |= waited;
            // Nothing more is to be seen here before it is retired.
            if !left && !waited && !self.sched.is_held(listed.entity) {
                self.roster.leave(Set::Listed, at);
                self.roster.join(Set::Done, at);
            }
        }
        let done = done + self.roster.len(Set::Done) as u32;
        engine.unretired.store(done, ordering::Relaxed);
        first
    }

    /// Removes destroyed contexts that the engine does not hold any more.
    fn release(&mut self) {
        let mut n = 0;
        while let Some(at) = self.leaving.get(n).copied() {
            if !self.remove(at) {
                n += 1;
                continue;
            }
            let other = self.leaving.pop();
            if let (Some(slot), Some(other)) = (self.leaving.get_mut(n), other) {
                *slot = other;
            }
        }
    }

    /// Removes a destroyed context. Returns false if the engine holds it.
    pub(in crate::submit) fn remove(&mut self, at: u32) -> bool {
        let Some(slot) = self.contexts.get_mut(at as usize) else {
            return true;
        };
        let Some(listed) = slot else {
            return true;
        };
        let active = self.roster.has(Set::Active, at);
        if active || !self.sched.remove_entity(listed.entity) {
            return false;
        }
        self.roster.clear(at);
        if let Some(listed) = slot.take() {
            self.leave(listed.holder);
            // There is capacity.
            drop(self.gone.push_within_capacity(listed.logical_ring));
            drop(self.free.push_within_capacity(at));
        }
        true
    }

    /// Loads the contexts that should run. Before that, disarms the context switch interrupt if no
    /// other load has to follow this one.
    fn schedule(&mut self, engine: &Engine, arming: &mut Arming, now: u64) {
        let Some(load) = self.sched.schedule(now) else {
            return;
        };
        if arming.switches && !self.needs_event(engine) {
            engine.disarm_switches(arming);
        }
        for at in load.ids().iter().filter_map(|id| id.checked_sub(1)) {
            self.roster.join(Set::Listed, at);
            self.roster.set_oldest(at, None);
        }
        let listed = |id: &u32| self.contexts.get(id.checked_sub(1)? as usize)?.as_ref();
        let tails = || {
            for (entry, id) in load.entries().iter().zip(load.ids()) {
                if let Some(listed) = listed(id) {
                    listed.logical_ring.set_tail(entry.tail);
                }
            }
            // Order the commands, and the tails in the images, before the load.
            mmio::wmb();
        };
        engine.port_writes.fetch_add(1, ordering::Relaxed);
        let what = Submission::List {
            entries: load.entries(),
            tails: &tails,
        };
        let done = engine
            .hardware
            .with_gt(|hw, gt| engine.hw.submit(hw, gt, what, &Waits));
        if let Err(error) = done {
            let id = engine.hw.desc().id;
            dev_err!(
                engine.hardware.dev(),
                "{}: execlist not submitted: {}\n",
                Words(id),
                Words(error)
            );
        }
    }

    /// Emits ready requests, as far as there is room; `now` is the time. Returns whether some are
    /// left for another call.
    pub(in crate::submit) fn emit(
        &mut self,
        engine: &Engine,
        arming: &mut Arming,
        now: u64,
        failed: &mut List<Request>,
    ) -> bool {
        let left = self.fill(engine, now, failed);
        if self.wants_room() {
            engine.arm(arming);
        }
        left
    }

    /// Reads events, and loads the contexts that should run next; `now` is the time. Arms the
    /// context switch interrupt if the next event must be seen at once.
    pub(in crate::submit) fn go_on(&mut self, engine: &Engine, arming: &mut Arming, now: u64) {
        self.next_load(engine, arming, now);
        if self.needs_event(engine) && engine.arm_switches(arming) {
            // Events before that do not interrupt.
            self.next_load(engine, arming, now);
        }
        self.show(engine);
    }

    fn next_load(&mut self, engine: &Engine, arming: &mut Arming, now: u64) {
        self.listen(engine, now);
        let first = self.tell(engine, now);
        self.release();
        // Completed requests must be retired first. The fence's waiter has armed the interrupt,
        // which will do it.
        if !self.broken && !first {
            self.schedule(engine, arming, now);
            if let Some(then) = self.sched.next(now) {
                engine.retirer.run_schedulers_in(then.saturating_sub(now));
            }
        }
    }

    /// Returns whether the engine's next event must be seen at once: a context is to be loaded
    /// then, or released, or other engines may hand over work when this one is free.
    pub(in crate::submit) fn needs_event(&mut self, engine: &Engine) -> bool {
        let may_release = !self.leaving.is_empty();
        may_release || engine.load.is_shared() || self.sched.needs_event()
    }

    /// Retires completed requests: passes each to `each`, in the order of each context.
    pub(in crate::submit) fn advance(
        &mut self,
        engine: &Engine,
        now: u64,
        each: impl FnMut(ListArc<Request>),
    ) {
        self.listen(engine, now);
        self.collect(now, each);
    }
}
