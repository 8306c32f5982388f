// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What the vendor's own tests of DG2 say, as programs for the model. They are told in
//! `Documentation/gpu/ouro/witnesses.rst` (VW01 and on: GitHub intel/compute-runtime,
//! `opencl/test/unit_test/aub_tests`); their code is not here. As there, a program is a batch of a compute engine that
//! names registers of the render engine, which bit 17 of a header turns into its own.

use crate::dg2_rig::*;
use gpu_model::dg2::EngineId;

const E: EngineId = EngineId::Ccs0;
/// A surface in guest memory, and its address there; addresses of programs have 1 in their upper half.
const AT: u64 = 0x10_1000;
const LOW: u32 = 0x1000;
const HIGH: u32 = 1;
/// A surface in local memory.
const LOCAL_SURFACE: u64 = 0x240_0000;
const LOCAL_LOW: u32 = 0x20_0000;
/// Registers: numbers of partitions, their mask, the offset of each.
const WPARID: u32 = 0x221c;
const MASK: u32 = 0x21fc;
const STEP: u32 = 0x23b4;
/// MI_SET_PREDICATE with 2 in bits 5:4, and with nothing.
const PARTITIONS: u32 = 0x0080_0020;
const ALWAYS: u32 = 0x0080_0000;

const fn gpr(n: u32) -> u32 {
    0x2600 + 8 * n
}

/// MI_LOAD_REGISTER_IMM.
fn set(register: u32, value: u32) -> Vec<u32> {
    vec![0x1102_0001, register, value]
}

/// MI_LOAD_REGISTER_REG.
fn copy(from: u32, to: u32) -> Vec<u32> {
    vec![0x1503_0001, from, to]
}

/// MI_STORE_REGISTER_MEM.
fn keep(register: u32, low: u32) -> Vec<u32> {
    vec![0x1202_0002, register, low, HIGH]
}

/// PIPE_CONTROL that waits and stores a value.
fn barrier(low: u32, value: u32) -> Vec<u32> {
    vec![0x7a00_0004, 0x0010_4000, low, HIGH, value, 0]
}

// Instructions of MI_MATH: opcode << 20 | first << 10 | second (VW10).
const SRCA: u32 = 0x20;
const SRCB: u32 = 0x21;
const ACCU: u32 = 0x31;
const FENCE: u32 = 0x0010_0000;
const ADD: u32 = 0x1000_0000;
const OR: u32 = 0x1030_0000;
const SHL: u32 = 0x1050_0000;
const SHR: u32 = 0x1060_0000;
const SAR: u32 = 0x1070_0000;

const fn load(to: u32, register: u32) -> u32 {
    0x080 << 20 | to << 10 | register
}

const fn store_accu(register: u32) -> u32 {
    0x180 << 20 | register << 10 | ACCU
}

const fn load_indirect(register: u32) -> u32 {
    0x082 << 20 | register << 10 | ACCU
}

const fn store_indirect(register: u32) -> u32 {
    0x181 << 20 | ACCU << 10 | register
}

/// MI_MATH (VW11).
fn math(instructions: &[u32]) -> Vec<u32> {
    let header = 0x0d00_0000 | (instructions.len() as u32 - 1);
    [&[header], instructions].concat()
}

/// The address whose halves are in two registers, into ACCU; `by` has 32 (VW01).
fn address(low: u32, high: u32, by: u32) -> Vec<u32> {
    vec![
        load(SRCA, high),
        load(SRCB, by),
        SHL,
        store_accu(high),
        load(SRCA, high),
        load(SRCB, low),
        OR,
    ]
}

fn run(rig: &Rig, program: &[Vec<u32>]) {
    rig.run_batch(E, &program.concat());
}

