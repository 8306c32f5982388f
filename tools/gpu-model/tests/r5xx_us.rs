// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The pixel shader: the vectors of the digest of 3D, §15.2, some of which ran on a card.

use crate::r5xx_us_rig::*;
use gpu_model::r5xx::us::{Detail, Notes};

/// U4 to U33: what becomes of a temporary.
#[test]
fn vectors_of_the_digest() {
    const K: f32 = KEPT;
    type Case = (&'static str, [u32; 6], usize, [f32; 4]);
    let cases: &[Case] = &[
        (
            "U4",
            [
                0x00007800, 0x08020000, 0x08020000, 0x00db0220, 0x00c0c030, 0x20490030,
            ],
            3,
            [0.5, -1.5, 2.0, 0.25],
        ),
        (
            "U5",
            [
                0x00007800, 0x08000400, 0x08000400, 0x00db0220, 0x00c0c030, 0x1a221030,
            ],
            3,
            [3.5, -1.0, 1.75, -1.75],
        ),
        (
            "U6",
            [
                0x00007800, 0x08000400, 0x08000400, 0x00442220, 0x0068c030, 0x20490030,
            ],
            3,
            [1.5, -0.75, -0.5, -0.5],
        ),
        (
            "U7",
            [
                0x00007800, 0x00200400, 0x00200080, 0x00052220, 0x00280040, 0x1ca22030,
            ],
            3,
            [-0.225, -0.95, 5.7, K],
        ),
        (
            "U7, alpha",
            [
                0x00007800, 0x00200400, 0x00200080, 0x00052220, 0x00280040, 0x1ca22030,
            ],
            4,
            [K, K, K, 0.65],
        ),
        (
            "U8",
            [
                0x00000800, 0x08020000, 0x08020080, 0x00840420, 0x00000000, 0x00000001,
            ],
            0,
            [2.5, -1.5, 2.0, 0.25],
        ),
        (
            "U9",
            [
                0x00007800, 0x08020000, 0x08020000, 0x00440220, 0x0060c031, 0x00000032,
            ],
            3,
            [6.5625; 4],
        ),
        (
            "U10",
            [
                0x00003800, 0x08000400, 0x08020080, 0x00442220, 0x00000000, 0x00248033,
            ],
            3,
            [2.75, 2.75, 2.75, K],
        ),
        (
            "U11",
            [
                0x00007800, 0x08000400, 0x08000400, 0x00442220, 0x0068c032, 0x00000034,
            ],
            3,
            [0.5, -1.5, -0.25, -2.0],
        ),
        (
            "U12",
            [
                0x00007800, 0x08000400, 0x08000400, 0x00443a20, 0x0064d033, 0x00000035,
            ],
            3,
            [3.0, 0.5, -0.25, 2.0],
        ),
        (
            "U13",
            [
                0x00003800, 0x08000400, 0x08020080, 0x009206d8, 0x00000000, 0x00221037,
            ],
            3,
            [1.0, 0.0, 0.0, K],
        ),
        (
            "U14",
            [
                0x00003800, 0x08000400, 0x08020080, 0x009206d8, 0x00000000, 0x00221038,
            ],
            3,
            [1.0, 1.0, 0.0, K],
        ),
        (
            "U16",
            [
                0x00007800, 0x08020000, 0x08020000, 0x00000220, 0x0000c037, 0x00000039,
            ],
            3,
            [0.5, 0.5, 0.0, 0.25],
        ),
        (
            "U17",
            [
                0x00004000, 0x08020000, 0x08020080, 0x00000000, 0x0004003b, 0x00000000,
            ],
            3,
            [K, K, K, std::f32::consts::SQRT_2],
        ),
        (
            "U19",
            [
                0x00004000, 0x08020080, 0x08020000, 0x00000000, 0x0002c018, 0x00000000,
            ],
            1,
            [3.0, 0.5, -0.25, 0.840_896_4],
        ),
        (
            "U20",
            [
                0x00004000, 0x08020000, 0x08020080, 0x00000000, 0x00008019, 0x00000000,
            ],
            1,
            [3.0, 0.5, -0.25, 1.0],
        ),
        (
            "U21",
            [
                0x00004000, 0x08020080, 0x08020000, 0x00000000, 0x1800c01c, 0x00000000,
            ],
            1,
            [3.0, 0.5, -0.25, 0.125],
        ),
        (
            "U22",
            [
                0x00000800, 0x08020000, 0x08020080, 0x00000000, 0x0000000d, 0x0000000a,
            ],
            0,
            [-1.0, -1.5, 2.0, 0.25],
        ),
        (
            "U23",
            [
                0x00003800, 0x08020000, 0x08020080, 0x00db0223, 0x00000000, 0x00490030,
            ],
            3,
            [0.0, 4.0, -3.0, K],
        ),
        (
            "U24",
            [
                0x00003800, 0x48000400, 0x08020080, 0x00db0223, 0x00000000, 0x00490030,
            ],
            3,
            [2.5, 2.0, -2.25, K],
        ),
        (
            "U25",
            [
                0x00003800, 0x88000400, 0x08020080, 0x00db0223, 0x00000000, 0x00490030,
            ],
            3,
            [3.5, -1.0, 1.75, K],
        ),
        (
            "U26",
            [
                0x00003800, 0xc8020000, 0x08020080, 0x00db0223, 0x00000000, 0x00490030,
            ],
            3,
            [0.5, 2.5, -1.0, K],
        ),
        (
            "U27",
            [
                0x00004000, 0x08020080, 0x49d000b0, 0x00000000, 0x00c4f000, 0x5c000000,
            ],
            0,
            [0.5, -1.5, 2.0, 0.148_437_5],
        ),
        (
            "U28",
            [
                0x00003800, 0x0b120080, 0x0802b4a8, 0x008f24cc, 0x00000000, 0x00092000,
            ],
            0,
            [0.25, 0.40625, 0.5625, 0.25],
        ),
        (
            "U29",
            [
                0x00187800, 0x08000400, 0x08000400, 0x00db0220, 0x00c0c030, 0x1a221030,
            ],
            3,
            [1.0, 0.0, 1.0, 0.0],
        ),
        (
            "U30",
            [
                0x00003800, 0x08020000, 0x08020080, 0x08db0220, 0x00000000, 0x00490030,
            ],
            3,
            [2.0, -6.0, 8.0, K],
        ),
        (
            "U31",
            [
                0x00083800, 0x08000400, 0x08020080, 0x1c442220, 0x00000000, 0x00000034,
            ],
            3,
            [0.5, -1.5, -0.25, K],
        ),
        (
            "U32",
            [
                0x00003800, 0x08020100, 0x08020080, 0x00b68220, 0x00000000, 0x00490030,
            ],
            3,
            [2.0, -1.0, 0.0, K],
        ),
    ];
    for (name, words, register, want) in cases {
        let mut b = PixelShaderTest::new(&[*words]);
        assert_eq!(b.run().steps, 1, "{name}");
        near(b.temporary(*register), *want, name);
    }
}

/// U1, U3, U15, U18, U34, U35: what is put out.
#[test]
fn vectors_that_are_put_out() {
    const K: f32 = KEPT;
    type Case = (&'static str, [u32; 6], usize, [f32; 4]);
    let cases: &[Case] = &[
        (
            "U1",
            [
                0x00078005, 0x08020080, 0x08020080, 0x00920490, 0x00c18003, 0x00000005,
            ],
            0,
            [0.0, 0.0, 0.0, 1.0],
        ),
        (
            "U3",
            [
                0x00078005, 0x08020000, 0x08020000, 0x00440220, 0x0060c003, 0x00000005,
            ],
            0,
            [0.5, -1.5, 2.0, 0.25],
        ),
        (
            "U15",
            [
                0x00078005, 0x08020080, 0x08020000, 0x00920498, 0x00c18003, 0x0048c008,
            ],
            0,
            [1.0, 0.0, 0.0, 1.0],
        ),
        (
            "U18",
            [
                0x00008001, 0x08020080, 0x08020000, 0x00000000, 0x0000c00a, 0x0000000a,
            ],
            0,
            [4.0, K, K, K],
        ),
        (
            "U34",
            [
                0x00078001, 0x08020000, 0x08020000, 0x20db0220, 0x20c0c000, 0x20490000,
            ],
            1,
            [0.5, -1.5, 2.0, 0.25],
        ),
    ];
    for (name, words, target, want) in cases {
        let mut b = PixelShaderTest::new(&[*words]);
        assert_eq!(b.run().notes, Notes::NONE, "{name}");
        near(b.pixels.colour[*target].map(|l| l[0]), *want, name);
        assert_eq!(b.pixels.written, 1 << target, "{name}");
    }
    let mut b = PixelShaderTest::new(&[[
        0x00000001, 0x08020080, 0x08020000, 0x00000000, 0x80c0c000, 0x20000000,
    ]]);
    b.run();
    assert_eq!(b.pixels.depth, [0.25; 4], "U35");
    assert_eq!(b.pixels.written, 0, "U35");
}

/// "OUTPUT instructions can write to the output registers" and ALU instructions cannot (guide §7.2): U35 as an ALU
/// instruction, whose W_OMASK (bit 31 of dword 4) writes no depth.
#[test]
fn alu_instructions_put_no_depth_out() {
    let mut b = PixelShaderTest::new(&[[
        0x00000000, 0x08020080, 0x08020000, 0x00000000, 0x80c0c000, 0x20000000,
    ]]);
    b.pixels.depth = [KEPT; 4];
    b.run();
    assert_eq!(b.pixels.depth, [KEPT; 4]);
}

/// U36 to U38: predicates, and the comparison's result.
#[test]
fn vectors_of_predicates() {
    let set = [
        0x00008000, 0x08020000, 0x08020080, 0x20db0220, 0x00000000, 0x00490000,
    ];
    let mut b = PixelShaderTest::new(&[set]);
    b.run();
    assert_eq!(b.pixels.predicate, [0; 4]);
    let green = [0x00010000, set[1], set[2], set[3], set[4], set[5]];
    let used = [
        0x00003818, 0x08020080, 0x08020080, 0x00db06d8, 0x00000000, 0x00490030,
    ];
    let mut b = PixelShaderTest::new(&[green, used]);
    b.run();
    assert_eq!(b.pixels.predicate, [0, 15, 0, 0]);
    assert_eq!(b.temporary(3), [1.0, 1.0, 1.0, KEPT]);
    let inverted = [
        used[0] | 1 << 6,
        used[1],
        used[2],
        used[3],
        used[4],
        used[5],
    ];
    let mut b = PixelShaderTest::new(&[green, inverted]);
    b.run();
    assert_eq!(b.temporary(3), [KEPT; 4]);
    let mut b = PixelShaderTest::new(&[CONDITION]);
    b.run();
    assert_eq!(b.pixels.result, 15);
}

/// U2, U49 to U54: what is looked up.
#[test]
fn vectors_of_textures() {
    let t0 = [0.5, -1.5, 2.0, 0.25];
    let lookup = |words: [u32; 6]| {
        let mut b = PixelShaderTest::new(&[words, LAST]);
        b.run();
        assert_eq!(b.echo.0.len(), 1);
        let l = b.echo.0[0];
        (l.at.map(|l| l[0]), l, b.temporary(0))
    };
    let (at, _, t) = lookup([0x00007807, 0x02400000, 0xe400f400, 0, 0, 0]);
    assert_eq!(
        (at, t),
        ([0.5, -1.5, 0.25, 0.25], [0.5, -1.5, 0.25, 0.25]),
        "U2"
    );
    let (at, l, _) = lookup([0x00007803, 0x02c10000, 0xe403e400, 0, 0, 0]);
    assert_eq!((at[..3].to_vec(), l.unit), (vec![2.0, -6.0, 8.0], 1), "U50");
    let (at, l, _) = lookup([0x00007803, 0x03010000, 0xe403e400, 0, 0, 0]);
    assert_eq!((at, l.detail), (t0, Detail::Biased), "U51");
    let (at, l, _) = lookup([0x00007803, 0x03410000, 0xe403e400, 0, 0, 0]);
    assert_eq!((at, l.detail), (t0, Detail::Given), "U52");
    let (_, l, _) = lookup([0x00007803, 0x03810000, 0xe403e400, 0xe402e401, 0, 0]);
    let gradients = Detail::Gradients(same([3.0, 0.5, -0.25, -2.0]), same([0.1, 0.2, 0.3, 0.4]));
    assert_eq!(l.detail, gradients, "U53");
    let (at, l, _) = lookup([0x00007803, 0x0a420000, 0xe403e400, 0, 0, 0]);
    assert_eq!((at, l.unscaled, l.unit), (t0, true, 2), "U54");
    let kill = [0x00000003, 0x00800000, 0xe400e400, 0, 0, 0];
    let mut b = PixelShaderTest::new(&[kill, LAST]);
    b.pixels.temporary[0][1] = [0.0, -0.0, -1.5, 1.0];
    b.run();
    assert_eq!(b.pixels.killed, 0b0110, "U49, -0 too");
}

/// U55 and U56: distances among the four pixels.
#[test]
fn vectors_of_derivatives() {
    for (words, want) in [
        (
            [
                0x00003800, 0x08020000, 0x08020080, 0x01db0220, 0x00000000, 0x0022003b,
            ],
            0.25,
        ),
        (
            [
                0x00003800, 0x08020000, 0x08020080, 0x01db0220, 0x00000000, 0x0022003c,
            ],
            0.0,
        ),
    ] {
        let mut b = PixelShaderTest::new(&[words]);
        b.pixels.temporary[0][0] = [0.5, 0.75, 0.5, 0.75];
        b.run();
        assert_eq!(b.pixels.temporary[3][0], [want; 4]);
    }
}

/// US_CONFIG 1: 0 times anything is 0; without it, infinity makes what is not a number.
#[test]
fn zero_times_infinity() {
    // U6's product.
    let words = [
        0x00007800, 0x08000400, 0x08000400, 0x00442220, 0x0068c030, 0x20490030,
    ];
    for (config, nan) in [(2, false), (0, true)] {
        let mut b = PixelShaderTest::new(&[words]);
        b.control.config = config;
        b.pixels.temporary[0] = same([0.0; 4]);
        b.pixels.temporary[1] = same([f32::INFINITY; 4]);
        b.run();
        let got = b.temporary(3)[0];
        assert_eq!((got.is_nan(), got == 0.0), (nan, !nan));
    }
}

/// Not in the document: on cards a result below 2^-126 is 0 (piglit's fs-underflow-mul-compare-zero, by which 2^-149
/// is, and which is not in Mesa's list of failures of RV530).
#[test]
fn results_are_no_denormals() {
    // U6's product.
    let words = [
        0x00007800, 0x08000400, 0x08000400, 0x00442220, 0x0068c030, 0x20490030,
    ];
    let power = |n: i32| f32::from_bits(((127 + n) as u32) << 23);
    for (a, b, want) in [
        (power(-75), power(-51), f32::MIN_POSITIVE),
        (power(-75), power(-52), 0.0),
        (-power(-75), power(-52), -0.0),
        (power(-100), power(-49), 0.0),
    ] {
        let mut t = PixelShaderTest::new(&[words]);
        t.pixels.temporary[0] = same([a; 4]);
        t.pixels.temporary[1] = same([b; 4]);
        t.run();
        let got = t.temporary(3).map(f32::to_bits);
        assert_eq!(got, [want; 4].map(f32::to_bits), "{a} {b}");
    }
}
