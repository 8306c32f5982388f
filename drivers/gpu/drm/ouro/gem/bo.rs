// SPDX-License-Identifier: GPL-2.0

//! A buffer object.
//!
//! It gets memory when it is first touched ([`contents`](super::contents)), and an address when it is first used by the
//! GPU ([`bind`](super::bind)). It may have to give up the address for others while it is idle; the
//! memory stays until the last reference is gone. That moment may come in any context, so that what
//! has to be done then is left to a worker, which gives the pages to the
//! [`Runner`](super::Runner). What the DRM core asks of it is in [`ops`](super::ops).
//!
//! Locks: the reservation, then [`Bo::state`]. User memory is touched under neither.

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
use ouro_kernel::{gem, pages::Shmem, userptr::Sequence};

use super::{
    bind,
    notes::Notes,
    region::{Placements, SYSTEM},
    shrink::{Listed, Worth},
    userptr,
    view::Tiled,
    Backing, Bindings, BoDevice, Space,
};
use crate::device::Device;

/// An object as the DRM core knows it.
pub(crate) type Object = gem::Object<Bo>;

/// Largest object. A page number of it fits into 32 bits, with room to spare.
pub(crate) const MAX_SIZE: u64 = 1 << 40;

/// How user space sees an object: the kinds of mappings, by number.
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

/// What user space has said of the contents.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advice {
    /// They are needed.
    Need,
    /// They may be thrown away when memory is short.
    DontNeed,
    /// They were. There will be no others.
    Purged,
}

/// Bits of [`Bo::status`].
mod status {
    pub(super) const RESIDENT: u32 = 1;
    pub(super) const PURGEABLE: u32 = 2;
    /// From this one on: the region's number.
    pub(super) const REGION_SHIFT: u32 = 8;
}

/// What the statistics say of an object.
pub(super) struct Seen {
    /// Where it is, or would be.
    pub(super) region: usize,
    pub(super) resident: bool,
    pub(super) purgeable: bool,
}

/// What is under [`Bo::state`].
pub(crate) struct State {
    // The addresses go before the pages.
    pub(super) bindings: Bindings,
    pub(super) backing: Option<Arc<Backing>>,
    /// The backing is one that can be let go of.
    pub(super) listed: Option<Listed>,
    /// Where the contents are, if the backing was let go of, or the CPU has written some before there was one.
    pub(super) swapped: Option<Shmem>,
    /// What its first memory will be of, where that is the system's. A file each: who makes an object hears
    /// that there are no more of them, since who touches it could only be killed for that.
    pub(super) fresh: Option<Shmem>,
    /// Of memory of a process: when the backing was what the process has.
    pub(super) sequence: Option<Sequence>,
    /// How often others have asked that the pages stay where they are.
    pub(super) pins: u32,
    pub(super) advice: Advice,
    /// How the GPU caches it.
    pub(super) cache: CacheLevel,
    /// What the CPU's caches may hold of it, where the GPU does not see that.
    pub(super) caches: CpuCaches,
    /// How its bytes are ordered.
    pub(super) tiled: Option<Tiled>,
}

impl State {
    /// Its memory, if it has any.
    pub(crate) fn backing(&self) -> Option<&Arc<Backing>> {
        self.backing.as_ref()
    }

    /// How the GPU caches it.
    pub(crate) fn cache(&self) -> CacheLevel {
        self.cache
    }

    /// It has been moved, to where it is listed so. Returns the addresses that it had, which are needed
    /// until the copy is done.
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

    /// Whether it never had any memory.
    pub(crate) fn is_untouched(&self) -> bool {
        self.backing.is_none() && self.swapped.is_none() && self.advice == Advice::Need
    }

    /// The file that has its contents, or will, while it has no memory: there they can be read a page at a time.
    pub(super) fn file(&self) -> Option<&Shmem> {
        match (&self.backing, self.advice) {
            (None, Advice::Need) => self.swapped.as_ref().or(self.fresh.as_ref()),
            _ => None,
        }
    }

    /// The same, to be written: from here on what is in it is needed.
    pub(super) fn file_to_write(&mut self) -> Option<&Shmem> {
        self.file()?;
        if let Some(fresh) = self.fresh.take() {
            self.swapped.get_or_insert(fresh);
        }
        self.swapped.as_ref()
    }

    /// Whether others have the pages, so that they must stay where they are.
    pub(crate) fn is_pinned(&self) -> bool {
        self.pins != 0
    }

    /// Of what worth the contents are to user space.
    pub(crate) fn worth(&self) -> Worth {
        match self.advice {
            Advice::Need => Worth::Kept,
            Advice::DontNeed | Advice::Purged => Worth::Nothing,
        }
    }
}

/// An object in the statistics.
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

/// What ouro adds to an object.
#[pin_data]
pub(crate) struct Bo {
    gpu: Arc<BoDevice>,
    bytes: u64,
    placements: Placements,
    /// What its address is a multiple of.
    align: u64,
    notes: Notes,
    /// The memory of a process that it is.
    user: Option<userptr::Range>,
    _counted: Counted,
    /// Whether a batch has used it since it was last asked to make room.
    pub(super) used: Atomic<bool>,
    /// What the statistics say of it, which are asked for with a spinlock held.
    status: Atomic<u32>,
    /// Faults in a row that found no memory.
    pub(super) starved: Atomic<u32>,
    /// Views of it in the aperture. From none to one only under `state`.
    views: Atomic<u32>,
    #[pin]
    pub(super) state: Mutex<State>,
}

