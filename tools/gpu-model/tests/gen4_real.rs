// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Habits of real machines on the modelled Gen4 chips: what firmware or a kernel before has left, what is late. None
//! of it is in the document; each is what upstream takes care of (`src/ring/real.rs`).

use crate::gen4_rig::*;
use gpu_model::ring::chip::{Chip, G45, G965, GM45, GM965};
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{RingConfig, StepResult};

fn config(chip: &'static Chip, habits: &str) -> RingConfig {
    RingConfig {
        real: habits.parse().expect("habits"),
        ..RingConfig::of(chip)
    }
}

/// Bus mastering on (PCI 3.0 6.2.2).
fn master(rig: &Rig) {
    rig.gpu.config_write_at(4, &[7, 0]);
}

#[test]
fn all_of_them_and_a_driver_that_minds() {
    for chip in ALL {
        let rig = Rig::found(config(chip, "all"));
        // GW02: what a machine in use has enabled. Upstream masks, disables, clears.
        assert!(rig.level());
        rig.set(0x20a8, !0);
        rig.set(0x20a0, 0);
        rig.set(0x20a4, !0);
        rig.set(0x20a4, !0);
        assert!(!rig.level());
        let late = |done: &dyn Fn() -> bool| {
            assert!(!done(), "late");
            let now = rig.gpu.clock().now();
            rig.gpu.clock().advance_to(now + 50_000);
            assert!(done());
        };
        if rig.g4x {
            let gate = rig.reg(0x620c);
            rig.set(0x620c, gate | 1 << 4);
            rig.set_reset_byte(0x0d);
            late(&|| rig.reset_byte() & 1 == 0);
            rig.set_reset_byte(0x05);
            late(&|| rig.reset_byte() & 1 == 0);
            rig.set_reset_byte(0);
            rig.set(0x620c, gate);
        } else {
            rig.set(0x203c, 0);
        }
        master(&rig);
        rig.set(0x1_4d68, rig.reg(0x1_4d68) | 0xd);
        for page in 0x300..(MEMORY as u32 / 4096) {
            rig.gpu.gtt_write(page, (page - 0x300) << 12 | 1);
        }
        if !rig.g4x {
            rig.enable_table();
        }
        rig.set(0x2180, 0);
        rig.set(0x2080, if rig.g4x { 0x34_0000 } else { STATUS });
        rig.set(0x2038, 0x31_0000);
        rig.set(0x2034, 0);
        assert_eq!(rig.reg(0x2034), 0);
        rig.set(0x2030, 0);
        rig.set(0x203c, 1);
        rig.put(RING, &[INDEX, 0x100, 7, USER, 0x0c00_0000, 0x36_0101, 0, 0]);
        rig.set(0x2030, 32);
        rig.settle();
        assert_eq!(rig.at(STATUS + 0x100), 7, "{chip:?}");
        rig.clean();
    }
}

#[test]
fn interrupts_that_are_cleared_are_no_storm() {
    // A hundred messages for a source that is not cleared are one.
    for (clears, storms) in [(true, 0), (false, 1)] {
        let rig = Rig::with(config(&GM45, "pending"));
        rig.set(0x20a0, 1 << 1);
        rig.set(0x20a8, !(1 << 1));
        rig.set(0x20a4, !0);
        for _ in 0..150 {
            rig.run(RCS, &[USER]);
            assert!(rig.level());
            if clears {
                rig.set(0x20a4, 1 << 1);
            } else {
                rig.set(0x20a0, 0);
                rig.set(0x20a0, 1 << 1);
            }
        }
        assert_eq!(rig.gpu.lint_count(Rule::IrqStorm), storms);
    }
}

#[test]
fn the_ring_runs_before_anybody_has_started_it() {
    let rig = Rig::found(config(&G45, "running"));
    assert_eq!(rig.reg(0x203c), 0x0001_f001);
    assert_eq!(rig.gpu.step(RCS), StepResult::Stopped, "DMA is not allowed");
    master(&rig);
    assert_eq!(rig.gpu.lint_count(Rule::DmaBeforeReset), 1);
    let rig = Rig::found(config(&G45, "running"));
    rig.set_reset_byte(5);
    master(&rig);
    rig.clean();
    // 965: no reset is needed for this.
    let rig = Rig::found(config(&G965, "running"));
    master(&rig);
    rig.clean();
}

#[test]
fn a_picture_that_firmware_has_left() {
    for chip in [&GM45, &G965] {
        let rig = Rig::found(config(chip, "lit"));
        assert_eq!(rig.reg(0x7_0008), 0xc000_0000, "pipe A");
        assert_eq!(rig.reg(0x7_0180) >> 31, 1, "plane A");
        // G-27: stolen memory of 32 MB is code 5 in 7:4 of 52h, its base at 5Ch. Unsnooped entries (G-08).
        assert_eq!(rig.config(0x50) >> 20 & 0xf, 5);
        assert_eq!(rig.gpu.gtt_read(0), rig.config(0x5c) | 1);
        rig.clean();
        rig.gpu.gtt_write(0, 0x1001);
        rig.reg(0x2094);
        assert_eq!(rig.gpu.lint_count(Rule::ScanoutLost), 1);
        // A full reset takes it along (G-20); one of the render domain does not.
        let rig = Rig::found(config(chip, "lit"));
        let on = rig.g4x;
        rig.set_reset_byte(if on { 5 } else { 1 });
        rig.set_reset_byte(0);
        assert_eq!(rig.reg(0x7_0008) >> 31, u32::from(on));
    }
}

