// SPDX-License-Identifier: GPL-2.0

//! Regions: the kinds of memory that objects can live in.
//!
//! The first one is system memory, page by page. Others are memory of the device, which is shared
//! out in blocks ([`Blocks`](super::blocks::Blocks)), and of which there is only so much: somebody may
//! have to leave when it is full ([`Region::next_victim`]). For tests on chips without such memory,
//! module parameter `test_region_mb` makes a region of as many megabytes out of system memory.

use kernel::{
    new_mutex,
    prelude::*,
    sync::{aref::ARef, Arc, Mutex},
};
use ouro_core::{disjoint::Disjoint, range::Want};
use ouro_hw::types::{DmaAddr, GpuAddr, MemoryKind, PAGE_SIZE};
use ouro_kernel::{gem::Weak, mmio::Bar, pages::DmaPages, pci::DmaDevice, task, Caching};

use super::{blocks::Blocks, Bo, BoDevice, Object};
use crate::{
    look::PLANES,
    vm::population::{Entrance, Population},
};

/// Regions that a device can have.
pub(crate) const MAX: usize = 4;

/// The number of system memory.
pub(crate) const SYSTEM: usize = 0;

/// Where an object may live: numbers of regions, the best one first.
#[derive(Clone, Copy)]
pub(crate) struct Placements {
    list: [u8; MAX],
    len: u8,
    /// Whether the CPU is not expected to look: memory that it does not see is the best of a region.
    out_of_sight: bool,
    /// Whether what is in the device's own memory may be compressed there.
    compressible: bool,
}

impl Placements {
    /// Nowhere yet.
    pub(crate) fn none() -> Self {
        Self {
            list: [0; MAX],
            len: 0,
            out_of_sight: false,
            compressible: false,
        }
    }

    /// System memory only.
    pub(crate) fn system() -> Self {
        Self {
            list: [0; MAX],
            len: 1,
            out_of_sight: false,
            compressible: false,
        }
    }

    /// Adds a region. False if it is there already, or there are too many.
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

    /// The CPU will not look, or seldom.
    pub(crate) fn out_of_sight(self) -> Self {
        Self {
            out_of_sight: true,
            ..self
        }
    }

    /// User space expects it in the device's own memory alone, and may have it compressed there.
    pub(crate) fn compressible(self) -> Self {
        Self {
            compressible: true,
            ..self
        }
    }

    /// Whether it may be compressed.
    pub(super) fn is_compressible(&self) -> bool {
        self.compressible
    }

    /// Bytes of the largest of the smallest pieces that they have.
    pub(super) fn grain(&self, gpu: &BoDevice) -> u64 {
        let regions = self.iter().filter_map(|i| gpu.regions().get(i));
        regions.fold(PAGE_SIZE.into(), |most, r| r.grain().max(most))
    }

    /// The regions.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.list
            .iter()
            .take(self.len.into())
            .map(|i| usize::from(*i))
    }
}

/// What a region is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// System memory, which all share.
    System,
    /// Memory of the device.
    Local,
}

/// Memory of the device's own, as it is.
pub(crate) struct Local {
    /// What the CPU sees of it, from its first byte on.
    pub(crate) window: Bar,
    /// Bytes.
    pub(crate) size: u64,
    /// How the GPU reaches it.
    pub(crate) reach: Reach,
    /// Pages of its smallest piece.
    pub(crate) grain: u32,
    /// Pages that no object gets: what planes of the display show.
    pub(crate) lit: Disjoint<PLANES>,
}

/// How the GPU reaches memory of the device's own.
#[derive(Clone, Copy)]
pub(crate) enum Reach {
    /// Without a table: the first byte is there. What an object has is in one piece then.
    Direct(GpuAddr),
    /// By entries, in which the first byte has this address.
    Entries(DmaAddr),
}

/// What is shared out.
pub(super) enum Store {
    /// System memory, in place of the device's.
    Simulated(DmaPages),
    /// The device's own.
    Device(Local),
}

impl Store {
    fn pages(&self) -> u32 {
        match self {
            Store::Simulated(memory) => memory.len() as u32,
            Store::Device(local) => (local.size / u64::from(PAGE_SIZE)) as u32,
        }
    }

    /// Whether what an object has must be in one piece.
    fn is_whole(&self) -> bool {
        match self {
            Store::Simulated(_) => false,
            Store::Device(local) => matches!(local.reach, Reach::Direct(_)),
        }
    }

    /// Pages of the smallest piece.
    fn grain(&self) -> u32 {
        match self {
            Store::Simulated(_) => 1,
            Store::Device(local) => local.grain,
        }
    }

    /// Pages among the first `count` that objects can get.
    fn usable(&self, count: u32) -> u64 {
        let all = 0..u64::from(count);
        match self {
            Store::Simulated(_) => all.end,
            Store::Device(local) => local.lit.rest(all).map(|r| r.end - r.start).sum(),
        }
    }

    /// Pages that the CPU sees: the first ones.
    fn visible(&self) -> u32 {
        match self {
            Store::Simulated(memory) => memory.len() as u32,
            Store::Device(local) => (local.window.len() / PAGE_SIZE as usize) as u32,
        }
    }
}

