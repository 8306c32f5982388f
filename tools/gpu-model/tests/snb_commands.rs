// SPDX-License-Identifier: GPL-2.0 OR MIT
//! MI commands of the modelled Sandy Bridge, one by one (digest §2.3; SNB PRM V1P2 §5.3; VCS PRM
//! 1.2), with literal dwords.

use crate::snb_rig::{block, Rig, BATCH, TARGET};
use gpu_model::counters::Counter;
use gpu_model::ring::engine::Stop;
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{EngineId, RingConfig, ENGINES};

const BCS: EngineId = EngineId::Bcs;
const RCS: EngineId = EngineId::Rcs;
const VCS: EngineId = EngineId::Vcs;
const STORE_GLOBAL: u32 = 0x1040_0002;

#[test]
fn store_data_imm() {
    let rig = Rig::new();
    for e in ENGINES {
        // Quadword: length 3.
        rig.run(e, &[0x1040_0003, 0, TARGET, 0x1111_1111, 0x2222_2222]);
        assert_eq!(
            (rig.at(TARGET), rig.at(TARGET + 4)),
            (0x1111_1111, 0x2222_2222)
        );
        rig.put(TARGET, &[0, 0]);
    }
    rig.clean();
    rig.run(RCS, &[0x1040_0003, 0, TARGET + 4, 1, 2]);
    assert_eq!(rig.gpu.lint_count(Rule::UnalignedQword), 1);
}

#[test]
fn store_data_index_rules() {
    let rig = Rig::new();
    rig.run(RCS, &[0x1080_0001, 0x3c, 1]);
    assert_eq!(
        rig.gpu.lint_count(Rule::StatusPageReserved),
        1,
        "first sixteen dwords (§5.5)"
    );
    rig.run(RCS, &[0x1080_0001, 0x40, 1]);
    assert_eq!(rig.gpu.lint_count(Rule::StatusPageReserved), 1);
    // §5.9: before the address is set.
    let rig = Rig::bare(RingConfig::default());
    rig.set(0x22038, 0x30000);
    rig.set(0x2203c, 1);
    rig.run(BCS, &[0x1080_0001, 0x100, 1]);
    assert_eq!(rig.gpu.lint_count(Rule::StatusPageUnset), 1);
    assert_eq!(rig.reg(0x4294), 0x1fff_f841, "no page there");
    assert_eq!(rig.reg(0x40a0), 0x8, "status page fault");
}

#[test]
fn load_register_imm() {
    let rig = Rig::new();
    // One pair, three pairs (length 2n - 1).
    rig.run(RCS, &[0x1100_0001, 0x2094, 0x12]);
    assert_eq!(rig.reg(0x2094), 0x12);
    rig.run(RCS, &[0x1100_0005, 0x2040, 1, 0x2044, 2, 0x12040, 3]);
    assert_eq!(
        (rig.reg(0x2040), rig.reg(0x2044), rig.reg(0x12040)),
        (1, 2, 3)
    );
    // Bits 11:8 disable bytes; all four disable the write.
    rig.run(RCS, &[0x1100_0301, 0x2040, 0xaabb_ccdd]);
    assert_eq!(rig.reg(0x2040), 0xaabb_0001);
    rig.run(RCS, &[0x1100_0f01, 0x2040, 0x1234_5678]);
    assert_eq!(rig.reg(0x2040), 0xaabb_0001);
    // Masked registers keep their rule.
    rig.run(RCS, &[0x1100_0001, 0x2120, 0x0001_0001]);
    assert_eq!(rig.reg(0x2120), 1);
    rig.clean();
    assert_eq!(rig.gpu.counter(Counter::CsRegWrites), 7);
    // RING_CTL bit 8 forbids register writes to this ring (VCS PRM 1.1.4).
    rig.set(0x203c, 0x101);
    rig.run(RCS, &[0x1100_0001, 0x2040, 5]);
    assert_eq!(rig.reg(0x2040), 0xaabb_0001);
}

