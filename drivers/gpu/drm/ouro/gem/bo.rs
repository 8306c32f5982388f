// SPDX-License-Identifier: GPL-2.0

//! A buffer object.
//!
//! It gets memory when it is first touched ([`contents`]), and an address when it is first used by the
//! GPU ([`bind`](super::bind)). It may have to give up the address for others while it is idle; the
//! memory stays until the last reference is gone. That moment may come in any context, so that what
//! has to be done then is left to a worker, which gives the pages to the
//! [`Retirer`](crate::submit::Retirer).
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
use ouro_hw::types::CacheLevel;
use ouro_kernel::{
    gem::{self, Access, Dead, DmaBuf, Fault, FaultError},
    pages::{Pages, Shmem},
    resv::{HasResv, Locked, Usage},
    task,
    userptr::Sequence,
    wait::{Interruptible, FOREVER},
    Caching,
};

use super::{
    access,
    backing::Memory,
    bind,
    contents::{self, NoBacking},
    leave,
    notes::Notes,
    region::{Placements, SYSTEM},
    shrink::{Listed, Worth},
    userptr, view, Backing,
};
use crate::{
    driver::{Device, Ouro},
    gpu::Gpu,
    vm::{Bindings, Space, Tiled},
};

/// An object as the DRM core knows it.
pub(crate) type Object = gem::Object<Bo>;

/// How often a fault moves an object to where the CPU sees it, before it lets others do something.
const HIDDEN_TRIES: u32 = 4;

/// Pages that one fault maps, as they are all there: a fault costs more than some entries do.
const AROUND: usize = 64;

/// Largest object. A page number of it fits into 32 bits, with room to spare.
pub(crate) const MAX_SIZE: u64 = 1 << 40;

/// Faults in a row that may find no memory, before the thread hears that there is none. A memory cgroup
/// may be at its limit for ever.
const MAX_STARVED: u32 = 16;

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
pub(super) enum Advice {
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

/// What is under [`Bo::state`].
pub(super) struct State {
    // The addresses go before the pages.
    pub(super) bindings: Bindings,
    pub(super) backing: Option<Arc<Backing>>,
    /// The backing is one that can be let go of.
    pub(super) listed: Option<Listed>,
    /// Where the contents are, if the backing was let go of.
    pub(super) swapped: Option<Shmem>,
    /// Of memory of a process: when the backing was what the process has.
    pub(super) sequence: Option<Sequence>,
    /// How often others have asked that the pages stay where they are.
    pub(super) pins: u32,
    pub(super) advice: Advice,
    /// How the GPU caches it.
    pub(super) cache: CacheLevel,
    /// The CPU's caches may hold what is not in memory yet, and the GPU would not see it.
    pub(super) unflushed: bool,
    /// How its bytes are ordered.
    pub(super) tiled: Option<Tiled>,
}

impl State {
    /// Its memory, if it has any.
    pub(super) fn backing(&self) -> Option<&Arc<Backing>> {
        self.backing.as_ref()
    }

    /// How the GPU caches it.
    pub(super) fn cache(&self) -> CacheLevel {
        self.cache
    }

    /// It has been moved, to where it is listed so. Returns the addresses that it had, which are needed
    /// until the copy is done.
    pub(super) fn moved(&mut self, to: Arc<Backing>, listed: Option<Listed>) -> Bindings {
        self.backing = Some(to);
        self.listed = listed;
        core::mem::take(&mut self.bindings)
    }

    /// Whether it never had any memory.
    pub(super) fn is_untouched(&self) -> bool {
        self.backing.is_none() && self.swapped.is_none() && self.advice == Advice::Need
    }

    /// Whether others have the pages, so that they must stay where they are.
    pub(super) fn is_pinned(&self) -> bool {
        self.pins != 0
    }

