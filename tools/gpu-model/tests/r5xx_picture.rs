// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Draws leave pixels: clears, triangles, depth (digest of 3D, §14.2, §15.3, §15.4, §16.1).

use crate::r5xx_rig::{packet, picture::*, Rig};
use gpu_model::counters::Counter;
use gpu_model::r5xx::Unit;

/// What §15.3 has of it in BGRA8.
const COLOUR: [f32; 4] = [1.0, 0.5, 0.25, 0.75];
const STORED: u32 = 0xbfff_8040;
const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];
const BLUE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];
const NAMES: &[(u32, char)] = &[
    (0, '.'),
    (0xffff_0000, 'R'),
    (0xff00_ff00, 'G'),
    (0xff00_00ff, 'B'),
];

const POINTS: u32 = 1;
const TRIANGLES: u32 = 4;

fn at(x: f32, y: f32) -> [f32; 4] {
    [x, y, 0.5, 1.0]
}

/// A rectangle as clears have it: one point.
fn rectangle(
    (x, y): (u32, u32),
    (width, height): (u32, u32),
    z: f32,
    colour: [f32; 4],
) -> Vec<u32> {
    let middle = [
        x as f32 + width as f32 / 2.0,
        y as f32 + height as f32 / 2.0,
        z,
        1.0,
    ];
    [point_size(width, height), draw(POINTS, &[(middle, colour)])].concat()
}

/// §15.4: "rect clear 64x32 at (10,20)", here of 30 x 20 pixels.
#[test]
fn a_clear_is_a_point() {
    let rig = Rig::new();
    rig.gpu.take_accesses();
    rig.run(&[state(), rectangle((10, 20), (30, 20), 0.5, COLOUR)].concat());
    for y in 0..64 {
        for x in 0..64 {
            let inside = (10..40).contains(&x) && (20..40).contains(&y);
            let want = if inside { STORED } else { 0 };
            assert_eq!(pixel(&rig, x, y), want, "{x}, {y}");
        }
    }
    // What is written was told: all rows of the scissor.
    let (accesses, _) = rig.gpu.take_accesses();
    let told: Vec<_> = accesses.iter().filter(|a| a.unit == Unit::Color).collect();
    assert!(told.iter().all(|a| a.write));
    assert_eq!(told.iter().map(|a| a.len).sum::<u64>(), 64 * 256);
    // All pixels are alike: the program, of one instruction, ran over four of them.
    assert_eq!(shaded(&rig), [1, 1]);
    rig.clean();
}

/// Squares of four pixels that a program ran over, and its instructions.
fn shaded(rig: &Rig) -> [u64; 2] {
    [Counter::QuadsShaded, Counter::UsInstructions].map(|c| rig.gpu.counter(c))
}

/// §15.4: the triangle (0,0) (4,0) (0,4); shares of the corners at the middle of a pixel.
#[test]
fn a_smooth_triangle() {
    let rig = Rig::new();
    let corners = [
        (at(0.0, 0.0), RED),
        (at(4.0, 0.0), GREEN),
        (at(0.0, 4.0), BLUE),
    ];
    rig.run(&[state(), draw(TRIANGLES, &corners)].concat());
    let drawn: Vec<_> = (0..4)
        .map(|y| (0..4).filter(|x| pixel(&rig, *x, y) != 0).count())
        .collect();
    assert_eq!(drawn, [3, 2, 1, 0]);
    for (x, y) in [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (0, 2)] {
        let green = (f64::from(x) + 0.5) / 4.0;
        let blue = (f64::from(y) + 0.5) / 4.0;
        let byte = |v: f64| (v * 255.0 + 0.5).floor() as u32;
        let want = 0xff00_0000 | byte(1.0 - green - blue) << 16 | byte(green) << 8 | byte(blue);
        assert_eq!(pixel(&rig, x, y), want, "{x}, {y}");
    }
    // In three of the four squares of 2 x 2.
    assert_eq!(shaded(&rig), [3, 3]);
    rig.clean();
}

