// SPDX-License-Identifier: GPL-2.0
//! A trace of a modelled GPU (`gpu-model --trace`) as JSON for viewers of traces: the Trace Event Format, which
//! Perfetto and Chrome's `about:tracing` read.
//!
//! Each engine is a track. On it lie, one in another, what an engine is given (a context), a request, a batch and a
//! command; moments are marks: a preemption, a page fault, a reset, an injected fault, a rule that was broken. The
//! CPU's accesses to registers and the interrupts have tracks of their own. A request ends with its
//! MI_USER_INTERRUPT, or where the engine does not run any more.

mod event;
mod tracks;

pub use event::{Event, Line, NotATrace};

use serde_json::{json, Value};
use std::io::{self, Write};
use tracks::Tracks;

/// What to leave out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Accesses of the CPU to registers, of which there are many.
    pub without_registers: bool,
}

/// One thing for the viewer.
#[derive(Clone, Debug, PartialEq)]
enum Mark {
    /// Something begins on a track.
    Begin {
        name: String,
        colour: Option<&'static str>,
        args: Value,
    },
    /// What began last on the track ends.
    End,
    /// A moment; `all`: it is everybody's.
    Moment {
        name: String,
        all: bool,
        args: Value,
    },
    /// The track's name, and its place among others.
    Name { name: String },
}

/// Writes elements of the list, with commas between.
struct Sink<'a> {
    out: &'a mut dyn Write,
    first: bool,
}

impl Sink<'_> {
    /// `time` in microseconds.
    fn put(&mut self, time: f64, track: u64, mark: Mark) -> io::Result<()> {
        let mut event = json!({ "pid": 1, "tid": track });
        let fields = match mark {
            Mark::Begin { name, colour, args } => {
                let mut fields = json!({ "ph": "B", "ts": time, "name": name, "args": args });
                if let Some(colour) = colour {
                    fields["cname"] = colour.into();
                }
                fields
            }
            Mark::End => json!({ "ph": "E", "ts": time }),
            Mark::Moment { name, all, args } => {
                let scope = if all { "p" } else { "t" };
                json!({ "ph": "i", "ts": time, "s": scope, "name": name, "args": args })
            }
            Mark::Name { name } => {
                let order = json!({ "name": "thread_sort_index", "ph": "M", "pid": 1, "tid": track,
                    "args": { "sort_index": track } });
                self.write(&order)?;
                json!({ "ph": "M", "name": "thread_name", "args": { "name": name } })
            }
        };
        if let (Value::Object(event), Value::Object(fields)) = (&mut event, fields) {
            event.extend(fields);
        }
        self.write(&event)
    }

    fn write(&mut self, event: &Value) -> io::Result<()> {
        let comma = if std::mem::take(&mut self.first) {
            ""
        } else {
            ",\n"
        };
        write!(self.out, "{comma}{event}")
    }
}

/// Converts the lines of a trace.
///
/// Errors: nobody takes what is written; a line is none of a trace ([`NotATrace`], as the error's cause).
pub fn convert(text: &str, options: Options, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut sink = Sink { out, first: true };
    sink.write(&json!({ "ph": "M", "pid": 1, "name": "process_name", "args": { "name": "GPU" } }))?;
    let mut tracks = Tracks::new(options);
    let mut last = 0.0;
    for (n, line) in text.lines().enumerate() {
        if line.is_empty() {
            continue;
        }
        let line = Line::parse(line)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, NotATrace { line: n + 1 }))?;
        // Engines are threads of the model: a line may be a little older than the one before.
        last = f64::max(last, line.seconds * 1e6);
        for (track, mark) in tracks.take(line.event) {
            sink.put(last, track, mark)?;
        }
    }
    for (track, mark) in tracks.end() {
        sink.put(last, track, mark)?;
    }
    writeln!(out, "\n]}}")
}

#[cfg(test)]
mod tests;
