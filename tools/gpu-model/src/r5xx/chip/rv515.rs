// SPDX-License-Identifier: GPL-2.0 OR MIT
//! RV515: the small one, with a register layout of its own in the memory controller.

use super::{Chip, McLayout};

pub(super) const CHIP: Chip = Chip {
    name: "rv515",
    device_id: 0x7140,
    revision: 0,
    mc: McLayout {
        fb_location: 0x01,
        agp: [0x02, 0x03, 0x04],
        status: (0x08, 1 << 4),
        // 1:0 = 1: 128 bits wide.
        control: (0x05, 1),
    },
    // One pipe.
    pipe_select: 0x0000_0100,
    z_pipes: 0,
};
