// SPDX-License-Identifier: GPL-2.0 OR MIT
//! R580: R520's layout, four pipes as well.

use super::r520::MC;
use super::Chip;

pub(super) const CHIP: Chip = Chip {
    name: "r580",
    device_id: 0x7240,
    revision: 0,
    mc: MC,
    pipe_select: 0x0000_3f00,
    z_pipes: 0,
};
