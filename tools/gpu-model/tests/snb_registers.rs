// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers of the modelled Sandy Bridge: reset values, write rules, forcewake, FIFO, reset,
//! mailbox (SNB PRM V1P2 §3, §5.9; VCS PRM 1.1; digest §5).

use crate::snb_rig::{block, Rig, TARGET};
use gpu_model::counters::Counter;
use gpu_model::memory::VecMemory;
use gpu_model::model::NoIrq;
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{EngineId, FifoDrain, RingConfig, RingGpu, ENGINES};
use std::sync::Arc;

/// All three engines.
const BASES: [u32; 3] = [0x2000, 0x12000, 0x22000];

fn asleep(cfg: RingConfig) -> RingGpu {
    RingGpu::new(cfg, Arc::new(VecMemory::new(4096)), Arc::new(NoIrq))
}

#[test]
fn reset_values() {
    // SNB PRM V1P2 §5.9; VCS PRM 1.1 tables.
    let rig = Rig::bare(RingConfig::default());
    for b in BASES {
        assert_eq!(rig.reg(b + 0x3c), 0, "ring disabled");
        assert_eq!(rig.reg(b + 0xa8), 0xffff_ffff, "IMR");
        assert_eq!(rig.reg(b + 0x98), 0xffff_ffff, "HWSTAM");
        assert_eq!(rig.reg(b + 0xb4), 0x0000_ffff, "EMR: bits 15:0 exist");
        assert_eq!(rig.reg(b + 0xb0), 0, "EIR");
        assert_eq!(rig.reg(b + 0xb8), 0, "ESR");
        assert_eq!(rig.reg(b + 0x6c), 0xffff_ffff, "INSTDONE");
        assert_eq!(rig.reg(b + 0x94), 0, "NOPID");
        assert_eq!(rig.reg(b + 0xc0), 0, "INSTPM: all groups enabled");
        assert_eq!(rig.reg(b + 0x2080), 0x1fff_f000, "status page address");
        assert_eq!(rig.reg(b + 0x9c) & 0x200, 0x200, "idle");
    }
    assert_eq!(rig.reg(0x207c), 0xffff_ffff, "INSTDONE, second word");
    assert_eq!(rig.reg(0x44014), 0xffff_ffff, "GTIMR");
    assert_eq!(rig.reg(0x4401c), 0, "GTIER");
    assert_eq!(rig.reg(0x2180) & 1, 0, "CCID not valid (§5.8.1.1)");
    for n in 0..16 {
        assert_eq!(rig.reg(0x100000 + 8 * n) & 1, 0, "fence {n}");
    }
    for f in [0x4094, 0x4194, 0x4294] {
        assert_eq!(rig.reg(f) & 1, 0, "fault record {f:#x}");
    }
    assert_eq!(
        rig.reg(0x14050),
        0x0040_0002,
        "GAC_ARB_CTL (VCS PRM 1.1.9.2.2)"
    );
}

#[test]
fn masked_registers_need_their_mask_bits() {
    // VCS PRM 1.1.2.2: 31:16 enable, and read zero.
    let rig = Rig::bare(RingConfig::default());
    for r in [
        0x2520, 0x20c0, 0x120c0, 0x220c0, 0x2084, 0x2090, 0x20d0, 0x2120, 0x20e4, 0x4030,
    ] {
        rig.set(r, 0x0000_0080);
        assert_eq!(rig.reg(r), 0, "{r:#x} without mask");
        rig.set(r, 0x0080_0080);
        assert_eq!(rig.reg(r), 0x80, "{r:#x}");
        rig.set(r, 0x0002_0002);
        assert_eq!(rig.reg(r), 0x82, "{r:#x} keeps the other");
        rig.set(r, 0x0080_0000);
        assert_eq!(rig.reg(r), 0x02, "{r:#x} clears");
    }
    // EXCC: five codes on video, eight elsewhere.
    for (b, all) in [(0x2000, 0xff), (0x12000, 0x1f), (0x22000, 0xff)] {
        rig.set(b + 0x28, 0xffff_ffff);
        assert_eq!(rig.reg(b + 0x28), all);
    }
}

