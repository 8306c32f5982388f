// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The GT as a whole: forcewake, the write FIFO, reset, the pcode mailbox, the video engine's
//! sleep handshake (digest G-15..G-17, G-24, G-37, G-40).

use crate::counters::Counter;
use crate::fault::Kind;
use crate::intel::regfile::{apply, Domain, Write};
use crate::intel::standby::Standby;
use crate::intel::tlb::AddressSpace;
use crate::ring::chip::EngineRow;
use crate::ring::clocks::Clocks;
use crate::ring::config::FifoDrain;
use crate::ring::core::Core;
use crate::ring::engine::EngineId;
use crate::ring::lint::Rule;
use crate::ring::regs::{reg, ring};
use crate::ring::wake::Slow;
use crate::trace::Event;

/// GTFIFODBG: a write found the FIFO full.
const FIFO_OVERFLOW: u32 = 1 << 2;
/// Thread status while the GT sleeps: bits 2:0 are zero only in C0 (G-17).
const ASLEEP: u32 = 3;
/// A sync flush whose bit stays does so for longer than upstream waits (2 ms).
const STUCK_FLUSH_US: u64 = 3000;
/// RC6 voltage that needs no correction (peer digest A.3: at least 0x29).
const RC6_VIDS: u32 = 0x2d;

/// State of the GT that is in no register.
#[derive(Default)]
pub(crate) struct Gt {
    /// Forcewake is acknowledged.
    pub awake: bool,
    /// Forcewake is asked for, a bit for each thread; without threads bit 0.
    pub asked: u32,
    /// What was asked for last.
    acked: u32,
    /// Entries in the FIFO, and when that was so.
    fifo: u64,
    fifo_at: u64,
    /// Reads of PSMI_CTL until the video engine shows itself awake.
    vcs_countdown: u32,
    /// Halves of RNCID that were written since the video engine was told to wake.
    vcs_rncid: u8,
    /// What is slow of wakes and of the FIFO.
    pub slow: Slow,
    /// Time in standby.
    pub standby: Standby,
    /// Time at work.
    pub clocks: Clocks,
}

impl Core {
    /// True for the few registers below 0x40000 that answer while the GT sleeps.
    pub fn always_on(&self, offset: u32) -> bool {
        !self.cfg.chip.forcewake.needed() || self.cfg.chip.always_on.contains(&offset)
    }

    /// A register of forcewake was written. With threads in force the other register does nothing, and the
    /// other way round; without them only bit 0 counts (G-15).
    pub fn forcewake_written(&mut self, offset: u32, data: u32) {
        let wake = &self.cfg.chip.forcewake;
        let threads = self.threads_in_force();
        self.gt.asked = match &wake.threads {
            Some(t) if threads && offset == t.request => {
                apply(Write::Masked(0xffff), self.gt.asked, data)
            }
            _ if !threads && offset == wake.request => data & 1,
            _ => return,
        };
        self.forcewake();
    }

    /// True if forcewake is asked for by threads.
    fn threads_in_force(&self) -> bool {
        let threads = self.cfg.chip.forcewake.threads.as_ref();
        threads.is_some_and(|t| self.get(t.enable.0) & t.enable.1 != 0)
    }

    /// Reads a register of forcewake. A request reads back what was requested (SNB387, a real machine's error record).
    pub fn forcewake_read(&self, offset: u32) -> u32 {
        let wake = &self.cfg.chip.forcewake;
        let threads = self.threads_in_force();
        let acked = if self.gt.awake { self.gt.acked } else { 0 };
        match &wake.threads {
            Some(t) if threads && offset == t.request => self.gt.asked,
            Some(t) if threads && offset == t.ack => acked,
            _ if !threads && offset == wake.request => self.gt.asked,
            _ if !threads && offset == wake.ack => acked,
            _ => 0,
        }
    }

