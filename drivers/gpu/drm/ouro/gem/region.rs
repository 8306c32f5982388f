// SPDX-License-Identifier: GPL-2.0

//! Regions: the kinds of memory that BOs can be in.
//!
//! The first region is system memory, allocated page by page. Others are VRAM, allocated in blocks
//! ([`Blocks`](super::blocks::Blocks)); when one is full, BOs are evicted from it
//! ([`Region::next_victim`]). For tests on chips without VRAM, module parameter `test_region_mb`
//! makes a region of so many megabytes of system memory.

use kernel::{
    new_mutex,
    prelude::*,
    sync::{aref::ARef, Arc, Mutex},
};
use ouro_core::{
    disjoint::Disjoint,
    range::{Colour, Want},
};
use ouro_hw::types::{DmaAddr, GpuAddr, MemoryKind, PAGE_SIZE};
use ouro_kernel::{gem::Weak, mmio::Bar, pages::DmaPages, pci::DmaDevice, task, Caching};

use super::{blocks::Blocks, Bo, BoDevice, Object};
use crate::{
    look::PLANES,
    vm::allocator::{RangeAllocator, ReservedNode},
};

/// Most regions of a device.
pub(crate) const MAX: usize = 4;

/// The region number of system memory.
pub(crate) const SYSTEM: usize = 0;

/// The regions where a BO may be, by number, the preferred one first.
#[derive(Clone, Copy)]
pub(crate) struct Placements {
    list: [u8; MAX],
    len: u8,
    /// Whether the CPU rarely accesses the BO: memory that it does not see is preferred.
    out_of_sight: bool,
    /// Whether the BO may be compressed in VRAM.
    compressible: bool,
}

impl Placements {
    /// Returns an empty list.
    pub(crate) fn none() -> Self {
        Self {
            list: [0; MAX],
            len: 0,
            out_of_sight: false,
            compressible: false,
        }
    }

    /// Returns the list with system memory only.
    pub(crate) fn system() -> Self {
        Self {
            list: [0; MAX],
            len: 1,
            out_of_sight: false,
            compressible: false,
        }
    }

    /// Appends a region. Returns false if it is in the list already, or the list is full.
    pub(crate) fn push(&mut self, index: usize) -> bool {
        let Ok(number) = u8::try_from(index) else {
            return false;
        };
        if self.iter().any(|i| i == index) {
            return false;
        }
        let Some(free) = self.list.get_mut(usize::from(self.len)) else {
            return false;
        };
        *free = number;
        self.len += 1;
        true
    }

    /// Marks the BO as rarely accessed by the CPU.
    pub(crate) fn out_of_sight(self) -> Self {
        Self {
            out_of_sight: true,
            ..self
        }
    }

    /// Marks the BO as compressible: user space expects it to be in VRAM only.
    pub(crate) fn compressible(self) -> Self {
        Self {
            compressible: true,
            ..self
        }
    }

    /// Returns whether the BO may be compressed.
    pub(super) fn is_compressible(&self) -> bool {
        self.compressible
    }

    /// Returns the largest granularity of the regions, in bytes.
    pub(super) fn grain(&self, gpu: &BoDevice) -> u64 {
        let regions = self.iter().filter_map(|i| gpu.regions().get(i));
        regions.fold(PAGE_SIZE.into(), |most, r| r.grain().max(most))
    }

    /// Returns the regions.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.list
            .iter()
            .take(self.len.into())
            .map(|i| usize::from(*i))
    }
}

/// The kind of a region.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// System memory.
    System,
    /// VRAM.
    Local,
}

/// The VRAM of a device.
pub(crate) struct Local {
    /// The BAR through which the CPU sees it, from the first byte on.
    pub(crate) window: Bar,
    /// Size in bytes.
    pub(crate) size: u64,
    /// How the GPU addresses it.
    pub(crate) reach: Reach,
    /// Granularity in pages.
    pub(crate) grain: u32,
    /// Pages that are never allocated: display planes show them.
    pub(crate) lit: Disjoint<PLANES>,
}

/// How the GPU addresses VRAM.
#[derive(Clone, Copy)]
pub(crate) enum Reach {
    /// Without a table: the first byte has this address. BOs are contiguous then.
    Direct(GpuAddr),
    /// By PTEs, in which the first byte has this address.
    Entries(DmaAddr),
}

/// The memory of a region.
pub(super) enum Store {
    /// System memory that simulates VRAM.
    Simulated(DmaPages),
    /// VRAM.
    Device(Local),
}

impl Store {
    fn pages(&self) -> u32 {
        match self {
            Store::Simulated(memory) => memory.len() as u32,
            Store::Device(local) => (local.size / u64::from(PAGE_SIZE)) as u32,
        }
    }

