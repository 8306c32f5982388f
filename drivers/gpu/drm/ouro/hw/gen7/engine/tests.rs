// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Starts, resets and descriptions of the engines, and the bring-up of the device.

use super::*;
use crate::{
    checker::{Placed, Verdict},
    engine::{EngineMemory, Submission, WatchdogLimits},
    gen7::{GT1, GT2},
    generation::{DeviceError, Events, Generation, Layout, ResetScope, Translation},
    gt::Gt,
    mock::{Access, Mock},
    ring::Commands,
    types::{CacheLevel, DmaAddr, GgttAddr, MemoryKind, Page, RingOffset},
};
use std::vec::Vec;

const MEM: EngineMemory = EngineMemory {
    directory: Some(GgttAddr(0x0010_0000)),
    ..crate::mock::MEMORY
};

/// Returns an idle, awake device.
fn device() -> Mock {
    let mock = Mock::default();
    mock.set(0x12_0008, 0x40);
    mock.fix(0x13_0040, 1);
    mock.fix(0x941c, 0);
    for base in [0x2000, 0x1_2000, 0x2_2000] {
        mock.fix(base + 0x9c, 0x200);
        mock.fix(base + 0xc0, 0);
    }
    mock
}

#[test]
fn video_starts_as_the_document_says() {
    let mock = device();
    VIDEO.start(&mock.hw(), &MEM, &mock).unwrap();
    let order = [
        // VCS-019: stop; VCS-011: HWSP; VCS-071: nothing reported; VCS-022, 023: flush.
        (0x1_209c, 0x0100_0100),
        (0x4180, 0x0002_0000),
        (0x1_2098, 0xffff_ffff),
        (0x1_20c0, 0x0220_0220),
        // VCS-083: the watchdog is stopped.
        (0x1_2178, 0xffff_ffff),
        // VCS-080: bit 0 only; VCS-074: bits 12, 15 and 18.
        (0x1_20b4, 0xffff_fffe),
        (0x1_20a8, 0xfffb_6fff),
        // VCS-033, 004, 007, 034: start, groups, base, mode, 16 pages and enable; VCS-019.
        (0x1_2038, 0x0001_0000),
        (0x1_2220, 0xffff_ffff),
        (0x1_2228, 0x0010_0000),
        (0x1_229c, 0x0200_0200),
        (0x1_203c, 0xf001),
        (0x1_209c, 0x0100_0000),
    ];
    let log = mock.take();
    let mut rest = log.as_slice();
    for (at, value) in order {
        let found = rest.iter().position(|a| *a == Access::W(at, value));
        let found = found.unwrap_or_else(|| panic!("{at:#x}"));
        rest = &rest[found + 1..];
    }
}

#[test]
fn each_engine_has_its_own_registers() {
    // V-09, VCS-071 and UW's HWSTAM: render reports its user interrupt.
    for (engine, base, page, hwstam) in [
        (&RENDER, 0x2000, 0x4080, 0xffff_fffe),
        (&BLITTER, 0x2_2000, 0x4280, 0xffff_ffff),
        (&VIDEO, 0x1_2000, 0x4180, 0xffff_ffff),
    ] {
        let mock = device();
        engine.start(&mock.hw(), &MEM, &mock).unwrap();
        assert_eq!(mock.written(page), [0x0002_0000]);
        assert_eq!(mock.written(base + 0x98), [hwstam]);
        assert_eq!(mock.written(base + 0x29c), [0x0200_0200]);
    }
}

#[test]
fn starting_work_is_one_posted_write() {
    for (engine, at) in [(&RENDER, 0x2030), (&BLITTER, 0x2_2030), (&VIDEO, 0x1_2030)] {
        let mock = device();
        let mut gt = Gt {
            awake: true,
            fifo: 40,
            ..Gt::default()
        };
        let tail = Submission::Tail(RingOffset(0x1238));
        engine.submit(&mock.hw(), &mut gt, tail, &mock).unwrap();
        assert_eq!(mock.take(), [Access::W(at, 0x1238)]);
    }
}

