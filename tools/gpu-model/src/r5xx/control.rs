// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Waiting and deciding: WAIT_UNTIL, semaphores, conditions, resync (R5xx guide §4.9, §5.2.4, §5.2.5).

use super::access::Unit;
use super::core::{Core, Origin};
use super::cp::{Lockup, Wait};
use super::gfx::{self, Cache};
use super::lint::Rule;
use super::microcode::SEMAPHORES;
use super::pipes::Reach;
use super::regs::reg;

/// WAIT_UNTIL (digest §3.2).
mod until {
    /// Display events: page flips, lines. There is no display that could have one.
    pub const DISPLAY: u32 = 0xf | 1 << 11 | 1 << 30;
    pub const DMA_VID_IDLE: u32 = 1 << 8;
    pub const DMA_GUI_IDLE: u32 = 1 << 9;
    /// Idle, and idle with clean caches.
    pub const IDLE_2D: u32 = 1 << 14 | 1 << 16;
    pub const IDLE_3D: u32 = 1 << 15 | CLEAN_3D | 1 << 28;
    pub const CLEAN_3D: u32 = 1 << 17;
}

/// Entries of the resync FIFO (§4.9).
const RESYNC: usize = 8;
/// RB3D_DSTCACHE_CTLSTAT: a pulse when the colour caches are done (digest §3.5).
const DC_FINISH: u32 = 1 << 4;
/// The colour caches are flushed: 1:0 = 2. ZB_ZCACHE_CTLSTAT: bit 0.
const DC_FLUSH: u32 = 2;
const ZC_FLUSH: u32 = 1;

impl Core {
    /// WAIT_UNTIL is written. The gate is between the command processor and its clients: who writes
    /// it from outside waits for nothing.
    pub fn wait_until(&mut self, data: u32, origin: Origin) {
        if !matches!(origin, Origin::Cp(_)) {
            return;
        }
        if data & until::DISPLAY != 0 {
            self.notes
                .lint(Rule::ImpossibleWait, || format!("{data:#010x}"));
            self.lock_up(Lockup::Wait);
            return;
        }
        if !self.wait_over(Wait::Until(data)) {
            self.cp.wait = Some(Wait::Until(data));
        }
        // The rest of the stream comes after the wait.
        if data & until::CLEAN_3D != 0 {
            self.gfx.three.clean();
        }
    }

    /// True if what the command processor waits for has come.
    pub fn wait_over(&mut self, wait: Wait) -> bool {
        match wait {
            Wait::Until(bits) => {
                let busy = |mask: u32, busy: bool| bits & mask != 0 && busy;
                let two_d = busy(until::IDLE_2D, self.gfx.busy_2d());
                let three_d = busy(until::IDLE_3D, self.gfx.busy_3d() || self.gfx.vap_stuck());
                let gui = busy(until::DMA_GUI_IDLE, self.dma.gui_active());
                let vid = busy(until::DMA_VID_IDLE, self.dma.vid_active());
                !(two_d || three_d || gui || vid)
            }
            Wait::Semaphore { slot, then } => {
                if self.cp.me.semaphore(slot) != 0 {
                    return false;
                }
                if let Some(value) = then {
                    self.cp.me.set_semaphore(slot, value);
                }
                true
            }
            Wait::Memory(addr) => self.semaphore_memory(addr),
            Wait::Draw => self.gfx.room() && !self.gfx.vap_stuck(),
            Wait::Dma => self.dma.room(),
        }
    }

    /// Looks at a semaphore in memory: a value, and the constant 2 (§5.2.5.2).
    fn semaphore_memory(&mut self, addr: u64) -> bool {
        let value = self.mc.read32(Unit::Wait, addr);
        let companion = self.mc.read32(Unit::Wait, addr + 4);
        self.after_access();
        if companion != 2 {
            self.notes
                .lint(Rule::WaitMemShape, || format!("companion {companion:#x}"));
            self.lock_up(Lockup::Wait);
        }
        value == 0
    }

    /// WAIT_SEMAPHORE: slot, and the value that it gets afterwards.
    pub fn wait_semaphore(&mut self, body: &[u32]) {
        let slot = body.first().copied().unwrap_or(0);
        if !(SEMAPHORES..=0xff).contains(&slot) {
            self.notes
                .lint(Rule::SemaphoreSlot, || format!("{slot:#x}"));
            return;
        }
        let wait = Wait::Semaphore {
            slot,
            then: body.get(1).copied(),
        };
        if !self.wait_over(wait) {
            self.cp.wait = Some(wait);
        }
    }

