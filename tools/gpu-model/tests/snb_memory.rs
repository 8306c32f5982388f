// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Translation in the modelled Sandy Bridge: both tables, stale TLBs, faults, the aperture
//! (SNB PRM V1P2 §2.2–2.3, §4.5.4, §4.6, §5.7.2.1).

use crate::snb_rig::{Rig, BATCH, TARGET};
use gpu_model::memory::{GuestMemory, VecMemory};
use gpu_model::model::NoIrq;
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{EngineId, RingConfig, RingGpu, ENGINES};
use std::sync::Arc;

const STORE_GLOBAL: u32 = 0x1040_0002;
/// The same without bit 22: the space of PPGTT, if on.
const STORE_LOCAL: u32 = 0x1000_0002;

/// Fault record of each engine.
const RECORDS: [(EngineId, u32); 3] = [
    (EngineId::Rcs, 0x4094),
    (EngineId::Vcs, 0x4194),
    (EngineId::Bcs, 0x4294),
];

#[test]
fn stale_translation_until_invalidated() {
    // §4.6: a changed entry needs an explicit invalidation; here a missing one always shows.
    let rig = Rig::new();
    rig.run(EngineId::Bcs, &[STORE_GLOBAL, 0, TARGET, 1]);
    rig.gpu.gtt_write(TARGET >> 12, 0x0009_0005);
    rig.run(EngineId::Bcs, &[STORE_GLOBAL, 0, TARGET, 2]);
    assert_eq!((rig.at(0x80000), rig.at(0x90000)), (2, 0), "old page");
    rig.set(0x101008, 1);
    rig.run(EngineId::Bcs, &[STORE_GLOBAL, 0, TARGET, 3]);
    assert_eq!((rig.at(0x80000), rig.at(0x90000)), (2, 3), "new page");
    rig.clean();
}

#[test]
fn invalid_entry_is_cached_too() {
    // §5.7.2.1.
    let rig = Rig::new();
    rig.gpu.gtt_write(TARGET >> 12, 0);
    rig.run(EngineId::Rcs, &[STORE_GLOBAL, 0, TARGET, 1]);
    assert_eq!(rig.reg(0x4094), 0x0008_0841);
    rig.gpu.gtt_write(TARGET >> 12, 0x0008_0005);
    rig.run(EngineId::Rcs, &[STORE_GLOBAL, 0, TARGET, 2]);
    assert_eq!(rig.at(TARGET), 0, "still faults");
    rig.set(0x101008, 1);
    rig.run(EngineId::Rcs, &[STORE_GLOBAL, 0, TARGET, 3]);
    assert_eq!(rig.at(TARGET), 3);
}

#[test]
fn page_faults_are_silent_and_the_first_is_kept() {
    // §5.7.2.1: write dropped, read zero, the engine goes on; 31:12 address, 11 GGTT, 10:3 source,
    // 0 valid; frozen until software clears bit 0.
    for (e, record) in RECORDS {
        let rig = Rig::new();
        for page in [0x80, 0x81] {
            rig.gpu.gtt_write(page, 0x0000_0004);
        }
        rig.set(0x101008, 1);
        rig.run(
            e,
            &[
                STORE_GLOBAL,
                0,
                0x80010,
                1,
                STORE_GLOBAL,
                0,
                0x81020,
                1,
                STORE_GLOBAL,
                0,
                0x82000,
                7,
            ],
        );
        assert_eq!(rig.at(0x82000), 7, "goes on");
        assert_eq!(rig.reg(record), 0x0008_0841, "source 8: streamer write");
        assert_eq!(rig.reg(0x40a0) & 1, 1, "ERROR: TLB fault");
        rig.set(record, 0xffff_fffe);
        assert_eq!(rig.reg(record), 0, "cleared with all its fields");
        rig.run(e, &[STORE_GLOBAL, 0, 0x81020, 1]);
        assert_eq!(rig.reg(record), 0x0008_1841);
        rig.set(record, 1);
        assert_eq!(rig.reg(record), 0x0008_1841, "a one changes nothing");
        rig.clean();
    }
}

