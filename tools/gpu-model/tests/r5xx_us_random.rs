// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Any pixel program at all comes to what a plain second implementation of the digest of 3D, §9, comes to
//! (`r5xx_us_second`). Where the precision is open (RCP, RSQ, EX2, LN2, SIN, COS, projected coordinates) 2^-20 is
//! allowed, as §9.3 says; all else is compared bit for bit, with each NaN as any other.

use crate::r5xx_us_second::any::{instruction, vector};
use crate::r5xx_us_second::programs::{statements, Compiler, Statement};
use crate::r5xx_us_second::word::Inst;
use crate::r5xx_us_second::{Machine, Pixel, Registers, Seen};
use crate::second_rig::check;
use gpu_model::r5xx::us::{Control, Detail, Lookup, Pixels, Program, Quad, Sampler};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::Cell;

/// Instructions after which a program is stopped.
const MOST: u64 = 3000;

/// Per pixel to per channel.
fn quad(v: &[[f32; 4]; 4]) -> Quad {
    [0, 1, 2, 3].map(|lane| [0, 1, 2, 3].map(|p: usize| v[p][lane]))
}

/// Answers with the same texels as the other machine has.
struct Texels<'a> {
    texels: &'a [[[f32; 4]; 4]],
    seen: Vec<Lookup>,
}

impl Sampler for Texels<'_> {
    fn sample(&mut self, lookup: &Lookup) -> Quad {
        let texel = self.texels[self.seen.len() % self.texels.len()];
        self.seen.push(*lookup);
        quad(&texel)
    }
}

fn control(r: &Registers) -> Control {
    let mut c = Control {
        config: u32::from(r.zero_rule) << 1,
        code_addr: u32::from(r.start) | u32::from(r.end) << 16,
        code_range: 511 << 16,
        code_offset: r.offset.into(),
        booleans: r.booleans,
        ..Control::default()
    };
    for (to, (count, start, step)) in c.integers.iter_mut().zip(r.integers) {
        *to = u32::from(count) | u32::from(start) << 8 | u32::from(step as u8) << 16;
    }
    c
}

/// Returns four pixels in the form of the model.
fn pixels(of: &[Pixel; 4]) -> Pixels {
    let mut p = Pixels::default();
    for (n, t) in p.temporary.iter_mut().enumerate() {
        *t = quad(&[0, 1, 2, 3].map(|i: usize| of[i].temp[n]));
    }
    for (n, c) in p.colour.iter_mut().enumerate() {
        *c = quad(&[0, 1, 2, 3].map(|i: usize| of[i].colour[n]));
    }
    p.depth = [0, 1, 2, 3].map(|i: usize| of[i].depth);
    for (i, of) in of.iter().enumerate() {
        for (lane, to) in p.predicate.iter_mut().enumerate() {
            *to |= u8::from(of.predicate[lane]) << i;
        }
        p.result |= u8::from(of.result) << i;
        p.killed |= u8::from(of.killed) << i;
    }
    p
}

/// The reverse of `pixels`.
fn each_pixel(p: &Pixels) -> [Pixel; 4] {
    [0, 1, 2, 3].map(|i: usize| {
        let mut pixel = Pixel::new(p.temporary.iter().map(|t| t.map(|lane| lane[i])).collect());
        pixel.colour = p.colour.map(|c| c.map(|lane| lane[i]));
        pixel.depth = p.depth[i];
        pixel.predicate = p.predicate.map(|bits| bits >> i & 1 != 0);
        pixel.result = p.result >> i & 1 != 0;
        pixel.killed = p.killed >> i & 1 != 0;
        pixel
    })
}

/// Where a result may be only near.
#[derive(Clone, Copy)]
struct About {
    /// Colours, too: SOP has the scalar.
    colours: bool,
    /// Beside 2^-20 of the value: sines are of the order of 1, and OMOD makes eight of it.
    slack: f32,
}

