// SPDX-License-Identifier: GPL-2.0
//! Gen12.5: lists of contexts, from the scheduler through the backend to the modelled engines, and what
//! these report (DG2 PRM Vol 8 "Execution List Submission Port", "Context Status"; digest §1B, §1E, §1F).

use gpu_model::{
    counters::Counter,
    dg2::{Dg2Config, EngineId},
};
use ouro_cross::{
    dg2_machine::{Dg2Machine, Object, Work},
    program::{self, UserSpace},
};
use ouro_hw::{
    engine::PortEvent,
    types::{EngineClass, Seqno},
};

/// The blitter's number.
const BCS: usize = 1;
/// `CS_GPR` R0 (digest §3.2 row 87).
const GPR0: u32 = 0x600;
/// Steps of a run that does not come to rest.
const SOME: usize = 2_000;

fn event(from: Option<u32>, finished: bool, to: Option<u32>, new_list: bool) -> PortEvent {
    PortEvent {
        from,
        finished,
        to,
        new_list,
    }
}

/// A program that counts its beginnings in dword 0 of a page, waits until dword 1 is 1 or more, and stores
/// to dword 2.
struct Waiter {
    page: Object,
    program: u64,
}

impl Waiter {
    fn new(m: &mut Dg2Machine, space: &UserSpace) -> Self {
        let (page, at) = space.page(m);
        let program = space.program(
            m,
            &[
                &program::increment(at),
                &program::wait(at + 4, 1),
                &program::store(at + 8, 0x60),
            ],
        );
        Self { page, program }
    }

    fn started(&self, m: &Dg2Machine) -> u32 {
        m.dword(self.page, 0)
    }

    fn release(&self, m: &Dg2Machine) {
        m.put(self.page, 1, &[1]);
    }

    fn ended(&self, m: &Dg2Machine) -> bool {
        m.dword(self.page, 2) == 0x60
    }
}

#[test]
fn idle_to_active_to_idle() {
    let mut m = Dg2Machine::default();
    let context = m.context(BCS);
    m.work(context, &Work::default());
    // Cases 1 and 10.
    assert_eq!(
        m.ports[BCS].said,
        [
            event(None, false, Some(1), true),
            event(Some(1), true, None, false),
        ]
    );
    assert!(m.ports[BCS].sched.port().is_idle());
    assert!(!m.ports[BCS].sched.is_held(m.contexts[context].entity));
    m.assert_lawful();
}

#[test]
fn a_list_is_worked_off_in_its_order() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let (page, at) = space.page(&mut m);
    let contexts: Vec<_> = (0..8)
        .map(|_| m.context_in(BCS, space.tree, 0, None))
        .collect();
    for (n, context) in (0..).zip(&contexts) {
        // Where the counter stands goes to dword n + 1.
        let program = space.program(
            &mut m,
            &[
                &program::increment(at),
                &program::fetch(GPR0, at),
                &program::save(GPR0, at + 4 + 4 * n),
            ],
        );
        m.queue(*context, &Work::batch(program));
    }
    m.kick(BCS);
    assert_eq!(m.ports[BCS].loads[0].entries().len(), 8);
    assert!(m.run());
    for n in 0..8 {
        assert_eq!(m.dword(page, 1 + n), n + 1);
    }
    // Case 1, seven times case 8, case 10.
    let mut expected = vec![event(None, false, Some(1), true)];
    expected.extend((1..8).map(|n| event(Some(n), true, Some(n + 1), false)));
    expected.push(event(Some(8), true, None, false));
    assert_eq!(m.ports[BCS].said, expected);
    assert_eq!(m.gpu.counter(Counter::Loads), 1);
    m.assert_lawful();
}

#[test]
fn events_come_round() {
    let mut m = Dg2Machine::default();
    let context = m.context(BCS);
    // Two reports each, into twelve entries (E16).
    for _ in 0..50 {
        m.work(context, &Work::default());
    }
    assert_eq!(m.ports[BCS].said.len(), 100);
    assert_eq!(m.gpu.counter(Counter::StatusEntries), 100);
    m.assert_lawful();
}

