// SPDX-License-Identifier: GPL-2.0
//! The Gen12.5 backend on the modelled DG2.

mod gen12_bringup;
mod gen12_faults;
mod gen12_images;
mod gen12_injected;
mod gen12_interrupts;
mod gen12_lists;
mod gen12_memory;
mod gen12_picture;
mod gen12_properties;
