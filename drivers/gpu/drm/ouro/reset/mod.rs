// SPDX-License-Identifier: GPL-2.0

//! Recovery from hangs: finds engines that hang, resets them, and lets innocent requests run again.
//!
//! The retirer calls [`Recovery::tick`] while any request is unfinished. The tick watches the
//! oldest request of each engine ([`ouro_core::hang`]). An engine that hangs is reset, alone if the
//! chip can: emission stops, unfinished requests go back to the engine's queue, and are emitted
//! again after the engine was started ([`crate::submit::replay`]). The oldest request is guilty: it
//! keeps its place without its batch, and its fence gets `EIO`.
//!
//! If no reset helps, the device is *wedged*: bus mastering is disabled, all published requests
//! fail with `EIO`, and so do later submissions. Memory can still be read.
//!
//! Fences depend on all of this, so nothing here allocates, or takes a lock under which other code
//! allocates; the error state is the exception, and is left out if memory is short. One lock
//! excludes others that reset or stop engines: suspend, unbind, another reset.

mod act;
mod errors;
mod events;
mod message;
mod state;
mod text;
mod wedged;

use self::{errors::Errors, events::Events, state::ErrorState, wedged::Cause};

use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, Mutex,
    },
};
use ouro_core::hang::{Answer, Verdict, Watch};
use ouro_hw::{report::MAX_ENGINES, types::Seqno};
use ouro_kernel::time;

use crate::{
    gem::view::Veil,
    hardware::Hardware,
    report::Words,
    submit::{
        in_use::InUse,
        replay::{Lost, Overdue},
        retire::HangCheck,
        Engine, Executor, Request,
    },
};

/// Milliseconds that the request of a revoked context may still run.
const GRACE_MS: u64 = 500;
/// Hang limit in milliseconds of requests that must end, while hangcheck is off.
const PRESSED_HANG_MS: u64 = 3000;
/// Shortest hang limit in milliseconds: hangcheck needs a few ticks.
const LEAST_HANG_MS: u32 = 300;

/// The largest scope of a reset that is allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Allowed {
    /// No reset: a device that hangs is wedged.
    None,
    /// All engines together.
    All,
    /// A single engine, if the chip can.
    Engine,
}

/// The reason for a reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// Nothing moves in the engine.
    Stuck,
    /// The request has run for its limit.
    Endless,
    /// The engine did not answer a preemption.
    Keeps,
    /// The request exceeds its context's watchdog limit.
    Overdue,
    /// The context was revoked.
    Revoked,
    /// The engine must become idle and does not.
    Busy,
    /// User space requested the reset.
    Asked,
}

impl Why {
    /// Returns whether the context of the request is guilty.
    fn blames(self) -> bool {
        !matches!(self, Self::Revoked | Self::Busy)
    }

    /// Returns whether hangcheck found the reason.
    fn is_hang(self) -> bool {
        matches!(
            self,
            Self::Stuck | Self::Endless | Self::Keeps | Self::Overdue
        )
    }

    /// Returns whether the reason was found by looking at a request, which may have completed
    /// since.
    fn is_seen(self) -> bool {
        self.is_hang() || matches!(self, Self::Revoked)
    }

    /// Returns the reason for the log.
    fn text(self) -> &'static str {
        match self {
            Self::Stuck => "no progress",
            Self::Endless => "not complete within the hang timeout",
            Self::Keeps => "preemption timeout",
            Self::Overdue => "over the limit of the watchdog",
            Self::Revoked => "client closed",
            Self::Busy => "not idle before suspend",
            Self::Asked => "reset requested",
        }
    }
}

/// The state under the lock.
struct Inner {
    watches: [Watch; MAX_ENGINES],
    lost: [Lost; MAX_ENGINES],
    /// Engines whose watchdog fired, a bit each, and whose request was not checked yet, or was
    /// within its limit.
    overdue: u32,
    /// The device sleeps, or is gone: there is nothing to reset.
    resting: bool,
}

