// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What an injected fault has put off: a soft reset, interrupts. Each becomes true at the first
//! register access or step after its time.

use super::core::Core;
use crate::later::Interrupts;

/// Things to come, with the time of each in nanoseconds of the device's clock.
#[derive(Default)]
pub(crate) struct Later {
    /// The value that RBBM_SOFT_RESET will have.
    pub reset: Option<(u64, u32)>,
    /// Bits of GEN_INT_STATUS.
    pub interrupts: Interrupts<u32>,
}

impl Later {
    /// When the next thing becomes true.
    pub fn next(&self) -> Option<u64> {
        let reset = self.reset.iter().map(|r| r.0);
        self.interrupts
            .next(|_| true)
            .into_iter()
            .chain(reset)
            .min()
    }
}

impl Core {
    /// Makes true what has come due.
    pub fn settle(&mut self) {
        if self.later.next().is_none() {
            return;
        }
        let now = self.notes.clock.now();
        if let Some((_, value)) = self.later.reset.take_if(|r| r.0 <= now) {
            self.soft_reset_now(value);
        }
        for bits in self.later.interrupts.due(now) {
            self.interrupt_now(bits);
        }
    }
}
