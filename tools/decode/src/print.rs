// SPDX-License-Identifier: GPL-2.0
//! A stream of commands in words: address, dword and meaning, a line for each dword.

use crate::command::{Generation, Tail};
use crate::stream::{Item, Walk};
use crate::words::Words;
use std::io::{self, Write};

/// Places that are pointed at.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// The address at which the engine stood: all lines of its command begin with `>`.
    pub offending: Option<u64>,
    /// Addresses with a name: told at the end of the line.
    pub labels: Vec<(u64, &'static str)>,
}

impl Marks {
    /// True if a range of bytes has something to point at.
    fn within(&self, range: &std::ops::Range<u64>) -> bool {
        self.offending.is_some_and(|a| range.contains(&a))
            || self.labels.iter().any(|l| range.contains(&l.0))
    }
}

/// How a stream went out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The batches that it starts.
    pub batches: Vec<u64>,
    /// The offending command was in it.
    pub offending: bool,
    /// It ended by its own command; else by the end of memory.
    pub ended: bool,
}

/// Zeros and data in a row that are shown before the rest is counted.
const SHOWN: usize = 16;

/// Padding in a row.
#[derive(Default)]
struct Gap {
    count: u64,
    dword: u32,
    name: &'static str,
}

/// Prints commands to a writer.
pub struct Printer<'a> {
    /// Whose commands.
    pub generation: &'static Generation,
    /// Where to.
    pub out: &'a mut dyn Write,
    /// What is pointed at.
    pub marks: Marks,
}

impl Printer<'_> {
    /// Prints a stream whose dword 0 is at address `base`. With `follow`, ends after the command that
    /// leaves the stream, as an engine does; without, passes on to what is behind it. `fresh` says
    /// whether a command, by the index of its first dword, is to be printed: the first that is not
    /// ends the stream.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn stream(
        &mut self,
        walk: Walk<'_>,
        base: u64,
        follow: bool,
        mut fresh: impl FnMut(usize) -> bool,
    ) -> io::Result<Printed> {
        let mut printed = Printed::default();
        let mut padding = Gap::default();
        let mut next = base;
        for item in walk {
            let here = base.wrapping_add(item.at as u64 * 4);
            let range = here..here.wrapping_add(item.dwords.len() as u64 * 4);
            if item.is_padding() && !self.marks.within(&range) && fresh(item.at) {
                let dword = item.dwords.first().copied().unwrap_or(0);
                if padding.count > 0 && padding.dword != dword {
                    self.padding(std::mem::take(&mut padding), next)?;
                }
                padding.count += 1;
                (padding.dword, padding.name) = (dword, item.name);
                next = range.end;
                continue;
            }
            self.padding(std::mem::take(&mut padding), next)?;
            if !item.is_padding() && !fresh(item.at) {
                writeln!(self.out, "  {here:#010x}            goes on as told before")?;
                printed.ended = true;
                return Ok(printed);
            }
            let offending = self.marks.offending.is_some_and(|a| range.contains(&a));
            printed.offending |= offending;
            printed.batches.extend(item.batch());
            self.command(&item, here, offending)?;
            if follow && item.leaves() {
                printed.ended = true;
                return Ok(printed);
            }
        }
        self.padding(padding, next)?;
        Ok(printed)
    }

    /// Padding that ends before `end`.
    fn padding(&mut self, gap: Gap, end: u64) -> io::Result<()> {
        let Gap { count, dword, name } = gap;
        let start = end.wrapping_sub(count * 4);
        if count > 2 {
            return writeln!(
                self.out,
                "  {start:#010x}  {dword:08x}  {name}, {count} times"
            );
        }
        for n in 0..count {
            let at = start.wrapping_add(n * 4);
            writeln!(self.out, "  {at:#010x}  {dword:08x}  {name}")?;
        }
        Ok(())
    }

    fn command(&mut self, item: &Item<'_>, base: u64, offending: bool) -> io::Result<()> {
        let sign = if offending { '>' } else { ' ' };
        let mut shown = 0;
        for (n, dword) in item.dwords.iter().enumerate() {
            let at = base.wrapping_add(n as u64 * 4);
            let range = at..at.wrapping_add(4);
            let text = Words(self.generation).dword(item, n, *dword);
            // Data without a name of its own, in quantity, is counted; never where a mark is.
            let dull = n > 0
                && !item.command.is_some_and(|c| {
                    matches!(c.tail, Tail::Values(_)) || c.fields().any(|f| f.dword == n)
                });
            shown += usize::from(dull);
            if dull && shown > SHOWN && !self.marks.within(&range) {
                continue;
            }
            write!(self.out, "{sign} {at:#010x}  {dword:08x}  {text}")?;
            if self.marks.offending.is_some_and(|a| range.contains(&a)) {
                write!(self.out, " <- here")?;
            }
            for (_, name) in self.marks.labels.iter().filter(|l| range.contains(&l.0)) {
                write!(self.out, " <- {name}")?;
            }
            writeln!(self.out)?;
        }
        if shown > SHOWN {
            let more = shown - SHOWN;
            writeln!(self.out, "{sign}                         and {more} more")?;
        }
        if item.is_cut() {
            let missing = item.length - item.dwords.len();
            writeln!(
                self.out,
                "{sign}                         cut off: {missing} dwords are missing"
            )?;
        }
        Ok(())
    }
}
