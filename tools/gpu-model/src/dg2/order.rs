// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Posted writes (DG2 PRM Vol 8 "Producer-Consumer Data ordering for MI Commands"). A posted write of
//! memory, or of a register by MI_LOAD_REGISTER_MEM in async mode, is on its way until something
//! waits for it: a non-posted write, a flush, a consumer that the chip orders, a context switch. Here
//! it is as late as it may be, so that who leaves out the flush finds out.

use super::core::Core;
use super::engine::EngineId;
use super::lint::Rule;
use super::mem::{AddressSpace, Faulted, Phys};
use crate::counters::Counter;
use std::collections::VecDeque;

/// So many can be on their way at once; the oldest then arrives.
const MOST: usize = 32;

/// A write on its way.
pub(crate) enum Write {
    Memory(Phys, Vec<u8>),
    Register(u32, u32),
}

/// Writes of one engine on their way, in order.
pub(crate) type Posted = VecDeque<Write>;

impl Core {
    /// A posted write of memory. Its address is translated now.
    pub fn post(
        &mut self,
        e: EngineId,
        space: AddressSpace,
        va: u64,
        data: &[u8],
    ) -> Result<(), Faulted> {
        self.notes.count(Counter::Stores);
        for (at, range) in self.pieces(e, space, va, data.len(), true)? {
            let bytes = data[range].to_vec();
            self.engine(e).posted.push_back(Write::Memory(at, bytes));
        }
        self.limit(e);
        Ok(())
    }

    /// A posted write of a register.
    pub fn post_register(&mut self, e: EngineId, offset: u32, value: u32) {
        self.engine(e)
            .posted
            .push_back(Write::Register(offset, value));
        self.limit(e);
    }

    fn limit(&mut self, e: EngineId) {
        let most = if self.cfg.late_stores { MOST } else { 0 };
        while self.engine(e).posted.len() > most {
            self.arrive(e);
        }
    }

    /// The oldest write arrives; false if there is none.
    fn arrive(&mut self, e: EngineId) -> bool {
        match self.engine(e).posted.pop_front() {
            None => return false,
            Some(Write::Register(offset, value)) => self.cs_write(e, offset, value),
            Some(Write::Memory(at, data)) => {
                if !self.mem.write(at, &data) {
                    let rule = if self.mem.bus_master {
                        Rule::NoGuestMemory
                    } else {
                        Rule::NoBusMaster
                    };
                    self.notes.lint(rule, || format!("{} {at:?}", e.name()));
                }
            }
        }
        true
    }

    /// All writes of an engine arrive.
    pub fn drain(&mut self, e: EngineId) {
        while self.arrive(e) {}
    }

    /// A write that is not posted: all earlier ones arrive with it.
    pub fn store_now(
        &mut self,
        e: EngineId,
        space: AddressSpace,
        va: u64,
        data: &[u8],
    ) -> Result<(), Faulted> {
        self.notes.count(Counter::Stores);
        self.drain(e);
        self.store(e, space, va, data)
    }
}
