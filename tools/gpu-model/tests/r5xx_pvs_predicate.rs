// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The predicate of vertex programs, and what does without it (R5xx guide §6.5.3, §6.5.4, §6.5.9).

use crate::r5xx_pvs_rig::*;
use gpu_model::r5xx::pvs::Vec4;

const fn all(v: f32) -> Vec4 {
    [v; 4]
}

/// §6.5.9: while the predicate is not the sense, nothing is written: no temporary, input, output,
/// alternate temporary or A0, and neither half of a dual operation; nor is the predicate set.
#[test]
fn predicated_operations_do_nothing() {
    let zero = swizzled(INPUT, 0, [4; 4]);
    let enable = |sense: u32| 1 << 26 | sense << 27;
    for sense in 0..2 {
        for predicate in [false, true] {
            let code = [
                [dst_of(3, 0, 1) | enable(sense), src(INPUT, 0), zero, zero],
                [dst_of(3, 2, 1) | enable(sense), src(INPUT, 0), zero, zero],
                [dst_of(3, 5, 1) | enable(sense), src(INPUT, 0), zero, zero],
                [dst_of(13, 1, 0) | enable(sense), src(INPUT, 0), zero, zero],
                // Dual: temporary 2, and alternate 1.x = 1 / 2.
                [
                    dst(3, 2) | 1 << 28 | enable(sense),
                    src(INPUT, 0),
                    zero,
                    INPUT | 1 << 19 | 6 << 21,
                ],
            ];
            let mut b = VertexShaderTest::new(&code);
            b.vertex.input[0] = all(2.0);
            b.vertex.predicate = predicate;
            let mut want = b.vertex.clone();
            if predicate == (sense == 1) {
                want.temporary[1] = all(2.0);
                want.temporary[2] = all(2.0);
                want.output[1] = all(2.0);
                want.input[1] = all(2.0);
                want.address = [2; 4];
                want.alternate[1] = [0.5, 0.0, 0.0, 0.0];
            }
            b.clean();
            assert_eq!(b.vertex, want, "{sense} {predicate}");
        }
    }
    // ME_PRED_SET_EQ of 0 would set it, of 1 clear it.
    for (value, predicate, sense) in [(0.0, false, 1), (1.0, true, 0)] {
        let mut b =
            VertexShaderTest::new(&[[dst(21 | ME, 1) | enable(sense), src(INPUT, 0), zero, zero]]);
        b.vertex.input[0] = all(value);
        b.vertex.predicate = predicate;
        b.clean();
        assert_eq!(b.vertex.predicate, predicate);
    }
}

/// §6.5.3, "A possible implementation of nested if/else/endif constructs", word for word, for all four
/// ways through it.
#[test]
fn the_printed_nest_of_branches() {
    // A is input 0; TEMP is temporary 0; B is temporary 1; C to F are constants 0 to 3.
    let w_only = |op: u32| op & !(15 << 20) | 8 << 20;
    let count = swizzled(TEMP, 0, [4, 4, 4, 3]);
    let assign = |n: u32| {
        let [op, a, b, c] = mov(1, src(CONST, n));
        [op | 3 << 26, a, b, c]
    };
    let me = |op: u32, a: u32| [w_only(dst(op | ME, 0)), a, a, a];
    let code = [
        me(21, swizzled(INPUT, 0, [0; 4])),
        [
            w_only(dst(16, 0)),
            count,
            swizzled(INPUT, 0, [4, 4, 4, 1]),
            0,
        ],
        assign(0),
        me(26, count),
        assign(1),
        me(27, count),
        me(26, count),
        [
            w_only(dst(17, 0)),
            count,
            swizzled(INPUT, 0, [4, 4, 4, 2]),
            0,
        ],
        assign(2),
        me(26, count),
        assign(3),
        me(27, count),
        me(27, count),
    ];
    for (a, want) in [
        ([0.0, 1.0, 9.0, 9.0], 10.0),
        ([0.0, -1.0, 9.0, 9.0], 11.0),
        ([5.0, 9.0, 0.0, 9.0], 12.0),
        ([5.0, 9.0, -1.0, 9.0], 13.0),
    ] {
        let mut b = VertexShaderTest::new(&code);
        b.vertex.input[0] = a;
        for n in 0..4 {
            b.constants[n] = all(10.0 + n as f32);
        }
        b.clean();
        assert_eq!(b.temp(1), all(want), "{a:?}");
        // Behind the last endif everything is done again.
        assert!(b.vertex.predicate);
        assert_eq!(b.temp(0)[3], 0.0);
    }
}

/// §6.5.4: the two printed forms of a choice by lanes come to the same.
#[test]
fn choices_without_the_predicate() {
    // TEMP = VE_SET_GREATER_THAN(A, B), then C is D where it is set and E elsewhere.
    let (d, e) = (src(CONST, 0), src(INPUT, 2));
    let compare = [dst(26, 0), src(INPUT, 0), src(TEMP, 9), 0];
    let writes = [
        compare,
        [dst(22, 1), src(TEMP, 0), d, 0],
        [dst(19, 1), src(TEMP, 0), e, 0],
    ];
    let mux = [compare, [dst(23, 1), src(TEMP, 0), e, d]];
    for code in [&writes[..], &mux[..]] {
        let mut b = VertexShaderTest::new(code);
        b.vertex.input[0] = [1.0, 2.0, 3.0, -4.0];
        b.vertex.temporary[9] = [0.0, 2.0, 4.0, -5.0];
        b.constants[0] = [10.0, 11.0, 12.0, 13.0];
        b.vertex.input[2] = [20.0, 21.0, 22.0, 23.0];
        b.clean();
        assert_eq!(b.temp(1), [10.0, 21.0, 22.0, 13.0]);
    }
}
