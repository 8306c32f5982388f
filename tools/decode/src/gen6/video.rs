// SPDX-License-Identifier: GPL-2.0
//! Commands of the video engine of Gen6: client 3. No document at hand describes the codec's; they
//! are passed over by their length (digest of the upstream parser: bits 11:0, or 15:0 for opcode 6).

use crate::command::{Command, Length};

/// All of them.
pub const COMMANDS: &[Command] = &[
    Command::new("MFX_WAIT", 0xffff_0000, 0x6800_0000, Length::One),
    Command::new("MFX", 0xff00_0000, 0x7600_0000, Length::Upto(15)),
    Command::new("MFX", 0xf800_0000, 0x7000_0000, Length::Upto(11)),
];
