// SPDX-License-Identifier: GPL-2.0

//! Looking again and again whether an engine is idle.

use kernel::time::{delay::fsleep, Delta};

/// Microseconds from the first look to the next, and from one to the next at last.
const FIRST_US: i64 = 100;
const LAST_US: i64 = 10_000;

/// When to look again: the longer it takes, the rarer.
pub(crate) struct Looks {
    us: i64,
}

impl Looks {
    pub(crate) fn new() -> Self {
        Self { us: FIRST_US }
    }

    /// Sleeps until the next look.
    pub(crate) fn sleep(&mut self) {
        fsleep(Delta::from_micros(self.us));
        self.us = (self.us * 5 / 4).min(LAST_US);
    }
}
