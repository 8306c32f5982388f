// SPDX-License-Identifier: GPL-2.0

//! Many reservations, locked together.

use core::{cell::Cell, marker::PhantomData, mem::ManuallyDrop, ptr};
use kernel::{
    alloc::{allocator::Kmalloc, flags::GFP_KERNEL_ACCOUNT},
    bindings,
    error::to_result,
    prelude::*,
    sync::aref::{ARef, AlwaysRefCounted},
    types::{NotThreadSafe, Opaque},
};

use super::{Locked, Resv, Usage};
use crate::{fence::Plain, lazy::LazyVec, raw, wait::Interruptible};

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
struct Member<T: AlwaysRefCounted> {
    object: ARef<T>,
    /// Fences for which there is room.
    room: u32,
}

impl<T: AlwaysRefCounted> Member<T> {
    fn new(object: ARef<T>) -> Self {
        Self { object, room: 0 }
    }
}

/// The memory of a [`LockedSet`], which another one can use later.
pub struct Slate<T: AlwaysRefCounted> {
    /// The ticket, not initialised.
    ctx: Option<KBox<Opaque<bindings::ww_acquire_ctx>>>,
    /// Empty.
    objects: LazyVec<Member<T>, Kmalloc>,
}

// SAFETY: It has no objects, and its ticket is only memory.
unsafe impl<T: AlwaysRefCounted> Send for Slate<T> {}

impl<T: AlwaysRefCounted> Slate<T> {
    /// Returns one that has no memory yet.
    pub const fn new() -> Self {
        Self {
            ctx: None,
            objects: LazyVec::new(),
        }
    }

    /// Returns for how many objects it has memory.
    #[inline]
    pub fn room(&self) -> usize {
        self.objects.capacity()
    }
}

