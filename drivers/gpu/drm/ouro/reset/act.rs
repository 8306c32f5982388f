// SPDX-License-Identifier: GPL-2.0

//! The steps of a reset.
//!
//! The engines are frozen, so that nothing is emitted; the error state is captured; the hardware is
//! reset and started again; the guilty context is found; and unfinished requests are emitted again.
//! All of this happens under the lock of [`Recovery`], in a critical section of fence signalling:
//! nothing here waits for memory.

use kernel::{
    alloc::flags::{__GFP_NOWARN, GFP_NOWAIT},
    prelude::*,
    sync::{atomic::ordering, Arc},
};
use ouro_core::{
    hang::Watch,
    veil::{before_reset, Next},
};
use ouro_hw::{generation::ResetScope, report::Report, types::Seqno};
use ouro_kernel::{fence, time};

use super::{
    bit,
    events::Event,
    has,
    message::{Kept, Message},
    state::ErrorState,
    wedged::Cause,
    Allowed, Held, Inner, Recovery, Why,
};
use crate::{
    report::{self, Level, Words},
    submit::{guilt::Holder, Context, Engine},
};

/// How often a reset is tried before the device is wedged.
pub(super) const TRIES: u32 = 3;

impl Recovery {
    /// Resets an engine because of its current request. If the reason was found by looking at a
    /// request, `seen` is that request's engine seqno. The device must be awake. If a reset clears
    /// the fence registers, the first call only postpones it until the aperture is blocked; then
    /// [`locked`](Recovery::locked) calls again.
    pub(super) fn run(
        &self,
        inner: &mut Inner,
        engine: &Engine,
        seen: Option<Seqno>,
        why: Why,
        held: &mut Held,
    ) -> Result {
        let empties = self.hardware.generation().reset_empties_fences();
        if before_reset(empties, held.veiled) == Next::Veil {
            held.postponed = Some((engine.index(), seen, why));
            return Ok(());
        }
        let _signalling = fence::signalling();
        let desc = engine.hw().desc();
        let mut scope = bit(engine);
        self.freeze(scope);
        engine.advance();
        held.request = engine.first();
        // Not earlier: completed requests have been retired now.
        let suspect = held.request.as_ref().map(|r| r.number());
        if why.is_seen() && suspect != seen {
            // The request has completed after all; or another context runs since it was seen, and
            // the request is found again when it runs.
            self.go_on(inner, scope, held);
            return Ok(());
        }
        if let Some(lost) = inner.lost.get_mut(engine.index()) {
            lost.suspect = suspect;
        }
        let dev = self.hardware.dev();
        let ran_ms = engine.ran(time::monotonic_ns()) / 1_000_000;
        if why.blames() {
            self.events.tell(Event::Error);
        }
        scope = match self.allowed() {
            Allowed::None => {
                self.log(engine, why, ran_ms, Kept::None, held);
                return self.wedge(inner, held, Cause::Disabled);
            }
            Allowed::Engine if desc.reset_group.is_some() => self.reset_with(engine),
            Allowed::All | Allowed::Engine => !0,
        };
        self.freeze(scope);
        let report = self.hardware.take_errors();
        let kept = self.capture(engine, suspect, why, scope, &report, held);
        self.log(engine, why, ran_ms, kept, held);
        report::print(dev, Level::Error, &report);
        if why.blames() {
            self.events.tell(Event::Reset);
        }

        let mut done = self.attempt(inner, scope);
        for _ in 1..TRIES {
            if done.is_ok() {
                break;
            }
            // A reset of all engines may help.
            scope = !0;
            self.freeze(scope);
            done = self.attempt(inner, scope);
        }
        if done.is_err() {
            return self.wedge(inner, held, Cause::Failed);
        }
        self.resets.fetch_add(1, ordering::Relaxed);
        if self.judge(inner, engine, suspect, why) {
            return self.wedge(inner, held, Cause::Move);
        }
        self.go_on(inner, scope, held);
        if why.blames() {
            self.events.tell(Event::Over);
        }
        Ok(())
    }

    /// Writes the line about a reset to the kernel log.
    fn log(&self, engine: &Engine, why: Why, ran_ms: u64, kept: Kept, held: &Held) {
        let context = held.request.as_ref().and_then(|r| r.context.as_ref());
        let message = Message {
            engine: engine.hw().desc().id,
            why,
            holder: context.and_then(|c| c.holder()),
            ran_ms,
            kept,
            card: self.events.card(),
        };
        dev_err!(self.hardware.dev(), "{}\n", Words(message));
    }

