// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Streams that an earlier version of this checker accepted, and that access memory outside their
//! BOs, hang the chip, or affect the next client, on the chips concerned. `weakness_15_…` to
//! `weakness_34_…` continue the list of another checker's weaknesses (digest §5.7; `tests`). That
//! checker has number 15, too. Those of multisampling are in `multisampling`, and
//! others of targets and textures in `layouts`.

use super::{registers, tests::*, *};
use std::{vec, vec::Vec};

/// A scissor of 8192 rows of 64 columns, and of 64.
const TALL: u32 = 0x1fff << 13 | 63;
const SHORT: u32 = 63 << 13 | 63;

/// A draw that needs [`TARGET`] and 48 bytes.
pub(super) fn draw() -> Stream {
    array().and(list(3))
}

/// AMD's page of `ZB_ZPASS_ADDR`: `SU_REG_DEST` selects the pipes that later writes reach.
#[test]
fn weakness_15_no_write_passes_that_some_pipes_do_not_see() {
    let both = [TARGET, 48];
    let refused = |stream: Stream| stream.refusal(&both);
    assert_eq!(refused(target().and(draw())), None);
    for mask in [0, 1, 2, 7, 0xe] {
        let masks = |stream: Stream| new().set(0x42c8, &[mask]).and(stream);
        // A scissor that some pipes do not see, an address, a draw, the end.
        let tall = new().set(0x43e4, &[TALL]);
        let hidden = masks(new().set(0x43e4, &[SHORT])).set(0x42c8, &[0xf]);
        assert_eq!(
            refused(tall.and(hidden).and(target()).and(draw())),
            Some("pipe-mask")
        );
        let hidden = masks(target()).set(0x42c8, &[0xf]);
        assert_eq!(refused(hidden.and(draw())), Some("pipe-mask"));
        let drawn = target().and(masks(draw())).set(0x42c8, &[0xf]);
        assert_eq!(refused(drawn), Some("pipe-mask"));
        let ends = target().and(draw()).and(masks(new()));
        assert_eq!(refused(ends.clone()), Some("pipe-mask"));
        assert_eq!(ends.check(&objects(&both)), Err(ends.0.len()));
        // Not even in the packet that sets it.
        let one = new().set(0x42c4, &[0, mask, 0]);
        assert_eq!(refused(one.set(0x42c8, &[0xf])), Some("pipe-mask"));
        // The registers of a query pass, with fillers and `NOP`s.
        let asks = masks(new()).set(0x4f58, &[0]).set(0x4f5c, &[0]).object(0);
        let asks = asks.command(0x10, &[0]).set(0x42c8, &[0xf]);
        assert_eq!(refused(asks.and(target()).and(draw())), None, "{mask:x}");
    }
    // Only the pipes that there are.
    for mask in [0x10, 0x1f, 1 << 31] {
        assert_eq!(refused(new().set(0x42c8, &[mask])), Some("register-bits"));
    }
}

/// Digest §5.7: `FG_ZBREG_DEST` of RV530 is such a mask for its two units of depth.
#[test]
fn weakness_15_nor_one_that_a_unit_of_depth_does_not_see() {
    let refused = |stream: &Stream| stream.refusal_by(&WITH_DEPTH_PIPES, &[TARGET, 48]);
    let depth = new().set(0x4f20, &[0]).object(0);
    for mask in [0, 1, 2] {
        let hidden = new().set(0x4be8, &[mask]).and(depth.clone());
        assert_eq!(refused(&hidden.set(0x4be8, &[3])), Some("pipe-mask"));
        let ends = new().set(0x4be8, &[mask]);
        assert_eq!(refused(&ends), Some("pipe-mask"));
    }
    assert_eq!(refused(&new().set(0x4be8, &[3]).and(depth)), None);
    assert_eq!(refused(&new().set(0x4be8, &[4])), Some("register-bits"));
    // Both at once are masks, too: one full one is not enough.
    let one = new().set(0x4be8, &[1]).set(0x42c8, &[1]);
    let one = one.set(0x42c8, &[0xf]).set(0x43e4, &[SHORT]);
    assert_eq!(refused(&one), Some("pipe-mask"));
}

