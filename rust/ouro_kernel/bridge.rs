// SPDX-License-Identifier: GPL-2.0

//! The host bridge: its configuration space, and the chipset flush page.

use core::{pin::Pin, ptr::NonNull};
use kernel::{
    bindings,
    device::Bound,
    error::to_result,
    pci,
    prelude::*,
    revocable::Revocable,
    sync::{Arc, SetOnce},
    types::Opaque,
};

use crate::{
    pages::PAGE_SIZE,
    pci::{end_with_bond, raw_pci, Bond, EndWithBond},
    raw,
};

/// A reference of the bridge's device.
///
/// # Invariants
///
/// The pointer comes with a reference.
struct Function(NonNull<bindings::pci_dev>);

// SAFETY: A PCI device is reference counted, and its configuration space has a lock.
unsafe impl Send for Function {}
// SAFETY: As above.
unsafe impl Sync for Function {}

impl Drop for Function {
    fn drop(&mut self) {
        // SAFETY: By the invariant.
        unsafe { bindings::pci_dev_put(self.0.as_ptr()) }
    }
}

/// The mapped chipset flush page.
///
/// # Invariants
///
/// `addr` is a mapping of the page of `resource`, which is in the resource tree if `ours`.
struct FlushPage {
    resource: KBox<Opaque<bindings::resource>>,
    ours: bool,
    addr: NonNull<c_void>,
}

// SAFETY: A write to the page may come from any thread; the rest is touched by its owner alone.
unsafe impl Send for FlushPage {}
// SAFETY: As above.
unsafe impl Sync for FlushPage {}

impl FlushPage {
    /// Maps the page at `at`, if the firmware has assigned it, or a free one below 4 GiB. Returns
    /// it and its bus address. Errors: `EBUSY`, `ENOMEM`.
    fn new(bridge: &Function, at: Option<u64>) -> Result<(Self, u64)> {
        let size = PAGE_SIZE as u64;
        let resource = KBox::new(Opaque::<bindings::resource>::zeroed(), GFP_KERNEL)?;
        let raw = resource.get();
        // SAFETY: Ours, and no other code knows it yet; a name that lives forever.
        unsafe {
            (*raw).name = c"ouro chipset flush".as_char_ptr();
            (*raw).flags = bindings::IORESOURCE_MEM as usize;
        }
        let ours = match at {
            // SAFETY: As above. Some firmware has reserved it already, and some has not: either
            // will do.
            Some(at) => unsafe {
                (*raw).start = at;
                (*raw).end = at + size - 1;
                bindings::request_resource(&raw mut bindings::iomem_resource, raw) == 0
            },
            None => {
                // SAFETY: The bridge has a reference, and with it its bus.
                to_result(unsafe { raw::ouro_bus_page(bridge.0.as_ptr(), raw) })?;
                true
            }
        };
        // SAFETY: Set above.
        let start = unsafe { (*raw).start };
        // SAFETY: A page on the bus, which is not memory.
        let addr = NonNull::new(unsafe { bindings::ioremap(start, PAGE_SIZE) });
        match addr {
            // INVARIANT: Just mapped.
            Some(addr) => Ok((
                Self {
                    resource,
                    ours,
                    addr: addr.cast(),
                },
                start,
            )),
            None => {
                if ours {
                    // SAFETY: Just requested.
                    unsafe { bindings::release_resource(raw) };
                }
                Err(ENOMEM)
            }
        }
    }
}

impl Drop for FlushPage {
    fn drop(&mut self) {
        // SAFETY: By the invariants.
        unsafe {
            bindings::iounmap(self.addr.as_ptr().cast());
            if self.ours {
                bindings::release_resource(self.resource.get());
            }
        }
    }
}

/// A mapped page, and its bus address.
struct Open {
    page: Pin<KBox<Revocable<FlushPage>>>,
    address: u64,
}

/// The resources that the unbind releases.
struct Inner {
    function: Function,
    open: SetOnce<Open>,
}

impl EndWithBond for Inner {
    fn end(&self) {
        if let Some(open) = self.open.as_ref() {
            open.page.revoke();
        }
    }
}

/// The host bridge of a device, while a driver is bound to the device; after that, reads return all
/// ones and writes have no effect.
pub struct HostBridge {
    inner: Arc<Inner>,
    bond: Arc<Bond>,
}

impl HostBridge {
    /// Returns the first function of the first bus of the device's domain; `None` if there is none.
    ///
    /// Errors: `ENOMEM`.
    pub fn find(pdev: &pci::Device<Bound>) -> Result<Option<Self>> {
        // SAFETY: The device is bound. Comes with a reference.
        let Some(bridge) = NonNull::new(unsafe { raw::ouro_host_bridge(raw_pci(pdev)) }) else {
            return Ok(None);
        };
        // INVARIANT: With that reference.
        let function = Function(bridge);
        let inner = Arc::new(
            Inner {
                function,
                open: SetOnce::new(),
            },
            GFP_KERNEL,
        )?;
        end_with_bond(pdev, inner.clone())?;
        Ok(Some(Self {
            inner,
            bond: Bond::new(pdev)?,
        }))
    }

    /// Reads 32 bits of its configuration space; `offset` must be a multiple of 4.
    pub fn read32(&self, offset: u16) -> u32 {
        let mut value = !0;
        if self.bond.holds() {
            // SAFETY: By the invariant. A failed read returns all ones.
            unsafe {
                bindings::pci_read_config_dword(
                    self.inner.function.0.as_ptr(),
                    offset.into(),
                    &mut value,
                )
            };
        }
        value
    }

    /// Writes 32 bits of its configuration space.
    pub fn write32(&self, offset: u16, value: u32) {
        if self.bond.holds() {
            // SAFETY: By the invariant.
            unsafe {
                bindings::pci_write_config_dword(
                    self.inner.function.0.as_ptr(),
                    offset.into(),
                    value,
                )
            };
        }
    }

    /// Maps the chipset flush page, if it is not mapped: at `at`, where the firmware has put it, or
    /// anywhere below 4 GiB. Returns its bus address. Must be called while the device is bound;
    /// sleeps the first time.
    ///
    /// Errors: `EBUSY` if the bus has no room for a page, `EINVAL` for an invalid address;
    /// `ENOMEM`.
    pub fn flush_page(&self, at: Option<u64>) -> Result<u64> {
        if let Some(open) = self.inner.open.as_ref() {
            return Ok(open.address);
        }
        if at.is_some_and(|at| at == 0 || at % PAGE_SIZE as u64 != 0) {
            return Err(EINVAL);
        }
        let (page, address) = FlushPage::new(&self.inner.function, at)?;
        let page = KBox::pin_init(Revocable::new(page), GFP_KERNEL)?;
        self.inner.open.populate(Open { page, address });
        // The first caller's page is used.
        self.inner
            .open
            .as_ref()
            .map_or(Err(EINVAL), |open| Ok(open.address))
    }

    /// Writes 1 to the flush page, if it is mapped, which flushes the chipset's write buffers to
    /// memory. Any context.
    pub fn flush_chipset(&self) {
        let Some(open) = self.inner.open.as_ref() else {
            return;
        };
        if let Some(page) = open.page.try_access() {
            // SAFETY: Mapped as long as the page can be accessed.
            unsafe { bindings::writel(1, page.addr.as_ptr()) }
        }
    }
}
