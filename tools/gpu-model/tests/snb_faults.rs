// SPDX-License-Identifier: GPL-2.0
//! Injected faults of the modelled Sandy Bridge: each one shows, once, and ends as it should.

mod snb_rig;

use gpu_model::counters::Counter;
use gpu_model::fault::{Fault, Kind, KINDS};
use gpu_model::snb::engine::Stop;
use gpu_model::snb::{EngineId, SnbConfig, StepResult};
use snb_rig::{status_page, Rig, TARGET};

const RCS: EngineId = EngineId::Rcs;
const BCS: EngineId = EngineId::Bcs;
const STORE_GLOBAL: u32 = 0x1040_0002;

#[test]
fn specifications() {
    let f: Fault = "hang:bcs@10".parse().expect("good");
    assert_eq!(f, Fault::once(Kind::Hang).on("bcs").after(10));
    let f: Fault = "lose-irq:rcs x3".parse().expect("good");
    assert_eq!(
        (f.kind, f.times, f.engine.as_deref()),
        (Kind::LoseIrq, 3, Some("rcs"))
    );
    let f: Fault = "delay:vcs=500".parse().expect("good");
    assert_eq!((f.kind, f.value), (Kind::Delay, 500));
    let f: Fault = "stuck-reset x0".parse().expect("good");
    assert_eq!(f, Fault::once(Kind::StuckReset).forever());
    assert_eq!(
        "garbage-read".parse::<Fault>().expect("good").kind,
        Kind::GarbageRead
    );
    for bad in [
        "",
        "hangs",
        "hang@",
        "hang@x",
        "hang:rcs=x",
        "page-fault,1",
        "hangx",
    ] {
        assert!(bad.parse::<Fault>().is_err(), "{bad}");
    }
    for (kind, name) in KINDS {
        assert_eq!(name.parse::<Fault>().expect("its own name").kind, *kind);
        assert_eq!(Fault::once(*kind).to_string(), *name);
    }
}

#[test]
fn hang_until_reset() {
    let rig = Rig::new();
    rig.gpu.inject(Fault::once(Kind::Hang).on("bcs").after(1));
    rig.run(
        BCS,
        &[STORE_GLOBAL, 0, TARGET, 1, STORE_GLOBAL, 0, TARGET, 2],
    );
    assert_eq!(rig.at(TARGET), 1);
    assert_eq!(rig.gpu.stop_reason(BCS), Stop::Hung);
    assert_eq!(rig.reg(0x22034), 0x10, "head stands");
    assert_eq!(rig.reg(0x2209c) & 0x200, 0, "not idle");
    rig.run(RCS, &[STORE_GLOBAL, 0, TARGET, 3]);
    assert_eq!(rig.at(TARGET), 3, "the others go on");
    // Stopping the ring does not make a hung engine idle.
    rig.set(0x2209c, 0x0100_0100);
    assert_eq!(rig.reg(0x2209c) & 0x200, 0);
    rig.set(0x941c, 1);
    rig.start_ring(BCS);
    rig.run(BCS, &[STORE_GLOBAL, 0, TARGET, 4]);
    assert_eq!(rig.at(TARGET), 4);
    assert_eq!(rig.gpu.counter(Counter::Injected), 1);
}

#[test]
fn lost_interrupt() {
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.gpu.inject(Fault::once(Kind::LoseIrq).on("rcs"));
    rig.run(RCS, &[0x0100_0000, 0]);
    assert_eq!((rig.reg(0x44018), rig.messages()), (0, 0));
    rig.run(RCS, &[0x0100_0000, 0]);
    assert_eq!((rig.reg(0x44018), rig.messages()), (1, 1));
}

#[test]
fn doubled_interrupt() {
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.gpu.inject(Fault::once(Kind::DupIrq));
    rig.run(RCS, &[0x0100_0000, 0]);
    assert_eq!(rig.messages(), 2);
    rig.set(0x44018, 1);
    rig.run(RCS, &[0x0100_0000, 0]);
    assert_eq!(rig.messages(), 3);
}

#[test]
fn page_fault_of_a_store() {
    let rig = Rig::new();
    // Opportunities are accesses: header and body of the command are fetched first.
    rig.gpu
        .inject(Fault::once(Kind::PageFault).on("bcs").after(2));
    rig.run(
        BCS,
        &[STORE_GLOBAL, 0, TARGET, 1, STORE_GLOBAL, 0, TARGET + 4, 2],
    );
    assert_eq!((rig.at(TARGET), rig.at(TARGET + 4)), (0, 2));
    assert_eq!(rig.reg(0x4294), 0x0008_0841);
}

#[test]
fn page_fault_of_a_blit() {
    // After the two fetches of the command comes its first access: here the write of a row.
    let rig = Rig::new();
    rig.gpu
        .inject(Fault::once(Kind::PageFault).on("bcs").after(2));
    rig.run(BCS, &[0x5430_0004, 0x03f0_0040, 0, 0x0002_0001, TARGET, 7]);
    assert_eq!((rig.at(TARGET), rig.at(TARGET + 0x40)), (0, 7));
    assert_eq!(rig.reg(0x4294), 0x0008_0849);
}

