// SPDX-License-Identifier: GPL-2.0

//! Emission: what is ready is written into the ring, when there is room.
//!
//! It is late, since what a switch of contexts costs depends on what the engine will hold then. However
//! many requests go in, the device is told once.

use kernel::{prelude::*, sync::atomic::ordering};
use ouro_core::port::ContextKey;
use ouro_hw::{
    engine::{Batch, Emit, Submission, Switch, COPY_DWORDS},
    ring::Commands,
};
use ouro_kernel::{mmio, time};

use super::{
    engine::{Queue, MAX_EMIT, MAX_GOLDEN},
    request::{Request, Work},
    Engine,
};
use crate::hardware::Waits;

impl Engine {
    /// Writes what is ready into the ring, as far as there is room, and tells the device once.
    pub(super) fn pump(&self, queue: &mut Queue) {
        if queue.stopped.is_some() || queue.paused || queue.resetting {
            return;
        }
        let mut tail = None;
        while !queue.ready.is_empty() {
            if !self.has_room(queue) {
                // A full ring is somebody who waits. Armed first, then looked once more: what
                // completes after the look interrupts.
                self.arm(queue);
                if !self.has_room(queue) {
                    break;
                }
            }
            let Some(request) = queue.ready.pop_front() else {
                break;
            };
            match self.emit(queue, &request) {
                Some(end) => {
                    tail = Some(end);
                    queue.flight.push_back(request);
                }
                None => {
                    // Its fence may not be signalled here: this may be the callback of another.
                    pr_err!("{:?}: a request did not fit\n", self.hw.desc().id);
                    queue.failed.push_back(request);
                }
            }
        }
        if let Some(tail) = tail {
            // The commands before the tail.
            mmio::wmb();
            self.port_writes.fetch_add(1, ordering::Relaxed);
            let done = self
                .hardware
                .with_gt(|hw, gt| self.hw.submit(hw, gt, Submission::Tail(tail), &Waits));
            if let Err(error) = done {
                pr_err!("{:?}: {:?}\n", self.hw.desc().id, error);
            }
        }
    }

    /// Whether any request fits, in the room of what is done too.
    fn has_room(&self, queue: &mut Queue) -> bool {
        let desc = self.hw.desc();
        let most = desc.emit_dwords + desc.golden_dwords.max(COPY_DWORDS);
        if !queue.port.has_room(most) {
            let mut tail = None;
            for request in queue.flight.iter() {
                if !self.has_passed(&request.tracker) {
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
    fn emit(&self, queue: &mut Queue, request: &Request) -> Option<ouro_hw::RingOffset> {
        match self.work(request) {
            Work::Golden => {
                let mut golden = [0; MAX_GOLDEN];
                let mut golden = Commands::new(&mut golden);
                self.hw.golden(&mut golden).ok()?;
                let mut buffer = [0; MAX_EMIT + MAX_GOLDEN];
                self.emit_with(queue, request, None, golden.as_slice(), &mut buffer)
            }
            Work::Copy(copy) => {
                let mut commands = [0; COPY_DWORDS];
                let mut commands = Commands::new(&mut commands);
                self.hw.copy(&copy, &mut commands).ok()?;
                let mut buffer = [0; MAX_EMIT + COPY_DWORDS];
                self.emit_with(queue, request, None, commands.as_slice(), &mut buffer)
            }
            Work::Batch(batch) => {
                self.emit_with(queue, request, Some(batch), &[], &mut [0; MAX_EMIT])
            }
            Work::Nothing => self.emit_with(queue, request, None, &[], &mut [0; MAX_EMIT]),
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

    fn emit_with(
        &self,
        queue: &mut Queue,
        request: &Request,
        batch: Option<Batch>,
        inline: &[u32],
        buffer: &mut [u32],
    ) -> Option<ouro_hw::RingOffset> {
        let context = request.context.as_ref().filter(|_| self.hw.desc().contexts);
        let key = match &self.known {
            // Of other requests than batches nothing is left behind.
            Some(_) => batch.map(|_| {
                let client = request.context.as_ref();
                client.map_or(ContextKey::KERNEL, |c| c.key())
            }),
            None => context.map(|c| c.key()),
        };
        let other = queue.port.needs_switch(key);
        let switch = match context {
            Some(context) if other => Switch::To {
                image: context.image()?,
                saved: context.is_saved(),
            },
            _ => Switch::Stay,
        };

        let known = self.known.as_ref().filter(|_| batch.is_some());
        let mut commands = Commands::new(buffer);
        let seqno = queue.port.next_seqno();
        let emit = Emit {
            switch,
            known: known.map(|k| if other { k.first } else { k.again }),
            batch,
            inline,
            seqno,
        };
        self.hw.emit(&emit, &self.memory, &mut commands).ok()?;
        let placed = queue.port.place(commands.len(), key)?;
        if let Some((from, dwords)) = placed.slot.pad {
            for i in 0..dwords {
                let at = from.0.wrapping_add(i * 4) as usize;
                self.ring.write32(at, self.hw.desc().noop);
            }
        }
        for (i, dword) in commands.as_slice().iter().enumerate() {
            self.ring
                .write32(placed.slot.start.0 as usize + i * 4, *dword);
        }

        let mut emitted = request.emitted.lock();
        emitted.tail = placed.slot.tail;
        emitted.at = time::monotonic_ns();
        if switch != Switch::Stay {
            if let Some(context) = context {
                // Whatever switches away from it saves it.
                context.set_saved();
            }
            self.switches.fetch_add(1, ordering::Relaxed);
            // A request that is emitted again follows the same ones as the first time, or none: what
            // it keeps is not let go of here.
            if let Some(before) = core::mem::replace(&mut queue.loaded, context.cloned()) {
                emitted.replaced = Some(before);
            }
        }
        request.tracker.emitted(seqno);
        self.retirer.gate().pass(&request.tracker);
        Some(placed.slot.tail)
    }
}
