// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The counter of samples that pass: ZB_ZPASS_DATA, ZB_ZPASS_ADDR (digest of 3D, §12.7).
//!
//! Draws count when their turn comes, and so what is done with the counter waits for its own. Pipe 0 counts all.

use crate::r5xx::access::Unit;
use crate::r5xx::core::Core;
use crate::r5xx::gfx::Job;
use crate::r5xx::pipes::Reach;
use crate::r5xx::regs::reg;

/// A write of one of the two registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    /// A program's.
    pub client: bool,
    offset: u32,
    data: u32,
    reach: Reach,
}

impl Core {
    /// ZB_ZPASS_DATA or ZB_ZPASS_ADDR is written.
    pub fn zpass(&mut self, offset: u32, data: u32, reach: Reach) {
        if reach.mask == 0 {
            return;
        }
        let count = Count {
            client: self.notes.client,
            offset,
            data,
            reach,
        };
        if self.gfx.busy_3d() {
            self.queue(Job::Count(count));
        } else {
            self.count_samples(&count);
        }
    }

    /// Handles the write: the counter restarts, or goes to memory, one dword of each selected pipe; they share an
    /// address.
    pub fn count_samples(&mut self, count: &Count) {
        if count.offset == reg::ZB_ZPASS_DATA {
            if count.reach.mask & 1 != 0 {
                self.gfx.three.passed = 0;
            }
            self.store(reg::ZB_ZPASS_DATA, count.data, count.reach);
            return;
        }
        let pipe = count.reach.mask.trailing_zeros();
        let mut value = self.pipe_value(pipe as usize, reg::ZB_ZPASS_DATA);
        if pipe == 0 {
            value = value.wrapping_add(self.gfx.three.passed);
        }
        let at = u64::from(count.data & !3);
        self.mc.write(Unit::ZPass, at, &value.to_le_bytes());
    }
}
