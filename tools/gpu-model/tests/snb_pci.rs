// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Configuration space of the modelled Sandy Bridge, the test capability, resets from outside
//! (digest G-01..G-05; peer digest A.2).

use crate::snb_rig::{Rig, TARGET};
use gpu_model::counters::{Counter, NAMES};
use gpu_model::fault::Kind;
use gpu_model::memory::VecMemory;
use gpu_model::model::{build, GpuModel, NoIrq, Options};
use gpu_model::ring::{EngineId, RingConfig};
use std::sync::Arc;

fn dword(rig: &Rig, at: usize) -> u32 {
    let mut b = [0; 4];
    rig.gpu.config_read_at(at, &mut b);
    u32::from_le_bytes(b)
}

fn put(rig: &Rig, at: usize, v: u32) {
    rig.gpu.config_write_at(at, &v.to_le_bytes());
}

#[test]
fn identity() {
    let rig = Rig::bare(RingConfig::default());
    assert_eq!(dword(&rig, 0), 0x0116_8086);
    assert_eq!(dword(&rig, 8) >> 8, 0x03_8000, "class: display, other");
    assert_eq!(dword(&rig, 0x50) & 0x300, 0x200, "GGMS: 2 MB of entries");
    assert_eq!(dword(&rig, 0x50) & 0xf8, 0, "no stolen memory");
    assert_eq!(dword(&rig, 0x5c), 0);
    let rig = Rig::bare(RingConfig {
        gtt_mb: 1,
        ..RingConfig::default()
    });
    assert_eq!(dword(&rig, 0x50) & 0x300, 0x100);
}

#[test]
fn device_ids() {
    // Desktop GT1, desktop GT2, mobile GT1, server (the kernel's list of Sandy Bridge's ids).
    let id = |gpu: &str, id| {
        let options = Options {
            device_id: Some(id),
            ..Options::default()
        };
        let memory = Arc::new(VecMemory::new(4096));
        let model = build(gpu, options, memory, Arc::new(NoIrq)).expect("a model");
        model.map(|m| {
            let mut b = [0; 4];
            m.config_read(0, &mut b);
            u32::from_le_bytes(b)
        })
    };
    for (which, dword) in [
        (0x0102, 0x0102_8086),
        (0x0112, 0x0112_8086),
        (0x0106, 0x0106_8086),
        (0x010a, 0x010a_8086),
    ] {
        assert_eq!(id("snb", which).expect("an id of the chip"), dword);
    }
    assert!(id("snb", 0x0162).is_err(), "an Ivy Bridge");
    assert!(id("dg2", 0x56a0).is_err(), "no choice");
}

#[test]
fn bars() {
    let rig = Rig::bare(RingConfig::default());
    for at in (0x10..0x28).step_by(4) {
        put(&rig, at, 0xffff_ffff);
    }
    assert_eq!(
        (dword(&rig, 0x10), dword(&rig, 0x14)),
        (0xffc0_0004, 0xffff_ffff),
        "4 MB, 64 bit"
    );
    assert_eq!(
        (dword(&rig, 0x18), dword(&rig, 0x1c)),
        (0xf000_000c, 0xffff_ffff),
        "256 MB, prefetch"
    );
    assert_eq!(dword(&rig, 0x20), 0x0000_ffc1, "64 ports");
    put(&rig, 0x30, 0xffff_f800);
    assert_eq!(dword(&rig, 0x30), 0, "no ROM");
    let sizes: Vec<(u32, u64)> = rig.gpu.regions().iter().map(|r| (r.bar, r.size)).collect();
    assert_eq!(sizes, [(0, 4 << 20), (2, 256 << 20), (4, 64)]);
    for (aperture, mask) in [(64u64, 0xfc00_000c), (128, 0xf800_000c), (512, 0xe000_000c)] {
        let rig = Rig::bare(RingConfig {
            aperture: aperture << 20,
            ..RingConfig::default()
        });
        put(&rig, 0x18, 0xffff_ffff);
        assert_eq!(dword(&rig, 0x18), mask, "{aperture} MB");
    }
}

#[test]
fn capabilities() {
    // MSI, power management, advanced features, the test capability; then the end.
    let rig = Rig::bare(RingConfig::default());
    let mut at = (dword(&rig, 0x34) & 0xff) as usize;
    let mut seen = Vec::new();
    while at != 0 {
        let head = dword(&rig, at);
        seen.push((at, head & 0xff));
        at = ((head >> 8) & 0xff) as usize;
    }
    assert_eq!(
        seen,
        [(0x90, 0x05), (0xd0, 0x01), (0xa4, 0x13), (0xb0, 0x09)]
    );
}

#[test]
fn intx_shows_in_the_status_register() {
    // PCI 3.0 §6.2.3: status bit 3 follows the line, unless MSI is enabled.
    let rig = Rig::new();
    rig.unmask_interrupts();
    assert_eq!(dword(&rig, 4) >> 16 & 8, 0);
    rig.run(EngineId::Rcs, &[0x0100_0000, 0]);
    assert_eq!(dword(&rig, 4) >> 16 & 8, 8);
    rig.gpu.config_write_at(0x92, &[1, 0]);
    assert_eq!(dword(&rig, 4) >> 16 & 8, 0);
    rig.gpu.config_write_at(0x92, &[0, 0]);
    rig.set(0x44018, 1);
    assert_eq!(dword(&rig, 4) >> 16 & 8, 0);
}

