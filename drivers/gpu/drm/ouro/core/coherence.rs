// SPDX-License-Identifier: GPL-2.0
//! What the CPU's caches may hold of an object that the device does not snoop, and which lines are flushed when.
//!
//! The device reads and writes memory. The CPU reaches the same memory through its caches (copies by the kernel,
//! write-back mappings) and past them (write-combined mappings, the aperture). Two things go wrong without care:
//!
//! - a line is *dirty*: the CPU has written it, memory has not got it. The device reads what was there before, and when
//!   the line is evicted, at any time, it overwrites what others have written past the cache;
//! - a line is *stale*: memory was written past the cache, and the CPU reads what was there before, and a write to a
//!   part of the line brings the rest of it back.
//!
//! A flush is the answer to both: it writes a dirty line back, and drops it. Here is decided which range is flushed
//! when. What the kernel copies is flushed at once, line by line. What user space writes through a mapping is known by
//! the pages that faults have shown it, and by the domain that it announces; it is flushed before the next batch, and
//! before another path to the memory is opened.
//!
//! Nothing of this runs for an object that the device snoops.

use crate::disjoint::Disjoint;
use core::ops::Range;
use ouro_hw::Coherence;

/// Bytes of a line of the CPU's caches.
pub const LINE: u64 = 64;

/// Ranges that are kept apart; more of them are kept together.
const RANGES: usize = 4;

/// Why lines are flushed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Pages came, zeroed or from swap: the CPU has written them.
    Populate,
    /// A batch is about to use the object.
    Batch,
    /// User space is about to write or read it past the cache.
    Uncached,
    /// User space is about to read it through the cache.
    Domain,
    /// The kernel is about to read it.
    Read,
    /// The kernel writes it.
    Write,
    /// Its pages go, and their contents are kept.
    Release,
    /// It is read because an engine hangs.
    Capture,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 8] = [
        Cause::Populate,
        Cause::Batch,
        Cause::Uncached,
        Cause::Domain,
        Cause::Read,
        Cause::Write,
        Cause::Release,
        Cause::Capture,
    ];

    /// A word for statistics.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Populate => "populate",
            Cause::Batch => "batch",
            Cause::Uncached => "uncached",
            Cause::Domain => "domain",
            Cause::Read => "read",
            Cause::Write => "write",
            Cause::Release => "release",
            Cause::Capture => "capture",
        }
    }
}

/// Lines that a range of bytes has a part of.
pub const fn lines(range: &Range<u64>) -> u64 {
    match range.start < range.end {
        true => range.end.div_ceil(LINE) - range.start / LINE,
        false => 0,
    }
}

/// The range, as whole lines.
const fn whole(range: &Range<u64>) -> Range<u64> {
    range.start / LINE * LINE..range.end.next_multiple_of(LINE)
}

/// What the CPU's caches may hold of an object.
///
/// Each function is given `flush`, which flushes a range of bytes of the object, and passes on its error; then the
/// range still counts as not flushed.
#[derive(Clone, Debug, Default)]
pub struct CpuCaches {
    /// What user space may write through the caches without a fault.
    shown: Disjoint<RANGES>,
    /// Of that, what it may have written since it was flushed; and whatever else is not flushed.
    dirty: Disjoint<RANGES>,
    /// Whether memory was written past the caches since all lines were dropped.
    stale: bool,
}

impl CpuCaches {
    /// Whether anything is to be flushed before the device or anybody else reads memory.
    pub fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// The object has got pages, which the CPU has filled, and nobody sees yet.
    pub fn populated<E>(
        &mut self,
        bytes: u64,
        flush: impl FnOnce(Range<u64>, Cause) -> Result<(), E>,
    ) -> Result<(), E> {
        *self = Self::of_unknown(bytes);
        flush(0..bytes, Cause::Populate)?;
        *self = Self::default();
        Ok(())
    }

    /// The caches may hold anything of an object of so many bytes, and user space may write all of it: it was
    /// snooped until now, or somebody else has written it.
    pub fn of_unknown(bytes: u64) -> Self {
        let mut this = Self::default();
        this.shown.add(0..bytes);
        this.dirty.add(0..bytes);
        this
    }

