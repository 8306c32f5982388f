// SPDX-License-Identifier: GPL-2.0

//! Moving objects from one region to another.
//!
//! A move is a request on an engine that can copy pages. It waits for all that uses the object, and
//! whatever comes after it waits for it: its fence stands in the object's reservation for everyone,
//! and user space's mappings are empty until it is signalled. The object is at its new place at once;
//! the old pages, and the addresses that earlier requests know, are kept until the copy is done.

use kernel::{
    prelude::*,
    sync::{aref::ARef, Arc},
    time::{delay::fsleep, Delta},
};
use ouro_hw::{
    engine::PageCopy,
    types::{GgttAddr, PAGE_SIZE},
};
use ouro_kernel::{
    fence::{self, Fence},
    release,
    resv::{HasResv, Locked, Usage},
    time,
    wait::{Interruptible, Waited, FOREVER},
};

use super::{bind, bo, region::Region, Backing, Object};
use crate::{
    gpu::Gpu,
    submit::{
        publish::{Draft, Parts},
        request::{Awake, Work},
        Engine, Retirer,
    },
    vm::{Binding, Bindings, Owner, Place},
};

/// Milliseconds that an object has to leave memory that the device is about to forget: what it waits
/// for may have to be reset first.
const RESCUE_MS: u32 = 30_000;

/// What a move needs until it is done.
pub(crate) struct Moving {
    /// Where the copy finds both sides.
    mappings: KVec<Binding>,
    /// Where earlier requests know the object.
    known: Bindings,
    old: Arc<Backing>,
    new: Arc<Backing>,
    fence: ARef<Fence>,
    retirer: Arc<Retirer>,
}

impl Moving {
    /// Keeps the addresses that it has had.
    pub(crate) fn keep(&mut self, known: Bindings) {
        self.known = known;
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        if matches!(self.fence.status(), Some(Err(_))) {
            // The device was lost before it had done it. Memory stays readable.
            let _ = self.new.copy_from(&self.old);
        }
        self.mappings.clear();
        self.known.clear();
        self.retirer.bury(self.old.clone());
    }
}

/// The engine that copies pages, where there is one.
fn copier(gpu: &Gpu) -> Option<&Arc<Engine>> {
    let mut engines = gpu.engines().iter();
    // Of contexts none has the addresses of both sides yet.
    engines.find(|e| e.hw().desc().copy_pages != 0 && !e.has_lists())
}

/// Whether memory is in a region.
fn lives_in(gpu: &Gpu, memory: &Backing, region: &Arc<Region>) -> bool {
    memory
        .region(gpu.regions())
        .is_some_and(|r| Arc::ptr_eq(r, region))
}

/// Moves an object into another region. `locked` is its reservation.
///
/// Returns the fence of the move; `None` if it is there already, or has no memory yet. Errors:
/// `ENOSPC` if the region has not so many pages, or the address space no room for the copy; `ENODEV`
/// without an engine that copies; `ENOMEM`.
pub(crate) fn start(
    object: &Object,
    locked: &Locked<'_>,
    to: &Arc<Region>,
) -> Result<Option<ARef<Fence>>> {
    let gpu = object.gpu().clone();
    gpu.usable()?;
    let engine = copier(&gpu).ok_or(ENODEV)?;
    let mut state = object.lock_state();
    let Some(old) = state.backing().cloned() else {
        return Ok(None);
    };
    if state.is_pinned() {
        return Ok(None);
    }
    if lives_in(&gpu, &old, to) {
        return Ok(None);
    }
    let new = Backing::target(&gpu, to, object)?;
    let anywhere = Place::Within {
        range: (0, u64::MAX),
        align: PAGE_SIZE.into(),
    };
    let from = old.bind_object(&gpu, gpu.space(), anywhere, 0, Owner::Move, state.cache())?;
    let onto = new.bind_object(&gpu, gpu.space(), anywhere, 0, Owner::Move, state.cache())?;
    let (from_at, onto_at) = (from.ggtt(), onto.ggtt());
    let mut mappings = KVec::with_capacity(2, GFP_KERNEL)?;
    for mapping in [from, onto] {
        mappings.push(mapping, GFP_KERNEL)?;
    }

    let mut after = KVVec::new();
    object.resv().collect(Usage::Bookkeep, &mut after)?;
    locked.reserve_fences(1)?;

    // As many requests as one copy is too short for; each waits for the one before it.
    let most = engine.hw().desc().copy_pages;
    let mut requests = KVec::new();
    let mut moving = Some((mappings, old.clone()));
    let mut done = 0;
    let mut last = None;
    while done < old.len() {
        let pages = most.min(old.len() - done);
        let at = |start: GgttAddr| GgttAddr(start.0.wrapping_add(done.wrapping_mul(PAGE_SIZE)));
        let copy = PageCopy {
            from: at(from_at),
            to: at(onto_at),
            pages,
        };
        done += pages;
        let draft = Draft::new(engine, engine.line().clone(), None)?;
        let signal: ARef<Fence> = draft.fence().into();
        let moving = if done == old.len() {
            moving.take()
        } else {
            None
        };
        let moving = moving.map(|(mappings, old)| Moving {
            mappings,
            known: Bindings::new(),
            old,
            new: new.clone(),
            fence: signal.clone(),
            retirer: gpu.retirer().clone(),
        });
        let mut next = KVVec::with_capacity(1, GFP_KERNEL)?;
        next.push(signal.clone(), GFP_KERNEL)?;
        let parts = Parts {
            moving,
            ..Parts::new(Work::Copy(copy), Awake::new(gpu.hardware())?)
        };
        let prepared = draft.complete(parts, core::mem::replace(&mut after, next))?;
        requests.push(prepared, GFP_KERNEL)?;
        last = Some(signal);
    }
    let Some(last) = last else {
        return Ok(None);
    };

    let listed = gpu.reclaim().enlist(object, &new, state.worth())?;

    // User space finds nothing there until the copy is done: faults wait for it.
    bind::hide(object);
    if let Some(aperture) = gpu.aperture() {
        aperture.revoke(object);
    }
    if let Some(prepared) = requests.last_mut() {
        prepared.keep(state.moved(new, listed));
    }
    object.show_status(&state);
    let _signalling = fence::signalling();
    locked.add_fence(&last, Usage::Kernel);
    gpu.count_moved(object.bytes());
    for prepared in requests {
        prepared.publish(&gpu, |_| ());
    }
    Ok(Some(last))
}