/// What an object is made of.
pub(crate) struct Args {
    pub(super) gpu: Arc<BoDevice>,
    pub(super) placements: Placements,
    pub(super) align: u64,
    pub(super) user: Option<userptr::Range>,
    /// See [`State::fresh`].
    pub(super) fresh: Option<Shmem>,
}

/// Makes an object of at least `size` bytes, at addresses that are multiples of `align`, a power of two.
///
/// Errors: `EINVAL` for no size, `E2BIG` for one that cannot be, `ENFILE` if the system has no more files,
/// `ENOMEM`.
pub(crate) fn create(
    dev: &Device,
    size: u64,
    align: u64,
    placements: Placements,
) -> Result<ARef<Object>> {
    let gpu = dev.gpu().bo_device();
    // What is rounded up beyond the last number is no size at all.
    let size = size
        .checked_next_multiple_of(placements.grain(gpu))
        .unwrap_or(0);
    if size == 0 {
        return Err(EINVAL);
    }
    if size > MAX_SIZE {
        return Err(E2BIG);
    }
    // What is compressed begins in the device's memory.
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
    /// An object of so many bytes, whole pages, without any memory.
    pub(super) fn make(bytes: u64, args: Args) -> impl PinInit<Self, Error> {
        let Args {
            gpu,
            placements,
            align,
            user,
            fresh,
        } = args;
        let region = placements.iter().next().unwrap_or(SYSTEM) as u32;
        // A process flushes nothing: there is none of its memory where nothing is snooped.
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
            status: Atomic::new(region << status::REGION_SHIFT),
            starved: Atomic::new(0),
            views: Atomic::new(0),
            state <- new_mutex!(State {
                bindings: Bindings::new(),
                backing: None,
                listed: None,
                swapped: None,
                fresh,
                sequence: None,
                pins: 0,
                advice: Advice::Need,
                cache,
                caches: CpuCaches::default(),
                tiled: None,
            }, "ouro_bo"),
        }? Error)
    }

    /// Bytes: whole pages.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The device.
    pub(crate) fn gpu(&self) -> &Arc<BoDevice> {
        &self.gpu
    }

    /// What user space keeps with it.
    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    /// What its address is a multiple of: a power of two.
    pub(crate) fn align(&self) -> u64 {
        self.align
    }

    /// What its size and its addresses are multiples of, wherever it may live: a power of two.
    pub(crate) fn grain(&self) -> u64 {
        self.placements.grain(&self.gpu)
    }

    /// Whether it may live where the CPU sees it through a window.
    pub(crate) fn is_windowed(&self) -> bool {
        let mut regions = self
            .placements
            .iter()
            .filter_map(|i| self.gpu.regions().get(i));
        regions.any(|r| r.is_windowed())
    }

    /// Pages that its state of compression takes, while it is not in the device's own memory.
    pub(super) fn state_pages(&self) -> u32 {
        if !self.placements.is_compressible() {
            return 0;
        }
        let pages = self.bytes / u64::from(PAGE_SIZE);
        let bytes = pages * u64::from(self.gpu.state_bytes());
        // It is less than the object, whose pages are counted so.
        bytes.div_ceil(PAGE_SIZE.into()) as u32
    }

    /// Where it may live.
    pub(crate) fn placements(&self) -> &Placements {
        &self.placements
    }

    pub(crate) fn lock_state(&self) -> Guard<'_, State, MutexBackend> {
        self.state.lock()
    }

    /// The memory of a process that it is.
    pub(crate) fn user(&self) -> Option<&userptr::Range> {
        self.user.as_ref()
    }

    /// Whether it has an address in a space.
    pub(crate) fn is_bound(&self, space: &Arc<Space>) -> bool {
        self.state.lock().bindings.get(space).is_some()
    }

    /// How the GPU caches it.
    pub(crate) fn cache(&self) -> CacheLevel {
        self.state.lock().cache
    }

    /// Whether a batch has used it since this was asked last.
    pub(crate) fn take_used(&self) -> bool {
        self.used.xchg(false, ordering::Relaxed)
    }

    /// The memory is not the object's any more. There is no address. Returns how many pages it was.
    pub(super) fn drop_backing(&self, state: &mut State) -> usize {
        state.listed = None;
        state.caches = CpuCaches::default();
        let Some(backing) = state.backing.take() else {
            return 0;
        };
        let pages = backing.len();
        self.gpu.count_pages(-i64::from(pages));
        backing.let_go(self.gpu.runner());
        self.show_status(state);
        pages as usize
    }

    /// What the statistics say from here on. To be called whenever memory comes, goes or moves.
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

    /// What the statistics say. Any context.
    pub(super) fn seen(&self) -> Seen {
        let bits = self.status.load(ordering::Relaxed);
        Seen {
            region: (bits >> status::REGION_SHIFT) as usize,
            resident: bits & status::RESIDENT != 0,
            purgeable: bits & status::PURGEABLE != 0,
        }
    }

    /// How its bytes are ordered: linear, if that is `None`.
    pub(crate) fn tiled(&self) -> Option<Tiled> {
        self.state.lock().tiled
    }

    /// Views of it that the aperture has.
    pub(crate) fn views(&self) -> u32 {
        self.views.load(ordering::Relaxed)
    }

    /// The aperture has a view more, or less.
    pub(crate) fn count_views(&self, n: i32) {
        self.views.fetch_add(n as u32, ordering::Relaxed);
    }
}

/// The window through which the CPU sees an object is about to be closed: nobody looks through it
/// from here on. The device says already that it is gone.
pub(crate) fn close_window(object: &Object) {
    let _state = object.state.lock();
    bind::hide(object);
}
