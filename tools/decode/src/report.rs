// SPDX-License-Identifier: GPL-2.0
//! An error state in words: who, why, the registers, the batch with the offending command marked,
//! the rings.

use crate::command::{Engine, Generation};
use crate::print::{Marks, Printer};
use crate::state::{number, ErrorState, Piece};
use crate::stream::Walk;
use std::collections::HashSet;
use std::io::{self, Write};

/// Dwords that are shown where an engine stands outside of all that was followed.
const AROUND: usize = 64;

/// Prints an error state.
///
/// # Errors
/// Those of the writer.
pub fn print(state: &ErrorState, out: &mut dyn Write) -> io::Result<()> {
    let say = |name: &str| state.value(name).unwrap_or("not told");
    let engine = say("engine");
    writeln!(out, "device {}, {}", say("device"), say("generation"))?;
    writeln!(out, "{}", say("reason"))?;
    writeln!(
        out,
        "at {} s, after {} resets; process {}, context {} (hung {} times), request {}",
        say("time"),
        say("resets"),
        say("process"),
        say("context"),
        say("guilty"),
        say("request")
    )?;
    if let Some(pages) = state.value("left out").filter(|v| *v != "0") {
        writeln!(out, "{pages} pages could not be copied")?;
    }
    if !state.complete {
        writeln!(out, "the text is cut off: its last line is missing")?;
    }
    let generation = crate::generation(say("generation"));
    registers(state, generation, out)?;
    let Some(generation) = generation else {
        writeln!(
            out,
            "\nthe commands of {} are not known here",
            say("generation")
        )?;
        return pieces(state, &HashSet::new(), out);
    };
    let mut seen = Seen::default();
    let found = batches(state, generation, engine, &mut seen, out)?;
    for ring in state.pieces.iter().filter(|p| p.kind == "ring") {
        let here = ring.engine == engine && !found;
        print_ring(state, generation, ring, here, out)?;
    }
    pieces(state, &seen.pieces, out)
}

