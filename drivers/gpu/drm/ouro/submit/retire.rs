// SPDX-License-Identifier: GPL-2.0

//! The retirer: releases, in process context, the resources of completed requests and freed BOs.
//!
//! It is a worker on a queue of its own, which makes progress under memory pressure. Requests are
//! passed to it in any context. GPU memory is unmapped before it comes here, and is kept in
//! quarantine until every engine has completed the requests that it had then: each request starts
//! with a TLB invalidation and ends with a flush, so that after that no engine can reach the pages,
//! and they may be reused. If TLBs may survive that, they are invalidated by registers before, once
//! for all waiting memory, and no lock is held until the device has done so. An engine that can be
//! preempted need not complete its requests: it is enough that it switches out what it runs
//! ([`Engine::passed`]). Memory has no seqno of its own: it gathers in one batch while another
//! batch waits ([`ouro_core::quarantine`]).
//!
//! A slow tick runs while any request is unfinished. It finds that requests without waiters have
//! completed, for which no interrupt is armed, runs the hangcheck, and lets an idle device sleep
//! ([`tick`]). It releases nothing itself: a release takes locks of address spaces, whose holder
//! may be in reclaim, which waits for requests that only the hangcheck ends.

mod left;
mod tick;

use kernel::{
    impl_has_delayed_work, impl_has_work,
    list::{List, ListArc},
    new_delayed_work, new_mutex, new_spinlock_irq, new_work,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, Mutex, SpinLockIrq,
    },
    time::{delay::fsleep, Delta},
    workqueue::{DelayedWork, Work, WorkItem},
};
use ouro_core::burst::Budget;
use ouro_hw::report::MAX_ENGINES;
use ouro_kernel::{release, time, work};

use super::{
    follow::FollowerQueue,
    freed::{Freed, Mark, Waiting},
    in_use::InUse,
    lists::{balance::Exchange, balanced::Siblings, inherit::Visits},
    own_space::Emptying,
    request::Tracker,
    Engine, Request,
};
use crate::{gem::Backing, hardware::Hardware};

/// Milliseconds between two ticks.
const TICK_MS: u32 = 50;
/// Ticks without work after which the device may sleep. To wake it for each frame would cost more.
const IDLE_TICKS: u32 = 4;
/// Nanoseconds that freed memory waits for a running batch, before the engine saves its context.
const SAVE_NS: u64 = 1_500_000_000;
/// Most completed requests whose release submissions leave to the tick.
const MAX_UNRELEASED: i64 = 8;

/// The input queues, filled in any context.
struct Incoming {
    done: List<Request>,
    dying: List<Backing>,
    /// Contexts that engines had loaded when they were reset.
    unloaded: [Option<InUse>; MAX_ENGINES],
    /// Requests whose waiters cannot be woken up.
    pressed: Visits,
    /// Trackers without other references.
    trackers: Visits,
    /// No engine runs, and no work is queued any more, except by callers that were submitting.
    closed: bool,
}

/// Hangcheck of the engines.
pub(crate) trait HangCheck: Send + Sync {
    /// Checks the engines. Called regularly while requests are unfinished. Process context.
    fn tick(&self);

    /// The engines of the mask (bit n: engine n) report errors. Process context.
    fn alarm(&self, mask: u32);

    /// The watchdogs of the engines of the mask have fired; the batches may have ended meanwhile.
    /// Process context.
    fn overdue(&self, mask: u32);
}

