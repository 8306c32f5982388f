// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Pipes and what is written to them: SU_REG_DEST (42C8), and FG_ZBREG_DEST (4BE8) on RV530 (digest of
//! 3D, §12.7; AMD's page of ZB_ZPASS_ADDR).

use crate::r5xx_rig::{config, packet, type0, Rig};
use gpu_model::r5xx::{Access, Rule, Unit};

const DEST: u32 = 0x42c8;
const Z_DEST: u32 = 0x4be8;
const SCISSOR1: u32 = 0x43e4;

fn chip(name: &str) -> Rig {
    Rig::with(config(name))
}

fn reg(offset: u32, value: u32) -> [u32; 2] {
    [type0(offset, 1), value]
}

fn stream(writes: &[(u32, u32)]) -> Vec<u32> {
    writes.iter().flat_map(|(o, v)| reg(*o, *v)).collect()
}

/// An immediate draw of three vertices of one dword.
fn draw() -> Vec<u32> {
    [
        &reg(0x20b4, 1)[..],
        &packet(0x35, &[3 << 16 | 3 << 4 | 4, 0, 0, 0]),
    ]
    .concat()
}

/// A linear colour buffer of 8888 with 64 pixels in a row, all channels; all of the screen's first rows.
const TARGET: [(u32, u32); 5] = [
    (0x4e28, 0x10_0000),
    (0x4e38, 6 << 21 | 64),
    (0x4e0c, 0xf),
    (0x43e0, 0),
    (SCISSOR1, 3 << 13 | 63),
];

/// First and last byte that a unit writes.
fn written(all: &[Access], unit: Unit) -> Option<(u64, u64)> {
    let mine = all.iter().filter(|a| a.unit == unit && a.write);
    let mine: Vec<_> = mine.collect();
    let first = mine.iter().map(|a| a.addr).min()?;
    let last = mine.iter().map(|a| a.end()).max()?;
    Some((first, last))
}

/// Runs writes and a draw as a program, and says where colour and depth go.
fn drawn(rig: &Rig, writes: &[(u32, u32)]) -> [Option<(u64, u64)>; 2] {
    rig.gpu.take_accesses();
    rig.run_indirect(&[stream(writes), draw()].concat());
    let (all, _) = rig.gpu.take_accesses();
    [written(&all, Unit::Color), written(&all, Unit::Depth)]
}

/// A write that is for no pipe, or for one that is not there, is lost.
#[test]
fn a_write_for_nobody_is_lost() {
    for (name, none) in [("rv515", 0), ("rv515", 0xe), ("r520", 0), ("rv530", 0xe)] {
        let rig = chip(name);
        rig.run(&stream(&[(SCISSOR1, 7), (DEST, none), (SCISSOR1, 9)]));
        assert_eq!(rig.reg(SCISSOR1), 7, "{name} {none:x}");
        // What is before the pipes has no part in it.
        rig.run(&stream(&[(0x4020, 3), (0x42a4, 5), (0x142c, 0x40_0000)]));
        assert_eq!(
            [0x4020, 0x42a4, 0x142c].map(|o| rig.reg(o)),
            [3, 5, 0x40_0000]
        );
        rig.run(&stream(&[(DEST, 0xf), (SCISSOR1, 9)]));
        assert_eq!(rig.reg(SCISSOR1), 9, "{name}");
        rig.clean();
    }
}

#[test]
fn each_pipe_has_its_own() {
    let rig = chip("r580");
    rig.run(&stream(&[
        (0x4e28, 1 << 20),
        (DEST, 1 << 2),
        (0x4e28, 2 << 20),
    ]));
    let at = |pipe| rig.gpu.pipe_register(pipe, 0x4e28);
    assert_eq!([0, 1, 2, 3].map(at), [1 << 20, 1 << 20, 2 << 20, 1 << 20]);
    rig.run(&stream(&[(DEST, 0b1011), (0x4e28, 3 << 20)]));
    assert_eq!([0, 1, 2, 3].map(at), [3 << 20, 3 << 20, 2 << 20, 3 << 20]);
    rig.run(&stream(&[(DEST, 0xf), (0x4e28, 4 << 20)]));
    assert_eq!([0, 1, 2, 3].map(at), [4 << 20; 4]);
    rig.clean();
}

