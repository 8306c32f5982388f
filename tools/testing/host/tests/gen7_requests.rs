// SPDX-License-Identifier: GPL-2.0
//! Ivy Bridge: bring-up, requests, resets of one engine, run by the modelled chip.

use ouro_cross::ring_machine::{RingMachine, Setup, Work, BCS, RCS, VCS};
use ouro_hw::{
    engine::{Privilege, Switch},
    generation::{ResetScope, Translation},
    ring::Commands,
    translations::TranslationEntry,
    types::{CacheLevel, DmaAddr, GgttAddr, MemoryKind, Page, PAGE_SIZE},
};

/// `MI_BATCH_BUFFER_END` (VCS §1.2.4).
const END: u32 = 0x0500_0000;
/// `MI_STORE_DATA_IMM` of a dword: header, then zero, address, data (VCS §1.2.12).
const STORE: u32 = 0x1000_0002;
/// `MI_STORE_REGISTER_MEM`, bit 22 global table: header, then register, address (VCS §1.2.11).
const SAVE_GLOBAL: u32 = 0x1240_0001;
/// `MI_BATCH_BUFFER_START` of this batch's space (VCS §1.2.6).
const START: u32 = 0x1880_0100;

fn setup(device_id: u16) -> Setup {
    let mut setup = Setup::ivb();
    setup.config.device_id = device_id;
    setup
}

fn machine() -> RingMachine {
    RingMachine::new(&Setup::ivb())
}

/// No rule was broken, and no register touched that none names.
fn lawful(m: &RingMachine) {
    assert_eq!(m.gpu.lints(), [], "no rule was broken");
    assert_eq!(m.gpu.undocumented(), [], "every register is documented");
}

/// Each engine stores by a user's batch.
fn every_engine_works(m: &mut RingMachine) {
    for n in [RCS, BCS, VCS] {
        let target = m.alloc(1);
        let batch = m.object(&[STORE, 0, target.addr + 8, 0xcafe_0000 + n as u32, END, 0]);
        m.work(n, &Work::batch(batch.addr));
        assert_eq!(m.dword(target, 2), 0xcafe_0000 + n as u32);
    }
}

/// A register's value, stored by the kernel's batch.
fn register(m: &mut RingMachine, offset: u32) -> u32 {
    let target = m.alloc(1);
    let batch = m.object(&[SAVE_GLOBAL, offset, target.addr, END]);
    m.work(
        RCS,
        &Work {
            batch: Some((batch.addr, Privilege::Kernel)),
            ..Work::batch(0)
        },
    );
    m.dword(target, 0)
}

#[test]
fn all_chips_come_up_and_work() {
    for chip in ouro_hw::chips::of("gen7") {
        let mut m = RingMachine::new(&setup(chip.device));
        assert!(matches!(
            m.topo.space,
            Translation::PerContextDirectory { .. }
        ));
        assert_eq!(m.topo.fences.map(|f| f.count()), Some(32));
        every_engine_works(&mut m);
        lawful(&m);
    }
}

#[test]
fn behind_an_iommu_there_is_a_directory_all_the_same() {
    let mut m = RingMachine::new(&Setup {
        iommu: true,
        ..setup(0x0162)
    });
    assert!(matches!(
        m.topo.space,
        Translation::PerContextDirectory { .. }
    ));
    every_engine_works(&mut m);
    lawful(&m);
}

#[test]
fn a_reset_of_all_brings_everything_back() {
    let mut m = machine();
    m.reset().unwrap();
    every_engine_works(&mut m);
    lawful(&m);
}

#[test]
fn an_engine_that_loops_is_reset_while_the_others_work() {
    for hung in [RCS, BCS, VCS] {
        let mut m = machine();
        every_engine_works(&mut m);
        // A batch that starts itself again and again.
        let batch = m.object(&[START, 0]);
        m.memory.put_dwords(batch.bus + 4, &[batch.addr]).unwrap();
        let number = m.submit(hung, &Work::batch(batch.addr)).unwrap();
        assert!(!m.run());
        assert_ne!(m.done(hung), number);
        let before: Vec<_> = [RCS, BCS, VCS].iter().map(|n| m.done(*n)).collect();
        let generation = m.chip.generation;
        generation
            .reset(&m.hw(), ResetScope::Engine(hung), &m.time)
            .unwrap();
        for n in [RCS, BCS, VCS].into_iter().filter(|n| *n != hung) {
            assert_eq!(m.done(n), before[n]);
            // Their rings go on where they were.
            let target = m.alloc(1);
            let batch = m.object(&[STORE, 0, target.addr, 7, END, 0]);
            m.work(n, &Work::batch(batch.addr));
            assert_eq!(m.dword(target, 0), 7);
        }
        m.ports[hung].seqno = before[hung];
        m.start_engine(hung).unwrap();
        every_engine_works(&mut m);
        lawful(&m);
    }
}

