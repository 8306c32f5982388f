// SPDX-License-Identifier: GPL-2.0

//! Submission of a batch: from BOs and addresses to a published request.
//!
//! The order of the steps keeps the locking rules:
//!
//! a. user memory has been copied by the caller, without locks held;
//! b. userptr pages are pinned, and all reservations are locked under one ww ticket, with back-off;
//! c. everything is allocated and bound, and relocations are written (if that needs an idle BO, all
//! locks are dropped for the wait, and submission starts over at b);
//! d. the request is published, after which nothing can fail;
//! e. the locks are dropped, and the caller writes the results to user memory.

use kernel::{
    prelude::*,
    sync::{aref::ARef, Arc},
    time::{delay::fsleep, Delta},
};
use ouro_core::sort::sort_by_key;
use ouro_hw::types::GpuAddr;
use ouro_kernel::{
    fence::{self, Fence},
    lazy::LazyVec,
    release,
    resv::{self, Acquired, HasResv, LockError, Locked, LockedSet, Slate, Usage},
    time,
    wait::{Interruptible, Waited, FOREVER},
};

use super::{
    batch::{is_bounded, Ready},
    evict::{self, Tries},
    in_use::InUse,
    lists::{balanced::Target, inherit},
    pool::Shadow,
    publish::{Draft, Parts},
    quota::Share,
    relocate::Relocation,
    request::{Awake, Tracker, Work},
    scratch::ObjectRefs,
    stream::Stream,
    Context, Executor,
};
use crate::{
    gem::{
        migrate::{self, Attempts},
        shrink::Relief,
        userptr::{self, Pinned},
        Object,
    },
    vm::Place,
};

/// How many times a batch looks, 200 us apart, whether one of its client's seats is free again.
const SEAT_LOOKS: u32 = 250;

/// Milliseconds that a batch waits for a busy BO to move to a better region: about a frame.
const SETTLE_MS: u32 = 20;

/// A BO that a batch uses.
pub(crate) struct Entry {
    pub(crate) object: ARef<Object>,
    /// Where it must be bound.
    pub(crate) place: Place,
    /// The region where it should be, if possible; `None`: the preferred one of its own.
    pub(crate) wanted: Option<u8>,
    /// Size of the address range in bytes, if it must be larger than the BO.
    pub(crate) pad: u64,
    /// Whether the batch writes it.
    pub(crate) write: bool,
    /// Whether it is excluded from implicit synchronization.
    pub(crate) unordered: bool,
    /// Whether its contents are captured if the batch hangs.
    pub(crate) capture: bool,
    /// The pages of a userptr BO, pinned for this attempt.
    pub(crate) pinned: Option<Pinned>,
    /// The address that user space presumes.
    pub(crate) presumed: u64,
    pub(crate) relocations: LazyVec<Relocation>,
    /// Its address.
    pub(crate) address: GpuAddr,
    /// Whether it is bound for this attempt.
    pub(crate) placed: bool,
}

/// The recipient of a batch's fence.
pub(crate) trait Publish {
    /// The fence exists, but has no seqno yet. May allocate and fail. Called once per attempt.
    fn prepare(&mut self, fence: &Fence) -> Result;
    /// The fence is published. Must not fail, sleep or allocate.
    fn publish(&mut self, fence: &Fence);
}

/// The source of the commands.
pub(crate) enum Source {
    /// A BO. They run unchanged, unless the engine has a checker.
    Object {
        /// Index of the BO in [`Exec::objects`].
        index: usize,
        /// Byte offset of the first command.
        start: u64,
        /// Length in bytes.
        len: u32,
        /// Whether the engine's checker, if it has one, checks them; if not, they run without
        /// privilege.
        check: bool,
        /// Whether they run with privilege, unchecked: a secure batch.
        secure: bool,
    },
    /// Kernel memory, to be checked: the engine has a checker.
    Stream(Stream),
}

