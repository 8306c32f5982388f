// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Commands of the memory interface on the modelled Gen4 chips, batches and what they may not (chapters 1, 2, 5.3.5 to
//! 5.3.7), and the blitter's on the render ring.

use crate::gen4_rig::*;
use gpu_model::counters::Counter;
use gpu_model::ring::chip::{G45, G965, GM45, GM965};
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{RingConfig, StepResult};

#[test]
fn batches_end_and_chain() {
    // 5.3.5.1: a start in a batch replaces it; its end comes back to the ring.
    for chip in ALL {
        let rig = Rig::new(chip);
        rig.put(BATCH, &[STORE, 0, TARGET, 1, START_NS, BATCH + 0x100]);
        rig.put(BATCH + 0x100, &[STORE, 0, TARGET + 4, 2, END]);
        rig.put(BATCH + 0x18, &[STORE, 0, TARGET + 8, 3, END]);
        // Secure: the chained one inherits it, and its own bit is ignored (5.3.7.6).
        rig.run(RCS, &[START, BATCH, STORE, 0, TARGET + 12, 4]);
        let seen = [0, 4, 8, 12].map(|at| rig.at(TARGET + at));
        assert_eq!(seen, [1, 2, 0, 4]);
        assert_eq!(rig.gpu.lint_count(Rule::ChainedPrivilege), 1);
        assert_eq!(rig.gpu.counter(Counter::Batches), 1);
    }
}

#[test]
fn a_batch_begins_at_a_line() {
    // 1.5: address bits 31:6.
    let rig = Rig::new(&G45);
    rig.put(BATCH, &[END]);
    rig.put(BATCH + 32, &[STORE, 0, TARGET, 1, END]);
    rig.run(RCS, &[START, BATCH + 32]);
    assert_eq!(rig.at(TARGET), 0);
    assert_eq!(rig.gpu.lint_count(Rule::BatchAlignment), 1);
    // Arbitration control of 2 is reserved.
    rig.run(RCS, &[START | 2 << 9, BATCH]);
    assert_eq!(rig.gpu.lint_count(Rule::Reserved), 1);
}

#[test]
fn a_batch_at_an_address_of_the_bus() {
    // 1.5, 5.3.5.2: bit 7 clear; a page at most.
    for chip in ALL {
        let rig = Rig::new(chip);
        rig.gpu.gtt_write(BATCH >> 12, 0);
        rig.put(BATCH, &[STORE, 0, TARGET, 1, 0, 0, END]);
        rig.run(RCS, &[0x1880_0000, BATCH]);
        assert_eq!(rig.at(TARGET), 1, "{chip:?}");
        rig.clean();
        // Chained to another page, and then over its end.
        rig.put(BATCH, &[0x1880_0000, BATCH + 0x1fc0]);
        rig.put(BATCH + 0x1fc0, &[0; 13]);
        rig.put(BATCH + 0x1ff4, &[STORE, 0, TARGET + 4, 2, END]);
        rig.set(0x20b4, 0);
        rig.submit(RCS, &[0x1880_0000, BATCH]);
        rig.gpu.run_until_idle(1000);
        assert_eq!(rig.at(TARGET + 4), 0);
        assert_eq!(rig.gpu.step(RCS), StepResult::Stopped);
        assert_eq!(rig.reg(0x20b0) & 1, 1, "a Command Error");
    }
}

#[test]
fn a_page_beyond_each_batch() {
    // 1.5: "any over-fetch requires a valid TLB entry. A single extra page beyond the batch buffer is sufficient".
    let rig = Rig::new(&G45);
    rig.gpu.gtt_write((BATCH >> 12) + 1, 0);
    rig.put(BATCH + 0xfc0, &[STORE, 0, TARGET, 1, END]);
    rig.run(RCS, &[START, BATCH + 0xfc0]);
    assert_eq!(rig.at(TARGET), 1);
    assert_eq!(rig.reg(0x2024), 1 << 20, "the command fetch (G-07)");
    let rig = Rig::new(&G45);
    rig.put(BATCH + 0xfc0, &[STORE, 0, TARGET, 1, END]);
    rig.run(RCS, &[START, BATCH + 0xfc0]);
    assert_eq!(rig.reg(0x2024), 0);
    rig.clean();
}

