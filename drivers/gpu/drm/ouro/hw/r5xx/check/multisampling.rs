// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Tests of surfaces with several samples of each pixel: more of the streams of `holes`.
//!
//! Sections are those of the digest of 3D; sizes of blocks and tiles are those of §2.2 and §2.3 of
//! the document.

use super::{holes::draw, tests::*};

/// `GB_AA_CONFIG`: six samples; two; six, but off.
const SIX: u32 = 7;
const TWO: u32 = 1;
const OFF: u32 = 6;
/// `RB3D_COLORPITCH`: pixels of four bytes, of two, of eight and of sixteen.
const FOUR_BYTES: u32 = 6 << 21;
const TWO_BYTES: u32 = 4 << 21;
const EIGHT_BYTES: u32 = 10 << 21;
const SIXTEEN_BYTES: u32 = 7 << 21;
/// Macro tiles, and blocks of both kinds.
const MACRO: u32 = 1 << 16;
const BLOCKS: u32 = 1 << 17;
const SQUARES: u32 = 2 << 17;

/// A scissor of so many rows, and of all columns.
fn rows(n: u32) -> Stream {
    new().set(0x43e4, &[(n - 1) << 13 | 0x1fff])
}

/// A colour target in object 0, from an offset on.
fn colour(config: u32, offset: u32, pitch: u32) -> Stream {
    new()
        .set(0x4020, &[config])
        .set(0x4e0c, &[0xf])
        .set(0x4e28, &[offset])
        .object(0)
        .set(0x4e38, &[pitch])
}

/// A depth target in object 0.
fn depth(config: u32, format: u32, pitch: u32) -> Stream {
    new()
        .set(0x4020, &[config])
        .set(0x4f00, &[6])
        .set(0x4f10, &[format])
        .set(0x4f20, &[0])
        .object(0)
        .set(0x4f24, &[pitch])
}

fn needs(stream: &Stream, bytes: u64, rule: &str) {
    assert_eq!(stream.refusal(&[bytes, 48]), None, "{bytes}");
    assert_eq!(stream.refusal(&[bytes - 1, 48]), Some(rule), "{bytes}");
}

/// §12.5: samples are "always macro+micro tiled".
#[test]
fn weakness_25_samples_have_tiles_whatever_the_bits_say() {
    // One row of 1024 pixels of four bytes: macro tiles of 32 by 16.
    for bits in [0, MACRO, BLOCKS, MACRO | BLOCKS] {
        let stream = rows(1)
            .and(colour(SIX, 0, FOUR_BYTES | 1024 | bits))
            .and(draw());
        needs(&stream, 1024 * 16 * 4 * 6, "colour-target");
    }
    let off = rows(1).and(colour(OFF, 0, FOUR_BYTES | 1024)).and(draw());
    needs(&off, 1024 * 4, "colour-target");
    // Of eight bytes: 16 by 16. Sixteen bytes have no blocks.
    let stream = rows(17).and(colour(TWO, 0, EIGHT_BYTES | 64)).and(draw());
    needs(&stream, 64 * 32 * 8 * 2, "colour-target");
    let stream = rows(1).and(colour(TWO, 0, SIXTEEN_BYTES | 64)).and(draw());
    assert_eq!(stream.refusal(&[1 << 24, 48]), Some("tiling"));
    // Of two bytes: 64 by 16, or 32 by 32.
    for bits in [0, MACRO | BLOCKS, MACRO | SQUARES] {
        let stream = rows(1)
            .and(colour(TWO, 0, TWO_BYTES | 128 | bits))
            .and(draw());
        needs(&stream, 128 * 32 * 2 * 2, "colour-target");
    }
    // Depth of four bytes, and of two.
    let stream = rows(1).and(depth(SIX, 2, 256)).and(draw());
    needs(&stream, 256 * 16 * 4 * 6, "depth-target");
    let stream = rows(1).and(depth(SIX, 0, 256 | MACRO | BLOCKS)).and(draw());
    needs(&stream, 256 * 32 * 2 * 6, "depth-target");
}

