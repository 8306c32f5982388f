// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What the CPU sees of video memory, and the DMA channels (R5xx guide §2.2, §4.7, §4.14; digest §4.1,
//! §4.2).

use crate::r5xx_rig::{type0, Rig, GTT};
use gpu_model::counters::Counter;
use gpu_model::r5xx::Rule;

const SURFACE: u32 = 0x10_0000;

/// A surface register over 64 rows of 1024 bytes: pitch in units of 8 bytes, 16 macro, 17 micro.
fn surface(rig: &Rig, n: u32, start: u32, tiles: u32) {
    rig.set(0xb04 + 16 * n, start);
    rig.set(0xb08 + 16 * n, start + 64 * 1024 - 1);
    rig.set(0xb0c + 16 * n, (tiles << 16) | (1024 / 8));
}

/// Digest §4.1: pixels of 32 bits, 256 in a row, at (1,0), (0,1), (5,3), (33,17), (255,63).
#[test]
fn the_cpu_sees_rows() {
    for (tiles, places) in [
        (3, [0x4, 0x10, 0x134, 0x4814, 0xfffc]),
        (1, [0x4, 0x100, 0x314, 0x4184, 0xfffc]),
        (2, [0x4, 0x10, 0x834, 0x4114, 0xfffc]),
    ] {
        let pixels = [(1, 0), (0, 1), (5, 3), (33, 17), (255, 63)];
        let rig = Rig::new();
        // Written where the chip has them, before any surface.
        for (n, place) in places.iter().enumerate() {
            rig.put(SURFACE + place, &[n as u32 + 1]);
        }
        surface(&rig, 2, SURFACE, tiles);
        for (n, (x, y)) in pixels.iter().enumerate() {
            assert_eq!(
                rig.at(SURFACE + y * 1024 + x * 4),
                n as u32 + 1,
                "{tiles} {x} {y}"
            );
        }
        // What the CPU writes, the chip finds in its tiles; and the other way round.
        rig.put(SURFACE + 17 * 1024 + 33 * 4, &[0x55]);
        let to = SURFACE + 0x20_0000;
        rig.run(&[
            type0(0x720, 3),
            SURFACE + places[3],
            to,
            4,
            type0(0x1720, 1),
            1 << 9,
        ]);
        assert_eq!(rig.at(to), 0x55, "{tiles}");
        rig.put(to, &[0x66]);
        rig.run(&[
            type0(0x720, 3),
            to,
            SURFACE + places[3],
            4,
            type0(0x1720, 1),
            1 << 9,
        ]);
        assert_eq!(rig.at(SURFACE + 17 * 1024 + 33 * 4), 0x66, "{tiles}");
        // Without the surface the CPU sees tiles again.
        rig.set(0xb0c + 32, 0);
        assert_eq!(rig.at(SURFACE + places[3]), 0x66, "{tiles}");
        rig.clean();
    }
}

/// Digest §3.2: bit 8 of SURFACE_CNTL switches all of it off.
#[test]
fn translation_can_be_off() {
    let rig = Rig::new();
    rig.put(SURFACE + 0x10, &[7]);
    surface(&rig, 0, SURFACE, 3);
    assert_eq!(rig.at(SURFACE + 1024), 7);
    rig.set(0xb00, 1 << 8);
    assert_eq!(rig.at(SURFACE + 0x10), 7);
    rig.clean();
}

/// A range with another pitch, or twice, has no effect and is reported.
#[test]
fn surfaces_that_do_not_fit() {
    let rig = Rig::new();
    surface(&rig, 0, SURFACE, 3);
    surface(&rig, 1, SURFACE + 0x8000, 3);
    assert_ne!(rig.gpu.lint_count(Rule::SurfaceOverlap), 0);
    let rig = Rig::new();
    rig.put(SURFACE + 0x10, &[7]);
    rig.set(0xb04, SURFACE);
    rig.set(0xb08, SURFACE + 0xffff);
    rig.set(0xb0c, (3 << 16) | (72 / 8));
    assert_eq!(rig.gpu.lint_count(Rule::SurfaceShape), 1);
    assert_eq!(rig.at(SURFACE + 0x10), 7);
}

const BYTES: u32 = 0x1f_ffff;
const EOL: u32 = 1 << 31;
const INTDIS: u32 = 1 << 30;

