// SPDX-License-Identifier: GPL-2.0

//! Requests of an engine that is reset or stopped.
//!
//! Emitted requests that have not completed go back to the front of the ready queue, in order, and
//! are emitted again: a request lives until it is retired, and nothing of it exists in the ring
//! alone. A request that hung keeps its place without its batch, and its fence gets an error. On
//! execlist engines, only the requests of the running context go back; the rings and images of
//! other contexts are intact.
//!
//! The contexts that an engine had loaded are released by the caller when it holds no lock: their
//! memory is freed under locks that a reset must not wait for.

use core::mem;
use kernel::{
    list::{List, ListArc},
    prelude::*,
    sync::{atomic::ordering, Arc, ArcBorrow},
};
use ouro_core::{hang::is_overdue, roster::Set};
use ouro_hw::types::{RingOffset, Seqno};
use ouro_kernel::time;

use super::{
    engine::Queue, in_use::InUse, lists::Lists, port::Port, request::Work, Context, Engine, Request,
};

/// The requests that were on an engine when it was reset.
pub(crate) struct Lost {
    /// The engine seqno of the first of `requests`.
    pub(crate) oldest: Option<Seqno>,
    /// The engine seqno of the guilty request, if it has not completed: it comes first.
    pub(crate) suspect: Option<Seqno>,
    /// The requests, in order.
    requests: List<Request>,
    /// The context that the engine had loaded.
    loaded: Option<InUse>,
}

impl Lost {
    pub(crate) fn new() -> Self {
        Self {
            oldest: None,
            suspect: None,
            requests: List::new(),
            loaded: None,
        }
    }

    /// Returns the context of the first request.
    pub(crate) fn context(&self) -> Option<Arc<Context>> {
        let first = self.requests.iter().next()?;
        first.context.as_ref().map(|c| c.context().clone())
    }

    /// Marks the first request as lost, so that it is not run again. A request of the kernel's own
    /// is run again, unless it `hangs` for the second time, since others depend on it.
    ///
    /// Returns whether the request is a move that is lost: requests after it would find another
    /// client's data at the destination.
    pub(crate) fn give_up_first(&self, hangs: bool) -> bool {
        let Some(request) = self.requests.iter().next() else {
            return false;
        };
        let holder = request.context.as_ref().and_then(|c| c.holder());
        let lost = request.emitted.give_up(holder.is_some(), hangs);
        lost && matches!(request.work, Work::Copy(_) | Work::Fill(_))
    }

    /// Leaves the context that the engine had loaded to the first request that can keep it, which
    /// the retirer drops: a reset must not wait for the locks that the last reference takes.
    /// Without requests the context is left here.
    fn leave_loaded(&mut self) {
        for request in self.requests.iter() {
            let mut place = request.unloaded.lock();
            if place.is_none() {
                *place = self.loaded.take();
                break;
            }
        }
    }

    /// Takes the context that the engine had loaded, to be dropped in process context without
    /// locks.
    pub(crate) fn take_loaded(&mut self) -> Option<InUse> {
        self.loaded.take()
    }
}

/// The request that an engine works on.
#[derive(Clone, Copy)]
pub(crate) struct Oldest {
    /// Its engine seqno.
    pub(crate) number: Seqno,
    /// Whether its context was revoked.
    pub(crate) revoked: bool,
    /// Nanoseconds that it has run, if other contexts have run in between.
    pub(crate) ran: u64,
    /// Whether it must end within its limit, even if the engine answers a preemption probe.
    pub(crate) ends: bool,
    /// Since when the engine owes the acknowledgement of a load, in nanoseconds.
    pub(crate) owes: Option<u64>,
}

/// Whether a request exceeds its context's watchdog limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// There is no limit, or no request.
    Never,
    /// It has time left.
    NotYet,
    /// It exceeds the limit. Its engine seqno.
    Now(Seqno),
}

