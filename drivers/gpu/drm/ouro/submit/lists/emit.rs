// SPDX-License-Identifier: GPL-2.0

//! The emission of a request into the ring of its context.

use ouro_hw::{
    engine::{Emit, Switch},
    ring::Commands,
    types::{RingOffset, Seqno},
};

use super::{
    super::{
        engine::{Engine, MAX_EMIT},
        request::Request,
    },
    ListedContext,
};

/// Emits a request into the ring of its context, with its engine seqno `number`; `memory` is for
/// its commands. Returns the new tail; `None` if there is no room.
pub(super) fn emit(
    engine: &Engine,
    listed: &mut ListedContext,
    request: &Request,
    number: Seqno,
    now: u64,
    memory: &mut [u32; MAX_EMIT],
) -> Option<RingOffset> {
    let line = listed.logical_ring.line();
    engine.with_work(request, memory, |batch, inline, buffer| {
        let mut commands = Commands::new(buffer);
        let seqno = listed.last.next();
        let emit = Emit {
            // The engine switches contexts by itself.
            switch: Switch::Stay,
            known: None,
            directory: None,
            batch,
            inline,
            watchdog: None,
            seqno,
        };
        engine.hw.emit(&emit, line.memory(), &mut commands).ok()?;
        let slot = listed.ring.reserve(commands.len())?;
        line.write(&slot, commands.as_slice());
        listed.last = seqno;
        request.emitted.set(number, slot.tail, now, None);
        request.tracker.emitted(seqno);
        engine.retirer.follower_queue().pass(&request.tracker);
        Some(slot.tail)
    })
}
