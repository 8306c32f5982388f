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

/// How far an engine was when memory was closed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mark {
    /// The seqno of the last request emitted.
    pub(super) seqno: Seqno,
    /// Number of loads, on execlist engines.
    pub(super) loads: u64,
}

/// Freed memory that an engine may still reach.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) memory: Quarantine<Freed>,
    /// What each engine must have left behind before the closed set is free.
    pub(super) marks: KVec<Mark>,
    /// Since when the closed set waits for the engines, in nanoseconds.
    pub(super) since: u64,
}