/// VW01, VW02, VW03: an address is made of halves, the quadword there is loaded between fences, five is added, the
/// address comes back by an addition of LOAD0, and the sum is stored.
#[test]
fn a_quadword_in_memory_grows_by_five() {
    let rig = Rig::new();
    rig.put(AT, &[1, 0]);
    let rest = [
        FENCE,
        load_indirect(0),
        FENCE,
        store_accu(2),
        load(SRCA, 0),
        load(SRCB, 3),
        ADD,
        store_accu(1),
        load(SRCA, 2),
        0x081 << 20 | SRCB << 10,
        ADD,
        FENCE,
        store_indirect(1),
    ];
    run(
        &rig,
        &[
            set(gpr(0), LOW),
            set(gpr(1), HIGH),
            set(gpr(2), 32),
            set(gpr(3), 5),
            math(&[address(0, 1, 2), rest.to_vec()].concat()),
        ],
    );
    assert_eq!((rig.at(AT), rig.at(AT + 4)), (6, 0));
    rig.clean();
}

/// VW04: from one place to another.
#[test]
fn a_quadword_is_moved_by_indirection() {
    let rig = Rig::new();
    rig.put(AT, &[1, 0, 7, 7]);
    run(
        &rig,
        &[
            set(gpr(0), LOW),
            set(gpr(1), HIGH),
            set(gpr(2), 32),
            set(gpr(3), LOW + 8),
            set(gpr(4), HIGH),
            math(
                &[
                    &address(0, 1, 2)[..],
                    &[FENCE, load_indirect(0), FENCE],
                    &address(3, 4, 2),
                    &[FENCE, store_indirect(0), FENCE],
                ]
                .concat(),
            ),
        ],
    );
    assert_eq!((rig.at(AT + 8), rig.at(AT + 12)), (1, 0));
    rig.clean();
}

/// VW05, VW06, VW07, VW09: a count acts as the next lower power of two; the second shift has the first one's SRCA.
#[test]
fn shifts() {
    for (shift, value, by_2, by_5) in [(SHL, 1, 4, 16), (SHR, 32, 8, 2)] {
        let rig = Rig::new();
        run(
            &rig,
            &[
                set(gpr(0), value),
                set(gpr(1), 2),
                set(gpr(2), 5),
                math(&[
                    load(SRCA, 0),
                    load(SRCB, 1),
                    shift,
                    store_accu(1),
                    load(SRCB, 2),
                    shift,
                    store_accu(2),
                ]),
                keep(gpr(1), LOW),
                keep(gpr(2), LOW + 4),
            ],
        );
        assert_eq!((rig.at(AT), rig.at(AT + 4)), (by_2, by_5), "{shift:#x}");
        rig.clean();
    }
}

/// VW08: the sign is kept; the value comes from memory.
#[test]
fn a_shift_with_its_sign() {
    let rig = Rig::new();
    rig.put(AT, &[-32i32 as u32, !0]);
    let rest = [
        load_indirect(3),
        FENCE,
        load(SRCA, 3),
        load(SRCB, 4),
        SAR,
        store_accu(4),
        load(SRCB, 5),
        SAR,
        store_accu(5),
    ];
    run(
        &rig,
        &[
            set(gpr(0), LOW),
            set(gpr(1), HIGH),
            set(gpr(2), 32),
            set(gpr(4), 2),
            set(gpr(5), 5),
            math(&[address(0, 1, 2), rest.to_vec()].concat()),
            keep(gpr(4), LOW),
            keep(gpr(5), LOW + 4),
        ],
    );
    assert_eq!(rig.at(AT) as i32, -8);
    assert_eq!(rig.at(AT + 4) as i32, -2);
    rig.clean();
}

/// MI_ATOMIC with inline data: move.
fn atomic_move(low: u32, quad: bool, value: [u32; 2]) -> Vec<u32> {
    let header = match quad {
        false => 0x1784_0409,
        true => 0x178c_2409,
    };
    let mut d = vec![header, low, HIGH, value[0], 0, value[1]];
    d.resize(11, 0);
    d
}

/// MI_ATOMIC of a dword without inline data.
fn atomic(op: u32, bits: u32, low: u32) -> Vec<u32> {
    vec![0x1780_0001 | bits | op << 8, low, HIGH]
}

