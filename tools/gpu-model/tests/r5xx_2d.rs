// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The 2D engine: packets and type-0 writes, brushes, raster operations, clipping, mono expansion,
//! overlap, comparison, tiles (R5xx guide §5.2.2; digest §2.3 to §2.5).
//!
//! The canvas is 64 x 32 pixels of 32 bits at 0x100000, rows of 256 bytes.

use crate::r5xx_rig::{canvas::*, packet, type0, Rig};
use gpu_model::counters::Counter;
use gpu_model::r5xx::{Rule, Unit};

/// The halves of a coordinate, packet by packet (§5.2.2.2 to §5.2.2.11; trap 1).
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

/// §5.2.2: clear bits select the defaults, which the driver must have set.
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
    for (from, to) in [
        (crate::r5xx_rig::GTT + 0x4000, 0x20_0000),
        (0x20_0000, 0x30_0000),
    ] {
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
