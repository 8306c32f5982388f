// SPDX-License-Identifier: GPL-2.0

//! Pages of a region that are an object's, and how the CPU gets at them.
//!
//! Pages of the device's own memory are behind a window, through which it may see only some of them,
//! and none after the unbind.

use kernel::{prelude::*, sync::Arc};
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
use crate::vm::population::Departed;

/// The way of the CPU to a region's memory. Offsets are bytes from the region's first one.
#[derive(Clone, Copy)]
pub(super) enum Sight<'a> {
    /// It is mapped.
    Memory(View<'a>),
    /// It is seen through a window.
    Window(&'a Bar),
}

impl Sight<'_> {
    /// Copies out. Errors: `EINVAL` for what cannot be seen, `ENODEV` after the unbind.
    pub(super) fn read(&self, at: usize, out: &mut [u8]) -> Result {
        match self {
            Sight::Memory(view) => view.read(at, out),
            Sight::Window(bar) => bar.read_bytes(at, out),
        }
    }

    /// Copies in. Errors: as for [`read`](Self::read).
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

    /// Writes what the CPU's caches hold of it to memory.
    pub(super) fn clflush(&self, at: usize, len: usize) -> Result {
        match self {
            Sight::Memory(view) => view.clflush(at, len),
            // They hold nothing of it.
            Sight::Window(_) => Ok(()),
        }
    }
}

/// Pages of a region that are an object's. Dropped: they are free.
pub(crate) struct Blocks {
    region: Arc<Region>,
    /// First page and pages, in the order of the object's.
    runs: KVec<(u32, u32)>,
    count: u32,
}

impl Blocks {
    /// No pages yet.
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

    /// Pages that were taken are its.
    pub(super) fn add(&mut self, first: u32, count: u32) -> Result {
        self.runs.push((first, count), GFP_KERNEL)?;
        self.count += count;
        Ok(())
    }

    /// Sets all of it to zero, which is slow through a window. Errors: as for [`Sight::write`].
    pub(super) fn clear(&self) -> Result {
        self.each(0, bytes(self.count), |sight, at, range| {
            sight.clear(at, range.len())
        })
    }

    /// Number of pages.
    pub(super) fn len(&self) -> u32 {
        self.count
    }

    /// Where they are.
    pub(super) fn region(&self) -> &Arc<Region> {
        &self.region
    }

    fn store(&self) -> Option<&Store> {
        self.region.blocks.as_ref().map(|b| &b.store)
    }

    /// Whether they are behind a window, which may be closed.
    pub(super) fn is_windowed(&self) -> bool {
        self.region.is_windowed()
    }

    /// Where the GPU reaches them without a table: they are in one piece then.
    pub(super) fn direct(&self) -> Option<GpuAddr> {
        let Store::Device(Local { reach, .. }) = self.store()? else {
            return None;
        };
        match (reach, self.runs.first()) {
            (Reach::Direct(at), Some((first, _))) => Some(GpuAddr(at.0 + bytes(*first) as u64)),
            _ => None,
        }
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

    /// The frame of a page; `None` also where the CPU does not see it.
    pub(super) fn frame(&self, page: usize) -> Option<Frame<'_>> {
        let place = self.place(page)?;
        match self.store()? {
            Store::Simulated(memory) => memory.frame(place),
            Store::Device(local) => local.window.frame(place),
        }
    }

    /// The addresses of all pages, for the table's entries.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        let store = self.store();
        let address = move |page: u32| match store? {
            Store::Simulated(memory) => memory.address(page as usize),
            Store::Device(local) => match local.reach {
                Reach::Entries(DmaAddr(at)) => Some(at + bytes(page) as u64),
                // It is reached without entries.
                Reach::Direct(_) => None,
            },
        };
        let pages = self.runs.iter();
        let pages = pages.flat_map(|(first, count)| *first..*first + *count);
        pages.map_while(address)
    }

    /// What the entries say of it.
    pub(super) fn kind(&self) -> MemoryKind {
        self.region.memory_kind()
    }

    /// Calls `f` for each piece of a range: the way to it, the offset there, and where the piece is in
    /// the range.
    ///
    /// Errors: `EINVAL` if the range is not inside; those of `f`.
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
            let departed: Departed<Weak<Bo>> = blocky
                .population
                .lock()
                .give((*first).into(), (*count).into());
            drop(departed);
        }
    }
}

fn bytes(pages: u32) -> usize {
    pages as usize * PAGE_SIZE as usize
}
