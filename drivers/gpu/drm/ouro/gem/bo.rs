// SPDX-License-Identifier: GPL-2.0

//! Buffer objects (BOs).
//!
//! A BO gets memory when it is first touched ([`contents`](super::contents)), and an address when
//! the GPU first uses it ([`bind`](super::bind)). While it is idle, its address can be evicted; the
//! memory stays until the last reference is dropped. That may happen in any context, so the release
//! is left to a worker, which passes the pages to the [`Runner`](super::Runner). The DRM core's
//! operations are in [`ops`](super::ops).
//!
//! Lock order: the reservation, then [`Bo::state`]. User memory is accessed under neither.

use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        lock::{mutex::MutexBackend, Guard},
        Arc, Mutex,
    },
};
use ouro_core::coherence::CpuCaches;
use ouro_hw::types::{CacheLevel, PAGE_SIZE};
use ouro_kernel::{
    gem,
    pages::{FewPages, Shmem},
    time,
    userptr::Sequence,
};

use super::{
    bind, early,
    notes::Notes,
    region::{Placements, SYSTEM},
    shrink::{Listed, Worth},
    userptr,
    view::Tiled,
    Backing, Bindings, BoDevice, Space,
};
use crate::device::Device;

/// A BO, as a DRM GEM object.
pub(crate) type Object = gem::Object<Bo>;

/// Largest BO. A page number in it fits in 32 bits, with room to spare.
pub(crate) const MAX_SIZE: u64 = 1 << 40;

/// The kinds of user space mappings, by number.
pub(crate) mod kind {
    /// Through the aperture.
    pub(crate) const APERTURE: u8 = 0;
    /// Write-combined.
    pub(crate) const WRITE_COMBINED: u8 = 1;
    /// Cached.
    pub(crate) const CACHED: u8 = 2;
    /// Uncached.
    pub(crate) const UNCACHED: u8 = 3;
}

/// The state of the contents (`GEM_MADVISE`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advice {
    /// They are needed.
    Need,
    /// They may be purged when memory is short.
    DontNeed,
    /// They were purged. They do not come back.
    Purged,
}

/// Bits of [`Bo::status`].
mod status {
    pub(super) const RESIDENT: u32 = 1;
    pub(super) const PURGEABLE: u32 = 2;
    /// From this bit on: the region's number.
    pub(super) const REGION_SHIFT: u32 = 8;
}

/// A BO in the statistics.
pub(super) struct Seen {
    /// The region it is in, or would be in.
    pub(super) region: usize,
    pub(super) resident: bool,
    pub(super) purgeable: bool,
}

/// The state under [`Bo::state`].
pub(crate) struct State {
    // Unmapped before the pages are freed.
    pub(super) bindings: Bindings,
    pub(super) backing: Option<Arc<Backing>>,
    /// The entry in the reclaim lists, if the backing can be reclaimed.
    pub(super) listed: Option<Listed>,
    /// Holds the contents if the backing was reclaimed, or if the CPU wrote a part before there was
    /// a backing.
    pub(super) swapped: Option<Shmem>,
    /// The shmem file for its first memory, if that is system memory. Allocated at creation, where
    /// the ioctl can report that there are no more files; a fault could only kill the process.
    pub(super) fresh: Option<Shmem>,
    /// Pages of the file that user space has mapped, while there is no backing.
    pub(super) early: Option<FewPages>,
    /// For a userptr: the MMU notifier sequence at which the backing was the process's memory.
    pub(super) sequence: Option<Sequence>,
    /// Number of pins by importers.
    pub(super) pins: u32,
    pub(super) advice: Advice,
    /// The cache level.
    pub(super) cache: CacheLevel,
    /// What the CPU's caches may hold of it, if the GPU does not snoop it.
    pub(super) caches: CpuCaches,
    /// Its tiling.
    pub(super) tiled: Option<Tiled>,
}

impl State {
    /// Returns its memory, if it has any.
    pub(crate) fn backing(&self) -> Option<&Arc<Backing>> {
        self.backing.as_ref()
    }

