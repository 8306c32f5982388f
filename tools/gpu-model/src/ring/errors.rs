// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Errors: instruction errors, EIR, EMR and ESR, page faults and their records
//! (SNB PRM V1P2 §5.7; digest G-23, G-42).

use crate::counters::Counter;
use crate::intel::tlb::AddressSpace;
use crate::ring::core::Core;
use crate::ring::engine::{EngineId, Stop};
use crate::ring::irq::bit;
use crate::ring::lint::Rule;
use crate::ring::mmu::{FaultKind, MmuFault};
use crate::ring::regs::{reg, ring};
use crate::trace::Event;

/// EIR bit 0: instruction error.
pub const EIR_INSTRUCTION: u32 = 1 << 0;

/// Bits of ERROR_GEN6 (digest G-23).
mod error {
    pub const TLB: u32 = 1 << 0;
    pub const INVALID_DIRECTORY: u32 = 1 << 2;
    pub const STATUS_PAGE: u32 = 1 << 3;
    pub const UNLOADED_DIRECTORY: u32 = 1 << 8;
}

impl Core {
    /// An instruction error: the header is kept, the streamer stops until reset (§5.3.7.6).
    pub fn instruction_error(&mut self, e: EngineId, header: u32) {
        self.count(Counter::InstructionErrors);
        let in_batch = self.engine(e).batch.is_some();
        self.set_ring(e, ring::IPEHR, header);
        // Origin (bit 1: from a batch buffer) and code (bit 0: instruction error); the layout is in
        // no document.
        self.set_ring(e, ring::IPEIR, 1 | u32::from(in_batch) << 1);
        self.engine(e).stop = Stop::Error;
        self.raise_error(self.error_home(e), EIR_INSTRUCTION);
        tracing::info!(
            engine = e.name(),
            "instruction error, header {header:#010x}"
        );
    }

    /// The engine whose registers record an engine's errors.
    pub fn error_home(&self, e: EngineId) -> EngineId {
        if self.cfg.chip.irq.only {
            EngineId::Rcs
        } else {
            e
        }
    }

    /// An error of the page table: bits of PGTBL_ER, and the summary in EIR.
    pub fn table_error(&mut self, e: EngineId, bits: u32) {
        self.set(reg::PGTBL_ER, self.get(reg::PGTBL_ER) | bits);
        self.raise_error(self.error_home(e), self.cfg.chip.ways.table_error);
    }

    /// Sets raw error bits; what EMR lets through sticks in EIR and raises the master error.
    pub fn raise_error(&mut self, e: EngineId, bits: u32) {
        self.set_ring(e, ring::ESR, self.ring(e, ring::ESR) | bits);
        self.latch_errors(e);
    }

    /// Error bits show in EIR, if EMR lets them, without a cause: writing ones clears them.
    pub fn spurious_error(&mut self, e: EngineId, bits: u32) {
        let eir = self.ring(e, ring::EIR) | bits & !self.ring(e, ring::EMR);
        self.set_ring(e, ring::EIR, eir);
        self.set_status(e, bit::MASTER_ERROR, eir != 0);
    }

    /// ESR through EMR into EIR, and from there into the interrupt status.
    pub fn latch_errors(&mut self, e: EngineId) {
        let latched = self.ring(e, ring::ESR) & !self.ring(e, ring::EMR);
        let eir = self.ring(e, ring::EIR) | latched;
        self.set_ring(e, ring::EIR, eir);
        self.set_status(e, bit::MASTER_ERROR, eir != 0);
    }

    /// A write of ones to EIR. Both kinds of error persist until reset, so a bit that EMR does not
    /// mask comes back at once (§5.7.3).
    pub fn clear_errors(&mut self, e: EngineId, ones: u32) {
        let eir = self.ring(e, ring::EIR) & !ones;
        self.set_ring(e, ring::EIR, eir);
        let persists = self.ring(e, ring::ESR) & !self.ring(e, ring::EMR) & ones;
        if persists != 0 {
            self.lint(Rule::ErrorPersists, || {
                format!("{} {persists:#x}", e.name())
            });
        }
        self.latch_errors(e);
    }

    /// A translation failed. The first of an engine is kept until software clears the record
    /// (§5.7.2.1); the access itself read zeros or was dropped.
    pub fn page_fault(&mut self, e: EngineId, fault: MmuFault) {
        self.count(Counter::PageFaults);
        self.record(|| Event::PageFault {
            engine: e.name(),
            address: fault.address.into(),
        });
        if (self.cfg.chip.hooks.page_fault)(self, e, &fault) {
            return;
        }
        let global = fault.space == AddressSpace::Ggtt;
        let record = self.row(e).fault.filter(|r| self.get(*r) & 1 == 0);
        if let Some(record) = record {
            let value = (fault.address & 0xffff_f000)
                | u32::from(global) << 11
                | (fault.source & 0xff) << 3
                | self.fault_type(fault.kind) << 1
                | 1;
            self.set(record, value);
            tracing::info!(
                engine = e.name(),
                "page fault, record {value:#010x} ({:?})",
                fault.kind
            );
        }
        let on_status_page = global && fault.address & 0xffff_f000 == self.get(self.row(e).hws_pga);
        let bits = match fault.kind {
            FaultKind::InvalidDirectory => error::INVALID_DIRECTORY,
            FaultKind::UnloadedDirectory => error::UNLOADED_DIRECTORY,
            _ if on_status_page => error::STATUS_PAGE,
            _ => error::TLB,
        };
        self.set(reg::ERROR_GEN6, self.get(reg::ERROR_GEN6) | bits);
        match fault.kind {
            // "Invalid PTE data": the entry points to no memory (§5.7.2, table 5-3).
            FaultKind::BadData if self.row(e).table_errors => {
                self.table_error(e, 1);
            }
            FaultKind::UnloadedDirectory => self.engine(e).stop = Stop::FatalFault,
            _ => {}
        }
        if !global && !on_status_page {
            if self.cfg.chip.ways.status_levels {
                self.set_status(e, bit::PAGE_FAULT, true);
            } else {
                self.pulse(e, bit::PAGE_FAULT);
            }
        }
    }

    /// A fault's type in its record: 0 page, 1 invalid entry of the directory, 2 one that was not loaded.
    fn fault_type(&self, kind: FaultKind) -> u32 {
        match kind {
            _ if !self.cfg.chip.ways.fault_types => 0,
            FaultKind::InvalidDirectory => 1,
            FaultKind::UnloadedDirectory => 2,
            FaultKind::Page | FaultKind::BadData | FaultKind::TableOff | FaultKind::Injected => 0,
        }
    }

    /// A record of a fault is cleared: nothing is pending any more.
    pub fn fault_cleared(&mut self, record: u32) {
        self.set(record, 0);
        if self.cfg.chip.ways.status_levels {
            for row in self
                .cfg
                .chip
                .engines
                .iter()
                .filter(|r| r.fault == Some(record))
            {
                self.set_status(row.id, bit::PAGE_FAULT, false);
            }
        }
    }
}
