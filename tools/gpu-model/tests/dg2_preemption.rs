// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Preemption, and waits that give way (DG2 PRM Vol 8 "Preemption", "MI_SEMAPHORE_WAIT"; layouts from the digest,
//! §4.1, §4.2, §4.4). Context n has ID n + 1.

use crate::dg2_rig::*;
use gpu_model::counters::Counter;
use gpu_model::dg2::{EngineId, Rule, StepResult};

const E: EngineId = EngineId::Bcs;

#[test]
fn a_newer_queue_preempts_at_an_arbitration_point_alone() {
    let rig = Rig::new();
    rig.context(0);
    rig.context(1);
    rig.append(
        0,
        &[
            &store(SYSTEM + 0x2_0000, 1)[..],
            &[ARB_CHECK, NOOP],
            &store(SYSTEM + 0x2_0004, 2),
        ]
        .concat(),
    );
    rig.append(1, &store(SYSTEM + 0x2_0008, 3));
    rig.load(E, &[descriptor(0)]);
    rig.gpu.step(E);
    rig.load(E, &[descriptor(1)]);
    // The store is not a place to be preempted at; MI_ARB_CHECK is, and it is done then.
    rig.gpu.step(E);
    assert_eq!(rig.csb_pointer(E), 0);
    rig.gpu.step(E);
    // Case 5: new queue, 1 away, 2 to, detail 5.
    assert_eq!(rig.csb(E, 1), 0x0000_0402_0000_0805);
    assert_eq!(rig.image(0, 5), 20, "HEAD behind MI_ARB_CHECK");
    rig.settle();
    assert_eq!(
        (rig.at(0x2_0000), rig.at(0x2_0004), rig.at(0x2_0008)),
        (1, 0, 3)
    );
    // It goes on where it was.
    rig.load(E, &[descriptor(0)]);
    rig.settle();
    assert_eq!(rig.at(0x2_0004), 2);
    assert_eq!(rig.gpu.counter(Counter::Preemptions), 1);
    rig.clean();
}

#[test]
fn arbitration_can_be_off() {
    let rig = Rig::new();
    rig.context(0);
    rig.context(1);
    let two = [ARB_OFF, ARB_CHECK, ARB_CHECK, ARB_ON, ARB_CHECK, NOOP];
    rig.append(0, &two);
    rig.append(1, &[NOOP, NOOP]);
    rig.load(E, &[descriptor(0)]);
    rig.gpu.step(E);
    rig.load(E, &[descriptor(1)]);
    for _ in 0..4 {
        rig.gpu.step(E);
        assert_eq!(rig.csb_pointer(E), 0);
    }
    rig.gpu.step(E);
    assert_eq!(rig.csb(E, 1), 0x0000_0402_0000_0805);
    rig.clean();
}

#[test]
fn a_newer_queue_takes_over_when_the_element_is_done() {
    let rig = Rig::new();
    rig.context(0);
    rig.context(1);
    rig.append(0, &store(SYSTEM + 0x2_0000, 1));
    rig.append(1, &store(SYSTEM + 0x2_0004, 2));
    rig.load(E, &[descriptor(0)]);
    rig.gpu.step(E);
    rig.load(E, &[descriptor(1)]);
    rig.settle();
    // Case 4: detail 0.
    assert_eq!(rig.csb(E, 1), 0x0000_0402_0000_0800);
    assert_eq!((rig.at(0x2_0000), rig.at(0x2_0004)), (1, 2));
    assert_eq!(rig.gpu.counter(Counter::Preemptions), 0);
    rig.clean();
}

#[test]
fn an_empty_queue_preempts_to_idle() {
    let rig = Rig::new();
    rig.context(0);
    rig.append(0, &[ARB_CHECK, NOOP, NOOP, NOOP]);
    rig.load(E, &[descriptor(0)]);
    rig.gpu.step(E);
    rig.load(E, &[]);
    rig.settle();
    // Case 2: new queue, 1 away, to idle, detail 5.
    assert_eq!(rig.csb(E, 1), 0x0000_0402_03ff_fc05);
    rig.clean();
    // Case 3: it was idle.
    rig.load(E, &[]);
    rig.settle();
    assert_eq!(rig.csb(E, 2), 0x03ff_fc02_03ff_fc00);
    assert_eq!(rig.gpu.lint_count(Rule::EmptyLoad), 1);
}

#[test]
fn a_wait_gives_way() {
    let rig = Rig::new();
    rig.context(0);
    rig.context(1);
    rig.append(
        0,
        &[
            &wait(SYSTEM + 0x2_0000, 1)[..],
            &store(SYSTEM + 0x2_0004, 7),
        ]
        .concat(),
    );
    rig.append(1, &store(SYSTEM + 0x2_0000, 1));
    rig.load(E, &[descriptor(0)]);
    rig.settle();
    assert_eq!(rig.gpu.step(E), StepResult::Waiting);
    // Bit 11 of the vector, once; bit 8 for the switch before it.
    assert_eq!(rig.identity(E), 0x8003_0900);
    rig.settle();
    assert_eq!(rig.identity(E), 0);
    rig.load(E, &[descriptor(1), descriptor(0)]);
    rig.settle();
    // Case 6: detail 4. Then 2 to 1, which waits no more.
    assert_eq!(rig.csb(E, 1), 0x0000_0402_0000_0804);
    assert_eq!(rig.csb(E, 2), 0x0000_0800_0000_0400);
    assert_eq!(rig.at(0x2_0004), 7);
    rig.clean();
}

