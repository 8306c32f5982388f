// SPDX-License-Identifier: GPL-2.0

//! An address space: the ranges of it that are taken, and its tables.
//!
//! On chips with one space for all, that is the global table, and where batches go through tables
//! of their own, those repeat the global one for everything that user space may reach
//! ([`Reach::Everyone`]); of the kernel's own pages ([`Reach::Kernel`]: rings, status pages,
//! context images) they hold the scratch page.
//!
//! Every entry is filled at all times: with the scratch page where nothing is mapped, since the GPU
//! fetches ahead.

use kernel::{
    new_mutex,
    prelude::*,
    sync::{Arc, Mutex},
};
use ouro_core::range::Want;
use ouro_hw::{
    generation::{Layout, Space as Kind},
    types::{CacheLevel, DmaAddr, GgttAddr, GpuAddr, MemoryKind, Page, PAGE_SIZE},
};
use ouro_kernel::{pages::DmaPages, pci::DmaDevice, Caching};

use super::{
    entries::{in_runs, Entries},
    population::{Departed, Entrance, Population, Victim},
};
use crate::{gem::Object, hardware::Hardware, submit::image::Image};

/// Where a mapping may go.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// Anywhere in these bytes, so aligned.
    Within {
        /// First and last byte, the latter exclusive.
        range: (u64, u64),
        /// Bytes, a power of two.
        align: u64,
    },
    /// Exactly there.
    At(GpuAddr),
}

impl Place {
    /// Whether `len` bytes at `addr` are there.
    pub(crate) fn holds(&self, addr: GpuAddr, len: u64) -> bool {
        match *self {
            Place::At(at) => addr == at,
            Place::Within { range, align } => {
                let end = addr.0.checked_add(len);
                addr.0 >= range.0 && end.is_some_and(|e| e <= range.1) && addr.0 & (align - 1) == 0
            }
        }
    }
}

/// Who can reach a mapping.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The kernel's own: only the global table has it.
    Kernel,
    /// User batches too.
    Everyone,
}

