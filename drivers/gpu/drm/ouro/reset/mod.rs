// SPDX-License-Identifier: GPL-2.0

//! Recovery: engines that hang are found, reset, and go on with what is not to blame.
//!
//! [`Recovery::tick`] is called by the retirer as long as anything is unfinished. It watches the
//! oldest request of each engine ([`ouro_core::hang`]). An engine that hangs is reset, alone where
//! the chip can: nothing is emitted meanwhile, what the engine had not done goes back to its queue,
//! and is emitted again when it has been started ([`crate::submit::replay`]). The oldest request is
//! to blame: it keeps its place, does nothing, and its fence gets `EIO`.
//!
//! If no reset helps, the device is *wedged*: it loses the bus, everything published fails with
//! `EIO`, and so does what comes later. Memory can still be read.
//!
//! Fences depend on all of this, so nothing here allocates, or takes a lock that is held where
//! somebody allocates; the error state is the exception, and does without memory if there is none.
//! One lock keeps those out who would do the same: suspend, unbind, another reset.

mod act;
mod errors;
mod events;
mod state;
mod text;

use self::{errors::Errors, events::Events, state::ErrorState};

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

/// Milliseconds that a request has which nobody wants any more.
const GRACE_MS: u64 = 500;
/// The shortest time that user space can set, in milliseconds: the watch needs a few ticks.
const LEAST_HANG_MS: u32 = 300;

/// How far a reset may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Allowed {
    /// None: a device that hangs is given up.
    None,
    /// All engines together.
    All,
    /// One engine by itself, where the chip can.
    Engine,
}

/// Why there is a reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// Nothing moves in the engine.
    Stuck,
    /// The request takes too long.
    Endless,
    /// It is asked to let go of what it runs, and does not.
    Keeps,
    /// The request takes longer than its context allows.
    Overdue,
    /// Nobody wants what it runs any more.
    Revoked,
    /// It has to be idle now, and is not.
    Busy,
    /// Somebody wants it so.
    Asked,
}

impl Why {
    /// Whether the context whose request is reset is to blame.
    fn blames(self) -> bool {
        !matches!(self, Self::Revoked | Self::Busy)
    }

    /// Whether it was seen to hang.
    fn is_hang(self) -> bool {
        matches!(
            self,
            Self::Stuck | Self::Endless | Self::Keeps | Self::Overdue
        )
    }

    /// Whether it was found by looking at a request, which may be over by now.
    fn is_seen(self) -> bool {
        self.is_hang() || matches!(self, Self::Revoked)
    }

    /// In words.
    fn text(self) -> &'static str {
        match self {
            Self::Stuck => "nothing moves",
            Self::Endless => "no end in sight",
            Self::Keeps => "it does not let go",
            Self::Overdue => "longer than its context allows",
            Self::Revoked => "its client is gone",
            Self::Busy => "it does not become idle",
            Self::Asked => "asked for",
        }
    }
}

/// What is under the lock.
struct Inner {
    watches: [Watch; MAX_ENGINES],
    lost: [Lost; MAX_ENGINES],
    /// Engines whose watchdog has spoken, a bit each: not yet looked at, or too early.
    overdue: u32,
    /// The device sleeps, or is gone: there is nothing to reset.
    resting: bool,
}

/// What a reset held, to be let go of with no lock held.
#[derive(Default)]
struct Held {
    /// What engines held.
    contexts: [Option<InUse>; MAX_ENGINES],
    /// What was looked at.
    request: Option<Arc<Request>>,
    /// What was not kept.
    state: Option<Arc<ErrorState>>,
    /// What is to be done once a veil is drawn: engine, number that was seen, reason.
    postponed: Option<(usize, Option<Seqno>, Why)>,
    /// It is drawn.
    veiled: bool,
}

/// Finds and resets engines that hang.
#[pin_data]
pub(crate) struct Recovery {
    executor: Arc<Executor>,
    hardware: Arc<Hardware>,
    /// Milliseconds that a request may take; 0 for as long as it likes.
    hang_ms: Atomic<u32>,
    /// Milliseconds for which an engine may keep what it is asked to let go of; 0: it is not asked.
    preempt_ms: Atomic<u32>,
    /// As i915 numbers it: 0 none, 1 all together, else each by itself.
    allowed: Atomic<u32>,
    resets: Atomic<u64>,
    errors: Arc<Errors>,
    events: Arc<Events>,
    #[pin]
    inner: Mutex<Inner>,
}

impl Recovery {
    /// Makes what looks after the engines of `executor`. Errors: `EINVAL` for too many engines, `ENOMEM`.
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

    /// What engines were doing that hung.
    pub(crate) fn errors(&self) -> &Errors {
        &self.errors
    }

