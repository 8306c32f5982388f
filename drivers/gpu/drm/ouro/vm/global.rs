// SPDX-License-Identifier: GPL-2.0

//! The GGTT, and the aliasing PPGTT on chips whose batches, or kernel commands, go through one.
//!
//! Every PTE is filled at all times: unmapped ones with the scratch page, since the GPU prefetches.

use core::ops::Range;
use kernel::{
    new_spinlock,
    prelude::*,
    sync::{Arc, SpinLock},
};
use ouro_core::range::{Colour, Want};
use ouro_hw::{
    coherence::KernelUse,
    generation::{Layout, Topology, Translation},
    types::{CacheLevel, DmaAddr, GgttAddr, MemoryKind, Page, PAGE_SIZE},
};
use ouro_kernel::{pages::DmaPages, pci::DmaDevice};

use super::{
    allocator::{RangeAllocator, RangeOwner},
    entries::{in_runs, Entries, RUN},
    space::Reach,
};
use crate::{
    hardware::{caching, Hardware},
    look::EntryRanges,
};

/// How many PTEs behind its surface a display plane may prefetch: as many as the upstream driver
/// fills there, on some chips.
const PREFETCHED: u64 = 128;
/// Size of a PTE of the aliasing PPGTT in bytes.
const ENTRY: usize = 4;

/// The GGTT.
pub(super) struct Global {
    _scratch: DmaPages,
    /// The page tables of the aliasing PPGTT, a page each, in order, if there is one.
    tables: Option<DmaPages>,
    layout: Layout,
    /// A copy of the PTEs.
    table: Entries,
    /// Whether [`retract`](Self::retract) was called. Locked while the copy and the device's PTEs
    /// are written, a run at a time.
    retracted: Pin<KBox<SpinLock<bool>>>,
    /// The PTEs that display planes use: they stay as the firmware left them.
    lit: EntryRanges,
    entries: u32,
}

