// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Soft reset through the RBBM (R5xx guide §4.8; register and bits from digest §3.2), and pulling
//! the card.

use super::core::Core;
use super::cp::Cp;
use super::gfx::Gfx;
use super::later::Later;
use super::regs::reg;
use crate::counters::Counter;
use crate::fault::Kind;
use crate::trace::Event;

/// Bits of RBBM_SOFT_RESET.
pub(crate) mod block {
    pub const CP: u32 = 1 << 0;
    pub const VAP: u32 = 1 << 2;
    pub const E2: u32 = 1 << 5;
    pub const RB: u32 = 1 << 6;
    pub const MC: u32 = 1 << 8;
    pub const GA: u32 = 1 << 13;
}

impl Core {
    /// RBBM_SOFT_RESET is written.
    pub fn soft_reset(&mut self, value: u32) {
        self.watch_reset(value);
        if self.notes.inject(Kind::StuckReset, "").is_some() {
            self.reset_lost = true;
            return;
        }
        // The end of a reset is none itself: zero releases the blocks.
        self.reset_lost &= value == 0;
        match self.notes.inject(Kind::LateReset, "") {
            Some(us) => self.later.reset = Some((self.notes.in_us(us), value)),
            None => self.soft_reset_now(value),
        }
    }

    /// Blocks whose bit is set are held in reset.
    pub fn soft_reset_now(&mut self, value: u32) {
        if value != 0 {
            self.notes.count(Counter::Resets);
        }
        let mut begin = |bits: u32, what: &'static str| {
            if value & bits != 0 {
                self.notes.record(|| Event::Reset { what });
            }
            value & bits != 0
        };
        let mc = begin(block::MC, "mc");
        let cp = begin(block::CP, "cp");
        let vap = begin(block::VAP | block::GA, "vap");
        let two_d = begin(block::E2 | block::RB, "2d");
        if mc {
            self.reset_mc();
        }
        if cp {
            self.reset_cp();
        }
        if vap {
            self.gfx.reset_vap();
        }
        if two_d {
            self.gfx.reset_2d();
        }
    }

    /// True while the command processor is held in reset.
    pub fn cp_in_reset(&self) -> bool {
        self.get(reg::RBBM_SOFT_RESET) & block::CP != 0
    }

    /// Everything of the command processor but the ring's place and size, and its microcode (§4.8;
    /// digest F1, F2): the read pointer is zero, streams and queues are empty, it waits for nothing.
    fn reset_cp(&mut self) {
        let me = std::mem::take(&mut self.cp.me);
        self.cp = Cp {
            me,
            ..Cp::default()
        };
        self.dma.reset();
        self.set(reg::CP_RB_RPTR, 0);
        self.set(reg::CP_IB_BUFSZ, 0);
        self.set(reg::CP_IB2_BUFSZ, 0);
    }

    /// Pulls the card.
    pub fn remove(&mut self) {
        self.removed = true;
        self.later = Later::default();
        self.cp = Cp::default();
        self.gfx = Gfx::default();
        self.dma.reset();
        self.update_line();
    }
}