    /// What user space is told.
    pub(crate) fn events(&self) -> &Events {
        &self.events
    }

    /// The driver goes: nothing is left for user space from here on. Sleeps.
    pub(crate) fn end(&self) {
        self.errors.end();
        self.events.end();
    }

    /// Resets so far.
    pub(crate) fn resets(&self) -> u64 {
        self.resets.load(ordering::Relaxed)
    }

    /// Whether the device was given up.
    pub(crate) fn is_wedged(&self) -> bool {
        self.executor.is_wedged()
    }

    /// How far a reset may go. For tests.
    pub(crate) fn allowed(&self) -> Allowed {
        match self.allowed.load(ordering::Relaxed) {
            0 => Allowed::None,
            1 => Allowed::All,
            _ => Allowed::Engine,
        }
    }

    /// The number of i915's parameter `reset`: 0 for none, 1 for all engines together, others for
    /// each by itself.
    pub(crate) fn reset_param(&self) -> u32 {
        self.allowed.load(ordering::Relaxed)
    }

    /// Sets [`reset_param`](Self::reset_param).
    pub(crate) fn set_reset_param(&self, number: u32) {
        self.allowed.store(number, ordering::Relaxed);
    }

    /// Milliseconds that a request may take; 0 for as long as it likes.
    pub(crate) fn hang_ms(&self) -> u32 {
        self.hang_ms.load(ordering::Relaxed)
    }

    /// Sets [`hang_ms`](Self::hang_ms).
    pub(crate) fn set_hang_ms(&self, ms: u32) {
        self.hang_ms.store(at_least(ms), ordering::Relaxed);
    }

    /// Milliseconds for which an engine may keep what it is asked to let go of, where it can be asked; 0: it is
    /// not asked. [`hang_ms`](Self::hang_ms) is the limit of that, too.
    pub(crate) fn preempt_ms(&self) -> u32 {
        self.preempt_ms.load(ordering::Relaxed)
    }

    /// Sets [`preempt_ms`](Self::preempt_ms).
    pub(crate) fn set_preempt_ms(&self, ms: u32) {
        self.preempt_ms.store(ms, ordering::Relaxed);
    }

    /// Does something under the lock; what engines held is let go of after it. Where a reset empties the fences of
    /// the aperture, it comes last, behind a veil: that is drawn with no lock held, since who has the lock of the
    /// aperture may wait for memory.
    fn locked(&self, f: impl FnOnce(&mut Inner, &mut Held) -> Result) -> Result {
        let mut held = Held::default();
        let done = f(&mut self.inner.lock(), &mut held);
        let postponed = held.postponed.take();
        drop(held);
        let Some((index, seen, why)) = postponed else {
            return done;
        };
        let _veil = self.veil();
        let mut held = Held {
            veiled: true,
            ..Held::default()
        };
        let done = self.postponed(&mut self.inner.lock(), &mut held, index, seen, why);
        drop(held);
        done
    }

