// SPDX-License-Identifier: GPL-2.0

//! Letting go, in process context, of what completed requests and freed objects held.
//!
//! A worker on a queue of our own, which may run under memory pressure. Requests come from any
//! context. Memory that the GPU could reach has been taken out of the tables when it comes here,
//! and is kept until every engine has completed what it was running at that time: each request
//! begins by throwing away the engine's own copies of table entries, so that from then on nothing
//! can reach the pages, and another owner may get them. Where units hold copies longer than that, they
//! are invalidated by registers, once for all that was waiting. No memory needs a mark of its own: it
//! gathers in one batch while another one waits.
//!
//! A slow tick runs as long as anything is unfinished. It retires what nobody waits for, since no
//! interrupt is armed then, looks whether an engine hangs, and lets the device sleep when all is done.

use kernel::{
    impl_has_delayed_work, impl_has_work,
    list::{List, ListArc},
    new_delayed_work, new_mutex, new_spinlock_irq, new_work,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, Mutex, SpinLockIrq,
    },
    workqueue::{DelayedWork, Work, WorkItem},
};
use ouro_hw::types::Seqno;
use ouro_kernel::{fence::Fence, time, work};

use super::{
    follow::FollowerQueue,
    lists::{
        balance::Exchange,
        balanced::Siblings,
        inherit::{self, Visits},
    },
    own_space::Emptying,
    request::Tracker,
    Engine, Request,
};
use crate::{
    gem::{Backing, Runner},
    hardware::Hardware,
};

/// Milliseconds from one tick to the next.
const TICK_MS: u32 = 50;
/// Ticks without work after which the device may sleep: waking it for each of a client's frames
/// would cost more than it saves.
const IDLE_TICKS: u32 = 4;

/// Freed memory that some engine may still reach through copies of table entries.
struct Quarantine {
    /// Out of the tables, but not marked yet.
    open: List<Backing>,
    /// Waits for `marks`.
    closed: List<Backing>,
    /// By engine: what must be done before `closed` is free.
    marks: KVec<Seqno>,
}

/// What came in from any context.
struct Incoming {
    done: List<Request>,
    dying: List<Backing>,
    /// Requests that somebody waits for who cannot be woken up.
    pressed: Visits,
    /// No engine runs, and the worker is not asked for anything any more, except by who had an
    /// execution under way.
    closed: bool,
}

/// Looks after engines that hang.
pub(crate) trait HangCheck: Send + Sync {
    /// Looks at the engines. Called every now and then while anything is unfinished. Process context.
    fn tick(&self);

    /// The engines of the mask (bit n: the n-th) report errors. Process context.
    fn alarm(&self, mask: u32);

    /// The watchdogs of the engines of the mask say that a batch has run for too long; that may be done by now.
    /// Process context.
    fn overdue(&self, mask: u32);
}

/// The retirer as objects see it.
pub(crate) struct Service(pub(crate) Arc<Retirer>);

impl Runner for Service {
    fn bury(&self, memory: Arc<Backing>) {
        self.0.bury(memory);
    }

    fn retire(&self) {
        self.0.retire();
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn live(&self) -> i64 {
        self.0.live()
    }

    fn press(&self, fence: &Fence) {
        inherit::press(fence);
    }
}

/// The worker.
#[pin_data]
pub(crate) struct Retirer {
    hardware: Arc<Hardware>,
    queue: work::Queue,
    /// For what takes reservations when it is dropped: who holds one may be waiting for a fence.
    late: work::Queue,
    #[pin]
    incoming: SpinLockIrq<Incoming>,
    #[pin]
    quarantine: Mutex<Quarantine>,
    /// Set once the engines exist, emptied when they go.
    #[pin]
    engines: Mutex<KVec<Arc<Engine>>>,
    /// As `engines`.
    #[pin]
    hang_check: Mutex<Option<Arc<dyn HangCheck>>>,
    /// Whether it was said that units hold copies of entries.
    copies_held: Atomic<bool>,
    /// Engines that have reported errors, a bit each.
    errors: Atomic<u32>,
    /// Engines whose watchdog has said that a batch takes too long, a bit each.
    overdue: Atomic<u32>,
    #[pin]
    follower_queue: FollowerQueue,
    #[pin]
    exchange: Exchange,
    idle_ticks: Atomic<u32>,
    /// Whether a client's context ever had another priority than the usual one.
    ranked: Atomic<bool>,
    /// Requests published and not retired.
    live: Atomic<i64>,
    #[pin]
    now: Work<Retirer, 0>,
    #[pin]
    tick: DelayedWork<Retirer, 1>,
    /// Looks whose turn it is on engines that contexts share by time.
    #[pin]
    turn: DelayedWork<Retirer, 2>,
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

impl WorkItem<0> for Retirer {
    type Pointer = Arc<Retirer>;

