// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Tests of the modelled Sandy Bridge, and of what no chip has for itself: command line, PCI, server.

mod hostile_rig;
mod snb_batches;
mod snb_chaos;
mod snb_cli;
mod snb_clocks;
mod snb_commands;
mod snb_contexts;
mod snb_coverage;
mod snb_faults;
mod snb_flush;
mod snb_hostile;
mod snb_interrupts;
mod snb_memory;
mod snb_pci;
mod snb_properties;
mod snb_real;
mod snb_registers;
mod snb_rig;
mod snb_rings;
mod snb_server;
mod snb_threads;
mod snb_wake;
