// SPDX-License-Identifier: GPL-2.0 OR MIT
//! When a GT of rings is in standby, which [`intel::standby`](crate::intel::standby) counts.

use super::core::Core;
use crate::intel::standby;

impl Core {
    /// Counts the time since the last look, and looks again: before an access, and after one that may have changed
    /// it. (An engine that has come to its end in between sleeps from the next access on.)
    pub fn count_standby(&mut self) {
        let idle = self.cfg.chip.engines.iter().all(|row| self.is_idle(row.id));
        let sleeps = self.cfg.chip.forcewake.needed() && !self.gt.awake && idle;
        let level = standby::level(self.get(standby::CONTROL), self.get(standby::STATE));
        let now = self.notes.clock.now();
        self.gt.standby.count(now, level.filter(|_| sleeps));
    }
}
