// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The checker's verdicts on batches in literal dwords. Expected values: VCS §1.2 for formats;
//! V-19, V-20 and upstream's version 10 (Linux 7.3) for the rules.

use super::*;
use crate::checker::{Checker, Placed, Verdict};
use std::{vec, vec::Vec};

/// `MI_BATCH_BUFFER_END`.
const END: u32 = 0x0500_0000;

fn check_part(engine: &Tables, batch: &[u32], goes_on: bool) -> Verdict {
    engine.check(batch, &Placed { goes_on }, &mut [])
}

fn check(engine: &Tables, batch: &[u32]) -> Verdict {
    check_part(engine, batch, false)
}

/// Checks a batch after adding an end: `true` if it runs privileged, `false` if unprivileged.
fn passes(engine: &Tables, commands: &[u32]) -> bool {
    let batch = [commands, &[END]].concat();
    match check(engine, &batch) {
        Verdict::Passes {
            dwords: len,
            patches: 0,
        } => {
            assert_eq!(len, batch.len(), "{commands:x?}");
            true
        }
        Verdict::Original { .. } => false,
        verdict => panic!("{commands:x?}: {verdict:?}"),
    }
}

/// Returns where a batch breaks a rule for which user space gets an error.
fn refused(engine: &Tables, batch: &[u32]) -> usize {
    match check(engine, batch) {
        Verdict::Reject { at, .. } => at,
        verdict => panic!("{batch:x?}: {verdict:?}"),
    }
}

const ALL: [&Tables; 3] = [&RENDER, &VIDEO, &BLITTER];

#[test]
fn an_end_is_enough_and_nothing_behind_it_counts() {
    for engine in ALL {
        assert_eq!(check(engine, &[END]), Verdict::unchanged(1));
        // A client that no engine has follows the end.
        assert_eq!(check(engine, &[0, END, 0xe000_0000]), Verdict::unchanged(2));
        assert_eq!(engine.version(), 10);
    }
}

#[test]
fn a_batch_without_an_end_is_an_error() {
    for engine in ALL {
        assert_eq!(refused(engine, &[0, 0, 0]), 3);
        assert_eq!(refused(engine, &[]), 0);
        // A dword of a store is not an end.
        assert_eq!(refused(engine, &[0x1000_0002, 0, 0, END]), 4);
        // An end with another bit set is no end, but for upstream a command of three dwords.
        assert_eq!(refused(engine, &[0x0500_0001, 0, 0]), 3);
        assert!(!passes(engine, &[0x0500_0001, 0, 0]));
    }
}

#[test]
fn clients_that_an_engine_has_not_are_an_error() {
    for client in [1u32, 4, 5, 6, 7] {
        for engine in ALL {
            assert_eq!(refused(engine, &[0, client << 29, END]), 1);
        }
    }
    // 2 is the blitter's alone, 3 the others'.
    assert_eq!(refused(&RENDER, &[2 << 29, 0, END]), 0);
    assert_eq!(refused(&VIDEO, &[2 << 29, 0, END]), 0);
    assert_eq!(refused(&BLITTER, &[3 << 29, 0, END]), 0);
}

#[test]
fn a_command_that_is_longer_than_the_rest_is_an_error() {
    // MI_SET_CONTEXT of 34 dwords: the length is checked before the rule.
    assert_eq!(refused(&RENDER, &[0x0c00_0020, END]), 0);
    // MI_STORE_REGISTER_MEM has three dwords, whatever its length field says.
    assert_eq!(refused(&RENDER, &[0x1200_0000, 0x2358]), 0);
    // MI_BATCH_BUFFER_START is the last dword.
    assert_eq!(refused(&BLITTER, &[0, 0x1880_0000]), 1);
    // A media command has 16 bits of length on the render engine, a codec's 12.
    assert_eq!(refused(&RENDER, &[0x7100_1000, 0, END]), 0);
    assert!(passes(&VIDEO, &[0x7100_1000, 0]));
    assert_eq!(refused(&VIDEO, &[0x7609_1000, 0, END]), 0);
    assert!(passes(&VIDEO, &[0x7109_1000, 0]));
}

