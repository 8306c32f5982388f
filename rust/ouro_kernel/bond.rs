// SPDX-License-Identifier: GPL-2.0

//! The time that a device is bound, and what must be undone before it ends.
//!
//! A driver is bound to its device from `probe` to the end of the unbind. Some calls are allowed only in
//! between, those of the DMA API among them, but the objects that need them live longer: a file may be open
//! and a buffer shared. A [`Bond`] is the meeting point of both. Whoever makes such a call is *inside* while it
//! does; what the call has made is on the bond's list until somebody undoes it. The unbind lets nobody in
//! any more, undoes what is on the list, and waits until nobody is inside.

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
    /// What was made.
    pub fn made(&self) -> &T {
        &self.made
    }
}

/// Memory for an [`Item`]: nothing can fail between the making and the list.
pub struct Room<T>(UniqueArc<MaybeUninit<Item<T>>>);

impl<T> Room<T> {
    /// Allocates it.
    ///
    /// Errors: `ENOMEM`.
    pub fn new() -> Result<Self> {
        Ok(Self(UniqueArc::new_uninit(GFP_KERNEL)?))
    }
}

struct State<T> {
    bound: bool,
    /// How many make or undo something now.
    inside: usize,
    made: MemberList<Item<T>>,
}

/// The time that a device is bound.
///
/// No call that is made inside may wait for the unbind, so that this ends.
#[pin_data]
pub struct Bond<T> {
    /// Held for the list and the counter alone; nothing allocates under it.
    #[pin]
    state: Mutex<State<T>>,
    /// Nobody is inside any more.
    #[pin]
    gone: CondVar,
}

/// A guard: the device is bound as long as this lives. Not to be kept while waiting for anything that the
/// unbind may have to end.
pub struct Inside<'a, T>(&'a Bond<T>);

impl<T> Inside<'_, T> {
    /// Puts what was made on the list. If the bond is being ended, that waits for this guard and then looks at
    /// the list again.
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

// The classes of the locks, for lockdep. In a generic function the class is one for all types, but the literal of its
// name is another one for each, which lockdep takes for a mistake.
static STATE: &CStr = c"ouro_bond";
static GONE: &CStr = c"ouro_bond_gone";

fn state_class() -> Pin<&'static LockClassKey> {
    static_lock_class!()
}

fn gone_class() -> Pin<&'static LockClassKey> {
    static_lock_class!()
}

impl<T> Bond<T> {
    /// A bond that has begun.
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

    /// Keeps the device bound for a moment.
    ///
    /// Errors: `ENODEV` from the unbind on.
    pub fn enter(&self) -> Result<Inside<'_, T>> {
        let mut state = self.state.lock();
        if !state.bound {
            return Err(ENODEV);
        }
        state.inside += 1;
        Ok(Inside(self))
    }

    /// Takes an item off the list, to undo it. `None`: the end of the bond has it.
    fn take_off(&self, item: &Item<T>) -> Option<Inside<'_, T>> {
        let mut state = self.state.lock();
        state.made.remove(item)?;
        // The bond does not end before the list is empty and nobody is inside.
        state.inside += 1;
        Some(Inside(self))
    }

    /// Undoes what was made by `undo`, which runs while the device is bound; or waits until the end of the
    /// item's bond has done so. Sleeps.
    pub fn undo(&self, item: &Item<T>, undo: impl FnOnce(&T)) {
        match self.take_off(item) {
            Some(_inside) => undo(&item.made),
            None => drop(item.ended.wait(Interruptible::No, wait::FOREVER)),
        }
    }

    /// Ends the bond: nobody gets in any more; then `first` runs, `undo` for all that is on the list, and it is
    /// over when nobody is inside. To be called while the device is still bound. Sleeps.
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
