// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Fills, copies, clipping, overlap, tiles and state: commands as dwords, and the bytes that they leave, both by hand
//! from G45 PRM V1b chapter 8 (sections named at each).

use crate::blt_support::{picture, run, xy, Ram, GEN6};
use gpu_model::blt::{execute, BltCaps, BltState, STATE_DWORDS};
use gpu_model::tiling::Swizzle;

/// §8.8.1: height 2, 4 or 8 bytes wide, at 0x100, pitch 16; the colour's low bits by depth.
#[test]
fn color_blt_fills_by_depth() {
    for (control, size, line) in [
        (0x00f0_0010, 0x0002_0003, &[0x44, 0x44, 0x44, 0][..]),
        (0x01f0_0010, 0x0002_0004, &[0x44, 0x33, 0x44, 0x33, 0]),
        (0x02f0_0010, 0x0002_0004, &[0x44, 0x33, 0x44, 0x33, 0]),
        (
            0x03f0_0010,
            0x0002_0008,
            &[0x44, 0x33, 0x22, 0x11, 0x44, 0x33, 0x22, 0x11, 0],
        ),
    ] {
        let mut ram = Ram::new(0x200);
        let stats = run(
            &[vec![0x5030_0003, control, size, 0x100, 0x1122_3344]],
            &mut ram,
        );
        assert_eq!(ram.at(0x100, line.len()), line);
        assert_eq!(ram.at(0x110, line.len()), line);
        assert_eq!(
            ram.bytes.iter().filter(|&&b| b != 0).count(),
            2 * (line.len() - 1)
        );
        assert_eq!(stats.bytes_written, 2 * (line.len() as u64 - 1));
        assert_eq!((stats.bytes_read, ram.writes), (0, 2));
    }
}

/// §8.10.1: bit 21 writes 31:24, bit 20 writes 23:0, at 32 bpp only.
#[test]
fn byte_mask_acts_at_32_bpp() {
    for (mask, control, expected) in [
        (3u32, 0x03f0_0010u32, [0x44, 0x33, 0x22, 0x11]),
        (1, 0x03f0_0010, [0x44, 0x33, 0x22, 0xee]),
        (2, 0x03f0_0010, [0xee, 0xee, 0xee, 0x11]),
        (0, 0x03f0_0010, [0xee; 4]),
        (0, 0x01f0_0010, [0x44, 0x33, 0x44, 0x33]),
        (0, 0x00f0_0010, [0x44; 4]),
    ] {
        let mut ram = Ram::new(0x200);
        ram.put(0x100, &[0xee; 5]);
        run(
            &[vec![
                0x5000_0003 | mask << 20,
                control,
                0x0001_0004,
                0x100,
                0x1122_3344,
            ]],
            &mut ram,
        );
        assert_eq!(
            ram.at(0x100, 4),
            expected,
            "mask {mask} control {control:#x}"
        );
        assert_eq!(ram.at(0x104, 1), [0xee]);
    }
}

/// §8.8.1, §8.8.2: pitches are signed; the next line lies before.
#[test]
fn linear_pitches_are_signed() {
    let mut ram = Ram::new(0x200);
    run(
        &[vec![0x5030_0003, 0x00f0_fff0, 0x0002_0002, 0x100, 0x77]],
        &mut ram,
    );
    assert_eq!(ram.at(0x100, 3), [0x77, 0x77, 0]);
    assert_eq!(ram.at(0x0f0, 3), [0x77, 0x77, 0]);
    ram.put(0x180, &[1, 2]);
    ram.put(0x184, &[3, 4]);
    run(
        &[vec![
            0x50f0_0004,
            0x00cc_0008,
            0x0002_0002,
            0x1c0,
            0xfffc,
            0x184,
        ]],
        &mut ram,
    );
    assert_eq!(ram.at(0x1c0, 10), [3, 4, 0, 0, 0, 0, 0, 0, 1, 2]);
}

/// §8.1: no accesses if height or width is 0.
#[test]
fn empty_linear_blits_touch_nothing() {
    for size in [0x0000_0008, 0x0008_0000, 0] {
        let mut ram = Ram::new(0x200);
        let stats = run(
            &[vec![0x5030_0003, 0x00f0_0010, size, 0x100, 0x77]],
            &mut ram,
        );
        assert_eq!((stats.pixels, ram.reads, ram.writes), (0, 0, 0));
    }
}

