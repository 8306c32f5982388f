// SPDX-License-Identifier: GPL-2.0
//! All of a post: what is wrong first, then registers, batches and rings.

use super::streams::{self, Count, Label, Stream};
use super::{same_engine, verdict, Buffer, Kind, Post, Role, State};
use crate::command::{Engine, Generation};
use std::collections::HashSet;
use std::io::{self, Write};

/// Dwords before the head that are shown of a ring.
const BEFORE: usize = 64;
/// Dwords that are shown where an engine stands outside of all that was followed.
const AROUND: usize = 128;

/// Batches that one leads to: nobody's has so many.
const BATCHES: usize = 1000;

/// How much is printed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// All of the rings, not only what is not done and a little before it.
    pub whole: bool,
}

/// Prints a post.
///
/// # Errors
/// Those of the writer.
pub fn print(post: &Post, options: Options, out: &mut dyn Write) -> io::Result<()> {
    let what = match post.kind {
        Kind::I915 => "error state of i915",
        Kind::Xe => "core dump of xe",
        Kind::Log => "kernel log",
    };
    match post.chip {
        Some(chip) if chip.generation % 10 == 0 => {
            writeln!(out, "{what}, {} (Gen{})", chip.name, chip.generation / 10)?
        }
        Some(chip) => {
            let (whole, part) = (chip.generation / 10, chip.generation % 10);
            writeln!(out, "{what}, {} (Gen{whole}.{part})", chip.name)?;
        }
        None => writeln!(out, "{what}")?,
    }
    writeln!(out, "\nWhat is wrong")?;
    for line in verdict::wrong(post) {
        match line.strip_prefix("  ") {
            Some(more) => writeln!(out, "    {more}")?,
            None => writeln!(out, "  {line}")?,
        }
    }
    head(post, out)?;
    registers(post, out)?;
    let Some(generation) = post.chip.and_then(|c| c.commands) else {
        return rest(post, &HashSet::new(), out);
    };
    let mut seen = HashSet::new();
    let mut all = Count::default();
    for (n, buffer) in post.buffers.iter().enumerate() {
        if buffer.role == Role::Batch && !buffer.dwords.is_empty() && !seen.contains(&n) {
            all.merge(&batch(post, generation, n, &mut seen, out)?);
        }
    }
    for state in &post.engines {
        elsewhere(post, generation, state, &mut seen, out)?;
    }
    for (n, buffer) in post.buffers.iter().enumerate() {
        if buffer.role == Role::Ring {
            seen.insert(n);
            all.merge(&ring(post, generation, buffer, options, out)?);
        }
    }
    if all.commands > 0 {
        writeln!(out, "\nIn rings and batches: {}", all.words())?;
    }
    rest(post, &seen, out)
}

/// Values that say nothing to a reader of a hang: fences, and what the driver knows of every such chip.
fn dull(name: &str, value: &str) -> bool {
    let words = name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'-');
    name.starts_with("fence[")
        || name.contains('.')
        || value == "no"
        || words && name.contains(['_', '-'])
}

fn head(post: &Post, out: &mut dyn Write) -> io::Result<()> {
    let fences = post.head.iter().filter(|l| l.0.starts_with("fence["));
    let used = fences.filter(|l| l.1.bytes().any(|b| b != b'0')).count();
    let mut first = true;
    for (name, value) in post.head.iter().filter(|l| !dull(&l.0, &l.1)) {
        if std::mem::take(&mut first) {
            writeln!(out, "\nDevice")?;
        }
        writeln!(out, "  {name}: {value}")?;
    }
    if used > 0 {
        writeln!(out, "  fence registers in use: {used}")?;
    }
    Ok(())
}

fn registers(post: &Post, out: &mut dyn Write) -> io::Result<()> {
    let commands = post.chip.and_then(|c| c.commands);
    for state in &post.engines {
        writeln!(out, "\nRegisters of {}", state.name)?;
        for (name, value) in &state.registers {
            write!(out, "  {name}: {value}")?;
            match name.to_ascii_uppercase().as_str() {
                "HEAD" | "RING_HEAD" => {
                    let wraps = state.number(&[name]).unwrap_or(0) >> 21 & 0x7ff;
                    write!(
                        out,
                        " = offset {:#x}, {wraps} times around",
                        state.head().unwrap_or(0)
                    )?;
                }
                "IPEHR" | "RING_IPEHR" => {
                    let told = commands.zip(super::engine(&state.name)).zip(state.ipehr());
                    if let Some(((generation, engine), header)) = told {
                        write!(out, " = {}", generation.told(engine, header).0)?;
                    }
                }
                _ => {}
            }
            writeln!(out)?;
        }
        if !state.requests.is_empty() {
            writeln!(out, "  requests:")?;
        }
        for request in &state.requests {
            write!(out, "    {}", post.seqno(request.seqno))?;
            if let Some(context) = request.context {
                write!(out, " of context {context:#x}")?;
            }
            for (name, at) in [("from", request.head), ("to", request.tail)] {
                if let Some(at) = at {
                    write!(out, " {name} {at:#x}")?;
                }
            }
            if let Some(pid) = request.pid.filter(|p| *p != 0) {
                write!(out, ", process {pid}")?;
            }
            writeln!(
                out,
                "{}{}",
                if request.running { ", in hand" } else { "" },
                if request.done { ", done" } else { "" }
            )?;
        }
    }
    Ok(())
}