#[test]
fn store_register_mem() {
    let rig = Rig::new();
    for e in ENGINES {
        rig.set(block(e) + 0x94, 0x0012_3456);
        rig.run(e, &[0x1240_0001, block(e) + 0x94, TARGET]);
        assert_eq!(rig.at(TARGET), 0x0012_3456);
        rig.put(TARGET, &[0]);
    }
    rig.clean();
    // Not for fence registers (VCS PRM 1.2.11).
    rig.run(RCS, &[0x1240_0001, 0x100000, TARGET]);
    assert_eq!(rig.gpu.lint_count(Rule::SrmForbidden), 1);
}

#[test]
fn streamers_do_not_reach_the_mchbar_alias() {
    // §3: a write is discarded, a read gives zeros.
    let rig = Rig::new();
    rig.set(0x148000, 0x5555_5555);
    rig.put(TARGET, &[0x9999_9999]);
    rig.run(
        RCS,
        &[0x1100_0001, 0x148000, 1, 0x1240_0001, 0x148000, TARGET],
    );
    assert_eq!(rig.reg(0x148000), 0x5555_5555);
    assert_eq!(rig.at(TARGET), 0);
    assert_eq!(rig.gpu.lint_count(Rule::CsMchbar), 2);
}

#[test]
fn semaphores_by_register() {
    // VCS PRM 1.2.10: goes on if the register is strictly greater. RCS select 2 is 0x2044, written
    // by the blitter; BCS select 0 is 0x22040, written by the render engine.
    let rig = Rig::new();
    rig.submit(RCS, &[0x0b16_0001, 4, 0, STORE_GLOBAL, 0, TARGET, 1]);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 0);
    assert_eq!(rig.reg(0x203c) & 0x400, 0x400, "semaphore wait");
    rig.run(BCS, &[0x1100_0001, 0x2044, 4]);
    assert_eq!(rig.at(TARGET), 0, "equal is not enough");
    rig.run(BCS, &[0x1100_0001, 0x2044, 5]);
    assert_eq!(rig.at(TARGET), 1);
    assert_eq!(rig.reg(0x203c) & 0x400, 0);
    for (e, select, register) in [
        (RCS, 0, 0x2040),
        (VCS, 0, 0x12040),
        (VCS, 2, 0x12044),
        (BCS, 0, 0x22040),
        (BCS, 2, 0x22044),
    ] {
        let rig = Rig::new();
        rig.run(
            e,
            &[
                0x0b14_0001 | select << 16,
                0xffff_0000,
                0,
                STORE_GLOBAL,
                0,
                TARGET,
                1,
            ],
        );
        assert_eq!(rig.at(TARGET), 0);
        rig.set(register, 0xffff_0001);
        assert!(rig.gpu.run_until_idle(10));
        assert_eq!(rig.at(TARGET), 1, "{register:#x}");
        rig.clean();
    }
}

#[test]
fn semaphore_rules() {
    let rig = Rig::new();
    rig.run(RCS, &[0x0b17_0001, 4, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::Reserved), 1, "select 3");
    rig.run(RCS, &[0x0b15_0001, 4, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::Reserved), 2, "select 1");
    // Update with the register bit: must not be; the named register is written.
    rig.run(RCS, &[0x0b24_0001, 9, 0x22040]);
    assert_eq!(rig.gpu.lint_count(Rule::Reserved), 3);
    assert_eq!(rig.reg(0x22040), 9);
}

#[test]
fn semaphores_in_memory() {
    let rig = Rig::new();
    // Update only, global (bits 22 and 21).
    rig.run(VCS, &[0x0b60_0001, 7, TARGET]);
    assert_eq!(rig.at(TARGET), 7);
    // Compare and update: waits until memory exceeds the data; then stores.
    rig.submit(BCS, &[0x0b70_0001, 7, TARGET]);
    assert!(rig.gpu.run_until_idle(50));
    assert_eq!(rig.reg(0x2203c) & 0x400, 0x400, "semaphore wait");
    rig.run(RCS, &[STORE_GLOBAL, 0, TARGET, 8]);
    assert_eq!(rig.at(TARGET), 7);
    assert_eq!(rig.reg(0x22034), 0x10);
    rig.clean();
}