/// §6.2: flat, by the first, the second, the last.
#[test]
fn flat_triangles() {
    let corners = [
        (at(0.0, 0.0), RED),
        (at(4.0, 0.0), GREEN),
        (at(0.0, 4.0), BLUE),
    ];
    for (mode, want) in [(0, 'R'), (1, 'G'), (2, 'B'), (3, 'B')] {
        let rig = Rig::new();
        let flat = write(0x4278, &[0x5555 | mode << 16]);
        rig.run(&[state(), flat, draw(TRIANGLES, &corners)].concat());
        assert_eq!(letters(&rig, 1, NAMES), [want.to_string()]);
    }
}

/// §5, §8.2: what is interpolated is divided by w: half way in the window, between w = 1 and w = 3, is a quarter
/// of the second colour.
#[test]
fn perspective() {
    let rig = Rig::new();
    // VAP_VTE_CNTL: all scales and offsets, w is w. x and y of the window are 32 * (1 + x / w).
    let view = [
        write(0x20b0, &[0x43f]),
        write(0x221c, &[0]),
        write(
            0x1d98,
            &[32.0, 32.0, 32.0, 32.0, 0.5, 0.5].map(f32::to_bits),
        ),
    ]
    .concat();
    let corner = |x: f32, y: f32, w: f32| [x * w, y * w, 0.0, w];
    let quad = [
        (corner(-1.0, -1.0, 1.0), RED),
        (corner(1.0, -1.0, 3.0), GREEN),
        (corner(1.0, 1.0, 3.0), GREEN),
        (corner(-1.0, 1.0, 1.0), RED),
    ];
    rig.run(&[state(), view, draw(13, &quad)].concat());
    for x in [0, 15, 31, 48, 63] {
        let t = (f64::from(x) + 0.5) / 64.0;
        let share = (t / 3.0) / (1.0 - t + t / 3.0);
        let green = (pixel(&rig, x, 20) >> 8 & 0xff) as f64;
        assert!((green - share * 255.0).abs() <= 0.51, "{x}: {green}");
        assert_eq!(pixel(&rig, x, 20), pixel(&rig, x, 43), "{x}");
    }
    rig.clean();
}

/// §4: what is outside of the view volume is cut off, and of a point the centre decides.
#[test]
fn what_is_outside_is_clipped() {
    let view = [
        write(0x20b0, &[0x43f]),
        write(0x221c, &[0]),
        // A window of 8 by 8 pixels.
        write(0x1d98, &[4.0, 4.0, 4.0, 4.0, 0.5, 0.5].map(f32::to_bits)),
    ]
    .concat();
    let rig = Rig::new();
    let big = [
        ([-9.0, -9.0, 0.0, 1.0], RED),
        ([9.0, -9.0, 0.0, 1.0], RED),
        ([-9.0, 99.0, 0.0, 1.0], RED),
    ];
    rig.run(&[state(), view.clone(), draw(TRIANGLES, &big)].concat());
    let mut want = vec!["RRRRRRRR..".to_owned(); 8];
    want.extend(["..........".to_owned(), "..........".to_owned()]);
    assert_eq!(letters(&rig, 10, NAMES), want);
    // A point whose centre is outside is gone; one on the border is whole.
    let rig = Rig::new();
    let points = [
        ([1.01, 0.0, 0.0, 1.0], RED),
        ([-1.0, -1.0, 0.0, 1.0], GREEN),
    ];
    let size = point_size(4, 4);
    rig.run(&[state(), view.clone(), size, draw(POINTS, &points)].concat());
    assert_eq!(letters(&rig, 3, NAMES), ["GG.", "GG.", "..."]);
    // Behind the eye nothing is seen; z beyond the far plane neither. A plane of the user, x <= 0, cuts at its place.
    for (corners, clip, want) in [
        (
            [
                [0.0, 0.0, 0.0, -1.0],
                [0.5, 0.0, 0.0, -1.0],
                [0.0, 0.5, 0.0, -1.0],
            ],
            0,
            0,
        ),
        (
            [
                [-1.0, -1.0, 2.0, 1.0],
                [1.0, -1.0, 2.0, 1.0],
                [-1.0, 1.0, 2.0, 1.0],
            ],
            0,
            0,
        ),
        (
            [
                [-1.0, -1.0, 0.0, 1.0],
                [3.0, -1.0, 0.0, 1.0],
                [-1.0, 3.0, 0.0, 1.0],
            ],
            1,
            32,
        ),
    ] {
        let rig = Rig::new();
        let plane = upload(1536, &[[-1.0f32, 0.0, 0.0, 0.0].map(f32::to_bits)]);
        let clip = [plane, write(0x221c, &[clip])].concat();
        let corners = corners.map(|c| (c, RED));
        rig.run(&[state(), view.clone(), clip, draw(TRIANGLES, &corners)].concat());
        let drawn = (0..64 * 64).filter(|n| pixel(&rig, n % 64, n / 64) != 0);
        assert_eq!(drawn.count(), want);
    }
}