#[test]
fn stores() {
    // 1.16: bit 22 a graphics address; else one of the bus, with 35:32 in the second dword.
    for chip in ALL {
        let rig = Rig::new(chip);
        rig.gpu.gtt_write(TARGET >> 12, 0x9_0001);
        rig.run(
            RCS,
            &[STORE, 0, TARGET, 1, STORE_PHYSICAL, 0, TARGET + 4, 2],
        );
        rig.run(RCS, &[0x1040_0003, 0, TARGET + 8, 3, 4]);
        assert_eq!(
            [0x9_0000, 0x9_0008, 0x9_000c, TARGET, TARGET + 4].map(|at| rig.at(at)),
            [1, 3, 4, 0, 2]
        );
        // Nothing answers above 4 GB.
        rig.run(RCS, &[STORE_PHYSICAL, 1, TARGET + 4, 9]);
        assert_eq!(rig.at(TARGET + 4), 2);
        rig.clean();
        // "must be 8B aligned".
        rig.run(RCS, &[0x1040_0003, 0, TARGET + 4, 3, 4]);
        assert_eq!(rig.gpu.lint_count(Rule::UnalignedQword), 1);
    }
}

#[test]
fn registers_and_commands() {
    // 1.8: byte write disables, bit 8 for data 7:0; several registers (G-30).
    for chip in ALL {
        let rig = Rig::new(chip);
        rig.run(RCS, &[0, 0x1100_0003, 0x2094, 0x1_2345, 0x20e0, 0x55, 0]);
        assert_eq!((rig.reg(0x2094), rig.reg(0x20e0)), (0x1_2345, 0x55));
        rig.run(RCS, &[0x1100_0101, 0x2094, 0x2_0000]);
        assert_eq!(rig.reg(0x2094), 0x2_0045);
        // 1.18: to memory, by the bus on all; through the table not on 965G ("MBZ").
        rig.run(RCS, &[0x1200_0001, 0x2094, TARGET]);
        assert_eq!(rig.at(TARGET), 0x2_0045);
        rig.clean();
        rig.gpu.gtt_write(TARGET >> 12, 0x9_0001);
        rig.run(RCS, &[0x1240_0001, 0x2094, TARGET + 4]);
        let (bus, mapped) = (rig.at(TARGET + 4), rig.at(0x9_0004));
        let broadwater = chip.name == "g965";
        let want = if broadwater {
            (0x2_0045, 0)
        } else {
            (0, 0x2_0045)
        };
        assert_eq!((bus, mapped), want, "{chip:?}");
        // "UNDEFINED values" of PGTBL_CTL and fences.
        rig.run(RCS, &[0x1200_0001, 0x3000, TARGET]);
        assert_eq!(rig.gpu.lint_count(Rule::SrmForbidden), 1);
        // RING_CTL bit 8: no register writes (1.8).
        rig.set(0x203c, 0x101);
        rig.run(RCS, &[LRI, 0x2094, 1]);
        assert_eq!(rig.reg(0x2094), 0x2_0045);
    }
}

#[test]
fn what_a_program_may_not_on_g45() {
    // 1.5.2: dropped, and an error is flagged; the batch goes on. G-15: bits 4 and 3 of EIR.
    let cases: &[(&[u32], u32)] = &[
        (&[LRI, 0x2094, 0x77], 1 << 3),
        (&[0x1180_0001, 0x90 << 12, 0x9_9001], 1 << 3),
        (&[0x0400_0000], 1 << 3),
        (&[0x0a00_0001, 0, TARGET], 1 << 3),
        (&[STORE, 0, TARGET, 7], 1 << 4),
        (&[STORE_PHYSICAL, 0, TARGET, 7], 1 << 4),
        (&[INDEX, 0x100, 7], 1 << 4),
        (&[0x1240_0001, 0x2094, TARGET], 1 << 4),
    ];
    for chip in G4X {
        for (command, bit) in cases {
            let rig = Rig::new(chip);
            rig.unmask_interrupts();
            rig.set(0x20b4, 0);
            rig.put(TARGET, &[0xaa]);
            rig.put(STATUS + 0x100, &[0xaa]);
            rig.set(0x2094, 0x11);
            let mut all = command.to_vec();
            all.push(0x0040_0000 | 0x22);
            rig.batch(START_NS, &all);
            assert_eq!(rig.at(TARGET), 0xaa, "{command:x?}");
            assert_eq!(rig.at(STATUS + 0x100), 0xaa, "{command:x?}");
            assert_eq!(rig.gpu.gtt_read(0x90), 0x9_0001);
            assert_eq!(rig.reg(0x2094), 0x22, "the next one ran");
            assert_eq!(rig.reg(0x20b0), *bit, "{command:x?}");
            assert_eq!(rig.reg(0x20a4), 1 << 15);
            // Not an error that stays (5.7.3).
            rig.set(0x20b0, *bit);
            assert_eq!(rig.reg(0x20b0), 0);
            assert_eq!(rig.gpu.client_lints(), vec![(Rule::Privilege, 1)]);
            // The same from a secure batch, and from the ring.
            rig.batch(START, command);
            assert_eq!(rig.reg(0x20b0), 0, "{command:x?}");
        }
    }
}