    fn forcewake(&mut self) {
        if self.gt.asked != 0 {
            self.gt.acked = self.gt.asked;
        }
        if self.gt.asked == 0 {
            self.later.wake = None;
            self.release_well();
        } else if self.gt.awake || self.later.wake.is_some() {
            // Asked for already.
        } else if self.inject(Kind::StuckForcewake, "").is_none() {
            let injected = self.inject(Kind::SlowWake, "");
            match injected.or_else(|| self.ack_delay()) {
                Some(us) => self.later.wake = Some(self.in_us(us)),
                None => self.well_wakes(),
            }
        }
    }

    /// True while registers answer: forcewake is acknowledged, and the well is not about to sleep.
    pub fn gt_held(&self) -> bool {
        !self.cfg.chip.forcewake.needed() || self.gt.awake && self.later.sleep.is_none()
    }

    /// Reads the thread-status register.
    pub fn thread_status(&self) -> u32 {
        if self.gt.awake && !self.threads_busy() {
            0
        } else {
            ASLEEP
        }
    }

    /// A CPU write to a GT register takes a FIFO entry; false when there was none.
    pub fn fifo_take(&mut self) -> bool {
        let Some(entries) = self.cfg.chip.fifo else {
            return true;
        };
        self.fifo_drain(false);
        if self.gt.fifo >= entries {
            self.lint(Rule::FifoOverflow, String::new);
            self.set(reg::GTFIFODBG, self.get(reg::GTFIFODBG) | FIFO_OVERFLOW);
            return false;
        }
        self.gt.fifo += 1;
        true
    }

    fn fifo_drain(&mut self, looked: bool) {
        match self.cfg.fifo {
            FifoDrain::OnRead if looked => self.gt.fifo = 0,
            FifoDrain::OnRead => {}
            FifoDrain::Timed(ns) => {
                let now = self.notes.clock.now();
                let gone = (now - self.gt.fifo_at) / ns.max(1);
                if gone > 0 {
                    self.gt.fifo = self.gt.fifo.saturating_sub(gone);
                    self.gt.fifo_at = now;
                }
            }
        }
    }

    /// GTFIFOCTL: free entries in bits 6:0.
    pub fn fifo_room(&mut self) -> u32 {
        self.fifo_drain(true);
        let mut free = self.cfg.chip.fifo.unwrap_or(0) - self.gt.fifo;
        if self.inject(Kind::FifoFull, "").is_some() || self.fifo_shows_none() {
            free = 0;
        }
        if let Some(room) = self.inject(Kind::BusyFifo, "") {
            free = free.min(room);
        }
        self.get(reg::GTFIFOCTL) & !0x7f | free as u32
    }

    /// GDRST: bit 0 everything, bits 1..3 one engine each. Cleared when done.
    pub fn graphics_reset(&mut self, data: u32) {
        let mask = data & 0xf;
        if mask == 0 {
            return;
        }
        if self.inject(Kind::StuckReset, "").is_some() {
            self.set(reg::GDRST, mask);
            return;
        }
        if let Some(us) = self.inject(Kind::LateReset, "") {
            self.set(reg::GDRST, mask);
            self.later.reset = Some((self.in_us(us), mask));
            return;
        }
        if !self.reset_is_late(mask) {
            self.reset_now(mask);
        }
    }

    /// The reset that GDRST asked for.
    pub fn reset_now(&mut self, mask: u32) {
        self.set(reg::GDRST, 0);
        for row in self.cfg.chip.engines {
            if mask & (1 | row.reset_bit) != 0 {
                self.reset_engine(row);
            }
        }
        if mask & 1 != 0 {
            self.reset_registers(|d| d == Domain::Gt);
            self.firmware_bits();
        }
        (self.cfg.chip.hooks.reset_done)(self, mask);
        self.update_line();
    }

    /// Resets one engine: its registers and streamer, not its TLB (VCS PRM 1.1.3.5), nor fences
    /// (§4.5.4.1.1), nor the interrupt block.
    fn reset_engine(&mut self, row: &EngineRow) {
        let e = row.id;
        self.count(Counter::Resets);
        self.record(|| Event::Reset { what: e.name() });
        self.engine(e).reset();
        let ccid = self.ring(EngineId::Rcs, ring::CCID);
        self.reset_registers(|d| d == Domain::Engine(e as u8));
        if self.left.ccid {
            self.set_ring(EngineId::Rcs, ring::CCID, ccid);
        }
        let status = self.cfg.chip.irq.status;
        self.set(status, self.get(status) & !row.irq.all());
        if row.renders {
            self.left.ring = false;
            self.poison_render();
        }
        if row.two_d.is_some() {
            self.blitter.reset();
        }
        if row.sleeps {
            self.gt.vcs_countdown = 0;
        }
        (self.cfg.chip.hooks.reset)(self, e);
    }

