// SPDX-License-Identifier: GPL-2.0
//! Gen12.5: what real cards do now and then, injected into the modelled one: what is late, lost, doubled or
//! garbage does no harm, and what does is told and undone by a reset.

use gpu_model::{
    counters::Counter,
    dg2::Dg2Config,
    fault::{Fault, Kind},
};
use ouro_cross::{
    dg2_machine::{Dg2Machine, Nonsense, Work},
    program::{self, UserSpace},
};
use ouro_hw::{
    generation::{DeviceError, ResetScope},
    types::Seqno,
};

/// The blitter's number.
const BCS: usize = 1;
/// Steps of a run that does not come to rest.
const SOME: usize = 2_000;

fn of(kind: Kind, value: u64) -> Fault {
    Fault {
        value,
        ..Fault::once(kind)
    }
}

#[test]
fn what_is_late_or_lost_does_no_harm() {
    // Values are microseconds.
    let cases = [
        (Kind::LoseIrq, 0),
        (Kind::LateIrq, 500),
        (Kind::SpuriousIrq, 0),
        (Kind::Delay, 300),
        (Kind::Pause, 300),
        (Kind::ForgetTlb, 0),
    ];
    for (kind, value) in cases {
        let mut m = Dg2Machine::default();
        let space = UserSpace::new(&mut m);
        let context = m.context_in(BCS, space.tree, 0, None);
        let (page, at) = space.page(&mut m);
        let program = space.program(&mut m, &[&program::store(at, 0x600d)]);
        m.arm(BCS, true);
        m.gpu.inject(of(kind, value).on("bcs"));
        m.work(context, &Work::batch(program));
        m.work(context, &Work::default());
        assert_eq!(m.dword(page, 0), 0x600d, "{kind:?}");
        assert_eq!(m.gpu.counter(Counter::Injected), 1, "{kind:?}");
        m.assert_lawful();
    }
}

#[test]
fn a_slow_card_comes_up() {
    // Half of what the digest has as the most: 50 ms (§5.5); of the mailbox, half of a second.
    for (kind, value) in [(Kind::SlowWake, 25_000), (Kind::SlowPcode, 500)] {
        let config = Dg2Config::default();
        let mut m = Dg2Machine::prepared(config, &|gpu| gpu.inject(of(kind, value))).unwrap();
        m.start().unwrap();
        assert_eq!(m.gpu.counter(Counter::Injected), 1, "{kind:?}");
        let context = m.context(BCS);
        m.work(context, &Work::default());
        m.assert_lawful();
    }
}

#[test]
fn garbage_in_place_of_a_report_is_not_believed() {
    for seed in 1..=20 {
        let mut m = Dg2Machine::new(Dg2Config {
            seed,
            ..Dg2Config::default()
        });
        let contexts = [m.context(BCS), m.context(BCS)];
        m.gpu.inject(Fault::once(Kind::Garbage).on("bcs"));
        for context in contexts {
            m.submit(context, &Work::default());
        }
        assert!(m.gpu.run_until_idle(SOME));
        assert_eq!(m.gpu.counter(Counter::Injected), 1);
        assert_eq!(m.listen(BCS), Err(Nonsense), "seed {seed}");
        m.reset(ResetScope::Engine(BCS)).unwrap();
        assert!(m.run());
        for context in contexts {
            assert_eq!(m.done(context), Seqno(1));
            m.work(context, &Work::default());
        }
    }
}

#[test]
fn an_error_of_nothing_is_told_and_forgotten() {
    let mut m = Dg2Machine::default();
    let context = m.context(BCS);
    m.gpu.inject(Fault::once(Kind::SpuriousError).on("bcs"));
    m.submit(context, &Work::default());
    m.gpu.run_until_idle(SOME);
    assert_eq!(m.interrupt().errors, 1 << BCS);
    let mut gt = m.gt.clone();
    let generation = m.chip.generation;
    let report = generation.errors(&m.hw(), &mut gt, &m.topo);
    assert_eq!(report.engines[BCS].unwrap().eir & 1, 1);
    // I11: one whose cause persists would be told again, and is masked.
    for _ in 0..2 {
        generation.errors(&m.hw(), &mut gt, &m.topo);
    }
    m.gt = gt;
    m.reset(ResetScope::Engine(BCS)).unwrap();
    assert!(m.run());
    m.work(context, &Work::default());
    let mut gt = m.gt.clone();
    let report = generation.errors(&m.hw(), &mut gt, &m.topo);
    assert!(!report.is_error());
}

#[test]
fn a_fault_of_nothing_is_told_and_all_runs_again() {
    let mut m = Dg2Machine::default();
    let context = m.context(BCS);
    m.gpu.inject(Fault::once(Kind::PageFault).on("bcs"));
    m.submit(context, &Work::default());
    m.run();
    let mut gt = m.gt.clone();
    let generation = m.chip.generation;
    let report = generation.errors(&m.hw(), &mut gt, &m.topo);
    assert!(report.engines[BCS].unwrap().fault.is_some());
    m.reset(ResetScope::Engine(BCS)).unwrap();
    assert!(m.run());
    assert_eq!(m.done(context), Seqno(1));
    m.assert_lawful();
}

#[test]
fn registers_that_read_garbage_hang_nothing() {
    for kind in [Kind::GarbageRead, Kind::GarbageStatus] {
        for skip in 0..12 {
            let mut m = Dg2Machine::default();
            let context = m.context(BCS);
            m.gpu.inject(Fault {
                skip,
                ..Fault::once(kind)
            });
            let _ = m.engine(BCS).activity(&m.hw());
            let mut gt = m.gt.clone();
            let generation = m.chip.generation;
            generation.errors(&m.hw(), &mut gt, &m.topo);
            m.gt = gt;
            // It stops, or is said not to have.
            let reset = m.reset(ResetScope::All);
            assert!(
                matches!(reset, Ok(()) | Err(DeviceError::Timeout(_))),
                "{kind:?} {reset:?}"
            );
            m.reset(ResetScope::All).unwrap();
            m.work(context, &Work::default());
        }
    }
}

#[test]
fn a_card_that_goes_away_at_any_time_is_found_out() {
    // Counted in accesses to registers.
    for skip in (0..400).step_by(7) {
        let gone = Fault {
            skip,
            ..Fault::once(Kind::Remove)
        };
        let m = Dg2Machine::prepared(Dg2Config::default(), &|gpu| gpu.inject(gone.clone()));
        let mut m = match m {
            Ok(m) => m,
            Err(error) => {
                assert_eq!(error, DeviceError::Gone, "at {skip}");
                continue;
            }
        };
        if let Err(error) = m.start() {
            assert_eq!(error, DeviceError::Gone, "at {skip}");
            continue;
        }
        // It went behind the last look, or will do so.
        let context = m.context(BCS);
        m.submit(context, &Work::default());
        m.gpu.run_until_idle(SOME);
        for _ in 0..200 {
            m.chip.generation.irq_ack(&m.hw());
        }
        assert_eq!(
            m.reset(ResetScope::All),
            Err(DeviceError::Gone),
            "at {skip}"
        );
    }
}