#[test]
fn waits_for_a_condition_code() {
    // §5.3.7.3.5: held while the bit is set; code n is bit n - 1; RING_CTL bit 11 shows it.
    let rig = Rig::new();
    rig.set(0x2028, 0x0002_0002);
    rig.run(
        RCS,
        &[0x0181_0000, 0, 0x0182_0000, STORE_GLOBAL, 0, TARGET, 1],
    );
    assert_eq!(rig.at(TARGET), 0);
    assert_eq!(
        rig.reg(0x2034),
        0x9,
        "at the second wait; bit 0 shows waiting on render"
    );
    assert_eq!(rig.reg(0x203c) & 0x800, 0x800);
    rig.set(0x2028, 0x0002_0000);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 1);
    rig.clean();
}

#[test]
fn a_wait_can_be_cancelled() {
    // VCS PRM 1.1.4: RING_CTL bit 11, write one.
    let rig = Rig::new();
    rig.set(0x22028, 0x0001_0001);
    rig.run(BCS, &[0x0181_0000, 0, STORE_GLOBAL, 0, TARGET, 1]);
    rig.set(0x2203c, 1);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 0, "writing zero does nothing");
    rig.set(0x2203c, 0x801);
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!(rig.at(TARGET), 1);
    assert_eq!(rig.reg(0x2203c), 1);
}

#[test]
fn wait_rules_and_display_events() {
    let rig = Rig::new();
    // Plane A flip (bit 1): passed at once, no display.
    rig.run(RCS, &[0x0180_0002, 0]);
    rig.clean();
    rig.run(RCS, &[0x0180_000a, 0]);
    assert_eq!(
        rig.gpu.lint_count(Rule::ManyEvents),
        1,
        "§5.3.7.3: one event"
    );
    rig.run(VCS, &[0x0186_0000, 0]);
    assert_eq!(
        rig.gpu.lint_count(Rule::Reserved),
        1,
        "video has codes 1 to 5"
    );
}

#[test]
fn display_flip_completes() {
    // §5.4.4: latched by the falling edge.
    let rig = Rig::new();
    rig.set(0x44004, 0);
    rig.run(RCS, &[0x0a00_0002, 0, 0, 0]);
    assert_eq!(rig.reg(0x44008), 1 << 26);
    rig.run(RCS, &[0x0a10_0002, 0, 0, 0]);
    assert_eq!(rig.reg(0x44008), 3 << 26);
    rig.set(0x44008, 1 << 26);
    assert_eq!(rig.reg(0x44008), 1 << 27);
    rig.clean();
}

#[test]
fn update_gtt() {
    // §4.6.1: entries from the command, and the translations are refreshed.
    let rig = Rig::new();
    rig.run(RCS, &[STORE_GLOBAL, 0, TARGET, 1]);
    rig.run(RCS, &[0x1180_0002, TARGET, 0x0009_0005, 0x0009_1005]);
    rig.run(
        RCS,
        &[
            STORE_GLOBAL,
            0,
            TARGET,
            2,
            STORE_GLOBAL,
            0,
            TARGET + 0x1000,
            3,
        ],
    );
    assert_eq!(
        (rig.at(TARGET), rig.at(0x90000), rig.at(0x91000)),
        (1, 2, 3)
    );
    assert_eq!(rig.gpu.gtt_read(TARGET >> 12), 0x0009_0005);
    assert_eq!(rig.gpu.lint_count(Rule::UpdateGtt), 1);
}