    fn run(this: Arc<Retirer>) {
        let errors = this.errors.xchg(0, ordering::Full);
        if errors != 0 {
            this.print_errors(errors);
        }
        let overdue = this.overdue.xchg(0, ordering::Full);
        if overdue != 0 {
            this.enforce(overdue);
        }
        this.retire();
    }
}

impl WorkItem<1> for Retirer {
    type Pointer = Arc<Retirer>;

    fn run(this: Arc<Retirer>) {
        this.retire();
        let idle = {
            let engines = this.engines.lock();
            let mut idle = true;
            let mut missed = false;
            for engine in engines.iter() {
                missed |= engine.advance() && engine.is_armed();
                engine.let_go();
                idle &= engine.is_idle();
            }
            if missed {
                this.missed_interrupt(&engines);
            }
            idle
        };
        inherit::spread(this.pressed());
        let hang_check = this.hang_check.lock().clone();
        if let (false, Some(hang_check)) = (idle, hang_check) {
            hang_check.tick();
        }
        this.retire();
        if !idle || !this.is_empty() {
            this.idle_ticks.store(0, ordering::Relaxed);
        } else if this.idle_ticks.fetch_add(1, ordering::Relaxed) + 1 >= IDLE_TICKS {
            this.hardware.park();
            return;
        }
        this.wind();
    }
}

impl WorkItem<2> for Retirer {
    type Pointer = Arc<Retirer>;

    fn run(this: Arc<Retirer>) {
        for engine in this.engines.lock().iter().filter(|e| e.has_lists()) {
            engine.advance();
        }
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
                // Its end is awaited by a queue that makes progress when memory is short.
                late: work::Queue::new(
                    c"ouro-late",
                    work::Flags::MEM_RECLAIM | work::Flags::UNBOUND,
                    0,
                )?,
                incoming <- new_spinlock_irq!(Incoming {
                    done: List::new(),
                    dying: List::new(),
                    pressed: Visits::new(),
                    closed: false,
                }, "ouro_incoming"),
                quarantine <- new_mutex!(Quarantine {
                    open: List::new(),
                    closed: List::new(),
                    marks: KVec::new(),
                }, "ouro_quarantine"),
                engines <- new_mutex!(KVec::new(), "ouro_retirer_engines"),
                hang_check <- new_mutex!(None, "ouro_retirer_hang_check"),
                copies_held: Atomic::new(false),
                errors: Atomic::new(0),
                overdue: Atomic::new(0),
                follower_queue <- FollowerQueue::new(),
                exchange <- Exchange::new(),
                idle_ticks: Atomic::new(0),
                ranked: Atomic::new(false),
                live: Atomic::new(0),
                now <- new_work!("ouro_retire"),
                tick <- new_delayed_work!("ouro_tick"),
                turn <- new_delayed_work!("ouro_turn"),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// Says which engines there are, and who looks after them.
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
            marks.push(Seqno(0), GFP_KERNEL)?;
        }
        *self.engines.lock() = list;
        self.exchange.set_engines(partners);
        *self.hang_check.lock() = Some(hang_check);
        self.quarantine.lock().marks = marks;
        Ok(())
    }

    /// The engines of the mask report errors: they are printed soon. Any context.
    pub(crate) fn report_errors(self: &Arc<Self>, mask: u32) {
        self.report(&self.errors, mask);
    }

    /// The watchdogs of the mask's engines say that a batch has run for too long. Any context.
    pub(crate) fn report_overdue(self: &Arc<Self>, mask: u32) {
        self.report(&self.overdue, mask);
    }

    /// Has the worker look at the engines of the mask.
    fn report(self: &Arc<Self>, engines: &Atomic<u32>, mask: u32) {
        let incoming = self.incoming.lock();
        if !incoming.closed {
            // Only the worker is not under the lock: at worst it looks once too often.
            let known = engines.load(ordering::Relaxed);
            engines.store(known | mask, ordering::Release);
            let _ = self.queue.enqueue::<_, 0>(self.clone());
        }
    }