#[test]
fn a_wait_with_arbitration_off_does_not() {
    let rig = Rig::new();
    rig.context(0);
    rig.context(1);
    rig.append(
        0,
        &[&[ARB_OFF, NOOP][..], &wait(SYSTEM + 0x2_0000, 1)].concat(),
    );
    rig.append(1, &[NOOP, NOOP]);
    rig.load(E, &[descriptor(0)]);
    rig.settle();
    rig.load(E, &[descriptor(1)]);
    rig.settle();
    assert_eq!(rig.csb_pointer(E), 0);
    assert_eq!(rig.gpu.lint_count(Rule::WaitWithoutArbitration), 1);
}

#[test]
fn a_wait_in_signal_mode_lets_the_next_element_run() {
    let rig = Rig::new();
    rig.context(0);
    rig.context(1);
    // Bit 15 clear: signal mode. CTX_CONTROL bit 3 clear: elements may be switched.
    rig.put_image(0, 3, 0x0009_0001);
    rig.append(0, &[0x0e40_1003, 1, SYSTEM as u32 + 0x2_0000, 0, 0, NOOP]);
    rig.append(1, &store(SYSTEM + 0x2_0004, 3));
    rig.load(E, &[descriptor(0), descriptor(1)]);
    rig.settle();
    // Case 9: no new queue, detail 4, bit 32 says signal mode.
    assert_eq!(rig.csb(E, 1), 0x0000_0401_0000_0804);
    assert_eq!(rig.at(0x2_0004), 3);
    rig.clean();
}

#[test]
fn a_signal_wakes_the_context_that_it_names() {
    let rig = Rig::new();
    rig.context(0);
    rig.context(1);
    // Bit 3 of CTX_CONTROL keeps it on the engine.
    rig.append(0, &[0x0e40_1003, 1, SYSTEM as u32 + 0x2_0000, 0, 0, NOOP]);
    rig.append(0, &store(SYSTEM + 0x2_0004, 3));
    rig.load(E, &[descriptor(0)]);
    rig.settle();
    rig.put(0x2_0000, &[1]);
    rig.settle();
    assert_eq!(rig.at(0x2_0004), 0, "no engine signalled");
    // Another engine does: MI_SEMAPHORE_SIGNAL, context ID of the descriptor.
    rig.append(1, &[0x0d80_0000, (descriptor(0) >> 32) as u32]);
    rig.load(EngineId::Vcs0, &[descriptor(1)]);
    rig.settle();
    assert_eq!(rig.at(0x2_0004), 3);
    rig.clean();
}

#[test]
fn engines_wait_for_each_other() {
    let rig = Rig::new();
    rig.context(0);
    rig.context(1);
    rig.append(
        0,
        &[
            &wait(SYSTEM + 0x2_0000, 1)[..],
            &store(SYSTEM + 0x2_0004, 2),
        ]
        .concat(),
    );
    rig.append(
        1,
        &[
            &store(SYSTEM + 0x2_0000, 1)[..],
            &wait(SYSTEM + 0x2_0004, 2),
        ]
        .concat(),
    );
    rig.load(E, &[descriptor(0)]);
    rig.load(EngineId::Rcs, &[descriptor(1)]);
    rig.settle();
    assert_eq!(rig.csb(E, 1), 0x0000_0400_03ff_fc00);
    assert_eq!(rig.csb(EngineId::Rcs, 1), 0x0000_0800_03ff_fc00);
    rig.clean();
}

#[test]
fn preempted_in_a_batch_it_goes_on_there() {
    let rig = Rig::new();
    rig.context(0);
    rig.context(1);
    // First level in the per-process space, second level in it too.
    rig.batch(
        0x8_0000,
        &[
            &[0x18c0_0101u32, (USER + 0x8_1000) as u32, 1][..],
            &[0x1000_0002, 0x40, 1, 5],
        ]
        .concat(),
    );
    rig.batch(
        0x8_1000,
        &[ARB_CHECK, NOOP, 0x1000_0002, 0x44, 1, 6, NOOP, NOOP],
    );
    rig.append(0, &start(USER + 0x8_0000));
    rig.append(1, &[NOOP, NOOP]);
    rig.load(E, &[descriptor(0)]);
    rig.gpu.step(E);
    rig.load(E, &[descriptor(1)]);
    rig.settle();
    assert_eq!(rig.csb(E, 1), 0x0000_0402_0000_0805);
    // BB_HEAD: valid, behind MI_ARB_CHECK; BB_STATE bit 5: per-process.
    assert_eq!((rig.image(0, 0x0d), rig.image(0, 0x0f)), (1, 0x8_1005));
    assert_eq!(rig.image(0, 0x11) & 0x20, 0x20);
    assert_eq!((rig.at(0x10_0040), rig.at(0x10_0044)), (0, 0));
    rig.load(E, &[descriptor(0)]);
    rig.settle();
    assert_eq!((rig.at(0x10_0040), rig.at(0x10_0044)), (5, 6));
    rig.clean();
}

#[test]
fn workaround_batches_are_not_preempted() {
    let rig = Rig::new();
    rig.context(0);
    rig.context(1);
    rig.put(0x3_1000, &[ARB_CHECK, ARB_CHECK, BATCH_END, NOOP]);
    rig.put_image(0, 0x13, 0x13_1000 | 1);
    rig.append(0, &[ARB_CHECK, NOOP]);
    rig.append(1, &[NOOP, NOOP]);
    rig.load(E, &[descriptor(0)]);
    rig.gpu.step(E);
    rig.load(E, &[descriptor(1)]);
    for _ in 0..3 {
        rig.gpu.step(E);
        assert_eq!(rig.csb_pointer(E), 0);
    }
    rig.gpu.step(E);
    assert_eq!(rig.csb_pointer(E), 1);
}
