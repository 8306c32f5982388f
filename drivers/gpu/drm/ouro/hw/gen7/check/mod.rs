// SPDX-License-Identifier: GPL-2.0
//! The checker of batches: which of them run with privilege.
//!
//! A batch without privilege cannot load a register on this chip, but OpenGL needs that (transform feedback, counters,
//! conditional rendering). So the core copies a batch, and the copy runs with privilege from the global table if
//! each of its commands is one that this checker vouches for. The copy's addresses stay those of the batch's own
//! address space, since a command reaches the global table only by a bit that the checker wants clear (V-19).
//!
//! A batch is read command by command, from its first dword to the first `MI_BATCH_BUFFER_END`:
//!
//! * [`commands`] has a table for each engine, with one row for a command: how long it is, and what is asked of it.
//! * [`registers`] has a table for each engine, with one row for a register that a batch may load and store.
//!
//! What follows from a row:
//!
//! | The command | The batch | Upstream |
//! |---|---|---|
//! | has a client that the engine does not have; is longer than what is left; no end follows | is refused | `EINVAL` |
//! | is reserved to the kernel, or has a bit or a register that is | runs without privilege | the same |
//! | starts another batch, which was not checked | runs without privilege | the same |
//! | is not vouched for by this driver, but by upstream | runs without privilege | with privilege |
//!
//! User space sees no difference to upstream's parser (version 10 of its rules; Linux 7.3) but in the last line: the
//! error of `EXECBUFFER2` is the same for every batch. A command that is not vouched for therefore does not end the
//! walk: its length counts, and a later command may still be an error. The reasons not to vouch are that the chip may
//! take the command for longer or shorter than upstream does, so that dwords which nobody has checked would
//! run; that bits are reserved; and that what the command changes outlives the batch.

pub mod commands;
pub mod registers;
#[cfg(test)]
mod tests;

use crate::intel::ring::check::Tables;
use commands::{BLITTER_ROWS, RENDER_ROWS, VIDEO_ROWS};
use registers::{BLITTER_REGISTERS, RENDER_REGISTERS};

/// Version of upstream's rules that user space asks for (`CMD_PARSER_VERSION`).
const VERSION: u8 = 10;

/// Of the render engine.
pub static RENDER: Tables = Tables::new(VERSION, RENDER_ROWS, RENDER_REGISTERS);
/// Of the blitter.
pub static BLITTER: Tables = Tables::new(VERSION, BLITTER_ROWS, BLITTER_REGISTERS);
/// Of the video engine. It has no registers: whoever loads one runs without privilege (V-19).
pub static VIDEO: Tables = Tables::new(VERSION, VIDEO_ROWS, &[]);