    /// Captures an error state, if none is kept yet, and there is memory. Returns whether there is
    /// one.
    fn capture(
        &self,
        engine: &Engine,
        suspect: Option<Seqno>,
        why: Why,
        scope: u32,
        report: &Report,
        held: &mut Held,
    ) -> Kept {
        if !why.blames() {
            return Kept::None;
        }
        if !self.errors.is_empty() {
            return Kept::Before;
        }
        let hung = engine;
        let now = time::monotonic_ns();
        let Some(mut state) = ErrorState::new(engine, why, now, self.resets(), report) else {
            return Kept::None;
        };
        let request = held.request.as_ref();
        if let Some(request) = request.filter(|r| Some(r.number()) == suspect) {
            let context = request.context.as_ref();
            if context.is_some_and(|c| c.params().no_error_capture.get()) {
                return Kept::None;
            }
            state.add_request(self.executor.bo_device(), request);
        }
        for engine in self.executor.engines().iter().filter(|e| has(scope, e)) {
            let engine: &Engine = engine;
            state.add_translations(engine, &self.hardware);
            // On an execlist engine, capture the ring and the image of the context that hangs.
            let line = held.request.as_ref().map(|r| r.tracker.line());
            match line.filter(|_| engine.has_lists()) {
                Some(line) if core::ptr::eq(engine, hung) => {
                    state.add_ring(engine, line);
                    let context = held.request.as_ref().and_then(|r| r.context.as_ref());
                    if let Some(seat) = context.and_then(|c| c.seat(engine)) {
                        state.add_image(engine, seat.logical_ring());
                    }
                }
                Some(_) => {}
                None => state.add_ring(engine, engine.line()),
            }
        }
        let Ok(state) = Arc::new(state, GFP_NOWAIT | __GFP_NOWARN) else {
            return Kept::None;
        };
        held.state = Some(state.clone());
        self.errors.keep(state);
        Kept::Now
    }

    /// Returns the engines of an engine's reset group.
    fn reset_with(&self, engine: &Engine) -> u32 {
        let group = engine.hw().desc().reset_group;
        let all = self.executor.engines().iter();
        all.filter(|e| e.hw().desc().reset_group == group)
            .fold(0, |set, e| set | bit(e))
    }

    fn freeze(&self, scope: u32) {
        for engine in self.executor.engines().iter().filter(|e| has(scope, e)) {
            engine.freeze();
        }
    }

    /// Tries to reset the engines of a scope, and starts them again. They must be frozen.
    fn attempt(&self, inner: &mut Inner, scope: u32) -> Result {
        let first = self.executor.engines().iter().find(|e| has(scope, e));
        match first {
            Some(one) if scope != !0 => self.hardware.reset(ResetScope::Engine(one.index())),
            _ => self.restart(),
        }?;
        self.start_again(inner, scope)
    }

    /// Resets all engines, and sets the device up.
    fn restart(&self) -> Result {
        let layout = self.executor.space().layout().ok_or(EINVAL)?;
        self.hardware.restart(layout)
    }

    /// Starts the engines of a scope, which were reset.
    fn start_again(&self, inner: &mut Inner, scope: u32) -> Result {
        for engine in self.executor.engines().iter().filter(|e| has(scope, e)) {
            if let Some(lost) = inner.lost.get_mut(engine.index()) {
                engine.take_back(lost, false);
            }
            engine.start()?;
            if engine.hw().desc().contexts {
                // The loaded context was not saved, so the kernel context's image holds no state.
                self.executor.kernel_context().forget_saved();
            }
        }
        if scope == !0 {
            let emptied = self.hardware.generation().reset_empties_fences();
            if let Some(aperture) = self.executor.aperture().filter(|_| emptied) {
                aperture.fences().restore();
            }
            if let Some(surfaces) = self.executor.surfaces() {
                // Fences that are still set are not touched.
                surfaces.fences().restore();
            }
            self.hardware.irq_on();
        }
        Ok(())
    }

