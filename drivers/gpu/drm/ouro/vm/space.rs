// SPDX-License-Identifier: GPL-2.0

//! An address space: its allocated ranges, and its page tables.
//!
//! The global space (GGTT) contains the kernel's own pages: rings, status pages, context images. On
//! chips with one space for all clients, batches use it, too; if they go through an aliasing PPGTT,
//! that repeats the GGTT for everything that user space may reach ([`Reach`], [`Global`]). On other
//! chips contexts have PPGTTs of their own ([`Levels`], [`Directory`]).

use kernel::{
    new_mutex,
    prelude::*,
    sync::{atomic::Atomic, Arc, Mutex},
};
use ouro_core::{
    port::Edition,
    range::{Colour, Want},
};
use ouro_hw::{
    coherence::{KernelMapping, KernelUse},
    generation::{Layout, Translation},
    page_table::{Leaf, PageTable},
    types::{CacheLevel, DmaAddr, GgttAddr, GpuAddr, MemoryKind, Page, PAGE_SIZE},
};
use ouro_kernel::pci::DmaDevice;

use super::{
    allocator::{RangeAllocator, RangeOwner, RangeUse, RemovedNode, ReservedNode},
    directory::Directory,
    global::{streams, Global},
    levels::Levels,
    place::Place,
    store::{TableStore, Whose},
};
use crate::{hardware::Hardware, look::Lit};

/// Which tables have a mapping.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The kernel's: the GGTT only.
    Kernel,
    /// User batches': also the aliasing PPGTT.
    Everyone,
}

/// The owner of mapped pages.
pub(crate) enum Owner<'a, T: RangeOwner> {
    /// The kernel: user batches cannot reach the pages.
    Kernel,
    /// The kernel's commands, a ring or copies of checked batches: the device only reads them, and
    /// only the CPU writes them. The PTEs are read-only if the format supports that.
    Commands,
    /// An owner that can be evicted. User batches reach the pages.
    Evictable(&'a T),
    /// As `Evictable`, but user batches cannot reach the pages.
    Hidden(&'a T),
    /// A BO that is being moved. The engine that copies may go through any table.
    Move,
    /// A second mapping of a BO for the CPU's view through the aperture: batches cannot reach it
    /// there. The aperture evicts its mappings itself.
    View,
}

impl<T: RangeOwner> Clone for Owner<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: RangeOwner> Copy for Owner<'_, T> {}

/// The properties of all PTEs of a mapping.
#[derive(Clone, Copy)]
pub(crate) struct PteAttributes {
    /// The memory that the pages are in.
    pub(crate) memory: MemoryKind,
    /// The cache level.
    pub(crate) cache: CacheLevel,
}

impl PteAttributes {
    /// Returns the properties of pages in system memory.
    pub(crate) fn system(cache: CacheLevel) -> Self {
        Self {
            memory: MemoryKind::System,
            cache,
        }
    }
}

/// The page tables of a PPGTT.
pub(super) enum Ppgtt<T: RangeOwner> {
    /// Multi-level tables in VRAM.
    Levels(Levels),
    /// A directory, and its GGTT slots while it has some.
    Directory(Directory, Option<(Arc<Space<T>>, GgttAddr)>),
}

/// The state under the lock.
pub(super) struct Inner<T: RangeOwner> {
    ranges: RangeAllocator<T>,
    /// The page tables, if it is a PPGTT.
    pub(super) ppgtt: Option<Ppgtt<T>>,
}

/// An address space.
#[pin_data]
pub(crate) struct Space<T: RangeOwner> {
    pub(super) hardware: Arc<Hardware>,
    /// The GGTT, if it is the global space.
    global: Option<Global>,
    /// The format of PTEs.
    format: &'static dyn PageTable,
    #[pin]
    pub(super) inner: Mutex<Inner<T>>,
    /// The current edition of its directory.
    pub(super) edition: Atomic<u64>,
    pages: u64,
}

/// A mapped range of a space. On drop, it is unmapped and freed.
pub(crate) struct Mapping<T: RangeOwner> {
    space: Arc<Space<T>>,
    /// First page, and number of pages.
    first: u64,
    count: u64,
    /// Number of pages with a PTE; the others map the scratch page.
    filled: u32,
    colour: Colour,
    reach: Reach,
    ended: bool,
}

impl<T: RangeOwner> Mapping<T> {
    /// Returns its address.
    pub(crate) fn addr(&self) -> GpuAddr {
        GpuAddr(self.first * u64::from(PAGE_SIZE))
    }

    /// Returns its address in the GGTT.
    pub(crate) fn ggtt(&self) -> GgttAddr {
        GgttAddr((self.first as u32).wrapping_mul(PAGE_SIZE))
    }

    /// Returns its length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.count * u64::from(PAGE_SIZE)
    }

    /// Returns the space that it is in.
    pub(super) fn space(&self) -> &Arc<Space<T>> {
        &self.space
    }

    /// Ends the mapping, unless the space is locked. Returns whether it has ended; it must not be
    /// used after that. Does not wait, so that reclaim may call it.
    pub(crate) fn try_end(&mut self) -> bool {
        if !self.ended {
            let Some(mut inner) = self.space.inner.try_lock() else {
                return false;
            };
            let removed = self.space.unmap(&mut inner, self);
            self.ended = true;
            drop(inner);
            drop(removed);
        }
        true
    }
}