#[test]
fn the_first_command_that_counts_decides() {
    // The rule is broken first, so the client after it is not checked.
    assert_eq!(
        check(&RENDER, &[0x0100_0000, 0xe000_0000, END]),
        Verdict::Original {
            at: 0,
            rule: "MI_USER_INTERRUPT"
        }
    );
    assert_eq!(refused(&RENDER, &[0xe000_0000, 0x0100_0000, END]), 0);
    // A command that only this driver does not accept hides no later error.
    let suspend = 0x0580_0001;
    assert_eq!(refused(&RENDER, &[suspend, 0xe000_0000, END]), 1);
    assert_eq!(
        check(&RENDER, &[0, suspend, suspend, END]),
        Verdict::Original {
            at: 1,
            rule: "MI_SUSPEND_FLUSH"
        }
    );
}

#[test]
fn a_part_of_a_batch_without_its_end_runs_as_it_is() {
    for engine in ALL {
        let original = |at, rule| Verdict::Original { at, rule };
        assert_eq!(check_part(engine, &[0, 0], true), original(2, "no end"));
        let cut = [0, 0x1000_0002, 0];
        assert_eq!(check_part(engine, &cut, true), original(1, "length"));
        // The contents of the part are checked.
        assert_eq!(check_part(engine, &[0, END], true), Verdict::unchanged(2));
        let client = check_part(engine, &[0xe000_0000], true);
        assert!(matches!(client, Verdict::Reject { at: 0, .. }));
    }
}

/// MI commands, and whether they pass on the render engine, the video engine and the blitter.
#[test]
fn memory_interface_commands() {
    let y = true;
    let n = false;
    let table: &[(&[u32], [bool; 3])] = &[
        // MI_NOOP, also one that writes the no-op register (bit 22).
        (&[0x0000_0000], [y, y, y]),
        (&[0x0040_1234], [y, y, y]),
        // MI_USER_INTERRUPT, MI_WAIT_FOR_EVENT, MI_ARB_ON_OFF. (On the blitter, upstream gives the
        // last one three dwords and accepts it.)
        (&[0x0100_0000], [n, n, n]),
        (&[0x0180_0002], [n, n, n]),
        (&[0x0400_0001, 0, 0], [n, n, n]),
        // MI_ARB_CHECK, MI_REPORT_HEAD.
        (&[0x0280_0000], [y, y, y]),
        (&[0x0380_0000], [y, y, y]),
        // MI_SUSPEND_FLUSH off and on.
        (&[0x0580_0000], [y, y, y]),
        (&[0x0580_0001], [n, n, n]),
        // MI_FLUSH, MI_PREDICATE, MI_TOPOLOGY_FILTER are the render engine's; others may use
        // another length.
        (&[0x0200_0000, 0], [y, n, n]),
        (&[0x0600_0000, 0], [y, n, n]),
        (&[0x0680_0000, 0], [y, n, n]),
        // MI_SET_APPID is not the blitter's.
        (&[0x0700_0000, 0], [y, y, n]),
        // MI_DISPLAY_FLIP, MI_SEMAPHORE_MBOX, MI_SET_CONTEXT.
        (&[0x0a00_0001, 0, 0], [n, n, n]),
        (&[0x0b04_0001, 0, 0], [n, n, n]),
        (&[0x0c00_0000, 0], [n, n, n]),
        // MI_URB_CLEAR.
        (&[0x0c80_0000, 0], [y, n, n]),
        // MI_STORE_DATA_IMM of a dword and a quadword; in the GGTT; of two dwords; with reserved
        // bits.
        (&[0x1000_0002, 0, 0x1000, 7], [y, y, y]),
        (&[0x1000_0003, 0, 0x1000, 7, 8], [y, y, y]),
        (&[0x1040_0002, 0, 0x1000, 7], [n, n, n]),
        (&[0x1000_0001, 0, 0x1000], [n, n, n]),
        (&[0x1020_0002, 0, 0x1000, 7], [n, n, n]),
        // MI_STORE_DATA_INDEX, MI_UPDATE_GTT.
        (&[0x1080_0001, 0x40, 7], [n, n, n]),
        (&[0x11c0_0000, 0], [n, n, n]),
        // MI_FLUSH_DW: plain; with a store; with TLBs and a timestamp.
        (&[0x1300_0001, 0, 0], [n, y, y]),
        (&[0x1300_4002, 0x1000, 7, 0], [n, y, y]),
        (&[0x1304_c002, 0x1000, 7, 0], [n, y, y]),
        // Notify; a store in the GGTT and in the HWSP; the same bits without a store.
        (&[0x1300_0101, 0, 0], [n, n, n]),
        (&[0x1300_4001, 0x1004, 7], [n, n, n]),
        (&[0x1320_4001, 0x1000, 7], [n, n, n]),
        (&[0x1300_0001, 0x1004, 7], [n, y, y]),
        (&[0x1320_0001, 0x1000, 7], [n, y, y]),
        // Protected memory.
        (&[0x1340_0001, 0, 0], [n, n, n]),
        // MI_CLFLUSH of a PPGTT and of a GGTT address.
        (&[0x1380_0001, 0x1000, 0], [y, n, n]),
        (&[0x13c0_0001, 0x1000, 0], [n, n, n]),
        // MI_REPORT_PERF_COUNT of a PPGTT and of a GGTT address.
        (&[0x1400_0001, 0x1000, 0], [y, n, n]),
        (&[0x1400_0001, 0x1001, 0], [n, n, n]),
        // Later chips have MI_LOAD_REGISTER_REG; only earlier ones have MI_BATCH_BUFFER.
        (&[0x1500_0001, 0x2358, 0x5280], [n, n, n]),
        (&[0x1800_0001, 0, 0], [n, n, n]),
        // MI_BATCH_BUFFER_START, first and second level, privileged and unprivileged.
        (&[0x1880_0000, 0x1000], [n, n, n]),
        (&[0x1880_0100, 0x1000], [n, n, n]),
        (&[0x18c0_0000, 0x1000], [n, n, n]),
        // MI_CONDITIONAL_BATCH_BUFFER_END; the blitter's table has none.
        (&[0x1b20_0001, 5, 0x1000], [y, y, n]),
        (&[0x1b60_0001, 5, 0x1000], [n, n, n]),
    ];
    for (commands, expected) in table {
        let got = ALL.map(|engine| passes(engine, commands));
        assert_eq!(got, *expected, "{commands:x?}");
    }
    // MI_CLFLUSH of 41h dwords, and of 42h, whose length has a seventh bit.
    for (dwords, good) in [(0x41, true), (0x42, false)] {
        let mut lines = vec![0; dwords];
        lines[0] = 0x1380_0000 | (dwords as u32 - 2);
        assert_eq!(passes(&RENDER, &lines), good);
    }
}