impl Engine {
    /// Returns whether the current request exceeds its watchdog limit at `now`, in nanoseconds, by
    /// the CPU's clock: the watchdog's may differ. The caller has retired completed requests. Any
    /// context.
    pub(crate) fn overdue(&self, now: u64) -> Overdue {
        let queue = self.queue.lock();
        let Some(first) = queue.port.first() else {
            return Overdue::Never;
        };
        let emitted = &first.emitted;
        let Some(micros) = emitted.watched() else {
            return Overdue::Never;
        };
        match is_overdue(now, emitted.at(), queue.last_done, micros) {
            true => Overdue::Now(emitted.number()),
            false => Overdue::NotYet,
        }
    }

    /// Returns for how many nanoseconds the oldest request has run at `now`; 0 if there is none.
    /// Any context.
    pub(crate) fn ran(&self, now: u64) -> u64 {
        let queue = self.queue.lock();
        let Some(first) = queue.port.first() else {
            return 0;
        };
        let emitted = &first.emitted;
        match &queue.port {
            // Other contexts may have run in between.
            Port::Lists(_) => emitted.ran(),
            _ => now.saturating_sub(emitted.at().max(queue.last_done)),
        }
    }

    /// The tick sees the oldest request that is emitted and not retired, and returns it. If it must
    /// end from now on, what it has run before does not count. `probes`: the engine is sent
    /// preemption probes. Any context.
    pub(crate) fn see_oldest(&self, probes: bool) -> Option<Oldest> {
        let mut queue = self.queue.lock();
        let (pressed, owes) = match &mut queue.port {
            Port::Lists(lists) => (lists.is_pressed(), lists.sched.owed()),
            _ => (false, None),
        };
        let first = queue.port.first()?;
        let revoked = first.context.as_ref().is_some_and(|c| c.is_revoked());
        let ends = pressed && !revoked;
        Some(Oldest {
            number: first.number(),
            revoked,
            ran: first.emitted.seen(ends),
            ends: ends && probes,
            owes,
        })
    }

    /// Returns whether what it works on must end within a limit, for a request in its ring or
    /// behind its execlist. Any context.
    pub(crate) fn is_pressed(&self) -> bool {
        let mut queue = self.queue.lock();
        match &mut queue.port {
            Port::Lists(lists) => lists.is_pressed(),
            Port::Ring(ring) => {
                // A full ring keeps the others out.
                let mut all = Iterator::chain(ring.flight.iter(), ring.ready.iter());
                all.any(|r| r.tracker.urgency.is_pressed())
            }
        }
    }

    /// Charges the running context for its time, on execlist engines. To be called often.
    pub(crate) fn count(&self, now: u64) {
        if let Port::Lists(lists) = &mut self.queue.lock().port {
            lists.count(now);
        }
    }

