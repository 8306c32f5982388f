// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Submission, switches and their reports, context images (DG2 PRM Vol 8 "Execution List Submission
//! Port", "Context Status", "Preemption", "Logical Ring Context Format"; layouts from the digest,
//! §4.1, §4.2, §4.4). Context n has ID n + 1.

use crate::dg2_rig::*;
use gpu_model::counters::Counter;
use gpu_model::dg2::{Dg2Config, EngineId, Rule, StepResult};
use gpu_model::trace::Event;

const E: EngineId = EngineId::Bcs;

#[test]
fn idle_to_active_to_idle() {
    let rig = Rig::new();
    rig.run(E, &store(SYSTEM + 0x2_0000, 0x1234));
    assert_eq!(rig.at(0x2_0000), 0x1234);
    // Case 1: new queue, away idle, to 1. Case 10: away 1, to idle.
    assert_eq!(rig.csb(E, 0), 0x03ff_fc02_0000_0400);
    assert_eq!(rig.csb(E, 1), 0x0000_0400_03ff_fc00);
    assert_eq!(rig.csb_pointer(E), 1);
    // The copies in registers, and the pointer there (E18).
    assert_eq!(
        (rig.ereg(E, 0x370), rig.ereg(E, 0x374)),
        (0x400, 0x03ff_fc02)
    );
    assert_eq!(
        (rig.ereg(E, 0x378), rig.ereg(E, 0x37c)),
        (0x03ff_fc00, 0x400)
    );
    assert_eq!(rig.ereg(E, 0x3a0), 0x0b01);
    assert_eq!(rig.identity(E), 0x8003_0100, "context switch interrupt");
    rig.clean();
}

#[test]
fn entry_then_pointer_then_interrupt() {
    let rig = Rig::new();
    rig.context(0);
    rig.append(0, &[NOOP, NOOP]);
    // Neither is there before the switch, all are after it.
    rig.load(E, &[descriptor(0)]);
    assert_eq!((rig.csb_pointer(E), rig.messages()), (11, 0));
    assert_eq!(rig.gpu.step(E), StepResult::Ran);
    assert_eq!(
        (rig.csb(E, 0), rig.csb_pointer(E)),
        (0x03ff_fc02_0000_0400, 0)
    );
    assert_eq!(rig.messages(), 1);
}

#[test]
fn the_document_has_another_place_for_the_status() {
    let rig = Rig::with(Dg2Config {
        status_base: 0x28,
        ..Dg2Config::default()
    });
    rig.run(E, &[NOOP, NOOP]);
    assert_eq!(
        (rig.status(E, 0x28), rig.status(E, 0x29)),
        (0x400, 0x03ff_fc02)
    );
    assert_eq!(rig.status(E, 0x47), 1);
}

#[test]
fn the_status_buffer_wraps_after_twelve() {
    let rig = Rig::new();
    for n in 1..=6 {
        rig.run(E, &store(SYSTEM + 0x2_0000, n));
    }
    assert_eq!(
        (rig.csb_pointer(E), rig.csb(E, 11)),
        (11, 0x0000_0400_03ff_fc00)
    );
    assert_eq!(
        (rig.ereg(E, 0x3e8), rig.ereg(E, 0x3ec)),
        (0x03ff_fc00, 0x400)
    );
    rig.run(E, &store(SYSTEM + 0x2_0000, 7));
    assert_eq!(rig.csb_pointer(E), 1);
    rig.clean();
    // A pointer that is none.
    rig.eset(E, 0x3a0, 0x000f_000d);
    rig.run(E, &[NOOP, NOOP]);
    assert_eq!(rig.gpu.lint_count(Rule::StatusPointer), 1);
}

