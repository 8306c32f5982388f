// SPDX-License-Identifier: GPL-2.0

//! Attributes in `/sys/class/drm/card<n>`, and directories of attributes below it.
//!
//! Attributes are added to a registered device, and removed with its registration, which waits for
//! readers and writers. A [`Folder`] is removed when it is dropped, or with the registration.

use core::{marker::PhantomData, ptr::NonNull};
use kernel::{bindings, error::to_result, fmt, prelude::*, sync::aref::ARef};

use super::{Device, Driver, Registration};
use crate::{pages::PAGE_SIZE, raw};

/// A binary attribute.
pub trait Binary<D: Driver>: 'static {
    /// The attribute's name.
    const NAME: &'static CStr;

    /// Whether root may write it.
    const WRITABLE: bool = false;

    /// Whether only root may read it.
    const PRIVATE: bool = false;

    /// Handles a read from `offset` on, of at most a page. The driver must prevent that the bytes
    /// change between two reads.
    ///
    /// Returns the number of bytes read; 0 is the end.
    fn read(dev: &Device<D>, offset: u64, out: &mut [u8]) -> Result<usize>;

    /// Handles a write of at most a page.
    fn write(dev: &Device<D>, offset: u64, data: &[u8]) -> Result {
        let _ = (dev, offset, data);
        Err(EINVAL)
    }
}

/// The page that an attribute's text is written to.
pub struct Text<'a> {
    page: *mut c_char,
    len: c_int,
    _life: PhantomData<&'a mut ()>,
}

impl Text<'_> {
    /// Appends text: `out.print(fmt!("{}\n", mhz))`. Text that does not fit is dropped.
    pub fn print(&mut self, args: fmt::Arguments<'_>) {
        // SAFETY: The page is that of an attribute; `%pA` takes a pointer to `fmt::Arguments`.
        self.len += unsafe {
            bindings::sysfs_emit_at(
                self.page,
                self.len,
                c"%pA".as_char_ptr(),
                core::ptr::from_ref(&args).cast::<c_void>(),
            )
        };
    }
}

/// Returns the common part of all attributes. With lockdep it has more fields, which are zero.
const fn attribute(name: &'static CStr, writable: bool) -> bindings::attribute {
    let mut attr: bindings::attribute = pin_init::zeroed();
    attr.name = kernel::str::as_char_ptr_in_const_context(name);
    attr.mode = if writable { 0o644 } else { 0o444 };
    attr
}

/// The device of an attribute.
///
/// # Safety
///
/// `kdev` is the device of the primary minor of a device of `D`, in a call for an attribute.
unsafe fn device_of<'a, D: Driver>(kdev: *mut bindings::device) -> &'a Device<D> {
    // SAFETY: By the requirement of this function: the DRM core keeps the minor there.
    unsafe {
        let minor = (*kdev).driver_data.cast::<bindings::drm_minor>();
        Device::from_raw((*minor).dev)
    }
}

impl<D: Driver> Registration<D> {
    /// Adds a directory. `name` is copied. It should be dropped before the registration.
    ///
    /// Errors: `ENOMEM`, also if the directory exists; `ENODEV` after the unbind.
    pub fn folder(&self, name: &CStr) -> Result<Folder<D>> {
        // SAFETY: The device is registered.
        self.with_kdev(|kdev| unsafe { Folder::new(self.device(), name, &raw mut (*kdev).kobj) })
    }

    /// Adds a text attribute, whose number is 0.
    ///
    /// Errors: `EEXIST`, `ENOMEM`; `ENODEV` after the unbind.
    pub fn value<V: Value<D>>(&self) -> Result {
        self.with_kdev(|kdev| {
            // SAFETY: The device is registered, and takes its attributes along. The attribute lives
            // forever.
            to_result(unsafe {
                bindings::device_create_file(kdev, const { &DeviceOps::<D, V>::ATTR })
            })
        })
    }

    /// Adds a binary attribute.
    ///
    /// Errors: `EEXIST`, `ENOMEM`; `ENODEV` after the unbind.
    pub fn binary<B: Binary<D>>(&self) -> Result {
        self.with_kdev(|kdev| {
            // SAFETY: The device is registered, and takes its attributes along. The attribute lives
            // forever.
            to_result(unsafe {
                bindings::sysfs_create_bin_file(
                    &raw mut (*kdev).kobj,
                    const { &BinaryOps::<D, B>::ATTR },
                )
            })
        })
    }
}

/// The operations of a binary attribute.
struct BinaryOps<D: Driver, B: Binary<D>>(PhantomData<(D, B)>);

impl<D: Driver, B: Binary<D>> BinaryOps<D, B> {
    const ATTR: bindings::bin_attribute = bindings::bin_attribute {
        attr: {
            let mut attr = attribute(B::NAME, B::WRITABLE);
            if B::PRIVATE {
                attr.mode &= 0o600;
            }
            attr
        },
        read: Some(Self::read),
        write: if B::WRITABLE { Some(Self::write) } else { None },
        ..pin_init::zeroed()
    };

