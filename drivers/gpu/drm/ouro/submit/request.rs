// SPDX-License-Identifier: GPL-2.0

//! A request: one batch on one engine in one context, from publication to retirement.
//!
//! It is three objects. The fence is what others hold of it. The [`Tracker`] is what the fence and
//! the dependencies know: whether the request has been emitted, whether somebody waits, how many
//! fences it still waits for itself. The [`Request`] is what it needs: it goes from list to list,
//! and is dropped in process context. How it is made and published: [`publish`](super::publish).

use core::ops::Range;
use kernel::{
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
    types::{GpuAddr, RingOffset, Seqno},
};
use ouro_kernel::{
    fence::{Armed, DriverFence, Fence, FenceOps, Waker},
    impl_member,
    lazy::LazyVec,
    list::Membership,
};

use super::{
    follow::{Follower, Followers},
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
    Engine,
};
use crate::{
    gem::{Backing, Object},
    hardware::Hardware,
};

/// What a request's fence, and the fences it waits for, know of it.
#[pin_data]
pub(crate) struct Tracker {
    target: Target,
    /// Of several engines, the number of the one that has it. Changed under the lock of the one that had it.
    number: Atomic<u32>,
    /// Where the ring writes its number.
    line: Arc<Line>,
    /// The number that the ring writes, once the request has been emitted; zero before.
    seqno: Atomic<u32>,
    /// Whether somebody waits for it.
    wanted: Atomic<bool>,
    /// Fences that it waits for itself, and one for the publisher.
    waiting: Atomic<u32>,
    pub(super) urgency: Urgency,
    #[pin]
    links: ListLinks,
    /// For who lifts it ([`super::lists::inherit`]).
    #[pin]
    lift_links: ListLinks<1>,
    #[pin]
    lifting: AtomicTracker<1>,
    membership: Membership,
    #[pin]
    held: SpinLockIrq<Held>,
}

/// Whom a tracker leads to. Locked under the queue of an engine.
struct Held {
    /// Who waits until the request is emitted.
    followers: Followers,
    /// The request itself, while it is blocked.
    request: Option<ListArc<Request>>,
}

impl_list_arc_safe! {
    impl ListArcSafe<0> for Tracker { untracked; }
}
impl_list_item! {
    impl ListItem<0> for Tracker { using ListLinks { self.links }; }
}
impl_list_arc_safe! {
    impl ListArcSafe<1> for Tracker { tracked_by lifting: AtomicTracker<1>; }
}
impl_list_item! {
    impl ListItem<1> for Tracker { using ListLinks { self.lift_links }; }
}
impl_member! {
    impl Member for Tracker { self.membership }
}

