// SPDX-License-Identifier: GPL-2.0

//! Execution of a batch: from objects and addresses to a published request.
//!
//! The order is the one that keeps every lock rule:
//!
//! a. user memory has been copied by the caller, with no lock held;
//! b. pages of processes are pinned, and all reservations are locked under one ticket, with back-off;
//! c. everything is allocated and placed, and relocations are written (where that needs an idle object,
//!    all locks are dropped for the wait, and it begins again at b);
//! d. the fence is published, from where nothing can fail;
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
    resv::{self, Acquired, HasResv, LockError, Locked, LockedSet, Usage},
    wait::{Interruptible, FOREVER},
};

use super::{
    batch::Ready,
    evict::{self, Tries},
    in_use::InUse,
    lists::{balanced::Target, inherit},
    publish::{Draft, Parts},
    quota::Share,
    relocate::Relocation,
    request::{Awake, Tracker, Work},
    stream::Stream,
    Context, Executor,
};
use crate::{
    gem::{
        shrink::Relief,
        userptr::{self, Pinned},
        Object,
    },
    vm::Place,
};

/// An object that a batch uses.
pub(crate) struct Entry {
    pub(crate) object: ARef<Object>,
    /// Where it must be.
    pub(crate) place: Place,
    /// The region where it should be, if that can be; else the best of its own.
    pub(crate) wanted: Option<usize>,
    /// Bytes of the address range that it needs, if more than its own.
    pub(crate) pad: u64,
    /// Whether the batch writes it.
    pub(crate) write: bool,
    /// Whether it is left out of implicit ordering.
    pub(crate) unordered: bool,
    /// Whether its contents are kept if the batch hangs.
    pub(crate) capture: bool,
    /// Of memory of a process: the pages, as they were when this attempt began.
    pub(crate) pinned: Option<Pinned>,
    /// Where user space believes it is.
    pub(crate) presumed: u64,
    pub(crate) relocations: LazyVec<Relocation>,
    /// Where it is.
    pub(crate) address: GpuAddr,
    /// Whether that is settled for this attempt.
    pub(crate) placed: bool,
}

/// Who is told of the fence.
pub(crate) trait Publish {
    /// It exists, but has no number yet. May allocate and fail. Called once for each attempt.
    fn prepare(&mut self, fence: &Fence) -> Result;
    /// It is published. Must not fail, sleep or allocate.
    fn publish(&mut self, fence: &Fence);
}

/// Where the commands are.
pub(crate) enum Source {
    /// In an object. They run as they are, unless the engine has a checker.
    Object {
        /// Its place in [`Exec::objects`].
        index: usize,
        /// The first byte in it.
        start: u64,
        /// Bytes.
        len: u32,
        /// Whether the checker is asked, where the engine has one; else they run without privilege.
        check: bool,
        /// Whether they run with privilege, unchecked: their sender may do everything.
        secure: bool,
    },
    /// In the kernel, to be checked: the engine has a checker.
    Stream(Stream),
}

/// A batch to run.
pub(crate) struct Exec {
    pub(crate) gpu: Arc<Executor>,
    pub(crate) target: Target,
    pub(crate) context: Arc<Context>,
    pub(crate) objects: KVVec<Entry>,
    pub(crate) source: Source,
    /// The streams that shaders write start at the beginning of their buffers. The engine has some.
    pub(crate) new_streams: bool,
    /// User space says that its presumed addresses stand in the objects: what has not moved needs
    /// no relocation.
    pub(crate) trust_presumed: bool,
    /// What must be signalled first.
    pub(crate) after: LazyVec<ARef<Fence>>,
    /// What must be emitted first, and need not be done.
    pub(crate) lead: Option<ARef<Fence>>,
    /// The client's share for this request.
    pub(crate) share: Option<Share>,
    /// Bits of an address in a command.
    pub(crate) address_bits: u8,
    /// What has been tried to place the objects.
    pub(crate) tries: Tries,
}

/// What comes before a request.
struct Before {
    /// What must be signalled.
    after: LazyVec<ARef<Fence>>,
    /// What must be emitted.
    lead: Option<ARef<Fence>>,
}

/// The locks are to be dropped for a wait.
pub(super) enum Stop {
    /// For this fence; for none if it has been signalled meanwhile.
    Wait(Option<ARef<Fence>>),
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(e: Error) -> Self {
        Self::Failed(e)
    }
}

impl Exec {
    /// Publishes it. `publish` is told of the fence. Whatever comes back, relocations may have been
    /// written.
    ///
    /// Errors: `ENOSPC` if the objects do not fit into the address space together, `EINVAL` for a
    /// bad place or relocation, `ENOMEM`, `ERESTARTSYS`, `EIO` or `ENODEV` for a device that cannot
    /// run anything.
    pub(crate) fn run(&mut self, publish: &mut dyn Publish) -> Result {
        let done = self.attempt(publish);
        if done.is_err() {
            // The device may have been woken for nothing.
            self.gpu.retirer().wind();
        }
        done
    }

