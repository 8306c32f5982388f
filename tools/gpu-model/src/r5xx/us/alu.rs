// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What ALU and OUT instructions compute (digest of 3D, §9.2, §9.3).
//!
//! Colours and alpha are two halves that are done together: both read what was before. Sums and products are rounded
//! to the nearest, each on its own. No result is a denormal, but for what OMOD 7 leaves as it is.

use super::decode::{three, Alu, Program, CONSTANTS};
use super::machine::{store, temporary, Lane, Pixels};
use super::note::{Note, Notes};
use super::word::{Addr, Cmn};

/// What an instruction works with.
pub(super) struct Machine<'a> {
    pub program: &'a Program,
    pub pixels: &'a mut Pixels,
    pub constants: &'a [[f32; 4]; CONSTANTS],
    /// aL.
    pub index: i32,
    pub notes: &'a mut Notes,
}

/// Three sources and the presubtract's result.
struct Sources {
    rgb: [[Lane; 3]; 4],
    alpha: [Lane; 4],
}

/// Three operands of the colours, three of alpha.
struct Operands {
    rgb: [[Lane; 3]; 3],
    alpha: [Lane; 3],
}

fn each(f: impl FnMut(usize) -> f32) -> Lane {
    std::array::from_fn(f)
}

fn one(a: Lane, f: impl Fn(f32) -> f32) -> Lane {
    each(|n| f(a[n]))
}

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

fn modified(lane: Lane, modifier: u8) -> Lane {
    match modifier {
        0 => lane,
        1 => one(lane, |v| -v),
        2 => one(lane, f32::abs),
        _ => one(lane, |v| -v.abs()),
    }
}

fn presubtracted(op: u8, a: Lane, b: Lane) -> Lane {
    each(|n| match op {
        0 => 1.0 - 2.0 * a[n],
        1 => b[n] - a[n],
        2 => b[n] + a[n],
        _ => 1.0 - a[n],
    })
}

/// 0 for a denormal. The document does not say so; but piglit's fs-underflow-mul-compare-zero, by which
/// 2^-149 is 0, passes on cards (r300-rv530-nohiz-fails.txt of Mesa 24.0 does not have it).
fn flushed(v: f32) -> f32 {
    if v.is_subnormal() {
        0f32.copysign(v)
    } else {
        v
    }
}

/// Applies OMOD and the clamp to a result. 7 leaves it unchanged.
fn finished(lane: Lane, omod: u8, clamp: bool) -> Lane {
    const FACTORS: [f32; 7] = [1.0, 2.0, 4.0, 8.0, 0.5, 0.25, 0.125];
    let Some(&factor) = FACTORS.get(usize::from(omod)) else {
        return lane;
    };
    each(|n| {
        let v = if omod == 0 { lane[n] } else { lane[n] * factor };
        let v = flushed(v);
        match clamp {
            // What is not a number becomes 0.
            true if v.is_nan() => 0.0,
            true => v.clamp(0.0, 1.0),
            false => v,
        }
    })
}