/// AMD's page of `ZB_ZPASS_ADDR`: `SU_REG_DEST` selects the pipes that later writes behind the
/// set-up unit reach, and `FG_ZBREG_DEST` (digest §5.7) is behind it.
#[test]
fn weakness_24_a_mask_of_units_of_depth_is_written_by_all_pipes() {
    let refused = |stream: &Stream| stream.refusal_by(&WITH_DEPTH_PIPES, &[TARGET, 48]);
    for raster in 0..0xf {
        // A partial mask that stays, as the second write reaches no pipe; one that is never set.
        let behind = |depth: u32| new().set(0x42c8, &[raster]).set(0x4be8, &[depth]);
        let stays = new().set(0x4be8, &[1]).and(behind(3)).set(0x42c8, &[0xf]);
        assert_eq!(refused(&stays), Some("pipe-mask"), "{raster:x}");
        let asks = behind(1).set(0x42c8, &[0xf]).set(0x4f5c, &[0]).object(0);
        assert_eq!(refused(&asks.set(0x4be8, &[3])), Some("pipe-mask"));
        // Full, but hidden: the value in the chip is not known to be full.
        let full = behind(3).set(0x42c8, &[0xf]);
        assert_eq!(refused(&full), Some("pipe-mask"), "{raster:x}");
        // The other order is that of a query: both masks select, and both are full again.
        let query = new().set(0x4be8, &[1]).set(0x42c8, &[raster]);
        let query = query.set(0x4f5c, &[0]).object(0);
        let query = query.set(0x42c8, &[0xf]).set(0x4be8, &[3]);
        assert_eq!(
            refused(&query.and(target()).and(draw())),
            None,
            "{raster:x}"
        );
    }
}

/// Fill of four bytes a pixel (digest §2.3), which compares nothing.
const FILL: u32 = 0x52f0_36d3;
const COPY: u32 = 0x52cc_36f3;
/// Rows of 256 bytes.
const ROWS: u32 = 4 << 22;
/// One row and column.
const ONE: u32 = 1 << 16 | 1;

/// Source object 0, destination object 1.
fn surfaces() -> Stream {
    let stream = new().set(0x1428, &[ROWS]).object(0);
    stream.set(0x142c, &[ROWS]).object(1)
}

fn starts() -> Stream {
    new().set(0x1434, &[0, 0]).set(0x143c, &[ONE])
}

/// Digest §2.3: where bit 0 or 1 of the control is clear, the default surface is loaded.
#[test]
fn weakness_16_a_control_that_loads_the_default_surface_forgets_the_named_one() {
    let both = [256, 256];
    let between = |control: u32, last: u32| {
        let stream = surfaces().set(0x146c, &[control]).set(0x146c, &[last]);
        stream.and(starts()).refusal(&both)
    };
    assert_eq!(between(COPY, COPY), None);
    assert_eq!(between(COPY & !1, COPY), Some("blit-surface"));
    assert_eq!(between(COPY & !2, COPY), Some("blit-surface"));
    // A fill needs no source.
    assert_eq!(between(FILL & !1, FILL), None);
    assert_eq!(between(FILL & !2, FILL), Some("blit-surface"));
    // Named behind it, it is there.
    let named = new().set(0x146c, &[COPY & !3]).and(surfaces());
    let named = named.set(0x146c, &[COPY]).and(starts());
    assert_eq!(named.refusal(&both), None);
}

/// §5.2.2: bit 28 clears the functions of comparing; what is written behind it counts.
#[test]
fn weakness_17_a_comparison_that_is_armed_behind_the_control_needs_a_source() {
    // A source of one byte, a destination of a row.
    let small = [1, 256];
    let refused = |stream: Stream| surfaces().and(stream).and(starts()).refusal(&small);
    let arms = |function: u32| new().set(0x15c0, &[function]);
    let control = |bits: u32| new().set(0x146c, &[bits]);
    assert_eq!(refused(control(FILL)), None);
    let function = 1 << 24 | 4;
    let armed = control(FILL).and(arms(function));
    assert_eq!(refused(armed.clone()), Some("blit-surface"));
    // Cleared again.
    assert_eq!(refused(armed.clone().and(control(FILL))), None);
    assert_eq!(refused(armed.and(arms(0))), None);
    // It is not documented whether the bit is a mode as well: then this enables the compare.
    let mode = arms(function)
        .and(control(FILL))
        .and(control(FILL & !(1 << 28)));
    assert_eq!(refused(mode), Some("blit-surface"));
    // Digest §2.5: other bits are reserved.
    assert_eq!(refused(arms(1 << 3)), Some("register-bits"));
    // Before packets, too.
    let packet = arms(function).set(0x16c0, &[3]);
    let body = [FILL & !1 & !(1 << 28), ROWS, 1, 0, ONE];
    let packet = packet.command(0x9a, &body).object(1);
    assert_eq!(packet.refusal(&small), Some("blit-control"));
}

