// SPDX-License-Identifier: GPL-2.0
//! A million batches through the checker of Gen7 and its oracle, the same ones each time; and what copies do that
//! pass, on the model.

use ouro_fuzz::gen7::{attempt, copies::CopyMachine, Fate};

const BATCHES: u64 = 1_000_000;

/// Numbers from a seed (xorshift*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// Bytes that stand for a batch.
fn bytes(random: &mut Random) -> Vec<u8> {
    let words = 4 + random.next() % 40;
    let words = (0..words).flat_map(|_| random.next().to_le_bytes());
    words.collect()
}

#[test]
fn a_million_batches_are_judged_as_by_the_oracle() {
    let mut random = Random(2026);
    let mut fates = [0u64; 4];
    for _ in 0..BATCHES {
        fates[attempt(&bytes(&mut random)) as usize] += 1;
    }
    let of = |fate: Fate| fates[fate as usize];
    println!("refused, original, doubted, copied: {fates:?}");
    // None of the four is rare.
    assert!(of(Fate::Copied) > BATCHES / 5);
    assert!(of(Fate::Refused) > BATCHES / 20);
    assert!(of(Fate::Original) > BATCHES / 20);
    assert!(of(Fate::Doubted) > BATCHES / 100);
}

/// As many as take some seconds; `OURO_BATCHES` says how many else.
const ON_THE_MODEL: u64 = 40_000;

#[test]
fn copies_write_nothing_but_what_the_tables_let_them() {
    let said = std::env::var("OURO_BATCHES").ok();
    let batches = said.map_or(ON_THE_MODEL, |n| n.parse().expect("a number of batches"));
    let mut random = Random(2027);
    let mut m = CopyMachine::default();
    for _ in 0..batches {
        m.attempt(&bytes(&mut random));
    }
    let tally = &m.tally;
    println!("{tally:x?}");
    let changed = m.changed();
    assert!(changed.is_empty(), "offset, before, after: {changed:x?}");
    let copied = tally.fates[Fate::Copied as usize];
    assert!(copied > batches / 3, "{copied}");
    assert!(tally.ran.iter().all(|n| *n > batches / 10), "{tally:x?}");
    // Each of the 67 registers that a batch may name (registers.txt) is written, and memory too.
    assert_eq!(tally.registers.len(), 67);
    assert!(tally.bytes > batches / 2);
    // Few of them stop at a command that the model does not have.
    let stuck: u64 = tally.stuck.values().sum();
    assert!(stuck < copied / 10, "{stuck}");
}