    /// The kernel of another device may write it through the caches, until a batch uses it.
    pub fn lent(&mut self, bytes: u64) {
        self.dirty.add(0..bytes);
    }

    /// User space can write this range through the caches from here on.
    pub fn shown(&mut self, range: Range<u64>) {
        self.shown.add(range.clone());
        self.dirty.add(range);
    }

    /// A batch is about to be given the object.
    pub fn batch<E>(
        &mut self,
        flush: impl FnMut(Range<u64>, Cause) -> Result<(), E>,
    ) -> Result<(), E> {
        self.clean(Cause::Batch, flush)
    }

    /// A batch that writes the object is about to be published. Whoever calls this keeps others from
    /// [`cpu_domain`](Self::cpu_domain) until it is.
    pub fn batch_writes(&mut self, coherence: Coherence) {
        self.stale |= !coherence.is_whole();
    }

    /// User space is about to be shown the object past the caches, or announces that it will read it so, and `write`
    /// it.
    pub fn uncached<E>(
        &mut self,
        coherence: Coherence,
        write: bool,
        flush: impl FnMut(Range<u64>, Cause) -> Result<(), E>,
    ) -> Result<(), E> {
        self.clean(Cause::Uncached, flush)?;
        self.stale |= write && !coherence.is_whole();
        Ok(())
    }

    /// User space announces that it will read the object through the caches, and `write` it. No batch writes it, and
    /// none that does is published meanwhile.
    pub fn cpu_domain<E>(
        &mut self,
        bytes: u64,
        write: bool,
        flush: impl FnOnce(Range<u64>, Cause) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.stale {
            flush(0..bytes, Cause::Domain)?;
            self.stale = false;
            self.dirty = Disjoint::default();
        }
        if write {
            for range in self.shown.iter() {
                self.dirty.add(range.clone());
            }
        }
        Ok(())
    }

    /// The kernel is about to read a range.
    pub fn read<E>(
        &self,
        range: &Range<u64>,
        flush: impl FnOnce(Range<u64>, Cause) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.stale && !range.is_empty() {
            true => flush(whole(range), Cause::Read),
            false => Ok(()),
        }
    }

    /// The kernel writes a range by `write`: the rest of the lines at its ends comes from memory, and what was written
    /// goes there.
    pub fn write<E>(
        &self,
        range: &Range<u64>,
        mut flush: impl FnMut(Range<u64>, Cause) -> Result<(), E>,
        write: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        if range.is_empty() {
            return write();
        }
        let lines = whole(range);
        if self.stale {
            if lines.start < range.start {
                flush(lines.start..lines.start + LINE, Cause::Write)?;
            }
            if range.end < lines.end {
                flush(lines.end - LINE..lines.end, Cause::Write)?;
            }
        }
        write()?;
        flush(lines, Cause::Write)
    }

    /// The object loses its pages, and with them all mappings; `keep`: the CPU reads their contents later.
    pub fn released<E>(
        &mut self,
        bytes: u64,
        keep: bool,
        flush: impl FnOnce(Range<u64>, Cause) -> Result<(), E>,
    ) -> Result<(), E> {
        if keep && self.stale {
            flush(0..bytes, Cause::Release)?;
        }
        *self = Self::default();
        Ok(())
    }

    /// The object is snooped from here on: the CPU must not read from its caches what they have held for long.
    pub fn joined<E>(
        &mut self,
        bytes: u64,
        flush: impl FnOnce(Range<u64>, Cause) -> Result<(), E>,
    ) -> Result<(), E> {
        self.cpu_domain(bytes, false, flush)
    }

    /// Flushes what is dirty.
    fn clean<E>(
        &mut self,
        cause: Cause,
        mut flush: impl FnMut(Range<u64>, Cause) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.dirty.is_empty() {
            return Ok(());
        }
        for range in self.dirty.iter() {
            flush(whole(range), cause)?;
        }
        self.dirty = Disjoint::default();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
