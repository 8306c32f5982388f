// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Translation of the modelled Ivy Bridge: per-process tables of each engine, groups of the
//! directory, TLBs and what shows them (VCS PRM 1.1.2, 1.1.3.4, 1.1.9; digest V-05, V-17).

use crate::ivb_rig::{
    block, Rig, BATCH, BCS, END, ENGINES, LRI, RCS, START, START_NS, STORE, STORE_GLOBAL, TARGET,
    VCS,
};
use gpu_model::counters::Counter;
use gpu_model::intel::tlb::AddressSpace;
use gpu_model::ring::engine::Stop;
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{RingConfig, Wrote};

/// Page tables of processes.
const TABLE: u32 = 0x100000;
/// The entry of the global table where their directories begin.
const SLOT: u32 = 0x8000;

/// A batch at process address 0x1000, and an operand at 0x2000, that lie at [`BATCH`] and at `target`.
fn process(rig: &Rig, table: u32, target: u32) {
    rig.put(table + 4, &[BATCH | 5, target | 5]);
}

#[test]
fn two_levels_for_each_engine() {
    // 1.1.2, 1.1.3.4: bit 9 of an engine's own mode register; the others stay as they are.
    for e in ENGINES {
        let rig = Rig::new();
        process(&rig, TABLE, TARGET);
        rig.put(BATCH, &[STORE, 0, 0x2000, 7, END]);
        rig.process_table(e, SLOT, TABLE, !0);
        rig.run(e, &[START_NS, 0x1000]);
        assert_eq!(rig.at(TARGET), 7, "{}", e.name());
        for other in ENGINES.into_iter().filter(|o| *o != e) {
            // Without it the global table is used everywhere: 0x2000 is itself.
            rig.run(other, &[0x1040_0002, 0, 0x2000, 1]);
            assert_eq!(rig.reg(block(other) + 0x29c), 0);
            assert_eq!(rig.at(0x2000), 1);
        }
        rig.clean();
    }
}

#[test]
fn engines_have_tables_of_their_own() {
    let rig = Rig::new();
    process(&rig, TABLE, TARGET);
    process(&rig, TABLE + 0x1000, TARGET + 0x1000);
    rig.put(BATCH, &[STORE, 0, 0x2000, 7, END]);
    rig.process_table(VCS, SLOT, TABLE, !0);
    rig.process_table(BCS, SLOT + 512, TABLE + 0x1000, !0);
    rig.run(VCS, &[START_NS, 0x1000]);
    assert_eq!((rig.at(TARGET), rig.at(TARGET + 0x1000)), (7, 0));
    rig.run(BCS, &[START_NS, 0x1000]);
    assert_eq!(rig.at(TARGET + 0x1000), 7);
    rig.clean();
}

#[test]
fn groups_of_the_directory() {
    // 1.1.2.1: bit n stands for entries 16n to 16n + 15, 64 MB of addresses; an access that needs
    // another "will cause a fatal error, and no fetch of the PD entry will be attempted".
    for (groups, reaches) in [
        (1, true),
        (2, false),
        (0x8000_0001, true),
        (0xffff_fffe, false),
    ] {
        let rig = Rig::new();
        process(&rig, TABLE, TARGET);
        rig.put(BATCH, &[STORE, 0, 0x2000, 7, END]);
        rig.process_table(VCS, SLOT, TABLE, groups);
        rig.run(VCS, &[START_NS, 0x1000]);
        assert_eq!(rig.at(TARGET), if reaches { 7 } else { 0 }, "{groups:#x}");
        let stop = rig.gpu.stop_reason(VCS);
        assert_eq!(stop == Stop::FatalFault, !reaches, "{groups:#x}");
        if !reaches {
            // V-17: address, type 2 in 2:1 (directory that was not loaded), valid.
            assert_eq!(rig.reg(0x4194), 0x1000 | 2 << 1 | 1);
        }
    }
    // The 32nd group is the last 64 MB of the 2 GB.
    let rig = Rig::new();
    rig.put(TABLE, &[TARGET | 5]);
    rig.gpu.gtt_write(SLOT + 511, TABLE | 1);
    rig.process_table(VCS, SLOT, TABLE, 0x8000_0000);
    rig.run(VCS, &[STORE, 0, 0x7fc0_0000, 9]);
    assert_eq!(rig.at(TARGET), 9);
}

