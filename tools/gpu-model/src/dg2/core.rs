// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The device's state, and the small services that all its parts use.

use super::config::{pci_config, Dg2Config};
use super::engine::{Engine, EngineId, ENGINES};
use super::forcewake::Wells;
use super::foreign::Foreign;
use super::ggtt::Ggtt;
use super::irq::Tree;
use super::later::Later;
use super::lint::Rule;
use super::lit::Picture;
use super::lmem::Lmem;
use super::mem::Memories;
use super::real::Left;
use super::regs::{self, reg, ring, ticks, MMIO_SIZE};
use crate::clock::Clock;
use crate::device::PowerOn;
use crate::intel::standby::Standby;
use crate::ledger::By;
use crate::memory::GuestMemory;
use crate::model::IrqSink;
use crate::notes::Notes;
use crate::pci::{self, PciConfig};
use crate::test_capability::TestCapability;
use std::sync::Arc;

/// Who accesses a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The CPU.
    Cpu,
    /// A command streamer.
    Cs(EngineId),
}

impl Origin {
    /// As the list of writes has it.
    pub fn by(self) -> By {
        match self {
            Origin::Cpu => By::Cpu,
            Origin::Cs(_) => By::Command,
        }
    }
}

/// The whole device behind one lock.
pub(crate) struct Core {
    pub cfg: Dg2Config,
    pub notes: Notes<Rule>,
    pub values: Vec<u32>,
    pub engines: [Engine; 10],
    pub mem: Memories,
    pub wells: Wells,
    /// Time in standby.
    pub standby: Standby,
    pub tree: Tree,
    pub pci: PciConfig,
    pub irq: Arc<dyn IrqSink>,
    pub line: bool,
    pub later: Later,
    pub test_capability: TestCapability,
    pub removed: bool,
    /// What firmware and a kernel before have left.
    pub left: Left,
    /// Registers of the L3's table that were written since it was lost, a bit each.
    pub l3_written: u32,
    pub foreign: Foreign,
    pub picture: Picture,
    /// A reset that an injected fault keeps from being done.
    pub stuck_reset: bool,
}

impl Core {
    pub fn new(
        cfg: Dg2Config,
        ggtt: Arc<Ggtt>,
        lmem: Arc<Lmem>,
        guest: Arc<dyn GuestMemory>,
        irq: Arc<dyn IrqSink>,
        clock: Clock,
    ) -> Self {
        let mut core = Core {
            notes: Notes::new(clock, cfg.seed, cfg.keep_events),
            values: vec![0; (MMIO_SIZE / 4) as usize],
            engines: ENGINES.map(|_| Engine::new()),
            mem: Memories {
                ggtt,
                lmem,
                guest,
                bus_master: true,
            },
            wells: Wells::default(),
            standby: Standby::default(),
            tree: Tree::default(),
            pci: pci_config(&cfg),
            irq,
            line: false,
            later: Later::default(),
            test_capability: TestCapability::default(),
            removed: false,
            left: Left::default(),
            l3_written: 0,
            foreign: Foreign::default(),
            picture: Picture::default(),
            stuck_reset: false,
            cfg,
        };
        core.power_on(PowerOn::Cold);
        core
    }

    /// Power-on state, as firmware leaves the card: local memory trained, nothing running. The
    /// memories keep what they hold; counters, lints and faults to come are the test's and stay.
    pub fn power_on(&mut self, cause: PowerOn) {
        self.pci = pci_config(&self.cfg);
        self.reset_registers(|_| true);
        self.engines = ENGINES.map(|_| Engine::new());
        self.wells = Wells::default();
        self.tree = Tree::default();
        self.later = Later::default();
        self.removed = false;
        self.stuck_reset = false;
        self.l3_lost();
        self.set_fuses();
        self.leave_behind(cause);
        self.bus_master_changed();
        self.update_line();
    }

    /// Sets the registers of firmware and fuses that describe the card (digest §5.2, §5.3, §5.9).
    fn set_fuses(&mut self) {
        for e in ENGINES {
            let id = e.instance() << 4 | e.class() as u32;
            self.set_ering(e, ring::ID, id);
        }
        let gib = self.cfg.lmem.div_ceil(1 << 30);
        // Bit 0 of both: it is valid, it is on (witness VW52, the vendor's set-up).
        self.set(reg::TILE0_ADDR_RANGE, (gib << 8 | 1) as u32);
        let ccs = self.mem.lmem.ccs_base() >> 16;
        self.set(reg::FLAT_CCS_BASE, (ccs << 8 | 1) as u32);
        // Above all local memory: no stolen part (0 would make all of it stolen).
        let stolen = (gib + 1) << 30;
        self.set(reg::DSMBASE, stolen as u32);
        self.set(reg::DSMBASE + 4, (stolen >> 32) as u32);
        self.set(reg::GSMBASE, stolen as u32);
        self.set(reg::GSMBASE + 4, (stolen >> 32) as u32);
        let lock = u32::from(self.cfg.locked);
        self.set(reg::GUC_WOPCM_SIZE, lock);
        self.set(reg::DMA_GUC_WOPCM_OFFSET, lock);
        let has = |e: EngineId| self.cfg.engines & e.mask() != 0;
        let of = |all: &[(EngineId, u32)]| {
            all.iter()
                .filter(|(e, _)| has(*e))
                .fold(0, |m, (_, bit)| m | bit)
        };
        let video = of(&[
            (EngineId::Vcs0, 1 << 0),
            (EngineId::Vcs2, 1 << 2),
            (EngineId::Vecs0, 1 << 16),
            (EngineId::Vecs1, 1 << 17),
        ]);
        // Eight subslices for each compute engine.
        let compute = of(&[
            (EngineId::Ccs0, 0xff),
            (EngineId::Ccs1, 0xff00),
            (EngineId::Ccs2, 0xff_0000),
            (EngineId::Ccs3, 0xff00_0000),
        ]);
        self.set(reg::FUSE_VDBOX_VEBOX, video);
        self.set(reg::FUSE_COMPUTE_DSS, compute);
        self.set(reg::FUSE_GEOMETRY_DSS, compute.max(0xff));
        self.set(reg::FUSE_EU, 0xff);
        self.set(reg::MIRROR_FUSE3, 0xf);
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

    /// A register of an engine's block.
    pub fn ering(&self, e: EngineId, offset: u32) -> u32 {
        self.get(e.base() + offset)
    }

    /// Stores a register of an engine's block.
    pub fn set_ering(&mut self, e: EngineId, offset: u32, value: u32) {
        self.set(e.base() + offset, value);
    }

    pub fn engine(&mut self, e: EngineId) -> &mut Engine {
        &mut self.engines[e as usize]
    }

    /// The time stamp of all engines.
    pub fn timestamp(&self) -> u64 {
        ticks(self.notes.clock.now())
    }

    /// Takes over whether the chip may reach guest memory.
    pub fn bus_master_changed(&mut self) {
        let on = self.pci.word(pci::COMMAND) & pci::COMMAND_MASTER != 0;
        self.mem.bus_master = on || !self.cfg.watch_bus_master;
    }

    /// Pulls the card.
    pub fn remove(&mut self) {
        self.removed = true;
        self.later = Later::default();
        self.engines = ENGINES.map(|_| Engine::new());
        self.update_line();
    }

    /// True if the register map has an offset, and the engine that it belongs to exists.
    pub fn known(&self, offset: u32) -> bool {
        let present = EngineId::of_block(offset).is_none_or(|e| self.cfg.engines & e.mask() != 0);
        present && regs::map().get(offset).is_some()
    }
}