/// §8.8.2, §8.2.1.5: right to left the addresses are those of the last bytes; the wrong direction corrupts the source.
#[test]
fn src_copy_directions() {
    for (control, dst, src, expected) in [
        (0x40cc_0010, 0x109, 0x107, [1, 2, 1, 2, 3, 4, 5, 6, 7, 8]), // right to left, source left of destination
        (0x00cc_0010, 0x102, 0x100, [1, 2, 1, 2, 1, 2, 1, 2, 1, 2]), // left to right: wrong way
        (0x00cc_0010, 0x100, 0x102, [3, 4, 5, 6, 7, 8, 9, 10, 9, 10]), // left to right, source to the right
        (
            0x40cc_0010,
            0x107,
            0x109,
            [9, 10, 9, 10, 9, 10, 9, 10, 9, 10],
        ), // right to left: wrong way
    ] {
        let mut ram = Ram::new(0x200);
        ram.put(0x100, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        run(
            &[vec![0x50f0_0004, control, 0x0001_0008, dst, 16, src]],
            &mut ram,
        );
        assert_eq!(ram.at(0x100, 10), expected, "{control:#x} {dst:#x}");
    }
    // The same with pixels of 4 bytes that overlap by half a pixel: whole pixels move.
    let mut ram = Ram::new(0x200);
    ram.put(0x100, &[1, 2, 3, 4, 5, 6, 7, 8, 0, 0]);
    let mut state = BltState::default();
    let cmd = [0x50f0_0004, 0x03cc_0010, 0x0001_0008, 0x102, 16, 0x100];
    execute(&cmd, &mut state, &mut ram, &GEN6).unwrap();
    assert_eq!(ram.at(0x100, 10), [1, 2, 1, 2, 3, 4, 3, 4, 7, 8]);
}

/// §8.2.2.1: a 6 x 4 block at (256, 256) on a 640 pixels wide screen.
#[test]
fn example_block_lies_at_four_addresses() {
    let mut ram = Ram::new(0x30000);
    let fill = vec![
        0x5430_0004,
        0x00f0_0280,
        xy(256, 256),
        xy(262, 260),
        0,
        0x99,
    ];
    let stats = run(&[fill], &mut ram);
    for address in [0x28100, 0x28380, 0x28600, 0x28880] {
        assert_eq!(
            ram.at(address - 1, 8),
            [0, 0x99, 0x99, 0x99, 0x99, 0x99, 0x99, 0]
        );
    }
    assert_eq!((stats.pixels, stats.bytes_written, ram.writes), (24, 24, 4));
    assert_eq!(ram.bytes.iter().filter(|&&b| b != 0).count(), 24);
}

/// §8.9.15: source pixels by coordinate and depth.
#[test]
fn src_copy_by_coordinates() {
    let mut ram = Ram::new(0x3000);
    ram.put(0x2000 + 2 * 32 + 3 * 2, &[0xa1, 0xa2, 0xa3, 0xa4]); // (3, 2) and (4, 2) at 16 bpp, pitch 32
    let cmd = vec![
        0x54f0_0006,
        0x01cc_0010,
        xy(1, 1),
        xy(3, 2),
        0x1000,
        xy(3, 2),
        32,
        0x2000,
    ];
    let stats = run(&[cmd], &mut ram);
    assert_eq!(ram.at(0x1010, 8), [0, 0, 0xa1, 0xa2, 0xa3, 0xa4, 0, 0]);
    assert_eq!(
        (stats.pixels, stats.bytes_read, stats.bytes_written),
        (2, 4, 4)
    );
}

/// §8.9: with equal bases the coordinates choose the direction; with others there is no choice, and no protection.
#[test]
fn overlap_is_decided_by_base_and_coordinates() {
    // One line of 1 to 8 copied two pixels on, and a column of three lines copied one line down.
    for (dst_base, dst, src, expected) in [
        (
            0x1000,
            xy(2, 0),
            xy(0, 0),
            ["1212345678", "..........", ".........."],
        ),
        (
            0x1002,
            xy(0, 0),
            xy(0, 0),
            ["1212121212", "..........", ".........."],
        ),
        (
            0x1000,
            xy(0, 1),
            xy(0, 0),
            ["12345678..", "12345678..", ".........."],
        ),
    ] {
        let mut ram = Ram::new(0x2000);
        ram.put(0x1000, &[1, 2, 3, 4, 5, 6, 7, 8]);
        let end = dst + xy(8, 1);
        let cmd = [
            0x54f0_0006,
            0x00cc_0010,
            dst,
            end,
            dst_base,
            src,
            16,
            0x1000,
        ];
        execute(&cmd, &mut BltState::default(), &mut ram, &GEN6).unwrap();
        assert_eq!(picture(&ram, 3, 10), expected);
    }
    for (dst_base, dst, expected) in [
        (0x1000, xy(0, 1), ["11", "11", "22", "33"]), // bottom line first
        (0x1010, xy(0, 0), ["11", "11", "11", "11"]), // top line first: each line is overwritten before it is read
    ] {
        let mut ram = Ram::new(0x2000);
        for line in 0..3 {
            ram.put(0x1000 + 16 * line, &[line as u8 + 1; 2]);
        }
        let cmd = [
            0x54f0_0006,
            0x00cc_0010,
            dst,
            dst + xy(2, 3),
            dst_base,
            0,
            16,
            0x1000,
        ];
        execute(&cmd, &mut BltState::default(), &mut ram, &GEN6).unwrap();
        assert_eq!(picture(&ram, 4, 2), expected);
    }
}

/// §8.9.4: a pixel is always compared with the clip rectangle, enabled or not; X2 and Y2 are outside.
#[test]
fn pixel_is_always_clipped() {
    let setup = vec![
        0x4070_0006,
        0x00f0_0010,
        xy(1, 1),
        xy(3, 3),
        0x1000,
        7,
        9,
        0,
    ];
    let pixels = (0..4).flat_map(|y| (0..4).map(move |x| vec![0x4900_0000, xy(x, y)]));
    let mut ram = Ram::new(0x2000);
    run(&[vec![setup], pixels.collect()].concat(), &mut ram);
    assert_eq!(picture(&ram, 4, 4), ["....", ".77.", ".77.", "...."]);
}

/// §8.9.1: clip coordinates have 15 bits; the reserved bits above them do not count.
#[test]
fn clip_coordinates_have_15_bits() {
    for (clip, end, drawn) in [
        (xy(20_000, 0), xy(20_001, 1), true),
        (xy(20_001, 0), xy(32_767, 1), false),
        (xy(0, 0), xy(20_000, 1), false),
        (
            xy(20_000, 0) | 0x8000_8000,
            xy(20_001, 1) | 0x8000_8000,
            true,
        ),
    ] {
        let mut state = BltState::default();
        let mut ram = Ram::new(0x8000);
        let setup = [0x4070_0006, 0x00f0_0010, clip, end, 0x1000, 7, 9, 0];
        for cmd in [&setup[..], &[0x4900_0000, xy(20_000, 0)]] {
            execute(cmd, &mut state, &mut ram, &GEN6).unwrap();
        }
        assert_eq!(ram.bytes[0x1000 + 20_000], if drawn { 7 } else { 0 });
        assert_eq!(ram.writes, usize::from(drawn));
    }
}

/// §8.9.3: XY_SETUP_CLIP_BLT changes the rectangle and nothing else.
#[test]
fn setup_clip_keeps_the_rest() {
    let setup = vec![
        0x4070_0006,
        0x00f0_0010,
        xy(1, 1),
        xy(3, 3),
        0x1000,
        7,
        9,
        0,
    ];
    let clip = vec![0x40c0_0001, xy(0, 0), xy(1, 1)];
    let mut ram = Ram::new(0x2000);
    run(
        &[
            setup,
            clip,
            vec![0x4900_0000, xy(0, 0)],
            vec![0x4900_0000, xy(1, 1)],
        ],
        &mut ram,
    );
    assert_eq!(picture(&ram, 2, 2), ["7.", ".."]);
}

/// §8.1: negative destination coordinates are cut at 0, and the source goes on where it would have been.
#[test]
fn negative_destination_is_cut() {
    let mut ram = Ram::new(0x2000);
    ram.put(0x1800, &[1, 2, 3, 4]);
    ram.put(0x1810, &[5, 6, 7, 8]);
    let cmd = vec![
        0x54f0_0006,
        0x00cc_0010,
        xy(-2, -1),
        xy(2, 1),
        0x1000,
        0,
        16,
        0x1800,
    ];
    let stats = run(&[cmd], &mut ram);
    assert_eq!(picture(&ram, 2, 4), ["78..", "...."]);
    assert_eq!(stats.pixels, 2);
}

/// §8.9: negative source coordinates move the destination's first pixel by as much.
#[test]
fn negative_source_moves_the_destination() {
    let mut ram = Ram::new(0x2000);
    ram.put(0x1800, &[1, 2, 3, 4]);
    let cmd = |first, end, src| {
        vec![
            0x54f0_0006,
            0x00cc_0010,
            first,
            end,
            0x1000,
            src,
            16,
            0x1800,
        ]
    };
    run(&[cmd(xy(0, 0), xy(4, 2), xy(-2, -1))], &mut ram);
    assert_eq!(picture(&ram, 2, 5), [".....", "..12."]);
    // Nothing is left: rejected without an access.
    let (reads, writes) = (ram.reads, ram.writes);
    run(&[cmd(xy(0, 0), xy(4, 2), xy(-4, 0))], &mut ram);
    assert_eq!((ram.reads, ram.writes), (reads, writes));
}

/// §8.9: rejected without an access if X2 <= X1 or Y2 <= Y1, at first or after clipping.
#[test]
fn empty_rectangles_touch_nothing() {
    for (first, end, clip_end) in [
        (xy(4, 4), xy(4, 8), xy(16, 16)),
        (xy(4, 4), xy(8, 4), xy(16, 16)),
        (xy(8, 8), xy(4, 4), xy(16, 16)),
        (xy(4, 4), xy(8, 8), xy(4, 16)),
        (xy(4, 4), xy(8, 8), xy(16, 4)),
        (xy(4, 4), xy(8, 8), xy(0, 0)),
        (xy(-8, -8), xy(0, 0), xy(16, 16)),
    ] {
        let mut ram = Ram::new(0x2000);
        let clip = vec![0x40c0_0001, xy(0, 0), clip_end];
        let full = vec![
            0x5570_0007,
            0x4096_0010,
            first,
            end,
            0x1000,
            16,
            0,
            0x1800,
            0x1a00,
        ];
        let stats = run(&[clip, full], &mut ram);
        assert_eq!((ram.reads, ram.writes, stats.pixels), (0, 0, 0));
    }
}

/// §8.10.2: a tiled pitch counts dwords, a linear one bytes. §4.5.3: pixel (600, 9) of a pitch of two X tiles lies at
/// 2000h + 1000h + 200h + 58h. gen6-snb.md G-31: bit 9 of that folds into bit 6.
#[test]
fn tiled_destinations() {
    let gen7 = BltCaps {
        swctrl: Some(2),
        ..GEN6
    };
    let swizzled = BltCaps {
        swizzle_x: Swizzle::Bit9And10,
        ..GEN6
    };
    for (caps, at, expected) in [
        (GEN6, (600, 9), 0x13258),
        (swizzled, (600, 9), 0x13218),
        // Y tiles, a pitch of eight: (40, 33) lies at 8000h + 400h + 10h + 8.
        (gen7, (40, 33), 0x18418),
    ] {
        let mut ram = Ram::new(0x20000);
        let cmd = [
            0x5430_0804,
            0x00f0_0100, // 256 dwords = 1024 bytes
            xy(at.0, at.1),
            xy(at.0 + 1, at.1 + 1),
            0x10000,
            0x5a,
        ];
        let stats = execute(&cmd, &mut BltState::default(), &mut ram, &caps).unwrap();
        assert_eq!(stats.violations, []);
        assert_eq!(ram.bytes.iter().position(|&b| b == 0x5a), Some(expected));
        assert_eq!(ram.bytes.iter().filter(|&&b| b != 0).count(), 1);
    }
}

/// §8.9.15: bit 15 tiles the source, bit 11 the destination; gen6-snb.md §2.5: BCS_SWCTRL bit 0 source, bit 1
/// destination. 16 pixels of line 1 from (512, 8 + 1).
#[test]
fn tiled_sources() {
    for (swctrl, source) in [(None, 0x13200), (Some(1), 0x12090), (Some(2), 0x13200)] {
        let caps = BltCaps { swctrl, ..GEN6 };
        let mut ram = Ram::new(0x20000);
        let pixels: [u8; 16] = core::array::from_fn(|i| i as u8 + 1);
        ram.put(source, &pixels);
        // X: 2 tiles per row, tile row 1, tile 1, line 1. Y: 8 tiles per row; (256, 9) is in tile 2, line 9.
        let first = if swctrl == Some(1) {
            xy(256, 9)
        } else {
            xy(512, 9)
        };
        let cmd = [
            0x54f0_8006,
            0x00cc_0010,
            xy(0, 0),
            xy(16, 1),
            0x1000,
            first,
            0x100,
            0x10000,
        ];
        execute(&cmd, &mut BltState::default(), &mut ram, &caps).unwrap();
        assert_eq!(ram.at(0x1000, 16), pixels, "{swctrl:?}");
    }
}

/// Lines of a tiled surface are accessed tile by tile, 512 bytes at a time; linear ones in one piece.
#[test]
fn accesses_are_as_long_as_the_layout_allows() {
    let mut ram = Ram::new(0x20000);
    run(
        &[vec![
            0x5430_0804,
            0x00f0_0100,
            xy(100, 0),
            xy(1024, 2),
            0x10000,
            1,
        ]],
        &mut ram,
    );
    assert_eq!(ram.writes, 4);
    let mut ram = Ram::new(0x20000);
    run(
        &[vec![
            0x5430_0004,
            0x00f0_0400,
            xy(100, 0),
            xy(1024, 2),
            0x10000,
            1,
        ]],
        &mut ram,
    );
    assert_eq!(ram.writes, 2);
}

/// §8.4: what a context saves and restores; a restored state draws like the one that was saved.
#[test]
fn state_survives_a_context_switch() {
    let mut state = BltState::default();
    let mut ram = Ram::new(0x2000);
    let setup = [
        0x4470_0007,
        0xd3f0_0010,
        xy(1, 2),
        xy(3, 4),
        0x1000,
        0x55,
        0x66,
        0x7777_0000,
        0x8888_0000,
    ];
    execute(&setup, &mut state, &mut ram, &GEN6).unwrap();
    let image: [u32; STATE_DWORDS] = state.save();
    assert_eq!(
        image,
        [
            0x2000_0000, // BR00: monochrome setup
            0xdff0_0010, // BR01: DW1 and the byte mask in 27:26
            0x55,
            0x66,
            0,
            0x1000,
            0x7777_0000,
            0x8888_0000,
            0x0002_0001,
            0x0004_0003,
        ]
    );
    assert_eq!(BltState::restore(&image), state);
    // A colour setup leaves the monochrome pattern's registers alone.
    let setup = [0x4050_0006, 0x63cc_0020, 0, xy(9, 9), 0x2000, 1, 2, 0x1fc0];
    execute(&setup, &mut state, &mut ram, &GEN6).unwrap();
    assert_eq!(
        state.save(),
        [
            0,
            0x67cc_0020,
            1,
            2,
            0x1fc0,
            0x2000,
            0x7777_0000,
            0x8888_0000,
            0,
            0x0009_0009,
        ]
    );
}

/// §8.10.2: the commands on the setup state take their byte mask from it.
#[test]
fn setup_mask_is_inherited() {
    for (mask, expected) in [
        (3, [1, 2, 3, 4]),
        (1, [1, 2, 3, 0xee]),
        (2, [0xee, 0xee, 0xee, 4]),
        (0, [0xee; 4]),
    ] {
        let mut ram = Ram::new(0x2000);
        ram.put(0x1000, &[0xee; 4]);
        let setup = vec![
            0x4040_0006 | mask << 20,
            0x03f0_0010,
            0,
            xy(9, 9),
            0x1000,
            0x0403_0201,
            0,
            0,
        ];
        run(&[setup, vec![0x4900_0000, 0]], &mut ram);
        assert_eq!(ram.at(0x1000, 4), expected, "mask {mask}");
    }
}
