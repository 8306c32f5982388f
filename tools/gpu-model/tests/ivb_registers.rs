// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers of the modelled Ivy Bridge: offsets, reset values, masks (VCS PRM 1.1).

use crate::ivb_rig::{block, Rig, ENGINES};
use gpu_model::ring::lint::Rule;

#[test]
fn registers_of_the_chapter_after_power_on() {
    // "Default Value" and "Address" of each heading; MI_MODE's bit 9 reads 1 when idle (digest 3.1).
    let rig = Rig::bare(Rig::choices());
    for (offset, value) in [
        (0x12028, 0),
        (0x12030, 0),
        (0x12034, 0),
        (0x12038, 0),
        (0x1203c, 0),
        (0x12040, 0),
        (0x12044, 0),
        (0x12094, 0),
        (0x12098, 0xffff_ffff),
        (0x1209c, 0x200),
        (0x120a0, 0),
        (0x120a8, 0xffff_ffff),
        (0x120b0, 0),
        (0x120b4, 0x0000_ffff),
        (0x120b8, 0),
        (0x120c0, 0),
        (0x12110, 0),
        (0x12134, 0),
        (0x12140, 0),
        (0x12144, 0),
        (0x12178, 0xffff_ffff),
        (0x1217c, 0x0015_0000),
        (0x121a8, 0x0004_0d00),
        (0x12220, 0),
        (0x12224, 0),
        (0x1229c, 0),
        (0x124c8, 0),
        (0x04180, 0),
        (0x05000, 0),
        (0x05064, 0),
        (0x05070, 0),
        (0x05074, 0),
        (0x05080, 0),
        (0x0517c, 0),
        (0x14040, 0),
        (0x14050, 0x0040_0002),
        (0x14400, 0),
        (0x144fc, 0),
        (0x14500, 0),
        (0x145fc, 0),
        (0x14600, 0),
        (0x146fc, 0),
        (0x14700, 0),
        (0x14704, 0),
        (0x14708, 0),
        (0x1470c, 0),
    ] {
        assert_eq!(rig.reg(offset), value, "{offset:#x}");
    }
    rig.clean();
}

#[test]
fn what_is_not_on_this_chip() {
    // Gen6 had these: GFX_MODE, HWS_PGA at 14080h and 24080h, RNCID.
    let rig = Rig::bare(Rig::choices());
    for offset in [0x2520, 0x14080, 0x24080, 0x12198] {
        rig.reg(offset);
    }
    assert_eq!(rig.gpu.undocumented().len(), 4);
}

#[test]
fn masked_registers() {
    // 1.1.2.2, 1.1.3: 31:16 say which of 15:0 change, and read 0.
    let rig = Rig::bare(Rig::choices());
    for (offset, bits) in [
        (0x12028, 0x1f),
        (0x1209c, 0x7cff & !0x400),
        (0x120a0, 0xffff),
        (0x1229c, 0x2200),
    ] {
        let idle = if offset == 0x1209c { 0x200 } else { 0 };
        rig.set(offset, bits);
        assert_eq!(rig.reg(offset), idle, "{offset:#x} without mask bits");
        rig.set(offset, bits << 16 | bits);
        assert_eq!(rig.reg(offset), bits | idle, "{offset:#x}");
        rig.set(offset, bits << 16);
        assert_eq!(rig.reg(offset), idle);
    }
    // 1.1.3.3: bit 10 MBZ, 9 read only.
    rig.set(0x1209c, 0x0600_0600);
    assert_eq!(rig.reg(0x1209c), 0x200);
}

#[test]
fn widths() {
    // Fields of 1.1.3 to 1.1.9: what is not MBZ or read only keeps what is written.
    let rig = Rig::bare(Rig::choices());
    for (offset, kept) in [
        (0x12040, 0xffff_ffff),
        (0x12044, 0xffff_ffff),
        (0x12094, 0x003f_ffff),
        (0x120a8, 0xffff_ffff),
        (0x120b4, 0x0000_ffff),
        (0x12134, 0xffff_fff9),
        (0x1217c, 0xffff_ffff),
        (0x12220, 0xffff_ffff),
        (0x12224, 0),
        (0x14040, 0xbfbf_bfbf),
        (0x14400, 0xffff_ffff),
        (0x14540, 0xffff_ffff),
        (0x146fc, 0x0000_07ff),
        (0x14700, 0xffff_ffff),
        (0x1470c, 0xffff_ffff),
        // Read only.
        (0x120b8, 0),
        (0x12110, 0),
        (0x12140, 0),
        (0x14780, 0),
        (0x14bfc, 0),
    ] {
        rig.set(offset, 0xffff_ffff);
        assert_eq!(rig.reg(offset), kept, "{offset:#x}");
        rig.set(offset, 0);
    }
    rig.clean();
}

