// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What real machines with a DG2 do and a kind model spares its driver.
//!
//! Expected values are of the digest, and of what the upstream driver reads and writes.

use crate::dg2_rig::*;
use gpu_model::dg2::{Dg2Config, EngineId, Real, Rule};
use gpu_model::memory::VecMemory;
use gpu_model::model::{self, GpuModel, NoIrq, Options};
use std::sync::Arc;

/// C050h and C340h of a server's card.
fn locks(options: Options) -> [u32; 2] {
    let memory = Arc::new(VecMemory::new(1 << 20));
    let gpu = model::build("dg2", options, memory, Arc::new(NoIrq))
        .expect("a model")
        .expect("memory");
    gpu.bar_write(0, 0xa188, &0x0001_0001u32.to_le_bytes());
    [0xc050, 0xc340].map(|offset| {
        let mut b = [0; 4];
        gpu.bar_read(0, offset, &mut b);
        u32::from_le_bytes(b) & 1
    })
}

/// Bit 0 of C050h and of C340h (digest §5.13). A server's card is as it is sold, one in process is not.
/// Its memory is there all the same.
#[test]
fn a_card_as_sold_is_locked() {
    let unlocked = Options {
        unlocked: true,
        ..Options::default()
    };
    assert_eq!(locks(Options::default()), [1, 1]);
    assert_eq!(locks(unlocked), [0, 0]);
    let rig = Rig::new();
    assert_eq!((rig.reg(0xc050), rig.reg(0xc340)), (0, 0));
    let rig = Rig::with(Dg2Config {
        locked: true,
        ..Dg2Config::default()
    });
    assert_eq!((rig.reg(0xc050), rig.reg(0xc340)), (1, 1));
    rig.put_local64(0x10_0000, 0x1122_3344_5566_7788);
    assert_eq!(rig.local(0x10_0004), 0x1122_3344);
    rig.clean();
}

/// A card with some habits, not brought up.
fn with(habits: &str) -> Rig {
    Rig::bare(Dg2Config {
        real: habits.parse().expect("habits"),
        ..Dg2Config::default()
    })
}

#[test]
fn habits_have_names() {
    let some: Real = "foreign,lit".parse().expect("names");
    assert!(some.foreign && some.lit && !some.late_wake && !some.bits && !some.running);
    assert_eq!("all".parse(), Ok(Real::all()));
    assert_eq!(
        Real::all().to_string(),
        "foreign,late_wake,bits,lit,running,workarounds,lost_l3"
    );
}

/// Registers that mask what is not an engine (digest §5.8, and as upstream resets them).
const MASKS: [(u32, u32); 14] = [
    (0x19_0038, 0),
    (0x19_00e8, !0),
    (0x19_003c, 0),
    (0x19_00ec, !0),
    (0x19_0040, 0),
    (0x19_00f0, !0),
    (0x19_0044, 0),
    (0x19_00f4, !0),
    (0x4_44e4, !0),
    (0x4_44ec, 0),
    (0x4_44f4, !0),
    (0x4_44fc, 0),
    (0x4_4200, 0),
    (0x4_440c, 0),
];

/// A handler that takes what the tree says and looks at engines alone.
fn handle(rig: &Rig) -> u32 {
    rig.set(0x19_0008, 0);
    let tile = rig.reg(0x19_0008);
    rig.set(0x19_0008, tile);
    let master = rig.reg(0x19_0010);
    rig.set(0x19_0010, master);
    let words = rig.reg(0x19_0018);
    rig.set(0x19_0018, words);
    rig.set(0x19_0008, 1 << 31);
    master
}

