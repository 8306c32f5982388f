// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What real machines with a Sandy Bridge do and a kind model spares its driver: what firmware left, what
//! comes late, what the streamer reads ahead.
//!
//! Expected values are of real machines' error records, and of what the upstream driver reads and writes.

use crate::snb_rig::{Rig, BATCH, TARGET};
use gpu_model::fault::{Fault, Kind};
use gpu_model::model::GpuModel;
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{EngineId, Real, RingConfig};

/// Nanoseconds of a frame and a bit.
const FRAME: u64 = 17_000_000;

fn config(habits: &str) -> RingConfig {
    RingConfig {
        real: habits.parse().expect("habits"),
        ..RingConfig::default()
    }
}

/// A device with these habits, as firmware has left it: asleep, nothing written.
fn found(habits: &str) -> Rig {
    Rig::found(config(habits))
}

impl Rig {
    fn count(&self, rule: Rule) -> u64 {
        self.gpu.lint_count(rule)
    }

    /// So much later.
    fn later(&self, ns: u64) {
        let clock = self.gpu.clock();
        clock.advance_to(clock.now() + ns);
    }

    fn wake(&self) {
        self.set(0xa18c, 0x0001_0001);
    }

    fn command(&self, value: u16) {
        self.gpu.config_write_at(0x04, &value.to_le_bytes());
    }

    fn config_dword(&self, at: usize) -> u32 {
        let mut b = [0; 4];
        self.gpu.config_read_at(at, &mut b);
        u32::from_le_bytes(b)
    }
}

#[test]
fn habits_have_names() {
    let some: Real = "lit,bits".parse().expect("names");
    assert!(some.lit && some.bits && !some.running && !some.rc6 && !some.pending);
    assert_eq!(some.to_string(), "lit,bits");
    assert_eq!("all".parse(), Ok(Real::all()));
    assert_eq!("".parse(), Ok(Real::default()));
    assert!("light".parse::<Real>().is_err());
    assert_eq!(
        Real::all().to_string(),
        "lit,running,bits,rc6,pending,late_wake,late_ack,late_threads,full_fifo,late_flush,late_reset,start_in_head,\
         lost_base,old_context,reads_across"
    );
}

/// A kind machine has none of it: registers read zero, nothing is stolen.
#[test]
fn a_kind_machine_is_dark() {
    let rig = found("");
    for offset in [0x70008, 0x70180, 0x7019c, 0x6001c, 0x44008, 0x44028] {
        assert_eq!(rig.reg(offset), 0, "{offset:#x}");
    }
    assert_eq!(rig.config_dword(0x50) & 0xffff, 0x0200);
    assert_eq!(rig.config_dword(0x5c), 0);
    assert_eq!(rig.gpu.gtt_read(0), 0);
    rig.clean();
}

/// PIPEACONF, PIPEASRC, DSPACNTR, stride and surface as firmware leaves them; entries of 1024 x 768 x 4 bytes
/// lead to stolen memory, of which the configuration space tells (GMS in 7:3, in units of 32 MB).
#[test]
fn firmware_has_left_a_picture() {
    let rig = found("lit");
    assert_eq!(rig.reg(0x70008), 0xc000_0000);
    assert_eq!(rig.reg(0x6001c), 0x03ff_02ff);
    assert_eq!(rig.reg(0x70180), 0xd800_0000);
    assert_eq!((rig.reg(0x70188), rig.reg(0x7019c)), (4096, 0));
    assert_eq!(rig.config_dword(0x50) & 0xffff, 0x0208);
    assert_eq!(rig.config_dword(0x5c), 0xbda0_0000);
    assert_eq!(rig.gpu.gtt_read(0), 0xbda0_0003);
    assert_eq!(rig.gpu.gtt_read(767), 0xbdcf_f003);
    assert_eq!(rig.gpu.gtt_read(768), 0);
    // Stolen memory is no memory of the guest's.
    rig.gpu.aperture_write(0x1000, &[0xff; 4]);
    let mut b = [1; 4];
    rig.gpu.aperture_read(0x1000, &mut b);
    assert_eq!(b, [0; 4]);
    rig.later(10 * FRAME);
    assert!(rig.reg(0x70040) >= 10, "frames go by");
    rig.command(0x0002);
    rig.clean();
    assert!(!rig.gpu.strict_failure());
}

