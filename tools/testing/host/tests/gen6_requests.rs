// SPDX-License-Identifier: GPL-2.0
//! Sandy Bridge: requests, rings, batches and contexts, run by the modelled chip.

use gpu_model::{counters::Counter, ring::RingConfig, trace::Event};
use ouro_cross::ring_machine::{Object, RingMachine, Setup, Work, BCS, ENGINES, RCS, VCS};
use ouro_hw::{
    engine::{Privilege, Switch},
    ring::Commands,
};

/// `MI_BATCH_BUFFER_END` (digest §2.3).
const END: u32 = 0x0500_0000;
/// `MI_STORE_DATA_IMM` of a dword: header, then zero, address, data.
const STORE: u32 = 0x1000_0002;
/// `MI_STORE_REGISTER_MEM`, bit 22 global table: header, then register, address.
const SAVE_GLOBAL: u32 = 0x1240_0001;
/// `MI_LOAD_REGISTER_IMM` of one register.
const LOAD: u32 = 0x1100_0001;

const EMPTY: Work<'static> = Work {
    switch: Switch::Stay,
    batch: None,
    inline: &[],
};

#[test]
fn every_engine_stores_by_a_users_batch() {
    let mut m = RingMachine::default();
    for n in [RCS, BCS, VCS] {
        let target = m.alloc(1);
        let batch = m.object(&[STORE, 0, target.addr + 8, 0xcafe_0000 + n as u32, END, 0]);
        m.work(n, &Work::batch(batch.addr));
        assert_eq!(m.dword(target, 2), 0xcafe_0000 + n as u32);
        assert_eq!(m.gpu.counter(Counter::Batches), n as u64 + 1);
    }
    m.assert_lawful();
}

#[test]
fn the_blitter_fills() {
    let mut m = RingMachine::default();
    let target = m.alloc(1);
    // XY_COLOR_BLT of 32 bit, 4 x 2 pixels, pitch 64, pattern copy (digest §2.5).
    let batch = m.object(&[
        0x5430_0004,
        (3 << 24) | (0xf0 << 16) | 64,
        0,
        (2 << 16) | 4,
        target.addr,
        0xff00_aa55,
        END,
        0,
    ]);
    m.work(BCS, &Work::batch(batch.addr));
    for (n, value) in [
        (0, 0xff00_aa55),
        (3, 0xff00_aa55),
        (4, 0),
        (16, 0xff00_aa55),
        (32, 0),
    ] {
        assert_eq!(m.dword(target, n), value, "dword {n}");
    }
    m.assert_lawful();
}

#[test]
fn a_users_batch_has_no_privilege() {
    let mut m = RingMachine::default();
    let target = m.alloc(1);
    // A store through the global table, by a batch that bit 8 makes unprivileged (§5.3.7.6).
    let batch = m.object(&[STORE | 1 << 22, 0, target.addr, 0x66, END, 0]);
    m.submit(RCS, &Work::batch(batch.addr)).unwrap();
    m.run();
    assert_eq!(m.dword(target, 0), 0);
    assert_ne!(m.gpu.counter(Counter::PrivilegeViolations), 0);
    // The kernel's own may.
    let mut m = RingMachine::default();
    let target = m.alloc(1);
    let batch = m.object(&[STORE | 1 << 22, 0, target.addr, 0x66, END, 0]);
    m.work(
        RCS,
        &Work {
            batch: Some((batch.addr, Privilege::Kernel)),
            ..EMPTY
        },
    );
    assert_eq!(m.dword(target, 0), 0x66);
    m.assert_lawful();
}

#[test]
fn the_rings_wrap_and_wrap() {
    let mut m = RingMachine::default();
    // 16 KiB hold about 60 requests of the render engine and a hundred of the others.
    for round in 0..400 {
        for n in [RCS, BCS, VCS] {
            m.work(n, &EMPTY);
            assert_eq!(m.done(n).0, round + 1);
        }
    }
    m.assert_lawful();
}

#[test]
fn rings_of_uneven_requests_wrap_too() {
    let mut m = RingMachine::default();
    let noops = [0; 64];
    for round in 0..300usize {
        let inline = &noops[..round * 7 % 61];
        for n in [RCS, BCS, VCS] {
            m.work(n, &Work { inline, ..EMPTY });
        }
    }
    m.assert_lawful();
}