/// §4.7, §4.14: three registers, the last of which starts; any alignment; 0 does nothing; the kernel's
/// own form has INTDIS and EOL (digest §2.9).
#[test]
fn direct_descriptors() {
    let rig = Rig::new();
    let data: Vec<u32> = (0..4096).map(|n| n * 5 + 1).collect();
    rig.put_guest(0x4000, &data);
    let from = GTT + 0x4000;
    rig.run(&[
        type0(0x1720, 1),
        1 << 16,
        type0(0x720, 3),
        from,
        0x20_0000,
        EOL | INTDIS | 16384,
        type0(0x720, 3),
        from,
        0x30_0000,
        0,
        type0(0x1720, 1),
        1 << 9,
        type0(0x15e0, 1),
        1,
    ]);
    assert_eq!((rig.at(0x20_0000), rig.at(0x20_3ffc)), (1, 4095 * 5 + 1));
    assert_eq!(rig.at(0x30_0000), 0);
    assert_eq!(
        rig.reg(0x44) >> 30 & 1,
        1,
        "the second asked for an interrupt"
    );
    // Three bytes from an odd place to another.
    rig.run(&[type0(0x720, 3), 0x20_0001, 0x30_0002, 3]);
    // Bytes 1 to 3 of the first dword, which is 1, at bytes 2 to 4.
    assert_eq!((rig.at(0x30_0000), rig.at(0x30_0004)), (0, 0));
    rig.put(0x20_0000, &[0x4433_2211]);
    rig.run(&[type0(0x720, 3), 0x20_0001, 0x30_0002, 3]);
    assert_eq!((rig.at(0x30_0000), rig.at(0x30_0004)), (0x3322_0000, 0x44));
    rig.clean();
}

/// §4.14: a table in video memory, to its end; then the interrupt, unless it is disabled.
#[test]
fn descriptor_tables() {
    for (flags, raised) in [(EOL, 1), (EOL | INTDIS, 0)] {
        let rig = Rig::new();
        rig.put(0x20_0000, &[1, 2, 3, 4]);
        rig.put(
            0x10_0000,
            &[
                0x20_0000,
                0x30_0000,
                8,
                0,
                0x20_0008,
                0x30_0100,
                flags | 8,
                0,
                0x20_0000,
                0x30_0200,
                8,
                0,
            ],
        );
        rig.set(0x780, 0x10_0000);
        assert_eq!(rig.reg(0x790) >> 21 & 1, 1, "active");
        rig.settle();
        assert_eq!(rig.reg(0x790) >> 21 & 1, 0);
        assert_eq!([0, 4].map(|n| rig.at(0x30_0000 + n)), [1, 2]);
        assert_eq!([0, 4].map(|n| rig.at(0x30_0100 + n)), [3, 4]);
        assert_eq!(rig.at(0x30_0200), 0, "after the end");
        assert_eq!(rig.reg(0x44) >> 30 & 1, raised);
        assert_eq!(rig.gpu.counter(Counter::DmaDescriptors), 2);
        rig.clean();
    }
}

/// §4.7: sides that stand still, and the low bits that are then ignored.
#[test]
fn one_side_stands_still() {
    const DAIC: u32 = 1 << 29;
    const SAIC: u32 = 1 << 28;
    let rig = Rig::new();
    rig.put(0x20_0000, &[1, 2, 3]);
    rig.run(&[type0(0x720, 3), 0x20_0003, 0x30_0000, SAIC | 15]);
    assert_eq!([0, 4, 8, 12].map(|n| rig.at(0x30_0000 + n)), [1, 1, 1, 0]);
    rig.run(&[type0(0x720, 3), 0x20_0000, 0x30_0100, DAIC | 12]);
    assert_eq!([0, 4].map(|n| rig.at(0x30_0100 + n)), [3, 0]);
    rig.clean();
}

/// §4.7: into the registers' space. Digest E14: a way around every check, so it is reported.
#[test]
fn registers_by_dma() {
    let rig = Rig::new();
    rig.put(0x20_0000, &[0x1234]);
    rig.run(&[type0(0x720, 3), 0x20_0000, 0x15e0, 1 << 27 | 4]);
    assert_eq!(rig.reg(0x15e0), 0x1234);
    assert_eq!(rig.gpu.lint_count(Rule::DmaRegisters), 1);
}

/// §4.7: abort, wait until it is not active any more, and only then take it back. An endless table does not run without
/// end.
#[test]
fn aborts_and_endless_tables() {
    let rig = Rig::new();
    rig.put(0x20_0000, &[9]);
    for n in 0..8 {
        rig.put(0x10_0000 + 16 * n, &[0x20_0000, 0x30_0000, BYTES & 4, 0]);
    }
    rig.set(0x780, 0x10_0000);
    rig.set(0x790, 1 << 20);
    rig.set(0x790, 0);
    assert_eq!(rig.gpu.lint_count(Rule::DmaAbort), 1);
    rig.set(0x790, 1 << 20);
    rig.settle();
    assert_eq!(rig.reg(0x790) >> 21 & 1, 0);
    assert_eq!(rig.at(0x30_0000), 0);
    rig.set(0x790, 0);
    assert_eq!(rig.gpu.lint_count(Rule::DmaAbort), 1);
    rig.set(0x780, 0x10_0000);
    rig.settle();
    assert_eq!(rig.gpu.lint_count(Rule::DmaTable), 1);
    assert_eq!(rig.at(0x30_0000), 9);
}