/// Returns the offsets of all registers that a batch may load, from upstream's lists.
fn listed() -> [Vec<u32>; 3] {
    let counters = (0x2300..0x2358).step_by(4);
    let clocks = [0x2358, 0x235c, 0x4358, 0x435c, 0x2_2358, 0x2_235c];
    let mut render: Vec<u32> = vec![0x2290, 0x2294, 0x2400, 0x2404, 0x2408, 0x240c, 0x2420];
    render.extend(counters);
    render.extend([
        0x2430, 0x2434, 0x2438, 0x243c, 0x2440, 0x2500, 0x2504, 0x2508,
    ]);
    render.extend((0x5200..0x5220).step_by(4));
    render.extend((0x5240..0x5260).step_by(4));
    render.extend((0x5280..0x5290).step_by(4));
    render.extend([0xb010, 0xb020, 0xb024]);
    render.extend(clocks);
    let mut blitter = clocks.to_vec();
    blitter.push(0x2_2200);
    [render, vec![], blitter]
}

#[test]
fn registers_are_those_of_the_lists_and_no_others() {
    for (engine, listed) in ALL.into_iter().zip(listed()) {
        for register in (0..0x4_0000).step_by(4) {
            let allowed = listed.contains(&register);
            // MI_LOAD_REGISTER_IMM, MI_STORE_REGISTER_MEM.
            assert_eq!(
                passes(engine, &[0x1100_0001, register, 0]),
                allowed,
                "{register:x}"
            );
            assert_eq!(
                passes(engine, &[0x1200_0001, register, 0x1000]),
                allowed,
                "{register:x}"
            );
            // MI_LOAD_REGISTER_MEM: no register with restricted bits.
            assert_eq!(
                passes(engine, &[0x1480_0001, register, 0x1000]),
                allowed && register != 0x2_2200,
                "{register:x}"
            );
        }
    }
}