#[test]
fn the_capability_reads_counters() {
    let rig = Rig::new();
    assert_eq!(dword(&rig, 0xb4), 0x4d55_5047);
    assert_eq!(dword(&rig, 0xc4) as usize, NAMES.len());
    assert_eq!(NAMES[Counter::BcsTailWrites as usize], "bcs_tail_writes");
    put(&rig, 0xb8, 12);
    let before = dword(&rig, 0xbc);
    rig.run(EngineId::Bcs, &[0, 0]);
    assert_eq!(dword(&rig, 0xbc), before + 1);
    // A snapshot stands still until it is dropped.
    put(&rig, 0xc4, 1);
    rig.run(EngineId::Bcs, &[0, 0]);
    assert_eq!(dword(&rig, 0xbc), before + 1);
    put(&rig, 0xc4, 2);
    assert_eq!(dword(&rig, 0xbc), before + 2);
    put(&rig, 0xc4, 4);
    assert_eq!((dword(&rig, 0xbc), dword(&rig, 0xc0)), (0, 0));
    put(&rig, 0xb8, 9999);
    assert_eq!(dword(&rig, 0xbc), 0, "no such counter");
    assert_eq!(dword(&rig, 0xb8), 9999);
}

#[test]
fn the_capability_injects_faults() {
    let rig = Rig::new();
    // Code 7 is delay, engine 3 is bcs, once, no skip; the parameter comes first.
    assert_eq!(Kind::from_code(7), Some(Kind::Delay));
    assert_eq!(Kind::from_code(0), None);
    put(&rig, 0xcc, 2);
    put(&rig, 0xc8, 0x0000_1307);
    rig.submit(EngineId::Bcs, &[0x0100_0000, 0]);
    assert_eq!(
        rig.gpu.step(EngineId::Bcs),
        gpu_model::ring::StepResult::NotBefore(2000)
    );
    // Code 1 is hang, on any engine, after one command; code 0 forgets it.
    put(&rig, 0xc8, 0x0001_1001);
    put(&rig, 0xc8, 0);
    rig.run(EngineId::Rcs, &[0, 0, 0, 0]);
    assert_eq!(rig.reg(0x2034), 0x10);
    put(&rig, 0xc8, 0x0001_1001);
    rig.run(EngineId::Rcs, &[0, 0, 0, 0]);
    assert_eq!(rig.reg(0x2034), 0x14);
}

#[test]
fn function_level_reset_clears_fences_too() {
    // §4.5.4.1.1, §5.9: a full chipset reset.
    let rig = Rig::new();
    rig.set(0x100004, 0x0008_3003);
    rig.set(0x100000, 0x0008_0001);
    rig.set(0x4401c, 1);
    rig.run(EngineId::Rcs, &[0x1040_0002, 0, TARGET, 1]);
    let undisturbed = rig.gpu.counter(Counter::RcsTailWrites);
    rig.gpu.config_write_at(0xa8, &[1]);
    assert_eq!(
        (rig.reg(0x100000), rig.reg(0x100004), rig.reg(0x4401c)),
        (0, 0, 0)
    );
    assert_eq!(rig.reg(0x130090), 0, "asleep");
    assert_eq!(rig.gpu.cached_translations(EngineId::Rcs), 0);
    assert_eq!(
        rig.gpu.counter(Counter::RcsTailWrites),
        undisturbed,
        "counters are the test's"
    );
}

#[test]
fn report_has_everything() {
    let rig = Rig::new();
    rig.reg(0x2ffc);
    rig.run(EngineId::Rcs, &[0x0500_0000, 0]);
    let report = rig.gpu.report();
    assert_eq!(report["gpu"], "snb");
    assert_eq!(report["counters"]["undocumented"], 1);
    assert_eq!(report["lints"]["reserved"], 1);
    assert_eq!(report["undocumented"][0]["offset"], "0x002ffc");
    assert_eq!(report["undocumented"][0]["reads"], 1);
    assert!(rig.gpu.strict_failure());
    assert!(!Rig::new().gpu.strict_failure());
}

#[test]
fn events_are_recorded() {
    use gpu_model::trace::Event;
    let rig = Rig::new();
    rig.gpu.take_events();
    rig.set(0x2028, 0x0001_0000);
    rig.run(EngineId::Bcs, &[0x1040_0002, 0, TARGET, 1]);
    let events = rig.gpu.take_events();
    assert!(events.contains(&Event::Write {
        offset: 0x2028,
        value: 0x0001_0000
    }));
    let store = events
        .iter()
        .find(|e| matches!(e, Event::Command { .. }))
        .expect("a command");
    assert_eq!(
        store.to_string(),
        "C bcs ring 00000000 MI_STORE_DATA_IMM 10400002 00000000 00080000 00000001"
    );
}