#[test]
fn directory_before_its_groups() {
    // 1.1.4: "PP_DCLV followed by PP_DIR_BASE".
    let rig = Rig::new();
    rig.set(0x12228, (SLOT * 4) << 10);
    assert_eq!(rig.gpu.lint_count(Rule::DirectoryUnloaded), 1);
    rig.set(0x12220, !0);
    rig.set(0x12228, (SLOT * 4) << 10);
    assert_eq!(rig.gpu.lint_count(Rule::DirectoryUnloaded), 1);
    // Zero is none.
    rig.set(0x22228, 0);
    assert_eq!(rig.gpu.lint_count(Rule::DirectoryUnloaded), 1);
}

#[test]
fn entries_are_loaded_once() {
    // 1.1.2.1: the directory is cached on the chip; a new entry is seen with the next load, by the
    // ring as well as by the CPU.
    let rig = Rig::new();
    rig.put(TABLE, &[TARGET | 5]);
    rig.process_table(VCS, SLOT, TABLE + 0x1000, !0);
    rig.gpu.gtt_write(SLOT + 1, TABLE | 1);
    rig.run(VCS, &[STORE, 0, 0x40_0000, 9]);
    assert_eq!(rig.at(TARGET), 0);
    // Type 1: an invalid entry of the directory (V-17).
    assert_eq!(rig.reg(0x4194), 0x40_0000 | 8 << 3 | 1 << 1 | 1);
    let load = [LRI, 0x12220, !0, LRI, 0x12228, (SLOT * 4) << 10];
    let flush = [0x1304_4002, 0x41100 | 4, 0, 0];
    rig.run(
        VCS,
        &[&load[..], &flush, &[STORE, 0, 0x40_0000, 9]].concat(),
    );
    assert_eq!(rig.at(TARGET), 9);
}

#[test]
fn a_ring_that_is_disabled_empty_forgets() {
    // 1.1.4, CTL bit 0: "If disabled and the ring head equals ring tail, all state currently loaded in
    // hardware is considered invalid".
    for (empty, stored) in [(true, 0), (false, 7)] {
        let rig = Rig::new();
        process(&rig, TABLE, TARGET);
        rig.process_table(VCS, SLOT, TABLE, !0);
        if !empty {
            rig.set(0x1209c, 0x0100_0100);
            rig.submit(VCS, &[0, 0]);
        }
        rig.set(0x1203c, 0);
        rig.set(0x1203c, 1);
        rig.set(0x1209c, 0x0100_0000);
        rig.run(VCS, &[STORE, 0, 0x2000, 7]);
        assert_eq!(rig.at(TARGET), stored);
    }
}

#[test]
fn global_bit_while_the_process_table_is_off() {
    // 1.2.11, 1.2.12, 1.2.18: it "must be 1 if the Per-Process GTT Enable bit is clear". Here the
    // global table is used all the same, and it is told.
    for command in [
        [STORE, 0, TARGET, 5],
        [0x1200_0001, 0x12094, TARGET, 0],
        [0x1480_0001, 0x12094, TARGET, 0],
    ] {
        let rig = Rig::new();
        rig.set(0x12094, 5);
        rig.put(TARGET, &[5]);
        rig.run(VCS, &command);
        assert_eq!((rig.at(TARGET), rig.reg(0x12094)), (5, 5));
        assert_eq!(rig.gpu.lint_count(Rule::GlobalBit), 1, "{command:x?}");
        let rig = Rig::new();
        rig.put(TABLE + 8, &[TARGET | 5]);
        rig.process_table(VCS, SLOT, TABLE, !0);
        rig.run(
            VCS,
            &[
                command[0],
                command[1] & !0xfff | command[1] & 0xfff,
                0x2000,
                0,
            ],
        );
        assert_eq!(rig.gpu.lint_count(Rule::GlobalBit), 0, "{command:x?}");
    }
}