fn alike(a: f32, b: f32, slack: Option<f32>) -> bool {
    let near = |slack: f32| (a - b).abs() <= b.abs() * 2f32.powi(-20) + slack;
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan() || slack.is_some_and(near)
}

/// The first difference.
fn difference(mine: &Pixels, model: &Pixels, about: Option<About>) -> Option<String> {
    let memories = [
        ("temporary", &mine.temporary[..], &model.temporary[..]),
        ("colour", &mine.colour, &model.colour),
    ];
    for (name, a, b) in memories {
        for (n, (a, b)) in a.iter().zip(b).enumerate() {
            for (lane, (a, b)) in a.iter().zip(b).enumerate() {
                let slack = about.filter(|a| a.colours || lane == 3).map(|a| a.slack);
                if !a.iter().zip(b).all(|(a, b)| alike(*a, *b, slack)) {
                    return Some(format!("{name} {n} lane {lane}: {a:?}, model {b:?}"));
                }
            }
        }
    }
    let depths = mine.depth.iter().zip(&model.depth);
    let slack = about.map(|a| a.slack);
    if !{ depths }.all(|(a, b)| alike(*a, *b, slack)) {
        return Some(format!("depth {:?}, model {:?}", mine.depth, model.depth));
    }
    let bits = |p: &Pixels| (p.predicate, p.result, p.killed);
    // A comparison with zero of what is only near a value is not compared.
    let differs = bits(mine) != bits(model) && about.is_none();
    differs.then(|| format!("bits {:?}, model {:?}", bits(mine), bits(model)))
}

/// The first look-up that differs.
fn look_up(mine: &[Seen], model: &[Lookup]) -> Option<String> {
    let same = |s: &Seen, l: &Lookup| {
        let at = quad(&s.at);
        let lanes = if s.op == 3 { 3 } else { 4 };
        let detail = match (s.op, &l.detail) {
            (1 | 3, Detail::Computed) | (4, Detail::Biased) | (5, Detail::Given) => true,
            (6, Detail::Gradients(dx, dy)) => {
                let both = [(quad(&s.dx), dx), (quad(&s.dy), dy)];
                both.iter().all(|(a, b)| {
                    a.as_flattened()
                        .iter()
                        .zip(b.as_flattened())
                        .all(|(a, b)| alike(*a, *b, None))
                })
            }
            _ => false,
        };
        let coordinates = at.iter().zip(&l.at).take(lanes);
        let alike = { coordinates }.all(|(a, b)| {
            a.iter()
                .zip(b)
                .all(|(a, b)| alike(*a, *b, (s.op == 3).then_some(0.0)))
        });
        alike && detail && s.unit == l.unit && s.unscaled == l.unscaled
    };
    if mine.len() != model.len() {
        return Some(format!("{} look-ups, model {}", mine.len(), model.len()));
    }
    let mut both = mine.iter().zip(model);
    both.find(|(s, l)| !same(s, l))
        .map(|(s, l)| format!("look-up {s:?}, model {l:?}"))
}

/// A run of both.
enum Ran {
    /// The documents leave its outcome open.
    Open,
    /// The model's pixels, flow control that was executed, and the difference.
    Compared(Box<Pixels>, [[u32; 2]; 8], Option<String>),
}

struct Case<'a> {
    code: &'a [Inst],
    constants: &'a [[f32; 4]; 256],
    regs: &'a Registers,
    covered: [bool; 4],
    texels: &'a [[[f32; 4]; 4]],
    most: u64,
}

