// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What a driver meets first on the modelled Gen4 chips: ids, BARs, configuration space, page table, reset.

use crate::gen4_rig::*;
use gpu_model::counters::Counter;
use gpu_model::fault::Fault;
use gpu_model::memory::VecMemory;
use gpu_model::model::{build, NoIrq, Options, NAMES};
use gpu_model::ring::chip::{G45, G965, GM45, GM965};
use gpu_model::ring::lint::Rule;
use gpu_model::ring::RingConfig;
use std::sync::Arc;

#[test]
fn ids_and_bars() {
    // G-01, G-02: 965 has its entries at 512 KB of BAR0, G45 and GM45 at 2 MB.
    for (name, id, bar0, table) in [
        ("g45", 0x2e22u32, 4u64 << 20, 2u64 << 20),
        ("gm45", 0x2a42, 4 << 20, 2 << 20),
        ("g965", 0x29a2, 1 << 20, 512 << 10),
        ("gm965", 0x2a02, 1 << 20, 512 << 10),
    ] {
        assert!(NAMES.contains(&name));
        let memory = Arc::new(VecMemory::new(1 << 20));
        let model = build(name, Options::default(), memory, Arc::new(NoIrq))
            .expect("there is one")
            .expect("made");
        let mut word = [0; 4];
        model.config_read(0, &mut word);
        assert_eq!(u32::from_le_bytes(word), id << 16 | 0x8086);
        // Class 0380h keeps the early quirk away (peer digest B).
        model.config_read(8, &mut word);
        assert_eq!(u32::from_le_bytes(word) >> 8, 0x03_8000);
        let regions = model.regions();
        assert_eq!(regions[0].size, bar0, "{name}");
        let shared = regions[0].shared.as_ref().expect("entries");
        assert_eq!(shared.offset, table, "{name}");
        assert_eq!(regions[1].size, 256 << 20);
        // G-14: INTx alone.
        assert!(!model.has_msi());
        let mut status = [0; 1];
        model.config_read(0x34, &mut status);
        assert_eq!(status[0], 0xd0, "no capability of messages");
        // A register and an entry by the bus.
        model.bar_write(0, 0x2094, &5u32.to_le_bytes());
        model.bar_read(0, 0x2094, &mut word);
        assert_eq!(word, [5, 0, 0, 0]);
        model.bar_write(0, table + 8, &0x1234_5001u32.to_le_bytes());
        model.bar_read(0, table + 8, &mut word);
        assert_eq!(u32::from_le_bytes(word), 0x1234_5001);
    }
}

#[test]
fn mobile_chips_say_the_displays_clock() {
    // Upstream (GCFGC, HPLLVCO): word f0h, 12:8 less one is 0 to 2, and choose a divisor of the PLL that 10c0fh names.
    for (chip, word) in [(&GM965, 0x0100), (&GM45, 0x0100), (&G965, 0), (&G45, 0)] {
        let rig = Rig::new(chip);
        assert_eq!(rig.config(0xf0) & 0xffff, word, "{}", chip.name);
        assert_eq!(rig.reg(0x1_0c0c) >> 24, 0, "{}", chip.name);
    }
}

#[test]
fn every_product_of_a_class() {
    // G-01.
    let mut all: Vec<u16> = ALL.iter().flat_map(|c| c.ids).copied().collect();
    all.sort_unstable();
    assert_eq!(
        all,
        [
            0x2972, 0x2982, 0x2992, 0x29a2, 0x2a02, 0x2a12, 0x2a42, 0x2e02, 0x2e12, 0x2e22, 0x2e32,
            0x2e42, 0x2e92
        ]
    );
}

#[test]
fn size_of_the_table() {
    // G-06: PGTBL_CTL 3:1: 0 is 512 KB, 3 is 1 MB.
    for (chip, code, entries) in [
        (&G45, 3, 0x4_0000),
        (&GM45, 3, 0x4_0000),
        (&G965, 0, 0x2_0000),
    ] {
        let rig = Rig::found(RingConfig::of(chip));
        assert_eq!(rig.reg(0x2020) >> 1 & 7, code);
        rig.gpu.gtt_write(entries - 1, 0x1001);
        assert_eq!(rig.gpu.gtt_read(entries - 1), 0x1001);
        rig.gpu.gtt_write(entries, 0x1001);
        assert_eq!(rig.gpu.gtt_read(entries), 0, "{chip:?}");
        rig.clean();
    }
    // 4.4: apertures of 64 to 512 MB.
    for mb in [64, 128, 512] {
        let options = Options {
            aperture_mb: Some(mb),
            ..Options::default()
        };
        let memory = Arc::new(VecMemory::new(1 << 20));
        let model = build("g45", options, memory, Arc::new(NoIrq));
        let regions = model.expect("there is one").expect("made").regions();
        assert_eq!(regions[1].size, u64::from(mb) << 20);
    }
}

