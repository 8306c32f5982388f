// SPDX-License-Identifier: GPL-2.0
//! What real machines with a Sandy Bridge do and a kind model spares its driver.
//!
//! Expected values are of real machines' logs, and of what the upstream driver reads and writes.

mod snb_rig;

use gpu_model::fault::{Fault, Kind};
use gpu_model::snb::lint::Rule;
use gpu_model::snb::{EngineId, SnbConfig};
use snb_rig::Rig;

impl Rig {
    fn count(&self, rule: Rule) -> u64 {
        self.gpu.lint_count(rule)
    }

    /// So much later.
    fn later(&self, ns: u64) {
        let clock = self.gpu.clock();
        clock.advance_to(clock.now() + ns);
    }
}

/// Upstream: "sometimes the idle flag is not set even though the ring is empty".
#[test]
fn an_empty_ring_may_not_look_idle() {
    let rig = Rig::new();
    let idle = || rig.reg(0x209c) & 1 << 9 != 0;
    assert!(idle());
    let fault: Fault = "stuck-idle:rcsx0".parse().expect("a fault");
    rig.gpu.inject(fault);
    assert!(!idle() && !idle());
    assert_eq!(rig.reg(0x2034), rig.reg(0x2030));
    assert_ne!(rig.reg(0x2209c) & 1 << 9, 0, "the blitter does");
}

/// Logs of real machines: "head 02001000 ... start 02001000".
#[test]
fn a_head_may_not_take_what_is_written() {
    let rig = Rig::bare(SnbConfig::default());
    rig.set(0x2038, 0x0000_1000);
    assert_eq!(rig.reg(0x2034), 0);
    rig.gpu.inject("deaf-head:rcsx2".parse().expect("a fault"));
    rig.set(0x2034, 0);
    assert_eq!(rig.reg(0x2034), 0x0000_1000);
    rig.set(0x2034, 0);
    assert_eq!(rig.reg(0x2034), 0x0000_1000);
    rig.set(0x2034, 0);
    assert_eq!(rig.reg(0x2034), 0);
    rig.clean();
}

/// Upstream waits 2 ms for the bit and goes on without it.
#[test]
fn a_sync_flush_may_seem_stuck() {
    let rig = Rig::new();
    rig.gpu.inject(Fault::once(Kind::StuckFlush));
    rig.run(EngineId::Rcs, &[0, 0]);
    assert!(rig.gpu.cached_translations(EngineId::Rcs) > 0);
    rig.set(0x20c0, 0x0220_0220);
    assert_eq!(rig.reg(0x20c0) & 1 << 5, 1 << 5);
    assert_eq!(rig.gpu.cached_translations(EngineId::Rcs), 0, "it is done");
    rig.later(2_000_000);
    assert_eq!(rig.reg(0x20c0) & 1 << 5, 1 << 5);
    rig.later(1_000_000);
    assert_eq!(rig.reg(0x20c0) & 1 << 5, 0);
    // The second try works.
    rig.gpu.inject(Fault::once(Kind::StuckFlush));
    rig.set(0x20c0, 0x0220_0220);
    rig.set(0x20c0, 0x0220_0220);
    assert_eq!(rig.reg(0x20c0) & 1 << 5, 0);
    rig.clean();
}

/// Behind an IOMMU nothing of the per-process table may be used (upstream: "Disabling ppGTT for VT-d").
#[test]
fn no_process_tables_behind_an_iommu() {
    let rig = Rig::with(SnbConfig {
        vtd: true,
        ..SnbConfig::default()
    });
    rig.set(0x2520, 0x0200_0000);
    rig.set(0x2228, 0);
    rig.clean();
    rig.set(0x2220, 0xffff_ffff);
    rig.set(0x2228, 0x0100_0000);
    rig.set(0x2520, 0x0200_0200);
    assert_eq!(rig.count(Rule::PpgttBehindIommu), 3);
}