    /// Draws the veil of the aperture, where a reset empties its fences. No lock is held.
    fn veil(&self) -> Option<Veil<'_>> {
        let empties = self.hardware.generation().reset_empties_fences();
        self.executor
            .aperture()
            .filter(|_| empties)
            .map(|aperture| aperture.veil())
    }

    /// The reset for which a veil has been drawn, if it is still called for. Errors: `EBUSY` if the device sleeps or
    /// goes away by now, `EIO` if it was given up; those of [`run`](Self::run).
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
        if self.hardware.get().is_err() {
            return self.wedge(inner, held);
        }
        let done = self.run(inner, engine, seen, why, held);
        self.hardware.put();
        done
    }

    /// Resets an engine whose watchdog has spoken, if the request that it works on has run for too long: the one that
    /// was meant may be done. Others have their turn at the next tick. It does not matter whether hangs are
    /// looked for: the client has asked for it. Returns whether there was a reset.
    fn enforce(&self, inner: &mut Inner, held: &mut Held) -> Result<bool> {
        for engine in self.executor.engines().iter() {
            if !has(inner.overdue, engine) {
                continue;
            }
            // The time of what comes next begins now at the latest.
            engine.advance();
            let seen = match engine.overdue(time::monotonic_ns()) {
                // The tick looks again.
                Overdue::NotYet => continue,
                Overdue::Never => None,
                Overdue::Now(number) => Some(number),
            };
            inner.overdue &= !bit(engine);
            if seen.is_none() {
                continue;
            }
            if self.hardware.get().is_err() {
                self.wedge(inner, held)?;
            }
            let done = self.run(inner, engine, seen, Why::Overdue, held);
            self.hardware.put();
            return done.map(|()| true);
        }
        Ok(false)
    }

    /// Looks for an engine that hangs, and resets it. Others have their turn at the next tick.
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
                0 => u64::MAX,
                limit => limit,
            };
            let patience = limit.min(self.preempt_ms().into());
            // Where it can be asked, it lets go of what nobody wants before it is reset for that.
            let asks = engine.has_lists() && patience != 0;
            let grace = if asks {
                GRACE_MS.min(patience)
            } else {
                GRACE_MS
            };
            if asks {
                engine.cancel_revoked(ns, grace * 1_000_000);
            }
            let oldest = engine.oldest();
            let revoked = oldest.is_some_and(|o| o.revoked);
            let can_answer = oldest.filter(|o| asks && (o.can_answer || revoked));
            let answer = can_answer.map(|o| Answer {
                owed: o.owes.map(|since| ns.saturating_sub(since) / 1_000_000),
                limit: if revoked { grace } else { patience },
            });
            let limit = match revoked && answer.is_none() {
                true => limit.min(grace),
                false => limit,
            };
            let oldest = oldest.map(|o| (o.number, o.ran / 1_000_000));
            if !watch.tick(now, oldest, limit, answer) {
                continue;
            }
            // The request may have been retired since it was seen, and the device sleep.
            if self.hardware.get().is_err() {
                return self.wedge(inner, held);
            }
            let activity = engine.hw().activity(&self.hardware.hw());
            let why = match watch.look(now, &activity, limit, answer) {
                Verdict::Fine => None,
                Verdict::Ask => {
                    engine.ask();
                    watch.asked(now);
                    None
                }
                Verdict::Waits => {
                    if engine.hw().kick(&self.hardware.hw()) {
                        let id = Words(engine.hw().desc().id);
                        dev_info!(
                            self.hardware.dev(),
                            "{}: a wait for an event was ended\n",
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
                    let gone = self.wedge(inner, held);
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

    /// Resets the engines of `mask` (bit n: the n-th), and what must be reset with them. Whatever
    /// they are running has failed. Brings a wedged device back, if that may be. Process context.
    ///
    /// Errors: `EIO` if the device is wedged then, `EBUSY` while it sleeps or goes away.
    pub(crate) fn reset(&self, mask: u32, why: Why) -> Result {
        let mut done = Ok(());
        // One reset brings all of a wedged device back.
        let wedged = self.is_wedged();
        let mask = if wedged { 1 } else { mask };
        let _veil = wedged.then(|| self.veil()).flatten();
        for engine in self.executor.engines().iter().filter(|e| has(mask, e)) {
            let this = self.locked(|inner, held| {
                if inner.resting {
                    return Err(EBUSY);
                }
                if self.hardware.get().is_err() {
                    return self.wedge(inner, held);
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
        self.executor.retirer().wind();
        done
    }

    /// Gives the device up: nothing runs on it any more. Process context.
    pub(crate) fn give_up(&self) {
        // That it fails is what is wanted.
        let _ = self.locked(|inner, held| {
            if inner.resting || self.is_wedged() {
                return Ok(());
            }
            self.wedge(inner, held)
        });
        self.executor.retirer().wind();
    }

    /// The device did not come back from sleep: it is given up, and stays so. Process context.
    pub(crate) fn lose(&self) {
        // That it fails is what is wanted.
        let _ = self.locked(|inner, held| self.wedge(inner, held));
        self.executor.retirer().wind();
    }

    /// From now on nothing is reset: the device goes to sleep, or away. Waits for a reset that is
    /// under way.
    pub(crate) fn rest(&self) {
        self.inner.lock().resting = true;
    }

    /// The device is up again.
    pub(crate) fn watch(&self) {
        let mut inner = self.inner.lock();
        inner.resting = false;
        inner.watches = [Watch::default(); MAX_ENGINES];
        inner.overdue = 0;
    }
}

impl HangCheck for Recovery {
    fn tick(&self) {
        // Whoever waits learns by a fence what became of it.
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

/// The engine's bit in a set of engines.
fn bit(engine: &Engine) -> u32 {
    1u32.wrapping_shl(engine.index() as u32)
}

/// Whether an engine is in a set.
fn has(set: u32, engine: &Engine) -> bool {
    set & bit(engine) != 0
}

/// What the module parameter says.
pub(crate) fn default_hang_ms() -> u32 {
    at_least(*crate::module_parameters::hang_ms.value_ref())
}

/// What an engine has at first to let go of what it runs.
pub(crate) fn default_preempt_ms() -> u32 {
    default_hang_ms() / 2
}

/// A limit that the watch can tell.
fn at_least(ms: u32) -> u32 {
    match ms {
        0 => 0,
        n => n.max(LEAST_HANG_MS),
    }
}
