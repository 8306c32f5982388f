// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Draws frames on a modelled RV515, so that their cost can be counted: `make bench GPU=rv515` runs it under
//! callgrind, with one frame more and one less.
//!
//! A frame has what one of a game has, on 64 x 64 pixels: a clear of colours and depths, triangles with a depth test,
//! and a texture with a linear filter that is blended over them. `r5xx_frame NUMBER` draws that many, and fails if
//! one of them is not as it should be.

#[path = "../tests/r5xx_rig/mod.rs"]
mod r5xx_rig;

use r5xx_rig::{picture::*, Rig};

const TEXTURE: u32 = 0x30_0000;
const POINTS: u32 = 1;
const TRIANGLES: u32 = 4;
/// Unit 0 at the coordinates of temporary 0, to temporary 0.
const LOOK_UP: [u32; 6] = [0x0000_7807, 0x0240_0000, 0xe400_e400, 0, 0, 0];
/// ZB_CNTL: a test, and writes; ZB_ZSTENCILCNTL: always, less.
const DEPTH: u32 = 6;
const ALWAYS: u32 = 7;
const LESS: u32 = 1;

/// A rectangle of the whole canvas, as clears and copies have it.
fn whole(z: f32, colour: [f32; 4]) -> Vec<u32> {
    [
        point_size(64, 64),
        draw(POINTS, &[([32.0, 32.0, z, 1.0], colour)]),
    ]
    .concat()
}

/// Eight triangles that overlap, the nearest one last.
fn triangles() -> Vec<u32> {
    let mut vertices = Vec::new();
    for n in 0..8u8 {
        let (z, at) = (0.9 - 0.1 * f32::from(n), f32::from(n) * 4.0);
        let colour = |v: u8| [f32::from(v) / 8.0, 0.5, 1.0 - f32::from(n) / 8.0, 1.0];
        vertices.extend([
            ([at, 0.0, z, 1.0], colour(n)),
            ([at + 32.0, 8.0, z, 1.0], colour(n + 1)),
            ([at + 8.0, 60.0, z, 1.0], colour(7 - n)),
        ]);
    }
    draw(TRIANGLES, &vertices)
}

/// A texture over all of it: alpha and 1 - alpha.
fn texture() -> Vec<u32> {
    [
        // GB_ENABLE and RS: a stuffed set into temporary 0.
        write(0x4008, &[1 | 2 << 16]),
        write(0x4200, &[0.0f32, 1.0, 1.0, 0.0].map(f32::to_bits)),
        write(0x4074, &[1 << 6 | 62 << 12 | 63 << 18]),
        write(0x4300, &[2 | 1 << 7 | 1 << 18, 0]),
        write(0x4320, &[1 << 4]),
        pixel_program(&[LOOK_UP, PUT_OUT]),
        // A unit with 16 x 16 texels of BGRA8, linear, to the edge.
        write(0x4104, &[1]),
        write(0x4400, &[2 << 9 | 2 << 11 | 2 | 2 << 3]),
        write(0x4440, &[0]),
        write(0x4480, &[15 | 15 << 11]),
        write(0x44c0, &[12 | 3 << 9 | 2 << 12 | 1 << 15]),
        write(0x4500, &[0]),
        write(0x4540, &[TEXTURE]),
        write(0x4e04, &[1 | 1 << 2 | 38 << 16 | 39 << 24]),
        write(0x4f00, &[0]),
        whole(0.0, [0.0; 4]),
        // No texture, and no blend.
        write(0x4008, &[0]),
        write(0x4104, &[0]),
        write(0x4e04, &[0]),
    ]
    .concat()
}

fn main() {
    let frames: u32 = match std::env::args().nth(1).map(|n| n.parse()) {
        Some(Ok(n)) => n,
        _ => panic!("r5xx_frame NUMBER: so many frames"),
    };
    let rig = Rig::new();
    // White of alpha 0.5: what is below is half of the picture.
    rig.put(TEXTURE, &[0x80ff_ffff; 256]);
    for n in 0..frames {
        let parts = [
            [
                state(),
                depth(DEPTH, ALWAYS),
                whole(1.0, [0.0, 0.0, 0.0, 1.0]),
            ]
            .concat(),
            [depth(DEPTH, LESS), triangles()].concat(),
            texture(),
        ];
        for part in parts {
            rig.run_indirect(&part);
        }
        // a = 128 / 255: white over black is a, and its alpha a * a + (1 - a); the nearest triangle's blue is 1/8,
        // a + (1 - a) / 8.
        assert_eq!(pixel(&rig, 63, 63), 0xbf80_8080, "frame {n}");
        assert_eq!(pixel(&rig, 40, 20) & 0xff, 0x90, "frame {n}");
    }
    println!("{frames} frames");
}
