// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Draws look up textures: copies as user space does them, wrap modes, filters, levels (digest of 3D, §6.3, §10,
//! §14.2).

use crate::r5xx_rig::{picture::*, Rig};

const TEXTURE: u32 = 0x30_0000;
const POINTS: u32 = 1;

/// Unit 0 at the coordinates of temporary 0, to temporary 0 (U2 of the digest, with all of S, T, R, Q).
const LOOK_UP: [u32; 6] = [0x0000_7807, 0x0240_0000, 0xe400_e400, 0, 0, 0];

/// Points are stuffed with S and T from one corner to the other; they go to temporary 0, and what is looked up there
/// is put out.
fn stuffed((s0, t0): (f32, f32), (s1, t1): (f32, f32)) -> Vec<u32> {
    [
        // GB_ENABLE: points; set 0 has S, T and R.
        write(0x4008, &[1 | 2 << 16]),
        write(0x4200, &[s0, t0, s1, t1].map(f32::to_bits)),
        // S and T; 0 and 1.
        write(0x4074, &[1 << 6 | 62 << 12 | 63 << 18]),
        write(0x4300, &[2 | 1 << 7 | 1 << 18, 0]),
        write(0x4320, &[1 << 4]),
        pixel_program(&[LOOK_UP, PUT_OUT]),
    ]
    .concat()
}

/// A texture of so many texels, of a format and its selects; TX_FILTER0.
fn texture((width, height): (u32, u32), levels: u32, format: u32, filter: u32) -> Vec<u32> {
    [
        write(0x4104, &[1]),
        write(0x4400, &[filter]),
        write(0x4440, &[0]),
        write(
            0x4480,
            &[(width - 1) | (height - 1) << 11 | (levels - 1) << 26],
        ),
        write(0x44c0, &[format]),
        write(0x4500, &[0]),
        write(0x4540, &[TEXTURE]),
        write(0x45c0, &[0x8080_8080]),
    ]
    .concat()
}

/// Alpha, red, green, blue of components 3, 2, 1, 0: BGRA8.
const BGRA8: u32 = 12 | 3 << 9 | 2 << 12 | 1 << 15;
/// MAG and MIN: a point, linear.
const POINT: u32 = 1 << 9 | 1 << 11;
const LINEAR: u32 = 2 << 9 | 2 << 11;
/// Clamp to the edge, in all directions.
const EDGE: u32 = 2 | 2 << 3;

fn rectangle((x, y): (u32, u32), (width, height): (u32, u32)) -> Vec<u32> {
    let middle = [
        x as f32 + width as f32 / 2.0,
        y as f32 + height as f32 / 2.0,
        0.0,
        1.0,
    ];
    [
        point_size(width, height),
        draw(POINTS, &[(middle, [0.0; 4])]),
    ]
    .concat()
}

/// §14.2, "blit / copy": S0 = x1, T0 = y2, S1 = x2, T1 = y1. Every texel comes back, at its place.
#[test]
fn a_copy_is_a_stuffed_point() {
    let rig = Rig::new();
    let texel = |x: u32, y: u32| (x + 100 * y).wrapping_mul(0x9e37_79b9);
    for y in 0..16 {
        let row: Vec<u32> = (0..16).map(|x| texel(x, y)).collect();
        rig.put(TEXTURE + 64 * y, &row);
    }
    let all = [
        state(),
        // No colour of vertices.
        stuffed((0.25, 0.75), (0.75, 0.25)),
        texture((16, 16), 1, BGRA8, POINT | EDGE),
        rectangle((3, 5), (8, 8)),
    ];
    rig.run(&all.concat());
    for y in 0..64 {
        for x in 0..64 {
            let inside = (3..11).contains(&x) && (5..13).contains(&y);
            let want = if inside {
                texel(x - 3 + 4, y - 5 + 4)
            } else {
                0
            };
            assert_eq!(pixel(&rig, x, y), want, "{x}, {y}");
        }
    }
    rig.clean();
}

