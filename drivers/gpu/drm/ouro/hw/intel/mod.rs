// SPDX-License-Identifier: GPL-2.0
//! What the engines of several of Intel's generations share; each generation's own folder has the rest.
//!
//! `ring_regs` are registers that each engine has, `gt_regs` some of the device around them, `mi` the commands of the
//! memory interface and `blt` those of the blitter; `pipe_bits` are bits of `PIPE_CONTROL`. `bars` is where a device
//! has what, `fences` and `pte` are formats, which take what a chip says of itself. `ring` is how machines with a ring
//! per engine are driven, `processor` what those of them share that are part of a processor.

pub(crate) mod bars;
pub(crate) mod blt;
pub(crate) mod fences;
pub(crate) mod gt_regs;
pub(crate) mod mi;
pub(crate) mod pipe_bits;
pub(crate) mod processor;
pub(crate) mod pte;
pub(crate) mod ring;
pub(crate) mod ring_regs;