impl<T: RangeOwner> Drop for Mapping<T> {
    fn drop(&mut self) {
        if !self.ended {
            // Under the lock: `restore()` must not write the PTEs again that are removed here.
            let mut inner = self.space.inner.lock();
            let removed = self.space.unmap(&mut inner, self);
            drop(inner);
            drop(removed);
        }
    }
}

impl<T: RangeOwner> Space<T> {
    /// Creates the global space of a device: scratch page, aliasing PPGTT, and the slots of its
    /// directory.
    ///
    /// The PTEs of display planes in `lit` stay as the firmware left them.
    ///
    /// Errors: `EIO` if the device does not keep written PTEs; `ENOSPC`, `ENOMEM`.
    pub(crate) fn new(
        hardware: Arc<Hardware>,
        dma: &Arc<DmaDevice>,
        lit: &Lit,
    ) -> Result<Arc<Self>> {
        let entries = u64::from(hardware.topology().gtt_entries);
        // Page 0 stays free, so that an address of zero is always a mistake. So does the last page,
        // because engines prefetch beyond it: the upstream driver has seen them hang there.
        let within = 1..entries.saturating_sub(1);
        let mut ranges = RangeAllocator::new(within.clone())?;
        for range in lit.entries.iter() {
            let (first, end) = (range.start.max(within.start), range.end.min(within.end));
            if first < end {
                ranges.take_at(first, end - first, Colour::Plain)?;
            }
        }
        let image = lit.image.start.max(within.start)..lit.image.end.min(within.end);
        for range in lit.entries.rest(image) {
            ranges.take_at(range.start, range.end - range.start, Colour::Plain)?;
        }
        let global = Global::new(&hardware, dma, &mut ranges, &lit.entries)?;
        let format = hardware.topology().pages;
        let inner = Inner {
            ranges,
            ppgtt: None,
        };
        let this = Self::with(hardware, Some(global), format, inner, entries)?;
        if let Some(global) = &this.global {
            global
                .begin(&this.hardware)
                // The scratch page is about to be freed.
                .inspect_err(|_| this.retract())?;
        }
        Ok(this)
    }

