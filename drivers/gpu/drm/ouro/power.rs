// SPDX-License-Identifier: GPL-2.0

//! Suspend, resume and shutdown of a device.

use kernel::{prelude::*, sync::aref::ARef};
use ouro_core::patience::Patience;
use ouro_kernel::{fence::Fence, pages::flush_all_caches, release, task::NoReclaim};

use crate::{
    gem::{migrate, State},
    gpu::Gpu,
    reset::Why,
    submit::{
        quiet::PollInterval,
        replay::Lost,
        request::{Awake, Work},
        Engine,
    },
};

/// How many requests may hang in succession on an engine before a suspend fails.
const SUSPEND_RESETS: u32 = 8;

/// An engine that is being suspended.
struct Suspending {
    /// The fence of the switch to the kernel's context, until it has completed; then the engine is
    /// paused.
    leaving: Option<ARef<Fence>>,
    patience: Patience,
    resets: u32,
    quiet: bool,
}

impl Suspending {
    /// Starts the engine's time limit. Pauses it, unless it has to leave a context first.
    fn new(engine: &Engine, leaving: Option<ARef<Fence>>) -> Self {
        if leaving.is_none() {
            engine.pause();
        }
        Self {
            leaving,
            patience: engine.patience(),
            resets: 0,
            quiet: false,
        }
    }

    /// Returns whether the engine is idle. Errors: `EBUSY` if it takes too long.
    fn look(&mut self, engine: &Engine) -> Result<bool> {
        if self.quiet {
            return Ok(true);
        }
        let leaving = &self.leaving;
        let there = engine.look(&mut self.patience, || match leaving {
            Some(fence) => fence.is_signaled(),
            None => engine.is_quiet(),
        })?;
        match self.leaving.is_some() {
            // Requests emitted meanwhile still have to complete.
            true if there => {
                self.leaving = None;
                engine.pause();
            }
            true => {}
            false => self.quiet = there,
        }
        Ok(self.quiet)
    }

    /// It has to leave a client's context once more.
    fn leave(&mut self, switched: ARef<Fence>) {
        self.leaving = Some(switched);
        self.quiet = false;
    }

    /// It was reset, and gets the whole time limit again.
    fn begin_again(&mut self, engine: &Engine) {
        self.patience = engine.patience();
        self.resets += 1;
    }
}

impl Gpu {
    /// Moves BOs out of VRAM, which the device is about to lose, while memory for them can be
    /// allocated. User space is frozen. Sleeps.
    ///
    /// Errors: those of [`migrate::evict_vram`]; `ENOMEM`.
    pub(crate) fn prepare_suspend(&self) -> Result {
        migrate::evict_vram(self)?;
        self.tables().map_or(Ok(()), |tables| tables.prepare())
    }

    /// Suspends the device, which loses its registers and tables. User space is frozen, and
    /// [`prepare_suspend`](Self::prepare_suspend) was called. Sleeps.
    ///
    /// Errors: `EBUSY`, without any change, if an engine does not become idle; `ENOMEM`, likewise.
    pub(crate) fn suspend(&self) -> Result {
        let awake = Awake::new(self.hardware())?;
        // BOs that were on their way to VRAM when the others were moved.
        migrate::evict_vram(self)?;
        let quiet = self.pause_all();
        let quiet = quiet.and_then(|()| self.tables().map_or(Ok(()), |tables| tables.save()));
        // A reset under way ends first; the requests that it wants to run again wait.
        self.recovery().rest();
        if let Err(e) = quiet {
            self.recovery().watch();
            for engine in self.engines().iter() {
                engine.resume();
            }
            return Err(e);
        }
        for engine in self.engines().iter() {
            engine.halt();
        }
        self.drop_caches();
        // No request will switch away from this context any more.
        self.kernel_context().forget_saved();
        self.hardware().irq_off();
        drop(awake);
        self.hardware().suspend();
        let lost = migrate::lose_vram(self);
        if lost != 0 {
            dev_err!(
                self.hardware().dev(),
                "suspend: {lost} object(s) could not be moved out of VRAM, and are zero now\n"
            );
        }
        Ok(())
    }

    /// Pauses all engines, and waits for their emitted requests, all at the same time. An engine
    /// that takes too long is reset. Errors: `EBUSY`; `ENOMEM`.
    fn pause_all(&self) -> Result {
        let engines = self.engines();
        let mut suspending = KVec::with_capacity(engines.len(), GFP_KERNEL)?;
        // Before the first pause: reclaim may wait for requests that a paused engine does not emit.
        let mut switches = KVec::with_capacity(engines.len(), GFP_KERNEL)?;
        for engine in engines.iter() {
            // The switch away from a client's context saves it.
            let leaving = match self.has_images(engine) {
                true => Some(self.run(engine, self.kernel_context(), Work::Nothing)?),
                false => None,
            };
            switches.push(leaving, GFP_KERNEL)?;
        }
        for (engine, leaving) in engines.iter().zip(switches) {
            suspending.push(Suspending::new(engine, leaving), GFP_KERNEL)?;
        }
        let mut interval = PollInterval::new();
        loop {
            let mut quiet = true;
            for at in 0..suspending.len() {
                let (Some(engine), Some(entry)) = (engines.get(at), suspending.get_mut(at)) else {
                    continue;
                };
                match entry.look(engine) {
                    // Requests that were published before the pause, but were blocked then.
                    Ok(true) if self.has_images(engine) && engine.holds_client() => {
                        quiet = false;
                        engine.resume();
                        let _scope = NoReclaim::new();
                        entry.leave(self.run(engine, self.kernel_context(), Work::Nothing)?);
                    }
                    Ok(there) => quiet &= there,
                    Err(e) if e == EBUSY && entry.resets < SUSPEND_RESETS => {
                        quiet = false;
                        self.reset_busy(at, &mut suspending)?;
                    }
                    Err(e) => return Err(e),
                }
            }
            if quiet {
                return Ok(());
            }
            interval.sleep();
        }
    }

