// SPDX-License-Identifier: GPL-2.0

//! Limits of the requests that a client may have in flight.
//!
//! A request holds kernel memory until it is retired. Without a limit, a client could fill the
//! machine with requests that wait for a fence of its own. There is a limit for each client, and a
//! lower one for each of its timelines: requests beyond that could not be emitted for long anyway.

use kernel::{
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
};

/// Most requests of a client that are published and not retired, on all engines together.
const OF_CLIENT: u32 = 8192;
/// Most requests of a timeline that are published and not retired: more than a ring holds.
const OF_TIMELINE: u32 = 512;

/// A counter with a limit.
pub(crate) struct Quota {
    live: Atomic<u32>,
    limit: u32,
}

impl Quota {
    fn new(limit: u32) -> Result<Arc<Self>> {
        let live = Atomic::new(0);
        Ok(Arc::new(Self { live, limit }, GFP_KERNEL)?)
    }

    /// Creates the quota of a client.
    pub(crate) fn of_client() -> Result<Arc<Self>> {
        Self::new(OF_CLIENT)
    }

    /// Creates the quota of a timeline.
    pub(crate) fn of_timeline() -> Result<Arc<Self>> {
        Self::new(OF_TIMELINE)
    }

    /// Takes one unit for a request; `None` if the quota is used up.
    fn take(self: &Arc<Self>) -> Option<Part> {
        let mut live = self.live.load(ordering::Relaxed);
        while live < self.limit {
            match self.live.cmpxchg(live, live + 1, ordering::Relaxed) {
                Ok(_) => return Some(Part(self.clone())),
                Err(now) => live = now,
            }
        }
        None
    }
}

/// A request's unit of a quota, returned on drop.
struct Part(Arc<Quota>);

impl Drop for Part {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, ordering::Relaxed);
    }
}

/// A request's units of its client's and its timeline's quota. Dropped with the request.
pub(crate) struct Share {
    _client: Part,
    _timeline: Part,
}

impl Share {
    /// Takes a unit of each; `None` if one of them is used up.
    pub(crate) fn take(client: &Arc<Quota>, timeline: &Arc<Quota>) -> Option<Self> {
        Some(Self {
            _client: client.take()?,
            _timeline: timeline.take()?,
        })
    }
}