/// A batch to submit.
pub(crate) struct Exec {
    pub(crate) gpu: Arc<Executor>,
    pub(crate) target: Target,
    pub(crate) context: Arc<Context>,
    pub(crate) objects: LazyVec<Entry>,
    /// Memory for the locks of the BOs.
    pub(crate) slate: Slate<Object>,
    pub(crate) source: Source,
    /// Whether the stream output (SO) offsets are reset. The engine must have SO buffers.
    pub(crate) reset_stream_output: bool,
    /// User space asserts that its presumed addresses are in the BOs: if no BO has moved, no
    /// relocation is needed (`NO_RELOC`).
    pub(crate) trust_presumed: bool,
    /// Fences to wait for.
    pub(crate) after: LazyVec<ARef<Fence>>,
    /// A fence whose request must be emitted first, but need not have completed.
    pub(crate) lead: Option<ARef<Fence>>,
    /// The client's share of the quota for this request.
    pub(crate) share: Option<Share>,
    /// Whether it may wait for the client's earlier requests.
    pub(crate) may_wait: bool,
    /// What kinds of BOs there are, as of this attempt.
    pub(crate) kinds: Kinds,
    /// The progress of the attempts to bind the BOs.
    pub(crate) tries: Tries,
}

/// What kinds of BOs a batch has, so that no step looks for those that are not there.
#[derive(Default)]
pub(crate) struct Kinds {
    /// Some are userptrs.
    pub(super) lent: bool,
    /// Some are captured if the batch hangs.
    pub(super) captured: bool,
    /// Some have relocations.
    pub(crate) relocated: bool,
    /// Some have a fixed address.
    pub(super) fixed: bool,
    /// Some may be bound anywhere in a range.
    pub(super) loose: bool,
}

/// The dependencies of a request.
struct Before {
    /// Fences to wait for.
    after: LazyVec<ARef<Fence>>,
    /// A fence whose request must be emitted first.
    lead: Option<ARef<Fence>>,
}

/// The locks must be dropped, to wait or because of an error.
pub(super) enum Stop {
    /// Wait for this fence; `None` if it was signalled meanwhile.
    Wait(Option<ARef<Fence>>),
    /// Wait for this fence of a move, and release what it had: a BO of others leaves a full region,
    /// or the batch's own moves have the addresses for moves.
    Leaves(ARef<Fence>),
    /// Wait a moment for all uses of this BO, and go on without it if that is too short.
    Settle(ARef<Object>),
    /// Wait until the client may have that many pages of the pool of checked batches.
    Pool {
        pages: usize,
        /// A fence that the request waits for, and that is not [bounded](is_bounded).
        held_up: Option<ARef<Fence>>,
    },
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(e: Error) -> Self {
        Self::Failed(e)
    }
}

impl Exec {
    /// Submits the batch. `publish` receives the fence. Relocations may have been written even
    /// after an error.
    ///
    /// Errors: `ENOSPC` if the BOs do not fit into the address space together, `EINVAL` for an
    /// invalid place or relocation, `EAGAIN` if it may not wait and the pool of checked batches is
    /// full, `ENOMEM`, `ERESTARTSYS`, `EIO` or `ENODEV` if the device cannot run requests.
    pub(crate) fn run(&mut self, publish: &mut dyn Publish) -> Result {
        let done = self.attempt(publish);
        if done.is_err() {
            // The device may have been woken in vain.
            self.gpu.retirer().start_tick();
        }
        done
    }

