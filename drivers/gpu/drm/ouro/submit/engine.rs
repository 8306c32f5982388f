// SPDX-License-Identifier: GPL-2.0

//! An engine: its waiting requests, and the port for the ready ones.
//!
//! The queue is under one lock, taken in any context, and held for a few hundred instructions:
//! while a request is emitted ([`Port`]), or completed ones are retired. Nothing under it allocates
//! or sleeps.

use kernel::{
    list::{List, ListArc},
    new_spinlock_irq,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, SpinLockIrq,
    },
};
use ouro_core::burst::Burst;
use ouro_hw::{
    engine::{PortKind, STREAM_DWORDS},
    generation::Translation,
    ring::Commands,
    types::{GgttAddr, Seqno},
};
use ouro_kernel::{fence, list::MemberList, pci::DmaDevice, time};

use super::{
    freed::Mark,
    guilt::Holder,
    line::Line,
    lists::{balance::Load, Lists},
    port::Port,
    request::{Request, Tracker},
    ring::{null_state::NullState, RingQueue},
    Retirer,
};
use crate::{
    gem::Space,
    hardware::{errno, Hardware, Waits},
    report::Words,
};

/// Most dwords that a request takes in a ring, on any engine, without the golden state.
pub(super) const MAX_EMIT: usize = 148;
/// Most completed requests that submissions leave to the tick.
const MAX_UNRETIRED: u32 = 8;
/// Most dwords of golden state.
pub(super) const MAX_GOLDEN: usize = 256;

/// An engine.
#[pin_data]
pub(crate) struct Engine {
    pub(super) hardware: Arc<Hardware>,
    pub(super) hw: &'static dyn ouro_hw::Engine,
    index: usize,
    /// The engine's own ring and status page. Execlist engines do not use this ring.
    pub(super) line: Arc<Line>,
    /// The global space's directory, on chips where requests load directories.
    pub(super) directory: Option<GgttAddr>,
    /// The commands that reset the state left by other batches, on engines without contexts.
    pub(super) null_state: Option<NullState>,
    pub(super) retirer: Arc<Retirer>,
    #[pin]
    pub(super) queue: SpinLockIrq<Queue>,
    /// Number of completed requests that were not retired yet at the last look, on execlist
    /// engines.
    pub(super) unretired: Atomic<u32>,
    /// Number of followers of emitted requests that are about to become ready.
    pub(super) expected: Atomic<u32>,
    /// Whether freed memory waits for it to switch out what it runs.
    pub(super) delays_memory: Atomic<bool>,
    /// Its load, for load balancing ([`super::lists::balance`]).
    pub(super) load: Load,
    pub(super) submitted: Atomic<u64>,
    completed: Atomic<u64>,
    pub(super) switches: Atomic<u64>,
    pub(super) port_writes: Atomic<u64>,
    /// Number of directories loaded by requests.
    pub(super) directory_loads: Atomic<u64>,
}

/// Which interrupts are armed.
#[derive(Default)]
pub(super) struct Arming {
    completions: bool,
    /// Of context switches, on execlist engines.
    pub(super) switches: bool,
}

/// The state under the queue's lock.
pub(super) struct Queue {
    pub(super) port: Port,
    /// Requests that are published but wait for fences.
    pub(super) blocked: MemberList<Tracker>,
    /// Requests that could not be emitted, or became ready after the engine was stopped.
    pub(super) failed: List<Request>,
    /// Number of requests, ready or in flight, that have a waiter.
    pub(super) wanted: u32,
    /// When the last completion was seen, in nanoseconds.
    pub(super) last_done: u64,
    pub(super) arming: Arming,
    /// Why nothing is emitted any more.
    pub(super) stopped: Option<Error>,
    /// Nothing is emitted for now: the device sleeps, or is about to.
    pub(super) paused: bool,
    /// Nothing is emitted for now: the engine is being reset.
    pub(super) resetting: bool,
    /// Nothing is loaded for now: so many callers are about to signal fences whose waiters come
    /// first ([`super::lists::inherit`]).
    pub(super) signalling: u32,
    /// Number of contexts on their way here from other engines.
    pub(super) arriving: u32,
    /// Requests that become ready one right after the other.
    pub(super) burst: Burst,
    /// Whether the worker will look at the engine, because requests were left to it.
    pub(super) deferred: bool,
}

impl Queue {
    fn is_idle(&self) -> bool {
        self.blocked.is_empty() && self.port.is_idle() && self.failed.is_empty()
    }
}

