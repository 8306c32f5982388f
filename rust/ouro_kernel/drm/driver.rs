// SPDX-License-Identifier: GPL-2.0

//! The traits of a DRM driver, and the tables that the DRM core takes.

use core::marker::PhantomData;
use kernel::{bindings, module::ModuleMetadata, prelude::*, str::CStr};

use super::{dumb, ioctl, Device, File, Printer};
use crate::{
    gem::{self, DriverObject},
    task::Client,
};

/// A DRM driver, with any personality.
pub trait Driver: Sized + Send + Sync + 'static {
    /// The driver's data of a device. Embedded in [`Device`], which derefs to it; dropped with the
    /// last reference of the device, which may be long after the unbind.
    type Data: Send + Sync;

    /// The driver's data of an open file.
    type File: Send + Sync;

    /// The type of buffer objects.
    type Object: DriverObject<Driver = Self>;

    /// The module, which stays loaded while a file or a dma-buf is open: `crate::LocalModule`.
    type Module: ModuleMetadata;

    /// Opens a file for `client`.
    fn open(dev: &Device<Self>, client: &Client) -> Result<Pin<KBox<Self::File>>>;

    /// Closes a file; its handles are gone already.
    fn close(dev: &Device<Self>, file: Pin<KBox<Self::File>>) {
        let _ = (dev, file);
    }

    /// Creates a dumb buffer (`CREATE_DUMB`). The DRM core has checked that its size in bytes fits
    /// in 32 bits.
    ///
    /// Errors are returned by the ioctl.
    fn create_dumb(
        dev: &Device<Self>,
        file: &File<Self>,
        picture: dumb::Picture,
    ) -> Result<dumb::Buffer> {
        let _ = (dev, file, picture);
        Err(EOPNOTSUPP)
    }

    /// Returns the `mmap()` offset of a dumb buffer, or of any other object (`MAP_DUMB`).
    ///
    /// Errors are returned by the ioctl.
    fn dumb_offset(file: &File<Self>, handle: u32) -> Result<u64> {
        let _ = (file, handle);
        Err(EOPNOTSUPP)
    }
}

/// The name and version of a driver.
pub struct DriverInfo {
    /// Major version.
    pub major: i32,
    /// Minor version.
    pub minor: i32,
    /// Patch level.
    pub patchlevel: i32,
    /// Name, by which user space picks its own driver.
    pub name: &'static CStr,
    /// Description.
    pub desc: &'static CStr,
}

/// A uAPI that a driver's device can have.
pub trait Personality: Send + Sync + 'static {
    /// The driver.
    type Driver: Driver;

    /// The name and version.
    const INFO: DriverInfo;

    /// The ioctls: see [`ouro_kernel::ioctls!`](crate::ioctls).
    const IOCTLS: &'static ioctl::Table<Self::Driver>;

    /// Writes `/proc/<pid>/fdinfo/<fd>`: lines `key:\tvalue\n`.
    fn show_fdinfo(file: &File<Self::Driver>, printer: &mut Printer<'_>) {
        let _ = (file, printer);
    }
}

/// The tables of a personality.
pub(crate) struct Tables<P: Personality>(PhantomData<P>);

impl<P: Personality> Tables<P> {
    const FEATURES: u32 = bindings::drm_driver_feature_DRIVER_GEM
        | bindings::drm_driver_feature_DRIVER_RENDER
        | bindings::drm_driver_feature_DRIVER_SYNCOBJ
        | bindings::drm_driver_feature_DRIVER_SYNCOBJ_TIMELINE;

    /// The table without `release`, for a device whose data is not initialised yet.
    pub(crate) const UNFINISHED: bindings::drm_driver = bindings::drm_driver {
        release: None,
        ..Self::DRIVER
    };

    /// The table.
    pub(crate) const DRIVER: bindings::drm_driver = bindings::drm_driver {
        open: Some(File::<P::Driver>::open_callback),
        postclose: Some(File::<P::Driver>::postclose_callback),
        release: Some(Device::<P::Driver>::release_callback),
        gem_prime_import: Some(gem::prime::import_callback::<<P::Driver as Driver>::Object>),
        dumb_create: Some(dumb::create_callback::<P::Driver>),
        dumb_map_offset: Some(dumb::offset_callback::<P::Driver>),
        show_fdinfo: Some(File::<P::Driver>::show_fdinfo_callback::<P>),
        major: P::INFO.major,
        minor: P::INFO.minor,
        patchlevel: P::INFO.patchlevel,
        name: kernel::str::as_char_ptr_in_const_context(P::INFO.name).cast_mut(),
        desc: kernel::str::as_char_ptr_in_const_context(P::INFO.desc).cast_mut(),
        driver_features: Self::FEATURES,
        ioctls: P::IOCTLS.as_ptr(),
        num_ioctls: P::IOCTLS.len(),
        fops: &Self::FOPS,
        ..pin_init::zeroed()
    };

    const FOPS: bindings::file_operations = bindings::file_operations {
        owner: kernel::module::this_module::<<P::Driver as Driver>::Module>().as_ptr(),
        open: Some(bindings::drm_open),
        release: Some(bindings::drm_release),
        unlocked_ioctl: Some(bindings::drm_ioctl),
        compat_ioctl: ioctl::COMPAT,
        poll: Some(bindings::drm_poll),
        read: Some(bindings::drm_read),
        llseek: Some(bindings::noop_llseek),
        mmap: Some(gem::mmap::mmap_callback::<<P::Driver as Driver>::Object>),
        show_fdinfo: Some(bindings::drm_show_fdinfo),
        fop_flags: bindings::FOP_UNSIGNED_OFFSET,
        ..pin_init::zeroed()
    };
}
