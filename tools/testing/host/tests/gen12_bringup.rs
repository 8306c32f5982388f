// SPDX-License-Identifier: GPL-2.0
//! Gen12.5: the backend against the modelled DG2, from power-on to a request on each engine.

use gpu_model::{
    counters::Counter,
    dg2::{Dg2Config, EngineId},
    fault::{Fault, Kind},
};
use ouro_cross::{
    bench::{Bench, Work},
    program::{self, Space},
};
use ouro_hw::{
    chips,
    engine::EventArea,
    generation::{DeviceError, ResetScope},
    types::{EngineClass, Seqno},
    SleepWait,
};
use std::collections::BTreeSet;

#[test]
fn every_family_comes_up_and_answers() {
    let mut names = BTreeSet::new();
    // One id of each family (digest §5.1).
    for chip in chips::of("gen12").filter(|c| names.insert(c.name)) {
        let device_id = chip.device;
        let mut bench = Bench::new(Dg2Config {
            device_id,
            ..Dg2Config::default()
        });
        let context = bench.context(1);
        bench.work(context, &Work::default());
        bench.assert_lawful();
    }
    assert_eq!(names.len(), 5);
}

#[test]
fn it_is_what_the_model_says() {
    let bench = Bench::default();
    // §5.2: one byte in 256 at the end is compression data.
    let usable = (64 << 20) - (64 << 20) / 256;
    let local = bench.topo.local.unwrap();
    assert_eq!((local.size, local.cpu_visible), (usable, usable));
    // §4.6: 8 MiB of entries.
    assert_eq!(bench.topo.gtt_entries, 1 << 20);
    assert_eq!(bench.topo.revision, 8);
    assert_eq!(bench.topo.coherence, ouro_hw::Coherence::Bus);
    let names = bench.topo.engines.iter().map(|e| e.desc().id.to_string());
    // §5.3: of the compute engines the first one is used.
    assert!(names.eq(["rcs0", "bcs0", "ccs0", "vcs0", "vcs2", "vecs0", "vecs1"]));
    bench.assert_lawful();
}

#[test]
fn a_card_may_lack_engines() {
    use EngineId::{Bcs, Ccs2, Rcs, Vcs2, Vecs1};
    let config = Dg2Config::default().with_engines(&[Rcs, Bcs, Ccs2, Vcs2, Vecs1]);
    let mut bench = Bench::new(config);
    let names = bench.topo.engines.iter().map(|e| e.desc().id.to_string());
    assert!(names.eq(["rcs0", "bcs0", "ccs2", "vcs2", "vecs1"]));
    // User space counts those that there are.
    let names = (0..6).map_while(|n| bench.topo.name(n).map(|id| id.to_string()));
    assert!(names.eq(["rcs0", "bcs0", "ccs0", "vcs0", "vecs0"]));
    for n in 0..bench.ports.len() {
        let context = bench.context(n);
        bench.work(context, &Work::default());
    }
    bench.assert_lawful();
}

#[test]
fn a_part_of_the_memory_may_be_out_of_sight() {
    let bench = Bench::new(Dg2Config {
        aperture: 32 << 20,
        ..Dg2Config::default()
    });
    let local = bench.topo.local.unwrap();
    assert_eq!(local.cpu_visible, 32 << 20);
    assert!(local.size > local.cpu_visible);
    bench.assert_lawful();
}

#[test]
fn a_locked_card_is_refused() {
    // §5.13 step 6.
    let bench = Bench::stopped(Dg2Config {
        locked: true,
        ..Dg2Config::default()
    });
    let Err(DeviceError::Unsupported(why)) = bench.map(|_| ()) else {
        panic!("it is refused");
    };
    assert!(why.contains("GuC"), "{why}");
}

#[test]
fn every_engine_stores_for_a_program() {
    let mut bench = Bench::default();
    let space = Space::new(&mut bench);
    for n in 0..bench.ports.len() {
        let context = bench.context_in(n, space.tree, 0, None);
        let (page, addr) = space.page(&mut bench);
        let program = space.program(&mut bench, &[&program::store(addr + 8, 0x600d_0000)]);
        bench.work(context, &Work::batch(program));
        assert_eq!(bench.dword(page, 2), 0x600d_0000, "engine {n}");
    }
    bench.assert_lawful();
}

#[test]
fn the_ring_goes_round() {
    let mut bench = Bench::default();
    let context = bench.context(1);
    // 16 KiB; a request without a batch has 14 dwords.
    for _ in 0..1000 {
        bench.work(context, &Work::default());
    }
    assert_eq!(bench.done(context), Seqno(1000));
    bench.assert_lawful();
}

#[test]
fn a_request_is_one_load_and_no_register_is_read() {
    let mut bench = Bench::default();
    let context = bench.context(1);
    bench.work(context, &Work::default());
    let of = |bench: &Bench| {
        [
            Counter::RegReads,
            Counter::RegWrites,
            Counter::SqWrites,
            Counter::Loads,
        ]
        .map(|c| bench.gpu.counter(c))
    };
    for _ in 0..5 {
        let before = of(&bench);
        bench.submit(context, &Work::default());
        let after = of(&bench);
        let more: Vec<_> = after.iter().zip(before).map(|(a, b)| a - b).collect();
        // B3: the two halves of an element; B6: the load.
        assert_eq!(more, [0, 3, 2, 1]);
        bench.run();
    }
    bench.assert_lawful();
}

