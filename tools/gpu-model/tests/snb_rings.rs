// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Rings of the modelled Sandy Bridge: registers, wrap, stop, head reports
//! (SNB PRM V1P2 §5.3.4; VCS PRM 1.1.4).

use crate::snb_rig::{block, status_page, Rig, BATCH, TARGET};
use gpu_model::counters::Counter;
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{EngineId, RingConfig, StepResult, ENGINES};

/// MI_STORE_DATA_IMM through the global table: 0x20 << 23, bit 22, length 2.
const STORE_GLOBAL: u32 = 0x1040_0002;

#[test]
fn each_ring_stores_a_value() {
    // §1: three streamers with near-identical interfaces.
    let rig = Rig::new();
    for (i, e) in ENGINES.into_iter().enumerate() {
        let to = TARGET + 0x100 * i as u32;
        rig.run(e, &[STORE_GLOBAL, 0, to, 0xcafe_0000 + i as u32]);
        assert_eq!(rig.at(to), 0xcafe_0000 + i as u32, "{}", e.name());
        assert_eq!(rig.reg(block(e) + 0x34), 0x10, "head follows");
        assert_eq!(rig.reg(block(e) + 0x9c) & 0x200, 0x200, "idle");
    }
    rig.clean();
}

#[test]
fn store_data_index_lands_in_the_status_page() {
    let rig = Rig::new();
    for e in ENGINES {
        // 0x21 << 23, length 1: one dword at byte offset 0x100.
        rig.run(e, &[0x1080_0001, 0x100, 0x1234_5678]);
        assert_eq!(rig.at(status_page(e) + 0x100), 0x1234_5678);
        // Length 2: a quadword.
        rig.run(e, &[0x1080_0002, 0x108, 0x1111_1111, 0x2222_2222]);
        assert_eq!(rig.at(status_page(e) + 0x108), 0x1111_1111);
        assert_eq!(rig.at(status_page(e) + 0x10c), 0x2222_2222);
    }
    rig.clean();
}

#[test]
fn nothing_runs_before_the_ring_is_enabled() {
    // §5.3.4.2: valid gates; enabling a non-empty ring is legal and changes no other field.
    let rig = Rig::bare(RingConfig::default());
    rig.put(0x30000, &[STORE_GLOBAL, 0, TARGET, 7]);
    rig.set(0x22038, 0x30000);
    rig.set(0x22034, 0);
    rig.set(0x22030, 0x10);
    assert!(rig.gpu.run_until_idle(100));
    assert_eq!(rig.at(TARGET), 0);
    rig.set(0x2203c, 1);
    assert_eq!((rig.reg(0x22034), rig.reg(0x22030)), (0, 0x10));
    assert!(rig.gpu.run_until_idle(100));
    assert_eq!(rig.at(TARGET), 7);
    rig.clean();
}

#[test]
fn register_masks() {
    // VCS PRM 1.1.4: TAIL 20:3, START 31:12, CTL 20:12 and 8, 2:0.
    let rig = Rig::bare(RingConfig::default());
    for e in ENGINES {
        let b = block(e);
        rig.set(b + 0x38, 0xffff_ffff);
        assert_eq!(rig.reg(b + 0x38), 0xffff_f000);
        rig.set(b + 0x34, 0xffff_ffff);
        assert_eq!(rig.reg(b + 0x34), 0xffff_fffc);
        rig.set(b + 0x30, 0xffff_ffff);
        assert_eq!(rig.reg(b + 0x30), 0x001f_fff8);
        rig.set(b + 0x3c, 0xffff_fffe);
        assert_eq!(rig.reg(b + 0x3c), 0x001f_f106);
    }
}

#[test]
fn writing_start_clears_head() {
    // G45 PRM 5.3.4.2: offset and wrap count.
    let rig = Rig::bare(RingConfig::default());
    rig.set(0x2034, 0xffe0_0100);
    rig.set(0x2038, 0x10000);
    assert_eq!(rig.reg(0x2034), 0);
}

#[test]
fn wraps_and_counts() {
    // §5.3.4.2: eleven bits of wrap count in head 31:21.
    let rig = Rig::new();
    for lap in 1..=3u32 {
        // 1024 dwords are one lap of a 4 KB ring; one store in each.
        let mut ring = vec![0u32; 1020];
        ring.splice(0..0, [STORE_GLOBAL, 0, TARGET, lap]);
        for part in ring.chunks(512) {
            rig.run(EngineId::Bcs, part);
        }
        assert_eq!(rig.at(TARGET), lap);
        assert_eq!(rig.reg(0x22034), lap << 21);
    }
    rig.clean();
    rig.set(0x2203c, 0);
    rig.set(0x22034, 0xffe0_0ff8);
    rig.set(0x22030, 0);
    rig.put(0x30ff8, &[0, 0]);
    rig.set(0x2203c, 1);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.reg(0x22034), 0, "2047 laps and one more");
}

