// SPDX-License-Identifier: GPL-2.0

//! The device as the other end of DMA, and all that is mapped for it.

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

/// A table of all pages of an object.
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

    /// The C table.
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

/// What is mapped.
pub(super) enum Memory {
    /// All pages of an object.
    Table(Table),
    /// Single pages: their addresses.
    Pages(KVVec<u64>),
    /// A buffer of someone else's, whose table is the exporter's.
    Imported {
        /// What it was mapped with.
        attachment: Arc<Attachment>,
        /// The exporter's: read while it is made, and then nothing but what unmaps it.
        table: *mut bindings::sg_table,
    },
}

impl Memory {
    /// Unmaps it.
    ///
    /// # Safety
    ///
    /// It is mapped for this device, and nobody else unmaps it. The device is bound until this returns.
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

// SAFETY: A table and the exporter's are only read while they are mapped, and freed by whoever has it alone.
unsafe impl Send for Memory {}
// SAFETY: As above.
unsafe impl Sync for Memory {}

/// Room for a [`Mapped`].
pub(super) type Room = bond::Room<Memory>;

/// Something that is mapped, or was until the unbind.
pub(super) type Mapped = bond::Item<Memory>;

/// The device as the other end of DMA: what [`pages`](crate::pages) maps for.
///
/// Addresses for a device are the bus's, which has them as long as the device is bound. Whoever maps or
/// unmaps is counted while it does. The unbind takes the bus from the device, lets nobody begin any
/// more (`ENODEV`), unmaps whatever is mapped, after the driver has stopped it, and waits for those who
/// have begun.
///
/// None of these waits for the device, so that the unbind ends. One of them may wait for an exporter
/// ([`Attachment::map()`](crate::gem::Attachment::map)): only for what that itself does while it maps.
#[pin_data]
pub struct DmaDevice {
    pdev: ARef<pci::Device>,
    bits: u32,
    #[pin]
    bond: Bond<Memory>,
}

/// The bond of a device: it is bound as long as this lives. Not to be kept while waiting for anything
/// that the unbind may have to end.
pub(crate) struct Bonded<'a> {
    device: &'a DmaDevice,
    inside: Inside<'a, Memory>,
}

impl Bonded<'_> {
    /// The C device.
    pub(crate) fn raw(&self) -> *mut bindings::device {
        self.device.raw()
    }

    /// Takes over what was just mapped.
    ///
    /// # Safety
    ///
    /// `memory` is mapped for this device, by what [`Memory::unmap()`] undoes.
    pub(super) unsafe fn add(&self, room: Room, memory: Memory) -> Arc<Mapped> {
        self.inside.add(room, memory)
    }
}

impl DmaDevice {
    /// Lets the device reach `bits` bits of addresses, 1 to 64; not yet be master of the bus
    /// ([`set_master()`](Self::set_master)): what it was doing may still be going on.
    ///
    /// To be called once, in `probe`, before anything is mapped.
    ///
    /// Errors: `EIO` if the platform cannot do with so few; `EINVAL`; `ENOMEM`.
    pub fn new(pdev: &pci::Device<Core<'_>>, bits: u32) -> Result<Arc<Self>> {
        if !(1..=64).contains(&bits) {
            return Err(EINVAL);
        }
        let mask = u64::MAX >> (64 - bits);
        let dev: &device::Device<Core<'_>> = pdev.as_ref();
        let raw_dev = raw_device(dev);
        // SAFETY: The device is in `probe`: nobody maps for it at the same time.
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

    /// The device itself.
    pub fn device(&self) -> &device::Device {
        (*self.pdev).as_ref()
    }

    /// Lets the device be master of the bus, or not: without it, it reaches no memory. Nothing after the
    /// unbind, when it may be somebody else's. Process context; allocates nothing.
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

    /// How many bits of addresses the device has.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Whether memory must come from below 4 GiB. Not after the unbind: the device reaches none then.
    pub fn needs_low_memory(&self) -> bool {
        self.enter()
            // SAFETY: The device is bound.
            .is_ok_and(|bonded| unsafe { raw::ouro_dma_below_4g(bonded.raw()) })
    }

    /// Whether this kernel knows an IOMMU between the device and memory, also one that passes addresses
    /// through; not after the unbind.
    pub fn has_iommu(&self) -> bool {
        self.enter()
            // SAFETY: The device is bound, and as long as it is, it stays where it is in the IOMMU.
            .is_ok_and(|bonded| unsafe { raw::ouro_dma_has_iommu(bonded.raw()) })
    }

    /// The C device.
    pub(crate) fn raw(&self) -> *mut bindings::device {
        let dev: &device::Device = (*self.pdev).as_ref();
        raw_device(dev)
    }

    /// Keeps the device bound for a moment.
    ///
    /// Errors: `ENODEV` from the unbind on.
    pub(crate) fn enter(&self) -> Result<Bonded<'_>> {
        Ok(Bonded {
            device: self,
            inside: self.bond.enter()?,
        })
    }

    /// Unmaps what was taken over, or waits until the unbind has done so. Sleeps.
    pub(super) fn remove(&self, item: &Mapped) {
        // SAFETY: What is on the list is mapped, and the bond gives it to one of us alone, while the device
        // is bound.
        self.bond
            .undo(item, |memory| unsafe { memory.unmap(self.raw()) });
    }
}

impl EndWithBond for DmaDevice {
    fn end(&self) {
        self.bond.end(
            // What was not stopped before cannot reach memory any more.
            // SAFETY: The device is bound until this returns.
            || unsafe { bindings::pci_clear_master(raw_pci(&self.pdev)) },
            // SAFETY: As in `remove()`; the device is bound until this returns.
            |memory| unsafe { memory.unmap(self.raw()) },
        );
    }
}
