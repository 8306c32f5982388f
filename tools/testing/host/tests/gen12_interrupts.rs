// SPDX-License-Identifier: GPL-2.0
//! Gen12.5: interrupts through every level of the modelled tree (digest §5.8, §1I).

use gpu_model::{
    counters::Counter,
    dg2::Dg2Config,
    fault::{Fault, Kind},
};
use ouro_cross::{
    bench::{Bench, Work},
    program::{self, Space},
};
use ouro_hw::generation::{Events, ResetScope};

/// The blitter's number.
const BCS: usize = 1;
/// Steps of a run that does not come to rest.
const SOME: usize = 2_000;

#[test]
fn nothing_is_pending_at_first() {
    let mut bench = Bench::new(Dg2Config::default());
    assert_eq!(bench.line.messages(), 0);
    assert_eq!(bench.interrupt(), Events::default());
    bench.assert_lawful();
}

#[test]
fn reports_come_whether_armed_or_not() {
    let mut bench = Bench::default();
    // What others have left pending may have sent a message before it was masked. It is nobody's.
    assert_eq!(bench.interrupt(), Events::default());
    for n in 0..bench.ports.len() {
        let context = bench.context(n);
        bench.submit(context, &Work::default());
        let before = bench.line.messages();
        assert!(bench.gpu.run_until_idle(SOME));
        assert!(bench.line.messages() > before, "engine {n}");
        let events = bench.interrupt();
        assert!(events.ours);
        assert_eq!((events.completed, events.errors), (1 << n, 0), "engine {n}");
        // It was all.
        assert_eq!(bench.interrupt(), Events::default());
    }
    bench.assert_lawful();
}

/// Messages while a context, that goes on to run, completes a request.
fn messages(bench: &mut Bench, n: usize) -> u64 {
    let space = Space::new(bench);
    let (page, at) = space.page(bench);
    let context = bench.context_in(n, space.tree, 0, None);
    let wait = space.program(bench, &[&program::wait(at, 1)]);
    bench.queue(context, &Work::default());
    bench.submit(context, &Work::batch(wait));
    // The beginning of the list is reported first.
    bench.gpu.run_until_idle(1);
    bench.interrupt();
    let before = bench.line.messages();
    bench.gpu.run_until_idle(SOME);
    let after = bench.line.messages() - before;
    bench.interrupt();
    bench.put(page, 0, &[1]);
    assert!(bench.run());
    after
}

/// Who was armed when it completed something is asked about that, though nobody waits any more.
#[test]
fn what_was_said_before_it_was_disarmed_is_heard() {
    let mut bench = Bench::default();
    for n in 0..bench.ports.len() {
        let space = Space::new(&mut bench);
        let (page, at) = space.page(&mut bench);
        let context = bench.context_in(n, space.tree, 0, None);
        let wait = space.program(&mut bench, &[&program::wait(at, 1)]);
        bench.queue(context, &Work::default());
        bench.submit(context, &Work::batch(wait));
        // The beginning of the list is reported first; then the first request completes.
        bench.gpu.run_until_idle(1);
        bench.interrupt();
        bench.arm(n, true);
        bench.gpu.run_until_idle(SOME);
        bench.arm(n, false);
        // Another one that shares its mask may have had something to say, too.
        assert!(bench.interrupt().completed >> n & 1 != 0, "engine {n}");
        bench.arm(n, false);
        bench.put(page, 0, &[1]);
        assert!(bench.run());
        assert_eq!(messages(&mut bench, n), 0, "engine {n}");
    }
    bench.assert_lawful();
}

#[test]
fn completions_come_only_while_armed() {
    let mut bench = Bench::default();
    for n in 0..bench.ports.len() {
        assert_eq!(messages(&mut bench, n), 0, "engine {n}");
        bench.arm(n, true);
        bench.arm(n, true);
        assert_eq!(messages(&mut bench, n), 1, "engine {n}");
        bench.arm(n, false);
        assert_eq!(messages(&mut bench, n), 0, "engine {n}");
    }
    bench.assert_lawful();
}

#[test]
fn all_engines_are_told_apart_in_one_interrupt() {
    let mut bench = Bench::default();
    for n in 0..bench.ports.len() {
        bench.arm(n, true);
        let context = bench.context(n);
        bench.submit(context, &Work::default());
    }
    assert!(bench.gpu.run_until_idle(SOME));
    let events = bench.interrupt();
    assert_eq!(events.completed, (1 << bench.ports.len()) - 1);
    assert!(bench.run());
    for n in 0..bench.ports.len() {
        assert!(bench.ports[n].sched.port().is_idle());
    }
    bench.assert_lawful();
}

