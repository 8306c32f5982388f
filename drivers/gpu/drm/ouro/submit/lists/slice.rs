// SPDX-License-Identifier: GPL-2.0

//! The timeslice of an execlist engine, as sysfs sets it.

use kernel::prelude::*;

use super::{super::Engine, MS};

impl Engine {
    /// Returns the timeslice in milliseconds; 0: no timeslices. `None` on ring engines.
    pub(crate) fn slice_ms(&self) -> Option<u32> {
        let mut queue = self.queue.lock();
        // It was set from a u32.
        Some((queue.lists()?.sched.slice() / MS) as u32)
    }

    /// Sets the timeslice ([`slice_ms`](Self::slice_ms)). Errors: `ENODEV` on ring engines.
    pub(crate) fn set_slice_ms(&self, ms: u32) -> Result {
        let mut queue = self.queue.lock();
        queue
            .lists()
            .ok_or(ENODEV)?
            .sched
            .set_slice(u64::from(ms) * MS);
        // The running context may have exceeded the new timeslice already.
        self.pump(&mut queue);
        drop(queue);
        self.retirer.run_deferred();
        Ok(())
    }
}