/// The video engine's watchdog interrupts, or not.
fn watch(m: &mut RingMachine, on: bool) {
    m.chip
        .generation
        .irq_watch(&m.windows.hw(), &mut m.gt, VCS, on);
}

/// VCS_CNTR (VCS §1.1.5.1): what its watchdog has counted, or all ones.
fn count(m: &RingMachine) -> u32 {
    m.hw().regs.read32(0x1_2178)
}

#[test]
fn the_watchdog_stands_still_after_a_batch() {
    let mut m = machine();
    watch(&mut m, true);
    let target = m.alloc(1);
    // VCS §1.1.5.2: THRSH, in ticks that the model takes to be 80 ns as the backend does.
    for (micros, ticks) in [(1_000, 12_500), (200_000, 2_500_000)] {
        m.ports[VCS].watchdog = Some(micros);
        let batch = m.object(&[STORE, 0, target.addr, micros, END, 0]);
        m.work(VCS, &Work::batch(batch.addr));
        assert_eq!(m.dword(target, 0), micros);
        assert_eq!(m.hw().regs.read32(0x1_217c), ticks);
        assert_eq!(count(&m), u32::MAX);
        assert_eq!(m.interrupt(), Default::default());
    }
    // It is over for whoever comes next, however long that takes.
    m.ports[VCS].watchdog = None;
    let now = m.gpu.clock().now();
    m.gpu.clock().advance_to(now + 1_000_000_000);
    every_engine_works(&mut m);
    assert_eq!(m.interrupt(), Default::default());
    lawful(&m);
}

#[test]
fn the_watchdog_tells_of_a_batch_that_takes_too_long() {
    let mut m = machine();
    let batch = m.object(&[START, 0]);
    m.memory.put_dwords(batch.bus + 4, &[batch.addr]).unwrap();
    for watched in [false, true] {
        watch(&mut m, watched);
        m.ports[VCS].watchdog = Some(2_000);
        let before = m.done(VCS);
        let began = m.gpu.clock().now();
        let number = m.submit(VCS, &Work::batch(batch.addr)).unwrap();
        let mut told = None;
        while told.is_none() && m.gpu.clock().now() < began + 5_000_000 {
            m.gpu.step(ouro_cross::ring_machine::ENGINES[VCS]);
            m.gpu.clock().advance_to(m.gpu.clock().now() + 1_000);
            let events = m.interrupt();
            assert_eq!((events.completed, events.errors), (0, 0));
            told = events.ours.then_some(events.overdue);
        }
        // Only when it is wanted, of this engine, and not before its time.
        assert_eq!(told, watched.then_some(1 << VCS));
        assert!(m.gpu.clock().now() >= began + 2_000_000);
        assert!(count(&m) < 2_000 * 1000 / 80);
        assert_ne!(m.done(VCS), number);
        let generation = m.chip.generation;
        generation
            .reset(&m.hw(), ResetScope::Engine(VCS), &m.time)
            .unwrap();
        m.ports[VCS].seqno = before;
        m.ports[VCS].watchdog = None;
        m.start_engine(VCS).unwrap();
        assert_eq!(count(&m), u32::MAX);
        every_engine_works(&mut m);
        m.interrupt();
    }
    lawful(&m);
}

#[test]
fn a_watchdog_that_others_have_started_stops() {
    let mut m = machine();
    m.hw().regs.write32(0x1_2178, 0);
    assert_ne!(count(&m), u32::MAX);
    m.start_engine(VCS).unwrap();
    assert_eq!(count(&m), u32::MAX);
    lawful(&m);
}

