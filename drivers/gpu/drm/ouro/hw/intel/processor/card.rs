// SPDX-License-Identifier: GPL-2.0
//! What [`Topology::card`](crate::Topology::card) says of a chip: its clocks, and how it is woken.

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// The word. Its lower three bytes are where `RP_STATE_CAP` has the clocks, in units of 50 MHz.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(crate) struct Card {
    /// Bits 7:0: the highest clock.
    pub(crate) highest: u8,
    /// Bits 15:8: the one that it can always have. Not asked for.
    pub(crate) steady: u8,
    /// Bits 23:16: the lowest.
    pub(crate) lowest: u8,
    /// Bits 31:24: the number of the way in which it is woken
    /// ([`Forcewake::ways`](crate::intel::ring::forcewake::Forcewake::ways)), from 1 on. 0: there is one only, or it
    /// was not looked at.
    pub(crate) way: u8,
}
const_assert_eq!(core::mem::size_of::<Card>(), 4);

impl Card {
    /// Whether there are clocks to choose from.
    pub(crate) const fn has_choice(self) -> bool {
        self.highest() != 0
    }
}