fn registers(
    state: &ErrorState,
    generation: Option<&'static Generation>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if state.registers.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nregisters")?;
    let mut engine = None;
    for line in &state.registers {
        if !line.starts_with(' ') {
            let name = line.split(':').next().unwrap_or_default();
            engine = crate::engine(name);
        }
        write!(out, "  {line}")?;
        // The command that the streamer had fetched, by name.
        let header = line.trim_start().strip_prefix("instruction: ");
        let header = header.and_then(|t| number(t.split(',').next()?));
        let header = header.and_then(|h| u32::try_from(h).ok());
        let told = generation.filter(|g| g.tells_header);
        if let (Some(header), Some(engine), Some(generation)) = (header, engine, told) {
            let name = generation.find(engine, header).map(|c| c.name);
            write!(out, " = {}", name.unwrap_or("no command of this engine"))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// What was printed already: pieces by index, and in them the first dwords of commands.
#[derive(Default)]
struct Seen {
    pieces: HashSet<usize>,
    commands: HashSet<(usize, usize)>,
}

/// Prints the batch and those that it starts; true if the offending command was in one.
fn batches(
    state: &ErrorState,
    generation: &'static Generation,
    engine: &str,
    seen: &mut Seen,
    out: &mut dyn Write,
) -> io::Result<bool> {
    let Some(kind) = crate::engine(engine) else {
        return Ok(false);
    };
    let offending = state.engine_number(engine, "at");
    let start = state.value("batch").and_then(number);
    let mut to_do: Vec<u64> = start.into_iter().collect();
    let mut done = HashSet::new();
    let mut found = false;
    while let Some(address) = to_do.pop() {
        if !done.insert(address) {
            continue;
        }
        let Some((n, at)) = place(state, address) else {
            writeln!(out, "\nbatch at {address:#010x}: no copy of it")?;
            continue;
        };
        writeln!(out, "\nbatch at {address:#010x}")?;
        let end = called(state, generation, address).map_or(usize::MAX, |size| {
            at.saturating_add(usize::try_from(size).unwrap_or(usize::MAX))
        });
        let printed = one(state, generation, kind, (n, at, end), offending, seen, out)?;
        found |= printed.0;
        to_do.extend(printed.1);
    }
    if let (false, Some(address)) = (found, offending) {
        // Not in a ring: what an engine says of its ring is an offset, see `print_ring`.
        if let Some((n, at)) = place(state, address) {
            writeln!(
                out,
                "\nthe engine stood at {address:#010x}, where no batch led it"
            )?;
            let end = at.saturating_add(AROUND);
            found = one(state, generation, kind, (n, at, end), offending, seen, out)?.0;
        }
    }
    Ok(found)
}

/// The size in dwords of what is at an address, by the ring that calls it.
fn called(state: &ErrorState, generation: &'static Generation, address: u64) -> Option<u64> {
    let rings = state.pieces.iter().filter(|p| p.kind == "ring");
    let mut calls = rings.flat_map(|ring| {
        let engine = crate::engine(&ring.engine).unwrap_or(Engine::Render);
        Walk::new(generation, engine, &ring.dwords, 0, usize::MAX).filter_map(|item| item.call())
    });
    calls.find(|call| call.0 == address).map(|call| call.1)
}

/// Prints a batch in a piece, from one dword on and up to another: whether the offending command was
/// in it, and the batches that it starts.
fn one(
    state: &ErrorState,
    generation: &'static Generation,
    engine: Engine,
    (n, at, end): (usize, usize, usize),
    offending: Option<u64>,
    seen: &mut Seen,
    out: &mut dyn Write,
) -> io::Result<(bool, Vec<u64>)> {
    let piece = &state.pieces[n];
    seen.pieces.insert(n);
    let mut printer = Printer {
        generation,
        out,
        marks: Marks {
            offending,
            labels: Vec::new(),
        },
    };
    let walk = Walk::new(generation, engine, &piece.dwords, at, end);
    let printed = printer.stream(walk, piece.address, true, |i| seen.commands.insert((n, i)))?;
    if !printed.ended && end == usize::MAX {
        writeln!(out, "  the copy ends here")?;
    }
    Ok((printed.offending, printed.batches))
}

/// The piece with an address, and the dword in it. The batch's own piece comes first.
fn place(state: &ErrorState, address: u64) -> Option<(usize, usize)> {
    let find = |batch: bool| {
        let all = state.pieces.iter().enumerate();
        let mut fit = all.filter(|(_, p)| (p.kind == "batch") == batch && p.is_of_batches());
        fit.find_map(|(n, p)| Some((n, p.index(address)?)))
    };
    find(true).or_else(|| find(false))
}

/// Prints a ring. What lies between its start and the tail is one stream; from the tail on there
/// are remains of the last round, up to the head if that is behind it.
fn print_ring(
    state: &ErrorState,
    generation: &'static Generation,
    ring: &Piece,
    offending: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = &ring.engine;
    writeln!(out, "\nring of {name} at {:#010x}", ring.address)?;
    let Some(engine) = crate::engine(name) else {
        return writeln!(out, "  {name} is no engine that is known");
    };
    let size = ring.dwords.len();
    let place = |word| {
        let offset = state.engine_number(name, word)?;
        usize::try_from(offset / 4).ok().filter(|n| *n < size)
    };
    let (head, tail) = (place("head"), place("tail"));
    let address = |n: usize| ring.address.wrapping_add(n as u64 * 4);
    let mut labels = Vec::new();
    labels.extend(head.map(|n| (address(n), "head")));
    labels.extend(tail.map(|n| (address(n), "tail")));
    let mut cuts: Vec<usize> = [Some(0), head, tail].into_iter().flatten().collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts.push(size);
    let marks = Marks {
        offending: head.filter(|_| offending).map(address),
        labels,
    };
    let mut printer = Printer {
        generation,
        out,
        marks,
    };
    for pair in cuts.windows(2) {
        let walk = Walk::new(generation, engine, &ring.dwords, pair[0], pair[1]);
        printer.stream(walk, ring.address, false, |_| true)?;
    }
    Ok(())
}

/// Names what was not printed.
fn pieces(state: &ErrorState, seen: &HashSet<usize>, out: &mut dyn Write) -> io::Result<()> {
    let mut first = true;
    for (n, p) in state.pieces.iter().enumerate() {
        if p.damaged {
            writeln!(
                out,
                "\n{} {} at {:#x}: damaged in the text",
                p.engine, p.kind, p.address
            )?;
        }
        if seen.contains(&n) || !p.is_of_batches() {
            continue;
        }
        if first {
            writeln!(out, "\nmemory that no command was taken from")?;
            first = false;
        }
        let bytes = p.dwords.len() * 4;
        writeln!(out, "  {:#010x}, {bytes} bytes, {}", p.address, p.kind)?;
    }
    Ok(())
}
