// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Patterns, monochrome sources, text and colour keys: commands as dwords, and the bytes that they leave, both by hand
//! from G45 PRM V1b chapter 8 (sections named at each).

use crate::blt_support::{picture, run, xy, Ram};

/// §8.2.3.1: a 64 x 64 pattern fill at (128, 128) on a 1024 pixels wide screen, pattern at 100000h.
#[test]
fn example_pattern_fill() {
    let mut ram = Ram::new(0x100040);
    ram.put(
        0x100000,
        &core::array::from_fn::<u8, 64, _>(|i| i as u8 + 1),
    );
    run(
        &[vec![
            0x5470_0004,
            0x00f0_0400,
            xy(128, 128),
            xy(192, 192),
            0,
            0x100000,
        ]],
        &mut ram,
    );
    for tile in 0..8 {
        assert_eq!(ram.at(0x20080 + 8 * tile, 8), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(
            ram.at(0x20480 + 8 * tile, 8),
            [9, 10, 11, 12, 13, 14, 15, 16]
        );
        assert_eq!(
            ram.at(0x2fc80 + 8 * tile, 8),
            [57, 58, 59, 60, 61, 62, 63, 64]
        );
    }
    assert_eq!(
        ram.bytes[..0x100000].iter().filter(|&&b| b != 0).count(),
        64 * 64
    );
    assert_eq!(
        (ram.at(0x2007f, 1), ram.at(0x200c0, 1)),
        (&[0][..], &[0][..])
    );
}

/// §8.2.3.2: a glyph in black on grey at (128, 128), by setup and immediate text, bit packed, clipped to the screen.
#[test]
fn example_character() {
    let mut ram = Ram::new(0x30000);
    ram.bytes.fill(0x80);
    let setup = vec![
        0x4070_0006,
        0x60cc_0400, // clip, source transparency, ROP CC, 8 bpp, pitch 400h
        xy(0, 0),
        xy(1024, 768),
        0,
        0x55, // of no importance
        0x00,
        0,
    ];
    // ...##... / ..#..#.. / ..#..... / .#####.. / ..#..... x 3 / .####...
    let text = vec![
        0x4c40_0003,
        xy(128, 128),
        xy(136, 136),
        0x7c20_2418,
        0x7820_2020,
    ];
    let stats = run(&[setup, text], &mut ram);
    for (line, expected) in [
        (0, [0x80, 0x80, 0x80, 0, 0, 0x80, 0x80, 0x80]),
        (1, [0x80, 0x80, 0, 0x80, 0x80, 0, 0x80, 0x80]),
        (2, [0x80, 0x80, 0, 0x80, 0x80, 0x80, 0x80, 0x80]),
        (3, [0x80, 0, 0, 0, 0, 0, 0x80, 0x80]),
        (6, [0x80, 0x80, 0, 0x80, 0x80, 0x80, 0x80, 0x80]),
        (7, [0x80, 0, 0, 0, 0, 0x80, 0x80, 0x80]),
    ] {
        assert_eq!(ram.at(0x20080 + 0x400 * line, 8), expected, "line {line}");
    }
    assert_eq!(
        ram.bytes.iter().filter(|&&b| b == 0).count(),
        2 + 2 + 1 + 5 + 1 + 1 + 1 + 4
    );
    assert_eq!((stats.pixels, stats.bytes_written), (64, 17));
}

/// §8.9.5: pixel (x + horizontal seed) mod 8 of line (y + vertical seed) mod 8, whatever is clipped.
#[test]
fn seeds_shift_the_pattern() {
    for (bits, first, clip, expected) in [
        (0x0000, xy(0, 0), false, 1),
        (0x3500, xy(1, 2), false, 61), // pixel 4 of line 7
        (0x7700, xy(1, 1), false, 1),
        (0x0000, xy(9, 10), false, 18), // pixel 1 of line 2
        (0x0000, xy(0, 0), true, 21),   // clipped to (4, 2): pixel 4 of line 2
    ] {
        let mut ram = Ram::new(0x2000);
        ram.put(0x1f00, &core::array::from_fn::<u8, 64, _>(|i| i as u8 + 1));
        let clip_to = vec![0x40c0_0001, xy(4, 2), xy(5, 3)];
        let control = 0x00f0_0010 | u32::from(clip) << 30;
        let end = first + if clip { xy(8, 8) } else { xy(1, 1) };
        run(
            &[
                clip_to,
                vec![0x5470_0004 | bits, control, first, end, 0x1000, 0x1f00],
            ],
            &mut ram,
        );
        let at = if clip {
            0x1024
        } else {
            0x1000 + 16 * (first >> 16) as usize + (first & 0xff) as usize
        };
        assert_eq!(ram.bytes[at], expected, "bits {bits:#x} first {first:#x}");
        assert_eq!(ram.bytes[..0x1f00].iter().filter(|&&b| b != 0).count(), 1);
    }
}

/// §8.2.2.4: colour patterns of 16 and 32 bpp are rows of 16 and 32 bytes, in memory and immediate.
#[test]
fn deep_patterns() {
    for (depth, pixel) in [(1u32, 2usize), (2, 2), (3, 4)] {
        let pattern: Vec<u8> = (0..64 * pixel).map(|i| i as u8).collect();
        let words: Vec<u32> = (0..16 * pixel as u32)
            .map(|i| 0x0302_0100 + i * 0x0404_0404)
            .collect();
        let control = depth << 24 | 0x00f0_0040;
        let drawn = [control, xy(3, 5), xy(4, 6), 0x1000];
        let memory = [&[0x5470_0004][..], &drawn, &[0x1e00]].concat();
        let immediate = [&[0x5cb0_0003 + words.len() as u32][..], &drawn, &words].concat();
        for cmd in [memory, immediate] {
            let mut ram = Ram::new(0x2000);
            ram.put(0x1e00, &pattern);
            run(&[cmd], &mut ram);
            // Pixel 3 of row 5: byte (5 * 8 + 3) * bytes per pixel = 43 * 2 = 86, 43 * 4 = 172.
            let expected: &[u8] = match pixel {
                2 => &[86, 87, 0, 0],
                _ => &[172, 173, 174, 175],
            };
            assert_eq!(
                ram.at(0x1000 + 5 * 64 + 3 * pixel, 4),
                expected,
                "depth {depth}"
            );
        }
    }
}

/// §8.9.13, §8.9.14.1: byte n is line n, bit 7 its first pixel; transparency leaves the 0 bits.
#[test]
fn mono_pattern_bits() {
    for (control, expected) in [
        (
            0x00f0_0010,
            ["31113113", "11111113", "13111111", "33333333"],
        ),
        (
            0x10f0_0010,
            ["3...3..3", ".......3", ".3......", "33333333"],
        ),
    ] {
        let mut ram = Ram::new(0x2000);
        let cmd = vec![
            0x54b0_0007,
            control,
            xy(0, 0),
            xy(8, 4),
            0x1000,
            1,
            3,
            0xff40_0189,
            0,
        ];
        run(&[cmd], &mut ram);
        assert_eq!(picture(&ram, 4, 8), expected);
    }
}

/// §8.9.14.2 to §8.9.14.11. FDIAGONAL is reconstructed from DIAGCROSS, see the model's table.
#[test]
fn fixed_patterns() {
    for (code, expected) in [
        (
            0x0,
            [
                "........", "........", "........", "11111111", "........", "........", "........",
                "........",
            ],
        ),
        (0x1, ["....1..."; 8]),
        (
            0x2,
            [
                "1.......", ".1......", "..1.....", "...1....", "....1...", ".....1..", "......1.",
                ".......1",
            ],
        ),
        (
            0x3,
            [
                ".......1", "......1.", ".....1..", "....1...", "...1....", "..1.....", ".1......",
                "1.......",
            ],
        ),
        (
            0x4,
            [
                "....1...", "....1...", "....1...", "11111111", "....1...", "....1...", "....1...",
                "....1...",
            ],
        ),
        (
            0x5,
            [
                "1......1", ".1....1.", "..1..1..", "...11...", "...11...", "..1..1..", ".1....1.",
                "1......1",
            ],
        ),
        (
            0x8,
            [
                ".1.1.1.1", "1.1.1.1.", ".1.1.1.1", "1.1.1.1.", ".1.1.1.1", "1.1.1.1.", ".1.1.1.1",
                "1.1.1.1.",
            ],
        ),
        (
            0x9,
            [
                "11..11..", "..11..11", "11..11..", "..11..11", "11..11..", "..11..11", "11..11..",
                "..11..11",
            ],
        ),
        (
            0xa,
            [
                "1...1...", ".1...1..", "..1...1.", "...1...1", "1...1...", ".1...1..", "..1...1.",
                "...1...1",
            ],
        ),
        (
            0xb,
            [
                ".111.111", "1.111.11", "11.111.1", "111.111.", ".111.111", "1.111.11", "11.111.1",
                "111.111.",
            ],
        ),
    ] {
        let mut ram = Ram::new(0x2000);
        let cmd = vec![
            0x5670_0005 | code << 15,
            0x00f0_0010,
            xy(0, 0),
            xy(8, 8),
            0x1000,
            0,
            1,
        ];
        run(&[cmd], &mut ram);
        assert_eq!(picture(&ram, 8, 8), expected, "fixed pattern {code:#x}");
    }
}

/// §8.9.17, §8.2.2.3: lines start on 16 bits, at the bit position; bit 7 is the first pixel; 0 is background or left.
#[test]
fn mono_source_layout() {
    // Position 3, 7 pixels wide. First line 0 1 0 1 1 | 0 0, second line 0 1 1 0 1 | 1 0.
    let source = [0b1110_1011, 0b0011_1111, 0b0000_1101, 0b1000_0000];
    for (control, expected) in [
        (0x00cc_0010, ["2323322.", "2332332."]),
        (0x20cc_0010, [".3.33...", ".33.33.."]),
    ] {
        let memory = vec![
            0x5536_0006,
            control,
            xy(0, 0),
            xy(7, 2),
            0x1000,
            0x1800,
            2,
            3,
        ];
        let immediate = vec![
            0x5c76_0007,
            control,
            xy(0, 0),
            xy(7, 2),
            0x1000,
            2,
            3,
            u32::from_le_bytes(source),
            0,
        ];
        for cmd in [memory, immediate] {
            let mut ram = Ram::new(0x2000);
            ram.put(0x1800, &source);
            run(&[cmd], &mut ram);
            assert_eq!(picture(&ram, 2, 8), expected);
        }
    }
}

/// §8.9.6: bit packed text goes on with the next bit, byte packed text with the next byte; clipping skips bits.
#[test]
fn text_packing() {
    let setup = |clip: u32, end: u32| vec![0x4070_0006, 0x40cc_0010, clip, end, 0x1000, 1, 2, 0];
    // Three pixels per line: 101 011 110 in a row, or one byte each.
    for (bits, data, clip, expected) in [
        (
            0,
            [0b1010_1111, 0b0000_0000, 0, 0],
            xy(0, 0),
            ["212", "122", "221"],
        ),
        (
            1 << 16,
            [0b1010_0000, 0b0110_0000, 0b1100_0000, 0],
            xy(0, 0),
            ["212", "122", "221"],
        ),
        (
            0,
            [0b1010_1111, 0b0000_0000, 0, 0],
            xy(1, 1),
            ["...", ".22", ".21"],
        ),
    ] {
        let memory = vec![0x4980_0002 | bits, xy(0, 0), xy(3, 3), 0x1800];
        let words = u32::from_le_bytes(data);
        let immediate = vec![0x4c40_0003 | bits, xy(0, 0), xy(3, 3), words, 0];
        for cmd in [memory, immediate] {
            let mut ram = Ram::new(0x2000);
            ram.put(0x1800, &data);
            run(&[setup(clip, xy(16, 16)), cmd], &mut ram);
            assert_eq!(picture(&ram, 3, 3), expected);
        }
    }
}

/// §8.9.5, §8.9.2: scan lines take the colour pattern of the one setup, the monochrome pattern of the other.
#[test]
fn scanlines_take_the_pattern_of_the_last_setup() {
    let mono = |control| {
        vec![
            0x4470_0007,
            control,
            0,
            xy(16, 16),
            0x1000,
            1,
            2,
            0x0000_f00f,
            0,
        ]
    };
    let colour = vec![
        0x4070_0006,
        0x00f0_0010,
        0,
        xy(16, 16),
        0x1000,
        1,
        2,
        0x1800,
    ];
    let lines = vec![0x4940_0001, xy(0, 0), xy(8, 2)];
    for (setup, expected) in [
        (mono(0x00f0_0010), ["11112222", "22221111"]),
        (mono(0x10f0_0010), ["....2222", "2222...."]), // transparent
        (mono(0x80f0_0010), ["11111111", "11111111"]), // solid: the background colour
        (mono(0x90f0_0010), ["........", "........"]), // both: nothing is drawn (§8.9.23)
        (colour, ["12345678", "87654321"]),
    ] {
        let mut ram = Ram::new(0x2000);
        ram.put(0x1800, &[1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1]);
        run(&[setup, lines.clone()], &mut ram);
        assert_eq!(picture(&ram, 2, 8), expected);
    }
}

/// §8.9.23, §8.9.24: solid patterns are the background colour; solid and transparent draws nothing.
#[test]
fn solid_patterns_of_the_full_commands() {
    for (switches, expected) in [
        (0x0000_0000, "1122"),
        (0x8000_0000, "1111"),
        (0x1000_0000, "..22"),
        (0x9000_0000, "...."),
    ] {
        let control = switches | 0x00f0_0010;
        let drawn = [control, xy(0, 0), xy(4, 1), 0x1000];
        let colours = [1, 2, 0x0000_0030, 0];
        let colour_source = [&[0x55f0_000a][..], &drawn, &[16, 0, 0x1800], &colours].concat();
        let mono_source = [&[0x5630_000a][..], &drawn, &[0x1800, 5, 6], &colours].concat();
        for cmd in [colour_source, mono_source] {
            let mut ram = Ram::new(0x2000);
            run(&[cmd], &mut ram);
            assert_eq!(picture(&ram, 1, 4), [expected]);
        }
    }
}

/// §8.2.1.4: with both transparencies a pixel is written where both bits are 1.
#[test]
fn two_transparencies_are_anded() {
    let mut ram = Ram::new(0x2000);
    ram.put(0x1800, &[0b0101_0000]);
    // ROP FC: pattern or source. Pattern row 0011.
    let cmd = vec![
        0x5630_000a,
        0x30fc_0010,
        xy(0, 0),
        xy(4, 1),
        0x1000,
        0x1800,
        5,
        4,
        1,
        2,
        0x0000_0030,
        0,
    ];
    run(&[cmd], &mut ram);
    assert_eq!(picture(&ram, 1, 4), ["...6"]);
}

/// §8.9.19 to §8.9.22: three operands, P xor S (ROP 3C), where the pitch stands before the coordinates.
#[test]
fn full_commands_combine_pattern_and_source() {
    let pattern = [0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80];
    let mut words = vec![0x4030_2010, 0x8070_6050];
    words.resize(16, 0);
    let drawn = [0x003c_0010, xy(0, 0), xy(4, 1), 0x1000];
    for (cmd, expected) in [
        (
            [&[0x5570_0007][..], &drawn, &[32, xy(1, 1), 0x1800, 0x1a00]].concat(),
            [0x11, 0x22, 0x33, 0x44],
        ),
        (
            [&[0x5d30_0016][..], &drawn, &[32, xy(1, 1), 0x1800], &words].concat(),
            [0x11, 0x22, 0x33, 0x44],
        ),
        // Source bits 0110, background 5, foreground 6.
        (
            [&[0x55b0_0007][..], &drawn, &[0x1900, 5, 6, 0x1a00]].concat(),
            [0x15, 0x26, 0x36, 0x45],
        ),
        (
            [&[0x5d70_0016][..], &drawn, &[0x1900, 5, 6], &words].concat(),
            [0x15, 0x26, 0x36, 0x45],
        ),
    ] {
        let mut ram = Ram::new(0x2000);
        ram.put(0x1800 + 32 + 1, &[1, 2, 3, 4]);
        ram.put(0x1900, &[0b0110_0000]);
        ram.put(0x1a00, &pattern);
        run(&[cmd], &mut ram);
        assert_eq!(ram.at(0x1000, 4), expected);
    }
}

/// §8.10.1: source keys write outside the range, destination keys inside; even modes compare nothing.
#[test]
fn colour_keys() {
    for (mode, expected) in [
        (0, "23456"),
        (1, "2...6"),
        (2, "23456"),
        (3, "2...6"),
        (5, "9345."),
        (7, "9345."),
    ] {
        let mut ram = Ram::new(0x2000);
        // Sources 2 to 6; destinations 9 3 4 5 and 9, key 3 to 5.
        ram.put(0x1800, &[2, 3, 4, 5, 6]);
        let destination = if mode & 4 != 0 {
            [9, 3, 4, 5, 0]
        } else {
            [0; 5]
        };
        ram.put(0x1000, &destination);
        let cmd = vec![
            0x5cf0_0008 | mode << 17,
            0x00cc_0010,
            xy(0, 0),
            xy(5, 1),
            0x1000,
            0,
            16,
            0x1800,
            3,
            5,
        ];
        run(&[cmd], &mut ram);
        assert_eq!(picture(&ram, 1, 5), [expected], "mode {mode}");
    }
    // §8.9.10, §8.9.12: pattern commands with a destination key.
    let words = [vec![0x0707_0707; 2], vec![0; 14]].concat();
    let drawn = [0x00f0_0010, xy(0, 0), xy(5, 1), 0x1000];
    let memory = [&[0x5dbe_0006][..], &drawn, &[0x1a00, 3, 5]].concat();
    let immediate = [&[0x5dfe_0015][..], &drawn, &[3, 5], &words].concat();
    for cmd in [memory, immediate] {
        let mut ram = Ram::new(0x2000);
        ram.put(0x1a00, &[7; 8]);
        ram.put(0x1000, &[2, 3, 4, 5, 6]);
        run(&[cmd], &mut ram);
        assert_eq!(picture(&ram, 1, 5), ["27776"]);
    }
}
