// SPDX-License-Identifier: GPL-2.0

//! Bonds: the time during which a device is bound to its driver, and the undo list of its end.
//!
//! A driver is bound to its device from `probe` to the end of the unbind. Some calls are allowed
//! only in between, among them those of the DMA API, but the objects that need them live longer: a
//! file may be open and a buffer shared. A [`Bond`] connects the two. A caller is *inside* while it
//! makes such a call; the result of the call is on the bond's list until it is undone. The unbind
//! lets no more callers in, undoes everything on the list, and waits until no caller is inside.

use core::mem::MaybeUninit;
use kernel::{
    list::{impl_list_arc_safe, impl_list_item, ListArc, ListLinks},
    prelude::*,
    static_lock_class,
    sync::{Arc, CondVar, LockClassKey, Mutex, UniqueArc},
};

use crate::{
    impl_member,
    list::{MemberList, Membership},
    wait::{self, Completion, Interruptible},
};

/// Something that must be undone while the device is bound.
#[pin_data]
pub struct Item<T> {
    #[pin]
    links: ListLinks,
    /// Completed when the end of the bond has undone it.
    #[pin]
    ended: Completion,
    membership: Membership,
    made: T,
}

impl_list_arc_safe! {
    impl{T} ListArcSafe<0> for Item<T> { untracked; }
}
impl_list_item! {
    impl{T} ListItem<0> for Item<T> { using ListLinks { self.links }; }
}
impl_member! {
    impl{T} Member for Item<T> { self.membership }
}

impl<T> Item<T> {
    /// Returns the result of the call.
    pub fn made(&self) -> &T {
        &self.made
    }
}

/// Memory for an [`Item`], allocated beforehand, so that adding an item cannot fail.
pub struct Room<T>(UniqueArc<MaybeUninit<Item<T>>>);

impl<T> Room<T> {
    /// Allocates the memory.
    ///
    /// Errors: `ENOMEM`.
    pub fn new() -> Result<Self> {
        Ok(Self(UniqueArc::new_uninit(GFP_KERNEL)?))
    }
}

struct State<T> {
    bound: bool,
    /// Number of callers inside.
    inside: usize,
    made: MemberList<Item<T>>,
}

/// The time during which a device is bound.
///
/// No call that is made inside may wait for the unbind, or it would not end.
#[pin_data]
pub struct Bond<T> {
    /// Held for the list and the counter only; nothing allocates under it.
    #[pin]
    state: Mutex<State<T>>,
    /// Signalled when no caller is inside any more.
    #[pin]
    gone: CondVar,
}

/// A guard: the device is bound while it lives. Must not be held while waiting for anything that
/// the unbind may have to end.
pub struct Inside<'a, T>(&'a Bond<T>);

impl<T> Inside<'_, T> {
    /// Adds the result of a call to the list. If the bond is being ended, the end waits for this
    /// guard, and then processes the list again.
    pub fn add(&self, room: Room<T>, made: T) -> Arc<Item<T>> {
        let Ok(item) = room.0.pin_init_with(pin_init!(Item {
            links <- ListLinks::new(),
            ended <- Completion::new(),
            membership: Membership::new(),
            made,
        }));
        let item = ListArc::from(item);
        let arc = item.clone_arc();
        self.0.state.lock().made.push_back(item);
        arc
    }
}

impl<T> Drop for Inside<'_, T> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.inside -= 1;
        if !state.bound && state.inside == 0 {
            self.0.gone.notify_all();
        }
    }
}

// Lock classes for lockdep. In a generic function, the class is shared by all types, but the
// literal of its name is not, which lockdep reports as an error.
static STATE: &CStr = c"ouro_bond";
static GONE: &CStr = c"ouro_bond_gone";

fn state_class() -> Pin<&'static LockClassKey> {
    static_lock_class!()
}

fn gone_class() -> Pin<&'static LockClassKey> {
    static_lock_class!()
}

impl<T> Bond<T> {
    /// Creates a bond that has begun.
    pub fn new() -> impl PinInit<Self> {
        let state = State {
            bound: true,
            inside: 0,
            made: MemberList::new(),
        };
        pin_init!(Self {
            state <- Mutex::new(state, STATE, state_class()),
            gone <- CondVar::new(GONE, gone_class()),
        })
    }

    /// Keeps the device bound while the guard lives.
    ///
    /// Errors: `ENODEV` once the unbind has begun.
    pub fn enter(&self) -> Result<Inside<'_, T>> {
        let mut state = self.state.lock();
        if !state.bound {
            return Err(ENODEV);
        }
        state.inside += 1;
        Ok(Inside(self))
    }

    /// Removes an item from the list, to undo it. `None` if the end of the bond undoes it.
    fn take_off(&self, item: &Item<T>) -> Option<Inside<'_, T>> {
        let mut state = self.state.lock();
        state.made.remove(item)?;
        // The bond ends only when the list is empty and no caller is inside.
        state.inside += 1;
        Some(Inside(self))
    }

    /// Undoes an item with `undo`, which runs while the device is bound; or waits until the end of
    /// the bond has undone it. Sleeps.
    pub fn undo(&self, item: &Item<T>, undo: impl FnOnce(&T)) {
        match self.take_off(item) {
            Some(_inside) => undo(&item.made),
            None => drop(item.ended.wait(Interruptible::No, wait::FOREVER)),
        }
    }

    /// Ends the bond: lets no more callers in, runs `first`, then `undo` for every item of the
    /// list, and waits until no caller is inside. Must be called while the device is still bound.
    /// Sleeps.
    pub fn end(&self, first: impl FnOnce(), undo: impl Fn(&T)) {
        self.state.lock().bound = false;
        first();
        loop {
            let mut state = self.state.lock();
            let Some(item) = state.made.pop_front() else {
                if state.inside == 0 {
                    break;
                }
                self.gone.wait(&mut state);
                continue;
            };
            drop(state);
            undo(&item.made);
            item.ended.complete_all();
        }
    }
}
