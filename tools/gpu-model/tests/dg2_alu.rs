// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The ALU and predication (DG2 PRM Vol 8 "CS ALU Programming and Design", "Predication"; dwords from the
//! digest, §2.1). In the ring, global addresses have bit 22 of the header.

use crate::dg2_rig::*;
use gpu_model::counters::Counter;
use gpu_model::dg2::{EngineId, Rule};

const E: EngineId = EngineId::Bcs;
/// A place in guest memory, and its global address.
const AT: u64 = 0x2_0000;
const VA: u32 = 0x12_0000;

/// MI_LOAD_REGISTER_IMM of general registers' halves, from R0 on.
fn set_gprs(values: &[u64]) -> Vec<u32> {
    let mut d = vec![0x1108_0000 | (4 * values.len() as u32 - 1)];
    for (i, v) in values.iter().enumerate() {
        let at = 0x600 + 8 * i as u32;
        d.extend([at, *v as u32, at + 4, (v >> 32) as u32]);
    }
    d
}

#[test]
fn arithmetic() {
    // op << 20 | first << 10 | second; SRCA 20h, SRCB 21h, ACCU 31h, ZF 32h, CF 33h.
    let load = |a: u32, b: u32| [0x0800_8000 | a, 0x0800_8400 | b];
    for (op, a, b, accu, zero, carry) in [
        (0x100u32, 5u64, 7u64, 12u64, 0u64, 0u64),
        (0x100, u64::MAX, 1, 0, u64::MAX, u64::MAX),
        (0x101, 7, 5, 2, 0, 0),
        (0x101, 5, 5, 0, u64::MAX, 0),
        (0x102, 0xff00, 0x0ff0, 0x0f00, 0, 0),
        (0x103, 0xff00, 0x0ff0, 0xfff0, 0, 0),
        (0x104, 0xff00, 0x0ff0, 0xf0f0, 0, 0),
        (0x105, 3, 15, 0x300, 0, 0),
        (0x106, 0x300, 8, 3, 0, 0),
        (0x107, 0x8000_0000_0000_0000, 4, 0xf800_0000_0000_0000, 0, 0),
    ] {
        let rig = Rig::new();
        let math = [
            &[0x0d00_0005][..],
            &load(0, 1),
            &[op << 20, 0x1800_0831, 0x1800_0c32, 0x1800_1033],
        ]
        .concat();
        let math = [&[0x0d00_0000 | (math.len() as u32 - 2)][..], &math[1..]].concat();
        rig.run(E, &[set_gprs(&[a, b]), math].concat());
        let gpr = |n: u32| {
            u64::from(rig.ereg(E, 0x600 + 8 * n)) | u64::from(rig.ereg(E, 0x604 + 8 * n)) << 32
        };
        assert_eq!(
            (gpr(2), gpr(3), gpr(4)),
            (accu, zero, carry),
            "{op:#x} {a:#x} {b:#x}"
        );
        rig.clean();
    }
}