#[test]
fn faults_are_kept_for_each_engine() {
    // V-17: 31:12 address, 11 global, 10:3 unit, 2:1 type 0 (page), 0 valid. Units of media: VCS_WR is
    // 01000b (1.1.9.4.6).
    let rig = Rig::new();
    rig.put(TABLE, &[0]);
    rig.process_table(VCS, SLOT, TABLE, !0);
    rig.run(VCS, &[STORE, 0, 0x5678, 1]);
    assert_eq!(rig.reg(0x4194), 0x5000 | 8 << 3 | 1);
    rig.run(VCS, &[0x1040_0002, 0, 0x10, 1]);
    assert_eq!(rig.reg(0x4194), 0x5000 | 8 << 3 | 1, "the first");
    rig.set(0x4194, 0);
    rig.run(VCS, &[0x1040_0002, 0, 0x10, 1]);
    assert_eq!(rig.reg(0x4194), 1 << 11 | 8 << 3 | 1);
    rig.run(RCS, &[0x1040_0002, 0, 0x10, 1]);
    assert_eq!(rig.reg(0x4094) & 0xffff_f807, 1 << 11 | 1);
    assert_eq!(rig.gpu.counter(Counter::PageFaults), 4);
}

#[test]
fn a_reset_leaves_the_tlbs() {
    // 1.1.3.5: "GFX soft resets do not invalidate TLBs, it is up to GFX driver"; with a sync flush.
    for flush in [false, true] {
        let rig = Rig::new();
        rig.run(VCS, &[0x1040_0002, 0, TARGET, 1]);
        rig.gpu.gtt_write(TARGET / 4096, (TARGET + 0x1000) | 5);
        rig.set(0x941c, 1 << 2);
        assert_eq!(rig.reg(0x941c), 0);
        if flush {
            // Stopped and idle, then bits 5 and 9.
            rig.set(0x1209c, 0x0100_0100);
            assert_eq!(rig.reg(0x1209c) & 0x200, 0x200);
            rig.set(0x120c0, 0x0220_0220);
            assert_eq!(rig.reg(0x120c0) & 0x220, 0);
            rig.set(0x1209c, 0x0100_0000);
        }
        rig.start_ring(VCS);
        rig.run(VCS, &[0x1040_0002, 0, TARGET, 2]);
        assert_eq!(rig.at(TARGET + 0x1000), if flush { 2 } else { 0 });
        rig.clean();
    }
}

#[test]
fn tlbs_are_shown() {
    // 1.1.9.3: 14800h is the TLB of the video streamer, address in 31:12; 14780h and 14784h say which
    // are valid. 1.1.9.2.2: entries below GAC_ARB_CTL 5:0 (2) are the global table's, the others the
    // process tables'. The other three serve units that do nothing here.
    let rig = Rig::bare(Rig::choices());
    let shown = || {
        let valid = [rig.reg(0x14780), rig.reg(0x14784)];
        let all = (0..64).filter(|i| valid[i / 32] >> (i % 32) & 1 != 0);
        all.map(|i| (i, rig.reg(0x14800 + 4 * i as u32)))
            .collect::<Vec<_>>()
    };
    assert_eq!(shown(), []);
    rig.start_ring(VCS);
    rig.run(VCS, &[0x1040_0002, 0, TARGET, 1]);
    let global = shown();
    assert!(
        !global.is_empty() && global.iter().all(|e| e.0 < 2),
        "{global:x?}"
    );
    for (_, va) in &global {
        assert!([0x20000, 0x21000, TARGET].contains(va), "{va:#x}");
    }
    rig.put(TABLE + 8, &[TARGET | 5]);
    rig.process_table(VCS, SLOT, TABLE, !0);
    rig.run(VCS, &[STORE, 0, 0x2000, 1]);
    assert!(shown().contains(&(2, 0x2000)), "{:x?}", shown());
    for (at, valid) in [(0x14900, 0x14788), (0x14a00, 0x14790), (0x14b00, 0x14798)] {
        assert_eq!((rig.reg(at), rig.reg(at + 0xfc)), (0, 0));
        assert_eq!((rig.reg(valid), rig.reg(valid + 4)), (0, 0));
    }
    // Read only (1.1.9.3).
    rig.set(0x14800, !0);
    rig.set(0x14784, !0);
    assert_eq!(rig.reg(0x14784), 0);
    rig.set(0x1209c, 0x0100_0100);
    rig.set(0x120c0, 0x0220_0220);
    assert_eq!(shown(), [], "invalidated");
    rig.clean();
}