#[test]
fn who_reads_late_misses_nothing() {
    // E16, E17: twelve entries, and the number of the last one, which says nothing after twelve more.
    let mut m = Dg2Machine::default();
    let first: Vec<_> = (0..8).map(|_| m.context(BCS)).collect();
    let then: Vec<_> = (0..8)
        .map(|_| m.context_in(BCS, m.kernel, 10, None))
        .collect();
    for context in &first {
        m.queue(*context, &Work::default());
    }
    m.kick(BCS);
    // It has taken the list: that is all that is read of it, and then it works that off.
    while m.ports[BCS].said.is_empty() {
        m.gpu.run_until_idle(1);
        m.read_events(BCS);
    }
    m.gpu.run_until_idle(SOME);
    for context in &then {
        m.queue(*context, &Work::default());
    }
    assert!(m.kick(BCS));
    // All that it was given.
    m.gpu.run_until_idle(SOME);
    m.read_events(BCS);
    assert!(m.run());
    for context in first.into_iter().chain(then) {
        assert_eq!(m.done(context), Seqno(1), "{context}");
    }
    m.assert_lawful();
}

#[test]
fn what_runs_gets_its_new_tail() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let context = m.context_in(BCS, space.tree, 0, None);
    let waiter = Waiter::new(&mut m, &space);
    m.submit(context, &Work::batch(waiter.program));
    m.run_for(SOME);
    assert_eq!(waiter.started(&m), 1);
    assert_eq!(m.gpu.counter(Counter::LiteRestores), 0);
    // Alone it would wait for the end of what runs: the other one must not run before it.
    let other = m.context_in(BCS, space.tree, 0, None);
    m.queue(context, &Work::default());
    m.queue(other, &Work::default());
    assert!(m.kick(BCS));
    m.run_for(SOME);
    // Case 7: reported although nothing was switched (E10). The program goes on where it was (B12).
    assert_eq!(m.gpu.counter(Counter::LiteRestores), 1);
    assert_eq!(m.ports[BCS].said.len(), 2);
    assert_eq!(m.ports[BCS].said[1], event(None, false, Some(1), true));
    waiter.release(&m);
    assert!(m.run());
    assert_eq!(waiter.started(&m), 1);
    assert!(waiter.ended(&m));
    assert_eq!(m.done(context), Seqno(2));
    assert_eq!(m.done(other), Seqno(1));
    m.assert_lawful();
}

#[test]
fn what_follows_in_a_context_is_one_load_at_its_end() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let context = m.context_in(BCS, space.tree, 0, None);
    let waiter = Waiter::new(&mut m, &space);
    m.submit(context, &Work::batch(waiter.program));
    for n in 0..100u32 {
        m.submit(context, &Work::default());
        if n % 7 == 3 {
            m.run_for(SOME);
        }
        assert_eq!(m.ports[BCS].loads.len(), 1, "request {n}");
    }
    waiter.release(&m);
    assert!(m.run());
    assert_eq!(m.done(context), Seqno(101));
    assert_eq!(m.gpu.counter(Counter::Loads), 2);
    m.assert_lawful();
}

