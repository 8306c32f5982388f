// SPDX-License-Identifier: GPL-2.0
//! Rings and batches of a post: which of them are commands, where an engine stands in them, and their lines.

use super::{same_engine, Buffer, Post, Role, State};
use crate::command::{Engine, Flow, Generation};
use crate::stream::{Item, Walk};
use crate::words::Words;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A label at an address.
pub type Label = (u64, &'static str);

/// What was seen of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Commands.
    pub commands: usize,
    /// Those that have no name, by header: how often.
    pub nameless: BTreeMap<u32, usize>,
    /// Those of which not even a client is known: they were passed over as one dword.
    pub lengthless: usize,
    /// Commands whose end is not there.
    pub cut: usize,
}

impl Count {
    fn add(&mut self, item: &Item<'_>) {
        self.commands += 1;
        self.cut += usize::from(item.is_cut());
        if item.is_padding() || item.named {
            return;
        }
        let header = item.dwords.first().copied().unwrap_or(0);
        // What the length is counted in is not of the name.
        *self.nameless.entry(header & 0xffff_0000).or_default() += 1;
        self.lengthless += usize::from(!matches!(header >> 29, 0 | 2 | 3));
    }

    /// The sum of two.
    pub fn merge(&mut self, other: &Count) {
        self.commands += other.commands;
        self.cut += other.cut;
        self.lengthless += other.lengthless;
        for (header, times) in &other.nameless {
            *self.nameless.entry(*header).or_default() += times;
        }
    }

    /// In words: how many, and which have no name.
    pub fn words(&self) -> String {
        let nameless: usize = self.nameless.values().sum();
        let mut out = format!("{} commands", self.commands);
        match nameless {
            0 => out.push_str(", all known"),
            _ => {
                let named = self.commands - nameless;
                out.push_str(&format!(
                    ", {}.{} % known by name",
                    named * 100 / self.commands,
                    named * 1000 / self.commands % 10
                ));
                let list: Vec<String> = self
                    .nameless
                    .iter()
                    .take(8)
                    .map(|(h, n)| format!("{h:08x} {n} times"))
                    .collect();
                out.push_str(&format!(" (not {})", list.join(", ")));
                out.push_str(&format!(", {} without a known length", self.lengthless));
            }
        }
        out
    }
}

/// A stream as it was printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// What was in it.
    pub count: Count,
    /// The batches that it starts.
    pub batches: Vec<u64>,
    /// The labels that stood at one of its commands.
    pub labels: Vec<u64>,
}

/// A stream that is printed or only counted.
pub struct Stream<'a> {
    /// Whose commands.
    pub generation: &'static Generation,
    /// Of which engine.
    pub engine: Engine,
    /// The memory.
    pub dwords: &'a [u32],
    /// Address of the first dword of it.
    pub base: u64,
}

/// Zeros in a row are one line.
#[derive(Default)]
struct Gap {
    from: u64,
    count: u64,
}

