// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Injected misbehaviour, chaos, hostile streams, and the device on a thread of its own.

use crate::r5xx_rig::{config, packet, type0, Rig, GTT, INDIRECT, WRITE_BACK};
use gpu_model::chaos::Chaos;
use gpu_model::counters::Counter;
use gpu_model::fault::{Fault, Kind};
use gpu_model::memory::VecMemory;
use gpu_model::model::{self, GpuModel, NoIrq, Options};
use gpu_model::r5xx::{Lockup, R5xx, Rule};
use std::sync::Arc;

fn scratch(value: u32) -> [u32; 2] {
    [type0(0x15e0, 1), value]
}

const RAISE: [u32; 2] = [0x11, 1 << 26];

/// A hang stops before a packet, until the reset.
#[test]
fn a_hang() {
    let rig = Rig::new();
    rig.gpu.inject(Fault::once(Kind::Hang).on("cp").after(1));
    rig.run(&[scratch(1), scratch(2)].concat());
    assert_eq!(rig.reg(0x15e0), 1);
    assert_eq!(rig.gpu.lockup(), Some(Lockup::Injected));
    rig.set(0xf0, 1);
    rig.set(0xf0, 0);
    rig.set(0x714, 0);
    rig.run(&scratch(3));
    assert_eq!(rig.reg(0x15e0), 3);
}

#[test]
fn a_reset_that_sticks_or_is_late() {
    let rig = Rig::new();
    rig.gpu.inject(Fault::once(Kind::Hang));
    rig.run(&scratch(1));
    rig.gpu.inject(Fault::once(Kind::StuckReset));
    rig.set(0xf0, 1);
    assert!(rig.gpu.lockup().is_some());
    rig.gpu.inject(Fault::once(Kind::LateReset).value(100));
    rig.set(0xf0, 1);
    assert!(rig.gpu.lockup().is_some());
    rig.gpu.clock().advance_to(100_000);
    rig.reg(0xe40);
    assert_eq!(rig.gpu.lockup(), None);
}

/// Interrupts that are lost, late or spurious; messages that are lost or doubled.
#[test]
fn interrupts() {
    for (kind, after_work, at_last) in [
        (Kind::LoseIrq, 0, 0),
        (Kind::LateIrq, 0, 1),
        (Kind::LoseMsg, 0, 0),
        (Kind::DupIrq, 2, 2),
    ] {
        let rig = Rig::new();
        rig.gpu.config_write(0x82, &[1, 0]);
        rig.set(0x40, 1 << 25);
        rig.gpu.inject(Fault::once(kind).value(50));
        rig.submit(&RAISE);
        while rig.reg(0x710) != 2 {
            rig.gpu.step();
        }
        rig.gpu.step();
        assert_eq!(rig.messages(), after_work, "{kind:?}");
        rig.settle();
        rig.gpu.clock().advance_to(1_000_000);
        rig.reg(0xe40);
        assert_eq!(rig.messages(), at_last, "{kind:?}");
    }
}

/// A failed access is in the GART's error register, and no rule is broken by it.
#[test]
fn a_page_fault() {
    let rig = Rig::new();
    rig.gpu.inject(Fault::once(Kind::PageFault).on("2d"));
    rig.run(&packet(
        0x91,
        &[0x50f0_36d2, 4 << 22 | 0x400, 1, 0, 1 << 16 | 1],
    ));
    assert_eq!(rig.at(0x10_0000), 0);
    assert_eq!(rig.pcie(0x18) & !0xfff, 0x10_0000);
    assert_eq!(rig.gpu.counter(Counter::PageFaults), 1);
    rig.clean();
}

/// A piece of work begins when its delay is over.
#[test]
fn delays() {
    let rig = Rig::new();
    rig.gpu.set_delay(5_000);
    rig.submit(&scratch(1));
    for _ in 0..10 {
        rig.gpu.step();
    }
    assert_eq!(rig.reg(0x15e0), 0);
    rig.gpu.clock().advance_to(5_000);
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 1);
}

