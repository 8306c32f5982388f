// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Compressors of what is displayed: GM965's, whose run lengths a decoder of this test's own reads back (6), and
//! GM45's, of which the registers are known (7). Offsets of GM965's registers are the digest's (G-31).

use crate::gen4_rig::*;
use gpu_model::ring::chip::{Chip, GM45, GM965};
use gpu_model::ring::lint::Rule;

const FRAME: u64 = 16_666_667;
/// A surface of 640 by 480 pixels of 32 bits, X tiled, of 4 KB pitch, at 100000h.
const SURFACE: u32 = 0x10_0000;
const PITCH: u32 = 4096;
const WIDTH: u32 = 640;
const HEIGHT: u32 = 480;
/// Where lines are written, 1 KB each, and their lengths.
const LINES: u32 = 0x32_0000;
const LENGTHS: u32 = 0x3f_0000;

fn shown(chip: &'static Chip) -> Rig {
    let rig = Rig::new(chip);
    rig.set(0x6_0000, (WIDTH + 159) << 16 | (WIDTH - 1));
    rig.set(0x6_000c, (HEIGHT + 44) << 16 | (HEIGHT - 1));
    rig.set(0x7_0188, PITCH);
    // xRGB8888 (6 in 29:26, G-32), X tiles.
    rig.set(0x7_0180, 1 << 31 | 6 << 26 | 1 << 10);
    rig.set(0x7_019c, SURFACE);
    rig.set(0x7_0008, 1 << 31);
    rig
}

/// Returns the address of a pixel: X tiles of 512 bytes by 8 rows (4.5.2).
fn place(x: u32, y: u32) -> u32 {
    let byte = x * 4;
    SURFACE + y / 8 * PITCH * 8 + byte / 512 * 4096 + y % 8 * 512 + byte % 512
}

fn paint(rig: &Rig, x: u32, y: u32, colour: u32) {
    rig.put(place(x, y), &[colour]);
}

/// Stripes, with a line of noise every sixteen lines.
fn picture(rig: &Rig) {
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let colour = if y % 16 == 5 {
                x.wrapping_mul(0x9e37_79b9) ^ y
            } else {
                0xaa00_0000 | (x / 300) << 8 | y
            };
            paint(rig, x, y, colour);
        }
    }
}

/// A frame later, and the pass that began with its blank done.
fn frame(rig: &Rig) {
    let now = rig.gpu.clock().now();
    rig.gpu.clock().advance_to(now + FRAME);
    rig.reg(0x2030);
    rig.gpu.clock().advance_to(now + FRAME + 2_000_000);
    rig.reg(0x2030);
}

/// A line as the display would read it: runs of 31:24 + 1 pixels of colour 23:0 (6.6.1), in so many sets of 32 bytes as
/// the length buffer says, and one more (6.6.4); what is left in the last set does not count (6.6.3).
fn decode(rig: &Rig, y: u32, first: u32) -> Vec<u32> {
    let at = LENGTHS + first + y;
    let sets = (rig.at(at & !3) >> (at % 4 * 8) & 0xff) + 1;
    let mut pixels = Vec::new();
    for i in 0..sets * 8 {
        let run = rig.at(LINES + y * 1024 + 4 * i);
        for _ in 0..=run >> 24 {
            if pixels.len() < WIDTH as usize {
                pixels.push(run & 0x00ff_ffff);
            }
        }
    }
    pixels
}

/// The tag of a pair of lines (6.8.1).
fn tag(rig: &Rig, pair: u32) -> u32 {
    rig.reg(0x3300 + 4 * (pair / 16)) >> (pair % 16 * 2) & 3
}

/// Periodic, at each refresh; lines that do not compress are marked; 16 units of 64 bytes a line.
const CONTROL: u32 = 1 << 31 | 1 << 30 | 1 << 16 | 1 << 14 | 15 << 5;

fn compress(rig: &Rig, control: u32) {
    rig.set(0x3200, LINES);
    rig.set(0x3204, LENGTHS);
    rig.set(0x3208, control);
}

#[test]
fn a_picture_is_compressed_and_read_back() {
    let rig = shown(&GM965);
    picture(&rig);
    compress(&rig, CONTROL);
    assert_eq!(rig.reg(0x3210) & 3 << 30, 0);
    frame(&rig);
    // Bit 30: compressed; bit 31: at it (G-31).
    assert_eq!(rig.reg(0x3210) >> 29, 2);
    for y in 0..HEIGHT {
        if y % 16 == 5 {
            // Noise: 640 runs are 2,560 bytes. The other line of its pair is compressed, so the pair is "Uncompressed".
            assert_eq!(tag(&rig, y / 2), 1);
            continue;
        }
        let want: Vec<u32> = (0..WIDTH)
            .map(|x| rig.at(place(x, y)) & 0xff_ffff)
            .collect();
        assert_eq!(decode(&rig, y, 0), want, "line {y}");
        if y / 2 * 2 % 16 != 4 {
            assert_eq!(tag(&rig, y / 2), 3, "line {y}");
        }
    }
    rig.clean();
}

