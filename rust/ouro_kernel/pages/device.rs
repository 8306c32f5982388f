// SPDX-License-Identifier: GPL-2.0

//! The device for DMA, and its mappings.

use kernel::{
    bindings,
    device::{self, Core},
    error::to_result,
    pci,
    prelude::*,
    sync::{aref::ARef, Arc},
    types::Opaque,
};

use crate::{
    bond::{self, Bond, Inside},
    gem::Attachment,
    pci::{end_with_bond, raw_device, raw_pci, EndWithBond},
    raw,
};

/// A scatter table of all pages of an object.
pub(super) struct Table(KBox<Opaque<bindings::sg_table>>);

impl Table {
    /// Makes a table.
    ///
    /// Errors: `ENOMEM`.
    ///
    /// # Safety
    ///
    /// `pages` are `n` pages, which live as long as the table.
    pub(super) unsafe fn new(
        pages: *const *mut bindings::page,
        n: u32,
        bonded: &Bonded<'_>,
    ) -> Result<Self> {
        let table = KBox::new(Opaque::zeroed(), GFP_KERNEL)?;
        let dev = bonded.raw();
        // SAFETY: By the requirement of this function; the array is only read.
        to_result(unsafe { raw::ouro_sg_from_pages(table.get(), pages.cast_mut(), n, dev) })?;
        Ok(Self(table))
    }

    /// Returns the C table.
    pub(super) fn get(&self) -> *mut bindings::sg_table {
        self.0.get()
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // SAFETY: Made by `new()`, and not mapped any more.
        unsafe { bindings::sg_free_table(self.get()) }
    }
}

/// What is mapped for the device.
pub(super) enum Memory {
    /// The scatter table of all pages of an object.
    Table(Table),
    /// The DMA addresses of single pages.
    Pages(KVVec<u64>),
    /// An imported buffer, whose table is the exporter's.
    Imported {
        /// The attachment that it was mapped with.
        attachment: Arc<Attachment>,
        /// The exporter's table: read while it is mapped, and then only passed to the call that
        /// unmaps it.
        table: *mut bindings::sg_table,
    },
}

impl Memory {
    /// Unmaps it.
    ///
    /// # Safety
    ///
    /// It is mapped for this device, and no other code unmaps it. The device is bound until this
    /// returns.
    pub(super) unsafe fn unmap(&self, dev: *mut bindings::device) {
        match self {
            // SAFETY: By the requirement of this function.
            Memory::Table(table) => unsafe { raw::ouro_dma_unmap_sgtable(dev, table.get()) },
            Memory::Pages(addresses) => {
                for &address in addresses {
                    // SAFETY: By the requirement of this function.
                    unsafe { raw::ouro_dma_unmap_page(dev, address) };
                }
            }
            // SAFETY: As above. Locks the reservation of the buffer.
            Memory::Imported { attachment, table } => unsafe {
                raw::dma_buf_unmap_attachment_unlocked(
                    attachment.as_raw(),
                    *table,
                    bindings::dma_data_direction::DMA_BIDIRECTIONAL,
                )
            },
        }
    }
}

// SAFETY: A table and the exporter's are only read while they are mapped, and freed by their only
// owner.
unsafe impl Send for Memory {}
// SAFETY: As above.
unsafe impl Sync for Memory {}

/// Room for a [`Mapped`].
pub(super) type Room = bond::Room<Memory>;

/// A mapping for the device, which the unbind unmaps if it still exists.
pub(super) type Mapped = bond::Item<Memory>;

/// The device for DMA, for which [`pages`](crate::pages) are mapped.
///
/// DMA addresses are the bus's, and valid while the device is bound. Callers that map or unmap are
/// counted meanwhile. The unbind disables bus mastering, refuses new callers (`ENODEV`), unmaps
/// everything, after the driver has stopped the device, and waits for the callers inside.
///
/// No such caller waits for the device, so the unbind ends. One may wait for an exporter
/// ([`Attachment::map()`](crate::gem::Attachment::map)), but only for what the exporter itself does
/// while it maps.
#[pin_data]
pub struct DmaDevice {
    pdev: ARef<pci::Device>,
    bits: u32,
    #[pin]
    bond: Bond<Memory>,
}

/// A guard: the device is bound while it lives. Must not be held while waiting for anything that
/// the unbind may have to end.
pub(crate) struct Bonded<'a> {
    device: &'a DmaDevice,
    inside: Inside<'a, Memory>,
}

