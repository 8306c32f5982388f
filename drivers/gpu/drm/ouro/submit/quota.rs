// SPDX-License-Identifier: GPL-2.0

//! Limits of the requests that a client may have in flight, and of its seats on execlist engines.
//!
//! A request holds kernel memory until it is retired. Without a limit, a client could fill the
//! machine with requests that wait for a fence of its own. There is a limit for each client, and a
//! lower one for each of its timelines: requests beyond that could not be emitted for long anyway.
//!
//! A seat holds a context id of its engine, and part of the GGTT, for as long as its context
//! exists. Without a limit, one client could take them all, and contexts of others that have not
//! run yet could not run.

use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
};
use ouro_hw::report::MAX_ENGINES;

/// Most requests of a client that are published and not retired, on all engines together.
const OF_CLIENT: u32 = 8192;
/// Most requests of a timeline that are published and not retired: more than a ring holds.
const OF_TIMELINE: u32 = 512;
/// Most seats of a client, on all execlist engines together. An engine has 65534 context ids, and
/// the GGTT has room for about 50,000 rings and images.
const OF_SEATS: u32 = 4096;

/// Counters with a limit.
pub(crate) struct Quota {
    /// One for each of a context's timelines, by engine; a client has one.
    live: [Atomic<u32>; MAX_ENGINES],
    limit: u32,
}

impl Quota {
    fn new(limit: u32) -> Result<Arc<Self>> {
        let live = [const { Atomic::new(0) }; MAX_ENGINES];
        Ok(Arc::new(Self { live, limit }, GFP_KERNEL_ACCOUNT)?)
    }

    /// Creates the quota of a client. Errors: `ENOMEM`.
    pub(crate) fn of_client() -> Result<Arc<Self>> {
        Self::new(OF_CLIENT)
    }

    /// Creates the quotas of a context's timelines. Errors: `ENOMEM`.
    pub(crate) fn of_timelines() -> Result<Arc<Self>> {
        Self::new(OF_TIMELINE)
    }

    /// Creates the quota of a client's seats. Errors: `ENOMEM`.
    pub(crate) fn of_seats() -> Result<Arc<Self>> {
        Self::new(OF_SEATS)
    }

    /// Takes a unit of a quota with one counter, for a seat. Errors: `ENOSPC` if it is used up.
    pub(super) fn seat(self: &Arc<Self>) -> Result<Part> {
        self.take(0).ok_or(ENOSPC)
    }

    /// Returns whether no seat is left.
    pub(super) fn is_used_up(&self) -> bool {
        let [seats, ..] = &self.live;
        seats.load(ordering::Relaxed) >= self.limit
    }

    /// Takes one unit of a counter; `None` if it is used up.
    fn take(self: &Arc<Self>, number: usize) -> Option<Part> {
        let counter = self.live.get(number)?;
        let mut live = counter.load(ordering::Relaxed);
        while live < self.limit {
            match counter.cmpxchg(live, live + 1, ordering::Relaxed) {
                Ok(_) => {
                    return Some(Part {
                        of: self.clone(),
                        number,
                    })
                }
                Err(now) => live = now,
            }
        }
        None
    }
}

/// A unit of a quota, returned on drop.
pub(crate) struct Part {
    of: Arc<Quota>,
    number: usize,
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(counter) = self.of.live.get(self.number) {
            counter.fetch_sub(1, ordering::Relaxed);
        }
    }
}

/// A request's units of its client's and its timeline's quota. Dropped with the request.
pub(crate) struct Share {
    _client: Part,
    _timeline: Part,
}

impl Share {
    /// Takes a unit of the client's quota, and one of the timeline's on an engine; `None` if one of
    /// them is used up.
    pub(crate) fn take(client: &Arc<Quota>, timelines: &Arc<Quota>, engine: usize) -> Option<Self> {
        Some(Self {
            _client: client.take(0)?,
            _timeline: timelines.take(engine)?,
        })
    }
}
