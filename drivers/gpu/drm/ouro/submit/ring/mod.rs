// SPDX-License-Identifier: GPL-2.0

//! The port of an engine with one ring: ready requests are emitted when there is room.
//!
//! Emission is as late as possible, because the cost of a context switch depends on the context
//! that is loaded then. The tail is written once for any number of requests.

pub(in crate::submit) mod null_state;

use kernel::{
    list::{List, ListArc},
    prelude::*,
    sync::atomic::ordering,
};
use ouro_core::port::{ContextKey, Edition, RingPort};
use ouro_hw::{
    engine::{Batch, Emit, EngineDesc, Submission, Switch, COPY_DWORDS, STREAM_DWORDS},
    ring::Commands,
    types::GgttAddr,
};
use ouro_kernel::{mmio, time};

use super::{
    engine::{Arming, MAX_EMIT, MAX_GOLDEN},
    in_use::InUse,
    request::{Request, Work},
    Engine,
};
use crate::{hardware::Waits, report::Words};

/// The queue of a ring engine, under the engine's lock.
pub(in crate::submit) struct RingQueue {
    pub(in crate::submit) port: RingPort,
    /// Ready requests, in order.
    pub(in crate::submit) ready: List<Request>,
    /// Emitted requests, in order.
    pub(in crate::submit) flight: List<Request>,
    /// The context whose image or directory the engine will have loaded when all emitted requests
    /// have run.
    pub(in crate::submit) loaded: Option<InUse>,
    /// Number of requests in `flight` that set the engine's watchdog.
    watched: u32,
    /// Whether the watchdog interrupt is armed.
    watching: bool,
    /// Most dwords that a request takes.
    most: usize,
    /// Where a request's commands are put together, while none is emitted.
    buffer: Option<KBox<[u32; MAX_EMIT]>>,
}

impl RingQueue {
    /// Creates the queue of an engine's empty ring. Errors: `ENOMEM`.
    pub(in crate::submit) fn new(desc: &EngineDesc) -> Result<Self> {
        let inline = desc.golden_dwords.max(COPY_DWORDS).max(STREAM_DWORDS);
        Ok(Self {
            most: desc.emit_dwords + inline,
            buffer: Some(KBox::new([0; MAX_EMIT], GFP_KERNEL)?),
            port: RingPort::new(desc.ring_bytes),
            ready: List::new(),
            flight: List::new(),
            loaded: None,
            watched: 0,
            watching: false,
        })
    }

    /// Forgets watched requests: nothing is in flight any more.
    pub(in crate::submit) fn forget_watched(&mut self) {
        self.watched = 0;
    }

    /// Arms the watchdog interrupt if a batch in flight is watched, before its tail is written.
    fn watch(&mut self, engine: &Engine) {
        if self.watched != 0 && !self.watching {
            self.watching = true;
            engine.hardware.watch(engine.index(), true);
        }
    }

    /// Disarms the watchdog interrupt if no batch is watched. Called after emission, which may add
    /// watched ones.
    pub(in crate::submit) fn unwatch(&mut self, engine: &Engine) {
        if self.watched == 0 && self.watching {
            self.watching = false;
            engine.hardware.watch(engine.index(), false);
        }
    }

    /// Emits ready requests, as far as there is room, and writes the tail once.
    pub(in crate::submit) fn pump(
        &mut self,
        engine: &Engine,
        arming: &mut Arming,
        failed: &mut List<Request>,
    ) {
        let mut tail = None;
        while !self.ready.is_empty() {
            if !engine.has_room(self) {
                // A full ring waits for a completion. Arm the interrupt first and then check again:
                // a completion after the check interrupts.
                engine.arm(arming);
                if !engine.has_room(self) {
                    break;
                }
            }
            let Some(request) = self.ready.pop_front() else {
                break;
            };
            match engine.emit(self, &request) {
                Some(end) => {
                    tail = Some(end);
                    self.flight.push_back(request);
                }
                None => {
                    // Do not signal its fence here: this may run in another fence's callback.
                    engine.not_encoded(self.most);
                    failed.push_back(request);
                }
            }
        }
        if let Some(tail) = tail {
            self.watch(engine);
            // Order the commands before the tail.
            mmio::wmb();
            engine.port_writes.fetch_add(1, ordering::Relaxed);
            let done = engine
                .hardware
                .with_gt(|hw, gt| engine.hw.submit(hw, gt, Submission::Tail(tail), &Waits));
            if let Err(error) = done {
                let (dev, id) = (engine.hardware.dev(), engine.hw.desc().id);
                dev_err!(
                    dev,
                    "{}: ring tail not written: {}\n",
                    Words(id),
                    Words(error)
                );
            }
        }
    }

