// SPDX-License-Identifier: GPL-2.0

//! A ring and its hardware status page (HWSP).
//!
//! A ring engine has one of these. On execlist engines, each context has its own, and the engine's
//! is used for its context status buffer.

use kernel::{alloc::flags::GFP_KERNEL_ACCOUNT, prelude::*, sync::Arc};
use ouro_hw::{
    coherence::KernelUse,
    engine::{EngineMemory, StatusPage, StatusPlace},
    ring::Slot,
    types::{DmaAddr, GgttAddr, Seqno},
};
use ouro_kernel::{pages::DmaPages, pci::DmaDevice};

use crate::{
    gem::{Mapping, Owner, Space},
    hardware::{caching, Hardware},
    vm::{Place, PteAttributes},
};

/// Allocates pages that only the kernel and the GPU access, and maps them in the GGTT. Errors:
/// `ENOSPC`, `ENOMEM`.
pub(super) fn pages(
    space: &Arc<Space>,
    dma: &Arc<DmaDevice>,
    count: u32,
    what: KernelUse,
) -> Result<(DmaPages, Mapping)> {
    pages_in(space, dma, count, what, &[space.stream_range()])
}

/// Does what [`pages`] does, with an address below `end`; preferably a high one, away from
/// addresses that clients may choose.
fn pages_below(
    space: &Arc<Space>,
    dma: &Arc<DmaDevice>,
    count: u32,
    what: KernelUse,
    end: u64,
) -> Result<(DmaPages, Mapping)> {
    match space.stream_range() {
        (0, _) if end != u64::MAX => {
            pages_in(space, dma, count, what, &[(end - end / 32, end), (0, end)])
        }
        // A range for command streamers is below the end of each ring.
        _ => pages(space, dma, count, what),
    }
}

/// As [`pages`], in the first of `ranges` with room.
fn pages_in(
    space: &Arc<Space>,
    dma: &Arc<DmaDevice>,
    count: u32,
    what: KernelUse,
    ranges: &[(u64, u64)],
) -> Result<(DmaPages, Mapping)> {
    let kernel = space.kernel_mapping(what);
    let memory = DmaPages::new(dma, count as usize, caching(kernel))?;
    let owner = match what {
        KernelUse::Commands => Owner::Commands,
        _ => Owner::Kernel,
    };
    let mut mapping = Err(ENOSPC);
    for range in ranges {
        let place = Place::Within {
            range: *range,
            align: 4096,
            preferred: None,
        };
        let attributes = PteAttributes::system(kernel.cache);
        let addresses = memory.addresses().iter().copied();
        mapping = space.map(place, count.into(), owner, attributes, addresses);
        if mapping.is_ok() {
            break;
        }
    }
    Ok((memory, mapping?))
}

/// Allocates a status page where the chip demands it; without a mapping if the engine uses its DMA
/// address. Errors: as [`pages`]; `EIO` if the DMA address is out of the engine's range.
fn status_page(
    hardware: &Hardware,
    space: &Arc<Space>,
    dma: &Arc<DmaDevice>,
) -> Result<(DmaPages, Option<Mapping>, StatusPage)> {
    let topology = hardware.topology();
    let range = match topology.status {
        StatusPlace::Table => space.stream_range(),
        // The lowest that are free: elsewhere below the aperture's end they would part what is on
        // both sides of it.
        StatusPlace::Aperture => (0, topology.aperture),
        StatusPlace::Bus => {
            let kernel = hardware.kernel_mapping(KernelUse::Status);
            let memory = DmaPages::new(dma, 1, caching(kernel))?;
            let addr = memory.address(0).ok_or(EINVAL)?;
            if addr >> 32 != 0 {
                return Err(EIO);
            }
            return Ok((memory, None, StatusPage::Bus(DmaAddr(addr))));
        }
    };
    let (memory, mapping) = pages_in(space, dma, 1, KernelUse::Status, &[range])?;
    let page = StatusPage::Ggtt(mapping.ggtt());
    Ok((memory, Some(mapping), page))
}

/// A ring and its status page.
pub(crate) struct Line {
    memory: EngineMemory,
    /// Byte offset of the last completed request's seqno.
    seqno_at: usize,
    noop: u32,
    // Unmapped before the pages are freed.
    _mappings: (Mapping, Mapping, Option<Mapping>),
    ring: DmaPages,
    status: DmaPages,
    _scratch: DmaPages,
}

impl Line {
    /// Creates a zeroed ring and status page. Errors: `ENOSPC` if the GGTT is full, `ENOMEM`.
    pub(super) fn new(
        hardware: &Hardware,
        hw: &dyn ouro_hw::Engine,
        space: &Arc<Space>,
        dma: &Arc<DmaDevice>,
    ) -> Result<Arc<Self>> {
        let desc = hw.desc();
        let count = desc.ring_bytes / 4096;
        let (ring, ring_at) = pages_below(space, dma, count, KernelUse::Commands, desc.ring_end)?;
        let (status, status_at, status_page) = status_page(hardware, space, dma)?;
        let (scratch, scratch_at) = pages(space, dma, 1, KernelUse::Scratch)?;
        let this = Self {
            memory: EngineMemory {
                ring: ring_at.ggtt(),
                status: status_page,
                scratch: scratch_at.ggtt(),
                directory: space.layout().and_then(|l| l.directory),
                card: hardware.topology().card,
            },
            seqno_at: desc.seqno_at as usize,
            noop: desc.noop,
            _mappings: (ring_at, scratch_at, status_at),
            ring,
            status,
            _scratch: scratch,
        };
        Ok(Arc::new(this, GFP_KERNEL_ACCOUNT)?)
    }

    /// Returns its addresses.
    pub(super) fn memory(&self) -> &EngineMemory {
        &self.memory
    }

    /// Returns the status page.
    pub(super) fn status(&self) -> &DmaPages {
        &self.status
    }

    /// Returns the seqno of the last completed request.
    pub(crate) fn progress(&self) -> Seqno {
        Seqno(self.status.read32(self.seqno_at))
    }

    /// Writes the seqno in place of the engine. Nothing may run on it.
    pub(super) fn set_progress(&self, seqno: Seqno) {
        self.status.write32(self.seqno_at, seqno.0);
    }

    /// Writes commands to a reserved slot.
    pub(super) fn write(&self, slot: &Slot, commands: &[u32]) {
        if let Some((from, dwords)) = slot.pad {
            for i in 0..dwords {
                let at = from.0.wrapping_add(i * 4) as usize;
                self.ring.write32(at, self.noop);
            }
        }
        // It is inside of the ring.
        let _ = (self.ring.view()).write_words(slot.start.0 as usize, commands);
    }

    /// Returns the GGTT address of the ring.
    pub(crate) fn ring_address(&self) -> GgttAddr {
        self.memory.ring
    }

    /// Copies from the ring. Errors: `EINVAL` outside of it.
    pub(crate) fn read_ring(&self, offset: usize, out: &mut [u8]) -> Result {
        self.ring.view().read(offset, out)
    }
}
