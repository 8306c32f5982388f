// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Chaos: faults of all kinds at random, from a seed.
//!
//! What happens at the n-th opportunity of a kind on an engine depends on the seed and on n alone,
//! so that threads that run at another pace do not change it.
//!
//! *Gentle* chaos is what a chip may do on a bad day: everything is late or told twice, interrupts
//! are lost, registers that only inform hold garbage. What says that work is done stays true: the
//! status page, the ring's head, the idle bit, the reset's and the mailbox's busy bits. All work
//! must come out right. *Hard* chaos breaks things: engines hang, accesses fault, resets fail,
//! the head is garbage, errors show that are none. Work may be lost, but must be said to be lost.

use crate::fault::{Kind, KINDS};
use std::collections::HashMap;
use std::str::FromStr;

/// How often a kind strikes (once in so many opportunities, on average), the largest value it
/// has, and whether only hard chaos has it.
struct Row(Kind, u64, u64, bool);

/// Times are microseconds. They stay below what the upstream driver waits: 50 ms for forcewake,
/// 2 ms for a reset (digest G-15, G-24).
const TABLE: &[Row] = &[
    Row(Kind::Delay, 4, 2000, false),
    Row(Kind::Pause, 512, 300, false),
    Row(Kind::LoseIrq, 8, 0, false),
    Row(Kind::LateIrq, 8, 3000, false),
    Row(Kind::DupIrq, 8, 0, false),
    Row(Kind::LoseMsg, 32, 0, false),
    Row(Kind::SpuriousIrq, 256, 0, false),
    Row(Kind::GarbageStatus, 4, 0, false),
    Row(Kind::ForgetTlb, 256, 0, false),
    Row(Kind::SlowWake, 4, 2000, false),
    Row(Kind::SlowPcode, 2, 500, false),
    Row(Kind::BusyFifo, 8, 63, false),
    Row(Kind::LateReset, 2, 1500, false),
    Row(Kind::Hang, 20_000, 0, true),
    Row(Kind::PageFault, 50_000, 0, true),
    Row(Kind::StuckReset, 8, 0, true),
    Row(Kind::GarbageRead, 16, 0, true),
    Row(Kind::SpuriousError, 20_000, 0, true),
];

/// A source of faults.
#[derive(Clone, Debug)]
pub struct Chaos {
    seed: u64,
    hard: bool,
    opportunities: HashMap<(Kind, u64), u64>,
    done: HashMap<Kind, u64>,
}

/// A chaos specification that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("chaos {0:?}: expected SEED or SEED:hard")]
pub struct ParseChaosError(String);

impl FromStr for Chaos {
    type Err = ParseChaosError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let (seed, hard) = match s.split_once(':') {
            Some((seed, "hard")) => (seed, true),
            Some(_) => return Err(ParseChaosError(s.to_owned())),
            None => (s, false),
        };
        let seed = seed.parse().map_err(|_| ParseChaosError(s.to_owned()))?;
        Ok(Chaos::new(seed, hard))
    }
}

/// Spreads a number over all bits (the finalizer of splitmix64).
fn mix(mut v: u64) -> u64 {
    v = v.wrapping_add(0x9e37_79b9_7f4a_7c15);
    v = (v ^ (v >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    v = (v ^ (v >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    v ^ (v >> 31)
}

impl Chaos {
    /// With a seed; hard or gentle.
    pub fn new(seed: u64, hard: bool) -> Self {
        Chaos {
            seed,
            hard,
            opportunities: HashMap::new(),
            done: HashMap::new(),
        }
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// True for the hard kind.
    pub fn is_hard(&self) -> bool {
        self.hard
    }

    /// An opportunity for `kind` on `engine` ("" for none): the fault's value if it takes effect.
    pub fn take(&mut self, kind: Kind, engine: &str) -> Option<u64> {
        let Row(_, one_in, most, _) = TABLE
            .iter()
            .find(|row| row.0 == kind && (self.hard || !row.3))?;
        let who = engine
            .bytes()
            .fold(0u64, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
        let n = self.opportunities.entry((kind, who)).or_insert(0);
        *n += 1;
        let place = KINDS.iter().position(|k| k.0 == kind)? as u64;
        let dice = mix(mix(mix(self.seed).wrapping_add(place << 32 | who)).wrapping_add(*n));
        if !dice.is_multiple_of(*one_in) {
            return None;
        }
        *self.done.entry(kind).or_insert(0) += 1;
        Some((dice >> 20) % (most + 1))
    }

    /// Returns how often each kind struck, by name.
    pub fn done(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let count = |kind| self.done.get(&kind).copied();
        KINDS
            .iter()
            .filter_map(move |(kind, name)| count(*kind).map(|n| (*name, n)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of the first `n` opportunities strike.
    fn strikes(mut c: Chaos, kind: Kind, engine: &str, n: usize) -> Vec<Option<u64>> {
        (0..n).map(|_| c.take(kind, engine)).collect()
    }

    #[test]
    fn a_seed_decides() {
        let run = |seed| strikes(Chaos::new(seed, false), Kind::LoseIrq, "rcs", 200);
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        let struck = run(1).iter().flatten().count();
        assert!((5..=60).contains(&struck), "one in eight: {struck} of 200");
    }

    #[test]
    fn engines_and_kinds_do_not_disturb_each_other() {
        let mut mixed = Chaos::new(7, false);
        let mut seen = Vec::new();
        for _ in 0..100 {
            seen.push(mixed.take(Kind::LoseIrq, "rcs"));
            mixed.take(Kind::LoseIrq, "bcs");
            mixed.take(Kind::Delay, "rcs");
        }
        let alone = strikes(Chaos::new(7, false), Kind::LoseIrq, "rcs", 100);
        assert_eq!(seen, alone);
        let other = strikes(Chaos::new(7, false), Kind::LoseIrq, "bcs", 100);
        assert_ne!(seen, other);
    }

    #[test]
    fn gentle_chaos_loses_nothing() {
        for kind in [
            Kind::Hang,
            Kind::PageFault,
            Kind::StuckReset,
            Kind::Remove,
            Kind::Garbage,
            Kind::GarbageRead,
            Kind::SpuriousError,
            Kind::StuckForcewake,
            Kind::StuckPcode,
        ] {
            let all = strikes(Chaos::new(3, false), kind, "rcs", 200_000);
            assert_eq!(all.iter().flatten().count(), 0, "{kind:?}");
        }
        let hard = strikes(Chaos::new(3, true), Kind::Hang, "rcs", 200_000);
        assert_ne!(hard.iter().flatten().count(), 0);
    }

    #[test]
    fn times_are_bounded() {
        let late = strikes(Chaos::new(5, false), Kind::LateReset, "", 2000);
        let most = late.iter().flatten().max().copied();
        assert!(most.is_some_and(|m| (1000..=1500).contains(&m)), "{most:?}");
    }

    #[test]
    fn specifications() {
        let c: Chaos = "17".parse().expect("a seed");
        assert_eq!((c.seed(), c.is_hard()), (17, false));
        let c: Chaos = "17:hard".parse().expect("a seed");
        assert_eq!((c.seed(), c.is_hard()), (17, true));
        for bad in ["", "x", "1:", "1:soft", ":hard", "-1"] {
            assert!(bad.parse::<Chaos>().is_err(), "{bad}");
        }
    }
}
