// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What the math engine computes (R5xx guide §6.5.8).
//!
//! Hardware approximates; here a result is the one of 64 bits, rounded to 32. What the document does not
//! say of NaN, infinity, overflow and denormals is IEEE's, but for reciprocals and products with 0.

use super::opcode::MathOp;
use super::vector::{product, Output, Vec4};

/// MAX_FLOAT.
const MAX: f32 = f32::MAX;
/// The least that ME_SIN and ME_COS give, but for 0: 0x33800000.
const LEAST: f32 = 5.960_464_5e-8;

/// The scalars of an operation: w of its sources, of a dual operation x and y of the one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scalars {
    /// IN_A.W: what one-operand functions take, bases.
    pub a: f32,
    /// IN_B.W: clamps.
    pub b: f32,
    /// IN_C.W: powers.
    pub c: f32,
}

fn exp2(x: f32) -> f32 {
    f64::from(x).exp2() as f32
}

/// LOG2(ABS(x)); minus infinity for 0.
fn log2(x: f32) -> f32 {
    f64::from(x.abs()).log2() as f32
}

/// 1 / x, and 0 where that would be a denormal. The document does not say so; but Mesa's distance of
/// equal vectors is the reciprocal of ME_RECIP_SQRT_DX of 0, which is MAX_FLOAT, and piglit's
/// vs-op-sub-vec3-vec3, which asks for 0 exactly, passes on cards (r300-rv530-nohiz-fails.txt of
/// Mesa 24.1 does not have it).
fn reciprocal(x: f32) -> f32 {
    let y = 1.0 / x;
    if y.is_subnormal() {
        0f32.copysign(y)
    } else {
        y
    }
}

fn recip_sqrt(x: f32) -> f32 {
    (1.0 / f64::from(x.abs()).sqrt()) as f32
}

/// x ^ n of an x that is not negative, by the printed cases in their order. 0 ^ 0 is 1: "-n" and "n" of
/// the first two are taken to be less and more than 0.
fn power(x: f32, n: f32) -> f32 {
    if x == 0.0 && n < 0.0 {
        f32::INFINITY
    } else if x == 0.0 && n > 0.0 {
        0.0
    } else if n == 0.0 {
        1.0
    } else if x == f32::INFINITY {
        match n {
            _ if n < 0.0 => 0.0,
            _ if n > 0.0 => f32::INFINITY,
            _ => f32::NAN,
        }
    } else if n.is_infinite() && x != 1.0 && !x.is_nan() {
        if (x > 1.0) == (n > 0.0) {
            f32::INFINITY
        } else {
            0.0
        }
    } else {
        f64::from(x).powf(f64::from(n)) as f32
    }
}

/// ME_POWER_FUNC_FF: that of a negative base is the negative of its magnitude's.
fn power_ff(x: f32, n: f32) -> f32 {
    if x < 0.0 {
        -power(x.abs(), n)
    } else {
        power(x, n)
    }
}

/// ME_LOG_BASE2_DX: exponent, mantissa, logarithm.
fn log_dx(x: f32) -> Vec4 {
    if x == 0.0 {
        return [-MAX, 1.0, -MAX, 1.0];
    }
    let bits = x.abs().to_bits();
    let (exponent, mantissa) = if bits >> 23 == 0 {
        // A denormal has the exponent of its highest bit.
        let up = bits.leading_zeros() as i32 - 8;
        (-126 - up, bits << up & 0x7f_ffff)
    } else {
        ((bits >> 23) as i32 - 127, bits & 0x7f_ffff)
    };
    let mantissa = f32::from_bits(0x3f80_0000 | mantissa);
    [exponent as f32, mantissa, log2(x), 1.0]
}

/// ME_SIN and ME_COS: what they are of x, or outside of -pi to pi, where NaN is too, or at its ends.
fn circular(x: f32, f: impl Fn(f64) -> f64, outside: f32) -> f32 {
    if !(-std::f32::consts::PI < x && x < std::f32::consts::PI) {
        return outside;
    }
    let y = f(f64::from(x)) as f32;
    if y.abs() < LEAST {
        LEAST.copysign(y)
    } else {
        y
    }
}