#[test]
fn interrupts_of_others_never_end() {
    let rig = with("foreign,lit");
    assert!(!rig.level(), "nothing is let out yet");
    rig.set(0x19_0008, 1 << 31);
    assert!(rig.level());
    // PCU 30, GU_MISC 29, display 16, GT_INTR_DW0; there: GUnit 28, GuC 25, crypto 19, power 16.
    assert_eq!(rig.reg(0x19_0010), 0x6001_0001);
    assert_eq!(rig.reg(0x19_0018), 0x1209_0000);
    for _ in 0..98 {
        handle(&rig);
    }
    assert_eq!(rig.gpu.lint_count(Rule::IrqStorm), 0);
    assert_eq!(handle(&rig), 0x6001_0001);
    assert_eq!(rig.gpu.lint_count(Rule::IrqStorm), 1);
    // An identity takes one of the GT's away: GuC, class 4, instance 0.
    rig.set(0x19_0070, 1 << 25);
    assert_eq!(rig.reg(0x19_0060), 0x8004_8000);
    handle(&rig);
    assert_eq!(rig.reg(0x19_0018), 0x1009_0000);
}

#[test]
fn masked_sources_are_silent() {
    let rig = with("foreign,lit");
    for (at, value) in MASKS {
        rig.set(at, value);
    }
    // Of what the tree has latched, GFX_MSTR is to be cleared as well; GT_INTR_DW shows levels of these.
    assert_eq!(rig.reg(0x19_0018), 0);
    rig.set(0x19_0010, !0);
    rig.set(0x19_0008, 1);
    rig.set(0x19_0008, 1 << 31);
    assert_eq!((rig.level(), rig.reg(0x19_0010)), (false, 0));
    rig.clean();
    // Without a picture the display has no events; a kind card has none at all.
    assert_eq!(with("foreign").reg(0x19_0010) & 1 << 16, 0);
    let rig = with("");
    rig.set(0x19_0008, 1 << 31);
    assert!(!rig.level());
}

/// Upstream waits for the acknowledge to fall before it asks again.
#[test]
fn a_well_falls_asleep_late() {
    let rig = with("late_wake");
    rig.set(0xa188, 0x0001_0001);
    assert_eq!(rig.reg(0x13_0044), 1);
    rig.set(0xa188, 0x0001_0000);
    rig.gpu.clock().advance_to(19_000);
    assert_eq!(rig.reg(0x13_0044), 1, "it shows until then");
    rig.set(0xa188, 0x0001_0001);
    assert_eq!(rig.reg(0x13_0044), 1, "of before");
    rig.gpu.clock().advance_to(20_000);
    assert_eq!(rig.reg(0x13_0044), 0);
    rig.set(0x4000, 7);
    assert_eq!(rig.gpu.lint_count(Rule::AsleepWrite), 1, "lost");
    rig.gpu.clock().advance_to(40_000);
    assert_eq!((rig.reg(0x13_0044), rig.reg(0x4000)), (1, 0));
    // Who waits for it to fall is answered.
    rig.set(0xa188, 0x0001_0000);
    rig.gpu.clock().advance_to(60_000);
    assert_eq!(rig.reg(0x13_0044), 0);
    rig.set(0xa188, 0x0001_0001);
    assert_eq!(rig.reg(0x13_0044), 1);
    rig.set(0x4000, 7);
    assert_eq!(rig.reg(0x4000), 7);
    assert_eq!(rig.gpu.lint_count(Rule::AsleepWrite), 1);
}

#[test]
fn bits_of_firmware_must_stay() {
    let rig = with("bits");
    rig.wake_all();
    for at in [0x9434, 0x9524, 0xcf2c, 0xcf54, 0xb0b4, 0xe7cc, 0x10_1014] {
        assert_ne!(rig.reg(at), 0, "{at:#x}");
    }
    // UNSLICE_UNIT_LEVEL_CLKGATE: bit 17 is a workaround's. MISCCPCTL: bit 1 goes, bit 0 stays.
    rig.set(0x9434, rig.reg(0x9434) | 1 << 17);
    rig.set(0x9424, rig.reg(0x9424) & !2);
    rig.clean();
    rig.set(0x9434, 1 << 17);
    assert_eq!(rig.gpu.lint_count(Rule::BitsLost), 1);
    // After a reset they are there again.
    rig.set(0x941c, 1);
    assert_eq!(rig.reg(0x9434), 1 << 26);
    rig.set(0x9424, 0);
    assert_eq!(rig.gpu.lint_count(Rule::BitsLost), 2);
}

