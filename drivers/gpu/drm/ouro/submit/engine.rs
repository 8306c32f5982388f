// SPDX-License-Identifier: GPL-2.0

//! An engine: the requests that wait, and the port to which those go that are ready.
//!
//! The queue is one lock, taken in any context, and held for a few hundred instructions: while a
//! request is written into a ring ([`Port`]), or completed ones are taken off. Nothing under it
//! allocates or sleeps.

use kernel::{
    list::{List, ListArc},
    new_spinlock_irq,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, SpinLockIrq,
    },
};
use ouro_hw::{
    engine::{PortKind, STREAM_DWORDS},
    generation::Translation,
    ring::Commands,
    types::{GgttAddr, Seqno},
};
use ouro_kernel::{fence, list::MemberList, pci::DmaDevice, time};

use super::{
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

/// Dwords that a request takes in a ring at most, on any engine, without the golden state.
pub(super) const MAX_EMIT: usize = 144;
/// Dwords of golden state at most.
pub(super) const MAX_GOLDEN: usize = 256;

/// An engine.
#[pin_data]
pub(crate) struct Engine {
    pub(super) hardware: Arc<Hardware>,
    pub(super) hw: &'static dyn ouro_hw::Engine,
    index: usize,
    /// Its own ring and status page. Where contexts are listed, the former is not used.
    pub(super) line: Arc<Line>,
    /// The global space's directory, where requests load directories.
    pub(super) directory: Option<GgttAddr>,
    /// What undoes the state that other batches left, where no context does.
    pub(super) null_state: Option<NullState>,
    pub(super) retirer: Arc<Retirer>,
    #[pin]
    pub(super) queue: SpinLockIrq<Queue>,
    /// Requests that follow others, which were emitted, and are about to be told.
    pub(super) expected: Atomic<u32>,
    /// How busy it is, for work that could be its own or another one's ([`super::lists::balance`]).
    pub(super) load: Load,
    pub(super) submitted: Atomic<u64>,
    completed: Atomic<u64>,
    pub(super) switches: Atomic<u64>,
    pub(super) port_writes: Atomic<u64>,
    /// Directories that were loaded by requests.
    pub(super) directory_loads: Atomic<u64>,
}

/// Whether completions interrupt.
#[derive(Default)]
pub(super) struct Arming {
    armed: bool,
}

/// What the lock protects.
pub(super) struct Queue {
    pub(super) port: Port,
    /// Published, but waiting for fences.
    pub(super) blocked: MemberList<Tracker>,
    /// Could not be emitted, or became ready when nothing is emitted any more.
    pub(super) failed: List<Request>,
    /// Requests, ready or in flight, that somebody waits for.
    pub(super) wanted: u32,
    /// When a request was last seen to be done, in nanoseconds.
    pub(super) last_done: u64,
    pub(super) arming: Arming,
    /// Why nothing is emitted any more.
    pub(super) stopped: Option<Error>,
    /// Nothing is emitted for now: the device sleeps, or is about to.
    pub(super) paused: bool,
    /// Nothing is emitted for now: the engine is being reset.
    pub(super) resetting: bool,
    /// Nothing is listed for now: so many are about to signal what comes first ([`super::lists::inherit`]).
    pub(super) signalling: u32,
    /// Contexts on their way here from other engines.
    pub(super) arriving: u32,
}

impl Queue {
    fn is_idle(&self) -> bool {
        self.blocked.is_empty() && self.port.is_idle() && self.failed.is_empty()
    }
}

/// What an engine has done so far.
pub(crate) struct Counts {
    pub(crate) submitted: u64,
    pub(crate) completed: u64,
    pub(crate) port_writes: u64,
    pub(crate) switches: u64,
    pub(crate) lite_restores: u64,
    pub(crate) preemptions: u64,
    pub(crate) directory_loads: u64,
}

impl Engine {
    /// Gives an engine its memory. It is not started.
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
            PortKind::Ring => Port::Ring(RingQueue::new(desc.ring_bytes)),
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
                }, "ouro_queue"),
                expected: Atomic::new(0),
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

    /// Its number in the topology.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    pub(crate) fn counts(&self) -> Counts {
        // Between contexts of lists the engine switches by itself.
        let lists = self.queue.lock().port.counts();
        Counts {
            submitted: self.submitted.load(ordering::Relaxed),
            completed: self.completed.load(ordering::Relaxed),
            port_writes: self.port_writes.load(ordering::Relaxed),
            switches: self.switches.load(ordering::Relaxed) + lists.switches,
            lite_restores: lists.lite_restores,
            preemptions: lists.preemptions,
            directory_loads: self.directory_loads.load(ordering::Relaxed),
        }
    }

    /// Starts it, with an empty ring. The device is up and awake.
    pub(crate) fn start(&self) -> Result {
        match &mut self.queue.lock().port {
            Port::Ring(ring) => ring.port.clear(),
            Port::Lists(lists) => lists.restart(self),
        }
        let (dev, id) = (self.hardware.dev(), Words(self.hw.desc().id));
        self.hw
            .start(&self.hardware.hw(), self.line.memory(), &Waits)
            .map_err(|e| {
                dev_err!(dev, "{}: not started: {}\n", id, Words(e));
                errno(e)
            })?;
        if let Some(name) = self.hw.lost(&self.hardware.hw()) {
            dev_warn!(dev, "{}: {} does not hold its value\n", id, name);
        }
        self.queue.lock().arming = Arming::default();
        Ok(())
    }

    /// Its own ring and status page.
    pub(crate) fn line(&self) -> &Arc<Line> {
        &self.line
    }

    /// Whether it takes lists of contexts.
    pub(crate) fn has_lists(&self) -> bool {
        matches!(self.hw.desc().port, PortKind::List { .. })
    }

    /// Whether it has streams that shaders write, which may start anew:
    /// [`Work::BatchOfNewStreams`](super::request::Work::BatchOfNewStreams).
    pub(crate) fn has_streams(&self) -> bool {
        let mut commands = [0; STREAM_DWORDS];
        let mut commands = Commands::new(&mut commands);
        self.hw.restart_streams(&mut commands).is_ok()
    }

    /// The number up to which all requests are done.
    pub(crate) fn progress(&self) -> Seqno {
        if !self.has_lists() {
            return self.line.progress();
        }
        match &self.queue.lock().port {
            Port::Ring(_) => self.line.progress(),
            Port::Lists(lists) => lists.progress(),
        }
    }

    /// The number of the last request emitted: when [`progress`](Self::progress) has passed it,
    /// whatever was in the engine's caches of table entries has been invalidated since.
    pub(crate) fn last_emitted(&self) -> Seqno {
        self.queue.lock().port.last()
    }

    /// Nanoseconds that it has worked on the request that it has now, if that is of `holder`.
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
        let at = first.emitted.lock().at.max(queue.last_done);
        time::monotonic_ns().saturating_sub(at)
    }

    /// Whether all that was published is done.
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.lock().is_idle()
    }

    /// Somebody waits for a request: its completion is to interrupt. False if it is done already.
    /// Any context.
    /// `None`, and nothing is done: it is another engine's.
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
        // Armed first, then looked: whatever completes after the look interrupts.
        Some(!tracker.is_done())
    }

    /// Counts a publication.
    pub(crate) fn published(&self) {
        self.submitted.fetch_add(1, ordering::Relaxed);
    }

    /// A request is published; it becomes ready later. Any context.
    pub(super) fn block(&self, tracker: ListArc<Tracker>, request: ListArc<Request>) {
        let failed = {
            let mut queue = self.queue.lock();
            match queue.stopped {
                // The device is gone, and waits for nobody.
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

    /// What a blocked request waited for is signalled. Any context.
    pub(super) fn unblock(&self, tracker: &Tracker) {
        let mut queue = self.queue.lock();
        // It is gone if the device is.
        let found = queue.blocked.remove(tracker);
        if let Some(request) = found.and_then(|tracker| tracker.let_go()) {
            self.is_ready(&mut queue, request);
        }
        drop(queue);
        self.retirer.pass_on();
    }

    /// A request waits for nothing any more. Any context.
    pub(super) fn is_ready(&self, queue: &mut Queue, request: ListArc<Request>) {
        let refused = match queue.stopped {
            Some(_) => Some(request),
            None => queue.port.push(request).err(),
        };
        if let Some(request) = refused {
            // Its fence may not be signalled here: this may be the callback of another.
            queue.failed.push_back(request);
            self.retirer.wind();
        } else {
            self.pump(queue);
        }
    }

    pub(super) fn arm(&self, arming: &mut Arming) {
        if !arming.armed {
            arming.armed = true;
            self.hardware.arm(self.index, true);
        }
    }

    /// What is ready goes to the device, as far as there is room.
    pub(super) fn pump(&self, queue: &mut Queue) {
        if queue.stopped.is_some() || queue.resetting {
            return;
        }
        let Queue {
            port,
            arming,
            failed,
            paused,
            signalling,
            ..
        } = queue;
        match port {
            Port::Ring(_) if *paused => {}
            Port::Ring(ring) => ring.pump(self, arming, failed),
            Port::Lists(lists) => {
                // Paused or not: who waits until it is quiet waits for this, too.
                lists.settle();
                // What was emitted still has to be listed.
                if !*paused {
                    lists.emit(self, arming, failed);
                }
                if *signalling == 0 && self.expected.load(ordering::Acquire) == 0 {
                    lists.go_on(self);
                }
            }
        }
    }

    /// Takes off what is done, signals it, and refills the ring. Any context. Returns whether
    /// anything was done.
    pub(crate) fn advance(&self) -> bool {
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
                let at = request.emitted.lock().at;
                if let Some(holder) = request.context.as_ref().and_then(|c| c.holder()) {
                    let ns = now.saturating_sub(at.max(*last_done));
                    holder.busy().add(self.hw.desc().id.class, ns);
                }
                *last_done = now;
                // Under the lock: who has looked knows what is done.
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
            // Those could not be emitted, or the engine takes none any more.
            error = queue.stopped.unwrap_or(EIO);
        }
        self.retirer.pass_on();
        while let Some(request) = failed.pop_front() {
            self.cancel(error, request);
        }
        let any = !done.is_empty();
        while let Some(request) = done.pop_front() {
            self.finish(request);
        }
        if first {
            let mut queue = self.queue.lock();
            queue.signalling = queue.signalling.saturating_sub(1);
            self.pump(&mut queue);
            drop(queue);
            self.retirer.pass_on();
        }
        any
    }

    /// Counts a request that is done, or has failed.
    pub(super) fn count_done(&self) {
        self.completed.fetch_add(1, ordering::Relaxed);
    }

    /// Signals a request that was counted, and hands it over.
    pub(super) fn finish(&self, request: ListArc<Request>) {
        request.fence.signal();
        // Who waited for it to be emitted waits no more, if it was not.
        self.retirer.follower_queue().pass(&request.tracker);
        self.retirer.pass_on();
        if request.tracker.is_wanted() {
            let mut queue = self.queue.lock();
            queue.wanted = queue.wanted.saturating_sub(1);
        }
        self.retirer.push(request);
    }

    /// Whether completions interrupt.
    pub(crate) fn is_armed(&self) -> bool {
        self.queue.lock().arming.armed
    }

    /// The interrupt said that something was completed.
    pub(crate) fn interrupt(&self) {
        self.advance();
        let mut queue = self.queue.lock();
        if queue.arming.armed && queue.wanted == 0 && !queue.port.wants_room() {
            queue.arming.armed = false;
            self.hardware.arm(self.index, false);
        }
    }
}
