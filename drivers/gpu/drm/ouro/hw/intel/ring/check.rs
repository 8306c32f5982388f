// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A command parser that is made of tables: a row per command, a row per register.
//!
//! The checker reads a batch command by command, from its first dword to the first
//! `MI_BATCH_BUFFER_END`. A [`Row`] has the length of a command and the rule for it; a [`Register`]
//! is one that a batch may load and store. The consequences:
//!
//! | The command | The batch |
//! |---|---|
//! | has no row (unknown client), ends after the batch, or no end follows | is rejected |
//! | lacks bits of `must`, or names a register without a row | runs unprivileged |
//! | is in doubt, or lacks bits of `should` | runs unprivileged; the check goes on |
//!
//! The check goes on after a doubtful command: its length is known, and a later command may still
//! be an error.
//!
//! The checker allocates nothing; its time is proportional to the size of the batch.

use crate::{
    checker::{Checker, Patch, Resolve, Verdict},
    intel::{blt, mi::REGISTER},
};

/// The length of a command in dwords, by its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// A fixed number of dwords.
    Fixed(usize),
    /// The value of these bits of the header, plus two.
    Field(u32),
}

impl Length {
    /// Returns the length of a command with this header.
    #[inline]
    const fn of(self, header: u32) -> usize {
        match self {
            Length::Fixed(dwords) => dwords,
            Length::Field(mask) => (header & mask) as usize + 2,
        }
    }
}

/// A condition on bits of one of a command's dwords.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bits {
    /// Index of the dword. If the command is too short to have it, the condition does not hold.
    pub at: usize,
    /// The bits.
    pub mask: u32,
    /// Their required value.
    pub value: u32,
    /// Index and bits of a dword: the condition applies only if one of these bits is set.
    pub when: Option<(usize, u32)>,
}

impl Bits {
    /// Creates the condition that the bits are zero.
    pub(crate) const fn clear(at: usize, mask: u32) -> Self {
        Self::equal(at, mask, 0)
    }

    /// Creates the condition that the bits have a value.
    pub(crate) const fn equal(at: usize, mask: u32, value: u32) -> Self {
        Self {
            at,
            mask,
            value,
            when: None,
        }
    }

    /// Restricts the condition to commands in whose dword `at` one of the bits of `mask` is set.
    pub(crate) const fn when(self, at: usize, mask: u32) -> Self {
        Self {
            when: Some((at, mask)),
            ..self
        }
    }

    /// Returns whether a command meets the condition.
    fn hold(&self, command: &[u32]) -> bool {
        if let Some((at, mask)) = self.when {
            if command.get(at).is_none_or(|dword| dword & mask == 0) {
                return true;
            }
        }
        command
            .get(self.at)
            .is_some_and(|dword| dword & self.mask == self.value)
    }
}

/// The rule for a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The command is allowed.
    Pass,
    /// The command is allowed in unprivileged batches only; the check goes on.
    Doubt,
    /// The command is allowed in unprivileged batches only; the check ends.
    Refuse,
    /// The command has pairs of register and value: each register must be in the engine's list,
    /// with bits that may be set.
    Load,
    /// The command has one register, which must be in the list.
    Move {
        /// Whether the register is loaded from memory.
        loads: bool,
    },
}

/// A row of the table: a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// Name of the command.
    pub name: &'static str,
    /// The value of the header's bits in `mask`.
    pub value: u32,
    /// The bits of a header that identify the command.
    pub mask: u32,
    /// Length of the command.
    pub length: Length,
    /// Rule for the command.
    pub rule: Rule,
    /// Conditions without which the batch runs unprivileged and the check ends.
    pub must: &'static [Bits],
    /// Conditions without which the batch runs unprivileged and the check goes on.
    pub should: &'static [Bits],
}

impl Row {
    /// Creates the row of a command that the bits of `mask` identify.
    pub(crate) const fn new(
        name: &'static str,
        value: u32,
        mask: u32,
        length: Length,
        rule: Rule,
    ) -> Self {
        Self {
            name,
            value,
            mask,
            length,
            rule,
            must: &[],
            should: &[],
        }
    }

    /// Creates the row of an MI command: bits 31:23 identify it.
    pub(crate) const fn mi(name: &'static str, opcode: u32, length: Length, rule: Rule) -> Self {
        Self::new(name, opcode << 23, 0xff80_0000, length, rule)
    }

    /// Creates the row of a command of the pipelines: bits 31:16 identify it.
    pub(crate) const fn gfx(name: &'static str, header: u32, length: Length, rule: Rule) -> Self {
        Self::new(name, header << 16, 0xffff_0000, length, rule)
    }

