// SPDX-License-Identifier: GPL-2.0

//! Additions to `kernel::pci`: configuration space from `'static` code, the DMA mask as a number,
//! BARs by name, and resources that are released at the unbind wherever they are kept.
//!
//! C header: `include/linux/pci.h`

use kernel::{
    bindings,
    device::{self, Bound},
    devres,
    error::to_result,
    pci,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc,
    },
};

pub use crate::pages::DmaDevice;
use crate::{
    pages::{Frame, PAGE_SIZE},
    raw,
};

/// Returns the C device.
pub(crate) fn raw_pci<Ctx: device::DeviceContext>(
    pdev: &pci::Device<Ctx>,
) -> *mut bindings::pci_dev {
    core::ptr::from_ref(pdev).cast_mut().cast()
}

/// Returns the C device of any bus.
pub(crate) fn raw_device<Ctx: device::DeviceContext>(
    dev: &device::Device<Ctx>,
) -> *mut bindings::device {
    core::ptr::from_ref(dev).cast_mut().cast()
}

/// A resource that must be ended at the unbind.
pub(crate) trait EndWithBond: Send + Sync + 'static {
    /// Ends it. May be called more than once.
    fn end(&self);
}

/// Calls [`EndWithBond::end()`] when it is dropped.
struct Ender<T: EndWithBond>(Arc<T>);

impl<T: EndWithBond> Drop for Ender<T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Ends a resource at the unbind of a device. Later ones are ended first.
pub(crate) fn end_with_bond<T: EndWithBond>(pdev: &pci::Device<Bound>, what: Arc<T>) -> Result {
    end_with_device(pdev.as_ref(), what)
}

/// Ends a resource at the unbind of a device of any bus.
pub(crate) fn end_with_device<T: EndWithBond>(dev: &device::Device<Bound>, what: Arc<T>) -> Result {
    devres::register(dev, Ender(what), GFP_KERNEL)
}

/// Whether a device is still bound.
pub(crate) struct Bond(Atomic<bool>);

impl Bond {
    pub(crate) fn new(pdev: &pci::Device<Bound>) -> Result<Arc<Self>> {
        let bond = Arc::new(Self(Atomic::new(true)), GFP_KERNEL)?;
        end_with_bond(pdev, bond.clone())?;
        Ok(bond)
    }

    pub(crate) fn holds(&self) -> bool {
        self.0.load(ordering::Acquire)
    }
}

impl EndWithBond for Bond {
    fn end(&self) {
        self.0.store(false, ordering::Release);
    }
}

/// The configuration space of a device, while it is bound; after that, all reads return all ones.
/// The unbind does not wait for a read under way, which returns what the bus does.
pub struct Config {
    pdev: ARef<pci::Device>,
    bond: Arc<Bond>,
}

impl Config {
    /// Creates it.
    ///
    /// Errors: `ENOMEM`.
    pub fn new(pdev: &pci::Device<Bound>) -> Result<Self> {
        Ok(Self {
            pdev: pdev.into(),
            bond: Bond::new(pdev)?,
        })
    }

    /// Reads 32 bits; `offset` must be a multiple of 4.
    pub fn read32(&self, offset: u16) -> u32 {
        let mut value = !0;
        if self.bond.holds() {
            // SAFETY: The device has a reference. A failed read returns all ones.
            unsafe {
                bindings::pci_read_config_dword(raw_pci(&self.pdev), offset.into(), &mut value)
            };
        }
        value
    }

    /// Reads 8 bits, by an access of that size.
    pub fn read8(&self, offset: u16) -> u8 {
        let mut value = !0;
        if self.bond.holds() {
            // SAFETY: The device has a reference. A failed read returns all ones.
            unsafe {
                bindings::pci_read_config_byte(raw_pci(&self.pdev), offset.into(), &mut value)
            };
        }
        value
    }

    /// Writes 8 bits; no effect after the unbind.
    pub fn write8(&self, offset: u16, value: u8) {
        if self.bond.holds() {
            // SAFETY: The device has a reference.
            unsafe {
                bindings::pci_write_config_byte(raw_pci(&self.pdev), offset.into(), value);
            }
        }
    }
}

/// A device that is enabled until it is unbound.
struct Enabled {
    pdev: ARef<pci::Device>,
    held: Atomic<bool>,
}

impl EndWithBond for Enabled {
    fn end(&self) {
        if self.held.xchg(false, ordering::Full) {
            // SAFETY: Enabled by `enable_mem()`, disabled once.
            unsafe { bindings::pci_disable_device(raw_pci(&self.pdev)) }
        }
    }
}

/// Enables the memory BARs of a device, until it is unbound. Must be called first in `probe`.
///
/// Errors: those of the bus; `ENOMEM`.
pub fn enable_mem(pdev: &pci::Device<Bound>) -> Result {
    let enabled = Arc::new(
        Enabled {
            pdev: pdev.into(),
            held: Atomic::new(false),
        },
        GFP_KERNEL,
    )?;
    // SAFETY: The device is bound.
    to_result(unsafe { bindings::pci_enable_device_mem(raw_pci(pdev)) })?;
    enabled.held.store(true, ordering::Relaxed);
    let held = enabled.clone();
    end_with_bond(pdev, enabled).inspect_err(|_| held.end())
}

/// A BAR that is claimed until the device is unbound.
struct Region {
    pdev: ARef<pci::Device>,
    bar: c_int,
    held: Atomic<bool>,
}