#[test]
fn a_hundred_requests_to_a_busy_engine() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let context = m.context_in(BCS, space.tree, 0, None);
    let waiter = Waiter::new(&mut m, &space);
    m.submit(context, &Work::batch(waiter.program));
    // With another context behind it, each new tail is loaded.
    let other = m.context_in(BCS, space.tree, 0, None);
    m.submit(other, &Work::default());
    m.run_for(SOME);
    for n in 0..100u32 {
        let free = !m.ports[BCS].sched.port().is_loading();
        let before = m.ports[BCS].loads.len();
        m.submit(context, &Work::default());
        // None is delayed while the port is free, none written while one is unacknowledged.
        let more = m.ports[BCS].loads.len() - before;
        assert_eq!(more, usize::from(free), "request {n}");
        if n % 7 == 3 {
            m.run_for(SOME);
        }
        let acknowledged = m.ports[BCS].said.iter().filter(|e| e.new_list);
        assert!(m.ports[BCS].loads.len() <= acknowledged.count() + 1);
    }
    let loads = m.ports[BCS].loads.len() as u64;
    assert!((10..50).contains(&loads), "{loads} loads");
    waiter.release(&m);
    assert!(m.run());
    assert_eq!(m.done(context), Seqno(101));
    assert_eq!(waiter.started(&m), 1);
    // The model's own count of the same.
    assert_eq!(m.gpu.counter(Counter::LoadsUnacknowledged), 0);
    assert_eq!(
        m.gpu.counter(Counter::Loads),
        m.gpu.counter(Counter::QueueSwitches)
    );
    m.assert_lawful();
}

#[test]
fn what_is_urgent_takes_the_engine_from_a_wait() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let idle = m.context_in(BCS, space.tree, 0, None);
    let urgent = m.context_in(BCS, space.tree, 10, None);
    let waiter = Waiter::new(&mut m, &space);
    m.submit(idle, &Work::batch(waiter.program));
    m.run_for(SOME);
    m.submit(urgent, &Work::default());
    m.run_for(SOME);
    assert_eq!(m.done(urgent), Seqno(1));
    assert_eq!(m.done(idle), Seqno(0));
    // Case 6: an unsuccessful wait (E9); then the wait goes on, not from the beginning (F8).
    assert_eq!(m.ports[BCS].said[1], event(Some(1), false, Some(2), true));
    assert_eq!(m.gpu.counter(Counter::Preemptions), 1);
    waiter.release(&m);
    assert!(m.run());
    assert_eq!(m.done(idle), Seqno(1));
    assert_eq!((waiter.started(&m), waiter.ended(&m)), (1, true));
    m.assert_lawful();
}

/// An endless program that counts in dword 0 and has a point where others may take over, or none.
fn endless(m: &mut Dg2Machine, space: &UserSpace, check: bool) -> (Object, u64) {
    let (page, at) = space.page(m);
    let check: &[u32] = if check { &[program::ARB_CHECK] } else { &[] };
    let program = space.endless(m, &[&program::increment(at), check]);
    (page, program)
}

#[test]
fn what_is_endless_is_taken_off_where_it_allows_it() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let spin = m.context_in(BCS, space.tree, 0, None);
    let urgent = m.context_in(BCS, space.tree, 10, None);
    let (page, program) = endless(&mut m, &space, true);
    m.submit(spin, &Work::batch(program));
    assert!(!m.run_for(SOME));
    for n in 1..=5 {
        let before = m.dword(page, 0);
        assert_ne!(before, 0);
        m.submit(urgent, &Work::default());
        for _ in 0..3 {
            assert!(!m.run_for(SOME), "the endless one goes on");
        }
        assert_eq!(m.done(urgent), Seqno(n));
        assert!(m.dword(page, 0) > before, "and from where it was");
        // Case 5.
        let said = m.ports[BCS].said.iter();
        let case_5 = event(Some(1), false, Some(2), true);
        assert_eq!(said.filter(|e| **e == case_5).count(), n as usize);
    }
    assert_eq!(m.gpu.counter(Counter::Preemptions), 5);
    m.assert_lawful();
}

#[test]
fn what_allows_nothing_is_not_taken_off() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let spin = m.context_in(BCS, space.tree, 0, None);
    let urgent = m.context_in(BCS, space.tree, 10, None);
    let (_, program) = endless(&mut m, &space, false);
    m.submit(spin, &Work::batch(program));
    m.run_for(SOME);
    m.submit(urgent, &Work::default());
    for _ in 0..5 {
        assert!(!m.run_for(SOME));
    }
    // F1: it never yields.
    assert_eq!(m.done(urgent), Seqno(0));
    assert!(m.ports[BCS].sched.port().is_loading());
    assert_eq!(m.gpu.counter(Counter::Preemptions), 0);
    m.assert_lawful();
}

