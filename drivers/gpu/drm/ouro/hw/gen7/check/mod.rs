// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The command parser (checker): it decides which batches run privileged.
//!
//! An unprivileged batch cannot load a register on this chip, but OpenGL needs that (transform
//! feedback, counters, conditional rendering). So the core copies a batch, and the copy runs
//! privileged from the GGTT if this checker accepts each of its commands. The copy's addresses are
//! still PPGTT addresses, since a command uses the GGTT only if it has a bit that the checker
//! rejects (V-19).
//!
//! The checker reads a batch command by command, from its first dword to the first
//! `MI_BATCH_BUFFER_END`:
//!
//! * [`commands`] has a table for each engine, with a row per command: its length and the rule for
//!   it.
//! * [`registers`] has a table for each engine, with a row per register that a batch may load and
//!   store.
//!
//! The consequences:
//!
//! | The command | The batch | Upstream |
//! |---|---|---|
//! | has an unknown client, ends after the batch, or no end follows | is rejected | `EINVAL` |
//! | is reserved to the kernel, or has a bit or a register that is | runs unprivileged | the same |
//! | starts another batch, which was not checked | runs unprivileged | the same |
//! | is accepted by upstream, but not by this driver | runs unprivileged | privileged |
//!
//! Only the last line differs visibly from upstream's parser (version 10 of its rules; Linux 7.3):
//! the error of `EXECBUFFER2` is the same for every batch. So a command that only this driver does
//! not accept does not end the check: its length is known, and a later command may still be an
//! error. The reasons for not accepting a command are: the chip may use another length than
//! upstream, so that it would execute unchecked dwords; reserved bits are set; or the command's
//! changes outlive the batch.

pub mod commands;
pub mod registers;
#[cfg(test)]
mod tests;

use crate::intel::ring::check::Tables;
use commands::{BLITTER_ROWS, RENDER_ROWS, VIDEO_ROWS};
use registers::{BLITTER_REGISTERS, RENDER_REGISTERS};

/// Version of upstream's rules, which user space queries (`CMD_PARSER_VERSION`).
const VERSION: u8 = 10;

/// The checker of the render engine.
pub static RENDER: Tables = Tables::new(VERSION, RENDER_ROWS, RENDER_REGISTERS);
/// The checker of the blitter.
pub static BLITTER: Tables = Tables::new(VERSION, BLITTER_ROWS, BLITTER_REGISTERS);
/// The checker of the video engine. It has no registers: a batch that loads one runs unprivileged
/// (V-19).
pub static VIDEO: Tables = Tables::new(VERSION, VIDEO_ROWS, &[]);