#[test]
fn an_engines_reset_leaves_bits_of_the_gt() {
    // Upstream's selftest live_engine_reset_workarounds: those of the GT are as they were. SARB_CHICKEN1 (e90c) bits
    // 30:29 are a workaround's, which takes them away; MISCCPCTL (9424) bit 1 is one, too.
    let rig = with("bits");
    rig.wake_all();
    for (at, bits) in [(0xe90c, 3 << 29), (0x9424, 1 << 1)] {
        assert_ne!(rig.reg(at) & bits, 0, "{at:#x}");
        rig.set(at, rig.reg(at) & !bits);
    }
    // RESET_CTL of the blitter, GDRST bit 2: the blitter.
    rig.set(0x2_20d0, 0x0001_0001);
    rig.set(0x941c, 1 << 2);
    for (at, bits) in [(0xe90c, 3 << 29), (0x9424, 1 << 1)] {
        assert_eq!(rig.reg(at) & bits, 0, "{at:#x}");
    }
    rig.clean();
}

/// PLANE_CTL, PLANE_STRIDE, PLANE_SIZE, PLANE_SURF and TRANSCONF as a driver finds them: 1024 by 768 pixels of
/// four bytes at global address 800000h, in local memory from 1000000h on.
#[test]
fn the_firmwares_picture() {
    let rig = with("lit");
    assert_eq!(rig.reg(0x7_0008), 0xc000_0000);
    assert_eq!(rig.reg(0x7_0180), 0x8400_0000);
    assert_eq!((rig.reg(0x7_0188), rig.reg(0x7_0190)), (64, 0x02ff_03ff));
    assert_eq!(rig.reg(0x7_019c), 0x0080_0000);
    assert_eq!(rig.gpu.ggtt_read(0x800), 0x100_0003);
    assert_eq!(rig.gpu.ggtt_read(0xaff), 0x12f_f003);
    // BAR2 shows it.
    let mut b = [0; 4];
    rig.gpu.bar_read(2, 0x100_0000, &mut b);
    assert_ne!(b, [0; 4]);
    rig.clean();
    let later = |rig: &Rig, frame: u64| {
        rig.gpu.clock().advance_to(frame * 17_000_000);
        rig.reg(0x19_0008);
    };
    later(&rig, 1);
    rig.clean();
    assert_ne!(rig.reg(0x7_0040), 0, "frames are counted");
    // An entry is changed: its LM bit is gone.
    rig.gpu.ggtt_write(0x900, 0x110_0001);
    later(&rig, 2);
    assert_eq!(rig.gpu.lint_count(Rule::ScanoutLost), 1);
    assert_eq!(rig.gpu.lint_count(Rule::ScanoutFreed), 0);
    // A write into the picture.
    rig.gpu.lmem_write(0x120_0000, &[0; 8]);
    later(&rig, 3);
    assert_eq!(rig.gpu.lint_count(Rule::ScanoutFreed), 1);
}

#[test]
fn a_picture_can_be_turned_off() {
    let rig = with("lit");
    rig.set(0x7_0180, 0);
    rig.gpu.clock().advance_to(17_000_000);
    // Until PLANE_SURF is written the plane is what it was.
    rig.gpu.ggtt_write(0x800, 0x100_0001);
    rig.reg(0x19_0008);
    assert_eq!(rig.gpu.lint_count(Rule::ScanoutLost), 1);
    rig.set(0x7_019c, 0);
    rig.gpu.ggtt_write(0x801, 0);
    rig.gpu.lmem_write(0x100_0000, &[0; 4096]);
    rig.gpu.clock().advance_to(170_000_000);
    rig.reg(0x19_0008);
    assert_eq!(rig.gpu.lint_count(Rule::ScanoutLost), 1);
    assert_eq!(rig.gpu.lint_count(Rule::ScanoutFreed), 0);
    // So can the pipe.
    let rig = with("lit");
    rig.set(0x7_0008, 0);
    assert_eq!(rig.reg(0x7_0008), 0);
    rig.gpu.ggtt_write(0x800, 0);
    rig.gpu.clock().advance_to(17_000_000);
    rig.reg(0x19_0008);
    rig.clean();
    // A kind card has none, and the same registers.
    let rig = with("");
    assert_eq!((rig.reg(0x7_0180), rig.reg(0x7_3008)), (0, 0));
    rig.clean();
}

