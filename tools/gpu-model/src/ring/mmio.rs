// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Register reads and writes with their effects: who may, what they show, what they start.

use crate::counters::Counter;
use crate::fault::Kind;
use crate::intel::fence::Fence;
use crate::intel::regfile::{apply, Domain};
use crate::ring::core::{Core, Origin, PPGTT_ENABLE};
use crate::ring::display;
use crate::ring::engine::{Batch, EngineId, Stop};
use crate::ring::irq::bit;
use crate::ring::later::Later;
use crate::ring::lint::Rule;
use crate::ring::mmu::Mmu;
use crate::ring::regs::{self, reg, ring, GT_LIMIT};
use crate::ring::writes::Wrote;

impl Core {
    /// The CPU begins an access.
    pub fn begin_access(&mut self, offset: u32, write: bool) {
        self.count_access(offset, write);
        self.settle();
        self.count_standby();
        self.look_at_screen();
        if !write {
            self.flush_arrives();
        }
    }

    /// A dword read by the CPU.
    pub fn cpu_read(&mut self, offset: u32) -> u32 {
        if offset < GT_LIMIT && !self.gt_held() && !self.always_on(offset) {
            self.lint(Rule::AsleepRead, || format!("{offset:#07x}"));
            return 0;
        }
        self.reg_read(offset)
    }

    /// A dword write by the CPU.
    pub fn cpu_write(&mut self, offset: u32, value: u32) {
        self.left.met = true;
        if offset < GT_LIMIT && !self.always_on(offset) {
            if !self.fifo_take() {
                return;
            }
            if !self.gt_held() {
                self.lint(Rule::AsleepWrite, || format!("{offset:#07x} {value:#010x}"));
                if !self.cfg.asleep_fifo {
                    return;
                }
            }
        }
        self.reg_write(offset, value, Origin::Cpu);
        self.count_standby();
        self.count_clocks();
    }

    /// Pulls the card.
    pub fn remove(&mut self) {
        self.removed = true;
        self.later = Later::default();
        for engine in &mut self.engines {
            engine.stop = Stop::Hung;
            engine.stop_blit();
        }
        self.update_line();
    }

    fn count_access(&mut self, offset: u32, write: bool) {
        let pick = |r, w| if write { w } else { r };
        self.count(pick(Counter::RegReads, Counter::RegWrites));
        if offset < GT_LIMIT {
            self.count(pick(Counter::GtReads, Counter::GtWrites));
        }
        if let Some(row) = self.cfg.chip.of_block(offset) {
            self.count(pick(row.counters.reads, row.counters.writes));
            if write && offset - row.base == ring::TAIL {
                self.count(row.counters.tails);
            }
        }
        match offset {
            _ if self.cfg.chip.forcewake.has(offset) => self.count(Counter::ForcewakeAccesses),
            reg::GTFIFOCTL if !write => self.count(Counter::FifoReads),
            _ if self.cfg.chip.irq.has(offset) => self.count(Counter::IrqAccesses),
            _ if write && self.cfg.chip.fences.range().contains(&offset) => {
                self.count(Counter::FenceWrites);
            }
            _ => {}
        }
    }

    /// The time stamp, in the chip's ticks.
    pub fn timestamp(&self) -> u64 {
        (self.cfg.chip.timestamp)(self.notes.clock.now())
    }

