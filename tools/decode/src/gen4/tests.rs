// SPDX-License-Identifier: GPL-2.0
//! Commands of Gen4 by literal headers, and streams as a real GM45 was given them (digest of witnesses, GW31 to GW55;
//! operands are this test's own).

use super::{commands, registers, GENERATION};
use crate::command::Engine;
use crate::stream::Walk;

fn found(engine: Engine, header: u32) -> (&'static str, usize) {
    match GENERATION.find(engine, header) {
        Some(c) => (c.name, c.length.of(header)),
        None => {
            let (length, name) = (GENERATION.unknown)(engine, header);
            (name, length.of(header))
        }
    }
}

#[test]
fn headers_have_names_and_lengths() {
    use Engine::{Render, Video};
    for (engine, header, name, length) in [
        (Render, 0x0040_0001, "MI_NOOP", 1),
        (Render, 0x0100_0000, "MI_USER_INTERRUPT", 1),
        (Render, 0x0180_0200, "MI_WAIT_FOR_EVENT", 1),
        (Render, 0x0200_0026, "MI_FLUSH", 1),
        (Video, 0x0200_0000, "MI_FLUSH", 1),
        (Render, 0x0280_0000, "MI_ARB_CHECK", 1),
        (Render, 0x0300_0005, "MI_UNPROBE", 1),
        (Video, 0x0300_0005, "unknown MI command", 1),
        (Render, 0x0380_0000, "MI_REPORT_HEAD", 1),
        (Render, 0x0400_0001, "MI_ARB_ON_OFF", 1),
        (Render, 0x0500_0000, "MI_BATCH_BUFFER_END", 1),
        (Render, 0x0880_0000, "MI_OVERLAY_FLIP", 2),
        (Render, 0x0900_0000, "MI_LOAD_SCAN_LINES_INCL", 2),
        (Render, 0x0980_0000, "MI_LOAD_SCAN_LINES_EXCL", 2),
        (Render, 0x0a10_0002, "MI_DISPLAY_FLIP", 4),
        (Render, 0x0c00_0000, "MI_SET_CONTEXT", 2),
        (Render, 0x1040_0002, "MI_STORE_DATA_IMM", 4),
        (Video, 0x1040_0003, "MI_STORE_DATA_IMM", 5),
        (Render, 0x1080_0001, "MI_STORE_DATA_INDEX", 3),
        (Render, 0x1100_0001, "MI_LOAD_REGISTER_IMM", 3),
        (Render, 0x1180_0001, "MI_UPDATE_GTT", 3),
        (Render, 0x1200_0001, "MI_STORE_REGISTER_MEM", 3),
        (Render, 0x1280_0041, "MI_PROBE", 67),
        (Render, 0x1880_0180, "MI_BATCH_BUFFER_START", 2),
        // Nobody has these.
        (Render, 0x1300_0001, "unknown MI command", 3),
        (Render, 0x0b00_0001, "unknown MI command", 3),
        // The blitter's commands ride the render ring (G45 PRM Vol 1b 3, 8).
        (Render, 0x5030_0003, "COLOR_BLT", 5),
        (Render, 0x54f0_0006, "XY_SRC_COPY_BLT", 8),
        // GW45 to GW54.
        (Render, 0x6904_0000, "PIPELINE_SELECT", 1),
        (Render, 0x6104_0000, "PIPELINE_SELECT", 1),
        (Render, 0x680b_0000, "3DSTATE_VF_STATISTICS", 1),
        (Render, 0x7909_0000, "3DSTATE_GLOBAL_DEPTH_OFFSET_CLAMP", 2),
        (Render, 0x6102_0000, "STATE_SIP", 2),
        (Render, 0x6001_0000, "CS_URB_STATE", 2),
        (Render, 0x6101_0004, "STATE_BASE_ADDRESS", 6),
        (Render, 0x7801_0004, "3DSTATE_BINDING_TABLE_POINTERS", 6),
        (Render, 0x7800_0005, "3DSTATE_PIPELINED_POINTERS", 7),
        (Render, 0x6000_3f01, "URB_FENCE", 3),
        (Render, 0x7901_0003, "3DSTATE_CONSTANT_COLOR", 5),
        (Render, 0x7905_0004, "3DSTATE_DEPTH_BUFFER", 6),
        (Render, 0x7900_0002, "3DSTATE_DRAWING_RECTANGLE", 4),
        (Render, 0x7808_000f, "3DSTATE_VERTEX_BUFFERS", 17),
        (Render, 0x7809_0007, "3DSTATE_VERTEX_ELEMENTS", 9),
        (Render, 0x6002_0100, "CONSTANT_BUFFER", 2),
        (Render, 0x7b00_3804, "3DPRIMITIVE", 6),
        (Render, 0x7a00_d102, "PIPE_CONTROL", 4),
        (Video, 0x7000_0002, "MFX", 4),
    ] {
        assert_eq!(found(engine, header), (name, length), "{header:#010x}");
    }
}

