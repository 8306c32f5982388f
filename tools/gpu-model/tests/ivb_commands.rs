// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Commands of the modelled Ivy Bridge: registers, stores, semaphores, waits, the codec's
//! (VCS PRM 1.1.2.2, 1.1.3.6 to 1.1.3.8, 1.2.8 to 1.2.18).

use crate::ivb_rig::{
    block, status_page, Rig, BATCH, BCS, END, ENGINES, LRI, RCS, START_NS, STORE_GLOBAL, TARGET,
    VCS,
};
use gpu_model::counters::Counter;
use gpu_model::ring::engine::Stop;
use gpu_model::ring::lint::Rule;
use gpu_model::ring::StepResult;

/// MI_LOAD_REGISTER_MEM and MI_STORE_REGISTER_MEM through the global table (1.2.18, 1.2.11).
const LRM: u32 = 0x14c0_0001;
const SRM: u32 = 0x1240_0001;

#[test]
fn registers_from_and_to_memory() {
    for e in ENGINES {
        let rig = Rig::new();
        let nopid = block(e) + 0x94;
        rig.put(TARGET, &[0x1234]);
        rig.run(e, &[LRM, nopid, TARGET, SRM, nopid, TARGET + 4, 0, 0]);
        assert_eq!((rig.reg(nopid), rig.at(TARGET + 4)), (0x1234, 0x1234));
        // Bit 21: the streamer does not wait. In order all the same.
        rig.put(TARGET, &[0x4321]);
        rig.run(e, &[LRM | 1 << 21, nopid, TARGET, 0]);
        assert_eq!(rig.reg(nopid), 0x4321);
        rig.clean();
    }
}

#[test]
fn byte_disables() {
    // 1.2.8: 1111b no write, 0000b all, else undefined.
    let rig = Rig::new();
    rig.run(
        VCS,
        &[LRI, 0x12094, 0x111, LRI | 0xf << 8, 0x12094, 0x222, 0, 0],
    );
    assert_eq!(rig.reg(0x12094), 0x111);
    rig.clean();
    rig.run(VCS, &[LRI | 1 << 8, 0x12094, 0x333, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::Reserved), 1);
    // Several pairs, as the upstream driver has them.
    rig.run(VCS, &[0x1100_0003, 0x12094, 5, 0x12040, 6, 0]);
    assert_eq!((rig.reg(0x12094), rig.reg(0x12040)), (5, 6));
}

#[test]
fn registers_that_are_not_stored() {
    // 1.2.11: 8800h to 88FFh and from 40000h on; fences get undefined data. "The only exception is an
    // SRM cycle to 0x40000-0xBFFFF when used as part of the LRI read-after-write".
    for offset in [0x8800, 0x88fc, 0x10_0000, 0x10_00f8, 0x4_4010] {
        let rig = Rig::new();
        rig.run(VCS, &[SRM, offset, TARGET, 0]);
        assert_eq!(rig.gpu.lint_count(Rule::SrmForbidden), 1, "{offset:#x}");
    }
    let rig = Rig::new();
    rig.run(
        VCS,
        &[LRI, 0x4_4014, 0xffff_fff0, SRM, 0x4_4014, TARGET, 0, 0],
    );
    assert_eq!(rig.at(TARGET), 0xffff_fff0);
    rig.run(VCS, &[SRM, 0x12358, TARGET, 0]);
    rig.clean();
}

#[test]
fn stores_of_one_and_two_dwords() {
    // 1.2.12: "must be 8B aligned for a store QW".
    for e in ENGINES {
        let rig = Rig::new();
        rig.run(
            e,
            &[
                STORE_GLOBAL,
                0,
                TARGET + 4,
                1,
                STORE_GLOBAL | 1,
                0,
                TARGET + 8,
                2,
                3,
                0,
            ],
        );
        assert_eq!(
            (rig.at(TARGET + 4), rig.at(TARGET + 8), rig.at(TARGET + 12)),
            (1, 2, 3)
        );
        rig.clean();
        rig.run(e, &[STORE_GLOBAL | 1, 0, TARGET + 4, 2, 3, 0]);
        assert_eq!(rig.gpu.lint_count(Rule::UnalignedQword), 1);
    }
}

#[test]
fn stores_into_the_status_page() {
    // 1.2.13: dwords 16 to 1023; a quadword is "valid down to bit 3 only".
    for e in ENGINES {
        let rig = Rig::new();
        rig.run(e, &[0x1080_0001, 0xffc, 1, 0x1080_0002, 0x40, 2, 3, 0]);
        let page = status_page(e);
        assert_eq!(
            (
                rig.at(page + 0xffc),
                rig.at(page + 0x40),
                rig.at(page + 0x44)
            ),
            (1, 2, 3)
        );
        rig.clean();
        rig.run(e, &[0x1080_0001, 0x3c, 1, 0]);
        assert_eq!(rig.gpu.lint_count(Rule::StatusPageReserved), 1);
    }
}