/// `DP_CNTL` by its public fields: 1:0 directions, 4:3 tiles of the destination.
#[test]
fn weakness_18_directions_are_all_that_their_registers_say() {
    let with = |register: u32, value: u32| {
        let stream = surfaces().set(0x146c, &[COPY]).set(register, &[value]);
        stream.and(starts()).refusal(&[256, 256])
    };
    assert_eq!(with(0x16c0, 3), None);
    for bit in 2..32 {
        assert_eq!(with(0x16c0, 3 | 1 << bit), Some("register-bits"), "{bit}");
    }
    let both = 1 << 31 | 1 << 15;
    assert_eq!(with(0x16d0, both), None);
    for bit in (0..15).chain(16..31) {
        assert_eq!(
            with(0x16d0, both | 1 << bit),
            Some("register-bits"),
            "{bit}"
        );
    }
}

/// AMD's page of `RB3D_AARESOLVE_CTL`: samples of the first target are read, which no mask of
/// channels stops.
#[test]
fn weakness_19_what_is_resolved_is_read_whatever_is_written() {
    let resolve = |source: u64| {
        let stream = new()
            .set(0x43e4, &[SHORT])
            // Six samples.
            .set(0x4020, &[7])
            .set(0x4e28, &[0])
            .object(0)
            .set(0x4e38, &[6 << 21 | 64])
            .set(0x4e80, &[0])
            .object(2)
            .set(0x4e84, &[64])
            .set(0x4e88, &[1]);
        stream.and(draw()).refusal(&[source, 48, TARGET])
    };
    assert_eq!(resolve(6 * TARGET), None);
    assert_eq!(resolve(6 * TARGET - 1), Some("colour-target"));
    assert_eq!(resolve(1), Some("colour-target"));
}

/// Blending and logical operations read the target, too.
#[test]
fn weakness_19_what_is_combined_with_is_there() {
    for (register, bits) in [(0x4e04, 1), (0x4e04, 4), (0x4e18, 4)] {
        let stream = new().set(0x43e4, &[SHORT]).set(register, &[bits]);
        let stream = stream.and(draw());
        assert!(stream.refusal(&[1 << 20, 48]).is_some(), "{register:x}");
    }
}

/// A texture of 64 by 64 of four bytes in a unit, which clamps.
pub(super) fn texture(unit: u32, filter: u32, levels: u32) -> Stream {
    let size = 63 << 11 | 63 | levels << 26;
    new()
        .set(0x4400 + 4 * unit, &[filter | 2 << 3 | 2])
        .set(0x4480 + 4 * unit, &[size])
        .set(0x44c0 + 4 * unit, &[0xc])
        .set(0x4540 + 4 * unit, &[0])
        .object(0)
        .set(0x4104, &[1 << unit])
        .and(draw())
}

/// AMD's page of `TX_FILTER0`: 31:28 is a logical id.
#[test]
fn weakness_20_the_logical_id_of_a_texture_is_its_unit() {
    for unit in 0..16 {
        for id in 0..16 {
            let refusal = texture(unit, id << 28, 0).refusal(&[TARGET, 48]);
            let expected = (id != unit).then_some("texture-id");
            assert_eq!(refusal, expected, "{unit} {id}");
            // Of a unit that is off, too.
            let other = (unit + 1) % 16;
            let off = new().set(0x4400 + 4 * other, &[id << 28]);
            let refusal = off.and(texture(unit, unit << 28, 0)).refusal(&[TARGET, 48]);
            let expected = (id != other).then_some("texture-id");
            assert_eq!(refusal, expected, "{other} {id}");
        }
    }
}