#[test]
fn a_hung_video_engine_says_what_it_fetches_and_by_which_table() {
    // MI_BATCH_BUFFER_START, bit 8: through the process table, without privilege.
    for (user, start) in [(true, START), (false, 0x1880_0000)] {
        let mut m = machine();
        let batch = m.object(&[start, 0]);
        m.memory.put_dwords(batch.bus + 4, &[batch.addr]).unwrap();
        let privilege = [Privilege::Kernel, Privilege::User][usize::from(user)];
        let work = Work {
            batch: Some((batch.addr, privilege)),
            ..Work::batch(0)
        };
        m.submit(VCS, &work).unwrap();
        assert!(!m.run());
        let generation = m.chip.generation;
        let report = generation.errors(&m.windows.hw(), &mut m.gt, &m.topo);
        // VCS §1.1.7.2: no batch was called.
        let levels = report.engines[VCS].and_then(|e| e.levels);
        assert_eq!(levels.map(|l| l.process), Some([user, false]));
        // VCS §1.1.9.3.1: the streamer's translations, those of the process table.
        let mut pages: Vec<u64> = Vec::new();
        m.topo.engines[VCS].translations(&m.hw(), &mut |entry| match entry {
            TranslationEntry::Held {
                buffer: "VCS and VMC",
                page,
                global: Some(false),
                ..
            } => pages.push(page),
            other => assert!(
                matches!(
                    other,
                    TranslationEntry::Held {
                        global: Some(true),
                        ..
                    }
                ),
                "{other}"
            ),
        });
        let held: Vec<u64> = if user {
            vec![batch.addr.into()]
        } else {
            vec![]
        };
        assert_eq!(pages, held);
        lawful(&m);
    }
}

#[test]
fn contexts_are_swapped_and_streams_start_anew() {
    let mut m = machine();
    let pages = m.topo.context_bytes / 4096;
    let images = [m.alloc(pages), m.alloc(pages)];
    let engine = m.topo.engines[RCS];
    let mut golden = vec![0; engine.desc().golden_dwords];
    let mut out = Commands::new(&mut golden);
    engine.golden(&mut out).unwrap();
    let first = out.as_slice().to_vec();
    let mut restart = [0; ouro_hw::engine::STREAM_DWORDS];
    let mut out = Commands::new(&mut restart);
    engine.restart_streams(&mut out).unwrap();
    let restart = out.as_slice().to_vec();
    let to = |image: usize, saved| Switch::To {
        image: ouro_hw::types::GgttAddr(images[image].addr),
        saved,
    };
    for n in 0..2 {
        m.work(
            RCS,
            &Work {
                switch: to(n, false),
                batch: None,
                inline: &first,
            },
        );
    }
    // Whatever a reset has left there.
    let other = register(&mut m, 0x5280);
    assert_ne!(other, 0x1230);
    // LRI of SO_WRITE_OFFSET0, by the kernel's ring.
    let load = [0x1100_0001, 0x5280, 0x1230];
    let keep = |m: &mut RingMachine, switch, inline: &[u32]| {
        m.work(
            RCS,
            &Work {
                switch,
                batch: None,
                inline,
            },
        );
    };
    keep(&mut m, to(0, true), &load);
    assert_eq!(register(&mut m, 0x5280), 0x1230);
    keep(&mut m, to(1, true), &[]);
    assert_eq!(register(&mut m, 0x5280), other);
    keep(&mut m, to(0, true), &[]);
    assert_eq!(register(&mut m, 0x5280), 0x1230);
    keep(&mut m, Switch::Stay, &restart);
    assert_eq!(register(&mut m, 0x5280), 0);
    // INSTPM bit 7 and CACHE_MODE_1 bit 6 came by the golden commands.
    assert_ne!(register(&mut m, 0x20c0) & 0x80, 0);
    assert_ne!(register(&mut m, 0x7004) & 0x40, 0);
    lawful(&m);
}

#[test]
fn sleep_and_wake() {
    let mut m = machine();
    for _ in 0..3 {
        let generation = m.chip.generation;
        generation.sleep(&m.windows.hw(), &mut m.gt);
        generation
            .wake(&m.windows.hw(), &mut m.gt, &m.time)
            .unwrap();
        every_engine_works(&mut m);
    }
    lawful(&m);
}

/// A space of its own: a directory in the global table's slots, and tables behind it.
struct TestSpace {
    slot: GgttAddr,
    tables: Vec<u64>,
}

