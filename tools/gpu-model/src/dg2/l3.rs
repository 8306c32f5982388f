// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The table of how the L3 caches what each MOCS index names: 32 registers LNCFCMOCS, two entries each (digest §3.3 row
//! 14, §5.4). A full reset loses it. Of a reset of the render and compute engines no document says so; upstream writes
//! the table for the render engine again each time that it sets it up, after a reset too (intel_mocs_init_engine), and
//! says that the registers belong to its reset domain. [`Real::lost_l3`] has that reset lose it.
//!
//! [`Real::lost_l3`]: super::real::Real::lost_l3

use super::core::Core;
use super::engine::EngineId;
use super::lint::Rule;

/// The first of the registers.
pub(crate) const TABLE: u32 = 0xb020;
/// Number of them, a bit each in [`Core::l3_written`].
pub(crate) const REGISTERS: u32 = 32;

impl Core {
    /// A register was written.
    pub fn watch_l3_write(&mut self, offset: u32) {
        let index = offset.wrapping_sub(TABLE) / 4;
        if index < REGISTERS {
            self.l3_written |= 1 << index;
        }
    }

    /// The table is lost.
    pub fn l3_lost(&mut self) {
        self.l3_written = 0;
        for index in 0..REGISTERS {
            self.set(TABLE + 4 * index, 0);
        }
    }

    /// An engine is loaded, for the first time since it was reset: those that access memory through the L3 need the
    /// whole table.
    pub fn watch_l3(&mut self, e: EngineId) {
        if !self.cfg.real.lost_l3 || !e.is_3d() || self.l3_written == !0 {
            return;
        }
        let first = TABLE + 4 * self.l3_written.trailing_ones();
        let missing = self.l3_written.count_zeros();
        self.notes.lint(Rule::L3Unprogrammed, || {
            format!("{} {first:#x}, {missing} registers", e.name())
        });
    }
}
