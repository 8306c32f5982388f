// SPDX-License-Identifier: GPL-2.0
//! MI_WAIT_FOR_EVENT (1.21, 5.3.7.2, 5.3.7.3).

use crate::ring::core::Core;
use crate::ring::engine::{EngineId, Wait};
use crate::ring::exec::Flow;
use crate::ring::lint::Rule;

/// Bits of the header that name an event or a condition of the display: 18:16, 14:13, 8:1.
pub(crate) const EVENTS: u32 = 0x0007_61fe;

impl Core {
    /// The command: a condition code, or events.
    pub fn gen4_wait(&mut self, e: EngineId, header: u32) -> Flow {
        if !self.row(e).renders {
            // 2.12: all of it is reserved.
            return Flow::Next;
        }
        let code = header >> 9 & 0xf;
        let events = header & EVENTS;
        if events.count_ones() + u32::from(code != 0) > 1 {
            self.lint(Rule::ManyEvents, || format!("{header:#010x}"));
        }
        if code > self.row(e).conditions.count_ones() {
            self.lint(Rule::Reserved, || format!("condition code {code}"));
            return Flow::Next;
        }
        let excc = self.ring(e, crate::ring::regs::ring::EXCC);
        if code != 0 && excc & (1 << (code - 1)) != 0 {
            return Flow::Wait(Wait::Condition(code - 1));
        }
        Flow::Next
    }
}
