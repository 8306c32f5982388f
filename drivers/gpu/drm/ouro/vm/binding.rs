// SPDX-License-Identifier: GPL-2.0

//! The address of a BO in an address space.
//!
//! Mostly that is a range of the space, with PTEs. Some chips reach VRAM without a table: the
//! address of a BO there is fixed by its memory.

use kernel::sync::Arc;
use ouro_hw::types::{GgttAddr, GpuAddr};

use super::{allocator::RangeOwner, Mapping, Space};

/// The address of a BO; it ends on drop.
pub(crate) enum Binding<T: RangeOwner> {
    /// A range of the space, with PTEs.
    Mapped(Mapping<T>),
    /// VRAM that is reached without PTEs.
    Direct {
        /// Address of its first byte.
        addr: GpuAddr,
        /// Length in bytes.
        len: u64,
    },
}

impl<T: RangeOwner> Binding<T> {
    /// Returns the address of its first byte.
    pub(crate) fn addr(&self) -> GpuAddr {
        match self {
            Binding::Mapped(mapping) => mapping.addr(),
            Binding::Direct { addr, .. } => *addr,
        }
    }

    /// Returns the address of its first byte for engines that copy.
    pub(crate) fn ggtt(&self) -> GgttAddr {
        match self {
            Binding::Mapped(mapping) => mapping.ggtt(),
            // Chips with VRAM without PTEs have one space of 32 bits.
            Binding::Direct { addr, .. } => GgttAddr(addr.0 as u32),
        }
    }

    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Binding::Mapped(mapping) => mapping.len(),
            Binding::Direct { len, .. } => *len,
        }
    }

    /// Returns whether it is in a space. Chips with VRAM without PTEs have one space.
    pub(super) fn is_in(&self, space: &Arc<Space<T>>) -> bool {
        match self {
            Binding::Mapped(mapping) => Arc::ptr_eq(mapping.space(), space),
            Binding::Direct { .. } => true,
        }
    }

    /// Ends the mapping, as [`Mapping::try_end`].
    pub(crate) fn try_end(&mut self) -> bool {
        match self {
            Binding::Mapped(mapping) => mapping.try_end(),
            // There is no range to free.
            Binding::Direct { .. } => true,
        }
    }
}
