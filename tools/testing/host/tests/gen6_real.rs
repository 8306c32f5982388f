// SPDX-License-Identifier: GPL-2.0
//! Sandy Bridge as firmware, or the kernel before, leaves it, and as late as real ones are: the backend
//! against a modelled chip that has these habits (all other tests of this backend run on one, too).

use gpu_model::{
    counters::Counter,
    ring::{lint::Rule, RingConfig},
};
use ouro_cross::ring_machine::{Object, RingMachine, Setup, Work, BCS, RCS, VCS};
use ouro_hw::{
    generation::Scanout,
    io::{Platform, SleepWait},
};

/// A device with such habits, probed only.
fn found(habits: &str) -> RingMachine {
    let setup = Setup {
        config: RingConfig {
            real: habits.parse().expect("habits"),
            ..Setup::default().config
        },
        ..Setup::default()
    };
    RingMachine::stopped(&setup).expect("the device is found")
}

/// The same, which runs.
fn running(habits: &str) -> RingMachine {
    let mut m = found(habits);
    m.start().expect("the device starts");
    m
}

/// Lets each engine store something.
fn work(m: &mut RingMachine) {
    for n in [RCS, BCS, VCS] {
        let target = m.alloc(1);
        let batch = m.object(&[0x1000_0002, 0, target.addr, 0x77, 0x0500_0000, 0]);
        m.work(n, &Work::batch(batch.addr));
        assert_eq!(m.dword(target, 0), 0x77);
    }
}

#[test]
fn each_habit_is_lived_with() {
    for habit in [
        "lit",
        "running",
        "bits",
        "rc6",
        "pending",
        "late_wake",
        "late_ack",
        "full_fifo",
        "late_flush",
        "late_reset",
    ] {
        let mut m = running(habit);
        work(&mut m);
        m.reset().unwrap();
        work(&mut m);
        let generation = m.chip.generation;
        generation.sleep(&m.windows.hw(), &mut m.gt);
        generation
            .wake(&m.windows.hw(), &mut m.gt, &m.time)
            .unwrap();
        work(&mut m);
        generation.stop(&m.windows.hw());
        generation.sleep(&m.windows.hw(), &mut m.gt);
        m.windows.board.set_master(false);
        m.assert_lawful();
    }
}

#[test]
fn the_picture_is_found_and_stays() {
    let m = found("lit");
    let mut all = Vec::new();
    m.chip
        .generation
        .scanouts(&m.hw(), &m.topo, &mut |s| all.push(s));
    // 1024 by 768, of four bytes, from the first entry on.
    let picture = Scanout {
        first: 0,
        entries: 768,
        local: None,
    };
    assert_eq!(all, [picture]);

    let mut m = running("lit");
    work(&mut m);
    m.reset().unwrap();
    work(&mut m);
    assert_eq!(m.gpu.gtt_read(0), 0xbda0_0003);
    assert_eq!(m.gpu.gtt_read(767), 0xbdcf_f003);
    // Many frames.
    m.time.pause(1_000_000);
    m.gpu.mmio_read32(0x7_0008);
    m.assert_lawful();
}

#[test]
fn the_bus_is_needed_only_behind_the_start() {
    let mut m = running("running");
    work(&mut m);
    m.assert_lawful();
    // What the other order would do.
    let mut m = found("running");
    m.windows.board.set_master(true);
    m.start().unwrap();
    assert_eq!(m.gpu.lint_count(Rule::DmaBeforeReset), 1);
}

#[test]
fn bits_of_the_firmware_stay() {
    let mut m = running("bits");
    work(&mut m);
    m.reset().unwrap();
    for (offset, bits) in [
        (0x9400, 0x0001_00a0),
        (0x2_4000, 0x0000_0110),
        (0x1_4090, 0x0000_2310),
        (0x4090, 0x0000_041a),
    ] {
        assert_eq!(m.gpu.mmio_read32(offset), bits, "{offset:#x}");
    }
    m.assert_lawful();
}

#[test]
fn nothing_is_left_pending() {
    let mut m = running("pending");
    assert!(!m.line.level());
    for identity in [0x4_4008, 0x4_4018, 0x4_4028] {
        assert_eq!(m.gpu.mmio_read32(identity), 0, "{identity:#x}");
    }
    work(&mut m);
    assert_eq!(m.line.messages(), 0);
    m.assert_lawful();
}

#[test]
fn a_view_is_shown_when_its_entry_has_taken_effect() {
    let mut m = running("late_flush");
    let (one, other) = (m.object(&[1]), m.object(&[2]));
    let look = |m: &RingMachine, at: Object| {
        let mut dword = [0; 4];
        m.gpu.aperture_read(at.addr, &mut dword);
        u32::from_le_bytes(dword)
    };
    assert_eq!(look(&m, one), 1);
    // Posted: what the aperture shows is as old as it likes.
    m.bind(one.addr, other.bus);
    assert_eq!(look(&m, one), 1);
    m.chip.generation.gtt_settle(&m.hw());
    assert_eq!(look(&m, one), 2);
}

#[test]
fn the_clock_is_asked_for_on_each_way() {
    let mut m = found("rc6");
    // 650 to 1300 MHz.
    m.windows.card = 0x000d_001a;
    m.start().unwrap();
    work(&mut m);
    assert_eq!(m.gpu.mmio_read32(0xa008), 0x3400_0000);
    assert_eq!(m.gpu.mmio_read32(0xa168), 0xffff_fffb);
    let generation = m.chip.generation;
    m.gpu.clear_counters();
    generation.sleep(&m.windows.hw(), &mut m.gt);
    // The clock, and the request to stay awake.
    assert_eq!(m.gpu.counter(Counter::RegWrites), 2);
    generation
        .wake(&m.windows.hw(), &mut m.gt, &m.time)
        .unwrap();
    work(&mut m);
    assert_eq!(m.gpu.mmio_read32(0xa008), 0x3400_0000);
    m.assert_lawful();
}
