// SPDX-License-Identifier: GPL-2.0

//! Requests that wait until another one has been emitted, and not until it is done: the one before it in
//! the same ring, which was blocked when they were published, or one that user space names
//! (`I915_EXEC_FENCE_SUBMIT`).
//!
//! The one that is waited for, the *leader*, has a list of its followers. When it is emitted, or
//! fails before, they go into the [`FollowerQueue`]: each is told that there is one thing less to wait
//! for. That may emit it, and so bring its own followers in; the queue makes a loop of what would
//! else be a recursion as deep as user space likes.

use kernel::{
    list::{impl_list_arc_safe, impl_list_item, List, ListArc, ListLinks},
    new_spinlock_irq,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, SpinLockIrq,
    },
};

use super::{port::Port, Engine, Tracker};

/// A request that follows another one. Made before it is published.
#[pin_data]
pub(crate) struct Follower {
    #[pin]
    links: ListLinks,
    tracker: Arc<Tracker>,
    /// Of several engines, the number of the one that expects it.
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
            GFP_KERNEL,
        )
    }
}

/// The followers of a request.
pub(super) struct Followers {
    list: List<Follower>,
    /// Whether it has been emitted, or has failed: nobody waits for that any more.
    past: bool,
}

impl Followers {
    pub(super) fn new() -> Self {
        Self {
            list: List::new(),
            past: false,
        }
    }

    /// Adds one; gives it back if there is nothing to wait for.
    pub(super) fn add(
        &mut self,
        follower: ListArc<Follower>,
    ) -> core::result::Result<(), ListArc<Follower>> {
        if self.past {
            return Err(follower);
        }
        self.list.push_back(follower);
        Ok(())
    }

    /// There is nothing to wait for any more. Returns those that did.
    pub(super) fn pass(&mut self) -> List<Follower> {
        self.past = true;
        core::mem::take(&mut self.list)
    }
}

/// Followers on their way.
struct Inner {
    /// To be told.
    waiting: List<Follower>,
    /// Told; they are dropped in process context.
    told: List<Follower>,
    /// Somebody is telling.
    busy: bool,
}

/// Followers that have nothing to wait for any more, until they are told.
#[pin_data]
pub(crate) struct FollowerQueue {
    /// Whether there may be something to do, so that nobody takes the lock in vain.
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

    /// The followers of `tracker` have nothing to wait for any more. They are told by
    /// [`run`](Self::run). Until then their engines are given nothing: they get those together with what
    /// they follow. Any context.
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

    /// Tells those that have come, unless somebody else is at it, and then their engines. Any context; no
    /// lock of an engine is held.
    pub(super) fn run(&self) {
        if !self.any.load(ordering::Acquire) {
            return;
        }
        {
            let mut inner = self.inner.lock();
            if inner.busy {
                return;
            }
            inner.busy = true;
        }
        let mut told = List::new();
        loop {
            let next = {
                let mut inner = self.inner.lock();
                let next = inner.waiting.pop_front();
                if next.is_none() {
                    inner.busy = false;
                    self.any.store(false, ordering::Release);
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
    }

    /// Drops those that were told. Process context.
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
    /// One that follows others is on its way: nothing is listed before it is there. Any context.
    fn expect(&self) {
        self.expected.fetch_add(1, ordering::Full);
    }

    /// It is there. Any context; no lock of an engine is held.
    fn arrived(&self) {
        if self.expected.fetch_sub(1, ordering::Full) != 1 {
            return;
        }
        let mut queue = self.queue.lock();
        let held = queue.resetting || queue.stopped.is_some() || queue.signalling != 0;
        match &mut queue.port {
            Port::Lists(lists) if !held => lists.go_on(self),
            _ => {}
        }
    }
}
