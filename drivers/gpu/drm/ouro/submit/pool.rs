// SPDX-License-Identifier: GPL-2.0

//! The pool of checked batches: copies that user space cannot reach, and that the device cannot
//! write if PTEs can be read-only.
//!
//! One BO, mapped once, is allocated page by page, so that a submission writes no PTEs for its
//! copy. It is mapped in the GGTT only: the aliasing PPGTT leaves the kernel's memory out.

use core::ops::Range;
use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    new_mutex,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, Mutex,
    },
};
use ouro_core::slots::{self, Slots};
use ouro_hw::{
    checker::Patch,
    coherence::KernelUse,
    types::{GpuAddr, PAGE_SIZE},
};
use ouro_kernel::pci::DmaDevice;

use crate::{
    gem::{Backing, Mapping, Owner, Space},
    vm::Place,
};

/// Pages of the pool: 2 MiB.
const PAGES: u32 = 512;
/// The last pages, which only requests get that end in a bounded time; the largest batch fits. A
/// file may keep any number of pages blocked for as long as user space likes, and anyone may open
/// many files.
const RESERVED: u32 = PAGES / 4;

/// The pages under the lock.
struct Pages {
    slots: Slots<{ PAGES as usize / 64 }>,
    /// Number of free pages.
    free: usize,
}

/// A client's share of the pool. It holds pages until its requests are retired, also while they are
/// blocked, and others need some meanwhile.
pub(crate) struct PoolShare {
    /// Number of its pages. Changed under the pool's lock.
    pages: Atomic<u32>,
}

impl PoolShare {
    /// Creates the share of a new client. Errors: `ENOMEM`.
    pub(crate) fn new() -> Result<Arc<Self>> {
        let pages = Atomic::new(0);
        Ok(Arc::new(Self { pages }, GFP_KERNEL_ACCOUNT)?)
    }
}

/// The pool of a device.
#[pin_data]
pub(crate) struct Pool {
    // Unmapped before the pages are freed.
    mapping: Mapping,
    backing: Arc<Backing>,
    #[pin]
    pages: Mutex<Pages>,
    /// A buffer for the next batch to check. A caller takes it and leaves an empty one for others.
    #[pin]
    scratch: Mutex<KVVec<u32>>,
    /// Number of batches in BOs that passed, since the driver was bound.
    copies: Atomic<u64>,
    /// Number of batches in BOs that did not pass and ran without privilege.
    originals: Atomic<u64>,
}

/// Pages of the pool, freed on drop.
pub(crate) struct Shadow {
    pool: Arc<Pool>,
    first: u32,
    count: u32,
    share: Arc<PoolShare>,
}

impl Pool {
    /// The largest stream in dwords. The pool has room for several of them.
    pub(crate) const MAX_DWORDS: usize = (PAGES as usize / 8) * (PAGE_SIZE as usize / 4);
    /// The largest batch that is copied from a BO, in dwords: 512 KiB, twice what known clients
    /// send.
    pub(crate) const MAX_BATCH_DWORDS: usize = (PAGES as usize / 4) * (PAGE_SIZE as usize / 4);

