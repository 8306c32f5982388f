// SPDX-License-Identifier: GPL-2.0

//! How a request comes into the world, whoever makes it: a batch, a move, the kernel's own.
//!
//! First there is a [`Draft`]: its fence exists, and may be promised to others, but has no number. With
//! its [`Parts`] it becomes a [`Prepared`], which lacks nothing. [`Prepared::publish`] is the one
//! place where requests begin; nothing fails from there on.

use kernel::{
    list::ListArc,
    prelude::*,
    sync::{aref::ARef, Arc, UniqueArc},
};
use ouro_kernel::{
    fence::{self, Callback, Fence, PreparedFence},
    lazy::LazyVec,
};

use super::{
    context::Timeline,
    follow::Follower,
    in_use::InUse,
    line::Line,
    lists::balanced::Target,
    moves::Moving,
    pool::Shadow,
    quota::Share,
    request::{Awake, Evidence, Request, Tracker, Work, MAX_LEADS},
    Executor,
};
use crate::gem::{Bindings, Object};

/// What a request is made of.
pub(crate) struct Parts {
    pub(crate) context: Option<InUse>,
    pub(crate) work: Work,
    /// What the GPU may touch until the request is done.
    pub(crate) objects: KVVec<ARef<Object>>,
    pub(crate) evidence: Evidence,
    /// The copy that is run, where it is one.
    pub(crate) shadow: Option<Shadow>,
    /// What a move needs, if it is one.
    pub(crate) moving: Option<Moving>,
    pub(crate) awake: Awake,
    /// The client's share, if it is a client's.
    pub(crate) share: Option<Share>,
    /// For how many microseconds its batch may run, if the engine watches that.
    pub(crate) watchdog: Option<u32>,
}

impl Parts {
    /// Those of a request of the kernel's own.
    pub(crate) fn new(work: Work, awake: Awake) -> Self {
        Self {
            context: None,
            work,
            objects: KVVec::new(),
            evidence: Evidence::default(),
            shadow: None,
            moving: None,
            awake,
            share: None,
            watchdog: None,
        }
    }
}

/// A request that has a fence, and no more.
pub(crate) struct Draft<'a> {
    tracker: ListArc<Tracker>,
    fence: PreparedFence<Tracker>,
    timeline: Option<&'a mut Timeline>,
}

impl<'a> Draft<'a> {
    /// A request on a timeline, which stays locked until it is published; without one its fence has a
    /// dma_fence context of its own. Its commands go to `line`. Errors: `ENOMEM`.
    pub(crate) fn new(
        target: Target,
        line: Arc<Line>,
        timeline: Option<&'a mut Timeline>,
    ) -> Result<Self> {
        let tracker = Tracker::new(target, line)?;
        let context = match &timeline {
            Some(timeline) => timeline.fence_context(),
            None => fence::alloc_contexts(1),
        };
        Ok(Self {
            fence: PreparedFence::new(tracker.clone_arc(), context)?,
            tracker,
            timeline,
        })
    }

    /// Its fence.
    pub(crate) fn fence(&self) -> &Fence {
        self.fence.fence()
    }

    /// Allocates everything that the request will need. It waits for each fence of `after`. Errors:
    /// `ENOMEM`.
    pub(crate) fn complete(
        self,
        parts: Parts,
        after: LazyVec<ARef<Fence>>,
    ) -> Result<Prepared<'a>> {
        let mut callbacks = LazyVec::with_capacity(after.len(), GFP_KERNEL)?;
        for _ in 0..after.len() {
            callbacks.push(Callback::new()?, GFP_KERNEL)?;
        }
        let armed = LazyVec::with_capacity(after.len(), GFP_KERNEL)?;
        let tracker = &self.tracker;
        tracker
            .urgency
            .begin(parts.context.as_ref(), tracker.engine());
        let fence = self
            .fence
            .publish(self.timeline.as_ref().map_or(1, |t| t.next()));
        Ok(Prepared {
            request: Request::new(self.tracker.clone_arc(), fence, armed, parts)?,
            tracker: self.tracker,
            timeline: self.timeline,
            after,
            callbacks,
            leads: [const { None }; MAX_LEADS],
        })
    }
}

/// A request that lacks nothing: from here on nothing fails.
pub(crate) struct Prepared<'a> {
    request: Pin<UniqueArc<Request>>,
    /// Of the request.
    tracker: ListArc<Tracker>,
    timeline: Option<&'a mut Timeline>,
    /// What it waits for.
    after: LazyVec<ARef<Fence>>,
    /// As many as there are fences in `after`.
    callbacks: LazyVec<Callback<Tracker>>,
    /// What is to be emitted first, and how that is told.
    leads: [Option<(ARef<Fence>, ListArc<Follower>)>; MAX_LEADS],
}

impl Prepared<'_> {
    /// It is not emitted before the request of this fence is. Errors: `ENOMEM`; `EINVAL` for more than
    /// [`MAX_LEADS`].
    pub(crate) fn follow(&mut self, lead: ARef<Fence>) -> Result {
        let free = self.leads.iter_mut().find(|l| l.is_none()).ok_or(EINVAL)?;
        *free = Some((lead.clone(), Follower::new(self.tracker.clone_arc())?));
        self.request.as_mut().add_lead(lead);
        Ok(())
    }

    /// Gives it up, but for the client's share, which the next attempt needs.
    pub(crate) fn abandon(mut self) -> Option<Share> {
        self.request.as_mut().take_share()
    }

    /// Keeps the addresses that an object has had, if this is its move, until the move is done.
    pub(crate) fn keep(&mut self, known: Bindings) {
        if let Some(moving) = self.request.as_mut().moving() {
            moving.keep(known);
        }
    }

    /// Publishes it, and lets it go once all that it waits for is signalled. `tell` passes its fence on
    /// to whoever shall wait for it, and must not fail, sleep or allocate. Returns the fence.
    pub(crate) fn publish(mut self, gpu: &Executor, tell: impl FnOnce(&Fence)) -> ARef<Fence> {
        let _signalling = fence::signalling();
        let tracker = self.tracker.clone_arc();
        let fence: ARef<Fence> = (&*self.request.fence).into();
        tell(&fence);
        if let Some(timeline) = self.timeline {
            timeline.publish(fence.clone());
        }
        // Whatever was mapped for it takes effect before its first command is fetched.
        gpu.hardware().flush_gtt();
        tracker.engine().published();
        gpu.retirer().published();

        let armed = self.request.as_mut().armed();
        while let (Some(callback), Some(fence)) = (self.callbacks.pop(), self.after.pop()) {
            tracker.count_up();
            match callback.arm(fence, tracker.clone()) {
                // There is room.
                Ok(call) => drop(armed.push_within_capacity(call)),
                Err(_) => tracker.discount(),
            }
        }
        for (lead, follower) in self.leads.into_iter().flatten() {
            tracker.count_up();
            // `None`: it is done.
            let added =
                fence::with_timeline::<Tracker, _>(&lead, |t, _| t.follow(follower).is_ok());
            if added != Some(true) {
                tracker.discount();
            }
        }
        tracker
            .engine()
            .block(self.tracker, ListArc::from(self.request));
        tracker.count_down();
        fence
    }
}
