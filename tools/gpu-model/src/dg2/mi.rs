// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Decode of commands: names, lengths, which engines have which (DG2 PRM Vol 8 "Memory Interface
//! Commands for RCP", "Command Header"; lengths from the digest, §2.1).

use super::engine::{Class, EngineId};

/// Opcodes, bits 28:23 of the header.
pub mod op {
    #![allow(missing_docs)]
    pub const NOOP: u32 = 0x00;
    pub const SET_PREDICATE: u32 = 0x01;
    pub const USER_INTERRUPT: u32 = 0x02;
    pub const WAIT_FOR_EVENT: u32 = 0x03;
    pub const WAIT_FOR_EVENT_2: u32 = 0x04;
    pub const ARB_CHECK: u32 = 0x05;
    pub const REPORT_HEAD: u32 = 0x07;
    pub const ARB_ON_OFF: u32 = 0x08;
    pub const BATCH_BUFFER_END: u32 = 0x0a;
    pub const SUSPEND_FLUSH: u32 = 0x0b;
    pub const PREDICATE: u32 = 0x0c;
    pub const TOPOLOGY_FILTER: u32 = 0x0d;
    pub const SET_APPID: u32 = 0x0e;
    pub const LOAD_SCAN_LINES_INCL: u32 = 0x12;
    pub const LOAD_SCAN_LINES_EXCL: u32 = 0x13;
    pub const DISPLAY_FLIP: u32 = 0x14;
    pub const MATH: u32 = 0x1a;
    pub const SEMAPHORE_SIGNAL: u32 = 0x1b;
    pub const SEMAPHORE_WAIT: u32 = 0x1c;
    pub const FORCE_WAKEUP: u32 = 0x1d;
    pub const STORE_DATA_IMM: u32 = 0x20;
    pub const STORE_DATA_INDEX: u32 = 0x21;
    pub const LOAD_REGISTER_IMM: u32 = 0x22;
    pub const UPDATE_GTT: u32 = 0x23;
    pub const STORE_REGISTER_MEM: u32 = 0x24;
    pub const FLUSH_DW: u32 = 0x26;
    pub const CLFLUSH: u32 = 0x27;
    pub const REPORT_PERF_COUNT: u32 = 0x28;
    pub const LOAD_REGISTER_MEM: u32 = 0x29;
    pub const LOAD_REGISTER_REG: u32 = 0x2a;
    pub const COPY_MEM_MEM: u32 = 0x2e;
    pub const ATOMIC: u32 = 0x2f;
    pub const BATCH_BUFFER_START: u32 = 0x31;
    pub const CONDITIONAL_BATCH_BUFFER_END: u32 = 0x36;
}

/// Which engines have a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    All,
    /// Render, blitter.
    Display,
    /// Render, compute.
    ThreeD,
    /// All but render.
    NotRender,
    Render,
}

impl Who {
    fn has(self, class: Class) -> bool {
        let three_d = matches!(class, Class::Render | Class::Compute);
        match self {
            Who::All => true,
            Who::Display => matches!(class, Class::Render | Class::Copy),
            Who::ThreeD => three_d,
            Who::NotRender => class != Class::Render,
            Who::Render => class == Class::Render,
        }
    }
}

/// One command of the table.
#[derive(Debug)]
pub struct MiDef {
    /// Opcode.
    pub op: u32,
    /// Name.
    pub name: &'static str,
    who: Who,
    /// Fewest and most dwords.
    min: usize,
    max: usize,
    /// Mask of the length field; zero for one dword.
    mask: u32,
}

const fn one(op: u32, name: &'static str, who: Who) -> MiDef {
    many(op, name, who, 1, 1, 0)
}

const fn many(op: u32, name: &'static str, who: Who, min: usize, max: usize, mask: u32) -> MiDef {
    MiDef {
        op,
        name,
        who,
        min,
        max,
        mask,
    }
}

