// SPDX-License-Identifier: GPL-2.0

//! Making room for a batch: which objects give up their addresses in an address space, or leave a
//! region of memory.
//!
//! All of it happens under the batch's ticket. An object of somebody else is only asked if nobody
//! has locked it, and only moved if nothing uses it; if all are in use, the batch drops its locks
//! and waits for one of them.

use kernel::{
    prelude::*,
    sync::{aref::ARef, Arc},
};
use ouro_core::sort::sort_by_key;
use ouro_kernel::resv::{HasResv, LockedSet, Usage};

use super::{
    exec::{wait_for, wait_for_up_to, Entry, Stop},
    moves, Executor,
};
use crate::{
    gem::{
        bind::{self, BindError, Given},
        leave::{self, Attempts},
        region::Region,
        Object, Space, Victim,
    },
    vm::{population::Occupant, Place},
};

/// Objects that a batch may send away for the sake of speed: it runs without that, too.
const MAX_SENDINGS: u32 = 8;
/// How often it looks for memory or addresses that are on their way back.
const MAX_LOOKS: u32 = 200;

/// What a batch has tried so far.
pub(crate) struct Tries {
    /// Whether its objects were spread anew because they did not fit.
    scattered: bool,
    attempts: Attempts,
    /// How many objects of others may still be sent away from where the batch's are wanted.
    sendings: u32,
    /// How often it may still look for memory that is on its way back.
    looks: u32,
    /// How often it may still find an address free that was somebody's a moment before.
    vanished: u32,
}

impl Tries {
    pub(crate) fn new() -> Self {
        Self {
            scattered: false,
            attempts: Attempts::new(),
            sendings: MAX_SENDINGS,
            looks: MAX_LOOKS,
            vanished: MAX_LOOKS,
        }
    }
}

/// Gives every object of a batch memory and an address.
pub(super) fn place(
    gpu: &Executor,
    space: &Arc<Space>,
    entries: &mut [Entry],
    set: &mut LockedSet<Object>,
    tries: &mut Tries,
) -> core::result::Result<(), Stop> {
    // Those that can be in one place only come first; the others find room around them.
    let fixed = |e: &Entry| matches!(e.place, Place::At(_));
    for first in [true, false] {
        for i in 0..entries.len() {
            if entries.get(i).is_some_and(|e| fixed(e) == first) {
                place_one(gpu, space, entries, i, set, tries)?;
            }
        }
    }
    Ok(())
}

fn place_one(
    gpu: &Executor,
    space: &Arc<Space>,
    entries: &mut [Entry],
    i: usize,
    set: &mut LockedSet<Object>,
    tries: &mut Tries,
) -> core::result::Result<(), Stop> {
    to_region(gpu, entries, i, set, tries)?;
    // Each round frees some room, or is the last.
    loop {
        let entry = entries.get(i).ok_or(EINVAL)?;
        let given = match (&entry.pinned, entry.object.attachment()) {
            (Some(pinned), _) => Given::Pinned(pinned),
            (None, Some(_)) => Given::Locked(set.locked_at(i, &entry.object).ok_or(EINVAL)?),
            (None, None) => Given::Nothing,
        };
        match bind::bind(&entry.object, given, space, entry.place, entry.pad) {
            Ok(address) => {
                if let Some(entry) = entries.get_mut(i) {
                    entry.address = address;
                    entry.placed = true;
                }
                return Ok(());
            }
            Err(BindError::Busy) => return Err(wait_for(&entry.object)),
            Err(BindError::Moving) => return Err(wait_for_up_to(&entry.object, Usage::Kernel)),
            Err(BindError::Full(region)) => {
                return Err(send_away(&region, entries, i, set, &mut tries.attempts))
            }
            Err(BindError::Failed(e)) if e == ENOSPC => {}
            Err(BindError::Failed(e)) => return Err(e.into()),
        }
        let freed = match entry.place {
            Place::At(_) => vacate(space, entries, i, set, &mut tries.vanished)?,
            // Nobody is asked for what cannot be.
            Place::Within { range, .. } if entry.object.bytes().max(entry.pad) > range.1 => {
                return Err(ENOSPC.into())
            }
            Place::Within { .. } => evict(space, entries, set)?,
        };
        if freed {
            continue;
        }
        // Nobody else is left: the batch's own objects may be badly spread. They are packed once.
        if tries.scattered {
            return Err(ENOSPC.into());
        }
        scatter(space, entries)?;
        tries.scattered = true;
        return Err(Stop::Wait(None));
    }
}