/// Where the engines stand, as labels.
fn marks(post: &Post, buffer: &Buffer) -> Vec<Label> {
    let mut out = Vec::new();
    for state in post
        .engines
        .iter()
        .filter(|e| post.kind == Kind::Xe || same_engine(&e.name, &buffer.engine))
    {
        // Where the copy has it, however the address is written.
        if let Some(n) = state.acthd().and_then(|a| buffer.index(a)) {
            out.push((buffer.address.wrapping_add(n as u64 * 4), "ACTHD"));
        }
    }
    out
}

/// Prints a batch and those in copies that it leads to.
fn batch(
    post: &Post,
    generation: &'static Generation,
    n: usize,
    seen: &mut HashSet<usize>,
    out: &mut dyn Write,
) -> io::Result<Count> {
    let mut all = Count::default();
    let Some(buffer) = post.buffers.get(n) else {
        return Ok(all);
    };
    let engine = buffer.engine.clone();
    let kind = super::engine(&engine).unwrap_or(Engine::Render);
    let mut to_do = vec![streams::begins(post, generation, buffer)];
    let mut done = HashSet::new();
    let mut told = HashSet::new();
    let mut open: Vec<Label> = Vec::new();
    let mut met = HashSet::new();
    while let Some(address) = to_do.pop() {
        if !done.insert(address) {
            continue;
        }
        if done.len() > BATCHES {
            writeln!(out, "\nand {} more batches", to_do.len() + 1)?;
            break;
        }
        let Some(copy) = streams::holds(post, &engine, address) else {
            writeln!(out, "\nBatch at {address:#010x}: no copy of it")?;
            continue;
        };
        seen.extend(post.buffers.iter().position(|b| std::ptr::eq(b, copy)));
        let owner = copy
            .owner
            .as_ref()
            .map_or(String::new(), |o| format!(", submitted by {o}"));
        writeln!(out, "\nBatch of {engine} at {address:#010x}{owner}")?;
        let stream = Stream {
            generation,
            engine: kind,
            dwords: &copy.dwords,
            base: copy.address,
        };
        let from = copy.index(address).unwrap_or(0);
        let marks = marks(post, copy);
        let fresh = |at| told.insert((copy.address, at));
        let printed = stream.print((from, usize::MAX), true, &marks, fresh, out)?;
        all.merge(&printed.count);
        to_do.extend(printed.batches);
        open.extend(marks.iter().filter(|l| copy.index(l.0).is_some()));
        met.extend(printed.labels);
    }
    // Where an engine stands that no batch led to.
    open.retain(|l| !met.contains(&l.0));
    open.dedup();
    for (address, name) in open {
        let Some(copy) = streams::holds(post, &engine, address) else {
            continue;
        };
        writeln!(
            out,
            "\n{name} of {engine} is at {address:#010x}, where no batch led it"
        )?;
        around(generation, kind, copy, address, &[(address, name)], out)?;
    }
    Ok(all)
}

/// Prints what stands at an address.
fn around(
    generation: &'static Generation,
    engine: Engine,
    copy: &Buffer,
    address: u64,
    labels: &[Label],
    out: &mut dyn Write,
) -> io::Result<()> {
    let stream = Stream {
        generation,
        engine,
        dwords: &copy.dwords,
        base: copy.address,
    };
    let at = copy.index(address).unwrap_or(0);
    stream.print(
        (at, at.saturating_add(AROUND)),
        false,
        labels,
        |_| true,
        out,
    )?;
    Ok(())
}

/// An engine that stands in memory that no batch led to.
fn elsewhere(
    post: &Post,
    generation: &'static Generation,
    state: &State,
    seen: &mut HashSet<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let streams::Place::Copy(address) = streams::place(post, state) else {
        return Ok(());
    };
    let copy = streams::holds(post, &state.name, address);
    let n = copy.and_then(|c| post.buffers.iter().position(|b| std::ptr::eq(b, c)));
    let (Some(copy), Some(n), Some(kind)) = (copy, n, super::engine(&state.name)) else {
        return Ok(());
    };
    if !seen.insert(n) {
        return Ok(());
    }
    writeln!(
        out,
        "\n{} stands at {address:#010x}, where no batch led it",
        state.name
    )?;
    around(generation, kind, copy, address, &marks(post, copy), out)
}

