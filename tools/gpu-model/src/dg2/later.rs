// SPDX-License-Identifier: GPL-2.0
//! What an injected fault has put off: a reset, a mailbox command, interrupts; acknowledges of
//! forcewake are kept with the wells. Each becomes true at the first access or step after its time.

use super::core::Core;
use super::engine::EngineId;

/// Interrupts that can be late at the same time; more of them are swallowed.
const MOST: usize = 4096;

/// Things to come, with the time of each in nanoseconds of the device's clock.
#[derive(Default)]
pub(crate) struct Later {
    /// Bits of GDRST.
    pub reset: Option<(u64, u32)>,
    /// A mailbox command.
    pub pcode: Option<(u64, u32)>,
    interrupts: Vec<(u64, EngineId, u32)>,
}

impl Later {
    /// Events of an engine.
    pub fn interrupt(&mut self, at: u64, e: EngineId, bits: u32) {
        if self.interrupts.len() < MOST {
            self.interrupts.push((at, e, bits));
        }
    }

    fn is_empty(&self) -> bool {
        self.reset.is_none() && self.pcode.is_none() && self.interrupts.is_empty()
    }

    /// When the next interrupt comes.
    pub fn next(&self) -> Option<u64> {
        self.interrupts.iter().map(|i| i.0).min()
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
        if self.later.interrupts.is_empty() {
            return;
        }
        let all = std::mem::take(&mut self.later.interrupts);
        let (due, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|i| i.0 <= now);
        self.later.interrupts = rest;
        for (_, e, bits) in due {
            self.event_now(e, bits);
        }
    }
}
