// SPDX-License-Identifier: GPL-2.0
//! `ouro-decode`: prints an error state, a batch or a ring in words.

use clap::{Parser, ValueEnum};
use ouro_decode::command::{Engine, Generation};
use ouro_decode::print::{Marks, Printer};
use ouro_decode::state::{number, ErrorState};
use ouro_decode::stream::Walk;
use ouro_decode::{report, GENERATIONS};
use std::error::Error;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Prints an error state of ouro, a batch or a ring in words.
#[derive(Parser)]
#[command(version, about)]
struct Args {
    /// What to print; standard input if it is not given, or "-".
    file: Option<PathBuf>,
    /// What it is.
    #[arg(long, value_enum, default_value_t = What::State)]
    what: What,
    /// Numbers in hexadecimal text instead of bytes (batch and ring).
    #[arg(long)]
    hex: bool,
    /// Whose commands they are (batch and ring).
    #[arg(long, default_value = "gen6")]
    generation: String,
    /// On which engine (batch and ring): rcs, vcs, vecs, bcs or ccs.
    #[arg(long, default_value = "rcs")]
    engine: String,
    /// Address of the first byte (batch and ring).
    #[arg(long, value_parser = parse, default_value = "0")]
    address: u64,
    /// Address to mark (batch and ring): what ACTHD shows.
    #[arg(long, value_parser = parse)]
    at: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// An error state, as /sys/class/drm/card0/error has it.
    State,
    /// A batch: up to its end.
    Batch,
    /// A ring: all of it.
    Ring,
}

fn parse(text: &str) -> Result<u64, String> {
    number(text).ok_or_else(|| format!("{text:?} is no number"))
}

fn read(file: Option<&Path>) -> io::Result<Vec<u8>> {
    match file {
        Some(path) if path != Path::new("-") => std::fs::read(path),
        _ => {
            let mut all = Vec::new();
            io::stdin().read_to_end(&mut all)?;
            Ok(all)
        }
    }
}

/// Dwords of bytes, or of hexadecimal numbers; a partial dword at the end is left out.
fn dwords(bytes: &[u8], hex: bool) -> Result<Vec<u32>, Box<dyn Error>> {
    if !hex {
        let whole = bytes.chunks_exact(4);
        return Ok(whole
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect());
    }
    let text = String::from_utf8_lossy(bytes);
    text.split_ascii_whitespace()
        .map(|word| {
            let digits = word.trim_start_matches("0x");
            u32::from_str_radix(digits, 16).map_err(|_| format!("{word:?} is no number").into())
        })
        .collect()
}

fn known(args: &Args) -> Result<(&'static Generation, Engine), Box<dyn Error>> {
    let names: Vec<_> = GENERATIONS.iter().map(|g| g.name).collect();
    let generation = ouro_decode::generation(&args.generation)
        .ok_or_else(|| format!("no generation {:?}: {}", args.generation, names.join(" ")))?;
    let engine = ouro_decode::engine(&args.engine)
        .ok_or_else(|| format!("no engine {:?}: rcs vcs vecs bcs ccs", args.engine))?;
    Ok((generation, engine))
}

fn run(args: &Args, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let bytes = read(args.file.as_deref())?;
    if args.what == What::State {
        report::print(&ErrorState::read(&bytes)?, out)?;
        return Ok(());
    }
    let (generation, engine) = known(args)?;
    let all = dwords(&bytes, args.hex)?;
    let mut printer = Printer {
        generation,
        out,
        marks: Marks {
            offending: args.at,
            labels: Vec::new(),
        },
    };
    let walk = Walk::new(generation, engine, &all, 0, usize::MAX);
    let follow = args.what == What::Batch;
    printer.stream(walk, args.address, follow, |_| true)?;
    Ok(())
}

fn main() -> ExitCode {
    let args = Args::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let result = run(&args, &mut out).and_then(|()| Ok(out.flush()?));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has seen enough.
        Err(e)
            if e.downcast_ref::<io::Error>()
                .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) =>
        {
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("ouro-decode: {e}");
            ExitCode::FAILURE
        }
    }
}