/// PCI Power Management 1.2 §3.2.4: bits 1:0 of PMCSR, 3 is D3hot. What follows (D3cold) takes the power.
#[test]
fn a_card_without_power_forgets_its_memory() {
    let rig = with("");
    let state = |n: u8| rig.gpu.config_write(0xd4, &[n]);
    for at in [0x10_0000, 0x110_0000] {
        rig.put_local64(at, 0x1122_3344_5566_7788);
        state(0);
        assert_eq!(rig.local(at), 0x5566_7788);
        state(3);
        state(0);
        assert_ne!(rig.local(at), 0x5566_7788);
    }
}

/// The command register of PCI: bit 2. MI_MODE 9: idle. GDRST 0: the whole GT.
#[test]
fn an_engine_that_was_left_running() {
    let master = |rig: &Rig| rig.gpu.config_write(4, &[6, 0]);
    let rig = with("running");
    rig.wake_all();
    assert_eq!(rig.reg(0x209c) & 1 << 9, 0);
    master(&rig);
    assert_eq!(rig.gpu.lint_count(Rule::DmaBeforeReset), 1);
    let rig = with("running");
    rig.wake_all();
    rig.set(0x20d0, 0x0001_0001);
    rig.set(0x941c, 1);
    assert_eq!(rig.reg(0x209c) & 1 << 9, 1 << 9);
    master(&rig);
    assert_eq!(rig.gpu.lint_count(Rule::DmaBeforeReset), 0);
    // The machine has slept: the PCI core lets the card reach memory before its driver resets anything.
    rig.gpu.power_on();
    master(&rig);
    assert_eq!(rig.gpu.lint_count(Rule::DmaBeforeReset), 0);
    let rig = with("running");
    rig.gpu.power_on();
    master(&rig);
    assert_eq!(rig.gpu.lint_count(Rule::DmaBeforeReset), 1);
    let rig = with("");
    master(&rig);
    rig.clean();
}

/// How many are missing on a 56A0h (G10) whose driver has written none. Of the GT: 9434h, 9524h, CF2Ch to CF38h,
/// CF54h, B0B4h, B188h, 8724h, 101014h (E90Ch and 9424h are zero as they should be).
const GT: u64 = 11;
/// Of the blitter: 221D0h.
const COPY: u64 = 1;
/// Of the render engine: E18Ch, E4F4h, E5F0h, 20ECh, 20E0h; and with compute engines: E530h, E18Ch, E7CCh three times,
/// 83B4h, E7C8h, E48Ch, 14800h.
const RENDER: u64 = 5 + 9;
/// Of its contexts: 6208h, B158h, 6604h, 731Ch, 83A4h, 703Ch, 7004h, 7044h.
const CONTEXT: u64 = 8;

#[test]
fn workarounds_are_asked_for() {
    let rig = |device_id| {
        Rig::with(Dg2Config {
            real: "workarounds".parse().expect("habit"),
            device_id,
            ..Dg2Config::default()
        })
    };
    let missing = |rig: &Rig| rig.gpu.lint_count(Rule::WorkaroundMissing);
    let r = rig(0x56a0);
    r.run(EngineId::Bcs, &[NOOP, NOOP]);
    assert_eq!(missing(&r), GT + COPY);
    r.run(EngineId::Bcs, &[NOOP, NOOP]);
    assert_eq!(missing(&r), GT + COPY, "once");
    let r = rig(0x56a0);
    r.run(EngineId::Rcs, &[NOOP, NOOP]);
    assert_eq!(missing(&r), GT + RENDER);
    r.run_batch(EngineId::Rcs, &[NOOP, NOOP]);
    assert_eq!(missing(&r), GT + RENDER + CONTEXT);
    // A G11 lacks two of the GT's, and has three more of render and compute engines.
    let r = rig(0x56a5);
    r.run(EngineId::Rcs, &[NOOP, NOOP]);
    assert_eq!(missing(&r), GT - 2 + RENDER + 3);
    // What is there is not missed. A masked register takes its bits one by one.
    let r = rig(0x56a0);
    r.set(0xe18c, 0x0200_0200);
    r.set(0xe18c, 0x0001_0001);
    r.set(0xcf54, 1 << 12 | 1 << 2);
    r.run(EngineId::Rcs, &[NOOP, NOOP]);
    assert_eq!(missing(&r), GT + RENDER - 3);
}

