// SPDX-License-Identifier: GPL-2.0

//! A buffer object.
//!
//! It gets memory when it is first touched, and an address when it is first used by the GPU. It may
//! have to give up the address for others while it is idle; the memory stays until the last
//! reference is gone. That moment may come in any context, so that what has to be done then is left
//! to a worker, which gives the pages to the [`Retirer`](crate::submit::Retirer).
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
use ouro_hw::types::{CacheLevel, GpuAddr};
use ouro_kernel::{
    gem::{self, Dead, DmaBuf, Fault, FaultError},
    pages::{Pages, Shmem},
    resv::{HasResv, Locked, Usage},
    task,
    userptr::Sequence,
    wait::{Interruptible, FOREVER},
    Caching,
};

use super::{
    backing::Memory,
    migrate::{self, Patience},
    region::{Placements, Region},
    shrink::{Listed, Worth},
    userptr::{self, Pinned},
    view, Backing,
};
use crate::{
    driver::{Device, Ouro},
    gpu::Gpu,
    vm::{Mapping, Owner, Place, Tiled},
};

/// An object as the DRM core knows it.
pub(crate) type Object = gem::Object<Bo>;

/// The region of system memory.
const SYSTEM: usize = 0;

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
enum Advice {
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
}

/// What is under [`Bo::state`].
pub(super) struct State {
    // The address goes before the pages.
    mapping: Option<Mapping>,
    backing: Option<Arc<Backing>>,
    /// The backing is one that can be let go of.
    listed: Option<Listed>,
    /// Where the contents are, if the backing was let go of.
    swapped: Option<Shmem>,
    /// Of memory of a process: when the backing was what the process has.
    sequence: Option<Sequence>,
    /// How often others have asked that the pages stay where they are.
    pins: u32,
    advice: Advice,
    /// How the GPU caches it.
    cache: CacheLevel,
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

