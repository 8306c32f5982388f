// SPDX-License-Identifier: GPL-2.0 OR MIT
//! MI commands: the dispatch, and those that steer the stream (DG2 PRM Vol 8 "Memory Interface
//! Commands for RCP", "User Mode Privileged Commands"; dwords from the digest, §2.1).

use super::context::NESTED;
use super::core::Core;
use super::engine::{EngineId, Stop};
use super::irq::vector;
use super::lint::Rule;
use super::mem::{AddressSpace, Faulted};
use super::mi::{op, opcode};
use super::regs::ring;
use super::stream::{Flow, Frame, FrameKind};
use crate::counters::Counter;
use crate::slip::{self, Slip};

/// Bit 22 of most commands: the address is a global one.
pub(crate) const GLOBAL: u32 = 1 << 22;

/// Errors of EIR (digest §5.12).
pub(crate) mod error {
    pub const INSTRUCTION: u32 = 1 << 0;
    pub const PRIVILEGE: u32 = 1 << 2;
}

/// An address of two dwords, low first.
pub(crate) fn address(d: &[u32], at: usize) -> u64 {
    let dword = |i: usize| u64::from(d.get(i).copied().unwrap_or(0));
    dword(at) | dword(at + 1) << 32
}

impl Core {
    /// Executes one MI command.
    pub fn run_mi(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        match opcode(d[0]) {
            op::NOOP => {
                if d[0] & GLOBAL != 0 {
                    self.set_ering(e, ring::NOPID, d[0] & 0x3f_ffff);
                }
                Ok(Flow::Next)
            }
            op::USER_INTERRUPT => Ok(self.user_interrupt(e)),
            op::ARB_CHECK => {
                // Bit 8 lets bit 0 through, which stops the pre-parser (T4).
                if d[0] & 1 << 8 != 0 {
                    self.engine(e).preparser = d[0] & 1 == 0;
                }
                Ok(Flow::Yield)
            }
            op::ARB_ON_OFF => {
                if self.allowed(e, "MI_ARB_ON_OFF") {
                    self.engine(e).arbitration = d[0] & 1 != 0;
                }
                Ok(Flow::Next)
            }
            op::SET_PREDICATE => Ok(self.set_predicate(e, d[0])),
            op::PREDICATE => Ok(self.predicate(e, d[0])),
            op::BATCH_BUFFER_START => self.batch_start(e, d),
            op::BATCH_BUFFER_END => Ok(self.batch_end(e)),
            op::CONDITIONAL_BATCH_BUFFER_END => self.conditional_end(e, d),
            op::REPORT_HEAD => self.report_head(e),
            op::DISPLAY_FLIP => {
                self.allowed(e, "MI_DISPLAY_FLIP");
                Ok(Flow::Next)
            }
            op::MATH => self.math(e, d),
            op::SEMAPHORE_SIGNAL => Ok(self.semaphore_signal(d)),
            op::SEMAPHORE_WAIT => self.semaphore_wait(e, d),
            op::STORE_DATA_IMM => self.store_imm(e, d),
            op::STORE_DATA_INDEX => self.store_index(e, d),
            op::LOAD_REGISTER_IMM => Ok(self.load_imm(e, d)),
            op::LOAD_REGISTER_MEM => self.load_mem(e, d),
            op::LOAD_REGISTER_REG => Ok(self.load_reg(e, d)),
            op::STORE_REGISTER_MEM => self.store_register(e, d),
            op::UPDATE_GTT => Ok(self.update_gtt(e, d)),
            op::COPY_MEM_MEM => self.copy_mem(e, d),
            op::ATOMIC => self.atomic(e, d),
            op::FLUSH_DW => self.flush_dw(e, d),
            op::REPORT_PERF_COUNT => self.report_perf(e, d),
            // There is no display, no other cache, no filter: waits complete, the rest does nothing.
            _ => Ok(Flow::Next),
        }
    }

    /// True in a privileged batch; else the command is dropped, and the violation is told (Q2).
    pub fn allowed(&mut self, e: EngineId, what: &str) -> bool {
        let allowed = self.privileged(e);
        if !allowed {
            self.violation(e, what);
        }
        allowed
    }

    /// The space of an operand; `None` if a PPGTT batch asks for a global address.
    pub fn space(&mut self, e: EngineId, global: bool, what: &str) -> Option<AddressSpace> {
        match global {
            false => Some(AddressSpace::Ppgtt),
            true => self.allowed(e, what).then_some(AddressSpace::Ggtt),
        }
    }

    /// A privilege violation is logged; the stream goes on (I12).
    pub fn violation(&mut self, e: EngineId, what: &str) {
        self.notes.count(Counter::PrivilegeViolations);
        self.notes
            .lint(Rule::Privilege, || format!("{} {what}", e.name()));
        self.error(e, error::PRIVILEGE);
    }

    /// A command that is none: the streamer stops until it is reset (I13).
    pub fn instruction_error(&mut self, e: EngineId, header: u32) {
        self.notes.count(Counter::InstructionErrors);
        self.set_ering(e, ring::IPEHR, header);
        self.engine(e).stop = Stop::Error;
        self.error(e, error::INSTRUCTION);
    }

    /// Bits of ESR show; those that EMR lets through are kept in EIR (I10).
    pub fn error(&mut self, e: EngineId, bits: u32) {
        let kept = bits & !self.ering(e, ring::EMR);
        if kept == 0 {
            return;
        }
        let old = self.ering(e, ring::EIR);
        self.set_ering(e, ring::EIR, old | kept);
        self.event(e, vector::ERROR);
    }