/// Lets an object move to the region where it should be. That it stays where it is, is no error.
fn to_region(
    gpu: &Executor,
    entries: &[Entry],
    i: usize,
    set: &mut LockedSet<Object>,
    tries: &mut Tries,
) -> core::result::Result<(), Stop> {
    let Some(entry) = entries.get(i) else {
        return Ok(());
    };
    let Some(locked) = set.locked_at(i, &entry.object) else {
        return Ok(());
    };
    let Some(wanted) = entry.wanted else {
        leave::bring_back(&entry.object, &locked);
        return Ok(());
    };
    if !entry.object.placements().iter().any(|n| n == wanted) {
        return Ok(());
    }
    let Some(region) = gpu.regions().get(wanted) else {
        return Ok(());
    };
    match moves::settle(gpu, &entry.object, &locked, region) {
        Err(e) if e == ENOSPC && tries.sendings != 0 => {
            let stop = match send_away(region, entries, i, set, &mut tries.attempts) {
                // Nobody can leave.
                Stop::Failed(e) if e == ENOMEM => return Ok(()),
                stop => stop,
            };
            match stop {
                // What others had there is on its way back, and nobody was sent away.
                Stop::Wait(None) if tries.looks != 0 && !gpu.runner().is_empty() => {
                    tries.looks -= 1
                }
                _ => tries.sendings -= 1,
            }
            Err(stop)
        }
        _ => Ok(()),
    }
}

/// Moves whatever is where a fixed object must be. False: what is there cannot move, or nothing is there and
/// it is not addresses that lack.
fn vacate(
    space: &Arc<Space>,
    entries: &mut [Entry],
    i: usize,
    set: &mut LockedSet<Object>,
    vanished: &mut u32,
) -> core::result::Result<bool, Stop> {
    let entry = entries.get(i).ok_or(EINVAL)?;
    let Place::At(addr) = entry.place else {
        return Ok(false);
    };
    let pages = entry.object.bytes().max(entry.pad) / 4096;
    let victim = match space.occupant(addr, pages) {
        Occupant::Kept(Victim::Object(object)) => object,
        // One that is in use may stay so: an idle engine keeps the last one.
        Occupant::Kept(Victim::Hidden(hidden)) => return Ok(hidden.evict()),
        Occupant::Leaving => return Err(Stop::Wait(None)),
        // It has gone since the address was wanted, or there is no room for tables.
        Occupant::Nobody if *vanished != 0 => {
            *vanished -= 1;
            return Err(Stop::Wait(None));
        }
        Occupant::Nobody | Occupant::Fixed => return Ok(false),
    };
    if let Some(own) = entries.iter_mut().find(|e| same(&e.object, &victim)) {
        if own.placed {
            // Two objects of the batch want the same addresses.
            return Err(ENOSPC.into());
        }
    } else {
        lock(set, &victim)?;
    }
    if !victim.is_bound(space) {
        // It has moved to another region, and its old address is free when the copy is done.
        return Err(match victim.resv().test_signaled(Usage::Bookkeep) {
            true => Stop::Wait(None),
            false => wait_for(&victim),
        });
    }
    unbind(&victim, space).map(|()| true)
}

/// Lets an object of somebody else leave a region that is full. Returns what to wait for.
fn send_away(
    region: &Arc<Region>,
    entries: &[Entry],
    i: usize,
    set: &mut LockedSet<Object>,
    attempts: &mut Attempts,
) -> Stop {
    let mut contended = false;
    // Twice round: the first time, those that were used lately are spared.
    for _ in 0..region.population().saturating_add(1).saturating_mul(2) {
        let Some(victim) = region.next_victim() else {
            continue;
        };
        if entries.iter().any(|e| same(&e.object, &victim)) || victim.take_used() {
            continue;
        }
        if set.locked(&victim).is_none() && set.try_lock(&victim).is_err() {
            contended = true;
            continue;
        }
        let Some(locked) = set.locked(&victim) else {
            continue;
        };
        match leave::leave(&victim, &locked, region) {
            Ok(Some(fence)) => return Stop::Wait(Some(fence)),
            Ok(None) => {}
            Err(e) => return e.into(),
        }
    }
    match entries.get(i) {
        // Whoever has locked one lets it go soon, and pages may be on their way back.
        Some(entry) if contended || attempts.are_left(entry.object.gpu()) => Stop::Wait(None),
        _ => ENOMEM.into(),
    }
}

