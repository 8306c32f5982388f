// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Decode of memory-interface commands (client 0): names, lengths, which engine has which.
//!
//! Encodings from the Gen6 digest §2.2–2.3 (the memory-interface volumes are not among the
//! documents). Opcodes below 0x10 are one dword; others carry a length field with a bias of two.

/// Bit mask of engines: render.
pub const RCS: u8 = 1;
/// Bit mask of engines: video.
pub const VCS: u8 = 2;
/// Bit mask of engines: blitter.
pub const BCS: u8 = 4;
/// All engines.
pub const ALL: u8 = RCS | VCS | BCS;

/// Opcodes, bits 28:23 of the header.
pub mod op {
    #![allow(missing_docs)]
    pub const NOOP: u32 = 0x00;
    pub const USER_INTERRUPT: u32 = 0x02;
    pub const WAIT_FOR_EVENT: u32 = 0x03;
    pub const FLUSH: u32 = 0x04;
    pub const ARB_CHECK: u32 = 0x05;
    pub const UNPROBE: u32 = 0x06;
    pub const REPORT_HEAD: u32 = 0x07;
    pub const ARB_ON_OFF: u32 = 0x08;
    pub const BATCH_BUFFER_END: u32 = 0x0a;
    pub const SUSPEND_FLUSH: u32 = 0x0b;
    pub const PREDICATE: u32 = 0x0c;
    pub const TOPOLOGY_FILTER: u32 = 0x0d;
    pub const SET_APPID: u32 = 0x0e;
    pub const OVERLAY_FLIP: u32 = 0x11;
    pub const LOAD_SCAN_LINES_INCL: u32 = 0x12;
    pub const LOAD_SCAN_LINES_EXCL: u32 = 0x13;
    pub const DISPLAY_FLIP: u32 = 0x14;
    pub const SEMAPHORE_MBOX: u32 = 0x16;
    pub const SET_CONTEXT: u32 = 0x18;
    pub const URB_CLEAR: u32 = 0x19;
    pub const STORE_DATA_IMM: u32 = 0x20;
    pub const STORE_DATA_INDEX: u32 = 0x21;
    pub const LOAD_REGISTER_IMM: u32 = 0x22;
    pub const UPDATE_GTT: u32 = 0x23;
    pub const STORE_REGISTER_MEM: u32 = 0x24;
    pub const PROBE: u32 = 0x25;
    pub const FLUSH_DW: u32 = 0x26;
    pub const CLFLUSH: u32 = 0x27;
    pub const REPORT_PERF_COUNT: u32 = 0x28;
    pub const LOAD_REGISTER_MEM: u32 = 0x29;
    pub const BATCH_BUFFER_START: u32 = 0x31;
    pub const CONDITIONAL_BATCH_BUFFER_END: u32 = 0x36;
}

/// One command of the table.
#[derive(Clone, Copy, Debug)]
pub struct MiDef {
    /// Opcode.
    pub op: u32,
    /// Name.
    pub name: &'static str,
    /// Engines that have it.
    pub engines: u8,
    /// Fewest dwords.
    pub min: usize,
    /// Most dwords.
    pub max: usize,
    /// Mask of the length field.
    pub length_mask: u32,
}

/// A command of one dword.
pub const fn one(op: u32, name: &'static str, engines: u8) -> MiDef {
    MiDef {
        op,
        name,
        engines,
        min: 1,
        max: 1,
        length_mask: 0,
    }
}

/// A command with a length field.
pub const fn many(
    op: u32,
    name: &'static str,
    engines: u8,
    min: usize,
    max: usize,
    length_mask: u32,
) -> MiDef {
    MiDef {
        op,
        name,
        engines,
        min,
        max,
        length_mask,
    }
}