    /// Retires completed requests: passes each to `each`, in order.
    pub(in crate::submit) fn advance(
        &mut self,
        engine: &Engine,
        mut each: impl FnMut(ListArc<Request>),
    ) {
        let progress = engine.line.progress();
        while let Some(first) = self.flight.iter().next() {
            if !first.tracker.seqno().is_some_and(|s| progress.passed(s)) {
                break;
            }
            let Some(request) = self.flight.pop_front() else {
                break;
            };
            self.port.completed(request.emitted.tail());
            let watched = request.emitted.watched().is_some();
            self.watched = (self.watched).saturating_sub(watched.into());
            each(request);
        }
    }
}

impl Engine {
    /// Returns whether any request fits, after freeing the room of completed ones.
    fn has_room(&self, queue: &mut RingQueue) -> bool {
        let most = queue.most;
        if !queue.port.has_room(most) {
            let mut tail = None;
            for request in queue.flight.iter() {
                if !request.tracker.is_done() {
                    break;
                }
                tail = Some(request.emitted.tail());
            }
            if let Some(tail) = tail {
                queue.port.completed(tail);
            }
        }
        queue.port.has_room(most)
    }

    /// Emits one request; returns the new tail.
    fn emit(&self, queue: &mut RingQueue, request: &Request) -> Option<ouro_hw::RingOffset> {
        let mut memory = queue.buffer.take()?;
        let tail = self.with_work(request, &mut memory, |batch, inline, buffer| {
            self.emit_with(queue, request, batch, inline, buffer)
        });
        queue.buffer = Some(memory);
        tail
    }

    /// Calls `f` with the work of a request: its batch, the kernel's inline commands, and a buffer
    /// that has room for both. That is `memory` if there are no inline commands, so that the most
    /// frequent work clears no buffer.
    pub(in crate::submit) fn with_work<T>(
        &self,
        request: &Request,
        memory: &mut [u32; MAX_EMIT],
        f: impl FnOnce(Option<Batch>, &[u32], &mut [u32]) -> Option<T>,
    ) -> Option<T> {
        match self.work(request) {
            work @ (Work::Golden | Work::GoldenRegisters) => {
                let mut golden = [0; MAX_GOLDEN];
                let mut golden = Commands::new(&mut golden);
                match work {
                    Work::Golden => self.hw.golden(&mut golden),
                    _ => self.hw.golden_registers(&mut golden),
                }
                .ok()?;
                f(None, golden.as_slice(), &mut [0; MAX_EMIT + MAX_GOLDEN])
            }
            Work::Copy(copy) => {
                let mut commands = [0; COPY_DWORDS];
                let mut commands = Commands::new(&mut commands);
                self.hw.copy(&copy, &mut commands).ok()?;
                f(None, commands.as_slice(), &mut [0; MAX_EMIT + COPY_DWORDS])
            }
            Work::Fill(fill) => {
                let mut commands = [0; COPY_DWORDS];
                let mut commands = Commands::new(&mut commands);
                self.hw.fill(&fill, &mut commands).ok()?;
                f(None, commands.as_slice(), &mut [0; MAX_EMIT + COPY_DWORDS])
            }
            Work::Batch(batch) => f(Some(batch), &[], memory),
            Work::BatchWithStreamOutputReset(batch) => {
                let mut commands = [0; STREAM_DWORDS];
                let mut commands = Commands::new(&mut commands);
                self.hw.restart_streams(&mut commands).ok()?;
                let buffer = &mut [0; MAX_EMIT + STREAM_DWORDS];
                f(Some(batch), commands.as_slice(), buffer)
            }
            Work::Nothing => f(None, &[], memory),
        }
    }

