// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The operations of the math engine, one by one, by their listings in R5xx guide §6.5.8 (opcodes in §6.5.9).
//! Only w of a source counts; the others hold NaN here.

use crate::r5xx_pvs_rig::*;
use std::f32::consts::{LOG2_10, PI};

/// A source that an operation does not have.
const X: f32 = NAN;

/// An operation of one scalar: what it has in all lanes.
fn one(op: u32, a: f32) -> f32 {
    let v = me(op, [a, X, X]);
    same(v, [v[0]; 4]);
    v[0]
}

fn close(got: f32, want: f32) {
    near([got; 4], [want; 4]);
}

#[test]
fn math_no_op() {
    assert_eq!(me(0, [1.0; 3]), BEFORE);
}

/// (2 ^ floor(A), frac(A), 2 ^ A, 1); the fraction of what is more than 128 is 0: "THIS IS NOT EQUIV TO DX".
#[test]
fn me_exp_base2_dx() {
    near(me(1, [2.5, X, X]), [4.0, 0.5, 5.656_854, 1.0]);
    near(me(1, [-1.25, X, X]), [0.25, 0.75, 0.420_448_2, 1.0]);
    assert_eq!(me(1, [3.0, X, X]), [8.0, 0.0, 8.0, 1.0]);
    assert_eq!(me(1, [128.5, X, X]), [INF, 0.0, INF, 1.0]);
    assert_eq!(me(1, [128.0, X, X])[1], 0.0);
    same(me(1, [-INF, X, X]), [0.0, NAN, 0.0, 1.0]);
}

/// (exponent, mantissa, log2, 1) of the magnitude; of 0 (-MAX, 1, -MAX, 1).
#[test]
fn me_log_base2_dx() {
    near(me(2, [10.0, X, X]), [3.0, 1.25, LOG2_10, 1.0]);
    near(me(2, [-0.375, X, X]), [-2.0, 1.5, -1.415_037_5, 1.0]);
    // "4.0 -> 2.0"
    assert_eq!(me(2, [4.0, X, X]), [2.0, 1.0, 2.0, 1.0]);
    assert_eq!(me(2, [0.0, X, X]), [-MAX, 1.0, -MAX, 1.0]);
    assert_eq!(me(2, [-0.0, X, X]), [-MAX, 1.0, -MAX, 1.0]);
    // The least normal number, 2^-126, and 1.5 times the least denormal's double, 3 * 2^-149.
    assert_eq!(me(2, [f32::MIN_POSITIVE, X, X]), [-126.0, 1.0, -126.0, 1.0]);
    near(
        me(2, [f32::from_bits(3), X, X]),
        [-148.0, 1.5, -147.415_04, 1.0],
    );
}

/// e ^ x. The listing has x in IN_A.W and says that it comes from C.W, "if operand replicate" the same.
#[test]
fn me_exp_basee_ff() {
    for (a, c) in [(1.0, 1.0), (0.0, 0.0), (-1.0, -1.0)] {
        near(me(3, [a, X, c]), [f32::exp(a); 4]);
    }
    near(me(3, [2.0, X, 2.0]), [7.389_056; 4]);
}

