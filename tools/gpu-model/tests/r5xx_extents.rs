// SPDX-License-Identifier: GPL-2.0 OR MIT
//! How far surfaces extend by other readings of their registers: an object that holds what the first reading touches
//! may be too small for the second. (R5xx guide §2.2, §2.3, §5.2.2; digest of 3D, §10.3, §12.5, §12.6, §13.6.)

use crate::r5xx_rig::{packet, type0, Rig};
use gpu_model::r5xx::{Access, Rule, Unit};

/// The destination's, or colour 0's, first byte.
const BASE: u64 = 0x10_0000;

/// Returns whether all accesses of a unit are in an object.
fn inside(all: &[Access], unit: Unit, object: std::ops::Range<u64>) -> bool {
    let mine = all.iter().filter(|a| a.unit == unit);
    mine.into_iter()
        .all(|a| object.start <= a.addr && a.end() <= object.end)
}

fn disputed(rig: &Rig) -> bool {
    rig.gpu.lint_count(Rule::Disputed) != 0
}

fn pair(high: i32, low: i32) -> u32 {
    (high as u32 & 0xffff) << 16 | (low as u32 & 0xffff)
}

/// Runs a program; what was accessed.
fn run(dwords: &[u32]) -> (Rig, Vec<Access>) {
    let rig = Rig::new();
    rig.gpu.take_accesses();
    rig.run_indirect(dwords);
    let (all, lost) = rig.gpu.take_accesses();
    assert_eq!(lost, 0);
    (rig, all)
}

/// Pitch 256, at 0x100000; a source of the same pitch at 0x300000.
const TO: u32 = 4 << 22 | 0x400;
const FROM: u32 = 4 << 22 | 0xc00;

/// PAINT_MULTI of one rectangle: destination given, clipped to (0, 0) to (8191, 8191), solid brush, 8888, PATCOPY.
fn paint((x, y): (i32, i32), (w, h): (i32, i32)) -> (Rig, Vec<Access>) {
    let settings = [0x50f0_36da, TO, 0, 0x1fff_1fff, 7];
    run(&packet(
        0x9a,
        &[&settings[..], &[pair(x, y), pair(w, h)]].concat(),
    ))
}

/// §5.2.2.7: y-coordinates range from -8192 to 8191. Of 8196 rows from 8191 on, the second is -8192, and those from
/// the 8194th on are 0, 1, 2. Row 8191 is at 8191 * 256 = 0x1FFF00.
#[test]
fn rows_past_8191_wrap() {
    let row = BASE + 0x1f_ff00;
    let (rig, all) = paint((3, 8191), (1, 8193));
    assert!(inside(&all, Unit::TwoD, row..row + 256));
    assert!(!disputed(&rig), "up to -1");
    let (rig, all) = paint((3, 8191), (1, 8196));
    assert!(!inside(&all, Unit::TwoD, row..row + 256));
    assert!(inside(&all, Unit::TwoD, BASE..row + 256));
    let wrapped = Access::write(Unit::TwoD, BASE + 12, 2 * 256 + 4);
    assert!(all.contains(&wrapped), "{all:x?}");
    assert!(disputed(&rig));
    assert_eq!(rig.at(BASE as u32 + 12), 0, "drawn as before");
}

/// So do columns. Of 8200 from 8190 on, the last six are 0 to 5.
#[test]
fn columns_past_8191_wrap() {
    let (rig, all) = paint((8190, 0), (8200, 2));
    let wrapped = Access::write(Unit::TwoD, BASE, 256 + 6 * 4);
    assert!(all.contains(&wrapped), "{all:x?}");
    assert!(disputed(&rig));
    let (rig, all) = paint((8180, 0), (11, 2));
    assert!(!all.contains(&wrapped));
    assert!(!disputed(&rig));
}

/// §5.2.2.9: the source's coordinates have the same range. Of 8196 columns from 8191 on, the last three are 0 to 2;
/// they go to 1 to 3.
#[test]
fn columns_of_a_source_wrap() {
    let copy = |w| {
        // BITBLT_MULTI: source and destination given, both clipped, no brush, 8888, SRCCOPY.
        let settings = [0x52cc_36ff, FROM, TO, 0x1fff_1fff, 0, 0x1fff_1fff];
        let blit = [pair(8191, 0), pair(-8192, 0), pair(w, 2)];
        run(&packet(0x9b, &[&settings[..], &blit].concat()))
    };
    let (rig, all) = copy(8196);
    assert!(
        all.contains(&Access::read(Unit::TwoD, 0x30_0000, 256 + 12)),
        "{all:x?}"
    );
    assert!(
        all.contains(&Access::write(Unit::TwoD, BASE + 4, 256 + 12)),
        "{all:x?}"
    );
    assert!(disputed(&rig));
    let (rig, all) = copy(8193);
    assert!(inside(&all, Unit::TwoD, 0..0), "{all:x?}");
    assert!(!disputed(&rig));
}

fn write(at: u32, values: &[u32]) -> Vec<u32> {
    [&[type0(at, values.len() as u32)], values].concat()
}