impl Global {
    /// Creates the scratch page and the aliasing PPGTT. The GGTT slots of its directory are taken
    /// from `ranges`. The PTEs of `lit` stay as they are. Nothing is written to the device
    /// before [`begin`](Self::begin).
    ///
    /// Errors: `ENOSPC`, `ENOMEM`.
    pub(super) fn new(
        hardware: &Hardware,
        dma: &Arc<DmaDevice>,
        ranges: &mut RangeAllocator<impl RangeOwner>,
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
            // The directory's slots are PTEs of the GGTT; their addresses are never allocated.
            let want = Want {
                size: u64::from(directories),
                align: u64::from(align),
                within: (kernel_start(entries), u64::MAX),
            };
            let slot = ranges.take(&[want], Colour::Plain)? as u32;
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
            retracted: KBox::pin_init(new_spinlock!(false, "ouro_ggtt"), GFP_KERNEL)?,
            lit: lit.clone(),
            entries,
        };
        for index in this.lit.iter().flat_map(|range| range.clone()) {
            // The index fits: it is in the GGTT.
            let index = index as u32;
            this.table.record(index, &[hardware.read_gtt(index)]);
        }
        Ok(this)
    }

    /// Writes every PTE that no display plane uses. From here on the device may access the scratch
    /// page, until [`retract`](Self::retract).
    ///
    /// Errors: `EIO` if the device does not keep written PTEs.
    pub(super) fn begin(&self, hardware: &Hardware) -> Result {
        self.fill(hardware);
        self.check(hardware)
    }

    /// Returns the scratch page, and where the directory is.
    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the first page of the range that kernel pages prefer.
    pub(super) fn kernel_start(&self) -> u64 {
        kernel_start(self.entries)
    }

    /// Writes every PTE: the scratch page and the directory. Skips the PTEs of display planes.
    fn fill(&self, hardware: &Hardware) {
        let pages = hardware.topology().pages;
        let scratch = pages.entry(self.layout.scratch);
        for (first, count) in self.outside(&self.lit) {
            self.write(hardware, first, (0..count).map(|_| scratch), Reach::Kernel);
        }
        if let Some(slot) = self.layout.directory {
            let tables = self.tables.iter().flat_map(|tables| tables.addresses());
            let entries =
                tables.map(|addr| pages.directory_entry(DmaAddr(*addr)).unwrap_or(scratch));
            self.write(hardware, slot.page(), entries, Reach::Kernel);
        }
        hardware.gtt_written();
        hardware.flush_gtt();
    }

    /// Returns the ranges of PTEs that are not in `kept`: the first one of each, and their number.
    fn outside<'a>(&self, kept: &'a EntryRanges) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        let all = kept.rest(0..self.entries.into());
        // They fit: they are in the GGTT.
        all.map(|range| (range.start as u32, (range.end - range.start) as u32))
    }

    /// Reads one PTE of each run back. GGTT writes are posted, and some devices drop writes that
    /// they reject: the old PTEs would then lead to memory of others.
    fn check(&self, hardware: &Hardware) -> Result {
        for index in (0..self.entries).step_by(RUN) {
            let (wanted, found) = (self.table.get(index), hardware.read_gtt(index));
            if found != wanted {
                dev_err!(
                    hardware.dev(),
                    "GGTT entry {index}: wrote {wanted:#x}, read {found:#x}\n"
                );
                return Err(EIO);
            }
        }
        Ok(())
    }

    /// Invalidates all PTEs except those of display planes. Later writes of PTEs are ignored.
    ///
    /// The PTEs behind a plane's repeat its last one: planes prefetch beyond their surface, and on
    /// some chips only a reset clears the error that an invalid PTE causes.
    pub(super) fn retract(&self, hardware: &Hardware) {
        *self.retracted.lock() = true;
        let invalid = hardware.topology().pages.invalid();
        let mut kept = self.lit.clone();
        for (lit, behind) in self.lit.behind(PREFETCHED, self.entries.into()) {
            // The indices fit: they are in the GGTT. A plane may show less than it could.
            let mut shown = lit.rev().map(|index| self.table.get(index as u32));
            if let Some(last) = shown.find(|entry| *entry != invalid) {
                let entries = behind.clone().map(|_| last);
                in_runs(behind.start as u32, entries, |first, run| {
                    hardware.write_gtt(first, run);
                });
                kept.add(behind);
            }
        }
        for (first, count) in self.outside(&kept) {
            let entries = (0..count).map(|_| invalid);
            in_runs(first, entries, |first, run| hardware.write_gtt(first, run));
        }
    }

    /// Writes all PTEs again, after the device has lost them.
    pub(super) fn restore(&self, hardware: &Hardware) {
        let mut run = [0; RUN];
        for first in (0..self.entries).step_by(RUN) {
            let count = (self.entries - first).min(RUN as u32) as usize;
            let retracted = self.retracted.lock();
            if *retracted {
                return;
            }
            // Read under the lock: a mapping may be writing the same PTEs.
            for (index, entry) in (first..).zip(run.iter_mut().take(count)) {
                *entry = self.table.get(index);
            }
            hardware.write_gtt(first, run.get(..count).unwrap_or(&[]));
            drop(retracted);
        }
    }

    /// Writes the scratch page to `count` PTEs.
    pub(super) fn holes(&self, hardware: &Hardware, first: u32, count: u32, reach: Reach) {
        let scratch = hardware.topology().pages.entry(self.layout.scratch);
        self.write(hardware, first, (0..count).map(|_| scratch), reach);
    }

    /// Writes consecutive PTEs from `first` on, to the tables that `reach` selects. Does nothing
    /// after [`retract`](Self::retract).
    pub(super) fn write(
        &self,
        hardware: &Hardware,
        first: u32,
        entries: impl Iterator<Item = u64>,
        reach: Reach,
    ) {
        let tables = self.tables.as_ref().filter(|_| reach == Reach::Everyone);
        in_runs(first, entries, |first, run| {
            let retracted = self.retracted.lock();
            if *retracted {
                return;
            }
            if let Some(tables) = tables {
                for (index, entry) in (first..).zip(run) {
                    tables.write32(index as usize * ENTRY, *entry as u32);
                }
            }
            self.table.record(first, run);
            hardware.write_gtt(first, run);
        });
    }
}

/// Returns the pages of the kernel's addresses on chips whose contexts have page directories: no
/// context maps anything there, and all that command streamers access through the GGTT is inside,
/// a page away from both ends, since they prefetch. `None` on other chips.
///
/// A command streamer's TLB may not tell the two tables apart. The SNB PRM says so (V1P2 §2.3.4),
/// the VCS PRM only that they share a TLB (§1.1.9.2.2); the aliasing PPGTT avoids it by the same
/// page at each address.
pub(super) fn streams(topology: &Topology) -> Option<Range<u64>> {
    let Translation::PerContextDirectory { .. } = topology.space else {
        return None;
    };
    let rings = topology.engines.iter().map(|engine| engine.desc().ring_end);
    let end = rings.min()? / u64::from(PAGE_SIZE);
    let end = end.min(topology.gtt_entries.into());
    Some(end - end / 8..end)
}

/// Returns the first page of the last sixteenth of a space.
fn kernel_start(entries: u32) -> u64 {
    u64::from(entries - entries / 16)
}

/// Describes a page of system memory that the CPU's caches may hold.
pub(super) fn system(addr: u64) -> Page {
    Page {
        addr: DmaAddr(addr),
        memory: MemoryKind::System,
        cache: CacheLevel::Coherent,
    }
}