#[test]
fn read_only_registers() {
    let rig = Rig::bare(RingConfig::default());
    for b in BASES {
        for o in [0x68, 0x6c, 0x70, 0x74, 0x110, 0x140] {
            let before = rig.reg(b + o);
            rig.set(b + o, 0x5555_5555);
            assert_eq!(rig.reg(b + o), before, "{:#x}", b + o);
        }
    }
    rig.set(0x21a0, 0);
    assert_ne!(rig.reg(0x21a0), 0, "CXT_SIZE");
}

#[test]
fn context_size_has_all_fields_in_lines_of_64_bytes() {
    // Digest G-27: 29:24 power, 23:18 ring, 17:12 render, 11:6 extended, 5:0 pipelined.
    let rig = Rig::bare(RingConfig::default());
    assert_eq!(rig.reg(0x21a0), 0x0429_47ed);
}

#[test]
fn registers_below_0x40000_need_the_gt_awake() {
    // Digest G-15.
    let gpu = asleep(RingConfig::default());
    assert_eq!(gpu.mmio_read32(0x20a8), 0, "asleep: reads zero");
    gpu.mmio_write32(0x2038, 0x5000);
    assert_eq!(gpu.mmio_read32(0x130090), 0);
    assert_ne!(gpu.mmio_read32(0x13805c) & 7, 0, "not in C0");
    assert_eq!(gpu.lint_count(Rule::AsleepRead), 1);
    assert_eq!(gpu.lint_count(Rule::AsleepWrite), 1);
    gpu.mmio_write32(0xa18c, 0x0001_0001);
    assert_eq!(gpu.mmio_read32(0x130090) & 1, 1);
    assert_eq!(gpu.mmio_read32(0x13805c) & 7, 0);
    assert_eq!(gpu.mmio_read32(0x20a8), 0xffff_ffff);
    assert_eq!(gpu.mmio_read32(0x2038), 0, "the write was lost");
    assert_eq!(gpu.mmio_read32(0xa18c), 1, "as on a real machine");
    // Only bit 0 of the request counts.
    gpu.mmio_write32(0xa18c, 0x0001_0000);
    assert_eq!(gpu.mmio_read32(0x130090) & 1, 0);
    gpu.mmio_write32(0xa18c, 0x0000_0001);
    assert_eq!(gpu.mmio_read32(0x130090) & 1, 1);
    gpu.mmio_write32(0xa18c, 0xffff_0000);
    assert_eq!(gpu.mmio_read32(0x130090) & 1, 0);
    // Registers from 0x40000 on, and the reset register, do not.
    gpu.mmio_write32(0x4401c, 1);
    assert_eq!(gpu.mmio_read32(0x4401c), 1);
    assert_eq!(gpu.mmio_read32(0x941c), 0);
    assert_eq!(gpu.lint_count(Rule::AsleepRead), 1);
}

#[test]
fn asleep_writes_can_go_through_the_fifo() {
    let gpu = asleep(RingConfig {
        asleep_fifo: true,
        ..RingConfig::default()
    });
    gpu.mmio_write32(0x2038, 0x5000);
    assert_eq!(gpu.lint_count(Rule::AsleepWrite), 1);
    gpu.mmio_write32(0xa18c, 1);
    assert_eq!(gpu.mmio_read32(0x2038), 0x5000);
}

