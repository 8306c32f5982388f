// SPDX-License-Identifier: GPL-2.0

//! Reading an engine's context status buffer (CSB), and finding its place by experiment.
//!
//! The documents contradict each other about the place. Therefore, once per device, the first
//! engine runs a context before events are read; all engines have their events where that one wrote
//! its.

use kernel::{
    prelude::*,
    time::{delay::udelay, Delta},
};
use ouro_core::events::{Events, Look, Page};
use ouro_hw::{engine::EventArea, types::PAGE_SIZE};
use ouro_kernel::{pages::DmaPages, time};

use super::{
    super::{port::Port, Engine},
    Lists,
};
use crate::report::Words;

/// How often an event that is announced but not visible is read again, a microsecond apart.
const LATE_LOOKS: u32 = 20;

/// The status page, as the reader of events accesses it.
struct Status<'a>(&'a DmaPages);

impl Page for Status<'_> {
    fn read(&self, offset: u32) -> u32 {
        self.0.read32(offset as usize)
    }

    fn write(&mut self, offset: u32, value: u32) {
        self.0.write32(offset as usize, value);
    }
}

/// Fills a status page with ones, so that any event written is found.
fn blank(page: &DmaPages) {
    for at in (0..PAGE_SIZE as usize).step_by(4) {
        page.write32(at, u32::MAX);
    }
}

impl Lists {
    /// Prepares for the engine's start, which drops its contexts.
    pub(in crate::submit) fn restart(&mut self, engine: &Engine) {
        match &mut self.events {
            Some(events) => events.restart(&mut Status(engine.line.status())),
            None => blank(engine.line.status()),
        }
        self.sched.reset(time::monotonic_ns());
        self.broken = false;
    }

    /// Reads new events and passes them to the scheduler.
    pub(in crate::submit) fn listen(&mut self, engine: &Engine, now: u64) {
        let mut page = Status(engine.line.status());
        let mut looks = 0;
        while !self.broken {
            let Some(events) = &mut self.events else {
                return;
            };
            match events.next(&mut page) {
                Ok(Look::Nothing) => return,
                Ok(Look::Late) if looks < LATE_LOOKS => {
                    looks += 1;
                    udelay(Delta::from_micros(1));
                }
                // The tick reads again.
                Ok(Look::Late) => return,
                Ok(Look::Event(raw)) => {
                    self.count(now);
                    let event = engine.hw.event(raw);
                    let known = event.map(|event| self.sched.event(&event, now));
                    if !matches!(known, Some(Ok(()))) {
                        let (dev, id) = (engine.hardware.dev(), engine.hw.desc().id);
                        dev_err!(
                            dev,
                            "{}: CSB event {:#018x} does not match the execlists: reset needed\n",
                            Words(id),
                            raw
                        );
                        self.broken = true;
                    }
                }
                Err(_) => {
                    let (dev, id) = (engine.hardware.dev(), engine.hw.desc().id);
                    dev_err!(
                        dev,
                        "{}: CSB write pointer out of range: reset needed\n",
                        Words(id)
                    );
                    self.broken = true;
                }
            }
        }
    }
}

impl Engine {
    /// Returns the place of the context status buffer, if one is found: the engine was started
    /// before the place was known, and has run a context to its end. Errors: `ENOMEM`.
    pub(crate) fn find_reports(&self) -> Result<Option<EventArea>> {
        let mut page = KVVec::with_capacity(PAGE_SIZE as usize / 4, GFP_KERNEL)?;
        for at in (0..PAGE_SIZE as usize).step_by(4) {
            page.push(self.line.status().read32(at), GFP_KERNEL)?;
        }
        Ok(self.hw.find_events(&page))
    }

    /// Sets the place of the context status buffer. Called before the engine is started.
    pub(crate) fn set_reports(&self, area: EventArea) {
        if let Port::Lists(lists) = &mut self.queue.lock().port {
            let mut events = Events::new(area);
            // It may be read before the engine is started.
            events.restart(&mut Status(self.line.status()));
            lists.events = Some(events);
        }
    }
}
