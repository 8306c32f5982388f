// SPDX-License-Identifier: GPL-2.0
//! A machine in one process: a modelled GPU, memory, and just enough of a core to use a backend.
//!
//! [`Machine`] does what the driver's core does, in its order and through the same traits, with
//! one thread and no policy: it wakes, probes and starts the device, fills the tables, writes
//! requests into rings and takes interrupts. Tests say what should come of it.

pub mod adapter;
pub mod machine;

pub use machine::{Machine, Object, Work};
