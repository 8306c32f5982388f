// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Surfaces of draws: every byte that would be read or written (R5xx guide §6.2, §6.4.1, §6.6; fields from digest
//! §2.6, §3.5, §4.7).

use crate::r5xx_rig::{draw::*, packet, type0, Rig};
use gpu_model::r5xx::{Access, Rule, Unit};

const IMMD_2: u32 = 0x35;
/// Scissor 3, 2 to 10, 4: both corners inside.
const SCISSOR: [u32; 2] = [2 << 13 | 3, 4 << 13 | 10];

/// One triangle of embedded data, drawn with some state.
fn drawn_with(state: &[u32]) -> (Rig, Vec<Access>) {
    let rig = Rig::new();
    rig.gpu.take_accesses();
    let head = [
        1 << 16 | 0x10f8,
        SCISSOR[0],
        SCISSOR[1],
        type0(0x20b4, 1),
        1,
    ];
    rig.run_indirect(&[&head[..], state, &packet(IMMD_2, &[vf(3, 1), 0])].concat());
    let (all, lost) = rig.gpu.take_accesses();
    assert_eq!(lost, 0);
    assert!(!rig.gpu.vap_stuck());
    (rig, all)
}

/// Colour buffers: which ones, where, read when blending (digest §3.5, §5.7).
#[test]
fn colour_buffers() {
    // 8888, 64 pixels a row.
    let linear = 6 << 21 | 64;
    let rows: &[(u64, u64)] = &[(0x20c, 32), (0x30c, 32), (0x40c, 32)];
    let at = |base: u64, write: bool| -> Vec<_> {
        rows.iter().map(|&(a, l)| (base + a, l, write)).collect()
    };
    let one = [type0(0x4e28, 1), 0x10_0000, type0(0x4e38, 1), linear];
    let (rig, all) = drawn_with(&[&one[..], &[type0(0x4e0c, 1), 0xf]].concat());
    assert_eq!(of(&all, Unit::Color), at(0x10_0000, true));
    rig.clean();
    let (rig, all) = drawn_with(&[&one[..], &[type0(0x4e0c, 1), 0]].concat());
    assert_eq!(of(&all, Unit::Color), [], "no channel is written");
    rig.clean();
    let clear = [type0(0x4e0c, 1), 0, type0(0x4f1c, 1), 1 << 5];
    let (_, all) = drawn_with(&[&one[..], &clear].concat());
    assert_eq!(
        of(&all, Unit::Color),
        at(0x10_0000, true),
        "cleared with the depth"
    );
    let (_, all) = drawn_with(&[&one[..], &[type0(0x4e0c, 1), 0xf, type0(0x4e04, 1), 4]].concat());
    let mut both: Vec<_> = at(0x10_0000, true);
    both.extend(at(0x10_0000, false));
    both.sort();
    let mut found = of(&all, Unit::Color);
    found.sort();
    assert_eq!(found, both, "blending reads");
    // Two buffers: 6:5 of RB3D_CCTL is their number less one. 7:4 is the second one's mask if bit 12 says that each
    // has its own; without it, all have the first one's (digest of 3D, §13.1).
    let second = at(0x20_0000, true);
    let both = [at(0x10_0000, true), second.clone()].concat();
    for (own, mask, expected) in [
        (1 << 12, 0xf0, &second),
        (1 << 12, 0xff, &both),
        (0, 0xf, &both),
        (0, 0xf0, &Vec::new()),
    ] {
        let (_, all) = drawn_with(&[
            type0(0x4e00, 1),
            1 << 5 | own,
            type0(0x4e28, 2),
            0x10_0000,
            0x20_0000,
            type0(0x4e38, 2),
            linear,
            linear,
            type0(0x4e0c, 1),
            mask,
        ]);
        assert_eq!(&of(&all, Unit::Color), expected, "{own:#x} {mask:#x}");
    }
}

