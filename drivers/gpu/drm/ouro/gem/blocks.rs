// SPDX-License-Identifier: GPL-2.0

//! The pages of a region that a BO has, and CPU access to them.
//!
//! VRAM pages are behind a BAR, through which the CPU may see only some of them, and none after the
//! unbind.

use kernel::{prelude::*, sync::Arc};
use ouro_core::range::Colour;
use ouro_hw::types::{DmaAddr, GpuAddr, MemoryKind, PAGE_SIZE};
use ouro_kernel::{
    gem::Weak,
    mmio::Bar,
    pages::{Frame, View},
};

use super::{
    region::{Local, Reach, Region, Store},
    Bo,
};
use crate::vm::allocator::RemovedNode;

/// CPU access to a region's memory. Offsets are in bytes from the region's start.
#[derive(Clone, Copy)]
pub(super) enum Sight<'a> {
    /// Mapped memory.
    Memory(View<'a>),
    /// A BAR.
    Window(&'a Bar),
}

impl Sight<'_> {
    /// Copies out. Errors: `EINVAL` for pages that the CPU does not see, `ENODEV` after the unbind.
    pub(super) fn read(&self, at: usize, out: &mut [u8]) -> Result {
        match self {
            Sight::Memory(view) => view.read(at, out),
            Sight::Window(bar) => bar.read_bytes(at, out),
        }
    }

    /// Copies in. Errors: as [`read`](Self::read).
    pub(super) fn write(&self, at: usize, bytes: &[u8]) -> Result {
        match self {
            Sight::Memory(view) => view.write(at, bytes),
            Sight::Window(bar) => bar.write_bytes(at, bytes),
        }
    }

    fn clear(&self, at: usize, len: usize) -> Result {
        match self {
            Sight::Memory(view) => view.fill(at, len, 0),
            Sight::Window(bar) => {
                let zeros = [0; 256];
                for from in (at..at + len).step_by(zeros.len()) {
                    let len = zeros.len().min(at + len - from);
                    bar.write_bytes(from, zeros.get(..len).ok_or(EINVAL)?)?;
                }
                Ok(())
            }
        }
    }

    /// Writes the CPU's cached lines back to memory.
    pub(super) fn clflush(&self, at: usize, len: usize) -> Result {
        match self {
            Sight::Memory(view) => view.clflush(at, len),
            // The BAR is not cached.
            Sight::Window(_) => Ok(()),
        }
    }
}

/// The pages of a region that a BO has, freed on drop.
pub(crate) struct Blocks {
    region: Arc<Region>,
    /// Runs of pages (first page, number), in the order of the BO's pages.
    runs: KVec<(u32, u32)>,
    count: u32,
}

impl Blocks {
    /// Creates an empty set of pages.
    pub(super) fn none(region: &Arc<Region>) -> Self {
        Self {
            region: region.clone(),
            runs: KVec::new(),
            count: 0,
        }
    }

    /// Makes sure that [`add`](Self::add) needs no memory. Errors: `ENOMEM`.
    pub(super) fn make_room(&mut self) -> Result {
        Ok(self.runs.reserve(1, GFP_KERNEL)?)
    }

    /// Appends allocated pages. Errors: `ENOMEM`.
    pub(super) fn add(&mut self, first: u32, count: u32) -> Result {
        self.runs.push((first, count), GFP_KERNEL)?;
        self.count += count;
        Ok(())
    }

    /// Clears all pages, which is slow through a BAR. Errors: as [`Sight::write`].
    pub(super) fn clear(&self) -> Result {
        self.each(0, bytes(self.count), |sight, at, range| {
            sight.clear(at, range.len())
        })
    }

    /// Returns the number of pages.
    pub(super) fn len(&self) -> u32 {
        self.count
    }

    /// Returns their region.
    pub(super) fn region(&self) -> &Arc<Region> {
        &self.region
    }

    fn store(&self) -> Option<&Store> {
        self.region.blocks.as_ref().map(|b| &b.store)
    }

    /// Returns whether they are behind a BAR, which may be closed.
    pub(super) fn is_windowed(&self) -> bool {
        self.region.is_windowed()
    }

    /// Returns their address if the GPU reaches them without PTEs; they are then contiguous.
    pub(super) fn direct(&self) -> Option<GpuAddr> {
        let Store::Device(Local { reach, .. }) = self.store()? else {
            return None;
        };
        match (reach, self.runs.first()) {
            (Reach::Direct(at), Some((first, _))) => Some(GpuAddr(at.0 + bytes(*first) as u64)),
            _ => None,
        }
    }

    /// Returns the region's page that is page `page` of the BO.
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

    /// Returns the page frame of a page; `None` also if the CPU does not see it.
    pub(super) fn frame(&self, page: usize) -> Option<Frame<'_>> {
        let place = self.place(page)?;
        match self.store()? {
            Store::Simulated(memory) => memory.frame(place),
            Store::Device(local) => local.window.frame(place),
        }
    }

    /// Returns the DMA addresses of all pages, for PTEs.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        let store = self.store();
        let address = move |page: u32| match store? {
            Store::Simulated(memory) => memory.address(page as usize),
            Store::Device(local) => match local.reach {
                Reach::Entries(DmaAddr(at)) => Some(at + bytes(page) as u64),
                // It needs no PTEs.
                Reach::Direct(_) => None,
            },
        };
        let pages = self.runs.iter();
        let pages = pages.flat_map(|(first, count)| *first..*first + *count);
        pages.map_while(address)
    }

    /// Returns the memory kind for PTEs.
    pub(super) fn kind(&self) -> MemoryKind {
        self.region.memory_kind()
    }

    /// Calls `f` for each contiguous piece of a range, with the access to it, its offset there, and
    /// its position in the range.
    ///
    /// Errors: `EINVAL` if the range is not inside the pages; those of `f`.
    pub(super) fn each(
        &self,
        offset: usize,
        len: usize,
        mut f: impl FnMut(Sight<'_>, usize, core::ops::Range<usize>) -> Result,
    ) -> Result {
        let end = offset.checked_add(len).ok_or(EINVAL)?;
        let sight = match self.store().ok_or(EINVAL)? {
            Store::Simulated(memory) => Sight::Memory(memory.view()),
            Store::Device(local) => Sight::Window(&local.window),
        };
        let mut at = 0;
        let mut done = 0;
        for (first, count) in self.runs.iter() {
            let next = at + bytes(*count);
            let (from, to) = (offset.max(at), end.min(next));
            if from < to {
                let range = from - offset..to - offset;
                done += range.len();
                f(sight, bytes(*first) + from - at, range)?;
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
            let removed: RemovedNode<Weak<Bo>> =
                blocky
                    .ranges
                    .lock()
                    .release((*first).into(), (*count).into(), Colour::Plain);
            drop(removed);
        }
    }
}

fn bytes(pages: u32) -> usize {
    pages as usize * PAGE_SIZE as usize
}