#[test]
fn lines_that_are_drawn_on_are_modified() {
    // 6.8.4: the CPU through the fence that FBC_CONTROL names, at its distance; the render cache anyway.
    let rig = shown(&GM965);
    picture(&rig);
    // A fence from a tile row above the surface on, its pitch the plane's (G-12); the surface begins 8 lines behind.
    rig.set(0x301c, SURFACE + 0x20_0000 - 4096);
    rig.set(0x3018, (SURFACE - 8 * PITCH) | (PITCH / 128 - 1) << 2 | 1);
    rig.set(0x3214, 2);
    rig.set(0x3218, 8);
    compress(&rig, CONTROL | 3);
    frame(&rig);
    let modified = |rig: &Rig| -> Vec<u32> { (0..240).filter(|p| tag(rig, *p) == 0).collect() };
    assert_eq!(modified(&rig), [0u32; 0]);
    rig.gpu.aperture_write(SURFACE + 100 * PITCH + 40, &[1; 4]);
    assert_eq!(modified(&rig), [50]);
    assert_eq!(rig.reg(0x3210) & 1 << 29, 1 << 29, "any modified");
    // XY_COLOR_BLT, X tiled: lines 201 to 203, columns 3 to 9.
    let mut blit = fill(SURFACE, PITCH / 4, (3, 9), (201, 204), 0x123456).to_vec();
    blit[0] |= 1 << 11;
    blit.push(FLUSH);
    rig.run(RCS, &blit);
    assert_eq!(modified(&rig), [50, 100, 101]);
    // The next pass takes them, and what it writes is what is there now.
    frame(&rig);
    assert_eq!(modified(&rig), [0u32; 0]);
    let want: Vec<u32> = (0..WIDTH)
        .map(|x| rig.at(place(x, 202)) & 0xff_ffff)
        .collect();
    assert_eq!(decode(&rig, 202, 0), want);
    assert_eq!(want[3], 0x123456);
    // Memory that is not the surface, and the CPU without the fence, are not seen.
    rig.run(RCS, &fill(TARGET, 64, (0, 4), (0, 4), 1));
    rig.clean();
    rig.set(0x3208, 0);
    rig.set(0x3214, 0);
    compress(&rig, CONTROL | 3);
    frame(&rig);
    rig.gpu.aperture_write(SURFACE + 100 * PITCH, &[1; 4]);
    assert_eq!(modified(&rig), [0u32; 0]);
    // A new base address is a new picture.
    rig.set(0x7_019c, SURFACE);
    assert_eq!(modified(&rig).len(), 240);
    assert_eq!(rig.reg(0x3210) & 1 << 30, 0);
}

#[test]
fn single_passes_and_intervals() {
    // 6.3.2.1: a pass for each request. 6.3.2.2: each so many refreshes, if something was modified.
    let rig = shown(&GM965);
    compress(&rig, 1 << 31 | 15 << 5);
    frame(&rig);
    assert_eq!(tag(&rig, 0), 0);
    rig.set(0x320c, 1);
    frame(&rig);
    assert_eq!(tag(&rig, 0), 3);
    let rig = shown(&GM965);
    compress(&rig, 1 << 31 | 1 << 30 | 3 << 16 | 15 << 5);
    for passes in [0, 0, 3] {
        frame(&rig);
        assert_eq!(tag(&rig, 0), passes);
    }
    // 6.7.3: only once so many pairs were modified (31:1, bit 0 says so).
    rig.set(0x3208, 0);
    rig.set(0x3220, 300 << 1 | 1);
    compress(&rig, CONTROL);
    frame(&rig);
    assert_eq!(tag(&rig, 0), 0, "240 pairs");
    rig.clean();
}

#[test]
fn pairs_of_noise_are_uncompressible() {
    // 6.8.1: both lines too long; with the enable bit they are not tried again until they are modified.
    for (enable, want) in [(1 << 14, 2), (0, 1)] {
        let rig = shown(&GM965);
        for y in 4..6 {
            for x in 0..WIDTH {
                paint(&rig, x, y, x.wrapping_mul(0x9e37_79b9));
            }
        }
        compress(&rig, CONTROL & !(1 << 14) | enable);
        frame(&rig);
        assert_eq!(tag(&rig, 2), want);
    }
}

#[test]
fn an_odd_first_line() {
    // 6.8.1: the first tag is then of the first line alone. 6.6.4: lengths begin at the offset's low six bits.
    let rig = shown(&GM965);
    picture(&rig);
    rig.set(0x7_01a4, 3 << 16);
    compress(&rig, CONTROL);
    frame(&rig);
    let want: Vec<u32> = (0..WIDTH)
        .map(|x| rig.at(place(x, 3)) & 0xff_ffff)
        .collect();
    assert_eq!(decode(&rig, 0, 3), want);
    // Line 5 of the surface is noise: the second of what is shown, behind the first pair.
    assert_eq!([0, 1, 2].map(|p| tag(&rig, p)), [3, 1, 3]);
}

