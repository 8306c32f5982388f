// SPDX-License-Identifier: GPL-2.0

//! Where a mapping may be placed in an address space.

use ouro_hw::types::GpuAddr;

/// Where a mapping may be placed.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// Anywhere in a byte range, with an alignment.
    Within {
        /// First byte, and end (exclusive).
        range: (u64, u64),
        /// Alignment in bytes, a power of two.
        align: u64,
        /// The preferred address, if it is free and in the range.
        preferred: Option<GpuAddr>,
    },
    /// At a fixed address.
    At(GpuAddr),
}

impl Place {
    /// Returns the same place, with an alignment of at least `align` bytes, a power of two. `None`
    /// if a fixed address is not aligned.
    pub(crate) fn aligned(self, align: u64) -> Option<Self> {
        match self {
            Place::At(addr) => (addr.0 & (align - 1) == 0).then_some(self),
            Place::Within {
                range,
                align: own,
                preferred,
            } => Some(Place::Within {
                range,
                align: own.max(align),
                preferred,
            }),
        }
    }

    /// Returns whether `len` bytes at `addr` satisfy the place.
    pub(crate) fn holds(&self, addr: GpuAddr, len: u64) -> bool {
        match *self {
            Place::At(at) => addr == at,
            Place::Within { range, align, .. } => {
                let end = addr.0.checked_add(len);
                addr.0 >= range.0 && end.is_some_and(|e| e <= range.1) && addr.0 & (align - 1) == 0
            }
        }
    }
}