    /// Returns the work of a request: none if it was lost in a hang or its context is banned. It
    /// still takes its place in the ring, so that fences are signalled in order.
    fn work(&self, request: &Request) -> Work {
        let skipped = request.context.as_ref().is_some_and(|c| c.skips_batches());
        if skipped || request.emitted.is_lost() {
            request.fence.set_error(EIO);
            return Work::Nothing;
        }
        request.work
    }

    /// Returns the directory that a request has to load, on chips where requests load one: its
    /// context's or the global space's. `None` if the request does not use one.
    fn directory_of(&self, request: &Request) -> Option<(GgttAddr, Edition)> {
        let global = (self.directory?, Edition::GLOBAL);
        match &request.context {
            Some(context) => Some(context.directory().unwrap_or(global)),
            None => matches!(request.work, Work::Copy(_) | Work::Fill(_)).then_some(global),
        }
    }

    fn emit_with(
        &self,
        queue: &mut RingQueue,
        request: &Request,
        batch: Option<Batch>,
        inline: &[u32],
        buffer: &mut [u32],
    ) -> Option<ouro_hw::RingOffset> {
        let contexts = self.hw.desc().contexts;
        let directory = self.directory_of(request);
        let context = request.context.as_ref();
        let held = context.filter(|_| contexts || directory.is_some());
        let key = match &self.null_state {
            // Only batches leave state behind.
            Some(_) => batch.map(|_| context.map_or(ContextKey::KERNEL, |c| c.key())),
            None => held.map(|c| c.key()),
        };
        let other = queue.port.needs_switch(key);
        let switch = match context {
            Some(context) if contexts && other => Switch::To {
                image: context.image()?,
                saved: context.is_saved(),
            },
            _ => Switch::Stay,
        };

        let known = self.null_state.as_ref().filter(|_| batch.is_some());
        let mut commands = Commands::new(buffer);
        let seqno = queue.port.next_seqno();
        // Always load it after a context switch: if the request is emitted again, it then replaces
        // the same context as before.
        let load = directory.filter(|(_, now)| other || queue.port.needs_load(Some(*now)));
        let emit = Emit {
            switch,
            directory: load.map(|(slot, _)| slot),
            known: known.map(|k| if other { k.first } else { k.again }),
            batch,
            inline,
            watchdog: request.watchdog.filter(|_| batch.is_some()),
            seqno,
        };
        self.hw
            .emit(&emit, self.line.memory(), &mut commands)
            .ok()?;
        let placed = queue.port.place(commands.len(), key)?;
        self.line.write(&placed.slot, commands.as_slice());

        let now = time::monotonic_ns();
        (request.emitted).set(seqno, placed.slot.tail, now, emit.watchdog);
        queue.watched += u32::from(emit.watchdog.is_some());
        if switch != Switch::Stay {
            if let Some(context) = held {
                // The next context switch saves it.
                context.set_saved();
            }
            self.switches.fetch_add(1, ordering::Relaxed);
        }
        if let Some((_, edition)) = load {
            queue.port.loads(edition);
            self.directory_loads.fetch_add(1, ordering::Relaxed);
        }
        if let (true, Some(now)) = (switch != Switch::Stay || load.is_some(), held) {
            // A request that is emitted again follows the same requests as the first time, or none:
            // it keeps the context that it replaced then.
            if let Some(before) = queue.loaded.replace(now.clone()) {
                *request.replaced.lock() = Some(before);
            }
        }
        request.tracker.emitted(seqno);
        self.retirer.follower_queue().pass(&request.tracker);
        Some(placed.slot.tail)
    }
}
