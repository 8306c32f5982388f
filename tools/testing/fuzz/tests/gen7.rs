// SPDX-License-Identifier: GPL-2.0
//! Random batches through the checker of Gen7 and its oracle, the same ones each time; and what copies do that
//! pass, on the model.

use ouro_fuzz::gen7::{attempt, copies::CopyMachine, Fate};

/// As many as take some seconds.
const BATCHES: u64 = 250_000;

/// Returns how many batches a test takes: `usual`, or `OURO_BATCHES`.
fn wanted(usual: u64) -> u64 {
    let said = std::env::var("OURO_BATCHES").ok();
    said.map_or(usual, |n| n.parse().expect("a number of batches"))
}

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
fn batches_are_judged_as_by_the_oracle() {
    let batches = wanted(BATCHES);
    let mut random = Random(2026);
    let mut fates = [0u64; 4];
    for _ in 0..batches {
        fates[attempt(&bytes(&mut random)) as usize] += 1;
    }
    let of = |fate: Fate| fates[fate as usize];
    println!("refused, original, doubted, copied: {fates:?}");
    // None of the four is rare.
    assert!(of(Fate::Copied) > batches / 5);
    assert!(of(Fate::Refused) > batches / 20);
    assert!(of(Fate::Original) > batches / 20);
    assert!(of(Fate::Doubted) > batches / 100);
}

/// As many as take some seconds.
const ON_THE_MODEL: u64 = 15_000;

#[test]
fn copies_write_nothing_but_what_the_tables_let_them() {
    let batches = wanted(ON_THE_MODEL);
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
