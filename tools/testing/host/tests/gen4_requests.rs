// SPDX-License-Identifier: GPL-2.0
//! 965 and G4X: bring-up, requests, contexts, interrupts, resets, run by the modelled chips.

use gpu_model::ring::{
    chip::{Chip, G45, G965, GM45, GM965},
    Real, RingConfig,
};
use ouro_cross::ring_machine::{RingMachine, Setup, Work, RCS};
use ouro_hw::{
    engine::{Engine, Privilege, Switch},
    generation::Translation,
    ring::{Commands, Overflow},
};

/// `MI_BATCH_BUFFER_END` (§1.4).
const END: u32 = 0x0500_0000;
/// `MI_STORE_DATA_IMM` of a dword to a graphics address (§1.16), of the render engine: header, then zero, address, data.
const STORE: u32 = 0x1040_0002;
/// `MI_BATCH_BUFFER_START` of this batch's space (§1.5).
const START: u32 = 0x1880_0180;
/// `XY_COLOR_BLT` (§8.9.8): 32 bits, ROP F0, pitch 4096; y1:x1, y2:x2, destination, colour.
const FILL: [u32; 4] = [0x5430_0004, 0x03f0_1000, 0, 0x0001_0004];
/// The video engine's number.
const VIDEO: usize = 1;
const ALL: [&Chip; 4] = [&G45, &GM45, &G965, &GM965];
const G4X: [&Chip; 2] = [&G45, &GM45];

fn setup(chip: &'static Chip, real: Real) -> Setup {
    Setup {
        config: RingConfig {
            real,
            ..RingConfig::of(chip)
        },
        iommu: false,
    }
}

fn machine(chip: &'static Chip) -> RingMachine {
    RingMachine::new(&setup(chip, Real::all()))
}

/// A batch with privilege, as a user's may not store on 965.
fn kernel(addr: u32) -> Work<'static> {
    Work {
        batch: Some((addr, Privilege::Kernel)),
        ..Work::batch(0)
    }
}

/// A user's batch fills four pixels.
fn draws(m: &mut RingMachine, colour: u32) {
    let target = m.alloc(1);
    let mut batch = FILL.to_vec();
    batch.extend([target.addr, colour, END, 0]);
    let batch = m.object(&batch);
    m.work(RCS, &Work::batch(batch.addr));
    assert_eq!([0, 3, 4].map(|n| m.dword(target, n)), [colour, colour, 0]);
}

#[test]
fn all_chips_come_up_and_draw() {
    for chip in ALL {
        let mut m = machine(chip);
        assert!(matches!(m.topo.space, Translation::Global));
        draws(&mut m, 0xcafe_0001);
        m.assert_lawful();
    }
}

#[test]
fn the_kernel_stores_on_each_engine() {
    for chip in G4X {
        let mut m = machine(chip);
        let target = m.alloc(1);
        let batch = m.object(&[STORE, 0, target.addr + 8, 7, END, 0]);
        for n in [RCS, VIDEO] {
            m.work(n, &kernel(batch.addr));
            assert_eq!(m.dword(target, 2), 7);
            m.memory.put_dwords(target.bus + 8, &[0]).unwrap();
        }
        m.assert_lawful();
    }
}

#[test]
fn contexts_are_loaded_and_start_golden() {
    for chip in ALL {
        contexts_start(chip, |engine, out| engine.golden(out));
    }
}

#[test]
fn contexts_start_with_registers_alone() {
    for chip in ALL {
        contexts_start(chip, |engine, out| engine.golden_registers(out));
    }
}

/// The first context runs these commands, is saved, and loaded again.
fn contexts_start(
    chip: &'static Chip,
    commands: fn(&dyn Engine, &mut Commands<'_>) -> Result<(), Overflow>,
) {
    let mut m = machine(chip);
    let pages = m.topo.context_bytes / 4096;
    let (first, second) = (m.alloc(pages), m.alloc(pages));
    let mut buf = [0; 256];
    let mut out = Commands::new(&mut buf);
    commands(m.topo.engines[RCS], &mut out).unwrap();
    let golden = Work {
        switch: Work::switch(first.addr, false).switch,
        batch: None,
        inline: out.as_slice(),
    };
    m.work(RCS, &golden);
    m.work(RCS, &Work::switch(second.addr, false));
    assert_ne!(
        m.dword(first, 0) | m.dword(first, 1) | m.dword(first, 2),
        0,
        "saved"
    );
    m.work(RCS, &Work::switch(first.addr, true));
    draws(&mut m, 0xcafe_0002);
    assert!(matches!(golden.switch, Switch::To { saved: false, .. }));
    m.assert_lawful();
}

#[test]
fn a_context_of_a_previous_driver_is_not_saved() {
    for chip in ALL {
        let mut m = RingMachine::stopped(&setup(chip, Real::all())).unwrap();
        let pages = m.topo.context_bytes / 4096;
        let (other, image) = (m.alloc(pages), m.alloc(pages));
        // §5.8.1.2: a valid CCID names where the next switch saves. G-16: bit 0 valid; upstream's flags.
        m.hw().regs.write32(0x2180, other.addr | 0x10d);
        let generation = m.chip.generation;
        let left = generation.loaded_image(&m.hw(), &m.topo);
        let first = other.addr / 4096;
        // §5.8.1.1: a reset, as G4X has one at bring-up, leaves it undefined.
        assert_eq!(left, Some(first..first + pages));
        m.start().unwrap();
        m.work(RCS, &Work::switch(image.addr, false));
        for n in 0..pages * 1024 {
            assert_eq!(m.dword(other, n), 0, "dword {n}");
        }
        m.assert_lawful();
    }
}

#[test]
fn an_armed_completion_raises_the_line() {
    for chip in ALL {
        let mut m = machine(chip);
        draws(&mut m, 1);
        assert!(!m.line.level() && !m.interrupt().ours);
        m.arm(RCS, true);
        draws(&mut m, 2);
        assert!(m.line.level());
        let events = m.interrupt();
        assert_eq!((events.ours, events.completed, events.errors), (true, 1, 0));
        while m.line.level() {
            assert!(m.interrupt().ours);
        }
        m.arm(RCS, false);
        draws(&mut m, 3);
        assert!(!m.line.level());
        m.assert_lawful();
    }
}

#[test]
fn a_reset_of_all_brings_everything_back() {
    for chip in ALL {
        let mut m = machine(chip);
        draws(&mut m, 1);
        for n in 2..5 {
            m.reset().unwrap();
            draws(&mut m, n);
        }
        m.assert_lawful();
    }
}

#[test]
fn a_ring_that_loops_is_reset() {
    for chip in ALL {
        let mut m = machine(chip);
        let batch = m.object(&[START, 0]);
        m.memory.put_dwords(batch.bus + 4, &[batch.addr]).unwrap();
        let number = m.submit(RCS, &Work::batch(batch.addr)).unwrap();
        assert!(!m.run());
        assert_ne!(m.done(RCS), number);
        m.reset().unwrap();
        draws(&mut m, 9);
        m.assert_lawful();
    }
}

#[test]
fn many_requests_wrap_the_ring() {
    for chip in ALL {
        let mut m = machine(chip);
        let batch = m.object(&[END, 0]);
        for _ in 0..400 {
            m.work(RCS, &Work::batch(batch.addr));
        }
        draws(&mut m, 5);
        m.assert_lawful();
    }
}
