// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Misbehaviour that is asked for, hostile guests, and the card that runs by itself.

use crate::dg2_rig::*;
use gpu_model::chaos::Chaos;
use gpu_model::counters::Counter;
use gpu_model::dg2::{Dg2, Dg2Config, EngineId, Rule, StepResult, ENGINES};
use gpu_model::fault::{Fault, Kind};
use gpu_model::memory::{GuestMemory, VecMemory};
use gpu_model::model::{GpuModel, NoIrq};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};

const E: EngineId = EngineId::Bcs;
const VA: u32 = 0x12_0000;

#[test]
fn a_hang_lasts_until_the_reset() {
    let rig = Rig::new();
    rig.gpu.inject(Fault::once(Kind::Hang).on("bcs").after(1));
    rig.run(
        E,
        &[&store(VA.into(), 1)[..], &store(u64::from(VA) + 4, 2)].concat(),
    );
    assert_eq!(rig.gpu.step(E), StepResult::Stopped);
    assert_eq!((rig.at(0x2_0000), rig.at(0x2_0004)), (1, 0));
    // Another engine is not concerned.
    rig.context(1);
    rig.append(1, &store(u64::from(VA) + 8, 3));
    rig.load(EngineId::Vcs0, &[descriptor(1)]);
    rig.settle();
    assert_eq!(rig.at(0x2_0008), 3);
    rig.eset(E, 0xd0, 0x0001_0001);
    rig.set(0x941c, 1 << 2);
    rig.start_engine(E);
    rig.context(0);
    rig.run(E, &store(u64::from(VA) + 4, 2));
    assert_eq!(rig.at(0x2_0004), 2);
}

#[test]
fn an_error_that_was_taken_back_needs_no_request_before_a_reset() {
    let rig = Rig::new();
    rig.gpu.inject(Fault::once(Kind::PageFault).on("bcs"));
    rig.run(E, &store(VA.into(), 1));
    // Digest §5.6: bit 2, by its mask; it clears. Then the reset, as often as one likes.
    assert_eq!(rig.ereg(E, 0xd0), 4);
    rig.eset(E, 0xd0, 0x0004_0004);
    assert_eq!(rig.ereg(E, 0xd0), 0);
    rig.set(0x941c, 1 << 2);
    rig.set(0x941c, 1 << 2);
    rig.clean();
    // Of new work it must be asked.
    rig.start_engine(E);
    rig.context(0);
    rig.run(E, &store(VA.into(), 2));
    assert_eq!(rig.at(0x2_0000), 2);
    rig.set(0x941c, 1 << 2);
    assert_eq!(rig.gpu.lint_count(Rule::ResetNotReady), 1);
}

#[test]
fn interrupts_are_lost_late_doubled_and_made_up() {
    let interrupt = [USER_INTERRUPT, NOOP];
    let rig = Rig::new();
    rig.eset(E, 0xa8, !1);
    rig.gpu.inject(Fault::once(Kind::LoseIrq));
    rig.run(E, &interrupt);
    assert_eq!((rig.messages(), rig.identity(E)), (0, 0));
    rig.gpu.inject(Fault::once(Kind::LateIrq).value(700));
    rig.run(E, &interrupt);
    assert_eq!(rig.gpu.clock().now(), 700_000);
    assert_eq!((rig.messages(), rig.identity(E)), (1, 0x8003_0001));
    rig.gpu.inject(Fault::once(Kind::DupIrq));
    rig.run(E, &interrupt);
    assert_eq!((rig.messages(), rig.identity(E)), (3, 0x8003_0001));
    rig.gpu.inject(Fault::once(Kind::LoseMsg));
    rig.run(E, &interrupt);
    assert_eq!((rig.messages(), rig.identity(E)), (3, 0x8003_0001));
    rig.gpu.inject(Fault::once(Kind::SpuriousIrq).on("bcs"));
    rig.run(E, &[NOOP, NOOP]);
    assert_eq!((rig.messages(), rig.identity(E)), (4, 0x8003_0001));
}

#[test]
fn work_takes_time() {
    let rig = Rig::with(Dg2Config {
        delay_ns: 5_000,
        ..Dg2Config::default()
    });
    rig.run(E, &store(VA.into(), 1));
    assert_eq!(rig.gpu.clock().now(), 5_000);
    rig.gpu.inject(Fault::once(Kind::Delay).value(100));
    rig.run(E, &store(VA.into(), 1));
    assert_eq!(rig.gpu.clock().now(), 110_000);
    rig.gpu.inject(Fault::once(Kind::Pause).value(30));
    rig.gpu.set_delay(0);
    rig.run(E, &store(VA.into(), 1));
    assert_eq!(rig.gpu.clock().now(), 140_000);
}