#[test]
fn forty_bit_addresses() {
    // §2.2.2.1: bits 11:4 of an entry are address bits 39:32.
    let memory = Arc::new(VecMemory::at(0xab_0000_0000, 1 << 20));
    let gpu = RingGpu::new(RingConfig::default(), memory.clone(), Arc::new(NoIrq));
    gpu.mmio_write32(0xa18c, 1);
    gpu.gtt_write(1, 0x0000_0ab5);
    gpu.gtt_write(2, 0x0000_1ab5);
    memory
        .put_dwords(0xab_0000_0000, &[STORE_GLOBAL, 0, 0x2000, 0x77])
        .expect("memory");
    gpu.mmio_write32(0x22038, 0x1000);
    gpu.mmio_write32(0x22030, 0x10);
    gpu.mmio_write32(0x2203c, 1);
    assert!(gpu.run_until_idle(10));
    assert_eq!(memory.dword(0xab_0000_1000), 0x77);
}

#[test]
fn entry_without_memory_is_a_page_table_error() {
    // §5.7.2, table 5-3 "invalid PTE data"; clearing needs a reset.
    let rig = Rig::new();
    rig.set(0x20b4, 0);
    rig.gpu.gtt_write(TARGET >> 12, 0x7000_0ff5);
    rig.set(0x101008, 1);
    rig.run(EngineId::Rcs, &[STORE_GLOBAL, 0, TARGET, 1]);
    assert_eq!(rig.reg(0x20b0), 0x10);
    assert_eq!(rig.reg(0x2024), 1);
    rig.set(0x20b0, 0x10);
    assert_eq!(rig.reg(0x20b0), 0x10, "comes back");
    assert_eq!(rig.gpu.lint_count(Rule::ErrorPersists), 1);
    rig.set(0x941c, 1);
    assert_eq!((rig.reg(0x20b0), rig.reg(0x2024)), (0, 0));
}

/// A page directory at global entry 0x400 (64-byte units: 0x40), one table at 0x100000 whose
/// entries map address 0x80000.. to 0x180000.. and the batch page to itself.
fn ppgtt(rig: &Rig, e: u32) {
    for n in 0..512 {
        rig.gpu.gtt_write(0x400 + n, 0x0010_1001);
    }
    rig.gpu.gtt_write(0x400, 0x0010_0001);
    for page in 0..1024u32 {
        rig.put(0x100000 + page * 4, &[(page << 12) | 5]);
        rig.put(0x101000 + page * 4, &[0]);
    }
    for page in 0x80..0x90u32 {
        rig.put(0x100000 + page * 4, &[((page + 0x100) << 12) | 5]);
    }
    rig.set(e + 0x220, 0xffff_ffff);
    rig.set(e + 0x228, 0x0040_0000);
    rig.set(0x2520, 0x0200_0200);
}

#[test]
fn two_level_walk() {
    // §2.3: directory in the global table's storage, table in memory; bit 22 selects the space.
    for e in ENGINES {
        let rig = Rig::new();
        ppgtt(&rig, crate::snb_rig::block(e));
        rig.run(
            e,
            &[
                STORE_LOCAL,
                0,
                TARGET,
                0x11,
                STORE_GLOBAL,
                0,
                TARGET + 0x10000,
                0x22,
            ],
        );
        assert_eq!(
            (rig.at(0x180000), rig.at(0x90000)),
            (0x11, 0x22),
            "{}",
            e.name()
        );
        assert_eq!(
            rig.reg(crate::snb_rig::block(e) + 0x518),
            0x0040_0000,
            "readback (digest G-20)"
        );
        rig.clean();
    }
}

#[test]
fn same_space_when_ppgtt_is_off() {
    // §2.2: everything uses the global table.
    let rig = Rig::new();
    ppgtt(&rig, 0x22000);
    rig.set(0x2520, 0x0200_0000);
    rig.run(EngineId::Bcs, &[STORE_LOCAL, 0, TARGET, 0x11]);
    assert_eq!((rig.at(0x80000), rig.at(0x180000)), (0x11, 0));
}

