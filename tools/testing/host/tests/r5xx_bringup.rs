// SPDX-License-Identifier: GPL-2.0
//! R5xx: the backend against the modelled cards, from power-on to the first request.

use gpu_model::{
    counters::Counter,
    fault::{Fault, Kind},
    r5xx::{Chip, R5xxConfig},
};
use ouro_cross::{card::Job, Card};
use ouro_hw::{generation::BringUpError, types::Seqno};

const CHIPS: [&str; 3] = ["rv515", "r520", "r580"];

const NOTHING: Job<'static> = Job {
    client: 0,
    batch: None,
    inline: &[],
};

fn config(name: &str) -> R5xxConfig {
    R5xxConfig::new(Chip::named(name).unwrap())
}

#[test]
fn every_family_comes_up_and_answers() {
    for name in CHIPS {
        let mut card = Card::new(name);
        card.work(&NOTHING);
        assert_eq!(card.done(), Seqno(1), "{name}");
        card.assert_lawful();
    }
}

#[test]
fn it_is_what_the_model_says() {
    // The model's default: 16 MiB, all of them in sight. The first 516 KiB are the table and the page of
    // zeros.
    for name in CHIPS {
        let card = Card::new(name);
        let local = card.topo.local.unwrap();
        let usable = (16 << 20) - (512 << 10) - 4096;
        assert_eq!((local.size, local.cpu_visible), (usable, usable), "{name}");
        assert_eq!(card.topo.gtt_entries, 128 * 1024);
        assert_eq!(card.chip.generation.name(), "r5xx");
    }
}

#[test]
fn a_part_of_the_memory_may_be_out_of_sight() {
    let mut small = config("rv515");
    small.vram = 32 << 20;
    small.aperture = 16 << 20;
    let card = Card::with(small);
    let local = card.topo.local.unwrap();
    assert_eq!(local.size - local.cpu_visible, 16 << 20);
    card.assert_lawful();
}

#[test]
fn one_posted_write_starts_a_request_and_no_register_is_read() {
    let mut card = Card::new("rv515");
    card.work(&NOTHING);
    let count = |card: &Card| {
        [Counter::RegReads, Counter::RegWrites, Counter::WptrWrites].map(|c| card.gpu.counter(c))
    };
    let before = count(&card);
    for _ in 0..5 {
        card.work(&NOTHING);
    }
    let after = count(&card);
    assert_eq!(after[0] - before[0], 0, "reads");
    assert_eq!((after[1] - before[1], after[2] - before[2]), (5, 5));
}

#[test]
fn the_ring_goes_round() {
    let mut card = Card::new("rv515");
    // 256 KiB; each request is 32 dwords at least.
    for _ in 0..3000 {
        card.work(&NOTHING);
    }
    assert_eq!(card.done(), Seqno(3000));
    card.assert_lawful();
}

#[test]
fn bring_up_again_and_again() {
    let mut card = Card::new("r520");
    for n in 1..=3 {
        card.start().unwrap();
        card.work(&NOTHING);
        assert_eq!(card.done(), Seqno(n));
    }
    card.assert_lawful();
}

#[test]
fn a_card_that_is_gone_is_found_out() {
    let mut card = Card::new("rv515");
    card.gpu.remove();
    assert_eq!(card.start(), Err(BringUpError::Gone));
    assert_eq!(card.reset(), Err(BringUpError::Gone));
    card.submit(&NOTHING);
    card.run();
    assert_eq!(card.done(), Seqno(0));
    assert!(!card.interrupt().ours);
}

#[test]
fn a_hang_is_cured_by_a_reset() {
    for name in CHIPS {
        let mut card = Card::new(name);
        card.work(&NOTHING);
        card.gpu.inject(Fault::once(Kind::Hang).on("cp"));
        card.submit(&NOTHING);
        card.run();
        assert_eq!(card.done(), Seqno(1), "{name}");
        let activity = card.engine().activity(&card.windows.hw());
        assert!(!activity.idle && activity.head != activity.tail, "{name}");
        card.reset().unwrap();
        card.work(&NOTHING);
        assert_eq!(card.done(), Seqno(3), "{name}");
        card.assert_lawful();
    }
}
