// SPDX-License-Identifier: GPL-2.0
//! What an injected fault has put off: a soft reset, interrupts. Each becomes true at the first
//! register access or step after its time.

use super::core::Core;

/// Interrupts that can be late at the same time; more of them are swallowed.
const MOST: usize = 4096;

/// Things to come, with the time of each in nanoseconds of the device's clock.
#[derive(Default)]
pub(crate) struct Later {
    /// The value that RBBM_SOFT_RESET will have.
    pub reset: Option<(u64, u32)>,
    /// Bits of GEN_INT_STATUS.
    interrupts: Vec<(u64, u32)>,
}

impl Later {
    /// An interrupt, as bits of GEN_INT_STATUS.
    pub fn interrupt(&mut self, at: u64, bits: u32) {
        if self.interrupts.len() < MOST {
            self.interrupts.push((at, bits));
        }
    }

    /// When the next thing becomes true.
    pub fn next(&self) -> Option<u64> {
        let reset = self.reset.iter().map(|r| r.0);
        self.interrupts.iter().map(|i| i.0).chain(reset).min()
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
        let all = std::mem::take(&mut self.later.interrupts);
        let (due, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|i| i.0 <= now);
        self.later.interrupts = rest;
        for (_, bits) in due {
            self.interrupt_now(bits);
        }
    }
}