    fn attempt(&mut self, publish: &mut dyn Publish) -> Result {
        let mut awake = None;
        let mut context = None;
        let mut relief = Relief::new();
        loop {
            // Each time: the wait of an earlier round may have outlasted the device.
            self.gpu.working()?;
            if awake.is_none() {
                awake = Some(Awake::new(self.gpu.hardware())?);
            }
            if context.is_none() {
                context = Some(self.prepare()?);
            }
            let mut kinds = Kinds::default();
            for entry in self.objects.iter_mut() {
                entry.placed = false;
                kinds.captured |= entry.capture;
                kinds.relocated |= !entry.relocations.is_empty();
                match entry.place {
                    Place::At(_) => kinds.fixed = true,
                    Place::Within { .. } => kinds.loose = true,
                }
                if entry.object.user().is_some() {
                    // The earlier pin may have to be dropped before the pages can be pinned again.
                    entry.pinned = None;
                    entry.pinned = userptr::pin(&entry.object)?;
                    kinds.lent = true;
                }
            }
            self.kinds = kinds;
            let (slate, count) = (core::mem::take(&mut self.slate), self.objects.len());
            let (mut locked, ()) = resv::lock_many(slate, count, Interruptible::Yes, |set| {
                for (i, entry) in self.objects.iter().enumerate() {
                    if set.lock(&entry.object)? == Acquired::New {
                        continue;
                    }
                    // The same BO twice, or two BOs of the same imported buffer.
                    let same = |e: &Entry| core::ptr::eq::<Object>(&*e.object, &*entry.object);
                    if self.objects.iter().take(i).any(same) {
                        return Err(LockError::Error(EINVAL));
                    }
                }
                Ok(())
            })?;
            match self.locked(&mut locked, &mut awake, &mut context, publish) {
                Ok(fence) => {
                    self.slate = locked.unlock();
                    inherit::inherit(&fence);
                    self.target.engine().retire_some();
                    break;
                }
                // Without its share, the allocations were freed with the request.
                Err(Stop::Failed(e)) if e == ENOMEM && self.share.is_some() => {
                    drop(locked);
                    let bytes = self.objects.iter().map(|e| e.object.bytes());
                    if !relief.relieve(&self.gpu, bytes.fold(0, u64::saturating_add))? {
                        return Err(e);
                    }
                }
                Err(Stop::Failed(e)) => return Err(e),
                Err(Stop::Pool { pages, held_up }) => {
                    drop(locked);
                    self.wait_for_pool(pages, held_up)?;
                }
                Err(Stop::Wait(fence)) => {
                    drop(locked);
                    match fence {
                        Some(fence) => drop(fence.wait(Interruptible::Yes, FOREVER)?),
                        // A BO is locked for a moment, or is being freed.
                        None => {
                            release::flush();
                            self.gpu.retirer().retire();
                            fsleep(Delta::from_micros(50));
                        }
                    }
                    if kernel::current!().signal_pending() {
                        return Err(ERESTARTSYS);
                    }
                }
                Err(Stop::Leaves(fence)) => {
                    drop(locked);
                    let gpu = self.gpu.bo_device();
                    migrate::wait_until_left(gpu, &fence, Interruptible::Yes, FOREVER)?;
                    // The memory and the addresses are free when the move is retired.
                    self.gpu.retirer().retire();
                }
                Err(Stop::Settle(object)) => {
                    drop(locked);
                    let limit = time::ms(SETTLE_MS);
                    let resv = object.resv();
                    let waited = resv.wait(Usage::Bookkeep, Interruptible::Yes, limit)?;
                    if matches!(waited, Waited::TimedOut) {
                        object.mark_unsettled();
                    }
                }
            }
        }
        Ok(())
    }

    /// Prepares the context; evicts what does not need its GGTT address. If everything is in use,
    /// waits until requests are retired. On execlist engines, contexts keep what they have for as
    /// long as they exist, whatever is retired: there the wait has a limit, and a short one if the
    /// client has all of its seats: no eviction gives it others. The caller holds no locks. Errors:
    /// those of [`Executor::prepare`], `ERESTARTSYS`, `EIO`, `ENODEV`.
    fn prepare(&self) -> Result<InUse> {
        let mut attempts = Attempts::new();
        let ends = self.target.engine().has_lists();
        let has_all_seats = || {
            let holder = self.context.holder();
            ends && holder.is_some_and(|h| h.seats().is_used_up())
        };
        let mut seat_looks = SEAT_LOOKS;
        loop {
            match self.gpu.prepare(&self.context, &self.target) {
                Err(e) if e == ENOSPC => {}
                done => return done,
            }
            // Read before: what is retired meanwhile makes room.
            let live = self.gpu.retirer().live();
            if has_all_seats() {
                // Some may be those of contexts that were destroyed, whose requests still run.
                seat_looks = seat_looks.checked_sub(1).ok_or(ENOSPC)?;
            } else if evict::evict_one(&self.gpu, self.gpu.lacks_in(&self.context, &self.target)) {
                continue;
            }
            if live == 0 || (ends && !attempts.are_left(self.gpu.bo_device())) {
                return Err(ENOSPC);
            }
            self.gpu.working()?;
            for engine in self.gpu.engines() {
                engine.advance();
            }
            self.gpu.retirer().retire();
            fsleep(Delta::from_micros(200));
            if kernel::current!().signal_pending() {
                return Err(ERESTARTSYS);
            }
        }
    }

    /// Waits until the client may have `pages` pages of the pool, or until this fence does not hold
    /// up the request any more, so that it may have other pages. Errors: those of
    /// [`Executor::until`].
    fn wait_for_pool(&self, pages: usize, held_up: Option<ARef<Fence>>) -> Result {
        let pool = self.gpu.pool().ok_or(EINVAL)?;
        let share = self.context.holder().ok_or(EINVAL)?.pool_share();
        let goes_on = || held_up.as_ref().is_some_and(|fence| is_bounded(fence));
        let may_take = || pool.may_take(pages, share, held_up.is_some());
        let has_room = || (goes_on() || may_take()).then_some(());
        self.gpu
            .until(&self.context, &self.target, self.may_wait, has_room)
    }