/// Digest A5 and weakness 12: a tiled surface needs all of its tiles. 256 pixels of 32 bits in a row:
/// tiles of 32 x 16, eight in a row of 16 KB; the scissor lies in the first.
#[test]
fn tiled_colour_buffers() {
    let pitch = |tiles: u32| 6 << 21 | tiles << 16 | 256;
    for (name, tiles, expected) in [
        ("macro and micro", 3, vec![(0x10_0000, 0x800, true)]),
        ("macro", 1, vec![(0x10_0000, 0x800, true)]),
        // Blocks of 4 x 2: three of them, in rows of 64 blocks.
        (
            "micro",
            2,
            vec![(0x10_0800, 96, true), (0x10_1000, 96, true)],
        ),
    ] {
        let (rig, all) = drawn_with(&[
            type0(0x4e28, 1),
            0x10_0000,
            type0(0x4e38, 1),
            pitch(tiles),
            type0(0x4e0c, 1),
            0xf,
        ]);
        assert_eq!(of(&all, Unit::Color), expected, "{name}");
        rig.clean();
    }
    // The second row of tiles, and past the right end of the first.
    let rig = Rig::new();
    rig.run_indirect(
        &[
            &[1 << 16 | 0x10f8, 33, 15 << 13 | 64, type0(0x20b4, 1), 1][..],
            &[
                type0(0x4e28, 1),
                0,
                type0(0x4e38, 1),
                pitch(3),
                type0(0x4e0c, 1),
                0xf,
            ],
            &packet(IMMD_2, &[vf(3, 1), 0]),
        ]
        .concat(),
    );
    let (all, _) = rig.gpu.take_accesses();
    assert_eq!(of(&all, Unit::Color), [(0x800, 0x1000, true)]);
}

/// Depth: read when tested, written when told; stencil as well. 16 or 32 bits.
#[test]
fn depth_buffers() {
    for (name, control, format, read, write) in [
        ("off", 0, 0, false, false),
        ("tested", 2, 0, true, false),
        ("written", 6, 2, true, true),
        ("stencil", 1, 2, true, true),
    ] {
        let (rig, all) = drawn_with(&[
            type0(0x4f00, 1),
            control,
            type0(0x4f10, 1),
            format,
            type0(0x4f20, 2),
            0x30_0000,
            64,
        ]);
        let bytes = if format == 2 { 4 } else { 2 };
        let mut expected = Vec::new();
        for row in 2..=4 {
            let at = 0x30_0000 + row * 64 * bytes + 3 * bytes;
            expected.extend(read.then_some((at, 8 * bytes, false)));
            expected.extend(write.then_some((at, 8 * bytes, true)));
        }
        assert_eq!(of(&all, Unit::Depth), expected, "{name}");
        rig.clean();
    }
}

/// Textures: all levels, all faces, whole tiles (fields from digest §5.7).
#[test]
fn textures() {
    // Name, TX_FORMAT0, 1, 2, the offset's tiles, bytes.
    let cases: [(&str, u32, u32, u32, u32, u64); 9] = [
        ("64 x 32 of 32 bits", 63 | 31 << 11, 0xc, 0, 0, 64 * 32 * 4),
        ("of 8 bits", 63 | 31 << 11, 0, 0, 0, 64 * 32),
        // 64 x 32, 32 x 16, 16 x 8.
        (
            "three levels",
            63 | 31 << 11 | 2 << 26,
            0xc,
            0,
            0,
            (64 * 32 + 32 * 16 + 16 * 8) * 4,
        ),
        (
            "rows of 100",
            63 | 31 << 11 | 1 << 31,
            0xc,
            99,
            0,
            104 * 32 * 4,
        ),
        (
            "a cube",
            31 | 31 << 11,
            0xc | 2 << 25,
            0,
            0,
            6 * 32 * 32 * 4,
        ),
        (
            "four layers",
            31 | 31 << 11 | 2 << 22,
            0xc | 1 << 25,
            0,
            0,
            4 * 32 * 32 * 4,
        ),
        ("blocks of 8 bytes", 63 | 31 << 11, 0xf, 0, 0, 16 * 8 * 8),
        (
            "macro tiles: 33 rows are 48",
            63 | 32 << 11,
            0xc,
            0,
            3 << 2,
            64 * 48 * 4,
        ),
        (
            "4096 wide by its 12th bit",
            0x7ff | 7 << 11,
            0,
            1 << 15,
            0,
            4096 * 8,
        ),
    ];
    for (name, f0, f1, f2, tiles, bytes) in cases {
        let (rig, all) = drawn_with(&[
            type0(0x4104, 1),
            1 << 2,
            type0(0x4408, 1),
            2 << 28,
            type0(0x4488, 1),
            f0,
            type0(0x44c8, 1),
            f1,
            type0(0x4508, 1),
            f2,
            type0(0x4548, 1),
            0x40_0000 | tiles,
        ]);
        assert_eq!(
            of(&all, Unit::Texture),
            reads(&[(0x40_0000, bytes)]),
            "{name}"
        );
        rig.clean();
    }
}