    /// Hangcheck does not watch its contexts any more: see [`Context::unwatch`]. Any context.
    pub(crate) fn unwatch(&self) {
        let queue = self.queue.lock();
        let context = |request: ArcBorrow<'_, Request>| {
            if let Some(context) = request.context.as_ref() {
                context.unwatch();
            }
        };
        match &queue.port {
            Port::Lists(lists) => lists.firsts().for_each(context),
            port => port.first().into_iter().for_each(context),
        }
    }

    /// Sends a preemption probe, on execlist engines. The running request gets the whole limit
    /// again.
    pub(crate) fn send_probe(&self) {
        let mut queue = self.queue.lock();
        if let Port::Lists(lists) = &mut queue.port {
            if let Some(first) = lists.first() {
                first.emitted.set_ran(0);
            }
        }
        self.probe(&mut queue);
    }

    /// Has the engine save what it runs, if freed memory waits for that: by a preemption probe,
    /// which leaves the running request's limit as it is.
    pub(crate) fn save_for_memory(&self) {
        if self.delays_memory.load(ordering::Relaxed) {
            self.probe(&mut self.queue.lock());
        }
    }

    fn probe(&self, queue: &mut Queue) {
        let held = queue.resetting || queue.stopped.is_some() || queue.signalling != 0;
        let Queue { port, arming, .. } = queue;
        if let Port::Lists(lists) = port {
            lists.sched.request_probe();
            if !held {
                lists.go_on(self, arming, time::monotonic_ns());
            }
        }
    }

    /// Returns the oldest request that is emitted and not retired. To be dropped in process
    /// context, without locks.
    pub(crate) fn first(&self) -> Option<Arc<Request>> {
        let queue = self.queue.lock();
        let first = queue.port.first()?;
        Some(first.into())
    }

    /// Stops emission until [`replay`](Self::replay) or [`stop`](Self::stop).
    pub(crate) fn freeze(&self) {
        self.queue.lock().resetting = true;
    }

    /// Takes back emitted requests that have not completed, except those that a reset does not
    /// lose; with `whole`, those too. The engine must be frozen and must not run. They are appended
    /// to `lost`.
    pub(crate) fn take_back(&self, lost: &mut Lost, whole: bool) {
        self.advance();
        let mut flight = List::new();
        {
            match &mut self.queue.lock().port {
                Port::Ring(ring) => {
                    flight.push_all_back(&mut ring.flight);
                    ring.port.clear();
                    ring.forget_watched();
                    if let Some(loaded) = ring.loaded.take() {
                        // Only the first call finds a context.
                        lost.loaded.get_or_insert(loaded);
                    }
                }
                Port::Lists(lists) => lists.take_back(whole, lost.suspect, &mut flight),
            }
        }
        if lost.oldest.is_none() {
            lost.oldest = flight.iter().next().map(|r| r.number());
        }
        for request in flight.iter() {
            request.tracker.taken_back();
            if let (Work::Golden | Work::GoldenRegisters, Some(context)) =
                (request.work, request.context.as_ref())
            {
                // It was the first request to switch to its context, which has no saved state yet.
                context.context().forget_saved();
            }
        }
        lost.requests.push_all_back(&mut flight);
    }

    /// Emits the requests that were taken back, before all others. The engine must have been
    /// started.
    pub(crate) fn replay(&self, lost: &mut Lost) {
        lost.leave_loaded();
        {
            let mut queue = self.queue.lock();
            let queue = &mut *queue;
            match &mut queue.port {
                Port::Ring(ring) => {
                    lost.requests.push_all_back(&mut ring.ready);
                    mem::swap(&mut lost.requests, &mut ring.ready);
                }
                Port::Lists(lists) => lists.put_back(&mut lost.requests, &mut queue.failed),
            }
            queue.resetting = false;
            if queue.wanted != 0 {
                self.arm(&mut queue.arming);
            }
            self.pump(queue);
        }
        self.retirer.run_deferred();
    }

    /// Accepts requests again after [`close`](Self::close), unless the device is gone.
    pub(crate) fn reopen(&self) {
        let mut queue = self.queue.lock();
        if queue.stopped == Some(EIO) {
            queue.stopped = None;
        }
    }

    /// Fails all published requests with `error`, `lost` first. The engine must be closed, and must
    /// not run, or not reach memory.
    ///
    /// Blocked requests stay blocked until their dependencies are signalled, and fail then, so that
    /// their waiters can rely on the order. They fail also if the device is revived before: a move
    /// that they depend on may have failed. Only if the device is gone (`ENODEV`) do they fail at
    /// once.
    pub(crate) fn stop(&self, error: Error, lost: &mut Lost) {
        self.take_back(lost, true);
        lost.leave_loaded();
        let mut all = List::new();
        all.push_all_back(&mut lost.requests);
        let mut blocked;
        {
            let mut queue = self.queue.lock();
            let queue = &mut *queue;
            queue.port.take_ready(&mut all);
            all.push_all_back(&mut queue.failed);
            blocked = if error == ENODEV {
                mem::take(&mut queue.blocked)
            } else {
                queue.blocked.iter().for_each(|tracker| tracker.doom());
                Default::default()
            };
            queue.resetting = false;
            // Callers that wait for the engine's progress need not wait any more.
            self.line.set_progress(queue.port.last());
        }
        while let Some(request) = all.pop_front() {
            self.cancel(error, request);
        }
        while let Some(tracker) = blocked.pop_front() {
            if let Some(request) = tracker.take_request() {
                self.cancel(error, request);
            }
        }
    }

    /// Fails a request.
    pub(super) fn cancel(&self, error: Error, request: ListArc<Request>) {
        request.fence.fail(error);
        self.count_done();
        self.finish(request);
    }
}

