// SPDX-License-Identifier: GPL-2.0
//! What is wrong: where each engine stopped, at which command of which batch, what its registers say of errors, who
//! waits for what.

use super::streams::{self, Place, Stream};
use super::{log, memory, registers, same_engine, Buffer, Kind, Post, State};
use crate::command::Generation;
use crate::stream::Item;

/// What a command that an engine stops at may mean.
const HINTS: &[(&str, &str)] = &[
    (
        "MI_WAIT_FOR_EVENT",
        "it waits for an event of the display that does not come",
    ),
    (
        "MI_SEMAPHORE",
        "it waits for a number that another engine or the CPU has not written",
    ),
    (
        "MI_FLUSH",
        "it waits for the work before it: what hangs is an earlier command",
    ),
    (
        "PIPE_CONTROL",
        "it waits for the work before it: what hangs is an earlier command",
    ),
    (
        "3DPRIMITIVE",
        "a draw does not end: look at the state and the shaders that were set before it",
    ),
    ("GPGPU_WALKER", "a shader does not end"),
    ("COMPUTE_WALKER", "a shader does not end"),
    ("MEDIA_OBJECT", "a media kernel does not end"),
    (
        "MFD_",
        "the codec does not end: look at the bit stream and the state before it",
    ),
    (
        "HCP_",
        "the codec does not end: look at the bit stream and the state before it",
    ),
    ("MI_BATCH_BUFFER_END", "the batch was at its end"),
    (
        "no command",
        "this is no command: memory was overwritten, or a length before it is wrong",
    ),
    (
        "unknown",
        "this command is in no table: memory was overwritten, or a length before it is wrong",
    ),
];

/// Commands that set units to work.
const WORK: &[&str] = &[
    "3DPRIMITIVE",
    "3DMESH",
    "GPGPU_WALKER",
    "COMPUTE_WALKER",
    "MEDIA_OBJECT",
    "MFD_",
    "MFC_",
    "HCP_BSD",
];

/// Everything that is wrong, a line each; what belongs to the line before begins with two blanks.
pub fn wrong(post: &Post) -> Vec<String> {
    let mut out = Vec::new();
    if post.kind == Kind::Log {
        out.extend(post.events.iter().cloned());
        return out;
    }
    if let Some(code) = post.value("GPU HANG") {
        out.push(log::ecode(code));
    }
    let first = out.len();
    for state in &post.engines {
        engine(post, state, &mut out);
    }
    if out.len() == first && !post.engines.is_empty() {
        out.push(String::from("no engine has work that is not done"));
    }
    device(post, &mut out);
    damage(post, &mut out);
    if post.engines.is_empty() {
        out.push(String::from(
            "missing: the text has no engine, or is cut off before the first",
        ));
    }
    out
}

fn generation(post: &Post) -> u16 {
    post.chip.map_or(0, |c| c.generation)
}

fn hung(state: &State) -> bool {
    let judged = state.text(&["hangcheck", "hangcheck action"]);
    state.number(&["hung"]) == Some(1)
        || state.text(&["hangcheck stall"]) == Some("yes")
        || judged.is_some_and(|t| t.starts_with("hung") || t.starts_with("dead"))
}

/// True if the engine has nothing left to do.
fn idle(post: &Post, state: &State) -> bool {
    let caught_up = state.head() == state.tail();
    let work = state.requests.iter().any(|r| !r.done);
    let copied = post
        .buffers
        .iter()
        .any(|b| b.role == super::Role::Batch && same_engine(&b.engine, &state.name));
    caught_up && !work && !copied && !hung(state) && post.kind == Kind::I915
}

