// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What an injected fault has put off: a reset, a mailbox command, interrupts; acknowledges of
//! forcewake are kept with the wells. Each becomes true at the first access or step after its time.

use super::core::Core;
use super::engine::EngineId;
use crate::later::Interrupts;

/// Things to come, with the time of each in nanoseconds of the device's clock.
#[derive(Default)]
pub(crate) struct Later {
    /// Bits of GDRST.
    pub reset: Option<(u64, u32)>,
    /// A mailbox command.
    pub pcode: Option<(u64, u32)>,
    /// Events of engines.
    pub interrupts: Interrupts<(EngineId, u32)>,
}

impl Later {
    fn is_empty(&self) -> bool {
        self.reset.is_none() && self.pcode.is_none() && self.next().is_none()
    }

    /// When the next interrupt comes.
    pub fn next(&self) -> Option<u64> {
        self.interrupts.next(|_| true)
    }
}

impl Core {
    /// Makes true what has come due. That there is nothing to come is the rule, and costs no look at the clock:
    /// it would cost more than a command.
    pub fn settle(&mut self) {
        if self.later.is_empty() && !self.wells.any_later() && !self.is_lit() {
            return;
        }
        let now = self.notes.clock.now();
        self.wells.settle(now);
        self.scan_out(now);
        if let Some((_, data)) = self.later.pcode.take_if(|p| p.0 <= now) {
            self.pcode_now(data);
        }
        if let Some((_, data)) = self.later.reset.take_if(|r| r.0 <= now) {
            self.reset_now(data);
        }
        for (e, bits) in self.later.interrupts.due(now) {
            self.event_now(e, bits);
        }
    }
}
