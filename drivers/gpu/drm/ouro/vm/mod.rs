// SPDX-License-Identifier: GPL-2.0

//! Address spaces: who is where, and the tables that say so to the GPU.

pub(crate) mod aperture;
mod binding;
mod entries;
mod fences;
pub(crate) mod population;
pub(crate) mod space;
mod surfaces;

pub(crate) use aperture::{Aperture, Tiled};
pub(crate) use binding::Binding;
pub(crate) use space::{Mapping, Owner, Place, Space};
pub(crate) use surfaces::Surfaces;
