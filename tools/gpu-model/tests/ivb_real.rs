// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What real machines with an Ivy Bridge do and a kind model spares its driver, where it differs from a
//! Sandy Bridge: forcewake of several threads, firmware's bits, resets of one engine.
//!
//! Expected values are what the upstream driver reads and writes (peer digest A.9, I.3).

use crate::ivb_rig::{Rig, STORE_GLOBAL, TARGET, VCS};
use gpu_model::ring::lint::Rule;
use gpu_model::ring::RingConfig;

fn config(habits: &str) -> RingConfig {
    RingConfig {
        real: habits.parse().expect("habits"),
        ..Rig::choices()
    }
}

#[test]
fn firmware_bits_must_survive() {
    // I.3: 9030h, 900Ch, 14090h and 4090h are read and written.
    for (offset, bit) in [
        (0x9030, 1 << 4),
        (0x900c, 1 << 4),
        (0x1_4090, 1 << 4),
        (0x4090, 1 << 1),
    ] {
        let rig = Rig::bare(config("bits"));
        let found = rig.reg(offset);
        assert_eq!(found, bit, "{offset:#x}");
        rig.set(offset, found | 0x800);
        rig.set(0x941c, 1);
        assert_eq!(rig.reg(offset) & bit, bit, "after a reset as well");
        rig.clean();
        rig.set(offset, 0x800);
        assert_eq!(rig.gpu.lint_count(Rule::BitsLost), 1, "{offset:#x}");
    }
}

#[test]
fn an_acknowledge_outlives_its_release() {
    // V-04's registers; the acknowledge of the last thread stays up while the well falls asleep.
    let rig = Rig::found(config("late_wake"));
    rig.set(0xa188, 0x0001_0001);
    assert_eq!(rig.reg(0x13_0040), 1);
    rig.set(0xa188, 0x0001_0000);
    assert_eq!(rig.reg(0x13_0040), 1, "still up");
    assert_eq!(rig.reg(0x2094), 0);
    assert_eq!(rig.gpu.lint_count(Rule::AsleepRead), 1);
    rig.gpu.clock().advance_to(20_000);
    assert_eq!(rig.reg(0x13_0040), 0);
    rig.set(0xa188, 0x0001_0001);
    assert_eq!(rig.reg(0x13_0040), 1);
}

#[test]
fn a_slow_wake_and_a_full_fifo() {
    // FORCEWAKE_MT and its acknowledge (V-04), GT_THREAD_STATUS 2:0, GTFIFOCTL 6:0; what upstream waits is 50, 5, 10 ms.
    let rig = Rig::found(config("late_ack,late_threads,full_fifo"));
    let at = |ms: u64| rig.gpu.clock().advance_to(ms * 1_000_000);
    rig.set(0xa188, 0x0001_0001);
    at(19);
    assert_eq!(rig.reg(0x13_0040), 0);
    at(20);
    assert_eq!((rig.reg(0x13_0040), rig.reg(0x13_805c) & 7), (1, 3));
    at(25);
    assert_eq!(rig.reg(0x13_805c) & 7, 3);
    at(26);
    assert_eq!(rig.reg(0x13_805c) & 7, 0);
    // The first read was that of `set`.
    let rig = Rig::found(config("full_fifo"));
    rig.set(0xa188, 0x0001_0001);
    rig.set(0x2094, 0x15);
    assert_eq!(rig.reg(0x12_0008) & 0x7f, 0);
    rig.gpu.clock().advance_to(12_000_000);
    assert_eq!((rig.reg(0x12_0008) & 0x7f, rig.reg(0x2094)), (64, 0x15));
    rig.clean();
}

#[test]
fn a_ring_runs_that_nobody_started() {
    // A reset of the render engine alone stops it (V-15).
    for (reset, told) in [(0, 1), (1, 0), (2, 0), (4, 1)] {
        let rig = Rig::found(config("running"));
        rig.set(0xa188, 0x0001_0001);
        assert_eq!(rig.reg(0x203c) & 1, 1);
        rig.set(0x941c, reset);
        rig.gpu.config_write_at(0x04, &6u16.to_le_bytes());
        assert_eq!(rig.gpu.lint_count(Rule::DmaBeforeReset), told, "{reset}");
    }
}

#[test]
fn a_reset_of_one_engine_takes_a_few_reads() {
    let rig = Rig::with(config("late_reset"));
    rig.set(0x12040, 5);
    rig.set(0x941c, 1 << 2);
    assert_eq!(rig.reg(0x941c), 1 << 2);
    rig.put(0x20000, &[STORE_GLOBAL, 0, TARGET, 1]);
    rig.set(0x12030, 0x10);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 0, "about to be reset");
    while rig.reg(0x941c) != 0 {}
    assert_eq!(rig.reg(0x12040), 0);
    rig.start_ring(VCS);
    rig.run(VCS, &[STORE_GLOBAL, 0, TARGET, 2]);
    assert_eq!(rig.at(TARGET), 2);
}

#[test]
fn a_picture_needs_a_display() {
    // A.9: C2014h is 2000h where the display is not fused off.
    assert_eq!(Rig::found(config("")).reg(0xc_2014), 0);
    let rig = Rig::found(config("lit"));
    assert_eq!(rig.reg(0xc_2014), 0x2000);
    assert_eq!(rig.reg(0x7_0008) >> 30, 3, "pipe A is on");
    // Three pipes, of which the others are dark; sprites are at 280h and not in the third pipe's place.
    for offset in [0x7_1008, 0x7_2008, 0x7_0280, 0x7_1280, 0x7_2280, 0x7_2180] {
        assert_eq!(rig.reg(offset), 0, "{offset:#x}");
    }
    rig.clean();
    // The vertical blank of pipe A is bit 0 of the display's interrupts.
    rig.set(0x4_4004, 0);
    rig.gpu.clock().advance_to(17_000_000);
    rig.reg(0x7_0040);
    assert_eq!(rig.reg(0x4_4008), 1);
}

#[test]
fn interrupts_of_others_are_pending() {
    // The master bit is on from the start (A.9), so that the line is too.
    let rig = Rig::found(config("pending"));
    assert!(rig.gpu.line());
    for (mask, identity) in [(0x4_4004, 0x4_4008), (0x4_4024, 0x4_4028)] {
        rig.set(mask, !0);
        rig.set(identity, !0);
    }
    assert!(!rig.gpu.line());
    rig.clean();
}
