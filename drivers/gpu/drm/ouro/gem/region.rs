// SPDX-License-Identifier: GPL-2.0

//! Regions: the kinds of memory that objects can live in.
//!
//! The first one is system memory, page by page. Others are memory of the device, which is shared
//! out in blocks, and of which there is only so much: somebody may have to leave when it is full
//! ([`Region::next_victim`]). No chip with such memory has a backend yet; for tests, module parameter
//! `test_region_mb` makes a region of as many megabytes out of system memory.

use kernel::{
    new_mutex,
    prelude::*,
    sync::{aref::ARef, Arc, Mutex},
};
use ouro_core::range::Want;
use ouro_hw::types::PAGE_SIZE;
use ouro_kernel::{
    pages::{DmaPages, View},
    pci::DmaDevice,
    task, Caching,
};

use super::Object;
use crate::vm::population::{Departed, Entrance, Population, Victim};

/// Regions that a device can have.
pub(crate) const MAX: usize = 4;

/// Where an object may live: numbers of regions, the best one first.
#[derive(Clone, Copy)]
pub(crate) struct Placements {
    list: [u8; MAX],
    len: u8,
}

impl Placements {
    /// Nowhere yet.
    pub(crate) fn none() -> Self {
        Self {
            list: [0; MAX],
            len: 0,
        }
    }