#[test]
fn it_comes_to_rest_before_it_is_off() {
    // 6.3.1: the compressing bit stays until the pass has ended; MI_WAIT_FOR_EVENT bit 4 waits for that (1.21).
    let rig = shown(&GM965);
    compress(&rig, CONTROL);
    rig.gpu.clock().advance_to(FRAME);
    rig.reg(0x2030);
    assert_eq!(rig.reg(0x3210) >> 31, 1);
    rig.set(0x3208, CONTROL & !(1 << 31));
    assert_eq!(rig.reg(0x3210) >> 31, 1, "still at it");
    rig.clean();
    rig.run(RCS, &[0x0180_0010]);
    assert_eq!(rig.reg(0x3210) >> 31, 0);
    // What is frozen.
    rig.set(0x3208, CONTROL);
    rig.set(0x3200, LINES + 0x1000);
    assert_eq!(rig.gpu.lint_count(Rule::Compressor), 1);
}

#[test]
fn what_it_cannot_compress() {
    // 6.4: pitch 2 to 16 KB; 640 to 2048 pixels; 480 to 1536 lines; formats of 15, 16 and 32 bits.
    for (offset, value) in [
        (0x7_0188, 1024),
        (0x6_0000, 631),
        (0x6_000c, 805 << 16 | 400),
        (0x7_0180, 1 << 31 | 8 << 26 | 1 << 10),
    ] {
        let rig = shown(&GM965);
        rig.set(offset, value);
        compress(&rig, CONTROL);
        assert_eq!(rig.gpu.lint_count(Rule::Compressor), 1, "{offset:#x}");
    }
}

#[test]
fn gm45s_registers() {
    // 7.2: the enable bit counts from the next vertical blank; base, fence offset and all of the control but bit 31 and
    // the fence are frozen.
    let rig = shown(&GM45);
    rig.set(0x3200, 0x0123_4fff);
    assert_eq!(rig.reg(0x3200), 0x0123_4000, "27:12");
    rig.set(0x3208, 1 << 31 | 1 << 29 | 3);
    rig.set(0x3200, 0x1000);
    rig.clean();
    frame(&rig);
    rig.set(0x3200, 0x2000);
    rig.set(0x3218, 8);
    rig.set(0x3208, 1 << 31 | 1 << 29 | 1 << 6 | 3);
    assert_eq!(rig.gpu.lint_count(Rule::Compressor), 3);
    assert_eq!((rig.reg(0x3200), rig.reg(0x3218)), (0x1000, 0));
    assert_eq!(rig.reg(0x3208), 1 << 31 | 1 << 29 | 3);
    rig.set(0x3208, 1 << 31 | 4);
    assert_eq!(rig.gpu.lint_count(Rule::Compressor), 3);
    // 7.2.7: a write begins at line 0, a read goes on by two.
    rig.set(0x321c, 0);
    rig.reg(0x321c);
    rig.reg(0x321c);
    assert_eq!(rig.gpu.slb_line(), 4);
    // 7.2.9: bit 31 of the extra control alone.
    rig.set(0x3224, !0);
    assert_eq!(rig.reg(0x3224), 1 << 31);
}

#[test]
fn gm45_counts_what_is_drawn() {
    // 7.2.4: segments that were invalidated in the last frame, in 26:16. 7.1.2.2: a flip invalidates all, unless bit 27
    // forbids it. 7.2.3, 7.2.8: the watermark in 26:16 of 320Ch, bit 27, trips bit 6 of 3220h.
    let rig = shown(&GM45);
    rig.set(0x3208, 1 << 31);
    frame(&rig);
    let counted = |rig: &Rig| {
        frame(rig);
        rig.reg(0x3210) >> 16 & 0x7ff
    };
    assert_eq!(counted(&rig), 0);
    let mut blit = fill(SURFACE, PITCH / 4, (3, 9), (201, 204), 0x123456).to_vec();
    blit[0] |= 1 << 11;
    rig.run(RCS, &blit);
    assert_eq!(counted(&rig), 3);
    assert_eq!(rig.reg(0x3220), 0);
    rig.set(0x320c, 1 << 27 | 400 << 16);
    let flip = [0x0a00_0001, PITCH, SURFACE | 1];
    rig.run(RCS, &flip);
    assert_eq!(counted(&rig), 480);
    assert_eq!(rig.reg(0x3220), 1 << 6);
    rig.set(0x3220, 1 << 6);
    assert_eq!(rig.reg(0x3220), 0);
    rig.set(0x3208, 0);
    frame(&rig);
    rig.set(0x3208, 1 << 31 | 1 << 27);
    frame(&rig);
    rig.run(RCS, &flip);
    assert_eq!(counted(&rig), 0);
    rig.clean();
}