#[test]
fn other_faults_are_taken() {
    let rig = Rig::new();
    // A status that is garbage.
    rig.gpu.inject(Fault::once(Kind::Garbage).on("bcs"));
    rig.run(E, &[NOOP, NOOP]);
    assert_ne!(rig.csb(E, 0), 0x03ff_fc02_0000_0400);
    assert_eq!(rig.csb(E, 1), 0x0000_0400_03ff_fc00);
    // Errors that are none.
    rig.eset(E, 0xb4, 0);
    rig.gpu.inject(Fault::once(Kind::SpuriousError).value(0x10));
    rig.run(E, &[NOOP, NOOP]);
    assert_eq!(rig.ereg(E, 0xb0), 0x10);
    rig.eset(E, 0xb0, 0x10);
    assert_eq!(rig.ereg(E, 0xb0), 0);
    // Registers that lie.
    rig.gpu.inject(Fault::once(Kind::GarbageStatus).forever());
    assert_ne!(rig.ereg(E, 0x68), !0);
    // A translation fault that is no mistake of the driver.
    rig.gpu.inject(Fault::once(Kind::PageFault).on("bcs"));
    rig.run(E, &[NOOP, NOOP]);
    assert_eq!(rig.gpu.step(E), StepResult::Stopped);
    assert_eq!(rig.gpu.lints(), []);
    // Wells that wake late, or never.
    rig.set(0xa188, 0x0001_0000);
    rig.gpu.inject(Fault::once(Kind::SlowWake).value(50));
    rig.set(0xa188, 0x0001_0001);
    assert_eq!(rig.reg(0x13_0044), 0);
    rig.gpu.clock().advance_to(rig.gpu.clock().now() + 50_000);
    assert_eq!(rig.reg(0x13_0044), 1);
    rig.set(0xa188, 0x0001_0000);
    rig.gpu.inject(Fault::once(Kind::StuckForcewake));
    rig.set(0xa188, 0x0001_0001);
    rig.gpu
        .clock()
        .advance_to(rig.gpu.clock().now() + 1_000_000_000);
    assert_eq!(rig.reg(0x13_0044), 0);
    // The card is pulled at the third access.
    rig.gpu.inject(Fault::once(Kind::Remove).after(2));
    let seen: Vec<u32> = (0..3).map(|_| rig.reg(0x10_1010)).collect();
    assert_eq!(seen, [1 << 7, 1 << 7, !0]);
}

#[test]
fn a_forgetful_tlb_changes_nothing() {
    let rig = Rig::new();
    rig.gpu.inject(Fault::once(Kind::ForgetTlb).forever());
    rig.run(E, &[0x1000_0002, 0x40, 1, 5, 0x1000_0002, 0x44, 1, 6]);
    assert_eq!((rig.at(0x10_0040), rig.at(0x10_0044)), (5, 6));
    rig.clean();
}

#[test]
fn page_faults_are_latched_once() {
    // Address, kind in bits 2:1 (read-only: 2), registers.
    let rig = Rig::new();
    rig.put_local64(ROOT + 0x3000 + 8 * 7, 0x10_7001);
    rig.run(E, &[0x1000_0002, 0x7000, 1, 5]);
    assert_eq!((rig.reg(0xcec4), rig.reg(0xceb8)), (0x2005, 0x10_0007));
    // A second one of another engine does not replace it.
    rig.context(1);
    rig.append(1, &[0x1000_0002, 0, 0x1234, 5]);
    rig.load(EngineId::Vecs0, &[descriptor(1)]);
    rig.settle();
    assert_eq!(rig.reg(0xcec4), 0x2005);
    assert_eq!(rig.gpu.counter(Counter::PageFaults), 2);
    // Bit 7 of the vector, beside the switch.
    assert_eq!(rig.identity(E), 0x8003_0180);
    assert_eq!(rig.gpu.lint_count(Rule::PageFault), 2);
    // Written with zero it takes the next one: VA bits 47:44 in DATA1.
    rig.set(0xcec4, 0);
    rig.context(2);
    rig.append(2, &[0x1000_0002, 0x5000, 0x1234, 5]);
    rig.load(EngineId::Vcs0, &[descriptor(2)]);
    rig.settle();
    assert_eq!(
        (rig.reg(0xcec4), rig.reg(0xceb8), rig.reg(0xcebc)),
        (0x1001, 0x2340_0005, 1)
    );
}