/// Prints a ring: from a little before the head up to the tail, or all of it.
fn ring(
    post: &Post,
    generation: &'static Generation,
    buffer: &Buffer,
    options: Options,
    out: &mut dyn Write,
) -> io::Result<Count> {
    let name = &buffer.engine;
    let size = buffer.dwords.len();
    let mut all = Count::default();
    writeln!(
        out,
        "\nRing of {name} at {:#010x}, {} bytes",
        buffer.address,
        size * 4
    )?;
    let state = post.engines.iter().find(|e| same_engine(&e.name, name));
    let at = |offset: Option<u64>| {
        offset
            .and_then(|o| usize::try_from(o / 4).ok())
            .filter(|n| *n < size)
    };
    let (head, tail) = (
        at(state.and_then(State::head)),
        at(state.and_then(State::tail)),
    );
    if buffer.dwords.iter().all(|d| *d == 0) {
        writeln!(out, "  all zero: nothing was ever written to it")?;
        return Ok(all);
    }
    let Some(kind) = super::engine(name) else {
        writeln!(out, "  {name} is no engine that is known")?;
        return Ok(all);
    };
    let stream = Stream {
        generation,
        engine: kind,
        dwords: &buffer.dwords,
        base: buffer.address,
    };
    let address = |n: usize| buffer.address.wrapping_add(n as u64 * 4);
    let mut labels: Vec<Label> = Vec::new();
    labels.extend(head.map(|n| (address(n), "HEAD")));
    labels.extend(tail.map(|n| (address(n), "TAIL")));
    if let Some(streams::Place::Ring(offset)) = state.map(|s| streams::place(post, s)) {
        if at(Some(offset)) != head {
            labels.push((buffer.address.wrapping_add(offset), "ACTHD"));
        }
    }
    // From the start of the ring commands follow each other up to the tail; behind it are remains of the last
    // round, up to the head if that is there.
    let tail = tail.unwrap_or(size);
    let rest = stream.begin(tail, size);
    all.merge(&stream.count(0, tail));
    all.merge(&stream.count(rest, size));
    let wrapped = head.is_some_and(|h| h > tail);
    let mut parts = match (options.whole, head) {
        (true, _) | (_, None) => vec![(0, tail), (rest, size)],
        (_, Some(head)) if wrapped => vec![(first(&stream, rest, head), size), (0, tail)],
        (_, Some(head)) => vec![(first(&stream, 0, head), tail)],
    };
    if !options.whole && head.is_some() {
        writeln!(
            out,
            "  from a little before HEAD to TAIL; --whole prints all of it"
        )?;
    }
    // The tail's own line, if nothing stands before it.
    parts.retain(|(from, to)| from < to);
    let within = parts.iter().any(|(from, to)| *from <= tail && tail < *to);
    for part in parts {
        stream.print(part, false, &labels, |_| true, out)?;
    }
    if tail < size && !within {
        writeln!(out, "> {:#010x}            <- TAIL", address(tail))?;
    }
    Ok(all)
}

/// The first command, of those that begin at `from`, that is not too far before the head.
fn first(stream: &Stream<'_>, from: usize, head: usize) -> usize {
    let near = head.saturating_sub(BEFORE);
    let mut walk = stream.walk(from, head);
    walk.find(|i| i.at >= near).map_or(from.max(near), |i| i.at)
}

/// Copies that nothing was printed of.
fn rest(post: &Post, seen: &HashSet<usize>, out: &mut dyn Write) -> io::Result<()> {
    let mut first = true;
    for (n, buffer) in post.buffers.iter().enumerate() {
        if seen.contains(&n) {
            continue;
        }
        if std::mem::take(&mut first) {
            writeln!(out, "\nOther memory")?;
        }
        let bytes = buffer.dwords.len() * 4;
        writeln!(
            out,
            "  {:#010x}, {bytes} bytes: {} {}",
            buffer.address, buffer.engine, buffer.name
        )?;
    }
    if !post.objects.is_empty() && post.kind == Kind::I915 {
        let bytes: u64 = post
            .objects
            .iter()
            .fold(0u64, |sum, o| sum.saturating_add(o.1));
        writeln!(
            out,
            "\nObjects that the GPU had: {}, {bytes} bytes",
            post.objects.len()
        )?;
    }
    Ok(())
}