/// All commands of Gen6; Gen7 has them too.
pub const GEN6: &[MiDef] = &[
    one(op::NOOP, "MI_NOOP", ALL),
    one(op::USER_INTERRUPT, "MI_USER_INTERRUPT", ALL),
    one(op::WAIT_FOR_EVENT, "MI_WAIT_FOR_EVENT", ALL),
    one(op::FLUSH, "MI_FLUSH", RCS),
    one(op::ARB_CHECK, "MI_ARB_CHECK", ALL),
    one(op::REPORT_HEAD, "MI_REPORT_HEAD", ALL),
    one(op::ARB_ON_OFF, "MI_ARB_ON_OFF", ALL),
    one(op::BATCH_BUFFER_END, "MI_BATCH_BUFFER_END", ALL),
    one(op::SUSPEND_FLUSH, "MI_SUSPEND_FLUSH", ALL),
    many(op::OVERLAY_FLIP, "MI_OVERLAY_FLIP", RCS, 2, 2, 0x3f),
    many(
        op::LOAD_SCAN_LINES_INCL,
        "MI_LOAD_SCAN_LINES_INCL",
        RCS,
        2,
        2,
        0x3f,
    ),
    many(
        op::LOAD_SCAN_LINES_EXCL,
        "MI_LOAD_SCAN_LINES_EXCL",
        RCS,
        2,
        2,
        0x3f,
    ),
    many(op::DISPLAY_FLIP, "MI_DISPLAY_FLIP", RCS, 3, 4, 0x3f),
    many(op::SEMAPHORE_MBOX, "MI_SEMAPHORE_MBOX", ALL, 3, 3, 0x3f),
    many(op::SET_CONTEXT, "MI_SET_CONTEXT", RCS, 2, 2, 0x3f),
    many(op::URB_CLEAR, "MI_URB_CLEAR", RCS, 2, 2, 0x3f),
    many(op::STORE_DATA_IMM, "MI_STORE_DATA_IMM", ALL, 4, 5, 0x3f),
    many(op::STORE_DATA_INDEX, "MI_STORE_DATA_INDEX", ALL, 3, 4, 0x3f),
    many(
        op::LOAD_REGISTER_IMM,
        "MI_LOAD_REGISTER_IMM",
        ALL,
        3,
        257,
        0xff,
    ),
    many(op::UPDATE_GTT, "MI_UPDATE_GTT", ALL, 3, 65, 0x3f),
    many(
        op::STORE_REGISTER_MEM,
        "MI_STORE_REGISTER_MEM",
        ALL,
        3,
        3,
        0x3f,
    ),
    many(op::FLUSH_DW, "MI_FLUSH_DW", VCS | BCS, 3, 4, 0x3f),
    many(op::CLFLUSH, "MI_CLFLUSH", RCS, 3, 65, 0x3f),
    many(
        op::REPORT_PERF_COUNT,
        "MI_REPORT_PERF_COUNT",
        RCS,
        3,
        3,
        0x3f,
    ),
    many(
        op::BATCH_BUFFER_START,
        "MI_BATCH_BUFFER_START",
        ALL,
        2,
        2,
        0xff,
    ),
    many(
        op::CONDITIONAL_BATCH_BUFFER_END,
        "MI_CONDITIONAL_BATCH_BUFFER_END",
        ALL,
        3,
        3,
        0x3f,
    ),
];

/// What Gen7 adds: from memory (VCS PRM 1.2.18), and for the render engine (the upstream driver's headers).
pub const GEN7: &[MiDef] = &[
    one(op::PREDICATE, "MI_PREDICATE", RCS),
    one(op::TOPOLOGY_FILTER, "MI_TOPOLOGY_FILTER", RCS),
    one(op::SET_APPID, "MI_SET_APPID", RCS),
    many(
        op::LOAD_REGISTER_MEM,
        "MI_LOAD_REGISTER_MEM",
        ALL,
        3,
        3,
        0xff,
    ),
];

