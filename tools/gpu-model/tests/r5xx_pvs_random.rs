// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Any vertex program at all comes to what a plain second implementation of R5xx guide §6.5 comes to
//! (`r5xx_pvs_second`), bit for bit, with each NaN as any other, in as many instructions. Both have results of 64 bits
//! that are rounded, as the guide gives no precision; what it leaves open is not compared.

use crate::r5xx_pvs_second::{Open, Registers};
use crate::second_rig::check;
use gpu_model::r5xx::pvs::{Code, Control, FlowControl, MathOp, Program, Vec4, VectorOp, Vertex};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::f32::consts::{FRAC_PI_2, PI};

/// Instructions that a program may have before it is stopped.
const LIMIT: u64 = 3000;

/// Any value at all, and those of the listings.
fn value() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => select(vec![
            0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -2.5, 7.0, 128.0, 129.0, -128.0, 255.5, -256.5,
            f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE, 1e-40, PI, FRAC_PI_2,
        ]),
        2 => (-20i32..20).prop_map(|n| n as f32),
        2 => -4.0f32..4.0,
        1 => any::<u32>().prop_map(f32::from_bits),
    ]
}

/// Values that leave little open.
fn tame() -> impl Strategy<Value = f32> {
    prop_oneof![2 => (-3i32..4).prop_map(|n| n as f32), 1 => -2.0f32..2.0]
}

fn vector<S: Strategy<Value = f32>>(value: fn() -> S) -> impl Strategy<Value = Vec4> {
    [value(), value(), value(), value()]
}

/// A register, by none, by A0 or by the loop's index: offset, bits 0 and 1 of the mode, and the lane of A0.
fn register() -> impl Strategy<Value = (u32, u32, u32, u32)> {
    prop_oneof![
        10 => (0u32..5).prop_map(|at| (at, 0, 0, 0)),
        1 => (0u32..32).prop_map(|at| (at, 0, 0, 3)),
        3 => (0u32..8, 0u32..4).prop_map(|(at, sel)| (at, 1, 0, sel)),
        2 => (0u32..8).prop_map(|at| (at, 0, 1, 1)),
    ]
}

fn source() -> impl Strategy<Value = u32> {
    let kind = prop_oneof![4 => 0u32..3, 1 => Just(3u32)];
    let swizzles = [0u32..6, 0u32..6, 0u32..6, 0u32..6];
    let sign = (prop::bool::weighted(0.2), 0u32..16, 0u32..2);
    let all = (kind, register(), swizzles, sign);
    all.prop_map(|(kind, (at, m0, m1, sel), s, (abs, negate, spare))| {
        let swizzle = s[0] << 13 | s[1] << 16 | s[2] << 19 | s[3] << 22;
        let bits = spare << 2 | u32::from(abs) << 3 | m0 << 4 | at << 5;
        kind | bits | swizzle | negate << 25 | sel << 29 | m1 << 31
    })
    .boxed()
}

/// Opcode and register type of the destination.
#[derive(Clone, Copy, Debug)]
enum Op {
    Vector(u32),
    Math(u32),
    Macro(u32),
    /// A vector and a math operation.
    Dual(u32, u32),
    ToA0(u32),
}

fn op() -> impl Strategy<Value = Op> {
    let two = select(vec![
        0u32, 1, 2, 3, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 26, 27, 28,
    ]);
    let halves = select(
        (0..29u32)
            .filter(|m| ![4, 13, 14].contains(m))
            .collect::<Vec<_>>(),
    );
    prop_oneof![
        6 => (0u32..29).prop_map(Op::Vector),
        6 => (0u32..29).prop_map(Op::Math),
        1 => (0u32..2).prop_map(Op::Macro),
        3 => (two, halves).prop_map(|(a, b)| Op::Dual(a, b)),
        1 => (13u32..15).prop_map(Op::ToA0),
    ]
}

