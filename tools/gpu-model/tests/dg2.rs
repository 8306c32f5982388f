// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Tests of the modelled DG2.

mod dg2_alu;
mod dg2_blt;
mod dg2_bringup;
mod dg2_commands;
mod dg2_execlists;
mod dg2_faults;
mod dg2_hostile;
mod dg2_preemption;
mod dg2_prefetch;
mod dg2_privilege;
mod dg2_real;
mod dg2_rig;
mod dg2_tails;
mod dg2_trace;
mod dg2_vendor;
mod dg2_vendor_lists;
mod hostile_rig;
