// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The blitter (digest §2.2 rows 2 to 5; Tile4's order of blocks from published drivers). The user
//! spaces are those of the test rig: guest memory from 0x100000 on, local memory from 0x2400000 on.

use crate::dg2_rig::*;
use gpu_model::counters::Counter;
use gpu_model::dg2::{EngineId, Rule, StepResult};

const E: EngineId = EngineId::Bcs;
const HIGH: u32 = 1;
const LOCAL_LOW: u32 = 0x20_0000;

/// XY_FAST_COLOR_BLT of 32-bit pixels, linear: pitch, corners, address, colour.
fn fill(pitch: u32, from: (u32, u32), to: (u32, u32), at: u32, colour: u32) -> Vec<u32> {
    let mut d = vec![0; 16];
    d[0] = 0x5110_000e;
    d[1] = pitch - 1;
    d[2] = from.1 << 16 | from.0;
    d[3] = to.1 << 16 | to.0;
    (d[4], d[5]) = (at, HIGH);
    d[7] = colour;
    d
}

#[test]
fn fills_a_rectangle_of_guest_memory() {
    let rig = Rig::new();
    rig.run(E, &fill(64, (1, 2), (3, 4), 0x1_0000, 0xaabb_ccdd));
    for y in 0..5u64 {
        for x in 0..5u64 {
            let inside = (1..3).contains(&x) && (2..4).contains(&y);
            let seen = rig.at(0x11_0000 + 64 * y + 4 * x);
            assert_eq!(seen, if inside { 0xaabb_ccdd } else { 0 }, "{x} {y}");
        }
    }
    assert_eq!(rig.gpu.counter(Counter::BltCommands), 1);
    assert_eq!(rig.gpu.counter(Counter::BltBytes), 16);
    rig.clean();
}

#[test]
fn fills_by_every_depth() {
    // Bits 21:19: 8, 16, 32, 64, 96, 128 bits.
    let colour = [0x4433_2211, 0x8877_6655, 0xccbb_aa99, 0x00ff_eedd];
    for (depth, bytes) in [(0, 1usize), (1, 2), (2, 4), (3, 8), (4, 12), (5, 16)] {
        let rig = Rig::new();
        let mut d = fill(64, (1, 0), (2, 1), LOCAL_LOW, 0);
        d[0] = 0x5100_000e | depth << 19;
        d[7..11].copy_from_slice(&colour);
        rig.run(E, &d);
        let all: Vec<u8> = colour.iter().flat_map(|c| c.to_le_bytes()).collect();
        let mut b = [0; 48];
        rig.gpu.lmem_read(0x240_0000, &mut b);
        assert_eq!(b[bytes..2 * bytes], all[..bytes], "{bytes}");
        assert!(
            b[..bytes].iter().chain(&b[2 * bytes..]).all(|v| *v == 0),
            "{bytes}"
        );
        rig.clean();
    }
}

#[test]
fn a_large_fill_is_done_in_parts() {
    let rig = Rig::new();
    rig.context(0);
    // 1 MB: 4096 bytes by 256 rows.
    rig.append(0, &fill(4096, (0, 0), (1024, 256), LOCAL_LOW, 7));
    rig.load(E, &[descriptor(0)]);
    rig.gpu.step(E);
    rig.gpu.step(E);
    assert_eq!(rig.gpu.step(E), StepResult::Ran);
    assert_eq!((rig.local(0x240_0000), rig.local(0x24f_fffc)), (7, 0));
    rig.settle();
    assert_eq!(rig.local(0x24f_fffc), 7);
    assert_eq!(rig.gpu.counter(Counter::BltBytes), 1 << 20);
    rig.clean();
}

