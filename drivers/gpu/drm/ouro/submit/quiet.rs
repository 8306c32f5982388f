// SPDX-License-Identifier: GPL-2.0

//! An engine comes to rest: nothing more is emitted, what was is waited for, and it goes on or is stopped.

use kernel::{
    prelude::*,
    time::{delay::fsleep, Delta},
};
use ouro_core::patience::Patience;
use ouro_kernel::time;

use super::{port::Port, Engine};
use crate::{hardware::Waits, report::Words};

/// Microseconds from the first look to the next, and from one to the next at last.
const FIRST_US: i64 = 100;
const LAST_US: i64 = 10_000;

/// When to look again: the longer it takes, the rarer.
pub(crate) struct Looks {
    us: i64,
}

impl Looks {
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
    /// Nothing is emitted from here on: what is published fails with `error`.
    pub(crate) fn close(&self, error: Error) {
        self.queue.lock().stopped = Some(error);
    }

    /// Waits for something that is so when requests are done, as long as they are done one after the
    /// other. Errors: `EBUSY` if one takes too long, or all together. Sleeps.
    pub(crate) fn wait_until(&self, mut done: impl FnMut() -> bool) -> Result {
        let (mut patience, mut looks) = (self.patience(), Looks::new());
        while !self.look(&mut patience, &mut done)? {
            looks.sleep();
        }
        Ok(())
    }

    /// Its time to become idle begins.
    pub(crate) fn patience(&self) -> Patience {
        Patience::new(time::monotonic_ns(), self.progress())
    }

    /// Whether something is so now that is so when requests are done. Errors: `EBUSY` if one takes too
    /// long, or all together.
    pub(crate) fn look(
        &self,
        patience: &mut Patience,
        done: impl FnOnce() -> bool,
    ) -> Result<bool> {
        // The time is taken first: after a long sleep there is a last look.
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

    /// Nothing is emitted from here until [`resume`](Self::resume).
    pub(crate) fn pause(&self) {
        self.queue.lock().paused = true;
    }

    /// Whether what was emitted is done. It stays so while the engine is [paused](Self::pause).
    pub(crate) fn is_quiet(&self) -> bool {
        let queue = self.queue.lock();
        queue.port.is_quiet() && queue.port.is_let_go() && queue.arriving == 0
    }

    /// Whether the state of a client's context is in the engine, where rings switch contexts.
    pub(crate) fn holds_client(&self) -> bool {
        match &self.queue.lock().port {
            Port::Ring(ring) => {
                let loaded = ring.loaded.as_ref();
                loaded.is_some_and(|loaded| loaded.context().holder().is_some())
            }
            Port::Lists(_) => false,
        }
    }

    /// What is ready is emitted again.
    pub(crate) fn resume(&self) {
        let mut queue = self.queue.lock();
        queue.paused = false;
        self.pump(&mut queue);
        drop(queue);
        self.retirer.pass_on();
    }

    /// Stops the ring, in whatever state it is. The device is awake. Sleeps.
    pub(crate) fn halt(&self) {
        if let Err(error) = self.hw.stop(&self.hardware.hw(), &Waits) {
            let id = Words(self.hw.desc().id);
            dev_warn!(
                self.hardware.dev(),
                "{}: not stopped: {}\n",
                id,
                Words(error)
            );
        }
    }
}