#[test]
fn the_table_of_965_must_be_switched_on() {
    // 4.6, 5.9; G-06: not on G45.
    let rig = Rig::bare(RingConfig::of(&G965));
    rig.set(0x2020, 0);
    rig.start_ring(RCS);
    rig.submit(RCS, &[USER]);
    rig.gpu.run_until_idle(10);
    assert!(rig.gpu.lint_count(Rule::TableOff) > 0);
    // G-15, G-07: the page table's error is bit 4 of 965's EIR, and the command fetch bit 20 of PGTBL_ER.
    rig.set(0x20b4, 0);
    assert_eq!(rig.reg(0x20b0), 1 << 4);
    assert_eq!(rig.reg(0x2024), 1 << 20);
    // 5.7.3: "Page Table Errors cannot be cleared".
    rig.set(0x20b0, 1 << 4);
    rig.set(0x2024, 0);
    assert_eq!((rig.reg(0x20b0), rig.reg(0x2024)), (1 << 4, 1 << 20));
    rig.set_reset_byte(1);
    rig.set_reset_byte(0);
    assert_eq!((rig.reg(0x20b0), rig.reg(0x2024)), (0, 0));

    let rig = Rig::bare(RingConfig::of(&G45));
    assert_eq!(rig.reg(0x2020) & 1, 0);
    rig.start_ring(RCS);
    rig.run(RCS, &[STORE, 0, TARGET, 7]);
    assert_eq!(rig.at(TARGET), 7);
    rig.clean();
}

#[test]
fn writes_of_the_cpu_need_the_table_too() {
    // 5.9: "accesses other than CPU reads, cursor and VGA reads will generate an error".
    let rig = Rig::bare(RingConfig::of(&GM965));
    rig.set(0x2020, 0);
    rig.gpu.aperture_read(TARGET, &mut [0; 4]);
    rig.clean();
    rig.gpu.aperture_write(TARGET, &[1; 4]);
    assert_eq!(rig.gpu.lint_count(Rule::TableOff), 1);
    assert_eq!(rig.reg(0x2024), 1, "the host");
}

#[test]
fn where_firmware_has_put_the_table_of_965() {
    // 4.6: entries are "physically located in Main Memory", and the base is 4 KB aligned; PGTBL_CTL 31:12 and 7:4 are
    // the base, 3:1 the size, 0 the enable (G-06). Stolen memory is at bda00000h, 32 MB of it.
    for (chip, kb, code) in [(&G965, None, 0), (&GM965, Some(256), 1)] {
        let rig = Rig::found(RingConfig {
            gtt_kb: kb,
            ..RingConfig::of(chip)
        });
        let found = 0xbfa0_0000 | code << 1;
        assert_eq!(rig.reg(0x2020), found, "{chip:?}");
        rig.enable_table();
        // 5.9: "the GTT is disabled"; what firmware has put there is read back.
        rig.set_reset_byte(1);
        rig.set_reset_byte(0);
        assert_eq!(rig.reg(0x2020), found);
        rig.enable_table();
        rig.clean();
    }
    // G45 and GM45 do not use the register (G-06).
    assert_eq!(Rig::found(RingConfig::of(&G45)).reg(0x2020) >> 4, 0);
}

#[test]
fn the_table_of_965_enabled_elsewhere() {
    // 4.6: a base of zero makes what lies there page-table entries. A base that is not enabled does nothing.
    let rig = Rig::found(RingConfig::of(&G965));
    rig.set(0x2020, 0);
    rig.clean();
    for (base, moved) in [(1, 1), (0xbfa0_0011, 2), (0xbfa0_0001, 2)] {
        rig.set(0x2020, base);
        assert_eq!(rig.gpu.lint_count(Rule::TableMoved), moved, "{base:#x}");
    }
}