    /// Returns whether a BO must be contiguous.
    fn is_whole(&self) -> bool {
        match self {
            Store::Simulated(_) => false,
            Store::Device(local) => matches!(local.reach, Reach::Direct(_)),
        }
    }

    /// Returns the granularity in pages.
    fn grain(&self) -> u32 {
        match self {
            Store::Simulated(_) => 1,
            Store::Device(local) => local.grain,
        }
    }

    /// Returns how many of the first `count` pages can be allocated.
    fn usable(&self, count: u32) -> u64 {
        let all = 0..u64::from(count);
        match self {
            Store::Simulated(_) => all.end,
            Store::Device(local) => local.lit.rest(all).map(|r| r.end - r.start).sum(),
        }
    }

    /// Returns the number of pages that the CPU sees: the first ones.
    fn visible(&self) -> u32 {
        match self {
            Store::Simulated(memory) => memory.len() as u32,
            Store::Device(local) => (local.window.len() / PAGE_SIZE as usize) as u32,
        }
    }
}

/// Memory that is allocated in blocks.
#[pin_data]
pub(super) struct Blocky {
    pub(super) store: Store,
    #[pin]
    pub(super) ranges: Mutex<RangeAllocator<Weak<Bo>>>,
}

/// A region.
pub(crate) struct Region {
    kind: Kind,
    instance: u16,
    /// Number of pages that BOs can have, if it is allocated in blocks.
    usable: u64,
    pub(super) blocks: Option<Pin<KBox<Blocky>>>,
}

/// The purpose of an allocation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A new BO's memory, cleared by the CPU. Not for VRAM, where the CPU is slow: a BO starts in
    /// system memory, and moves to VRAM when a batch wants it there.
    Fresh,
    /// The destination of a move, which writes all of it. Preferably visible to the CPU.
    Target,
}

/// Creates the regions of a device, system memory first. `local` is its VRAM. The test region
/// exists only if the device `moves` BOs coherently with the CPU's caches.
///
/// Errors: `ENOMEM`.
pub(crate) fn all(
    dma: &Arc<DmaDevice>,
    local: Option<Local>,
    moves: bool,
) -> Result<KVec<Arc<Region>>> {
    let mut all = KVec::with_capacity(MAX, GFP_KERNEL)?;
    all.push(Region::system()?, GFP_KERNEL)?;
    if let Some(local) = local {
        let lit = local.lit.clone();
        let region = Region::local(Store::Device(local), 0)?;
        region.keep(&lit)?;
        all.push(region, GFP_KERNEL)?;
    }
    let bytes = (crate::module_parameters::test_region_mb.value() as usize) << 20;
    if bytes != 0 && moves {
        let memory = DmaPages::new(dma, bytes / PAGE_SIZE as usize, Caching::WriteBack)?;
        let instance = all.len() as u16 - 1;
        all.push(
            Region::local(Store::Simulated(memory), instance)?,
            GFP_KERNEL,
        )?;
    }
    Ok(all)
}

impl Region {
    /// Creates the region of system memory.
    fn system() -> Result<Arc<Self>> {
        let this = Self {
            kind: Kind::System,
            instance: 0,
            usable: 0,
            blocks: None,
        };
        Ok(Arc::new(this, GFP_KERNEL)?)
    }

    /// Creates a region of VRAM, or of memory that simulates it.
    fn local(store: Store, instance: u16) -> Result<Arc<Self>> {
        let pages = store.pages();
        let blocks = KBox::pin_init(
            try_pin_init!(Blocky {
                store,
                ranges <- new_mutex!(RangeAllocator::new(0..u64::from(pages))?, "ouro_region"),
            }? Error),
            GFP_KERNEL,
        )?;
        let this = Self {
            kind: Kind::Local,
            instance,
            usable: blocks.store.usable(pages),
            blocks: Some(blocks),
        };
        Ok(Arc::new(this, GFP_KERNEL)?)
    }

    /// Reserves the pages that display planes show. Errors: `ENOMEM`.
    fn keep(&self, lit: &Disjoint<PLANES>) -> Result {
        let Some(blocky) = &self.blocks else {
            return Ok(());
        };
        let pages = u64::from(blocky.store.pages());
        let mut ranges = blocky.ranges.lock();
        for range in lit.iter() {
            let end = range.end.min(pages);
            if range.start < end {
                ranges.take_at(range.start, end - range.start, Colour::Plain)?;
            }
        }
        Ok(())
    }

    /// Returns the kind of memory.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns its number among the regions of its kind.
    pub(crate) fn instance(&self) -> u16 {
        self.instance
    }