/// §12: a clear of depth and stencil, and what is drawn behind it or in front of it.
#[test]
fn depth_and_stencil() {
    let rig = Rig::new();
    // Always, written; the stencil replaced (ZPASS is 11:9).
    let clear = [
        depth(7, 7 | 7 << 3 | 2 << 9),
        write(0x4f08, &[0x00ff_ffa5]),
        rectangle((0, 0), (64, 64), 0.75, RED),
    ]
    .concat();
    let test = [
        depth(6, 1),
        rectangle((0, 0), (8, 8), 0.5, GREEN),
        rectangle((4, 4), (8, 8), 0.75, BLUE),
        rectangle((6, 6), (8, 8), 0.25, BLUE),
    ]
    .concat();
    rig.run(&[state(), clear, test].concat());
    // §15.3: 0.75 is bfffff, 0.5 is 800000, 0.25 is 400000.
    assert_eq!(depth_of(&rig, 20, 30), 0xbfff_ffa5);
    assert_eq!(depth_of(&rig, 0, 0), 0x8000_00a5);
    assert_eq!(depth_of(&rig, 7, 7), 0x4000_00a5);
    assert_eq!(depth_of(&rig, 10, 4), 0xbfff_ffa5);
    let seen = [(0, 0), (5, 5), (7, 7), (9, 5), (13, 13), (14, 14)].map(|(x, y)| pixel(&rig, x, y));
    let (r, g, b) = (0xffff_0000, 0xff00_ff00, 0xff00_00ff);
    assert_eq!(seen, [g, g, b, r, b, r]);
    rig.clean();
}

/// Pixels lie where the tile formula has them (digest of R5xx, §4.1: 32 bits, macro and micro, 256 pixels in a row).
#[test]
fn tiled_targets() {
    let rig = Rig::new();
    let tiled = [
        write(0x4e38, &[256 | 6 << 21 | 1 << 16 | 1 << 17]),
        write(0x43e0, &[0, 255 | 63 << 13]),
    ]
    .concat();
    let points: Vec<_> = [(1, 0), (0, 1), (5, 3), (33, 17), (255, 63)]
        .into_iter()
        .flat_map(|at| rectangle(at, (1, 1), 0.5, COLOUR))
        .collect();
    rig.run(&[state(), tiled, points].concat());
    for offset in [0x4, 0x10, 0x134, 0x4814, 0xfffc] {
        assert_eq!(rig.at(COLOURS + offset), STORED, "{offset:#x}");
    }
    let written = (0..0x1_0000 / 4).filter(|n| rig.at(COLOURS + 4 * n) != 0);
    assert_eq!(written.count(), 5);
    rig.clean();
}

/// §15.3: other formats; a mask of channels lets through what it names.
#[test]
fn formats_and_masks() {
    for (format, out_fmt, mask, want) in [
        (4, 0x1b00, 15, 0xffff_fc08),
        (3, 0x1b00, 15, 0xffff_fe08),
        (6, 0x3900, 15, 0xbf40_80ff),
        (6, 0x1b00, 4, 0xffff_ffff),
        (6, 0x1b00, 2, 0xffff_80ff),
        (6, 0x1b00, 1, 0xffff_ff40),
        (6, 0x1b00, 8, 0xbfff_ffff),
    ] {
        let rig = Rig::new();
        rig.put(COLOURS, &[!0]);
        let target = [target(format, out_fmt), write(0x4e0c, &[mask])].concat();
        rig.run(&[state(), target, rectangle((0, 0), (1, 1), 0.5, COLOUR)].concat());
        assert_eq!(rig.at(COLOURS), want, "{format} {mask}");
        rig.clean();
    }
}

