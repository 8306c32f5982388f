// SPDX-License-Identifier: GPL-2.0

//! Memory that was freed, in the sets of the quarantine ([`ouro_core::quarantine`]).

use kernel::list::List;
use ouro_core::quarantine::Pile;

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
