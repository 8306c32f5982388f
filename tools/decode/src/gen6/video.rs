// SPDX-License-Identifier: GPL-2.0
//! Commands of the video engine of Gen6: client 3. No document at hand describes the codec's; they
//! are passed over by their length (digest of the upstream parser: bits 11:0, or 15:0 for opcode 6).

use crate::command::{Command, Flow, Length, Tail};

const fn mfx(name: &'static str, mask: u32, header: u32, length: Length) -> Command {
    Command {
        name,
        mask,
        header,
        length,
        fields: [&[], &[], &[]],
        tail: Tail::Nothing,
        flow: Flow::On,
    }
}

/// All of them.
pub const COMMANDS: &[Command] = &[
    mfx("MFX_WAIT", 0xffff_0000, 0x6800_0000, Length::One),
    mfx("MFX", 0xff00_0000, 0x7600_0000, Length::Upto(15)),
    mfx("MFX", 0xf800_0000, 0x7000_0000, Length::Upto(11)),
];
