// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The operations as R5xx guide §6.5.7 and §6.5.8 list them. Their precision is not documented: results are those of
//! 64 bits, rounded.

use super::{Open, Outcome, Vec4};
use std::f32::consts::PI;

/// MAX_FLOAT.
const MAX: f32 = f32::MAX;

/// Which of A, B, C a vector operation has.
pub fn vector_sources(code: u32) -> [bool; 3] {
    match code {
        0 => [false; 3],
        6 | 13 | 14 => [true, false, false],
        4 | 11 | 12 | 23..=25 => [true; 3],
        _ => [true, true, false],
    }
}

/// Which of A, B, C a math operation has; the power is in C.
pub fn math_sources(code: u32) -> [bool; 3] {
    match code {
        0 | 25 => [false; 3],
        3 | 5 | 11 | 15 => [true, false, true],
        10 => [true, true, false],
        4 | 13 | 14 => [true; 3],
        _ => [true, false, false],
    }
}

/// A product. 0 times infinity or NaN is 0: so cards do (`products_with_0`).
fn times(a: f32, b: f32) -> f32 {
    match (a == 0.0 || b == 0.0, (a * b).is_nan()) {
        (true, true) => 0.0,
        _ => a * b,
    }
}

/// Two vectors, lane by lane.
fn each(a: Vec4, b: Vec4, f: impl Fn(f32, f32) -> f32) -> Vec4 {
    std::array::from_fn(|n| f(a[n], b[n]))
}

fn truth(v: bool) -> f32 {
    f32::from(u8::from(v))
}

/// The greater, or the second if they are unordered (digest of 3D, D-4).
fn max(a: f32, b: f32) -> Result<f32, Open> {
    if a == 0.0 && b == 0.0 && a.to_bits() != b.to_bits() {
        return Err(Open::MinusZero);
    }
    Ok(if a > b { a } else { b })
}

fn min(a: f32, b: f32) -> Result<f32, Open> {
    if a == 0.0 && b == 0.0 && a.to_bits() != b.to_bits() {
        return Err(Open::MinusZero);
    }
    Ok(if a < b { a } else { b })
}

fn unequal(a: f32, b: f32) -> Result<bool, Open> {
    if a.is_nan() || b.is_nan() {
        return Err(Open::Nan);
    }
    Ok(a != b)
}

pub fn vector(code: u32, [a, b, c]: &[Vec4; 3]) -> Result<Outcome, Open> {
    let (a, b, c) = (*a, *b, *c);
    let fraction = |v: f32| v - v.floor();
    let push = |holds: bool| {
        if holds && a[3] == 0.0 {
            Outcome::with_predicate(true, 0.0)
        } else {
            Outcome::with_predicate(false, a[3] + 1.0)
        }
    };
    let write = |enable: [bool; 4]| Outcome {
        enable,
        ..Outcome::of(b)
    };
    let mux = |first: [bool; 4]| std::array::from_fn(|n| if first[n] { b[n] } else { c[n] });
    Ok(Outcome::of(match code {
        1 => {
            let p = each(a, b, times);
            [p[0] + p[1] + p[2] + p[3]; 4]
        }
        2 => each(a, b, times),
        3 => each(a, b, |a, b| a + b),
        4 => each(each(a, b, times), c, |p, c| p + c),
        5 => [1.0, times(a[1], b[1]), a[2], b[3]],
        6 => a.map(fraction),
        7 | 8 => {
            let mut v = [0.0; 4];
            for n in 0..4 {
                v[n] = if code == 7 {
                    max(a[n], b[n])
                } else {
                    min(a[n], b[n])
                }?;
            }
            v
        }
        9 => each(a, b, |a, b| truth(a >= b)),
        10 => each(a, b, |a, b| truth(a < b)),
        11 => each(each(a, b, |a, b| 2.0 * times(a, b)), c, |p, c| p + c),
        12 if c[3] < times(a[3], b[3]) => [c[3]; 4],
        12 if c[0] >= times(a[0], b[0]) => [c[0]; 4],
        12 => [times(a[0], b[0]); 4],
        13 => a.map(f32::floor),
        14 => a.map(|v| (v + 0.5).floor()),
        15 => return Ok(push(b[3] == 0.0)),
        16 => return Ok(push(b[3] > 0.0)),
        17 => return Ok(push(b[3] >= 0.0)),
        18 => return Ok(push(unequal(b[3], 0.0)?)),
        19 => return Ok(write(a.map(|v| v == 0.0))),
        20 => return Ok(write(a.map(|v| v > 0.0))),
        21 => return Ok(write(a.map(|v| v >= 0.0))),
        22 if a.iter().any(|v| v.is_nan()) => return Err(Open::Nan),
        22 => return Ok(write(a.map(|v| v != 0.0))),
        23 => mux(a.map(|v| v == 0.0)),
        24 => mux(a.map(|v| v > 0.0)),
        25 => mux(a.map(|v| v >= 0.0)),
        26 => each(a, b, |a, b| truth(a > b)),
        27 => each(a, b, |a, b| truth(a == b)),
        28 => {
            let mut v = [0.0; 4];
            for n in 0..4 {
                v[n] = truth(unequal(a[n], b[n])?);
            }
            v
        }
        _ => return Err(Open::Reserved),
    }))
}

fn exp2(v: f32) -> f32 {
    f64::from(v).exp2() as f32
}

fn log2_magnitude(v: f32) -> f32 {
    f64::from(v).abs().log2() as f32
}

