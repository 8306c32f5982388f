// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What real cards do and a kind one spares its driver: each habit can be chosen for itself.
//!
//! None of it stands in the guide. Each is what the upstream driver takes care of, and why ([`Real`]).
//! What a card does by accident and not by habit is an injected fault: one that comes out of sleep
//! un-posted (`unposted`), a memory controller that is never idle (`busy-mc`).

use super::core::{Core, Origin};
use super::irq::bit;
use super::lint::Rule;
use super::regs::{self, reg};
use super::reset::block;
use crate::fault::Kind;
use crate::pci;

crate::habits! {
    /// Habits of real cards, all off in a kind one.
    pub struct Real {
        /// A soft reset of the memory controller forgets where memory is, the GART, the host's path and the
        /// pipes' set-up. Upstream programs all of it after each reset.
        forgets,
        /// Bus mastering is watched: it must be off while the command processor or the memory controller is
        /// reset. Upstream takes it away first, since the computer can lock up for good.
        master,
        /// The set-up of the pipes is watched: its registers are written while drawing is idle, the drawing
        /// side is seen idle between its steps, and the clocks go to the pipe that is in use. Upstream waits
        /// three times; without, some cards lock up.
        pipes,
        /// Firmware leaves its surfaces on over the beginning of video memory, and the VGA's window on memory
        /// open at address 0. Upstream clears surfaces at the very beginning, and moves the window.
        leftovers,
        /// GEN_INT_STATUS shows events of the display and of drawing, whose interrupts are off: ones do not
        /// clear them.
        foreign,
        /// Packets of rectangles go as DP_CNTL says, like operations by registers: to the left and upwards their
        /// place is the far corner. No source says whether they do. A driver that states DP_CNTL before its
        /// copies need not know.
        directed,
    }
}

/// Steps of the pipes' set-up (digest §5.2, "pipes").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setup {
    /// GA_ENHANCE.
    Enhance,
    /// Which pipes there are and how the screen is cut: SU_REG_DEST, GB_TILE_CONFIG, GB_PIPE_SELECT.
    Select,
    /// The 2D side: DST_PIPE_CONFIG, RB2D_DSTCACHE_MODE.
    TwoD,
}

impl Setup {
    fn of(offset: u32) -> Option<Setup> {
        match offset {
            reg::GA_ENHANCE => Some(Setup::Enhance),
            reg::SU_REG_DEST | reg::GB_TILE_CONFIG | reg::GB_PIPE_SELECT => Some(Setup::Select),
            reg::DST_PIPE_CONFIG | reg::RB2D_DSTCACHE_MODE => Some(Setup::TwoD),
            _ => None,
        }
    }
}

/// DST_PIPE_CONFIG: the chip finds out by itself which pipe is in use, and says it in 3:2.
const AUTO_CONFIG: u32 = 1 << 31;
const CURRENT: u32 = 3 << 2;
/// PLL register DYN_SCLK_PWMEM_PIPE: 3:0 the pipe in use, 7:4 those that there are (digest §5.2).
const PIPE_CLOCKS: u32 = 0x0d;
/// VGA_HDP_CONTROL: no memory behind the VGA's window.
const VGA_MEMORY_DISABLE: u32 = 1 << 4;

impl Core {
    /// At power-on: whether the card's firmware has run. If not, nothing knows its memory.
    pub fn post(&mut self) {
        let noise = self.notes.inject(Kind::Unposted, "").is_some();
        self.mc.vram().set_noise(noise);
        if !noise {
            return;
        }
        self.mc.vram().fill_with_garbage(self.cfg.seed);
        self.set(reg::CONFIG_MEMSIZE, 0);
        self.set(reg::CONFIG_APER_SIZE, 0);
        self.mc_ind_write(self.cfg.chip.mc.control.0, 0);
        self.mc_ind_write(self.cfg.chip.mc.fb_location, 0);
    }

    /// Leaves the state that firmware leaves, besides what it must set.
    pub fn leave_behind(&mut self) {
        let real = self.cfg.real;
        if real.leftovers {
            // One picture of 1024 by 256 pixels of 32 bits, in tiles of both kinds: 200h times 8 bytes in a row.
            self.set(reg::SURFACE0_LOWER, 0);
            self.set(reg::SURFACE0_LOWER + 4, 0xf_ffff);
            self.set(reg::SURFACE0_LOWER + 8, 3 << 16 | 0x200);
        }
        if real.foreign {
            self.set(reg::GEN_INT_STATUS, bit::DISPLAY | bit::GUI_IDLE);
        }
    }

    /// Events that a one in GEN_INT_STATUS does not clear.
    pub fn foreign_events(&self) -> u32 {
        if !self.cfg.real.foreign {
            return 0;
        }
        // The display's is a sum of what other registers hold.
        bit::DISPLAY | (bit::GUI_IDLE & !self.get(reg::GEN_INT_CNTL))
    }

