// SPDX-License-Identifier: GPL-2.0
//! CPU cache flushes for BOs that the device does not snoop: what the caches may hold, and when
//! which lines are flushed.
//!
//! The device reads and writes memory. The CPU accesses the same memory through its caches (kernel
//! copies, write-back mappings) and past them (write-combined mappings, the aperture). Two things
//! go wrong without flushes:
//!
//! - a line is *dirty*: the CPU wrote it, and memory does not have the data yet. The device reads
//!   old data, and when the line is evicted, at any time, it overwrites what others wrote past the
//!   cache;
//! - a line is *stale*: memory was written past the cache. The CPU reads old data, and a write to a
//!   part of the line brings the old rest of it back.
//!
//! A flush cures both: it writes a dirty line back and drops it. This module decides which range is
//! flushed when. Kernel copies are flushed at once; where the kernel writes several words into a
//! page, each line is flushed once, after the last of them ([`Touched`]). For mappings of user
//! space, the pages that faults have mapped and the domain that user space announces tell what may
//! be dirty; it is flushed before the next batch, and before another path to the memory is opened.
//!
//! None of this runs for a BO that the device snoops.

use crate::disjoint::Disjoint;
use core::ops::Range;
use ouro_hw::Coherence;

/// Size of a CPU cache line in bytes.
pub const LINE: u64 = 64;

/// Number of ranges tracked separately; further ranges are merged with these.
const RANGES: usize = 4;

/// The reason for a flush.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Pages were allocated, zeroed or from swap: the CPU has written them.
    Populate,
    /// A batch is about to use the BO.
    Batch,
    /// User space is about to access the BO past the cache.
    Uncached,
    /// User space is about to read the BO through the cache.
    Domain,
    /// The kernel is about to read the BO.
    Read,
    /// The kernel writes the BO.
    Write,
    /// The BO's pages are released, and their contents kept.
    Release,
    /// The BO is captured into the error state of a hang.
    Capture,
}

impl Cause {
    /// All causes.
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

    /// Returns the cause's name in statistics.
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

/// Returns the number of cache lines that a byte range touches.
pub const fn lines(range: &Range<u64>) -> u64 {
    match range.start < range.end {
        true => range.end.div_ceil(LINE) - range.start / LINE,
        false => 0,
    }
}

/// Extends a range to whole lines.
const fn whole(range: &Range<u64>) -> Range<u64> {
    range.start / LINE * LINE..range.end.next_multiple_of(LINE)
}

/// Lines of one page that the kernel has written word by word, and not flushed yet.
#[derive(Debug, Default)]
pub struct Touched {
    /// The line of the last word, if there is one that is not flushed.
    last: Option<u64>,
    page: u64,
    /// A bit for each line of the page.
    lines: u64,
}

impl Touched {
    /// Number of lines of a page, of 4 KiB.
    const LINES: u64 = 64;
}

/// What the CPU's caches may hold of a BO.
///
/// Functions take `flush`, which flushes a byte range of the BO, and return its error; the range
/// then still counts as not flushed.
#[derive(Clone, Debug, Default)]
pub struct CpuCaches {
    /// Ranges that user space may write through the caches without a fault.
    shown: Disjoint<RANGES>,
    /// Ranges that may be dirty: mapped ranges written since their last flush, and any other
    /// unflushed writes.
    dirty: Disjoint<RANGES>,
    /// Whether memory was written past the caches since all lines were dropped.
    stale: bool,
}

impl CpuCaches {
    /// Returns whether lines must be flushed before the device or another reader reads memory.
    pub fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// The BO's pages were allocated and filled by the CPU, and are not mapped anywhere yet.
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

    /// Returns the state of a BO of `bytes` of which the caches may hold anything, and which user
    /// space may write everywhere: it was snooped until now, or another writer wrote it.
    pub fn of_unknown(bytes: u64) -> Self {
        let mut this = Self::default();
        this.shown.add(0..bytes);
        this.dirty.add(0..bytes);
        this
    }

