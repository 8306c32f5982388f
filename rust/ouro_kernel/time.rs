// SPDX-License-Identifier: GPL-2.0

//! Time in the units that the rest of this crate takes.

use kernel::{bindings, time::Jiffies};

use crate::raw;

/// Milliseconds in jiffies, rounded up.
pub fn ms(ms: u32) -> Jiffies {
    // SAFETY: No requirement.
    unsafe { raw::ouro_ms_to_jiffies(ms) }
}

/// Nanoseconds in jiffies, rounded up. Beyond what jiffies can count: forever.
pub fn ns(ns: u64) -> Jiffies {
    // SAFETY: No requirement.
    let j = unsafe { bindings::nsecs_to_jiffies64(ns) };
    if ns == 0 {
        return 0;
    }
    j.saturating_add(1).min(crate::wait::FOREVER as u64) as Jiffies
}

/// The counter of jiffies; it wraps.
pub fn now() -> Jiffies {
    // SAFETY: No requirement.
    unsafe { raw::ouro_jiffies() }
}

/// Nanoseconds of the monotonic clock.
pub fn monotonic_ns() -> u64 {
    // SAFETY: No requirement.
    (unsafe { bindings::ktime_get() }) as u64
}