#[test]
fn fifo_counts_writes() {
    // Digest G-16: free entries in 6:0, error bits in GTFIFODBG.
    let gpu = asleep(RingConfig::default());
    gpu.mmio_write32(0xa18c, 1);
    assert_eq!(gpu.mmio_read32(0x120008) & 0x7f, 64);
    for _ in 0..64 {
        gpu.mmio_write32(0x2028, 0x0001_0001);
    }
    assert_eq!(gpu.lint_count(Rule::FifoOverflow), 0);
    gpu.mmio_write32(0x2028, 0x0002_0002);
    assert_eq!(gpu.lint_count(Rule::FifoOverflow), 1);
    assert_eq!(gpu.mmio_read32(0x120000), 0x4);
    assert_eq!(gpu.mmio_read32(0x2028), 0x1, "the write was lost");
    gpu.mmio_write32(0x120000, 0xffff_ffff);
    assert_eq!(gpu.mmio_read32(0x120000), 0, "cleared by ones");
    assert_eq!(
        gpu.mmio_read32(0x120008) & 0x7f,
        64,
        "drained while looked at"
    );
}

#[test]
fn fifo_drains_with_time() {
    let gpu = asleep(RingConfig {
        fifo: FifoDrain::Timed(100),
        ..RingConfig::default()
    });
    gpu.mmio_write32(0xa18c, 1);
    for _ in 0..10 {
        gpu.mmio_write32(0x2028, 0x0001_0001);
    }
    assert_eq!(gpu.mmio_read32(0x120008) & 0x7f, 54);
    gpu.clock().advance_to(400);
    assert_eq!(gpu.mmio_read32(0x120008) & 0x7f, 58);
    gpu.clock().advance_to(4000);
    assert_eq!(gpu.mmio_read32(0x120008) & 0x7f, 64);
}

#[test]
fn full_reset() {
    // Digest G-24; §5.9; fences survive (§4.5.4.1.1), TLBs too (VCS PRM 1.1.3.5).
    let rig = Rig::new();
    rig.set(0x100000, 0x0010_0001);
    rig.set(0x100004, 0x0013_f003);
    rig.set(0x2084, 0x0400_0400);
    rig.set(0x4090, 0x418);
    rig.set(0x44014, 0x1234_5678);
    rig.set(0x2520, 0x0200_0200);
    rig.run(EngineId::Rcs, &[0x1040_0002, 0, TARGET, 1]);
    let cached = rig.gpu.cached_translations(EngineId::Rcs);
    assert_ne!(cached, 0);
    rig.set(0x941c, 1);
    assert_eq!(rig.reg(0x941c), 0, "done");
    for b in BASES {
        assert_eq!(rig.reg(b + 0x3c), 0);
        assert_eq!(rig.reg(b + 0x34), 0);
        assert_eq!(rig.reg(b + 0xa8), 0xffff_ffff);
        assert_eq!(rig.reg(b + 0x2080), 0x1fff_f000);
    }
    assert_eq!(
        (rig.reg(0x2084), rig.reg(0x4090), rig.reg(0x2520)),
        (0, 0, 0)
    );
    assert_eq!(
        (rig.reg(0x100000), rig.reg(0x100004)),
        (0x0010_0001, 0x0013_f003)
    );
    assert_eq!(rig.reg(0x44014), 0x1234_5678, "not in the GT");
    assert_eq!(rig.reg(0x130090), 1, "still awake");
    assert_eq!(rig.gpu.cached_translations(EngineId::Rcs), cached);
    assert_eq!(rig.gpu.counter(Counter::Resets), 3);
}

#[test]
fn reset_of_one_engine() {
    // GDRST bits 1, 2, 3.
    for (e, bit) in [(EngineId::Rcs, 2), (EngineId::Vcs, 4), (EngineId::Bcs, 8)] {
        let rig = Rig::new();
        rig.set(0x941c, bit);
        for other in ENGINES {
            let enabled = rig.reg(block(other) + 0x3c);
            assert_eq!(
                enabled,
                u32::from(other != e),
                "{} after reset of {}",
                other.name(),
                e.name()
            );
        }
        rig.start_ring(e);
        rig.run(e, &[0x1040_0002, 0, TARGET, 1]);
        assert_eq!(rig.at(TARGET), 1);
        rig.clean();
    }
}

