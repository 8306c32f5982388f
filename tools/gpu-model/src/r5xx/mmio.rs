// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Register reads and writes with their effects. The command processor and the CPU take the same way: a register
//! triggers for either (R5xx guide §4.3; digest B7).

use super::core::{Core, Origin};
use super::lint::Rule;
use super::regs::{self, reg, Class};
use super::{surface, three_d};
use crate::counters::Counter;
use crate::fault::Kind;

/// RBBM_STATUS (digest §3.2).
mod status {
    pub const FIFO_FREE: u32 = 64;
    /// A request that is under way, and the host's side busy: the read itself. Every log of these chips
    /// has 0x10000140 after a reset.
    pub const READING: u32 = 1 << 8 | 1 << 28;
    pub const CP_STREAM: u32 = 1 << 16;
    pub const E2: u32 = 1 << 17;
    pub const RB2D: u32 = 1 << 18;
    pub const RB3D: u32 = 1 << 19;
    pub const VAP: u32 = 1 << 20;
    pub const GA: u32 = 1 << 26;
    pub const GUI_ACTIVE: u32 = 1 << 31;
}

/// Cache control registers: bit 31 shows that the cache is busy.
const CACHE_BUSY: u32 = 1 << 31;

impl Core {
    pub fn count_access(&mut self, offset: u32, write: bool) {
        self.notes.count(if write {
            Counter::RegWrites
        } else {
            Counter::RegReads
        });
        match offset {
            reg::GEN_INT_CNTL | reg::GEN_INT_STATUS | reg::MSI_REARM_EN => {
                self.notes.count(Counter::IrqAccesses)
            }
            0x0700..=0x07ff => {
                self.notes.count(Counter::CpAccesses);
                if write && offset == reg::CP_RB_WPTR {
                    self.notes.count(Counter::WptrWrites);
                }
            }
            _ => {}
        }
    }

    /// Reads a register.
    pub fn reg_read(&mut self, offset: u32) -> u32 {
        match regs::class(offset) {
            None => {
                self.notes.undocumented(offset, false);
                return 0;
            }
            Some(Class::Display) => self.notes.count(Counter::DisplayAccesses),
            Some(_) => {}
        }
        match offset {
            reg::MM_DATA => self.mm_read(),
            reg::CLOCK_CNTL_DATA => self.pll_read(),
            reg::PCIE_DATA => self.pcie_read(),
            reg::MC_IND_DATA => self.mc_data_read(),
            reg::CP_ME_RAM_ADDR..=reg::CP_ME_RAM_DATAL => self.me_read(offset),
            reg::CP_STAT | reg::CP_CSQ_STAT | reg::CP_CSQ2_STAT => self.informs(offset),
            reg::CP_RB_RPTR => {
                let value = self.get(offset);
                self.garbled(value)
            }
            reg::RBBM_STATUS => {
                let value = self.rbbm_status();
                let told = self.garbled(value);
                self.status_garbled = told != value;
                told
            }
            reg::DMA_GUI_STATUS | reg::DMA_VID_STATUS => self.dma_status(offset),
            reg::DST_PIPE_CONFIG => self.pipe_config(),
            reg::DSTCACHE_CTLSTAT | reg::RB2D_DSTCACHE_CTLSTAT if self.gfx.busy_2d() => {
                self.get(offset) | CACHE_BUSY
            }
            reg::RB3D_DSTCACHE_CTLSTAT | reg::ZB_ZCACHE_CTLSTAT if self.gfx.busy_3d() => {
                self.get(offset) | CACHE_BUSY
            }
            reg::VAP_CNTL_STATUS if self.gfx.busy_3d() => self.get(offset) | CACHE_BUSY,
            reg::VAP_PVS_VECTOR_DATA => self.pvs_read(),
            _ => self.get(offset),
        }
    }

