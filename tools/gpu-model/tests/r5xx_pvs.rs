// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The vertex shader: the vectors of the digest of 3D, §15.1, some of which ran on a card, and what
//! goes for all operations (R5xx guide §6.5.1, §6.5.6, §6.5.9).

use crate::r5xx_pvs_rig::*;
use gpu_model::r5xx::pvs::{Note, Notes, Vec4};

/// A lane that is not written keeps this.
const KEPT: f32 = 99.0;

/// The state of §15.1.
fn standard_state(words: [u32; 4]) -> VertexShaderTest {
    let mut b = VertexShaderTest::new(&[words]);
    let v = &mut b.vertex;
    v.input[0] = [1.0, 2.0, 3.0, 4.0];
    v.input[1] = [0.5, -1.0, 2.0, 0.0];
    v.temporary[0] = [2.0, -3.0, 0.25, 8.0];
    v.temporary[1] = [-1.0, 0.0, 1.0, 2.0];
    v.temporary[2] = [0.5; 4];
    v.temporary[3] = [0.0, 0.0, 0.0, 10.0];
    v.temporary[4] = [0.3, -2.5, -0.25, 2.5];
    v.temporary[6] = [KEPT; 4];
    v.output[0] = [KEPT; 4];
    b.constants[0] = [10.0, 20.0, 30.0, 40.0];
    b.constants[2] = [7.0; 4];
    b
}

const fn all(v: f32) -> Vec4 {
    [v; 4]
}