#[test]
fn what_comes_late_is_the_next_interrupt() {
    let mut bench = Bench::default();
    let contexts = [bench.context(0), bench.context(BCS)];
    bench.submit(contexts[0], &Work::default());
    assert!(bench.gpu.run_until_idle(SOME));
    // The second engine has something to say before the first one's is taken.
    bench.submit(contexts[1], &Work::default());
    assert!(bench.gpu.run_until_idle(SOME));
    let before = bench.line.messages();
    assert_eq!(bench.interrupt().completed, 0b11);
    bench.submit(contexts[0], &Work::default());
    assert!(bench.gpu.run_until_idle(SOME));
    assert!(bench.line.messages() > before);
    assert_eq!(bench.interrupt().completed, 0b01);
    bench.assert_lawful();
}

#[test]
fn an_error_is_told() {
    let mut bench = Bench::default();
    let space = Space::new(&mut bench);
    for n in 0..bench.ports.len() {
        let context = bench.context_in(n, space.tree, 0, None);
        // L5: opcode 3Ah is none.
        let program = space.program(&mut bench, &[&[0x1d00_0000]]);
        bench.submit(context, &Work::batch(program));
        bench.gpu.run_until_idle(SOME);
        let events = bench.interrupt();
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
    let mut bench = Bench::default();
    let space = Space::new(&mut bench);
    for n in 0..bench.ports.len() {
        let (page, at) = space.page(&mut bench);
        let context = bench.context_in(n, space.tree, 0, None);
        // PR_CTR_THRSH, then PR_CTR_CTL: zero starts it.
        let program = space.program(
            &mut bench,
            &[
                &program::load(0x17c, 1000),
                &program::load(0x178, 0),
                &program::wait(at, 1),
            ],
        );
        bench.submit(context, &Work::batch(program));
        bench.run_for(SOME);
        let before = bench.line.messages();
        bench.gpu.clock().advance_to(bench.now() + 1_000_000_000);
        bench.run_for(SOME);
        assert_eq!(bench.line.messages(), before, "engine {n}");
        assert_eq!(bench.interrupt(), Events::default());
        bench.put(page, 0, &[1]);
        assert!(bench.run());
        // Dwords 74h to 77h of the state: both registers are saved.
        let image = bench.image(context);
        assert_eq!((state(&image, 0x75), state(&image, 0x77)), (0, 1000));
        bench.reset(ResetScope::Engine(n)).unwrap();
        let other = bench.context_in(n, space.tree, 0, None);
        bench.work(other, &Work::default());
        assert_eq!(state(&bench.image(other), 0x75), 1, "engine {n}");
    }
    bench.assert_lawful();
}

#[test]
fn a_message_that_is_lost_or_doubled_does_no_harm() {
    let mut bench = Bench::new(Dg2Config::default());
    let context = bench.context(BCS);
    bench.gpu.inject(Fault::once(Kind::DupIrq));
    bench.work(context, &Work::default());
    assert_eq!(bench.gpu.counter(Counter::Injected), 1);
    bench.gpu.inject(Fault::once(Kind::LoseMsg));
    bench.submit(context, &Work::default());
    bench.run();
    // A look without a message finds it.
    let events = bench.interrupt();
    assert_eq!((events.ours, events.completed), (true, 1 << BCS));
    bench.work(context, &Work::default());
    bench.assert_lawful();
}

#[test]
fn off_is_off_and_on_again_is_what_it_was() {
    let mut bench = Bench::default();
    let context = bench.context(BCS);
    let generation = bench.chip.generation;
    bench.arm(BCS, true);
    let mut gt = bench.gt.clone();
    generation.irq_off(&bench.hw(), &mut gt);
    let before = bench.line.messages();
    bench.submit(context, &Work::default());
    assert!(bench.gpu.run_until_idle(SOME));
    assert_eq!(bench.line.messages(), before);
    generation.irq_on(&bench.hw(), &mut gt);
    bench.gt = gt;
    // What was reported meanwhile is read without an interrupt.
    bench.read_events(BCS);
    assert!(bench.ports[BCS].sched.port().is_idle());
    assert_eq!(messages(&mut bench, BCS), 1);
    bench.assert_lawful();
}
