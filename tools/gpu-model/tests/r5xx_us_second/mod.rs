// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The pixel shader once more, by another hand and as plainly as the digest of 3D, §9, has it: instructions are
//! structs of this file's own, each pixel is by itself, nothing is precomputed. `word` makes dwords of them, `flow`
//! is §9.6, `any` has the generators.

#![allow(dead_code)]

pub mod any;
mod flow;
pub mod programs;
pub mod word;

use flow::{Loop, State};
use word::*;

/// Matters that the documents leave open: a program that comes to one is not compared (the table "disputed" in
/// Documentation/gpu/ouro/model-r5xx.rst has them).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Open {
    /// An address by aL that is outside of the memory.
    Relative,
    /// RSQ of -0.
    MinusZeroRoot,
    /// An FC instruction counts on the comparison's result, which the last one has not kept (§9.3).
    Result,
    /// Deeper than the stacks (§9.6).
    Nesting,
    /// A return, a break or an end of a loop without one.
    Unpaired,
}

/// One pixel.
#[derive(Clone, Debug)]
pub struct Pixel {
    pub temp: Vec<[f32; 4]>,
    pub colour: [[f32; 4]; 4],
    pub depth: f32,
    pub predicate: [bool; 4],
    pub result: bool,
    pub killed: bool,
    /// The result is this program's, and no FC came after.
    known: bool,
    state: State,
}

impl Pixel {
    pub fn new(temp: Vec<[f32; 4]>) -> Self {
        Pixel {
            temp,
            colour: [[0.0; 4]; 4],
            depth: 0.0,
            predicate: [false; 4],
            result: false,
            killed: false,
            known: false,
            state: State::Active,
        }
    }
}

/// A look-up: unit, operation, unscaled, coordinates of each pixel, and distances if the instruction has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub unit: u8,
    pub op: u8,
    pub unscaled: bool,
    pub at: [[f32; 4]; 4],
    pub dx: [[f32; 4]; 4],
    pub dy: [[f32; 4]; 4],
    /// A pixel was active.
    pub active: bool,
}

/// Registers.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    /// US_CONFIG bit 1: 0 · x is 0.
    pub zero_rule: bool,
    pub start: u16,
    pub end: u16,
    pub offset: u16,
    pub booleans: u32,
    /// Count, start, step.
    pub integers: [(u8, u8, i8); 32],
}

pub struct Machine<'a> {
    pub code: &'a [Inst],
    pub constants: &'a [[f32; 4]],
    pub regs: &'a Registers,
    pub covered: [bool; 4],
    /// Texels by the number of the look-up, each of four pixels.
    pub texels: &'a [[[f32; 4]; 4]],
    pub pixels: [Pixel; 4],
    pub seen: Vec<Seen>,
    pub open: Option<Open>,
    /// FC instructions by their operation, that have not jumped and that have.
    pub flows: [[u32; 2]; 8],
    index: i32,
    loops: Vec<Loop>,
    calls: Vec<u16>,
}

/// Inline constants (§9.2).
fn float7(code: u8) -> f32 {
    let (e, m) = (i32::from(code >> 3), f32::from(code & 7));
    if e == 0 {
        m * 2f32.powi(-9)
    } else {
        (8.0 + m) * 2f32.powi(e - 10)
    }
}

fn modify(v: f32, modifier: u8) -> f32 {
    match modifier {
        0 => v,
        1 => -v,
        2 => v.abs(),
        _ => -v.abs(),
    }
}

/// A comparison with zero: ALU_RESULT_OP and TARGET.
fn compare(v: f32, op: u8) -> bool {
    match op {
        0 => v == 0.0,
        1 => v < 0.0,
        2 => v >= 0.0,
        _ => v != 0.0,
    }
}

/// The three sources of both banks and the presubtract results: four vectors.
type Read = [[f32; 4]; 4];
/// A, B, C as r, g, b, a.
type Args = [[f32; 4]; 3];