#[test]
fn the_picture_of_965_needs_the_table() {
    // 4.6: with the table off memory is for "processor Read, Cursor and VGA clients", and plane A is none of these.
    let rig = Rig::found(config(&G965, "lit"));
    assert_eq!(rig.reg(0x2020), 0xbfa0_0001);
    rig.gpu.clock().advance_to(17_000_000);
    rig.reg(0x2094);
    rig.clean();
    rig.set(0x2020, 0xbfa0_0000);
    rig.gpu.clock().advance_to(34_000_000);
    rig.reg(0x2094);
    assert_eq!(rig.gpu.lint_count(Rule::TableOff), 1);
    // G-07: display A.
    assert_eq!(rig.reg(0x2024), 1 << 4);
}

#[test]
fn a_reset_that_loses_where_the_table_is() {
    let rig = Rig::with(config(&GM965, "lost_base"));
    assert_eq!(rig.reg(0x2020), 0xbfa0_0001);
    rig.set_reset_byte(1);
    rig.set_reset_byte(0);
    assert_eq!(rig.reg(0x2020), 0);
    rig.clean();
    rig.enable_table();
    assert_eq!(rig.gpu.lint_count(Rule::TableMoved), 1);
    rig.set(0x2020, 0xbfa0_0001);
    rig.start_ring(RCS);
    rig.run(RCS, &[STORE, 0, TARGET, 7]);
    assert_eq!(rig.at(TARGET), 7);
    assert_eq!(rig.gpu.lint_count(Rule::TableMoved), 1);
}

#[test]
fn a_context_of_a_driver_before() {
    // 5.8.1.2, step 1: "If the CCID contents are valid, a context save operation will be performed." 5.8.1.1: "The
    // initial values of the CCIDs are UNDEFINED", and 5.9 has no CCID. G-16: bit 0 is valid, 2 and 3 the extended part;
    // bit 8: a graphics address (1.15).
    let image = |rig: &Rig, at: u32| (0..768).any(|i| rig.at(at + 4 * i) != 0);
    let saved = |rig: &Rig| {
        rig.run(RCS, &[0x0c00_0000, 0x6_0101, 0]);
        rig.gpu.lint_count(Rule::OldContextSaved)
    };
    for chip in ALL {
        let rig = Rig::with(config(chip, "old_context"));
        assert_eq!(rig.reg(0x2180), 0x38_d10d);
        // Its page is another's by now.
        rig.gpu.gtt_write(0x38d, 0x9_0001);
        assert_eq!(saved(&rig), 1, "{chip:?}");
        assert!(image(&rig, 0x9_0000) && !image(&rig, 0x38_d000));
        assert_eq!(rig.reg(0x2180), 0x6_0101);
        // The next one is the driver's own.
        rig.run(RCS, &[0x0c00_0000, 0x6_2101, 0]);
        assert_eq!(saved(&rig), 1);
        // Nothing is mapped there.
        let rig = Rig::with(config(chip, "old_context"));
        rig.gpu.gtt_write(0x38d, 0);
        assert_eq!(saved(&rig), 1);
        assert_eq!(rig.reg(0x2024), 1 << 19, "the command streamer (G-07)");
    }
}

#[test]
fn a_context_of_a_driver_before_is_cleared() {
    let image = |rig: &Rig| (0..768).any(|i| rig.at(0x38_d000 + 4 * i) != 0);
    for chip in ALL {
        let rig = Rig::bare(config(chip, "old_context"));
        rig.set(0x2180, 0);
        rig.start_ring(RCS);
        rig.run(RCS, &[0x0c00_0000, 0x6_0101, 0]);
        assert!(!image(&rig), "{chip:?}");
        rig.clean();
        // A reset alone leaves it; once CCID is the driver's, a reset makes it invalid.
        let rig = Rig::found(config(chip, "old_context"));
        let reset = if rig.g4x { 5 } else { 1 };
        let ccid = || {
            rig.set_reset_byte(reset);
            rig.set_reset_byte(0);
            rig.reg(0x2180)
        };
        assert_eq!(ccid(), 0x38_d10d);
        rig.set(0x2180, 0x6_0101);
        assert_eq!(ccid() & 1, 0);
        // Without the habit it is invalid from the start.
        assert_eq!(Rig::new(chip).reg(0x2180) & 1, 0);
    }
}

#[test]
fn bits_that_firmware_has_set() {
    let rig = Rig::found(config(&G45, "bits"));
    rig.set(0x620c, rig.reg(0x620c) | 1 << 4);
    rig.clean();
    rig.set(0x620c, 1 << 4);
    assert_eq!(rig.gpu.lint_count(Rule::BitsLost), 1);
}

#[test]
fn a_late_reset_of_965() {
    // Bit 1 follows bit 0, both ways.
    let rig = Rig::new(&G965);
    rig.set_reset_byte(1);
    assert_eq!(rig.reset_byte() & 2, 2);
    let rig = Rig::with(config(&G965, "late_reset"));
    for (write, shows) in [(1, 2), (0, 0)] {
        rig.set_reset_byte(write);
        assert_ne!(rig.reset_byte() & 2, shows);
        let now = rig.gpu.clock().now();
        rig.gpu.clock().advance_to(now + 49_000);
        assert_ne!(rig.reset_byte() & 2, shows);
        rig.gpu.clock().advance_to(now + 50_000);
        assert_eq!(rig.reset_byte() & 2, shows);
    }
    rig.clean();
}