/// VW12, VW13, VW14: in local memory and in the guest's.
#[test]
fn atomic_moves() {
    let rig = Rig::new();
    run(
        &rig,
        &[
            atomic_move(LOCAL_LOW, false, [0x10, 0]),
            atomic_move(LOCAL_LOW + 4, false, [0x22, 0]),
            atomic_move(LOCAL_LOW + 8, true, [0xf0, 0x1f]),
            atomic_move(LOW, false, [0x15, 0]),
            atomic_move(LOW + 4, false, [0xff, 0]),
        ],
    );
    let local = [0, 4, 8, 12].map(|at| rig.local(LOCAL_SURFACE + at));
    assert_eq!(local, [0x10, 0x22, 0xf0, 0x1f]);
    assert_eq!((rig.at(AT), rig.at(AT + 4)), (0x15, 0xff));
    rig.clean();
}

/// VW15, VW16; bits 17 and 16: the streamer waits, the old value is returned.
#[test]
fn atomic_steps() {
    for (op, bits, after) in [(5, 0, 11), (5, 3 << 16, 11), (6, 0, 9)] {
        let rig = Rig::new();
        rig.put(AT, &[10]);
        run(&rig, &[atomic(op, bits, LOW)]);
        assert_eq!(rig.at(AT), after);
        rig.clean();
    }
}

/// VW17, VW22: each round takes a number of a counter, from R4, and jumps while it is one of sixteen. The jump obeys
/// the predicate by its bit 15.
#[test]
fn partitions_are_taken_by_a_returned_value() {
    let rig = Rig::new();
    let first = USER + 0x8_0000;
    let work = USER + 0x8_1000;
    let jump = |bits: u32, to: u64| vec![0x1880_0101 | bits, to as u32, (to >> 32) as u32];
    rig.batch(
        0x8_1000,
        &[atomic(5, 0, LOW + 8), jump(0, first + 16)].concat(),
    );
    run(
        &rig,
        &[
            // In front of the loop, which begins at 16.
            set(MASK, 0xfff0),
            vec![NOOP],
            atomic(5, 3 << 16, LOW),
            copy(gpr(4), WPARID),
            vec![PARTITIONS],
            jump(1 << 15, work),
            vec![ALWAYS],
            atomic(5, 0, LOW + 4),
        ],
    );
    let seen = [0, 4, 8].map(|at| rig.at(AT + at));
    assert_eq!(seen, [17, 1, 16], "counter, ends, rounds");
    rig.clean();
}

/// VW18: a partition beyond the mask's does nothing.
#[test]
fn partitions_beyond_the_last() {
    let rig = Rig::new();
    let mut program = vec![set(MASK, 0xfff0)];
    for n in 0..20 {
        program.extend([
            set(WPARID, n),
            vec![PARTITIONS],
            barrier(LOW + 8 * n, n + 1),
            vec![ALWAYS],
        ]);
    }
    run(&rig, &program);
    for n in 0..20 {
        let stored = if n < 16 { n + 1 } else { 0 };
        assert_eq!(rig.at(AT + 8 * u64::from(n)), stored, "{n}");
    }
    rig.clean();
}

/// VW21, and VW18 with it: bit 14 of PIPE_CONTROL's header moves its store by the partition's number.
#[test]
fn partitions_store_side_by_side() {
    let moved = |low: u32, value: u32| {
        let mut d = barrier(low, value);
        d[0] |= 1 << 14;
        d
    };
    let rig = Rig::new();
    run(&rig, &[set(WPARID, 1), set(STEP, 8), moved(LOW, 7)]);
    assert_eq!((rig.at(AT), rig.at(AT + 8)), (0, 7));
    let rig = Rig::new();
    let mut program = vec![set(STEP, 32), set(MASK, 0xfff8)];
    for n in 0..13 {
        program.extend([
            set(WPARID, n),
            vec![PARTITIONS],
            moved(LOW, n + 1),
            vec![ALWAYS],
        ]);
    }
    run(&rig, &program);
    for n in 0..13 {
        let stored = if n < 8 { n + 1 } else { 0 };
        assert_eq!(rig.at(AT + 32 * u64::from(n)), stored, "{n}");
    }
    rig.clean();
}

/// VW23: none of these registers asks for a privilege, and a value goes through seven of them.
#[test]
fn registers_of_partitions_are_the_programs() {
    let rig = Rig::new();
    let mut program = vec![set(gpr(0), 5)];
    program.extend((0..5).map(|n| copy(gpr(n), gpr(n + 1))));
    program.extend([
        copy(gpr(5), WPARID),
        set(MASK, 0xfffc),
        vec![PARTITIONS],
        barrier(LOW, 7),
        vec![ALWAYS],
        keep(WPARID, LOW + 8),
    ]);
    run(&rig, &program);
    assert_eq!((rig.at(AT), rig.at(AT + 8)), (0, 5));
    rig.clean();
}

