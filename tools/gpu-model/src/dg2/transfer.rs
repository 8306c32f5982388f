// SPDX-License-Identifier: GPL-2.0 OR MIT
//! MI commands that move data between registers, memory and themselves (DG2 PRM Vol 8 "Memory Data
//! Ordering", "User Mode Privileged Commands"; dwords from the digest, §2.1). Stores are posted.

use super::command::{address, GLOBAL};
use super::core::Core;
use super::engine::EngineId;
use super::lint::Rule;
use super::mem::{AddressSpace, Faulted};
use super::stream::Flow;
use crate::counters::Counter;
use crate::slip::{self, Slip};

/// The register's offset is relative to the engine: bit 19, and bit 18 for a source.
const CS_MMIO: u32 = 1 << 19;
const CS_MMIO_SOURCE: u32 = 1 << 18;
/// Registers of the render engine mean those of this engine.
const REMAP: u32 = 1 << 17;

/// The offset that a command means.
fn resolve(e: EngineId, named: u32, relative: bool, remap: bool) -> u32 {
    let named = named & 0x7f_fffc;
    if relative || (remap && named & !0xfff == EngineId::Rcs.base()) {
        e.base() + (named & 0xffc)
    } else {
        named
    }
}

impl Core {
    /// MI_STORE_DATA_IMM: a dword, or with bit 21 quadwords.
    pub fn store_imm(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        let global = d[0] & GLOBAL != 0;
        let Some(space) = self.space(e, global, "MI_STORE_DATA_IMM") else {
            return Ok(Flow::Next);
        };
        let quad = d[0] & 1 << 21 != 0;
        let n = d.len() - 3;
        if (quad && !n.is_multiple_of(2)) || (!quad && n != 1) {
            self.notes
                .lint(Rule::Reserved, || format!("{} {:#010x}", e.name(), d[0]));
        }
        // Bit 11 adds the partition's offset.
        let va = address(d, 1).wrapping_add(self.partition_offset(e, d[0] & 1 << 11 != 0));
        if va & 3 != 0 || quad && va & 7 != 0 {
            self.notes
                .lint(Rule::Unaligned, || format!("{} {va:#x}", e.name()));
        }
        let data: Vec<u32> = match quad {
            true if slip::is(Slip::StoreQwordSwapped) => d[3..].iter().rev().copied().collect(),
            true if slip::is(Slip::StoreQwordHalf) => vec![d[3]],
            _ => d[3..].to_vec(),
        };
        let bytes: Vec<u8> = data.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.post(e, space, va & !3, &bytes)?;
        Ok(Flow::Next)
    }

    /// MI_STORE_DATA_INDEX: into the status page, or with bit 21 into the context's own.
    pub fn store_index(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        if self.allowed(e, "MI_STORE_DATA_INDEX") {
            let bytes: Vec<u8> = d[2..].iter().flat_map(|v| v.to_le_bytes()).collect();
            let va = self.status_place(e, d[0] & 1 << 21 != 0) + u64::from(d[1] & 0xffc);
            self.post(e, AddressSpace::Ggtt, va, &bytes)?;
        }
        Ok(Flow::Next)
    }

    /// Global address of the engine's status page, or of the running context's.
    pub fn status_place(&self, e: EngineId, own: bool) -> u64 {
        let context = self.engines[e as usize].current.filter(|_| own);
        let page = self.ering(e, super::regs::ring::HWS_PGA);
        context.map_or(u64::from(page), |d| d.lrca())
    }

    /// MI_LOAD_REGISTER_IMM: one register that is not for a program drops all of them (Q9).
    pub fn load_imm(&mut self, e: EngineId, d: &[u32]) -> Flow {
        let target = |pair: &[u32]| resolve(e, pair[0], d[0] & CS_MMIO != 0, d[0] & REMAP != 0);
        let pairs = || d[1..].chunks_exact(2);
        if !self.privileged(e) {
            for pair in pairs() {
                if !self.may_write(e, target(pair)) {
                    return Flow::Next;
                }
            }
        }
        for pair in pairs() {
            let offset = target(pair);
            // Bits 11:8 keep bytes from being written.
            let held = d[0] >> 8 & 0xf;
            let mask = (0..4)
                .filter(|b| held & 1 << b == 0)
                .fold(0, |m, b| m | 0xff << (8 * b));
            let value = if held == 0 {
                pair[1]
            } else {
                self.get(offset) & !mask | pair[1] & mask
            };
            self.cs_write(e, offset, value);
        }
        Flow::Next
    }

