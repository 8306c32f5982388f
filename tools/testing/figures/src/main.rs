// SPDX-License-Identifier: GPL-2.0
//! Figures of `make bench`: over the commits that recorded them, or by function.

use anyhow::{Context, Result};
use clap::Parser;
use ouro_figures::{functions, history, plot, table, upstream};
use std::path::{Path, PathBuf};

/// Shows what ioctls cost.
#[derive(Parser)]
enum Options {
    /// Draws what ioctls cost over the commits that recorded it, each beside the upstream driver's.
    Plot {
        /// The modelled GPU whose figures are drawn.
        #[arg(long, default_value = "snb")]
        gpu: String,
        /// The checkout, whose history has the figures.
        #[arg(long, default_value = ".")]
        top: PathBuf,
        /// The SVG to write.
        #[arg(long)]
        out: PathBuf,
    },
    /// Prints which functions a call spends its instructions in.
    Profile {
        /// Blocks and their instructions, as QEMU's plugin writes them.
        #[arg(long)]
        blocks: PathBuf,
        /// The guest's /proc/kallsyms.
        #[arg(long)]
        symbols: PathBuf,
        /// The number of calls that were counted.
        #[arg(long)]
        calls: u64,
        /// The number of functions to print.
        #[arg(long, default_value_t = 25)]
        most: usize,
    },
}

fn main() -> Result<()> {
    match Options::parse() {
        Options::Plot { gpu, top, out } => {
            let records = history(&top, &gpu)?;
            let image = plot(&records, &upstream(&top, &gpu)?)?;
            std::fs::write(&out, image).with_context(|| out.display().to_string())?;
            println!(
                "{}: {} records, the last of {} ({})",
                out.display(),
                records.len(),
                records.last().map_or("none", |last| &last.date),
                records.last().map_or("none", |last| &last.commit),
            );
        }
        Options::Profile {
            blocks,
            symbols,
            calls,
            most,
        } => {
            let found = functions(&read(&blocks)?, &read(&symbols)?)?;
            print!("{}", table(&found, calls, most)?);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}