    /// WAIT_MEM: address and length, which is 2.
    pub fn wait_mem(&mut self, level: usize, body: &[u32]) {
        let &[addr, len] = body else {
            self.notes
                .lint(Rule::WaitMemShape, || format!("{} dwords", body.len()));
            self.lock_up(Lockup::Wait);
            return;
        };
        if self.borrow_ib2(level) {
            return;
        }
        if len != 2 {
            self.notes
                .lint(Rule::WaitMemShape, || format!("length {len}"));
            self.lock_up(Lockup::Wait);
            return;
        }
        let wait = Wait::Memory(u64::from(addr & !3));
        if !self.wait_over(wait) {
            self.cp.wait = Some(wait);
        }
    }

    /// COND_EXEC: the address of a condition, 2, and how many dwords it guards. The document prints
    /// no address (GARBLE 3): such a packet guards nothing.
    pub fn cond_exec(&mut self, level: usize, body: &[u32]) {
        if self.borrow_ib2(level) {
            return;
        }
        let (addr, count) = match *body {
            [addr, 2, count] => (addr, count),
            _ => {
                self.notes
                    .lint(Rule::CondExecAddress, || format!("{body:x?}"));
                return;
            }
        };
        if self.mc.read32(Unit::Wait, u64::from(addr & !3)) == 0 {
            self.cp.streams.all[level].skip = count & 0x7f_ffff;
        }
    }

    /// PRED_EXEC: the dwords that follow are for some devices only; this is the first (§5.2.4).
    pub fn pred_exec(&mut self, level: usize, body: &[u32]) {
        let word = body.first().copied().unwrap_or(0);
        if word >> 24 & 1 == 0 {
            self.cp.streams.all[level].skip = word & 0x7f_ffff;
        }
    }

    /// Packets that fetch by the second indirect buffer cannot be in it (§5.2.5). True if it is so.
    pub fn borrow_ib2(&mut self, level: usize) -> bool {
        if level < 2 {
            return false;
        }
        self.notes.lint(Rule::NestedWait, String::new);
        self.lock_up(Lockup::Stream);
        true
    }

    /// CP_RESYNC_DATA is written: an entry with the number that is in CP_RESYNC_ADDR (§4.9).
    pub fn resync_written(&mut self, data: u32) {
        if self.cp.resync.len() >= RESYNC {
            self.notes
                .lint(Rule::ResyncOverflow, || format!("{data:#x}"));
            return;
        }
        let scratch = self.get(reg::CP_RESYNC_ADDR) & 7;
        self.cp.resync.push_back((scratch, data));
    }

    /// RB3D_DSTCACHE_CTLSTAT: flush, free, and a pulse that lets a resync value out.
    pub fn colour_cache(&mut self, data: u32, reach: Reach) {
        self.watch_reach(reg::RB3D_DSTCACHE_CTLSTAT, reach);
        if data & DC_FLUSH != 0 {
            self.flush_pixels(Cache::Colour, reach);
        }
        if data & DC_FINISH != 0 && reach.mask != 0 {
            if let Some((scratch, value)) = self.cp.resync.pop_front() {
                self.set(reg::SCRATCH_REG0 + 4 * scratch, value);
                self.scratch_written(scratch);
            }
        }
    }

    /// ZB_ZCACHE_CTLSTAT: flush, free.
    pub fn depth_cache(&mut self, data: u32, reach: Reach) {
        self.watch_reach(reg::ZB_ZCACHE_CTLSTAT, reach);
        if data & ZC_FLUSH != 0 {
            self.flush_pixels(Cache::Depth, reach);
        }
    }

    /// The software interrupt is raised by a stream: all that it tells of must be in memory (§4.9: a
    /// scratch register says only that the stream was parsed so far).
    pub fn watch_fence(&mut self) {
        self.watch_missed();
        let what = match self.gfx.unfinished() {
            gfx::Unfinished::Nothing => return,
            gfx::Unfinished::Busy => "a unit is busy",
            gfx::Unfinished::Dirty => "a cache is dirty",
        };
        self.notes.lint(Rule::EarlyInterrupt, || what.to_owned());
    }
}
