// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Rings of the modelled Ivy Bridge: registers, stop, arbitration, reports of the head
//! (VCS PRM 1.1.3, 1.1.4, 1.2.2, 1.2.3).

use crate::ivb_rig::{
    block, hws_pga, status_page, Rig, BCS, ENGINES, LRI, RCS, STORE_GLOBAL, TARGET, VCS,
};
use gpu_model::ring::lint::Rule;
use gpu_model::ring::StepResult;

#[test]
fn each_ring_stores_a_value() {
    // 1.1.1: a streamer of its own at 10000h + the render engine's offsets; no handshake before a
    // tail is written (digest V-13).
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
fn engines_do_not_wait_for_each_other() {
    // 1.1: "operates completely independently".
    let rig = Rig::new();
    rig.set(0x12028, 0x0001_0001);
    rig.submit(VCS, &[0x0181_0000, 0, STORE_GLOBAL, 0, TARGET, 1]);
    rig.run_others();
    assert_eq!(rig.at(TARGET), 0);
    rig.set(0x12028, 0x0001_0000);
    assert!(rig.gpu.run_until_idle(100));
    assert_eq!(rig.at(TARGET), 1);
}

impl Rig {
    fn run_others(&self) {
        for e in [RCS, BCS] {
            let to = TARGET + 0x10 + block(e) / 0x1000;
            self.submit(e, &[STORE_GLOBAL, 0, to & !3, 7]);
            while self.gpu.step(e) == StepResult::Ran {}
            assert_eq!(self.at(to & !3), 7);
        }
    }
}

#[test]
fn register_masks() {
    // 1.1.4: TAIL 20:3; HEAD 31:2 (bit 0 a status of the render ring); START 31:12; CTL 20:12, and
    // bit 8 on video alone, 2:1 not on render.
    let rig = Rig::bare(Rig::choices());
    for (e, ctl) in [(RCS, 0x001f_f000), (VCS, 0x001f_f106), (BCS, 0x001f_f006)] {
        let b = block(e);
        rig.set(b + 0x38, 0xffff_ffff);
        assert_eq!(rig.reg(b + 0x38), 0xffff_f000);
        rig.set(b + 0x34, 0xffff_ffff);
        assert_eq!(rig.reg(b + 0x34), 0xffff_fffc);
        rig.set(b + 0x30, 0xffff_ffff);
        assert_eq!(rig.reg(b + 0x30), 0x001f_fff8);
        rig.set(b + 0x3c, 0xffff_f7fe);
        assert_eq!(rig.reg(b + 0x3c), ctl, "{}", e.name());
    }
}

#[test]
fn a_ring_may_lie_anywhere() {
    // 1.1.4 wants START 31:29 zero; the upstream driver does not care, and neither does this.
    let rig = Rig::new();
    rig.gpu.gtt_write(0x2_0000, 0x30000 | 5);
    rig.gpu.gtt_write(0x2_0001, 0x30000 | 5);
    rig.set(0x2203c, 0);
    rig.set(0x22038, 0x2000_0000);
    rig.set(0x2203c, 1);
    rig.put(0x30000, &[STORE_GLOBAL, 0, TARGET, 4]);
    rig.set(0x22030, 0x10);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 4);
}

#[test]
fn wraps_and_counts() {
    // 1.1.4: eleven bits in 31:21; the count itself wraps.
    let rig = Rig::new();
    rig.set(0x1203c, 0);
    rig.set(0x12034, 0xffe0_0ff8);
    rig.set(0x12030, 0);
    rig.put(0x20ff8, &[0, 0]);
    rig.set(0x1203c, 1);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.reg(0x12034), 0, "2047 laps and one more");
    rig.clean();
}

#[test]
fn head_shows_a_wait_on_the_render_ring_alone() {
    // 1.1.4, HEAD bit 0: RenderCS; others MBZ. CTL bit 11 shows it on all, and a one cancels it.
    for e in ENGINES {
        let rig = Rig::new();
        let b = block(e);
        rig.set(b + 0x28, 0x0002_0002);
        rig.submit(e, &[0x0182_0000, 0, STORE_GLOBAL, 0, TARGET, 1]);
        assert_eq!(rig.gpu.step(e), StepResult::Waiting);
        assert_eq!(rig.reg(b + 0x34), u32::from(e == RCS), "{}", e.name());
        assert_eq!(rig.reg(b + 0x3c), 1 | 1 << 11);
        rig.set(b + 0x3c, 1);
        assert_eq!(rig.reg(b + 0x3c), 1 | 1 << 11, "a zero has no effect");
        rig.set(b + 0x3c, 1 | 1 << 11);
        assert!(rig.gpu.run_until_idle(10));
        assert_eq!(rig.at(TARGET), 1);
        assert_eq!(rig.reg(b + 0x3c), 1);
    }
}

#[test]
fn a_ring_that_may_not_write_registers() {
    // 1.1.4, CTL bit 8, video alone: reads are allowed.
    let rig = Rig::new();
    rig.set(0x12094, 5);
    rig.set(0x1203c, 0x101);
    rig.put(TARGET + 8, &[7]);
    rig.run(
        VCS,
        &[
            LRI,
            0x12094,
            6,
            0x14c0_0001,
            0x12094,
            TARGET + 8,
            0x1240_0001,
            0x12094,
            TARGET,
            0,
        ],
    );
    assert_eq!((rig.reg(0x12094), rig.at(TARGET)), (5, 5));
    rig.set(0x1203c, 1);
    rig.run(VCS, &[0x14c0_0001, 0x12094, TARGET + 8, 0]);
    assert_eq!(rig.reg(0x12094), 7);
    rig.clean();
}