    /// Returns its cache level.
    pub(crate) fn cache(&self) -> CacheLevel {
        self.cache
    }

    /// The BO moves to other memory, with its entry in the reclaim lists. Returns its earlier
    /// bindings, which are needed until the copy is done.
    pub(crate) fn moved(&mut self, to: Arc<Backing>, listed: Option<Listed>) -> Bindings {
        if self.cache == CacheLevel::None {
            let bytes = u64::from(to.len()) * u64::from(PAGE_SIZE);
            self.caches = CpuCaches::of_unknown(bytes);
        }
        self.backing = Some(to);
        self.listed = listed;
        self.fresh = None;
        core::mem::take(&mut self.bindings)
    }

    /// Returns whether it never had any memory.
    pub(crate) fn is_untouched(&self) -> bool {
        let nothing = self.backing.is_none() && self.swapped.is_none() && self.early.is_none();
        nothing && self.advice == Advice::Need
    }

    /// Returns the shmem file that has its contents, or will have them, while it has no backing:
    /// single pages can be read from the file.
    pub(super) fn file(&self) -> Option<&Shmem> {
        match (&self.backing, self.advice) {
            (None, Advice::Need) => self.swapped.as_ref().or(self.fresh.as_ref()),
            _ => None,
        }
    }

    /// Same as [`State::file()`], for a write: the contents are needed from here on.
    pub(super) fn file_to_write(&mut self) -> Option<&Shmem> {
        self.file()?;
        if let Some(fresh) = self.fresh.take() {
            self.swapped.get_or_insert(fresh);
        }
        self.swapped.as_ref()
    }

    /// Returns whether importers have pinned its pages.
    pub(crate) fn is_pinned(&self) -> bool {
        self.pins != 0
    }

    /// Returns the value of its contents to user space.
    pub(crate) fn worth(&self) -> Worth {
        match self.advice {
            Advice::Need => Worth::Kept,
            Advice::DontNeed | Advice::Purged => Worth::Nothing,
        }
    }
}

/// Counts a BO in the statistics.
struct Counted(Arc<BoDevice>, i64);

impl Counted {
    fn new(gpu: &Arc<BoDevice>, bytes: u64) -> Self {
        gpu.count_object(1, bytes as i64);
        Self(gpu.clone(), bytes as i64)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.count_object(-1, -self.1);
    }
}

/// The driver's part of a BO.
#[pin_data]
pub(crate) struct Bo {
    gpu: Arc<BoDevice>,
    bytes: u64,
    placements: Placements,
    /// Alignment of its addresses.
    align: u64,
    notes: Notes,
    /// The user memory of a userptr BO.
    user: Option<userptr::Range>,
    _counted: Counted,
    /// Whether a batch has used it since the last search for a victim.
    pub(super) used: Atomic<bool>,
    /// Jiffies at which a batch last waited in vain for it to become idle; 0: none has.
    unsettled: Atomic<usize>,
    /// The statistics' view of it, readable under a spinlock.
    status: Atomic<u32>,
    /// Consecutive faults that found no memory.
    pub(super) starved: Atomic<u32>,
    /// Number of its mappings in the aperture. Leaves zero only under `state`.
    views: Atomic<u32>,
    #[pin]
    pub(super) state: Mutex<State>,
}

/// The arguments of a BO's creation.
pub(crate) struct Args {
    pub(super) gpu: Arc<BoDevice>,
    pub(super) placements: Placements,
    pub(super) align: u64,
    pub(super) user: Option<userptr::Range>,
    /// See [`State::fresh`].
    pub(super) fresh: Option<Shmem>,
}