    /// Creates a PPGTT for contexts, on chips with a PPGTT per context; `store` is for tables in
    /// VRAM, `whose` the space is. Errors: `ENOSPC` if there is no room for its tables, `ENOMEM`,
    /// `ENODEV` on other chips.
    pub(crate) fn new_ppgtt(
        hardware: Arc<Hardware>,
        dma: &Arc<DmaDevice>,
        store: Option<&Arc<TableStore>>,
        whose: Whose,
    ) -> Result<Arc<Self>> {
        let topology = hardware.topology();
        match topology.space {
            Translation::PerContext { bits, kept, tables } => {
                let pages = (1u64 << (bits - PAGE_SIZE.ilog2() as u8)) - u64::from(kept);
                let levels = Levels::new(store.ok_or(ENODEV)?, whose, dma, tables, bits)?;
                let inner = Inner {
                    ranges: RangeAllocator::new(0..pages)?,
                    ppgtt: Some(Ppgtt::Levels(levels)),
                };
                Self::with(hardware, None, tables, inner, pages)
            }
            Translation::PerContextDirectory { directories, .. } => {
                let format = topology.pages;
                let reach = u64::from(directories) * u64::from(format.entries_per_table());
                // User space sees it as the global space: the same size, with the same reserved
                // pages.
                let pages = reach.min(topology.gtt_entries.into());
                let directory = Directory::new(dma, format, directories)?;
                let mut ranges = RangeAllocator::new(1..pages.saturating_sub(1))?;
                if let Some(kernel) = streams(topology) {
                    let count = kernel.end - kernel.start;
                    ranges.take_at(kernel.start, count, Colour::Plain)?;
                }
                let inner = Inner {
                    ranges,
                    ppgtt: Some(Ppgtt::Directory(directory, None)),
                };
                Self::with(hardware, None, format, inner, pages)
            }
            Translation::Global | Translation::Aliasing { .. } => Err(ENODEV),
        }
    }

    fn with(
        hardware: Arc<Hardware>,
        global: Option<Global>,
        format: &'static dyn PageTable,
        inner: Inner<T>,
        pages: u64,
    ) -> Result<Arc<Self>> {
        Arc::pin_init(
            try_pin_init!(Self {
                hardware,
                global,
                format,
                inner <- new_mutex!(inner, "ouro_space"),
                edition: Atomic::new(Edition::GLOBAL.0),
                pages,
            }? Error),
            GFP_KERNEL,
        )
    }

    /// Returns how kernel pages are mapped.
    pub(crate) fn kernel_mapping(&self, what: KernelUse) -> KernelMapping {
        self.hardware.kernel_mapping(what)
    }

    /// Returns the layout of the global space; `None` for a PPGTT.
    pub(crate) fn layout(&self) -> Option<&Layout> {
        self.global.as_ref().map(|g| g.layout())
    }

    /// Returns the range in bytes for kernel pages that command streamers access through the GGTT:
    /// on chips whose contexts have page directories, addresses that no context maps.
    pub(crate) fn stream_range(&self) -> (u64, u64) {
        match streams(self.hardware.topology()) {
            // Away from both ends, as streamers prefetch.
            Some(pages) => {
                let bytes = |page: u64| page * u64::from(PAGE_SIZE);
                (bytes(pages.start + 1), bytes(pages.end - 1))
            }
            None => (0, u64::MAX),
        }
    }

    /// Returns the root table of a PPGTT, if that is in VRAM.
    pub(crate) fn root(&self) -> Option<DmaAddr> {
        match &self.inner.lock().ppgtt {
            Some(Ppgtt::Levels(levels)) => Some(levels.root()),
            Some(Ppgtt::Directory(..)) | None => None,
        }
    }

    /// Writes a part of a directory to GGTT slots, of which the caller has a [`Mapping`].
    pub(super) fn write_slots(&self, first: u32, entries: impl Iterator<Item = u64>) {
        if let Some(global) = &self.global {
            global.write(&self.hardware, first, entries, Reach::Kernel);
        }
    }

