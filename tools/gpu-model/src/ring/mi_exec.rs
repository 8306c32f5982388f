// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Execution of memory-interface commands (digest §2.3; SNB PRM V1P2 §5.3, §5.8; VCS PRM 1.2).
//!
//! Privilege (§2.3, §5.3.7.6; G45 PRM 1.5.2): what a ring or a secure batch does is not checked; a
//! non-secure batch may touch memory through the per-process table only.

use crate::counters::Counter;
use crate::fault::Kind;
use crate::intel::mi::{self, op};
use crate::intel::pte::PAGE;
use crate::intel::tlb::AddressSpace;
use crate::ring::chip::GlobalStore;
use crate::ring::core::{Core, Origin};
use crate::ring::engine::{Batch, EngineId, Wait};
use crate::ring::exec::Flow;
use crate::ring::irq::bit;
use crate::ring::lint::Rule;
use crate::ring::regs::ring;
use crate::ring::writes::Wrote;
use crate::slip::{self, Slip};

impl Core {
    /// Executes one MI command.
    pub fn run_mi(&mut self, e: EngineId, d: &[u32]) -> Flow {
        if let Some(flow) = (self.cfg.chip.hooks.command)(self, e, d) {
            return flow;
        }
        let h = d[0];
        match mi::opcode(h) {
            op::NOOP => {
                if h & (1 << 22) != 0 {
                    let short = u32::from(slip::is(Slip::NoopNumberShort));
                    self.set_ring(e, ring::NOPID, h & (0x3f_ffff >> short));
                }
                Flow::Next
            }
            op::USER_INTERRUPT => {
                self.count(self.row(e).counters.interrupts);
                self.pulse(e, bit::USER);
                self.engine(e).work_begins = true;
                Flow::Next
            }
            op::WAIT_FOR_EVENT => self.wait_for_event(e, h),
            op::FLUSH => self.mi_flush(e, h),
            op::ARB_CHECK => self.arb_check(e),
            op::REPORT_HEAD => {
                if self.ring_only(e, "MI_REPORT_HEAD") {
                    self.report_head(e);
                }
                Flow::Next
            }
            op::ARB_ON_OFF => {
                if !self.denied(e, "MI_ARB_ON_OFF") {
                    let engine = self.engine(e);
                    engine.arbitration = h & 1 != 0;
                    engine.arbitration_told = false;
                }
                Flow::Next
            }
            op::BATCH_BUFFER_END => self.batch_end(e),
            op::SUSPEND_FLUSH => {
                self.suspend_flush(e, h & 1 != 0);
                if h & 1 == 0 && self.cfg.chip.ways.mode_bits {
                    // "this bit will get cleared by MI_SUSPEND_FLUSH as well" (VCS PRM 1.1.3.3).
                    let mode = self.ring(e, ring::MI_MODE);
                    self.set_ring(e, ring::MI_MODE, mode & !(1 << 15));
                }
                Flow::Next
            }
            op::DISPLAY_FLIP => self.display_flip(e, d),
            op::SEMAPHORE_MBOX => self.semaphore(e, d),
            op::SET_CONTEXT => self.set_context(e, d),
            op::STORE_DATA_IMM => self.store_imm(e, d),
            op::STORE_DATA_INDEX => self.store_index(e, d),
            op::LOAD_REGISTER_IMM => self.load_register(e, d),
            op::LOAD_REGISTER_MEM => self.load_register_mem(e, d),
            op::UPDATE_GTT => self.update_gtt(e, d),
            op::STORE_REGISTER_MEM => self.store_register(e, d),
            op::FLUSH_DW => self.flush_dw(e, d),
            op::REPORT_PERF_COUNT => self.report_perf(e, d),
            op::BATCH_BUFFER_START => self.batch_start(e, d),
            op::CONDITIONAL_BATCH_BUFFER_END => self.conditional_end(e, d),
            // Overlay, scan-line windows, URB and cache-line flushes: nothing behind them here.
            _ => Flow::Next,
        }
    }

    /// True in a batch that the ring started with the non-secure bit.
    pub fn unprivileged(&self, e: EngineId) -> bool {
        self.engines[e as usize].batch.is_some_and(|b| b.non_secure)
    }

    /// Reports and refuses a privileged command of a non-secure batch.
    fn denied(&mut self, e: EngineId, what: &str) -> bool {
        let denied = self.unprivileged(e);
        if denied {
            self.count(Counter::PrivilegeViolations);
            self.lint(Rule::Privilege, || format!("{} {what}", e.name()));
        }
        denied
    }

