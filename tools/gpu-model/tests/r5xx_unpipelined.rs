// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers of targets that are written while pixels are in flight. AMD's R5xx page of RB3D_COLOROFFSET: "the cache
//! must be empty before this is changed". By the second reading, pixels of the draws before the write have the new
//! value.

use crate::r5xx_rig::{packet, type0, Rig};
use gpu_model::r5xx::{Access, Rule, Unit};

const COLOUR: u32 = 0x10_0000;
const DEPTH: u32 = 0x20_0000;
const RESOLVE: u32 = 0x30_0000;
/// Where nothing is before the write.
const ELSEWHERE: u32 = 0x80_0000;

/// RB3D_DSTCACHE_CTLSTAT 1:0 2, ZB_ZCACHE_CTLSTAT 0, WAIT_UNTIL 17.
const FLUSH_COLOUR: (u32, u32) = (0x4e4c, 2);
const FLUSH_DEPTH: (u32, u32) = (0x4f18, 1);
const WAIT: (u32, u32) = (0x1720, 1 << 17);

fn stream(writes: &[(u32, u32)]) -> Vec<u32> {
    let dwords = writes.iter().flat_map(|(o, v)| [type0(*o, 1), *v]);
    dwords.collect()
}

/// A draw of one vertex.
fn vertex() -> Vec<u32> {
    let draw = packet(0x35, &[1 << 16 | 3 << 4 | 4, 0]);
    [stream(&[(0x20b4, 1)]), draw].concat()
}

/// 64 by 16 pixels of 32 bits in four targets, 1 MB apart beyond the first; depth of 16 bits, which is tested; a
/// resolve has a place.
fn state() -> Vec<u32> {
    let mut all = vec![
        (0x43e0, 0),
        (0x43e4, 15 << 13 | 63),
        (0x4e0c, 15),
        (0x4f00, 2),
        (0x4f10, 0),
        (0x4f20, DEPTH),
        (0x4f24, 64),
        (0x4e80, RESOLVE),
        (0x4e84, 64),
    ];
    for n in 0..4 {
        let place = if n == 0 {
            COLOUR
        } else {
            0x40_0000 + (n << 20)
        };
        all.extend([(0x4e28 + 4 * n, place), (0x4e38 + 4 * n, 6 << 21 | 64)]);
    }
    stream(&all)
}

/// Runs a program; what was accessed.
fn run(dwords: &[Vec<u32>]) -> (Rig, Vec<Access>) {
    let rig = Rig::new();
    rig.gpu.take_accesses();
    rig.run_indirect(&dwords.concat());
    let (all, lost) = rig.gpu.take_accesses();
    assert_eq!(lost, 0);
    (rig, all)
}

fn disputed(rig: &Rig) -> bool {
    rig.gpu.lint_count(Rule::Disputed) != 0
}

fn written(all: &[Access], unit: Unit, addr: u32) -> bool {
    let mine = all.iter().filter(|a| a.unit == unit && a.write);
    mine.into_iter()
        .any(|a| (a.addr..a.end()).contains(&addr.into()))
}

/// A write behind a draw: registers before the draw, the write, and a byte that it adds.
struct Case {
    before: &'static [(u32, u32)],
    write: (u32, u32),
    flushes: &'static [(u32, u32)],
    adds: (Unit, u32),
}

const fn case(
    before: &'static [(u32, u32)],
    write: (u32, u32),
    flushes: &'static [(u32, u32)],
    adds: (Unit, u32),
) -> Case {
    Case {
        before,
        write,
        flushes,
        adds,
    }
}

