// SPDX-License-Identifier: GPL-2.0
//! A machine in one process: a modelled GPU, memory, and just enough of a core to use a backend.
//!
//! [`Machine`], [`Card`] and [`Bench`] do what the driver's core does, in its order and through the same
//! traits, with one thread and no policy: they wake, probe and start the device, fill the tables, write
//! requests into rings and take interrupts. Tests say what should come of it.

pub mod adapter;
pub mod bench;
pub mod card;
pub mod local;
pub mod machine;
pub mod program;
pub mod recorded;
pub mod stream;

pub use bench::Bench;
pub use card::Card;
pub use machine::{Machine, Object, Work};