impl<'a> Stream<'a> {
    /// Its commands, from a dword to another.
    pub fn walk(&self, from: usize, to: usize) -> Walk<'a> {
        Walk::new(self.generation, self.engine, self.dwords, from, to)
    }

    /// Where commands begin from a dword on that may be within one: the first place from which a row of them
    /// all have names.
    pub fn begin(&self, from: usize, to: usize) -> usize {
        let good = |at: usize| {
            self.walk(at, to)
                .take(24)
                .all(|i| i.is_padding() || i.named && !i.is_cut())
        };
        let last = from.saturating_add(64).min(to);
        (from..last).find(|at| good(*at)).unwrap_or(from)
    }

    fn address(&self, n: usize) -> u64 {
        self.base.wrapping_add(n as u64 * 4)
    }

    /// Prints commands from one dword to another; with `follow`, up to the one that leaves the batch. `fresh` says
    /// whether a command, by its first dword, was not printed before: the first that was ends it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn print(
        &self,
        (from, to): (usize, usize),
        follow: bool,
        labels: &[Label],
        mut fresh: impl FnMut(usize) -> bool,
        out: &mut dyn Write,
    ) -> io::Result<Printed> {
        let mut printed = Printed::default();
        let mut gap = Gap::default();
        for item in self.walk(from, to) {
            let here = self.address(item.at);
            if !fresh(item.at) {
                gap.print(out)?;
                writeln!(out, "  {here:#010x}            goes on as told before")?;
                break;
            }
            printed.count.add(&item);
            let range = here..self.address(item.at + item.dwords.len());
            let mine: Vec<&Label> = labels.iter().filter(|l| range.contains(&l.0)).collect();
            if item.is_padding() && mine.is_empty() {
                if gap.count == 0 {
                    gap.from = here;
                }
                gap.count += 1;
                continue;
            }
            gap.print(out)?;
            let sign = if mine.is_empty() { ' ' } else { '>' };
            let header = item.dwords.first().copied().unwrap_or(0);
            write!(
                out,
                "{sign} {here:#010x}  {header:08x}  {}",
                Words(self.generation).line(&item)
            )?;
            for (address, name) in mine {
                printed.labels.push(*address);
                match address - here {
                    0 => write!(out, " <- {name}")?,
                    more => write!(out, " <- {name}, {more} bytes on")?,
                }
            }
            writeln!(out)?;
            printed.batches.extend(item.batch());
            if follow && item.leaves() {
                break;
            }
        }
        gap.print(out)?;
        Ok(printed)
    }

    /// Counts without printing.
    pub fn count(&self, from: usize, to: usize) -> Count {
        let mut count = Count::default();
        self.walk(from, to).for_each(|item| count.add(&item));
        count
    }

    /// The command that a dword is in, and the one before it, when commands begin at `from`.
    pub fn around(&self, from: usize, at: usize) -> (Option<Item<'a>>, Option<Item<'a>>) {
        let mut before = None;
        for item in self.walk(from, self.dwords.len()) {
            if item.at <= at && at < item.at + item.dwords.len() {
                return (before, Some(item));
            }
            before = Some(item);
        }
        (before, None)
    }
}

impl Gap {
    fn print(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let gap = std::mem::take(self);
        match gap.count {
            0 => Ok(()),
            1 => writeln!(out, "  {:#010x}  00000000  MI_NOOP", gap.from),
            n => writeln!(out, "  {:#010x}  00000000  MI_NOOP, {n} times", gap.from),
        }
    }
}

/// The ring of an engine.
pub fn ring<'a>(post: &'a Post, engine: &str) -> Option<&'a Buffer> {
    let mut all = post
        .buffers
        .iter()
        .filter(|b| b.role == Role::Ring && same_engine(&b.engine, engine));
    all.clone()
        .find(|b| !b.dwords.is_empty())
        .or_else(|| all.next())
}

/// What may hold an address that a batch leads to: batches first, those of the engine before others.
pub fn holds<'a>(post: &'a Post, engine: &str, address: u64) -> Option<&'a Buffer> {
    let mine =
        |b: &&Buffer| b.role != Role::Other && b.role != Role::Ring && b.index(address).is_some();
    let rank = |b: &&Buffer| (!same_engine(&b.engine, engine), b.role != Role::Batch);
    post.buffers.iter().filter(mine).min_by_key(rank)
}

/// Where an engine stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nothing says so.
    Untold,
    /// In its ring, at an offset.
    Ring(u64),
    /// In a copy of memory, at an address.
    Copy(u64),
    /// At an address of which there is no copy.
    Gone(u64),
}

/// Where an engine stands: ACTHD in a batch, else HEAD in the ring.
pub fn place(post: &Post, state: &State) -> Place {
    const OFFSET: u64 = 0x1f_fffc;
    let head = state.head();
    let Some(acthd) = state.acthd() else {
        return head.map_or(Place::Untold, Place::Ring);
    };
    let ring = ring(post, &state.name);
    let start = state.start().or(ring.map(|r| r.address));
    let size = state
        .number(&["CTL", "RING_CTL"])
        .map_or(0, |c| (c & 0x1f_f000) + 0x1000);
    let size = ring.map_or(size, |r| r.dwords.len() as u64 * 4).max(0x1000);
    // Before Gen8, ACTHD in a ring is its offset, with the wrap count that HEAD has or without; from then on it
    // is an address.
    let whole = state.number(&["HEAD", "RING_HEAD"]);
    let same = whole.is_some_and(|h| h & 0xffff_fffc == acthd & 0xffff_fffc);
    let wide = post.chip.is_some_and(|c| c.generation >= 80);
    if same || !wide && acthd < size && head == Some(acthd & OFFSET) {
        return Place::Ring(acthd & OFFSET);
    }
    let address = start.filter(|s| *s != 0).and_then(|s| acthd.checked_sub(s));
    if let Some(offset) = address.filter(|o| wide && *o < size) {
        return Place::Ring(offset & !3);
    }
    if holds(post, &state.name, acthd).is_some() {
        return Place::Copy(acthd);
    }
    if acthd < size {
        return Place::Ring(acthd & !3);
    }
    match address.filter(|o| *o < size) {
        Some(offset) => Place::Ring(offset & !3),
        None => Place::Gone(acthd),
    }
}

