// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Flushes of the modelled Ivy Bridge: MI_FLUSH_DW, sync flushes, PIPE_CONTROL
//! (VCS PRM 1.1.3.3, 1.1.3.5, 1.2.7, 1.2.14; peer digest A.9).

use crate::ivb_rig::{
    block, status_page, Rig, BATCH, BCS, END, ENGINES, RCS, START_NS, TARGET, VCS,
};
use gpu_model::ring::lint::Rule;

/// MI_FLUSH_DW of so many dwords.
const fn flush(bits: u32, dwords: u32) -> u32 {
    0x26 << 23 | bits | (dwords - 2)
}
const INDEX: u32 = 1 << 21;
const TLB: u32 = 1 << 18;
const IMMEDIATE: u32 = 1 << 14;
const TIME: u32 = 3 << 14;

#[test]
fn stores_behind_a_flush() {
    // 1.2.7: 3 dwords store one, 4 two; bit 2 of the address says which table; 21 the status page.
    for e in [VCS, BCS] {
        let rig = Rig::new();
        rig.run(e, &[flush(IMMEDIATE, 3), TARGET | 4, 0x1111_1111, 0]);
        assert_eq!((rig.at(TARGET), rig.at(TARGET + 4)), (0x1111_1111, 0));
        rig.run(e, &[flush(IMMEDIATE, 4), (TARGET + 8) | 4, 1, 2]);
        assert_eq!((rig.at(TARGET + 8), rig.at(TARGET + 12)), (1, 2));
        rig.run(e, &[flush(IMMEDIATE | INDEX, 4), 0x100, 3, 4]);
        assert_eq!(rig.at(status_page(e) + 0x100), 3);
        rig.gpu.clock().advance_to(8_000_000);
        rig.run(e, &[flush(TIME, 4), (TARGET + 16) | 4, 9, 9]);
        // 80 ns a tick.
        assert_eq!((rig.at(TARGET + 16), rig.at(TARGET + 20)), (100_000, 0));
        // No write: the address and its kind do not count.
        rig.run(e, &[flush(0, 4), (TARGET + 24) | 4, 9, 9]);
        assert_eq!(rig.at(TARGET + 24), 0);
        rig.clean();
    }
}

#[test]
fn tlbs_go_with_a_store_alone() {
    // 1.2.7, bit 18: "only valid when the Post-Sync Operation field is a value of 1h or 3h".
    for (op, gone) in [
        (0, false),
        (IMMEDIATE, true),
        (2 << 14, false),
        (TIME, true),
    ] {
        let rig = Rig::new();
        rig.run(VCS, &[0x1040_0002, 0, TARGET, 1]);
        rig.gpu.gtt_write(TARGET / 4096, (TARGET + 0x1000) | 5);
        rig.run(VCS, &[flush(TLB | op, 4), 0x8_2000 | 4, 0, 0]);
        rig.run(VCS, &[0x1040_0002, 0, TARGET, 2]);
        assert_eq!(rig.at(TARGET + 0x1000), if gone { 2 } else { 0 }, "{op:#x}");
        let told = rig.gpu.lint_count(Rule::TlbWithoutPostSync);
        assert_eq!(told, u64::from(!gone), "{op:#x}");
    }
}

#[test]
fn what_a_flush_must_not() {
    // 1.2.7: post-sync 2 is reserved; GFDT needs "Store DW"; "a QW write when bit 5 of the address
    // is 1" hits a known bug.
    let rig = Rig::new();
    rig.run(VCS, &[flush(2 << 14, 4), TARGET | 4, 1, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::ReservedPostSync), 1);
    assert_eq!(rig.at(TARGET), 0);
    rig.run(VCS, &[flush(1 << 17, 3), 0, 0, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::GfdtWithoutStore), 1);
    rig.run(VCS, &[flush(1 << 17 | IMMEDIATE, 3), TARGET | 4, 1, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::GfdtWithoutStore), 1);
    rig.run(VCS, &[flush(IMMEDIATE, 3), (TARGET + 0x20) | 4, 1, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::FlushDwBit5), 0, "one dword may");
    rig.run(VCS, &[flush(IMMEDIATE, 4), (TARGET + 0x20) | 4, 1, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::FlushDwBit5), 1);
    rig.run(VCS, &[flush(TIME | INDEX, 4), 0x120, 1, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::FlushDwBit5), 2);
}

#[test]
fn the_store_lands_before_the_interrupt() {
    // 1.1.6, bit 16: "The Store QW associated with a fence is completed ahead of the interrupt".
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.run(VCS, &[flush(IMMEDIATE | 1 << 8, 4), TARGET | 4, 5, 0]);
    assert_eq!(rig.reg(0x44018), 1 << 16);
    assert_eq!((rig.messages(), rig.at(TARGET)), (1, 5));
    // Notify alone works too.
    rig.set(0x44018, 1 << 16);
    rig.run(BCS, &[flush(1 << 8, 3), 0, 0, 0]);
    assert_eq!(rig.reg(0x44018), 1 << 26);
    rig.clean();
}

#[test]
fn a_process_batch_stores_by_index_into_the_only_page() {
    // 1.2.7, bit 21: a page of the process; rings have one page for all (digest VCS-017).
    let rig = Rig::new();
    rig.put(
        BATCH,
        &[
            flush(IMMEDIATE | INDEX, 4),
            0x180,
            6,
            0,
            0x1080_0001,
            0x190,
            7,
            END,
        ],
    );
    rig.run(VCS, &[START_NS, BATCH]);
    assert_eq!(rig.at(status_page(VCS) + 0x180), 6);
    assert_eq!(rig.at(status_page(VCS) + 0x190), 7);
    assert_eq!(rig.gpu.lint_count(Rule::Privilege), 1);
}