/// The pitch counts up to whole macro tiles; the rows by the bits count if they are more.
#[test]
fn weakness_25_the_larger_layout_counts() {
    // 40 pixels of four bytes are two tiles of 32.
    let stream = rows(1).and(colour(TWO, 0, FOUR_BYTES | 40)).and(draw());
    needs(&stream, 64 * 16 * 4 * 2, "colour-target");
    // Macro tiles of rows of 32 bytes have 8 rows: of 17 rows, 24; with blocks, 32.
    let stream = rows(17)
        .and(colour(TWO, 0, FOUR_BYTES | 64 | MACRO))
        .and(draw());
    needs(&stream, 64 * 32 * 4 * 2, "colour-target");
    // By the bits there must be whole tiles.
    let stream = rows(1)
        .and(colour(TWO, 0, FOUR_BYTES | 40 | MACRO))
        .and(draw());
    assert_eq!(stream.refusal(&[1 << 24, 48]), Some("tiling"));
}

/// §2.3 of the document: macro tiles are aligned to 2 KiB.
#[test]
fn weakness_25_samples_are_aligned_to_macro_tiles() {
    for (config, offset, refusal) in [
        (SIX, 1024, Some("colour-target")),
        (SIX, 2048, None),
        (OFF, 1024, None),
    ] {
        let stream = rows(1)
            .and(colour(config, offset, FOUR_BYTES | 64))
            .and(draw());
        assert_eq!(stream.refusal(&[1 << 20, 48]), refusal, "{config} {offset}");
    }
}

/// §13.6: the tile bits of the source describe the destination, and `GB_AA_CONFIG` "stays at the
/// source's count".
#[test]
fn weakness_25_a_resolve_reads_tiles_and_writes_what_the_bits_say() {
    let resolve = |config: u32, bits: u32| {
        let stream = rows(1).and(colour(config, 0, FOUR_BYTES | 64 | bits));
        let stream = stream.set(0x4e80, &[0]).object(2).set(0x4e84, &[64]);
        stream.set(0x4e88, &[1]).and(draw())
    };
    // One row of 64 pixels, or a row of tiles.
    for (bits, bytes) in [(0, 64 * 4), (MACRO | BLOCKS, 64 * 16 * 4)] {
        let samples = 64 * 16 * 4 * 6;
        let refused = |source, to| resolve(SIX, bits).refusal(&[source, 48, to]);
        assert_eq!(refused(samples, bytes), None);
        assert_eq!(refused(samples - 1, bytes), Some("colour-target"));
        assert_eq!(refused(samples, bytes - 1), Some("resolve-target"));
        // Not without multisampling.
        let off = resolve(OFF, bits).refusal(&[1 << 20, 48, 1 << 20]);
        assert_eq!(off, Some("resolve-target"));
    }
}

/// Mesa's `r300_texture_desc_init` lowers the number of samples of wider targets, because of an
/// error of the chip: wider than 1360 pixels of eight bytes with six samples, than 2048 of them
/// with four, than 2720 of four bytes with six.
#[test]
fn weakness_29_rows_of_samples_are_no_wider_than_the_chip_can_address() {
    const FOUR: u32 = 5;
    for (config, format, widest, tile) in [
        (SIX, EIGHT_BYTES, 1360, 16),
        (FOUR, EIGHT_BYTES, 2048, 16),
        (TWO, EIGHT_BYTES, 4096, 16),
        (SIX, FOUR_BYTES, 2720, 32),
        (FOUR, FOUR_BYTES, 4096, 32),
        (TWO, FOUR_BYTES, 8192, 32),
    ] {
        let refusal = |pitch: u32| {
            let stream = rows(1).and(colour(config, 0, format | pitch));
            stream.and(draw()).refusal(&[1 << 24, 48])
        };
        assert_eq!(refusal(widest), None, "{config} {widest}");
        // A pitch of no whole tile counts up to the next one.
        for more in [8, tile, 2 * tile] {
            assert_eq!(
                refusal(widest + more),
                Some("colour-target"),
                "{config} {widest}"
            );
        }
        // Without multisampling all pitches pass.
        let single = rows(1)
            .and(colour(OFF, 0, format | (widest + tile)))
            .and(draw());
        assert_eq!(single.refusal(&[1 << 24, 48]), None, "{widest}");
    }
    // Depth has no such limit.
    let stream = rows(1).and(depth(SIX, 2, 4096)).and(draw());
    assert_eq!(stream.refusal(&[1 << 24, 48]), None);
}