impl Lists {
    /// Takes back emitted requests that have not completed. The engine was reset. The `suspect`
    /// comes first, otherwise the running context's request: another context may run since the
    /// suspect was found.
    ///
    /// Contexts that the engine did not work on continue where they were switched out, and their
    /// requests stay in their rings, unless `whole` is set.
    pub(super) fn take_back(
        &mut self,
        whole: bool,
        suspect: Option<Seqno>,
        all: &mut List<Request>,
    ) {
        let now = time::monotonic_ns();
        let mut contexts = self.contexts.iter().flatten();
        let hung = contexts.find(|p| {
            let first = p.flight.iter().next().map(|r| r.number());
            suspect.is_some() && first == suspect
        });
        let hung = hung.map(|p| p.entity);
        let running = self.running().map(|p| p.entity);
        let first = hung.or(running);
        let (sched, whole) = (&self.sched, whole || self.broken);
        for listed in self.contexts.iter_mut().flatten() {
            listed.stale = match whole {
                true => sched.is_held(listed.entity) || !listed.flight.is_empty(),
                false => {
                    let entity = Some(listed.entity);
                    sched.may_write(listed.entity) || entity == running || entity == hung
                }
            };
        }
        self.sched.reset(now);
        for turn in [true, false] {
            for listed in self.contexts.iter_mut().flatten() {
                if listed.stale && (Some(listed.entity) == first) == turn {
                    all.push_all_back(&mut listed.flight);
                }
            }
        }
        for at in 0..self.contexts.len() as u32 {
            let listed = self.contexts.get_mut(at as usize).and_then(|p| p.as_mut());
            let Some(listed) = listed.filter(|p| p.stale) else {
                continue;
            };
            listed.stale = false;
            listed.ring.clear();
            listed
                .logical_ring
                .rewind(&self.golden, false, &mut self.buffer);
            self.sched.publish(listed.entity, RingOffset(0), now);
            self.sched.completed(listed.entity, RingOffset(0), now);
            self.sched.touched(listed.entity, now);
            // The next look at the engine finds whether it has requests left.
            self.roster.join(Set::Listed, at);
            self.roster.set_oldest(at, None);
        }
    }

    /// Makes the requests that were taken back ready again, before all others of their context.
    pub(super) fn put_back(&mut self, all: &mut List<Request>, failed: &mut List<Request>) {
        while let Some(request) = all.pop_back() {
            let at = request.seat().and_then(|id| id.checked_sub(1));
            let Some(at) = at.filter(|at| self.context(*at).is_some()) else {
                failed.push_back(request);
                continue;
            };
            self.raise(at, request.tracker.urgency.rank());
            self.note_pressed(at, &request.tracker);
            if let Some(listed) = self.context(at) {
                listed.ready.push_front(request);
            }
            self.roster.join(Set::Ready, at);
            // The context may have been found without requests meanwhile, and deactivated.
            self.activate(at);
        }
    }

    /// Moves all ready requests to `all`.
    pub(super) fn take_ready(&mut self, all: &mut List<Request>) {
        let now = time::monotonic_ns();
        for at in 0..self.contexts.len() as u32 {
            self.deactivate(at);
            let listed = self.contexts.get_mut(at as usize).and_then(|p| p.as_mut());
            let Some(listed) = listed else { continue };
            all.push_all_back(&mut listed.ready);
            if listed.lifted.take().is_some() {
                self.sched.inherit(listed.entity, None, now);
            }
        }
    }
}
