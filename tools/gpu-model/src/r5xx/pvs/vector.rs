// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What the vector engine computes (R5xx guide §6.5.7).
//!
//! Each step is rounded to 32 bits, in the order that is printed. Of NaN, infinity and denormals the
//! document says nothing: they are IEEE's but for products with 0, comparisons with NaN are false, and
//! MAX and MIN then have their second operand (digest of 3D, D-4).

use super::opcode::VectorOp;

/// Four lanes: x, y, z, w.
pub type Vec4 = [f32; 4];

/// The result of an operation of either engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Output {
    /// The lanes.
    pub value: Vec4,
    /// Lanes that may be written, bit 0 x to bit 3 w.
    pub enable: u8,
    /// The new predicate.
    pub predicate: Option<bool>,
}

impl Output {
    /// A value for all lanes that leaves the predicate.
    pub(super) fn plain(value: Vec4) -> Self {
        Output {
            value,
            enable: 15,
            predicate: None,
        }
    }

    /// A scalar in all lanes.
    pub(super) fn scalar(value: f32) -> Self {
        Self::plain([value; 4])
    }

    /// A scalar in all lanes, and a predicate.
    pub(super) fn predicate(predicate: bool, value: f32) -> Self {
        Output {
            predicate: Some(predicate),
            ..Self::scalar(value)
        }
    }
}

/// Clamps to 0 to 1, which PVS_DST_VE_SAT and _ME_SAT ask for. NaN, of which nothing is said, is 0.
pub(super) fn saturate(value: Vec4) -> Vec4 {
    value.map(|v| if v > 0.0 { v.min(1.0) } else { 0.0 })
}

fn each1(a: &Vec4, f: impl Fn(f32) -> f32) -> Output {
    Output::plain([f(a[0]), f(a[1]), f(a[2]), f(a[3])])
}

fn each2(a: &Vec4, b: &Vec4, f: impl Fn(f32, f32) -> f32) -> Output {
    Output::plain([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])])
}

fn each3(a: &Vec4, b: &Vec4, c: &Vec4, f: impl Fn(f32, f32, f32) -> f32) -> Output {
    let lane = |n: usize| f(a[n], b[n], c[n]);
    Output::plain([lane(0), lane(1), lane(2), lane(3)])
}

fn set(a: &Vec4, b: &Vec4, so: impl Fn(f32, f32) -> bool) -> Output {
    each2(a, b, |a, b| f32::from(u8::from(so(a, b))))
}

/// VE_PRED_SET_*_PUSH: A.w counts false branches, B.w is the condition.
fn push(a: &Vec4, b: &Vec4, so: impl Fn(f32) -> bool) -> Output {
    if so(b[3]) && a[3] == 0.0 {
        Output::predicate(true, 0.0)
    } else {
        Output::predicate(false, a[3] + 1.0)
    }
}

/// VE_COND_WRITE_*: lanes of B where A is so.
fn cond_write(a: &Vec4, b: &Vec4, so: impl Fn(f32) -> bool) -> Output {
    let bit = |n: usize| u8::from(so(a[n])) << n;
    Output {
        enable: bit(0) | bit(1) | bit(2) | bit(3),
        ..Output::plain(*b)
    }
}

/// A product, which is 0 if either factor is, also of infinity and NaN. The document does not say so;
/// but Mesa's atan(0, -10) has 10 / 0 by ME_RECIP_DX, so more than MAX_FLOAT, times 0, and piglit's
/// vs-atan-float-float passes on cards (r300-rv530-nohiz-fails.txt of Mesa 24.1 does not have it), for
/// which r300 reports the multiplication of Direct3D 9.
pub(super) fn product(a: f32, b: f32) -> f32 {
    let p = a * b;
    if p.is_nan() && (a == 0.0 || b == 0.0) {
        0.0
    } else {
        p
    }
}

/// VE_MULTIPLY_CLAMP, of which the first comparison looks at w and the others at x.
fn multiply_clamp(a: &Vec4, b: &Vec4, c: &Vec4) -> f32 {
    let x = product(a[0], b[0]);
    if c[3] < product(a[3], b[3]) {
        c[3]
    } else if c[0] >= x {
        c[0]
    } else {
        x
    }
}

/// Executes an operation. Sources that it does not have make no difference.
pub fn execute(op: VectorOp, a: &Vec4, b: &Vec4, c: &Vec4) -> Output {
    match op {
        VectorOp::NoOp => Output {
            enable: 0,
            ..Output::scalar(0.0)
        },
        VectorOp::DotProduct => {
            let [x, y, z, w] = each2(a, b, product).value;
            Output::scalar(x + y + z + w)
        }
        VectorOp::Multiply => each2(a, b, product),
        VectorOp::Add => each2(a, b, |a, b| a + b),
        VectorOp::MultiplyAdd => each3(a, b, c, |a, b, c| product(a, b) + c),
        VectorOp::DistanceVector => Output::plain([1.0, product(a[1], b[1]), a[2], b[3]]),
        VectorOp::Fraction => each1(a, |a| a - a.floor()),
        VectorOp::Maximum => each2(a, b, |a, b| if a > b { a } else { b }),
        VectorOp::Minimum => each2(a, b, |a, b| if a < b { a } else { b }),
        VectorOp::SetGreaterThanEqual => set(a, b, |a, b| a >= b),
        VectorOp::SetLessThan => set(a, b, |a, b| a < b),
        VectorOp::MultiplyX2Add => each3(a, b, c, |a, b, c| 2.0 * product(a, b) + c),
        VectorOp::MultiplyClamp => Output::scalar(multiply_clamp(a, b, c)),
        VectorOp::Flt2FixDx => each1(a, f32::floor),
        VectorOp::Flt2FixDxRnd => each1(a, |a| (a + 0.5).floor()),
        VectorOp::PredSetEqPush => push(a, b, |b| b == 0.0),
        VectorOp::PredSetGtPush => push(a, b, |b| b > 0.0),
        VectorOp::PredSetGtePush => push(a, b, |b| b >= 0.0),
        VectorOp::PredSetNeqPush => push(a, b, |b| b != 0.0),
        VectorOp::CondWriteEq => cond_write(a, b, |a| a == 0.0),
        VectorOp::CondWriteGt => cond_write(a, b, |a| a > 0.0),
        VectorOp::CondWriteGte => cond_write(a, b, |a| a >= 0.0),
        VectorOp::CondWriteNeq => cond_write(a, b, |a| a != 0.0),
        VectorOp::CondMuxEq => each3(a, b, c, |a, b, c| if a == 0.0 { b } else { c }),
        VectorOp::CondMuxGt => each3(a, b, c, |a, b, c| if a > 0.0 { b } else { c }),
        VectorOp::CondMuxGte => each3(a, b, c, |a, b, c| if a >= 0.0 { b } else { c }),
        VectorOp::SetGreaterThan => set(a, b, |a, b| a > b),
        VectorOp::SetEqual => set(a, b, |a, b| a == b),
        VectorOp::SetNotEqual => set(a, b, |a, b| a != b),
    }
}