/// The retirer.
#[pin_data]
pub(crate) struct Retirer {
    hardware: Arc<Hardware>,
    queue: work::Queue,
    /// The queue for work that fences wait for: it has a rescuer of its own, and takes no lock
    /// under which memory is allocated.
    signals: work::Queue,
    /// The queue for releases that take reservations: a holder of one may be waiting for a fence.
    late: work::Queue,
    #[pin]
    incoming: SpinLockIrq<Incoming>,
    #[pin]
    quarantine: Mutex<Waiting>,
    /// Set once the engines exist, cleared when they are gone.
    #[pin]
    engines: Mutex<KVec<Arc<Engine>>>,
    /// Set and cleared with `engines`.
    #[pin]
    hang_check: Mutex<Option<Arc<dyn HangCheck>>>,
    /// Whether a failed TLB invalidation was logged.
    copies_held: Atomic<bool>,
    /// Engines that have reported errors, a bit each.
    errors: Atomic<u32>,
    /// Engines whose watchdog has fired, a bit each.
    overdue: Atomic<u32>,
    #[pin]
    follower_queue: FollowerQueue,
    #[pin]
    exchange: Exchange,
    idle_ticks: Atomic<u32>,
    /// Whether the tick is on its way: it was queued, and has not begun.
    tick_queued: Atomic<bool>,
    /// Whether a client's context ever had another priority than the default.
    ranked: Atomic<bool>,
    /// Number of requests that are published and not retired.
    live: Atomic<i64>,
    /// Number of requests in [`Incoming::done`].
    unreleased: Atomic<i64>,
    #[pin]
    now: Work<Retirer, 0>,
    #[pin]
    tick: DelayedWork<Retirer, 1>,
    /// Timer of the schedulers of execlist engines.
    #[pin]
    turn: DelayedWork<Retirer, 2>,
    /// Looks at engines that have reported something.
    #[pin]
    alarm: Work<Retirer, 3>,
    /// Looks at engines that have left ready requests.
    #[pin]
    left: Work<Retirer, 4>,
}

impl_has_work! {
    impl HasWork<Retirer, 0> for Retirer { self.now }
}
impl_has_delayed_work! {
    impl HasDelayedWork<Retirer, 1> for Retirer { self.tick }
}
impl_has_delayed_work! {
    impl HasDelayedWork<Retirer, 2> for Retirer { self.turn }
}
impl_has_work! {
    impl HasWork<Retirer, 3> for Retirer { self.alarm }
}
impl_has_work! {
    impl HasWork<Retirer, 4> for Retirer { self.left }
}

impl WorkItem<0> for Retirer {
    type Pointer = Arc<Retirer>;

    fn run(this: Arc<Retirer>) {
        this.retire();
        this.release_removed();
    }
}