fn engine(post: &Post, state: &State, out: &mut Vec<String>) {
    if idle(post, state) {
        return;
    }
    let name = &state.name;
    let place = streams::place(post, state);
    let commands = post.chip.and_then(|c| c.commands).zip(super::engine(name));
    let judged = if hung(state) { ", hung" } else { "" };
    let mut hint = None;
    match &place {
        Place::Untold if post.kind == Kind::Xe => {
            out.push(format!("{name}: its job did not end in time"))
        }
        Place::Untold => out.push(format!("{name}{judged}: where it stands is not told")),
        Place::Gone(address) => {
            let object = post
                .objects
                .iter()
                .find(|o| o.0 <= *address && *address - o.0 < o.1);
            let of = object.map_or(String::new(), |o| {
                format!(", in an object of {} bytes at {:#x}", o.1, o.0)
            });
            out.push(format!(
                "{name}{judged}: it stands at {address:#010x}{of}, of which there is no copy"
            ));
        }
        Place::Ring(offset) => {
            let ring = streams::ring(post, name).filter(|r| !r.dwords.is_empty());
            let told = commands.zip(ring).and_then(|((generation, kind), ring)| {
                let stream = Stream {
                    generation,
                    engine: kind,
                    dwords: &ring.dwords,
                    base: ring.address,
                };
                let at = usize::try_from(offset / 4).ok()?;
                let tail = state
                    .tail()
                    .and_then(|t| usize::try_from(t / 4).ok())
                    .unwrap_or(0);
                // Behind the tail lie remains, which may begin within a command.
                let from = if at >= tail && tail > 0 {
                    stream.begin(tail, at)
                } else {
                    0
                };
                Some(stream.around(from, at))
            });
            match told {
                Some((before, Some(item))) => {
                    out.push(format!(
                        "{name}{judged}: it stands in its ring, {offset:#x} bytes into it, at {}",
                        item.name
                    ));
                    hint = took(state, commands.map(|c| c.0), before.as_ref(), &item, out);
                }
                _ => out.push(format!(
                    "{name}{judged}: it stands in its ring, {offset:#x} bytes into it"
                )),
            }
        }
        Place::Copy(address) => {
            let buffer = streams::holds(post, name, *address);
            if let Some(buffer) = buffer {
                hint = in_copy(post, state, buffer, *address, judged, out);
            }
        }
    }
    if let Some(text) = hint {
        out.push(format!("  {text}"));
    }
    requests(post, state, out);
    if let Some(context) = &state.context {
        out.push(format!("  it worked for {context}"));
    }
    // Of the render engine alone, until each engine had contexts.
    let render = super::engine(name) == Some(crate::command::Engine::Render);
    let ccid = state.number(&["CCID"]);
    let ccid = ccid.or_else(|| post.number("CCID").filter(|_| render));
    if let Some(image) = ccid.map(|c| c & !0xfff).filter(|i| *i != 0) {
        out.push(format!("  its context has its image at {image:#010x}"));
    }
    errors(post, state, out);
}

/// An engine that stands in a batch; what that may mean.
fn in_copy(
    post: &Post,
    state: &State,
    buffer: &Buffer,
    address: u64,
    judged: &str,
    out: &mut Vec<String>,
) -> Option<&'static str> {
    let name = &state.name;
    let into = buffer.index(address)? * 4;
    let what = if buffer.role == super::Role::Batch {
        "the batch"
    } else {
        "memory"
    };
    let Some((generation, kind)) = post.chip.and_then(|c| c.commands).zip(super::engine(name))
    else {
        out.push(format!(
            "{name}{judged}: it stands at {address:#010x}, {into:#x} bytes into {what} at {:#010x}",
            buffer.address
        ));
        return None;
    };
    let stream = Stream {
        generation,
        engine: kind,
        dwords: &buffer.dwords,
        base: buffer.address,
    };
    let begin = streams::begins(post, generation, buffer);
    let at = buffer.index(address)?;
    let from = buffer.index(begin).filter(|f| *f <= at).unwrap_or(0);
    let (before, item) = stream.around(from, at);
    let item = item?;
    let within = match at - item.at {
        0 => String::new(),
        n => format!(", dword {n} of it"),
    };
    out.push(format!(
        "{name}{judged}: it stands at {}{within} ({address:#010x}, {into:#x} bytes into {what} at {:#010x})",
        item.name, buffer.address
    ));
    let ended = stream
        .walk(from, at)
        .any(|i| i.leaves() && !streams::jumps(&i));
    if ended {
        out.push(String::from("  it went past the end of the batch"));
    }
    let hint = took(state, Some(generation), before.as_ref(), &item, out);
    let work = |i: &Item<'_>| WORK.iter().any(|w| i.name.starts_with(w));
    let last = stream
        .walk(from, at)
        .filter(work)
        .last()
        .filter(|i| i.at != item.at);
    if let Some(draw) = last {
        let place = buffer.address.wrapping_add(draw.at as u64 * 4);
        out.push(format!(
            "  the last work before it: {} at {place:#010x}",
            draw.name
        ));
    }
    hint
}

/// Says what the engine took last, by IPEHR; returns what a stop there may mean.
fn took(
    state: &State,
    generation: Option<&'static Generation>,
    before: Option<&Item<'_>>,
    item: &Item<'_>,
    out: &mut Vec<String>,
) -> Option<&'static str> {
    let header = |i: &Item<'_>| i.dwords.first().copied();
    let hint = |name: &str| HINTS.iter().find(|h| name.starts_with(h.0)).map(|h| h.1);
    let Some(ipehr) = state.ipehr() else {
        return hint(item.name);
    };
    let kind = super::engine(&state.name);
    let name = generation
        .zip(kind)
        .map_or("?", |(g, k)| g.told(k, ipehr).0);
    if header(item) == Some(ipehr) {
        out.push(format!("  it has taken this command (IPEHR {ipehr:#010x})"));
        return hint(item.name);
    }
    if before.and_then(header) == Some(ipehr) {
        out.push(format!(
            "  the command that it took last stands right before: {name} (IPEHR {ipehr:#010x})"
        ));
        return hint(name);
    }
    out.push(format!(
        "  the command that it took last is another: {name} (IPEHR {ipehr:#010x}); \
         it fetched ahead, memory has changed since, or the copy is of another place"
    ));
    hint(name)
}