/// What the render engine of every Gen4 chip has (G45 PRM V1b chapter 1), and what the video engine has of it
/// (2.13).
pub const GEN4: &[MiDef] = &[
    one(op::NOOP, "MI_NOOP", RCS | VCS),
    one(op::USER_INTERRUPT, "MI_USER_INTERRUPT", RCS | VCS),
    one(op::WAIT_FOR_EVENT, "MI_WAIT_FOR_EVENT", RCS | VCS),
    one(op::FLUSH, "MI_FLUSH", RCS | VCS),
    one(op::ARB_CHECK, "MI_ARB_CHECK", RCS | VCS),
    one(op::REPORT_HEAD, "MI_REPORT_HEAD", RCS | VCS),
    one(op::BATCH_BUFFER_END, "MI_BATCH_BUFFER_END", RCS | VCS),
    many(op::OVERLAY_FLIP, "MI_OVERLAY_FLIP", RCS, 2, 2, 0x3f),
    many(
        op::LOAD_SCAN_LINES_INCL,
        "MI_LOAD_SCAN_LINES_INCL",
        RCS,
        2,
        2,
        0x3f,
    ),
    many(
        op::LOAD_SCAN_LINES_EXCL,
        "MI_LOAD_SCAN_LINES_EXCL",
        RCS,
        2,
        2,
        0x3f,
    ),
    many(op::DISPLAY_FLIP, "MI_DISPLAY_FLIP", RCS, 3, 4, 0x3f),
    many(op::SET_CONTEXT, "MI_SET_CONTEXT", RCS, 2, 2, 0x3f),
    many(
        op::STORE_DATA_IMM,
        "MI_STORE_DATA_IMM",
        RCS | VCS,
        4,
        5,
        0x3f,
    ),
    many(
        op::STORE_DATA_INDEX,
        "MI_STORE_DATA_INDEX",
        RCS | VCS,
        3,
        4,
        0x3f,
    ),
    // The text has one register (1.8); several go as well (digest G-30).
    many(
        op::LOAD_REGISTER_IMM,
        "MI_LOAD_REGISTER_IMM",
        RCS | VCS,
        3,
        65,
        0x3f,
    ),
    many(
        op::STORE_REGISTER_MEM,
        "MI_STORE_REGISTER_MEM",
        RCS,
        3,
        3,
        0x3f,
    ),
    many(
        op::BATCH_BUFFER_START,
        "MI_BATCH_BUFFER_START",
        RCS | VCS,
        2,
        2,
        0x3f,
    ),
];

/// What Cantiga and its relatives add (G45 PRM V1b 1.3, 1.13, 1.19).
pub const G4X: &[MiDef] = &[
    one(op::UNPROBE, "MI_UNPROBE", RCS),
    one(op::ARB_ON_OFF, "MI_ARB_ON_OFF", RCS),
    many(op::UPDATE_GTT, "MI_UPDATE_GTT", RCS, 3, 65, 0x3f),
    many(op::PROBE, "MI_PROBE", RCS, 2, 1025, 0x3ff),
];

/// The opcode of a header.
pub fn opcode(header: u32) -> u32 {
    (header >> 23) & 0x3f
}

