// SPDX-License-Identifier: GPL-2.0

//! The global table, and the tables that repeat it where batches, or the kernel's own commands, go through such.
//!
//! Every entry is filled at all times: with the scratch page where nothing is mapped, since the GPU
//! fetches ahead.

use kernel::{prelude::*, sync::Arc};
use ouro_core::range::Want;
use ouro_hw::{
    coherence::KernelUse,
    generation::Layout,
    types::{CacheLevel, DmaAddr, GgttAddr, MemoryKind, Page, PAGE_SIZE},
};
use ouro_kernel::{pages::DmaPages, pci::DmaDevice};

use super::{
    entries::{in_runs, Entries, RUN},
    population::{Population, Tenant},
    space::Reach,
};
use crate::{
    hardware::{caching, Hardware},
    look::EntryRanges,
};

/// Bytes of an entry of the tables that repeat it.
const ENTRY: usize = 4;

/// The table.
pub(super) struct Global {
    _scratch: DmaPages,
    /// The tables that repeat it, a page each, in order, where there are any.
    tables: Option<DmaPages>,
    layout: Layout,
    /// What is in it.
    table: Entries,
    /// The entries that planes of the display fetch through: they stay as the firmware has left them.
    lit: EntryRanges,
    entries: u32,
}

impl Global {
    /// Makes the scratch page and the tables. The slots for their directory are taken from `population`.
    /// Nothing is written to the entries of `lit`.
    ///
    /// Errors: `EIO` if the device does not keep what is written to the table; `ENOSPC`, `ENOMEM`.
    pub(super) fn new(
        hardware: &Hardware,
        dma: &Arc<DmaDevice>,
        population: &mut Population<impl Tenant>,
        lit: &EntryRanges,
    ) -> Result<Self> {
        let topology = hardware.topology();
        let entries = topology.gtt_entries;
        let kernel = hardware.kernel_mapping(KernelUse::Scratch);
        let scratch = DmaPages::new(dma, 1, caching(kernel))?;
        let page = Page {
            cache: kernel.cache,
            ..system(scratch.address(0).ok_or(EINVAL)?)
        };
        let mut tables = None;
        let mut directory = None;
        if let Some((directories, align)) = topology.space.directory() {
            let kernel = hardware.kernel_mapping(KernelUse::Tables);
            let pages = DmaPages::new(dma, directories as usize, caching(kernel))?;
            let filled = topology.pages.entry(page) as u32;
            for at in (0..pages.len() * PAGE_SIZE as usize).step_by(ENTRY) {
                pages.write32(at, filled);
            }
            tables = Some(pages);
            // The directory's slots are of the table's array; no address in them is ever given out.
            let want = Want {
                size: u64::from(directories),
                align: u64::from(align),
                within: (kernel_start(entries), u64::MAX),
            };
            let slot = population.take(&[want])? as u32;
            directory = Some(GgttAddr(slot.wrapping_mul(PAGE_SIZE)));
        }
        let this = Self {
            _scratch: scratch,
            tables,
            layout: Layout {
                scratch: page,
                directory,
            },
            table: Entries::new(entries, topology.pages.entry_bytes())?,
            lit: lit.clone(),
            entries,
        };
        for index in this.lit.iter().flat_map(|range| range.clone()) {
            // It fits: they are entries of the table.
            this.table
                .set(index as u32, hardware.read_gtt(index as u32));
        }
        this.fill(hardware);
        this.check(hardware)
            .inspect_err(|_| this.retract(hardware))?;
        Ok(this)
    }

    /// Where the tables are.
    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The first page of those that the kernel takes first.
    pub(super) fn kernel_start(&self) -> u64 {
        kernel_start(self.entries)
    }

    /// Writes every entry: the scratch page, and the directory. What planes show is left alone.
    fn fill(&self, hardware: &Hardware) {
        let pages = hardware.topology().pages;
        let scratch = pages.entry(self.layout.scratch);
        self.everywhere(hardware, scratch);
        if let Some(slot) = self.layout.directory {
            let tables = self.tables.iter().flat_map(|tables| tables.addresses());
            let entries =
                tables.map(|addr| pages.directory_entry(DmaAddr(*addr)).unwrap_or(scratch));
            self.write(hardware, slot.page(), entries, Reach::Kernel);
        }
        hardware.gtt_written();
        hardware.flush_gtt();
    }

    /// Writes an entry to every place that no plane shows.
    fn everywhere(&self, hardware: &Hardware, entry: u64) {
        for range in self.lit.rest(0..self.entries.into()) {
            // They fit: they are entries of the table.
            let (first, count) = (range.start as u32, (range.end - range.start) as u32);
            let entries = (0..count).map(|_| entry);
            self.write(hardware, first, entries, Reach::Kernel);
        }
    }

    /// Reads an entry of each run back. Writes to the table's window are posted, and some devices drop those
    /// that they do not like: what is there instead leads to memory of others.
    fn check(&self, hardware: &Hardware) -> Result {
        for index in (0..self.entries).step_by(RUN) {
            let (wanted, found) = (self.table.get(index), hardware.read_gtt(index));
            if found != wanted {
                dev_err!(
                    hardware.dev(),
                    "the global table does not keep entry {index}: {wanted:#x} was written, it reads {found:#x}\n"
                );
                return Err(EIO);
            }
        }
        Ok(())
    }

    /// Takes everything out of the table but what planes show. It is not to be used any more.
    pub(super) fn retract(&self, hardware: &Hardware) {
        self.everywhere(hardware, hardware.topology().pages.invalid());
    }

    /// Writes the table as it was, since the device has forgotten it.
    pub(super) fn restore(&self, hardware: &Hardware) {
        let entries = (0..self.entries).map(|index| self.table.get(index));
        in_runs(0, entries, |first, run| hardware.write_gtt(first, run));
    }

    /// Puts the scratch page into `count` entries.
    pub(super) fn holes(&self, hardware: &Hardware, first: u32, count: u32, reach: Reach) {
        let scratch = hardware.topology().pages.entry(self.layout.scratch);
        self.write(hardware, first, (0..count).map(|_| scratch), reach);
    }

    /// Writes entries one after the other from `first` on, wherever `reach` wants them.
    pub(super) fn write(
        &self,
        hardware: &Hardware,
        first: u32,
        entries: impl Iterator<Item = u64>,
        reach: Reach,
    ) {
        let tables = self.tables.as_ref().filter(|_| reach == Reach::Everyone);
        in_runs(first, entries, |first, run| {
            for (index, entry) in (first..).zip(run) {
                if let Some(tables) = tables {
                    tables.write32(index as usize * ENTRY, *entry as u32);
                }
                self.table.set(index, *entry);
            }
            hardware.write_gtt(first, run);
        });
    }
}

/// The first page of the last sixteenth of a space.
fn kernel_start(entries: u32) -> u64 {
    u64::from(entries - entries / 16)
}

/// A page of system memory that the CPU's caches may hold.
pub(super) fn system(addr: u64) -> Page {
    Page {
        addr: DmaAddr(addr),
        memory: MemoryKind::System,
        cache: CacheLevel::Coherent,
    }
}
