// SPDX-License-Identifier: GPL-2.0

//! Freed memory that waits in quarantine ([`ouro_core::quarantine`]) until no engine can reach it.

use kernel::{list::List, prelude::*};
use ouro_core::quarantine::{Pile, Quarantine};
use ouro_hw::types::Seqno;

use crate::gem::Backing;

/// Freed memory.
#[derive(Default)]
pub(super) struct Freed(pub(super) List<Backing>);

impl Pile for Freed {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn append(&mut self, other: &mut Self) {
        self.0.push_all_back(&mut other.0);
    }
}

/// Freed memory that an engine may still reach through its TLBs.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) memory: Quarantine<Freed>,
    /// The seqno of each engine that must complete before the closed set is free.
    pub(super) marks: KVec<Seqno>,
}
