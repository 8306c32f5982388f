// SPDX-License-Identifier: GPL-2.0

//! Handles: the names of a file's objects.

use kernel::{bindings, error::to_result, prelude::*, sync::aref::ARef};

use super::{DriverObject, Object};
use crate::drm::File;

impl<T: DriverObject> Object<T> {
    /// Creates a handle in the file, which holds a reference.
    ///
    /// Errors: `ENOMEM`, `ENOSPC`, those of [`DriverObject::open()`].
    pub fn create_handle(&self, file: &File<T::Driver>) -> Result<u32> {
        let mut handle = 0;
        // SAFETY: The file is open; the object is of its device, or gets an error below.
        to_result(unsafe {
            if (*file.as_raw()).minor.is_null()
                || (*(*file.as_raw()).minor).dev != (*self.as_raw()).dev
            {
                return Err(EINVAL);
            }
            bindings::drm_gem_handle_create(file.as_raw(), self.as_raw(), &mut handle)
        })?;
        Ok(handle)
    }

    /// Returns the object of a handle.
    ///
    /// Errors: `ENOENT`.
    pub fn lookup(file: &File<T::Driver>, handle: u32) -> Result<ARef<Self>> {
        // SAFETY: The file is open. Its objects are of its device, hence ours, and the call
        // returns a reference.
        unsafe { Self::take(bindings::drm_gem_object_lookup(file.as_raw(), handle)) }.ok_or(ENOENT)
    }

    /// Returns the objects of many handles, in order. Allocates.
    ///
    /// Errors: `ENOENT` if a handle is unknown; `ENOMEM`.
    pub fn lookup_many(
        file: &File<T::Driver>,
        handles: impl ExactSizeIterator<Item = u32>,
    ) -> Result<KVVec<ARef<Self>>> {
        let mut objects = KVVec::with_capacity(handles.len(), GFP_KERNEL)?;
        for handle in handles {
            objects.push(Self::lookup(file, handle)?, GFP_KERNEL)?;
        }
        Ok(objects)
    }
}