#[test]
fn mailbox() {
    // Digest G-40: bit 31 busy, status in 7:0; peer digest A.3: voltages of at least 0x29.
    let gpu = asleep(RingConfig::default());
    gpu.mmio_write32(0x138128, 0);
    gpu.mmio_write32(0x138124, 0x8000_0005);
    assert_eq!(gpu.mmio_read32(0x138124), 0);
    assert!(gpu.mmio_read32(0x138128) >= 0x29);
    gpu.mmio_write32(0x138124, 0x8000_00ee);
    assert_eq!(gpu.mmio_read32(0x138124), 1, "no such command");
    assert_eq!(gpu.lint_count(Rule::UnknownPcode), 1);
}

#[test]
fn mchbar_alias() {
    // §3: aligned word, dword and quadword for the CPU; digest G-31: unequal memory, no swizzle.
    use gpu_model::model::GpuModel;
    let gpu = asleep(RingConfig::default());
    assert_eq!(
        (gpu.mmio_read32(0x145004), gpu.mmio_read32(0x145008)),
        (0x10, 0)
    );
    gpu.bar_write(0, 0x148002, &0x1234u16.to_le_bytes());
    assert_eq!(gpu.mmio_read32(0x148000), 0x1234_0000);
    let mut word = [0; 2];
    gpu.bar_read(0, 0x148002, &mut word);
    assert_eq!(u16::from_le_bytes(word), 0x1234);
    gpu.mmio_write64(0x148008, 0x1111_2222_3333_4444);
    assert_eq!(gpu.mmio_read64(0x148008), 0x1111_2222_3333_4444);
    assert_eq!(gpu.lints(), vec![]);
    let gpu = asleep(RingConfig {
        swizzle: true,
        ..RingConfig::default()
    });
    assert_eq!(gpu.mmio_read32(0x145004), gpu.mmio_read32(0x145008));
}

/// Nanoseconds of the device's clock in so many units of GT_GFX_RC6.
const fn ticks(ticks: u64) -> u64 {
    1280 * ticks
}

#[test]
fn standby_is_counted_while_the_gt_sleeps_in_it() {
    // The kernel's intel_rc6.c: units of 1.28 us; RC_CONTROL (a090) bit 18 RC6, 17 RC6p, 16 RC6pp, 31 by hardware;
    // RC_STATE (a094) 18:16 4 RC6, 5 RC6p, 6 RC6pp. live_rc6_manual: none while it is off, some when it is asked for.
    let gpu = asleep(RingConfig::default());
    let wake = |on| gpu.mmio_write32(0xa18c, on);
    let pass = |units| gpu.clock().advance_to(gpu.clock().now() + ticks(units));
    let counts = || [0x138108, 0x13810c, 0x138110].map(|r| gpu.mmio_read32(r));
    pass(100);
    assert_eq!(counts(), [0, 0, 0], "asleep, but standby is off");
    let ask = |control, state| {
        wake(1);
        gpu.mmio_write32(0xa090, control);
        gpu.mmio_write32(0xa094, state);
        wake(0);
    };
    ask(1 << 18, 0);
    pass(100);
    assert_eq!(counts(), [0, 0, 0], "not asked for");
    ask(1 << 18, 4 << 16);
    pass(7);
    assert_eq!(counts(), [7, 0, 0]);
    wake(1);
    pass(50);
    assert_eq!(counts(), [7, 0, 0], "awake");
    ask(1 << 18, 5 << 16);
    pass(3);
    ask(1 << 18, 6 << 16);
    pass(2);
    assert_eq!(counts(), [7, 3, 2]);
    // By hardware, in the deepest level that is enabled.
    ask(1 << 31 | 1 << 27 | 1 << 18, 0);
    pass(10);
    ask(1 << 31 | 1 << 27 | 1 << 18 | 1 << 17, 0);
    pass(20);
    ask(1 << 31 | 1 << 27 | 7 << 16, 0);
    pass(30);
    assert_eq!(counts(), [17, 23, 32]);
    ask(0, 4 << 16);
    pass(100);
    assert_eq!(counts(), [17, 23, 32], "switched off");
}

