// SPDX-License-Identifier: GPL-2.0

//! A list whose members can be taken out of the middle, in constant time.
//!
//! The kernel crate's [`List`] can do that only with a promise that the item is in this list and in no
//! other one. Here each item remembers which list it is in, so that the question has an answer.

use kernel::{
    list::{List, ListArc, ListItem},
    sync::atomic::{ordering, Atomic},
};

/// In which list an item is.
///
/// # Invariants
///
/// It is the number of the [`MemberList`] that the item is in, or that of one that is gone, or zero.
pub struct Membership(Atomic<u64>);

impl Membership {
    /// In none.
    pub const fn new() -> Self {
        Self(Atomic::new(0))
    }
}

impl Default for Membership {
    fn default() -> Self {
        Self::new()
    }
}

/// What can be in a [`MemberList`]. Implemented by [`impl_member!`](crate::impl_member).
///
/// # Safety
///
/// [`membership`](Self::membership) returns a part of the item, always the same one.
pub unsafe trait Member: ListItem<0> {
    /// In which list it is.
    fn membership(&self) -> &Membership;
}

/// Makes a type with a field of type [`Membership`] a [`Member`].
#[macro_export]
macro_rules! impl_member {
    (impl$({$($generics:tt)*})? Member for $t:ty { self.$field:ident }) => {
        // SAFETY: It is that field.
        unsafe impl$(<$($generics)*>)? $crate::list::Member for $t {
            fn membership(&self) -> &$crate::list::Membership {
                &self.$field
            }
        }
    };
}

/// Numbers are never used twice.
static NEXT: Atomic<u64> = Atomic::new(1);

/// A list of items that know that they are in it.
///
/// # Invariants
///
/// While this list is there, its items are those whose [`Membership`] has the number `id`; no other
/// list has that.
pub struct MemberList<T: Member> {
    id: u64,
    list: List<T>,
}

impl<T: Member> MemberList<T> {
    /// An empty list.
    pub fn new() -> Self {
        // INVARIANT: Nothing has this number yet.
        Self {
            id: NEXT.fetch_add(1, ordering::Relaxed),
            list: List::new(),
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds an item at the end.
    pub fn push_back(&mut self, item: ListArc<T>) {
        // INVARIANT: It goes into this list. Whoever has the `ListArc` knows that it is in none.
        item.membership().0.store(self.id, ordering::Relaxed);
        self.list.push_back(item);
    }

    /// Takes the first item off.
    pub fn pop_front(&mut self) -> Option<ListArc<T>> {
        let item = self.list.pop_front()?;
        // INVARIANT: It is in no list.
        item.membership().0.store(0, ordering::Relaxed);
        Some(item)
    }

    /// Takes an item out, wherever in the list it is. `None` if it is not in this list.
    pub fn remove(&mut self, item: &T) -> Option<ListArc<T>> {
        // Only who has this list can make the number this one's, or another one of this one's.
        if item.membership().0.load(ordering::Relaxed) != self.id {
            return None;
        }
        // SAFETY: By the invariant it is in this list, and so in no other one.
        let item = unsafe { self.list.remove(item) }?;
        // INVARIANT: It is in no list.
        item.membership().0.store(0, ordering::Relaxed);
        Some(item)
    }
}

impl<T: Member> Default for MemberList<T> {
    fn default() -> Self {
        Self::new()
    }
}
