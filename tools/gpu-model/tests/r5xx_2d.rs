// SPDX-License-Identifier: GPL-2.0
//! The 2D engine: packets and type-0 writes, brushes, raster operations, clipping, mono expansion,
//! overlap, comparison, tiles (R5xx guide §5.2.2; digest §2.3 to §2.5).
//!
//! The canvas is 64 x 32 pixels of 32 bits at 0x100000, rows of 256 bytes.

mod r5xx_rig;

use gpu_model::counters::Counter;
use gpu_model::r5xx::{Lockup, Rule, Unit};
use r5xx_rig::{packet, type0, Rig};

const CANVAS: u32 = 0x10_0000;
/// 29:22 pitch in units of 64 bytes, 21:0 offset in units of 1 KB.
const PLACE: u32 = 4 << 22 | 0x400;
const RED: u32 = 0x00ff_1020;
/// Destination given, solid brush, 8888, source as destination, PATCOPY, comparison and masks off.
const FILL: u32 = 0x50f0_36d2;
/// Source and destination given, no brush, 8888, SRCCOPY from memory.
const COPY: u32 = 0x52cc_36f3;

const PAINT: u32 = 0x91;
const BITBLT: u32 = 0x92;
const HOSTDATA_BLT: u32 = 0x94;
const POLYLINE: u32 = 0x95;
const POLYSCANLINES: u32 = 0x98;
const PAINT_MULTI: u32 = 0x9a;
const BITBLT_MULTI: u32 = 0x9b;
const TRANS_BITBLT: u32 = 0x9c;
const NEXTCHAR: u32 = 0x19;
const PLY_NEXTSCAN: u32 = 0x1d;
const SET_SCISSORS: u32 = 0x1e;
const LOAD_PALETTE: u32 = 0x2c;

fn two(high: u32, low: u32) -> u32 {
    (high & 0xffff) << 16 | (low & 0xffff)
}

fn pixel(rig: &Rig, x: u32, y: u32) -> u32 {
    rig.at(CANVAS + y * 256 + 4 * x)
}

fn set_pixel(rig: &Rig, x: u32, y: u32, value: u32) {
    rig.put(CANVAS + y * 256 + 4 * x, &[value]);
}

/// Pixels that are not zero, as x and y.
fn drawn(rig: &Rig) -> Vec<(u32, u32)> {
    let all = (0..32).flat_map(|y| (0..64).map(move |x| (x, y)));
    all.filter(|(x, y)| pixel(rig, *x, *y) != 0).collect()
}

/// The pixels of rectangles: x, y, width, height.
fn rectangles(all: &[(u32, u32, u32, u32)]) -> Vec<(u32, u32)> {
    let mut pixels: Vec<(u32, u32)> = all
        .iter()
        .flat_map(|&(x, y, w, h)| (y..y + h).flat_map(move |y| (x..x + w).map(move |x| (x, y))))
        .collect();
    pixels.sort_by_key(|(x, y)| (*y, *x));
    pixels
}

type Rectangles = &'static [(u32, u32, u32, u32)];

