// SPDX-License-Identifier: GPL-2.0
//! What differs, by rule.

use std::fmt;

use anyhow::{bail, Context, Result};
use ouro_streams::file::{File, Left, Outcome, FORMAT, STREAMS};
use ouro_streams::{rules, streams, Family};

use crate::machine::{build_for, Machine};

/// A stream that card and model do not agree about.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The rule.
    pub rule: &'static str,
    /// Which case of it.
    pub case: u32,
    /// In words.
    pub text: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.rule, self.case, self.text)
    }
}

/// What came of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// The model's name.
    pub model: &'static str,
    /// The family, by name.
    pub family: String,
    /// Streams that were compared.
    pub compared: u32,
    /// Streams whose results may differ, and were not.
    pub left_out: u32,
    /// Those that differ.
    pub differences: Vec<Difference>,
}

impl Verdict {
    /// The rules about which there are differences, with how many; the text says where each is documented.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for rule in Family::named(&self.family).into_iter().flat_map(rules) {
            let of_rule: Vec<&Difference> = self
                .differences
                .iter()
                .filter(|d| d.rule == rule.name)
                .collect();
            if of_rule.is_empty() {
                continue;
            }
            out += &format!(
                "{}: {} of {} differ: {} ({})\n",
                rule.name,
                of_rule.len(),
                rule.cases,
                rule.text,
                rule.section
            );
            for difference in of_rule {
                out += &format!("    {difference}\n");
            }
        }
        out += &format!(
            "{} streams compared with the model {}, {} not compared, {} differences\n",
            self.compared,
            self.model,
            self.left_out,
            self.differences.len()
        );
        out
    }
}

/// Runs all streams of a family on a model, as a card does.
///
/// # Errors
/// When a stream cannot be made.
pub fn run(family: Family, seed: u64, machine: &mut dyn Machine) -> Result<Vec<Outcome>> {
    run_rules(family, seed, machine, &|_| true)
}

/// Runs the streams of rules with these names.
///
/// # Errors
/// When a stream cannot be made.
pub fn run_rules(
    family: Family,
    seed: u64,
    machine: &mut dyn Machine,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<Outcome>> {
    let all = streams(family, seed).context("a stream has no encoding")?;
    let outcome = |stream: &ouro_streams::Stream, left| Outcome {
        rule: stream.rule.into(),
        case: stream.case,
        ns: Vec::new(),
        left,
        again: None,
    };
    Ok(all
        .iter()
        .filter(|stream| wanted(stream.rule))
        .map(|stream| outcome(stream, machine.run(stream)))
        .collect())
}

/// The first place at which two descriptions of changes part, in words.
fn places(card: &str, model: &str) -> String {
    let (mut a, mut b) = (card.split(' '), model.split(' '));
    loop {
        match (a.next(), b.next()) {
            (None, None) => return "beyond what was written down".into(),
            (a, b) if a == b => {}
            (a, b) => {
                let cut = |run: Option<&str>| match run {
                    None | Some("") => "nothing more".to_owned(),
                    Some(run) if run.len() > 48 => format!("{}…", &run[..48]),
                    Some(run) => run.to_owned(),
                };
                return format!("card {}, model {}", cut(a), cut(b));
            }
        }
    }
}

fn difference(card: &Left, model: &Left) -> Option<String> {
    match (card, model) {
        (Left::Bytes { crc: a, changed: b }, Left::Bytes { crc: c, changed: d }) => {
            (a != c || b != d).then(|| places(b, d))
        }
        (card, model) if card == model => None,
        (Left::Refused(why), _) => Some(format!("the driver refused it ({why})")),
        (_, Left::Refused(why)) => Some(format!("the model: {why}")),
    }
}

/// Compares a card's file with the card's model.
///
/// # Errors
/// When the file is of another version, or there is no model of the card.
pub fn compare(file: &File) -> Result<Verdict> {
    if file.format != FORMAT || file.streams != STREAMS {
        bail!(
            "the file has format {} and streams {}; this program has {FORMAT} and {STREAMS}",
            file.format,
            file.streams
        );
    }
    let (model, family, mut machine) = build_for(&file.card)?;
    if family.name() != file.card.family {
        bail!(
            "the file is of {}, its card of {}",
            file.card.family,
            family.name()
        );
    }
    let all = streams(family, file.seed).context("a stream has no encoding")?;
    let mut verdict = Verdict {
        model,
        family: family.name().into(),
        ..Default::default()
    };
    for stream in &all {
        let of_stream = |o: &&Outcome| o.rule == stream.rule && o.case == stream.case;
        let mut differs = |text| {
            verdict.differences.push(Difference {
                rule: stream.rule,
                case: stream.case,
                text,
            });
        };
        let Some(outcome) = file.results.iter().find(of_stream) else {
            differs("the file does not have it".into());
            continue;
        };
        if stream.is_volatile && matches!(outcome.left, Left::Bytes { .. }) {
            verdict.left_out += 1;
            continue;
        }
        verdict.compared += 1;
        if let Some(text) = difference(&outcome.left, &machine.run(stream)) {
            differs(text);
        } else if outcome.again.is_some() {
            differs("the card's two runs differ".into());
        }
    }
    Ok(verdict)
}