impl TestSpace {
    /// The `n`-th, with scratch everywhere.
    fn new(m: &mut RingMachine, n: u32) -> Self {
        let first = m.layout.directory.expect("it has one").page() - 512 * (n + 1);
        let scratch = m.topo.pages.entry(m.layout.scratch) as u32;
        let hole = m.alloc(1);
        m.memory.put_dwords(hole.bus, &[scratch; 1024]).unwrap();
        let mut this = Self {
            slot: GgttAddr(first * PAGE_SIZE),
            tables: vec![hole.bus; 512],
        };
        for index in 0..512 {
            this.put_table(m, index, hole.bus);
        }
        this
    }

    fn put_table(&mut self, m: &mut RingMachine, index: usize, bus: u64) {
        self.tables[index] = bus;
        let entry = m.topo.pages.directory_entry(DmaAddr(bus)).unwrap();
        let slot = self.slot.page() + index as u32;
        m.hw().gtt.write32(slot * 4, entry as u32);
        m.chip.generation.gtt_flush(&m.hw());
    }

    /// Maps a page of new memory, and returns where that is; a table is made for it if there is none.
    fn map(&mut self, m: &mut RingMachine, addr: u32) -> u64 {
        let index = (addr >> 22) as usize;
        if self.tables[index] == self.tables[511] {
            let table = m.alloc(1);
            let scratch = m.topo.pages.entry(m.layout.scratch) as u32;
            m.memory.put_dwords(table.bus, &[scratch; 1024]).unwrap();
            self.put_table(m, index, table.bus);
        }
        let page = m.alloc(1).bus;
        let entry = m.topo.pages.entry(Page {
            addr: DmaAddr(page),
            memory: MemoryKind::System,
            cache: CacheLevel::Coherent,
        });
        let at = self.tables[index] + u64::from(addr >> 12 & 0x3ff) * 4;
        m.memory.put_dwords(at, &[entry as u32]).unwrap();
        page
    }
}

#[test]
fn a_request_loads_the_directory_of_its_space() {
    // §5.3 row 8 of the plan: the same addresses, each its own bytes.
    const BATCH: u32 = 0x0100_0000;
    const TARGET: u32 = 0x0800_0000;
    let mut m = machine();
    let mut spaces = Vec::new();
    for n in 0..4 {
        let mut space = TestSpace::new(&mut m, n);
        let batch = space.map(&mut m, BATCH);
        let target = space.map(&mut m, TARGET);
        let words = [STORE, 0, TARGET + 8, 0x1230 + n, END, 0];
        m.memory.put_dwords(batch, &words).unwrap();
        spaces.push((space.slot, target));
    }
    for engine in [RCS, BCS, VCS] {
        for _ in 0..2 {
            for (slot, _) in &spaces {
                m.load = Some(*slot);
                m.work(engine, &Work::batch(BATCH));
            }
        }
        for (n, (_, target)) in spaces.iter().enumerate() {
            assert_eq!(m.memory.dword(target + 8), 0x1230 + n as u32);
            m.memory.put_dwords(target + 8, &[0]).unwrap();
        }
        // It stays loaded; and the engines have theirs each.
        m.work(engine, &Work::batch(BATCH));
        assert_eq!(m.memory.dword(spaces[3].1 + 8), 0x1233);
        m.memory.put_dwords(spaces[3].1 + 8, &[0]).unwrap();
    }
    // The global space's, which engines are started with, is as it was.
    m.reset().unwrap();
    every_engine_works(&mut m);
    lawful(&m);
}

#[test]
fn a_table_that_is_added_is_seen_by_what_loads_the_directory_again() {
    // VCS-004: entries of the directory are loaded by a write of its base.
    const BATCH: u32 = 0x0100_0000;
    let mut m = machine();
    let mut space = TestSpace::new(&mut m, 0);
    let batch = space.map(&mut m, BATCH);
    for engine in [RCS, BCS, VCS] {
        m.memory.put_dwords(batch, &[END, 0]).unwrap();
        m.load = Some(space.slot);
        m.work(engine, &Work::batch(BATCH));
        let addr = 0x2000_0000 + 0x40_0000 * engine as u32;
        let page = space.map(&mut m, addr);
        m.memory
            .put_dwords(batch, &[STORE, 0, addr, 0x77, END, 0])
            .unwrap();
        m.load = Some(space.slot);
        m.work(engine, &Work::batch(BATCH));
        assert_eq!(m.memory.dword(page), 0x77);
    }
    lawful(&m);
}