impl Machine<'_> {
    /// A source: its address, the channels wanted of it.
    fn lane(&mut self, (number, constant, relative): (u8, bool, bool), channel: usize) -> Lane {
        if constant {
            let index = if relative { self.index } else { 0 };
            let at = i32::from(number) + index;
            self.notes
                .add_if(!(0..CONSTANTS as i32).contains(&at), Note::Relative);
            let at = at.rem_euclid(CONSTANTS as i32) as usize;
            [self.constants[at][channel]; 4]
        } else if number & 0x80 != 0 {
            [float7(number & 0x7f); 4]
        } else {
            let at = temporary(number, relative, self.index);
            self.pixels.temporary[at][channel]
        }
    }

    fn sources(&mut self, inst: &Alu) -> Sources {
        let mut s = Sources {
            rgb: [[[0.0; 4]; 3]; 4],
            alpha: [[0.0; 4]; 4],
        };
        for (n, from) in inst.rgb_addr.each().into_iter().enumerate() {
            if inst.uses_rgb >> n & 1 != 0 {
                for channel in 0..3 {
                    s.rgb[n][channel] = self.lane(from, channel);
                }
            }
        }
        for (n, from) in inst.alpha_addr.each().into_iter().enumerate() {
            if inst.uses_alpha >> n & 1 != 0 {
                s.alpha[n] = self.lane(from, 3);
            }
        }
        let op = |a: Addr| a.srcp_op();
        if inst.uses_rgb >> 3 & 1 != 0 {
            for c in 0..3 {
                s.rgb[3][c] = presubtracted(op(inst.rgb_addr), s.rgb[0][c], s.rgb[1][c]);
            }
        }
        if inst.uses_alpha >> 3 & 1 != 0 {
            s.alpha[3] = presubtracted(op(inst.alpha_addr), s.alpha[0], s.alpha[1]);
        }
        s
    }

    fn operands(&mut self, inst: &Alu) -> Operands {
        let s = self.sources(inst);
        let value = |sel: u8, swizzle: u8| {
            let sel = usize::from(sel);
            match swizzle {
                n @ 0..=2 => s.rgb[sel][usize::from(n)],
                3 => s.alpha[sel],
                5 => [0.5; 4],
                6 => [1.0; 4],
                _ => [0.0; 4],
            }
        };
        let colour = |sel: u8, swizzle: u16, modifier: u8| {
            three(swizzle).map(|code| modified(value(sel, code), modifier))
        };
        let (rgb, alpha, rgba) = (inst.rgb, inst.alpha, inst.rgba);
        let single = |sel, swizzle, modifier| modified(value(sel, swizzle), modifier);
        let mut o = Operands {
            rgb: [
                colour(rgb.sel_a(), rgb.swiz_a(), rgb.mod_a()),
                colour(rgb.sel_b(), rgb.swiz_b(), rgb.mod_b()),
                colour(rgba.sel_c(), rgba.swiz_c(), rgba.mod_c()),
            ],
            alpha: [
                single(alpha.sel_a(), alpha.swiz_a(), alpha.mod_a()),
                single(alpha.sel_b(), alpha.swiz_b(), alpha.mod_b()),
                single(rgba.alpha_sel_c(), rgba.alpha_swiz_c(), rgba.alpha_mod_c()),
            ],
        };
        // MDH and MDV: A is source 0 of the first pixel, C that of its neighbour; selects and swizzles of both
        // do not count, modifiers do.
        let neighbour = |op: u8, horizontal: u8| if op == horizontal { 1 } else { 2 };
        if let op @ (11 | 12) = rgba.rgb_op() {
            for c in 0..3 {
                let source = s.rgb[0][c];
                o.rgb[0][c] = modified([source[0]; 4], rgb.mod_a());
                o.rgb[2][c] = modified([source[neighbour(op, 11)]; 4], rgba.mod_c());
            }
        }
        if let op @ (14 | 15) = alpha.op() {
            let source = s.alpha[0];
            o.alpha[0] = modified([source[0]; 4], alpha.mod_a());
            o.alpha[2] = modified([source[neighbour(op, 14)]; 4], rgba.alpha_mod_c());
        }
        o
    }

    /// A product; with US_CONFIG 1 it is 0 if either factor is.
    fn product(&self, a: f32, b: f32) -> f32 {
        if self.program.zero_wins && (a == 0.0 || b == 0.0) {
            0.0
        } else {
            a * b
        }
    }

    fn dot(&self, o: &Operands, four: bool) -> Lane {
        each(|n| {
            let term = |c: usize| self.product(o.rgb[0][c][n], o.rgb[1][c][n]);
            let sum = term(0) + term(1) + term(2);
            if four {
                sum + self.product(o.alpha[0][n], o.alpha[1][n])
            } else {
                sum
            }
        })
    }

    /// Computes one lane of the operations that both halves share.
    fn common(&self, op: Common, [a, b, c]: [Lane; 3]) -> Lane {
        each(|n| {
            let (a, b, c) = (a[n], b[n], c[n]);
            match op {
                Common::Mad => self.product(a, b) + c,
                Common::Min if a < b => a,
                Common::Max if a >= b => a,
                Common::Cnd if c > 0.5 => a,
                Common::Cmp if c >= 0.0 => a,
                Common::Min | Common::Max | Common::Cnd | Common::Cmp => b,
                Common::Frc => a - a.floor(),
            }
        })
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
        let by_lane =
            |op| std::array::from_fn(|c| self.common(op, [o.rgb[0][c], o.rgb[1][c], o.rgb[2][c]]));
        match op {
            0 | 11 | 12 => by_lane(Common::Mad),
            1 | 2 => [dot; 3],
            3 => {
                let sum = each(|n| {
                    let term = |c: usize| self.product(o.rgb[0][c][n], o.rgb[1][c][n]);
                    term(0) + term(1) + o.rgb[2][2][n]
                });
                [sum; 3]
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
        let scalar = self.alpha(alpha_op, &o, dot);
        let colours = self.colours(rgb_op, &o, (dot, scalar));
        let (omod, clamp) = (inst.rgb.omod(), cmn.rgb_clamp());
        let [r, g, b] = colours.map(|lane| finished(lane, omod, clamp));
        let a = finished(scalar, inst.alpha.omod(), cmn.alpha_clamp());
        let result = [r, g, b, a];
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
