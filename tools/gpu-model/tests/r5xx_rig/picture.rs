// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The state in which programs of these cards draw (digest of 3D, §14.1, §14.2), and its parts.
//!
//! A canvas of 64 x 64 pixels of 32 bits, in rows of 256 bytes; a depth buffer of the same shape.

use super::{packet, type0, Rig};

pub const COLOURS: u32 = 0x10_0000;
pub const DEPTHS: u32 = 0x20_0000;
/// Pixels in a row.
pub const PITCH: u32 = 64;
const IMMD_2: u32 = 0x35;
/// VAP_VF_CNTL: walks.
pub const EMBEDDED: u32 = 3 << 4;

/// Position and colour of a vertex.
pub type Vertex = ([f32; 4], [f32; 4]);

/// Registers from one on.
pub fn write(at: u32, values: &[u32]) -> Vec<u32> {
    let mut all = vec![type0(at, values.len() as u32)];
    all.extend(values);
    all
}

/// Vectors of the vertex engine from one on.
pub fn upload(at: u32, vectors: &[[u32; 4]]) -> Vec<u32> {
    let dwords = vectors.concat();
    let mut all = write(0x2200, &[at]);
    all.push(type0(0x2208, dwords.len() as u32) | 1 << 15);
    all.extend(dwords);
    all
}

/// Instructions of the pixel engine from 0 on, and where they are.
pub fn pixel_program(code: &[[u32; 6]]) -> Vec<u32> {
    let last = code.len() as u32 - 1;
    let dwords = code.concat();
    let mut all = write(0x4250, &[0]);
    all.push(type0(0x4254, dwords.len() as u32) | 1 << 15);
    all.extend(dwords);
    // US_CONFIG; US_CODE_ADDR, _RANGE, _OFFSET.
    all.extend(write(0x4600, &[2]));
    all.extend(write(0x4630, &[last << 16, last << 16, 0]));
    all
}

/// Temporary 0 is put out (U3 of the digest, which ran on a card).
pub const PUT_OUT: [u32; 6] = [
    0x0007_8005,
    0x0802_0000,
    0x0802_0000,
    0x0044_0220,
    0x0060_c003,
    5,
];

/// A linear target of 64 pixels in a row.
pub fn target(format: u32, out_fmt: u32) -> Vec<u32> {
    [
        write(0x4e28, &[COLOURS]),
        write(0x4e38, &[PITCH | format << 21]),
        write(0x46a4, &[out_fmt, 15, 15, 15]),
    ]
    .concat()
}

/// Everything but the vertices: position and colour of four floats each, as they are (P1 of the digest), in pixels;
/// colours interpolated into temporary 0 and put out to 8888; no depth.
pub fn state() -> Vec<u32> {
    const F4: u32 = 3;
    const XYZW: u32 = 0xf688;
    [
        write(0x2150, &[F4 | (F4 | 1 << 8 | 1 << 13) << 16]),
        write(0x21e0, &[XYZW | XYZW << 16]),
        write(0x22d0, &[1 << 20, 255 << 16]),
        upload(
            0,
            &[
                [0x00f0_0203, 0x00d1_0001, 0x0124_8001, 0x01ff_e001],
                [0x00f0_2203, 0x00d1_0021, 0x0124_8021, 0x01ff_e021],
            ],
        ),
        // Position and colour 0.
        write(0x2090, &[3, 0]),
        write(0x20b0, &[0x300]),
        write(0x20b4, &[8]),
        write(0x2134, &[0xff_ffff, 0]),
        // VAP_CLIP_CNTL, VAP_GB_*_ADJ.
        write(0x221c, &[1 << 16, ONE, ONE, ONE, ONE]),
        // GA_COLOR_CONTROL: smooth, last. GA_POLY_MODE, GA_ROUND_MODE, GA_OFFSET.
        write(0x4278, &[0x3_aaaa]),
        write(0x4288, &[0, 0x31, 0]),
        write(0x42c0, &[0x4b7f_ffff, 0]),
        write(0x43a8, &[0x2da4_9525]),
        write(0x43d0, &[0xffff]),
        write(0x43e0, &[0, 63 | 63 << 13, 0xff_ffff]),
        // RS: colour 0 to temporary 0.
        write(0x4074, &[0]),
        write(0x4300, &[1 << 7 | 1 << 18, 0]),
        write(0x4320, &[1 << 16]),
        pixel_program(&[PUT_OUT]),
        write(0x4e00, &[1 << 14, 0, 0, 15]),
        target(6, 0x1b00),
    ]
    .concat()
}

const ONE: u32 = 0x3f80_0000;

/// A depth buffer of 24 and 8 bits, in blocks; ZB_CNTL and ZB_ZSTENCILCNTL.
pub fn depth(control: u32, functions: u32) -> Vec<u32> {
    [
        write(0x4f00, &[control, functions, 0x00ff_ff00]),
        write(0x4f10, &[2, 1]),
        write(0x4f20, &[DEPTHS, PITCH | 1 << 17]),
    ]
    .concat()
}

/// GA_POINT_SIZE.
pub fn point_size(width: u32, height: u32) -> Vec<u32> {
    let (w, h) = (6 * width, 6 * height);
    write(0x421c, &[h | w << 16])
}

/// A draw of vertices in the stream, by the code of its primitives.
pub fn draw(code: u32, vertices: &[Vertex]) -> Vec<u32> {
    let mut body = vec![(vertices.len() as u32) << 16 | EMBEDDED | code];
    for (position, colour) in vertices {
        body.extend(position.iter().chain(colour).map(|v| v.to_bits()));
    }
    packet(IMMD_2, &body)
}

/// A pixel of the canvas.
pub fn pixel(rig: &Rig, x: u32, y: u32) -> u32 {
    rig.at(COLOURS + 4 * (y * PITCH + x))
}

/// A pixel of the depth buffer: blocks of 4 by 2.
pub fn depth_of(rig: &Rig, x: u32, y: u32) -> u32 {
    let block = y / 2 * (PITCH / 4) + x / 4;
    rig.at(DEPTHS + 32 * block + 16 * (y % 2) + 4 * (x % 4))
}

/// The upper left corner of the canvas: letters by their pixels.
pub fn letters(rig: &Rig, size: u32, names: &[(u32, char)]) -> Vec<String> {
    let letter = |v| names.iter().find(|n| n.0 == v).map_or('?', |n| n.1);
    let row = |y| (0..size).map(|x| letter(pixel(rig, x, y))).collect();
    (0..size).map(row).collect()
}
