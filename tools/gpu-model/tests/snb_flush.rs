// SPDX-License-Identifier: GPL-2.0 OR MIT
//! PIPE_CONTROL, MI_FLUSH_DW and MI_FLUSH of the modelled Sandy Bridge: stores, invalidation,
//! interrupts, workaround rules (digest §2.4; VCS PRM 1.2.7; SNB PRM V1P2 §5.3.10–5.3.11).

use crate::snb_rig::{block, status_page, Rig, BATCH, TARGET};
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{EngineId, RingConfig};

const RCS: EngineId = EngineId::Rcs;
const VCS: EngineId = EngineId::Vcs;
const BCS: EngineId = EngineId::Bcs;
const STORE_GLOBAL: u32 = 0x1040_0002;

#[test]
fn pipe_control_stores() {
    let rig = Rig::new();
    // Immediate quadword: op 1 in 15:14; address bit 2 is the global table.
    rig.run(
        RCS,
        &[0x7a00_0003, 0x4000, TARGET | 4, 0x1111_1111, 0x2222_2222],
    );
    assert_eq!(
        (rig.at(TARGET), rig.at(TARGET + 4)),
        (0x1111_1111, 0x2222_2222)
    );
    // Four dwords: the high half is zero.
    rig.run(RCS, &[0x7a00_0002, 0x4000, TARGET | 4, 0x3333_3333]);
    assert_eq!((rig.at(TARGET), rig.at(TARGET + 4)), (0x3333_3333, 0));
    // Depth count: op 2, from PS_DEPTH_COUNT at 0x2350.
    rig.set(0x2350, 0x55);
    rig.set(0x2354, 0x66);
    rig.run(RCS, &[0x7a00_0003, 0x8000, TARGET | 4, 0, 0]);
    assert_eq!((rig.at(TARGET), rig.at(TARGET + 4)), (0x55, 0x66));
    // Time stamp: op 3.
    rig.gpu.clock().advance_to(80 * 0x1234);
    rig.run(RCS, &[0x7a00_0003, 0xc000, TARGET | 4, 0, 0]);
    assert_eq!((rig.at(TARGET), rig.at(TARGET + 4)), (0x1234, 0));
    // Store data index: bit 21.
    rig.run(RCS, &[0x7a00_0003, 0x20_4000, 0x100, 0x77, 0]);
    assert_eq!(rig.at(status_page(RCS) + 0x100), 0x77);
    rig.clean();
}

#[test]
fn pipe_control_without_post_sync_stores_nothing() {
    let rig = Rig::new();
    rig.put(TARGET, &[0x5555_5555]);
    rig.run(RCS, &[0x7a00_0003, 0x0010_0002, TARGET | 4, 1, 1]);
    assert_eq!(rig.at(TARGET), 0x5555_5555);
    rig.clean();
}

#[test]
fn pipe_control_space() {
    // DW2 bit 2: 0 is the per-process table.
    let rig = Rig::new();
    for n in 0..512 {
        rig.gpu.gtt_write(0x400 + n, 0x0010_0001);
    }
    for page in 0..1024u32 {
        rig.put(0x100000 + page * 4, &[((page + 0x100) << 12) | 5]);
    }
    rig.set(0x2220, 0xffff_ffff);
    rig.set(0x2228, 0x0040_0000);
    rig.set(0x2520, 0x0200_0200);
    rig.run(RCS, &[0x7a00_0003, 0x4000, TARGET, 5, 0]);
    assert_eq!((rig.at(TARGET), rig.at(TARGET + 0x100000)), (0, 5));
    rig.run(RCS, &[0x7a00_0003, 0x4000, (TARGET + 0x1000) | 4, 6, 0]);
    assert_eq!(rig.at(TARGET + 0x1000), 6);
}

#[test]
fn breadcrumb_of_the_render_ring() {
    // Digest G-35: stall; post-sync; flush with the number; interrupt. No rule broken.
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.run(
        RCS,
        &[
            0x7a00_0002,
            0x0010_0002,
            0,
            0,
            0x7a00_0002,
            0x4000,
            (TARGET + 0x80) | 4,
            0,
            0x7a00_0002,
            0x0010_5021,
            (status_page(RCS) + 0x100) | 4,
            0x1234,
            0x0100_0000,
            0,
        ],
    );
    assert_eq!(rig.at(status_page(RCS) + 0x100), 0x1234);
    assert_eq!(rig.reg(0x44018), 1);
    assert_eq!(rig.messages(), 1);
    rig.clean();
}

