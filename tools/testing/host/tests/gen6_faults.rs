// SPDX-License-Identifier: GPL-2.0
//! Sandy Bridge: everything that can go wrong, against the modelled chip.

use gpu_model::{
    counters::Counter,
    fault::{Fault, Kind},
    ring::engine::Stop,
};
use ouro_cross::ring_machine::{RingMachine, Work, BCS, ENGINES, RCS, VCS};
use ouro_hw::{
    engine::{Privilege, Switch},
    report::{FaultKind, PageFault, Report},
};

const END: u32 = 0x0500_0000;
const STORE: u32 = 0x1000_0002;
const SAVE: u32 = 0x1200_0001;

/// Tells `make check` what was covered.
fn covered(what: &str) {
    println!("cover: fault on gen6: {what}");
}

const EMPTY: Work<'static> = Work {
    switch: Switch::Stay,
    batch: None,
    inline: &[],
};

fn errors(m: &RingMachine) -> Report {
    let mut gt = m.gt.clone();
    m.chip.generation.errors(&m.windows.hw(), &mut gt, &m.topo)
}

fn fault(report: &Report, n: usize) -> Option<PageFault> {
    report.engines[n].expect("each engine reports").fault
}

#[test]
fn a_healthy_device_reports_nothing() {
    let m = RingMachine::default();
    let report = errors(&m);
    assert!(!report.is_error(), "{report}");
    m.assert_lawful();
}

#[test]
fn a_write_through_an_invalid_entry_is_dropped_and_reported_once() {
    for n in [RCS, BCS, VCS] {
        let mut m = RingMachine::default();
        let target = m.alloc(1);
        m.unbind(target.addr);
        let after = m.alloc(1);
        let batch = m.object(&[
            STORE,
            0,
            target.addr + 4,
            1,
            STORE,
            0,
            after.addr,
            2,
            END,
            0,
        ]);
        // Not recoverable for that access, but the engine goes on (§5.7.2.1).
        m.work(n, &Work::batch(batch.addr));
        assert_eq!((m.dword(target, 1), m.dword(after, 0)), (0, 2));
        let report = errors(&m);
        let found = fault(&report, n).expect("a fault");
        assert_eq!(found.addr, u64::from(target.addr));
        assert!(!found.global);
        assert_eq!(found.kind, FaultKind::InvalidEntry);
        for other in [RCS, BCS, VCS] {
            assert_eq!(fault(&report, other).is_some(), other == n);
        }
        assert!(report.to_string().contains("through the PPGTT"));
        // Cleared: the next report has none, and the next fault is recorded again.
        assert_eq!(fault(&errors(&m), n), None);
        m.work(n, &Work::batch(batch.addr));
        assert!(fault(&errors(&m), n).is_some());
    }
    covered("write through an invalid entry of the PPGTT, each engine");
}

#[test]
fn only_the_first_fault_is_kept() {
    let mut m = RingMachine::default();
    let (first, second) = (m.alloc(1), m.alloc(1));
    m.unbind(first.addr);
    m.unbind(second.addr);
    let batch = m.object(&[STORE, 0, first.addr, 1, STORE, 0, second.addr, 2, END, 0]);
    m.work(BCS, &Work::batch(batch.addr));
    assert_eq!(m.gpu.counter(Counter::PageFaults), 2);
    let found = fault(&errors(&m), BCS).unwrap();
    assert_eq!(found.addr, u64::from(first.addr));
    covered("second fault before the first is cleared");
}

#[test]
fn a_read_through_an_invalid_entry_gives_zeros() {
    let mut m = RingMachine::default();
    let (source, target) = (m.object(&[0x1234_5678; 8]), m.object(&[0xffff_ffff; 8]));
    m.unbind(source.addr);
    // XY_SRC_COPY_BLT, 32 bit, 4 x 1 pixels (digest §2.5).
    let batch = m.object(&[
        0x54f0_0006,
        (3 << 24) | (0xcc << 16) | 64,
        0,
        (1 << 16) | 4,
        target.addr,
        0,
        64,
        source.addr,
        END,
        0,
    ]);
    m.work(BCS, &Work::batch(batch.addr));
    assert_eq!((m.dword(target, 0), m.dword(target, 4)), (0, 0xffff_ffff));
    let found = fault(&errors(&m), BCS).unwrap();
    assert_eq!((found.addr, found.global), (u64::from(source.addr), false));
    covered("read through an invalid entry, blitter");
}

#[test]
fn a_fault_in_the_global_table_says_so() {
    for n in [RCS, BCS, VCS] {
        let mut m = RingMachine::default();
        let target = m.alloc(1);
        m.unbind(target.addr);
        let batch = m.object(&[STORE | 1 << 22, 0, target.addr, 1, END, 0]);
        let work = Work {
            batch: Some((batch.addr, Privilege::Kernel)),
            ..EMPTY
        };
        m.work(n, &work);
        let report = errors(&m);
        let found = fault(&report, n).unwrap();
        assert_eq!((found.addr, found.global), (u64::from(target.addr), true));
        assert!(report.to_string().contains("through the GGTT"));
    }
    covered("write through an invalid entry of the GGTT, each engine");
}