    /// True in the ring; reports a ring-only command in a batch, which is ignored there.
    fn ring_only(&mut self, e: EngineId, what: &str) -> bool {
        let in_ring = self.engine(e).batch.is_none();
        if !in_ring {
            self.lint(Rule::RingOnly, || format!("{} {what}", e.name()));
        }
        in_ring
    }

    fn wait_for_event(&mut self, e: EngineId, h: u32) -> Flow {
        let code = (h >> 16) & 0xf;
        let row = self.row(e);
        let events = h & row.events;
        if (events.count_ones() + u32::from(code != 0)) > 1 {
            self.lint(Rule::ManyEvents, || format!("{} {h:#010x}", e.name()));
        }
        if code > row.conditions.count_ones() {
            self.lint(Rule::Reserved, || {
                format!("{} condition code {code}", e.name())
            });
            return Flow::Next;
        }
        // Waits while the condition is active; a condition that is not makes this a no-operation
        // (§5.3.7.3.5). Display events have passed already: no display is modelled.
        if code != 0 && self.ring(e, ring::EXCC) & (1 << (code - 1)) != 0 {
            return Flow::Wait(Wait::Condition(code - 1));
        }
        Flow::Next
    }

    fn arb_check(&mut self, e: EngineId) -> Flow {
        if self.ring_only(e, "MI_ARB_CHECK") && self.take_pending_head(e) {
            return Flow::RingHead(self.ring(e, ring::HEAD));
        }
        Flow::Next
    }

    /// Flushes are suspended, or what was suspended is done (VCS PRM 1.2.14).
    pub fn suspend_flush(&mut self, e: EngineId, suspend: bool) {
        self.engine(e).suspended_sync = suspend;
        if !suspend {
            self.sync_flush(e);
        }
    }

    /// Reports a rule of batches of two levels (VCS PRM 1.2.5, 1.2.6).
    fn second_level(&mut self, e: EngineId, what: &str) {
        self.lint(Rule::SecondLevel, || format!("{} {what}", e.name()));
    }

    fn batch_start(&mut self, e: EngineId, d: &[u32]) -> Flow {
        let address = d[1] & !3;
        let wanted = d[0] & (1 << 8) != 0;
        if self.engine(e).caller.is_some() {
            // "not supported": what it does is not said.
            self.second_level(e, "chains");
            return Flow::Next;
        }
        if self.cfg.chip.ways.second_level && d[0] & (1 << 22) != 0 {
            return self.batch_call(e, address, wanted);
        }
        match self.engine(e).batch {
            None => {
                self.count(Counter::Batches);
                self.engine(e).pace.begin();
                Flow::Batch(Batch {
                    address,
                    non_secure: wanted,
                    physical: None,
                })
            }
            Some(_) if slip::is(Slip::ChainIgnored) => Flow::Next,
            Some(current) => {
                // Chained: replaces the batch, and inherits its security (§5.3.7.6).
                if wanted != current.non_secure {
                    self.lint(Rule::ChainedPrivilege, || {
                        format!("{} {address:#x}", e.name())
                    });
                }
                self.engine(e).pace.jump();
                Flow::Batch(Batch {
                    address,
                    non_secure: current.non_secure,
                    physical: None,
                })
            }
        }
    }

    /// A batch of the second level (VCS PRM 1.2.6).
    fn batch_call(&mut self, e: EngineId, address: u32, wanted: bool) -> Flow {
        let non_secure = match self.engine(e).batch {
            None => {
                self.second_level(e, "is called by the ring");
                self.count(Counter::Batches);
                self.engine(e).pace.begin();
                wanted
            }
            Some(first) => {
                if first.non_secure && wanted {
                    self.second_level(e, "is called by a non-secure batch");
                }
                if first.non_secure && !wanted {
                    self.lint(Rule::ChainedPrivilege, || {
                        format!("{} {address:#x}", e.name())
                    });
                }
                self.engine(e).pace.jump();
                wanted || first.non_secure
            }
        };
        Flow::Call(Batch {
            address,
            non_secure,
            physical: None,
        })
    }

    fn batch_end(&mut self, e: EngineId) -> Flow {
        if self.engine(e).batch.is_none() {
            self.lint(Rule::Reserved, || {
                format!("{} MI_BATCH_BUFFER_END in the ring", e.name())
            });
            return Flow::Next;
        }
        if !self.engine(e).arbitration && !self.cfg.chip.ways.arbitration_at_end {
            self.lint(Rule::ArbitrationOff, || e.name().to_owned());
            self.engine(e).arbitration = true;
        }
        Flow::EndBatch
    }

