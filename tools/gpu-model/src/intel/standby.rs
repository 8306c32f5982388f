// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Render standby: how long a GT has slept in RC6, RC6p and RC6pp. The documents have at most the names of its
//! counters; bits and unit are facts of the kernel's `intel_gt_regs.h` and `intel_rc6.c`, whose selftest
//! `live_rc6_manual` has them count on each chip that a driver sends to sleep, and stand still while standby is off.

use bitfield_struct::bitfield;

/// RC_CONTROL.
pub const CONTROL: u32 = 0xa090;
/// RC_STATE.
pub const STATE: u32 = 0xa094;
/// The counter GT_GFX_RC6. Those of deeper levels, GT_GFX_RC6p and GT_GFX_RC6pp, follow.
pub const COUNTER: u32 = 0x13_8108;

/// Fields of RC_CONTROL.
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

/// Fields of RC_STATE.
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

/// A level of standby, as the counters are in order: 0 RC6, 1 RC6p, 2 RC6pp.
pub type Level = usize;

/// The level of a GT that sleeps, by RC_CONTROL and RC_STATE; `None` if it may not enter standby.
pub fn level(control: u32, state: u32) -> Option<Level> {
    let control = Control::from(control);
    match State::from(state).target() {
        _ if !control.rc6() => None,
        _ if control.hardware() && control.rc6pp() => Some(2),
        _ if control.hardware() && control.rc6p() => Some(1),
        _ if control.hardware() => Some(0),
        target @ 4..=6 => Some(usize::from(target) - 4),
        _ => None,
    }
}

/// Time in each level, and what is the case since when.
#[derive(Default)]
pub(crate) struct Standby {
    /// Nanoseconds in each level.
    slept: [u64; 3],
    /// The level that the GT sleeps in.
    level: Option<Level>,
    /// When that was looked at, in nanoseconds of the device's clock.
    since: u64,
}

impl Standby {
    /// Counts the time since the last look at the level that was found then; it is `level` from `now`, in
    /// nanoseconds, on.
    pub fn count(&mut self, now: u64, level: Option<Level>) {
        if let Some(level) = self.level {
            self.slept[level] += now - self.since;
        }
        self.since = now;
        self.level = level;
    }

    /// The counter at an offset, which is one of the three.
    pub fn read(&self, offset: u32) -> u32 {
        let level = (offset - COUNTER) as usize / 4;
        (self.slept[level] / UNIT) as u32
    }
}