/// VW24: relations of memory to the data 10, in bits 14:12; the batch goes on while one holds.
#[test]
fn conditional_ends_by_six_relations() {
    for (relation, memory, goes_on) in [
        (0, 11, true),
        (0, 10, false),
        (1, 11, true),
        (1, 10, true),
        (1, 9, false),
        (2, 9, true),
        (2, 10, false),
        (3, 9, true),
        (3, 10, true),
        (3, 11, false),
        (4, 10, true),
        (4, 0, false),
        (5, 11, true),
        (5, 10, false),
    ] {
        let rig = Rig::new();
        rig.put(AT, &[memory]);
        let end = vec![0x1b20_0002 | relation << 12, 10, LOW, HIGH];
        run(&rig, &[end, barrier(LOW + 8, 7)]);
        let stored = if goes_on { 7 } else { 0 };
        assert_eq!(rig.at(AT + 8), stored, "{relation} {memory}");
        rig.clean();
    }
}

/// VW25, VW26, VW27, VW28: three levels, the third of which ends by 0 > 0, with bit 18 or without.
#[test]
fn a_conditional_end_ends_one_level_or_all() {
    for (nesting, own_level, second, first) in [
        (true, true, 7, 8),
        (true, false, 0, 0),
        // Without nesting the third takes the second one's place.
        (false, true, 0, 8),
        (false, false, 0, 0),
    ] {
        let rig = Rig::new();
        rig.eset(E, 0x9c, 0x1000_0000 | u32::from(nesting) << 12);
        let call = |to: u32| vec![0x18c0_0101, to, HIGH];
        let end = |own: bool| vec![0x1b20_0002 | u32::from(own) << 18, 0, LOW, HIGH];
        rig.batch(
            0x8_1000,
            &[call(0x8_2000), barrier(LOW + 8, 7), end(true)].concat(),
        );
        rig.batch(0x8_2000, &end(own_level));
        run(&rig, &[call(0x8_1000), barrier(LOW + 16, 8)]);
        assert_eq!(
            (rig.at(AT + 8), rig.at(AT + 16)),
            (second, first),
            "nesting {nesting}, bit 18 {own_level}"
        );
        rig.clean();
    }
}

/// VW30, VW31: five dwords with a token in the last; six relations; an increment and a wait for it.
#[test]
fn semaphores_by_six_relations() {
    let wait =
        |relation: u32, data: u32, low: u32| vec![0x0e00_8003 | relation << 12, data, low, HIGH, 0];
    for (relation, memory) in [(0, 11), (1, 10), (2, 9), (3, 10), (4, 10), (5, 11)] {
        let rig = Rig::new();
        rig.put(AT, &[memory]);
        run(&rig, &[wait(relation, 10, LOW), barrier(LOW + 8, 7)]);
        assert_eq!(rig.at(AT + 8), 7, "{relation}");
        rig.clean();
    }
    let rig = Rig::new();
    run(
        &rig,
        &[atomic(5, 0, LOW), wait(1, 1, LOW), barrier(LOW + 8, 7)],
    );
    assert_eq!((rig.at(AT), rig.at(AT + 8)), (1, 7));
    rig.clean();
}

/// VW32: a dword, and with bit 21 a quadword. VW53: an identification without its bit is none.
#[test]
fn stores_and_no_operations() {
    let rig = Rig::new();
    rig.eset(E, 0x94, 0x55);
    run(
        &rig,
        &[
            vec![1, 2, 3, 4],
            vec![0x1000_0002, LOW, HIGH, 5],
            vec![0x1020_0003, LOW + 8, HIGH, 6, 7],
        ],
    );
    let seen = [0, 8, 12].map(|at| rig.at(AT + at));
    assert_eq!(seen, [5, 6, 7]);
    assert_eq!(rig.ereg(E, 0x94), 0x55);
    rig.clean();
}