#[test]
fn no_command_hides_another() {
    for engine in [Engine::Render, Engine::Video] {
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

/// All names of a stream; fails at a command without one.
fn names(stream: &[u32]) -> Vec<&'static str> {
    let walk = Walk::new(&GENERATION, Engine::Render, stream, 0, usize::MAX);
    walk.map(|item| {
        assert!(
            item.command.is_some() || item.is_padding(),
            "{:x?}",
            item.dwords
        );
        assert!(!item.is_cut(), "{:x?}", item.dwords);
        item.name
    })
    .collect()
}

#[test]
fn a_ring_of_a_real_gm45() {
    // GW40 to GW42: a request with a flip, one with a batch, one without.
    let ring = [
        0x0200_0000,
        0,
        0x0a10_0002,
        0x1400,
        0x0c6e_1001,
        0x04ff_031f,
        0x0200_0026,
        0,
        0x1880_0180,
        0x10c5_3000,
        0x0200_0024,
        0,
        0x1080_0001,
        0x80,
        0x000c_9558,
        0x0100_0000,
        0x0200_0000,
        0,
        0x1080_0001,
        0x80,
        0x000c_9559,
        0x0100_0000,
    ];
    let names: Vec<_> = names(&ring)
        .into_iter()
        .filter(|n| *n != "MI_NOOP")
        .collect();
    assert_eq!(
        names,
        [
            "MI_FLUSH",
            "MI_DISPLAY_FLIP",
            "MI_FLUSH",
            "MI_BATCH_BUFFER_START",
            "MI_FLUSH",
            "MI_STORE_DATA_INDEX",
            "MI_USER_INTERRUPT",
            "MI_FLUSH",
            "MI_STORE_DATA_INDEX",
            "MI_USER_INTERRUPT"
        ]
    );
}

#[test]
fn a_batch_as_a_real_gm45_had_it() {
    // Section 2.4 of the digest of witnesses: the order of the first commands.
    let mut batch = vec![0x6904_0000, 0x7909_0000, 0, 0x6102_0000, 0, 0x680b_0000];
    batch.extend([0x6101_0004, 1, 1, 1, 1, 1, 0x7801_0004, 0, 0, 0, 0, 0x7ea0]);
    batch.extend([
        0x7901_0003,
        0,
        0,
        0,
        0,
        0x7905_0004,
        0x2c08_0fff,
        0,
        0,
        0,
        0,
    ]);
    batch.extend([
        0x7800_0005,
        0,
        0,
        1,
        0,
        0,
        0,
        0,
        0x6000_3f01,
        0x0a42_4080,
        0x1800_00c4,
    ]);
    batch.extend([0x6001_0000, 0x24, 0x7900_0002, 0, 0x02ff_03ff, 0]);
    batch.push(0x7808_000f);
    batch.extend([0; 16]);
    batch.push(0x7809_0007);
    batch.extend([0; 8]);
    batch.extend([0x6002_0100, 2, 0x7b00_3804, 4, 0, 1, 0, 0, 0x0500_0000]);
    let names = names(&batch);
    assert_eq!(names.len(), 18);
    assert_eq!(names[16..], ["3DPRIMITIVE", "MI_BATCH_BUFFER_END"]);
}

#[test]
fn registers_have_names() {
    for (offset, expected) in [
        (0x2030, "rcs RING_TAIL"),
        (0x4030, "vcs RING_TAIL"),
        (0x20a4, "IIR"),
        (0x3010, "FENCE"),
        (0x70024, "PIPEASTAT"),
    ] {
        assert_eq!(registers::name(offset), Some(expected), "{offset:#x}");
    }
    assert_eq!(registers::name(0x40b0), None);
}
