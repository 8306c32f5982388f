// SPDX-License-Identifier: GPL-2.0
//! A checker of batches that is made of tables: one row for a command, one for a register.
//!
//! A batch is read command by command, from its first dword to the first `MI_BATCH_BUFFER_END`. A [`Row`] says how long
//! its commands are, and what is asked of them; a [`Register`] that a batch may load and store it. What follows from
//! a row:
//!
//! | The command | The batch |
//! |---|---|
//! | has no row: no client that the engine has; is longer than what is left; no end follows | is refused |
//! | has not the bits that it must have, or a register that is in no row | runs without privilege |
//! | is not vouched for, or has not the bits that it should have | runs without privilege; the walk goes on |
//!
//! The walk goes on since a command that is not vouched for has a length all the same, and a later one may still be
//! an error.
//!
//! No allocation; time in proportion to the batch.

use crate::{
    checker::{Checker, Resolve, Verdict},
    intel::{blt, mi::REGISTER},
};

/// How many dwords a command has, by its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// Always so many.
    Fixed(usize),
    /// Two more than these bits of the header say.
    Field(u32),
}

impl Length {
    /// Of a command with this header.
    #[inline]
    const fn of(self, header: u32) -> usize {
        match self {
            Length::Fixed(dwords) => dwords,
            Length::Field(mask) => (header & mask) as usize + 2,
        }
    }
}

/// Bits of a command's dword, and what they must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bits {
    /// Which dword. Where the command is too short to have it, the bits do not hold.
    pub at: usize,
    /// Which bits.
    pub mask: u32,
    /// Their value.
    pub value: u32,
    /// Asked for only if one of these bits of that dword is set.
    pub when: Option<(usize, u32)>,
}

impl Bits {
    /// They must be zero.
    pub(crate) const fn clear(at: usize, mask: u32) -> Self {
        Self::equal(at, mask, 0)
    }

    /// They must be `value`.
    pub(crate) const fn equal(at: usize, mask: u32, value: u32) -> Self {
        Self {
            at,
            mask,
            value,
            when: None,
        }
    }

    /// The same, if one of these bits of dword `at` is set.
    pub(crate) const fn when(self, at: usize, mask: u32) -> Self {
        Self {
            when: Some((at, mask)),
            ..self
        }
    }

    /// Whether the bits are as they must be.
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

/// What is asked of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Nothing.
    Pass,
    /// Nothing, but it is not vouched for.
    Doubt,
    /// It is not for user space.
    Refuse,
    /// Its registers, each followed by a value, are in the engine's list, with the bits that may be set.
    Load,
    /// Its one register is in the list.
    Move {
        /// Whether the register is written, from memory.
        loads: bool,
    },
}

/// A command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// What it is called.
    pub name: &'static str,
    /// What its header has in the bits of `mask`.
    pub value: u32,
    /// The bits of a header that tell it from others.
    pub mask: u32,
    /// Its length.
    pub length: Length,
    /// What is asked of it.
    pub rule: Rule,
    /// Bits without which it is not for user space.
    pub must: &'static [Bits],
    /// Bits without which it is not vouched for.
    pub should: &'static [Bits],
}

impl Row {
    /// One that is told by the bits of `mask`.
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

    /// A memory interface command: bits 31:23.
    pub(crate) const fn mi(name: &'static str, opcode: u32, length: Length, rule: Rule) -> Self {
        Self::new(name, opcode << 23, 0xff80_0000, length, rule)
    }

    /// A command of the pipelines: bits 31:16.
    pub(crate) const fn gfx(name: &'static str, header: u32, length: Length, rule: Rule) -> Self {
        Self::new(name, header << 16, 0xffff_0000, length, rule)
    }

    /// A command of the blitter: bits 31:22.
    pub(crate) const fn blt(name: &'static str, opcode: u32, length: Length) -> Self {
        Self::new(name, blt::opcode(opcode), 0xffc0_0000, length, Rule::Pass)
    }

    /// With bits without which it is not for user space.
    pub(crate) const fn must(self, must: &'static [Bits]) -> Self {
        Self { must, ..self }
    }

    /// With bits without which it is not vouched for.
    pub(crate) const fn should(self, should: &'static [Bits]) -> Self {
        Self { should, ..self }
    }
}

/// A register, or a few in succession.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Register {
    /// Offset of the first.
    pub offset: u32,
    /// How many dwords there are.
    pub dwords: u32,
    /// Bits that a batch may set in each. What is stored to memory is not asked for them.
    pub bits: u32,
}

impl Register {
    /// So many dwords, all bits of which may be set.
    pub(crate) const fn new(offset: u32, dwords: u32) -> Self {
        Self {
            offset,
            dwords,
            bits: u32::MAX,
        }
    }

    /// One, with the bits that may be set.
    pub(crate) const fn masked(offset: u32, bits: u32) -> Self {
        Self {
            offset,
            dwords: 1,
            bits,
        }
    }

    /// Whether the register at `offset` is one of them.
    const fn has(&self, offset: u32) -> bool {
        offset >= self.offset && offset.wrapping_sub(self.offset) < self.dwords.wrapping_mul(4)
    }
}

/// `MI_BATCH_BUFFER_END` (VCS §1.2.4). With another bit set it is another dword.
const BATCH_END: u32 = 0x0a << 23;
/// Values of bits 31:23 of a header, of which each table has an index.
const KEYS: usize = 512;
/// In the index: no row.
const NONE: u8 = u8::MAX;

/// The checker of an engine.
pub struct Tables {
    version: u8,
    pub(crate) rows: &'static [Row],
    pub(crate) registers: &'static [Register],
    /// For each value of bits 31:23: the first row that can be the command's.
    index: [u8; KEYS],
}

/// What a command means for its batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Opinion {
    /// It may run with privilege.
    Good,
    /// Not so, but the walk goes on.
    Doubt,
    /// It may not, and the walk ends.
    Bad,
}

impl Tables {
    /// One of these rows, in order of search, and registers, in the order of offsets. `version`: see
    /// [`Checker::version`].
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
                // Bits 22:0 are not in the key.
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

    /// The row of a command; `None` if the engine has not its client.
    #[inline]
    pub(crate) fn row(&self, header: u32) -> Option<&'static Row> {
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
        let offset = dword & REGISTER;
        let behind = self.registers.partition_point(|r| r.offset <= offset);
        let register = self.registers.get(behind.checked_sub(1)?)?;
        register
            .has(offset)
            .then_some((register, dword & !REGISTER == 0))
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
        self.version
    }
}