    /// Finds the guilty context: that of the first request on `engine`, if it is the request that
    /// was seen to hang. Returns whether the device must be wedged.
    fn judge(&self, inner: &Inner, engine: &Engine, suspect: Option<Seqno>, why: Why) -> bool {
        let mut hopeless = false;
        for (index, lost) in inner.lost.iter().enumerate() {
            let Some(oldest) = lost.oldest else {
                continue;
            };
            let context = lost.context();
            if index != engine.index() || suspect != Some(oldest) {
                if let Some(context) = context {
                    context.guilt().record_interruption();
                }
                continue;
            }
            hopeless |= lost.give_up_first(why.is_hang());
            let Some(context) = context else {
                continue;
            };
            // The kernel's contexts are never banned.
            if let (true, Some(holder)) = (why.blames(), context.holder()) {
                self.blame(&context, holder);
            }
            // The context's state may be the cause of the hang: reset it.
            if let (Some(seat), Some(_)) = (context.seat(engine), context.holder()) {
                engine.forget(seat.id());
            }
            if let (true, Some(image), Some(golden)) = (
                engine.hw().desc().contexts,
                context.image(),
                self.executor.golden().as_ref(),
            ) {
                if context.holder().is_some() {
                    image.copy_from(golden);
                }
            }
        }
        hopeless
    }

    /// Records the hang of a client's context. Logs the context and the client that are banned for
    /// it.
    fn blame(&self, context: &Context, holder: &Holder) {
        let (dev, id) = (self.hardware.dev(), context.key().0);
        let Some(banned) = context.record_hang() else {
            return;
        };
        let rule = match context.params().recoverable.get() {
            true => "three hangs within a minute",
            false => "a hang, and it is not recoverable",
        };
        // A closed context gets no more requests.
        if !context.is_revoked() {
            dev_err!(dev, "context {id} of {holder} is banned: {rule}\n");
        }
        if banned.client {
            dev_err!(
                dev,
                "{holder} is banned: four contexts banned within a minute\n"
            );
        }
    }

    /// Lets the engines of a scope work again.
    fn go_on(&self, inner: &mut Inner, scope: u32, held: &mut Held) {
        for engine in self.executor.engines().iter().filter(|e| has(scope, e)) {
            let at = engine.index();
            if let (Some(lost), Some(held), Some(watch)) = (
                inner.lost.get_mut(at),
                held.contexts.get_mut(at),
                inner.watches.get_mut(at),
            ) {
                engine.replay(lost);
                (lost.oldest, lost.suspect) = (None, None);
                *held = lost.take_loaded();
                *watch = Watch::default();
            }
        }
    }

    /// Wedges the device. Returns `EIO`.
    pub(super) fn wedge(&self, inner: &mut Inner, held: &mut Held, cause: Cause) -> Result {
        let _signalling = fence::signalling();
        let (dev, why) = (self.hardware.dev(), Words(cause));
        match cause.is_wanted() {
            true => dev_notice!(dev, "device wedged: {why}\n"),
            false => dev_err!(dev, "device wedged: {why}; submissions fail with EIO\n"),
        }
        self.executor.set_wedged(true);
        // An engine may still run: keep it from memory that others will get.
        self.executor.dma_device().set_master(false);
        // The fences that one engine signals must not start work on another.
        for engine in self.executor.engines().iter() {
            engine.close(EIO);
        }
        if let Some(engine) = self.executor.engines().first() {
            engine.exchange().wait_for_transfers();
        }
        for engine in self.executor.engines().iter() {
            if let (Some(lost), Some(held)) = (
                inner.lost.get_mut(engine.index()),
                held.contexts.get_mut(engine.index()),
            ) {
                engine.stop(EIO, lost);
                (lost.oldest, lost.suspect) = (None, None);
                *held = lost.take_loaded();
            }
        }
        Err(EIO)
    }

    /// Tries to revive a wedged device.
    pub(super) fn unwedge(&self, inner: &mut Inner, held: &mut Held) -> Result {
        let _signalling = fence::signalling();
        self.freeze(!0);
        // First the reset: an engine that still runs may have TLB entries of memory that others
        // have by now.
        let done = self.restart().and_then(|()| {
            self.executor.dma_device().set_master(true);
            self.hardware.flush_gtt();
            self.start_again(inner, !0)
        });
        if done.is_err() {
            self.executor.dma_device().set_master(false);
            return Err(EIO);
        }
        self.resets.fetch_add(1, ordering::Relaxed);
        for engine in self.executor.engines().iter() {
            engine.reopen();
        }
        self.go_on(inner, !0, held);
        self.executor.set_wedged(false);
        self.events.tell(Event::Reset);
        self.events.tell(Event::Over);
        dev_info!(
            self.hardware.dev(),
            "device recovered: it is no longer wedged\n"
        );
        Ok(())
    }
}