#[test]
fn per_process_faults() {
    // Record bit 11 clear; invalid table entry: ERROR bit 0; the page-fault interrupt is bit 7 of
    // the ring, 29 for the blitter.
    let rig = Rig::new();
    ppgtt(&rig, 0x22000);
    rig.unmask_interrupts();
    rig.run(EngineId::Bcs, &[STORE_LOCAL, 0, 0x0040_3000, 1]);
    assert_eq!(rig.reg(0x4294), 0x0040_3041);
    assert_eq!(rig.reg(0x40a0), 0x1);
    assert_eq!(rig.reg(0x44018), 1 << 29);
    // Invalid directory entry: ERROR bit 2. It is seen once the directory is loaded again.
    let rig = Rig::new();
    ppgtt(&rig, 0x22000);
    rig.gpu.gtt_write(0x402, 0);
    rig.run(EngineId::Bcs, &[STORE_LOCAL, 0, 0x0080_0000, 1]);
    assert_eq!(rig.reg(0x40a0), 0x1, "the loaded entry was still valid");
    rig.set(0x22228, 0x0040_0000);
    rig.set(0x40a0, 0);
    rig.run(EngineId::Bcs, &[STORE_LOCAL, 0, 0x0080_1000, 1]);
    assert_eq!(rig.reg(0x40a0), 0x4);
    // Beyond 2 GB there is no directory (§4.6).
    rig.set(0x40a0, 0);
    rig.run(EngineId::Bcs, &[STORE_LOCAL, 0, 0x8000_0000, 1]);
    assert_eq!(rig.reg(0x40a0), 0x4);
}

#[test]
fn unloaded_directory_group_is_fatal() {
    // VCS PRM 1.1.2.1: each bit of PP_DCLV loads sixteen entries, 64 MB.
    let rig = Rig::new();
    ppgtt(&rig, 0x12000);
    rig.set(0x12220, 0x0000_0001);
    rig.set(0x12228, 0x0040_0000);
    rig.run(EngineId::Vcs, &[STORE_LOCAL, 0, TARGET, 5]);
    assert_eq!(rig.at(0x180000), 5);
    rig.run(
        EngineId::Vcs,
        &[STORE_LOCAL, 0, 0x0400_0000, 1, STORE_GLOBAL, 0, 0x90000, 1],
    );
    assert_eq!(rig.reg(0x40a0), 0x100, "unloaded directory");
    assert_eq!(rig.at(0x90000), 0, "stopped");
    assert_eq!(rig.reg(0x1209c) & 0x200, 0, "not idle");
}

#[test]
fn directory_out_of_the_table_is_reported() {
    // §2.3.1.
    let rig = Rig::new();
    rig.set(0x2220, 0xffff_ffff);
    // 2 MB of entries are 0x8000 units of 64 bytes; a whole directory is 0x20 of them.
    rig.set(0x2228, 0x7fe0_0000);
    assert_eq!(rig.gpu.lint_count(Rule::DirectoryPlace), 0);
    rig.set(0x2228, 0x7fe1_0000);
    assert_eq!(rig.gpu.lint_count(Rule::DirectoryPlace), 1);
}

#[test]
fn streams_cannot_tell_the_spaces_apart() {
    // §2.3.4: tagged by address alone: the second access uses the first one's page.
    let rig = Rig::new();
    ppgtt(&rig, 0x22000);
    rig.run(
        EngineId::Bcs,
        &[STORE_GLOBAL, 0, TARGET, 1, STORE_LOCAL, 0, TARGET + 4, 2],
    );
    assert_eq!(
        (rig.at(0x80000), rig.at(0x80004), rig.at(0x180004)),
        (1, 2, 0)
    );
    assert_eq!(rig.gpu.lint_count(Rule::TlbAlias), 1);
}