    /// The pcode mailbox: runs a command when bit 31 is written, at once.
    pub fn pcode(&mut self, data: u32) {
        const BUSY: u32 = 1 << 31;
        if data & BUSY == 0 {
            self.set(reg::PCODE_MAILBOX, data);
            return;
        }
        if self.inject(Kind::StuckPcode, "").is_some() {
            self.set(reg::PCODE_MAILBOX, data);
            return;
        }
        if let Some(us) = self.inject(Kind::SlowPcode, "") {
            self.set(reg::PCODE_MAILBOX, data);
            self.later.pcode = Some((self.in_us(us), data));
            return;
        }
        self.pcode_now(data);
    }

    /// Runs a mailbox command; bit 31 falls when it is done.
    pub fn pcode_now(&mut self, data: u32) {
        const BUSY: u32 = 1 << 31;
        // Status in the low byte: 0 done, 1 no such command.
        let status = match data & 0xff {
            0x05 => {
                self.set(reg::PCODE_DATA, RC6_VIDS);
                0
            }
            0x04 => 0,
            0x08 => {
                let entry = self.get(reg::PCODE_DATA);
                self.gt.clocks.table_write(entry);
                0
            }
            0x09 => {
                let ratio = self.get(reg::PCODE_DATA);
                let entry = self.gt.clocks.table_read(ratio);
                self.set(reg::PCODE_DATA, entry);
                0
            }
            0x0c => {
                self.set(reg::PCODE_DATA, 0);
                0
            }
            other => {
                self.lint(Rule::UnknownPcode, || format!("{other:#x}"));
                1
            }
        };
        self.set(reg::PCODE_MAILBOX, data & !BUSY & !0xff | status);
    }

    /// PSMI_CTL as read: bit 3 shows that the video engine sleeps.
    pub fn psmi_read(&mut self, e: EngineId) -> u32 {
        let stored = self.ring(e, ring::PSMI_CTL);
        if !self.row(e).sleeps {
            return stored;
        }
        let asleep = self.vcs_asleep(e);
        if stored & 1 != 0 {
            self.gt.vcs_countdown = self.gt.vcs_countdown.saturating_sub(1);
        }
        stored | u32::from(asleep) << 3
    }

    /// PSMI_CTL changed: setting bit 0 of an idle video engine begins to wake it.
    pub fn psmi_written(&mut self, e: EngineId, old: u32, new: u32) {
        if self.row(e).sleeps && old & 1 == 0 && new & 1 != 0 {
            self.gt.vcs_rncid = 0;
            self.gt.vcs_countdown = if self.is_idle(e) {
                self.cfg.vcs_wake_reads
            } else {
                0
            };
        }
    }

    /// A half of the video engine's RNCID was written.
    pub fn rncid_written(&mut self, offset: u32) {
        self.gt.vcs_rncid |= if offset == ring::RNCID_LO { 1 } else { 2 };
    }

    /// True if the wake-up handshake wrote the context id, all 64 bits (G-37).
    pub fn rncid_complete(&self) -> bool {
        self.gt.vcs_rncid == 3
    }

    /// True while the video engine, told to wake, does not yet show itself awake.
    pub fn vcs_still_waking(&self) -> bool {
        self.gt.vcs_countdown > 0
    }

    /// True while a tail write would not be noticed.
    pub fn vcs_asleep(&self, e: EngineId) -> bool {
        if self.ring(e, ring::PSMI_CTL) & 1 != 0 {
            self.gt.vcs_countdown > 0
        } else {
            self.is_idle(e) && !self.engines[e as usize].fresh
        }
    }