/// Where the halves of a coordinate are, packet by packet (§5.2.2.2 to §5.2.2.11; trap 1).
#[test]
fn areas() {
    let minus = |v: i32| v as u32 & 0xffff;
    let cases: &[(&str, Vec<u32>, Rectangles)] = &[
        (
            "PAINT: top above left, bottom above right",
            packet(PAINT, &[FILL, PLACE, RED, two(5, 3), two(7, 10)]),
            &[(3, 5, 7, 2)],
        ),
        (
            "PAINT: two of them",
            packet(
                PAINT,
                &[
                    FILL,
                    PLACE,
                    RED,
                    two(5, 3),
                    two(7, 10),
                    two(9, 0),
                    two(10, 2),
                ],
            ),
            &[(3, 5, 7, 2), (0, 9, 2, 1)],
        ),
        (
            "PAINT: from outside",
            packet(
                PAINT,
                &[FILL, PLACE, RED, two(minus(-2), minus(-5)), two(2, 3)],
            ),
            &[(0, 0, 3, 2)],
        ),
        (
            "PAINT_MULTI: x above y, width above height",
            packet(PAINT_MULTI, &[FILL, PLACE, RED, two(3, 5), two(7, 2)]),
            &[(3, 5, 7, 2)],
        ),
        (
            "POLYSCANLINES: height above top, end above start",
            packet(
                POLYSCANLINES,
                &[
                    FILL,
                    PLACE,
                    RED,
                    2,
                    2,
                    two(2, 5),
                    two(10, 3),
                    two(20, 15),
                    1,
                    two(1, 9),
                    two(4, 1),
                ],
            ),
            &[(3, 5, 7, 2), (15, 5, 5, 2), (1, 9, 3, 1)],
        ),
        (
            "SET_SCISSORS, with clipping left alone",
            [
                packet(PAINT, &[FILL, PLACE, RED, two(40, 0), two(41, 1)]),
                packet(SET_SCISSORS, &[two(6, 4), two(8, 9)]),
                packet(PLY_NEXTSCAN, &[two(20, 0), two(30, 0)]),
            ]
            .concat(),
            &[(4, 6, 5, 2)],
        ),
        (
            "a clip rectangle of the packet",
            packet(
                PAINT,
                &[
                    FILL | 8,
                    PLACE,
                    two(6, 4),
                    two(8, 9),
                    RED,
                    two(0, 0),
                    two(20, 20),
                ],
            ),
            &[(4, 6, 5, 2)],
        ),
        (
            "type 0: y above x, height above width",
            vec![
                type0(0x142c, 1),
                PLACE,
                type0(0x146c, 1),
                FILL,
                type0(0x147c, 1),
                RED,
                type0(0x1438, 2),
                two(5, 3),
                two(2, 7),
            ],
            &[(3, 5, 7, 2)],
        ),
        (
            "type 0: width above height, drawn from the lower right corner",
            vec![
                type0(0x142c, 1),
                PLACE,
                type0(0x146c, 1),
                FILL,
                type0(0x147c, 1),
                RED,
                type0(0x16c0, 1),
                0,
                type0(0x1438, 1),
                two(6, 9),
                type0(0x1598, 1),
                two(7, 2),
            ],
            &[(3, 5, 7, 2)],
        ),
    ];
    for (name, stream, expected) in cases {
        let rig = Rig::new();
        rig.run(stream);
        assert_eq!(drawn(&rig), rectangles(expected), "{name}");
        let first = expected.first().expect("something");
        assert_eq!(pixel(&rig, first.0, first.1), RED, "{name}");
        rig.clean();
    }
}

/// §5.2.2: bits that are clear take the defaults, which somebody must have set.
#[test]
fn defaults() {
    let rig = Rig::new();
    let stream = packet(PAINT, &[FILL & !2, RED, two(5, 3), two(7, 10)]);
    rig.set(0x16e0, PLACE);
    rig.set(0x16e8, two(6, 8));
    rig.run(&stream);
    assert_eq!(drawn(&rig), rectangles(&[(3, 5, 5, 1)]));
    rig.clean();
    let rig = Rig::new();
    rig.run(&stream);
    assert_eq!(rig.gpu.lint_count(Rule::DefaultUnset), 1);
}

/// §5.2.2: DST_TYPE decides on a pixel's bytes; colours are cut to them.
#[test]
fn pixel_sizes() {
    for (code, bytes) in [(2, 1), (3, 2), (4, 2), (6, 4)] {
        let rig = Rig::new();
        let control = FILL & !0xf00 | code << 8;
        rig.run(&packet(
            PAINT,
            &[control, PLACE, 0x8765_4321, two(1, 2), two(2, 3)],
        ));
        let mut row = [0; 16];
        rig.gpu.aperture_read(u64::from(CANVAS) + 256, &mut row);
        let mut expected = [0; 16];
        let at = 2 * bytes;
        expected[at..at + bytes].copy_from_slice(&[0x21, 0x43, 0x65, 0x87][..bytes]);
        assert_eq!(row, expected, "{code}");
        rig.clean();
    }
}

