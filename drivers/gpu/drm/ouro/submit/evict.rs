// SPDX-License-Identifier: GPL-2.0

//! Eviction for a batch: which BOs lose their addresses in an address space, or are moved out of a
//! region of memory.
//!
//! All of it happens under the batch's ww ticket. BOs of others are considered only if they are not
//! locked, and moved only if they are idle; if all are in use, the batch drops its locks and waits
//! for one of them.

use kernel::{
    prelude::*,
    sync::{aref::ARef, Arc},
};
use ouro_core::sort::sort_by_key;
use ouro_kernel::{
    fence::Fence,
    resv::{HasResv, LockedSet, Usage},
    time,
};

use super::{
    exec::{wait_for, wait_for_up_to, Entry, Kinds, Stop},
    moves, Executor,
};
use crate::{
    gem::{
        bind::{self, BindError, Given},
        migrate::{self, Attempts},
        region::Region,
        Object, Space, Victim,
    },
    vm::{allocator::RangeUse, Place},
};

/// Most BOs that a batch may move out of a region for speed alone: it could run without that.
const MAX_EVICTIONS: u32 = 8;
/// Most retries for memory or addresses that are about to become free.
const MAX_LOOKS: u32 = 200;

/// Milliseconds for which batches do not wait again for a BO that did not become idle for one.
const UNSETTLED_MS: u32 = 1000;

/// The batch's own BOs, which are not evicted for it.
#[derive(Default)]
struct BatchObjects {
    /// Their addresses, sorted; empty until a BO of others is looked for, since most batches fit.
    sorted: KVVec<usize>,
}

impl BatchObjects {
    fn address(object: &ARef<Object>) -> usize {
        core::ptr::from_ref::<Object>(object).addr()
    }

    /// Collects the BOs of `entries`, which are the same in all attempts of a batch: a search per
    /// victim, or a list per eviction, would cost as much as there are BOs for each of them.
    fn look(&mut self, entries: &[Entry]) -> Result {
        if self.sorted.len() == entries.len() {
            return Ok(());
        }
        self.sorted.clear();
        self.sorted.reserve(entries.len(), GFP_KERNEL)?;
        for entry in entries {
            self.sorted.push(Self::address(&entry.object), GFP_KERNEL)?;
        }
        sort_by_key(&mut self.sorted, |address| *address);
        Ok(())
    }

    fn has(&self, object: &ARef<Object>) -> bool {
        self.sorted.binary_search(&Self::address(object)).is_ok()
    }
}

/// The progress of a batch's attempts to find room.
pub(crate) struct Tries {
    own: BatchObjects,
    /// Whether its own BOs were unbound to be packed again.
    scattered: bool,
    attempts: Attempts,
    /// How many BOs of others it may still move out of a region.
    evictions: u32,
    /// Whether it may still wait a moment for a busy BO that is to move to another region.
    settles: bool,
    /// How many retries for memory that is about to become free are left.
    looks: u32,
    /// How many retries are left for an address whose owner has just gone.
    vanished: u32,
}

impl Tries {
    pub(crate) fn new() -> Self {
        Self {
            own: BatchObjects::default(),
            scattered: false,
            attempts: Attempts::new(),
            evictions: MAX_EVICTIONS,
            settles: true,
            looks: MAX_LOOKS,
            vanished: MAX_LOOKS,
        }
    }

    /// Returns whether the batch may wait for a BO to become idle ([`Stop::Settle`]).
    fn may_settle(&self, object: &Object) -> bool {
        self.settles && !object.was_unsettled_within(time::ms(UNSETTLED_MS) as usize)
    }
}

