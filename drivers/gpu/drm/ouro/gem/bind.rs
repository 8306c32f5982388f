// SPDX-License-Identifier: GPL-2.0

//! Binding a BO: its address in a space, its cache level, and its tiling.
//!
//! A BO gets an address when a batch first uses it. It keeps the address until it is evicted, or
//! until a property changes that is in its PTEs.

use kernel::{prelude::*, sync::Arc};
use ouro_hw::types::{CacheLevel, GpuAddr};
use ouro_kernel::{
    resv::{HasResv, Locked, Usage},
    wait::{Interruptible, FOREVER},
};

use super::{
    bo::{Advice, State},
    caches,
    contents::{self, NoBacking},
    region::Region,
    userptr::Pinned,
    view::Tiled,
    Object, Owner, Resident, Space,
};
use crate::vm::Place;

/// What a batch passes along for binding a BO.
pub(crate) enum Given<'a> {
    /// Nothing: the memory is the driver's.
    Nothing,
    /// The reservation, for an imported dma-buf.
    Locked(Locked<'a>),
    /// The pinned pages of a userptr.
    Pinned(&'a Pinned),
}

/// Why a BO cannot be bound now.
pub(crate) enum BindError {
    /// It must not be moved before its fences are signalled.
    Busy,
    /// The exporter of the dma-buf is moving it, or a move to VRAM is not done.
    Moving,
    /// It has no memory, and this region is full: another BO has to be evicted.
    Full(Arc<Region>),
    /// Another error.
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

/// Binds the BO at `place` in a space, or keeps its address if that satisfies `place`. Its
/// reservation is locked.
///
/// The range is at least `pad` bytes: beyond the BO it maps the scratch page.
///
/// Memory that is not the driver's must be `given`.
pub(crate) fn bind(
    object: &Object,
    given: Given<'_>,
    space: &Arc<Space>,
    place: Place,
    pad: u64,
) -> core::result::Result<GpuAddr, BindError> {
    object.mark_used();
    match given {
        Given::Nothing => {}
        Given::Locked(locked) => contents::adopt_import(object, &locked)?,
        Given::Pinned(pinned) => contents::adopt_pages(object, pinned)?,
    }
    let mut state = object.state.lock();
    if let Some(addr) = bound(&state, space, &place, pad) {
        return Ok(addr);
    }
    let place = place.aligned(object.grain()).ok_or(EINVAL)?;
    if state.bindings.get(space).is_none() && state.advice != Advice::Need {
        // A purgeable BO gets no address.
        return Err(EFAULT.into());
    }
    contents::restore_former(object, &mut state)?;
    let backing = contents::backing_of(object, &mut state)?;
    caches::batch(object, &mut state, &backing)?;
    if let Some(binding) = state.bindings.get(space) {
        // As in `bind_object()`: the memory may hold another client's data.
        if backing.is_hidden() {
            return Err(EIO.into());
        }
        if binding.len() >= pad && place.holds(binding.addr(), binding.len()) {
            return Ok(binding.addr());
        }
        if !object.resv().test_signaled(Usage::Bookkeep) {
            return Err(BindError::Busy);
        }
        state.bindings.remove(space);
    }
    // Only the batch to come waits for the move. Batches that use the space now do not.
    if backing.is_filling() {
        return Err(BindError::Moving);
    }
    let who = Resident::Object(object.downgrade());
    let owner = Owner::Evictable(&who);
    state.bindings.make_room()?;
    let binding = backing.bind_object(object.gpu(), space, place, pad, owner, state.cache)?;
    let addr = binding.addr();
    state.bindings.add(binding)?;
    Ok(addr)
}

/// Returns the BO's address in a space if it is bound there already and nothing is to be done.
#[inline]
fn bound(state: &State, space: &Arc<Space>, place: &Place, pad: u64) -> Option<GpuAddr> {
    let backing = state.backing.as_ref()?;
    let binding = state.bindings.get(space)?;
    let (addr, len) = (binding.addr(), binding.len());
    let ready = !backing.is_hidden() && !state.caches.is_dirty();
    (ready && len >= pad && place.holds(addr, len)).then_some(addr)
}

/// Unbinds the BO from a space, if it is bound there. Its reservation is locked. Errors:
/// [`BindError::Busy`] if it is in use.
pub(crate) fn unbind(object: &Object, space: &Arc<Space>) -> core::result::Result<(), BindError> {
    let mut state = object.state.lock();
    if state.bindings.get(space).is_some() && !object.resv().test_signaled(Usage::Bookkeep) {
        return Err(BindError::Busy);
    }
    state.bindings.remove(space);
    Ok(())
}

/// Unbinds the BO from a space that no request uses any more.
pub(crate) fn forget(object: &Object, space: &Arc<Space>) {
    object.state.lock().bindings.remove(space);
}

/// Sets the BO's cache level; the next batch binds it again. Waits until the BO is idle.
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

/// Sets the BO's tiling, which matters for mappings through the aperture, and for VRAM that the CPU
/// sees through a BAR.
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

/// Removes user space's mappings of the BO, and its fence over VRAM. The caller holds the BO's
/// lock.
pub(crate) fn hide(object: &Object) {
    object.unmap_user();
    if let Some(surfaces) = object.gpu().surfaces() {
        surfaces.release(object);
    }
}