/// §5.2.2: the codes of the Windows SDK, with source 0xcc…, pattern 0xf0…, destination 0xaa….
#[test]
fn raster_operations() {
    for code in 0..=255u32 {
        let rig = Rig::new();
        set_pixel(&rig, 0, 0, 0xcccc_cccc);
        set_pixel(&rig, 5, 5, 0xaaaa_aaaa);
        let control = COPY & !(0xff << 16 | 0xf0) | code << 16 | 13 << 4;
        rig.run(&packet(
            BITBLT,
            &[control, PLACE, PLACE, 0xf0f0_f0f0, 0, two(5, 5), two(1, 1)],
        ));
        // A code is its own truth table, with P above S above D.
        assert_eq!(pixel(&rig, 5, 5), code * 0x0101_0101, "{code:#x}");
    }
}

/// Digest I3, I25, I26: x above y, width above height; sources clipped.
#[test]
fn copies() {
    let cases: &[(&str, Vec<u32>, Rectangles)] = &[
        (
            "BITBLT",
            packet(
                BITBLT,
                &[COPY, PLACE, PLACE, two(2, 1), two(20, 10), two(3, 2)],
            ),
            &[(20, 10, 3, 2)],
        ),
        (
            "BITBLT_MULTI",
            packet(
                BITBLT_MULTI,
                &[
                    COPY,
                    PLACE,
                    PLACE,
                    two(2, 1),
                    two(20, 10),
                    two(3, 2),
                    two(2, 1),
                    two(30, 11),
                    two(1, 2),
                ],
            ),
            &[(20, 10, 3, 2), (30, 11, 1, 2)],
        ),
        (
            "the source ends at x 4, y 2",
            packet(
                BITBLT,
                &[
                    COPY | 4,
                    PLACE,
                    PLACE,
                    two(2, 4),
                    two(2, 1),
                    two(20, 10),
                    two(3, 2),
                ],
            ),
            &[(20, 10, 2, 1)],
        ),
        (
            "type 0: y above x",
            vec![
                type0(0x1428, 2),
                PLACE,
                PLACE,
                type0(0x146c, 1),
                COPY,
                type0(0x1434, 3),
                two(1, 2),
                two(10, 20),
                two(2, 3),
            ],
            &[(20, 10, 3, 2)],
        ),
    ];
    let source = [(2, 1, 3, 2)];
    for (name, stream, expected) in cases {
        let rig = Rig::new();
        for (n, (x, y)) in rectangles(&source).into_iter().enumerate() {
            set_pixel(&rig, x, y, 0x100 + n as u32);
        }
        rig.run(stream);
        let all: Vec<_> = source.iter().chain(*expected).copied().collect();
        assert_eq!(drawn(&rig), rectangles(&all), "{name}");
        assert_eq!(pixel(&rig, expected[0].0, expected[0].1), 0x100, "{name}");
        rig.clean();
    }
}

/// Packets copy as if all had been read first; type 0 copies in the order that DP_CNTL says, and
/// smears if that is the wrong one.
#[test]
fn overlapping_copies() {
    for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1)] {
        let rig = Rig::new();
        for (x, y) in rectangles(&[(10, 10, 8, 8)]) {
            set_pixel(&rig, x, y, y << 8 | x);
        }
        let to = two((10 + dx) as u32, (10 + dy) as u32);
        rig.run(&packet(
            BITBLT,
            &[COPY, PLACE, PLACE, two(10, 10), to, two(8, 8)],
        ));
        for (x, y) in rectangles(&[(10, 10, 8, 8)]) {
            let found = pixel(&rig, (x as i32 + dx) as u32, (y as i32 + dy) as u32);
            assert_eq!(found, y << 8 | x, "{dx} {dy}");
        }
    }
    // One pixel to the right, from left to right: the first pixel everywhere.
    let rig = Rig::new();
    for x in 0..8 {
        set_pixel(&rig, x, 0, x + 1);
    }
    let head = [type0(0x1428, 2), PLACE, PLACE, type0(0x146c, 1), COPY];
    let body = [type0(0x1434, 3), two(0, 0), two(0, 1), two(1, 8)];
    rig.run(&[&head[..], &body].concat());
    let row: Vec<u32> = (0..9).map(|x| pixel(&rig, x, 0)).collect();
    assert_eq!(row, [1; 9]);
    // From right to left, beginning at the right end, it is right.
    for x in 0..8 {
        set_pixel(&rig, x, 0, x + 1);
    }
    let body = [
        type0(0x16c0, 1),
        2,
        type0(0x1434, 3),
        two(0, 7),
        two(0, 8),
        two(1, 8),
    ];
    rig.run(&[&head[..], &body].concat());
    let row: Vec<u32> = (0..9).map(|x| pixel(&rig, x, 0)).collect();
    assert_eq!(row, [1, 1, 2, 3, 4, 5, 6, 7, 8]);
    rig.clean();
}

