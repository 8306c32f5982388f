// SPDX-License-Identifier: GPL-2.0
//! A machine in one process: a modelled GPU, memory, and just enough of a core to use a backend.
//!
//! [`RingMachine`], [`R5xxMachine`] and [`Dg2Machine`] do what the driver's core does, in its order and through
//! the same traits, with one thread and no policy: they wake, probe and start the device, fill the tables, write
//! requests into rings and take interrupts. Tests say what should come of it.

pub mod adapter;
pub mod dg2_machine;
pub mod local;
pub mod program;
pub mod r5xx_machine;
pub mod recorded;
pub mod ring_machine;
pub mod stream;

pub use dg2_machine::Dg2Machine;
pub use r5xx_machine::R5xxMachine;
pub use ring_machine::{Object, RingMachine, Work};