#[test]
fn who_asked_for_an_entry_answers_for_it() {
    // §2.3.4: a batch reaches an address of the per-process table that the ring uses by the global one.
    let rig = Rig::new();
    ppgtt(&rig, 0x22000);
    rig.put(BATCH, &[STORE_LOCAL, 0, TARGET + 4, 2, 0x0500_0000, 0]);
    let ring = [0x1880_0100, BATCH, STORE_GLOBAL, 0, TARGET, 1];
    rig.run(EngineId::Bcs, &ring);
    assert_eq!((rig.at(0x80000), rig.at(0x180000)), (0, 1));
    assert_eq!(rig.gpu.lints(), vec![]);
    assert_eq!(rig.gpu.client_lints(), vec![(Rule::TlbAlias, 1)]);
    // One that the per-process table does not say any more was the driver's to invalidate.
    rig.put(0x100000 + 0x80 * 4, &[(0x190 << 12) | 5]);
    rig.run(EngineId::Bcs, &[STORE_GLOBAL, 0, TARGET, 1]);
    assert_eq!(rig.gpu.lints(), vec![(Rule::TlbAlias, 1)]);
}

#[test]
fn blits_use_the_per_process_table() {
    // §2.3: all but MI commands. XY_COLOR_BLT, 32 bits, 4 x 1 pixels, ROP F0.
    let rig = Rig::new();
    ppgtt(&rig, 0x22000);
    let blit = [
        0x5430_0004,
        0x03f0_0010,
        0x0000_0000,
        0x0001_0004,
        TARGET,
        0xaabb_ccdd,
    ];
    rig.run(EngineId::Bcs, &blit);
    assert_eq!(rig.at(0x18000c), 0xaabb_ccdd);
    assert_eq!(rig.at(0x80000), 0);
    rig.clean();
}

#[test]
fn blit_faults_are_latched() {
    let rig = Rig::new();
    rig.gpu.gtt_write(TARGET >> 12, 0);
    rig.set(0x101008, 1);
    let blit = [
        0x5430_0004,
        0x03f0_0010,
        0x0000_0000,
        0x0001_0004,
        TARGET,
        0xaabb_ccdd,
    ];
    rig.run(EngineId::Bcs, &blit);
    assert_eq!(rig.reg(0x4294), 0x0008_0849, "source 9: blitter write");
    assert_eq!(rig.reg(0x2209c) & 0x200, 0x200, "goes on");
}

#[test]
fn big_pages() {
    // §2.3: PDE bit 1; a client of big pages takes address 14:0 as the offset.
    let setup = |big| {
        let rig = Rig::with(RingConfig {
            big_pages: big,
            ..RingConfig::default()
        });
        ppgtt(&rig, 0x22000);
        rig.gpu.gtt_write(0x400, 0x0010_0003);
        rig.set(0x22228, 0x0040_0000);
        rig
    };
    let blit = [
        0x5430_0004,
        0x03f0_0010,
        0x0000_0000,
        0x0001_0001,
        TARGET + 0x3000,
        0x5555_5555,
    ];
    for big in [false, true] {
        let rig = setup(big);
        rig.run(EngineId::Bcs, &blit);
        assert_eq!(rig.at(0x183000), 0x5555_5555, "both views agree");
        assert_eq!(rig.gpu.lint_count(Rule::BigPageUneven), 0);
    }
    // The entry's own page and the group's differ.
    for (big, at) in [(false, 0x1a0000), (true, 0x183000)] {
        let rig = setup(big);
        rig.put(0x100000 + 0x83 * 4, &[0x001a_0005]);
        rig.run(EngineId::Bcs, &blit);
        assert_eq!(rig.at(at), 0x5555_5555);
        assert_ne!(rig.gpu.lint_count(Rule::BigPageUneven), 0);
    }
}

#[test]
fn reserved_cacheability_is_reported() {
    // §2.2.2.1: 00 reserved.
    let rig = Rig::new();
    rig.gpu.gtt_write(TARGET >> 12, 0x0008_0001);
    rig.set(0x101008, 1);
    rig.run(EngineId::Rcs, &[STORE_GLOBAL, 0, TARGET, 1]);
    assert_eq!(rig.at(TARGET), 1);
    assert_eq!(rig.gpu.lint_count(Rule::PteReserved), 1);
}

