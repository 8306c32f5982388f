// SPDX-License-Identifier: GPL-2.0

//! The device as the other end of DMA, and all that is mapped for it.

use core::mem::MaybeUninit;
use kernel::{
    bindings,
    device::{self, Core},
    error::to_result,
    list::{impl_list_arc_safe, impl_list_item, List, ListArc, ListLinks},
    new_condvar, new_mutex, pci,
    prelude::*,
    sync::{aref::ARef, Arc, CondVar, Mutex, UniqueArc},
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
    /// How many are mapping or unmapping now: the end of the bond waits for them.
    inside: usize,
    mapped: List<Mapped>,
}

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
    /// Held for the list alone; nothing allocates under it.
    #[pin]
    state: Mutex<State>,
    /// Somebody has gone who was counted.
    #[pin]
    gone: CondVar,
}

/// The bond of a device: it is bound as long as this lives. Not to be kept while waiting for anything
/// that the unbind may have to end.
pub(crate) struct Bonded<'a>(&'a DmaDevice);

impl Bonded<'_> {
    /// The C device.
    pub(crate) fn raw(&self) -> *mut bindings::device {
        self.0.raw()
    }

    /// Takes over what was just mapped.
    ///
    /// # Safety
    ///
    /// `memory` is mapped for this device, by what [`Memory::unmap()`] undoes.
    pub(super) unsafe fn add(&self, room: Room, memory: Memory) -> Arc<Mapped> {
        let Ok(item) = room.0.pin_init_with(pin_init!(Mapped {
            links <- ListLinks::new(),
            ended <- Completion::new(),
            memory,
        }));
        let item = ListArc::from(item);
        let arc = item.clone_arc();
        // If the bond is being ended, that waits for us, and then looks at the list again.
        self.0.state.lock().mapped.push_back(item);
        arc
    }
}

impl Drop for Bonded<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.inside -= 1;
        if !state.bound && state.inside == 0 {
            self.0.gone.notify_all();
        }
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
                state <- new_mutex!(State {
                    bound: true,
                    inside: 0,
                    mapped: List::new(),
                }),
                gone <- new_condvar!(),
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
        let mut state = self.state.lock();
        if !state.bound {
            return Err(ENODEV);
        }
        state.inside += 1;
        Ok(Bonded(self))
    }

    /// Takes an item off the list, to unmap it. `None`: the unbind has it.
    fn take_off(&self, item: &Mapped) -> Option<Bonded<'_>> {
        let mut state = self.state.lock();
        // SAFETY: An item is on the list of the device that it was mapped for, or on none.
        unsafe { state.mapped.remove(item) }?;
        // The unbind does not end before the list is empty, and nobody is inside.
        state.inside += 1;
        Some(Bonded(self))
    }

    /// Unmaps what was taken over, or waits until the unbind has done so. Sleeps.
    pub(super) fn remove(&self, item: &Mapped) {
        match self.take_off(item) {
            // SAFETY: It was on the list, hence is mapped, and is ours alone now.
            Some(bonded) => unsafe { item.memory.unmap(bonded.raw()) },
            None => drop(item.ended.wait(Interruptible::No, wait::FOREVER)),
        }
    }
}

impl EndWithBond for DmaDevice {
    fn end(&self) {
        self.state.lock().bound = false;
        // What was not stopped before cannot reach memory any more.
        // SAFETY: The device is bound until this returns.
        unsafe { bindings::pci_clear_master(raw_pci(&self.pdev)) };
        loop {
            let mut state = self.state.lock();
            let Some(item) = state.mapped.pop_front() else {
                if state.inside == 0 {
                    break;
                }
                self.gone.wait(&mut state);
                continue;
            };
            drop(state);
            // SAFETY: It was on the list, hence is mapped, and is ours alone now. The device is bound
            // until this returns.
            unsafe { item.memory.unmap(self.raw()) };
            item.ended.complete_all();
        }
    }
}
