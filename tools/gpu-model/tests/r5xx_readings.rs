// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers that are understood in two ways: what either reading touches is listed, and told as
//! `disputed` where they differ. And what was misread before: a comparison looks at its source.
//!
//! The canvas of 2D is at 0x100000 (1 KB units: 0x400), 8888; fills are of one pixel unless said.

use crate::r5xx_rig::{config, packet, type0, Rig, GTT, INDIRECT};
use gpu_model::r5xx::{Access, Rule, Unit};

/// Destination given, solid brush, 8888, PATCOPY from memory, comparison and masks off.
const FILL: u32 = 0x52f0_36d3;
/// 256 bytes a row, at 0x100000.
const PLACE: u32 = 4 << 22 | 0x400;

fn stream(writes: &[(u32, u32)]) -> Vec<u32> {
    let dwords = writes.iter().flat_map(|(o, v)| [type0(*o, 1), *v]);
    dwords.collect()
}

fn pair(high: u32, low: u32) -> u32 {
    high << 16 | low
}

/// Runs register writes as a program; what was accessed.
fn accesses(rig: &Rig, writes: &[(u32, u32)]) -> Vec<Access> {
    rig.gpu.take_accesses();
    rig.run_indirect(&stream(writes));
    let (all, lost) = rig.gpu.take_accesses();
    assert_eq!(lost, 0);
    all
}

/// Returns whether a byte was written, or read.
fn touched(all: &[Access], unit: Unit, write: bool, addr: u64) -> bool {
    let mine = all.iter().filter(|a| a.unit == unit && a.write == write);
    mine.into_iter().any(|a| (a.addr..a.end()).contains(&addr))
}

fn disputed(rig: &Rig) -> bool {
    rig.gpu.lint_count(Rule::Disputed) != 0
}

/// No clip.
const OPEN: [(u32, u32); 3] = [
    (0x16e8, 0x1fff_1fff),
    (0x16f0, 0x1fff_1fff),
    (0x16f4, 0x1fff_1fff),
];

fn fill(rig: &Rig, state: &[(u32, u32)], y: u32, x: u32) -> Vec<Access> {
    let trigger = [(0x1438, pair(y, x)), (0x143c, pair(1, 1))];
    accesses(rig, &[&OPEN[..], state, &trigger].concat())
}

const W: bool = true;
const R: bool = false;

#[test]
fn what_everybody_understands() {
    let rig = Rig::new();
    let all = fill(&rig, &[(0x142c, PLACE), (0x146c, FILL)], 3, 5);
    let written: Vec<_> = all.iter().filter(|a| a.unit == Unit::TwoD).collect();
    assert_eq!(
        written,
        [&Access::write(Unit::TwoD, 0x10_0000 + 3 * 256 + 5 * 4, 4)]
    );
    rig.clean();
}

/// Pitch 0 is 16384 bytes ("64 to 16384 bytes across", §5.2.2), or nothing at all.
#[test]
fn a_pitch_of_zero() {
    let rig = Rig::new();
    let all = fill(&rig, &[(0x142c, 0x400), (0x146c, FILL)], 3, 5);
    assert!(touched(&all, Unit::TwoD, W, 0x10_0000 + 3 * 16384 + 5 * 4));
    assert!(touched(&all, Unit::TwoD, W, 0x10_0000 + 5 * 4));
    assert!(disputed(&rig));
}