fn requests(post: &Post, state: &State, out: &mut Vec<String>) {
    let done = state.number(&["seqno"]);
    let open: Vec<_> = state
        .requests
        .iter()
        .filter(|r| !r.done && !r.running)
        .collect();
    if let (Some(first), Some(last)) = (open.first(), open.last()) {
        let numbers = match open.len() {
            1 => format!("number {}", post.seqno(first.seqno)),
            _ => format!(
                "numbers {} to {}",
                post.seqno(first.seqno),
                post.seqno(last.seqno)
            ),
        };
        let mut text = format!("  requests not done: {}, {numbers}", open.len());
        if let Some(done) = done.filter(|d| *d != 0) {
            text.push_str(&format!("; the last that was done is {done:#x}"));
        }
        out.push(text);
        if let Some(number) = hanging(state) {
            out.push(format!(
                "  HEAD is in request {number:#x}: this one hangs, the others wait behind it"
            ));
        }
    } else if let Some(done) = done.filter(|d| *d != 0) {
        let last = state.number(&["last_seqno"]);
        out.push(match last {
            Some(last) if last == done => format!("  all its requests are done, up to {done:#x}"),
            Some(last) => format!("  done up to number {done:#x}, submitted up to {last:#x}"),
            None => format!("  done up to number {done:#x}"),
        });
        if last == Some(done) && state.text(&["waiting"]) == Some("yes") {
            out.push(String::from(
                "  and still somebody waits: an interrupt was missed",
            ));
        }
    }
    let empty = state.head().is_some() && state.head() == state.tail();
    if empty && !open.is_empty() {
        out.push(String::from(
            "  its ring is empty: all commands were taken, and their numbers did not come",
        ));
    }
    for request in state.requests.iter().filter(|r| r.running) {
        let mut whose = request
            .pid
            .map_or(String::new(), |p| format!(" of process {p}"));
        if let Some(context) = request.context {
            whose.push_str(&format!(", context {context:#x}"));
        }
        let state = if request.done {
            "done in the meantime"
        } else {
            "not done"
        };
        out.push(format!(
            "  in hand: request {:#x}{whose}, {state}",
            request.seqno
        ));
    }
    for (number, who) in &state.waiters {
        out.push(format!("  {who} waits for number {number:#x}"));
    }
    if state.waiters.is_empty()
        && state
            .text(&["waiting"])
            .is_some_and(|w| w.starts_with("yes"))
        && !open.is_empty()
    {
        out.push(String::from("  a process waits for it"));
    }
    if post.kind == Kind::Xe {
        let number = |n: &str| {
            state
                .text(&[n])
                .and_then(|t| t.trim_start_matches("(memory)").trim().parse::<i64>().ok())
        };
        if let (Some(started), Some(ended)) = (number("Start seqno"), number("Seqno")) {
            let text = match started == ended {
                true => {
                    format!("  its last job, number {ended}, is done, or the next was not begun")
                }
                false => format!("  job {started} was begun, {ended} was the last to end"),
            };
            out.push(text);
        }
    }
}

/// The request that HEAD is in: the first whose end lies at or behind it.
fn hanging(state: &State) -> Option<u64> {
    let head = state.head()?;
    let open = state.requests.iter().filter(|r| !r.done && !r.running);
    let mut previous: Option<u64> = None;
    for request in open {
        let end = request.tail?;
        let from = request.head.or(previous);
        let inside = match from {
            // Over the end of the ring.
            Some(from) if from > end => head >= from || head <= end,
            Some(from) => from <= head && head <= end,
            None => head <= end && end - head < 0x1000,
        };
        if inside {
            return Some(request.seqno);
        }
        previous = Some(end);
    }
    None
}

