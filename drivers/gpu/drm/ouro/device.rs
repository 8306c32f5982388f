// SPDX-License-Identifier: GPL-2.0

//! The names by which the DRM core's generic types know the driver.
//!
//! They stand below all floors, since the kernel ties an object's type to its driver's
//! (`DriverObject::Driver`). What the driver does is on the top floor, in [`driver`](crate::driver).

use ouro_kernel::drm;

/// The driver.
pub(crate) struct Ouro;

/// A DRM device.
pub(crate) type Device = drm::Device<Ouro>;
/// An open file.
pub(crate) type DrmFile = drm::File<Ouro>;