/// Creates a BO of at least `size` bytes, whose addresses are multiples of `align`, a power of two.
///
/// Errors: `EINVAL` if `size` is zero, `E2BIG` if it is too large, `ENFILE` if the system has no
/// more files, `ENOMEM`.
pub(crate) fn create(
    dev: &Device,
    size: u64,
    align: u64,
    placements: Placements,
) -> Result<ARef<Object>> {
    let gpu = dev.gpu().bo_device();
    // A size that overflows when rounded up is invalid.
    let size = size
        .checked_next_multiple_of(placements.grain(gpu))
        .unwrap_or(0);
    if size == 0 {
        return Err(EINVAL);
    }
    if size > MAX_SIZE {
        return Err(E2BIG);
    }
    // A compressible BO starts in VRAM.
    let fresh = match placements.iter().next() {
        Some(SYSTEM) if !placements.is_compressible() => {
            Some(Shmem::new(size as usize, gpu.dma_device())?)
        }
        _ => None,
    };
    let args = Args {
        gpu: gpu.clone(),
        placements,
        align,
        user: None,
        fresh,
    };
    Object::new(dev, size as usize, args)
}

impl Bo {
    /// Creates a BO of `bytes` bytes, whole pages, without memory.
    pub(super) fn make(bytes: u64, args: Args) -> impl PinInit<Self, Error> {
        let Args {
            gpu,
            placements,
            align,
            user,
            fresh,
        } = args;
        let region = placements.iter().next().unwrap_or(SYSTEM) as u32;
        // Processes do not flush: there are no userptr BOs on chips that do not snoop.
        let cache = match user {
            Some(_) => CacheLevel::Coherent,
            None => gpu.coherence().default_cache(),
        };
        try_pin_init!(Self {
            _counted: Counted::new(&gpu, bytes),
            gpu,
            bytes,
            placements,
            align,
            notes: Notes::new(),
            user,
            used: Atomic::new(false),
            unsettled: Atomic::new(0),
            status: Atomic::new(region << status::REGION_SHIFT),
            starved: Atomic::new(0),
            views: Atomic::new(0),
            state <- new_mutex!(State {
                bindings: Bindings::new(),
                backing: None,
                listed: None,
                swapped: None,
                fresh,
                early: None,
                sequence: None,
                pins: 0,
                advice: Advice::Need,
                cache,
                caches: CpuCaches::default(),
                tiled: None,
            }, "ouro_bo"),
        }? Error)
    }

    /// Returns its size in bytes: whole pages.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns its device.
    pub(crate) fn gpu(&self) -> &Arc<BoDevice> {
        &self.gpu
    }

    /// Returns the properties that user space stores with it.
    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Returns the alignment of its addresses: a power of two.
    pub(crate) fn align(&self) -> u64 {
        self.align
    }

    /// Returns the granularity of its size and addresses in all its regions: a power of two.
    pub(crate) fn grain(&self) -> u64 {
        self.placements.grain(&self.gpu)
    }

    /// Returns whether it may be in a region that the CPU sees through a BAR.
    pub(crate) fn is_windowed(&self) -> bool {
        let mut regions = self
            .placements
            .iter()
            .filter_map(|i| self.gpu.regions().get(i));
        regions.any(|r| r.is_windowed())
    }

    /// Returns the number of pages for its compression state (CCS) while it is not in VRAM.
    pub(super) fn state_pages(&self) -> u32 {
        if !self.placements.is_compressible() {
            return 0;
        }
        let pages = self.bytes / u64::from(PAGE_SIZE);
        let bytes = pages * u64::from(self.gpu.state_bytes());
        // It is smaller than the BO, whose number of pages fits.
        bytes.div_ceil(PAGE_SIZE.into()) as u32
    }

    /// Returns the regions where it may be.
    pub(crate) fn placements(&self) -> &Placements {
        &self.placements
    }

