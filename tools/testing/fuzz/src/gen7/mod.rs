// SPDX-License-Identifier: GPL-2.0
//! The checker of batches of Gen7, beside an oracle: tables of text that were read from upstream's parser and from
//! the documents, and not from the driver.
//!
//! 1. User space gets an error for a batch if it gets one from upstream, and for no other.
//! 2. What upstream does not run with privilege, the driver does not either.
//! 3. A copy that runs with privilege has no command, bit or register but those that may be there, as the chip
//!    reads it: the walk goes by the lengths that the chip is known to have, and not by upstream's.

pub mod copies;
mod table;

use crate::source::Source;
use ouro_hw::checker::{Checker, Placed, Verdict};
use ouro_hw::gen7::check;
use std::sync::OnceLock;
use table::{Engine, Registers, Table};

/// A batch's end.
const END: u32 = 0x0500_0000;
/// The register that says how blits are tiled, which no context keeps, and its bits that are known.
const BCS_SWCTRL: u32 = 0x2_2200;
const BCS_SWCTRL_BITS: u32 = 0x0003_0003;

/// All tables.
struct Oracle {
    upstream: Table,
    chip: Table,
    registers: Registers,
    /// Headers that are worth trying, for each engine.
    headers: [Vec<u32>; 3],
    offsets: Vec<u32>,
}

fn oracle() -> &'static Oracle {
    static ORACLE: OnceLock<Oracle> = OnceLock::new();
    ORACLE.get_or_init(|| {
        let upstream = Table::new(include_str!("upstream.txt"));
        let chip = Table::new(include_str!("chip.txt"));
        let registers = Registers::new(include_str!("registers.txt"));
        Oracle {
            headers: Engine::ALL
                .map(|engine| [upstream.headers(engine), chip.headers(engine)].concat()),
            offsets: registers.firsts(),
            upstream,
            chip,
            registers,
        }
    })
}

/// What upstream does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    /// The error that user space gets.
    Invalid,
    /// It runs without privilege.
    Unprivileged,
    /// It runs with privilege, so many dwords.
    Privileged(usize),
}

impl Oracle {
    fn outcome(&self, engine: Engine, batch: &[u32]) -> Outcome {
        let mut at = 0;
        while let Some(header) = batch.get(at) {
            if *header == END {
                return Outcome::Privileged(at + 1);
            }
            let Some(line) = self.upstream.line(engine, *header) else {
                return Outcome::Invalid;
            };
            let Some(command) = batch.get(at..at + line.dwords(*header)) else {
                return Outcome::Invalid;
            };
            if !line.is_good(command, &self.registers, engine) {
                return Outcome::Unprivileged;
            }
            at += command.len();
        }
        Outcome::Invalid
    }

    /// Goes through a copy that runs with privilege, as the chip does.
    fn audit(&self, engine: Engine, copy: &[u32]) {
        let mut at = 0;
        loop {
            let header = *copy.get(at).expect("it ends before its end");
            if header >> 23 == END >> 23 {
                assert_eq!(at + 1, copy.len(), "an end before the end: {copy:x?}");
                return;
            }
            let line = self.chip.line(engine, header);
            let line = line.unwrap_or_else(|| panic!("{header:x} on {engine:?}: {copy:x?}"));
            let command = copy.get(at..at + line.dwords(header));
            let command = command.unwrap_or_else(|| panic!("{header:x} reaches behind: {copy:x?}"));
            let good = line.is_good(command, &self.registers, engine);
            assert!(good, "{command:x?} on {engine:?}");
            if header >> 23 == 0x22 {
                self.audit_load(command);
            }
            at += command.len();
        }
    }

    /// A load of registers has pairs, and what no context keeps gets no bits but those that are known.
    fn audit_load(&self, command: &[u32]) {
        assert_eq!(command.len() % 2, 1, "{command:x?}");
        for pair in command[1..].chunks(2) {
            assert!(pair[0] != BCS_SWCTRL || pair[1] & !BCS_SWCTRL_BITS == 0);
        }
    }
}

/// What a batch became.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// An error.
    Refused,
    /// It runs without privilege, as upstream has it.
    Original,
    /// It runs without privilege; upstream runs it with.
    Doubted,
    /// A copy runs with privilege.
    Copied,
}

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    attempt(bytes);
}

/// Takes any bytes; says what the batch became that they stand for.
pub fn attempt(bytes: &[u8]) -> Fate {
    let mut s = Source::new(bytes);
    let engine = Engine::ALL[s.below(3) as usize];
    let batch = batch(&mut s, engine);
    judge(engine, &batch)
}

fn checker(engine: Engine) -> &'static dyn Checker {
    match engine {
        Engine::Render => &check::RENDER,
        Engine::Video => &check::VIDEO,
        Engine::Blitter => &check::BLITTER,
    }
}

