// SPDX-License-Identifier: GPL-2.0
//! Sandy Bridge: bring-up, tables, reset, waking, against the modelled chip.

use gpu_model::{
    counters::Counter,
    fault::{Fault, Kind},
    ring::RingConfig,
};
use ouro_cross::ring_machine::{RingMachine, Setup, Work, BCS, RCS, VCS};
use ouro_hw::{
    generation::{DeviceError, ResetScope, Swizzle, Translation},
    gt::Gt,
};

#[test]
fn a_device_comes_up_without_breaking_a_rule() {
    let mut m = RingMachine::default();
    for n in [RCS, BCS, VCS] {
        let activity = m.topo.engines[n].activity(&m.hw());
        assert!(activity.idle, "{activity:?}");
        assert_eq!((activity.head, activity.tail), (0, 0));
    }
    assert!(m.run());
    m.assert_lawful();
}

#[test]
fn the_topology_is_the_models() {
    for (mb, swizzle, entries) in [(1, false, 262_144), (2, true, 524_288)] {
        let setup = Setup {
            config: RingConfig {
                gtt_mb: mb,
                swizzle,
                ..Setup::default().config
            },
            ..Setup::default()
        };
        let m = RingMachine::new(&setup);
        assert_eq!(m.topo.gtt_entries, entries);
        let expected = if swizzle {
            Swizzle::Bit9_10
        } else {
            Swizzle::None
        };
        assert_eq!(m.topo.swizzle, expected);
        assert!(m.topo.context_bytes >= 4096);
        assert!(matches!(m.topo.space, Translation::Aliasing { .. }));
        assert_eq!(m.topo.revision, 9);
        m.assert_lawful();
    }
}

#[test]
fn all_chips_come_up() {
    for chip in ouro_hw::chips::of("gen6") {
        let setup = Setup {
            config: RingConfig {
                device_id: chip.device,
                ..Setup::default().config
            },
            ..Setup::default()
        };
        RingMachine::new(&setup).assert_lawful();
    }
}

#[test]
fn every_engine_completes_an_empty_request() {
    let mut m = RingMachine::default();
    for n in [RCS, BCS, VCS] {
        m.work(
            n,
            &Work {
                switch: ouro_hw::engine::Switch::Stay,
                batch: None,
                inline: &[],
            },
        );
    }
    m.assert_lawful();
}

#[test]
fn with_an_iommu_there_is_no_directory() {
    let mut m = RingMachine::new(&Setup {
        iommu: true,
        config: RingConfig {
            vtd: true,
            ..Setup::default().config
        },
    });
    assert!(m.layout.directory.is_none());
    let target = m.alloc(1);
    // MI_STORE_DATA_IMM, bit 22: global table. The kernel's batch may.
    let batch = m.object(&[0x1040_0002, 0, target.addr, 0x55, 0x0500_0000, 0]);
    m.work(
        RCS,
        &Work {
            batch: Some((batch.addr, ouro_hw::engine::Privilege::Kernel)),
            ..Work::batch(0)
        },
    );
    assert_eq!(m.dword(target, 0), 0x55);
    m.assert_lawful();
}

#[test]
fn every_aperture_is_taken() {
    // SNB PRM V1P2 §4.4.
    for mib in [64, 128, 256, 512] {
        let setup = Setup {
            config: RingConfig {
                aperture: mib << 20,
                ..Setup::default().config
            },
            ..Setup::default()
        };
        assert_eq!(RingMachine::new(&setup).topo.aperture, mib << 20);
    }
}

#[test]
fn sleep_and_wake() {
    let mut m = RingMachine::default();
    let generation = m.chip.generation;
    for _ in 0..3 {
        generation.sleep(&m.windows.hw(), &mut m.gt);
        assert!(!m.gt.awake);
        // Interrupts need no waking.
        m.arm(RCS, true);
        m.arm(RCS, false);
        m.interrupt();
        generation.gtt_flush(&m.hw());
        generation
            .wake(&m.windows.hw(), &mut m.gt, &m.time)
            .unwrap();
        m.work(
            RCS,
            &Work {
                switch: ouro_hw::engine::Switch::Stay,
                batch: None,
                inline: &[],
            },
        );
    }
    assert_eq!(m.gt.counts.wakes, 4);
    m.assert_lawful();
}

#[test]
fn nothing_is_submitted_to_a_sleeping_device() {
    let mut m = RingMachine::default();
    let generation = m.chip.generation;
    generation.sleep(&m.windows.hw(), &mut m.gt);
    let r = m.submit(
        BCS,
        &Work {
            switch: ouro_hw::engine::Switch::Stay,
            batch: None,
            inline: &[],
        },
    );
    assert_eq!(
        r,
        Err(DeviceError::Unsupported("submission without forcewake"))
    );
    m.assert_lawful();
}

#[test]
fn a_device_that_does_not_acknowledge_is_warned_of() {
    let m = RingMachine::default();
    let mut gt = Gt::default();
    let generation = m.chip.generation;
    m.gpu.inject(Fault::once(Kind::StuckForcewake).forever());
    // The old request is let go first; its answer goes away, and the new one never comes. Upstream
    // goes on, too (fw_domain_wait_ack_set).
    generation
        .wake(&m.windows.hw(), &mut gt, &m.time)
        .expect("a device that may be awake");
    assert!(gt.awake);
    assert_eq!(m.warnings("not acknowledged"), 1);
}

