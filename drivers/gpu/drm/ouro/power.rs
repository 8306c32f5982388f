// SPDX-License-Identifier: GPL-2.0

//! How a device goes to sleep, wakes, and ends.

use kernel::prelude::*;
use ouro_hw::generation::ResetScope;
use ouro_kernel::release;

use crate::{
    gem::leave,
    gpu::{Gpu, State},
    reset::Why,
    submit::{
        replay::Lost,
        request::{Awake, Work},
        Engine,
    },
};

/// How many requests may hang one after the other before a suspend is given up.
const SUSPEND_RESETS: u32 = 8;

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
        for engine in self.engines().iter().filter(|e| self.has_images(e)) {
            // The switch away from a client's context is what saves it.
            let fence = self.run(engine, self.kernel_context(), Work::Nothing)?;
            self.insist(engine, || engine.wait_until(|| fence.is_signaled()))?;
        }
        let mut paused = 0;
        let quiet = self.engines().iter().try_for_each(|engine| {
            self.insist(engine, || engine.pause())?;
            paused += 1;
            Ok(())
        });
        let quiet = quiet.and_then(|()| self.tables().map_or(Ok(()), |tables| tables.save()));
        // A reset that is under way ends first; what it wants to run waits.
        self.recovery().rest();
        if let Err(e) = quiet {
            self.recovery().watch();
            for engine in self.engines().iter().take(paused) {
                engine.resume();
            }
            return Err(e);
        }
        for engine in self.engines().iter() {
            engine.halt();
        }
        // Nothing will switch away from this one any more.
        self.kernel_context().forget_saved();
        self.hardware().irq_off();
        drop(awake);
        self.hardware().suspend();
        Ok(())
    }

    /// Does something that needs an engine to finish, and resets the engine as long as it is busy.
    fn insist(&self, engine: &Engine, mut f: impl FnMut() -> Result) -> Result {
        for _ in 0..SUSPEND_RESETS {
            match f() {
                Err(e) if e == EBUSY => {
                    let mask = 1u32.wrapping_shl(engine.index() as u32);
                    self.recovery().reset(mask, Why::Busy)?;
                }
                done => return done,
            }
        }
        f()
    }

    /// The opposite of [`suspend`](Self::suspend). What contexts held is in memory; the next
    /// request of each restores it. If the device does not come back, whatever was published fails
    /// with `EIO`, and nothing is taken any more.
    pub(crate) fn resume(&self) -> Result {
        self.wake_up().inspect_err(|_| {
            if let Some(aperture) = self.aperture() {
                aperture.close();
            }
            self.lose_all(EIO);
        })
    }

    /// What was published fails, and so does what is published from now on. No engine runs.
    fn lose_all(&self, error: Error) {
        for engine in self.engines().iter() {
            let mut lost = Lost::new();
            engine.close(error);
            engine.stop(error, &mut lost);
            drop(lost.take_loaded());
        }
    }

    fn wake_up(&self) -> Result {
        let _awake = Awake::new(self.hardware())?;
        self.hardware().resume()?;
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
            if let Err(e) = self.hardware().reset(ResetScope::All) {
                pr_warn!("{:?}: no reset: {:?}\n", self.hardware(), e);
                // It may go on with what it was doing, but not in memory that others get.
                self.dma_device().set_master(false);
            }
            self.hardware().put();
        }
        self.hardware().stop();
        self.lose_all(ENODEV);
        self.retirer().close();
        self.recovery().end();
        self.hardware().park();
        release::flush();
    }
}
