// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A Sandy Bridge whose GT wakes slowly, or whose write FIFO shows no room. Registers are of the digest: FORCEWAKE A18Ch
//! and its acknowledge 130090h (G-15), GTFIFOCTL 120008h 6:0 (G-16), GT_THREAD_STATUS 13805Ch 2:0 (G-17). The upstream
//! driver waits for them 50, 10 and 5 ms.

use crate::snb_rig::*;
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{EngineId, RingConfig};

const MS: u64 = 1_000_000;

fn found(habits: &str) -> Rig {
    Rig::found(RingConfig {
        real: habits.parse().expect("habits"),
        seed: 3,
        ..RingConfig::default()
    })
}

fn at(rig: &Rig, ns: u64) {
    rig.gpu.clock().advance_to(ns);
}

/// Asks for forcewake, or releases it, without a look at the FIFO.
fn wake(rig: &Rig, on: u32) {
    rig.gpu.mmio_write32(0xa18c, 0x0001_0000 | on);
}

/// Waits until `done`, in steps of 100 microseconds; returns how long that took, in nanoseconds.
fn wait(rig: &Rig, done: impl Fn(&Rig) -> bool) -> u64 {
    let from = rig.gpu.clock().now();
    while !done(rig) {
        at(rig, rig.gpu.clock().now() + 100_000);
        assert!(rig.gpu.clock().now() < from + 100 * MS, "without end");
    }
    rig.gpu.clock().now() - from
}

#[test]
fn the_first_acknowledge_is_late() {
    let rig = found("late_ack");
    wake(&rig, 1);
    at(&rig, 20 * MS - 1);
    assert_eq!((rig.reg(0x13_0090), rig.reg(0x13_805c) & 7), (0, 3));
    at(&rig, 20 * MS);
    assert_eq!((rig.reg(0x13_0090), rig.reg(0x13_805c) & 7), (1, 0));
    rig.set(0x2094, 0x15);
    assert_eq!(rig.reg(0x2094), 0x15);
    rig.clean();
    // Who does not wait finds it asleep.
    let rig = found("late_ack");
    wake(&rig, 1);
    rig.set(0x2094, 0x15);
    assert_eq!(rig.gpu.lint_count(Rule::AsleepWrite), 1);
    // A release takes the request back.
    wake(&rig, 0);
    at(&rig, 20 * MS);
    assert_eq!(rig.reg(0x13_0090), 0);
}

#[test]
fn threads_wake_later_than_the_well() {
    let rig = found("late_threads");
    wake(&rig, 1);
    assert_eq!((rig.reg(0x13_0090), rig.reg(0x13_805c) & 7), (1, 3));
    at(&rig, 5 * MS);
    assert_eq!(rig.reg(0x13_805c) & 7, 3, "as long as upstream waits");
    // It goes on then: registers answer, and keep what is written.
    rig.set(0x2094, 0x15);
    assert_eq!(rig.reg(0x2094), 0x15);
    at(&rig, 6 * MS);
    assert_eq!(rig.reg(0x13_805c) & 7, 0);
    assert_eq!(rig.reg(0x2094), 0x15);
    rig.clean();
}

#[test]
fn a_fifo_that_shows_no_room() {
    let rig = found("full_fifo");
    wake(&rig, 1);
    assert_eq!(rig.reg(0x12_0008) & 0x7f, 0);
    // All 64 entries take a write, though it shows none (G-16).
    for n in 0..64 {
        rig.gpu.mmio_write32(0x2094, n);
    }
    at(&rig, 12 * MS - 1);
    assert_eq!(rig.reg(0x12_0008) & 0x7f, 0);
    at(&rig, 12 * MS);
    assert_eq!(rig.reg(0x12_0008) & 0x7f, 64);
    assert_eq!((rig.reg(0x2094), rig.reg(0x12_0000)), (63, 0));
    rig.clean();
}

#[test]
fn they_come_again_at_random() {
    // A driver that waits without end loses nothing: every write is there after it.
    let rig = found("late_ack,late_threads,full_fifo");
    let (mut acks, mut threads, mut rooms) = (0, 0, 0);
    for n in 1..3000u32 {
        wake(&rig, 1);
        acks += u32::from(wait(&rig, |rig| rig.reg(0x13_0090) == 1) > 0);
        threads += u32::from(wait(&rig, |rig| rig.reg(0x13_805c) & 7 == 0) > 5 * MS);
        rooms += u32::from(wait(&rig, |rig| rig.reg(0x12_0008) & 0x7f > 20) > 0);
        rig.gpu.mmio_write32(0x2094, n & 0x003f_ffff);
        assert_eq!(rig.reg(0x2094), n);
        wake(&rig, 0);
    }
    // The first and about one in 256 wakes, and one in 1024 reads of the FIFO's room.
    assert!((2..50).contains(&acks), "{acks}");
    assert!((2..50).contains(&threads), "{threads}");
    assert!((2..20).contains(&rooms), "{rooms}");
    rig.clean();
}

#[test]
fn work_is_done_meanwhile() {
    let rig = Rig::found(RingConfig {
        real: "late_ack,late_threads,full_fifo".parse().expect("habits"),
        ..RingConfig::default()
    });
    wake(&rig, 1);
    wait(&rig, |rig| rig.reg(0x13_0090) == 1);
    for page in 1..(MEMORY as u32 / 4096) {
        rig.gpu.gtt_write(page, page << 12 | 5);
    }
    assert_eq!(rig.reg(0x13_805c) & 7, 3);
    rig.start_ring(EngineId::Rcs);
    // MI_STORE_DATA_IMM (1.3.19) to a graphics address of the global table.
    rig.run(EngineId::Rcs, &[0x1040_0002, 0, TARGET, 7]);
    assert_eq!(rig.at(TARGET), 7);
    rig.clean();
}