impl Tracker {
    /// The one for a request that is being made. It is the request's own when that is blocked.
    pub(super) fn new(target: Target, line: Arc<Line>) -> Result<ListArc<Self>> {
        let number = target.siblings().map_or(0, |s| s.now());
        ListArc::pin_init(
            try_pin_init!(Self {
                target,
                number: Atomic::new(number),
                line,
                seqno: Atomic::new(0),
                wanted: Atomic::new(false),
                waiting: Atomic::new(1),
                urgency: Urgency::new(),
                links <- ListLinks::new(),
                lift_links <- ListLinks::new(),
                lifting <- AtomicTracker::new(),
                membership: Membership::new(),
                held <- new_spinlock_irq!(Held {
                    followers: Followers::new(),
                    request: None,
                }, "ouro_tracker"),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// The engine that has it, or that it is about to come to. Of several it may soon be another one: who has
    /// the lock of this one and asks again knows.
    pub(crate) fn engine(&self) -> &Engine {
        self.engine_of(self.number())
    }

    /// Whether that is `engine`.
    pub(super) fn is_on(&self, engine: &Engine) -> bool {
        core::ptr::eq(self.engine(), engine)
    }

    /// The number of the engine that has it, of several.
    pub(super) fn number(&self) -> u32 {
        self.number.load(ordering::Acquire)
    }

    /// The engine of such a number.
    pub(super) fn engine_of(&self, number: u32) -> &Engine {
        match &self.target {
            Target::One(engine) => engine,
            Target::Any(siblings) => siblings.at(number),
        }
    }

    /// Another engine gets it. Called under the lock of the one that had it.
    pub(super) fn go_to(&self, siblings: &Siblings, number: u32) {
        self.urgency.sit(siblings.seat(number));
        self.number.store(number, ordering::Release);
    }

    /// Where the ring writes its number.
    pub(crate) fn line(&self) -> &Line {
        &self.line
    }

    /// The number in the ring, once emitted.
    pub(crate) fn seqno(&self) -> Option<Seqno> {
        match self.seqno.load(ordering::Acquire) {
            0 => None,
            n => Some(Seqno(n)),
        }
    }

    /// Whether the engine is done with it. Any context.
    pub(super) fn is_done(&self) -> bool {
        // A reset takes the number away, and later ones of other requests pass it.
        self.seqno()
            .is_some_and(|s| self.line.progress().passed(s) && self.seqno() == Some(s))
    }

    pub(super) fn emitted(&self, seqno: Seqno) {
        self.seqno.store(seqno.0, ordering::Release);
    }

    /// It is not in the ring any more: it will be emitted again.
    pub(super) fn taken_back(&self) {
        self.seqno.store(0, ordering::Release);
    }

    /// Marks it as waited for. Returns whether it was already.
    pub(super) fn want(&self) -> bool {
        self.wanted.xchg(true, ordering::Full)
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.wanted.load(ordering::Acquire)
    }

    /// A request is to wait until this one is emitted. Gives it back if this one was.
    pub(super) fn follow(
        &self,
        follower: ListArc<Follower>,
    ) -> core::result::Result<(), ListArc<Follower>> {
        self.held.lock().followers.add(follower)
    }

    /// It is emitted, or has failed. Returns those that waited for it.
    pub(super) fn pass(&self) -> List<Follower> {
        self.held.lock().followers.pass()
    }

    /// It keeps its request, which is blocked.
    pub(super) fn hold(&self, request: ListArc<Request>) {
        self.held.lock().request = Some(request);
    }

    /// The request that it kept.
    pub(super) fn let_go(&self) -> Option<ListArc<Request>> {
        self.held.lock().request.take()
    }

    /// The same, which stays where it is.
    pub(super) fn held(&self) -> Option<Arc<Request>> {
        let held = self.held.lock();
        held.request.as_ref().map(|request| request.clone_arc())
    }

    /// Whether there is anything to wait for.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.load(ordering::Relaxed) != 0
    }

    /// There is one thing more to wait for.
    pub(super) fn count_up(&self) {
        self.waiting.fetch_add(1, ordering::Relaxed);
    }

    /// That was nothing to wait for. The publisher still counts.
    pub(super) fn discount(&self) {
        self.waiting.fetch_sub(1, ordering::Relaxed);
    }

    /// There is one thing less to wait for. Any context; no lock of an engine is held.
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
            // Else it has gone to another engine meanwhile.
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

/// What a request does.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// It switches to its context, and is done.
    Nothing,
    /// The state that contexts hold is given its first values.
    Golden,
    /// Registers of it are: the rest stays as a reset makes it.
    GoldenRegisters,
    /// What user space has written.
    Batch(Batch),
    /// The same, and the streams that shaders write start at the beginning of their buffers, on an engine that has
    /// such streams.
    BatchOfNewStreams(Batch),
    /// A copy of pages, on an engine that can.
    Copy(PageCopy),
    /// Pages are set to a value, on an engine that can.
    Fill(PageFill),
}

/// What only the engine's queue touches, under its lock.
pub(super) struct Emitted {
    /// Its number among those of the engine, in their order. On a ring it is the one that the ring writes.
    pub(super) number: Seqno,
    /// The ring's tail after this request.
    pub(super) tail: RingOffset,
    /// When it was emitted, in nanoseconds.
    pub(super) at: u64,
    /// Nanoseconds for which it has run, where contexts take turns.
    pub(super) ran: u64,
    /// The context that was loaded before, whose image this request's start has saved.
    pub(super) replaced: Option<InUse>,
    /// It has hung before: a request of the kernel's is given a second chance.
    pub(super) tried: bool,
    /// It has hung: it is not run again.
    pub(super) lost: bool,
    /// The microseconds that the engine's watchdog is told for it.
    pub(super) watched: Option<u32>,
}

/// Memory that is kept when a request hangs.
pub(crate) struct Captured {
    /// Where the GPU sees it.
    pub(crate) address: GpuAddr,
    /// Which pages of the memory.
    pub(crate) pages: Range<u32>,
    pub(crate) backing: Arc<Backing>,
    /// Whether the CPU's caches may hold what was there before.
    pub(crate) stale: bool,
}

/// What is looked at when a request hangs.
#[derive(Default)]
pub(crate) struct Evidence {
    /// The object with the batch.
    pub(crate) batch: Option<Captured>,
    /// What user space has marked.
    pub(crate) user: LazyVec<Captured>,
}

/// Others that a request follows at most: the one before it on its timeline, and one that user space names.
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
    #[pin]
    pub(super) emitted: SpinLockIrq<Emitted>,
    /// The calls of the fences that it waits for.
    armed: LazyVec<Armed<Tracker>>,
    /// What is to be emitted before it.
    leads: [Option<ARef<Fence>>; MAX_LEADS],
    /// What the GPU may touch until the request is done.
    _objects: KVVec<ARef<Object>>,
    evidence: Evidence,
    _shadow: Option<Shadow>,
    /// What a move needs.
    moving: Option<Moving>,
    _awake: Awake,
    share: Option<Share>,
    /// For how many microseconds its batch may run.
    pub(super) watchdog: Option<u32>,
}

impl_list_arc_safe! {
    impl ListArcSafe<0> for Request { untracked; }
}
impl_list_item! {
    impl ListItem<0> for Request { using ListLinks { self.links }; }
}

impl Request {
    /// A request that nobody knows yet. `armed` has room for what it waits for.
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
                emitted <- new_spinlock_irq!(Emitted {
                    number: Seqno(0),
                    tail: RingOffset(0),
                    at: 0,
                    ran: 0,
                    replaced: None,
                    tried: false,
                    lost: false,
                    watched: None,
                }, "ouro_emitted"),
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
            GFP_KERNEL,
        )
    }