    /// A read of what says how far the chip is; an injected fault makes nonsense of it.
    fn garbled(&mut self, value: u32) -> u32 {
        match self.notes.inject(Kind::GarbageRead, "cp") {
            Some(_) => self.notes.random() as u32,
            None => value,
        }
    }

    /// Registers that only inform; an injected fault makes nonsense of them, but never all ones,
    /// which would be a card that is gone.
    fn informs(&mut self, offset: u32) -> u32 {
        if self.notes.inject(Kind::GarbageStatus, "cp").is_some() {
            return self.notes.random() as u32 & !(1 << 7);
        }
        match offset {
            reg::CP_STAT => self.cp_stat(),
            // At rest these are places in the queue's own memory, the same on every chip whatever it has done,
            // and others after a reset (witnesses RW09, RW11).
            reg::CP_CSQ_STAT if !self.cp_busy() => {
                if self.get(reg::CP_RB_RPTR) == 0 {
                    0x1000_0000
                } else {
                    0x1000_0c03
                }
            }
            reg::CP_CSQ_STAT => {
                (self.get(reg::CP_RB_RPTR) & 0x3ff)
                    | (self.get(reg::CP_RB_WPTR) & 0x3ff) << 10
                    | (self.cp.position(1) & 0x3ff) << 20
            }
            _ => (self.cp.position(2) & 0x3ff) << 10,
        }
    }

    /// RBBM_STATUS: who is busy, and the room in the command FIFO.
    fn rbbm_status(&mut self) -> u32 {
        let mut value = status::FIFO_FREE | status::READING;
        let mut any = false;
        let mut show = |busy: bool, bits: u32| {
            if busy {
                value |= bits;
                any = true;
            }
        };
        show(self.gfx.busy_2d(), status::E2 | status::RB2D);
        show(self.gfx.busy_3d(), status::RB3D | status::VAP | status::GA);
        show(self.gfx.vap_stuck(), status::VAP);
        show(self.cp_busy(), status::CP_STREAM);
        if any {
            value |= status::GUI_ACTIVE;
        } else {
            self.pipes_step = None;
        }
        value
    }

