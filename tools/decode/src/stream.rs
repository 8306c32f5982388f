// SPDX-License-Identifier: GPL-2.0
//! Cutting a stream of dwords into commands.

use crate::command::{Command, Engine, Flow, Generation};

/// A command in a stream.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The index of its first dword.
    pub at: usize,
    /// Its dwords, as far as they are there.
    pub dwords: &'a [u32],
    /// How many it should have.
    pub length: usize,
    /// What it is, if a table has it.
    pub command: Option<&'static Command>,
    /// What it is called.
    pub name: &'static str,
    /// The name is its own, not one for what is not known.
    pub named: bool,
    /// It only fills a gap.
    padding: bool,
}

impl Item<'_> {
    /// True if the stream ends before the command does.
    pub fn is_cut(&self) -> bool {
        self.dwords.len() < self.length
    }

    /// True for the command that fills gaps.
    pub fn is_padding(&self) -> bool {
        self.padding
    }

    /// Where the stream goes; a command that is not all there goes nowhere.
    pub fn flow(&self) -> Flow {
        match self.command {
            Some(c) if !self.is_cut() => c.flow,
            _ => Flow::On,
        }
    }

    /// What the command calls: the address, and the number of dwords.
    pub fn call(&self) -> Option<(u64, u64)> {
        match (self.flow(), self.dwords) {
            (Flow::Call, [_, address, size, ..]) => {
                Some((u64::from(address & !3), u64::from(*size)))
            }
            _ => None,
        }
    }

    /// The batch that the command starts.
    pub fn batch(&self) -> Option<u64> {
        let low = u64::from(*self.dwords.get(1)? & !3);
        match self.flow() {
            Flow::Batch | Flow::Nested => Some(low),
            Flow::Wide => Some(low | u64::from(*self.dwords.get(2)?) << 32),
            Flow::On | Flow::End | Flow::Call => None,
        }
    }

    /// Nothing behind the command is run before the batch is left.
    pub fn leaves(&self) -> bool {
        let returns = self
            .dwords
            .first()
            .is_some_and(|header| header & 1 << 22 != 0);
        match self.flow() {
            Flow::On => false,
            Flow::Wide | Flow::Nested => !returns,
            Flow::End | Flow::Batch | Flow::Call => true,
        }
    }
}

/// The commands of a stream, one after the other, without following any.
#[derive(Clone)]
pub struct Walk<'a> {
    generation: &'static Generation,
    engine: Engine,
    dwords: &'a [u32],
    at: usize,
    end: usize,
}

impl<'a> Walk<'a> {
    /// From the dword with index `at` up to, not including, `end`.
    pub fn new(
        generation: &'static Generation,
        engine: Engine,
        dwords: &'a [u32],
        at: usize,
        end: usize,
    ) -> Self {
        Walk {
            generation,
            engine,
            dwords,
            at,
            end: end.min(dwords.len()),
        }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let rest = self.dwords.get(self.at..self.end)?;
        let header = *rest.first()?;
        let command = self.generation.find(self.engine, header);
        let (name, length, named) = self.generation.told(self.engine, header);
        let length = length.of(header);
        let filler = (self.generation.padding)(header).filter(|_| length == 1);
        let item = Item {
            at: self.at,
            dwords: &rest[..length.min(rest.len())],
            length,
            command,
            name: filler.unwrap_or(name),
            named,
            padding: filler.is_some(),
        };
        self.at += item.dwords.len();
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gen6::GENERATION;

    #[test]
    fn commands_follow_each_other() {
        let dwords = [
            0x1040_0002,
            0,
            0x8000,
            7,
            0,
            0x1880_0100,
            0x1_0003,
            0x1100_0003,
        ];
        let walk = Walk::new(&GENERATION, Engine::Render, &dwords, 0, usize::MAX);
        let items: Vec<_> = walk.collect();
        let at: Vec<_> = items.iter().map(|i| (i.at, i.name, i.is_cut())).collect();
        assert_eq!(
            at,
            [
                (0, "MI_STORE_DATA_IMM", false),
                (4, "MI_NOOP", false),
                (5, "MI_BATCH_BUFFER_START", false),
                (7, "MI_LOAD_REGISTER_IMM", true),
            ]
        );
        assert_eq!(items[2].batch(), Some(0x1_0000));
        assert_eq!(items[0].batch(), None);
        assert!(items[1].is_padding());
    }
}
