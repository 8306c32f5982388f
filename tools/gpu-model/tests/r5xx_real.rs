// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What real cards do and a kind one spares its driver: sleep, resets, pipes, what firmware left.
//!
//! Expected values are of digest §3.2 and §5.2, and of what the upstream driver reads and writes.

use crate::r5xx_rig::{config, Rig, TABLE};
use gpu_model::fault::{Fault, Kind};
use gpu_model::model::GpuModel;
use gpu_model::r5xx::{Real, Rule};

/// A card with one habit, not brought up.
fn with(habits: &str) -> Rig {
    let mut cfg = config("rv515");
    cfg.real = habits.parse().expect("habits");
    Rig::bare(cfg)
}

#[test]
fn habits_have_names() {
    let some: Real = "forgets,pipes".parse().expect("names");
    assert!(some.forgets && some.pipes && !some.master && !some.leftovers && !some.foreign);
    assert_eq!(some.to_string(), "forgets,pipes");
    assert_eq!("all".parse(), Ok(Real::all()));
    assert_eq!("".parse(), Ok(Real::default()));
    assert!("forgetful".parse::<Real>().is_err());
    assert_eq!(
        Real::all().to_string(),
        "forgets,master,pipes,leftovers,foreign,directed"
    );
}

/// S3 without ASIC_Init: CONFIG_MEMSIZE is 0 (digest §5.2: "counts as unposted"), the memory controller
/// is not set, memory keeps nothing, and a table in it is noise.
#[test]
fn a_card_out_of_sleep_is_not_posted() {
    for name in ["rv515", "rv530", "r520", "r580"] {
        let rig = Rig::bare(config(name));
        rig.put(TABLE as u32, &[0x0000_000c]);
        rig.gpu.inject(Fault::once(Kind::Unposted));
        rig.gpu.reset();
        assert_eq!((rig.reg(0xf8), rig.reg(0x108)), (0, 0), "{name}");
        let (location, control) = match name {
            "rv515" => (0x01, 0x05),
            _ => (0x04, 0x08),
        };
        assert_eq!((rig.mc(location), rig.mc(control)), (0, 0), "{name}");
        rig.put(TABLE as u32, &[0x0000_000c]);
        let reads = [rig.at(TABLE as u32), rig.at(TABLE as u32)];
        assert_ne!(reads, [0x0000_000c; 2], "{name}: it keeps nothing");
        assert_ne!(reads[0], reads[1], "{name}: noise");
        rig.clean();
        // The next one was posted.
        rig.gpu.reset();
        assert_eq!(rig.reg(0xf8), 16 << 20, "{name}");
        rig.put(TABLE as u32, &[0x0000_000c]);
        assert_eq!(rig.at(TABLE as u32), 0x0000_000c, "{name}");
    }
}

#[test]
fn a_gart_over_noise_is_told() {
    let rig = Rig::bare(config("rv515"));
    rig.gpu.inject(Fault::once(Kind::Unposted));
    rig.gpu.reset();
    rig.set_mc(0x01, 0x00ff_0000);
    rig.start_gart();
    assert_eq!(rig.gpu.lint_count(Rule::GartOverNoise), 1);
    // A posted one is not.
    rig.gpu.reset();
    rig.start_gart();
    assert_eq!(rig.gpu.lint_count(Rule::GartOverNoise), 1);
}

/// Bit 8 of RBBM_SOFT_RESET: MC_FB_LOCATION, the GART (PCIE 10 to 18), HOST_PATH_CNTL and
/// HDP_FB_LOCATION, the pipes.
#[test]
fn the_memory_controllers_reset_forgets() {
    let set_up = |rig: &Rig| {
        rig.start_gart();
        for (offset, value) in [
            (0x130, 1 << 23),
            (0x134, 0x10),
            (0x4274, 0xf),
            (0x42c8, 1),
            (0x4018, 0x11),
            (0x170c, 1 << 31),
            (0x3428, 1 << 8 | 1 << 17),
        ] {
            rig.set(offset, value);
        }
    };
    let rig = with("forgets");
    set_up(&rig);
    // Others do not.
    for block in [0x2004, 1] {
        rig.set(0xf0, block);
        rig.set(0xf0, 0);
    }
    assert_eq!((rig.pcie(0x10), rig.mc(0x01)), (7, 0x00ff_0000));
    rig.set(0xf0, 0x100);
    rig.set(0xf0, 0);
    assert_eq!(rig.mc(0x01), 0);
    for n in 0x10..=0x18 {
        assert_eq!(rig.pcie(n), 0, "{n:#x}");
    }
    assert_eq!((rig.reg(0x130), rig.reg(0x134)), (0, 0));
    // All pipes are asked (SU_REG_DEST resets to F), and the one in use is not known.
    assert_eq!((rig.reg(0x4274), rig.reg(0x42c8)), (0, 15));
    assert_eq!((rig.reg(0x170c), rig.reg(0x3428)), (0xc, 0));
    // It is the card's own memory that is forgotten, and not what is in it.
    assert_eq!(rig.at(TABLE as u32), 0x0000_000c);
    assert_eq!(rig.reg(0xf8), 16 << 20);

    let kind = with("");
    set_up(&kind);
    kind.set(0xf0, 0x100);
    kind.set(0xf0, 0);
    assert_eq!((kind.pcie(0x10), kind.mc(0x01)), (7, 0x00ff_0000));
}

