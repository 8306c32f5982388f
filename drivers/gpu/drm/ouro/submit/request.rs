// SPDX-License-Identifier: GPL-2.0

//! Requests: one batch on one engine in one context, from publication to retirement.
//!
//! A request is three objects. The fence is what other code holds. The [`Tracker`] is the state
//! that the fence and the dependencies access: whether the request was emitted, whether it has
//! waiters, and how many fences it still waits for. The [`Request`] has its resources: it moves
//! from list to list, and is dropped in process context. Requests are created and published in
//! [`publish`](super::publish).

use core::ops::Range;
use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    list::{
        impl_list_arc_safe, impl_list_item, AtomicTracker, List, ListArc, ListLinks, TryNewListArc,
    },
    new_spinlock_irq,
    prelude::*,
    str::CStr,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc, SpinLockIrq, UniqueArc,
    },
};
use ouro_hw::{
    engine::{Batch, PageCopy, PageFill},
    types::{GpuAddr, Seqno},
};
use ouro_kernel::{
    fence::{Armed, DriverFence, Fence, FenceOps, Waker},
    impl_member,
    lazy::LazyVec,
    list::Membership,
};

use super::{
    emitted::Emitted,
    follow::{Follower, Leading},
    in_use::InUse,
    line::Line,
    lists::{
        balanced::{Siblings, Target},
        inherit::Urgency,
    },
    moves::Moving,
    pool::Shadow,
    publish::Parts,
    quota::Share,
    scratch::ObjectRefs,
    Engine,
};
use crate::{gem::Backing, hardware::Hardware};

/// The state of a request that its fence, and the fences that it waits for, access.
#[pin_data]
pub(crate) struct Tracker {
    target: Target,
    /// The number of its engine, of a virtual engine's. Changed under the lock of the engine that
    /// had it.
    number: Atomic<u32>,
    /// The ring and status page where its seqno is stored.
    line: Arc<Line>,
    /// The seqno that the ring stores, once the request was emitted; zero before.
    seqno: Atomic<u32>,
    /// Whether it has a waiter.
    wanted: Atomic<bool>,
    /// Whether it fails once it is ready: the device was wedged while it was blocked.
    doomed: Atomic<bool>,
    /// Number of fences that it waits for, and one for the publisher.
    waiting: Atomic<u32>,
    pub(super) urgency: Urgency,
    #[pin]
    links: ListLinks,
    /// For priority inheritance ([`super::lists::inherit`]).
    #[pin]
    lift_links: ListLinks<1>,
    #[pin]
    lifting: AtomicTracker<1>,
    membership: Membership,
    leading: Leading,
    #[pin]
    held: SpinLockIrq<Held>,
}

/// The requests that a tracker refers to. Locked inside of an engine's queue.
struct Held {
    /// Requests that wait for its emission.
    followers: List<Follower>,
    /// Its request, while that is blocked.
    request: Option<ListArc<Request>>,
}

impl_list_arc_safe! {
    impl ListArcSafe<0> for Tracker { untracked; }
    impl ListArcSafe<1> for Tracker { tracked_by lifting: AtomicTracker<1>; }
}
impl_list_item! {
    impl ListItem<0> for Tracker { using ListLinks { self.links }; }
    impl ListItem<1> for Tracker { using ListLinks { self.lift_links }; }
}
impl_member! {
    impl Member for Tracker { self.membership }
}

