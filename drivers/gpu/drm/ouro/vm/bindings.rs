// SPDX-License-Identifier: GPL-2.0

//! All bindings of a BO: one in each address space that has used it.

use kernel::{alloc::flags::GFP_KERNEL_ACCOUNT, prelude::*, sync::Arc};

use super::{allocator::RangeOwner, Binding, Space};

/// The bindings, each in another space. Mostly there is one.
pub(crate) struct Bindings<T: RangeOwner>(KVec<Binding<T>>);

impl<T: RangeOwner> Bindings<T> {
    /// Creates an empty list.
    pub(crate) const fn new() -> Self {
        Self(KVec::new())
    }

    /// Returns whether there is no binding.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the binding in a space.
    pub(crate) fn get(&self, space: &Arc<Space<T>>) -> Option<&Binding<T>> {
        self.0.iter().find(|b| b.is_in(space))
    }

    /// Makes sure that [`add`](Self::add) needs no memory. Errors: `ENOMEM`.
    pub(crate) fn make_room(&mut self) -> Result {
        Ok(self.0.reserve(1, GFP_KERNEL_ACCOUNT)?)
    }

    /// Adds a binding in a space that has none. Errors: `ENOMEM`.
    pub(crate) fn add(&mut self, binding: Binding<T>) -> Result {
        Ok(self.0.push(binding, GFP_KERNEL_ACCOUNT)?)
    }

    /// Ends the binding in a space.
    pub(crate) fn remove(&mut self, space: &Arc<Space<T>>) {
        self.0.retain(|b| !b.is_in(space));
    }

    /// Ends all bindings.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Ends all bindings, as [`Mapping::try_end`](super::Mapping::try_end). Returns false if some
    /// remain.
    pub(crate) fn try_end(&mut self) -> bool {
        while let Some(last) = self.0.last_mut() {
            if !last.try_end() {
                return false;
            }
            self.0.pop();
        }
        true
    }
}

impl<T: RangeOwner> Default for Bindings<T> {
    fn default() -> Self {
        Self::new()
    }
}
