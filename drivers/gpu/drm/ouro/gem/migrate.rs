// SPDX-License-Identifier: GPL-2.0

//! Reasons to move a BO to another region: the CPU or another device needs access, the device is
//! about to lose its VRAM, or others need the memory. [`Mover`](super::Mover) moves it.

use kernel::{
    prelude::*,
    sync::{aref::ARef, Arc},
    time::{delay::fsleep, Delta, Jiffies},
};
use ouro_kernel::{
    fence::Fence,
    release,
    resv::{HasResv, Locked, Usage},
    time,
    wait::{Interruptible, Waited, FOREVER},
};

use super::{bo, contents, region::Region, Backing, BoDevice, Object};

/// Moves a BO into another region: as [`Mover::start`](super::Mover::start).
fn start(object: &Object, locked: &Locked<'_>, to: &Arc<Region>) -> Result<Option<ARef<Fence>>> {
    object.gpu().usable()?;
    object.gpu().mover()?.start(object, locked, to)
}

/// Milliseconds for a BO to leave VRAM that the device is about to lose: the requests that use it
/// may hang and need a reset first.
const EVICT_MS: u32 = 30_000;

/// Milliseconds for a BO of others to leave a region, before the requests that use it are pressed:
/// one of them may be endless.
const PATIENCE_MS: u32 = 500;

/// Waits for the move of a BO out of a region, with `limit` jiffies once the requests that use it
/// are pressed: then each has the hang limit. The caller holds no locks. Errors: `ERESTARTSYS`.
pub(crate) fn wait_until_left(
    gpu: &BoDevice,
    fence: &Fence,
    interruptible: Interruptible,
    limit: Jiffies,
) -> Result<Waited> {
    match fence.wait(interruptible, time::ms(PATIENCE_MS))? {
        Waited::TimedOut => {
            gpu.runner().press(fence);
            fence.wait(interruptible, limit)
        }
        done => Ok(done),
    }
}

/// Moves a BO to system memory, where the CPU sees all of it. The caller holds no locks.
///
/// Errors: those of [`start`], `ERESTARTSYS`, `EIO` if the device is wedged.
pub(super) fn move_to_system(object: &Object) -> Result {
    // Without an engine the contents cannot be copied now, but the device may recover.
    object.gpu().working()?;
    let locked = object.resv().lock(Interruptible::Yes)?;
    let system = object.gpu().regions().first().ok_or(EINVAL)?;
    start(object, &locked, system).map(|_| ())
}

/// Moves a BO to system memory, where other devices can access it, and waits until it is there.
/// `locked` is its reservation.
///
/// Errors: those of [`move_to_system`]; `EIO` also if its contents were lost.
pub(super) fn move_to_system_and_wait(object: &Object, locked: &Locked<'_>) -> Result {
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
    wait_for_repair(object, Interruptible::Yes)
}

/// Waits until the CPU has repaired a failed move of a BO.
///
/// Errors: `EIO` if it cannot; `ERESTARTSYS`.
fn wait_for_repair(object: &Object, interruptible: Interruptible) -> Result {
    while let Some(hidden) = contents::present(object).filter(|b| b.is_hidden()) {
        hidden.catch_up(object.gpu(), interruptible)?;
    }
    Ok(())
}

/// Moves all BOs out of VRAM that the device is about to lose, and waits until they are moved, also
/// for moves that began earlier, and for the repair of those that fail. User space is frozen.
///
/// Errors: `EBUSY` if some cannot be moved in time; `ENOMEM`; those of [`start`].
pub(crate) fn evict_vram(gpu: &BoDevice) -> Result {
    let system = gpu.regions().first().ok_or(EINVAL)?;
    for_each_in_vram(gpu, |object| {
        let mut attempts = Attempts::new();
        let mut may_fail = true;
        loop {
            let locked = object.resv().lock(Interruptible::No)?;
            let left = start(object, &locked, system);
            // If it moves to system memory already, an earlier move still reads VRAM.
            let mut moves = KVVec::new();
            object.resv().collect(Usage::Kernel, &mut moves)?;
            drop(locked);
            match left {
                // Completed copies may still have their addresses.
                Err(e) if e == ENOSPC && attempts.are_left(gpu) => {
                    gpu.runner().retire();
                    fsleep(Delta::from_micros(200));
                    continue;
                }
                left => left?,
            };
            for fence in moves.iter() {
                // The request that uses it may be one that never ends by itself.
                match wait_until_left(gpu, fence, Interruptible::No, time::ms(EVICT_MS))? {
                    Waited::Done(_) => {}
                    Waited::TimedOut => return Err(EBUSY),
                }
            }
            match wait_for_repair(object, Interruptible::No) {
                // Neither an engine nor the CPU could copy it: see `lose_vram()`. But the move that
                // failed may have been one into VRAM.
                Err(e) if e == EIO && may_fail => may_fail = false,
                Err(e) if e == EIO => return Ok(()),
                Err(e) => return Err(e),
                Ok(()) if !contents::present(object).is_some_and(|b| b.is_windowed()) => {
                    return Ok(());
                }
                Ok(()) if attempts.are_left(gpu) => {}
                Ok(()) => return Err(EBUSY),
            }
        }
    })
}