#[test]
fn an_engine_at_work_keeps_the_gt_out_of_standby() {
    // intel_rc6.c, as above: standby is for a GT that has nothing to do.
    let gpu = asleep(RingConfig::default());
    gpu.mmio_write32(0xa18c, 1);
    gpu.mmio_write32(0xa090, 1 << 31 | 1 << 27 | 1 << 18);
    // A ring with something in it, which has not been fetched yet.
    gpu.mmio_write32(0x22038, 0);
    gpu.mmio_write32(0x2203c, 1);
    gpu.mmio_write32(0x22030, 8);
    gpu.mmio_write32(0xa18c, 0);
    gpu.clock().advance_to(ticks(100));
    assert_eq!(gpu.mmio_read32(0x138108), 0);
}

#[test]
fn unaligned_and_narrow_accesses_are_reported() {
    use gpu_model::model::GpuModel;
    let rig = Rig::bare(RingConfig::default());
    rig.set(0x2094, 0x0012_3456);
    let mut b = [0; 1];
    rig.gpu.bar_read(0, 0x2095, &mut b);
    assert_eq!(b, [0x34]);
    rig.gpu.bar_write(0, 0x2094, &[0]);
    assert_eq!(rig.reg(0x2094), 0x0012_3456, "no effect");
    assert_eq!(rig.gpu.mmio_read32(0x2095), 0);
    assert_eq!(rig.gpu.lint_count(Rule::BadAccess), 3);
}

#[test]
fn undocumented_registers_are_counted() {
    let rig = Rig::bare(RingConfig::default());
    assert_eq!(rig.reg(0x2ffc), 0);
    rig.set(0x2ffc, 7);
    assert_eq!(rig.reg(0x2ffc), 0);
    rig.set(0x1f_f000, 7);
    // There is no seventeenth fence (§4.5.4.1.1).
    rig.reg(0x100080);
    assert_eq!(
        rig.gpu.undocumented(),
        vec![(0x2ffc, 2, 1), (0x10_0080, 1, 0), (0x1f_f000, 0, 1)]
    );
    assert_eq!(rig.gpu.counter(Counter::Undocumented), 5);
}

#[test]
fn display_registers_read_zero() {
    let rig = Rig::bare(RingConfig::default());
    rig.set(0x70180, 0xffff_ffff);
    assert_eq!(rig.reg(0x70180), 0);
    rig.set(0xe1100, 0x8000_0000);
    assert_eq!(rig.reg(0xe1100), 0);
    rig.set(0xc4004, 0x5555_5555);
    assert_eq!(rig.reg(0xc4004), 0x5555_5555, "south mask is storage");
    assert_eq!(rig.gpu.counter(Counter::DisplayAccesses), 6);
    rig.clean();
}

#[test]
fn everything_the_upstream_driver_touches_is_there() {
    // Peer digest I.1: offsets or ranges; and what error capture reads.
    let list = "2024 2030-203c 2054 2064 2084 2090 2098 209c 20a8 20b0 20c0 20d0 2120 21a0 2220 2228 \
        2520 4080 4090 4094 4194 4394 9400 9404 941c a090-a0a0 a0a8-a0c0 a168 a18c 12030-1203c 12050 \
        12054 12098 1209c 120a8 120c0 12198 1219c 12220 12228 14080 14090 22030-2203c 22054 22098 \
        2209c 220a8 220c0 22220 22228 24000 24080 44004 44008 4400c 44014 44018 4401c 44024 44028 \
        4402c 100000-10007c 101008 120000 120008 130090 13805c 138108 138124 138128 13812c 145004 \
        145008 145998 145d10 145e04 41000 42000 42004 42020 43208 44030 45000 45100-45110 45120 \
        64000 70008 70080 700c0 70180 7019c 71008 71180 7119c 72180 73180 78000 78004 c2004 c2020 \
        c4004 c4008 c400c c4030 c4040 c5100 c5110 c6014 c6018 c6040-c604c c6200 c6204 c7204 e1100 \
        e1140 e1150 e1160 e1180 e4200 e4300 f0060 f0064 f1060 f1064 \
        2068 206c 2070 2074 2078 2140 40a0 40b0 4030 101000 2180 207c 2518";
    let rig = Rig::bare(RingConfig::default());
    let hex = |s: &str| u32::from_str_radix(s, 16).expect("hex");
    let mut n = 0;
    for word in list.split_whitespace() {
        let (a, b) = word.split_once('-').unwrap_or((word, word));
        for offset in (hex(a)..=hex(b)).step_by(4) {
            rig.reg(offset);
            n += 1;
        }
    }
    assert_eq!(n, 194, "length of the list");
    assert_eq!(rig.gpu.undocumented(), vec![]);
}

