// SPDX-License-Identifier: GPL-2.0

//! Followers: requests that wait for the emission of another request, not for its completion. That
//! is the request before them in the same ring, if it was blocked when they were published, or one
//! that user space names (`I915_EXEC_FENCE_SUBMIT`).
//!
//! The request that is waited for, the *leader*, has a list of its followers. When it is emitted,
//! or fails before, they go into the [`FollowerQueue`], which counts down their dependencies. That
//! may emit a follower and so add its own followers; the queue makes a loop of what would otherwise
//! be a recursion of any depth that user space likes. It often runs with interrupts disabled: a
//! call counts down a few followers ([`Budget`]), and the worker the rest.

use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    list::{impl_list_arc_safe, impl_list_item, List, ListArc, ListLinks},
    new_spinlock_irq,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, SpinLockIrq,
    },
};

use ouro_core::burst::Budget;
use ouro_kernel::time;

use super::{engine::Queue, port::Port, Engine, Tracker};

/// A request that follows another one. Allocated before publication.
#[pin_data]
pub(crate) struct Follower {
    #[pin]
    links: ListLinks,
    tracker: Arc<Tracker>,
    /// The number of the engine, of a virtual engine's, that expects it.
    number: Atomic<u32>,
}

impl_list_arc_safe! {
    impl ListArcSafe<0> for Follower { untracked; }
}
impl_list_item! {
    impl ListItem<0> for Follower { using ListLinks { self.links }; }
}

impl Follower {
    pub(crate) fn new(tracker: Arc<Tracker>) -> Result<ListArc<Self>> {
        ListArc::pin_init(
            try_pin_init!(Self {
                links <- ListLinks::new(),
                tracker,
                number: Atomic::new(0),
            }? Error),
            GFP_KERNEL_ACCOUNT,
        )
    }
}

/// Whether a request has followers, for a look without the lock of the list.
pub(super) struct Leading(Atomic<u32>);

impl Leading {
    /// It has none.
    const ALONE: u32 = 0;
    /// Some may be in the list.
    const FOLLOWED: u32 = 1;
    /// It was emitted or has failed: followers need not wait any more.
    const PAST: u32 = 2;

    pub(super) fn new() -> Self {
        Self(Atomic::new(Self::ALONE))
    }

    /// A follower is about to be added, under the lock of the list. Returns false if there is
    /// nothing to wait for.
    pub(super) fn begin(&self) -> bool {
        match self.0.cmpxchg(Self::ALONE, Self::FOLLOWED, ordering::Full) {
            Ok(_) => true,
            Err(now) => now == Self::FOLLOWED,
        }
    }

    /// It was emitted, or has failed. Returns whether the list may have followers, which nothing is
    /// added to any more.
    pub(super) fn pass(&self) -> bool {
        self.0.xchg(Self::PAST, ordering::Full) == Self::FOLLOWED
    }
}

/// The followers on their way through the queue.
struct Inner {
    /// Followers whose dependencies are to be counted down.
    waiting: List<Follower>,
    /// Followers that were counted down; they are dropped in process context.
    told: List<Follower>,
    /// Whether a caller is processing the queue.
    busy: bool,
}

/// Followers whose leader was emitted or has failed, until their dependencies are counted down.
#[pin_data]
pub(crate) struct FollowerQueue {
    /// Whether there may be work, so that the lock is not taken in vain.
    any: Atomic<bool>,
    #[pin]
    inner: SpinLockIrq<Inner>,
}

impl FollowerQueue {
    pub(crate) fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            any: Atomic::new(false),
            inner <- new_spinlock_irq!(Inner {
                waiting: List::new(),
                told: List::new(),
                busy: false,
            }, "ouro_followers"),
        })
    }

    /// Queues the followers of `tracker`, for [`run`](Self::run) to process. Until then their
    /// engines load nothing, so that followers are loaded together with their leader. Any context.
    pub(super) fn pass(&self, tracker: &Tracker) {
        let mut list = tracker.pass();
        if !list.is_empty() {
            for follower in list.iter() {
                let number = follower.tracker.number();
                follower.number.store(number, ordering::Relaxed);
                follower.tracker.engine_of(number).expect();
            }
            self.inner.lock().waiting.push_all_back(&mut list);
            self.any.store(true, ordering::Release);
        }
    }

    /// Counts down the dependencies of queued followers, unless another caller does, and then lets
    /// their engines load. Returns whether the budget was used up before the last one: the caller
    /// leaves the rest to the worker. Any context; no engine's lock is held.
    pub(super) fn run(&self, budget: &mut Budget) -> bool {
        if !self.any.load(ordering::Acquire) {
            return false;
        }
        {
            let mut inner = self.inner.lock();
            if inner.busy {
                return false;
            }
            inner.busy = true;
        }
        let mut told = List::new();
        let mut left;
        loop {
            let next = {
                let mut inner = self.inner.lock();
                left = !inner.waiting.is_empty() && !budget.take();
                let next = match left {
                    true => None,
                    false => inner.waiting.pop_front(),
                };
                if next.is_none() {
                    inner.busy = false;
                    self.any.store(left, ordering::Release);
                }
                next
            };
            let Some(follower) = next else { break };
            follower.tracker.count_down();
            told.push_back(follower);
        }
        for follower in told.iter() {
            let number = follower.number.load(ordering::Relaxed);
            follower.tracker.engine_of(number).arrived();
        }
        self.inner.lock().told.push_all_back(&mut told);
        left
    }

    /// Drops the followers that were processed. Process context.
    pub(super) fn clear(&self) {
        loop {
            let told = self.inner.lock().told.pop_front();
            if told.is_none() {
                return;
            }
        }
    }
}

impl Engine {
    /// Announces a follower: the engine loads nothing until it has arrived. Any context.
    fn expect(&self) {
        self.expected.fetch_add(1, ordering::Full);
    }

    /// An announced follower has arrived. Any context; no engine's lock is held.
    fn arrived(&self) {
        if self.expected.fetch_sub(1, ordering::Full) != 1 {
            return;
        }
        let mut queue = self.queue.lock();
        let held = queue.resetting || queue.stopped.is_some() || queue.signalling != 0;
        let Queue { port, arming, .. } = &mut *queue;
        match port {
            Port::Lists(lists) if !held => lists.go_on(self, arming, time::monotonic_ns()),
            _ => {}
        }
    }
}
