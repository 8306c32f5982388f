// SPDX-License-Identifier: GPL-2.0

//! The publication times of a timeline's requests, for `GEM_THROTTLE`.
//!
//! Only the last request of each four milliseconds is kept, and eight of these. So the size is
//! fixed, and adding allocates nothing.

use kernel::sync::aref::ARef;
use ouro_kernel::fence::Fence;

/// Interval in nanoseconds of which only the last request is kept.
const UNIT_NS: u64 = 4_000_000;
/// How many are kept: they cover more than the 20 ms that a client may be ahead.
const KEPT: usize = 8;

/// The recent requests of a timeline.
#[derive(Default)]
pub(crate) struct Recent {
    /// A ring, oldest first from `next` on: publication time in nanoseconds, and fence.
    kept: [Option<(u64, ARef<Fence>)>; KEPT],
    /// Index of the next one.
    next: usize,
}

impl Recent {
    /// Adds a request published at `now`, in nanoseconds. Allocates nothing.
    pub(crate) fn push(&mut self, now: u64, fence: ARef<Fence>) {
        let newest = (self.next + KEPT - 1) % KEPT;
        let same = matches!(
            self.kept.get(newest),
            Some(Some((then, _))) if then / UNIT_NS == now / UNIT_NS
        );
        let at = if same { newest } else { self.next };
        if let Some(slot) = self.kept.get_mut(at) {
            *slot = Some((now, fence));
        }
        self.next = (at + 1) % KEPT;
    }

    /// Returns the fence of the last request published no later than `ns`, of those that are kept.
    pub(crate) fn by(&self, ns: u64) -> Option<&ARef<Fence>> {
        (1..=KEPT)
            .filter_map(|back| self.kept.get((self.next + KEPT - back) % KEPT)?.as_ref())
            .find(|(then, _)| *then <= ns)
            .map(|(_, fence)| fence)
    }
}