/// A driver that keeps the entries, or writes them unchanged, keeps the picture.
#[test]
fn what_is_scanned_out_must_stay() {
    let rig = found("lit");
    for page in 768..1024 {
        rig.gpu.gtt_write(page, 0x0001_0005);
    }
    rig.gpu.gtt_write(5, 0xbda0_5003);
    rig.later(FRAME);
    rig.reg(0x70008);
    rig.clean();
    rig.gpu.gtt_write(5, 0x0001_0005);
    rig.reg(0x70008);
    rig.later(10 * FRAME);
    rig.reg(0x70008);
    assert_eq!(rig.count(Rule::ScanoutLost), 1, "once");
    // The new page answers, and no page is gone.
    assert_eq!(rig.count(Rule::ScanoutFreed), 0);
    rig.command(0x0006);
    assert_eq!(rig.count(Rule::ScanoutFreed), 0);
    rig.command(0x0002);
    assert_eq!(rig.count(Rule::ScanoutFreed), 1, "no DMA any more");
}

/// No register is read after the entries are overwritten: the end finds it.
#[test]
fn the_end_finds_what_is_lost() {
    let rig = found("lit");
    rig.gpu.gtt_write(0, 0x0001_0005);
    assert!(!rig.gpu.report().is_null());
    assert_eq!(rig.count(Rule::ScanoutLost), 1);
    assert_eq!(rig.count(Rule::ScanoutFreed), 1);
    let rig = found("lit");
    rig.gpu.gtt_write(0, 0x0001_0005);
    rig.gpu.reset();
    assert_eq!(rig.count(Rule::ScanoutFreed), 1);
    // Memory that is not there (the rig has 4 MB) is noticed at the next frame.
    let rig = found("lit");
    rig.gpu.gtt_write(0, 0x1000_0005);
    rig.later(FRAME);
    rig.reg(0x70008);
    assert_eq!(rig.count(Rule::ScanoutFreed), 1);
}

/// Cursor, plane (control, then surface), vertical blank, pipe: no plane fetches any more.
#[test]
fn a_driver_may_turn_it_off() {
    let rig = found("lit");
    rig.set(0x70080, 0);
    rig.set(0x70084, 0);
    rig.set(0x70180, 0x5800_0000);
    rig.set(0x7019c, 0);
    rig.later(FRAME);
    rig.set(0x70008, 0);
    assert_eq!(rig.reg(0x70008), 0x4000_0000, "until the vertical blank");
    rig.later(FRAME);
    assert_eq!(rig.reg(0x70008), 0);
    let line = rig.reg(0x70000);
    rig.later(1_000_000);
    assert_eq!(rig.reg(0x70000), line, "it stands");
    for page in 0..1024 {
        rig.gpu.gtt_write(page, 0x0001_0005);
    }
    rig.later(FRAME);
    rig.reg(0x70008);
    rig.gpu.reset();
    rig.clean();
    assert_eq!(rig.reg(0x70008), 0, "it stays dark");
}

/// Without the surface's address the plane goes on, and without a vertical blank too.
#[test]
fn turning_off_takes_a_blank() {
    let rig = found("lit");
    rig.set(0x70180, 0x5800_0000);
    rig.later(2 * FRAME);
    rig.gpu.gtt_write(0, 0x0001_0005);
    rig.reg(0x70008);
    assert_eq!(rig.count(Rule::ScanoutLost), 1, "not armed");
    let rig = found("lit");
    rig.set(0x70180, 0x5800_0000);
    rig.set(0x7019c, 0);
    rig.gpu.gtt_write(0, 0x0001_0005);
    rig.reg(0x70008);
    assert_eq!(rig.count(Rule::ScanoutLost), 1, "not yet");
}

/// A function-level reset leaves nothing on, and no entries change under the driver.
#[test]
fn a_reset_of_the_function_leaves_nothing() {
    let rig = found("all");
    rig.gpu.config_write_at(0xa8, &[1]);
    for offset in [0x70008, 0x70180, 0x44008, 0x44028, 0x4400c] {
        assert_eq!(rig.reg(offset), 0, "{offset:#x}");
    }
    rig.wake();
    rig.later(20_000_000);
    assert_eq!(
        (rig.reg(0x203c), rig.reg(0x9400), rig.reg(0xa090)),
        (0, 0, 0)
    );
    rig.clean();
}

