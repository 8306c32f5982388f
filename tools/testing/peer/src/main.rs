// SPDX-License-Identifier: GPL-2.0
//! `ouro-peer`: compares what two drivers wrote to the registers of one model.

use anyhow::{Context, Result};
use clap::Parser;
use ouro_peer::{list::List, order, reasons, verdict::verdict};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Holds the registers that the upstream driver writes against those that ouro writes. TAP.
#[derive(Parser)]
#[command(version, about)]
struct Args {
    /// What the model wrote of the upstream driver (`gpu-model --registers`).
    #[arg(long)]
    peer: PathBuf,
    /// What it wrote of ouro.
    #[arg(long)]
    ours: PathBuf,
    /// The file of reasons.
    #[arg(long)]
    reasons: PathBuf,
    /// The file of rules of order.
    #[arg(long)]
    order: PathBuf,
}

fn read<T>(path: &Path, parse: impl Fn(&str) -> Result<T>) -> Result<T> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
    parse(&text).with_context(|| format!("{}", path.display()))
}

fn run(args: &Args) -> Result<bool> {
    let verdict = verdict(
        &read(&args.peer, List::parse)?,
        &read(&args.ours, List::parse)?,
        &read(&args.reasons, reasons::parse)?,
        &read(&args.order, order::parse)?,
    );
    print!("{}", verdict.tap);
    Ok(verdict.good)
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(e) => {
            eprintln!("ouro-peer: {e:#}");
            ExitCode::from(2)
        }
    }
}
