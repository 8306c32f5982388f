// SPDX-License-Identifier: GPL-2.0

//! Buffer objects (BOs): their memory, CPU mappings, and GPU bindings.

pub(crate) mod access;
pub(crate) mod backing;
pub(crate) mod bind;
mod blocks;
pub(crate) mod bo;
mod bo_device;
mod bytes;
pub(crate) mod caches;
pub(crate) mod contents;
mod early;
pub(crate) mod image;
pub(crate) mod migrate;
pub(crate) mod notes;
mod ops;
pub(crate) mod pinning;
pub(crate) mod region;
mod resident;
pub(crate) mod root;
pub(crate) mod shrink;
pub(crate) mod userptr;
pub(crate) mod view;

pub(crate) use backing::Backing;
pub(crate) use bo::{Bo, Object};
pub(crate) use bo_device::{BoDevice, Mover, Runner, State};
pub(crate) use resident::{Binding, Bindings, Mapping, Owner, Resident, Space, Victim};
