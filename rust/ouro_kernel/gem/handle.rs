// SPDX-License-Identifier: GPL-2.0

//! Handles: the names of a file's objects.

use core::{marker::PhantomData, mem::MaybeUninit};
use kernel::{bindings, error::to_result, prelude::*, sync::aref::ARef};

use super::{DriverObject, Object};
use crate::{drm::File, raw};

/// Most handles that [`Found::look_up()`] looks up.
pub const SOME: usize = 16;

/// The objects of some handles, in order; `None` for one that is unknown.
///
/// # Invariants
///
/// Each pointer from `next` up to `len` is null or an object with a reference that this owns.
pub struct Found<T: DriverObject> {
    objects: [MaybeUninit<*mut bindings::drm_gem_object>; SOME],
    next: usize,
    len: usize,
    _objects: PhantomData<ARef<Object<T>>>,
}

impl<T: DriverObject> Found<T> {
    /// Returns none.
    #[inline]
    pub fn none() -> Self {
        Self {
            objects: [const { MaybeUninit::uninit() }; SOME],
            next: 0,
            len: 0,
            _objects: PhantomData,
        }
    }

    /// Looks up the handles of some values, the first [`SOME`] of them.
    #[inline]
    pub fn look_up<A>(&mut self, file: &File<T::Driver>, some: &[A], handle: impl Fn(&A) -> u32) {
        self.clear();
        let mut handles = [0; SOME];
        for (to, value) in handles.iter_mut().zip(some) {
            *to = handle(value);
        }
        let len = some.len().min(SOME);
        // SAFETY: The file is open. Its objects are of its device, hence ours. There are `SOME`
        // handles, and room for as many objects.
        unsafe {
            raw::ouro_gem_lookup(
                file.as_raw(),
                handles.as_ptr(),
                self.objects.as_mut_ptr().cast(),
                len as u32,
            )
        };
        // INVARIANT: Each comes with a reference.
        self.next = 0;
        self.len = len;
    }

    /// Drops the objects that were not taken.
    #[inline]
    fn clear(&mut self) {
        while self.next < self.len {
            drop(self.next());
        }
    }
}

impl<T: DriverObject> Iterator for Found<T> {
    type Item = Option<ARef<Object<T>>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.len {
            return None;
        }
        let object = self.objects.get(self.next)?;
        self.next += 1;
        // SAFETY: By the invariant it was written; it is taken once.
        Some(unsafe { Object::take(object.assume_init()) })
    }
}

impl<T: DriverObject> Drop for Found<T> {
    fn drop(&mut self) {
        self.clear();
    }
}

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

    /// Calls `f` with the object of a handle, under a spinlock: `f` must not sleep, or drop the
    /// last reference of an object.
    ///
    /// Errors: `ENOENT`.
    pub fn with<R>(file: &File<T::Driver>, handle: u32, f: impl FnOnce(&Self) -> R) -> Result<R> {
        /// # Safety
        ///
        /// Called with an object of `T`, which stays meanwhile, and a pair as below that no other
        /// code uses.
        unsafe extern "C" fn each<T: DriverObject, R, F: FnOnce(&Object<T>) -> R>(
            obj: *mut bindings::drm_gem_object,
            data: *mut c_void,
        ) {
            // SAFETY: By the requirement of this function.
            let ((f, result), obj) = unsafe {
                (
                    &mut *data.cast::<(Option<F>, Option<R>)>(),
                    Object::<T>::from_raw(obj),
                )
            };
            *result = f.take().map(|f| f(obj));
        }

        fn calls<T: DriverObject, R, F: FnOnce(&Object<T>) -> R>(
            _: &(Option<F>, Option<R>),
        ) -> unsafe extern "C" fn(*mut bindings::drm_gem_object, *mut c_void) {
            each::<T, R, F>
        }

        let mut data = (Some(f), None);
        let each = calls::<T, R, _>(&data);
        // SAFETY: The file is open, and its objects are of its device, hence of `T`. The call is
        // during this one alone.
        unsafe { raw::ouro_gem_with(file.as_raw(), handle, Some(each), (&raw mut data).cast()) };
        data.1.ok_or(ENOENT)
    }
}