#[test]
fn a_probed_context_is_saved_and_goes_on_or_owes_an_answer() {
    for preemptible in [true, false] {
        let mut m = Dg2Machine::default();
        let space = UserSpace::new(&mut m);
        let spin = m.context_in(BCS, space.tree, 0, None);
        let (page, program) = endless(&mut m, &space, preemptible);
        m.submit(spin, &Work::batch(program));
        assert!(!m.run_for(SOME));
        for n in 1..=5 {
            let before = m.dword(page, 0);
            m.ports[BCS].sched.request_probe();
            assert_eq!(m.kick(BCS), preemptible || n == 1, "one question at a time");
            assert!(!m.run_for(SOME));
            assert_eq!(m.ports[BCS].sched.owed().is_none(), preemptible);
            assert!(m.dword(page, 0) > before, "it goes on from where it was");
            // Case 7, with a restore or not: the same context leaves and comes.
            let case_7 = event(None, false, Some(1), true);
            let said = m.ports[BCS].said.iter().skip(1);
            let answers = if preemptible { n } else { 0 };
            assert_eq!(said.filter(|e| **e == case_7).count(), answers);
        }
        m.assert_lawful();
    }
}

#[test]
fn a_probed_context_is_saved_although_its_client_submits_on() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let spin = m.context_in(BCS, space.tree, 0, None);
    let (page, program) = endless(&mut m, &space, true);
    m.submit(spin, &Work::batch(program));
    assert!(!m.run_for(SOME));
    for _ in 0..5 {
        let before = m.dword(page, 0);
        m.submit(spin, &Work::default());
        let loads = m.ports[BCS].sched.port().loads();
        m.ports[BCS].sched.request_probe();
        assert!(m.kick(BCS));
        assert!(!m.run_for(SOME));
        assert!(m.ports[BCS].sched.port().has_saved_since(loads));
        assert!(m.dword(page, 0) > before, "it goes on from where it was");
    }
    assert_eq!(m.gpu.counter(Counter::LiteRestores), 0);
    m.assert_lawful();
}

#[test]
fn the_kernels_commands_are_not_interrupted() {
    // From the end of a batch to its interrupt nobody takes over: a load in between is taken behind it.
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let first = m.context_in(BCS, space.tree, 0, None);
    let urgent = m.context_in(BCS, space.tree, 10, None);
    let program = space.program(&mut m, &[&[program::NOOP; 8]]);
    for steps in 1..40 {
        m.submit(first, &Work::batch(program));
        m.gpu.run_until_idle(steps);
        m.submit(urgent, &Work::default());
        assert!(m.run(), "{steps} steps");
        assert_eq!(m.done(first), Seqno(steps as u32));
        assert_eq!(m.done(urgent), Seqno(steps as u32));
    }
    m.assert_lawful();
}

#[test]
fn what_is_cancelled_leaves_the_engine_idle() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let spin = m.context_in(BCS, space.tree, 0, None);
    let (page, program) = endless(&mut m, &space, true);
    m.submit(spin, &Work::batch(program));
    m.run_for(SOME);
    let (entity, now) = (m.contexts[spin].entity, m.now());
    m.ports[BCS].sched.cancel(entity, now);
    assert!(m.kick(BCS));
    // B13: an empty queue sends it away; case 2.
    assert!(m.run());
    let said = &m.ports[BCS].said;
    assert_eq!(said.last(), Some(&event(Some(1), false, None, true)));
    assert!(m.ports[BCS].sched.port().is_idle());
    let stood = m.dword(page, 0);
    m.run();
    assert_eq!(m.dword(page, 0), stood);
    // Others go on.
    let other = m.context(BCS);
    m.work(other, &Work::default());
    m.assert_lawful();
}

