// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What the model saw and did: register accesses, executed commands, lints, interrupts.
//!
//! Events go to a bounded recorder in memory, to a file when one is set, and lints also to
//! `tracing`. One line of the file is one event; see the model's page in the documentation.

use std::collections::VecDeque;
use std::fmt;
use std::io::Write;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The CPU read a register.
    Read {
        /// Byte offset in the register BAR.
        offset: u32,
        /// What it got.
        value: u32,
    },
    /// The CPU wrote a register.
    Write {
        /// Byte offset in the register BAR.
        offset: u32,
        /// What it wrote.
        value: u32,
    },
    /// A command streamer executed a command.
    Command {
        /// Engine name.
        engine: &'static str,
        /// Where it stood: graphics address in a batch, offset in the ring else.
        address: u64,
        /// True inside a batch buffer.
        batch: bool,
        /// The command's name in the document.
        name: &'static str,
        /// Its dwords, at most the first sixteen.
        dwords: Vec<u32>,
    },
    /// An engine switched contexts, and said so.
    Switch {
        /// Engine name.
        engine: &'static str,
        /// The status quadword.
        status: u64,
    },
    /// An engine, or a block that has no commands of its own, was reset.
    Reset {
        /// Its name; `all` for the whole card.
        what: &'static str,
    },
    /// A translation failed.
    PageFault {
        /// Engine name.
        engine: &'static str,
        /// Graphics address.
        address: u64,
    },
    /// The interrupt line rose.
    Interrupt,
    /// An access to a register that no document names.
    Undocumented {
        /// Byte offset.
        offset: u32,
        /// A write.
        write: bool,
    },
    /// Something that the documents forbid or leave undefined.
    Lint {
        /// A fixed, short name of the rule.
        rule: &'static str,
        /// Where and with which values.
        detail: String,
    },
    /// An injected fault took effect.
    Injected(String),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Read { offset, value } => write!(f, "R {offset:06x} {value:08x}"),
            Event::Write { offset, value } => write!(f, "W {offset:06x} {value:08x}"),
            Event::Command {
                engine,
                address,
                batch,
                name,
                dwords,
            } => {
                let place = if *batch { "batch" } else { "ring" };
                write!(f, "C {engine} {place} {address:08x} {name}")?;
                for d in dwords {
                    write!(f, " {d:08x}")?;
                }
                Ok(())
            }
            Event::Switch { engine, status } => write!(f, "S {engine} {status:016x}"),
            Event::Reset { what } => write!(f, "X {what}"),
            Event::PageFault { engine, address } => write!(f, "P {engine} {address:016x}"),
            Event::Interrupt => f.write_str("I"),
            Event::Undocumented { offset, write } => {
                write!(
                    f,
                    "U {offset:06x} {}",
                    if *write { "write" } else { "read" }
                )
            }
            Event::Lint { rule, detail } => write!(f, "L {rule} {detail}"),
            Event::Injected(what) => write!(f, "F {what}"),
        }
    }
}

/// Keeps the last events, and writes all of them to a file if asked.
pub struct Recorder {
    keep: usize,
    events: VecDeque<Event>,
    file: Option<std::io::BufWriter<std::fs::File>>,
}

impl Recorder {
    /// Keeps the last `keep` events; 0 keeps none.
    pub fn new(keep: usize) -> Self {
        Recorder {
            keep,
            events: VecDeque::new(),
            file: None,
        }
    }

    /// Also writes every event, as a line, to `file`.
    pub fn set_file(&mut self, file: std::fs::File) {
        self.file = Some(std::io::BufWriter::new(file));
    }

    /// Returns whether events are wanted; saves the formatting otherwise.
    pub fn wanted(&self) -> bool {
        self.keep > 0 || self.file.is_some()
    }

    /// Records one event.
    pub fn push(&mut self, now_ns: u64, event: Event) {
        match &event {
            Event::Lint { rule, detail } => tracing::warn!(rule, "{detail}"),
            Event::Injected(what) => tracing::info!("fault injected: {what}"),
            other => tracing::trace!("{other}"),
        }
        if let Some(file) = &mut self.file {
            // A full disk must not stop the device; the trace then ends early.
            let _ = writeln!(file, "{:.9} {event}", now_ns as f64 / 1e9);
        }
        if self.keep > 0 {
            if self.events.len() == self.keep {
                self.events.pop_front();
            }
            self.events.push_back(event);
        }
    }

    /// The recorded events, oldest first; the recorder is empty afterwards.
    pub fn take(&mut self) -> Vec<Event> {
        self.events.drain(..).collect()
    }

    /// Writes out what is buffered for the file.
    pub fn flush(&mut self) {
        if let Some(file) = &mut self.file {
            let _ = file.flush();
        }
    }
}