/// Gentle chaos: all work comes right.
#[test]
fn gentle_chaos_breaks_nothing() {
    let rig = Rig::new();
    rig.gpu.set_chaos(Some(Chaos::new(11, false)));
    for n in 1..200u32 {
        let paint = packet(0x91, &[0x50f0_36d2, 4 << 22 | 0x400, n, 0, 1 << 16 | 1]);
        let fence = [type0(0x1714, 1), 0xf, type0(0x1720, 1), 1 << 16];
        rig.run(&[&paint[..], &fence, &scratch(n), &RAISE].concat());
        assert_eq!(rig.guest(WRITE_BACK), n);
        assert_eq!(rig.at(0x10_0000), n);
    }
    rig.clean();
}

/// A simple generator: the model must stand anything.
fn noise(seed: u64) -> impl FnMut() -> u32 {
    let mut v = seed;
    move || {
        v = v
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (v >> 32) as u32
    }
}

/// Garbage as commands: of all types, with every opcode, in and out of buffers. It ends, and a reset
/// brings the command processor back.
#[test]
fn garbage_streams() {
    let mut next = noise(1);
    for round in 0..40u32 {
        let mut cfg = config("r520");
        cfg.vram = 1 << 20;
        cfg.aperture = 1 << 20;
        cfg.keep_accesses = 256;
        let rig = Rig::bare(cfg);
        rig.load_microcode();
        // The ring is in video memory, without a GART.
        rig.set(0x704, 1 << 27 | 9);
        rig.set(0x740, 4 << 28);
        let opcodes = [
            0x10, 0x19, 0x1d, 0x1e, 0x20, 0x21, 0x22, 0x23, 0x28, 0x29, 0x2a, 0x2c, 0x2f, 0x32,
            0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x91, 0x92, 0x94, 0x95, 0x98, 0x9a,
            0x9b, 0x9c,
        ];
        let mut at = 0;
        while at < 900 {
            let len = next() % 16;
            let header = match next() % 4 {
                0 => len << 16 | (next() & 0x1fff),
                1 => 0x4000_0000 | (next() & 0x3f_ffff),
                2 => next(),
                _ => 0xc000_0000 | len << 16 | opcodes[next() as usize % opcodes.len()] << 8,
            };
            rig.put(4 * at, &[header]);
            for n in 1..=len + 1 {
                let value = match next() % 3 {
                    0 => next(),
                    1 => next() & 0x00ff_00ff,
                    _ => next() & 0xf_ffff,
                };
                rig.put(4 * (at + n), &[value]);
            }
            at += len + 2;
        }
        rig.set(0x714, 900);
        // It may be caught in a loop that is none of ours, but each step ends.
        rig.gpu.run_until_idle(300);
        rig.set(0x740, 0);
        rig.set(0xf0, 0x7fff);
        rig.set(0xf0, 0);
        rig.set(0x704, 1 << 31 | 1 << 27 | 9);
        rig.set(0x71c, 0);
        rig.set(0x714, 0);
        rig.set(0x700, 0);
        rig.set(0xb00, 1 << 8);
        rig.set_mc(0x04, 0x000f_0000);
        rig.set(0x704, 1 << 27 | 9);
        rig.put(0, &scratch(round + 1));
        rig.set(0x740, 4 << 28);
        rig.set(0x714, 2);
        rig.gpu.run_until_idle(100_000);
        assert_eq!(rig.reg(0x15e0), round + 1, "{round}");
    }
}

/// Any access of a CPU, of any size and place.
#[test]
fn garbage_accesses() {
    let mut next = noise(2);
    let rig = Rig::new();
    for _ in 0..20_000 {
        let bar = [0, 2, 4, 6, 7][next() as usize % 5];
        let len = [1, 2, 4, 8, 3][next() as usize % 5];
        let offset = u64::from(next() >> (next() % 32));
        let mut bytes = next().to_le_bytes().repeat(2);
        bytes.truncate(len);
        if next().is_multiple_of(2) {
            rig.gpu.bar_write(bar, offset, &bytes);
        } else {
            rig.gpu.bar_read(bar, offset, &mut bytes);
        }
        if next().is_multiple_of(64) {
            rig.gpu.run_until_idle(100);
        }
    }
    rig.gpu.power_on();
    assert_eq!(rig.reg(0xe40), 0x1000_0140);
}