    fn locked(
        &mut self,
        locked: &mut LockedSet<Object>,
        awake: &mut Option<Awake>,
        context: &mut Option<InUse>,
        publish: &mut dyn Publish,
    ) -> Result<ARef<Fence>, Stop> {
        let space = self.gpu.space_of(&self.context)?;
        let (objects, kinds) = (&mut self.objects, &self.kinds);
        evict::place(&self.gpu, space, objects, kinds, locked, &mut self.tries)?;
        if self.kinds.relocated {
            self.relocate(locked)?;
        }
        // The reservations stay locked until the request is published.
        if !self.gpu.coherence().is_whole() {
            for entry in self.objects.iter().filter(|e| e.write) {
                entry.object.batch_writes();
            }
        }

        // From here on, everything that can fail.
        let Before { mut after, lead } = self.before(locked)?;
        let objects = ObjectRefs::of(&self.objects)?;
        let held_up = self.held_up(&after, lead.as_ref());
        let Ready {
            batch,
            shadow,
            passed,
        } = self.ready(locked, held_up.as_ref())?;
        let evidence = self.evidence(shadow.as_ref())?;

        // The seqnos of a timeline are in the order of publication.
        let index = self.target.engine().index();
        let mut timelines = self.context.timelines().lock();
        let timeline = self.context.timeline(&mut timelines, index)?;
        let mut last = self.context.last().map(|last| last.lock());
        if let Some(last) = last.as_ref().and_then(|last| last.as_ref()) {
            self.depend(&mut after, last)?;
        }
        let behind = match timeline.last().map(|last| (last, self.order(last))) {
            Some((last, Order::Follows)) => {
                // The last request itself follows the others of the timeline that are not emitted.
                let own = timeline.fence_context();
                after.retain(|fence| fence.context() != own);
                Some(last.clone())
            }
            Some((last, Order::Waits)) => {
                after.push(last.clone(), GFP_KERNEL).map_err(Error::from)?;
                None
            }
            _ => None,
        };
        // Another thread may have published something on the timeline meanwhile.
        if shadow.as_ref().is_some_and(Shadow::is_reserved)
            && !Iterator::chain(after.iter(), &behind).all(|fence| is_bounded(fence))
        {
            return Err(Stop::Wait(None));
        }
        // Remove duplicates.
        let address = |f: &ARef<Fence>| core::ptr::from_ref::<Fence>(f).addr();
        sort_by_key(&mut after, address);
        let mut before = 0;
        after.retain(|f| core::mem::replace(&mut before, address(f)) != address(f));
        let line = self.context.line(self.target.engine()).clone();
        let draft = Draft::new(self.target.clone(), line, Some(timeline))?;
        publish.prepare(draft.fence())?;
        let mut prepared = draft.complete(
            Parts {
                context: context.take(),
                work: match self.reset_stream_output {
                    false => Work::Batch(batch),
                    true => Work::BatchWithStreamOutputReset(batch),
                },
                objects,
                evidence,
                shadow,
                moving: None,
                awake: awake.take().ok_or(EINVAL)?,
                share: self.share.take(),
                watchdog: (self.context.params().watchdogs).get(self.target.engine().index()),
            },
            after,
        )?;
        for lead in [lead, behind].into_iter().flatten() {
            prepared.follow(lead)?;
        }
        self.gpu.working()?;

        // Check that no process has changed its userptr memory meanwhile. If not, later changes
        // wait for the fences in the reservation.
        let held = self.kinds.lent.then(|| self.gpu.notifier_lock().lock());
        if let Some(lock) = &held {
            let pinned = |e: &Entry| {
                e.pinned
                    .as_ref()
                    .is_none_or(|p| p.is_valid(&e.object, lock))
            };
            if !self.objects.iter().all(pinned) {
                drop(held);
                self.share = prepared.abandon();
                return Err(Stop::Wait(None));
            }
        }

        // From here on nothing fails.
        let fence = prepared.publish(&self.gpu, |fence| {
            // A request's own fence is no container.
            if let Some(plain) = fence.plain() {
                for (i, entry) in self.objects.iter().enumerate() {
                    let usage = if entry.write {
                        Usage::Write
                    } else {
                        Usage::Read
                    };
                    // The slot was reserved by `before`.
                    let _ = locked.add_fence(i, &entry.object, plain, usage);
                }
            }
            drop(held);
            publish.publish(fence);
        });
        if let Some(last) = last.as_mut() {
            **last = Some(fence.clone());
        }
        if let (Some(passed), Some(pool)) = (passed, self.gpu.pool()) {
            pool.count(passed);
        }
        Ok(fence)
    }

