// SPDX-License-Identifier: GPL-2.0
//! Machines with a ring per engine: what the driver does with one, whichever it is.
//!
//! What one has stands in its [`RingChip`], which is passed in: `engine` starts and stops rings, `emit` and
//! `pipe_control` fill them, `submit` moves a tail; `forcewake` and `fifo` keep the device within reach, `fixes` set
//! it up, `reset` brings it back, `golden` gives contexts their first state; `check` decides which batches run with
//! privilege; `interrupts` and `errors` say what came of it, `watchdog` that a batch takes too long. `regs` are the
//! registers of an engine.

pub(crate) mod check;
pub(crate) mod emit;
pub(crate) mod engine;
pub(crate) mod errors;
pub(crate) mod fifo;
pub(crate) mod fixes;
pub(crate) mod forcewake;
pub(crate) mod golden;
pub(crate) mod interrupts;
pub(crate) mod pipe_control;
pub(crate) mod regs;
pub(crate) mod reset;
pub(crate) mod submit;
pub(crate) mod watchdog;

use engine::RingEngine;
use forcewake::Forcewake;
use interrupts::Interrupts;
use reset::Reset;

use crate::{
    engine::StatusPage,
    generation::DeviceError,
    io::Hw,
    report::{BitName, FaultKind},
    types::GgttAddr,
};
use regs::Base;

/// In what machines with a ring per engine differ, beyond what [`RingEngine`] says of each engine.
pub(crate) struct RingChip {
    /// Its engines, in the order of the topology.
    pub(crate) engines: &'static [&'static RingEngine],
    /// How it is kept awake, if it ever sleeps.
    pub(crate) wake: Option<Forcewake>,
    /// The registers through which engines interrupt.
    pub(crate) interrupts: Interrupts,
    /// The register that resets, where it is one of the device's.
    pub(crate) reset: Option<Reset>,
    /// What an engine's register of its status page holds for one. An error where the chip has no such pages.
    pub(crate) status_page: fn(StatusPage) -> Result<u32, DeviceError>,
    /// Whether each engine has a mask of its own over its interrupts.
    pub(crate) engine_masks: bool,
    /// Whether a stopped engine is told to drop what it has cached, when it is started.
    pub(crate) sync_flush: bool,
    /// Whether the chipset keeps back what the CPU has written, so that it is flushed before each tail.
    pub(crate) chipset_flush: bool,
    /// Whether an engine's errors raise their interrupt only when the first one comes.
    pub(crate) error_edge: bool,
    /// Which kinds of translation failed, on any engine.
    pub(crate) translation_errors: u32,
    /// What its bits are called.
    pub(crate) translation_names: &'static [BitName],
    /// What the kinds of a page fault are, by their number in its register.
    pub(crate) fault_kinds: [FaultKind; 4],
    /// Errors of the translation tables, in the render engine's block.
    pub(crate) table_errors: u32,
    /// Loads an engine's directory, whose ring is stopped.
    pub(crate) load_directory: fn(&Hw<'_>, Base, GgttAddr),
}
