// SPDX-License-Identifier: GPL-2.0
//! What a generation's tables are made of: commands, their lengths and their fields.

use crate::names::{self, Era};
use std::borrow::Cow;

/// Kinds of engines; each understands its own commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// 3D and media.
    Render,
    /// Video codecs.
    Video,
    /// What improves decoded pictures.
    Enhance,
    /// Copies and fills.
    Blitter,
    /// Programs without 3D.
    Compute,
}

/// How a field is shown.
#[derive(Clone, Copy, Debug)]
pub enum Show {
    /// Its name if it is set, nothing otherwise.
    Flag,
    /// Hexadecimal, if it is not zero.
    Some,
    /// Decimal.
    Number,
    /// Decimal, in two's complement of the field's width.
    Signed,
    /// Hexadecimal.
    Hex,
    /// An address: the bits stay where they are.
    Address,
    /// The byte offset of a register, by name if it has one.
    Register,
    /// The same as an index of dwords, in the field's lowest bits.
    RegisterIndex,
    /// One of these; any other value in hexadecimal.
    Choice(&'static [(u32, &'static str)]),
}

/// A field of a command.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Which dword, from 0.
    pub dword: usize,
    /// Its uppermost bit.
    pub high: u8,
    /// Its lowest bit.
    pub low: u8,
    /// What it is called.
    pub name: &'static str,
    /// How it is shown.
    pub show: Show,
}

impl Field {
    /// The field's bits of a dword, shifted down; as an address, in their place.
    pub fn of(&self, dword: u32) -> u32 {
        let width = u32::from(self.high - self.low) + 1;
        let mask = u32::MAX >> (32 - width);
        match self.show {
            Show::Address | Show::Register => dword & (mask << self.low),
            _ => (dword >> self.low) & mask,
        }
    }
}

/// How many dwords a command has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// One.
    One,
    /// The header's bits from this one down to 0, and two.
    Upto(u8),
    /// The header's bits 29:16, and two.
    Body,
    /// Three.
    Three,
}

impl Engine {
    /// All of them.
    pub const ALL: [Engine; 5] = [
        Engine::Render,
        Engine::Video,
        Engine::Enhance,
        Engine::Blitter,
        Engine::Compute,
    ];
}

impl Length {
    /// The length that a header gives.
    pub fn of(self, header: u32) -> usize {
        match self {
            Length::One => 1,
            Length::Upto(high) => (header & (u32::MAX >> (31 - high))) as usize + 2,
            Length::Body => (header >> 16 & 0x3fff) as usize + 2,
            Length::Three => 3,
        }
    }
}

/// What the dwords from a place on are, as many as there may be.
#[derive(Clone, Copy, Debug)]
pub enum Tail {
    /// Nothing that has a name.
    Nothing,
    /// Data of one kind from this dword on.
    Data(usize, &'static str),
    /// From dword 1 on, a register and its value by turns.
    Registers,
    /// From dword 1 on, values: of registers that the header names, by this function.
    Values(fn(u32, usize) -> u32),
    /// What is in a dword depends on those before it: its fields by all dwords and its index. Their own
    /// index does not count.
    Layout(fn(&[u32], usize) -> &'static [Field]),
}

/// A rule that a command may break: told where the dword is that breaks it.
#[derive(Clone, Copy, Debug)]
pub struct Warning {
    /// The dword at which it is told.
    pub dword: usize,
    /// True if these dwords of a whole command break it.
    pub broken: fn(&[u32]) -> bool,
    /// What is wrong.
    pub text: &'static str,
}

/// Where a stream goes after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To what follows.
    On,
    /// Out of the batch.
    End,
    /// To the batch at the address in dword 1.
    Batch,
    /// The same; and back, if the header has bit 22: a batch of the second level.
    Nested,
    /// To the batch at the address in dwords 1 and 2; and back, if the header has bit 22.
    Wide,
    /// To what is at the address in dword 1, of as many dwords as dword 2 says, and back.
    Call,
}

/// A command.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Its name in the documents.
    pub name: &'static str,
    /// The header's bits that tell it.
    pub mask: u32,
    /// What they are.
    pub header: u32,
    /// Its length.
    pub length: Length,
    /// Its fields, in the order in which they are shown; in groups, which commands share.
    pub fields: [&'static [Field]; 3],
    /// What follows its fields.
    pub tail: Tail,
    /// Where the stream goes.
    pub flow: Flow,
    /// What may be wrong with it.
    pub warnings: &'static [Warning],
}

impl Command {
    /// One without fields, after which the stream goes on.
    pub const fn new(name: &'static str, mask: u32, header: u32, length: Length) -> Self {
        Command {
            name,
            mask,
            header,
            length,
            fields: [&[], &[], &[]],
            tail: Tail::Nothing,
            flow: Flow::On,
            warnings: &[],
        }
    }

    /// The same with fields.
    pub const fn with(self, fields: &'static [Field]) -> Self {
        self.groups([fields, &[], &[]])
    }

