// SPDX-License-Identifier: GPL-2.0
//! Headers are made of what VCS PRM 1.2 prints: type in 31:29, opcode in 28:23, and of the lengths that
//! its tables of dwords have.

use super::*;
use crate::command::Engine::{Blitter, Render, Video};
use crate::print::{Marks, Printer};
use crate::stream::Walk;

fn found(engine: Engine, header: u32) -> (&'static str, usize) {
    match GENERATION.find(engine, header) {
        Some(c) => (c.name, c.length.of(header)),
        None => {
            let (length, name) = gen6::unknown(engine, header);
            (name, length.of(header))
        }
    }
}

/// What is printed of a stream, without addresses and dwords.
fn words(engine: Engine, dwords: &[u32]) -> Vec<String> {
    let mut out = Vec::new();
    let mut printer = Printer {
        generation: &GENERATION,
        out: &mut out,
        marks: Marks::default(),
    };
    let walk = Walk::new(&GENERATION, engine, dwords, 0, usize::MAX);
    let printed = printer.stream(walk, 0x1000, true, |_| true);
    printed.expect("memory takes everything");
    let text = String::from_utf8(out).expect("UTF-8");
    text.lines()
        .map(|l| l.get(24..).unwrap_or(l).trim().to_owned())
        .collect()
}

#[test]
fn headers_of_the_chapter() {
    // 1.2.2 to 1.2.18, in its order.
    for (header, name, length) in [
        (0x05 << 23, "MI_ARB_CHECK", 1),
        (0x08 << 23 | 1, "MI_ARB_ON_OFF", 1),
        (0x0a << 23, "MI_BATCH_BUFFER_END", 1),
        (0x36 << 23 | 1, "MI_CONDITIONAL_BATCH_BUFFER_END", 3),
        (0x31 << 23, "MI_BATCH_BUFFER_START", 2),
        (0x26 << 23 | 1, "MI_FLUSH_DW", 3),
        (0x26 << 23 | 2, "MI_FLUSH_DW", 4),
        (0x22 << 23 | 1, "MI_LOAD_REGISTER_IMM", 3),
        (0, "MI_NOOP", 1),
        (0x16 << 23 | 1, "MI_SEMAPHORE_MBOX", 3),
        (0x24 << 23 | 1, "MI_STORE_REGISTER_MEM", 3),
        (0x20 << 23 | 2, "MI_STORE_DATA_IMM", 4),
        (0x20 << 23 | 3, "MI_STORE_DATA_IMM", 5),
        (0x21 << 23 | 1, "MI_STORE_DATA_INDEX", 3),
        (0x21 << 23 | 2, "MI_STORE_DATA_INDEX", 4),
        (0x0b << 23 | 1, "MI_SUSPEND_FLUSH", 1),
        (0x02 << 23, "MI_USER_INTERRUPT", 1),
        (0x23 << 23 | 1 << 22 | 4, "MI_UPDATE_GTT", 6),
        (0x03 << 23 | 1 << 16, "MI_WAIT_FOR_EVENT", 1),
        (0x29 << 23 | 1, "MI_LOAD_REGISTER_MEM", 3),
    ] {
        assert_eq!(found(Video, header), (name, length), "{header:#010x}");
    }
    for (engine, header, name, length) in [
        (Render, 0x1480_0001, "MI_LOAD_REGISTER_MEM", 3),
        (Blitter, 0x1880_0100, "MI_BATCH_BUFFER_START", 2),
        (Render, 0x0600_0000, "MI_PREDICATE", 1),
        (Render, 0x7a00_0002, "PIPE_CONTROL", 4),
        (Render, 0x7820_0006, "3DSTATE_PS", 8),
        (Render, 0x7805_0005, "3DSTATE_DEPTH_BUFFER", 7),
        (Render, 0x7917_01ff, "3DSTATE_SO_DECL_LIST", 0x201),
        (Render, 0x7105_0009, "GPGPU_WALKER", 11),
        // Gen6 had these where Gen7 has others, or nothing.
        (Render, 0x7905_0005, "unknown 3D command", 7),
        (Render, 0x7801_0002, "unknown 3D command", 4),
        (Render, 0x1300_0002, "unknown MI command", 4),
        (Blitter, 0x54f0_0006, "XY_SRC_COPY_BLT", 8),
        // Digest V-20, V-21.
        (Video, 0x6800_0000, "MFX_WAIT", 1),
        (Video, 0x7000_0002, "MFX_PIPE_MODE_SELECT", 4),
        (Video, 0x7328_0003, "MFD_MPEG2_BSD_OBJECT", 5),
        (Video, 0x7103_0fff, "MFX_AVC_SLICE_STATE", 0x1001),
        (Video, 0x7423_0001, "MFX", 3),
        (Video, 0x7600_1000, "MFX", 0x1002),
    ] {
        assert_eq!(found(engine, header), (name, length), "{header:#010x}");
    }
}

#[test]
fn no_command_hides_another() {
    for engine in [Render, Video, Blitter] {
        for c in commands(engine).iter().copied().flatten() {
            assert_eq!(c.header & !c.mask, 0, "{}", c.name);
            let first = GENERATION.find(engine, c.header).map(|f| f.name);
            if c.name != "MFX" {
                assert_eq!(first, Some(c.name), "{:#010x}", c.header);
            }
            for f in c.fields() {
                assert!(f.low <= f.high && f.high < 32, "{} {}", c.name, f.name);
            }
        }
    }
}

