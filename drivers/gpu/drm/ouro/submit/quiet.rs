// SPDX-License-Identifier: GPL-2.0

//! Quiescing an engine: nothing more is emitted, in-flight requests are waited for, and the engine
//! is resumed or stopped.

use kernel::{
    prelude::*,
    time::{delay::fsleep, Delta},
};
use ouro_core::patience::Patience;
use ouro_kernel::time;

use super::{port::Port, Engine};
use crate::{hardware::Waits, report::Words};

/// Microseconds between two looks, at first and at most.
const FIRST_US: i64 = 100;
const LAST_US: i64 = 10_000;

/// The intervals between looks: the longer the wait, the longer the interval.
pub(crate) struct PollInterval {
    us: i64,
}

impl PollInterval {
    pub(crate) fn new() -> Self {
        Self { us: FIRST_US }
    }

    /// Sleeps until the next look.
    pub(crate) fn sleep(&mut self) {
        fsleep(Delta::from_micros(self.us));
        self.us = (self.us * 5 / 4).min(LAST_US);
    }
}

impl Engine {
    /// Stops emission permanently: requests published from now on fail with `error`.
    pub(crate) fn close(&self, error: Error) {
        self.queue.lock().stopped = Some(error);
    }

    /// Waits until `done` returns true, which requests in flight bring about, as long as requests
    /// keep completing. Errors: `EBUSY` if one request, or all together, exceed the time limit.
    /// Sleeps.
    pub(crate) fn wait_until(&self, mut done: impl FnMut() -> bool) -> Result {
        let (mut patience, mut interval) = (self.patience(), PollInterval::new());
        while !self.look(&mut patience, &mut done)? {
            interval.sleep();
        }
        Ok(())
    }

    /// Starts the engine's time limit to become idle.
    pub(crate) fn patience(&self) -> Patience {
        Patience::new(time::monotonic_ns(), self.progress())
    }

    /// Retires completed requests and returns `done`. Errors: `EBUSY` if one request, or all
    /// together, exceed the time limit.
    pub(crate) fn look(
        &self,
        patience: &mut Patience,
        done: impl FnOnce() -> bool,
    ) -> Result<bool> {
        // Take the time first, so that there is a last look after a long sleep.
        let now = time::monotonic_ns();
        self.advance();
        if done() {
            return Ok(true);
        }
        match patience.is_over(now, self.progress()) {
            true => Err(EBUSY),
            false => Ok(false),
        }
    }

    /// Stops emission until [`resume`](Self::resume).
    pub(crate) fn pause(&self) {
        self.queue.lock().paused = true;
    }

    /// Returns whether all emitted requests have completed. That lasts while the engine is
    /// [paused](Self::pause).
    pub(crate) fn is_quiet(&self) -> bool {
        let queue = self.queue.lock();
        queue.port.is_quiet() && queue.port.is_switched_out() && queue.arriving == 0
    }

    /// Returns whether a ring engine has a client's context loaded.
    pub(crate) fn holds_client(&self) -> bool {
        match &self.queue.lock().port {
            Port::Ring(ring) => {
                let loaded = ring.loaded.as_ref();
                loaded.is_some_and(|loaded| loaded.context().holder().is_some())
            }
            Port::Lists(_) => false,
        }
    }

    /// Resumes emission.
    pub(crate) fn resume(&self) {
        let mut queue = self.queue.lock();
        queue.paused = false;
        // A start disarms the interrupts.
        if queue.wanted != 0 {
            self.arm(&mut queue.arming);
        }
        self.pump(&mut queue);
        drop(queue);
        self.retirer.run_deferred();
    }

    /// Stops the engine, whatever its state. Returns whether it was idle. The device must be awake.
    /// Sleeps.
    pub(crate) fn halt(&self) -> bool {
        let stopped = self.hw.stop(&self.hardware.hw(), &Waits);
        if let Err(error) = stopped {
            let id = Words(self.hw.desc().id);
            dev_warn!(
                self.hardware.dev(),
                "{}: not idle, its work is cut off: {}\n",
                id,
                Words(error)
            );
        }
        stopped.is_ok()
    }
}