impl Case<'_> {
    /// Both machines over these pixels.
    fn run(&self, of: &[Pixel; 4], about: Option<About>) -> Ran {
        let mut machine = Machine::new(
            self.code,
            self.constants,
            self.regs,
            self.covered,
            self.texels,
            of.clone(),
        );
        let steps = machine.run(self.most);
        if machine.open.is_some() {
            return Ran::Open;
        }
        let mut other = pixels(of);
        let mut sampler = Texels {
            texels: self.texels,
            seen: Vec::new(),
        };
        let words: Vec<u32> = self.code.iter().flat_map(Inst::encode).collect();
        let program = Program::new(&words, &control(self.regs));
        let covered = (0..4).fold(0, |all, n| all | u8::from(self.covered[n]) << n);
        let run = program.run(&mut other, self.constants, covered, &mut sampler, self.most);
        let drawn = covered & !pixels(&machine.pixels).killed != 0;
        if !drawn {
            // No output of these pixels goes on, so one may end before the other.
            let all = covered & !other.killed == 0;
            let found = (!all).then(|| "some pixels are left".into());
            return Ran::Compared(Box::new(other), machine.flows, found);
        }
        let found = difference(&pixels(&machine.pixels), &other, about)
            .or_else(|| look_up(&machine.seen, &sampler.seen))
            .or_else(|| {
                (steps != run.steps).then(|| format!("{steps} steps, model {}", run.steps))
            });
        Ran::Compared(
            Box::new(other),
            machine.flows,
            found.map(|f| format!("{f} ({:?})", run.notes)),
        )
    }
}

/// Flow control of a program, in words.
fn listing(code: &[Inst], regs: &Registers) -> String {
    let first = usize::from(regs.start + regs.offset);
    let slots = (0..512).map(|n| (first + n) % 512);
    let mut text = format!("start {first}, end {}, offset {}\n", regs.end, regs.offset);
    for slot in slots {
        if let Inst::Fc(i) = &code[slot] {
            text += &format!("{slot}: {i:?}\n");
        }
    }
    text
}

/// Precision of operations of the alpha unit is not documented (§9.3).
fn about(i: &Inst) -> Option<About> {
    let Inst::Alu(i) = i else { return None };
    let slack = match i.alpha.op {
        8..12 => 2f32.powi(-145),
        12 | 13 => 2f32.powi(-17),
        _ => return None,
    };
    let colours = i.rgb.op == 10;
    Some(About { colours, slack })
}

fn constants(values: &[[f32; 4]]) -> [[f32; 4]; 256] {
    std::array::from_fn(|n| values[n * 7 % values.len()])
}

/// Four pixels: temporaries near 0 are each its own, the others repeat.
fn four(values: &[[f32; 4]], bits: [u8; 4]) -> [Pixel; 4] {
    [0, 1, 2, 3].map(|p: usize| {
        let mut pixel = Pixel::new(
            (0..128)
                .map(|n| values[(n * 4 + p) % values.len()])
                .collect(),
        );
        pixel.predicate = [0, 1, 2, 3].map(|n| bits[p] >> n & 1 != 0);
        pixel.result = bits[p] >> 4 & 1 != 0;
        pixel.colour = [1, 2, 3, 4].map(|n| values[(n * 3 + p) % values.len()]);
        pixel
    })
}

fn covered() -> impl Strategy<Value = [bool; 4]> {
    prop_oneof![Just([true; 4]), any::<[bool; 4]>()]
}

fn texel() -> impl Strategy<Value = [[f32; 4]; 4]> {
    [vector(), vector(), vector(), vector()]
}

/// Instructions one by one; the second machine goes on with the state of the model's.
#[test]
fn instructions_come_to_the_same() {
    let strategy = (
        (vec(instruction(true), 16), vec(vector(), 11)),
        (texel(), any::<[u8; 4]>(), any::<bool>(), covered()),
    );
    let compared = Cell::new([0u32; 2]);
    check(
        120,
        &strategy,
        |((code, values), (texel, bits, zero_rule, covered))| {
            let constants = constants(&values);
            let mut of = four(&values, bits);
            for (at, inst) in code.iter().enumerate() {
                let at = at as u16;
                let regs = Registers {
                    zero_rule,
                    start: at,
                    end: at,
                    ..Registers::default()
                };
                let texels = [texel];
                let case = Case {
                    code: &code,
                    constants: &constants,
                    regs: &regs,
                    covered,
                    texels: &texels,
                    most: 1,
                };
                let mut count = compared.get();
                match case.run(&of, about(inst)) {
                    Ran::Open => count[0] += 1,
                    Ran::Compared(model, _, difference) => {
                        prop_assert_eq!(difference, None, "{:?}", inst);
                        of = each_pixel(&model);
                        count[1] += 1;
                    }
                }
                compared.set(count);
            }
            Ok(())
        },
    );
    let [open, compared] = compared.get();
    assert!(compared > 9 * open, "{compared} compared, {open} not");
}

