// SPDX-License-Identifier: GPL-2.0

//! What nobody wants any more, on engines that take lists of contexts.
//!
//! No reset is needed to end it: the engine is given a list without its context, and lets go of it where the
//! batch allows to be preempted. Then what the context has published is emitted again, like anything of a
//! banned context: nothing of it runs, and its fences have the error, in their order. Who does not let go is
//! found like others who do not, and its engine is reset.

use core::mem;
use kernel::list::List;
use ouro_hw::types::RingOffset;
use ouro_kernel::time;

use super::{
    super::{port::Port, Engine},
    Lists,
};

/// Whether an engine is to let go of a context that nobody wants any more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::submit) enum Cancelled {
    No,
    /// It is given lists without it.
    Asked,
    /// It has let go of it, and what the context has there does nothing.
    Done,
}

impl Lists {
    /// The engine is to let go of contexts that were revoked, if their batch has run for `grace` nanoseconds,
    /// or that is as long ago. Returns whether there are any that were not found before.
    fn cancel_revoked(&mut self, now: u64, grace: u64) -> bool {
        let mut any = false;
        for at in self.active.iter() {
            let listed = self.contexts.get_mut(*at as usize).and_then(|p| p.as_mut());
            let Some(listed) = listed.filter(|p| p.cancelled == Cancelled::No) else {
                continue;
            };
            let Some(first) = listed.flight.iter().next() else {
                continue;
            };
            let Some(since) = first.context.as_ref().and_then(|c| c.revoked()) else {
                continue;
            };
            let ran = first.emitted.lock().ran;
            if ran.max(now.saturating_sub(since)) >= grace {
                listed.cancelled = Cancelled::Asked;
                self.sched.cancel(listed.entity, now);
                any = true;
            }
        }
        any
    }

    /// What the engine was to let go of, and has, is ready again.
    pub(in crate::submit) fn settle(&mut self) {
        for at in self.active.iter() {
            let listed = self.contexts.get_mut(*at as usize).and_then(|p| p.as_mut());
            let Some(listed) = listed.filter(|p| p.cancelled == Cancelled::Asked) else {
                continue;
            };
            let entity = listed.entity;
            // What is done is taken off first.
            if self.sched.is_held(entity) || listed.is_first_done() {
                continue;
            }
            let now = time::monotonic_ns();
            for request in listed.flight.iter() {
                request.tracker.taken_back();
            }
            let mut all = List::new();
            all.push_all_back(&mut listed.flight);
            all.push_all_back(&mut listed.ready);
            mem::swap(&mut all, &mut listed.ready);
            listed.ring.clear();
            listed
                .logical_ring
                .rewind(&self.golden, true, &mut self.buffer);
            listed.cancelled = Cancelled::Done;
            self.sched.publish(entity, RingOffset(0), now);
            self.sched.completed(entity, RingOffset(0), now);
            self.sched.touched(entity, now);
            self.sched.resume(entity, now);
        }
    }
}

impl Engine {
    /// Takes off the engine what has run for `grace` nanoseconds, or has waited for as long, since nobody wants
    /// it any more. Where the engine takes lists; any context.
    pub(crate) fn cancel_revoked(&self, now: u64, grace: u64) {
        let mut queue = self.queue.lock();
        if let Port::Lists(lists) = &mut queue.port {
            if lists.cancel_revoked(now, grace) {
                self.pump(&mut queue);
            }
        }
        drop(queue);
        self.retirer.pass_on();
    }
}