    /// RBBM_SOFT_RESET is written: what must be so before.
    pub fn watch_reset(&mut self, value: u32) {
        let on = self.pci.word(pci::COMMAND) & pci::COMMAND_MASTER != 0;
        if self.cfg.real.master && on && value & (block::CP | block::MC) != 0 {
            self.notes
                .lint(Rule::ResetMastering, || format!("{value:#06x}"));
        }
    }

    /// The memory controller is reset: what it forgets.
    pub fn reset_mc(&mut self) {
        if !self.cfg.real.forgets {
            return;
        }
        let layout = &self.cfg.chip.mc;
        for n in [
            layout.fb_location,
            layout.agp[0],
            layout.agp[1],
            layout.agp[2],
        ] {
            self.mc_ind_write(n, 0);
        }
        self.indirect.forget_gart();
        self.gart_changed();
        self.mc.flush();
        for offset in [
            reg::HOST_PATH_CNTL,
            reg::HDP_FB_LOCATION,
            reg::GA_ENHANCE,
            reg::SU_REG_DEST,
            reg::GB_TILE_CONFIG,
            reg::DST_PIPE_CONFIG,
            reg::RB2D_DSTCACHE_MODE,
        ] {
            self.set(offset, regs::reset_value(offset));
        }
    }

    /// The GART begins to translate: what it finds its table in.
    pub fn watch_gart_on(&mut self) {
        if self.mc.vram().is_noise() {
            self.notes.lint(Rule::GartOverNoise, String::new);
        }
        if !self.cfg.real.leftovers {
            return;
        }
        let base = u64::from(self.get(reg::VGA_MEMORY_BASE));
        let open = self.get(reg::VGA_HDP_CONTROL) & VGA_MEMORY_DISABLE == 0;
        if open && !(self.mc.fb.0..=self.mc.fb.1).contains(&base) {
            self.notes.lint(Rule::VgaMemory, || format!("{base:#x}"));
        }
        let table = self.mc.gart.table.wrapping_sub(self.mc.fb.0);
        if self.mc.vram().is_reordered(table) {
            self.notes
                .lint(Rule::TableInSurface, || format!("{table:#x}"));
        }
    }

    /// A register of the pipes' set-up is written. Nothing is told if a fault keeps the chip busy, by a reset
    /// that it swallows (upstream goes on, too, with a warning), or hides that it is, in RBBM_STATUS.
    pub fn watch_pipes(&mut self, offset: u32, origin: Origin) {
        let watched = self.cfg.real.pipes && !self.reset_lost && !self.status_garbled;
        let Some(step) = Setup::of(offset).filter(|_| watched) else {
            return;
        };
        // A stream's queries take pipes away and give them back, in the order of drawing.
        let in_order = offset == reg::SU_REG_DEST && matches!(origin, Origin::Cp(_));
        let busy = self.gfx.busy_2d() || self.gfx.busy_3d();
        if !in_order && (busy || (origin == Origin::Cpu && self.cp_busy())) {
            self.notes
                .lint(Rule::PipesBusy, || format!("{offset:#06x}"));
        }
        if origin == Origin::Cpu {
            if self.pipes_step.is_some_and(|before| before != step) {
                self.pipes_unwaited(offset);
            }
            self.pipes_step = Some(step);
        }
    }

    /// Something relies on the pipes' set-up.
    pub fn need_pipes(&mut self, offset: u32) {
        if self.pipes_step.is_some() {
            self.pipes_unwaited(offset);
        }
    }

    fn pipes_unwaited(&mut self, offset: u32) {
        self.pipes_step = None;
        if self.reset_lost || self.status_garbled {
            return;
        }
        self.notes
            .lint(Rule::PipesUnwaited, || format!("{offset:#06x}"));
    }

    /// DST_PIPE_CONFIG as it reads: the pipe in use is known once the chip looks for it itself.
    pub fn pipe_config(&self) -> u32 {
        let value = self.get(reg::DST_PIPE_CONFIG) & !CURRENT;
        let current = if value & AUTO_CONFIG != 0 {
            self.first_pipe() << 2
        } else {
            CURRENT
        };
        value | current
    }

    /// The first of the pipes that there are (GB_PIPE_SELECT 11:8).
    fn first_pipe(&self) -> u32 {
        (self.cfg.chip.pipe_select >> 8 & 15).trailing_zeros() & 3
    }

    /// A PLL register is written: clocks of pipes.
    pub fn watch_clocks(&mut self, n: u32, data: u32) {
        if n != PIPE_CLOCKS || !self.cfg.real.pipes {
            return;
        }
        self.need_pipes(reg::CLOCK_CNTL_DATA);
        let right = 1 << self.first_pipe() | (self.cfg.chip.pipe_select >> 8 & 15) << 4;
        if data & 0xff != right {
            self.notes
                .lint(Rule::PipeClock, || format!("{data:#x}, not {right:#x}"));
        }
    }
}
