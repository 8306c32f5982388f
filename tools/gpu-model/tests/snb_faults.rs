// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Injected faults of the modelled Sandy Bridge: each one shows, once, and ends as it should.

use crate::snb_rig::{status_page, Rig, BATCH, TARGET};
use gpu_model::counters::Counter;
use gpu_model::fault::{Fault, Kind, KINDS};
use gpu_model::ring::engine::Stop;
use gpu_model::ring::{EngineId, RingConfig, StepResult};

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
    let rig = Rig::with(RingConfig {
        delay_ns: 100,
        ..RingConfig::default()
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
    let rig = Rig::with(RingConfig {
        seed: 42,
        ..RingConfig::default()
    });
    rig.gpu.inject(Fault::once(Kind::Garbage).on("bcs"));
    rig.run(BCS, &[0x1320_4001, 0x100, 7]);
    assert_ne!(rig.at(status_page(BCS) + 0x100), 7);
    rig.run(BCS, &[0x1320_4001, 0x100, 8]);
    assert_eq!(rig.at(status_page(BCS) + 0x100), 8);
}

#[test]
fn garbage_from_a_status_register() {
    let rig = Rig::with(RingConfig {
        seed: 42,
        ..RingConfig::default()
    });
    let good = rig.reg(0x206c);
    rig.gpu.inject(Fault::once(Kind::GarbageRead).on("rcs"));
    assert_ne!(rig.reg(0x206c), good);
    assert_eq!(rig.reg(0x206c), good);
}

#[test]
fn gt_that_does_not_wake() {
    let rig = Rig::bare(RingConfig::default());
    rig.set(0xa18c, 0x0001_0000);
    rig.gpu.inject(Fault::once(Kind::StuckForcewake));
    rig.set(0xa18c, 0x0001_0001);
    assert_eq!(rig.reg(0x130090), 0);
    rig.set(0xa18c, 0x0001_0001);
    assert_eq!(rig.reg(0x130090), 1);
}

#[test]
fn fifo_without_room() {
    let rig = Rig::bare(RingConfig::default());
    rig.gpu.inject(Fault::once(Kind::FifoFull));
    assert_eq!(rig.reg(0x120008) & 0x7f, 0);
    assert_eq!(rig.reg(0x120008) & 0x7f, 64);
}

#[test]
fn mailbox_that_stays_busy() {
    let rig = Rig::bare(RingConfig::default());
    rig.gpu.inject(Fault::once(Kind::StuckPcode));
    rig.set(0x138124, 0x8000_0005);
    assert_eq!(rig.reg(0x138124), 0x8000_0005);
    rig.set(0x138124, 0x8000_0005);
    assert_eq!(rig.reg(0x138124), 0);
}

#[test]
fn the_same_seed_gives_the_same_garbage() {
    let garbage = |seed| {
        let rig = Rig::with(RingConfig {
            seed,
            ..RingConfig::default()
        });
        rig.gpu.inject(Fault::once(Kind::Garbage));
        rig.run(RCS, &[0x1080_0001, 0x100, 7]);
        rig.at(status_page(RCS) + 0x100)
    };
    assert_eq!(garbage(1), garbage(1));
    assert_ne!(garbage(1), garbage(2));
}

#[test]
fn late_reset() {
    let rig = Rig::new();
    rig.gpu.inject(Fault::once(Kind::LateReset).value(7));
    rig.set(0x941c, 2);
    assert_eq!((rig.reg(0x941c), rig.reg(0x203c)), (2, 1));
    rig.gpu.clock().advance_to(6_999);
    assert_eq!((rig.reg(0x941c), rig.reg(0x203c)), (2, 1));
    rig.gpu.clock().advance_to(7_000);
    assert_eq!((rig.reg(0x941c), rig.reg(0x203c)), (0, 0));
    assert_eq!(rig.reg(0x2203c), 1, "only the render engine");
}

#[test]
fn late_interrupt() {
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.gpu
        .inject(Fault::once(Kind::LateIrq).on("bcs").value(5));
    rig.submit(BCS, &[0x0100_0000, 0]);
    assert_eq!(rig.gpu.step(BCS), StepResult::Ran);
    assert_eq!(rig.gpu.step(BCS), StepResult::Ran);
    assert_eq!(rig.gpu.step(BCS), StepResult::NotBefore(5_000));
    assert_eq!((rig.reg(0x44018), rig.messages()), (0, 0));
    assert!(rig.gpu.run_until_idle(10));
    assert_eq!((rig.reg(0x44018), rig.messages()), (1 << 22, 1));
}

#[test]
fn interrupt_without_a_reason() {
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.gpu.inject(Fault::once(Kind::SpuriousIrq).on("rcs"));
    rig.run(RCS, &[0, 0]);
    assert_eq!((rig.reg(0x44018), rig.messages()), (1, 1));
    assert_eq!(rig.gpu.counter(Counter::RcsUserInterrupts), 0);
}

#[test]
fn lost_message() {
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.gpu.inject(Fault::once(Kind::LoseMsg));
    rig.run(RCS, &[0x0100_0000, 0]);
    assert_eq!((rig.reg(0x44018), rig.messages()), (1, 0));
    assert!(rig.gpu.line(), "it is up, but no message was sent");
    rig.set(0x44018, 1);
    rig.run(RCS, &[0x0100_0000, 0]);
    assert_eq!(rig.messages(), 1);
}

#[test]
fn error_without_a_reason() {
    let rig = Rig::new();
    rig.set(0x20b4, 0xffff_ffee);
    rig.unmask_interrupts();
    rig.gpu.inject(Fault::once(Kind::SpuriousError).on("rcs"));
    rig.run(RCS, &[STORE_GLOBAL, 0, TARGET, 1]);
    assert_eq!(rig.at(TARGET), 1, "the engine goes on");
    // EIR, master error in GTIIR.
    assert_eq!((rig.reg(0x20b0), rig.reg(0x44010) & 8), (1, 8));
    rig.set(0x20b0, 1);
    assert_eq!((rig.reg(0x20b0), rig.reg(0x44010) & 8), (0, 0));
}

#[test]
fn a_pause_before_a_command() {
    let rig = Rig::new();
    rig.gpu.inject(Fault::once(Kind::Pause).forever().value(2));
    rig.submit(RCS, &[STORE_GLOBAL, 0, TARGET, 1]);
    assert_eq!(rig.gpu.step(RCS), StepResult::NotBefore(2_000));
    rig.gpu.clock().advance_to(2_000);
    assert_eq!(rig.gpu.step(RCS), StepResult::Ran);
    assert_eq!(rig.at(TARGET), 1);
}

#[test]
fn gt_that_wakes_slowly() {
    let rig = Rig::bare(RingConfig::default());
    rig.set(0xa18c, 0x0001_0000);
    rig.gpu.inject(Fault::once(Kind::SlowWake).value(3));
    rig.set(0xa18c, 0x0001_0001);
    assert_eq!(rig.reg(0x130090), 0);
    rig.gpu.clock().advance_to(3_000);
    assert_eq!(rig.reg(0x130090), 1);
    // A request that is taken back never comes true.
    rig.set(0xa18c, 0x0001_0000);
    rig.gpu.inject(Fault::once(Kind::SlowWake).value(3));
    rig.set(0xa18c, 0x0001_0001);
    rig.set(0xa18c, 0x0001_0000);
    rig.gpu.clock().advance_to(9_000);
    assert_eq!(rig.reg(0x130090), 0);
}

#[test]
fn slow_mailbox_and_busy_fifo() {
    let rig = Rig::bare(RingConfig::default());
    rig.gpu.inject(Fault::once(Kind::SlowPcode).value(4));
    rig.set(0x138124, 0x8000_0005);
    assert_eq!(rig.reg(0x138124), 0x8000_0005);
    rig.gpu.clock().advance_to(4_000);
    assert_eq!(rig.reg(0x138124), 0);
    rig.gpu.inject(Fault::once(Kind::BusyFifo).value(9));
    assert_eq!(rig.reg(0x120008) & 0x7f, 9);
    assert_eq!(rig.reg(0x120008) & 0x7f, 64);
}

#[test]
fn garbage_where_registers_only_inform() {
    let rig = Rig::new();
    // INSTPS, DMA_FADD, INSTDONE, ACTHD, IPEIR, IPEHR, BB_ADDR.
    for offset in [0x70, 0x78, 0x6c, 0x74, 0x64, 0x68, 0x140] {
        let good = rig.reg(0x2000 + offset);
        rig.gpu.inject(Fault::once(Kind::GarbageStatus).on("rcs"));
        let bad = rig.reg(0x2000 + offset);
        assert_ne!(bad, good, "{offset:#x}");
        assert_ne!(bad, 0xffff_ffff);
        assert_eq!(rig.reg(0x2000 + offset), good);
    }
    // Not what says that work is done.
    rig.gpu.inject(Fault::once(Kind::GarbageStatus).forever());
    assert_eq!((rig.reg(0x2034), rig.reg(0x2030)), (0, 0));
    assert_eq!(rig.reg(0x209c), 0x200);
}

#[test]
fn a_tlb_that_forgets() {
    let rig = Rig::new();
    rig.run(RCS, &[STORE_GLOBAL, 0, TARGET, 1]);
    rig.gpu.gtt_write(TARGET >> 12, 0x9_0005);
    rig.run(RCS, &[STORE_GLOBAL, 0, TARGET, 2]);
    assert_eq!((rig.at(TARGET), rig.at(0x90000)), (2, 0), "stale");
    rig.gpu.inject(Fault::once(Kind::ForgetTlb).on("rcs"));
    rig.run(RCS, &[STORE_GLOBAL, 0, TARGET, 3]);
    assert_eq!((rig.at(TARGET), rig.at(0x90000)), (2, 3));
}

#[test]
fn a_fault_in_any_fetch_of_any_engine_is_survived() {
    const COMMANDS: [&[u32]; 5] = [
        &[STORE_GLOBAL, 0, TARGET, 1],
        &[0x1320_4001, 0x100, 7],
        &[0x1300_0002, 0x8_0000, 7, 8],
        &[0x1100_0001, 0x2358, 0],
        &[0x1880_0100, BATCH],
    ];
    for e in gpu_model::ring::ENGINES {
        for command in COMMANDS {
            for k in 0..12 {
                let rig = Rig::new();
                rig.put(BATCH, &[STORE_GLOBAL, 0, TARGET, 1, 0x0500_0000, 0]);
                let fault = Fault::once(Kind::PageFault).on(e.name());
                rig.gpu.inject(fault.after(k));
                rig.submit(e, command);
                rig.submit(e, command);
                rig.gpu.run_until_idle(100);
                rig.set(0x941c, 1);
                assert_eq!(rig.reg(0x941c), 0);
            }
        }
    }
}
