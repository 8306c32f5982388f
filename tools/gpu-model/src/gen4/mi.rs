// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Commands of the memory interface that Gen4 has in its own way (chapters 1 and 2). What is not here is as
//! [`crate::ring`] has it.
//!
//! Privilege (1.5.2, 5.3.7.6): what a ring or a secure batch does is not checked. In a non-secure batch 965 stops at a
//! store to a physical address and takes no register load; G45 and GM45 drop what is privileged, and flag it.

use crate::counters::Counter;
use crate::intel::mi::{self, op};
use crate::ring::core::Core;
use crate::ring::engine::{Batch, EngineId};
use crate::ring::exec::Flow;
use crate::ring::lint::Rule;

/// Bits of MI_BATCH_BUFFER_START.
const NON_SECURE: u32 = 1 << 8;
const GRAPHICS: u32 = 1 << 7;

/// A command: where the stream goes, unless it is as every chip's.
pub(crate) fn command(core: &mut Core, e: EngineId, d: &[u32]) -> Option<Flow> {
    let h = d[0];
    if h >> 29 == 3 {
        return Some(core.gen4_pipe_control(e, d));
    }
    match mi::opcode(h) {
        op::FLUSH => Some(core.gen4_flush(e, h)),
        op::WAIT_FOR_EVENT => Some(core.gen4_wait(e, h)),
        // 1.3: a no-operation without context queuing, which is never on here.
        op::ARB_ON_OFF => {
            core.drop_privileged(e, "MI_ARB_ON_OFF", false);
            Some(Flow::Next)
        }
        op::BATCH_BUFFER_START => Some(core.gen4_batch(e, d)),
        op::STORE_DATA_IMM => Some(core.gen4_store(e, d)),
        op::STORE_DATA_INDEX if core.drop_privileged(e, "MI_STORE_DATA_INDEX", true) => {
            Some(Flow::Next)
        }
        op::STORE_REGISTER_MEM => Some(core.gen4_store_register(e, d)),
        op::LOAD_REGISTER_IMM if core.drop_privileged(e, "MI_LOAD_REGISTER_IMM", false) => {
            Some(Flow::Next)
        }
        op::UPDATE_GTT => Some(core.gen4_update_gtt(e, d)),
        op::DISPLAY_FLIP if core.drop_privileged(e, "MI_DISPLAY_FLIP", false) => Some(Flow::Next),
        op::DISPLAY_FLIP => Some(core.gen4_flip(d)),
        op::OVERLAY_FLIP => Some(core.overlay_flip(d)),
        op::LOAD_SCAN_LINES_INCL => Some(core.load_scan_lines(d, true)),
        op::LOAD_SCAN_LINES_EXCL => Some(core.load_scan_lines(d, false)),
        op::PROBE => Some(core.probe(d)),
        op::UNPROBE => Some(core.unprobe(h)),
        _ => None,
    }
}

impl Core {
    /// True if a privileged command of a non-secure batch is dropped: on G45 and GM45 those of 1.5.2, which flag an
    /// error; on 965 register loads (1.8).
    pub(super) fn drop_privileged(&mut self, e: EngineId, what: &str, memory: bool) -> bool {
        let denied = self.unprivileged(e) && (self.gen4().g4x || what == "MI_LOAD_REGISTER_IMM");
        if denied {
            self.count(Counter::PrivilegeViolations);
            self.lint(Rule::Privilege, || format!("{} {what}", e.name()));
            self.privilege_error(memory);
        }
        denied
    }

    /// MI_BATCH_BUFFER_START (1.5, 2.4, 5.3.5).
    fn gen4_batch(&mut self, e: EngineId, d: &[u32]) -> Flow {
        let render = self.row(e).renders;
        let (mask, aligned) = if render { (!63, 63) } else { (!3, 63) };
        let graphics = d[0] & GRAPHICS != 0 || !render;
        let extension = d[1] & if render { 0xf } else { 0 };
        if d[1] & aligned & !0xf != 0 || d[1] & aligned != 0 && graphics {
            // "64B aligned"; the render engine has no bits for less.
            self.lint(Rule::BatchAlignment, || format!("{} {:#x}", e.name(), d[1]));
        }
        if render && d[0] >> 9 & 3 == 2 {
            self.lint(Rule::Reserved, || "arbitration control 2".to_owned());
        }
        let address = d[1] & mask;
        let physical =
            (!graphics).then(|| u64::from(extension) << 32 | u64::from(address & 0xffff_f000));
        let wanted = d[0] & NON_SECURE != 0;
        let non_secure = match self.engine(e).batch {
            None => {
                self.count(Counter::Batches);
                self.engine(e).pace.begin();
                wanted
            }
            Some(current) => {
                // 5.3.7.6: "ignored": the chained batch inherits.
                if wanted != current.non_secure {
                    self.lint(Rule::ChainedPrivilege, || {
                        format!("{} {address:#x}", e.name())
                    });
                }
                self.engine(e).pace.jump();
                current.non_secure
            }
        };
        Flow::Batch(Batch {
            address,
            non_secure,
            physical,
        })
    }

    /// MI_UPDATE_GTT (1.19): entries of the global table.
    fn gen4_update_gtt(&mut self, e: EngineId, d: &[u32]) -> Flow {
        if self.drop_privileged(e, "MI_UPDATE_GTT", false) {
            return Flow::Next;
        }
        if d[0] & (1 << 22) != 0 {
            // "When ... in GFX_MODE is clear, the only valid value for this field is 0".
            self.lint(Rule::ProcessTable, || "MI_UPDATE_GTT".to_owned());
            return Flow::Next;
        }
        let first = d[1] >> 12;
        for (i, pte) in (first..).zip(&d[2..]) {
            self.cx.gtt.set(i, *pte);
            super::neighbours::entry_written(self, i);
        }
        Flow::Next
    }
}
