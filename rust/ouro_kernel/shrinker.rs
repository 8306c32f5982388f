// SPDX-License-Identifier: GPL-2.0

//! Shrinkers: memory that the system can reclaim.
//!
//! C header: `include/linux/shrinker.h`

use core::ptr::NonNull;
use kernel::{bindings, prelude::*, sync::Arc};

use crate::raw;

/// An owner of reclaimable memory.
///
/// The functions are called by tasks that may hold any lock under which memory is allocated: take
/// locks only by trying, do not allocate, do not wait for the GPU.
pub trait Shrink: Send + Sync + 'static {
    /// Returns how many pages could be freed. An estimate suffices.
    fn count(&self) -> usize;

    /// Frees about so many pages.
    ///
    /// Returns how many; `None` if no progress is possible now.
    fn scan(&self, pages: usize) -> Option<usize>;
}

/// Returns the number of free swap pages.
pub fn swap_pages() -> usize {
    // SAFETY: No requirement.
    let pages = unsafe { raw::ouro_swap_pages() };
    usize::try_from(pages).unwrap_or(0)
}

/// A registered shrinker. The unbind does not end it: it must be dropped, and not forgotten, before
/// the module is unloaded, because it calls code of the module.
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
    /// Registers a shrinker, which may be called before this returns. It holds `data` until it is
    /// dropped.
    ///
    /// Errors: `ENOMEM`.
    pub fn new(name: &CStr, data: Arc<T>) -> Result<Self> {
        // SAFETY: A C string, which is copied.
        let ptr = unsafe { raw::ouro_shrinker_alloc(name.as_char_ptr()) };
        let ptr = NonNull::new(ptr).ok_or(ENOMEM)?;
        let data = Arc::into_raw(data);
        // SAFETY: No other code knows it yet.
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
