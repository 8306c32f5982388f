// SPDX-License-Identifier: GPL-2.0

//! A copy of the GGTT in memory.
//!
//! A device loses its GGTT when it sleeps. Reading it back before that, through an uncached window,
//! would take as long as a suspend may take; so each PTE is recorded when it is written.

use kernel::{
    prelude::*,
    sync::atomic::{ordering, Atomic},
};

/// PTEs that are written at a time: the GGTT's window is accessed once for all of them.
pub(super) const RUN: usize = 64;

/// Calls `write` with consecutive PTEs from index `first` on, a run at a time.
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

/// Size of a word in bytes.
const WORD: u32 = 4;

/// The PTEs. Each writer owns the range that it writes, so there is no lock.
pub(super) struct Entries {
    words: KVVec<Atomic<u32>>,
    /// Words of a PTE.
    each: usize,
}

impl Entries {
    /// Creates `count` PTEs of `bytes` bytes, all zero. Errors: `ENOMEM`.
    pub(super) fn new(count: u32, bytes: u32) -> Result<Self> {
        let each = bytes.div_ceil(WORD) as usize;
        let len = (count as usize).checked_mul(each).ok_or(EINVAL)?;
        let mut words = KVVec::with_capacity(len, GFP_KERNEL)?;
        for _ in 0..len {
            words.push(Atomic::new(0), GFP_KERNEL)?;
        }
        Ok(Self { words, each })
    }

    /// Returns the words of a PTE, the lower one first.
    fn of(&self, index: u32) -> impl Iterator<Item = (u32, &Atomic<u32>)> {
        let first = index as usize * self.each;
        let words = self.words.iter().skip(first).take(self.each);
        (0..u64::BITS).step_by(u32::BITS as usize).zip(words)
    }

    /// Records a PTE.
    pub(super) fn set(&self, index: u32, entry: u64) {
        for (shift, word) in self.of(index) {
            word.store((entry >> shift) as u32, ordering::Relaxed);
        }
    }

    /// Returns the PTE that was recorded last.
    pub(super) fn get(&self, index: u32) -> u64 {
        self.of(index).fold(0, |entry, (shift, word)| {
            entry | u64::from(word.load(ordering::Relaxed)) << shift
        })
    }
}