#[test]
fn copies_between_the_memories() {
    let rig = Rig::new();
    let words: Vec<u32> = (0..32).collect();
    rig.put(0x11_0000, &words);
    // XY_FAST_COPY_BLT: 32 bits (3 << 24), pitch 32; two pixels right and one row down in the source.
    let mut d = [0; 10];
    d[0] = 0x5080_0008;
    d[1] = 3 << 24 | 32;
    (d[2], d[3]) = (0, 2 << 16 | 4);
    (d[4], d[5]) = (LOCAL_LOW, HIGH);
    d[6] = 1 << 16 | 2;
    d[7] = 32;
    (d[8], d[9]) = (0x1_0000, HIGH);
    rig.run(E, &d);
    let row = |y: u64| {
        (0..5)
            .map(|x| rig.local(0x240_0000 + 32 * y + 4 * x))
            .collect::<Vec<_>>()
    };
    assert_eq!(row(0), [10, 11, 12, 13, 0]);
    assert_eq!(row(1), [18, 19, 20, 21, 0]);
    // And back, by XY_BLOCK_COPY_BLT: pitches less one, the offset of the destination moves it.
    let mut d = [0; 22];
    d[0] = 0x5050_0014;
    d[1] = 31;
    (d[2], d[3]) = (0, 1 << 16 | 4);
    (d[4], d[5]) = (0x2_0000, HIGH);
    d[6] = 2 << 16 | 1;
    d[7] = 1 << 16;
    d[8] = 31;
    (d[9], d[10]) = (LOCAL_LOW, HIGH);
    rig.run(E, &d);
    let seen: Vec<u32> = (0..6).map(|x| rig.at(0x12_0040 + 4 * x)).collect();
    assert_eq!(seen, [0, 18, 19, 20, 21, 0]);
    rig.clean();
}

#[test]
fn tiles() {
    let rig = Rig::new();
    // Tile4 (2 << 30) with a pitch of 128 bytes, in dwords less one: pixel 16 of row 5 is in block
    // 12, row 1 of it; X tiles (1 << 30): row 3 of 512 bytes.
    for (tiling, pitch, x, y, at) in [(2, 31, 16, 5, 12 * 64 + 16), (1, 127, 16, 3, 3 * 512 + 64)] {
        let mut d = fill(4, (x, y), (x + 1, y + 1), LOCAL_LOW, 0x99);
        d[1] = tiling << 30 | pitch;
        rig.run(E, &d);
        assert_eq!(rig.local(0x240_0000 + at), 0x99, "{tiling}");
    }
    rig.clean();
    // XY_FAST_COPY_BLT from Tile4 (21:20 = 2, and bit 31) to rows.
    let mut d = [0; 10];
    d[0] = 0x50a0_0008;
    d[1] = 1 << 31 | 3 << 24 | 64;
    (d[2], d[3]) = (0, 1 << 16 | 1);
    (d[4], d[5]) = (0x3_0000, HIGH);
    d[6] = 5 << 16 | 16;
    d[7] = 32;
    (d[8], d[9]) = (LOCAL_LOW, HIGH);
    rig.run(E, &d);
    assert_eq!(rig.at(0x13_0000), 0x99);
    rig.clean();
}

#[test]
fn what_does_not_fit_or_is_not_modelled_does_nothing() {
    let rig = Rig::new();
    // Tile64.
    let mut d = fill(4, (0, 0), (1, 1), LOCAL_LOW, 5);
    d[1] = 3 << 30 | 31;
    rig.run(E, &d);
    assert_eq!(rig.gpu.lint_count(Rule::NotModelled), 1);
    // Tile4 at an address that is no page's, a negative corner.
    let mut d = fill(4, (0, 0), (1, 1), LOCAL_LOW + 64, 5);
    d[1] = 2 << 30 | 31;
    rig.run(E, &d);
    rig.run(E, &fill(64, (0xffff, 0), (2, 1), LOCAL_LOW, 5));
    assert_eq!(rig.gpu.lint_count(Rule::BlitSurface), 2);
    // Empty: nothing to tell.
    rig.run(E, &fill(64, (2, 2), (2, 4), LOCAL_LOW, 5));
    assert_eq!(rig.gpu.counter(Counter::BltBytes), 0);
    assert_eq!(rig.csb_pointer(E), 7);
}