/// Whose pages are mapped.
#[derive(Clone, Copy)]
pub(crate) enum Owner<'a> {
    /// The kernel's: no user batch reaches them.
    Kernel,
    /// An object's, which may be asked to make room.
    Object(&'a Object),
    /// A context's image, which may be asked, too. No user batch reaches it.
    Image(&'a Arc<Image>),
    /// An object's, for the time of a move. The engine that copies may see it through any table.
    Move,
    /// An object's once more, for the CPU's eyes: no batch reaches them there. The
    /// [aperture](super::Aperture) is asked to make room.
    View,
}

/// What the lock protects.
struct Inner {
    population: Population,
}

/// An address space.
#[pin_data]
pub(crate) struct Space {
    hardware: Arc<Hardware>,
    scratch: DmaPages,
    /// The tables that repeat the global one, in order, where there are any.
    tables: KVVec<DmaPages>,
    layout: Layout,
    /// What is in the global table.
    table: Entries,
    #[pin]
    inner: Mutex<Inner>,
    entries: u32,
}

/// A range of a space, with pages in it. Dropped: the range is free, and the scratch page in it.
pub(crate) struct Mapping {
    space: Arc<Space>,
    /// First page, and pages.
    first: u32,
    count: u32,
    reach: Reach,
    ended: bool,
}

impl Mapping {
    /// Where it is.
    pub(crate) fn addr(&self) -> GpuAddr {
        GpuAddr(u64::from(self.first) * u64::from(PAGE_SIZE))
    }

    /// The same in the global table.
    pub(crate) fn ggtt(&self) -> GgttAddr {
        GgttAddr(self.first.wrapping_mul(PAGE_SIZE))
    }

    /// Bytes.
    pub(crate) fn len(&self) -> u64 {
        u64::from(self.count) * u64::from(PAGE_SIZE)
    }
}

impl Mapping {
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

impl Drop for Mapping {
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

impl Space {
    /// Makes the space of a device: scratch page, tables, and the slots for their directory.
    pub(crate) fn new(hardware: Arc<Hardware>, dma: &Arc<DmaDevice>) -> Result<Arc<Self>> {
        let topology = *hardware.topology();
        let entries = topology.gtt_entries;
        let scratch = DmaPages::new(dma, 1, Caching::WriteBack)?;
        let page = system(scratch.address(0).ok_or(EINVAL)?);

        // Page 0 stays free, so that an address of zero is always a mistake.
        let mut population = Population::new(1..entries)?;

        let mut tables = KVVec::new();
        let mut directory = None;
        if let Kind::Aliasing { directories, align } = topology.space {
            let per_table = topology.pages.entries_per_table();
            let filled = topology.pages.entry(page) as u32;
            for _ in 0..directories {
                let table = DmaPages::new(dma, 1, Caching::WriteBack)?;
                for i in 0..per_table {
                    table.write32((i * 4) as usize, filled);
                }
                tables.push(table, GFP_KERNEL)?;
            }
            // The directory's slots are of the table's array; no address in them is ever given out.
            let want = Want {
                size: u64::from(directories),
                align: u64::from(align),
                within: (kernel_start(entries), u64::MAX),
            };
            let slot = population.take(&[want])?;
            directory = Some(GgttAddr(slot.wrapping_mul(PAGE_SIZE)));
        }

        let this = Arc::pin_init(
            try_pin_init!(Self {
                hardware,
                scratch,
                tables,
                layout: Layout {
                    scratch: page,
                    directory,
                },
                table: Entries::new(entries, topology.pages.entry_bytes())?,
                inner <- new_mutex!(Inner { population }, "ouro_space"),
                entries,
            }? Error),
            GFP_KERNEL,
        )?;
        this.fill();
        Ok(this)
    }

    /// Where the tables are.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Bytes of the whole space.
    pub(crate) fn size(&self) -> u64 {
        u64::from(self.entries) * u64::from(PAGE_SIZE)
    }

    /// Bytes that are not taken.
    pub(crate) fn free(&self) -> u64 {
        self.inner.lock().population.free() * u64::from(PAGE_SIZE)
    }

    /// Writes the global table as it was, since the device has forgotten it. What was unmapped meanwhile
    /// is not there any more.
    pub(crate) fn restore(&self) {
        let inner = self.inner.lock();
        let entries = (0..self.entries).map(|index| self.table.get(index));
        in_runs(0, entries, |first, run| self.hardware.write_gtt(first, run));
        drop(inner);
        self.hardware.gtt_written();
        self.hardware.flush_gtt();
    }

    /// Writes every entry of the global table anew: the scratch page, and the directory. (What
    /// is mapped must be mapped again by its owners.)
    pub(crate) fn fill(&self) {
        let pages = self.hardware.topology().pages;
        let scratch = pages.entry(self.layout.scratch);
        let all = (0..self.entries).map(|_| scratch);
        self.write(0, all, Reach::Kernel);
        if let Some(slot) = self.layout.directory {
            let tables = self.tables.iter().map(|table| {
                let entry = |addr| pages.directory_entry(DmaAddr(addr));
                table.address(0).and_then(entry).unwrap_or(scratch)
            });
            self.write(slot.page(), tables, Reach::Kernel);
        }
        self.hardware.gtt_written();
        self.hardware.flush_gtt();
    }

    /// Maps `count` pages, whose addresses follow each other in `addresses`; where these end, the
    /// scratch page stays. It takes effect by [`Hardware::flush_gtt`], before the next submission.
    ///
    /// The kernel's own go to the end of the space if they can, out of the way of fixed addresses;
    /// objects go above the aperture if they can.
    ///
    /// Errors: `ENOSPC` if there is no room, `EINVAL` if the place makes no sense, `ENOMEM`.
    pub(crate) fn map(
        self: &Arc<Self>,
        place: Place,
        count: u32,
        owner: Owner<'_>,
        cache: CacheLevel,
        addresses: impl Iterator<Item = u64>,
    ) -> Result<Mapping> {
        // Batches leave the aperture to the CPU as long as they can.
        let above = match owner {
            Owner::Kernel | Owner::Image(_) => self.kernel_start(),
            Owner::Object(_) | Owner::Move => {
                self.hardware.topology().aperture / u64::from(PAGE_SIZE)
            }
            Owner::View => 0,
        };
        let (reach, entrance) = match owner {
            Owner::Kernel | Owner::View => (Reach::Kernel, None),
            Owner::Object(object) => (Reach::Everyone, Some(Entrance::object(object)?)),
            Owner::Image(image) => (Reach::Kernel, Some(Entrance::image(image)?)),
            Owner::Move => (Reach::Everyone, None),
        };
        let first = {
            let mut inner = self.inner.lock();
            let first = match place {
                Place::Within { range, align } => {
                    let unit = u64::from(PAGE_SIZE);
                    let want = Want {
                        size: u64::from(count),
                        align: (align / unit).max(1),
                        within: (range.0.div_ceil(unit), range.1 / unit),
                    };
                    let high = Want {
                        within: (want.within.0.max(above), want.within.1),
                        ..want
                    };
                    inner.population.take(&[high, want])?
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
        let pages = self.hardware.topology().pages;
        let entries = (0..count).zip(addresses).map(|(_, address)| {
            pages.entry(Page {
                addr: DmaAddr(address),
                memory: MemoryKind::System,
                cache,
            })
        });
        self.write(first, entries, reach);
        self.hardware.gtt_written();
        Ok(Mapping {
            space: self.clone(),
            first,
            count,
            reach,
            ended: false,
        })
    }

    /// Somebody in the way of `count` pages at `addr`.
    pub(crate) fn occupant(&self, addr: GpuAddr, count: u32) -> Option<Victim> {
        let first = u32::try_from(addr.0 / u64::from(PAGE_SIZE)).ok()?;
        self.inner.lock().population.occupant(first, count)
    }

    /// The next one that may be asked to make room: as [`Population::next_victim`].
    pub(crate) fn next_victim(&self) -> Option<Victim> {
        self.inner.lock().population.next_victim()
    }

    /// Ranges that are taken: no fewer than there are who can be asked.
    pub(crate) fn population(&self) -> usize {
        self.inner.lock().population.taken()
    }

    /// The first page of those that the kernel takes first.
    fn kernel_start(&self) -> u64 {
        kernel_start(self.entries)
    }

    /// Writes entries one after the other from `first` on, wherever `reach` wants them.
    fn write(&self, first: u32, entries: impl Iterator<Item = u64>, reach: Reach) {
        let per_table = self.hardware.topology().pages.entries_per_table();
        in_runs(first, entries, |first, run| {
            for (index, entry) in (first..).zip(run) {
                if reach == Reach::Everyone {
                    // A format of one level has no such tables.
                    let table = index.checked_div(per_table);
                    if let Some(table) = table.and_then(|n| self.tables.get(n as usize)) {
                        table.write32(((index % per_table) * 4) as usize, *entry as u32);
                    }
                }
                self.table.set(index, *entry);
            }
            self.hardware.write_gtt(first, run);
        });
    }

    fn take_out(&self, inner: &mut Inner, mapping: &Mapping) -> Departed {
        let Mapping {
            first,
            count,
            reach,
            ..
        } = *mapping;
        let scratch = self.hardware.topology().pages.entry(self.layout.scratch);
        self.write(first, (0..count).map(|_| scratch), reach);
        self.hardware.gtt_written();
        inner.population.give(first, count)
    }
}

/// The first page of the last sixteenth of a space.
fn kernel_start(entries: u32) -> u64 {
    u64::from(entries - entries / 16)
}

/// A page of system memory that the CPU's caches may hold.
fn system(addr: u64) -> Page {
    Page {
        addr: DmaAddr(addr),
        memory: MemoryKind::System,
        cache: CacheLevel::Coherent,
    }
}