#[test]
fn fences() {
    // V-03: 32 fences, a pitch of 256 KB: 2048 tiles of 128 bytes.
    let rig = Rig::bare(Rig::choices());
    for n in 0..32 {
        rig.set(0x10_0004 + 8 * n, 0x13_f7ff + (n << 20));
        rig.set(0x10_0000 + 8 * n, 0x10_0001 + (n << 20));
        assert_eq!(rig.reg(0x10_0004 + 8 * n), 0x13_f7ff + (n << 20));
    }
    assert_eq!(rig.reg(0x10_0000 + 8 * 31), 0x0200_0001);
    rig.clean();
}

#[test]
fn writes_of_batches_are_listed() {
    let memory = |space, address, bytes| Wrote::Memory {
        space,
        address,
        bytes,
    };
    let register = |offset, value| Wrote::Register { offset, value };
    for e in ENGINES {
        let rig = Rig::with(RingConfig {
            keep_writes: 16,
            ..Rig::choices()
        });
        process(&rig, TABLE, TARGET);
        rig.process_table(e, SLOT, TABLE, !0);
        let commands = [
            &[LRI, block(e) + 0x94, 3][..],
            &[STORE, 0, 0x2000, 7],
            &[STORE_GLOBAL, 0, TARGET + 0x1000, 7],
            // 1.2.9: a register, named by bits 22:2, to memory.
            &[0x1200_0001, block(e) + 0x94, 0x2008],
            // MI_UPDATE_GTT of one entry (1.2.16, bit 22).
            &[0x11c0_0001, 0x0030_0000, 0],
        ]
        .concat();
        // What a ring does is not a batch's.
        rig.run(e, &commands);
        assert_eq!(rig.gpu.take_writes(), (vec![], 0));
        rig.put(BATCH, &[&commands[..], &[END]].concat());
        rig.run(e, &[START, BATCH]);
        let privileged = [
            register(block(e) + 0x94, 3),
            memory(AddressSpace::Ppgtt, 0x2000, 4),
            memory(AddressSpace::Ggtt, TARGET + 0x1000, 4),
            memory(AddressSpace::Ppgtt, 0x2008, 4),
            Wrote::Entry(0x300),
        ];
        assert_eq!(rig.gpu.take_writes(), (privileged.to_vec(), 0), "{e:?}");
        // Without privilege what is refused is not listed, as it is not done.
        rig.run(e, &[START_NS, 0x1000]);
        let own = [
            memory(AddressSpace::Ppgtt, 0x2000, 4),
            memory(AddressSpace::Ppgtt, 0x2008, 4),
        ];
        assert_eq!(rig.gpu.take_writes(), (own.to_vec(), 0), "{e:?}");
    }
}

#[test]
fn writes_of_blits_are_listed() {
    let rig = Rig::with(RingConfig {
        keep_writes: 16,
        ..Rig::choices()
    });
    process(&rig, TABLE, TARGET);
    rig.process_table(BCS, SLOT, TABLE, !0);
    // XY_COLOR_BLT, 8 bits a pixel, rows of 64 bytes; 8 of them in each of two rows (digest of Gen6, 2.5).
    rig.put(
        BATCH,
        &[0x5400_0004, 0x00f0_0040, 0, 0x0002_0008, 0x2000, 0x5a, END],
    );
    rig.run(BCS, &[START, BATCH]);
    let rows = [0x2000, 0x2040].map(|address| Wrote::Memory {
        space: AddressSpace::Ppgtt,
        address,
        bytes: 8,
    });
    assert_eq!(rig.gpu.take_writes(), (rows.to_vec(), 0));
    assert_eq!(rig.at(TARGET + 0x44), 0x5a5a_5a5a);
    rig.clean();
}
