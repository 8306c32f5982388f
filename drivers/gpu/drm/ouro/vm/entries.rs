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

/// The PTEs.
pub(super) enum Entries {
    /// Of 32 bits.
    Four(KVVec<Atomic<u32>>),
    /// Of 64 bits.
    Eight(KVVec<Atomic<u64>>),
}

impl Entries {
    /// Creates `count` PTEs of `bytes` bytes, all zero. Errors: `ENOMEM`.
    pub(super) fn new(count: u32, bytes: u32) -> Result<Self> {
        Ok(match bytes {
            4 => Self::Four(zeros(count, || Atomic::new(0))?),
            _ => Self::Eight(zeros(count, || Atomic::new(0))?),
        })
    }

    /// Records consecutive PTEs, from index `first` on.
    pub(super) fn record(&self, first: u32, entries: &[u64]) {
        match self {
            Self::Four(all) => {
                for (to, entry) in from(all, first).iter().zip(entries) {
                    to.store(*entry as u32, ordering::Relaxed);
                }
            }
            Self::Eight(all) => {
                for (to, entry) in from(all, first).iter().zip(entries) {
                    to.store(*entry, ordering::Relaxed);
                }
            }
        }
    }

    /// Returns the PTE that was recorded last.
    pub(super) fn get(&self, index: u32) -> u64 {
        let entry = match self {
            Self::Four(all) => from(all, index).first().map(narrow),
            Self::Eight(all) => from(all, index).first().map(wide),
        };
        entry.unwrap_or(0)
    }
}

fn narrow(entry: &Atomic<u32>) -> u64 {
    entry.load(ordering::Relaxed).into()
}

fn wide(entry: &Atomic<u64>) -> u64 {
    entry.load(ordering::Relaxed)
}

fn zeros<T>(count: u32, zero: impl Fn() -> T) -> Result<KVVec<T>> {
    let mut all = KVVec::with_capacity(count as usize, GFP_KERNEL)?;
    for _ in 0..count {
        all.push(zero(), GFP_KERNEL)?;
    }
    Ok(all)
}

/// Returns the PTEs from index `first` on; none behind the end.
fn from<T>(all: &[T], first: u32) -> &[T] {
    all.get(first as usize..).unwrap_or(&[])
}