fn instruction() -> impl Strategy<Value = [u32; 4]> {
    let one = prop::bool::weighted;
    let mask = prop_oneof![2 => Just(15u32), 1 => 0u32..16];
    let flags = (one(0.1), one(0.1), one(0.3), any::<bool>());
    let kind = prop_oneof![3 => Just(0u32), 3 => 2u32..6];
    (
        (op(), kind, register()),
        (mask, flags),
        [source(), source(), source()],
        any::<bool>(),
    )
        .prop_map(
            |((op, kind, (at, m0, m1, sel)), (mask, (ve, me, pred, sense)), mut s, replicate)| {
                let bit = |b: bool, n: u32| u32::from(b) << n;
                let (low, kind) = match op {
                    Op::Vector(n) => (n, kind),
                    Op::Math(n) => (n | 1 << 6, kind),
                    Op::Macro(n) => (n | 1 << 7, kind),
                    Op::Dual(n, _) => (n | 1 << 28, if kind == 4 { 0 } else { kind }),
                    Op::ToA0(n) => (n, 1),
                };
                // A scalar is A.w, and the power C.w, which compilers make the same if there is one source (§6.5.8).
                if replicate && matches!(op, Op::Math(_)) {
                    s[2] = s[0];
                }
                if let Op::Dual(_, n) = op {
                    s[2] = s[2] & !(1 << 2 | 15 << 21) | (n >> 4) << 2 | (n & 15) << 21;
                    if replicate {
                        s[2] = s[2] & !(7 << 16 | 1 << 26)
                            | (s[2] >> 13 & 7) << 16
                            | (s[2] >> 25 & 1) << 26;
                    }
                }
                let flags = bit(ve, 24) | bit(me, 25) | bit(pred, 26) | bit(sense, 27);
                let to = kind << 8 | m1 << 12 | at << 13 | sel << 29 | m0 << 31;
                [low | to | mask << 20 | flags, s[0], s[1], s[2]]
            },
        )
        .boxed()
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
    let lanes = memories.into_iter().flatten();
    (lanes.flat_map(nan).collect(), v.address, v.predicate)
}