#[test]
fn constants_inverses_and_indirect_operands() {
    let rig = Rig::new();
    rig.put(AT, &[0x1111, 0x2222]);
    rig.run(
        E,
        &[
            set_gprs(&[0xf0, u64::from(VA), 8]),
            vec![
                0x0d00_000e,
                // R3 = ~(~R0 | 0); LOADINV, LOAD0, OR, STOREINV.
                0x4800_8000,
                0x0810_8400,
                0x1030_0000,
                0x5800_0c31,
                // R4 = LOAD1 & R0.
                0x4810_8000,
                0x0800_8400,
                0x1020_0000,
                0x1800_1031,
                // ACCU = R1 + R2: STOREIND [ACCU], R3; a fence; ACCU = R1 + 0: LOADIND R5.
                0x0800_8001,
                0x0800_8402,
                0x1000_0000,
                0x1810_c403,
                0x0020_0000,
                0x0810_8400,
                0x1000_0000,
            ],
            vec![0x0d00_0000, 0x0820_1431],
        ]
        .concat(),
    );
    // An ALU keeps nothing between commands: LOADIND of the second read address zero.
    assert_eq!(rig.gpu.stop_reason(E), gpu_model::dg2::engine::Stop::Fault);
    assert_eq!((rig.ereg(E, 0x618), rig.ereg(E, 0x620)), (0xf0, 0xf0));
    assert_eq!((rig.at(AT + 8), rig.at(AT + 12)), (0xf0, 0));
    let rig = Rig::new();
    rig.put(AT, &[0x1111, 0x2222]);
    rig.run(
        E,
        &[
            set_gprs(&[u64::from(VA) + 3, 0]),
            // The address's low bits are ignored.
            vec![
                0x0d00_0004,
                0x0800_8000,
                0x0810_8400,
                0x1000_0000,
                0x0820_1431,
                0x0010_0000,
            ],
        ]
        .concat(),
    );
    assert_eq!((rig.ereg(E, 0x628), rig.ereg(E, 0x62c)), (0x1111, 0x2222));
    rig.clean();
    // R16, and an opcode of no table.
    rig.run(E, &[0x0d00_0001, 0x0800_8010, 0x7ff0_0000]);
    assert_eq!(rig.gpu.lint_count(Rule::Alu), 2);
}

#[test]
fn set_predicate_drops_all_that_follows() {
    // Modes: 0 never, 1 RESULT_2 clear, 2 RESULT_2 set, 3 RESULT clear, 4 RESULT set, 15 always.
    for (mode, result, result_2, dropped) in [
        (0, 1, 1, false),
        (1, 0, 0, true),
        (1, 0, 1, false),
        (2, 0, 0, false),
        (2, 0, 1, true),
        (3, 0, 0, true),
        (3, 1, 0, false),
        (4, 0, 0, false),
        (4, 1, 0, true),
        (15, 0, 0, true),
    ] {
        let rig = Rig::new();
        let e = EngineId::Rcs;
        rig.run(
            e,
            &[
                &[0x1108_0003, 0x418, result, 0x3bc, result_2][..],
                &[0x0080_0000 | mode],
                &store(VA.into(), 1),
                &[USER_INTERRUPT, 0x0080_0000],
                &store(u64::from(VA) + 4, 1),
            ]
            .concat(),
        );
        let expected = u32::from(!dropped);
        assert_eq!((rig.at(AT), rig.at(AT + 4)), (expected, 1), "mode {mode}");
        let interrupts = rig.gpu.counter(Counter::RcsUserInterrupts);
        assert_eq!(interrupts, u64::from(expected), "mode {mode}");
        // The outcome is in 3B8h, which the last one cleared.
        assert_eq!(rig.ereg(e, 0x3b8), 0);
    }
}

#[test]
fn batches_obey_set_predicate_by_their_own_bit() {
    let rig = Rig::new();
    rig.batch(0x8_0000, &[0x0080_0000, 0x1000_0002, 0x40, 1, 1, NOOP]);
    // Without bit 15 a batch is entered whatever the predicate.
    rig.run(E, &[&[0x0080_000f][..], &start(USER + 0x8_0000)].concat());
    assert_eq!(rig.at(0x10_0040), 1);
    rig.put(0x10_0040, &[0]);
    rig.run(
        E,
        &[0x0080_000f, 0x1880_8101, 0x8_0000, 1, 0x0080_0000, NOOP],
    );
    assert_eq!(rig.at(0x10_0040), 0);
    // The end too: with bit 15 it does not end while the predicate says drop.
    rig.put(
        0x18_0000,
        &[
            0x0080_000f,
            0x0500_8000,
            0x0080_0000,
            0x1000_0002,
            0x40,
            1,
            2,
            BATCH_END,
        ],
    );
    rig.run(E, &start(USER + 0x8_0000));
    assert_eq!(rig.at(0x10_0040), 2);
    rig.clean();
}