/// 43E4 = 8192 rows; 42C8 = 0; 43E4 = 64 rows; 42C8 = F: who believes the last write sees 64 rows, and
/// the chip draws 8192 of 256 bytes.
#[test]
fn a_scissor_that_the_chip_did_not_get() {
    for name in ["rv515", "r520", "rv530"] {
        let rig = chip(name);
        let hidden = [
            (SCISSOR1, 0x1fff << 13 | 63),
            (DEST, 0),
            (SCISSOR1, 63 << 13 | 63),
            (DEST, 0xf),
        ];
        let [colour, _] = drawn(&rig, &[&TARGET[..4], &hidden].concat());
        assert_eq!(colour, Some((0x10_0000, 0x10_0000 + 8192 * 256)), "{name}");
    }
}

/// Pipe 1 of four draws elsewhere: what a draw can touch is what any pipe can.
#[test]
fn a_draw_is_done_by_every_pipe() {
    let rig = chip("r520");
    let hidden = [(DEST, 1 << 1), (0x4e28, 0x40_0000), (DEST, 0xf)];
    let [colour, _] = drawn(&rig, &[&TARGET[..], &hidden].concat());
    assert_eq!(colour, Some((0x10_0000, 0x40_0000 + 4 * 256)));
    // The one pipe of an RV515 has no neighbours.
    let rig = chip("rv515");
    let [colour, _] = drawn(&rig, &[&TARGET[..], &hidden].concat());
    assert_eq!(colour, Some((0x10_0000, 0x10_0000 + 4 * 256)));
}

/// RV530: a depth buffer's address that is hidden from one of the two Z pipes, or from both.
#[test]
fn z_pipes_have_a_mask_of_their_own() {
    let depth = [(0x4f00, 6), (0x4f10, 2), (0x4f20, 0x20_0000), (0x4f24, 64)];
    for (mask, first, end) in [
        (3, 0x60_0000, 0x60_0400),
        (0, 0x20_0000, 0x20_0400),
        (1, 0x20_0000, 0x60_0400),
        (2, 0x20_0000, 0x60_0400),
    ] {
        let rig = chip("rv530");
        let hidden = [(Z_DEST, mask), (0x4f20, 0x60_0000), (Z_DEST, 3)];
        let [_, z] = drawn(&rig, &[&TARGET[..], &depth, &hidden].concat());
        assert_eq!(z, Some((first, end)), "{mask}");
        // It is a register like any other elsewhere, and colour does not mind it.
        let rig = chip("r520");
        let [_, z] = drawn(&rig, &[&TARGET[..], &depth, &hidden].concat());
        assert_eq!(z, Some((0x60_0000, 0x60_0400)), "r520 {mask}");
    }
    // Both masks must be open.
    let rig = chip("rv530");
    rig.run(&stream(&[(0x4f20, 64), (DEST, 0), (0x4f20, 96)]));
    assert_eq!([0, 1].map(|p| rig.gpu.pipe_register(p, 0x4f20)), [64, 64]);
}

/// What the driver writes at the end of a request (digest §2.9): RB3D and Z flush, idle and clean, the
/// number into a scratch register, the interrupt.
const FENCE: [u32; 10] = [
    0x1393,
    2,
    0x13c6,
    1,
    0x5c8,
    0x30000,
    0x578,
    7,
    0x11,
    0x0400_0000,
];

#[test]
fn a_fence_behind_a_mask_is_no_fence() {
    let told = |rig: &Rig| {
        let of = |rule| {
            let all = rig.gpu.lints();
            all.iter().find(|l| l.0 == rule).map_or(0, |l| l.1)
        };
        (of(Rule::FlushMissed), of(Rule::EarlyInterrupt))
    };
    for (name, mask) in [("rv515", 0), ("r520", 0), ("r520", 0b0111), ("rv530", 0)] {
        let rig = chip(name);
        let _ = drawn(&rig, &TARGET);
        rig.run(&FENCE);
        assert_eq!(told(&rig), (0, 0), "{name}");
        let _ = drawn(&rig, &[&TARGET[..], &[(DEST, mask)]].concat());
        rig.run_indirect(&stream(&[(DEST, mask)]));
        rig.run(&FENCE);
        // Two flushes that do not reach all pipes; the number, and the interrupt.
        assert_eq!(told(&rig), (4, 1), "{name} {mask:x}");
        // It stays there until a flush comes that does, and then is written late.
        rig.gpu.take_accesses();
        rig.run(&[&reg(DEST, 0xf)[..], &FENCE].concat());
        assert_eq!(told(&rig), (4, 1), "{name} {mask:x}");
        let (late, _) = rig.gpu.take_accesses();
        assert_eq!(
            written(&late, Unit::Color),
            Some((0x10_0000, 0x10_0000 + 4 * 256)),
            "{name} {mask:x}"
        );
        rig.run(&FENCE);
        let (late, _) = rig.gpu.take_accesses();
        assert_eq!(written(&late, Unit::Color), None, "{name}: once");
        assert_eq!(told(&rig), (4, 1), "{name}");
    }
}