#[test]
fn elements_run_in_order_and_invalid_ones_are_skipped() {
    let rig = Rig::new();
    for n in 0..3 {
        rig.context(n);
        let order = [
            &[0x1104_0000u32; 0][..],
            // R0 of the status is no use: append to a list through MI_ATOMIC, add 1 << 4n.
            &[
                0x1784_0009 | 0x40_0000 | 0x07 << 8,
                0x12_0000,
                0,
                1 << (4 * n),
                0,
                0,
                0,
                0,
                0,
                0,
                0,
            ],
        ]
        .concat();
        rig.append(n, &order);
    }
    rig.load(
        E,
        &[descriptor(0), 0, descriptor(2), 0, 0, 0, 0, descriptor(1)],
    );
    rig.settle();
    assert_eq!(rig.at(0x2_0000), 0x111);
    // Cases 1, 8, 8, 10: idle to 1, 1 to 3, 3 to 2, 2 to idle.
    let all: Vec<u64> = (0..4).map(|i| rig.csb(E, i)).collect();
    assert_eq!(
        all,
        [
            0x03ff_fc02_0000_0400,
            0x0000_0400_0000_0c00,
            0x0000_0c00_0000_0800,
            0x0000_0800_03ff_fc00
        ]
    );
    assert_eq!(rig.gpu.counter(Counter::Submissions), 3);
    rig.clean();
}

#[test]
fn a_load_leaves_the_submission_queue_as_it_is() {
    let rig = Rig::new();
    rig.run(E, &store(SYSTEM + 0x2_0000, 1));
    assert_eq!(rig.ereg(E, 0x510), descriptor(0) as u32);
    assert_eq!(rig.ereg(E, 0x514), (descriptor(0) >> 32) as u32);
    // Another load without a write runs the same element again, which has nothing left to do.
    rig.eset(E, 0x550, 1);
    rig.settle();
    assert_eq!(rig.csb(E, 3), 0x0000_0400_03ff_fc00);
    // Writing the queue alone starts nothing (B5), nor does a control without its bit.
    rig.append(0, &store(SYSTEM + 0x2_0000, 2));
    rig.eset(E, 0x510, descriptor(0) as u32);
    rig.eset(E, 0x550, 2);
    rig.settle();
    assert_eq!(rig.at(0x2_0000), 1);
    rig.clean();
}

#[test]
fn the_port_fills_elements_in_turn() {
    let rig = Rig::new();
    rig.context(0);
    rig.append(0, &store(SYSTEM + 0x2_0000, 5));
    // Lower half first (witness VW46); eight elements, then again from the first.
    for i in 0..9 {
        let d = if i == 8 { descriptor(0) } else { 0x100 * i };
        rig.eset(E, 0x230, d as u32);
        rig.eset(E, 0x230, (d >> 32) as u32);
    }
    assert_eq!(rig.ereg(E, 0x510), descriptor(0) as u32);
    assert_eq!(rig.ereg(E, 0x548), 0x700);
    rig.eset(E, 0x550, 1);
    rig.settle();
    assert_eq!(rig.at(0x2_0000), 5);
}

#[test]
fn nothing_runs_without_execlists() {
    let rig = Rig::new();
    rig.eset(E, 0x29c, 0x0008_0000);
    rig.run(E, &store(SYSTEM + 0x2_0000, 1));
    assert_eq!((rig.at(0x2_0000), rig.csb_pointer(E)), (0, 11));
    assert_eq!(rig.gpu.lint_count(Rule::LoadDisabled), 1);
}

#[test]
fn of_several_loads_the_latest_counts() {
    let rig = Rig::new();
    for n in 0..3 {
        rig.context(n);
        rig.append(n, &store(SYSTEM + 0x2_0000 + 4 * n, 1));
    }
    rig.load(E, &[descriptor(0)]);
    rig.gpu.step(E);
    rig.load(E, &[descriptor(1)]);
    rig.load(E, &[descriptor(2)]);
    rig.settle();
    assert_eq!(
        (rig.at(0x2_0000), rig.at(0x2_0004), rig.at(0x2_0008)),
        (1, 0, 1)
    );
    // Idle to 1, 1 to 3, 3 to idle: one report for two loads (B11).
    assert_eq!(rig.csb_pointer(E), 2);
    assert_eq!(rig.csb(E, 1), 0x0000_0402_0000_0c00);
    assert_eq!(rig.gpu.counter(Counter::Loads), 3);
    assert_eq!(rig.gpu.counter(Counter::LoadsUnacknowledged), 1);
    assert_eq!(rig.gpu.counter(Counter::QueueSwitches), 2);
}