/// A write of DP_GUI_MASTER_CNTL with bit 1 clear loads the default surface at once; a later write with
/// the bit set does not bring the other back (§5.2.2). The default is at 0x300000.
#[test]
fn the_default_surface_is_latched() {
    let rig = Rig::new();
    let default = (0x16e0, 4 << 22 | 0xc00);
    let set = [
        default,
        (0x142c, PLACE),
        (0x146c, FILL & !2),
        (0x146c, FILL),
    ];
    let all = fill(&rig, &set, 0, 0);
    assert!(touched(&all, Unit::TwoD, W, 0x30_0000));
    assert!(!touched(&all, Unit::TwoD, W, 0x10_0000));
    assert!(!disputed(&rig));
    // Named after the latch: by what it names, or by the bit that is still clear.
    let all = fill(&rig, &[(0x146c, FILL & !2), (0x142c, PLACE)], 0, 0);
    assert!(touched(&all, Unit::TwoD, W, 0x10_0000));
    assert!(touched(&all, Unit::TwoD, W, 0x30_0000));
    assert!(disputed(&rig));
    // So it is with the source.
    let rig = Rig::new();
    let copy = 0x52cc_36f3;
    let set = [
        default,
        (0x1428, PLACE),
        (0x142c, PLACE),
        (0x146c, copy & !1),
        (0x146c, copy),
    ];
    let all = fill(&rig, &[&set[..], &[(0x1434, pair(1, 1))]].concat(), 0, 0);
    assert!(touched(&all, Unit::TwoD, R, 0x30_0000 + 256 + 4));
    assert!(!touched(&all, Unit::TwoD, R, 0x10_0000 + 256 + 4));
}

/// Bit 28 "1: clear CLR_CMP_FCN" (guide, §5.2.2) is done when it is written: a comparison that is armed
/// later is on. It fetches the source, though a fill has none.
#[test]
fn a_comparison_armed_behind_the_bit() {
    // CLR_CMP_CNTL: 25:24 1 the source decides; 2:0 4 equal pixels are written (§5.2.2.10).
    let armed = [
        (0x1428, 4 << 22 | 0xc00),
        (0x142c, PLACE),
        (0x147c, 0x77),
        (0x146c, FILL),
        (0x15c0, 1 << 24 | 4),
        (0x15c4, 0xabcd),
        (0x15cc, 0xffff),
        (0x1434, pair(2, 7)),
    ];
    let source = 0x30_0000 + 2 * 256 + 7 * 4;
    for (there, expected) in [(0x0001_abcd, 0x77), (0x0000_abce, 0)] {
        let rig = Rig::new();
        rig.put(source, &[there]);
        let all = fill(&rig, &armed, 0, 0);
        assert!(touched(&all, Unit::TwoD, R, source.into()), "{there:x}");
        assert!(
            touched(&all, Unit::TwoD, W, 0x10_0000),
            "{there:x}: not compared"
        );
        assert_eq!(rig.at(0x10_0000), expected, "{there:x}");
        assert!(disputed(&rig));
    }
    // With the bit clear all agree.
    let rig = Rig::new();
    let mut clear = armed;
    clear[3].1 &= !(1 << 28);
    let all = fill(&rig, &clear, 0, 0);
    assert!(touched(&all, Unit::TwoD, R, source.into()));
    assert!(!disputed(&rig));
    // Written last, the bit ends it.
    let rig = Rig::new();
    let all = fill(&rig, &[&armed[..], &[(0x146c, FILL)]].concat(), 0, 0);
    assert!(!touched(&all, Unit::TwoD, R, source.into()));
    assert_eq!(rig.at(0x10_0000), 0x77);
    assert!(!disputed(&rig));
}

/// By a packet as well: the source is where SRC_Y_X says.
#[test]
fn a_comparison_in_a_packet() {
    let rig = Rig::new();
    rig.put(0x30_0000, &[5, 6, 5]);
    rig.run(&stream(&OPEN));
    rig.run(&stream(&[
        (0x1428, 4 << 22 | 0xc00),
        (0x15c0, 1 << 24 | 4),
        (0x15c4, 5),
        (0x15cc, !0),
        (0x1434, 0),
    ]));
    // PAINT_MULTI of 3 by 1: source and destination given, comparison and masks stay.
    let control = FILL & !(1 << 28 | 1 << 30);
    let body = [control, 4 << 22 | 0xc00, PLACE, 0x77, 0, pair(3, 1)];
    rig.run(&packet(0x9a, &body));
    let row = [0, 4, 8].map(|n| rig.at(0x10_0000 + n));
    assert_eq!(row, [0x77, 0, 0x77]);
    rig.clean();
}