#[test]
fn bus_mastering_is_off_during_resets() {
    let rig = with("master");
    let told = |rig: &Rig| rig.gpu.lint_count(Rule::ResetMastering);
    rig.gpu.config_write(4, &[6, 0]);
    // VAP and GA may be reset.
    rig.set(0xf0, 0x2004);
    rig.set(0xf0, 0);
    assert_eq!(told(&rig), 0);
    rig.set(0xf0, 1);
    assert_eq!(told(&rig), 1);
    rig.set(0xf0, 0);
    rig.set(0xf0, 0x100);
    assert_eq!(told(&rig), 2);
    rig.set(0xf0, 0);
    rig.gpu.config_write(4, &[2, 0]);
    rig.set(0xf0, 0x101);
    rig.set(0xf0, 0);
    assert_eq!(told(&rig), 2);
}

/// The order of the upstream driver (digest §5.2, "pipes"), which breaks no rule; then each wait left out.
#[test]
fn pipes_are_set_up_in_order() {
    let steps: [(&[(u32, u32)], bool); 3] = [
        (&[(0x4274, 0xf)], true),
        (&[(0x42c8, 1), (0x4018, 0x11)], true),
        (&[(0x170c, 1 << 31), (0x3428, 0x2_0100)], true),
    ];
    let run = |left_out: usize| {
        let rig = with("pipes");
        for (n, (writes, _)) in steps.iter().enumerate() {
            for (offset, value) in *writes {
                rig.set(*offset, *value);
            }
            if n != left_out {
                assert_eq!(rig.reg(0xe40) >> 31, 0);
            }
        }
        // The clocks of pipe 0, which is there and in use.
        rig.gpu.bar_write(2, 0x08, &[0x80 | 0x0d]);
        rig.set(0x0c, 1 | 1 << 4);
        rig
    };
    run(3).clean();
    for left_out in 0..3 {
        let rig = run(left_out);
        assert_eq!(rig.gpu.lint_count(Rule::PipesUnwaited), 1, "{left_out}");
    }
}

/// DST_PIPE_CONFIG 3:2 is the pipe in use; upstream reads it after it has set bit 31.
#[test]
fn the_pipe_in_use_is_known_once_it_is_looked_for() {
    let rig = with("pipes");
    assert_eq!(rig.reg(0x170c) >> 2 & 3, 3);
    let clocks = |value: u32| {
        rig.gpu.bar_write(2, 0x08, &[0x80 | 0x0d]);
        rig.set(0x0c, value);
    };
    clocks(1 << 3 | 1 << 4);
    assert_eq!(rig.gpu.lint_count(Rule::PipeClock), 1);
    rig.set(0x170c, 1 << 31);
    rig.reg(0xe40);
    assert_eq!(rig.reg(0x170c), 1 << 31);
    clocks(1 | 1 << 4);
    assert_eq!(rig.gpu.lint_count(Rule::PipeClock), 1);
    assert_eq!(rig.gpu.lint_count(Rule::PipesUnwaited), 0);
}

/// A draw of three vertices is queued and does not run: RBBM_STATUS 31 is set.
#[test]
fn pipes_are_not_set_up_under_a_draw() {
    let rig = with("pipes");
    rig.set(0x2084, 0x0003_0000 | 3 << 4 | 4);
    assert_eq!(rig.reg(0xe40) >> 31, 1);
    rig.set(0x4018, 0x11);
    assert_eq!(rig.gpu.lint_count(Rule::PipesBusy), 1);
}

/// A reset that is lost leaves the chip as busy as it was; after one that is not it is watched again.
#[test]
fn pipes_after_a_lost_reset() {
    let rig = with("pipes");
    rig.set(0x2084, 0x0003_0000 | 3 << 4 | 4);
    rig.gpu.inject(Fault::once(Kind::StuckReset));
    rig.set(0xf0, 1 << 2);
    rig.set(0xf0, 0);
    assert_eq!(rig.reg(0xe40) >> 31, 1);
    rig.set(0x4018, 0x11);
    assert_eq!(rig.gpu.lint_count(Rule::PipesBusy), 0);
    // The command processor alone: the draw goes on.
    rig.set(0xf0, 1);
    rig.set(0xf0, 0);
    rig.set(0x4018, 0x11);
    assert_eq!(rig.gpu.lint_count(Rule::PipesBusy), 1);
}