impl Bonded<'_> {
    /// Returns the C device.
    pub(crate) fn raw(&self) -> *mut bindings::device {
        self.device.raw()
    }

    /// Adds a new mapping to the list.
    ///
    /// # Safety
    ///
    /// `memory` must be mapped for this device, so that [`Memory::unmap()`] can unmap it.
    pub(super) unsafe fn add(&self, room: Room, memory: Memory) -> Arc<Mapped> {
        self.inside.add(room, memory)
    }
}

impl DmaDevice {
    /// Creates the device with DMA addresses of `bits` bits, 1 to 64. Bus mastering stays disabled
    /// ([`set_master()`](Self::set_master)): the device's earlier work may still be running.
    ///
    /// Must be called once, in `probe`, before anything is mapped.
    ///
    /// Errors: `EIO` if the platform cannot support so few bits; `EINVAL`; `ENOMEM`.
    pub fn new(pdev: &pci::Device<Core<'_>>, bits: u32) -> Result<Arc<Self>> {
        if !(1..=64).contains(&bits) {
            return Err(EINVAL);
        }
        let mask = u64::MAX >> (64 - bits);
        let dev: &device::Device<Core<'_>> = pdev.as_ref();
        let raw_dev = raw_device(dev);
        // SAFETY: The device is in `probe`: no other code maps for it at the same time.
        to_result(unsafe { bindings::dma_set_mask_and_coherent(raw_dev, mask) })?;
        // SAFETY: As above. A segment may be as long as there are pages.
        unsafe { raw::ouro_dma_set_max_seg_size(raw_dev, u32::MAX) };
        let this = Arc::pin_init(
            pin_init!(Self {
                pdev: pdev.into(),
                bits,
                bond <- Bond::new(),
            }),
            GFP_KERNEL,
        )?;
        end_with_bond(pdev, this.clone())?;
        Ok(this)
    }

    /// Returns the device itself.
    pub fn device(&self) -> &device::Device {
        (*self.pdev).as_ref()
    }

    /// Enables or disables bus mastering; while it is disabled, the device cannot access memory. No
    /// effect after the unbind, when another driver may be bound. Process context; allocates
    /// nothing.
    pub fn set_master(&self, on: bool) {
        let Ok(_bonded) = self.enter() else {
            return;
        };
        // SAFETY: The device is bound.
        unsafe {
            if on {
                bindings::pci_set_master(raw_pci(&self.pdev));
            } else {
                bindings::pci_clear_master(raw_pci(&self.pdev));
            }
        }
    }

    /// Returns the width of DMA addresses in bits.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns whether memory must be below 4 GiB; false after the unbind, when the device reaches
    /// none.
    pub fn needs_low_memory(&self) -> bool {
        self.enter()
            // SAFETY: The device is bound.
            .is_ok_and(|bonded| unsafe { raw::ouro_dma_below_4g(bonded.raw()) })
    }

    /// Returns whether this kernel knows an IOMMU between the device and memory, including one in
    /// pass-through mode; false after the unbind.
    pub fn has_iommu(&self) -> bool {
        self.enter()
            // SAFETY: The device is bound, and as long as it is, it stays where it is in the IOMMU.
            .is_ok_and(|bonded| unsafe { raw::ouro_dma_has_iommu(bonded.raw()) })
    }

    /// Returns the C device.
    pub(crate) fn raw(&self) -> *mut bindings::device {
        let dev: &device::Device = (*self.pdev).as_ref();
        raw_device(dev)
    }

    /// Keeps the device bound while the guard lives.
    ///
    /// Errors: `ENODEV` once the unbind has begun.
    pub(crate) fn enter(&self) -> Result<Bonded<'_>> {
        Ok(Bonded {
            device: self,
            inside: self.bond.enter()?,
        })
    }

    /// Unmaps a mapping, or waits until the unbind has unmapped it. Sleeps.
    pub(super) fn remove(&self, item: &Mapped) {
        // SAFETY: Items of the list are mapped, and the bond gives each to one caller only, while
        // the device is bound.
        self.bond
            .undo(item, |memory| unsafe { memory.unmap(self.raw()) });
    }
}

impl EndWithBond for DmaDevice {
    fn end(&self) {
        self.bond.end(
            // An engine that was not stopped cannot access memory any more.
            // SAFETY: The device is bound until this returns.
            || unsafe { bindings::pci_clear_master(raw_pci(&self.pdev)) },
            // SAFETY: As in `remove()`; the device is bound until this returns.
            |memory| unsafe { memory.unmap(self.raw()) },
        );
    }
}