/// P1 to P22, P26 to P44: what becomes of temporary 6, or of output 0 for the first two.
#[test]
fn vectors_of_the_digest() {
    let cases: &[(&str, [u32; 4], Vec4)] = &[
        (
            "P3",
            [0x0010c001, 0x00d10002, 0x00d10001, 0x01ffe001],
            [300.0, KEPT, KEPT, KEPT],
        ),
        (
            "P4",
            [0x00f0c001, 0x01110002, 0x01110001, 0x01ffe001],
            all(140.0),
        ),
        (
            "P5",
            [0x00f0c002, 0x00d10001, 0x000a6000, 0x01ffe000],
            [8.0, 0.5, -9.0, 8.0],
        ),
        (
            "P6",
            [0x00f0c004, 0x00d10001, 0x00000002, 0x1ed10000],
            [8.0, 23.0, 29.75, 32.0],
        ),
        (
            "P7",
            [0x00f0c080, 0x00d10000, 0x00d10020, 0x00d10040],
            [-1.5, 0.5, 0.75, 16.5],
        ),
        (
            "P8",
            [0x00f0c081, 0x00d10000, 0x00d10020, 0x00d10040],
            [-3.5, 0.5, 1.0, 32.5],
        ),
        (
            "P9",
            [0x00f0c00b, 0x00d10000, 0x00d10001, 0x00d10002],
            [14.0, 8.0, 31.5, 104.0],
        ),
        (
            "P10",
            [0x00f0c005, 0x00d10001, 0x00d10000, 0x01ffe000],
            [1.0, -6.0, 3.0, 8.0],
        ),
        (
            "P11",
            [0x00f0c006, 0x00d10080, 0x01ffe080, 0x01ffe080],
            [0.3, 0.5, 0.75, 0.5],
        ),
        (
            "P12",
            [0x00f0c007, 0x00d10000, 0x00d10020, 0x01ffe020],
            [2.0, 0.0, 1.0, 8.0],
        ),
        (
            "P13",
            [0x00f0c008, 0x00d10000, 0x00d10020, 0x01ffe020],
            [-1.0, -3.0, 0.25, 2.0],
        ),
        (
            "P14",
            [0x00f0c009, 0x00d10000, 0x00d10020, 0x01ffe020],
            [1.0, 0.0, 0.0, 1.0],
        ),
        (
            "P15",
            [0x00f0c00a, 0x00d10000, 0x00d10020, 0x01ffe020],
            [0.0, 1.0, 1.0, 0.0],
        ),
        (
            "P16",
            [0x00f0c01a, 0x00d10040, 0x00d10040, 0x01ffe040],
            all(0.0),
        ),
        (
            "P17",
            [0x00f0c01b, 0x00d100a0, 0x00db6021, 0x01ffe021],
            all(1.0),
        ),
        (
            "P18",
            [0x00f0c01c, 0x00d10000, 0x00d10020, 0x01ffe020],
            all(1.0),
        ),
        (
            "P19",
            [0x00f0c003, 0x1ed10008, 0x016da000, 0x01ffe000],
            [-1.0, -2.0, 0.75, -7.0],
        ),
        (
            "P20",
            [0x01f0c003, 0x00d10000, 0x00d10020, 0x01ffe020],
            [1.0, 0.0, 1.0, 1.0],
        ),
        (
            "P21",
            [0x0050c002, 0x00d10000, 0x1f6da000, 0x01ffe000],
            [-2.0, KEPT, -0.25, KEPT],
        ),
        (
            "P22",
            [0x00f0c00c, 0x00000000, 0x00000020, 0x00000001],
            all(1.0),
        ),
        (
            "P26",
            [0x00f0c017, 0x00d100a0, 0x00d10001, 0x00d10020],
            [1.0, 2.0, 3.0, 4.0],
        ),
        (
            "P27",
            [0x00f0c019, 0x00d10020, 0x00d10001, 0x00d10000],
            [2.0, 2.0, 3.0, 4.0],
        ),
        (
            "P28",
            [0x00f0c014, 0x00d10000, 0x00d10001, 0x01ffe001],
            [1.0, KEPT, 3.0, 4.0],
        ),
        (
            "P29",
            [0x00f0c041, 0x00db6080, 0x01248080, 0x01248080],
            [4.0, 0.5, 5.656854, 1.0],
        ),
        (
            "P30",
            [0x00f0c042, 0x00db6060, 0x01248060, 0x01248060],
            [3.0, 1.25, std::f32::consts::LOG2_10, 1.0],
        ),
        (
            "P31",
            [0x00f0c04b, 0x00db6080, 0x01248080, 0x01248080],
            all(5.656854),
        ),
        (
            "P32",
            [0x00f0c04c, 0x00db6000, 0x01248000, 0x01248000],
            all(3.0),
        ),
        (
            "P33",
            [0x00f0c046, 0x00db6000, 0x01248000, 0x01248000],
            all(0.125),
        ),
        (
            "P34",
            [0x00f0c046, 0x00db60a0, 0x012480a0, 0x012480a0],
            all(MAX),
        ),
        (
            "P35",
            [0x00f0c047, 0x00db60a0, 0x012480a0, 0x012480a0],
            all(0.0),
        ),
        (
            "P36",
            [0x00f0c053, 0x00db60a0, 0x012480a0, 0x012480a0],
            all(INF),
        ),
        (
            "P37",
            [0x00f0c048, 0x00924000, 0x01248000, 0x01248000],
            all(2.0),
        ),
        (
            "P38",
            [0x00f0c045, 0x00000000, 0x01248000, 0x00924001],
            all(8.0),
        ),
        (
            "P39",
            [0x00f0c044, 0x00630060, 0x00232060, 0x00e02060],
            [1.0, 0.0, 0.0, 1.0],
        ),
        (
            "P40",
            [0x00f0c044, 0x00630001, 0x00232001, 0x00e02001],
            [1.0, 1.0, 16.0, 1.0],
        ),
        (
            "P42",
            [0x00f0c051, 0x00db60a0, 0x012480a0, 0x012480a0],
            all(1.0),
        ),
        (
            "P43",
            [0x00f0c052, 0x00db60a0, 0x012480a0, 0x012480a0],
            all(-INF),
        ),
        (
            "P44",
            [0x00f0c04a, 0x00db6000, 0x00db6020, 0x01ffe020],
            all(16.0),
        ),
    ];
    for &(name, words, want) in cases {
        let mut b = standard_state(words);
        let run = b.clean();
        assert_eq!(run.steps, 1, "{name}");
        let got = b.temp(6);
        // Seven digits are printed.
        let fits = |(g, w): (f32, f32)| g == w || (g - w).abs() < 1e-6 * w.abs();
        assert!(
            got.into_iter().zip(want).all(fits),
            "{name}: {got:?}, not {want:?}"
        );
    }
    // P1 and P2, which ran on a card.
    for (src, want) in [
        (0x00d10001, [1.0, 2.0, 3.0, 4.0]),
        (0x01510001, [1.0, 2.0, 3.0, 1.0]),
    ] {
        let mut b = standard_state([0x00f00203, src, 0x01248001, 0x01ffe001]);
        b.clean();
        assert_eq!(b.vertex.output[0], want);
    }
    // P41: one lane of temporary 4.
    let mut b = standard_state([0x00108050, 0x003fe060, 0x01ffe060, 0x01ffe060]);
    b.clean();
    assert_eq!(b.temp(4), [0.0, -2.5, -0.25, 2.5]);
}

