// SPDX-License-Identifier: GPL-2.0
//! `ouro-decode`: prints an error state, what people post of a hang, a batch or a ring in words.

use clap::{Parser, ValueEnum};
use ouro_decode::command::{Engine, Generation};
use ouro_decode::posts::chips::{self, Chip};
use ouro_decode::posts::print::Options;
use ouro_decode::posts::{self, Post};
use ouro_decode::print::{Marks, Printer};
use ouro_decode::state::{number, ErrorState, NotAState};
use ouro_decode::stream::Walk;
use ouro_decode::{report, trace, GENERATIONS};
use std::error::Error;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Decodes error states of ouro and i915, core dumps of xe, kernel logs with a hang of radeon, i915 or xe, batches
/// and rings.
#[derive(Parser)]
#[command(version, about, after_help = EXAMPLES)]
struct Args {
    /// What to print; standard input if it is not given, or "-".
    file: Option<PathBuf>,
    /// What it is.
    #[arg(long, value_enum, default_value_t = What::State)]
    what: What,
    /// Print whole rings, not only incomplete requests (bug-tracker posts).
    #[arg(long)]
    whole: bool,
    /// Prints the memory that was captured at this address, a dword a line, and nothing else (state; what was posted).
    #[arg(long, value_parser = parse, value_name = "ADDRESS")]
    memory: Option<u64>,
    /// PCI device id of the chip, or its generation by name, if the text does not tell it or is wrong (what was posted).
    #[arg(long)]
    chip: Option<String>,
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
    /// Without the CPU's accesses to registers (trace).
    #[arg(long)]
    no_registers: bool,
    /// Address to mark (batch and ring): what ACTHD shows.
    #[arg(long, value_parser = parse)]
    at: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  ouro-decode /sys/class/drm/card0/error
  ouro-decode i915_error_state.txt.gz          what somebody posted, of any kernel
  ouro-decode /sys/class/devcoredump/devcd1/data
  dmesg | ouro-decode                          a lockup of radeon
  ouro-decode --whole error.txt                with all of the rings
  ouro-decode --memory 0x400000 error.txt      the dwords of a captured object
  ouro-decode --chip 0x2a42 error.txt          the text does not say which chip it is
  ouro-decode --what trace trace.txt > trace.json   for ui.perfetto.dev
  ouro-decode --what batch --hex --generation gen9 --engine rcs --at 0x10 batch.txt";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// An error state, a core dump or a log: which one, the text says.
    State,
    /// A batch: up to its end.
    Batch,
    /// A ring: all of it.
    Ring,
    /// A trace of a modelled GPU: JSON for Perfetto or Chrome's about:tracing.
    Trace,
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

/// The chip that the arguments name.
fn chip(name: &str) -> Result<Chip, Box<dyn Error>> {
    let by_id = parse(name).ok().and_then(chips::by_id);
    let found = by_id.or_else(|| chips::by_platform(name)).or_else(|| {
        let (name, commands) = GENERATIONS
            .iter()
            .find(|g| g.name == name)
            .map(|g| (g.name, *g))?;
        Some(Chip {
            name,
            generation: chips::generation(commands),
            commands: Some(commands),
        })
    });
    found.ok_or_else(|| format!("{name:?} is no chip that is known").into())
}

/// Prints the copy of memory that begins at an address.
fn memory<'a>(
    mut copies: impl Iterator<Item = (u64, &'a [u32])>,
    address: u64,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let (_, dwords) = copies
        .find(|copy| copy.0 == address)
        .ok_or_else(|| format!("no copy of memory begins at {address:#010x}"))?;
    for (at, dword) in (address..).step_by(4).zip(dwords) {
        writeln!(out, "{at:#010x}: {dword:08x}")?;
    }
    Ok(())
}

fn state(args: &Args, bytes: &[u8], out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let bytes = posts::unpacked(bytes)?;
    match (ErrorState::read(&bytes), args.memory) {
        (Ok(state), Some(at)) => {
            let pieces = state.pieces.iter().map(|p| (p.address, &*p.dwords));
            memory(pieces, at, out)?;
        }
        (Ok(state), None) => report::print(&state, out)?,
        (Err(NotAState::Unknown), Some(at)) => {
            let post = Post::read(&bytes)?;
            let buffers = post.buffers.iter().map(|b| (b.address, &*b.dwords));
            memory(buffers, at, out)?;
        }
        (Err(NotAState::Unknown), None) => {
            let mut post = Post::read(&bytes)?;
            if let Some(name) = &args.chip {
                post.chip = Some(chip(name)?);
            }
            posts::print::print(&post, Options { whole: args.whole }, out)?;
        }
        (Err(e), _) => return Err(e.into()),
    }
    Ok(())
}

fn run(args: &Args, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let bytes = read(args.file.as_deref())?;
    if args.what == What::State {
        return state(args, &bytes, out);
    }
    if args.what == What::Trace {
        let options = trace::Options {
            without_registers: args.no_registers,
        };
        trace::convert(&String::from_utf8_lossy(&bytes), options, out)?;
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
