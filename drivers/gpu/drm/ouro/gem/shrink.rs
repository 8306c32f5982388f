// SPDX-License-Identifier: GPL-2.0

//! The shrinker: returns memory of BOs to the system when it is short.
//!
//! BOs with pages are on one of two lists, oldest first: purgeable ones (`GEM_MADVISE`), and all
//! others. The former are purged; the latter's pages are released so that they can be swapped out,
//! which helps only while there is swap space.
//!
//! The caller of a shrinker may hold any lock under which memory is allocated. Therefore a BO is
//! skipped if its reservation, its state or its address space is locked, and the GPU is not waited
//! for. Only the lock of the lists is taken: nothing is allocated under it.

use kernel::{
    new_mutex,
    prelude::*,
    rbtree::{RBTree, RBTreeNodeReservation},
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc, Mutex,
    },
    time::{delay::fsleep, Delta},
};
use ouro_kernel::{
    gem::Weak,
    release,
    shrinker::{self, Shrink},
    time,
};

use super::{contents, Backing, Bo, BoDevice, Object};

/// Most BOs that one call looks at, to limit its time.
const LOOKS: usize = 256;

/// The list of a BO.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Worth {
    /// Its contents are not needed.
    Nothing = 0,
    /// Its contents must be kept.
    Kept = 1,
}

/// A list of BOs, in the order of their arrival.
struct Line {
    objects: RBTree<u64, Weak<Bo>>,
    /// Where the next search starts.
    hand: u64,
}

impl Line {
    fn new() -> Self {
        Self {
            objects: RBTree::new(),
            hand: 0,
        }
    }

    /// Returns the next BO that still has references; `None` once at the end of the list, after
    /// which it starts over.
    fn next(&mut self) -> Option<ARef<Object>> {
        loop {
            let next = self.objects.cursor_lower_bound(&self.hand);
            let Some((key, object)) = next.map(|c| (*c.current().0, c.current().1.upgrade()))
            else {
                self.hand = 0;
                return None;
            };
            self.hand = key.wrapping_add(1);
            if object.is_some() {
                return object;
            }
        }
    }
}

/// The state under the lock.
struct Lines {
    lines: [Line; 2],
    last: u64,
}

impl Lines {
    fn of(&mut self, worth: Worth) -> &mut Line {
        let [nothing, kept] = &mut self.lines;
        match worth {
            Worth::Nothing => nothing,
            Worth::Kept => kept,
        }
    }

    fn stamp(&mut self) -> u64 {
        self.last = self.last.wrapping_add(1);
        self.last
    }
}

/// The result of a call that releases pages.
#[derive(Clone, Copy, Default)]
struct Given {
    /// Number of released pages.
    pages: usize,
    /// Whether it skipped a BO because another task held a lock: the same call may succeed a moment
    /// later.
    met_locks: bool,
}

/// The BOs of a device whose memory can be reclaimed.
#[pin_data]
pub(crate) struct Reclaim {
    #[pin]
    lines: Mutex<Lines>,
    /// Number of pages in each list.
    pages: [Atomic<usize>; 2],
    /// When pages were released last, on the monotonic clock in ns; 0: never.
    released: Atomic<u64>,
}

/// The entry of a BO in a list; removed on drop.
pub(crate) struct Listed {
    reclaim: Arc<Reclaim>,
    key: u64,
    pages: usize,
    worth: Worth,
}

impl Reclaim {
    pub(crate) fn new() -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                lines <- new_mutex!(
                    Lines { lines: [Line::new(), Line::new()], last: 0 },
                    "ouro_reclaim"
                ),
                pages: [const { Atomic::new(0) }; 2],
                released: Atomic::new(0),
            }),
            GFP_KERNEL,
        )
    }

    /// Returns whether pages were released in the last second, by whatever call: they may be on
    /// their way to swap.
    fn has_released(&self) -> bool {
        let last = self.released.load(ordering::Relaxed);
        last != 0 && time::monotonic_ns().saturating_sub(last) < 1_000_000_000
    }

    fn pages(&self, worth: Worth) -> &Atomic<usize> {
        let [nothing, kept] = &self.pages;
        match worth {
            Worth::Nothing => nothing,
            Worth::Kept => kept,
        }
    }

    /// Adds a BO that got memory. `None` if the memory is of a kind that is not reclaimed. Errors:
    /// `ENOMEM`.
    pub(crate) fn enlist(
        self: &Arc<Self>,
        object: &Object,
        memory: &Backing,
        worth: Worth,
    ) -> Result<Option<Listed>> {
        if memory.shmem().is_none() {
            return Ok(None);
        }
        self.enlist_pages(object, memory.len() as usize, worth)
            .map(Some)
    }

    /// Adds a BO that got so many pages of its memory. Errors: `ENOMEM`.
    pub(super) fn enlist_pages(
        self: &Arc<Self>,
        object: &Object,
        pages: usize,
        worth: Worth,
    ) -> Result<Listed> {
        let node = RBTreeNodeReservation::new(GFP_KERNEL)?;
        let mut lines = self.lines.lock();
        let key = lines.stamp();
        let node = node.into_node(key, object.downgrade());
        lines.of(worth).objects.insert(node);
        drop(lines);
        self.pages(worth).fetch_add(pages, ordering::Relaxed);
        Ok(Listed {
            reclaim: self.clone(),
            key,
            pages,
            worth,
        })
    }

    /// Releases about `wanted` pages of a list. Does not wait.
    fn give_back(&self, worth: Worth, wanted: usize) -> Given {
        let mut given = Given::default();
        let mut ends = 0;
        for _ in 0..LOOKS {
            if given.pages >= wanted || ends > 1 {
                break;
            }
            let object = self.lines.lock().of(worth).next();
            match object {
                Some(object) => match contents::give_back(&object, worth) {
                    Some(pages) => given.pages += pages,
                    None => given.met_locks = true,
                },
                None => ends += 1,
            }
        }
        given
    }

    /// Releases about `wanted` pages, those of purgeable BOs first. Does not wait.
    fn reclaim(&self, wanted: usize) -> Given {
        let mut given = self.give_back(Worth::Nothing, wanted);
        if given.pages < wanted && shrinker::swap_pages() > 0 {
            let more = self.give_back(Worth::Kept, wanted - given.pages);
            given.pages += more.pages;
            given.met_locks |= more.met_locks;
        }
        if given.pages > 0 {
            let now = time::monotonic_ns();
            self.released.store(now, ordering::Relaxed);
        }
        given
    }

    /// Releases the memory of all idle BOs, whether or not there is swap space. Waits up to a tenth
    /// of a second for locks of other tasks. The caller holds no locks.
    pub(crate) fn give_back_all(&self) {
        let mut waits = 500;
        for worth in [Worth::Nothing, Worth::Kept] {
            // Once from start to end.
            self.lines.lock().of(worth).hand = 0;
            loop {
                let object = self.lines.lock().of(worth).next();
                let Some(object) = object else { break };
                while contents::give_back(&object, worth).is_none() && waits > 0 {
                    waits -= 1;
                    // BOs that are being freed hold the lock of the aperture.
                    release::flush();
                    fsleep(Delta::from_micros(200));
                }
            }
        }
    }
}