#[test]
fn a_command_across_the_end_is_run_and_reported() {
    let rig = Rig::new();
    rig.run(EngineId::Rcs, &[0; 510]);
    rig.run(EngineId::Rcs, &[0; 512]);
    assert_eq!(rig.reg(0x2034), 0xff8);
    rig.run(EngineId::Rcs, &[STORE_GLOBAL, 0, TARGET, 9]);
    assert_eq!(rig.at(TARGET), 9);
    assert_eq!(rig.reg(0x2034), 0x0020_0008);
    assert_eq!(rig.gpu.lint_count(Rule::CommandWraps), 1);
}

#[test]
fn a_partial_command_waits_and_is_reported() {
    let rig = Rig::new();
    rig.submit(EngineId::Rcs, &[STORE_GLOBAL, 0]);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.reg(0x2034), 0);
    assert_eq!(rig.gpu.lint_count(Rule::PartialCommand), 1);
    rig.run(EngineId::Rcs, &[TARGET, 5]);
    assert_eq!(rig.at(TARGET), 5);
}

#[test]
fn head_above_tail_in_one_line_is_reported() {
    // §5.3.4.5.
    let rig = Rig::new();
    rig.run(EngineId::Rcs, &[0; 4]);
    rig.set(0x2030, 0x8);
    assert_eq!(rig.gpu.lint_count(Rule::HeadAboveTail), 1);
}

#[test]
fn tail_outside_and_disabling_non_empty_are_reported() {
    let rig = Rig::new();
    rig.set(0x2030, 0x2000);
    assert_eq!(rig.gpu.lint_count(Rule::TailOutOfRing), 1);
    rig.set(0x203c, 0);
    assert_eq!(rig.gpu.lint_count(Rule::DisabledNonEmpty), 1);
    assert_eq!(rig.gpu.step(EngineId::Rcs), StepResult::Idle);
}

#[test]
fn stop_ring_stops_between_commands() {
    // VCS PRM 1.1.3.3: MI_MODE bit 8 stops, bit 9 shows idle and cannot be written.
    let rig = Rig::new();
    rig.submit(
        EngineId::Vcs,
        &[STORE_GLOBAL, 0, TARGET, 1, STORE_GLOBAL, 0, TARGET, 2],
    );
    assert_eq!(rig.gpu.step(EngineId::Vcs), StepResult::Ran);
    assert_eq!(rig.reg(0x1209c) & 0x200, 0, "busy");
    assert_eq!(rig.reg(0x1206c), 0xffff_fffe, "busy in INSTDONE");
    rig.set(0x1209c, 0x0300_0300);
    assert_eq!(rig.reg(0x1209c), 0x0000_0300, "stopped and idle");
    assert_eq!(rig.gpu.step(EngineId::Vcs), StepResult::Stopped);
    assert_eq!(rig.at(TARGET), 1);
    rig.set(0x1209c, 0x0100_0000);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 2);
    assert_eq!(rig.reg(0x1206c), 0xffff_ffff);
}

/// A rig whose video engine has come to rest, and sleeps; behind that a store in its ring.
fn video_asleep() -> Rig {
    let rig = Rig::new();
    rig.run(EngineId::Vcs, &[0, 0]);
    rig.put(0x20008, &[STORE_GLOBAL, 0, TARGET, 3]);
    rig
}

#[test]
fn video_tail_needs_its_handshake() {
    // Digest G-37: without it an idle video engine does not notice.
    let rig = video_asleep();
    rig.set(0x12030, 0x18);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 0);
    assert_eq!(rig.gpu.lint_count(Rule::VcsTailAsleep), 1);
    // Bit 0 alone is not enough: bit 3 must have dropped.
    let rig = video_asleep();
    assert_eq!(rig.reg(0x12050) & 8, 8, "asleep");
    rig.set(0x12050, 0x0001_0001);
    rig.set(0x12030, 0x18);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 0);
    assert_eq!(
        rig.gpu.lint_count(Rule::VcsRncid),
        1,
        "the context id was left out"
    );
    // With the poll it is.
    assert_eq!(rig.reg(0x12050) & 8, 8, "waking");
    assert_eq!(rig.reg(0x12050) & 8, 0, "awake");
    rig.set(0x12030, 0x18);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 3);
}

#[test]
fn a_video_ring_that_was_just_enabled_is_awake() {
    // Upstream's xcs_resume: after a reset the ring is enabled, and has its tail by a plain write. igt_reset_nop
    // (selftest_hangcheck.c) expects what is in it to be done.
    let rig = Rig::new();
    rig.put(0x20000, &[STORE_GLOBAL, 0, TARGET, 3]);
    assert_eq!(rig.reg(0x12050) & 8, 0, "awake");
    rig.set(0x12030, 0x10);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 3);
    rig.clean();
    assert_eq!(rig.reg(0x12050) & 8, 8, "it sleeps after its work");
}

#[test]
fn head_report_on_request() {
    // MI_REPORT_HEAD: HEAD into dword 4 of the status page (digest §2.3, G-49).
    let rig = Rig::new();
    rig.run(EngineId::Rcs, &[0, 0, 0x0380_0000, 0]);
    assert_eq!(rig.at(0x40010), 0x8);
    rig.clean();
}

