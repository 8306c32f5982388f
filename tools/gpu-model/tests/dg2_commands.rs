// SPDX-License-Identifier: GPL-2.0 OR MIT
//! MI commands, predication, the ALU (DG2 PRM Vol 8 "Memory Interface Commands for RCP",
//! "Predication", "CS ALU Programming and Design"; dwords from the digest, §2.1). In the ring, global
//! addresses have bit 22 of the header.

use crate::dg2_rig::*;
use gpu_model::counters::Counter;
use gpu_model::dg2::{EngineId, Rule, StepResult};

const E: EngineId = EngineId::Bcs;
/// A place in guest memory, and its global address.
const AT: u64 = 0x2_0000;
const VA: u32 = 0x12_0000;

/// A register of the engine into guest memory.
fn save(register: u32, to: u32) -> [u32; 4] {
    [0x1248_0002, register, VA + to, 0]
}

#[test]
fn stores_of_every_size() {
    let rig = Rig::new();
    rig.run(
        E,
        &[
            &store(VA.into(), 0x11)[..],
            // A quadword (bit 21), and three of them.
            &[0x1060_0003, VA + 8, 0, 0x22, 0x33],
            &[0x1060_0007, VA + 16, 0, 1, 2, 3, 4, 5, 6],
            // Without bit 22: the per-process space.
            &[0x1000_0002, 0x40, 1, 0x44],
        ]
        .concat(),
    );
    let seen: Vec<u32> = (0..10).map(|i| rig.at(AT + 4 * i)).collect();
    assert_eq!(seen, [0x11, 0, 0x22, 0x33, 1, 2, 3, 4, 5, 6]);
    assert_eq!(rig.at(0x10_0040), 0x44);
    rig.clean();
    rig.run(E, &[0x1060_0003, VA + 4, 0, 1, 2]);
    assert_eq!(rig.gpu.lint_count(Rule::Unaligned), 1);
}

#[test]
fn both_memories_by_both_tables() {
    let rig = Rig::new();
    rig.run(
        E,
        &[
            &store(LOCAL + 0x1f0_0000, 1)[..],
            &[0x1000_0002, 0x100, 1, 2],
            &[0x1000_0002, 0x20_0100, 1, 3],
        ]
        .concat(),
    );
    assert_eq!(rig.local(LOCAL_AT + 0x1f0_0000), 1);
    assert_eq!(rig.at(0x10_0100), 2);
    assert_eq!(rig.local(0x240_0100), 3);
    rig.clean();
}

#[test]
fn status_pages() {
    let rig = Rig::new();
    // The engine's own, and with bit 21 the context's.
    rig.run(E, &[0x1080_0001, 0x300, 0x55, 0x10a0_0001, 0x304, 0x66]);
    assert_eq!(rig.status(E, 0xc0), 0x55);
    assert_eq!(rig.local(LOCAL_AT + 0x304), 0x66);
    rig.clean();
}

#[test]
fn registers_and_memory() {
    let rig = Rig::new();
    rig.put(AT + 0x40, &[0xabcd]);
    rig.run(
        E,
        &[
            // An absolute register, one relative to the engine, byte writes held back (bits 11:8).
            &[0x1100_0001, 0x2_2600, 0x1111_1111][..],
            &[0x1108_0001, 0x608, 0x2222_2222],
            &[0x1108_0001, 0x610, 0x3333_3333],
            &[0x1108_0601, 0x610, 0x4444_4444],
            // Memory to R3, R3 to R4, R0, R1, R2 and R4 to memory.
            &[0x14c8_0002, 0x618, VA + 0x40, 0],
            &[0x150c_0001, 0x618, 0x620],
            &save(0x600, 0),
            &save(0x608, 4),
            &save(0x610, 8),
            &save(0x620, 12),
        ]
        .concat(),
    );
    let seen: Vec<u32> = (0..4).map(|i| rig.at(AT + 4 * i)).collect();
    assert_eq!(seen, [0x1111_1111, 0x2222_2222, 0x4433_3344, 0xabcd]);
    rig.clean();
}