#[test]
fn the_video_engine_alone_has_a_watchdog() {
    // VCS §1.1.5: 32 bits of 80 ns, but not all ones; the driver sets the minimum.
    let limits = WatchdogLimits {
        least: 1000,
        most: 343_597_383,
    };
    assert_eq!(RINGS.map(|e| e.desc().watchdog), [None, None, Some(limits)]);
    // The other engines have other registers there.
    for engine in [&RENDER, &BLITTER] {
        let mock = device();
        engine.start(&mock.hw(), &MEM, &mock).unwrap();
        assert_eq!(mock.written(engine.base.0 + 0x178), []);
    }
}

#[test]
fn the_watchdog_interrupts_while_it_is_wanted() {
    // VCS §1.1.6: bit 18. G-12, V-07: bits 0, 12, 22 are completions, 3, 15, 25 errors.
    let mock = device();
    let mut gt = Gt::default();
    GT2.irq_on(&mock.hw(), &mut gt);
    assert_eq!(mock.written(0x4_401c), [0, 0x0244_9009]);
    assert_eq!(mock.written(0x4_4014), [0xffff_ffff, !0x0200_8008]);
    mock.take();
    GT2.irq_watch(&mock.hw(), &mut gt, 2, true);
    assert_eq!(
        mock.take(),
        [Access::W(0x4_4014, !0x0204_8008), Access::R(0x4_4014)]
    );
    // It has its own count, and is masked alone.
    GT2.irq_arm(&mock.hw(), &mut gt, 2, true);
    GT2.irq_watch(&mock.hw(), &mut gt, 2, true);
    GT2.irq_watch(&mock.hw(), &mut gt, 2, false);
    assert_eq!(mock.written(0x4_4014), [!0x0204_9008, !0x0200_9008]);
    assert_eq!(gt.counts.irq_arms, 1);
    mock.take();
    // Other engines have none, and there is no fourth engine.
    for engine in [0, 1, 3] {
        GT2.irq_watch(&mock.hw(), &mut gt, engine, true);
    }
    assert_eq!(mock.take(), []);
    mock.set(0x4_4018, 0x0004_0000);
    let events = GT2.irq_ack(&mock.hw());
    assert_eq!(
        events,
        Events {
            ours: true,
            completed: 0,
            errors: 0,
            overdue: 0b100
        }
    );
}

#[test]
fn an_engine_is_reset_alone() {
    // V-15: bits 1, 2 and 3, in the order of the topology: render, blitter, video.
    for (n, bit, base) in [(0, 2, 0x2000), (1, 8, 0x2_2000), (2, 4, 0x1_2000)] {
        let mock = device();
        GT2.reset(&mock.hw(), ResetScope::Engine(n), &mock).unwrap();
        assert_eq!(mock.written(0x941c), [bit, bit]);
        assert_eq!(mock.written(base + 0x3c), [0]);
        // The other engines are not touched.
        for other in [0x2000u32, 0x1_2000, 0x2_2000]
            .iter()
            .filter(|b| **b != base)
        {
            assert!((0..0x100).all(|at| mock.written(other + at).is_empty()));
        }
        // The render engine's workarounds of this chip are applied again.
        assert_eq!(mock.written(0x2090).len(), usize::from(n == 0));
        assert_eq!(mock.written(0xe100), []);
        assert_eq!(mock.written(0xb01c), []);
    }
    let mock = device();
    GT1.reset(&mock.hw(), ResetScope::Engine(0), &mock).unwrap();
    assert_eq!(mock.written(0xe100), [0x0008_0008]);
    assert_eq!(
        GT1.reset(&mock.hw(), ResetScope::Engine(3), &mock),
        Err(DeviceError::Unsupported("no such engine"))
    );
}

