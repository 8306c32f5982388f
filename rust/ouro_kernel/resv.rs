// SPDX-License-Identifier: GPL-2.0

//! `dma_resv`: the fences that an object waits for, and the lock around them.
//!
//! Many objects are locked by [`lock_many()`]: it calls a closure that names them in any order, and
//! starts over if another task with an older ticket wants one of them. The caller needs no lock
//! order, and deadlock is impossible.
//!
//! C header: `include/linux/dma-resv.h`

use core::{marker::PhantomData, ptr::NonNull};
use kernel::{
    bindings,
    error::to_result,
    prelude::*,
    sync::aref::ARef,
    time::Jiffies,
    types::{NotThreadSafe, Opaque},
};

use crate::{
    fence::Fence,
    raw,
    wait::{self, Interruptible, Waited},
};

/// The meaning of a fence for waiters. Each includes the ones above it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Usage {
    /// Memory management: all must wait.
    Kernel,
    /// A write: readers and writers wait.
    Write,
    /// A read: writers wait.
    Read,
    /// No implicit waiting: the memory is in use.
    Bookkeep,
}

impl Usage {
    /// Returns what a reader (`false`) or a writer (`true`) has to wait for.
    pub fn for_access(write: bool) -> Self {
        if write {
            Usage::Read
        } else {
            Usage::Write
        }
    }

    fn raw(self) -> u32 {
        match self {
            Usage::Kernel => bindings::dma_resv_usage_DMA_RESV_USAGE_KERNEL,
            Usage::Write => bindings::dma_resv_usage_DMA_RESV_USAGE_WRITE,
            Usage::Read => bindings::dma_resv_usage_DMA_RESV_USAGE_READ,
            Usage::Bookkeep => bindings::dma_resv_usage_DMA_RESV_USAGE_BOOKKEEP,
        }
    }
}

/// A `struct dma_resv`.
///
/// # Invariants
///
/// It is initialised.
#[repr(transparent)]
pub struct Resv(Opaque<bindings::dma_resv>);

// SAFETY: A reservation is a lock and an RCU protected list.
unsafe impl Send for Resv {}
// SAFETY: As above.
unsafe impl Sync for Resv {}

impl Resv {
    /// The reservation behind a pointer.
    ///
    /// # Safety
    ///
    /// It is initialised, and lives as long as `'a`.
    pub(crate) unsafe fn from_raw<'a>(ptr: *mut bindings::dma_resv) -> &'a Self {
        // SAFETY: By the requirement of this function; the type is transparent.
        unsafe { &*ptr.cast() }
    }

    fn as_raw(&self) -> *mut bindings::dma_resv {
        self.0.get()
    }

    /// Returns whether all fences up to `usage` are signaled. No lock needed.
    pub fn test_signaled(&self, usage: Usage) -> bool {
        // SAFETY: By the invariant.
        unsafe { raw::dma_resv_test_signaled(self.as_raw(), usage.raw()) }
    }

    /// Waits for the fences up to `usage`, for at most `jiffies`. No lock needed. Sleeps.
    ///
    /// Errors: `ERESTARTSYS` if a signal came first.
    pub fn wait(
        &self,
        usage: Usage,
        interruptible: Interruptible,
        jiffies: Jiffies,
    ) -> Result<Waited> {
        if jiffies == 0 {
            return Ok(if self.test_signaled(usage) {
                Waited::Done(1)
            } else {
                Waited::TimedOut
            });
        }
        // SAFETY: By the invariant.
        wait::waited(unsafe {
            raw::dma_resv_wait_timeout(
                self.as_raw(),
                usage.raw(),
                interruptible == Interruptible::Yes,
                jiffies.min(wait::FOREVER),
            )
        })
    }

    /// Calls `call` for each unsignaled fence up to `usage`; repeatedly for some, if the fences
    /// change meanwhile. No lock needed, allocates nothing.
    pub fn each<F: FnMut(&Fence)>(&self, usage: Usage, mut call: F) {
        /// # Safety
        ///
        /// Called with a fence that has a reference, and an `F` that no other code uses.
        unsafe extern "C" fn part<F: FnMut(&Fence)>(
            fence: *mut bindings::dma_fence,
            data: *mut c_void,
        ) {
            // SAFETY: By the requirement of this function.
            let (call, fence) = unsafe { (&mut *data.cast::<F>(), Fence::from_raw(fence)) };
            call(fence);
        }

        // SAFETY: By the invariant; `part` is called during this call alone, with `call`.
        unsafe {
            raw::ouro_resv_each(
                self.as_raw(),
                usage.raw(),
                Some(part::<F>),
                (&raw mut call).cast(),
            )
        }
    }