/// Memory that is shared out in blocks.
#[pin_data]
pub(super) struct Blocky {
    pub(super) store: Store,
    #[pin]
    pub(super) population: Mutex<Population<Weak<Bo>>>,
}

/// A region.
pub(crate) struct Region {
    kind: Kind,
    instance: u16,
    pub(super) blocks: Option<Pin<KBox<Blocky>>>,
}

/// What becomes of memory that an object gets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is the object's as it is: zeroed by the CPU. That there is none of it in memory behind a window,
    /// where the CPU is slow: an object begins in system memory, and moves there when a batch wants it.
    Fresh,
    /// A move writes all of it before anybody looks. Best where the CPU sees it.
    Target,
}

/// The regions of a device: system memory first. `local` is what it has of its own. One for tests alone is there only
/// if it `moves` objects: copies see the CPU's caches.
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
    /// System memory.
    fn system() -> Result<Arc<Self>> {
        let this = Self {
            kind: Kind::System,
            instance: 0,
            blocks: None,
        };
        Ok(Arc::new(this, GFP_KERNEL)?)
    }

    /// Memory of the device's, or what stands for it.
    fn local(store: Store, instance: u16) -> Result<Arc<Self>> {
        let pages = store.pages();
        let blocks = KBox::pin_init(
            try_pin_init!(Blocky {
                store,
                population <- new_mutex!(Population::new(0..u64::from(pages))?, "ouro_region"),
            }? Error),
            GFP_KERNEL,
        )?;
        let this = Self {
            kind: Kind::Local,
            instance,
            blocks: Some(blocks),
        };
        Ok(Arc::new(this, GFP_KERNEL)?)
    }

    /// Takes these pages for ever. Errors: `ENOMEM`.
    fn keep(&self, lit: &Disjoint<PLANES>) -> Result {
        let Some(blocky) = &self.blocks else {
            return Ok(());
        };
        let pages = u64::from(blocky.store.pages());
        let mut population = blocky.population.lock();
        for range in lit.iter() {
            let end = range.end.min(pages);
            if range.start < end {
                population.take_at(range.start, end - range.start)?;
            }
        }
        Ok(())
    }

    /// What it is of.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Its number among those of its kind.
    pub(crate) fn instance(&self) -> u16 {
        self.instance
    }

    /// Bytes that objects can have.
    pub(crate) fn size(&self) -> u64 {
        let pages = match &self.blocks {
            Some(blocks) => blocks.store.usable(blocks.store.pages()),
            None => task::total_pages() as u64,
        };
        pages * u64::from(PAGE_SIZE)
    }

    /// Those of them that the CPU sees.
    pub(crate) fn visible(&self) -> u64 {
        match &self.blocks {
            Some(blocks) => blocks.store.usable(blocks.store.visible()) * u64::from(PAGE_SIZE),
            None => self.size(),
        }
    }

    /// Whether the CPU sees it through a window of the device's.
    pub(crate) fn is_windowed(&self) -> bool {
        let store = self.blocks.as_ref().map(|b| &b.store);
        matches!(store, Some(Store::Device(_)))
    }

    /// What entries and commands say of its memory.
    pub(crate) fn memory_kind(&self) -> MemoryKind {
        match self.is_windowed() {
            true => MemoryKind::Local,
            false => MemoryKind::System,
        }
    }

    /// Bytes of its smallest piece: sizes and addresses of objects that may be there are multiples.
    pub(crate) fn grain(&self) -> u64 {
        let pages = self.blocks.as_ref().map_or(1, |b| b.store.grain());
        u64::from(pages) * u64::from(PAGE_SIZE)
    }

    /// Bytes that nobody has, where that is known.
    pub(crate) fn free(&self) -> Option<u64> {
        let blocks = self.blocks.as_ref()?;
        Some(blocks.population.lock().free() * u64::from(PAGE_SIZE))
    }

    /// Pages for an object, in as few pieces as there are; in one where the chip needs that.
    ///
    /// Errors: `ENOSPC` if there are not so many, `ENODEV` for system memory, `ENOMEM`.
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
        // The largest pieces first; what was got goes back by itself.
        let mut piece = pages;
        while blocks.len() < pages {
            piece = piece.min(pages - blocks.len());
            blocks.make_room()?;
            let entrance = Entrance::new(object.downgrade())?;
            let taken = {
                let mut population = blocky.population.lock();
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
                let taken = population.take(&[best, anywhere]);
                if let Ok(first) = taken {
                    population.enter(first, piece.into(), entrance);
                }
                taken
            };
            match taken {
                // There are no more pages than that.
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

    /// The next object that may be asked to leave: as [`Population::next_victim`].
    pub(crate) fn next_victim(&self) -> Option<ARef<Object>> {
        self.blocks.as_ref()?.population.lock().next_victim()
    }

    /// The first object at or behind a page, and the page behind its start; `None`: there is none.
    pub(super) fn object_from(&self, page: u32) -> Option<(u32, ARef<Object>)> {
        let blocks = self.blocks.as_ref()?;
        let (start, object) = blocks.population.lock().resident_from(page.into())?;
        Some(((start as u32).wrapping_add(1), object))
    }

    /// Pieces that are taken: no fewer than there are objects.
    pub(crate) fn population(&self) -> usize {
        self.blocks
            .as_ref()
            .map_or(0, |b| b.population.lock().taken())
    }
}
