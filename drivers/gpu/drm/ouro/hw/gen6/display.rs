// SPDX-License-Identifier: GPL-2.0
//! Where the registers of the display's two pipes are: as the upstream driver has them.

use crate::intel::processor::display::{Pipe, Pipes, VGA};

/// The pipes.
pub(crate) static PIPES: Pipes = Pipes {
    pipes: &[
        Pipe {
            source: 0x6_001c,
            config: 0x7_0008,
            cursor: 0x7_0080,
            primary: 0x7_0180,
            sprite: 0x7_2180,
        },
        Pipe {
            source: 0x6_101c,
            config: 0x7_1008,
            cursor: 0x7_00c0,
            primary: 0x7_1180,
            sprite: 0x7_3180,
        },
    ],
    choice: 0,
    vga: VGA,
    vga_second: 1 << 29,
};