fn judge(engine: Engine, batch: &[u32]) -> Fate {
    let checker = checker(engine);
    let outcome = oracle().outcome(engine, batch);
    let verdict = checker.check(batch, &Placed { goes_on: false }, &mut []);
    let say = || format!("{verdict:?}, upstream {outcome:?}, {engine:?}: {batch:x?}");
    let fate = match verdict {
        Verdict::Reject { at, .. } => {
            assert!(
                outcome == Outcome::Invalid && at <= batch.len(),
                "{}",
                say()
            );
            Fate::Refused
        }
        Verdict::Original { at, .. } => {
            assert!(outcome != Outcome::Invalid && at < batch.len(), "{}", say());
            match outcome {
                Outcome::Privileged(_) => Fate::Doubted,
                _ => Fate::Original,
            }
        }
        Verdict::Passes {
            dwords: len,
            patches: 0,
        } => {
            assert_eq!(outcome, Outcome::Privileged(len), "{}", say());
            oracle().audit(engine, &batch[..len]);
            Fate::Copied
        }
        Verdict::Passes { .. } => panic!("it patches nothing: {}", say()),
    };
    part(checker, batch, verdict);
    fate
}

/// A batch that was cut off is judged by what is there: it is never an error that its end is not.
fn part(checker: &dyn Checker, batch: &[u32], whole: Verdict) {
    let cut = checker.check(batch, &Placed { goes_on: true }, &mut []);
    match (whole, cut) {
        (Verdict::Reject { at, .. }, Verdict::Original { at: cut, .. }) => assert_eq!(at, cut),
        _ => assert_eq!(whole, cut),
    }
}

/// A batch.
fn batch(s: &mut Source<'_>, engine: Engine) -> Vec<u32> {
    let mut batch = Vec::new();
    let pieces = s.below(12);
    for _ in 0..pieces {
        let before = batch.len();
        piece(s, engine, &mut batch);
        // What is not good ends a batch for the check: it is left out, most of the time.
        let whole = [&batch[..], &[END]].concat();
        let good = matches!(oracle().outcome(engine, &whole), Outcome::Privileged(_));
        if !good && s.u8() > 60 {
            batch.truncate(before);
        }
    }
    if s.u8() > 10 {
        batch.push(END);
    }
    if s.u8() < 10 {
        batch.truncate(s.below(batch.len() as u64 + 1) as usize);
    }
    batch
}

/// A command, or what looks like one.
fn piece(s: &mut Source<'_>, engine: Engine, batch: &mut Vec<u32>) {
    let headers = &oracle().headers[engine as usize];
    let mut header = headers[s.below(headers.len() as u64) as usize];
    match s.u8() % 8 {
        0 => header = s.u32(),
        1 => header |= s.u32() & 0x007f_ffff,
        2 => header ^= 1 << s.below(32),
        3 => {}
        _ => header |= s.below(8) as u32,
    }
    batch.push(header);
    let line = oracle().upstream.line(engine, header);
    let dwords = line.map_or(2, |line| line.dwords(header)).min(300);
    let dwords = match s.u8() {
        0..20 => s.below(6) as usize + 1,
        _ => dwords,
    };
    for n in 1..dwords {
        let dword = match s.u8() % 8 {
            0 => s.odd() as u32,
            1 => headers[s.below(headers.len() as u64) as usize],
            2 => END,
            _ if n % 2 == 1 => offset(s),
            3 => s.u32(),
            _ => 0,
        };
        batch.push(dword);
    }
}

/// The offset of a register, or one near it.
fn offset(s: &mut Source<'_>) -> u32 {
    let offsets = &oracle().offsets;
    let offset = offsets[s.below(offsets.len() as u64) as usize];
    match s.u8() % 8 {
        0 => offset.wrapping_add(s.below(64) as u32),
        1 => offset.wrapping_sub(4),
        2 => 0x2038,
        3 => 0,
        _ => offset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each header's first 16 bits, with lengths and flags that may matter, and dwords behind it.
    #[test]
    fn every_header_is_judged_as_by_the_oracle() {
        let bits: Vec<u32> = (0..16).map(|bit| 1 << bit).collect();
        let lows = [0, 1, 2, 3, 4, 0xff, 0x101, 0xffff].into_iter().chain(bits);
        let lows: Vec<u32> = lows.collect();
        let mut fates = [0u32; 4];
        for engine in Engine::ALL {
            for high in 0..1u32 << 16 {
                for low in &lows {
                    let batch = [high << 16 | low, 0, 0, 0, 0, 0, END];
                    fates[judge(engine, &batch) as usize] += 1;
                }
            }
        }
        println!("refused, original, doubted, copied: {fates:?}");
        assert!(fates.iter().all(|n| *n > 10_000), "{fates:?}");
    }

    /// Flags of dword 1, one and two at a time, in commands with demands on them.
    #[test]
    fn every_pair_of_flags_is_judged_as_by_the_oracle() {
        for engine in Engine::ALL {
            for header in &oracle().headers[engine as usize] {
                for (a, b) in (0..33).flat_map(|a| (0..33).map(move |b| (a, b))) {
                    let flag = |n: u32| 1u32.checked_shl(n).unwrap_or(0);
                    let flags = flag(a) | flag(b);
                    judge(engine, &[*header | 3, flags, 0, 0, 0, END]);
                    judge(engine, &[*header | 1, 0, flags, END, 0, END]);
                    judge(engine, &[*header | 3 | flag(a), flag(b), 0, 0, 0, END]);
                }
            }
        }
    }
}
