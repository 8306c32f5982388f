// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The description of this generation as a machine with a ring per engine, and its forcewake
//! methods.
//!
//! Multi-threaded forcewake has a request bit for each of several users. The firmware may have left
//! it disabled; a register tells (V-04). That one is in the power well, and reads 0 while the
//! device sleeps. So the first wake tries this method, and uses that of Gen6 if the register says
//! so.

use super::{
    engine::RINGS,
    names,
    regs::{self, ECOBUS, ECOBUS_MT},
    translation,
};
use crate::{
    intel::{
        processor,
        ring::{forcewake::Method, RingChip},
    },
    io::Hw,
    poll::Named,
    report::FaultKind,
};

/// Returns whether multi-threaded forcewake is enabled. The device is awake; if not, the register
/// reads 0.
fn has_mt_forcewake(hw: &Hw<'_>) -> bool {
    hw.regs.read32(ECOBUS) & ECOBUS_MT != 0
}

/// Returns the forcewake method: its position in [`CHIP`], from 1 on. The device is awake.
pub(super) fn method(hw: &Hw<'_>) -> u8 {
    if has_mt_forcewake(hw) {
        1
    } else {
        2
    }
}

/// The description of the chip.
pub(super) static CHIP: RingChip = processor::chip(processor::Chip {
    engines: &RINGS,
    methods: &[
        Method {
            request: regs::FORCEWAKE_MT,
            on: regs::FORCEWAKE_ON,
            answer: Named {
                offset: regs::FORCEWAKE_MT_ACK,
                name: "FORCEWAKE_MT_ACK",
            },
            works: has_mt_forcewake,
        },
        processor::LEGACY_WAKE,
    ],
    translation_names: names::TRANSLATION,
    // V-17: 0 page, 1 directory entry not valid, 2 not loaded, 3 both.
    fault_kinds: [
        FaultKind::InvalidEntry,
        FaultKind::InvalidDirectory,
        FaultKind::NoDirectory,
        FaultKind::NoDirectory,
    ],
    load_directory: translation::load_directory,
});

#[cfg(test)]
mod tests;