/// DP_CNTL 4:3: 1 macro, 2 micro, 3 both. A row of a linear surface of 1 KB lies in tiles of 2 KB, 16 rows
/// of them: its last pixel is in the eighth (digest §5.7, weakness 12: (255, 0) lies at 38EC).
#[test]
fn tiles_by_dp_cntl() {
    let place = 16 << 22 | 0x400;
    for (tiles, at) in [(0, None), (1, Some(0x3fc_u64)), (3, Some(0x38ec))] {
        let rig = Rig::new();
        let all = fill(
            &rig,
            &[(0x142c, place), (0x16c0, 3 | tiles << 3), (0x146c, FILL)],
            0,
            255,
        );
        assert!(touched(&all, Unit::TwoD, W, 0x10_0000 + 255 * 4), "{tiles}");
        if let Some(at) = at {
            assert!(touched(&all, Unit::TwoD, W, 0x10_0000 + at), "{tiles}");
        }
        // Of a tile all must be there.
        let whole = touched(&all, Unit::TwoD, W, 0x10_3fff);
        assert_eq!(whole, tiles == 3, "{tiles}");
        assert_eq!(disputed(&rig), tiles != 0, "{tiles}");
    }
}

/// DP_CNTL_XDIR_YDIR_YMAJOR: 31 to the right, 15 downwards; each clear would draw towards the origin.
#[test]
fn directions_by_the_other_register() {
    let draw = |directions: u32| {
        let rig = Rig::new();
        let set = [
            (0x142c, PLACE),
            (0x146c, FILL),
            (0x16c0, 3),
            (0x16d0, directions),
        ];
        let trigger = [(0x1438, pair(8, 8)), (0x143c, pair(2, 2))];
        let all = accesses(&rig, &[&OPEN[..], &set, &trigger].concat());
        assert!(touched(&all, Unit::TwoD, W, 0x10_0000 + 9 * 256 + 9 * 4));
        let other = touched(&all, Unit::TwoD, W, 0x10_0000 + 7 * 256 + 7 * 4);
        (other, disputed(&rig))
    };
    assert_eq!(draw(1 << 31 | 1 << 15), (false, false));
    assert_eq!(draw(0), (true, true));
}

/// The document does not say whether a clip rectangle includes its right and bottom edges (digest §6.1, 9): a pixel
/// that exists only if it does is listed.
#[test]
fn edges_of_clip_rectangles() {
    let rig = Rig::new();
    let set = [
        (0x142c, PLACE),
        (0x146c, FILL | 8),
        (0x16ec, 0),
        (0x16f0, pair(4, 6)),
    ];
    let trigger = [(0x1438, 0), (0x143c, pair(20, 20))];
    let all = accesses(&rig, &[&set[..], &trigger].concat());
    assert_eq!(rig.at(0x10_0000 + 3 * 256 + 5 * 4), 0);
    assert!(touched(&all, Unit::TwoD, W, 0x10_0000 + 3 * 256 + 5 * 4));
    assert!(touched(&all, Unit::TwoD, W, 0x10_0000 + 4 * 256 + 6 * 4));
    assert!(!touched(&all, Unit::TwoD, W, 0x10_0000 + 4 * 256 + 7 * 4));
    assert!(!touched(&all, Unit::TwoD, W, 0x10_0000 + 5 * 256));
    rig.clean();
}

/// A draw of one vertex over one pixel, with a colour buffer of 64 by so many at 0x100000.
fn draw(state: &[(u32, u32)]) -> (Rig, Vec<Access>) {
    let rig = Rig::new();
    rig.gpu.take_accesses();
    let target = [
        (0x43e0, 0),
        (0x43e4, 0),
        (0x4e28, 0x10_0000),
        (0x4e38, 6 << 21 | 64),
    ];
    let end = [
        &[type0(0x20b4, 1), 1][..],
        &packet(0x35, &[1 << 16 | 3 << 4 | 4, 0]),
    ]
    .concat();
    rig.run_indirect(&[stream(&target), stream(state), end].concat());
    let (all, _) = rig.gpu.take_accesses();
    (rig, all)
}