#[test]
fn the_same_context_is_restored_lightly() {
    let rig = Rig::new();
    rig.context(0);
    rig.append(0, &[NOOP, NOOP]);
    rig.load(E, &[descriptor(0)]);
    rig.gpu.step(E);
    // More work: only the tail is read again, and the image is not saved.
    rig.append(0, &store(SYSTEM + 0x2_0000, 9));
    rig.put_image(0, 5, 0x777);
    rig.load(E, &[descriptor(0)]);
    rig.settle();
    assert_eq!(rig.at(0x2_0000), 9);
    // Case 7: away and to are the same, new queue.
    assert_eq!(rig.csb(E, 1), 0x0000_0402_0000_0400);
    assert_eq!(rig.csb(E, 2), 0x0000_0400_03ff_fc00);
    assert_eq!(rig.gpu.counter(Counter::LiteRestores), 1);
    assert_eq!(rig.gpu.counter(Counter::ContextSaves), 1);
    rig.clean();
}

#[test]
fn a_forced_restore_reads_all_of_the_image() {
    let rig = Rig::new();
    rig.context(0);
    rig.append(0, &[NOOP, NOOP]);
    rig.load(E, &[descriptor(0)]);
    rig.gpu.step(E);
    rig.append(0, &store(SYSTEM + 0x2_0000, 9));
    // Bit 2 of the descriptor.
    rig.load(E, &[descriptor(0) | 4]);
    rig.settle();
    assert_eq!(rig.at(0x2_0000), 9);
    assert_eq!(rig.csb(E, 1), 0x0000_0402_0000_0400);
    assert_eq!(rig.gpu.counter(Counter::LiteRestores), 0);
    assert_eq!(rig.gpu.counter(Counter::ContextSaves), 2);
    rig.clean();
}

/// All of the context is written back (DG2 PRM Vol 8 "Logical Ring Context Format", digest D8): a tail that
/// came before that is lost, unless the engine is told to leave it.
#[test]
fn a_save_writes_the_tail_that_the_engine_had() {
    for (image_tails, lost) in [(false, 1), (true, 0)] {
        let rig = Rig::with(Dg2Config {
            image_tails,
            ..Dg2Config::default()
        });
        rig.context(0);
        rig.append(0, &[NOOP, NOOP]);
        rig.load(E, &[descriptor(0)]);
        rig.gpu.step(E);
        rig.append(0, &store(SYSTEM + 0x2_0000, 9));
        rig.settle();
        assert_eq!(rig.gpu.counter(Counter::TailsLost), lost);
        rig.load(E, &[descriptor(0)]);
        rig.settle();
        let stored = if image_tails { 9 } else { 0 };
        assert_eq!(rig.at(0x2_0000), stored);
        rig.clean();
    }
}

#[test]
fn a_tail_that_goes_back_is_told() {
    let rig = Rig::new();
    rig.context(0);
    rig.append(0, &[ARB_CHECK; 8]);
    rig.load(E, &[descriptor(0)]);
    rig.gpu.step(E);
    rig.gpu.step(E);
    rig.put_image(0, 7, 8);
    rig.load(E, &[descriptor(0)]);
    for _ in 0..20 {
        rig.gpu.step(E);
    }
    assert_eq!(rig.gpu.lint_count(Rule::TailBackwards), 1);
}

#[test]
fn what_runs_shows_in_the_registers() {
    let rig = Rig::new();
    rig.context(0);
    rig.append(0, &wait(SYSTEM + 0x2_0000, 1));
    assert_eq!(rig.ereg(E, 0x9c) & 1 << 9, 1 << 9);
    rig.load(E, &[descriptor(0)]);
    rig.settle();
    // E21: the upper half is the descriptor's; the current image.
    assert_eq!(rig.ereg(E, 0x238), (descriptor(0) >> 32) as u32);
    assert_eq!(rig.ereg(E, 0x240), 0x100_0000);
    assert_eq!(rig.ereg(E, 0x38), 0x101_0000);
    assert_eq!(rig.ereg(E, 0x68), 0x0e40_9003);
    assert_eq!(rig.ereg(E, 0x9c) & 1 << 9, 0);
    // STOP_RING holds it, and it is idle then (J13).
    rig.eset(E, 0x9c, 0x0100_0100);
    assert_eq!(rig.ereg(E, 0x9c), 0x0300);
    rig.put(0x2_0000, &[1]);
    rig.settle();
    assert_eq!(rig.csb_pointer(E), 0);
    rig.eset(E, 0x9c, 0x0100_0000);
    rig.settle();
    assert_eq!(rig.csb_pointer(E), 1);
    rig.clean();
}