/// Finds the command of `header` in a chip's tables, on an engine (one of [`RCS`], [`VCS`], [`BCS`]), and its
/// length in dwords. `None` when the engine has no such command or the length is not one it can have.
pub fn decode(
    tables: &[&'static [MiDef]],
    header: u32,
    engine: u8,
) -> Option<(&'static MiDef, usize)> {
    let mut all = tables.iter().copied().flatten();
    let def = all.find(|d| d.op == opcode(header) && d.engines & engine != 0)?;
    let len = if def.op < 0x10 {
        1
    } else {
        (header & def.length_mask) as usize + 2
    };
    (def.min..=def.max).contains(&len).then_some((def, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_literal_headers() {
        // Digest §2.3: opcode << 23 | total dwords - 2.
        let cases: &[(u32, u8, &str, usize)] = &[
            (0x0000_0000, RCS, "MI_NOOP", 1),
            (0x0100_0000, VCS, "MI_USER_INTERRUPT", 1),
            (0x0180_0000, BCS, "MI_WAIT_FOR_EVENT", 1),
            (0x0200_0000, RCS, "MI_FLUSH", 1),
            (0x0280_0000, RCS, "MI_ARB_CHECK", 1),
            (0x0380_0000, RCS, "MI_REPORT_HEAD", 1),
            (0x0400_0001, RCS, "MI_ARB_ON_OFF", 1),
            (0x0500_0000, BCS, "MI_BATCH_BUFFER_END", 1),
            (0x0580_0000, RCS, "MI_SUSPEND_FLUSH", 1),
            (0x0a00_0002, RCS, "MI_DISPLAY_FLIP", 4),
            (0x0b00_0001, RCS, "MI_SEMAPHORE_MBOX", 3),
            (0x0c00_0000, RCS, "MI_SET_CONTEXT", 2),
            (0x1000_0002, RCS, "MI_STORE_DATA_IMM", 4),
            (0x1000_0003, RCS, "MI_STORE_DATA_IMM", 5),
            (0x1080_0001, VCS, "MI_STORE_DATA_INDEX", 3),
            (0x1100_0001, RCS, "MI_LOAD_REGISTER_IMM", 3),
            (0x1100_0005, RCS, "MI_LOAD_REGISTER_IMM", 7),
            (0x1180_0001, RCS, "MI_UPDATE_GTT", 3),
            (0x1200_0001, RCS, "MI_STORE_REGISTER_MEM", 3),
            (0x1300_0001, BCS, "MI_FLUSH_DW", 3),
            (0x1300_4182, VCS, "MI_FLUSH_DW", 4),
            (0x1880_0100, RCS, "MI_BATCH_BUFFER_START", 2),
            (0x1b00_0001, RCS, "MI_CONDITIONAL_BATCH_BUFFER_END", 3),
        ];
        for (header, engine, name, len) in cases {
            let (def, n) = decode(&[GEN6], *header, *engine).unwrap_or_else(|| panic!("{name}"));
            assert_eq!((def.name, n), (*name, *len), "{header:08x}");
        }
    }

    #[test]
    fn foreign_and_unknown_commands() {
        assert!(
            decode(&[GEN6], 0x1300_0001, RCS).is_none(),
            "MI_FLUSH_DW is not a render command"
        );
        assert!(
            decode(&[GEN6], 0x0c00_0000, BCS).is_none(),
            "MI_SET_CONTEXT is for the render ring"
        );
        assert!(
            decode(&[GEN6], 0x0200_0000, VCS).is_none(),
            "MI_FLUSH is a render command"
        );
        assert!(
            decode(&[GEN6], 0x1480_0001, RCS).is_none(),
            "MI_LOAD_REGISTER_MEM came later"
        );
        assert!(
            decode(&[GEN6], 0x1000_0009, RCS).is_none(),
            "no store of so many dwords"
        );
    }

    #[test]
    fn gen4_by_product() {
        let g965: &[&[MiDef]] = &[GEN4];
        let g45: &[&[MiDef]] = &[GEN4, G4X];
        // G45 PRM V1b 1.19: "[DevBW] and [DevCL]: This is not a legal command"; 1.3, 1.13: CTG+.
        for header in [0x1180_0001, 0x0400_0001, 0x0300_0000, 0x1280_0000] {
            assert!(decode(g965, header, RCS).is_none(), "{header:08x}");
            assert!(decode(g45, header, RCS).is_some(), "{header:08x}");
            assert!(decode(g45, header, VCS).is_none(), "{header:08x}");
        }
        // 1.13.1: ten bits of length, without dwords 0 and 1.
        let (def, n) = decode(g45, 0x1280_03ff, RCS).expect("MI_PROBE");
        assert_eq!((def.name, n), ("MI_PROBE", 1025));
        // 2.13: what the video engine has.
        for header in [
            0x0280_0000,
            0x0500_0000,
            0x1880_0100,
            0x0200_0000,
            0x1100_0001,
            0,
            0x0380_0000,
            0x1000_0002,
            0x1080_0001,
            0x0100_0000,
            0x0180_0000,
        ] {
            assert!(decode(g45, header, VCS).is_some(), "{header:08x}");
        }
        for header in [0x0c00_0000, 0x0a00_0001, 0x1200_0001, 0x0900_0000] {
            assert!(decode(g45, header, VCS).is_none(), "{header:08x}");
        }
        // Gen6's are not there.
        for header in [0x1300_0001, 0x0b00_0001, 0x1480_0001, 0x0580_0000] {
            assert!(decode(g45, header, RCS).is_none(), "{header:08x}");
        }
    }

    #[test]
    fn what_gen7_adds() {
        // VCS PRM 1.2.18: opcode 29h, length 1.
        let both: &[&[MiDef]] = &[GEN6, GEN7];
        for engine in [RCS, VCS, BCS] {
            let (def, n) = decode(both, 0x29 << 23 | 1, engine).expect("on all");
            assert_eq!((def.name, n), ("MI_LOAD_REGISTER_MEM", 3));
        }
        assert!(decode(both, 0x0600_0000, RCS).is_some());
        assert!(decode(both, 0x0600_0000, VCS).is_none(), "3D alone");
        assert!(
            decode(both, 0x0500_0000, VCS).is_some(),
            "and those of Gen6"
        );
    }
}
