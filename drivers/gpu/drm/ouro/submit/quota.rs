// SPDX-License-Identifier: GPL-2.0

//! How much a client may have under way at a time.
//!
//! A request holds kernel memory until it is retired. Without a limit a client could fill the
//! machine with requests that wait for a fence of its own. So there is one for each client, and a
//! lower one for each of its timelines: what is published beyond it could not be emitted for long.

use kernel::{
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
};

/// Requests that a client may have published and not retired, on all engines together.
const OF_CLIENT: u32 = 8192;
/// The same, of one context on one engine: more than a ring holds.
const OF_TIMELINE: u32 = 512;

/// A count with a limit.
pub(crate) struct Quota {
    live: Atomic<u32>,
    limit: u32,
}

impl Quota {
    fn new(limit: u32) -> Result<Arc<Self>> {
        let live = Atomic::new(0);
        Ok(Arc::new(Self { live, limit }, GFP_KERNEL)?)
    }

    /// That of a client.
    pub(crate) fn of_client() -> Result<Arc<Self>> {
        Self::new(OF_CLIENT)
    }

    /// That of a timeline.
    pub(crate) fn of_timeline() -> Result<Arc<Self>> {
        Self::new(OF_TIMELINE)
    }

    /// A part for one request; `None` if it is used up.
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

/// What one request counts for in a quota.
struct Part(Arc<Quota>);

impl Drop for Part {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, ordering::Relaxed);
    }
}

/// One request's share of all that limits it. Dropped with the request.
pub(crate) struct Share {
    _client: Part,
    _timeline: Part,
}

impl Share {
    /// `None` if one of them is used up.
    pub(crate) fn take(client: &Arc<Quota>, timeline: &Arc<Quota>) -> Option<Self> {
        Some(Self {
            _client: client.take()?,
            _timeline: timeline.take()?,
        })
    }
}