/// A row of the canvas as letters: F foreground, B background, dot untouched.
fn letters(rig: &Rig, y: u32, width: u32) -> String {
    (0..width)
        .map(|x| match pixel(rig, x, y) {
            0xf => 'F',
            0xb => 'B',
            0 => '.',
            _ => '?',
        })
        .collect()
}

/// §5.2.2: brushes of 8 x 8 bits, opaque and transparent, both orders of bits, moved; of pixels; and
/// how many dwords each has.
#[test]
fn brushes() {
    // Rows of a pattern: the first two differ, the fifth as well.
    let rows = [0xe800_0000u32, 0x8100_0000];
    let rows = [rows[0] | 0x01 << 16, rows[1]];
    let paint = [two(0, 0), two(8, 10)];
    let fill = |brush: u32| FILL & !0xf0 | brush << 4;
    let cases: &[(&str, Vec<u32>, [&str; 3])] = &[
        (
            "0: mono, opaque",
            [&[fill(0), PLACE, 0xb, 0xf, rows[0], rows[1]], &paint[..]].concat(),
            ["FFFBFBBBFF", "BBBBBBBFBB", "FBBBBBBFFB"],
        ),
        (
            "1: mono, transparent",
            [&[fill(1), PLACE, 0xf, rows[0], rows[1]], &paint[..]].concat(),
            ["FFF.F...FF", ".......F..", "F......FF."],
        ),
        (
            "1: from the least significant bit on",
            [
                &[
                    fill(1) | 1 << 14,
                    PLACE,
                    0xf,
                    rows[0].reverse_bits(),
                    rows[1].reverse_bits(),
                ],
                &paint[..],
            ]
            .concat(),
            ["FFF.F...FF", ".......F..", "F......FF."],
        ),
        (
            "1: its origin moved by 2 and 0",
            [
                &[fill(1) | 1 << 31, PLACE, 0xf, rows[0], rows[1], 2 << 16 | 2],
                &paint[..],
            ]
            .concat(),
            ["..FFF.F...", ".F.......F", ".FF......F"],
        ),
        (
            "13: one colour",
            [&[fill(13), PLACE, 0xf], &paint[..]].concat(),
            ["FFFFFFFFFF"; 3],
        ),
        (
            "14: one colour",
            [&[fill(14), PLACE, 0xf], &paint[..]].concat(),
            ["FFFFFFFFFF"; 3],
        ),
    ];
    for (name, body, expected) in cases {
        let rig = Rig::new();
        rig.run(&packet(PAINT, body));
        let found = [0, 1, 4].map(|y| letters(&rig, y, 10));
        assert_eq!(found, expected.map(str::to_owned), "{name}");
        rig.clean();
    }
    // 10: sixteen dwords for each byte of a pixel.
    for (code, bytes) in [(2u32, 1usize), (4, 2), (6, 4)] {
        let rig = Rig::new();
        let bitmap: Vec<u32> = (0..16 * bytes as u32)
            .map(|n| 0x0403_0201u32.wrapping_add(n.wrapping_mul(0x0404_0404)))
            .collect();
        let control = fill(10) & !0xf00 | code << 8;
        rig.run(&packet(
            PAINT,
            &[&[control, PLACE][..], &bitmap, &paint].concat(),
        ));
        let raw: Vec<u8> = bitmap.iter().flat_map(|d| d.to_le_bytes()).collect();
        for y in 0..8 {
            let mut row = vec![0; 8 * bytes];
            rig.gpu
                .aperture_read(u64::from(CANVAS + 256 * y as u32), &mut row);
            assert_eq!(
                row,
                raw[8 * bytes * y..8 * bytes * (y + 1)],
                "{code} row {y}"
            );
        }
        rig.clean();
    }
}