    /// Returns how many bytes BOs can have.
    pub(crate) fn size(&self) -> u64 {
        let pages = match &self.blocks {
            Some(_) => self.usable,
            None => task::total_pages() as u64,
        };
        pages * u64::from(PAGE_SIZE)
    }

    /// Returns how many of these the CPU sees.
    pub(crate) fn visible(&self) -> u64 {
        match &self.blocks {
            Some(blocks) => blocks.store.usable(blocks.store.visible()) * u64::from(PAGE_SIZE),
            None => self.size(),
        }
    }

    /// Returns whether the CPU sees it through a BAR.
    pub(crate) fn is_windowed(&self) -> bool {
        let store = self.blocks.as_ref().map(|b| &b.store);
        matches!(store, Some(Store::Device(_)))
    }

    /// Returns whether it is VRAM that the GPU addresses by PTEs.
    pub(crate) fn is_mapped(&self) -> bool {
        let store = self.blocks.as_ref().map(|b| &b.store);
        let reach = |local: &Local| matches!(local.reach, Reach::Entries(_));
        matches!(store, Some(Store::Device(local)) if reach(local))
    }

    /// Returns its memory kind in PTEs and commands.
    pub(crate) fn memory_kind(&self) -> MemoryKind {
        match self.is_windowed() {
            true => MemoryKind::Local,
            false => MemoryKind::System,
        }
    }

    /// Returns the granularity of sizes and addresses in bytes.
    pub(crate) fn grain(&self) -> u64 {
        let pages = self.blocks.as_ref().map_or(1, |b| b.store.grain());
        u64::from(pages) * u64::from(PAGE_SIZE)
    }

    /// Returns the number of free bytes, if that is known.
    pub(crate) fn free(&self) -> Option<u64> {
        let blocks = self.blocks.as_ref()?;
        Some(blocks.ranges.lock().free() * u64::from(PAGE_SIZE))
    }

    /// Allocates pages for a BO, in as few pieces as possible; in one piece if the chip needs that.
    ///
    /// Errors: `ENOSPC` if the region is full, `ENODEV` for system memory, `ENOMEM`.
    pub(super) fn allocate(
        self: &Arc<Self>,
        object: &Object,
        pages: u32,
        purpose: Purpose,
    ) -> Result<Blocks> {
        let Some(blocky) = &self.blocks else {
            return Err(ENODEV);
        };
        if self.is_windowed() && purpose == Purpose::Fresh {
            return Err(ENOSPC);
        }
        let (whole, grain) = (blocky.store.is_whole(), blocky.store.grain());
        let mut blocks = Blocks::none(self);
        // The largest pieces first; on an error they are freed on drop.
        let mut piece = pages;
        while blocks.len() < pages {
            piece = piece.min(pages - blocks.len());
            blocks.make_room()?;
            let node = ReservedNode::new(object.downgrade())?;
            let taken = {
                let mut ranges = blocky.ranges.lock();
                let anywhere = Want {
                    size: piece.into(),
                    align: (object.align() / u64::from(PAGE_SIZE)).max(grain.into()),
                    within: (0, u64::MAX),
                };
                let visible = blocky.store.visible().into();
                let best = Want {
                    within: match object.placements().out_of_sight {
                        true => (visible, u64::MAX),
                        false => (0, visible),
                    },
                    ..anywhere
                };
                let taken = ranges.take(&[best, anywhere], Colour::Plain);
                if let Ok(first) = taken {
                    ranges.insert_owner(first, piece.into(), Colour::Plain, node);
                }
                taken
            };
            match taken {
                // A page number fits in 32 bits.
                Ok(first) => blocks.add(first as u32, piece)?,
                Err(e) if e == ENOSPC && piece > grain && !whole => {
                    piece = (piece / 2).next_multiple_of(grain);
                }
                Err(e) => return Err(e),
            }
        }
        if purpose == Purpose::Fresh {
            blocks.clear()?;
        }
        Ok(blocks)
    }

    /// Returns the next BO to evict: as [`RangeAllocator::next_victim`].
    pub(crate) fn next_victim(&self) -> Option<ARef<Object>> {
        self.blocks.as_ref()?.ranges.lock().next_victim()
    }

    /// Returns the first BO that starts at `page` or later, and the page behind its first one;
    /// `None` if there is none.
    pub(super) fn object_from(&self, page: u32) -> Option<(u32, ARef<Object>)> {
        let blocks = self.blocks.as_ref()?;
        let (start, object) = blocks.ranges.lock().first_owner_from(page.into())?;
        Some(((start as u32).wrapping_add(1), object))
    }

    /// Returns the number of allocated pieces, an upper limit of the number of BOs.
    pub(crate) fn allocated_ranges(&self) -> usize {
        self.blocks
            .as_ref()
            .map_or(0, |b| b.ranges.lock().allocated_ranges())
    }
}
