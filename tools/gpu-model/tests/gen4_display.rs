// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What commands of the modelled Gen4 chips wait for and flip (1.6, 1.9, 1.10, 1.12, 1.21, 5.3.7.3, 5.4.4 to 5.4.6), and
//! surface probing (1.13).

use crate::gen4_rig::*;
use gpu_model::ring::chip::{Chip, G45, G965, GM45, GM965};
use gpu_model::ring::lint::Rule;

/// Nanoseconds of a frame and lines in it: sixty frames a second is this model's; VTOTAL says 806 lines, 768 shown.
const FRAME: u64 = 16_666_667;
const LINES: u64 = 806;
/// When the blank behind line 767 begins in a frame.
const BLANK: u64 = (768 * FRAME).div_ceil(LINES);

/// Pipe A runs; plane A shows an X-tiled surface of 4 KB pitch at 100000h.
fn shown(chip: &'static Chip) -> Rig {
    let rig = Rig::new(chip);
    rig.set(0x6_0000, 1343 << 16 | 1023);
    rig.set(0x6_000c, 805 << 16 | 767);
    rig.set(0x7_0188, 4096);
    rig.set(0x7_0180, 1 << 31 | 6 << 26 | 1 << 10);
    rig.set(0x7_019c, 0x10_0000);
    rig.set(0x7_0008, 1 << 31);
    assert_eq!(rig.reg(0x7_0008), 3 << 30, "on, and it runs");
    rig
}

fn now(rig: &Rig) -> u64 {
    rig.gpu.clock().now()
}

/// Runs a wait from the ring and says how long it took.
fn waits(rig: &Rig, bits: u32) -> u64 {
    let before = now(rig);
    rig.run(RCS, &[0x0180_0000 | bits]);
    now(rig) - before
}

/// True if the wait does not end: the ring shows RB Wait.
fn hangs(rig: &Rig, bits: u32) -> bool {
    rig.submit(RCS, &[0x0180_0000 | bits, 0]);
    rig.gpu.run_until_idle(1000);
    rig.reg(0x203c) & (1 << 11) != 0
}

#[test]
fn a_pipe_counts_lines() {
    let rig = shown(&G45);
    rig.gpu.clock().advance_to(FRAME / 2 + 1);
    assert_eq!(rig.reg(0x7_0000), 403);
    rig.gpu.clock().advance_to(3 * FRAME + 1);
    assert_eq!((rig.reg(0x7_0000), rig.reg(0x7_0040)), (0, 3));
    rig.set(0x7_0008, 0);
    assert_eq!((rig.reg(0x7_0000), rig.reg(0x7_0008)), (0, 0));
    rig.clean();
}

#[test]
fn vertical_blanks() {
    // 1.21: bit 3 needs PIPEASTAT bit 17, "or the ring hangs" (digest, MIR-05).
    for chip in ALL {
        let rig = shown(chip);
        assert!(hangs(&rig, 1 << 3), "{chip:?}");
        let rig = shown(chip);
        rig.set(0x7_0024, 1 << 17);
        assert_eq!(waits(&rig, 1 << 3), BLANK);
        assert_eq!(waits(&rig, 1 << 3), FRAME, "the next one");
        // 5.4.6: bit 7 of the interrupt registers; PIPESTAT says it too, and ones clear it.
        assert_eq!(rig.reg(0x20ac) & 1 << 7, 0);
        assert_eq!(rig.reg(0x7_0024) & 2, 2);
        rig.set(0x7_0024, 1 << 17 | 0xffff);
        assert_eq!(rig.reg(0x7_0024), 1 << 17);
        rig.clean();
        // Pipe B does not run.
        rig.set(0x7_1024, 1 << 17);
        assert!(hangs(&rig, 1 << 7));
    }
}