#[test]
fn flush_without_its_two_companions_is_reported() {
    // Digest §2.4: before a write-cache flush or a depth stall, one with a post-sync operation;
    // before that one, a stall of the streamer at the scoreboard.
    let stall = [0x7a00_0002, 0x0010_0002, 0, 0];
    let post = [0x7a00_0002, 0x4000, TARGET | 4, 0];
    let flush = [0x7a00_0002, 0x1000, 0, 0];
    let depth = [0x7a00_0002, 0x2000, 0, 0];
    let cases: &[(&[[u32; 4]], u64)] = &[
        (&[flush], 1),
        (&[depth], 1),
        (&[stall, flush], 1),
        (&[post, flush], 1),
        (&[post, stall, flush], 1),
        (&[stall, post, flush], 0),
        (&[stall, post, depth], 0),
        (&[stall, post, flush, flush], 1),
    ];
    for (sequence, reports) in cases {
        let rig = Rig::new();
        rig.run(RCS, &sequence.concat());
        assert_eq!(
            rig.gpu.lint_count(Rule::FlushPrelude),
            *reports,
            "{sequence:x?}"
        );
    }
}

#[test]
fn stall_needs_a_reason() {
    // Digest §2.4: one of RT flush, depth flush, scoreboard, depth stall, post-sync, notify.
    let rig = Rig::new();
    rig.run(RCS, &[0x7a00_0002, 0x0010_0000, 0, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::BareStall), 1);
    for reason in [0x2, 0x1, 0x100] {
        rig.run(RCS, &[0x7a00_0002, 0x0010_0000 | reason, 0, 0]);
    }
    rig.run(RCS, &[0x7a00_0002, 0x0010_4000, TARGET | 4, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::BareStall), 1);
}

#[test]
fn pipe_control_invalidates_with_a_post_sync_only() {
    let rig = Rig::new();
    rig.run(RCS, &[STORE_GLOBAL, 0, TARGET, 1]);
    let cached = rig.gpu.cached_translations(RCS);
    rig.run(RCS, &[0x7a00_0002, 0x0004_0000, 0, 0]);
    assert!(rig.gpu.cached_translations(RCS) >= cached);
    assert_eq!(rig.gpu.lint_count(Rule::TlbWithoutPostSync), 1);
    rig.gpu.gtt_write(TARGET >> 12, 0x0009_0005);
    rig.run(RCS, &[0x7a00_0002, 0x0004_4000, 0x81004, 0]);
    rig.run(RCS, &[STORE_GLOBAL, 0, TARGET, 2]);
    assert_eq!(rig.at(0x90000), 2, "new page");
}

#[test]
fn notify_comes_after_the_store() {
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.run(RCS, &[0x7a00_0002, 0x4100, TARGET | 4, 1]);
    assert_eq!(rig.reg(0x44018), 1 << 4);
    let rig = Rig::new();
    rig.unmask_interrupts();
    // MI_FLUSH_DW bit 8: 16 on video, 26 on the blitter.
    rig.run(VCS, &[0x1300_4101, TARGET | 4, 1]);
    rig.run(BCS, &[0x1300_4101, (TARGET + 8) | 4, 2]);
    assert_eq!(rig.reg(0x44018), 1 << 16 | 1 << 26);
    assert_eq!((rig.at(TARGET), rig.at(TARGET + 8)), (1, 2));
    rig.clean();
}

#[test]
fn snapshot_reset_spares_the_depth_count() {
    // G45 PRM 1.7.
    let rig = Rig::new();
    for r in (0x2310..0x2358).step_by(4) {
        rig.set(r, 9);
    }
    rig.run(RCS, &[0x7a00_0002, 0x0008_0000, 0, 0]);
    assert_eq!((rig.reg(0x2310), rig.reg(0x234c)), (0, 0));
    assert_eq!((rig.reg(0x2350), rig.reg(0x2354)), (9, 9));
}