    /// Invalidates what all engines cached of the global table (GFX_FLSH_CNTL, G-18).
    pub fn flush_global_tlbs(&mut self) {
        self.count(Counter::TlbFlushes);
        for engine in &mut self.engines {
            match &mut engine.mmu {
                Some(mmu) => mmu.flush_global(),
                None => engine.flush_pending = true,
            }
        }
    }

    /// Invalidates everything an engine cached.
    pub fn flush_tlb(&mut self, e: EngineId) {
        self.count(Counter::TlbFlushes);
        let engine = self.engine(e);
        match &mut engine.mmu {
            Some(mmu) => mmu.flush(),
            None => engine.flush_pending = true,
        }
    }

    /// Loads an engine's page directory (PP_DIR_BASE written).
    pub fn load_directory(&mut self, e: EngineId) {
        let base = self.ring(e, ring::PP_DIR_BASE);
        let groups = self.ring(e, ring::PP_DCLV);
        let first = (base >> 16) * 16;
        // The entries that the groups reach must all lie in the table (§2.3.1).
        let top = 32 - groups.leading_zeros();
        if first + top * 16 > self.cx.gtt.len() {
            self.lint(Rule::DirectoryPlace, || format!("{} {base:#x}", e.name()));
        }
        let gtt = self.cx.gtt.clone();
        let engine = self.engine(e);
        match &mut engine.mmu {
            Some(mmu) => mmu.load_directory(&*gtt, base, groups),
            None => engine.directory_pending = true,
        }
    }

    /// A sync flush (INSTPM bit 5): the engine's caches, with bit 9 its TLB, then a toggle of the
    /// status bit (§5.3.11.2). Waits while MI_SUSPEND_FLUSH is in force (VCS PRM 1.2.14).
    pub fn sync_flush(&mut self, e: EngineId) {
        const SYNC: u32 = 1 << 5;
        const TLB: u32 = 1 << 9;
        let v = self.ring(e, ring::INSTPM);
        if v & SYNC == 0 || self.engine(e).suspended_sync {
            return;
        }
        // Gen4: as MI_FLUSH does with all flush types (5.3.11.2).
        let whole = self.cfg.chip.gen4.is_some();
        if whole {
            self.flush_render_cache();
        }
        if whole || v & TLB != 0 {
            self.flush_tlb(e);
        }
        self.flush_cycle();
        self.set_ring(e, ring::INSTPM, v & !TLB);
        // A flush whose bit stays has been done all the same: upstream goes on after 2 ms.
        match self.inject(Kind::StuckFlush, e.name()) {
            Some(us) => {
                let us = if us == 0 { STUCK_FLUSH_US } else { us };
                self.later.flushed = Some((self.in_us(us), e));
            }
            None => self.flush_shows(e),
        }
    }

    /// A sync flush shows that it is done.
    pub fn flush_shows(&mut self, e: EngineId) {
        const SYNC: u32 = 1 << 5;
        let v = self.ring(e, ring::INSTPM);
        if v & SYNC == 0 {
            return;
        }
        self.set_ring(e, ring::INSTPM, v & !SYNC);
        self.flush_done(e);
    }

    /// A flush that the chip tells itself: a write inside of it, of which the number is shown.
    pub fn flush_cycle(&mut self) {
        if self.cfg.chip.ways.flush_cycles {
            self.set(reg::FLUSH_CYCLE, self.get(reg::FLUSH_CYCLE).wrapping_add(1));
        }
    }

    /// Undefined things after a reset: the statistics and the context address (§5.9).
    pub fn poison_render(&mut self) {
        let garbage = self.random();
        self.render.poison(garbage);
        for (offset, _) in self.cfg.chip.context.counts() {
            let v = self.random();
            self.set(*offset, v as u32);
            self.set(offset + 4, (v >> 32) as u32);
        }
        if self.left.ccid {
            return;
        }
        // The address is undefined, the valid bit is not (§5.8.1.1).
        let v = self.random() as u32;
        self.set_ring(EngineId::Rcs, ring::CCID, v & 0xffff_f000);
    }

    /// Which space the streamer's ring and status page are in: always global.
    pub const RING_SPACE: AddressSpace = AddressSpace::Ggtt;
}