#[test]
fn batches_of_two_levels() {
    // 1.2.6: bit 22 is the level, bit 8 the space; from the second level END returns.
    let dwords = [
        0x1880_0100 | 1 << 22,
        0x2_0000,
        0x1b60_0001,
        5,
        0x3008,
        0x1880_0100,
        0x3_0000,
        0x0500_0000,
    ];
    assert_eq!(
        words(Video, &dwords),
        [
            "MI_BATCH_BUFFER_START: second level, as non-secure, PPGTT",
            "batch 0x00020000",
            "MI_CONDITIONAL_BATCH_BUFFER_END: GGTT, compare",
            "data 0x5",
            "address 0x00003008",
            "MI_BATCH_BUFFER_START: as non-secure, PPGTT",
            "batch 0x00030000",
        ]
    );
}

#[test]
fn flushes_that_do_not_do_what_they_say() {
    // 1.2.7: bit 18 is "only valid" with post-sync 1 or 3; GFDT: "Store DW must be enabled"; "drivers
    // cannot send a QW write when bit 5 of the address is 1".
    let flush = |bits: u32, n: u32, address: u32| {
        let mut d = vec![0x26 << 23 | bits | n, address, 1, 2];
        d.truncate(n as usize + 2);
        words(Video, &d)[..2].join(" | ")
    };
    assert_eq!(
        flush(1 << 18 | 1 << 14 | 1 << 21, 2, 0x100),
        "MI_FLUSH_DW: into the status page, invalidate TLB, then store immediate | \
         address 0x00000100"
    );
    assert_eq!(
        flush(1 << 18, 1, 0),
        "MI_FLUSH_DW: invalidate TLB, then none, \
         WRONG: the TLB stays: without a store bit 18 has no effect | address 0x00000000"
    );
    assert_eq!(
        flush(1 << 14, 2, 0x124),
        "MI_FLUSH_DW: then store immediate | address 0x00000120, GGTT, \
         WRONG: the chip's erratum: no quadword to an address with bit 5"
    );
    // One dword may go there.
    assert_eq!(
        flush(1 << 14, 1, 0x120),
        "MI_FLUSH_DW: then store immediate | address 0x00000120"
    );
    assert!(flush(2 << 14, 1, 0).contains("WRONG: reserved kind of store"));
    assert!(flush(1 << 17, 1, 0).contains("WRONG: GFDT stays"));
    // Of a command that is cut off nothing is said.
    assert!(!words(Video, &[0x1304_0001]).concat().contains("WRONG"));
}

#[test]
fn what_the_chapter_forbids() {
    for (dwords, text) in [
        // 1.2.10: bit 21 "should be always clear" with bit 18; without 20, it "must be set".
        (
            &[0x0b00_0001 | 1 << 21 | 1 << 18, 0, 0][..],
            "no update with a register",
        ),
        (&[0x0b00_0001, 0, 0], "neither compares nor updates"),
        (
            &[0x0b00_0001 | 1 << 20 | 1 << 18 | 3 << 16, 0, 0],
            "register that is reserved",
        ),
        // 1.2.17: 6h and above are reserved, 15:0 MBZ.
        (&[0x0186_0000], "condition that is reserved"),
        (&[0x0181_0008], "no events here"),
        // 1.2.8.
        (
            &[0x1100_0001 | 3 << 8, 0x12094, 1],
            "undefined for bytes one by one",
        ),
        // 1.2.11.
        (&[0x1200_0001, 0x8810, 0], "undefined data"),
        (&[0x1200_0001, 0x10_0000, 0], "undefined data"),
        // 1.2.13: [16, 1023].
        (&[0x1080_0001, 0x3c, 0], "reserved: the first 16 dwords"),
        // 1.2.12: "8B aligned for a store QW".
        (&[0x1000_0003, 0, 0x1004, 1, 2], "quadword that is not"),
        // 1.2.16.
        (&[0x1180_0001, 0x5000, 1], "for the GGTT alone"),
        // 1.2.5: "If clear, no comparison takes place".
        (&[0x1b00_0001, 0, 0], "ends in any case"),
    ] {
        let all = words(Video, dwords).join(" | ");
        assert!(all.contains(&format!("WRONG: {text}")), "{all}");
    }
    for right in [
        &[0x0b00_0001 | 1 << 20 | 1 << 18 | 2 << 16, 6, 0x12044][..],
        &[0x0185_0000],
        &[0x1100_0001, 0x12094, 1],
        &[0x1200_0001, 0x12358, 0x1000],
        &[0x1080_0001, 0x40, 0],
        &[0x1000_0002, 0, 0x1004, 1],
        &[0x11c0_0001, 0x5000, 1],
    ] {
        let all = words(Video, right).join(" | ");
        assert!(!all.contains("WRONG"), "{all}");
    }
}

#[test]
fn waits_and_registers_have_names() {
    let dwords = [
        0x0184_0000,
        0x0b16_0001,
        6,
        0x12044,
        0x14c0_0001,
        0x1217c,
        0x4000,
    ];
    assert_eq!(
        words(Video, &dwords),
        [
            "MI_WAIT_FOR_EVENT: while condition 3",
            "MI_SEMAPHORE_MBOX: compare, with a register, from VRSYNC",
            "exceeds 0x6",
            "address 0x00012044",
            "MI_LOAD_REGISTER_MEM: GGTT",
            "register 0x1217c (vcs THRSH)",
            "address 0x00004000",
        ]
    );
}

#[test]
fn flushes_of_the_render_engine() {
    // Digest of the peers, A.9: the table is chosen by bit 24 of dword 1, not by the address.
    let text = words(Render, &[0x7a00_0002, 1 << 24 | 1 << 14, 0x1000, 7]);
    assert_eq!(
        text,
        [
            "PIPE_CONTROL",
            "then store immediate, GGTT",
            "address 0x00001000",
            "data 0x00000007",
        ]
    );
}