    /// Adds the unsignaled fences up to `usage` to `out`. No lock needed. Allocates.
    ///
    /// Errors: `ENOMEM`.
    pub fn collect(&self, usage: Usage, out: &mut KVVec<ARef<Fence>>) -> Result {
        let mut n = 0;
        let mut list = core::ptr::null_mut();
        // SAFETY: By the invariant; both are written.
        to_result(unsafe {
            raw::ouro_resv_collect(self.as_raw(), usage.raw(), &mut n, &mut list)
        })?;
        if list.is_null() {
            return Ok(());
        }
        let n = n as usize;
        // SAFETY: The call returns an array from kmalloc, of `n` fences with a reference each. An
        // `ARef` is looked at only as the pointer that it is made of, below.
        let list = unsafe { KVec::from_raw_parts(list, n, n) };
        let room = out.reserve(n, GFP_KERNEL);
        for &fence in &list {
            // SAFETY: A reference each, taken over once.
            if let Some(fence) = unsafe { Fence::take(fence) } {
                if room.is_ok() {
                    // There is capacity.
                    let _ = out.push_within_capacity(fence);
                }
            }
        }
        Ok(room?)
    }

    /// Locks it. Sleeps. For a single reservation; for many, use [`lock_many()`].
    ///
    /// Errors: `ERESTARTSYS` if a signal came first.
    pub fn lock(&self, interruptible: Interruptible) -> Result<Guard<'_>> {
        let intr = interruptible == Interruptible::Yes;
        // SAFETY: By the invariant; without a ticket.
        let ret = unsafe { raw::ouro_resv_lock(self.as_raw(), core::ptr::null_mut(), intr) };
        if ret == -(bindings::EINTR as c_int) {
            return Err(ERESTARTSYS);
        }
        to_result(ret)?;
        Ok(Guard(Locked(self), PhantomData))
    }

    /// Locks it if it is not locked. Any process context, including the shrinker.
    pub fn try_lock(&self) -> Option<Guard<'_>> {
        // SAFETY: By the invariant.
        if unsafe { raw::ouro_resv_trylock(self.as_raw()) } {
            Some(Guard(Locked(self), PhantomData))
        } else {
            None
        }
    }
}

/// A reservation that the caller has locked.
///
/// # Invariants
///
/// It is locked while this exists, by this thread.
pub struct Locked<'a>(&'a Resv);

impl<'a> Locked<'a> {
    /// A reservation that the caller has locked by other means.
    ///
    /// # Safety
    ///
    /// This thread has it locked for as long as the result exists.
    pub(crate) unsafe fn assume(resv: &'a Resv) -> Self {
        // INVARIANT: By the requirement of this function.
        Self(resv)
    }

    /// Reserves slots for `n` more fences, at least one. Allocates.
    ///
    /// Errors: `ENOMEM`, `EINVAL` for zero.
    pub fn reserve_fences(&self, n: u32) -> Result<Slots<'_>> {
        if n == 0 {
            return Err(EINVAL);
        }
        // SAFETY: By the invariant.
        to_result(unsafe { raw::dma_resv_reserve_fences(self.0.as_raw(), n) })?;
        // INVARIANT: Just made; and it is locked while `self` is borrowed.
        Ok(Slots {
            locked: Locked(self.0),
            left: n,
        })
    }
}

/// Slots for fences in a locked reservation.
///
/// Slots do not add up: if there are several of one reservation, all fences added through them must
/// fit in the largest. Otherwise the kernel stops with a BUG.
///
/// # Invariants
///
/// There was room for `left` more fences when the last one was added, or since it was reserved;
/// hence the reservation has a list.
pub struct Slots<'a> {
    locked: Locked<'a>,
    left: u32,
}

