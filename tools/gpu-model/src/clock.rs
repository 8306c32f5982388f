// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The time a model lives in: the host's clock for a server, a hand-driven one for tests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Instant;

/// A source of nanoseconds since the model was made.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The host's monotonic clock.
    Real(Instant),
    /// Moves only when told to; makes a run repeatable.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// A clock that runs by itself.
    pub fn real() -> Self {
        Clock::Real(Instant::now())
    }

    /// A clock that stands still until [`Clock::advance_to`].
    pub fn manual() -> Self {
        Clock::Manual(Arc::new(AtomicU64::new(0)))
    }

    /// Nanoseconds since the start.
    pub fn now(&self) -> u64 {
        match self {
            Clock::Real(start) => start.elapsed().as_nanos() as u64,
            Clock::Manual(t) => t.load(Ordering::SeqCst),
        }
    }

    /// Moves a manual clock forward to `ns`; never backwards. A real clock is left alone.
    pub fn advance_to(&self, ns: u64) {
        if let Clock::Manual(t) = self {
            t.fetch_max(ns, Ordering::SeqCst);
        }
    }

    /// True for the hand-driven kind.
    pub fn is_manual(&self) -> bool {
        matches!(self, Clock::Manual(_))
    }
}