/// P23 to P25: A0 is loaded, and added to a constant's address.
#[test]
fn vectors_of_the_address_register() {
    for (words, want) in [
        ([0x0010010d, 0x00492080, 0x01ffe080, 0x01ffe080], -3),
        ([0x0010010e, 0x00492080, 0x01ffe080, 0x01ffe080], -2),
    ] {
        let mut b = standard_state(words);
        b.vertex.address = [9; 4];
        b.clean();
        assert_eq!(b.vertex.address, [want, 9, 9, 9]);
    }
    for (a0, max, want) in [(2, 255, 7.0), (2, 2, 7.0), (200, 2, 0.0)] {
        let mut b = standard_state([0x00f0c003, 0x00d10012, 0x01248012, 0x01ffe012]);
        b.vertex.address[0] = a0;
        b.constants[200] = [5.0; 4];
        b.control.constants = (max << 16).into();
        b.clean();
        assert_eq!(b.temp(6), all(want));
    }
}

/// P45 to P52: the predicate, and the count of false branches in temporary 7.w.
#[test]
fn vectors_of_predication() {
    // Words; 7.w, input 0 x and the predicate before; predicate and 7.w after.
    type Case = ([u32; 4], (f32, f32, bool), (bool, f32));
    let if_: [u32; 4] = [0x0080e058, 0x00000001, 0x01248001, 0x01248001];
    let zero = [0x0080e058, 0x000000a0, 0x012480a0, 0x012480a0];
    let nested = [0x0080e012, 0x00ffe0e0, 0x003fe001, 0x01248001];
    let else_ = [0x0080e05a, 0x00db60e0, 0x012480e0, 0x012480e0];
    let endif = [0x0080e05b, 0x00db60e0, 0x012480e0, 0x012480e0];
    let break_ = [0x0480e046, 0x012480e0, 0x012480e0, 0x012480e0];
    let nested_break = [0x0c80e059, 0x012480e0, 0x012480e0, 0x012480e0];
    let cases: &[Case] = &[
        (if_, (5.0, 1.0, false), (true, 0.0)),
        (zero, (5.0, 1.0, true), (false, 1.0)),
        (nested, (0.0, 1.0, true), (true, 0.0)),
        (nested, (1.0, 1.0, true), (false, 2.0)),
        (else_, (1.0, 0.0, false), (true, 0.0)),
        (else_, (0.0, 0.0, true), (false, 1.0)),
        (else_, (2.0, 0.0, false), (false, 2.0)),
        (endif, (1.0, 0.0, false), (true, 0.0)),
        (endif, (2.0, 0.0, false), (false, 1.0)),
        (endif, (0.0, 0.0, false), (true, 0.0)),
        (break_, (3.0, 0.0, false), (false, MAX)),
        (break_, (3.0, 0.0, true), (true, 3.0)),
        (nested_break, (0.0, 0.0, true), (false, MAX)),
        (nested_break, (3.0, 0.0, false), (false, 3.0)),
    ];
    for (words, (count, x, before), after) in cases {
        let mut b = standard_state(*words);
        b.vertex.temporary[7] = [50.0, 51.0, 52.0, *count];
        b.vertex.input[0][0] = *x;
        b.vertex.predicate = *before;
        b.clean();
        let t7 = b.temp(7);
        assert_eq!(
            (b.vertex.predicate, t7[3]),
            *after,
            "{words:x?} {count} {x}"
        );
        assert_eq!(t7[..3], [50.0, 51.0, 52.0]);
    }
    // P50
    for (predicate, want) in [(false, all(KEPT)), (true, [1.0, 2.0, 3.0, 4.0])] {
        let mut b = standard_state([0x0cf0c003, 0x00d10001, 0x01248001, 0x01ffe001]);
        b.vertex.predicate = predicate;
        b.clean();
        assert_eq!(b.temp(6), want);
    }
}