#[test]
fn render_registers_are_remapped() {
    let rig = Rig::new();
    let e = EngineId::Ccs1;
    // Bit 17: 2600h means the engine's own.
    rig.run(e, &[0x1102_0001, 0x2600, 0x77]);
    assert_eq!(rig.ereg(e, 0x600), 0x77);
    assert_eq!(rig.ereg(EngineId::Rcs, 0x600), 0);
    rig.clean();
}

#[test]
fn memory_to_memory() {
    let rig = Rig::new();
    rig.put(AT + 0x40, &[0x1234_5678]);
    // Bit 22: global source, bit 21: global destination.
    rig.run(E, &[0x1760_0003, VA, 0, VA + 0x40, 0]);
    rig.run(E, &[0x1740_0003, 0x80, 1, VA + 0x40, 0]);
    assert_eq!((rig.at(AT), rig.at(0x10_0080)), (0x1234_5678, 0x1234_5678));
    rig.clean();
}

#[test]
fn entries_of_the_global_table() {
    let rig = Rig::new();
    rig.run(E, &[0x1180_0004, 0x5_0000 << 12, 0x1003, 0, 0x2003, 1]);
    assert_eq!(rig.gpu.ggtt_read(0x5_0000 & 0xf_ffff), 0x1003);
    assert_eq!(rig.gpu.ggtt_read(0x5_0001), 0x1_0000_2003);
    rig.clean();
}

#[test]
fn atomics() {
    let rig = Rig::new();
    let dword = |op: u32, a: u32, b: u32| {
        [
            0x1784_0009 | 0x40_0000 | op << 8,
            VA,
            0,
            a,
            b,
            0,
            0,
            0,
            0,
            0,
            0,
        ]
    };
    for (op, before, a, b, after) in [
        (0x01, 0xf0, 0x3c, 0, 0x30),
        (0x04, 0xf0, 0x3c, 0, 0x3c),
        (0x05, 7, 0, 0, 8),
        (0x06, 7, 0, 0, 6),
        (0x07, 7, 5, 0, 12),
        (0x08, 7, 5, 0, 2),
        (0x0e, 7, 7, 9, 9),
        (0x0e, 7, 8, 9, 7),
    ] {
        rig.put(AT, &[before]);
        rig.run(E, &dword(op, a, b));
        assert_eq!(rig.at(AT), after, "{op:#x} {a} {b}");
    }
    // Quadword add with a carry, returning the old value (bit 16) in R4.
    rig.put(AT, &[0xffff_ffff, 1]);
    rig.run(
        E,
        &[
            0x1784_0009 | 0x49_0000 | 0x27 << 8,
            VA,
            0,
            1,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ],
    );
    assert_eq!((rig.at(AT), rig.at(AT + 4)), (0, 2));
    assert_eq!((rig.ereg(E, 0x620), rig.ereg(E, 0x624)), (0xffff_ffff, 1));
    // Sixteen bytes, compared and written.
    rig.put(AT, &[1, 2, 3, 4]);
    rig.run(
        E,
        &[
            0x1784_0009 | 0x50_0000 | 0x4e << 8,
            VA,
            0,
            1,
            5,
            2,
            6,
            3,
            7,
            4,
            8,
        ],
    );
    let seen: Vec<u32> = (0..4).map(|i| rig.at(AT + 4 * i)).collect();
    assert_eq!(seen, [5, 6, 7, 8]);
    rig.clean();
    rig.run(E, &dword(0x1f, 0, 0));
    assert_eq!(rig.gpu.lint_count(Rule::Reserved), 1);
}

#[test]
fn semaphores_compare_memory_with_data() {
    // Relation in 14:12: memory on the left; 0 >, 1 >=, 2 <, 3 <=, 4 ==, 5 !=.
    for (relation, passes) in [
        (0, [false, false, true]),
        (1, [false, true, true]),
        (2, [true, false, false]),
        (3, [true, true, false]),
        (4, [false, true, false]),
        (5, [true, false, true]),
    ] {
        for (memory, pass) in [9, 10, 11].into_iter().zip(passes) {
            let rig = Rig::new();
            rig.put(AT, &[memory]);
            // The short form has no token.
            rig.run(E, &[0x0e40_8002 | relation << 12, 10, VA, 0]);
            let over = rig.csb_pointer(E) == 1;
            assert_eq!(over, pass, "{memory} in relation {relation}");
        }
    }
}