/// All commands that are executed. MI_SET_CONTEXT (18h) belongs to the legacy mode, and the dwords of
/// MI_PRT_BATCH_BUFFER_START (39h) are not documented: both are instruction errors.
const TABLE: &[MiDef] = &[
    one(op::NOOP, "MI_NOOP", Who::All),
    one(op::SET_PREDICATE, "MI_SET_PREDICATE", Who::All),
    one(op::USER_INTERRUPT, "MI_USER_INTERRUPT", Who::All),
    one(op::WAIT_FOR_EVENT, "MI_WAIT_FOR_EVENT", Who::Display),
    one(op::WAIT_FOR_EVENT_2, "MI_WAIT_FOR_EVENT_2", Who::Display),
    one(op::ARB_CHECK, "MI_ARB_CHECK", Who::All),
    one(op::REPORT_HEAD, "MI_REPORT_HEAD", Who::All),
    one(op::ARB_ON_OFF, "MI_ARB_ON_OFF", Who::All),
    one(op::BATCH_BUFFER_END, "MI_BATCH_BUFFER_END", Who::All),
    one(op::SUSPEND_FLUSH, "MI_SUSPEND_FLUSH", Who::All),
    one(op::PREDICATE, "MI_PREDICATE", Who::ThreeD),
    one(op::TOPOLOGY_FILTER, "MI_TOPOLOGY_FILTER", Who::All),
    one(op::SET_APPID, "MI_SET_APPID", Who::All),
    many(
        op::LOAD_SCAN_LINES_INCL,
        "MI_LOAD_SCAN_LINES_INCL",
        Who::Display,
        2,
        2,
        0x3f,
    ),
    many(
        op::LOAD_SCAN_LINES_EXCL,
        "MI_LOAD_SCAN_LINES_EXCL",
        Who::Display,
        2,
        2,
        0x3f,
    ),
    many(
        op::DISPLAY_FLIP,
        "MI_DISPLAY_FLIP",
        Who::Display,
        3,
        5,
        0x3f,
    ),
    many(op::MATH, "MI_MATH", Who::All, 2, 257, 0xff),
    many(
        op::SEMAPHORE_SIGNAL,
        "MI_SEMAPHORE_SIGNAL",
        Who::All,
        2,
        2,
        0xff,
    ),
    many(
        op::SEMAPHORE_WAIT,
        "MI_SEMAPHORE_WAIT",
        Who::All,
        4,
        5,
        0xff,
    ),
    many(
        op::FORCE_WAKEUP,
        "MI_FORCE_WAKEUP",
        Who::NotRender,
        2,
        2,
        0xff,
    ),
    many(
        op::STORE_DATA_IMM,
        "MI_STORE_DATA_IMM",
        Who::All,
        4,
        1025,
        0x3ff,
    ),
    many(
        op::STORE_DATA_INDEX,
        "MI_STORE_DATA_INDEX",
        Who::All,
        3,
        4,
        0xff,
    ),
    many(
        op::LOAD_REGISTER_IMM,
        "MI_LOAD_REGISTER_IMM",
        Who::All,
        3,
        257,
        0xff,
    ),
    many(op::UPDATE_GTT, "MI_UPDATE_GTT", Who::All, 4, 1025, 0x3ff),
    many(
        op::STORE_REGISTER_MEM,
        "MI_STORE_REGISTER_MEM",
        Who::All,
        4,
        4,
        0xff,
    ),
    many(op::FLUSH_DW, "MI_FLUSH_DW", Who::NotRender, 3, 5, 0x3f),
    many(op::CLFLUSH, "MI_CLFLUSH", Who::Render, 2, 1025, 0x3ff),
    many(
        op::REPORT_PERF_COUNT,
        "MI_REPORT_PERF_COUNT",
        Who::ThreeD,
        4,
        4,
        0x3f,
    ),
    many(
        op::LOAD_REGISTER_MEM,
        "MI_LOAD_REGISTER_MEM",
        Who::All,
        4,
        4,
        0xff,
    ),
    many(
        op::LOAD_REGISTER_REG,
        "MI_LOAD_REGISTER_REG",
        Who::All,
        3,
        3,
        0xff,
    ),
    many(op::COPY_MEM_MEM, "MI_COPY_MEM_MEM", Who::All, 5, 5, 0xff),
    many(op::ATOMIC, "MI_ATOMIC", Who::All, 3, 11, 0xff),
    many(
        op::BATCH_BUFFER_START,
        "MI_BATCH_BUFFER_START",
        Who::All,
        3,
        3,
        0xff,
    ),
    many(
        op::CONDITIONAL_BATCH_BUFFER_END,
        "MI_CONDITIONAL_BATCH_BUFFER_END",
        Who::All,
        4,
        4,
        0xff,
    ),
];