/// §15.4: a blend by alpha; the raster operation takes its place.
#[test]
fn blends_and_operations() {
    let rig = Rig::new();
    let below = rectangle((0, 0), (2, 1), 0.5, [0.5, 0.5, 0.5, 0.5]);
    let over = rectangle((0, 0), (1, 1), 0.5, [0.25, 0.25, 0.25, 0.75]);
    let blend = write(0x4e04, &[1 | 1 << 2 | 38 << 16 | 39 << 24]);
    rig.run(&[state(), below.clone(), blend, over].concat());
    // 0.25 * 0.75 + 128 / 255 * 0.25 = 0.313; 0.75 * 0.75 + 128 / 255 * 0.25 = 0.688.
    assert_eq!(
        [pixel(&rig, 0, 0), pixel(&rig, 1, 0)],
        [0xaf50_5050, 0x8080_8080]
    );
    // XOR.
    let xor = [write(0x4e04, &[0]), write(0x4e18, &[4 | 6 << 8]), below].concat();
    rig.run(&xor);
    assert_eq!([pixel(&rig, 0, 0), pixel(&rig, 1, 0)], [0x2fd0_d0d0, 0]);
    rig.clean();
}

/// §6.1: quads by indices of the stream.
#[test]
fn quads_by_indices() {
    let rig = Rig::new();
    // Vertices in an array: position and colour; indices of 16 bits.
    let corners = [
        (0.0, 0.0),
        (4.0, 0.0),
        (4.0, 2.0),
        (0.0, 2.0),
        (4.0, 6.0),
        (0.0, 6.0),
    ];
    for (n, (x, y)) in corners.into_iter().enumerate() {
        let colour = if n < 4 { RED } else { BLUE };
        let all: Vec<u32> = at(x, y)
            .iter()
            .chain(&colour)
            .map(|v| v.to_bits())
            .collect();
        rig.put(0x30_0000 + 32 * n as u32, &all);
    }
    let array = packet(0x2f, &[1, 8 << 8 | 8, 0x30_0000]);
    let flat = write(0x4278, &[0x3_5555]);
    // The last of each decides.
    let indices = packet(
        0x36,
        &[
            8 << 16 | 1 << 4 | 13,
            1 << 16,
            3 << 16 | 2,
            2 << 16 | 3,
            5 << 16 | 4,
        ],
    );
    rig.run(&[state(), flat, array, indices].concat());
    let want = ["RRRR..", "RRRR..", "BBBB..", "BBBB..", "BBBB..", "BBBB.."];
    assert_eq!(letters(&rig, 6, NAMES), want);
    rig.clean();
}

/// RB3D_CCTL 6:5: the first output goes to two targets.
#[test]
fn copies_to_other_targets() {
    let rig = Rig::new();
    let second = [
        write(0x4e00, &[1 << 14 | 1 << 5]),
        write(0x4e2c, &[DEPTHS]),
        write(0x4e3c, &[PITCH | 6 << 21]),
    ]
    .concat();
    let mask = write(0x4e0c, &[0xff]);
    rig.run(
        &[
            state(),
            second,
            mask,
            rectangle((2, 1), (1, 1), 0.5, COLOUR),
        ]
        .concat(),
    );
    let offset = 4 * (PITCH + 2);
    assert_eq!(
        [rig.at(COLOURS + offset), rig.at(DEPTHS + offset)],
        [STORED; 2]
    );
    rig.clean();
}

/// §6.5: GA_POLY_MODE has edges or corners drawn instead; a quad's diagonal is no edge.
#[test]
fn polygons_as_lines_and_points() {
    let corners = [(1.5, 1.5), (5.5, 1.5), (5.5, 5.5), (1.5, 5.5)].map(|(x, y)| (at(x, y), RED));
    let [a, b, c, _] = corners;
    let line = write(0x4234, &[6 | 3 << 16]);
    for (mode, code, vertices, border, diagonal) in [
        (0, 13, &corners[..], true, true),
        (1 | 1 << 4 | 1 << 7, 13, &corners, true, false),
        (1 | 1 << 4 | 1 << 7, TRIANGLES, &[a, b, c], true, true),
        (1, 13, &corners, false, false),
    ] {
        let rig = Rig::new();
        let mode = write(0x4288, &[mode]);
        rig.run(
            &[
                state(),
                line.clone(),
                point_size(1, 1),
                mode,
                draw(code, vertices),
            ]
            .concat(),
        );
        let seen = |x, y| pixel(&rig, x, y) != 0;
        assert_eq!((seen(3, 1), seen(3, 3)), (border, diagonal), "{code}");
        if !border {
            let all = (0..64 * 64).filter(|n| seen(n % 64, n / 64)).count();
            assert_eq!(all, 4);
        }
        rig.clean();
    }
}

