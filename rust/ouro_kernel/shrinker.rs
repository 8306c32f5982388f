// SPDX-License-Identifier: GPL-2.0

//! Giving memory back when the system wants it.
//!
//! C header: `include/linux/shrinker.h`

use core::ptr::NonNull;
use kernel::{bindings, prelude::*, sync::Arc};

use crate::raw;

/// Who has memory to give back.
///
/// Both are called when somebody needs memory, who may hold any lock under which one may
/// allocate: take locks only by trying, do not allocate, do not wait for the GPU.
pub trait Shrink: Send + Sync + 'static {
    /// How many pages could be given back. A guess will do.
    fn count(&self) -> usize;

    /// Gives back about so many pages.
    ///
    /// Returns how many it was; `None` if there is no getting on now.
    fn scan(&self, pages: usize) -> Option<usize>;
}

/// Pages that there is room for in swap.
pub fn swap_pages() -> usize {
    // SAFETY: No requirement.
    let pages = unsafe { raw::ouro_swap_pages() };
    usize::try_from(pages).unwrap_or(0)
}

/// A registered shrinker. It does not end with the unbind by itself: to be dropped, and not forgotten,
/// before the module goes, whose code it calls.
///
/// # Invariants
///
/// `ptr` is registered, and its private data is `data`, which came from an `Arc`.
pub struct Shrinker<T: Shrink> {
    ptr: NonNull<bindings::shrinker>,
    data: *const T,
}

// SAFETY: Only a registration, and a reference of something that is `Send` and `Sync`.
unsafe impl<T: Shrink> Send for Shrinker<T> {}
// SAFETY: As above.
unsafe impl<T: Shrink> Sync for Shrinker<T> {}

impl<T: Shrink> Shrinker<T> {
    /// Registers one, which may be called before this returns. It holds `data` until it is
    /// dropped.
    ///
    /// Errors: `ENOMEM`.
    pub fn new(name: &CStr, data: Arc<T>) -> Result<Self> {
        // SAFETY: A C string, which is copied.
        let ptr = unsafe { raw::ouro_shrinker_alloc(name.as_char_ptr()) };
        let ptr = NonNull::new(ptr).ok_or(ENOMEM)?;
        let data = Arc::into_raw(data);
        // SAFETY: Nobody else knows it yet.
        unsafe {
            let shrinker = ptr.as_ptr();
            (*shrinker).count_objects = Some(count::<T>);
            (*shrinker).scan_objects = Some(scan::<T>);
            (*shrinker).private_data = data.cast_mut().cast();
            bindings::shrinker_register(shrinker);
        }
        // INVARIANT: Just done.
        Ok(Self { ptr, data })
    }
}

impl<T: Shrink> Drop for Shrinker<T> {
    fn drop(&mut self) {
        // SAFETY: By the invariant. Waits until no call is running; there will be none after.
        unsafe {
            bindings::shrinker_free(self.ptr.as_ptr());
            drop(Arc::from_raw(self.data));
        }
    }
}

/// # Safety
///
/// Called for the shrinker of a [`Shrinker<T>`].
unsafe extern "C" fn count<T: Shrink>(
    shrinker: *mut bindings::shrinker,
    _control: *mut bindings::shrink_control,
) -> c_ulong {
    // SAFETY: By the requirement of this function, and the invariant of `Shrinker`.
    unsafe { &*(*shrinker).private_data.cast::<T>() }.count()
}

/// # Safety
///
/// Called for the shrinker of a [`Shrinker<T>`].
unsafe extern "C" fn scan<T: Shrink>(
    shrinker: *mut bindings::shrinker,
    control: *mut bindings::shrink_control,
) -> c_ulong {
    // SAFETY: By the requirement of this function, and the invariant of `Shrinker`.
    let (data, pages) = unsafe {
        (
            &*(*shrinker).private_data.cast::<T>(),
            (*control).nr_to_scan,
        )
    };
    // `SHRINK_STOP`
    data.scan(pages).unwrap_or(usize::MAX)
}
