// SPDX-License-Identifier: GPL-2.0 OR MIT
//! R520: the first of the family; the other large chips share its memory controller's layout.

use super::{Chip, McLayout};

pub(super) const MC: McLayout = McLayout {
    fb_location: 0x04,
    agp: [0x05, 0x06, 0x07],
    status: (0x00, 1 << 1),
    // 25:24 = 3: 256 bits wide.
    control: (0x08, 3 << 24),
};

pub(super) const CHIP: Chip = Chip {
    name: "r520",
    device_id: 0x7100,
    revision: 0,
    mc: MC,
    // Four pipes.
    pipe_select: 0x0000_3f00,
    z_pipes: 0,
};
