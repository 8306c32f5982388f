// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The three display pipes: register offsets, as in the upstream driver.

use crate::intel::processor::display::{Pipe, Pipes, VGA};

const fn pipe(n: u32) -> Pipe {
    /// Bytes between the registers of two pipes.
    const STEP: u32 = 0x1000;
    let at = n.wrapping_mul(STEP);
    Pipe {
        source: 0x6_001c + at,
        config: 0x7_0008 + at,
        cursor: 0x7_0080 + at,
        primary: 0x7_0180 + at,
        sprite: 0x7_0280 + at,
    }
}

/// The display pipes. The VGA plane is on the first one.
pub(super) static PIPES: Pipes = Pipes {
    pipes: &[pipe(0), pipe(1), pipe(2)],
    choice: 0,
    vga: VGA,
    vga_second: 0,
};

#[cfg(test)]
mod tests;
