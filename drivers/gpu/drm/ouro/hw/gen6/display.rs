// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The two display pipes.

use crate::intel::processor::display::{Pipes, TWO_PIPES, VGA, VGA_SECOND};

/// The display pipes.
pub(crate) static PIPES: Pipes = Pipes {
    pipes: TWO_PIPES,
    choice: 0,
    vga: VGA,
    vga_second: VGA_SECOND,
};
