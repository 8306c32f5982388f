// SPDX-License-Identifier: GPL-2.0

//! DRM devices: all fields of `struct drm_driver` and of the file operations that a render driver
//! needs. `kernel::drm` keeps its tables private, and lacks some of these.
//!
//! A [`Driver`] defines the data of a device, of an open file and of an object. A [`Personality`]
//! is a uAPI that such a device has: name, version and ioctls. A driver can have several
//! personalities; a device gets one when it is created.

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
