// SPDX-License-Identifier: GPL-2.0

//! Open files.
//!
//! C header: `include/drm/drm_file.h`

use kernel::{bindings, prelude::*, types::Opaque};

use super::{Device, Driver, Personality, Printer};
use crate::{
    gem::{DriverObject, Object},
    raw,
    task::Client,
};

/// The target of a `drm_file`'s `driver_priv`.
struct Private<D: Driver> {
    client: Client,
    data: Pin<KBox<D::File>>,
}

/// Most regions that [`File::show_memory()`] distinguishes.
const MAX_REGIONS: usize = 8;

/// The sums of a file's objects, by region.
struct Sums([bindings::drm_memory_stats; MAX_REGIONS]);

/// Adds an object to the [`Sums`] of its region, as the kernel's drm-usage-stats.rst says.
///
/// # Safety
///
/// `obj` is an object of `T`, and stays; `sums` are [`Sums`], and the caller's alone. Nothing here
/// sleeps.
unsafe extern "C" fn add_object<T: DriverObject>(
    obj: *mut bindings::drm_gem_object,
    sums: *mut c_void,
) {
    // SAFETY: By the requirement of this function.
    let (object, sums) = unsafe { (Object::<T>::from_raw(obj), &mut *sums.cast::<Sums>()) };
    let status = T::status(object);
    let Some(sum) = sums.0.get_mut(status.region) else {
        return;
    };
    let size = object.size() as u64;
    // SAFETY: As above; both only say so much as of now.
    let shared = unsafe { (*obj).handle_count > 1 || !(*obj).dma_buf.is_null() };
    let mut add = |to: fn(&mut bindings::drm_memory_stats) -> &mut u64, counts: bool| {
        if counts {
            *to(sum) += size;
        }
    };
    add(|s| &mut s.shared, shared);
    add(|s| &mut s.private, !shared);
    add(|s| &mut s.resident, status.resident);
    add(|s| &mut s.active, status.active);
    add(
        |s| &mut s.purgeable,
        status.resident && status.purgeable && !status.active,
    );
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

    /// Returns the C file.
    pub(crate) fn as_raw(&self) -> *mut bindings::drm_file {
        self.0.get()
    }

    fn private(&self) -> &Private<D> {
        // SAFETY: By the invariant.
        unsafe { &*(*self.as_raw()).driver_priv.cast::<Private<D>>() }
    }

    /// Returns the driver's data.
    pub fn inner(&self) -> Pin<&D::File> {
        self.private().data.as_ref()
    }

    /// Returns the task that opened it.
    pub fn client(&self) -> &Client {
        &self.private().client
    }

    /// Prints the memory of the objects that this file has handles of, for each of `regions`, which
    /// are the names of the numbers in [`Status::region`](crate::gem::Status::region): total,
    /// shared, active, resident, purgeable, a line each. Sleeps.
    pub fn show_memory(&self, printer: &mut Printer<'_>, regions: &[&CStr]) {
        let mut sums = Sums([pin_init::zeroed(); MAX_REGIONS]);
        // SAFETY: The file is open. The callback is for objects of this driver, which all objects
        // of the file are, and `sums` is what it takes; it does not sleep.
        unsafe {
            raw::ouro_file_objects(
                self.as_raw(),
                Some(add_object::<D::Object>),
                (&raw mut sums).cast(),
            )
        }
        const OPTIONAL: bindings::drm_gem_object_status =
            bindings::drm_gem_object_status_DRM_GEM_OBJECT_RESIDENT
                | bindings::drm_gem_object_status_DRM_GEM_OBJECT_PURGEABLE
                | bindings::drm_gem_object_status_DRM_GEM_OBJECT_ACTIVE;
        for (sum, name) in sums.0.iter().zip(regions) {
            // SAFETY: All are valid; the name ends with a zero.
            unsafe {
                bindings::drm_print_memory_stats(
                    printer.as_raw(),
                    sum,
                    OPTIONAL,
                    name.as_char_ptr(),
                )
            }
        }
    }

    /// Returns whether it is the current DRM master of the device. Sleeps.
    pub fn is_current_master(&self) -> bool {
        // SAFETY: By the invariant.
        unsafe { raw::ouro_is_current_master(self.as_raw()) }
    }

    /// Returns whether calls on the descriptor must fail rather than wait (`O_NONBLOCK`).
    pub fn is_nonblocking(&self) -> bool {
        // SAFETY: By the invariant; an open file has a `struct file`, whose flags may change any
        // time.
        let flags = unsafe { (&raw const (*(*self.as_raw()).filp).f_flags).read_volatile() };
        flags & bindings::O_NONBLOCK != 0
    }

    /// Returns the device.
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
        // The last page of addresses encodes errors.
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
                // SAFETY: No other code knows the file yet.
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
    pub(crate) unsafe extern "C" fn show_fdinfo_callback<P: Personality<Driver = D>>(
        printer: *mut bindings::drm_printer,
        file: *mut bindings::drm_file,
    ) {
        // SAFETY: By the requirement of this function.
        let file = unsafe { File::<D>::from_raw(file) };
        // SAFETY: As above.
        let mut printer = unsafe { Printer::from_raw(printer) };
        P::show_fdinfo(file, &mut printer);
    }
}
