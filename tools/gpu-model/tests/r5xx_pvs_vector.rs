// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The operations of the vector engine, one by one, by their listings in R5xx guide §6.5.7 (opcodes in §6.5.9).
//! Sources of 0, -0 and of what is not a number are there where the listing decides.

use crate::r5xx_pvs_rig::*;
use gpu_model::r5xx::pvs::Vec4;

/// A source that an operation does not have.
const NONE: Vec4 = [NAN; 4];

fn two(op: u32, a: Vec4, b: Vec4) -> Vec4 {
    ve(op, [a, b, NONE])
}

#[test]
fn vector_no_op() {
    assert_eq!(ve(0, [[1.0; 4]; 3]), BEFORE);
}

/// (A.X * B.X) + (A.Y * B.Y) + (A.Z * B.Z) + (A.W * B.W), from left to right, in all lanes.
#[test]
fn ve_dot_product() {
    let a = [1.0, 2.0, 3.0, 4.0];
    assert_eq!(two(1, a, [10.0, 100.0, 1000.0, 10000.0]), [43210.0; 4]);
    // 1e30 and -1e30 go away before 1 comes.
    assert_eq!(
        two(1, [1e15, 1e15, 1.0, 0.0], [1e15, -1e15, 1.0, 1.0]),
        [1.0; 4]
    );
    assert_eq!(
        two(1, [1.0, 1e15, 1e15, 0.0], [1.0, 1e15, -1e15, 1.0]),
        [0.0; 4]
    );
}

#[test]
fn ve_multiply() {
    let got = two(2, [2.0, -3.0, 0.0, 1e30], [0.5, 4.0, -1.0, 1e30]);
    same(got, [1.0, -12.0, -0.0, INF]);
}

/// Not in the document: on cards 0 times more than MAX_FLOAT is 0 (piglit's vs-atan-float-float, with
/// 10 / 0 by ME_RECIP_DX in atan(0, -10), which is not in Mesa's list of failures of RV530).
#[test]
fn products_with_0() {
    let (a, b) = ([INF, 0.0, NAN, 0.0], [0.0, -INF, -0.0, 5.0]);
    let is = |got: Vec4, want: Vec4| assert_eq!(got, want);
    is(two(2, a, b), [0.0; 4]);
    is(ve(4, [a, b, [1.0, 2.0, 3.0, 4.0]]), [1.0, 2.0, 3.0, 4.0]);
    is(ve(11, [a, b, [1.0, 2.0, 3.0, 4.0]]), [1.0, 2.0, 3.0, 4.0]);
    is(two(1, [INF, 0.0, NAN, 2.0], [0.0, INF, 0.0, 3.0]), [6.0; 4]);
    is(
        two(5, [NAN, 0.0, 7.0, NAN], [NAN, INF, NAN, 9.0]),
        [1.0, 0.0, 7.0, 9.0],
    );
    is(ve(12, [a, b, [1.0; 4]]), [1.0; 4]);
    is(ve(12, [a, b, [-1.0, 0.0, 0.0, 0.5]]), [0.0; 4]);
    // Without a 0 it is IEEE's.
    same(
        two(2, [INF, NAN, -INF, MAX], [2.0, 1.0, 2.0, 10.0]),
        [INF, NAN, -INF, INF],
    );
    // The same in the math engine: ME_MULTIPLY.
    for (a, b) in [(INF, 0.0), (-0.0, INF), (NAN, 0.0)] {
        assert_eq!(me(10, [a, b, 0.0]), [0.0; 4], "{a} {b}");
    }
}

#[test]
fn ve_add() {
    let got = two(3, [2.0, -3.0, INF, 16777216.0], [0.5, 4.0, -INF, 1.0]);
    same(got, [2.5, 1.0, NAN, 16777216.0]);
}

/// (A * B) + C. The one source of inputs is C.
#[test]
fn ve_multiply_add() {
    let got = ve(
        4,
        [
            [2.0, 3.0, -1.0, 0.0],
            [5.0, 7.0, 4.0, 9.0],
            [1.0, -1.0, 4.0, 3.0],
        ],
    );
    assert_eq!(got, [11.0, 20.0, 0.0, 3.0]);
}

/// The use that is printed: with A = (?, D*D, D*D, ?) and B = (?, 1/D, ?, 1/D) it is (1, D, D*D, 1/D).
#[test]
fn ve_distance_vector() {
    let d: f32 = 4.0;
    let a = [NAN, d * d, d * d, NAN];
    let b = [NAN, 1.0 / d, NAN, 1.0 / d];
    assert_eq!(two(5, a, b), [1.0, 4.0, 16.0, 0.25]);
}

