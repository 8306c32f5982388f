// SPDX-License-Identifier: GPL-2.0 OR MIT
//! MI_SEMAPHORE_WAIT and MI_SEMAPHORE_SIGNAL (DG2 PRM Vol 8 "Context Status" for what a wait does to
//! the queue; dwords from the digest, §2.1 rows 19 and 20).

use super::command::{address, GLOBAL};
use super::core::Core;
use super::engine::{EngineId, ENGINES};
use super::lint::Rule;
use super::mem::Faulted;
use super::stream::{Flow, Wait};

impl Core {
    /// The wait is over if memory (or a register, bit 16) stands in the relation of bits 14:12 to
    /// the data. Earlier stores are seen (S5). Bit 18 adds the partition's offset to the address.
    pub fn semaphore_wait(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        let register = d[0] & 1 << 16 != 0;
        let value = if register {
            let offset = d[2] & 0x7f_fffc;
            if self.privileged(e) || self.may_read(e, offset) {
                self.reg_read(offset)
            } else {
                return Ok(Flow::Next);
            }
        } else {
            // Without the privilege the wait is skipped (Q16).
            let global = d[0] & GLOBAL != 0;
            let Some(space) = self.space(e, global, "MI_SEMAPHORE_WAIT") else {
                return Ok(Flow::Next);
            };
            self.drain(e);
            let va = address(d, 2).wrapping_add(self.partition_offset(e, d[0] & 1 << 18 != 0));
            self.load32(e, space, va & !3)?
        };
        if self.holds(e, d[0], value, d[1]) {
            return Ok(Flow::Next);
        }
        if !self.engine(e).arbitration && self.engine(e).wait.is_none() {
            self.notes
                .lint(Rule::WaitWithoutArbitration, || e.name().to_owned());
        }
        let poll = d[0] & 1 << 15 != 0;
        Ok(Flow::Wait(if poll { Wait::Poll } else { Wait::Signal }))
    }

    /// The engine that runs the named context checks its semaphore again. No list of contexts that were switched out is
    /// kept (G4).
    pub fn semaphore_signal(&mut self, d: &[u32]) -> Flow {
        for e in ENGINES {
            let named = |c: super::execlist::Descriptor| (c.0 >> 32) as u32 == d[1];
            let engine = self.engine(e);
            engine.signalled |= engine.current.is_some_and(named);
        }
        Flow::Next
    }
}