    /// Creates the pool. Errors: `ENOMEM`, `ENOSPC`.
    pub(crate) fn new(space: &Arc<Space>, dma: &Arc<DmaDevice>) -> Result<Arc<Self>> {
        let kernel = space.kernel_mapping(KernelUse::Commands);
        let backing = Backing::kernel(dma, PAGES as usize, kernel)?;
        let place = Place::Within {
            range: space.stream_range(),
            align: PAGE_SIZE.into(),
            preferred: None,
        };
        let mapping = backing.bind(space, place, 0, Owner::Commands, kernel.cache)?;
        Arc::pin_init(
            try_pin_init!(Self {
                mapping,
                backing,
                pages <- new_mutex!(Pages {
                    slots: Slots::default(),
                    free: PAGES as usize,
                }, "ouro_pool"),
                scratch <- new_mutex!(KVVec::new(), "ouro_scratch"),
                copies: Atomic::new(0),
                originals: Atomic::new(0),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// Returns the number of pages of a batch of `len` dwords.
    pub(super) fn pages_of(len: usize) -> usize {
        (len * 4).div_ceil(PAGE_SIZE as usize)
    }

    /// Returns the page behind the last one that a request may have; `held_up`: it is blocked for
    /// as long as user space likes.
    fn limit(held_up: bool) -> usize {
        match held_up {
            true => (PAGES - RESERVED) as usize,
            false => PAGES as usize,
        }
    }

    /// Returns whether a client may have `count` more pages now, in one run, for a request that is
    /// `held_up` or not.
    pub(super) fn may_take(&self, count: usize, share: &PoolShare, held_up: bool) -> bool {
        let pages = self.pages.lock();
        let own = share.pages.load(ordering::Relaxed) as usize;
        let has_room = || pages.slots.has_room(count, Self::limit(held_up));
        slots::may_take(own, count, pages.free) && has_room()
    }

    /// Copies a client's batch to the pool, with the checker's patches; `held_up`: its request is
    /// blocked for as long as user space likes. Errors: `ENOSPC` while the pool is full, or the
    /// client has its share of it; `EINVAL` for a batch above the limit, or a patch outside;
    /// `ENOMEM`.
    pub(crate) fn keep(
        self: &Arc<Self>,
        dwords: &[u32],
        patches: &[Patch],
        share: &Arc<PoolShare>,
        held_up: bool,
    ) -> Result<Shadow> {
        if dwords.is_empty() || dwords.len() > Self::MAX_BATCH_DWORDS {
            return Err(EINVAL);
        }
        let count = Self::pages_of(dwords.len());
        let first = {
            let mut pages = self.pages.lock();
            let own = share.pages.load(ordering::Relaxed);
            if !slots::may_take(own as usize, count, pages.free) {
                return Err(ENOSPC);
            }
            let first = pages
                .slots
                .take(count, Self::limit(held_up))
                .ok_or(ENOSPC)?;
            pages.free -= count;
            share.pages.store(own + count as u32, ordering::Relaxed);
            first
        };
        let shadow = Shadow {
            pool: self.clone(),
            first: first as u32,
            count: count as u32,
            share: share.clone(),
        };
        self.backing.write_words(shadow.offset(), dwords)?;
        for Patch { at, value } in patches {
            let at = *at as usize;
            if at >= dwords.len() {
                return Err(EINVAL);
            }
            let at = shadow.offset() + at * size_of::<u32>();
            self.backing.write_words(at, &[*value])?;
        }
        Ok(shadow)
    }

    /// Calls `f` with a buffer of `dwords` dwords, whose contents are undefined. The buffer is kept
    /// for the next call, so that submissions rarely allocate. Errors: `ENOMEM`; those of `f`.
    pub(super) fn with_scratch<R>(
        &self,
        dwords: usize,
        f: impl FnOnce(&mut [u32]) -> Result<R>,
    ) -> Result<R> {
        let mut scratch = core::mem::take(&mut *self.scratch.lock());
        if scratch.len() < dwords {
            scratch.resize(dwords, 0, GFP_KERNEL)?;
        }
        let done = f(scratch.get_mut(..dwords).ok_or(EINVAL)?);
        let mut kept = self.scratch.lock();
        if kept.len() < scratch.len() {
            core::mem::swap(&mut *kept, &mut scratch);
        }
        // Free the smaller one without the lock.
        drop(kept);
        done
    }

    /// Counts a batch that was checked and published.
    pub(super) fn count(&self, passed: bool) {
        let count = match passed {
            true => &self.copies,
            false => &self.originals,
        };
        count.fetch_add(1, ordering::Relaxed);
    }

    /// Returns how many batches in BOs ran as privileged copies, and how many without privilege,
    /// since the driver was bound.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let load = |count: &Atomic<u64>| count.load(ordering::Relaxed);
        (load(&self.copies), load(&self.originals))
    }
}

impl Shadow {
    fn offset(&self) -> usize {
        self.first as usize * PAGE_SIZE as usize
    }

    /// Returns the GPU address of the batch.
    pub(crate) fn addr(&self) -> GpuAddr {
        GpuAddr(self.pool.mapping.addr().0 + self.offset() as u64)
    }

    /// Returns the memory that it is in.
    pub(crate) fn backing(&self) -> &Arc<Backing> {
        &self.pool.backing
    }

    /// Returns whether a request that is held up must not have it.
    pub(super) fn is_reserved(&self) -> bool {
        self.first + self.count > PAGES - RESERVED
    }

    /// Returns its pages of that memory.
    pub(crate) fn pages(&self) -> Range<u32> {
        self.first..self.first + self.count
    }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        let (first, count) = (self.first as usize, self.count as usize);
        let mut pages = self.pool.pages.lock();
        pages.slots.give(first, count);
        pages.free += count;
        let own = self.share.pages.load(ordering::Relaxed);
        let left = own.saturating_sub(self.count);
        self.share.pages.store(left, ordering::Relaxed);
    }
}
