// SPDX-License-Identifier: GPL-2.0

//! When the requests of a timeline were published, as far as `GEM_THROTTLE` wants to know.
//!
//! Only the last request of each four milliseconds is kept, and of those the last eight. So it is
//! of fixed size, and adding to it allocates nothing.

use kernel::sync::aref::ARef;
use ouro_kernel::fence::Fence;

/// Nanoseconds in which the last request stands for all.
const UNIT_NS: u64 = 4_000_000;
/// How many are kept: more than the 20 ms that a client may be ahead.
const KEPT: usize = 8;

/// The last requests.
#[derive(Default)]
pub(crate) struct Recent {
    /// Oldest first from `next` on, round: when it was published, in nanoseconds, and its fence.
    kept: [Option<(u64, ARef<Fence>)>; KEPT],
    /// Where the next one goes.
    next: usize,
}

impl Recent {
    /// A request is published at `now`, in nanoseconds. Allocates nothing.
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

    /// The last one that was published no later than `ns`, of those that are kept.
    pub(crate) fn by(&self, ns: u64) -> Option<&ARef<Fence>> {
        (1..=KEPT)
            .filter_map(|back| self.kept.get((self.next + KEPT - back) % KEPT)?.as_ref())
            .find(|(then, _)| *then <= ns)
            .map(|(_, fence)| fence)
    }
}
