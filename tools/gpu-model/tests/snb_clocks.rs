// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Clocks of the modelled Sandy Bridge, and how busy it says that it was. No document at hand has them: offsets and
//! bits are those of the kernel's `intel_gt_regs.h`, `mchbar_regs.h` and `intel_pcode_regs.h`, the unit of 1.28 us is
//! of `intel_rps.c`, and what is expected is what `selftest_rps.c` and `selftest_llc.c` assert on real chips.

use crate::snb_rig::Rig;
use gpu_model::ring::{EngineId, RingConfig};

/// The unit, in nanoseconds.
const UNIT: u64 = 1280;
/// RP_CONTROL: enabled, up by the average of work, down by the average of idleness.
const AVERAGES: u32 = 1 << 7 | 2 << 3 | 2;

/// So many units pass.
fn pass(rig: &Rig, units: u64) {
    let clock = rig.gpu.clock();
    clock.advance_to(clock.now() + units * UNIT);
}

/// Events of power management reach the CPU: those of a mask.
fn unmask(rig: &Rig, events: u32) {
    rig.set(0xa168, !events);
    rig.set(0x44024, !events);
    rig.set(0x4402c, events);
    rig.set(0x4400c, 1 << 31);
}

/// An engine has something to do, and does not get to it.
fn busy(rig: &Rig) {
    rig.set(0x22030, 8);
}

#[test]
fn ratios_are_those_of_a_mobile_chip() {
    // RP_STATE_CAP: 7:0 RP0, 15:8 RP1, 23:16 RPn, of 50 MHz each. Intel's data of the i7-2620M (HD Graphics 3000, the
    // device id is 0116): 650 MHz, 1.3 GHz at most.
    let rig = Rig::bare(RingConfig::default());
    let cap = rig.reg(0x145998);
    assert_eq!(
        (cap & 0xff) * 50,
        1300,
        "highest, available for a limited time"
    );
    assert_eq!((cap >> 8 & 0xff) * 50, 650, "the one that is held");
    assert_eq!((cap >> 16 & 0xff) * 50, 650, "lowest");
    rig.set(0x145998, 0);
    assert_eq!(rig.reg(0x145998), cap, "read only");
}

#[test]
fn a_request_is_met() {
    // live_rps_control: the ratio in force (RPSTAT1 14:8) is the one that was asked for (RPNSWREQ 31:25), or less.
    let rig = Rig::bare(RingConfig::default());
    for ratio in 13..=26 {
        rig.set(0xa008, ratio << 25);
        assert_eq!(rig.reg(0xa01c) >> 8 & 0x7f, ratio);
    }
    rig.set(0xa008, 40 << 25);
    assert_eq!(rig.reg(0xa01c) >> 8 & 0x7f, 26, "there is no more");
    rig.set(0xa008, 0);
    assert_eq!(rig.reg(0xa01c) >> 8 & 0x7f, 13, "nor less");
}

#[test]
fn the_table_of_clocks_is_kept() {
    // selftest_llc.c: mailbox command 9 has for a ratio what command 8 has written: 7:0 ratio, 15:8 CPU, 23:16 ring
    // in; CPU in 7:0 and ring in 15:8 out.
    let rig = Rig::bare(RingConfig::default());
    let command = |data: u32, command: u32| {
        rig.set(0x138128, data);
        rig.set(0x138124, 1 << 31 | command);
        assert_eq!(rig.reg(0x138124), 0, "done, without an error");
        rig.reg(0x138128)
    };
    command(33 << 8 | 2 << 16 | 26, 8);
    command(8 << 8 | 13, 8);
    assert_eq!(command(26, 9), 33 | 2 << 8);
    assert_eq!(command(13, 9), 8);
}

