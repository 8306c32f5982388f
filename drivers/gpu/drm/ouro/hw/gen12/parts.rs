// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The part of DG2 that a card has, and whether it is a server card: some workarounds depend on
//! that ([`super::workarounds`]). The PCI id table has a generation for each (digest §5.1); after
//! that it is a set of bits in [`Hw::card`].
//!
//! No workaround depends on a stepping: the upstream driver dropped those of cards that were never
//! sold.

use crate::io::Hw;

/// A set of parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Parts(u8);

/// First bit of [`Hw::card`] that is one of a part; below are engines.
const FIRST: u32 = 12;

impl Parts {
    /// DG2-G10.
    pub(super) const G10: Self = Self(1 << 0);
    /// DG2-G11.
    pub(super) const G11: Self = Self(1 << 1);
    /// DG2-G12.
    pub(super) const G12: Self = Self(1 << 2);
    /// A card for servers (ATS-M), which has one of the parts above.
    pub(super) const SERVER: Self = Self(1 << 3);
    /// Any of them.
    pub(super) const ALL: Self = Self(0b1111);

    /// Returns the union.
    pub(super) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the part of this card; empty if it was not probed.
    pub(super) fn of(hw: &Hw<'_>) -> Self {
        Self::of_card(hw.card)
    }

    /// The same of [`Hw::card`].
    pub(super) const fn of_card(card: u32) -> Self {
        Self((card >> FIRST) as u8 & Self::ALL.0)
    }

    /// Returns the set as bits of [`Hw::card`].
    pub(super) const fn card(self) -> u32 {
        (self.0 as u32) << FIRST
    }

    /// Returns whether it contains one of `these`.
    pub(super) const fn any(self, these: Self) -> bool {
        self.0 & these.0 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

    #[test]
    fn a_card_keeps_what_it_is() {
        let mock = Mock::default();
        let card = |card| Hw { card, ..mock.hw() };
        let server = Parts::G11.union(Parts::SERVER);
        let hw = card(server.card() | 0x3ff);
        assert_eq!(Parts::of(&hw), server);
        assert!(Parts::of(&hw).any(Parts::G11));
        assert!(!Parts::of(&hw).any(Parts::G10.union(Parts::G12)));
        assert!(!Parts::of(&card(0x3ff)).any(Parts::ALL));
    }
}
