// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What the 2D engine is told wrongly: bodies that do not fit, missing data, state that stays (R5xx guide §5.2.2;
//! digest §2.3 to §2.5).
//!
//! The canvas is 64 x 32 pixels of 32 bits at 0x100000, rows of 256 bytes.

use crate::r5xx_rig::{canvas::*, packet, type0, Rig};
use gpu_model::r5xx::{Lockup, Rule};

/// The engine is busy until the host's data has come (§5.2.2: "loaded through the HOSTDATA
/// registers"); a wait for it then never ends.
#[test]
fn a_blit_without_the_hosts_data() {
    let rig = Rig::new();
    let control = COPY & !(7 << 24 | 1) | 3 << 24;
    rig.run(&[
        type0(0x142c, 1),
        PLACE,
        type0(0x146c, 1),
        control,
        type0(0x1438, 2),
        0,
        two(1, 2),
    ]);
    rig.run(&[type0(0x1720, 1), 1 << 14, type0(0x15e0, 1), 1]);
    assert_eq!(rig.reg(0x15e0), 0);
    assert_eq!(rig.reg(0xe40) & (1 << 31 | 1 << 17), 1 << 31 | 1 << 17);
    rig.set(0x17c0, 0x11);
    rig.set(0x17c4, 0x22);
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 1);
    assert_eq!((pixel(&rig, 0, 0), pixel(&rig, 1, 0)), (0x11, 0x22));
    rig.clean();
}

/// §5.2.2: bits 28 and 30 of GUI_CONTROL clear the comparison and set the masks; else both stay.
#[test]
fn masks_stay_unless_told() {
    let rig = Rig::new();
    rig.set(0x16cc, 0x0000_ff00);
    rig.set(0x15c0, 1 << 8);
    let paint = |control| packet(PAINT, &[control, PLACE, !0, two(0, 0), two(1, 1)]);
    rig.run(&paint(FILL & !(1 << 28 | 1 << 30)));
    assert_eq!(pixel(&rig, 0, 0), 0, "all kept");
    rig.run(&paint(FILL & !(1 << 30)));
    assert_eq!(pixel(&rig, 0, 0), 0xff00);
    rig.run(&paint(FILL));
    assert_eq!(pixel(&rig, 0, 0), !0);
    assert_eq!(rig.reg(0x16cc), !0);
    rig.clean();
}

/// §4.9: a scratch register proves that the stream was parsed so far, no more. Drawing comes as late
/// as it may, and an interrupt that does not wait for it is reported.
#[test]
fn drawing_is_waited_for() {
    let paint = packet(PAINT, &[FILL, PLACE, RED, two(0, 0), two(1, 1)]);
    let flush = [type0(0x1714, 1), 0xf];
    let wait = [type0(0x1720, 1), 1 << 16];
    let fence = [type0(0x15e0, 1), 1, type0(0x44, 1), 1 << 26];
    let rig = Rig::new();
    rig.submit(&[&paint[..], &flush, &fence].concat());
    while rig.reg(0x15e0) == 0 {
        rig.gpu.step();
    }
    assert_eq!(pixel(&rig, 0, 0), 0, "not drawn yet");
    rig.settle();
    assert_eq!(pixel(&rig, 0, 0), RED);
    assert_eq!(rig.gpu.lint_count(Rule::EarlyInterrupt), 1);
    // Without the flush it is early too.
    let rig = Rig::new();
    rig.run(&[&paint[..], &wait, &fence].concat());
    assert_eq!(rig.gpu.lint_count(Rule::EarlyInterrupt), 1);
    let rig = Rig::new();
    rig.run(&[&paint[..], &flush, &wait, &fence].concat());
    rig.clean();
}

/// §5.2 and digest H6: a body shorter than its settings say takes what follows, and all is lost.
#[test]
fn bodies_that_do_not_fit() {
    let cases: &[(&str, Vec<u32>)] = &[
        ("settings", packet(PAINT, &[FILL, PLACE])),
        ("half a rectangle", packet(PAINT, &[FILL, PLACE, RED, 0])),
        (
            "a colour brush",
            packet(PAINT, &[FILL & !0xf0 | 10 << 4, PLACE, 1, 2, 3]),
        ),
        ("a blit", packet(BITBLT, &[COPY, PLACE, PLACE, 0, 0])),
        (
            "a glyph",
            packet(
                HOSTDATA_BLT,
                &[
                    COPY & !(1 | 1 << 25) | 3 << 24,
                    PLACE,
                    0,
                    0,
                    0,
                    two(1, 1),
                    2,
                    0,
                ],
            ),
        ),
        (
            "a scan",
            packet(POLYSCANLINES, &[FILL, PLACE, RED, 1, 3, 0, 0]),
        ),
        ("scissors", packet(SET_SCISSORS, &[0])),
        ("a palette", packet(LOAD_PALETTE, &[1, 0, 0])),
    ];
    for (name, stream) in cases {
        let rig = Rig::new();
        rig.run(stream);
        assert_eq!(rig.gpu.lockup(), Some(Lockup::Stream), "{name}");
        assert_eq!(rig.gpu.lint_count(Rule::ShortPacket), 1, "{name}");
    }
    let rig = Rig::new();
    rig.run(&packet(BITBLT, &[COPY, PLACE, PLACE, 0, 0, two(1, 1), 5]));
    assert_eq!(rig.gpu.lint_count(Rule::LongPacket), 1);
    assert_eq!(rig.gpu.lockup(), None);
}

/// Reserved and forbidden operations do no harm, and are reported.
#[test]
fn rules() {
    let cases: &[(&str, Vec<u32>, Rule)] = &[
        (
            "a type that only the 3D pipe knows",
            packet(PAINT, &[FILL & !0xf00 | 12 << 8, PLACE, RED, 0, two(1, 1)]),
            Rule::GuiControl,
        ),
        (
            "a reserved brush",
            packet(PAINT, &[FILL & !0xf0 | 9 << 4, PLACE, 0, two(1, 1)]),
            Rule::GuiControl,
        ),
        (
            "an area with a pen",
            packet(
                PAINT,
                &[FILL & !0xf0 | 7 << 4, PLACE, RED, !0, 0, two(1, 1)],
            ),
            Rule::BrushUse,
        ),
        (
            "a line with a pattern",
            packet(
                POLYLINE,
                &[FILL & !0xf0 | 1 << 4, PLACE, RED, 0, 0, 0, two(1, 1)],
            ),
            Rule::BrushUse,
        ),
        (
            "no pitch",
            packet(PAINT, &[FILL, 0x400, RED, 0, two(1, 1)]),
            Rule::PitchOffset,
        ),
        (
            "a coordinate of 16 bits",
            packet(PAINT, &[FILL, PLACE, RED, 0x2000, two(1, 0x2001)]),
            Rule::Coordinate,
        ),
        (
            "a reserved comparison",
            packet(
                TRANS_BITBLT,
                &[COPY, PLACE, PLACE, 2, 0, 0, 0, 0, two(1, 1)],
            ),
            Rule::ColourCompare,
        ),
    ];
    for (name, stream, rule) in cases {
        let rig = Rig::new();
        rig.run(stream);
        assert_ne!(rig.gpu.lint_count(*rule), 0, "{name}");
        assert_eq!(rig.gpu.lockup(), None, "{name}");
    }
}
