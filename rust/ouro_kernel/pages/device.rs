// SPDX-License-Identifier: GPL-2.0

//! The device as the other end of DMA, and all that is mapped for it.

use core::mem::MaybeUninit;
use kernel::{
    bindings,
    device::{self, Core},
    error::to_result,
    list::{impl_list_arc_safe, impl_list_item, List, ListArc, ListLinks},
    new_mutex, pci,
    prelude::*,
    sync::{aref::ARef, Arc, Mutex, UniqueArc},
    types::Opaque,
};

use crate::{
    gem::Attachment,
    pci::{end_with_bond, raw_device, raw_pci, EndWithBond},
    raw,
    wait::{self, Completion, Interruptible},
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
        dma: &DmaDevice,
    ) -> Result<Self> {
        let table = KBox::new(Opaque::zeroed(), GFP_KERNEL)?;
        // SAFETY: By the requirement of this function; the array is only read.
        to_result(unsafe { raw::ouro_sg_from_pages(table.get(), pages.cast_mut(), n, dma.raw()) })?;
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
    /// It is mapped for this device, which nobody else unmaps.
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

/// Memory for a [`Mapped`].
pub(super) struct Room(UniqueArc<MaybeUninit<Mapped>>);

impl Room {
    /// Allocates it.
    ///
    /// Errors: `ENOMEM`.
    pub(super) fn new() -> Result<Self> {
        Ok(Self(UniqueArc::new_uninit(GFP_KERNEL)?))
    }
}

/// Something that is mapped, or was until the unbind.
#[pin_data]
pub(super) struct Mapped {
    #[pin]
    links: ListLinks,
    /// Completed when the unbind has unmapped it.
    #[pin]
    ended: Completion,
    memory: Memory,
}

impl_list_arc_safe! {
    impl ListArcSafe<0> for Mapped { untracked; }
}
impl_list_item! {
    impl ListItem<0> for Mapped { using ListLinks { self.links }; }
}

// SAFETY: The memory is not changed while it is shared; the links are under the lock of the list.
unsafe impl Send for Mapped {}
// SAFETY: As above.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// What is mapped.
    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }
}

/// All that is mapped for a device.
struct State {
    bound: bool,
    mapped: List<Mapped>,
}

/// The device as the other end of DMA: what [`pages`](crate::pages) maps for.
///
/// The unbind takes the bus from the device, and unmaps whatever is mapped then, after the driver
/// has stopped it. Nothing new is mapped afterwards (`ENODEV`).
#[pin_data]
pub struct DmaDevice {
    pdev: ARef<pci::Device>,
    bits: u32,
    /// Held for the list alone; nothing allocates under it.
    #[pin]
    state: Mutex<State>,
}

impl DmaDevice {
    /// Lets the device reach `bits` bits of addresses, 1 to 64, and be master of the bus.
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
        pdev.set_master();
        let this = Arc::pin_init(
            pin_init!(Self {
                pdev: pdev.into(),
                bits,
                state <- new_mutex!(State {
                    bound: true,
                    mapped: List::new(),
                }),
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

    /// Lets the device be master of the bus, or not: without it, it reaches no memory. Not after the
    /// unbind. Process context; allocates nothing.
    pub fn set_master(&self, on: bool) {
        // SAFETY: The device has a reference.
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

    /// Whether memory must come from below 4 GiB.
    pub fn needs_low_memory(&self) -> bool {
        // SAFETY: The device has a reference.
        unsafe { raw::ouro_dma_below_4g(self.raw()) }
    }

    /// Whether an IOMMU translates the device's addresses; not one that passes them through.
    pub fn is_translated(&self) -> bool {
        // SAFETY: The device has a reference.
        unsafe { raw::ouro_dma_translated(self.raw()) }
    }

    /// The C device.
    pub(crate) fn raw(&self) -> *mut bindings::device {
        let dev: &device::Device = (*self.pdev).as_ref();
        raw_device(dev)
    }

    /// `ENODEV` after the unbind. It may come right after.
    pub(crate) fn check_bound(&self) -> Result {
        if self.state.lock().bound {
            Ok(())
        } else {
            Err(ENODEV)
        }
    }

    /// Takes over what was just mapped.
    ///
    /// Errors: `ENODEV` if the device was unbound meanwhile; then it is unmapped again.
    ///
    /// # Safety
    ///
    /// `memory` is mapped for this device, by what [`Memory::unmap()`] undoes.
    pub(super) unsafe fn add(&self, room: Room, memory: Memory) -> Result<Arc<Mapped>> {
        // SAFETY: By the requirement of this function.
        unsafe { self.try_add(room, memory) }.map_err(|(e, item)| {
            if let Some(item) = item {
                // SAFETY: By the requirement of this function; nobody else has it.
                unsafe { item.memory.unmap(self.raw()) };
            }
            e
        })
    }

    /// [`DmaDevice::add()`], but that it is the caller who unmaps it again.
    ///
    /// # Safety
    ///
    /// As for [`DmaDevice::add()`].
    pub(super) unsafe fn try_add(
        &self,
        room: Room,
        memory: Memory,
    ) -> core::result::Result<Arc<Mapped>, (Error, Option<Arc<Mapped>>)> {
        let Ok(item) = room.0.pin_init_with(pin_init!(Mapped {
            links <- ListLinks::new(),
            ended <- Completion::new(),
            memory,
        }));
        let item = ListArc::from(item);
        let arc = item.clone_arc();
        let mut state = self.state.lock();
        if !state.bound {
            return Err((ENODEV, Some(arc)));
        }
        state.mapped.push_back(item);
        Ok(arc)
    }

    /// Takes an item off the list. `false`: the unbind has it.
    pub(super) fn take_off(&self, item: &Mapped) -> bool {
        let mut state = self.state.lock();
        // SAFETY: An item is on the list of the device that it was mapped for, or on none.
        unsafe { state.mapped.remove(item) }.is_some()
    }

    /// Unmaps what was taken over, or waits until the unbind has done so. Sleeps.
    pub(super) fn remove(&self, item: &Mapped) {
        if self.take_off(item) {
            // SAFETY: It was on the list, hence is mapped, and is ours alone now.
            unsafe { item.memory.unmap(self.raw()) };
        } else {
            let _ = item.ended.wait(Interruptible::No, wait::FOREVER);
        }
    }
}

impl EndWithBond for DmaDevice {
    fn end(&self) {
        // What was not stopped before cannot reach memory any more.
        // SAFETY: The device has a reference.
        unsafe { bindings::pci_clear_master(raw_pci(&self.pdev)) };
        loop {
            let item = {
                let mut state = self.state.lock();
                state.bound = false;
                state.mapped.pop_front()
            };
            let Some(item) = item else {
                break;
            };
            // SAFETY: It was on the list, hence is mapped, and is ours alone now.
            unsafe { item.memory.unmap(self.raw()) };
            item.ended.complete_all();
        }
    }
}