/// Unit 0 is of 2048 by 2048 pixels of 32 bits and has the id 1, unit 1 is of one pixel and has the id 0
/// (TX_FILTER0 31:28, "logical id for this physical texture"). Unit 1, or id 1, is enabled.
#[test]
fn ids_of_textures() {
    let units = |ids: [u32; 2]| {
        [
            (0x4400, ids[0] << 28),
            (0x4480, 2047 | 2047 << 11),
            (0x44c0, 0xc),
            (0x4540, 0x20_0000),
            (0x4404, ids[1] << 28),
            (0x4484, 0),
            (0x44c4, 0xc),
            (0x4544, 0x10_0000),
            (0x4104, 1 << 1),
        ]
    };
    let (rig, all) = draw(&units([1, 0]));
    assert!(touched(&all, Unit::Texture, R, 0x10_0000));
    assert!(touched(&all, Unit::Texture, R, 0x20_0000 + (16 << 20) - 1));
    assert!(disputed(&rig));
    let (rig, all) = draw(&units([0, 1]));
    assert!(touched(&all, Unit::Texture, R, 0x10_0000));
    assert!(!touched(&all, Unit::Texture, R, 0x20_0000));
    assert!(!disputed(&rig));
}

/// TX_FILTER0 20:17, MAX_MIP_LEVEL 3 with one level: 32, 16, 8, 4 pixels square, of 4 bytes in rows of at
/// least 32.
#[test]
fn the_finest_level_is_beyond_the_last() {
    let texture = |finest: u32| {
        let (rig, all) = draw(&[
            (0x4400, finest << 17),
            (0x4480, 31 | 31 << 11),
            (0x44c0, 0xc),
            (0x4540, 0x20_0000),
            (0x4104, 1),
        ]);
        let end = all
            .iter()
            .filter(|a| a.unit == Unit::Texture)
            .map(|a| a.end());
        (end.max(), disputed(&rig))
    };
    assert_eq!(texture(0), (Some(0x20_0000 + 32 * 32 * 4), false));
    let all = (32 * 32 + 16 * 16 + 8 * 8) * 4 + 4 * 32;
    assert_eq!(texture(3), (Some(0x20_0000 + all), true));
}

/// VAP_VF_CNTL 13: an index is two, 23:16 for array 0 and 15:0 for the others. The limits are 0 to 3.
#[test]
fn an_index_that_is_two() {
    let fetch = |bits: u32| {
        let rig = Rig::new();
        // Two arrays of one dword, 1 apart: at 0x100000 and 0x200000.
        let arrays = packet(0x2f, &[2, 0x0101_0101, 0x10_0000, 0x20_0000]);
        let state = stream(&[(0x2134, 3), (0x2138, 0), (0x43e0, 1), (0x43e4, 0)]);
        let draw = packet(
            0x36,
            &[1 << 16 | 1 << 11 | 1 << 4 | 4 | bits, 9 << 16 | 0x0204],
        );
        rig.gpu.take_accesses();
        rig.run_indirect(&[state, arrays, draw].concat());
        let (all, _) = rig.gpu.take_accesses();
        let one = |at| touched(&all, Unit::Vertex, R, at);
        // Clamped to 3; 9 in array 0; 204 in array 1.
        let found = [0x10_000c, 0x20_000c, 0x10_0024, 0x20_0810].map(one);
        (found, disputed(&rig))
    };
    assert_eq!(fetch(0), ([true, true, false, false], false));
    assert_eq!(fetch(1 << 13), ([true, true, true, true], true));
}