#[test]
fn all_pairs_of_a_load_are_looked_at() {
    // Two offsets of transform feedback; the register RING_START.
    assert!(passes(&RENDER, &[0x1100_0003, 0x5280, 0, 0x5284, 0]));
    assert!(!passes(&RENDER, &[0x1100_0003, 0x5280, 0, 0x2038, 0]));
    // Any value is allowed, even that of an offset.
    assert!(passes(&RENDER, &[0x1100_0001, 0x5280, 0x2038]));
    // Half a pair: the chip may use the next dword as the value.
    assert!(!passes(&RENDER, &[0x1100_0002, 0x5280, 0, 0x5284]));
    assert!(!passes(&RENDER, &[0x1100_0000, 0x5280]));
    // Some bytes (bits 11:8); reserved bits of the offset (31:23, 1:0).
    assert!(!passes(&RENDER, &[0x1100_0f01, 0x5280, 0]));
    assert!(!passes(&RENDER, &[0x1100_0001, 0x80_5280, 0]));
    assert!(!passes(&RENDER, &[0x1100_0001, 0x5281, 0]));
}

#[test]
fn moves_stay_in_the_own_space_and_have_three_dwords() {
    for header in [0x1200_0001, 0x1480_0001] {
        assert!(passes(&RENDER, &[header, 0x5280, 0x1000]));
        assert!(!passes(&RENDER, &[header | 1 << 22, 0x5280, 0x1000]));
        assert!(!passes(&RENDER, &[header + 1, 0x5280, 0x1000]));
        assert!(!passes(&RENDER, &[header, 0x5282, 0x1000]));
    }
}

#[test]
fn the_blitter_sets_only_its_tiling() {
    let load = |value| passes(&BLITTER, &[0x1100_0001, 0x2_2200, value]);
    for good in [0, 0x0003_0003, 0x0003_0000, 0x0001_0001] {
        assert!(load(good), "{good:x}");
    }
    for bad in [0x0004_0004, 0x0004_0000, 4, u32::MAX] {
        assert!(!load(bad), "{bad:x}");
    }
    // The value comes from memory and cannot be checked.
    assert!(!passes(&BLITTER, &[0x1480_0001, 0x2_2200, 0x1000]));
}

#[test]
fn pipe_control() {
    let flags = |flags| passes(&RENDER, &[0x7a00_0003, flags, 0x1000, 7, 0]);
    // A store of a value, of the depth count, of the timestamp; a stall and flushes; TLBs.
    for good in [1 << 14, 2 << 14, 3 << 14, 0x0010_1021, 1 << 18 | 1 << 14] {
        assert!(flags(good), "{good:x}");
    }
    // A register load; a notification; the GGTT; the HWSP.
    for bad in [
        1 << 23,
        1 << 8,
        1 << 24 | 1 << 14,
        1 << 24 | 3 << 14,
        1 << 21 | 1 << 14,
    ] {
        assert!(!flags(bad), "{bad:x}");
    }
    // Without a store, the last two have no effect.
    assert!(flags(1 << 24));
    assert!(flags(1 << 21));
    // Four dwords, as clients of earlier chips send them.
    assert!(passes(&RENDER, &[0x7a00_0002, 1 << 14, 0x1000, 7]));
}

