// SPDX-License-Identifier: GPL-2.0

//! What a driver is, and the tables that the DRM core wants of it.

use core::marker::PhantomData;
use kernel::{bindings, module::ModuleMetadata, prelude::*, str::CStr};

use super::{dumb, ioctl, Device, File, Printer};
use crate::{
    gem::{self, DriverObject},
    task::Client,
};

/// A DRM driver, whatever face it shows.
pub trait Driver: Sized + Send + Sync + 'static {
    /// What each device has. Embedded in [`Device`], which derefs to it; dropped with the last
    /// reference of the device, which may be long after the unbind.
    type Data: Send + Sync;

    /// What each open file has.
    type File: Send + Sync;

    /// The buffer objects.
    type Object: DriverObject<Driver = Self>;

    /// The module, which stays while a file or a dma-buf is open: `crate::LocalModule`.
    type Module: ModuleMetadata;

    /// A file is opened by `client`.
    fn open(dev: &Device<Self>, client: &Client) -> Result<Pin<KBox<Self::File>>>;

    /// A file is closed; its handles are gone already.
    fn close(dev: &Device<Self>, file: Pin<KBox<Self::File>>) {
        let _ = (dev, file);
    }

    /// Somebody wants a buffer for a picture that the CPU draws. The DRM core has looked that its
    /// bytes are less than 32 bits can count.
    ///
    /// Errors go to `CREATE_DUMB`.
    fn create_dumb(
        dev: &Device<Self>,
        file: &File<Self>,
        picture: dumb::Picture,
    ) -> Result<dumb::Buffer> {
        let _ = (dev, file, picture);
        Err(EOPNOTSUPP)
    }

    /// The offset for `mmap()` of such a buffer, or of any other object.
    ///
    /// Errors go to `MAP_DUMB`.
    fn dumb_offset(file: &File<Self>, handle: u32) -> Result<u64> {
        let _ = (file, handle);
        Err(EOPNOTSUPP)
    }
}

/// How a driver calls itself.
pub struct DriverInfo {
    /// Major version.
    pub major: i32,
    /// Minor version.
    pub minor: i32,
    /// Patch level.
    pub patchlevel: i32,
    /// Name, by which user space picks its own driver.
    pub name: &'static CStr,
    /// In words.
    pub desc: &'static CStr,
}

/// A face of a driver.
pub trait Personality: Send + Sync + 'static {
    /// The driver.
    type Driver: Driver;

    /// How it calls itself.
    const INFO: DriverInfo;

    /// Its ioctls: see [`ouro_kernel::ioctls!`](crate::ioctls).
    const IOCTLS: &'static ioctl::Table<Self::Driver>;

    /// Somebody reads `/proc/<pid>/fdinfo/<fd>`: lines `key:\tvalue\n`.
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

    /// The table, but without `release`: for a device whose data is not there yet.
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
