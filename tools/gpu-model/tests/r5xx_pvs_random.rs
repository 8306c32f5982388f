// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Any vertex program at all: it ends, and comes to what the plain second reading of R5xx guide §6.5 comes to
//! (`r5xx_pvs_second`), bit for bit.

mod r5xx_pvs_second;

use gpu_model::r5xx::pvs::{Code, Control, FlowControl, MathOp, Program, Vec4, VectorOp, Vertex};
use proptest::collection::vec;
use proptest::prelude::*;
use r5xx_pvs_second::Registers;
use std::f32::consts::{FRAC_PI_2, PI};

/// Instructions that a program may have before it is stopped.
const LIMIT: u64 = 3000;
/// Its addresses are mostly below this.
const SIZE: u32 = 24;

fn value() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => proptest::sample::select(vec![
            0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -2.5, 7.0, 128.0, 129.0, -128.0, 255.5, -256.5,
            f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE, 1e-40, PI, FRAC_PI_2,
        ]),
        2 => (-20i32..20).prop_map(|n| n as f32),
        2 => -4.0f32..4.0,
        1 => any::<u32>().prop_map(f32::from_bits),
    ]
}

fn vector() -> impl Strategy<Value = Vec4> {
    [value(), value(), value(), value()]
}

/// Mostly a register that there is, near the others.
fn offset() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0u32..6, 1 => 15u32..36, 1 => 0u32..256]
}

/// Address mode, mostly absolute: the bit for 0 and the bit for 1.
fn mode() -> impl Strategy<Value = (u32, u32)> {
    prop_oneof![6 => Just((0, 0)), 1 => Just((1, 0)), 1 => Just((0, 1)), 1 => Just((1, 1))]
}

fn source() -> impl Strategy<Value = u32> {
    let swizzle = || prop_oneof![8 => 0u32..6, 1 => 6u32..8];
    (
        (0u32..4, offset(), mode(), 0u32..4),
        [swizzle(), swizzle(), swizzle(), swizzle()],
        (proptest::bool::weighted(0.2), 0u32..16, 0u32..2),
    )
        .prop_map(|((kind, at, (m0, m1), sel), s, (abs, negate, spare))| {
            let swizzle = s[0] << 13 | s[1] << 16 | s[2] << 19 | s[3] << 22;
            kind | spare << 2
                | u32::from(abs) << 3
                | m0 << 4
                | at << 5
                | swizzle
                | negate << 25
                | sel << 29
                | m1 << 31
        })
}

fn first_word() -> impl Strategy<Value = u32> {
    let one = |p| proptest::bool::weighted(p);
    (
        // Opcode, math, macro.
        (
            prop_oneof![12 => 0u32..29, 1 => 0u32..64],
            any::<bool>(),
            one(0.05),
        ),
        (
            prop_oneof![6 => 0u32..6, 1 => 0u32..16],
            offset(),
            mode(),
            0u32..4,
        ),
        (
            prop_oneof![3 => Just(15u32), 2 => 0u32..16],
            one(0.1),
            one(0.1),
        ),
        (one(0.2), any::<bool>(), one(0.15)),
    )
        .prop_map(
            |(
                (opcode, math, macro_),
                (kind, at, (m0, m1), sel),
                (mask, ve, me),
                (pred, sense, dual),
            )| {
                // A0 is loaded by two operations only.
                let (opcode, math) = if kind == 1 && opcode % 4 != 0 {
                    (13 + opcode % 2, false)
                } else {
                    (opcode, math)
                };
                let bit = |b: bool, n: u32| u32::from(b) << n;
                opcode
                    | bit(math && !dual, 6)
                    | bit(macro_, 7)
                    | kind << 8
                    | m1 << 12
                    | (at & 127) << 13
                    | mask << 20
                    | bit(ve, 24)
                    | bit(me, 25)
                    | bit(pred, 26)
                    | bit(sense, 27)
                    | bit(dual, 28)
                    | sel << 29
                    | m0 << 31
            },
        )
}

fn instruction() -> impl Strategy<Value = [u32; 4]> {
    prop_oneof![
        12 => (first_word(), source(), source(), source(), 0u32..29).prop_map(|(op, a, b, c, math)| {
            // The math half has its opcode in other bits.
            let half = (c & !(1 << 2 | 15 << 21)) | (math >> 4) << 2 | (math & 15) << 21;
            [op, a, b, if op >> 28 & 1 != 0 { half } else { c }]
        }),
        1 => any::<[u32; 4]>(),
    ]
}

fn address() -> impl Strategy<Value = u32> {
    prop_oneof![20 => 0u32..SIZE, 1 => 0u32..0x10000]
}