/// A claimed range of a BAR, until the device is unbound. [`Bar`](crate::mmio::Bar)s are mapped
/// from it, and it yields page frames for user space.
///
/// # Invariants
///
/// `start` and `len` are a range of the memory of the BAR of `region`, which was claimed.
#[derive(Clone)]
pub struct Claim {
    region: Arc<Region>,
    start: u64,
    len: u64,
}

impl Claim {
    /// Returns the part of it from `offset` on, of `len` bytes; 0 means up to the end.
    ///
    /// Errors: `EINVAL` if the part is empty, or not inside.
    pub fn part(&self, offset: u64, len: u64) -> Result<Self> {
        let rest = self.len.checked_sub(offset).ok_or(EINVAL)?;
        let len = if len == 0 { rest } else { len };
        if len == 0 || len > rest {
            return Err(EINVAL);
        }
        // INVARIANT: It lies in what is ours.
        Ok(Self {
            region: self.region.clone(),
            start: self.start + offset,
            len,
        })
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether it is empty: never.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bus address of the first byte.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Returns whether it belongs to this device.
    pub(crate) fn is_of(&self, pdev: &pci::Device<Bound>) -> bool {
        core::ptr::eq(raw_pci(&self.region.pdev), raw_pci(pdev))
    }

    /// Returns the frame of a page. `None` outside, if the range is not page-aligned, and after the
    /// unbind.
    pub fn frame(&self, page: usize) -> Option<Frame<'_>> {
        const SIZE: u64 = PAGE_SIZE as u64;
        let offset = (page as u64).checked_mul(SIZE)?;
        if self.start % SIZE != 0 || offset.checked_add(SIZE)? > self.len {
            return None;
        }
        if !self.region.held.load(ordering::Acquire) {
            return None;
        }
        // SAFETY: By the invariant it is of the BAR. Entries that were made before the unbind it
        // takes away, before the BAR is reused: it unplugs the DRM device.
        Some(unsafe { Frame::new(((self.start + offset) / SIZE) as usize) })
    }
}

impl EndWithBond for Region {
    fn end(&self) {
        if self.held.xchg(false, ordering::Full) {
            // SAFETY: Requested by `request_region()`, released once.
            unsafe { bindings::pci_release_region(raw_pci(&self.pdev), self.bar) }
        }
    }
}

/// Returns whether this kernel is a hypervisor's guest, which cannot see the host's IOMMU.
pub fn is_guest() -> bool {
    // SAFETY: No requirement.
    unsafe { raw::ouro_is_guest() }
}

/// Removes the firmware framebuffer driver that uses the device, if there is one: it gives up its
/// BAR. `name` is the new owner, for the log. Must be called before any BAR is claimed.
///
/// Errors: those of removing that driver.
pub fn take_from_firmware(pdev: &pci::Device<Bound>, name: &'static CStr) -> Result {
    // SAFETY: The device is bound; the name is a C string.
    to_result(unsafe { raw::ouro_take_from_firmware(raw_pci(pdev), name.as_char_ptr()) })
}

/// Claims a whole BAR, until the device is unbound.
///
/// Errors: `EBUSY` if it is in use, `EINVAL` if there is no such BAR, or it is an I/O BAR;
/// `ENOMEM`.
pub fn request_region(pdev: &pci::Device<Bound>, bar: u32, name: &'static CStr) -> Result<Claim> {
    let (start, len) = (pdev.resource_start(bar)?, pdev.resource_len(bar)?);
    // SAFETY: The device is bound, and has a resource of this number, or there was an error above.
    if len == 0 || !unsafe { raw::ouro_bar_is_memory(raw_pci(pdev), bar as c_int) } {
        return Err(EINVAL);
    }
    let region = Arc::new(
        Region {
            pdev: pdev.into(),
            bar: bar as c_int,
            held: Atomic::new(false),
        },
        GFP_KERNEL,
    )?;
    // SAFETY: The device is bound, the number is that of a BAR.
    to_result(unsafe {
        bindings::pci_request_region(raw_pci(pdev), bar as c_int, name.as_char_ptr())
    })?;
    region.held.store(true, ordering::Relaxed);
    end_with_bond(pdev, region.clone()).inspect_err(|_| region.end())?;
    // INVARIANT: All of the BAR, which was just claimed.
    Ok(Claim { region, start, len })
}

/// The cache mode of a BAR, until the device is unbound.
struct ReservedWc {
    start: u64,
    len: u64,
    held: Atomic<bool>,
}

impl EndWithBond for ReservedWc {
    fn end(&self) {
        if self.held.xchg(false, ordering::Full) {
            // SAFETY: Reserved by `reserve_write_combining()`, given back once.
            unsafe { raw::ouro_unreserve_wc(self.start, self.len) }
        }
    }
}

/// Makes page frames of a BAR write-combining in mappings of user space, until the device is
/// unbound. Not needed if a [`Bar`](crate::mmio::Bar) with that caching is mapped.
///
/// Errors: `EBUSY` if it is mapped with another caching, `ENOMEM`.
pub fn reserve_write_combining(pdev: &pci::Device<Bound>, bar: u32) -> Result {
    let (start, len) = (pdev.resource_start(bar)?, pdev.resource_len(bar)?);
    let reserved = Arc::new(
        ReservedWc {
            start,
            len,
            held: Atomic::new(false),
        },
        GFP_KERNEL,
    )?;
    // SAFETY: The range is that of a BAR.
    to_result(unsafe { raw::ouro_reserve_wc(start, len) })?;
    reserved.held.store(true, ordering::Relaxed);
    let held = reserved.clone();
    end_with_bond(pdev, reserved).inspect_err(|_| held.end())
}