/// Gives every BO of a batch memory and an address.
pub(super) fn place(
    gpu: &Executor,
    space: &Arc<Space>,
    entries: &mut [Entry],
    kinds: &Kinds,
    set: &mut LockedSet<Object>,
    tries: &mut Tries,
) -> core::result::Result<(), Stop> {
    // All moves begin first, so that the engine does them one after the other, and there is one
    // wait for all: they end in their order.
    if gpu.regions().len() != 1 {
        let mut filled = None;
        for i in 0..entries.len() {
            filled = to_region(gpu, entries, i, set, tries, filled.as_ref())?.or(filled);
        }
        if filled.is_some() {
            return Err(Stop::Wait(filled));
        }
    }
    // BOs with a fixed address come first; the others are placed around them.
    let fixed = |e: &Entry| matches!(e.place, Place::At(_));
    let mixed = kinds.fixed && kinds.loose;
    for (first, any) in [(true, kinds.fixed), (false, kinds.loose)] {
        if !any {
            continue;
        }
        for i in 0..entries.len() {
            if !mixed || entries.get(i).is_some_and(|e| fixed(e) == first) {
                place_one(space, entries, i, set, tries)?;
            }
        }
    }
    Ok(())
}

fn place_one(
    space: &Arc<Space>,
    entries: &mut [Entry],
    i: usize,
    set: &mut LockedSet<Object>,
    tries: &mut Tries,
) -> core::result::Result<(), Stop> {
    // Each round frees an address, or is the last.
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
                return Err(evict_from_region(
                    &region,
                    entries,
                    i,
                    set,
                    tries,
                    Busy::Leave,
                ))
            }
            Err(BindError::Failed(e)) if e == ENOSPC => {}
            Err(BindError::Failed(e)) => return Err(e.into()),
        }
        let freed = match entry.place {
            Place::At(_) => vacate(space, entries, i, set, &mut tries.vanished)?,
            // Do not evict for a BO that can never fit.
            Place::Within { range, .. } if entry.object.bytes().max(entry.pad) > range.1 => {
                return Err(ENOSPC.into())
            }
            Place::Within { .. } => evict(space, entries, set, &mut tries.own)?,
        };
        if freed {
            continue;
        }
        // No other BO can be evicted. The batch's own BOs may be fragmented: they are
        // packed again, once.
        if tries.scattered {
            return Err(ENOSPC.into());
        }
        scatter(space, entries)?;
        tries.scattered = true;
        return Err(Stop::Wait(None));
    }
}

/// Moves a BO to its preferred region if possible. It is no error if the BO stays in its region.
/// `filled` is the fence of the batch's last move, if one has begun.
///
/// Returns the fence of the move if the BO cannot be bound before that ([`BindError::Moving`]).
fn to_region(
    gpu: &Executor,
    entries: &[Entry],
    i: usize,
    set: &mut LockedSet<Object>,
    tries: &mut Tries,
    filled: Option<&ARef<Fence>>,
) -> core::result::Result<Option<ARef<Fence>>, Stop> {
    let Some(entry) = entries.get(i) else {
        return Ok(None);
    };
    let Some(locked) = set.locked_at(i, &entry.object) else {
        return Ok(None);
    };
    let Some(wanted) = entry.wanted.map(usize::from) else {
        migrate::restore_placement(&entry.object, &locked);
        return Ok(None);
    };
    // Most often it is there. (Contents that were lost on the way are the bind's concern.)
    if entry.object.is_in(wanted) || !entry.object.placements().iter().any(|n| n == wanted) {
        return Ok(None);
    }
    let Some(region) = gpu.regions().get(wanted) else {
        return Ok(None);
    };
    // No room would be enough.
    if !moves::fits(&entry.object, region) {
        return Ok(None);
    }
    // The copy would wait for all uses of the BO, and the batch for the copy, in the ioctl: a BO
    // that stays in use stays where it is.
    if region.is_mapped() && !entry.object.resv().test_signaled(Usage::Bookkeep) {
        let has_room = region.free().is_some_and(|f| f >= entry.object.bytes());
        let may_settle = has_room && tries.may_settle(&entry.object);
        if may_settle && moves::may_move(&entry.object, region) {
            tries.settles = false;
            return Err(Stop::Settle(entry.object.clone()));
        }
        return Ok(None);
    }
    let moved = moves::move_or_populate(gpu, &entry.object, &locked, region);
    if let (Err(e), Some(fence)) = (&moved, filled) {
        // The batch's own moves may have the addresses that this one needs.
        if *e == ENOSPC {
            return Err(Stop::Leaves(fence.clone()));
        }
    }
    match moved {
        Err(e) if e == ENOSPC && tries.evictions != 0 => {
            let stop = match evict_from_region(region, entries, i, set, tries, Busy::Stay) {
                // No BO can leave.
                Stop::Failed(e) if e == ENOMEM => return Ok(None),
                stop => stop,
            };
            match stop {
                // Memory of others is about to become free there, so no BO was moved out.
                Stop::Wait(None) if tries.looks != 0 && !gpu.runner().is_empty() => {
                    tries.looks -= 1
                }
                _ => tries.evictions -= 1,
            }
            Err(stop)
        }
        Ok(fence) if region.is_mapped() => {
            // While the batch waits, the others' batches spare it.
            entry.object.mark_used();
            Ok(fence)
        }
        _ => Ok(None),
    }
}

