// SPDX-License-Identifier: GPL-2.0

//! Where the GPU sees an object, and how: its address, its cache level, the order of its bytes.
//!
//! An object gets an address when a batch first uses it. It keeps that until others need the range,
//! or until something changes that is in the table's entries.

use kernel::{
    prelude::*,
    sync::{atomic::ordering, Arc},
};
use ouro_hw::types::{CacheLevel, GpuAddr};
use ouro_kernel::{
    resv::{HasResv, Locked, Usage},
    wait::{Interruptible, FOREVER},
};

use super::{
    bo::Advice,
    caches,
    contents::{self, NoBacking},
    region::Region,
    userptr::Pinned,
    view::Tiled,
    Object, Owner, Resident, Space,
};
use crate::vm::Place;

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
    /// The other device whose buffer it is is moving it.
    Moving,
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

/// Gives it an address at `place` in a space, or keeps the one it has if that will do. Its reservation is
/// locked.
///
/// The range is at least `pad` bytes: what is beyond the object is the scratch page.
///
/// Memory that is not the driver's is there only if it is `given`.
pub(crate) fn bind(
    object: &Object,
    given: Given<'_>,
    space: &Arc<Space>,
    place: Place,
    pad: u64,
) -> core::result::Result<GpuAddr, BindError> {
    object.used.store(true, ordering::Relaxed);
    match given {
        Given::Nothing => {}
        Given::Locked(locked) => contents::adopt_import(object, &locked)?,
        Given::Pinned(pinned) => contents::adopt_pages(object, pinned)?,
    }
    let place = place.aligned(object.grain()).ok_or(EINVAL)?;
    let mut state = object.state.lock();
    if state.bindings.get(space).is_none() && state.advice != Advice::Need {
        // What may be thrown away gets no address.
        return Err(EFAULT.into());
    }
    contents::go_back(object, &mut state)?;
    let backing = contents::backing_of(object, &mut state)?;
    caches::batch(object, &mut state, &backing)?;
    if let Some(binding) = state.bindings.get(space) {
        if binding.len() >= pad && place.holds(binding.addr(), binding.len()) {
            return Ok(binding.addr());
        }
        if !object.resv().test_signaled(Usage::Bookkeep) {
            return Err(BindError::Busy);
        }
        state.bindings.remove(space);
    }
    let who = Resident::Object(object.downgrade());
    let owner = Owner::Tenant(&who);
    state.bindings.make_room()?;
    let binding = backing.bind_object(object.gpu(), space, place, pad, owner, state.cache)?;
    let addr = binding.addr();
    state.bindings.add(binding)?;
    Ok(addr)
}

/// Takes its address in a space away, if it has one. Its reservation is locked.
pub(crate) fn unbind(object: &Object, space: &Arc<Space>) -> core::result::Result<(), BindError> {
    let mut state = object.state.lock();
    if state.bindings.get(space).is_some() && !object.resv().test_signaled(Usage::Bookkeep) {
        return Err(BindError::Busy);
    }
    state.bindings.remove(space);
    Ok(())
}

/// Takes its address in a space away that no request uses any more, or will.
pub(crate) fn forget(object: &Object, space: &Arc<Space>) {
    object.state.lock().bindings.remove(space);
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
            if state.bindings.is_empty() || object.resv().test_signaled(Usage::Bookkeep) {
                state.bindings.clear();
                if let Some(aperture) = object.gpu().aperture() {
                    aperture.revoke(object);
                }
                return caches::change(object, &mut state, cache);
            }
        }
        object
            .resv()
            .wait(Usage::Bookkeep, Interruptible::Yes, FOREVER)?;
    }
}

/// Says how its bytes are ordered, which matters to those who look through the aperture, or see the device's
/// own memory through a window.
pub(crate) fn set_tiled(object: &Object, tiled: Option<Tiled>) {
    let mut state = object.state.lock();
    if state.tiled != tiled {
        if let Some(aperture) = object.gpu().aperture() {
            aperture.revoke(object);
        }
        hide(object);
        state.tiled = tiled;
    }
}

/// Takes user space's entries for an object, and its fence over the device's own memory. The caller holds the
/// object's lock.
pub(crate) fn hide(object: &Object) {
    object.unmap_user();
    if let Some(surfaces) = object.gpu().surfaces() {
        surfaces.release(object);
    }
}
