// SPDX-License-Identifier: GPL-2.0

//! The port of an engine with one ring: what is ready is written into it, when there is room.
//!
//! That is late, since what a switch of contexts costs depends on what the engine will hold then. However
//! many requests go in, the device is told once.

pub(in crate::submit) mod null_state;

use kernel::{
    list::{List, ListArc},
    prelude::*,
    sync::atomic::ordering,
};
use ouro_core::port::{ContextKey, Edition, RingPort};
use ouro_hw::{
    engine::{Batch, Emit, Submission, Switch, COPY_DWORDS, STREAM_DWORDS},
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

/// What is under the lock of an engine with a ring.
pub(in crate::submit) struct RingQueue {
    pub(in crate::submit) port: RingPort,
    /// Ready to be emitted, in order.
    pub(in crate::submit) ready: List<Request>,
    /// Emitted, in order.
    pub(in crate::submit) flight: List<Request>,
    /// The context whose image, or whose directory, the engine holds when all that was emitted has run.
    pub(in crate::submit) loaded: Option<InUse>,
    /// How many of `flight` the engine's watchdog is told of.
    watched: u32,
    /// Whether the watchdog may interrupt.
    watching: bool,
}

impl RingQueue {
    /// That of an empty ring of so many bytes.
    pub(in crate::submit) fn new(bytes: u32) -> Self {
        Self {
            port: RingPort::new(bytes),
            ready: List::new(),
            flight: List::new(),
            loaded: None,
            watched: 0,
            watching: false,
        }
    }

    /// Nothing is in flight any more: it was taken off.
    pub(in crate::submit) fn forget_watched(&mut self) {
        self.watched = 0;
    }

    /// Lets the watchdog interrupt, if any batch in flight is watched, before the engine is told of it.
    fn watch(&mut self, engine: &Engine) {
        if self.watched != 0 && !self.watching {
            self.watching = true;
            engine.hardware.watch(engine.index(), true);
        }
    }

    /// The opposite: called when what is ready was emitted, as that may be watched as well.
    pub(in crate::submit) fn unwatch(&mut self, engine: &Engine) {
        if self.watched == 0 && self.watching {
            self.watching = false;
            engine.hardware.watch(engine.index(), false);
        }
    }

    /// Writes what is ready into the ring, as far as there is room, and tells the device once.
    pub(in crate::submit) fn pump(
        &mut self,
        engine: &Engine,
        arming: &mut Arming,
        failed: &mut List<Request>,
    ) {
        let mut tail = None;
        while !self.ready.is_empty() {
            if !engine.has_room(self) {
                // A full ring is somebody who waits. Armed first, then looked once more: what
                // completes after the look interrupts.
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
                    // Its fence may not be signalled here: this may be the callback of another.
                    let (dev, id) = (engine.hardware.dev(), engine.hw.desc().id);
                    dev_err!(dev, "{}: no room for a request\n", Words(id));
                    failed.push_back(request);
                }
            }
        }
        if let Some(tail) = tail {
            self.watch(engine);
            // The commands before the tail.
            mmio::wmb();
            engine.port_writes.fetch_add(1, ordering::Relaxed);
            let done = engine
                .hardware
                .with_gt(|hw, gt| engine.hw.submit(hw, gt, Submission::Tail(tail), &Waits));
            if let Err(error) = done {
                let (dev, id) = (engine.hardware.dev(), engine.hw.desc().id);
                dev_err!(dev, "{}: not submitted: {}\n", Words(id), Words(error));
            }
        }
    }

    /// Calls `each` for what is done, in order, and takes it off.
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
            let (tail, watched) = {
                let emitted = request.emitted.lock();
                (emitted.tail, emitted.watched)
            };
            self.port.completed(tail);
            self.watched = (self.watched).saturating_sub(watched.is_some().into());
            each(request);
        }
    }
}

impl Engine {
    /// Whether any request fits, in the room of what is done too.
    fn has_room(&self, queue: &mut RingQueue) -> bool {
        let desc = self.hw.desc();
        let inline = desc.golden_dwords.max(COPY_DWORDS).max(STREAM_DWORDS);
        let most = desc.emit_dwords + inline;
        if !queue.port.has_room(most) {
            let mut tail = None;
            for request in queue.flight.iter() {
                if !request.tracker.is_done() {
                    break;
                }
                tail = Some(request.emitted.lock().tail);
            }
            if let Some(tail) = tail {
                queue.port.completed(tail);
            }
        }
        queue.port.has_room(most)
    }

    /// Writes one request into the ring; returns the tail after it.
    fn emit(&self, queue: &mut RingQueue, request: &Request) -> Option<ouro_hw::RingOffset> {
        self.with_work(request, |batch, inline, buffer| {
            self.emit_with(queue, request, batch, inline, buffer)
        })
    }

    /// Does something with what a request has to do: its batch, the kernel's own commands, and a buffer in
    /// which both have room.
    pub(in crate::submit) fn with_work<T>(
        &self,
        request: &Request,
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
            Work::Batch(batch) => f(Some(batch), &[], &mut [0; MAX_EMIT]),
            Work::BatchOfNewStreams(batch) => {
                let mut commands = [0; STREAM_DWORDS];
                let mut commands = Commands::new(&mut commands);
                self.hw.restart_streams(&mut commands).ok()?;
                let buffer = &mut [0; MAX_EMIT + STREAM_DWORDS];
                f(Some(batch), commands.as_slice(), buffer)
            }
            Work::Nothing => f(None, &[], &mut [0; MAX_EMIT]),
        }
    }

    /// What is left for a request to do: nothing, if it has hung, or its context is banned. It
    /// still takes its place in the ring, so that fences are signalled in their order.
    fn work(&self, request: &Request) -> Work {
        let banned = request.context.as_ref().is_some_and(|c| c.is_banned());
        if banned || request.emitted.lock().lost {
            request.fence.set_error(EIO);
            return Work::Nothing;
        }
        request.work
    }

    /// The directory that a request needs, where requests load them: its context's own, or the global space's. `None`:
    /// whatever is loaded, as it reaches nothing by it.
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
            // Of other requests than batches nothing is left behind.
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
        // Of another context always, so that what is emitted again replaces what it has replaced before.
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

        let mut emitted = request.emitted.lock();
        emitted.number = seqno;
        emitted.tail = placed.slot.tail;
        emitted.at = time::monotonic_ns();
        emitted.watched = emit.watchdog;
        queue.watched += u32::from(emit.watchdog.is_some());
        if switch != Switch::Stay {
            if let Some(context) = held {
                // Whatever switches away from it saves it.
                context.set_saved();
            }
            self.switches.fetch_add(1, ordering::Relaxed);
        }
        if let Some((_, edition)) = load {
            queue.port.loads(edition);
            self.directory_loads.fetch_add(1, ordering::Relaxed);
        }
        if let (true, Some(now)) = (switch != Switch::Stay || load.is_some(), held) {
            // A request that is emitted again follows the same ones as the first time, or none: what
            // it keeps is not let go of here.
            if let Some(before) = queue.loaded.replace(now.clone()) {
                emitted.replaced = Some(before);
            }
        }
        request.tracker.emitted(seqno);
        self.retirer.follower_queue().pass(&request.tracker);
        Some(placed.slot.tail)
    }
}