/// An occlusion query's count goes where ZB_ZPASS_ADDR says.
#[test]
fn counted_pixels() {
    let (rig, all) = drawn_with(&[type0(0x4f58, 1), 0, type0(0x4f5c, 1), 0x50_0004]);
    assert_eq!(of(&all, Unit::ZPass), [(0x50_0004, 4, true)]);
    rig.clean();
}

/// Accessed memory must exist; a program's mistake is counted as the program's.
#[test]
fn surfaces_of_nothing_are_reported() {
    let (rig, _) = drawn_with(&[
        type0(0x4e28, 1),
        0x7000_0000,
        type0(0x4e38, 1),
        6 << 21 | 64,
        type0(0x4e0c, 1),
        0xf,
    ]);
    assert_eq!(rig.gpu.lints(), []);
    assert_eq!(rig.gpu.client_lints(), [(Rule::Unmapped, 3)]);
}

/// Forms and formats that the document does not have (§2.2, §3).
#[test]
fn surfaces_that_are_none() {
    let colour = |base: u32, pitch: u32| {
        vec![
            type0(0x4e28, 1),
            base,
            type0(0x4e38, 1),
            pitch,
            type0(0x4e0c, 1),
            0xf,
        ]
    };
    let cases: &[(&str, Vec<u32>, Rule)] = &[
        (
            "a reserved colour format",
            colour(0, 1 << 21 | 64),
            Rule::Format,
        ),
        (
            "2 x 2 blocks of colours",
            colour(0, 10 << 21 | 1 << 17 | 64),
            Rule::UnsupportedTiling,
        ),
        (
            "4 x 4 blocks of 32 bits",
            colour(0, 6 << 21 | 2 << 17 | 64),
            Rule::UnsupportedTiling,
        ),
        (
            "a base inside of a tile",
            colour(0x400, 6 << 21 | 1 << 16 | 64),
            Rule::SurfaceAlign,
        ),
        (
            "a pitch inside of a tile",
            colour(0, 6 << 21 | 1 << 16 | 32),
            Rule::SurfaceAlign,
        ),
        ("no pitch", colour(0, 6 << 21), Rule::SurfaceAlign),
        (
            "8 x 2 blocks of depth",
            vec![type0(0x4f00, 1), 6, type0(0x4f20, 2), 0, 1 << 17 | 64],
            Rule::UnsupportedTiling,
        ),
        (
            "a reserved depth format",
            vec![type0(0x4f00, 1), 6, type0(0x4f10, 1), 3],
            Rule::Format,
        ),
        (
            "a reserved texture format",
            vec![type0(0x4104, 1), 1, type0(0x44c0, 1), 0x17],
            Rule::Format,
        ),
    ];
    for (name, state, rule) in cases {
        let (rig, _) = drawn_with(state);
        assert_eq!(rig.gpu.lint_count(*rule), 1, "{name}");
    }
}

/// The clears of on-chip memories: three dwords each (§5.2.3.10; digest §2.2).
#[test]
fn clears() {
    let rig = Rig::new();
    for opcode in [0x37, 0x32, 0x38] {
        rig.run(&packet(opcode, &[0, 0x3fff, 0]));
    }
    rig.clean();
}