/// Moves an object to system memory, where the CPU sees all of it. Nothing is locked.
///
/// Errors: those of [`start`], `ERESTARTSYS`.
pub(super) fn uncover(object: &Object) -> Result {
    let locked = object.resv().lock(Interruptible::Yes)?;
    let system = object.gpu().regions().first().ok_or(EINVAL)?;
    start(object, &locked, system).map(|_| ())
}

/// Moves all objects out of memory that the device is about to forget, and waits until they have.
/// User space is frozen.
///
/// Errors: `EBUSY` if some cannot leave in time; those of [`start`].
pub(crate) fn rescue(gpu: &Gpu) -> Result {
    let system = gpu.regions().first().ok_or(EINVAL)?;
    for region in gpu.regions().iter().filter(|r| r.is_windowed()) {
        let mut page = 0;
        while let Some((next, object)) = region.object_from(page) {
            page = next;
            let locked = object.resv().lock(Interruptible::No)?;
            let left = start(&object, &locked, system)?;
            drop(locked);
            if let Some(fence) = left {
                match fence.wait(Interruptible::No, time::ms(RESCUE_MS))? {
                    Waited::Done(_) => {}
                    Waited::TimedOut => return Err(EBUSY),
                }
            }
        }
    }
    Ok(())
}

/// The windows to the device's own memory are about to be closed: user space loses what it sees there.
/// The device says already that it is gone, so that no page comes back.
pub(crate) fn close_windows(gpu: &Gpu) {
    for region in gpu.regions().iter().filter(|r| r.is_windowed()) {
        let mut page = 0;
        while let Some((next, object)) = region.object_from(page) {
            page = next;
            bo::close_window(&object);
        }
    }
}

/// Brings an object back to the best of its regions, if it had to leave that and there is room again.
/// `locked` is its reservation. That it stays where it is, is no error.
pub(crate) fn bring_back(object: &Object, locked: &Locked<'_>) {
    let gpu = object.gpu();
    let mut placements = object.placements().iter();
    let (Some(best), Some(_)) = (placements.next(), placements.next()) else {
        return;
    };
    let Some(best) = gpu.regions().get(best) else {
        return;
    };
    if best.free().is_some_and(|free| free >= object.bytes()) {
        let _ = start(object, locked, best);
    }
}

/// Lets an object leave a region for another one where it may live. `locked` is its reservation.
///
/// Returns the fence of the move; `None` if it cannot. Errors: those of [`start`].
pub(crate) fn leave(
    object: &Object,
    locked: &Locked<'_>,
    from: &Arc<Region>,
) -> Result<Option<ARef<Fence>>> {
    let gpu = object.gpu();
    for index in object.placements().iter() {
        let Some(to) = gpu.regions().get(index) else {
            continue;
        };
        if Arc::ptr_eq(to, from) {
            continue;
        }
        match start(object, locked, to) {
            // That region is as full.
            Err(e) if e == ENOSPC => {}
            done => return done,
        }
    }
    Ok(None)
}

/// Lets some object leave a region, so that there is room for another one, and waits until it has.
/// Nothing is locked.
///
/// Errors: `ENOMEM` if none can leave, `ERESTARTSYS`, `ENODEV`.
pub(super) fn make_room(gpu: &Gpu, region: &Arc<Region>, patience: &mut Patience) -> Result {
    gpu.usable()?;
    // Twice round: the first time, those that were used lately are spared.
    for _ in 0..region.population().saturating_add(1).saturating_mul(2) {
        let Some(victim) = region.next_victim() else {
            continue;
        };
        if victim.take_used() {
            continue;
        }
        let Some(locked) = victim.resv().try_lock() else {
            continue;
        };
        let left = leave(&victim, &locked, region);
        drop(locked);
        if let Ok(Some(fence)) = left {
            fence.wait(Interruptible::Yes, FOREVER)?;
            break;
        }
    }
    if kernel::current!().signal_pending() {
        return Err(ERESTARTSYS);
    }
    if !patience.lasts(gpu) {
        return Err(ENOMEM);
    }
    release::flush();
    gpu.retirer().retire();
    fsleep(Delta::from_micros(200));
    Ok(())
}

/// How long somebody waits for room in a region that nobody leaves: while pages are on their way back,
/// and some looks more. What others run may hold pages too, but is not waited for without end.
pub(crate) struct Patience(u32);

impl Patience {
    /// Looks at a region where nothing happens.
    const IDLE: u32 = 100;
    /// Looks while requests are under way, each after some hundred microseconds.
    const BUSY: u32 = 10_000;

    pub(crate) fn new() -> Self {
        Self(Self::BUSY)
    }

    /// Whether another look makes sense.
    pub(crate) fn lasts(&mut self, gpu: &Gpu) -> bool {
        let retirer = gpu.retirer();
        if retirer.is_empty() {
            let step = match retirer.live() {
                0 => Self::BUSY / Self::IDLE,
                _ => 1,
            };
            self.0 = self.0.saturating_sub(step);
        }
        self.0 != 0
    }
}