#[test]
fn what_a_program_may_not_on_965() {
    // 5.3.7.6: a store to a physical address is a Command Error, and "the CP can be reactivated only by a full reset".
    for chip in I965 {
        let rig = Rig::new(chip);
        rig.set(0x20b4, 0);
        rig.put(BATCH, &[STORE_PHYSICAL, 0, TARGET, 7, END]);
        rig.submit(RCS, &[START_NS, BATCH]);
        rig.gpu.run_until_idle(100);
        assert_eq!(rig.at(TARGET), 0);
        assert_eq!(rig.reg(0x20b0), 1);
        assert_eq!(rig.reg(0x2068), STORE_PHYSICAL);
        assert_eq!(rig.reg(0x2064) & 2, 2, "its origin: a batch");
        assert_eq!(rig.gpu.step(RCS), StepResult::Stopped);
        rig.set_reset_byte(1);
        rig.set_reset_byte(0);
        rig.enable_table();
        rig.start_ring(RCS);
        // "Graphics engines will only write to graphics memory": such a store is done. 1.8: no register is loaded.
        rig.batch(START_NS, &[STORE, 0, TARGET, 8, LRI, 0x2094, 5]);
        assert_eq!((rig.at(TARGET), rig.reg(0x2094)), (8, 0));
        assert_eq!(rig.reg(0x20b0), 0);
    }
}

#[test]
fn entries_by_command() {
    // 1.19: in order, from G45 on; "[DevBW] and [DevCL]: This is not a legal command".
    let rig = Rig::new(&GM45);
    rig.run(
        RCS,
        &[
            FLUSH,
            0x1180_0002,
            0x90 << 12,
            0xa_0001,
            0xb_0001,
            0,
            STORE,
            0,
            0x9_1004,
            6,
        ],
    );
    assert_eq!(
        (rig.gpu.gtt_read(0x90), rig.gpu.gtt_read(0x91)),
        (0xa_0001, 0xb_0001)
    );
    assert_eq!(rig.at(0xb_0004), 6);
    rig.clean();
    // The per-process table's are for run lists, which are off.
    rig.run(RCS, &[0x11c0_0001, 0x90 << 12, 0xc_0001]);
    assert_eq!(rig.gpu.lint_count(Rule::ProcessTable), 1);
    assert_eq!(rig.gpu.gtt_read(0x90), 0xa_0001);
    for header in [0x1180_0001, 0x0400_0000, 0x1280_0000, 0x0300_0000] {
        let rig = Rig::new(&GM965);
        rig.submit(RCS, &[header, 0, 0, 0]);
        rig.gpu.run_until_idle(10);
        assert_eq!(rig.gpu.step(RCS), StepResult::Stopped, "{header:08x}");
    }
}

#[test]
fn the_per_process_table_stays_off() {
    // GTT-09: PGTBL_CTL2; GFX_MODE bit 9 (G-17).
    let rig = Rig::new(&G45);
    rig.set(0x20c4, 0);
    // PGTBL_STR2 (4.6.1) chooses between tables of which there is one.
    rig.set(0x20c8, 0x3f);
    assert_eq!(rig.reg(0x20c8), 0x3f);
    rig.clean();
    rig.set(0x20c4, 1);
    rig.set(0x2520, 0x0200_0200);
    assert_eq!(rig.gpu.lint_count(Rule::ProcessTable), 2);
    rig.run(RCS, &[STORE, 0, TARGET, 7]);
    assert_eq!(rig.at(TARGET), 7);
}