/// A - floor(A): "the positive difference".
#[test]
fn ve_fraction() {
    let got = ve(6, [[1.25, -1.25, 3.0, -0.5], NONE, NONE]);
    assert_eq!(got, [0.25, 0.75, 0.0, 0.5]);
}

/// Beside a NaN it is the second source (digest of 3D, D-4).
#[test]
fn ve_maximum() {
    same(
        two(7, [1.0, -2.0, NAN, 5.0], [2.0, -3.0, 4.0, NAN]),
        [2.0, -2.0, 4.0, NAN],
    );
}

#[test]
fn ve_minimum() {
    same(
        two(8, [1.0, -2.0, NAN, 5.0], [2.0, -3.0, 4.0, NAN]),
        [1.0, -3.0, 4.0, NAN],
    );
}

#[test]
fn ve_set_greater_than_equal() {
    assert_eq!(
        two(9, [1.0, 2.0, 2.0, -0.0], [2.0, 1.0, 2.0, 0.0]),
        [0.0, 1.0, 1.0, 1.0]
    );
    assert_eq!(
        two(9, [NAN, INF, -INF, 1.0], [1.0, 1.0, 1.0, NAN]),
        [0.0, 1.0, 0.0, 0.0]
    );
}

#[test]
fn ve_set_less_than() {
    assert_eq!(
        two(10, [1.0, 2.0, 2.0, -0.0], [2.0, 1.0, 2.0, 0.0]),
        [1.0, 0.0, 0.0, 0.0]
    );
    assert_eq!(
        two(10, [NAN, INF, -INF, 1.0], [1.0, 1.0, 1.0, NAN]),
        [0.0, 0.0, 1.0, 0.0]
    );
}

/// (2.0 * (A * B)) + C.
#[test]
fn ve_multiplyx2_add() {
    let got = ve(
        11,
        [
            [2.0, 3.0, -1.0, 0.0],
            [5.0, 7.0, 4.0, 9.0],
            [1.0, -1.0, 4.0, 3.0],
        ],
    );
    assert_eq!(got, [21.0, 41.0, -4.0, 3.0]);
}

/// The first comparison looks at w of all three, the second at x; neither y nor z counts.
#[test]
fn ve_multiply_clamp() {
    let source = |x: f32, w: f32| [x, NAN, NAN, w];
    for (a, b, c, want) in [
        // C.W < A.W * B.W: C.W, although that is its name for x.
        (source(2.0, 3.0), source(5.0, 4.0), source(1.0, 11.0), 11.0),
        // C.X >= A.X * B.X
        (source(2.0, 3.0), source(5.0, 4.0), source(10.0, 12.0), 10.0),
        (source(2.0, 3.0), source(5.0, 4.0), source(11.0, 12.0), 11.0),
        // A.X * B.X
        (source(2.0, 3.0), source(5.0, 4.0), source(9.0, 12.0), 10.0),
    ] {
        assert_eq!(ve(12, [a, b, c]), [want; 4], "{c:?}");
    }
}

/// Returns A0 after a load of a vector, by one of the two operations that load it.
fn address(op: u32, value: Vec4) -> [i16; 4] {
    let mut b = VertexShaderTest::new(&[[dst_of(op, 1, 0), src(INPUT, 0), 0, 0]]);
    b.vertex.input[0] = value;
    b.vertex.address = [77; 4];
    b.run();
    b.vertex.address
}

/// floor(A): of a vector, and of A0 (§6.5.1: "clamped between the range of -256 and 255").
#[test]
fn ve_flt2fix_dx() {
    assert_eq!(
        ve(13, [[2.5, -2.5, 3.0, -0.1], NONE, NONE]),
        [2.0, -3.0, 3.0, -1.0]
    );
    assert_eq!(address(13, [2.9, -2.1, 255.9, -256.0]), [2, -3, 255, -256]);
    assert_eq!(
        address(13, [256.0, -256.1, 1e30, -INF]),
        [255, -256, 255, -256]
    );
}

/// floor(A + 0.5).
#[test]
fn ve_flt2fix_dx_rnd() {
    assert_eq!(
        ve(14, [[2.5, -2.5, 3.4, -0.6], NONE, NONE]),
        [3.0, -2.0, 3.0, -1.0]
    );
    assert_eq!(address(14, [2.4, -2.6, 254.5, -256.5]), [2, -3, 255, -256]);
    assert_eq!(address(14, [255.5, -300.0, INF, 0.5]), [255, -256, 255, 1]);
}