#[test]
fn contexts_of_video() {
    // 1.1.3.2: sizes 4 in 20:16 and Dh in 12:8.
    let rig = Rig::bare(Rig::choices());
    rig.set(0x121a8, 0xffff_ffff);
    assert_eq!(rig.reg(0x121a8), 0x001f_1f00);
    rig.set(0x941c, 1 << 2);
    assert_eq!(rig.reg(0x121a8), 0x0004_0d00);
}

#[test]
fn the_hint_is_never_programmed() {
    // 1.1.3.10: "should NEVER be programmed in functional mode".
    let rig = Rig::bare(Rig::choices());
    rig.set(0x124c8, 0xffff_1234);
    assert_eq!(rig.reg(0x124c8), 0x1234);
    assert_eq!(rig.gpu.lint_count(Rule::PreemptionHint), 1);
}

#[test]
fn statistics_are_cleared_by_reading() {
    // 1.1.8: 26 dwords from 5000h, 5070h, 5074h, 64 from 5080h; "reset to zero when the read completes".
    let rig = Rig::bare(Rig::choices());
    for offset in [0x5000, 0x5028, 0x5064, 0x5070, 0x5074, 0x5080, 0x517c] {
        rig.gpu.set_statistics(offset, 0xffff_ffff);
        let shown = match offset {
            // Ymax 25:16, Ymin 9:0; pixels 20:0.
            0x5070 => 0x03ff_03ff,
            0x5074 => 0x001f_ffff,
            _ => 0xffff_ffff,
        };
        assert_eq!(rig.reg(offset), shown, "{offset:#x}");
        assert_eq!(rig.reg(offset), 0, "{offset:#x}");
        // Read only.
        rig.set(offset, 5);
        assert_eq!(rig.reg(offset), 0);
    }
    rig.clean();
    // Between and behind there is none.
    rig.reg(0x5068);
    rig.reg(0x5180);
    assert_eq!(rig.gpu.undocumented().len(), 2);
}

#[test]
fn time_stamps() {
    // 1.1.9.5: 36 bits of 80 ns; upper 28 bits zero; not reset by a graphics reset. The others have one
    // each (digest V-23).
    let rig = Rig::bare(Rig::choices());
    rig.gpu.clock().advance_to(80 * 0xf_ffff_fff5);
    for e in ENGINES {
        let at = block(e) + 0x358;
        assert_eq!((rig.reg(at), rig.reg(at + 4)), (0xffff_fff5, 0xf));
    }
    rig.set(0x941c, 1);
    assert_eq!(rig.reg(0x12358), 0xffff_fff5);
    rig.gpu.clock().advance_to(80 * 0x10_0000_0001);
    assert_eq!((rig.reg(0x12358), rig.reg(0x1235c)), (1, 0), "rolls over");
    rig.clean();
}

#[test]
fn a_reset_of_one_engine() {
    // Digest V-15: bits 1 to 3 of 941ch are one engine each; it clears itself.
    for e in ENGINES {
        let rig = Rig::new();
        for other in ENGINES {
            rig.set(block(other) + 0x40, 9);
        }
        rig.set(0x941c, 2 << e as u32);
        assert_eq!(rig.reg(0x941c), 0);
        for other in ENGINES {
            let kept = if other == e { 0 } else { 9 };
            assert_eq!(
                rig.reg(block(other) + 0x40),
                kept,
                "{} {}",
                e.name(),
                other.name()
            );
        }
        rig.clean();
    }
}

#[test]
fn clocks_are_those_of_a_desktop_chip() {
    // RP_STATE_CAP (the kernel's mchbar_regs.h): 7:0 RP0, 15:8 RP1, 23:16 RPn, of 50 MHz each. Intel's data of the
    // i7-3770 (HD Graphics 4000, the device id is 0162): 650 MHz, 1.15 GHz at most; 350 MHz is the least that owners
    // of an HD Graphics 4000 read. Upstream's live_gt_resume (gt/selftest_llc.c) reads the table of the CPU's clocks
    // back, from the lowest to the highest: without a range the driver writes none.
    let rig = Rig::new();
    let cap = rig.reg(0x14_5998);
    let clocks = [16, 8, 0].map(|place| (cap >> place & 0xff) * 50);
    assert_eq!(clocks, [350, 650, 1150]);
    // A request (RPNSWREQ 31:25) is met within what there is (RPSTAT1 14:8), as live_rps_control has it.
    for (asked, given) in [(6, 7), (7, 7), (23, 23), (24, 23)] {
        rig.set(0xa008, asked << 25);
        assert_eq!(rig.reg(0xa01c) >> 8 & 0x7f, given);
    }
    rig.clean();
}
