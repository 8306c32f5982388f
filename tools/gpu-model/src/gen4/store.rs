// SPDX-License-Identifier: GPL-2.0 OR MIT
//! MI_STORE_DATA_IMM (1.16, 2.9) and MI_STORE_REGISTER_MEM (1.18): to graphics addresses, or to those of the bus.

use super::bits;
use crate::counters::Counter;
use crate::intel::tlb::AddressSpace;
use crate::ring::core::Core;
use crate::ring::engine::EngineId;
use crate::ring::exec::Flow;
use crate::ring::lint::Rule;

/// The address is a graphics address; else one of the bus.
const GRAPHICS: u32 = 1 << 22;

impl Core {
    /// Writes to an address of the bus, as the command streamer. Memory that is not there swallows it.
    fn store_physical(&mut self, high: u32, low: u32, data: &[u8]) {
        self.count(Counter::Stores);
        let address = u64::from(high & 0xf) << 32 | u64::from(low);
        let _ = self.cx.memory.write(address, data);
    }

    pub(super) fn gen4_store(&mut self, e: EngineId, d: &[u32]) -> Flow {
        let video = !self.row(e).renders;
        let physical = !video && d[0] & GRAPHICS == 0;
        if self.unprivileged(e) && !self.gen4().g4x && physical {
            // 5.3.7.6: a Command Error: "the CP can be reactivated only by a full reset".
            self.count(Counter::PrivilegeViolations);
            self.lint(Rule::Privilege, || "MI_STORE_DATA_IMM".to_owned());
            self.instruction_error(e, d[0]);
            return Flow::Stop;
        }
        if self.drop_privileged(e, "MI_STORE_DATA_IMM", true) && self.gen4().g4x {
            return Flow::Next;
        }
        let address = d[2] & !3;
        let quad = d.len() == 5;
        if quad && address & 7 != 0 {
            self.lint(Rule::UnalignedQword, || {
                format!("{} {address:#x}", e.name())
            });
        }
        if !physical && d[1] & 0xf != 0 {
            self.lint(Rule::Reserved, || format!("MI_STORE_DATA_IMM {:#x}", d[1]));
        }
        let mut data = d[3].to_le_bytes().to_vec();
        if quad {
            data.extend(d[4].to_le_bytes());
        }
        if physical {
            self.store_physical(d[1], address, &data);
        } else {
            self.store(e, AddressSpace::Ggtt, address, &data);
        }
        Flow::Next
    }

    pub(super) fn gen4_store_register(&mut self, e: EngineId, d: &[u32]) -> Flow {
        if self.drop_privileged(e, "MI_STORE_REGISTER_MEM", true) {
            return Flow::Next;
        }
        let offset = d[1] & 0x7_fffc;
        let mut physical = d[0] & GRAPHICS == 0;
        if !physical && self.gen4().broadwater {
            // Must be zero there.
            self.lint(Rule::Reserved, || {
                format!("MI_STORE_REGISTER_MEM {:#x}", d[0])
            });
            physical = true;
        }
        let fence = self.cfg.chip.fences.range().contains(&offset);
        let value = if fence || offset == bits::PGTBL_CTL {
            // "UNDEFINED values".
            self.lint(Rule::SrmForbidden, || format!("{offset:#x}"));
            self.random() as u32
        } else {
            self.reg_read(offset)
        };
        let address = d[2] & !3;
        if physical {
            self.store_physical(d[1] >> 28, address, &value.to_le_bytes());
        } else {
            self.store(e, AddressSpace::Ggtt, address, &value.to_le_bytes());
        }
        Flow::Next
    }
}
