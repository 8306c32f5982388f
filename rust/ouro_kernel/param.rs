// SPDX-License-Identifier: GPL-2.0

//! String parameters of the module.
//!
//! The kernel crate's `module!` declares numeric parameters; these are declared in C. The loader
//! writes them before the module is initialised, and they never change after that.

use crate::raw;
use kernel::prelude::*;

/// Returns the text of a parameter; an empty string if it is not UTF-8.
///
/// # Safety
///
/// `text` must be a C string that does not change while the module is loaded.
unsafe fn text(text: *const c_char) -> &'static str {
    // SAFETY: The caller says so.
    unsafe { CStr::from_char_ptr(text) }.to_str().unwrap_or("")
}

/// `probe=`: the devices that the driver may bind.
pub fn probe() -> &'static str {
    // SAFETY: The loader has written it, and sysfs can only read it.
    unsafe { text(raw::ouro_param_probe()) }
}

/// `stop_after=`: how far a device is brought up.
pub fn stop_after() -> &'static str {
    // SAFETY: As above.
    unsafe { text(raw::ouro_param_stop_after()) }
}
