// SPDX-License-Identifier: GPL-2.0

//! Times, in the units of this crate.

use kernel::{bindings, time::Jiffies};

use crate::raw;

/// Converts milliseconds to jiffies, rounding up.
pub fn ms(ms: u32) -> Jiffies {
    // SAFETY: No requirement.
    unsafe { raw::ouro_ms_to_jiffies(ms) }
}

/// Converts nanoseconds to jiffies, rounding up; forever, if that overflows.
pub fn ns(ns: u64) -> Jiffies {
    // SAFETY: No requirement.
    let j = unsafe { bindings::nsecs_to_jiffies64(ns) };
    if ns == 0 {
        return 0;
    }
    j.saturating_add(1).min(crate::wait::FOREVER as u64) as Jiffies
}

/// Returns the jiffies counter; it wraps.
pub fn now() -> Jiffies {
    // SAFETY: No requirement.
    unsafe { raw::ouro_jiffies() }
}

/// Returns the nanoseconds of the monotonic clock.
pub fn monotonic_ns() -> u64 {
    // SAFETY: No requirement.
    (unsafe { bindings::ktime_get() }) as u64
}