#[test]
fn memory_that_is_not_there() {
    let rig = Rig::new();
    rig.gpu.ggtt_write(0x5_0000, 0x7_0000_0001);
    rig.run(E, &[0x1040_0002, 0x5000_0000, 0, 1]);
    assert_eq!(rig.gpu.lints(), [(Rule::NoGuestMemory, 1)]);
    // Local memory behind the flat CCS' begin.
    rig.gpu.ggtt_write(0x5_0001, 0x3fc_0003);
    rig.run(E, &[0x1040_0002, 0x5000_1000, 0, 1]);
    assert_eq!(rig.gpu.lint_count(Rule::BeyondLocal), 1);
    assert_eq!(rig.local(0x3fc_0000), 0);
    // No status page.
    rig.eset(E, 0x80, 0x7fff_f000);
    rig.run(E, &[NOOP, NOOP]);
    assert_eq!(rig.gpu.lint_count(Rule::StatusPage), 4);
    // Bus mastering, when it is looked at.
    let rig = Rig::with(Dg2Config {
        watch_bus_master: true,
        ..Dg2Config::default()
    });
    rig.run(E, &store(VA.into(), 1));
    assert!(rig.gpu.lint_count(Rule::NoBusMaster) > 0);
    rig.gpu.config_write(4, &6u16.to_le_bytes());
    rig.run(E, &store(VA.into(), 1));
    assert_eq!(rig.at(0x2_0000), 1);
}