#[test]
fn starts_of_vertical_blanks() {
    // 1.21: bits 17 and 18; BWT013: must be zero on DevBW.
    for chip in [&G45, &GM45, &GM965] {
        let rig = shown(chip);
        rig.set(0x7_0024, 1 << 17);
        assert_eq!(waits(&rig, 1 << 17), BLANK);
        rig.clean();
    }
    let rig = shown(&G965);
    rig.set(0x7_0024, 1 << 17);
    assert_eq!(waits(&rig, 1 << 17), 0);
    assert_eq!(rig.gpu.lint_count(Rule::Reserved), 1);
}

#[test]
fn vertical_blank_interrupts() {
    // 5.4.6, 5.6: the leading edge, through IMR and IER.
    let rig = shown(&GM45);
    rig.set(0x20a8, !(1 << 7));
    rig.set(0x20a0, 1 << 7);
    rig.gpu.clock().advance_to(BLANK - 1);
    rig.reg(0x2030);
    assert_eq!(rig.rises(), 0);
    rig.gpu.clock().advance_to(BLANK);
    rig.reg(0x2030);
    assert_eq!((rig.rises(), rig.reg(0x20a4)), (1, 1 << 7));
    rig.clean();
}

#[test]
fn horizontal_blanks_and_several_events() {
    let rig = shown(&G45);
    let waited = waits(&rig, 1 << 13);
    assert_eq!(waited, FRAME.div_ceil(LINES));
    rig.clean();
    // 1.21: "Only one event or condition can be specified" (5.3.7.3).
    rig.set(0x7_0024, 1 << 17);
    waits(&rig, 1 << 13 | 1 << 3);
    assert_eq!(rig.gpu.lint_count(Rule::ManyEvents), 1);
}

#[test]
fn scan_line_windows() {
    // 1.9, 1.10: waits within the window, or outside of it; both lines are inclusive; without a window, or if the
    // condition is not, a no-operation (1.21).
    let line = |n: u64| (n * FRAME).div_ceil(LINES);
    let rig = shown(&G965);
    assert_eq!(waits(&rig, 1 << 1), 0, "no window");
    // Two of them ("always place an even number").
    let incl = [0x0900_0000, 0, 100];
    rig.run(RCS, &[incl[0], incl[2], incl[0], incl[2]]);
    assert_eq!(waits(&rig, 1 << 1), line(101));
    assert_eq!(waits(&rig, 1 << 1), 0, "it is outside");
    rig.run(
        RCS,
        &[0x0980_0000, 200 << 16 | 300, 0x0980_0000, 200 << 16 | 300],
    );
    let before = now(&rig);
    waits(&rig, 1 << 1);
    assert_eq!(now(&rig), line(200), "from {before}");
    assert_eq!(waits(&rig, 1 << 1), 0);
    // Pipe B's window is its own.
    assert_eq!(waits(&rig, 1 << 5), 0);
    rig.clean();
}

#[test]
fn flips() {
    // 1.6, 5.4.4: pending from the command to the vertical blank; the identity bit is set by the falling edge.
    for chip in ALL {
        let rig = shown(chip);
        rig.unmask_interrupts();
        rig.run(RCS, &[0x0a00_0001, 0x2000, 0x20_0001]);
        assert_eq!(rig.reg(0x20ac), 1 << 11, "{chip:?}");
        assert_eq!(rig.reg(0x20a4), 0);
        assert_eq!(rig.reg(0x7_019c), 0x10_0000, "still the old one");
        assert_eq!(waits(&rig, 1 << 2), BLANK);
        assert_eq!((rig.reg(0x7_019c), rig.reg(0x7_0188)), (0x20_0000, 0x2000));
        assert_eq!(rig.reg(0x20ac), 0);
        assert_eq!(rig.reg(0x20a4) & 1 << 11, 1 << 11);
        // A condition that is not: no wait.
        assert_eq!(waits(&rig, 1 << 2), 0);
        rig.clean();
        // Two at once.
        rig.run(
            RCS,
            &[
                0x0a00_0001,
                0x2000,
                0x20_0001,
                0x0a00_0001,
                0x2000,
                0x30_0001,
            ],
        );
        assert_eq!(rig.gpu.lint_count(Rule::FlipPending), 1);
        // A plane whose pipe is off flips at once: B, and the interrupt of B.
        rig.set(0x7_1180, 1 << 24);
        rig.run(RCS, &[0x0a10_0001, 0x1000, 0x40_0001]);
        assert_eq!(rig.reg(0x7_119c), 0x40_0000);
        assert_eq!(rig.reg(0x20a4) & 1 << 10, 1 << 10);
    }
}

