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
//!
//! No allocation; time in proportion to the batch.

pub mod commands;
pub mod registers;
#[cfg(test)]
mod tests;

use crate::checker::{Checker, Resolve, Verdict};
use commands::{Row, Rule, BLITTER_ROWS, RENDER_ROWS, VIDEO_ROWS};
use registers::{Register, BLITTER_REGISTERS, RENDER_REGISTERS};

/// `MI_BATCH_BUFFER_END` (VCS §1.2.4). With another bit set it is another dword.
const BATCH_END: u32 = 0x0a << 23;
/// Bits 22:2 of a dword: the offset of a register (VCS §1.2.8).
const OFFSET: u32 = 0x007f_fffc;
/// Version of upstream's rules that user space asks for (`CMD_PARSER_VERSION`).
const VERSION: u8 = 10;
/// Values of bits 31:23 of a header, of which each table has an index.
const KEYS: usize = 512;
/// In the index: no row.
const NONE: u8 = u8::MAX;

/// The checker of an engine.
pub struct Tables {
    rows: &'static [Row],
    registers: &'static [Register],
    /// For each value of bits 31:23: the first row that can be the command's.
    index: [u8; KEYS],
}

/// Of the render engine.
pub static RENDER: Tables = Tables::new(RENDER_ROWS, RENDER_REGISTERS);
/// Of the blitter.
pub static BLITTER: Tables = Tables::new(BLITTER_ROWS, BLITTER_REGISTERS);
/// Of the video engine. It has no registers: whoever loads one runs without privilege (V-19).
pub static VIDEO: Tables = Tables::new(VIDEO_ROWS, &[]);

/// What a command means for its batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Opinion {
    /// It may run with privilege.
    Good,
    /// Not so, but upstream lets it: the walk goes on.
    Doubt,
    /// Nobody lets it.
    Bad,
}

impl Tables {
    const fn new(rows: &'static [Row], registers: &'static [Register]) -> Self {
        assert!(rows.len() < NONE as usize);
        let mut index = [NONE; KEYS];
        let mut key = 0;
        while key < KEYS {
            let header = (key as u32) << 23;
            let mut row = 0;
            while row < rows.len() && index[key] == NONE {
                // Bits 22:0 are not in the key.
                if (header ^ rows[row].value) & rows[row].mask & !0x007f_ffff == 0 {
                    index[key] = row as u8;
                }
                row += 1;
            }
            key += 1;
        }
        Self {
            rows,
            registers,
            index,
        }
    }

    /// The row of a command; `None` if the engine has not its client.
    #[inline]
    fn row(&self, header: u32) -> Option<&'static Row> {
        let first = *self.index.get((header >> 23) as usize)?;
        let rows = self.rows.get(usize::from(first)..)?;
        rows.iter().find(|row| (header ^ row.value) & row.mask == 0)
    }

    /// What a command means, which is whole and has at least one dword.
    fn opinion(&self, row: &Row, command: &[u32]) -> Opinion {
        let rule = match row.rule {
            Rule::Pass => Opinion::Good,
            Rule::Doubt => Opinion::Doubt,
            Rule::Refuse => Opinion::Bad,
            Rule::Load => self.loads(command),
            Rule::Move { loads } => self.moves(command, loads),
        };
        if rule == Opinion::Bad || !row.must.iter().all(|bits| bits.hold(command)) {
            return Opinion::Bad;
        }
        match row.should.iter().all(|bits| bits.hold(command)) {
            true => rule,
            false => Opinion::Doubt,
        }
    }

    /// The register whose offset is in a dword, and whether the dword has no other bits.
    fn register(&self, dword: u32) -> Option<(&'static Register, bool)> {
        let offset = dword & OFFSET;
        let behind = self.registers.partition_point(|r| r.offset <= offset);
        let register = self.registers.get(behind.checked_sub(1)?)?;
        register
            .has(offset)
            .then_some((register, dword & !OFFSET == 0))
    }

    /// Pairs of a register and its value.
    fn loads(&self, command: &[u32]) -> Opinion {
        let mut opinion = Opinion::Good;
        for pair in command.get(1..).unwrap_or(&[]).chunks(2) {
            let Some((register, clean)) = pair.first().and_then(|dword| self.register(*dword))
            else {
                return Opinion::Bad;
            };
            let value = pair.get(1).is_some_and(|v| v & !register.bits == 0);
            if !(clean && value) {
                opinion = Opinion::Doubt;
            }
        }
        opinion
    }

    /// A register and an address.
    fn moves(&self, command: &[u32], loads: bool) -> Opinion {
        match command.get(1).and_then(|dword| self.register(*dword)) {
            None => Opinion::Bad,
            // Nobody knows what is in memory.
            Some((register, _)) if loads && register.bits != u32::MAX => Opinion::Doubt,
            Some((_, true)) => Opinion::Good,
            Some((_, false)) => Opinion::Doubt,
        }
    }
}

impl Checker for Tables {
    fn check(&self, stream: &[u32], objects: &dyn Resolve, _out: &mut [u32]) -> Verdict {
        let short = |at, rule| match objects.goes_on() {
            true => Verdict::Original { at, rule },
            false => Verdict::Reject { at, rule },
        };
        let mut at = 0;
        let mut doubt = None;
        loop {
            let Some(header) = stream.get(at) else {
                return short(at, "no end");
            };
            if *header == BATCH_END {
                return match doubt {
                    None => Verdict::Unchanged(at.wrapping_add(1)),
                    Some((at, rule)) => Verdict::Original { at, rule },
                };
            }
            let Some(row) = self.row(*header) else {
                return Verdict::Reject { at, rule: "client" };
            };
            let behind = at.saturating_add(row.length.of(*header));
            let Some(command) = stream.get(at..behind) else {
                return short(at, "length");
            };
            let rule = row.name;
            match self.opinion(row, command) {
                Opinion::Good => {}
                Opinion::Doubt => {
                    doubt.get_or_insert((at, rule));
                }
                Opinion::Bad => return Verdict::Original { at, rule },
            }
            at = behind;
        }
    }

    fn version(&self) -> u8 {
        VERSION
    }
}
