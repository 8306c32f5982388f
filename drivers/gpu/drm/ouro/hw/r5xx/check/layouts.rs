// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Tests of how targets and textures lie in memory: more of the streams of `holes`.

use super::{
    holes::{draw, texture},
    tests::*,
};

/// §2.2: of the blocks of 16 bits per pixel "4x4" is supported by "tx/cb/zb/hdp", "8x2" by
/// "tx/cb/hdp/disp".
#[test]
fn weakness_27_depth_of_16_bits_has_no_blocks_of_8_by_2() {
    // A row of 128 pixels. Format 0 and 1 have two bytes; 2 has four, whose blocks pass.
    let depth = |format: u32, fields: u32| {
        let stream = new().set(0x43e4, &[63]).set(0x4f00, &[6]);
        let stream = stream.set(0x4f10, &[format]).set(0x4f20, &[0]).object(0);
        let stream = stream.set(0x4f24, &[128 | fields << 16]).and(draw());
        stream.refusal(&[TARGET, 48])
    };
    // 16: macro tiles; 18:17: 1 blocks of 8 by 2, 2 of 4 by 4.
    for format in [0, 1] {
        for (fields, passes) in [
            (0, true),
            (1, true),
            (2, false),
            (3, false),
            (4, true),
            (5, true),
        ] {
            let expected = (!passes).then_some("tiling");
            assert_eq!(depth(format, fields), expected, "{format} {fields}");
        }
    }
    assert_eq!([depth(2, 2), depth(2, 3)], [None, None]);
    // A colour target has both.
    for fields in [2, 4] {
        let stream = target().set(0x4e38, &[4 << 21 | fields << 16 | 64]);
        assert_eq!(stream.and(draw()).refusal(&[TARGET, 48]), None, "{fields}");
    }
}

/// Digest of 3D §10.3: with a pitch "only level 0".
#[test]
fn weakness_28_a_texture_with_a_pitch_has_one_level() {
    // 64 by 64 of four bytes, pitch 64; 31 is whether the pitch is used.
    let by_pitch = |filter: u32, levels: u32| {
        let registers = new().set(0x4500, &[63]).and(texture(0, filter, levels));
        // The last write of the size is that of `texture`, so it is written again.
        let size = 1 << 31 | levels << 26 | 63 << 11 | 63;
        let stream = registers.set(0x4480, &[size]).and(list(3));
        stream.refusal(&[1 << 20, 48])
    };
    for level in 0..16 {
        let expected = (level != 0).then_some("texture");
        assert_eq!(by_pitch(0, level), expected, "{level}");
        assert_eq!(by_pitch(level << 17, 0), expected, "{level}");
        // Without a pitch there are levels.
        assert_eq!(texture(0, level << 17, level).refusal(&[1 << 20, 48]), None);
    }
}

/// Digest §5.7: a wrap mode that does not clamp reaches the next power of two; clamping ones are 2,
/// 4 and 6 (digest of 3D §10.4).
#[test]
fn weakness_28_a_pitch_holds_what_a_wrap_mode_reaches() {
    for wrap in 0..8 {
        let clamps = matches!(wrap, 2 | 4 | 6);
        for (width, pitch, passes) in [
            (1032, 1032, clamps),
            (1032, 2047, clamps),
            (1032, 2048, true),
            (1024, 1024, true),
            (1024, 1023, false),
        ] {
            // 16 bytes a texel, so that a row ends with the pitch.
            let stream = new()
                .set(0x4400, &[2 << 3 | wrap])
                .set(0x4480, &[1 << 31 | 63 << 11 | (width - 1)])
                .set(0x44c0, &[0x1d])
                .set(0x4500, &[pitch - 1])
                .set(0x4540, &[0])
                .object(0)
                .set(0x4104, &[1])
                .and(draw());
            let expected = (!passes).then_some("texture");
            let refusal = stream.refusal(&[1 << 24, 48]);
            assert_eq!(refusal, expected, "{wrap} {width} {pitch}");
        }
    }
}

