// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Surface probing (1.13): pages that later commands need are tried, and kept in slots. With run lists, which are never
//! on here, a page that is not there would switch to another context; without them it is told, and the stream goes on.

use crate::intel::pte::{Pte, PAGE};
use crate::ring::core::Core;
use crate::ring::exec::Flow;
use crate::ring::lint::Rule;

impl Core {
    /// MI_PROBE: "will process all of them regardless of which ones fault".
    pub fn probe(&mut self, d: &[u32]) -> Flow {
        for word in &d[1..] {
            let (page, slot) = (word / PAGE, word & 0x3ff);
            self.own.probes.insert(slot, page * PAGE);
            if !Pte(self.cx.gtt.get(page)).valid() {
                self.lint(Rule::ProbeFault, || format!("{:#x}", page * PAGE));
            }
        }
        Flow::Next
    }

    /// MI_UNPROBE: the slot is not valid any more.
    pub fn unprobe(&mut self, header: u32) -> Flow {
        self.own.probes.remove(&(header & 0x3ff));
        Flow::Next
    }
}