/// Primitives 7 (with words of flags) to 11 (reserved): it may wait for what never comes.
#[test]
fn primitives_that_nobody_knows() {
    for kind in 0..16 {
        let rig = Rig::new();
        let draw = packet(0x35, &[1 << 16 | 3 << 4 | kind, 0]);
        let draw = if kind == 0 { Vec::new() } else { draw };
        rig.run_indirect(&[vec![type0(0x20b4, 1), 1], draw].concat());
        let odd = (7..=11).contains(&kind);
        assert_eq!((rig.gpu.vap_stuck(), disputed(&rig)), (odd, odd), "{kind}");
    }
}

/// INDX_BUFFER: the size's field has 23 bits, so 800000h is 0.
#[test]
fn an_index_buffer_of_nothing() {
    let rig = Rig::new();
    let header = 0x8000_0810;
    let draw = packet(0x36, &[1 << 16 | 1 << 11 | 1 << 4 | 4]);
    let buffer = packet(0x33, &[header, GTT + INDIRECT as u32 + 0x1000, 1 << 23]);
    rig.run_indirect(&[draw, buffer].concat());
    assert!(rig.gpu.lockup().is_some());
    assert!(disputed(&rig));
}

/// RB3D_AARESOLVE_CTL 0 with channel mask 0 (4E0C): colour 0 is the resolve's source. Six samples (4020)
/// make it six times as large, and eight if they do not follow each other (4F1C bit 17).
#[test]
fn a_resolve_without_channels() {
    let resolve = |control: u32, aa: u32, bw: u32| {
        let (rig, all) = draw(&[
            (0x4e0c, 0),
            (0x4e04, 0),
            (0x4020, aa),
            (0x4f1c, bw),
            (0x4e80, 0x40_0000),
            (0x4e84, 64),
            (0x4e88, control),
            // One tile of each kind of 32 by 16 pixels.
            (0x4e38, 6 << 21 | 3 << 16 | 64),
        ]);
        let read = all.iter().filter(|a| a.unit == Unit::Color && !a.write);
        let written = all.iter().any(|a| a.unit == Unit::Resolve && a.write);
        let bytes = read.map(|a| a.end() - 0x10_0000).max();
        (bytes, written, disputed(&rig))
    };
    assert_eq!(resolve(0, 0, 0), (None, false, false));
    assert_eq!(resolve(5, 0, 0), (Some(2048), true, true));
    assert_eq!(resolve(5, 1 | 3 << 1, 0), (Some(6 * 2048), true, true));
    assert_eq!(
        resolve(5, 1 | 3 << 1, 1 << 17),
        (Some(8 * 2048), true, true)
    );
    assert_eq!(resolve(5, 1, 0), (Some(2 * 2048), true, true));
}

/// RB3D_CCTL 9, compression of samples: "Cmask must also be enabled", which does not exist.
#[test]
fn compression_without_a_mask() {
    let (rig, _) = draw(&[(0x4e0c, 15), (0x4e00, 1 << 9)]);
    assert!(disputed(&rig));
    let (rig, _) = draw(&[(0x4e0c, 15), (0x4e00, 0)]);
    assert!(!disputed(&rig));
}

/// A card whose packets go as DP_CNTL says: a copy from (0, 0) to the left comes to one pixel.
#[test]
fn packets_to_the_left() {
    for (habits, direction, copied) in [("", 0, 4), ("directed", 3, 4), ("directed", 2, 1)] {
        let mut cfg = config("rv515");
        cfg.real = habits.parse().expect("habits");
        let rig = Rig::with(cfg);
        rig.put(0x30_0000, &[1, 2, 3, 4]);
        rig.run(&stream(&OPEN));
        rig.set(0x16c0, direction);
        let body = [0x52cc_36f3, 4 << 22 | 0xc00, PLACE, 0, 0, pair(4, 1)];
        rig.run(&packet(0x9b, &body));
        let row = [0, 4, 8, 12].map(|n| rig.at(0x10_0000 + n));
        let done = row.iter().filter(|p| **p != 0).count();
        assert_eq!(done, copied, "{habits} {direction} {row:?}");
    }
}
