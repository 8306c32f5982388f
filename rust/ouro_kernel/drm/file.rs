// SPDX-License-Identifier: GPL-2.0

//! Open files.
//!
//! C header: `include/drm/drm_file.h`

use kernel::{bindings, prelude::*, types::Opaque};

use super::{Device, Driver, Printer};
use crate::{raw, task::Client};

/// What `driver_priv` of a `drm_file` points to.
struct Private<D: Driver> {
    client: Client,
    data: Pin<KBox<D::File>>,
}

/// An open file: a `struct drm_file` with the data of its driver, to which it derefs.
///
/// A reference exists only in a call for that file. What must outlive the file is an `Arc` in the
/// data of the driver.
///
/// # Invariants
///
/// It is a file of a device of `D`, and `driver_priv` is a [`Private`] box.
#[repr(transparent)]
pub struct File<D: Driver>(Opaque<bindings::drm_file>, core::marker::PhantomData<D>);

impl<D: Driver> core::ops::Deref for File<D> {
    type Target = D::File;

    fn deref(&self) -> &D::File {
        &self.private().data
    }
}

impl<D: Driver> File<D> {
    /// The file behind a pointer.
    ///
    /// # Safety
    ///
    /// An open file of a device of this driver, open for as long as `'a`.
    pub(crate) unsafe fn from_raw<'a>(ptr: *mut bindings::drm_file) -> &'a Self {
        // SAFETY: By the requirement of this function; the type is transparent.
        unsafe { &*ptr.cast() }
    }

    /// The C file.
    pub(crate) fn as_raw(&self) -> *mut bindings::drm_file {
        self.0.get()
    }

    fn private(&self) -> &Private<D> {
        // SAFETY: By the invariant.
        unsafe { &*(*self.as_raw()).driver_priv.cast::<Private<D>>() }
    }

    /// The data of the driver.
    pub fn inner(&self) -> Pin<&D::File> {
        self.private().data.as_ref()
    }

    /// Who opened it.
    pub fn client(&self) -> &Client {
        &self.private().client
    }

    /// Prints how much memory the objects have that this file has handles of: total, shared,
    /// resident, purgeable, active, each a line for the region `memory`. Sleeps.
    pub fn show_memory(&self, printer: &mut Printer<'_>) {
        // SAFETY: Both are valid; the file is open.
        unsafe { bindings::drm_show_memory_stats(printer.as_raw(), self.as_raw()) }
    }

    /// Whether calls of the caller's descriptor shall fail rather than wait (`O_NONBLOCK`).
    pub fn is_nonblocking(&self) -> bool {
        // SAFETY: By the invariant; an open file has a `struct file`, whose flags may change any
        // time.
        let flags = unsafe { (&raw const (*(*self.as_raw()).filp).f_flags).read_volatile() };
        flags & bindings::O_NONBLOCK != 0
    }

    /// The device.
    pub fn device(&self) -> &Device<D> {
        // SAFETY: By the invariant; an open file keeps its device.
        unsafe { Device::from_raw((*(*self.as_raw()).minor).dev) }
    }

    /// Maps memory of this file into the calling process: `mmap()` with an offset of one of its
    /// objects (see [`Object::mmap_offset()`](crate::gem::Object::mmap_offset)).
    ///
    /// Returns the address. Errors: those of `mmap()`.
    pub fn vm_mmap(&self, offset: u64, size: usize, write: bool) -> Result<usize> {
        // SAFETY: The file is open, and is that of the caller's descriptor.
        let addr =
            unsafe { raw::ouro_vm_mmap((*self.as_raw()).filp, size, write, offset as usize) };
        // The last page of numbers are errors.
        if addr > usize::MAX - bindings::MAX_ERRNO as usize {
            return Err(Error::from_errno(addr as isize as c_int));
        }
        Ok(addr)
    }

    /// # Safety
    ///
    /// Called by the DRM core for a new file of a device of this driver.
    pub(crate) unsafe extern "C" fn open_callback(
        dev: *mut bindings::drm_device,
        file: *mut bindings::drm_file,
    ) -> c_int {
        // SAFETY: By the requirement of this function.
        let dev = unsafe { Device::<D>::from_raw(dev) };
        let client = Client::current();
        let private = D::open(dev, &client)
            .and_then(|data| Ok(KBox::new(Private::<D> { client, data }, GFP_KERNEL)?));
        match private {
            Ok(private) => {
                // SAFETY: Nobody else knows the file yet.
                unsafe { (*file).driver_priv = KBox::into_raw(private).cast() };
                0
            }
            Err(e) => e.to_errno(),
        }
    }

    /// # Safety
    ///
    /// Called by the DRM core for a file that [`File::open_callback()`] has opened, as the last
    /// thing.
    pub(crate) unsafe extern "C" fn postclose_callback(
        dev: *mut bindings::drm_device,
        file: *mut bindings::drm_file,
    ) {
        // SAFETY: By the requirement of this function.
        let dev = unsafe { Device::<D>::from_raw(dev) };
        // SAFETY: As above; the box is taken back once.
        let private = unsafe { KBox::from_raw((*file).driver_priv.cast::<Private<D>>()) };
        let private = KBox::into_inner(private);
        D::close(dev, private.data);
    }

    /// # Safety
    ///
    /// Called by the DRM core for an open file.
    pub(crate) unsafe extern "C" fn show_fdinfo_callback(
        printer: *mut bindings::drm_printer,
        file: *mut bindings::drm_file,
    ) {
        // SAFETY: By the requirement of this function.
        let file = unsafe { File::<D>::from_raw(file) };
        // SAFETY: As above.
        let mut printer = unsafe { Printer::from_raw(printer) };
        D::show_fdinfo(file.device(), file, &mut printer);
    }
}
