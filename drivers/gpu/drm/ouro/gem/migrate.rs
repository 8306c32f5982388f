// SPDX-License-Identifier: GPL-2.0

//! Moving objects from one region to another.
//!
//! A move is a request on an engine that can copy pages, in the context of the kernel's own where it has
//! one. It waits for all that uses the object, and whatever comes after it waits for it: its fence stands
//! in the object's reservation for everyone, and user space's mappings are empty until it is signalled.
//! The object is at its new place at once; the old pages, and the addresses that earlier requests know,
//! are kept until the copy is done. What has no memory yet moves in by being filled with zeros, where an
//! engine can do that.

use kernel::{
    prelude::*,
    sync::{aref::ARef, Arc},
    time::{delay::fsleep, Delta},
};
use ouro_hw::{
    engine::{PageCopy, PageFill},
    types::{GgttAddr, MemoryKind, PAGE_SIZE},
};
use ouro_kernel::{
    fence::{self, Fence},
    release,
    resv::{HasResv, Locked, Usage},
    time,
    wait::{Interruptible, Waited, FOREVER},
};

use super::{bind, bo, contents, region::Region, Backing, Object};
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

/// Largest object that enters memory of the device's own: to leave it, it needs addresses twice.
const LARGEST: u64 = (SPACE >> 1) - (1 << 24);

/// Bytes of addresses that copies know.
const SPACE: u64 = 1 << 32;

/// What a move needs until it is done.
pub(crate) struct Moving {
    /// Where the copy finds both sides.
    mappings: KVec<Binding>,
    /// Where earlier requests know the object.
    known: Bindings,
    /// Where it was; `None`: nowhere, and it is all zero.
    old: Option<Arc<Backing>>,
    new: Arc<Backing>,
    fence: ARef<Fence>,
    retirer: Arc<Retirer>,
    /// Whether it is more than a plan: the object is at its new place.
    begun: bool,
}

impl Moving {
    /// It begins. Keeps the addresses that the object has had.
    pub(crate) fn keep(&mut self, known: Bindings) {
        self.known = known;
        self.begun = true;
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        if !self.begun {
            // The old memory is the object's.
            return;
        }
        let contents = match (self.fence.status(), &self.old) {
            // The device was lost before it had done it. Memory stays readable.
            (Some(Err(_)), Some(old)) => self.new.copy_from(old),
            (Some(Err(_)), None) => self.new.clear(),
            _ => Ok(()),
        };
        self.new.arrived(contents);
        self.mappings.clear();
        self.known.clear();
        if let Some(old) = self.old.take() {
            self.retirer.bury(old);
        }
    }
}

/// The engine that copies pages, where there is one.
fn copier(gpu: &Gpu) -> Option<&Arc<Engine>> {
    let mut engines = gpu.engines().iter();
    engines.find(|e| e.hw().desc().copy_pages != 0)
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
    run(object, locked, to, Untouched::Stays)
}

/// The same; what has no memory yet gets some there, too.
///
/// Errors: those of [`start`] and of [`contents::begin`].
pub(crate) fn settle(
    object: &Object,
    locked: &Locked<'_>,
    to: &Arc<Region>,
) -> Result<Option<ARef<Fence>>> {
    let fills = copier(object.gpu()).is_some_and(|e| e.hw().desc().fill_pages != 0);
    if fills && to.is_windowed() {
        return run(object, locked, to, Untouched::IsFilled);
    }
    // What was never touched is zero, and goes there as that.
    contents::begin(object)?;
    start(object, locked, to)
}

/// What becomes of an object that has no memory yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Untouched {
    /// It has none after it, too.
    Stays,
    /// It gets some, which the engine sets to zero.
    IsFilled,
}