/// The bits, each NaN as any other.
fn nan(v: &Vec4) -> [u32; 4] {
    v.map(|l| if l.is_nan() { f32::NAN } else { l }.to_bits())
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

fn constants(values: &[Vec4]) -> [Vec4; 256] {
    std::array::from_fn(|n| values[n * 7 % values.len()])
}

/// How often each matter was left open, and how often none.
type Tally = RefCell<BTreeMap<String, u32>>;

fn count(tally: &Tally, open: Option<Open>) {
    let name = open.map_or("compared".into(), |o| format!("{o:?}"));
    *tally.borrow_mut().entry(name).or_default() += 1;
}

/// More than so many of ten are compared.
#[track_caller]
fn enough(tally: &Tally, of_ten: u32) {
    let tally = tally.borrow();
    let all: u32 = tally.values().sum();
    assert!(tally["compared"] * 10 > all * of_ten, "{tally:?}");
}

/// The same without the loop's index (§6.5.9, ADDR_MODE_1).
fn without_index([op, a, b, c]: [u32; 4]) -> [u32; 4] {
    let source = |word: u32| word & !(1 << 31);
    [op & !(1 << 12), source(a), source(b), source(c)]
}

/// Runs a program by both.
fn compare(
    code: &[[u32; 4]],
    constants: &[Vec4; 256],
    registers: &Registers,
    model: &mut Vertex,
    limit: u64,
    tally: &Tally,
) -> Result<(), TestCaseError> {
    let before = model.clone();
    let store = Code::of(code);
    let run = Program::new(&store, constants, &control(registers)).run(model, limit);
    let mut mine = before;
    match crate::r5xx_pvs_second::run(code, constants, registers, &mut mine, limit) {
        Err(open) => count(tally, Some(open)),
        Ok(steps) => {
            prop_assert_eq!(bits(&mine), bits(model), "{:08x?} {:x?}", code, registers);
            prop_assert_eq!(run.steps, steps);
            count(tally, None);
        }
    }
    Ok(())
}

/// Instructions one by one, over any values; each goes on with the model's state.
#[test]
fn vertex_instructions_come_to_the_same() {
    let a0 = || prop_oneof![12 => -1i16..4, 1 => -256i16..256];
    let strategy = (
        (vec(instruction(), 32), vec(vector(value), 13)),
        ([a0(), a0(), a0(), a0()], any::<bool>(), 0u32..4, 0u32..256),
    );
    let tally = Tally::default();
    check(
        120,
        &strategy,
        |((code, values), (address, predicate, base, max))| {
            let code: Vec<_> = code.into_iter().map(without_index).collect();
            let constants = constants(&values);
            let mut v = vertex(&values, address, predicate);
            for at in 0..code.len() as u32 {
                let registers = Registers {
                    code_cntl_0: at | at << 20,
                    const_cntl: base | max << 16,
                    ..Registers::default()
                };
                compare(&code, &constants, &registers, &mut v, 1, &tally)?;
            }
            Ok(())
        },
    );
    enough(&tally, 5);
}

/// A part of a program that nests as §6.5.5 has it.
#[derive(Clone, Debug)]
enum Part {
    Plain([u32; 4]),
    /// Rounds, start, step, and no index of its own.
    Loop((u32, u32, u32, bool), Vec<Part>),
    Skip(Vec<Part>),
    Call(usize),
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let leaf = prop_oneof![
        6 => instruction().prop_map(Part::Plain),
        1 => (0usize..2).prop_map(Part::Call),
    ];
    let tree = leaf.prop_recursive(4, 24, 6, |inner| {
        let start = || prop_oneof![30 => 0u32..4, 1 => 0u32..256];
        let short = (
            1u32..4,
            start(),
            prop_oneof![8 => Just(1u32), 2 => Just(255), 1 => 0u32..256],
        );
        let long = (1u32..256, start(), Just(0u32));
        let index = (prop_oneof![4 => short, 1 => long], any::<bool>())
            .prop_map(|((rounds, start, step), repeat)| (rounds, start, step, repeat));
        let block = || vec(inner.clone(), 1..6);
        prop_oneof![
            2 => (index, block()).prop_map(|(n, b)| Part::Loop(n, b)),
            1 => block().prop_map(Part::Skip),
        ]
    });
    vec(tree, 1..8)
}

/// Code, and entries of flow control.
#[derive(Default)]
struct Compiler {
    code: Vec<[u32; 4]>,
    entries: usize,
    /// Loops with an index, around the place.
    loops: u32,
    registers: Registers,
    subroutines: Vec<(u32, u32)>,
}

/// An instruction that flow control can begin or end at: VECTOR_NO_OP.
const HERE: [u32; 4] = [0; 4];

impl Compiler {
    fn here(&mut self) -> u32 {
        self.code.push(HERE);
        self.code.len() as u32 - 1
    }

    fn entry(&mut self, kind: u32, (act, to): (u32, u32), (end, back): (u32, u32), index: u32) {
        let n = self.entries;
        self.registers.opc |= kind << (2 * n);
        self.registers.lw[n] = act | to << 16;
        self.registers.uw[n] = end | back << 16;
        self.registers.loop_index[n] = index;
        self.entries += 1;
    }

    fn block(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Plain(words) if self.loops > 0 => self.code.push(*words),
                Part::Plain(words) => self.code.push(without_index(*words)),
                _ if self.entries == 16 => (),
                Part::Loop((rounds, start, step, repeat), body) => {
                    // A place among the entries that is before those inside.
                    let n = self.entries;
                    self.entries += 1;
                    let act = self.here();
                    self.loops += u32::from(!repeat);
                    self.block(body);
                    self.loops -= u32::from(!repeat);
                    let end = self.code.len() as u32 - 1;
                    let index = start | step << 8 | u32::from(*repeat) << 31;
                    let all = std::mem::replace(&mut self.entries, n);
                    self.entry(
                        if end > act { 2 } else { 0 },
                        (act, *rounds),
                        (end, act + 1),
                        index,
                    );
                    self.entries = all;
                }
                Part::Skip(body) => {
                    let n = self.entries;
                    self.entries += 1;
                    let act = self.here();
                    self.block(body);
                    let to = self.code.len() as u32;
                    let all = std::mem::replace(&mut self.entries, n);
                    self.entry(1, (act, to), (0, 0), 0);
                    self.entries = all;
                }
                Part::Call(n) => {
                    if let Some((first, last)) = self.subroutines.get(*n).copied() {
                        let act = self.here();
                        self.entry(3, (act, first), (last, act + 1), 0);
                    }
                }
            }
        }
    }
}