#[test]
fn condition_codes() {
    // 1.21: 12:9, one of five; the ring is held while its bit of EXCC (2028h, masked) is set.
    let rig = Rig::new(&G965);
    rig.set(0x2028, 0x0004_0004);
    rig.submit(RCS, &[0x0180_0000 | 3 << 9, 0, STORE, 0, TARGET, 1]);
    rig.settle();
    assert_eq!(rig.at(TARGET), 0);
    assert_eq!(rig.reg(0x203c), 1 | 1 << 11, "RB Wait (5.3.7.2)");
    rig.set(0x2028, 0x0004_0000);
    rig.settle();
    assert_eq!((rig.at(TARGET), rig.reg(0x203c)), (1, 1));
    rig.clean();
    // "6h-15h reserved".
    rig.run(RCS, &[0x0180_0000 | 6 << 9]);
    assert_eq!(rig.gpu.lint_count(Rule::Reserved), 1);
    // A wait that is cancelled (5.3.7.2; G-05: bit 11 is written).
    let rig = Rig::new(&G45);
    rig.set(0x2028, 0x0001_0001);
    rig.submit(RCS, &[0x0180_0000 | 1 << 9, 0, STORE, 0, TARGET, 1]);
    rig.settle();
    assert_eq!(rig.at(TARGET), 0);
    rig.set(0x203c, 1 | 1 << 11);
    rig.settle();
    assert_eq!(rig.at(TARGET), 1);
}

#[test]
fn blits_ride_the_render_ring() {
    // 8.9.8; MIB-01.
    for chip in ALL {
        let rig = Rig::new(chip);
        let mut all = fill(TARGET, 64, (1, 3), (0, 2), 0x1234_5678).to_vec();
        all.push(FLUSH);
        rig.run(RCS, &all);
        let row = |y: u32| [0, 4, 8, 12].map(|x| rig.at(TARGET + 64 * y + x));
        assert_eq!(row(0), [0, 0x1234_5678, 0x1234_5678, 0]);
        assert_eq!(row(1), [0, 0x1234_5678, 0x1234_5678, 0]);
        assert_eq!(row(2), [0; 4]);
        rig.clean();
    }
    // X tiles: pitch in dwords, 512 bytes at least (8.10.2). Row 1 of a tile is 512 bytes on.
    let rig = Rig::new(&G45);
    let mut all = fill(TARGET, 128, (0, 1), (0, 2), 7).to_vec();
    all[0] |= 1 << 11;
    all.push(FLUSH);
    rig.run(RCS, &all);
    assert_eq!((rig.at(TARGET), rig.at(TARGET + 512)), (7, 7));
    rig.clean();
    // An unmapped destination: the render cache's stream (G-07).
    rig.gpu.gtt_write(TARGET >> 12, 0);
    let mut all = fill(TARGET, 64, (0, 1), (0, 1), 7).to_vec();
    all.insert(0, FLUSH);
    rig.run(RCS, &all);
    assert_eq!(rig.reg(0x2024), 1 << 24);
}

#[test]
fn drawn_pixels_wait_in_the_render_cache() {
    // 5.3.10.1: MI_FLUSH without the inhibit bit, PIPE_CONTROL with the write flush, a sync flush, a change of the
    // engine, a context switch.
    let pixels = fill(TARGET, 64, (0, 1), (0, 1), 7);
    let flushes: &[(&[u32], bool)] = &[
        (&[FLUSH], true),
        (&[FLUSH | 1 << 2], false),
        (&[FLUSH | 1 << 1], true),
        (&[0x7a00_1002, 0, 0, 0], true),
        (&[0x7a00_3002, 0, 0, 0], false),
        (&[0x7a00_0002, 0, 0, 0], false),
        // 3DPRIMITIVE, of six dwords.
        (&[0x7b00_0004, 0, 0, 0, 0, 0], true),
        (&[0x0c00_0000, 0x6_0101, 0], true),
        (&[0, 0, USER], false),
    ];
    for (commands, reaches) in flushes {
        let rig = Rig::new(&G45);
        rig.run(RCS, &pixels);
        assert_eq!(rig.at(TARGET), 0);
        rig.run(RCS, commands);
        assert_eq!(rig.at(TARGET) == 7, *reaches, "{commands:x?}");
    }
    let rig = Rig::new(&G45);
    rig.run(RCS, &pixels);
    rig.set(0x20c0, 0x0020_0020);
    assert_eq!(rig.at(TARGET), 7, "a sync flush");
    // A reset loses them.
    let rig = Rig::new(&G45);
    rig.run(RCS, &pixels);
    rig.set_reset_byte(5);
    rig.start_ring(RCS);
    rig.run(RCS, &[FLUSH]);
    assert_eq!(rig.at(TARGET), 0);
}

