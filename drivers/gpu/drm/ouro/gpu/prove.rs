// SPDX-License-Identifier: GPL-2.0

//! Proves that a device works: runs the first request on each engine, and records the golden images
//! that only the device can make.

use kernel::{
    prelude::*,
    sync::Arc,
    time::{delay::fsleep, Delta},
};
use ouro_hw::engine::EventArea;
use ouro_kernel::{
    fence::Fence,
    time,
    wait::{Interruptible, Waited},
};

use super::Gpu;
use crate::{
    gem::State,
    report::Words,
    submit::{
        request::{Awake, Work},
        Context, Engine,
    },
};

/// Looks for the first event of an engine, 100 microseconds apart.
const REPORT_LOOKS: u32 = 10_000;
/// Milliseconds for the device's first requests.
const FIRST_REQUEST_MS: u32 = 10_000;

impl Gpu {
    /// Starts the engines, runs the first request on each of them, and records the golden images.
    /// The interrupt must be connected. After an error, the caller still has to call
    /// [`shutdown`](Self::shutdown).
    ///
    /// Errors: `EIO` if an engine does not complete its request.
    pub(crate) fn prove(&self) -> Result {
        let _awake = Awake::new(self.hardware())?;
        self.hardware().flush_gtt();
        if let Some(engine) = self.engines().iter().find(|e| e.has_lists()) {
            let area = self.find_reports(engine)?;
            for engine in self.engines().iter() {
                engine.set_reports(area);
            }
            // Starts the device again, now with a known place of the events.
            self.hardware()
                .restart(self.space().layout().ok_or(EINVAL)?)?;
        }
        for engine in self.engines().iter() {
            engine.start()?;
        }
        self.hardware().irq_on();
        for engine in self.engines().iter() {
            if engine.has_lists() {
                self.record_first_image(engine)?;
            } else if self.has_images(engine) {
                self.record_golden(engine)?;
            }
            let fence = self.run(engine, self.kernel_context(), Work::Nothing)?;
            self.finish(engine, &fence)?;
        }
        self.advance_state(State::Running);
        Ok(())
    }

    /// Starts the engines without any request, for a device that is not brought up further.
    pub(crate) fn start_engines(&self) -> Result {
        let _awake = Awake::new(self.hardware())?;
        self.hardware().flush_gtt();
        self.engines().iter().try_for_each(|engine| engine.start())
    }

    /// Runs a context on an engine, and finds its context status buffer. Errors: `EIO` if the
    /// context does not run.
    fn find_reports(&self, engine: &Arc<Engine>) -> Result<EventArea> {
        let guess = engine.hw().desc().events.ok_or(EINVAL)?;
        engine.start()?;
        let first = self.new_context(None)?;
        let fence = self.run(engine, &first, Work::Nothing)?;
        let done = engine.wait_until(|| fence.is_signaled());
        if done.is_err() {
            dev_err!(
                self.hardware().dev(),
                "{}: the first request did not complete in time\n",
                Words(engine.hw().desc().id)
            );
            return Err(EIO);
        }
        for _ in 0..REPORT_LOOKS {
            if let Some(area) = engine.find_reports()? {
                return Ok(area);
            }
            fsleep(Delta::from_micros(100));
        }
        dev_warn!(
            self.hardware().dev(),
            "{}: no CSB found in the HWSP, offset {:#x} is assumed\n",
            Words(engine.hw().desc().id),
            guess.at
        );
        Ok(guess)
    }

    fn finish(&self, engine: &Engine, fence: &Fence) -> Result {
        match fence.wait(Interruptible::No, time::ms(FIRST_REQUEST_MS))? {
            Waited::Done(_) => Ok(()),
            Waited::TimedOut => {
                dev_err!(
                    self.hardware().dev(),
                    "{}: the first request did not complete in time\n",
                    Words(engine.hw().desc().id)
                );
                Err(EIO)
            }
        }
    }

    /// Has the device save the state of a context that has only run the golden state. Nothing of
    /// the 3D pipe was tested before: on a card that hangs, only registers get initial values. So
    /// do they, without an attempt, where the reset after a hang would turn the display off;
    /// upstream has no golden state on such chips.
    fn record_golden(&self, engine: &Arc<Engine>) -> Result {
        self.kernel_context()
            .make_image(|| self.new_image(), false)?;
        let mut first = None;
        if !self.hardware().generation().reset_darkens() {
            first = self.first_context(engine, Work::Golden)?;
            if first.is_none() {
                self.hung_at_first(engine);
            }
        }
        if first.is_none() {
            first = self.first_context(engine, Work::GoldenRegisters)?;
        }
        let first = first.ok_or(EIO)?;
        let golden = self.new_image()?;
        golden.copy_from(first.image().ok_or(EINVAL)?);
        self.golden().populate(golden);
        Ok(())
    }

    fn hung_at_first(&self, engine: &Engine) {
        dev_warn!(
            self.hardware().dev(),
            "{}: the golden context hangs, contexts start with register values only\n",
            Words(engine.hw().desc().id)
        );
    }

    /// Returns a context whose image the device saved after that work; `None` if it hung and was
    /// reset.
    fn first_context(&self, engine: &Arc<Engine>, work: Work) -> Result<Option<Arc<Context>>> {
        let first = self.new_context(None)?;
        first.make_image(|| self.new_image(), false)?;
        let done = self.run(engine, &first, work)?;
        // The switch to the kernel's context saves it.
        let fence = self.run(engine, self.kernel_context(), Work::Nothing)?;
        self.finish(engine, &fence)?;
        Ok(matches!(done.status(), Some(Ok(()))).then_some(first))
    }

    /// Has the device save the state of a context that has only run the golden state, on an
    /// execlist engine.
    fn record_first_image(&self, engine: &Arc<Engine>) -> Result {
        let mut first = self.new_context(None)?;
        let fence = self.run(engine, &first, Work::Golden)?;
        self.finish(engine, &fence)?;
        if !matches!(fence.status(), Some(Ok(()))) {
            self.hung_at_first(engine);
            first = self.new_context(None)?;
            let fence = self.run(engine, &first, Work::GoldenRegisters)?;
            self.finish(engine, &fence)?;
        }
        let seat = first.seat(engine).ok_or(EINVAL)?;
        // An engine without work is idle, and has saved the context.
        let begin = time::monotonic_ns();
        while engine.holds(seat.id()) {
            let ms = time::monotonic_ns().saturating_sub(begin) / 1_000_000;
            if ms > FIRST_REQUEST_MS.into() {
                let id = Words(engine.hw().desc().id);
                dev_err!(
                    self.hardware().dev(),
                    "{}: the golden context image was not saved in time\n",
                    id
                );
                return Err(EIO);
            }
            fsleep(Delta::from_micros(100));
            engine.advance();
        }
        engine.set_golden(seat.logical_ring().read()?)
    }
}
