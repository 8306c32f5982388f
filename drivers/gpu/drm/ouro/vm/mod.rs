// SPDX-License-Identifier: GPL-2.0

//! Address spaces: allocation of addresses, and page tables.

pub(crate) mod allocator;
mod binding;
mod bindings;
mod directory;
mod entries;
mod global;
mod levels;
mod place;
pub(crate) mod space;
mod store;

pub(crate) use binding::Binding;
pub(crate) use bindings::Bindings;
pub(crate) use place::Place;
pub(crate) use space::{Mapping, Owner, PteAttributes, Space};
pub(crate) use store::{TableShare, TableStore, Whose};
