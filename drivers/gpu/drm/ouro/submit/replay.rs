// SPDX-License-Identifier: GPL-2.0

//! What becomes of an engine's requests when it is reset, or ends.
//!
//! What was emitted and is not done goes back to the front of what is ready, in its order, and is
//! emitted again: a request lives until it is retired, and nothing of it is in the ring alone. One
//! that has hung keeps its place, but does nothing any more, and its fence has an error. Where
//! engines take lists, that is so of the context that ran; the others' rings and images are whole.
//!
//! Contexts that an engine held are let go of by the caller, when it holds no lock: their memory is
//! given back under locks that a reset must not wait for.

use core::mem;
use kernel::{
    list::{List, ListArc},
    prelude::*,
    sync::{Arc, ArcBorrow},
};
use ouro_core::hang::is_overdue;
use ouro_hw::types::{RingOffset, Seqno};
use ouro_kernel::time;

use super::{in_use::InUse, lists::Lists, port::Port, request::Work, Context, Engine, Request};

/// What was on an engine when it was reset.
pub(crate) struct Lost {
    /// The number that the first of `requests` had on the engine.
    pub(crate) oldest: Option<Seqno>,
    /// The number of the request that is to blame, if it is still there: it comes first.
    pub(crate) suspect: Option<Seqno>,
    /// In their order.
    requests: List<Request>,
    /// What the engine held.
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

    /// The context of the first request.
    pub(crate) fn context(&self) -> Option<Arc<Context>> {
        let first = self.requests.iter().next()?;
        first.context.as_ref().map(|c| c.context().clone())
    }

    /// The first request is the one that was reset: it is not run again. One of the kernel's own is,
    /// unless it `hangs` a second time: others count on what it does.
    ///
    /// Returns whether that is a move of memory which is lost so: what comes after it, of whomever, would
    /// find what somebody else has left there.
    pub(crate) fn give_up_first(&self, hangs: bool) -> bool {
        let Some(request) = self.requests.iter().next() else {
            return false;
        };
        let holder = request.context.as_ref().and_then(|c| c.holder());
        let mut emitted = request.emitted.lock();
        emitted.lost = holder.is_some() || (hangs && emitted.tried);
        emitted.tried |= hangs;
        emitted.lost && matches!(request.work, Work::Copy(_) | Work::Fill(_))
    }

    /// What the engine held, to be let go of in process context with no lock held.
    pub(crate) fn take_loaded(&mut self) -> Option<InUse> {
        self.loaded.take()
    }
}

/// The request that an engine works on.
#[derive(Clone, Copy)]
pub(crate) struct Oldest {
    /// Its number among those of the engine.
    pub(crate) number: Seqno,
    /// Whether nobody wants it any more.
    pub(crate) revoked: bool,
    /// Nanoseconds that it has run for, where others may have had the engine in between.
    pub(crate) ran: u64,
    /// Whether it may go on if the engine is asked and lets go of it.
    pub(crate) can_answer: bool,
    /// Since when the engine has owed an answer to what it was given, in nanoseconds.
    pub(crate) owes: Option<u64>,
}

/// Whether a request has run for longer than its context allows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// It may run for as long as it likes; or there is none.
    Never,
    /// It has some time left.
    NotYet,
    /// It has. Its number among those of the engine.
    Now(Seqno),
}

impl Engine {
    /// Whether the request that it works on has run for too long at `now`, in nanoseconds, by the CPU's clock: that
    /// of the watchdog may be another one than it is taken for. What is done has been taken off. Any context.
    pub(crate) fn overdue(&self, now: u64) -> Overdue {
        let queue = self.queue.lock();
        let Some(first) = queue.port.first() else {
            return Overdue::Never;
        };
        let emitted = first.emitted.lock();
        let Some(micros) = emitted.watched else {
            return Overdue::Never;
        };
        match is_overdue(now, emitted.at, queue.last_done, micros) {
            true => Overdue::Now(emitted.number),
            false => Overdue::NotYet,
        }
    }

    /// The oldest request that was emitted and not taken off. Any context.
    pub(crate) fn oldest(&self) -> Option<Oldest> {
        let queue = self.queue.lock();
        let first = queue.port.first()?;
        let ran = first.emitted.lock().ran;
        let (can_answer, owes) = match &queue.port {
            Port::Lists(lists) => (!lists.is_pressed(), lists.sched.owed()),
            _ => (false, None),
        };
        Some(Oldest {
            can_answer,
            owes,
            number: first.number(),
            revoked: first.context.as_ref().is_some_and(|c| c.is_revoked()),
            ran,
        })
    }