fn run(
    object: &Object,
    locked: &Locked<'_>,
    to: &Arc<Region>,
    untouched: Untouched,
) -> Result<Option<ARef<Fence>>> {
    let gpu = object.gpu().clone();
    gpu.usable()?;
    let engine = copier(&gpu).ok_or(ENODEV)?;
    let mut state = object.lock_state();
    let old = state.backing().cloned();
    let stays = match &old {
        // What was lost on its way is not worth the way.
        Some(old) => state.is_pinned() || lives_in(&gpu, old, to) || old.is_hidden(),
        None => {
            let foreign = object.attachment().is_some() || object.user().is_some();
            untouched == Untouched::Stays || foreign || !state.is_untouched()
        }
    };
    if stays {
        return Ok(None);
    }
    if to.is_windowed() && object.bytes() > LARGEST {
        return Err(ENOSPC);
    }
    let new = Backing::target(&gpu, to, object)?;
    let space = gpu.space_of(gpu.kernel_context())?;
    let anywhere = Place::Within {
        range: (0, SPACE),
        align: object.grain(),
    };
    let bind =
        |side: &Backing| side.bind_object(&gpu, space, anywhere, 0, Owner::Move, state.cache());
    let mut mappings = KVec::with_capacity(2, GFP_KERNEL)?;
    let from = match &old {
        Some(old) => {
            let binding = bind(old)?;
            let at = binding.ggtt();
            mappings.push(binding, GFP_KERNEL)?;
            Some(at)
        }
        None => None,
    };
    let onto = bind(&new)?;
    let onto_at = onto.ggtt();
    mappings.push(onto, GFP_KERNEL)?;

    let mut after = KVVec::new();
    object.resv().collect(Usage::Bookkeep, &mut after)?;
    locked.reserve_fences(1)?;

    // As many requests as one is too short for; each waits for the one before it.
    let desc = engine.hw().desc();
    let most = match from {
        Some(_) => desc.copy_pages,
        None => desc.fill_pages,
    };
    let mut requests = KVec::new();
    let mut moving = Some((mappings, old.clone()));
    let mut done = 0;
    let mut last = None;
    while done < new.len() {
        let pages = most.min(new.len() - done);
        let at = |start: GgttAddr| GgttAddr(start.0.wrapping_add(done.wrapping_mul(PAGE_SIZE)));
        let work = match from {
            Some(from) => Work::Copy(PageCopy {
                from: at(from),
                to: at(onto_at),
                pages,
            }),
            None => Work::Fill(PageFill {
                to: at(onto_at),
                pages,
                value: 0,
                memory: MemoryKind::Local,
            }),
        };
        done += pages;
        let context = match engine.has_lists() {
            true => Some(gpu.prepare(gpu.kernel_context(), engine)?),
            // It does not matter which one is loaded.
            false => None,
        };
        let line = gpu.kernel_context().line(engine);
        let draft = Draft::new(engine, line, None)?;
        let signal: ARef<Fence> = draft.fence().into();
        let moving = if done == new.len() {
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
            begun: false,
        });
        let mut next = KVVec::with_capacity(1, GFP_KERNEL)?;
        next.push(signal.clone(), GFP_KERNEL)?;
        let parts = Parts {
            context,
            moving,
            ..Parts::new(work, Awake::new(gpu.hardware())?)
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
    if old.is_none() {
        gpu.count_pages(i64::from(new.len()));
    }
    new.arrives(last.clone());
    if let Some(prepared) = requests.last_mut() {
        prepared.keep(state.moved(new, listed));
    }
    object.show_status(&state);
    let _signalling = fence::signalling();
    locked.add_fence(&last, Usage::Kernel);
    if old.is_some() {
        gpu.count_moved(object.bytes());
    }
    for prepared in requests {
        prepared.publish(&gpu, |_| ());
    }
    Ok(Some(last))
}

/// Moves an object to system memory, where the CPU sees all of it. Nothing is locked.
///
/// Errors: those of [`start`], `ERESTARTSYS`, `EIO` of a device that was given up.
pub(super) fn uncover(object: &Object) -> Result {
    // What no engine copies would be lost, and may come back.
    object.gpu().working()?;
    let locked = object.resv().lock(Interruptible::Yes)?;
    let system = object.gpu().regions().first().ok_or(EINVAL)?;
    start(object, &locked, system).map(|_| ())
}

/// Moves an object to system memory, where other devices can have it, and waits until it is there.
/// `locked` is its reservation.
///
/// Errors: those of [`uncover`]; `EIO` also if its contents were lost.
pub(super) fn come_home(object: &Object, locked: &Locked<'_>) -> Result {
    let gpu = object.gpu();
    let system = gpu.regions().first().ok_or(EINVAL)?;
    let away = contents::present(object).is_some_and(|b| !lives_in(gpu, &b, system));
    if away {
        gpu.working()?;
        start(object, locked, system)?;
    }
    object
        .resv()
        .wait(Usage::Kernel, Interruptible::Yes, FOREVER)?;
    while contents::present(object).is_some_and(|b| b.is_hidden()) {
        contents::present(object).map_or(Ok(()), |b| b.catch_up(gpu))?;
    }
    Ok(())
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
            let mut patience = Patience::new();
            let left = loop {
                let locked = object.resv().lock(Interruptible::No)?;
                let left = start(&object, &locked, system);
                drop(locked);
                match left {
                    // Copies that are done still have their addresses.
                    Err(e) if e == ENOSPC && patience.lasts(gpu) => {
                        gpu.retirer().retire();
                        fsleep(Delta::from_micros(200));
                    }
                    left => break left?,
                }
            };
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
/// Returns the fence of the move; `None` if it cannot. Errors: those of [`start`]; `EIO` of a device that was
/// given up.
pub(crate) fn leave(
    object: &Object,
    locked: &Locked<'_>,
    from: &Arc<Region>,
) -> Result<Option<ARef<Fence>>> {
    let gpu = object.gpu();
    if from.is_windowed() {
        gpu.working()?;
    }
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