#[test]
fn many_requests_in_flight_complete_in_order() {
    let mut m = RingMachine::default();
    let target = m.alloc(1);
    let batches: Vec<Object> = (0..40)
        .map(|i| {
            m.object(&[
                STORE,
                0,
                target.addr + 4 * i,
                i + 1,
                STORE,
                0,
                target.addr + 0x800,
                i,
                END,
                0,
            ])
        })
        .collect();
    for batch in &batches {
        m.submit(BCS, &Work::batch(batch.addr)).unwrap();
    }
    assert!(m.run());
    assert_eq!(m.done(BCS).0, 40);
    for i in 0..40 {
        assert_eq!(m.dword(target, i), i + 1);
    }
    assert_eq!(m.dword(target, 0x200), 39);
    m.assert_lawful();
}

#[test]
fn a_number_is_stored_after_the_work_and_before_the_interrupt() {
    let mut m = RingMachine::default();
    m.arm(BCS, true);
    let target = m.alloc(1);
    let batch = m.object(&[STORE, 0, target.addr, 1, END, 0]);
    m.submit(BCS, &Work::batch(batch.addr)).unwrap();
    let mut was_done = false;
    let mut messages = 0;
    loop {
        let stop = !matches!(m.gpu.step(ENGINES[BCS]), gpu_model::ring::StepResult::Ran);
        let done = m.done(BCS).0 == 1;
        if done && !was_done {
            assert_eq!(m.dword(target, 0), 1, "the work is done first");
            assert_eq!(m.line.messages(), 0, "the interrupt comes later");
        }
        if m.line.messages() > messages {
            assert!(done, "the number is there when the interrupt comes");
            messages = m.line.messages();
        }
        was_done = done;
        if stop {
            break;
        }
    }
    assert!(was_done);
    assert_eq!(messages, 1);
}

#[test]
fn one_posted_write_and_no_read_starts_render_and_blitter() {
    let mut m = RingMachine::default();
    for (n, tails) in [(RCS, Counter::RcsTailWrites), (BCS, Counter::BcsTailWrites)] {
        let submission = m.queue(n, &EMPTY);
        m.gpu.clear_counters();
        let engine = m.topo.engines[n];
        engine
            .submit(&m.windows.hw(), &mut m.gt, submission, &m.time)
            .unwrap();
        assert_eq!(m.gpu.counter(Counter::RegReads), 0);
        assert_eq!(m.gpu.counter(Counter::RegWrites), 1);
        assert_eq!(m.gpu.counter(tails), 1);
        assert!(m.run());
    }
    m.assert_lawful();
}

#[test]
fn the_video_engine_is_woken_around_its_tail() {
    let setup = Setup {
        config: RingConfig {
            vcs_wake_reads: 3,
            ..Setup::default().config
        },
        ..Setup::default()
    };
    let mut m = RingMachine::new(&setup);
    let submission = m.queue(VCS, &EMPTY);
    m.gpu.take_events();
    let engine = m.topo.engines[VCS];
    engine
        .submit(&m.windows.hw(), &mut m.gt, submission, &m.time)
        .unwrap();
    let accesses: Vec<(char, u32)> = m
        .gpu
        .take_events()
        .iter()
        .filter_map(|e| match e {
            Event::Read { offset, .. } => Some(('r', *offset)),
            Event::Write { offset, .. } => Some(('w', *offset)),
            _ => None,
        })
        .collect();
    // G-37.
    let wake = [('w', 0x1_2050), ('w', 0x1_2198), ('w', 0x1_219c)];
    assert_eq!(accesses[..3], wake);
    let polls = accesses[3..accesses.len() - 2].to_vec();
    assert_eq!(polls, vec![('r', 0x1_2050); 4]);
    assert_eq!(
        accesses[accesses.len() - 2..],
        [('w', 0x1_2030), ('w', 0x1_2050)]
    );
    assert_eq!(m.gt.counts.port_extra_reads, 4);
    assert!(m.run());
    assert_eq!(m.done(VCS).0, 1);
    m.assert_lawful();
}

