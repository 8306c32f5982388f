// SPDX-License-Identifier: GPL-2.0

//! DRM devices.
//!
//! Unlike with `kernel::drm`, an ioctl does not run inside `drm_dev_enter()`: it may wait for the
//! GPU, and an unbind must not wait for the ioctl. Nothing that an ioctl can access goes away at
//! the unbind: registers are revocable (see [`mmio`](crate::mmio)), and everything else lives as
//! long as the [`Device`].
//!
//! C header: `include/drm/drm_device.h`

use core::{alloc::Layout, mem::offset_of, ops::Deref, ptr::NonNull};
use kernel::{
    alloc::allocator::Kmalloc,
    bindings, device,
    error::{from_err_ptr, to_result},
    new_mutex,
    prelude::*,
    sync::{
        aref::{ARef, AlwaysRefCounted},
        Arc, Mutex,
    },
    types::{NotThreadSafe, Opaque},
};

use super::{driver::Tables, Driver, Personality};
use crate::{
    pci::{end_with_device, raw_device, EndWithBond},
    release::Hold,
};

/// A DRM device with the data of its driver, to which it derefs.
///
/// # Invariants
///
/// `dev` is an initialised `struct drm_device` whose reference count is not zero while a
/// reference exists; `data` and `hold` are initialised as long as that is so.
#[repr(C)]
pub struct Device<D: Driver> {
    dev: Opaque<bindings::drm_device>,
    data: D::Data,
    /// Until its release callback, the module must not go: a reference alone does not keep it.
    hold: Option<Hold>,
}

// SAFETY: A DRM device is reference counted, and may be used by any thread; the data is `Send`
// and `Sync`.
unsafe impl<D: Driver> Send for Device<D> {}
// SAFETY: As above.
unsafe impl<D: Driver> Sync for Device<D> {}

// SAFETY: Forwards to the reference count of `struct drm_device`.
unsafe impl<D: Driver> AlwaysRefCounted for Device<D> {
    fn inc_ref(&self) {
        // SAFETY: A shared reference means that the count is not zero.
        unsafe { bindings::drm_dev_get(self.as_raw()) }
    }

    unsafe fn dec_ref(obj: NonNull<Self>) {
        // SAFETY: The caller gives up a reference. The C device is the first field.
        unsafe { bindings::drm_dev_put(obj.cast().as_ptr()) }
    }
}

impl<D: Driver> Deref for Device<D> {
    type Target = D::Data;

    fn deref(&self) -> &D::Data {
        &self.data
    }
}

impl<D: Driver> Device<D> {
    /// Returns the C device.
    pub(crate) fn as_raw(&self) -> *mut bindings::drm_device {
        self.dev.get()
    }

    /// The device behind a pointer.
    ///
    /// # Safety
    ///
    /// `ptr` is a device of this driver with a reference for as long as `'a`.
    pub(crate) unsafe fn from_raw<'a>(ptr: *mut bindings::drm_device) -> &'a Self {
        // SAFETY: By the requirement of this function; the C device is the first field.
        unsafe { &*ptr.cast() }
    }

    /// Returns the parent device on the bus.
    pub fn parent(&self) -> &device::Device {
        // SAFETY: By the invariant; the parent has a reference from us. The type is transparent.
        unsafe { device::Device::from_raw((*self.as_raw()).dev) }
    }

    /// Returns whether the device was unbound or unplugged.
    pub fn is_unplugged(&self) -> bool {
        let mut idx = 0;
        // SAFETY: By the invariant.
        unsafe {
            if bindings::drm_dev_enter(self.as_raw(), &mut idx) {
                bindings::drm_dev_exit(idx);
                false
            } else {
                true
            }
        }
    }

    /// # Safety
    ///
    /// Called by the DRM core when the last reference of a finished device is gone.
    pub(crate) unsafe extern "C" fn release_callback(dev: *mut bindings::drm_device) {
        let this: *mut Self = dev.cast();
        // SAFETY: By the requirement of this function: the data is initialised, and is not
        // used any more. The memory is the core's. The module may go after this.
        unsafe {
            core::ptr::drop_in_place(&raw mut (*this).data);
            core::ptr::drop_in_place(&raw mut (*this).hold);
        }
    }
}

/// A device that user space cannot see yet.
///
/// # Invariants
///
/// The device was never registered.
pub struct UnregisteredDevice<D: Driver>(ARef<Device<D>>, NotThreadSafe);

impl<D: Driver> Deref for UnregisteredDevice<D> {
    type Target = ARef<Device<D>>;

    fn deref(&self) -> &ARef<Device<D>> {
        &self.0
    }
}