/// x ^ n, with its special cases in order of detection.
fn power(x: f32, n: f32) -> Result<f32, Open> {
    Ok(match (x, n) {
        (_, n) if n.is_nan() => return Err(Open::Nan),
        (0.0, n) if n < 0.0 => f32::INFINITY,
        (0.0, 0.0) => return Err(Open::Power),
        (0.0, _) => 0.0,
        (_, 0.0) => 1.0,
        (f32::INFINITY, n) if n < 0.0 => 0.0,
        (f32::INFINITY, _) => f32::INFINITY,
        (1.0, n) if n.is_infinite() => return Err(Open::Power),
        (x, f32::NEG_INFINITY) if x > 1.0 => 0.0,
        (x, f32::NEG_INFINITY) if x < 1.0 => f32::INFINITY,
        (x, f32::INFINITY) if x > 1.0 => f32::INFINITY,
        (x, f32::INFINITY) if x < 1.0 => 0.0,
        (x, n) => f64::from(x).powf(f64::from(n)) as f32,
    })
}

/// ME_POWER_FUNC_FF.
fn power_func(a: f32, n: f32) -> Result<f32, Open> {
    if a < 0.0 {
        Ok(-power(-a, n)?)
    } else {
        power(a, n)
    }
}

/// A reciprocal that would be a denormal is 0: so cards do (`a_reciprocal_is_no_denormal`).
fn normal(x: f32) -> f32 {
    match x.is_subnormal() {
        true => 0.0f32.copysign(x),
        false => x,
    }
}

/// A result of DX of a source that is not 0.
fn dx(v: f32) -> Result<f32, Open> {
    if v.is_infinite() {
        Err(Open::Overflow)
    } else {
        Ok(v)
    }
}

/// A sine or a cosine is not less than 2^-24, except at 0 and ±π.
fn least(v: f64) -> f32 {
    let v = v as f32;
    let least = f32::from_bits(0x3380_0000);
    if v.abs() < least {
        least.copysign(v)
    } else {
        v
    }
}

fn mantissa(a: f32) -> Result<(f32, f32), Open> {
    let bits = a.to_bits();
    match bits >> 23 & 255 {
        0 | 255 => Err(Open::Exponent),
        e => Ok((
            e as f32 - 127.0,
            f32::from_bits(bits & 0x7f_ffff | 127 << 23),
        )),
    }
}

/// A math operation of A.w, B.w, C.w.
pub fn math(code: u32, [a, b, c]: [f32; 3]) -> Result<Outcome, Open> {
    let (wide, zero) = (f64::from(a), a == 0.0);
    let root = 1.0 / wide.abs().sqrt();
    let same = a.to_bits() == c.to_bits();
    let inside = (-PI..=PI).contains(&a);
    let test = |holds: bool| Outcome::with_predicate(holds, truth(!holds));
    Ok(Outcome::of(
        [match code {
            1 => {
                let y = if a > 128.0 { 0.0 } else { a - a.floor() };
                return Ok(Outcome::of([dx(exp2(a.floor()))?, y, dx(exp2(a))?, 1.0]));
            }
            2 if zero => return Ok(Outcome::of([-MAX, 1.0, -MAX, 1.0])),
            2 => {
                let (exponent, mantissa) = mantissa(a)?;
                return Ok(Outcome::of([exponent, mantissa, log2_magnitude(a), 1.0]));
            }
            3 | 11 if !same => return Err(Open::Operand),
            3 => wide.exp() as f32,
            4 => {
                if c.is_nan() {
                    return Err(Open::Nan);
                }
                let z = if b > 0.0 {
                    power(max(a, 0.0)?, c.clamp(-128.0, 128.0))?
                } else {
                    0.0
                };
                return Ok(Outcome::of([1.0, max(b, 0.0)?, z, 1.0]));
            }
            5 => power_func(a, c)?,
            6 | 8 if zero => MAX,
            7 | 9 if zero => 0.0,
            6 => dx(normal((1.0 / wide) as f32))?,
            7 | 19 => normal((1.0 / wide) as f32),
            8 => dx(root as f32)?,
            9 | 20 => root as f32,
            10 => times(a, b),
            11 => dx(exp2(a))?,
            12 if zero => -MAX,
            12 => dx(log2_magnitude(a))?,
            13 | 14 if a < b => 0.0,
            14 if a > 1.0 => 1.0,
            13 | 14 => power_func(a, c)?,
            15 if a <= 0.0 => 0.0,
            15 if a > 1.0 => 1.0,
            15 => power_func(a, c)?,
            16 if !inside || a.abs() == PI => 0.0,
            16 if zero => 0.0,
            16 => least(wide.sin()),
            17 if !inside || a.abs() == PI => -1.0,
            17 => least(wide.cos()),
            18 => log2_magnitude(a),
            21 => return Ok(test(zero)),
            22 => return Ok(test(a > 0.0)),
            23 => return Ok(test(a >= 0.0)),
            24 => return Ok(test(unequal(a, 0.0)?)),
            // "Resets the predication bit" (§6.5.3; digest D-5).
            25 => return Ok(Outcome::with_predicate(false, MAX)),
            26 if a == 1.0 => return Ok(Outcome::with_predicate(true, 0.0)),
            26 if zero => return Ok(Outcome::with_predicate(false, 1.0)),
            26 => return Ok(Outcome::with_predicate(false, a)),
            // At 0, too (digest D-5).
            27 if a - 1.0 <= 0.0 => return Ok(Outcome::with_predicate(true, 0.0)),
            27 => return Ok(Outcome::with_predicate(false, a - 1.0)),
            28 if zero => return Ok(Outcome::with_predicate(true, 0.0)),
            28 => return Ok(Outcome::with_predicate(false, a)),
            _ => return Err(Open::Reserved),
        }; 4],
    ))
}
