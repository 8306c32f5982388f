// SPDX-License-Identifier: GPL-2.0

//! Parameters of the module that are text.
//!
//! The kernel crate's `module!` declares those that are numbers; these are declared in C, where the
//! loader writes them before the module begins, and nobody afterwards.

use crate::raw;
use kernel::prelude::*;

/// The text of a parameter; of one that is not UTF-8, nothing.
///
/// # Safety
///
/// `text` is a C string that stays as it is as long as the module is there.
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