/// §6.4, §6.3: lines get a coordinate that grows along them; a texture of four texels is their stipple. It begins
/// at 0 with each line, or not; without GB_ENABLE's bit of lines there is none.
#[test]
fn a_stipple_is_a_texture() {
    let vertices = [0.0, 6.0, 6.0, 12.0].map(|x: f32| ([x, 0.5, 0.5, 1.0], [0.0; 4]));
    // GB_ENABLE's bit, resets, the pixels of two lines of six.
    for (enable, reset, want) in [
        (2, 1, "RGBBRGRGBBRG"),
        (2, 2, "RGBBRGBBRGBB"),
        (2, 0, "RGBBRGBBRGBB"),
        (1, 1, "RRRRRRRRRRRR"),
    ] {
        let rig = Rig::new();
        let texels = [0xffff_0000, 0xff00_ff00, 0xff00_00ff, 0xff00_00ff];
        rig.put(TEXTURE, &texels);
        let all = [
            state(),
            stuffed((0.0, 0.0), (0.0, 0.0)),
            write(0x4008, &[enable | 2 << 16]),
            // GA_LINE_CNTL: one pixel wide. GA_LINE_STIPPLE_CONFIG: a quarter; reset.
            write(0x4234, &[6 | 3 << 16, 0.25f32.to_bits() | reset]),
            texture((4, 1), 1, BGRA8, POINT),
            draw(2, &vertices),
        ];
        rig.run(&all.concat());
        let letter = |x: u32| match pixel(&rig, x, 0) {
            0xffff_0000 => 'R',
            0xff00_ff00 => 'G',
            0xff00_00ff => 'B',
            _ => '?',
        };
        let got: String = (0..12).map(letter).collect();
        assert_eq!(got, want, "{enable} {reset}");
        rig.clean();
    }
}

/// §10.4: repeat, mirror, edge, border; the border's colour goes through the selects.
#[test]
fn wrap_modes_of_textures() {
    let letters = |wrap: u32| -> String {
        let rig = Rig::new();
        rig.put(TEXTURE, &[0xff00_0001, 0xff00_0002]);
        rig.put(TEXTURE + 32, &[0xff00_0001, 0xff00_0002]);
        let all = [
            state(),
            stuffed((-1.0, 1.0), (2.0, 0.0)),
            texture((2, 1), 1, BGRA8, POINT | wrap | 2 << 3),
            rectangle((0, 0), (6, 1)),
        ];
        rig.run(&all.concat());
        rig.clean();
        let letter = |x| match pixel(&rig, x, 0) {
            0xff00_0001 => 'a',
            0xff00_0002 => 'b',
            0x8080_8080 => '.',
            _ => '?',
        };
        (0..6).map(letter).collect()
    };
    for (wrap, want) in [
        (0, "ababab"),
        (1, "baabba"),
        (2, "aaabbb"),
        (3, "baabbb"),
        (6, "..ab.."),
        (7, "baab.."),
    ] {
        assert_eq!(letters(wrap), want, "{wrap}");
    }
}

/// §10.5: between the middles of two texels; a point filter does not mix.
#[test]
fn filters() {
    for (filter, want) in [
        (LINEAR, [0, 32, 96, 159, 223, 255]),
        (POINT, [0, 0, 0, 255, 255, 255]),
    ] {
        let rig = Rig::new();
        rig.put(TEXTURE, &[0xff00_0000, 0xff00_00ff]);
        let all = [
            state(),
            // A row of eight pixels of which the first and last are a quarter of a texel from the ends.
            stuffed((0.0, 1.0), (1.0, 0.0)),
            texture((2, 1), 1, BGRA8, filter | EDGE),
            rectangle((0, 0), (8, 1)),
        ];
        rig.run(&all.concat());
        // Pixel x is at (x + 0.5) / 4 texels: shares of 1/8, 3/8, 5/8, 7/8 between 0.5 and 1.5.
        let got = [1, 2, 3, 4, 5, 6].map(|x| pixel(&rig, x, 0) & 0xff);
        assert_eq!(got, want);
    }
}