    /// It has been moved, to where it is listed so. Returns the address that it had, which is needed
    /// until the copy is done.
    pub(super) fn moved(&mut self, to: Arc<Backing>, listed: Option<Listed>) -> Option<Mapping> {
        self.backing = Some(to);
        self.listed = listed;
        self.mapping.take()
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

/// Why an object has no memory.
enum NoBacking {
    /// None of the regions where it may live has room; this is the best of them.
    Full(Arc<Region>),
    Failed(Error),
}

impl From<Error> for NoBacking {
    fn from(e: Error) -> Self {
        Self::Failed(e)
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
    /// The memory of a process that it is.
    user: Option<userptr::Range>,
    _counted: Counted,
    /// Whether a batch has used it since it was last asked to make room.
    used: Atomic<bool>,
    /// What the statistics say of it, which are asked for with a spinlock held.
    status: Atomic<u32>,
    /// Views of it in the aperture. From none to one only under `state`.
    views: Atomic<u32>,
    #[pin]
    pub(super) state: Mutex<State>,
}

/// What an object is made of.
pub(crate) struct Args {
    pub(super) gpu: Arc<Gpu>,
    pub(super) placements: Placements,
    pub(super) user: Option<userptr::Range>,
}

/// What a batch brings along for an object.
pub(crate) enum Given<'a> {
    /// Nothing: its memory is the driver's.
    Nothing,
    /// The reservation, for a buffer of another device.
    Locked(Locked<'a>),
    /// Pages of a process.
    Pinned(&'a Pinned),
}

/// Why an object cannot be bound where it should be, now.
pub(crate) enum BindError {
    /// It must not be moved before its fences are signalled.
    Busy,
    /// It has no memory, and this region no room for it: somebody has to leave.
    Full(Arc<Region>),
    /// Any other reason.
    Failed(Error),
}

impl From<Error> for BindError {
    fn from(e: Error) -> Self {
        Self::Failed(e)
    }
}

impl From<NoBacking> for BindError {
    fn from(e: NoBacking) -> Self {
        match e {
            NoBacking::Full(region) => Self::Full(region),
            NoBacking::Failed(e) => Self::Failed(e),
        }
    }
}

/// Makes an object of at least `size` bytes.
///
/// Errors: `EINVAL` for no size, `E2BIG` for one that cannot be, `ENOMEM`.
pub(crate) fn create(dev: &Device, size: u64, placements: Placements) -> Result<ARef<Object>> {
    // What is rounded up beyond the last number is no size at all.
    let size = size.checked_next_multiple_of(4096).unwrap_or(0);
    if size == 0 {
        return Err(EINVAL);
    }
    if size > MAX_SIZE {
        return Err(E2BIG);
    }
    let args = Args {
        gpu: dev.gpu().clone(),
        placements,
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

    /// Whether it has an address.
    pub(crate) fn is_bound(&self) -> bool {
        self.state.lock().mapping.is_some()
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
    fn drop_backing(&self, state: &mut State) -> usize {
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

    fn show_status(&self, state: &State) {
        let mut bits = 0;
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

/// Its memory; it gets some if it has none, in the first of its regions that has room.
fn backing_of(object: &Object, state: &mut State) -> core::result::Result<Arc<Backing>, NoBacking> {
    if let Some(backing) = &state.backing {
        return Ok(backing.clone());
    }
    if state.advice != Advice::Need {
        return Err(EFAULT.into());
    }
    if object.user.is_some() {
        return Err(EFAULT.into());
    }
    let gpu = &object.gpu;
    gpu.usable()?;
    if let Some(shmem) = &state.swapped {
        let backing = Backing::again(gpu.dma_device(), shmem)?;
        settle_in(object, state, &backing)?;
        state.swapped = None;
        return Ok(backing);
    }
    let mut full = None;
    for region in object.placements.iter() {
        let region = gpu.regions().get(region).ok_or(EINVAL)?;
        match Backing::in_region(gpu, region, object) {
            Ok(backing) => {
                settle_in(object, state, &backing)?;
                return Ok(backing);
            }
            Err(e) if e == ENOSPC => {
                full.get_or_insert(region);
            }
            Err(e) => return Err(e.into()),
        }
    }
    Err(match full {
        Some(region) => NoBacking::Full(region.clone()),
        None => NoBacking::Failed(ENOMEM),
    })
}

/// The object gets this memory, having none. Errors: `ENOMEM`.
fn settle_in(object: &Object, state: &mut State, backing: &Arc<Backing>) -> Result {
    let gpu = &object.gpu;
    state.listed = gpu.reclaim().enlist(object, backing, state.worth())?;
    gpu.count_pages(i64::from(backing.len()));
    state.backing = Some(backing.clone());
    object.show_status(state);
    Ok(())
}

/// Says whether the contents are needed. Returns whether they are still there. Sleeps.
pub(crate) fn advise(object: &Object, needed: bool) -> bool {
    let mut guard = object.state.lock();
    let state = &mut *guard;
    if state.advice == Advice::Purged {
        return false;
    }
    state.advice = if needed {
        Advice::Need
    } else {
        Advice::DontNeed
    };
    let worth = state.worth();
    if let Some(listed) = &mut state.listed {
        listed.set_worth(worth, object.downgrade());
    }
    let ours = object.attachment().is_none() && object.user.is_none();
    if ours && state.backing.is_none() && !needed {
        // Nothing holds pages: whatever there is goes at once.
        purge(state);
    }
    object.show_status(state);
    state.advice != Advice::Purged
}

/// Throws the contents away.
fn purge(state: &mut State) {
    if let Some(backing) = &state.backing {
        backing.forget_contents();
        if let Some(shmem) = backing.shmem() {
            shmem.truncate();
        }
    }
    // The last reference of the file truncates it.
    state.swapped = None;
    state.advice = Advice::Purged;
}

/// Lets go of an object's pages, if nobody uses them; of `worth` is what is in them. Returns how
/// many. Takes locks by trying only, and waits for nothing: called by reclaim.
pub(super) fn give_back(object: &Object, worth: Worth) -> usize {
    // An idle object that is not locked stays idle while it is.
    let Some(_locked) = object.resv().try_lock() else {
        return 0;
    };
    if !object.resv().test_signaled(Usage::Bookkeep) {
        return 0;
    }
    let Some(mut guard) = object.state.try_lock() else {
        return 0;
    };
    let state = &mut *guard;
    if state.listed.is_none() || state.pins != 0 || state.worth() != worth {
        return 0;
    }
    if object.gpu.aperture().is_some_and(|a| !a.try_revoke(object)) {
        return 0;
    }
    if let Some(mapping) = &mut state.mapping {
        if !mapping.try_end() {
            return 0;
        }
    }
    state.mapping = None;
    object.unmap_user();
    match worth {
        Worth::Nothing => purge(state),
        Worth::Kept => state.swapped = state.backing.as_ref().and_then(|b| b.shmem().cloned()),
    }
    object.drop_backing(state)
}

/// Makes sure that it has memory, unless somebody else sees to that. Errors: as for [`backing`].
pub(crate) fn populate(object: &Object) -> Result {
    if object.attachment().is_some() {
        return Ok(());
    }
    if object.user.is_some() {
        return userptr::check(object);
    }
    backing(object).map(|_| ())
}

/// Locks the state of an object that has memory, and is not on its way to another region: what it
/// says of the contents is so. Waits for a move. Nothing is locked.
pub(super) fn settled(object: &Object) -> Result<(Guard<'_, State, MutexBackend>, Arc<Backing>)> {
    let mut patience = Patience::new();
    loop {
        object
            .resv()
            .wait(Usage::Kernel, Interruptible::Yes, FOREVER)?;
        let mut state = object.state.lock();
        if !object.resv().test_signaled(Usage::Kernel) {
            continue;
        }
        match backing_of(object, &mut state) {
            Ok(backing) => return Ok((state, backing)),
            Err(NoBacking::Failed(e)) => return Err(e),
            Err(NoBacking::Full(region)) => {
                drop(state);
                migrate::make_room(&object.gpu, &region, &mut patience)?;
            }
        }
    }
}

/// Its memory; it gets some if it has none. Waits for a move. Process context, nothing is locked.
///
/// Errors: `ENOMEM`, `ERESTARTSYS`, `ENODEV`.
pub(crate) fn backing(object: &Object) -> Result<Arc<Backing>> {
    settled(object).map(|(_, backing)| backing)
}

/// The memory that it has now, if it has any. Nothing under way takes it away.
pub(crate) fn present(object: &Object) -> Option<Arc<Backing>> {
    object.state.lock().backing.clone()
}

/// A buffer of another device gets addresses for ours, if it has none.
fn adopt_import(object: &Object, locked: &Locked<'_>) -> Result {
    let buffer = object.attachment().ok_or(EINVAL)?;
    // Not under the state, which the exporter, being one of ours, may have to lock of its own. The
    // reservation keeps others out.
    {
        let state = object.state.lock();
        if state.backing.is_some() {
            return Ok(());
        }
        if state.advice != Advice::Need {
            return Err(EFAULT);
        }
    }
    object.gpu.usable()?;
    let backing = Backing::foreign(buffer, locked, object.bytes)?;
    settle_in(object, &mut object.state.lock(), &backing)
}

/// Pages of a process become the object's, in place of those that are not any more.
fn adopt_pages(object: &Object, pinned: &Pinned) -> core::result::Result<(), BindError> {
    let mut guard = object.state.lock();
    let state = &mut *guard;
    let new = pinned.backing();
    let same = state
        .backing
        .as_ref()
        .is_some_and(|old| Arc::ptr_eq(old, new));
    if same {
        return Ok(());
    }
    // What was the object's once may be on its way out.
    if !pinned.is_new() || !object.resv().test_signaled(Usage::Bookkeep) {
        return Err(BindError::Busy);
    }
    if state.advice != Advice::Need {
        return Err(EFAULT.into());
    }
    state.mapping = None;
    object.drop_backing(state);
    settle_in(object, state, new)?;
    state.sequence = Some(pinned.sequence());
    Ok(())
}

/// The pages of a process that the object has, if they were what the process had at `sequence`.
pub(super) fn user_backing(object: &Object, sequence: Sequence) -> Option<Arc<Backing>> {
    let state = object.state.lock();
    state
        .backing
        .as_ref()
        .filter(|_| state.sequence == Some(sequence))
        .cloned()
}

/// Gives it an address at `place`, or keeps the one it has if that will do. Its reservation is
/// locked.
///
/// The range is at least `pad` bytes: what is beyond the object is the scratch page.
///
/// Memory that is not the driver's is there only if it is `given`.
pub(crate) fn bind(
    object: &Object,
    given: Given<'_>,
    place: Place,
    pad: u64,
) -> core::result::Result<GpuAddr, BindError> {
    object.used.store(true, ordering::Relaxed);
    match given {
        Given::Nothing => {}
        Given::Locked(locked) => adopt_import(object, &locked)?,
        Given::Pinned(pinned) => adopt_pages(object, pinned)?,
    }
    let mut state = object.state.lock();
    if state.mapping.is_none() && state.advice != Advice::Need {
        // What may be thrown away gets no address.
        return Err(EFAULT.into());
    }
    let backing = backing_of(object, &mut state)?;
    if state.unflushed {
        backing.flush_caches()?;
        state.unflushed = false;
    }
    if let Some(mapping) = &state.mapping {
        let at = mapping.addr().0;
        let fits = mapping.len() >= pad
            && match place {
                Place::At(addr) => at == addr.0,
                Place::Within { range, align } => {
                    at >= range.0 && at + mapping.len() <= range.1 && at & (align - 1) == 0
                }
            };
        if fits {
            return Ok(mapping.addr());
        }
        if !object.resv().test_signaled(Usage::Bookkeep) {
            return Err(BindError::Busy);
        }
        state.mapping = None;
    }
    let owner = Owner::Object(object);
    let mapping = backing.bind_object(&object.gpu, place, pad, owner, state.cache)?;
    let addr = mapping.addr();
    state.mapping = Some(mapping);
    Ok(addr)
}

/// Takes its address away, if it has one. Its reservation is locked.
pub(crate) fn unbind(object: &Object) -> core::result::Result<(), BindError> {
    let mut state = object.state.lock();
    if state.mapping.is_some() && !object.resv().test_signaled(Usage::Bookkeep) {
        return Err(BindError::Busy);
    }
    state.mapping = None;
    Ok(())
}

/// Changes how the GPU caches it. The next batch binds it anew. Waits until nothing uses it.
///
/// Errors: `ERESTARTSYS`.
pub(crate) fn set_cache(object: &Object, cache: CacheLevel) -> Result {
    loop {
        {
            let _locked = object.resv().lock(Interruptible::Yes)?;
            let mut state = object.state.lock();
            if state.cache == cache {
                return Ok(());
            }
            if state.mapping.is_none() || object.resv().test_signaled(Usage::Bookkeep) {
                state.mapping = None;
                if let Some(aperture) = object.gpu.aperture() {
                    aperture.revoke(object);
                }
                state.cache = cache;
                state.unflushed = cache == CacheLevel::None;
                return Ok(());
            }
        }
        object
            .resv()
            .wait(Usage::Bookkeep, Interruptible::Yes, FOREVER)?;
    }
}

/// Says how its bytes are ordered, which matters to those who look through the aperture.
pub(crate) fn set_tiled(object: &Object, tiled: Option<Tiled>) {
    let mut state = object.state.lock();
    if state.tiled != tiled {
        if let Some(aperture) = object.gpu.aperture() {
            aperture.revoke(object);
        }
        state.tiled = tiled;
    }
}

/// Maps the page that was touched, from memory.
fn show_page(object: &Object, fault: &mut Fault<'_>) -> core::result::Result<(), FaultError> {
    let (mut state, backing) = settled(object)?;
    state.unflushed |= state.cache == CacheLevel::None && fault.is_write();
    fault.insert(backing.pfn(fault.page()).ok_or(FaultError::Bus)?)
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
            user,
        } = args;
        let bytes = size as u64;
        let cache = if gpu.hardware().topology().llc {
            CacheLevel::Coherent
        } else {
            CacheLevel::None
        };
        try_pin_init!(Self {
            _counted: Counted::new(&gpu, bytes),
            gpu,
            bytes,
            placements,
            user,
            used: Atomic::new(false),
            status: Atomic::new(0),
            views: Atomic::new(0),
            state <- new_mutex!(State {
                mapping: None,
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
            Err(FaultError::NoMemory) if object.bytes() / 4096 > task::total_pages() as u64 => {
                Err(FaultError::Bus)
            }
            done => done,
        }
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
            user: None,
        };
        Object::import(dev, attachment, args)
    }

    fn pin(object: &Object) -> Result {
        let mut state = object.state.lock();
        if state.backing.is_none() && !object.placements.iter().any(|region| region == SYSTEM) {
            return Err(EOPNOTSUPP);
        }
        let backing = match &state.backing {
            None if state.swapped.is_none() && state.advice == Advice::Need => {
                object.gpu.usable()?;
                let region = object.gpu.regions().get(SYSTEM).ok_or(EINVAL)?;
                let backing = Backing::in_region(&object.gpu, region, object)?;
                settle_in(object, &mut state, &backing)?;
                backing
            }
            _ => backing_of(object, &mut state).map_err(|e| match e {
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
            backing(object)?.flush_caches()?;
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
        state.mapping = None;
        if let Some(backing) = &state.backing {
            // Nobody will read it: it need not go to swap.
            backing.forget_contents();
        }
        dead.drop_backing(&mut state);
    }

    fn status(object: &Object) -> gem::Status {
        let bits = object.status.load(ordering::Relaxed);
        gem::Status {
            resident: bits & status::RESIDENT != 0,
            purgeable: bits & status::PURGEABLE != 0,
            active: !object.resv().test_signaled(Usage::Bookkeep),
        }
    }
}