#[test]
fn fetch_runs_ahead_of_a_batch() {
    // §5.3.4.2: the page behind a batch must be mapped.
    let rig = Rig::new();
    rig.gpu.gtt_write((BATCH >> 12) + 1, 0);
    rig.set(0x101008, 1);
    rig.put(BATCH, &[0, 0x0500_0000]);
    rig.run(EngineId::Rcs, &[0x1880_0000, BATCH]);
    assert_eq!(rig.reg(0x4094), 0, "far from the end of the page");
    rig.put(BATCH + 0xff8, &[0, 0x0500_0000]);
    rig.run(EngineId::Rcs, &[0x1880_0000, BATCH + 0xff8]);
    assert_eq!(rig.reg(0x4094), 0x0005_1801);
}

#[test]
fn aperture_goes_through_the_global_table() {
    // §4.3.1; an invalid entry reads zero without a record (§2.2.2.1).
    let rig = Rig::new();
    ppgtt(&rig, 0x22000);
    rig.gpu.aperture_write(TARGET + 0xffe, &[1, 2, 3, 4]);
    assert_eq!(rig.at(0x80ffc), 0x0201_0000);
    assert_eq!(rig.at(0x81000), 0x0000_0403);
    // The host's translations are never stale (§5.3.10.5).
    rig.gpu.gtt_write(TARGET >> 12, 0x0009_0005);
    rig.put(0x90000, &[0x1234_5678]);
    let mut b = [0; 4];
    rig.gpu.aperture_read(TARGET, &mut b);
    assert_eq!(u32::from_le_bytes(b), 0x1234_5678);
    rig.gpu.gtt_write(TARGET >> 12, 0);
    rig.gpu.aperture_read(TARGET, &mut b);
    assert_eq!(b, [0; 4]);
    assert_eq!(rig.reg(0x4094), 0);
    rig.clean();
}

#[test]
fn fences_detile_for_the_cpu_only() {
    // §4.5.4.1: X walk, pitch 1024 (two tiles), 0x80000..0x83fff.
    let rig = Rig::new();
    rig.set(0x100008, 0);
    rig.set(0x10000c, 0x0008_3007);
    rig.set(0x100008, 0x0008_0001);
    // Row 1, byte 0x204: tile 1, row 1, byte 4 = 0x1000 + 0x200 + 4.
    rig.gpu
        .aperture_write(0x80000 + 0x400 + 0x204, &[0xaa, 0xbb, 0xcc, 0xdd]);
    assert_eq!(rig.at(0x81204), 0xddcc_bbaa);
    // Row 8, byte 0: third tile.
    rig.gpu.aperture_write(0x80000 + 8 * 0x400, &[1, 0, 0, 0]);
    assert_eq!(rig.at(0x82000), 1);
    // The engine's own accesses are not (§4.5.4.1).
    rig.run(EngineId::Rcs, &[STORE_GLOBAL, 0, 0x80604, 9]);
    assert_eq!(rig.at(0x80604), 9);
    // The upper bound is inclusive, the page after it is linear.
    rig.gpu.aperture_write(0x84000, &[5, 0, 0, 0]);
    assert_eq!(rig.at(0x84000), 5);
    // Y walk: pitch 128 (one tile).
    rig.set(0x100008, 0);
    rig.set(0x10000c, 0x0008_3000);
    rig.set(0x100008, 0x0008_0003);
    // Row 1, byte 16: second column of 512 bytes, second row of 16.
    rig.gpu.aperture_write(0x80000 + 128 + 16, &[7, 0, 0, 0]);
    assert_eq!(rig.at(0x80210), 7);
    rig.clean();
}