#[test]
fn perf_report_carries_its_id() {
    let rig = Rig::new();
    rig.gpu.clock().advance_to(800);
    rig.run(RCS, &[0x1400_0001, TARGET | 1, 0xabcd]);
    assert_eq!((rig.at(TARGET), rig.at(TARGET + 4)), (0xabcd, 10));
    rig.clean();
}

#[test]
fn unknown_commands_are_instruction_errors() {
    // VCS PRM 1.1.6.3: unknown client or opcode; IPEHR has the header, the streamer stops.
    let cases: &[(EngineId, u32)] = &[
        (RCS, 0x2000_0000),
        (RCS, 0xe000_0000),
        (RCS, 0x1480_0001),
        (RCS, 0x5400_0004),
        (RCS, 0x7fff_0000),
        (RCS, 0x1300_0001),
        (VCS, 0x5400_0004),
        (VCS, 0x7a00_0002),
        (VCS, 0x0c00_0000),
        (BCS, 0x7a00_0002),
        (BCS, 0x0200_0000),
        (BCS, 0x5e00_0004),
    ];
    for (e, header) in cases {
        let rig = Rig::new();
        rig.set(block(*e) + 0xb4, 0);
        rig.run(*e, &[*header, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(
            rig.gpu.stop_reason(*e),
            Stop::Error,
            "{} {header:08x}",
            e.name()
        );
        assert_eq!(rig.reg(block(*e) + 0xb0), 1, "EIR {header:08x}");
        assert_eq!(rig.reg(block(*e) + 0xb8), 1, "ESR {header:08x}");
        assert_eq!(rig.reg(block(*e) + 0x68), *header, "IPEHR {header:08x}");
        assert_eq!(rig.reg(block(*e) + 0x34), 0, "head stays");
        assert_eq!(rig.gpu.counter(Counter::InstructionErrors), 1);
        rig.set(block(*e) + 0xb0, 1);
        assert_eq!(rig.reg(block(*e) + 0xb0), 1, "cannot be cleared");
    }
}

#[test]
fn drawing_is_skipped_by_its_length() {
    // Digest §2.2: 3D and media commands keep the stream in step.
    let rig = Rig::new();
    rig.run(
        RCS,
        &[
            0x6904_0000, // PIPELINE_SELECT, one dword
            0x6101_0008,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0, // STATE_BASE_ADDRESS, ten
            0x7810_0004,
            0,
            0,
            0,
            0,
            0, // 3DSTATE_VS, six
            0x7b00_0004,
            0,
            0,
            0,
            0,
            0, // 3DPRIMITIVE, six
            STORE_GLOBAL,
            0,
            TARGET,
            1,
        ],
    );
    assert_eq!(rig.at(TARGET), 1);
    rig.run(
        VCS,
        &[
            0x6800_0000,
            0x7000_0002,
            9,
            9,
            9,
            STORE_GLOBAL,
            0,
            TARGET,
            2,
        ],
    );
    assert_eq!(rig.at(TARGET), 2);
    assert_eq!(rig.gpu.counter(Counter::SkippedCommands), 6);
    rig.clean();
}

#[test]
fn blits_run_on_the_blitter() {
    // XY_COLOR_BLT and XY_SRC_COPY_BLT (digest §2.5): fill 4 x 2 pixels, copy them.
    let rig = Rig::new();
    rig.run(
        BCS,
        &[
            0x5430_0004,
            0x03f0_0040,
            0,
            0x0002_0004,
            TARGET,
            0x0102_0304,
        ],
    );
    assert_eq!(rig.at(TARGET + 0x4c), 0x0102_0304);
    assert_eq!(rig.at(TARGET + 0x10), 0);
    rig.run(
        BCS,
        &[
            0x54f0_0006,
            0x03cc_0040,
            0,
            0x0002_0004,
            TARGET + 0x1000,
            0,
            0x40,
            TARGET,
        ],
    );
    assert_eq!(rig.at(TARGET + 0x104c), 0x0102_0304);
    assert_eq!(rig.gpu.counter(Counter::BltCommands), 2);
    assert_eq!(rig.gpu.counter(Counter::BltPixels), 16);
    rig.clean();
}

#[test]
fn a_program_says_how_its_blits_are_tiled() {
    // Upstream's selftest igt_client_tiled_blits, from Gen6 on and in batches without privilege: BCS_SWCTRL (22200h,
    // upper half a mask) bit 1 makes tiled destinations Y-tiled, of which the columns are 16 bytes wide and 32 rows
    // high; X rows are 512 bytes.
    for (control, at) in [(0x0002_0000, 16), (0x0002_0002, 512)] {
        let rig = Rig::new();
        let mut batch = vec![0x1100_0001, 0x2_2200, control];
        batch.extend([0x5430_0804, 0x03f0_0080, 4, 0x0001_0005, TARGET, 0xabcd]);
        batch.push(0x0500_0000);
        rig.put(BATCH, &batch);
        // Bit 8: without privilege. The per-process table is off, so that its addresses are the global ones.
        rig.run(BCS, &[0x1880_0100, BATCH]);
        assert_eq!(rig.at(TARGET + at), 0xabcd, "{control:#x}");
        rig.clean();
    }
}

#[test]
fn badly_tiled_blit_is_a_page_table_error() {
    // §5.7.2, table 5-3 "invalid tiling": a tiled destination off its 4 KB.
    let rig = Rig::new();
    rig.set(0x220b4, 0);
    rig.run(
        BCS,
        &[0x5430_0804, 0x03f0_0080, 0, 0x0001_0001, TARGET + 0x40, 1],
    );
    assert_eq!(rig.reg(0x220b0), 0x10);
    assert_eq!(rig.reg(0x2024), 2);
    assert_eq!(rig.gpu.lint_count(Rule::Blt), 1);
}

#[test]
fn groups_of_commands_can_be_switched_off() {
    // §5.3.3: INSTPM bits 1 (3D state) and 3 (media): parsed, without effect on the saved state.
    // The image of context A shows it (see snb_contexts).
    let image = |instpm: u32, command: [u32; 6]| {
        let rig = Rig::new();
        rig.run(RCS, &[0x0c00_0000, 0x000a_0109, 0, 0]);
        rig.set(0x20c0, instpm);
        rig.run(RCS, &command);
        rig.run(RCS, &[0x1040_0002, 0, TARGET, 1]);
        assert_eq!(rig.at(TARGET), 1, "in step");
        rig.set(0x20c0, 0x000e_0000);
        rig.run(RCS, &[0x0c00_0000, 0x000b_0109, 0, 0]);
        (0..880)
            .map(|i| rig.at(0xa0000 + 4 * i))
            .collect::<Vec<u32>>()
    };
    let nothing = image(0, [0; 6]);
    let state = [0x7810_0004, 1, 2, 3, 4, 5];
    let media = [0x7002_0004, 1, 2, 3, 4, 5];
    assert_ne!(image(0, state), nothing);
    assert_ne!(image(0, media), nothing);
    assert_eq!(image(0x0002_0002, state), nothing);
    assert_eq!(image(0x0008_0008, media), nothing);
    assert_ne!(image(0x0008_0008, state), nothing);
}

#[test]
fn tiled_blits_and_bit_six() {
    // Digest G-31: ARB_MODE bit 4 with equal channels. One pixel in row 1 of an X tile (0x200).
    for (swizzle, enable, at) in [
        (false, 0x0010_0010, 0x200),
        (true, 0, 0x200),
        (true, 0x0010_0010, 0x240),
    ] {
        let rig = Rig::with(RingConfig {
            swizzle,
            ..RingConfig::default()
        });
        rig.set(0x4030, enable);
        rig.run(
            BCS,
            &[
                0x5430_0804,
                0x03f0_0080,
                0x0001_0000,
                0x0002_0001,
                TARGET,
                0x77,
            ],
        );
        assert_eq!(rig.at(TARGET + at), 0x77);
        rig.clean();
    }
}