const C: &[(u32, u32)] = &[FLUSH_COLOUR];
const D: &[(u32, u32)] = &[FLUSH_DEPTH];
const BOTH: &[(u32, u32)] = &[FLUSH_COLOUR, FLUSH_DEPTH];
/// RB3D_CCTL 6:5: four targets.
const FOUR: &[(u32, u32)] = &[(0x4e00, 3 << 5)];
/// RB3D_AARESOLVE_CTL.
const RESOLVES: &[(u32, u32)] = &[(0x4e88, 5)];
/// ZB_CNTL 1, 2: depth is written.
const WRITES: &[(u32, u32)] = &[(0x4f00, 6)];
/// Rows of 128 pixels of 32 bits: the last of 16 rows.
const WIDE: u32 = 6 << 21 | 128;
const LAST: u32 = 15 * 512;

const CASES: [Case; 18] = [
    case(&[], (0x4e00, 1 << 5), C, (Unit::Color, 0x50_0000)),
    case(&[], (0x4e28, ELSEWHERE), C, (Unit::Color, ELSEWHERE)),
    case(FOUR, (0x4e2c, ELSEWHERE), C, (Unit::Color, ELSEWHERE)),
    case(FOUR, (0x4e30, ELSEWHERE), C, (Unit::Color, ELSEWHERE)),
    case(FOUR, (0x4e34, ELSEWHERE), C, (Unit::Color, ELSEWHERE)),
    case(&[], (0x4e38, WIDE), C, (Unit::Color, COLOUR + LAST)),
    case(FOUR, (0x4e3c, WIDE), C, (Unit::Color, 0x50_0000 + LAST)),
    case(FOUR, (0x4e40, WIDE), C, (Unit::Color, 0x60_0000 + LAST)),
    case(FOUR, (0x4e44, WIDE), C, (Unit::Color, 0x70_0000 + LAST)),
    case(RESOLVES, (0x4e80, ELSEWHERE), C, (Unit::Resolve, ELSEWHERE)),
    case(RESOLVES, (0x4e84, 128), C, (Unit::Resolve, RESOLVE + LAST)),
    case(&[], (0x4e88, 5), C, (Unit::Resolve, RESOLVE)),
    // Four samples.
    case(&[], (0x4020, 5), BOTH, (Unit::Color, COLOUR + 3 * 4096)),
    case(WRITES, (0x4020, 5), BOTH, (Unit::Depth, DEPTH + 3 * 2048)),
    case(WRITES, (0x4f10, 2), D, (Unit::Depth, DEPTH + 4095)),
    case(&[], (0x4f1c, 1 << 5), D, (Unit::Depth, DEPTH)),
    case(WRITES, (0x4f20, ELSEWHERE), D, (Unit::Depth, ELSEWHERE)),
    case(WRITES, (0x4f24, 128), D, (Unit::Depth, DEPTH + 15 * 256)),
];

impl Case {
    /// Returns whether the write adds its byte, with some registers written between it and the draw.
    fn adds(&self, between: &[(u32, u32)]) -> bool {
        let (rig, all) = run(&[
            state(),
            stream(self.before),
            vertex(),
            stream(between),
            stream(&[self.write]),
        ]);
        let adds = written(&all, self.adds.0, self.adds.1);
        assert_eq!(adds, disputed(&rig), "{:x?} {between:x?}", self.write);
        adds
    }
}

#[test]
fn writes_behind_a_draw_move_its_pixels() {
    for c in &CASES {
        let (flushes, write) = (c.flushes, c.write);
        assert!(c.adds(&[]), "{write:x?} without a flush");
        assert!(c.adds(flushes), "{write:x?} without a wait");
        assert!(c.adds(&[WAIT]), "{write:x?} without a flush but a wait");
        let late = [&[WAIT], flushes].concat();
        assert!(c.adds(&late), "{write:x?} with the wait before the flush");
        // 3D_IDLE says nothing of caches.
        let idle = [flushes, &[(0x1720, 1 << 15)]].concat();
        assert!(c.adds(&idle), "{write:x?} with idle");
        let clean = [flushes, &[WAIT]].concat();
        assert!(!c.adds(&clean), "{write:x?} with flush and wait");
        // Bits that free lines do not flush them.
        let free = [(0x4e4c, 8), (0x4f18, 2), WAIT];
        assert!(c.adds(&free), "{write:x?} with lines freed");
    }
}