    /// An importer's kernel driver may write the BO through the caches until a batch uses it.
    pub fn lent(&mut self, bytes: u64) {
        self.dirty.add(0..bytes);
    }

    /// User space can write this range through the caches from now on.
    pub fn shown(&mut self, range: Range<u64>) {
        self.shown.add(range.clone());
        self.dirty.add(range);
    }

    /// A batch that uses the BO is about to be submitted.
    pub fn batch<E>(
        &mut self,
        flush: impl FnMut(Range<u64>, Cause) -> Result<(), E>,
    ) -> Result<(), E> {
        self.clean(Cause::Batch, flush)
    }

    /// A batch that writes the BO is about to be published. Until it is, the caller must prevent
    /// calls of [`cpu_domain`](Self::cpu_domain).
    pub fn batch_writes(&mut self, coherence: Coherence) {
        self.stale |= !coherence.is_whole();
    }

    /// User space is about to map the BO past the caches, or announces that it will read it in such
    /// a domain; with `write`, that it will write it.
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

    /// User space announces that it will read the BO through the caches; with `write`, that it will
    /// write it. No batch writes the BO, and none that does is published meanwhile.
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

    /// The kernel writes a range by calling `write`. Partial lines at its ends are refetched from
    /// memory first if stale; the range is flushed to memory afterwards, also if `write` fails and
    /// has written a part.
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
        let written = write();
        let flushed = flush(lines, Cause::Write);
        written.and(flushed)
    }

    /// The kernel is about to write a part of the line at byte `at`, after those in `touched`. If
    /// stale, the line is refetched from memory first. Lines of another page are flushed now.
    #[inline]
    pub fn touch<E>(
        &self,
        touched: &mut Touched,
        at: u64,
        flush: impl FnMut(Range<u64>, Cause) -> Result<(), E>,
    ) -> Result<(), E> {
        match touched.last == Some(at / LINE) {
            true => Ok(()),
            false => self.touch_other(touched, at, flush),
        }
    }

    /// Does what [`touch`](Self::touch) does, for another line than the last.
    #[inline(never)]
    fn touch_other<E>(
        &self,
        touched: &mut Touched,
        at: u64,
        mut flush: impl FnMut(Range<u64>, Cause) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = at / LINE;
        let (page, bit) = (line / Touched::LINES, 1 << (line % Touched::LINES));
        if page != touched.page {
            self.written(touched, &mut flush)?;
            touched.page = page;
        }
        if touched.lines & bit == 0 {
            if self.stale {
                flush(line * LINE..(line + 1) * LINE, Cause::Write)?;
            }
            touched.lines |= bit;
        }
        touched.last = Some(line);
        Ok(())
    }

    /// The kernel has written all that it wanted to: flushes the lines in `touched`. Must be called
    /// after [`touch`](Self::touch), also if that failed.
    pub fn written<E>(
        &self,
        touched: &mut Touched,
        mut flush: impl FnMut(Range<u64>, Cause) -> Result<(), E>,
    ) -> Result<(), E> {
        touched.last = None;
        while touched.lines != 0 {
            let first = u64::from(touched.lines.trailing_zeros());
            let count = u64::from((touched.lines >> first).trailing_ones());
            let start = (touched.page * Touched::LINES + first) * LINE;
            flush(start..start + count * LINE, Cause::Write)?;
            touched.lines &= !(u64::MAX >> (Touched::LINES - count) << first);
        }
        Ok(())
    }

    /// The BO's pages are released, with all mappings; `keep`: the CPU will read their contents
    /// later.
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

    /// The BO is snooped from now on: the CPU must not use stale lines of its caches.
    pub fn joined<E>(
        &mut self,
        bytes: u64,
        flush: impl FnOnce(Range<u64>, Cause) -> Result<(), E>,
    ) -> Result<(), E> {
        self.cpu_domain(bytes, false, flush)
    }

    /// Flushes the dirty ranges.
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
