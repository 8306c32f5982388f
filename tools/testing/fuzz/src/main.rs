// SPDX-License-Identifier: GPL-2.0
//! `ouro-fuzz`: the targets with random inputs, for as long as one likes. It knows nothing of coverage; it
//! keeps to a toolchain without extras.

use clap::Parser;
use ouro_fuzz::{target, Target, TARGETS};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs fuzz targets with random inputs.
#[derive(Parser)]
#[command(version, about)]
struct Args {
    /// Which; all by turns if none is named.
    targets: Vec<String>,
    /// Ends after so many seconds; without it, at the first failure.
    #[arg(long)]
    seconds: Option<u64>,
    /// Of the random numbers; another one each time if it is not given.
    #[arg(long)]
    seed: Option<u64>,
    /// Runs this input instead.
    #[arg(long)]
    input: Option<PathBuf>,
    /// Where an input that fails is left.
    #[arg(long, default_value = ".")]
    out: PathBuf,
}

/// Numbers from a seed (xorshift*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn bytes(&mut self) -> Vec<u8> {
        let len = self.next() % [64, 512, 4096][(self.next() % 3) as usize];
        // Some inputs are full of zeros and ones, as registers are.
        let dull = self.next().is_multiple_of(4);
        (0..len)
            .map(|_| match (dull, self.next() >> 40) {
                (true, n) if n & 3 != 0 => [0, 0xff, 1][(n >> 8) as usize % 3],
                (_, n) => n as u8,
            })
            .collect()
    }
}

/// True if it went well; else the input is left in `out`.
fn try_one(target: &Target, input: &[u8], out: &std::path::Path) -> bool {
    if catch_unwind(|| (target.run)(input)).is_ok() {
        return true;
    }
    let path = out.join(format!("{}.failed", target.name));
    match std::fs::write(&path, input) {
        Ok(()) => eprintln!("ouro-fuzz: {} fails with {}", target.name, path.display()),
        Err(e) => eprintln!("ouro-fuzz: {} fails; {}: {e}", target.name, path.display()),
    }
    false
}

fn run(args: &Args) -> Result<bool, String> {
    let mut chosen: Vec<&Target> = Vec::new();
    for name in &args.targets {
        let names: Vec<_> = TARGETS.iter().map(|t| t.name).collect();
        chosen
            .push(target(name).ok_or_else(|| format!("no target {name:?}: {}", names.join(" ")))?);
    }
    if chosen.is_empty() {
        chosen.extend(TARGETS);
    }
    if let Some(path) = &args.input {
        let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        return Ok(chosen.iter().all(|t| try_one(t, &bytes, &args.out)));
    }
    let seed = args
        .seed
        .unwrap_or_else(|| RandomState::new().build_hasher().finish());
    println!("seed {seed}");
    let mut random = Random(seed | 1);
    let start = Instant::now();
    let limit = args.seconds.map(Duration::from_secs);
    let mut runs = 0u64;
    let mut told = Duration::ZERO;
    while limit.is_none_or(|l| start.elapsed() < l) {
        for target in &chosen {
            if !try_one(target, &random.bytes(), &args.out) {
                return Ok(false);
            }
            runs += 1;
        }
        if start.elapsed() - told > Duration::from_secs(60) {
            told = start.elapsed();
            println!("{runs} inputs in {} s", told.as_secs());
        }
    }
    println!(
        "{runs} inputs in {} s, none failed",
        start.elapsed().as_secs()
    );
    Ok(true)
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("ouro-fuzz: {e}");
            ExitCode::FAILURE
        }
    }
}
