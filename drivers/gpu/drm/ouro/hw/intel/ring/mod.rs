// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Machines with a ring per engine.
//!
//! A [`RingChip`] describes such a machine; all functions take one. `engine` starts and stops
//! rings, `emit` and `pipe_control` write requests, `submit` writes tails. `forcewake` and `fifo`
//! keep the device accessible, and `late` has the warnings if they had to wait too long. `fixes`
//! applies workarounds and settings, `reset` resets, `golden` has the golden state of contexts.
//! `check` decides which batches run privileged. `interrupts`, `errors` and `watchdog` report
//! completions, errors and batches that run too long. `regs` has the registers of an engine.

pub(crate) mod check;
pub(crate) mod emit;
pub(crate) mod engine;
pub(crate) mod errors;
pub(crate) mod fifo;
pub(crate) mod fixes;
pub(crate) mod forcewake;
pub(crate) mod golden;
pub(crate) mod interrupts;
pub(crate) mod late;
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

/// The differences between machines with a ring per engine, beyond those in [`RingEngine`].
pub(crate) struct RingChip {
    /// The engines, in the order of the topology.
    pub(crate) engines: &'static [&'static RingEngine],
    /// Forcewake, if the machine ever sleeps.
    pub(crate) wake: Option<Forcewake>,
    /// The interrupt registers of the engines.
    pub(crate) interrupts: Interrupts,
    /// The reset register, if it is one of the device's.
    pub(crate) reset: Option<Reset>,
    /// Returns the value of an engine's HWSP register. Errors: [`DeviceError::Unsupported`] if the
    /// chip does not support this kind of status page.
    pub(crate) status_page: fn(StatusPage) -> Result<u32, DeviceError>,
    /// Whether each engine has an interrupt mask of its own.
    pub(crate) engine_masks: bool,
    /// Whether the start of an engine flushes the command streamer's caches.
    pub(crate) sync_flush: bool,
    /// Whether the chipset buffers the CPU's writes, so that they must be flushed before each tail.
    pub(crate) chipset_flush: bool,
    /// Whether only an engine's first error raises its interrupt.
    pub(crate) error_edge: bool,
    /// The register of the kinds of translation errors, of all engines.
    pub(crate) translation_errors: u32,
    /// Names of its bits.
    pub(crate) translation_names: &'static [BitName],
    /// The kinds of page faults, by number.
    pub(crate) fault_kinds: [FaultKind; 4],
    /// The register of page table errors, in the render engine's block.
    pub(crate) table_errors: u32,
    /// Loads an engine's page directory. The ring must be stopped.
    pub(crate) load_directory: fn(&Hw<'_>, Base, GgttAddr),
}
