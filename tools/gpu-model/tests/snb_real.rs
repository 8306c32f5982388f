// SPDX-License-Identifier: GPL-2.0
//! What real machines with a Sandy Bridge do and a kind model spares its driver.
//!
//! Expected values are of real machines' logs, and of what the upstream driver reads and writes.

mod snb_rig;

use gpu_model::fault::{Fault, Kind};
use gpu_model::snb::lint::Rule;
use gpu_model::snb::{EngineId, SnbConfig};
use snb_rig::{Rig, BATCH};

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

/// GM45: DMA_FADD is eight lines ahead of the line that is executed. Ironlake: in a ring 284 bytes, which is in the
/// fifth line.
#[test]
fn the_streamer_reads_ahead() {
    let rig = Rig::new();
    // A batch that ends seven lines before a page that is not mapped.
    let last = BATCH + 0x1000 - 448;
    rig.put(last, &[0x0500_0000]);
    rig.gpu.gtt_write((BATCH >> 12) + 1, 0);
    rig.set(0x101008, 1);
    rig.run(EngineId::Rcs, &[0x1880_0000, last]);
    assert_eq!(rig.reg(0x4094) & 0xffff_f001, BATCH + 0x1000 | 1);
    // Eight lines before it there is nothing to see.
    rig.set(0x4094, 0);
    let early = BATCH + 0x1000 - 512;
    rig.put(early, &[0x0500_0000]);
    rig.run(EngineId::Rcs, &[0x1880_0000, early]);
    assert_eq!(rig.reg(0x4094), 0);
    // A batch that waits for itself shows where it reads: 0x50064 is in the line at 0x50040.
    rig.put(BATCH + 0x64, &[0x1880_0000, BATCH + 0x64]);
    rig.submit(EngineId::Rcs, &[0x1880_0000, BATCH + 0x64]);
    assert!(!rig.gpu.run_until_idle(3));
    assert_eq!(rig.reg(0x2074), 0x50064);
    assert_eq!(rig.reg(0x2078), 0x50240);
}

/// The ring's end does not turn the streamer back; at rest it reads where it will be given more
/// (TGLxe: FADDR is START + TAIL).
#[test]
fn the_streamer_reads_past_its_ring() {
    let rig = Rig::new();
    assert_eq!(rig.reg(0x22078), 0x30000);
    rig.run(EngineId::Bcs, &[0; 16]);
    assert_eq!(rig.reg(0x22078), 0x30040);
    // 0x31000 is the page after the blitter's ring.
    rig.gpu.gtt_write(0x31, 0);
    rig.set(0x101008, 1);
    rig.run(EngineId::Bcs, &[0; 0xec0 / 4]);
    assert_eq!(rig.reg(0x22030), 0xf00);
    assert_eq!(rig.reg(0x4294), 0, "320 bytes before the end");
    rig.run(EngineId::Bcs, &[0; 4]);
    assert_eq!(rig.reg(0x4294) & 0xffff_f001, 0x0003_1001);
}