/// §5.2.2.3, §5.2.2.6: bits of the host to colours, rows one after the other or from a byte on; the
/// next character with the same colours.
#[test]
fn mono_expansion() {
    // Ten columns, three rows: 1110000001, 0100000010, 1000000001.
    let linear = 0b1110_0000_0101_0000_0010_1000_0000_0100u32;
    let bytes = [
        0b1110_0000_0100_0000_0100_0000_1000_0000u32,
        0b1000_0000_0100_0000 << 16,
    ];
    let all = |control: u32, data: &[u32]| {
        let head = [
            control,
            PLACE,
            0xf,
            0xb,
            two(0, 0),
            two(3, 10),
            data.len() as u32,
        ];
        packet(HOSTDATA_BLT, &[&head[..], data].concat())
    };
    // SRC_TYPE 0 opaque, 1 transparent; SRC_LOAD 3 linear, 4 from bytes on.
    let control = |mono: u32, load: u32| COPY & !(1 | 7 << 24 | 3 << 12) | mono << 12 | load << 24;
    let opaque = ["FFFBBBBBBF", "BFBBBBBBFB", "FBBBBBBBBF"];
    let transparent = ["FFF......F", ".F......F.", "F........F"];
    let cases: &[(&str, Vec<u32>, [&str; 3])] = &[
        ("linear", all(control(0, 3), &[linear]), opaque),
        ("transparent", all(control(1, 3), &[linear]), transparent),
        (
            "least significant bit first",
            all(control(0, 3) | 1 << 14, &[linear.reverse_bits()]),
            opaque,
        ),
        ("rows from bytes on", all(control(0, 4), &bytes), opaque),
        (
            "NEXTCHAR",
            [
                packet(HOSTDATA_BLT, &[control(0, 3), PLACE, 0xf, 0xb]),
                packet(NEXTCHAR, &[two(0, 0), two(3, 10), linear]),
            ]
            .concat(),
            opaque,
        ),
        (
            "type 0 and the host's data registers",
            vec![
                type0(0x142c, 1),
                PLACE,
                type0(0x146c, 1),
                control(0, 3),
                type0(0x15d8, 2),
                0xf,
                0xb,
                type0(0x1438, 2),
                two(0, 0),
                two(3, 10),
                type0(0x17e0, 1),
                linear,
            ],
            opaque,
        ),
    ];
    for (name, stream, expected) in cases {
        let rig = Rig::new();
        rig.run(stream);
        let found = [0, 1, 2].map(|y| letters(&rig, y, 10));
        assert_eq!(found, expected.map(str::to_owned), "{name}");
        rig.clean();
    }
    // A dword too many.
    let rig = Rig::new();
    rig.run(&all(control(0, 3), &[linear, 0]));
    assert_eq!(rig.gpu.lint_count(Rule::RasterCount), 1);
}

/// The engine is busy until the host's data has come (§5.2.2: "loaded through the HOSTDATA
/// registers"); a wait for it then never ends.
#[test]
fn a_blit_without_the_hosts_data() {
    let rig = Rig::new();
    let control = COPY & !(7 << 24 | 1) | 3 << 24;
    rig.run(&[
        type0(0x142c, 1),
        PLACE,
        type0(0x146c, 1),
        control,
        type0(0x1438, 2),
        0,
        two(1, 2),
    ]);
    rig.run(&[type0(0x1720, 1), 1 << 14, type0(0x15e0, 1), 1]);
    assert_eq!(rig.reg(0x15e0), 0);
    assert_eq!(rig.reg(0xe40) & (1 << 31 | 1 << 17), 1 << 31 | 1 << 17);
    rig.set(0x17c0, 0x11);
    rig.set(0x17c4, 0x22);
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 1);
    assert_eq!((pixel(&rig, 0, 0), pixel(&rig, 1, 0)), (0x11, 0x22));
    rig.clean();
}

