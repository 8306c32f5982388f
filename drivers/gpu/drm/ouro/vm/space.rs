// SPDX-License-Identifier: GPL-2.0

//! An address space: the ranges of it that are taken, and its tables.
//!
//! There is the global one, of which the kernel's own pages are a part: rings, status pages, context
//! images. On chips with one space for all, batches are in it too, and where they go through tables of
//! their own, those repeat the global one for everything that user space may reach ([`Reach`],
//! [`Global`]). On others contexts have spaces of their own ([`Levels`], [`Directory`]).

use kernel::{
    new_mutex,
    prelude::*,
    sync::{atomic::Atomic, Arc, Mutex},
};
use ouro_core::{port::Edition, range::Want};
use ouro_hw::{
    coherence::{KernelMapping, KernelUse},
    generation::{Layout, Translation},
    page_table::{Leaf, PageTable},
    types::{CacheLevel, DmaAddr, GgttAddr, GpuAddr, MemoryKind, Page, PAGE_SIZE},
};
use ouro_kernel::pci::DmaDevice;

use super::{
    directory::Directory,
    global::Global,
    levels::Levels,
    population::{Departed, Entrance, Occupant, Population, Tenant},
    store::TableStore,
};
use crate::{hardware::Hardware, look::Lit};

/// Where a mapping may go.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// Anywhere in these bytes, so aligned.
    Within {
        /// First and last byte, the latter exclusive.
        range: (u64, u64),
        /// Bytes, a power of two.
        align: u64,
        /// There, if that is free and in the range.
        rather: Option<GpuAddr>,
    },
    /// Exactly there.
    At(GpuAddr),
}

impl Place {
    /// The same, at a multiple of `align` bytes, a power of two. `None` if it is none.
    pub(crate) fn aligned(self, align: u64) -> Option<Self> {
        match self {
            Place::At(addr) => (addr.0 & (align - 1) == 0).then_some(self),
            Place::Within {
                range,
                align: own,
                rather,
            } => Some(Place::Within {
                range,
                align: own.max(align),
                rather,
            }),
        }
    }

    /// Whether `len` bytes at `addr` are there.
    pub(crate) fn holds(&self, addr: GpuAddr, len: u64) -> bool {
        match *self {
            Place::At(at) => addr == at,
            Place::Within { range, align, .. } => {
                let end = addr.0.checked_add(len);
                addr.0 >= range.0 && end.is_some_and(|e| e <= range.1) && addr.0 & (align - 1) == 0
            }
        }
    }
}

/// Who can reach a mapping.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The kernel's own: only the global table has it.
    Kernel,
    /// User batches too.
    Everyone,
}