    fn attempt(&mut self, publish: &mut dyn Publish) -> Result {
        let mut awake = None;
        let mut context = None;
        let mut relief = Relief::new();
        loop {
            // Each time: what an earlier round has waited for may have taken longer than the device was
            // there.
            self.gpu.working()?;
            if awake.is_none() {
                awake = Some(Awake::new(self.gpu.hardware())?);
            }
            if context.is_none() {
                context = Some(self.prepare()?);
            }
            for entry in self.objects.iter_mut() {
                // What was pinned before may be needed to pin it anew.
                entry.pinned = None;
                entry.pinned = userptr::pin(&entry.object)?;
            }
            let (mut locked, ()) =
                resv::lock_many(self.objects.len(), Interruptible::Yes, |set| {
                    for (i, entry) in self.objects.iter().enumerate() {
                        if set.lock(&entry.object)? == Acquired::New {
                            continue;
                        }
                        // The same object twice, or two that are the same buffer of another device.
                        let same = |e: &Entry| core::ptr::eq::<Object>(&*e.object, &*entry.object);
                        if self.objects.iter().take(i).any(same) {
                            return Err(LockError::Error(EINVAL));
                        }
                    }
                    Ok(())
                })?;
            match self.locked(&mut locked, &mut awake, &mut context, publish) {
                Ok(fence) => {
                    drop(locked);
                    inherit::inherit(&fence);
                    break;
                }
                // Without its share, what was allocated went with the request.
                Err(Stop::Failed(e)) if e == ENOMEM && self.share.is_some() => {
                    drop(locked);
                    let bytes = self.objects.iter().map(|e| e.object.bytes());
                    if !relief.relieve(&self.gpu, bytes.fold(0, u64::saturating_add))? {
                        return Err(e);
                    }
                }
                Err(Stop::Failed(e)) => return Err(e),
                Err(Stop::Wait(fence)) => {
                    drop(locked);
                    match fence {
                        Some(fence) => drop(fence.wait(Interruptible::Yes, FOREVER)?),
                        // Somebody holds an object for a moment, or it is on its way out.
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
            }
        }
        Ok(())
    }

    /// Gives the context what it needs; who does not need an address makes room. Where all need theirs, waits until
    /// something is retired. Nothing is locked. Errors: those of [`Executor::prepare`], `ERESTARTSYS`, `EIO`,
    /// `ENODEV`.
    fn prepare(&self) -> Result<InUse> {
        loop {
            match self.gpu.prepare(&self.context, &self.target) {
                Err(e) if e == ENOSPC => {}
                done => return done,
            }
            // Looked at before: what is retired meanwhile makes room.
            let live = self.gpu.retirer().live();
            if evict::evict_one(&self.gpu) {
                continue;
            }
            if live == 0 {
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

    fn locked(
        &mut self,
        locked: &mut LockedSet<Object>,
        awake: &mut Option<Awake>,
        context: &mut Option<InUse>,
        publish: &mut dyn Publish,
    ) -> Result<ARef<Fence>, Stop> {
        for entry in self.objects.iter_mut() {
            entry.placed = false;
        }
        let space = self.gpu.space_of(&self.context)?;
        evict::place(&self.gpu, space, &mut self.objects, locked, &mut self.tries)?;
        self.relocate(locked)?;
        // Their reservations are locked until the request is published.
        if !self.gpu.coherence().is_whole() {
            for entry in self.objects.iter().filter(|e| e.write) {
                entry.object.batch_writes();
            }
        }

        // Everything that can fail.
        let Before { mut after, lead } = self.before(locked)?;
        let mut objects =
            KVVec::with_capacity(self.objects.len(), GFP_KERNEL).map_err(Error::from)?;
        for entry in self.objects.iter() {
            objects
                .push(entry.object.clone(), GFP_KERNEL)
                .map_err(Error::from)?;
        }
        let Ready {
            batch,
            shadow,
            passed,
        } = self.ready(locked)?;
        let evidence = self.evidence(shadow.as_ref())?;

        // The numbers of a timeline are in the order of publication.
        let index = self.target.engine().index();
        let mut timelines = self.context.timelines().lock();
        let timeline = timelines.get_mut(index).ok_or(EINVAL)?;
        let mut last = self.context.last().map(|last| last.lock());
        if let Some(last) = last.as_ref().and_then(|last| last.as_ref()) {
            self.depend(&mut after, last)?;
        }
        let behind = match timeline.last().map(|last| (last, self.order(last))) {
            Some((last, Order::Follows)) => {
                // So does the last one what else of the timeline is not emitted.
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
        // Each of them once.
        let address = |f: &ARef<Fence>| core::ptr::from_ref::<Fence>(f).addr();
        sort_by_key(&mut after, address);
        let mut before = 0;
        after.retain(|f| core::mem::replace(&mut before, address(f)) != address(f));
        let line = self.context.line(self.target.engine());
        let draft = Draft::new(self.target.clone(), line, Some(timeline))?;
        publish.prepare(draft.fence())?;
        let mut prepared = draft.complete(
            Parts {
                context: context.take(),
                work: match self.new_streams {
                    false => Work::Batch(batch),
                    true => Work::BatchOfNewStreams(batch),
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

        // What processes have lent is theirs again if they have changed it meanwhile. If not, they wait
        // from now on for what is in the reservation.
        let lent = self.objects.iter().any(|e| e.pinned.is_some());
        let held = lent.then(|| self.gpu.notifier_lock().lock());
        let valid = |e: &Entry| match (&e.pinned, &held) {
            (Some(pinned), Some(held)) => pinned.is_valid(&e.object, held),
            _ => true,
        };
        if !self.objects.iter().all(valid) {
            drop(held);
            self.share = prepared.abandon();
            return Err(Stop::Wait(None));
        }

        // From here on nothing fails.
        let fence = prepared.publish(&self.gpu, |fence| {
            for (i, entry) in self.objects.iter().enumerate() {
                let usage = if entry.write {
                    Usage::Write
                } else {
                    Usage::Read
                };
                // There is room.
                let _ = locked.add_fence(i, &entry.object, fence, usage);
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

    /// What must be signalled first, by what user space says and by what others do with the objects, in whose
    /// reservations there is room for one more fence then; and what must be emitted first.
    fn before(&self, locked: &mut LockedSet<Object>) -> Result<Before> {
        let mut after: LazyVec<ARef<Fence>> = LazyVec::new();
        for fence in self.after.iter() {
            self.depend(&mut after, fence)?;
        }
        let lead = match &self.lead {
            Some(lead) if fence::with_timeline::<Tracker, _>(lead, |_, _| ()).is_some() => {
                Some(lead.clone())
            }
            // Of others nobody knows when they begin.
            Some(other) => {
                self.depend(&mut after, other)?;
                None
            }
            None => None,
        };
        let mut fences: LazyVec<ARef<Fence>> = LazyVec::new();
        for (i, entry) in self.objects.iter().enumerate() {
            // Objects that share a reservation may read and write.
            let n = 1 + u32::from(entry.object.attachment().is_some());
            locked.reserve_fences(i, &entry.object, n)?;
            let resv = entry.object.resv();
            let usage = match entry.unordered {
                // Out of order with others, but not with the memory's own moves.
                true => Usage::Kernel,
                false => Usage::for_access(entry.write),
            };
            if !resv.test_signaled(usage) {
                resv.collect(usage, &mut fences)?;
            }
        }
        for fence in fences.iter() {
            self.depend(&mut after, fence)?;
        }
        Ok(Before { after, lead })
    }

    /// The reservation of object `i`, which is locked.
    pub(super) fn resv<'a>(&self, locked: &'a LockedSet<Object>, i: usize) -> Result<Locked<'a>> {
        let object = &self.objects.get(i).ok_or(EINVAL)?.object;
        // They were locked in the order of the list.
        locked.locked_at(i, object).ok_or(EINVAL)
    }

    /// Adds a dependency, unless the ring's own order takes care of it.
    fn depend(&self, after: &mut KVVec<ARef<Fence>>, fence: &Fence) -> Result {
        match self.order(fence) {
            Order::Given => {}
            Order::Follows | Order::Waits => after.push(fence.into(), GFP_KERNEL)?,
        }
        Ok(())
    }

    /// What it takes to come behind the request of a fence.
    fn order(&self, fence: &Fence) -> Order {
        if fence.is_signaled() {
            return Order::Given;
        }
        let line = self.context.line(self.target.engine());
        let emitted = fence::with_timeline::<Tracker, _>(fence, |t, _| {
            core::ptr::eq(t.line(), &*line).then(|| t.seqno().is_some())
        });
        match emitted.flatten() {
            Some(true) => Order::Given,
            Some(false) => Order::Follows,
            None => Order::Waits,
        }
    }
}

/// What it takes that a request comes behind another one.
enum Order {
    /// Nothing: that one is done, or is in the ring already.
    Given,
    /// Not to be emitted before that one, which goes to the same ring.
    Follows,
    /// To wait until that one is done.
    Waits,
}

/// Some fence of an object that is not signalled.
pub(super) fn wait_for(object: &Object) -> Stop {
    wait_for_up_to(object, Usage::Bookkeep)
}

/// The same, of those up to `usage`.
pub(super) fn wait_for_up_to(object: &Object, usage: Usage) -> Stop {
    let mut fences = KVVec::new();
    match object.resv().collect(usage, &mut fences) {
        Ok(()) => Stop::Wait(fences.pop()),
        Err(e) => Stop::Failed(e),
    }
}
