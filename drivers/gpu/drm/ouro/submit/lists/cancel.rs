// SPDX-License-Identifier: GPL-2.0

//! Cancellation of contexts on execlist engines: of contexts whose owner has gone.
//!
//! It needs no reset: the engine gets a list without the context, which preempts it if the batch
//! allows that. Then the context's published requests are emitted again as those of a banned
//! context: without their batches, and with an error in their fences, in order. A context that
//! cannot be preempted is found by hangcheck, and its engine is reset.

use core::mem;
use kernel::list::List;
use ouro_core::roster::Set;
use ouro_hw::types::RingOffset;
use ouro_kernel::time;

use super::{
    super::{port::Port, Engine},
    Lists,
};

/// The progress of a context's cancellation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::submit) enum Cancelled {
    No,
    /// It is left out of lists.
    Asked,
    /// The engine does not hold it any more, and its requests were emitted without their batches.
    Done,
}

/// Images that are rewound with the queue locked, after which the rest is left to the worker.
const AT_ONCE: u32 = 4;

impl Lists {
    /// Cancels revoked contexts whose batch has run for `grace` nanoseconds, or that were revoked
    /// so long ago. Returns whether there was a new one.
    fn cancel_revoked(&mut self, now: u64, grace: u64) -> bool {
        let mut any = false;
        let mut next = self.roster.first(Set::Active);
        while let Some(at) = next {
            next = self.roster.after(Set::Active, at);
            let listed = self.contexts.get_mut(at as usize).and_then(|p| p.as_mut());
            let Some(listed) = listed.filter(|p| p.cancelled == Cancelled::No) else {
                continue;
            };
            let Some(first) = listed.flight.iter().next() else {
                continue;
            };
            let Some(since) = first.context.as_ref().and_then(|c| c.revoked()) else {
                continue;
            };
            let ran = first.emitted.ran();
            if ran.max(now.saturating_sub(since)) >= grace {
                listed.cancelled = Cancelled::Asked;
                self.sched.cancel(listed.entity, now);
                self.roster.join(Set::Cancelled, at);
                any = true;
            }
        }
        any
    }

    /// Makes the requests of cancelled contexts ready again once the engine does not hold the
    /// context. Returns whether some are left to the next call.
    pub(in crate::submit) fn requeue_cancelled(&mut self) -> bool {
        let mut count = 0;
        let mut next = self.roster.first(Set::Cancelled);
        while let Some(at) = next {
            next = self.roster.after(Set::Cancelled, at);
            let listed = self.contexts.get_mut(at as usize).and_then(|p| p.as_mut());
            let Some(listed) = listed.filter(|p| p.cancelled == Cancelled::Asked) else {
                continue;
            };
            let entity = listed.entity;
            // Completed requests are retired first.
            if self.sched.is_held(entity) || listed.is_first_done() {
                continue;
            }
            if count == AT_ONCE {
                return true;
            }
            count += 1;
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
            self.roster.leave(Set::Cancelled, at);
            self.roster.join(Set::Ready, at);
            self.sort(at);
        }
        false
    }
}

impl Engine {
    /// Cancels contexts that were revoked and have run, or waited, for `grace` nanoseconds. On
    /// execlist engines only. Any context.
    pub(crate) fn cancel_revoked(&self, now: u64, grace: u64) {
        let mut queue = self.queue.lock();
        if let Port::Lists(lists) = &mut queue.port {
            if lists.cancel_revoked(now, grace) {
                self.pump(&mut queue);
            }
        }
        drop(queue);
        self.retirer.run_deferred();
    }
}