/// A status that is garbage does not show that the chip is busy; the next valid one is believed.
#[test]
fn pipes_after_a_status_that_is_garbage() {
    let rig = with("pipes");
    rig.set(0x2084, 0x0003_0000 | 3 << 4 | 4);
    rig.gpu.inject(Fault::once(Kind::GarbageRead));
    rig.reg(0xe40);
    rig.set(0x4274, 0xf);
    rig.set(0x4018, 0x11);
    assert_eq!(rig.gpu.lint_count(Rule::PipesBusy), 0);
    assert_eq!(rig.gpu.lint_count(Rule::PipesUnwaited), 0);
    assert_eq!(rig.reg(0xe40) >> 31, 1);
    rig.set(0x4018, 0x11);
    assert_eq!(rig.gpu.lint_count(Rule::PipesBusy), 1);
}

/// A table that is written while firmware's surface lies over it comes out in another order.
#[test]
fn a_table_under_firmwares_surface() {
    let rig = with("leftovers");
    assert_eq!(rig.reg(0xb00), 0);
    assert_ne!(rig.reg(0xb0c) >> 16 & 3, 0);
    // The second row of what the CPU sees: 4 KB on.
    rig.put(0x1000, &[0x1234_5678]);
    rig.set(0xb0c, 0);
    // A block of tiles has 16 bytes by 2 rows: it is 16 bytes from the first row.
    assert_eq!((rig.at(0x1000), rig.at(0x10)), (0, 0x1234_5678));
    rig.clean();
    // Switched on under a surface that is still there.
    let rig = with("leftovers");
    rig.set_pcie(0x13, 0x1000);
    rig.set_pcie(0x10, 7);
    assert_eq!(rig.gpu.lint_count(Rule::TableInSurface), 1);
}

/// VGA_MEMORY_BASE is 0 (0x310). Video memory moves away from there: legacy accesses would reach what the
/// GART maps. Either the base goes with it, or VGA_HDP_CONTROL bit 4 closes the window.
#[test]
fn the_vga_window_moves_with_memory() {
    let gart = |prepare: &dyn Fn(&Rig)| {
        let rig = with("leftovers");
        rig.set_mc(0x01, 0x20ff_2000);
        prepare(&rig);
        rig.set_pcie(0x13, 0x20f0_0000);
        rig.set_pcie(0x10, 7);
        rig.gpu.lint_count(Rule::VgaMemory)
    };
    assert_eq!(gart(&|_| {}), 1);
    assert_eq!(gart(&|rig| rig.set(0x310, 0x2000_0000)), 0);
    assert_eq!(gart(&|rig| rig.set(0x328, 1 << 4)), 0);
}

/// Events that are not the driver's: their interrupts are off, and a one does not clear them.
#[test]
fn foreign_events_stay() {
    let rig = with("foreign");
    let foreign = 1 | 1 << 19;
    assert_eq!(rig.reg(0x44), foreign);
    rig.set(0x44, !(1 << 26));
    assert_eq!(rig.reg(0x44), foreign);
    assert!(!rig.gpu.line());
    // The driver's own comes and goes.
    rig.set(0x40, 1 << 25);
    rig.set(0x44, 1 << 26);
    assert_eq!(rig.reg(0x44), foreign | 1 << 25);
    assert!(rig.gpu.line());
    rig.set(0x44, foreign | 1 << 25);
    assert_eq!(rig.reg(0x44), foreign);
    assert!(!rig.gpu.line());
    // One that is wanted can be cleared.
    rig.set(0x40, 1 << 19);
    assert!(rig.gpu.line());
    rig.set(0x44, 1 << 19);
    assert_eq!(rig.reg(0x44), 1);
}

/// A memory controller that never says that it is idle (RV515: MC 8 bit 4; others: MC 0 bit 1).
#[test]
fn a_memory_controller_is_never_idle() {
    for (name, status, idle) in [("rv515", 8, 1 << 4), ("r520", 0, 1 << 1)] {
        let rig = Rig::bare(config(name));
        rig.gpu.inject(Fault::once(Kind::BusyMc).forever());
        for _ in 0..3 {
            assert_eq!(rig.mc(status) & idle, 0, "{name}");
        }
        rig.clean();
    }
}

/// Logs of these chips: RBBM_STATUS=0x10000140 after a reset.
#[test]
fn status_after_a_reset() {
    let rig = Rig::new();
    rig.set(0x740, 0);
    for block in [0x2004, 1, 0x100] {
        rig.set(0xf0, block);
        rig.set(0xf0, 0);
    }
    assert_eq!(rig.reg(0xe40), 0x1000_0140);
}

/// Logs of these chips (RW09, RW11): CP_CSQ_STAT of an idle command processor, and after its reset.
#[test]
fn the_queue_at_rest() {
    let rig = Rig::new();
    // A packet of type 2 and one that writes a scratch register.
    rig.run(&[0x8000_0000, 0x15e0 >> 2, 0xdead_beef]);
    assert_eq!(
        (rig.reg(0x15e0), rig.reg(0x7f8)),
        (0xdead_beef, 0x1000_0c03)
    );
    rig.set(0x740, 0);
    rig.set(0xf0, 1);
    rig.set(0xf0, 0);
    assert_eq!(rig.reg(0x7f8), 0x1000_0000);
}