#[test]
fn a_register_store_faults_like_any_other() {
    let mut m = RingMachine::default();
    let target = m.alloc(1);
    m.unbind(target.addr);
    let batch = m.object(&[SAVE, 0x2358, target.addr, END]);
    m.work(RCS, &Work::batch(batch.addr));
    assert_eq!(
        fault(&errors(&m), RCS).map(|f| f.addr),
        Some(target.addr.into())
    );
}

#[test]
fn an_entry_that_is_mended_works_after_the_next_prologue() {
    // Invalid entries are cached too (§5.7.2.1).
    for n in [RCS, BCS, VCS] {
        let mut m = RingMachine::default();
        let target = m.alloc(1);
        m.unbind(target.addr);
        let batch = m.object(&[STORE, 0, target.addr, 1, END, 0]);
        m.work(n, &Work::batch(batch.addr));
        assert_eq!(m.dword(target, 0), 0);
        m.bind(target.addr, target.bus);
        m.work(n, &Work::batch(batch.addr));
        assert_eq!(m.dword(target, 0), 1);
    }
    covered("cached invalid entry, each engine");
}

#[test]
fn a_bad_instruction_stops_the_engine_until_it_is_reset() {
    for n in [RCS, BCS, VCS] {
        let mut m = RingMachine::default();
        // Client 1 is nobody's (digest §2.2).
        let batch = m.object(&[0, 0x2000_0000, 0, END]);
        let before = m.line.messages();
        m.submit(n, &Work::batch(batch.addr)).unwrap();
        m.run();
        assert_eq!(m.done(n).0, 0);
        assert_eq!(m.gpu.stop_reason(ENGINES[n]), Stop::Error);
        // Errors interrupt without being armed.
        assert_eq!(m.line.messages(), before + 1);
        let events = m.interrupt();
        assert_eq!((events.completed, events.errors), (0, 1 << n));
        let report = errors(&m);
        let said = report.engines[n].unwrap();
        assert_eq!(said.eir & 1, 1, "{report}");
        assert_eq!(said.ipehr, 0x2000_0000);
        assert!(!said.activity.idle);
        assert_eq!(said.activity.acthd & !7, u64::from(batch.addr), "{report}");
        assert!(report.to_string().contains("(instruction"), "{report}");
        // No storm while it is not reset yet.
        assert!(!m.line.level());

        m.reset().unwrap();
        m.work(n, &EMPTY);
        let report = errors(&m);
        assert!(!report.is_error(), "{report}");
    }
    covered("unknown instruction, each engine");
}

#[test]
fn an_error_after_a_reset_interrupts_again() {
    let mut m = RingMachine::default();
    for _ in 0..3 {
        let messages = m.line.messages();
        let batch = m.object(&[0x2000_0000, END]);
        m.submit(BCS, &Work::batch(batch.addr)).unwrap();
        m.run();
        assert_eq!(m.line.messages(), messages + 1);
        assert_eq!(m.interrupt().errors, 1 << BCS);
        assert!(errors(&m).is_error());
        m.reset().unwrap();
    }
}

#[test]
fn a_command_of_another_engine_is_an_error() {
    // The blitter's commands on the video engine, video's on the blitter (§1, G6-001).
    for (n, command) in [(VCS, 0x5430_0004), (BCS, 0x7000_0000)] {
        let mut m = RingMachine::default();
        let batch = m.object(&[command, 0, 0, 0, 0, 0, END, 0]);
        m.submit(n, &Work::batch(batch.addr)).unwrap();
        m.run();
        assert_eq!(m.interrupt().errors, 1 << n);
        assert_eq!(errors(&m).engines[n].unwrap().ipehr, command);
    }
    covered("command of another engine");
}

#[test]
fn a_context_switch_in_a_batch_is_an_error() {
    // §5.8.1.2.
    let mut m = RingMachine::default();
    let batch = m.object(&[0x0c00_0000, 0x0100_0109, 0, END]);
    m.submit(RCS, &Work::batch(batch.addr)).unwrap();
    m.run();
    assert_eq!(m.interrupt().errors, 1 << RCS);
    assert!(errors(&m).engines[RCS].unwrap().eir & 1 != 0);
    covered("context switch in a batch");
}

#[test]
fn a_hang_is_seen_and_reset() {
    for (n, name) in [(RCS, "rcs"), (BCS, "bcs"), (VCS, "vcs")] {
        let mut m = RingMachine::default();
        m.gpu.inject(Fault::once(Kind::Hang).on(name));
        m.submit(n, &EMPTY).unwrap();
        m.run();
        assert_eq!(m.done(n).0, 0);
        let activity = m.topo.engines[n].activity(&m.hw());
        assert!(!activity.idle);
        assert_ne!(activity.head, activity.tail);
        m.reset().unwrap();
        assert_eq!(m.done(n).0, 0);
        m.work(n, &EMPTY);
    }
    covered("hang, each engine");
}

