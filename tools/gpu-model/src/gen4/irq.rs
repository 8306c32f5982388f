// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The interrupt registers 0x20a0 to 0x20ac (5.4 to 5.6; G-13, G-14): one block for all of the chip.
//!
//! An identity bit is set by the edge of its status, most by the rising one and those of flips by the falling one
//! (5.4.4). A second edge meanwhile is kept and shows when the first has been cleared (G-14). The line is a level.

use super::bits;
use crate::ring::core::Core;
use crate::ring::lint::Rule;

/// A register of the block was written.
pub(crate) fn written(core: &mut Core, offset: u32, old: u32, new: u32) {
    let block = &core.cfg.chip.irq;
    if offset == block.identity {
        core.watch_clear(offset, old & !new);
        core.events_cleared(old & !new);
        return;
    }
    // 5.4.3: "the corresponding interrupt should not be enabled in the IER".
    if offset == block.enable && new & bits::SYNC_STATUS != 0 {
        core.lint(Rule::SyncStatusEnabled, || format!("{new:#x}"));
    }
    core.update_line();
}

/// Leaves interrupts pending and enabled as on a machine in use (habit `pending`): IER of a GM45 (GW02), and a vertical
/// blank.
pub(crate) fn left_pending(core: &mut Core) {
    let block = &core.cfg.chip.irq;
    core.set(block.enable, 0x0202_8c53);
    core.set(block.mask, !0x0202_8c53);
    core.set(block.identity, bits::EVENT_A | bits::EVENT_B);
}
