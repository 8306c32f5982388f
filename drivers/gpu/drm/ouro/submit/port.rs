// SPDX-License-Identifier: GPL-2.0

//! The port of an engine: one ring, or an execlist and the rings of its contexts.

use kernel::{
    list::{List, ListArc},
    sync::ArcBorrow,
};
use ouro_core::list;
use ouro_hw::types::Seqno;

use super::{lists::Lists, request::Request, ring::RingQueue};

/// The port of an engine.
#[expect(clippy::large_enum_variant, reason = "there is one for each engine")]
pub(super) enum Port {
    /// One ring, executed in order ([`super::ring`]).
    Ring(RingQueue),
    /// An execlist: contexts by priority ([`super::lists`]).
    Lists(Lists),
}

impl Port {
    /// Queues a ready request. Gives it back if its context is not on this engine.
    pub(super) fn push(&mut self, request: ListArc<Request>) -> Result<(), ListArc<Request>> {
        match self {
            Port::Ring(ring) => {
                ring.ready.push_back(request);
                Ok(())
            }
            Port::Lists(lists) => lists.push(request),
        }
    }

    /// Returns whether there are no requests.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Port::Ring(ring) => ring.ready.is_empty() && ring.flight.is_empty(),
            Port::Lists(lists) => lists.is_idle(),
        }
    }

    /// Returns whether no request is in flight: each one emitted is retired.
    pub(super) fn is_quiet(&self) -> bool {
        match self {
            Port::Ring(ring) => ring.flight.is_empty(),
            Port::Lists(lists) => lists.is_quiet(),
        }
    }

    /// Returns whether the engine holds no context whose image it has yet to save.
    pub(super) fn is_switched_out(&self) -> bool {
        match self {
            // On a ring, a request of the kernel's own switches away from the last context.
            Port::Ring(_) => true,
            Port::Lists(lists) => lists.sched.port().is_idle(),
        }
    }

    /// Returns whether ready requests wait for room in a ring.
    pub(super) fn wants_room(&self) -> bool {
        match self {
            Port::Ring(ring) => !ring.ready.is_empty(),
            Port::Lists(lists) => lists.wants_room(),
        }
    }

    /// Returns the request that the engine works on, as far as that is known.
    pub(super) fn first(&self) -> Option<ArcBorrow<'_, Request>> {
        match self {
            Port::Ring(ring) => ring.flight.iter().next(),
            Port::Lists(lists) => lists.first(),
        }
    }

    /// Returns the seqno of the last request emitted.
    pub(super) fn last(&self) -> Seqno {
        match self {
            Port::Ring(ring) => ring.port.last_seqno(),
            Port::Lists(lists) => lists.last(),
        }
    }

    /// Returns the number of loads; zero on ring engines.
    pub(super) fn loads(&self) -> u64 {
        match self {
            Port::Ring(_) => 0,
            Port::Lists(lists) => lists.sched.port().loads(),
        }
    }

    /// Returns whether the engine has saved what it ran when its loads were counted: as
    /// [`ouro_core::list::ListPort::has_saved_since`]. False on ring engines.
    pub(super) fn has_saved_since(&self, loads: u64) -> bool {
        match self {
            Port::Ring(_) => false,
            Port::Lists(lists) => lists.sched.port().has_saved_since(loads),
        }
    }

    /// Returns the statistics of context switches; zeros on ring engines.
    pub(super) fn counts(&self) -> list::Counts {
        match self {
            Port::Ring(_) => list::Counts::default(),
            Port::Lists(lists) => lists.sched.port().counts(),
        }
    }

    /// Returns how often contexts were looked at; zero on ring engines.
    pub(super) fn visits(&self) -> u64 {
        match self {
            Port::Ring(_) => 0,
            Port::Lists(lists) => lists.roster.visits(),
        }
    }

    /// Moves all ready requests to `all`.
    pub(super) fn take_ready(&mut self, all: &mut List<Request>) {
        match self {
            Port::Ring(ring) => all.push_all_back(&mut ring.ready),
            Port::Lists(lists) => lists.take_ready(all),
        }
    }
}
