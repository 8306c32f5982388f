// SPDX-License-Identifier: GPL-2.0

//! What the global table holds, once more in memory.
//!
//! A device forgets its table when it sleeps. Reading it before that, through a window that nothing
//! caches, would take as long as a suspend is allowed to; so each entry is kept when it is written.

use kernel::{
    prelude::*,
    sync::atomic::{ordering, Atomic},
};

/// Entries that are written at a time: the device's window is opened once for all of them.
pub(super) const RUN: usize = 64;

/// Calls `write` with entries that follow each other from `first` on, a run at a time.
pub(super) fn in_runs(
    mut first: u32,
    mut entries: impl Iterator<Item = u64>,
    mut write: impl FnMut(u32, &[u64]),
) {
    let mut run = [0; RUN];
    loop {
        let mut len = 0;
        for (to, entry) in run.iter_mut().zip(entries.by_ref()) {
            *to = entry;
            len += 1;
        }
        let Some(full @ [_, ..]) = run.get(..len) else {
            return;
        };
        write(first, full);
        first = first.wrapping_add(len as u32);
    }
}

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
