// SPDX-License-Identifier: GPL-2.0

//! CPU cache flushes of BOs that the GPU does not snoop.
//!
//! [`ouro_core::coherence`] decides what to flush; this module does it, and counts. A
//! [`CacheLevel::Coherent`] BO needs none of it; with a shared last-level cache, or on PCI Express,
//! all BOs are coherent at first.

use core::ops::Range;
use kernel::{
    prelude::*,
    sync::atomic::{ordering, Atomic},
};
use ouro_core::coherence::{lines, Cause, CpuCaches, Touched};
use ouro_hw::types::{CacheLevel, PAGE_SIZE};
use ouro_kernel::{
    pages::Words,
    resv::{HasResv, Usage},
    wait::{Interruptible, FOREVER},
};

use super::{
    backing::Memory,
    bo::{kind, State},
    Backing, Bo, BoDevice, Object,
};

/// Statistics of flushes since the driver was bound, by cause.
pub(crate) struct Flushed {
    lines: [Atomic<u64>; Cause::ALL.len()],
    calls: [Atomic<u64>; Cause::ALL.len()],
}

impl Flushed {
    pub(super) fn new() -> Self {
        Self {
            lines: [const { Atomic::new(0) }; Cause::ALL.len()],
            calls: [const { Atomic::new(0) }; Cause::ALL.len()],
        }
    }

    fn add(&self, cause: Cause, count: u64) {
        let at = cause as usize;
        if let (Some(lines), Some(calls)) = (self.lines.get(at), self.calls.get(at)) {
            lines.fetch_add(count, ordering::Relaxed);
            calls.fetch_add(1, ordering::Relaxed);
        }
    }

    /// Returns each cause, with the number of lines and of flushes.
    pub(crate) fn each(&self) -> impl Iterator<Item = (Cause, u64, u64)> + '_ {
        let counts = self.lines.iter().zip(self.calls.iter());
        let load = |count: &Atomic<u64>| count.load(ordering::Relaxed);
        Cause::ALL
            .into_iter()
            .zip(counts)
            .map(move |(cause, (lines, calls))| (cause, load(lines), load(calls)))
    }
}

/// Flushes a range of a BO's memory.
pub(crate) fn flush(gpu: &BoDevice, backing: &Backing, range: Range<u64>, cause: Cause) -> Result {
    if matches!(backing.memory(), Memory::Foreign(_)) {
        // The exporter flushes.
        return Ok(());
    }
    gpu.flushed().add(cause, lines(&range));
    backing.flush(range)
}

/// Returns whether the GPU does not snoop the CPU's caches for a BO.
pub(super) fn is_unsnooped(state: &State) -> bool {
    state.cache == CacheLevel::None
}

/// The BO's pages were allocated, and filled by the CPU.
pub(super) fn populated(object: &Object, state: &mut State, backing: &Backing) -> Result {
    match is_unsnooped(state) {
        true => state.caches.populated(object.bytes(), |range, cause| {
            flush(object.gpu(), backing, range, cause)
        }),
        false => Ok(()),
    }
}

/// A batch is about to use the BO.
pub(super) fn batch(object: &Object, state: &mut State, backing: &Backing) -> Result {
    match state.caches.is_dirty() {
        true => state
            .caches
            .batch(|range, cause| flush(object.gpu(), backing, range, cause)),
        false => Ok(()),
    }
}

/// The BO's pages are released; `keep`: their contents are read later. Does not wait.
pub(super) fn released(object: &Object, state: &mut State, keep: bool) -> Result {
    let Some(backing) = state.backing.clone().filter(|_| is_unsnooped(state)) else {
        return Ok(());
    };
    state.caches.released(object.bytes(), keep, |range, cause| {
        flush(object.gpu(), &backing, range, cause)
    })
}

/// Changes the BO's cache level while it is idle. Its reservation is locked.
pub(super) fn change(object: &Object, state: &mut State, cache: CacheLevel) -> Result {
    if let Some(backing) = state.backing.clone() {
        match cache {
            CacheLevel::None => state.caches = CpuCaches::of_unknown(object.bytes()),
            CacheLevel::Coherent => state.caches.joined(object.bytes(), |range, cause| {
                flush(object.gpu(), &backing, range, cause)
            })?,
        }
    }
    state.cache = cache;
    Ok(())
}

/// User space is about to get these pages of the BO in a mapping of this kind.
pub(super) fn map(
    object: &Object,
    state: &mut State,
    backing: &Backing,
    of: u8,
    pages: Range<usize>,
) -> Result {
    if !is_unsnooped(state) {
        return Ok(());
    }
    let page = u64::from(PAGE_SIZE);
    match of {
        kind::CACHED => {
            let range = pages.start as u64 * page..pages.end as u64 * page;
            state.caches.shown(range);
            Ok(())
        }
        _ => uncached(object, state, backing, true),
    }
}

/// User space reads the BO past the caches; with `write`, it writes it, too.
fn uncached(object: &Object, state: &mut State, backing: &Backing, write: bool) -> Result {
    let gpu = object.gpu();
    state
        .caches
        .uncached(gpu.coherence(), write, |range, cause| {
            flush(gpu, backing, range, cause)
        })
}

