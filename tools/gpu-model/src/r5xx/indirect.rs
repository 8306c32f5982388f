// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers behind an index and a data register: memory controller, PCIE, PLLs; and MM_INDEX, which
//! reaches all registers and all of video memory (digest §5.1, §5.2).

use super::chip::Chip;
use super::config::MMIO_SIZE;
use super::core::Core;
use super::mc::{Gart, Unmapped};
use super::regs::reg;
use crate::counters::Counter;
use crate::fault::Kind;

/// PCIE registers.
mod pcie {
    pub const GART_CNTL: usize = 0x10;
    pub const DISCARD_LO: usize = 0x11;
    pub const BASE: usize = 0x13;
    pub const START_LO: usize = 0x14;
    pub const START_HI: usize = 0x15;
    pub const END_LO: usize = 0x16;
    pub const END_HI: usize = 0x17;
    pub const ERROR: usize = 0x18;
    pub const LINK_WIDTH: usize = 0xa2;

    /// GART_CNTL.
    pub const ENABLE: u32 = 1 << 0;
    pub const CHECK_VALID: u32 = 1 << 5;
    pub const INVALIDATE: u32 = 1 << 8;
}

/// Number of PCIE registers.
const PCIE: usize = 0x800;
/// Number of memory controller registers.
const MC: usize = 0x100;
/// Number of PLL registers.
const PLL: usize = 0x40;

/// Where the report counts undocumented registers of the three files.
const REPORT_PCIE: u32 = 0x1_0000;
const REPORT_MC: u32 = 0x2_0000;

/// MC_IND_INDEX: the access is a write.
const MC_WRITE: u32 = 1 << 23;
/// CLOCK_CNTL_INDEX: the data register may be written.
const PLL_WRITE: u32 = 1 << 7;
/// MM_INDEX: the address is one of video memory.
const MM_MEMORY: u32 = 1 << 31;

/// What lies behind the data registers.
pub(crate) struct Indirect {
    pcie: Vec<u32>,
    mc: [u32; MC],
    pll: [u32; PLL],
}

impl Indirect {
    pub fn new(chip: &Chip) -> Self {
        let mut all = Indirect {
            pcie: vec![0; PCIE],
            mc: [0; MC],
            pll: [0; PLL],
        };
        let (status, idle) = chip.mc.status;
        all.mc[usize::from(status)] = idle;
        let (control, width) = chip.mc.control;
        all.mc[usize::from(control)] = width;
        // Sixteen lanes (6:4 of the link's width).
        all.pcie[pcie::LINK_WIDTH] = 6 << 4;
        all
    }

    /// The GART's registers are at their reset values again.
    pub fn forget_gart(&mut self) {
        let registers = self.pcie.iter_mut().take(pcie::ERROR + 1);
        registers.skip(pcie::GART_CNTL).for_each(|r| *r = 0);
    }

    /// The first failed access stays until software writes the register; the layout is not known:
    /// the page's address, bit 0 a write, bit 1 valid.
    pub fn latch_gart_error(&mut self, addr: u64, write: bool) {
        let error = &mut self.pcie[pcie::ERROR];
        if *error == 0 {
            *error = (addr as u32 & !0xfff) | 2 | u32::from(write);
        }
    }
}

impl Core {
    fn pcie_index(&self) -> usize {
        (self.get(reg::PCIE_INDEX) as usize) & (PCIE - 1)
    }

    /// PCIE_DATA is read.
    pub fn pcie_read(&mut self) -> u32 {
        let n = self.pcie_index();
        if !(pcie::GART_CNTL..=pcie::ERROR).contains(&n) && n != pcie::LINK_WIDTH {
            self.notes.undocumented(REPORT_PCIE | n as u32, false);
        }
        self.indirect.pcie.get(n).copied().unwrap_or(0)
    }

    /// PCIE_DATA is written.
    pub fn pcie_write(&mut self, data: u32) {
        let n = self.pcie_index();
        if !(pcie::GART_CNTL..=pcie::ERROR).contains(&n) && n != pcie::LINK_WIDTH {
            self.notes.undocumented(REPORT_PCIE | n as u32, true);
        }
        if let Some(v) = self.indirect.pcie.get_mut(n) {
            *v = data;
        }
        if n == pcie::GART_CNTL && data & pcie::INVALIDATE != 0 {
            self.notes.count(Counter::TlbFlushes);
            self.mc.flush();
        }
        let was_on = self.mc.gart.enabled;
        self.gart_changed();
        if self.mc.gart.enabled && !was_on {
            self.watch_gart_on();
        }
    }