#[test]
fn fence_rules() {
    // §4.5.4.1: overlap undefined; §4.5.4.1.1: X pitch a multiple of 512 bytes.
    let rig = Rig::new();
    rig.set(0x100004, 0x0008_3003);
    rig.set(0x100000, 0x0008_0001);
    rig.set(0x100014, 0x0009_0003);
    rig.set(0x100010, 0x0008_3001);
    assert_eq!(rig.gpu.lint_count(Rule::FenceOverlap), 1);
    rig.set(0x100010, 0);
    rig.set(0x100024, 0x000a_0002);
    rig.set(0x100020, 0x000a_0001);
    assert_eq!(rig.gpu.lint_count(Rule::FencePitch), 1);
    // Bits that do not exist stay zero: 11:2 and 43:42.
    rig.set(0x100020, 0xffff_ffff);
    rig.set(0x100024, 0xffff_ffff);
    assert_eq!(
        (rig.reg(0x100020), rig.reg(0x100024)),
        (0xffff_f003, 0xffff_f3ff)
    );
}

#[test]
fn fences_and_bit_six() {
    // Digest G-31: equal channels, TILECTL bit 0: X folds bits 9 and 10 into 6.
    let rig = Rig::with(RingConfig {
        swizzle: true,
        ..RingConfig::default()
    });
    rig.set(0x100004, 0x0008_3003);
    rig.set(0x100000, 0x0008_0001);
    rig.gpu.aperture_write(0x80200, &[1, 0, 0, 0]);
    assert_eq!(rig.at(0x80200), 1, "not enabled");
    rig.set(0x101000, 1);
    rig.gpu.aperture_write(0x80200, &[2, 0, 0, 0]);
    assert_eq!(rig.at(0x80240), 2, "row 1: bit 9 set");
    rig.gpu.aperture_write(0x80600, &[3, 0, 0, 0]);
    assert_eq!(rig.at(0x80600), 3, "row 3: bits 9 and 10 cancel");
}

#[test]
fn the_table_has_its_size() {
    // GGMS (digest G-03).
    let rig = Rig::bare(RingConfig {
        gtt_mb: 1,
        ..RingConfig::default()
    });
    rig.gpu.gtt_write(262_143, 0x1234_5005);
    rig.gpu.gtt_write(262_144, 0x1234_5005);
    assert_eq!(
        (rig.gpu.gtt_read(262_143), rig.gpu.gtt_read(262_144)),
        (0x1234_5005, 0)
    );
}

#[test]
fn vec_memory_has_ends() {
    let m = VecMemory::at(0x1000, 16);
    assert!(m.write(0x100c, &[1, 2, 3, 4]).is_ok());
    assert!(m.write(0x100d, &[1, 2, 3, 4]).is_err());
    assert!(m.read(0xfff, &mut [0; 1]).is_err());
    assert_eq!(m.dword(0x100c), 0x0403_0201);
}

#[test]
fn graphics_data_type_changes_no_address() {
    // §2.2.2.1: bit 3.
    let rig = Rig::new();
    rig.gpu.gtt_write(TARGET >> 12, 0x0009_000d);
    rig.set(0x101008, 1);
    rig.run(EngineId::Rcs, &[STORE_GLOBAL, 0, TARGET, 3]);
    assert_eq!(rig.at(0x90000), 3);
    rig.clean();
}

#[test]
fn nothing_is_mapped_at_first() {
    // §5.9: accesses of engines fail until the table is filled. The ring reads zeros, no-operations.
    let memory = Arc::new(VecMemory::new(1 << 20));
    let gpu = RingGpu::new(RingConfig::default(), memory.clone(), Arc::new(NoIrq));
    gpu.mmio_write32(0xa18c, 1);
    memory
        .put_dwords(0x1000, &[STORE_GLOBAL, 0, 0x2000, 1])
        .expect("memory");
    gpu.mmio_write32(0x22038, 0x1000);
    gpu.mmio_write32(0x22030, 0x10);
    gpu.mmio_write32(0x2203c, 1);
    assert!(gpu.run_until_idle(100));
    assert_eq!(gpu.mmio_read32(0x4294), 0x0000_1801, "read of the ring");
    assert_eq!(memory.dword(0x2000), 0);
}
