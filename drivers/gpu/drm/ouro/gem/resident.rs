// SPDX-License-Identifier: GPL-2.0

//! The tenants of address spaces, which can be evicted: BOs, context images, and page directories.
//! The type aliases are the [`vm`](crate::vm) types that the rest of the driver uses.

use kernel::sync::{aref::ARef, Arc};
use ouro_kernel::gem::Weak;

use super::{pinning::Evictable, Bo, Object};
use crate::vm::{self, population::Tenant};

/// A tenant of an address space.
#[derive(Clone)]
pub(crate) enum Resident {
    /// A BO; its address does not keep it alive.
    Object(Weak<Bo>),
    /// A kernel object; its address keeps it alive.
    Hidden(Arc<dyn Evictable>),
}

/// A tenant to evict.
pub(crate) enum Victim {
    /// A BO.
    Object(ARef<Object>),
    /// A context image or a page directory.
    Hidden(Arc<dyn Evictable>),
}

impl Tenant for Resident {
    type Kept = Victim;

    fn upgrade(&self) -> Option<Victim> {
        match self {
            Resident::Object(object) => object.upgrade().map(Victim::Object),
            Resident::Hidden(hidden) => Some(Victim::Hidden(hidden.clone())),
        }
    }
}

/// The tenants of a region of memory are BOs.
impl Tenant for Weak<Bo> {
    type Kept = ARef<Object>;

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
