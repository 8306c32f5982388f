// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A hostile guest in front of the modelled DG2: accesses of every place, size and value, and garbage where
//! its engines take contexts, rings, batches and tables from. The model answers, stays small and ends.

use crate::dg2_rig::{descriptor, start, Rig, LOCAL_AT, ROOT, USER};
use crate::hostile_rig::{access, noise};
use gpu_model::counters::Counter;
use gpu_model::dg2::{Dg2Config, EngineId, ENGINES};
use gpu_model::model::NoIrq;
use proptest::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A bound for things that happen in microseconds: not a measurement.
const PATIENCE: Duration = Duration::from_secs(20);

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_access_of_any_region(all in proptest::collection::vec(access(), 1..200)) {
        let rig = Rig::new();
        for a in &all {
            a.apply(&rig.gpu);
            for e in ENGINES {
                rig.gpu.step(e);
            }
        }
        rig.gpu.power_on();
        // GDRST: nothing is being reset (digest §3.3 row 10)
        prop_assert_eq!(rig.reg(0x941c), 0);
    }
}

/// Often a header: MI, blitter or render; often small; often zero.
fn dword(random: &mut impl FnMut() -> u32) -> u32 {
    let r = random();
    match r % 6 {
        0 => 0,
        1 => (random() % 0x40) << 23 | r >> 8 & 0x7f_ff1f,
        2 => 2 << 29 | (random() % 0x80) << 22 | r >> 8 & 0x3f_ff1f,
        3 => 0x7a00_0004,
        4 => r >> 8,
        _ => random(),
    }
}

/// One round on a test rig: contexts with garbage in their images, rings and tables are loaded, over each other,
/// and run some thousand steps.
fn round(rig: &Rig, random: &mut impl FnMut() -> u32) {
    for n in 0..4 {
        rig.context(n);
        let words: Vec<u32> = (0..random() % 40).map(|_| dword(random)).collect();
        rig.append(n, &words);
        rig.append(n, &start(USER + u64::from(random() % 0x10_0000)));
        if random().is_multiple_of(2) {
            // Anything in the image but what makes it one.
            for _ in 0..random() % 8 {
                let (place, value) = (u64::from(random() % 0x400), dword(random));
                rig.put_image(n, place, value);
            }
        }
    }
    let batch: Vec<u32> = (0..0x1000).map(|_| dword(random)).collect();
    rig.put(0x10_0000 + u64::from(random() % 0x100 * 0x1000), &batch);
    if random().is_multiple_of(4) {
        let at = ROOT + u64::from(random() % 0xa00) * 8;
        rig.put_local64(at, u64::from(random()) << 32 | u64::from(random()));
    }
    for _ in 0..8 {
        let e = ENGINES[random() as usize % ENGINES.len()];
        let queue: Vec<u64> = (0..1 + random() % 4)
            .map(|_| match random() % 4 {
                0 => u64::from(random()) << 32 | u64::from(random()),
                _ => descriptor(u64::from(random() % 4)),
            })
            .collect();
        rig.load(e, &queue);
        for _ in 0..random() % 600 {
            rig.gpu.step(e);
        }
        // A register of the engine, or of the device.
        let (place, value) = (random() % 0x400 * 4, dword(random));
        match random() % 3 {
            0 => rig.eset(e, place, value),
            1 => rig.set(random() % 0x8_0000 * 4, value),
            _ => _ = rig.ereg(e, place),
        }
    }
}

#[test]
fn garbage_in_contexts_and_tables() {
    let mut stopped = 0;
    for seed in 0..12 {
        let mut random = noise(seed);
        let rig = Rig::with(Dg2Config {
            keep_events: 16,
            ..Dg2Config::default()
        });
        for _ in 0..12 {
            round(&rig, &mut random);
        }
        stopped += rig.gpu.counter(Counter::InstructionErrors);
        rig.gpu.power_on();
        assert_eq!(rig.reg(0x941c), 0, "seed {seed}");
        // It is as good as new.
        rig.prepare();
        rig.wake_all();
        rig.start_engine(EngineId::Bcs);
        rig.context(0);
        rig.run(EngineId::Bcs, &[0x1040_0002, 0x10_9000, 0, 0x600d]);
        assert_eq!(rig.at(0x9000), 0x600d, "seed {seed}");
    }
    assert!(stopped > 12, "none of the garbage was run");
}

#[test]
fn garbage_on_running_engines_ends() {
    let rig = Rig::new();
    let mut random = noise(77);
    let memory = rig.memory.clone();
    let gpu = gpu_model::dg2::Dg2::in_real_time(
        Dg2Config {
            keep_events: 16,
            ..Dg2Config::default()
        },
        memory,
        Arc::new(NoIrq),
    )
    .expect("memory");
    let rig = Rig { gpu, ..rig };
    rig.prepare();
    rig.wake_all();
    for e in ENGINES {
        rig.start_engine(e);
    }
    rig.gpu.start_engines();
    for _ in 0..10 {
        for at in (0..0x40_0000u64).step_by(0x1_0000) {
            rig.put_local(LOCAL_AT + at, &[dword(&mut random), dword(&mut random)]);
        }
        round(&rig, &mut random);
        std::thread::sleep(Duration::from_millis(2));
        // All of it is reset, whatever it does.
        rig.set(0x941c, 1);
    }
    let start = Instant::now();
    rig.gpu.stop_engines();
    assert!(start.elapsed() < PATIENCE);
}