impl Slots<'_> {
    /// Adds a fence. It replaces earlier fences of its context. Allocates nothing, and does not
    /// sleep.
    ///
    /// Errors: `EINVAL`, with nothing added, if it is a container, or if no slot is left. Never for
    /// a driver fence with a reserved slot.
    pub fn add_fence(&mut self, fence: &Fence, usage: Usage) -> Result {
        if fence.is_container() {
            return Err(EINVAL);
        }
        self.left = self.left.checked_sub(1).ok_or(EINVAL)?;
        // SAFETY: By the invariant of `locked` it is locked, and by that of `self` it has a list;
        // which takes a reference of its own.
        unsafe { raw::dma_resv_add_fence(self.locked.0.as_raw(), fence.as_raw(), usage.raw()) };
        Ok(())
    }
}

impl core::ops::Deref for Locked<'_> {
    type Target = Resv;

    fn deref(&self) -> &Resv {
        self.0
    }
}

/// One reservation, locked until this is dropped.
pub struct Guard<'a>(Locked<'a>, PhantomData<NotThreadSafe>);

impl<'a> core::ops::Deref for Guard<'a> {
    type Target = Locked<'a>;

    fn deref(&self) -> &Locked<'a> {
        &self.0
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // SAFETY: Locked by this guard.
        unsafe { raw::ouro_resv_unlock(self.0 .0.as_raw()) }
    }
}

/// An object with a reservation, which lives as long as the object.
///
/// # Safety
///
/// `resv()` must return the same reservation each time.
pub unsafe trait HasResv {
    /// Returns the reservation.
    fn resv(&self) -> &Resv;
}

/// Why a lock was not taken.
#[derive(Clone, Copy, Debug)]
pub enum LockError {
    /// A task with an older ticket wants it: pass this on to [`lock_many()`], which starts over.
    Contended,
    /// Another error.
    Error(Error),
}

impl From<Error> for LockError {
    fn from(e: Error) -> Self {
        LockError::Error(e)
    }
}

impl From<kernel::alloc::AllocError> for LockError {
    fn from(_: kernel::alloc::AllocError) -> Self {
        LockError::Error(ENOMEM)
    }
}

/// The result of locking an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acquired {
    /// It is locked now.
    New,
    /// It was locked in this set before: the object was named twice, or shares its reservation.
    ///
    /// Such an object adds no lock of its own: if a later round does not name the object that
    /// brought the lock, it must not rely on this one's, either. [`LockedSet::locked()`] tells.
    Already,
}

/// One of a [`LockedSet`].
struct Member<T: kernel::sync::aref::AlwaysRefCounted> {
    object: ARef<T>,
    /// Fences for which there is room.
    room: u32,
}

impl<T: kernel::sync::aref::AlwaysRefCounted> Member<T> {
    fn new(object: ARef<T>) -> Self {
        Self { object, room: 0 }
    }
}

/// Objects that are locked under one ticket.
///
/// Dropping it unlocks all of them, and only then drops the references.
///
/// # Invariants
///
/// `ctx` is initialised. The reservations of `objects`, and of no others, are locked with it. Each
/// has room for as many more fences as its member says.
pub struct LockedSet<T: kernel::sync::aref::AlwaysRefCounted + HasResv> {
    ctx: NonNull<bindings::ww_acquire_ctx>,
    objects: KVec<Member<T>>,
    interruptible: bool,
    /// The object that an older ticket wanted, to be locked first in the next round.
    contended: Option<ARef<T>>,
    /// The object that was locked first because of that, and was not named yet.
    early: Option<usize>,
    _thread: PhantomData<NotThreadSafe>,
}

/// Locks the objects that `f` names, and returns them with the result of `f`.
///
/// `f` calls [`LockedSet::lock()`] for each object, and passes errors on with `?`. It is called
/// again, with nothing locked, whenever it returns [`LockError::Contended`]; it must tolerate that.
/// `n` is the expected number of objects.
///
/// Errors: those of `f`; `ERESTARTSYS` if a signal came first; `ENOMEM`.
pub fn lock_many<T, R>(
    n: usize,
    interruptible: Interruptible,
    mut f: impl FnMut(&mut LockedSet<T>) -> core::result::Result<R, LockError>,
) -> Result<(LockedSet<T>, R)>
where
    T: kernel::sync::aref::AlwaysRefCounted + HasResv,
{
    let mut set = LockedSet::new(n, interruptible)?;
    loop {
        set.lock_contended()?;
        match f(&mut set) {
            Ok(r) => {
                set.drop_early();
                return Ok((set, r));
            }
            Err(LockError::Error(e)) => return Err(e),
            // Start over, with the contended object first.
            Err(LockError::Contended) => set.unlock_all(),
        }
    }
}

