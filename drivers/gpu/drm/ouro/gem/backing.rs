// SPDX-License-Identifier: GPL-2.0

//! GPU memory: of a BO, or of the kernel.
//!
//! It belongs to one owner at a time, and ends in the quarantine of the [`Runner`]
//! ([`Runner::quarantine_memory`]): its pages are freed when no engine can reach them any more.

use core::ops::Range;
use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    impl_has_work,
    list::{impl_list_arc_safe, impl_list_item, AtomicTracker, ListLinks, TryNewListArc},
    new_work,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc, SetOnce,
    },
    time::{delay::fsleep, Delta},
    workqueue::{Work, WorkItem},
};
use ouro_hw::{
    coherence::KernelMapping,
    types::{CacheLevel, GpuAddr, MemoryKind, PAGE_SIZE},
};
use ouro_kernel::{
    fence::Fence,
    gem::{Attachment, ImportMap},
    pages::{DmaMap, DmaPages, FewPages, Frame, Pages, Shmem},
    pci::DmaDevice,
    resv::Locked,
    task,
    wait::Interruptible,
    work,
};

use super::{
    blocks::Blocks,
    region::{Kind, Purpose, Region},
    Binding, BoDevice, Mapping, Object, Owner, Runner, Space,
};
use crate::{
    hardware::caching,
    vm::{Place, PteAttributes},
};

/// The kind of memory.
pub(crate) enum Memory {
    /// Pages of system memory, which user space may map.
    Pages(DmaMap),
    /// Pages that only the kernel and the GPU access.
    Kernel(DmaPages),
    /// Pages of a region that is allocated in blocks.
    Blocks(Blocks),
    /// An imported dma-buf.
    Foreign(Foreign),
}

/// An imported dma-buf, mapped for the device. The caller that drops it must not hold locks,
/// because that takes the buffer's reservation.
pub(crate) struct Foreign {
    map: SetOnce<ImportMap>,
    pages: u32,
}

/// Memory. It does not change: a BO that moves gets another one.
#[pin_data]
pub(crate) struct Backing {
    #[pin]
    links: ListLinks,
    #[pin]
    tracker: AtomicTracker,
    /// Whether an engine may ever have reached it.
    reached: Atomic<bool>,
    /// The fence of the move that fills it with the BO's contents, if there is one.
    arrival: SetOnce<ARef<Fence>>,
    /// Whether that move has ended, and any failure was repaired by the CPU if possible.
    arrived: Atomic<bool>,
    /// Whether the contents never arrived: it holds another client's data.
    spoiled: Atomic<bool>,
    /// If so, the memory that still has the contents, if there is one.
    former: SetOnce<Arc<Backing>>,
    /// Whether all of that memory has lost them, too.
    forgotten: Atomic<bool>,
    /// Drops it where locks must not be held.
    #[pin]
    late: Work<Backing>,
    memory: Memory,
    /// Number of pages behind the BO's, for its compression state (CCS) while it is here.
    state: u32,
}

impl_list_arc_safe! {
    impl ListArcSafe<0> for Backing { tracked_by tracker: AtomicTracker; }
}
impl_list_item! {
    impl ListItem<0> for Backing { using ListLinks { self.links }; }
}

impl_has_work! {
    impl HasWork<Backing> for Backing { self.late }
}

impl WorkItem for Backing {
    type Pointer = Arc<Backing>;

    fn run(this: Arc<Backing>) {
        drop(this);
    }
}

impl Backing {
    fn new(memory: Memory) -> Result<Arc<Self>> {
        Self::with_state(memory, 0)
    }

