// SPDX-License-Identifier: GPL-2.0

//! Why objects change their region: the CPU or another device wants to see them, the device is about to
//! forget its memory, or others want the room. How they do is
//! the business of a [`Mover`](super::Mover).

use kernel::{
    prelude::*,
    sync::{aref::ARef, Arc},
    time::{delay::fsleep, Delta},
};
use ouro_kernel::{
    fence::Fence,
    release,
    resv::{HasResv, Locked, Usage},
    time,
    wait::{Interruptible, Waited, FOREVER},
};

use super::{bo, contents, region::Region, Backing, BoDevice, Object};

/// Moves an object into another region: as [`Mover::start`](super::Mover::start).
fn start(object: &Object, locked: &Locked<'_>, to: &Arc<Region>) -> Result<Option<ARef<Fence>>> {
    object.gpu().usable()?;
    object.gpu().mover()?.start(object, locked, to)
}

/// Milliseconds that an object has to leave memory that the device is about to forget: what it waits
/// for may have to be reset first.
const RESCUE_MS: u32 = 30_000;

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
    let away = |b: Arc<Backing>| b.is_hidden() || !b.lives_in(gpu, system);
    if contents::present(object).is_some_and(away) {
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
pub(crate) fn rescue(gpu: &BoDevice) -> Result {
    let system = gpu.regions().first().ok_or(EINVAL)?;
    for region in gpu.regions().iter().filter(|r| r.is_windowed()) {
        let mut page = 0;
        while let Some((next, object)) = region.object_from(page) {
            page = next;
            let mut attempts = Attempts::new();
            let left = loop {
                let locked = object.resv().lock(Interruptible::No)?;
                let left = start(&object, &locked, system);
                drop(locked);
                match left {
                    // Copies that are done still have their addresses.
                    Err(e) if e == ENOSPC && attempts.are_left(gpu) => {
                        gpu.runner().retire();
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
pub(crate) fn close_windows(gpu: &BoDevice) {
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
pub(super) fn make_room(gpu: &BoDevice, region: &Arc<Region>, attempts: &mut Attempts) -> Result {
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
    if !attempts.are_left(gpu) {
        return Err(ENOMEM);
    }
    release::flush();
    gpu.runner().retire();
    fsleep(Delta::from_micros(200));
    Ok(())
}

/// How long somebody waits for room in a region that nobody leaves: while pages are on their way back,
/// and some looks more. What others run may hold pages too, but is not waited for without end.
pub(crate) struct Attempts(u32);

impl Attempts {
    /// Looks at a region where nothing happens.
    const IDLE: u32 = 100;
    /// Looks while requests are under way, each after some hundred microseconds.
    const BUSY: u32 = 10_000;

    pub(crate) fn new() -> Self {
        Self(Self::BUSY)
    }

    /// Whether another look makes sense.
    pub(crate) fn are_left(&mut self, gpu: &BoDevice) -> bool {
        let runner = gpu.runner();
        if runner.is_empty() {
            let step = match runner.live() {
                0 => Self::BUSY / Self::IDLE,
                _ => 1,
            };
            self.0 = self.0.saturating_sub(step);
        }
        self.0 != 0
    }
}
