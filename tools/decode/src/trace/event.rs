// SPDX-License-Identifier: GPL-2.0
//! A line of a trace. What there is stands in the page on the models.

use std::fmt;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The CPU read or wrote a register.
    Access {
        /// It wrote.
        write: bool,
        /// Byte offset.
        offset: u64,
        /// What it read, or wrote.
        value: u64,
    },
    /// A streamer executed a command.
    Command {
        /// On this engine.
        engine: &'a str,
        /// In a batch, not in the ring.
        batch: bool,
        /// Where.
        address: u64,
        /// By the document's name.
        name: &'a str,
        /// Its first dwords.
        dwords: Vec<u32>,
    },
    /// An engine said that it switched contexts.
    Switch {
        /// The engine.
        engine: &'a str,
        /// What it said.
        status: u64,
    },
    /// The interrupt line rose.
    Interrupt,
    /// An engine, or everything, was reset.
    Reset(&'a str),
    /// An engine found no page.
    PageFault {
        /// The engine.
        engine: &'a str,
        /// Where.
        address: u64,
    },
    /// A rule was broken, a register is in no document, a fault was injected: in the trace's own words.
    Finding {
        /// What kind of it.
        kind: &'static str,
        /// What.
        what: &'a str,
    },
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<'a> {
    /// When, in seconds.
    pub seconds: f64,
    /// What.
    pub event: Event<'a>,
}

/// A line is none of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotATrace {
    /// Which, from 1 on.
    pub line: usize,
}

impl fmt::Display for NotATrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} is none of a trace", self.line)
    }
}

impl std::error::Error for NotATrace {}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

impl<'a> Line<'a> {
    /// Reads one; `None` if it is none.
    pub fn parse(line: &'a str) -> Option<Self> {
        let (seconds, rest) = line.split_once(' ')?;
        let seconds = seconds.parse().ok().filter(|s: &f64| s.is_finite())?;
        let (kind, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let mut words = rest.split(' ');
        let event = match kind {
            "R" | "W" => Event::Access {
                write: kind == "W",
                offset: hex(words.next()?)?,
                value: hex(words.next()?)?,
            },
            "C" => Event::Command {
                engine: words.next()?,
                batch: match words.next()? {
                    "batch" => true,
                    "ring" => false,
                    _ => return None,
                },
                address: hex(words.next()?)?,
                name: words.next().filter(|n| !n.is_empty())?,
                // A name may have several words.
                dwords: words
                    .filter_map(|d| u32::from_str_radix(d, 16).ok())
                    .collect(),
            },
            "S" => Event::Switch {
                engine: words.next()?,
                status: hex(words.next()?)?,
            },
            "I" => Event::Interrupt,
            "X" => Event::Reset(rest),
            "P" => Event::PageFault {
                engine: words.next()?,
                address: hex(words.next()?)?,
            },
            "L" => finding("broken rule", rest),
            "U" => finding("undocumented register", rest),
            "F" => finding("injected", rest),
            _ => return None,
        };
        Some(Line { seconds, event })
    }
}

fn finding<'a>(kind: &'static str, what: &'a str) -> Event<'a> {
    Event::Finding { kind, what }
}