/// The flush of the other cache is none.
#[test]
fn each_cache_has_a_flush_of_its_own() {
    for c in CASES.iter().filter(|c| c.flushes.len() == 1) {
        let other = if c.flushes == C { D } else { C };
        assert!(c.adds(&[other, &[WAIT]].concat()), "{:x?}", c.write);
    }
    for c in CASES.iter().filter(|c| c.flushes.len() == 2) {
        let other = if c.adds.0 == Unit::Color { D } else { C };
        assert!(c.adds(&[other, &[WAIT]].concat()), "{:x?}", c.write);
    }
}

/// A draw without depth has none in the cache: its end is enough.
#[test]
fn what_a_draw_does_not_use_is_not_held() {
    // ZB_BW_CNTL 5 clears depth, whatever ZB_CNTL says.
    let clear = case(&[(0x4f00, 0)], (0x4f1c, 1 << 5), D, (Unit::Depth, DEPTH));
    assert!(clear.adds(&[]));
    assert!(!clear.adds(&[WAIT]));
    // And colour, whatever the mask says.
    let before = &[(0x4f00, 0), (0x4e0c, 0)];
    let clear = case(before, (0x4f1c, 1 << 5), D, (Unit::Color, COLOUR));
    assert!(clear.adds(&[]));
    assert!(!clear.adds(&[WAIT]));
}

/// A value that is there already moves nothing.
#[test]
fn the_same_value_again() {
    for write in [
        (0x4e28, COLOUR),
        (0x4e38, 6 << 21 | 64),
        (0x4f1c, 0),
        (0x4020, 0),
    ] {
        let (rig, _) = run(&[state(), vertex(), stream(&[write])]);
        assert!(!disputed(&rig), "{write:x?}");
    }
    // Nor does a change that reaches no byte: ZB_BW_CNTL 3, colour 1 without a second target.
    let (rig, _) = run(&[
        state(),
        vertex(),
        stream(&[(0x4f1c, 8), (0x4e2c, ELSEWHERE)]),
    ]);
    assert!(!disputed(&rig));
}

/// Pipelined registers stay with their draw: later values of the scissor and the masks do not apply to its pixels.
#[test]
fn draws_keep_their_scissor_and_masks() {
    let end = ELSEWHERE + 15 * 256 + 255;
    let small = stream(&[(0x43e4, 0), (0x4e0c, 0)]);
    let moved = stream(&[(0x4e28, ELSEWHERE)]);
    let (rig, all) = run(&[state(), vertex(), small.clone(), moved.clone()]);
    assert!(written(&all, Unit::Color, end));
    assert!(disputed(&rig));
    // A draw behind it does not push it out of the cache.
    let (_, all) = run(&[state(), vertex(), small.clone(), vertex(), moved.clone()]);
    assert!(written(&all, Unit::Color, end));
    // What is drawn after a flush and a wait is a pixel, without colour.
    let clean = stream(&[FLUSH_COLOUR, FLUSH_DEPTH, WAIT]);
    let (rig, all) = run(&[state(), vertex(), clean, small, vertex(), moved]);
    assert!(!written(&all, Unit::Color, ELSEWHERE));
    assert!(!disputed(&rig));
}

/// A fence's flush lets the next stream start clean.
#[test]
fn streams_start_clean() {
    let rig = Rig::new();
    rig.run_indirect(&[state(), vertex()].concat());
    rig.run(&stream(&[FLUSH_COLOUR, FLUSH_DEPTH, WAIT]));
    rig.run_indirect(&stream(&[(0x4e28, ELSEWHERE), (0x4f20, ELSEWHERE)]));
    assert!(!disputed(&rig));
    rig.run_indirect(&vertex());
    rig.run_indirect(&stream(&[(0x4e28, COLOUR)]));
    assert!(disputed(&rig));
}