/// The same page: `MAX_MIP_LEVEL`, 20:17, "ranges from 0 to NUM_LEVELS". Of one beyond, all levels
/// up to it must be inside the object.
#[test]
fn weakness_21_the_finest_level_is_inside_as_well() {
    // Squares of four bytes a texel, whose rows have at least 32 bytes.
    let bytes = |level: u32| {
        let side = (64u64 >> level).max(1);
        side * (side * 4).max(32)
    };
    for levels in 0..3 {
        for finest in 0..16 {
            let needed: u64 = (0..=finest.max(levels)).map(bytes).sum();
            let stream = texture(0, finest << 17, levels);
            assert_eq!(stream.refusal(&[needed, 48]), None, "{levels} {finest}");
            let refusal = stream.refusal(&[needed - 1, 48]);
            assert_eq!(refusal, Some("texture"), "{levels} {finest}");
        }
    }
}

/// AMD's page of `VAP_VF_CNTL`: 12 and 13 are modes of indices, 15 and 10:6 nothing; digest §2.6.
#[test]
fn weakness_22_a_draw_has_no_bits_but_those_that_are_counted_with() {
    let with = |bits: u32| {
        let stream = array().set(0x2134, &[2]);
        let body = [3 << 16 | 1 << 4 | bits, 0, 0];
        stream.command(0x36, &body).refusal(&[4096, 48])
    };
    for primitive in 0..16 {
        let known = matches!(primitive, 1..=6 | 12..=15);
        let expected = (!known).then_some("draw");
        assert_eq!(with(primitive), expected, "{primitive}");
    }
    for bit in [6, 7, 8, 9, 10, 12, 13, 15] {
        assert_eq!(with(4 | 1 << bit), Some("draw"), "{bit}");
    }
    // The size of a buffer of indices has 23 bits (digest §2.6): 800000h would be none.
    let count = 0x80_0000;
    let stream = array().set(0x2134, &[2]).set(0x2088, &[count]);
    let stream = stream.command(0x36, &[1 << 14 | 1 << 11 | 1 << 4 | 4]);
    let stream = stream.command(0x33, &[0x8000_0810, 0, count]).object(0);
    assert_eq!(stream.refusal(&[1 << 31, 48]), Some("indices"));
}

/// AMD's pages of `RB3D_CCTL` and `ZB_BW_CNTL`.
#[test]
fn weakness_23_no_bit_passes_that_changes_how_pixels_lie_in_memory() {
    let with = |register: u32, bit: u32| new().set(register, &[1 << bit]).refusal(&[]);
    // How many targets, and what each has of its own.
    for bit in 0..32 {
        let passes = matches!(bit, 5 | 6 | 12 | 14);
        let expected = (!passes).then_some("register-bits");
        assert_eq!(with(0x4e00, bit), expected, "{bit}");
    }
    // Clears of colour along with depth.
    for bit in 0..32 {
        let expected = (bit != 5).then_some("register-bits");
        assert_eq!(with(0x4f1c, bit), expected, "{bit}");
    }
    // Nor by a packet of several, or by the one that keeps the tiles of its object.
    for count in 2..6 {
        let mut values: Vec<u32> = vec![0; count];
        values[0] = 1 << 9;
        assert_eq!(
            new().set(0x4e00, &values).refusal(&[]),
            Some("register-bits")
        );
    }
    let mut asks = objects(&[TARGET]);
    asks.stream_knows = false;
    let pitch = new().set(0x4e38, &[6 << 21 | 64 | 1 << 25]).object(0);
    assert_eq!(pitch.check(&asks), Err(0));
    let pitch = new().set(0x4e38, &[6 << 21 | 64]).object(0);
    assert!(pitch.check(&asks).is_ok());
}

/// The bits are each register's own, in packets that go from one row of the list to the next.
#[test]
fn weakness_23_bits_are_compared_in_packets_of_several() {
    let of = |register: u32| {
        let row = registers::ROWS
            .iter()
            .find(|r| (r.0..=r.1).contains(&register));
        // ZB_BW_CNTL has a bit that is not in the list.
        row.map(|r| if register == 0x4f1c { 1 << 5 } else { r.3 })
    };
    let mut pairs = 0;
    for register in (0x1400..0x5000).step_by(4) {
        let (Some(_), Some(allowed)) = (of(register), of(register + 4)) else {
            continue;
        };
        pairs += 1;
        for bit in 0..32 {
            let stream = new().set(register, &[0, 1 << bit]);
            assert_eq!(
                stream.passes(&[]),
                allowed & 1 << bit != 0,
                "{register:x} {bit}"
            );
        }
    }
    assert!(pairs > 400);
}

