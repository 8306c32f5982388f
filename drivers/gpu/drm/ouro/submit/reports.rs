// SPDX-License-Identifier: GPL-2.0

//! Where an engine reports on its contexts, seen by trying.
//!
//! What is written about that does not agree. So, once, the first engine runs a context before anybody
//! listens; where its report is then, those of all engines of the device will be.

use kernel::prelude::*;
use ouro_core::events::Events;
use ouro_hw::{engine::EventArea, types::PAGE_SIZE};
use ouro_kernel::pages::DmaPages;

use super::{lists::Status, port::Port, Engine};

/// Makes a status page one on which any report is seen.
pub(super) fn blank(page: &DmaPages) {
    for at in (0..PAGE_SIZE as usize).step_by(4) {
        page.write32(at, u32::MAX);
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