#[test]
fn a_reset_of_all_brings_everything_back() {
    let mut m = RingMachine::default();
    let before = m.gpu.counter(Counter::Resets);
    m.reset().unwrap();
    assert!(m.gpu.counter(Counter::Resets) > before);
    every_engine_works(&mut m);
    m.assert_lawful();
}

#[test]
fn no_engine_is_reset_alone() {
    // UW46.
    for n in [RCS, BCS, VCS] {
        let mut m = RingMachine::default();
        every_engine_works(&mut m);
        assert_eq!(m.topo.engines[n].desc().reset_group, None);
        let before = m.gpu.counter(Counter::Resets);
        let r = m
            .chip
            .generation
            .reset(&m.hw(), ResetScope::Engine(n), &m.time);
        let unsupported = DeviceError::Unsupported("reset of a single engine");
        assert_eq!(r, Err(unsupported));
        assert_eq!(m.gpu.counter(Counter::Resets), before);
        every_engine_works(&mut m);
        m.assert_lawful();
    }
}

/// The names of the engines in the model's faults.
const NAMES: [&str; 3] = ["rcs", "bcs", "vcs"];

#[test]
fn an_engine_that_never_says_that_it_is_idle_is_used_all_the_same() {
    for name in NAMES {
        let mut m = RingMachine::stopped(&Setup::default()).unwrap();
        m.gpu
            .inject(Fault::once(Kind::StuckIdle).on(name).forever());
        m.start().unwrap();
        every_engine_works(&mut m);
        m.reset().unwrap();
        every_engine_works(&mut m);
    }
}

#[test]
fn a_head_that_does_not_take_what_is_written_is_written_again() {
    // Logs of real machines: after a reset it reads the ring's address until it was written some times.
    for name in NAMES {
        let mut m = RingMachine::default();
        m.gpu
            .inject(format!("deaf-head:{name}x5").parse().expect("a fault"));
        m.reset().unwrap();
        every_engine_works(&mut m);
        m.assert_lawful();
    }
    let mut m = RingMachine::default();
    m.gpu.inject(Fault::once(Kind::DeafHead).forever());
    assert_eq!(m.reset(), Err(DeviceError::Timeout("RING_HEAD")));
}

#[test]
fn a_flush_that_does_not_end_is_said_and_no_more() {
    for name in NAMES {
        let mut m = RingMachine::default();
        m.gpu.inject(Fault::once(Kind::StuckFlush).on(name));
        m.reset().unwrap();
        assert_eq!(m.warnings("TLB invalidation"), 0);
        every_engine_works(&mut m);
        m.gpu
            .inject(Fault::once(Kind::StuckFlush).on(name).forever());
        m.reset().unwrap();
        assert_eq!(m.warnings("TLB invalidation"), 1);
        every_engine_works(&mut m);
    }
}

#[test]
fn a_stuck_reset_is_told() {
    let mut m = RingMachine::default();
    m.gpu.inject(Fault::once(Kind::StuckReset).forever());
    let r = m.reset();
    assert_eq!(r, Err(DeviceError::Timeout("GDRST")));
}

#[test]
fn engines_stop_and_start_again() {
    let mut m = RingMachine::default();
    for n in [RCS, BCS, VCS] {
        let engine = m.topo.engines[n];
        engine.stop(&m.hw(), &m.time).unwrap();
        m.start_engine(n).unwrap();
    }
    every_engine_works(&mut m);
    m.assert_lawful();
}

#[test]
fn a_card_that_is_gone_is_gone_everywhere() {
    let mut m = RingMachine::default();
    m.gpu.remove();
    let generation = m.chip.generation;
    let hw = m.windows.hw();
    assert_eq!(generation.probe(&hw, m.chip).err(), Some(DeviceError::Gone));
    assert_eq!(
        generation.start(&hw, &m.topo, &m.layout, &m.time),
        Err(DeviceError::Gone)
    );
    for n in [RCS, BCS, VCS] {
        let engine = m.topo.engines[n];
        assert_eq!(engine.stop(&hw, &m.time), Err(DeviceError::Gone));
        assert_eq!(
            engine.start(&hw, &m.ports[n].mem, &m.time),
            Err(DeviceError::Gone)
        );
        assert!(!engine.kick(&hw));
    }
    assert_eq!(
        generation.reset(&hw, ResetScope::All, &m.time),
        Err(DeviceError::Gone)
    );
    assert!(!generation.irq_ack(&hw).ours);
    let mut gt = Gt::default();
    assert_eq!(
        generation.wake(&hw, &mut gt, &m.time),
        Err(DeviceError::Gone)
    );
    // A posted write to a card that is gone is lost silently; running out of counted room is not.
    m.gt.fifo = 0;
    assert_eq!(m.submit(BCS, &Work::batch(0x1000)), Err(DeviceError::Gone));
    generation.stop(&m.windows.hw());
}

/// Stores by a user's batch on each engine.
fn every_engine_works(m: &mut RingMachine) {
    for n in [RCS, BCS, VCS] {
        let target = m.alloc(1);
        let batch = m.object(&[
            0x1000_0002,
            0,
            target.addr,
            0x1111 + n as u32,
            0x0500_0000,
            0,
        ]);
        m.work(n, &Work::batch(batch.addr));
        assert_eq!(m.dword(target, 0), 0x1111 + n as u32);
    }
}