    /// Somebody waits for this request who cannot be woken up. Any context.
    pub(super) fn press(&self, tracker: ListArc<Tracker, 1>) {
        let mut incoming = self.incoming.lock();
        if !incoming.closed {
            incoming.pressed.push_back(tracker);
        }
    }

    /// Those that were told of since.
    fn pressed(&self) -> Visits {
        core::mem::take(&mut self.incoming.lock().pressed)
    }

    /// Something was completed that should have interrupted. If the message was lost, the device waits
    /// for its events to be taken off, and sends no other one: they are taken off here.
    fn missed_interrupt(self: &Arc<Self>, engines: &[Arc<Engine>]) {
        let events = self.hardware.interrupt();
        for engine in engines {
            if events.completed & (1 << engine.index()) != 0 {
                engine.interrupt();
            }
        }
        if events.errors != 0 {
            self.report_errors(events.errors);
        }
        if events.overdue != 0 {
            self.report_overdue(events.overdue);
        }
    }

    fn print_errors(self: &Arc<Self>, engines: u32) {
        if self.hardware.get().is_ok() {
            self.hardware.report_errors();
            self.hardware.put();
            let hang_check = self.hang_check.lock().clone();
            if let Some(hang_check) = hang_check {
                hang_check.alarm(engines);
            }
            self.wind();
        }
    }

    /// The watchdogs of the mask's engines have spoken.
    fn enforce(self: &Arc<Self>, engines: u32) {
        let hang_check = self.hang_check.lock().clone();
        if let Some(hang_check) = hang_check {
            hang_check.overdue(engines);
        }
        self.wind();
    }

    /// A request is published: the tick runs until it is retired. Any context.
    pub(crate) fn published(self: &Arc<Self>) {
        self.idle_ticks.store(0, ordering::Relaxed);
        self.live.fetch_add(1, ordering::Relaxed);
        self.wind();
    }

    /// Requests that waited until another one was emitted.
    pub(crate) fn follower_queue(&self) -> &FollowerQueue {
        &self.follower_queue
    }

    /// Where work goes from one engine to another.
    pub(crate) fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// What a request of a virtual engine waited for is signalled. Any context; no lock of an engine is held.
    pub(super) fn unblock(&self, siblings: &Siblings, tracker: &Tracker) {
        self.exchange.unblock(siblings, tracker);
        self.pass_on();
    }

    /// Does what the lock of an engine does not allow, after each look at one. Any context; no lock of an engine
    /// is held.
    pub(super) fn pass_on(&self) {
        self.follower_queue.run();
        self.exchange.run(&self.follower_queue);
    }

    /// A client's context has another priority than the usual one.
    pub(crate) fn ranks_differ(&self) {
        self.ranked.store(true, ordering::Relaxed);
    }

    /// Whether one ever had.
    pub(super) fn has_ranks(&self) -> bool {
        self.ranked.load(ordering::Relaxed)
    }

    /// Requests published and not retired.
    pub(crate) fn live(&self) -> i64 {
        self.live.load(ordering::Relaxed)
    }

    /// A request is done. Any context.
    pub(crate) fn push(self: &Arc<Self>, request: ListArc<Request>) {
        self.incoming.lock().done.push_back(request);
        let _ = self.queue.enqueue::<_, 0>(self.clone());
    }

    /// Memory is out of the tables, and has no owner any more. Process context.
    pub(crate) fn bury(self: &Arc<Self>, memory: Arc<Backing>) {
        // Somebody else may still copy from it; whoever comes last drops it.
        let Some(memory) = ListArc::try_from_arc_or_drop(memory) else {
            return;
        };
        let mut incoming = self.incoming.lock();
        if incoming.closed {
            // No engine runs.
            drop(incoming);
            drop(memory);
            return;
        }
        incoming.dying.push_back(memory);
        let _ = self.queue.enqueue::<_, 0>(self.clone());
    }

    /// A space that nobody will use any more is emptied. Any context that may sleep.
    pub(super) fn empty(&self, space: Arc<Emptying>) {
        // It is on its way already, or it is not.
        let _ = self.late.enqueue::<_, 0>(space);
    }

