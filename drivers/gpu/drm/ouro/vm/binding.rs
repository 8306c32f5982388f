// SPDX-License-Identifier: GPL-2.0

//! Where the GPU sees an object.
//!
//! Mostly that is a range of an address space, with entries in its tables. Some chips reach their own
//! memory without a table: there an object's address is that of the memory it is in, and goes with it.

use kernel::sync::Arc;
use ouro_hw::types::{GgttAddr, GpuAddr};

use super::{population::Tenant, Mapping, Space};

/// Where the GPU sees an object, as long as this lives.
pub(crate) enum Binding<T: Tenant> {
    /// At a range of its own.
    Mapped(Mapping<T>),
    /// Where its memory is.
    Direct {
        /// Its first byte.
        addr: GpuAddr,
        /// Bytes.
        len: u64,
    },
}

impl<T: Tenant> Binding<T> {
    /// Its first byte.
    pub(crate) fn addr(&self) -> GpuAddr {
        match self {
            Binding::Mapped(mapping) => mapping.addr(),
            Binding::Direct { addr, .. } => *addr,
        }
    }

    /// The same as engines see it that copy.
    pub(crate) fn ggtt(&self) -> GgttAddr {
        match self {
            Binding::Mapped(mapping) => mapping.ggtt(),
            // Where there is memory without a table, one space is for all, and has 32 bits.
            Binding::Direct { addr, .. } => GgttAddr(addr.0 as u32),
        }
    }

    /// Bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Binding::Mapped(mapping) => mapping.len(),
            Binding::Direct { len, .. } => *len,
        }
    }

    /// Whether it is in a space; where there is memory without a table, there is one space.
    pub(super) fn is_in(&self, space: &Arc<Space<T>>) -> bool {
        match self {
            Binding::Mapped(mapping) => Arc::ptr_eq(mapping.space(), space),
            Binding::Direct { .. } => true,
        }
    }

    /// Ends it, as [`Mapping::try_end`].
    pub(crate) fn try_end(&mut self) -> bool {
        match self {
            Binding::Mapped(mapping) => mapping.try_end(),
            // The range is the memory's.
            Binding::Direct { .. } => true,
        }
    }
}
