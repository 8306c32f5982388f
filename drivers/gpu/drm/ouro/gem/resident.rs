// SPDX-License-Identifier: GPL-2.0

//! Who lives in an address space, and can be asked to give its address up: buffer objects, images of
//! contexts, and directories. With that, the types of [`vm`](crate::vm) are those that the rest of the driver uses.

use kernel::sync::{aref::ARef, Arc};
use ouro_kernel::gem::Weak;

use super::{pinning::Evictable, Bo, Object};
use crate::vm::{self, population::Tenant};

/// Who has a range of a space.
#[derive(Clone)]
pub(crate) enum Resident {
    /// A buffer object, which its address does not keep.
    Object(Weak<Bo>),
    /// Something of the kernel's own, which is kept as long as it has an address.
    Hidden(Arc<dyn Evictable>),
}

/// Who can be asked to make room.
pub(crate) enum Victim {
    /// A buffer object.
    Object(ARef<Object>),
    /// The image of a context, or a directory.
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

/// A region of memory has objects alone.
impl Tenant for Weak<Bo> {
    type Kept = ARef<Object>;

    fn upgrade(&self) -> Option<ARef<Object>> {
        Weak::upgrade(self)
    }
}

/// An address space.
pub(crate) type Space = vm::Space<Resident>;
/// A range of a space, with pages in it.
pub(crate) type Mapping = vm::Mapping<Resident>;
/// Whose pages are mapped.
pub(crate) type Owner<'a> = vm::Owner<'a, Resident>;
/// Where the GPU sees an object.
pub(crate) type Binding = vm::Binding<Resident>;
/// All places where the GPU sees an object.
pub(crate) type Bindings = vm::Bindings<Resident>;
