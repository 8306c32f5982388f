// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Random streams: a second check looks at the streams that pass, pixel by pixel and vertex by
//! vertex, with the address formula of digest §4.1 instead of tile sizes.

use super::{tests::*, *};
use proptest::prelude::*;
use std::{vec, vec::Vec};

/// Blocks of 32 bytes, in pixels and rows, by bytes of a pixel and kind (digest §4.1).
fn block(pixel: u64, kind: u32) -> (u64, u64) {
    match (pixel, kind) {
        (_, 0) => (32 / pixel, 1),
        (1, 1) => (8, 4),
        (2, 1) => (8, 2),
        (4, 1) => (4, 2),
        (8, 1) => (2, 2),
        (2, 2) => (4, 4),
        other => panic!("{other:?} passed"),
    }
}

/// Byte of a pixel (digest §4.1).
fn place(x: u64, y: u64, pitch: u64, pixel: u64, macro_tiles: bool, kind: u32) -> u64 {
    let (mw, mh) = block(pixel, kind);
    let inside = ((y % mh) * mw + x % mw) * pixel;
    if macro_tiles {
        let (tw, th) = (8 * mw, 8 * mh);
        ((y / th) * (pitch / tw) + x / tw) * 2048
            + (((y % th) / mh) * 8 + (x % tw) / mw) * 32
            + inside
    } else {
        ((y / mh) * (pitch / mw) + x / mw) * 32 + inside
    }
}

#[test]
fn the_formula_gives_the_vectors_of_digest_4_1() {
    for (pixel, macro_tiles, kind, expected) in [
        (1, true, 1, [0x1, 0x8, 0x1d, 0x489, 0x3fff]),
        (2, true, 1, [0x2, 0x10, 0x11a, 0x2092, 0x7ffe]),
        (2, true, 2, [0x2, 0x8, 0x3a, 0xc0a, 0x7ffe]),
        (2, true, 0, [0x2, 0x100, 0x30a, 0x2142, 0x7ffe]),
        (4, true, 1, [0x4, 0x10, 0x134, 0x4814, 0xfffc]),
        (4, true, 0, [0x4, 0x100, 0x314, 0x4184, 0xfffc]),
        (4, false, 1, [0x4, 0x10, 0x834, 0x4114, 0xfffc]),
        (8, true, 1, [0x8, 0x10, 0x158, 0x9018, 0x1fff8]),
    ] {
        let at = [(1, 0), (0, 1), (5, 3), (33, 17), (255, 63)];
        let got = at.map(|(x, y)| place(x, y, 256, pixel, macro_tiles, kind));
        assert_eq!(got, expected, "{pixel} {macro_tiles} {kind}");
    }
}

/// Returns whether an address is in one of the objects, which are 16 MiB apart.
fn is_inside(address: u64, bytes: u64, sizes: &[u64]) -> bool {
    sizes.iter().enumerate().any(|(n, size)| {
        let start = u64::from(address_of(n));
        address >= start && address + bytes <= start + size
    })
}

fn address_of(n: usize) -> u32 {
    super::tests::address(n)
}

/// Returns the bits of an address register that are no address; `None` for other registers.
fn address_mask(register: u32) -> Option<u32> {
    match register {
        0x4540..=0x457c => Some(0x1f),
        0x4e28..=0x4e34 | 0x4e80 | 0x4f20 | 0x4f5c => Some(0),
        _ => None,
    }
}

/// Checks a copy: only allowed registers, and only addresses of objects.
fn audit(copy: &[u32], sizes: &[u64]) {
    let mut at = 0;
    // SU_REG_DEST: which pipes get what is written.
    let mut pipes = 0xf;
    while at < copy.len() {
        let header = copy[at];
        let len = (header >> 16 & 0x3fff) as usize + 1;
        match header >> 30 {
            2 => {
                at += 1;
                continue;
            }
            0 => {
                let mut register = (header & 0x1fff) * 4;
                for value in &copy[at + 1..at + 1 + len] {
                    // Nothing of the host's, the command processor's, the display's; no port of
                    // vertices.
                    assert!((0x1400..0x5000).contains(&register), "{register:x}");
                    assert!(!(0x15e0..0x1600).contains(&register), "{register:x}");
                    assert!(!(0x2000..0x2080).contains(&register), "{register:x}");
                    assert!(!(0x20c0..0x2130).contains(&register), "{register:x}");
                    assert_ne!(register, 0x2084);
                    let asks = matches!(register, 0x42c8 | 0x4f58 | 0x4f5c);
                    assert!(asks || pipes == 0xf, "{register:x} for {pipes:x}");
                    if register == 0x42c8 {
                        pipes = *value;
                    }
                    if let Some(mask) = address_mask(register) {
                        assert!(is_inside((value & !mask).into(), 1, sizes), "{register:x}");
                    }
                    if register == 0x1428 || register == 0x142c {
                        let address = u64::from(value & 0x3f_ffff) * 1024;
                        assert!(is_inside(address, 1, sizes), "{register:x}");
                    }
                    register += if header & 0x8000 == 0 { 4 } else { 0 };
                }
            }
            3 if header >> 8 & 0xff != 0x10 && pipes != 0xf => panic!("a command for {pipes:x}"),
            3 => match header >> 8 & 0xff {
                0x10 | 0x28 | 0x29 | 0x2a | 0x34 | 0x35 | 0x36 => {}
                0x2f => {
                    for n in 0..(copy[at + 1] & 0x1f) as usize {
                        let address = copy[at + 3 + n / 2 * 3 + n % 2];
                        assert!(is_inside(address.into(), 1, sizes));
                    }
                }
                0x33 => {
                    assert_eq!(copy[at + 1], 0x8000_0810);
                    let bytes = u64::from(copy[at + 3]) * 4;
                    assert!(is_inside(copy[at + 2].into(), bytes, sizes));
                }
                0x92 | 0x9a | 0x9b => {
                    // The source's, if it has one, and the destination's.
                    for n in 0..=(copy[at + 1] & 1) as usize {
                        let address = u64::from(copy[at + 2 + n] & 0x3f_ffff) * 1024;
                        assert!(is_inside(address, 1, sizes));
                    }
                }
                opcode => panic!("{opcode:x} passed"),
            },
            _ => panic!("type 1 passed"),
        }
        at += 1 + len;
    }
    assert_eq!(at, copy.len());
    assert_eq!(pipes, 0xf, "what follows is for all");
}