    /// Of what worth the contents are to user space.
    pub(super) fn worth(&self) -> Worth {
        match self.advice {
            Advice::Need => Worth::Kept,
            Advice::DontNeed | Advice::Purged => Worth::Nothing,
        }
    }
}

/// An object in the statistics.
struct Counted(Arc<Gpu>, i64);

impl Counted {
    fn new(gpu: &Arc<Gpu>, bytes: u64) -> Self {
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
    gpu: Arc<Gpu>,
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
    starved: Atomic<u32>,
    /// Views of it in the aperture. From none to one only under `state`.
    views: Atomic<u32>,
    #[pin]
    pub(super) state: Mutex<State>,
}

/// What an object is made of.
pub(crate) struct Args {
    pub(super) gpu: Arc<Gpu>,
    pub(super) placements: Placements,
    pub(super) align: u64,
    pub(super) user: Option<userptr::Range>,
}

/// Makes an object of at least `size` bytes, at addresses that are multiples of `align`, a power of two.
///
/// Errors: `EINVAL` for no size, `E2BIG` for one that cannot be, `ENOMEM`.
pub(crate) fn create(
    dev: &Device,
    size: u64,
    align: u64,
    placements: Placements,
) -> Result<ARef<Object>> {
    let gpu = dev.gpu();
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
    let args = Args {
        gpu: gpu.clone(),
        placements,
        align,
        user: None,
    };
    Object::new(dev, size as usize, args)
}

impl Bo {
    /// Bytes: whole pages.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The device.
    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
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
    pub(super) fn grain(&self) -> u64 {
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

    /// Where it may live.
    pub(crate) fn placements(&self) -> &Placements {
        &self.placements
    }

    pub(super) fn lock_state(&self) -> Guard<'_, State, MutexBackend> {
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

    /// The CPU is about to write it through its caches, or has done so.
    pub(crate) fn written(&self) {
        let mut state = self.state.lock();
        state.unflushed |= state.cache == CacheLevel::None;
    }

    /// Whether a batch has used it since this was asked last.
    pub(crate) fn take_used(&self) -> bool {
        self.used.xchg(false, ordering::Relaxed)
    }

    /// The memory is not the object's any more. There is no address. Returns how many pages it was.
    pub(super) fn drop_backing(&self, state: &mut State) -> usize {
        state.listed = None;
        let Some(backing) = state.backing.take() else {
            return 0;
        };
        let pages = backing.len();
        self.gpu.count_pages(-i64::from(pages));
        backing.let_go(self.gpu.retirer());
        self.show_status(state);
        pages as usize
    }

    /// What the statistics say from here on. To be called whenever memory comes, goes or moves.
    pub(super) fn show_status(&self, state: &State) {
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

/// Maps the page that was touched, from memory.
fn show_page(object: &Object, fault: &mut Fault<'_>) -> core::result::Result<(), FaultError> {
    for _ in 0..HIDDEN_TRIES {
        let (mut state, backing) = contents::settled(object)?;
        let pfn = backing.pfn(fault.page());
        if backing.is_windowed() {
            // The window is closed at the unbind, after all of this was taken away from user space.
            object.gpu.usable()?;
            if pfn.is_none() {
                drop(state);
                leave::uncover(object)?;
                continue;
            }
        }
        state.unflushed |= state.cache == CacheLevel::None && fault.is_write();
        let region = match (state.tiled, backing.direct()) {
            (Some(tiled), Some(at)) => tiled.region(at, object.bytes()),
            _ => None,
        };
        let pages = 0..backing.len() as usize;
        let insert = || fault.insert_around::<AROUND>(pages, |page| backing.pfn(page));
        return match (region, object.gpu.surfaces()) {
            (Some(region), Some(surfaces)) => surfaces.show(object, region, insert),
            _ => insert(),
        };
    }
    // Batches want it there more often than the CPU gets to see it.
    Err(FaultError::Retry)
}

/// The window through which the CPU sees an object is about to be closed: nobody looks through it
/// from here on. The device says already that it is gone.
pub(crate) fn close_window(object: &Object) {
    let _state = object.state.lock();
    bind::hide(object);
}

impl gem::DriverObject for Bo {
    type Driver = Ouro;
    type Args = Args;
    const EXPORT_KIND: u8 = kind::CACHED;
    const SHARES: bool = true;

    fn new(_: &Device, size: usize, args: Args) -> impl PinInit<Self, Error> {
        let Args {
            gpu,
            placements,
            align,
            user,
        } = args;
        let bytes = size as u64;
        let region = placements.iter().next().unwrap_or(SYSTEM) as u32;
        // A card sees what the CPU's caches hold of the system's memory, too.
        let cache = if gpu.hardware().topology().llc || gpu.is_discrete() {
            CacheLevel::Coherent
        } else {
            CacheLevel::None
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
                sequence: None,
                pins: 0,
                advice: Advice::Need,
                cache,
                unflushed: cache == CacheLevel::None,
                tiled: None,
            }, "ouro_bo"),
        }? Error)
    }

    fn mmap(_: &Object, kind: u8, _write: bool) -> Result<Caching> {
        match kind {
            kind::CACHED => Ok(Caching::WriteBack),
            kind::UNCACHED => Ok(Caching::Uncached),
            // The aperture too.
            _ => Ok(Caching::WriteCombining),
        }
    }

