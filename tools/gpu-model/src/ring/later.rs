// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What an injected fault or a habit has put off: a reset, a mailbox command, the acknowledge of
//! forcewake, a sync flush's bit, interrupts. Each becomes true at the first register access or engine step after its time.

use crate::later::Interrupts;
use crate::ring::core::Core;
use crate::ring::engine::EngineId;

/// Things to come, with the time of each in nanoseconds of the device's clock.
#[derive(Default)]
pub(crate) struct Later {
    /// A reset of these bits of GDRST.
    pub reset: Option<(u64, u32)>,
    /// A mailbox command.
    pub pcode: Option<(u64, u32)>,
    /// The GT is awake.
    pub wake: Option<u64>,
    /// The GT sleeps, and the acknowledge is down.
    pub sleep: Option<u64>,
    /// The bit of an engine's sync flush is cleared.
    pub flushed: Option<(u64, EngineId)>,
    /// Interrupts of engines, as ring-local status bits.
    pub interrupts: Interrupts<(EngineId, u32)>,
}

impl Core {
    /// Makes true what has come due.
    pub fn settle(&mut self) {
        let now = self.notes.clock.now();
        self.count_clocks();
        self.frame_passes();
        (self.cfg.chip.hooks.settle)(self, now);
        if let Some(at) = self.later.sleep.take_if(|at| *at <= now) {
            self.fall_asleep(at);
        }
        if self.later.wake.take_if(|at| *at <= now).is_some() {
            self.well_wakes();
        }
        if let Some((_, e)) = self.later.flushed.take_if(|f| f.0 <= now) {
            self.flush_shows(e);
        }
        if let Some((_, data)) = self.later.pcode.take_if(|p| p.0 <= now) {
            self.pcode_now(data);
        }
        if let Some((_, mask)) = self.later.reset.take_if(|r| r.0 <= now) {
            self.reset_now(mask);
        }
        for (e, local) in self.later.interrupts.due(now) {
            self.blink(e, local);
        }
    }
}