impl<T: AlwaysRefCounted> Default for Slate<T> {
    fn default() -> Self {
        Self::new()
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
pub struct LockedSet<T: AlwaysRefCounted + HasResv> {
    ctx: KBox<Opaque<bindings::ww_acquire_ctx>>,
    objects: LazyVec<Member<T>, Kmalloc>,
    interruptible: bool,
    /// The object that an older ticket wanted, to be locked first in the next round.
    contended: Option<ARef<T>>,
    /// The object that was locked first because of that, and was not named yet.
    early: Option<usize>,
    /// Where the last object was that was not at its own index.
    found: Cell<usize>,
    _thread: PhantomData<NotThreadSafe>,
}

/// Locks the objects that `f` names, and returns them with the result of `f`.
///
/// `f` calls [`LockedSet::lock()`] for each object, and passes errors on with `?`. It is called
/// again, with nothing locked, whenever it returns [`LockError::Contended`]; it must tolerate that.
/// `n` is the expected number of objects; `slate` is memory for them, which
/// [`LockedSet::unlock()`] gives back.
///
/// Errors: those of `f`; `ERESTARTSYS` if a signal came first; `ENOMEM`.
pub fn lock_many<T, R>(
    slate: Slate<T>,
    n: usize,
    interruptible: Interruptible,
    mut f: impl FnMut(&mut LockedSet<T>) -> core::result::Result<R, LockError>,
) -> Result<(LockedSet<T>, R)>
where
    T: AlwaysRefCounted + HasResv,
{
    let mut set = LockedSet::new(slate, n, interruptible)?;
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

impl<T: AlwaysRefCounted + HasResv> LockedSet<T> {
    fn new(slate: Slate<T>, n: usize, interruptible: Interruptible) -> Result<Self> {
        let Slate { ctx, mut objects } = slate;
        if objects.capacity() < n {
            objects.reserve(n, GFP_KERNEL_ACCOUNT)?;
        }
        let ctx = match ctx {
            Some(ctx) => ctx,
            None => KBox::new(Opaque::zeroed(), GFP_KERNEL_ACCOUNT)?,
        };
        // SAFETY: It stays where it is, and is used by this thread alone: the set is not `Send`.
        unsafe { raw::ouro_ww_acquire_init(ctx.get()) };
        Ok(Self {
            ctx,
            objects,
            interruptible: interruptible == Interruptible::Yes,
            contended: None,
            early: None,
            found: Cell::new(0),
            _thread: PhantomData,
        })
    }

    /// Unlocks all objects, then drops the references. Returns the memory.
    pub fn unlock(self) -> Slate<T> {
        let mut this = ManuallyDrop::new(self);
        this.end();
        this.contended = None;
        // SAFETY: Both are read once, and are not used or dropped after that.
        unsafe {
            Slate {
                ctx: Some(ptr::read(&this.ctx)),
                objects: ptr::read(&this.objects),
            }
        }
    }

    /// Unlocks all objects, and ends the ticket.
    fn end(&mut self) {
        self.unlock_all();
        // SAFETY: Nothing is locked with it any more.
        unsafe { raw::ouro_ww_acquire_fini(self.ctx.get()) };
    }

    /// Locks the object that the last round failed on, with nothing else locked: this waits.
    fn lock_contended(&mut self) -> Result {
        let Some(obj) = self.contended.take() else {
            return Ok(());
        };
        self.objects.reserve(1, GFP_KERNEL_ACCOUNT)?;
        // SAFETY: Nothing is locked with the ticket, which was refused by this reservation.
        let ret = unsafe {
            raw::ouro_resv_lock_slow(obj.resv().as_raw(), self.ctx.get(), self.interruptible)
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
    #[inline]
    pub fn lock(&mut self, obj: &ARef<T>) -> core::result::Result<Acquired, LockError> {
        if self.objects.len() == self.objects.capacity() {
            self.objects.reserve(1, GFP_KERNEL_ACCOUNT)?;
        }
        // SAFETY: The reservation lives with the object.
        let ret =
            unsafe { raw::ouro_resv_lock(obj.resv().as_raw(), self.ctx.get(), self.interruptible) };
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
                if early.is_some_and(|e| ptr::eq::<T>(&*e.object, &**obj)) {
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
        self.objects.reserve(1, GFP_KERNEL_ACCOUNT)?;
        // SAFETY: The reservation lives with the object.
        let got = unsafe { raw::ouro_resv_trylock_ctx(obj.resv().as_raw(), self.ctx.get()) };
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
    /// to be locked. Other indexes come last, so that a list is not searched once per object.
    #[inline]
    fn find(&self, i: usize, obj: &T) -> Option<usize> {
        match self.objects.get(i) {
            Some(member) if ptr::eq::<T>(&*member.object, obj) => Some(i),
            _ => self.search(i, obj),
        }
    }

    /// Does what [`find`](Self::find) does for an object that is elsewhere. It looks first behind
    /// the object that was found last: callers go through their lists in order, so that only the
    /// first object behind one that was left out is searched for. A contended object is the first,
    /// and others come one place later.
    #[inline(never)]
    fn search(&self, i: usize, obj: &T) -> Option<usize> {
        let has = |member: &Member<T>| ptr::eq::<Resv>(member.object.resv(), obj.resv());
        let near = [
            i,
            self.found.get().saturating_add(1),
            i.saturating_add(1),
            0,
        ];
        let at = near
            .into_iter()
            .find(|at| self.objects.get(*at).is_some_and(has))
            .or_else(|| self.objects.iter().position(has))?;
        self.found.set(at);
        Some(at)
    }

    /// Returns the locked reservation of an object of the set; `None` if the object is not in the
    /// set. Linear in the number of objects.
    ///
    /// An object that shares its reservation with one of the set is found, too.
    pub fn locked(&self, obj: &T) -> Option<Locked<'_>> {
        self.locked_at(0, obj)
    }

    /// Same as [`LockedSet::locked()`], but not linear if the object was the `i`th to be locked.
    #[inline]
    pub fn locked_at(&self, i: usize, obj: &T) -> Option<Locked<'_>> {
        let member = self.objects.get(self.find(i, obj)?)?;
        // INVARIANT: By the invariant of `self`.
        Some(Locked(member.object.resv()))
    }

    /// Makes room for `n` more fences in the reservation of an object, the `i`th that was locked;
    /// it is added up. Allocates.
    ///
    /// Errors: `ENOMEM`, `EINVAL` if it is not of the set.
    #[inline]
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
    /// Errors: `EINVAL`, with nothing added, if no slot is left or the object is not of the set.
    #[inline]
    pub fn add_fence(&mut self, i: usize, obj: &T, fence: Plain<'_>, usage: Usage) -> Result {
        let at = self.find(i, obj).ok_or(EINVAL)?;
        let member = self.objects.get_mut(at).ok_or(EINVAL)?;
        member.room = member.room.checked_sub(1).ok_or(EINVAL)?;
        let resv = member.object.resv().as_raw();
        // SAFETY: By the invariant it is locked and has room, hence a list; which takes a reference
        // of its own.
        unsafe { raw::dma_resv_add_fence(resv, fence.0.as_raw(), usage.raw()) };
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
        for member in self.objects.iter() {
            // SAFETY: By the invariant.
            unsafe { raw::ouro_resv_unlock(member.object.resv().as_raw()) };
        }
        self.early = None;
        // Nothing is locked now: last references may be dropped.
        self.objects.clear();
    }
}

impl<T: AlwaysRefCounted + HasResv> Drop for LockedSet<T> {
    fn drop(&mut self) {
        self.end();
    }
}
