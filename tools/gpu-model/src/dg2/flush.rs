// SPDX-License-Identifier: GPL-2.0 OR MIT
//! MI_FLUSH_DW and PIPE_CONTROL with what they do afterwards (DG2 PRM Vol 8 "Memory Data Ordering",
//! "User Mode Privileged Commands"; bits from the digest, §2.1 row 26 and §2.2 row 1).

use super::command::address;
use super::core::{Core, Origin};
use super::engine::EngineId;
use super::irq::vector;
use super::lint::Rule;
use super::mem::{AddressSpace, Faulted};
use super::stream::Flow;
use crate::slip::{self, Slip};

impl Core {
    /// Everything before it is done and visible; then an immediate or the time is stored.
    pub fn flush_dw(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        self.drain(e);
        if d[0] & 1 << 18 != 0 {
            self.flush_tlb(e);
        }
        let data = match d[0] >> 14 & 3 {
            0 => None,
            1 if slip::is(Slip::FlushStoresDword) => Some(d[3].to_le_bytes().to_vec()),
            1 => Some(d[3..].iter().flat_map(|v| v.to_le_bytes()).collect()),
            3 => Some(self.timestamp().to_le_bytes().to_vec()),
            _ => {
                self.notes
                    .lint(Rule::Reserved, || format!("{} {:#010x}", e.name(), d[0]));
                None
            }
        };
        if let Some(data) = data {
            let (index, global) = (d[0] & 1 << 21 != 0, d[1] & 4 != 0);
            let what = "MI_FLUSH_DW's post-sync operation";
            if !(index || global) || self.allowed(e, what) {
                let va = address(d, 1);
                if va & 1 << 5 != 0 && !index {
                    self.notes
                        .lint(Rule::FlushAddress, || format!("{} {va:#x}", e.name()));
                }
                let (space, va) = if index {
                    (
                        AddressSpace::Ggtt,
                        self.status_place(e, false) + (va & 0xff8),
                    )
                } else {
                    (space_of(global), va & !7)
                };
                self.store_now(e, space, va, &data)?;
            }
        }
        if d[0] & 1 << 8 != 0 {
            self.event(e, vector::NOTIFY);
        }
        Ok(Flow::Next)
    }

    /// Only with a stall (bit 20) are earlier stores waited for, and the own one not posted.
    pub fn pipe_control(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        let stall = d[1] & 1 << 20 != 0;
        if stall {
            self.drain(e);
        }
        if d[1] & 1 << 18 != 0 {
            self.flush_tlb(e);
        }
        if d.len() < 6 {
            self.notes
                .lint(Rule::Reserved, || format!("{} {:#010x}", e.name(), d[0]));
        }
        let post_sync = d[1] >> 14 & 3;
        if d[1] & 1 << 23 != 0 {
            let offset = d[2] & 0x7f_fffc;
            if self.privileged(e) || self.may_write(e, offset) {
                self.reg_write(offset, d[4], Origin::Cs(e));
            }
        } else if post_sync != 0 {
            let data = match post_sync {
                // What is left out is zero.
                1 => u64::from(d[4]) | u64::from(d.get(5).copied().unwrap_or(0)) << 32,
                // No depth is tested, so none passes.
                2 => 0,
                _ => self.timestamp(),
            };
            self.post_sync(e, d, stall, &data.to_le_bytes())?;
        }
        if d[1] & 1 << 8 != 0 {
            self.event(e, vector::NOTIFY);
        }
        Ok(Flow::Next)
    }

    fn post_sync(
        &mut self,
        e: EngineId,
        d: &[u32],
        stall: bool,
        data: &[u8],
    ) -> Result<(), Faulted> {
        let index = d[1] & 1 << 21 != 0;
        // Bit 2 of the address is one of the address (witness VW33).
        let global = d[1] & 1 << 24 != 0;
        let what = "PIPE_CONTROL's post-sync operation";
        if (index || global) && !self.allowed(e, what) {
            return Ok(());
        }
        // Bit 14 of the header adds the partition's offset.
        let offset = self.partition_offset(e, d[0] & 1 << 14 != 0);
        let va = address(d, 2).wrapping_add(offset);
        let (space, va) = if index {
            (
                AddressSpace::Ggtt,
                self.status_place(e, false) + (va & 0xff8),
            )
        } else {
            (space_of(global), va & !3)
        };
        if stall {
            self.store_now(e, space, va, data)
        } else {
            self.post(e, space, va, data)
        }
    }
}

fn space_of(global: bool) -> AddressSpace {
    if global {
        AddressSpace::Ggtt
    } else {
        AddressSpace::Ppgtt
    }
}
