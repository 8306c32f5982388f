// SPDX-License-Identifier: GPL-2.0
//! Objects of the radeon interface.

mod bo;

pub use bo::{Bo, Domain};