/// §5.2.2.4: y above x; the pen goes on over the joints; the last pixel is not drawn.
#[test]
fn lines() {
    let rig = Rig::new();
    rig.run(&packet(
        POLYLINE,
        &[
            FILL,
            PLACE,
            RED,
            two(2, 3),
            two(2, 7),
            two(5, 7),
            two(8, 10),
        ],
    ));
    let expected = [
        (3, 2),
        (4, 2),
        (5, 2),
        (6, 2),
        (7, 2),
        (7, 3),
        (7, 4),
        (7, 5),
        (8, 6),
        (9, 7),
    ];
    assert_eq!(drawn(&rig), expected);
    rig.clean();
    // 6: an opaque pen, 7: a transparent one; bits 31 on.
    for (brush, expected) in [(6u32, "FFBBFBFFBBF"), (7, "FF..F.FF..F")] {
        let rig = Rig::new();
        let control = FILL & !0xf0 | brush << 4;
        let colours: &[u32] = if brush == 6 { &[0xb, 0xf] } else { &[0xf] };
        let points = [0b1100_1011_0011 << 20, two(0, 0), two(0, 6), two(0, 11)];
        rig.run(&packet(
            POLYLINE,
            &[&[control, PLACE][..], colours, &points].concat(),
        ));
        assert_eq!(letters(&rig, 0, 11), expected, "{brush}");
        rig.clean();
    }
    // By registers.
    let rig = Rig::new();
    let state = [
        type0(0x142c, 1),
        PLACE,
        type0(0x146c, 1),
        FILL,
        type0(0x147c, 1),
        0xf,
    ];
    rig.run(&[&state[..], &[type0(0x1600, 2), two(0, 1), two(0, 4)]].concat());
    assert_eq!(letters(&rig, 0, 6), ".FFF..");
    rig.clean();
}

/// §5.2.2.10: which pixels are written. Source pixels 1 and 2, over 8 and 9.
#[test]
fn transparent_copies() {
    // Name, CLR_CMP_CNTL, then what comes of (1 over 8), (2 over 8), (1 over 9), (2 over 9); the
    // references are 1 and 8.
    let cases: [(&str, u32, [u32; 4]); 12] = [
        ("all", 0, [1, 2, 1, 2]),
        ("no source", 1 << 24 | 1, [8, 8, 9, 9]),
        ("equal source", 1 << 24 | 4, [1, 8, 1, 9]),
        ("other source", 1 << 24 | 5, [8, 2, 9, 2]),
        ("equal source flips", 1 << 24 | 7, [8 ^ 1, 2, 9 ^ 1, 2]),
        ("keep all", 1 << 8, [8, 8, 9, 9]),
        ("keep equal", 4 << 8, [8, 8, 1, 2]),
        ("keep other", 5 << 8, [1, 2, 9, 9]),
        ("the source's is off", 4, [1, 2, 1, 2]),
        ("the destination's is off", 1 << 24 | 1 << 8, [1, 2, 1, 2]),
        ("both", 2 << 24 | 4 << 8 | 4, [8, 8, 1, 9]),
        ("both, others", 2 << 24 | 5 << 8 | 5, [8, 2, 9, 9]),
    ];
    for (name, control, expected) in cases {
        let rig = Rig::new();
        for (x, (s, d)) in [(1, 8), (2, 8), (1, 9), (2, 9)].into_iter().enumerate() {
            set_pixel(&rig, x as u32, 0, s);
            set_pixel(&rig, x as u32, 1, d);
        }
        // Bit 28 would clear the functions before the packet sets them, or mean that nothing is compared.
        rig.run(&packet(
            TRANS_BITBLT,
            &[
                COPY & !(1 << 28),
                PLACE,
                PLACE,
                control,
                1,
                8,
                two(0, 0),
                two(0, 1),
                two(4, 1),
            ],
        ));
        let found = [0, 1, 2, 3].map(|x| pixel(&rig, x, 1));
        assert_eq!(found, expected, "{name}");
        rig.clean();
    }
}

/// §5.2.2: bits 28 and 30 of GUI_CONTROL clear the comparison and set the masks; else both stay.
#[test]
fn masks_stay_unless_told() {
    let rig = Rig::new();
    rig.set(0x16cc, 0x0000_ff00);
    rig.set(0x15c0, 1 << 8);
    let paint = |control| packet(PAINT, &[control, PLACE, !0, two(0, 0), two(1, 1)]);
    rig.run(&paint(FILL & !(1 << 28 | 1 << 30)));
    assert_eq!(pixel(&rig, 0, 0), 0, "all kept");
    rig.run(&paint(FILL & !(1 << 30)));
    assert_eq!(pixel(&rig, 0, 0), 0xff00);
    rig.run(&paint(FILL));
    assert_eq!(pixel(&rig, 0, 0), !0);
    assert_eq!(rig.reg(0x16cc), !0);
    rig.clean();
}

