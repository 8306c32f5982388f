// SPDX-License-Identifier: GPL-2.0
//! Memory, and a CPU cache before it that evicts and fetches lines at any time.

use super::*;

/// A pseudo-random number generator (xorshift).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Returns a range of the BO: short or long, line-aligned or not.
    pub(super) fn range(&mut self) -> Range<u64> {
        let most = [8, 200, 2 * PAGE][self.below(3) as usize];
        let mut start = self.below(BYTES);
        let mut len = 1 + self.below(most);
        if self.below(3) == 0 {
            start &= !(LINE - 1);
            len = len.next_multiple_of(LINE);
        }
        start..(start + len).min(BYTES)
    }
}

pub(super) struct Line {
    bytes: [u8; LINE as usize],
    dirty: bool,
}

/// The memory of the BO, and the cache before it.
pub(super) struct World {
    pub(super) memory: Vec<u8>,
    /// Lines by their index in the BO.
    pub(super) cache: Vec<Option<Line>>,
    pub(super) dice: Dice,
    /// The kind of flush that is left out, if any.
    pub(super) left_out: Option<Cause>,
    pub(super) flushed: BTreeMap<&'static str, u64>,
}

impl World {
    pub(super) fn line_of(memory: &[u8], at: u64) -> [u8; LINE as usize] {
        let first = (at / LINE * LINE) as usize;
        memory[first..first + LINE as usize].try_into().unwrap()
    }

    /// Evicts a line.
    pub(super) fn evict(&mut self, number: u64) {
        if let Some(Line { bytes, dirty: true }) = self.cache[number as usize].take() {
            let first = (number * LINE) as usize;
            self.memory[first..first + LINE as usize].copy_from_slice(&bytes);
        }
    }

    /// Evicts some lines, and fetches some.
    pub(super) fn noise(&mut self) {
        for _ in 0..self.dice.below(24) {
            let number = self.dice.below(BYTES / LINE);
            match self.cache[number as usize] {
                Some(_) => self.evict(number),
                None => drop(self.fetch(number)),
            }
        }
    }

    pub(super) fn fetch(&mut self, number: u64) -> &mut Line {
        let memory = &self.memory;
        self.cache[number as usize].get_or_insert_with(|| Line {
            bytes: Self::line_of(memory, number * LINE),
            dirty: false,
        })
    }

    pub(super) fn flush(&mut self, range: Range<u64>, cause: Cause) -> Result<(), ()> {
        assert_eq!(range.start % LINE, 0, "{cause:?}");
        assert!(range.end <= BYTES && range.start < range.end, "{cause:?}");
        if self.left_out == Some(cause) {
            return Ok(());
        }
        *self.flushed.entry(cause.name()).or_default() += lines(&range);
        for number in range.start / LINE..range.end.div_ceil(LINE) {
            self.evict(number);
        }
        Ok(())
    }

    /// Fills the cache with lines of another BO.
    pub(super) fn empty_cache(&mut self) {
        self.cache.fill_with(|| None);
    }

    /// The CPU reads through its cache.
    pub(super) fn load(&mut self, at: u64) -> u8 {
        self.fetch(at / LINE).bytes[(at % LINE) as usize]
    }

    pub(super) fn store(&mut self, at: u64, byte: u8) {
        let line = self.fetch(at / LINE);
        line.bytes[(at % LINE) as usize] = byte;
        line.dirty = true;
    }

    /// The device reads, or the CPU past its cache.
    pub(super) fn peek(&self, at: u64) -> u8 {
        self.memory[at as usize]
    }

    pub(super) fn poke(&mut self, at: u64, byte: u8) {
        self.memory[at as usize] = byte;
    }

    /// A snooping device reads.
    pub(super) fn snoop(&mut self, at: u64) {
        self.evict(at / LINE);
    }
}