    /// # Safety
    ///
    /// Called by sysfs for an attribute of ours.
    unsafe extern "C" fn read(
        _file: *mut bindings::file,
        kobj: *mut bindings::kobject,
        _attr: *const bindings::bin_attribute,
        page: *mut c_char,
        offset: bindings::loff_t,
        len: usize,
    ) -> isize {
        // SAFETY: By the requirement of this function: devices embed their kobject, and the
        // memory, which is cleared first, has that length.
        let (dev, out) = unsafe {
            let kdev = kernel::container_of!(kobj, bindings::device, kobj);
            core::ptr::write_bytes(page, 0, len);
            (
                device_of::<D>(kdev),
                core::slice::from_raw_parts_mut(page.cast::<u8>(), len.min(PAGE_SIZE)),
            )
        };
        match B::read(dev, offset as u64, out) {
            Ok(n) => n.min(len) as isize,
            Err(e) => e.to_errno() as isize,
        }
    }

    /// # Safety
    ///
    /// Called by sysfs for an attribute of ours.
    unsafe extern "C" fn write(
        _file: *mut bindings::file,
        kobj: *mut bindings::kobject,
        _attr: *const bindings::bin_attribute,
        data: *mut c_char,
        offset: bindings::loff_t,
        len: usize,
    ) -> isize {
        // SAFETY: By the requirement of this function: devices embed their kobject.
        let (dev, data) = unsafe {
            let kdev = kernel::container_of!(kobj, bindings::device, kobj);
            (
                device_of::<D>(kdev),
                core::slice::from_raw_parts(data.cast::<u8>().cast_const(), len),
            )
        };
        match B::write(dev, offset as u64, data) {
            Ok(()) => len as isize,
            Err(e) => e.to_errno() as isize,
        }
    }
}

/// A text attribute of a device, or in a [`Folder`]. Directories may have attributes of the same
/// type, distinguished by a number.
pub trait Value<D: Driver>: 'static {
    /// The attribute's name.
    const NAME: &'static CStr;

    /// Whether root may write it.
    const WRITABLE: bool = false;

    /// Handles a read. The text must end with a newline.
    fn show(dev: &Device<D>, number: usize, out: &mut Text<'_>) -> Result;

    /// Handles a write.
    fn store(dev: &Device<D>, number: usize, data: &[u8]) -> Result {
        let _ = (dev, number, data);
        Err(EINVAL)
    }
}

/// The data by which the operations find an attribute.
#[repr(C)]
struct Entry<D: Driver> {
    attr: bindings::kobj_attribute,
    dev: ARef<Device<D>>,
    number: usize,
}

/// A directory of attributes. Dropping it removes them, and waits for readers and writers. It must
/// be dropped, and not forgotten, before the module is unloaded, because its operations are code of
/// the module.
///
/// # Invariants
///
/// `kobj` is a directory in sysfs of which this owns a reference. All its attributes are in
/// `entries`.
pub struct Folder<D: Driver> {
    kobj: NonNull<bindings::kobject>,
    dev: ARef<Device<D>>,
    entries: KVec<KBox<Entry<D>>>,
}

// SAFETY: sysfs objects may be used by any thread; the device is `Send` and `Sync`.
unsafe impl<D: Driver> Send for Folder<D> {}
// SAFETY: As above; changing it takes `&mut`.
unsafe impl<D: Driver> Sync for Folder<D> {}

impl<D: Driver> Folder<D> {
    /// # Safety
    ///
    /// `parent` is an object in sysfs, below the device's or the device's own.
    unsafe fn new(
        dev: &ARef<Device<D>>,
        name: &CStr,
        parent: *mut bindings::kobject,
    ) -> Result<Self> {
        // SAFETY: By the requirement of this function; the name is copied.
        let kobj = unsafe { bindings::kobject_create_and_add(name.as_char_ptr(), parent) };
        // INVARIANT: The reference is ours, and there are no values.
        Ok(Self {
            kobj: NonNull::new(kobj).ok_or(ENOMEM)?,
            dev: dev.clone(),
            entries: KVec::new(),
        })
    }

    /// Adds a directory. It should be dropped before its parent.
    ///
    /// Errors: `ENOMEM`, also if the directory exists.
    pub fn folder(&self, name: &CStr) -> Result<Self> {
        // SAFETY: By the invariant.
        unsafe { Self::new(&self.dev, name, self.kobj.as_ptr()) }
    }