/// Registers that matter most, and any.
fn register() -> impl Strategy<Value = u32> {
    prop_oneof![
        0u32..0x2000,
        prop_oneof![
            Just(0x4e28u32),
            Just(0x4e38),
            Just(0x4f20),
            Just(0x4540),
            Just(0x4f5c),
            Just(0x1428),
            Just(0x142c),
            Just(0x1434),
            Just(0x1438),
            Just(0x143c),
            Just(0x146c),
            Just(0x43e4),
            Just(0x4e0c),
            Just(0x4104),
            Just(0x2134),
            Just(0x208c),
            Just(0x16c0),
            Just(0x4e00),
            Just(0x4e4c),
            Just(0x4f18),
            Just(0x4f1c),
            Just(0x1720),
        ]
        .prop_map(|r| r / 4),
    ]
}

/// Registers that clients write with others in one packet, beginning in the midst of them, too
/// (digest §3.5).
const SHORT: [u32; 20] = [
    0x2134, 0x2138, 0x4200, 0x43e0, 0x43e4, 0x4400, 0x44bc, 0x44c0, 0x46a4, 0x46ac, 0x4e00, 0x4e04,
    0x4e38, 0x4e48, 0x4e4c, 0x4e84, 0x4f00, 0x4f14, 0x4f18, 0x4f24,
];