impl Retirer {
    pub(crate) fn new(hardware: Arc<Hardware>) -> Result<Arc<Self>> {
        let queue = work::Queue::new(
            c"ouro-retire",
            work::Flags::MEM_RECLAIM | work::Flags::UNBOUND,
            0,
        )?;
        Arc::pin_init(
            try_pin_init!(Self {
                hardware,
                queue,
                signals: work::Queue::new(
                    c"ouro-signals",
                    work::Flags::MEM_RECLAIM | work::Flags::UNBOUND,
                    0,
                )?,
                // Destroying the retirer waits for this queue, so it must make progress under
                // memory pressure.
                late: work::Queue::new(
                    c"ouro-late",
                    work::Flags::MEM_RECLAIM | work::Flags::UNBOUND,
                    0,
                )?,
                incoming <- new_spinlock_irq!(Incoming {
                    done: List::new(),
                    dying: List::new(),
                    unloaded: [const { None }; MAX_ENGINES],
                    pressed: Visits::new(),
                    trackers: Visits::new(),
                    closed: false,
                }, "ouro_incoming"),
                quarantine <- new_mutex!(Waiting::default(), "ouro_quarantine"),
                engines <- new_mutex!(KVec::new(), "ouro_retirer_engines"),
                hang_check <- new_mutex!(None, "ouro_retirer_hang_check"),
                copies_held: Atomic::new(false),
                errors: Atomic::new(0),
                overdue: Atomic::new(0),
                follower_queue <- FollowerQueue::new(),
                exchange <- Exchange::new(),
                idle_ticks: Atomic::new(0),
                tick_queued: Atomic::new(false),
                ranked: Atomic::new(false),
                live: Atomic::new(0),
                unreleased: Atomic::new(0),
                now <- new_work!("ouro_retire"),
                tick <- new_delayed_work!("ouro_tick"),
                turn <- new_delayed_work!("ouro_turn"),
                alarm <- new_work!("ouro_alarm"),
                left <- new_work!("ouro_left"),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// Sets the engines and their hangcheck. Errors: `ENOMEM`.
    pub(crate) fn set_engines(
        &self,
        engines: &[Arc<Engine>],
        hang_check: Arc<dyn HangCheck>,
    ) -> Result {
        let mut marks = KVec::with_capacity(engines.len(), GFP_KERNEL)?;
        let mut list = KVec::with_capacity(engines.len(), GFP_KERNEL)?;
        let mut partners = KVec::with_capacity(engines.len(), GFP_KERNEL)?;
        for engine in engines {
            list.push(engine.clone(), GFP_KERNEL)?;
            partners.push(engine.clone(), GFP_KERNEL)?;
            marks.push(Mark::default(), GFP_KERNEL)?;
        }
        *self.engines.lock() = list;
        self.exchange.set_engines(partners);
        *self.hang_check.lock() = Some(hang_check);
        self.quarantine.lock().marks = marks;
        Ok(())
    }

    /// A request was published: the tick runs until it is retired. Any context.
    pub(crate) fn published(self: &Arc<Self>) {
        self.idle_ticks.store(0, ordering::Relaxed);
        self.live.fetch_add(1, ordering::Relaxed);
        self.start_tick();
    }

    /// Returns the queue of followers.
    pub(crate) fn follower_queue(&self) -> &FollowerQueue {
        &self.follower_queue
    }

    /// Returns the exchange of work between engines.
    pub(crate) fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// A request of a virtual engine has no more dependencies to wait for. Any context; no engine's
    /// lock is held.
    pub(super) fn unblock(self: &Arc<Self>, siblings: &Siblings, tracker: &Tracker) {
        if self.exchange.unblock(siblings, tracker) {
            self.run_deferred();
        }
    }

    /// Does what cannot be done under an engine's lock; called after each look at one. Leaves work
    /// beyond a budget to the worker. Any context; no engine's lock is held.
    pub(super) fn run_deferred(self: &Arc<Self>) {
        let mut budget = Budget::new();
        let left = self.follower_queue.run(&mut budget);
        if left | self.exchange.run(&self.follower_queue, &mut budget) {
            self.kick();
        }
    }

    /// A client's context has another priority than the default.
    pub(crate) fn ranks_differ(&self) {
        self.ranked.store(true, ordering::Relaxed);
    }

    /// Returns whether one ever had.
    pub(super) fn has_ranks(&self) -> bool {
        self.ranked.load(ordering::Relaxed)
    }

    /// Returns the number of requests that are published and not retired.
    pub(crate) fn live(&self) -> i64 {
        self.live.load(ordering::Relaxed)
    }

    /// A request has completed. Any context.
    pub(crate) fn push(self: &Arc<Self>, request: ListArc<Request>) {
        self.defer_release(request);
        let _ = self.queue.enqueue::<_, 0>(self.clone());
    }

    /// Does what [`push`](Self::push) does, without the worker: the next submissions or the tick
    /// release the request. Any context.
    pub(super) fn defer_release(&self, request: ListArc<Request>) {
        self.incoming.lock().done.push_back(request);
        self.unreleased.fetch_add(1, ordering::Relaxed);
    }

    /// Takes a request that was left or pushed, and may be released. The others stay until the next
    /// call.
    fn take_done(&self) -> Option<ListArc<Request>> {
        let mut incoming = self.incoming.lock();
        let mut cursor = incoming.done.cursor_front();
        let request = loop {
            let next = cursor.peek_next()?;
            if next.may_end() {
                break next.remove();
            }
            cursor.move_next();
        };
        self.unreleased.fetch_sub(1, ordering::Relaxed);
        Some(request)
    }

    /// Releases requests if many were left. Process context; the caller holds no locks.
    pub(super) fn release_some(&self) {
        if self.unreleased.load(ordering::Relaxed) <= MAX_UNRELEASED {
            return;
        }
        for _ in 0..2 * MAX_UNRELEASED {
            let Some(request) = self.take_done() else {
                break;
            };
            self.release(request);
        }
    }

    /// Drops a context that an engine had loaded when it was reset. Process context.
    pub(crate) fn unload(self: &Arc<Self>, context: InUse) {
        let mut incoming = self.incoming.lock();
        if let Some(place) = incoming.unloaded.iter_mut().find(|place| place.is_none()) {
            *place = Some(context);
        } else {
            // As many resets as there are engines since the worker ran last.
            drop(incoming);
            drop(context);
        }
        let _ = self.queue.enqueue::<_, 0>(self.clone());
    }

    /// Drops a reference to a request, which may be the last one. Any context.
    pub(crate) fn forget(self: &Arc<Self>, request: Arc<Request>) {
        if let Some(request) = Arc::into_unique_or_drop(request) {
            // It was counted as retired when its other reference was dropped.
            self.live.fetch_add(1, ordering::Relaxed);
            self.push(request.into());
        }
    }

    /// Drops a reference to a request's tracker, which may be the last one, and then frees a ring.
    /// Any context.
    pub(super) fn forget_tracker(self: &Arc<Self>, tracker: Arc<Tracker>) {
        if let Some(tracker) = Arc::into_unique_or_drop(tracker) {
            self.incoming.lock().trackers.push_back(tracker.into());
            let _ = self.queue.enqueue::<_, 0>(self.clone());
        }
    }

    /// Drops the logical rings of contexts that engines have removed. Process context; the caller
    /// holds no locks.
    fn release_removed(&self) {
        for at in 0.. {
            let engine = self.engines.lock().get(at).cloned();
            let Some(engine) = engine else { break };
            engine.release_removed();
        }
    }

    /// Releases a request that has completed. Process context; the caller may hold reservations, so
    /// memory whose drop takes one is left to a worker.
    pub(super) fn release(&self, request: ListArc<Request>) {
        // Any other reference comes here, too (`forget`).
        if let Some(mut request) = Arc::into_unique_or_drop(request.into_arc()) {
            request.as_mut().take_evidence().end(&self.late);
        }
        self.live.fetch_sub(1, ordering::Relaxed);
    }

    /// Takes unmapped memory that has no owner any more. Process context.
    pub(crate) fn quarantine_memory(self: &Arc<Self>, memory: Arc<Backing>) {
        // A copy may still hold a reference; the last one drops the memory.
        let Some(memory) = ListArc::try_from_arc_or_drop(memory) else {
            return;
        };
        let mut incoming = self.incoming.lock();
        if incoming.closed {
            // No engine runs. The caller may hold locks.
            drop(incoming);
            memory.into_arc().end(&self.late);
            return;
        }
        incoming.dying.push_back(memory);
        let _ = self.queue.enqueue::<_, 0>(self.clone());
    }

    /// Unbinds all BOs from a PPGTT that is not used any more. Any context that may sleep.
    pub(super) fn empty(&self, space: Arc<Emptying>) {
        // It is queued, or was queued already.
        let _ = self.late.enqueue::<_, 0>(space);
    }

    /// Returns whether nothing is waiting to be freed.
    pub(crate) fn is_empty(&self) -> bool {
        let incoming = self.incoming.lock();
        if !incoming.done.is_empty() || !incoming.dying.is_empty() {
            return false;
        }
        drop(incoming);
        self.quarantine.lock().memory.is_empty()
    }

    /// Releases everything that can be released now, except memory that another caller is about to
    /// free. Process context.
    pub(crate) fn retire(self: &Arc<Self>) {
        self.follower_queue.clear();
        let unloaded = {
            let mut incoming = self.incoming.lock();
            core::mem::replace(&mut incoming.unloaded, [const { None }; MAX_ENGINES])
        };
        drop(unloaded);
        let trackers = core::mem::take(&mut self.incoming.lock().trackers);
        drop(trackers);
        while let Some(request) = self.take_done() {
            self.release(request);
        }
        while let Some(mut memory) = self.take_freed() {
            while let Some(memory) = memory.0.pop_front() {
                memory.into_arc().end(&self.late);
            }
            self.quarantine.lock().memory.end();
        }
    }

    /// Retires until nothing is waiting to be freed, at most `times` times with a millisecond
    /// between: an engine may still reach memory, or another caller is about to free it.
    fn retire_all(self: &Arc<Self>, times: u32) {
        for _ in 0..times {
            self.retire();
            if self.is_empty() {
                break;
            }
            fsleep(Delta::from_millis(1));
        }
    }

    /// Waits until memory that is being freed is free, for a second at most. Process context.
    pub(crate) fn drain(self: &Arc<Self>) {
        // Requests and address spaces keep BOs, and BOs keep memory.
        self.queue.flush();
        self.retire();
        self.late.flush();
        release::drain();
        self.retire_all(1000);
        self.late.flush();
        // BOs whose last reference was dropped above.
        release::drain();
    }

    /// Takes freed memory that no engine can reach any more; the caller frees it. Otherwise the
    /// tick looks again, if some waits for the device. Sleeps.
    fn take_freed(self: &Arc<Self>) -> Option<Freed> {
        if self.close_freed() {
            let gone = self.copies_are_gone();
            let mut waiting = self.quarantine.lock();
            // After the invalidation: what engines begin from now on does not reach the memory.
            let engines = self.engines.lock();
            for (mark, engine) in waiting.marks.iter_mut().zip(engines.iter()) {
                *mark = engine.mark();
            }
            drop(engines);
            waiting.since = time::monotonic_ns();
            waiting.memory.invalidated(gone);
        }
        let mut waiting = self.quarantine.lock();
        let engines = self.engines.lock();
        let late = time::monotonic_ns().saturating_sub(waiting.since) >= SAVE_NS;
        let mut passed = waiting.memory.is_flushing();
        for (mark, engine) in waiting.marks.iter().zip(engines.iter()) {
            let waits = waiting.memory.is_flushing() && !engine.passed(mark);
            passed &= !waits;
            engine.delays_memory.store(waits && late, ordering::Relaxed);
        }
        drop(engines);
        if passed {
            return waiting.memory.take();
        }
        let waits = waiting.memory.is_closed();
        drop(waiting);
        if waits {
            self.start_tick();
        }
        None
    }

    /// Closes freed memory, if none is closed. Returns whether the caller is to invalidate TLBs.
    fn close_freed(&self) -> bool {
        let mut waiting = self.quarantine.lock();
        loop {
            let memory = self.incoming.lock().dying.pop_front();
            let Some(memory) = memory else { break };
            waiting.memory.open().0.push_back(memory);
        }
        let begins = waiting.memory.begin();
        if begins {
            self.hardware.settle_gtt();
        }
        begins
    }

    /// Invalidates the TLBs that may survive requests. Returns whether they are invalidated; if the
    /// device does not confirm it, they may hold translations until it is reset or gone. Called by
    /// who has closed memory: one caller at a time. Sleeps.
    fn copies_are_gone(&self) -> bool {
        // After the end no engine runs, and there is none in the list.
        if self.engines.lock().is_empty() {
            return true;
        }
        let gone = match self.hardware.invalidate_tlbs() {
            // Suspended: the tick tries again.
            Err(e) if e == EBUSY => return false,
            Err(e) if e != ENODEV => Err(e),
            _ => Ok(()),
        };
        let said = self.copies_held.xchg(gone.is_err(), ordering::Relaxed);
        if let (Err(e), false) = (gone, said) {
            dev_warn!(
                self.hardware.dev(),
                "TLB invalidation failed ({e:?}): freed memory is not reused\n"
            );
        }
        gone.is_ok()
    }

    /// Ends the retirer, and releases everything: no engine runs any more, and no request comes.
    /// Process context.
    pub(crate) fn close(self: &Arc<Self>) {
        self.incoming.lock().closed = true;
        work::cancel_delayed_sync::<Self, 1>(self);
        work::cancel_delayed_sync::<Self, 2>(self);
        self.engines.lock().clear();
        self.exchange.set_engines(KVec::new());
        let hang_check = self.hang_check.lock().take();
        drop(hang_check);
        drop(self.pressed());
        self.flush_work();
        while self.follower_queue.run(&mut Budget::new()) {}
        // No engine runs, and another caller needs less than days.
        self.retire_all(u32::MAX);
        self.late.flush();
    }

    /// After the end: waits for work that was queued. Process context.
    pub(crate) fn flush_work(&self) {
        if self.incoming.lock().closed {
            self.signals.flush();
            self.queue.flush();
            self.late.flush();
        }
    }
}