impl<D: Driver> UnregisteredDevice<D> {
    /// Creates a device with the personality `P`.
    ///
    /// Errors: those of `data`; `ENOMEM`.
    pub fn new<P, E>(
        parent: &device::Device<device::Bound>,
        data: impl PinInit<D::Data, E>,
    ) -> Result<Self>
    where
        P: Personality<Driver = D>,
        Error: From<E>,
    {
        const { assert!(offset_of!(Device<D>, dev) == 0) };
        // The core allocates with kmalloc.
        let layout = Kmalloc::aligned_layout(Layout::new::<Device<D>>());
        let parent = core::ptr::from_ref(parent)
            .cast_mut()
            .cast::<bindings::device>();
        // SAFETY: The parent is a device; the table lives forever.
        let ptr = unsafe {
            bindings::__drm_dev_alloc(
                parent,
                const { &Tables::<P>::UNFINISHED },
                layout.size(),
                offset_of!(Device<D>, dev),
            )
        };
        let ptr: *mut Device<D> = from_err_ptr(ptr)?.cast();
        // SAFETY: Uninitialised memory of the right layout, at its place.
        let init = unsafe { pin_init::raw_try_init(&raw mut (*ptr).data, data) };
        if let Err(e) = init {
            // SAFETY: The first reference; there is no release callback yet.
            unsafe { bindings::drm_dev_put(ptr.cast()) };
            return Err(e.into());
        }
        // SAFETY: No other code knows the device. It is complete now.
        unsafe {
            (&raw mut (*ptr).hold).write(Hold::new());
            (*ptr.cast::<bindings::drm_device>()).driver = const { &Tables::<P>::DRIVER };
        }
        // INVARIANT: It was just made.
        // SAFETY: The first reference; not null.
        Ok(Self(
            unsafe { ARef::from_raw(NonNull::new_unchecked(ptr)) },
            NotThreadSafe,
        ))
    }

    /// Registers the device with user space. Files may be opened before this returns.
    ///
    /// `parent` must be the device that it was created for; its unbind ends the registration, if
    /// that still exists.
    ///
    /// Errors: those of `drm_dev_register()`; `EINVAL` for another parent; `ENOMEM`.
    pub fn register(self, parent: &device::Device<device::Bound>) -> Result<Registration<D>> {
        if !core::ptr::eq(raw_device(parent), raw_device(self.0.parent())) {
            return Err(EINVAL);
        }
        let shown = Arc::pin_init(
            pin_init!(Shown {
                dev: self.0,
                unplugged <- new_mutex!(false),
            }),
            GFP_KERNEL,
        )?;
        // SAFETY: By the invariant of what this was made of.
        to_result(unsafe { bindings::drm_dev_register(shown.dev.as_raw(), 0) })?;
        // From here on, dropping it unplugs the device.
        let this = Registration(shown.clone());
        end_with_device(parent, shown)?;
        Ok(this)
    }
}

/// A device that was registered.
#[pin_data]
struct Shown<D: Driver> {
    dev: ARef<Device<D>>,
    #[pin]
    unplugged: Mutex<bool>,
}

impl<D: Driver> EndWithBond for Shown<D> {
    fn end(&self) {
        // A second caller waits until the first is done.
        let mut unplugged = self.unplugged.lock();
        if !core::mem::replace(&mut *unplugged, true) {
            // SAFETY: It was registered, and is unplugged once.
            unsafe { bindings::drm_dev_unplug(self.dev.as_raw()) }
        }
    }
}

/// The registration of a device. Dropping it unplugs the device: there are no new ioctls, opens or
/// maps, and all mappings are removed; open files stay. The unbind of the parent does the same at
/// its end: a driver that depends on the order drops this first.
pub struct Registration<D: Driver>(Arc<Shown<D>>);

impl<D: Driver> Registration<D> {
    /// Returns the device.
    pub fn device(&self) -> &ARef<Device<D>> {
        &self.0.dev
    }

    /// Calls `f` with the device in sysfs, which exists until `f` returns.
    ///
    /// Errors: `ENODEV` if it does not exist any more; those of `f`.
    pub(super) fn with_kdev<R>(
        &self,
        f: impl FnOnce(*mut bindings::device) -> Result<R>,
    ) -> Result<R> {
        let unplugged = self.0.unplugged.lock();
        if *unplugged {
            return Err(ENODEV);
        }
        // SAFETY: A registered device has a primary minor, and this one is not unplugged under the
        // lock.
        f(unsafe { (*(*self.0.dev.as_raw()).primary).kdev })
    }
}

impl<D: Driver> Drop for Registration<D> {
    fn drop(&mut self) {
        self.0.end();
    }
}