/// The batch that the ring's commands before an offset start last, within a buffer.
pub fn started(stream: &Stream<'_>, head: usize, buffer: &Buffer) -> Option<u64> {
    let from = stream.begin(head.saturating_sub(0x400), head);
    let first = if head < 0x400 { 0 } else { from };
    let items = stream.walk(first, head.min(stream.dwords.len()));
    let starts = items.filter_map(|i| i.batch());
    starts.filter(|a| buffer.index(*a).is_some()).last()
}

/// Where the commands of a batch begin: where the ring or the job says, else at the start of the copy.
pub fn begins(post: &Post, generation: &'static Generation, buffer: &Buffer) -> u64 {
    if let Some(address) = post.batches.iter().find(|a| buffer.index(**a).is_some()) {
        return *address;
    }
    let state = post
        .engines
        .iter()
        .find(|e| same_engine(&e.name, &buffer.engine));
    let ring = ring(post, &buffer.engine);
    let found = || {
        let (state, ring) = (state?, ring?);
        let stream = Stream {
            generation,
            engine: super::engine(&buffer.engine)?,
            dwords: &ring.dwords,
            base: ring.address,
        };
        let head = usize::try_from(state.head()? / 4).ok()?;
        started(&stream, head, buffer)
    };
    found().unwrap_or(buffer.address)
}

/// True if commands go on elsewhere after this one.
pub fn jumps(item: &Item<'_>) -> bool {
    matches!(item.flow(), Flow::Batch | Flow::Wide | Flow::Nested)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gen4;

    /// The rings of old chips lie low: an offset in the ring may also be an address in it.
    #[test]
    fn offsets_and_addresses() {
        let text = |id: u32, head: u32, acthd: u32| {
            format!(
                "PCI ID: {id:#06x}\nrender command stream:\n  START: 0x00001000\n  HEAD: {head:#010x}\n  CTL: 0x0001f001\n  \
                 ACTHD: {acthd:#010x}\n"
            )
        };
        let place = |id, head, acthd| {
            let post = super::super::i915::read(&text(id, head, acthd));
            place(&post, &post.engines[0])
        };
        // GM45: an offset, with the count of wraps, without, and another one.
        assert_eq!(place(0x2a42, 0x0040_2000, 0x0040_2000), Place::Ring(0x2000));
        assert_eq!(place(0x2a42, 0x0040_2000, 0x2000), Place::Ring(0x2000));
        assert_eq!(place(0x2a42, 0x0040_2000, 0x1ff8), Place::Ring(0x1ff8));
        // Skylake: an address.
        assert_eq!(place(0x1916, 0x0000_2000, 0x3000), Place::Ring(0x2000));
        assert_eq!(
            place(0x1916, 0x0000_2000, 0x0100_0000),
            Place::Gone(0x0100_0000)
        );
    }

    #[test]
    fn what_was_seen_in_words() {
        // Three that are known, one of a client that there is not, one of the 3D pipe that no table has, cut off.
        let dwords = [0x0200_0000, 0, 0x0500_0000, 0xffff_ffff, 0x7bff_0004, 0];
        let stream = Stream {
            generation: &gen4::GENERATION,
            engine: Engine::Render,
            dwords: &dwords,
            base: 0,
        };
        let count = stream.count(0, usize::MAX);
        assert_eq!((count.commands, count.lengthless, count.cut), (5, 1, 1));
        assert_eq!(
            count.words(),
            "5 commands, 60.0 % known by name (not 7bff0000 1 times, ffff0000 1 times), 1 without a known length"
        );
        assert_eq!(stream.count(0, 3).words(), "3 commands, all known");
    }

    /// A row begins behind the rest of a command that was cut.
    #[test]
    fn a_row_of_commands_is_found() {
        let mut dwords = vec![0xffff_ffff, 0x8000_0000];
        dwords.extend([0x0200_0000; 30]);
        let stream = Stream {
            generation: &gen4::GENERATION,
            engine: Engine::Render,
            dwords: &dwords,
            base: 0,
        };
        assert_eq!(stream.begin(0, dwords.len()), 2);
        assert_eq!(stream.begin(5, dwords.len()), 5);
    }
}
