// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The size of a context image. Video engine and blitter have no images (V-16).

use super::regs::{ContextSize, CXT_SIZE};
use crate::intel::processor::context::Size;

/// The sum of the extended and vertex fetch parts, as in the upstream driver.
pub(super) const SIZE: Size = Size {
    register: CXT_SIZE,
    lines: |sizes| {
        let size = ContextSize::from_bits(sizes);
        u32::from(size.extended()) + u32::from(size.vertex())
    },
};

#[cfg(test)]
mod tests;
