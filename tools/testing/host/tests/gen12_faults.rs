// SPDX-License-Identifier: GPL-2.0
//! Gen12.5: hangs, faults and errors of the modelled engines: what the backend says of them, and that it
//! brings the engines back (digest §5.6, §3.3 row 15, §1I, §1U).

use gpu_model::{
    counters::Counter,
    fault::{Fault, Kind},
};
use ouro_cross::{
    bench::{Bench, Work},
    program::{self, Space, USER},
};
use ouro_hw::{
    generation::{DeviceError, ResetScope},
    report::Report,
    types::Seqno,
};

/// The blitter's number.
const BCS: usize = 1;
/// Steps of a run that does not come to rest.
const SOME: usize = 2_000;
/// Names of the model's engines in the topology's order.
const NAMES: [&str; 7] = ["rcs", "bcs", "ccs0", "vcs0", "vcs2", "vecs0", "vecs1"];

fn report(bench: &mut Bench) -> Report {
    let mut gt = bench.gt.clone();
    let report = bench
        .chip
        .generation
        .errors(&bench.hw(), &mut gt, &bench.topo);
    bench.gt = gt;
    report
}

#[test]
fn every_engine_comes_back_from_a_hang() {
    for (n, name) in NAMES.into_iter().enumerate() {
        let mut bench = Bench::default();
        let context = bench.context(n);
        bench.work(context, &Work::default());
        bench.gpu.inject(Fault::once(Kind::Hang).on(name));
        bench.submit(context, &Work::default());
        bench.run();
        assert_eq!(bench.done(context), Seqno(1), "{name}");
        let activity = bench.engine(n).activity(&bench.hw());
        assert!(!activity.idle, "{name}");
        assert_ne!(activity.head, activity.tail);
        assert_eq!(bench.engine(n).running(&bench.hw()), Some(1));
        bench.reset(ResetScope::Engine(n)).unwrap();
        assert!(bench.run());
        assert_eq!(bench.done(context), Seqno(2), "{name}");
        bench.work(context, &Work::default());
        assert_eq!(bench.engine(n).running(&bench.hw()), None);
        bench.assert_lawful();
    }
}

/// Digest §5.6: render with compute, the blitter, and each half's media engines.
#[test]
fn a_reset_leaves_others_alone() {
    for (n, name) in NAMES.into_iter().enumerate() {
        let mut bench = Bench::default();
        let space = Space::new(&mut bench);
        let (page, at) = space.page(&mut bench);
        let wait = space.program(
            &mut bench,
            &[&program::increment(at), &program::wait(at + 4, 1)],
        );
        // Of the compute engines, the card has three more that are not used.
        let (with, reset): (&[usize], _) = match n {
            0 | 2 => (&[0, 2], 5),
            1 => (&[1], 1),
            3 | 5 => (&[3, 5], 2),
            _ => (&[4, 6], 2),
        };
        assert_eq!(bench.reset_with(n), with);
        let others: Vec<_> = (0..bench.ports.len())
            .filter(|other| !with.contains(other))
            .map(|other| bench.context_in(other, space.tree, 0, None))
            .collect();
        for context in &others {
            bench.submit(*context, &Work::batch(wait));
        }
        let context = bench.context(n);
        bench.gpu.inject(Fault::once(Kind::Hang).on(name));
        bench.submit(context, &Work::default());
        bench.run_for(SOME);
        assert_eq!(bench.dword(page, 0), others.len() as u32, "{name}");
        let before = bench.gpu.counter(Counter::Resets);
        bench.reset(ResetScope::Engine(n)).unwrap();
        bench.run_for(SOME);
        assert_eq!(bench.done(context), Seqno(1), "{name}");
        bench.put(page, 1, &[1]);
        assert!(bench.run());
        for context in &others {
            assert_eq!(bench.done(*context), Seqno(1));
        }
        // Each ran once.
        assert_eq!(bench.dword(page, 0), others.len() as u32, "{name}");
        // §5.6: the bits are written twice.
        let resets = bench.gpu.counter(Counter::Resets) - before;
        assert_eq!(resets, 2 * reset, "{name}");
        bench.assert_lawful();
    }
}

#[test]
fn what_waited_behind_a_hang_runs() {
    let mut bench = Bench::default();
    let contexts: Vec<_> = (0..4).map(|_| bench.context(BCS)).collect();
    bench.gpu.inject(Fault::once(Kind::Hang).on("bcs"));
    for context in &contexts {
        bench.submit(*context, &Work::default());
        bench.submit(*context, &Work::default());
    }
    bench.run();
    bench.reset(ResetScope::Engine(BCS)).unwrap();
    assert!(bench.run());
    for context in contexts {
        assert_eq!(bench.done(context), Seqno(2));
    }
    bench.assert_lawful();
}