    /// EIR is written with ones. What only a reset takes away stays (I11).
    pub fn clear_errors(&mut self, e: EngineId, data: u32) {
        let stuck = match self.engine(e).stop {
            Stop::Error => error::INSTRUCTION,
            _ => 0,
        };
        if data & stuck != 0 {
            self.notes.lint(Rule::ErrorPersists, || e.name().to_owned());
        }
        let old = self.ering(e, ring::EIR);
        self.set_ering(e, ring::EIR, old & !(data & !stuck));
    }

    fn user_interrupt(&mut self, e: EngineId) -> Flow {
        self.notes.count(e.user_counter());
        if !self.engine(e).posted.is_empty() {
            self.notes
                .lint(Rule::EarlyInterrupt, || e.name().to_owned());
        }
        self.event(e, vector::USER);
        self.engine(e).work_begins = true;
        Flow::Next
    }

    /// MI_BATCH_BUFFER_START: bit 8 asks for the per-process space, bit 22 for a batch that returns
    /// here, bit 16 adds BB_OFFSET. There are two levels, in the second of which bit 22 has no effect
    /// unless bit 12 of MI_MODE allows more (J7; witnesses VW27, VW28).
    fn batch_start(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        self.notes.count(Counter::Batches);
        if slip::is(Slip::ChainIgnored) && !self.engine(e).frames.is_empty() {
            return Ok(Flow::Next);
        }
        let mut addr = address(d, 1);
        if addr & 4 != 0 || addr & 3 != 0 {
            self.notes
                .lint(Rule::BatchAddress, || format!("{} {addr:#x}", e.name()));
        }
        if d[0] & 1 << 16 != 0 {
            addr = addr.wrapping_add(u64::from(self.ering(e, ring::BB_OFFSET)));
        }
        let addr = addr & 0xffff_ffff_fff8;
        self.set_ering(e, ring::BB_START_ADDR, addr as u32);
        self.set_ering(e, ring::BB_START_ADDR_UDW, (addr >> 32) as u32);
        // A child has no more privilege than its parent; that is not reported (J9).
        let privileged = self.privileged(e) && d[0] & 1 << 8 == 0;
        let space = if privileged {
            AddressSpace::Ggtt
        } else {
            AddressSpace::Ppgtt
        };
        let nesting = self.ering(e, ring::MI_MODE) & 1 << 12 != 0;
        let kind = match (self.engine(e).frames.last(), d[0] & GLOBAL != 0) {
            (None, _) => FrameKind::First,
            (Some(f), true) if nesting || f.kind != FrameKind::Second => FrameKind::Second,
            (Some(_), _) => return Ok(Flow::Chain(addr, space, privileged)),
        };
        if self.engine(e).frames.len() > NESTED {
            self.notes.lint(Rule::Nesting, || e.name().to_owned());
            self.instruction_error(e, d[0]);
            return Ok(Flow::Stop);
        }
        Ok(Flow::Call(Frame {
            addr,
            space,
            privileged,
            kind,
        }))
    }

    fn batch_end(&mut self, e: EngineId) -> Flow {
        if self.engine(e).frames.is_empty() {
            self.notes.lint(Rule::EndInRing, || e.name().to_owned());
            return Flow::Next;
        }
        Flow::Return
    }

    /// MI_CONDITIONAL_BATCH_BUFFER_END: with bit 21 it ends unless memory stands in the relation of bits
    /// 14:12 to the data, without it there is nothing to compare and the batch goes on. Bit 18 ends this
    /// level alone, else all of them end. The document has neither; witnesses VW24 to VW26.
    fn conditional_end(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        let what = "MI_CONDITIONAL_BATCH_BUFFER_END";
        let Some(space) = self.space(e, d[0] & GLOBAL != 0, what) else {
            return Ok(Flow::Next);
        };
        if d[0] & 1 << 21 == 0 {
            return Ok(Flow::Next);
        }
        // Software orders this against earlier stores: what is posted is not seen (S6).
        let value = self.load32(e, space, address(d, 2) & !3)?;
        if self.holds(e, d[0], value, d[1]) {
            return Ok(Flow::Next);
        }
        Ok(match (self.batch_end(e), d[0] & 1 << 18 != 0) {
            (Flow::Return, false) => Flow::ReturnAll,
            (flow, _) => flow,
        })
    }

    /// Returns whether a value is in the relation of bits 14:12 to the data, both unsigned. A reserved
    /// relation holds.
    pub(crate) fn holds(&mut self, e: EngineId, header: u32, value: u32, data: u32) -> bool {
        match header >> 12 & 7 {
            0 => value > data,
            1 => value >= data,
            2 => value < data,
            3 => value <= data,
            4 => value == data,
            5 => value != data,
            _ => {
                self.notes
                    .lint(Rule::Reserved, || format!("{} {header:#010x}", e.name()));
                true
            }
        }
    }

    /// MI_REPORT_HEAD: into dword 4 of the status page, as on older chips.
    fn report_head(&mut self, e: EngineId) -> Result<Flow, Faulted> {
        let head = self.ering(e, ring::HEAD);
        let va = self.status_place(e, false) + 16;
        self.post(e, AddressSpace::Ggtt, va, &head.to_le_bytes())?;
        Ok(Flow::Next)
    }
}