    fn conditional_end(&mut self, e: EngineId, d: &[u32]) -> Flow {
        if self.engine(e).batch.is_none() {
            self.lint(Rule::Reserved, || {
                format!("{} conditional end in the ring", e.name())
            });
            return Flow::Next;
        }
        if self.engine(e).caller.is_some() {
            self.second_level(e, "ends by a condition");
            return Flow::Next;
        }
        let global = d[0] & (1 << 22) != 0 && !self.unprivileged(e);
        let space = self.space(e, global);
        let mut b = [0; 8];
        self.load(e, space, d[2] & !7, &mut b);
        let both = u64::from_le_bytes(b);
        let (mask, value) = (both as u32, (both >> 32) as u32);
        let mask = match slip::is(Slip::ConditionalMaskIgnored) {
            true => !0,
            false => mask,
        };
        let equal = slip::is(Slip::ConditionalEndOnEqual) && mask & value == d[1];
        // Goes on if the masked value is greater than the data; without the compare bit it ends.
        if d[0] & (1 << 21) != 0 && (mask & value > d[1] || equal) {
            Flow::Next
        } else {
            Flow::EndBatch
        }
    }

    fn display_flip(&mut self, e: EngineId, d: &[u32]) -> Flow {
        if self.denied(e, "MI_DISPLAY_FLIP") {
            return Flow::Next;
        }
        let plane = (d[0] >> 20) & 3;
        let flips = &self.cfg.chip.display_events.flips;
        let Some(flip) = flips.get(plane as usize) else {
            self.lint(Rule::Reserved, || format!("flip of plane {plane}"));
            return Flow::Next;
        };
        // Pending and done at once, as nothing scans out; the identity bit is set by the falling
        // edge (§5.4.4).
        self.display_event(*flip);
        Flow::Next
    }

    fn store_imm(&mut self, e: EngineId, d: &[u32]) -> Flow {
        let global = d[0] & (1 << 22) != 0;
        self.watch_global_bit(e, global);
        if global && self.denied(e, "MI_STORE_DATA_IMM") {
            return match self.cfg.chip.ways.global_store {
                // §5.3.7.6: fatal.
                GlobalStore::Error => {
                    self.instruction_error(e, d[0]);
                    Flow::Stop
                }
                GlobalStore::Dropped => {
                    self.touch(e, AddressSpace::Ggtt, d[2] & !3);
                    Flow::Next
                }
            };
        }
        let space = self.space(e, global);
        let address = match slip::is(Slip::StoreHighBitsLost) {
            true => d[2] & 0x001f_fffc,
            false => d[2] & !3,
        };
        if d.len() == 5 {
            if address & 7 != 0 {
                self.lint(Rule::UnalignedQword, || {
                    format!("{} {address:#x}", e.name())
                });
            }
            let data = u64::from(d[3]) | u64::from(d[4]) << 32;
            let data = match slip::is(Slip::StoreQwordSwapped) {
                true => data.rotate_left(32),
                false => data,
            };
            let half = usize::from(slip::is(Slip::StoreQwordHalf)) * 4;
            self.store(e, space, address, &data.to_le_bytes()[..8 - half]);
        } else {
            self.store(e, space, address, &d[3].to_le_bytes());
        }
        Flow::Next
    }

    fn store_index(&mut self, e: EngineId, d: &[u32]) -> Flow {
        let offset = d[1] & 0xffc;
        if offset < 64 {
            self.lint(Rule::StatusPageReserved, || {
                format!("{} {offset:#x}", e.name())
            });
        }
        if self.unprivileged(e) {
            // There is one status page per engine here, no per-process one (VCS PRM 1.2.7).
            self.count(Counter::PrivilegeViolations);
            self.lint(Rule::Privilege, || {
                format!("{} MI_STORE_DATA_INDEX", e.name())
            });
        }
        if d.len() == 4 {
            if offset & 7 != 0 {
                self.lint(Rule::UnalignedQword, || {
                    format!("{} index {offset:#x}", e.name())
                });
            }
            let data = u64::from(d[2]) | u64::from(d[3]) << 32;
            self.status_page_store(e, offset & !7, &data.to_le_bytes());
        } else {
            self.status_page_store(e, offset, &d[2].to_le_bytes());
        }
        Flow::Next
    }