/// Direct reclaim after a failed allocation. The kernel calls shrinkers when the machine is short
/// of memory, but not when a memory cgroup is at its limit, and BO pages cannot be swapped until
/// they are released.
pub(crate) struct Relief {
    /// Attempts left.
    tries: u32,
    /// Looks left for pages that were released and are on their way to swap.
    looks: u32,
}

impl Relief {
    /// Most attempts of one call.
    const TRIES: u32 = 64;
    /// Most pages released at a time.
    const PAGES: u64 = 4096;
    /// Most looks for released pages to become free.
    const LOOKS: u32 = 50;

    pub(crate) fn new() -> Self {
        Self {
            tries: Self::TRIES,
            looks: Self::LOOKS,
        }
    }

    /// Releases about `bytes` bytes of idle BOs. Returns whether to try again. The caller holds no
    /// locks. Sleeps.
    ///
    /// Errors: `ERESTARTSYS`.
    pub(crate) fn relieve(&mut self, gpu: &BoDevice, bytes: u64) -> Result<bool> {
        if self.tries == 0 {
            return Ok(false);
        }
        self.tries -= 1;
        let runner = gpu.runner();
        // BOs of completed requests are idle once these are retired.
        runner.retire();
        let live = runner.live();
        let is_coming = !runner.is_empty() || live != 0;
        let pages = (bytes / 4096).clamp(1, Self::PAGES) as usize;
        let given = gpu.reclaim().reclaim(pages);
        let released = given.pages > 0;
        if !released && !is_coming && !given.met_locks {
            // No BO is left to release. Pages that were released may still be written to swap, for
            // which the kernel does not wait in this allocation.
            if self.looks == 0 || !gpu.reclaim().has_released() {
                return Ok(false);
            }
            self.looks -= 1;
            // In all a tenth of a second, in which other processors go on, too.
            fsleep(Delta::from_millis(2));
        }
        if !released && given.met_locks {
            fsleep(Delta::from_micros(200));
        }
        for _ in 0..Self::LOOKS {
            release::flush();
            runner.retire();
            // A request that is done makes its BOs idle.
            if runner.is_empty() && (released || runner.live() < live.max(1)) {
                break;
            }
            fsleep(Delta::from_micros(200));
        }
        if kernel::current!().signal_pending() {
            return Err(ERESTARTSYS);
        }
        Ok(true)
    }
}

impl Shrink for Reclaim {
    fn count(&self) -> usize {
        let kept = self.pages(Worth::Kept).load(ordering::Relaxed);
        let kept = kept.min(shrinker::swap_pages());
        self.pages(Worth::Nothing)
            .load(ordering::Relaxed)
            .saturating_add(kept)
    }

    fn scan(&self, pages: usize) -> Option<usize> {
        let given = self.reclaim(pages);
        (given.pages > 0).then_some(given.pages)
    }
}

impl Listed {
    /// Sets the number of its pages.
    pub(super) fn set_pages(&mut self, pages: usize) {
        let count = self.reclaim.pages(self.worth);
        count.fetch_sub(self.pages, ordering::Relaxed);
        count.fetch_add(pages, ordering::Relaxed);
        self.pages = pages;
    }

    /// Moves the BO, which must be the entry's own, to the end of the other list, if it is not
    /// there yet. Allocates nothing.
    pub(crate) fn set_worth(&mut self, worth: Worth, object: Weak<Bo>) {
        if self.worth == worth {
            return;
        }
        let mut lines = self.reclaim.lines.lock();
        if let Some(node) = lines.of(self.worth).objects.remove_node(&self.key) {
            self.key = lines.stamp();
            let node = node.into_reservation().into_node(self.key, object);
            lines.of(worth).objects.insert(node);
        }
        drop(lines);
        let count = |worth| self.reclaim.pages(worth);
        count(self.worth).fetch_sub(self.pages, ordering::Relaxed);
        count(worth).fetch_add(self.pages, ordering::Relaxed);
        self.worth = worth;
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        let node = {
            let mut lines = self.reclaim.lines.lock();
            lines.of(self.worth).objects.remove_node(&self.key)
        };
        drop(node);
        self.reclaim
            .pages(self.worth)
            .fetch_sub(self.pages, ordering::Relaxed);
    }
}
