// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Tests of the modelled Ivy Bridge.

mod ivb_batches;
mod ivb_bringup;
mod ivb_commands;
mod ivb_flush;
mod ivb_interrupts;
mod ivb_memory;
mod ivb_real;
mod ivb_registers;
mod ivb_rig;
mod ivb_rings;