/// Statistics of an engine.
pub(crate) struct Counts {
    pub(crate) submitted: u64,
    pub(crate) completed: u64,
    pub(crate) port_writes: u64,
    pub(crate) switches: u64,
    pub(crate) lite_restores: u64,
    pub(crate) preemptions: u64,
    pub(crate) directory_loads: u64,
    /// How often contexts were looked at, on execlist engines.
    pub(crate) visits: u64,
}

impl Engine {
    /// Creates an engine and its memory. It is not started.
    pub(crate) fn new(
        hardware: Arc<Hardware>,
        space: &Arc<Space>,
        dma: &Arc<DmaDevice>,
        index: usize,
        retirer: Arc<Retirer>,
    ) -> Result<Arc<Self>> {
        let hw = *hardware.topology().engines.get(index).ok_or(EINVAL)?;
        let desc = hw.desc();
        if desc.emit_dwords > MAX_EMIT || desc.golden_dwords > MAX_GOLDEN {
            return Err(EINVAL);
        }
        let line = Line::new(&hardware, hw, space, dma)?;
        let port = match desc.port {
            PortKind::Ring => Port::Ring(RingQueue::new(desc)?),
            PortKind::List { depth } => Port::Lists(Lists::new(depth, desc.events.ok_or(EINVAL)?)?),
        };
        let directory = match hardware.topology().space {
            Translation::PerContextDirectory { .. } => line.memory().directory,
            _ => None,
        };
        let null_state = match desc.known_dwords {
            0 => None,
            dwords => Some(NullState::new(hw, space, dma, dwords)?),
        };
        Arc::pin_init(
            try_pin_init!(Self {
                hw,
                index,
                directory,
                line,
                null_state,
                retirer,
                queue <- new_spinlock_irq!(Queue {
                    port,
                    blocked: MemberList::new(),
                    failed: List::new(),
                    wanted: 0,
                    last_done: 0,
                    arming: Arming::default(),
                    stopped: None,
                    paused: false,
                    resetting: false,
                    signalling: 0,
                    arriving: 0,
                    burst: Burst::default(),
                    deferred: false,
                }, "ouro_queue"),
                unretired: Atomic::new(0),
                expected: Atomic::new(0),
                delays_memory: Atomic::new(false),
                load: Load::new(),
                submitted: Atomic::new(0),
                completed: Atomic::new(0),
                switches: Atomic::new(0),
                port_writes: Atomic::new(0),
                directory_loads: Atomic::new(0),
                hardware,
            }? Error),
            GFP_KERNEL,
        )
    }