/// The same length: 4096 pixels (the widest target) of sixteen bytes.
#[test]
fn weakness_29_nor_is_a_row_of_pixels() {
    for (format, widest) in [
        (SIXTEEN_BYTES, 4096),
        (EIGHT_BYTES, 8192),
        (FOUR_BYTES, 0x3ff8),
    ] {
        let refusal = |pitch: u32| {
            let stream = rows(1).and(colour(OFF, 0, format | pitch));
            stream.and(draw()).refusal(&[1 << 24, 48])
        };
        assert_eq!(refusal(widest), None, "{widest}");
        if widest < 0x3ff8 {
            assert_eq!(refusal(widest + 8), Some("colour-target"), "{widest}");
        }
    }
    let longest = rows(1).and(colour(OFF, 0, SIXTEEN_BYTES | 0x3ff0));
    let refusal = longest.and(draw()).refusal(&[1 << 24, 48]);
    assert_eq!(refusal, Some("colour-target"));
}

/// §13.6: the tile bits of the source describe the destination. 800 pixels are no whole macro tiles
/// of rows of 32 bytes, which have 64 pixels of four bytes.
#[test]
fn a_resolves_source_has_no_tiles_of_the_destination() {
    const FOUR: u32 = 5;
    let source = |pitch: u32| rows(600).and(colour(FOUR, 0, FOUR_BYTES | MACRO | pitch));
    let resolve = |pitch: u32, to: u32| {
        let stream = source(pitch).set(0x4e80, &[0]).object(2);
        stream.set(0x4e84, &[to]).set(0x4e88, &[1]).and(draw())
    };
    let (samples, to) = (832 * 608 * 4 * 4, 832 * 600 * 4);
    assert_eq!(resolve(800, 832).refusal(&[samples, 48, to]), None);
    let less = resolve(800, 832).refusal(&[samples, 48, to - 1]);
    assert_eq!(less, Some("resolve-target"));
    // The source counts by the larger layout: 13 by 75 tiles of 64 by 8, or 25 by 38 of 32 by 16.
    let most = u64::max(832 * 600, 800 * 608) * 4 * 4;
    assert_eq!(resolve(800, 832).refusal(&[most, 48, to]), None);
    let less = resolve(800, 832).refusal(&[most - 1, 48, to]);
    assert_eq!(less, Some("colour-target"));
    // The destination, and a target that is drawn, have whole tiles.
    let refusal = resolve(800, 800).refusal(&[samples, 48, 1 << 24]);
    assert_eq!(refusal, Some("tiling"));
    let refusal = source(800).and(draw()).refusal(&[1 << 24, 48]);
    assert_eq!(refusal, Some("tiling"));
    // A pitch of zero bounds no column: nothing may be drawn, whatever room there is.
    let refusal = resolve(0, 832).refusal(&[1 << 24, 48, 1 << 24]);
    assert_eq!(refusal, Some("tiling"));
}

/// Digest of 3D §7.2: "0/1/2/3" are 2, 3, 4, 6 samples. No source says how three of them lie in
/// memory (§12.5: "nowhere documented").
#[test]
fn weakness_34_three_samples_have_no_layout() {
    for config in 0..8 {
        let refused = rows(1).and(colour(config, 0, FOUR_BYTES | 64)).and(draw());
        let expected = (config == 3).then_some("colour-target");
        assert_eq!(refused.refusal(&[1 << 20, 48]), expected, "{config}");
        let refused = rows(1).and(depth(config, 2, 64)).and(draw());
        assert_eq!(refused.refusal(&[1 << 20, 48]), expected, "{config}");
    }
}
