// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Batches of the modelled Ivy Bridge: two levels, spaces, conditional ends (VCS PRM 1.2.4 to 1.2.6,
//! 1.1.3.1, 1.1.7).

use crate::ivb_rig::{
    block, Rig, BATCH, BCS, END, ENGINES, LRI, RCS, SECOND, SECOND_NS, START, START_NS,
    STORE_GLOBAL, TARGET, VCS,
};
use gpu_model::counters::Counter;
use gpu_model::ring::engine::Stop;
use gpu_model::ring::lint::Rule;

const INNER: u32 = BATCH + 0x1000;

fn store(n: u32) -> [u32; 4] {
    [STORE_GLOBAL, 0, TARGET + 4 * n, n + 1]
}

fn stored(rig: &Rig, n: u32) -> Vec<u32> {
    (0..n).map(|i| rig.at(TARGET + 4 * i)).collect()
}

#[test]
fn three_heads_and_no_stack() {
    // 1.2.6: from the second level END returns to the first, behind the call; from there to the ring.
    for e in ENGINES {
        let rig = Rig::new();
        rig.put(INNER, &[store(1), [END, 0, 0, 0]].concat());
        rig.put(
            BATCH,
            &[&store(0)[..], &[SECOND, INNER], &store(2), &[END]].concat(),
        );
        rig.run(e, &[&[START, BATCH][..], &store(3)].concat());
        assert_eq!(stored(&rig, 4), [1, 2, 3, 4], "{}", e.name());
        assert_eq!(rig.gpu.counter(Counter::Batches), 1);
        rig.clean();
    }
}

#[test]
fn a_chain_takes_the_place_of_the_first_level() {
    // 1.2.6: "hardware simply updates the head pointer of the 1st level". The second level is there
    // still, and returns into what was chained to.
    let rig = Rig::new();
    rig.put(INNER, &[store(2), [END, 0, 0, 0]].concat());
    rig.put(BATCH, &[&store(0)[..], &[START, BATCH + 0x100]].concat());
    rig.put(
        BATCH + 0x100,
        &[&store(1)[..], &[SECOND, INNER], &store(3), &[END]].concat(),
    );
    rig.run(VCS, &[&[START, BATCH][..], &store(4)].concat());
    assert_eq!(stored(&rig, 5), [1, 2, 3, 4, 5]);
    rig.clean();
}

#[test]
fn the_second_level_does_not_chain() {
    // 1.2.6: "2nd level batch buffer chaining is not supported"; what happens is not said. Here the
    // start is passed over.
    for start in [SECOND, START] {
        let rig = Rig::new();
        rig.put(
            INNER,
            &[&[start, BATCH + 0x2000][..], &store(1), &[END]].concat(),
        );
        rig.put(BATCH, &[&[SECOND, INNER][..], &store(2), &[END]].concat());
        rig.run(VCS, &[START, BATCH]);
        assert_eq!(stored(&rig, 3), [0, 2, 3]);
        assert_eq!(rig.gpu.lint_count(Rule::SecondLevel), 1);
    }
}

#[test]
fn the_second_level_starts_in_a_batch() {
    // 1.2.6: its storage is between the batch and its caller; from the ring it can only return to the ring.
    let rig = Rig::new();
    rig.put(INNER, &[store(0), [END, 0, 0, 0]].concat());
    rig.run(VCS, &[&[SECOND, INNER][..], &store(1)].concat());
    assert_eq!(stored(&rig, 2), [1, 2]);
    assert_eq!(rig.gpu.lint_count(Rule::SecondLevel), 1);
}