    /// Lets the tick run, which lets the device sleep in the end. Any context.
    pub(crate) fn wind(self: &Arc<Self>) {
        // Under the lock: what is queued before the end is cancelled, and nothing is after it.
        let incoming = self.incoming.lock();
        if !incoming.closed {
            let tick = time::ms(TICK_MS);
            let _ = work::enqueue_delayed::<_, 1>(self.clone(), |r| &r.queue, tick);
        }
    }

    /// Looks at engines in so many nanoseconds, where contexts take turns. Not needed for what the tick sees
    /// in time. Any context.
    pub(super) fn look_in(self: &Arc<Self>, ns: u64) {
        let ms = ns.div_ceil(1_000_000);
        if ms >= TICK_MS.into() {
            return;
        }
        let incoming = self.incoming.lock();
        if !incoming.closed {
            let delay = time::ms(ms as u32);
            let _ = work::enqueue_delayed::<_, 2>(self.clone(), |r| &r.queue, delay);
        }
    }

    /// Whether nothing is on its way back.
    pub(crate) fn is_empty(&self) -> bool {
        let waiting = {
            let incoming = self.incoming.lock();
            !incoming.done.is_empty() || !incoming.dying.is_empty()
        };
        if waiting {
            return false;
        }
        let quarantine = self.quarantine.lock();
        quarantine.open.is_empty() && quarantine.closed.is_empty()
    }

    /// Lets go of all that can be let go of now. Process context.
    pub(crate) fn retire(self: &Arc<Self>) {
        self.follower_queue.clear();
        loop {
            let request = self.incoming.lock().done.pop_front();
            let Some(request) = request else { break };
            drop(request);
            self.live.fetch_sub(1, ordering::Relaxed);
        }
        let mut quarantine = self.quarantine.lock();
        loop {
            let memory = self.incoming.lock().dying.pop_front();
            let Some(memory) = memory else { break };
            quarantine.open.push_back(memory);
        }
        let engines = self.engines.lock();
        loop {
            if quarantine.closed.is_empty() {
                if quarantine.open.is_empty() {
                    break;
                }
                let Quarantine {
                    open,
                    closed,
                    marks,
                } = &mut *quarantine;
                closed.push_all_back(open);
                self.hardware.settle_gtt();
                for (mark, engine) in marks.iter_mut().zip(engines.iter()) {
                    *mark = engine.last_emitted();
                }
            }
            let passed = quarantine
                .marks
                .iter()
                .zip(engines.iter())
                .all(|(mark, engine)| engine.progress().passed(*mark));
            if !passed {
                drop(engines);
                drop(quarantine);
                self.wind();
                return;
            }
            // After the end no engine runs, and there is none.
            if !engines.is_empty() && !self.copies_are_gone() {
                drop(engines);
                drop(quarantine);
                self.wind();
                return;
            }
            while let Some(memory) = quarantine.closed.pop_front() {
                memory.into_arc().end(&self.late);
            }
        }
    }

    /// Whether no unit holds copies of entries that were taken out of the tables. Of a device that does not
    /// say so, they may: until it was reset, or is gone.
    fn copies_are_gone(&self) -> bool {
        let gone = match self.hardware.invalidate_tlbs() {
            Err(e) if e != ENODEV => Err(e),
            _ => Ok(()),
        };
        let said = self.copies_held.xchg(gone.is_err(), ordering::Relaxed);
        if let (Err(e), false) = (gone, said) {
            dev_warn!(
                self.hardware.dev(),
                "TLBs are not invalidated ({e:?}): memory is kept\n"
            );
        }
        gone.is_ok()
    }

    /// Lets go of everything: no engine runs any more, and nothing new comes. Process context.
    pub(crate) fn close(self: &Arc<Self>) {
        self.incoming.lock().closed = true;
        work::cancel_delayed_sync::<Self, 1>(self);
        work::cancel_delayed_sync::<Self, 2>(self);
        self.engines.lock().clear();
        self.exchange.set_engines(KVec::new());
        let hang_check = self.hang_check.lock().take();
        drop(hang_check);
        drop(self.pressed());
        self.settle();
        self.retire();
        self.late.flush();
    }

    /// After the end: waits until the worker has done what it was asked for. Process context.
    pub(crate) fn settle(&self) {
        if self.incoming.lock().closed {
            self.queue.flush();
        }
    }
}
