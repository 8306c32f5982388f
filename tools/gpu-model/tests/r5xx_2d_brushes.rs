// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Brushes, mono expansion, lines and palettes of the 2D engine (R5xx guide §5.2.2; digest §2.3 to §2.5).
//!
//! The canvas is 64 x 32 pixels of 32 bits at 0x100000, rows of 256 bytes.

use crate::r5xx_rig::{canvas::*, packet, type0, Rig};
use gpu_model::r5xx::Rule;

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
