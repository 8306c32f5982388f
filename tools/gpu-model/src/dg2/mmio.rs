// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Register reads and writes with their effects: who may, what they show, what they start.

use super::core::{Core, Origin};
use super::engine::{EngineId, ENGINES};
use super::lint::Rule;
use super::regs::{self, reg, ring, ticks};
use crate::counters::Counter;
use crate::fault::Kind;
use crate::intel::regfile::apply;
use crate::intel::standby;

/// The counter of the second level: the chip has no third.
const RC6P: u32 = standby::COUNTER + 4;

impl Core {
    /// A dword read by the CPU.
    pub fn cpu_read(&mut self, offset: u32) -> u32 {
        if self.reachable(offset, false) {
            self.reg_read(offset)
        } else {
            0
        }
    }

    /// A dword write by the CPU.
    pub fn cpu_write(&mut self, offset: u32, value: u32) {
        if self.reachable(offset, true) {
            self.reg_write(offset, value, Origin::Cpu);
        }
    }

    pub fn count_access(&mut self, offset: u32, write: bool) {
        let pick = |r, w| if write { w } else { r };
        let notes = &mut self.notes;
        notes.count(pick(Counter::RegReads, Counter::RegWrites));
        if offset < 0x4_0000 {
            notes.count(pick(Counter::GtReads, Counter::GtWrites));
        }
        match EngineId::of_block(offset) {
            Some(EngineId::Rcs) => notes.count(pick(Counter::RcsReads, Counter::RcsWrites)),
            Some(EngineId::Bcs) => notes.count(pick(Counter::BcsReads, Counter::BcsWrites)),
            Some(EngineId::Vcs0 | EngineId::Vcs2) => {
                notes.count(pick(Counter::VcsReads, Counter::VcsWrites));
            }
            _ => {}
        }
        if let Some(e) = EngineId::of_block(offset) {
            let local = offset - e.base();
            if write && (ring::SQ..ring::SQ + 64).contains(&local) {
                notes.count(Counter::SqWrites);
            }
        }
        if (0x19_0000..0x19_1000).contains(&offset) {
            notes.count(Counter::IrqAccesses);
        }
        self.count_forcewake(offset);
    }

    fn unknown(&mut self, offset: u32, write: bool) {
        if self.notes.client {
            self.notes
                .lint(Rule::ClientRegister, || format!("{offset:#08x}"));
        } else {
            self.notes.undocumented(offset, write);
        }
    }

    /// Reads a register, for the CPU and the command streamers.
    pub fn reg_read(&mut self, offset: u32) -> u32 {
        if !self.known(offset) {
            self.unknown(offset, false);
            return 0;
        }
        if let Some(e) = EngineId::of_block(offset) {
            return self.engine_read(e, offset - e.base());
        }
        if let Some(value) = self.tree_read(offset).or(self.forcewake_read(offset)) {
            return value;
        }
        if matches!(offset, standby::COUNTER | RC6P) {
            return self.standby.read(offset);
        }
        self.frame_count(offset).unwrap_or_else(|| self.get(offset))
    }

    /// True if an engine has nothing to execute.
    fn rests(&self, e: EngineId) -> bool {
        self.engines[e as usize].current.is_none() && self.is_idle(e)
    }

    fn engine_read(&mut self, e: EngineId, offset: u32) -> u32 {
        let status = matches!(
            offset,
            ring::HEAD | ring::ACTHD | ring::INSTDONE | ring::MI_MODE
        );
        if status && self.notes.inject(Kind::GarbageRead, e.name()).is_some() {
            return self.notes.random() as u32;
        }
        let informs = matches!(
            offset,
            ring::ACTHD
                | ring::INSTDONE
                | ring::IPEIR
                | ring::IPEHR
                | ring::INSTPS
                | ring::BB_HEAD
                | ring::DMA_FADD
        );
        if informs && self.notes.inject(Kind::GarbageStatus, e.name()).is_some() {
            // All ones would be a card that is gone.
            return self.notes.random() as u32 & !(1 << 7);
        }
        let stored = self.ering(e, offset);
        let batch = self.engines[e as usize].frames.last().map(|f| f.addr);
        match offset {
            ring::MI_MODE => stored | u32::from(self.is_idle(e)) << 9,
            ring::INSTDONE if !self.is_idle(e) => !1,
            // At rest nothing is executed, the fetch stands at the tail, and the ring is not enabled
            // (witnesses TW04, TW05, TW06: a real Tiger Lake).
            ring::ACTHD if self.rests(e) => 0,
            ring::DMA_FADD if self.rests(e) => self
                .ering(e, ring::START)
                .wrapping_add(self.ering(e, ring::TAIL)),
            ring::CTL if self.rests(e) => stored & !1,
            ring::ACTHD | ring::DMA_FADD => match batch {
                Some(addr) => addr as u32,
                None => self.ering(e, ring::HEAD),
            },
            ring::ACTHD_UDW => batch.map_or(0, |addr| (addr >> 32) as u32),
            ring::BB_HEAD | ring::BB_HEAD_UDW | ring::BB_STATE => {
                self.show_frames(e);
                self.ering(e, offset)
            }
            ring::TIMESTAMP => self.timestamp() as u32,
            0x35c => (self.timestamp() >> 32) as u32,
            ring::CTX_TIMESTAMP => self.context_timestamp(e),
            _ => stored,
        }
    }

    /// A register write with its effects. Shared by the CPU and the command streamers.
    pub fn reg_write(&mut self, offset: u32, data: u32, origin: Origin) {
        if !self.known(offset) {
            self.unknown(offset, true);
            return;
        }
        let Some(def) = regs::map().get(offset) else {
            return;
        };
        let old = self.get(offset);
        self.notes
            .note_write(offset, origin.by(), def.write, old, data);
        let new = apply(def.write, old, data);
        self.set(offset, new);
        self.watch_bits(offset, old);
        self.watch_l3_write(offset);
        if let Some(e) = EngineId::of_block(offset) {
            self.engine_written(e, offset - e.base(), data, origin);
            return;
        }
        if self.forcewake_write(offset, data) || self.tree_written(offset, data) {
            return;
        }
        for e in ENGINES {
            let (register, bit) = e.tlb_register();
            if register == offset && data & bit != 0 {
                self.flush_tlb(e);
            }
        }
        match offset {
            reg::GDRST => self.graphics_reset_again(data),
            reg::GUC_TLB_INV if data & 1 != 0 => {
                for e in ENGINES {
                    self.flush_tlb(e);
                }
            }
            reg::GU_CNTL => self.card_reset(data),
            reg::PCODE_MAILBOX => self.pcode(data),
            _ => {
                self.foreign_written(offset);
                self.display_written(offset);
            }
        }
    }

    fn engine_written(&mut self, e: EngineId, offset: u32, data: u32, origin: Origin) {
        match offset {
            ring::ELSP => self.port_written(e, data),
            ring::EXECLIST_CONTROL => self.execlist_control(e, data),
            ring::RESET_CTL => self.reset_control(e, data),
            ring::EIR => self.clear_errors(e, data),
            ring::CTX_TIMESTAMP => self.engine(e).since = ticks(self.notes.clock.now()),
            ring::HEAD | ring::START | ring::CTL | ring::TAIL
                if origin == Origin::Cpu && self.engine(e).current.is_some() =>
            {
                self.notes
                    .lint(Rule::LiveRing, || format!("{} {offset:#x}", e.name()));
            }
            ring::PR_CTR_CTL => {
                self.engine(e).watched = self.timestamp();
                self.watch(e);
            }
            _ => {}
        }
    }
}
