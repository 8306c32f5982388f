// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Logical contexts on the modelled Gen4 chips (1.15, 5.8).

use crate::gen4_rig::*;
use gpu_model::counters::Counter;
use gpu_model::ring::chip::{G45, G965, GM45};
use gpu_model::ring::lint::Rule;
use gpu_model::ring::StepResult;

#[test]
fn contexts() {
    // 5.8.1.2: the first load saves nothing; a switch saves the old and restores the new; the same address is nothing.
    for chip in ALL {
        let rig = Rig::new(chip);
        let (one, two) = (0x6_0000, 0x6_0800 + 0x1000);
        rig.run(RCS, &[0x0c00_0000, one | 0x109, 0]);
        assert_eq!(rig.reg(0x2180), one | 0x109);
        rig.set(0x2120, 0x0100_0100);
        rig.set(0x2310, 0x77);
        rig.run(RCS, &[0x0c00_0000, one | 0x100, 0]);
        assert_eq!(rig.at(one + 4), 0, "the same: nothing is saved");
        // The extended part was to be saved; the command that came last says no.
        rig.run(RCS, &[0x0c00_0000, two | 0x109, 0]);
        assert_ne!(rig.at(one + 4), 0);
        rig.set(0x2120, 0x0100_0000);
        rig.set(0x2310, 0x88);
        rig.run(RCS, &[0x0c00_0000, one | 0x100, 0]);
        assert_eq!((rig.reg(0x2120), rig.reg(0x2310)), (0x100, 0x77));
        // What CXT_SIZE says is what is used (5.8.1).
        let size = (rig.reg(0x21a0) + 1) * 64;
        assert!((two + size..two + 0x2000)
            .step_by(4)
            .all(|at| rig.at(at) == 0));
        rig.clean();
        // 5.8.1.2: "not within a batch buffer"; 1.15: one MI_NOOP behind it.
        rig.run(RCS, &[0x0c00_0000, two | 0x101, USER]);
        assert_eq!(rig.gpu.lint_count(Rule::SetContextNoNoop), 1);
        rig.put(BATCH, &[0x0c00_0000, one | 0x101, 0, END]);
        rig.submit(RCS, &[START, BATCH]);
        rig.gpu.run_until_idle(100);
        assert_eq!(rig.gpu.step(RCS), StepResult::Stopped);
    }
}

#[test]
fn saves_and_restores_are_counted() {
    // 5.8.1.2: a context is saved if CCID is valid and another one comes, or the same by force (bit 1); the new one is
    // restored then, unless inhibited (bit 0).
    for chip in ALL {
        let rig = Rig::new(chip);
        let (one, two) = (0x6_0000, 0x6_2000);
        let counted = || {
            let counts = [Counter::ContextSaves, Counter::ContextRestores];
            counts.map(|c| rig.gpu.counter(c))
        };
        for (context, expected) in [
            (one | 0x101, [0, 0]), // CCID is not valid, and the restore inhibited
            (one | 0x100, [0, 0]), // the same
            (two | 0x101, [1, 0]),
            (one | 0x100, [2, 1]),
            (one | 0x102, [3, 2]), // the same, by force
        ] {
            rig.run(RCS, &[0x0c00_0000, context, 0]);
            assert_eq!(counted(), expected, "{context:#x}");
        }
        rig.clean();
    }
}

#[test]
fn contexts_at_addresses_of_the_bus() {
    // 1.15: bit 8 clear; 7:4 are address bits 35:32.
    let rig = Rig::new(&G965);
    rig.gpu.gtt_write(0x60, 0);
    rig.run(RCS, &[0x0c00_0000, 0x6_0001, 0]);
    rig.set(0x2310, 0x77);
    rig.run(RCS, &[0x0c00_0000, 0x6_2101, 0]);
    rig.set(0x2310, 0x88);
    rig.run(RCS, &[0x0c00_0000, 0x6_0000, 0]);
    assert_eq!(rig.reg(0x2310), 0x77);
    assert_eq!(rig.reg(0x2024), 0);
    rig.clean();
    // "0 for GTT".
    rig.run(RCS, &[0x0c00_0000, 0x6_2111, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::SetContextFlags), 1);
}

#[test]
fn the_blitters_setup_is_context_state() {
    // 8.4, 5.8.1.3.1. XY_SETUP_BLT (8.9.1) in one context, XY_PIXEL_BLT (8.9.4) with it in another draws its own.
    let setup = |colour: u32| {
        [
            0x4070_0006,
            0x03f0_0040,
            0,
            16 << 16 | 16,
            TARGET,
            colour,
            0,
            0,
        ]
    };
    let rig = Rig::new(&GM45);
    rig.run(RCS, &[0x0c00_0000, 0x6_0101, 0]);
    rig.run(RCS, &setup(0x11));
    rig.run(RCS, &[0x0c00_0000, 0x6_2101, 0]);
    rig.run(RCS, &setup(0x22));
    rig.run(RCS, &[0x0c00_0000, 0x6_0100, 0, 0x4900_0000, 1, FLUSH]);
    assert_eq!(rig.at(TARGET + 4), 0x11);
    rig.run(RCS, &[0x0c00_0000, 0x6_2100, 0, 0x4900_0000, 2, FLUSH]);
    assert_eq!(rig.at(TARGET + 8), 0x22);
    rig.clean();
}

#[test]
fn a_fabricated_context_is_found() {
    // 5.8.1.3.1: "must never restore (load) a logical rendering context ... not ... stored by HW".
    let rig = Rig::new(&G45);
    rig.run(RCS, &[0x0c00_0000, 0x6_0100, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::ContextFabricated), 1);
}

#[test]
fn contexts_are_unsnooped() {
    // 5.3.6.1: "must reside in (unsnooped) Main Memory".
    let rig = Rig::new(&G45);
    rig.gpu.gtt_write(0x60, 0x6_0007);
    rig.run(RCS, &[0x0c00_0000, 0x6_0101, 0]);
    rig.clean();
    rig.run(RCS, &[0x0c00_0000, 0x6_2101, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::SnoopedStream), 1);
}

#[test]
fn groups_of_commands_that_are_off() {
    // 5.3.3: INSTPM switches groups off (bit 1 for 3D state, G-11); what was parsed so is no state. A context's image
    // tells.
    let image = |off: bool, state: bool| {
        let rig = Rig::new(&GM45);
        rig.run(RCS, &[0x0c00_0000, 0x6_0101, 0, 0]);
        rig.set(0x20c0, if off { 0x0002_0002 } else { 0x0002_0000 });
        if state {
            rig.run(RCS, &[0x7909_0000, 0x1234]);
        }
        rig.set(0x20c0, 0x0002_0000);
        rig.run(RCS, &[0x0c00_0000, 0x6_2101, 0, 0]);
        (0..512)
            .map(|i| rig.at(0x6_0000 + 4 * i))
            .collect::<Vec<u32>>()
    };
    assert_ne!(image(false, true), image(false, false));
    assert_eq!(image(true, true), image(false, false));
}