#[test]
fn commands_of_the_pipelines() {
    let y = true;
    let n = false;
    let table: &[(&[u32], [bool; 2])] = &[
        // 3DSTATE_VF_STATISTICS and PIPELINE_SELECT, of one dword, whatever their low bits are.
        (&[0x680b_0001], [y, n]),
        (&[0x6904_0001], [y, n]),
        // Neighbours of these opcodes, on whose length chip and upstream may disagree.
        (&[0x690a_0000, 0], [n, n]),
        // STATE_BASE_ADDRESS, 3DSTATE_URB_VS, 3DPRIMITIVE with a predicate.
        (&[0x6101_0008, 1, 1, 1, 1, 1, 1, 1, 1, 1], [y, n]),
        (&[0x7830_0000, 0], [y, n]),
        (&[0x7b00_0105, 4, 3, 0, 1, 0, 0], [y, n]),
        // MEDIA_VFE_STATE without and with access to registers (bits 4:3 of dword 2).
        (&[0x7000_0006, 0, 0, 0, 0, 0, 0, 0], [y, y]),
        (&[0x7000_0006, 0, 0x08, 0, 0, 0, 0, 0], [n, y]),
        (&[0x7000_0006, 0, 0x10, 0, 0, 0, 0, 0], [n, y]),
        // Too short to have dword 2.
        (&[0x7000_0000, 0], [n, y]),
        // MFX_WAIT, whose length is fixed (bits 8, 9: the units to wait for).
        (&[0x6800_0100], [n, y]),
    ];
    for (commands, expected) in table {
        // No-ops follow if the command is longer on one of the engines.
        let padded = [*commands, &[0; 0x110]].concat();
        let got = [&RENDER, &VIDEO].map(|engine| passes(engine, &padded));
        assert_eq!(got, *expected, "{commands:x?}");
    }
    // GPGPU_WALKER of eleven dwords with its predicate (bit 8), which is not part of the length.
    let walker = [0x7105_0109, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert!(passes(&RENDER, &walker));
    assert_eq!(refused(&VIDEO, &[&walker[..], &[END]].concat()), 0);
    // It may be indirect (bit 10). Its other bits above the length, and those of a GPGPU_OBJECT,
    // are reserved.
    for (bit, walks) in [
        (1 << 8, [true, true]),
        (1 << 9, [false; 2]),
        (1 << 10, [false, true]),
        (1 << 11, [false; 2]),
        (1 << 15, [false; 2]),
    ] {
        let object = [0x7104_0006 | bit, 0, 0, 0, 0, 0, 0, 0];
        let mut walker = walker;
        walker[0] = 0x7105_0009 | bit;
        let got = [passes(&RENDER, &object), passes(&RENDER, &walker)];
        assert_eq!(got, walks, "{bit:x}");
    }
    // A list of declarations has nine bits of length: 0x102 + 2 dwords.
    let mut list = vec![0; 0x104];
    list[0] = 0x7917_0102;
    list[4] = 0xe000_0000;
    assert!(passes(&RENDER, &list));
}

#[test]
fn blits() {
    // XY_COLOR_BLT, XY_SRC_COPY_BLT, COLOR_BLT, SRC_COPY_BLT.
    for good in [
        &[0x5430_0004, 0x03f0_0100, 0, 0x0010_0010, 0x1000, 7][..],
        &[
            0x54c0_0006,
            0x03cc_0100,
            0,
            0x0010_0010,
            0x1000,
            0,
            0x100,
            0x2000,
        ],
        &[0x5000_0003, 0x03f0_0100, 0x0010_0040, 0x1000, 7],
        &[0x50c0_0004, 0x03cc_0100, 0x0010_0040, 0x1000, 0x100, 0x2000],
    ] {
        assert!(passes(&BLITTER, good), "{good:x?}");
    }
    // Bits 7:5 may be part of the length of the last two: the chip might then execute unchecked
    // dwords. The checker uses them as upstream does.
    for (header, padding) in [(0x5000_0083, 0), (0x5000_0043, 0), (0x5000_0023, 0x20)] {
        let fill = [header, 0x03f0_0100, 0x0010_0040, 0x1000, 7];
        let padded = [&fill[..], &[0; 0x20][..padding]].concat();
        assert!(!passes(&BLITTER, &padded), "{header:x}");
        let header = header + 0x00c0_0001;
        let copy = [header, 0x03cc_0100, 0x0010_0040, 0x1000, 0x100, 0x2000];
        let padded = [&copy[..], &[0; 0x20][..padding]].concat();
        assert!(!passes(&BLITTER, &padded), "{header:x}");
    }
    // There is no blit 0x7f.
    assert!(!passes(&BLITTER, &[0x5fc0_0000, 0]));
}

#[test]
fn a_batch_of_a_video_client_passes() {
    // MFX_PIPE_MODE_SELECT, MFX_SURFACE_STATE, MFX_BSP_BUF_BASE_ADDR_STATE, MFD_MPEG2_BSD_OBJECT:
    // headers of V-21.
    let mut batch = vec![];
    for (header, dwords) in [
        (0x7000_0003u32, 5),
        (0x7001_0004, 6),
        (0x7004_0002, 4),
        (0x7328_0003, 5),
    ] {
        batch.push(header);
        batch.resize(batch.len() + dwords - 1, 0x0500_0001);
    }
    batch.extend([0x1300_0002, 0, 0, 0]);
    assert!(passes(&VIDEO, &batch));
}

#[test]
fn rows_are_reached_through_the_index() {
    for engine in ALL {
        for row in engine.rows {
            assert_eq!(row.value & !row.mask, 0, "{}", row.name);
        }
        for key in 0..512 {
            let header = key << 23 | 0x7f_ffff;
            let first = engine
                .rows
                .iter()
                .find(|r| (header ^ r.value) & r.mask == 0);
            assert_eq!(engine.row(header), first);
        }
        assert!(engine.registers.is_sorted_by_key(|r| r.offset));
    }
}