/// User space announces that it will read the BO past the caches; with `write`, that it will write
/// it.
pub(crate) fn uncached_domain(object: &Object, write: bool) -> Result {
    let mut state = object.state.lock();
    match state.backing.clone().filter(|_| is_unsnooped(&state)) {
        Some(backing) => uncached(object, &mut state, &backing, write),
        None => Ok(()),
    }
}

/// User space announces that it will read the BO through the caches; with `write`, that it will
/// write it. Waits for batches that write it.
///
/// Errors: `ERESTARTSYS`.
pub(crate) fn cpu_domain(object: &Object, write: bool) -> Result {
    let whole = object.gpu().coherence().is_whole();
    if whole && !write {
        return Ok(());
    }
    loop {
        // No batch that writes it may be published until its lines are flushed.
        let locked = match whole {
            true => None,
            false => Some(object.resv().lock(Interruptible::Yes)?),
        };
        if !whole && !object.resv().test_signaled(Usage::Write) {
            drop(locked);
            object
                .resv()
                .wait(Usage::Write, Interruptible::Yes, FOREVER)?;
            continue;
        }
        let mut state = object.state.lock();
        let Some(backing) = state.backing.clone().filter(|_| is_unsnooped(&state)) else {
            return Ok(());
        };
        return state
            .caches
            .cpu_domain(object.bytes(), write, |range, cause| {
                flush(object.gpu(), &backing, range, cause)
            });
    }
}

/// An importer's driver is about to read the BO through the caches; with `write`, to write it. As
/// [`cpu_domain`].
pub(super) fn lend(object: &Object, write: bool) -> Result {
    cpu_domain(object, false)?;
    if write {
        let mut state = object.state.lock();
        if is_unsnooped(&state) {
            state.caches.lent(object.bytes());
        }
    }
    Ok(())
}

/// The kernel is about to read a range of the BO's memory.
pub(super) fn read(object: &Object, backing: &Backing, range: Range<u64>) -> Result {
    if object.gpu().coherence().is_whole() {
        return Ok(());
    }
    let state = object.state.lock();
    match is_unsnooped(&state) {
        true => state.caches.read(&range, |range, cause| {
            flush(object.gpu(), backing, range, cause)
        }),
        false => Ok(()),
    }
}

/// The kernel writes bytes into the BO's memory.
pub(super) fn write(
    object: &Object,
    state: &State,
    backing: &Backing,
    offset: usize,
    bytes: &[u8],
) -> Result {
    let write = || backing.write(offset, bytes);
    if !is_unsnooped(state) {
        return write();
    }
    let range = offset as u64..offset as u64 + bytes.len() as u64;
    state.caches.write(
        &range,
        |range, cause| flush(object.gpu(), backing, range, cause),
        write,
    )
}

/// User space's bytes are written into its memory, if they are there. Errors: `EFAULT` if not, with
/// a part written.
pub(super) fn write_present(
    object: &Object,
    state: &State,
    backing: &Backing,
    offset: usize,
    from: u64,
    len: usize,
) -> Result {
    let write = || backing.copy_from_user_present(offset, from, len);
    if !is_unsnooped(state) {
        return write();
    }
    let range = offset as u64..offset as u64 + len as u64;
    state.caches.write(
        &range,
        |range, cause| flush(object.gpu(), backing, range, cause),
        write,
    )
}

/// Dwords that the kernel writes into pages that the GPU does not snoop. Each line is flushed once.
pub(super) struct Dwords<'a> {
    object: &'a Object,
    state: &'a State,
    backing: &'a Backing,
    words: Words<'a>,
    touched: Touched,
}

impl<'a> Dwords<'a> {
    /// `words` writes to the pages of `backing`.
    pub(super) fn new(
        object: &'a Object,
        state: &'a State,
        backing: &'a Backing,
        words: Words<'a>,
    ) -> Self {
        Self {
            object,
            state,
            backing,
            words,
            touched: Touched::default(),
        }
    }

    /// Writes a dword at a byte offset. Errors: `EINVAL` if that is not a multiple of 4, or outside
    /// of the BO.
    #[inline]
    pub(super) fn write(&mut self, offset: u64, value: u32) -> Result {
        let (gpu, backing) = (self.object.gpu(), self.backing);
        let flush = |range, cause| flush(gpu, backing, range, cause);
        self.state.caches.touch(&mut self.touched, offset, flush)?;
        self.words.write32(offset as usize, value)
    }

    /// Flushes what was written. Must be called after the last dword, also if that failed.
    pub(super) fn end(mut self) -> Result {
        let (gpu, backing) = (self.object.gpu(), self.backing);
        let flush = |range, cause| flush(gpu, backing, range, cause);
        self.state.caches.written(&mut self.touched, flush)
    }
}

impl Bo {
    /// Returns whether the CPU's caches may hold lines that the GPU has overwritten in memory: the
    /// BO is not snooped, and the GPU's writes do not invalidate lines.
    pub(crate) fn may_be_stale(&self) -> bool {
        !self.gpu().coherence().is_whole() && self.cache() == CacheLevel::None
    }

    /// A batch that writes the BO is about to be published. Its reservation is locked until then.
    pub(crate) fn batch_writes(&self) {
        let coherence = self.gpu().coherence();
        if !coherence.is_whole() {
            self.state.lock().caches.batch_writes(coherence);
        }
    }
}
