// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The device's state, and the small services that all its parts use.

use super::config::{pci_config, R5xxConfig};
use super::cp::Cp;
use super::dma::Dma;
use super::gfx::Gfx;
use super::indirect::Indirect;
use super::later::Later;
use super::lint::Rule;
use super::mc::Mc;
use super::pipes::Pipes;
use super::real::Setup;
use super::regs::{self, reg};
use super::vram::Vram;
use crate::clock::Clock;
use crate::counters::Counter;
pub(crate) use crate::device::StepResult as Step;
use crate::fault::Kind;
use crate::memory::GuestMemory;
use crate::model::IrqSink;
use crate::notes::Notes;
use crate::pci::{self, PciConfig};
use crate::test_capability::TestCapability;
use crate::trace::Event;
use std::sync::Arc;

/// The engines by name: of faults, and of the test capability in this order.
pub const ENGINES: [&str; 3] = ["cp", "2d", "dma"];

/// Who accesses a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The CPU.
    Cpu,
    /// The command processor; true if it is the last register of its packet.
    Cp(bool),
    /// A DMA channel.
    Dma,
}

/// The whole device behind one lock.
pub(crate) struct Core {
    pub cfg: R5xxConfig,
    pub notes: Notes<Rule>,
    pub values: Vec<u32>,
    pub indirect: Indirect,
    pub mc: Mc,
    pub cp: Cp,
    pub gfx: Gfx,
    pub pipes: Pipes,
    pub dma: Dma,
    pub pci: PciConfig,
    pub irq: Arc<dyn IrqSink>,
    pub line: bool,
    pub msi_armed: bool,
    pub later: Later,
    pub test_capability: TestCapability,
    pub removed: bool,
    /// The step of the pipes' set-up after which the driver has not seen the drawing side idle.
    pub pipes_step: Option<Setup>,
    /// A fault has swallowed the last reset: what was busy is so still.
    pub reset_lost: bool,
    /// A fault has made nonsense of what RBBM_STATUS said last: it may have looked idle.
    pub status_garbled: bool,
}

impl Core {
    pub fn new(
        cfg: R5xxConfig,
        vram: Arc<Vram>,
        memory: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
        clock: Clock,
    ) -> Self {
        let mut core = Core {
            notes: Notes::new(clock, cfg.seed, cfg.keep_events),
            values: regs::power_on(),
            indirect: Indirect::new(cfg.chip),
            mc: Mc::new(vram, memory, cfg.keep_accesses),
            cp: Cp::default(),
            gfx: Gfx::default(),
            pipes: Pipes::default(),
            dma: Dma::default(),
            pci: pci_config(&cfg),
            irq,
            line: false,
            msi_armed: true,
            later: Later::default(),
            test_capability: TestCapability::default(),
            removed: false,
            pipes_step: None,
            reset_lost: false,
            status_garbled: false,
            cfg,
        };
        core.power_on();
        core
    }

    /// Power-on state, as the card's BIOS leaves it: memory ranges set, nothing running. Video memory
    /// keeps what it holds; counters, lints and faults to come are the test's and stay.
    pub fn power_on(&mut self) {
        self.pci = pci_config(&self.cfg);
        self.values = regs::power_on();
        self.set(reg::GB_PIPE_SELECT, self.cfg.chip.pipe_select);
        self.set(reg::GB_PIPE_SELECT2, (1 << self.cfg.chip.z_pipes) - 1);
        self.set(reg::CONFIG_MEMSIZE, self.cfg.vram as u32);
        // Half of what HDP_APER_CNTL lets the CPU see (digest §5.2).
        self.set(reg::CONFIG_APER_SIZE, (self.cfg.aperture / 2) as u32);
        self.indirect = Indirect::new(self.cfg.chip);
        self.cp = Cp::default();
        self.gfx = Gfx::default();
        self.pipes = Pipes::default();
        self.dma = Dma::default();
        self.later = Later::default();
        self.msi_armed = true;
        self.removed = false;
        self.pipes_step = None;
        self.reset_lost = false;
        self.status_garbled = false;
        let top = (self.cfg.vram - 1) >> 16;
        self.mc_ind_write(self.cfg.chip.mc.fb_location, (top << 16) as u32);
        self.gart_changed();
        self.mc.flush();
        self.post();
        self.leave_behind();
        self.surfaces_changed();
        self.bus_master_changed();
        self.update_line();
    }

    /// A register's stored value.
    pub fn get(&self, offset: u32) -> u32 {
        self.values.get((offset / 4) as usize).copied().unwrap_or(0)
    }

    /// Stores a register's value as it is.
    pub fn set(&mut self, offset: u32, value: u32) {
        if let Some(v) = self.values.get_mut((offset / 4) as usize) {
            *v = value;
        }
    }

    /// Takes over whether the chip may reach guest memory.
    pub fn bus_master_changed(&mut self) {
        let on = self.pci.word(pci::COMMAND) & pci::COMMAND_MASTER != 0;
        self.mc.bus_master = on || !self.cfg.watch_bus_master;
    }

    /// An opportunity for the next memory access of an engine to fail.
    pub fn before_access(&mut self, engine: &'static str) {
        if self.notes.inject(Kind::PageFault, engine).is_some() {
            self.mc.fail_next = true;
        }
        if self.notes.inject(Kind::ForgetTlb, engine).is_some() {
            self.mc.flush();
        }
    }

    /// Latches and reports what went wrong in memory accesses.
    pub fn after_access(&mut self) {
        if !self.mc.has_faults() {
            return;
        }
        for f in self.mc.take_faults() {
            self.notes.count(Counter::PageFaults);
            self.notes.record(|| Event::PageFault {
                engine: "mc",
                address: f.addr,
            });
            self.indirect.latch_gart_error(f.addr, f.write);
            // An injected fault is no mistake of the driver.
            if f.rule != Rule::InjectedFault {
                let what = if f.write { "write" } else { "read" };
                self.notes.lint(f.rule, || format!("{what} {:#x}", f.addr));
            }
        }
    }

    /// Does one thing of any engine. The command processor goes first: drawing happens as late as it
    /// may, so that who does not wait for it finds out.
    pub fn step(&mut self) -> Step {
        if self.removed {
            return Step::Idle;
        }
        self.settle();
        let cp = self.cp_step();
        if cp == Step::Ran {
            self.notes.client = false;
            return cp;
        }
        let mut next = match cp {
            Step::NotBefore(t) => Some(t),
            _ => self.later.next(),
        };
        for step in [Core::gfx_step, Core::dma_step] {
            match step(self) {
                Step::Ran => return Step::Ran,
                Step::NotBefore(t) => next = Some(next.map_or(t, |n: u64| n.min(t))),
                _ => {}
            }
        }
        self.notice_idle();
        match (cp, next) {
            (_, Some(t)) => Step::NotBefore(t),
            (cp, None) => cp,
        }
    }
}
