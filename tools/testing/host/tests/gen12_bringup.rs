// SPDX-License-Identifier: GPL-2.0
//! Gen12.5: the backend against the modelled DG2, from power-on to a request on each engine.

use gpu_model::{
    counters::Counter,
    dg2::{Dg2Config, EngineId},
    fault::{Fault, Kind},
};
use ouro_cross::{
    dg2_machine::{Dg2Machine, Work},
    program::{self, UserSpace},
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
        let mut m = Dg2Machine::new(Dg2Config {
            device_id,
            ..Dg2Config::default()
        });
        let context = m.context(1);
        m.work(context, &Work::default());
        m.assert_lawful();
    }
    assert_eq!(names.len(), 5);
}

#[test]
fn it_is_what_the_model_says() {
    let m = Dg2Machine::default();
    // §5.2: one byte in 256 at the end is compression data.
    let usable = (64 << 20) - (64 << 20) / 256;
    let local = m.topo.local.unwrap();
    assert_eq!((local.size, local.cpu_visible), (usable, usable));
    // §4.6: 8 MiB of entries.
    assert_eq!(m.topo.gtt_entries, 1 << 20);
    assert_eq!(m.topo.revision, 8);
    assert_eq!(m.topo.coherence, ouro_hw::Coherence::Bus);
    let names = m.topo.engines.iter().map(|e| e.desc().id.to_string());
    // §5.3: of the compute engines the first one is used.
    assert!(names.eq(["rcs0", "bcs0", "ccs0", "vcs0", "vcs2", "vecs0", "vecs1"]));
    m.assert_lawful();
}

#[test]
fn a_card_may_lack_engines() {
    use EngineId::{Bcs, Ccs2, Rcs, Vcs2, Vecs1};
    let config = Dg2Config::default().with_engines(&[Rcs, Bcs, Ccs2, Vcs2, Vecs1]);
    let mut m = Dg2Machine::new(config);
    let names = m.topo.engines.iter().map(|e| e.desc().id.to_string());
    assert!(names.eq(["rcs0", "bcs0", "ccs2", "vcs2", "vecs1"]));
    // User space counts those that there are.
    let names = (0..6).map_while(|n| m.topo.name(n).map(|id| id.to_string()));
    assert!(names.eq(["rcs0", "bcs0", "ccs0", "vcs0", "vecs0"]));
    for n in 0..m.ports.len() {
        let context = m.context(n);
        m.work(context, &Work::default());
    }
    m.assert_lawful();
}

#[test]
fn a_part_of_the_memory_may_be_out_of_sight() {
    let m = Dg2Machine::new(Dg2Config {
        aperture: 32 << 20,
        ..Dg2Config::default()
    });
    let local = m.topo.local.unwrap();
    assert_eq!(local.cpu_visible, 32 << 20);
    assert!(local.size > local.cpu_visible);
    m.assert_lawful();
}

#[test]
fn a_locked_card_is_refused() {
    // §5.13 step 6.
    let m = Dg2Machine::stopped(Dg2Config {
        locked: true,
        ..Dg2Config::default()
    });
    let Err(DeviceError::Unsupported(why)) = m.map(|_| ()) else {
        panic!("it is refused");
    };
    assert!(why.contains("GuC"), "{why}");
}

#[test]
fn every_engine_stores_for_a_program() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    for n in 0..m.ports.len() {
        let context = m.context_in(n, space.tree, 0, None);
        let (page, addr) = space.page(&mut m);
        let program = space.program(&mut m, &[&program::store(addr + 8, 0x600d_0000)]);
        m.work(context, &Work::batch(program));
        assert_eq!(m.dword(page, 2), 0x600d_0000, "engine {n}");
    }
    m.assert_lawful();
}

#[test]
fn the_ring_goes_round() {
    let mut m = Dg2Machine::default();
    let context = m.context(1);
    // 16 KiB; a request without a batch has 14 dwords.
    for _ in 0..1000 {
        m.work(context, &Work::default());
    }
    assert_eq!(m.done(context), Seqno(1000));
    m.assert_lawful();
}

#[test]
fn a_request_is_one_load_and_no_register_is_read() {
    let mut m = Dg2Machine::default();
    let context = m.context(1);
    m.work(context, &Work::default());
    let of = |m: &Dg2Machine| {
        [
            Counter::RegReads,
            Counter::RegWrites,
            Counter::SqWrites,
            Counter::Loads,
        ]
        .map(|c| m.gpu.counter(c))
    };
    for _ in 0..5 {
        let before = of(&m);
        m.submit(context, &Work::default());
        let after = of(&m);
        let more: Vec<_> = after.iter().zip(before).map(|(a, b)| a - b).collect();
        // B3: the two halves of an element; B6: the load.
        assert_eq!(more, [0, 3, 2, 1]);
        m.run();
    }
    m.assert_lawful();
}

#[test]
fn bring_up_again_and_again() {
    let mut m = Dg2Machine::default();
    for n in 1..=3 {
        let context = m.context(1);
        m.work(context, &Work::default());
        assert_eq!(m.gpu.counter(Counter::Loads), n);
        m.reset(ResetScope::All).unwrap();
    }
    m.assert_lawful();
}

#[test]
fn reports_are_found_where_they_are() {
    // §4.4: the document says dwords 28h and 47h, the upstream driver 10h and 2Fh.
    for (base, at, last_at) in [(0x10, 0x40, 0xbc), (0x28, 0xa0, 0x11c)] {
        let mut m = Dg2Machine::new(Dg2Config {
            status_base: base,
            ..Dg2Config::default()
        });
        let area = EventArea {
            at,
            entries: 12,
            last_at,
        };
        for n in 0..m.ports.len() {
            assert_eq!(m.find_events(n), Some(area), "engine {n}");
        }
        m.settle_events();
        for n in 0..m.ports.len() {
            let context = m.context(n);
            for _ in 0..20 {
                m.work(context, &Work::default());
            }
            assert_eq!(m.ports[n].said.len(), 40);
        }
        m.assert_lawful();
    }
}