#[test]
fn a_status_page_that_was_not_set() {
    // 1.1.2.2.1: reset 0; 1.2.13: its use is undefined. Bit 0 reads 0, 11:1 MBZ.
    let rig = Rig::bare(Rig::choices());
    for pga in [0x4080, 0x4180, 0x4280] {
        assert_eq!(rig.reg(pga), 0);
        rig.set(pga, 0xffff_ffff);
        assert_eq!(rig.reg(pga), 0xffff_f000);
        rig.set(pga, 0);
    }
    rig.set(0x12038, 0x20000);
    rig.set(0x1203c, 1);
    rig.run(VCS, &[0x1080_0001, 0x100, 1, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::StatusPageUnset), 1);
    assert_eq!(rig.gpu.counter(Counter::PageFaults), 1);
}

#[test]
fn the_tag_of_noop() {
    // 1.2.9, 1.1.3.6: 22 bits.
    for e in ENGINES {
        let rig = Rig::new();
        rig.run(e, &[0x007f_ffff, 0]);
        assert_eq!(rig.reg(block(e) + 0x94), 0x003f_ffff);
        rig.run(e, &[1, 0]);
        assert_eq!(rig.reg(block(e) + 0x94), 0x003f_ffff, "bit 22 clear");
    }
}

#[test]
fn semaphores_in_registers() {
    // 1.2.10, 1.1.3.7, 1.1.3.8: VBSYNC (select 0) is written by the blitter, VRSYNC (2) by the render
    // engine; goes on when the register exceeds the data.
    for (select, register, writer) in [(0, 0x12040, BCS), (2, 0x12044, RCS)] {
        let rig = Rig::new();
        rig.submit(
            VCS,
            &[
                0x0b14_0001 | select << 16,
                6,
                register,
                0,
                STORE_GLOBAL,
                0,
                TARGET,
                1,
            ],
        );
        assert_eq!(rig.gpu.step(VCS), StepResult::Waiting);
        assert_eq!(rig.reg(0x1203c), 1 | 1 << 10, "CTL bit 10");
        assert_eq!(rig.reg(0x1209c) & 0x200, 0);
        rig.submit(writer, &[LRI, register, 6, 0]);
        assert_eq!(rig.gpu.step(writer), StepResult::Ran);
        assert_eq!(
            rig.gpu.step(VCS),
            StepResult::Waiting,
            "equal is not greater"
        );
        rig.submit(writer, &[LRI, register, 7, 0]);
        assert!(rig.gpu.run_until_idle(100));
        assert_eq!(rig.at(TARGET), 1);
        rig.clean();
    }
    // Unsigned: 80000000h exceeds 7fffffffh.
    let rig = Rig::new();
    rig.set(0x12040, 0x8000_0000);
    rig.run(VCS, &[0x0b14_0001, 0x7fff_ffff, 0x12040, 0]);
    rig.clean();
}

#[test]
fn what_a_semaphore_must_not() {
    // 1.2.10: 17:16 = 3 reserved (1 is none); no update with a register; one of 20 and 21.
    for bits in [
        1 << 20 | 1 << 18 | 3 << 16,
        1 << 20 | 1 << 18 | 1 << 16,
        1 << 21 | 1 << 18,
        0,
    ] {
        let rig = Rig::new();
        rig.run(VCS, &[0x0b00_0001 | bits, 0, TARGET, 0]);
        assert_eq!(rig.gpu.lint_count(Rule::Reserved), 1, "{bits:#x}");
    }
}

#[test]
fn semaphores_in_memory() {
    // 1.2.10, bit 18 clear: update alone signals, compare waits, both update only if it exceeds.
    let rig = Rig::new();
    const SIGNAL: u32 = 0x0b60_0001;
    const WAIT: u32 = 0x0b50_0001;
    rig.run(BCS, &[SIGNAL, 5, TARGET, 0]);
    assert_eq!(rig.at(TARGET), 5);
    rig.submit(VCS, &[WAIT, 5, TARGET, 0]);
    assert_eq!(rig.gpu.step(VCS), StepResult::Waiting);
    rig.submit(BCS, &[SIGNAL, 6, TARGET, 0]);
    assert!(rig.gpu.run_until_idle(100));
    assert_eq!(rig.reg(0x12034), 0x10);
    rig.run(VCS, &[SIGNAL | 1 << 20, 2, TARGET, 0]);
    assert_eq!(rig.at(TARGET), 2, "6 exceeds 2");
    // "must be executing from a privileged batch"; else bit 22 is as if clear: no violation.
    rig.put(BATCH, &[SIGNAL, 9, TARGET + 4, END]);
    rig.run(VCS, &[START_NS, BATCH]);
    assert_eq!(
        rig.at(TARGET + 4),
        9,
        "tables agree while the process table is off"
    );
    assert_eq!(rig.gpu.counter(Counter::PrivilegeViolations), 0);
}

