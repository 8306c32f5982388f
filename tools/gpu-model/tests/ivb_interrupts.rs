// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Interrupts, errors and the watchdog of the modelled Ivy Bridge (VCS PRM 1.1.5, 1.1.6; digest V-07,
//! V-08).

use crate::ivb_rig::{
    block, status_page, CountIrq, Rig, BATCH, BCS, ENGINES, LRI, RCS, START_NS, STORE,
    STORE_GLOBAL, TARGET, VCS,
};
use gpu_model::fault::{Fault, Kind};
use gpu_model::memory::VecMemory;
use gpu_model::ring::engine::Stop;
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{RingGpu, StepResult};
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

/// MI_USER_INTERRUPT.
const USER: [u32; 2] = [0x0100_0000, 0];

/// Ring local bit 0 of each in the GT block: 12 for video (1.1.6), 0 and 22 (digest V-07).
fn first_bit(e: gpu_model::ring::EngineId) -> u32 {
    [0, 12, 22][e as usize]
}

#[test]
fn user_interrupts_reach_the_line() {
    // 1.1.6, bit 12; "instruction execution is not halted".
    for e in ENGINES {
        let bit = 1 << first_bit(e);
        let rig = Rig::new();
        rig.unmask_interrupts();
        rig.run(e, &[&USER[..], &[STORE_GLOBAL, 0, TARGET, 1]].concat());
        assert_eq!(rig.reg(0x44018), bit, "{}", e.name());
        assert_eq!((rig.messages(), rig.at(TARGET)), (1, 1));
        rig.set(0x44018, bit);
        assert!(!rig.gpu.line());
        // 1.1.6.2: what IMR masks is not in IIR.
        rig.set(block(e) + 0xa8, bit);
        rig.run(e, &USER);
        assert_eq!(rig.reg(0x44018), 0);
        rig.clean();
    }
}

#[test]
fn the_status_page_gets_bits_twelve_lower() {
    // 1.1.6, second table: master error is bit 3, sync status bit 2; 1.1.6.1: HWSTAM and IMR clear.
    let rig = Rig::new();
    let image = || rig.at(status_page(VCS));
    rig.set(0x12098, !(1 << 14));
    rig.set(0x1209c, 0x0100_0100);
    rig.set(0x120c0, 0x0020_0020);
    assert_eq!(image(), 0, "IMR is closed");
    rig.set(0x120a8, !(1 << 14));
    rig.set(0x44018, 1 << 14);
    rig.set(0x120c0, 0x0020_0020);
    assert_eq!(image(), 1 << 2);
    rig.clean();
    // User and notify are 0 there, context switch and counter "not supported".
    for bit in [12, 16, 18, 20] {
        let rig = Rig::new();
        rig.put(status_page(VCS), &[0x5555]);
        rig.set(0x120a8, 0);
        rig.set(0x12098, !(1u32 << bit));
        rig.run(VCS, &[0x1300_0101, 0, 0, 0x0100_0000]);
        assert_eq!(rig.at(status_page(VCS)) & 0x151 & !0x5555, 0, "{bit}");
    }
}

#[test]
fn one_bit_at_most_is_reported() {
    // 1.1.6.1: "At most 1 bit can be unmasked at any given time". Reset: all ones.
    for e in ENGINES {
        let rig = Rig::new();
        let stam = block(e) + 0x98;
        assert_eq!(rig.reg(stam), 0xffff_ffff);
        rig.set(stam, 0xffff_fffe);
        rig.set(stam, 0xffff_ffff);
        assert_eq!(rig.gpu.lint_count(Rule::ManyReported), 0);
        rig.set(stam, 0xffff_fffc);
        assert_eq!(rig.gpu.lint_count(Rule::ManyReported), 1, "{}", e.name());
    }
}

#[test]
fn sync_status_is_cleared_by_the_driver() {
    // 1.1.6, bit 14: set by a flush; "the driver's responsibility to clear this bit before the next
    // sync flush with HWSP write enabled".
    let rig = Rig::new();
    rig.set(0x120a8, !(1 << 14));
    rig.set(0x12098, !(1 << 14));
    rig.set(0x44014, 0);
    rig.set(0x1209c, 0x0100_0100);
    rig.set(0x120c0, 0x0020_0020);
    assert_eq!((rig.reg(0x44010), rig.reg(0x44018)), (1 << 14, 1 << 14));
    rig.set(0x44018, 1 << 14);
    assert_eq!((rig.reg(0x44010), rig.reg(0x44018)), (0, 0));
    rig.set(0x120c0, 0x0020_0020);
    rig.clean();
    rig.set(0x120c0, 0x0020_0020);
    assert_eq!(rig.gpu.lint_count(Rule::SyncStatusKept), 1);
}

