// SPDX-License-Identifier: GPL-2.0
//! Gen12.5, DG2: its commands by engine, and the names of registers.
//!
//! DG2 PRM Vol 8 names the commands of the memory interface, and says which engines take them; it has no
//! bit layouts. These are from the digest of it, §2, which has them from the upstream driver and Mesa.

pub(crate) mod blt;
pub(crate) mod mi;
pub(crate) mod registers;
pub(crate) mod render;

use crate::command::{Command, Engine, Generation, Length};
use crate::draws;
use crate::names::Era;

/// Gen12.5.
pub static GENERATION: Generation = Generation {
    name: "gen12",
    commands,
    unknown,
    register: registers::name,
    fields: |_| &[],
    padding: |header| (header == 0).then_some("MI_NOOP"),
    tells_header: true,
    era: Some(Era::Gen125),
};

fn commands(engine: Engine) -> &'static [&'static [Command]] {
    match engine {
        Engine::Render => &[
            mi::COMMANDS,
            mi::EVENTS,
            mi::RENDER,
            draws::GEN8,
            render::COMMANDS,
        ],
        Engine::Compute => &[mi::COMMANDS, mi::RENDER, mi::FLUSHING, render::COMMANDS],
        Engine::Blitter => &[mi::COMMANDS, mi::EVENTS, mi::FLUSHING, blt::COMMANDS],
        Engine::Video | Engine::Enhance => &[mi::COMMANDS, mi::FLUSHING],
    }
}

/// Lengths by client alone: MI below 10h has one dword, all others count in their header (digest §2,
/// common rules). Those of media and 3D are as on older chips.
fn unknown(engine: Engine, header: u32) -> (Length, &'static str) {
    match (header >> 29, engine) {
        (0, _) if header >> 23 < 0x10 => (Length::One, "unknown MI command"),
        (0, _) => (Length::Upto(7), "unknown MI command"),
        (2, _) => (Length::Upto(7), "unknown 2D command"),
        (3, Engine::Video | Engine::Enhance) => (Length::Upto(11), "unknown video command"),
        (3, _) if header >> 27 & 3 == 2 => (Length::Upto(15), "unknown media command"),
        (3, _) => (Length::Upto(7), "unknown 3D command"),
        _ => (Length::One, "no command"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Walk;

    fn found(engine: Engine, header: u32) -> (&'static str, usize) {
        match GENERATION.find(engine, header) {
            Some(c) => (c.name, c.length.of(header)),
            None => {
                let (length, name) = unknown(engine, header);
                (name, length.of(header))
            }
        }
    }

    /// Headers that the digest gives as they are: §2.1, §2.2, §2.3.
    #[test]
    fn headers_have_names_and_lengths() {
        use Engine::{Blitter, Compute, Enhance, Render, Video};
        for (engine, header, name, length) in [
            (Render, 0x0000_0000, "MI_NOOP", 1),
            (Video, 0x0080_0000, "MI_SET_PREDICATE", 1),
            (Blitter, 0x0100_0000, "MI_USER_INTERRUPT", 1),
            (Render, 0x0180_0000, "MI_WAIT_FOR_EVENT", 1),
            (Compute, 0x0280_0101, "MI_ARB_CHECK", 1),
            (Blitter, 0x0400_0001, "MI_ARB_ON_OFF", 1),
            (Render, 0x0500_8000, "MI_BATCH_BUFFER_END", 1),
            (Compute, 0x0600_0000, "MI_PREDICATE", 1),
            (Render, 0x0c00_0000, "MI_SET_CONTEXT", 2),
            (Enhance, 0x0d00_0003, "MI_MATH", 5),
            (Render, 0x0d80_0000, "MI_SEMAPHORE_SIGNAL", 2),
            (Render, 0x0e00_0002, "MI_SEMAPHORE_WAIT", 4),
            (Blitter, 0x0e00_0003, "MI_SEMAPHORE_WAIT", 5),
            (Video, 0x0e80_0000, "MI_FORCE_WAKEUP", 2),
            (Render, 0x1000_0002, "MI_STORE_DATA_IMM", 4),
            (Render, 0x1020_0003, "MI_STORE_DATA_IMM", 5),
            (Blitter, 0x1020_03ff, "MI_STORE_DATA_IMM", 1025),
            (Video, 0x1080_0001, "MI_STORE_DATA_INDEX", 3),
            (Render, 0x1108_101d, "MI_LOAD_REGISTER_IMM", 31),
            (Render, 0x1108_106d, "MI_LOAD_REGISTER_IMM", 111),
            (Render, 0x1180_0002, "MI_UPDATE_GTT", 4),
            (Render, 0x1200_0002, "MI_STORE_REGISTER_MEM", 4),
            (Blitter, 0x1300_0003, "MI_FLUSH_DW", 5),
            (Render, 0x1400_0002, "MI_REPORT_PERF_COUNT", 4),
            (Render, 0x1480_0002, "MI_LOAD_REGISTER_MEM", 4),
            (Render, 0x1500_0001, "MI_LOAD_REGISTER_REG", 3),
            (Render, 0x1700_0003, "MI_COPY_MEM_MEM", 5),
            (Render, 0x1784_0009, "MI_ATOMIC", 11),
            (Blitter, 0x1880_0101, "MI_BATCH_BUFFER_START", 3),
            (Render, 0x7a00_0004, "PIPE_CONTROL", 6),
            (Compute, 0x7a00_0004, "PIPE_CONTROL", 6),
            (Compute, 0x7208_0025, "COMPUTE_WALKER", 39),
            (Render, 0x7852_0004, "3DSTATE_WM_HZ_OP", 6),
            (Render, 0x7877_0003, "3DSTATE_MESH_CONTROL", 5),
            (Compute, 0x7200_0004, "CFE_STATE", 6),
            (Blitter, 0x5080_0008, "XY_FAST_COPY_BLT", 10),
            (Blitter, 0x5100_000e, "XY_FAST_COLOR_BLT", 16),
            (Blitter, 0x5040_0014, "XY_BLOCK_COPY_BLT", 22),
            (Blitter, 0x5200_0003, "XY_CTRL_SURF_COPY_BLT", 5),
            // A command of another engine, or of none.
            (Render, 0x1300_0003, "unknown MI command", 5),
            (Video, 0x0600_0000, "unknown MI command", 1),
            (Render, 0x5080_0008, "unknown 2D command", 10),
            (Blitter, 0x7a00_0004, "unknown 3D command", 6),
            (Video, 0x7100_0802, "unknown video command", 0x804),
            (Render, 0xffff_ffff, "no command", 1),
        ] {
            assert_eq!(found(engine, header), (name, length), "{header:#010x}");
        }
    }

    /// Bit 22 of the header: the batch comes back (digest §2.1 row 34).
    #[test]
    fn batches_are_left_or_come_back() {
        let dwords = [
            0x18c0_0101,
            0x1008,
            0x7f00,
            0x1880_0101,
            0x2000,
            0,
            0x0500_0000,
        ];
        let walk = Walk::new(&GENERATION, Engine::Blitter, &dwords, 0, usize::MAX);
        let seen: Vec<_> = walk.map(|i| (i.at, i.batch(), i.leaves())).collect();
        assert_eq!(
            seen,
            [
                (0, Some(0x7f00_0000_1008), false),
                (3, Some(0x2000), true),
                (6, None, true),
            ]
        );
    }

    #[test]
    fn no_command_hides_another() {
        for engine in Engine::ALL {
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
