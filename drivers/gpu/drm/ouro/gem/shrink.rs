// SPDX-License-Identifier: GPL-2.0

//! Giving memory back when the system wants it.
//!
//! Objects that have pages are on one of two lists, oldest first: those whose contents nobody needs
//! (`GEM_MADVISE`), and all others. Of the former the contents are thrown away; the latter's pages
//! are let go of, so that they can be swapped out. That is of use only while there is room in swap.
//!
//! Whoever wants memory may hold any lock under which memory is allocated. So an object is left
//! alone if its reservation, its state or its address space is locked, and the GPU is not waited
//! for. The lock of the lists is the one that is taken: nothing is allocated under it.

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
};

use super::{contents, Backing, Bo, BoDevice, Object};

/// Objects that one call looks at, at most: it must not take long.
const LOOKS: usize = 256;

/// Which list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Worth {
    /// Nobody needs what is in it.
    Nothing = 0,
    /// It must be kept.
    Kept = 1,
}

/// One list: by when an object came.
struct Line {
    objects: RBTree<u64, Weak<Bo>>,
    /// Where the next one is looked for.
    hand: u64,
}

impl Line {
    fn new() -> Self {
        Self {
            objects: RBTree::new(),
            hand: 0,
        }
    }

    /// The next object that still has references; at the end of the list `None`, and once more from
    /// the start.
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

/// What the lock protects.
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

/// The objects of a device that have memory to give back.
#[pin_data]
pub(crate) struct Reclaim {
    #[pin]
    lines: Mutex<Lines>,
    /// Pages of each list.
    pages: [Atomic<usize>; 2],
}

/// An object is on a list, until this is dropped.
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
                lines <- new_mutex!(Lines { lines: [Line::new(), Line::new()], last: 0 }, "ouro_reclaim"),
                pages: [const { Atomic::new(0) }; 2],
            }),
            GFP_KERNEL,
        )
    }

    fn pages(&self, worth: Worth) -> &Atomic<usize> {
        let [nothing, kept] = &self.pages;
        match worth {
            Worth::Nothing => nothing,
            Worth::Kept => kept,
        }
    }

    /// An object has got memory. `None`: it is of a kind that is not let go of. Errors: `ENOMEM`.
    pub(crate) fn enlist(
        self: &Arc<Self>,
        object: &Object,
        memory: &Backing,
        worth: Worth,
    ) -> Result<Option<Listed>> {
        if memory.shmem().is_none() {
            return Ok(None);
        }
        let pages = memory.len() as usize;
        let node = RBTreeNodeReservation::new(GFP_KERNEL)?;
        let mut lines = self.lines.lock();
        let key = lines.stamp();
        let node = node.into_node(key, object.downgrade());
        lines.of(worth).objects.insert(node);
        drop(lines);
        self.pages(worth).fetch_add(pages, ordering::Relaxed);
        Ok(Some(Listed {
            reclaim: self.clone(),
            key,
            pages,
            worth,
        }))
    }

    /// Lets go of about so many pages of a list. Returns of how many. Waits for nothing.
    fn give_back(&self, worth: Worth, wanted: usize) -> usize {
        let mut given = 0;
        let mut ends = 0;
        for _ in 0..LOOKS {
            if given >= wanted || ends > 1 {
                break;
            }
            let object = self.lines.lock().of(worth).next();
            match object {
                Some(object) => given += contents::give_back(&object, worth),
                None => ends += 1,
            }
        }
        given
    }

    /// Lets go of all that is idle, whether or not there is room in swap. Process context.
    pub(crate) fn give_back_all(&self) {
        for worth in [Worth::Nothing, Worth::Kept] {
            // From the start to the end, once.
            self.lines.lock().of(worth).hand = 0;
            loop {
                let object = self.lines.lock().of(worth).next();
                let Some(object) = object else { break };
                contents::give_back(&object, worth);
            }
        }
    }
}

/// How somebody who got no memory makes some. The kernel asks shrinkers when the machine is short of
/// it, but not when a memory cgroup is at its limit, and what objects hold cannot be swapped until
/// they let go of it.
pub(crate) struct Relief(u32);

impl Relief {
    /// Times that one call may try.
    const TRIES: u32 = 64;
    /// Pages that are let go of at a time, at most.
    const PAGES: u64 = 4096;
    /// Looks for pages that are on their way back, each after some hundred microseconds.
    const LOOKS: u32 = 50;

    pub(crate) fn new() -> Self {
        Self(Self::TRIES)
    }

    /// Lets go of about so many bytes of idle objects. Returns whether another attempt makes sense.
    /// Nothing is locked. Sleeps.
    ///
    /// Errors: `ERESTARTSYS`.
    pub(crate) fn relieve(&mut self, gpu: &BoDevice, bytes: u64) -> Result<bool> {
        let pages = (bytes / 4096).clamp(1, Self::PAGES) as usize;
        if self.0 == 0 || gpu.reclaim().scan(pages).is_none() {
            return Ok(false);
        }
        self.0 -= 1;
        let runner = gpu.runner();
        for _ in 0..Self::LOOKS {
            release::flush();
            runner.retire();
            if runner.is_empty() {
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
        let mut given = self.give_back(Worth::Nothing, pages);
        if given < pages && shrinker::swap_pages() > 0 {
            given += self.give_back(Worth::Kept, pages - given);
        }
        (given > 0).then_some(given)
    }
}

impl Listed {
    /// Puts the object, which is the same one, at the end of the other list, if it is not on that
    /// one. Allocates nothing.
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
