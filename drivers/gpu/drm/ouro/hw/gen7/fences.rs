// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The fence registers (V-03).

use crate::intel::fences::{from_gen6, Fences};

/// 32 fences at 0x10_0000, with strides up to 256 KiB.
pub(super) static FENCES: Fences = Fences {
    at: 0x10_0000,
    count: 32,
    max_stride: 256 * 1024,
    fields: from_gen6,
};

#[cfg(test)]
mod tests;