/// §6.5, §6.6: edges and corners of a polygon have its offset, by the bits of front and back; bit 2 is of lines and
/// points that are none.
#[test]
fn edges_have_the_offset_of_their_polygon() {
    let corners = [(1.5, 1.5), (5.5, 1.5), (5.5, 5.5), (1.5, 5.5)].map(|(x, y)| (at(x, y), RED));
    let line: Vec<Vertex> = corners[..2].to_vec();
    let lines = 1 | 1 << 4 | 1 << 7;
    for (mode, enable, code, vertices, drawn) in [
        (lines, 0, 15, &corners[..], false),
        (lines, 1 | 2, 15, &corners, true),
        (lines, 4, 15, &corners, false),
        (1, 1 | 2, 15, &corners, true),
        (1, 4, 15, &corners, false),
        (0, 1 | 2, 2, &line, false),
        (0, 4, 2, &line, true),
    ] {
        let rig = Rig::new();
        let all = [
            state(),
            // What is nearer than a depth of a half is drawn: two units are.
            depth(6, 7),
            rectangle((0, 0), (8, 8), 0.5, BLUE),
            depth(6, 1),
            point_size(1, 1),
            write(0x4234, &[6 | 3 << 16]),
            write(0x4288, &[mode]),
            write(0x42a4, &[0.0f32, -2.0, 0.0, -2.0].map(f32::to_bits)),
            write(0x42b4, &[enable]),
            draw(code, vertices),
        ];
        rig.run(&all.concat());
        let red = |x, y| pixel(&rig, x, y) == 0xffff_0000;
        let seen = (0..8).any(|y| (0..8).any(|x| red(x, y)));
        assert_eq!(seen, drawn, "{mode} {enable} {code}");
        rig.clean();
    }
}

/// §11, §9.4: an alpha that fails, and a killed pixel, leave neither colour nor depth.
#[test]
fn fragments_that_are_dropped() {
    // TEXKILL of temporary 0: red below 0.
    let kill = [3, 0x0080_0000, 0xe400_0000, 0, 0, 0];
    let less = |x: f32, a: f32| [x, 1.0, 1.0, a];
    // Greater than a half: 8 bits.
    let test = write(0x4bd4, &[0x80 | 4 << 8 | 1 << 11 | 1 << 12]);
    for (state_of, colour, drawn) in [
        (test.clone(), less(0.0, 0.25), false),
        (test, less(0.0, 0.75), true),
        (pixel_program(&[kill, PUT_OUT]), less(-0.5, 1.0), false),
        (pixel_program(&[kill, PUT_OUT]), less(0.5, 1.0), true),
    ] {
        let rig = Rig::new();
        let all = [
            state(),
            depth(6, 7),
            // ZB_ZTOP: after shading.
            write(0x4f14, &[0]),
            state_of,
            rectangle((0, 0), (1, 1), 0.5, colour),
        ];
        rig.run(&all.concat());
        let got = (pixel(&rig, 0, 0) != 0, depth_of(&rig, 0, 0) != 0);
        assert_eq!(got, (drawn, drawn), "{colour:?}");
        rig.clean();
    }
}

