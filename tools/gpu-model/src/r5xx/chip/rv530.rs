// SPDX-License-Identifier: GPL-2.0 OR MIT
//! RV530: one pipe with two Z pipes behind it, which it alone has, and R520's layout.

use super::r520::MC;
use super::Chip;

pub(super) const CHIP: Chip = Chip {
    name: "rv530",
    device_id: 0x71c0,
    revision: 0,
    mc: MC,
    pipe_select: 0x0000_0100,
    z_pipes: 2,
};