    /// The same with groups of fields.
    pub const fn groups(self, fields: [&'static [Field]; 3]) -> Self {
        Command { fields, ..self }
    }

    /// The same with more behind its fields.
    pub const fn tail(self, tail: Tail) -> Self {
        Command { tail, ..self }
    }

    /// The same, from which the stream goes elsewhere.
    pub const fn flow(self, flow: Flow) -> Self {
        Command { flow, ..self }
    }

    /// The same with rules that it may break.
    pub const fn warn(self, warnings: &'static [Warning]) -> Self {
        Command { warnings, ..self }
    }

    /// It stands for several commands, which only their lengths are known of.
    pub fn is_group(&self) -> bool {
        self.header >> 29 == 3 && self.mask & 0x00ff_0000 == 0
    }

    /// All its fields.
    pub fn fields(&self) -> impl Iterator<Item = &'static Field> {
        self.fields.into_iter().flatten()
    }
}

/// A generation of chips.
pub struct Generation {
    /// Its name in an error state.
    pub name: &'static str,
    /// The commands of an engine. The first that fits is it.
    pub commands: fn(Engine) -> &'static [&'static [Command]],
    /// The length of a command that is in no table, and what to call it.
    pub unknown: fn(Engine, u32) -> (Length, &'static str),
    /// The name of a register by its byte offset.
    pub register: fn(u32) -> Option<Cow<'static, str>>,
    /// What is in a register, as far as it is told.
    pub fields: fn(u32) -> &'static [Field],
    /// The name of the command of one dword that a header is, if that only fills gaps.
    pub padding: fn(u32) -> Option<&'static str>,
    /// Its error states have the header of the command that was fetched.
    pub tells_header: bool,
    /// Where names and lengths are looked up that its tables have not.
    pub era: Option<Era>,
}

impl Generation {
    /// The command that a header begins.
    pub fn find(&self, engine: Engine, header: u32) -> Option<&'static Command> {
        let mut all = (self.commands)(engine).iter().copied().flatten();
        all.find(|c| header & c.mask == c.header)
    }

    /// The name and the length of the command that a header begins, and whether the name is its own: not that of a
    /// whole group, nor one for what is not known.
    pub fn told(&self, engine: Engine, header: u32) -> (&'static str, Length, bool) {
        let found = self.find(engine, header);
        let own = found.filter(|c| !c.is_group());
        if let Some(c) = own {
            return (c.name, c.length, true);
        }
        let named = self.era.and_then(|era| names::name(era, engine, header));
        let length = self.era.and_then(|era| names::length(era, engine, header));
        let (otherwise, group) = match found {
            Some(c) => (c.length, c.name),
            None => (self.unknown)(engine, header),
        };
        let length = found.map(|c| c.length).or(length).unwrap_or(otherwise);
        (named.unwrap_or(group), length, named.is_some())
    }
}

/// A rule: `text` is told at a dword if `broken` finds that the command breaks it.
pub const fn warning(dword: usize, text: &'static str, broken: fn(&[u32]) -> bool) -> Warning {
    Warning {
        dword,
        broken,
        text,
    }
}

/// A flag: shown if set.
pub const fn flag(dword: usize, bit: u8, name: &'static str) -> Field {
    bits(dword, bit, bit, name, Show::Flag)
}

/// A decimal number.
pub const fn number(dword: usize, high: u8, low: u8, name: &'static str) -> Field {
    bits(dword, high, low, name, Show::Number)
}

/// A hexadecimal number.
pub const fn hex(dword: usize, high: u8, low: u8, name: &'static str) -> Field {
    bits(dword, high, low, name, Show::Hex)
}

/// An address.
pub const fn address(dword: usize, high: u8, low: u8, name: &'static str) -> Field {
    bits(dword, high, low, name, Show::Address)
}

/// One of several meanings.
pub const fn choice(
    dword: usize,
    high: u8,
    low: u8,
    name: &'static str,
    of: &'static [(u32, &'static str)],
) -> Field {
    bits(dword, high, low, name, Show::Choice(of))
}

/// Any field.
pub const fn bits(dword: usize, high: u8, low: u8, name: &'static str, show: Show) -> Field {
    Field {
        dword,
        high,
        low,
        name,
        show,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_take_their_bits() {
        assert_eq!(number(0, 15, 8, "x").of(0x1234_5678), 0x56);
        assert_eq!(number(0, 31, 0, "x").of(0x1234_5678), 0x1234_5678);
        assert_eq!(flag(0, 31, "x").of(0x8000_0000), 1);
        assert_eq!(address(0, 31, 12, "x").of(0x1234_5678), 0x1234_5000);
    }

    #[test]
    fn lengths() {
        assert_eq!(Length::Body.of(0xc001_1000), 3);
        assert_eq!(Length::Body.of(0xffff_1000), 0x4001);
        assert_eq!(Length::Three.of(0x4000_0000), 3);
        assert_eq!(Length::One.of(0xffff_ffff), 1);
        assert_eq!(Length::Upto(5).of(0x1040_0002), 4);
        assert_eq!(Length::Upto(7).of(0x54f0_00ff), 257);
        assert_eq!(Length::Upto(31).of(1), 3);
    }
}
