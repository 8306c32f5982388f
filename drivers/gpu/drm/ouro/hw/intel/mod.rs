// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Definitions that several Intel generations share; each generation has the rest in its own
//! folder.
//!
//! `ring_regs` has the registers of each engine, `gt_regs` some of the device's, `mi` the MI
//! commands, `blt` the blitter's commands, `pipe_bits` the bits of `PIPE_CONTROL`, `bars` the
//! layout of the BARs. `fences` and `pte` are formats with the chip's values as parameters. `late`
//! logs answers that did not come in time. `ring` drives the machines with a ring per engine;
//! `processor` has the parts that are the same on those of them inside a processor.

pub(crate) mod bars;
pub(crate) mod blt;
pub(crate) mod fences;
pub(crate) mod gt_regs;
pub(crate) mod late;
pub(crate) mod mi;
pub(crate) mod pipe_bits;
pub(crate) mod processor;
pub(crate) mod pte;
pub(crate) mod ring;
pub(crate) mod ring_regs;
