// SPDX-License-Identifier: GPL-2.0
//! Gen12.5: hangs, faults and errors of the modelled engines: what the backend says of them, and that it
//! brings the engines back (digest §5.6, §3.3 row 15, §1I, §1U).

use gpu_model::{
    counters::Counter,
    fault::{Fault, Kind},
};
use ouro_cross::{
    dg2_machine::{Dg2Machine, Work},
    program::{self, UserSpace, USER},
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

fn report(m: &mut Dg2Machine) -> Report {
    let mut gt = m.gt.clone();
    let report = m.chip.generation.errors(&m.hw(), &mut gt, &m.topo);
    m.gt = gt;
    report
}

#[test]
fn every_engine_comes_back_from_a_hang() {
    for (n, name) in NAMES.into_iter().enumerate() {
        let mut m = Dg2Machine::default();
        let context = m.context(n);
        m.work(context, &Work::default());
        m.gpu.inject(Fault::once(Kind::Hang).on(name));
        m.submit(context, &Work::default());
        m.run();
        assert_eq!(m.done(context), Seqno(1), "{name}");
        let activity = m.engine(n).activity(&m.hw());
        assert!(!activity.idle, "{name}");
        assert_ne!(activity.head, activity.tail);
        assert_eq!(m.engine(n).running(&m.hw()), Some(1));
        m.reset(ResetScope::Engine(n)).unwrap();
        assert!(m.run());
        assert_eq!(m.done(context), Seqno(2), "{name}");
        m.work(context, &Work::default());
        assert_eq!(m.engine(n).running(&m.hw()), None);
        m.assert_lawful();
    }
}

/// Digest §5.6: render with compute, the blitter, and each half's media engines.
#[test]
fn a_reset_leaves_others_alone() {
    for (n, name) in NAMES.into_iter().enumerate() {
        let mut m = Dg2Machine::default();
        let space = UserSpace::new(&mut m);
        let (page, at) = space.page(&mut m);
        let wait = space.program(
            &mut m,
            &[&program::increment(at), &program::wait(at + 4, 1)],
        );
        // Of the compute engines, the card has three more that are not used.
        let (with, reset): (&[usize], _) = match n {
            0 | 2 => (&[0, 2], 5),
            1 => (&[1], 1),
            3 | 5 => (&[3, 5], 2),
            _ => (&[4, 6], 2),
        };
        assert_eq!(m.reset_with(n), with);
        let others: Vec<_> = (0..m.ports.len())
            .filter(|other| !with.contains(other))
            .map(|other| m.context_in(other, space.tree, 0, None))
            .collect();
        for context in &others {
            m.submit(*context, &Work::batch(wait));
        }
        let context = m.context(n);
        m.gpu.inject(Fault::once(Kind::Hang).on(name));
        m.submit(context, &Work::default());
        m.run_for(SOME);
        assert_eq!(m.dword(page, 0), others.len() as u32, "{name}");
        let before = m.gpu.counter(Counter::Resets);
        m.reset(ResetScope::Engine(n)).unwrap();
        m.run_for(SOME);
        assert_eq!(m.done(context), Seqno(1), "{name}");
        m.put(page, 1, &[1]);
        assert!(m.run());
        for context in &others {
            assert_eq!(m.done(*context), Seqno(1));
        }
        // Each ran once.
        assert_eq!(m.dword(page, 0), others.len() as u32, "{name}");
        // §5.6: the bits are written twice.
        let resets = m.gpu.counter(Counter::Resets) - before;
        assert_eq!(resets, 2 * reset, "{name}");
        m.assert_lawful();
    }
}

#[test]
fn what_waited_behind_a_hang_runs() {
    let mut m = Dg2Machine::default();
    let contexts: Vec<_> = (0..4).map(|_| m.context(BCS)).collect();
    m.gpu.inject(Fault::once(Kind::Hang).on("bcs"));
    for context in &contexts {
        m.submit(*context, &Work::default());
        m.submit(*context, &Work::default());
    }
    m.run();
    m.reset(ResetScope::Engine(BCS)).unwrap();
    assert!(m.run());
    for context in contexts {
        assert_eq!(m.done(context), Seqno(2));
    }
    m.assert_lawful();
}

#[test]
fn an_address_without_a_page_is_told() {
    for (n, name) in NAMES.into_iter().enumerate() {
        let mut m = Dg2Machine::default();
        let space = UserSpace::new(&mut m);
        let context = m.context_in(n, space.tree, 0, None);
        let nowhere = USER + 0x7_8000_1000;
        let program = space.program(&mut m, &[&program::store(nowhere + 0x18, 1)]);
        m.submit(context, &Work::batch(program));
        m.run();
        assert_eq!(m.done(context), Seqno(0));
        let said = report(&mut m);
        assert!(said.is_error());
        // §3.3 row 15: the page, all of its 48 bits; not in the global table.
        let fault = said.engines[n].expect(name).fault.expect(name);
        assert_eq!((fault.addr, fault.global), (nowhere, false), "{name}");
        for (other, engine) in said.engines.iter().enumerate() {
            let fault = engine.as_ref().and_then(|e| e.fault);
            assert_eq!(fault.is_some(), other == n, "{name}");
        }
        // It is told once.
        let again = report(&mut m);
        assert!(again.engines.iter().flatten().all(|e| e.fault.is_none()));
        // U3: nothing but a reset helps; the context that faulted does not run again.
        let (entity, now) = (m.contexts[context].entity, m.now());
        m.ports[n].sched.cancel(entity, now);
        m.reset(ResetScope::Engine(n)).unwrap();
        let other = m.context(n);
        m.work(other, &Work::default());
        assert!(!report(&mut m).is_error(), "{name}");
    }
}

#[test]
fn a_ring_that_is_not_mapped_is_a_fault_of_the_global_table() {
    let mut m = Dg2Machine::default();
    let context = m.context(BCS);
    let ring = m.contexts[context].mem.ring;
    let invalid = m.topo.pages.invalid();
    m.hw().gtt.write64(ring.page() * 8, invalid);
    m.submit(context, &Work::default());
    m.run();
    let said = report(&mut m);
    let fault = said.engines[BCS].unwrap().fault.unwrap();
    assert_eq!((fault.addr, fault.global), (ring.0.into(), true));
}

#[test]
fn what_is_no_command_is_an_error_until_a_reset() {
    for (n, name) in NAMES.into_iter().enumerate() {
        let mut m = Dg2Machine::default();
        let space = UserSpace::new(&mut m);
        let context = m.context_in(n, space.tree, 0, None);
        // L1: client 1 is reserved.
        let bad = 0x2000_0000;
        let program = space.program(&mut m, &[&[bad]]);
        m.submit(context, &Work::batch(program));
        m.run();
        let said = report(&mut m).engines[n].expect(name);
        // I13: bit 0, and what it choked on.
        assert_eq!((said.eir & 1, said.ipehr), (1, bad), "{name}");
        assert_eq!(said.batch.map(|at| at & !0xfff), Some(program & !0xfff));
        assert!(said.activity.acthd & !0xfff == program & !0xfff, "{name}");
        let (entity, now) = (m.contexts[context].entity, m.now());
        m.ports[n].sched.cancel(entity, now);
        m.reset(ResetScope::Engine(n)).unwrap();
        let other = m.context(n);
        m.work(other, &Work::default());
        assert!(!report(&mut m).is_error(), "{name}");
    }
}

#[test]
fn a_reset_that_never_ends_is_told() {
    let mut m = Dg2Machine::default();
    m.gpu.inject(Fault {
        times: 0,
        ..Fault::once(Kind::StuckReset)
    });
    let stuck = DeviceError::Timeout("GDRST");
    assert_eq!(m.reset(ResetScope::All), Err(stuck));
    assert_eq!(m.reset(ResetScope::Engine(BCS)), Err(stuck));
}

#[test]
fn a_late_reset_is_waited_for() {
    let mut m = Dg2Machine::default();
    let context = m.context(BCS);
    // §5.6: two milliseconds at most.
    m.gpu.inject(Fault {
        value: 1_900,
        ..Fault::once(Kind::LateReset)
    });
    m.reset(ResetScope::All).unwrap();
    m.work(context, &Work::default());
    m.assert_lawful();
}

#[test]
fn resets_follow_each_other() {
    let mut m = Dg2Machine::default();
    let context = m.context(BCS);
    for n in 1..=20 {
        m.gpu.inject(Fault::once(Kind::Hang).on("bcs"));
        m.submit(context, &Work::default());
        m.run();
        let scope = if n % 3 == 0 {
            ResetScope::All
        } else {
            ResetScope::Engine(BCS)
        };
        m.reset(scope).unwrap();
        assert!(m.run());
        assert_eq!(m.done(context), Seqno(n));
    }
    m.assert_lawful();
}

#[test]
fn a_preempted_one_survives_the_reset_of_another() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let (page, at) = space.page(&mut m);
    let slow = m.context_in(BCS, space.tree, 0, None);
    let urgent = m.context_in(BCS, space.tree, 10, None);
    let program = space.program(
        &mut m,
        &[
            &program::increment(at),
            &program::wait(at + 4, 1),
            &program::store(at + 8, 0x60),
        ],
    );
    m.submit(slow, &Work::batch(program));
    m.run_for(SOME);
    m.gpu.inject(Fault::once(Kind::Hang).on("bcs"));
    m.submit(urgent, &Work::default());
    m.run_for(SOME);
    m.reset(ResetScope::Engine(BCS)).unwrap();
    m.put(page, 1, &[1]);
    assert!(m.run());
    assert_eq!((m.done(slow), m.done(urgent)), (Seqno(1), Seqno(1)));
    assert_eq!(m.dword(page, 2), 0x60);
    m.assert_lawful();
}