/// SNB387: CTL 0x0001f001, START 0x0012d000, HEAD 0x062058cc, TAIL 0x5bf0.
#[test]
fn a_ring_runs_that_nobody_started() {
    let rig = found("running");
    rig.wake();
    assert_eq!(
        (rig.reg(0x203c), rig.reg(0x2038)),
        (0x0001_f001, 0x0012_d000)
    );
    assert_eq!((rig.reg(0x2034), rig.reg(0x2030)), (0x0620_58cc, 0x5bf0));
    assert!(rig.gpu.run_until_idle(10_000));
    assert_eq!(rig.reg(0x2034), 0x0620_58cc, "no DMA, no commands");
    rig.clean();
    rig.command(0x0006);
    assert_eq!(rig.count(Rule::DmaBeforeReset), 1);
    assert!(rig.gpu.run_until_idle(10_000));
    assert_eq!(rig.reg(0x2034), 0x0620_5bf0, "it ran");
}

#[test]
fn a_reset_before_dma_stops_it() {
    let rig = found("running");
    rig.set(0x941c, 1);
    rig.command(0x0006);
    rig.wake();
    assert_eq!(rig.reg(0x203c), 0);
    rig.clean();
    // Switching the ring off does as well, full as it is.
    let rig = found("running");
    rig.wake();
    rig.set(0x203c, 0);
    rig.command(0x0006);
    rig.clean();
    // A machine that has slept has no ring running.
    rig.gpu.reset();
    rig.wake();
    assert_eq!(rig.reg(0x203c), 0);
}

/// UCGCTL1: upstream ORs bits 7 and 5. GAB_CTL: bit 8. They are there again after a reset.
#[test]
fn firmware_bits_must_survive() {
    let rig = found("bits");
    rig.wake();
    assert_eq!(rig.reg(0x9400), 0x0001_0000);
    rig.set(0x9400, 0x0001_00a0);
    rig.set(0x24000, 0x0000_0110);
    rig.set(0x14090, 0x0000_2310);
    rig.set(0x4090, 0x0000_041a);
    rig.set(0x101000, 0x0000_0009);
    // Upstream writes this one without a look.
    rig.set(0x9404, 0x0000_1800);
    rig.clean();
    rig.set(0x9400, 0x0000_00a0);
    assert_eq!(rig.count(Rule::BitsLost), 1);
    rig.set(0x9400, 0x0000_00a0);
    assert_eq!(rig.count(Rule::BitsLost), 1, "gone is gone");
    rig.set(0x941c, 1);
    assert_eq!(
        (rig.reg(0x24000), rig.reg(0x4090)),
        (0x0000_0010, 0x0000_0002)
    );
    rig.set(0x24000, 0x0000_0100);
    assert_eq!(rig.count(Rule::BitsLost), 2);
    rig.set(0x42000, 0x0060_0000);
    assert_eq!(rig.count(Rule::BitsLost), 3);
}

/// Brings up the render ring and gives it a MI_NOOP pair.
fn work(rig: &Rig) {
    for page in 1..1024 {
        rig.gpu.gtt_write(page, page << 12 | 5);
    }
    rig.set(0x101008, 1);
    rig.reg(0x101008);
    rig.start_ring(EngineId::Rcs);
    rig.run(EngineId::Rcs, &[0, 0]);
}

#[test]
fn standby_is_switched_off_before_work() {
    let rig = found("rc6");
    rig.wake();
    assert_eq!((rig.reg(0xa090), rig.reg(0xa168)), (0x8804_0000, 0));
    rig.set(0xa18c, 0x0001_0000);
    rig.wake();
    work(&rig);
    rig.clean();
    rig.set(0xa18c, 0x0001_0000);
    assert_eq!(rig.count(Rule::StandbyLeft), 1);
    // Upstream writes 0, and what it wants when it knows what it wants.
    let rig = found("rc6");
    rig.wake();
    rig.set(0xa090, 0);
    work(&rig);
    rig.set(0xa090, 0x8804_0000);
    rig.set(0xa18c, 0x0001_0000);
    rig.clean();
}

/// A driver that clears the GT's block alone is interrupted without end; upstream masks and clears all three.
#[test]
fn interrupts_of_others_are_pending() {
    let rig = found("pending");
    assert_eq!(rig.messages(), 0, "none was asked for");
    assert_eq!((rig.reg(0x44008), rig.reg(0x44028)), (0x0020_0080, 0x70));
    let handler = |rig: &Rig| {
        rig.set(0x4400c, 0);
        let gt = rig.reg(0x44018);
        rig.set(0x44018, gt);
        rig.set(0x4400c, 0x8000_0000);
    };
    for _ in 0..50 {
        handler(&rig);
    }
    assert_eq!(rig.messages(), 50, "power management's");
    rig.clean();
    for _ in 0..60 {
        handler(&rig);
    }
    assert_eq!(rig.count(Rule::IrqStorm), 1);
    // Masks do not help; what is pending is.
    let rig = found("pending");
    for base in [0x44000, 0x44010, 0x44020] {
        rig.set(base + 4, 0xffff_ffff);
        rig.set(base + 12, 0);
        rig.set(base + 8, 0xffff_ffff);
    }
    for _ in 0..200 {
        handler(&rig);
    }
    assert_eq!(rig.messages(), 0);
    rig.clean();
}

