// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Render standby: how long the GT has slept in RC6, RC6p and RC6pp. The documents have none of its registers;
//! names, bits and the counters' unit are facts of the kernel's `intel_gt_regs.h` and `intel_rc6.c`. Its
//! selftest `live_rc6_manual` has them count on a Sandy Bridge that a driver sends to sleep, and stand still
//! while standby is off.

use super::core::Core;
use super::regs::reg;
use bitfield_struct::bitfield;

/// RC_CONTROL.
#[bitfield(u32)]
struct Control {
    #[bits(16)]
    _other: u16,
    /// The deepest level may be entered.
    rc6pp: bool,
    /// The deep level may be entered.
    rc6p: bool,
    /// Standby may be entered.
    rc6: bool,
    #[bits(12)]
    _modes: u16,
    /// The GT enters standby by itself when it has nothing to do; without it, when RC_STATE says so.
    hardware: bool,
}

/// RC_STATE.
#[bitfield(u32)]
struct State {
    #[bits(16)]
    _other: u16,
    /// The level that software asks for: 4 RC6, 5 RC6p, 6 RC6pp.
    #[bits(3)]
    target: u8,
    #[bits(13)]
    _more: u16,
}

/// Nanoseconds in a unit of the counters.
const UNIT: u64 = 1280;

/// Time in each level, and what is the case since when.
#[derive(Default)]
pub(crate) struct Standby {
    /// Nanoseconds in RC6, RC6p, RC6pp.
    slept: [u64; 3],
    /// The level that the GT sleeps in.
    level: Option<usize>,
    /// When that was looked at, in nanoseconds of the device's clock.
    since: u64,
}

impl Core {
    /// The level that the GT is in now: an index of [`Standby::slept`]; `None` if it is awake or may not sleep.
    fn standby_level(&self) -> Option<usize> {
        let idle = self.cfg.chip.engines.iter().all(|row| self.is_idle(row.id));
        if !self.cfg.chip.forcewake.needed() || self.gt.awake || !idle {
            return None;
        }
        let control = Control::from(self.get(reg::RC_CONTROL));
        if !control.rc6() {
            None
        } else if control.hardware() {
            Some(match (control.rc6p(), control.rc6pp()) {
                (_, true) => 2,
                (true, _) => 1,
                _ => 0,
            })
        } else {
            match State::from(self.get(reg::RC_STATE)).target() {
                target @ 4..=6 => Some(target as usize - 4),
                _ => None,
            }
        }
    }

    /// Counts the time since the last look, and looks again: before an access, and after one that may have changed
    /// it. (An engine that has come to its end in between sleeps from the next access on.)
    pub fn count_standby(&mut self) {
        let now = self.notes.clock.now();
        let level = self.standby_level();
        let standby = &mut self.gt.standby;
        if let Some(level) = standby.level {
            standby.slept[level] += now - standby.since;
        }
        standby.since = now;
        standby.level = level;
    }

    /// Reads a counter: GT_GFX_RC6, GT_GFX_RC6p or GT_GFX_RC6pp.
    pub fn standby_read(&self, offset: u32) -> u32 {
        let level = (offset - reg::RC6_STATUS) / 4;
        (self.gt.standby.slept[level as usize] / UNIT) as u32
    }
}
