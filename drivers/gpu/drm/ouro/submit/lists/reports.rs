// SPDX-License-Identifier: GPL-2.0

//! What an engine reports on its contexts, and where, which is seen by trying.
//!
//! What is written about the place does not agree. So, once, the first engine runs a context before
//! anybody listens; where its report is then, those of all engines of the device will be.

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

/// Looks for an entry whose number is there already, a microsecond each.
const LATE_LOOKS: u32 = 20;

/// The status page, for the reader of events.
struct Status<'a>(&'a DmaPages);

impl Page for Status<'_> {
    fn read(&self, offset: u32) -> u32 {
        self.0.read32(offset as usize)
    }

    fn write(&mut self, offset: u32, value: u32) {
        self.0.write32(offset as usize, value);
    }
}

/// Makes a status page one on which any report is seen.
fn blank(page: &DmaPages) {
    for at in (0..PAGE_SIZE as usize).step_by(4) {
        page.write32(at, u32::MAX);
    }
}

impl Lists {
    /// The engine is about to be started: it has nothing.
    pub(in crate::submit) fn restart(&mut self, engine: &Engine) {
        match &mut self.events {
            Some(events) => events.restart(&mut Status(engine.line.status())),
            None => blank(engine.line.status()),
        }
        self.sched.reset(time::monotonic_ns());
        self.broken = false;
    }

    /// Reads what the engine says of contexts.
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
                // The tick looks again.
                Ok(Look::Late) => return,
                Ok(Look::Event(raw)) => {
                    self.count(now);
                    let event = engine.hw.event(raw);
                    let known = event.map(|event| self.sched.event(&event, now));
                    if !matches!(known, Some(Ok(()))) {
                        let (dev, id) = (engine.hardware.dev(), engine.hw.desc().id);
                        dev_err!(
                            dev,
                            "{}: event {:#x} does not fit what it runs\n",
                            Words(id),
                            raw
                        );
                        self.broken = true;
                    }
                }
                Err(_) => {
                    let (dev, id) = (engine.hardware.dev(), engine.hw.desc().id);
                    dev_err!(dev, "{}: its events are out of order\n", Words(id));
                    self.broken = true;
                }
            }
        }
    }
}

impl Engine {
    /// Where it has reported, if it has: it was started before anybody knew, and has run a context to its
    /// end. Errors: `ENOMEM`.
    pub(crate) fn find_reports(&self) -> Result<Option<EventArea>> {
        let mut page = KVVec::with_capacity(PAGE_SIZE as usize / 4, GFP_KERNEL)?;
        for at in (0..PAGE_SIZE as usize).step_by(4) {
            page.push(self.line.status().read32(at), GFP_KERNEL)?;
        }
        Ok(self.hw.find_events(&page))
    }

    /// Says where it reports. It is started after it.
    pub(crate) fn set_reports(&self, area: EventArea) {
        if let Port::Lists(lists) = &mut self.queue.lock().port {
            let mut events = Events::new(area);
            // Somebody may look before it is started.
            events.restart(&mut Status(self.line.status()));
            lists.events = Some(events);
        }
    }
}
