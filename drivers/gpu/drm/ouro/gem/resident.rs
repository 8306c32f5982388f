// SPDX-License-Identifier: GPL-2.0

//! The owners of ranges of address spaces: BOs, context images, and page directories. All of them
//! can be evicted.
//! The type aliases are the [`vm`](crate::vm) types that the rest of the driver uses.

use kernel::sync::{aref::ARef, Arc};
use ouro_kernel::gem::Weak;

use super::{pinning::Evictable, Bo, Object};
use crate::vm::{self, allocator::RangeOwner};

/// An owner of a range of an address space.
#[derive(Clone)]
pub(crate) enum Resident {
    /// A BO; its address does not keep it alive.
    Object(Weak<Bo>),
    /// A kernel object; its address keeps it alive.
    Hidden(Arc<dyn Evictable>),
}

/// An owner to evict.
pub(crate) enum Victim {
    /// A BO.
    Object(ARef<Object>),
    /// A context image or a page directory.
    Hidden(Arc<dyn Evictable>),
}

impl RangeOwner for Resident {
    type Strong = Victim;

    fn upgrade(&self) -> Option<Victim> {
        match self {
            Resident::Object(object) => object.upgrade().map(Victim::Object),
            Resident::Hidden(hidden) => Some(Victim::Hidden(hidden.clone())),
        }
    }
}

/// The owners of ranges of a memory region are BOs.
impl RangeOwner for Weak<Bo> {
    type Strong = ARef<Object>;

    fn upgrade(&self) -> Option<ARef<Object>> {
        Weak::upgrade(self)
    }
}

/// An address space.
pub(crate) type Space = vm::Space<Resident>;
/// A mapped range of a space.
pub(crate) type Mapping = vm::Mapping<Resident>;
/// The owner of mapped pages.
pub(crate) type Owner<'a> = vm::Owner<'a, Resident>;
/// The address of a BO in a space.
pub(crate) type Binding = vm::Binding<Resident>;
/// All bindings of a BO.
pub(crate) type Bindings = vm::Bindings<Resident>;