    /// A register write with its effects.
    pub fn reg_write(&mut self, offset: u32, data: u32, origin: Origin) {
        match regs::class(offset) {
            None => {
                self.unknown_write(offset);
                return;
            }
            Some(Class::Host) if self.notes.client && !self.is_torn() => {
                // What lets this pass is the driver.
                self.notes.client = false;
                self.notes.lint(Rule::PrivilegedRegister, || {
                    format!(
                        "{} {offset:#06x} {data:#010x}",
                        regs::name(offset).unwrap_or("?")
                    )
                });
                self.notes.client = true;
            }
            Some(Class::Display) => self.notes.count(Counter::DisplayAccesses),
            Some(_) => {}
        }
        let old = self.get(offset);
        let reach = self.reach(offset);
        self.watch_pipes(offset, origin);
        match offset {
            reg::GEN_INT_STATUS => {
                self.int_status_written(data, matches!(origin, Origin::Cp(_)));
                return;
            }
            reg::VAP_PORT_DATA0..reg::VAP_PORT_END | reg::VAP_PORT_DATA_IDX_128 => {
                self.vertex_port(data);
                return;
            }
            reg::HOST_DATA0..=reg::HOST_DATA_LAST => {
                self.host_data(data);
                return;
            }
            reg::CP_CSQ_APER_PRIMARY..reg::CP_CSQ_APER_END => {
                self.push_data(offset, data);
                return;
            }
            _ => self.store(offset, data, reach),
        }
        match offset {
            reg::MM_DATA => self.mm_write(data),
            reg::CLOCK_CNTL_DATA => self.pll_write(data),
            reg::PCIE_DATA => self.pcie_write(data),
            reg::MC_IND_DATA => self.mc_data_write(data),
            reg::GEN_INT_CNTL => self.update_line(),
            reg::RBBM_SOFT_RESET => self.soft_reset(data),
            reg::MSI_REARM_EN if data & 1 != 0 => self.msi_rearm(),
            reg::CP_RB_BASE | reg::CP_RB_CNTL if old != self.get(offset) => {
                self.ring_changed(offset)
            }
            reg::CP_RB_WPTR => self.wptr_written(),
            reg::CP_CSQ_CNTL => self.mode_written(old),
            reg::CP_IB_BUFSZ | reg::CP_IB2_BUFSZ => self.indirect_start(offset, origin),
            reg::CP_RESYNC_DATA => self.resync_written(data),
            reg::CP_GUI_COMMAND => self.dma_direct(),
            reg::DMA_GUI_TABLE_ADDR | reg::DMA_VID_TABLE_ADDR => self.dma_table(offset, data),
            reg::DMA_GUI_STATUS | reg::DMA_VID_STATUS => self.dma_abort(offset, data),
            reg::CP_ME_RAM_ADDR..=reg::CP_ME_RAM_DATAL => self.me_write(offset, data),
            reg::SURFACE_CNTL..reg::SURFACE_END => self.surface_written(offset, old),
            reg::SCRATCH_REG0..=0x15fc => {
                if matches!(origin, Origin::Cp(_)) && !self.notes.client {
                    self.watch_missed();
                }
                self.scratch_written((offset - reg::SCRATCH_REG0) / 4)
            }
            reg::DST_HEIGHT_WIDTH | reg::DST_WIDTH_HEIGHT => self.rectangle_trigger(offset),
            reg::DST_LINE_END => self.line_trigger(),
            reg::SRC_PITCH_OFFSET | reg::DST_PITCH_OFFSET => self.gfx.named_2d(offset),
            reg::DEFAULT_OFFSET | reg::DEFAULT_PITCH => self.gfx.default_set = true,
            reg::DP_GUI_MASTER_CNTL => self.master_control(data),
            reg::DP_CNTL => self.gfx.two.directions = None,
            reg::DP_CNTL_XDIR_YDIR_YMAJOR => self.gfx.directions_2d(data),
            reg::DSTCACHE_CTLSTAT | reg::RB2D_DSTCACHE_CTLSTAT => self.gfx.flush_2d(data),
            reg::RB3D_DSTCACHE_CTLSTAT => self.colour_cache(data, reach),
            reg::ZB_ZCACHE_CTLSTAT => self.depth_cache(data, reach),
            reg::TX_INVALTAGS => self.watch_reach(offset, reach),
            _ if origin != Origin::Cpu && three_d::is_unpipelined(offset) => {
                self.target_written(offset, old)
            }
            reg::WAIT_UNTIL => self.wait_until(data, origin),
            reg::VAP_VF_CNTL => self.vf_cntl_written(data),
            reg::VAP_PVS_VECTOR_INDX => self.pvs_index(data),
            reg::VAP_PVS_VECTOR_DATA | reg::VAP_PVS_VECTOR_DATA_128 => self.pvs_write(data),
            reg::GA_US_VECTOR_INDEX | reg::GA_US_VECTOR_DATA => self.us_write(offset, data, reach),
            reg::ZB_ZPASS_DATA | reg::ZB_ZPASS_ADDR => self.zpass(offset, data, reach),
            _ => {}
        }
    }

    fn unknown_write(&mut self, offset: u32) {
        if self.notes.client {
            self.notes
                .lint(Rule::ClientRegister, || format!("{offset:#06x}"));
        } else {
            self.notes.undocumented(offset, true);
        }
    }

    fn surface_written(&mut self, offset: u32, old: u32) {
        // Clearing what is clear already, as a driver does at start, moves no bytes.
        let used = (offset - reg::SURFACE_CNTL) / 0x10 <= surface::SURFACES;
        if used && old != self.get(offset) {
            self.surfaces_changed();
        }
    }
}