#[test]
fn semaphores_on_registers() {
    let rig = Rig::new();
    // Bit 16: the address is a register's.
    rig.run(E, &[0x0e01_c003, 5, 0x2_2610, 0, 0, NOOP]);
    assert_eq!(rig.gpu.step(E), StepResult::Waiting);
    rig.eset(E, 0x610, 5);
    rig.settle();
    assert_eq!(rig.csb_pointer(E), 1);
    rig.clean();
}

#[test]
fn batches_nest_and_chain() {
    let rig = Rig::new();
    // First, calls (bit 22) second, which chains to third: back in first, then in the ring.
    rig.batch(
        0x8_0000,
        &[0x18c0_0101, 0x8_1000, 1, 0x1000_0002, 0x40, 1, 1],
    );
    rig.put(
        0x18_1000,
        &[0x1000_0002, 0x44, 1, 2, 0x1880_0101, 0x8_2000, 1, NOOP],
    );
    rig.batch(0x8_2000, &[0x1000_0002, 0x48, 1, 3]);
    rig.run(
        E,
        &[&start(USER + 0x8_0000)[..], &store(VA.into(), 4)].concat(),
    );
    let seen: Vec<u32> = (0..3).map(|i| rig.at(0x10_0040 + 4 * i)).collect();
    assert_eq!((seen, rig.at(AT)), (vec![1, 2, 3], 4));
    rig.clean();
    // Bit 16 adds BB_OFFSET.
    rig.run(E, &[0x1108_0001, 0x158, 0x1000, 0x1881_0101, 0x8_1000, 1]);
    rig.clean();
    assert_eq!(rig.gpu.counter(Counter::Batches), 4);
    // A batch that calls itself without end is an error, not a hang of the model.
    rig.put(0x18_3000, &[0x18c0_0101, 0x8_3000, 1, NOOP]);
    rig.run(
        E,
        &[
            &[0x1108_0001, 0x9c, 0x1000_1000][..],
            &start(USER + 0x8_3000),
        ]
        .concat(),
    );
    assert_eq!(rig.gpu.lint_count(Rule::Nesting), 1);
    assert_eq!(rig.ereg(E, 0xb0), 1);
}

#[test]
fn flushes_store_and_tell() {
    let rig = Rig::new();
    rig.gpu.clock().advance_to(1_000_000);
    rig.run(
        E,
        &[
            // Immediate quadword, global (bit 2 of the address); the time; the status page (bit 21).
            &[0x1300_4003, VA | 4, 0, 1, 2][..],
            &[0x1300_c003, (VA + 0x10) | 4, 0, 0, 0],
            &[0x1320_4003, 0x318, 0, 7, 0],
            &[0x1300_0101, 0, 0],
        ]
        .concat(),
    );
    assert_eq!((rig.at(AT), rig.at(AT + 4)), (1, 2));
    assert_eq!(rig.at(AT + 0x10), 19200);
    assert_eq!(rig.status(E, 0xc6), 7);
    // Bit 8 notifies: vector bit 4.
    assert_eq!(rig.identity(E), 0x8003_0110);
    rig.clean();
    rig.run(E, &[0x1300_4003, VA | 0x24, 0, 1, 2]);
    assert_eq!(rig.gpu.lint_count(Rule::FlushAddress), 1);
}

#[test]
fn pipe_control_stores_and_tells() {
    let rig = Rig::new();
    let e = EngineId::Ccs0;
    rig.gpu.clock().advance_to(1_000_000);
    rig.run(
        e,
        &[
            // CS stall (20), global (24), immediate (14) or time (15:14); index (21); register (23).
            &[0x7a00_0004, 0x0110_4000, VA, 0, 1, 2][..],
            &[0x7a00_0004, 0x0110_c000, VA + 8, 0, 0, 0],
            &[0x7a00_0004, 0x0030_4000, 0x318, 0, 7, 0],
            &[0x7a00_0004, 0x0090_0100, 0x1_a608, 0, 0x99, 0],
        ]
        .concat(),
    );
    assert_eq!((rig.at(AT), rig.at(AT + 4), rig.at(AT + 8)), (1, 2, 19200));
    assert_eq!(rig.status(e, 0xc6), 7);
    assert_eq!(rig.ereg(e, 0x608), 0x99);
    assert_eq!(rig.identity(e), 0x8005_0110);
    rig.clean();
    // A dword too short: the upper half of what is stored is zero, and the rule is told.
    rig.run(e, &[0x7a00_0003, 0x0110_4000, VA, 0, 3]);
    assert_eq!((rig.at(AT), rig.at(AT + 4)), (3, 0));
    assert_eq!(rig.gpu.lint_count(Rule::Reserved), 1);
}