    /// The calls of what it waits for.
    pub(super) fn armed(self: Pin<&mut Self>) -> &mut LazyVec<Armed<Tracker>> {
        self.project().armed
    }

    /// This is to be emitted first.
    pub(super) fn add_lead(self: Pin<&mut Self>, lead: ARef<Fence>) {
        if let Some(free) = self.project().leads.iter_mut().find(|l| l.is_none()) {
            *free = Some(lead);
        }
    }

    /// What it waits for, or has waited for.
    pub(super) fn awaited(&self) -> impl Iterator<Item = &Fence> {
        let armed = self.armed.iter().map(|call| call.fence());
        Iterator::chain(armed, self.leads.iter().flatten().map(|lead| &**lead))
    }

    /// What a move needs, if it is one.
    pub(super) fn moving(self: Pin<&mut Self>) -> Option<&mut Moving> {
        self.project().moving.as_mut()
    }

    /// Takes the client's share away.
    pub(super) fn take_share(self: Pin<&mut Self>) -> Option<Share> {
        self.project().share.take()
    }

    /// Its number among those of its engine, once emitted.
    pub(crate) fn number(&self) -> Seqno {
        self.emitted.lock().number
    }

    /// The number of its context's seat on its engine, where contexts are listed.
    pub(super) fn seat(&self) -> Option<u32> {
        let context = self.context.as_ref()?;
        Some(context.seat(self.tracker.engine())?.id())
    }

    /// What user space wants it to run.
    pub(crate) fn batch(&self) -> Option<Batch> {
        match self.work {
            Work::Batch(batch) | Work::BatchOfNewStreams(batch) => Some(batch),
            _ => None,
        }
    }

    /// What is looked at when it hangs.
    pub(crate) fn evidence(&self) -> &Evidence {
        &self.evidence
    }
}