/// ME_PRED_SET_EQ and its like: the predicate, and 1 for a false branch.
fn branch(so: bool) -> Output {
    Output::predicate(so, f32::from(u8::from(!so)))
}

/// Executes an operation.
pub fn execute(op: MathOp, s: Scalars) -> Output {
    let Scalars { a, b, c } = s;
    Output::scalar(match op {
        MathOp::NoOp => {
            return Output {
                enable: 0,
                ..Output::scalar(0.0)
            }
        }
        MathOp::ExpBase2Dx => {
            let fraction = if a > 128.0 { 0.0 } else { a - a.floor() };
            return Output::plain([exp2(a.floor()), fraction, exp2(a), 1.0]);
        }
        MathOp::LogBase2Dx => return Output::plain(log_dx(a)),
        MathOp::ExpBaseEFf => f64::from(a).exp() as f32,
        MathOp::LightCoeffDx => {
            let specular = if b > 0.0 {
                power(if a > 0.0 { a } else { 0.0 }, c.clamp(-128.0, 128.0))
            } else {
                0.0
            };
            let diffuse = if b > 0.0 { b } else { 0.0 };
            return Output::plain([1.0, diffuse, specular, 1.0]);
        }
        MathOp::PowerFuncFf => power_ff(a, c),
        MathOp::RecipDx if a == 0.0 => MAX,
        MathOp::RecipFf if a == 0.0 => 0.0,
        MathOp::RecipDx | MathOp::RecipFf | MathOp::RecipIeee => reciprocal(a),
        MathOp::RecipSqrtDx if a == 0.0 => MAX,
        MathOp::RecipSqrtFf if a == 0.0 => 0.0,
        MathOp::RecipSqrtDx | MathOp::RecipSqrtFf | MathOp::RecipSqrtIeee => recip_sqrt(a),
        MathOp::Multiply => product(a, b),
        MathOp::ExpBase2FullDx => exp2(a),
        MathOp::LogBase2FullDx if a == 0.0 => -MAX,
        MathOp::LogBase2FullDx | MathOp::LogBase2Ieee => log2(a),
        MathOp::PowerFuncFfClampB | MathOp::PowerFuncFfClampB1 if a < b => 0.0,
        MathOp::PowerFuncFfClampB1 if a > 1.0 => 1.0,
        MathOp::PowerFuncFfClamp01 if a <= 0.0 => 0.0,
        MathOp::PowerFuncFfClamp01 if a > 1.0 => 1.0,
        MathOp::PowerFuncFfClampB | MathOp::PowerFuncFfClampB1 | MathOp::PowerFuncFfClamp01 => {
            power_ff(a, c)
        }
        MathOp::Sin if a == 0.0 => 0.0,
        MathOp::Sin => circular(a, f64::sin, 0.0),
        MathOp::Cos => circular(a, f64::cos, -1.0),
        MathOp::PredSetEq => return branch(a == 0.0),
        MathOp::PredSetGt => return branch(a > 0.0),
        MathOp::PredSetGte => return branch(a >= 0.0),
        MathOp::PredSetNeq => return branch(a != 0.0),
        // The listing sets the predicate; §6.5.3 says that it is reset, and a break needs that.
        MathOp::PredSetClr => return Output::predicate(false, MAX),
        MathOp::PredSetInv => {
            return match a {
                1.0 => Output::predicate(true, 0.0),
                0.0 => Output::predicate(false, 1.0),
                _ => Output::predicate(false, a),
            }
        }
        MathOp::PredSetPop => {
            // The listing has "< 0"; but an end of the outermost branch, 1 to 0, must set it (§6.5.3).
            let left = a - 1.0;
            return if left <= 0.0 {
                Output::predicate(true, 0.0)
            } else {
                Output::predicate(false, left)
            };
        }
        MathOp::PredSetRestore => {
            return Output::predicate(a == 0.0, if a == 0.0 { 0.0 } else { a })
        }
    })
}
