// SPDX-License-Identifier: GPL-2.0

//! Lists from whose middle members can be removed, in constant time.
//!
//! The kernel crate's [`List`] needs a promise of the caller that the item is in this list and in
//! no other one. Here each item stores which list it is in, so that this can be checked.

use kernel::{
    list::{List, ListArc, ListItem},
    sync::{
        atomic::{ordering, Atomic},
        ArcBorrow,
    },
};

/// The list that an item is in.
///
/// # Invariants
///
/// It is the number of the [`MemberList`] that the item is in, or that of one that is gone, or
/// zero.
pub struct Membership(Atomic<u64>);

impl Membership {
    /// Creates the membership of an item that is in no list.
    pub const fn new() -> Self {
        Self(Atomic::new(0))
    }
}

impl Default for Membership {
    fn default() -> Self {
        Self::new()
    }
}

/// An item of a [`MemberList`]. Implemented by [`impl_member!`](crate::impl_member).
///
/// # Safety
///
/// [`membership`](Self::membership) must return a field of the item, always the same one.
pub unsafe trait Member: ListItem<0> {
    /// Returns the list that it is in.
    fn membership(&self) -> &Membership;
}

/// Implements [`Member`] for a type with a field of type [`Membership`].
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

/// Numbers are never reused.
static NEXT: Atomic<u64> = Atomic::new(1);

/// A list of items that store their membership.
///
/// # Invariants
///
/// While this list exists, its items are those whose [`Membership`] has the number `id`; no other
/// list has that number.
pub struct MemberList<T: Member> {
    id: u64,
    list: List<T>,
}

impl<T: Member> MemberList<T> {
    /// Creates an empty list.
    pub fn new() -> Self {
        // INVARIANT: Nothing has this number yet.
        Self {
            id: NEXT.fetch_add(1, ordering::Relaxed),
            list: List::new(),
        }
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the items, from the first to the last.
    pub fn iter(&self) -> impl Iterator<Item = ArcBorrow<'_, T>> {
        self.list.iter()
    }

    /// Appends an item.
    pub fn push_back(&mut self, item: ListArc<T>) {
        // INVARIANT: It goes into this list. The `ListArc` proves that it is in none.
        item.membership().0.store(self.id, ordering::Relaxed);
        self.list.push_back(item);
    }

    /// Removes the first item.
    pub fn pop_front(&mut self) -> Option<ListArc<T>> {
        let item = self.list.pop_front()?;
        // INVARIANT: It is in no list.
        item.membership().0.store(0, ordering::Relaxed);
        Some(item)
    }

    /// Removes an item from any position. `None` if it is not in this list.
    pub fn remove(&mut self, item: &T) -> Option<ListArc<T>> {
        // Only the holder of this list can set or clear its number in an item.
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
