// SPDX-License-Identifier: GPL-2.0

//! `drm_printer`: output to fdinfo, debugfs, and the log.

use core::{marker::PhantomData, ptr::NonNull};
use kernel::{bindings, device, fmt, prelude::*};

use crate::{pci::raw_device, raw};

/// A `struct drm_printer`.
///
/// # Invariants
///
/// The pointer is valid for as long as `'a`.
pub struct Printer<'a>(NonNull<bindings::drm_printer>, PhantomData<&'a mut ()>);

impl Printer<'_> {
    /// The printer behind a pointer.
    ///
    /// # Safety
    ///
    /// It is not null, and valid for as long as the result is used.
    pub(crate) unsafe fn from_raw(ptr: *mut bindings::drm_printer) -> Self {
        // SAFETY: By the requirement of this function.
        Self(unsafe { NonNull::new_unchecked(ptr) }, PhantomData)
    }

    /// Returns the C printer.
    pub(crate) fn as_raw(&mut self) -> *mut bindings::drm_printer {
        self.0.as_ptr()
    }

    /// Prints: `printer.print(fmt!("drm-engine-render:\t{} ns\n", ns))`.
    pub fn print(&mut self, args: fmt::Arguments<'_>) {
        // SAFETY: By the invariant; `%pA` takes a pointer to `fmt::Arguments`.
        unsafe {
            raw::drm_printf(
                self.0.as_ptr(),
                c"%pA".as_char_ptr(),
                core::ptr::from_ref(&args).cast::<c_void>(),
            )
        }
    }
}

/// Prints to the log if DRM driver messages are enabled (`drm.debug=2`), as `drm_dbg()` does:
/// `print::debug(dev, fmt!("refused by {rule}\n"))`. Any context.
pub fn debug(dev: &device::Device, args: fmt::Arguments<'_>) {
    let args = core::ptr::from_ref(&args).cast::<c_void>();
    // SAFETY: The device is valid by the reference; `%pA` takes a pointer to `fmt::Arguments`.
    unsafe { raw::ouro_drm_dbg(raw_device(dev), c"%pA".as_char_ptr(), args) }
}