#[test]
fn old_translations_are_used_until_they_are_invalidated() {
    let rig = Rig::new();
    let write = |v: u32| [0x1000_0002, 0x5000, 1, v];
    let moved = |to: u64| rig.put_local64(ROOT + 0x3000 + 8 * 5, to | 3);
    rig.context(0);
    rig.append(0, &write(1));
    // It waits, so that the context stays.
    rig.append(0, &[0x0e40_c003, 1, VA, 0, 0, NOOP]);
    rig.append(0, &write(2));
    rig.append(0, &[0x1304_0001, 0, 0]);
    rig.append(0, &write(3));
    rig.load(E, &[descriptor(0)]);
    rig.settle();
    assert_eq!(rig.gpu.cached_translations(E), 1);
    moved(0x10_6000);
    rig.put(AT, &[1]);
    rig.settle();
    // MI_FLUSH_DW bit 18 is what makes the new page seen.
    assert_eq!((rig.at(0x10_5000), rig.at(0x10_6000)), (2, 3));
    rig.clean();
    // The invalidation registers (digest §3.3 row 16).
    assert_eq!(rig.gpu.cached_translations(E), 1);
    rig.set(0xcee4, 1);
    assert_eq!((rig.reg(0xcee4), rig.gpu.cached_translations(E)), (0, 0));
}

#[test]
fn commands_that_are_none_stop_the_engine() {
    for (header, why) in [
        (0x0800_0000, "10h is reserved"),
        (0x1e00_0000, "3Ch is reserved"),
        (0x0c00_0000, "MI_SET_CONTEXT is of the legacy mode"),
        (0x0600_0000, "MI_PREDICATE is not for the blitter"),
        (0x2000_0000, "client 1 is reserved"),
        (0x8000_0000, "client 4 is reserved"),
        (0x7a00_0004, "PIPE_CONTROL is not for the blitter"),
        (0x5fc0_0000, "no blitter command"),
    ] {
        let rig = Rig::new();
        rig.run(
            E,
            &[&store(VA.into(), 1)[..], &[header, NOOP], &[NOOP; 8]].concat(),
        );
        assert_eq!(rig.gpu.step(E), StepResult::Stopped, "{why}");
        assert_eq!(rig.at(AT), 1, "{why}");
        // EIR bit 0, IPEHR, the error bit of the vector (3) beside the switch (8).
        assert_eq!((rig.ereg(E, 0xb0), rig.ereg(E, 0x68)), (1, header), "{why}");
        assert_eq!(rig.identity(E), 0x8003_0108, "{why}");
        // Writing the bit does not help, a reset does (I11).
        rig.eset(E, 0xb0, 1);
        assert_eq!(rig.ereg(E, 0xb0), 1);
        rig.eset(E, 0xd0, 0x0001_0001);
        rig.set(0x941c, 1 << 2);
        assert_eq!(rig.ereg(E, 0xb0), 0);
        assert_eq!(rig.gpu.lint_count(Rule::Instruction), 1);
        assert_eq!(rig.gpu.lint_count(Rule::ErrorPersists), 1);
    }
}

#[test]
fn masked_errors_are_not_kept() {
    let rig = Rig::new();
    rig.eset(E, 0xb4, !0);
    rig.run(E, &[0x0800_0000, NOOP]);
    assert_eq!(rig.ereg(E, 0xb0), 0);
    assert_eq!(rig.gpu.step(E), StepResult::Stopped);
}