    /// Adds an attribute.
    ///
    /// Errors: `EEXIST`, `ENOMEM`.
    pub fn value<V: Value<D>>(&mut self, number: usize) -> Result {
        let entry = Entry {
            attr: bindings::kobj_attribute {
                attr: attribute(V::NAME, V::WRITABLE),
                __bindgen_anon_1: bindings::kobj_attribute__bindgen_ty_1 {
                    show: Some(ValueOps::<D, V>::show),
                },
                __bindgen_anon_2: bindings::kobj_attribute__bindgen_ty_2 {
                    store: if V::WRITABLE {
                        Some(ValueOps::<D, V>::store)
                    } else {
                        None
                    },
                },
            },
            dev: self.dev.clone(),
            number,
        };
        self.entries
            .push(KBox::new(entry, GFP_KERNEL)?, GFP_KERNEL)?;
        let entry = self.entries.last_mut().ok_or(ENOMEM)?;
        // SAFETY: The folder is in sysfs; the box stays where it is until it is not any more.
        let added =
            to_result(unsafe { raw::ouro_sysfs_value(self.kobj.as_ptr(), &raw mut entry.attr) });
        if added.is_err() {
            self.entries.pop();
        }
        added
    }
}

impl<D: Driver> Drop for Folder<D> {
    fn drop(&mut self) {
        // SAFETY: By the invariant. This waits for readers and writers. A folder whose parent
        // has gone already is out of sysfs, which this copes with.
        unsafe {
            bindings::kobject_del(self.kobj.as_ptr());
            bindings::kobject_put(self.kobj.as_ptr());
        }
    }
}

/// Answers a read with the attribute's text on a page; returns its length, or a negative errno.
fn show<D: Driver, V: Value<D>>(dev: &Device<D>, number: usize, page: *mut c_char) -> isize {
    let mut text = Text {
        page,
        len: 0,
        _life: PhantomData,
    };
    match V::show(dev, number, &mut text) {
        Ok(()) => text.len as isize,
        Err(e) => e.to_errno() as isize,
    }
}

/// Answers a write of `data`; returns its length, or a negative errno.
fn store<D: Driver, V: Value<D>>(dev: &Device<D>, number: usize, data: &[u8]) -> isize {
    match V::store(dev, number, data) {
        Ok(()) => data.len() as isize,
        Err(e) => e.to_errno() as isize,
    }
}

/// The operations of a text attribute of a device.
struct DeviceOps<D: Driver, V: Value<D>>(PhantomData<(D, V)>);

impl<D: Driver, V: Value<D>> DeviceOps<D, V> {
    const ATTR: bindings::device_attribute = bindings::device_attribute {
        attr: attribute(V::NAME, V::WRITABLE),
        __bindgen_anon_1: bindings::device_attribute__bindgen_ty_1 {
            show: Some(Self::show),
        },
        __bindgen_anon_2: bindings::device_attribute__bindgen_ty_2 {
            store: if V::WRITABLE { Some(Self::store) } else { None },
        },
    };

    /// # Safety
    ///
    /// Called by the driver core for an attribute of ours.
    unsafe extern "C" fn show(
        kdev: *mut bindings::device,
        _attr: *mut bindings::device_attribute,
        page: *mut c_char,
    ) -> isize {
        // SAFETY: By the requirement of this function.
        show::<D, V>(unsafe { device_of::<D>(kdev) }, 0, page)
    }

    /// # Safety
    ///
    /// Called by the driver core for an attribute of ours.
    unsafe extern "C" fn store(
        kdev: *mut bindings::device,
        _attr: *mut bindings::device_attribute,
        data: *const c_char,
        len: usize,
    ) -> isize {
        // SAFETY: By the requirement of this function.
        let (dev, data) = unsafe {
            (
                device_of::<D>(kdev),
                core::slice::from_raw_parts(data.cast(), len),
            )
        };
        store::<D, V>(dev, 0, data)
    }
}

/// The operations of a text attribute in a [`Folder`].
struct ValueOps<D: Driver, V: Value<D>>(PhantomData<(D, V)>);

impl<D: Driver, V: Value<D>> ValueOps<D, V> {
    /// # Safety
    ///
    /// Called by sysfs for a value of a [`Folder`].
    unsafe extern "C" fn show(
        _kobj: *mut bindings::kobject,
        attr: *mut bindings::kobj_attribute,
        page: *mut c_char,
    ) -> isize {
        // SAFETY: By the requirement of this function; it is the first field.
        let entry = unsafe { &*attr.cast::<Entry<D>>() };
        show::<D, V>(&entry.dev, entry.number, page)
    }

    /// # Safety
    ///
    /// Called by sysfs for a value of a [`Folder`].
    unsafe extern "C" fn store(
        _kobj: *mut bindings::kobject,
        attr: *mut bindings::kobj_attribute,
        data: *const c_char,
        len: usize,
    ) -> isize {
        // SAFETY: By the requirement of this function; it is the first field.
        let (entry, data) = unsafe {
            (
                &*attr.cast::<Entry<D>>(),
                core::slice::from_raw_parts(data.cast(), len),
            )
        };
        store::<D, V>(&entry.dev, entry.number, data)
    }
}