fn errors(post: &Post, state: &State, out: &mut Vec<String>) {
    let generation = generation(post);
    let mut say = |name: &str, words: Vec<String>| {
        if !words.is_empty() {
            out.push(format!("  {name}: {}", words.join("; ")));
        }
    };
    if let Some(value) = state
        .number(&["ESR", "RING_ESR", "RING_EIR"])
        .filter(|v| *v != 0)
    {
        say(
            "errors of the engine",
            registers::errors(generation.max(60), value),
        );
    }
    if let Some(value) = state.number(&["IPEIR", "RING_IPEIR"]).filter(|v| *v != 0) {
        say(
            "IPEIR",
            vec![format!(
                "{value:#010x}: the command parser refused a command"
            )],
        );
    }
    if let Some(value) = state.number(&["FAULT_REG"]) {
        say(
            "page fault",
            registers::fault(generation, value).into_iter().collect(),
        );
    }
    let above = state.ending("FAULT_TLB_DATA1");
    if let Some((above, below)) = above.zip(state.ending("FAULT_TLB_DATA0")) {
        if above != 0 || below != 0 {
            say("page fault", vec![registers::fault_address(above, below)]);
        }
    }
    let ctl = state.number(&["CTL", "RING_CTL"]).unwrap_or(0);
    if ctl >> 11 & 1 != 0 {
        say(
            "CTL",
            vec![String::from(
                "the ring waits for an event (MI_WAIT_FOR_EVENT)",
            )],
        );
    }
    if ctl >> 10 & 1 != 0 {
        say("CTL", vec![String::from("the ring waits for a semaphore")]);
    }
    let kind = super::engine(&state.name);
    if kind == Some(crate::command::Engine::Render) {
        let second = state.number(&["INSTDONE1", "INSTDONE_1", "SC_INSTDONE"]);
        let second = second.or_else(|| {
            post.number("INSTDONE_1")
                .or_else(|| post.number("INSTDONE1"))
        });
        let first = state.number(&["INSTDONE", "INSTDONE_0", "RING_INSTDONE"]);
        let units = registers::busy(generation, first, second);
        if !units.is_empty() {
            out.push(format!("  units that are not done: {}", units.join(", ")));
        }
    }
}

fn device(post: &Post, out: &mut Vec<String>) {
    let generation = generation(post);
    let before = out.len();
    let nonzero = |name: &str| post.number(name).filter(|v| *v != 0);
    if let Some(value) = nonzero("EIR") {
        let words = registers::errors(generation, value).join("; ");
        out.push(format!("EIR {value:#010x}: {words}"));
    }
    if let Some(value) = nonzero("PGTBL_ER") {
        let words = registers::table_errors(generation, value).join("; ");
        out.push(format!("page table error, PGTBL_ER {value:#010x}: {words}"));
    }
    if let Some(value) = nonzero("ERROR") {
        let words = registers::faults(generation, value).join("; ");
        out.push(format!("ERROR {value:#010x}: {words}"));
    }
    if let Some(text) = post.value("FAULT_TLB_DATA") {
        let mut words = text.split_ascii_whitespace().filter_map(memory::value);
        if let (Some(above), Some(below)) = (words.next(), words.next()) {
            if above != 0 || below != 0 {
                out.push(format!(
                    "page fault: {}",
                    registers::fault_address(above, below)
                ));
            }
        }
    }
    for (name, words) in [
        ("ERR_INT", "errors of the display or a poisoned write"),
        ("AUX_ERR_DBG", "error of the auxiliary table (compression)"),
        (
            "Missed interrupts",
            "interrupts were missed: who waits was woken by a timer",
        ),
    ] {
        if let Some(value) = nonzero(name) {
            out.push(format!("{name} {value:#x}: {words}"));
        }
    }
    let asked = post.value("EIR").is_some() || post.value("PGTBL_ER").is_some();
    if out.len() == before && asked && post.kind == Kind::I915 {
        out.push(String::from(
            "the chip reports no error (EIR and PGTBL_ER are zero): the hang is not one to it",
        ));
    }
    if post.chip.is_none() {
        out.push(String::from(
            "the chip is not told, or not known: commands cannot be read",
        ));
    } else if post.chip.is_some_and(|c| c.commands.is_none()) {
        out.push(format!(
            "the commands of Gen{} are not known here",
            generation / 10
        ));
    }
}

fn damage(post: &Post, out: &mut Vec<String>) {
    let told = |b: &Buffer| match b.role {
        super::Role::Batch => "batch",
        super::Role::Ring => "ring",
        super::Role::User => "memory",
        super::Role::Other => "other memory",
    };
    for buffer in &post.buffers {
        let empty = buffer.dwords.is_empty() && buffer.role != super::Role::Other;
        let why = match &buffer.damage {
            Some(why) => why.as_str(),
            None if empty => "nothing of it is in the text",
            None => continue,
        };
        out.push(format!(
            "missing: {} of {} at {:#x}: {why}",
            told(buffer),
            buffer.engine,
            buffer.address
        ));
    }
    let work = post
        .engines
        .iter()
        .any(|e| e.requests.iter().any(|r| !r.done));
    if post.buffers.is_empty() && (work || post.engines.iter().any(hung)) {
        out.push(String::from(
            "missing: the text has no copies of memory, or is cut off before them",
        ));
    }
}