#[test]
fn an_address_without_a_page_is_told() {
    for (n, name) in NAMES.into_iter().enumerate() {
        let mut bench = Bench::default();
        let space = Space::new(&mut bench);
        let context = bench.context_in(n, space.tree, 0, None);
        let nowhere = USER + 0x7_8000_1000;
        let program = space.program(&mut bench, &[&program::store(nowhere + 0x18, 1)]);
        bench.submit(context, &Work::batch(program));
        bench.run();
        assert_eq!(bench.done(context), Seqno(0));
        let said = report(&mut bench);
        assert!(said.is_error());
        // §3.3 row 15: the page, all of its 48 bits; not in the global table.
        let fault = said.engines[n].expect(name).fault.expect(name);
        assert_eq!((fault.addr, fault.global), (nowhere, false), "{name}");
        for (other, engine) in said.engines.iter().enumerate() {
            let fault = engine.as_ref().and_then(|e| e.fault);
            assert_eq!(fault.is_some(), other == n, "{name}");
        }
        // It is told once.
        let again = report(&mut bench);
        assert!(again.engines.iter().flatten().all(|e| e.fault.is_none()));
        // U3: nothing but a reset helps; the context that faulted does not run again.
        let (entity, now) = (bench.contexts[context].entity, bench.now());
        bench.ports[n].sched.cancel(entity, now);
        bench.reset(ResetScope::Engine(n)).unwrap();
        let other = bench.context(n);
        bench.work(other, &Work::default());
        assert!(!report(&mut bench).is_error(), "{name}");
    }
}

#[test]
fn a_ring_that_is_not_mapped_is_a_fault_of_the_global_table() {
    let mut bench = Bench::default();
    let context = bench.context(BCS);
    let ring = bench.contexts[context].mem.ring;
    let invalid = bench.topo.pages.invalid();
    bench.hw().gtt.write64(ring.page() * 8, invalid);
    bench.submit(context, &Work::default());
    bench.run();
    let said = report(&mut bench);
    let fault = said.engines[BCS].unwrap().fault.unwrap();
    assert_eq!((fault.addr, fault.global), (ring.0.into(), true));
}

#[test]
fn what_is_no_command_is_an_error_until_a_reset() {
    for (n, name) in NAMES.into_iter().enumerate() {
        let mut bench = Bench::default();
        let space = Space::new(&mut bench);
        let context = bench.context_in(n, space.tree, 0, None);
        // L1: client 1 is reserved.
        let bad = 0x2000_0000;
        let program = space.program(&mut bench, &[&[bad]]);
        bench.submit(context, &Work::batch(program));
        bench.run();
        let said = report(&mut bench).engines[n].expect(name);
        // I13: bit 0, and what it choked on.
        assert_eq!((said.eir & 1, said.ipehr), (1, bad), "{name}");
        assert_eq!(said.batch.map(|at| at & !0xfff), Some(program & !0xfff));
        assert!(said.activity.acthd & !0xfff == program & !0xfff, "{name}");
        let (entity, now) = (bench.contexts[context].entity, bench.now());
        bench.ports[n].sched.cancel(entity, now);
        bench.reset(ResetScope::Engine(n)).unwrap();
        let other = bench.context(n);
        bench.work(other, &Work::default());
        assert!(!report(&mut bench).is_error(), "{name}");
    }
}

#[test]
fn a_reset_that_never_ends_is_told() {
    let mut bench = Bench::default();
    bench.gpu.inject(Fault {
        times: 0,
        ..Fault::once(Kind::StuckReset)
    });
    let stuck = DeviceError::Timeout("GDRST");
    assert_eq!(bench.reset(ResetScope::All), Err(stuck));
    assert_eq!(bench.reset(ResetScope::Engine(BCS)), Err(stuck));
}

#[test]
fn a_late_reset_is_waited_for() {
    let mut bench = Bench::default();
    let context = bench.context(BCS);
    // §5.6: two milliseconds at most.
    bench.gpu.inject(Fault {
        value: 1_900,
        ..Fault::once(Kind::LateReset)
    });
    bench.reset(ResetScope::All).unwrap();
    bench.work(context, &Work::default());
    bench.assert_lawful();
}

#[test]
fn resets_follow_each_other() {
    let mut bench = Bench::default();
    let context = bench.context(BCS);
    for n in 1..=20 {
        bench.gpu.inject(Fault::once(Kind::Hang).on("bcs"));
        bench.submit(context, &Work::default());
        bench.run();
        let scope = if n % 3 == 0 {
            ResetScope::All
        } else {
            ResetScope::Engine(BCS)
        };
        bench.reset(scope).unwrap();
        assert!(bench.run());
        assert_eq!(bench.done(context), Seqno(n));
    }
    bench.assert_lawful();
}

#[test]
fn a_preempted_one_survives_the_reset_of_another() {
    let mut bench = Bench::default();
    let space = Space::new(&mut bench);
    let (page, at) = space.page(&mut bench);
    let slow = bench.context_in(BCS, space.tree, 0, None);
    let urgent = bench.context_in(BCS, space.tree, 10, None);
    let program = space.program(
        &mut bench,
        &[
            &program::increment(at),
            &program::wait(at + 4, 1),
            &program::store(at + 8, 0x60),
        ],
    );
    bench.submit(slow, &Work::batch(program));
    bench.run_for(SOME);
    bench.gpu.inject(Fault::once(Kind::Hang).on("bcs"));
    bench.submit(urgent, &Work::default());
    bench.run_for(SOME);
    bench.reset(ResetScope::Engine(BCS)).unwrap();
    bench.put(page, 1, &[1]);
    assert!(bench.run());
    assert_eq!((bench.done(slow), bench.done(urgent)), (Seqno(1), Seqno(1)));
    assert_eq!(bench.dword(page, 2), 0x60);
    bench.assert_lawful();
}