/// Digest of 3D §12.6: such clears are of "macro-tiled" targets; depth has the bits of colour.
#[test]
fn weakness_30_what_clears_colour_along_with_depth_has_macro_tiles() {
    // 64 by 64 pixels of four bytes, colour and depth.
    let clear = |colour: u32, depth: u32, bandwidth: u32| {
        let stream = target().set(0x4e38, &[6 << 21 | colour << 16 | 64]);
        let stream = stream
            .set(0x4f1c, &[bandwidth])
            .set(0x4f10, &[2])
            .set(0x4f00, &[2]);
        let stream = stream.set(0x4f20, &[0]).object(2);
        let stream = stream.set(0x4f24, &[depth << 16 | 64]).and(draw());
        stream.refusal(&[TARGET, 48, TARGET])
    };
    // 16: macro tiles; 17: blocks.
    for colour in 0..4 {
        for depth in 0..4 {
            let refused = colour & 1 == 0 || depth & 1 == 0;
            let expected = refused.then_some("tiling");
            assert_eq!(clear(colour, depth, 1 << 5), expected, "{colour} {depth}");
            assert_eq!(clear(colour, depth, 0), None, "{colour} {depth}");
        }
    }
}

/// Digest of 3D §10.3: six faces, of one size for both sides.
#[test]
fn weakness_31_cubes_have_square_faces() {
    let sides = |kind: u32, width: u32, height: u32| {
        let (w, h) = (width - 1, height - 1);
        let stream = new()
            .set(0x4400, &[2 << 3 | 2])
            .set(0x4480, &[(h & 0x7ff) << 11 | w & 0x7ff])
            .set(0x44c0, &[0xc | kind << 25])
            .set(0x4500, &[(h >> 11) << 16 | (w >> 11) << 15])
            .set(0x4540, &[0])
            .object(0)
            .set(0x4104, &[1]);
        stream.and(draw()).refusal(&[1 << 30, 48])
    };
    for width in [1, 2, 16, 20, 2048, 4096] {
        for height in [1, 2, 16, 20, 2048, 4096] {
            let expected = (width != height).then_some("texture");
            assert_eq!(sides(2, width, height), expected, "{width} {height}");
            assert_eq!(sides(0, width, height), None, "{width} {height}");
        }
    }
}

/// A texture that clamps, in object 0: kind 0 flat, 1 deep, 2 a cube.
fn of_kind(kind: u32, format: u32, size: u32, pitch: u32) -> Stream {
    let stream = new().set(0x4400, &[2 << 3 | 2]).set(0x4480, &[size]);
    let stream = stream.set(0x44c0, &[format | kind << 25]);
    let stream = stream.set(0x4500, &[pitch]).set(0x4540, &[0]).object(0);
    stream.set(0x4104, &[1]).and(draw())
}

/// Digest of 3D §10.7: "on real cards cube maps of NPOT size sample past the end".
#[test]
fn weakness_32_layers_are_as_far_apart_as_powers_of_two() {
    const BY_PITCH: u32 = 1 << 31;
    // Sixteen bytes a texel.
    let needs = |kind: u32, size: u32, pitch: u32, bytes: u64| {
        let stream = of_kind(kind, 0x1d, BY_PITCH | size, pitch - 1);
        assert_eq!(stream.refusal(&[bytes, 48]), None, "{kind} {pitch}");
        let refused = stream.refusal(&[bytes - 1, 48]);
        assert_eq!(refused, Some("texture"), "{kind} {pitch}");
    };
    // 1025 by 1025 with a pitch of 1026 texels, and of more than the next power of two.
    let size = 1024 << 11 | 1024;
    needs(2, size, 1026, 6 * 2048 * 2048 * 16);
    needs(2, size, 2050, 6 * 2050 * 2048 * 16);
    // Four slices of 20 by 20.
    let size = 2 << 22 | 19 << 11 | 19;
    needs(1, size, 20, 4 * 32 * 32 * 16);
    // One layer has its own columns and rows.
    needs(0, 19 << 11 | 19, 20, 20 * 20 * 16);
    needs(1, 19 << 11 | 19, 20, 20 * 20 * 16);
}

/// Digest of 3D §10.3: clients round the rows of each level up to a power of two. No source says
/// that the chip does not halve the rounded rows of the first level, which are more.
#[test]
fn weakness_33_levels_have_halves_of_rounded_heights() {
    // 2048 by 1025 of sixteen bytes: 1025 are 2048 rows, of which the halves are 1024 and 512.
    let stream = of_kind(0, 0x1d, 2 << 26 | 1024 << 11 | 2047, 0);
    let bytes = (2048 * 2048 + 1024 * 1024 + 512 * 512) * 16;
    assert_eq!(stream.refusal(&[bytes, 48]), None);
    assert_eq!(stream.refusal(&[bytes - 1, 48]), Some("texture"));
    // One level has its own rows.
    let stream = of_kind(0, 0x1d, 1024 << 11 | 2047, 0);
    assert_eq!(stream.refusal(&[2048 * 1025 * 16, 48]), None);
}