#[test]
fn the_head_is_reported_at_64_and_128_kb() {
    // 1.1.4, CTL 2:1: 1 is 64 KB, 3 is 128 KB, on video and blitter; into dword 4 (digest V-22).
    for (e, code, tail, reported) in [
        (VCS, 1, 0xfff8, 0),
        (VCS, 1, 0x1_0008, 0x1_0000),
        (BCS, 3, 0x1_0008, 0),
        (BCS, 3, 0x2_0008, 0x2_0000),
        (RCS, 1, 0x1_0008, 0),
    ] {
        let rig = Rig::bare(Rig::choices());
        let b = block(e);
        rig.set(hws_pga(e), status_page(e));
        rig.set(b + 0x38, 0x200000);
        rig.set(b + 0x3c, 0x0003_f001 | code << 1);
        rig.set(b + 0x30, tail);
        assert!(rig.gpu.run_until_idle(100_000));
        assert_eq!(
            rig.at(status_page(e) + 0x10),
            reported,
            "{} {tail:#x}",
            e.name()
        );
        rig.clean();
    }
}

#[test]
fn reports_at_each_page_are_not_for_rings() {
    // 1.1.4, CTL 2:1 = 2: "must not be enabled in Ring Buffer mode".
    let rig = Rig::new();
    rig.set(0x1203c, 0);
    rig.set(0x1203c, 0x0000_f005);
    assert_eq!(rig.gpu.lint_count(Rule::ReportInRingMode), 1);
    rig.set(0x12030, 0x2000);
    assert!(rig.gpu.run_until_idle(10_000));
    assert_eq!(rig.at(status_page(VCS) + 0x10), 0);
}

#[test]
fn a_ring_is_disabled_at_any_time() {
    // 1.1.4, CTL bit 0: "regardless of whether there are valid instructions pending".
    let rig = Rig::new();
    rig.put(0x20000, &[STORE_GLOBAL, 0, TARGET, 1]);
    rig.set(0x12030, 0x10);
    rig.set(0x1203c, 0);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 0);
    rig.clean();
    rig.set(0x1203c, 1);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 1);
}

#[test]
fn stop_ring_stops_between_commands() {
    // 1.1.3.3: bit 8 stops, bit 9 shows idle and cannot be written.
    let rig = Rig::new();
    rig.submit(
        VCS,
        &[STORE_GLOBAL, 0, TARGET, 1, STORE_GLOBAL, 0, TARGET, 2],
    );
    assert_eq!(rig.gpu.step(VCS), StepResult::Ran);
    assert_eq!(rig.reg(0x1209c) & 0x200, 0, "busy");
    rig.set(0x1209c, 0x0300_0300);
    assert_eq!(rig.reg(0x1209c), 0x0000_0300, "stopped and idle");
    assert_eq!(rig.gpu.step(VCS), StepResult::Stopped);
    assert_eq!(rig.at(TARGET), 1);
    rig.set(0x1209c, 0x0100_0000);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 2);
    rig.clean();
}

#[test]
fn pending_heads() {
    // 1.1.4.1: taken at MI_ARB_CHECK, and the valid bit with it.
    for e in ENGINES {
        let rig = Rig::new();
        let b = block(e);
        let base = rig.reg(b + 0x38);
        rig.put(base + 0x100, &[STORE_GLOBAL, 0, TARGET, 2]);
        rig.set(b + 0x134, 0x101);
        rig.submit(e, &[STORE_GLOBAL, 0, TARGET, 1, 0x0280_0000, 0]);
        assert_eq!(rig.gpu.step(e), StepResult::Ran);
        assert_eq!(rig.reg(b + 0x134), 0x101, "not at the store");
        assert_eq!(rig.gpu.step(e), StepResult::Ran);
        assert_eq!(rig.reg(b + 0x134), 0x100);
        assert_eq!(rig.reg(b + 0x34), 0x100, "jumped");
        rig.clean();
    }
}

#[test]
fn a_pending_head_is_forgotten_where_it_is_reached() {
    // 1.1.3.3, bit 11: valid is cleared "when current active head pointer is equal to UHPTR".
    for (mode, left) in [(0x0800_0800, 0x10), (0x0800_0000, 0x11)] {
        let rig = Rig::new();
        rig.set(0x1209c, mode);
        rig.set(0x12134, 0x11);
        rig.submit(
            VCS,
            &[STORE_GLOBAL, 0, TARGET, 1, STORE_GLOBAL, 0, TARGET, 2],
        );
        assert_eq!(rig.gpu.step(VCS), StepResult::Ran);
        assert_eq!(rig.reg(0x12134), left);
    }
}

#[test]
fn arbitration_checks_are_for_rings() {
    // 1.2.2: "cannot be placed in a batch buffer": the pending head stays.
    let rig = Rig::new();
    rig.put(crate::ivb_rig::BATCH, &[0x0280_0000, crate::ivb_rig::END]);
    rig.set(0x12134, 0x101);
    rig.submit(VCS, &[crate::ivb_rig::START, crate::ivb_rig::BATCH]);
    assert_eq!(rig.gpu.step(VCS), StepResult::Ran);
    assert_eq!(rig.gpu.step(VCS), StepResult::Ran);
    assert_eq!(rig.gpu.lint_count(Rule::RingOnly), 1);
    assert_eq!(rig.reg(0x12134), 0x101);
}

#[test]
fn arbitration_must_be_on_when_a_ring_runs_empty() {
    // 1.2.3: running out of commands with it off "will effectively hang the device".
    let rig = Rig::new();
    rig.run(VCS, &[0x0400_0000, 0, 0x0400_0001, 0]);
    rig.clean();
    rig.run(VCS, &[0x0400_0000, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::ArbitrationOff), 1);
    rig.gpu.step(VCS);
    assert_eq!(rig.gpu.lint_count(Rule::ArbitrationOff), 1, "told once");
}