    /// Reads a register, for the CPU and MI_STORE_REGISTER_MEM.
    pub fn reg_read(&mut self, offset: u32) -> u32 {
        let Some((_, domain)) = regs::lookup(self.cfg.chip, offset) else {
            self.undocumented(offset, false);
            return 0;
        };
        if domain == Domain::Display {
            self.count(Counter::DisplayAccesses);
            if display::STORED.contains(&offset) || self.keeps_bits(offset) {
                return self.get(offset);
            }
            let shown = self.screen_read(offset);
            return shown.or_else(|| self.pipe_read_gen4(offset)).unwrap_or(0);
        }
        if let Some(value) = (self.cfg.chip.hooks.read)(self, offset) {
            return value;
        }
        if let Some(row) = self.cfg.chip.of_block(offset) {
            return self.ring_read(row.id, offset - row.base);
        }
        match offset {
            reg::GTFIFOCTL if self.cfg.chip.fifo.is_some() => self.fifo_room(),
            reg::GDRST => self.gdrst_read(),
            _ if self.cfg.chip.forcewake.has(offset) => self.forcewake_read(offset),
            reg::GT_THREAD_STATUS => self.thread_status(),
            reg::RC6_STATUS..=reg::RC6PP_STATUS => self.gt.standby.read(offset),
            _ if !self.cfg.chip.forcewake.needed() => self.get(offset),
            _ => self.clocks_read(offset).unwrap_or(self.get(offset)),
        }
    }

    fn ring_read(&mut self, e: EngineId, offset: u32) -> u32 {
        let status = matches!(
            offset,
            ring::HEAD | ring::ACTHD | ring::INSTDONE | ring::MI_MODE
        );
        if status && self.inject(Kind::GarbageRead, e.name()).is_some() {
            return self.random() as u32;
        }
        let informs = matches!(
            offset,
            ring::ACTHD
                | ring::INSTDONE
                | ring::IPEIR
                | ring::IPEHR
                | ring::INSTPS
                | ring::BB_ADDR
                | ring::DMA_FADD
        );
        if informs && self.inject(Kind::GarbageStatus, e.name()).is_some() {
            // All ones would be a card that is gone.
            return self.random() as u32 & !(1 << 7);
        }
        let stored = self.ring(e, offset);
        match offset {
            ring::CTL => stored | self.wait_bits(e),
            ring::HEAD if self.row(e).head_waits => stored | (self.wait_bits(e) >> 11 & 1),
            ring::MI_MODE => {
                let idle = self.is_idle(e) && self.inject(Kind::StuckIdle, e.name()).is_none();
                stored | u32::from(idle) << 9
            }
            ring::INSTDONE if !self.is_idle(e) => !1,
            ring::INSTDONE => !0,
            ring::ACTHD => match self.engine(e).batch {
                Some(b) => b.address,
                None => self.ring(e, ring::HEAD),
            },
            ring::DMA_FADD => self.fetch_address(e),
            ring::BB_ADDR => self.levels(e).0.map_or(0, |b| b.address & !7 | 1),
            ring::BB_STATE => {
                let bit = |batch: Option<Batch>| u32::from(batch.is_some_and(|b| b.non_secure));
                let (first, second) = self.levels(e);
                bit(first) << 5 | bit(second) << 6
            }
            ring::SECOND_BATCH => self.levels(e).1.map_or(stored, |b| b.address & !3),
            ring::CNTR => self.watchdog_read(e),
            ring::PP_DIR_BASE_READ => self.ring(e, ring::PP_DIR_BASE),
            ring::PSMI_CTL => self.psmi_read(e),
            ring::TIMESTAMP => self.timestamp() as u32,
            0x35c => (self.timestamp() >> 32) as u32,
            _ => stored,
        }
    }

    /// The batches of the first and the second level that an engine is in.
    fn levels(&self, e: EngineId) -> (Option<Batch>, Option<Batch>) {
        let engine = &self.engines[e as usize];
        match engine.caller {
            Some(first) => (first, engine.batch),
            None => (engine.batch, None),
        }
    }