#[test]
fn flush_dw_stores() {
    for e in [VCS, BCS] {
        let rig = Rig::new();
        // Dword form: total three dwords.
        rig.put(TARGET, &[0x5555_5555, 0x5555_5555]);
        rig.run(e, &[0x1300_4001, TARGET | 4, 0x11]);
        assert_eq!((rig.at(TARGET), rig.at(TARGET + 4)), (0x11, 0x5555_5555));
        // Quadword form: four.
        rig.run(e, &[0x1300_4002, TARGET | 4, 0x22, 0x33]);
        assert_eq!((rig.at(TARGET), rig.at(TARGET + 4)), (0x22, 0x33));
        // Into the status page: bit 21.
        rig.run(e, &[0x1320_4001, 0x100, 0x44]);
        assert_eq!(rig.at(status_page(e) + 0x100), 0x44);
        // Time stamp.
        rig.gpu.clock().advance_to(80 * 0x77);
        rig.run(e, &[0x1300_c002, TARGET | 4, 0, 0]);
        assert_eq!((rig.at(TARGET), rig.at(TARGET + 4)), (0x77, 0));
        // No operation: nothing.
        rig.run(e, &[0x1300_0001, TARGET | 4, 0x99]);
        assert_eq!(rig.at(TARGET), 0x77);
        rig.clean();
    }
}

#[test]
fn flush_dw_invalidates_with_a_store_only() {
    // VCS PRM 1.2.7: bit 18 needs post-sync 1 or 3.
    for e in [VCS, BCS] {
        let rig = Rig::new();
        rig.run(e, &[STORE_GLOBAL, 0, TARGET, 1]);
        rig.gpu.gtt_write(TARGET >> 12, 0x0009_0005);
        rig.run(e, &[0x1304_0001, 0, 0]);
        assert_eq!(rig.gpu.lint_count(Rule::TlbWithoutPostSync), 1);
        rig.run(e, &[STORE_GLOBAL, 0, TARGET, 2]);
        assert_eq!((rig.at(0x80000), rig.at(0x90000)), (2, 0));
        rig.run(e, &[0x1324_4001, 0x200, 0]);
        rig.run(e, &[STORE_GLOBAL, 0, TARGET, 3]);
        assert_eq!((rig.at(0x80000), rig.at(0x90000)), (2, 3));
        assert_eq!(rig.reg(block(e) + 0x9c) & 0x200, 0x200);
    }
}

#[test]
fn flush_dw_rules() {
    let rig = Rig::new();
    rig.run(BCS, &[0x1300_8001, TARGET | 4, 1]);
    assert_eq!(rig.gpu.lint_count(Rule::ReservedPostSync), 1);
    // Erratum: quadword to an address with bit 5; the dword form is good.
    rig.run(BCS, &[0x1300_4001, (TARGET + 0x20) | 4, 1]);
    assert_eq!(rig.gpu.lint_count(Rule::FlushDwBit5), 0);
    rig.run(BCS, &[0x1300_4002, (TARGET + 0x20) | 4, 1, 1]);
    assert_eq!(rig.gpu.lint_count(Rule::FlushDwBit5), 1);
}

#[test]
fn mi_flush_must_be_enabled() {
    // Digest G-09: MI_MODE bit 12; invalidates the TLBs (§5.3.10.5).
    let rig = Rig::new();
    rig.run(RCS, &[STORE_GLOBAL, 0, TARGET, 1]);
    rig.run(RCS, &[0x0200_0000, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::FlushDisabled), 1);
    rig.set(0x209c, 0x1000_1000);
    rig.gpu.gtt_write(TARGET >> 12, 0x0009_0005);
    rig.run(RCS, &[0x0200_0000, STORE_GLOBAL, 0, TARGET, 2]);
    assert_eq!((rig.at(0x80000), rig.at(0x90000)), (1, 2));
    // Bit 3: snapshot reset.
    rig.set(0x2310, 7);
    rig.run(RCS, &[0x0200_0008, 0]);
    assert_eq!(rig.reg(0x2310), 0);
    assert_eq!(rig.gpu.lint_count(Rule::FlushDisabled), 1);
}

#[test]
fn post_sync_to_global_memory_from_a_user_batch_is_done_and_counted() {
    // Nothing in the documents names PIPE_CONTROL among the restricted commands.
    let rig = Rig::with(RingConfig::default());
    rig.put(BATCH, &[0x7a00_0002, 0x4000, TARGET | 4, 8, 0x0500_0000]);
    rig.run(RCS, &[0x1880_0100, BATCH]);
    assert_eq!(rig.at(TARGET), 8);
    assert_eq!(
        rig.gpu
            .counter(gpu_model::counters::Counter::PrivilegeViolations),
        1
    );
}
