// SPDX-License-Identifier: GPL-2.0

//! A request: one batch on one engine in one context, from publication to retirement.
//!
//! It is three objects. The fence is what others hold of it. The [`Tracker`] is what the fence and
//! the dependencies know: whether the request has been emitted, whether somebody waits, how many
//! fences it still waits for itself. The [`Request`] is what it needs: it goes from list to list,
//! and is dropped in process context.

use kernel::{
    list::{impl_list_arc_safe, impl_list_item, ListArc, ListLinks},
    new_spinlock_irq,
    prelude::*,
    str::CStr,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc, SpinLockIrq,
    },
};
use ouro_hw::{
    engine::Batch,
    types::{RingOffset, Seqno},
};
use ouro_kernel::fence::{Armed, Callback, DriverFence, Fence, FenceOps, PreparedFence, Waker};

use super::{quota::Share, Context, Engine};
use crate::{gem::Object, hardware::Hardware};

/// What a request's fence, and the fences it waits for, know of it.
pub(crate) struct Tracker {
    engine: Arc<Engine>,
    /// The number that the ring writes, once the request has been emitted; zero before.
    seqno: Atomic<u32>,
    /// Whether somebody waits for it.
    wanted: Atomic<bool>,
    /// Fences that it waits for itself, and one for the publisher.
    waiting: Atomic<u32>,
}

impl Tracker {
    pub(crate) fn new(engine: Arc<Engine>) -> Result<Arc<Self>> {
        Ok(Arc::new(
            Self {
                engine,
                seqno: Atomic::new(0),
                wanted: Atomic::new(false),
                waiting: Atomic::new(1),
            },
            GFP_KERNEL,
        )?)
    }

    /// The engine that it runs on.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The number in the ring, once emitted.
    pub(crate) fn seqno(&self) -> Option<Seqno> {
        match self.seqno.load(ordering::Acquire) {
            0 => None,
            n => Some(Seqno(n)),
        }
    }

    pub(super) fn emitted(&self, seqno: Seqno) {
        self.seqno.store(seqno.0, ordering::Release);
    }

    /// Marks it as waited for. Returns whether it was already.
    pub(super) fn want(&self) -> bool {
        self.wanted.xchg(true, ordering::Full)
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.wanted.load(ordering::Acquire)
    }

    fn count_down(&self) {
        if self.waiting.fetch_sub(1, ordering::Full) == 1 {
            self.engine.unblock(self);
        }
    }
}

impl FenceOps for Tracker {
    fn driver_name(&self) -> &CStr {
        c"ouro"
    }

    fn timeline_name(&self) -> &CStr {
        c"request"
    }

    fn enable_signaling(&self, _seqno: u64) -> bool {
        self.engine.wait_for(self)
    }

    fn signaled(&self, _seqno: u64) -> bool {
        self.engine.has_passed(self)
    }
}

impl Waker for Tracker {
    fn fence_signaled(&self, _fence: &Fence) {
        self.count_down();
    }
}

/// Keeps the device awake.
pub(crate) struct Awake(Arc<Hardware>);

impl Awake {
    /// Wakes it if need be. Process context.
    pub(crate) fn new(hardware: &Arc<Hardware>) -> Result<Self> {
        hardware.get()?;
        Ok(Self(hardware.clone()))
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.0.put();
    }
}

/// What only the engine's queue touches, under its lock.
pub(super) struct Emitted {
    /// The ring's tail after this request.
    pub(super) tail: RingOffset,
    /// The context that was loaded before, whose image this request's start has saved.
    pub(super) replaced: Option<Arc<Context>>,
}

/// A request.
#[pin_data]
pub(crate) struct Request {
    #[pin]
    links: ListLinks,
    pub(super) fence: DriverFence<Tracker>,
    pub(super) tracker: Arc<Tracker>,
    pub(super) context: Option<Arc<Context>>,
    pub(super) batch: Option<Batch>,
    /// Whether the state that contexts hold is given its first values.
    pub(super) golden: bool,
    #[pin]
    pub(super) emitted: SpinLockIrq<Emitted>,
    /// The calls of the fences that it waits for.
    armed: KVec<Armed<Tracker>>,
    /// What the GPU may touch until the request is done.
    _objects: KVVec<ARef<Object>>,
    _awake: Awake,
    _share: Option<Share>,
}

impl_list_arc_safe! {
    impl ListArcSafe<0> for Request { untracked; }
}
impl_list_item! {
    impl ListItem<0> for Request { using ListLinks { self.links }; }
}

/// What a request is made of.
pub(crate) struct Parts {
    pub(crate) tracker: Arc<Tracker>,
    pub(crate) fence: PreparedFence<Tracker>,
    pub(crate) context: Option<Arc<Context>>,
    pub(crate) batch: Option<Batch>,
    pub(crate) golden: bool,
    pub(crate) objects: KVVec<ARef<Object>>,
    pub(crate) awake: Awake,
    /// The client's share, if it is a client's.
    pub(crate) share: Option<Share>,
}

/// A request that lacks nothing: from here on nothing fails.
pub(crate) struct Prepared {
    request: Pin<kernel::sync::UniqueArc<Request>>,
    callbacks: KVec<Callback<Tracker>>,
}

impl Prepared {
    /// Allocates everything that the request will need. `seqno` is its number on its timeline.
    pub(crate) fn new(parts: Parts, seqno: u64, dependencies: usize) -> Result<Self> {
        let mut callbacks = KVec::with_capacity(dependencies, GFP_KERNEL)?;
        for _ in 0..dependencies {
            callbacks.push(Callback::new()?, GFP_KERNEL)?;
        }
        let armed = KVec::with_capacity(dependencies, GFP_KERNEL)?;
        let fence = parts.fence.publish(seqno);
        let request = kernel::sync::UniqueArc::pin_init(
            try_pin_init!(Request {
                links <- ListLinks::new(),
                fence,
                tracker: parts.tracker,
                context: parts.context,
                batch: parts.batch,
                golden: parts.golden,
                emitted <- new_spinlock_irq!(Emitted {
                    tail: RingOffset(0),
                    replaced: None,
                }, "ouro_emitted"),
                armed,
                _objects: parts.objects,
                _awake: parts.awake,
                _share: parts.share,
            }? Error),
            GFP_KERNEL,
        )?;
        Ok(Self { request, callbacks })
    }

    /// Its fence.
    pub(crate) fn fence(&self) -> &Fence {
        &self.request.fence
    }

    /// Lets it go once `dependencies` are signalled.
    ///
    /// There must be no more of them than were announced: those beyond are waited for by nobody.
    pub(crate) fn publish(mut self, dependencies: impl Iterator<Item = ARef<Fence>>) {
        let tracker = self.request.tracker.clone();
        let armed = self.request.as_mut().project().armed;
        for (callback, fence) in self.callbacks.into_iter().zip(dependencies) {
            tracker.waiting.fetch_add(1, ordering::Relaxed);
            match callback.arm(fence, tracker.clone()) {
                // There is room.
                Ok(call) => drop(armed.push_within_capacity(call)),
                Err(_) => {
                    tracker.waiting.fetch_sub(1, ordering::Relaxed);
                }
            }
        }
        tracker.engine.block(ListArc::from(self.request));
        tracker.count_down();
    }
}