/// §5.2.2.7 to §5.2.2.9: "ranging from -8192 to 8191": the pixel behind 8191 may be -8192.
#[test]
fn weakness_26_blits_end_with_the_last_coordinate() {
    // Pixels of a byte (2), rows of 255 * 64 bytes: 16320 columns. Rows of 64 bytes for the others.
    const BYTES: u32 = FILL & !0xf00 | 2 << 8;
    let wide = 255 << 22;
    let narrow = 1 << 22;
    let fill = |pitch: u32, directions: u32, corner: u32, size: u32| {
        let stream = new().set(0x146c, &[BYTES]).set(0x142c, &[pitch]).object(0);
        let stream = stream.set(0x16c0, &[directions]).set(0x1438, &[corner]);
        stream.set(0x143c, &[size]).refusal(&[1 << 20])
    };
    // Columns in the lower half, rows in the upper one.
    for (from, length, passes) in [
        (8191, 1, true),
        (8191, 2, false),
        (8191, 8000, false),
        (192, 8000, true),
        (193, 8000, false),
        (1, 8191, true),
        (2, 8191, false),
    ] {
        let expected = (!passes).then_some("blit-surface");
        let columns = fill(wide, 3, from, 1 << 16 | length);
        assert_eq!(columns, expected, "{from} {length}");
        let rows = fill(narrow, 3, from << 16, length << 16 | 1);
        assert_eq!(rows, expected, "{from} {length}");
        // The same by packets: fills, and copies from and to.
        let [corner, size] = [from << 16, length << 16 | 1];
        let body = [BYTES & !1, wide, 1, corner, size];
        let packet = new().command(0x9a, &body).object(0);
        assert_eq!(packet.refusal(&[1 << 20]), expected, "{from} {length}");
        for [source, destination] in [[corner, 0], [0, corner]] {
            let body = [
                COPY & !0xf00 | 2 << 8,
                wide,
                wide,
                source,
                destination,
                size,
            ];
            let packet = new().command(0x92, &body).object(0).object(1);
            let refusal = packet.refusal(&[1 << 20, 1 << 20]);
            assert_eq!(refusal, expected, "{from} {length}");
        }
    }
    // To the left and up, the rectangle ends with its corner.
    assert_eq!(fill(wide, 0, 8191, 1 << 16 | 8191), None);
    assert_eq!(fill(narrow, 0, 8191 << 16, 8191 << 16 | 1), None);
    assert_eq!(fill(wide, 0, 8192, 1 << 16 | 8191), Some("blit-surface"));
}

/// Clip rectangles have no corners of negative coordinates.
#[test]
fn weakness_26_clips_have_no_sign() {
    for register in (0x16e8..=0x16f4).step_by(4) {
        assert_eq!(new().set(register, &[0x1fff_1fff]).refusal(&[]), None);
        for bit in [13, 14, 15, 29, 30, 31] {
            let refusal = new().set(register, &[1 << bit]).refusal(&[]);
            assert_eq!(refusal, Some("register-bits"), "{register:x} {bit}");
        }
    }
}

/// Each rule has a name of its own, for the log.
#[test]
fn every_refusal_is_named() {
    let short = Stream(vec![0x10f9]);
    for (stream, rule) in [
        (short, "truncated"),
        (Stream(vec![0x4000_0000]), "header"),
        (new().command(0x22, &[0]), "opcode"),
        (new().command(0x34, &[0, 0]), "length"),
        (new().set(0x4018, &[0]), "register"),
        (new().set(0x4e28, &[0]), "relocation"),
        (new().set(0x4e28, &[64]).object(0), "offset"),
        (
            target().set(0x4e38, &[6 << 21 | 4 << 16 | 64]).and(draw()),
            "tiling",
        ),
        (target().and(draw()), "colour-target"),
        (
            new().set(0x4f00, &[2]).set(0x4f24, &[64]).and(draw()),
            "depth-target",
        ),
        (new().set(0x4104, &[1]).and(draw()), "texture"),
        (new().and(list(3)), "vertex-array"),
        (array().and(indexed(3)), "indices"),
        (
            new()
                .set(0x4f5c, &[0])
                .object(0)
                .set(0x4f5c, &[62])
                .object(0),
            "query",
        ),
        (
            surfaces().set(0x146c, &[COPY]).set(0x143c, &[0]),
            "blit-size",
        ),
    ] {
        assert_eq!(stream.refusal(&[64, 48]), Some(rule), "{:x?}", stream.0);
    }
}