#[test]
fn sync_flushes() {
    // 1.1.3.5: with the ring stopped and idle; bits 5 and 9 are cleared when it is done. Bit 6 stays.
    // It causes a cycle to 4f100h.
    for e in ENGINES {
        let rig = Rig::new();
        let b = block(e);
        rig.set(b + 0x9c, 0x0100_0100);
        let before = rig.reg(0x4_f100);
        rig.set(b + 0xc0, 0x0260_0260);
        assert_eq!(rig.reg(b + 0xc0), 1 << 6, "{}", e.name());
        assert_eq!(rig.reg(0x4_f100), before + 1);
        rig.set(b + 0x9c, 0x0100_0000);
        rig.clean();
    }
    // Running: undefined.
    let rig = Rig::new();
    rig.submit(VCS, &[0, 0]);
    rig.set(0x120c0, 0x0020_0020);
    assert_eq!(rig.gpu.lint_count(Rule::SyncFlushRunning), 1);
    // Bit 9 without 5 does nothing; from the ring the upstream driver writes it, which is forgiven.
    let rig = Rig::new();
    rig.run(VCS, &[0x1100_0001, 0x120c0, 0x0200_0200, 0]);
    assert_eq!(rig.reg(0x120c0), 0);
    rig.clean();
    rig.set(0x120c0, 0x0200_0200);
    assert_eq!(rig.gpu.lint_count(Rule::InstpmTlbAlone), 1);
}

#[test]
fn suspended_flushes() {
    // 1.2.14: MI_SUSPEND_FLUSH "blocks MMIO sync flush"; 1.1.3.3: so does MI_MODE bit 15, which
    // "will get cleared by MI_SUSPEND_FLUSH as well".
    for by_command in [true, false] {
        let rig = Rig::new();
        if by_command {
            rig.run(VCS, &[0x0580_0001, 0]);
        } else {
            rig.set(0x1209c, 0x8000_8000);
        }
        rig.set(0x1209c, 0x0100_0100);
        rig.set(0x120c0, 0x0020_0020);
        assert_eq!(rig.reg(0x120c0), 1 << 5, "waits");
        rig.set(0x1209c, 0x0100_0000);
        rig.run(VCS, &[0x0580_0000, 0]);
        assert_eq!(rig.reg(0x120c0), 0);
        assert_eq!(rig.reg(0x1209c) >> 15 & 1, 0);
        rig.clean();
    }
}

#[test]
fn a_cycle_for_each_invalidation() {
    // 1.2.7, bit 18: with bit 13 of the mode register, "a config write to ... 0x4f100".
    let rig = Rig::new();
    let invalidate = [flush(TLB | IMMEDIATE, 4), TARGET | 4, 0, 0];
    rig.run(VCS, &invalidate);
    assert_eq!(rig.reg(0x4_f100), 0);
    rig.set(0x1229c, 0x2000_2000);
    rig.run(VCS, &invalidate);
    assert_eq!(rig.reg(0x4_f100), 1);
    rig.set(0x4_f100, 7);
    assert_eq!(rig.reg(0x4_f100), 1, "written by the chip alone");
    rig.clean();
}

#[test]
fn pipe_control_names_its_table_in_a_flag() {
    // Peer digest A.9: bit 24 of dword 1; bit 2 of the address is none.
    let rig = Rig::new();
    rig.put(0x10_0008, &[TARGET | 5]);
    rig.process_table(RCS, 0x8000, 0x10_0000, !0);
    rig.run(
        RCS,
        &[
            0x7a00_0003,
            1 << 20 | 1 << 14 | 1 << 24,
            TARGET + 0x100,
            5,
            0,
            0,
        ],
    );
    assert_eq!(rig.at(TARGET + 0x100), 5);
    rig.run(RCS, &[0x7a00_0003, 1 << 20 | 1 << 14, 0x2010, 6, 0, 0]);
    assert_eq!(rig.at(TARGET + 0x10), 6);
    rig.run(RCS, &[0x7a00_0002, 1 << 20 | 1 << 14, 0x2018, 7]);
    assert_eq!((rig.at(TARGET + 0x18), rig.at(TARGET + 0x1c)), (7, 0));
    rig.clean();
}

#[test]
fn pipe_controls_that_must_stall() {
    // The upstream driver's way on Ivy Bridge: every fourth one has bit 20, and the one before an
    // invalidation of the state cache (bit 2) has it too.
    const STALL: u32 = 1 << 20 | 1 << 1;
    let pipe = |flags: u32| [0x7a00_0002, flags, 0, 0];
    let rig = Rig::new();
    let flush = pipe(1 << 12);
    rig.run(
        RCS,
        &[flush, flush, flush, pipe(STALL), flush, flush].concat(),
    );
    // Invalidations of what is read do not count.
    rig.run(RCS, &[pipe(1 << 10), pipe(1 << 3), flush].concat());
    rig.clean();
    rig.run(RCS, &flush);
    assert_eq!(rig.gpu.lint_count(Rule::FourthPipeControl), 1);
    let rig = Rig::new();
    rig.run(RCS, &[pipe(STALL), pipe(STALL | 1 << 2)].concat());
    rig.clean();
    rig.run(RCS, &[flush, pipe(STALL | 1 << 2)].concat());
    assert_eq!(rig.gpu.lint_count(Rule::StateCacheStall), 1);
}
