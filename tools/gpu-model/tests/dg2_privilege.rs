// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What a batch in the per-process space may not do, and the order of writes (DG2 PRM Vol 8 "User Mode
//! Privileged Commands", "Producer-Consumer Data ordering for MI Commands").

use crate::dg2_rig::*;
use gpu_model::counters::Counter;
use gpu_model::dg2::{Dg2Config, EngineId, Rule};

const E: EngineId = EngineId::Bcs;
const AT: u64 = 0x2_0000;
const VA: u32 = 0x12_0000;
/// A per-process address of guest memory 0x100040.
const MINE: [u32; 2] = [0x40, 1];

#[test]
fn commands_with_global_addresses_are_dropped() {
    // Each would change the dword at VA, or wait without end, or end the batch.
    let cases: &[(&str, &[u32])] = &[
        ("MI_STORE_DATA_IMM", &[0x1040_0002, VA, 0, 1]),
        ("MI_STORE_DATA_INDEX", &[0x1080_0001, 0x300, 1]),
        ("MI_STORE_REGISTER_MEM", &[0x1248_0002, 0x600, VA, 0]),
        ("MI_LOAD_REGISTER_MEM", &[0x14c8_0002, 0x600, VA, 0]),
        ("MI_COPY_MEM_MEM to", &[0x1720_0003, VA, 0, 0x40, 1]),
        ("MI_COPY_MEM_MEM from", &[0x1740_0003, 0x40, 1, VA, 0]),
        ("MI_ATOMIC", &[0x17c4_0709, VA, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
        ("MI_SEMAPHORE_WAIT", &[0x0e40_c003, 77, VA, 0, 0]),
        ("MI_CONDITIONAL_BATCH_BUFFER_END", &[0x1b60_0002, !0, VA, 0]),
        ("MI_ARB_ON_OFF", &[0x0400_0000]),
        ("MI_UPDATE_GTT", &[0x1180_0002, 0x7000_0000, 1, 0]),
        ("MI_FLUSH_DW", &[0x1300_4003, VA | 4, 0, 1, 0]),
        ("MI_FLUSH_DW index", &[0x1320_4003, 0x300, 0, 1, 0]),
        ("MI_DISPLAY_FLIP", &[0x0a00_0001, 0, 0]),
    ];
    for (name, command) in cases {
        let rig = Rig::new();
        rig.put(AT, &[0x77]);
        rig.put(0x10_0040, &[0x55]);
        // EMR lets the privilege error through: bit 2.
        rig.eset(E, 0xb4, 0xffff_fffb);
        rig.run_batch(E, &[command, &[0x1000_0002, 0x80, 1, 9][..]].concat());
        assert_eq!((rig.at(AT), rig.at(0x10_0040)), (0x77, 0x55), "{name}");
        assert_eq!(
            (rig.status(E, 0xc0), rig.gpu.ggtt_read(0x7_0000)),
            (0, 0),
            "{name}"
        );
        assert_eq!(rig.ereg(E, 0x600), 0, "{name}");
        // The stream goes on, the violation is logged (Q2).
        assert_eq!(rig.at(0x10_0080), 9, "{name}");
        assert_eq!(rig.ereg(E, 0xb0), 4, "{name}");
        assert_eq!(rig.identity(E), 0x8003_0108, "{name}");
        assert_eq!(rig.gpu.counter(Counter::PrivilegeViolations), 1, "{name}");
        assert_eq!(rig.gpu.client_lints(), [(Rule::Privilege, 1)], "{name}");
        assert_eq!(rig.gpu.lints(), [], "{name}");
    }
}

#[test]
fn flushes_are_done_without_their_store() {
    let rig = Rig::new();
    // MI_FLUSH_DW's notification, and on a render engine PIPE_CONTROL's.
    rig.run_batch(E, &[0x1300_4103, VA | 4, 0, 1, 0]);
    assert_eq!(rig.identity(E), 0x8003_0110);
    let e = EngineId::Rcs;
    rig.context(0);
    for (flags, place) in [
        (0x0110_4100, VA),
        (0x0030_4100, 0x300),
        (0x0090_0100, 0x2244),
    ] {
        rig.run_batch(e, &[0x7a00_0004, flags, place, 0, 1, 0]);
        assert_eq!(rig.identity(e), 0x8000_0110, "{flags:#x}");
    }
    assert_eq!((rig.at(AT), rig.status(e, 0xc0)), (0, 0));
    assert_eq!(rig.gpu.counter(Counter::PrivilegeViolations), 4);
    // To a register that it may write, and into its own space, it is all done.
    rig.run_batch(
        e,
        &[
            0x7a00_0004,
            0x0090_0000,
            0x2600,
            0,
            8,
            0,
            0x7a00_0004,
            0x0010_4000,
            0x40,
            1,
            6,
            0,
        ],
    );
    assert_eq!((rig.ereg(e, 0x600), rig.at(0x10_0040)), (8, 6));
}

#[test]
fn a_privileged_register_drops_the_whole_load() {
    let rig = Rig::new();
    // The second of the pairs is RING_TAIL.
    rig.run_batch(E, &[0x1108_0003, 0x600, 1, 0x30, 0x100]);
    assert_eq!(rig.ereg(E, 0x600), 0);
    assert_eq!(rig.gpu.client_lints(), [(Rule::PrivilegedRegister, 1)]);
    // A copy of registers drops its write alone; memory to a register all.
    rig.run_batch(
        E,
        &[
            0x150c_0001,
            0x600,
            0x80,
            0x1488_0002,
            0x80,
            MINE[0],
            MINE[1],
        ],
    );
    assert_eq!(rig.ereg(E, 0x80), 0x10_1000);
    // From the ring everything is allowed.
    rig.run(E, &[0x1108_0001, 0x4d0, 0x2_2244]);
    assert_eq!(rig.gpu.counter(Counter::PrivilegeViolations), 3);
    assert_eq!(rig.gpu.lints(), []);
}

#[test]
fn registers_of_the_lists_can_be_reached() {
    let rig = Rig::new();
    // R0 is written and read; the time is read only; RING_START reads zero.
    rig.gpu.clock().advance_to(1_000_000);
    rig.run_batch(
        E,
        &[
            &[0x1108_0001, 0x600, 0x42][..],
            &[0x1208_0002, 0x600, 0x40, 1],
            &[0x1208_0002, 0x358, 0x44, 1],
            &[0x1208_0002, 0x38, 0x48, 1],
        ]
        .concat(),
    );
    let seen: Vec<u32> = (0..3).map(|i| rig.at(0x10_0040 + 4 * i)).collect();
    assert_eq!(seen, [0x42, 19200, 0]);
    assert_eq!(rig.gpu.client_lints(), [(Rule::PrivilegedRegister, 1)]);
    assert_eq!(rig.gpu.counter(Counter::PrivilegeViolations), 0);
}

#[test]
fn slots_open_and_close_registers() {
    let rig = Rig::new();
    // 248h for writing and reading; 580h deny (bit 30), though nothing else allows it; 24Ch read only.
    rig.eset(E, 0x4d0, 0x2_2248);
    rig.eset(E, 0x4d4, 0x1002_224c);
    rig.eset(E, 0x4d8, 0x4002_2600);
    rig.run_batch(E, &[0x1108_0001, 0x248, 5]);
    assert_eq!(rig.ereg(E, 0x248), 5);
    assert_eq!(rig.gpu.client_lints(), []);
    rig.run_batch(E, &[0x1108_0001, 0x24c, 5, 0x1208_0002, 0x24c, 0x40, 1]);
    rig.run_batch(E, &[0x1108_0001, 0x600, 5]);
    assert_eq!((rig.ereg(E, 0x24c), rig.ereg(E, 0x600)), (0, 0));
    assert_eq!(rig.gpu.client_lints(), [(Rule::PrivilegedRegister, 2)]);
}

#[test]
fn what_upstream_opens_to_programs_can_be_written() {
    // The kernel's intel_workarounds.c opens 7304h and 7010h to programs of a DG2's render engine; its selftest
    // live_dirty_whitelist writes patterns. Upper half: which bits of the lower one are written.
    let e = EngineId::Rcs;
    for register in [0x7304, 0x7010] {
        let rig = Rig::new();
        rig.eset(e, 0x4d0, register);
        for (value, expected) in [
            (0xffff_ffff, 0xffff),
            (0x00ff_0000, 0xff00),
            (0x0000_ffff, 0xff00),
            (0x0101_0001, 0xfe01),
        ] {
            rig.run_batch(
                e,
                &[0x1100_0001, register, value, 0x1200_0002, register, 0x40, 1],
            );
            assert_eq!(rig.at(0x10_0040), expected, "{register:#x} {value:#x}");
        }
        assert_eq!(rig.gpu.client_lints(), []);
        rig.clean();
    }
}

#[test]
fn a_child_has_no_more_privilege_than_its_parent() {
    let rig = Rig::new();
    // A global batch from the ring is privileged; the same asked for by a program is not, and its
    // address is a per-process one then (J9).
    rig.put(
        0x3_0000,
        &[&store(VA.into(), 5)[..], &[BATCH_END, NOOP]].concat(),
    );
    rig.run(E, &[0x1880_0001, 0x13_0000, 0]);
    assert_eq!(rig.at(AT), 5);
    rig.clean();
    rig.put(AT, &[0]);
    rig.put(
        0x18_1000,
        &[
            0x1000_0002,
            0x40,
            1,
            3,
            0x1040_0002,
            VA,
            0,
            6,
            BATCH_END,
            NOOP,
        ],
    );
    rig.run_batch(E, &[0x18c0_0001, 0x8_1000, 1]);
    assert_eq!((rig.at(0x10_0040), rig.at(AT)), (3, 0));
}

#[test]
fn unknown_registers_are_the_programs_business() {
    let rig = Rig::new();
    rig.eset(E, 0x4d0, 0x4ffc);
    rig.run_batch(E, &[0x1100_0001, 0x4ffc, 5]);
    assert_eq!(rig.gpu.client_lints(), [(Rule::ClientRegister, 1)]);
    assert_eq!(rig.gpu.undocumented(), []);
}

/// Runs until the engine waits for memory at AT + 0x40, which stays 0.
fn until_wait(rig: &Rig, e: EngineId, commands: &[u32]) {
    rig.context(0);
    rig.append(0, commands);
    // A register poll drains nothing: R15 stays 0.
    rig.append(0, &[0x0e01_c003, 1, e.base() + 0x678, 0, 0, NOOP]);
    rig.load(e, &[descriptor(0)]);
    let reached = |rig: &Rig| rig.ereg(e, 0x68) == 0x0e01_c003;
    for _ in 0..40 {
        if reached(rig) {
            break;
        }
        rig.gpu.step(e);
    }
    assert!(reached(rig));
}

#[test]
fn posted_stores_come_late() {
    // One command before the next looks: nothing has arrived yet, but with what waits for it, all.
    let posted: &[(&str, &[u32])] = &[
        ("MI_STORE_DATA_IMM", &[0x1040_0002, VA, 0, 1]),
        ("MI_STORE_REGISTER_MEM", &[0x1248_0002, 0x8c, VA, 0]),
        ("MI_COPY_MEM_MEM", &[0x1760_0003, VA, 0, VA + 0x80, 0]),
    ];
    let ends: &[(&str, &[u32])] = &[
        ("MI_FLUSH_DW", &[0x1300_0001, 0, 0]),
        (
            "MI_FLUSH_DW with a store",
            &[0x1300_4003, (VA + 0x10) | 4, 0, 1, 0],
        ),
        ("MI_LOAD_REGISTER_MEM", &[0x14c8_0002, 0x600, VA + 0x20, 0]),
        (
            "MI_ATOMIC",
            &[0x17c4_0509, VA + 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ),
        ("MI_SEMAPHORE_WAIT", &[0x0e40_c003, 0, VA + 0x28, 0, 0]),
        ("MI_MATH FENCE_WR", &[0x0d00_0000, 0x0020_0000]),
    ];
    for (name, command) in posted {
        for (end, waits) in [&[("nothing", &[NOOP][..])][..], ends].concat() {
            let rig = Rig::new();
            rig.put(AT + 0x80, &[1]);
            rig.context(0);
            // Unlocked from the rest: the look is a copy by a second engine's CPU, between steps.
            rig.append(0, command);
            rig.append(0, waits);
            rig.append(0, &[NOOP; 64]);
            rig.load(E, &[descriptor(0)]);
            let steps = 1 + 1 + 1 + (command.len() % 2) + (waits.len() % 2);
            for _ in 0..steps {
                rig.gpu.step(E);
            }
            let arrived = rig.at(AT) != 0;
            assert_eq!(arrived, end != "nothing", "{name}, then {end}");
            rig.settle();
            assert_ne!(rig.at(AT), 0, "it arrives at last");
            rig.clean();
        }
    }
    let rig = Rig::with(Dg2Config {
        late_stores: false,
        ..Dg2Config::default()
    });
    until_wait(&rig, E, &store(VA.into(), 1));
    assert_eq!(rig.at(AT), 1);
}

#[test]
fn pipe_control_waits_only_with_its_stall() {
    for (flags, arrived) in [(0x0100_4000, 0), (0x0110_4000, 1)] {
        let rig = Rig::new();
        let e = EngineId::Rcs;
        rig.context(0);
        rig.append(0, &store(VA.into(), 1));
        rig.append(0, &[0x7a00_0004, flags, VA + 8, 0, 1, 0]);
        rig.append(0, &[NOOP; 8]);
        rig.load(e, &[descriptor(0)]);
        for _ in 0..3 {
            rig.gpu.step(e);
        }
        assert_eq!(
            (rig.at(AT), rig.at(AT + 8)),
            (arrived, arrived),
            "{flags:#x}"
        );
        rig.settle();
        assert_eq!((rig.at(AT), rig.at(AT + 8)), (1, 1));
    }
}

#[test]
fn consumers_that_software_orders_see_what_was() {
    let rig = Rig::new();
    // MI_COPY_MEM_MEM reads the old value; after a flush it reads the new one.
    rig.run(
        E,
        &[
            &store(VA.into(), 1)[..],
            &[0x1760_0003, VA + 8, 0, VA, 0],
            &[0x1300_0001, 0, 0],
            &[0x1760_0003, VA + 16, 0, VA, 0],
        ]
        .concat(),
    );
    assert_eq!((rig.at(AT + 8), rig.at(AT + 16)), (0, 1));
    // A batch that was just written runs as it was.
    rig.put(0x18_0000, &[BATCH_END, NOOP]);
    rig.put(0x10_0040, &[0]);
    rig.run(
        E,
        &[
            &[0x1020_0003, 0x8_0000, 1, 0x0100_0000, BATCH_END, NOOP][..],
            &start(USER + 0x8_0000),
        ]
        .concat(),
    );
    assert_eq!(rig.gpu.counter(Counter::BcsUserInterrupts), 0);
    rig.run(
        E,
        &[&[0x1300_0001, 0, 0][..], &start(USER + 0x8_0000)].concat(),
    );
    assert_eq!(rig.gpu.counter(Counter::BcsUserInterrupts), 1);
    rig.clean();
}

#[test]
fn registers_in_async_mode_come_late() {
    let rig = Rig::new();
    rig.put(AT, &[7]);
    // Bit 21; a register-to-register copy sees the old value, after a flush the new one.
    rig.run(
        E,
        &[
            &[0x14e8_0002, 0x600, VA, 0][..],
            &[0x150c_0001, 0x600, 0x608],
            &[0x1300_0001, 0, 0],
            &[0x150c_0001, 0x600, 0x610],
        ]
        .concat(),
    );
    assert_eq!((rig.ereg(E, 0x608), rig.ereg(E, 0x610)), (0, 7));
    rig.clean();
}

#[test]
fn an_interrupt_that_overtakes_its_store_is_told() {
    let rig = Rig::new();
    rig.run(
        E,
        &[&store(VA.into(), 1)[..], &[USER_INTERRUPT, NOOP]].concat(),
    );
    assert_eq!(rig.gpu.lint_count(Rule::EarlyInterrupt), 1);
    rig.run(E, &[0x1300_4003, VA | 4, 0, 1, 0, USER_INTERRUPT]);
    assert_eq!(rig.gpu.lint_count(Rule::EarlyInterrupt), 1);
}
