// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A canvas of 64 x 32 pixels of 32 bits at 0x100000, rows of 256 bytes, and the packets that draw on it.

use super::Rig;

pub const CANVAS: u32 = 0x10_0000;
/// 29:22 pitch in units of 64 bytes, 21:0 offset in units of 1 KB.
pub const PLACE: u32 = 4 << 22 | 0x400;
pub const RED: u32 = 0x00ff_1020;
/// Destination given, solid brush, 8888, source as destination, PATCOPY, comparison and masks off.
pub const FILL: u32 = 0x50f0_36d2;
/// Source and destination given, no brush, 8888, SRCCOPY from memory.
pub const COPY: u32 = 0x52cc_36f3;
pub const PAINT: u32 = 0x91;
pub const BITBLT: u32 = 0x92;
pub const HOSTDATA_BLT: u32 = 0x94;
pub const POLYLINE: u32 = 0x95;
pub const POLYSCANLINES: u32 = 0x98;
pub const PAINT_MULTI: u32 = 0x9a;
pub const BITBLT_MULTI: u32 = 0x9b;
pub const TRANS_BITBLT: u32 = 0x9c;
pub const NEXTCHAR: u32 = 0x19;
pub const PLY_NEXTSCAN: u32 = 0x1d;
pub const SET_SCISSORS: u32 = 0x1e;
pub const LOAD_PALETTE: u32 = 0x2c;

pub fn two(high: u32, low: u32) -> u32 {
    (high & 0xffff) << 16 | (low & 0xffff)
}

pub fn pixel(rig: &Rig, x: u32, y: u32) -> u32 {
    rig.at(CANVAS + y * 256 + 4 * x)
}

pub fn set_pixel(rig: &Rig, x: u32, y: u32, value: u32) {
    rig.put(CANVAS + y * 256 + 4 * x, &[value]);
}

/// Pixels that are not zero, as x and y.
pub fn drawn(rig: &Rig) -> Vec<(u32, u32)> {
    let all = (0..32).flat_map(|y| (0..64).map(move |x| (x, y)));
    all.filter(|(x, y)| pixel(rig, *x, *y) != 0).collect()
}

/// The pixels of rectangles: x, y, width, height.
pub fn rectangles(all: &[(u32, u32, u32, u32)]) -> Vec<(u32, u32)> {
    let mut pixels: Vec<(u32, u32)> = all
        .iter()
        .flat_map(|&(x, y, w, h)| (y..y + h).flat_map(move |y| (x..x + w).map(move |x| (x, y))))
        .collect();
    pixels.sort_by_key(|(x, y)| (*y, *x));
    pixels
}

pub type Rectangles = &'static [(u32, u32, u32, u32)];

/// A row of the canvas as letters: F foreground, B background, dot untouched.
pub fn letters(rig: &Rig, y: u32, width: u32) -> String {
    (0..width)
        .map(|x| match pixel(rig, x, y) {
            0xf => 'F',
            0xb => 'B',
            0 => '.',
            _ => '?',
        })
        .collect()
}