/// A piece of a stream: mostly packets that mean something.
fn piece() -> impl Strategy<Value = Vec<u32>> {
    // Flushes of colour and depth, a clear of colour along with depth, a wait for the 3D engine.
    let known = [1u32, 2, 3, 0xa, 1 << 5, 1 << 17];
    let known = proptest::sample::select(known.to_vec());
    let value = move || prop_oneof![Just(0u32), known.clone(), 0u32..0x4000, any::<u32>()];
    let relocation = || (0u32..12).prop_map(|n| vec![0xc000_1000, n]);
    prop_oneof![
        4 => (register(), value()).prop_map(|(r, v)| vec![r, v]),
        4 => (register(), value(), relocation()).prop_map(|(r, v, o)| [vec![r, v], o].concat()),
        1 => (0x4e28u32..0x4e30, 0u32..4096)
            .prop_map(|(r, v)| vec![r / 4, v & !31, 0xc000_1000, 0]),
        1 => relocation(),
        // Masks of pipes: a count for some of them, and now and then something else.
        1 => (0u32..16, register(), value(), 0u32..4).prop_map(|(mask, r, v, kind)| {
            let stream = new().set(0x42c8, &[mask]);
            match kind {
                0 => stream.set(r * 4, &[v]).set(0x42c8, &[0xf]).0,
                1 => stream.0,
                _ => stream.set(0x4f5c, &[v & 0xffc]).object(0).set(0x42c8, &[0xf]).0,
            }
        }),
        4 => (prop_oneof![
            0u32..0x2000,
            proptest::sample::select(&SHORT[..]).prop_map(|r| r / 4),
        ], 0u32..2, proptest::collection::vec(value(), 1..7))
            .prop_map(|(r, one, v)| [vec![(v.len() as u32 - 1) << 16 | one << 15 | r], v].concat()),
        1 => (0u32..256, 1u32..70).prop_map(|(rop, size)| {
            let body = [0x52f0_36d2 & !0xff_0000 | rop << 16, 4 << 22, 7, 0, size << 16 | size];
            new().set(0x16c0, &[3]).command(0x9a, &body).object(0).0
        }),
        1 => (0u32..256, 1u32..70).prop_map(|(rop, size)| {
            let body = [0x5200_36f3 | rop << 16, 4 << 22, 4 << 22, 0, 0, size << 16 | size];
            let stream = new().set(0x16c0, &[3]).command(0x9b, &body);
            stream.object(0).object(1).0
        }),
        2 => Just(target().0),
        2 => Just(array().0),
        2 => (0u32..70_000).prop_map(|n| list(n & 0xffff).0),
        1 => (0u32..20).prop_map(|n| {
            let indices = vec![0xc002_3300, 0x8000_0810, 0, n.div_ceil(2), 0xc000_1000, 4];
            [indexed(n).0, indices].concat()
        }),
        1 => (any::<u8>(), proptest::collection::vec(value(), 1..8))
            .prop_map(|(opcode, body)| new().command(opcode.into(), &body).0),
        1 => proptest::collection::vec(any::<u32>(), 1..4),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn what_passes_reaches_nothing_but_objects(
        pieces in proptest::collection::vec(piece(), 0..12),
        sizes in proptest::collection::vec(1u64..100_000, 3),
        knows: bool,
    ) {
        // As long a beginning of it as passes.
        let mut all = objects(&sizes);
        all.stream_knows = knows;
        let mut stream = Vec::new();
        for piece in pieces {
            let longer = Stream([stream.clone(), piece].concat());
            if let Ok(copy) = longer.check(&all) {
                audit(&copy, &sizes);
                stream = longer.0;
            }
        }
    }

    #[test]
    fn packets_one_by_one_are_judged_the_same(
        pieces in proptest::collection::vec(piece(), 0..12),
        knows: bool,
    ) {
        let mut all = objects(&[1 << 20, 1 << 20, 1 << 20]);
        all.stream_knows = knows;
        let mut stream = Vec::new();
        for piece in pieces {
            let longer = [stream.clone(), piece].concat();
            let judged = |skim: Skim| {
                let mut list = vec![Patch::default(); Patch::most(longer.len())];
                let verdict = STREAMS.check_with(skim, &longer, &all, &mut list);
                let copy = match verdict {
                    Verdict::Passes { patches, .. } => Some(patched(&longer, &list[..patches])),
                    _ => None,
                };
                (verdict, copy)
            };
            let (verdict, copy) = judged(plain);
            prop_assert_eq!(judged(|_, _, at| at), (verdict, copy.clone()), "{:x?}", longer);
            if copy.is_some() {
                stream = longer;
            }
        }
    }

    #[test]
    fn any_dwords_are_judged(
        stream in proptest::collection::vec(any::<u32>(), 0..64),
        room in 0usize..64,
    ) {
        let mut list = vec![Patch::default(); room];
        let _ = STREAMS.check(&stream, &objects(&[4096, 4096]), &mut list);
    }

    #[test]
    fn every_pixel_of_a_draw_that_passes_is_inside(
        format in prop_oneof![
            Just((9u32, 1u64)),
            Just((4, 2)),
            Just((6, 4)),
            Just((10, 8)),
            Just((7, 16)),
        ],
        fields in 0u32..6,
        blocks in 1u32..40,
        corner in (0u32..80, 0u32..80),
        offset in 0u32..4,
        spare in -64i64..64,
    ) {
        let (code, pixel) = format;
        let (macro_tiles, kind) = (fields & 1 != 0, fields >> 1);
        let pitch = blocks * 8;
        let offset = offset * 1024;
        let draw = |bytes: u64| {
            new()
                .set(0x43e4, &[corner.1 << 13 | corner.0])
                .set(0x4e0c, &[0xf])
                .set(0x4e28, &[offset])
                .object(0)
                .set(0x4e38, &[code << 21 | fields << 16 | pitch])
                .and(array())
                .and(list(3))
                .passes(&[bytes, 48])
        };
        // Whether there is any size that is enough.
        if draw(1 << 24) {
            let mut end = 0;
            for y in 0..=u64::from(corner.1) {
                // The copy's scissor ends with the pitch.
                for x in 0..=u64::from(corner.0.min(pitch - 1)) {
                    let at = place(x, y, pitch.into(), pixel, macro_tiles, kind);
                    end = end.max(u64::from(offset) + at + pixel);
                }
            }
            let bytes = end.saturating_add_signed(spare).max(1);
            prop_assert!(!draw(bytes) || bytes >= end, "{bytes} for {end}");
            // And no more than whole rows of tiles are asked for.
            let rows = if macro_tiles { 8 } else { 1 } * 4;
            prop_assert!(draw(end + u64::from(pitch) * pixel * rows), "{end}");
        }
    }

    #[test]
    fn every_vertex_of_a_draw_that_passes_is_inside(
        count in 1u32..128,
        stride in 0u32..128,
        offset in 0u32..64,
        vertices in 1u32..1000,
        moved in 0u32..50,
        spare in -8i64..8,
    ) {
        let last = u64::from(vertices - 1 + moved);
        let end = u64::from(offset) * 4 + (last * u64::from(stride) + u64::from(count)) * 4;
        let bytes = end.saturating_add_signed(spare).max(1);
        let stream = new()
            .set(0x208c, &[moved])
            .command(0x2f, &[1, stride << 8 | count, offset * 4])
            .object(0)
            .and(list(vertices));
        prop_assert_eq!(stream.passes(&[bytes]), bytes >= end);
    }
}