#[test]
fn a_saved_image_explains_itself() {
    let rig = Rig::new();
    rig.context(0);
    // R0, R15; both written by MI_LOAD_REGISTER_IMM relative to the engine.
    rig.run(
        E,
        &[0x1108_0005, 0x600, 0x1111, 0x604, 0x2222, 0x67c, 0x3333],
    );
    // §4.2, dwords as offsets and values. Headers as the document prints them.
    for (dword, value) in [
        (0x00, 0),
        (0x01, 0x1108_101d),
        (0x02, 0x2_2244),
        (0x03, 0xffff_0008),
        (0x04, 0x2_2034),
        (0x05, 32),
        (0x06, 0x2_2030),
        (0x07, 32),
        (0x08, 0x2_2038),
        (0x09, 0x101_0000),
        (0x0b, 1),
        (0x0d, 0),
        (0x16, 0x2_21c8),
        (0x17, 0x340),
        (0x21, 0x1108_1011),
        (0x30, 0x2_2274),
        (0x31, 0),
        (0x32, 0x2_2270),
        (0x33, 0x220_0000),
        (0x41, 0x1100_1003),
        (0x42, 0x2_2200),
        (0x44, 0x2_2204),
        (0x60, 0),
        (0x61, 0x1108_106d),
        (0x62, 0x2_2588),
        (0x70, 0x2_209c),
        (0x80, 0x2_2158),
        (0x84, 0x2_2600),
        (0x85, 0x1111),
        (0x87, 0x2222),
        (0xc2, 0x2_267c),
        (0xc3, 0x3333),
        (0xc4, 0x2_2068),
        (0xc6, 0x2_2084),
        (0xce, 0x2_21fc),
        (0xd9, 0x1102_100b),
        (0xda, 0x4480),
        (0xe4, 0x4494),
        (0xf0, 0),
    ] {
        assert_eq!(rig.image(0, dword), value, "dword {dword:#x}");
    }
    // What was saved comes back: the general registers are another context's meanwhile.
    rig.context(1);
    rig.append(1, &[0x1108_0001, 0x600, 0x7777]);
    rig.load(E, &[descriptor(1)]);
    rig.settle();
    rig.run(E, &[0x1248_0002, 0x600, SYSTEM as u32 + 0x2_0000, 0]);
    assert_eq!(rig.at(0x2_0000), 0x1111);
    rig.clean();
}

#[test]
fn render_images_have_their_own_slots() {
    let rig = Rig::new();
    let e = EngineId::Rcs;
    rig.context(0);
    rig.put_local(Rig::page(0) + 0xd000 - 4, &[0x5555]);
    rig.run(e, &[0x1108_0001, 0x418, 1]);
    // §4.2: 34h is a list of 1B0, 5A8, 5AC; 41h of R_PWR_CLK_STATE. §5.10: 13 pages are written.
    for (dword, value) in [
        (0x34, 0x1108_1005),
        (0x35, 0x21b0),
        (0x37, 0x25a8),
        (0x39, 0x25ac),
        (0x41, 0x1108_0001),
        (0x42, 0x20c8),
        (0xda, 0x4400),
        (13 * 1024 - 1, 0),
    ] {
        assert_eq!(rig.image(0, dword), value, "dword {dword:#x}");
    }
    // MI_PREDICATE_RESULT is kept for each context ("Predication Result Table").
    rig.context(1);
    rig.append(1, &[0x1108_0001, 0x418, 0]);
    rig.load(e, &[descriptor(1)]);
    rig.settle();
    rig.run(e, &[0x1248_0002, 0x418, SYSTEM as u32 + 0x2_0000, 0]);
    assert_eq!(rig.at(0x2_0000), 1);
    rig.clean();
}

