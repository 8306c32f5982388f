// SPDX-License-Identifier: GPL-2.0 OR MIT
//! When a DG2 is in standby, which [`intel::standby`](crate::intel::standby) counts: all wells sleep, and no engine
//! has a context.

use super::core::Core;
use crate::intel::standby;

impl Core {
    /// Counts the time since the last look, and looks again: before an access, and after one that may have changed
    /// it. (An engine that has come to its end in between sleeps from the next access on.)
    pub fn count_standby(&mut self) {
        let idle = self.present().all(|e| self.is_idle(e));
        let sleeps = idle && self.wells.all_asleep();
        let level = standby::level(self.get(standby::CONTROL), self.get(standby::STATE));
        let now = self.notes.clock.now();
        self.standby.count(now, level.filter(|_| sleeps));
    }
}
