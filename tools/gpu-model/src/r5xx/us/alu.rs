// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What ALU and OUT instructions compute (digest of 3D, §9.2, §9.3).
//!
//! Colours and alpha are two halves that are done together: both read what was before. Sums and products are rounded
//! to the nearest, each on its own. No result is a denormal, but for what OMOD 7 leaves as it is.

use super::decode::{Alu, Operand, Program, CONSTANTS, HALF, LANES, ONE};
use super::machine::{store, temporary, Lane, Pixels};
use super::note::{Note, Notes};
use super::word::Cmn;
use std::ops::Range;

/// What an instruction works with.
pub(super) struct Machine<'a> {
    pub program: &'a Program,
    pub pixels: &'a mut Pixels,
    pub constants: &'a [[f32; 4]; CONSTANTS],
    /// aL.
    pub index: i32,
    pub notes: &'a mut Notes,
}

/// Three sources and the presubtract's result, and constants.
type Sources = [Lane; LANES];

/// Three operands of the colours, three of alpha.
struct Operands {
    rgb: [[Lane; 3]; 3],
    alpha: [Lane; 3],
}

fn each(mut f: impl FnMut(usize) -> f32) -> Lane {
    [f(0), f(1), f(2), f(3)]
}

fn one(a: Lane, f: impl Fn(f32) -> f32) -> Lane {
    each(|n| f(a[n]))
}

fn plus(a: Lane, b: Lane) -> Lane {
    each(|n| a[n] + b[n])
}

/// Sources before there are any.
const CONSTANT_LANES: Sources = {
    let mut all = [[0.0; 4]; LANES];
    all[HALF as usize] = [0.5; 4];
    all[ONE as usize] = [1.0; 4];
    all
};

/// A small float without a sign: four bits of exponent with a bias of 7, three of mantissa, with denormals.
pub(super) fn float7(code: u8) -> f32 {
    let (exponent, mantissa) = (code >> 3 & 15, f32::from(code & 7));
    match exponent {
        0 => mantissa / 512.0,
        e => (8.0 + mantissa) * f32::from_bits((u32::from(e) + 127 - 10) << 23),
    }
}

/// A comparison of a value with 0.
fn compared(op: u8, v: f32) -> bool {
    match op {
        0 => v == 0.0,
        1 => v < 0.0,
        2 => v >= 0.0,
        _ => v != 0.0,
    }
}

/// Pixels for which it holds, a bit each.
fn comparison(op: u8, lane: Lane) -> u8 {
    (0..4).fold(0, |all, n| all | u8::from(compared(op, lane[n])) << n)
}

impl Operand {
    fn of(self, lane: &Lane) -> Lane {
        each(|n| f32::from_bits(lane[n].to_bits() & self.keep ^ self.flip))
    }
}

fn presubtracted(op: u8, a: Lane, b: Lane) -> Lane {
    match op {
        0 => one(a, |a| 1.0 - 2.0 * a),
        1 => each(|n| b[n] - a[n]),
        2 => each(|n| b[n] + a[n]),
        _ => one(a, |a| 1.0 - a),
    }
}

/// 0 for a denormal. The document does not say so; but piglit's fs-underflow-mul-compare-zero, by which
/// 2^-149 is 0, passes on cards (r300-rv530-nohiz-fails.txt of Mesa 24.0 does not have it).
fn flushed(v: f32) -> f32 {
    const EXPONENT: u32 = 0xff << 23;
    let bits = v.to_bits();
    let keep = if bits & EXPONENT == 0 { 1 << 31 } else { !0 };
    f32::from_bits(bits & keep)
}

/// Applies OMOD and the clamp to a result. 7 leaves it unchanged.
fn finished(lane: Lane, omod: u8, clamp: bool) -> Lane {
    const FACTORS: [f32; 7] = [1.0, 2.0, 4.0, 8.0, 0.5, 0.25, 0.125];
    let Some(&factor) = FACTORS.get(usize::from(omod)) else {
        return lane;
    };
    let lane = if omod == 0 {
        one(lane, flushed)
    } else {
        one(lane, |v| flushed(v * factor))
    };
    if !clamp {
        return lane;
    }
    // What is not a number becomes 0.
    one(lane, |v| if v.is_nan() { 0.0 } else { v.clamp(0.0, 1.0) })
}