    /// A register write with its effects. Shared by the CPU and the command streamers.
    pub fn reg_write(&mut self, offset: u32, data: u32, origin: Origin) {
        if matches!(origin, Origin::Cs(e) if self.engine(e).batch.is_some()) {
            let value = data;
            self.cx.writes.push(Wrote::Register { offset, value });
        }
        let Some((write, domain)) = regs::lookup(self.cfg.chip, offset) else {
            self.undocumented(offset, true);
            return;
        };
        let old = self.get(offset);
        self.notes.note_write(offset, origin.by(), write, old, data);
        if domain == Domain::Display {
            self.count(Counter::DisplayAccesses);
            if self.screen_write(offset, data) {
                return;
            }
            if self.cfg.chip.gen4.is_some() && crate::gen4::display::stores(offset) {
                self.set(offset, data);
                self.display_written(offset);
                return;
            }
            if display::STORED.contains(&offset) || self.keeps_bits(offset) {
                self.watch_bits(offset, self.get(offset), data);
                self.set(offset, data);
            }
            return;
        }
        let new = apply(write, old, data);
        self.set(offset, new);
        if origin == Origin::Cpu {
            self.watch_bits(offset, old, new);
        }
        let chip = self.cfg.chip;
        if let Some(row) = chip.of_block(offset) {
            self.ring_written(row.id, offset - row.base, old, new, data, origin);
            self.mode_written(offset, new);
        } else {
            self.gt_written(offset, new, data);
        }
        (chip.hooks.written)(self, offset, old, new, origin);
    }

    /// A register outside the engines' blocks was written.
    fn gt_written(&mut self, offset: u32, new: u32, data: u32) {
        let chip = self.cfg.chip;
        let sync = chip
            .engines
            .iter()
            .fold(0, |bits, e| bits | e.irq.mask(bit::SYNC_STATUS));
        if offset == reg::GTIER && new & sync != 0 {
            self.lint(Rule::SyncStatusEnabled, || format!("{new:#x}"));
        }
        match offset {
            _ if data & 1 == 0 && chip.engines.iter().any(|e| e.fault == Some(offset)) => {
                self.fault_cleared(offset);
            }
            reg::GDRST => self.graphics_reset(data),
            _ if chip.forcewake.has(offset) => self.forcewake_written(offset, data),
            reg::GFX_FLSH_CNTL if data & 1 != 0 => self.flush_written(),
            reg::RC_CONTROL => self.standby_taken(),
            reg::RP_CONTROL => self.clocks_restart(),
            reg::PCODE_MAILBOX => self.pcode(data),
            reg::DEIIR | reg::DEIER | reg::GTIIR | reg::GTIER | reg::PMIIR | reg::PMIER => {
                self.watch_clear(offset, data);
                if offset == reg::GTIIR {
                    self.status_cleared(data);
                }
                self.update_line();
            }
            _ if chip.fences.range().contains(&offset) => self.fence_written(offset),
            _ => {}
        }
    }

