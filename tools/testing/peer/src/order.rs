// SPDX-License-Identifier: GPL-2.0
//! The order of first writes. A line of the file is `FIRST < SECOND REASON...`: FIRST is written, for the
//! first time, before SECOND is. Each is a register (`941c`), a bit of it that is set (`203c.0`), a name of an event
//! (`bus-master`, `work`), `engine+OFFSET` on both sides for each engine in turn, or `below:OFFSET`, the first of
//! all writes below an offset but to FIRST itself.
//!
//! A rule that the upstream driver does not keep on this model begins with `ours:`; it must not keep it then.

use crate::list::{List, RegisterKey};
use anyhow::{bail, ensure, Context, Result};

/// What may come first, or second.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    Register(u32),
    Bit(u32, u32),
    Event(String),
    Below(u32),
}

/// One rule, for one engine if it is about engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The rule and its reason, as a name.
    pub name: String,
    /// The upstream driver does it in another order.
    pub ours_alone: bool,
    first: Term,
    second: Term,
}

/// What a driver made of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The second never came.
    Idle,
    /// The first came first.
    Yes,
    /// It came later, or never.
    No,
}

fn hex(text: &str) -> Result<u32> {
    u32::from_str_radix(text, 16).with_context(|| format!("not a hexadecimal number: {text}"))
}

fn term(text: &str, base: u32) -> Result<Term> {
    if let Some(offset) = text.strip_prefix("below:") {
        return Ok(Term::Below(hex(offset)?));
    }
    if matches!(text, "bus-master" | "work") {
        return Ok(Term::Event(text.to_owned()));
    }
    let (text, base) = match text.strip_prefix("engine+") {
        Some(rest) => (rest, base),
        None => (text, 0),
    };
    Ok(match text.split_once('.') {
        None => Term::Register(base.saturating_add(hex(text)?)),
        Some((offset, bit)) => Term::Bit(base.saturating_add(hex(offset)?), bit.parse()?),
    })
}

fn rules_of(line: &str, engines: &[u32]) -> Result<Vec<Rule>> {
    let (ours_alone, line) = match line.strip_prefix("ours:") {
        Some(rest) => (true, rest.trim_start()),
        None => (false, line),
    };
    let words: Vec<&str> = line.splitn(4, ' ').collect();
    let [first, "<", second, reason] = words[..] else {
        bail!("expected FIRST < SECOND REASON");
    };
    ensure!(reason.contains(' '), "no reason");
    let per_engine = first.contains("engine+") || second.contains("engine+");
    ensure!(
        !per_engine || !engines.is_empty(),
        "no line has named the engines"
    );
    let bases = if per_engine { engines } else { &[0][..] };
    let rule = |base: &u32| {
        let engine = match per_engine {
            true => format!(" of {base:x}"),
            false => String::new(),
        };
        Ok(Rule {
            name: format!("{first} before {second}{engine}: {reason}"),
            ours_alone,
            first: term(first, *base)?,
            second: term(second, *base)?,
        })
    };
    bases.iter().map(rule).collect()
}

/// The rules of a file.
///
/// # Errors
/// When a line is none.
pub fn parse(text: &str) -> Result<Vec<Rule>> {
    let mut engines = Vec::new();
    let mut all = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let place = || format!("line {}: {line}", i + 1);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(bases) = line.strip_prefix("engines ") {
            let bases = bases.split_whitespace().map(hex);
            engines = bases.collect::<Result<_>>().with_context(place)?;
            continue;
        }
        all.extend(rules_of(line, &engines).with_context(place)?);
    }
    Ok(all)
}

impl Term {
    /// When it came for the first time. `but` does not count as one of many.
    fn moment(&self, list: &List, but: &Term) -> Option<u64> {
        let direct = |offset: u32| {
            list.written(RegisterKey {
                image: false,
                offset,
            })
        };
        match self {
            Term::Register(offset) => direct(*offset)?.first,
            Term::Bit(offset, bit) => direct(*offset)?.bits.get(bit).copied(),
            Term::Event(name) => list.events.get(name).copied(),
            Term::Below(end) => {
                let others = list.uses.iter().filter(|(key, _)| {
                    let same =
                        matches!(but, Term::Register(o) | Term::Bit(o, _) if *o == key.offset);
                    !key.image && key.offset < *end && !same
                });
                others.filter_map(|(_, used)| used.first).min()
            }
        }
    }
}

impl Rule {
    /// Whether a driver has kept it.
    pub fn kept(&self, list: &List) -> Kept {
        let first = self.first.moment(list, &self.second);
        let second = self.second.moment(list, &self.first);
        match (first, second) {
            (_, None) => Kept::Idle,
            (Some(first), Some(second)) if first < second => Kept::Yes,
            _ => Kept::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{"gpu":"snb","events":{"bus-master":5}}
{"register":"002038","by":"cpu","writes":1,"first_read":null,"first":3,"ones":"1000","work":null,"values":[],"bits":{"12":3}}
{"register":"00203c","by":"cpu","writes":2,"first_read":null,"first":2,"ones":"1","work":null,"values":[],"bits":{"0":4}}
{"register":"02203c","by":"cpu","writes":2,"first_read":null,"first":2,"ones":"1","work":null,"values":[],"bits":{"0":4}}
{"register":"00a18c","by":"cpu","writes":2,"first_read":null,"first":1,"ones":"1","work":null,"values":[],"bits":{"0":1}}
"#;

    fn kept(rule: &str) -> Vec<Kept> {
        let list = List::parse(LIST).unwrap();
        let rules = parse(&format!(
            "engines 2000 12000 22000\n{rule} for a good reason"
        ))
        .unwrap();
        rules.iter().map(|r| r.kept(&list)).collect()
    }

    #[test]
    fn first_writes_bits_and_events_have_an_order() {
        assert_eq!(kept("203c < 2038"), [Kept::Yes]);
        assert_eq!(kept("2038 < 203c"), [Kept::No]);
        assert_eq!(kept("2038 < 203c.0"), [Kept::Yes]);
        assert_eq!(kept("2038 < bus-master"), [Kept::Yes]);
        assert_eq!(kept("bus-master < 2038"), [Kept::No]);
        assert_eq!(kept("bus-master < work"), [Kept::Idle]);
        assert_eq!(kept("941c < 2038"), [Kept::No], "it never came");
        assert_eq!(kept("a18c < below:40000"), [Kept::Yes]);
        assert_eq!(kept("2038 < below:40000"), [Kept::No]);
    }

    #[test]
    fn a_rule_of_engines_is_one_for_each() {
        let each = kept("engine+38 < engine+3c.0");
        assert_eq!(each, [Kept::Yes, Kept::Idle, Kept::No]);
        let rules = parse("engines 2000\nours: engine+38 < engine+3c.0 as it is").unwrap();
        assert!(rules[0].ours_alone);
        assert_eq!(
            rules[0].name,
            "engine+38 before engine+3c.0 of 2000: as it is"
        );
    }

    #[test]
    fn a_line_that_is_no_rule_is_refused() {
        for bad in [
            "2038 < 203c",
            "2038 > 203c for a reason",
            "20z8 < 203c for a reason",
            "engine+38 < 203c for a reason",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
