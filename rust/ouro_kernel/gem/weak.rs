// SPDX-License-Identifier: GPL-2.0

//! Weak references to objects.

use core::marker::PhantomData;
use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    bindings, new_spinlock_irq,
    prelude::*,
    sync::{aref::ARef, Arc, SpinLockIrq},
};

use super::{DriverObject, Object};
use crate::raw;

/// The address of an object, while it has references.
///
/// # Invariants
///
/// The pointer is null, or an object whose memory is allocated: the cell is emptied before that is
/// freed.
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
    /// Creates an empty cell.
    pub(super) fn new() -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                obj <- new_spinlock_irq!(ObjectPtr(core::ptr::null_mut())),
            }),
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// Sets the object.
    pub(super) fn fill(&self, obj: *mut bindings::drm_gem_object) {
        self.obj.lock().0 = obj;
    }

    /// The object has no references any more. Any context.
    pub(super) fn empty(&self) {
        self.obj.lock().0 = core::ptr::null_mut();
    }
}

/// A weak reference to an object.
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
    /// Returns the object, if it still has references. Any context; the returned reference may turn
    /// out to be the last one.
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

    /// Returns whether both refer, or referred, to the same object.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.cell, &other.cell)
    }
}

impl<T: DriverObject> Object<T> {
    /// Creates a weak reference. Any context, allocates nothing.
    pub fn downgrade(&self) -> Weak<T> {
        Weak {
            cell: self.cell.clone(),
            _object: PhantomData,
        }
    }
}
