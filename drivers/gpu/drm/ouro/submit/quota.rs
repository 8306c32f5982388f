// SPDX-License-Identifier: GPL-2.0

//! How much a client may have under way at a time.
//!
//! A request holds kernel memory until it is retired. Without a limit a client could fill the
//! machine with requests that wait for a fence of its own.

use kernel::{
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
};

/// Requests that a client may have published and not retired, on all engines together.
const MAX_LIVE: u32 = 8192;

/// The count of a client.
pub(crate) struct Quota(Atomic<u32>);

impl Quota {
    pub(crate) fn new() -> Result<Arc<Self>> {
        Ok(Arc::new(Self(Atomic::new(0)), GFP_KERNEL)?)
    }

    /// A share for one request; `None` if the client has used up its quota.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Share> {
        let mut live = self.0.load(ordering::Relaxed);
        while live < MAX_LIVE {
            match self.0.cmpxchg(live, live + 1, ordering::Relaxed) {
                Ok(_) => return Some(Share(self.clone())),
                Err(now) => live = now,
            }
        }
        None
    }
}

/// One request's share. Dropped with the request.
pub(crate) struct Share(Arc<Quota>);

impl Drop for Share {
    fn drop(&mut self) {
        self.0 .0.fetch_sub(1, ordering::Relaxed);
    }
}