impl Machine<'_> {
    /// Channels of a source, by its address.
    fn source(
        &mut self,
        (number, constant, relative): (u8, bool, bool),
        channels: Range<usize>,
        to: &mut [Lane],
    ) {
        if constant {
            let index = if relative { self.index } else { 0 };
            let at = i32::from(number) + index;
            self.notes
                .add_if(!(0..CONSTANTS as i32).contains(&at), Note::Relative);
            let at = at.rem_euclid(CONSTANTS as i32) as usize;
            for (to, v) in to.iter_mut().zip(&self.constants[at][channels]) {
                *to = [*v; 4];
            }
        } else if number & 0x80 != 0 {
            to.fill([float7(number & 0x7f); 4]);
        } else {
            let at = temporary(number, relative, self.index);
            to.copy_from_slice(&self.pixels.temporary[at][channels]);
        }
    }

    fn sources(&mut self, inst: &Alu) -> Sources {
        let mut s = CONSTANT_LANES;
        for (n, from) in inst.rgb_addr.each().into_iter().enumerate() {
            if inst.uses_rgb >> n & 1 != 0 {
                self.source(from, 0..3, &mut s[4 * n..4 * n + 3]);
            }
        }
        for (n, from) in inst.alpha_addr.each().into_iter().enumerate() {
            if inst.uses_alpha >> n & 1 != 0 {
                self.source(from, 3..4, &mut s[4 * n + 3..4 * n + 4]);
            }
        }
        if inst.uses_rgb >> 3 & 1 != 0 {
            for c in 0..3 {
                s[12 + c] = presubtracted(inst.rgb_addr.srcp_op(), s[c], s[4 + c]);
            }
        }
        if inst.uses_alpha >> 3 & 1 != 0 {
            s[15] = presubtracted(inst.alpha_addr.srcp_op(), s[3], s[7]);
        }
        s
    }

    fn operands(&mut self, inst: &Alu) -> Operands {
        let s = self.sources(inst);
        let one = |o: Operand| o.of(&s[usize::from(o.lane)]);
        let colours = |[r, g, b]: [Operand; 3]| [one(r), one(g), one(b)];
        let [ra, rb, rc] = inst.rgb_operands;
        let [aa, ab, ac] = inst.alpha_operands;
        let mut o = Operands {
            rgb: [colours(ra), colours(rb), colours(rc)],
            alpha: [one(aa), one(ab), one(ac)],
        };
        // MDH and MDV: A is source 0 of the first pixel, C that of its neighbour; selects and swizzles of both
        // do not count, modifiers do.
        let neighbour = |op: u8, horizontal: u8| if op == horizontal { 1 } else { 2 };
        if let op @ (11 | 12) = inst.rgba.rgb_op() {
            for c in 0..3 {
                let source = s[c];
                o.rgb[0][c] = ra[c].of(&[source[0]; 4]);
                o.rgb[2][c] = rc[c].of(&[source[neighbour(op, 11)]; 4]);
            }
        }
        if let op @ (14 | 15) = inst.alpha.op() {
            let source = s[3];
            o.alpha[0] = aa.of(&[source[0]; 4]);
            o.alpha[2] = ac.of(&[source[neighbour(op, 14)]; 4]);
        }
        o
    }

    /// Products; with US_CONFIG 1 they are 0 if either factor is.
    fn product(&self, a: Lane, b: Lane) -> Lane {
        if self.program.zero_wins {
            let is_zero = |n: usize| (a[n] == 0.0) | (b[n] == 0.0);
            each(|n| if is_zero(n) { 0.0 } else { a[n] * b[n] })
        } else {
            each(|n| a[n] * b[n])
        }
    }

    fn dot(&self, o: &Operands, four: bool) -> Lane {
        let term = |c: usize| self.product(o.rgb[0][c], o.rgb[1][c]);
        let sum = plus(plus(term(0), term(1)), term(2));
        if four {
            plus(sum, self.product(o.alpha[0], o.alpha[1]))
        } else {
            sum
        }
    }

    /// Computes one lane of the operations that both halves share.
    fn common(&self, op: Common, [a, b, c]: [Lane; 3]) -> Lane {
        let choose = |takes: fn(f32, f32, f32) -> bool| {
            each(|n| if takes(a[n], b[n], c[n]) { a[n] } else { b[n] })
        };
        match op {
            Common::Mad => plus(self.product(a, b), c),
            Common::Min => choose(|a, b, _| a < b),
            Common::Max => choose(|a, b, _| a >= b),
            Common::Cnd => choose(|_, _, c| c > 0.5),
            Common::Cmp => choose(|_, _, c| c >= 0.0),
            Common::Frc => one(a, |a| a - a.floor()),
        }
    }

    fn alpha(&self, op: u8, o: &Operands, dot: Lane) -> Lane {
        let a = o.alpha[0];
        let turns = |v: f32| f64::from(v) * std::f64::consts::TAU;
        match op {
            0 | 14 | 15 => self.common(Common::Mad, o.alpha),
            1 => dot,
            2 => self.common(Common::Min, o.alpha),
            3 => self.common(Common::Max, o.alpha),
            5 => self.common(Common::Cnd, o.alpha),
            6 => self.common(Common::Cmp, o.alpha),
            7 => self.common(Common::Frc, o.alpha),
            8 => one(a, |v| f64::from(v).exp2() as f32),
            9 => one(a, |v| f64::from(v).log2() as f32),
            10 => one(a, |v| 1.0 / v),
            11 => one(a, |v| {
                // 1 / sqrt(-0) would be -infinity.
                let v = if v == 0.0 { 0.0 } else { v };
                (1.0 / f64::from(v).sqrt()) as f32
            }),
            12 => one(a, |v| turns(v).sin() as f32),
            13 => one(a, |v| turns(v).cos() as f32),
            _ => [0.0; 4],
        }
    }

    fn colours(&self, op: u8, o: &Operands, (dot, scalar): (Lane, Lane)) -> [Lane; 3] {
        let lane = |op, c: usize| self.common(op, [o.rgb[0][c], o.rgb[1][c], o.rgb[2][c]]);
        let by_lane = |op| [lane(op, 0), lane(op, 1), lane(op, 2)];
        match op {
            0 | 11 | 12 => by_lane(Common::Mad),
            1 | 2 => [dot; 3],
            3 => {
                let term = |c: usize| self.product(o.rgb[0][c], o.rgb[1][c]);
                [plus(plus(term(0), term(1)), o.rgb[2][2]); 3]
            }
            4 => by_lane(Common::Min),
            5 => by_lane(Common::Max),
            7 => by_lane(Common::Cnd),
            8 => by_lane(Common::Cmp),
            9 => by_lane(Common::Frc),
            10 => [scalar; 3],
            _ => [[0.0; 4]; 3],
        }
    }

    /// Executes one: `masks` are the pixels that write each channel, `out` tells OUT from ALU.
    pub fn execute(&mut self, cmn: Cmn, inst: &Alu, masks: [u8; 4], out: bool) {
        let o = self.operands(inst);
        let (rgb_op, alpha_op) = (inst.rgba.rgb_op(), inst.alpha.op());
        let dots = matches!(rgb_op, 1 | 2) || alpha_op == 1;
        let dot = if dots {
            self.dot(&o, rgb_op == 2)
        } else {
            [0.0; 4]
        };
        let mut result = [[0.0; 4]; 4];
        let mut scalar = [0.0; 4];
        if inst.needs_alpha {
            scalar = self.alpha(alpha_op, &o, dot);
            result[3] = finished(scalar, inst.alpha.omod(), cmn.alpha_clamp());
        }
        if inst.needs_rgb {
            let (omod, clamp) = (inst.rgb.omod(), cmn.rgb_clamp());
            let colours = self.colours(rgb_op, &o, (dot, scalar));
            for (to, lane) in result.iter_mut().zip(colours) {
                *to = finished(lane, omod, clamp);
            }
        }
        let [r, _, _, a] = result;
        let to = |number, relative| temporary(number, relative, self.index);
        let rgb_to = to(inst.rgba.addrd(), inst.rgba.addrd_rel());
        let alpha_to = to(inst.alpha.addrd(), inst.alpha.addrd_rel());
        for n in 0..4 {
            if cmn.wmask() >> n & 1 != 0 {
                let to = if n < 3 { rgb_to } else { alpha_to };
                store(&mut self.pixels.temporary[to][n], result[n], masks[n]);
            }
            if cmn.omask() >> n & 1 == 0 {
                continue;
            }
            let target = if n < 3 {
                inst.rgb.target()
            } else {
                inst.alpha.target()
            };
            if out {
                let colour = &mut self.pixels.colour[usize::from(target)];
                store(&mut colour[n], result[n], masks[n]);
                self.pixels.written |= 1 << target;
            } else {
                let p = &mut self.pixels.predicate[n];
                *p = *p & !masks[n] | comparison(target, result[n]) & masks[n];
            }
        }
        if out && inst.alpha.w_omask() {
            store(&mut self.pixels.depth, a, masks[3]);
        }
        if inst.rgb.alu_wmask() {
            let (lane, mask) = if cmn.alu_result_sel() {
                (a, masks[3])
            } else {
                (r, masks[0])
            };
            let set = comparison(cmn.alu_result_op(), lane);
            self.pixels.result = self.pixels.result & !mask | set & mask;
        }
    }
}

/// Operations that both halves have, lane by lane.
#[derive(Clone, Copy)]
enum Common {
    Mad,
    Min,
    Max,
    Cnd,
    Cmp,
    Frc,
}
