// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Gen4: two families of chipset graphics, 965 (965G, 965GM and others) and G4X (G45, GM45 and
//! others).
//!
//! Sources: the G45 PRM, volume 1b (January 2009), cited by section (`§5.3.4.2`) or by row of the
//! project's digest of it (`RNG-06`). The document has hardly any register offsets, and nothing
//! about GTT entries, the chipset and reset; rows `G-nn` of the digest have these from the upstream
//! driver. 3D commands are those of this generation's public XML. Facts from a GM45's error state
//! are cited as witness `GWnn`.
//!
//! One ring executes 3D and blitter commands; all clients share the GGTT; memory is not coherent
//! with the CPU's caches. `Family` has the differences between the families, [`Gen4`] the other
//! differences between chips. `engine` describes the engines, `emit` the commands of requests,
//! `topology` the chip; `translation`, `workarounds` and `reset` bring it up; `context`, `fences`,
//! `golden`, `names` and `pte` are formats; `mirror` tells whether registers of the memory
//! controller can be read; `regs` are registers. Rings, interrupts and errors are those of
//! `intel::ring`.

mod clocks;
mod context;
mod display;
mod emit;
mod engine;
mod fences;
mod golden;
mod mirror;
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
use core::ops::Range;
use regs::PgtblCtl;

/// The differences between the families (digest §5.1).
struct Family {
    /// The description as a machine with a ring per engine.
    chip: &'static RingChip,
    /// The engines, in the order of the topology.
    engines: &'static [&'static dyn Engine],
    /// Coherence with the CPU's caches.
    coherence: Coherence,
    /// The address space of status pages.
    status: StatusPlace,
    /// Bits of a DMA address. 965 has 36, but its HWSP and memory shared with the CPU must be below
    /// 4 GiB (G-28).
    dma_bits: u8,
    /// Bytes of registers; the GGTT is behind them (G-02).
    table_at: u32,
    /// Whether the GGTT must be enabled; otherwise the host bridge has its size.
    table_switch: bool,
    /// Resets all engines, which are stopped.
    reset: fn(&Hw<'_>, &dyn SleepWait) -> Result<(), DeviceError>,
    /// Whether a reset turns the display off.
    reset_darkens: bool,
    /// The display pipes, whose planes the firmware may have left on.
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
    /// Whether it is a mobile chip, whose memory controller differs.
    mobile: bool,
    /// Workarounds.
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
        // §5.2: in either family, only the GGTT may follow the registers.
        bars::windows(512 << 10, self.family.table_at)
    }

    fn dma_bits(&self) -> u8 {
        self.family.dma_bits
    }

    fn secure_batches(&self) -> SecureBatches {
        SecureBatches::Master
    }

    /// Firmware of some machines accesses the device while it powers them off, and hangs if that is
    /// in D3 (`i915_drm_suspend_late()` does the same before Gen6).
    fn hibernates_in_d0(&self) -> bool {
        true
    }

    /// §5.9: a reset clears the fences.
    fn reset_empties_fences(&self) -> bool {
        true
    }

    fn reset_darkens(&self) -> bool {
        self.family.reset_darkens
    }

    fn probe(&self, hw: &Hw<'_>, _chip: &Chip) -> Result<Topology, DeviceError> {
        topology::probe(hw, self)
    }

    fn scanouts(&self, hw: &Hw<'_>, topo: &Topology, found: &mut dyn FnMut(Scanout)) {
        scanouts(hw, self.family.display, topo.gtt_entries, found);
    }

    fn loaded_image(&self, hw: &Hw<'_>, topo: &Topology) -> Option<Range<u32>> {
        context::loaded(hw, topo.context_bytes)
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
        if !context::forget(hw) {
            hw.platform.warn(
                "CCID stays valid: the first MI_SET_CONTEXT saves the context of a previous driver",
            );
        }
        self.switch_table_on(hw, topo)?;
        errors::forget(chip, hw);
        // Clears old errors, also if EIR is zero.
        hw.regs
            .write32(regs::PGTBL_ER, hw.regs.read32(regs::PGTBL_ER));
        fixes::apply(chip, hw, self.fixes, wait)?;
        translation::open_flush_page(hw);
        translation::flush(hw);
        Ok(())
    }

    /// 965 is reset here, but not at bring-up: the reset turns the display off.
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

    /// A reset of one engine resets all: none can be reset alone.
    fn reset(
        &self,
        hw: &Hw<'_>,
        _what: ResetScope,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        reset::halt(self.family.chip, hw, wait)?;
        (self.family.reset)(hw, wait)
    }

    /// Upstream does not reset a 965 when it is unloaded, either. A reset disables the GGTT (§5.9),
    /// through which a lit plane reads, until `PGTBL_CTL` is written.
    fn end_work(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        idle: bool,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        if idle && self.family.reset_darkens {
            // The next driver may have other memory at the address of the image.
            context::forget(hw);
            return Ok(());
        }
        let done = self.reset(hw, ResetScope::All, wait);
        self.switch_table_on(hw, topo)?;
        done
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
