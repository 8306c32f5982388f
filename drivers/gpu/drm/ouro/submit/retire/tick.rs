// SPDX-License-Identifier: GPL-2.0

//! The work that fences wait for: the tick, the schedulers' timer, and reports of engines.
//!
//! Reclaim may wait for a fence (a userptr object's MMU notifier does). So nothing here allocates,
//! or takes a lock under which memory is allocated, or drops the last reference to a context.

use kernel::{
    list::ListArc,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
    workqueue::WorkItem,
};
use ouro_kernel::{fence, time, work};

use super::{
    super::{
        lists::inherit::{self, Visits},
        request::Tracker,
    },
    Engine, Retirer, IDLE_TICKS, TICK_MS,
};

impl WorkItem<1> for Retirer {
    type Pointer = Arc<Retirer>;

    fn run(this: Arc<Retirer>) {
        // A later `start_tick()` sees false and queues the tick again.
        this.tick_queued.xchg(false, ordering::Full);
        let (mut idle, mut removed) = (true, false);
        {
            let _signalling = fence::signalling();
            let engines = this.engines.lock();
            let mut missed = false;
            for engine in engines.iter() {
                missed |= engine.advance() && engine.is_armed();
                removed |= engine.has_removed();
                idle &= engine.is_idle();
            }
            if missed {
                this.missed_interrupt(&engines);
            }
            inherit::spread(this.pressed());
        }
        let hang_check = this.hang_check.lock().clone();
        if let (false, Some(hang_check)) = (idle, hang_check) {
            hang_check.tick();
        }
        let is_empty = this.is_empty();
        if removed || !is_empty {
            let _ = this.queue.enqueue::<_, 0>(this.clone());
        }
        if !idle {
            this.idle_ticks.store(0, ordering::Relaxed);
        } else if this.idle_ticks.fetch_add(1, ordering::Relaxed) + 1 >= IDLE_TICKS && is_empty {
            this.hardware.park();
            return;
        }
        this.start_tick();
    }
}

impl WorkItem<2> for Retirer {
    type Pointer = Arc<Retirer>;

    fn run(this: Arc<Retirer>) {
        let _signalling = fence::signalling();
        for engine in this.engines.lock().iter().filter(|e| e.has_lists()) {
            engine.advance();
        }
    }
}

impl WorkItem<3> for Retirer {
    type Pointer = Arc<Retirer>;

    fn run(this: Arc<Retirer>) {
        let overdue = this.overdue.xchg(0, ordering::Full);
        if overdue != 0 {
            this.enforce(overdue);
        }
        let errors = this.errors.xchg(0, ordering::Full);
        if errors != 0 {
            this.print_errors(errors);
        }
    }
}

impl Retirer {
    /// The engines of the mask report errors, which are logged soon. Any context.
    pub(crate) fn report_errors(self: &Arc<Self>, mask: u32) {
        self.report(&self.errors, mask);
    }

    /// The watchdogs of the mask's engines have fired. Any context.
    pub(crate) fn report_overdue(self: &Arc<Self>, mask: u32) {
        self.report(&self.overdue, mask);
    }

    /// Makes the worker look at the engines of the mask.
    fn report(self: &Arc<Self>, engines: &Atomic<u32>, mask: u32) {
        let incoming = self.incoming.lock();
        if !incoming.closed {
            // Only the worker accesses it without the lock: at worst it looks once too often.
            let known = engines.load(ordering::Relaxed);
            engines.store(known | mask, ordering::Release);
            let _ = self.signals.enqueue::<_, 3>(self.clone());
        }
    }

    /// The request has a waiter that cannot be woken up. Any context.
    pub(in crate::submit) fn press(&self, tracker: ListArc<Tracker, 1>) {
        let mut incoming = self.incoming.lock();
        if !incoming.closed {
            incoming.pressed.push_back(tracker);
        }
    }

    /// Takes the requests whose waiters cannot be woken up.
    pub(super) fn pressed(&self) -> Visits {
        core::mem::take(&mut self.incoming.lock().pressed)
    }

    /// A completion should have interrupted, and did not. If an MSI was lost, the device waits for
    /// its events to be acknowledged, and sends no other one: acknowledge them.
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
        if self.hardware.wake_to_report_errors().is_ok() {
            let hang_check = self.hang_check.lock().clone();
            if let Some(hang_check) = hang_check {
                hang_check.alarm(engines);
            }
            self.start_tick();
        }
    }

    /// The watchdogs of the mask's engines have fired.
    fn enforce(self: &Arc<Self>, engines: u32) {
        let hang_check = self.hang_check.lock().clone();
        if let Some(hang_check) = hang_check {
            hang_check.overdue(engines);
        }
        self.start_tick();
    }

    /// Starts the tick, which finally lets the device sleep. Any context.
    pub(crate) fn start_tick(self: &Arc<Self>) {
        // If so, the tick sees what was done before this.
        if self.tick_queued.xchg(true, ordering::Full) {
            return;
        }
        // Under the lock: work queued before the end is cancelled, and none is queued after it.
        let incoming = self.incoming.lock();
        if !incoming.closed {
            let tick = time::ms(TICK_MS);
            let _ = work::enqueue_delayed::<_, 1>(self.clone(), |r| &r.signals, tick);
        }
    }

    /// Runs the schedulers of execlist engines in `ns` nanoseconds, unless the tick comes soon
    /// enough. Any context.
    pub(in crate::submit) fn run_schedulers_in(self: &Arc<Self>, ns: u64) {
        let ms = ns.div_ceil(1_000_000);
        if ms >= TICK_MS.into() {
            return;
        }
        let incoming = self.incoming.lock();
        if !incoming.closed {
            let delay = time::ms(ms as u32);
            let _ = work::enqueue_delayed::<_, 2>(self.clone(), |r| &r.signals, delay);
        }
    }
}
