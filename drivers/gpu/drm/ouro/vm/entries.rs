// SPDX-License-Identifier: GPL-2.0

//! What the global table holds, once more in memory.
//!
//! A device forgets its table when it sleeps. Reading it before that, through a window that nothing
//! caches, would take as long as a suspend is allowed to; so each entry is kept when it is written.

use kernel::{
    prelude::*,
    sync::atomic::{ordering, Atomic},
};

/// Bytes of a word.
const WORD: u32 = 4;

/// The entries. Whoever writes one has the range that it is in, so there is no lock.
pub(super) struct Entries {
    words: KVVec<Atomic<u32>>,
    /// Words of an entry.
    each: usize,
}

impl Entries {
    /// So many entries of so many bytes, all zero. Errors: `ENOMEM`.
    pub(super) fn new(count: u32, bytes: u32) -> Result<Self> {
        let each = bytes.div_ceil(WORD) as usize;
        let len = (count as usize).checked_mul(each).ok_or(EINVAL)?;
        let mut words = KVVec::with_capacity(len, GFP_KERNEL)?;
        for _ in 0..len {
            words.push(Atomic::new(0), GFP_KERNEL)?;
        }
        Ok(Self { words, each })
    }

    /// The words of an entry, the lower one first.
    fn of(&self, index: u32) -> impl Iterator<Item = (u32, &Atomic<u32>)> {
        let first = index as usize * self.each;
        let words = self.words.iter().skip(first).take(self.each);
        (0..u64::BITS).step_by(u32::BITS as usize).zip(words)
    }

    /// Keeps an entry that is written.
    pub(super) fn set(&self, index: u32, entry: u64) {
        for (shift, word) in self.of(index) {
            word.store((entry >> shift) as u32, ordering::Relaxed);
        }
    }

    /// What was written last.
    pub(super) fn get(&self, index: u32) -> u64 {
        self.of(index).fold(0, |entry, (shift, word)| {
            entry | u64::from(word.load(ordering::Relaxed)) << shift
        })
    }
}
