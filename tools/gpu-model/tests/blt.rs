// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Tests of the blitter's commands, which all Intel chips have in common.

mod blt_commands;
mod blt_errors;
mod blt_expansion;
mod blt_properties;
mod blt_rop;
mod blt_support;