/// §11, §6.7: C = f C + (1 - f) fog, of the constant, of an alpha, of w and of depth; alpha is not changed.
#[test]
fn fog_over_pixels() {
    // FN; FOG_SELECT; GA_FOG_SCALE, GA_FOG_OFFSET; the fog is blue.
    let linear = 1;
    let constant = 1 | 3 << 1;
    let red = [1.0, 0.0, 0.0, 0.75];
    for (blend, select, scale, offset, want) in [
        // No fog.
        (0, 0, 1.0f32, 0.0f32, 0xbfff_0000),
        // A third.
        (constant, 0, 1.0, 0.0, 0xbf55_00aa),
        // The alpha of colour 0, w = 1, depth 0.25: all make three quarters.
        (linear, 0, 1.0, 0.0, 0xbfbf_0040),
        (linear, 4, 0.5, 0.25, 0xbfbf_0040),
        (linear, 5, -1.0, 1.0, 0xbfbf_0040),
        // Nothing is seen.
        (linear, 4, 1.0, -2.0, 0xbf00_00ff),
    ] {
        let rig = Rig::new();
        let all = [
            state(),
            write(0x401c, &[select]),
            write(0x4294, &[scale, offset].map(f32::to_bits)),
            write(0x4bc0, &[blend, 341, 0, 0, 1023]),
            rectangle((0, 0), (2, 2), 0.25, red),
        ];
        rig.run(&all.concat());
        assert_eq!(pixel(&rig, 1, 1), want, "{blend} {select}");
        rig.clean();
    }
}

/// §6.7, §5: w and alphas over a triangle are those of the vertices, with perspective.
#[test]
fn fog_over_a_triangle() {
    let rig = Rig::new();
    // 1 / w is 1, 1/3, 1: half way between the first two, w is 1 / (2/3).
    let corners = [
        ([0.0, 0.0, 0.5, 1.0], [1.0, 0.0, 0.0, 1.0]),
        ([64.0, 0.0, 0.5, 1.0 / 3.0], [1.0, 0.0, 0.0, 1.0]),
        ([0.0, 64.0, 0.5, 1.0], [1.0, 0.0, 0.0, 1.0]),
    ];
    let all = [
        state(),
        write(0x401c, &[4]),
        write(0x4294, &[0.5f32, 0.0].map(f32::to_bits)),
        write(0x4bc0, &[1, 0, 0, 0, 1023]),
        draw(TRIANGLES, &corners),
    ];
    rig.run(&all.concat());
    // The middle of pixel 31 is at 31.5 / 64: w = 1 / (1 - 2 / 3 * 0.4922) = 1.4884, and half of it is seen.
    assert_eq!(pixel(&rig, 31, 0), 0xffbe_0041);
    // 0.5 / 64: w = 1.0052.
    assert_eq!(pixel(&rig, 0, 0), 0xff80_007f);
}

/// §12.7: samples that pass are counted between a write of the counter and that of its address, whatever is drawn
/// before and behind.
#[test]
fn samples_are_counted() {
    const RESULT: u32 = 0x40_0000;
    let rig = Rig::new();
    let all = [
        state(),
        depth(6, 1),
        // Nothing is below 0.
        rectangle((0, 0), (64, 64), 0.5, RED),
        write(0x4f58, &[0]),
        write(0x4f5c, &[RESULT]),
        depth(6, 7),
        rectangle((0, 0), (7, 9), 0.5, RED),
        write(0x4f5c, &[RESULT + 4]),
        depth(6, 1),
        rectangle((0, 0), (8, 9), 0.25, RED),
        write(0x4f5c, &[RESULT + 8]),
    ];
    rig.run(&all.concat());
    let results = [0, 4, 8].map(|n| rig.at(RESULT + n));
    assert_eq!(results, [0, 63, 126]);
    rig.clean();
}

/// §12.6: colours are cleared twice as fast: the depth buffer is the lower half of the colours, and gets ZB's clear
/// value wherever the upper half is drawn to, without any test.
#[test]
fn colours_are_cleared_through_depth() {
    let rig = Rig::new();
    rig.gpu.take_accesses();
    let both = [
        write(0x4f00, &[0, 0]),
        write(0x4f10, &[2]),
        write(0x4f1c, &[1 << 5]),
        write(0x4f20, &[COLOURS + 32 * 256, PITCH]),
        write(0x4f28, &[STORED]),
        write(0x43e0, &[0, 63 | 31 << 13]),
    ]
    .concat();
    rig.run(&[state(), both, rectangle((0, 0), (64, 32), 0.5, COLOUR)].concat());
    assert!((0..64 * 64).all(|n| pixel(&rig, n % 64, n / 64) == STORED));
    let (accesses, _) = rig.gpu.take_accesses();
    let depth: Vec<_> = accesses.iter().filter(|a| a.unit == Unit::Depth).collect();
    assert_eq!(depth.iter().map(|a| a.len).sum::<u64>(), 32 * 256);
    rig.clean();
}
