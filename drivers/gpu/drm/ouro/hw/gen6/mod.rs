// SPDX-License-Identifier: GPL-2.0
//! Sandy Bridge: three rings, one global table, and a directory behind it that says the same.
//!
//! Sources: SNB PRM Volume 1 Part 2 (May 2011), cited by its section (`§5.3.8`); what it leaves out
//! (most offsets and all command bits) by the row (`G-nn`) or section of the project's digest of it,
//! which says where each value is from. What is the same for the video engine of the next generation is
//! cited as `VCS §n`, that engine's document.
//!
//! What machines with a ring per engine have in common is in `intel::ring`; `chip` says what this one is
//! among them, `engine` what its three engines are. Its own, one file for each concept: `topology` says what a chip
//! has, `display` what the firmware left on; `frequency`, `workarounds`, `translation` and `swizzle` bring it up;
//! `pte`, `fences`, `context` and `golden` are formats in memory and registers (`names`: of their bits).

mod chip;
mod context;
mod display;
pub(crate) mod engine;
mod fences;
mod frequency;
mod golden;
mod gt_regs;
pub(crate) mod names;
mod pte;
mod regs;
mod swizzle;
mod topology;
mod translation;
mod user_regs;
mod workarounds;

use crate::{
    chips::Chip,
    generation::{
        BringUpError, Events, Generation, Layout, Mapping, ResetScope, Scanout, Topology, Window,
        Windows,
    },
    gt::Gt,
    intel::ring::{errors, forcewake, interrupts, reset},
    io::{AtomicWait, Hw, SleepWait},
    report::Report,
};

pub(crate) use chip::CHIP;

/// Bytes of registers, and the place of the table's window behind them (G-02).
const REGISTER_BYTES: u32 = 2 << 20;

/// The generation.
pub struct Gen6;

/// The generation's one object.
pub static GEN6: Gen6 = Gen6;

impl Generation for Gen6 {
    fn name(&self) -> &'static str {
        "gen6"
    }

    fn windows(&self) -> Windows {
        Windows {
            regs: Window {
                bar: 0,
                start: 0,
                len: REGISTER_BYTES,
                mapping: Mapping::Uncached,
            },
            gtt: Window {
                bar: 0,
                start: REGISTER_BYTES,
                len: 0,
                mapping: Mapping::WriteCombining,
            },
            aperture: Some(Window {
                bar: topology::APERTURE_BAR,
                start: 0,
                len: 0,
                mapping: Mapping::WriteCombining,
            }),
            local: None,
        }
    }

    /// G-05.
    fn dma_bits(&self) -> u8 {
        40
    }

    fn probe(&self, hw: &Hw<'_>, _chip: &Chip) -> Result<Topology, BringUpError> {
        topology::probe(hw)
    }

    fn scanouts(&self, hw: &Hw<'_>, topo: &Topology, found: &mut dyn FnMut(Scanout)) {
        display::scanouts(hw, topo.gtt_entries, found);
    }

    fn start(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        layout: &Layout,
        wait: &dyn SleepWait,
    ) -> Result<(), BringUpError> {
        forcewake::hold(&CHIP, hw, wait)?;
        interrupts::off(&CHIP, hw);
        reset::reset(&CHIP, hw, wait)?;
        errors::forget(&CHIP, hw);
        workarounds::device(hw, wait)?;
        workarounds::render(hw, wait)?;
        frequency::start(hw, wait)?;
        swizzle::apply(hw, topo.swizzle);
        translation::enable(hw, layout.directory.is_some());
        translation::flush(hw);
        Ok(())
    }

    fn stop(&self, hw: &Hw<'_>) {
        interrupts::off(&CHIP, hw);
    }

    fn wake(&self, hw: &Hw<'_>, gt: &mut Gt, wait: &dyn AtomicWait) -> Result<(), BringUpError> {
        forcewake::wake(&CHIP, hw, gt, wait)
    }

    fn sleep(&self, hw: &Hw<'_>, gt: &mut Gt) {
        forcewake::sleep(&CHIP, hw, gt);
    }

    fn irq_on(&self, hw: &Hw<'_>, gt: &mut Gt) {
        interrupts::on(&CHIP, hw, gt);
    }

    fn irq_off(&self, hw: &Hw<'_>, _gt: &mut Gt) {
        interrupts::off(&CHIP, hw);
    }

    fn irq_arm(&self, hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool) {
        interrupts::arm(&CHIP, hw, gt, engine, on);
    }

    fn irq_ack(&self, hw: &Hw<'_>) -> Events {
        interrupts::ack(&CHIP, hw)
    }

    fn reset(
        &self,
        hw: &Hw<'_>,
        what: ResetScope,
        wait: &dyn SleepWait,
    ) -> Result<(), BringUpError> {
        match what {
            ResetScope::All => reset::reset(&CHIP, hw, wait),
            ResetScope::Engine(_) => Err(BringUpError::Unsupported("reset of an engine alone")),
        }
    }

    fn gtt_flush(&self, hw: &Hw<'_>) {
        translation::flush(hw);
    }

    fn gtt_settle(&self, hw: &Hw<'_>) {
        translation::settle(hw);
    }

    fn user_register(&self, hw: &Hw<'_>, offset: u32) -> Option<u64> {
        user_regs::read(hw, offset)
    }

    fn errors(&self, hw: &Hw<'_>, _gt: &mut Gt, _topo: &Topology) -> Report {
        errors::report(&CHIP, hw)
    }
}