#[test]
fn what_is_not_drawn_is_skipped_by_its_length() {
    let rig = Rig::new();
    for (e, command) in [
        (EngineId::Rcs, [0x7877_0003u32, 0, 0, 0, 0].to_vec()),
        (
            EngineId::Rcs,
            [&[0x6101_0014u32][..], &[0x0800_0000; 21]].concat(),
        ),
        (EngineId::Rcs, vec![0x6904_0000]),
        (
            EngineId::Ccs0,
            [&[0x7208_0025u32][..], &[0x0800_0000; 38]].concat(),
        ),
        (
            EngineId::Vcs0,
            [&[0x7000_0003u32][..], &[0x0800_0000; 4]].concat(),
        ),
    ] {
        rig.put(AT, &[0]);
        rig.run(e, &[&command[..], &store(VA.into(), 3)].concat());
        assert_eq!(rig.at(AT), 3, "{} {:#x}", e.name(), command[0]);
        // Images are a class's: each engine gets a new one.
        rig.context(0);
    }
    assert_eq!(rig.gpu.counter(Counter::SkippedCommands), 5);
    rig.clean();
}

#[test]
fn the_ring_wraps() {
    let rig = Rig::new();
    // 4096 bytes: 1020 padding dwords, then a store across the end.
    rig.run(E, &[NOOP; 1022]);
    rig.run(E, &store(VA.into(), 6));
    assert_eq!(rig.at(AT), 6);
    // HEAD counts its wraps from bit 21 on.
    assert_eq!(rig.image(0, 5), 0x20_0008);
    rig.clean();
}

#[test]
fn a_command_that_is_not_all_there_is_told() {
    let rig = Rig::new();
    rig.context(0);
    rig.append(0, &store(VA.into(), 6));
    rig.put_image(0, 7, 8);
    rig.load(E, &[descriptor(0)]);
    rig.settle();
    assert_eq!(rig.gpu.lint_count(Rule::PartialCommand), 1);
    assert_eq!(rig.at(AT), 0);
}

#[test]
fn the_watchdog_tells_and_begins_anew() {
    let rig = Rig::new();
    rig.context(0);
    // Threshold of 19200 ticks; zero in the control starts it.
    rig.append(0, &[0x1108_0003, 0x17c, 19200, 0x178, 0]);
    rig.append(0, &[0x0e40_c003, 1, VA, 0, 0, NOOP]);
    rig.append(0, &[0x1108_0001, 0x178, 1]);
    rig.load(E, &[descriptor(0)]);
    rig.settle();
    rig.identity(E);
    rig.gpu.clock().advance_to(999_000);
    rig.settle();
    assert_eq!(rig.identity(E), 0);
    rig.gpu.clock().advance_to(1_001_000);
    rig.settle();
    // Vector bit 6.
    assert_eq!(rig.identity(E), 0x8003_0040);
    rig.settle();
    assert_eq!(rig.identity(E), 0);
    rig.gpu.clock().advance_to(2_001_000);
    rig.settle();
    assert_eq!(rig.identity(E), 0x8003_0040);
    // One stops it.
    rig.put(AT, &[1]);
    rig.settle();
    rig.identity(E);
    rig.gpu.clock().advance_to(9_000_000);
    rig.settle();
    assert_eq!(rig.identity(E), 0);
    rig.clean();
}

#[test]
fn nopid_and_padding() {
    let rig = Rig::new();
    rig.run(E, &[0x0040_1234, NOOP]);
    assert_eq!(rig.ereg(E, 0x94), 0x1234);
    rig.context(0);
    // What has no effect here: filter, application, scan lines, waits, wake-up.
    rig.run(EngineId::Vcs0, &[0x0680_0000, 0x0700_0000, 0x0e80_0000, 0]);
    rig.context(0);
    rig.run(
        E,
        &[0x0580_0000, 0x0900_0000, 0, 0x0180_0001, 0x0200_0001, NOOP],
    );
    assert_eq!(rig.csb_pointer(E), 3);
    // MI_CLFLUSH is the render engine's.
    rig.context(0);
    rig.run(EngineId::Rcs, &[0x1380_0000, 0]);
    assert_eq!(rig.csb_pointer(EngineId::Rcs), 1);
    rig.clean();
}

#[test]
fn the_head_is_reported() {
    let rig = Rig::new();
    // Dword 4 of the status page; the head stands at the command.
    rig.run(E, &[NOOP, NOOP, 0x0380_0000, NOOP]);
    assert_eq!(rig.status(E, 4), 8);
    rig.clean();
}
