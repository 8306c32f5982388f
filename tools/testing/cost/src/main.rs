// SPDX-License-Identifier: GPL-2.0
//! Prints what a submission costs beside 1 to 10,000 of everything. With a case and a number it runs that
//! case, to be counted.

use clap::Parser;
use ouro_cost::{
    cases::{Case, BATCH_KIB},
    count,
};
use std::io;

/// Instructions of a submission, in the core's own structures.
#[derive(Parser)]
struct Args {
    /// What there is much of; without it all are counted.
    case: Option<Case>,
    /// How much of it there is.
    #[arg(default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    n: u32,
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    if let Some(case) = args.case {
        count::wait_for_the_counter()?;
        case.run(args.n, count::mark);
        return Ok(());
    }
    let numbers = [1, 10, 100, 1_000, 10_000];
    print!("{:<30}", "instructions of a submission");
    for n in numbers {
        print!("{n:>8}");
    }
    println!();
    let program = std::env::current_exe()?;
    for case in Case::alive() {
        print!("{:<30}", case.name());
        for n in numbers {
            print!("{:>8}", case.instructions(&program, n)?);
        }
        println!();
    }
    let checked = Case::Checked.instructions(&program, BATCH_KIB)?;
    println!("{BATCH_KIB} KiB of a batch, copied and checked: {checked} instructions");
    Ok(())
}