/// §2.2, §2.3: bit 30 macro tiles, bit 31 micro blocks; the places are printed in digest §4.1 for
/// rows of 256 pixels.
#[test]
fn tiled_surfaces() {
    let cases: [(&str, u32, u32, u32, u32, u32); 5] = [
        ("8 both", 3, 2, 256, 0x489, 33),
        ("16 both", 3, 4, 512, 0x2092, 33),
        ("32 both", 3, 6, 1024, 0x4814, 33),
        ("32 macro", 1, 6, 1024, 0x4184, 33),
        ("32 micro", 2, 6, 1024, 0x4114, 33),
    ];
    for (name, tiles, code, pitch, place, x) in cases {
        let rig = Rig::new();
        let surface = (tiles << 30) | ((pitch / 64) << 22) | 0x400;
        let control = FILL & !0xf00 | code << 8;
        rig.gpu.take_accesses();
        rig.run(&packet(
            PAINT,
            &[control, surface, 0xff, two(17, x), two(18, x + 1)],
        ));
        let mut b = [0];
        rig.gpu.aperture_read(u64::from(CANVAS + place), &mut b);
        assert_eq!(b, [0xff], "{name}");
        let bytes = u64::from(pitch / 256);
        let (accesses, _) = rig.gpu.take_accesses();
        let found: Vec<_> = accesses
            .iter()
            .filter(|a| a.unit == Unit::TwoD)
            .map(|a| (a.addr, a.len, a.write))
            .collect();
        assert_eq!(found, [(u64::from(CANVAS + place), bytes, true)], "{name}");
        rig.clean();
    }
    // A macro-tiled base is 2 KB aligned.
    let rig = Rig::new();
    rig.run(&packet(
        PAINT,
        &[FILL, 1 << 30 | 16 << 22 | 0x401, 1, 0, two(1, 1)],
    ));
    assert_eq!(rig.gpu.lint_count(Rule::PitchOffset), 1);
}

/// Digest §2.9: how upstream moves a page: rows of 4096 bytes, as pixels of 32 bits.
#[test]
fn the_kernels_copy() {
    let rig = Rig::new();
    let page: Vec<u32> = (0..2048).map(|n| n * 3 + 1).collect();
    rig.put_guest(0x4000, &page);
    // From the GART to video memory and to another place there.
    let at = |offset: u32| 64 << 22 | offset >> 10;
    for (from, to) in [(r5xx_rig::GTT + 0x4000, 0x20_0000), (0x20_0000, 0x30_0000)] {
        rig.run(&[
            0xc008_9b00,
            0x52cc_36ff,
            at(from),
            at(to),
            0x1fff_1fff,
            0,
            0x1fff_1fff,
            0,
            0,
            1024 << 16 | 2,
            0x5c5,
            0xf,
            0x5c8,
            0x5_0200,
        ]);
    }
    for n in [0, 1, 1023, 1024, 2047] {
        assert_eq!(rig.at(0x30_0000 + 4 * n), n * 3 + 1);
    }
    assert_eq!(rig.gpu.counter(Counter::Pixels2d), 4096);
    rig.clean();
}

/// §4.9: a scratch register proves that the stream was parsed so far, no more. Drawing comes as late
/// as it may, and an interrupt that does not wait for it is reported.
#[test]
fn drawing_is_waited_for() {
    let paint = packet(PAINT, &[FILL, PLACE, RED, two(0, 0), two(1, 1)]);
    let flush = [type0(0x1714, 1), 0xf];
    let wait = [type0(0x1720, 1), 1 << 16];
    let fence = [type0(0x15e0, 1), 1, type0(0x44, 1), 1 << 26];
    let rig = Rig::new();
    rig.submit(&[&paint[..], &flush, &fence].concat());
    while rig.reg(0x15e0) == 0 {
        rig.gpu.step();
    }
    assert_eq!(pixel(&rig, 0, 0), 0, "not drawn yet");
    rig.settle();
    assert_eq!(pixel(&rig, 0, 0), RED);
    assert_eq!(rig.gpu.lint_count(Rule::EarlyInterrupt), 1);
    // Without the flush it is early too.
    let rig = Rig::new();
    rig.run(&[&paint[..], &wait, &fence].concat());
    assert_eq!(rig.gpu.lint_count(Rule::EarlyInterrupt), 1);
    let rig = Rig::new();
    rig.run(&[&paint[..], &flush, &wait, &fence].concat());
    rig.clean();
}

