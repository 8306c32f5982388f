// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Snooped and unsnooped pages side by side in the GGTT of the modelled G45 and GM45. Types of pages are of 4.6.1 and
//! G-08: bits 2:1 of a PTE are 0 for main memory, unsnooped, and 3 for snooped. That a page is to be kept between them is
//! the upstream driver's (i915_ggtt_color_adjust in gt/intel_ggtt.c).

use crate::gen4_rig::*;
use gpu_model::counters::Counter;
use gpu_model::memory::VecMemory;
use gpu_model::model::{build, NoIrq, Options};
use gpu_model::ring::chip::{Chip, G965, GM45};
use gpu_model::ring::lint::Rule;
use gpu_model::ring::RingConfig;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// All of the rig's entries are unsnooped, and lead to a page each.
fn rig(chip: &'static Chip, habits: &str) -> Rig {
    Rig::with(RingConfig {
        real: habits.parse().expect("habits"),
        ..RingConfig::of(chip)
    })
}

/// Pairs that were found, after some work of the render engine.
fn pairs(rig: &Rig) -> u64 {
    rig.run(RCS, &[USER]);
    rig.gpu.counter(Counter::MixedNeighbours)
}

#[test]
fn pages_of_two_types_are_found_when_work_begins() {
    for chip in G4X {
        let rig = rig(chip, "reads_across");
        assert_eq!(pairs(&rig), 0, "{chip:?}");
        // One snooped page has two neighbours.
        rig.gpu.gtt_write(0x90, 0x9_0007);
        assert_eq!(rig.gpu.counter(Counter::MixedNeighbours), 0);
        assert_eq!(pairs(&rig), 2);
        assert_eq!(pairs(&rig), 2, "once");
        assert_eq!(rig.gpu.lint_count(Rule::MixedNeighbours), 2);
        // Behind it the next snooped page: one pair moves on.
        rig.gpu.gtt_write(0x91, 0x9_1007);
        assert_eq!(pairs(&rig), 3);
        // Entries that are not valid are no neighbours.
        rig.gpu.gtt_write(0x8f, 0);
        rig.gpu.gtt_write(0x92, 0x9_2000);
        assert_eq!(pairs(&rig), 3);
        rig.gpu.gtt_write(0x92, 0x9_2001);
        assert_eq!(pairs(&rig), 4, "a pair that comes back");
        // Work of the video engine counts as well.
        rig.gpu.gtt_write(0xa0, 0xa_0007);
        rig.run(VCS, &[USER]);
        assert_eq!(rig.gpu.counter(Counter::MixedNeighbours), 6);
    }
}

#[test]
fn a_scratch_page_may_be_beside_any() {
    let rig = Rig::bare(RingConfig {
        real: "reads_across".parse().expect("habits"),
        ..RingConfig::of(&GM45)
    });
    // Unused entries lead to one page, as a driver's do that fills them (1.5: a page behind each batch must be valid).
    for index in 0x400..0x4_0000 {
        rig.gpu.gtt_write(index, 0x3f_f001);
    }
    rig.gpu.gtt_write(0x500, 0x9_0007);
    rig.gpu.gtt_write(0x502, 0x9_1001);
    rig.gpu.gtt_write(0x503, 0x9_2001);
    rig.start_ring(RCS);
    assert_eq!(pairs(&rig), 0);
    rig.gpu.gtt_write(0x501, 0x9_3007);
    assert_eq!(pairs(&rig), 1);
    rig.gpu.gtt_write(0x501, 0x3f_f001);
    rig.gpu.gtt_write(0x504, 0x9_4007);
    assert_eq!(pairs(&rig), 2);
}

#[test]
fn without_the_habit_they_are_only_counted() {
    let rig = rig(&GM45, "");
    rig.gpu.gtt_write(0x90, 0x9_0007);
    assert_eq!(pairs(&rig), 2);
    rig.clean();
    // A 965 does not snoop (`has_snoop` of upstream's list of chips is false).
    let rig = self::rig(&G965, "reads_across");
    rig.gpu.gtt_write(0x90, 0x9_0007);
    assert_eq!(pairs(&rig), 0);
    rig.clean();
}

#[test]
fn entries_that_a_command_writes() {
    // MI_UPDATE_GTT (1.19): one entry from an address on.
    let rig = rig(&GM45, "reads_across");
    assert_eq!(pairs(&rig), 0);
    rig.run(RCS, &[0x1180_0001, 0x9_0000, 0x9_0007]);
    assert_eq!(pairs(&rig), 2);
}

#[test]
fn all_is_looked_at_when_a_ring_is_enabled() {
    let rig = rig(&GM45, "reads_across");
    assert_eq!(pairs(&rig), 0);
    // More entries than are kept one by one.
    for index in (0x1000..0x4000).step_by(2) {
        rig.gpu.gtt_write(index, 0x9_0001);
        rig.gpu.gtt_write(index + 1, 0x9_1007);
    }
    // 1800h snooped pages have an unsnooped neighbour in front, all but the last one behind.
    assert_eq!(pairs(&rig), 0x1800 * 2 - 1);
}

#[test]
fn entries_that_the_guest_writes_unseen() {
    // A server's table is memory that the guest maps: each piece of work looks at 512 entries in turn.
    let options = Options {
        real: "reads_across".to_owned(),
        gtt_kb: Some(128),
        ..Options::default()
    };
    let memory = Arc::new(VecMemory::new(1 << 20));
    let gpu = build("gm45", options, memory, Arc::new(NoIrq))
        .expect("a model")
        .expect("memory");
    let region = &gpu.regions()[0];
    let shared = region.shared.as_ref().expect("shared");
    let file = std::fs::File::from(shared.file.try_clone().expect("a file"));
    let put = |index: u64, pte: u32| {
        file.write_all_at(&pte.to_le_bytes(), shared.offset + 4 * index)
            .expect("written");
    };
    let set = |offset: u64, value: u32| gpu.bar_write(0, offset, &value.to_le_bytes());
    let lints = || {
        gpu.report()["lints"]["mixed-neighbours"]
            .as_u64()
            .unwrap_or(0)
    };
    // A ring of 128 KB; engines do not run here.
    set(0x203c, 0x1_f001);
    set(0x2030, 8);
    put(0x7ffe, 0x1001);
    put(0x7fff, 0x2007);
    // 32768 entries are 64 times 512.
    for n in 2..66 {
        assert_eq!(lints(), 0, "{n}");
        set(0x2030, 8 * n);
    }
    assert_eq!(lints(), 1);
}
