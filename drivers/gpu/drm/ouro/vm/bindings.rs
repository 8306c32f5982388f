// SPDX-License-Identifier: GPL-2.0

//! All places where the GPU sees an object: one in each address space that has used it.

use kernel::{prelude::*, sync::Arc};

use super::{population::Tenant, Binding, Space};

/// The places, each in another space. Mostly there is one.
pub(crate) struct Bindings<T: Tenant>(KVec<Binding<T>>);

impl<T: Tenant> Bindings<T> {
    /// None.
    pub(crate) const fn new() -> Self {
        Self(KVec::new())
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one in a space.
    pub(crate) fn get(&self, space: &Arc<Space<T>>) -> Option<&Binding<T>> {
        self.0.iter().find(|b| b.is_in(space))
    }

    /// Makes sure that [`add`](Self::add) needs no memory. Errors: `ENOMEM`.
    pub(crate) fn make_room(&mut self) -> Result {
        Ok(self.0.reserve(1, GFP_KERNEL)?)
    }

    /// One in a space where there is none.
    pub(crate) fn add(&mut self, binding: Binding<T>) -> Result {
        Ok(self.0.push(binding, GFP_KERNEL)?)
    }

    /// Ends the one in a space.
    pub(crate) fn remove(&mut self, space: &Arc<Space<T>>) {
        self.0.retain(|b| !b.is_in(space));
    }

    /// Ends all.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Ends all, as [`Mapping::try_end`](super::Mapping::try_end). False: some are still there.
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

impl<T: Tenant> Default for Bindings<T> {
    fn default() -> Self {
        Self::new()
    }
}