#[test]
fn instruction_errors() {
    // 1.1.6.3: bit 0; EMR selects; cleared by nothing but a reset; IPEHR (digest V-18) has the header.
    for (e, header) in [(VCS, 0x2000_0000), (BCS, 0x7000_0000), (RCS, 0xe000_0000)] {
        let rig = Rig::new();
        let b = block(e);
        assert_eq!(rig.reg(b + 0xb4), 0xffff);
        rig.unmask_interrupts();
        rig.set(b + 0xb4, 0xfffe);
        rig.run(e, &[header, 0]);
        assert_eq!(rig.gpu.stop_reason(e), Stop::Error);
        assert_eq!((rig.reg(b + 0xb8), rig.reg(b + 0xb0)), (1, 1));
        assert_eq!(rig.reg(b + 0x68), header);
        let master = 1 << (first_bit(e) + 3);
        assert_eq!(rig.reg(0x44018) & master, master);
        rig.set(b + 0xb0, 1);
        assert_eq!(rig.reg(b + 0xb0), 1, "fatal");
        rig.set(0x941c, 2 << (e as u32));
        assert_eq!((rig.reg(b + 0xb8), rig.reg(b + 0xb0)), (0, 0));
        assert_eq!(rig.reg(0x44010) & master, 0);
    }
}

#[test]
fn no_page_table_error_on_video() {
    // 1.1.6.3: bits 15:1 are reserved there; bit 4 is mentioned in passing only. An entry that points
    // to no memory is a fault all the same.
    let rig = Rig::new();
    rig.set(0x120b4, 0);
    rig.gpu.gtt_write(0x900, 0xff00_0ff5);
    rig.run(VCS, &[STORE_GLOBAL, 0, 0x90_0000, 1]);
    assert_eq!((rig.reg(0x120b8), rig.reg(0x120b0)), (0, 0));
    assert_eq!(rig.reg(0x4194) & 1, 1);
}

#[test]
fn page_faults_stay_pending() {
    // 1.1.6, bit 19: "whenever there is a pending page or directory fault"; "cleared when event
    // cleared". In the status page bit 7.
    let rig = Rig::new();
    rig.set(0x120a8, !(1 << 19));
    rig.set(0x12098, !(1 << 19));
    rig.set(0x44014, !(1 << 19));
    rig.process_table(VCS, 0x8000, 0x10_0000, !0);
    rig.run(VCS, &[STORE, 0, 0x2000, 1]);
    assert_eq!((rig.reg(0x44010), rig.reg(0x44018)), (1 << 19, 1 << 19));
    assert_eq!(rig.at(status_page(VCS)), 1 << 7);
    rig.set(0x4194, 0);
    assert_eq!(rig.reg(0x44010), 0);
    assert_eq!(rig.at(status_page(VCS)), 0);
    // Not for the global table.
    rig.set(0x44018, 1 << 19);
    rig.run(VCS, &[STORE_GLOBAL, 0, 0x10, 1]);
    assert_eq!((rig.reg(0x44010), rig.reg(0x44018)), (0, 0));
}

#[test]
fn the_watchdog_counts_from_zero_to_its_threshold() {
    // 1.1.5: zero starts, all ones stop; "If the value is exceeded the counter is reset and an
    // interrupt may be enabled", bit 18. A clock is taken to be the time stamp's, 80 ns.
    let rig = Rig::new();
    assert_eq!(
        (rig.reg(0x12178), rig.reg(0x1217c)),
        (0xffff_ffff, 0x0015_0000)
    );
    rig.unmask_interrupts();
    rig.gpu.clock().advance_to(1_000_000);
    assert_eq!(rig.reg(0x12178), 0xffff_ffff, "stopped");
    rig.set(0x1217c, 1000);
    rig.set(0x12178, 0);
    rig.gpu.clock().advance_to(1_000_000 + 1000 * 80);
    assert_eq!(
        (rig.reg(0x12178), rig.reg(0x44018)),
        (1000, 0),
        "not exceeded"
    );
    rig.gpu.clock().advance_to(1_000_000 + 1001 * 80);
    assert_eq!(rig.reg(0x12178), 0);
    assert_eq!(rig.reg(0x44018), 1 << 18);
    assert_eq!(rig.messages(), 1);
    rig.set(0x12178, 0xffff_ffff);
    rig.set(0x44018, 1 << 18);
    rig.gpu.clock().advance_to(2_000_000);
    assert_eq!((rig.reg(0x12178), rig.reg(0x44018)), (0xffff_ffff, 0));
    // A reset of the engine is a reset of the counter.
    rig.set(0x12178, 0);
    rig.set(0x941c, 1 << 2);
    assert_eq!(
        (rig.reg(0x12178), rig.reg(0x1217c)),
        (0xffff_ffff, 0x0015_0000)
    );
    rig.clean();
}

