// SPDX-License-Identifier: GPL-2.0
//! `ouro-truth`: runs streams of commands on a card, by the driver that the machine has, and leaves a file that
//! `make truth` compares with the card's model.
//!
//! It needs to open a render node and nothing else. No stream can hang an engine (`ouro-streams` has the test); if one
//! does, it was the last, and the file says so.
//!
//! | file | what |
//! | --- | --- |
//! | `identity.rs` | which card, which driver |
//! | `i915.rs`, `local.rs` | streams by i915, of cards without and with memory of their own |
//! | `radeon.rs` | streams by radeon |
//! | `facts.rs` | what the two interfaces say of a card |

mod facts;
mod i915;
mod identity;
mod local;
mod radeon;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{bail, Context, Result};
use clap::Parser;
use ouro_streams::file::{File, Left, Outcome, FORMAT, MOST, STREAMS};
use ouro_streams::{streams, Family, Stream};

use identity::Found;

/// Runs seeded streams of commands on a card and writes down what they left.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The file.
    #[arg(long, value_name = "FILE", default_value = "truth.json")]
    out: PathBuf,

    /// Render node; the first one of a card that is known, if not given.
    #[arg(long, value_name = "NODE")]
    device: Option<PathBuf>,

    /// Seed of the streams.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A card that runs streams.
trait Card {
    /// Runs a stream to its end and returns its result buffers.
    fn run(&mut self, stream: &Stream) -> Result<Vec<Vec<u8>>>;

    /// Whether the GPU was reset because of this program.
    fn has_hung(&self) -> bool;

    /// What the driver says of the card, by name, and the fold of address bit 6 in X tiles.
    fn facts(&self) -> (Vec<(String, String)>, &'static str);
}

fn card<'a>(found: &'a Found) -> Box<dyn Card + 'a> {
    match found.family {
        Family::R5xx => Box::new(radeon::Processor::new(&found.node)),
        Family::Gen12 => Box::new(local::Spaces::new(&found.node)),
        _ => Box::new(i915::Rings::new(&found.node, found.family)),
    }
}

/// What a stream left, or why it left nothing; with the time that it took.
fn once(card: &mut dyn Card, stream: &Stream) -> (Left, u64) {
    let begin = Instant::now();
    let left = match card.run(stream) {
        Ok(after) => Left::of(stream, &after),
        // The error and its causes name ioctls, and nothing of the owner.
        Err(error) => Left::Refused(format!("{error:#}")),
    };
    (left, begin.elapsed().as_nanos() as u64)
}

fn collect(arguments: &Arguments) -> Result<File> {
    let found = identity::find(arguments.device.as_deref())?;
    let mut card = card(&found);
    let (facts, swizzle) = card.facts();
    let mut file = File {
        format: FORMAT,
        streams: STREAMS,
        seed: arguments.seed,
        card: found.card(swizzle),
        facts: facts.into_iter().collect(),
        results: Vec::new(),
    };
    let all = streams(found.family, arguments.seed).context("a stream has no encoding")?;
    for stream in &all {
        let (left, first) = once(card.as_mut(), stream);
        let (second_left, second) = once(card.as_mut(), stream);
        let differs = !stream.is_volatile && second_left != left;
        file.results.push(Outcome {
            rule: stream.rule.into(),
            case: stream.case,
            ns: vec![first, second],
            left,
            again: differs.then_some(second_left),
        });
        if card.has_hung() {
            let last = format!("{} {}", stream.rule, stream.case);
            eprintln!("ouro-truth: the GPU was reset in the stream {last}, which is the last");
            file.facts.insert("reset-in".into(), last);
            break;
        }
    }
    let (after, _) = card.facts();
    file.facts.extend(
        after
            .into_iter()
            .map(|(name, v)| (format!("after.{name}"), v)),
    );
    let before = |name: &str| name.strip_prefix("after.").map(str::to_owned);
    let same = |name: &str, v: &String| before(name).is_some_and(|b| file.facts.get(&b) == Some(v));
    let facts = file.facts.iter().filter(|(name, v)| !same(name, v));
    file.facts = facts.map(|(name, v)| (name.clone(), v.clone())).collect();
    Ok(file)
}

fn run(arguments: &Arguments) -> Result<bool> {
    let file = collect(arguments)?;
    let text = serde_json::to_string_pretty(&file).context("the file as JSON")?;
    if text.len() >= MOST {
        bail!("the file would have {} bytes: too many", text.len());
    }
    let path = arguments.out.display();
    std::fs::write(&arguments.out, &text).with_context(|| format!("write {path}"))?;
    let refused = |o: &&Outcome| matches!(o.left, Left::Refused(_));
    println!(
        "{path}: {} streams on {}:{}, {} of them refused; {} bytes",
        file.results.len(),
        file.card.vendor,
        file.card.device,
        file.results.iter().filter(refused).count(),
        text.len()
    );
    Ok(!file.facts.contains_key("reset-in"))
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("ouro-truth: {error:#}");
            ExitCode::FAILURE
        }
    }
}