    /// Collects the fences to wait for, explicit ones and implicit ones of the BOs, and reserves a
    /// slot for the request's fence in each BO; and the fence whose request must be emitted first.
    fn before(&self, locked: &mut LockedSet<Object>) -> Result<Before> {
        let mut after: LazyVec<ARef<Fence>> = LazyVec::new();
        for fence in self.after.iter() {
            self.depend(&mut after, fence)?;
        }
        let lead = match &self.lead {
            Some(lead) if fence::with_timeline::<Tracker, _>(lead, |_, _| ()).is_some() => {
                Some(lead.clone())
            }
            // The emission of other drivers' fences is unknown: wait for their completion.
            Some(other) => {
                self.depend(&mut after, other)?;
                None
            }
            None => None,
        };
        let mut done = Ok(());
        for (i, entry) in self.objects.iter().enumerate() {
            // BOs that share a reservation may read and write.
            let n = 1 + u32::from(entry.object.attachment().is_some());
            locked.reserve_fences(i, &entry.object, n)?;
            let usage = match entry.unordered {
                // Not ordered with other requests, but with moves of the memory.
                true => Usage::Kernel,
                false => Usage::for_access(entry.write),
            };
            self.resv(locked, i)?.each_pending(usage, |fence| {
                if done.is_ok() {
                    done = self.depend(&mut after, fence);
                }
            });
        }
        done?;
        Ok(Before { after, lead })
    }

    /// Returns a fence that is not [bounded](is_bounded), of those that the request waits for, on a
    /// device with a pool of checked batches.
    fn held_up(&self, after: &[ARef<Fence>], lead: Option<&ARef<Fence>>) -> Option<ARef<Fence>> {
        self.gpu.pool()?;
        let timelines = self.context.timelines().lock();
        let last = timelines.get(self.target.engine().index());
        let last = last.and_then(|timeline| timeline.last());
        let in_order = self.context.last().and_then(|last| last.lock().clone());
        let others = [lead, last, in_order.as_ref()].into_iter().flatten();
        let mut all = Iterator::chain(after.iter(), others);
        all.find(|fence| !is_bounded(fence)).cloned()
    }

    /// Returns the reservation of BO `i`, which is locked.
    pub(super) fn resv<'a>(&self, locked: &'a LockedSet<Object>, i: usize) -> Result<Locked<'a>> {
        let object = &self.objects.get(i).ok_or(EINVAL)?.object;
        // They were locked in the order of the list.
        locked.locked_at(i, object).ok_or(EINVAL)
    }

    /// Adds a dependency, unless the order of the ring implies it.
    fn depend(&self, after: &mut KVVec<ARef<Fence>>, fence: &Fence) -> Result {
        match self.order(fence) {
            Order::Given => {}
            Order::Follows | Order::Waits => after.push(fence.into(), GFP_KERNEL)?,
        }
        Ok(())
    }

    /// Returns how the batch is ordered behind the request of a fence.
    fn order(&self, fence: &Fence) -> Order {
        if fence.is_signaled() {
            return Order::Given;
        }
        let line = self.context.line(self.target.engine());
        let emitted = fence::with_timeline::<Tracker, _>(fence, |t, _| {
            core::ptr::eq(t.line(), &**line).then(|| t.seqno().is_some())
        });
        match emitted.flatten() {
            Some(true) => Order::Given,
            Some(false) => Order::Follows,
            None => Order::Waits,
        }
    }
}

/// How a request is ordered behind another one.
enum Order {
    /// Implied: the other one has completed, or is in the same ring already.
    Given,
    /// It must not be emitted before the other one, which goes to the same ring.
    Follows,
    /// It must wait for the completion of the other one.
    Waits,
}

/// Returns a wait for an unsignalled fence of a BO.
pub(super) fn wait_for(object: &Object) -> Stop {
    wait_for_up_to(object, Usage::Bookkeep)
}

/// Returns a wait for an unsignalled fence of a BO, of those up to `usage`.
pub(super) fn wait_for_up_to(object: &Object, usage: Usage) -> Stop {
    let mut fences = KVVec::new();
    match object.resv().collect(usage, &mut fences) {
        Ok(()) => Stop::Wait(fences.pop()),
        Err(e) => Stop::Failed(e),
    }
}