/// P53, which ran on a card: a vector and a math operation at once.
#[test]
fn vector_of_the_dual_operation() {
    let mut b = standard_state([0x10602002, 0x05d2e001, 0x01c8e060, 0x10192004]);
    b.clean();
    same(b.temp(1), [-1.0, -0.0, 0.0, 2.0]);
    near(b.vertex.alternate[3], [0.0, 0.0, -0.141_120_01, 0.0]);
}

/// §6.5.1: lanes are chosen, 0.0 and 1.0 among them; then (R5xx) their magnitude; then each is
/// negated for itself.
#[test]
fn sources_are_swizzled_then_modified() {
    let value = [1.0, -2.0, 3.0, -4.0];
    let cases = [
        ([0, 1, 2, 3], 0, 0, value),
        ([3, 2, 1, 0], 0, 0, [-4.0, 3.0, -2.0, 1.0]),
        ([1, 1, 4, 5], 0, 0, [-2.0, -2.0, 0.0, 1.0]),
        ([0, 1, 2, 3], 0, 0b0101, [-1.0, -2.0, -3.0, -4.0]),
        ([0, 1, 2, 3], 1, 0, [1.0, 2.0, 3.0, 4.0]),
        ([1, 1, 3, 5], 1, 0b1010, [2.0, -2.0, 4.0, -1.0]),
    ];
    for (swizzle, abs, negate, want) in cases {
        for kind in [TEMP, INPUT, CONST, ALT] {
            let from = swizzled(kind, 9, swizzle) | abs << 3 | negate << 25;
            let mut b = VertexShaderTest::new(&[mov(6, from)]);
            b.vertex.temporary[9] = value;
            b.vertex.input[9] = value;
            b.vertex.alternate[9] = value;
            b.constants[9] = value;
            b.clean();
            assert_eq!(b.temp(6), want, "{kind} {swizzle:?} {abs} {negate:#b}");
        }
    }
}

/// §6.5.1, §6.5.9: the write mask, and each memory as a destination; OUT_REPL_X puts x in all lanes.
#[test]
fn destinations_and_their_masks() {
    let value = [0.5, 2.0, 3.0, 4.0];
    for mask in 0..16u32 {
        for kind in [0, 2, 3, 4, 5] {
            let op = (dst_of(3, kind, 7) & !(15 << 20)) | mask << 20;
            let zero = swizzled(INPUT, 0, [4; 4]);
            let mut b = VertexShaderTest::new(&[[op, src(INPUT, 0), zero, zero]]);
            b.vertex.input[0] = value;
            for v in [
                &mut b.vertex.input[7],
                &mut b.vertex.temporary[7],
                &mut b.vertex.alternate[7],
                &mut b.vertex.output[7],
            ] {
                *v = [KEPT; 4];
            }
            let before = b.vertex.clone();
            b.clean();
            let written = [0, 1, 2, 3].map(|n| match (mask >> n & 1, kind) {
                (0, _) => KEPT,
                (_, 3) => value[0],
                _ => value[n],
            });
            let mut want = before;
            match kind {
                0 => want.temporary[7] = written,
                2 | 3 => want.output[7] = written,
                4 => want.alternate[7] = written,
                _ => want.input[7] = written,
            }
            assert_eq!(b.vertex, want, "{kind} {mask:#b}");
        }
    }
}