#[test]
fn compression_state_is_copied() {
    let rig = Rig::new();
    // The flat CCS begins at 0x3fc0000: a byte for each 256. Local 0x2400000 has its state 0x24000
    // behind that. From data in memory (bit 21) to a surface, two blocks (bits 17:8 = 1).
    let data: Vec<u32> = (0..128).collect();
    rig.put(0x11_0000, &data);
    rig.run(E, &[0x5220_0103, 0x1_0000, HIGH, LOCAL_LOW, HIGH]);
    assert_eq!(rig.local(0x3fc_0000 + 0x2_4000 + 4), 1);
    assert_eq!(rig.local(0x3fc_0000 + 0x2_4000 + 508), 127);
    // And from the surface to data (bit 20).
    rig.run(E, &[0x5210_0003, LOCAL_LOW, HIGH, 0x2_0000, HIGH]);
    assert_eq!(
        (rig.at(0x12_0004), rig.at(0x12_00fc), rig.at(0x12_0100)),
        (1, 63, 0)
    );
    rig.clean();
    // A surface that has no state.
    rig.run(E, &[0x5210_0003, 0x1_0000, HIGH, 0x2_0000, HIGH]);
    assert_eq!(rig.gpu.lint_count(Rule::BlitSurface), 1);
}

#[test]
fn a_fault_in_the_middle_stops_the_engine() {
    let rig = Rig::new();
    // The second row is behind the mapped 2 MB.
    rig.run(E, &fill(4096, (0, 0), (4, 2), 0x3f_f000, 5));
    assert_eq!(rig.gpu.step(E), StepResult::Stopped);
    assert_eq!(rig.local(0x25f_f000), 5);
    // RING_FAULT: valid, blitter; page 0x100400 of the per-process space.
    assert_eq!(
        (rig.reg(0xcec4), rig.reg(0xceb8), rig.reg(0xcebc)),
        (0x2001, 0x10_0400, 0)
    );
    assert_eq!(rig.gpu.counter(Counter::PageFaults), 1);
}

#[test]
fn the_older_commands_fill_and_copy() {
    // XY_COLOR_BLT and XY_SRC_COPY_BLT of G45, PRM Vol 1b §8.9, with addresses of two dwords: 32 bits
    // (BR13 25:24 = 3, both write enables), pattern (F0h) and source (CCh), rows of 64 bytes.
    let rig = Rig::new();
    let colour = [
        0x5430_0005,
        0x03f0_0040,
        2 << 16 | 1,
        4 << 16 | 3,
        0x1_0000,
        HIGH,
        0x1234_5678,
    ];
    let copy = [
        0x54f0_0008,
        0x03cc_0040,
        0,
        3 << 16 | 3,
        LOCAL_LOW,
        HIGH,
        1 << 16,
        0x40,
        0x1_0000,
        HIGH,
    ];
    rig.run(E, &colour);
    rig.run(E, &copy);
    for y in 0..5u64 {
        for x in 0..5u64 {
            let filled = |x, y| (1..3).contains(&x) && (2..4).contains(&y);
            let value = |there| if there { 0x1234_5678 } else { 0 };
            assert_eq!(
                rig.at(0x11_0000 + 64 * y + 4 * x),
                value(filled(x, y)),
                "{x} {y}"
            );
            // Three rows of three pixels, from the second row on.
            let copied = x < 3 && y < 3 && filled(x, y + 1);
            assert_eq!(
                rig.local(0x240_0000 + 64 * y + 4 * x),
                value(copied),
                "{x} {y}"
            );
        }
    }
    rig.clean();
}

#[test]
fn the_older_commands_know_tiles_and_small_pixels() {
    // 8 bits, destination in X tiles (header bit 11; the pitch is in dwords): pixel 511 of row 1 lies
    // at 512 + 511, pixel 512 in the next tile.
    let rig = Rig::new();
    let fill = [
        0x5400_0805,
        0x00f0_0100,
        1 << 16 | 511,
        2 << 16 | 513,
        LOCAL_LOW,
        HIGH,
        0xa5,
    ];
    rig.run(E, &fill);
    assert_eq!(rig.local(0x240_0000 + 1020), 0xa500_0000);
    assert_eq!(rig.local(0x240_0000 + 4096 + 512), 0x0000_00a5);
    assert_eq!(rig.gpu.counter(Counter::BltBytes), 2);
    rig.clean();
    // Another raster operation, clipping, a write mask: not modelled, and told.
    for (header, br13) in [
        (0x5430_0005, 0x035a_0040),
        (0x5430_0005, 0x43f0_0040),
        (0x5410_0005, 0x03f0_0040),
    ] {
        rig.run(E, &[header, br13, 0, 1 << 16 | 1, LOCAL_LOW, HIGH, !0]);
    }
    assert_eq!(rig.gpu.lint_count(Rule::NotModelled), 3);
    assert_eq!(rig.local(0x240_0000), 0);
}
