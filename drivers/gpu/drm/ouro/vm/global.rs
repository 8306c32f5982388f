// SPDX-License-Identifier: GPL-2.0

//! The global table, and the tables that repeat it where batches go through such.
//!
//! Every entry is filled at all times: with the scratch page where nothing is mapped, since the GPU
//! fetches ahead.

use kernel::{prelude::*, sync::Arc};
use ouro_core::range::Want;
use ouro_hw::{
    generation::{Layout, Space as Kind},
    types::{CacheLevel, DmaAddr, GgttAddr, MemoryKind, Page, PAGE_SIZE},
};
use ouro_kernel::{pages::DmaPages, pci::DmaDevice, Caching};

use super::{
    entries::{in_runs, Entries},
    population::Population,
    space::Reach,
};
use crate::hardware::Hardware;

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
    entries: u32,
}

impl Global {
    /// Makes the scratch page and the tables. The slots for their directory are taken from `population`.
    pub(super) fn new(
        hardware: &Hardware,
        dma: &Arc<DmaDevice>,
        population: &mut Population,
    ) -> Result<Self> {
        let topology = hardware.topology();
        let entries = topology.gtt_entries;
        let scratch = DmaPages::new(dma, 1, Caching::WriteBack)?;
        let page = system(scratch.address(0).ok_or(EINVAL)?);
        let mut tables = None;
        let mut directory = None;
        if let Kind::Aliasing { directories, align } = topology.space {
            let pages = DmaPages::new(dma, directories as usize, Caching::WriteBack)?;
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
            entries,
        };
        this.fill(hardware);
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

    /// Writes every entry anew: the scratch page, and the directory. (What is mapped must be mapped again
    /// by its owners.)
    fn fill(&self, hardware: &Hardware) {
        let pages = hardware.topology().pages;
        let scratch = pages.entry(self.layout.scratch);
        self.holes(hardware, 0, self.entries, Reach::Kernel);
        if let Some(slot) = self.layout.directory {
            let tables = self.tables.iter().flat_map(|tables| tables.addresses());
            let entries =
                tables.map(|addr| pages.directory_entry(DmaAddr(*addr)).unwrap_or(scratch));
            self.write(hardware, slot.page(), entries, Reach::Kernel);
        }
        hardware.gtt_written();
        hardware.flush_gtt();
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