/// §5.2 and digest H6: a body shorter than its settings say takes what follows, and all is lost.
#[test]
fn bodies_that_do_not_fit() {
    let cases: &[(&str, Vec<u32>)] = &[
        ("settings", packet(PAINT, &[FILL, PLACE])),
        ("half a rectangle", packet(PAINT, &[FILL, PLACE, RED, 0])),
        (
            "a colour brush",
            packet(PAINT, &[FILL & !0xf0 | 10 << 4, PLACE, 1, 2, 3]),
        ),
        ("a blit", packet(BITBLT, &[COPY, PLACE, PLACE, 0, 0])),
        (
            "a glyph",
            packet(
                HOSTDATA_BLT,
                &[
                    COPY & !(1 | 1 << 25) | 3 << 24,
                    PLACE,
                    0,
                    0,
                    0,
                    two(1, 1),
                    2,
                    0,
                ],
            ),
        ),
        (
            "a scan",
            packet(POLYSCANLINES, &[FILL, PLACE, RED, 1, 3, 0, 0]),
        ),
        ("scissors", packet(SET_SCISSORS, &[0])),
        ("a palette", packet(LOAD_PALETTE, &[1, 0, 0])),
    ];
    for (name, stream) in cases {
        let rig = Rig::new();
        rig.run(stream);
        assert_eq!(rig.gpu.lockup(), Some(Lockup::Stream), "{name}");
        assert_eq!(rig.gpu.lint_count(Rule::ShortPacket), 1, "{name}");
    }
    let rig = Rig::new();
    rig.run(&packet(BITBLT, &[COPY, PLACE, PLACE, 0, 0, two(1, 1), 5]));
    assert_eq!(rig.gpu.lint_count(Rule::LongPacket), 1);
    assert_eq!(rig.gpu.lockup(), None);
}

/// What the document reserves or forbids is done harmlessly, and said.
#[test]
fn rules() {
    let cases: &[(&str, Vec<u32>, Rule)] = &[
        (
            "a type that only the 3D pipe knows",
            packet(PAINT, &[FILL & !0xf00 | 12 << 8, PLACE, RED, 0, two(1, 1)]),
            Rule::GuiControl,
        ),
        (
            "a reserved brush",
            packet(PAINT, &[FILL & !0xf0 | 9 << 4, PLACE, 0, two(1, 1)]),
            Rule::GuiControl,
        ),
        (
            "an area with a pen",
            packet(
                PAINT,
                &[FILL & !0xf0 | 7 << 4, PLACE, RED, !0, 0, two(1, 1)],
            ),
            Rule::BrushUse,
        ),
        (
            "a line with a pattern",
            packet(
                POLYLINE,
                &[FILL & !0xf0 | 1 << 4, PLACE, RED, 0, 0, 0, two(1, 1)],
            ),
            Rule::BrushUse,
        ),
        (
            "no pitch",
            packet(PAINT, &[FILL, 0x400, RED, 0, two(1, 1)]),
            Rule::PitchOffset,
        ),
        (
            "a coordinate of 16 bits",
            packet(PAINT, &[FILL, PLACE, RED, 0x2000, two(1, 0x2001)]),
            Rule::Coordinate,
        ),
        (
            "a reserved comparison",
            packet(
                TRANS_BITBLT,
                &[COPY, PLACE, PLACE, 2, 0, 0, 0, 0, two(1, 1)],
            ),
            Rule::ColourCompare,
        ),
    ];
    for (name, stream, rule) in cases {
        let rig = Rig::new();
        rig.run(stream);
        assert_ne!(rig.gpu.lint_count(*rule), 0, "{name}");
        assert_eq!(rig.gpu.lockup(), None, "{name}");
    }
}

/// §5.2.2.12: 16 or 256 entries.
#[test]
fn palettes() {
    for (code, entries) in [(1, 16), (2, 256)] {
        let rig = Rig::new();
        let mut body = vec![code];
        body.extend((0..entries).map(|n| n * 7));
        rig.run(&packet(LOAD_PALETTE, &body));
        rig.clean();
    }
}