/// §6.5.9: PVS_DST_VE_SAT clamps what the vector engine has made to 0 to 1, _ME_SAT what the math engine has.
#[test]
fn saturation_is_each_engines() {
    for (sat, vector, math) in [
        (0, [-1.5, 0.25, 3.0, 1.0], 4.0),
        (1 << 24, [0.0, 0.25, 1.0, 1.0], 4.0),
        (1 << 25, [-1.5, 0.25, 3.0, 1.0], 1.0),
    ] {
        let words = mov(6, src(INPUT, 0));
        let reciprocal = [dst(6 | ME, 7), src(INPUT, 1), 0, 0];
        let mut b = VertexShaderTest::new(&[
            [words[0] | sat, words[1], words[2], words[3]],
            [reciprocal[0] | sat, reciprocal[1], 0, 0],
        ]);
        b.vertex.input[0] = [-1.5, 0.25, 3.0, 1.0];
        b.vertex.input[1] = [0.25; 4];
        b.clean();
        assert_eq!((b.temp(6), b.temp(7)), (vector, all(math)), "{sat:#x}");
    }
}

/// §6.5.6: a dual operation. The math half has its two scalars from one vector, writes one lane of one of
/// four alternate temporaries, and has all opcodes; both halves see what was there before.
#[test]
fn dual_operations() {
    // Temporary 0 += temporary 1, and alternate 2.w = -|t0.y| * 3.
    let half = TEMP | 1 << 3 | 1 << 13 | 5 << 16 | 2 << 19 | 10 << 21 | 1 << 25 | 3 << 27;
    let mut b = VertexShaderTest::new(&[[dst(3, 0) | 1 << 28, src(TEMP, 0), src(TEMP, 1), half]]);
    b.vertex.temporary[0] = [1.0, -2.0, 3.0, 4.0];
    b.vertex.temporary[1] = all(1.0);
    b.clean();
    assert_eq!(b.temp(0), [2.0, -1.0, 4.0, 5.0]);
    assert_eq!(b.vertex.alternate[2], [0.0, 0.0, 0.0, -2.0]);
    // Opcode 25, ME_PRED_SET_CLR, whose highest bit is bit 2; saturated by bit 25 of the first word.
    let half = TEMP | 1 << 2 | 9 << 21;
    for (sat, want) in [(0, MAX), (1 << 25, 1.0)] {
        let mut b =
            VertexShaderTest::new(&[[dst(3, 0) | 1 << 28 | sat, src(TEMP, 0), src(TEMP, 1), half]]);
        b.vertex.predicate = true;
        b.clean();
        assert_eq!(b.vertex.alternate[0], [want, 0.0, 0.0, 0.0]);
        assert!(!b.vertex.predicate);
    }
}

/// §6.5.9: a macro is a multiplication and an addition whose three sources are different temporaries.
#[test]
fn macros_and_their_temporaries() {
    let (a, b, c) = (src(TEMP, 0), src(TEMP, 1), src(TEMP, 2));
    let only = |note: Note| [note].into_iter().collect::<Notes>();
    for (words, want, notes) in [
        ([dst(0x80, 6), a, b, c], 13.0, Notes::NONE),
        ([dst(0x81, 6), a, b, c], 19.0, Notes::NONE),
        ([dst(0x80, 6), a, b, a], 8.0, only(Note::NeedlessMacro)),
        ([dst(4, 6), a, b, c], 13.0, only(Note::ThreeTemporaries)),
        ([dst(0x82, 6), a, b, c], KEPT, only(Note::Macro)),
        ([dst(0x80 | ME | 6, 6), a, b, c], 0.5, only(Note::Macro)),
    ] {
        let mut test = VertexShaderTest::new(&[words]);
        for (n, v) in [2.0, 3.0, 7.0].into_iter().enumerate() {
            test.vertex.temporary[n] = all(v);
        }
        test.vertex.temporary[6] = all(KEPT);
        assert_eq!(test.run().notes, notes, "{words:x?}");
        assert_eq!(test.temp(6), all(want), "{words:x?}");
    }
}

/// §6.5.8: only the w of a source counts for the math engine: bases in A, powers in C, clamps in B.
#[test]
fn math_has_w_of_its_sources() {
    // ME_POWER_FUNC_FF_CLAMP_B: A.w < B.w ? 0 : A.w ^ C.w.
    assert_eq!(me(13, [3.0, 2.0, 4.0]), all(81.0));
    assert_eq!(me(13, [2.0, 3.0, 4.0]), all(0.0));
}