/// Evicts the owner of a fixed BO's addresses, or a neighbour that the BO must not have. Returns
/// false if the owner cannot move, or if there is none and something else than addresses is
/// missing.
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
    let victim = match space.range_use(addr, pages, entry.object.cache()) {
        RangeUse::Evictable(Victim::Object(object)) => object,
        // An image or directory in use may stay so: an idle engine keeps its last context.
        RangeUse::Evictable(Victim::Hidden(hidden)) => return Ok(hidden.evict()),
        RangeUse::Dying => return Err(Stop::Wait(None)),
        // The owner has gone since the bind failed, or there is no memory for page tables.
        RangeUse::Free if *vanished != 0 => {
            *vanished -= 1;
            return Err(Stop::Wait(None));
        }
        RangeUse::Free | RangeUse::Pinned => return Ok(false),
    };
    if let Some(own) = entries.iter_mut().find(|e| same(&e.object, &victim)) {
        if own.placed {
            // Two BOs of the batch want the same addresses.
            return Err(ENOSPC.into());
        }
    } else {
        // The owner of the lock will release it soon.
        if !lock(set, &victim) {
            return Err(wait_for(&victim));
        }
    }
    if !victim.is_bound(space) {
        // It has moved to another region; its old address becomes free when the copy is done.
        return Err(match victim.resv().test_signaled(Usage::Bookkeep) {
            true => Stop::Wait(None),
            false => wait_for(&victim),
        });
    }
    unbind(&victim, space).map(|()| true)
}

/// What busy BOs of others do when a region is full.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Busy {
    /// They stay: the batch can run without the room.
    Stay,
    /// They leave, if there are no idle ones, and their requests end.
    Leave,
}

/// Moves a BO of others out of a full region. Returns what to wait for.
fn evict_from_region(
    region: &Arc<Region>,
    entries: &[Entry],
    i: usize,
    set: &mut LockedSet<Object>,
    tries: &mut Tries,
    busy: Busy,
) -> Stop {
    if let Err(e) = tries.own.look(entries) {
        return e.into();
    }
    let mut contended = false;
    let mut last_busy = None;
    // In the first round around the clock, recently used BOs are spared, and in the first two, busy
    // ones.
    let spared = region
        .allocated_ranges()
        .saturating_add(1)
        .saturating_mul(2);
    let turns = match busy {
        Busy::Stay => spared,
        Busy::Leave => spared.saturating_mul(2),
    };
    for turn in 0..turns {
        let Some(victim) = region.next_victim() else {
            continue;
        };
        if tries.own.has(&victim) || victim.take_used() {
            continue;
        }
        if turn < spared && !victim.resv().test_signaled(Usage::Bookkeep) {
            last_busy = Some(victim);
            continue;
        }
        if !lock(set, &victim) {
            contended = true;
            continue;
        }
        let Some(locked) = set.locked(&victim) else {
            continue;
        };
        match migrate::evict(&victim, &locked, region) {
            Ok(Some(fence)) => return Stop::Leaves(fence),
            Ok(None) => {}
            Err(e) => return e.into(),
        }
    }
    match last_busy.filter(|_| busy == Busy::Stay && !contended) {
        Some(victim) if tries.may_settle(&victim) => {
            tries.settles = false;
            return Stop::Settle(victim);
        }
        Some(_) => return ENOMEM.into(),
        None => {}
    }
    match entries.get(i) {
        // Locks are released soon, and pages may be about to become free.
        Some(entry) if contended || tries.attempts.are_left(entry.object.gpu()) => Stop::Wait(None),
        _ => ENOMEM.into(),
    }
}