#[test]
fn media_images_wake_their_wells() {
    for (e, bank) in [(EngineId::Vcs2, 0x4420), (EngineId::Vecs1, 0x4460)] {
        let rig = Rig::new();
        rig.run(e, &[NOOP, NOOP]);
        assert_eq!(rig.image(0, 0xd0), 0x0e80_0000, "MI_FORCE_WAKEUP");
        assert_eq!(rig.image(0, 0xda), bank, "the class's first bank, remapped");
        rig.run(e, &[NOOP, NOOP]);
        rig.clean();
    }
}

#[test]
fn the_engine_context_is_left_out_while_inhibited() {
    let rig = Rig::new();
    rig.context(0);
    rig.run(E, &[0x1108_0001, 0x600, 0x1111]);
    // Bit 0 of CTX_CONTROL, with its mask: R0 of the image is not loaded.
    rig.put_image(0, 3, 0x0009_0009);
    rig.eset(E, 0x600, 0x4444);
    rig.run(E, &[0x1248_0002, 0x600, SYSTEM as u32 + 0x2_0000, 0]);
    assert_eq!(rig.at(0x2_0000), 0x4444);
    assert_eq!(
        rig.image(0, 3),
        0xffff_0008,
        "the saved one is not inhibited"
    );
    // Bit 2 keeps the engine context from being saved.
    rig.put_image(0, 3, 0x000d_000c);
    rig.put_image(0, 0x85, 0x9999);
    rig.run(E, &[0x1108_0001, 0x600, 0x1212]);
    assert_eq!(rig.image(0, 0x85), 0x9999);
    assert_eq!(rig.image(0, 5), rig.image(0, 7));
    rig.clean();
}

#[test]
fn workaround_batches_run_in_every_restore() {
    let rig = Rig::new();
    rig.context(0);
    // INDIRECT_CTX: two lines of commands without an end, at the global address 0x130000; the last of
    // them stores R1, which the image before the offset 340h has restored.
    let mut lines = vec![NOOP; 32];
    lines[..4].copy_from_slice(&[0x1248_0002, 0x608, SYSTEM as u32 + 0x2_0000, 0]);
    lines[28..].copy_from_slice(&store(SYSTEM + 0x2_0004, 0xaa));
    rig.put(0x3_0000, &lines);
    // BB_PER_CTX_PTR: a batch that ends by itself.
    rig.put(
        0x3_1000,
        &[&store(SYSTEM + 0x2_0008, 0xbb)[..], &[BATCH_END, NOOP]].concat(),
    );
    rig.put_image(0, 0x15, 0x13_0000 | 2);
    rig.put_image(0, 0x13, 0x13_1000 | 1);
    rig.run(E, &[0x1108_0001, 0x608, 0x6060]);
    assert_eq!((rig.at(0x2_0004), rig.at(0x2_0008)), (0xaa, 0xbb));
    assert_eq!(rig.at(0x2_0000), 0, "inhibited: nothing restored");
    rig.put(0x2_0000, &[0, 0, 0]);
    rig.run(E, &[NOOP, NOOP]);
    assert_eq!(
        (rig.at(0x2_0000), rig.at(0x2_0004), rig.at(0x2_0008)),
        (0x6060, 0xaa, 0xbb)
    );
    // Zero disables both (K6).
    rig.put_image(0, 0x15, 0);
    rig.put_image(0, 0x13, 0);
    rig.put(0x2_0000, &[0, 0, 0]);
    rig.run(E, &[NOOP, NOOP]);
    assert_eq!((rig.at(0x2_0004), rig.at(0x2_0008)), (0, 0));
    rig.clean();
}

#[test]
fn images_that_are_none_stop_the_engine() {
    for (dword, value, what) in [
        (0x20, 0x0a00_0000, "a command that cannot be there"),
        (0x21, 0x1100_1001, "a register of another engine"),
        (0x22, 0x0fff, "a register that is none"),
    ] {
        let rig = Rig::new();
        rig.context(0);
        rig.append(0, &store(SYSTEM + 0x2_0000, 1));
        rig.put_image(0, dword, value);
        rig.load(E, &[descriptor(0)]);
        rig.settle();
        assert_eq!(rig.gpu.step(E), StepResult::Stopped, "{what}");
        assert_eq!(rig.ereg(E, 0xb0), 1, "{what}");
        assert_eq!(rig.gpu.lint_count(Rule::ContextImage), 1, "{what}");
        assert_eq!(rig.at(0x2_0000), 0, "{what}");
    }
}