/// Requests of several contexts on several engines that count in memory; all must come out right.
fn count_up(rig: &Rig, rounds: u32) {
    let add = |to: u32| [0x17c4_0509, VA + to, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let engines = [
        EngineId::Rcs,
        EngineId::Bcs,
        EngineId::Vcs0,
        EngineId::Vecs1,
    ];
    for n in 0..8 {
        rig.context(n);
    }
    for _ in 0..rounds {
        for (i, e) in engines.into_iter().enumerate() {
            let (a, b) = (2 * i as u64, 2 * i as u64 + 1);
            for n in [a, b] {
                rig.append(n, &[&add(4 * n as u32)[..], &[ARB_CHECK]].concat());
            }
            rig.load(e, &[descriptor(a), descriptor(b)]);
            for _ in 0..3 {
                rig.gpu.step(e);
            }
            rig.load(e, &[descriptor(b), descriptor(a)]);
        }
        rig.settle();
    }
    for n in 0..8 {
        assert_eq!(rig.at(0x2_0000 + 4 * n), rounds, "context {n}");
    }
}

#[test]
fn gentle_chaos_loses_nothing() {
    for seed in 0..4 {
        let rig = Rig::new();
        rig.gpu.set_chaos(Some(Chaos::new(seed, false)));
        count_up(&rig, 20);
        assert!(rig.gpu.counter(Counter::Injected) > 0);
        assert!(rig.gpu.counter(Counter::Preemptions) > 0);
    }
}

#[test]
fn a_delayed_life_comes_out_right() {
    let rig = Rig::with(Dg2Config {
        delay_ns: 1000,
        ..Dg2Config::default()
    });
    count_up(&rig, 10);
    rig.clean();
}

#[test]
fn it_runs_by_itself() {
    let memory = Arc::new(VecMemory::new(4 << 20));
    let gpu =
        Dg2::in_real_time(Dg2Config::default(), memory.clone(), Arc::new(NoIrq)).expect("memory");
    let rig = Rig {
        gpu,
        memory: memory.clone(),
        irq: Arc::default(),
    };
    rig.prepare();
    rig.wake_all();
    rig.start_engine(E);
    rig.context(0);
    rig.append(0, &[0x0e40_9003, 1, VA, 0, 0, NOOP]);
    rig.append(0, &[0x1300_4003, (VA + 0x40) | 4, 0, 5, 0]);
    rig.gpu.start_engines();
    rig.load(E, &[descriptor(0)]);
    memory
        .write(0x2_0000, &1u32.to_le_bytes())
        .expect("in memory");
    let late = Instant::now() + Duration::from_secs(60);
    while rig.at(0x2_0040) != 5 {
        assert!(Instant::now() < late, "it does not run");
        std::thread::sleep(Duration::from_millis(1));
    }
    rig.gpu.stop_engines();
}

#[test]
fn for_a_server() {
    let options = gpu_model::model::Options {
        vram_mb: Some(16),
        ..gpu_model::model::Options::default()
    };
    let model = gpu_model::model::build(
        "dg2",
        options,
        Arc::new(VecMemory::new(4096)),
        Arc::new(NoIrq),
    );
    let model = model.expect("known").expect("built");
    assert_eq!(model.name(), "dg2");
    let regions = model.regions();
    let shared: Vec<(u64, u64)> = regions
        .iter()
        .filter_map(|r| r.shared.as_ref().map(|s| (s.offset, s.size)))
        .collect();
    assert_eq!(shared, [(8 << 20, 8 << 20), (0, 16 << 20)]);
    model.start();
    model.stop();
    let report = model.report();
    assert_eq!(report["gpu"], "dg2");
    assert_eq!(report["device"], "8086:56a0");
    assert_eq!(report["counters"]["lite_restores"], 0);
    // Local memory is not clean; sizes that are none are refused.
    let mut b = [0; 8];
    model.bar_read(2, 0x10_0000, &mut b);
    assert_ne!(b, [0; 8]);
    for (vram_mb, aperture_mb) in [(Some(1024), None), (Some(24), None), (Some(16), Some(32))] {
        let options = gpu_model::model::Options {
            vram_mb,
            aperture_mb,
            ..gpu_model::model::Options::default()
        };
        let model = gpu_model::model::build(
            "dg2",
            options,
            Arc::new(VecMemory::new(4096)),
            Arc::new(NoIrq),
        );
        assert!(model.expect("known").is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Garbage on the ring, in a batch, in the image, in tables and registers: the model answers.
    #[test]
    fn garbage_ends_nothing(
        ring in prop::collection::vec(command(), 1..40),
        batch in prop::collection::vec(command(), 1..40),
        image in prop::collection::vec((0u64..0x400, any::<u32>()), 0..4),
        registers in prop::collection::vec((0u32..0x20_0000, any::<u32>()), 0..16),
        entries in prop::collection::vec((0u64..0x600, any::<u64>()), 0..4),
        engine in 0usize..10,
    ) {
        let rig = Rig::new();
        let e = ENGINES[engine];
        rig.context(0);
        rig.append(0, &ring.concat());
        rig.batch(0x8_0000, &batch.concat());
        rig.append(0, &start(USER + 0x8_0000));
        for (dword, value) in image {
            rig.put_image(0, dword, value);
        }
        for (at, value) in entries {
            rig.put_local64(ROOT + 8 * at, value);
        }
        rig.load(e, &[descriptor(0)]);
        rig.gpu.run_until_idle(2000);
        for (offset, value) in registers {
            rig.set(offset & !3, value);
            rig.reg(offset & !3);
        }
        rig.gpu.run_until_idle(2000);
        // It still answers, and a reset helps.
        rig.gpu.power_on();
        prop_assert_eq!(rig.reg(0x10_1010), 1 << 7);
    }
}

/// A command of a known shape with garbage in it, or garbage.
fn command() -> impl Strategy<Value = Vec<u32>> {
    let lengths = [
        (0x1000_0002u32, 4usize),
        (0x1060_0003, 5),
        (0x1108_0003, 5),
        (0x14c8_0002, 4),
        (0x1248_0002, 4),
        (0x1508_0001, 3),
        (0x1760_0003, 5),
        (0x17c4_0009, 11),
        (0x1880_0101, 3),
        (0x18c0_0101, 3),
        (0x1b20_0002, 4),
        (0x1300_4003, 5),
        (0x0e40_c003, 5),
        (0x0d00_0006, 8),
        (0x5110_000e, 16),
        (0x5080_0008, 10),
        (0x5050_0014, 22),
        (0x5220_0003, 5),
        (0x7a00_0004, 6),
        (0x0280_0000, 1),
        (0x0080_0000, 1),
        (0x0500_0000, 1),
        (0x0100_0000, 1),
        (0x1180_0002, 4),
    ];
    let known = prop::sample::select(lengths.to_vec()).prop_flat_map(|(header, n)| {
        (prop::collection::vec(word(), n - 1), any::<u32>()).prop_map(move |(rest, flip)| {
            // Flags below the opcode may be others, the length may not.
            let flags = flip & 0x003f_f000 & flip.rotate_left(7);
            let mut d = vec![header ^ flags];
            d.extend(rest);
            d
        })
    });
    prop_oneof![8 => known, 1 => word().prop_map(|w| vec![w])]
}

fn word() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0u32..0x100,
        (0u32..0x100).prop_map(|v| VA + 4 * v),
        (0u32..0x40_0000),
        Just(0),
        Just(1),
        Just(!0),
    ]
}