#[test]
fn predicate_drops_what_asks_for_it() {
    let rig = Rig::new();
    let e = EngineId::Rcs;
    // Sources equal: load (2 << 6), set, compare equal (2).
    let sources = |a: u32, b: u32| [0x1108_0007, 0x400, a, 0x404, 0, 0x408, b, 0x40c, 0];
    let predicated = [0x1268_0002, 0x608, VA, 0];
    for (a, b, header, result) in [
        (5, 5, 0x0600_0082, 1),
        (5, 6, 0x0600_0082, 0),
        // Inverted (3 << 6).
        (5, 6, 0x0600_00c2, 1),
        // And, or, exclusive or with what was: 1.
        (5, 6, 0x0600_008a, 0),
        (5, 5, 0x0600_0092, 1),
        (5, 5, 0x0600_009a, 0),
        // Kept.
        (5, 5, 0x0600_0002, 0),
        // True, false.
        (0, 0, 0x0600_0080, 1),
        (0, 0, 0x0600_0081, 0),
    ] {
        rig.put(AT, &[0]);
        rig.run(
            e,
            &[
                &sources(a, b)[..],
                &[header],
                &[0x1108_0001, 0x608, 7],
                &predicated,
            ]
            .concat(),
        );
        assert_eq!(rig.ereg(e, 0x418), result, "{header:#x} {a} {b}");
        assert_eq!(rig.at(AT), 7 * result, "{header:#x} {a} {b}");
        // The rows build on each other only where they say so.
        if header == 0x0600_00c2 || header == 0x0600_008a || header == 0x0600_0092 {
            rig.run(e, &[0x1108_0001, 0x418, 1]);
        }
    }
    rig.clean();
}

#[test]
fn reports_of_counters() {
    let rig = Rig::new();
    let e = EngineId::Rcs;
    rig.put(AT, &[1; 64]);
    // Bit 0 of the address: global. The report's id, and zeros.
    rig.run(e, &[0x1400_0002, VA | 1, 0, 0x99]);
    assert_eq!((rig.at(AT), rig.at(AT + 4), rig.at(AT + 252)), (0x99, 0, 0));
    rig.clean();
    // A program may not (Q12).
    rig.put(AT, &[1; 64]);
    rig.run_batch(e, &[0x1400_0002, VA | 1, 0, 0x99]);
    assert_eq!(rig.at(AT), 1);
    assert_eq!(rig.gpu.client_lints(), [(Rule::Privilege, 1)]);
}

#[test]
fn arithmetic_can_be_predicated() {
    // Bit 15 of MI_MATH: MI_PREDICATE_RESULT 0 drops it.
    for (result, r1) in [(0, 0), (1, 0x55)] {
        let rig = Rig::new();
        let e = EngineId::Rcs;
        let math = [
            0x0d00_8003,
            0x0800_8000,
            0x0810_8400,
            0x1000_0000,
            0x1800_0431,
        ];
        rig.run(
            e,
            &[
                &set_gprs(&[0x55, 0])[..],
                &[0x1108_0001, 0x418, result],
                &math,
            ]
            .concat(),
        );
        assert_eq!(rig.ereg(e, 0x608), r1);
        rig.clean();
    }
}

#[test]
fn conditional_ends() {
    let rig = Rig::new();
    rig.batch(
        0x8_0000,
        &[0x1b20_0002, 5, 0x80, 1, 0x1000_0002, 0x40, 1, 1],
    );
    // Ends unless memory is greater than the data.
    for (memory, went_on) in [(4, 0), (5, 0), (6, 1)] {
        rig.put(0x10_0040, &[0]);
        rig.put(0x10_0080, &[memory]);
        rig.run(E, &start(USER + 0x8_0000));
        assert_eq!(rig.at(0x10_0040), went_on, "{memory}");
    }
    rig.clean();
    rig.run(E, &[BATCH_END, NOOP]);
    assert_eq!(rig.gpu.lint_count(Rule::EndInRing), 1);
}