/// RV530: the depth cache alone is missed.
#[test]
fn a_fence_behind_the_z_mask() {
    let rig = chip("rv530");
    let depth = [(0x4f00, 6), (0x4f10, 2), (0x4f20, 0x20_0000), (0x4f24, 64)];
    let _ = drawn(&rig, &[&TARGET[..], &depth].concat());
    rig.run_indirect(&stream(&[(Z_DEST, 2)]));
    rig.run(&FENCE);
    assert_eq!(
        rig.gpu.lints(),
        [(Rule::EarlyInterrupt, 1), (Rule::FlushMissed, 3)]
    );
    rig.gpu.take_accesses();
    rig.run(&[&reg(Z_DEST, 3)[..], &FENCE].concat());
    let (late, _) = rig.gpu.take_accesses();
    assert_eq!(written(&late, Unit::Color), None);
    assert_eq!(written(&late, Unit::Depth), Some((0x20_0000, 0x20_0400)));
}

/// A program may flush whom it likes: the driver's flush at the end makes good for it.
#[test]
fn a_programs_own_flush() {
    let rig = chip("r520");
    let own = [(DEST, 1), (0x4e4c, 2), (DEST, 0xf)];
    let _ = drawn(&rig, &TARGET);
    rig.run_indirect(&stream(&own));
    rig.run(&FENCE);
    rig.clean();
}

/// Counted pixels (4F5C): a dword from each selected pipe, none without one.
#[test]
fn counted_pixels_of_selected_pipes() {
    let rig = chip("r520");
    let query: Vec<_> = (0..4)
        .flat_map(|n| [(DEST, 1 << n), (0x4f5c, 0x50_0000 + 4 * n)])
        .chain([(DEST, 0xf)])
        .collect();
    rig.gpu.take_accesses();
    rig.run_indirect(&stream(&query));
    let (all, _) = rig.gpu.take_accesses();
    assert_eq!(written(&all, Unit::ZPass), Some((0x50_0000, 0x50_0010)));
    rig.run_indirect(&stream(&[(DEST, 0), (0x4f5c, 0x50_0000), (DEST, 0xf)]));
    let (all, _) = rig.gpu.take_accesses();
    assert_eq!(written(&all, Unit::ZPass), None);
    rig.clean();
}

/// The pixel shaders' memory (4250, 4254): a wipe that does not reach a pipe leaves what was there, and
/// it is the driver's affair.
#[test]
fn shader_memories_behind_a_mask() {
    let rig = chip("r520");
    let upload = |value: u32| {
        [
            &reg(0x4250, 0)[..],
            &[type0(0x4254, 2) | 1 << 15, value, value],
        ]
        .concat()
    };
    let at = |pipe| rig.gpu.shader_dword(pipe, false, 1);
    rig.run_indirect(&upload(5));
    assert_eq!([0, 1, 2, 3].map(at), [Some(5); 4]);
    rig.run_indirect(&[&reg(DEST, 0b0010)[..], &upload(6), &reg(DEST, 0xf)].concat());
    assert_eq!([0, 1, 2, 3].map(at), [Some(5), Some(6), Some(5), Some(5)]);
    rig.clean();
    rig.run(&[&reg(DEST, 0)[..], &upload(0), &reg(DEST, 0xf)].concat());
    assert_eq!([0, 1, 2, 3].map(at), [Some(5), Some(6), Some(5), Some(5)]);
    assert_eq!(rig.gpu.lint_count(Rule::FlushMissed), 3);
    rig.run(&upload(0));
    assert_eq!([0, 1, 2, 3].map(at), [Some(0); 4]);
    assert_eq!(rig.gpu.lint_count(Rule::FlushMissed), 3);
}

/// So it is with the tags of textures (4100).
#[test]
fn stale_textures_behind_a_mask() {
    let rig = chip("rv515");
    rig.run(&stream(&[(0x4100, 0)]));
    rig.clean();
    rig.run(&stream(&[(DEST, 2), (0x4100, 0), (DEST, 1)]));
    assert_eq!(rig.gpu.lints(), [(Rule::FlushMissed, 1)]);
}
