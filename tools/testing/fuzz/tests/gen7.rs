// SPDX-License-Identifier: GPL-2.0
//! A million batches through the checker of Gen7 and its oracle, the same ones each time.

use ouro_fuzz::gen7::{attempt, Fate};

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

#[test]
fn a_million_batches_are_judged_as_by_the_oracle() {
    let mut random = Random(2026);
    let mut fates = [0u64; 4];
    let mut bytes = Vec::new();
    for _ in 0..BATCHES {
        let words = 4 + random.next() % 40;
        bytes.clear();
        bytes.extend((0..words).flat_map(|_| random.next().to_le_bytes()));
        fates[attempt(&bytes) as usize] += 1;
    }
    let of = |fate: Fate| fates[fate as usize];
    println!("refused, original, doubted, copied: {fates:?}");
    // None of the four is rare.
    assert!(of(Fate::Copied) > BATCHES / 5);
    assert!(of(Fate::Refused) > BATCHES / 20);
    assert!(of(Fate::Original) > BATCHES / 20);
    assert!(of(Fate::Doubted) > BATCHES / 100);
}
