// SPDX-License-Identifier: GPL-2.0
//! Sandy Bridge: three rings, one global table, an aliasing table of tables behind it.
//!
//! Sources: SNB PRM Volume 1 Part 2 (May 2011), cited as `SNB PRM V1P2 §x`; what that volume
//! leaves out (offsets, command bits) is cited by its row `G-nn` in the project's digest of it.

use crate::{
    chips::Chip,
    generation::{BringUpError, Events, Generation, Layout, ResetScope, Topology, Window, Windows},
    gt::Gt,
    io::{AtomicWait, Hw, SleepWait},
    report::Report,
};

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
                len: 0x20_0000,
            },
            gtt: Window {
                bar: 0,
                start: 0x20_0000,
                len: 0,
            },
            aperture: Some(Window {
                bar: 2,
                start: 0,
                len: 0,
            }),
        }
    }

    fn dma_bits(&self) -> u8 {
        40
    }

    fn probe(&self, _hw: &Hw<'_>, _chip: &Chip) -> Result<Topology, BringUpError> {
        Err(BringUpError::Unsupported("being written"))
    }

    fn start(
        &self,
        _hw: &Hw<'_>,
        _topo: &Topology,
        _layout: &Layout,
        _wait: &dyn SleepWait,
    ) -> Result<(), BringUpError> {
        Err(BringUpError::Unsupported("being written"))
    }

    fn stop(&self, _hw: &Hw<'_>) {}

    fn wake(&self, _hw: &Hw<'_>, _gt: &mut Gt, _wait: &dyn AtomicWait) -> Result<(), BringUpError> {
        Ok(())
    }

    fn sleep(&self, _hw: &Hw<'_>, _gt: &mut Gt) {}
    fn irq_on(&self, _hw: &Hw<'_>, _gt: &mut Gt) {}
    fn irq_off(&self, _hw: &Hw<'_>, _gt: &mut Gt) {}
    fn irq_arm(&self, _hw: &Hw<'_>, _gt: &mut Gt, _engine: usize, _on: bool) {}

    fn irq_ack(&self, _hw: &Hw<'_>) -> Events {
        Events::default()
    }

    fn reset(
        &self,
        _hw: &Hw<'_>,
        _what: ResetScope,
        _wait: &dyn SleepWait,
    ) -> Result<(), BringUpError> {
        Ok(())
    }

    fn gtt_flush(&self, _hw: &Hw<'_>) {}

    fn errors(&self, _hw: &Hw<'_>, _topo: &Topology) -> Report {
        Report::default()
    }
}
