// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The backends of ouro: all code that knows a register, a command or a page table entry.
//!
//! There is one folder per generation (`gen6/`, ...), `intel/` for what several Intel generations
//! share, and beside them the traits through which the core uses a backend. This crate does not
//! depend on the kernel: registers, memory and time come in through [`io`], so that the same code
//! runs in the module, in host unit tests, under fuzzers, and against a GPU model in the same
//! process. It does not allocate, take locks or know processes.
//!
//! How the pieces play together:
//!
//! 1. [`chips::lookup`] finds the [`Chip`] of a PCI id in the table [`chips::ALL`], the one place
//!    that selects a generation.
//! 2. [`Generation::probe`] reports what the chip has: a [`Topology`]. The core allocates memory
//!    and addresses accordingly.
//! 3. [`Generation::start`] and [`Engine::start`] bring it up.
//! 4. For each request [`Engine::emit`] writes dwords, [`Engine::submit`] starts the work.
//! 5. [`Generation::irq_ack`] and the seqno in the status page tell what has completed.
//!
//! Encoders are pure functions from a typed request to dwords. A function that takes
//! [`&mut Gt`](Gt) is called under one irq-safe lock of the core, and gets an [`AtomicWait`] at
//! most; one that takes a [`SleepWait`] may sleep, and gets no `Gt`.

#![cfg_attr(not(CONFIG_RUST), no_std)]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(test)]
extern crate std;

pub mod checker;
pub mod chips;
pub mod clocks;
pub mod coherence;
pub mod context;
pub mod engine;
pub mod fence_regs;
pub mod gen12;
pub mod gen4;
pub mod gen6;
pub mod gen7;
pub mod generation;
pub mod gt;
mod intel;
pub mod io;
pub mod page_table;
mod poll;
pub mod r5xx;
pub mod report;
pub mod ring;
pub mod translations;
pub mod types;

#[cfg(test)]
mod mock;
#[cfg(test)]
mod shapes;

pub use checker::Checker;
pub use chips::Chip;
pub use clocks::{ClockControl, Clocks};
pub use coherence::Coherence;
pub use context::ContextImages;
pub use engine::{
    Emit, Engine, EngineDesc, EngineMemory, PortEvent, PortKind, StatusPage, StatusPlace,
    Submission,
};
pub use fence_regs::FenceRegs;
pub use generation::{Events, Generation, ResetScope, Topology};
pub use gt::Gt;
pub use io::{AtomicWait, Hw, Iommu, Platform, Registers, SleepWait};
pub use page_table::PageTable;
pub use types::*;