fn registers() -> impl Strategy<Value = Registers> {
    let entry = (
        prop_oneof![2 => Just(0u32), 2 => 1u32..4],
        (address(), address(), address(), address()),
        prop_oneof![6 => 0u32..4, 1 => 0u32..0x200],
        (0u32..256, 0u32..256, any::<bool>(), 0u32..256),
    );
    (vec(entry, 0..5), 0u32..4, 4u32..SIZE, 0u32..256, 0u32..256).prop_map(
        |(entries, first, last, base, max)| {
            let mut r = Registers {
                code_cntl_0: first | 77 << 10 | last << 20,
                const_cntl: base | max << 16,
                ..Registers::default()
            };
            for (n, (kind, (act, target, end, back), count, (init, step, repeat, _))) in
                entries.into_iter().enumerate()
            {
                // Anywhere among the sixteen.
                let n = n * 3;
                r.opc |= kind << (2 * n);
                r.lw[n] = act | if kind == 2 { count } else { target } << 16;
                r.uw[n] = end | back << 16;
                r.loop_index[n] = (init % 16) | step << 8 | u32::from(repeat) << 31;
            }
            r
        },
    )
}

fn control(r: &Registers) -> Control {
    let mut flow = FlowControl {
        opc: r.opc,
        ..FlowControl::default()
    };
    for n in 0..16 {
        flow.addrs[n] = (r.lw[n].into(), r.uw[n].into());
        flow.loop_index[n] = r.loop_index[n].into();
    }
    Control {
        code: r.code_cntl_0.into(),
        constants: r.const_cntl.into(),
        flow,
    }
}

/// All that a vertex has, each NaN as any other.
fn bits(v: &Vertex) -> (Vec<u32>, [i16; 4], bool) {
    let memories = [&v.input[..], &v.temporary, &v.alternate, &v.output];
    let lanes = memories.into_iter().flatten().flatten();
    let bits = lanes.map(|l| if l.is_nan() { f32::NAN } else { *l }.to_bits());
    (bits.collect(), v.address, v.predicate)
}

fn vertex(values: &[Vec4], address: [i16; 4], predicate: bool) -> Vertex {
    let mut v = Vertex {
        address,
        predicate,
        ..Vertex::default()
    };
    let next = &mut values.iter().cycle().copied();
    for memory in [
        &mut v.input[..],
        &mut v.temporary,
        &mut v.alternate,
        &mut v.output,
    ] {
        memory
            .iter_mut()
            .for_each(|t| *t = next.next().unwrap_or_default());
    }
    v
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn both_readings_come_to_the_same(
        code in vec(instruction(), 1..SIZE as usize + 8),
        registers in registers(),
        values in vec(vector(), 13),
        a0 in [-3i16..5, -3i16..5, -256i16..256, -256i16..256],
        predicate in any::<bool>(),
    ) {
        let mut words = code;
        words.resize(1024, [0; 4]);
        let mut constants = [[0.0; 4]; 256];
        for (n, c) in constants.iter_mut().enumerate() {
            *c = values[n * 7 % values.len()];
        }
        let (mut mine, mut other) = (vertex(&values, a0, predicate), vertex(&values, a0, predicate));
        let store = Code::of(&words);
        let run = Program::new(&store, &constants, &control(&registers)).run(&mut mine, LIMIT);
        let steps = r5xx_pvs_second::run(&words, &constants, &registers, &mut other, LIMIT);
        prop_assert_eq!(bits(&mine), bits(&other));
        prop_assert_eq!(run.steps, steps);
    }
}

/// Each operation for itself, over many values: most of the above come to nothing early.
#[test]
fn each_operation_comes_to_the_same() {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        127.5,
        128.0,
        128.5,
        -149.0,
        -150.0,
        1e-40,
        -1e-40,
        PI,
        -PI,
        FRAC_PI_2,
        1e-20,
        f32::MAX,
        f32::MIN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    let ops = (0..VectorOp::ALL.len() as u32).chain((0..MathOp::ALL.len() as u32).map(|m| m | 64));
    let registers = Registers::default();
    let constants = [[0.0; 4]; 256];
    for op in ops {
        // Temporary 6 of temporaries 0 and 1 and of input 0.
        let word = [
            op | 6 << 13 | 15 << 20,
            0x00d1_0000,
            0x00d1_0020,
            0x00d1_0001,
        ];
        let words = vec![word; 1];
        let store = Code::of(&words);
        for a in special {
            for b in special {
                for c in [special[0], -2.5, f32::INFINITY, -f32::INFINITY, a] {
                    let w = b - c;
                    let mut mine = Vertex::default();
                    mine.temporary[0] = [a, b, w, a];
                    mine.temporary[1] = [b, w, c, b];
                    mine.input[0] = [c, a, b, c];
                    let mut other = mine.clone();
                    Program::new(&store, &constants, &Control::default()).run(&mut mine, 1);
                    r5xx_pvs_second::run(&words, &constants, &registers, &mut other, 1);
                    assert_eq!(bits(&mine), bits(&other), "{op:#x} {a} {b} {c} {w}");
                }
            }
        }
    }
}
