// SPDX-License-Identifier: GPL-2.0

//! References that do not keep an object.

use core::marker::PhantomData;
use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    bindings, new_spinlock_irq,
    prelude::*,
    sync::{aref::ARef, Arc, SpinLockIrq},
};

use super::{DriverObject, Object};
use crate::raw;

/// Where an object is, while it has references.
///
/// # Invariants
///
/// The pointer is null, or an object whose memory is there: who frees it empties the cell first.
#[pin_data]
pub(super) struct Cell {
    #[pin]
    obj: SpinLockIrq<ObjectPtr>,
}

/// The pointer in a cell.
struct ObjectPtr(*mut bindings::drm_gem_object);

// SAFETY: An object may be used by any thread.
unsafe impl Send for ObjectPtr {}

impl Cell {
    /// Makes an empty one.
    pub(super) fn new() -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                obj <- new_spinlock_irq!(ObjectPtr(core::ptr::null_mut())),
            }),
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// The object is there now.
    pub(super) fn fill(&self, obj: *mut bindings::drm_gem_object) {
        self.obj.lock().0 = obj;
    }

    /// The object has no references any more. Any context.
    pub(super) fn empty(&self) {
        self.obj.lock().0 = core::ptr::null_mut();
    }
}

/// A reference that does not keep the object.
pub struct Weak<T: DriverObject> {
    cell: Arc<Cell>,
    _object: PhantomData<ARef<Object<T>>>,
}

impl<T: DriverObject> Clone for Weak<T> {
    fn clone(&self) -> Self {
        Self {
            cell: self.cell.clone(),
            _object: PhantomData,
        }
    }
}

impl<T: DriverObject> Weak<T> {
    /// The object, if it still has references. Any context; the reference that this returns may
    /// turn out to be the last one.
    pub fn upgrade(&self) -> Option<ARef<Object<T>>> {
        let place = self.cell.obj.lock();
        if place.0.is_null() {
            return None;
        }
        // SAFETY: By the invariant of the cell, whose lock is held. A count of zero stays zero.
        if !unsafe { raw::ouro_gem_get_unless_zero(place.0) } {
            return None;
        }
        // SAFETY: The reference was just taken; `downgrade()` has the type from the object.
        unsafe { Object::take(place.0) }
    }

    /// Whether both are, or were, of the same object.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.cell, &other.cell)
    }
}

impl<T: DriverObject> Object<T> {
    /// A reference that does not keep the object. Any context, allocates nothing.
    pub fn downgrade(&self) -> Weak<T> {
        Weak {
            cell: self.cell.clone(),
            _object: PhantomData,
        }
    }
}