impl Tracker {
    /// Creates the tracker of a new request, on the list side: the queue owns it while the request
    /// is blocked.
    pub(super) fn new(target: Target, line: Arc<Line>) -> Result<ListArc<Self>> {
        let number = target.siblings().map_or(0, |s| s.now());
        ListArc::pin_init(
            try_pin_init!(Self {
                target,
                number: Atomic::new(number),
                line,
                seqno: Atomic::new(0),
                wanted: Atomic::new(false),
                doomed: Atomic::new(false),
                waiting: Atomic::new(1),
                urgency: Urgency::new(),
                links <- ListLinks::new(),
                lift_links <- ListLinks::new(),
                lifting <- AtomicTracker::new(),
                membership: Membership::new(),
                leading: Leading::new(),
                held <- new_spinlock_irq!(Held {
                    followers: List::new(),
                    request: None,
                }, "ouro_tracker"),
            }? Error),
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// The device was wedged while the request was blocked: it fails once it is ready, also if the
    /// device is revived before.
    pub(super) fn doom(&self) {
        self.doomed.store(true, ordering::Relaxed);
    }

    /// Returns whether [`doom`](Self::doom) was called. Under the lock of the engine that has it.
    pub(super) fn is_doomed(&self) -> bool {
        self.doomed.load(ordering::Relaxed)
    }

    /// Returns its engine, current or next. With several engines it may change: a caller that has
    /// locked the engine must compare again.
    pub(crate) fn engine(&self) -> &Engine {
        self.engine_of(self.number())
    }

    /// Returns whether its engine is `engine`.
    pub(super) fn is_on(&self, engine: &Engine) -> bool {
        core::ptr::eq(self.engine(), engine)
    }

    /// Returns the number of its engine, of a virtual engine's.
    pub(super) fn number(&self) -> u32 {
        self.number.load(ordering::Acquire)
    }

    /// Returns the engine of a number.
    pub(super) fn engine_of(&self, number: u32) -> &Engine {
        match &self.target {
            Target::One(engine) => engine,
            Target::Any(siblings) => siblings.at(number),
        }
    }

    /// Moves it to another engine. Called under the lock of the engine that had it.
    pub(super) fn go_to(&self, siblings: &Siblings, number: u32) {
        self.urgency.sit(siblings.seat(number));
        self.number.store(number, ordering::Release);
    }

    /// Returns the ring and status page where its seqno is stored.
    pub(crate) fn line(&self) -> &Line {
        &self.line
    }

    /// Returns its seqno in the ring, once emitted.
    pub(crate) fn seqno(&self) -> Option<Seqno> {
        match self.seqno.load(ordering::Acquire) {
            0 => None,
            n => Some(Seqno(n)),
        }
    }

    /// Returns whether it has completed. Any context.
    pub(super) fn is_done(&self) -> bool {
        // A reset clears the seqno, and later ones of other requests pass it.
        self.seqno()
            .is_some_and(|s| self.line.progress().passed(s) && self.seqno() == Some(s))
    }

    pub(super) fn emitted(&self, seqno: Seqno) {
        self.seqno.store(seqno.0, ordering::Release);
    }

    /// It was removed from the ring, and will be emitted again.
    pub(super) fn taken_back(&self) {
        self.seqno.store(0, ordering::Release);
    }

    /// Marks it as having a waiter. Returns whether it had one already.
    pub(super) fn want(&self) -> bool {
        self.wanted.xchg(true, ordering::Full)
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.wanted.load(ordering::Acquire)
    }

    /// Adds a request that waits for the emission of this one. Gives it back if this one was
    /// emitted.
    pub(super) fn follow(
        &self,
        follower: ListArc<Follower>,
    ) -> core::result::Result<(), ListArc<Follower>> {
        let mut held = self.held.lock();
        match self.leading.begin() {
            true => held.followers.push_back(follower),
            false => return Err(follower),
        }
        Ok(())
    }

    /// It was emitted, or has failed. Returns its followers.
    pub(super) fn pass(&self) -> List<Follower> {
        match self.leading.pass() {
            // The lock is taken after the last one was added.
            true => core::mem::take(&mut self.held.lock().followers),
            false => List::new(),
        }
    }

    /// Keeps its blocked request.
    pub(super) fn hold(&self, request: ListArc<Request>) {
        self.held.lock().request = Some(request);
    }

    /// Takes the blocked request out of the tracker.
    pub(super) fn take_request(&self) -> Option<ListArc<Request>> {
        self.held.lock().request.take()
    }

    /// Returns the blocked request, and keeps it.
    pub(super) fn held(&self) -> Option<Arc<Request>> {
        let held = self.held.lock();
        held.request.as_ref().map(|request| request.clone_arc())
    }

    /// Returns whether it still waits for fences or followers.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.load(ordering::Relaxed) != 0
    }

    /// Adds a dependency.
    pub(super) fn count_up(&self) {
        self.waiting.fetch_add(1, ordering::Relaxed);
    }

    /// Removes a dependency that was already met. The publisher's own still counts.
    pub(super) fn discount(&self) {
        self.waiting.fetch_sub(1, ordering::Relaxed);
    }

    /// If it waits for nothing but its publisher, counts that down: it is ready, on its only
    /// engine. Called by the publisher.
    pub(super) fn begins(&self) -> bool {
        // Nothing is added any more, and what was added before is met.
        let ready = self.waiting.load(ordering::Acquire) == 1;
        let begins = ready && self.target.siblings().is_none();
        if begins {
            self.discount();
        }
        begins
    }

    /// Removes a dependency; the last one makes the request ready. Any context; no engine's lock is
    /// held.
    pub(super) fn count_down(&self) {
        if self.waiting.fetch_sub(1, ordering::Full) != 1 {
            return;
        }
        match &self.target {
            Target::One(engine) => engine.unblock(self),
            Target::Any(siblings) => self.engine().retirer.unblock(siblings, self),
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
        loop {
            // If `None`, it has moved to another engine meanwhile.
            if let Some(waits) = self.engine().wait_for(self) {
                return waits;
            }
        }
    }

    fn signaled(&self, _seqno: u64) -> bool {
        self.is_done()
    }
}

impl Waker for Tracker {
    fn fence_signaled(&self, _fence: &Fence) {
        self.count_down();
    }
}

/// Keeps the device awake while it lives.
pub(crate) struct Awake(Arc<Hardware>);

impl Awake {
    /// Wakes the device if necessary. Process context.
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

/// The work of a request.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// Nothing but the context switch.
    Nothing,
    /// The golden state: initial values of a context's state.
    Golden,
    /// The part of the golden state that is registers; the rest is as the device has it: after a
    /// hang, the reset values.
    GoldenRegisters,
    /// A batch of user space.
    Batch(Batch),
    /// A batch of user space, with stream output (SO) offsets reset, on an engine that has SO
    /// buffers.
    BatchWithStreamOutputReset(Batch),
    /// A copy of pages, on an engine that supports it.
    Copy(PageCopy),
    /// A fill of pages, on an engine that supports it.
    Fill(PageFill),
}

/// Memory to capture if a request hangs.
pub(crate) struct Captured {
    /// Its GPU address.
    pub(crate) address: GpuAddr,
    /// The pages of the backing to capture.
    pub(crate) pages: Range<u32>,
    pub(crate) backing: Arc<Backing>,
    /// Whether the CPU's caches may hold stale lines of it.
    pub(crate) stale: bool,
}

/// The memory to capture if a request hangs.
#[derive(Default)]
pub(crate) struct Evidence {
    /// The BO with the batch.
    pub(crate) batch: Option<Captured>,
    /// The BOs that user space marked for capture.
    pub(crate) user: LazyVec<Captured>,
}

/// Most requests that a request follows: its predecessor on the timeline, and one that user space
/// names.
pub(super) const MAX_LEADS: usize = 2;

/// A request.
#[pin_data]
pub(crate) struct Request {
    #[pin]
    links: ListLinks,
    pub(super) fence: DriverFence<Tracker>,
    pub(crate) tracker: Arc<Tracker>,
    pub(crate) context: Option<InUse>,
    pub(super) work: Work,
    pub(super) emitted: Emitted,
    /// The context that was loaded before, whose image the switch at this request's start has
    /// saved.
    #[pin]
    pub(super) replaced: SpinLockIrq<Option<InUse>>,
    /// A context that the engine had loaded when it was reset: the retirer drops it with the
    /// request.
    #[pin]
    pub(super) unloaded: SpinLockIrq<Option<InUse>>,
    /// The callbacks on the fences that it waits for.
    armed: LazyVec<Armed<Tracker>>,
    /// Fences of requests that must be emitted before it.
    leads: [Option<ARef<Fence>>; MAX_LEADS],
    /// BOs that the GPU may access until the request completes.
    _objects: ObjectRefs,
    evidence: Evidence,
    _shadow: Option<Shadow>,
    /// The resources of a move.
    moving: Option<KBox<Moving>>,
    _awake: Awake,
    share: Option<Share>,
    /// The watchdog limit of its batch, in microseconds.
    pub(super) watchdog: Option<u32>,
}

impl_list_arc_safe! {
    impl ListArcSafe<0> for Request { untracked; }
}
impl_list_item! {
    impl ListItem<0> for Request { using ListLinks { self.links }; }
}

impl Request {
    /// Creates a request that is not visible yet. `armed` has capacity for its dependencies.
    pub(super) fn new(
        tracker: Arc<Tracker>,
        fence: DriverFence<Tracker>,
        armed: LazyVec<Armed<Tracker>>,
        parts: Parts,
    ) -> Result<Pin<UniqueArc<Self>>> {
        UniqueArc::pin_init(
            try_pin_init!(Self {
                links <- ListLinks::new(),
                fence,
                tracker,
                context: parts.context,
                work: parts.work,
                emitted: Emitted::new(),
                replaced <- new_spinlock_irq!(None, "ouro_replaced"),
                unloaded <- new_spinlock_irq!(None, "ouro_unloaded"),
                armed,
                leads: [const { None }; MAX_LEADS],
                _objects: parts.objects,
                evidence: parts.evidence,
                _shadow: parts.shadow,
                moving: parts.moving,
                _awake: parts.awake,
                share: parts.share,
                watchdog: parts.watchdog,
            }? Error),
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// Returns the callbacks on the fences that it waits for.
    pub(super) fn armed(self: Pin<&mut Self>) -> &mut LazyVec<Armed<Tracker>> {
        self.project().armed
    }

    /// Adds a fence whose request must be emitted first.
    pub(super) fn add_lead(self: Pin<&mut Self>, lead: ARef<Fence>) {
        if let Some(free) = self.project().leads.iter_mut().find(|l| l.is_none()) {
            *free = Some(lead);
        }
    }

    /// Returns the fences that it waits for, or has waited for.
    pub(super) fn awaited(&self) -> impl Iterator<Item = &Fence> {
        let armed = self.armed.iter().map(|call| call.fence());
        Iterator::chain(armed, self.leads.iter().flatten().map(|lead| &**lead))
    }

    /// Returns whether it may be released ([`Moving::may_end`]).
    pub(super) fn may_end(&self) -> bool {
        self.moving.as_ref().is_none_or(|moving| moving.may_end())
    }

    /// Returns the resources of a move, if it is one.
    pub(super) fn moving(self: Pin<&mut Self>) -> Option<&mut Moving> {
        self.project().moving.as_deref_mut()
    }

    /// Takes the client's share of the quota.
    pub(super) fn take_share(self: Pin<&mut Self>) -> Option<Share> {
        self.project().share.take()
    }

    /// Returns its engine seqno, once emitted.
    pub(crate) fn number(&self) -> Seqno {
        self.emitted.number()
    }

    /// Returns the id of its context on its engine, if that is an execlist engine.
    pub(super) fn seat(&self) -> Option<u32> {
        let context = self.context.as_ref()?;
        Some(context.seat(self.tracker.engine())?.id())
    }

    /// Returns the batch of user space, if it has one.
    pub(crate) fn batch(&self) -> Option<Batch> {
        match self.work {
            Work::Batch(batch) | Work::BatchWithStreamOutputReset(batch) => Some(batch),
            _ => None,
        }
    }

    /// Returns the memory to capture if it hangs.
    pub(crate) fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Takes that memory.
    pub(super) fn take_evidence(self: Pin<&mut Self>) -> Evidence {
        core::mem::take(self.project().evidence)
    }
}
