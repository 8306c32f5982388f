// SPDX-License-Identifier: GPL-2.0
//! Gen6, Sandy Bridge: its commands by engine, and the names of registers.
//!
//! Headers: bits 31:29 are the client (0 MI, 2 blitter, 3 render and media). Behaviour is in SNB PRM
//! V1P2 §5.3; that volume has no bit layouts, so these are from the G45 PRM Vol 1b chapters 1 and 8
//! and the IVB PRM Vol 1 Part 3 where they are the same, and from the upstream driver's headers.

pub(crate) mod blt;
pub(crate) mod mi;
pub(crate) mod registers;
pub(crate) mod render;
pub(crate) mod video;

use crate::command::{Command, Engine, Generation, Length};
use crate::draws;
use crate::names::Era;
use std::borrow::Cow;

/// Gen6.
pub static GENERATION: Generation = Generation {
    name: "gen6",
    commands,
    unknown,
    register: |offset| registers::name(offset).map(Cow::Borrowed),
    fields: |_| &[],
    padding: |header| (header == 0).then_some("MI_NOOP"),
    tells_header: true,
    era: Some(Era::Gen6),
};

fn commands(engine: Engine) -> &'static [&'static [Command]] {
    match engine {
        Engine::Render => &[
            mi::ALWAYS,
            mi::COMMON,
            mi::OWN,
            mi::RENDER,
            draws::GEN6,
            render::COMMON,
            render::OWN,
        ],
        Engine::Video => &[
            mi::ALWAYS,
            mi::COMMON,
            mi::OWN,
            &[mi::FLUSH_DW],
            video::COMMANDS,
        ],
        Engine::Blitter => &[
            mi::ALWAYS,
            mi::COMMON,
            mi::OWN,
            &[mi::FLUSH_DW],
            blt::COMMANDS,
        ],
        // There are none of these.
        Engine::Enhance | Engine::Compute => &[mi::ALWAYS, mi::COMMON, mi::OWN],
    }
}

/// Lengths by client alone: MI below 10h has one dword, all others count in their header.
pub(crate) fn unknown(engine: Engine, header: u32) -> (Length, &'static str) {
    match (header >> 29, engine) {
        (0, _) if header >> 23 < 0x10 => (Length::One, "unknown MI command"),
        (0, _) => (Length::Upto(5), "unknown MI command"),
        (2, _) => (Length::Upto(7), "unknown 2D command"),
        (3, Engine::Video) => (Length::Upto(11), "unknown video command"),
        (3, _) if header >> 27 & 3 == 2 => (Length::Upto(15), "unknown media command"),
        (3, _) => (Length::Upto(7), "unknown 3D command"),
        _ => (Length::One, "no command"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(engine: Engine, header: u32) -> (&'static str, usize) {
        match GENERATION.find(engine, header) {
            Some(c) => (c.name, c.length.of(header)),
            None => {
                let (length, name) = unknown(engine, header);
                (name, length.of(header))
            }
        }
    }

    #[test]
    fn headers_have_names_and_lengths() {
        use Engine::{Blitter, Render, Video};
        for (engine, header, name, length) in [
            (Render, 0x0000_0000, "MI_NOOP", 1),
            (Render, 0x0100_0000, "MI_USER_INTERRUPT", 1),
            (Render, 0x0180_0001, "MI_WAIT_FOR_EVENT", 1),
            (Render, 0x0200_0000, "MI_FLUSH", 1),
            (Render, 0x0500_0000, "MI_BATCH_BUFFER_END", 1),
            (Render, 0x0b14_0001, "MI_SEMAPHORE_MBOX", 3),
            (Render, 0x0c00_0000, "MI_SET_CONTEXT", 2),
            (Render, 0x1040_0002, "MI_STORE_DATA_IMM", 4),
            (Blitter, 0x1040_0003, "MI_STORE_DATA_IMM", 5),
            (Video, 0x1080_0001, "MI_STORE_DATA_INDEX", 3),
            (Render, 0x1100_0003, "MI_LOAD_REGISTER_IMM", 5),
            (Render, 0x1240_0001, "MI_STORE_REGISTER_MEM", 3),
            (Blitter, 0x1320_4001, "MI_FLUSH_DW", 3),
            (Video, 0x1300_0002, "MI_FLUSH_DW", 4),
            (Render, 0x1880_0100, "MI_BATCH_BUFFER_START", 2),
            (Render, 0x7a00_0003, "PIPE_CONTROL", 5),
            (Render, 0x6904_0000, "PIPELINE_SELECT", 1),
            (Render, 0x6101_0008, "STATE_BASE_ADDRESS", 10),
            (Render, 0x7b00_0004, "3DPRIMITIVE", 6),
            (Render, 0x7000_0006, "MEDIA_VFE_STATE", 8),
            (Blitter, 0x5030_0003, "COLOR_BLT", 5),
            (Blitter, 0x50f0_0004, "SRC_COPY_BLT", 6),
            (Blitter, 0x5430_0004, "XY_COLOR_BLT", 6),
            (Blitter, 0x54f0_0006, "XY_SRC_COPY_BLT", 8),
            (Blitter, 0x4900_0000, "XY_PIXEL_BLT", 2),
            (Video, 0x6800_0000, "MFX_WAIT", 1),
            (Video, 0x7000_0002, "MFX", 4),
            (Video, 0x7600_1000, "MFX", 0x1002),
            // A command of another engine, or of none.
            (Render, 0x1300_0002, "unknown MI command", 4),
            (Render, 0x54f0_0006, "unknown 2D command", 8),
            (Blitter, 0x7a00_0003, "unknown 3D command", 5),
            (Render, 0x7fff_0004, "unknown 3D command", 6),
            (Render, 0x0700_0000, "unknown MI command", 1),
            (Render, 0xffff_ffff, "no command", 1),
            (Blitter, 0x2000_0000, "no command", 1),
        ] {
            assert_eq!(found(engine, header), (name, length), "{header:#010x}");
        }
    }

    #[test]
    fn no_command_hides_another() {
        for engine in [Engine::Render, Engine::Video, Engine::Blitter] {
            for c in commands(engine).iter().copied().flatten() {
                assert_eq!(c.header & !c.mask, 0, "{}", c.name);
                let first = GENERATION.find(engine, c.header).map(|f| f.name);
                assert_eq!(first, Some(c.name), "{:#010x}", c.header);
                for f in c.fields() {
                    assert!(f.low <= f.high && f.high < 32, "{} {}", c.name, f.name);
                }
            }
        }
    }
}
