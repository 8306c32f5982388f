// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Tests of the modelled Gen4 chips: 965G, GM965, GM45, G45.

mod gen4_bringup;
mod gen4_commands;
mod gen4_compression;
mod gen4_contexts;
mod gen4_display;
mod gen4_neighbours;
mod gen4_real;
mod gen4_rig;
mod gen4_rings;
mod gen4_video;