/// Condition (B.w), count (A.w); the predicate and the new count of each VE_PRED_SET_*_PUSH.
fn push(op: u32, so: &[f32], not: &[f32]) {
    for b in so {
        assert_eq!(predicate(op, 0.0, *b), (true, 0.0), "{b}");
        assert_eq!(predicate(op, -0.0, *b), (true, 0.0), "{b}");
        assert_eq!(predicate(op, 1.0, *b), (false, 2.0), "{b}");
        assert_eq!(predicate(op, 7.0, *b), (false, 8.0), "{b}");
    }
    for b in not {
        assert_eq!(predicate(op, 0.0, *b), (false, 1.0), "{b}");
        assert_eq!(predicate(op, 3.0, *b), (false, 4.0), "{b}");
    }
}

#[test]
fn ve_pred_set_eq_push() {
    push(15, &[0.0, -0.0], &[1.0, -1.0, INF, NAN]);
}

#[test]
fn ve_pred_set_gt_push() {
    push(16, &[1.0, INF], &[0.0, -0.0, -1.0, NAN]);
}

#[test]
fn ve_pred_set_gte_push() {
    push(17, &[0.0, -0.0, 1.0], &[-1.0, -INF, NAN]);
}

#[test]
fn ve_pred_set_neq_push() {
    push(18, &[1.0, -1.0, INF], &[0.0, -0.0]);
}

/// Conditions of A for which the listings differ.
const A: Vec4 = [0.0, 1.0, -1.0, -0.0];
const B: Vec4 = [10.0, 11.0, 12.0, 13.0];

#[test]
fn ve_cond_write_eq() {
    assert_eq!(two(19, A, B), [10.0, 99.0, 99.0, 13.0]);
}

#[test]
fn ve_cond_write_gt() {
    assert_eq!(two(20, A, B), [99.0, 11.0, 99.0, 99.0]);
}

#[test]
fn ve_cond_write_gte() {
    assert_eq!(two(21, A, B), [10.0, 11.0, 99.0, 13.0]);
}

#[test]
fn ve_cond_write_neq() {
    assert_eq!(two(22, A, B), [99.0, 11.0, 12.0, 99.0]);
}

/// A conditional write counts in the lanes that the mask has, too.
#[test]
fn conditional_writes_are_masked() {
    for mask in 0..16u32 {
        let op = (dst(22, 6) & !(15 << 20)) | mask << 20;
        let mut b = VertexShaderTest::new(&[[op, src(TEMP, 0), src(TEMP, 1), 0]]);
        b.vertex.temporary[0] = A;
        b.vertex.temporary[1] = B;
        b.vertex.temporary[6] = BEFORE;
        b.clean();
        let want = [0, 1, 2, 3].map(|n| if mask & 6 & 1 << n != 0 { B[n] } else { 99.0 });
        assert_eq!(b.temp(6), want, "{mask:#b}");
    }
}

const C: Vec4 = [20.0, 21.0, 22.0, 23.0];

#[test]
fn ve_cond_mux_eq() {
    assert_eq!(ve(23, [A, B, C]), [10.0, 21.0, 22.0, 13.0]);
}

#[test]
fn ve_cond_mux_gt() {
    assert_eq!(ve(24, [A, B, C]), [20.0, 11.0, 22.0, 23.0]);
}

#[test]
fn ve_cond_mux_gte() {
    assert_eq!(ve(25, [A, B, C]), [10.0, 11.0, 22.0, 13.0]);
}

#[test]
fn ve_set_greater_than() {
    assert_eq!(
        two(26, [1.0, 2.0, 2.0, -0.0], [2.0, 1.0, 2.0, 0.0]),
        [0.0, 1.0, 0.0, 0.0]
    );
}

#[test]
fn ve_set_equal() {
    assert_eq!(
        two(27, [1.0, 2.0, NAN, -0.0], [2.0, 2.0, NAN, 0.0]),
        [0.0, 1.0, 0.0, 1.0]
    );
}

#[test]
fn ve_set_not_equal() {
    assert_eq!(
        two(28, [1.0, 2.0, NAN, -0.0], [2.0, 2.0, NAN, 0.0]),
        [1.0, 0.0, 1.0, 0.0]
    );
}
