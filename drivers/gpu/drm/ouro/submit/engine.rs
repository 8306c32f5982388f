// SPDX-License-Identifier: GPL-2.0

//! An engine: its ring and status page, the requests that are ready, and those that are on it.
//!
//! The queue is one lock, taken in any context, and held for a few hundred instructions: while a
//! request is written into the ring ([`emit`](super::emit)), or completed ones are taken off. Nothing
//! under it allocates or sleeps.

use kernel::{
    list::{List, ListArc},
    new_spinlock_irq,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, SpinLockIrq,
    },
    time::{delay::fsleep, Delta},
};
use ouro_core::port::RingPort;
use ouro_hw::{
    engine::{Batch, EngineMemory, Privilege},
    ring::Commands,
    types::{CacheLevel, GpuAddr, Seqno, PAGE_SIZE},
};
use ouro_kernel::{fence, list::MemberList, pages::DmaPages, pci::DmaDevice, time, Caching};

use super::{
    guilt::Holder,
    image::InUse,
    request::{Request, Tracker},
    Retirer,
};
use crate::{
    hardware::{errno, Hardware, Waits},
    vm::{Mapping, Owner, Place, Space},
};

/// Dwords that a request takes in a ring at most, on any engine, without the golden state.
pub(super) const MAX_EMIT: usize = 128;
/// Nanoseconds that each request has before the system sleeps, and all of them together.
const IDLE_EACH_NS: u64 = 2_000_000_000;
const IDLE_ALL_NS: u64 = 10_000_000_000;
/// Microseconds from one look to the next meanwhile.
const IDLE_LOOK_US: i64 = 100;
/// Dwords of golden state at most.
pub(super) const MAX_GOLDEN: usize = 256;

/// An engine.
#[pin_data]
pub(crate) struct Engine {
    pub(super) hardware: Arc<Hardware>,
    pub(super) hw: &'static dyn ouro_hw::Engine,
    index: usize,
    pub(super) memory: EngineMemory,
    pub(super) ring: DmaPages,
    pub(super) status: DmaPages,
    _scratch: DmaPages,
    _mappings: [Mapping; 3],
    /// What undoes the state that other batches left, where no context does.
    pub(super) known: Option<Known>,
    pub(super) retirer: Arc<Retirer>,
    #[pin]
    pub(super) queue: SpinLockIrq<Queue>,
    submitted: Atomic<u64>,
    completed: Atomic<u64>,
    pub(super) switches: Atomic<u64>,
    pub(super) port_writes: Atomic<u64>,
}

/// Commands that give all state a known value. They stand in memory that nobody writes again.
pub(super) struct Known {
    /// Before another client's batch: all of them.
    pub(super) first: Batch,
    /// Before one more of the same client: without those that only keep clients apart.
    pub(super) again: Batch,
    _mapping: Mapping,
    _memory: DmaPages,
}

/// What the lock protects.
pub(super) struct Queue {
    pub(super) port: RingPort,
    /// Published, but waiting for fences.
    pub(super) blocked: MemberList<Tracker>,
    /// Ready to be emitted, in order.
    pub(super) ready: List<Request>,
    /// Emitted, in order.
    pub(super) flight: List<Request>,
    /// Could not be emitted, or became ready when nothing is emitted any more.
    pub(super) failed: List<Request>,
    /// The context whose image the engine holds when all that was emitted has run.
    pub(super) loaded: Option<InUse>,
    /// Requests, ready or in flight, that somebody waits for.
    pub(super) wanted: u32,
    /// When a request was last seen to be done, in nanoseconds.
    pub(super) last_done: u64,
    /// Whether the interrupt is armed.
    pub(super) armed: bool,
    /// Why nothing is emitted any more.
    pub(super) stopped: Option<Error>,
    /// Nothing is emitted for now: the device sleeps, or is about to.
    pub(super) paused: bool,
    /// Nothing is emitted for now: the engine is being reset.
    pub(super) resetting: bool,
}

impl Queue {
    fn is_idle(&self) -> bool {
        self.blocked.is_empty()
            && self.ready.is_empty()
            && self.flight.is_empty()
            && self.failed.is_empty()
    }
}

