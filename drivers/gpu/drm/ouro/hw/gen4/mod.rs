// SPDX-License-Identifier: GPL-2.0
//! Gen4: two families of graphics in the chipset, 965 (965G, 965GM and others) and G4X (G45, GM45 and others).
//!
//! Sources: the G45 PRM, volume 1b (January 2009), cited by its section (`§5.3.4.2`) or by the row of the project's
//! digest of it (`RNG-06`). It gives hardly any register's offset, and nothing of the table's entries, the chipset around
//! and reset; those are in rows `G-nn` of the digest, as the upstream driver has them. 3D commands are the public XML's
//! of this generation. What a GM45 said of itself in an error state is cited as witness `GWnn`.
//!
//! One ring for all that draws, with the blitter's commands in it; one table, which all share; no cache with the CPU.
//! What the families differ in is `Family`, what chips differ in beyond that [`Gen4`]. `engine` says what engines
//! there are, `emit` what their requests are made of; `topology` what a chip has; `translation`, `workarounds` and
//! `reset` bring it up; `context`, `fences`, `golden`, `names` and `pte` are formats. `regs` are registers. Rings,
//! interrupts and errors are those of `intel::ring`.

mod clocks;
mod context;
mod display;
mod emit;
mod engine;
mod fences;
mod golden;
mod names;
mod pte;
mod regs;
mod reset;
mod swizzle;
mod topology;
mod translation;
mod workarounds;

use crate::{
    chips::Chip,
    coherence::Coherence,
    engine::{Engine, StatusPlace},
    generation::{
        DeviceError, Events, Generation, Layout, ResetScope, Scanout, SecureBatches, Topology,
        Windows,
    },
    gt::Gt,
    intel::{
        bars,
        processor::{
            display::{scanouts, Pipes},
            user_regs,
        },
        ring::{
            errors,
            fixes::{self, Fixes},
            forcewake, interrupts, RingChip,
        },
    },
    io::{AtomicWait, Hw, SleepWait},
    report::Report,
};
use regs::PgtblCtl;

/// What the families differ in (digest §5.1).
struct Family {
    /// What it is among machines with a ring per engine.
    chip: &'static RingChip,
    /// Its engines, in the order of the topology.
    engines: &'static [&'static dyn Engine],
    /// What it sees of the CPU's caches.
    coherence: Coherence,
    /// Where its status pages are.
    status: StatusPlace,
    /// Bits of an address. 965 has 36, but its status page and what the CPU and it share must be below 4 GiB (G-28).
    dma_bits: u8,
    /// Bytes of registers, and the place of the table's window behind them (G-02).
    table_at: u32,
    /// Whether the table has to be switched on; else its size is the host bridge's to say.
    table_switch: bool,
    /// Resets all, whose engines are stopped.
    reset: fn(&Hw<'_>, &dyn SleepWait) -> Result<(), DeviceError>,
    /// Whether the picture on the screen is lost by that.
    reset_darkens: bool,
    /// Where the firmware's planes are.
    display: &'static Pipes,
}

static FAMILY_965: Family = Family {
    chip: &engine::CHIP_965,
    engines: &engine::ENGINES_965,
    coherence: Coherence::None,
    status: StatusPlace::Bus,
    dma_bits: 32,
    table_at: 512 << 10,
    table_switch: true,
    reset: reset::whole,
    reset_darkens: true,
    display: &display::PIPES_965,
};

static FAMILY_G4X: Family = Family {
    chip: &engine::CHIP_G4X,
    engines: &engine::ENGINES_G4X,
    coherence: Coherence::Snoop,
    status: StatusPlace::Aperture,
    dma_bits: 36,
    table_at: 2 << 20,
    table_switch: false,
    reset: reset::domains,
    reset_darkens: false,
    display: &display::PIPES_G4X,
};

/// A kind of chip.
pub struct Gen4 {
    family: &'static Family,
    /// Whether it is one of a portable machine, whose memory controller says other things.
    mobile: bool,
    /// Bits that must be other than after a reset.
    fixes: Fixes,
}

