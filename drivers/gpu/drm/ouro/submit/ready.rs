// SPDX-License-Identifier: GPL-2.0

//! Requests that become ready, and their emission.
//!
//! A request usually becomes ready in the callback of a fence, with interrupts disabled. The engine
//! is looked at right there, unless the fence has many waiters ([`ouro_core::burst`]) or many
//! requests are to be emitted: the rest is left to the worker, which looks once for all of them.

use kernel::{list::ListArc, sync::atomic::ordering};
use ouro_kernel::time;

use super::{
    engine::Queue,
    port::Port,
    request::{Request, Tracker},
    Engine,
};

impl Engine {
    /// A blocked request's dependencies are signalled: it becomes ready. Any context.
    pub(super) fn unblock(&self, tracker: &Tracker) {
        let mut queue = self.queue.lock();
        // It is gone if the device is.
        let found = queue.blocked.remove(tracker);
        let request = found.and_then(|tracker| tracker.take_request());
        let looked = request.is_some_and(|request| self.queue_unblocked(&mut queue, request));
        drop(queue);
        if looked {
            self.retirer.run_deferred();
        }
    }

    /// Queues a request that has no more dependencies. Any context.
    pub(super) fn queue_ready(&self, queue: &mut Queue, request: ListArc<Request>) {
        if self.take_ready(queue, request) {
            self.pump(queue);
        }
    }

    /// Queues a request whose last dependency was signalled, perhaps as one of many that waited for
    /// it. Returns false if nothing was emitted. Any context.
    pub(super) fn queue_unblocked(&self, queue: &mut Queue, request: ListArc<Request>) -> bool {
        if !self.take_ready(queue, request) {
            return false;
        }
        // Followers come before the next load, and rings emit no more than they have room for.
        let follows = self.expected.load(ordering::Acquire) != 0;
        if follows || !self.has_lists() || queue.burst.count_event(time::monotonic_ns()) {
            self.pump(queue);
            queue.burst.handled(time::monotonic_ns());
            return true;
        }
        self.defer_emission(queue);
        false
    }

    /// Adds a ready request to the port. Returns false if it fails.
    fn take_ready(&self, queue: &mut Queue, request: ListArc<Request>) -> bool {
        let refused = match queue.stopped {
            Some(_) => Some(request),
            None if request.tracker.is_doomed() => Some(request),
            None => queue.port.push(request).err(),
        };
        if let Some(request) = refused {
            // Do not signal its fence here: this may run in another fence's callback.
            queue.failed.push_back(request);
            self.retirer.start_tick();
            return false;
        }
        true
    }

    /// Leaves ready requests to the worker.
    fn defer_emission(&self, queue: &mut Queue) {
        if !queue.deferred {
            queue.deferred = true;
            self.retirer.kick();
        }
    }

    /// Emits what was left to the worker. Process context.
    pub(super) fn emit_deferred(&self) {
        let mut queue = self.queue.lock();
        if core::mem::take(&mut queue.deferred) {
            self.pump(&mut queue);
        }
    }

    /// Emits ready requests, as far as there is room, and submits them. If there are very many, the
    /// rest is left to the worker.
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
        let mut left = false;
        match port {
            Port::Ring(_) if *paused => {}
            Port::Ring(ring) => ring.pump(self, arming, failed),
            Port::Lists(lists) => {
                // Even if paused: waiters for an idle engine depend on it.
                left = lists.requeue_cancelled();
                let now = time::monotonic_ns();
                // Requests that are emitted still have to be loaded, even if paused.
                if !*paused {
                    left |= lists.emit(self, arming, now, failed);
                }
                if *signalling == 0 && self.expected.load(ordering::Acquire) == 0 {
                    lists.go_on(self, arming, now);
                }
            }
        }
        if left {
            self.defer_emission(queue);
        }
    }
}
