// SPDX-License-Identifier: GPL-2.0

//! The contents of a BO: how its memory is allocated and released.
//!
//! Memory is allocated when the BO is first touched: in the preferred region with room, from swap
//! after reclaim, from an exporter, or from a process. It is released with the last reference, or
//! before that by reclaim if the BO is idle.
//!
//! All of this is under [`Bo::state`](super::Bo::state).

use kernel::{
    prelude::*,
    sync::{
        lock::{mutex::MutexBackend, Guard},
        Arc,
    },
};
use ouro_kernel::{
    pages::Shmem,
    resv::{HasResv, Locked, Usage},
    userptr::Sequence,
    wait::{Interruptible, FOREVER},
};

use super::{
    bind::BindError,
    bo::{Advice, State},
    caches, early,
    migrate::{self, Attempts},
    region::Region,
    shrink::{Relief, Worth},
    userptr::{self, Pinned},
    Backing, Object,
};

/// Why a BO has no memory.
pub(super) enum NoBacking {
    /// All regions where it may be are full; this is the preferred one.
    Full(Arc<Region>),
    Failed(Error),
}

impl From<Error> for NoBacking {
    fn from(e: Error) -> Self {
        Self::Failed(e)
    }
}

/// Returns its memory; allocates it if there is none, in the first of its regions that has room.
pub(super) fn backing_of(
    object: &Object,
    state: &mut State,
) -> core::result::Result<Arc<Backing>, NoBacking> {
    if let Some(backing) = &state.backing {
        return Ok(backing.clone());
    }
    if state.advice != Advice::Need {
        return Err(EFAULT.into());
    }
    if object.user().is_some() {
        return Err(EFAULT.into());
    }
    let gpu = object.gpu();
    gpu.usable()?;
    if let Some(shmem) = &state.swapped {
        let backing = Backing::again(gpu.dma_device(), shmem, object.state_pages())?;
        attach_backing(object, state, &backing)?;
        state.swapped = None;
        return Ok(backing);
    }
    let mut full = None;
    for region in object.placements().iter() {
        let region = gpu.regions().get(region).ok_or(EINVAL)?;
        let (fresh, early) = (state.fresh.as_ref(), state.early.as_ref());
        match Backing::in_region(gpu, region, object, fresh, early) {
            Ok(backing) => {
                attach_backing(object, state, &backing)?;
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

/// Gives a BO without memory this memory. Errors: `ENOMEM`.
pub(super) fn attach_backing(object: &Object, state: &mut State, backing: &Arc<Backing>) -> Result {
    let gpu = object.gpu();
    caches::populated(object, state, backing)?;
    state.listed = gpu.reclaim().enlist(object, backing, state.worth())?;
    gpu.count_pages(i64::from(backing.len()));
    state.backing = Some(backing.clone());
    state.fresh = None;
    early::join(object, state, backing);
    object.show_status(state);
    Ok(())
}

/// If the contents were lost in a move, gives the BO its former memory back; a BO that was to be
/// cleared has no memory again, and is cleared at the next touch. Only while it is idle. Its
/// reservation is locked. Errors: `ENOMEM`.
pub(crate) fn restore_former(object: &Object, state: &mut State) -> Result {
    let lost = state.backing.as_ref().filter(|b| b.is_spoiled());
    let Some(lost) = lost.filter(|_| object.resv().test_signaled(Usage::Bookkeep)) else {
        return Ok(());
    };
    let Some(former) = lost.source().cloned() else {
        state.bindings.clear();
        object.drop_backing(state);
        return Ok(());
    };
    let gpu = object.gpu();
    let listed = gpu.reclaim().enlist(object, &former, state.worth())?;
    state.bindings.clear();
    state.listed = listed;
    if let Some(lost) = state.backing.replace(former) {
        lost.release(gpu.runner());
    }
    object.show_status(state);
    Ok(())
}

/// Sets whether the contents are needed. Returns whether they still exist. Sleeps.
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
    let ours = object.attachment().is_none() && object.user().is_none();
    if ours && state.backing.is_none() && !needed {
        // There are few pages to reclaim, if any: purge swapped contents at once.
        object.unmap_user();
        purge(state);
        object.drop_backing(state);
    }
    object.show_status(state);
    state.advice != Advice::Purged
}

/// Purges the contents.
fn purge(state: &mut State) {
    if let Some(backing) = &state.backing {
        backing.forget_contents();
        if let Some(shmem) = backing.shmem() {
            shmem.truncate();
        }
    }
    // The last reference of the file truncates it.
    state.swapped = None;
    state.fresh = None;
    state.advice = Advice::Purged;
}

/// Releases the pages of an idle BO whose contents are of `worth`. Returns how many; `None` if
/// another task holds a lock. Takes locks by trying only, and does not wait: called by reclaim.
pub(super) fn give_back(object: &Object, worth: Worth) -> Option<usize> {
    // An idle BO whose reservation is locked stays idle.
    let _locked = object.resv().try_lock()?;
    if !object.resv().test_signaled(Usage::Bookkeep) {
        return Some(0);
    }
    let mut guard = object.state.try_lock()?;
    let state = &mut *guard;
    if state.listed.is_none() || state.pins != 0 || state.worth() != worth {
        return Some(0);
    }
    // In other physical pages, the swizzle of the bytes would differ.
    let ordered = object
        .gpu()
        .hardware()
        .topology()
        .swizzle
        .depends_on_memory();
    if ordered && state.tiled.is_some() && worth == Worth::Kept {
        return Some(0);
    }
    // Contents that were lost in a move must not come back from swap as if they were valid.
    if state.backing.as_ref().is_some_and(|b| b.is_hidden()) {
        return Some(0);
    }
    if object
        .gpu()
        .aperture()
        .is_some_and(|a| !a.try_revoke(object))
    {
        return None;
    }
    if !state.bindings.try_end() {
        return None;
    }
    object.unmap_user();
    // The CPU reads them when it swaps them out. It cannot fail: the range is the BO's.
    let _ = caches::released(object, state, worth == Worth::Kept);
    match worth {
        Worth::Nothing => purge(state),
        Worth::Kept => match &state.backing {
            Some(backing) => state.swapped = backing.shmem().cloned(),
            None => {
                state.listed = None;
                return Some(early::park(object, state));
            }
        },
    }
    Some(object.drop_backing(state))
}

/// Makes sure that it has memory, unless it is imported. Errors: as [`backing`].
pub(crate) fn populate(object: &Object) -> Result {
    if object.attachment().is_some() {
        return Ok(());
    }
    if object.user().is_some() {
        return userptr::check(object);
    }
    backing(object).map(|_| ())
}

/// Locks the state of a BO that has memory, and is not being moved, so that the state describes the
/// contents. Waits for a move. The caller holds no locks.
pub(super) fn lock_populated(
    object: &Object,
) -> Result<(Guard<'_, State, MutexBackend>, Arc<Backing>)> {
    lock_populated_in(object, None)
}

/// Does what [`lock_populated`] does, for a caller that may hold the BO's reservation, but no other
/// lock.
pub(super) fn lock_populated_in<'a>(
    object: &'a Object,
    locked: Option<&Locked<'_>>,
) -> Result<(Guard<'a, State, MutexBackend>, Arc<Backing>)> {
    let mut attempts = Attempts::new();
    let mut relief = Relief::new();
    loop {
        object
            .resv()
            .wait(Usage::Kernel, Interruptible::Yes, FOREVER)?;
        let mut state = object.state.lock();
        if !object.resv().test_signaled(Usage::Kernel) {
            continue;
        }
        match backing_of(object, &mut state) {
            Ok(backing) if backing.is_hidden() => {
                drop(state);
                if !backing.is_spoiled() {
                    backing.catch_up(object.gpu(), Interruptible::Yes)?;
                    continue;
                }
                // Batches that were to use it in its new place have ended, or fail.
                object
                    .resv()
                    .wait(Usage::Bookkeep, Interruptible::Yes, FOREVER)?;
                let _locked = match locked {
                    Some(_) => None,
                    None => Some(object.resv().lock(Interruptible::Yes)?),
                };
                restore_former(object, &mut object.state.lock())?;
            }
            Ok(backing) => return Ok((state, backing)),
            Err(NoBacking::Failed(e)) if e == ENOMEM => {
                drop(state);
                if !relief.relieve(object.gpu(), object.bytes())? {
                    return Err(e);
                }
            }
            Err(NoBacking::Failed(e)) => return Err(e),
            Err(NoBacking::Full(region)) => {
                drop(state);
                migrate::make_room(object.gpu(), &region, &mut attempts)?;
            }
        }
    }
}

/// Returns its memory; allocates it if there is none. Waits for a move. Process context, the caller
/// holds no locks.
///
/// Errors: `ENOMEM`, `ERESTARTSYS`, `ENODEV`.
pub(crate) fn backing(object: &Object) -> Result<Arc<Backing>> {
    lock_populated(object).map(|(_, backing)| backing)
}

/// Same as [`backing`], for a caller that holds the BO's reservation.
pub(super) fn backing_in(object: &Object, locked: &Locked<'_>) -> Result<Arc<Backing>> {
    lock_populated_in(object, Some(locked)).map(|(_, backing)| backing)
}

/// Allocates its memory, if it has none and that does not wait. Errors: `EAGAIN` if other BOs would
/// have to be evicted; those of [`backing`].
pub(crate) fn begin(object: &Object) -> Result {
    if object.attachment().is_some() || object.user().is_some() {
        // A batch provides it.
        return Ok(());
    }
    match backing_of(object, &mut object.state.lock()) {
        Ok(_) => Ok(()),
        Err(NoBacking::Full(_)) => Err(EAGAIN),
        Err(NoBacking::Failed(e)) => Err(e),
    }
}

/// Returns the shmem file with a BO's contents while it has no backing. Errors: `ENODEV`, `EIO`.
pub(super) fn file(object: &Object) -> Result<Option<Shmem>> {
    object.gpu().usable()?;
    Ok(object.state.lock().file().cloned())
}

/// Lets `write` write into the shmem file with a BO's contents while it has no backing. Returns
/// `false` if it has a backing, if its first backing will be no shmem file, or if reclaim must free
/// memory first.
///
/// Errors: `ENODEV`, `EIO`, those of `write`.
pub(super) fn write_file(object: &Object, write: impl FnOnce(&Shmem) -> Result) -> Result<bool> {
    // It gets no backing while this is locked.
    let mut state = object.state.lock();
    let Some(file) = state.file_to_write() else {
        return Ok(false);
    };
    object.gpu().usable()?;
    match write(file) {
        Err(e) if e == ENOMEM => Ok(false),
        done => done.map(|()| true),
    }
}

/// Returns its memory, if it has any. Nothing under way releases it.
pub(crate) fn present(object: &Object) -> Option<Arc<Backing>> {
    object.state.lock().backing.clone()
}

/// Maps an imported dma-buf for the device, if it is not mapped.
pub(super) fn adopt_import(
    object: &Object,
    locked: &Locked<'_>,
) -> core::result::Result<(), BindError> {
    let buffer = object.attachment().ok_or(EINVAL)?;
    // Not under the state: the exporter may be another BO of this driver, which locks its own. The
    // reservation keeps others out.
    {
        let state = object.state.lock();
        if state.backing.is_some() {
            return Ok(());
        }
        if state.advice != Advice::Need {
            return Err(EFAULT.into());
        }
    }
    object.gpu().usable()?;
    // Mapping would wait for these fences with the lock held.
    if !locked.test_signaled(Usage::Kernel) {
        return Err(BindError::Moving);
    }
    let backing = Backing::foreign(buffer, locked, object.bytes())?;
    let attached = attach_backing(object, &mut object.state.lock(), &backing);
    if attached.is_err() {
        // Not dropped here: that locks the reservation.
        backing.release(object.gpu().runner());
    }
    Ok(attached?)
}

/// Makes pinned pages of a process the BO's, in place of earlier ones that are not valid any more.
pub(super) fn adopt_pages(object: &Object, pinned: &Pinned) -> core::result::Result<(), BindError> {
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
    // Earlier pages of the BO may be about to be released.
    if !pinned.is_new() || !object.resv().test_signaled(Usage::Bookkeep) {
        return Err(BindError::Busy);
    }
    if state.advice != Advice::Need {
        return Err(EFAULT.into());
    }
    state.bindings.clear();
    object.drop_backing(state);
    attach_backing(object, state, new)?;
    state.sequence = Some(pinned.sequence());
    Ok(())
}

/// Returns the BO's pages of a process, if they are those of `sequence`.
pub(super) fn user_backing(object: &Object, sequence: Sequence) -> Option<Arc<Backing>> {
    let state = object.state.lock();
    state
        .backing
        .as_ref()
        .filter(|_| state.sequence == Some(sequence))
        .cloned()
}