    /// A store into the status page, always through the global table.
    pub fn status_page_store(&mut self, e: EngineId, offset: u32, data: &[u8]) {
        let page = self.get(self.row(e).hws_pga);
        if page == self.cfg.chip.ways.status_page {
            self.lint(Rule::StatusPageUnset, || e.name().to_owned());
        }
        if self.inject(Kind::Garbage, e.name()).is_some() {
            let garbage = self.random().to_le_bytes();
            self.put_in_status_page(e, offset, &garbage[..data.len().min(8)]);
            return;
        }
        self.put_in_status_page(e, offset, data);
    }

    fn load_register(&mut self, e: EngineId, d: &[u32]) -> Flow {
        if d.len().is_multiple_of(2) {
            self.lint(Rule::Reserved, || {
                format!("{} odd length {:#010x}", e.name(), d[0])
            });
        }
        // A program may say how its blits are tiled.
        let own = |pair: &[u32]| self.cfg.chip.tiled_by == Some(pair[0] & 0x7f_fffc);
        if !d[1..].chunks_exact(2).all(own) && self.denied(e, "MI_LOAD_REGISTER_IMM") {
            return Flow::Next;
        }
        // RING_CTL bit 8: this ring may not write registers (VCS PRM 1.1.4).
        let disabled = self.ring(e, ring::CTL) & (1 << 8) != 0;
        let keep = (0..4)
            .filter(|i| d[0] & (0x100 << i) != 0)
            .fold(0u32, |m, i| m | 0xff << (8 * i));
        if self.cfg.chip.ways.whole_registers && keep != 0 && keep != !0 {
            self.lint(Rule::Reserved, || {
                format!("{} bytes of a register {:#010x}", e.name(), d[0])
            });
        }
        for pair in d[1..].chunks_exact(2) {
            let offset = pair[0] & 0x7f_fffc;
            if self.cs_mchbar(e, offset) || disabled {
                continue;
            }
            self.notes.counters.inc(Counter::CsRegWrites);
            if keep == !0 {
                continue;
            }
            let data = if keep == 0 {
                pair[1]
            } else {
                pair[1] & !keep | self.get(offset) & keep
            };
            self.reg_write(offset, data, Origin::Cs(e));
            self.engine(e).loaded = Some(offset);
        }
        Flow::Next
    }

    /// MI_LOAD_REGISTER_MEM (VCS PRM 1.2.18). Whether the streamer waits for it (bit 21) makes no difference:
    /// it is done.
    fn load_register_mem(&mut self, e: EngineId, d: &[u32]) -> Flow {
        let global = d[0] & (1 << 22) != 0;
        self.watch_global_bit(e, global);
        // A register is loaded, and perhaps global memory read.
        if self.denied(e, "MI_LOAD_REGISTER_MEM") {
            return Flow::Next;
        }
        let offset = d[1] & 0x7f_fffc;
        let space = self.space(e, global);
        let value = self.load32(e, space, d[2] & !3);
        let disabled = self.ring(e, ring::CTL) & (1 << 8) != 0;
        if !self.cs_mchbar(e, offset) && !disabled {
            self.notes.counters.inc(Counter::CsRegWrites);
            self.reg_write(offset, value, Origin::Cs(e));
        }
        Flow::Next
    }

    /// Reports an operand of the per-process table while that is off, where a chip minds.
    fn watch_global_bit(&mut self, e: EngineId, global: bool) {
        if self.cfg.chip.ways.global_bit && !global && !self.ppgtt(e) {
            self.lint(Rule::GlobalBit, || e.name().to_owned());
        }
    }

    /// True for a register that MI_STORE_REGISTER_MEM does not reach (VCS PRM 1.2.11): from 0x40000 to
    /// 0xbffff it reads what was loaded just before.
    fn out_of_reach(&mut self, e: EngineId, offset: u32) -> bool {
        let loaded = self.engine(e).loaded.take() == Some(offset);
        self.cfg.chip.ways.store_limits
            && match offset {
                0x8800..0x8900 => true,
                0x4_0000..0xc_0000 => !loaded,
                _ => offset >= 0xc_0000,
            }
    }

    /// The MCHBAR alias works for the CPU only (§3).
    fn cs_mchbar(&mut self, e: EngineId, offset: u32) -> bool {
        let inside = self.cfg.chip.mchbar.contains(offset);
        if inside {
            self.lint(Rule::CsMchbar, || format!("{} {offset:#x}", e.name()));
        }
        inside
    }