/// A program's mistakes are counted as its own; a host register in a program is the driver's.
#[test]
fn who_is_to_blame() {
    let rig = Rig::new();
    rig.run_indirect(&[type0(0x38, 1), 0]);
    assert_eq!(rig.gpu.client_lints(), [(Rule::ClientRegister, 1)]);
    assert_eq!(rig.gpu.undocumented(), []);
    rig.run_indirect(&[type0(0x704, 1), rig.reg(0x704)]);
    assert_eq!(rig.gpu.lints(), [(Rule::PrivilegedRegister, 1)]);
}

/// A header that an injected fault takes reads as zero: a write of MM_INDEX (§5.1) that the driver has not passed. So is
/// what it starts: a second indirect buffer (§4.10). The next program has no excuse.
#[test]
fn a_torn_stream() {
    const NOP: u32 = 3 << 30 | 0x10 << 8;
    let rig = Rig::new();
    rig.gpu
        .inject(Fault::once(Kind::PageFault).on("cp").after(2));
    let second = INDIRECT + 0x100;
    rig.put_guest(second, &[type0(0, 1), 0]);
    let start = [type0(0x730, 2), GTT + second as u32, 2];
    rig.run_indirect(&[&[NOP, 7, NOP, 0][..], &start[..]].concat());
    assert_eq!(rig.gpu.counter(Counter::PageFaults), 1);
    assert_eq!(rig.gpu.lints(), []);
    rig.run_indirect(&[type0(0, 1), 0]);
    assert_eq!(rig.gpu.lints(), [(Rule::PrivilegedRegister, 1)]);
}

/// As a server makes it: all chips, on a thread, in real time.
#[test]
fn on_a_thread() {
    for name in ["rv515", "rv530", "r520", "r580"] {
        let memory = Arc::new(VecMemory::new(1 << 20));
        let gpu = R5xx::in_real_time(config(name), memory, Arc::new(NoIrq)).expect("memory");
        gpu.start_engines();
        for (offset, value) in [(0x704, 1 << 27 | 9), (0x740, 4 << 28)] {
            gpu.mmio_write32(offset, value);
        }
        gpu.aperture_write(0, &[0x78, 5, 0, 0, 0x2a, 0, 0, 0]);
        gpu.mmio_write32(0x714, 2);
        let start = std::time::Instant::now();
        while gpu.mmio_read32(0x15e0) != 0x2a {
            assert!(start.elapsed().as_secs() < 60, "{name}");
            std::thread::yield_now();
        }
        gpu.stop_engines();
    }
}

/// A server offers video memory to map, with garbage in it; with INTx only, none.
#[test]
fn for_a_server() {
    let made = |no_msi| {
        let options = Options {
            vram_mb: Some(4),
            no_msi,
            ..Options::default()
        };
        let memory = Arc::new(VecMemory::new(4096));
        model::build("rv515", options, memory, Arc::new(NoIrq))
            .expect("known")
            .expect("made")
    };
    let gpu = made(false);
    let regions = gpu.regions();
    let sizes: Vec<_> = regions.iter().map(|r| (r.bar, r.size)).collect();
    assert_eq!(sizes, [(0, 4 << 20), (2, 64 << 10), (4, 256), (6, 2048)]);
    assert_eq!(
        regions[0].shared.as_ref().map(|s| (s.offset, s.size)),
        Some((0, 4 << 20))
    );
    let mut b = [0; 64];
    gpu.bar_read(0, 0x1000, &mut b);
    assert_ne!(b, [0; 64]);
    assert!(made(true).regions()[0].shared.is_none());
    let report = gpu.report();
    assert_eq!(report["gpu"], "rv515");
    assert_eq!(report["device"], "1002:7140");
}
