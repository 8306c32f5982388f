// SPDX-License-Identifier: GPL-2.0 OR MIT
//! R5xx: one ring of the command processor, VRAM, and a checked copy of every batch.
//!
//! Source: "R5xx Acceleration", revision 1.3 (March 2008), cited by section (`§4.8`). It has no
//! register offsets; these, and other facts that it leaves out, are from the project's digest of
//! it, cited by section (`digest §3.1`) or row of its checklist (`row C10`). The digest names the
//! source of each value.
//!
//! One file per concept: `topology` reads the card's properties; `display`, `memory`, `pipes`,
//! `gart`, `indirect`, `idle` and `reset` bring the card up; `microcode` and `engine` start the
//! command processor; `packets`, `emit` and `copy` write its ring; `known` is the state that each
//! batch begins with; `interrupts` and `errors` (`names`: names of their bits) report completions
//! and errors; `pte` and `surfaces` are formats; `check` is the checker of user batches.
//!
//! The families differ only in the fields of [`R5xx`], which has one object per family.

mod check;
mod copy;
mod display;
mod emit;
mod engine;
mod errors;
mod gart;
mod idle;
mod indirect;
mod interrupts;
mod known;
mod memory;
mod microcode;
mod names;
mod packets;
mod pipes;
mod pte;
mod regs;
mod reset;
mod surfaces;
mod topology;

use crate::{
    chips::Chip,
    engine::Engine,
    generation::{
        DeviceError, Events, Generation, Layout, Mapping, ResetScope, Topology, Window, Windows,
    },
    gt::Gt,
    io::{AtomicWait, Hw, SleepWait},
    report::Report,
};
use memory::Controller;

/// The generation, for one family.
pub struct R5xx {
    /// Registers of the memory controller (digest §5.3).
    controller: &'static Controller,
    /// Whether its MSIs are reliable (digest §5.2).
    msi: bool,
    /// Whether there is a second fuse register, for units of depth (digest §5.2).
    depth_pipes: bool,
    /// The engines.
    engines: &'static [&'static dyn Engine],
}

/// RV515.
pub static RV515: R5xx = R5xx {
    controller: &memory::RV515,
    msi: false,
    depth_pipes: false,
    engines: &engine::ENGINES,
};
/// RV530.
pub static RV530: R5xx = R5xx {
    controller: &memory::R520,
    msi: true,
    depth_pipes: true,
    engines: &engine::WITH_DEPTH_PIPES,
};
/// R520, R580, RV560 and RV570.
pub static R520: R5xx = R5xx {
    controller: &memory::R520,
    msi: true,
    depth_pipes: false,
    engines: &engine::ENGINES,
};

impl R5xx {
    /// Stops all activity that the firmware or another driver left, and sets up the memory map. Bus
    /// mastering is off afterwards.
    fn take(&self, hw: &Hw<'_>, topo: &Topology, wait: &dyn SleepWait) -> Result<(), DeviceError> {
        topology::unchanged(hw, topo)?;
        interrupts::off(hw);
        display::off(hw, wait);
        reset::if_busy(self.controller, hw, wait)?;
        memory::set_up(self.controller, hw, topo, wait)
    }
}

/// The BAR of VRAM (digest §5.1).
const MEMORY_BAR: u8 = 0;
/// The BAR of the registers.
const REGISTER_BAR: u8 = 2;

impl Generation for R5xx {
    fn name(&self) -> &'static str {
        "r5xx"
    }

    fn windows(&self) -> Windows {
        Windows {
            regs: Window {
                bar: REGISTER_BAR,
                start: 0,
                len: 0,
                mapping: Mapping::Uncached,
            },
            // The GART's entries are at the start of VRAM.
            gtt: Window {
                bar: MEMORY_BAR,
                start: 0,
                len: memory::RESERVED,
                mapping: Mapping::WriteCombining,
            },
            aperture: None,
            local: Some(Window {
                bar: MEMORY_BAR,
                start: 0,
                len: 0,
                mapping: Mapping::WriteCombining,
            }),
        }
    }

    fn firmware(&self) -> Option<&'static str> {
        Some(microcode::FILE)
    }

    /// Returns the address bits of an entry of the GART (digest §4.4).
    fn dma_bits(&self) -> u8 {
        40
    }

    fn probe(&self, hw: &Hw<'_>, _chip: &Chip) -> Result<Topology, DeviceError> {
        topology::probe(self, hw)
    }

    fn prepare(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        self.take(hw, topo, wait)?;
        surfaces::clear(hw);
        memory::prove(hw)
    }

    fn start(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        layout: &Layout,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        let _ = layout;
        self.take(hw, topo, wait)?;
        memory::look(hw)?;
        pipes::set_up(self.depth_pipes, hw, wait)?;
        memory::wait_idle(self.controller, hw, wait)?;
        errors::forget(hw);
        hw.platform.set_master(true);
        Ok(())
    }

    fn stop(&self, hw: &Hw<'_>) {
        interrupts::off(hw);
    }

    fn wake(&self, _hw: &Hw<'_>, gt: &mut Gt, _wait: &dyn AtomicWait) -> Result<(), DeviceError> {
        // There is no forcewake: the clocks are forced on (`memory::set_up`).
        gt.awake = true;
        Ok(())
    }

    fn sleep(&self, _hw: &Hw<'_>, gt: &mut Gt) {
        gt.awake = false;
    }

    fn irq_on(&self, hw: &Hw<'_>, gt: &mut Gt) {
        interrupts::on(hw, gt);
    }

    fn irq_off(&self, hw: &Hw<'_>, _gt: &mut Gt) {
        interrupts::off(hw);
    }

    fn irq_arm(&self, hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool) {
        interrupts::arm(hw, gt, engine, on);
    }

    fn irq_ack(&self, hw: &Hw<'_>) -> Events {
        interrupts::ack(hw)
    }

    fn reset(
        &self,
        hw: &Hw<'_>,
        what: ResetScope,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        match what {
            ResetScope::All => reset::reset(self.controller, hw, wait),
            // A reset can lose state of the whole card, so only a start of the whole card restores
            // it.
            ResetScope::Engine(_) => Err(DeviceError::Unsupported("reset of a single engine")),
        }
    }

    fn gtt_on(&self, hw: &Hw<'_>, on: bool) {
        if on {
            gart::enable(hw);
        } else {
            gart::disable(hw);
        }
    }

    fn gtt_flush(&self, hw: &Hw<'_>) {
        gart::flush(hw);
    }

    fn errors(&self, hw: &Hw<'_>, _gt: &mut Gt, _topo: &Topology) -> Report {
        errors::report(hw)
    }
}