    /// Resets a busy engine, and the engines of its reset group, which then run their requests
    /// again.
    fn reset_busy(&self, busy: usize, suspending: &mut [Suspending]) -> Result {
        let engines = || self.engines().iter().zip(0..);
        for (engine, at) in engines() {
            // Requests that are taken back from a paused engine are not emitted again.
            if suspending.get(at).is_some_and(|entry| !entry.quiet) {
                engine.resume();
            }
        }
        self.recovery()
            .reset(1u32.wrapping_shl(busy as u32), Why::Busy)?;
        for ((engine, at), entry) in engines().zip(suspending.iter_mut()) {
            if entry.quiet {
                continue;
            }
            match at == busy {
                true => entry.begin_again(engine),
                false => entry.patience.ignore_reset(engine.progress()),
            }
            if entry.leaving.is_none() {
                engine.pause();
            }
        }
        Ok(())
    }

    /// Flushes the CPU's caches of pages that the GPU does not snoop: writing and restoring a
    /// hibernation image accesses them through the caches.
    fn drop_caches(&self) {
        if !self.coherence().is_whole() {
            flush_all_caches();
        }
    }

    /// Undoes [`suspend`](Self::suspend). The contexts' states are in memory, and the next request
    /// of each restores it. If the device does not come back, such as a card whose firmware did not
    /// set it up again, it is wedged: bus mastering is disabled, and all published and later
    /// requests fail with `EIO`. Errors: `EIO`.
    pub(crate) fn resume(&self) -> Result {
        self.wake_up().map_err(|e| {
            if let Some(aperture) = self.aperture() {
                aperture.close();
            }
            self.recovery().lose(e);
            EIO
        })
    }

    /// Fails all published requests, and those published from now on. No engine runs.
    fn lose_all(&self, error: Error) {
        for engine in self.engines().iter() {
            engine.close(error);
        }
        self.retirer().exchange().wait_for_transfers();
        for engine in self.engines().iter() {
            let mut lost = Lost::new();
            engine.stop(error, &mut lost);
            drop(lost.take_loaded());
        }
    }

    fn wake_up(&self) -> Result {
        self.drop_caches();
        self.hardware().resume()?;
        let _awake = Awake::new(self.hardware())?;
        // If the card's firmware has not set it up, the GGTT has no memory.
        self.hardware().prepare()?;
        self.space().restore();
        if let Some(tables) = self.tables() {
            tables.restore();
        }
        self.hardware()
            .start(self.space().layout().ok_or(EINVAL)?)?;
        if let Some(aperture) = self.aperture() {
            aperture.fences().restore();
        }
        if let Some(surfaces) = self.surfaces() {
            surfaces.fences().restore();
        }
        for engine in self.engines().iter() {
            engine.start()?;
        }
        self.hardware().irq_on();
        for engine in self.engines().iter() {
            engine.resume();
        }
        self.recovery().watch();
        Ok(())
    }

    /// Shuts the device down: stops its work, signals all published fences, and wakes waiters. The
    /// device is not accessed after it. Sleeps.
    pub(crate) fn shutdown(&self) {
        self.advance_state(State::Gone);
        migrate::revoke_vram_mappings(self);
        if let Some(aperture) = self.aperture() {
            aperture.close();
        }
        for engine in self.engines().iter() {
            engine.close(ENODEV);
        }
        self.recovery().rest();
        if self.hardware().get().is_ok() {
            self.end_work();
            self.hardware().put();
        }
        self.hardware().stop();
        self.lose_all(ENODEV);
        self.close();
        self.recovery().end();
        self.hardware().park();
        release::drain();
    }

    /// Stops the engines, and has the device reset: an endless batch would run on, and write to
    /// pages that are about to be freed. The engines are closed, and the device is awake. Sleeps.
    fn end_work(&self) {
        let hardware = self.hardware();
        let mut idle = !self.recovery().is_wedged();
        // Idle engines need no reset, and the display stays on without one.
        let waits = hardware.generation().reset_darkens();
        for engine in self.engines().iter() {
            let quiet = match waits && idle {
                true => engine.wait_until(|| engine.is_quiet()).is_ok(),
                false => engine.is_quiet(),
            };
            idle = engine.halt() && quiet && idle;
        }
        if hardware.end_work(idle).is_err() {
            // An engine may still run: keep it from memory that others will get.
            self.dma_device().set_master(false);
        }
    }
}