/// Whose pages are mapped.
pub(crate) enum Owner<'a, T: Tenant> {
    /// The kernel's: no user batch reaches them.
    Kernel,
    /// The kernel's commands, a ring or copies of batches that were checked: the device reads them, and nobody but
    /// the CPU writes them. Where the format of entries can tell, theirs say so.
    Commands,
    /// A tenant's, which may be asked to make room. User batches reach it.
    Tenant(&'a T),
    /// A tenant's that no user batch reaches.
    Hidden(&'a T),
    /// An object's, for the time of a move. The engine that copies may see it through any table.
    Move,
    /// An object's once more, for the CPU's eyes: no batch reaches them there. The
    /// aperture is asked to make room.
    View,
}

impl<T: Tenant> Clone for Owner<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Tenant> Copy for Owner<'_, T> {}

/// What the entries of a mapping say of all its pages.
#[derive(Clone, Copy)]
pub(crate) struct Looks {
    /// What memory they are in.
    pub(crate) memory: MemoryKind,
    /// How the GPU caches them.
    pub(crate) cache: CacheLevel,
}

impl Looks {
    /// Of pages in system memory.
    pub(crate) fn system(cache: CacheLevel) -> Self {
        Self {
            memory: MemoryKind::System,
            cache,
        }
    }
}

/// Tables of a space's own.
pub(super) enum Own<T: Tenant> {
    /// A tree in the device's memory.
    Levels(Levels),
    /// A directory, and where it is in the global table, if it is there.
    Directory(Directory, Option<(Arc<Space<T>>, GgttAddr)>),
}

/// What the lock protects.
pub(super) struct Inner<T: Tenant> {
    population: Population<T>,
    /// The tables, if they are its own.
    pub(super) own: Option<Own<T>>,
}

/// An address space.
#[pin_data]
pub(crate) struct Space<T: Tenant> {
    pub(super) hardware: Arc<Hardware>,
    /// The tables, if it is the global one.
    global: Option<Global>,
    /// The format of entries.
    format: &'static dyn PageTable,
    #[pin]
    pub(super) inner: Mutex<Inner<T>>,
    /// The number of its directory as it is now.
    pub(super) edition: Atomic<u64>,
    pages: u64,
}

/// A range of a space, with pages in it. Dropped: the range is free, and the scratch page in it.
pub(crate) struct Mapping<T: Tenant> {
    space: Arc<Space<T>>,
    /// First page, and pages.
    first: u64,
    count: u64,
    /// How many of them have entries; the scratch page is in the others.
    filled: u32,
    reach: Reach,
    ended: bool,
}

impl<T: Tenant> Mapping<T> {
    /// Where it is.
    pub(crate) fn addr(&self) -> GpuAddr {
        GpuAddr(self.first * u64::from(PAGE_SIZE))
    }

    /// The same in the global table.
    pub(crate) fn ggtt(&self) -> GgttAddr {
        GgttAddr((self.first as u32).wrapping_mul(PAGE_SIZE))
    }

    /// Bytes.
    pub(crate) fn len(&self) -> u64 {
        self.count * u64::from(PAGE_SIZE)
    }

    /// The space that it is in.
    pub(super) fn space(&self) -> &Arc<Space<T>> {
        &self.space
    }

    /// Ends it, if nobody uses the space just now. It is of no use after that. Returns whether it has
    /// ended. Waits for nothing, so that reclaim may do it.
    pub(crate) fn try_end(&mut self) -> bool {
        if !self.ended {
            let Some(mut inner) = self.space.inner.try_lock() else {
                return false;
            };
            let departed = self.space.take_out(&mut inner, self);
            self.ended = true;
            drop(inner);
            drop(departed);
        }
        true
    }
}

impl<T: Tenant> Drop for Mapping<T> {
    fn drop(&mut self) {
        if !self.ended {
            // Under the lock: `restore()` must not bring back what is taken out here.
            let mut inner = self.space.inner.lock();
            let departed = self.space.take_out(&mut inner, self);
            drop(inner);
            drop(departed);
        }
    }
}

impl<T: Tenant> Space<T> {
    /// Makes the global space of a device: scratch page, tables, and the slots for their directory.
    ///
    /// Entries of `lit` stay as the firmware has left them.
    ///
    /// Errors: `EIO` if the device does not keep what is written to the table; `ENOSPC`, `ENOMEM`.
    pub(crate) fn new(
        hardware: Arc<Hardware>,
        dma: &Arc<DmaDevice>,
        lit: &Lit,
    ) -> Result<Arc<Self>> {
        let entries = u64::from(hardware.topology().gtt_entries);
        // Page 0 stays free, so that an address of zero is always a mistake; so does the last one, behind
        // which engines fetch ahead: the upstream driver has seen them hang there.
        let within = 1..entries.saturating_sub(1);
        let mut population = Population::new(within.clone())?;
        for range in lit.entries.iter() {
            let (first, end) = (range.start.max(within.start), range.end.min(within.end));
            if first < end {
                population.take_at(first, end - first)?;
            }
        }
        let global = Global::new(&hardware, dma, &mut population, &lit.entries)?;
        let format = hardware.topology().pages;
        let inner = Inner {
            population,
            own: None,
        };
        Self::with(hardware, Some(global), format, inner, entries)
    }

    /// Makes a space for contexts, on a chip where they have their own; `store` is for tables, where they are in the
    /// device's memory. Errors: `ENOSPC` if there is no room for its tables, `ENOMEM`, `ENODEV` on other chips.
    pub(crate) fn own(
        hardware: Arc<Hardware>,
        dma: &Arc<DmaDevice>,
        store: Option<&Arc<TableStore>>,
    ) -> Result<Arc<Self>> {
        let topology = hardware.topology();
        match topology.space {
            Translation::PerContext { bits, tables } => {
                let pages = 1u64 << (bits - PAGE_SIZE.ilog2() as u8);
                let levels = Levels::new(store.ok_or(ENODEV)?, dma, tables, bits)?;
                let inner = Inner {
                    population: Population::new(0..pages)?,
                    own: Some(Own::Levels(levels)),
                };
                Self::with(hardware, None, tables, inner, pages)
            }
            Translation::PerContextDirectory { directories, .. } => {
                let format = topology.pages;
                let reach = u64::from(directories) * u64::from(format.entries_per_table());
                // To user space it is the global one: as large, and without what nobody gets there.
                let pages = reach.min(topology.gtt_entries.into());
                let directory = Directory::new(dma, format, directories)?;
                let inner = Inner {
                    population: Population::new(1..pages.saturating_sub(1))?,
                    own: Some(Own::Directory(directory, None)),
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

    /// How pages of the kernel's own are mapped.
    pub(crate) fn kernel_mapping(&self, what: KernelUse) -> KernelMapping {
        self.hardware.kernel_mapping(what)
    }

    /// Where the tables are, of the global space.
    pub(crate) fn layout(&self) -> Option<&Layout> {
        self.global.as_ref().map(|g| g.layout())
    }

    /// The table at the top, of a space of contexts, where that is in the device's memory.
    pub(crate) fn root(&self) -> Option<DmaAddr> {
        match &self.inner.lock().own {
            Some(Own::Levels(levels)) => Some(levels.root()),
            Some(Own::Directory(..)) | None => None,
        }
    }

    /// Writes a part of a directory to slots of the global table, which somebody has a [`Mapping`] of.
    pub(super) fn write_slots(&self, first: u32, entries: impl Iterator<Item = u64>) {
        if let Some(global) = &self.global {
            global.write(&self.hardware, first, entries, Reach::Kernel);
        }
    }

    /// Bytes of the whole space.
    pub(crate) fn size(&self) -> u64 {
        self.pages * u64::from(PAGE_SIZE)
    }

    /// Bytes that are not taken.
    pub(crate) fn free(&self) -> u64 {
        self.inner.lock().population.free() * u64::from(PAGE_SIZE)
    }

    /// Writes the global table as it was, since the device has forgotten it. What was unmapped meanwhile
    /// is not there any more.
    pub(crate) fn restore(&self) {
        let inner = self.inner.lock();
        if let Some(global) = &self.global {
            global.restore(&self.hardware);
        }
        drop(inner);
        self.hardware.gtt_written();
        self.hardware.flush_gtt();
    }

    /// Takes everything out of the global table but what planes of the display show, and lets nobody write
    /// to it any more: no entry leads to a page that somebody else may get.
    pub(crate) fn retract(&self) {
        // Whoever unmaps something later has to find the window closed.
        let inner = self.inner.lock();
        if let Some(global) = &self.global {
            global.retract(&self.hardware);
        }
        self.hardware.gtt_written();
        self.hardware.flush_gtt();
        self.hardware.close_table();
        drop(inner);
    }

    /// Maps `count` pages, whose addresses follow each other in `addresses`; where these end, the
    /// scratch page stays. It takes effect by [`Hardware::flush_gtt`], before the next submission.
    ///
    /// The kernel's own go to the end of the space if they can, out of the way of fixed addresses;
    /// objects go above the aperture if they can.
    ///
    /// Errors: `ENOSPC` if there is no room, also for tables, `EINVAL` if the place makes no sense,
    /// `ENOMEM`.
    pub(crate) fn map(
        self: &Arc<Self>,
        place: Place,
        count: u64,
        owner: Owner<'_, T>,
        looks: Looks,
        addresses: impl Iterator<Item = u64>,
    ) -> Result<Mapping<T>> {
        // Batches leave the aperture to the CPU as long as they can.
        let above = match owner {
            Owner::Kernel | Owner::Commands | Owner::Hidden(_) => {
                self.global.as_ref().map_or(0, |g| g.kernel_start())
            }
            Owner::Tenant(_) | Owner::Move => {
                self.hardware.topology().aperture / u64::from(PAGE_SIZE)
            }
            Owner::View => 0,
        };
        let (reach, entrance) = match owner {
            Owner::Kernel | Owner::Commands | Owner::View => (Reach::Kernel, None),
            Owner::Tenant(who) => (Reach::Everyone, Some(Entrance::new(who.clone())?)),
            Owner::Hidden(who) => (Reach::Kernel, Some(Entrance::new(who.clone())?)),
            Owner::Move => (Reach::Everyone, None),
        };
        let first = {
            let mut inner = self.inner.lock();
            let first = match place {
                Place::Within {
                    range,
                    align,
                    rather,
                } => {
                    let unit = u64::from(PAGE_SIZE);
                    let (low, end) = (range.0.div_ceil(unit), range.1 / unit);
                    let from = |start| Want {
                        size: count,
                        align: (align / unit).max(1),
                        within: (low.max(start), end),
                    };
                    let whole = rather.filter(|addr| addr.0 % unit == 0);
                    let there = whole.and_then(|addr| from(above).at(addr.0 / unit));
                    match there.map(|first| inner.population.take_at(first, count)) {
                        Some(Ok(first)) => first,
                        // An address of zero, which nobody has asked for, is a mistake.
                        _ => inner.population.take(&[from(above.max(1)), from(1)])?,
                    }
                }
                Place::At(addr) => {
                    if addr.0 % u64::from(PAGE_SIZE) != 0 {
                        return Err(EINVAL);
                    }
                    let first = addr.0 / u64::from(PAGE_SIZE);
                    inner.population.take_at(first, count)?
                }
            };
            if let Some(entrance) = entrance {
                inner.population.enter(first, count, entrance);
            }
            first
        };
        // From here on it is given back if something fails.
        let mut mapping = Mapping {
            space: self.clone(),
            first,
            count,
            filled: 0,
            reach,
            ended: false,
        };
        let entries = addresses.take(usize::try_from(count).unwrap_or(usize::MAX));
        let reads = matches!(owner, Owner::Commands);
        let entries = entries.map(|address| {
            let entry = self.entry(address, looks);
            match reads {
                true => self.format.read_only(entry),
                false => entry,
            }
        });
        match &self.global {
            Some(global) => {
                let filled = &mut mapping.filled;
                let entries = entries.inspect(|_| *filled += 1);
                // There are no more than 32 bits of them.
                global.write(&self.hardware, first as u32, entries, reach);
            }
            None => self.fill(&mut mapping, entries)?,
        }
        self.hardware.gtt_written();
        Ok(mapping)
    }

    /// The entry of a page.
    fn entry(&self, address: u64, looks: Looks) -> u64 {
        let Looks { memory, cache } = looks;
        let page = |address| Page {
            addr: DmaAddr(address),
            memory,
            cache,
        };
        if memory == MemoryKind::Local && self.global.is_none() {
            // It comes in pieces that are one of 16 entries, which say so.
            let within = address & (Leaf::Run.bytes() - 1);
            if let Some(first) = self.format.leaf(page(address - within), Leaf::Run) {
                return first + within;
            }
        }
        self.format.entry(page(address))
    }

    /// Writes entries into tables of its own.
    fn fill(&self, mapping: &mut Mapping<T>, entries: impl Iterator<Item = u64>) -> Result {
        // Not while the lock is held: where the addresses come from is not known here.
        for entry in entries {
            let mut inner = self.inner.lock();
            let page = mapping.first + u64::from(mapping.filled);
            match inner.own.as_mut().ok_or(EINVAL)? {
                Own::Levels(levels) => levels.put(page, entry)?,
                Own::Directory(directory, at) => self.put(directory, at, page, entry)?,
            }
            mapping.filled += 1;
        }
        Ok(())
    }

    /// Returns who is in the way of `count` pages at `addr`.
    pub(crate) fn occupant(&self, addr: GpuAddr, count: u64) -> Occupant<T::Kept> {
        let first = addr.0 / u64::from(PAGE_SIZE);
        self.inner.lock().population.occupant(first, count)
    }

    /// Returns whether anybody is going away, and has addresses still. Linear in those who have some.
    pub(crate) fn anybody_leaves(&self) -> bool {
        self.inner.lock().population.anybody_leaves()
    }

    /// The next one that may be asked to make room: as [`Population::next_victim`].
    pub(crate) fn next_victim(&self) -> Option<T::Kept> {
        self.inner.lock().population.next_victim()
    }

    /// Ranges that are taken: no fewer than there are who can be asked.
    pub(crate) fn population(&self) -> usize {
        self.inner.lock().population.taken()
    }

    fn take_out(&self, inner: &mut Inner<T>, mapping: &Mapping<T>) -> Departed<T> {
        let Mapping {
            first,
            count,
            filled,
            reach,
            ..
        } = *mapping;
        if let Some(global) = &self.global {
            global.holes(&self.hardware, first as u32, filled, reach);
        }
        match &mut inner.own {
            Some(Own::Levels(levels)) => levels.clear(first, filled),
            Some(Own::Directory(directory, _)) => directory.clear(first, filled),
            None => {}
        }
        self.hardware.gtt_written();
        inner.population.give(first, count)
    }
}
