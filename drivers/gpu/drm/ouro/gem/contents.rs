// SPDX-License-Identifier: GPL-2.0

//! The contents of an object: where its memory comes from, and how it goes.
//!
//! Memory comes when the object is first touched: from the best of its regions that has room, from
//! where reclaim has left the contents, from another device, or from a process. It goes with the last
//! reference, or before that if it is idle and others need it.
//!
//! All of it is under [`Bo::state`](super::Bo::state).

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
    caches,
    leave::{self, Attempts},
    region::Region,
    shrink::{Relief, Worth},
    userptr::{self, Pinned},
    Backing, Object,
};

/// Why an object has no memory.
pub(super) enum NoBacking {
    /// None of the regions where it may live has room; this is the best of them.
    Full(Arc<Region>),
    Failed(Error),
}

impl From<Error> for NoBacking {
    fn from(e: Error) -> Self {
        Self::Failed(e)
    }
}

/// Its memory; it gets some if it has none, in the first of its regions that has room.
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
        settle_in(object, state, &backing)?;
        state.swapped = None;
        return Ok(backing);
    }
    let mut full = None;
    for region in object.placements().iter() {
        let region = gpu.regions().get(region).ok_or(EINVAL)?;
        match Backing::in_region(gpu, region, object, state.fresh.as_ref()) {
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
pub(super) fn settle_in(object: &Object, state: &mut State, backing: &Arc<Backing>) -> Result {
    let gpu = object.gpu();
    caches::populated(object, state, backing)?;
    state.listed = gpu.reclaim().enlist(object, backing, state.worth())?;
    gpu.count_pages(i64::from(backing.len()));
    state.backing = Some(backing.clone());
    state.fresh = None;
    object.show_status(state);
    Ok(())
}

/// An object whose contents were lost on their way gets the memory back that still has them; one that was
/// to be zero has none again, and is zero when it is touched next. Not while something uses it. Its
/// reservation is locked. Errors: `ENOMEM`.
pub(crate) fn go_back(object: &Object, state: &mut State) -> Result {
    let lost = state.backing.as_ref().filter(|b| b.is_spoiled());
    let Some(lost) = lost.filter(|_| object.resv().test_signaled(Usage::Bookkeep)) else {
        return Ok(());
    };
    let Some(former) = lost.former().cloned() else {
        state.bindings.clear();
        object.drop_backing(state);
        return Ok(());
    };
    let gpu = object.gpu();
    let listed = gpu.reclaim().enlist(object, &former, state.worth())?;
    state.bindings.clear();
    state.listed = listed;
    if let Some(lost) = state.backing.replace(former) {
        lost.let_go(gpu.runner());
    }
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
    let ours = object.attachment().is_none() && object.user().is_none();
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
    state.fresh = None;
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
    // In another page the same bytes would be in another order.
    let ordered = object
        .gpu()
        .hardware()
        .topology()
        .swizzle
        .depends_on_memory();
    if ordered && state.tiled.is_some() && worth == Worth::Kept {
        return 0;
    }
    // What was lost on its way must not come back as if it were whole.
    if state.backing.as_ref().is_some_and(|b| b.is_hidden()) {
        return 0;
    }
    if object
        .gpu()
        .aperture()
        .is_some_and(|a| !a.try_revoke(object))
    {
        return 0;
    }
    if !state.bindings.try_end() {
        return 0;
    }
    object.unmap_user();
    // The CPU reads them when they are written to swap. It cannot fail: the range is the object's.
    let _ = caches::released(object, state, worth == Worth::Kept);
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
    if object.user().is_some() {
        return userptr::check(object);
    }
    backing(object).map(|_| ())
}

/// Locks the state of an object that has memory, and is not on its way to another region: what it
/// says of the contents is so. Waits for a move. Nothing is locked.
pub(super) fn settled(object: &Object) -> Result<(Guard<'_, State, MutexBackend>, Arc<Backing>)> {
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
                    backing.catch_up(object.gpu())?;
                    continue;
                }
                // Batches that were to have it in its new place have ended, or fail.
                object
                    .resv()
                    .wait(Usage::Bookkeep, Interruptible::Yes, FOREVER)?;
                let _locked = object.resv().lock(Interruptible::Yes)?;
                go_back(object, &mut object.state.lock())?;
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
                leave::make_room(object.gpu(), &region, &mut attempts)?;
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

/// It gets memory, if it has none and that takes no waiting. Errors: `EAGAIN` if others would have to
/// leave for it; those of [`backing`].
pub(crate) fn begin(object: &Object) -> Result {
    if object.attachment().is_some() || object.user().is_some() {
        // A batch brings it.
        return Ok(());
    }
    match backing_of(object, &mut object.state.lock()) {
        Ok(_) => Ok(()),
        Err(NoBacking::Full(_)) => Err(EAGAIN),
        Err(NoBacking::Failed(e)) => Err(e),
    }
}

/// The file that has an object's contents while it has no memory. Errors: `ENODEV`, `EIO`.
pub(super) fn file(object: &Object) -> Result<Option<Shmem>> {
    object.gpu().usable()?;
    Ok(object.state.lock().file().cloned())
}

/// Lets `write` write into the file that has an object's contents while it has no memory. False: it has memory, or
/// gets some otherwise; or there is too little, so that others have to leave first.
///
/// Errors: `ENODEV`, `EIO`, those of `write`.
pub(super) fn write_file(object: &Object, write: impl FnOnce(&Shmem) -> Result) -> Result<bool> {
    // It stays without memory as long as this is locked.
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

/// The memory that it has now, if it has any. Nothing under way takes it away.
pub(crate) fn present(object: &Object) -> Option<Arc<Backing>> {
    object.state.lock().backing.clone()
}

/// A buffer of another device gets addresses for ours, if it has none.
pub(super) fn adopt_import(
    object: &Object,
    locked: &Locked<'_>,
) -> core::result::Result<(), BindError> {
    let buffer = object.attachment().ok_or(EINVAL)?;
    // Not under the state, which the exporter, being one of ours, may have to lock of its own. The
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
    // A map would wait for these with the lock held.
    if !locked.test_signaled(Usage::Kernel) {
        return Err(BindError::Moving);
    }
    let backing = Backing::foreign(buffer, locked, object.bytes())?;
    Ok(settle_in(object, &mut object.state.lock(), &backing)?)
}

/// Pages of a process become the object's, in place of those that are not any more.
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
    // What was the object's once may be on its way out.
    if !pinned.is_new() || !object.resv().test_signaled(Usage::Bookkeep) {
        return Err(BindError::Busy);
    }
    if state.advice != Advice::Need {
        return Err(EFAULT.into());
    }
    state.bindings.clear();
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
