// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Any instruction, and any values.

use super::word::*;
use proptest::prelude::*;
use proptest::sample::select;

/// Values at the limits, small numbers, and any bits at all.
pub fn value() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => select(vec![
            0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 0.25, 3.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN,
            f32::MAX, f32::MIN, f32::MIN_POSITIVE, -f32::MIN_POSITIVE, 1e-40, -1e-45, 0.500_000_06, 16_777_216.0,
        ]),
        2 => -4.0f32..4.0,
        1 => any::<u32>().prop_map(f32::from_bits),
    ]
}

pub fn vector() -> impl Strategy<Value = [f32; 4]> {
    [value(), value(), value(), value()]
}

/// Registers, mostly near the others; with aL only such as stay in the memory in most cases.
fn register() -> impl Strategy<Value = (u8, bool)> {
    prop_oneof![
        8 => (0u8..5, Just(false)),
        1 => (0u8..128, Just(false)),
        2 => (0u8..5, Just(true)),
    ]
}

fn source() -> impl Strategy<Value = Source> {
    let temp = register().prop_map(|(n, rel)| (Place::Temp(n), rel));
    let constant = (prop_oneof![3 => 0u8..6, 1 => any::<u8>()], any::<bool>())
        .prop_map(|(n, rel)| (Place::Const(n), rel && n < 200));
    // An inline constant has no address that aL could be added to.
    let inline = (0u8..128).prop_map(|n| (Place::Inline(n), false));
    prop_oneof![3 => temp, 2 => constant, 1 => inline]
        .prop_map(|(place, rel)| Source { place, rel })
        .boxed()
}

fn arg() -> impl Strategy<Value = Arg> {
    let swizzle = || prop_oneof![16 => 0u8..7, 1 => Just(7u8)];
    (0u8..4, [swizzle(), swizzle(), swizzle()], 0u8..4).prop_map(|(sel, swizzle, modifier)| Arg {
        sel,
        swizzle,
        modifier,
    })
}

/// One unit's part. Reserved codes of predicates are left out.
fn half(op: impl Strategy<Value = u8> + 'static, lanes: u8) -> impl Strategy<Value = Half> {
    let pred = prop_oneof![3 => Just(0u8), 2 => 1u8..6];
    let mask = move || prop_oneof![2 => Just((1 << lanes) - 1), 1 => 0u8..1 << lanes];
    let omask = prop_oneof![1 => Just(0u8), 1 => mask()];
    (
        (op, register(), [source(), source(), source()]),
        (0u8..4, [arg(), arg(), arg()], omod(), 0u8..4),
        (pred, any::<bool>(), any::<bool>(), mask(), omask),
    )
        .prop_map(
            |(
                (op, (to, to_rel), sources),
                (presubtract, args, omod, target),
                (pred, pred_inv, clamp, wmask, omask),
            )| Half {
                op,
                to,
                to_rel,
                sources,
                presubtract,
                args,
                omod,
                target,
                pred,
                pred_inv,
                clamp,
                wmask,
                omask,
            },
        )
        .boxed()
}

fn omod() -> impl Strategy<Value = u8> {
    prop_oneof![3 => Just(0u8), 3 => 1u8..7, 1 => Just(7u8)]
}

/// Operations that the digest has (§9.3); `approximate` includes those of undocumented precision.
pub fn alu(approximate: bool) -> impl Strategy<Value = Alu> {
    let rgb = select(vec![0u8, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12]);
    let mut ops = vec![0u8, 1, 2, 3, 5, 6, 7, 14, 15];
    if approximate {
        ops.extend(8..14);
    }
    (
        prop::bool::weighted(0.3),
        half(rgb, 3),
        half(select(ops), 1),
        prop::bool::weighted(0.1),
        (prop::bool::weighted(0.4), any::<bool>(), 0u8..4),
        any::<bool>(),
    )
        .prop_map(|(out, rgb, alpha, inactive, result, depth)| {
            let mut i = Alu {
                out,
                rgb,
                alpha,
                inactive,
                result,
                depth,
            };
            // DP is the dot product of the RGB unit, which there must be one of.
            if i.alpha.op == 1 && !matches!(i.rgb.op, 1 | 2) {
                i.rgb.op = 1 + i.rgb.op % 2;
            }
            // It is open which A DP4 sees beside MDH or MDV, which force theirs (§9.3).
            if i.alpha.op >= 14 && i.rgb.op == 2 {
                i.rgb.op = 1;
            }
            // OMOD 7 is legal of MIN, MAX, CMP and CND only (§9.2).
            if i.rgb.omod == 7 && !matches!(i.rgb.op, 4 | 5 | 7 | 8) {
                i.rgb.omod = 1;
            }
            if i.alpha.omod == 7 && !matches!(i.alpha.op, 2 | 3 | 5 | 6) {
                i.alpha.omod = 2;
            }
            i
        })
        .boxed()
}

fn reg() -> impl Strategy<Value = Reg> {
    (register(), [0u8..4, 0u8..4, 0u8..4, 0u8..4]).prop_map(|((at, rel), lanes)| Reg {
        at,
        rel,
        lanes,
    })
}

/// Texture instructions, without predicates (they are of the ALU, §9.3) and with bit 26 clear.
pub fn tex() -> impl Strategy<Value = Tex> {
    (
        (0u8..7, 0u8..16, any::<bool>()),
        (reg(), reg(), reg(), reg()),
        (0u8..16, prop::bool::weighted(0.1)),
    )
        .prop_map(
            |((op, unit, unscaled), (from, to, dx, dy), (wmask, inactive))| Tex {
                op,
                unit,
                unscaled,
                from,
                to,
                dx,
                dy,
                wmask,
                // A kill writes nothing.
                inactive: inactive && op != 2,
            },
        )
}

pub fn instruction(approximate: bool) -> impl Strategy<Value = Inst> {
    prop_oneof![
        6 => alu(approximate).prop_map(Inst::Alu),
        1 => tex().prop_map(Inst::Tex),
    ]
}

/// An OUT that writes nothing, with which every program ends (§9.5).
pub fn last() -> Inst {
    let source = Source {
        place: Place::Inline(0),
        rel: false,
    };
    let arg = Arg {
        sel: 0,
        swizzle: [4; 3],
        modifier: 0,
    };
    let half = Half {
        op: 0,
        to: 0,
        to_rel: false,
        sources: [source; 3],
        presubtract: 0,
        args: [arg; 3],
        omod: 0,
        target: 0,
        pred: 0,
        pred_inv: false,
        clamp: false,
        wmask: 0,
        omask: 0,
    };
    Inst::Alu(Alu {
        out: true,
        rgb: half,
        alpha: half,
        inactive: false,
        result: (false, false, 0),
        depth: false,
    })
}