/// The opcode of a header of client 0.
pub fn opcode(header: u32) -> u32 {
    header >> 23 & 0x3f
}

/// Finds the command of `header` on an engine of a class, and its length in dwords. `None` when the
/// engine has no such command or the length is not one it can have.
pub fn decode(header: u32, class: Class) -> Option<(&'static MiDef, usize)> {
    let def = TABLE
        .iter()
        .find(|d| d.op == opcode(header) && d.who.has(class))?;
    let len = match def.mask {
        0 => 1,
        mask => (header & mask) as usize + 2,
    };
    (def.min..=def.max).contains(&len).then_some((def, len))
}

/// Upper half of the header of PIPE_CONTROL.
pub const PIPE_CONTROL: u32 = 0x7a00;
/// Upper halves of commands that can be predicated and are skipped else.
const PRIMITIVE: u32 = 0x7b00;
const WM_HZ_OP: u32 = 0x7852;
const COMPUTE_WALKER: u32 = 0x7208;

/// A command of client 3 by its header: 3D, compute, media. All but PIPE_CONTROL are skipped by their
/// length: bits 7:0, or 11:0 of a media command, and 2. Those of type 1 have one dword.
pub fn decode_engine(header: u32, e: EngineId) -> Option<(&'static str, usize)> {
    if header >> 27 & 3 == 1 {
        return match e.class() {
            Class::Copy => None,
            _ => Some(("state (one dword)", 1)),
        };
    }
    let long = (header & 0xff) as usize + 2;
    match (e.class(), header >> 16) {
        (Class::Copy, _) => None,
        (Class::Decode | Class::Enhance, _) => Some(("media", (header & 0xfff) as usize + 2)),
        // Test programs leave out the last dword.
        (_, PIPE_CONTROL) => matches!(long, 5 | 6).then_some(("PIPE_CONTROL", long)),
        (_, PRIMITIVE) => Some(("3DPRIMITIVE", long)),
        (_, WM_HZ_OP) => Some(("3DSTATE_WM_HZ_OP", long)),
        (_, COMPUTE_WALKER) => Some(("COMPUTE_WALKER", long)),
        _ => Some(("state", long)),
    }
}