    fn with_state(memory: Memory, state: u32) -> Result<Arc<Self>> {
        Arc::pin_init(
            try_pin_init!(Self {
                links <- ListLinks::new(),
                tracker <- AtomicTracker::new(),
                reached: Atomic::new(false),
                arrival: SetOnce::new(),
                arrived: Atomic::new(false),
                spoiled: Atomic::new(false),
                former: SetOnce::new(),
                forgotten: Atomic::new(false),
                late <- new_work!("ouro_backing"),
                memory,
                state,
            }? Error),
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// Allocates zeroed pages for a BO of `size` bytes, and `state` pages for its compression state
    /// (CCS): zeros mean uncompressed.
    ///
    /// Errors: `ENOMEM`, at once if the machine does not have so many pages; `ENODEV`, `EIO`.
    pub(crate) fn pages(dma: &Arc<DmaDevice>, size: usize, state: u32) -> Result<Arc<Self>> {
        let all = size.checked_add(state as usize * PAGE_SIZE as usize);
        Self::again(dma, &Shmem::new(all.ok_or(ENOMEM)?, dma)?, state)
    }

    /// Allocates the pages of a BO that had some before, with their contents, or that gets its
    /// first. Errors: as [`pages`](Self::pages); `EINTR`.
    pub(crate) fn again(dma: &Arc<DmaDevice>, shmem: &Shmem, state: u32) -> Result<Arc<Self>> {
        if shmem.len() > task::total_pages() {
            return Err(ENOMEM);
        }
        let pages: Arc<Pages> = Arc::new(shmem.get_pages()?, GFP_KERNEL_ACCOUNT)?;
        Self::with_state(Memory::Pages(pages.map(dma.clone())?), state)
    }

    /// Allocates zeroed pages for a BO in a region; those of `fresh`, if that exists and the region
    /// is system memory.
    ///
    /// Errors: `ENOSPC` if the region is full; as [`pages`](Self::pages), and then nothing stays
    /// allocated in `fresh`, except for `early` pages.
    pub(crate) fn in_region(
        gpu: &BoDevice,
        region: &Arc<Region>,
        object: &Object,
        fresh: Option<&Shmem>,
        early: Option<&FewPages>,
    ) -> Result<Arc<Self>> {
        match (region.kind(), fresh) {
            (Kind::System, Some(shmem)) => {
                let memory = Self::again(gpu.dma_device(), shmem, object.state_pages());
                memory.inspect_err(|_| match early {
                    Some(early) => early.discard_others(),
                    None => shmem.truncate(),
                })
            }
            _ => Self::for_purpose(gpu, region, object, Purpose::Fresh),
        }
    }

    /// Allocates pages in a region for a move of a BO, which writes all of them.
    ///
    /// Errors: as [`in_region`](Self::in_region).
    pub(crate) fn target(
        gpu: &BoDevice,
        region: &Arc<Region>,
        object: &Object,
    ) -> Result<Arc<Self>> {
        Self::for_purpose(gpu, region, object, Purpose::Target)
    }

    fn for_purpose(
        gpu: &BoDevice,
        region: &Arc<Region>,
        object: &Object,
        purpose: Purpose,
    ) -> Result<Arc<Self>> {
        match region.kind() {
            Kind::System => {
                let bytes = object.bytes() as usize;
                Self::pages(gpu.dma_device(), bytes, object.state_pages())
            }
            Kind::Local => {
                let pages = u32::try_from(object.bytes() / u64::from(PAGE_SIZE));
                let blocks = region.allocate(object, pages.map_err(|_| ENOSPC)?, purpose)?;
                Self::new(Memory::Blocks(blocks))
            }
        }
    }

    /// Takes the pinned pages of a process. Errors: `ENODEV`, `EIO`, `ENOMEM`.
    pub(crate) fn user(dma: &Arc<DmaDevice>, pages: Pages) -> Result<Arc<Self>> {
        let pages = Arc::new(pages, GFP_KERNEL_ACCOUNT)?;
        let this = Self::new(Memory::Pages(pages.map(dma.clone())?))?;
        // They must always be dropped without locks, because that may wait for the pages.
        this.reached.store(true, ordering::Relaxed);
        Ok(this)
    }

    /// Maps the imported dma-buf that a BO of `bytes` is. `locked` is its reservation.
    ///
    /// Errors: `ENODEV`, `ENOMEM`, those of the exporter.
    pub(crate) fn foreign(
        buffer: &Arc<Attachment>,
        locked: &Locked<'_>,
        bytes: u64,
    ) -> Result<Arc<Self>> {
        let pages = u32::try_from(bytes / u64::from(PAGE_SIZE)).map_err(|_| EINVAL)?;
        // Allocate first: a map could not be dropped under the lock.
        let this = Self::new(Memory::Foreign(Foreign {
            map: SetOnce::new(),
            pages,
        }))?;
        let map = buffer.map(locked)?;
        if let Memory::Foreign(foreign) = &this.memory {
            foreign.map.populate(map);
        }
        // The same: it must not be dropped under the lock, not even if no GPU reaches it.
        this.reached.store(true, ordering::Relaxed);
        Ok(this)
    }

    /// Drops it where the caller holds locks: memory whose drop takes other locks is left to a
    /// worker.
    pub(crate) fn end(self: Arc<Self>, worker: &work::Queue) {
        let late = match &self.memory {
            Memory::Foreign(_) => true,
            Memory::Pages(map) => map.pages().shmem().is_none(),
            Memory::Kernel(_) | Memory::Blocks(_) => false,
        };
        if late {
            let _ = worker.enqueue::<_, 0>(self);
        }
    }

    /// Returns its region.
    pub(crate) fn region<'a>(&'a self, regions: &'a [Arc<Region>]) -> Option<&'a Arc<Region>> {
        match &self.memory {
            Memory::Pages(_) | Memory::Kernel(_) | Memory::Foreign(_) => regions.first(),
            Memory::Blocks(blocks) => Some(blocks.region()),
        }
    }

    /// Returns whether it is in a region.
    pub(crate) fn lives_in(&self, gpu: &BoDevice, region: &Arc<Region>) -> bool {
        self.region(gpu.regions())
            .is_some_and(|r| Arc::ptr_eq(r, region))
    }

    /// Returns whether the CPU sees it through a BAR, or not at all.
    pub(crate) fn is_windowed(&self) -> bool {
        matches!(&self.memory, Memory::Blocks(blocks) if blocks.is_windowed())
    }

    /// Returns its address if the GPU reaches it without PTEs.
    pub(super) fn direct(&self) -> Option<GpuAddr> {
        match &self.memory {
            Memory::Blocks(blocks) => blocks.direct(),
            Memory::Pages(_) | Memory::Kernel(_) | Memory::Foreign(_) => None,
        }
    }

    /// Returns the frame of a page, for user space; `None` if there is none, or the CPU does not
    /// see it.
    pub(crate) fn frame(&self, page: usize) -> Option<Frame<'_>> {
        match &self.memory {
            Memory::Pages(map) => map.pages().frame(page),
            Memory::Kernel(_) | Memory::Foreign(_) => None,
            Memory::Blocks(blocks) => blocks.frame(page),
        }
    }

    /// A move is about to fill it with the BO's contents. Called once.
    pub(crate) fn arrives(&self, fence: ARef<Fence>) {
        self.arrival.populate(fence);
    }

    /// The move has ended. If the contents did not arrive, it holds another client's data: it must
    /// not be visible any more. The `former` memory, if there was one, still has the contents.
    pub(crate) fn arrived(&self, contents: core::result::Result<(), Option<Arc<Backing>>>) {
        if let Err(former) = contents {
            if let Some(former) = former {
                self.former.populate(former);
            }
            self.spoiled.store(true, ordering::Relaxed);
        }
        self.arrived.store(true, ordering::Release);
    }

    /// Returns whether no move is to fill it any more, or to be repaired.
    pub(crate) fn is_settled(&self) -> bool {
        self.arrival.as_ref().is_none() || self.arrived.load(ordering::Acquire)
    }

    /// Returns the memory that has the contents of spoiled memory; `None`: they are zero.
    pub(super) fn source(&self) -> Option<&Arc<Backing>> {
        if self.forgotten.load(ordering::Relaxed) {
            return None;
        }
        let mut source = self.former.as_ref()?;
        // It was moved on before it was known that its contents would not arrive.
        while source.is_spoiled() {
            source = source.former.as_ref()?;
        }
        Some(source)
    }

    /// The device loses its VRAM. If only that has the contents of this spoiled memory, they are
    /// zero from now on. Returns whether it is so.
    pub(super) fn forget_vram(&self) -> bool {
        let lost = self.is_spoiled() && self.source().is_some_and(|s| s.is_windowed());
        if lost {
            self.forgotten.store(true, ordering::Relaxed);
        }
        lost
    }

    /// Returns whether the move has ended without the contents, which never arrive.
    pub(crate) fn is_spoiled(&self) -> bool {
        self.arrived.load(ordering::Acquire) && self.spoiled.load(ordering::Relaxed)
    }

    /// Returns whether PTEs of clients must not lead to it yet: the move that fills it is not done,
    /// and it holds another client's data. A batch that runs already would see that.
    pub(super) fn is_filling(&self) -> bool {
        let mapped = matches!(&self.memory, Memory::Blocks(b) if b.region().is_mapped());
        let arrival = self.arrival.as_ref();
        mapped && arrival.is_some_and(|fence| !fence.is_signaled())
    }

    /// Returns whether it must not be visible, at least not yet: the move has failed, and the CPU
    /// has not repaired that, or cannot.
    pub(crate) fn is_hidden(&self) -> bool {
        if self.arrived.load(ordering::Acquire) {
            return self.is_spoiled();
        }
        let arrival = self.arrival.as_ref();
        arrival.is_some_and(|fence| matches!(fence.status(), Some(Err(_))))
    }

    /// Waits for the CPU to repair a failed move. Must be called again until it is not hidden any
    /// more. Sleeps; reservations may be held.
    ///
    /// Errors: `EIO` if the CPU cannot, `ERESTARTSYS`.
    pub(super) fn catch_up(&self, gpu: &BoDevice, interruptible: Interruptible) -> Result {
        if self.is_spoiled() {
            return Err(EIO);
        }
        // The retirement of the move repairs it.
        gpu.runner().retire();
        fsleep(Delta::from_micros(200));
        match interruptible {
            Interruptible::Yes if kernel::current!().signal_pending() => Err(ERESTARTSYS),
            _ => Ok(()),
        }
    }

    /// Allocates zeroed kernel pages with this mapping. Errors: `ENOMEM`, `EIO`, `ENODEV`.
    pub(crate) fn kernel(
        dma: &Arc<DmaDevice>,
        pages: usize,
        mapping: KernelMapping,
    ) -> Result<Arc<Self>> {
        Self::new(Memory::Kernel(DmaPages::new(dma, pages, caching(mapping))?))
    }

    /// Returns the shmem file that keeps the contents when this is dropped; `None` if nothing keeps
    /// them.
    pub(crate) fn shmem(&self) -> Option<&Shmem> {
        match &self.memory {
            Memory::Pages(map) => map.pages().shmem(),
            Memory::Kernel(_) | Memory::Blocks(_) | Memory::Foreign(_) => None,
        }
    }

    /// Marks the contents as not needed: they are not swapped out.
    pub(crate) fn forget_contents(&self) {
        if let Memory::Pages(map) = &self.memory {
            map.pages().set_clean(true);
        }
    }

    /// Releases it, when it is bound nowhere any more: at once if no engine can have it in its
    /// TLBs. Does not wait.
    pub(crate) fn release(self: Arc<Self>, runner: &Arc<dyn Runner>) {
        if self.reached.load(ordering::Relaxed) {
            runner.quarantine_memory(self);
        }
    }

    /// Returns the kind of memory.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the number of pages behind the BO's, for its compression state (CCS) while it is
    /// here.
    pub(crate) fn state_pages(&self) -> u32 {
        self.state
    }

    /// Returns the number of pages.
    pub(crate) fn len(&self) -> u32 {
        match &self.memory {
            Memory::Pages(map) => (map.pages().len() as u32).saturating_sub(self.state),
            Memory::Kernel(pages) => pages.len() as u32,
            Memory::Blocks(blocks) => blocks.len(),
            Memory::Foreign(foreign) => foreign.pages,
        }
    }

    /// Maps it into a range of at least `pad` bytes, with a cache level. Process context.
    pub(crate) fn bind(
        &self,
        space: &Arc<Space>,
        place: Place,
        pad: u64,
        owner: Owner<'_>,
        cache: CacheLevel,
    ) -> Result<Mapping> {
        let len = self.len();
        let span = u64::from(len).max(pad / u64::from(PAGE_SIZE));
        self.bind_part(space, place, 0..len, span, owner, cache)
    }

    /// Binds it for batches and moves, as [`bind`](Self::bind) does. Views in the aperture are
    /// evicted if they are in the way.
    ///
    /// Errors: `EINVAL` also if it must be elsewhere than its fixed address; `EIO` if its contents
    /// were lost in a move.
    pub(crate) fn bind_object(
        &self,
        gpu: &BoDevice,
        space: &Arc<Space>,
        place: Place,
        pad: u64,
        owner: Owner<'_>,
        cache: CacheLevel,
    ) -> Result<Binding> {
        if self.is_hidden() {
            return Err(EIO);
        }
        if let Some(addr) = self.direct() {
            let len = u64::from(self.len()) * u64::from(PAGE_SIZE);
            if pad > len || !place.holds(addr, len) {
                return Err(EINVAL);
            }
            self.reached.store(true, ordering::Relaxed);
            return Ok(Binding::Direct { addr, len });
        }
        let bind = || {
            let mapping = self.bind(space, place, pad, owner, cache)?;
            Ok(Binding::Mapped(mapping))
        };
        match (bind(), gpu.aperture()) {
            (Err(e), Some(aperture)) if e == ENOSPC && aperture.shares(space) => {
                let bytes = u64::from(self.len()) * u64::from(PAGE_SIZE);
                aperture.yield_to(place, bytes.max(pad), bind)
            }
            (done, _) => done,
        }
    }

    /// Maps some of its pages into a range of `span` pages. Process context.
    pub(crate) fn bind_part(
        &self,
        space: &Arc<Space>,
        place: Place,
        pages: Range<u32>,
        span: u64,
        owner: Owner<'_>,
        cache: CacheLevel,
    ) -> Result<Mapping> {
        self.reached.store(true, ordering::Relaxed);
        let (first, count) = (pages.start as usize, pages.len());
        let attributes = PteAttributes::system(cache);
        match &self.memory {
            Memory::Pages(map) => {
                let addresses = map.addresses(first).map(|(_, address)| address);
                space.map(place, span, owner, attributes, addresses.take(count))
            }
            Memory::Kernel(pages) => {
                let addresses = pages.addresses().iter().copied().skip(first);
                space.map(place, span, owner, attributes, addresses.take(count))
            }
            Memory::Blocks(blocks) => {
                let addresses = blocks.addresses().skip(first);
                let memory = blocks.kind();
                // VRAM is not coherent with anything.
                let cache = match memory {
                    MemoryKind::Local => CacheLevel::None,
                    MemoryKind::System => cache,
                };
                let attributes = PteAttributes { memory, cache };
                space.map(place, span, owner, attributes, addresses.take(count))
            }
            Memory::Foreign(foreign) => {
                let map = foreign.map.as_ref();
                let addresses = map.into_iter().flat_map(|map| map.addresses(first));
                let addresses = addresses.map(|(_, address)| address);
                space.map(place, span, owner, attributes, addresses.take(count))
            }
        }
    }
}