    pub(crate) fn hw(&self) -> &'static dyn ouro_hw::Engine {
        self.hw
    }

    /// Returns its number in the topology.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    pub(crate) fn counts(&self) -> Counts {
        // An execlist engine switches between the contexts of a list by itself.
        let (lists, visits) = {
            let queue = self.queue.lock();
            (queue.port.counts(), queue.port.visits())
        };
        Counts {
            submitted: self.submitted.load(ordering::Relaxed),
            completed: self.completed.load(ordering::Relaxed),
            port_writes: self.port_writes.load(ordering::Relaxed),
            switches: self.switches.load(ordering::Relaxed) + lists.switches,
            lite_restores: lists.lite_restores,
            preemptions: lists.preemptions,
            directory_loads: self.directory_loads.load(ordering::Relaxed),
            visits,
        }
    }

    /// Starts the engine with an empty ring. The device must be up and awake.
    pub(crate) fn start(&self) -> Result {
        match &mut self.queue.lock().port {
            Port::Ring(ring) => ring.port.clear(),
            Port::Lists(lists) => lists.restart(self),
        }
        let (dev, id) = (self.hardware.dev(), Words(self.hw.desc().id));
        self.hw
            .start(&self.hardware.hw(), self.line.memory(), &Waits)
            .map_err(|e| {
                dev_err!(dev, "{}: engine start failed: {}\n", id, Words(e));
                errno(e)
            })?;
        if let Some(name) = self.hw.lost(&self.hardware.hw()) {
            dev_warn!(
                dev,
                "{}: register {} does not keep the value written\n",
                id,
                name
            );
        }
        self.queue.lock().arming = Arming::default();
        Ok(())
    }

    /// Logs that a request fails because its commands cannot be encoded in `most` dwords. Any
    /// context.
    pub(super) fn not_encoded(&self, most: usize) {
        let (dev, desc) = (self.hardware.dev(), self.hw.desc());
        let (id, ring) = (Words(desc.id), desc.ring_bytes);
        dev_err!(
            dev,
            "{id}: request not encoded in {most} dwords (ring of {ring} bytes), it fails with EIO\n"
        );
    }

    /// Returns the engine's own ring and status page.
    pub(crate) fn line(&self) -> &Arc<Line> {
        &self.line
    }

    /// Returns whether it is an execlist engine.
    pub(crate) fn has_lists(&self) -> bool {
        matches!(self.hw.desc().port, PortKind::List { .. })
    }

    /// Returns whether it has stream output (SO) buffers, whose offsets a batch may reset:
    /// [`Work::BatchWithStreamOutputReset`](super::request::Work::BatchWithStreamOutputReset).
    pub(crate) fn has_stream_output(&self) -> bool {
        let mut commands = [0; STREAM_DWORDS];
        let mut commands = Commands::new(&mut commands);
        self.hw.restart_streams(&mut commands).is_ok()
    }

    /// Returns the seqno up to which all requests have completed.
    pub(crate) fn progress(&self) -> Seqno {
        if !self.has_lists() {
            return self.line.progress();
        }
        match &self.queue.lock().port {
            Port::Ring(_) => self.line.progress(),
            Port::Lists(lists) => lists.progress(),
        }
    }

    /// Returns how far it is, for [`passed`](Self::passed).
    pub(super) fn mark(&self) -> Mark {
        let port = &self.queue.lock().port;
        Mark {
            seqno: port.last(),
            loads: port.loads(),
        }
    }

    /// Returns whether it has flushed all writes that it had begun at a mark: either the requests
    /// emitted then have completed, each of which has also invalidated the TLBs and flushed behind
    /// itself; or what ran then was switched out, and what runs now has begun later. To switch a
    /// context out includes a flush (the document counts it, in "Watchdog Timers").
    pub(super) fn passed(&self, mark: &Mark) -> bool {
        self.progress().passed(mark.seqno) || self.queue.lock().port.has_saved_since(mark.loads)
    }

    /// Returns for how many nanoseconds it has worked on its current request, if that is
    /// `holder`'s.
    pub(crate) fn works_for(&self, holder: &Holder) -> u64 {
        let queue = self.queue.lock();
        let Some(first) = queue.port.first().filter(|first| {
            let context = first.context.as_ref();
            context
                .and_then(|c| c.holder())
                .is_some_and(|h| core::ptr::eq(h, holder))
        }) else {
            return 0;
        };
        let at = first.emitted.at().max(queue.last_done);
        time::monotonic_ns().saturating_sub(at)
    }

    /// Returns whether all published requests have completed.
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.lock().is_idle()
    }

    /// Makes a request's completion interrupt, because it has a waiter. Returns false if it has
    /// completed already; `None`, without any effect, if it has moved to another engine. Any
    /// context.
    pub(super) fn wait_for(&self, tracker: &Tracker) -> Option<bool> {
        {
            let mut queue = self.queue.lock();
            if !tracker.is_on(self) {
                return None;
            }
            if !tracker.want() {
                queue.wanted += 1;
            }
            self.arm(&mut queue.arming);
        }
        // Armed first, then checked: a completion after the check interrupts.
        Some(!tracker.is_done())
    }

    /// Counts a published request.
    pub(crate) fn published(&self) {
        self.submitted.fetch_add(1, ordering::Relaxed);
    }

    /// Adds a published request, which becomes ready later. Any context.
    pub(super) fn block(&self, tracker: ListArc<Tracker>, request: ListArc<Request>) {
        let failed = {
            let mut queue = self.queue.lock();
            match queue.stopped {
                // The device is gone: nothing is waited for.
                Some(error) if error == ENODEV => Some((error, request)),
                _ => {
                    tracker.hold(request);
                    queue.blocked.push_back(tracker);
                    None
                }
            }
        };
        if let Some((error, request)) = failed {
            self.cancel(error, request);
        }
    }

    /// Queues a published request that has nothing to wait for. Any context.
    pub(super) fn begin(&self, request: ListArc<Request>) {
        let failed = {
            let mut queue = self.queue.lock();
            match queue.stopped {
                // The device is gone: nothing is waited for.
                Some(error) if error == ENODEV => Some((error, request)),
                _ => {
                    self.queue_ready(&mut queue, request);
                    None
                }
            }
        };
        if let Some((error, request)) = failed {
            self.cancel(error, request);
        }
        self.retirer.run_deferred();
    }

    pub(super) fn arm(&self, arming: &mut Arming) {
        if !arming.completions {
            arming.completions = true;
            self.hardware.arm(self.index, true);
        }
    }

    /// Arms the context switch interrupt. Returns false if it is armed already, or if the device
    /// sleeps.
    pub(super) fn arm_switches(&self, arming: &mut Arming) -> bool {
        if arming.switches {
            return false;
        }
        arming.switches = self.hardware.arm_switches(self.index, true);
        arming.switches
    }

    /// Disarms the context switch interrupt.
    pub(super) fn disarm_switches(&self, arming: &mut Arming) {
        if arming.switches {
            arming.switches = self.hardware.arm_switches(self.index, false);
        }
    }

    /// Retires completed requests, signals their fences, and refills the ring. Any context. Returns
    /// whether any request has completed.
    pub(crate) fn advance(&self) -> bool {
        let mut gone = self.advance_to();
        let any = !gone.is_empty();
        while let Some(request) = gone.pop_front() {
            self.retirer.push(request);
        }
        any
    }

    /// Does what [`advance()`](Self::advance) does, and returns the requests, which the caller
    /// passes to the retirer.
    fn advance_to(&self) -> List<Request> {
        let _signalling = fence::signalling();
        let mut done = List::new();
        let mut failed = List::new();
        let error;
        let first;
        {
            let mut queue = self.queue.lock();
            let now = time::monotonic_ns();
            let Queue {
                port, last_done, ..
            } = &mut *queue;
            let each = |request: ListArc<Request>| {
                let at = request.emitted.at();
                if let Some(holder) = request.context.as_ref().and_then(|c| c.holder()) {
                    let ns = now.saturating_sub(at.max(*last_done));
                    holder.busy().add(self.hw.desc().id.class, ns);
                }
                *last_done = now;
                // Under the lock, so that a caller who has looked sees a consistent count.
                self.count_done();
                done.push_back(request);
            };
            match port {
                Port::Ring(ring) => ring.advance(self, each),
                Port::Lists(lists) => lists.advance(self, now, each),
            }
            first = self.comes_first(&done);
            queue.signalling += u32::from(first);
            self.pump(&mut queue);
            if let Port::Ring(ring) = &mut queue.port {
                ring.unwatch(self);
            }
            failed.push_all_back(&mut queue.failed);
            // These could not be emitted, or the engine was stopped.
            error = queue.stopped.unwrap_or(EIO);
        }
        self.retirer.run_deferred();
        while let Some(request) = failed.pop_front() {
            self.cancel(error, request);
        }
        let mut gone = List::new();
        while let Some(request) = done.pop_front() {
            self.signal(&request);
            gone.push_back(request);
        }
        if !gone.is_empty() {
            self.retirer.run_deferred();
        }
        if first {
            let mut queue = self.queue.lock();
            queue.signalling = queue.signalling.saturating_sub(1);
            self.pump(&mut queue);
            drop(queue);
            self.retirer.run_deferred();
        }
        gone
    }

    /// Retires completed requests if there are many, which each submission would look at again, and
    /// releases them, and others that interrupts have retired: the worker would cost as much again.
    /// No interrupt may come that would retire them. Process context; the caller holds no locks.
    pub(super) fn retire_some(&self) {
        if self.unretired.load(ordering::Relaxed) > MAX_UNRETIRED {
            let mut gone = self.advance_to();
            while let Some(request) = gone.pop_front() {
                self.retirer.release(request);
            }
        }
        self.retirer.release_some();
    }

    /// Counts a request that has completed or failed.
    pub(super) fn count_done(&self) {
        self.completed.fetch_add(1, ordering::Relaxed);
    }

    /// Signals the fence of a request that was counted, and passes it to the retirer.
    pub(super) fn finish(&self, request: ListArc<Request>) {
        self.signal(&request);
        self.retirer.run_deferred();
        self.retirer.push(request);
    }

    /// Signals the fence of a request that was counted. [`Retirer::run_deferred`] must follow.
    fn signal(&self, request: &Request) {
        request.fence.signal();
        // If it was never emitted, its followers must not wait any longer.
        self.retirer.follower_queue().pass(&request.tracker);
        if request.tracker.is_wanted() {
            let mut queue = self.queue.lock();
            queue.wanted = queue.wanted.saturating_sub(1);
        }
    }

    /// Returns whether a completion interrupts: of a request that has a waiter, or because the
    /// engine switches contexts then.
    pub(crate) fn is_armed(&self) -> bool {
        let arming = &self.queue.lock().arming;
        arming.completions || arming.switches
    }

    /// Handles the interrupts of completions and context switches, and disarms those that are not
    /// needed any more.
    pub(crate) fn interrupt(&self) {
        // To wake the worker for each costs more than the rest of the interrupt.
        let mut gone = self.advance_to();
        while let Some(request) = gone.pop_front() {
            self.retirer.defer_release(request);
        }
        let mut queue = self.queue.lock();
        if queue.arming.completions && queue.wanted == 0 && !queue.port.wants_room() {
            queue.arming.completions = false;
            self.hardware.arm(self.index, false);
        }
        if queue.lists().is_some_and(|lists| !lists.needs_event(self)) {
            self.disarm_switches(&mut queue.arming);
        }
    }
}