/// True if a command's own bit asks for predication by MI_PREDICATE_RESULT ("Command's Listing
/// Predication Control"). The bits are from the digest; that of 3DSTATE_WM_HZ_OP is not known.
pub fn predicated(header: u32) -> bool {
    match (header >> 29, opcode(header), header >> 16) {
        (0, op::STORE_REGISTER_MEM, _) => header & 1 << 21 != 0,
        (0, op::MATH, _) => header & 1 << 15 != 0,
        (3, _, PRIMITIVE | COMPUTE_WALKER | PIPE_CONTROL) => header & 1 << 8 != 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_literal_headers() {
        // Digest §2.1 and §2.2.
        let cases: &[(u32, EngineId, &str, usize)] = &[
            (0x0000_0000, EngineId::Bcs, "MI_NOOP", 1),
            (0x0080_0000, EngineId::Bcs, "MI_SET_PREDICATE", 1),
            (0x0100_0000, EngineId::Vcs0, "MI_USER_INTERRUPT", 1),
            (0x0280_0000, EngineId::Rcs, "MI_ARB_CHECK", 1),
            (0x0400_0001, EngineId::Bcs, "MI_ARB_ON_OFF", 1),
            (0x0500_0000, EngineId::Ccs0, "MI_BATCH_BUFFER_END", 1),
            (0x0600_0000, EngineId::Ccs0, "MI_PREDICATE", 1),
            (0x0d00_0003, EngineId::Bcs, "MI_MATH", 5),
            (0x0e00_8002, EngineId::Bcs, "MI_SEMAPHORE_WAIT", 4),
            (0x0e00_8003, EngineId::Bcs, "MI_SEMAPHORE_WAIT", 5),
            (0x0e80_0000, EngineId::Vecs0, "MI_FORCE_WAKEUP", 2),
            (0x1000_0002, EngineId::Rcs, "MI_STORE_DATA_IMM", 4),
            (0x1020_0003, EngineId::Rcs, "MI_STORE_DATA_IMM", 5),
            (0x1020_03ff, EngineId::Rcs, "MI_STORE_DATA_IMM", 1025),
            (0x1080_0001, EngineId::Vcs0, "MI_STORE_DATA_INDEX", 3),
            (0x1100_0001, EngineId::Bcs, "MI_LOAD_REGISTER_IMM", 3),
            (0x1180_0002, EngineId::Bcs, "MI_UPDATE_GTT", 4),
            (0x1200_0002, EngineId::Bcs, "MI_STORE_REGISTER_MEM", 4),
            (0x1300_4003, EngineId::Bcs, "MI_FLUSH_DW", 5),
            (0x1300_0001, EngineId::Vcs2, "MI_FLUSH_DW", 3),
            (0x1480_0002, EngineId::Bcs, "MI_LOAD_REGISTER_MEM", 4),
            (0x1500_0001, EngineId::Bcs, "MI_LOAD_REGISTER_REG", 3),
            (0x1700_0003, EngineId::Bcs, "MI_COPY_MEM_MEM", 5),
            (0x1784_0009, EngineId::Bcs, "MI_ATOMIC", 11),
            (0x1880_0101, EngineId::Bcs, "MI_BATCH_BUFFER_START", 3),
            (
                0x1b20_0002,
                EngineId::Bcs,
                "MI_CONDITIONAL_BATCH_BUFFER_END",
                4,
            ),
        ];
        for (header, e, name, len) in cases {
            let (def, n) = decode(*header, e.class()).unwrap_or_else(|| panic!("{name}"));
            assert_eq!((def.name, n), (*name, *len), "{header:08x}");
        }
        let named = |h, e| decode_engine(h, e);
        for (header, expected) in [
            (0x7a00_0004, Some(("PIPE_CONTROL", 6))),
            (0x7a00_0003, Some(("PIPE_CONTROL", 5))),
            (0x7a00_0002, None),
        ] {
            assert_eq!(named(header, EngineId::Rcs), expected);
        }
        assert_eq!(
            named(0x7208_0025, EngineId::Ccs0),
            Some(("COMPUTE_WALKER", 39))
        );
        assert_eq!(
            named(0x6904_0000, EngineId::Rcs),
            Some(("state (one dword)", 1))
        );
        assert_eq!(named(0x6101_0014, EngineId::Rcs), Some(("state", 22)));
        assert_eq!(named(0x7a00_0004, EngineId::Bcs), None);
    }

    #[test]
    fn commands_that_an_engine_does_not_have() {
        for (header, e, why) in [
            (
                0x1300_4003,
                EngineId::Rcs,
                "MI_FLUSH_DW is for all but render",
            ),
            (0x0600_0000, EngineId::Bcs, "MI_PREDICATE is for render"),
            (
                0x0180_0000,
                EngineId::Vcs0,
                "MI_WAIT_FOR_EVENT is for render and blitter",
            ),
            (
                0x0c00_0000,
                EngineId::Rcs,
                "MI_SET_CONTEXT is of the legacy mode",
            ),
            (0x0800_0000, EngineId::Bcs, "10h is reserved"),
            (0x1a00_0000, EngineId::Bcs, "34h is reserved"),
            (0x1000_0001, EngineId::Bcs, "no store of three dwords"),
        ] {
            assert!(decode(header, e.class()).is_none(), "{why}");
        }
    }
}