    /// Creates the row of a blitter command: bits 31:22 identify it.
    pub(crate) const fn blt(name: &'static str, opcode: u32, length: Length) -> Self {
        Self::new(name, blt::opcode(opcode), 0xffc0_0000, length, Rule::Pass)
    }

    /// Sets [`must`](Self::must).
    pub(crate) const fn must(self, must: &'static [Bits]) -> Self {
        Self { must, ..self }
    }

    /// Sets [`should`](Self::should).
    pub(crate) const fn should(self, should: &'static [Bits]) -> Self {
        Self { should, ..self }
    }
}

/// A register, or several consecutive ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Register {
    /// Offset of the first register.
    pub offset: u32,
    /// The number of registers.
    pub dwords: u32,
    /// Bits that a batch may set in each register. They do not restrict stores of the register to
    /// memory.
    pub bits: u32,
}

impl Register {
    /// Creates a row of `dwords` registers, in which a batch may set all bits.
    pub(crate) const fn new(offset: u32, dwords: u32) -> Self {
        Self {
            offset,
            dwords,
            bits: u32::MAX,
        }
    }

    /// Creates a row of one register, with the bits that a batch may set.
    pub(crate) const fn masked(offset: u32, bits: u32) -> Self {
        Self {
            offset,
            dwords: 1,
            bits,
        }
    }

    /// Returns whether the row has the register at `offset`.
    const fn has(&self, offset: u32) -> bool {
        offset >= self.offset && offset.wrapping_sub(self.offset) < self.dwords.wrapping_mul(4)
    }
}

/// `MI_BATCH_BUFFER_END` (VCS §1.2.4). A header with any other bit set is no end.
const BATCH_END: u32 = 0x0a << 23;
/// The number of values of bits 31:23 of a header, by which the table is indexed.
const KEYS: usize = 512;
/// An entry of the index without a row.
const NONE: u8 = u8::MAX;

/// The checker of an engine.
pub struct Tables {
    version: u8,
    pub(crate) rows: &'static [Row],
    pub(crate) registers: &'static [Register],
    /// The first row that can match, for each value of bits 31:23.
    index: [u8; KEYS],
}

/// The checker's opinion of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Opinion {
    /// The batch may run privileged.
    Good,
    /// The batch must run unprivileged; the check goes on.
    Doubt,
    /// The batch must run unprivileged; the check ends.
    Bad,
}

impl Tables {
    /// Creates a checker from rows, in their order of search, and registers, ordered by offset.
    /// `version`: see [`Checker::version`].
    pub(crate) const fn new(
        version: u8,
        rows: &'static [Row],
        registers: &'static [Register],
    ) -> Self {
        assert!(rows.len() < NONE as usize);
        let mut index = [NONE; KEYS];
        let mut key = 0;
        while key < KEYS {
            let header = (key as u32) << 23;
            let mut row = 0;
            while row < rows.len() && index[key] == NONE {
                // The index covers bits 31:23 only.
                if (header ^ rows[row].value) & rows[row].mask & !0x007f_ffff == 0 {
                    index[key] = row as u8;
                }
                row += 1;
            }
            key += 1;
        }
        Self {
            version,
            rows,
            registers,
            index,
        }
    }

    /// Returns the row of a command; `None` if the engine does not have the command's client.
    #[inline]
    pub(crate) fn row(&self, header: u32) -> Option<&'static Row> {
        let first = *self.index.get((header >> 23) as usize)?;
        let rows = self.rows.get(usize::from(first)..)?;
        rows.iter().find(|row| (header ^ row.value) & row.mask == 0)
    }

    /// Judges a command, which is complete and has at least one dword.
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

    /// Returns the row of the register whose offset is in `dword`, and whether no other bits are
    /// set.
    fn register(&self, dword: u32) -> Option<(&'static Register, bool)> {
        let offset = dword & REGISTER;
        let behind = self.registers.partition_point(|r| r.offset <= offset);
        let register = self.registers.get(behind.checked_sub(1)?)?;
        register
            .has(offset)
            .then_some((register, dword & !REGISTER == 0))
    }

    /// Judges a command with pairs of register and value.
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

    /// Judges a command with one register and an address.
    fn moves(&self, command: &[u32], loads: bool) -> Opinion {
        match command.get(1).and_then(|dword| self.register(*dword)) {
            None => Opinion::Bad,
            // The value comes from memory and cannot be checked.
            Some((register, _)) if loads && register.bits != u32::MAX => Opinion::Doubt,
            Some((_, true)) => Opinion::Good,
            Some((_, false)) => Opinion::Doubt,
        }
    }
}

impl Checker for Tables {
    fn check(&self, stream: &[u32], objects: &dyn Resolve, _: &mut [Patch]) -> Verdict {
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
                    None => Verdict::unchanged(at.wrapping_add(1)),
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
        self.version
    }
}
