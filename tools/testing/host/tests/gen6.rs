// SPDX-License-Identifier: GPL-2.0
//! The Gen6 backend on the modelled Sandy Bridge.

mod gen6_bringup;
mod gen6_faults;
mod gen6_fences;
mod gen6_interrupts;
mod gen6_properties;
mod gen6_real;
mod gen6_requests;