#[test]
fn a_thousand_submissions_never_overflow_the_fifo() {
    // This model's FIFO drains only when its room is read.
    let mut m = RingMachine::default();
    let reads = m.gt.counts.fifo_reads;
    for _ in 0..1000 {
        m.work(RCS, &EMPTY);
    }
    // 64 entries less 20.
    let reads = m.gt.counts.fifo_reads - reads;
    assert!((22..=24).contains(&reads), "{reads} reads");
    assert_eq!(m.gt.counts.port_writes, 1000);
    m.assert_lawful();
}

#[test]
fn a_full_fifo_is_waited_for_and_then_written() {
    let mut m = RingMachine::default();
    m.gpu
        .inject(gpu_model::fault::Fault::once(gpu_model::fault::Kind::FifoFull).value(0));
    m.gt.fifo = 0;
    m.work(RCS, &EMPTY);
    m.gpu
        .inject(gpu_model::fault::Fault::once(gpu_model::fault::Kind::FifoFull).forever());
    m.gt.fifo = 0;
    // The tail is written (__gen6_gt_wait_for_fifo of upstream), and the reserve takes it.
    m.work(RCS, &EMPTY);
    assert_eq!(m.warnings("no room"), 1);
    m.assert_lawful();
}

/// Writes the golden commands into a fresh context and switches away from it, so that it is saved.
fn golden_context(m: &mut RingMachine, home: Object) -> Object {
    let pages = m.topo.context_bytes / 4096;
    let image = m.alloc(pages);
    let engine = m.topo.engines[RCS];
    let mut buf = vec![0; engine.desc().golden_dwords];
    let mut out = Commands::new(&mut buf);
    engine.golden(&mut out).unwrap();
    assert_eq!(out.len(), engine.desc().golden_dwords);
    let golden = out.as_slice().to_vec();
    m.work(
        RCS,
        &Work {
            switch: Switch::To {
                image: ouro_hw::types::GgttAddr(image.addr),
                saved: false,
            },
            batch: None,
            inline: &golden,
        },
    );
    m.work(RCS, &Work::switch(home.addr, false));
    image
}

/// A copy of an image, as every context but the first starts.
fn copy_of(m: &mut RingMachine, image: Object) -> Object {
    let bytes = m.topo.context_bytes;
    let copy = m.alloc(bytes / 4096);
    for n in 0..bytes / 4 {
        let dword = m.dword(image, n);
        m.memory
            .put_dwords(copy.bus + u64::from(n) * 4, &[dword])
            .unwrap();
    }
    copy
}

/// What a register of the render engine reads, by a store of the kernel's own batch.
fn register(m: &mut RingMachine, image: Object, offset: u32) -> u32 {
    let target = m.alloc(1);
    let batch = m.object(&[SAVE_GLOBAL, offset, target.addr, END]);
    m.work(
        RCS,
        &Work {
            batch: Some((batch.addr, Privilege::Kernel)),
            ..Work::switch(image.addr, true)
        },
    );
    m.dword(target, 0)
}

/// Gives a register a value within a context.
fn set_register(m: &mut RingMachine, image: Object, offset: u32, value: u32) {
    let batch = m.object(&[LOAD, offset, value, END]);
    m.work(
        RCS,
        &Work {
            batch: Some((batch.addr, Privilege::Kernel)),
            ..Work::switch(image.addr, true)
        },
    );
}

#[test]
fn golden_commands_are_all_known_and_the_image_is_saved() {
    let mut m = RingMachine::default();
    let home = m.alloc(m.topo.context_bytes / 4096);
    let skipped = m.gpu.counter(Counter::SkippedCommands);
    let image = golden_context(&mut m, home);
    // 39 commands of state, parsed and skipped.
    assert!(m.gpu.counter(Counter::SkippedCommands) >= skipped + 39);
    let saved = (0..m.topo.context_bytes / 4).any(|n| m.dword(image, n) != 0);
    assert!(saved, "the image was written");
    m.assert_lawful();
}

