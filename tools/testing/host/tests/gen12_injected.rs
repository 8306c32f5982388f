// SPDX-License-Identifier: GPL-2.0
//! Gen12.5: what real cards do now and then, injected into the modelled one: what is late, lost, doubled or
//! garbage does no harm, and what does is told and undone by a reset.

use gpu_model::{
    counters::Counter,
    dg2::Dg2Config,
    fault::{Fault, Kind},
};
use ouro_cross::{
    bench::{Bench, Nonsense, Work},
    program::{self, Space},
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
        let mut bench = Bench::default();
        let space = Space::new(&mut bench);
        let context = bench.context_in(BCS, space.tree, 0, None);
        let (page, at) = space.page(&mut bench);
        let program = space.program(&mut bench, &[&program::store(at, 0x600d)]);
        bench.arm(BCS, true);
        bench.gpu.inject(of(kind, value).on("bcs"));
        bench.work(context, &Work::batch(program));
        bench.work(context, &Work::default());
        assert_eq!(bench.dword(page, 0), 0x600d, "{kind:?}");
        assert_eq!(bench.gpu.counter(Counter::Injected), 1, "{kind:?}");
        bench.assert_lawful();
    }
}

#[test]
fn a_slow_card_comes_up() {
    // Half of what the digest has as the most: 50 ms (§5.5); of the mailbox, half of a second.
    for (kind, value) in [(Kind::SlowWake, 25_000), (Kind::SlowPcode, 500)] {
        let config = Dg2Config::default();
        let mut bench = Bench::prepared(config, &|gpu| gpu.inject(of(kind, value))).unwrap();
        bench.start().unwrap();
        assert_eq!(bench.gpu.counter(Counter::Injected), 1, "{kind:?}");
        let context = bench.context(BCS);
        bench.work(context, &Work::default());
        bench.assert_lawful();
    }
}

#[test]
fn garbage_in_place_of_a_report_is_not_believed() {
    for seed in 1..=20 {
        let mut bench = Bench::new(Dg2Config {
            seed,
            ..Dg2Config::default()
        });
        let contexts = [bench.context(BCS), bench.context(BCS)];
        bench.gpu.inject(Fault::once(Kind::Garbage).on("bcs"));
        for context in contexts {
            bench.submit(context, &Work::default());
        }
        assert!(bench.gpu.run_until_idle(SOME));
        assert_eq!(bench.gpu.counter(Counter::Injected), 1);
        assert_eq!(bench.listen(BCS), Err(Nonsense), "seed {seed}");
        bench.reset(ResetScope::Engine(BCS)).unwrap();
        assert!(bench.run());
        for context in contexts {
            assert_eq!(bench.done(context), Seqno(1));
            bench.work(context, &Work::default());
        }
    }
}

#[test]
fn an_error_of_nothing_is_told_and_forgotten() {
    let mut bench = Bench::default();
    let context = bench.context(BCS);
    bench.gpu.inject(Fault::once(Kind::SpuriousError).on("bcs"));
    bench.submit(context, &Work::default());
    bench.gpu.run_until_idle(SOME);
    assert_eq!(bench.interrupt().errors, 1 << BCS);
    let mut gt = bench.gt.clone();
    let generation = bench.chip.generation;
    let report = generation.errors(&bench.hw(), &mut gt, &bench.topo);
    assert_eq!(report.engines[BCS].unwrap().eir & 1, 1);
    // I11: one whose cause persists would be told again, and is masked.
    for _ in 0..2 {
        generation.errors(&bench.hw(), &mut gt, &bench.topo);
    }
    bench.gt = gt;
    bench.reset(ResetScope::Engine(BCS)).unwrap();
    assert!(bench.run());
    bench.work(context, &Work::default());
    let mut gt = bench.gt.clone();
    let report = generation.errors(&bench.hw(), &mut gt, &bench.topo);
    assert!(!report.is_error());
}

#[test]
fn a_fault_of_nothing_is_told_and_all_runs_again() {
    let mut bench = Bench::default();
    let context = bench.context(BCS);
    bench.gpu.inject(Fault::once(Kind::PageFault).on("bcs"));
    bench.submit(context, &Work::default());
    bench.run();
    let mut gt = bench.gt.clone();
    let generation = bench.chip.generation;
    let report = generation.errors(&bench.hw(), &mut gt, &bench.topo);
    assert!(report.engines[BCS].unwrap().fault.is_some());
    bench.reset(ResetScope::Engine(BCS)).unwrap();
    assert!(bench.run());
    assert_eq!(bench.done(context), Seqno(1));
    bench.assert_lawful();
}

#[test]
fn registers_that_read_garbage_hang_nothing() {
    for kind in [Kind::GarbageRead, Kind::GarbageStatus] {
        for skip in 0..12 {
            let mut bench = Bench::default();
            let context = bench.context(BCS);
            bench.gpu.inject(Fault {
                skip,
                ..Fault::once(kind)
            });
            let _ = bench.engine(BCS).activity(&bench.hw());
            let mut gt = bench.gt.clone();
            let generation = bench.chip.generation;
            generation.errors(&bench.hw(), &mut gt, &bench.topo);
            bench.gt = gt;
            // It stops, or is said not to have.
            let reset = bench.reset(ResetScope::All);
            assert!(
                matches!(reset, Ok(()) | Err(DeviceError::Timeout(_))),
                "{kind:?} {reset:?}"
            );
            bench.reset(ResetScope::All).unwrap();
            bench.work(context, &Work::default());
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
        let bench = Bench::prepared(Dg2Config::default(), &|gpu| gpu.inject(gone.clone()));
        let mut bench = match bench {
            Ok(bench) => bench,
            Err(error) => {
                assert_eq!(error, DeviceError::Gone, "at {skip}");
                continue;
            }
        };
        if let Err(error) = bench.start() {
            assert_eq!(error, DeviceError::Gone, "at {skip}");
            continue;
        }
        // It went behind the last look, or will do so.
        let context = bench.context(BCS);
        bench.submit(context, &Work::default());
        bench.gpu.run_until_idle(SOME);
        for _ in 0..200 {
            bench.chip.generation.irq_ack(&bench.hw());
        }
        assert_eq!(
            bench.reset(ResetScope::All),
            Err(DeviceError::Gone),
            "at {skip}"
        );
    }
}