/// A vertex is drawn, with a scissor from (0, 0) to these corners, both inside.
fn draw((x1, y1): (u32, u32), state: &[Vec<u32>]) -> (Rig, Vec<Access>) {
    let end = [
        write(0x43e0, &[0, y1 << 13 | x1]),
        write(0x20b4, &[1]),
        packet(0x35, &[1 << 16 | 3 << 4 | 4, 0]),
    ];
    run(&[state.concat(), end.concat()].concat())
}

/// Colour 0 with a value of RB3D_COLORPITCH0; all channels are written.
fn colour(pitch: u32) -> Vec<u32> {
    let all = [
        write(0x4e28, &[BASE as u32]),
        write(0x4e38, &[pitch]),
        write(0x4e0c, &[15]),
    ];
    all.concat()
}

/// Depth that is tested and written, by ZB_FORMAT and ZB_DEPTHPITCH.
fn depth(format: u32, pitch: u32) -> Vec<u32> {
    let all = [
        write(0x4f00, &[6]),
        write(0x4f10, &[format]),
        write(0x4f20, &[BASE as u32, pitch]),
    ];
    all.concat()
}

const MACRO_MICRO: u32 = 3 << 16;
/// GB_AA_CONFIG: on, of four samples.
fn four() -> Vec<u32> {
    write(0x4020, &[1 | 2 << 1])
}

/// Digest of 3D, §12.5: samples are "always macro+micro tiled". 64 by 20 pixels of 32 bits and four samples are
/// 20 * 256 * 4 bytes in rows; macro tiles have 16 rows (§2.3), so in tiles 32 rows are there.
#[test]
fn samples_are_in_tiles_whatever_the_tile_bits_say() {
    let (rows, tiles) = (BASE + 20 * 256 * 4, BASE + 32 * 256 * 4);
    let (rig, all) = draw((63, 19), &[colour(6 << 21 | 64), four()]);
    assert!(!inside(&all, Unit::Color, BASE..rows));
    assert!(inside(&all, Unit::Color, BASE..tiles));
    assert!(disputed(&rig));
    let (rig, all) = draw((63, 19), &[colour(6 << 21 | 64)]);
    assert!(
        inside(&all, Unit::Color, BASE..BASE + 20 * 256),
        "one sample"
    );
    assert!(!disputed(&rig));
    let (rig, all) = draw((63, 19), &[colour(6 << 21 | MACRO_MICRO | 64), four()]);
    assert!(inside(&all, Unit::Color, BASE..tiles));
    assert!(!disputed(&rig));
    // A pitch of 40 pixels is rounded up to 64: macro tiles are 32 wide.
    let (_, all) = draw((39, 15), &[colour(6 << 21 | 40), four()]);
    assert!(!inside(&all, Unit::Color, BASE..BASE + 16 * 160 * 4));
    assert!(inside(&all, Unit::Color, BASE..BASE + 16 * 256 * 4));
}

/// The same of depth, 24 bits; of 16 bits macro tiles of 4 x 4 blocks are 32 by 32 (§2.2, §2.3).
#[test]
fn samples_of_depth_are_in_tiles() {
    for (format, bytes, rows) in [(2, 4, 32), (0, 2, 32)] {
        let (rig, all) = draw((63, 19), &[depth(format, 64), four()]);
        assert!(!inside(&all, Unit::Depth, BASE..BASE + 20 * 64 * bytes * 4));
        let tiles = BASE..BASE + rows * 64 * bytes * 4;
        assert!(inside(&all, Unit::Depth, tiles), "{bytes}");
        assert!(disputed(&rig));
    }
}

/// Digest of 3D, §13.6: the "tile bits of COLORPITCH0 describe the destination", so a resolve to rows reads tiles.
#[test]
fn the_source_of_a_resolve_is_in_tiles() {
    let resolve = [write(0x4e80, &[0x40_0000, 64, 5]), four()].concat();
    for (tiles, says) in [(0, true), (MACRO_MICRO, false)] {
        let (rig, all) = draw((63, 3), &[colour(6 << 21 | tiles | 64), resolve.clone()]);
        assert!(!inside(&all, Unit::Color, BASE..BASE + 4 * 256 * 4));
        assert!(inside(&all, Unit::Color, BASE..BASE + 16 * 256 * 4));
        assert!(inside(&all, Unit::Resolve, 0x40_0000..0x40_0400));
        assert_eq!(disputed(&rig), says);
    }
}