#[test]
fn the_blitter_sees_what_it_has_drawn() {
    // 8.6: colour operands go through the render cache: XY_SRC_COPY_BLT (8.9.15) of a pixel just drawn.
    let rig = Rig::new(&G965);
    rig.run(RCS, &fill(TARGET, 64, (0, 1), (0, 1), 7));
    rig.run(
        RCS,
        &[
            0x54f0_0006,
            0x03cc_0040,
            0,
            1 << 16 | 1,
            TARGET + 0x1000,
            0,
            64,
            TARGET,
            FLUSH,
        ],
    );
    assert_eq!(rig.at(TARGET + 0x1000), 7);
    rig.clean();
}

#[test]
fn translations_of_the_blitter_are_stale_until_a_flush() {
    // 5.3.10.5: render and blitter by MI_FLUSH, the command stream by the write of an entry.
    for flush in [false, true] {
        let rig = Rig::new(&GM45);
        rig.run(RCS, &fill(TARGET, 64, (0, 1), (0, 1), 7));
        rig.run(RCS, &[STORE, 0, TARGET + 0x20, 1]);
        rig.gpu.gtt_write(TARGET >> 12, 0x9_0001);
        if flush {
            // Even one that leaves the render cache alone.
            rig.run(RCS, &[FLUSH | 1 << 2]);
        }
        rig.run(RCS, &fill(TARGET, 64, (2, 3), (0, 1), 9));
        rig.run(RCS, &[STORE, 0, TARGET + 0x24, 2, FLUSH]);
        assert_eq!(rig.at(0x9_0024), 2, "the stream sees the new page");
        let (old, new) = (rig.at(TARGET + 8), rig.at(0x9_0008));
        assert_eq!((old, new), if flush { (0, 9) } else { (9, 0) });
    }
}

#[test]
fn statistics_are_reset_by_a_flush() {
    // 1.7: bit 3; not PS_DEPTH_COUNT.
    let rig = Rig::new(&G45);
    rig.set(0x2320, 5);
    rig.set(0x2350, 6);
    rig.run(RCS, &[FLUSH]);
    assert_eq!(rig.reg(0x2320), 5);
    rig.run(RCS, &[FLUSH | 1 << 3]);
    assert_eq!((rig.reg(0x2320), rig.reg(0x2350)), (0, 6));
    rig.clean();
}

#[test]
fn pipe_control_stores_and_notifies() {
    // G-24: four dwords, flags in the header; bit 14 a store, bit 2 of the address the global table; 5.4.8.
    for chip in ALL {
        let rig = Rig::new(chip);
        rig.unmask_interrupts();
        rig.run(RCS, &[0x7a00_4102, TARGET | 4, 0x11, 0x22]);
        assert_eq!((rig.at(TARGET), rig.at(TARGET + 4)), (0x11, 0x22));
        assert_eq!(rig.reg(0x20a4), 1 << 18);
        rig.clean();
    }
}

#[test]
fn snooped_pages() {
    // 4.6.1: rings, batches and contexts are unsnooped; targets of stores and of the blitter may be either. 4.3.1: the
    // aperture does not reach a snooped page.
    let rig = Rig::new(&G45);
    rig.gpu.gtt_write(TARGET >> 12, TARGET | 7);
    rig.gpu.gtt_write(STATUS >> 12, STATUS | 7);
    rig.run(RCS, &[STORE, 0, TARGET, 1, INDEX, 0x100, 2]);
    rig.run(RCS, &fill(TARGET, 64, (1, 2), (0, 1), 9));
    rig.run(RCS, &[FLUSH]);
    assert_eq!(
        [TARGET, TARGET + 4, STATUS + 0x100].map(|at| rig.at(at)),
        [1, 9, 2]
    );
    rig.clean();
    rig.gpu.aperture_read(TARGET, &mut [0; 4]);
    assert_eq!(rig.gpu.lint_count(Rule::SnoopedAperture), 1);
    rig.gpu.gtt_write(BATCH >> 12, BATCH | 7);
    rig.batch(START, &[0]);
    assert!(rig.gpu.lint_count(Rule::SnoopedStream) > 0);
}