/// §10.3, §10.6: levels follow each other, each of half the size; a pixel that covers four texels of level 0 takes
/// level 2.
#[test]
fn levels() {
    let rig = Rig::new();
    // 8 x 8, 4 x 4, 2 x 2, 1 x 1; rows of 32 bytes at least (§2.3 of the guide).
    for (start, rows, value) in [(0, 8, 0xa0), (8, 4, 0xa1), (12, 2, 0xa2), (14, 1, 0xa3)] {
        for y in 0..rows {
            rig.put(TEXTURE + 32 * (start + y), &[0xff00_0000 | value; 8]);
        }
    }
    // MIP 14:13 is the nearest level.
    let filter = POINT | EDGE | 1 << 13;
    for (size, want) in [(8, 0xa0), (4, 0xa1), (2, 0xa2), (1, 0xa3), (16, 0xa0)] {
        let all = [
            state(),
            stuffed((0.0, 1.0), (1.0, 0.0)),
            texture((8, 8), 4, BGRA8, filter),
            rectangle((0, 0), (size, size)),
        ];
        rig.run(&all.concat());
        assert_eq!(pixel(&rig, 0, 0) & 0xff, want, "{size}");
    }
    // MAX_MIP_LEVEL 20:17: nothing finer than level 1.
    let all = [
        texture((8, 8), 4, BGRA8, filter | 1 << 17),
        rectangle((0, 0), (16, 16)),
    ];
    rig.run(&all.concat());
    assert_eq!(pixel(&rig, 0, 0) & 0xff, 0xa1);
    rig.clean();
}

/// A tiled texture is where a tiled target was drawn.
#[test]
fn tiled_textures_are_what_was_drawn() {
    let rig = Rig::new();
    // The target at the texture's place, tiled both ways: pixels of a copy of another.
    let texel = |x: u32, y: u32| (x + 100 * y).wrapping_mul(0x9e37_79b9);
    for y in 0..64 {
        let row: Vec<u32> = (0..64).map(|x| texel(x, y)).collect();
        rig.put(DEPTHS + 256 * y, &row);
    }
    let from = |at: u32, tiles: u32| {
        [
            texture((64, 64), 1, BGRA8, POINT | EDGE),
            write(0x4540, &[at | tiles]),
        ]
        .concat()
    };
    let to = |at: u32, tiles: u32| {
        [
            write(0x4e28, &[at]),
            write(0x4e38, &[PITCH | 6 << 21 | tiles]),
        ]
        .concat()
    };
    let whole = rectangle((0, 0), (64, 64));
    let all = [
        state(),
        stuffed((0.0, 1.0), (1.0, 0.0)),
        from(DEPTHS, 0),
        to(TEXTURE, 3 << 16),
        whole.clone(),
        // The cache must be empty before its target is changed.
        write(0x4e4c, &[2]),
        write(0x1720, &[1 << 17]),
        from(TEXTURE, 1 << 2 | 1 << 3),
        to(COLOURS, 0),
        whole,
    ];
    rig.run(&all.concat());
    // Not as it lies: the second row begins 16 bytes from the first.
    assert_eq!(rig.at(TEXTURE + 16), texel(0, 1));
    for y in 0..64 {
        for x in 0..64 {
            assert_eq!(pixel(&rig, x, y), texel(x, y), "{x}, {y}");
        }
    }
    rig.clean();
}

/// A unit that is off: 0, 0, 0, 1 (§10.1).
#[test]
fn units_that_are_off() {
    let rig = Rig::new();
    let all = [
        state(),
        stuffed((0.0, 1.0), (1.0, 0.0)),
        write(0x4104, &[0]),
        rectangle((0, 0), (1, 1)),
    ];
    rig.run(&all.concat());
    assert_eq!(pixel(&rig, 0, 0), 0xff00_0000);
    rig.clean();
}