/// VW33: bit 2 of PIPE_CONTROL's address is one of the address; a program may set it. VW34: MI_FLUSH_DW has five
/// dwords, and its operation in 15:14.
#[test]
fn flushes() {
    let rig = Rig::new();
    run(&rig, &[barrier(LOW + 4, 7)]);
    assert_eq!((rig.at(AT), rig.at(AT + 4)), (0, 7));
    rig.clean();
    let rig = Rig::new();
    rig.run_batch(EngineId::Bcs, &[0x1300_4003, LOW, HIGH, 8, 9]);
    assert_eq!((rig.at(AT), rig.at(AT + 4)), (8, 9));
    rig.clean();
}

/// XY_BLOCK_COPY_BLT of bytes, in rows: pitches, corners, addresses.
fn block_copy(to: (u32, u32), from: (u32, u32), size: (u32, u32)) -> Vec<u32> {
    let mut d = vec![0; 22];
    d[0] = 0x5040_0014;
    (d[1], d[8]) = (to.1 - 1, from.1 - 1);
    d[3] = size.1 << 16 | size.0;
    (d[4], d[5]) = (to.0, HIGH);
    (d[9], d[10]) = (from.0, HIGH);
    d
}

/// VW36: more than the widest blit, cut into rows of it and a rest of three bytes; rectangles of two by two with a
/// pitch of four, and of twenty by sixteen in pieces of eight. Nothing else changes.
#[test]
fn copies_cut_into_pieces() {
    const E: EngineId = EngineId::Bcs;
    const WIDEST: u32 = 0x4000;
    let rig = Rig::new();
    let bytes = 0x1_0000 + WIDEST + 3;
    let words: Vec<u32> = (0..bytes / 4 + 1)
        .map(|n| n.wrapping_mul(0x9e37_79b9))
        .collect();
    rig.put(0x12_0000, &words);
    rig.put_local(LOCAL_SURFACE + u64::from(bytes & !3), &[!0, !0]);
    let (from, to) = (0x2_0000, LOCAL_LOW);
    let rest = bytes / WIDEST * WIDEST;
    rig.run_batch(
        E,
        &[
            block_copy((to, WIDEST), (from, WIDEST), (WIDEST, bytes / WIDEST)),
            block_copy((to + rest, WIDEST), (from + rest, WIDEST), (3, 1)),
        ]
        .concat(),
    );
    for n in 0..bytes / 4 {
        let seen = rig.local(LOCAL_SURFACE + 4 * u64::from(n));
        assert_eq!(seen, words[n as usize], "{n}");
    }
    let last = rig.local(LOCAL_SURFACE + u64::from(bytes & !3));
    assert_eq!(last, words[bytes as usize / 4] | 0xff00_0000);
    rig.clean();

    let byte = |at: u64| rig.at(at & !3).to_le_bytes()[at as usize & 3];
    rig.put(0x15_0000, &[0x0403_0201, 0x0807_0605]);
    rig.put(0x16_0000, &[!0; 256]);
    rig.run_batch(E, &block_copy((0x6_0001, 4), (0x5_0002, 4), (2, 2)));
    let seen: Vec<u8> = (0..9).map(|at| byte(0x16_0000 + at)).collect();
    assert_eq!(seen, [0xff, 3, 4, 0xff, 0xff, 7, 8, 0xff, 0xff]);
    rig.clean();

    rig.put(0x15_0000, &words[..256]);
    rig.put(0x16_0000, &[0; 256]);
    let pieces = [(0, 0), (8, 0), (16, 0), (0, 8), (8, 8), (16, 8)];
    let program: Vec<u32> = pieces
        .iter()
        .flat_map(|(x, y)| {
            let (width, at) = (if *x == 16 { 4 } else { 8 }, y * 32 + x);
            block_copy((0x6_0000 + at, 32), (0x5_0000 + at, 32), (width, 8))
        })
        .collect();
    rig.run_batch(E, &program);
    for y in 0..17u64 {
        for x in 0..32u64 {
            let inside = x < 20 && y < 16;
            let at = 32 * y + x;
            let expected = if inside { byte(0x15_0000 + at) } else { 0 };
            assert_eq!(byte(0x16_0000 + at), expected, "{x} {y}");
        }
    }
    rig.clean();
}