/// 946GZ, G35, 965Q, 965G.
pub static DESKTOP_965: Gen4 = Gen4 {
    family: &FAMILY_965,
    mobile: false,
    fixes: workarounds::DESKTOP_965,
};
/// 965GM.
pub static MOBILE_965: Gen4 = Gen4 {
    family: &FAMILY_965,
    mobile: true,
    fixes: workarounds::MOBILE_965,
};
/// G45, Q45, G41, B43.
pub static DESKTOP_G4X: Gen4 = Gen4 {
    family: &FAMILY_G4X,
    mobile: false,
    fixes: workarounds::G4X,
};
/// GM45.
pub static MOBILE_G4X: Gen4 = Gen4 {
    family: &FAMILY_G4X,
    mobile: true,
    fixes: workarounds::G4X,
};

impl Gen4 {
    fn switch_table_on(&self, hw: &Hw<'_>, topo: &Topology) -> Result<(), DeviceError> {
        let control = PgtblCtl::from_bits(topo.card);
        translation::switch_on(hw, control, self.family.table_switch)
    }
}

impl Generation for Gen4 {
    fn name(&self) -> &'static str {
        "gen4"
    }

    fn windows(&self) -> Windows {
        // §5.2: of either family, and what is behind is the table or nothing.
        bars::windows(512 << 10, self.family.table_at)
    }

    fn dma_bits(&self) -> u8 {
        self.family.dma_bits
    }

    fn secure_batches(&self) -> SecureBatches {
        SecureBatches::Master
    }

    /// §5.9.
    fn reset_empties_fences(&self) -> bool {
        true
    }

    fn probe(&self, hw: &Hw<'_>, _chip: &Chip) -> Result<Topology, DeviceError> {
        topology::probe(hw, self)
    }

    fn scanouts(&self, hw: &Hw<'_>, topo: &Topology, found: &mut dyn FnMut(Scanout)) {
        scanouts(hw, self.family.display, topo.gtt_entries, found);
    }

    fn prepare(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        _wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        self.switch_table_on(hw, topo)
    }

    fn start(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        _layout: &Layout,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        let chip = self.family.chip;
        interrupts::off(chip, hw);
        reset::halt(chip, hw, wait)?;
        if !self.family.reset_darkens {
            (self.family.reset)(hw, wait)?;
        }
        self.switch_table_on(hw, topo)?;
        errors::forget(chip, hw);
        // Of before, also where nothing is in EIR.
        hw.regs
            .write32(regs::PGTBL_ER, hw.regs.read32(regs::PGTBL_ER));
        fixes::apply(chip, hw, self.fixes, wait)?;
        translation::open_flush_page(hw);
        translation::flush(hw);
        Ok(())
    }

    /// 965 is reset here, as it is not when the driver comes: the screen goes dark.
    fn restart(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        layout: &Layout,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        if self.family.reset_darkens {
            self.reset(hw, ResetScope::All, wait)?;
        }
        self.start(hw, topo, layout, wait)
    }

    fn stop(&self, hw: &Hw<'_>) {
        interrupts::off(self.family.chip, hw);
    }

    fn wake(&self, hw: &Hw<'_>, gt: &mut Gt, wait: &dyn AtomicWait) -> Result<(), DeviceError> {
        forcewake::wake(self.family.chip, hw, gt, wait)
    }

    fn sleep(&self, hw: &Hw<'_>, gt: &mut Gt) {
        forcewake::sleep(self.family.chip, hw, gt);
    }

    fn irq_on(&self, hw: &Hw<'_>, gt: &mut Gt) {
        interrupts::on(self.family.chip, hw, gt);
    }

    fn irq_off(&self, hw: &Hw<'_>, _gt: &mut Gt) {
        interrupts::off(self.family.chip, hw);
    }

    fn irq_arm(&self, hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool) {
        interrupts::arm(self.family.chip, hw, gt, engine, on);
    }

    fn irq_ack(&self, hw: &Hw<'_>) -> Events {
        interrupts::ack(self.family.chip, hw)
    }

    /// Of one engine it is of all: none can be reset alone.
    fn reset(
        &self,
        hw: &Hw<'_>,
        _what: ResetScope,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        reset::halt(self.family.chip, hw, wait)?;
        (self.family.reset)(hw, wait)
    }

    fn gtt_flush(&self, hw: &Hw<'_>) {
        translation::flush(hw);
    }

    fn user_register(&self, hw: &Hw<'_>, offset: u32) -> Option<u64> {
        user_regs::read(hw, offset)
    }

    fn errors(&self, hw: &Hw<'_>, _gt: &mut Gt, _topo: &Topology) -> Report {
        errors::report(self.family.chip, hw)
    }
}

#[cfg(test)]
mod tests;