impl<T: kernel::sync::aref::AlwaysRefCounted + HasResv> LockedSet<T> {
    fn new(n: usize, interruptible: Interruptible) -> Result<Self> {
        let objects = KVec::with_capacity(n, GFP_KERNEL)?;
        let ctx = KBox::into_raw(KBox::new(
            pin_init::zeroed::<bindings::ww_acquire_ctx>(),
            GFP_KERNEL,
        )?);
        // SAFETY: It stays where it is, and is used by this thread alone: the set is not `Send`.
        unsafe { raw::ouro_ww_acquire_init(ctx) };
        Ok(Self {
            // SAFETY: From a box.
            ctx: unsafe { NonNull::new_unchecked(ctx) },
            objects,
            interruptible: interruptible == Interruptible::Yes,
            contended: None,
            early: None,
            _thread: PhantomData,
        })
    }

    /// Locks the object that the last round failed on, with nothing else locked: this waits.
    fn lock_contended(&mut self) -> Result {
        let Some(obj) = self.contended.take() else {
            return Ok(());
        };
        self.objects.reserve(1, GFP_KERNEL)?;
        // SAFETY: Nothing is locked with the ticket, which was refused by this reservation.
        let ret = unsafe {
            raw::ouro_resv_lock_slow(obj.resv().as_raw(), self.ctx.as_ptr(), self.interruptible)
        };
        if ret == -(bindings::EINTR as c_int) {
            return Err(ERESTARTSYS);
        }
        to_result(ret)?;
        // There is room.
        let _ = self.objects.push_within_capacity(Member::new(obj));
        self.early = Some(0);
        Ok(())
    }

    /// Locks another object, in any order.
    ///
    /// Allocates, unless the expected number is not reached. Errors: see [`LockError`]; all must be
    /// passed on, except that after `Contended` the caller may do without the object, if it locks
    /// nothing else in this round.
    pub fn lock(&mut self, obj: &ARef<T>) -> core::result::Result<Acquired, LockError> {
        self.objects.reserve(1, GFP_KERNEL)?;
        // SAFETY: The reservation lives with the object.
        let ret = unsafe {
            raw::ouro_resv_lock(obj.resv().as_raw(), self.ctx.as_ptr(), self.interruptible)
        };
        const EALREADY: c_int = -(bindings::EALREADY as c_int);
        const EDEADLK: c_int = -(bindings::EDEADLK as c_int);
        const EINTR: c_int = -(bindings::EINTR as c_int);
        match ret {
            0 => {
                // INVARIANT: Locked, and in the list. There is room.
                let _ = self.objects.push_within_capacity(Member::new(obj.clone()));
                Ok(Acquired::New)
            }
            EALREADY => {
                let early = self.early.and_then(|i| self.objects.get(i));
                if early.is_some_and(|e| core::ptr::eq::<T>(&*e.object, &**obj)) {
                    // Locked ahead of its turn: for the caller it is new.
                    self.early = None;
                    return Ok(Acquired::New);
                }
                Ok(Acquired::Already)
            }
            EDEADLK => {
                self.contended = Some(obj.clone());
                Err(LockError::Contended)
            }
            EINTR => Err(LockError::Error(ERESTARTSYS)),
            e => Err(LockError::Error(Error::from_errno(e))),
        }
    }

    /// Locks another object if that does not wait (for eviction).
    ///
    /// Errors: `ENOMEM`, `EBUSY` if it is locked, even in this set.
    pub fn try_lock(&mut self, obj: &ARef<T>) -> Result {
        self.objects.reserve(1, GFP_KERNEL)?;
        // SAFETY: The reservation lives with the object.
        let got = unsafe { raw::ouro_resv_trylock_ctx(obj.resv().as_raw(), self.ctx.as_ptr()) };
        if !got {
            return Err(EBUSY);
        }
        // INVARIANT: Locked, and in the list. There is room.
        let _ = self.objects.push_within_capacity(Member::new(obj.clone()));
        Ok(())
    }