/// Writes LNCFCMOCS, 32 registers from B020h on (digest §3.3 row 14), for the MOCS index 3 and all unused ones: WB, LKUP
/// is 30h (cacheability 5:4) and 80h (LKUP 7) in each half (§5.4).
fn write_l3(rig: &Rig, registers: std::ops::Range<u32>) {
    for n in registers {
        rig.set(0xb020 + 4 * n, 0x00b0_00b0);
    }
}

/// Resets the render engine and with it compute engines: RESET_CTL, then GDRST bit 1. Sets two of them up again.
fn reset_render(rig: &Rig) {
    rig.eset(EngineId::Rcs, 0xd0, 0x0001_0001);
    rig.set(0x941c, 1 << 1);
    rig.eset(EngineId::Rcs, 0xd0, 0x0001_0000);
    rig.start_engine(EngineId::Rcs);
    rig.start_engine(EngineId::Ccs1);
}

#[test]
fn a_reset_of_an_engine_loses_the_l3s_table() {
    let rig = with("lost_l3");
    rig.wake_all();
    write_l3(&rig, 0..32);
    // Of the blitter it does not.
    rig.eset(EngineId::Bcs, 0xd0, 0x0001_0001);
    rig.set(0x941c, 1 << 2);
    assert_eq!(rig.reg(0xb09c), 0x00b0_00b0);
    reset_render(&rig);
    for at in [0xb020, 0xb05c, 0xb09c] {
        assert_eq!(rig.reg(at), 0, "{at:#x}");
    }
    rig.clean();
    // Without the habit only a full reset does (§5.6).
    let rig = with("");
    rig.wake_all();
    write_l3(&rig, 0..32);
    reset_render(&rig);
    assert_eq!(rig.reg(0xb020), 0x00b0_00b0);
    rig.set(0x941c, 1);
    assert_eq!(rig.reg(0xb020), 0);
    rig.clean();
}

#[test]
fn engines_need_the_l3s_table() {
    let missing = |habits: &str, set_up: &dyn Fn(&Rig), e: EngineId| {
        let rig = Rig::with(Dg2Config {
            real: habits.parse().expect("habits"),
            ..Dg2Config::default()
        });
        set_up(&rig);
        rig.run(e, &[NOOP, NOOP]);
        rig.run(e, &[NOOP, NOOP]);
        rig.gpu.lint_count(Rule::L3Unprogrammed)
    };
    let whole = |rig: &Rig| write_l3(rig, 0..32);
    let reset = |rig: &Rig| {
        write_l3(rig, 0..32);
        reset_render(rig);
    };
    let again = |rig: &Rig| {
        write_l3(rig, 0..32);
        reset_render(rig);
        write_l3(rig, 0..32);
    };
    for e in [EngineId::Rcs, EngineId::Ccs1] {
        assert_eq!(missing("lost_l3", &|_| {}, e), 1, "once");
        assert_eq!(missing("lost_l3", &whole, e), 0);
        assert_eq!(missing("lost_l3", &|rig| write_l3(rig, 0..31), e), 1);
        assert_eq!(missing("lost_l3", &reset, e), 1);
        assert_eq!(missing("lost_l3", &again, e), 0);
        assert_eq!(missing("", &reset, e), 0);
    }
    // The blitter does not use it.
    assert_eq!(missing("lost_l3", &|_| {}, EngineId::Bcs), 0);
}