    /// System memory only.
    pub(crate) fn system() -> Self {
        Self {
            list: [0; MAX],
            len: 1,
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

/// Memory that is shared out in blocks.
#[pin_data]
struct Blocky {
    memory: DmaPages,
    #[pin]
    population: Mutex<Population>,
}

/// A region.
pub(crate) struct Region {
    kind: Kind,
    instance: u16,
    blocks: Option<Pin<KBox<Blocky>>>,
}

/// Pages of a region that are an object's. Dropped: they are free.
pub(crate) struct Blocks {
    region: Arc<Region>,
    /// First page and pages, in the order of the object's.
    runs: KVec<(u32, u32)>,
    count: u32,
}

/// The regions of a device: system memory first.
///
/// Errors: `ENOMEM`.
pub(crate) fn all(dma: &Arc<DmaDevice>) -> Result<KVec<Arc<Region>>> {
    let mut all = KVec::with_capacity(2, GFP_KERNEL)?;
    all.push(Region::system()?, GFP_KERNEL)?;
    let bytes = (crate::module_parameters::test_region_mb.value() as usize) << 20;
    if bytes != 0 {
        all.push(Region::simulated(dma, bytes)?, GFP_KERNEL)?;
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

    /// A region of the device's that is none: so many bytes of system memory, for tests.
    fn simulated(dma: &Arc<DmaDevice>, bytes: usize) -> Result<Arc<Self>> {
        let memory = DmaPages::new(dma, bytes / PAGE_SIZE as usize, Caching::WriteBack)?;
        let pages = memory.len() as u32;
        let blocks = KBox::pin_init(
            try_pin_init!(Blocky {
                memory,
                population <- new_mutex!(Population::new(0..pages)?, "ouro_region"),
            }? Error),
            GFP_KERNEL,
        )?;
        let this = Self {
            kind: Kind::Local,
            instance: 0,
            blocks: Some(blocks),
        };
        Ok(Arc::new(this, GFP_KERNEL)?)
    }

    /// What it is of.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Its number among those of its kind.
    pub(crate) fn instance(&self) -> u16 {
        self.instance
    }

    /// Bytes.
    pub(crate) fn size(&self) -> u64 {
        let pages = match &self.blocks {
            Some(blocks) => blocks.memory.len(),
            None => task::total_pages(),
        };
        pages as u64 * u64::from(PAGE_SIZE)
    }

    /// Bytes that nobody has, where that is known.
    pub(crate) fn free(&self) -> Option<u64> {
        let blocks = self.blocks.as_ref()?;
        Some(blocks.population.lock().free() * u64::from(PAGE_SIZE))
    }

    /// Zeroed pages for an object, in as few pieces as there are.
    ///
    /// Errors: `ENOSPC` if there are not so many, `ENODEV` for system memory, `ENOMEM`.
    pub(super) fn allocate(self: &Arc<Self>, object: &Object, pages: u32) -> Result<Blocks> {
        let Some(blocky) = &self.blocks else {
            return Err(ENODEV);
        };
        let mut blocks = Blocks {
            region: self.clone(),
            runs: KVec::new(),
            count: 0,
        };
        // The largest pieces first; what was got goes back by itself.
        let mut piece = pages;
        while blocks.count < pages {
            piece = piece.min(pages - blocks.count);
            blocks.runs.reserve(1, GFP_KERNEL)?;
            let entrance = Entrance::object(object)?;
            let taken = {
                let mut population = blocky.population.lock();
                let want = Want {
                    size: piece.into(),
                    align: 1,
                    within: (0, u64::MAX),
                };
                let taken = population.take(&[want]);
                if let Ok(first) = taken {
                    population.enter(first, piece, entrance);
                }
                taken
            };
            match taken {
                Ok(first) => {
                    blocks.runs.push((first, piece), GFP_KERNEL)?;
                    blocks.count += piece;
                }
                Err(e) if e == ENOSPC && piece > 1 => piece /= 2,
                Err(e) => return Err(e),
            }
        }
        let view = blocky.memory.view();
        for (first, count) in blocks.runs.iter() {
            view.fill(bytes(*first), bytes(*count), 0)?;
        }
        Ok(blocks)
    }

    /// The next object that may be asked to leave: as [`Population::next_victim`].
    pub(crate) fn next_victim(&self) -> Option<ARef<Object>> {
        match self.blocks.as_ref()?.population.lock().next_victim()? {
            Victim::Object(object) => Some(object),
            // Images live in system memory.
            Victim::Image(_) => None,
        }
    }

    /// Pieces that are taken: no fewer than there are objects.
    pub(crate) fn population(&self) -> usize {
        self.blocks
            .as_ref()
            .map_or(0, |b| b.population.lock().taken())
    }
}

impl Blocks {
    /// Number of pages.
    pub(super) fn len(&self) -> u32 {
        self.count
    }

    /// Where they are.
    pub(super) fn region(&self) -> &Arc<Region> {
        &self.region
    }

    fn memory(&self) -> Option<&DmaPages> {
        self.region.blocks.as_ref().map(|b| &b.memory)
    }

    /// The region's number of a page of the object's.
    fn place(&self, page: usize) -> Option<usize> {
        let mut left = u32::try_from(page).ok()?;
        for (first, count) in self.runs.iter() {
            if left < *count {
                return Some((first + left) as usize);
            }
            left -= count;
        }
        None
    }

    /// The frame of a page.
    pub(super) fn pfn(&self, page: usize) -> Option<usize> {
        self.memory()?.pfn(self.place(page)?)
    }

    /// The addresses of all pages, for the device.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        let addresses = self.memory().map_or(&[][..], |m| m.addresses());
        self.runs.iter().flat_map(move |(first, count)| {
            let (first, count) = (*first as usize, *count as usize);
            addresses.iter().copied().skip(first).take(count)
        })
    }

    /// Calls `f` for each piece of a range: the memory, the offset in it, and where the piece is in
    /// the range.
    ///
    /// Errors: `EINVAL` if the range is not inside; those of `f`.
    pub(super) fn each(
        &self,
        offset: usize,
        len: usize,
        mut f: impl FnMut(View<'_>, usize, core::ops::Range<usize>) -> Result,
    ) -> Result {
        let end = offset.checked_add(len).ok_or(EINVAL)?;
        let memory = self.memory().ok_or(EINVAL)?;
        let mut at = 0;
        let mut done = 0;
        for (first, count) in self.runs.iter() {
            let next = at + bytes(*count);
            let (from, to) = (offset.max(at), end.min(next));
            if from < to {
                let range = from - offset..to - offset;
                done += range.len();
                f(memory.view(), bytes(*first) + from - at, range)?;
            }
            at = next;
        }
        if done == len {
            Ok(())
        } else {
            Err(EINVAL)
        }
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        let Some(blocky) = &self.region.blocks else {
            return;
        };
        for (first, count) in self.runs.iter() {
            let departed: Departed = blocky.population.lock().give(*first, *count);
            drop(departed);
        }
    }
}

fn bytes(pages: u32) -> usize {
    pages as usize * PAGE_SIZE as usize
}