#[test]
fn bring_up_again_and_again() {
    let mut bench = Bench::default();
    for n in 1..=3 {
        let context = bench.context(1);
        bench.work(context, &Work::default());
        assert_eq!(bench.gpu.counter(Counter::Loads), n);
        bench.reset(ResetScope::All).unwrap();
    }
    bench.assert_lawful();
}

#[test]
fn reports_are_found_where_they_are() {
    // §4.4: the document says dwords 28h and 47h, the upstream driver 10h and 2Fh.
    for (base, at, last_at) in [(0x10, 0x40, 0xbc), (0x28, 0xa0, 0x11c)] {
        let mut bench = Bench::new(Dg2Config {
            status_base: base,
            ..Dg2Config::default()
        });
        let area = EventArea {
            at,
            entries: 12,
            last_at,
        };
        for n in 0..bench.ports.len() {
            assert_eq!(bench.find_events(n), Some(area), "engine {n}");
        }
        bench.settle_events();
        for n in 0..bench.ports.len() {
            let context = bench.context(n);
            for _ in 0..20 {
                bench.work(context, &Work::default());
            }
            assert_eq!(bench.ports[n].said.len(), 40);
        }
        bench.assert_lawful();
    }
}

#[test]
fn a_card_that_is_gone_is_found_out() {
    let mut bench = Bench::default();
    let context = bench.context(1);
    bench.gpu.remove();
    assert_eq!(bench.start(), Err(DeviceError::Gone));
    assert_eq!(bench.reset(ResetScope::All), Err(DeviceError::Gone));
    assert_eq!(bench.reset(ResetScope::Engine(1)), Err(DeviceError::Gone));
    bench.submit(context, &Work::default());
    bench.run();
    assert_eq!(bench.done(context), Seqno(0));
    assert!(!bench.interrupt().ours);
    let report = bench
        .chip
        .generation
        .errors(&bench.hw(), &mut bench.gt.clone(), &bench.topo);
    assert!(!report.is_error());
}

#[test]
fn a_card_that_does_not_wake_is_named() {
    let stuck = |gpu: &gpu_model::dg2::Dg2| {
        gpu.inject(Fault {
            times: 0,
            ..Fault::once(Kind::StuckForcewake)
        });
    };
    let bench = Bench::prepared(Dg2Config::default(), &stuck);
    let error = DeviceError::Timeout("FORCEWAKE_ACK_GT");
    assert_eq!(bench.map(|_| ()).err(), Some(error));
}

#[test]
fn a_mailbox_that_stays_busy_is_named() {
    let mut bench = Bench::stopped(Dg2Config::default()).unwrap();
    bench.gpu.inject(Fault::once(Kind::StuckPcode));
    assert!(matches!(bench.start(), Err(DeviceError::Timeout(_))));
}

#[test]
fn asleep_and_awake() {
    let mut bench = Bench::default();
    let context = bench.context(1);
    let generation = bench.chip.generation;
    bench.work(context, &Work::default());
    let mut gt = bench.gt.clone();
    generation.sleep(&bench.hw(), &mut gt);
    assert!(!gt.awake);
    generation.wake(&bench.hw(), &mut gt, &bench.time).unwrap();
    bench.gt = gt;
    bench.work(context, &Work::default());
    let blitter = bench.first(EngineClass::Copy);
    assert!(bench.engine(blitter).activity(&bench.hw()).idle);
    bench.assert_lawful();
}

/// A unit that is let go falls asleep 20 us later, also if it is asked for meanwhile, and wakes 20 us after that
/// (habit `late_wake`): what its answer says until then is about the request of before.
#[test]
fn an_answer_of_before_wakes_nothing() {
    let mut bench = Bench::default();
    // Its submission queue is not among the registers that wake their unit (digest §5.5).
    let compute = bench.first(EngineClass::Compute);
    let context = bench.context(compute);
    bench.work(context, &Work::default());
    let generation = bench.chip.generation;
    let mut gt = bench.gt.clone();
    generation.sleep(&bench.hw(), &mut gt);
    generation.wake(&bench.hw(), &mut gt, &bench.time).unwrap();
    bench.gt = gt;
    bench.time.pause(30);
    bench.work(context, &Work::default());
    bench.assert_lawful();
}

/// The model's card shows 1024 by 768 pixels of 32 bits from 80_0000h of the global table on.
#[test]
fn the_firmwares_picture_is_found_and_stays() {
    let mut bench = Bench::default();
    let lit: Vec<_> = bench.lit.iter().map(|s| (s.first, s.entries)).collect();
    assert_eq!(lit, [(0x800, 768)]);
    let local = bench.lit[0].local.clone().expect("in the card's memory");
    assert_eq!(local.end - local.start, 768 * 4096);
    let context = bench.context(1);
    bench.work(context, &Work::default());
    bench.assert_lawful();
}
