// SPDX-License-Identifier: GPL-2.0
//! Sandy Bridge: interrupts through every mask, against the modelled chip.

use gpu_model::fault::{Fault, Kind};
use ouro_cross::ring_machine::{RingMachine, Work, BCS, RCS, VCS};
use ouro_hw::{engine::Switch, generation::Events};

const EMPTY: Work<'static> = Work {
    switch: Switch::Stay,
    batch: None,
    inline: &[],
};

fn completed(n: usize) -> Events {
    Events {
        ours: true,
        completed: 1 << n,
        errors: 0,
        overdue: 0,
    }
}

#[test]
fn nothing_comes_while_nobody_waits() {
    let mut m = RingMachine::default();
    for n in [RCS, BCS, VCS] {
        m.work(n, &EMPTY);
    }
    assert_eq!(m.line.messages(), 0);
    assert_eq!(m.interrupt(), Events::default());
    m.assert_lawful();
}

#[test]
fn an_armed_engine_interrupts_and_the_others_do_not() {
    for armed in [RCS, BCS, VCS] {
        let mut m = RingMachine::default();
        m.arm(armed, true);
        for n in [RCS, BCS, VCS] {
            let before = m.line.messages();
            m.work(n, &EMPTY);
            let came = m.line.messages() - before;
            assert_eq!(came, u64::from(n == armed), "engine {n}, armed {armed}");
            if n == armed {
                assert_eq!(m.interrupt(), completed(n));
                assert!(!m.line.level());
            }
        }
        m.arm(armed, false);
        let before = m.line.messages();
        m.work(armed, &EMPTY);
        assert_eq!(m.line.messages(), before);
        m.assert_lawful();
    }
}

#[test]
fn every_completion_sends_a_new_message() {
    let mut m = RingMachine::default();
    m.arm(BCS, true);
    for n in 1..=20 {
        m.work(BCS, &EMPTY);
        assert_eq!(m.line.messages(), n);
        assert_eq!(m.interrupt(), completed(BCS));
    }
    m.assert_lawful();
}

#[test]
fn an_event_of_another_engine_during_acknowledgement_is_not_lost() {
    // Between the read of the identity and the end of the handler another engine completes: its
    // message must come when the gate opens again, or its event must be in this one.
    let mut m = RingMachine::default();
    m.arm(RCS, true);
    m.arm(VCS, true);
    m.work(RCS, &EMPTY);
    m.work(VCS, &EMPTY);
    assert_eq!(m.line.messages(), 1, "one level, one message");
    let events = m.interrupt();
    assert_eq!(events.completed, 0b101);
    m.work(VCS, &EMPTY);
    assert_eq!(m.line.messages(), 2);
    assert_eq!(m.interrupt(), completed(VCS));
}

#[test]
fn a_second_event_behind_the_first_raises_the_line_again() {
    let mut m = RingMachine::default();
    m.arm(RCS, true);
    m.work(RCS, &EMPTY);
    m.work(RCS, &EMPTY);
    let mut rounds = 0;
    while m.line.level() {
        let messages = m.line.messages();
        assert_eq!(m.interrupt(), completed(RCS));
        assert!(
            !m.line.level() || m.line.messages() > messages,
            "what is still pending sent a message"
        );
        rounds += 1;
        assert!(rounds < 4, "the line falls");
    }
    m.assert_lawful();
}

#[test]
fn each_mask_stops_it() {
    // The engine's own mask, the device's mask, the enable and the gate, one at a time.
    type Shut = fn(&mut RingMachine);
    let shut: [Shut; 4] = [
        |m| m.gpu.mmio_write32(0x2_20a8, 0xffff_ffff),
        |m| m.gpu.mmio_write32(0x4_4014, 0xffff_ffff),
        |m| m.gpu.mmio_write32(0x4_401c, 0),
        |m| m.gpu.mmio_write32(0x4_400c, 0),
    ];
    for (n, shut) in shut.into_iter().enumerate() {
        let mut m = RingMachine::default();
        m.arm(BCS, true);
        shut(&mut m);
        m.work(BCS, &EMPTY);
        assert_eq!(m.line.messages(), 0, "mask {n}");
    }
}

#[test]
fn off_and_on_keeps_what_is_armed() {
    let mut m = RingMachine::default();
    m.arm(BCS, true);
    let generation = m.chip.generation;
    generation.irq_off(&m.windows.hw(), &mut m.gt);
    m.work(BCS, &EMPTY);
    assert_eq!(m.line.messages(), 0);
    generation.irq_on(&m.windows.hw(), &mut m.gt);
    m.work(BCS, &EMPTY);
    assert_eq!(m.line.messages(), 1);
    assert_eq!(m.interrupt(), completed(BCS));
    generation.stop(&m.hw());
    m.work(BCS, &EMPTY);
    assert_eq!(m.line.messages(), 1);
    m.assert_lawful();
}

#[test]
fn a_duplicate_message_is_not_ours_the_second_time() {
    let mut m = RingMachine::default();
    m.arm(BCS, true);
    m.gpu.inject(Fault::once(Kind::DupIrq));
    m.work(BCS, &EMPTY);
    assert_eq!(m.line.messages(), 2);
    assert_eq!(m.interrupt(), completed(BCS));
    assert_eq!(m.interrupt(), Events::default());
}

#[test]
fn a_lost_interrupt_does_not_lose_the_number() {
    let mut m = RingMachine::default();
    m.arm(BCS, true);
    m.gpu.inject(Fault::once(Kind::LoseIrq).on("bcs"));
    m.work(BCS, &EMPTY);
    assert_eq!(m.line.messages(), 0);
    // The next one comes through again.
    m.work(BCS, &EMPTY);
    assert_eq!(m.line.messages(), 1);
}

#[test]
fn arming_costs_no_write_of_the_fifo() {
    let mut m = RingMachine::default();
    m.gpu.clear_counters();
    for _ in 0..200 {
        m.arm(RCS, true);
        m.arm(RCS, false);
    }
    assert_eq!(m.gpu.counter(gpu_model::counters::Counter::GtWrites), 0);
    assert_eq!(m.gt.counts.irq_arms, 200);
    m.assert_lawful();
}