/// Takes the address of one object of somebody else. False: there is none.
fn evict(
    space: &Arc<Space>,
    entries: &[Entry],
    set: &mut LockedSet<Object>,
) -> core::result::Result<bool, Stop> {
    if kernel::current!().signal_pending() {
        return Err(ERESTARTSYS.into());
    }
    let address = |o: &ARef<Object>| core::ptr::from_ref::<Object>(o).addr();
    let mut own: KVVec<usize> =
        KVVec::with_capacity(entries.len(), GFP_KERNEL).map_err(Error::from)?;
    for entry in entries {
        own.push(address(&entry.object), GFP_KERNEL)
            .map_err(Error::from)?;
    }
    sort_by_key(&mut own, |address| *address);
    let mut busy = None;
    let mut contended = false;
    // Twice round: the first time, those that were used lately are spared.
    for _ in 0..space.population().saturating_add(1).saturating_mul(2) {
        // At the end of the space the hand goes back to its start.
        let victim = match space.next_victim() {
            Some(Victim::Object(object)) => object,
            Some(Victim::Hidden(hidden)) => {
                if !hidden.take_used() && hidden.evict() {
                    return Ok(true);
                }
                continue;
            }
            None => continue,
        };
        if victim.take_used() || own.binary_search(&address(&victim)).is_ok() {
            continue;
        }
        if !victim.resv().test_signaled(Usage::Bookkeep) {
            busy.get_or_insert(victim);
            continue;
        }
        if !victim.is_bound(space) {
            // It has moved, and its address is about to be free.
            contended = true;
            continue;
        }
        if set.locked(&victim).is_none() && set.try_lock(&victim).is_err() {
            contended = true;
            continue;
        }
        match bind::unbind(&victim, space) {
            Ok(()) => return Ok(true),
            Err(BindError::Busy) => {
                busy.get_or_insert(victim);
            }
            Err(BindError::Full(_) | BindError::Moving) => {}
            Err(BindError::Failed(e)) => return Err(e.into()),
        }
    }
    match busy {
        Some(object) => Err(wait_for(&object)),
        // Whoever has locked it lets it go soon, and who is going away has gone soon.
        None if contended || space.anybody_leaves() => Err(Stop::Wait(None)),
        None => Ok(false),
    }
}

/// Takes the addresses of the batch's own objects that may be anywhere.
fn scatter(space: &Arc<Space>, entries: &mut [Entry]) -> core::result::Result<(), Stop> {
    for entry in entries {
        let Place::Within { rather, .. } = &mut entry.place else {
            continue;
        };
        *rather = None;
        if entry.object.is_bound(space) {
            unbind(&entry.object, space)?;
        }
    }
    Ok(())
}

/// Takes the address of one view, or of one idle object, for the kernel's own pages. Nothing is
/// locked. False: there is none.
pub(super) fn evict_one(gpu: &Executor) -> bool {
    if gpu.aperture().is_some_and(|a| a.evict_one()) {
        return true;
    }
    let space = gpu.space();
    for _ in 0..space.population().saturating_add(1).saturating_mul(2) {
        let victim = match space.next_victim() {
            Some(Victim::Object(object)) => object,
            Some(Victim::Hidden(hidden)) => {
                if !hidden.take_used() && hidden.evict() {
                    return true;
                }
                continue;
            }
            None => continue,
        };
        if victim.take_used() {
            continue;
        }
        let locked = victim.resv().try_lock();
        let freed =
            locked.is_some() && victim.is_bound(space) && bind::unbind(&victim, space).is_ok();
        drop(locked);
        if freed {
            return true;
        }
    }
    false
}

/// Takes the addresses of all objects, images and directories that nobody uses or locks. Nothing is locked.
pub(crate) fn evict_all(space: &Arc<Space>) {
    for _ in 0..space.population().saturating_add(1) {
        match space.next_victim() {
            Some(Victim::Object(object)) => {
                let locked = object.resv().try_lock();
                if locked.is_some() {
                    // What is in use stays.
                    let _ = bind::unbind(&object, space);
                }
            }
            Some(Victim::Hidden(hidden)) => {
                hidden.evict();
            }
            None => {}
        }
    }
}

fn unbind(object: &Object, space: &Arc<Space>) -> core::result::Result<(), Stop> {
    bind::unbind(object, space).map_err(|e| match e {
        BindError::Busy => wait_for(object),
        BindError::Full(_) | BindError::Moving => Stop::Wait(None),
        BindError::Failed(e) => e.into(),
    })
}

/// Locks an object of somebody else.
fn lock(set: &mut LockedSet<Object>, object: &ARef<Object>) -> core::result::Result<(), Stop> {
    if set.locked(object).is_none() && set.try_lock(object).is_err() {
        // Whoever has it will be done soon.
        return Err(wait_for(object));
    }
    Ok(())
}

fn same(a: &ARef<Object>, b: &ARef<Object>) -> bool {
    core::ptr::eq::<Object>(&**a, &**b)
}