#[test]
fn entries_have_36_bits() {
    // G-08: 7:4 are address bits 35:32. Nothing answers there, so the access is an error and memory is not touched.
    let rig = Rig::new(&G45);
    rig.gpu.gtt_write(0x80, TARGET | 0x10 | 1);
    rig.run(RCS, &[STORE, 0, TARGET, 7]);
    assert_eq!(rig.at(TARGET), 0);
    assert_eq!(rig.gpu.counter(Counter::HighAccesses), 1);
    assert_eq!(rig.reg(0x2024) & 2, 2, "illegal memory (G-07)");
    rig.set(0x20b4, 0);
    assert_eq!(rig.reg(0x20b0), 1 << 5, "G-15: bit 5 on G45");
}

#[test]
fn an_invalid_entry_is_an_error() {
    // 5.7.2, table 5-3: "Invalid GTT PTE", all streams.
    let rig = Rig::new(&GM45);
    rig.gpu.gtt_write(0x80, 0);
    rig.run(RCS, &[STORE, 0, TARGET, 7]);
    assert_eq!(rig.reg(0x2024), 1 << 19, "the command streamer (G-07)");
    rig.gpu.aperture_read(TARGET, &mut [0; 4]);
    assert_eq!(rig.reg(0x2024), 1 << 19 | 1, "and the host");
    rig.gpu.gtt_write(0x80, TARGET | 1);
    rig.run(RCS, &[STORE, 0, TARGET, 8]);
    assert_eq!(rig.at(TARGET), 8, "an entry counts when it is written");
}

#[test]
fn state_after_a_reset() {
    // 5.9, for each of the ways to ask (G-20).
    for chip in ALL {
        let rig = Rig::new(chip);
        rig.unmask_interrupts();
        rig.set(0x20b4, 0);
        rig.set(0x2094, 0x3f);
        rig.set(0x20c0, 0x0008_0008);
        rig.set(0x3004, 0x0013_f000);
        rig.set(0x3000, 0x0010_0001 | 15 << 2);
        if rig.g4x {
            rig.set(0x620c, 1 << 4);
            rig.set_reset_byte(0x0d);
            assert_eq!(rig.reset_byte() & 1, 0, "done");
            assert_eq!(rig.reg(0x203c), 1, "media alone");
            assert_eq!(rig.reg(0x403c), 0);
            rig.set_reset_byte(0x05);
            assert_eq!(rig.reset_byte() & 1, 0);
            rig.set_reset_byte(0x00);
        } else {
            rig.set_reset_byte(1);
            assert_eq!(rig.reset_byte() & 3, 3, "in reset");
            rig.set_reset_byte(0);
            assert_eq!(rig.reset_byte() & 3, 0);
            // "The GTT is disabled", "all interrupts are disabled".
            assert_eq!(rig.reg(0x2020) & 1, 0);
            assert_eq!((rig.reg(0x20a0), rig.reg(0x20a8)), (0, !0));
            assert_eq!(rig.reg(0x20b4), !0);
        }
        for (offset, value) in [
            (0x203c, 0),
            (0x2080, 0x1fff_f000),
            (0x2098, !0),
            (0x3000, 0),
            (0x3004, 0),
            (0x206c, !0),
            (0x2094, 0),
            (0x20c0, 0),
        ] {
            assert_eq!(rig.reg(offset), value, "{chip:?} {offset:#x}");
        }
        rig.clean();
    }
}

#[test]
fn a_reset_that_does_not_come() {
    for chip in [&G45, &G965] {
        let rig = Rig::new(chip);
        rig.gpu
            .inject("stuck-reset".parse::<Fault>().expect("a fault"));
        let enable = if rig.g4x { 5 } else { 1 };
        rig.set_reset_byte(enable);
        // 965 does not say that it is in reset; G45 does not say that it is done.
        assert_eq!(rig.reset_byte() & 3, 1, "{chip:?}");
        assert_eq!(rig.reg(0x203c), 1, "nothing was reset");
        rig.set_reset_byte(0);
        rig.set_reset_byte(enable);
        assert_eq!(rig.reg(0x203c), 0);
    }
}

#[test]
fn the_media_domain_wants_its_clock() {
    // G-20: VDECCLK_GATE_D bit 4 first.
    let rig = Rig::new(&G45);
    rig.set_reset_byte(0x0d);
    assert_eq!(rig.gpu.lint_count(Rule::VideoClock), 1);
    // Domain 2 is reserved.
    rig.set_reset_byte(0x09);
    assert_eq!(rig.gpu.lint_count(Rule::Reserved), 1);
}

