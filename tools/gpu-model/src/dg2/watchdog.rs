// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The watchdog of an engine (DG2 PRM Vol 8 "Watchdog Timers"). Zero in bits 30:0 of the control
//! starts it, one stops it and clears its counter. Counting ungated clocks instead of ticks (bit 31)
//! makes no difference here. It counts while a context runs, and is not saved with it.

use super::core::Core;
use super::engine::EngineId;
use super::irq::vector;
use super::regs::ring;

impl Core {
    /// Brings the counter up to now. Each time that it reaches the threshold it interrupts and restarts. It never
    /// reaches a threshold of zero.
    pub fn watch(&mut self, e: EngineId) {
        let now = self.timestamp();
        let control = self.ering(e, ring::PR_CTR_CTL) & 0x7fff_ffff;
        let threshold = u64::from(self.ering(e, ring::PR_CTR_THRSH));
        let engine = self.engine(e);
        let passed = now.saturating_sub(std::mem::replace(&mut engine.watched, now));
        match control {
            1 => engine.watchdog = 0,
            0 if engine.current.is_some() => {
                let count = u64::from(engine.watchdog).saturating_add(passed);
                let met = threshold != 0 && count >= threshold;
                let left = if met { count % threshold } else { count };
                engine.watchdog = left as u32;
                if met {
                    self.event(e, vector::WATCHDOG);
                }
            }
            _ => {}
        }
    }
}
