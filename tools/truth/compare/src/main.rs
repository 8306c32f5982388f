// SPDX-License-Identifier: GPL-2.0
//! `ouro-compare`: says what differs between a card's file and the card's model.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

use ouro_compare::compare;
use ouro_streams::file::File;

/// Compares the file that ouro-truth leaves with the card's model, rule by rule.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The file; `-` is standard input.
    file: PathBuf,
}

fn judge(arguments: &Arguments) -> Result<bool> {
    let path = arguments.file.display();
    let text = if arguments.file.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(&arguments.file)
    };
    let text = text.with_context(|| format!("read {path}"))?;
    let file: File =
        serde_json::from_str(&text).with_context(|| format!("{path} is no such file"))?;
    let card = &file.card;
    println!(
        "card {}:{} revision {}, family {}, driver {} of Linux {}",
        card.vendor, card.device, card.revision, card.family, card.driver, card.kernel
    );
    let verdict = compare(&file)?;
    print!("{}", verdict.text());
    Ok(verdict.differences.is_empty())
}

fn main() -> ExitCode {
    match judge(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("ouro-compare: {error:#}");
            ExitCode::from(2)
        }
    }
}