/// Unbinds one BO of others. Returns false if there is none to unbind.
fn evict(
    space: &Arc<Space>,
    entries: &[Entry],
    set: &mut LockedSet<Object>,
    own: &mut BatchObjects,
) -> core::result::Result<bool, Stop> {
    if kernel::current!().signal_pending() {
        return Err(ERESTARTSYS.into());
    }
    own.look(entries)?;
    let mut busy = None;
    let mut contended = false;
    // Twice around the clock: in the first round, recently used BOs are spared.
    for _ in 0..space.allocated_ranges().saturating_add(1).saturating_mul(2) {
        // At the end of the space the clock hand returns to the start.
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
        if victim.take_used() || own.has(&victim) {
            continue;
        }
        if !victim.resv().test_signaled(Usage::Bookkeep) {
            busy.get_or_insert(victim);
            continue;
        }
        if !victim.is_bound(space) {
            // It has moved, and its address is about to become free.
            contended = true;
            continue;
        }
        if !lock(set, &victim) {
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
        // Locks are released soon, and departing mappings are gone soon.
        None if contended || space.has_dying_owner() => Err(Stop::Wait(None)),
        None => Ok(false),
    }
}

/// Unbinds the batch's own BOs that may be anywhere, so that they can be packed.
fn scatter(space: &Arc<Space>, entries: &mut [Entry]) -> core::result::Result<(), Stop> {
    for entry in entries {
        let Place::Within { preferred, .. } = &mut entry.place else {
            continue;
        };
        *preferred = None;
        if entry.object.is_bound(space) {
            unbind(&entry.object, space)?;
        }
    }
    Ok(())
}

/// Unbinds one aperture mapping, or one idle BO, image or directory, to make room for kernel pages
/// in a range of bytes of the GGTT. The caller holds no locks. Returns false if there is none to
/// unbind.
pub(super) fn evict_one(gpu: &Executor, within: (u64, u64)) -> bool {
    let reached = within.0 < gpu.hardware().topology().aperture;
    if reached && gpu.aperture().is_some_and(|a| a.evict_one()) {
        return true;
    }
    let space = gpu.space();
    for _ in 0..space.allocated_ranges().saturating_add(1).saturating_mul(2) {
        let victim = match space.next_victim_in(within) {
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

/// Unbinds all BOs, images and directories that are idle and not locked. The caller holds no locks.
pub(crate) fn evict_all(space: &Arc<Space>) {
    for _ in 0..space.allocated_ranges().saturating_add(1) {
        match space.next_victim() {
            Some(Victim::Object(object)) => {
                let locked = object.resv().try_lock();
                if locked.is_some() {
                    // It stays if it is in use.
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

/// Locks a BO of others, if that does not wait. Returns false if it is locked elsewhere. (It is
/// searched for only then: it may share its reservation with one of the set.)
fn lock(set: &mut LockedSet<Object>, object: &ARef<Object>) -> bool {
    set.try_lock(object).is_ok() || set.locked(object).is_some()
}

fn same(a: &ARef<Object>, b: &ARef<Object>) -> bool {
    core::ptr::eq::<Object>(&**a, &**b)
}