#[test]
fn engines_say_that_they_are_reset_alone() {
    assert_eq!(
        RINGS.map(|e| e.desc().reset_group),
        [Some(0), Some(1), Some(2)]
    );
    assert_eq!(RINGS.map(|e| e.desc().ring_end), [0x2000_0000; 3]);
    assert_eq!(RINGS.map(|e| e.desc().contexts), [true, false, false]);
    assert_eq!(RINGS.map(|e| e.desc().copy_pages), [0, 32767, 0]);
    let restarts = |e: &RingEngine| {
        let mut buf = [0; crate::engine::STREAM_DWORDS];
        e.restart_streams(&mut Commands::new(&mut buf)).is_ok()
    };
    assert_eq!(RINGS.map(restarts), [true, false, false]);
    // V-19: each engine has a checker, of version 10.
    let version = |e: &RingEngine| e.checker().map(|c| c.version());
    assert_eq!(RINGS.map(version), [Some(10); 3]);
    // Each engine has its own rules: MFX_WAIT is the video engine's, PIPELINE_SELECT and
    // MI_PREDICATE the render engine's.
    let passes = |e: &RingEngine, command| {
        let placed = Placed { goes_on: false };
        let verdict = e
            .checker()
            .map(|c| c.check(&[command, 0x0500_0000], &placed, &mut []));
        verdict == Some(Verdict::unchanged(2))
    };
    assert_eq!(RINGS.map(|e| passes(e, 0x6904_0000)), [true, false, false]);
    assert_eq!(RINGS.map(|e| passes(e, 0x6800_0000)), [false, false, true]);
    assert_eq!(RINGS.map(|e| passes(e, 0x0680_0000)), [true, false, false]);
}

#[test]
fn a_device_is_brought_up() {
    let mock = device();
    mock.config(0x50, 0x0200);
    mock.set(0x21a8, 0x3f);
    mock.set(0xa180, 0x20);
    mock.aperture.set(256 << 20);
    mock.iommu.set(true);
    let topo = GT2.probe(&mock.hw(), &crate::chips::ALL[0]).unwrap();
    // The PPGTT works behind an IOMMU; bits 31:24 of `Card` are the forcewake method.
    assert!(matches!(
        topo.space,
        Translation::PerContextDirectory {
            directories: 512,
            align: 16
        }
    ));
    mock.shares_ppgtt.set(true);
    let shared = GT2.probe(&mock.hw(), &crate::chips::ALL[0]).unwrap();
    assert_eq!(shared.space.directory(), Some((512, 16)));
    assert!(!shared.space.is_per_context());
    assert_eq!((topo.context_bytes, topo.card), (4096, 0x0100_0000));
    assert_eq!(topo.timestamp_hz, 12_500_000);
    assert_eq!(topo.coherence, crate::Coherence::Llc);
    assert_eq!(topo.fences.map(|f| f.count()), Some(32));
    assert!(topo.resets_engines() && GT2.keeps_leftovers());
    // Equal channels: swizzle, which the engines do by bit 5.
    let layout = Layout {
        scratch: Page {
            addr: DmaAddr(0x1000),
            memory: MemoryKind::System,
            cache: CacheLevel::Coherent,
        },
        directory: MEM.directory,
    };
    let hw = crate::io::Hw {
        card: topo.card,
        ..mock.hw()
    };
    mock.take();
    GT2.start(&hw, &topo, &layout, &mock).unwrap();
    let log = mock.take();
    let at = |write| log.iter().position(|a| *a == write).unwrap();
    let order: Vec<_> = [
        // Wake, reset, workarounds of the device and the render engine, swizzle, translation,
        // flush.
        Access::W(0xa188, 0x0001_0001),
        Access::W(0x941c, 1),
        Access::W(0xb01c, 0x3c47_ff8c),
        Access::W(0x229c, 0x2800_2800),
        Access::W(0x4030, 0x0020_0020),
        Access::W(0x1_4090, 0x300),
        Access::W(0x10_1008, 1),
    ]
    .map(at)
    .to_vec();
    assert!(order.is_sorted());
    assert!(!log.iter().any(|a| matches!(a, Access::W(0x2520, _))));
}