/// References that a reset holds, to be dropped without locks.
#[derive(Default)]
struct Held {
    /// Contexts that engines had loaded.
    contexts: [Option<InUse>; MAX_ENGINES],
    /// The request that was checked.
    request: Option<Arc<Request>>,
    /// An error state that was not kept.
    state: Option<Arc<ErrorState>>,
    /// A reset postponed until the aperture is blocked: engine, engine seqno that was seen, reason.
    postponed: Option<(usize, Option<Seqno>, Why)>,
    /// The aperture is blocked.
    veiled: bool,
}

/// Finds and resets engines that hang.
#[pin_data]
pub(crate) struct Recovery {
    executor: Arc<Executor>,
    hardware: Arc<Hardware>,
    /// Hang limit of a request in milliseconds; 0: none.
    hang_ms: Atomic<u32>,
    /// Milliseconds in which an engine must answer a preemption; 0: there are no preemption probes.
    preempt_ms: Atomic<u32>,
    /// Value of i915's `reset` parameter: 0 no resets, 1 all engines together, others a single
    /// engine.
    allowed: Atomic<u32>,
    resets: Atomic<u64>,
    errors: Arc<Errors>,
    events: Arc<Events>,
    #[pin]
    inner: Mutex<Inner>,
}

impl Recovery {
    /// Creates the recovery of an executor's engines. Errors: `EINVAL` for too many engines,
    /// `ENOMEM`.
    pub(crate) fn new(executor: Arc<Executor>) -> Result<Arc<Self>> {
        if executor.engines().len() > MAX_ENGINES {
            return Err(EINVAL);
        }
        let hardware = executor.hardware().clone();
        let errors = Errors::new(hardware.clone(), executor.dma_device().clone())?;
        Arc::pin_init(
            try_pin_init!(Self {
                executor,
                hardware,
                hang_ms: Atomic::new(default_hang_ms()),
                preempt_ms: Atomic::new(default_preempt_ms()),
                allowed: Atomic::new(3),
                resets: Atomic::new(0),
                errors,
                events: Events::new()?,
                inner <- new_mutex!(Inner {
                    watches: [Watch::default(); MAX_ENGINES],
                    lost: core::array::from_fn(|_| Lost::new()),
                    overdue: 0,
                    resting: false,
                }, "ouro_recovery"),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// Returns the error states of hangs.
    pub(crate) fn errors(&self) -> &Errors {
        &self.errors
    }

    /// Returns the uevents of resets.
    pub(crate) fn events(&self) -> &Events {
        &self.events
    }

    /// Ends what user space can see: the driver is being unbound. Sleeps.
    pub(crate) fn end(&self) {
        self.errors.end();
        self.events.end();
    }

    /// Returns the number of resets.
    pub(crate) fn resets(&self) -> u64 {
        self.resets.load(ordering::Relaxed)
    }

    /// Returns whether the device is wedged.
    pub(crate) fn is_wedged(&self) -> bool {
        self.executor.is_wedged()
    }

    /// Returns the largest scope of a reset that is allowed. For tests.
    pub(crate) fn allowed(&self) -> Allowed {
        match self.allowed.load(ordering::Relaxed) {
            0 => Allowed::None,
            1 => Allowed::All,
            _ => Allowed::Engine,
        }
    }

    /// Returns the value of i915's `reset` parameter: 0 no resets, 1 all engines together, others a
    /// single engine.
    pub(crate) fn reset_param(&self) -> u32 {
        self.allowed.load(ordering::Relaxed)
    }

    /// Sets [`reset_param`](Self::reset_param).
    pub(crate) fn set_reset_param(&self, number: u32) {
        self.allowed.store(number, ordering::Relaxed);
    }

    /// Returns the hang limit of a request in milliseconds; 0: none.
    pub(crate) fn hang_ms(&self) -> u32 {
        self.hang_ms.load(ordering::Relaxed)
    }

    /// Sets [`hang_ms`](Self::hang_ms).
    pub(crate) fn set_hang_ms(&self, ms: u32) {
        self.hang_ms.store(at_least(ms), ordering::Relaxed);
    }

    /// Returns in how many milliseconds an engine must answer a preemption, on execlist engines; 0:
    /// there are no preemption probes. [`hang_ms`](Self::hang_ms) is an upper limit.
    pub(crate) fn preempt_ms(&self) -> u32 {
        self.preempt_ms.load(ordering::Relaxed)
    }

    /// Sets [`preempt_ms`](Self::preempt_ms).
    pub(crate) fn set_preempt_ms(&self, ms: u32) {
        self.preempt_ms.store(ms, ordering::Relaxed);
    }

    /// Calls `f` under the lock, and then drops what engines had loaded. If a reset clears the
    /// fence registers, `f` only postpones it, and it is done afterwards with the aperture blocked:
    /// that has to happen without locks, since the holder of the aperture's lock may wait for
    /// memory.
    fn locked(&self, f: impl FnOnce(&mut Inner, &mut Held) -> Result) -> Result {
        let mut held = Held::default();
        let done = f(&mut self.inner.lock(), &mut held);
        let postponed = held.postponed.take();
        self.dispose(held);
        let Some((index, seen, why)) = postponed else {
            return done;
        };
        let _veil = self.veil();
        let mut held = Held {
            veiled: true,
            ..Held::default()
        };
        let done = self.postponed(&mut self.inner.lock(), &mut held, index, seen, why);
        self.dispose(held);
        done
    }

    /// Leaves what a reset holds to the retirer: the last references to a context or a request take
    /// locks that a reset must not wait for.
    fn dispose(&self, mut held: Held) {
        let retirer = self.executor.retirer();
        for context in held.contexts.iter_mut().filter_map(Option::take) {
            retirer.unload(context);
        }
        if let Some(request) = held.request.take() {
            retirer.forget(request);
        }
    }

    /// Blocks the aperture if a reset clears the fence registers. The caller holds no locks.
    fn veil(&self) -> Option<Veil<'_>> {
        let empties = self.hardware.generation().reset_empties_fences();
        self.executor
            .aperture()
            .filter(|_| empties)
            .map(|aperture| aperture.veil())
    }

    /// Does a postponed reset, if it is still needed. Errors: `EBUSY` if the device sleeps or is
    /// going away by now, `EIO` if it is wedged; those of [`run`](Self::run).
    fn postponed(
        &self,
        inner: &mut Inner,
        held: &mut Held,
        index: usize,
        seen: Option<Seqno>,
        why: Why,
    ) -> Result {
        let engine = self.executor.engines().get(index).ok_or(EINVAL)?;
        if inner.resting {
            return Err(EBUSY);
        }
        if self.is_wedged() {
            return Err(EIO);
        }
        if let Err(e) = self.hardware.get() {
            return self.wedge(inner, held, Cause::Asleep(e));
        }
        let done = self.run(inner, engine, seen, why, held);
        self.hardware.put();
        done
    }

    /// Resets an engine whose watchdog fired, if its current request exceeds the limit: the one
    /// that fired it may have completed. Other engines are checked at the next tick. Also if
    /// hangcheck is off, since the client has set the limit. Returns whether there was a reset.
    fn enforce(&self, inner: &mut Inner, held: &mut Held) -> Result<bool> {
        for engine in self.executor.engines().iter() {
            if !has(inner.overdue, engine) {
                continue;
            }
            // The time of the next request begins now at the latest.
            engine.advance();
            let seen = match engine.overdue(time::monotonic_ns()) {
                // The tick checks again.
                Overdue::NotYet => continue,
                Overdue::Never => None,
                Overdue::Now(number) => Some(number),
            };
            inner.overdue &= !bit(engine);
            if seen.is_none() {
                continue;
            }
            if let Err(e) = self.hardware.get() {
                self.wedge(inner, held, Cause::Asleep(e))?;
            }
            let done = self.run(inner, engine, seen, Why::Overdue, held);
            self.hardware.put();
            return done.map(|()| true);
        }
        Ok(false)
    }

    /// Looks for an engine that hangs, and resets it. Other engines are checked at the next tick.
    fn check(&self, inner: &mut Inner, held: &mut Held) -> Result {
        let ns = time::monotonic_ns();
        let now = ns / 1_000_000;
        for engine in self.executor.engines().iter() {
            engine.count(ns);
            if self.hang_ms() == 0 {
                engine.unwatch();
            }
            let Some(watch) = inner.watches.get_mut(engine.index()) else {
                continue;
            };
            let limit = match u64::from(self.hang_ms()) {
                // No one could end it: its waiter cannot be woken up, and may be exiting.
                0 if engine.is_pressed() => PRESSED_HANG_MS,
                0 => u64::MAX,
                limit => limit,
            };
            let patience = limit.min(self.preempt_ms().into());
            // An engine that can be preempted drops a revoked context before it is reset for that.
            let asks = engine.has_lists() && patience != 0;
            let grace = if asks {
                GRACE_MS.min(patience)
            } else {
                GRACE_MS
            };
            if asks {
                engine.cancel_revoked(ns, grace * 1_000_000);
            }
            let oldest = engine.see_oldest(asks);
            let revoked = oldest.is_some_and(|o| o.revoked);
            let can_answer = oldest.filter(|_| asks);
            let answer = can_answer.map(|o| Answer {
                owed: o.owes.map(|since| ns.saturating_sub(since) / 1_000_000),
                limit: if revoked { grace } else { patience },
                ends: o.ends,
            });
            let limit = match revoked && answer.is_none() {
                true => limit.min(grace),
                false => limit,
            };
            // Without a limit, an engine that does not answer would be reset for that alone.
            if limit != u64::MAX && answer.is_some_and(|a| a.owed.is_none()) {
                engine.save_for_memory();
            }
            let oldest = oldest.map(|o| (o.number, o.ran / 1_000_000));
            if !watch.tick(now, oldest, limit, answer) {
                continue;
            }
            // The request may have been retired since it was seen, and the device may sleep.
            if let Err(e) = self.hardware.get() {
                return self.wedge(inner, held, Cause::Asleep(e));
            }
            let activity = engine.hw().activity(&self.hardware.hw());
            let why = match watch.look(now, &activity, limit, answer) {
                Verdict::Fine => None,
                Verdict::Probe => {
                    engine.send_probe();
                    watch.probed(now);
                    None
                }
                Verdict::Waits => {
                    if engine.hw().kick(&self.hardware.hw()) {
                        let id = Words(engine.hw().desc().id);
                        dev_info!(
                            self.hardware.dev(),
                            "{}: stuck MI_WAIT_FOR_EVENT, its wait is ended\n",
                            id
                        );
                        watch.kicked();
                    }
                    None
                }
                Verdict::Stuck | Verdict::Endless | Verdict::Keeps if revoked => Some(Why::Revoked),
                Verdict::Stuck => Some(Why::Stuck),
                Verdict::Endless => Some(Why::Endless),
                Verdict::Keeps => Some(Why::Keeps),
                Verdict::Gone => {
                    let gone = self.wedge(inner, held, Cause::Gone);
                    self.hardware.put();
                    return gone;
                }
            };
            let seen = watch.oldest();
            let done = why.map(|why| self.run(inner, engine, seen, why, held));
            self.hardware.put();
            if let Some(done) = done {
                return done;
            }
        }
        Ok(())
    }

    /// Resets the engines of `mask` (bit n: engine n), and those of their reset groups. Their
    /// current requests fail. Revives a wedged device, if resets are allowed. Process context.
    ///
    /// Errors: `EIO` if the device is wedged afterwards, `EBUSY` while it sleeps or goes away.
    pub(crate) fn reset(&self, mask: u32, why: Why) -> Result {
        let mut done = Ok(());
        // One reset revives all engines of a wedged device.
        let wedged = self.is_wedged();
        let mask = if wedged { 1 } else { mask };
        let _veil = wedged.then(|| self.veil()).flatten();
        for engine in self.executor.engines().iter().filter(|e| has(mask, e)) {
            let this = self.locked(|inner, held| {
                if inner.resting {
                    return Err(EBUSY);
                }
                if let Err(e) = self.hardware.get() {
                    return self.wedge(inner, held, Cause::Asleep(e));
                }
                let done = if self.is_wedged() {
                    match self.allowed() {
                        Allowed::None => Err(EIO),
                        Allowed::All | Allowed::Engine => self.unwedge(inner, held),
                    }
                } else {
                    self.run(inner, engine, None, why, held)
                };
                self.hardware.put();
                done
            });
            done = done.and(this);
        }
        self.executor.retirer().start_tick();
        done
    }

    /// Wedges the device to cancel all requests: nothing runs on it any more. Process context.
    pub(crate) fn give_up(&self) {
        // The error is the expected result.
        let _ = self.locked(|inner, held| {
            if inner.resting || self.is_wedged() {
                return Ok(());
            }
            self.wedge(inner, held, Cause::Cancelled)
        });
        self.executor.retirer().start_tick();
    }

    /// The device failed to resume with an error: it stays wedged. Process context.
    pub(crate) fn lose(&self, error: Error) {
        // The error is the expected result.
        let _ = self.locked(|inner, held| self.wedge(inner, held, Cause::Resume(error)));
        self.executor.retirer().start_tick();
    }

    /// Stops resets, because the device goes to sleep, or away. Waits for a reset under way.
    pub(crate) fn rest(&self) {
        self.inner.lock().resting = true;
    }

    /// Starts hangcheck again: the device is up again.
    pub(crate) fn watch(&self) {
        let mut inner = self.inner.lock();
        inner.resting = false;
        inner.watches = [Watch::default(); MAX_ENGINES];
        inner.overdue = 0;
    }
}

impl HangCheck for Recovery {
    fn tick(&self) {
        // The result is not needed: waiters learn it from their fences.
        let _ = self.locked(|inner, held| {
            if inner.resting || self.is_wedged() {
                return Ok(());
            }
            match self.enforce(inner, held)? {
                true => Ok(()),
                false => self.check(inner, held),
            }
        });
    }

    fn overdue(&self, mask: u32) {
        let _ = self.locked(|inner, held| {
            if inner.resting || self.is_wedged() {
                return Ok(());
            }
            inner.overdue |= mask;
            self.enforce(inner, held).map(|_| ())
        });
    }

    fn alarm(&self, mask: u32) {
        let mut inner = self.inner.lock();
        for engine in self.executor.engines().iter().filter(|e| has(mask, e)) {
            if let Some(watch) = inner.watches.get_mut(engine.index()) {
                watch.alarm();
            }
        }
    }
}

/// Returns an engine's bit in a set of engines.
fn bit(engine: &Engine) -> u32 {
    1u32.wrapping_shl(engine.index() as u32)
}

/// Returns whether an engine is in a set.
fn has(set: u32, engine: &Engine) -> bool {
    set & bit(engine) != 0
}

/// Returns the hang limit of the module parameter.
pub(crate) fn default_hang_ms() -> u32 {
    at_least(*crate::module_parameters::hang_ms.value_ref())
}

/// Returns the default time limit of a preemption.
pub(crate) fn default_preempt_ms() -> u32 {
    default_hang_ms() / 2
}

/// Raises a hang limit to the shortest that hangcheck can handle.
fn at_least(ms: u32) -> u32 {
    match ms {
        0 => 0,
        n => n.max(LEAST_HANG_MS),
    }
}
