// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Batch buffers of the modelled Sandy Bridge: start, chain, end, privilege (SNB PRM V1P2 §5.3.5,
//! §5.3.7; VCS PRM 1.2.5–1.2.6; digest §2.3).

use crate::snb_rig::{block, Rig, BATCH, TARGET};
use gpu_model::counters::Counter;
use gpu_model::ring::engine::Stop;
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{EngineId, RingConfig, StepResult, ENGINES};
use std::collections::BTreeSet;

const BCS: EngineId = EngineId::Bcs;
const RCS: EngineId = EngineId::Rcs;
const STORE_GLOBAL: u32 = 0x1040_0002;
/// MI_BATCH_BUFFER_START, secure and non-secure (bit 8).
const START: u32 = 0x1880_0000;
const START_NS: u32 = 0x1880_0100;
const END: u32 = 0x0500_0000;

#[test]
fn batches_return_chain_and_inherit() {
    // §5.3.5: returns behind the start; a start in a batch replaces it.
    for e in ENGINES {
        let rig = Rig::new();
        rig.put(BATCH, &[STORE_GLOBAL, 0, TARGET, 1, START, BATCH + 0x100]);
        rig.put(BATCH + 0x100, &[STORE_GLOBAL, 0, TARGET + 4, 2, END]);
        rig.run(e, &[START, BATCH, STORE_GLOBAL, 0, TARGET + 8, 3]);
        assert_eq!(
            (rig.at(TARGET), rig.at(TARGET + 4), rig.at(TARGET + 8)),
            (1, 2, 3)
        );
        assert_eq!(rig.gpu.counter(Counter::Batches), 1);
        rig.clean();
    }
}

#[test]
fn non_secure_store_to_global_memory_is_fatal() {
    // §5.3.7.6: command error, the streamer stops, the header is kept; only a reset restarts it.
    for e in ENGINES {
        let rig = Rig::new();
        rig.set(block(e) + 0xb4, 0);
        rig.put(BATCH, &[STORE_GLOBAL, 0, TARGET, 1, END]);
        rig.run(e, &[START_NS, BATCH, STORE_GLOBAL, 0, TARGET + 4, 2]);
        assert_eq!((rig.at(TARGET), rig.at(TARGET + 4)), (0, 0));
        assert_eq!(rig.gpu.stop_reason(e), Stop::Error);
        assert_eq!(rig.reg(block(e) + 0xb0), 1, "EIR");
        assert_eq!(rig.reg(block(e) + 0x68), STORE_GLOBAL, "IPEHR");
        assert_eq!(rig.reg(block(e) + 0x74), BATCH, "ACTHD");
        assert_eq!(rig.gpu.counter(Counter::PrivilegeViolations), 1);
        rig.set(0x941c, 1);
        rig.start_ring(e);
        rig.run(e, &[STORE_GLOBAL, 0, TARGET, 5]);
        assert_eq!(rig.at(TARGET), 5);
    }
}

#[test]
fn chained_batches_cannot_escalate() {
    // §5.3.7.6: the field of a chained start is ignored.
    let rig = Rig::new();
    rig.put(BATCH, &[START, BATCH + 0x100]);
    rig.put(BATCH + 0x100, &[0x1100_0001, 0x2094, 7, END]);
    rig.run(RCS, &[START_NS, BATCH]);
    assert_eq!(rig.reg(0x2094), 0, "still without privilege");
    assert_eq!(rig.gpu.lint_count(Rule::ChainedPrivilege), 1);
    assert_eq!(rig.gpu.lint_count(Rule::Privilege), 1);
    // And the other way round: a secure batch stays secure.
    rig.put(BATCH, &[START_NS, BATCH + 0x100]);
    rig.run(RCS, &[START, BATCH]);
    assert_eq!(rig.reg(0x2094), 7);
}