#[test]
fn the_capability_and_the_reset_byte_share_a_place() {
    // The byte at C0h is the chip's, the dword there the test capability's.
    let rig = Rig::new(&G965);
    assert_eq!(rig.config(0xb4), 0x4d55_5047);
    rig.set_reset_byte(1);
    assert_eq!(rig.reset_byte(), 3);
    assert_eq!(rig.config(0xc0), 0, "high half of a counter");
    // A write of a dword asks for no reset.
    let rig = Rig::new(&G965);
    rig.gpu.config_write_at(0xc0, &1u32.to_le_bytes());
    assert_eq!((rig.reset_byte(), rig.reg(0x203c)), (0, 1));
}

#[test]
fn channels_tell_swizzling() {
    // G-26: 965G and G45 compare the words at 10206h and 10606h; GM965 and GM45 say it in DCC 10200h, if bit 20 of
    // DCC2 10204h is set.
    for swizzle in [false, true] {
        for chip in ALL {
            let rig = Rig::found(RingConfig {
                swizzle,
                ..RingConfig::of(chip)
            });
            let half = |at: u32| rig.reg(at) >> 16;
            if chip.gen4.expect("of Gen4").mobile {
                assert_eq!(rig.reg(0x1_0204) >> 20 & 1, 1);
                let want = if swizzle { 2 | 1 << 10 } else { 0 };
                assert_eq!(rig.reg(0x1_0200) & 0x603, want);
            } else {
                assert_eq!(half(0x1_0204) == half(0x1_0604), swizzle);
            }
            // Peer digest B: not zero. Registers of the bridge are not to be written so.
            assert_ne!(rig.reg(0x1_0c00), 0);
            let before = rig.reg(0x1_0204);
            rig.set(0x1_0204, 0);
            assert_eq!(rig.reg(0x1_0204), before);
            rig.clean();
        }
    }
}

#[test]
fn memory_is_folded_for_the_cpu() {
    // G-26: X walks fold bits 9 and 10 into 6. Row 1 of an X tile is byte 512 of it: bit 9 is set.
    let rig = Rig::bare(RingConfig {
        swizzle: true,
        ..RingConfig::of(&G45)
    });
    rig.set(0x3004, 0x0008_7000);
    rig.set(0x3000, TARGET | 3 << 2 | 1);
    rig.gpu.aperture_write(TARGET + 512, &[9]);
    assert_eq!(rig.at(TARGET + 512 + 64) & 0xff, 9);
    rig.clean();
}

#[test]
fn what_upstream_touches_on_g45() {
    // Peer digest I.2: 63 registers of the GT and 30 of the display; none of them is undocumented here.
    let rig = Rig::bare(RingConfig::of(&G45));
    let gt = [
        0x2020, 0x2024, 0x2030, 0x2034, 0x2038, 0x203c, 0x2064, 0x2080, 0x2098, 0x209c, 0x20a0,
        0x20a4, 0x20a8, 0x20b0, 0x20b4, 0x20e0, 0x2120, 0x2170, 0x21a0, 0x21d0, 0x4030, 0x4034,
        0x4038, 0x403c, 0x4080, 0x409c, 0x1_0204, 0x1_0604, 0x1_0c00, 0x1_0c38, 0x1_4d68,
    ];
    let fences = (0x3000..0x3080).step_by(4);
    let display = [
        0x5100, 0x5110, 0x6200, 0x6204, 0x6208, 0x620c, 0x6210, 0x6_1100, 0x6_1110, 0x6_1114,
        0x6_1140, 0x6_1160, 0x6_1204, 0x6_4300, 0x7_0008, 0x7_0024, 0x7_0034, 0x7_0038, 0x7_003c,
        0x7_0080, 0x7_00c0, 0x7_0180, 0x7_019c, 0x7_1008, 0x7_1024, 0x7_1180, 0x7_119c, 0x7_1400,
        0x7_2180, 0x7_3180,
    ];
    assert_eq!((gt.len() + 32, display.len()), (63, 30));
    for offset in gt.into_iter().chain(fences).chain(display) {
        let value = rig.reg(offset);
        rig.set(offset, value);
    }
    assert_eq!(rig.gpu.undocumented(), vec![]);
    // EIR reads zero, or upstream's error interrupt does not end (peer digest B).
    assert_eq!(rig.reg(0x20b0), 0);
    // CXT_SIZE: (value + 1) lines of 64 bytes, 16 KB at most (gen4-gen7 4).
    let bytes = (rig.reg(0x21a0) + 1) * 64;
    assert!((2048..=16384).contains(&bytes), "{bytes}");
}