#[test]
fn a_card_that_is_gone_is_found_out() {
    let mut m = Dg2Machine::default();
    let context = m.context(1);
    m.gpu.remove();
    assert_eq!(m.start(), Err(DeviceError::Gone));
    assert_eq!(m.reset(ResetScope::All), Err(DeviceError::Gone));
    assert_eq!(m.reset(ResetScope::Engine(1)), Err(DeviceError::Gone));
    m.submit(context, &Work::default());
    m.run();
    assert_eq!(m.done(context), Seqno(0));
    assert!(!m.interrupt().ours);
    let report = m
        .chip
        .generation
        .errors(&m.hw(), &mut m.gt.clone(), &m.topo);
    assert!(!report.is_error());
}

#[test]
fn a_card_that_does_not_acknowledge_is_warned_of() {
    let stuck = |gpu: &gpu_model::dg2::Dg2| {
        gpu.inject(Fault::once(Kind::StuckForcewake).forever());
    };
    // Upstream goes on, too (fw_domain_wait_ack_set).
    let mut m = Dg2Machine::prepared(Dg2Config::default(), &stuck)
        .expect("a card whose domains may be awake");
    assert!(m.gt.awake);
    for domain in ["ACK_GT", "ACK_RENDER"] {
        assert_eq!(m.warnings(domain), 1, "{domain}");
    }
    // The media engines' domains are requested at the start.
    m.start().expect("they may be awake, too");
    for domain in ["ACK_VDBOX0", "ACK_VEBOX0"] {
        assert!(m.warnings(domain) > 0, "{domain}");
    }
    assert_eq!(m.warnings("not acknowledged"), m.warnings(""));
    // The model's domains wake when the fallback request is released.
    let context = m.context(1);
    m.work(context, &Work::default());
    m.assert_lawful();
}

#[test]
fn a_mailbox_that_stays_busy_is_named() {
    let mut m = Dg2Machine::stopped(Dg2Config::default()).unwrap();
    m.gpu.inject(Fault::once(Kind::StuckPcode));
    assert!(matches!(m.start(), Err(DeviceError::Timeout(_))));
}

#[test]
fn asleep_and_awake() {
    let mut m = Dg2Machine::default();
    let context = m.context(1);
    let generation = m.chip.generation;
    m.work(context, &Work::default());
    let mut gt = m.gt.clone();
    generation.sleep(&m.hw(), &mut gt);
    assert!(!gt.awake);
    generation.wake(&m.hw(), &mut gt, &m.time).unwrap();
    m.gt = gt;
    m.work(context, &Work::default());
    let blitter = m.first(EngineClass::Copy);
    assert!(m.engine(blitter).activity(&m.hw()).idle);
    m.assert_lawful();
}

/// A unit that is let go falls asleep 20 us later, also if it is asked for meanwhile, and wakes 20 us after that
/// (habit `late_wake`): what its answer says until then is about the request of before.
#[test]
fn an_answer_of_before_wakes_nothing() {
    let mut m = Dg2Machine::default();
    // Its submission queue is not among the registers that wake their unit (digest §5.5).
    let compute = m.first(EngineClass::Compute);
    let context = m.context(compute);
    m.work(context, &Work::default());
    let generation = m.chip.generation;
    let mut gt = m.gt.clone();
    generation.sleep(&m.hw(), &mut gt);
    generation.wake(&m.hw(), &mut gt, &m.time).unwrap();
    m.gt = gt;
    m.time.pause(30);
    m.work(context, &Work::default());
    m.assert_lawful();
}

/// The firmware has requests of its own, which keep a domain awake.
#[test]
fn requests_of_the_firmware_are_cleared_after_a_suspend() {
    let mut m = Dg2Machine::default();
    let context = m.context(1);
    let generation = m.chip.generation;
    let mut gt = m.gt.clone();
    generation.sleep(&m.hw(), &mut gt);
    m.time.pause(100);
    // Request and acknowledge of two domains (digest §3.3 rows 11 and 12).
    let domains = [(0xa188, 0x13_0044), (0xa278, 0x0d84)];
    for (request, _) in domains {
        m.hw().regs.write32(request, 0x0004_0004);
    }
    gt.cleared = false;
    generation.wake(&m.hw(), &mut gt, &m.time).unwrap();
    m.gt = gt;
    m.work(context, &Work::default());
    let mut gt = m.gt.clone();
    generation.sleep(&m.hw(), &mut gt);
    m.time.pause(100);
    for (_, acknowledge) in domains {
        assert_eq!(m.hw().regs.read32(acknowledge), 0);
    }
    m.assert_lawful();
}

/// The model's card shows 1024 by 768 pixels of 32 bits from 80_0000h of the global table on.
#[test]
fn the_firmwares_picture_is_found_and_stays() {
    let mut m = Dg2Machine::default();
    let lit: Vec<_> = m.lit.iter().map(|s| (s.first, s.entries)).collect();
    assert_eq!(lit, [(0x800, 768)]);
    let local = m.lit[0].local.clone().expect("in the card's memory");
    assert_eq!(local.end - local.start, 768 * 4096);
    let context = m.context(1);
    m.work(context, &Work::default());
    m.assert_lawful();
}