#[test]
fn asynchronous_flips() {
    // 1.6: at once; X tiles, planes A and B, buffers of 32 KB, no panel fitter; pitch and tiling stay.
    let rig = shown(&GM45);
    rig.run(RCS, &[0x0a40_0001, 0, 0x20_0000]);
    assert_eq!((rig.reg(0x7_019c), rig.reg(0x7_0188)), (0x20_0000, 4096));
    assert_eq!(rig.reg(0x7_0180) & 1 << 10, 1 << 10);
    rig.clean();
    for bad in [
        &[0x0a40_0001, 0, 0x20_1000][..],
        &[0x0a60_0001, 0, 0x20_0000],
        &[0x0a40_0002, 0, 0x20_0000, 0],
        &[0x0a40_0001, 1 << 29, 0x20_0000],
        &[0x0a50_0001, 0, 0x20_0000],
    ] {
        let before = rig.gpu.lint_count(Rule::AsyncFlip);
        rig.run(RCS, bad);
        assert_eq!(rig.gpu.lint_count(Rule::AsyncFlip), before + 1, "{bad:x?}");
    }
}

#[test]
fn the_overlay() {
    // 1.12.2: on, any number of continues, off; 5.4.5: pending until the vertical blank (bit 9), and bit 16 waits.
    let rig = shown(&GM965);
    rig.run(RCS, &[0x08a0_0000, 0x30_0001]);
    assert_eq!(rig.reg(0x20ac), 1 << 9);
    assert_eq!(waits(&rig, 1 << 16), BLANK);
    rig.run(RCS, &[0x0880_0000, 0x30_0000]);
    waits(&rig, 1 << 16);
    rig.run(RCS, &[0x08c0_0000, 0x30_0001]);
    waits(&rig, 1 << 16);
    assert_eq!(rig.reg(0x20ac), 0);
    rig.clean();
    // Off twice; off without the coefficients.
    rig.run(RCS, &[0x08c0_0000, 0x30_0001]);
    assert_eq!(rig.gpu.lint_count(Rule::OverlayOrder), 1);
    rig.run(RCS, &[0x08a0_0000, 0x30_0001, 0x08c0_0000, 0x30_0000]);
    assert_eq!(rig.gpu.lint_count(Rule::OverlayOrder), 2);
}

#[test]
fn a_reset_of_965_forgets_what_was_waited_for() {
    let rig = shown(&G965);
    rig.run(
        RCS,
        &[0x0a00_0001, 0x2000, 0x20_0001, 0x0900_0000, 100, 0, 0],
    );
    rig.set_reset_byte(1);
    rig.set_reset_byte(0);
    assert_eq!(rig.reg(0x20ac), 0);
    rig.enable_table();
    rig.start_ring(RCS);
    assert_eq!(waits(&rig, 1 << 2), 0);
    assert_eq!(waits(&rig, 1 << 1), 0);
}

#[test]
fn probes() {
    // 1.13.1: pages and slots; all are tried. 1.13.2: a slot is made invalid.
    for chip in G4X {
        let rig = Rig::new(chip);
        rig.run(RCS, &[0x1280_0001, TARGET | 5, BATCH | 0x3ff, 0]);
        assert_eq!(
            [5, 0x3ff].map(|n| rig.gpu.probed(n)),
            [Some(TARGET), Some(BATCH)]
        );
        rig.run(RCS, &[0x0300_0005]);
        assert_eq!(rig.gpu.probed(5), None);
        rig.clean();
        rig.run(RCS, &[0x1280_0001, 0, TARGET | 1, 0]);
        assert_eq!(rig.gpu.lint_count(Rule::ProbeFault), 1);
        assert_eq!(rig.gpu.probed(1), Some(TARGET));
    }
}