/// What an engine has done so far.
pub(crate) struct Counts {
    pub(crate) submitted: u64,
    pub(crate) completed: u64,
    pub(crate) port_writes: u64,
    pub(crate) switches: u64,
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
        let make = |pages: u32| -> Result<(DmaPages, Mapping)> {
            let memory = DmaPages::new(dma, pages as usize, Caching::WriteBack)?;
            let mapping = space.map(
                Place::Within {
                    range: (0, u64::MAX),
                    align: 4096,
                },
                pages,
                Owner::Kernel,
                CacheLevel::Coherent,
                memory.addresses().iter().copied(),
            )?;
            Ok((memory, mapping))
        };
        let (ring, ring_at) = make(desc.ring_bytes / 4096)?;
        let (status, status_at) = make(1)?;
        let (scratch, scratch_at) = make(1)?;
        let known = match desc.known_dwords {
            0 => None,
            dwords => {
                let mut buffer = KVVec::from_elem(0, dwords, GFP_KERNEL)?;
                let mut commands = Commands::new(&mut buffer);
                hw.known_state(&mut commands).map_err(|_| EINVAL)?;
                let bytes = (commands.len() * 4) as u32;
                let private = (desc.private_dwords.min(commands.len()) * 4) as u32;
                let (memory, mapping) = make(bytes.div_ceil(PAGE_SIZE))?;
                memory.view().write_words(0, commands.as_slice())?;
                let from = |skip: u32| Batch {
                    addr: GpuAddr(mapping.addr().0 + u64::from(skip)),
                    len: bytes - skip,
                    privilege: Privilege::Kernel,
                };
                Some(Known {
                    first: from(0),
                    again: from(private),
                    _mapping: mapping,
                    _memory: memory,
                })
            }
        };
        Arc::pin_init(
            try_pin_init!(Self {
                hw,
                index,
                memory: EngineMemory {
                    ring: ring_at.ggtt(),
                    status: status_at.ggtt(),
                    scratch: scratch_at.ggtt(),
                    directory: space.layout().directory,
                    card: hardware.topology().card,
                },
                ring,
                status,
                _scratch: scratch,
                _mappings: [ring_at, status_at, scratch_at],
                known,
                retirer,
                queue <- new_spinlock_irq!(Queue {
                    port: RingPort::new(desc.ring_bytes),
                    blocked: MemberList::new(),
                    ready: List::new(),
                    flight: List::new(),
                    failed: List::new(),
                    loaded: None,
                    wanted: 0,
                    last_done: 0,
                    armed: false,
                    stopped: None,
                    paused: false,
                    resetting: false,
                }, "ouro_queue"),
                submitted: Atomic::new(0),
                completed: Atomic::new(0),
                switches: Atomic::new(0),
                port_writes: Atomic::new(0),
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
        Counts {
            submitted: self.submitted.load(ordering::Relaxed),
            completed: self.completed.load(ordering::Relaxed),
            port_writes: self.port_writes.load(ordering::Relaxed),
            switches: self.switches.load(ordering::Relaxed),
        }
    }

    /// Starts it, with an empty ring. The device is up and awake.
    pub(crate) fn start(&self) -> Result {
        self.hw
            .start(&self.hardware.hw(), &self.memory, &Waits)
            .map_err(errno)?;
        let mut queue = self.queue.lock();
        queue.port.clear();
        queue.armed = false;
        Ok(())
    }

    /// The number of the last request that is done.
    pub(crate) fn progress(&self) -> Seqno {
        Seqno(self.status.read32(self.hw.desc().seqno_at as usize))
    }

    /// The number of the last request emitted: when [`progress`](Self::progress) has passed it,
    /// whatever was in the engine's caches of table entries has been invalidated since.
    pub(crate) fn last_emitted(&self) -> Seqno {
        self.queue.lock().port.last_seqno()
    }

    /// Nanoseconds that it has worked on the request that it has now, if that is of `holder`.
    pub(crate) fn works_for(&self, holder: &Holder) -> u64 {
        let queue = self.queue.lock();
        let first = queue.flight.iter().next();
        let Some(first) = first.filter(|first| {
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
    pub(super) fn wait_for(&self, tracker: &Tracker) -> bool {
        {
            let mut queue = self.queue.lock();
            if !tracker.want() {
                queue.wanted += 1;
            }
            self.arm(&mut queue);
        }
        // Armed first, then looked: whatever completes after the look interrupts.
        !self.has_passed(tracker)
    }

    /// Whether a request is done. Any context.
    pub(super) fn has_passed(&self, tracker: &Tracker) -> bool {
        // A reset takes the number away, and later ones of other requests pass it.
        tracker
            .seqno()
            .is_some_and(|s| self.progress().passed(s) && tracker.seqno() == Some(s))
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
        let stopped = queue.stopped.is_some();
        // It is gone if the device is.
        let found = queue.blocked.remove(tracker);
        if let Some(request) = found.and_then(|tracker| tracker.let_go()) {
            if stopped {
                // Its fence may not be signalled here: this may be the callback of another.
                queue.failed.push_back(request);
            } else {
                queue.ready.push_back(request);
                self.pump(&mut queue);
            }
        }
        drop(queue);
        if stopped {
            self.retirer.wind();
        }
        self.retirer.gate().run();
    }

    pub(super) fn arm(&self, queue: &mut Queue) {
        if !queue.armed {
            queue.armed = true;
            self.hardware.arm(self.index, true);
        }
    }

    /// Takes off what is done, signals it, and refills the ring. Any context. Returns whether
    /// anything was done.
    pub(crate) fn advance(&self) -> bool {
        let _signalling = fence::signalling();
        let mut done = List::new();
        let mut failed = List::new();
        let error;
        {
            let mut queue = self.queue.lock();
            let progress = self.progress();
            let now = time::monotonic_ns();
            while let Some(first) = queue.flight.iter().next() {
                let finished = first.tracker.seqno().is_some_and(|s| progress.passed(s));
                if !finished {
                    break;
                }
                let Some(request) = queue.flight.pop_front() else {
                    break;
                };
                let (tail, at) = {
                    let emitted = request.emitted.lock();
                    (emitted.tail, emitted.at)
                };
                queue.port.completed(tail);
                if let Some(holder) = request.context.as_ref().and_then(|c| c.holder()) {
                    let ns = now.saturating_sub(at.max(queue.last_done));
                    holder.busy().add(self.hw.desc().id.class, ns);
                }
                queue.last_done = now;
                done.push_back(request);
            }
            self.pump(&mut queue);
            failed.push_all_back(&mut queue.failed);
            // Those could not be emitted, or the engine takes none any more.
            error = queue.stopped.unwrap_or(EIO);
        }
        self.retirer.gate().run();
        while let Some(request) = failed.pop_front() {
            self.cancel(error, request);
        }
        let any = !done.is_empty();
        while let Some(request) = done.pop_front() {
            self.finish(request);
        }
        any
    }

    /// Signals a request, and hands it over.
    pub(super) fn finish(&self, request: ListArc<Request>) {
        request.fence.signal();
        // Who waited for it to be emitted waits no more, if it was not.
        self.retirer.gate().pass(&request.tracker);
        self.retirer.gate().run();
        if request.tracker.is_wanted() {
            let mut queue = self.queue.lock();
            queue.wanted = queue.wanted.saturating_sub(1);
        }
        self.completed.fetch_add(1, ordering::Relaxed);
        self.retirer.push(request);
    }

    /// Whether completions interrupt.
    pub(crate) fn is_armed(&self) -> bool {
        self.queue.lock().armed
    }

    /// The interrupt said that something was completed.
    pub(crate) fn interrupt(&self) {
        self.advance();
        let mut queue = self.queue.lock();
        if queue.armed && queue.wanted == 0 && queue.ready.is_empty() {
            queue.armed = false;
            self.hardware.arm(self.index, false);
        }
    }

    /// Nothing is emitted from here on: what is published fails with `error`.
    pub(crate) fn close(&self, error: Error) {
        self.queue.lock().stopped = Some(error);
    }

    /// Waits for something that is so when requests are done, as long as they are done one after the
    /// other. Errors: `EBUSY` if one takes too long, or all together. Sleeps.
    pub(crate) fn wait_until(&self, mut done: impl FnMut() -> bool) -> Result {
        let begin = time::monotonic_ns();
        let (mut last, mut since) = (self.progress(), begin);
        loop {
            // The time is taken first: after a long sleep there is a last look.
            let now = time::monotonic_ns();
            self.advance();
            if done() {
                return Ok(());
            }
            let progress = self.progress();
            if progress != last {
                (last, since) = (progress, now);
            }
            if now.saturating_sub(since) > IDLE_EACH_NS || now.saturating_sub(begin) > IDLE_ALL_NS {
                return Err(EBUSY);
            }
            fsleep(Delta::from_micros(IDLE_LOOK_US));
        }
    }

    /// Nothing is emitted from here until [`resume`](Self::resume). Errors: `EBUSY`, and nothing
    /// has changed, if what was emitted is not done soon. Sleeps.
    pub(crate) fn pause(&self) -> Result {
        self.queue.lock().paused = true;
        self.wait_until(|| self.queue.lock().flight.is_empty())
            .inspect_err(|_| self.resume())
    }

    /// What is ready is emitted again.
    pub(crate) fn resume(&self) {
        let mut queue = self.queue.lock();
        queue.paused = false;
        self.pump(&mut queue);
        drop(queue);
        self.retirer.gate().run();
    }

    /// Stops the ring, in whatever state it is. The device is awake. Sleeps.
    pub(crate) fn halt(&self) {
        if let Err(error) = self.hw.stop(&self.hardware.hw(), &Waits) {
            pr_warn!("{:?}: {:?}\n", self.hw.desc().id, error);
        }
    }
}
