// SPDX-License-Identifier: GPL-2.0

//! The types of the DRM core's generics for this driver.
//!
//! They are below all other layers, because the kernel's abstractions tie an object's type to its
//! driver (`DriverObject::Driver`). The driver's implementation is in the top layer, in
//! [`driver`](crate::driver).

use ouro_kernel::drm;

/// The driver.
pub(crate) struct Ouro;

/// A DRM device.
pub(crate) type Device = drm::Device<Ouro>;
/// An open file.
pub(crate) type DrmFile = drm::File<Ouro>;