/// The device loses its VRAM now. BOs that could not be moved out of it are zero afterwards.
/// Returns their number.
pub(crate) fn lose_vram(gpu: &BoDevice) -> u32 {
    let mut lost = 0;
    let _ = for_each_in_vram(gpu, |object| {
        lost += u32::from(contents::present(object).is_some_and(|b| b.forget_vram()));
        Ok(())
    });
    lost
}

/// Calls a function with each BO that has memory in VRAM.
fn for_each_in_vram(gpu: &BoDevice, mut each: impl FnMut(&Object) -> Result) -> Result {
    for region in gpu.regions().iter().filter(|r| r.is_windowed()) {
        let mut page = 0;
        while let Some((next, object)) = region.object_from(page) {
            page = next;
            each(&object)?;
        }
    }
    Ok(())
}

/// Removes user space's mappings of all VRAM, whose BARs are about to be closed. The device is
/// marked as gone, so that they are not mapped again.
pub(crate) fn revoke_vram_mappings(gpu: &BoDevice) {
    let _ = for_each_in_vram(gpu, |object| {
        bo::revoke_mappings(object);
        Ok(())
    });
}

/// Moves a BO back to its preferred region, if it was moved out and there is room again. `locked`
/// is its reservation. It is no error if it is not moved.
pub(crate) fn restore_placement(object: &Object, locked: &Locked<'_>) {
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

/// Moves a BO out of a region into another one where it may live. `locked` is its reservation.
///
/// Returns the fence of the move; `None` if no region has room. Errors: those of [`start`]; `EIO`
/// if the device is wedged.
pub(crate) fn evict(
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
            // That region is full, too.
            Err(e) if e == ENOSPC => {}
            done => return done,
        }
    }
    Ok(None)
}

/// Moves some BO out of a region, to make room for another one, and waits until it is moved. The
/// caller holds no locks.
///
/// Errors: `ENOMEM` if none can be moved, `ERESTARTSYS`, `ENODEV`.
pub(super) fn make_room(gpu: &BoDevice, region: &Arc<Region>, attempts: &mut Attempts) -> Result {
    gpu.usable()?;
    // Four times around the clock: in the first round, recently used BOs are spared, and in the
    // first two, busy ones.
    let spared = region
        .allocated_ranges()
        .saturating_add(1)
        .saturating_mul(2);
    for turn in 0..spared.saturating_mul(2) {
        let Some(victim) = region.next_victim() else {
            continue;
        };
        let is_busy = turn < spared && !victim.resv().test_signaled(Usage::Bookkeep);
        if victim.take_used() || is_busy {
            continue;
        }
        let Some(locked) = victim.resv().try_lock() else {
            continue;
        };
        let left = evict(&victim, &locked, region);
        drop(locked);
        if let Ok(Some(fence)) = left {
            wait_until_left(gpu, &fence, Interruptible::Yes, FOREVER)?;
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

/// The limit of waiting for room in a region that no BO can leave: a while after the last memory
/// that is about to become free, and a long while in any case, as others may free some all the
/// time.
pub(crate) struct Attempts {
    /// Looks that are left, of those while nothing is about to become free.
    quiet: u32,
    /// Looks that are left in all.
    all: u32,
}

impl Attempts {
    /// Looks at a region while nothing is in flight.
    const IDLE: u32 = 100;
    /// Looks while requests are in flight, a few hundred microseconds apart.
    const BUSY: u32 = 10_000;
    /// Looks in all: at least ten seconds.
    const ALL: u32 = 50_000;

    pub(crate) fn new() -> Self {
        Self {
            quiet: Self::BUSY,
            all: Self::ALL,
        }
    }

    /// Returns whether to look again.
    pub(crate) fn are_left(&mut self, gpu: &BoDevice) -> bool {
        let runner = gpu.runner();
        if runner.is_empty() {
            let step = match runner.live() {
                0 => Self::BUSY / Self::IDLE,
                _ => 1,
            };
            self.quiet = self.quiet.saturating_sub(step);
        }
        self.all = self.all.saturating_sub(1);
        self.quiet != 0 && self.all != 0
    }
}