/// Upstream's order: wait until the old acknowledge is gone, ask, wait for the new one.
#[test]
fn an_acknowledge_outlives_its_release() {
    let rig = found("late_wake");
    rig.wake();
    assert_eq!(rig.reg(0x130090), 1);
    rig.reg(0x2030);
    rig.set(0xa18c, 0x0001_0000);
    assert_eq!(rig.reg(0x130090), 1, "stale");
    rig.later(20_000);
    assert_eq!(rig.reg(0x130090), 0);
    rig.wake();
    assert_eq!(rig.reg(0x130090), 1);
    rig.reg(0x2030);
    rig.clean();
    // The hasty one.
    rig.set(0xa18c, 0x0001_0000);
    rig.wake();
    assert_eq!((rig.reg(0x130090), rig.reg(0x13805c)), (1, 0), "stale");
    rig.reg(0x2030);
    assert_eq!(rig.count(Rule::AsleepRead), 1);
    rig.later(20_000);
    assert_eq!(rig.reg(0x130090), 0, "asleep");
    rig.later(20_000);
    assert_eq!(rig.reg(0x130090), 1, "it was asked for");
    rig.reg(0x2030);
    assert_eq!(rig.count(Rule::AsleepRead), 1);
}

/// Engines and aperture use old entries until a register is read after GFX_FLSH_CNTL.
#[test]
fn a_flush_takes_a_read() {
    let rig = found("late_flush");
    rig.wake();
    work(&rig);
    let look = |rig: &Rig| {
        let mut b = [0; 4];
        rig.gpu.aperture_read(TARGET, &mut b);
        u32::from_le_bytes(b)
    };
    rig.put(TARGET, &[1]);
    rig.put(TARGET + 0x1000, &[2]);
    assert_eq!(look(&rig), 1);
    rig.gpu.gtt_write(TARGET >> 12, (TARGET + 0x1000) | 5);
    rig.reg(0x101008);
    assert_eq!(look(&rig), 1, "no flush");
    rig.gpu.mmio_write32(0x101008, 1);
    assert_eq!(look(&rig), 1, "posted");
    rig.reg(0x101008);
    assert_eq!(look(&rig), 2);
    // An engine that has the old page.
    let store = |value| [0x1040_0002, 0, TARGET, value];
    rig.run(EngineId::Rcs, &store(7));
    assert_eq!(rig.at(TARGET + 0x1000), 7);
    rig.gpu.gtt_write(TARGET >> 12, TARGET | 5);
    rig.gpu.mmio_write32(0x101008, 1);
    assert!(rig.gpu.cached_translations(EngineId::Rcs) > 0);
    rig.reg(0x120008);
    assert_eq!(rig.gpu.cached_translations(EngineId::Rcs), 0);
    rig.run(EngineId::Rcs, &store(8));
    assert_eq!((rig.at(TARGET), rig.at(TARGET + 0x1000)), (8, 7));
}

#[test]
fn a_reset_takes_a_few_reads() {
    let rig = found("late_reset");
    rig.wake();
    work(&rig);
    rig.submit(EngineId::Rcs, &[0x1040_0002, 0, TARGET, 7]);
    rig.gpu.mmio_write32(0x941c, 1);
    assert!(rig.gpu.run_until_idle(100));
    assert_eq!(rig.at(TARGET), 0, "it is being reset");
    assert_eq!([(); 4].map(|()| rig.reg(0x941c)), [1, 1, 1, 0]);
    assert_eq!(rig.reg(0x203c), 0);
    // Who only waits has it too.
    work(&rig);
    rig.gpu.mmio_write32(0x941c, 2);
    rig.later(50_000);
    assert_eq!(rig.reg(0x203c), 0);
    assert_eq!(rig.reg(0x941c), 0);
    rig.clean();
}

/// Upstream has seen rings without work that do not report idle (`intel_engine_stop_cs`).
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
    let rig = Rig::bare(RingConfig::default());
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
    let rig = Rig::with(RingConfig {
        vtd: true,
        ..RingConfig::default()
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
    assert_eq!(rig.reg(0x4094) & 0xffff_f001, (BATCH + 0x1000) | 1);
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