/// A program and all that it counts on.
#[derive(Debug)]
struct Whole {
    subroutines: Vec<Vec<Statement>>,
    main: Vec<Statement>,
    values: Vec<[f32; 4]>,
    texels: Vec<[[f32; 4]; 4]>,
    bits: [u8; 4],
    integers: Vec<(u8, u8, i8)>,
    booleans: u32,
    zero_rule: bool,
    covered: [bool; 4],
    /// First slot, and the code's offset.
    place: (u16, u16),
}

fn whole() -> impl Strategy<Value = Whole> {
    let somewhere = || prop_oneof![2 => Just(0u16), 1 => 0u16..512];
    let count = prop_oneof![Just(1u8), 0u8..4, any::<u8>()];
    (
        (vec(statements(3), 0..3), statements(8)),
        (vec(vector(), 11), vec(texel(), 2), any::<[u8; 4]>()),
        (
            vec((count, 0u8..3, -1i8..3), 7),
            any::<u32>(),
            any::<bool>(),
        ),
        (covered(), (somewhere(), somewhere())),
    )
        .prop_map(
            |(
                (subroutines, main),
                (values, texels, bits),
                (integers, booleans, zero_rule),
                (covered, place),
            )| Whole {
                subroutines,
                main,
                values,
                texels,
                bits,
                integers,
                booleans,
                zero_rule,
                covered,
                place,
            },
        )
}

impl Whole {
    /// None if it is too long.
    fn run(&self) -> Option<(Ran, String)> {
        let mut compiler = Compiler::default();
        let start = compiler.program(&self.subroutines, &self.main);
        if compiler.code.len() >= 512 {
            return None;
        }
        let (by, offset) = self.place;
        let code = compiler.place(by, offset);
        let slot = |n: u16| (n + by + 512 - offset) % 512;
        let regs = Registers {
            zero_rule: self.zero_rule,
            start: slot(start),
            end: slot(compiler.code.len() as u16 - 1),
            offset,
            booleans: self.booleans,
            integers: std::array::from_fn(|n| self.integers[n % self.integers.len()]),
        };
        let constants = constants(&self.values);
        let case = Case {
            code: &code,
            constants: &constants,
            regs: &regs,
            covered: self.covered,
            texels: &self.texels,
            most: MOST,
        };
        Some((
            case.run(&four(&self.values, self.bits), None),
            listing(&code, &regs),
        ))
    }
}

/// Programs with branches, loops and calls. Operations of open precision are not among them, as their results
/// would decide who branches.
#[test]
fn programs_come_to_the_same() {
    let (compared, flows) = (Cell::new([0u32; 2]), Cell::new([[0u32; 2]; 8]));
    check(120, &whole(), |program| {
        let Some((ran, listing)) = program.run() else {
            return Ok(());
        };
        let mut count = compared.get();
        match ran {
            Ran::Open => count[0] += 1,
            Ran::Compared(_, executed, difference) => {
                prop_assert_eq!(difference, None, "{}", listing);
                let mut all = flows.get();
                for (all, n) in all
                    .as_flattened_mut()
                    .iter_mut()
                    .zip(executed.as_flattened())
                {
                    *all += n;
                }
                flows.set(all);
                count[1] += 1;
            }
        }
        compared.set(count);
        Ok(())
    });
    let [open, compared] = compared.get();
    assert!(compared > 2 * open, "{compared} compared, {open} not");
    // Each operation of flow control has jumped, and has not.
    let flows = flows.get();
    assert!(!flows.as_flattened().contains(&0), "{flows:?}");
}