    /// Returns the size of the whole space in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.pages * u64::from(PAGE_SIZE)
    }

    /// Returns the number of free bytes.
    pub(crate) fn free(&self) -> u64 {
        self.inner.lock().ranges.free() * u64::from(PAGE_SIZE)
    }

    /// Writes the GGTT again, after the device has lost it. Pages that were unmapped meanwhile stay
    /// unmapped.
    pub(crate) fn restore(&self) {
        let inner = self.inner.lock();
        if let Some(global) = &self.global {
            global.restore(&self.hardware);
        }
        drop(inner);
        self.hardware.gtt_written();
        self.hardware.flush_gtt();
    }

    /// Invalidates all GGTT entries except those of display planes, and closes the GGTT's window:
    /// no PTE leads to a page that may be reused.
    pub(crate) fn retract(&self) {
        // A mapping that is removed later must find the window closed.
        let inner = self.inner.lock();
        if let Some(global) = &self.global {
            global.retract(&self.hardware);
        }
        self.hardware.gtt_written();
        self.hardware.flush_gtt();
        self.hardware.close_table();
        drop(inner);
    }

    /// Maps `count` pages with the addresses of `addresses`; if these are fewer, the scratch page
    /// stays in the rest. The mapping takes effect at [`Hardware::flush_gtt`], before the next
    /// submission.
    ///
    /// Kernel pages go to the end of the space if possible, away from addresses that clients may
    /// choose; BOs go above the aperture if possible.
    ///
    /// Errors: `ENOSPC` if there is no room, also for tables, `EINVAL` if the place is invalid,
    /// `ENOMEM`.
    pub(crate) fn map(
        self: &Arc<Self>,
        place: Place,
        count: u64,
        owner: Owner<'_, T>,
        attributes: PteAttributes,
        addresses: impl Iterator<Item = u64>,
    ) -> Result<Mapping<T>> {
        // Batches leave the aperture to the CPU as long as they can.
        let above = match owner {
            Owner::Kernel | Owner::Commands | Owner::Hidden(_) => {
                self.global.as_ref().map_or(0, |g| g.kernel_start())
            }
            Owner::Evictable(_) | Owner::Move => {
                self.hardware.topology().aperture / u64::from(PAGE_SIZE)
            }
            Owner::View => 0,
        };
        let (reach, node) = match owner {
            Owner::Kernel | Owner::Commands | Owner::View => (Reach::Kernel, None),
            Owner::Evictable(who) => (Reach::Everyone, Some(ReservedNode::new(who.clone())?)),
            Owner::Hidden(who) => (Reach::Kernel, Some(ReservedNode::new(who.clone())?)),
            Owner::Move => (Reach::Everyone, None),
        };
        let colour = self.colour(attributes.cache);
        let first = {
            let mut inner = self.inner.lock();
            let first = match place {
                Place::Within {
                    range,
                    align,
                    preferred,
                } => {
                    let unit = u64::from(PAGE_SIZE);
                    let (low, end) = (range.0.div_ceil(unit), range.1 / unit);
                    let from = |start| Want {
                        size: count,
                        align: (align / unit).max(1),
                        within: (low.max(start), end),
                    };
                    let whole = preferred.filter(|addr| addr.0 % unit == 0);
                    let there = whole.and_then(|addr| from(above).at(addr.0 / unit));
                    match there.map(|first| inner.ranges.take_at(first, count, colour)) {
                        Some(Ok(first)) => first,
                        // An address of zero is only given out if the caller demands it.
                        _ => {
                            let places = [from(above.max(1)), from(1)];
                            inner.ranges.take(&places, colour)?
                        }
                    }
                }
                Place::At(addr) => {
                    if addr.0 % u64::from(PAGE_SIZE) != 0 {
                        return Err(EINVAL);
                    }
                    let first = addr.0 / u64::from(PAGE_SIZE);
                    inner.ranges.take_at(first, count, colour)?
                }
            };
            if let Some(node) = node {
                inner.ranges.insert_owner(first, count, colour, node);
            }
            first
        };
        // From here on it is unmapped if something fails.
        let mut mapping = Mapping {
            space: self.clone(),
            first,
            count,
            filled: 0,
            colour,
            reach,
            ended: false,
        };
        let entries = addresses.take(usize::try_from(count).unwrap_or(usize::MAX));
        let reads = matches!(owner, Owner::Commands);
        let entries = entries.map(|address| {
            let entry = self.entry(address, attributes);
            match reads {
                true => self.format.read_only(entry),
                false => entry,
            }
        });
        match &self.global {
            Some(global) => {
                let filled = &mut mapping.filled;
                let entries = entries.inspect(|_| *filled += 1);
                // GGTT indices fit in 32 bits.
                global.write(&self.hardware, first as u32, entries, reach);
            }
            None => self.fill(&mut mapping, entries)?,
        }
        self.hardware.gtt_written();
        Ok(mapping)
    }

    /// Returns the PTE of a page.
    fn entry(&self, address: u64, attributes: PteAttributes) -> u64 {
        let PteAttributes { memory, cache } = attributes;
        let page = |address| Page {
            addr: DmaAddr(address),
            memory,
            cache,
        };
        if memory == MemoryKind::Local && self.global.is_none() {
            // VRAM is allocated in runs of 16 PTEs, which must be marked as such.
            let within = address & (Leaf::Run.bytes() - 1);
            if let Some(first) = self.format.leaf(page(address - within), Leaf::Run) {
                return first + within;
            }
        }
        self.format.entry(page(address))
    }

    /// Writes PTEs to the PPGTT.
    fn fill(&self, mapping: &mut Mapping<T>, entries: impl Iterator<Item = u64>) -> Result {
        // The lock is not held between PTEs: the iterator of addresses may take other locks.
        for entry in entries {
            let mut inner = self.inner.lock();
            let page = mapping.first + u64::from(mapping.filled);
            match inner.ppgtt.as_mut().ok_or(EINVAL)? {
                Ppgtt::Levels(levels) => levels.put(page, entry)?,
                Ppgtt::Directory(directory, at) => self.put(directory, at, page, entry)?,
            }
            mapping.filled += 1;
        }
        Ok(())
    }

    /// Returns the number of unused pages that must be between mappings of different cache levels.
    pub(crate) fn gap(&self) -> u64 {
        self.hardware
            .topology()
            .coherence
            .parts_cache_levels()
            .into()
    }

    /// Returns the colour of mappings with a cache level.
    fn colour(&self, cache: CacheLevel) -> Colour {
        match self.gap() != 0 && cache == CacheLevel::Coherent {
            true => Colour::Other,
            false => Colour::Plain,
        }
    }

    /// Returns the use of `count` pages at `addr` for a mapping of a cache level: as
    /// [`RangeAllocator::range_use`].
    pub(crate) fn range_use(
        &self,
        addr: GpuAddr,
        count: u64,
        cache: CacheLevel,
    ) -> RangeUse<T::Strong> {
        let (first, colour) = (addr.0 / u64::from(PAGE_SIZE), self.colour(cache));
        let inner = self.inner.lock();
        inner.ranges.range_use(first, count, colour)
    }

    /// Returns whether an owner is being destroyed and still has addresses. Linear in the ranges.
    pub(crate) fn has_dying_owner(&self) -> bool {
        self.inner.lock().ranges.has_dying_owner()
    }

    /// Returns the next victim: as [`RangeAllocator::next_victim`].
    pub(crate) fn next_victim(&self) -> Option<T::Strong> {
        self.inner.lock().ranges.next_victim()
    }

    /// Returns the next victim whose first page is in a range of bytes: as
    /// [`next_victim`](Self::next_victim).
    pub(crate) fn next_victim_in(&self, (start, end): (u64, u64)) -> Option<T::Strong> {
        let pages = start / u64::from(PAGE_SIZE)..end / u64::from(PAGE_SIZE);
        self.inner.lock().ranges.next_victim_in(&pages)
    }

    /// Returns the number of allocated ranges, an upper limit of the number of owners.
    pub(crate) fn allocated_ranges(&self) -> usize {
        self.inner.lock().ranges.allocated_ranges()
    }

    fn unmap(&self, inner: &mut Inner<T>, mapping: &Mapping<T>) -> RemovedNode<T> {
        let Mapping {
            first,
            count,
            filled,
            colour,
            reach,
            ..
        } = *mapping;
        if let Some(global) = &self.global {
            global.holes(&self.hardware, first as u32, filled, reach);
        }
        match &mut inner.ppgtt {
            Some(Ppgtt::Levels(levels)) => levels.clear(first, filled),
            Some(Ppgtt::Directory(directory, _)) => directory.clear(first, filled),
            None => {}
        }
        self.hardware.gtt_written();
        inner.ranges.release(first, count, colour)
    }
}