impl<'a> Machine<'a> {
    pub fn new(
        code: &'a [Inst],
        constants: &'a [[f32; 4]],
        regs: &'a Registers,
        covered: [bool; 4],
        texels: &'a [[[f32; 4]; 4]],
        pixels: [Pixel; 4],
    ) -> Self {
        Machine {
            code,
            constants,
            regs,
            covered,
            texels,
            pixels,
            seen: Vec::new(),
            open: None,
            flows: [[0; 2]; 8],
            index: 0,
            loops: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// Runs; how many instructions that took (guide §7.2: addresses modulo 512, END is executed).
    pub fn run(&mut self, most: u64) -> u64 {
        let slot = |n: u16| (n + self.regs.offset) % 512;
        let (mut pc, end) = (slot(self.regs.start), slot(self.regs.end));
        for n in 1..=most {
            let code = self.code;
            let mut next = (pc + 1) % 512;
            match &code[pc as usize] {
                Inst::Alu(i) => self.alu(i),
                Inst::Tex(i) => self.tex(i),
                Inst::Fc(i) => {
                    if let Some(to) = self.flow(i, pc) {
                        next = to;
                    }
                }
            }
            if pc == end || self.open.is_some() {
                return n;
            }
            pc = next;
        }
        most
    }

    fn address(&mut self, n: u8, rel: bool, size: i32) -> usize {
        let at = i32::from(n) + if rel { self.index } else { 0 };
        if !(0..size).contains(&at) {
            self.open = Some(Open::Relative);
        }
        at.rem_euclid(size) as usize
    }

    fn source(&mut self, pixel: usize, s: Source) -> [f32; 4] {
        match s.place {
            Place::Temp(n) => {
                let at = self.address(n, s.rel, 128);
                self.pixels[pixel].temp[at]
            }
            Place::Const(n) => {
                let at = self.address(n, s.rel, 256);
                self.constants[at]
            }
            Place::Inline(n) => [float7(n); 4],
        }
    }

    /// Colours of the one bank, alpha of the other.
    fn read(&mut self, pixel: usize, i: &Alu) -> Read {
        let mut all = [[0.0; 4]; 4];
        for (n, got) in all.iter_mut().take(3).enumerate() {
            let rgb = self.source(pixel, i.rgb.sources[n]);
            let alpha = self.source(pixel, i.alpha.sources[n]);
            *got = [rgb[0], rgb[1], rgb[2], alpha[3]];
        }
        let [first, second, _, presubtracted] = &mut all;
        for (lane, v) in presubtracted.iter_mut().enumerate() {
            let op = if lane == 3 { i.alpha } else { i.rgb }.presubtract;
            let (a, b) = (first[lane], second[lane]);
            *v = match op {
                0 => 1.0 - 2.0 * a,
                1 => b - a,
                2 => b + a,
                _ => 1.0 - a,
            };
        }
        all
    }

    fn args(&self, i: &Alu, read: &Read) -> Args {
        let mut args = [[0.0; 4]; 3];
        for (n, arg) in args.iter_mut().enumerate() {
            for (lane, v) in arg.iter_mut().enumerate() {
                let (a, swizzle) = match lane {
                    3 => (&i.alpha.args[n], i.alpha.args[n].swizzle[0]),
                    _ => (&i.rgb.args[n], i.rgb.args[n].swizzle[lane]),
                };
                let of = match swizzle {
                    0..=3 => read[a.sel as usize][swizzle as usize],
                    4 | 7 => 0.0,
                    5 => 0.5,
                    _ => 1.0,
                };
                *v = modify(of, a.modifier);
            }
        }
        args
    }

    fn times(&self, a: f32, b: f32) -> f32 {
        if self.regs.zero_rule && (a == 0.0 || b == 0.0) {
            0.0
        } else {
            a * b
        }
    }

    /// Operations that both units have, by the RGB unit's name (§9.3).
    fn lane(&self, name: &str, [a, b, c]: [f32; 3]) -> f32 {
        let choose = |first: bool| if first { a } else { b };
        match name {
            "MAD" => self.times(a, b) + c,
            "MIN" => choose(a < b),
            "MAX" => choose(a >= b),
            "CND" => choose(c > 0.5),
            "CMP" => choose(c >= 0.0),
            "FRC" => a - a.floor(),
            _ => unreachable!("{name}"),
        }
    }

    /// The alpha unit's other operations. Their precision is not documented.
    fn scalar(&mut self, op: u8, a: f32) -> f32 {
        let wide = f64::from(a);
        let v = match op {
            8 => wide.exp2(),
            9 => wide.log2(),
            10 => 1.0 / wide,
            11 => {
                if a.to_bits() == 1 << 31 {
                    self.open = Some(Open::MinusZeroRoot);
                }
                1.0 / wide.sqrt()
            }
            12 => (std::f64::consts::TAU * wide).sin(),
            _ => (std::f64::consts::TAU * wide).cos(),
        };
        v as f32
    }

    /// Σ A · B over the first lanes.
    fn dot(&self, args: &Args, lanes: usize) -> f32 {
        let mut sum = self.times(args[0][0], args[1][0]);
        for (a, b) in args[0].iter().zip(&args[1]).take(lanes).skip(1) {
            sum += self.times(*a, *b);
        }
        sum
    }

    /// MDH, MDV of a lane: source 0 of the top left pixel times B, and source 0 of its neighbour.
    fn difference(&self, i: &Alu, reads: &[Read; 4], b: f32, lane: usize, down: bool) -> f32 {
        let half = if lane == 3 { &i.alpha } else { &i.rgb };
        let a = modify(reads[0][0][lane], half.args[0].modifier);
        let other = if down { 2 } else { 1 };
        let c = modify(reads[other][0][lane], half.args[2].modifier);
        self.times(a, b) + c
    }

    /// The four lanes of a pixel, before OMOD.
    fn results(&mut self, i: &Alu, reads: &[Read; 4], pixel: usize) -> [f32; 4] {
        let args = self.args(i, &reads[pixel]);
        let at = |lane: usize| [args[0][lane], args[1][lane], args[2][lane]];
        let dot = match i.rgb.op {
            1 => self.dot(&args, 3),
            2 => self.dot(&args, 4),
            _ => 0.0,
        };
        let alpha = match i.alpha.op {
            0 => self.lane("MAD", at(3)),
            1 => dot,
            2 => self.lane("MIN", at(3)),
            3 => self.lane("MAX", at(3)),
            5 => self.lane("CND", at(3)),
            6 => self.lane("CMP", at(3)),
            7 => self.lane("FRC", at(3)),
            op @ 8..=13 => self.scalar(op, args[0][3]),
            op => self.difference(i, reads, args[1][3], 3, op == 15),
        };
        let mut all = [alpha; 4];
        for (lane, v) in all.iter_mut().take(3).enumerate() {
            *v = match i.rgb.op {
                0 => self.lane("MAD", at(lane)),
                1 | 2 => dot,
                3 => self.dot(&args, 2) + args[2][2],
                4 => self.lane("MIN", at(lane)),
                5 => self.lane("MAX", at(lane)),
                7 => self.lane("CND", at(lane)),
                8 => self.lane("CMP", at(lane)),
                9 => self.lane("FRC", at(lane)),
                10 => alpha,
                op => self.difference(i, reads, args[1][lane], lane, op == 12),
            };
        }
        all
    }

    /// OMOD, then the clamp (§9.2).
    fn finish(half: &Half, v: f32) -> f32 {
        let scaled = match half.omod {
            7 => return v,
            4 => v / 2.0,
            5 => v / 4.0,
            6 => v / 8.0,
            n => v * f32::from(1u8 << n),
        };
        // Cards have no denormals (`results_are_no_denormals`).
        let scaled = match scaled.is_subnormal() {
            true => 0.0f32.copysign(scaled),
            false => scaled,
        };
        match half.clamp {
            true if scaled.is_nan() => 0.0,
            true => scaled.clamp(0.0, 1.0),
            false => scaled,
        }
    }

    fn alu(&mut self, i: &Alu) {
        // All four pixels read before one of them is written.
        let reads = [0, 1, 2, 3].map(|p| self.read(p, i));
        for pixel in 0..4 {
            let mut v = self.results(i, &reads, pixel);
            for (lane, v) in v.iter_mut().enumerate() {
                *v = Self::finish(if lane == 3 { &i.alpha } else { &i.rgb }, *v);
            }
            if i.inactive || self.pixels[pixel].state == State::Active {
                self.write(i, pixel, v);
            }
        }
    }

    fn write(&mut self, i: &Alu, pixel: usize, v: [f32; 4]) {
        let before = self.pixels[pixel].predicate;
        let to = [&i.rgb, &i.alpha].map(|h| self.address(h.to, h.to_rel, 128));
        let p = &mut self.pixels[pixel];
        for (lane, v) in v.into_iter().enumerate() {
            let (half, to, bit) = match lane {
                3 => (&i.alpha, to[1], 0),
                _ => (&i.rgb, to[0], lane),
            };
            let passes = match half.pred {
                0 => true,
                1 => before[lane] != half.pred_inv,
                n => before[usize::from(n) - 2] != half.pred_inv,
            };
            if !passes {
                continue;
            }
            if half.wmask >> bit & 1 != 0 {
                p.temp[to][lane] = v;
            }
            if half.omask >> bit & 1 != 0 {
                match i.out {
                    true => p.colour[half.target as usize][lane] = v,
                    false => p.predicate[lane] = compare(v, half.target),
                }
            }
            if i.out && i.depth && lane == 3 {
                p.depth = v;
            }
            let (update, alpha, op) = i.result;
            if update && lane == if alpha { 3 } else { 0 } {
                p.result = compare(v, op);
                p.known = true;
            }
        }
    }

    fn reg(&mut self, pixel: usize, r: &Reg) -> [f32; 4] {
        let at = self.address(r.at, r.rel, 128);
        r.lanes.map(|c| self.pixels[pixel].temp[at][usize::from(c)])
    }

    fn tex(&mut self, i: &Tex) {
        let four = [0, 1, 2, 3];
        let mut at = four.map(|p| self.reg(p, &i.from));
        let active = four.map(|p| self.pixels[p].state == State::Active);
        if i.op == 2 {
            // -0 counts as negative (§9.4).
            for p in four {
                let below = |v: &f32| *v < 0.0 || v.to_bits() == 1 << 31;
                self.pixels[p].killed |= active[p] && at[p].iter().any(below);
            }
            return;
        }
        if i.op == 0 {
            return;
        }
        if i.op == 3 {
            at = at.map(|[s, t, r, q]| [s / q, t / q, r / q, q]);
        }
        let (mut dx, mut dy) = ([[0.0; 4]; 4], [[0.0; 4]; 4]);
        if i.op == 6 {
            (dx, dy) = (
                four.map(|p| self.reg(p, &i.dx)),
                four.map(|p| self.reg(p, &i.dy)),
            );
        }
        let texel = self.texels[self.seen.len() % self.texels.len()];
        self.seen.push(Seen {
            unit: i.unit,
            op: i.op,
            unscaled: i.unscaled,
            at,
            dx,
            dy,
            active: active.contains(&true),
        });
        let to = self.address(i.to.at, i.to.rel, 128);
        for p in four.into_iter().filter(|p| i.inactive || active[*p]) {
            for lane in 0..4 {
                if i.wmask >> lane & 1 != 0 {
                    let from = usize::from(i.to.lanes[lane]);
                    self.pixels[p].temp[to][lane] = texel[p][from];
                }
            }
        }
    }
}