#[test]
fn a_batch_that_loops_meets_the_watchdog() {
    // 1.1.5.1, with the counter started and stopped from the ring.
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.put(BATCH, &[0x1880_0100, BATCH]);
    rig.submit(
        VCS,
        &[
            LRI,
            0x1217c,
            100,
            LRI,
            0x12178,
            0,
            START_NS,
            BATCH,
            LRI,
            0x12178,
            0xffff_ffff,
            0,
        ],
    );
    let mut steps = 0;
    while rig.reg(0x44018) == 0 {
        match rig.gpu.step(VCS) {
            StepResult::NotBefore(t) => rig.gpu.clock().advance_to(t),
            _ => rig.gpu.clock().advance_to(rig.gpu.clock().now() + 80),
        };
        steps += 1;
        assert!(steps < 10_000, "it never comes");
    }
    assert_eq!(rig.reg(0x44018), 1 << 18);
}

#[test]
fn an_engine_that_waits_is_woken_for_its_watchdog() {
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.set(0x12028, 0x0001_0001);
    rig.submit(VCS, &[LRI, 0x1217c, 9, LRI, 0x12178, 0, 0x0181_0000, 0]);
    assert_eq!(rig.gpu.step(VCS), StepResult::Ran);
    assert_eq!(rig.gpu.step(VCS), StepResult::Ran);
    // Ten clocks are more than nine.
    assert_eq!(rig.gpu.step(VCS), StepResult::NotBefore(800));
}

#[test]
fn a_hung_engine_is_told_of() {
    // 1.1.6: "Driver needs to attempt hang recovery": the counter goes on while the engine does not, and
    // a reset of the engine (digest V-15) ends both.
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.submit(VCS, &[LRI, 0x1217c, 99, LRI, 0x12178, 0, 0, 0]);
    assert_eq!(rig.gpu.step(VCS), StepResult::Ran);
    assert_eq!(rig.gpu.step(VCS), StepResult::Ran);
    rig.gpu.inject(Fault::once(Kind::Hang));
    assert_eq!(rig.gpu.step(VCS), StepResult::NotBefore(8000));
    assert_eq!(rig.gpu.stop_reason(VCS), Stop::Hung);
    rig.gpu.clock().advance_to(8000);
    rig.gpu.step(VCS);
    assert_eq!((rig.reg(0x44018), rig.messages()), (1 << 18, 1));
    rig.set(0x44018, 1 << 18);
    rig.set(0x941c, 1 << 2);
    rig.start_ring(VCS);
    rig.run(VCS, &[STORE_GLOBAL, 0, TARGET, 3]);
    assert_eq!((rig.at(TARGET), rig.reg(0x44018)), (3, 0));
    rig.clean();
}

#[test]
fn a_watchdog_that_the_cpu_starts_wakes_its_engine() {
    // In real time, with nothing to do: 10 ms.
    let irq = Arc::new(CountIrq::default());
    let memory = Arc::new(VecMemory::new(crate::ivb_rig::MEMORY));
    let gpu = RingGpu::in_real_time(Rig::choices(), memory, irq.clone());
    gpu.start_engines();
    gpu.mmio_write32(0xa188, 0x0001_0001);
    for (offset, value) in [
        (0x120a8, !(1 << 18)),
        (0x44014, !(1 << 18)),
        (0x4401c, 1 << 18),
        (0x1217c, 125_000),
        (0x12178, 0),
    ] {
        gpu.mmio_write32(offset, value);
    }
    for _ in 0..5000 {
        if irq.0.load(Ordering::SeqCst) > 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(irq.0.load(Ordering::SeqCst), 1, "one message");
    gpu.stop_engines();
}
