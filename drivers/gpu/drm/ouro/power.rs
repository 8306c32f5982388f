// SPDX-License-Identifier: GPL-2.0

//! How a device goes to sleep, wakes, and ends.

use kernel::{prelude::*, sync::aref::ARef};
use ouro_core::patience::Patience;
use ouro_hw::generation::ResetScope;
use ouro_kernel::{fence::Fence, pages::flush_all_caches, release};

use crate::{
    gem::{leave, State},
    gpu::Gpu,
    reset::Why,
    submit::{
        quiet::Looks,
        replay::Lost,
        request::{Awake, Work},
        Engine,
    },
};

/// How many requests may hang one after the other on an engine before a suspend is given up.
const SUSPEND_RESETS: u32 = 8;

/// An engine on its way to sleep.
struct Way {
    /// Of the switch to the kernel's context, until that is done; then the engine is paused.
    leaving: Option<ARef<Fence>>,
    patience: Patience,
    resets: u32,
    quiet: bool,
}

impl Way {
    /// The engine's time begins. It is paused, unless it has to leave a context.
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

    /// Whether it has arrived. Errors: `EBUSY` if it takes too long.
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
            // What was emitted meanwhile still has to end.
            true if there => {
                self.leaving = None;
                engine.pause();
            }
            true => {}
            false => self.quiet = there,
        }
        Ok(self.quiet)
    }

    /// It has to leave a context once more.
    fn leave(&mut self, switched: ARef<Fence>) {
        self.leaving = Some(switched);
        self.quiet = false;
    }

    /// It was reset, and has its time again.
    fn begin_again(&mut self, engine: &Engine) {
        self.patience = engine.patience();
        self.resets += 1;
    }
}

impl Gpu {
    /// Moves objects out of memory that the device forgets, while memory for them can be had. User space
    /// is frozen. Sleeps.
    ///
    /// Errors: those of [`leave::rescue`]; `ENOMEM`.
    pub(crate) fn prepare_suspend(&self) -> Result {
        leave::rescue(self)?;
        self.tables().map_or(Ok(()), |tables| tables.prepare())
    }

    /// Puts the device to sleep; it forgets its registers and tables. User space is frozen, and
    /// [`prepare_suspend`](Self::prepare_suspend) was called. Sleeps.
    ///
    /// Errors: `EBUSY`, and nothing has changed, if an engine does not become idle; `ENOMEM`, the same.
    pub(crate) fn suspend(&self) -> Result {
        let awake = Awake::new(self.hardware())?;
        // What was on its way there when the others left.
        leave::rescue(self)?;
        let quiet = self.pause_all();
        let quiet = quiet.and_then(|()| self.tables().map_or(Ok(()), |tables| tables.save()));
        // A reset that is under way ends first; what it wants to run waits.
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
        // Nothing will switch away from this one any more.
        self.kernel_context().forget_saved();
        self.hardware().irq_off();
        drop(awake);
        self.hardware().suspend();
        Ok(())
    }

    /// Pauses all engines, and waits for what was emitted, for all at the same time. One that takes too
    /// long is reset. Errors: `EBUSY`; `ENOMEM`.
    fn pause_all(&self) -> Result {
        let engines = self.engines();
        let mut ways = KVec::with_capacity(engines.len(), GFP_KERNEL)?;
        for engine in engines.iter() {
            // The switch away from a client's context is what saves it.
            let leaving = match self.has_images(engine) {
                true => Some(self.run(engine, self.kernel_context(), Work::Nothing)?),
                false => None,
            };
            ways.push(Way::new(engine, leaving), GFP_KERNEL)?;
        }
        let mut looks = Looks::new();
        loop {
            let mut quiet = true;
            for at in 0..ways.len() {
                let (Some(engine), Some(way)) = (engines.get(at), ways.get_mut(at)) else {
                    continue;
                };
                match way.look(engine) {
                    // What was published before it was paused had waited for others.
                    Ok(true) if self.has_images(engine) && engine.holds_client() => {
                        quiet = false;
                        engine.resume();
                        way.leave(self.run(engine, self.kernel_context(), Work::Nothing)?);
                    }
                    Ok(there) => quiet &= there,
                    Err(e) if e == EBUSY && way.resets < SUSPEND_RESETS => {
                        quiet = false;
                        self.reset_busy(at, &mut ways)?;
                    }
                    Err(e) => return Err(e),
                }
            }
            if quiet {
                return Ok(());
            }
            looks.sleep();
        }
    }

    /// Resets an engine that is busy, and with it those that cannot stay: they go on with what they had.
    fn reset_busy(&self, busy: usize, ways: &mut [Way]) -> Result {
        let engines = || self.engines().iter().zip(0..);
        for (engine, at) in engines() {
            // What is taken back from one that is paused is not emitted again.
            if ways.get(at).is_some_and(|way| !way.quiet) {
                engine.resume();
            }
        }
        self.recovery()
            .reset(1u32.wrapping_shl(busy as u32), Why::Busy)?;
        for ((engine, at), way) in engines().zip(ways.iter_mut()) {
            if way.quiet {
                continue;
            }
            match at == busy {
                true => way.begin_again(engine),
                false => way.patience.was_reset(engine.progress()),
            }
            if way.leaving.is_none() {
                engine.pause();
            }
        }
        Ok(())
    }

    /// Drops what the CPU's caches hold, where the GPU does not see that: whoever makes an image of memory, or restores
    /// one, goes through them.
    fn drop_caches(&self) {
        if !self.coherence().is_whole() {
            flush_all_caches();
        }
    }

    /// The opposite of [`suspend`](Self::suspend). What contexts held is in memory; the next
    /// request of each restores it. If the device does not come back, as a card whose firmware did not set
    /// it up again, it is given up: it loses the bus, whatever was published fails with `EIO`, and nothing
    /// is taken any more. Errors: `EIO`.
    pub(crate) fn resume(&self) -> Result {
        self.wake_up().map_err(|_| {
            if let Some(aperture) = self.aperture() {
                aperture.close();
            }
            self.recovery().lose();
            EIO
        })
    }

    /// What was published fails, and so does what is published from now on. No engine runs.
    fn lose_all(&self, error: Error) {
        for engine in self.engines().iter() {
            engine.close(error);
        }
        self.retirer().exchange().settle();
        for engine in self.engines().iter() {
            let mut lost = Lost::new();
            engine.stop(error, &mut lost);
            drop(lost.take_loaded());
        }
    }

    fn wake_up(&self) -> Result {
        self.drop_caches();
        let _awake = Awake::new(self.hardware())?;
        self.hardware().resume()?;
        // The card's firmware may not have set it up: then the table has no place.
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

    /// Ends everything: what is on the device is stopped, whatever was published is signalled,
    /// waiters wake. Nothing of the device is touched after it. Sleeps.
    pub(crate) fn shutdown(&self) {
        self.advance_state(State::Gone);
        leave::close_windows(self);
        if let Some(aperture) = self.aperture() {
            aperture.close();
        }
        for engine in self.engines().iter() {
            engine.close(ENODEV);
        }
        self.recovery().rest();
        if self.hardware().get().is_ok() {
            for engine in self.engines().iter() {
                engine.halt();
            }
            // A batch that did not end would go on, and write to pages that are about to be freed.
            if self.hardware().reset(ResetScope::All).is_err() {
                // It may go on with what it was doing, but not in memory that others get.
                self.dma_device().set_master(false);
            }
            self.hardware().put();
        }
        self.hardware().stop();
        self.lose_all(ENODEV);
        self.close();
        self.recovery().end();
        self.hardware().park();
        release::settle();
    }
}