#[test]
fn what_a_non_secure_batch_may_not_do() {
    // §2.3; G45 PRM 1.5.2: dropped, and the batch goes on.
    let cases: &[&[u32]] = &[
        &[0x1100_0001, 0x2040, 5],
        &[0x1240_0001, 0x2094, TARGET],
        &[0x1180_0001, 0x0009_0000, 0x0009_0005],
        &[0x0400_0000],
        &[0x0a00_0002, 0, 0, 0],
    ];
    for case in cases {
        let rig = Rig::new();
        rig.set(0x2094, 7);
        let mut batch = case.to_vec();
        batch.extend([0x1000_0002, 0, TARGET + 0x40, 1, END]);
        rig.put(BATCH, &batch);
        rig.put(TARGET, &[0x5555_5555]);
        rig.run(RCS, &[START_NS, BATCH]);
        assert_eq!(rig.gpu.lint_count(Rule::Privilege), 1, "{case:x?}");
        assert_eq!(rig.reg(0x2040), 0);
        assert_eq!(rig.at(TARGET), 0x5555_5555);
        assert_eq!(rig.reg(0x44008), 0);
        assert_eq!(rig.at(TARGET + 0x40), 1, "goes on after {case:x?}");
    }
}

#[test]
fn rings_and_secure_batches_may() {
    let rig = Rig::new();
    rig.put(
        BATCH,
        &[0x1100_0001, 0x2040, 5, 0x1240_0001, 0x2040, TARGET, END],
    );
    rig.run(RCS, &[START, BATCH]);
    assert_eq!(rig.at(TARGET), 5);
    rig.clean();
}

#[test]
fn endless_batch_is_bounded_per_step() {
    // §5.3.5.1: indefinite chaining is a hang, not a hung model.
    let rig = Rig::new();
    rig.put(BATCH, &[START, BATCH]);
    rig.submit(BCS, &[START, BATCH]);
    assert!(!rig.gpu.run_until_idle(1000));
    assert_eq!(rig.reg(0x22074), BATCH);
    assert_eq!(rig.reg(0x2209c) & 0x200, 0, "busy");
    // Stopping takes effect at a command boundary, and a reset ends it.
    rig.set(0x2209c, 0x0100_0100);
    assert_eq!(rig.reg(0x2209c) & 0x200, 0x200);
    rig.set(0x941c, 1);
    assert_eq!(rig.gpu.step(BCS), StepResult::Idle);
}

#[test]
fn noops_in_a_row_take_few_steps() {
    // §5.9: MI_NOOP does nothing, and may pad a batch; there are programs that send a megabyte of it.
    // Who keeps events sees each by itself.
    for e in ENGINES {
        let rig = Rig::with(RingConfig {
            keep_events: 0,
            ..RingConfig::default()
        });
        let mut batch = vec![0; 3000];
        // One with bit 22 is run: it has a number.
        batch[1003] = 0x0040_1234;
        batch.extend([STORE_GLOBAL, 0, TARGET, 7, END]);
        rig.put(BATCH + 4, &batch);
        rig.submit(e, &[START, BATCH + 4]);
        assert!(rig.gpu.run_until_idle(60), "{}", e.name());
        assert_eq!(rig.at(TARGET), 7);
        assert_eq!(rig.reg(block(e) + 0x94), 0x1234, "NOPID");
        let counter = match e {
            EngineId::Rcs => Counter::RcsCommands,
            EngineId::Vcs => Counter::VcsCommands,
            EngineId::Bcs => Counter::BcsCommands,
        };
        assert_eq!(rig.gpu.counter(counter), 3000 + 3, "each is a command");
        rig.clean();
    }
}

#[test]
fn a_batch_that_runs_in_circles_is_found_at_many_places() {
    // ACTHD of an engine that works moves (§5.3.7): who looks now and then must not think that it stands.
    let rig = Rig::with(RingConfig {
        keep_events: 0,
        ..RingConfig::default()
    });
    let mut batch = vec![0; 62];
    batch.extend([START, BATCH]);
    rig.put(BATCH, &batch);
    rig.submit(BCS, &[START, BATCH]);
    assert!(!rig.gpu.run_until_idle(3000));
    let places: BTreeSet<u32> = (0..100)
        .map(|_| {
            rig.gpu.step(BCS);
            rig.reg(0x22074)
        })
        .collect();
    assert!(places.len() > 50, "{places:x?}");
}