#[test]
fn a_real_gm45s_requests() {
    // GW40: FLUSH, NOOP, BATCH_BUFFER_START, FLUSH, NOOP, STORE_DATA_INDEX, USER_INTERRUPT. GW45 to GW54: what its
    // batch begins with.
    let rig = Rig::new(&GM45);
    rig.unmask_interrupts();
    let batch: &[u32] = &[
        0x6904_0000,
        0x7909_0000,
        0,
        0x6102_0000,
        0,
        0x680b_0000,
        0x6101_0004,
        1,
        1,
        1,
        1,
        1,
        0x7801_0004,
        0,
        0,
        0,
        0,
        0x7ea0,
        0x7901_0003,
        0,
        0,
        0,
        0,
        0x7905_0004,
        0x2c08_0fff,
        0,
        0x17f8_ffc0,
        0,
        0,
        0x7800_0005,
        0,
        0,
        1,
        0,
        0,
        0,
        0x6000_3f01,
        0x0a42_4080,
        0x1800_00c4,
        0x6001_0000,
        0x24,
        0x7900_0002,
        0,
        0x02ff_03ff,
        0,
        0x6002_0100,
        2,
        0x7b00_3804,
        4,
        0,
        1,
        0,
        0,
    ];
    rig.put(BATCH, batch);
    rig.put(BATCH + 4 * batch.len() as u32, &[END]);
    rig.run(
        RCS,
        &[
            0x0200_0026,
            0,
            START_NS,
            BATCH,
            0x0200_0024,
            0,
            INDEX,
            0x80,
            0xc_9558,
            USER,
        ],
    );
    assert_eq!(rig.at(STATUS + 0x80), 0xc_9558);
    assert_eq!(rig.reg(0x20a4), 2);
    assert_eq!(rig.gpu.counter(Counter::SkippedCommands), 14);
    rig.clean();
    // Places of the elder: PIPELINE_SELECT is at 6104h there, and 6904h is none of its commands.
    let rig = Rig::new(&G965);
    rig.run(RCS, &[0x6104_0000, 0x780b_0000]);
    rig.clean();
    rig.submit(RCS, &[0x6904_0000, 0]);
    rig.gpu.run_until_idle(10);
    assert_eq!(rig.gpu.step(RCS), StepResult::Stopped);
}

#[test]
fn a_reset_forgets_the_setup() {
    // 8.10.1: the tiling enable resets to zero. XY_SETUP_BLT with X tiles (8.9.1); then XY_PIXEL_BLT of row 1 (8.9.4),
    // which after a reset has nothing to draw with.
    let rig = Rig::new(&G45);
    let setup = [
        0x4070_0806,
        0x03f0_0080,
        0,
        16 << 16 | 16,
        TARGET,
        0x11,
        0,
        0,
    ];
    rig.run(RCS, &setup);
    rig.set_reset_byte(5);
    rig.start_ring(RCS);
    rig.run(RCS, &[0x4900_0000, 1 << 16, FLUSH]);
    assert_eq!([TARGET + 512, TARGET + 64 * 8].map(|at| rig.at(at)), [0, 0]);
    assert!((TARGET..TARGET + 0x2000)
        .step_by(4)
        .all(|at| rig.at(at) == 0));
}

#[test]
fn fences_are_for_the_cpu_alone() {
    // 4.5.4.1: masked for internal clients. Bits 11:2 of the low half are the pitch (G-12).
    let rig = Rig::with(RingConfig::of(&GM965));
    rig.set(0x3004, 0x0008_7000);
    rig.set(0x3000, TARGET | 7 << 2 | 1);
    // Pitch 1024: the second tile's first row is at 512 of the surface, and 4096 of memory.
    rig.gpu.aperture_write(TARGET + 512, &[5]);
    assert_eq!(rig.at(TARGET + 4096), 5);
    rig.run(RCS, &[STORE, 0, TARGET + 512, 6]);
    assert_eq!(rig.at(TARGET + 512), 6);
    rig.clean();
    // "Fences must not overlap"; X walks go by 512 bytes.
    rig.set(0x300c, 0x0008_7000);
    rig.set(0x3008, TARGET | 7 << 2 | 1);
    assert_eq!(rig.gpu.lint_count(Rule::FenceOverlap), 1);
    rig.set(0x3010, 0x9_0000 | 1);
    assert_eq!(rig.gpu.lint_count(Rule::FencePitch), 1);
}