    /// MI_LOAD_REGISTER_MEM; earlier stores are seen (S5). In async mode the register changes later.
    pub fn load_mem(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        let global = d[0] & GLOBAL != 0;
        let Some(space) = self.space(e, global, "MI_LOAD_REGISTER_MEM") else {
            return Ok(Flow::Next);
        };
        let offset = resolve(e, d[1], d[0] & CS_MMIO != 0, d[0] & REMAP != 0);
        if !self.privileged(e) && !self.may_write(e, offset) {
            return Ok(Flow::Next);
        }
        self.drain(e);
        let value = self.load32(e, space, address(d, 2) & !3)?;
        if d[0] & 1 << 21 != 0 {
            self.post_register(e, offset, value);
        } else {
            self.cs_write(e, offset, value);
        }
        Ok(Flow::Next)
    }

    /// MI_LOAD_REGISTER_REG: first the source, then the destination.
    pub fn load_reg(&mut self, e: EngineId, d: &[u32]) -> Flow {
        let from = resolve(e, d[1], d[0] & CS_MMIO_SOURCE != 0, d[0] & 1 << 16 != 0);
        let to = resolve(e, d[2], d[0] & CS_MMIO != 0, d[0] & REMAP != 0);
        let value = self.cs_read_checked(e, from);
        if self.privileged(e) || self.may_write(e, to) {
            self.cs_write(e, to, value);
        }
        Flow::Next
    }

    /// MI_STORE_REGISTER_MEM: the register is read even if the store is dropped (Q7).
    pub fn store_register(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        let offset = resolve(e, d[1], d[0] & CS_MMIO != 0, d[0] & REMAP != 0);
        let value = self.cs_read_checked(e, offset);
        let global = d[0] & GLOBAL != 0;
        if let Some(space) = self.space(e, global, "MI_STORE_REGISTER_MEM") {
            self.post(e, space, address(d, 2) & !3, &value.to_le_bytes())?;
        }
        Ok(Flow::Next)
    }

    /// A register as a command reads it: zero if the batch may not. The document does not say what
    /// such a read gives.
    fn cs_read_checked(&mut self, e: EngineId, offset: u32) -> u32 {
        if self.privileged(e) || self.may_read(e, offset) {
            self.reg_read(offset)
        } else {
            0
        }
    }

    /// MI_UPDATE_GTT: quadword entries from a page on.
    pub fn update_gtt(&mut self, e: EngineId, d: &[u32]) -> Flow {
        if self.allowed(e, "MI_UPDATE_GTT") {
            // Entries must not overtake stores. They are posted like these, but only a translation can read the table
            // meanwhile, so they arrive now.
            self.drain(e);
            let first = u64::from(d[1] >> 12);
            for (i, pte) in d[2..].chunks_exact(2).enumerate() {
                let value = u64::from(pte[0]) | u64::from(pte[1]) << 32;
                self.mem.ggtt.set(first + i as u64, value);
            }
        }
        Flow::Next
    }

    /// MI_COPY_MEM_MEM: a dword. Software orders the read (the document's cell is empty).
    pub fn copy_mem(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        let (from, to) = (d[0] & GLOBAL != 0, d[0] & 1 << 21 != 0);
        if (from || to) && !self.allowed(e, "MI_COPY_MEM_MEM") {
            return Ok(Flow::Next);
        }
        let space = |global| {
            if global {
                AddressSpace::Ggtt
            } else {
                AddressSpace::Ppgtt
            }
        };
        let value = self.load32(e, space(from), address(d, 3) & !3)?;
        self.post(e, space(to), address(d, 1) & !3, &value.to_le_bytes())?;
        Ok(Flow::Next)
    }

    /// MI_REPORT_PERF_COUNT: a report of 64 dwords, of which only the id is not zero.
    pub fn report_perf(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        if let Some(space) = self.space(e, d[1] & 1 != 0, "MI_REPORT_PERF_COUNT") {
            let mut report = [0; 256];
            report[..4].copy_from_slice(&d[3].to_le_bytes());
            self.post(e, space, address(d, 1) & !0x3f, &report)?;
        }
        Ok(Flow::Next)
    }

    /// A register write by a command.
    pub fn cs_write(&mut self, e: EngineId, offset: u32, value: u32) {
        self.notes.count(Counter::CsRegWrites);
        self.reg_write(offset, value, super::core::Origin::Cs(e));
    }
}
