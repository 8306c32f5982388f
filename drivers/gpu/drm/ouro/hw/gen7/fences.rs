// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The fence registers (V-03).

use crate::intel::fences::Fences;

/// 32 fences, with strides up to 256 KiB.
pub(super) static FENCES: Fences = Fences::from_gen6(32, 256 * 1024);

#[cfg(test)]
mod tests;