#[test]
fn timestamp_ticks_in_80_ns() {
    // VCS PRM 1.1.9.5: 36 bits; survives a graphics reset.
    let rig = Rig::bare(RingConfig::default());
    rig.gpu.clock().advance_to(80 * 0x1_2345_6789);
    for b in BASES {
        assert_eq!(rig.gpu.mmio_read64(b + 0x358), 0x1_2345_6789);
    }
    rig.set(0x941c, 1);
    assert_eq!(rig.reg(0x2358), 0x2345_6789);
    rig.gpu.clock().advance_to(80 * (1 << 36) + 160);
    assert_eq!(rig.gpu.mmio_read64(0x2358), 2, "wraps at 36 bits");
}

#[test]
fn sync_flush() {
    // §5.3.11.2; VCS PRM 1.1.3.5: ring stopped; bit 5 clears itself; status toggles.
    for (e, status) in [
        (EngineId::Rcs, 1 << 2),
        (EngineId::Vcs, 1 << 14),
        (EngineId::Bcs, 1 << 24),
    ] {
        let rig = Rig::new();
        rig.run(e, &[0x1040_0002, 0, TARGET, 1]);
        assert_ne!(rig.gpu.cached_translations(e), 0);
        rig.set(block(e) + 0x9c, 0x0100_0100);
        rig.set(block(e) + 0xc0, 0x0220_0220);
        assert_eq!(rig.reg(block(e) + 0xc0), 0);
        assert_eq!(rig.gpu.cached_translations(e), 0);
        assert_eq!(rig.reg(0x44010), status);
        rig.set(block(e) + 0xc0, 0x0020_0020);
        assert_eq!(rig.reg(0x44010), 0, "toggles");
        rig.clean();
    }
}

#[test]
fn sync_flush_rules() {
    let rig = Rig::new();
    rig.submit(EngineId::Vcs, &[0, 0, 0, 0]);
    rig.set(0x120c0, 0x0020_0020);
    assert_eq!(rig.gpu.lint_count(Rule::SyncFlushRunning), 1);
    // The render engine does it before its next command (§5.3.11.2).
    rig.submit(EngineId::Rcs, &[0, 0, 0, 0]);
    rig.set(0x20c0, 0x0020_0020);
    assert_eq!(rig.reg(0x20c0), 0);
    assert_eq!(rig.gpu.lint_count(Rule::SyncFlushRunning), 1);
    // Bit 9 alone: no effect.
    rig.run(EngineId::Rcs, &[0x1040_0002, 0, TARGET, 1]);
    let cached = rig.gpu.cached_translations(EngineId::Rcs);
    rig.set(0x20c0, 0x0200_0200);
    assert_eq!(rig.gpu.cached_translations(EngineId::Rcs), cached);
    assert_eq!(rig.gpu.lint_count(Rule::InstpmTlbAlone), 1);
}

#[test]
fn suspended_flush_waits() {
    // VCS PRM 1.2.14: while MI_SUSPEND_FLUSH is in force a sync flush does not complete.
    let rig = Rig::new();
    rig.run(EngineId::Vcs, &[0x0580_0001, 0]);
    rig.set(0x120c0, 0x0020_0020);
    assert_eq!(rig.reg(0x120c0), 0x20);
    rig.run(EngineId::Vcs, &[0x0580_0000, 0]);
    assert_eq!(rig.reg(0x120c0), 0);
}
