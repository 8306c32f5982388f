// SPDX-License-Identifier: GPL-2.0
//! Draws the figures of `make bench` over the commits that recorded them, each beside the upstream driver's.

use anyhow::{Context, Result};
use clap::Parser;
use ouro_figures::{history, plot, upstream};
use std::path::PathBuf;

/// Draws what ioctls cost over the commits that recorded it.
#[derive(Parser)]
struct Options {
    /// The modelled GPU whose figures are drawn.
    #[arg(long, default_value = "snb")]
    gpu: String,
    /// The checkout, whose history has the figures.
    #[arg(long, default_value = ".")]
    top: PathBuf,
    /// The SVG to write.
    #[arg(long)]
    out: PathBuf,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let records = history(&options.top, &options.gpu)?;
    let image = plot(&records, &upstream(&options.top, &options.gpu)?)?;
    std::fs::write(&options.out, image).with_context(|| options.out.display().to_string())?;
    println!(
        "{}: {} records, the last of {} ({})",
        options.out.display(),
        records.len(),
        records.last().map_or("none", |last| &last.date),
        records.last().map_or("none", |last| &last.commit),
    );
    Ok(())
}