#[test]
fn an_image_that_is_not_mapped_is_a_fault() {
    let rig = Rig::new();
    rig.load(E, &[1 << 39 | 0x400_0000 | 0x119]);
    rig.settle();
    assert_eq!(rig.gpu.step(E), StepResult::Stopped);
    // RING_FAULT: valid, the blitter; the address's page; global.
    assert_eq!(rig.reg(0xcec4), 0x2001);
    assert_eq!((rig.reg(0xceb8), rig.reg(0xcebc)), (0x4001, 0x10));
    assert_eq!(rig.ereg(E, 0xd0) & 4, 4, "RESET_CTL says so");
    // It is ready as it is; writing the bit with its mask takes it away (digest §5.6).
    rig.eset(E, 0xd0, 0x0004_0004);
    assert_eq!(rig.ereg(E, 0xd0) & 4, 0);
}

#[test]
fn context_time_counts_what_the_context_ran() {
    let rig = Rig::new();
    rig.context(0);
    rig.append(0, &wait(SYSTEM + 0x2_0000, 1));
    rig.load(E, &[descriptor(0)]);
    rig.settle();
    // 19.2 MHz: 1 ms is 19200 ticks.
    rig.gpu.clock().advance_to(1_000_000);
    assert_eq!(rig.ereg(E, 0x3a8), 19200);
    rig.put(0x2_0000, &[1]);
    rig.settle();
    assert_eq!(rig.image(0, 0x23), 19200);
    rig.gpu.clock().advance_to(5_000_000);
    rig.put(0x2_0000, &[0]);
    rig.append(0, &wait(SYSTEM + 0x2_0000, 1));
    rig.load(E, &[descriptor(0)]);
    rig.settle();
    rig.gpu.clock().advance_to(6_000_000);
    assert_eq!(rig.ereg(E, 0x3a8), 2 * 19200);
    assert_eq!((rig.ereg(E, 0x358), rig.ereg(E, 0x35c)), (6 * 19200, 0));
}

#[test]
fn descriptors_and_rings_that_are_none_are_told() {
    let rig = Rig::new();
    rig.context(0);
    rig.append(0, &[NOOP, NOOP]);
    rig.load(E, &[0xffff << 39 | 0x100_0000 | 0x109]);
    rig.settle();
    assert_eq!(rig.gpu.lint_count(Rule::IdleContextId), 1);
    assert_eq!(rig.gpu.lint_count(Rule::AddressingMode), 1);
    // A tail past the end of the ring, a ring that is off.
    for (dword, value) in [(7, 0x2000), (0x0b, 0)] {
        let rig = Rig::new();
        rig.context(0);
        rig.append(0, &[NOOP, NOOP]);
        rig.put_image(0, dword, value);
        rig.load(E, &[descriptor(0)]);
        rig.settle();
        assert_eq!(rig.gpu.lint_count(Rule::RingShape), 1);
        // A register of a live ring is written.
        rig.eset(E, 0x30, 0);
        assert_eq!(rig.gpu.lint_count(Rule::LiveRing), 1);
    }
}

#[test]
fn masked_reports_are_not_made() {
    let rig = Rig::new();
    rig.eset(E, 0x218, !0);
    rig.run(E, &store(SYSTEM + 0x2_0000, 1));
    assert_eq!(
        (rig.at(0x2_0000), rig.csb_pointer(E), rig.messages()),
        (1, 11, 0)
    );
}

#[test]
fn switches_are_in_the_trace() {
    let rig = Rig::new();
    rig.run(E, &[NOOP, NOOP]);
    let switches: Vec<String> = rig
        .gpu
        .take_events()
        .iter()
        .filter(|e| matches!(e, Event::Switch { .. }))
        .map(Event::to_string)
        .collect();
    assert_eq!(
        switches,
        ["S bcs 03fffc0200000400", "S bcs 0000040003fffc00"]
    );
}
