// SPDX-License-Identifier: GPL-2.0

//! Where an engine's work goes: into one ring, or into the rings of contexts that it is given lists of.

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
    /// One ring, in order ([`super::ring`]).
    Ring(RingQueue),
    /// Lists of contexts, by priority ([`super::lists`]).
    Lists(Lists),
}

impl Port {
    /// A request is ready. It is given back if it cannot be.
    pub(super) fn push(&mut self, request: ListArc<Request>) -> Result<(), ListArc<Request>> {
        match self {
            Port::Ring(ring) => {
                ring.ready.push_back(request);
                Ok(())
            }
            Port::Lists(lists) => lists.push(request),
        }
    }

    /// Whether there are no requests.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Port::Ring(ring) => ring.ready.is_empty() && ring.flight.is_empty(),
            Port::Lists(lists) => lists.is_idle(),
        }
    }

    /// Whether no request is emitted and not taken off.
    pub(super) fn is_quiet(&self) -> bool {
        match self {
            Port::Ring(ring) => ring.flight.is_empty(),
            Port::Lists(lists) => lists.is_quiet(),
        }
    }

    /// Whether the engine has no context whose image it has yet to save.
    pub(super) fn is_let_go(&self) -> bool {
        match self {
            // A request of the kernel's own sees to that.
            Port::Ring(_) => true,
            Port::Lists(lists) => lists.sched.port().is_idle(),
        }
    }

    /// Whether some wait for room.
    pub(super) fn wants_room(&self) -> bool {
        match self {
            Port::Ring(ring) => !ring.ready.is_empty(),
            Port::Lists(lists) => lists.wants_room(),
        }
    }

    /// The request that the engine works on, as far as that is known.
    pub(super) fn first(&self) -> Option<ArcBorrow<'_, Request>> {
        match self {
            Port::Ring(ring) => ring.flight.iter().next(),
            Port::Lists(lists) => lists.first(),
        }
    }

    /// The number of the last request emitted.
    pub(super) fn last(&self) -> Seqno {
        match self {
            Port::Ring(ring) => ring.port.last_seqno(),
            Port::Lists(lists) => lists.last(),
        }
    }

    /// What became of lists; nothing if there are none.
    pub(super) fn counts(&self) -> list::Counts {
        match self {
            Port::Ring(_) => list::Counts::default(),
            Port::Lists(lists) => lists.sched.port().counts(),
        }
    }

    /// Takes all that is ready.
    pub(super) fn take_ready(&mut self, all: &mut List<Request>) {
        match self {
            Port::Ring(ring) => all.push_all_back(&mut ring.ready),
            Port::Lists(lists) => lists.take_ready(all),
        }
    }
}