#[test]
fn stuck_reset() {
    let rig = Rig::new();
    rig.gpu.inject(Fault::once(Kind::StuckReset));
    rig.set(0x941c, 1);
    assert_eq!(rig.reg(0x941c), 1, "never done");
    assert_eq!(rig.reg(0x203c), 1, "nothing was reset");
    rig.set(0x941c, 1);
    assert_eq!((rig.reg(0x941c), rig.reg(0x203c)), (0, 0));
}

#[test]
fn removal() {
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.submit(RCS, &[0x0100_0000, 0]);
    rig.gpu.inject(Fault::once(Kind::Remove).after(2));
    assert_ne!(rig.gpu.mmio_read32(0x2030), 0xffff_ffff);
    assert_ne!(rig.gpu.mmio_read32(0x2030), 0xffff_ffff);
    for offset in [0x2030, 0x941c, 0x130090, 0x44018, 0x7_0008, 0x1f_fffc] {
        assert_eq!(rig.gpu.mmio_read32(offset), 0xffff_ffff);
    }
    rig.gpu.mmio_write32(0x44018, 0);
    assert_eq!(rig.gpu.gtt_read(5), 0xffff_ffff);
    let mut b = [0; 4];
    rig.gpu.aperture_read(TARGET, &mut b);
    assert_eq!(b, [0xff; 4]);
    rig.gpu.config_read_at(0, &mut b);
    assert_eq!(b, [0xff; 4]);
    assert_eq!(rig.gpu.step(RCS), StepResult::Stopped);
    assert_eq!(rig.messages(), 0);
    // Power-on brings it back.
    rig.gpu.power_on();
    rig.gpu.config_read_at(0, &mut b);
    assert_eq!(u32::from_le_bytes(b), 0x0116_8086);
}

#[test]
fn extra_delay() {
    let rig = Rig::with(SnbConfig {
        delay_ns: 100,
        ..SnbConfig::default()
    });
    rig.gpu.inject(Fault::once(Kind::Delay).on("rcs").value(3));
    rig.submit(RCS, &[0x0100_0000, 0]);
    assert_eq!(rig.gpu.step(RCS), StepResult::NotBefore(3100));
    assert!(rig.gpu.run_until_idle(10));
    rig.submit(RCS, &[0x0100_0000, 0]);
    assert_eq!(rig.gpu.step(RCS), StepResult::NotBefore(3200));
}

#[test]
fn garbage_in_the_status_page() {
    let rig = Rig::with(SnbConfig {
        seed: 42,
        ..SnbConfig::default()
    });
    rig.gpu.inject(Fault::once(Kind::Garbage).on("bcs"));
    rig.run(BCS, &[0x1320_4001, 0x100, 7]);
    assert_ne!(rig.at(status_page(BCS) + 0x100), 7);
    rig.run(BCS, &[0x1320_4001, 0x100, 8]);
    assert_eq!(rig.at(status_page(BCS) + 0x100), 8);
}

#[test]
fn garbage_from_a_status_register() {
    let rig = Rig::with(SnbConfig {
        seed: 42,
        ..SnbConfig::default()
    });
    let good = rig.reg(0x206c);
    rig.gpu.inject(Fault::once(Kind::GarbageRead).on("rcs"));
    assert_ne!(rig.reg(0x206c), good);
    assert_eq!(rig.reg(0x206c), good);
}

#[test]
fn gt_that_does_not_wake() {
    let rig = Rig::bare(SnbConfig::default());
    rig.set(0xa18c, 0x0001_0000);
    rig.gpu.inject(Fault::once(Kind::StuckForcewake));
    rig.set(0xa18c, 0x0001_0001);
    assert_eq!(rig.reg(0x130090), 0);
    rig.set(0xa18c, 0x0001_0001);
    assert_eq!(rig.reg(0x130090), 1);
}

#[test]
fn fifo_without_room() {
    let rig = Rig::bare(SnbConfig::default());
    rig.gpu.inject(Fault::once(Kind::FifoFull));
    assert_eq!(rig.reg(0x120008) & 0x7f, 0);
    assert_eq!(rig.reg(0x120008) & 0x7f, 64);
}

#[test]
fn mailbox_that_stays_busy() {
    let rig = Rig::bare(SnbConfig::default());
    rig.gpu.inject(Fault::once(Kind::StuckPcode));
    rig.set(0x138124, 0x8000_0005);
    assert_eq!(rig.reg(0x138124), 0x8000_0005);
    rig.set(0x138124, 0x8000_0005);
    assert_eq!(rig.reg(0x138124), 0);
}

#[test]
fn the_same_seed_gives_the_same_garbage() {
    let garbage = |seed| {
        let rig = Rig::with(SnbConfig {
            seed,
            ..SnbConfig::default()
        });
        rig.gpu.inject(Fault::once(Kind::Garbage));
        rig.run(RCS, &[0x1080_0001, 0x100, 7]);
        rig.at(status_page(RCS) + 0x100)
    };
    assert_eq!(garbage(1), garbage(1));
    assert_ne!(garbage(1), garbage(2));
}
