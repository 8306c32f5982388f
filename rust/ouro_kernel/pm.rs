// SPDX-License-Identifier: GPL-2.0

//! Power management of a PCI driver: an adapter in place of `kernel::pci::Adapter`, with the hooks
//! that it lacks.

use core::marker::PhantomData;
use kernel::{
    bindings,
    device::{self, Bound, CoreInternal},
    driver::{self, RegistrationOps},
    pci,
    prelude::*,
    types::Opaque,
};

use crate::pci::raw_pci;

/// A PCI driver that takes part in power management. All hooks may sleep.
pub trait Driver: pci::Driver + 'static {
    /// Prepares for system sleep, or for writing the hibernation image: the place for operations
    /// that allocate. User space is frozen; all devices still work. On an error, the system does
    /// not sleep.
    fn prepare(pdev: &pci::Device<Bound>, this: Pin<&Self::Data<'_>>) -> Result {
        let _ = (pdev, this);
        Ok(())
    }

    /// Suspends the device. User space is frozen. Memory is short: the disk for swap may be
    /// suspended already.
    fn suspend(pdev: &pci::Device<Bound>, this: Pin<&Self::Data<'_>>) -> Result {
        let _ = (pdev, this);
        Ok(())
    }

    /// Resumes the device, which is powered, and has lost its registers.
    fn resume(pdev: &pci::Device<Bound>, this: Pin<&Self::Data<'_>>) -> Result {
        let _ = (pdev, this);
        Ok(())
    }

    /// The machine is about to be powered off, with an image of its memory on the disk. Interrupts
    /// are disabled. The PCI core puts the device into D3 after this, unless its configuration was
    /// saved ([`save_config()`]).
    fn poweroff_noirq(pdev: &pci::Device<Bound>, this: Pin<&Self::Data<'_>>) -> Result {
        let _ = (pdev, this);
        Ok(())
    }

    /// Shuts the device down before power-off or kexec: it must not write to memory any more.
    fn shutdown(pdev: &pci::Device<Bound>, this: Pin<&Self::Data<'_>>) {
        let _ = (pdev, this);
    }
}

/// Saves the device's configuration space. A device of which the driver has saved it keeps its
/// power state when the machine sleeps.
pub fn save_config(pdev: &pci::Device<Bound>) {
    // SAFETY: The device is bound.
    unsafe { bindings::pci_save_state(raw_pci(pdev)) };
}

/// [`pci::Adapter`] with the hooks of [`Driver`].
pub struct Adapter<T: Driver>(PhantomData<T>);

// SAFETY: The same driver structure, data and offset as those of `pci::Adapter<T>`.
unsafe impl<T: Driver> driver::DriverLayout for Adapter<T> {
    type DriverType = bindings::pci_driver;
    type DriverData<'bound> = T::Data<'bound>;
    const DEVICE_DRIVER_OFFSET: usize = core::mem::offset_of!(Self::DriverType, driver);
}

// SAFETY: Forwards to `pci::Adapter`.
unsafe impl<T: Driver> driver::RegistrationOps for Adapter<T> {
    unsafe fn register(
        reg: &Opaque<Self::DriverType>,
        name: &'static CStr,
        module: &'static ThisModule,
    ) -> Result {
        // SAFETY: The driver is not registered yet: the fields are ours to set.
        unsafe {
            (*reg.get()).driver.pm = const { &Self::PM };
            (*reg.get()).shutdown = Some(Self::shutdown);
        }
        // SAFETY: By the requirement of this function.
        unsafe { <pci::Adapter<T> as RegistrationOps>::register(reg, name, module) }
    }

    unsafe fn unregister(reg: &Opaque<Self::DriverType>) {
        // SAFETY: By the requirement of this function.
        unsafe { <pci::Adapter<T> as RegistrationOps>::unregister(reg) }
    }
}

/// Defines the hooks of one kind: a C function for each.
macro_rules! hooks {
    ($($name:ident),*) => {$(
        /// # Safety
        ///
        /// Called by the driver core for a device that is bound to this driver.
        unsafe extern "C" fn $name(dev: *mut bindings::device) -> c_int {
            // SAFETY: By the requirement of this function.
            match unsafe { Self::with(dev, |pdev, data| T::$name(pdev, data)) } {
                Ok(()) => 0,
                Err(e) => e.to_errno(),
            }
        }
    )*};
}

impl<T: Driver> Adapter<T> {
    const PM: bindings::dev_pm_ops = bindings::dev_pm_ops {
        prepare: Some(Self::prepare),
        suspend: Some(Self::suspend),
        resume: Some(Self::resume),
        freeze: Some(Self::suspend),
        thaw: Some(Self::resume),
        poweroff: Some(Self::suspend),
        poweroff_noirq: Some(Self::poweroff_noirq),
        restore: Some(Self::resume),
        ..pin_init::zeroed()
    };

    /// # Safety
    ///
    /// `dev` is the device of a PCI device that is bound to this driver, and stays so.
    unsafe fn with<R>(
        dev: *mut bindings::device,
        f: impl FnOnce(&pci::Device<Bound>, Pin<&T::Data<'_>>) -> R,
    ) -> R {
        // SAFETY: By the requirement of this function; PCI devices embed their device.
        let pdev = unsafe { kernel::container_of!(dev, bindings::pci_dev, dev) };
        // SAFETY: As above; the type is transparent.
        let pdev = unsafe { &*pdev.cast::<pci::Device<Bound>>() };
        // SAFETY: As above.
        let dev = unsafe { device::Device::<CoreInternal<'_>>::from_raw(dev) };
        // SAFETY: `probe` has set the data, of this type.
        let data = unsafe { dev.drvdata_borrow::<T::Data<'_>>() };
        f(pdev, data)
    }

    hooks!(prepare, suspend, resume, poweroff_noirq);

    /// # Safety
    ///
    /// Called by the PCI core for a device that is bound to this driver.
    unsafe extern "C" fn shutdown(pdev: *mut bindings::pci_dev) {
        // SAFETY: By the requirement of this function.
        unsafe { Self::with(&raw mut (*pdev).dev, |pdev, data| T::shutdown(pdev, data)) }
    }
}