#[test]
fn contexts_of_one_priority_share_by_slices() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let spins: Vec<_> = (0..3)
        .map(|_| {
            let context = m.context_in(BCS, space.tree, 0, None);
            let (page, program) = endless(&mut m, &space, true);
            m.submit(context, &Work::batch(program));
            page
        })
        .collect();
    let mut turns = [0u32; 3];
    for _ in 0..30 {
        let counts: Vec<_> = spins.iter().map(|page| m.dword(*page, 0)).collect();
        assert!(!m.run_for(SOME));
        assert!(!m.run_for(SOME));
        for (turn, (page, count)) in turns.iter_mut().zip(spins.iter().zip(counts)) {
            *turn += u32::from(m.dword(*page, 0) > count);
        }
        assert!(m.wait(BCS), "somebody waits");
    }
    assert!(turns.iter().all(|turn| *turn >= 8), "{turns:?}");
    m.assert_lawful();
}

#[test]
fn engines_work_side_by_side() {
    // A3: two wait for each other, and both at once for a third.
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let (page, at) = space.page(&mut m);
    let pairs: Vec<_> = (0..m.ports.len()).collect();
    let last = pairs.len() as u64 - 1;
    for n in pairs.iter().copied() {
        let context = m.context_in(n, space.tree, 0, None);
        let n = n as u64;
        // Each waits for the one before it; the first one is told to begin by the last.
        let before = if n == 0 { last + 1 } else { n - 1 };
        let mut commands = vec![
            program::wait(at + 8 * before, 1).to_vec(),
            program::store(at + 8 * n, 1).to_vec(),
        ];
        if n == last {
            commands.insert(0, program::store(at + 8 * (last + 1), 1).to_vec());
        }
        let commands: Vec<&[u32]> = commands.iter().map(Vec::as_slice).collect();
        let program = space.program(&mut m, &commands);
        m.submit(context, &Work::batch(program));
    }
    assert!(m.run());
    for n in pairs {
        assert_eq!(m.dword(page, 2 * n as u32), 1, "engine {n}");
    }
    for context in 0..m.contexts.len() {
        assert_eq!(m.done(context), Seqno(1));
    }
    m.assert_lawful();
}

#[test]
fn a_tail_that_is_lost_is_written_again() {
    // D8: the image of what is switched away from is saved as a whole, its old tail too.
    let mut m = Dg2Machine::default();
    let first = m.context(BCS);
    let urgent = m.context_in(BCS, m.kernel, 10, None);
    m.submit(first, &Work::default());
    while m.done(first) != Seqno(1) {
        m.gpu.run_until_idle(1);
    }
    // The number is read; the context is still on the engine.
    m.interrupt();
    m.read_events(BCS);
    let entity = m.contexts[first].entity;
    assert!(m.ports[BCS].sched.is_held(entity));
    let new = m.queue(first, &Work::default());
    m.submit(urgent, &Work::default());
    let load = m.ports[BCS].loads.last().unwrap();
    assert_eq!(
        load.entries()[1].tail,
        new,
        "it stands behind the other one"
    );
    assert!(m.run());
    assert_eq!(m.done(urgent), Seqno(1));
    assert_eq!(m.done(first), Seqno(2));
    m.assert_lawful();
}

#[test]
fn descriptors_outlive_what_was_listed() {
    // B9: elements of a longer list would run again if they were not cleared.
    let mut m = Dg2Machine::new(Dg2Config::default().with_engines(&[EngineId::Rcs, EngineId::Bcs]));
    let copy = m.first(EngineClass::Copy);
    let contexts: Vec<_> = (0..8).map(|_| m.context(copy)).collect();
    for context in &contexts {
        m.queue(*context, &Work::default());
    }
    m.kick(copy);
    assert!(m.run());
    let before = m.gpu.counter(Counter::ContextRestores);
    m.work(contexts[0], &Work::default());
    assert_eq!(m.gpu.counter(Counter::ContextRestores) - before, 1);
    m.assert_lawful();
}