    fn store_register(&mut self, e: EngineId, d: &[u32]) -> Flow {
        let shifted = u32::from(slip::is(Slip::StoreRegisterShifted)) << 2;
        let offset = (d[1] & 0x7f_fffc) + shifted;
        let global = d[0] & (1 << 22) != 0;
        self.watch_global_bit(e, global);
        if global && self.denied(e, "MI_STORE_REGISTER_MEM") {
            if self.cfg.chip.ways.global_store == GlobalStore::Dropped {
                self.touch(e, AddressSpace::Ggtt, d[2] & !3);
            }
            return Flow::Next;
        }
        let far = self.out_of_reach(e, offset);
        let fence = self.cfg.chip.fences.range().contains(&offset);
        let value = if self.cs_mchbar(e, offset) {
            0
        } else if fence || far || offset == 0x2020 {
            // Undefined data (VCS PRM 1.2.11).
            self.lint(Rule::SrmForbidden, || format!("{} {offset:#x}", e.name()));
            self.random() as u32
        } else {
            self.reg_read(offset)
        };
        let space = self.space(e, global);
        self.store(e, space, d[2] & !3, &value.to_le_bytes());
        Flow::Next
    }

    fn update_gtt(&mut self, e: EngineId, d: &[u32]) -> Flow {
        if self.denied(e, "MI_UPDATE_GTT") {
            return Flow::Next;
        }
        let documented = self.cfg.chip.ways.update_gtt;
        if !documented || d[0] & (1 << 22) == 0 {
            self.lint(Rule::UpdateGtt, || format!("{} {:#010x}", e.name(), d[0]));
        }
        if documented && d[0] & (1 << 22) == 0 {
            return Flow::Next;
        }
        let first = d[1] / PAGE;
        for (i, pte) in d[2..].iter().enumerate() {
            let index = first.wrapping_add(i as u32);
            if self.engine(e).batch.is_some() {
                self.cx.writes.push(Wrote::Entry(index));
            }
            self.cx.gtt.set(index, *pte);
        }
        self.flush_global_tlbs();
        Flow::Next
    }

    fn report_perf(&mut self, e: EngineId, d: &[u32]) -> Flow {
        // The counters themselves are in no document; the report is its id and a time stamp.
        let global = d[1] & 1 != 0;
        if global && self.denied(e, "MI_REPORT_PERF_COUNT") {
            return Flow::Next;
        }
        let space = self.space(e, global);
        let mut report = [0u8; 64];
        report[..4].copy_from_slice(&d[2].to_le_bytes());
        report[4..8].copy_from_slice(&(self.timestamp() as u32).to_le_bytes());
        self.store(e, space, d[1] & !63, &report);
        Flow::Next
    }

    fn semaphore(&mut self, e: EngineId, d: &[u32]) -> Flow {
        const UPDATE: u32 = 1 << 21;
        const COMPARE: u32 = 1 << 20;
        const REGISTER: u32 = 1 << 18;
        let h = d[0];
        if h & (UPDATE | COMPARE) == 0 {
            // Without 20, 21 "must be set" (VCS PRM 1.2.10).
            self.lint(Rule::Reserved, || {
                format!("{} semaphore {h:#010x}", e.name())
            });
        }
        if h & REGISTER != 0 {
            if h & UPDATE != 0 {
                // Must be clear with bit 18 (VCS PRM 1.2.10); the register named by DW2 is written.
                self.lint(Rule::Reserved, || {
                    format!("{} register update {h:#010x}", e.name())
                });
                if !self.denied(e, "MI_SEMAPHORE_MBOX update") {
                    self.reg_write(d[2] & 0x7f_fffc, d[1], Origin::Cs(e));
                }
                return Flow::Next;
            }
            let offset = match (h >> 16) & 3 {
                0 => self.row(e).base + ring::SYNC0,
                2 => self.row(e).base + ring::SYNC1,
                n => {
                    self.lint(Rule::Reserved, || {
                        format!("{} semaphore select {n}", e.name())
                    });
                    return Flow::Next;
                }
            };
            // Strictly greater (VCS PRM 1.2.10).
            if h & COMPARE == 0 || self.get(offset) > d[1] {
                return Flow::Next;
            }
            return Flow::Wait(Wait::SemaphoreRegister { offset, data: d[1] });
        }
        // In a non-privileged batch the global bit counts as clear.
        let global = h & (1 << 22) != 0 && !self.unprivileged(e);
        let space = self.space(e, global);
        let address = d[2] & !3;
        if h & COMPARE != 0 && self.load32(e, space, address) <= d[1] {
            return Flow::Wait(Wait::SemaphoreMemory);
        }
        if h & UPDATE != 0 {
            self.store(e, space, address, &d[1].to_le_bytes());
        }
        Flow::Next
    }
}