#[test]
fn head_report_by_itself() {
    // CTL bits 2:1 = 1: at each 64 KB; a ring of 128 KB.
    let rig = Rig::bare(RingConfig::default());
    rig.set(0x4080, 0x40000);
    rig.set(0x2038, 0x200000);
    rig.set(0x203c, 0x0001_f003);
    rig.set(0x2030, 0xfff8);
    assert!(rig.gpu.run_until_idle(100_000));
    assert_eq!(rig.at(0x40010), 0, "no boundary yet");
    rig.set(0x2030, 0x10008);
    assert!(rig.gpu.run_until_idle(100));
    assert_eq!(rig.at(0x40010), 0x10000);
    rig.set(0x2030, 0x1fff8);
    assert!(rig.gpu.run_until_idle(100_000));
    rig.set(0x2030, 0x8);
    assert!(rig.gpu.run_until_idle(100));
    assert_eq!(rig.at(0x40010), 0x0020_0000, "the wrap is a boundary");
    rig.clean();
}

#[test]
fn pending_head_is_taken_at_arbitration_points_only() {
    // §5.3.7.4-5: at MI_ARB_CHECK or when the ring runs empty; valid is cleared.
    let rig = Rig::new();
    let store = |v| [STORE_GLOBAL, 0, TARGET, v];
    rig.put(0x10100, &store(2));
    rig.set(0x2134, 0x101);
    let mut cmds = store(1).to_vec();
    cmds.extend([0x0280_0000, 0]);
    cmds.extend([STORE_GLOBAL, 0, TARGET + 4, 1]);
    rig.submit(EngineId::Rcs, &cmds);
    assert_eq!(rig.gpu.step(EngineId::Rcs), StepResult::Ran);
    assert_eq!(rig.reg(0x2134), 0x101, "not at the store");
    assert_eq!(rig.gpu.step(EngineId::Rcs), StepResult::Ran);
    assert_eq!(rig.reg(0x2134), 0x100);
    assert_eq!(rig.reg(0x2034), 0x100, "jumped");
    assert_eq!(rig.gpu.step(EngineId::Rcs), StepResult::Ran);
    assert_eq!(rig.at(TARGET), 2);
    assert_eq!(rig.at(TARGET + 4), 0, "skipped over");
}

#[test]
fn nopid() {
    // MI_NOOP bit 22 writes 21:0 to NOPID; reset value 0 (§5.9).
    let rig = Rig::new();
    assert_eq!(rig.reg(0x2094), 0);
    rig.run(EngineId::Rcs, &[0x0072_3456, 0]);
    assert_eq!(rig.reg(0x2094), 0x0032_3456);
    rig.run(EngineId::Rcs, &[0x0000_0001, 0]);
    assert_eq!(rig.reg(0x2094), 0x0032_3456, "bit 22 clear");
}

#[test]
fn active_head_and_batch_address() {
    let rig = Rig::new();
    rig.put(BATCH, &[0, 0, 0, 0x0500_0000]);
    rig.submit(EngineId::Bcs, &[0, 0, 0x1880_0000, BATCH]);
    rig.gpu.step(EngineId::Bcs);
    assert_eq!(rig.reg(0x22074), 0x4, "offset in the ring");
    assert_eq!(rig.reg(0x22078), 0x30140, "fetch address: five lines on");
    assert_eq!(rig.reg(0x22140), 0);
    rig.gpu.step(EngineId::Bcs);
    rig.gpu.step(EngineId::Bcs);
    rig.gpu.step(EngineId::Bcs);
    assert_eq!(rig.reg(0x22074), BATCH + 4);
    assert_eq!(rig.reg(0x22140), BATCH | 1, "valid, quadword address");
    assert_eq!(rig.reg(0x22034), 0x10, "the ring waits behind the start");
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.reg(0x22140), 0);
    assert_eq!(rig.gpu.counter(Counter::Batches), 1);
}

#[test]
fn work_is_delayed_as_told() {
    let rig = Rig::with(RingConfig {
        delay_ns: 5000,
        ..RingConfig::default()
    });
    rig.submit(
        EngineId::Rcs,
        &[
            STORE_GLOBAL,
            0,
            TARGET,
            1,
            0x0100_0000,
            0,
            STORE_GLOBAL,
            0,
            TARGET,
            2,
        ],
    );
    assert_eq!(rig.gpu.step(EngineId::Rcs), StepResult::NotBefore(5000));
    assert_eq!(rig.at(TARGET), 0);
    rig.gpu.clock().advance_to(5000);
    for _ in 0..3 {
        assert_eq!(rig.gpu.step(EngineId::Rcs), StepResult::Ran);
    }
    assert_eq!(
        rig.gpu.step(EngineId::Rcs),
        StepResult::NotBefore(10000),
        "the next piece of work"
    );
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 2);
    assert_eq!(rig.gpu.clock().now(), 10000);
}
