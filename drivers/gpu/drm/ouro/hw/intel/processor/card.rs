// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The contents of [`Topology::card`](crate::Topology::card): the chip's clocks, and its forcewake
//! method.

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// The dword. The lower three bytes are as in `RP_STATE_CAP`, in units of 50 MHz.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(crate) struct Card {
    /// Bits 7:0: the highest clock.
    pub(crate) highest: u8,
    /// Bits 15:8: the clock that the chip can always sustain.
    pub(crate) steady: u8,
    /// Bits 23:16: the lowest clock.
    pub(crate) lowest: u8,
    /// Bits 31:24: the forcewake method, as its position in
    /// [`Forcewake::methods`](crate::intel::ring::forcewake::Forcewake::methods), from 1 on. 0: the
    /// chip has only one method, or was not probed.
    pub(crate) method: u8,
}
const_assert_eq!(core::mem::size_of::<Card>(), 4);

impl Card {
    /// Returns whether the clock can be changed.
    pub(crate) const fn has_choice(self) -> bool {
        self.highest() != 0
    }
}