/// §2.2: 16-bit pixels in 8 x 2 blocks are "supported by: tx/cb/hdp/disp", in 4 x 4 blocks by "tx/cb/zb/hdp". §2.3:
/// macro tiles are 64 x 16 or 32 x 32 pixels. 128 bytes a row.
#[test]
fn depth_of_16_bits_in_blocks_of_8_by_2() {
    let pitch = |micro: u32| 1 << 16 | micro << 17 | 64;
    let (rig, all) = draw((63, 15), &[depth(0, pitch(1))]);
    assert!(!inside(&all, Unit::Depth, BASE..BASE + 16 * 128));
    assert!(inside(&all, Unit::Depth, BASE..BASE + 32 * 128));
    assert!(disputed(&rig));
    // Without macro tiles: six rows are two of 4 x 4 blocks.
    let (_, all) = draw((63, 5), &[depth(0, 1 << 17 | 64)]);
    assert!(!inside(&all, Unit::Depth, BASE..BASE + 6 * 128));
    assert!(inside(&all, Unit::Depth, BASE..BASE + 8 * 128));
    let (rig, all) = draw((63, 15), &[depth(0, pitch(2))]);
    assert!(inside(&all, Unit::Depth, BASE..BASE + 32 * 128));
    assert!(!disputed(&rig));
}

/// Digest of 3D, §12.6: a clear of depth and colour writes "every covered px of its buffer without reading (whole
/// micro-tiles)". Rows of 256 bytes; (9, 9) ends a block of 8 x 8 at (15, 15).
#[test]
fn cleared_pixels_are_whole_blocks() {
    let clear = |bit: u32| write(0x4f1c, &[bit << 5]);
    // In rows, then in blocks of 4 x 2, of which a row of 16 has 512 bytes.
    for (tiles, exact, blocks) in [
        (0, 9 * 256 + 40, 15 * 256 + 64),
        (1 << 17, 4 * 512 + 3 * 32, 7 * 512 + 4 * 32),
    ] {
        let (rig, all) = draw((9, 9), &[depth(2, tiles | 64), clear(0)]);
        assert!(inside(&all, Unit::Depth, BASE..BASE + exact), "{all:x?}");
        assert!(!disputed(&rig));
        let (rig, all) = draw((9, 9), &[depth(2, tiles | 64), clear(1)]);
        assert!(!inside(&all, Unit::Depth, BASE..BASE + exact));
        assert!(inside(&all, Unit::Depth, BASE..BASE + blocks), "{all:x?}");
        assert!(disputed(&rig));
    }
    // As user space clears: in macro tiles, of which blocks are a part.
    let (rig, all) = draw((9, 9), &[depth(2, MACRO_MICRO | 64), clear(1)]);
    assert!(inside(&all, Unit::Depth, BASE..BASE + 2048));
    assert!(!disputed(&rig));
}

const TEXTURE: u64 = 0x20_0000;

/// Unit 0: S by TX_FILTER0 2:0, pixels of 32 bits, so many texels, levels, and a pitch.
fn texture(wrap: u32, (width, height): (u32, u32), levels: u32, pitch: u32) -> (Rig, Vec<Access>) {
    let size = (width - 1) | (height - 1) << 11 | (levels - 1) << 26 | 1 << 31;
    let state = [
        write(0x4104, &[1]),
        write(0x4400, &[wrap]),
        write(0x4480, &[size]),
        write(0x44c0, &[0xc]),
        write(0x4500, &[pitch - 1]),
        write(0x4540, &[TEXTURE as u32]),
    ];
    draw((0, 0), &state)
}

/// Digest of 3D, §10.3: with PITCH_EN there is "only level 0". 64 by 64, 32 by 32, 16 by 16 texels, at a pitch of 64.
#[test]
fn levels_may_have_one_pitch() {
    let halved = (64 * 64 + 32 * 32 + 16 * 16) * 4;
    let same = (64 + 32 + 16) * 64 * 4;
    let (rig, all) = texture(2, (64, 64), 3, 64);
    assert!(!inside(&all, Unit::Texture, TEXTURE..TEXTURE + halved));
    assert!(inside(&all, Unit::Texture, TEXTURE..TEXTURE + same));
    assert!(disputed(&rig));
    let (rig, all) = texture(2, (64, 64), 1, 64);
    assert!(inside(&all, Unit::Texture, TEXTURE..TEXTURE + 64 * 64 * 4));
    assert!(!disputed(&rig));
}

/// Digest of 3D, §10.4: code 0 repeats, "only with POT". 48 texels at a pitch of 48: on the next power of two, the last
/// row ends at 64.
#[test]
fn a_width_may_repeat_on_the_next_power_of_two() {
    let rows = TEXTURE..TEXTURE + 8 * 48 * 4;
    let more = TEXTURE..TEXTURE + (7 * 48 + 64) * 4;
    for (wrap, repeats) in [(0, true), (1, true), (2, false), (6, false)] {
        let (rig, all) = texture(wrap, (48, 8), 1, 48);
        assert_eq!(
            inside(&all, Unit::Texture, rows.clone()),
            !repeats,
            "{wrap}"
        );
        assert!(inside(&all, Unit::Texture, more.clone()), "{wrap}");
        assert_eq!(disputed(&rig), repeats, "{wrap}");
    }
    // The pitch has room for it.
    let (rig, all) = texture(0, (48, 8), 1, 64);
    assert!(inside(&all, Unit::Texture, TEXTURE..TEXTURE + 8 * 64 * 4));
    assert!(!disputed(&rig));
}