    /// The objects, in the order in which they were locked (one that was contended comes first).
    pub fn objects(&self) -> impl ExactSizeIterator<Item = &ARef<T>> {
        self.objects.iter().map(|member| &member.object)
    }

    /// Returns the index in `objects` of the reservation of an object, which was probably the `i`th
    /// to be locked: the search tries that index and its neighbours first, which differ if a
    /// contended object came first or one was left out. Other indices come last, so that a list is
    /// not searched once per object.
    fn find(&self, i: usize, obj: &T) -> Option<usize> {
        let has = |member: &Member<T>| core::ptr::eq::<Resv>(member.object.resv(), obj.resv());
        let near = [i, i.saturating_add(1), 0];
        near.into_iter()
            .find(|at| self.objects.get(*at).is_some_and(has))
            .or_else(|| self.objects.iter().position(has))
    }

    /// Returns the locked reservation of an object of the set; `None` if the object is not in the
    /// set. Linear in the number of objects.
    ///
    /// An object that shares its reservation with one of the set is found, too.
    pub fn locked(&self, obj: &T) -> Option<Locked<'_>> {
        self.locked_at(0, obj)
    }

    /// Same as [`LockedSet::locked()`], but not linear if the object was the `i`th to be locked.
    pub fn locked_at(&self, i: usize, obj: &T) -> Option<Locked<'_>> {
        let member = self.objects.get(self.find(i, obj)?)?;
        // INVARIANT: By the invariant of `self`.
        Some(Locked(member.object.resv()))
    }

    /// Makes room for `n` more fences in the reservation of an object, the `i`th that was locked;
    /// it is added up. Allocates.
    ///
    /// Errors: `ENOMEM`, `EINVAL` if it is not of the set.
    pub fn reserve_fences(&mut self, i: usize, obj: &T, n: u32) -> Result {
        let at = self.find(i, obj).ok_or(EINVAL)?;
        let member = self.objects.get_mut(at).ok_or(EINVAL)?;
        let room = member.room.checked_add(n).ok_or(EINVAL)?;
        if room != 0 {
            // SAFETY: By the invariant it is locked.
            to_result(unsafe {
                raw::dma_resv_reserve_fences(member.object.resv().as_raw(), room)
            })?;
        }
        member.room = room;
        Ok(())
    }

    /// Adds a fence to the reservation of an object, the `i`th that was locked. It replaces earlier
    /// fences of its context. Allocates nothing, and does not sleep.
    ///
    /// Errors: as [`Slots::add_fence()`]; `EINVAL` if the object is not of the set.
    pub fn add_fence(&mut self, i: usize, obj: &T, fence: &Fence, usage: Usage) -> Result {
        if fence.is_container() {
            return Err(EINVAL);
        }
        let at = self.find(i, obj).ok_or(EINVAL)?;
        let member = self.objects.get_mut(at).ok_or(EINVAL)?;
        member.room = member.room.checked_sub(1).ok_or(EINVAL)?;
        let resv = member.object.resv().as_raw();
        // SAFETY: By the invariant it is locked and has room, hence a list; which takes a reference
        // of its own.
        unsafe { raw::dma_resv_add_fence(resv, fence.as_raw(), usage.raw()) };
        Ok(())
    }

    /// Unlocks the object that was locked first and then not named.
    fn drop_early(&mut self) {
        let Some(i) = self.early.take() else {
            return;
        };
        if let Ok(member) = self.objects.remove(i) {
            // SAFETY: By the invariant it was locked; it is not in the list any more.
            unsafe { raw::ouro_resv_unlock(member.object.resv().as_raw()) };
        }
    }

    fn unlock_all(&mut self) {
        for member in &self.objects {
            // SAFETY: By the invariant.
            unsafe { raw::ouro_resv_unlock(member.object.resv().as_raw()) };
        }
        self.early = None;
        // Nothing is locked now: last references may be dropped.
        self.objects.clear();
    }
}

impl<T: kernel::sync::aref::AlwaysRefCounted + HasResv> Drop for LockedSet<T> {
    fn drop(&mut self) {
        self.unlock_all();
        // SAFETY: Nothing is locked with it any more; it came from a box.
        unsafe {
            raw::ouro_ww_acquire_fini(self.ctx.as_ptr());
            drop(KBox::from_raw(self.ctx.as_ptr()));
        }
    }
}
