// SPDX-License-Identifier: GPL-2.0

//! Memory that the GPU can reach: of an object, or of the kernel's own.
//!
//! It belongs to one owner at a time, and ends in the retirer's quarantine
//! ([`Retirer::bury`](crate::submit::Retirer::bury)): its pages are given back when no engine can
//! reach them any more.

use kernel::{
    list::{impl_list_arc_safe, impl_list_item, AtomicTracker, ListLinks, TryNewListArc},
    prelude::*,
    sync::Arc,
};
use ouro_hw::types::{CacheLevel, PAGE_SIZE};
use ouro_kernel::{
    pages::{DmaMap, DmaPages, Pages, Shmem},
    pci::DmaDevice,
    task, Caching,
};

use crate::vm::{Mapping, Owner, Place, Space};

/// What it is made of.
pub(crate) enum Memory {
    /// Pages of system memory, which user space may map.
    Pages(DmaMap),
    /// Pages that only the kernel and the GPU see.
    Kernel(DmaPages),
}

/// Memory. It does not change: an object that moves gets another one.
#[pin_data]
pub(crate) struct Backing {
    #[pin]
    links: ListLinks,
    #[pin]
    tracker: AtomicTracker,
    memory: Memory,
}

impl_list_arc_safe! {
    impl ListArcSafe<0> for Backing { tracked_by tracker: AtomicTracker; }
}
impl_list_item! {
    impl ListItem<0> for Backing { using ListLinks { self.links }; }
}

impl Backing {
    fn new(memory: Memory) -> Result<Arc<Self>> {
        Arc::pin_init(
            try_pin_init!(Self {
                links <- ListLinks::new(),
                tracker <- AtomicTracker::new(),
                memory,
            }? Error),
            GFP_KERNEL,
        )
    }

    /// Zeroed pages for an object of so many bytes.
    ///
    /// Errors: `ENOMEM`, at once if the machine has not so many; `ENODEV`, `EIO`.
    pub(crate) fn pages(dma: &Arc<DmaDevice>, size: usize) -> Result<Arc<Self>> {
        if size / PAGE_SIZE as usize > task::total_pages() {
            return Err(ENOMEM);
        }
        let pages: Arc<Pages> = Arc::new(Shmem::new(size, dma)?.get_pages()?, GFP_KERNEL)?;
        Self::new(Memory::Pages(pages.map(dma.clone())?))
    }

    /// Zeroed pages of the kernel's own.
    pub(crate) fn kernel(dma: &Arc<DmaDevice>, pages: usize) -> Result<Arc<Self>> {
        Self::new(Memory::Kernel(DmaPages::new(
            dma,
            pages,
            Caching::WriteBack,
        )?))
    }

    /// What it is made of.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Number of pages.
    pub(crate) fn len(&self) -> u32 {
        match &self.memory {
            Memory::Pages(map) => map.pages().len() as u32,
            Memory::Kernel(pages) => pages.len() as u32,
        }
    }

    /// Maps it, into a range of at least `pad` bytes. Process context.
    pub(crate) fn bind(
        &self,
        space: &Arc<Space>,
        place: Place,
        pad: u64,
        owner: Owner<'_>,
    ) -> Result<Mapping> {
        let padded = u32::try_from(pad / u64::from(PAGE_SIZE)).map_err(|_| ENOSPC)?;
        let (count, cache) = (self.len().max(padded), CacheLevel::Coherent);
        match &self.memory {
            Memory::Pages(map) => {
                let addresses = map.addresses(0).map(|(_, address)| address);
                space.map(place, count, owner, cache, addresses)
            }
            Memory::Kernel(pages) => {
                let addresses = pages.addresses().iter().copied();
                space.map(place, count, owner, cache, addresses)
            }
        }
    }
}
