// SPDX-License-Identifier: GPL-2.0

//! Timelines: a timeline is one (context, engine) pair. Its fences are one dma_fence context,
//! numbered at publication. A virtual engine counts as one engine, by its first one's number.

use kernel::{alloc::flags::GFP_KERNEL_ACCOUNT, prelude::*, sync::aref::ARef};
use ouro_kernel::{
    fence::{self, Fence},
    time,
};

use super::recent::Recent;

/// The requests of a context on one engine.
pub(crate) struct Timeline {
    /// The dma_fence context.
    fence_context: u64,
    /// The dma_fence seqno of the last request published.
    seqno: u64,
    /// The fence of the last request published.
    last: Option<ARef<Fence>>,
    recent: Recent,
}

impl Timeline {
    /// Returns the dma_fence context of its requests.
    pub(crate) fn fence_context(&self) -> u64 {
        self.fence_context
    }

    /// Returns the dma_fence seqno of the next request, which [`publish`](Self::publish) uses up.
    pub(crate) fn next(&self) -> u64 {
        self.seqno.wrapping_add(1)
    }

    /// Returns the fence of the last request published.
    pub(crate) fn last(&self) -> Option<&ARef<Fence>> {
        self.last.as_ref()
    }

    /// Returns the fence of the last request published no later than `ns`.
    pub(crate) fn published_by(&self, ns: u64) -> Option<&ARef<Fence>> {
        self.recent.by(ns)
    }

    /// Records a published request, which has the next seqno.
    pub(crate) fn publish(&mut self, fence: ARef<Fence>) {
        self.seqno = self.next();
        self.recent.push(time::monotonic_ns(), fence.clone());
        self.last = Some(fence);
    }
}

/// The timelines of a context, by engine. They are made for its first request: many a context has
/// none.
#[derive(Default)]
pub(crate) struct Timelines(KVec<Timeline>);

impl Timelines {
    /// Returns the timeline of an engine, if the context has had a request.
    pub(crate) fn get(&self, engine: usize) -> Option<&Timeline> {
        self.0.get(engine)
    }

    /// Returns the timeline of an engine of so many, for a request. Errors: `EINVAL` if there is no
    /// such engine, `ENOMEM`.
    #[inline]
    pub(super) fn of(&mut self, engine: usize, engines: usize) -> Result<&mut Timeline> {
        if self.0.is_empty() {
            self.make(engines)?;
        }
        self.0.get_mut(engine).ok_or(EINVAL)
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self, engines: usize) -> Result {
        let mut made = KVec::with_capacity(engines, GFP_KERNEL_ACCOUNT)?;
        let fences = fence::alloc_contexts(engines as u32);
        for engine in 0..engines {
            made.push(
                Timeline {
                    fence_context: fences.wrapping_add(engine as u64),
                    seqno: 0,
                    last: None,
                    recent: Recent::default(),
                },
                GFP_KERNEL_ACCOUNT,
            )?;
        }
        self.0 = made;
        Ok(())
    }
}