#[test]
fn a_non_secure_batch_does_not_call_another() {
    // 1.2.6: "A non-secure 2nd level batch buffer cannot be called from a non-secure 1st".
    let rig = Rig::new();
    rig.put(INNER, &[LRI, 0x12094, 7, END]);
    rig.put(BATCH, &[SECOND_NS, INNER, END]);
    rig.run(VCS, &[START_NS, BATCH]);
    assert_eq!(rig.gpu.lint_count(Rule::SecondLevel), 1);
    assert_eq!(rig.reg(0x12094), 0, "and is without privilege if it is");
    // From a secure one it is, as what it asks for.
    let rig = Rig::new();
    rig.put(INNER, &[LRI, 0x12094, 7, END]);
    rig.put(BATCH, &[SECOND_NS, INNER, LRI, 0x22094, 8, END]);
    rig.run(VCS, &[START, BATCH]);
    assert_eq!((rig.reg(0x12094), rig.reg(0x22094)), (0, 8));
    assert_eq!(rig.gpu.lint_count(Rule::SecondLevel), 0);
}

#[test]
fn a_process_batch_stays_one() {
    // 1.2.6: "will not allow a batch buffer in PPGTT to call a batch buffer in GGTT space by retaining
    // the PPGTT value", whether it chains or calls.
    for start in [START, SECOND] {
        let rig = Rig::new();
        rig.put(INNER, &[LRI, 0x12094, 7, END]);
        rig.put(BATCH, &[start, INNER, END]);
        rig.run(VCS, &[START_NS, BATCH]);
        assert_eq!(rig.reg(0x12094), 0);
        assert_eq!(rig.gpu.lint_count(Rule::ChainedPrivilege), 1, "{start:#x}");
    }
}

#[test]
fn registers_show_both_levels() {
    // 1.1.3.1: 12144h, 31:2. 1.1.7.1: BB_ADDR, bits 31:3 and valid. 1.1.7.2: BB_STATE 5 and 6.
    let rig = Rig::new();
    rig.put(INNER, &[0x0040_0001, 0x0040_0002, END]);
    rig.put(BATCH, &[0x0040_0003, SECOND_NS, INNER, 0x0040_0004, END]);
    rig.submit(VCS, &[START, BATCH]);
    let shown = || {
        (
            rig.reg(0x12140),
            rig.reg(0x12144),
            rig.reg(0x12110),
            rig.reg(0x12074),
        )
    };
    assert_eq!(shown().0, 0);
    rig.gpu.step(VCS);
    rig.gpu.step(VCS);
    assert_eq!(shown(), (BATCH | 1, 0, 0, BATCH + 4));
    rig.gpu.step(VCS);
    assert_eq!(shown().1, INNER);
    assert_eq!(shown().2, 1 << 6, "the second level is in the PPGTT");
    rig.gpu.step(VCS);
    assert_eq!((shown().1, shown().3), (INNER + 4, INNER + 4));
    rig.gpu.step(VCS);
    rig.gpu.step(VCS);
    assert_eq!(shown().2, 0);
    assert_eq!(shown().3, BATCH + 12);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.reg(0x12140), 0);
    rig.put(BATCH, &[0x0040_0003, END]);
    rig.submit(BCS, &[START_NS, BATCH]);
    rig.gpu.step(BCS);
    assert_eq!(rig.reg(0x22110), 1 << 5);
    // Read only (1.1.7).
    rig.set(0x12140, 0xffff_ffff);
    rig.set(0x12110, 0xffff_ffff);
    assert_eq!((rig.reg(0x12140), rig.reg(0x12110)), (0, 0));
}

#[test]
fn conditional_ends() {
    // 1.2.5: goes on if mask AND data in memory exceeds the dword of the command.
    const COND: u32 = 0x1b60_0001;
    for (e, mask, data, limit, goes_on) in [
        (RCS, !0, 6, 5, true),
        (VCS, !0, 5, 5, false),
        (BCS, 0xff, 0x1_0006, 6, false),
        (VCS, 0x8000_0000, !0, 0x7fff_ffff, true),
    ] {
        let rig = Rig::new();
        rig.put(TARGET + 0x100, &[mask, data]);
        rig.put(
            BATCH,
            &[&[COND, limit, TARGET + 0x100][..], &store(0), &[END]].concat(),
        );
        rig.run(e, &[&[START, BATCH][..], &store(1)].concat());
        assert_eq!(
            stored(&rig, 2),
            [u32::from(goes_on), 2],
            "{mask:x} {data:x}"
        );
        rig.clean();
    }
}