#[test]
fn waits_for_conditions() {
    // 1.2.17: 1 to 5 select codes 0 to 4 of EXCC; the parser waits until the code is cleared; one that
    // is inactive makes it a no-operation. 6h and above are reserved.
    for code in 1..=5u32 {
        let rig = Rig::new();
        rig.run(VCS, &[0x0180_0000 | code << 16, 0]);
        let bit = 1 << (code - 1);
        rig.set(0x12028, bit << 16 | bit);
        assert_eq!(rig.reg(0x12028), bit, "31:16 read 0");
        rig.submit(VCS, &[0x0180_0000 | code << 16, 0]);
        assert_eq!(rig.gpu.step(VCS), StepResult::Waiting);
        rig.submit(RCS, &[LRI, 0x12028, bit << 16, 0]);
        assert!(rig.gpu.run_until_idle(10));
        assert_eq!(rig.reg(0x12034), 0x10);
        rig.clean();
    }
    let rig = Rig::new();
    rig.set(0x12028, 0xffff_ffff);
    assert_eq!(rig.reg(0x12028), 0x1f, "4:0");
    rig.run(VCS, &[0x0186_0000, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::Reserved), 1);
    rig.set(0x12028, 0xffff_0000);
    rig.run(VCS, &[0x0181_0001, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::ManyEvents), 1);
}

#[test]
fn entries_of_the_global_table() {
    // 1.2.16: from the page in 31:12 on; bit 22 must be set.
    let rig = Rig::new();
    rig.run(
        VCS,
        &[0x11c0_0002, 0x0020_0000, TARGET | 5, (TARGET + 0x1000) | 5],
    );
    rig.run(
        VCS,
        &[STORE_GLOBAL, 0, 0x20_0000, 1, STORE_GLOBAL, 0, 0x20_1000, 2],
    );
    assert_eq!((rig.at(TARGET), rig.at(TARGET + 0x1000)), (1, 2));
    rig.clean();
    rig.run(VCS, &[0x1180_0001, 0x0020_0000, 0, 0]);
    assert_eq!(rig.gpu.gtt_read(0x200), TARGET | 5, "not supported");
    assert_eq!(rig.gpu.lint_count(Rule::UpdateGtt), 1);
}

#[test]
fn commands_of_the_codec_are_passed_over() {
    // Digest V-20, V-21: by their lengths.
    let rig = Rig::new();
    let mut ring = vec![0x6800_0000, 0x7000_0002, 1, 2, 3, 0x7103_0010];
    ring.extend([0; 17]);
    ring.extend([0x7600_0003, 1, 2, 3, 4, STORE_GLOBAL, 0, TARGET, 5]);
    rig.run(VCS, &ring);
    assert_eq!(rig.at(TARGET), 5);
    assert_eq!(rig.gpu.counter(Counter::SkippedCommands), 4);
    rig.clean();
    // The others have none of these.
    rig.run(BCS, &[0x7000_0002, 1, 2, 3]);
    assert_eq!(rig.gpu.stop_reason(BCS), Stop::Error);
}

#[test]
fn three_d_commands_of_gen7() {
    // Names and lengths as the upstream driver has them: 3DSTATE_PS 7820h, 3DSTATE_URB_VS 7830h,
    // 3DSTATE_SO_DECL_LIST 7917h with nine bits of length, MI_PREDICATE 0ch, MI_SET_APPID 0eh.
    let rig = Rig::new();
    let mut ring = vec![0x7820_0006, 0, 0, 0, 0, 0, 0, 0, 0x7830_0000, 0];
    ring.extend([0x7917_0101]);
    ring.extend([0; 0x102]);
    ring.extend([
        0x0600_0000,
        0x0700_0001,
        0x0680_0000,
        STORE_GLOBAL,
        0,
        TARGET,
        5,
    ]);
    rig.run(RCS, &ring);
    assert_eq!(rig.at(TARGET), 5);
    rig.clean();
    // Gen6's place of the depth buffer is no command any more.
    rig.run(RCS, &[0x7905_0005, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(rig.gpu.stop_reason(RCS), Stop::Error);
}

#[test]
fn blits() {
    // XY_COLOR_BLT: 32 bits, ROP f0h, one pixel.
    let rig = Rig::new();
    rig.run(
        BCS,
        &[
            0x5430_0004,
            3 << 24 | 0xf0 << 16 | 64,
            0,
            1 << 16 | 1,
            TARGET,
            0xabcd,
        ],
    );
    assert_eq!(rig.at(TARGET), 0xabcd);
    rig.clean();
}

#[test]
fn blits_into_y_tiles() {
    // BCS_SWCTRL 22200h bit 1: a tiled destination (bit 11 of the header) is Y-tiled, of which the columns
    // are 16 bytes wide and 32 rows high; X rows are 512 bytes.
    for (control, at) in [(0x0002_0000, 16), (0x0002_0002, 512)] {
        let rig = Rig::new();
        let fill = [
            0x5430_0804,
            3 << 24 | 0xf0 << 16 | 128,
            4,
            1 << 16 | 5,
            TARGET,
            0xabcd,
        ];
        rig.run(BCS, &[&[LRI, 0x2_2200, control, 0][..], &fill].concat());
        assert_eq!(rig.at(TARGET + at), 0xabcd, "{control:#x}");
        rig.clean();
    }
}