    /// Counts for who has the engine how long that is, where contexts take turns. To be called often.
    pub(crate) fn count(&self, now: u64) {
        if let Port::Lists(lists) = &mut self.queue.lock().port {
            lists.count(now);
        }
    }

    /// Nobody watches what it runs any more: see [`Context::unwatch`]. Any context.
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

    /// Asks the engine whether it lets go of what it runs, where it can be asked. What runs has its time anew.
    pub(crate) fn ask(&self) {
        let mut queue = self.queue.lock();
        let held = queue.resetting || queue.stopped.is_some() || queue.signalling != 0;
        if let Port::Lists(lists) = &mut queue.port {
            if let Some(first) = lists.first() {
                first.emitted.lock().ran = 0;
            }
            lists.sched.ask();
            if !held {
                lists.go_on(self);
            }
        }
    }

    /// The oldest request that was emitted and not taken off. It is to be dropped in process
    /// context, with no lock held.
    pub(crate) fn first(&self) -> Option<Arc<Request>> {
        let queue = self.queue.lock();
        let first = queue.port.first()?;
        Some(first.into())
    }

    /// Nothing is emitted until [`replay`](Self::replay), or the end.
    pub(crate) fn freeze(&self) {
        self.queue.lock().resetting = true;
    }

    /// Takes back what was emitted and is not done, but for what is not lost by a reset, unless `whole`
    /// asks for that too. The engine is frozen, and the device does not run it. `lost` gets it behind what
    /// is there already.
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
                        // Only the first time is there any.
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
                // It is the first to switch to its context, of which nothing was saved before.
                context.context().forget_saved();
            }
        }
        lost.requests.push_all_back(&mut flight);
    }

    /// Emits again what was taken back, before anything else. The engine has been started.
    pub(crate) fn replay(&self, lost: &mut Lost) {
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
        self.retirer.pass_on();
    }

    /// Takes requests again after [`close`](Self::close), unless that was for ever.
    pub(crate) fn reopen(&self) {
        let mut queue = self.queue.lock();
        if queue.stopped == Some(EIO) {
            queue.stopped = None;
        }
    }

    /// What was published and is not done fails with `error`, `lost` first. The engine is closed,
    /// and the device does not run it any more, or reaches no memory.
    ///
    /// What still waits for others fails when these are done, as it would have run then: whoever
    /// waits for it may count on them. Only a device that is gone (`ENODEV`) waits for nobody.
    pub(crate) fn stop(&self, error: Error, lost: &mut Lost) {
        self.take_back(lost, true);
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
                Default::default()
            };
            queue.resetting = false;
            // Whoever waits until the engine has passed something need not wait any more.
            self.line.set_progress(queue.port.last());
        }
        while let Some(request) = all.pop_front() {
            self.cancel(error, request);
        }
        while let Some(tracker) = blocked.pop_front() {
            if let Some(request) = tracker.let_go() {
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
    /// Takes back what was emitted and is not done. The engine was reset. The `suspect` comes first, else
    /// what ran: another context may have had its turn since it was found.
    ///
    /// Contexts that it did not work on go on where they were when it left them, unless `whole` says that
    /// they do not: what is in their rings stays there.
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
        for listed in self.contexts.iter_mut().flatten() {
            if !mem::take(&mut listed.stale) {
                continue;
            }
            listed.ring.clear();
            listed
                .logical_ring
                .rewind(&self.golden, false, &mut self.buffer);
            self.sched.publish(listed.entity, RingOffset(0), now);
            self.sched.completed(listed.entity, RingOffset(0), now);
            self.sched.touched(listed.entity, now);
        }
    }

    /// What was taken back is ready again, before all else of its context.
    pub(super) fn put_back(&mut self, all: &mut List<Request>, failed: &mut List<Request>) {
        while let Some(request) = all.pop_back() {
            let at = request.seat().and_then(|id| id.checked_sub(1));
            let Some(at) = at.filter(|at| self.context(*at).is_some()) else {
                failed.push_back(request);
                continue;
            };
            self.raise(at, request.tracker.urgency.rank());
            if let Some(listed) = self.context(at) {
                listed.ready.push_front(request);
            }
            // Somebody may have looked meanwhile, and found nothing of it.
            self.activate(at);
        }
    }

    /// Takes all that is ready.
    pub(super) fn take_ready(&mut self, all: &mut List<Request>) {
        let now = time::monotonic_ns();
        for listed in self.contexts.iter_mut().flatten() {
            all.push_all_back(&mut listed.ready);
            listed.active = false;
            if listed.lifted.take().is_some() {
                self.sched.inherit(listed.entity, None, now);
            }
        }
        self.active.clear();
    }
}