#[test]
fn conditional_ends_are_for_the_first_level() {
    // 1.2.5: "only valid with a 1st level batch buffer".
    let rig = Rig::new();
    rig.put(
        INNER,
        &[&[0x1b60_0001, 5, TARGET][..], &store(1), &[END]].concat(),
    );
    rig.put(BATCH, &[&[SECOND, INNER][..], &store(2), &[END]].concat());
    rig.run(VCS, &[START, BATCH]);
    assert_eq!(stored(&rig, 3), [0, 2, 3], "passed over");
    assert_eq!(rig.gpu.lint_count(Rule::SecondLevel), 1);
}

#[test]
fn global_stores_of_a_process_batch_are_dropped() {
    // 1.2.12: "will cause the command parser to perform the write with byte enables turned off"; the
    // global bit "will not be ignored": it is the global table's entry that is looked at.
    for e in ENGINES {
        let rig = Rig::new();
        rig.put(
            BATCH,
            &[&store(0)[..], &[0x1000_0002, 0, TARGET + 4, 2, END]].concat(),
        );
        rig.run(e, &[&[START_NS, BATCH][..], &store(2)].concat());
        assert_eq!(stored(&rig, 3), [0, 2, 3]);
        assert_eq!(rig.gpu.stop_reason(e), Stop::Running);
        assert_eq!(rig.gpu.counter(Counter::PrivilegeViolations), 1);
        assert_eq!(rig.gpu.lint_count(Rule::Privilege), 1);
        assert_eq!(rig.gpu.counter(Counter::PageFaults), 0);
        // Page 0 is not mapped there.
        rig.put(BATCH, &[STORE_GLOBAL, 0, 0x10, 1, END]);
        rig.run(e, &[START_NS, BATCH]);
        assert_eq!(rig.gpu.counter(Counter::PageFaults), 1);
    }
}

#[test]
fn what_else_a_process_batch_may_not() {
    // 1.2.3, 1.2.8, 1.2.11, 1.2.16, 1.2.18: dropped, and the batch goes on.
    for case in [
        &[LRI, 0x12040, 5][..],
        &[0x14c0_0001, 0x12040, TARGET + 0x200],
        &[0x1480_0001, 0x12040, TARGET + 0x200],
        &[0x1240_0001, 0x12094, TARGET],
        &[0x11c0_0001, 0x0009_0000, 0x0009_0005],
        &[0x0400_0000],
    ] {
        let rig = Rig::new();
        rig.set(0x12094, 7);
        rig.put(TARGET + 0x200, &[5]);
        rig.put(
            BATCH,
            &[case, &[0x1000_0002, 0, TARGET + 0x40, 1, END]].concat(),
        );
        rig.run(VCS, &[START_NS, BATCH]);
        assert_eq!(rig.gpu.lint_count(Rule::Privilege), 1, "{case:x?}");
        assert_eq!((rig.reg(0x12040), rig.at(TARGET)), (0, 0), "{case:x?}");
        assert_eq!(rig.at(TARGET + 0x40), 1, "goes on after {case:x?}");
    }
}

#[test]
fn a_batch_without_an_end_does_not_stop_the_model() {
    // 1.2.6: it "must end either with" END or a chain; this one runs into an unknown command.
    let rig = Rig::new();
    rig.put(BATCH, &[START, BATCH]);
    rig.submit(VCS, &[START, BATCH]);
    assert!(!rig.gpu.run_until_idle(1000));
    assert_eq!(rig.gpu.stop_reason(VCS), Stop::Running);
    rig.set(0x941c, 1 << 2);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.reg(block(VCS) + 0x140), 0);
}