    fn ring_written(
        &mut self,
        e: EngineId,
        offset: u32,
        old: u32,
        new: u32,
        data: u32,
        origin: Origin,
    ) {
        let enabled = self.ring(e, ring::CTL) & 1 != 0;
        if matches!(origin, Origin::Cs(other) if other != e) {
            self.kicked |= e.mask();
        }
        match offset {
            ring::RNCID_LO | ring::RNCID_HI if self.row(e).sleeps => self.rncid_written(offset),
            ring::TAIL => {
                if origin == Origin::Cpu && enabled {
                    self.watch_work();
                }
                self.tail_written(e, old);
            }
            ring::HEAD if self.found_running(e) => {}
            // A real one that does not take its head reads START there.
            ring::HEAD
                if !enabled
                    && origin == Origin::Cpu
                    && self.ring(e, ring::START) != 0
                    && self.inject(Kind::DeafHead, e.name()).is_some() =>
            {
                self.set_ring(e, ring::HEAD, self.ring(e, ring::START));
            }
            ring::HEAD
                if enabled
                    && origin == Origin::Cpu
                    && (old ^ new) & 0x1f_fffc != 0
                    && !self.is_idle(e) =>
            {
                self.lint(Rule::HeadWriteEnabled, || {
                    format!("{} {old:#x} -> {new:#x}", e.name())
                });
            }
            ring::START => {
                if enabled && old != new {
                    self.lint(Rule::RingChangedEnabled, || format!("{} START", e.name()));
                }
                // G45 PRM 5.3.4.2: clears head offset and wrap count.
                let shown = self.cfg.real.start_in_head && self.cfg.chip.ways.start_in_head;
                self.set_ring(e, ring::HEAD, if shown { new } else { 0 });
            }
            ring::CTL => self.ctl_written(e, old, new, data),
            ring::EIR => self.clear_errors(e, data),
            ring::EMR => self.latch_errors(e),
            ring::HWSTAM => self.watch_reported(e, new),
            ring::MI_MODE if (old ^ new) & (1 << 15) != 0 && self.cfg.chip.ways.mode_bits => {
                self.suspend_flush(e, new & (1 << 15) != 0);
            }
            ring::CNTR => self.watchdog_written(e, data),
            ring::HINT => self.lint(Rule::PreemptionHint, || format!("{new:#x}")),
            ring::INSTPM => self.instpm_written(e, old, new, origin),
            ring::PP_DCLV if new != 0 => self.behind_iommu("PP_DCLV"),
            ring::PP_DIR_BASE => {
                if new != 0 && self.ring(e, ring::PP_DCLV) == 0 && self.cfg.chip.ways.groups_first {
                    self.lint(Rule::DirectoryUnloaded, || e.name().to_owned());
                }
                self.load_directory(e);
                if new != 0 {
                    self.behind_iommu("PP_DIR_BASE");
                }
            }
            ring::PSMI_CTL => self.psmi_written(e, old, new),
            _ => {}
        }
    }

    /// A register of an engine's block was written: one that switches the per-process table on?
    fn mode_written(&mut self, offset: u32, new: u32) {
        let modes = self.cfg.chip.engines.iter().map(|e| e.mode);
        if new & PPGTT_ENABLE != 0 && modes.into_iter().any(|mode| mode == Some(offset)) {
            self.behind_iommu("GFX_MODE");
        }
    }

    /// Something of the per-process table is used: not behind an IOMMU, where real machines freeze (upstream
    /// goes without it there).
    fn behind_iommu(&mut self, what: &str) {
        if self.cfg.vtd {
            self.lint(Rule::PpgttBehindIommu, || what.to_owned());
        }
    }

    fn tail_written(&mut self, e: EngineId, old: u32) {
        let tail = self.ring(e, ring::TAIL);
        let head = self.ring(e, ring::HEAD) & 0x1f_fffc;
        let enabled = self.ring(e, ring::CTL) & 1 != 0;
        self.engine(e).partial_reported = false;
        if !enabled || head == tail {
            return;
        }
        if tail >= self.ring_size(e) {
            self.lint(Rule::TailOutOfRing, || format!("{} {tail:#x}", e.name()));
        }
        // Head in the tail's cacheline and above it: the ring was filled too far (§5.3.4.5).
        if head / 64 == tail / 64 && head > tail {
            self.lint(Rule::HeadAboveTail, || {
                format!("{} head {head:#x} tail {tail:#x}", e.name())
            });
        }
        if self.pci.word(crate::pci::COMMAND) & crate::pci::COMMAND_MASTER == 0
            && self.cfg.watch_bus_master
        {
            self.lint(Rule::NoBusMaster, || e.name().to_owned());
        }
        if self.row(e).sleeps {
            // It slept unless it had work before, or was woken and has shown itself awake.
            let engine = &self.engines[e as usize];
            let working = engine.batch.is_some() || engine.wait.is_some() || head != old;
            // Upstream gives a ring that it has just enabled its tail as it is (xcs_resume), and its selftest
            // igt_reset_nop expects the work to be done.
            let fresh = std::mem::take(&mut self.engine(e).fresh);
            let asleep = if self.ring(e, ring::PSMI_CTL) & 1 != 0 {
                self.vcs_still_waking()
            } else if fresh {
                self.engine(e).missed_tail = false;
                return;
            } else {
                !working
            };
            if asleep {
                self.lint(Rule::VcsTailAsleep, || format!("tail {tail:#x}"));
            }
            if !self.rncid_complete() {
                self.lint(Rule::VcsRncid, || format!("tail {tail:#x}"));
            }
            self.engine(e).missed_tail = asleep;
        }
    }