/// Digest of 3D §10.1: 25:22 of the size is the "log2 depth" of a deep texture.
#[test]
fn only_deep_textures_have_a_depth() {
    for depth in 0..16 {
        for (kind, passes) in [(0, depth == 0), (1, depth < 12), (2, depth == 0)] {
            let stream = of_kind(kind, 0xc, depth << 22 | 3 << 11 | 3, 0);
            let expected = (!passes).then_some("texture");
            let refusal = stream.refusal(&[128 << 11, 48]);
            assert_eq!(refusal, expected, "{kind} {depth}");
        }
    }
}

/// Digest of 3D §10.3: rows of compressed blocks are "aligned to 32" bytes; no tiles are
/// documented.
#[test]
fn compressed_textures_have_no_tiles() {
    for (format, more, is_compressed) in [
        (0x0f, 0, true),
        (0x10, 0, true),
        (0x11, 0, true),
        (0x1f, 0, true),
        // ATI1N.
        (0x05, 1 << 14, true),
        (0x0c, 0, false),
    ] {
        for tiles in 0..4 {
            let stream = of_kind(0, format, 63 << 11 | 63, more);
            let stream = stream.set(0x4540, &[tiles << 2]).object(0).and(list(3));
            let refused = is_compressed && tiles != 0;
            let refusal = stream.refusal(&[1 << 20, 48]);
            assert_eq!(refusal, refused.then_some("tiling"), "{format:x} {tiles}");
        }
    }
}

/// Mesa's r300 asks for an occlusion query without a depth target with the colour target's BO as
/// one: 16 bits, four columns, blocks of 4 by 4, a test that always passes.
#[test]
fn depth_of_four_columns_does_not_narrow_a_draw() {
    // 800 by 600 pixels of four bytes.
    const BYTES: u64 = 800 * 600 * 4;
    let corner = 599 << 13 | 799;
    let stream = |depth: u32, bandwidth: u32| {
        let stream = new().set(0x43e4, &[corner]).set(0x4e0c, &[0xf]);
        let stream = stream.set(0x4e28, &[0]).object(0);
        let stream = stream.set(0x4e38, &[6 << 21 | 1 << 16 | 832]);
        let stream = stream.set(0x4f1c, &[bandwidth]).set(0x4f00, &[2, 7, 0]);
        let stream = stream.set(0x4f10, &[0]).set(0x4f20, &[0]).object(2);
        let stream = stream.set(0x4f24, &[depth]).set(0x4f58, &[0]);
        stream.and(draw())
    };
    let copied = |stream: Stream, depth: u64| {
        let copy = stream.check(&objects(&[832 * 600 * 4, 48, depth]));
        copy.map(|copy| copy[1] & 0x1fff)
    };
    assert_eq!(copied(stream(2 << 17 | 4, 0), BYTES), Ok(799));
    // §2.2: blocks of 32 bytes, one in a row: the last one is number 149 of rows and 199 of
    // columns.
    assert_eq!(copied(stream(2 << 17 | 4, 0), (149 + 200) * 32), Ok(799));
    // Without that the scissor ends with the pitch, as long as the rows are there.
    assert_eq!(copied(stream(2 << 17 | 4, 0), (149 + 200) * 32 - 1), Ok(3));
    assert_eq!(copied(stream(2 << 17 | 4, 0), 150 * 32), Ok(3));
    assert!(copied(stream(2 << 17 | 4, 0), 150 * 32 - 1).is_err());
    // A clear of colour along with depth ends with the smaller pitch.
    let clears = stream(5 << 16 | 32, 1 << 5);
    assert_eq!(copied(clears, BYTES), Ok(31));
    // With multisampling, columns count by the tiles that samples may have: of two bytes 64 by 16
    // and 32 by 32, of which the rows reach 38 and 19, the columns 13 and 25.
    let samples = new().set(0x4020, &[1]).and(stream(2 << 17 | 4, 0));
    let of = |depth: u64| {
        let copy = samples.check(&objects(&[832 * 608 * 4 * 2, 48, depth]));
        copy.map(|copy| copy[3] & 0x1fff)
    };
    assert_eq!(of((37 + 13) * 2048 * 2), Ok(799));
    assert_eq!(of((37 + 13) * 2048 * 2 - 1), Ok(3));
}