#[test]
fn a_loop_is_a_hang_too() {
    let mut m = RingMachine::default();
    let at = m.alloc(1);
    m.memory
        .put_dwords(at.bus, &[0, 0x1880_0100, at.addr])
        .unwrap();
    m.submit(BCS, &Work::batch(at.addr)).unwrap();
    assert!(!m.gpu.run_until_idle(1000), "it never comes to rest");
    let activity = m.topo.engines[BCS].activity(&m.hw());
    assert!(!activity.idle);
    assert!((u64::from(at.addr)..u64::from(at.addr) + 16).contains(&activity.acthd));
    let said = errors(&m).engines[BCS].unwrap();
    assert!(said.batch.is_some());
    m.reset().unwrap();
    m.work(BCS, &EMPTY);
    covered("endless batch");
}

#[test]
fn a_wait_without_end_is_kicked() {
    let mut m = RingMachine::default();
    // EXCC bit 0 stays set; MI_WAIT_FOR_EVENT, 19:16 are 1: while that condition holds (§5.3.7.3.5).
    m.gpu.mmio_write32(0x2028, 0x0001_0001);
    let batch = m.object(&[0x0181_0000, END]);
    m.submit(RCS, &Work::batch(batch.addr)).unwrap();
    m.run();
    assert_eq!(m.done(RCS).0, 0);
    let engine = m.topo.engines[RCS];
    assert!(engine.activity(&m.hw()).waiting);
    assert!(engine.kick(&m.hw()));
    m.run();
    assert_eq!(m.done(RCS).0, 1);
    assert!(!engine.kick(&m.hw()));
    covered("wait for an event that does not come");
}

#[test]
fn a_semaphore_that_nobody_signals_needs_a_reset() {
    let mut m = RingMachine::default();
    // MI_SEMAPHORE_MBOX: bits 20 compare, 18 with a register; the register is 0.
    let batch = m.object(&[0x0b14_0001, 5, 0, END]);
    m.submit(RCS, &Work::batch(batch.addr)).unwrap();
    m.run();
    assert_eq!(m.done(RCS).0, 0);
    let engine = m.topo.engines[RCS];
    assert!(engine.activity(&m.hw()).waiting);
    assert!(!engine.kick(&m.hw()));
    m.reset().unwrap();
    m.work(RCS, &EMPTY);
    covered("wait for a semaphore that nobody signals");
}

#[test]
fn an_injected_fault_is_reported_on_its_engine() {
    injected(RCS, "rcs", 0);
}

/// Lets one access of an engine fault, after `skip` others.
fn injected(n: usize, name: &str, skip: u64) {
    let mut m = RingMachine::default();
    let target = m.alloc(1);
    let batch = m.object(&[STORE, 0, target.addr, 1, END, 0]);
    m.gpu
        .inject(Fault::once(Kind::PageFault).on(name).after(skip));
    m.submit(n, &Work::batch(batch.addr)).unwrap();
    m.run();
    let report = errors(&m);
    for other in [RCS, BCS, VCS] {
        let found = fault(&report, other).is_some();
        assert_eq!(found, other == n, "access {skip} of {name}");
    }
    m.reset().unwrap();
    m.work(n, &Work::batch(batch.addr));
    assert_eq!(m.dword(target, 0), 1);
}

#[test]
fn an_unloaded_directory_is_fatal_and_reset_loads_it_again() {
    let mut m = RingMachine::default();
    // PP_DIR_DCLV is 0: no group is loaded (VCS §1.1.2.1).
    m.gpu.mmio_write32(0x2_2220, 0);
    m.gpu.mmio_write32(0x2_2228, m.gpu.mmio_read32(0x2_2228));
    let target = m.alloc(1);
    let batch = m.object(&[STORE, 0, target.addr, 1, END, 0]);
    m.submit(BCS, &Work::batch(batch.addr)).unwrap();
    m.run();
    assert_eq!(m.done(BCS).0, 0);
    let report = errors(&m);
    assert!(report.is_error(), "{report}");
    m.reset().unwrap();
    m.work(BCS, &Work::batch(batch.addr));
    assert_eq!(m.dword(target, 0), 1);
    covered("directory that is not loaded");
}

#[test]
fn garbage_in_status_registers_does_not_upset_bring_up() {
    let mut m = RingMachine::default();
    m.gpu.inject(Fault::once(Kind::GarbageRead));
    let _ = m.topo.engines[RCS].activity(&m.hw());
    for _ in 0..2 {
        m.work(RCS, &EMPTY);
    }
}
