// SPDX-License-Identifier: GPL-2.0
//! Commands of DG2's blitter, and how rows of its surfaces lie.

pub mod blt;
mod layout;

pub use layout::Layout;