#[test]
fn more_is_asked_for_when_an_interval_was_work() {
    // live_rps_interrupt: PMIIR bit 5 for an engine that spins.
    let rig = Rig::new();
    unmask(&rig, 1 << 5);
    rig.set(0xa068, 100);
    rig.set(0xa02c, 95);
    rig.set(0xa024, AVERAGES);
    pass(&rig, 1000);
    assert_eq!(rig.reg(0x44028), 0, "idle");
    busy(&rig);
    pass(&rig, 40);
    assert_eq!(rig.reg(0xa050), 40, "time of this interval");
    assert_eq!(rig.reg(0xa054), 40, "work in it");
    pass(&rig, 60);
    assert_eq!(rig.reg(0x44028), 1 << 5);
    assert_eq!(rig.messages(), 1);
    assert_eq!(rig.reg(0xa058), 100, "work in the one before");
    rig.set(0x44028, 1 << 5);
    pass(&rig, 99);
    assert_eq!(rig.reg(0x44028), 0);
    rig.set(0xa02c, 100);
    pass(&rig, 1);
    assert_eq!(rig.reg(0x44028), 0, "not more than the threshold");
    assert_eq!(rig.messages(), 1);
}

#[test]
fn less_is_asked_for_when_an_interval_was_idle() {
    // live_rps_interrupt: PMIIR bit 4, or bit 6 after RP_DOWN_TIMEOUT, for an engine that is awake and idle.
    let rig = Rig::new();
    unmask(&rig, 1 << 4 | 1 << 6);
    rig.set(0xa06c, 100);
    rig.set(0xa030, 85);
    rig.set(0xa010, 250);
    busy(&rig);
    rig.set(0xa024, AVERAGES);
    pass(&rig, 1000);
    assert_eq!(rig.reg(0x44028), 0, "busy");
    assert_eq!(rig.reg(0xa05c), 0, "time of this interval");
    assert_eq!(rig.reg(0xa064), 100, "work in the one before");
    for _ in 0..4 {
        rig.gpu.step(EngineId::Bcs);
    }
    pass(&rig, 100);
    assert_eq!(rig.reg(0x44028), 1 << 4);
    pass(&rig, 150);
    assert_eq!(rig.reg(0x44028), 1 << 4 | 1 << 6);
    rig.set(0x44028, 1 << 6);
    pass(&rig, 1000);
    assert_eq!(rig.reg(0x44028), 1 << 4, "the time-out is told once");
}

#[test]
fn events_need_no_access_to_come() {
    let rig = Rig::new();
    rig.set(0xa06c, 100);
    rig.set(0xa030, 85);
    rig.set(0xa024, AVERAGES);
    unmask(&rig, 1 << 4);
    let before = rig.gpu.clock().now();
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.messages(), 1);
    assert_eq!(rig.gpu.clock().now(), before + 100 * UNIT);
}

#[test]
fn masks_and_the_switch_keep_events_back() {
    // intel_rps.c: PMINTRMSK is a mask before PMIMR, RP_CONTROL bit 7 the switch.
    let rig = Rig::new();
    unmask(&rig, 1 << 4);
    rig.set(0xa168, !0);
    rig.set(0xa06c, 100);
    rig.set(0xa030, 85);
    rig.set(0xa024, AVERAGES);
    pass(&rig, 1000);
    assert_eq!(rig.reg(0x44028), 0, "masked");
    rig.set(0xa168, 0);
    rig.set(0xa024, AVERAGES & !(1 << 7));
    pass(&rig, 1000);
    assert_eq!(rig.reg(0x44028), 0, "off");
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.messages(), 0);
}

#[test]
fn intervals_stand_still_in_standby() {
    // live_rps_interrupt switches RC6 off before it expects less to be asked for.
    let rig = Rig::new();
    unmask(&rig, 1 << 4);
    rig.set(0xa06c, 100);
    rig.set(0xa030, 85);
    rig.set(0xa090, 1 << 31 | 1 << 27 | 1 << 18);
    rig.set(0xa024, AVERAGES);
    rig.set(0xa18c, 0);
    pass(&rig, 1000);
    assert_eq!(rig.reg(0x44028), 0);
    rig.set(0xa18c, 1);
    pass(&rig, 100);
    assert_eq!(rig.reg(0x44028), 1 << 4);
}

#[test]
fn an_engine_that_spins_is_seen_to_by_itself() {
    // As live_rps_dynamic has it: no access of the CPU while the batch is at work.
    let rig = Rig::new();
    unmask(&rig, 1 << 5);
    rig.set(0xa068, 10);
    rig.set(0xa02c, 9);
    rig.set(0xa024, AVERAGES);
    busy(&rig);
    pass(&rig, 10);
    rig.gpu.step(EngineId::Bcs);
    assert_eq!(rig.messages(), 1);
}
