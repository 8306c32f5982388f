// SPDX-License-Identifier: GPL-2.0
//! Gen12.5: interrupts through every level of the modelled tree (digest §5.8, §1I).

use gpu_model::{
    counters::Counter,
    dg2::Dg2Config,
    fault::{Fault, Kind},
};
use ouro_cross::{
    dg2_machine::{Dg2Machine, Work},
    program::{self, UserSpace},
};
use ouro_hw::generation::{Events, ResetScope};

/// The blitter's number.
const BCS: usize = 1;
/// Steps of a run that does not come to rest.
const SOME: usize = 2_000;

#[test]
fn nothing_is_pending_at_first() {
    let mut m = Dg2Machine::new(Dg2Config::default());
    assert_eq!(m.line.messages(), 0);
    assert_eq!(m.interrupt(), Events::default());
    m.assert_lawful();
}

#[test]
fn switches_are_reported_while_they_are_armed() {
    let mut m = Dg2Machine::default();
    // What others have left pending may have sent a message before it was masked. It is nobody's.
    assert_eq!(m.interrupt(), Events::default());
    for n in 0..m.ports.len() {
        let context = m.context(n);
        m.submit(context, &Work::default());
        let before = m.line.messages();
        assert!(m.gpu.run_until_idle(SOME));
        assert!(m.line.messages() > before, "engine {n}");
        let events = m.interrupt();
        assert!(events.ours);
        assert_eq!((events.completed, events.errors), (1 << n, 0), "engine {n}");
        // It was all.
        assert_eq!(m.interrupt(), Events::default());
    }
    m.assert_lawful();
}

/// Messages while a context, that goes on to run, completes a request.
fn messages(m: &mut Dg2Machine, n: usize) -> u64 {
    let space = UserSpace::new(m);
    let (page, at) = space.page(m);
    let context = m.context_in(n, space.tree, 0, None);
    let wait = space.program(m, &[&program::wait(at, 1)]);
    m.queue(context, &Work::default());
    m.submit(context, &Work::batch(wait));
    // The beginning of the list is reported first.
    m.gpu.run_until_idle(1);
    m.interrupt();
    let before = m.line.messages();
    m.gpu.run_until_idle(SOME);
    let after = m.line.messages() - before;
    m.interrupt();
    m.put(page, 0, &[1]);
    assert!(m.run());
    after
}

/// Who was armed when it completed something is asked about that, though nobody waits any more.
#[test]
fn what_was_said_before_it_was_disarmed_is_heard() {
    let mut m = Dg2Machine::default();
    for n in 0..m.ports.len() {
        let space = UserSpace::new(&mut m);
        let (page, at) = space.page(&mut m);
        let context = m.context_in(n, space.tree, 0, None);
        let wait = space.program(&mut m, &[&program::wait(at, 1)]);
        m.queue(context, &Work::default());
        m.submit(context, &Work::batch(wait));
        // The beginning of the list is reported first; then the first request completes.
        m.gpu.run_until_idle(1);
        m.interrupt();
        m.arm(n, true);
        m.gpu.run_until_idle(SOME);
        m.arm(n, false);
        // Another one that shares its mask may have had something to say, too.
        assert!(m.interrupt().completed >> n & 1 != 0, "engine {n}");
        m.arm(n, false);
        m.put(page, 0, &[1]);
        assert!(m.run());
        assert_eq!(messages(&mut m, n), 0, "engine {n}");
    }
    m.assert_lawful();
}

#[test]
fn completions_come_only_while_armed() {
    let mut m = Dg2Machine::default();
    for n in 0..m.ports.len() {
        assert_eq!(messages(&mut m, n), 0, "engine {n}");
        m.arm(n, true);
        m.arm(n, true);
        assert_eq!(messages(&mut m, n), 1, "engine {n}");
        m.arm(n, false);
        assert_eq!(messages(&mut m, n), 0, "engine {n}");
    }
    m.assert_lawful();
}

#[test]
fn all_engines_are_told_apart_in_one_interrupt() {
    let mut m = Dg2Machine::default();
    for n in 0..m.ports.len() {
        m.arm(n, true);
        let context = m.context(n);
        m.submit(context, &Work::default());
    }
    assert!(m.gpu.run_until_idle(SOME));
    let events = m.interrupt();
    assert_eq!(events.completed, (1 << m.ports.len()) - 1);
    assert!(m.run());
    for n in 0..m.ports.len() {
        assert!(m.ports[n].sched.port().is_idle());
    }
    m.assert_lawful();
}

