// SPDX-License-Identifier: GPL-2.0

//! Publication: how a batch, a move or a request of the kernel's own becomes a request.
//!
//! First there is a [`Draft`]: its fence exists and may be installed elsewhere, but has no seqno.
//! With its [`Parts`] it becomes a [`Prepared`], for which everything is allocated. Only
//! [`Prepared::publish`] publishes requests; nothing fails from there on.

use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    list::ListArc,
    prelude::*,
    sync::{aref::ARef, Arc, UniqueArc},
};
use ouro_kernel::{
    fence::{self, Callback, Fence, PreparedFence},
    lazy::LazyVec,
};

use super::{
    follow::Follower,
    in_use::InUse,
    line::Line,
    lists::balanced::Target,
    moves::Moving,
    pool::Shadow,
    quota::Share,
    request::{Awake, Evidence, Request, Tracker, Work, MAX_LEADS},
    scratch::ObjectRefs,
    timeline::Timeline,
    Executor,
};
use crate::gem::Bindings;

/// The contents of a request.
pub(crate) struct Parts {
    pub(crate) context: Option<InUse>,
    pub(crate) work: Work,
    /// BOs that the GPU may access until the request completes.
    pub(crate) objects: ObjectRefs,
    pub(crate) evidence: Evidence,
    /// The copy in the pool that runs, if the batch was copied.
    pub(crate) shadow: Option<Shadow>,
    /// The resources of a move, if it is one.
    pub(crate) moving: Option<KBox<Moving>>,
    pub(crate) awake: Awake,
    /// The client's share of the quota, if it is a client's.
    pub(crate) share: Option<Share>,
    /// The watchdog limit of its batch in microseconds, if there is one.
    pub(crate) watchdog: Option<u32>,
}

impl Parts {
    /// Returns the contents of a request of the kernel's own.
    pub(crate) fn new(work: Work, awake: Awake) -> Self {
        Self {
            context: None,
            work,
            objects: ObjectRefs::default(),
            evidence: Evidence::default(),
            shadow: None,
            moving: None,
            awake,
            share: None,
            watchdog: None,
        }
    }
}

/// A request that has a fence only.
pub(crate) struct Draft<'a> {
    tracker: ListArc<Tracker>,
    fence: PreparedFence<Tracker>,
    timeline: Option<&'a mut Timeline>,
}

impl<'a> Draft<'a> {
    /// Creates a request on a timeline, which stays locked until publication; without a timeline,
    /// its fence gets a dma_fence context of its own. Its commands go to `line`. Errors: `ENOMEM`.
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

    /// Returns its fence.
    pub(crate) fn fence(&self) -> &Fence {
        self.fence.fence()
    }

    /// Allocates everything that the request needs. It will wait for each fence of `after`. Errors:
    /// `ENOMEM`.
    pub(crate) fn complete(
        self,
        parts: Parts,
        after: LazyVec<ARef<Fence>>,
    ) -> Result<Prepared<'a>> {
        let mut callbacks = LazyVec::with_capacity(after.len(), GFP_KERNEL_ACCOUNT)?;
        for _ in 0..after.len() {
            callbacks.push(Callback::new()?, GFP_KERNEL_ACCOUNT)?;
        }
        let armed = LazyVec::with_capacity(after.len(), GFP_KERNEL_ACCOUNT)?;
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

/// A complete request: from here on nothing fails.
pub(crate) struct Prepared<'a> {
    request: Pin<UniqueArc<Request>>,
    /// The request's tracker.
    tracker: ListArc<Tracker>,
    timeline: Option<&'a mut Timeline>,
    /// The fences that it waits for.
    after: LazyVec<ARef<Fence>>,
    /// One for each fence of `after`.
    callbacks: LazyVec<Callback<Tracker>>,
    /// The fences of requests to be emitted first, and the followers that wait for their emission.
    leads: [Option<(ARef<Fence>, ListArc<Follower>)>; MAX_LEADS],
}

impl Prepared<'_> {
    /// Makes the request wait for the emission of another fence's request. Errors: `ENOMEM`;
    /// `EINVAL` for more than [`MAX_LEADS`].
    pub(crate) fn follow(&mut self, lead: ARef<Fence>) -> Result {
        let free = self.leads.iter_mut().find(|l| l.is_none()).ok_or(EINVAL)?;
        *free = Some((lead.clone(), Follower::new(self.tracker.clone_arc())?));
        self.request.as_mut().add_lead(lead);
        Ok(())
    }

    /// Drops the request, except for the client's share, which the next attempt needs.
    pub(crate) fn abandon(mut self) -> Option<Share> {
        self.request.as_mut().take_share()
    }

    /// If the request moves a BO, keeps the BO's earlier bindings until the move is done.
    pub(crate) fn keep(&mut self, known: Bindings) {
        if let Some(moving) = self.request.as_mut().moving() {
            moving.keep(known);
        }
    }

    /// Publishes the request; it becomes ready once all its dependencies are signalled. `tell`
    /// installs its fence wherever others wait for it; it must not fail, sleep or allocate. Returns
    /// the fence.
    pub(crate) fn publish(mut self, gpu: &Executor, tell: impl FnOnce(&Fence)) -> ARef<Fence> {
        let _signalling = fence::signalling();
        let tracker = self.tracker.clone_arc();
        let fence: ARef<Fence> = (&*self.request.fence).into();
        tell(&fence);
        if let Some(timeline) = self.timeline {
            timeline.publish(fence.clone());
        }
        // PTEs written for it take effect before its first command is fetched.
        gpu.hardware().flush_gtt();
        tracker.engine().published();
        gpu.retirer().published();

        let armed = self.request.as_mut().armed();
        while let (Some(callback), Some(fence)) = (self.callbacks.pop(), self.after.pop()) {
            tracker.count_up();
            match callback.arm(fence, tracker.clone()) {
                // There is capacity.
                Ok(call) => drop(armed.push_within_capacity(call)),
                Err(_) => tracker.discount(),
            }
        }
        for (lead, follower) in self.leads.into_iter().flatten() {
            tracker.count_up();
            // `None`: the leader has completed.
            let added =
                fence::with_timeline::<Tracker, _>(&lead, |t, _| t.follow(follower).is_ok());
            if added != Some(true) {
                tracker.discount();
            }
        }
        let request = ListArc::from(self.request);
        if tracker.begins() {
            drop(self.tracker);
            tracker.engine().begin(request);
        } else {
            tracker.engine().block(self.tracker, request);
            tracker.count_down();
        }
        fence
    }
}