/// Programs with jumps, loops, repeats and calls.
#[test]
fn vertex_programs_come_to_the_same() {
    let strategy = (
        (vec(parts(), 0..3), parts()),
        (
            vec(vector(tame), 13),
            [-1i16..3, -1i16..3, -1i16..3, -1i16..3],
        ),
        (any::<bool>(), 8u32..256),
    );
    let tally = Tally::default();
    check(
        150,
        &strategy,
        |((subroutines, main), (values, address), (predicate, max))| {
            let mut compiler = Compiler::default();
            for s in &subroutines {
                let first = compiler.code.len() as u32;
                compiler.block(s);
                let last = compiler.here();
                compiler.subroutines.push((first, last));
            }
            let first = compiler.code.len() as u32;
            compiler.block(&main);
            let last = compiler.here();
            let mut registers = compiler.registers;
            registers.code_cntl_0 = first | last << 20;
            registers.const_cntl = max << 16;
            let mut v = vertex(&values, address, predicate);
            compare(
                &compiler.code,
                &constants(&values),
                &registers,
                &mut v,
                LIMIT,
                &tally,
            )
        },
    );
    enough(&tally, 4);
}

proptest! {
    /// Words of any kind: a program ends.
    #[test]
    fn odd_programs_end(
        code in vec(any::<[u32; 4]>(), 1..24),
        entries in vec((0u32..24, 0u32..24, 0u32..24, 0u32..24), 16),
        (opc, first, last) in (any::<u32>(), 0u32..24, 0u32..1024),
        values in vec(vector(value), 13),
    ) {
        let mut registers = Registers { opc, code_cntl_0: first | last << 20, ..Registers::default() };
        for (n, (act, to, end, back)) in entries.into_iter().enumerate() {
            (registers.lw[n], registers.uw[n]) = (act | to << 16, end | back << 16);
        }
        let (store, constants) = (Code::of(&code), constants(&values));
        let run = Program::new(&store, &constants, &control(&registers)).run(&mut vertex(&values, [0; 4], true), LIMIT);
        prop_assert!(run.steps <= LIMIT);
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
    let (mut all, mut open) = (0, 0);
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
                for c in [-2.5, f32::INFINITY, a] {
                    let w = b - c;
                    let mut mine = Vertex::default();
                    mine.temporary[0] = [a, b, w, a];
                    mine.temporary[1] = [b, w, c, b];
                    mine.input[0] = [c, a, b, c];
                    let mut other = mine.clone();
                    Program::new(&store, &constants, &Control::default()).run(&mut mine, 1);
                    match crate::r5xx_pvs_second::run(&words, &constants, &registers, &mut other, 1)
                    {
                        Ok(_) => {
                            let result = |v: &Vertex| (nan(&v.temporary[6]), v.predicate);
                            assert_eq!(result(&mine), result(&other), "{op:#x} {a} {b} {c} {w}");
                        }
                        Err(_) => open += 1,
                    }
                    all += 1;
                }
            }
        }
    }
    assert!(open * 5 < all, "{open} of {all} are open");
}
