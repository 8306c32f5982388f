// SPDX-License-Identifier: GPL-2.0

//! DRM devices, complete: every field of `struct drm_driver` and of its file operations that a
//! render driver needs, which `kernel::drm` builds privately and without them.
//!
//! A [`Driver`] says what the data of a device, of an open file and of an object are. A
//! [`Personality`] is a face that such a device shows to user space: name, version and ioctls. A
//! driver can have several personalities; a device gets one when it is made.

pub mod debugfs;
pub mod device;
pub mod driver;
pub mod dumb;
pub mod event;
pub mod file;
pub mod ioctl;
pub mod print;
pub mod sysfs;

pub use self::debugfs::{DebugFile, DebugHold};
pub use self::device::{Device, Registration, UnregisteredDevice};
pub use self::driver::{Driver, DriverInfo, Personality};
pub use self::file::File;
pub use self::print::Printer;