#[test]
fn contexts_keep_their_registers() {
    let mut m = RingMachine::default();
    let home = m.alloc(m.topo.context_bytes / 4096);
    let golden = golden_context(&mut m, home);
    let a = copy_of(&mut m, golden);
    let b = copy_of(&mut m, golden);
    // Both start golden: bit 7 of INSTPM is set (G-38).
    for context in [a, b] {
        assert_eq!(register(&mut m, context, 0x20c0) & 0x80, 0x80);
        assert_eq!(register(&mut m, context, 0x2120) & 0x21, 0);
    }
    // CACHE_MODE_0 is saved with a context (§5.8): bit 6 in one and bit 8 in the other.
    set_register(&mut m, a, 0x2120, 0x0140_0040);
    set_register(&mut m, b, 0x2120, 0x0140_0100);
    for _ in 0..3 {
        assert_eq!(register(&mut m, a, 0x2120) & 0x140, 0x40);
        assert_eq!(register(&mut m, b, 0x2120) & 0x140, 0x100);
    }
    // And a new copy of the golden image has neither.
    let c = copy_of(&mut m, golden);
    assert_eq!(register(&mut m, c, 0x2120) & 0x140, 0);
    m.assert_lawful();
}

#[test]
fn switching_to_the_loaded_context_keeps_it() {
    let mut m = RingMachine::default();
    let home = m.alloc(m.topo.context_bytes / 4096);
    let a = golden_context(&mut m, home);
    set_register(&mut m, a, 0x2120, 0x0040_0040);
    let switches = m.gpu.counter(Counter::ContextSwitches);
    assert_eq!(register(&mut m, a, 0x2120) & 0x40, 0x40);
    assert_eq!(m.gpu.counter(Counter::ContextSwitches), switches);
    m.assert_lawful();
}

#[test]
fn a_saved_context_survives_a_reset() {
    let mut m = RingMachine::default();
    let home = m.alloc(m.topo.context_bytes / 4096);
    let a = golden_context(&mut m, home);
    set_register(&mut m, a, 0x2120, 0x0040_0040);
    m.work(RCS, &Work::switch(home.addr, true));
    m.reset().unwrap();
    assert_eq!(register(&mut m, a, 0x2120) & 0x40, 0x40);
    m.assert_lawful();
}

#[test]
fn after_a_full_reset_the_first_switch_saves_nothing() {
    let mut m = RingMachine::default();
    let home = m.alloc(m.topo.context_bytes / 4096);
    let a = golden_context(&mut m, home);
    set_register(&mut m, a, 0x2120, 0x0040_0040);
    // The last save of `a` is of before that; nobody switched away since.
    m.reset().unwrap();
    let before: Vec<u32> = (0..16).map(|n| m.dword(a, n)).collect();
    m.work(RCS, &Work::switch(home.addr, true));
    let after: Vec<u32> = (0..16).map(|n| m.dword(a, n)).collect();
    assert_eq!(before, after);
    assert_eq!(register(&mut m, a, 0x2120) & 0x40, 0);
    m.assert_lawful();
}

#[test]
fn a_new_mapping_is_seen_by_the_next_request() {
    let mut m = RingMachine::default();
    let target = m.alloc(1);
    let other = m.alloc(1);
    for n in [RCS, BCS, VCS] {
        let batch = m.object(&[STORE, 0, target.addr, 1, END, 0]);
        m.bind(target.addr, target.bus);
        m.work(n, &Work::batch(batch.addr));
        m.bind(target.addr, other.bus);
        let batch = m.object(&[STORE, 0, target.addr, 2 + n as u32, END, 0]);
        m.work(n, &Work::batch(batch.addr));
        assert_eq!((m.dword(target, 0), m.dword(other, 0)), (1, 2 + n as u32));
    }
    m.assert_lawful();
}

#[test]
fn a_hole_reads_scratch_and_nobody_else_is_hurt() {
    let mut m = RingMachine::default();
    // Addresses that nothing is bound to, in both halves of what the directory spans.
    for addr in [0x0300_0000, 0x3000_0000, 0x5000_0000, 0x7fff_f000] {
        let batch = m.object(&[STORE, 0, addr, 0x77, END, 0]);
        m.work(BCS, &Work::batch(batch.addr));
        assert_eq!(m.gpu.counter(Counter::PageFaults), 0);
        assert_eq!(m.memory.dword(ouro_cross::ring_machine::SCRATCH), 0x77);
    }
    m.assert_lawful();
}

#[test]
fn a_completion_delay_changes_nothing_but_time() {
    let setup = Setup {
        config: RingConfig {
            delay_ns: 50_000,
            ..Setup::default().config
        },
        ..Setup::default()
    };
    let mut m = RingMachine::new(&setup);
    for n in [RCS, BCS, VCS] {
        m.work(n, &EMPTY);
    }
    m.assert_lawful();
}