    fn ctl_written(&mut self, e: EngineId, old: u32, new: u32, data: u32) {
        // Bit 11 is write-one-to-cancel and never stored (VCS PRM 1.1.4).
        if data & (1 << 11) != 0 && self.engine(e).wait.is_some() {
            self.engine(e).wait_cancelled = true;
        }
        if old & 1 != 0
            && new & 1 == 0
            && !self.found_running(e)
            && !self.cfg.chip.ways.disabled_at_will
            && self.ring(e, ring::HEAD) & 0x1f_fffc != self.ring(e, ring::TAIL)
        {
            self.lint(Rule::DisabledNonEmpty, || e.name().to_owned());
        }
        if old & 1 != 0 && new & 1 != 0 && (old ^ new) & 0x1f_f000 != 0 {
            self.lint(Rule::RingChangedEnabled, || format!("{} length", e.name()));
        }
        if old & 1 != 0 && new & 1 == 0 {
            // A disabled streamer is out of its batch; what it had loaded is void.
            if self.row(e).renders {
                self.left.ring = false;
            }
            let empty = self.ring(e, ring::HEAD) & 0x1f_fffc == self.ring(e, ring::TAIL);
            let void = empty && self.cfg.chip.ways.disabled_at_will;
            let engine = self.engine(e);
            engine.batch = None;
            engine.caller = None;
            engine.wait = None;
            if void {
                engine.mmu.as_mut().map(Mmu::unload);
            }
        }
        if (old ^ new) & 1 != 0 {
            self.engine(e).fresh = new & 1 != 0 && self.row(e).sleeps;
        }
        if new & 6 == 4 && old & 6 != 4 && self.cfg.chip.ways.disabled_at_will {
            self.lint(Rule::ReportInRingMode, || e.name().to_owned());
        }
    }

    fn instpm_written(&mut self, e: EngineId, old: u32, new: u32, origin: Origin) {
        const SYNC: u32 = 1 << 5;
        const TLB: u32 = 1 << 9;
        if new & SYNC != 0 {
            // Where the engine need not be stopped and idle (VCS PRM 1.1.3.5), the streamer
            // sees the bit before its next command (§5.3.11.2).
            let running = self.row(e).flush_stopped && !self.is_idle(e);
            if old & SYNC == 0 && origin == Origin::Cpu && running {
                self.lint(Rule::SyncFlushRunning, || e.name().to_owned());
            }
            // At a command boundary; from outside the streamer is at one.
            self.sync_flush(e);
        } else if new & TLB != 0 {
            // Effective only with a sync flush; the upstream driver writes it alone from the ring.
            self.set_ring(e, ring::INSTPM, new & !TLB);
            if origin == Origin::Cpu {
                self.lint(Rule::InstpmTlbAlone, || e.name().to_owned());
            }
        }
    }

    fn fence_written(&mut self, offset: u32) {
        let fences = &self.cfg.chip.fences;
        let n = (offset - fences.base) / 8;
        let Some(fence) = self.fence(n) else { return };
        if !fence.pitch_ok() {
            self.lint(Rule::FencePitch, || format!("{n} {fence:?}"));
        }
        for m in (0..fences.count).filter(|m| *m != n) {
            if self.fence(m).is_some_and(|f| f.overlaps(&fence)) {
                self.lint(Rule::FenceOverlap, || format!("{n} and {m}"));
            }
        }
    }

    /// A decoded fence, if valid.
    pub fn fence(&self, n: u32) -> Option<Fence> {
        let fences = &self.cfg.chip.fences;
        let at = fences.base + 8 * n;
        (fences.decode)(u64::from(self.get(at)) | u64::from(self.get(at + 4)) << 32)
    }
}
