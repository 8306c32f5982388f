// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Tests of the modelled R5xx cards.

mod hostile_rig;
mod r5xx_2d;
mod r5xx_2d_brushes;
mod r5xx_2d_rules;
mod r5xx_3d;
mod r5xx_3d_surfaces;
mod r5xx_bringup;
mod r5xx_cp;
mod r5xx_extents;
mod r5xx_faults;
mod r5xx_hostile;
mod r5xx_memory;
mod r5xx_picture;
mod r5xx_pipes;
mod r5xx_pixels_random;
mod r5xx_pvs;
mod r5xx_pvs_flow;
mod r5xx_pvs_math;
mod r5xx_pvs_predicate;
mod r5xx_pvs_random;
mod r5xx_pvs_rig;
mod r5xx_pvs_rules;
mod r5xx_pvs_second;
mod r5xx_pvs_vector;
mod r5xx_readings;
mod r5xx_real;
mod r5xx_rig;
mod r5xx_textures;
mod r5xx_us;
mod r5xx_us_flow;
mod r5xx_us_random;
mod r5xx_us_rig;
mod r5xx_us_second;
mod r5xx_vertices;
mod second_rig;