/// (1, max(B, 0), B > 0 ? max(A, 0) ^ clamp(C, -128, 128) : 0, 1).
#[test]
fn me_light_coeff_dx() {
    assert_eq!(me(4, [2.0, 0.5, 3.0]), [1.0, 0.5, 8.0, 1.0]);
    assert_eq!(me(4, [2.0, -0.5, 3.0]), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(me(4, [2.0, 0.0, 3.0]), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(me(4, [-2.0, 0.5, 3.0]), [1.0, 0.5, 0.0, 1.0]);
    // 1.5 ^ 128 is 3.465e22, 2 ^ -128 a denormal.
    let most = me(4, [1.5, 1.0, 1000.0])[2];
    assert!((most / 3.464_824e22 - 1.0).abs() < 1e-5, "{most:e}");
    assert_eq!(me(4, [2.0, 1.0, -1000.0])[2], f32::from_bits(1 << 21));
}

/// The powers that all ME_POWER_FUNC_FF* have in common: A.w, C.w, result.
fn powers(op: u32, b: f32, cases: &[(f32, f32, f32)]) {
    for &(a, c, want) in cases {
        let got = me(op, [a, b, c]);
        same(got, [got[0]; 4]);
        if want.is_finite() {
            near(got, [want; 4]);
        } else {
            same(got, [want; 4]);
        }
    }
}

/// The nine "special cases (in order of detection)", and what is none.
#[test]
fn me_power_func_ff() {
    powers(
        5,
        X,
        &[
            (2.0, 3.0, 8.0),
            (9.0, 0.5, 3.0),
            // -(abs(A) ^ B)
            (-2.0, 3.0, -8.0),
            (-2.0, 2.0, -4.0),
            (-9.0, 0.5, -3.0),
            (0.0, -2.0, INF),
            (-0.0, -2.0, INF),
            (0.0, -INF, INF),
            (0.0, 2.0, 0.0),
            (0.0, INF, 0.0),
            (0.0, 0.0, 1.0),
            (5.0, 0.0, 1.0),
            (-5.0, 0.0, -1.0),
            (INF, 0.0, 1.0),
            (INF, -2.0, 0.0),
            (INF, -INF, 0.0),
            (INF, 0.5, INF),
            (INF, INF, INF),
            (-INF, 2.0, -INF),
            (2.0, -INF, 0.0),
            (0.5, -INF, INF),
            (2.0, INF, INF),
            (0.5, INF, 0.0),
            (NAN, 2.0, NAN),
        ],
    );
}

#[test]
fn me_recip_dx() {
    assert_eq!(one(6, 8.0), 0.125);
    assert_eq!(one(6, -4.0), -0.25);
    assert_eq!(one(6, 0.0), MAX);
    assert_eq!(one(6, -0.0), MAX);
    assert_eq!(one(6, INF), 0.0);
}

/// Not in the document: on cards the square root of 0 by two reciprocals is 0 (piglit's
/// vs-op-sub-vec3-vec3, which is not in Mesa's list of failures of RV530).
#[test]
fn a_reciprocal_is_no_denormal() {
    for code in [6, 7, 19] {
        assert_eq!(one(code, MAX).to_bits(), 0, "{code}");
        assert_eq!(one(code, -MAX).to_bits(), 1 << 31, "{code}");
        // 2^126 is the largest with a normal reciprocal.
        let largest = f32::from_bits((126 + 127) << 23);
        assert_eq!(one(code, largest), f32::MIN_POSITIVE, "{code}");
        assert_eq!(one(code, 2.0 * largest), 0.0, "{code}");
    }
    assert_eq!(one(6, one(8, 0.0)), 0.0);
}

#[test]
fn me_recip_ff() {
    assert_eq!(one(7, 8.0), 0.125);
    assert_eq!(one(7, -4.0), -0.25);
    assert_eq!(one(7, 0.0), 0.0);
}

/// 1 / sqrt(abs(A)).
#[test]
fn me_recip_sqrt_dx() {
    assert_eq!(one(8, 0.25), 2.0);
    assert_eq!(one(8, -16.0), 0.25);
    assert_eq!(one(8, 0.0), MAX);
}

#[test]
fn me_recip_sqrt_ff() {
    assert_eq!(one(9, 0.25), 2.0);
    assert_eq!(one(9, -16.0), 0.25);
    assert_eq!(one(9, 0.0), 0.0);
}

#[test]
fn me_multiply() {
    assert_eq!(me(10, [3.0, -5.0, X]), [-15.0; 4]);
}

/// From A, as user space of the chip has it (digest of 3D, D-3); the listing says C.
#[test]
fn me_exp_base2_full_dx() {
    close(one(11, 2.5), 5.656_854);
    assert_eq!(one(11, -3.0), 0.125);
    assert_eq!(one(11, -INF), 0.0);
}

#[test]
fn me_log_base2_full_dx() {
    assert_eq!(one(12, 8.0), 3.0);
    assert_eq!(one(12, -0.5), -1.0);
    assert_eq!(one(12, 0.0), -MAX);
}

/// A < B ? 0 : A ^ C.
#[test]
fn me_power_func_ff_clamp_b() {
    powers(
        13,
        2.0,
        &[(1.9, 3.0, 0.0), (2.0, 3.0, 8.0), (3.0, 2.0, 9.0)],
    );
    powers(
        13,
        -5.0,
        &[(-2.0, 3.0, -8.0), (0.0, -1.0, INF), (-6.0, 1.0, 0.0)],
    );
}

/// The same, and 1 for A > 1.
#[test]
fn me_power_func_ff_clamp_b1() {
    powers(
        14,
        0.25,
        &[
            (0.2, 2.0, 0.0),
            (0.25, 2.0, 0.0625),
            (1.0, 5.0, 1.0),
            (1.5, 5.0, 1.0),
        ],
    );
    powers(14, -5.0, &[(-2.0, 3.0, -8.0)]);
    // The first comparison comes first.
    powers(14, 3.0, &[(2.0, 5.0, 0.0)]);
}

/// A <= 0 ? 0 : A > 1 ? 1 : A ^ C.
#[test]
fn me_power_func_ff_clamp_01() {
    powers(
        15,
        X,
        &[
            (-1.0, 2.0, 0.0),
            (0.0, -2.0, 0.0),
            (0.0, 0.0, 0.0),
            (0.5, 2.0, 0.25),
        ],
    );
    powers(15, X, &[(1.0, 9.0, 1.0), (1.5, 9.0, 1.0), (INF, 2.0, 1.0)]);
}

/// The input "clamps, including nans and infs, to -pi to +pi"; the least magnitude is 0x33800000.
#[test]
fn me_sin() {
    close(one(16, 1.0), 0.841_471);
    close(one(16, -3.0), -0.141_12);
    assert_eq!(one(16, 0.0), 0.0);
    for beyond in [PI, -PI, 4.0, -100.0, INF, -INF, NAN] {
        assert_eq!(one(16, beyond), 0.0, "{beyond}");
    }
    assert_eq!(one(16, 1e-20).to_bits(), 0x3380_0000);
    assert_eq!(one(16, -1e-20).to_bits(), 0xb380_0000);
    // The sine of what is just above 2^-24 is itself.
    assert_eq!(one(16, 6e-8), 6e-8);
}

#[test]
fn me_cos() {
    assert_eq!(one(17, 0.0), 1.0);
    close(one(17, 1.0), 0.540_302_3);
    close(one(17, -2.0), -0.416_146_84);
    for beyond in [PI, -PI, 4.0, -100.0, INF, -INF, NAN] {
        assert_eq!(one(17, beyond), -1.0, "{beyond}");
    }
    // Half a pi, rounded to 32 bits, is 4.4e-8 too much.
    assert_eq!(one(17, PI / 2.0).to_bits(), 0xb380_0000);
}

#[test]
fn me_log_base2_ieee() {
    assert_eq!(one(18, 8.0), 3.0);
    assert_eq!(one(18, -0.5), -1.0);
    assert_eq!(one(18, 0.0), -INF);
    assert_eq!(one(18, INF), INF);
}

#[test]
fn me_recip_ieee() {
    assert_eq!(one(19, 8.0), 0.125);
    assert_eq!(one(19, 0.0), INF);
    assert_eq!(one(19, INF), 0.0);
}

#[test]
fn me_recip_sqrt_ieee() {
    assert_eq!(one(20, 0.25), 2.0);
    assert_eq!(one(20, 0.0), INF);
    assert_eq!(one(20, -16.0), 0.25);
}

/// ME_PRED_SET_EQ and its like: 0 and the predicate, or 1 and none.
fn set(op: u32, so: &[f32], not: &[f32]) {
    for a in so {
        assert_eq!(predicate(op | ME, *a, X), (true, 0.0), "{a}");
    }
    for a in not {
        assert_eq!(predicate(op | ME, *a, X), (false, 1.0), "{a}");
    }
}

#[test]
fn me_pred_set_eq() {
    set(21, &[0.0, -0.0], &[1.0, -1.0, NAN]);
}

#[test]
fn me_pred_set_gt() {
    set(22, &[1.0, INF], &[0.0, -0.0, -1.0, NAN]);
}

#[test]
fn me_pred_set_gte() {
    set(23, &[0.0, -0.0, 1.0], &[-1.0, NAN]);
}

#[test]
fn me_pred_set_neq() {
    set(24, &[1.0, -1.0], &[0.0, -0.0]);
}

/// §6.5.3: "resets the predication bit and outputs maximum float". (The listing sets it.)
#[test]
fn me_pred_set_clr() {
    assert_eq!(predicate(25 | ME, X, X), (false, MAX));
}

#[test]
fn me_pred_set_inv() {
    assert_eq!(predicate(26 | ME, 1.0, X), (true, 0.0));
    assert_eq!(predicate(26 | ME, 0.0, X), (false, 1.0));
    for a in [2.0, 5.0, MAX] {
        assert_eq!(predicate(26 | ME, a, X), (false, a));
    }
}

/// §6.5.3: "decrement and clamp the false branch counter to 0 if negative"; at 0 the predicate is set,
/// which its example needs. (The listing sets it below 0 only.)
#[test]
fn me_pred_set_pop() {
    assert_eq!(predicate(27 | ME, 0.0, X), (true, 0.0));
    assert_eq!(predicate(27 | ME, 1.0, X), (true, 0.0));
    assert_eq!(predicate(27 | ME, 2.0, X), (false, 1.0));
    assert_eq!(predicate(27 | ME, 7.0, X), (false, 6.0));
}

#[test]
fn me_pred_set_restore() {
    assert_eq!(predicate(28 | ME, 0.0, X), (true, 0.0));
    for a in [1.0, 4.0, -1.0] {
        assert_eq!(predicate(28 | ME, a, X), (false, a));
    }
}
