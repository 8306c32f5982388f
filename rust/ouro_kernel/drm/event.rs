// SPDX-License-Identifier: GPL-2.0

//! The primary node of a device: its number, and its uevents (`KOBJ_CHANGE`).
//!
//! C header: `include/linux/kobject.h`

use kernel::{bindings, error::to_result, prelude::*};

use super::{Device, Driver};

impl<D: Driver> Device<D> {
    /// Returns the number n of its primary node `card<n>`. Any context.
    pub fn card(&self) -> u32 {
        // SAFETY: A device has a primary minor for as long as it lives, whose number does not
        // change.
        unsafe { (*(*self.as_raw()).primary).index as u32 }
    }

    /// Sends a uevent with a variable, such as `ERROR=1`. Allocates; sleeps.
    ///
    /// Errors: `ENODEV` before the device is registered and after it was unplugged, `ENOMEM`.
    pub fn announce(&self, variable: &'static CStr) -> Result {
        let mut idx = 0;
        // SAFETY: A reference to a device is one to a device that lives.
        if !unsafe { bindings::drm_dev_enter(self.as_raw(), &mut idx) } {
            return Err(ENODEV);
        }
        // SAFETY: The device is not unplugged until `drm_dev_exit()`. One that is registered has a
        // primary node, whose kernel object is alive until the device is unregistered, which comes
        // after that.
        let done = unsafe {
            let dev = self.as_raw();
            if (*dev).registered {
                let mut list = [variable.as_char_ptr().cast_mut(), core::ptr::null_mut()];
                to_result(bindings::kobject_uevent_env(
                    &raw mut (*(*(*dev).primary).kdev).kobj,
                    bindings::kobject_action_KOBJ_CHANGE,
                    list.as_mut_ptr(),
                ))
            } else {
                Err(ENODEV)
            }
        };
        // SAFETY: Entered above.
        unsafe { bindings::drm_dev_exit(idx) };
        done
    }
}