    /// Takes over the GART's registers.
    pub fn gart_changed(&mut self) {
        let p = |n: usize| self.indirect.pcie.get(n).copied().unwrap_or(0);
        let wide = |lo: usize, hi: usize| u64::from(p(hi)) << 32 | u64::from(p(lo));
        let control = p(pcie::GART_CNTL);
        self.mc.gart = Gart {
            enabled: control & pcie::ENABLE != 0,
            unmapped: match control >> 1 & 3 {
                0 => Unmapped::PassThrough,
                1 => Unmapped::ClampLow,
                _ => Unmapped::Discard,
            },
            check: control & pcie::CHECK_VALID != 0,
            start: wide(pcie::START_LO, pcie::START_HI),
            last_page: wide(pcie::END_LO, pcie::END_HI),
            table: u64::from(p(pcie::BASE)),
            discard: u64::from(p(pcie::DISCARD_LO)),
        };
    }

    /// MC_IND_DATA is read.
    pub fn mc_data_read(&mut self) -> u32 {
        let n = self.get(reg::MC_IND_INDEX) & 0xffff;
        self.mc_named(n, false);
        let value = self.indirect.mc.get(n as usize).copied().unwrap_or(0);
        let (status, idle) = self.cfg.chip.mc.status;
        if n == u32::from(status) && self.notes.inject(Kind::BusyMc, "").is_some() {
            return value & !idle;
        }
        value
    }

    /// MC_IND_DATA is written: only with the index's write bit.
    pub fn mc_data_write(&mut self, data: u32) {
        let index = self.get(reg::MC_IND_INDEX);
        let n = index & 0xffff;
        self.mc_named(n, true);
        if let (true, Ok(n)) = (index & MC_WRITE != 0, u8::try_from(n)) {
            self.mc_ind_write(n, data);
        }
    }

    fn mc_named(&mut self, n: u32, write: bool) {
        let layout = &self.cfg.chip.mc;
        let known = [
            layout.fb_location,
            layout.agp[0],
            layout.agp[1],
            layout.agp[2],
            layout.status.0,
            layout.control.0,
        ];
        if !known.iter().any(|k| u32::from(*k) == n) {
            self.notes.undocumented(REPORT_MC | n, write);
        }
    }

    /// A memory controller register takes a value. Status is read-only.
    pub fn mc_ind_write(&mut self, n: u8, data: u32) {
        let layout = &self.cfg.chip.mc;
        if n == layout.status.0 {
            return;
        }
        self.indirect.mc[usize::from(n)] = data;
        if n == layout.fb_location {
            // 15:0 first and 31:16 last 64 KB.
            let (first, last) = (u64::from(data & 0xffff), u64::from(data >> 16));
            self.mc.fb = (first << 16, last << 16 | 0xffff);
        }
    }

    /// CLOCK_CNTL_DATA is read.
    pub fn pll_read(&self) -> u32 {
        let n = self.get(reg::CLOCK_CNTL_INDEX) as usize & (PLL - 1);
        self.indirect.pll[n]
    }

    /// CLOCK_CNTL_DATA is written.
    pub fn pll_write(&mut self, data: u32) {
        let index = self.get(reg::CLOCK_CNTL_INDEX);
        if index & PLL_WRITE != 0 {
            self.watch_clocks(index & (PLL as u32 - 1), data);
            self.indirect.pll[index as usize & (PLL - 1)] = data;
        }
    }

    /// MM_DATA is read: video memory, or a register.
    pub fn mm_read(&mut self) -> u32 {
        let index = self.get(reg::MM_INDEX);
        let at = index & !MM_MEMORY & !3;
        if index & MM_MEMORY != 0 {
            self.notes.count(Counter::ApertureReads);
            let mut b = [0; 4];
            self.mc.vram().cpu_read(u64::from(at), &mut b);
            return u32::from_le_bytes(b);
        }
        match at {
            // An index of itself would never end.
            reg::MM_INDEX | reg::MM_DATA => 0,
            _ if at < MMIO_SIZE => self.reg_read(at),
            _ => {
                self.notes.undocumented(at, false);
                0
            }
        }
    }

    /// MM_DATA is written.
    pub fn mm_write(&mut self, data: u32) {
        let index = self.get(reg::MM_INDEX);
        let at = index & !MM_MEMORY & !3;
        if index & MM_MEMORY != 0 {
            self.notes.count(Counter::ApertureWrites);
            self.mc.vram().cpu_write(u64::from(at), &data.to_le_bytes());
            return;
        }
        match at {
            reg::MM_INDEX | reg::MM_DATA => {}
            _ if at < MMIO_SIZE => self.reg_write(at, data, super::core::Origin::Cpu),
            _ => self.notes.undocumented(at, true),
        }
    }
}