    fn fault(object: &Object, fault: &mut Fault<'_>) -> core::result::Result<(), FaultError> {
        let done = if fault.kind() == kind::APERTURE {
            view::fault(object, fault)
        } else {
            show_page(object, fault)
        };
        match done {
            // For "no memory" the kernel lets the thread try again, without end if there never
            // will be any.
            Err(FaultError::NoMemory) => {
                let never = object.bytes() / 4096 > task::total_pages() as u64;
                if never || object.starved.fetch_add(1, ordering::Relaxed) >= MAX_STARVED {
                    object.starved.store(0, ordering::Relaxed);
                    return Err(FaultError::Bus);
                }
                Err(FaultError::NoMemory)
            }
            Ok(()) => {
                if object.starved.load(ordering::Relaxed) != 0 {
                    object.starved.store(0, ordering::Relaxed);
                }
                Ok(())
            }
            done => done,
        }
    }

    fn access(object: &Object, offset: usize, access: Access<'_>) -> Result {
        access::look(object, offset, access)
    }

    fn export(object: &Object) -> Result {
        // A process cannot lend out its memory for as long as somebody else likes.
        match object.user {
            Some(_) => Err(EINVAL),
            None => Ok(()),
        }
    }

    fn import(dev: &Device, buffer: &DmaBuf) -> Result<ARef<Object>> {
        let gpu = dev.gpu();
        gpu.usable()?;
        if buffer.size() as u64 > MAX_SIZE {
            return Err(E2BIG);
        }
        let attachment = buffer.attach(gpu.dma_device())?;
        let args = Args {
            gpu: gpu.clone(),
            placements: Placements::system(),
            align: 1,
            user: None,
        };
        Object::import(dev, attachment, args)
    }

    fn pin(object: &Object, locked: &Locked<'_>) -> Result {
        if !object.placements.iter().any(|region| region == SYSTEM) {
            return Err(EOPNOTSUPP);
        }
        // Others see it in the system's memory alone, and where it is by then.
        leave::come_home(object, locked)?;
        let mut state = object.state.lock();
        let backing = match &state.backing {
            None if state.swapped.is_none() && state.advice == Advice::Need => {
                object.gpu.usable()?;
                let region = object.gpu.regions().get(SYSTEM).ok_or(EINVAL)?;
                let backing = Backing::in_region(&object.gpu, region, object)?;
                contents::settle_in(object, &mut state, &backing)?;
                backing
            }
            _ => contents::backing_of(object, &mut state).map_err(|e| match e {
                NoBacking::Full(_) => ENOMEM,
                NoBacking::Failed(e) => e,
            })?,
        };
        if backing.shmem().is_none() {
            return Err(EOPNOTSUPP);
        }
        state.pins = state.pins.checked_add(1).ok_or(EBUSY)?;
        Ok(())
    }

    fn unpin(object: &Object) {
        let mut state = object.state.lock();
        state.pins = state.pins.saturating_sub(1);
    }

    fn pages(object: &Object) -> Result<Arc<Pages>> {
        let state = object.state.lock();
        match state.backing.as_ref().map(|backing| backing.memory()) {
            Some(Memory::Pages(map)) if state.pins != 0 => Ok(map.pages().clone()),
            _ => Err(EOPNOTSUPP),
        }
    }

    fn begin_cpu_access(object: &Object, write: bool) -> Result {
        let usage = Usage::for_access(write);
        object.resv().wait(usage, Interruptible::Yes, FOREVER)?;
        if object.cache() == CacheLevel::None {
            contents::backing(object)?.flush_caches()?;
        }
        if write {
            object.written();
        }
        Ok(())
    }

    fn free(dead: Dead<Self>) {
        // Tables are written under a mutex.
        dead.defer();
    }

    fn free_late(dead: Dead<Self>) {
        let mut state = dead.state.lock();
        if let Some(aperture) = dead.gpu.aperture() {
            aperture.revoke(&dead);
        }
        if let Some(surfaces) = dead.gpu.surfaces() {
            surfaces.release(&dead);
        }
        state.bindings.clear();
        if let Some(backing) = &state.backing {
            // Nobody will read it: it need not go to swap.
            backing.forget_contents();
        }
        dead.drop_backing(&mut state);
    }

    fn status(object: &Object) -> gem::Status {
        let bits = object.status.load(ordering::Relaxed);
        gem::Status {
            region: (bits >> status::REGION_SHIFT) as usize,
            resident: bits & status::RESIDENT != 0,
            purgeable: bits & status::PURGEABLE != 0,
            active: !object.resv().test_signaled(Usage::Bookkeep),
        }
    }
}