#[test]
fn conditional_end() {
    // VCS PRM 1.2.5: quadword (mask, data); goes on if mask & data > the command's data.
    let rig = Rig::new();
    for (mask, data, limit, goes_on) in [
        (0xffu32, 0x1234_0006u32, 5u32, true),
        (0xff, 0x1234_0005, 5, false),
        (0x0f, 0xffff_ffff, 0x10, false),
    ] {
        rig.put(TARGET, &[mask, data, 0]);
        rig.put(
            BATCH,
            &[
                0x1b60_0001,
                limit,
                TARGET,
                STORE_GLOBAL,
                0,
                TARGET + 8,
                1,
                END,
            ],
        );
        rig.run(RCS, &[START, BATCH]);
        assert_eq!(
            rig.at(TARGET + 8),
            u32::from(goes_on),
            "{mask:x} {data:x} {limit:x}"
        );
    }
    // Without the compare bit the batch ends.
    rig.put(TARGET, &[0xff, 0xff, 0]);
    rig.put(
        BATCH,
        &[0x1b40_0001, 1, TARGET, STORE_GLOBAL, 0, TARGET + 8, 1, END],
    );
    rig.run(RCS, &[START, BATCH]);
    assert_eq!(rig.at(TARGET + 8), 0);
    rig.clean();
}

#[test]
fn arbitration_off_at_the_end_of_a_batch_is_reported() {
    // §5.3.7.1.
    let rig = Rig::new();
    rig.put(BATCH, &[0x0400_0000, END]);
    rig.run(RCS, &[START, BATCH]);
    assert_eq!(rig.gpu.lint_count(Rule::ArbitrationOff), 1);
    // Off: the pending head is not taken.
    rig.set(0x2134, 0x101);
    rig.run(RCS, &[0x0400_0000, 0x0280_0000, 0x0400_0001, 0]);
    assert_eq!(
        rig.reg(0x2134),
        0x100,
        "taken when the ring ran empty, arbitration on again"
    );
}

#[test]
fn ring_only_commands_in_a_batch_are_ignored() {
    let rig = Rig::new();
    rig.set(0x22134, 0x101);
    rig.put(
        BATCH,
        &[0x0280_0000, 0x0380_0000, STORE_GLOBAL, 0, TARGET, 1, END],
    );
    rig.submit(BCS, &[START, BATCH, 0, 0]);
    for _ in 0..4 {
        rig.gpu.step(BCS);
    }
    assert_eq!(rig.reg(0x22134), 0x101);
    assert_eq!(rig.at(0x42010), 0);
    assert_eq!(rig.at(TARGET), 1);
    assert_eq!(rig.gpu.lint_count(Rule::RingOnly), 2);
}

#[test]
fn end_of_batch_in_the_ring_is_reported() {
    let rig = Rig::new();
    rig.run(RCS, &[END, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::Reserved), 1);
}

#[test]
fn interruptibility_field_has_no_effect() {
    // §5.3.7.1: bits 10:9 are accepted.
    for field in [0u32, 1, 3] {
        let rig = Rig::new();
        rig.put(BATCH, &[STORE_GLOBAL, 0, TARGET, 1, END]);
        rig.run(RCS, &[START | field << 9, BATCH]);
        assert_eq!(rig.at(TARGET), 1);
        rig.clean();
    }
}

#[test]
fn what_programs_break_is_counted_apart() {
    // A driver cannot answer for the contents of a non-secure batch.
    let rig = Rig::new();
    rig.put(
        BATCH,
        &[0x1080_0001, 0x100, 5, 0x1200_0001, 0x2ffc, TARGET, END],
    );
    rig.run(RCS, &[START_NS, BATCH]);
    assert_eq!(rig.gpu.lints(), vec![]);
    assert_eq!(rig.gpu.undocumented(), vec![]);
    assert_eq!(
        rig.gpu.client_lints(),
        vec![(Rule::ClientRegister, 1), (Rule::Privilege, 1)]
    );
    assert_eq!(rig.gpu.counter(Counter::ClientLints), 2);
    // The same in the ring is the driver's.
    rig.run(RCS, &[0x1200_0001, 0x2ffc, TARGET]);
    assert_eq!(rig.gpu.undocumented(), vec![(0x2ffc, 1, 0)]);
    // And so is a blit: reserved bit 27 of DW1.
    let blit = [0x5430_0004, 0x0bf0_0010, 0, 0x0001_0001, TARGET, 1];
    rig.put(BATCH, &[&blit[..], &[END]].concat());
    rig.run(BCS, &[START_NS, BATCH]);
    assert_eq!(rig.gpu.lints(), vec![]);
    rig.run(BCS, &blit);
    assert_eq!(rig.gpu.lints(), vec![(Rule::Blt, 1)]);
}
