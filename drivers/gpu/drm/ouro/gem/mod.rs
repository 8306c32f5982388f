// SPDX-License-Identifier: GPL-2.0

//! Buffer objects: their memory, how the CPU sees it, where the GPU does.

pub(crate) mod access;
pub(crate) mod backing;
pub(crate) mod bind;
mod blocks;
pub(crate) mod bo;
mod bytes;
pub(crate) mod contents;
pub(crate) mod leave;
pub(crate) mod migrate;
pub(crate) mod notes;
mod ops;
pub(crate) mod region;
pub(crate) mod shrink;
pub(crate) mod userptr;
pub(crate) mod view;

pub(crate) use backing::Backing;
pub(crate) use bo::{Bo, Object};