#[test]
fn what_comes_late_is_the_next_interrupt() {
    let mut m = Dg2Machine::default();
    let contexts = [m.context(0), m.context(BCS)];
    m.submit(contexts[0], &Work::default());
    assert!(m.gpu.run_until_idle(SOME));
    // The second engine has something to say before the first one's is taken.
    m.submit(contexts[1], &Work::default());
    assert!(m.gpu.run_until_idle(SOME));
    let before = m.line.messages();
    assert_eq!(m.interrupt().completed, 0b11);
    m.submit(contexts[0], &Work::default());
    assert!(m.gpu.run_until_idle(SOME));
    assert!(m.line.messages() > before);
    assert_eq!(m.interrupt().completed, 0b01);
    m.assert_lawful();
}

#[test]
fn an_error_is_told() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    for n in 0..m.ports.len() {
        let context = m.context_in(n, space.tree, 0, None);
        // L5: opcode 3Ah is none.
        let program = space.program(&mut m, &[&[0x1d00_0000]]);
        m.submit(context, &Work::batch(program));
        m.gpu.run_until_idle(SOME);
        let events = m.interrupt();
        assert_eq!(events.errors, 1 << n, "engine {n}");
    }
}

/// Dword `n` of the page of an image that has the registers.
fn state(image: &[u32], n: usize) -> u32 {
    image[1024 + n]
}

/// A program may start the watchdog (its registers are on the list of digest §3.5), and it is its context's
/// alone: nobody is told when the threshold is met (I5), and others do not have it (P1, P5).
#[test]
fn a_programs_watchdog_is_its_own() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    for n in 0..m.ports.len() {
        let (page, at) = space.page(&mut m);
        let context = m.context_in(n, space.tree, 0, None);
        // PR_CTR_THRSH, then PR_CTR_CTL: zero starts it.
        let program = space.program(
            &mut m,
            &[
                &program::load(0x17c, 1000),
                &program::load(0x178, 0),
                &program::wait(at, 1),
            ],
        );
        m.submit(context, &Work::batch(program));
        m.run_for(SOME);
        let before = m.line.messages();
        m.gpu.clock().advance_to(m.now() + 1_000_000_000);
        m.run_for(SOME);
        assert_eq!(m.line.messages(), before, "engine {n}");
        assert_eq!(m.interrupt(), Events::default());
        m.put(page, 0, &[1]);
        assert!(m.run());
        // Dwords 74h to 77h of the state: both registers are saved.
        let image = m.image(context);
        assert_eq!((state(&image, 0x75), state(&image, 0x77)), (0, 1000));
        m.reset(ResetScope::Engine(n)).unwrap();
        let other = m.context_in(n, space.tree, 0, None);
        m.work(other, &Work::default());
        assert_eq!(state(&m.image(other), 0x75), 1, "engine {n}");
    }
    m.assert_lawful();
}

#[test]
fn a_message_that_is_lost_or_doubled_does_no_harm() {
    let mut m = Dg2Machine::new(Dg2Config::default());
    let context = m.context(BCS);
    m.gpu.inject(Fault::once(Kind::DupIrq));
    m.work(context, &Work::default());
    assert_eq!(m.gpu.counter(Counter::Injected), 1);
    m.gpu.inject(Fault::once(Kind::LoseMsg));
    m.submit(context, &Work::default());
    m.run();
    // A look without a message finds it.
    let events = m.interrupt();
    assert_eq!((events.ours, events.completed), (true, 1 << BCS));
    m.work(context, &Work::default());
    m.assert_lawful();
}

#[test]
fn off_is_off_and_on_again_is_what_it_was() {
    let mut m = Dg2Machine::default();
    let context = m.context(BCS);
    let generation = m.chip.generation;
    m.arm(BCS, true);
    let mut gt = m.gt.clone();
    generation.irq_off(&m.hw(), &mut gt);
    let before = m.line.messages();
    m.submit(context, &Work::default());
    assert!(m.gpu.run_until_idle(SOME));
    assert_eq!(m.line.messages(), before);
    generation.irq_on(&m.hw(), &mut gt);
    m.gt = gt;
    // What was reported meanwhile is read without an interrupt.
    m.read_events(BCS);
    assert!(m.ports[BCS].sched.port().is_idle());
    assert_eq!(messages(&mut m, BCS), 1);
    m.assert_lawful();
}