    pub(crate) fn lock_state(&self) -> Guard<'_, State, MutexBackend> {
        self.state.lock()
    }

    /// Returns the user memory of a userptr BO.
    pub(crate) fn user(&self) -> Option<&userptr::Range> {
        self.user.as_ref()
    }

    /// Returns whether it is bound in a space.
    pub(crate) fn is_bound(&self, space: &Arc<Space>) -> bool {
        self.state.lock().bindings.get(space).is_some()
    }

    /// Returns its cache level.
    pub(crate) fn cache(&self) -> CacheLevel {
        self.state.lock().cache
    }

    /// A batch uses it: others spare it for a round of evictions.
    pub(crate) fn mark_used(&self) {
        self.used.store(true, ordering::Relaxed);
    }

    /// Returns whether a batch has used it since the last call.
    pub(crate) fn take_used(&self) -> bool {
        self.used.xchg(false, ordering::Relaxed)
    }

    /// A batch has waited in vain for it to become idle.
    pub(crate) fn mark_unsettled(&self) {
        let now = time::now() as usize;
        self.unsettled.store(now.max(1), ordering::Relaxed);
    }

    /// Returns whether a batch has done so in the last `limit` jiffies.
    pub(crate) fn was_unsettled_within(&self, limit: usize) -> bool {
        let at = self.unsettled.load(ordering::Relaxed);
        let since = (time::now() as usize).wrapping_sub(at);
        at != 0 && since < limit
    }

    /// Releases its memory. It must not be bound. Returns the number of pages.
    pub(super) fn drop_backing(&self, state: &mut State) -> usize {
        state.listed = None;
        state.caches = CpuCaches::default();
        let early = early::release(self, state);
        let Some(backing) = state.backing.take() else {
            return early;
        };
        let pages = backing.len();
        self.gpu.count_pages(-i64::from(pages));
        backing.release(self.gpu.runner());
        self.show_status(state);
        pages as usize
    }

    /// Updates the statistics' view of it. Must be called whenever its memory is allocated, freed
    /// or moved.
    pub(crate) fn show_status(&self, state: &State) {
        let regions = self.gpu.regions();
        let region = match &state.backing {
            Some(backing) => backing
                .region(regions)
                .and_then(|r| regions.iter().position(|known| Arc::ptr_eq(r, known))),
            None if state.swapped.is_some() => Some(SYSTEM),
            None => self.placements.iter().next(),
        };
        let mut bits = (region.unwrap_or(SYSTEM) as u32) << status::REGION_SHIFT;
        if state.backing.is_some() {
            bits |= status::RESIDENT;
        }
        if state.advice == Advice::DontNeed {
            bits |= status::PURGEABLE;
        }
        self.status.store(bits, ordering::Relaxed);
    }

    /// Returns whether it has neither memory nor an address, nor what else is released under other
    /// locks. For a BO without references. Process context.
    pub(super) fn has_nothing(&self) -> bool {
        // There is no other caller.
        let Some(state) = self.state.try_lock() else {
            return false;
        };
        let empty = state.backing.is_none() && state.bindings.is_empty() && state.listed.is_none();
        empty && state.early.is_none() && state.tiled.is_none() && self.user.is_none()
    }

    /// Returns whether it has memory, in a region. If its reservation is locked, that stays so.
    pub(crate) fn is_in(&self, region: usize) -> bool {
        let seen = self.seen();
        seen.resident && seen.region == region
    }

    /// Returns the statistics' view of it. Any context.
    pub(super) fn seen(&self) -> Seen {
        let bits = self.status.load(ordering::Relaxed);
        Seen {
            region: (bits >> status::REGION_SHIFT) as usize,
            resident: bits & status::RESIDENT != 0,
            purgeable: bits & status::PURGEABLE != 0,
        }
    }

    /// Returns its tiling; `None` if it is linear.
    pub(crate) fn tiled(&self) -> Option<Tiled> {
        self.state.lock().tiled
    }

    /// Returns the number of its mappings in the aperture.
    pub(crate) fn views(&self) -> u32 {
        self.views.load(ordering::Relaxed)
    }

    /// Counts its mappings in the aperture up or down.
    pub(crate) fn count_views(&self, n: i32) {
        self.views.fetch_add(n as u32, ordering::Relaxed);
    }
}

/// Removes user space's mappings of a BO, because the BAR is about to be closed. The device is
/// marked as gone, so that they are not mapped again.
pub(crate) fn revoke_mappings(object: &Object) {
    let _state = object.state.lock();
    bind::hide(object);
}
